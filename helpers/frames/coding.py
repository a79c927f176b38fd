"""Words as categories: told apart by number, held once however often they stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd


def coded(rows: Iterable[object], columns: Sequence[str], words: Iterable[str], numbers: Iterable[str]) -> pd.DataFrame:
    """A frame of these rows in which `words` are categories in sorted order and `numbers` floats.

    What a row does not have (None) is missing. No rows give an empty frame with all columns.
    """
    table = pd.DataFrame(rows, columns=list(columns))
    return table.astype(dict.fromkeys(words, "category") | dict.fromkeys(numbers, float))


def recoded(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its texts as categories in sorted order, as `coded` has them."""
    return frame.astype(dict.fromkeys(frame.select_dtypes("str"), "category"))
