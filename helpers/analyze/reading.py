"""A tidy file of verdicts as columns of text, whatever its format: each value once, and each row with its place."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from csv import Error as csv_error
from csv import reader
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from helpers.analyze import columns
from helpers.datasets.reading import (
    MOST_BYTES,
    Problem,
    decoded,
    end_of_name,
    read_bytes,
    read_lines,
    read_records,
    show,
)

if TYPE_CHECKING:
    import pyarrow

#: What reads a file, by the end of its name; text files may end in .gz too.
ENDS = (".csv", ".tsv", ".jsonl", ".json", ".parquet")


@dataclass(frozen=True)
class Raw:
    """The columns of a file as categories of texts (None: empty), and where a row stands.

    `lines` are the lines of the rows where the format tells them.
    """

    path: Path
    table: pd.DataFrame
    lines: Sequence[int] | None

    def place(self, row: int) -> str:
        """Where a row stands, as errors tell it."""
        if self.lines is not None:
            return f"{self.path}, line {self.lines[row]}"
        return f"{self.path}, row {row + 1}"


def end_of(path: Path) -> str:
    """The end of a file's name that tells how it is read; another one is a ValueError that lists those known."""
    end = end_of_name(path)
    if end in ENDS and not (end == ".parquet" and path.suffix.lower() == ".gz"):
        return end
    raise ValueError(f"{path}: files are read by the end of their name, {', '.join(ENDS)} (texts also with .gz)")


def read(path: Path, ignore_extra: bool = False, names: Mapping[str, str] | None = None) -> Raw:
    """The columns of a tidy file of verdicts; what is no such file is a ValueError with its place.

    `names` are our columns by those that the file has in their place.
    """
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"{path}: {size:,} bytes; at most {MOST_BYTES:,}")
    end = end_of(path)
    kinds = {".csv": _delimited, ".tsv": _delimited, ".parquet": _parquet}
    raw = kinds.get(end, _objects)(path, ignore_extra, names or {})
    if raw.table.empty:
        raise ValueError(f"{path}: no row of verdicts in this file")
    if len(raw.table) > columns.MOST_ROWS:
        raise ValueError(f"{path}: {len(raw.table):,} rows; at most {columns.MOST_ROWS:,}")
    _lengths(raw)
    return raw


def header(path: Path, data: bytes | None = None) -> tuple[int, list[str], str]:
    """Where the header of a CSV file stands (its line, from 1), the names of columns, and what stands between them.

    Lines of comments (#) before it, and the line sep= that Excel reads, are no header.
    """
    data = read_bytes(path) if data is None else data
    between, start, line = "\t" if end_of_name(path) == ".tsv" else ",", 0, 0
    while True:
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        text = data[start:end].decode("utf-8-sig", "replace").strip("\r")
        named = text.strip('"').lower().startswith("sep=") and text.strip('"')[4:5]
        start, line, between = end + 1, line + 1, named or between
        if not named and not text.startswith("#"):
            break
    # As the file's name or its first line tells, or what spreadsheets of many countries write instead.
    found = {each: _cells(path, line, text, each) for each in (between, ";", "\t", ",")}
    between = next((each for each, names in found.items() if {*names} & {*columns.ALL, "model_a"}), between)
    return line, found[between], between


def _cells(path: Path, line: int, text: str, separator: str) -> list[str]:
    try:
        return next(reader([text], delimiter=separator), [])
    except csv_error as error:
        raise ValueError(f"{path}, line {line}: not readable as a table: {error}") from None


def _delimited(path: Path, ignore_extra: bool, names: Mapping[str, str]) -> Raw:
    import pyarrow
    from pyarrow import csv

    data = read_bytes(path)
    line, found, separator = header(path, data)
    found = [names.get(name, name) for name in found]
    # Columns without a name are those of commas that a spreadsheet adds, and left out where they are empty.
    titles = [name if name.strip() else f"\0{at}" for at, name in enumerate(found)]
    bare = [title for title in titles if title.startswith("\0")]
    kept = columns.check([title for title in titles if title not in bare], f"{path}, line {line}", ignore_extra)
    try:
        table = csv.read_csv(
            io.BytesIO(data),
            read_options=csv.ReadOptions(skip_rows=line, column_names=titles),
            parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(titles, pyarrow.string()),
                strings_can_be_null=False,
                include_columns=[*kept, *bare],
            ),
        )
    except pyarrow.ArrowException as error:
        raise ValueError(_told(path, data, separator, len(found), error)) from None
    filled = any(text.strip() for name in bare for text in table.column(name).unique().to_pylist())
    if filled and not ignore_extra:
        columns.check([*dict.fromkeys(name.strip() for name in found)], f"{path}, line {line}", ignore_extra)
    # Lines and rows are the same thing where no value runs over several lines.
    plain = data.rstrip(b"\r\n").count(b"\n") == len(table) + line - 1
    return Raw(path, _categories(table.select(kept)), range(line + 1, len(table) + line + 1) if plain else None)


