"""How an interval becomes a reported number."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.stats.intervals import Interval
from helpers.types import Estimate


def estimate(id: str, where: Mapping[str, str], interval: Interval, data: str, unit: str = "rate") -> Estimate:
    """An interval with its name and place; that of a rate is cut at 0 and 1, where t intervals can reach beyond."""
    i = interval
    low, high = (min(max(bound, 0.0), 1.0) if unit == "rate" and bound == bound else bound for bound in (i.low, i.high))
    return Estimate(id, dict(where), i.value, low, high, i.n, i.clusters, unit, i.se, i.method, data, i.p, i.effective)
