"""Who is compared with whom: baselines and prompts by category, the control comparisons, and what a design can show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from helpers.stats.intervals import MIN_CLUSTERS
from helpers.types import Experiment, Model, Question

#: Comparisons of which the result is known beforehand: the same text twice, an answer against one to another question.
CONTROLS = ("identical", "quality_gap")
#: What stands against the candidate's answer in a quality_gap pair: its answer to another question.
OFF_TOPIC = "answer to another question"
#: In the settings by category: all categories that are not named.
OTHER = "other"


def check(experiment: Experiment) -> None:
    """Refuse (ValueError) control comparisons that there are not, and candidates that are all a baseline."""
    controls = experiment.own["controls"]
    if set(controls) - set(CONTROLS) or len(set(controls)) < len(controls):
        raise ValueError(f"controls = {controls!r}: each once, of: {', '.join(CONTROLS)}; none: control_limit=0")
    baselines = {model.name for model in experiment.baselines.values()}
    alone = len(baselines) == 1 and {model.name for model in experiment.candidates} == baselines
    if experiment.own["answers"] == "ask" and alone:
        told = f"the only candidate, {baselines.pop()}, is the baseline of every category"
        raise ValueError(f"{told}: nothing is compared with it")


def baseline_of(experiment: Experiment, question: Question) -> Model:
    """What candidates are compared with on this question: the baseline of its category.

    A category that is not named and no baseline for others is a ValueError that lists those which are.
    """
    known = experiment.baselines
    found = known.get(question.category) or known.get(OTHER)
    if found is None:
        told = f"question {question.id} is of the category {question.category!r}, which has no baseline"
        raise ValueError(f"{told}; baselines are set for: {', '.join(known)}")
    return found


def prompt_of(experiment: Experiment, question: Question) -> Path:
    """The judge's prompt on this question: that of its category in the config's `prompts`, else that of "other"."""
    named = experiment.options["prompts"]
    return experiment.shared / "prompts" / named.get(question.category, named[OTHER])


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """What this design cannot show, to be read before paying; "" where there is nothing to say."""
    told = []
    if experiment.repeats < 2:
        told.append("repeats = 1: no order is asked twice, so flips cannot be told from noise (no excess_flip).")
    if "identical" not in experiment.own["controls"] or not experiment.own["control_limit"]:
        told.append("No identical pairs: a preference for a place cannot be seen apart from quality.")
    if len(questions) < MIN_CLUSTERS:
        told.append(f"{len(questions)} question{'s' * (len(questions) > 1)}: no interval below {MIN_CLUSTERS}.")
    return " ".join(told)
