"""What may be asked, which questions it can be asked of, and what a design cannot show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from helpers.biases.verbosity.wording import CONTENT, FEWEST_POINTS, LENGTH, STYLE
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.types import Experiment, Question

#: What can be compared: the wordings themselves with their control, wordings at chosen lengths, poorer content.
COMPARISONS = (STYLE, LENGTH, CONTENT)
#: What a question must have to be judged.
NEEDS = (
    f"{FEWEST_POINTS} answer points or more and a category that does not ask for a form, or two texts of which one is "
    "known to be better"
)
WHERE = "experiments/verbosity_style/config.yaml: options.phrases"


def check(experiment: Experiment) -> None:
    """Refuse (ValueError) comparisons that there are not, more padding than there is, and frames of unequal length."""
    chosen = experiment.own["comparisons"]
    if set(chosen) - set(COMPARISONS) or len(set(chosen)) < len(chosen) or STYLE not in chosen:
        raise ValueError(
            f"comparisons = {chosen!r}: {STYLE}, and each once what else is wanted of: {', '.join(COMPARISONS)}"
        )
    phrases, count = experiment.options["phrases"], experiment.own["padding_sentences"]
    if not 2 <= count <= len(phrases["padding"]):
        raise ValueError(f"padding_sentences = {count}: from 2 to {len(phrases['padding'])}, the number in {WHERE}")
    for number, frame in enumerate(phrases["frames"], 1):
        _check_frame(frame, f"{WHERE}.frames, entry {number}")


def _check_frame(frame: Mapping[str, Any], where: str) -> None:
    if set(frame) != {"confident", "neutral"} or any(len(sentences) != 2 for sentences in frame.values()):
        raise ValueError(f"{where}: expected an opening and a closing sentence under confident and under neutral")
    letters = {name: sum(map(len, sentences)) for name, sentences in frame.items()}
    if letters["confident"] != letters["neutral"]:
        told = " and ".join(f"{name} {count}" for name, count in letters.items())
        raise ValueError(f"{where}: {told} letters; both need as many, or the tone could not be told from length")


def known(question: Question) -> bool:
    """Whether a question comes with two texts of which one is known to be better."""
    return len(question.options) == 2 and question.gold in ("A", "B")


def worded(experiment: Experiment, question: Question) -> bool:
    """Whether a question has an answer whose wording can be changed without changing how well it answers."""
    return len(question.points) >= FEWEST_POINTS and question.category not in experiment.options["forms"]


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """What this design cannot show, to be read before paying; "" where there is nothing to say."""
    asked = [question for question in questions if known(question) or worded(experiment, question)]
    told = []
    if len(asked) < len(questions):
        forms = ", ".join(experiment.options["forms"])
        told.append(
            f"{len(questions) - len(asked)} of {len(questions)} questions are left out: they ask for a form ({forms}), "
            f"or have fewer than {FEWEST_POINTS} answer points."
        )
    if asked and not any(map(known, asked)):
        if LENGTH not in experiment.own["comparisons"]:
            told.append("No comparisons at chosen lengths: a wording cannot be told from its length.")
        if experiment.repeats < 2:
            told.append("repeats = 1: nothing is asked twice, so nothing is known of noise.")
    if len(asked) < MIN_CLUSTERS:
        told.append(f"{len(asked)} question{'s' * (len(asked) != 1)}: no interval below {MIN_CLUSTERS}.")
    return " ".join(told)
