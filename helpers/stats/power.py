"""What so many questions could have shown, and how many it would take: printed beside every null result."""

from __future__ import annotations

import math
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
        # The far tail adds almost nothing, and its distribution function fails numerically for large shifts.
        return nct.sf(bound, df, shift) + nct.cdf(-bound, df, min(shift, 5.0)) - power

    return float(se * brentq(gap, 0.0, bound + 40.0))


def power_of(effect: float, se: float, df: float, level: float = 0.05) -> float:
    """How often a two-sided t-test with this standard error finds a true effect; NaN as in `detectable_effect`.

    >>> round(power_of(detectable_effect(1.9, df=79), 1.9, df=79), 6)
    0.8
    """
    if not (math.isfinite(se) and se > 0 and df > 0):
        return float("nan")
    from scipy.stats import nct, t

    bound, shift = t.ppf(1 - level / 2, df), abs(effect) / se
    # Further out the distribution function fails numerically, and everything is found.
    return 1.0 if shift > bound + 40 else float(nct.sf(bound, df, shift) + nct.cdf(-bound, df, min(shift, 5.0)))


def questions_for_effect(se: float, clusters: int, effect: float, power: float = 0.8, level: float = 0.05) -> float:
    """How many questions find a true effect with probability `power`, from the standard error of so many clusters.

    From 10 up, the least that carry an interval; infinite for an effect of 0.

    >>> questions_for_effect(2.53, 80, 5.0)
    163.0
    """
    return _smallest(
        se,
        clusters,
        lambda at, count: detectable_effect(at, count - 1, power, level) <= abs(effect),
        effect == 0,
    )


def questions_for_mcnemar(share: float, effect: float, power: float = 0.8, level: float = 0.05) -> float:
    """How many pairs let the exact McNemar test find such a difference, where `share` change to the smaller side.

    Infinite for an effect of 0; NaN where `share` is, or where even all other pairs would not do.
    """
    if not math.isfinite(share) or abs(effect) >= 1 - 2 * share:
        return float("nan")

    def enough(_: float, count: int) -> bool:
        return detectable_mcnemar(count, share * count, power, level) <= abs(effect)

    # Being exact, it is not quite monotone in the count: off by a question or two.
    return _smallest(1.0, 1, enough, effect == 0)


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

    counts, q = np.arange(n + 1), smaller / n
    # The least number of changes to one side, of so many, with a two-sided p within the level; more than all: never.
    needed = binom.isf(level / 2, counts, 0.5) + 1
    needed = np.where(2 * binom.sf(needed - 1, counts, 0.5) > level, needed + 1, needed)

    def gap(difference: float) -> float:
        changed = 2 * q + difference
        side = (q + difference) / changed if changed else 0.5
        found = binom.sf(needed - 1, counts, side) + binom.sf(needed - 1, counts, 1 - side)
        return float(binom.pmf(counts, n, changed) @ found) - power

    most = 1 - 2 * q
    return float(brentq(gap, 0.0, most, xtol=1e-6)) if most > 0 and gap(most) > 0 > gap(0.0) else float("nan")


def equivalence_power(se: float, df: float, margin: float, level: float = 0.05) -> float:
    """How often two one-sided tests prove equivalence within +-`margin`, if there is no difference at all.

    The same as: the 1 - 2 * `level` interval lies inside the margin. Normal approximation of the shift.

    >>> round(equivalence_power(2.53, 79, 5.0), 2)
    0.24
    """
    if not math.isfinite(se):
        return float("nan")
    if se == 0:
        return 1.0
    from scipy.stats import t

    return max(0.0, 2 * float(t.cdf(margin / se - t.ppf(1 - level, df), df)) - 1)


def questions_for_equivalence(
    se: float, clusters: int, margin: float, power: float = 0.8, level: float = 0.05
) -> float:
    """How many questions would prove equivalence within +-`margin` with probability `power`, if nothing differs.

    >>> questions_for_equivalence(2.53, 80, 5.0)
    178.0
    """
    return _smallest(
        se, clusters, lambda at, count: equivalence_power(at, count - 1, margin, level) >= power, margin <= 0
    )


def _smallest(se: float, clusters: int, enough, never: bool) -> float:
    """The smallest count of questions, from 10 up, at which `enough(se, count)` holds; it holds from there on."""
    if not math.isfinite(se):
        return float("nan")
    low, high = 10, 20
    if never:
        return math.inf
    if enough(se * math.sqrt(clusters / low), low):
        return float(low)
    while not enough(se * math.sqrt(clusters / high), high):
        low, high = high, 2 * high
        if high > MOST_QUESTIONS:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(se * math.sqrt(clusters / middle), middle) else (middle, high)
    return float(high)
