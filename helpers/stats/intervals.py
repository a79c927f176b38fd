"""How sure a number is: intervals that take the question, never the row, as the unit that varies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..types import Estimate

NAN = float("nan")
Values = Sequence | np.ndarray
#: Rows that are worked on together: what is made of them stays in the processor's cache, and an array of ten million
#: would get new pages from the system each time, which take longer than the work.
BLOCK = 2**16


def clusters_of(rows: pd.DataFrame, id: str = "question_id") -> pd.Series:
    """The unit that varies, of each row: its `cluster` (near-duplicates, a task) where there is one, else its `id`."""
    return rows["cluster"] if "cluster" in rows else rows[id]


def numbered(labels: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """The number of each row's label (-1: none), and the labels in their order (categories: in theirs).

    Numbers can be the codes of a categorical themselves: of few bits, and not to be written into.
    """
    if isinstance(labels.dtype, pd.CategoricalDtype):
        codes, categories = labels.array.codes, labels.array.categories
        if (codes >= 0).all():
            numbers, used = renumbered(codes, len(categories))
            return numbers, categories if len(used) == len(categories) else categories.take(used)
    return pd.factorize(labels, sort=True)


def renumbered(numbers: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers below `size` in their order without gaps, and which of the old ones there are.

    Of any type of integers; where there are no gaps it is the very array that was given.
    """
    used = np.flatnonzero(np.bincount(numbers, minlength=size))
    if len(used) == size:
        return numbers, used
    place = np.empty(size, dtype=np.int64)
    place[used] = np.arange(len(used))
    return place[numbers], used


#: Fewer clusters are drawn one by one: looking for their kinds would gain nothing.
MANY = 1000


@dataclass(frozen=True)
class Kinds:
    """The distinct rows of cluster sums, `sums` (U, M), and how many clusters have each, `counts` (U,)."""

    sums: np.ndarray
    counts: np.ndarray


def to_draw(sums: np.ndarray) -> Kinds:
    """What is drawn for clusters with these sums (C, M): their kinds, or each itself where that costs little more."""
    sums = np.ascontiguousarray(sums, dtype=float)
    kinds = kinds_of(sums) if len(sums) >= MANY else None
    return kinds if kinds and len(kinds.counts) <= len(sums) // 2 else Kinds(sums, np.ones(len(sums)))


def kinds_of(sums: np.ndarray) -> Kinds:
    """The kinds of clusters in sorted order: sums (C, M), U <= C.

    C draws with replacement from the clusters hold each kind as often as one draw of multinomial(C, counts / C) does:
    exactly, not nearly, so whatever is computed of resampled totals may take kinds for clusters.
    """
    counts = pd.DataFrame(sums).groupby([*range(sums.shape[1])]).size()
    return Kinds(counts.index.to_frame().to_numpy(dtype=float), counts.to_numpy(dtype=float))


# --- standard errors that stay honest where clusters are unequal: CR2 by Bell and McCaffrey ---------------------------

#: From this leverage on one cluster decides a direction alone.
ALONE = 1 - 1e-6


@dataclass(frozen=True)
class Spread:
    """How far a linearised number varies: standard error, degrees of freedom, effective number of clusters."""

    se: float
    df: float
    effective: float


@dataclass(frozen=True)
class Pieces:
    """What each cluster adds to a number: `parts` (C,) its adjusted residual, `shares` (C,) its part of the variance.

    Both under a working model of independent rows; `squares` is the sum of squares of the (C, C) matrix G of Bell and
    McCaffrey, of which `shares` is the diagonal.
    """

    parts: np.ndarray
    shares: np.ndarray
    squares: float


