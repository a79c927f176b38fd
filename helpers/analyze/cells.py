"""The rows of a tidy file in codes: each different combination of cells is read once, however many rows hold it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from helpers.analyze import columns, parsing
from helpers.analyze.parsing import STYLES, Said
from helpers.analyze.reading import Raw

ORDERS = ("shown", "reversed", "unknown")


@dataclass(frozen=True)
class Cells:
    """What the rows of a tidy file say: `shown` and `said` (and `gold`) as lists, with the place of each row in them.

    `labels` are the other columns, checked, as categories; `ordered` tells of each row whether its order is known.
    """

    raw: Raw
    style: str
    shown: list[tuple[str, ...]]
    shown_at: np.ndarray
    said: list[Said]
    said_at: np.ndarray
    gold: list[Said]
    gold_at: np.ndarray
    ordered: np.ndarray


def cells(raw: Raw) -> Cells:
    """The rows of a file of one style; the first cell that says nothing, and a mix of styles, are ValueErrors."""
    names = read_each(raw, ["candidates"], lambda text: parsing.candidates_of(_needed(text, "candidates")))
    order = _order(raw)
    keys, at = combined([names[1], order])
    shown = [_turned(names[0][name], way) for name, way in keys]
    said, said_at = _said(raw, "verdict", shown, at)
    gold, gold_at = _said(raw, "gold", shown, at) if "gold" in raw.table else ([], np.zeros(0, int))
    style = _one_style(raw, said, said_at, shown)
    if style == "ranking":
        _one_size(raw, shown, at)
    return Cells(raw, style, shown, at, said, said_at, gold, gold_at, order != ORDERS.index("unknown"))


def combined(codes: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The different combinations of codes, a row each, and the place of each row of the file in them."""
    total = np.zeros(len(codes[0]), dtype=np.int64)
    sizes = [int(code.max()) + 2 for code in codes]
    for code, size in zip(codes, sizes, strict=True):
        total = total * size + code + 1
    found, at = np.unique(total, return_inverse=True)
    keys = []
    for size in reversed(sizes):
        found, key = np.divmod(found, size)
        keys.append(key - 1)
    return np.column_stack(keys[::-1]), at


def read_each(raw: Raw, names: list[str], read: Callable[..., Any]) -> tuple[list[Any], np.ndarray]:
    """`read` applied to each different combination of cells of these columns; what it refuses is told with its row."""
    stored = [raw.table[name].cat for name in names]
    keys, at = combined([np.asarray(column.codes, dtype=np.int64) for column in stored])
    values = []
    for number, key in enumerate(keys):
        texts = [
            None if code < 0 else column.categories[code] for column, code in zip(stored, key, strict=True)
        ]  # fmt: skip
        values.append(tried(raw, at, number, read, *texts))
    return values, at


def tried(raw: Raw, at: np.ndarray, number: int, read: Callable[..., Any], *given: Any) -> Any:
    """`read` of what is given; its ValueError with the place of the first row that holds combination `number`."""
    try:
        return read(*given)
    except ValueError as error:
        rows = np.flatnonzero(at == number)
        more = f" (and {len(rows) - 1:,} more rows)" if len(rows) > 1 else ""
        raise ValueError(f"{raw.place(int(rows[0]))}{more}: {error}") from None


def _needed(text: str | None, name: str) -> str:
    if text is None:
        raise ValueError(f"{name} is empty")
    return text


def _order(raw: Raw) -> np.ndarray:
    if "order" not in raw.table:
        return np.zeros(len(raw.table), dtype=np.int64)

    def way(text: str | None) -> int:
        if text is not None and text.lower() not in ORDERS:
            raise ValueError(f"order {text[:40]!r}; valid: {', '.join(ORDERS)}, or nothing (shown)")
        return ORDERS.index((text or "shown").lower())

    values, at = read_each(raw, ["order"], way)
    return np.array(values, dtype=np.int64)[at]


def _turned(names: tuple[str, ...], way: int) -> tuple[str, ...]:
    return names[::-1] if ORDERS[way] == "reversed" else names


def _said(raw: Raw, name: str, shown: list[tuple[str, ...]], shown_at: np.ndarray) -> tuple[list[Said], np.ndarray]:
    column = raw.table[name].cat
    keys, at = combined([shown_at, np.asarray(column.codes, dtype=np.int64)])
    read = parsing.verdict_of if name == "verdict" else _gold_of
    return [
        tried(raw, at, number, read, None if code < 0 else column.categories[code], shown[place])
        for number, (place, code) in enumerate(keys)
    ], at


def _gold_of(text: str | None, shown: tuple[str, ...]) -> Said:
    """What should have been said; of several candidates the name or letter of the best will do."""
    try:
        if len(shown) > 2 and text is not None and text in shown:
            return Said("ranking", (shown.index(text),))
        return parsing.verdict_of(text, shown)
    except ValueError as error:
        raise ValueError(f"gold: {error}") from None


def _one_style(raw: Raw, said: list[Said], at: np.ndarray, shown: list[tuple[str, ...]]) -> str:
    """The one style of all verdicts that can be read."""
    first = {}
    for number, each in enumerate(said):
        if each.style:
            first.setdefault(each.style, []).append(number)
    if not first:  # that no reply had a verdict is a result; of which style it is, the candidates tell
        return {1: "scores", 2: "label"}.get(max(map(len, shown), default=0), "ranking")
    if len(first) > 1:
        rows = {style: int(np.isin(at, numbers).argmax()) for style, numbers in first.items()}
        told = "; ".join(
            f"{raw.place(row)} holds {STYLES[style]} ({str(raw.table['verdict'].iloc[row])[:40]!r})"
            for style, row in sorted(rows.items(), key=lambda each: each[1])
        )
        raise ValueError(f"{told}. One file holds one style of verdicts: split it")
    return next(iter(first))


def _one_size(raw: Raw, shown: list[tuple[str, ...]], at: np.ndarray) -> None:
    sizes = np.array([len(each) for each in shown])[at]
    if (sizes != sizes[0]).any():
        other = int((sizes != sizes[0]).argmax())
        told = f"{raw.place(0)} ranks {sizes[0]} candidates, {raw.place(other)} {sizes[other]}"
        raise ValueError(f"{told}. Rankings of one file are of equally many: split it")


def labels(raw: Raw, name: str, instead: str | None) -> pd.Categorical:
    """A column of names, checked; `instead` of an empty cell, which is an error where that is None."""
    if name not in raw.table:
        return pd.Categorical.from_codes(np.zeros(len(raw.table), dtype=np.int8), pd.Index([instead], dtype=object))

    def one(text: str | None) -> str:
        if text is None and instead is not None:
            return instead
        return columns.name_of(_needed(text, name), name)

    values, at = read_each(raw, [name], one)
    codes, categories = pd.factorize(np.array(values, dtype=object))
    return pd.Categorical.from_codes(codes[at], pd.Index(categories, dtype=object))
