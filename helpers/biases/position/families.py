"""Which numbers are tested together, what is left of each p, and what so many questions could have shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from helpers.biases.position.effects import LEVEL
from helpers.stats.power import detectable_effect, detectable_mcnemar
from helpers.stats.standing import correct_family, tested
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate

#: A comparison: judge and candidate, and the source where several hold the same two.
Place = tuple[str, ...]


def place(where: Mapping[str, str]) -> Place:
    """The comparison that a number is of."""
    return tuple(where[key] for key in ("judge", "candidate", "source") if key in where)


def of(estimates: Sequence[Estimate], id: str, at: Place, **more: str) -> Estimate | None:
    """The one estimate with this id, comparison and further keys; None where there is none."""
    for each in estimates:
        if each.id != id or place(each.where) != at:
            continue
        if {key: value for key, value in each.where.items() if key not in ("judge", "candidate", "source")} == more:
            return each
    return None


def family(estimates: Sequence[Estimate]) -> dict[Place, Estimate]:
    """The confirmatory contrasts, one a judge and candidate: first_position_effect over all its categories."""
    chosen = [e for e in estimates if e.id == "first_position_effect" and "category" not in e.where]
    return {place(each.where): each for each in chosen}


def rarer_side(each: Estimate, estimates: Sequence[Estimate]) -> float:
    """The share of the rarer of the two lasting leanings, which the power of McNemar's test depends on.

    NaN where a number is tested in another way: it is no first_position_effect, or its questions hold several pairs.
    """
    if each.id != "first_position_effect" or each.n != each.clusters:
        return math.nan
    sides = [of(estimates, id, place(each.where)) for id in ("primacy_share", "recency_share")]
    return min(
        (side.value if side is not None else math.nan for side in sides), key=lambda share: (share == share, share)
    )


def confirmatory(estimates: Sequence[Estimate]) -> list[tuple[list[Estimate], int]]:
    """The confirmatory family with the number of tests that Holm corrects it for."""
    contrasts = [*family(estimates).values()]
    return [(contrasts, sum(map(tested, contrasts)))]


def corrected(estimates: Sequence[Estimate]) -> dict[Place, float]:
    """Holm's p of the confirmatory family, by comparison; NaN where there was no test."""
    return correct_family(family(estimates))


def exploratory(estimates: Sequence[Estimate], id: str) -> dict[Place, float]:
    """Benjamini and Hochberg's p of one exploratory number over all comparisons; NaN where there was no test."""
    each = {place(e.where): e for e in estimates if e.id == id and "category" not in e.where}
    return correct_family(each, benjamini_hochberg)


def detectable_beside(estimates: Sequence[Estimate], each: Estimate) -> float:
    """The smallest true effect of one exploratory number found with power 0.8 at the level that one hit needs."""
    tests = sum(not math.isnan(p) for p in exploratory(estimates, each.id).values())
    sides = 2 if "one-sided" in each.method else 1  # a two-sided test at twice the level
    return detectable_effect(each.se, each.df, 0.8, sides * LEVEL / max(1, tests))


def smallest_detectable(estimates: Sequence[Estimate], power: float = 0.8) -> dict[Place, float]:
    """The smallest true first_position_effect (a fraction, as pp are stored) found with this power, by comparison.

    After Holm's first step. Where each question has one pair, by the exact McNemar test, with as many pairs won twice
    by the place that won fewer as were seen; else by t from each contrast's own standard error. NaN where it has none,
    and where no effect is found so often.
    """
    each = family(estimates)
    level = LEVEL / max(1, sum(not math.isnan(e.p) for e in each.values()))
    return {at: _detectable(estimates, at, e, power, level) for at, e in each.items()}


def _detectable(estimates: Sequence[Estimate], at: Place, each: Estimate, power: float, level: float) -> float:
    sides = [of(estimates, id, at) for id in ("primacy_share", "recency_share")]
    if each.n == each.clusters and all(sides) and not math.isnan(each.se):
        return detectable_mcnemar(each.n, min(round(side.value * side.n) for side in sides), power, level)
    return detectable_effect(each.se, each.df, power, level)
