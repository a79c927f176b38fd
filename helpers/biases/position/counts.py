"""The same numbers from published counts of score pairs, where the rows themselves are not published."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from helpers import frames
from helpers.biases.position import classes, effects, sensitivity
from helpers.biases.position.pairs import INVALID, LABELS, pairs
from helpers.types import Estimate

METHOD = "counts, independence assumed"


def games_of(counts: pd.DataFrame, source: str, judge: str, candidate: str, baseline: str = "") -> pd.DataFrame:
    """The games frame that such counts stand for, a question of its own for each pair.

    `counts`: how often each verdict of game 1 (rows) met each of game 2 (columns), both named by LABELS or "invalid".
    Any other name is a ValueError. The names of questions are numbers; their categories are not known.
    """
    names = [*LABELS, INVALID]
    odd = [name for name in [*counts.index, *counts.columns] if name not in names]
    if odd:
        raise ValueError(f"{', '.join(map(str, odd))}: no verdict; they are {', '.join(names)}")
    said = [(one, two) for one in counts.index for two in counts.columns for _ in range(int(counts.loc[one, two]))]
    parts = []
    for game, first in enumerate(("baseline", "candidate")):
        label = [pair[game] if pair[game] != INVALID else None for pair in said]
        parts.append(
            pd.DataFrame(
                {
                    "question_id": [str(number) for number in range(len(said))],
                    "first": first,
                    "score": pd.Series(label, dtype=object),
                    "verdict": pd.Series(label, dtype=object),
                    "outcome": ["invalid" if one is None else "ok" for one in label],
                }
            )
        )
    known = {"source": source, "judge": judge, "candidate": candidate, "baseline": baseline, "condition": "none"}
    known |= {"category": "", "repeat": 0, "games": 2, "candidate_vendor": "", "judge_vendor": "", "judge_model": ""}
    known |= {"experiment": "arena_hard_position_bias"}
    return pd.concat(parts, ignore_index=True).assign(**known)[list(frames.GAMES)]


def from_counts(
    counts: pd.DataFrame, source: str, judge: str, candidate: str, data: str = "published"
) -> list[Estimate]:
    """Class rates, signed effects and their sensitivity from the counts of score pairs (see `games_of`)."""
    table = pairs(games_of(counts, source, judge, candidate))
    found = [
        *classes.class_rates(table, data),
        *effects.first_position_effect(table, data, 0),
        *effects.signed_rates(table, data),
        *sensitivity.sensitivity(table, data),
    ]
    return [replace(each, method=f"{METHOD}: {each.method}") for each in found]
