"""All numbers of experiment 5 in one list."""

from __future__ import annotations

import pandas as pd

from helpers import frames
from helpers.biases.cognitive import effects, scale_batches, seed_batches, slopes, thresholds
from helpers.biases.cognitive.pairs import pairs
from helpers.types import Estimate


def measure(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every estimate of the experiment from one decisions frame; `data` says where the decisions are from.

    A frame in which no control and treatment of one wording were both answered readably is a ValueError that counts
    what became of the replies.
    """
    table = pairs(frame)
    if not table["readable"].any():
        told = frames.outcomes_told(frame) or "no replies"
        if (frame["outcome"] == "missing").any():
            told += "; judgments='ask' asks for what is missing"
        raise ValueError(f"no test has a readable control and a readable treatment, so nothing can be measured: {told}")
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
