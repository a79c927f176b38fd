"""Which numbers are tested together, what is left of each p, and how many scenarios a test needs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from helpers.biases.cognitive.averages import LEVEL
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.power import detectable_effect
from helpers.stats.standing import BY, correct_family, tested
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate

#: A difference of unreadable shares, treatment less control, from which it is pointed out.
UNEQUAL = 0.05
#: A bias, and the judge (and source) where a number is not the mean over judges.
Place = tuple[str, ...]


def place(where: Mapping[str, str]) -> Place:
    """The bias and judge that a number is of."""
    return tuple(where[key] for key in ("bias", "judge", "source") if key in where)


#: Estimates by id, place and the further keys of their place.
Index = Mapping[tuple[str, Place, frozenset], Estimate]


def index(estimates: Sequence[Estimate]) -> Index:
    """The estimates by id, place and further keys, for who looks up many."""
    found: dict[tuple[str, Place, frozenset], Estimate] = {}
    for each in estimates:
        if "bias" in each.where:
            more = frozenset(item for item in each.where.items() if item[0] not in ("bias", "judge", "source"))
            found.setdefault((each.id, place(each.where), more), each)
    return found


def of(estimates: Sequence[Estimate] | Index, id: str, at: Place, **more: str) -> Estimate | None:
    """The one estimate with this id, place and further keys; None where there is none."""
    known = estimates if isinstance(estimates, Mapping) else index(estimates)
    return known.get((id, at, frozenset(more.items())))


def family(estimates: Sequence[Estimate]) -> dict[Place, Estimate]:
    """One contrast a bias: bias_effect as the mean over judges."""
    return {place(e.where): e for e in estimates if e.id == "bias_effect" and "judge" not in e.where}


def by_judge(estimates: Sequence[Estimate], id: str = "bias_effect") -> dict[Place, Estimate]:
    """One number of each bias and judge."""
    return {place(e.where): e for e in estimates if e.id == id and "judge" in e.where}


def members(estimates: Sequence[Estimate]) -> dict[Place, Estimate]:
    """The confirmatory family: each bias on the mean over judges and of each judge; one judge alone is its own mean."""
    grid = by_judge(estimates)
    return grid if len({at[1:] for at in grid}) == 1 else family(estimates) | grid


def confirmatory(estimates: Sequence[Estimate]) -> list[tuple[list[Estimate], int]]:
    """The confirmatory family with the number of tests that Holm corrects it for."""
    contrasts = [*members(estimates).values()]
    return [(contrasts, sum(map(tested, contrasts)))]


def corrected(estimates: Sequence[Estimate]) -> dict[Place, float]:
    """Holm's p of bias_effect over `members`, by bias or bias and judge; NaN where there was no test."""
    p = correct_family(members(estimates))
    return p | {at[:1]: p[at] for at in p if at[:1] not in p}


def direction(each: Estimate | None) -> int:
    """1 or -1 where the whole interval lies above or below 0; else 0."""
    return 0 if each is None or math.isnan(each.low) else int(each.low > 0) - int(each.high < 0)


def stands(estimates: Sequence[Estimate]) -> dict[Place, int]:
    """The places whose effect stands, with its sign: p below LEVEL after correction, and answers move along the scale.

    The second asks that the interval of `scale_shift` lies on the same side of 0: what only scatters answers more, or
    less, moves `bias_effect` too. Where scatter may differ (`scattered`), the sign test has to say the same.
    """
    each, p, known = family(estimates) | by_judge(estimates), corrected(estimates), index(estimates)
    signs = {at: direction(of(known, "scale_shift", at)) * _settled(known, at) for at in each}
    return {at: signs[at] for at, one in each.items() if p[at] < LEVEL and signs[at] * one.value > 0}


def habitual(estimates: Sequence[Estimate]) -> dict[tuple[str, str], list[str]]:
    """The biases that nothing can be told of because a judge answers by place or letter; by judge and how often."""
    found: dict[tuple[str, str], list[str]] = {}
    for at, each in by_judge(estimates).items():
        if each.method.startswith(BY):
            found.setdefault((" ".join(at[1:]), each.method), []).append(at[0])
    return found


def scattered(known: Index, at: Place) -> bool:
    """Whether treatments may scatter otherwise than controls: by more than one standard error, or nobody knows."""
    scatter = of(known, "scatter_change", at)
    return scatter is not None and scatter.value != 0 and not abs(scatter.value) <= scatter.se


def _settled(known: Index, at: Place) -> bool:
    """Whether scatter alone cannot have made the shift: it is the same, or the sign test stands on the same side."""
    if not scattered(known, at):
        return True
    sign, shift = of(known, "shift_sign", at), of(known, "scale_shift", at)
    return sign is not None and sign.p < LEVEL and sign.value * direction(shift) > 0


def lost(known: Index, bias: str, condition: str) -> float:
    """The share of replies without a decision on a bias in one condition, over all judges; NaN where none was asked."""
    asked = [e for (id, at, _), e in known.items() if id == "odd_share" and at[0] == bias]
    counted = [(e.value * e.n, e.n) for e in asked if e.where["condition"] == condition]
    return sum(x for x, _ in counted) / sum(n for _, n in counted) if counted else math.nan


def undirected(estimates: Sequence[Estimate]) -> list[str]:
    """The biases of which only the published metric is defined: where they pull is not known."""
    known = {at[0] for at in family(estimates)}
    return sorted({e.where["bias"] for e in estimates if e.id == "ratio_scale" and "bias" in e.where} - known)


def exploratory(estimates: Sequence[Estimate], id: str) -> dict[Place, float]:
    """Benjamini and Hochberg's p of one exploratory number: over its means, and apart from these over its judges."""
    means = {place(e.where): e for e in estimates if e.id == id and "judge" not in e.where}
    found: dict[Place, float] = {}
    for each in (means, by_judge(estimates, id)):
        found |= correct_family(each, benjamini_hochberg)
    return found


def first_level(estimates: Sequence[Estimate]) -> float:
    """The level of Holm's first step over all that was tested."""
    return LEVEL / max(1, sum(not math.isnan(e.p) for e in members(estimates).values()))


def smallest_detectable(estimates: Sequence[Estimate], power: float = 0.8) -> dict[Place, float]:
    """The smallest true mean bias_effect found with this power after Holm's first step, by bias; NaN without interval.

    By t from each contrast's own standard error, which is nearly what sign flips find.
    """
    level = first_level(estimates)
    return {at: detectable_effect(e.se, e.df, power, level) for at, e in family(estimates).items()}


def scenarios_needed(estimates: Sequence[Estimate]) -> tuple[int, int]:
    """How many scenarios an interval needs, and how many sign flips need to reach Holm's level over the family.

    The smallest two-sided p of C scenarios that all move is 2^(1 - C).

    >>> scenarios_needed([Estimate("bias_effect", {"bias": str(i)}, 0.1) for i in range(7)])
    (10, 9)
    """
    tests = max(1, len(members(estimates)))
    return MIN_CLUSTERS, math.ceil(1 - math.log2(LEVEL / tests) - 1e-9)
