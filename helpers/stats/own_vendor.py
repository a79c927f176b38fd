"""Do judges prefer their own vendor's answers: one fit of all judges and vendors to values of comparisons.

The model of judge j's value of comparison i, of answers c and d to one question (the difference of its scores, or its
verdict, averaged over orders):

    y_ji = b_j (q_c - q_d + t_i) + own_v (o_c - o_d) + place_j x_ji + e_ji

q is the quality of a candidate, t_i what this question adds to it, o whether the answer is of the judge's vendor v, x
the balance of places, and b_j the judge's sharpness (1 on average). A judge that follows the place in a share of its
pairs has its b_j cut by this share, and nothing else. t and e are normal; t is common to the judges, so that their
agreement within candidates tells how sharp each is, even where there are few candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from helpers.stats.intervals import MIN_CLUSTERS, NAN, Interval, no_interval, t_interval
from helpers.stats.rank_design import sum_to_zero

#: How much sharpness differs between judges where the values say nothing of it (standard deviation around 1).
SPREAD = 0.5
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
class Comparisons:
    """Values of comparisons, a row a judge and comparison; whole numbers from 0 without gaps, vendors -1 where unknown.

    `item` numbers comparisons (question and two answers), `plus` and `minus` the candidates that `value` is the
    difference of, `place` is 1 where `plus` always stood first, -1 where `minus` did, and 0 where both did.
    """

    judge: np.ndarray
    item: np.ndarray
    cluster: np.ndarray
    plus: np.ndarray
    minus: np.ndarray
    value: np.ndarray
    place: np.ndarray
    judge_vendor: np.ndarray  # of each judge
    candidate_vendor: np.ndarray  # of each candidate
    vendors: tuple[str, ...]

    @property
    def own(self) -> tuple[np.ndarray, list[int]]:
        """(n, v) 1 where `plus` is the judge's own, -1 where `minus` is; and which vendors these columns are."""
        made = self.judge_vendor[self.judge]
        sign = (self.candidate_vendor[self.plus] == made).astype(float) - (self.candidate_vendor[self.minus] == made)
        sign[made < 0] = 0.0
        tested = sorted(set(made[sign != 0].tolist()))
        return sign[:, None] * (made[:, None] == np.array(tested, dtype=int)), tested


def own_vendor_effects(rows: Comparisons) -> dict[str, Interval]:
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
    spread = robust_variances(fit.scores(free), fit.leverage(free), bread, contrasts)
    for number, name in enumerate(names):
        if flat[number]:
            found[name] = no_interval(NAN, n, clusters, _why(rows, tested))
            continue
        variance, df, effective, kind = spread[number]
        prior = float(((fit.prior_root @ (bread @ contrasts[number])) ** 2).sum())
        df *= ((variance + prior) / variance) ** 2 if variance > 0 else 1.0
        value, se = scale * free[fit.first_own + number], scale * float(np.sqrt(variance + prior))
        if clusters >= MIN_CLUSTERS and effective < MIN_EFFECTIVE:
            why = f"no interval: one question holds nearly all ({effective:.1f} effective questions)"
            found[name] = no_interval(value, n, clusters, why)
        else:
            found[name] = t_interval(value, se, df, n, clusters, METHOD.format(kind))
    return found


def _why(rows: Comparisons, tested: Sequence[int]) -> str:
    there = {*rows.judge_vendor.tolist(), *rows.candidate_vendor.tolist()}
    return ONLY_SUM if len(tested) == 2 and there == set(tested) else NO_OTHERS


def _flat(rows: Comparisons, own: np.ndarray) -> np.ndarray:
    """Which own terms could move without changing any value, were all judges equally sharp."""
    judges, candidates = len(rows.judge_vendor), len(rows.candidate_vendor)
    # One row a different combination of judge, candidates and balance of places says all about the rank.
    key = (rows.judge * candidates + rows.plus) * candidates + rows.minus
    _, first = np.unique(np.stack([key, np.round(rows.place * 1e6).astype(np.int64)]), axis=1, return_index=True)
    at = np.arange(len(first))
    x = np.zeros((len(first), candidates + judges + own.shape[1]))
    x[at, rows.plus[first]] += 1.0
    x[at, rows.minus[first]] -= 1.0
    x[at, candidates + rows.judge[first]] = rows.place[first]
    x[:, candidates + judges :] = own[first]
    _, sizes, directions = np.linalg.svd(x.T @ x)
    null = directions[sizes < 1e-9 * sizes.max()]
    return (np.abs(null[:, candidates + judges :]) > 1e-6).any(axis=0)


