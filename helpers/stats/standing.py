"""What may be said of one number on a judge card: a bias, a hint of one, none shown, nothing, or a mere description."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from ..types import Estimand, Estimate
from ..words import LEVEL, CardVerdict, Conclusion, p_text
from .intervals import MIN_CLUSTERS
from .power import detectable_effect
from .tests import FLOOR, benjamini_hochberg, holm

#: How the method of a number begins that a judge's habit of places or letters takes away.
BY = "cannot tell: it answers by"


def tested(each: Estimate) -> bool:
    """Whether a number was tested: it has an interval, and its method does not say that no test was possible."""
    return math.isfinite(each.low) and "no test" not in each.method


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


def standing(each: Estimate, p: float, null: float = 0.0, confirmatory: bool = True) -> CardVerdict:
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


def conclude(
    estimates: Iterable[Estimate],
    declared: Mapping[str, Estimand],
    detectable: Callable[[Estimate, float], float] = lambda each, level: detectable_effect(
        each.se, each.df, level=level
    ),
) -> list[Conclusion]:
    """What may be said of each number: the one place where families are corrected and standings are given.

    Members of a confirmatory family are corrected by Holm within their source of data; of other numbers, which are
    exploratory, those of one id and with the same keys of `where` by Benjamini and Hochberg. `detectable` gives the
    smallest effect found in 80 % of runs at a level. What has no sides is *described*.
    """
    families: dict[tuple[str, bool, Hashable], list[Estimate]] = {}
    estimates = list(estimates)
    for each in estimates:
        about = declared[each.id]
        confirmed = confirms(about, each.where)
        at = about.family.name if confirmed else (each.id, frozenset(each.where) - {"source"})
        families.setdefault((each.data, confirmed, at), []).append(each)
    found = {}
    for (_, confirmed, _), several in families.items():
        planned = confirmed and declared[several[0].id].family.planned
        tested = [1.0 if planned and math.isnan(each.p) else each.p for each in several]
        corrected = (holm if confirmed else benjamini_hochberg)(tested)
        tests = sum(not math.isnan(p) for p in tested)
        for each, p in zip(several, map(float, corrected), strict=True):
            p = math.nan if math.isnan(each.p) else p
            found[id(each)] = _conclusion(each, declared[each.id], confirmed, p, tests, detectable)
    return [found[id(each)] for each in estimates]


def confirms(about: Estimand, where: Mapping[str, str]) -> bool:
    """Whether the number at this place is a member of the confirmatory family of its id."""
    only = about.family.only.items() if about.family else ()
    return bool(about.family) and {*where} <= {*about.family.over} and all(where.get(key) in one for key, one in only)


def _conclusion(
    each: Estimate,
    about: Estimand,
    confirmed: bool,
    p: float,
    tests: int,
    detectable: Callable[[Estimate, float], float],
) -> Conclusion:
    if not about.above:
        return Conclusion(each, about, "described", p, tests)
    verdict = standing(each, p, about.null, confirmed)
    if verdict in ("bias", "hint") and not about.below and each.value < about.null:
        verdict = "not shown"
    test = ""
    if not math.isnan(p):
        test = f"p {p_text(p, FLOOR in each.method)}"
        test = f"Holm {test} of {tests} tests" if confirmed else f"{test} by Benjamini and Hochberg, exploratory"
        test += clash(each, p, about.null)
    return Conclusion(each, about, verdict, p, tests, test, detectable(each, LEVEL / max(1, tests)))


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
