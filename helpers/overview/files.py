"""What the overview writes: tables and numbers in the form of every other notebook's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from helpers.overview.collecting import Found, Row, absent
from helpers.overview.frames import first, lines, rows, words
from helpers.tables import Table
from helpers.types import Collection, Estimate


def tables(found: Sequence[Found]) -> list[Table]:
    """The experiments' findings and every line of the judge card, for paper and spreadsheet; none where nothing is."""
    made = [
        ("experiments", "What each experiment found.", rows(found).drop(columns="usd")),
        ("judge_card", "What stands of each judge in each measure.", words(found)),
    ]
    return [Table(name, frame, caption) for name, caption, frame in made if not frame.empty]


def estimates(found: Sequence[Found]) -> list[Estimate]:
    """The number of each row for numbers.json; `where` names the experiment (and its run) too.

    Published data, which several runs of one experiment share, have one.

    The numbers of the card stand in the table judge_card and, with all others, in the numbers.json of their experiment.
    """
    return [
        replace(row.estimate, where={"experiment": each.name, **({"run": each.run} if each.run else {}), **_text(row)})
        for each in found
        for row in each.rows
        if row.estimate.data != "published" or first(found, each)
    ]


def _text(row: Row) -> dict[str, str]:
    return {key: str(value) for key, value in row.estimate.where.items()}


def provenance(collection: Collection, found: Sequence[Found]) -> dict[str, Any]:
    """For numbers.json: what was collected, from which sources of data, and what is missing; no folder's place."""
    return {
        "experiment": collection.name,
        "data": sorted({line.estimate.data for line in lines(found)}),
        "collected": [{"experiment": each.name, "run": each.run} for each in found],
        "absent": absent(collection, found),
    }
