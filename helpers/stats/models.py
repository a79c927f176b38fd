"""Do judges prefer their own vendor: rank logit, joint fit of scores or pairs, odds of third parties and of pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from .intervals import (
    MIN_CLUSTERS,
    NAN,
    Adjusted,
    Interval,
    Spread,
    added,
    adjust_evenly,
    adjust_scores,
    combine_pieces,
    fitted_interval,
    no_interval,
    pieces_of_rates,
    t_interval,
)
from .rank_logit import Design, Panel, blocks_at, chunks_of, climb, design_of, panel_of, utilities

QUALITIES = ("candidate", "category")
METHOD = "rank-ordered logit, question-clustered sandwich (CR2), Satterthwaite t"
#: (v, i, j) what ln N_i(j) counts in the log-odds of vendor v: judges i, first places j.
THIRD_PARTY = 0.5 * np.array(
    [
        [[2, -1, -1], [-1, 0, 1], [-1, 1, 0]],
        [[0, -1, 1], [-1, 2, -1], [1, -1, 0]],
        [[0, 1, -1], [1, 0, -1], [-1, -1, 2]],
    ]
)
NO_QUALITY = "rankings do not follow the common quality; its sharpness is held at 0"
#: Fewer questions give no bounds of a marginal effect: probabilities bend too much for the delta method.
EFFECT_CLUSTERS = 40
#: Numbers in the clusters' blocks of information that are kept; in larger panels each has its share of judgments.
MOST_BLOCKS = 20_000_000


@dataclass(frozen=True)
class RankLogit:
    """A fitted rank-ordered logit; values and covariance are NaN unless `converged`, and `problem` then says why.

    `names`: quality[candidate], log_scale[judge], own_vendor[vendor], own_model, slot[place] and covariates; effects of
    quality, scale and slot sum to zero. `n` judgments were used, `unused` had no valid ranking. `depth` = places of
    each ranking that count.
    """

    names: tuple[str, ...]
    values: np.ndarray
    covariance: np.ndarray
    clusters: int
    n: int
    unused: int
    converged: bool
    problem: str
    depth: int
    loglik: float
    design: Design | None = field(repr=False, default=None)
    free: np.ndarray | None = field(repr=False, default=None)
    adjusted: Adjusted | None = field(repr=False, default=None)
    bread: np.ndarray | None = field(repr=False, default=None)  # inverse information of the free parameters
    turn: np.ndarray | None = field(repr=False, default=None)  # from those to the coordinates of `adjusted`

    @property
    def dull(self) -> tuple[str, ...]:
        """The judges whose rankings do not follow the common quality: their scale is held at 0."""
        return self.design.dull if self.design else ()

    @property
    def method(self) -> str:
        """How its numbers were made, for the reader."""
        return "; ".join([METHOD, *(f"{judge}'s {NO_QUALITY}" for judge in self.dull)])


def rank_ordered_logit(
    frame: pd.DataFrame,
    depth: int | None = None,
    quality: str = "candidate",
    covariates: Sequence[str] = (),
    position: bool = True,
    one_scale: bool = False,
) -> RankLogit:
    """The primary estimator: U_jk = b_j * quality_k + own_vendor + own_model + position.

    `frame` is the listwise frame. `depth` 1 = top-1 only, 3 = the first three places, None = full rankings. `quality`
    "category" gives each candidate an effect a category. `position=False` leaves slots out, for constant orders;
    `one_scale=True` forces b_j = 1, to show what that does. A fit without maximum or with a flat direction is reported
    in `problem` and has no numbers. Plackett 1975; Beggs, Cardell and Hausman 1981.
    """
    return fit_panel(panel_of(frame, covariates), depth, quality, position, one_scale)


def fit_panel(
    panel: Panel, depth: int | None = None, quality: str = "candidate", position: bool = True, one_scale: bool = False
) -> RankLogit:
    """`rank_ordered_logit` on arrays, for simulations and large data."""
    if quality not in QUALITIES:
        raise ValueError(f"quality {quality!r} is not one of {', '.join(QUALITIES)}")
    if depth is not None and depth < 1:
        raise ValueError(f"depth {depth!r}: need a whole number from 1 up, or None for full rankings")
    n = len(panel.judge)
    if not n or len(panel.candidates) < 2:
        return _unfitted((), panel, depth or 0, "no valid ranking of two or more candidates")
    design = design_of(panel, depth, quality == "category", position, one_scale)
    design, fit = climb(design)
    if fit.problem:
        return _unfitted(design.names, panel, design.depth, fit.problem)
    scores, information, expand = fit.pieces.scores, fit.pieces.linearised, design.expand
    if scores.size * len(fit.free) > MOST_BLOCKS:
        adjusted = adjust_evenly(scores, information, np.bincount(panel.cluster, minlength=panel.clusters) / n)
    else:
        adjusted = adjust_scores(scores, blocks_at(design, fit.free))
    # Scores have the variance of the linearised model; a step of the parameters is measured by the observed one.
    bread = np.linalg.inv(fit.pieces.observed)
    turn = information @ bread
    parts = adjusted.scores @ turn @ expand.T
    return RankLogit(
        design.names,
        expand @ fit.free,
        parts.T @ parts,
        panel.clusters,
        n,
        panel.unused,
        True,
        "",
        design.depth,
        fit.pieces.loglik,
        design,
        fit.free,
        adjusted,
        bread,
        turn,
    )


def _unfitted(names: tuple[str, ...], panel: Panel, depth: int, problem: str) -> RankLogit:
    size, n = len(names), len(panel.judge)
    nothing = np.full(size, NAN), np.full((size, size), NAN)
    return RankLogit(names, *nothing, panel.clusters, n, panel.unused, False, problem, depth, NAN)


def coefficient(fit: RankLogit, name: str) -> Interval:
    """One parameter with its question-clustered interval; the problem, and no number, where the fit has one."""
    return combination(fit, {name: 1.0})


def combination(fit: RankLogit, weights: Mapping[str, float]) -> Interval:
    """The interval of a weighted sum of parameters, weights by name; an unknown name is an error."""
    unknown = [name for name in weights if name not in fit.names]
    if not fit.converged:
        return no_interval(NAN, fit.n, fit.clusters, fit.problem)
    if boundary := [judge for judge in fit.dull if f"log_scale[{judge}]" in unknown]:
        return no_interval(NAN, fit.n, fit.clusters, f"{boundary[0]}'s {NO_QUALITY}")
    if unknown:
        raise ValueError(f"the fit has no {', '.join(unknown)}; it has {', '.join(fit.names)}")
    contrast = _contrast(fit, weights)
    return _interval(fit, float(contrast @ fit.free), contrast, fit.method)


def _contrast(fit: RankLogit, weights: Mapping[str, float]) -> np.ndarray:
    return np.array([weights.get(name, 0.0) for name in fit.names]) @ fit.design.expand


def _interval(fit: RankLogit, value: float, contrast: np.ndarray, method: str) -> Interval:
    """The interval of a number whose derivative by the free parameters is `contrast`."""
    return fitted_interval(value, fit.adjusted, fit.turn @ contrast, fit.n, fit.clusters, method)


def self_preference(fit: RankLogit, vendor: str) -> Interval:
    """The headline: own_vendor, plus own_model times the share of the own model among the vendor's own answers.

    In logits, for the answers that this vendor's judges really saw; the share is taken as fixed.
    """
    return _own_interval(fit, vendor, None)


def family_preference(fit: RankLogit, vendor: str) -> Interval:
    """For an answer of the same vendor by another model; NaN where the vendor's judges saw none."""
    return _own_interval(fit, vendor, 0.0)


