"""What a row tells of each of its candidates: vendors, lengths, names shown. And numbers and names of whole rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from helpers.analyze import columns, parsing
from helpers.analyze.cells import Cells, combined, labels, read_each, tried
from helpers.analyze.reading import Raw


def each(cells: Cells, name: str, read: Callable[[str], Any]) -> tuple[list[tuple[Any, ...]], np.ndarray] | None:
    """The values of a column that holds one for each candidate, in shown order, and the place of each row in them.

    None where there is no such column. An empty cell is one without any value (None each). More or fewer values than
    candidates are a ValueError.
    """
    raw = cells.raw
    if name not in raw.table:
        return None
    column = raw.table[name].cat
    cell = raw.table["candidates"].cat
    written = np.asarray(cell.codes, dtype=np.int64)
    keys, at = combined([cells.shown_at, written, np.asarray(column.codes, dtype=np.int64)])
    values = []
    for number, (place, names, code) in enumerate(keys):
        shown = cells.shown[place]
        text = None if code < 0 else column.categories[code]
        # As written or turned: whichever order the names of the row have.
        turned = parsing.candidates_of(cell.categories[names]) != shown
        values.append(tried(raw, at, number, _values, text, len(shown), turned, name, read))
    return values, at


def _values(text: str | None, size: int, turned: bool, name: str, read: Callable[[str], Any]) -> tuple[Any, ...]:
    if text is None:
        return (None,) * size
    parts = parsing.listed(text)
    if len(parts) != size:
        raise ValueError(f"{name} {text[:60]!r} has {len(parts)} values for {size} candidates")
    found = tuple(read(part) if part else None for part in parts)
    return found[::-1] if turned else found


def length(text: str) -> float:
    """How long an answer is; what is no number from 0 is a ValueError."""
    value = float(text) if parsing.NUMBER.fullmatch(text) else math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"length {text[:40]!r}, expected numbers from 0 up")
    return value


def vendor(text: str) -> str:
    """Who made a model, as figures and tables can hold it."""
    return columns.name_of(text, "a vendor")


def vendors(cells: Cells) -> dict[str, str]:
    """The vendor of each candidate; a candidate with two is a ValueError."""
    told = each(cells, "candidate_vendors", vendor)
    known: dict[str, str] = {}
    if told is None:
        return known
    values, at = told
    _, first = np.unique(at, return_index=True)
    for number, row in enumerate(first):
        for name, made in zip(cells.shown[cells.shown_at[row]], values[number], strict=True):
            if made is not None and known.setdefault(name, made) != made:
                told_twice = f"candidate {name!r} is of the vendor {made!r}, and of {known[name]!r} before"
                raise ValueError(f"{cells.raw.place(int(row))}: {told_twice}")
    return known


def judge_vendors(raw: Raw) -> pd.Categorical:
    """The vendor of each row's judge ("": told nowhere); a judge with two is a ValueError."""
    found = labels(raw, "judge_vendor", "")
    judges = raw.table["judge"].cat.codes.to_numpy(dtype=np.int64)
    keys, at = combined([judges, found.codes.astype(np.int64)])
    known: dict[int, str] = {}
    for number, (judge, code) in enumerate(keys):
        made = found.categories[code]
        if made and known.setdefault(judge, made) != made:
            row = int((at == number).argmax())
            told = f"judge {raw.table['judge'].iloc[row]!r} is of the vendor {made!r}, and of {known[judge]!r} before"
            raise ValueError(f"{raw.place(row)}: {told}")
    # What one row tells of a judge holds for those that leave it empty.
    vendors = ["", *sorted(set(known.values()))]
    of = np.array([vendors.index(known.get(judge, "")) for judge in range(int(judges.max()) + 1)])
    return pd.Categorical.from_codes(of[judges], pd.Index(vendors, dtype=object))


def repeats(raw: Raw) -> np.ndarray:
    """Which asking each row is, from 0; anything but a whole number from 0 is a ValueError."""
    if "repeat" not in raw.table:
        return np.zeros(len(raw.table), dtype=np.int64)

    def one(text: str | None) -> int:
        if text is None or not text.isascii() or not text.isdigit() or len(text) > 6:
            raise ValueError(f"repeat {text!r}, expected a whole number from 0")
        return int(text)

    values, at = read_each(raw, ["repeat"], one)
    return np.array(values, dtype=np.int64)[at]


def once(place: Callable[[int], str], key: list[np.ndarray], what: str) -> None:
    """Every row stands for another asking; two rows for one are a ValueError that names the places of both."""
    _, at = combined(key)
    counts = np.bincount(at)
    if counts.max() > 1:
        twice = counts > 1
        rows = np.flatnonzero(at == at[twice[at].argmax()])
        more = f" ({int(twice.sum()):,} such)" if twice.sum() > 1 else ""
        told = f"{place(int(rows[1]))}: {what} was judged before, {place(int(rows[0]))}{more}"
        raise ValueError(f"{told}; several askings are told apart by a column 'repeat' (0, 1, ...)")
