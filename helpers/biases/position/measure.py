"""All numbers of experiment 4 in one list."""

from __future__ import annotations

import pandas as pd

from helpers import frames
from helpers.biases.position import classes, effects, flips, sensitivity, winrates
from helpers.biases.position.pairs import INVALID, pairs
from helpers.types import Estimate


def published_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Of published verdicts those that this experiment is about: all of them."""
    return frame


def measure(frame: pd.DataFrame, data: str, seed: int, features: pd.DataFrame | None = None) -> list[Estimate]:
    """Every estimate of the experiment from one games frame; `data` says where the verdicts are from.

    `features`, a row an answer (question_id, candidate, length, headers, lists, bold), adds win rates at equal style.
    A frame with verdicts of which none are of a pair's both orders is a ValueError that counts what became of them.
    """
    table = pairs(frame)
    lacking = "no pair was judged readably in both orders"
    if frame["first"].nunique() == 1:
        lacking += " (these verdicts were given in one order only, or do not say in which)"
    frames.require_result(frame, (table["kind"] != INVALID).any(), lacking)
    return [
        *classes.class_rates(table, data),
        *effects.first_position_effect(table, data, seed),
        *effects.signed_rates(table, data),
        *flips.excess_flip(table, data, seed),
        *flips.control_arms(table, data, seed),
        *flips.flip_by_gap(table, data),
        *winrates.win_rate(table, data, features),
        *sensitivity.sensitivity(table, data),
    ]