def _own_interval(fit: RankLogit, vendor: str, share: float | None) -> Interval:
    if not fit.converged:
        return no_interval(NAN, fit.n, fit.clusters, fit.problem)
    if f"own_vendor[{vendor}]" not in fit.names:
        return no_interval(NAN, fit.n, fit.clusters, f"no judge of {vendor} saw an answer of {vendor}")
    if share is not None and share not in _own_models(fit, vendor):
        return no_interval(NAN, fit.n, fit.clusters, f"no judge of {vendor} saw an answer of its other models")
    return combination(fit, _own_weights(fit, vendor, share))


def _own_models(fit: RankLogit, vendor: str) -> np.ndarray:
    """Of each own answer that the vendor's judges saw, whether it is the judge's own model's."""
    panel = fit.design.panel
    return panel.own_model[panel.own_vendor & panel.of_vendor(vendor)[:, None]]


def _own_weights(fit: RankLogit, vendor: str, share: float | None = None) -> dict[str, float]:
    weights = {f"own_vendor[{vendor}]": 1.0}
    if "own_model" in fit.names:
        weights["own_model"] = float(_own_models(fit, vendor).mean()) if share is None else share
    return weights


def explaining_slope(fit: RankLogit, vendor: str, covariate: str) -> Interval:
    """How large the slope of a covariate would have to be for the vendor's self-preference to be 0.

    In logits a unit of the covariate, all other parameters being fitted anew; linear in the slope, from the information
    at the maximum (omitted-variable formula). No interval: it is where the estimate would vanish, not an estimate.
    """
    found = self_preference(fit, vendor)
    if not math.isfinite(found.value) or covariate not in fit.names:
        why = found.method if covariate in fit.names or not fit.converged else f"{covariate} is not in the model"
        return no_interval(NAN, fit.n, fit.clusters, why)
    preference, slope = _contrast(fit, _own_weights(fit, vendor)), _contrast(fit, {covariate: 1.0})
    moved = float(preference @ fit.bread @ slope) / float(slope @ fit.bread @ slope)
    value = float(slope @ fit.free) - found.value / moved if moved else NAN
    return no_interval(value, found.n, found.clusters, "linear in the slope, from the information at the maximum")


