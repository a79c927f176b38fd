"""Do judges prefer their own vendor's answers: one linear fit, and odds ratios of matched pairs.

Judge j's value of item i (its score of an answer; of two answers its share of wins of the first, less 1/2) is

    y_ji = a_j x_ji + b_j theta_i + own_v s_ji + e_ji

x is 1 for scores (a: leniency) and the balance of places for pairs (1: the first always stood first, 0: both orders);
s is 1 where the answer is of the judge's vendor v, -1 where the other one is; theta is what the item is worth to all,
b how sharp the judge is: one that follows the place in a share of its pairs has its b cut by that share. Three steps:

1. Sharpness from agreement within candidates, where own terms cancel. Values less the means of judge and candidate (or
   pair) and less what places explain have covariances c_jk = t b_j b_k between judges. Of scores c_jk is the mean
   product on the same answer less that on two answers to one question, so that what judges make of the question as a
   whole cancels; of pairs it is that of net wins, answer by answer. t and b minimise

       sum_{j<k} n_jk (c_jk - t b_j b_k)^2 / (v_j v_k) + sum_j (b_j - 1)^2 / SPREAD^2

   with n_jk products and variances v. Where values tell nothing of b it stays 1, and SPREAD is its uncertainty.
2. Given b, least squares for a and own with a free theta for each item (absorbed), so that missing values do no harm.
3. Errors by clusters: CR2 with degrees of freedom by Bell and McCaffrey for step 2, to which the clusters' influence on
   b in step 1, times d own / d b, and the uncertainty of SPREAD are added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from .intervals import MIN_CLUSTERS, NAN, Interval, added, no_interval, t_interval
from .sandwich import adjust_evenly, adjust_scores, combine_pieces, pieces_of_rates

#: What is unsure of a judge's sharpness before any value: uniform from 0 (blind) to 2 (twice the average).
SPREAD = 3**-0.5
#: More numbers than these (clusters x terms^2) are not kept: each cluster then has its share of rows in each direction.
MOST_NUMBERS = 20_000_000
METHOD = "joint fit of items, judges and own vendors, question-clustered CR2 t"
ONLY_SUM = (
    "only the sum of their preferences is identified: what one vendor's judges add to their answers and what the "
    "other's add to theirs are one number without a judge or an answer of a third vendor"
)
NO_OTHERS = "not identified: no judge of another vendor compared these answers with the same others"


def own_vendor_effects(rows: pd.DataFrame) -> dict[str, Interval]:
    """How much each vendor's judges add to its answers, in units of `value`, by vendor.

    A row a judge and item: `judge`, `vendor` (the judge's), `item`, `question`, `cluster`, `plus` and of pairs `minus`
    (candidates), `value`, `place` (x; 1 for scores), `own` (s), `weight` (verdicts in the value). An effect that is not
    identified is NaN, and `method` says why.
    """
    tested = sorted(set(rows.loc[rows["own"] != 0, "vendor"]))
    if not tested:
        return {}
    shared = rows.groupby("item")["judge"].transform("size") > 1
    if not shared.any():
        return {name: no_interval(NAN, len(rows), 0, NO_OTHERS) for name in tested}
    fit = _Fit(rows[shared], tested)
    clusters, n = fit.clusters, int(shared.sum())
    apart = fit.why_not()
    b, influence, unsure = fit.sharpness()
    value, pieces, slope = fit.effects(b)
    found = {}
    for number, name in enumerate(tested):
        if apart[number]:
            found[name] = no_interval(NAN, n, clusters, apart[number])
            continue
        each = pieces[number]
        spread = combine_pieces([replace(each, parts=each.parts + influence @ slope[number])])
        prior = float(((unsure @ slope[number]) ** 2).sum())
        whole = spread.se**2 + prior
        df = spread.df * (whole / spread.se**2) ** 2 if spread.se > 0 else spread.df
        se = np.sqrt(whole) if spread.se > 0 else spread.se
        found[name] = t_interval(value[number], se, df, n, clusters, METHOD, effective=spread.effective)
    return found


class _Fit:
    """Tables of items (I) by judges (J), 0 where a judge has no value; V vendors are tested."""

    def __init__(self, rows: pd.DataFrame, tested: list[str]) -> None:
        at, first = pd.factorize(rows["item"])[0], ~rows["item"].duplicated().to_numpy()
        judge, judges = pd.factorize(rows["judge"])
        shape = (int(first.sum()), len(judges))
        self.y, self.x, self.s, self.h = np.zeros((4, *shape))
        for table, values in zip((self.y, self.x, self.s, self.h), ("value", "place", "own", "weight"), strict=True):
            table[at, judge] = rows[values]
        heads = rows[first]
        self.scores = "minus" not in rows
        self.cluster, self.question = (pd.factorize(heads[name])[0] for name in ("cluster", "question"))
        names = heads["plus"] if self.scores else pd.concat([heads["plus"], heads["minus"]])
        sides = pd.factorize(names)[0].reshape(-1, len(heads))
        self.sides, self.cell = sides, pd.factorize(pd.MultiIndex.from_arrays(list(sides)))[0]
        self.clusters = int(self.cluster.max()) + 1
        vendor = rows["vendor"].to_numpy(dtype=object)[np.unique(judge, return_index=True)[1]]
        self.vendor = (vendor[:, None] == np.array(tested, dtype=object)).astype(float)  # (J, V)
        if self.scores:
            self.y -= (self.h > 0) * rows["value"].mean()

    def sharpness(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sharpness (J,), each cluster's influence on it (C, J), and what is unsure of it beforehand (J, J)."""
        h, off = self.h, 1 - np.eye(self.h.shape[1])
        y, x = (each - _ratio(added(h * each, self.cell), added(h, self.cell))[self.cell] for each in (self.y, self.x))
        y = y - x * _ratio((h * x * y).sum(axis=0), (h * x * x).sum(axis=0))
        variance, y = _ratio((h * y**2).sum(axis=0), (h > 0).sum(axis=0)), h * y
        # Sums over a question's answers; of pairs net wins of each answer.
        signs = np.ones(1) if self.scores else np.array([1.0, -1.0])
        key = self.question if self.scores else (self.sides + self.question * (self.sides.max() + 1)).ravel()
        group, first = pd.factorize(key)[0], ~pd.Series(key).duplicated().to_numpy()
        above = np.tile(self.cluster, len(signs))[first]
        wins, seen = added(np.vstack([sign * y for sign in signs]), group), added(np.vstack([h] * len(signs)), group)
        one, many = (off * (h.T @ h), off * (y.T @ y)), (off * (seen.T @ seen), off * (wins.T @ wins))
        if self.scores:
            part = _ratio(one[0], many[0])
            same, others = _ratio(one[1], one[0]), _ratio(many[1] - one[1], many[0] - one[0])
            c, n = same - others, one[0] * (1 - part)
            loads = ((off, (1 - part) * same + part * others), (-part, -part * others))
        else:
            n = (2 * one[0] + many[0]) / 4
            c = _ratio(many[1] / 2, n)
            loads = ((0 * off, c / 2), (off / 2, c / 4))
        weight = _ratio(off, np.outer(variance, variance))
        b, t, curve = _factor(c, n * weight)
        moved = np.zeros((self.clusters, len(b)))
        for (product, count), up, down, clusters in zip(
            loads, (y, wins), (h, seen), (self.cluster, above), strict=True
        ):
            pull = up * (up @ (product * weight * b).T) - down * (down @ (count * weight * b).T)
            moved += added(np.vstack([pull, np.zeros((1, len(b)))]), np.append(clusters, self.clusters - 1))
        bread = np.linalg.inv(curve)[: len(b)]
        influence = np.column_stack([t * moved, moved @ b / 2]) @ bread.T
        varies = variance > 1e-12  # a judge that always takes the first place wins nothing for anybody: b is 0
        return b * varies, influence * varies, bread[:, : len(b)] / SPREAD * varies

    def _tables(self, b: np.ndarray) -> tuple[np.ndarray, ...]:
        """The root of weights, the load of theta, and of each item the load's norm and Z' load (I, V + J) over it."""
        root = np.sqrt(self.h)
        load = root * b
        norm = np.sqrt((load**2).sum(axis=1))
        return root, load, norm, _ratio(self._times(root * load), norm[:, None])

    def _times(self, values: np.ndarray) -> np.ndarray:
        """Z'values of each item, Z being the own terms and those of judges: (I, V + J)."""
        return np.hstack([(self.s * values) @ self.vendor, self.x * values])

    def _information(self, squares: list[np.ndarray], joined: np.ndarray) -> np.ndarray:
        """Z'Z less what theta takes, from (..., J) sums of h s s, h s x, h x x."""
        own, mixed, judges = squares
        corner = np.einsum("...j,jv,jw->...vw", own, self.vendor, self.vendor)
        side = mixed[..., None, :] * self.vendor.T
        low = judges[..., None] * np.eye(judges.shape[-1])
        return np.block([[corner, side], [np.swapaxes(side, -1, -2), low]]) - joined

    def _squares(self) -> list[np.ndarray]:
        return [added(self.h * a * b, self.cluster) for a, b in ((self.s, self.s), (self.s, self.x), (self.x, self.x))]

    def why_not(self) -> list[str]:
        """Why an own term is not identified were all judges equally sharp; empty where it is."""
        *_, joined = self._tables(np.ones(self.h.shape[1]))
        whole = self._information([each.sum(axis=0) for each in self._squares()], joined.T @ joined)
        sizes, directions = np.linalg.eigh(whole)
        null = directions[: self.vendor.shape[1], sizes < 1e-9 * sizes.max()]
        flat = (np.abs(null) > 1e-6).any(axis=1)
        why = ONLY_SUM if flat.any() and np.linalg.matrix_rank(null[flat], 1e-6) < flat.sum() else NO_OTHERS
        return [why if each else "" for each in flat]

    def effects(self, b: np.ndarray) -> tuple[np.ndarray, list, np.ndarray]:
        """Own effects (V,) given sharpness, the pieces of their spread, and how they move with it (V, J)."""
        vendors, judges = self.vendor.shape[1], len(b)
        root, load, norm, joined = self._tables(b)
        squares = self._squares()
        whole = self._information([each.sum(axis=0) for each in squares], joined.T @ joined)
        sizes, directions = np.linalg.eigh(whole)
        basis = directions[:, sizes > 1e-9 * sizes.max()]
        bread = basis @ np.linalg.inv(basis.T @ whole @ basis) @ basis.T
        y = root * self.y
        common = _ratio((load * y).sum(axis=1), norm)
        free = bread @ (self._times(root * y).sum(axis=0) - joined.T @ common)
        theta = _ratio(common - joined @ free, norm)[:, None]
        error = root * (self.y - self.s * (self.vendor @ free[:vendors]) - self.x * free[vendors:]) - load * theta
        scores = added(self._times(root * error), self.cluster) @ basis
        if self.clusters * basis.shape[1] ** 2 > MOST_NUMBERS:
            share = np.bincount(self.cluster, self.h.sum(axis=1)) / self.h.sum()
            adjusted = adjust_evenly(scores, basis.T @ whole @ basis, share)
        else:
            order = np.argsort(self.cluster, kind="stable")
            parts = np.split(joined[order], np.flatnonzero(np.diff(self.cluster[order])) + 1)
            information = self._information(squares, np.array([part.T @ part for part in parts]))
            adjusted = adjust_scores(scores, basis.T @ information @ basis)
        own = np.eye(vendors, vendors + judges)
        moved = _ratio(joined, norm[:, None]).T @ (root * (load * theta - error))
        placed = (self.h * theta * self.s).sum(axis=0) * self.vendor.T, np.diag((self.h * theta * self.x).sum(axis=0))
        return (
            free[:vendors],
            [adjusted.pieces(each @ basis) for each in own],
            own @ bread @ (moved - np.vstack(placed)),
        )


def _factor(c: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """b (J,) and t that minimise step 1's sum, and half its second derivatives (of b, then t) by Gauss and Newton."""
    b, t, unsure = np.ones(len(c)), 0.0, SPREAD**-2
    for _ in range(1000):
        before = b.copy()
        t = max(0.0, float((weight * c * np.outer(b, b)).sum() / max((weight * np.outer(b, b) ** 2).sum(), 1e-300)))
        for j in range(len(b)):
            b[j] = (t * (weight[j] * c[j]) @ b + unsure) / (t**2 * weight[j] @ b**2 + unsure)
        if np.abs(b - before).max() < 1e-9:
            break
    bent = weight * t * np.outer(b, b)
    side = bent @ b if t > 0 else 0 * b
    corner = t * bent + np.diag(t**2 * weight @ b**2 + unsure)
    end = max((weight * np.outer(b, b) ** 2).sum() / 2, 1e-300)
    return b, t, np.block([[corner, side[:, None]], [side[None], np.array([[end]])]])


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below, 0 where there is nothing below."""
    return np.divide(above, below, out=np.zeros(np.broadcast_shapes(above.shape, below.shape)), where=below > 1e-12)


PAIRED_ODDS_METHOD = "matched-pairs log odds ratio, question-clustered sandwich t"
#: Stands in for a count of 0; its own share of the variance is 1 / HALF, as for any count.
HALF = 0.5


def paired_log_odds(
    up: np.ndarray,
    down: np.ndarray,
    n: int,
    weights: Sequence[float] = (1.0,),
    level: float = 0.95,
    counted: Sequence[bool] = (),
) -> Interval:
    """How much an arm moves the log-odds of a verdict: sum_m weights_m * ln(U_m / D_m) over matched pairs.

    `up`, `down`: (C, m) sums per cluster of the pairs that changed to the verdict, and away from it; (C,) for one
    column; U, D are their totals. Pairs that did not change say nothing. If the arm adds the same amount to the logit
    of every pair, U / D is exp(amount) whatever the pairs' own logits are, and still is where verdicts are lost with a
    probability that depends on the verdict (the conditional estimator of 1:1 matched pairs, Mantel and Haenszel 1959;
    standard error linearised over clusters: CR2, degrees of freedom by Bell and McCaffrey, see `sandwich`).

    Clusters without a change are not counted: `clusters` are those of the column that changed in the fewest. `counted`
    marks columns that are counts of verdicts and no means: the variance is at least theirs were all changes
    independent, w^2 (1/U + 1/D), for few clusters can look too alike. A total of 0 is taken as 1/2 and adds 2 to the
    variance, which pulls the number towards 0 and widens its interval; where both totals of a column are 0 there is no
    number. No bounds below 10 changed clusters. `n` is passed through. A column of few changes is biased away from 0 by
    about (1/D - 1/U) / 2, a small part of its standard error.
    """
    b, c = (np.asarray(each, dtype=float) for each in (up, down))
    b, c = (each[:, None] if each.ndim == 1 else each for each in (b, c))
    w = np.asarray(weights, dtype=float)
    if b.shape != c.shape or b.shape[1] != len(w):
        raise ValueError(f"changes up {b.shape}, down {c.shape}, weights {w.shape}: need (C, m), (C, m), (m,)")
    if not (np.isfinite(b).all() and np.isfinite(c).all() and (b >= 0).all() and (c >= 0).all()):
        raise ValueError("changes must be finite and not negative")
    used = w != 0
    b, c, w = b[:, used], c[:, used], w[used]
    changed = ((b > 0) | (c > 0)).any(axis=1)
    b, c = b[changed], c[changed]
    clusters = int(((b > 0) | (c > 0)).sum(axis=0).min()) if len(b) else 0
    total_up, total_down = b.sum(axis=0), c.sum(axis=0)
    if not clusters or ((total_up == 0) & (total_down == 0)).any():
        return no_interval(NAN, n, clusters, "no verdict changed")
    empty = np.concatenate([total_up == 0, total_down == 0])
    total_up, total_down = (np.where(total == 0, HALF, total) for total in (total_up, total_down))
    value = float(w @ np.log(total_up / total_down))
    if clusters < MIN_CLUSTERS:
        return t_interval(value, NAN, NAN, n, clusters, PAIRED_ODDS_METHOD, level)
    share, sizes = total_up / (total_up + total_down), b + c
    varies = share * (1 - share)
    residuals = (b / total_up - c / total_down) * varies * sizes.sum(axis=0)
    found = combine_pieces([pieces_of_rates(residuals, sizes, w / varies, varies)])
    variance = found.se**2
    certain = np.array(counted or [False] * b.shape[1])[used]
    inverse = np.where(empty, 0.0, 1 / np.concatenate([total_up, total_down])).reshape(2, -1).sum(axis=0)
    variance = max(variance, float((w**2 * inverse)[certain].sum()))
    variance += float((np.concatenate([w, w])[empty] ** 2).sum()) / HALF
    method = f"{PAIRED_ODDS_METHOD}; a count of 0 taken as 1/2" if empty.any() else PAIRED_ODDS_METHOD
    effective = min(found.effective, clusters)
    return t_interval(value, math.sqrt(variance), found.df, n, clusters, method, level, effective=effective)
