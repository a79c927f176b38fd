"""JSON, read and written as every other program would read it: by orjson, which takes a third of the time of `json`."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

import orjson


def dumps(value: Any) -> bytes:
    """A value as compact JSON. What orjson refuses (lone surrogates, numbers of any size) is left to `json`."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode()


def loads(text: str | bytes) -> Any:
    """What JSON says, as `json.loads` reads it, but for whole numbers of 64 bits and more: those are floats.

    What is no JSON and `json` reads all the same (NaN, a lone surrogate, 1e999) is left to it, as are its errors.

    >>> loads('{"n": [1, 2.5], "n": NaN}'), loads('"\\\\ud800"') == "\\ud800"
    ({'n': nan}, True)
    """
    try:
        return orjson.loads(text)
    except ValueError:
        return json.loads(text)


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The `object_pairs_hook` for JSON from elsewhere: a key that occurs twice in an object is a ValueError."""
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = sorted(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        more = f" and {len(twice) - 3:,} more" if len(twice) > 3 else ""
        raise ValueError(f"key {', '.join(repr(name[:40]) for name in twice[:3])}{more} occurs twice in one object")
    return record


def no_constant(name: str) -> NoReturn:
    """The `parse_constant` for JSON from elsewhere: NaN and Infinity, which Python reads, are a ValueError."""
    raise ValueError(f"{name} is no number of JSON; use null where there is none")


class Odd(json.JSONDecodeError):
    """JSON to Python that is refused: a key twice in an object, NaN or 1e999, over 4300 digits, too many levels."""


def document(text: str) -> Any:
    """The one value of a text from elsewhere, read strictly (see `decode`)."""
    value, end = decode(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise json.JSONDecodeError("more follows the object in its line", text, end)
    return value


def decode(text: str, at: int = 0) -> tuple[Any, int]:
    """The value that begins at `at`, and where it ends; what is no JSON is a JSONDecodeError with its place."""
    try:
        return _STRICT.raw_decode(text, at)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise Odd("nested too deeply to be read", text, at) from None
    except ValueError as error:
        near = re.compile(rf".{{0,60}}[:\[,]\s*{re.escape(str(error).split()[0])}").search(text, at)
        raise Odd(f"{error} ({near[0]!r})" if near else str(error), text, at) from None


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else no_constant(digits)


_STRICT = json.JSONDecoder(object_pairs_hook=no_duplicates, parse_constant=no_constant, parse_float=_finite)
