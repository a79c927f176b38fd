"""Bias tests of the tests' own: small templates, one of each kind, written to a folder as a reader would."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from helpers.biases import cognitive
from helpers.datasets.bias_tests import load_templates
from helpers.types import Question

WHERE = "config.yaml"
SCALE = {
    "title": "Pull of a number",
    "words": "A guess moves to a number.",
    "source": "own",
    "kind": "scale",
    "options": {"from": 0, "to": 100, "step": 10, "unit": " %"},
    "draws": {"anchor": {"from": 10, "to": 90}},
    "wordings": [
        {"control": "What share of {{ group }}?", "treatment": "Not {{ anchor }} %. What share of {{ group }}?"},
        {"control": "Guess: {{ group }}?", "treatment": "Guess, after {{ anchor }}: {{ group }}?"},
    ],
    "scenarios": [{"id": "cats", "group": "cats"}, {"id": "dogs", "group": "dogs"}],
}
ENDS = SCALE | {
    "options": ["bad", "fair", "good"],
    "draws": {"mood": {"choose": ["sunny", "grim"]}},
    "wordings": [{"control": "Rate the {{ group }}?", "treatment": "It is {{ mood }}. Rate the {{ group }}?"}],
}
GAMBLE = SCALE | {
    "kind": "acceptance",
    "options": ["decline", "accept"],
    "draws": {"stake": {"choose": [10, 20]}, "ratio": {"choose": [1.5, 2]}},
    "wordings": [
        {
            "control": "{{ stake }} {{ group }}, or {{ (stake * (1 + ratio)) | int }} or none?",
            "treatment": "Win {{ (stake * ratio) | int }} or lose {{ stake }} {{ group }}?",
        }
    ],
}
SELECTION = {
    **{key: SCALE[key] for key in ("title", "words", "source")},
    "kind": "selection",
    "wordings": [
        {
            "decision": "Shall {{ what }} be?",
            "control": "On {{ what }}: what would you read?",
            "treatment": "On {{ what }}: you were {{ decided }} it. What would you read?",
        }
    ],
    "scenarios": [
        {"id": "park", "what": "a park", "pro": ["Shade", "Birds"], "con": ["Cost", "Noise"]},
        {"id": "pool", "what": "a pool", "pro": ["Sport", "Fun"], "con": ["Water", "Price"]},
    ],
}
#: A template and its line of metric parameters, one of each kind.
EVERY = {
    "pull": (SCALE, {"target": "anchor"}),
    "ends": (ENDS, {"target": {"mood": {"sunny": "high", "grim": "low"}}}),
    "gamble": (GAMBLE, {"target": "low"}),
    "sides": (SELECTION, {"target": "decided"}),
}


def changed(template: Mapping[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    """A copy of a template in which what stands at `path` is something else, or is gone where `to` is None."""
    copied = copy.deepcopy(dict(template))
    at: Any = copied
    for step in path[:-1]:
        at = at[step]
    if to is None:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return copied


def written(folder: Path, **templates: Mapping[str, Any]) -> Path:
    """The folder with these templates, one file each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, template in templates.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(dict(template), sort_keys=False), encoding="utf-8")
    return folder


def built(
    folder: Path, template: Mapping[str, Any], line: Mapping[str, Any], seed: int = 42, name: str = "own"
) -> tuple[Question, ...]:
    """The questions of one template, read from its file as a run does."""
    place = written(folder, **{name: template})
    return cognitive.questions(load_templates(place, {name: line}, WHERE), seed)
