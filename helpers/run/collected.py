"""What a notebook that collects is given when it runs after others: their folders, never what they left before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from helpers.config import load_experiment


def collected(parameters: Mapping[str, Any], asked: Sequence[str], failed: Sequence[str]) -> dict[str, Any]:
    """The parameters with which it collects what the experiments `asked` made of `parameters`.

    None where all of them ran with their defaults and none failed: then it collects the default folders and replaces
    the tracked overview. Else it names the folders of those that ran through and the names of those that `failed`,
    whose former results must not pass for new ones, and goes where runs with parameters go.
    """
    if not parameters and not failed:
        return {}
    ran = [name for name in asked if name not in failed]
    folders = dict.fromkeys(str(load_experiment(name, **parameters).out) for name in ran)
    given: dict[str, Any] = {"results": list(folders)}
    if failed:
        given["failed"] = list(failed)
    if "figure_style" in parameters:
        given["figure_style"] = parameters["figure_style"]
    return given
