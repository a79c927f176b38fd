"""JSON, read and written as every other program would read it: by orjson, which takes a third of the time of `json`."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson

NAMED = 3  # keys in an error


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
        more = f" and {len(twice) - NAMED:,} more" if len(twice) > NAMED else ""
        raise ValueError(f"key {', '.join(repr(name[:40]) for name in twice[:NAMED])}{more} occurs twice in one object")
    return record


def no_constant(name: str) -> None:
    """The `parse_constant` for JSON from elsewhere: NaN and Infinity, which Python reads, are a ValueError."""
    raise ValueError(f"{name} is no number of JSON")


class Odd(json.JSONDecodeError):
    """Text that is JSON by its grammar, or taken for it by Python, and still not to be read."""


def document(text: str) -> Any:
    """The one value of a text from elsewhere, read strictly (see `decode`)."""
    value, end = decode(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise json.JSONDecodeError("more follows the object in its line", text, end)
    return value


def decode(text: str, at: int = 0) -> tuple[Any, int]:
    """The value that begins at `at`, and where it ends; what is no JSON is a JSONDecodeError with its place.

    An Odd one: a key twice in an object, NaN, Infinity and 1e999 (with their field), a number of more than 4300 digits.
    """
    try:
        return _STRICT.raw_decode(text, at)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise Odd("nested too deeply to be read", text, at) from None
    except _NoNumber as word:
        where = next(_not_finite(json.JSONDecoder().raw_decode(text, at)[0]))
        raise Odd(
            f"{where} holds {word}, not a number that JSON knows; use null where there is none", text, at
        ) from None
    except ValueError as error:
        raise Odd(str(error), text, at) from None


class _NoNumber(ValueError):
    """NaN, Infinity or 1e999 as it stands in the text."""


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise _NoNumber(digits)
    return number


def _not_finite(value: Any, field: str = "") -> Iterator[str]:
    """The place of every NaN or infinity in a value."""
    if isinstance(value, float) and not math.isfinite(value):
        yield f"field {field!r}" if field else "the record"
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _not_finite(inner, f"{field}.{key}" if field else str(key))


_STRICT = json.JSONDecoder(object_pairs_hook=no_duplicates, parse_constant=_finite, parse_float=_finite)
