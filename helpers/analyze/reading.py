"""A tidy file of verdicts as columns of text, whatever its format: which there are, which it takes, each value once."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from csv import Error as csv_error, reader
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..datasets.reading import (
    MOST_BYTES,
    Problem,
    checked_name,
    end_of_name,
    open_parquet,
    read_bytes,
    read_lines,
    read_records,
    read_text,
    show,
)

if TYPE_CHECKING:
    import pyarrow

REQUIRED = {
    "judge": "who judged",
    "question": "the id of what was asked",
    "candidates": "who was judged, in shown order: a JSON list, or names with | between them",
    "verdict": "a label (A>>B, A>B, A=B, B>A, B>>A, A, B, tie, a candidate's name), a ranking (a JSON list, or "
    "x > y > z) or a score for each candidate; empty where it could not be read",
}
OPTIONAL = {
    "repeat": "which asking of the same this is, a whole number from 0",
    "condition": "under which condition: none, identical, quality_gap, or a name (a hint, a prompt)",
    "order": "shown (as `candidates` stand), reversed, or unknown",
    "gold": "the true verdict: a label, a candidate's name, or the true score",
    "category": "of the question",
    "item": "what of the question was judged, where it is judged more than once: a turn, a criterion",
    "cluster": "the task above the question, where several questions are of one: what varies then",
    "question_text": "what was asked: near-duplicates count as one question (where no `cluster` is named)",
    "judge_vendor": "who made the judge",
    "candidate_vendors": "who made each candidate, in the order of `candidates`",
    "length": "how long each answer is, in the order of `candidates`",
    "named": "under whose vendor's name each answer was shown, in the order of `candidates`; empty: under none",
}
ALL = REQUIRED | OPTIONAL
#: More rows, candidates of a row, or letters of a cell than any file of verdicts holds.
MOST_ROWS = 5_000_000
MOST_CANDIDATES = 64
LONGEST_CELL = 20_000
#: How near a name must be to be offered: at 0.6, difflib's own, "order" would be offered to whoever writes "model".
NEAR = 0.65


def check(found: Sequence[str], where: str, ignore_extra: bool) -> list[str]:
    """The columns to read, of those found; one that is missing, unknown or named twice is a ValueError.

    `ignore_extra` leaves unknown ones unread. The error names every one of them, the nearest valid name, and all valid
    columns.
    """
    if not list(found):
        raise ValueError(f"{where}: the file is empty; its first line names the columns: {','.join(REQUIRED)}")
    twice = sorted({name for name in found if list(found).count(name) > 1})
    if twice:
        raise ValueError(f"{where}: column {', '.join(map(repr, twice))} stands there more than once")
    unknown = [name for name in found if name not in ALL]
    missing = [name for name in REQUIRED if name not in found]
    # A misspelled column is reported once, with the name that was meant.
    meant = {name: _perhaps(name, unknown) for name in missing}
    faults = [
        f"no column {name!r}, perhaps {meant[name]!r}: rename it" if meant[name] else f"no column {name!r} ({words})"
        for name, words in REQUIRED.items()
        if name in missing
    ]
    others = [] if ignore_extra else [name for name in unknown if name not in meant.values()]
    if others:
        faults += [f"unknown column {name!r}{_nearest(name, found)}" for name in others]
    if faults:
        extra = "" if not others else "; --ignore-extra leaves unknown columns unread"
        raise ValueError(
            f"{where}: {'; '.join(faults)}. Found: {', '.join(map(repr, found)) or 'none'}. {valid()}{extra}"
        )
    return [name for name in found if name in ALL]


def shape_of(record: Mapping[str, Any]) -> str:
    """What a JSON object is that holds many verdicts, or none, and what to do; "" where it may be one verdict."""
    values = [record[name] for name in REQUIRED if name in record]
    by_column = bool(values) and all(isinstance(each, dict) for each in values)
    if by_column or isinstance(record.get("judge"), list) or {"columns", "data"} <= {*record}:
        return "column-wise JSON; save it with orient='records', an object a verdict"
    inner = {f"{outer}.{name}": each for outer, value in record.items() if isinstance(value, dict)
             for name, each in value.items()}  # fmt: skip
    for name, value in {**record, **inner}.items():
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            return f"one object whose list {name!r} holds the records; save that list as a file of its own"
    named = [value for value in (*record.values(), *inner.values(), *record) if isinstance(value, str)]
    files = [value for value in named if value.lower().endswith((".csv", ".json", ".jsonl", ".parquet", ".eval"))]
    return f"a list of files, no verdicts; name one of them, such as {files[0][:80]!r}" if files else ""


def valid() -> str:
    """All columns in one sentence."""
    return f"Valid: {', '.join(REQUIRED)} (needed), {', '.join(OPTIONAL)}"


def _nearest(name: str, found: Iterable[str]) -> str:
    close = get_close_matches(name.strip().lower(), [each for each in ALL if each not in found], 1, NEAR)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _perhaps(name: str, unknown: Sequence[str]) -> str:
    spelled = {each.strip().lower(): each for each in unknown}
    close = get_close_matches(name, spelled, 1, NEAR)
    return spelled[close[0]] if close else ""


def name_of(text: str, what: str) -> str:
    """A name as sentences and figures can hold it; empty, too long or with signs nobody sees is a ValueError."""
    if not text.strip():
        raise ValueError(f"{what} is empty")
    return checked_name(text.strip(), what)


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
    if len(raw.table) > MOST_ROWS:
        raise ValueError(f"{path}: {len(raw.table):,} rows; at most {MOST_ROWS:,}")
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
    between = next((each for each, names in found.items() if {*names} & {*ALL, "model_a"}), between)
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
    first, found, separator = header(path, data)
    found = [names.get(name, name) for name in found]
    # Columns without a name are those of commas that a spreadsheet adds, and left out where they are empty.
    titles = [name if name.strip() else f"\0{at}" for at, name in enumerate(found)]
    bare = [title for title in titles if title.startswith("\0")]
    kept = check([title for title in titles if title not in bare], f"{path}, line {first}", ignore_extra)
    try:
        table = csv.read_csv(
            io.BytesIO(data),
            read_options=csv.ReadOptions(skip_rows=first, column_names=titles),
            parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(titles, pyarrow.string()),
                strings_can_be_null=False,
                include_columns=[*kept, *bare],
            ),
        )
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}{_uneven(path, data, separator, len(found), error)}") from None
    filled = any(text.strip() for name in bare for text in table.column(name).unique().to_pylist())
    if filled and not ignore_extra:
        check([*dict.fromkeys(name.strip() for name in found)], f"{path}, line {first}", ignore_extra)
    # Lines and rows are the same thing where no value runs over several lines.
    plain = data.rstrip(b"\r\n").count(b"\n") == len(table) + first - 1
    return Raw(path, _categories(table.select(kept)), range(first + 1, len(table) + first + 1) if plain else None)


def _uneven(path: Path, data: bytes, separator: str, size: int, error: Exception) -> str:
    """Which line has too many cells or too few, in words; else what the reader says."""
    rows = reader(io.StringIO(read_text(path, data), newline=""), delimiter=separator)
    cells = ((rows.line_num, len(row)) for row in rows if row)
    with suppress(csv_error):
        if wrong := next(((line, count) for line, count in cells if count != size), None):
            fault = f"{wrong[1]} cells where the header has {size} (a value that holds {separator!r} stands in quotes)"
            return f", line {wrong[0]}: {fault}"
    return f": not readable as a table: {' '.join(str(error).split()).removeprefix('CSV parse error: ')[:200]}"


def _parquet(path: Path, ignore_extra: bool, names: Mapping[str, str]) -> Raw:
    with open_parquet(path) as file:
        found = {names.get(name, name): name for name in file.schema_arrow.names}
        kept = check(list(found), str(path), ignore_extra)
        if file.metadata.num_rows > MOST_ROWS:
            raise ValueError(f"{path}: {file.metadata.num_rows:,} rows; at most {MOST_ROWS:,}")
        table = file.read(columns=[found[name] for name in kept]).rename_columns(kept)
    return Raw(path, _categories(table), None)


def _objects(path: Path, ignore_extra: bool, names: Mapping[str, str]) -> Raw:
    """Objects with named fields, one a line or in an array."""
    lines, rows = [], []
    seen: dict[str, None] = {}
    for line, record in _records(path):
        lines.append(line)
        rows.append({names.get(name, name): value for name, value in record.items()} if names else record)
        seen.update(dict.fromkeys(rows[-1]))
        if len(rows) > MOST_ROWS:
            raise ValueError(f"{path}: more than {MOST_ROWS:,} rows")
    kept = check(list(seen), str(path), ignore_extra)
    lacking = next(((line, name) for line, row in zip(lines, rows, strict=True) for name in REQUIRED
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
            if shape := shape_of(row):
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
    cache: dict[Any, int] = {}
    found = []
    for value in values:
        try:
            key = (type(value), value)
            code = cache.get(key)
        except TypeError:
            key, code = None, None
        if code is None:
            text = text_of(value)
            code = -1 if text is None else codes.setdefault(text, len(codes))
            if key is not None:
                cache[key] = code
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
        if pyarrow.types.is_nested(column.type) or pyarrow.types.is_null(column.type):
            found[name] = texts(column.to_pylist())
            continue
        coded = column.combine_chunks().dictionary_encode()
        labels = texts(coded.dictionary.to_pylist())
        codes = np.append(labels.codes, -1)[coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        found[name] = pd.Categorical.from_codes(codes, labels.categories)
    return pd.DataFrame(found)


def _lengths(raw: Raw) -> None:
    """No cell may be longer than anything that a judge says in a verdict; texts of questions are."""
    for name in raw.table.columns.difference(["question_text", "question"], sort=False):
        column = raw.table[name].cat
        for code, text in enumerate(column.categories):
            if len(text) > LONGEST_CELL:
                row = int((column.codes == code).to_numpy().argmax())
                fault = f"column {name!r} holds {len(text):,} letters; at most {LONGEST_CELL:,}"
                raise ValueError(f"{raw.place(row)}: {fault}")