def pieces_of_rates(
    residuals: np.ndarray, sizes: np.ndarray, weights: np.ndarray, variances: np.ndarray | float = 1.0
) -> Pieces:
    """The pieces of sum_m weights_m * N_m / D_m, a weighted sum of rates.

    `residuals` (C, m): sums over the rows of a cluster of value less rate, `sizes` (C, m) their counts, of which a
    column's total D_m is made; `variances` (m,) of one row in the working model. A column of which one cluster holds
    all rows must not be among them.
    """
    totals = sizes.sum(axis=0)
    leverage = sizes / totals
    factor = 1 / np.sqrt(1 - leverage)
    step = np.sqrt(variances) * weights / totals
    reach = step * factor * leverage * np.sqrt(totals)
    shares = (step**2 * sizes).sum(axis=1)
    off = float(((reach.T @ reach) ** 2).sum() - ((reach**2).sum(axis=1) ** 2).sum())
    return Pieces((weights / totals * factor * residuals).sum(axis=1), shares, float(shares @ shares) + off)


@dataclass(frozen=True)
class Adjusted:
    """A fit's clusters, adjusted by CR2: `scores` (C, k), of which a contrast of parameters takes a weighted sum.

    `root` (k, k) is M^1/2, M the inverse of the whole information; `leverage` (C, k) and `turned` (C, k, k) are the
    eigenvalues and eigenvectors of S_c = M^1/2 I_c M^1/2.
    """

    scores: np.ndarray
    root: np.ndarray
    leverage: np.ndarray
    turned: np.ndarray

    def pieces(self, contrast: np.ndarray) -> Pieces:
        """The pieces of contrast @ parameters."""
        factor = _factor(self.leverage)
        direction = np.einsum("ckj,k->cj", self.turned, self.root @ contrast)
        reach = np.einsum("ckj,cj->ck", self.turned, factor * self.leverage * direction)
        shares = (factor**2 * self.leverage * direction**2).sum(axis=1) - (reach**2).sum(axis=1)
        off = float(((reach.T @ reach) ** 2).sum() - ((reach**2).sum(axis=1) ** 2).sum())
        return Pieces(self.scores @ contrast, shares, float(shares @ shares) + off)


def adjust_scores(scores: np.ndarray, information: np.ndarray) -> Adjusted:
    """CR2 for a fit, from the (C, k) scores of its clusters and their (C, k, k) information I_c.

    The adjusted score of a cluster is M^1/2 (1 - S_c)^-1/2 M^1/2 s_c: for least squares that of (1 - H_cc)^-1/2 e_c,
    for a likelihood its linearised counterpart. A direction in which one cluster holds all information adds nothing, as
    its score there is 0."""
    values, vectors = np.linalg.eigh(information.sum(axis=0))
    root = vectors / np.sqrt(values) @ vectors.T
    leverage, turned = np.linalg.eigh(root @ information @ root)
    return _adjusted(scores, root, np.clip(leverage, 0.0, 1.0), turned)


def adjust_evenly(scores: np.ndarray, information: np.ndarray, shares: np.ndarray) -> Adjusted:
    """`adjust_scores` from the whole (k, k) information, each of (C,) clusters having its share in every direction."""
    values, vectors = np.linalg.eigh(information)
    shape = (len(shares), *information.shape)
    leverage = np.broadcast_to(shares[:, None], shape[:2])
    return _adjusted(scores, vectors / np.sqrt(values) @ vectors.T, leverage, np.broadcast_to(np.eye(shape[1]), shape))


def _adjusted(scores: np.ndarray, root: np.ndarray, leverage: np.ndarray, turned: np.ndarray) -> Adjusted:
    inside = _factor(leverage) * np.einsum("ckj,ck->cj", turned, scores @ root)
    return Adjusted(np.einsum("ckj,cj->ck", turned, inside) @ root, root, leverage, turned)


def _factor(leverage: np.ndarray) -> np.ndarray:
    free = leverage < ALONE
    return np.where(free, 1 / np.sqrt(np.where(free, 1 - leverage, 1.0)), 0.0)


