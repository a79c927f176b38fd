"""How far the answer follows the anchor: the share of the way to it.

The plain slope of a2 - a1 on anchor - a1 is above 0 by noise alone: a control that came out high by chance is followed
by a lower treatment, and lies further from the anchor, in the same direction. The control's repeat does not share that
chance, so it takes a1's place in the anchor's distance as an instrument: slope = cov(a2 - a1, anchor - a0) /
cov(anchor - a1, anchor - a0), 0 on average where the treatment does nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.biases.cognitive.averages import places
from helpers.biases.cognitive.effects import NEEDS_REPEAT
from helpers.biases.cognitive.linear import Solved, interval, jackknifed, together, unsolved
from helpers.stats.estimates import estimate
from helpers.stats.numbering import clusters_of
from helpers.types import Estimate

METHOD = "slope with the control's repeat as instrument, scenario jackknife t"
#: The distance of anchors from answers must be told from 0 by so many standard errors, else the ratio is anything.
LEAST_T = math.sqrt(10)


def anchor_slope(table: pd.DataFrame, data: str) -> list[Estimate]:
    """The share of the way to the anchor that the answer goes: 0 not at all, 1 all of it; answers as shares of scale.

    `where`: bias (mean over judges), and bias, judge; of scales with an anchor, where the control was asked twice.
    Takes `pairs`.
    """
    found = []
    rows = table[(table["kind"] == "scale") & table["anchor"].notna()]
    for bias, whole in rows.groupby("category", sort=True, observed=True):
        scenarios, names = pd.factorize(clusters_of(whole), sort=True)
        each = []
        for where, part in places(whole.assign(scenario=scenarios)):
            each.append(slope(part, len(names)))
            found.append(estimate("anchor_slope", where, interval(each[-1], METHOD, null=0.0), data, "score"))
            each[-1] = replace(each[-1], problem=each[-1].problem and f"{where['judge']}: {each[-1].problem}")
        mean = together(each, [1 / len(each)] * len(each))
        found.append(estimate("anchor_slope", {"bias": str(bias)}, interval(mean, METHOD, null=0.0), data, "score"))
    return found


def slope(rows: pd.DataFrame, scenarios: int) -> Solved:
    """The slope of one judge; `scenario` counts from 0."""
    a1, a2, a0, anchor, low, high = (
        rows[name].to_numpy(dtype=float) for name in ("a1", "a2", "a0", "anchor", "low", "high")
    )
    known = np.isfinite(a1 + a2 + a0 + anchor) & (high > low)
    if not known.any():
        return unsolved(NEEDS_REPEAT if np.isfinite(a1 + a2).any() else "no readable pair", scenarios)
    y, x, z = ((each / (high - low))[known] for each in (a2 - a1, anchor - a1, anchor - a0))
    scenario = rows["scenario"].to_numpy()[known]
    columns = np.column_stack([np.ones(len(x)), z, x, y, z * x, z * y])
    sums = np.column_stack([np.bincount(scenario, weights=each, minlength=scenarios) for each in columns.T])
    used = sums[:, 0] > 0
    whole, without = sums.sum(axis=0), sums.sum(axis=0) - sums
    if used.sum() > 1:
        shared = jackknifed(_moments(whole)[0], _moments(without)[0], used, len(x))
        spread = math.sqrt(used.sum() / (used.sum() - 1) * float((shared.parts**2).sum()))
    if used.sum() < 2 or not shared.value > LEAST_T * spread:
        return unsolved("the anchors do not differ from the answers enough to tell a slope", scenarios, len(x))
    ratios = [moved / distance for distance, moved in (_moments(whole), _moments(without))]
    return jackknifed(float(ratios[0]), ratios[1], used, len(x))


def _moments(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The covariances of z with x and with y, of sums (..., 6) of 1, z, x, y, zx, zy."""
    n, z, x, y, zx, zy = np.moveaxis(sums, -1, 0)
    return (zx - z * x / n) / n, (zy - z * y / n) / n
