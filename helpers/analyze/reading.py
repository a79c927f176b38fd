"""A tidy file of verdicts, whatever its format, and what each of its cells says. A name is never a verdict."""

from __future__ import annotations

import io
import json
import math
import pkgutil
import re
import string
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from csv import Error as csv_error, reader
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ..datasets import normalised
from ..datasets.reading import checked_name, end_of_name, open_parquet, read_bytes, read_records, read_text
from ..json_text import no_duplicates
from ..verdicts.forms import NUMBER

if TYPE_CHECKING:
    import pyarrow

#: Columns, spellings and needs: what a file of verdicts may hold.
ACCEPTED: dict[str, dict[str, Any]] = tomllib.loads((pkgutil.get_data(__package__, "accepted.toml") or b"").decode())
REQUIRED, OPTIONAL = ACCEPTED["needed"], ACCEPTED["optional"]
ALL = REQUIRED | OPTIONAL
VALID = f"Valid: {', '.join(REQUIRED)} (needed), {', '.join(OPTIONAL)}"
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
    if not found:
        raise ValueError(f"{where}: the file is empty; its first line names the columns: {','.join(REQUIRED)}")
    if twice := sorted({name for name in found if found.count(name) > 1}):
        raise ValueError(f"{where}: column {', '.join(map(repr, twice))} stands there more than once")
    unknown = [name for name in found if name not in ALL]
    # A misspelled column is reported once, with the name that was meant.
    meant = {name: _nearest(name, unknown) for name in REQUIRED if name not in found}
    faults = [
        f"no column {name!r}" + (f", perhaps {near!r}: rename it" if near else f" ({REQUIRED[name]})")
        for name, near in meant.items()
    ]
    others = [] if ignore_extra else [name for name in unknown if name not in meant.values()]
    for name in others:
        near = _nearest(name, [each for each in ALL if each not in found])
        faults.append(f"unknown column {name!r}" + (f" (did you mean {near!r}?)" if near else ""))
    if faults:
        extra = "; --ignore-extra leaves unknown columns unread, --map judge=NAME renames one" if others else ""
        raise ValueError(f"{where}: {'; '.join(faults)}. Found: {', '.join(map(repr, found))}. {VALID}{extra}")
    return [name for name in found if name in ALL]


def _nearest(name: str, among: Iterable[str]) -> str:
    spelled = {each.strip().lower(): each for each in among}
    close = get_close_matches(name.strip().lower(), spelled, 1, NEAR)
    return spelled[close[0]] if close else ""


def shape_of(record: Mapping[str, Any]) -> str:
    """What a JSON object is that holds many verdicts, or none, and what to do; "" where it may be one verdict."""
    values = [record[name] for name in REQUIRED if name in record]
    by_column = bool(values) and all(isinstance(each, dict) for each in values)
    if by_column or isinstance(record.get("judge"), list) or {"columns", "data"} <= {*record}:
        return "column-wise JSON; save it with orient='records', an object a verdict"
    inner = {f"{outer}.{name}": each for outer, value in record.items() if isinstance(value, dict)
             for name, each in value.items()}  # fmt: skip
    every = {**record, **inner}
    for name, value in every.items():
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            return f"one object whose list {name!r} holds the records; save that list as a file of its own"
    ends = (".csv", ".json", ".jsonl", ".parquet", ".eval")
    files = [each for each in (*every.values(), *record) if isinstance(each, str) and each.lower().endswith(ends)]
    return f"a list of files, no verdicts; name one of them, such as {files[0][:80]!r}" if files else ""


def name_of(text: str | None, what: str) -> str:
    """A name as sentences and figures can hold it; empty, too long or with signs nobody sees is a ValueError."""
    if not (text or "").strip():
        raise ValueError(f"{what} is empty")
    return checked_name(text.strip(), what)


@dataclass(frozen=True)
class Raw:
    """The columns of a file as texts (missing: empty), and where a row stands.

    `lines` are the lines of the rows where the format tells them.
    """

    path: Path
    table: pd.DataFrame
    lines: Sequence[int] | None

    def place(self, row: int) -> str:
        """Where a row stands, as errors tell it."""
        return f"{self.path}, row {row + 1}" if self.lines is None else f"{self.path}, line {self.lines[row]}"