def combine_pieces(pieces: Iterable[Pieces]) -> Spread:
    """The CR2 standard error of a number made of independent pieces, with its degrees of freedom.

    SE^2 is the sum of squared parts (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018, CR2 with an identity working
    model): free of bias where rows are independent and of equal variance. df = trace(G)^2 / sum of G^2 (Satterthwaite):
    C - 1 for C equal clusters, few where one cluster dominates. `effective` is (sum of shares)^2 / sum of shares^2: C
    equal clusters count as C (Carter, Schnepel and Steigerwald 2017, without correlation within clusters).
    """
    each = list(pieces)
    parts, shares = (np.concatenate([getattr(one, name) for one in each]) for name in ("parts", "shares"))
    total, squares = float(shares.sum()), sum(one.squares for one in each)
    if not total > 0 or not squares > 0:
        return Spread(NAN, NAN, NAN)
    return Spread(math.sqrt(float(parts @ parts)), total**2 / squares, total**2 / float(shares @ shares))


# --- intervals --------------------------------------------------------------------------------------------------------

MIN_CLUSTERS = 10
#: Where the rows are spread so unevenly that they weigh as fewer clusters than this, no t interval is honest.
MIN_EFFECTIVE = 2.0
#: Strata of fewer effective clusters are not held apart.
MIN_STRATUM = 5.0


@dataclass(frozen=True)
class Interval:
    """A number with its bounds; NaN bounds mean that no interval is honest here, and `method` says why.

    `n` counts rows (judgments), `clusters` the questions that carry them; `p` is two-sided, `df` are the degrees of
    freedom of a t interval (NaN of any other). `effective` is the number of equal clusters that would say as much, at
    most `clusters` (Carter, Schnepel and Steigerwald 2017, for independent rows); NaN where it is not defined.
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
    effective: float = NAN


def no_interval(value: float, n: int, clusters: int, reason: str, effective: float = NAN) -> Interval:
    """The bare number, with the reason why it has no interval in `method`."""
    return Interval(float(value), NAN, NAN, NAN, int(n), int(clusters), reason, effective=effective)


def t_interval(
    value: float,
    se: float,
    df: float,
    n: int,
    clusters: int,
    method: str,
    level: float = 0.95,
    null: float | None = 0.0,
    effective: float = NAN,
) -> Interval:
    """The t interval of a number with standard error `se`, where there is an honest one.

    None below 10 clusters, none below 2 effective ones, none where the number or its error is NaN, and none where
    nothing varied between clusters: a standard error of 0 is then a lack of information, not certainty. Below 10
    effective clusters `method` calls it rough. `p` tests value = `null` (NaN where `null` is None).
    """
    reason = ""
    if not math.isfinite(value):
        value, reason = NAN, "no valid row"
    elif clusters < MIN_CLUSTERS:
        reason = f"no interval below {MIN_CLUSTERS} questions"
    elif effective < MIN_EFFECTIVE:
        reason = f"no interval: {clusters} questions, but one holds nearly all rows"
    elif not math.isfinite(se):
        reason = "no interval: its standard error is not defined"
    elif se <= 1e-12 * max(1.0, abs(value)):
        reason = "no interval: nothing varies between questions"
    if reason:
        return no_interval(value, n, clusters, reason, effective)
    if effective < MIN_CLUSTERS - 1e-9:
        method += f"; rough: {clusters} questions weigh as {effective:.1f} equal ones"
    from scipy.special import stdtr, stdtrit

    value, se = float(value), float(se)
    reach = float(stdtrit(df, (1 + level) / 2)) * se
    p = NAN if null is None else 2 * float(stdtr(df, -abs(value - null) / se))
    return Interval(value, value - reach, value + reach, se, int(n), int(clusters), method, p, float(df), effective)


def fitted_interval(
    value: float, adjusted: Adjusted, contrast: np.ndarray, n: int, clusters: int, method: str, null: float | None = 0.0
) -> Interval:
    """The t interval of a number of a fit, whose derivative by the parameters is `contrast`."""
    found = combine_pieces([adjusted.pieces(contrast)])
    return t_interval(float(value), found.se, found.df, n, clusters, method, null=null, effective=found.effective)


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
    denominator = 2 * (n + z**2)
    middle = (2 * n * share + z**2) / denominator
    reach = z / denominator * math.sqrt(4 * n * share * (1 - share) + z**2)
    low, high = 0.0 if k == 0 else middle - reach, 1.0 if k == n else middle + reach
    return Interval(share, low, high, math.sqrt(share * (1 - share) / n), int(n), int(n), "Wilson")


def newcombe(k1: int, n1: int, k2: int, n2: int) -> Interval:
    """The 95 % hybrid score interval (Newcombe 1998, method 10) of k1/n1 - k2/n2 for independent counts.

    NaN where a sample is empty, no bounds where one has fewer than 10 trials. `se` is the plain unpooled one.
    """
    _check_count(k1, n1)
    _check_count(k2, n2)
    difference = k1 / n1 - k2 / n2 if n1 and n2 else NAN
    if min(n1, n2) < MIN_CLUSTERS:
        reason = f"no interval below {MIN_CLUSTERS} questions" if min(n1, n2) else "no valid row"
        return no_interval(difference, n1 + n2, min(n1, n2), reason)
    from statsmodels.stats.proportion import confint_proportions_2indep

    low, high = confint_proportions_2indep(k1, n1, k2, n2, method="newcomb")
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
    columns: tuple
    strata: np.ndarray | None = None


def cluster_sums(
    frame: pd.DataFrame, value: str, cluster: str, by: str | Sequence[str] | None = None, strata: str | None = None
) -> Sums:
    """How much of `value`, over how many valid rows, each cluster holds, for each value of `by`.

    NaN rows count in neither sum. A cluster without a valid row in a column stays, with 0/0. Columns are sorted (a
    categorical keeps its order); without `by` there is one. Where the frame has a column `cluster`, that one is meant,
    and there are no strata if one lies in two. Else that is an error, as is a row with a value and without a cluster.
    """
    keys = [by] if isinstance(by, str) else list(by or [])
    codes, labels = numbered(clusters_of(frame, cluster))
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


def added(sums: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """The sums of questions (Q, ...) as those of their clusters, by number: (C, ...); paired first, clustered then."""
    total = np.zeros((clusters.max(initial=-1) + 1, *sums.shape[1:]))
    np.add.at(total, clusters, sums)
    return total


def _strata(frame: pd.DataFrame, cluster: str, codes: np.ndarray, strata: str | None) -> np.ndarray | None:
    """The stratum of each cluster, whose number each row's code is (-1: no cluster)."""
    if strata is None:
        return None
    rows = np.flatnonzero(codes >= 0)
    first = np.empty(codes.max() + 1 if len(rows) else 0, dtype=int)
    first[codes[rows[::-1]]] = rows[::-1]
    numbers, _ = pd.factorize(frame[strata])
    apart = rows[numbers[rows] != numbers[first[codes[rows]]]]
    if len(apart) and "cluster" in frame:
        return None  # near-duplicates, or pairs on one task, in two categories
    if len(apart):
        name = frame[cluster].iloc[apart].astype(object).min()
        found = sorted(map(str, frame.loc[(frame[cluster] == name).to_numpy(), strata].unique()))
        raise ValueError(f"{cluster} {name!r} lies in several values of {strata}: {', '.join(found)}; need one")
    return frame[strata].iloc[first].to_numpy()


