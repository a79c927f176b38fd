"""All numbers of experiment 5 in one list."""

from __future__ import annotations

import pandas as pd

from helpers import frames
from helpers.biases.cognitive import effects, scale_batches, seed_batches, slopes, thresholds
from helpers.biases.cognitive.pairs import pairs
from helpers.types import Estimate


def measure(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every estimate of the experiment from one decisions frame; `data` says where the decisions are from.

    A frame with readable replies of which none are a control and a treatment of one wording is a ValueError that counts
    what became of them.
    """
    table = pairs(frame)
    frames.require_result(frame, table["readable"].any(), "no test has a readable control and a readable treatment")
    return [
        *effects.bias_effect(table, data, seed),
        *effects.bias_placebo(table, data),
        *effects.scale_shift(table, data),
        *effects.scatter_change(table, data),
        *seed_batches.batches(table, data, seed),
        *seed_batches.excesses(table, data, seed),
        *scale_batches.ratio_scale(table, data, seed),
        *thresholds.acceptance_rate(table, data),
        *thresholds.thresholds(table, data),
        *slopes.anchor_slope(table, data),
        *effects.odd_share(frame, data),
    ]