def marginal_effect(fit: RankLogit, vendor: str) -> Interval:
    """How much more often the vendor's judges put an own answer first than they would without the own terms.

    A difference of probabilities, averaged over the judgments (`n`) of its judges that showed an own answer. Delta
    method, with bounds from EFFECT_CLUSTERS questions: its nominal 95 % held 86 % at 16 of a simulated world, 93 at 40.
    """
    if not fit.converged or f"own_vendor[{vendor}]" not in fit.names:
        return _own_interval(fit, vendor, None)
    design, panel = fit.design, fit.design.panel
    rows = panel.of_vendor(vendor) & panel.own_vendor.any(axis=1)
    start = design.blocks[2].start
    columns = slice(start, start + len(panel.vendors) + design.own_model)
    without = fit.free.copy()
    without[columns] = 0.0
    total, slope_total = 0.0, np.zeros(len(fit.free))
    for chunk in chunks_of(design)():
        mine = panel.own_vendor[chunk.rows] & rows[chunk.rows, None]
        for sign, free in ((1, fit.free), (-1, without)):
            utility, slope = utilities(design, chunk, free)
            share = np.exp(utility - utility.max(axis=1, keepdims=True))
            share /= share.sum(axis=1, keepdims=True)
            if sign < 0:
                slope[:, :, columns] = 0.0
            centred = slope - np.einsum("nk,nkp->np", share, slope)[:, None]
            total += sign * float(share[mine].sum())
            slope_total += sign * np.einsum("nk,nkp->p", share * mine, centred)
    value, gradient = total / rows.sum(), slope_total / rows.sum()
    if fit.clusters < EFFECT_CLUSTERS:
        why = (
            f"no interval of the marginal effect below {EFFECT_CLUSTERS} questions: the delta method is too short there"
        )
        return no_interval(value, int(rows.sum()), fit.clusters, why)
    return replace(
        _interval(fit, value, gradient, "average marginal effect, delta method, " + fit.method), n=int(rows.sum())
    )


def third_party_log_odds(counts: np.ndarray) -> np.ndarray:
    """The preference of three vendors by log-odds of first places, each measured against the third party.

    `counts`: (..., 3, 3) top-1 counts, a row a judge vendor, a column a candidate vendor, same order. s_v = 1/2 sum
    over w != v of [ln N_v(v)/N_v(x) - ln N_w(v)/N_w(x)], x the third; 1/2 is added only where a count is 0.
    Descriptive: valid only if all judges discriminate equally.

    >>> third_party_log_odds(np.array([[48, 84, 28], [34, 103, 23], [39, 68, 53]])).round(3).tolist()
    [0.072, 0.477, 0.773]
    """
    table = np.asarray(counts, dtype=float)
    if table.shape[-2:] != (3, 3):
        raise ValueError(f"third-party log-odds need three vendors, counts (..., 3, 3); found {table.shape}")
    return np.einsum("vij,...ij->...v", THIRD_PARTY, np.log(np.where(table == 0, 0.5, table)))


