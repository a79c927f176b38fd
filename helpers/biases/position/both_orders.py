"""What two verdicts on the same answers, in both orders, say together: classes and signed effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from ...stats.intervals import MIN_CLUSTERS, Interval, clusters_of
from ...stats.standing import LEVEL
from ...stats.tests import SignFlip, mcnemar_exact, with_test
from ..protocol import EXACT, SIGNS, Numbers, estimator, mean_interval, mean_with_flips, share_interval

#: The verdicts in shown terms, from much better first (A) to much better second (B).
LABELS = tuple(SIGNS)
#: What a judge that cares for the answers alone says of the same answers in the other order.
MIRRORED = dict(zip(LABELS, reversed(LABELS), strict=True))
#: How far a verdict is in favour of the answer shown first.
GRADES = dict(zip(LABELS, (2, 1, 0, -1, -2), strict=True))
NO_BIAS, WEAK, SIGNIFICANT, INVALID = "no_bias", "weak_bias", "significant_bias", "invalid"
KINDS = {
    (one, two): NO_BIAS if two == MIRRORED[one] else WEAK if SIGNS[two] == -SIGNS[one] else SIGNIFICANT
    for one in LABELS
    for two in LABELS
}
#: Which place won decisively in both games, by what it won in each.
BOTH = {(1.0, 1.0): "first", (-1.0, -1.0): "second"}
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
        table = np.append(_LABELS.get_indexer(labels.array.categories), -1).astype(np.int8)
        return table[labels.array.codes]
    return _LABELS.get_indexer(labels.to_numpy(dtype=object)).astype(np.int8)


def _meaning(one: str | None, two: str | None) -> tuple[str, str, str, bool]:
    """Of two labels the class as published (no label mirrors another), the class, the place, whether they agree."""
    kind, place = KINDS.get((one, two)), BOTH.get((SIGNS.get(one, 0), SIGNS.get(two, 0)), "")
    return kind or SIGNIFICANT, kind or INVALID, place, kind in (NO_BIAS, WEAK)


_LABELS, _MEANT = pd.Index(LABELS), ("published", "kind", "both", "agree")
_KNOWN = (None, *LABELS)
#: What each pair of codes means, by 6 times that of game 1 and that of game 2, both counted from 1.
CELLS = pd.DataFrame([_meaning(one, two) for one in _KNOWN for two in _KNOWN], columns=[*_MEANT]).astype(
    dict(zip(_MEANT, map(pd.CategoricalDtype, (CLASSES, CLASSES, PLACES)), strict=False))
)


def cells(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The row of CELLS that each pair of codes means: (N,) bytes."""
    return (one + np.int8(1)) * np.int8(len(_KNOWN)) + (two + np.int8(1))


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
    number = frame.groupby(PAIR, observed=True, dropna=False).ngroup().to_numpy()
    at = [_rows(frame, number, first) for first in _GAMES.values()]
    groups = frame[[*PAIR]].assign(cluster=clusters_of(frame)).iloc[np.where(at[0] >= 0, *at)].reset_index(drop=True)
    columns = {**groups, "games": _games(frame, at)}
    for name in ("score", "verdict"):
        words = frame[name].astype("category").array
        for game, rows in zip(_GAMES, at, strict=True):
            columns[f"{name}_{game}"] = pd.Series(words.take(rows, allow_fill=True))
    stored, read = ([codes(columns[f"{name}_{game}"]) for game in _GAMES] for name in ("score", "verdict"))
    meant, published = CELLS.take(cells(*read)), CELLS["published"].take(cells(*stored))
    columns |= {**meant.reset_index(drop=True)}
    columns["published"] = published.reset_index(drop=True).where(columns["games"] == 2)
    return pd.DataFrame(columns)[list(COLUMNS)]


