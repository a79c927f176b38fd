"""Whether a wording is preferred: signed effects at equal content, what noise does, and which verdicts were lost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.biases.verbosity.wording import AS_IS, BIASES, CONTENT, CONTROL, PLAIN, REWORDED, STYLE
from helpers.stats.estimates import estimate
from helpers.stats.intervals import MIN_CLUSTERS, Interval, clustered, no_interval
from helpers.stats.tests import sign_flip
from helpers.types import Estimate

LEVEL = 0.05
#: What is said of a p that only says that no drawn pattern reached the sum.
FLOOR = "at its floor"
NO_PAIR = "no pair with two readable verdicts"


def of(table: pd.DataFrame, condition: str, wording: str = AS_IS) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Each judge and bias of one condition and wording, with its readable pairs; an empty table where it has none."""
    mine = table[(table["condition"] == condition) & (table["wording"] == wording)]
    for (judge, bias), rows in mine.groupby(["judge", "bias"], sort=True):
        yield str(judge), str(bias), rows[rows["score"].notna()]


def mean(rows: pd.DataFrame, values: pd.Series, null: float | None = None) -> Interval:
    """A question-clustered mean, stratified by category."""
    if rows.empty:
        return no_interval(math.nan, 0, 0, NO_PAIR)
    question, strata = _clusters(rows)
    sums = np.bincount(question, values.to_numpy(dtype=float))
    return clustered(sums, np.bincount(question), strata=strata, null=null)


def _clusters(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row's question, and the category of each question."""
    question, _ = pd.factorize(rows["question_id"], sort=True)
    _, first = np.unique(question, return_index=True)
    return question, rows["category"].to_numpy()[first]


def tested(rows: pd.DataFrame, seed: int, level: float) -> Interval:
    """The mean score with its interval, and the p of sign flips over questions.

    No p where even the smallest attainable one is above `level`, the one that a correction leaves. Where all questions
    say the same there is no interval, but this test needs none.
    """
    interval = mean(rows, rows["score"])
    if interval.clusters < MIN_CLUSTERS:
        return interval
    question, _ = _clusters(rows)
    # Enough draws that the smallest p lies well below the corrected level.
    found = sign_flip(np.bincount(question, rows["score"]), seed, max(9999, math.ceil(20 / level)))
    if found.smallest_p > level:
        why = f"no test: {found.clusters} questions lean to a side, whose smallest p, {found.smallest_p:.2g}, is above "
        return replace(interval, p=math.nan, method=f"{interval.method}; {why}{level:.2g}")
    floor = f" {FLOOR}" if not found.exact and found.p <= found.smallest_p else ""
    return replace(interval, p=found.p, method=f"{interval.method}; sign-flip p{floor}")


def style_effect(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How much more often a wording wins than the plain one of equal content, in pp; `where`: judge, bias.

    Confirmatory: the three wordings of a judge are one family. With the bias REWORDED it is the control: a frame of as
    many letters that claims nothing. Takes `pairs`; a wording without a readable pair has no number.
    """
    known = {(judge, bias): rows for judge, bias, rows in (*of(table, STYLE), *of(table, CONTROL))}
    order = {bias: i for i, bias in enumerate((*BIASES, REWORDED))}
    return [
        estimate(
            "style_effect",
            {"judge": judge, "bias": bias},
            tested(rows, seed, LEVEL / len(BIASES) if bias in BIASES else LEVEL),
            data,
            "pp",
        )
        for (judge, bias), rows in sorted(known.items(), key=lambda each: (each[0][0], order[each[0][1]]))
    ]


def poorer_win_rate(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How often poorer content beats full content in plain words, in each wording; `where`: judge, bias.

    A tie counts half. With the bias PLAIN both are plain: what is left of it is the judge's own error.
    """
    return [
        estimate("poorer_win_rate", {"judge": judge, "bias": bias}, mean(rows, (rows["score"] + 1) / 2), data)
        for judge, bias, rows in of(table, CONTENT)
    ]


def style_over_content(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How much more often poorer content wins for its wording, in pp; `where`: judge, bias.

    Its win rate in the wording less that in plain words, both against the same full answer, on the questions on which
    both could be read.
    """
    known = {(judge, bias): rows for judge, bias, rows in of(table, CONTENT)}
    return [
        estimate("style_over_content", {"judge": judge, "bias": bias}, _gain(rows, known[judge, PLAIN]), data, "pp")
        for (judge, bias), rows in known.items()
        if bias != PLAIN and (judge, PLAIN) in known
    ]


def _gain(rows: pd.DataFrame, plain: pd.DataFrame) -> Interval:
    """The mean of wins, ties half, less that of plain pairs, over the questions that both have."""
    both = pd.concat([rows.assign(arm=0), plain.assign(arm=1)], ignore_index=True)
    both = both[both["question_id"].isin(set(rows["question_id"]) & set(plain["question_id"]))]
    if both.empty:
        return no_interval(math.nan, 0, 0, NO_PAIR)
    question, strata = _clusters(both)
    cell = 2 * question + both["arm"].to_numpy()
    won = ((both["score"] + 1) / 2).to_numpy()
    sums, counts = (np.bincount(cell, each, 2 * len(strata)).reshape(-1, 2) for each in (won, np.ones(len(won))))
    return clustered(sums, counts, (1.0, -1.0), strata)


def repeat_disagreement(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How often the same two texts in the same order get another winner when asked again; `where`: judge.

    Of the wordings as they are, where both verdicts could be read; nothing where nothing was asked twice.
    """
    mine = table[table["condition"].isin((STYLE, CONTROL))]
    long = mine.melt(
        ["judge", "question_id", "category", "bias", "repeat"], ["tried_first", "other_first"], "order", "said"
    )
    wide = long.set_index(["judge", "question_id", "category", "bias", "order", "repeat"])["said"].unstack("repeat")
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
