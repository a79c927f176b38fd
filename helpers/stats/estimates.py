"""How an interval becomes a reported number."""

from __future__ import annotations

import math
from collections.abc import Mapping

from helpers.stats.intervals import Interval
from helpers.types import Estimate

Span = tuple[float, float] | None
#: What numbers of a unit can be, where t intervals can reach beyond.
RANGES = {"rate": (0.0, 1.0), "pp": (-1.0, 1.0), "alpha": (-1.0, 1.0)}


def estimate(
    id: str,
    where: Mapping[str, str],
    interval: Interval,
    data: str,
    unit: str = "rate",
    span: Span = None,
) -> Estimate:
    """An interval with its name and place, cut to what such a number can be: `span`, else that of its unit in RANGES.

    An unbiased value can lie outside; it stays, or the mean of many would be off.
    """
    i, (lower, upper) = interval, span or RANGES.get(unit, (-math.inf, math.inf))
    low, high = (min(max(bound, lower), upper) if bound == bound else bound for bound in (i.low, i.high))
    return Estimate(id, dict(where), i.value, low, high, i.n, i.clusters, unit, i.se, i.method, data, i.p, i.effective)
