"""What two verdicts on the same answers, in both orders, say together: the published classes and our own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.stats.numbering import clusters_of, codes_of, combined

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
#: The words for classes and places in the order of their categories.
CLASSES = (INVALID, NO_BIAS, SIGNIFICANT, WEAK)
PLACES = ("", "first", "second")
#: What makes a comparison, and what makes one of its pairs.
COMPARISON = ["source", "judge", "candidate"]
PAIR = [*COMPARISON, "baseline", "question_id", "category", "condition", "repeat"]
COLUMNS = (
    *(*PAIR, "cluster", "games", "score_1", "score_2", "verdict_1", "verdict_2"),
    *("published", "kind", "both", "agree"),
)
_GAMES = {1: "baseline", 2: "candidate"}


def codes(labels: pd.Series) -> np.ndarray:
    """The place of each label in LABELS, -1 for what is no label: (N,) of one byte each.

    >>> codes(pd.Series(["B>>A", None, "A=B", "nonsense"])).tolist()
    [4, -1, 2, -1]
    """
    if isinstance(labels.dtype, pd.CategoricalDtype):
        known = np.append(_LABELS.get_indexer(labels.array.categories), -1).astype(np.int8)
        return known[labels.array.codes]
    return _LABELS.get_indexer(labels.to_numpy(dtype=object)).astype(np.int8)


def kinds(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The class of each pair of verdicts, by codes: `one` of game 1, `two` of game 2 -> places in CLASSES, (N,) bytes.

    >>> one, two = codes(pd.Series(["A>B", "A>B", None])), codes(pd.Series(["B>A", "A=B", "A=B"]))
    >>> [CLASSES[code] for code in kinds(one, two)]
    ['no_bias', 'significant_bias', 'invalid']
    """
    return _KIND[_cell(one, two)]


def _cell(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The number of each pair of codes in a list of all pairs, of which `_table` makes a list of what they mean."""
    return (one + np.int8(1)) * np.int8(len(LABELS) + 1) + (two + np.int8(1))


def _table(of: Callable[[str | None, str | None], float], dtype: type) -> np.ndarray:
    return np.array([of(one, two) for one in (None, *LABELS) for two in (None, *LABELS)], dtype=dtype)


_LABELS = pd.Index(LABELS)
_KIND = _table(lambda one, two: CLASSES.index(KINDS.get((one, two), INVALID)), np.int8)
#: As the published classes have it: what is no label is none of the mirrored patterns.
_PUBLISHED = _table(lambda one, two: CLASSES.index(KINDS.get((one, two), SIGNIFICANT)), np.int8)
_BOTH = _table(lambda one, two: PLACES.index(BOTH.get((SIGNS.get(one), SIGNS.get(two)), "")), np.int8)
_AGREE = _table(lambda one, two: one in SIGNS and two in SIGNS and SIGNS[one] == -SIGNS[two], bool)


def pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """What both games of each comparison say (columns: COLUMNS), from the games frame; one row a question and repeat.

    Game 1 shows the baseline first, game 2 the candidate. Rows are in the order of PAIR. `score_1`, `score_2` are the
    stored strings, `verdict_1`, `verdict_2` the labels read from them, missing where a game is missing or unreadable.
    `published` reads the stored strings untouched, as its source does: what is none of the nine mirrored patterns is
    significant, unreadable included; missing where a line does not hold two games. `kind` reads the labels, "invalid"
    where one is missing. `both` says which place won decisively in both games ("first", "second", ""); `agree`,
    whether both name the same winner or both tie. Words are categories. A pair judged twice in one order is a
    ValueError.
    """
    frame = frame[frame["first"].isin([*_GAMES.values()])].reset_index(drop=True)
    number, size = combined([codes_of(frame[name]) for name in PAIR], len(frame))
    at = [_rows(frame, number, size, first) for first in _GAMES.values()]
    known = frame[[*PAIR]].assign(cluster=clusters_of(frame)).iloc[np.where(at[0] >= 0, *at)].reset_index(drop=True)
    columns = {**known, "games": _games(frame, at)}
    for name in ("score", "verdict"):
        words = frame[name].astype("category").array
        for game, rows in zip(_GAMES, at, strict=True):
            columns[f"{name}_{game}"] = pd.Series(words.take(rows, allow_fill=True))
    stored, said = ([codes(columns[f"{name}_{game}"]) for game in _GAMES] for name in ("score", "verdict"))
    cell = _cell(*said)
    published = np.where(columns["games"] == 2, _PUBLISHED[_cell(*stored)], np.int8(-1))
    columns["published"] = pd.Categorical.from_codes(published, CLASSES)
    columns["kind"] = pd.Categorical.from_codes(_KIND[cell], CLASSES)
    columns["both"] = pd.Categorical.from_codes(_BOTH[cell], PLACES)
    return pd.DataFrame(columns | {"agree": _AGREE[cell]})[list(COLUMNS)]


def _games(frame: pd.DataFrame, at: Sequence[np.ndarray]) -> pd.Series:
    """How many games the line of each pair holds, as either of its rows says."""
    said = np.append(frame["games"].to_numpy(dtype=float), np.nan)
    games = np.where(np.isnan(said[at[0]]), said[at[1]], said[at[0]])
    if np.isnan(games).any():
        row = frame.iloc[max(rows[np.isnan(games).argmax()] for rows in at)]
        raise ValueError(f"games of {row['candidate']} on question {row['question_id']}: none found; need 1 or 2")
    return pd.Series(games.astype(int))


def _rows(frame: pd.DataFrame, number: np.ndarray, size: int, first: str) -> np.ndarray:
    """In which row the game with this place first stands, of each of `size` pairs; -1 where it is missing."""
    rows = np.flatnonzero(frame["first"] == first)
    twice = pd.Series(number[rows]).duplicated().to_numpy()
    if twice.any():
        at = frame.iloc[rows[twice.argmax()]]
        raise ValueError(
            f"judge {at['judge']} judged {at['candidate']} on question {at['question_id']} (condition "
            f"{at['condition']}, repeat {at['repeat']}) more than once with the {first} first"
        )
    found = np.full(size, -1)
    found[number[rows]] = rows
    return found


def valid(table: pd.DataFrame, condition: str = "none") -> pd.DataFrame:
    """The pairs of a condition whose two verdicts can both be read."""
    return table[(table["condition"] == condition) & (table["kind"] != INVALID)]


def signs(labels: pd.Series, values: Mapping[str, int] = SIGNS) -> np.ndarray:
    """What each label says (SIGNS: 1 where the first wins, -1 the second; or GRADES); NaN for what is no label.

    >>> signs(pd.Series(["A>>B", None, "A=B"])).tolist()
    [1.0, nan, 0.0]
    """
    return np.array([*(values[label] for label in LABELS), np.nan])[codes(labels)]


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
