"""Files of others: where they lie, what they are, and strict reading of their records, each with its place."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, TypeVar

from ..escaping import UNSEEN
from ..json_text import Odd, decode, document
from ..paths import load_table
from ..types import Answer, Question, short_hash
from .hub import NAMES

KINDS = load_table("datasets/kinds.toml")
#: More bytes than any file of verdicts holds, unpacked.
MOST_BYTES = 4_000_000_000
#: Bytes by which a file is known for what it is.
HEAD = 4096
#: Letters of a found value that an error message shows.
LONGEST_SHOWN = 40
#: Fields that hold a name, which sentences, figures and files will repeat, and the letters that one may have.
NAMED = frozenset(NAMES["fields"]["names"])
LONGEST_NAME = 200
# A cell may hold a whole text.
csv.field_size_limit(2**31 - 1)
#: Ends of the names of tables of text.
TABLES = (".csv", ".tsv")
_BYTES = re.compile("[\udc80-\udcff]")
_T = TypeVar("_T")
_SPACE = re.compile(r"[ \t\r\n]*")
_PROMPTS = re.compile(r'"prompts"[ \t\r\n]*:[ \t\r\n]*\[')


class Record(dict[str, Any]):
    """One record of a file: its fields, each checked when it is read; what does not fit is a ValueError."""

    def typed(self, name: str, kind: Any, expected: str, each: Any = object, needed: bool = False) -> Any:
        """What a field holds, a `kind` (of `each`); None where it is null or missing, unless it is `needed`."""
        value: Any = self.get(name)
        fits = isinstance(value, kind) and (kind is not list or all(isinstance(part, each) for part in value))
        refuse_if(not (fits and value) if needed else value is not None and not fits, name, value, expected)
        return value

    def need(self, *names: str, words: str = "") -> None:
        """A ValueError, with these `words`, where one of these fields is missing."""
        if lacking := [name for name in names if name not in self]:
            found = ", ".join(self) or "no field"
            raise ValueError(f"{words or f'field {lacking[0]!r} is missing'}; found {found}")

    def text(self, name: str, *, blank: bool = False) -> str:
        """The text in a field; missing, blank (unless `blank`), not encodable is refused, and a name nobody can see."""
        self.need(name)
        return checked_text(self[name], name, blank)

    def texts(self, *names: str) -> tuple[str, ...]:
        """The texts in several fields."""
        return tuple(map(self.text, names))

    def text_or_none(self, name: str, blank: bool = False) -> str | None:
        """The text in a field, None where it is missing or null."""
        return None if self.get(name) is None else self.text(name, blank=blank)

    def listed(self, name: str, expected: str = "a list of texts") -> tuple[str, ...]:
        """The texts of the list in a field, none where it is null or missing."""
        return tuple(checked_text(value, name) for value in self.typed(name, list, expected) or ())

    def name(self, name: str, instead: str) -> str:
        """The name in a field, in one line, or `instead` where it is missing, null or blank."""
        if self.get(name) is None or not str(self[name]).strip():
            return instead
        refuse_if(not self.text(name).isprintable(), name, self[name], "a name in one line")
        return self.text(name)

    def id(self, *names: str) -> str:
        """The id in the first of these fields (`uid`, else `question_id`) that is there, be it a text or a number."""
        names = names or ("uid", "question_id")
        name = next((name for name in names if self.get(name) is not None), names[-1])
        self.need(name, words=f"neither {' nor '.join(map(repr, names))}" if len(names) > 1 else "")
        return str(self[name]) if type(self[name]) is int else self.text(name)

    def whole_number(self, name: str, least: int) -> int:
        """The whole number in a field, from `least` up."""
        value = self.get(name)
        refuse_if(type(value) is not int or value < least, name, value, f"a whole number from {least} up")
        return value

    def number(self, name: str) -> float:
        """The number in a field, NaN where it is null or missing."""
        return number_or_nan(self.get(name), f"field {name!r}")


def checked_text(value: Any, name: str, blank: bool = False) -> str:
    """A text that field `name` holds, as it can be sent and written; `blank`: it may be empty."""
    refuse_if(not isinstance(value, str), name, value, "a text")
    if not blank and not value.strip():
        raise ValueError(f"field {name!r} is empty")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        # No provider, file or hash takes half a surrogate pair: better now than at the first call that costs money.
        code = f"U+{ord(value[error.start]):04X}"
        raise ValueError(f"field {name!r} holds a lone surrogate ({code}) at character {error.start + 1}") from None
    return checked_name(value, f"field {name!r}") if name in NAMED else value


def checked_name(text: str, where: str) -> str:
    """A name as sentences and figures can repeat it; one that is endless or holds unseen signs is a ValueError."""
    if len(text) > LONGEST_NAME:
        raise ValueError(f"{where} holds {len(text):,} letters; a name has at most {LONGEST_NAME}")
    for at, sign in enumerate(text, 1):
        if unicodedata.category(sign) in UNSEEN:
            what = f"a sign that nobody sees (U+{ord(sign):04X}) at character {at}"
            raise ValueError(f"{where} holds {what}; names are letters that can be seen")
    return text


def number_or_nan(value: Any, where: str) -> float:
    """A number as float and None as NaN; anything else (a text, a truth value) is a ValueError."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{where} holds {show(value)}, expected a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{where} holds {show(value)}, a number too large to compute with") from None


