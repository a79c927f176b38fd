"""The same numbers from published counts of score pairs, where the rows themselves are not published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from helpers import frames
from helpers.biases.position import classes, effects, flips, sensitivity
from helpers.biases.position.pairs import INVALID, LABELS
from helpers.types import Estimate

METHOD = "counts, independence assumed"
#: A cell of the counts: the verdict of game 1 and that of game 2.
Cell = tuple[str, str]


def games_of(
    counts: pd.DataFrame,
    source: str,
    judge: str,
    candidate: str,
    baseline: str = "",
    *,
    condition: str = "none",
    one_game: Mapping[Cell, int] | None = None,
    other_strings: Mapping[Cell, int] | None = None,
) -> pd.DataFrame:
    """The games frame that such counts stand for, a question of its own for each pair.

    `counts`: how often each verdict of game 1 (rows) met each of game 2 (columns), both named by LABELS or "invalid".
    Of the pairs in a cell, `one_game` had no second game, and the strings stored for `other_strings` are not the labels
    letter by letter (here they stand in brackets). Any other name, a count that is none, and more of these than the
    cell holds are a ValueError. The names of questions are numbers; their categories are not known.
    """
    said = list(_pairs(counts, one_game or {}, other_strings or {}))
    parts = []
    for game, first in enumerate(("baseline", "candidate")):
        label = [pair[game] if pair[game] != INVALID else None for pair, _, _ in said]
        stored = [f"[{one}]" if one and bracketed else one for one, (_, _, bracketed) in zip(label, said, strict=True)]
        lost = ["missing" if game and games == 1 else "invalid" for _, games, _ in said]
        parts.append(
            pd.DataFrame(
                {
                    "question_id": [str(number) for number in range(len(said))],
                    "first": first,
                    "score": pd.Series(stored, dtype=object),
                    "verdict": pd.Series(label, dtype=object),
                    "outcome": [why if one is None else "ok" for one, why in zip(label, lost, strict=True)],
                    "games": [games for _, games, _ in said],
                }
            )
        )
    known = {"source": source, "judge": judge, "candidate": candidate, "baseline": baseline, "condition": condition}
    known |= {"category": "", "repeat": 0, "candidate_vendor": "", "judge_vendor": "", "judge_model": ""}
    known |= {"experiment": "arena_hard_position_bias"}
    return pd.concat(parts, ignore_index=True).assign(**known)[list(frames.GAMES)]


def _pairs(
    counts: pd.DataFrame, one_game: Mapping[Cell, int], other_strings: Mapping[Cell, int]
) -> Iterator[tuple[Cell, int, bool]]:
    """Each pair that was counted: its cell, how many games its line holds, whether its strings are other ones."""
    names = [*LABELS, INVALID]
    cells = {(one, two): counts.loc[one, two] for one in counts.index for two in counts.columns}
    odd = [name for name in [*counts.index, *counts.columns] if name not in names]
    odd += [" ".join(cell) for cell in (*one_game, *other_strings) if cell not in cells]
    if odd:
        raise ValueError(f"{', '.join(map(str, odd))}: no verdict; they are {', '.join(names)}")
    for (one, two), count in cells.items():
        short, other = one_game.get((one, two), 0), other_strings.get((one, two), 0)
        if count < 0 or count % 1 or short + other > count:
            raise ValueError(f"{one} {two}: {count} pairs, {short} of one game, {other} of other strings: no count")
        for place in range(int(count)):
            yield (one, two), 1 if place < short else 2, place >= count - other


def from_pairs(table: pd.DataFrame, data: str = "published") -> list[Estimate]:
    """Class rates, signed effects and their sensitivity from the counts of score pairs, each source for itself.

    Takes `pairs` of frames from `games_of`, of all sources at once: what a correction costs depends on how many there
    are. Classes are told of identical texts too, whose lines were counted with the
    others; the signed effect of those is `identical_pair_effect`.
    """
    found = [
        *classes.class_rates(table.assign(condition="none"), data),
        *effects.first_position_effect(table, data, 0),
        *effects.signed_rates(table, data),
        *flips.control_arms(table, data, 0),
        *sensitivity.sensitivity(table, data),
    ]
    return [replace(each, method=f"{METHOD}: {each.method}") for each in found]
