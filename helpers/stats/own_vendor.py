"""Do judges prefer their own vendor's answers: one fit of all judges and vendors, to scores or to verdicts on pairs.

The model of judge j's value of item i (its score of answer c, or its verdict on answers c and d, averaged over orders):

    y_ji = b_j (q_c - q_d + t_i) + own_v (o_c - o_d) + place_j x_ji + f_j g_question + e_ji

q is the quality of a candidate, t_i what this question adds to it, o whether the answer is of the judge's vendor v,
and b_j the judge's sharpness (1 on average). Of pairs x is the balance of places, and there is no g; of scores there is
no d, x is 1 (leniency), and g is what judges make of the question as a whole. A judge that follows the place in a share
of its pairs has its b_j cut by this share, and nothing else. t, g and e are normal; t is common to the judges, so that
their agreement within candidates tells how sharp each is, even where there are few candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from helpers.stats.intervals import MIN_CLUSTERS, NAN, Interval, no_interval, t_interval
from helpers.stats.rank_design import sum_to_zero

#: How much sharpness differs between judges where the values say nothing of it (standard deviation around 1).
SPREAD = 0.4
#: How much a judge's sharpness between candidates differs from that within them (standard deviation): shares of wins
#: bend near 0 and 1.
BENT = 0.1
#: Standard deviation of the log variances around their start: they stay finite where nothing varies.
LOOSE = 3.0
#: Fewer effective clusters than these carry no interval.
MIN_EFFECTIVE = 2.0
#: A cluster with more than this share of what a direction rests on decides it alone (generalised inverse of CR2).
ALONE = 0.98
#: More numbers than these in the information of all clusters are not kept: CR1 then stands for CR2.
MOST_NUMBERS = 20_000_000
METHOD = "joint fit of items, judges and own vendors, {}"
ONLY_SUM = (
    "only the sum of their preferences is identified: what one vendor's judges add to their answers and what the "
    "other's add to theirs are one number without a judge or an answer of a third vendor"
)
NO_OTHERS = "not identified: no judge of another vendor compared these answers with the same others"


@dataclass(frozen=True)
class Values:
    """Values of pairs or scores, a row a judge and item; whole numbers from 0 without gaps, unknown vendors negative.

    `item` numbers questions with their one or two answers, `plus` and `minus` (None: scores) the candidates. `place` is
    1 where `plus` always stood first, -1 where `minus` did, 0 where both did, and not used for scores.
    """

    judge: np.ndarray
    item: np.ndarray
    question: np.ndarray
    cluster: np.ndarray
    plus: np.ndarray
    minus: np.ndarray | None
    value: np.ndarray
    place: np.ndarray
    judge_vendor: np.ndarray  # of each judge
    candidate_vendor: np.ndarray  # of each candidate
    vendors: tuple[str, ...]

    @property
    def own(self) -> tuple[np.ndarray, list[int]]:
        """(n, v) 1 where `plus` is the judge's own, -1 where `minus` is; and which vendors these columns are."""
        made = self.judge_vendor[self.judge]
        sign = (self.candidate_vendor[self.plus] == made).astype(float)
        if self.minus is not None:
            sign -= self.candidate_vendor[self.minus] == made
        sign[made < 0] = 0.0
        tested = sorted(set(made[sign != 0].tolist()))
        return sign[:, None] * (made[:, None] == np.array(tested, dtype=int)), tested


def own_vendor_effects(rows: Values) -> dict[str, Interval]:
    """How much each vendor's judges add to its answers, in units of `value`, by vendor.

    An effect that this design does not identify is NaN, and `method` says why. Clustered CR2 sandwich with
    Bell-McCaffrey degrees of freedom; where values do not tell how sharp judges are, the error holds the uncertainty.
    """
    own, tested = rows.own
    n, clusters = len(rows.value), len(np.unique(rows.cluster))
    if not tested:
        return {}
    flat = _flat(rows, own)
    names = [rows.vendors[number] for number in tested]
    scale = float(rows.value.std())
    if flat.all() or scale == 0:
        why = "no interval: nothing varies" if scale == 0 and not flat.all() else _why(rows, tested)
        return {name: no_interval(NAN, n, clusters, why) for name in names}
    fit = _Fit(rows, own, scale)
    free, bread = fit.maximum()
    found = {}
    contrasts = np.zeros((len(tested), len(free)))
    contrasts[np.arange(len(tested)), fit.first_own + np.arange(len(tested))] = 1.0
    unsure = np.vstack([fit.prior_root, BENT * fit.bend(free)]) if rows.minus is not None else fit.prior_root
    spread = robust_variances(fit.scores(free), fit.leverage(free), bread, contrasts)
    for number, name in enumerate(names):
        if flat[number]:
            found[name] = no_interval(NAN, n, clusters, _why(rows, tested))
            continue
        variance, df, effective, kind = spread[number]
        prior = float(((unsure @ (bread @ contrasts[number])) ** 2).sum())
        df *= ((variance + prior) / variance) ** 2 if variance > 0 else 1.0
        value, se = scale * free[fit.first_own + number], scale * float(np.sqrt(variance + prior))
        if clusters >= MIN_CLUSTERS and effective < MIN_EFFECTIVE:
            why = f"no interval: one question holds nearly all ({effective:.1f} effective questions)"
            found[name] = no_interval(value, n, clusters, why)
        else:
            found[name] = t_interval(value, se, df, n, clusters, METHOD.format(kind))
    return found