def refuse_if(wrong: object, name: str, value: Any, expected: str) -> None:
    """A ValueError, where something is wrong, that names a field, what it holds, and what is expected there."""
    if wrong:
        raise ValueError(f"field {name!r} holds {show(value)}, expected {expected}")


def show(value: Any) -> str:
    """A found value, short enough for an error message, with its type."""
    shown = json.dumps(value)
    return f"{shown if len(shown) <= LONGEST_SHOWN else shown[:LONGEST_SHOWN] + '...'} ({type(value).__name__})"


def short_name(text: str) -> str:
    """A text as a name: where it is too long for one, or runs over several lines, its first words and a hash.

    >>> short_name("Why?"), short_name("Explain in your own words why\\nthe sky is blue and grass is green.")
    ('Why?', 'Explain in your own words why the sky... 6c12fcbe')
    """
    if len(text) <= LONGEST_NAME and text.isprintable():
        return text
    words = " ".join(text.split())[:40].rpartition(" ")[0] or text[:12]
    return f"{words}... {short_hash(text)}"


def _record(value: Any) -> Record:
    if not isinstance(value, dict):
        raise ValueError(f"found {show(value)}, expected an object with named fields")
    return Record(value)


@dataclass(frozen=True)
class Records:
    """The records of one file in file order, with the line on which each begins, counted from 1."""

    path: Path
    rows: tuple[Any, ...]
    lines: tuple[int, ...]

    def __post_init__(self) -> None:
        """A file without any record is a ValueError."""
        if not self.rows:
            raise ValueError(f"{self.path}, line 1: no record in this file")

    def place(self, index: int) -> str:
        """Where record `index` stands in error messages: file, line, and number of the record, counted from 1."""
        return f"{self.path}, line {self.lines[index]}, record {index + 1}"

    @property
    def fields(self) -> KeysView[str]:
        """The names of all fields that any record has, in the order in which they come."""
        return dict.fromkeys(name for row in self.rows if isinstance(row, dict) for name in row).keys()

    def kind(self, kinds: Mapping[str, Iterable[str]], expected: str) -> str:
        """The first of these kinds all of whose fields are there; else a ValueError that says what was `expected`."""
        if found := next((kind for kind, needs in kinds.items() if {*needs} <= self.fields), None):
            return found
        raise self.unknown(expected)

    def unknown(self, expected: str) -> ValueError:
        """The error for a file in none of the expected formats; it shows the first record."""
        first = self.rows[0]
        found = ", ".join(first) if isinstance(first, dict) and first else show(first)
        return ValueError(f"{self.place(0)}: found {found}; expected {expected}")

    def map(self, read: Callable[[Record], Any], name: str = "") -> list[Any]:
        """`read` applied to each record; the error of the first it refuses gets its place and field `name` (its id)."""
        name = name or next((each for each in NAMES["fields"]["ids"] if each in self.fields), "id")
        values = []
        for index, row in enumerate(self.rows):
            try:
                values.append(read(_record(row)))
            except ValueError as error:
                value = row.get(name) if isinstance(row, dict) else None
                shown = repr(value) if isinstance(value, str) and len(value) <= LONGEST_SHOWN else show(value)
                who = f" ({name} {shown})" if value is not None else ""
                raise ValueError(f"{self.place(index)}{who}: {error}") from None
        return values

    def refuse_duplicates(self, keys: list[Any], what: str) -> None:
        """Error listing every key that occurs more than once, each with its lines."""
        places: dict[Any, list[str]] = {}
        for key, line in zip(keys, self.lines, strict=True):
            places.setdefault(key, []).append(str(line))
        twice = [(key if isinstance(key, str) else " by ".join(key), at) for key, at in places.items() if len(at) > 1]
        if twice:
            listed = "; ".join(f"{name} (lines {', '.join(at)})" for name, at in twice)
            raise ValueError(f"{self.path}: {what} more than once: {listed}")


