"""Stored replies as a frame for an analysis, from the indexes of their files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.store.checking import files
from helpers.store.index_file import COLUMNS, schema
from helpers.store.indexing import counting, current
from helpers.store.kept import SAID
from helpers.store.records import StoreError, read
from helpers.store.rows import as_table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

#: What an analysis asks for, unless it says what.
ANALYSIS = (
    *("experiment", "question_id", "condition", "shown", "repeat", "returned_model", "outcome", "choice", "ranking"),
    *("choices", "number", "tokens_input", "tokens_output"),
)


def indexed(
    folder: Path, models: Sequence[str] = (), columns: Sequence[str] = ANALYSIS, parsers: Collection[str] = ()
) -> pd.DataFrame:
    """Stored replies as a frame with categories, one row a key, with the columns `model` and those asked for.

    What was read from a reply is there where one of `parsers` read it, and missing elsewhere. ValueError for a column
    that is none of COLUMNS, StoreError where a file is damaged.
    """
    import pyarrow as pa

    if strange := [name for name in columns if name not in COLUMNS]:
        raise ValueError(f"no column {', '.join(strange)}; there are: {', '.join(COLUMNS)}")
    tables = []
    for path in files(folder, models):
        found = current(path, tuple(dict.fromkeys(("counts", "parser", *columns))), smallest=0)
        if found is None:
            read(path)  # says what is wrong with it
            raise StoreError(f"{path}: holds what no index can hold, half a character, say")
        rows = _read_by(parsers, counting(found.table)).select(list(columns))
        model = pa.DictionaryArray.from_arrays(pa.array([0] * rows.num_rows, pa.int32()), pa.array([path.stem]))
        tables.append(rows.add_column(0, "model", model))
    if not tables:
        tables.append(as_table([], columns).add_column(0, "model", pa.array([], schema().field("status").type)))
    return pa.concat_tables(tables).unify_dictionaries().to_pandas()


def _read_by(parsers: Collection[str], table: pyarrow.Table) -> pyarrow.Table:
    """The rows without what another parser than these has read."""
    import pyarrow as pa
    from pyarrow import compute

    words = {word for chunk in table["parser"].chunks for word in chunk.dictionary.to_pylist()}
    if not table["parser"].null_count and words <= set(parsers):  # the rule; to look at each row takes longer
        return table
    by_these = compute.is_in(table["parser"], pa.array(sorted(parsers), pa.string()))
    for name in (name for name in table.column_names if name in SAID):
        empty = pa.scalar(None, table[name].type)
        table = table.set_column(table.column_names.index(name), name, compute.if_else(by_these, table[name], empty))
    return table
