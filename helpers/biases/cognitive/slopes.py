"""How far the answer follows the anchor: the share of the way to it.

The plain slope of a2 - a1 on anchor - a1 is above 0 by noise alone: a control that came out high by chance is followed
by a lower treatment, and lies further from the anchor, in the same direction. The control's repeat does not share that
chance, so it takes a1's place in the anchor's distance as an instrument: slope = cov(a2 - a1, anchor - a0) /
cov(anchor - a1, anchor - a0), 0 on average where the treatment does nothing.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from helpers.biases.cognitive.averages import places
from helpers.biases.cognitive.effects import NEEDS_REPEAT
from helpers.biases.cognitive.linear import Solved, interval, together, unsolved
from helpers.stats.estimates import estimate
from helpers.types import Estimate

METHOD = "slope with the control's repeat as instrument, scenario-clustered sandwich t"


def anchor_slope(table: pd.DataFrame, data: str) -> list[Estimate]:
    """The share of the way to the anchor that the answer goes: 0 not at all, 1 all of it; answers as shares of scale.

    `where`: bias (mean over judges), and bias, judge; of scales with an anchor, where the control was asked twice.
    Takes `pairs`.
    """
    found = []
    rows = table[(table["kind"] == "scale") & table["anchor"].notna()]
    for bias, whole in rows.groupby("category", sort=True, observed=True):
        scenarios, names = pd.factorize(whole["question_id"], sort=True)
        each = []
        for where, part in places(whole.assign(scenario=scenarios)):
            each.append(slope(part, len(names)))
            found.append(estimate("anchor_slope", where, interval(each[-1], METHOD, null=0.0), data, "score"))
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
    y, x, z = (each - each.mean() for each in (y, x, z))
    size = float(z @ x)
    if not size > 1e-12 * len(x):
        return unsolved("the anchors do not differ from the answers enough to tell a slope", scenarios, len(x))
    value = float(z @ y) / size
    scenario = rows["scenario"].to_numpy()[known]
    parts = np.bincount(scenario, weights=z * (y - value * x) / size, minlength=scenarios)
    return Solved(value, parts, np.bincount(scenario, minlength=scenarios) > 0, len(x))