def end_of(path: Path) -> str:
    """The end of a file's name that tells how it is read; another one is a ValueError that lists those known."""
    end = end_of_name(path)
    if end in READERS and not (end == ".parquet" and path.suffix.lower() == ".gz"):
        return end
    raise ValueError(f"{path}: files are read by the end of their name, {', '.join(READERS)} (texts also with .gz)")


def read(path: Path, ignore_extra: bool = False, names: Mapping[str, str] | None = None) -> Raw:
    """The columns of a tidy file of verdicts; what is no such file is a ValueError with its place.

    `names` are our columns by those that the file has in their place.
    """
    raw = READERS[end_of(path)](path, ignore_extra, names or {})
    if raw.table.empty:
        raise ValueError(f"{path}: no row of verdicts in this file")
    _check_rows(path, len(raw.table))
    # No cell may be longer than anything that a judge says in a verdict; texts of questions are.
    for name in raw.table.columns.difference(["question_text", "question"], sort=False):
        letters = raw.table[name].str.len().fillna(0)
        if letters.max() > LONGEST_CELL:
            fault = f"column {name!r} holds {letters.max():,.0f} letters; at most {LONGEST_CELL:,}"
            raise ValueError(f"{raw.place(int(letters.argmax()))}: {fault}")
    return raw


def _check_rows(path: Path, count: int) -> None:
    if count > MOST_ROWS:
        raise ValueError(f"{path}: {count:,} rows; at most {MOST_ROWS:,}")


def header(path: Path, data: bytes | None = None) -> tuple[int, list[str], str]:
    """Where the header of a CSV file stands (its line, from 1), the names of columns, and what stands between them.

    Lines of comments (#) before it, and the line sep= that Excel reads, are no header.
    """
    between, line, text = "\t" if end_of_name(path) == ".tsv" else ",", 0, ""
    for each in io.BytesIO(read_bytes(path) if data is None else data):
        line, text = line + 1, each.decode("utf-8-sig", "replace").rstrip("\r\n")
        if named := re.match(r'"?sep=(.)', text, re.IGNORECASE):
            between = named[1]
        elif not text.startswith("#"):
            break
    # As the file's name or its first line tells, or what spreadsheets of many countries write instead.
    try:
        found = {each: next(reader([text], delimiter=each), []) for each in (between, ";", "\t", ",")}
    except csv_error as error:
        raise ValueError(f"{path}, line {line}: not readable as a table: {error}") from None
    between = next((each for each, names in found.items() if {*names} & {*ALL, "model_a"}), between)
    return max(line, 1), found[between], between


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
        raise ValueError(f"{path}{_uneven(path, data, first, separator, len(found), error)}") from None
    filled = any(text.strip() for name in bare for text in table.column(name).unique().to_pylist())
    if filled and not ignore_extra:
        check([*dict.fromkeys(name.strip() for name in found)], f"{path}, line {first}", ignore_extra)
    # Lines and rows are the same thing where no value runs over several lines.
    plain = data.rstrip(b"\r\n").count(b"\n") == len(table) + first - 1
    lines = range(first + 1, len(table) + first + 1) if plain else None
    return Raw(path, _texts_in(table.select(kept)), lines)


def _uneven(path: Path, data: bytes, first: int, separator: str, size: int, error: Exception) -> str:
    """Which line has too many cells or too few, in words; else what the reader says."""
    rows = reader(io.StringIO(read_text(path, data), newline=""), delimiter=separator)
    with suppress(csv_error):
        for row in rows:
            if row and len(row) != size and rows.line_num > first:
                fault = f"{len(row)} cells where the header has {size}"
                return f", line {rows.line_num}: {fault} (a value that holds {separator!r} stands in quotes)"
    return f": not readable as a table: {' '.join(str(error).split()).removeprefix('CSV parse error: ')[:200]}"


def _parquet(path: Path, ignore_extra: bool, names: Mapping[str, str]) -> Raw:
    with open_parquet(path) as file:
        found = {names.get(name, name): name for name in file.schema_arrow.names}
        kept = check(list(found), str(path), ignore_extra)
        _check_rows(path, file.metadata.num_rows)
        table = file.read(columns=[found[name] for name in kept]).rename_columns(kept)
    return Raw(path, _texts_in(table), None)