def _games(frame: pd.DataFrame, at: Sequence[np.ndarray]) -> pd.Series:
    """How many games the line of each pair holds, as either of its rows says."""
    asked = np.append(frame["games"].to_numpy(dtype=float), np.nan)
    games = np.where(np.isnan(asked[at[0]]), asked[at[1]], asked[at[0]])
    if np.isnan(games).any():
        row = frame.iloc[max(rows[np.isnan(games).argmax()] for rows in at)]
        raise ValueError(f"games of {row['candidate']} on question {row['question_id']}: none found; need 1 or 2")
    return pd.Series(games.astype(int))


def _rows(frame: pd.DataFrame, number: np.ndarray, first: str) -> np.ndarray:
    """In which row the game with this place first stands, of each pair by its number; -1 where it is missing."""
    rows = np.flatnonzero(frame["first"] == first)
    twice = pd.Series(number[rows]).duplicated().to_numpy()
    if twice.any():
        at = frame.iloc[rows[twice.argmax()]]
        raise ValueError(
            f"judge {at['judge']} judged {at['candidate']} on question {at['question_id']} (condition "
            f"{at['condition']}, repeat {at['repeat']}) more than once with the {first} first"
        )
    found = np.full(number.max(initial=-1) + 1, -1)
    found[number[rows]] = rows
    return found


def valid(table: pd.DataFrame) -> pd.DataFrame:
    """The pairs of condition none whose two verdicts can both be read."""
    return table[(table["condition"] == "none") & (table["kind"] != INVALID)]


def signs(labels: pd.Series, values: Mapping[str, float] = SIGNS) -> np.ndarray:
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


#: Shares by the classes that they add up.
SHARES = {
    "no_bias": (NO_BIAS,),
    "weak_bias": (WEAK,),
    "significant_bias": (SIGNIFICANT,),
    "acceptable_rate": (NO_BIAS, WEAK),
}
PUBLISHED = {f"{id}_published": kinds for id, kinds in SHARES.items()}
PUBLISHED["any_bias_published"] = (WEAK, SIGNIFICANT)
#: In counts by category, all of them together.
ALL = "all"


NO_PAIR = "no pair with two readable verdicts"
share = partial(share_interval, reason=NO_PAIR)


@estimator("position")
def class_rates(table: pd.DataFrame) -> Numbers:
    """How often verdicts mirror, nearly mirror or do not, by either reading; `where`: judge, candidate (, category).

    Takes `pairs`, uses condition none. The published rates are of all lines, unreadable ones included.
    """
    for where, rows in places(table[table["condition"] == "none"]):
        readable = rows[rows["kind"] != INVALID]
        yield from ((id, where, share(readable, readable["kind"].isin(kinds))) for id, kinds in SHARES.items())
        yield "invalid_share", where, share(rows, rows["kind"] == INVALID)
        yield from ((id, where, share(rows, rows["published"].isin(kinds))) for id, kinds in PUBLISHED.items())


def grid(rows: pd.DataFrame) -> pd.DataFrame:
    """How often each verdict of game 1 met each of game 2: counts (6, 6), both by LABELS and then "invalid"."""
    names = [*LABELS, INVALID]
    one, two = (codes(rows[f"verdict_{game}"]).astype(int) % len(names) for game in (1, 2))  # -1 is the last one
    counts = np.bincount(len(names) * one + two, minlength=len(names) ** 2).reshape(len(names), -1)
    return pd.DataFrame(counts, pd.Index(names, name="game 1"), pd.Index(names, name="verdict_2"))


def cell_rows(counts: pd.DataFrame, data: str, **place: str) -> pd.DataFrame:
    """A row a cell of `grid`: game_1, game_2 (labels or "invalid"), count, the place and data."""
    named = counts.rename_axis(index="game_1", columns="game_2")
    return named.stack().rename("count").reset_index().assign(**place, data=data)


