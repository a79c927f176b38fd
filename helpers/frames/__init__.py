"""Judgments as tidy tables: one row a judgment and candidate, with everything that an estimator may ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
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
    "dominance_words",
    "games",
    "listwise",
    "losses",
    "one_row_each",
    "outcomes_told",
    "pairwise",
    "picks",
    "recoded",
    "require_result",
    "unreadable_words",
    "with_clusters",
    "written",
]


#: A question of a larger share of the rows is named.
DOMINANT = 0.2
#: Columns of frames that have a row a judgment already.
ROW_EACH = {"task", "games", "wording"}


def dominance_words(units: pd.Series, what: str = "question") -> str:
    """The sentence that one question (article, scenario) holds more than a fifth of the rows; "" where none does."""
    shares = units.value_counts(normalize=True)
    if len(shares) < 2 or shares.iloc[0] <= DOMINANT:
        return ""
    return (
        f"{what.capitalize()} {shares.index[0]} holds {100 * shares.iloc[0]:.0f} % of the {len(units):,} rows: numbers "
        "over all rows mostly say how it went there, and their intervals count few effective questions."
    )


def with_clusters(frame: pd.DataFrame, clusters: Mapping[str, str]) -> pd.DataFrame:
    """The frame with `cluster`, the unit that varies: of its articles or else its questions what `clusters` says of
    them, by id, and the id where it says nothing.
    """
    unit = frame["article" if "article" in frame else "question_id"].astype("category")
    names = [clusters.get(str(id), id) for id in unit.cat.categories]
    if names == [*unit.cat.categories]:
        return frame.assign(cluster=unit)
    codes, labels = pd.factorize(np.array(names, dtype=object), sort=True)
    return frame.assign(cluster=pd.Categorical.from_codes(np.append(codes, -1)[unit.cat.codes], labels))


def picks(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a valid judgment: what was put first, with the judge's columns and the first choice's own.

    Columns: question_id, category, judge, judge_vendor, judge_tier, condition, repeat, candidate, candidate_vendor,
    candidate_tier, slot, label, own_vendor, own_model, cluster (the question, where the frame has no such
    column).
    """
    found = frame[frame["top"] == 1.0].reset_index(drop=True)
    return found if "cluster" in found else found.assign(cluster=found["question_id"])


def one_row_each(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a judgment, valid or not: for counting judgments and outcomes, not for anything about a candidate."""
    if ROW_EACH & {*frame}:
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


def unreadable_words(table: pd.DataFrame) -> str:
    """Of which judges and conditions nothing can be told, since no reply had a readable verdict; takes `losses`."""
    counts = {"replies": table["judgments"] - table.get("missing", 0), "ok": table.get("ok", 0)}
    cells = table[["judge", "condition"]].assign(**counts)
    cells = cells[cells["replies"] > 0]
    if cells.empty:
        return ""
    groups = {"": [], " of {}": ["judge"], " under {}": ["condition"], " of {} under {}": ["judge", "condition"]}
    mute: dict[str, int] = {}
    for who, by in groups.items():
        for names, rows in cells.groupby(by) if by else [((), cells)]:
            if not rows["ok"].any():
                mute[who.format(*names)] = int(rows["replies"].sum())
                cells = cells.drop(rows.index)  # what is said of a whole is not said of its parts
    told = [f"none of the {n:,} replies{who} had a readable verdict" for who, n in mute.items()]
    return f"**Cannot tell**: {'; '.join(told)}." if told else ""


def require_result(frame: pd.DataFrame, measurable: bool, lacking: str) -> None:
    """Refuse (ValueError) a frame without a number, unless that is a result: replies without one readable verdict."""
    outcomes = {*frame["outcome"].dropna().astype(str)} - {"missing"}
    if measurable or (outcomes and "ok" not in outcomes):
        return
    counts = outcomes_told(frame) or "no judgments"
    more = "; judgments='ask' asks for what is missing" if (frame["outcome"] == "missing").any() else ""
    raise ValueError(f"{lacking}, so there is nothing to measure: {counts}{more}")
