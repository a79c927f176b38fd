"""The published metric of thirty biases on pairs, and what somebody who answers at random would score."""

from __future__ import annotations

import numpy as np
import pandas as pd

from helpers.biases.cognitive.averages import cells, mean_of
from helpers.biases.cognitive.ratio_scale import random_answerer, score
from helpers.biases.cognitive.seed_batches import resampled
from helpers.stats.estimates import estimate
from helpers.types import Estimate, RatioScale

NO_PAIR = "no pair of options that the published metric is defined for"
PARAMETERS = ["k", "x1", "x2", "flip_control", "flip_treatment"]


def ratio_scale(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """The mean of the published B and of |B| (0/0 counts 0, as published), and |B| of a random answerer.

    `ratio_scale`, `ratio_scale_absolute`; `where`: bias (mean over judges), and bias, judge. `ratio_scale_random`:
    where bias; exact, the mean over these pairs' parameters. Takes `pairs`; those without parameters are left out.
    """
    rows, found = table[table["k"].notna()], []
    if rows.empty:
        return found
    values = score(*(rows[name] for name in ("i1", "i2", "options", *PARAMETERS)))
    for cell in cells(rows, values):
        found.append(estimate("ratio_scale", cell.where, mean_of(cell, NO_PAIR), data, "score"))
    for cell in cells(rows, np.abs(values)):
        interval = resampled(cell, seed, NO_PAIR)
        found.append(estimate("ratio_scale_absolute", cell.where, interval, data, "score"))
    return [*found, *_random(rows, data)]


def _random(rows: pd.DataFrame, data: str) -> list[Estimate]:
    found = []
    for bias, part in rows.groupby("category", sort=True, observed=True):
        kinds = part.groupby(["options", *PARAMETERS], observed=True).size()
        each = [_mean_absolute(key) for key in kinds.index]
        value = float(np.average(each, weights=kinds))
        method = "exact: all pairs of options, each as likely"
        where = {"bias": str(bias)}
        found.append(Estimate("ratio_scale_random", where, value, n=len(part), unit="score", method=method, data=data))
    return found


def _mean_absolute(key: tuple) -> float:
    options, k, x1, x2, flip_control, flip_treatment = key
    return random_answerer(int(options), RatioScale(k, x1, x2, bool(flip_control), bool(flip_treatment))).mean_absolute
