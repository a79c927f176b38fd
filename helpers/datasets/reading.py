"""Strict reading of JSON and JSON lines: every record keeps its line, and nothing odd is let through."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.datasets.walking import Odd, too_deep, walk
from helpers.escaping import UNSEEN

#: Letters of a found value that an error message shows.
LONGEST_SHOWN = 40
#: Fields that hold a name, which sentences, figures and files will repeat: one line of letters that can be seen.
NAMES = frozenset(
    (
        *("id", "uid", "pid", "prompt_id", "question_id", "question_unique_id", "set_unique_id", "article_id"),
        *("judge", "judge_model", "evaluator", "evaluatee", "annotator", "model", "model_a", "model_b", "model_1"),
        *("model_2", "generator_1", "generator_2", "model_name", "model_label", "model_vendor", "model_tier", "mode"),
        *("category", "hint_mode", "label", "answer_id", "top_answer_id", "cmp_key"),
    )
)
LONGEST_NAME = 200


@dataclass(frozen=True)
class Records:
    """The records of one file in file order, with the place of each in the text."""

    path: Path
    rows: tuple[Any, ...]
    offsets: tuple[int, ...]
    text: str

    def line(self, index: int) -> int:
        """The line on which record `index` begins, counted from 1."""
        return self.text.count("\n", 0, self.offsets[index]) + 1

    def place(self, index: int) -> str:
        """Where record `index` stands, as errors tell it: file, line, and which record it is, both counted from 1."""
        return f"{self.path}, line {self.line(index)}, record {index + 1}"

    @property
    def fields(self) -> frozenset[str]:
        """The names of all fields that any record has: what the format is recognised by."""
        return frozenset(name for row in self.rows if isinstance(row, dict) for name in row)

    def unknown(self, expected: str) -> ValueError:
        """The error for a file in none of the expected formats, told by its first record."""
        first = self.rows[0]
        found = ", ".join(first) if isinstance(first, dict) and first else show(first)
        return ValueError(f"{self.place(0)}: found {found}; expected {expected}")

    def map(self, read: Callable[[dict[str, Any]], Any], name: str) -> list[Any]:
        """`read` applied to each record; the first it refuses is told with its place and field `name`."""
        values = []
        for index, row in enumerate(self.rows):
            called = row.get(name) if isinstance(row, dict) else None
            try:
                if not isinstance(row, dict):
                    raise ValueError(f"found {show(row)}, expected an object with named fields")
                values.append(read(row))
            except ValueError as error:
                shown = repr(called) if isinstance(called, str) and len(called) <= LONGEST_SHOWN else show(called)
                who = f" ({name} {shown})" if called is not None else ""
                raise ValueError(f"{self.place(index)}{who}: {error}") from None
        return values

    def refuse_duplicates(self, keys: list[Any], what: str) -> None:
        """Error listing every key that occurs more than once, each with its lines."""
        places: dict[Any, list[int]] = {}
        for index, key in enumerate(keys):
            places.setdefault(key, []).append(index)
        twice = {key: [str(self.line(index)) for index in found] for key, found in places.items() if len(found) > 1}
        if twice:
            named = (
                f"{key if isinstance(key, str) else ' by '.join(key)} (lines {', '.join(twice[key])})" for key in twice
            )
            raise ValueError(f"{self.path}: {what} more than once: {'; '.join(named)}")


def read_records(path: Path) -> Records:
    """The records of a JSON array, of the list `prompts` in a JSON object, or of a file with one object a line.

    Refused with file and line: broken JSON, a key twice in one object, NaN and Infinity, bytes that are not UTF-8, and
    a file without any record.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {line}: not UTF-8 text ({error.reason})") from None
    found: list[tuple[int, Any]] = []
    try:
        # One by one, so that an odd record is told by its number.
        found.extend(walk(text, one_a_line=path.suffix == ".jsonl"))
    except json.JSONDecodeError as error:
        which = f", record {len(found) + 1}" if found or isinstance(error, Odd) else ""
        raise ValueError(f"{path}, line {error.lineno}{which}: not readable as JSON: {error.msg}") from None
    except RecursionError:
        raise ValueError(f"{path}, line {too_deep(text).lineno}: nested too deeply to be read") from None
    except ValueError as error:
        # Of Python alone, which reads no whole number of more than 4300 digits; the grammar of JSON allows it.
        raise ValueError(f"{path}: not readable as JSON: {error}") from None
    if not found:
        raise ValueError(f"{path}, line 1: no record in this file")
    return Records(path, tuple(value for _, value in found), tuple(at for at, _ in found), text)


def find_file(source: str | Path, names: tuple[str, ...]) -> Path:
    """The file that `source` means: itself, or the only one of `names` in the folder `source`."""
    path = Path(source)
    if path.is_file():
        return path
    if not path.is_dir():
        raise FileNotFoundError(f"{path}: no such file or folder; a folder would have to hold {' or '.join(names)}")
    present = [name for name in names if (path / name).is_file()]
    if len(present) > 1:
        raise ValueError(f"{path}: holds {' and '.join(present)}; name the one file that is meant")
    if not present:
        there = ", ".join(sorted(entry.name for entry in path.iterdir())) or "nothing"
        raise FileNotFoundError(f"{path}: expected {' or '.join(names)} in this folder, found {there}")
    return path / present[0]


def text_field(record: dict[str, Any], name: str, *, blank: bool = False) -> str:
    """The text in field `name`; missing, not a text, blank (unless `blank`) or not encodable is a ValueError.

    So is a name (a field of NAMES) that is longer than LONGEST_NAME letters or holds signs that nobody sees.
    """
    if name not in record:
        raise ValueError(f"field {name!r} is missing; found {', '.join(record) or 'no field'}")
    value = record[name]
    if not isinstance(value, str):
        raise ValueError(f"field {name!r} holds {show(value)}, expected a text")
    if not blank and not value.strip():
        raise ValueError(f"field {name!r} is empty")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        # No provider, file or hash takes half a surrogate pair: better now than at the first call that costs money.
        code = f"U+{ord(value[error.start]):04X}"
        raise ValueError(f"field {name!r} holds a lone surrogate ({code}) at character {error.start + 1}") from None
    return checked_name(value, f"field {name!r}") if name in NAMES else value


def checked_name(text: str, where: str) -> str:
    """A name as sentences, figures and files can repeat it; one that is endless or holds unseen signs is a ValueError.

    >>> checked_name("gpt\u202efast", "field 'judge'")
    Traceback (most recent call last):
    ValueError: field 'judge' holds a sign that nobody sees (U+202E) at character 4; names are letters that can be seen
    """
    if len(text) > LONGEST_NAME:
        raise ValueError(f"{where} holds {len(text):,} letters; a name has at most {LONGEST_NAME}")
    for at, sign in enumerate(text, 1):
        if unicodedata.category(sign) in UNSEEN:
            told = f"holds a sign that nobody sees (U+{ord(sign):04X}) at character {at}"
            raise ValueError(f"{where} {told}; names are letters that can be seen")
    return text


def number_or_nan(value: Any, name: str) -> float:
    """A number as float and None as NaN; anything else (a text, a truth value) is a ValueError."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} holds {show(value)}, expected a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} holds {show(value)}, a number too large to compute with") from None


def show(value: Any) -> str:
    """A found value, short enough for an error message, with its type."""
    shown = json.dumps(value)
    return f"{shown if len(shown) <= LONGEST_SHOWN else shown[:LONGEST_SHOWN] + '...'} ({type(value).__name__})"
