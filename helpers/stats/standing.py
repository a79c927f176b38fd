"""What may be said of one number on a judge card: a bias, a hint of one, none shown, nothing, or a mere description."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.tests import holm
from helpers.types import Estimate
from helpers.words import CARD_VERDICTS

LEVEL = 0.05
Key = TypeVar("Key", bound=Hashable)
#: How the method of a number begins that a judge's habit of places or letters takes away.
BY = "cannot tell: it answers by"


def tested(each: Estimate) -> bool:
    """Whether a number was tested: it has an interval, and its method does not say that no test was possible."""
    return math.isfinite(each.low) and "no test" not in each.method


def correct_family(
    family: Mapping[Key, Estimate], correction: Callable[[Sequence[float]], np.ndarray] = holm
) -> dict[Key, float]:
    """What a correction over a family leaves of the p of each of its numbers; NaN where there was no test."""
    return dict(zip(family, map(float, correction([each.p for each in family.values()])), strict=True))


def leans(each: Estimate, null: float = 0.0) -> bool:
    """Whether `null` lies outside a number's own interval, which knows nothing of the other tests."""
    return each.low > null or each.high < null


def clash(each: Estimate, p: float, null: float = 0.0) -> str:
    """Why the test says otherwise than the interval beside it, as a clause; "" where they agree."""
    outside = leans(each, null)
    if math.isnan(each.low) or math.isnan(p) or outside == (p < LEVEL):
        return ""
    corrected = outside and each.p < LEVEL
    why = "it is corrected for the other tests" if corrected else "it is by randomisation and assumes no distribution"
    return f"; here the test decides, not the interval: {why}"


def standing(each: Estimate, p: float, null: float = 0.0, confirmatory: bool = True) -> str:
    """One of CARD_VERDICTS for a number with its p after the correction for its family, NaN where there was no test.

    A *bias* is shown only by a member of the confirmatory family that the experiment declares over all its judges:
    Holm's p is below LEVEL. Such a p of an exploratory number (not `confirmatory`) or of one that few questions carry
    (below MIN_CLUSTERS effective ones), and of any number an interval that leaves out `null`, is a *hint*. *untold*: no
    number, or neither an interval nor a small p.
    """
    if math.isnan(each.value):
        return "untold"
    if p < LEVEL:
        return "bias" if confirmatory and not each.effective < MIN_CLUSTERS - 1e-9 else "hint"
    if math.isnan(each.low):
        return "untold"
    return "hint" if leans(each, null) else "not shown"


def worst(verdicts: Iterable[str]) -> str:
    """The verdict that a reader must not miss, in the order of CARD_VERDICTS; none given is a ValueError."""
    return min(verdicts, key=CARD_VERDICTS.index)


def size(each: Estimate) -> float:
    """How far a number is from 0, so that the largest can be picked; one without a value is the smallest of all."""
    return -1.0 if math.isnan(each.value) else abs(each.value)


def together(estimates: Sequence[Estimate], id: str, judge: str, over: str) -> Estimate:
    """Shares of one judge over several parts as one, weighted by n; no interval, since parts share their questions.

    `over` says what the parts are ("hints"). One part stays as it is; no part that has an n gives NaN.
    """
    counted = [each for each in estimates if each.n and not math.isnan(each.value)]
    if len(counted) == 1:
        return replace(counted[0], id=id, where={"judge": judge})
    n = sum(each.n for each in counted)
    value = sum(each.value * each.n for each in counted) / n if n else math.nan
    clusters = max((each.clusters for each in counted), default=0)
    method = f"over all {over}; no interval: they share their questions"
    data = estimates[0].data if estimates else ""
    return Estimate(id, {"judge": judge}, value, n=n, clusters=clusters, method=method, data=data)
