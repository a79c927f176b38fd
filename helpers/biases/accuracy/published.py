"""What published counts say of accuracy and of agreement with people: every source for itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers.biases.accuracy.agreement import of_counted
from helpers.biases.accuracy.counting import KINDS, RIGHT, UNREADABLE, counted_of, together
from helpers.biases.accuracy.gold import accuracy
from helpers.stats.estimates import estimate
from helpers.stats.intervals import clustered
from helpers.types import Estimate

BOTH_ORDERS, ITEMS, VOTES = "both_orders", "items", "votes"
#: The part of a category's name before the slash, all of its parts together.
POOLED = "Adversarial"
#: One of two outputs must be named.
CHANCE = 0.5


def published(counts: Mapping[str, Any]) -> list[Estimate]:
    """All numbers that the counts in published/counts.yaml determine; no two sources are pooled.

    `where` has source. Of instances judged in both orders: `gold_accuracy` and its companions for each evaluator and
    prompt, tested against chance, by subset and for all adversarial ones together, and `gold_accuracy_difference` for
    the pairs whose joint counts are kept. Of items with a majority of three people: the same without chance, and as
    the source printed it. Of votes: what `agreement` gives, by condition; `labelled_share` of each pair of models.
    """
    found: list[Estimate] = []
    for name, block in counts.items():
        source = {"source": block["name"]}
        if BOTH_ORDERS in block:
            found += _of_both_orders(block, source)
        if ITEMS in block:
            found += _of_items(block[ITEMS], source)
        if VOTES in block:
            tables = {condition: counted_of(each) for condition, each in block[VOTES].items()}
            every = {"all": together(list(tables.values()))} if len(tables) > 1 else {}
            for condition, each in (every | tables).items():
                found += of_counted(each, {**source, "condition": condition}, "published")
        if not {BOTH_ORDERS, ITEMS, VOTES} & set(block):
            raise ValueError(f"{name}: holds {', '.join(block)}; expected {BOTH_ORDERS}, {ITEMS} or {VOTES}")
        for pair, (seen, total) in block.get("labelled", {}).items():
            place = {**source, "pair": pair}
            share = Estimate("labelled_share", place, seen / total, n=total, method="counted", data="published")
            found.append(share)
    return found


def _of_both_orders(block: Mapping[str, Any], source: Mapping[str, str]) -> Iterator[Estimate]:
    frame = pd.concat([_verdicts(judge, grids, source) for judge, grids in block[BOTH_ORDERS].items()])
    # Counts do not tell which instance is which: every judge has its own, and no two are compared.
    yield from accuracy(frame, "published", CHANCE, pairs=())
    pooled = frame[frame["category"].str.startswith(POOLED)]
    whole = accuracy(pooled.drop(columns="category"), "published", CHANCE, pairs=())
    for each in whole:
        if each.id == "gold_accuracy":
            yield replace(each, id="gold_accuracy_by_category", where={**each.where, "category": POOLED})
    for names, cells in block.get("joint", {}).items():
        one, other = names.split()
        x, d, strata = _joint(cells)
        gap = clustered(x, d, [1.0, -1.0], strata)
        yield estimate("gold_accuracy_difference", {**source, "judge": one, "other": other}, gap, "published", "pp")


def _verdicts(judge: str, grids: Mapping[str, Any], source: Mapping[str, str]) -> pd.DataFrame:
    """A row a verdict; the instances of each judge and category are numbered."""
    values = {RIGHT: 1.0, UNREADABLE: float("nan")}
    rows = []
    for category, grid in grids.items():
        cells = [(i, j) for i, row in enumerate(grid) for j, count in enumerate(row) for _ in range(count)]
        for at, cell in enumerate(cells):
            rows += [(f"{judge} {category} {at}", category, values.get(KINDS[kind], 0.0)) for kind in cell]
    return pd.DataFrame(rows, columns=["question_id", "category", "correct"]).assign(judge=judge, **source)


def _joint(cells: Mapping[str, Mapping[str, int]]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """(C, 2) right and readable verdicts of two judges, an instance a row, and the category of each."""
    right, read, strata = [], [], []
    for category, counts in cells.items():
        for cell, count in counts.items():
            parts = np.array([part.split("/") for part in cell.split()], dtype=float)
            # As for verdicts themselves: an instance that one of them lost altogether is no comparison.
            if (parts[:, 1] > 0).all():
                right += [parts[:, 0]] * count
                read += [parts[:, 1]] * count
                strata += [category] * count
    return np.array(right), np.array(read), strata


def _of_items(block: Mapping[str, Any], source: Mapping[str, str]) -> Iterator[Estimate]:
    rows = [
        (str(question), judge, value)
        for judge, sums in block["judges"].items()
        for question, (items, right, read) in enumerate(zip(block["items"], sums["right"], sums["read"], strict=True))
        for value in [1.0] * right + [0.0] * (read - right) + [float("nan")] * (items - read)
    ]
    frame = pd.DataFrame(rows, columns=["question_id", "judge", "correct"]).assign(**source)
    yield from accuracy(frame, "published")
    items = np.array(block["items"])
    for judge, right in block.get("right_as_printed", {}).items():
        interval = clustered(np.array(right), items, null=None)
        yield estimate("gold_accuracy_as_printed", {**source, "judge": judge}, interval, "published")