def _told(path: Path, data: bytes, separator: str, size: int, error: Exception) -> str:
    """What the reader of CSV says, in one short line, with the line of the file."""
    text = decoded(path, data)
    told = " ".join(str(error).split()).removeprefix("CSV parse error: ")[:200]
    rows = reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        line = next((rows.line_num for row in rows if row and len(row) != size), None)
    except csv_error:
        line = None
    where = f"{path}, line {line}" if line else f"{path}"
    return f"{where}: not readable as a table: {told} (a value that holds {separator!r} stands in quotes)"


def _parquet(path: Path, ignore_extra: bool, names: Mapping[str, str]) -> Raw:
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
        found = {names.get(name, name): name for name in file.schema_arrow.names}
        kept = columns.check(list(found), str(path), ignore_extra)
        if file.metadata.num_rows > columns.MOST_ROWS:
            raise ValueError(f"{path}: {file.metadata.num_rows:,} rows; at most {columns.MOST_ROWS:,}")
        table = file.read(columns=[found[name] for name in kept]).rename_columns(kept)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path}: not readable as Parquet: {' '.join(str(error).split())[:200]}") from None
    return Raw(path, _categories(table), None)


def _objects(path: Path, ignore_extra: bool, names: Mapping[str, str]) -> Raw:
    """Objects with named fields, one a line or in an array."""
    lines, rows = [], []
    seen: dict[str, None] = {}
    for line, record in _records(path):
        lines.append(line)
        rows.append({names.get(name, name): value for name, value in record.items()} if names else record)
        seen.update(dict.fromkeys(rows[-1]))
        if len(rows) > columns.MOST_ROWS:
            raise ValueError(f"{path}: more than {columns.MOST_ROWS:,} rows")
    kept = columns.check(list(seen), str(path), ignore_extra)
    lacking = next(((line, name) for line, row in zip(lines, rows, strict=True) for name in columns.REQUIRED
                    if name not in row), None)  # fmt: skip
    if lacking:
        raise ValueError(f"{path}, line {lacking[0]}: field {lacking[1]!r} is missing; null where it is not known")
    table = pd.DataFrame({name: texts(row.get(name) for row in rows) for name in kept})
    return Raw(path, table, tuple(lines))


def _records(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    if end_of(path) == ".json":
        records = read_records(path)
        for index, (line, row) in enumerate(zip(records.lines, records.rows, strict=True)):
            if not isinstance(row, dict):
                raise ValueError(f"{records.place(index)}: found {show(row)}, expected an object with named fields")
            if shape := columns.shape_of(row):
                raise ValueError(f"{path}: {shape}")
            yield line, row
        return
    for line, record in read_lines(path, str(path)):
        if isinstance(record, Problem):
            raise ValueError(str(record))
        yield line, record


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
        found[name] = _merged(values, coded.indices.fill_null(-1).to_numpy(zero_copy_only=False))
    return pd.DataFrame(found)


def _merged(values: list[str | None], codes: Any) -> pd.Categorical:
    """Codes of raw texts as codes of stripped ones, empty ones as missing."""
    kept: dict[str, int] = {}
    new = [-1 if value is None else kept.setdefault(value, len(kept)) for value in values]
    mapped = np.array([*new, -1], dtype=np.int64)[codes]
    return pd.Categorical.from_codes(mapped, pd.Index(list(kept), dtype=object))


def _lengths(raw: Raw) -> None:
    """No cell may be longer than anything that a judge says in a verdict; texts of questions are."""
    for name in raw.table.columns.difference(["question_text", "question"], sort=False):
        column = raw.table[name].cat
        for code, text in enumerate(column.categories):
            if len(text) > columns.LONGEST_CELL:
                row = int((column.codes == code).to_numpy().argmax())
                told = f"column {name!r} holds {len(text):,} letters; at most {columns.LONGEST_CELL:,}"
                raise ValueError(f"{raw.place(row)}: {told}")
