"""All numbers of experiment 3 in one list, and the sentences that are computed from them."""

from __future__ import annotations

import pandas as pd

from helpers import frames
from helpers.biases.self_preference import baseline, obfuscation, rates, recognition, scores
from helpers.biases.self_preference.concluding import corrected, finding, smallest_detectable
from helpers.biases.self_preference.items import items
from helpers.types import Estimate

__all__ = ["corrected", "finding", "measure", "published_frame", "smallest_detectable"]


def published_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Of published judgments those that this experiment is about: all of them."""
    return frame


def measure(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every estimate of the experiment from one pair frame; `data` says where the verdicts are from.

    A frame with verdicts of which none are of a pair's both orders is a ValueError that counts what became of them.
    """
    table = items(frame)
    judged = table.loc[table["task"] == "correct", "score"].notna().any()
    frames.require_result(frame, judged, "no pair was judged in both orders")
    return [
        *rates.unreadable_share(frame, data),
        *rates.counts(table, data),
        *rates.accuracies(table, data),
        *rates.own_probability(table, data),
        *baseline.evaluator_quality_gap(table, data, seed),
        *baseline.same_text_other_judges(table, data, seed),
        *obfuscation.obfuscation_effect(table, data, seed),
        *obfuscation.against_other_author(table, data),
        *obfuscation.obfuscation_of_right(table, data, seed),
        *obfuscation.naive_filtered(table, data),
        *scores.harmful_score(table, data),
        *recognition.recognition(table, data, seed),
    ]