def patterns(table: pd.DataFrame, data: str) -> pd.DataFrame:
    """How often each pair of stored scores was given in each comparison, overall and by category, most frequent first.

    Columns: source, judge, candidate, category ("all": overall), pattern ("A>>B -> None"), game_1, game_2 (the stored
    strings), class (as published), pairs, share (of all lines), data. Takes `pairs`, uses condition none; lines without
    two games are in no pattern.
    """
    found = []
    for place, rows in _counted(table, data):
        both = rows.loc[rows["games"] == 2, ["score_1", "score_2", "published"]].astype(object).fillna("None")
        both = both.set_axis(["game_1", "game_2", "class"], axis=1).astype(str)
        counts = both.value_counts().reset_index(name="pairs")
        counts = counts.sort_values(["pairs", "game_1", "game_2"], ascending=[False, True, True])
        shown = counts["game_1"] + " -> " + counts["game_2"]
        found.append(counts.assign(**place, pattern=shown, share=counts["pairs"] / len(rows)))
    names = [*COMPARISON, "category", "pattern", "game_1", "game_2", "class", "pairs", "share", "data"]
    return pd.concat(found, ignore_index=True)[names] if found else pd.DataFrame(columns=names)


def class_counts(table: pd.DataFrame, data: str) -> pd.DataFrame:
    """How many lines are of each published class in each comparison, overall and by category.

    Columns: source, judge, candidate, category ("all": overall), lines, each class of PUBLISHED and its share of all
    lines (`<class>_share`), data. Takes `pairs`, uses condition none.
    """
    found = []
    for place, rows in _counted(table, data):
        called = {id.removesuffix("_published"): rows["published"].isin(kinds) for id, kinds in PUBLISHED.items()}
        counts = {id: each.sum() for id, each in called.items()}
        shares = {f"{id}_share": each.mean() for id, each in called.items()}
        found.append({**place, "lines": len(rows), **counts, **shares})
    frame = pd.DataFrame(found)
    return frame[[*COMPARISON, *frame.columns.drop([*COMPARISON, "data"]), "data"]] if found else frame


def count_tables(frame: pd.DataFrame, data: str) -> list[tuple[str, pd.DataFrame, str, pd.DataFrame]]:
    """`class_counts` and `patterns` of a games frame as tables: name, frame to read, caption and frame for CSV.

    Patterns are read overall, a column a comparison; shares and categories are in the CSV.
    """
    table = pairs(frame)
    counts, every = class_counts(table, data), patterns(table, data)
    if counts.empty:
        return []
    overall = every[every["category"] == ALL]
    names = overall["judge"] + " on " + overall["candidate"]
    if counts["source"].nunique() > 1:
        names += " (" + overall["source"] + ")"
    wide = overall.pivot_table("pairs", ["pattern", "class"], names.rename(None), "sum", fill_value=0, sort=False)
    wide = wide.loc[wide.sum(axis=1).sort_values(ascending=False, kind="stable").index].reset_index()
    classes = (
        "Lines of each published class, of all lines; any_bias: weak or significant, acceptable_rate: none or weak."
    )
    scores = "Every pair of stored scores (None: null), with the baseline first and then with the candidate first."
    read = counts.drop(columns="source") if counts["source"].nunique() == 1 else counts
    return [("class_counts", read.round(4), classes, counts), ("patterns", wide.assign(data=data), scores, every)]


