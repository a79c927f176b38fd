"""How often the order changes the verdict: the published classes over all lines, our own over readable pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from helpers.biases.position.pairs import (
    COMPARISON,
    INVALID,
    LABELS,
    NO_BIAS,
    SIGNIFICANT,
    WEAK,
    codes,
    pairs,
    places,
)
from helpers.stats.estimates import estimate
from helpers.stats.intervals import Interval, cluster_sums, clustered, no_interval, wilson
from helpers.stats.numbering import clusters_of
from helpers.types import Estimate

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


def share(rows: pd.DataFrame, values: pd.Series, reason: str = "no pair with two readable verdicts") -> Interval:
    """The mean of 0 and 1 over rows: Wilson where each question has one row, else clustered by question."""
    if rows.empty:
        return no_interval(math.nan, 0, 0, reason)
    hits = values.astype(float)
    clusters = clusters_of(rows)
    if not clusters.duplicated().any():
        return wilson(int(hits.sum()), len(hits))
    sums = cluster_sums(pd.DataFrame({"value": hits, "cluster": clusters}), "value", "cluster")
    return clustered(sums.numerators, sums.denominators, null=None)


def class_rates(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How often verdicts mirror, nearly mirror or do not, by either reading; `where`: judge, candidate (, category).

    `no_bias`, `weak_bias`, `significant_bias`, `acceptable_rate` of readable pairs; `invalid_share` of all lines;
    `*_published` of all lines, lines without two games and unreadable ones included, as their source counts. Takes
    `pairs`, uses condition none.
    """
    found = []
    for where, rows in places(table[table["condition"] == "none"]):
        readable = rows[rows["kind"] != INVALID]
        for id, kinds in SHARES.items():
            found.append(estimate(id, where, share(readable, readable["kind"].isin(kinds)), data))
        found.append(estimate("invalid_share", where, share(rows, rows["kind"] == INVALID), data))
        for id, kinds in PUBLISHED.items():
            found.append(estimate(id, where, share(rows, rows["published"].isin(kinds)), data))
    return found


def grid(rows: pd.DataFrame) -> pd.DataFrame:
    """How often each verdict of game 1 met each of game 2: counts (6, 6), both by LABELS and then "invalid"."""
    names = [*LABELS, INVALID]
    one, two = (codes(rows[f"verdict_{game}"]).astype(int) % len(names) for game in (1, 2))  # -1 is the last one
    counts = np.bincount(len(names) * one + two, minlength=len(names) ** 2).reshape(len(names), -1)
    return pd.DataFrame(counts, pd.Index(names, name="game 1"), pd.Index(names, name="verdict_2"))


def patterns(table: pd.DataFrame, data: str) -> pd.DataFrame:
    """How often each pair of stored scores was given in each comparison, overall and by category, most frequent first.

    Columns: source, judge, candidate, category ("all": overall), pattern ("A>>B -> None"), game_1, game_2 (the stored
    strings, "None" where null), class (as published), pairs, share (of all lines, as published), data. Takes `pairs`,
    uses condition none; lines without two games are in no pattern.
    """
    found = []
    for place, rows in _counted(table, data):
        both = rows[rows["games"] == 2]
        scores = {f"game_{game}": both[f"score_{game}"].astype(object).fillna("None").astype(str) for game in (1, 2)}
        keys = [*scores, "class"]
        counts = pd.DataFrame(scores | {"class": both["published"].astype(object)}).groupby(keys).size()
        counts = counts.reset_index(name="pairs").sort_values(
            ["pairs", "game_1", "game_2"], ascending=[False, True, True]
        )
        shown = counts["game_1"] + " -> " + counts["game_2"]
        found.append(counts.assign(**place, pattern=shown, share=counts["pairs"] / len(rows)))
    names = [*COMPARISON, "category", "pattern", "game_1", "game_2", "class", "pairs", "share", "data"]
    return pd.concat(found, ignore_index=True)[names] if found else pd.DataFrame(columns=names)


def class_counts(table: pd.DataFrame, data: str) -> pd.DataFrame:
    """How many lines are of each published class in each comparison, overall and by category.

    Columns: source, judge, candidate, category ("all": overall), lines, then for no_bias, weak_bias, significant_bias,
    any_bias (weak or significant) and acceptable_rate (none or weak) the lines and their share of all lines
    (`<class>_share`), data. Takes `pairs`, uses condition none.
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
