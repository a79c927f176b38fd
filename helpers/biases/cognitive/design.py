"""How tests are asked: the order of options, what a design cannot show, and what simulated models know of tests.

Repeat r of a control is shown in order r of its wording, repeat r of the treatment in order r + 1, which is that of the
control's next repeat. So control and treatment differ in order exactly as the control and its repeat do: what a habit
of places or letters adds is the same in an effect and in its placebo, and 0 on average in both. The orders are those
of all judges. Those of the wordings of one scenario follow each other in the same way.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

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
    if experiment.own["option_order"] == "fixed":
        told.append("option_order = fixed: a place and the option that stands there cannot be distinguished.")
    by: dict[str, int] = {}
    for question in questions:
        by[question.category] = by.get(question.category, 0) + 1
    few = [f"{bias} {n}" for bias, n in sorted(by.items()) if n < MIN_CLUSTERS]
    if few:
        told.append(f"Scenarios: {', '.join(few)}; {MIN_CLUSTERS} are the least that carry an interval.")
    if any(wording.kind == "scale" and wording.target is None for each in questions for wording in each.wordings):
        told.append("Tests whose versions have different scales have no defended effect, only the published metric.")
    return " ".join(told)


def shown_order(order: str, number: int, scenario: int, wording: int, turn: int, lot: str) -> tuple[list[int], str]:
    """The natural numbers of `number` options in the order shown, and their letters.

    `scenario`, `wording` count from 0 those of one bias, `turn` is the repeat, and one more of a treatment. Shuffled:
    neighbouring turns differ. Over each `number` scenarios every option stands at every place, and has every letter,
    once in each wording and turn. The letters begin with another one from wording to wording, the same in control and
    treatment, so that a habit of letters is not one of places. Reversed: forwards and backwards by turns.

    >>> shown_order("fixed", 3, 0, 0, 0, "x")
    ([0, 1, 2], 'KLM')
    >>> sorted(shown_order("shuffled", 2, at, 0, 0, "x")[0] for at in (0, 1))
    [[0, 1], [1, 0]]
    """
    natural, letters = list(range(number)), LETTERS[:number]
    if order == "shuffled":
        base, shifts, starts = _drawn(number, f"{lot}:{scenario // number}")
        first, start = (scenario + shifts[(wording + turn) % number]) % number, starts[wording % number]
        return base[first:] + base[:first], letters[start:] + letters[:start]
    backwards = order == "reversed" and (scenario + wording + turn + random.Random(lot).getrandbits(1)) % 2
    return natural[::-1] if backwards else natural, letters


@lru_cache(maxsize=4096)
def _drawn(number: int, lot: str) -> list[list[int]]:
    """What a block of scenarios shares: an order of options, how far it is turned, where letters begin."""
    rng = random.Random(lot)
    return [rng.sample(range(number), number) for _ in range(3)]


def places_of(questions: Sequence[Question]) -> dict[str, int]:
    """The number of each scenario among those of its bias that have as many options, which its orders follow from.

    A larger `question_limit` adds scenarios at the end, so that the others are asked as before.
    """
    counted: Counter[tuple[str, int]] = Counter()
    found = {}
    for question in questions:
        kind = (question.category, len(question.wordings[0].versions["control"].options))
        found[question.id] = counted[kind]
        counted[kind] += 1
    return found


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
