"""What runs leave behind: the lines of a store, and what may not be in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from helpers import store
from helpers.types import Completion, Model, Request


def attempts(folder: Path, model: Model) -> list[dict[str, Any]]:
    """Every line of a model's file."""
    return list(store.lines(store.file_of(folder, model.name)))


def stored(folder: Path, model: Model) -> dict[str, Completion]:
    """The replies in a model's file, whole, by key; a run returns them without their bodies."""
    return store.read(store.file_of(folder, model.name))


def statuses(folder: Path, model: Model) -> list[str]:
    return [record["status"] for record in attempts(folder, model)]


def everything(folder: Path) -> bytes:
    """All that was written to a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


#: Attempts that one request may have, by what came of them, in the table of retries; the last one of a server's own
#: failure comes when the rest of the stage is done.
MOST_TRIES = {"maybe_billed": 7, "bad_envelope": 7, "too_large": 2, "empty": 1, "provider_error": 7, "ok": 1}


def within_the_table(folder: Path, model: Model, requests: Iterable[Request]) -> bool:
    """Whether no request has more attempts than the table of retries allows, with numbers that count up from 1."""
    told = attempts(folder, model)
    for request in requests:
        lines = [each for each in told if each["key"] == request.key]
        counts = Counter(each["status"] for each in lines)
        if [each["attempt"] for each in lines] != list(range(1, len(lines) + 1)):
            return False
        if any(counts[status] > most for status, most in MOST_TRIES.items()):
            return False
    return True


def without_keys(text: str | bytes, environment: Mapping[str, str]) -> bool:
    """Whether none of the environment's keys stands in a text."""
    text = text.encode() if isinstance(text, str) else text
    return not any(value.encode() in text for name, value in environment.items() if name.endswith("_API_KEY"))
