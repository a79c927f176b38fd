"""How sure a number is: intervals that take the question, never the row, as the unit that varies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.stats.numbering import BLOCK, numbered

MIN_CLUSTERS = 10
MIN_STRATUM = 5
NAN = float("nan")


@dataclass(frozen=True)
class Interval:
    """A number with its bounds; NaN bounds mean that no interval is honest here, and `method` says why.

    `n` counts rows (judgments), `clusters` the questions that carry them; `p` is two-sided, `df` are the degrees of
    freedom of a t interval (NaN of any other).
    """

    value: float
    low: float
    high: float
    se: float
    n: int
    clusters: int
    method: str
    p: float = NAN
    df: float = NAN


def no_interval(value: float, n: int, clusters: int, reason: str) -> Interval:
    """The bare number, with the reason why it has no interval in `method`."""
    return Interval(float(value), NAN, NAN, NAN, int(n), int(clusters), reason)


def t_interval(
    value: float,
    se: float,
    df: float,
    n: int,
    clusters: int,
    method: str,
    level: float = 0.95,
    null: float | None = 0.0,
) -> Interval:
    """The t interval of a number with standard error `se`, where there is an honest one.

    None below 10 clusters, where the number or its error is NaN, and where nothing varied between clusters: a standard
    error of 0 is then a lack of information, not certainty. `p` tests value = `null` (NaN where `null` is None).
    """
    if not math.isfinite(value):
        return no_interval(NAN, n, clusters, "no valid row")
    if clusters < MIN_CLUSTERS:
        return no_interval(value, n, clusters, f"no interval below {MIN_CLUSTERS} questions")
    if not math.isfinite(se):
        return no_interval(value, n, clusters, "no interval: its standard error is not defined")
    if se <= 1e-12 * max(1.0, abs(value)):
        return no_interval(value, n, clusters, "no interval: nothing varies between questions")
    from scipy.special import stdtr, stdtrit

    value, se = float(value), float(se)
    reach = float(stdtrit(df, (1 + level) / 2)) * se
    p = NAN if null is None else 2 * float(stdtr(df, -abs(value - null) / se))
    return Interval(value, value - reach, value + reach, se, int(n), int(clusters), method, p, float(df))


def wilson(k: int, n: int, level: float = 0.95) -> Interval:
    """The Wilson score interval of a share k/n of independent trials (one item a question, or published counts).

    NaN for n = 0, no bounds below 10 trials. `se` is the plain binomial one.

    >>> interval = wilson(94, 128)
    >>> f"{interval.low:.3f} to {interval.high:.3f}"
    '0.652 to 0.803'
    """
    _check_count(k, n)
    if n < MIN_CLUSTERS:
        return no_interval(
            k / n if n else NAN, n, n, f"no interval below {MIN_CLUSTERS} questions" if n else "no valid row"
        )
    from scipy.special import ndtri

    # scipy has this only behind an exact test, whose p costs a hundred times as much.
    share, z = k / n, float(ndtri(0.5 + 0.5 * level))
    whole = 2 * (n + z**2)
    middle = (2 * n * share + z**2) / whole
    reach = z / whole * math.sqrt(4 * n * share * (1 - share) + z**2)
    low, high = 0.0 if k == 0 else middle - reach, 1.0 if k == n else middle + reach
    return Interval(share, low, high, math.sqrt(share * (1 - share) / n), int(n), int(n), "Wilson")


def newcombe(k1: int, n1: int, k2: int, n2: int, level: float = 0.95) -> Interval:
    """The hybrid score interval (Newcombe 1998, method 10) of k1/n1 - k2/n2 for independent counts.

    NaN where a sample is empty, no bounds where one has fewer than 10 trials. `se` is the plain unpooled one.
    """
    _check_count(k1, n1)
    _check_count(k2, n2)
    difference = k1 / n1 - k2 / n2 if n1 and n2 else NAN
    if min(n1, n2) < MIN_CLUSTERS:
        reason = f"no interval below {MIN_CLUSTERS} questions" if min(n1, n2) else "no valid row"
        return no_interval(difference, n1 + n2, min(n1, n2), reason)
    from statsmodels.stats.proportion import confint_proportions_2indep

    low, high = confint_proportions_2indep(k1, n1, k2, n2, method="newcomb", alpha=1 - level)
    se = math.sqrt(sum(k / n * (1 - k / n) / n for k, n in ((k1, n1), (k2, n2))))
    return Interval(difference, float(low), float(high), se, int(n1 + n2), int(min(n1, n2)), "Newcombe")


def _check_count(k: float, n: float) -> None:
    if not 0 <= k <= n or k != int(k) or n != int(n):
        raise ValueError(f"a count k of n needs whole numbers with 0 <= k <= n, found k={k!r}, n={n!r}")


@dataclass(frozen=True)
class Sums:
    """Sums of valid rows per cluster and column: `numerators`, `denominators` (C, m) with labels of both axes.

    `strata` holds a label per cluster, or is None.
    """

    numerators: np.ndarray
    denominators: np.ndarray
    clusters: pd.Index
    columns: tuple[object, ...]
    strata: np.ndarray | None = None


def cluster_sums(
    frame: pd.DataFrame, value: str, cluster: str, by: str | Sequence[str] | None = None, strata: str | None = None
) -> Sums:
    """How much of `value`, over how many valid rows, each cluster holds, for each value of `by`.

    NaN rows count in neither sum. A cluster without a valid row in a column stays, with 0/0. Columns are sorted (a
    categorical keeps its order); without `by` there is one. A cluster in two strata is an error, and so is a row with a
    value and without a cluster.
    """
    keys = [by] if isinstance(by, str) else list(by or [])
    codes, labels = numbered(frame[cluster])
    if len(keys) == 1 and isinstance(frame[keys[0]].dtype, pd.CategoricalDtype) and frame[keys[0]].notna().all():
        column, names = numbered(frame[keys[0]])
        columns = tuple(names.tolist())
    elif keys:
        group = frame.groupby(keys[0] if len(keys) == 1 else keys, sort=True, observed=True, dropna=False)
        column, columns = group.ngroup().to_numpy(), tuple(group.size().index)
    else:
        column, columns = np.zeros(len(frame), dtype=int), ("all",)
    values = frame[value].to_numpy(dtype=float, na_value=np.nan)
    shape = (len(labels), len(columns))
    numerators, denominators = np.zeros(shape), np.zeros(shape)
    for start in range(0, len(values), BLOCK):
        rows = slice(start, start + BLOCK)
        cell = np.multiply(codes[rows], shape[1], dtype=np.int64)  # codes can be of fewer bits than their products
        cell += column[rows]
        counted, valid = values[rows], ~np.isnan(values[rows])
        if not valid.all():
            cell, counted = cell[valid], counted[valid]
        if cell.min(initial=0) < 0:
            raise ValueError(f"{cluster} is missing in a row that has a {value}: which cluster is it of?")
        np.add.at(numerators.reshape(-1), cell, counted)
        np.add.at(denominators.reshape(-1), cell, 1.0)
    return Sums(numerators, denominators, labels, columns, _strata(frame, cluster, codes, strata))


def _strata(frame: pd.DataFrame, cluster: str, codes: np.ndarray, strata: str | None) -> np.ndarray | None:
    """The stratum of each cluster, whose number each row's code is (-1: no cluster)."""
    if strata is None:
        return None
    rows = np.flatnonzero(codes >= 0)
    first = np.empty(codes.max() + 1 if len(rows) else 0, dtype=int)
    first[codes[rows[::-1]]] = rows[::-1]
    of, _ = pd.factorize(frame[strata])
    apart = rows[of[rows] != of[first[codes[rows]]]]
    if len(apart):
        name = frame[cluster].iloc[apart].astype(object).min()
        found = sorted(map(str, frame.loc[(frame[cluster] == name).to_numpy(), strata].unique()))
        raise ValueError(f"{cluster} {name!r} lies in several values of {strata}: {', '.join(found)}; need one")
    return frame[strata].iloc[first].to_numpy()


