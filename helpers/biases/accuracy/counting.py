"""From verdicts and votes to the counts that published/counts.yaml keeps: all that the estimates need, and no row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from helpers.biases.accuracy.tables import SAID, VERDICTS, Counted, Tables, counted

#: What became of a verdict on an instance with a known better answer, in the order of the counts.
RIGHT, WRONG, UNREADABLE = "right", "wrong", "unreadable"
KINDS = (RIGHT, WRONG, UNREADABLE)
ORDERS = ("better first", "better second")


def both_orders(frame: pd.DataFrame) -> dict[str, dict[str, list[list[int]]]]:
    """How often each judge was right, wrong or unreadable in both orders, by category: 3 x 3 counts of instances.

    `frame` as `studies.votes.gold_of_games` makes it: a verdict for each order of each instance. Rows: the better
    answer first, columns: second, both in the order of KINDS. An instance without two orders is a ValueError.
    """
    found: dict[str, dict[str, list[list[int]]]] = {}
    for (judge, category), rows in _kinds(frame).groupby(["judge", "category"], sort=True):
        counts = Counter(zip(rows[ORDERS[0]], rows[ORDERS[1]], strict=True))
        found.setdefault(judge, {})[category] = [[counts[one, two] for two in KINDS] for one in KINDS]
    return found


def joint(frame: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> dict[str, dict[str, Any]]:
    """How often two judges were right on the same instance: "right/readable" of the one, then of the other.

    Both orders of an instance are one cell, "2/2 1/2" say; by category, for the pairs named. `frame` as `both_orders`.
    """
    table = _kinds(frame)
    right = sum((table[order] == RIGHT).astype(int) for order in ORDERS)
    read = sum((table[order] != UNREADABLE).astype(int) for order in ORDERS)
    cells = right.astype(str) + "/" + read.astype(str)
    wide = cells.groupby([table["category"], table["question_id"], table["judge"]]).first().unstack("judge")
    found: dict[str, dict[str, Any]] = {}
    for one, other in pairs:
        both = (wide[one] + " " + wide[other]).groupby(level="category").value_counts()
        by_category = found[f"{one} {other}"] = {}
        for (category, cell), count in sorted(both.items()):
            by_category.setdefault(category, {})[cell] = int(count)
    return found


def _kinds(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a judge and instance: its category, and what became of the verdict in each order."""
    keys = ["judge", "category", "question_id"]
    kind = frame["correct"].map({1.0: RIGHT, 0.0: WRONG}).fillna(UNREADABLE)
    wide = frame.assign(kind=kind).set_index([*keys, "condition"])["kind"].unstack("condition")
    if set(wide.columns) != set(ORDERS) or wide.isna().any(axis=None):
        raise ValueError(f"every instance needs a verdict in both orders ({', '.join(ORDERS)})")
    return wide.reset_index()


def by_question(frame: pd.DataFrame) -> dict[str, Any]:
    """How many verdicts of each judge were right, and readable, question by question; all had the same items.

    `frame` as `accuracy` takes it. Keys: items (a number a question), and for each judge right and read.
    """
    groups = frame.groupby(["judge", "question_id"], sort=True)["correct"]
    sizes = groups.size().unstack("judge", fill_value=0)
    if sizes.nunique(axis=1).ne(1).any():
        raise ValueError("the judges were not asked about the same items")
    sums = {"right": groups.sum().unstack("judge"), "read": groups.count().unstack("judge")}
    judges = {judge: {name: _whole(table[judge]) for name, table in sums.items()} for judge in sizes.columns}
    return {"items": _whole(sizes.iloc[:, 0]), "judges": judges}


def votes_of(votes: pd.DataFrame) -> dict[str, Any]:
    """The tables of `counted`, cells that never occur left out: a list with a number a question for every other.

    Keys: questions, people (cells "first tie"), and for each judge judged, lost, votes and shared (cells "said vote");
    where every vote stands beside the same number of other people's, that number, `others`, in place of shared.
    """
    tables = counted(votes)
    judges = {}
    for judge, each in tables.judges.items():
        others = {int(k) for k in np.unique(each.shared[each.votes > 0] / each.votes[each.votes > 0])}
        even = len(others) == 1 and (each.shared == each.votes * min(others)).all()
        shared = {"others": min(others)} if even else {"shared": _cells(each.shared, SAID)}
        known = {"judged": tables.judged[judge], "lost": tables.lost[judge]}
        judges[judge] = {**known, "votes": _cells(each.votes, SAID), **shared}
    return {"questions": len(tables.questions), "people": _cells(tables.people, VERDICTS), "judges": judges}


def counted_of(block: Mapping[str, Any]) -> Counted:
    """The tables again from what `votes_of` made of them; a wrong length or cell is a ValueError."""
    size = block["questions"]
    people = _table(block["people"], size, VERDICTS)
    judges, judged, lost = {}, {}, {}
    for judge, cells in block["judges"].items():
        given = _table(cells["votes"], size, SAID)
        shared = given * cells["others"] if "others" in cells else _table(cells["shared"], size, SAID)
        judges[judge] = Tables(given, shared, people)
        judged[judge], lost[judge] = cells["judged"], cells["lost"]
    return Counted(tuple(map(str, range(size))), judges, people, judged, lost)


def together(parts: Sequence[Counted]) -> Counted:
    """All conditions of the same questions and judges as one; others are a ValueError."""
    first = parts[0]
    if any(each.questions != first.questions or set(each.judges) != set(first.judges) for each in parts):
        raise ValueError("conditions that are to be counted together need the same questions and judges")
    tables = {
        judge: Tables(
            sum(each.judges[judge].votes for each in parts),
            sum(each.judges[judge].shared for each in parts),
            sum(each.people for each in parts),
        )
        for judge in first.judges
    }
    totals = (
        {judge: sum(getattr(each, name)[judge] for each in parts) for judge in tables} for name in ("judged", "lost")
    )
    return Counted(first.questions, tables, sum(each.people for each in parts), *totals)


def _cells(table: np.ndarray, rows: Sequence[str]) -> dict[str, list[int]]:
    return {
        f"{row} {column}": _whole(table[:, i, j])
        for i, row in enumerate(rows)
        for j, column in enumerate(VERDICTS)
        if table[:, i, j].any()
    }


def _table(cells: Mapping[str, Sequence[int]], size: int, rows: Sequence[str]) -> np.ndarray:
    table = np.zeros((size, len(rows), len(VERDICTS)))
    for cell, counts in cells.items():
        row, _, column = cell.partition(" ")
        if row not in rows or column not in VERDICTS or len(counts) != size:
            raise ValueError(f"cell {cell!r} has {len(counts)} counts; expected {size}, and one of {', '.join(rows)}")
        table[:, rows.index(row), VERDICTS.index(column)] = counts
    return table


def _whole(values: Any) -> list[int]:
    return [int(value) for value in values]


def labelled(votes: pd.DataFrame) -> dict[str, list[int]]:
    """How many of a judge's comparisons people voted on: [voted on, all] for each two models compared.

    `votes` as `studies.votes.load_votes` makes them, with one judge's verdict on every comparison.
    """
    judged = votes[votes["kind"] == "judge"]
    seen = judged["pair"].isin(set(votes.loc[votes["kind"] == "person", "pair"]))
    groups = seen.groupby(judged["pair"].str.partition(": ")[2], sort=True)
    return {models: [int(each.sum()), len(each)] for models, each in groups}