def _objects(path: Path, ignore_extra: bool, names: Mapping[str, str]) -> Raw:
    """Objects with named fields, one a line or in an array."""
    records = read_records(path)
    rows = records.map(lambda record: {names.get(name, name): value for name, value in record.items()})
    if len(rows) == 1 and end_of(path) == ".json" and (shape := shape_of(rows[0])):
        raise ValueError(f"{path}: {shape}")
    kept = check([*dict.fromkeys(name for row in rows for name in row)], str(path), ignore_extra)
    raw = Raw(path, pd.DataFrame({name: texts(row.get(name) for row in rows) for name in kept}), records.lines)
    for number, row in enumerate(rows):
        if lacking := [name for name in REQUIRED if name not in row]:
            fault = f"field {lacking[0]!r} is missing; null where it is not known"
            raise ValueError(f"{raw.place(number)}: {fault}")
    return raw


#: What reads a file, by the end of its name; text files may end in .gz too.
READERS = {".csv": _delimited, ".tsv": _delimited, ".jsonl": _objects, ".json": _objects, ".parquet": _parquet}


def text_of(value: Any) -> str | None:
    """A value as text: a list or object as its JSON, an empty one as None."""
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text or None


def texts(values: Iterable[Any]) -> pd.Series:
    """Values as texts."""
    return pd.Series([*map(text_of, values)], dtype="str")


def _texts_in(table: pyarrow.Table) -> pd.DataFrame:
    """The columns of a table as texts; lists and objects as their JSON, in which null is null."""
    import pyarrow

    def text(column: pyarrow.ChunkedArray) -> pd.Series:
        if pyarrow.types.is_string(column.type):
            stripped = column.to_pandas().astype("str").str.strip()
            return stripped.where(stripped != "")
        return texts(column.to_pylist() if pyarrow.types.is_nested(column.type) else column.to_pandas())

    return pd.DataFrame({name: text(each) for name, each in zip(table.column_names, table.columns, strict=True)})


#: Words for a verdict on two answers, and those in the place of one that could not be read, with its outcome.
LABELS = {word: label for label, words in ACCEPTED["labels"].items() for word in words}
UNREAD = {word: outcome for outcome, words in ACCEPTED["unread"].items() for word in words}
ORDERS = ("shown", "reversed", "unknown")


class Parsed(NamedTuple):
    """One cell of `verdict`: its style ("": unreadable), the value in shown terms, and the outcome.

    The value is a label, the places from best to worst, or a number a place (NaN: unreadable).
    """

    style: str
    value: Any
    outcome: str = "ok"


def _json(text: str) -> Any:
    """The list or object that a text is; None for any other."""
    if not text.startswith(("[", "{")):
        return None
    try:
        return json.loads(text, object_pairs_hook=no_duplicates)
    except (json.JSONDecodeError, RecursionError):
        return None


def listed(text: str) -> list[str]:
    """The parts of a cell that holds one for each candidate, a JSON list or | between them; "" where one is null."""
    values = _json(text)
    if not isinstance(values, list):
        return [part.strip() for part in text.split("|")]
    if any(isinstance(value, dict | list | bool) for value in values):
        raise ValueError(f"found {text[:80]!r}, expected a list of texts or numbers")
    return ["" if value is None else str(value) for value in values]


def candidates_of(text: str) -> tuple[str, ...]:
    """The names in a cell of `candidates`: a JSON list, or a text with | between them.

    >>> candidates_of('["a|b", "c"]'), candidates_of("gpt-5 | claude")
    (('a|b', 'c'), ('gpt-5', 'claude'))
    """
    names = tuple(name_of(name, "a candidate's name") for name in listed(text) or [""])
    if len(names) > MOST_CANDIDATES:
        raise ValueError(f"{len(names)} candidates; at most {MOST_CANDIDATES}")
    # The same name twice in a pair is the same text twice: a control.
    if len(set(names)) < len(names) and len(names) != 2:
        raise ValueError(f"a candidate stands twice in {text[:80]!r}")
    return names


