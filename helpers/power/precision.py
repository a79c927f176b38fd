"""How sure one number is with so many questions, and what follows: the smallest effect, the questions, the chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.power import (
    detectable_effect,
    detectable_mcnemar,
    power_of,
    provable_margin,
    questions_for_effect,
    questions_for_equivalence,
    questions_for_mcnemar,
)

POWER = 0.8
#: "t": from the standard error (what sign flips and dealing anew find is nearly that); "mcnemar": the exact test, one
#: pair a question; "equivalence": two one-sided tests, of which the margin is asked for.
KINDS = ("t", "mcnemar", "equivalence")
CURVE = ("id", "place", "kind", "unit", "words", "cluster", "questions", "effect", "here", "data")


@dataclass(frozen=True)
class Precision:
    """One number's standard error `se` from `clusters` questions, and the two-sided `level` of its test.

    `asked` is how many questions were asked for these: of some numbers not every question tells anything (no wrong
    answer of the judge's own, say). `error` is the Monte-Carlo error of `se` (0 of a pilot). `share` is that of pairs
    won by the place that won fewer (McNemar). `words` say what the level is of. `unit` as in `Estimate`; all effects
    are in it, rates as fractions. `cluster`: what a question of this number is (an article, a scenario).
    """

    id: str
    where: Mapping[str, str]
    unit: str
    se: float
    clusters: int
    level: float = 0.05
    kind: str = "t"
    words: str = "one test"
    confirmatory: bool = False
    asked: int = 0
    error: float = 0.0
    share: float = math.nan
    data: str = ""
    cluster: str = "question"

    @property
    def place(self) -> str:
        """Where it is, in words."""
        # A bare number says nothing without its key.
        return ", ".join(f"{k} {v}" if v.isdigit() else v for k, v in self.where.items()) or "all"

    @property
    def here(self) -> int:
        """How many questions were asked."""
        return max(self.asked, self.clusters)

    def of(self, questions: float) -> int:
        """How many of so many questions would tell something."""
        return math.floor(questions * self.clusters / self.here + 1e-9)


def smallest_detectable(each: Precision, questions: int | None = None, power: float = POWER) -> float:
    """The smallest true effect that so many questions find with this power; of equivalence the smallest margin.

    `questions` None: as many as the standard error is from. Fewer than 10 are a ValueError: they carry no interval.
    NaN where no effect is found so often, or too few of these questions tell anything.
    """
    n = each.of(enough(each.here if questions is None else questions))
    if n < MIN_CLUSTERS:
        return math.nan
    if each.kind == "mcnemar":
        return detectable_mcnemar(n, each.share * n, power, each.level)
    se = _scaled(each, n)
    if each.kind == "equivalence":
        return provable_margin(se, n - 1, power, each.level)
    return detectable_effect(se, n - 1, power, each.level)


def questions_for(each: Precision, effect: float, power: float = POWER) -> float:
    """How many questions find a true `effect` (of equivalence: prove such a margin) with this power; at least 10.

    Infinite for an effect of 0.
    """
    if each.kind == "mcnemar":
        needed = questions_for_mcnemar(each.share, effect, power, each.level)
    elif each.kind == "equivalence":
        needed = questions_for_equivalence(each.se, each.clusters, abs(effect), power, each.level)
    else:
        needed = questions_for_effect(each.se, each.clusters, effect, power, each.level)
    return math.ceil(needed * each.here / each.clusters - 1e-9) if math.isfinite(needed) else needed


def chance(each: Precision, effect: float, questions: int | None = None) -> float:
    """How often so many questions find a true `effect`, by t."""
    n = each.of(enough(each.here if questions is None else questions))
    return power_of(effect, _scaled(each, n), n - 1, each.level) if n >= MIN_CLUSTERS else math.nan


def _scaled(each: Precision, clusters: int) -> float:
    """The standard error with so many clusters: what differs by question averages out, nothing else is to change."""
    return each.se * math.sqrt(each.clusters / clusters)


def curve(each: Iterable[Precision], questions: Sequence[int], power: float = POWER) -> pd.DataFrame:
    """The smallest detectable effect against the number of questions: one row a number and number of questions.

    Columns: CURVE; `here` is the number of questions that its standard error is from.
    """
    rows = [(*_told(one), n, smallest_detectable(one, n, power), one.here, one.data) for one in each for n in questions]
    return pd.DataFrame(rows, columns=list(CURVE))


def _told(one: Precision) -> tuple[str, ...]:
    return one.id, one.place, one.kind, one.unit, one.words, one.cluster


def enough(questions: int) -> int:
    """The number of questions, or a ValueError where it is too small for any interval or test."""
    if questions < MIN_CLUSTERS:
        raise ValueError(f"{questions} questions: {MIN_CLUSTERS} are the least that carry an interval or a test")
    return int(questions)