@dataclass(frozen=True)
class Problem:
    """What could not be read as it stands: `file` below the folder asked for, `line` from 1 (None: all).

    `kind` is "broken" (a line that holds no judgment), "duplicate" (a question's later lines), "more_games" (games
    after the second), "several" (judges or candidates in one file), "skipped" (a file).
    """

    file: str
    line: int | None
    kind: str
    text: str

    def __str__(self) -> str:
        """The problem in one line, its place first."""
        return f"{self.file}{f', line {self.line}' if self.line else ''}: {self.text}"


@dataclass(frozen=True)
class Loaded:
    """What files hold, as a frame, questions or answers, and what in them could not be read as it stands.

    `without_gold`: the ids of questions that no file gives a gold letter.
    """

    frame: Any = None
    problems: tuple[Problem, ...] = ()
    questions: tuple[Question, ...] = ()
    answers: tuple[Answer, ...] = ()
    without_gold: frozenset[str] = frozenset()

    @property
    def counts(self) -> dict[str, int]:
        """How many problems of each kind there are."""
        return dict(Counter(problem.kind for problem in self.problems))


def read_records(path: Path) -> Records:
    """The records of a JSON array, of the list `prompts` in a JSON object, or of a file with one object a line.

    What is odd (see `json_text.decode`) and bytes that are not UTF-8 are a ValueError with file and line.
    """
    text = read_text(path)
    found: list[tuple[int, Any]] = []
    try:
        # One by one, so that the number of an odd record is known.
        for each in _values(text, one_a_line=end_of_name(path) == ".jsonl"):
            found.append(each)
    except json.JSONDecodeError as error:
        which = f", record {len(found) + 1}" if found or isinstance(error, Odd) else ""
        raise ValueError(f"{path}, line {error.lineno}{which}: not readable as JSON: {error.msg}") from None
    places = [at for at, _ in found]
    lines = accumulate((text.count("\n", *span) for span in pairwise((0, *places))), initial=1)
    return Records(path, tuple(value for _, value in found), tuple(lines)[1:])


def read_lines(path: Path) -> Iterator[tuple[int, Record | str]]:
    """Each record of a JSON lines, CSV or Parquet file, or what is wrong with it, with its line (Parquet: number)."""
    end = end_of_name(path)
    if end == ".parquet":
        with open_parquet(path) as file:
            yield from enumerate((Record(row) for batch in file.iter_batches(1000) for row in batch.to_pylist()), 1)
        return
    table = end in TABLES
    # Bytes that are no text survive as half characters, so that one record is lost to them and not the file.
    with io.TextIOWrapper(_opened(path), "utf-8-sig", "surrogateescape", newline="" if table else "\n") as text:
        yield from _cells(text, path) if table else _objects(text)


def read_each(path: Path, name: str, read: Callable[[Record], _T], problems: list[Problem]) -> Iterator[tuple[int, _T]]:
    """`read` applied to each record of a file called `name`, with its line; what it refuses joins the problems."""
    for line, record in read_lines(path):
        try:
            if isinstance(record, str):
                raise ValueError(record)
            yield line, read(record)
        except ValueError as error:
            problems.append(Problem(name, line, "broken", str(error)))


def _objects(lines: Iterable[str]) -> Iterator[tuple[int, Record | str]]:
    """Each line that is not blank with its number: its object, or what is wrong with it."""
    for number, line in enumerate(lines, 1):
        try:
            if _BYTES.search(line):
                yield number, "not UTF-8 text"
            elif line.strip():
                yield number, _record(document(line))
        except json.JSONDecodeError as error:
            broken = f"not readable as JSON: {error.msg} at character {error.pos + 1}"
            yield number, error.msg if isinstance(error, Odd) else broken
        except ValueError as error:
            yield number, str(error)


def read_rows(path: Path) -> Records:
    """The records of a JSON, JSON lines or CSV file; an empty cell is None, as CSV knows no null."""
    if end_of_name(path) not in TABLES:
        return read_records(path)
    rows = {}
    for line, row in _cells(io.StringIO(read_text(path), newline=""), path):
        if isinstance(row, str):
            raise ValueError(f"{path}, line {line}: {row}")
        rows[line] = {name: cell or None for name, cell in row.items()}
    return Records(path, tuple(rows.values()), tuple(rows))


def _cells(lines: Iterable[str], path: Path) -> Iterator[tuple[int, Record | str]]:
    """Each row of a table with its line: its cells by column, or what is wrong with them.

    A name twice in the header and a broken quote, behind which nobody knows where rows begin, are ValueErrors.
    """
    lines = iter(lines)
    first = next(lines, "")
    reader = csv.reader(chain([first], lines), strict=True, delimiter=max(",;\t", key=first.count))
    try:
        names = [cell.strip() for cell in next(reader)]
        if len(set(names)) < len(names):
            raise ValueError(f"{path}, line 1: a column's name occurs twice")
        line = reader.line_num + 1
        for cells in reader:
            odd = [name for name, cell in zip(names, cells, strict=False) if _BYTES.search(cell)]
            if cells and len(cells) != len(names):
                yield line, f"{len(cells)} cells where the header has {len(names)}"
            elif cells:
                text = f"field {odd[0]!r} holds bytes that are not UTF-8" if odd else ""
                yield line, text or Record(zip(names, cells, strict=True))
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: not readable as CSV: {error}") from None