def _why(rows: Values, tested: Sequence[int]) -> str:
    there = {*rows.judge_vendor.tolist(), *rows.candidate_vendor.tolist()}
    return ONLY_SUM if len(tested) == 2 and there == set(tested) else NO_OTHERS


def _flat(rows: Values, own: np.ndarray) -> np.ndarray:
    """Which own terms could move without changing any value, were all judges equally sharp."""
    judges, candidates = len(rows.judge_vendor), len(rows.candidate_vendor)
    # One row a different combination of judge, candidates and balance of places says all about the rank.
    place = np.ones(len(rows.value)) if rows.minus is None else rows.place
    key = (rows.judge * candidates + rows.plus) * candidates + (0 if rows.minus is None else rows.minus)
    _, first = np.unique(np.stack([key, np.round(place * 1e6).astype(np.int64)]), axis=1, return_index=True)
    at = np.arange(len(first))
    x = np.zeros((len(first), candidates + judges + own.shape[1]))
    x[at, rows.plus[first]] += 1.0
    if rows.minus is not None:
        x[at, rows.minus[first]] -= 1.0
    x[at, candidates + rows.judge[first]] = place[first]
    x[:, candidates + judges :] = own[first]
    _, sizes, directions = np.linalg.svd(x.T @ x)
    null = directions[sizes < 1e-9 * sizes.max()]
    return (np.abs(null[:, candidates + judges :]) > 1e-6).any(axis=0)


@dataclass(frozen=True)
class _State:
    """Rows' sharpness, quality, weight, residual, loading of g, its mean and variance; items' t likewise."""

    b: np.ndarray
    gap: np.ndarray
    weight: np.ndarray
    tau: float
    residual: np.ndarray
    t: np.ndarray
    spread: np.ndarray
    left: np.ndarray  # of each item, given g
    load: np.ndarray
    g: np.ndarray
    vague: np.ndarray
    slope: np.ndarray  # of each item, how t falls in g
    likelihood: float


