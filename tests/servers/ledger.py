"""What the server writes down about every request before it answers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers.behaviours import Call


@dataclass(frozen=True)
class Entry:
    """One request: `sha` names its path and body, `at` is Unix time, `fault` None where a reply was sent.

    `billed` is the worst case, true wherever an answer was produced; the tokens of an unbilled request are 0.
    """

    n: int
    at: float
    provider: str
    model: str
    sha: str
    attempt: int
    fault: str | None
    finish: str | None
    billed: bool
    structured: bool
    limit: int | None
    input_tokens: int
    output_tokens: int
    call: Call | None = field(default=None, repr=False, compare=False)

    def line(self) -> bytes:
        """One line of JSON with everything but the call."""
        values = {name: value for name, value in self.__dict__.items() if name != "call"}
        return json.dumps(values, separators=(",", ":")).encode() + b"\n"


class Ledger:
    """Entries in memory and, where a path is given, in a file that survives the server."""

    def __init__(self, path: Path | str | None = None) -> None:
        """Opens the file for appending."""
        self.entries: list[Entry] = []
        self._attempts: dict[str, int] = {}
        self._file = None if path is None else os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def attempt(self, sha: str) -> int:
        """Which attempt of these bytes this is, from 1."""
        self._attempts[sha] = self._attempts.get(sha, 0) + 1
        return self._attempts[sha]

    def record(self, entry: Entry) -> None:
        """Keeps an entry; when this returns its line is with the operating system."""
        self.entries.append(entry)
        if self._file is not None:
            os.write(self._file, entry.line())

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def matching(entries: Sequence[Entry], **wanted: Any) -> Iterator[Entry]:
    """The entries whose fields have these values; a wanted None counts as not given."""
    given = {name: value for name, value in wanted.items() if value is not None}
    return (entry for entry in entries if all(getattr(entry, name) == value for name, value in given.items()))


def read_ledger(path: Path | str) -> list[Entry]:
    """The entries of a ledger file, in the order in which the requests came."""
    return [Entry(**json.loads(line)) for line in Path(path).read_text().splitlines()]