def clustered(
    numerators: np.ndarray,
    denominators: np.ndarray,
    weights: Values = (1.0,),
    strata: Values | None = None,
    level: float = 0.95,
    null: float | None = 0.0,
) -> Interval:
    """The interval of sum_m weights_m * N_m / D_m (a mean, a difference, an excess) over clusters.

    `numerators`, `denominators`: (C, m) sums per cluster, (C,) for one column; N, D are their totals. Standard
    error CR2 and degrees of freedom by Bell and McCaffrey (2002) for independent rows of equal variance, both exact
    in expectation there and close where rows of a cluster are alike (Pustejovsky and Tipton 2018, eqs. 5 and 11).
    With strata each has rates of its own and weighs as its rows do; unstratified where a stratum has fewer than 5
    effective clusters in a column. Clusters without any valid row do not count. NaN where a used column is empty;
    no bounds below 10 clusters or 2 effective ones, without variation, and where one cluster holds all rows of a
    column. `n` is the sum of the used denominators.
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
    clusters, n, totals = len(x), round(d.sum()), d.sum(axis=0)
    if not clusters or (totals == 0).any():
        return no_interval(NAN, n, clusters, "no valid row")
    value, method = float(w @ (x.sum(axis=0) / totals)), "question-clustered t"
    apart = [np.ones(clusters, dtype=bool)]
    if strata is not None:
        codes, labels = pd.factorize(np.asarray(strata)[kept])
        each = [codes == code for code in range(len(labels))]
        if len(each) > 1 and min(effective_sizes(d[rows]).min() for rows in each) >= MIN_STRATUM:
            apart, method = each, "question-clustered t, stratified"
    if clusters < MIN_CLUSTERS:
        return t_interval(value, NAN, NAN, n, clusters, method, level, null)
    if (d.max(axis=0) == totals).any():
        return no_interval(value, n, clusters, "no interval: one question holds all rows of a side")
    found = combine_pieces(_pieces(x[rows], d[rows], w, totals) for rows in apart)
    # Two sides on different questions: the one that rests on fewer decides.
    effective = min(found.effective, float(effective_sizes(d).min()))
    return t_interval(value, found.se, found.df, n, clusters, method, level, null, effective)


def contrast(sums: Sums, weights: Values = (1.0,), level: float = 0.95, null: float | None = 0.0) -> Interval:
    """`clustered` of the sums of `cluster_sums`: the weighted sum of its columns' rates, in its strata."""
    return clustered(sums.numerators, sums.denominators, weights, sums.strata, level, null)


