"""Columns of text as they were read: each value once, and each row with its place."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Raw:
    """The columns of a file as categories of texts (None: empty), and where a row stands.

    `lines` are the lines of the rows where the format tells them.
    """

    path: Path
    table: pd.DataFrame
    lines: tuple[int, ...] | range | None

    def place(self, row: int) -> str:
        """Where a row stands, as errors tell it."""
        if self.lines is not None:
            return f"{self.path}, line {self.lines[row]}"
        return f"{self.path}, row {row + 1}"


def text_of(value: Any) -> str | None:
    """A value as text: a list or object as its JSON, an empty one as None."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, default=str)
    text = value.strip()
    return text or None


def texts(values: Iterable[Any]) -> pd.Categorical:
    """Values as categories; equal ones are written once."""
    codes: dict[str, int] = {}
    known: dict[Any, int] = {}
    found = []
    for value in values:
        try:
            key = (type(value), value)
            code = known.get(key)
        except TypeError:
            key, code = None, None
        if code is None:
            text = text_of(value)
            code = -1 if text is None else codes.setdefault(text, len(codes))
            if key is not None:
                known[key] = code
        found.append(code)
    return pd.Categorical.from_codes(found, pd.Index(list(codes), dtype=object))


def merged(values: list[str | None], codes: Any) -> pd.Categorical:
    """Codes of raw texts as codes of stripped ones, empty ones as missing."""
    kept: dict[str, int] = {}
    new = [-1 if value is None else kept.setdefault(value, len(kept)) for value in values]
    mapped = np.array([*new, -1], dtype=np.int64)[codes]
    return pd.Categorical.from_codes(mapped, pd.Index(list(kept), dtype=object))