def valid(shown: Sequence[str]) -> str:
    """What a verdict on these candidates may be, in words."""
    return f"valid: {ACCEPTED['valid'][str(min(len(shown), 3))]}"


def verdict_of(text: str | None, shown: Sequence[str], positive: str = "") -> Parsed:
    """What a cell of `verdict` says of the candidates, in shown order; what says nothing known is a ValueError.

    A text that can be read in two ways, a name that is also a label, is one too. `positive`: as in `cells`.

    >>> verdict_of("[[A]]", ("x", "y")), verdict_of("y", ("x", "y")).value, verdict_of("7.5", ("x",)).value
    (Parsed(style='label', value='A>B', outcome='ok'), 'B>A', (7.5,))
    >>> verdict_of("z > x > y", ("x", "y", "z")).value, verdict_of(None, ("x", "y")).outcome
    ((2, 0, 1), 'unparsed')
    >>> verdict_of("A", ("B", "A"))
    Traceback (most recent call last):
    ValueError: verdict 'A' is a label (A>B) and the name of a candidate (B>A); write the label as A>B or B>A
    """
    if text is None:
        return Parsed("", None, "unparsed")
    value = _json(text)
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        parts = [each.strip() for each in value]
    elif value is not None:
        return _scores(value, text, shown)
    else:
        parts = [each.strip() for each in text.split(">")]
    several = value is not None or (len(shown) > 2 and len(parts) > 1) or sorted(parts) == sorted(shown)
    ranked = several and len(shown) > 1
    ways = dict(_ways(text, parts if ranked else [], shown, positive))
    if ranked and not ways:
        odd = next((part for part in parts if part not in shown), text)
        raise ValueError(f"verdict {text[:60]!r} ranks {odd[:40]!r}, which was not shown; shown: {', '.join(shown)}")
    if not ways:
        fault = f"verdict {text[:60]!r} on {' | '.join(shown)[:120]} is none; {valid(shown)}"
        raise ValueError(f"{fault}; nothing, or {', '.join(UNREAD)}, where it could not be read")
    if len({*ways.values()}) > 1:
        raise ValueError(f"verdict {text[:60]!r} is {' and '.join(ways)}; write the label as A>B or B>A")
    return next(iter(ways.values()))


def _ways(text: str, ranked: Sequence[str], shown: Sequence[str], positive: str) -> Iterator[tuple[str, Parsed]]:
    """Each way in which a text, or the places that it ranks, is a verdict, in words."""
    number = float(text) if NUMBER.fullmatch(text) else math.nan
    if len(shown) == 2 and (label := normalised(text) or LABELS.get(text.strip("[]").strip().lower())):
        yield f"a label ({label})", Parsed("label", label)
    if len(shown) == 2 and shown.count(text) == 1:
        label = "A>B" if text == shown[0] else "B>A"
        yield f"the name of a candidate ({label})", Parsed("label", label)
    if len(shown) == 1 and math.isfinite(number):
        yield "a score", Parsed("scores", (number,))
    if positive and len(shown) == 2 and not math.isnan(number):
        label = label_of(number if positive == "first" else -number, strong=abs(number) > 1)
        yield f"a grade ({label})", Parsed("label", label)
    if outcome := UNREAD.get(text.lower()):
        yield f"a word for none ({outcome})", Parsed("", None, outcome)
    for what, names in (("labels", string.ascii_uppercase[: len(shown)]), ("names", shown)):
        if ranked and {*ranked} <= {*names}:
            yield f"a ranking of {what}", _ranking([names.index(part) for part in ranked], len(shown))


def _ranking(places: Sequence[int], size: int) -> Parsed:
    """Places from best to worst; one left out or named twice is the judge's fault and counted as invalid_ranking."""
    if sorted(places) != [*range(size)]:
        return Parsed("", None, "invalid_ranking")
    return Parsed("ranking", tuple(places)) if size > 2 else Parsed("label", "B>A" if places[0] else "A>B")


def label_of(lead: float, strong: bool = False) -> str:
    """The label for the first of two answers where it leads, for the second where it is behind."""
    sign = ">>" if strong else ">"
    return f"A{sign}B" if lead > 0 else f"B{sign}A" if lead < 0 else "A=B"


