"""Whether a wording is preferred: signed effects at equal content, what noise does, and which verdicts were lost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.biases.verbosity.wording import AS_IS, BIASES, CONTENT, CONTROL, PLAIN, REWORDED, STYLE
from helpers.stats.estimates import estimate
from helpers.stats.intervals import MIN_CLUSTERS, Interval, added, clustered, no_interval
from helpers.stats.numbering import clusters_of
from helpers.stats.tests import with_sign_flip
from helpers.types import Estimate

LEVEL = 0.05
#: What is said of a p that only says that no drawn pattern reached the sum.
NO_PAIR = "no pair with two readable verdicts"


@dataclass(frozen=True)
class Cells:
    """Sums of scores and numbers of readable pairs of each judge and bias by question; the cluster of each question,
    and each cluster's category.
    """

    sums: dict[tuple[str, str], np.ndarray]
    pairs: dict[tuple[str, str], np.ndarray]
    clusters: np.ndarray
    strata: np.ndarray

    def of(self, at: tuple[str, str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums, pairs and strata of one judge and bias by cluster."""
        return added(self.sums[at], self.clusters), added(self.pairs[at], self.clusters), self.strata


def cells(table: pd.DataFrame, condition: str) -> Cells:
    """The pairs of one condition, wordings as they are. A judge and bias without any readable pair have zeros."""
    mine = table[((table["condition"] == condition) & (table["wording"] == AS_IS)).to_numpy()]
    judge, judges = pd.factorize(mine["judge"], sort=True)
    bias, biases = pd.factorize(mine["bias"], sort=True)
    question, questions = pd.factorize(mine["question_id"], sort=True)
    cluster, strata = _clusters(mine)
    of = np.zeros(len(questions), int)
    of[question] = cluster
    shape = (len(judges), len(biases), len(questions))
    cell = np.ravel_multi_index((judge, bias, question), shape) if len(mine) else np.zeros(0, int)
    score = mine["score"].to_numpy()
    read, size = ~np.isnan(score), int(np.prod(shape))
    sums = np.bincount(cell[read], score[read], size).reshape(shape)
    pairs = np.bincount(cell[read], minlength=size).reshape(shape)
    known = np.bincount(cell, minlength=size).reshape(shape).any(axis=2)
    places = {(str(judges[a]), str(biases[b])): (a, b) for a, b in zip(*np.nonzero(known), strict=True)}
    return Cells({at: sums[i] for at, i in places.items()}, {at: pairs[i] for at, i in places.items()}, of, strata)