def third_party_log_odds_clustered(counts: np.ndarray) -> tuple[Interval, ...]:
    """The three log-odds with jackknife intervals over questions: `counts` (C, 3, 3) per question.

    Degrees of freedom and effective questions are those of the linearised number (see `combine_pieces`).
    """
    table = np.asarray(counts, dtype=float)
    total, clusters, n = table.sum(axis=0), len(table), round(table.sum())
    values = third_party_log_odds(total) if n else np.full(3, NAN)
    left_out = third_party_log_odds(total - table) if clusters > 1 else np.full((1, 3), NAN)
    errors = np.sqrt((clusters - 1) / max(clusters, 1) * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    sizes, method = table.sum(axis=2), "third-party log-odds, question jackknife t"
    alone = clusters < MIN_CLUSTERS or (sizes.max(axis=0) == sizes.sum(axis=0)).any()
    found = []
    for value, error, slopes in zip(values, errors, THIRD_PARTY / np.where(total == 0, 0.5, total), strict=True):
        spread = Spread(NAN, NAN, NAN)
        if not alone:
            # What one first place adds, as if each judge vendor were a rate.
            worth = slopes * total.sum(axis=1, keepdims=True)
            varies = (worth**2 * total).sum(axis=1) / total.sum(axis=1)
            spread = combine_pieces([pieces_of_rates((table * worth).sum(axis=2), sizes, np.ones(3), varies)])
        se = NAN if alone else float(error)
        found.append(t_interval(float(value), se, spread.df, n, clusters, method, effective=spread.effective))
    return tuple(found)


# --- scores and pairs: one linear fit ---------------------------------------------------------------------------------

#: What is unsure of a judge's sharpness before any value: uniform from 0 (blind) to 2 (twice the average).
SPREAD = 3**-0.5
JOINT_METHOD = "joint fit of items, judges and own vendors, question-clustered CR2 t"
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

    Judge j's value of item i (its score of an answer; of two answers its share of wins of the first, less 1/2) is

        y_ji = a_j x_ji + b_j theta_i + own_v s_ji + e_ji

    x is 1 for scores (a: leniency) and the balance of places for pairs (1: the first always stood first, 0: both
    orders); s is 1 where the answer is of the judge's vendor v, -1 where the other one is; theta is what the item is
    worth to all, b how sharp the judge is: one that follows the place in a share of its pairs has its b cut by it.

    1. Sharpness from agreement within candidates, where own terms cancel. Values less the means of judge and candidate
       (or pair) and less what places explain have covariances c_jk = t b_j b_k between judges. Of scores c_jk is the
       mean product on the same answer less that on two answers to one question, so that what judges make of the
       question as a whole cancels; of pairs it is that of net wins, answer by answer. t and b minimise

           sum_{j<k} n_jk (c_jk - t b_j b_k)^2 / (v_j v_k) + sum_j (b_j - 1)^2 / SPREAD^2

       with n_jk products and variances v. Where values tell nothing of b it stays 1, and SPREAD is its uncertainty.
    2. Given b, least squares for a and own with a free theta for each item (absorbed): missing values do no harm.
    3. Errors by clusters: CR2 with degrees of freedom by Bell and McCaffrey for step 2, to which the clusters'
       influence on b in step 1, times d own / d b, and the uncertainty of SPREAD are added.
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
        total = spread.se**2 + prior
        df = spread.df * (total / spread.se**2) ** 2 if spread.se > 0 else spread.df
        se = np.sqrt(total) if spread.se > 0 else spread.se
        found[name] = t_interval(value[number], se, df, n, clusters, JOINT_METHOD, effective=spread.effective)
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
        mine, mixed, judges = squares
        corner = np.einsum("...j,jv,jw->...vw", mine, self.vendor, self.vendor)
        side = mixed[..., None, :] * self.vendor.T
        low = judges[..., None] * np.eye(judges.shape[-1])
        return np.block([[corner, side], [np.swapaxes(side, -1, -2), low]]) - joined

    def _squares(self) -> list[np.ndarray]:
        return [added(self.h * a * b, self.cluster) for a, b in ((self.s, self.s), (self.s, self.x), (self.x, self.x))]

    def why_not(self) -> list[str]:
        """Why an own term is not identified were all judges equally sharp; empty where it is."""
        *_, joined = self._tables(np.ones(self.h.shape[1]))
        total = self._information([each.sum(axis=0) for each in self._squares()], joined.T @ joined)
        sizes, directions = np.linalg.eigh(total)
        null = directions[: self.vendor.shape[1], sizes < 1e-9 * sizes.max()]
        flat = (np.abs(null) > 1e-6).any(axis=1)
        why = ONLY_SUM if flat.any() and np.linalg.matrix_rank(null[flat], 1e-6) < flat.sum() else NO_OTHERS
        return [why if each else "" for each in flat]

    def effects(self, b: np.ndarray) -> tuple[np.ndarray, list, np.ndarray]:
        """Own effects (V,) given sharpness, the pieces of their spread, and how they move with it (V, J)."""
        vendors, judges = self.vendor.shape[1], len(b)
        root, load, norm, joined = self._tables(b)
        squares = self._squares()
        total = self._information([each.sum(axis=0) for each in squares], joined.T @ joined)
        sizes, directions = np.linalg.eigh(total)
        basis = directions[:, sizes > 1e-9 * sizes.max()]
        bread = basis @ np.linalg.inv(basis.T @ total @ basis) @ basis.T
        y = root * self.y
        common = _ratio((load * y).sum(axis=1), norm)
        free = bread @ (self._times(root * y).sum(axis=0) - joined.T @ common)
        theta = _ratio(common - joined @ free, norm)[:, None]
        error = root * (self.y - self.s * (self.vendor @ free[:vendors]) - self.x * free[vendors:]) - load * theta
        scores = added(self._times(root * error), self.cluster) @ basis
        if self.clusters * basis.shape[1] ** 2 > MOST_BLOCKS:
            share = np.bincount(self.cluster, self.h.sum(axis=1)) / self.h.sum()
            adjusted = adjust_evenly(scores, basis.T @ total @ basis, share)
        else:
            order = np.argsort(self.cluster, kind="stable")
            parts = np.split(joined[order], np.flatnonzero(np.diff(self.cluster[order])) + 1)
            information = self._information(squares, np.array([part.T @ part for part in parts]))
            adjusted = adjust_scores(scores, basis.T @ information @ basis)
        vendor_rows = np.eye(vendors, vendors + judges)
        moved = _ratio(joined, norm[:, None]).T @ (root * (load * theta - error))
        placed = (self.h * theta * self.s).sum(axis=0) * self.vendor.T, np.diag((self.h * theta * self.x).sum(axis=0))
        return (
            free[:vendors],
            [adjusted.pieces(each @ basis) for each in vendor_rows],
            vendor_rows @ bread @ (moved - np.vstack(placed)),
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


# --- matched pairs ----------------------------------------------------------------------------------------------------

PAIRED_ODDS_METHOD = "matched-pairs log odds ratio, question-clustered sandwich t"
#: Stands in for a count of 0; its own share of the variance is 1 / HALF, as for any count.
HALF = 0.5


def paired_log_odds(
    up: np.ndarray, down: np.ndarray, n: int, weights: Sequence[float] = (1.0,), counted: Sequence[bool] = ()
) -> Interval:
    """How much an arm moves the log-odds of a verdict: sum_m weights_m * ln(U_m / D_m) over matched pairs.

    `up`, `down`: (C, m) sums per cluster of the pairs that changed to the verdict, and away from it; U, D their totals.
    If the arm adds the same amount to the logit of every pair, U / D is exp(amount) whatever the pairs' own logits
    (Mantel and Haenszel 1959). CR2 over clusters; `clusters` are those of the column that changed in the fewest, `n` is
    passed through. `counted` marks columns that are counts of verdicts: the variance is at least theirs were all
    changes independent, w^2 (1/U + 1/D). A total of 0 is taken as 1/2 and adds 2 to the variance; where both totals of
    a column are 0 there is no number. No bounds below 10 changed clusters.
    """
    b, c = (np.asarray(each, dtype=float) for each in (up, down))
    b, c = (each[:, None] if each.ndim == 1 else each for each in (b, c))
    w = np.asarray(weights, dtype=float)
    if b.shape != c.shape or b.shape[1] != len(w):
        raise ValueError(f"changes up {b.shape}, down {c.shape}, weights {w.shape}: need (C, m), (C, m), (m,)")
    if not (np.isfinite(b).all() and np.isfinite(c).all() and (b >= 0).all() and (c >= 0).all()):
        raise ValueError("changes must be finite and not negative")
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
        return t_interval(value, NAN, NAN, n, clusters, PAIRED_ODDS_METHOD)
    share, sizes = total_up / (total_up + total_down), b + c
    varies = share * (1 - share)
    residuals = (b / total_up - c / total_down) * varies * sizes.sum(axis=0)
    found = combine_pieces([pieces_of_rates(residuals, sizes, w / varies, varies)])
    variance = found.se**2
    certain = np.array(counted or [False] * b.shape[1])
    inverse = np.where(empty, 0.0, 1 / np.concatenate([total_up, total_down])).reshape(2, -1).sum(axis=0)
    variance = max(variance, float((w**2 * inverse)[certain].sum()))
    variance += float((np.concatenate([w, w])[empty] ** 2).sum()) / HALF
    method = f"{PAIRED_ODDS_METHOD}; a count of 0 taken as 1/2" if empty.any() else PAIRED_ODDS_METHOD
    effective = min(found.effective, clusters)
    return t_interval(value, math.sqrt(variance), found.df, n, clusters, method, effective=effective)