def _scores(value: list | dict, text: str, shown: Sequence[str]) -> Parsed:
    """A number for each candidate, by name or in shown order; NaN where one is null."""
    if isinstance(value, dict):
        unknown = sorted({*value} - {*shown})
        if unknown or len({*shown}) < len(shown):
            raise ValueError(f"verdict {text[:60]!r} scores {', '.join(unknown)}; shown: {', '.join(shown)}")
        value = [value.get(name) for name in shown]
    numbers = [math.nan if each is None else each for each in value]
    if any(isinstance(each, bool) or not isinstance(each, int | float) or math.isinf(each) for each in numbers):
        raise ValueError(f"verdict {text[:60]!r} holds neither names alone nor numbers alone; {valid(shown)}")
    if len(numbers) != len(shown):
        raise ValueError(f"verdict {text[:60]!r} has {len(numbers)} scores for {len(shown)} candidates")
    if sorted(str(each) for each in numbers) == sorted(shown):
        raise ValueError(f"verdict {text[:60]!r} may be scores or a ranking of names that are numbers; rename them")
    return Parsed("scores", tuple(map(float, numbers)))


class Row(NamedTuple):
    """What a row says of its candidates, in shown order; a value that it does not have is None."""

    shown: tuple[str, ...]
    ordered: bool
    verdict: Parsed
    gold: Parsed
    vendors: tuple[str | None, ...]
    lengths: tuple[float | None, ...]
    named: tuple[str | None, ...]


@dataclass(frozen=True)
class Cells:
    """What the rows of a tidy file say: the different `rows`, for each row of the file which of them it is (`at`), and
    for each of them the first row of the file that says it.
    """

    raw: Raw
    style: str
    rows: list[Row]
    at: np.ndarray
    first: np.ndarray


def cells(raw: Raw, positive: str = "") -> Cells:
    """The rows of a file of one style; the first cell that says nothing, and a mix of styles, are ValueErrors.

    `positive`: verdicts on two answers are grades around 0; those above it are for "first" or "second".
    """
    names = ("candidates", "order", "verdict", "gold", "candidate_vendors", "length", "named")
    rows, at = read_each(raw, names, partial(_row, positive=positive))
    first = np.unique(at, return_index=True)[1]
    styles: dict[str, int] = {}
    for place, row in zip(map(int, first), rows, strict=True):
        if row.verdict.style:
            styles.setdefault(row.verdict.style, place)
    if len(styles) > 1:
        words = "; ".join(
            f"{raw.place(place)} holds {ACCEPTED['styles'][style]} ({raw.table['verdict'][place][:40]!r})"
            for style, place in styles.items()
        )
        raise ValueError(f"{words}. One file holds one style of verdicts: split it")
    # A file without any readable verdict is a result, too; its style follows from the number of candidates.
    sizes = [len(row.shown) for row in rows]
    style = next(iter(styles), {1: "scores", 2: "label"}.get(max(sizes), "ranking"))
    expected = 2 if style == "label" else sizes[0]
    if style != "scores" and (odd := [number for number, size in enumerate(sizes) if size != expected]):
        found, other = sizes[odd[0]], raw.place(int(first[odd[0]]))
        if style == "label":
            raise ValueError(f"{other}: a label is a verdict on 2 candidates, found {found}")
        differ = f"{raw.place(0)} ranks {expected} candidates, {other} {found}"
        raise ValueError(f"{differ}. Rankings of one file are of equally many: split it")
    return Cells(raw, style, rows, at, first)


def numbered(table: pd.DataFrame) -> np.ndarray:
    """The number of each row's combination of values, in the order in which they appear."""
    return table.groupby([*table], sort=False, observed=True, dropna=False).ngroup().to_numpy()


def read_each(raw: Raw, names: Iterable[str], read: Callable[[dict[str, Any]], Any]) -> tuple[list[Any], np.ndarray]:
    """`read` applied to each different combination of cells of these columns; an error names the row.

    A cell that is empty, or whose column is not there, is None or missing. Also the place of each row in the results.
    """
    table = raw.table[[name for name in names if name in raw.table]]
    at = numbered(table)
    first = np.unique(at, return_index=True)[1]
    different = table.iloc[first].astype(object)
    values = []
    for number, cell in enumerate(different.where(different.notna(), None).to_dict("records")):
        try:
            values.append(read(cell))
        except ValueError as error:
            count = int((at == number).sum())
            more = f" (and {count - 1:,} more rows)" if count > 1 else ""
            raise ValueError(f"{raw.place(int(first[number]))}{more}: {error}") from None
    return values, at


