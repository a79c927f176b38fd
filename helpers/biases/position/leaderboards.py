"""Two leaderboards of the same models: how much higher one judge puts its own family than third parties foresee."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ...stats.intervals import MIN_CLUSTERS, Interval, estimate, no_interval
from ...stats.tests import benjamini_hochberg
from ...types import Estimate
from .both_orders import LEVEL

FITS = ("intercept", "line")
BEYOND = "beyond the third-party models, where the fit is only continued"


def leaderboard_contrast(table: pd.DataFrame, judge: str, other: str, data: str = "published") -> list[Estimate]:
    """How much higher one judge puts each own-family model than models of third parties would make one expect.

    `table`: a row a model; columns model, family ("" for a third party, else the judge's family it belongs to) and one
    column of win rates in (0, 1) for each of the two judges. `where`: model, family, fit ("intercept": the other
    judge's logit plus the mean gap; "line": least squares, since judges may differ in how far they spread models). The
    interval is the prediction interval of one more third-party model (t), p the test of being one of them.
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
    lines = []
    for fit in FITS:
        chosen = [each for each in estimates if each.id == "leaderboard_contrast" and each.where["fit"] == fit]
        adjusted = dict(zip(map(id, chosen), benjamini_hochberg([each.p for each in chosen]), strict=True))
        for family in dict.fromkeys(each.where["family"] for each in chosen):
            models = [each for each in chosen if each.where["family"] == family]
            found = [each.value > 0 for each in models if adjusted[id(each)] < LEVEL]
            most = max(models, key=lambda each: abs(each.value))
            beyond = sum(BEYOND in each.method for each in models)
            lines.append(
                f"- {family}, {fit}: of {len(models)} models {judge} ranks {sum(found)} higher and "
                f"{len(found) - sum(found)} lower against {other} than {most.n} third-party models foresee; the "
                f"farthest is {most.where['model']}, {most} logits.{f' {beyond} of them lie {BEYOND}.' * bool(beyond)}"
            )
    return "\n".join([*lines, "", LIMITS]) if lines else "No model of either judge's family is on both leaderboards."


LIMITS = (
    "Exploratory; p by Benjamini and Hochberg over the models of a fit. The contrast is one of two judges: it does not "
    "tell which of them departs from what the models deserve, and models of one family may share a style that one "
    "judge likes for reasons of its own."
)


def leaderboard(block: Mapping[str, Any]) -> tuple[pd.DataFrame, str, str]:
    """The two leaderboards as `leaderboard_contrast` takes them, and the two judges."""
    judge, other = block["judges"]
    families = set(block["judges"].values())
    table = pd.DataFrame(block["counts"])
    family = table["owner"].where(table["owner"].isin(families), "")
    return table.assign(family=family, **{name: table[name] / 100 for name in (judge, other)}), judge, other


def published_contrast(block: Mapping[str, Any]) -> list[Estimate]:
    """`leaderboard_contrast` of the published leaderboards; `where` has judge and other as well."""
    table, judge, other = leaderboard(block)
    found = leaderboard_contrast(table, judge, other)
    return [replace(each, where={"judge": judge, "other": other} | dict(each.where)) for each in found]


def leaderboard_points(published: Mapping[str, Any]) -> pd.DataFrame:
    """Each model's logits under the two judges with the third-party line and its prediction limits at its place.

    Columns as `show_leaderboard_contrast` takes them: x is the second judge of published/counts.yaml, y the first.
    """
    table, judge, other = leaderboard(published["leaderboard"])
    third = table["family"] == ""
    # A copy of each third-party model under another name has the line and the limits at that model's own place.
    copies = table[third].assign(family="third party")
    every = pd.concat([table[third], copies, table[~third]], ignore_index=True)
    line = {
        each.where["model"]: each for each in leaderboard_contrast(every, judge, other) if each.where["fit"] == "line"
    }
    judges = {family: name for name, family in published["leaderboard"]["judges"].items()}
    logits = {name: np.log(table[name] / (1 - table[name])) for name in (judge, other)}
    rows = []
    for at, row in table.iterrows():
        gap, y = line[row["model"]], float(logits[judge][at])
        family = judges.get(row["family"], "third party")
        known = (row["model"], family, other, judge, float(logits[other][at]), y)
        rows.append((*known, y - gap.value, y - gap.high, y - gap.low, "published"))
    names = ["model", "family", "judge_x", "judge_y", "x", "y", "line", "low", "high", "data"]
    return pd.DataFrame(rows, columns=names)
