"""The lines of a store file as rows of an index, and columns of an index as lists."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, BinaryIO

from helpers.store.index_file import COLUMNS, schema
from helpers.store.kept import SAID
from helpers.store.records import countable, decode
from helpers.types import Usage

if TYPE_CHECKING:
    import pyarrow

#: What a line raises that no index can hold: damaged, or of odd types.
NO_ROW = (ValueError, KeyError, TypeError, AttributeError, OverflowError)
USAGE = tuple(field.name for field in fields(Usage))
_LABELS = ("experiment", "question_id", "condition")
#: What stays in the file and is read from there when it is asked for.
_TEXTS = ("text", "request_id", "error", "raw")
_ROWS = 2_000


def rows_from(file: BinaryIO, before: Sequence[pyarrow.Table], digest: Any) -> Iterator[pyarrow.Table]:
    """The rows of all whole lines from here on; ValueError or TypeError where a line is damaged or odd."""
    offset, rows = file.tell(), list[tuple[Any, ...]]()
    answered: set[bytes] | None = None
    for raw in file:
        if not raw.endswith(b"\n"):
            break
        if answered is None:
            answered = {key for each in before for key in each.filter(each["counts"])["key"].to_pylist()}
        digest.update(raw)
        rows.append(_row(decode(raw[:-1]), answered, offset, len(raw)))
        offset += len(raw)
        if len(rows) == _ROWS:
            yield as_table(rows)
            rows.clear()
    if rows or not before:
        yield as_table(rows)


def _row(record: Mapping[str, Any], answered: set[bytes], offset: int, length: int) -> tuple[Any, ...]:
    """One line as a row, without what was read from its reply."""
    key, reply, asked, labels = bytes.fromhex(record["key"]), record["reply"], record["request"], record["labels"]
    if not all(map(countable, reply["usage"].values())):
        raise ValueError("counts that are read as unknown")
    if key.hex() != record["key"] or set(reply["usage"]) - set(USAGE) or {*_TEXTS} - {*reply, *record}:
        raise ValueError("not a line of this program")
    counts = record["status"] == "ok" and key not in answered
    if counts:
        answered.add(key)
    shown = labels.get("shown")
    return (
        key,
        counts,
        record["status"],
        *(labels.get(name) for name in _LABELS),
        None if shown is None else json.dumps(shown, ensure_ascii=False),
        asked["provider"],
        asked["model"],
        asked["repeat"],
        record["attempt"],
        record["at"],
        reply["finish"],
        reply["model"],
        *(reply["usage"].get(name) for name in USAGE),
        reply["latency"],
        reply["maybe_billed"],
        offset,
        length,
        *(None for _ in SAID),
    )


def as_table(rows: Sequence[tuple[Any, ...]], names: Sequence[str] = tuple(COLUMNS)) -> pyarrow.Table:
    """Rows as a table of an index, with all columns or some; ValueError or TypeError where they do not fit."""
    import pyarrow as pa

    kinds = pa.schema([schema().field(name) for name in names])
    try:
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        arrays = [pa.array(list(each), kind.type) for each, kind in zip(columns, kinds, strict=True)]
    except pa.ArrowException as error:
        raise ValueError(str(error)) from None
    return pa.table(arrays, schema=kinds)


def values(column: pyarrow.ChunkedArray) -> list[Any]:
    """A column as a list; each different word of a column of words is made once."""
    if column.null_count == len(column):
        return [None] * len(column)
    column = column.combine_chunks()
    if not hasattr(column, "dictionary"):
        return column.to_pylist()
    words = dict(enumerate(column.dictionary.to_pylist()))
    return [words.get(place) for place in column.indices.to_pylist()]
