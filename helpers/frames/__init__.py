"""Judgments as tidy tables: one row a judgment and candidate, with everything that an estimator may ask for."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from helpers.frames.coding import recoded
from helpers.frames.decisions import DECISIONS, decisions
from helpers.frames.games import GAMES, games
from helpers.frames.listwise import LISTWISE, listwise
from helpers.frames.pairwise import PAIRWISE, pairwise
from helpers.frames.written import written

__all__ = [
    "DECISIONS",
    "GAMES",
    "LISTWISE",
    "PAIRWISE",
    "decisions",
    "games",
    "listwise",
    "losses",
    "one_row_each",
    "outcomes_told",
    "pairwise",
    "picks",
    "recoded",
    "written",
]


def picks(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a valid judgment: what was put first, with the judge's columns and the first choice's own.

    Columns: question_id, category, judge, judge_vendor, judge_tier, condition, repeat, candidate, candidate_vendor,
    candidate_tier, slot, label, own_vendor, own_model.
    """
    return frame[frame["top"] == 1.0].reset_index(drop=True)


def one_row_each(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a judgment, valid or not: for counting judgments and outcomes, not for anything about a candidate."""
    if {"task", "games", "wording"} & {*frame}:  # these have a row a judgment already
        return frame
    return frame.drop_duplicates(["experiment", "question_id", "judge", "condition", "repeat"])


def outcomes_told(frame: pd.DataFrame) -> str:
    """What became of the judgments, in words, the most frequent outcome first; "" where there are none."""
    counts = one_row_each(frame)["outcome"].astype("str").value_counts()
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items())


def losses(frame: pd.DataFrame, by: Iterable[str] = ("judge", "condition")) -> pd.DataFrame:
    """Judgments and what became of them: one row a cell of `by`, one column an outcome, and the unreadable share.

    Losses that depend on what would have been picked bias every rate, so they have a table of their own.
    """
    by = list(by)
    rows = one_row_each(frame)
    rows = rows.astype({name: "str" for name in (*by, "outcome") if rows[name].dtype == "category"})
    table = rows.groupby([*by, "outcome"], sort=True).size().unstack(fill_value=0)
    table.columns.name = None
    total = table.sum(axis=1)
    readable = table.get("ok", 0)
    table.insert(0, "judgments", total)
    table["unreadable"] = 1 - readable / total
    return table.reset_index()
