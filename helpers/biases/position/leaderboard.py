"""Whether a judge ranks its own family higher than another judge does: two leaderboards of the same models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.stats.estimates import estimate
from helpers.stats.intervals import MIN_CLUSTERS, Interval, no_interval
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate

FITS = ("intercept", "line")
LEVEL = 0.05
BEYOND = "beyond the third-party models, where the fit is only continued"


def leaderboard_contrast(table: pd.DataFrame, judge: str, other: str, data: str = "published") -> list[Estimate]:
    """How much higher one judge puts each own-family model than models of third parties would make one expect.

    `table`: a row a model; columns model, family ("" for a third party, else the judge's family it belongs to) and one
    column of win rates in (0, 1) for each of the two judges. The logit of `judge`'s win rate less what the third-party
    models foresee from `other`'s: fit "intercept", the other's logit plus their mean gap; fit "line", a least-squares
    line, since judges may differ in how far they spread models. `where`: model, family, fit; unit logit; positive:
    `judge` ranks the model higher. The interval is the prediction interval of one more third-party model (t, normal
    errors of models), `n` = `clusters` the third-party models; p is the t test of being one of them. Rates without the
    games behind them: what the questions add to the error is in the scatter of the models. No interval below 10.
    """
    missing = [name for name in ("model", "family", judge, other) if name not in table]
    if missing:
        raise ValueError(f"the leaderboard has no {', '.join(missing)}; it has {', '.join(map(str, table))}")
    rates = table[[judge, other]].astype(float)
    odd = table.loc[~((rates > 0) & (rates < 1)).all(axis=1), "model"]
    if len(odd):
        raise ValueError(f"{', '.join(map(str, odd))}: a logit needs win rates between 0 and 1, both excluded")
    logits = np.log(rates / (1 - rates))
    third = (table["family"] == "").to_numpy()
    found = []
    for fit in FITS:
        x, y = logits[other].to_numpy(), logits[judge].to_numpy()
        for place in np.flatnonzero(~third):
            interval = _foreseen(x[third], y[third], x[place], y[place], fit)
            if third.any() and not x[third].min() <= x[place] <= x[third].max():
                interval = replace(interval, method=f"{interval.method}; {BEYOND}")
            row = table.iloc[place]
            where = {"model": str(row["model"]), "family": str(row["family"]), "fit": fit}
            found.append(estimate("leaderboard_contrast", where, interval, data, "logit"))
    return found


def _foreseen(x: np.ndarray, y: np.ndarray, at: float, value: float, fit: str) -> Interval:
    """The distance of (at, value) from what these points foresee, with its prediction interval."""
    count, used = len(x), 2 if fit == "line" else 1
    if count <= used or (fit == "line" and np.ptp(x) == 0):
        return no_interval(math.nan, count, count, f"{count} third-party models cannot carry the fit")
    spread = ((x - x.mean()) ** 2).sum()
    slope = float((x - x.mean()) @ y / spread) if fit == "line" else 1.0
    residuals = y - y.mean() - slope * (x - x.mean())
    gap = float(value - y.mean() - slope * (at - x.mean()))
    if count < MIN_CLUSTERS:
        return no_interval(gap, count, count, f"no interval below {MIN_CLUSTERS} third-party models")
    leverage = (at - x.mean()) ** 2 / spread if fit == "line" else 0.0
    df = count - used
    se = math.sqrt(float(residuals @ residuals) / df * (1 + 1 / count + leverage))
    method = f"prediction interval of a third-party model, {fit}"
    if not se > 0:
        return no_interval(gap, count, count, "no interval: third-party models do not scatter")
    from scipy.special import stdtr, stdtrit

    reach = float(stdtrit(df, 0.975)) * se
    p = 2 * float(stdtr(df, -abs(gap) / se))
    return Interval(gap, gap - reach, gap + reach, se, count, count, method, p, float(df))


def leaderboard_words(estimates: Sequence[Estimate], judge: str, other: str) -> str:
    """What the contrast says of each family and fit, and what it cannot say: which of the two judges is off."""
    lines, every = [], [each for each in estimates if each.id == "leaderboard_contrast"]
    for fit in FITS:
        chosen = [each for each in every if each.where["fit"] == fit]
        adjusted = benjamini_hochberg([each.p for each in chosen])
        for family in dict.fromkeys(each.where["family"] for each in chosen):
            rows = [(each, p) for each, p in zip(chosen, adjusted, strict=True) if each.where["family"] == family]
            up, down = (sum(bool(p < LEVEL and sign * each.value > 0) for each, p in rows) for sign in (1, -1))
            most = max((each for each, _ in rows), key=lambda each: abs(each.value))
            beyond = sum(BEYOND in each.method for each, _ in rows)
            said = f" {beyond} of them lie {BEYOND}." if beyond else ""
            lines.append(
                f"- {family}, {fit}: of {len(rows)} models {judge} ranks {up} higher and {down} lower against {other} "
                f"than {most.n} third-party models foresee; the farthest is {most.where['model']}, {most} logits.{said}"
            )
    if not lines:
        return "No model of either judge's family is on both leaderboards."
    return "\n".join(
        [
            *lines,
            "",
            "Exploratory; p by Benjamini and Hochberg over the models of a fit. The contrast is one of two judges: it "
            "does not tell which of them departs from what the models deserve, and models of one family may share a "
            "style that one judge likes for reasons of its own.",
        ]
    )