class _Fit:
    """The likelihood with its derivatives: quality, sharpness, own and place terms, log variances of e and of t."""

    def __init__(self, rows: Comparisons, own: np.ndarray, scale: float) -> None:
        judges, candidates = len(rows.judge_vendor), len(rows.candidate_vendor)
        self.rows, self.y = rows, rows.value / scale
        self.quality, self.sharp = sum_to_zero(candidates), sum_to_zero(judges)
        placed = np.flatnonzero(np.bincount(rows.judge, weights=np.abs(rows.place), minlength=judges) > 0)
        self.linear = np.column_stack([own, rows.place[:, None] * (rows.judge[:, None] == placed)])
        self.clusters = int(rows.cluster.max()) + 1
        sizes = [candidates - 1, judges - 1, self.linear.shape[1], judges, 1]
        ends = np.cumsum(sizes)
        self.blocks = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        self.first_own = int(ends[1])
        self.start = np.zeros(ends[-1])
        self.start[self.blocks[3]], self.start[self.blocks[4]] = np.log(0.5), np.log(0.25)
        #: Square root of the prior precision; that of quality only keeps apart what no comparison joins.
        self.prior_root = np.zeros((judges, ends[-1]))
        self.prior_root[:, self.blocks[1]] = self.sharp / SPREAD
        self.penalty = self.prior_root.T @ self.prior_root
        self.penalty[self.blocks[0], self.blocks[0]] += 1e-6 * np.eye(sizes[0])
        self.penalty[range(ends[2], ends[-1]), range(ends[2], ends[-1])] += LOOSE**-2

    def _at(self, free: np.ndarray) -> tuple[np.ndarray, ...]:
        rows, (quality, sharp, linear, noise, common) = self.rows, self.blocks
        q, b = self.quality @ free[quality], (1.0 + self.sharp @ free[sharp])[rows.judge]
        gap = q[rows.plus] - q[rows.minus]
        weight, tau = np.exp(-free[noise])[rows.judge], float(np.exp(free[common])[0])
        residual = self.y - b * gap - self.linear @ free[linear]
        pulled = np.bincount(rows.item, weight * b * residual)
        open_ = 1.0 + tau * np.bincount(rows.item, weight * b * b)
        return b, gap, weight, tau, residual, tau * pulled / open_, tau / open_

    def loss(self, free: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the penalised log likelihood, and its gradient, by row."""
        _, _, weight, tau, residual, common, left = self._at(free)
        pulled, open_ = common / left, tau / left
        likelihood = np.log(weight).sum() - np.log(open_).sum() - (weight * residual**2).sum() + (pulled * common).sum()
        away = free - self.start
        return 0.5 * (away @ self.penalty @ away - likelihood), self.penalty @ away - self.scores(free).sum(axis=0)

    def scores(self, free: np.ndarray) -> np.ndarray:
        """(C, P) the score of each cluster."""
        rows, (quality, sharp, linear, noise, shared) = self.rows, self.blocks
        b, gap, weight, tau, residual, common, left = self._at(free)
        t, v = common[rows.item], left[rows.item]
        error = residual - b * t
        pull = weight * error
        found = np.empty((self.clusters, len(free)))

        def by(codes: np.ndarray, size: int, values: np.ndarray) -> np.ndarray:
            return np.bincount(rows.cluster * size + codes, values, self.clusters * size).reshape(-1, size)

        size = len(self.quality)
        found[:, quality] = (by(rows.plus, size, b * pull) - by(rows.minus, size, b * pull)) @ self.quality
        size = len(self.sharp)
        found[:, sharp] = by(rows.judge, size, weight * (error * (gap + t) - b * v)) @ self.sharp
        for number in range(self.linear.shape[1]):
            found[:, linear.start + number] = by(0, 1, pull * self.linear[:, number])[:, 0]
        found[:, noise] = by(rows.judge, size, 0.5 * (weight * (error**2 + b * b * v) - 1.0))
        of_item = np.zeros(len(common), dtype=np.int64)
        of_item[rows.item] = rows.cluster
        found[:, shared.start] = np.bincount(of_item, 0.5 * ((common**2 + left) / tau - 1.0), self.clusters)
        return found

    def leverage(self, free: np.ndarray) -> np.ndarray | None:
        """(C, P, P) the information of each cluster about the mean; None where that is too much to hold."""
        if self.clusters * len(free) ** 2 > MOST_NUMBERS:
            return None
        rows, (quality, sharp, linear, _, _) = self.rows, self.blocks
        b, gap, weight, _, _, _, left = self._at(free)
        found = np.zeros((self.clusters, len(free), len(free)))
        order = np.lexsort((rows.item, rows.cluster))
        ends = np.searchsorted(rows.cluster[order], np.arange(self.clusters + 1))
        for cluster in range(self.clusters):
            at = order[ends[cluster] : ends[cluster + 1]]
            if not len(at):
                continue
            slope = np.zeros((len(at), len(free)))
            slope[:, quality] = b[at, None] * (self.quality[rows.plus[at]] - self.quality[rows.minus[at]])
            slope[:, sharp] = gap[at, None] * self.sharp[rows.judge[at]]
            slope[:, linear] = self.linear[at]
            starts = np.flatnonzero(np.diff(rows.item[at], prepend=-1))
            joined = np.add.reduceat(slope * (weight * b)[at, None], starts)
            inner = slope.T @ (slope * weight[at, None])
            found[cluster] = inner - joined.T @ (joined * left[rows.item[at[starts]], None])
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
