"""How often the order changes the verdict: the published classes over all lines, our own over readable pairs."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from helpers.biases.position.pairs import INVALID, LABELS, NO_BIAS, SIGNIFICANT, WEAK, codes, places
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


def patterns(rows: pd.DataFrame) -> pd.DataFrame:
    """The stored score pairs that the published classes call significant, most frequent first.

    Columns: game_1, game_2 (the stored strings, "None" where null), pairs.
    """
    called = rows[rows["published"] == SIGNIFICANT]
    said = {f"game_{game}": called[f"score_{game}"].astype(object).fillna("None") for game in (1, 2)}
    counts = pd.DataFrame(said).groupby(["game_1", "game_2"]).size().reset_index(name="pairs")
    return counts.sort_values(["pairs", "game_1", "game_2"], ascending=[False, True, True], ignore_index=True)
