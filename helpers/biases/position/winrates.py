"""How often the candidate beats the baseline, as the verdicts say and at equal length and layout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.biases.position.effects import NO_PAIR, verdicts
from helpers.biases.position.pairs import places, valid
from helpers.stats.estimates import estimate
from helpers.stats.intervals import NAN, Interval, clustered, no_interval, t_interval
from helpers.stats.numbering import clusters_of
from helpers.stats.sandwich import Spread, adjust_scores, combine_pieces
from helpers.types import Estimate

#: What a strong verdict counts where a plain one counts 1.
WEIGHTS = (1, 3)
#: What is held equal: the length of an answer and how many headers, list items and bold phrases it has.
STYLE = ("length", "headers", "lists", "bold")
#: Fewer questions give a fit no bounds: its sandwich is too short there.
FIT_QUESTIONS = 40
METHOD = "Bradley-Terry logistic at equal style, question-clustered sandwich t"


def win_rate(table: pd.DataFrame, data: str, features: pd.DataFrame | None = None) -> list[Estimate]:
    """How often the candidate wins against the baseline, averaged over both games, a tie counting half.

    `where`: judge, candidate (, category), style, weight ("1", "3": what a strong verdict counts in the mean or the
    likelihood; no row is repeated). style "raw": as the verdicts say. style "controlled", with `features`: at equal
    style, the intercept of a logistic regression on the differences of STYLE between the two answers. `features` has a
    row an answer: question_id, candidate (the baseline's name for its answers) and STYLE. Takes `pairs`.
    """
    found = []
    for where, rows in places(valid(table)):
        each = verdicts(rows)
        each = each.assign(won=(each["for_candidate"] + 1) / 2)
        style = None if features is None else differences(rows, features)
        for weight in WEIGHTS:
            at = {"style": "raw", "weight": str(weight)}
            found.append(estimate("win_rate", where | at, raw(each, weight), data))
            if style is not None:
                told = controlled(each, style, weight)
                found.append(estimate("win_rate", where | at | {"style": "controlled"}, told, data))
    return found


def _weights(each: pd.DataFrame, weight: int) -> np.ndarray:
    return np.where(each["strong"], float(weight), 1.0)


def raw(each: pd.DataFrame, weight: int) -> Interval:
    """The weighted mean of verdicts, a ratio of two sums over questions."""
    if each.empty:
        return no_interval(NAN, 0, 0, NO_PAIR)
    w = _weights(each, weight)
    codes, _ = pd.factorize(clusters_of(each), sort=True)
    interval = clustered(np.bincount(codes, w * each["won"].to_numpy()), np.bincount(codes, w), null=None)
    return replace(interval, n=len(each))


def differences(rows: pd.DataFrame, features: pd.DataFrame) -> pd.DataFrame:
    """How the candidate's answer differs from the baseline's in style, a row a pair and game; NaN where one is unknown.

    (candidate - baseline) / (candidate + baseline), 0 where neither has any: from -1 to 1, as long answers differ by
    more words than short ones. Rows as those of `verdicts`.
    """
    missing = [name for name in ("question_id", "candidate", *STYLE) if name not in features]
    if missing:
        raise ValueError(f"the table of answer features has no {', '.join(missing)}; it has {', '.join(features)}")
    features = features.drop_duplicates(["question_id", "candidate"])
    sides = []
    for side in ("candidate", "baseline"):
        keys = [
            [*zip(of["question_id"].tolist(), of[name].tolist(), strict=True)]
            for of, name in ((features, "candidate"), (rows, side))
        ]
        at = {key: number for number, key in enumerate(keys[0])}
        counted = np.vstack([features[list(STYLE)].to_numpy(dtype=float), np.full(len(STYLE), NAN)])
        sides.append(counted[[at.get(key, -1) for key in keys[1]]])
    total = sides[0] + sides[1]
    share = np.divide(sides[0] - sides[1], total, out=np.zeros_like(total), where=total != 0)
    share[np.isnan(total)] = NAN
    return pd.DataFrame(np.vstack([share, share]), columns=list(STYLE))


def controlled(each: pd.DataFrame, style: pd.DataFrame, weight: int) -> Interval:
    """The win rate at equal style; no number where the fit has none, with the reason in its method.

    Differences are divided by their standard deviations and not centred, so that the intercept is at no difference;
    what no answer has is left out. Standard errors by question (Pustejovsky and Tipton 2018), on the logit scale.
    """
    known = style.notna().all(axis=1).to_numpy()
    each, x = each[known], style.to_numpy()[known]
    clusters = clusters_of(each).nunique()
    if each.empty:
        return no_interval(NAN, 0, 0, "no style control: length and layout of the answers are not known")
    used = (x != 0).any(axis=0)
    spread = x[:, used].std(axis=0)
    if (spread < 1e-12).any():
        same = " and ".join(np.array(STYLE)[used][spread < 1e-12])
        reason = f"no style control: the answers differ in {same} by the same everywhere, which may be who wrote them"
        return no_interval(NAN, len(each), clusters, reason)
    design = np.column_stack([np.ones(len(x)), x[:, used] / spread])
    y, w = each["won"].to_numpy(), _weights(each, weight)
    problem = fault(design, y)
    if problem:
        return no_interval(NAN, len(each), clusters, f"no style control: {problem}")
    from statsmodels.genmod import families
    from statsmodels.genmod.generalized_linear_model import GLM

    fit = GLM(y, design, family=families.Binomial(), var_weights=w).fit()
    if not fit.converged:
        return no_interval(NAN, len(each), clusters, "no style control: the fit did not converge")
    codes = pd.factorize(clusters_of(each))[0]
    value = float(fit.params[0])
    method = METHOD if used.all() else f"{METHOD}; no answer has {' or '.join(np.array(STYLE)[~used])}"
    if clusters < FIT_QUESTIONS:
        reason = f"{method}; no interval of a fit below {FIT_QUESTIONS} questions"
        return no_interval(_expit(value), len(each), clusters, reason)
    varies = _spread(design, y, w, fit.fittedvalues, codes)
    at = t_interval(value, varies.se, varies.df, len(each), clusters, method, null=None, effective=varies.effective)
    rate = _expit(value)
    return replace(at, value=rate, low=_expit(at.low), high=_expit(at.high), se=at.se * rate * (1 - rate))


def _spread(design: np.ndarray, y: np.ndarray, w: np.ndarray, fitted: np.ndarray, codes: np.ndarray) -> Spread:
    """How far the intercept varies, verdicts on one question depending on each other in any way."""
    scores = np.zeros((codes.max() + 1, design.shape[1]))
    np.add.at(scores, codes, design * (w * (y - fitted))[:, None])
    information = np.zeros((len(scores), *2 * design.shape[1:]))
    np.add.at(information, codes, design[:, :, None] * (design * (w * fitted * (1 - fitted))[:, None])[:, None])
    return combine_pieces([adjust_scores(scores, information).pieces(np.eye(design.shape[1])[0])])


def fault(design: np.ndarray, y: Sequence[float]) -> str:
    """Why a logistic regression of shares y (0, 1/2, 1) on this design has no maximum or more than one; "" if it does.

    >>> fault(np.array([[1.0, -1.0], [1.0, 1.0]]), [0.0, 1.0])
    'style separates wins from losses'
    """
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return "differences of style cannot be told apart"
    # A direction in which every win rises, every loss falls and no tie moves has no end: the fit would follow it.
    y = np.asarray(y, dtype=float)
    kinds, kind = np.unique(design, axis=0, return_inverse=True)
    won, lost = np.bincount(kind, y > 0, len(kinds)), np.bincount(kind, y < 1, len(kinds))
    # It cannot move what was tied, or won and lost; where that is of full rank there is no need to look for it.
    held = kinds[(won > 0) & (lost > 0)]
    if len(held) >= design.shape[1] == np.linalg.matrix_rank(held):
        return ""
    from scipy.optimize import linprog

    rises = np.where(y == 1, 1.0, -1.0)[:, None] * design
    decided, size = y != 0.5, design.shape[1]
    ties = design[~decided]
    found = linprog(
        -rises[decided].sum(axis=0),
        A_ub=-rises[decided] if decided.any() else None,
        b_ub=np.zeros(decided.sum()) if decided.any() else None,
        A_eq=ties if len(ties) else None,
        b_eq=np.zeros(len(ties)) if len(ties) else None,
        bounds=[(-1, 1)] * size,
    )
    return "style separates wins from losses" if found.status == 0 and found.fun < -1e-7 else ""


def _expit(u: float) -> float:
    return 1 / (1 + math.exp(-u))
