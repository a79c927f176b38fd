"""JSON, read and written as every other program would read it: by orjson, which takes a third of the time of `json`."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import orjson

#: Keys that an error names.
NAMED = 3


def dumps(value: Any) -> bytes:
    """A value as compact JSON. What orjson refuses (lone surrogates, numbers of any size) is left to `json`.

    >>> dumps({"text": "\\u00e9", "n": 2**70}) == b'{"text":"\\\\u00e9","n":1180591620717411303424}'
    True
    """
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
