"""Metrics with |.|, max or a standard deviation: resampled over questions, shown with what noise alone gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .intervals import MIN_CLUSTERS, NAN, Interval, Kinds, no_interval, to_draw

#: Arrays of rates (..., m) to arrays of metrics (...,).
Statistic = Callable[[np.ndarray], np.ndarray]

MAX_UNDEFINED = 0.05
#: Values of a metric that differ by less (relatively; below 1 absolutely) are the same: each processor rounds sums in
#: its own way.
SAME = 1e-12
#: So many weights are held at once.
MOST_WEIGHTS = 4_000_000


def bca(
    numerators: np.ndarray,
    denominators: np.ndarray,
    statistic: Statistic,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
) -> Interval:
    """The BCa interval, over clusters, of a metric of several rates.

    `numerators`, `denominators`: (C, m) sums per cluster; the same resampled clusters serve all columns, so pairing is
    kept. `statistic` maps rates (..., m) to (...,). Not stratified. See `bca_totals` for when there are no bounds.
    """
    x, d = _sums(numerators, denominators)
    kept = (d > 0).any(axis=1)
    of_totals = _of_totals(statistic, x.shape[1])
    return bca_totals(np.hstack([x, d])[kept], of_totals, round(d.sum()), seed, resamples, level)


def bca_totals(
    sums: np.ndarray,
    statistic: Statistic,
    n: int,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
    least: int = MIN_CLUSTERS,
) -> Interval:
    """The BCa interval (Efron 1987) of a statistic of totals: `sums` (C, M) per cluster, statistic (..., M) -> (...,).

    The acceleration is the jackknife's over clusters. `se` is the standard deviation of the replicates. No bounds below
    `least` clusters (below 10 `method` calls them rough), where nothing varies, where more than 5 % of the replicates
    are undefined, and where the estimate lies at the edge of its own replicates or is nearly all of them.
    """
    clusters = len(sums)
    value = float(statistic(sums.sum(axis=0))) if clusters else NAN
    if not np.isfinite(value):
        return no_interval(NAN, n, clusters, "no valid row")
    if clusters < least:
        return no_interval(value, n, clusters, f"no interval below {least} questions")
    kinds = to_draw(sums)
    replicates = statistic(drawn(kinds, seed, resamples))
    defined = replicates[np.isfinite(replicates)]
    if len(defined) < (1 - MAX_UNDEFINED) * resamples:
        return no_interval(value, n, clusters, "no interval: undefined in more than 5 % of resamples")
    if np.ptp(defined) <= _rounding(value):
        return no_interval(value, n, clusters, "no interval: nothing varies between questions")
    jackknife = statistic(sums.sum(axis=0) - kinds.sums)
    finite = np.isfinite(jackknife)
    low, high = bca_bounds(value, defined, jackknife[finite], level, kinds.counts[finite])
    rounding = _rounding(value)
    if high - low <= rounding or not low - rounding <= value <= high + rounding:
        if (np.abs(defined - value) <= rounding).mean() > 0.5:
            return no_interval(value, n, clusters, "no interval: most resamples give the estimate itself")
        # The bias correction then pushes both bounds to the same side: precise in looks, and without the estimate.
        return no_interval(value, n, clusters, "no interval: the estimate lies at the edge of its own resamples")
    # What rounding makes of a bound that is 0, or the estimate itself, decides nothing.
    low, high = (0.0 if abs(bound) <= rounding else bound for bound in (low, high))
    low, high = min(low, value), max(high, value)
    method = "BCa over questions" if clusters >= MIN_CLUSTERS else f"rough: n = {clusters}; BCa over questions"
    return Interval(value, low, high, float(defined.std(ddof=1)), int(n), clusters, method)


def bca_bounds(
    value: float, replicates: np.ndarray, jackknife: np.ndarray, level: float = 0.95, counts: np.ndarray | None = None
) -> tuple[float, float]:
    """The two BCa quantiles of the replicates; NaN where all of them lie on one side of the value.

    `counts` says how many clusters have each value of the jackknife; None: one each.
    """
    from scipy.special import ndtr, ndtri

    off = replicates - value
    below = ((off < -_rounding(value)).mean() + (off <= _rounding(value)).mean()) / 2
    if not 0 < below < 1:
        return NAN, NAN
    bias = ndtri(below)
    many = np.ones(len(jackknife)) if counts is None else counts
    away = (many * jackknife).sum() / many.sum() - jackknife
    spread = (many * away**2).sum()
    acceleration = (many * away**3).sum() / (6 * spread**1.5) if spread > 0 else 0.0
    z = bias + np.array([-1, 1]) * ndtri((1 + level) / 2)
    low, high = np.quantile(replicates, ndtr(bias + z / (1 - acceleration * z)))
    return float(low), float(high)


def _rounding(value: float) -> float:
    return SAME * max(1.0, abs(value))


def resampled(sums: np.ndarray, statistic: Statistic, seed: int, resamples: int) -> np.ndarray:
    """The statistic of `resamples` draws of C clusters with replacement: (resamples,), some may be NaN."""
    return statistic(drawn(to_draw(sums), seed, resamples))


def drawn(kinds: Kinds, seed: int, resamples: int) -> np.ndarray:
    """The totals of as many clusters as there are, drawn with replacement: (resamples, M)."""
    rng, clusters = np.random.default_rng(seed), round(kinds.counts.sum())
    batch, parts = max(1, MOST_WEIGHTS // len(kinds.counts)), []
    for start in range(0, resamples, batch):
        weights = rng.multinomial(clusters, kinds.counts / clusters, size=min(batch, resamples - start))
        parts.append(weights @ kinds.sums)
    return np.concatenate(parts)


def noise_floor(
    numerators: np.ndarray,
    denominators: np.ndarray,
    statistic: Statistic,
    center: np.ndarray,
    seed: int,
    resamples: int = 2000,
) -> float:
    """What the metric shows on average when there is nothing: all true rates equal `center` (m,), the noise as it is.

    The mean of the statistic over cluster-bootstrap rates, moved from the observed rates to `center`. NaN where a
    column is empty or there are fewer than 10 clusters.
    """
    x, d = _sums(numerators, denominators)
    shift = np.asarray(center, dtype=float) - _rates(x.sum(axis=0), d.sum(axis=0))
    return _mean_resampled(x, d, lambda rates: statistic(rates + shift), seed, resamples)


def bias_corrected(
    numerators: np.ndarray, denominators: np.ndarray, statistic: Statistic, seed: int, resamples: int = 2000
) -> float:
    """The metric less its bootstrap bias, 2 * theta - mean(theta*); it may fall below 0. NaN as in `noise_floor`."""
    x, d = _sums(numerators, denominators)
    value = float(statistic(_rates(x.sum(axis=0), d.sum(axis=0))))
    return 2 * value - _mean_resampled(x, d, statistic, seed, resamples)


def _mean_resampled(x: np.ndarray, d: np.ndarray, statistic: Statistic, seed: int, resamples: int) -> float:
    """The mean of a statistic of the rates over resampled clusters; NaN where it is never defined, or as above."""
    if len(x) < MIN_CLUSTERS or (d.sum(axis=0) == 0).any():
        return NAN
    replicates = resampled(np.hstack([x, d]), _of_totals(statistic, x.shape[1]), seed, resamples)
    return float(np.nanmean(replicates)) if np.isfinite(replicates).any() else NAN


def _of_totals(statistic: Statistic, width: int) -> Statistic:
    return lambda totals: statistic(_rates(totals[..., :width], totals[..., width:]))


def _sums(numerators: np.ndarray, denominators: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, d = (np.asarray(a, dtype=float) for a in (numerators, denominators))
    if x.ndim != 2 or x.shape != d.shape:
        raise ValueError(f"numerators {x.shape}, denominators {d.shape}: both must be (clusters, columns)")
    if not (np.isfinite(x).all() and np.isfinite(d).all() and (d >= 0).all()):
        raise ValueError(
            "cluster sums must be finite, denominators not negative; leave NaN rows out (cluster_sums does)"
        )
    return x, d


def _rates(numerators: np.ndarray, denominators: np.ndarray) -> np.ndarray:
    return np.divide(numerators, denominators, out=np.full(np.shape(numerators), NAN), where=denominators > 0)
