"""What so many questions could have shown, and how many it would take: printed beside every null result."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

MOST_QUESTIONS = 10_000_000


# A notebook asks for the same numbers in its finding, its captions and its tables.
@lru_cache(maxsize=4096)
def detectable_effect(se: float, df: float, power: float = 0.8, level: float = 0.05) -> float:
    """The smallest true effect that a two-sided t-test with this standard error finds with probability `power`.

    Same unit as `se`; NaN where `se` is NaN or `df` is not positive. Solved on the noncentral t distribution.

    >>> round(detectable_effect(1.9, df=79), 1)
    5.4
    """
    if not (math.isfinite(se) and df > 0):
        return float("nan")
    from scipy.optimize import brentq
    from scipy.stats import nct, t

    bound = t.ppf(1 - level / 2, df)

    def gap(shift: float) -> float:
        # The lower tail by symmetry: scipy's cdf is NaN here and there where it is nearly 0.
        return nct.sf(bound, df, shift) + nct.sf(bound, df, -shift) - power

    return float(se * brentq(gap, 0.0, 4 * bound + 40))


def power_of(effect: float, se: float, df: float, level: float = 0.05) -> float:
    """How often a two-sided t-test with this standard error finds a true effect; NaN as in `detectable_effect`.

    >>> round(power_of(detectable_effect(1.9, df=79), 1.9, df=79), 6)
    0.8
    """
    if not (math.isfinite(se) and se > 0 and df > 0):
        return float("nan")
    from scipy.stats import nct, t

    bound, shift = t.ppf(1 - level / 2, df), abs(effect) / se
    return float(nct.sf(bound, df, shift) + nct.sf(bound, df, -shift))


def provable_margin(se: float, df: float, power: float = 0.8, level: float = 0.05) -> float:
    """The smallest margin within which two one-sided tests prove equivalence so often, if nothing differs.

    >>> round(provable_margin(2.53, 79), 1)
    7.5
    """
    if not (math.isfinite(se) and df > 0):
        return float("nan")
    from scipy.stats import t

    return float(se * (t.ppf(1 - level, df) + t.ppf((1 + power) / 2, df)))


@lru_cache(maxsize=4096)
def detectable_mcnemar(n: int, smaller: float, power: float = 0.8, level: float = 0.05) -> float:
    """The smallest difference of two shares of n pairs that the exact McNemar test finds with probability `power`.

    `smaller`: how many pairs changed to the side that fewer changed to (it may be a fraction); their share is kept
    while the other grows. NaN where even all remaining pairs would not do. Exact: over the number of changed pairs,
    binomial, then over their sides.

    >>> round(detectable_mcnemar(100, 5), 3)
    0.142
    """
    if n < 1:
        return float("nan")
    import numpy as np
    from scipy.optimize import brentq
    from scipy.stats import binom

    q, most = smaller / n, 1 - 2 * smaller / n

    def gap(difference: float) -> float:
        changed = 2 * q + difference
        side = (q + difference) / changed if changed else 0.5
        # Of how many pairs can change all but 2e-12 of what is probable.
        counts = np.arange(max(binom.ppf(1e-12, n, changed), 0), binom.isf(1e-12, n, changed) + 1)
        # The fewest changes to one side, of so many, with a two-sided p within the level; more than all: never.
        needed = binom.isf(level / 2, counts, 0.5) + 1
        needed = np.where(2 * binom.sf(needed - 1, counts, 0.5) > level, needed + 1, needed)
        found = binom.sf(needed - 1, counts, side) + binom.sf(needed - 1, counts, 1 - side)
        return float(binom.pmf(counts, n, changed) @ found) - power

    return float(brentq(gap, 0.0, most, xtol=1e-6)) if most > 0 and gap(most) > 0 > gap(0.0) else float("nan")


def questions_for(
    se: float,
    clusters: int,
    size: float,
    least: Callable[..., float] = detectable_effect,
    power: float = 0.8,
    level: float = 0.05,
) -> float:
    """How many questions find an effect of this size with probability `power`, from the error of so many clusters.

    `least` is the smallest size for an error: `provable_margin` where equivalence is to be proven. From 10 up, the
    least that carry an interval; infinite for a size of 0.

    >>> questions_for(2.53, 80, 5.0), questions_for(2.53, 80, 5.0, provable_margin)
    (163.0, 178.0)
    """
    if not math.isfinite(se):
        return float("nan")
    if not size:
        return math.inf
    return _smallest(lambda n: least(se * math.sqrt(clusters / n), n - 1, power, level) <= abs(size))


def questions_for_mcnemar(share: float, effect: float, power: float = 0.8, level: float = 0.05) -> float:
    """How many pairs let the exact McNemar test find such a difference, where `share` change to the smaller side.

    Infinite for an effect of 0; NaN where `share` is, or where even all other pairs would not do.
    """
    if not math.isfinite(share) or abs(effect) >= 1 - 2 * share:
        return float("nan")
    # Being exact, it is not quite monotone in the count: off by a question or two.
    return _smallest(lambda n: detectable_mcnemar(n, share * n, power, level) <= abs(effect)) if effect else math.inf


def _smallest(enough: Callable[[int], bool]) -> float:
    """The smallest count of questions, from 10 up, that is `enough`; every larger one is."""
    low, high = 10, 20
    if enough(low):
        return float(low)
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_QUESTIONS:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)