class _Fit:
    """The likelihood with its derivatives: quality, sharpness, own and place terms, log variances, loadings of g."""

    def __init__(self, rows: Values, own: np.ndarray, scale: float) -> None:
        judges, candidates, scores = len(rows.judge_vendor), len(rows.candidate_vendor), rows.minus is None
        self.rows, self.y = rows, (rows.value - (rows.value.mean() if scores else 0.0)) / scale
        place = np.ones(len(self.y)) if scores else rows.place
        self.quality, self.sharp = sum_to_zero(candidates), sum_to_zero(judges)
        placed = np.flatnonzero(np.bincount(rows.judge, weights=np.abs(place), minlength=judges) > 0)
        self.linear = np.column_stack([own, place[:, None] * (rows.judge[:, None] == placed)])
        self.clusters = int(rows.cluster.max()) + 1
        self.of_item = np.zeros(int(rows.item.max()) + 1, dtype=np.int64)  # the first row of each item
        self.of_item[rows.item[::-1]] = np.arange(len(self.y))[::-1]
        sizes = [candidates - 1, judges - 1, self.linear.shape[1], judges, 1, judges if scores else 0]
        ends = np.cumsum(sizes)
        self.blocks = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        self.first_own = int(ends[1])
        self.start = np.zeros(ends[-1])
        for block, value in zip(self.blocks[3:], (np.log(0.5), np.log(0.25), 0.3), strict=True):
            self.start[block] = value
        #: Square root of the prior precision; that of quality only keeps apart what no item joins.
        self.prior_root = np.zeros((judges, ends[-1]))
        self.prior_root[:, self.blocks[1]] = self.sharp / SPREAD
        self.penalty = self.prior_root.T @ self.prior_root
        self.penalty[self.blocks[0], self.blocks[0]] += 1e-6 * np.eye(sizes[0])
        self.penalty[range(self.first_own, ends[-1]), range(self.first_own, ends[-1])] += LOOSE**-2

    def _at(self, free: np.ndarray) -> _State:
        """What the values say of t and g at these parameters (posterior means and variances)."""
        rows, (quality, sharp, linear, noise, common, whole) = self.rows, self.blocks
        q, b = self.quality @ free[quality], (1.0 + self.sharp @ free[sharp])[rows.judge]
        gap = q[rows.plus] - (0.0 if rows.minus is None else q[rows.minus])
        weight, tau = np.exp(-free[noise])[rows.judge], float(np.exp(free[common])[0])
        residual = self.y - b * gap - self.linear @ free[linear]
        pulled = np.bincount(rows.item, weight * b * residual)
        left = tau / (1.0 + tau * np.bincount(rows.item, weight * b * b))
        likelihood = np.log(weight).sum() + np.log(left / tau).sum() - (weight * residual**2).sum() + left @ pulled**2
        t, spread = left * pulled, left
        load, g, vague, slope = np.zeros(len(b)), np.zeros(len(b)), np.zeros(len(b)), np.zeros(len(left))
        if rows.minus is None:
            load = free[whole][rows.judge]
            question, slope = rows.question[self.of_item], left * np.bincount(rows.item, weight * b * load)
            known = np.bincount(rows.question, weight * load**2) - np.bincount(question, slope**2 / left)
            drawn = np.bincount(rows.question, weight * load * residual) - np.bincount(question, slope * pulled)
            likelihood += (drawn**2 / (1.0 + known)).sum() - np.log1p(known).sum()
            g, vague = (drawn / (1.0 + known))[rows.question], (1.0 / (1.0 + known))[rows.question]
            t, spread = t - slope * g[self.of_item], left + slope**2 * vague[self.of_item]
        return _State(b, gap, weight, tau, residual, t, spread, left, load, g, vague, slope, float(likelihood))

    def loss(self, free: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the penalised log likelihood, and its gradient."""
        away = free - self.start
        state = self._at(free)
        gradient = self.penalty @ away - self.scores(free, state).sum(axis=0)
        return 0.5 * (away @ self.penalty @ away - state.likelihood), gradient

    def scores(self, free: np.ndarray, state: _State | None = None) -> np.ndarray:
        """(C, P) the score of each cluster: that of all of y, t and g, averaged over t and g."""
        rows, (quality, sharp, linear, noise, shared, whole) = self.rows, self.blocks
        at = state or self._at(free)
        b, load, t, spread = at.b, at.load, at.t[rows.item], at.spread[rows.item]
        joint = -at.slope[rows.item] * at.vague  # covariance of t and g
        error = at.residual - b * t - load * at.g
        pull = at.weight * error
        found = np.empty((self.clusters, len(free)))

        def by(codes: np.ndarray | int, size: int, values: np.ndarray) -> np.ndarray:
            return np.bincount(rows.cluster * size + codes, values, self.clusters * size).reshape(-1, size)

        size = len(self.quality)
        moved = by(rows.plus, size, b * pull)
        found[:, quality] = (moved if rows.minus is None else moved - by(rows.minus, size, b * pull)) @ self.quality
        size = len(self.sharp)
        agreed = at.weight * (error * (at.gap + t) - b * spread - load * joint)
        found[:, sharp] = by(rows.judge, size, agreed) @ self.sharp
        for number in range(self.linear.shape[1]):
            found[:, linear.start + number] = by(0, 1, pull * self.linear[:, number])[:, 0]
        squares = error**2 + b * b * spread + load**2 * at.vague + 2 * b * load * joint
        found[:, noise] = by(rows.judge, size, 0.5 * (at.weight * squares - 1.0))
        of_item = rows.cluster[self.of_item]
        found[:, shared.start] = np.bincount(of_item, 0.5 * ((at.t**2 + at.spread) / at.tau - 1.0), self.clusters)
        if rows.minus is None:
            found[:, whole] = by(rows.judge, size, at.weight * (error * at.g - b * joint - load * at.vague))
        return found

    def bend(self, free: np.ndarray) -> np.ndarray:
        """(J, P) how the score moves when each judge is sharper between candidates than within them."""
        whole, gap, found = self.y, self._at(free).gap, []
        before = self.scores(free).sum(axis=0)
        for judge in range(len(self.sharp)):
            self.y = whole + gap * (self.rows.judge == judge)
            found.append(self.scores(free).sum(axis=0) - before)
        self.y = whole
        return np.array(found)[:, : self.blocks[3].start] @ np.eye(self.blocks[3].start, len(free))

    def leverage(self, free: np.ndarray) -> np.ndarray | None:
        """(C, P, P) the information of each cluster about the mean; None where that is too much to hold."""
        if self.clusters * len(free) ** 2 > MOST_NUMBERS:
            return None
        rows, (quality, sharp, linear, *_) = self.rows, self.blocks
        state = self._at(free)
        found = np.zeros((self.clusters, len(free), len(free)))
        order = np.lexsort((rows.item, rows.question, rows.cluster))
        ends = np.searchsorted(rows.cluster[order], np.arange(self.clusters + 1))
        for cluster in range(self.clusters):
            at = order[ends[cluster] : ends[cluster + 1]]
            b, weight, load = state.b[at, None], state.weight[at, None], state.load[at, None]
            slope = np.zeros((len(at), len(free)))
            slope[:, quality] = b * self.quality[rows.plus[at]]
            if rows.minus is not None:
                slope[:, quality] -= b * self.quality[rows.minus[at]]
            slope[:, sharp] = state.gap[at, None] * self.sharp[rows.judge[at]]
            slope[:, linear] = self.linear[at]
            starts = np.flatnonzero(np.diff(rows.item[at], prepend=-1))
            item = rows.item[at[starts]]
            joined = np.add.reduceat(slope * weight * b, starts)
            found[cluster] = slope.T @ (slope * weight) - joined.T @ (joined * state.left[item, None])
            if rows.minus is None:
                first = np.flatnonzero(np.diff(rows.question[at], prepend=-1))
                above = np.add.reduceat(slope * weight * load, first)
                heads = np.flatnonzero(np.diff(rows.question[at[starts]], prepend=-1))
                above -= np.add.reduceat(joined * state.slope[item, None], heads)
                found[cluster] -= above.T @ (above * state.vague[at[first], None])
        return found

    def maximum(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the penalised likelihood is highest, and the inverse of its information there."""
        from scipy.optimize import minimize

        free = minimize(self.loss, self.start, jac=True, method="BFGS", options={"gtol": 1e-4, "maxiter": 500}).x
        for _ in range(3):
            information = _curvature(lambda at: self.loss(at)[1], free)
            bread = np.linalg.inv(information)
            step = bread @ self.loss(free)[1]
            free = free - step
            if np.abs(step).max() < 1e-5:
                break
        return free, bread


def _curvature(gradient: Callable[[np.ndarray], np.ndarray], at: np.ndarray, step: float = 1e-4) -> np.ndarray:
    moves = step * np.eye(len(at))
    found = np.array([gradient(at + move) - gradient(at - move) for move in moves]) / (2 * step)
    values, vectors = np.linalg.eigh((found + found.T) / 2)
    return vectors @ (np.clip(values, 1e-8 * values.max(), None)[:, None] * vectors.T)


def robust_variances(
    scores: np.ndarray, information: np.ndarray | None, bread: np.ndarray, contrasts: np.ndarray
) -> list[tuple[float, float, float, str]]:
    """How sure contrasts of parameters are where rows of a cluster depend on each other, whatever the cluster sizes.

    `scores` (C, P) and `information` (C, P, P) by cluster (of a linear model X'e and X'X, absorbed effects taken out;
    weighted alike), `bread` (P, P) the inverse of all information, `contrasts` (m, P). Of each contrast the CR2
    variance, its Bell-McCaffrey degrees of freedom, the effective number of clusters, and what it is called
    (Pustejovsky and Tipton 2018; Carter, Schnepel and Steigerwald 2017). Without `information` CR1 with C - 1 degrees
    of freedom.
    """
    clusters = len(scores)
    if information is None:
        factor = clusters / max(clusters - 1, 1)
        spread = factor * ((scores @ (bread @ contrasts.T)) ** 2).sum(axis=0)
        return [(float(each), clusters - 1.0, float(clusters), "question-clustered CR1 t") for each in spread]
    root = np.linalg.cholesky((bread + bread.T) / 2)
    inside = np.swapaxes(root, 0, 1) @ information @ root
    values, vectors = np.linalg.eigh((inside + np.swapaxes(inside, 1, 2)) / 2)
    # What one cluster alone decides fits it exactly: it says nothing of how much clusters vary.
    grown = np.where(values < ALONE, 1.0 / np.sqrt(np.clip(1.0 - values, 1.0 - ALONE, None)), 0.0)
    found = []
    for contrast in contrasts:
        ray = root.T @ contrast
        # (C, P): the contrast, adjusted for what each cluster pulls the fit to itself.
        turned = np.einsum("cpk,ck->cp", vectors, grown * np.einsum("cpk,p->ck", vectors, ray))
        variance = float((np.einsum("cp,cp->c", turned, scores @ root) ** 2).sum())
        pulled = np.einsum("cpq,cq->cp", inside, turned)
        alone = np.einsum("cp,cp->c", turned, pulled)
        across = pulled.T @ pulled
        fitted = (pulled**2).sum(axis=1)
        squares = float((across**2).sum() - (fitted**2).sum() + ((alone - fitted) ** 2).sum())
        df = float((alone - fitted).sum()) ** 2 / squares if squares > 0 else NAN
        share = np.einsum("p,cpq,q->c", ray, inside, ray)
        effective = float(share.sum() ** 2 / (share**2).sum()) if share.any() else 0.0
        found.append((variance, df, effective, "question-clustered CR2 t, Bell-McCaffrey df"))
    return found
