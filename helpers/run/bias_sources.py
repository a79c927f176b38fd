"""What experiment 5 works on: scenarios from templates or from the published tests, and published decisions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from helpers import datasets
from helpers.biases.cognitive.building import questions
from helpers.datasets import bias_tests
from helpers.datasets.bias_templates import load_templates
from helpers.types import Experiment, Question

if TYPE_CHECKING:
    import pandas as pd

#: Files that a message names one by one.
NAMED = 4


def questions_from(source: Path | str, experiment: Experiment) -> tuple[Question, ...]:
    """The scenarios of a template (.yaml) or a folder of them, else of the published tests in the hub's format.

    Templates take the metric parameters of the experiment's config.yaml; published tests carry their own. A folder with
    neither is a FileNotFoundError, one with both a ValueError that names them: only one of them could be asked.
    """
    place = Path(source).expanduser()
    if source != "hub" and _of_templates(place):
        where = f"experiments/{experiment.name}/config.yaml"
        return questions(load_templates(place, experiment.options["biases"], where), experiment.seed)
    return datasets.load_published_tests(source, experiment.hub)


def _of_templates(place: Path) -> bool:
    """Are templates meant, and not published tests?"""
    kinds = f"templates (.yaml) or published tests ({', '.join(bias_tests.ENDS)})"
    if place.is_file() and place.suffix not in (".yaml", *bias_tests.ENDS):
        raise ValueError(f"{place}: ends with {place.suffix or 'nothing'}; `questions` are {kinds}")
    if not place.is_dir():
        return place.suffix == ".yaml"
    templates = sorted(path.name for path in place.glob("*.yaml"))
    tests = [str(path.relative_to(place)) for path in bias_tests.below(place, bias_tests.ENDS)]
    if templates and tests:
        raise ValueError(
            f"{place}: holds templates ({_some(templates)}) and published tests ({_some(tests)}); "
            "keep one kind, or name a file"
        )
    if not templates and not tests:
        there = _some(sorted(path.name for path in place.iterdir())) or "nothing"
        raise FileNotFoundError(f"{place}: expected {kinds}, found {there}")
    return bool(templates)


def _some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def decisions_from(source: Path | str, experiment: Experiment) -> pd.DataFrame:
    """The decisions frame of published decision files; what could not be read stands in `attrs`."""
    tests = () if experiment.questions == "builtin" else questions_from(experiment.questions, experiment)
    loaded = datasets.load_decisions(source, experiment.hub, tests)
    loaded.frame.attrs |= {"counts": loaded.counts, "problems": [str(each) for each in loaded.problems]}
    return loaded.frame
