"""What experiment 5 works on: scenarios from templates or from the published tests, and published decisions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from helpers import datasets
from helpers.biases.cognitive.building import questions
from helpers.config.templates import load_templates
from helpers.types import Experiment, Question

if TYPE_CHECKING:
    import pandas as pd


def questions_from(source: Path | str, experiment: Experiment) -> tuple[Question, ...]:
    """The scenarios of a folder of templates (*.yaml), else of the published tests in the hub's format.

    Templates take the metric parameters of the experiment's config.yaml; published tests carry their own.
    """
    if source != "hub" and Path(source).is_dir() and any(Path(source).glob("*.yaml")):
        where = f"experiments/{experiment.name}/config.yaml"
        return questions(load_templates(Path(source), experiment.options["biases"], where), experiment.seed)
    return datasets.load_published_tests(source, experiment.hub)


def decisions_from(source: Path | str, experiment: Experiment) -> pd.DataFrame:
    """The decisions frame of published decision files; what could not be read stands in `attrs`."""
    tests = () if experiment.questions == "builtin" else questions_from(experiment.questions, experiment)
    loaded = datasets.load_decisions(source, experiment.hub, tests)
    loaded.frame.attrs |= {"counts": loaded.counts, "problems": [str(each) for each in loaded.problems]}
    return loaded.frame