def _clusters(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row's cluster, and the category of each; one for all where a cluster lies in two."""
    cluster, _ = pd.factorize(clusters_of(rows), sort=True)
    _, first = np.unique(cluster, return_index=True)
    every = rows["category"].to_numpy()
    strata = every[first]
    return cluster, strata if (strata[cluster] == every).all() else np.zeros(len(strata))


def mean(rows: pd.DataFrame, values: pd.Series, null: float | None = None) -> Interval:
    """A question-clustered mean, stratified by category."""
    if rows.empty:
        return no_interval(math.nan, 0, 0, NO_PAIR)
    cluster, strata = _clusters(rows)
    sums = np.bincount(cluster, values.to_numpy(dtype=float))
    return clustered(sums, np.bincount(cluster), strata=strata, null=null)


def tested(sums: np.ndarray, pairs: np.ndarray, strata: np.ndarray, seed: int, level: float) -> Interval:
    """The mean score with its interval, and the p of sign flips over questions.

    No p where even the smallest attainable one is above `level`, the one that a correction leaves. Where all questions
    say the same there is no interval, but this test needs none.
    """
    interval = clustered(sums, pairs, strata=strata)
    if not interval.clusters:
        return no_interval(math.nan, 0, 0, NO_PAIR)
    if interval.clusters < MIN_CLUSTERS:
        return interval
    return with_sign_flip(interval, sums[pairs > 0], seed, level, "questions lean to a side")


def style_effect(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How much more often a wording wins than the plain one of equal content, in pp; `where`: judge, bias.

    Confirmatory: the wordings of all judges are one family. With the bias REWORDED it is the control: a frame of as
    many letters that claims nothing. Takes `pairs`; a wording without a readable pair has no number.
    """
    found, order = {}, {bias: i for i, bias in enumerate((*BIASES, REWORDED))}
    for condition in (STYLE, CONTROL):
        each = cells(table, condition)
        level = LEVEL / max(1, len(each.sums)) if condition == STYLE else LEVEL
        found |= {at: tested(*each.of(at), seed, level) for at in each.sums}
    return [
        estimate("style_effect", {"judge": judge, "bias": bias}, found[judge, bias], data, "pp")
        for judge, bias in sorted(found, key=lambda at: (at[0], order[at[1]]))
    ]


def poorer_win_rate(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How often poorer content beats full content in plain words, in each wording; `where`: judge, bias.

    A tie counts half. With the bias PLAIN both are plain: what is left of it is the judge's own error.
    """
    each = cells(table, CONTENT)
    return [estimate("poorer_win_rate", {"judge": at[0], "bias": at[1]}, _rate(*each.of(at)), data) for at in each.sums]


def _rate(sums: np.ndarray, pairs: np.ndarray, strata: np.ndarray) -> Interval:
    interval = clustered((sums + pairs) / 2, pairs, strata=strata, null=None)
    return interval if interval.clusters else no_interval(math.nan, 0, 0, NO_PAIR)


def style_over_content(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How much more often poorer content wins for its wording, in pp; `where`: judge, bias.

    Its win rate in the wording less that in plain words, both against the same full answer, on the questions on which
    both could be read.
    """
    each, found = cells(table, CONTENT), []
    for (judge, bias), sums in each.sums.items():
        plain = judge, PLAIN
        if bias == PLAIN or plain not in each.sums:
            continue
        pairs = np.column_stack([each.pairs[judge, bias], each.pairs[plain]])
        won, both = (np.column_stack([sums, each.sums[plain]]) + pairs) / 2, (pairs > 0).all(axis=1)
        interval = no_interval(math.nan, 0, 0, NO_PAIR)
        if both.any():
            kept, codes = np.unique(each.clusters[both], return_inverse=True)
            won, pairs = added(won[both], codes), added(pairs[both], codes)
            interval = clustered(won, pairs, (1.0, -1.0), each.strata[kept])
        found.append(estimate("style_over_content", {"judge": judge, "bias": bias}, interval, data, "pp"))
    return found


def repeat_disagreement(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How often the same two texts in the same order get another winner when asked again; `where`: judge.

    Of the wordings as they are, where both verdicts could be read; nothing where nothing was asked twice.
    """
    mine = table[table["condition"].isin((STYLE, CONTROL))]
    keys = ["judge", "question_id", "cluster", "category", "bias"]
    mine = mine.assign(cluster=clusters_of(mine))
    long = mine.melt([*keys, "repeat"], ["tried_first", "other_first"], "order", "said")
    wide = long.set_index([*keys, "order", "repeat"])["said"].unstack("repeat")
    if wide.shape[1] < 2:
        return []
    said = wide.to_numpy()
    one, other = np.triu_indices(said.shape[1], 1)
    differ = np.where(np.isnan(said[:, one] + said[:, other]), np.nan, said[:, one] != said[:, other])
    rows = wide.index.to_frame(index=False).assign(value=_means(differ))
    return [
        estimate("repeat_disagreement", {"judge": str(judge)}, mean(each, each["value"]), data)
        for judge, each in rows[rows["value"].notna()].groupby("judge", sort=True)
    ]


def _means(values: np.ndarray) -> np.ndarray:
    """The mean of each row without its NaN; NaN of a row that has nothing else."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    return np.divide(np.where(known, values, 0.0).sum(axis=1), count, out=np.full(len(values), np.nan), where=count > 0)


def invalid_share(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How many pairs have no two readable verdicts; `where`: judge, and also condition."""
    found = []
    for keys in (["judge"], ["judge", "condition"]):
        for names, rows in table.groupby(keys, sort=True):
            where = dict(zip(keys, map(str, names), strict=True))
            found.append(estimate("invalid_share", where, mean(rows, rows["score"].isna()), data))
    return found