def _row(cell: dict[str, str | None], positive: str) -> Row:
    if cell["candidates"] is None:
        raise ValueError("candidates is empty")
    written = candidates_of(cell["candidates"])
    order = (cell.get("order") or "shown").lower()
    if order not in ORDERS:
        raise ValueError(f"order {order[:40]!r}; valid: {', '.join(ORDERS)}, or nothing (shown)")
    shown = written[::-1] if order == "reversed" else written

    def each(name: str, read: Callable[[str], Any]) -> tuple[Any, ...]:
        text = cell.get(name)
        parts = [""] * len(shown) if text is None else listed(text)
        if len(parts) != len(shown):
            raise ValueError(f"{name} {text[:60]!r} has {len(parts)} values for {len(shown)} candidates")
        # As written or turned: whichever order the names of the row have.
        return tuple(read(part) if part else None for part in (parts if written == shown else parts[::-1]))

    made, named = (each(name, partial(name_of, what="a vendor")) for name in ("candidate_vendors", "named"))
    verdict, gold = verdict_of(cell["verdict"], shown, positive), _gold_of(cell.get("gold"), shown)
    return Row(shown, order != "unknown", verdict, gold, made, each("length", _length), named)


def _gold_of(text: str | None, shown: tuple[str, ...]) -> Parsed:
    """What should have been said; of several candidates the name of the best will do."""
    if len(shown) > 2 and text in shown:
        return Parsed("ranking", (shown.index(text),))
    try:
        return verdict_of(text, shown)
    except ValueError as error:
        raise ValueError(f"gold: {error}") from None


def _length(text: str) -> float:
    """How long an answer is; what is no number from 0 is a ValueError."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"length {text[:40]!r}, expected numbers from 0 up")
    return value


def column(raw: Raw, name: str) -> Any:
    """A column of names, or of whole numbers (repeat), checked: each different one a category, in order.

    `instead` of accepted.toml stands for what is not there; an empty cell without it is a ValueError.
    """
    instead = ACCEPTED["instead"].get(name)

    def one(cell: dict[str, str | None]) -> str | int:
        text = cell[name]
        if name == "repeat":
            if text is None or not text.isascii() or not text.isdigit() or len(text) > 6:
                raise ValueError(f"repeat {text!r}, expected a whole number from 0")
            return int(text)
        return instead if text is None and instead is not None else name_of(text, name)

    there = name in raw.table
    values, at = read_each(raw, [name], one) if there else ([instead], np.zeros(len(raw.table), dtype=np.int64))
    if name == "repeat":
        return np.array(values, dtype=np.int64)[at]
    codes, categories = pd.factorize(np.array(values, dtype=object))
    return pd.Categorical.from_codes(codes[at], pd.Index(categories, dtype=object))


def refuse_two(raw: Raw, what: str, value: str, given: Iterable[tuple[int, str, str | None]]) -> dict[str, str]:
    """The value of each name, of rows that name both or the name alone; a name with two values is a ValueError."""
    found: dict[str, str] = {}
    for row, name, each in given:
        if each and found.setdefault(name, each) != each:
            twice = f"{what} {name!r} is of the {value} {each!r}, and of {found[name]!r} before"
            raise ValueError(f"{raw.place(row)}: {twice}")
    return found


def refuse_again(place: Callable[[int], str], asked: pd.DataFrame, what: str) -> None:
    """Every row stands for another asking; two rows for one are a ValueError that names the places of both."""
    at = numbered(asked)
    counts = np.bincount(at)
    if counts.max() > 1:
        one, other, *_ = np.flatnonzero(at == at[(counts[at] > 1).argmax()])
        many = int((counts > 1).sum())
        more = f" ({many:,} such)" if many > 1 else ""
        repeated = f"{place(int(other))}: {what} was judged before, {place(int(one))}{more}"
        raise ValueError(f"{repeated}; number repeated askings in a column 'repeat' (0, 1, ...)")