def column_weights(sums: Sums, average: bool = True) -> dict[str, np.ndarray]:
    """The weights of the rate of each column, by its name, and of their mean, "average"."""
    size = len(sums.columns)
    weights = dict(zip(map(str, sums.columns), np.eye(size), strict=True))
    return weights | ({"average": np.full(size, 1 / size)} if average else {})


def _pieces(x: np.ndarray, d: np.ndarray, weights: np.ndarray, totals: np.ndarray) -> Pieces:
    """The pieces of one stratum, whose rates weigh as its rows do in the whole column."""
    here = d.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return pieces_of_rates(x - x.sum(axis=0) / here * d, d, weights * here / totals)


def effective_sizes(sizes: np.ndarray) -> np.ndarray:
    """Of each column of (C, m) cluster sizes, how many equal clusters would say as much; 0 where it is empty.

    >>> effective_sizes(np.array([[6.0, 1.0], [2.0, 1.0], [2.0, 1.0]])).round(2).tolist()
    [2.27, 3.0]
    """
    squares = (sizes**2).sum(axis=0)
    return np.divide(sizes.sum(axis=0) ** 2, squares, out=np.zeros(len(squares)), where=squares > 0)


def clustered_mean(values: Values, clusters: Values, null: float | None = None) -> Interval:
    """The mean of the values that are not NaN, with its question-clustered interval; one row a judgment."""
    frame = pd.DataFrame({"value": np.asarray(values, dtype=float), "cluster": np.asarray(clusters)})
    return contrast(cluster_sums(frame, "value", "cluster"), null=null)


Span = tuple[float, float] | None
#: What numbers of a unit can be, where t intervals can reach beyond.
RANGES = {"rate": (0.0, 1.0), "pp": (-1.0, 1.0), "alpha": (-1.0, 1.0)}


def estimate(
    id: str, where: Mapping[str, str], interval: Interval, data: str, unit: str = "rate", span: Span = None
) -> Estimate:
    """An interval with its name and place, cut to what such a number can be: `span`, else that of its unit in RANGES.

    An unbiased value can lie outside; it stays, or the mean of many would be off.
    """
    i, (lower, upper) = interval, span or RANGES.get(unit, (-math.inf, math.inf))
    low, high = (min(max(bound, lower), upper) if bound == bound else bound for bound in (i.low, i.high))
    return Estimate(id, dict(where), i.value, low, high, i.n, i.clusters, unit, i.se, i.method, data, i.p, i.effective)
