"""Which numbers are tested together, what is left of each p, and how many scenarios a test needs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from helpers.biases.cognitive.averages import LEVEL
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.power import detectable_effect
from helpers.stats.tests import benjamini_hochberg, holm
from helpers.types import Estimate

#: A bias, and the judge (and source) where a number is not the mean over judges.
Place = tuple[str, ...]


def place(where: Mapping[str, str]) -> Place:
    """The bias and judge that a number is of."""
    return tuple(where[key] for key in ("bias", "judge", "source") if key in where)


def of(estimates: Sequence[Estimate], id: str, at: Place, **more: str) -> Estimate | None:
    """The one estimate with this id, place and further keys; None where there is none."""
    for each in estimates:
        rest = {key: value for key, value in each.where.items() if key not in ("bias", "judge", "source")}
        if each.id == id and place(each.where) == at and rest == more:
            return each
    return None


def family(estimates: Sequence[Estimate]) -> dict[Place, Estimate]:
    """The confirmatory contrasts, one a bias: bias_effect as the mean over judges."""
    return {place(e.where): e for e in estimates if e.id == "bias_effect" and "judge" not in e.where}


def by_judge(estimates: Sequence[Estimate], id: str = "bias_effect") -> dict[Place, Estimate]:
    """One number of each bias and judge: the exploratory grid."""
    return {place(e.where): e for e in estimates if e.id == id and "judge" in e.where}


def corrected(estimates: Sequence[Estimate]) -> dict[Place, float]:
    """What is left of each p of bias_effect, by bias or bias and judge; NaN where there was no test.

    Holm over the biases, of the means over judges; apart from these, Benjamini and Hochberg over bias x judge.
    """
    confirmed, grid = family(estimates), by_judge(estimates)
    found = dict(zip(confirmed, map(float, holm([e.p for e in confirmed.values()])), strict=True))
    return found | dict(zip(grid, map(float, benjamini_hochberg([e.p for e in grid.values()])), strict=True))


def exploratory(estimates: Sequence[Estimate], id: str) -> dict[Place, float]:
    """Benjamini and Hochberg's p of one exploratory number: over its means, and apart from these over its judges."""
    means = {place(e.where): e for e in estimates if e.id == id and "judge" not in e.where}
    found: dict[Place, float] = {}
    for each in (means, by_judge(estimates, id)):
        found |= dict(zip(each, map(float, benjamini_hochberg([e.p for e in each.values()])), strict=True))
    return found


def first_level(estimates: Sequence[Estimate]) -> float:
    """The level of Holm's first step over the biases that were tested."""
    return LEVEL / max(1, sum(not math.isnan(e.p) for e in family(estimates).values()))


def smallest_detectable(estimates: Sequence[Estimate], power: float = 0.8) -> dict[Place, float]:
    """The smallest true mean bias_effect found with this power after Holm's first step, by bias; NaN without interval.

    By t from each contrast's own standard error, which is nearly what sign flips find.
    """
    level = first_level(estimates)
    return {at: detectable_effect(e.se, e.clusters - 1, power, level) for at, e in family(estimates).items()}


def scenarios_needed(estimates: Sequence[Estimate]) -> tuple[int, int]:
    """How many scenarios an interval needs, and how many sign flips need to reach Holm's level over these biases.

    The smallest two-sided p of C scenarios that all move is 2^(1 - C).

    >>> scenarios_needed([Estimate("bias_effect", {"bias": str(i)}, 0.1) for i in range(7)])
    (10, 9)
    """
    tests = max(1, len(family(estimates)))
    return MIN_CLUSTERS, math.ceil(1 - math.log2(LEVEL / tests) - 1e-9)
