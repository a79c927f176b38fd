"""A file of verdicts as columns of text, whatever its format: each value once, and each row with its place."""

from __future__ import annotations

import io
from csv import Error as csv_error
from csv import reader
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from helpers.analyze import columns
from helpers.analyze.objects import objects
from helpers.analyze.raw import Raw, merged, text_of, texts
from helpers.datasets.reading import end_of_name, read_bytes

if TYPE_CHECKING:
    import pyarrow

#: What reads a file, by the end of its name; text files may end in .gz too.
ENDS = (".csv", ".tsv", ".jsonl", ".json", ".parquet")


def end_of(path: Path) -> str:
    """The end of a file's name that tells how it is read; another one is a ValueError that lists those known."""
    end = end_of_name(path)
    if end in ENDS and not (end == ".parquet" and path.suffix.lower() == ".gz"):
        return end
    raise ValueError(f"{path}: files are read by the end of their name, {', '.join(ENDS)} (texts also with .gz)")


def read(path: Path, ignore_extra: bool = False) -> Raw:
    """The columns of a tidy file of verdicts; what is no such file is a ValueError with its place."""
    size = path.stat().st_size
    if size > columns.MOST_BYTES:
        raise ValueError(f"{path}: {size:,} bytes; at most {columns.MOST_BYTES:,}")
    end = end_of(path)
    if end in (".csv", ".tsv"):
        raw = _delimited(path, "\t" if end == ".tsv" else ",", ignore_extra)
    elif end == ".parquet":
        raw = _parquet(path, ignore_extra)
    else:
        raw = objects(path, end, ignore_extra)
    if raw.table.empty:
        raise ValueError(f"{path}: no row of verdicts in this file")
    if len(raw.table) > columns.MOST_ROWS:
        raise ValueError(f"{path}: {len(raw.table):,} rows; at most {columns.MOST_ROWS:,}")
    _lengths(raw)
    return raw


def _delimited(path: Path, separator: str, ignore_extra: bool) -> Raw:
    import pyarrow
    from pyarrow import csv

    data = read_bytes(path)
    header = data.split(b"\n", 1)[0].decode("utf-8-sig", "replace").strip("\r")
    separator = _separator(header, separator)
    names = next(reader([header], delimiter=separator), [])
    kept = columns.check(names, f"{path}, line 1", ignore_extra)
    try:
        table = csv.read_csv(
            io.BytesIO(data),
            parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.string()), strings_can_be_null=False, include_columns=kept
            ),
        )
    except pyarrow.ArrowInvalid as error:
        raise ValueError(_told(path, data, separator, len(names), error)) from None
    # Lines and rows are the same thing where no value runs over several lines.
    plain = data.rstrip(b"\r\n").count(b"\n") == len(table)
    return Raw(path, _categories(table), range(2, len(table) + 2) if plain else None)


def _separator(header: str, expected: str) -> str:
    """What stands between columns: as the file's name tells, or what spreadsheets of many countries write instead."""
    for separator in (expected, ";", "\t", ","):
        if set(next(reader([header], delimiter=separator), [])) & {*columns.ALL}:
            return separator
    return expected


def _told(path: Path, data: bytes, separator: str, size: int, error: Exception) -> str:
    """What the reader of CSV says, in one short line, with the line of the file."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        return f"{path}, line {line}: not UTF-8 text; save it as UTF-8 (Excel: CSV UTF-8)"
    told = " ".join(str(error).split()).removeprefix("CSV parse error: ")[:200]
    rows = reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        line = next((rows.line_num for row in rows if row and len(row) != size), None)
    except csv_error:
        line = None
    where = f"{path}, line {line}" if line else f"{path}"
    return f"{where}: not readable as a table: {told} (a value that holds {separator!r} stands in quotes)"


def _parquet(path: Path, ignore_extra: bool) -> Raw:
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
        kept = columns.check(file.schema_arrow.names, str(path), ignore_extra)
        if file.metadata.num_rows > columns.MOST_ROWS:
            raise ValueError(f"{path}: {file.metadata.num_rows:,} rows; at most {columns.MOST_ROWS:,}")
        table = file.read(columns=kept)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, OSError) as error:
        raise ValueError(f"{path}: not readable as Parquet: {' '.join(str(error).split())[:200]}") from None
    return Raw(path, _categories(table), None)


def _categories(table: pyarrow.Table) -> pd.DataFrame:
    """Each column of a table as categories of texts."""
    import pyarrow

    found = {}
    for name in table.column_names:
        column = table.column(name)
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not pyarrow.types.is_string(column.type):
            found[name] = texts(column.to_pylist())
            continue
        coded = column.combine_chunks().dictionary_encode()
        values = [text_of(value) for value in coded.dictionary.to_pylist()]
        found[name] = merged(values, coded.indices.fill_null(-1).to_numpy(zero_copy_only=False))
    return pd.DataFrame(found)


def _lengths(raw: Raw) -> None:
    """No cell may be longer than anything that a judge says in a verdict."""
    for name in raw.table.columns.difference(["question_text"], sort=False):
        column = raw.table[name].cat
        for code, text in enumerate(column.categories):
            if len(text) > columns.LONGEST_CELL:
                row = int((column.codes == code).to_numpy().argmax())
                told = f"column {name!r} holds {len(text):,} letters; at most {columns.LONGEST_CELL:,}"
                raise ValueError(f"{raw.place(row)}: {told}")
