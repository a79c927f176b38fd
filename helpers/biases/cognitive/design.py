"""How tests are asked: the order of options, what a design cannot show, and what simulated models know of tests."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from helpers.stats.intervals import MIN_CLUSTERS
from helpers.types import Experiment, Pull, Question

#: Of the options: A and B may be the names of answers that are compared, and I and O look like digits.
LETTERS = "KLMNPQRSTUVWXYZCDEFGHJ"
#: How options may be ordered: at random; forwards or backwards at random, as in the published run; as they are.
ORDERS = ("shuffled", "reversed", "fixed")


def check(experiment: Experiment) -> None:
    """Refuse (ValueError) an order of options that there is not, and candidates: nobody's answers are judged."""
    if experiment.candidates:
        named = ", ".join(model.name for model in experiment.candidates)
        raise ValueError(f"candidates = {named}: no answers are judged here; `judges` are the models that are asked")
    if experiment.own["option_order"] not in ORDERS:
        raise ValueError(f"option_order = {experiment.own['option_order']!r}: one of: {', '.join(ORDERS)}")


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """What this design cannot show, to be read before paying; "" where there is nothing to say."""
    told = []
    if experiment.repeats < 2:
        told.append("repeats = 1: no control is asked twice, so what noise alone gives is not known (no placebo).")
    by: dict[str, int] = {}
    for question in questions:
        by[question.category] = by.get(question.category, 0) + 1
    few = [f"{bias} {n}" for bias, n in sorted(by.items()) if n < MIN_CLUSTERS]
    if few:
        told.append(f"Scenarios: {', '.join(few)}; {MIN_CLUSTERS} are the least that carry an interval.")
    if any(wording.kind == "scale" and wording.target is None for each in questions for wording in each.wordings):
        told.append("Tests whose versions have different scales have no defended effect, only the published metric.")
    return " ".join(told)


def shown_order(order: str, number: int, lot: str) -> list[int]:
    """The natural numbers of options in the order in which they are shown: `number` options, drawn by `lot`.

    >>> shown_order("fixed", 3, "x"), sorted(shown_order("shuffled", 3, "x"))
    ([0, 1, 2], [0, 1, 2])
    """
    rng, natural = random.Random(lot), list(range(number))
    if order == "shuffled":
        rng.shuffle(natural)
    return natural[::-1] if order == "reversed" and rng.random() < 0.5 else natural


def pulls_of(questions: Iterable[Question]) -> dict[str, Pull]:
    """What simulated models know of the tests, by their text: which bias each is made for, and where that pulls."""
    known = {}
    for question in questions:
        for wording in question.wordings:
            for condition, version in wording.versions.items():
                side = {"treatment_for": 1, "treatment_against": -1}.get(condition, 0)
                treated = condition.startswith("treatment")
                ratio = float(wording.facts["ratio"]) if wording.kind == "acceptance" else 0.0
                known[version.text] = Pull(
                    question.category,
                    question.id,
                    "decision" if condition == "decision" else wording.kind,
                    treated,
                    dict(zip(version.options, version.values, strict=True)),
                    wording.target if treated else None,
                    side,
                    ratio,
                )
    return known
