"""The records in a JSON text, each with the place where it begins; what no number is told with its field."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from helpers.json_text import no_duplicates


class Odd(json.JSONDecodeError):
    """A record that is JSON by its grammar and still not to be read."""


class _NotANumber(str):
    """NaN, Infinity or 1e999 as it stands in the file."""


def walk(text: str, one_a_line: bool) -> Iterator[tuple[int, Any]]:
    """Each record with the place where it begins."""
    start = _skip(text, 0)
    if text.startswith("[", start):
        json.loads(text)  # settles the grammar, so that _elements need not
        yield from _elements(text, start)
    elif one_a_line:
        yield from _lines(text)
    else:
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            if error.msg != "Extra data":
                raise
            yield from _lines(text)
            return
        opening = re.search(r'"prompts"[ \t\r\n]*:[ \t\r\n]*\[', text)
        if isinstance(document, dict) and isinstance(document.get("prompts"), list) and opening:
            yield from _elements(text, opening.end() - 1)
            _decode(text, start)  # what is odd outside the list
        else:
            yield start, _decode(text, start)[0]


def document(text: str) -> Any:
    """The one value of a text, read as strictly as records are: a ValueError where it is odd or no JSON.

    Of what is nested too deeply the error names the place.
    """
    try:
        return _decode(text, _skip(text, 0), whole=True)[0]
    except RecursionError:
        raise too_deep(text) from None


def too_deep(text: str) -> json.JSONDecodeError:
    """The error for a text that is nested more deeply than it can be read, with the place where it becomes so."""
    depth = 0
    for token in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > MOST_LEVELS:
            return Odd("nested too deeply to be read", text, token.start())
    return Odd("nested too deeply to be read", text, 0)


def _elements(text: str, at: int) -> Iterator[tuple[int, Any]]:
    """The values of the well-formed array that opens at `at`."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        value, end = _decode(text, at)
        yield at, value
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    for line in re.finditer(r"[^\n]+", text):
        begin = _skip(line[0], 0)
        if begin == len(line[0]):
            continue
        try:
            yield line.start(), _decode(line[0], begin, whole=True)[0]
        except json.JSONDecodeError as error:
            raise json.JSONDecodeError(error.msg, text, line.start() + error.pos) from None


def _skip(text: str, at: int) -> int:
    """The place of the next character that is not JSON's white space."""
    while text[at : at + 1] in _SPACE:
        at += 1
    return at


def _decode(text: str, at: int, whole: bool = False) -> tuple[Any, int]:
    """The value that begins at `at` and where it ends; what is odd in it is blamed on `at`."""
    try:
        value, end = _STRICT.raw_decode(text, at)
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise Odd(str(error), text, at) from None
    for field, word in _not_numbers(value):
        raise Odd(f"{field} holds {word}, not a number that JSON knows; use null where there is none", text, at)
    if whole and _skip(text, end) < len(text):
        raise json.JSONDecodeError("more follows the object in its line", text, end)
    return value, end


def _not_numbers(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Every NaN or infinity in a value, with the field that holds it."""
    if isinstance(value, _NotANumber):
        yield f"field {field!r}" if field else "the record", str(value)
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _not_numbers(inner, f"{field}.{key}" if field else str(key))


def _finite(digits: str) -> float | _NotANumber:
    return float(digits) if math.isfinite(float(digits)) else _NotANumber(digits)


#: Levels of lists in lists that no record has; a thousand are more than Python reads.
MOST_LEVELS = 200
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_SPACE = (" ", "\t", "\r", "\n")
_STRICT = json.JSONDecoder(object_pairs_hook=no_duplicates, parse_constant=_NotANumber, parse_float=_finite)
