"""What store files hold, whether they are whole, and how one that is not becomes so again without a loss."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from helpers.store.appending import lock_at_once
from helpers.store.records import Line, StoreError, opened, scan, sync_folder, told_of, whole_within
from helpers.types import Usage

#: What one line cost in US dollars, counted and at most; raises ValueError where nobody knows the price.
Cost = Callable[[str, dict[str, Any]], tuple[float, float]]


class Seen:
    """What the lines of a file have brought so far: which attempts, and which keys have a reply."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._attempts, self._answered = set[bytes](), set[str]()

    def note(self, record: dict[str, Any]) -> str:
        """Note a line; "same" (a copy), "failures", "further" (another reply to a key that has one) or "new".

        Finished replies are told by what came back, so that a simulated reply made twice is one; labels say only who
        asked first. Failures brought nothing that could tell them apart, so their time and number do.
        """
        reply, failed = record["reply"], record["status"] != "ok"
        told = [record[name] for name in ("key", "status", "raw")]
        told += [reply[name] for name in ("text", "finish", "model", "usage", "request_id")]
        told += [record["attempt"], record["at"], reply["error"]] if failed else []
        attempt = sha256(json.dumps(told, sort_keys=True).encode()).digest()
        if attempt in self._attempts:
            return "same"
        self._attempts.add(attempt)
        if failed:
            return "failures"
        new = record["key"] not in self._answered
        self._answered.add(record["key"])
        return "new" if new else "further"


@dataclass(frozen=True)
class Verified:
    """What a look at every line of a file found: its `bad` lines, an unfinished last one (`tail`), and doubles.

    `same` counts lines whose reply stands in an earlier line of the same key, `further` those that bring another reply
    to a key that has one. Neither is damage: the first reply of a key counts.
    """

    lines: int
    bad: tuple[Line, ...]
    tail: Line | None
    same: int
    further: int


@dataclass(frozen=True)
class Repaired:
    """What a repair did: lines moved to `side`, whole lines found within them and put back, lines left as unreadable.

    `left` are lines of another version's format: they are whole, and a newer version reads them.
    """

    side: Path
    moved: int
    rescued: int
    left: int


def verify(path: Path) -> Verified:
    """Look at every line of a file; nothing is changed and nothing is locked."""
    bad, tail, count, seen, kinds = list[Line](), None, 0, Seen(), Counter[str]()
    for line in scan(path):
        count += 1
        if line.kind in ("damaged", "unknown"):
            bad.append(line)
        elif line.kind != "whole":
            tail = line
        if line.record is not None:
            kinds[seen.note(line.record)] += 1
    return Verified(count, tuple(bad), tail, kinds["same"], kinds["further"])


def repair(path: Path) -> Repaired:
    """Move what is no whole line of a file to `<file>.damaged`, byte for byte, and put back whole lines found in it.

    Nothing is deleted: the side file is on the disk before the file is replaced, in one step. StoreError while another
    process holds the file.
    """
    lock, moved, rescued, left = lock_at_once(path, "repair it"), list[Line](), 0, 0
    try:
        if path.is_symlink():
            os.close(opened(path, os.O_RDWR))  # says why it is refused
        with replacing(path) as file:
            for line in scan(path):
                whole = [line.raw.removesuffix(b"\n")]
                if line.kind in ("damaged", "torn"):
                    moved.append(line)
                    whole = whole_within(line.raw)
                    rescued += len(whole)
                left += line.kind == "unknown"
                file.writelines(each + b"\n" for each in whole)
            set_aside(path, moved)
        return Repaired(side_of(path), len(moved), rescued, left)
    finally:
        lock.release()


def side_of(path: Path) -> Path:
    """Where lines lie that could not be read, beside their file."""
    return path.with_name(f"{path.name}.damaged")


def set_aside(path: Path, bad: Sequence[Line]) -> None:
    """Put lines that cannot be read beside their file, byte for byte, and bring them to the disk."""
    if not bad:
        return
    try:
        with os.fdopen(opened(side_of(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as file:
            file.writelines(line.raw.removesuffix(b"\n") + b"\n" for line in bad)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(path.parent)
    except OSError as error:
        raise told_of(side_of(path), error, "nothing else was changed") from error


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` in one step once it is on the disk; after an error all is as it was."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)  # of a process that died, or a link that would lead the write elsewhere
    try:
        with os.fdopen(opened(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            part.chmod(path.stat().st_mode & 0o777)
        os.replace(part, path)
        sync_folder(path.parent)
    except OSError as error:
        if error.filename:
            raise
        raise StoreError(f"{path}: cannot be written ({error.strerror}); all is as it was") from error
    finally:
        part.unlink(missing_ok=True)


@dataclass
class Contents:
    """One file of a store.

    `replies` counts keys with a usable reply, `further` more replies to those; `failures` counts attempts by status.
    `usd_measured` is what the tokens that were counted cost, `usd_at_most` also counts calls of which nobody can tell
    at the most that they can have cost; both are None where no price is known, which `no_price` says. Times are the
    wall clock's, UTC; `returned` counts replies by the model id that the provider named, `simulated` lines that our own
    simulator made.
    """

    model: str
    bytes: int = 0
    lines: int = 0
    replies: int = 0
    further: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(vars(Usage()), 0)))
    usd_measured: float | None = 0.0
    usd_at_most: float | None = 0.0
    no_price: str = ""
    first: str = ""
    last: str = ""
    experiments: Counter[str] = field(default_factory=Counter)
    returned: Counter[str] = field(default_factory=Counter)
    simulated: int = 0
    damaged: int = 0
    torn: int = 0


def contents(path: Path, cost: Cost) -> Contents:
    """What one file holds. Lines that cannot be read are counted as damaged, not an error: `verify` names them."""
    found, answered = Contents(path.stem, path.stat().st_size), set[str]()
    for line in scan(path):
        found.lines += 1
        if line.record is None:
            found.torn += line.kind == "torn"
            found.damaged += line.kind != "torn"
            continue
        record, reply = line.record, line.record["reply"]
        if record["status"] == "ok":
            found.further += record["key"] in answered
            answered.add(record["key"])
            found.returned.update(filter(None, [reply["model"]]))
        else:
            found.failures[record["status"]] += 1
        found.tokens.update({name: count or 0 for name, count in reply["usage"].items()})
        found.experiments[str(record["labels"].get("experiment", ""))] += 1
        found.simulated += record["request"]["provider"] == "simulated"
        if record["at"]:
            found.first, found.last = min(found.first or record["at"], record["at"]), max(found.last, record["at"])
        if not found.no_price:
            try:
                measured, at_most = cost(found.model, record)
                found.usd_measured += measured
                found.usd_at_most += at_most
            except ValueError as error:
                found.usd_measured, found.usd_at_most, found.no_price = None, None, str(error)
    found.replies = len(answered)
    return found
