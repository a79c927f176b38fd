"""JSON of others is read as every reader would read it."""

from __future__ import annotations

from collections import Counter
from typing import Any

#: Keys that an error names.
NAMED = 3


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; a key that stands twice in it is a ValueError (Python keeps the last without a word).

    The `object_pairs_hook` of whoever reads JSON that was not written here.
    """
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = sorted(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        told = ", ".join(repr(name[:40]) for name in twice[:NAMED])
        more = f" and {len(twice) - NAMED:,} more" if len(twice) > NAMED else ""
        raise ValueError(f"key {told}{more} occurs twice in one object")
    return record


def no_constant(name: str) -> None:
    """The `parse_constant` of the same: NaN and Infinity, which Python reads, are no JSON."""
    raise ValueError(f"{name} is no number of JSON")