def _counted(table: pd.DataFrame, data: str) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Each comparison, and each category of it, with what its rows of counts say of themselves."""
    for where, rows in places(table[table["condition"] == "none"]):
        yield {"source": str(rows["source"].iloc[0]), "category": ALL, **where, "data": data}, rows


MOVED = "questions lean to a place"


def sign_flip_interval(
    values: pd.Series, questions: pd.Series, seed: int, reason: str, level: float = LEVEL
) -> Interval:
    """The mean of signed values, clustered by question, with the p of sign flips over questions.

    With one value of -1, 0 or 1 a question that is the exact binomial test of McNemar. No p where even the smallest
    attainable one would not be below `level`, the one that a correction leaves. Where all questions say the same (a
    judge that always names the first place) there is no interval, but these tests need none.
    """
    rows = pd.DataFrame({"value": values, "question_id": questions})
    if questions.duplicated().any() or not values.isin([-1, 0, 1]).all():
        return mean_with_flips(rows, values, seed, level, MOVED, reason=reason)
    interval = mean_interval(rows, values, reason=reason)
    up, down = int((values > 0).sum()), int((values < 0).sum())
    if interval.clusters < MIN_CLUSTERS or not up + down:
        return interval
    test = SignFlip(mcnemar_exact(up, down), 2.0 ** (1 - up - down), up + down, True)
    return with_test(interval, test, level, MOVED, EXACT)


def verdicts(rows: pd.DataFrame) -> pd.DataFrame:
    """What each verdict of readable pairs says for the answer shown first, and for the candidate; one row a verdict.

    Columns: question_id, category, baseline, cluster, game; `sign` (1, 0, -1) and `grade` (2 to -2) in favour of the
    first; `for_candidate` (1, 0, -1); `strong`.
    """
    kept = rows[["question_id", "category", "baseline"]].assign(cluster=clusters_of(rows))
    label = pd.concat([rows["verdict_1"], rows["verdict_2"]], ignore_index=True)
    sign, grade, game = signs(label), signs(label, GRADES), np.repeat([1, 2], len(rows))
    return pd.concat([kept, kept], ignore_index=True).assign(
        game=game, sign=sign, grade=grade, for_candidate=np.where(game == 1, -1, 1) * sign, strong=np.abs(grade) == 2
    )


def signed(rows: pd.DataFrame) -> pd.Series:
    """1 where the first won both games, -1 where the second did, else 0."""
    both = rows["both"]
    return ((both == "first").astype(float) - (both == "second")).rename("both")


def leaning(rows: pd.DataFrame) -> pd.Series:
    """As `signed`, and 1/2 for the place that won one game where the other was a tie."""
    one, two = (signs(rows[f"verdict_{game}"]) for game in (1, 2))
    return pd.Series(np.nan_to_num((one + two) / 2), rows.index)


@estimator("position")
def first_position_effect(table: pd.DataFrame, seed: int) -> Numbers:
    """How much more often the first place wins both games than the second does, in pp; readable pairs, condition none.

    `where`: judge, candidate (the confirmatory family), and with category (exploratory). Takes `pairs`.
    """
    # Some comparisons turn out to have no test; the level left for the others is never smaller than this one.
    level = LEVEL / max(1, sum(1 for _ in comparisons(valid(table))))
    for where, rows in places(table[table["condition"] == "none"]):
        rows, at = rows[rows["kind"] != INVALID], LEVEL if "category" in where else level
        interval = sign_flip_interval(signed(rows), clusters_of(rows), seed, NO_PAIR, at)
        yield "first_position_effect", where, interval


@estimator("position")
def signed_rates(table: pd.DataFrame) -> Numbers:
    """The parts and companions of the first-position effect; `where`: judge, candidate. Takes `pairs`.

    The raw score of Shi et al. 2024 is `preference_fairness` times the readable pairs.
    """
    for where, rows in comparisons(table[table["condition"] == "none"]):
        rows = rows[rows["kind"] != INVALID]
        lean, each = leaning(rows), verdicts(rows)
        decisive = each[each["sign"] != 0]
        fairness = -(lean > 0).astype(float) + (lean < 0)
        numbers = {
            "position_consistency": share(rows, rows["agree"]),
            "primacy_share": share(rows, rows["both"] == "first"),
            "recency_share": share(rows, rows["both"] == "second"),
            "first_win_rate": mean_interval(decisive, (decisive["sign"] > 0) * 1.0, reason="no decisive verdict"),
            "graded_position_effect": mean_interval(each, each["grade"], reason=NO_PAIR),
            "preference_fairness": mean_interval(rows, fairness, reason=NO_PAIR),
        }
        yield from ((id, where, interval) for id, interval in numbers.items())
