"""All numbers of experiment 5 in one list."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import pandas as pd

from helpers import frames
from helpers.biases.cognitive import effects, scale_batches, seed_batches, slopes, thresholds
from helpers.biases.cognitive.families import place
from helpers.biases.cognitive.pairs import pairs
from helpers.stats.standing import BY
from helpers.types import Estimate


def measure(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every estimate of the experiment from one decisions frame; `data` says where the decisions are from.

    A frame with readable replies of which none are a control and a treatment of one wording is a ValueError that counts
    what became of them. Of a judge that answers by place or letter no effect is computed, and `method` says so.
    """
    table, shares = pairs(frame), effects.habit_share(frame, data)
    by_habit = {place({"bias": "", **e.where}): e.method for e in shares if e.method.startswith(BY)}
    answered = table["readable"].any() or bool(by_habit)
    frames.require_result(frame, answered, "no test has a readable control and a readable treatment")
    found = [
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
    ]
    found = [replace(e, method=_reason(place(e.where), by_habit) or e.method) if isnan(e.value) else e for e in found]
    return [*found, *effects.odd_share(frame, data), *shares]


def _reason(at: tuple[str, ...], by_habit: dict[tuple[str, ...], str]) -> str:
    """The habit that takes a number of this bias and judge away, or those of all judges one of their means."""
    if len(at) > 1:
        return by_habit.get(("", *at[1:])) or by_habit.get(at, "")
    # What holds of all biases comes last, and counts.
    return "; ".join(
        f"{who}: {how}" for who, how in {one[1]: by_habit[one] for one in by_habit if one[0] in ("", *at)}.items()
    )
