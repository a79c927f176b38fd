"""By what simulations are judged: with the exact 99.9 % interval of an observed rate, never by the rate itself."""

from __future__ import annotations

import math

from scipy import stats

#: How far from its nominal rate a size or a coverage may lie: 3 to 7 % and 93 to 97 % of a 95 % interval.
ROOM = 0.02
#: Most Monte-Carlo standard errors by which a mean may miss the truth.
MOST_ERRORS = 3.5
#: Fewer replications tell neither their own Monte-Carlo error nor that a rule holds.
FEWEST = 30
CONSERVATIVE, HOLDS, SHOWN, UNTOLD, FEW = "conservative", "holds", "shown", "no interval", "too few"


def exact(hits: int, runs: int) -> tuple[float, float]:
    """The exact 99.9 % interval of an observed rate."""
    bounds = stats.binomtest(int(hits), runs).proportion_ci(0.999, method="exact")
    return bounds.low, bounds.high


def side(hits: int, runs: int, nominal: float) -> int:
    """1 where the rate lies wholly more than ROOM above the nominal one, -1 where wholly below, 0 otherwise."""
    low, high = exact(hits, runs)
    return 1 if low > nominal + ROOM else -1 if high < nominal - ROOM else 0


def verdict(role: str, given: int, bias: float, error: float, covered: int, rejected: int, level: float) -> str:
    """What the rule says of `given` runs: "holds", "conservative" or "misses: " and what (bias, coverage, size).

    `bias` and its Monte-Carlo `error` may be NaN (no truth: neither bias nor coverage is judged). The size is judged
    where nothing is planted. A known failure is "shown", never judged; without any interval there is nothing to judge,
    and of fewer than FEWEST only what misses all the same is said ("too few").
    """
    if not given:
        return UNTOLD
    if role == "failure":
        return SHOWN
    missed, wide = [], False
    if math.isfinite(bias):
        missed += ["bias"] if given >= FEWEST and abs(bias) > MOST_ERRORS * error else []
        at = side(covered, given, level)
        missed += ["coverage"] if at < 0 else []
        wide |= at > 0
    if role == "null":
        at = side(rejected, given, 0.05)
        missed += ["size"] if at > 0 else []
        wide |= at < 0
    if missed:
        return f"misses: {', '.join(missed)}"
    if given < FEWEST:
        return FEW
    return CONSERVATIVE if wide else HOLDS