def clustered(
    numerators: np.ndarray,
    denominators: np.ndarray,
    weights: Sequence[float] = (1.0,),
    strata: Sequence[object] | None = None,
    level: float = 0.95,
    null: float | None = 0.0,
) -> Interval:
    """The interval of sum_m weights_m * N_m / D_m (a mean, a difference, an excess) over clusters.

    `numerators`, `denominators`: (C, m) sums per cluster, (C,) for one column; N, D are their totals. The linearised
    residual of a cluster is e_c = sum_m w_m (x_cm - p_m d_cm) / mean(d_m); SE^2 = sum_h n_h s_h^2 / n^2 with the
    variance s_h^2 of e within stratum h and C - H degrees of freedom, unstratified where a stratum has fewer than 5
    clusters (Miller 2024). Clusters without any valid row do not count. NaN where a used
    column is empty; no bounds below 10 clusters or without variation. `n` is the sum of the used denominators.
    """
    x, d = (np.asarray(a, dtype=float) for a in (numerators, denominators))
    x, d = (a[:, None] if a.ndim == 1 else a for a in (x, d))
    w = np.asarray(weights, dtype=float)
    if x.shape != d.shape or x.shape[1] != len(w):
        raise ValueError(f"numerators {x.shape}, denominators {d.shape}, weights {w.shape}: need (C, m), (C, m), (m,)")
    if not (np.isfinite(x).all() and np.isfinite(d).all() and (d >= 0).all()):
        raise ValueError(
            "cluster sums must be finite, denominators not negative; leave NaN rows out (cluster_sums does)"
        )
    used = w != 0
    kept = (d[:, used] > 0).any(axis=1)
    x, d, w = x[kept][:, used], d[kept][:, used], w[used]
    clusters, n = len(x), round(d.sum())
    if not clusters or (d.sum(axis=0) == 0).any():
        return no_interval(NAN, n, clusters, "no valid row")
    rates = x.sum(axis=0) / d.sum(axis=0)
    residuals = ((x - rates * d) * (w / d.mean(axis=0))).sum(axis=1)
    groups = np.zeros(clusters, dtype=int)
    method = "question-clustered t"
    if strata is not None:
        codes, _ = pd.factorize(np.asarray(strata)[kept])
        sizes = np.bincount(codes)
        if len(sizes) > 1 and sizes.min() >= MIN_STRATUM:
            groups, method = codes, "question-clustered t, stratified"
    sizes = np.bincount(groups)
    centred = residuals - (np.bincount(groups, weights=residuals) / sizes)[groups]
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = np.bincount(groups, weights=centred**2) / (sizes - 1)
    se = math.sqrt((sizes * variances).sum()) / clusters
    return t_interval(float(w @ rates), se, clusters - len(sizes), n, clusters, method, level, null)


def clustered_mean(
    values: Sequence[float],
    clusters: Sequence[object],
    strata: Sequence[object] | None = None,
    level: float = 0.95,
    null: float | None = None,
) -> Interval:
    """The mean of the values that are not NaN, with its question-clustered interval; one row a judgment."""
    frame = pd.DataFrame({"value": np.asarray(values, dtype=float), "cluster": np.asarray(clusters)})
    if strata is not None:
        frame["stratum"] = np.asarray(strata)
    sums = cluster_sums(frame, "value", "cluster", strata=None if strata is None else "stratum")
    return clustered(sums.numerators, sums.denominators, strata=sums.strata, level=level, null=null)
