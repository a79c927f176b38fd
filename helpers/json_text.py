"""JSON of others is read as every reader would read it."""

from __future__ import annotations

from typing import Any


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; a key that stands twice in it is a ValueError (Python keeps the last without a word).

    The `object_pairs_hook` of whoever reads JSON that was not written here.
    """
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted(name for name in record if names.count(name) > 1)
        raise ValueError(f"key {', '.join(repr(name[:40]) for name in twice)} occurs twice in one object")
    return record
