"""Verdicts as JSON objects with named fields: one a line, or in an array."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.analyze import columns
from helpers.analyze.raw import Raw, texts
from helpers.datasets.reading import Problem, read_lines, read_records, show


def objects(path: Path, end: str, ignore_extra: bool) -> Raw:
    """Objects with named fields, one a line or in an array."""
    lines, rows = [], []
    seen: dict[str, None] = {}
    for line, record in _records(path, end):
        lines.append(line)
        rows.append(record)
        seen.update(dict.fromkeys(record))
        if len(rows) > columns.MOST_ROWS:
            raise ValueError(f"{path}: more than {columns.MOST_ROWS:,} rows")
    kept = columns.check(list(seen), str(path), ignore_extra)
    lacking = next(((line, name) for line, row in zip(lines, rows, strict=True) for name in columns.REQUIRED
                    if name not in row), None)  # fmt: skip
    if lacking:
        raise ValueError(f"{path}, line {lacking[0]}: field {lacking[1]!r} is missing; null where it is not known")
    table = pd.DataFrame({name: texts(row.get(name) for row in rows) for name in kept})
    return Raw(path, table, tuple(lines))


def _records(path: Path, end: str) -> Iterator[tuple[int, dict[str, Any]]]:
    if end == ".json":
        records = read_records(path)
        for index, (line, row) in enumerate(zip(records.lines(), records.rows, strict=True)):
            if not isinstance(row, dict):
                raise ValueError(f"{records.place(index)}: found {show(row)}, expected an object with named fields")
            yield line, row
        return
    for line, record in read_lines(path, str(path)):
        if isinstance(record, Problem):
            raise ValueError(str(record))
        yield line, record
