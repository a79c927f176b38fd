"""What two verdicts on the same answers, in both orders, say together: the published classes and our own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

#: The verdicts in shown terms, from much better first (A) to much better second (B).
LABELS = ("A>>B", "A>B", "A=B", "B>A", "B>>A")
#: What a judge that cares for the answers alone says of the same answers in the other order.
MIRRORED = dict(zip(LABELS, reversed(LABELS), strict=True))
#: How far a verdict is in favour of the answer shown first.
GRADES = dict(zip(LABELS, (2, 1, 0, -1, -2), strict=True))
#: 1 where the first wins, -1 where the second does.
SIGNS = {label: (grade > 0) - (grade < 0) for label, grade in GRADES.items()}
NO_BIAS, WEAK, SIGNIFICANT, INVALID = "no_bias", "weak_bias", "significant_bias", "invalid"
KINDS = {
    (one, two): NO_BIAS if two == MIRRORED[one] else WEAK if SIGNS[two] == -SIGNS[one] else SIGNIFICANT
    for one in LABELS
    for two in LABELS
}
#: Which place won decisively in both games, by what it won in each.
BOTH = {(1, 1): "first", (-1, -1): "second"}
#: What makes a comparison, and what makes one of its pairs.
COMPARISON = ["source", "judge", "candidate"]
PAIR = [*COMPARISON, "baseline", "question_id", "category", "condition", "repeat"]
COLUMNS = (*PAIR, "games", "score_1", "score_2", "verdict_1", "verdict_2", "published", "kind", "both", "agree")
_GAMES = {1: "baseline", 2: "candidate"}


def pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """What both games of each comparison say (columns: COLUMNS), from the games frame; one row a question and repeat.

    Game 1 shows the baseline first, game 2 the candidate. `score_1`, `score_2` are the stored strings, `verdict_1`,
    `verdict_2` the labels read from them, None where a game is missing or unreadable. `published` reads the stored
    strings untouched, as its source does: what is none of the nine mirrored patterns is significant, unreadable
    included; None where a line does not hold two games. `kind` reads the labels, "invalid" where one is missing.
    `both` says which place won decisively in both games ("first", "second", ""); `agree`, whether both name the same
    winner or both tie. A pair judged twice in one order is a ValueError.
    """
    parts = {}
    for number, first in _GAMES.items():
        game = frame.loc[frame["first"] == first, [*PAIR, "games", "score", "verdict"]]
        twice = game[game.duplicated(PAIR)]
        if len(twice):
            at = twice.iloc[0]
            raise ValueError(
                f"judge {at['judge']} judged {at['candidate']} on question {at['question_id']} (condition "
                f"{at['condition']}, repeat {at['repeat']}) more than once with the {first} first"
            )
        parts[number] = game
    table = parts[1].merge(parts[2], on=PAIR, how="outer", suffixes=("_1", "_2"))
    table["games"] = table["games_1"].fillna(table["games_2"]).astype(int)
    for name in ("score_1", "score_2", "verdict_1", "verdict_2"):
        table[name] = table[name].astype(object).where(table[name].notna(), None)
    said = list(zip(table["verdict_1"], table["verdict_2"], strict=True))
    signs = [(SIGNS.get(one), SIGNS.get(two)) for one, two in said]
    stored = zip(table["games"], table["score_1"], table["score_2"], strict=True)
    new = {
        "published": [KINDS.get((one, two), SIGNIFICANT) if games == 2 else None for games, one, two in stored],
        "kind": [KINDS.get(pair, INVALID) for pair in said],
        "both": [BOTH.get(pair, "") for pair in signs],
        "agree": [one is not None and two is not None and one == -two for one, two in signs],
    }
    columns = {
        name: pd.Series(values, table.index, bool if name == "agree" else object) for name, values in new.items()
    }
    return table.assign(**columns)[list(COLUMNS)]


def valid(table: pd.DataFrame, condition: str = "none") -> pd.DataFrame:
    """The pairs of a condition whose two verdicts can both be read."""
    return table[(table["condition"] == condition) & (table["kind"] != INVALID)]


def signs(labels: pd.Series, values: Mapping[str, int] = SIGNS) -> np.ndarray:
    """What each label says (SIGNS: 1 where the first wins, -1 the second; or GRADES); NaN for what is no label.

    >>> signs(pd.Series(["A>>B", None, "A=B"])).tolist()
    [1.0, nan, 0.0]
    """
    known = np.array([*(values[label] for label in LABELS), np.nan])
    return known[pd.Index(LABELS).get_indexer(labels.to_numpy(dtype=object))]


def comparisons(table: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Each comparison with its place: judge and candidate, and the source where several hold the same two."""
    each = list(table.groupby(COMPARISON, observed=True, sort=True))
    sources = Counter(key[1:] for key, _ in each)
    for (source, judge, candidate), rows in each:
        where = {"judge": str(judge), "candidate": str(candidate)}
        yield where | ({"source": str(source)} if sources[judge, candidate] > 1 else {}), rows


def places(table: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Each comparison, and then each category of it, where it has several."""
    for where, rows in comparisons(table):
        yield where, rows
        if rows["category"].nunique() > 1:
            for category, part in rows.groupby("category", observed=True, sort=True):
                yield where | {"category": str(category)}, part