def _values(text: str, one_a_line: bool) -> Iterator[tuple[int, Any]]:
    """Each record with the place where it begins."""
    start = _skip(text, 0)
    if text.startswith("[", start):
        yield from _elements(text, start)
        return
    if not one_a_line:
        listed = _PROMPTS.search(text)
        try:
            value, end = decode(text, start)
        except Odd:
            if listed:  # the place of what is odd in the list
                yield from _elements(text, listed.end() - 1, len(text))
            raise
        if _skip(text, end) == len(text):
            inside = listed and isinstance(value, dict) and isinstance(value.get("prompts"), list)
            yield from _elements(text, listed.end() - 1, end) if inside else [(start, value)]
            return
    for line in re.finditer(r"[^\n]+", text):
        if line[0].strip():
            try:
                yield line.start(), document(line[0])
            except json.JSONDecodeError as error:
                raise type(error)(error.msg, text, line.start() + error.pos) from None


def _elements(text: str, at: int, end: int | None = None) -> Iterator[tuple[int, Any]]:
    """The values of the array that opens at `at`; behind it there is nothing, or a text known to be well-formed."""
    at = _skip(text, at + 1)
    more = not text.startswith("]", at)
    while more:
        value, after = decode(text, at)
        yield at, value
        at = _skip(text, after)
        if more := text.startswith(",", at):
            at = _skip(text, at + 1)
    if not text.startswith("]", at):
        raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    if end is None and _skip(text, at + 1) < len(text):
        raise json.JSONDecodeError("Extra data", text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """A Parquet file for reading; what is none, or breaks off, is a ValueError."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            yield file
    except (ArrowException, OSError) as error:
        raise ValueError(f"{path}: not readable as Parquet: {str(error).splitlines()[0]}") from None


def read_text(path: Path, data: bytes | None = None) -> str:
    """The text of a file (of its `data`); bytes that are not UTF-8 are a ValueError with their line."""
    data = read_bytes(path) if data is None else data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {line}: not UTF-8 text; save it as UTF-8 (Excel: CSV UTF-8)") from None


def read_bytes(path: Path) -> bytes:
    """The bytes of a text file, unpacked where its name ends in .gz, CR alone as the end of a line.

    What is no text (`kinds.toml`), and more than MOST_BYTES, is a ValueError that says what it is and what to do.
    """
    with _opened(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"{path}: more than {MOST_BYTES:,} bytes")
    return data


def _opened(path: Path) -> Any:
    file: Any = path.open("rb")
    if path.suffix.lower() == ".gz":
        with gzip.open(file) as packed, file:
            try:
                file = io.BytesIO(packed.read(MOST_BYTES + 1))
            except (OSError, EOFError, zlib.error) as error:
                raise ValueError(f"{path}: not readable as gzip: {error}") from None
        if file.getbuffer().nbytes > MOST_BYTES:
            raise ValueError(f"{path}: more than {MOST_BYTES:,} bytes when unpacked")
    head = file.read(HEAD)
    file.seek(0)
    plain = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for form, begin in (("bytes", head), ("text", plain)):
        for starts, what, instead in KINDS[form]:
            if begin.startswith(starts.encode("latin-1")):
                file.close()
                raise ValueError(f"{path}: {what}; {instead}")
    if b"\r" not in head or b"\n" in head:
        return file
    with file:
        return io.BytesIO(file.read(MOST_BYTES + 1).replace(b"\r", b"\n"))


def end_of_name(path: Path) -> str:
    """How the name of a file ends, ".gz" aside; JSON lines by any of their names."""
    end = Path(path.name.lower().removesuffix(".gz")).suffix
    return ".jsonl" if end in (".ndjson", ".jsonlines") else end


def first_record(path: Path) -> dict[str, Any]:
    """The first record of a JSON file, by whose fields its format is known; an empty one where there is none.

    NaN, which logs hold, is no obstacle to that; whoever reads the records says what is wrong with them.
    """
    with _opened(path) as file:
        data = next((line for line in file if line.strip()), b"") if end_of_name(path) == ".jsonl" else file.read()
    text = data.decode("utf-8-sig", "replace").lstrip()
    try:
        record, _ = json.JSONDecoder().raw_decode(text.removeprefix("[").lstrip())
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
