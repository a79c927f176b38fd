"""All numbers of experiment 6 in one list."""

from __future__ import annotations

import pandas as pd

from helpers import frames
from helpers.biases.verbosity import effects, known, lengths
from helpers.biases.verbosity.tidying import pairs
from helpers.types import Estimate


def measure(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every estimate of the experiment from one frame of `tidy`; `data` says where the verdicts are from.

    A frame with verdicts of which none are of a pair's both orders is a ValueError that counts what became of them.
    """
    table = pairs(frame)
    frames.require_result(frame, table["score"].notna().any(), "no pair was judged readably in both orders")
    return [
        *effects.style_effect(table, data, seed),
        *lengths.length_controlled(table, data),
        *effects.poorer_win_rate(table, data),
        *effects.style_over_content(table, data),
        *effects.repeat_disagreement(table, data),
        *effects.invalid_share(table, data),
        *known.known_pairs(table, data, seed),
    ]
