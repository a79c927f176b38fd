"""Whole store files: what they hold, whether they are whole and how they become so again, and how they are shared.

Replies leave a store for other programs and people, and come from elsewhere: what comes is checked to the last line
before any is written, and read once more while it is written; none that is here is lost.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from ..escaping import cell
from ..types import Usage
from . import records
from .appending import Writer, lock_at_once
from .records import Line, Reader, StoreError, examine, file_of, files, opened, scan

#: What one line cost in US dollars, counted and at most; raises ValueError where nobody knows the price.
Cost = Callable[[str, dict[str, Any]], tuple[float, float]]
#: Where an exported line says which file of the store it is from, with a checksum over all before it.
_FILE = re.compile(rb',"file":"([^"]{0,200})","seal":"([0-9a-f]{8})"\}\Z')
#: Bad lines that an error lists, and rows of a table that are in memory at once.
LISTED, ROWS = 5, 500
_SO = "nothing was taken in"
_locked = partial(lock_at_once, so=f"{_SO}: try again")


@dataclass
class Seen:
    """The attempts and the answered keys that the lines of a file have brought so far."""

    attempts: set[bytes] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)

    def note(self, record: dict[str, Any]) -> str:
        """Note a line; "same" (a copy), "failures", "further" (another reply to a key that has one) or "new".

        What came back identifies a finished reply, so that a simulated one made twice is one; time and number a
        failure.
        """
        reply, failed = record["reply"], record["status"] != "ok"
        parts = [record[name] for name in ("key", "status", "raw")]
        parts += [reply[name] for name in ("text", "finish", "model", "usage", "request_id")]
        parts += [record["attempt"], record["at"], reply["error"]] if failed else []
        attempt = sha256(json.dumps(parts, sort_keys=True).encode()).digest()
        if attempt in self.attempts:
            return "same"
        self.attempts.add(attempt)
        if failed:
            return "failures"
        new = record["key"] not in self.answered
        self.answered.add(record["key"])
        return "new" if new else "further"


@dataclass(frozen=True)
class Verified:
    """What a look at every line of a file found: those that are not whole (`odd`), copies and further replies.

    Neither copies (`same`) nor `further` replies to a key are damage: the first reply of a key counts.
    """

    lines: int
    odd: tuple[Line, ...]
    same: int
    further: int


@dataclass(frozen=True)
class Repaired:
    """What a repair did: lines moved to `side`, whole lines within them put back, lines of another version left."""

    side: Path
    moved: int
    rescued: int
    left: int


def verify(path: Path) -> Verified:
    """Look at every line of a file; nothing is changed and nothing is locked."""
    odd, count, seen, kinds = list[Line](), 0, Seen(), Counter[str]()
    for line in scan(path):
        count += 1
        odd += [line] if line.kind != "whole" else []
        if line.record is not None:
            kinds[seen.note(line.record)] += 1
    return Verified(count, tuple(odd), kinds["same"], kinds["further"])


def repair(path: Path) -> Repaired:
    """Move what is no whole line of a file to `<file>.damaged`, byte for byte, and put back whole lines found in it.

    StoreError while another process holds the file; after an error the file is as it was.
    """
    lock, moved, rescued, left = lock_at_once(path, "repair it"), list[Line](), 0, 0
    try:
        if path.is_symlink():
            os.close(opened(path, os.O_RDWR))  # says why it is refused
        with replacing(path) as file:
            for line in scan(path):
                full = [line.raw.removesuffix(b"\n")]
                if line.kind in ("damaged", "torn"):
                    moved.append(line)
                    full = records.whole_within(line.raw)
                    rescued += len(full)
                left += line.kind == "unknown"
                file.writelines(each + b"\n" for each in full)
            side = set_aside(path, moved)
        return Repaired(side, len(moved), rescued, left)
    finally:
        lock.release()


def set_aside(path: Path, bad: Sequence[Line]) -> Path:
    """Append lines that cannot be read to the file beside theirs, durably and byte for byte; that file's path."""
    side = path.with_name(f"{path.name}.damaged")
    if bad:
        file = os.fdopen(opened(side, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab")
        with records.naming(side, "nothing else was changed"), file:
            file.writelines(line.raw.removesuffix(b"\n") + b"\n" for line in bad)
            file.flush()
            os.fsync(file.fileno())
            records.sync_folder(path.parent)
    return side


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` in one step once it is on the disk; after an error all is as it was."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)  # of a process that died, or a link that would lead the write elsewhere
    try:
        with records.naming(path, "all is as it was", "cannot be written ({})"):
            with os.fdopen(opened(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                part.chmod(path.stat().st_mode & 0o777)
            os.replace(part, path)
            records.sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


@dataclass
class Contents:
    """One file of a store.

    `replies` counts keys with a reply, `further` more replies to those, `failures` attempts by status. `usd_measured`
    is what counted tokens cost, `usd_at_most` also bounds calls of unknown cost; both are None where `no_price` says
    so. `returned` counts replies by the model id that the provider returned. Times are UTC.
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


# --- replies that come from elsewhere ---------------------------------------------------------------------------------


@dataclass
class Joined:
    """What came to the file of one model: `new` replies, `further` ones to keys that have one (the first counts).

    `failures` brought no reply; `same` were here already; `torn` last lines are left out. `left`: see `merge_usable`.
    """

    model: str
    new: int = 0
    further: int = 0
    failures: int = 0
    same: int = 0
    torn: int = 0
    left: list[Line] = field(default_factory=list)


def named(raw: bytes, model: str) -> bytes:
    """A line of a store as it is exported: with the name of its file, and a checksum over both; see `own_line`."""
    body = raw[:-1] + b',"file":"%s"}' % model.encode()
    return body[:-1] + b',"seal":"%08x"}' % zlib.crc32(body)


def own_line(raw: bytes) -> tuple[bytes, str | None]:
    """A line as the store holds it, and the file that an exported one names; a line that was changed as it is.

    >>> own_line(named(b'{"v":1,"crc":"00000000"}', "gpt_fast")), own_line(b'{"v":1,"crc":"00000000"}')
    ((b'{"v":1,"crc":"00000000"}', 'gpt_fast'), (b'{"v":1,"crc":"00000000"}', None))
    """
    seal = _FILE.search(raw)
    if seal is None or b"%08x" % zlib.crc32(raw[: seal.end(1)] + b'"}') != seal[2]:
        return raw, None
    return raw[: seal.start()] + b"}", seal[1].decode("ascii", "replace")


def import_file(source: Path, folder: Path, model: str | None = None) -> list[Joined]:
    """Take the lines of an exported file, or of a file of another store, into this one; all of them or none.

    `model` is whose file gets the lines that name none. StoreError, before anything is written, at a line that is not
    whole or names no file, and where another process holds a file.
    """
    if source.is_dir():
        raise StoreError(f"{source}: a folder; `recuse store merge` takes in another store")
    if source.resolve().parent == folder.resolve():
        raise StoreError(f"{source}: lies in the store itself")
    return _take([(source, model)], folder, bears=())


def merge(other: Path, folder: Path) -> list[Joined]:
    """Take in all files of another store, each into the file of the same name; all of them or none. See import_file."""
    if other.resolve() == folder.resolve():
        raise StoreError(f"{other}: the store itself")
    if other.is_file():
        raise StoreError(f"{other}: a file, {_SO}; `recuse store import` takes in the replies of a file")
    if not (found := files(other)):
        raise StoreError(f"{other}: holds no file of replies (<model>.jsonl)")
    return _take([(path, path.stem) for path in found], folder, bears=("torn",))


def merge_usable(other: Path, folder: Path, lock: Callable[[Path], Any] = _locked) -> list[Joined]:
    """As `merge`, of what a run has left in a store of its own, read as runs read it (`usable`).

    A line that no run can use goes to `<file>.damaged`, as in a repair. `lock` waits for the lock of a file.
    """
    sources = [(path, path.stem) for path in files(other)]
    return _take(sources, folder, ("torn", "damaged", "unknown"), records.usable, lock)


def _take(
    sources: Sequence[tuple[Path, str | None]],
    folder: Path,
    bears: Sequence[str],
    read: Reader = examine,
    lock: Callable[[Path], Any] = _locked,
) -> list[Joined]:
    """Check all lines but of kinds in `bears`, lock all files, read again and append; an error takes all back."""
    names = {name for _, name in _checked(sources, bears, read)}
    joined = {file_of(folder, name): Joined(name) for name in sorted(names)}
    folder.mkdir(parents=True, exist_ok=True)
    seen, writers = dict[Path, Seen](), dict[Path, Writer]()
    with ExitStack() as stack:
        try:
            for path in joined:
                stack.callback(lock(path).release)
                so, seen[path] = f"{_SO}: see `recuse store verify`", Seen()
                for _, record in records.whole_lines(path, so, records.usable) if path.exists() else ():
                    seen[path].note(record)
                writers[path] = stack.enter_context(closing(Writer(path)))
            for line, name in _checked(sources, bears, read):
                if (path := file_of(folder, name)) not in joined:
                    raise StoreError(f"line {line.number} came while the source was read; {_SO}: try again")
                _append(joined[path], line, writers[path], seen[path])
            for writer in writers.values():
                writer.sync()
            for path, each in joined.items():
                set_aside(path, each.left)
        except BaseException:
            for writer in writers.values():
                writer.take_back()
            raise
    return list(joined.values())


def _checked(
    sources: Sequence[tuple[Path, str | None]], bears: Sequence[str], read: Reader
) -> Iterator[tuple[Line, str]]:
    """The lines of sources as they are to be written, and whose; StoreError with bad ones when one was read."""
    for source, model in sources:
        bad: list[Line] = []
        for number, raw in records.raw_lines(source):
            inner, name = own_line(raw.removesuffix(b"\n").removesuffix(b"\r"))
            name = name if name is not None else model
            line = records.look(number, inner + (b"\n" if raw.endswith(b"\n") else b""), read)
            if line.record is None and not (line.kind in bears and name is not None):
                bad.append(line)
            elif name is None:
                raise StoreError(
                    f"{source}, line {number}: does not say whose file it belongs to, as lines of `recuse store "
                    "export` do; name the model with --model"
                )
            else:
                yield line, name
        if bad:
            lines = "".join(f"\n  line {line.number}: {line.wrong}" for line in bad[:LISTED])
            more = f"\n  and {len(bad) - LISTED} more" if len(bad) > LISTED else ""
            raise StoreError(f"{source}: {len(bad)} lines are not whole, {_SO}:{lines}{more}")


def _append(joined: Joined, line: Line, writer: Writer, seen: Seen) -> None:
    """Append a line, or the whole ones within a bad one, where they are not there yet, and count it."""
    full = [line.raw.removesuffix(b"\n")]
    if line.record is None:
        full = records.whole_within(line.raw)
        joined.torn += line.kind == "torn"
        joined.left += [line] if line.kind != "torn" else []
    for raw in full:
        kind = seen.note(line.record or examine(raw))
        setattr(joined, kind, getattr(joined, kind) + 1)
        if kind != "same":
            writer.append_line(raw + b"\n", _SO)


# --- replies that leave the store -------------------------------------------------------------------------------------


def export(
    folder: Path, target: Path, models: Sequence[str] = (), experiments: Sequence[str] = (), force: bool = False
) -> dict[str, int]:
    """Write the lines of a store into one file (.jsonl, .parquet or .csv); how many of each model.

    `experiments` are labels: a reply that several experiments share has that of the first to ask. .jsonl holds lines
    byte for byte and `import_file` reads it; in tables lone surrogates are U+FFFD, in .csv formulas get an apostrophe.
    All or nothing: damage is a StoreError, and a file that is there stays unless `force`.
    """
    suffix = target.suffix.lower()
    if suffix not in (".jsonl", ".parquet", ".csv"):
        raise StoreError(f"{target}: ends in {target.suffix!r}; valid: .jsonl, .parquet, .csv")
    if target.is_dir() or (target.exists() and not force):
        raise StoreError(f"{target}: is there already; --force replaces it")
    if target.resolve().parent == folder.resolve():
        raise StoreError(f"{target}: would lie in the store itself, where each file is a model's; choose another one")
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent}: no such folder")
    counts, labels = Counter[str](), set[str]()

    def lines() -> Iterator[tuple[str, bytes, dict[str, Any]]]:
        for path in files(folder, models):
            file_of(folder, path.stem)  # a name that import would refuse
            for line, record in records.whole_lines(path, "nothing was written"):
                label = str(record["labels"].get("experiment", ""))
                labels.add(label)
                if not experiments or label in experiments:
                    counts[path.stem] += 1
                    yield path.stem, line.raw.rstrip(b"\r\n"), record

    with replacing(target) as file:
        if suffix == ".jsonl":
            file.writelines(named(raw, model) + b"\n" for model, raw, _ in lines())
        else:
            _write_table(file, ((model, record) for model, _, record in lines()), suffix == ".csv")
        if experiments and not counts:
            there = ", ".join(sorted(labels - {""})) or "none"
            raise StoreError(f"{folder}: no line of {', '.join(experiments)}; there are those of: {there}")
    return counts


def _write_table(file: BinaryIO, found: Iterator[tuple[str, dict[str, Any]]], as_csv: bool) -> None:
    """The lines as rows of a table; in CSV every text is in quotation marks, and none begins like a formula."""
    import pyarrow
    from pyarrow import csv, parquet

    types = {name: records.LAYOUT["types"].get(name, "string") for name in records.LAYOUT["columns"]}
    types |= {name: "int64" for name, each in types.items() if as_csv and each == "bool"}
    schema = pyarrow.schema([(name, pyarrow.type_for_alias(each)) for name, each in types.items()])
    rows = (_row(model, record, as_csv) for model, record in found)
    with csv.CSVWriter(file, schema) if as_csv else parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while part := list(islice(rows, ROWS)):
            writer.write_table(pyarrow.Table.from_pylist(part, schema))


def _row(model: str, record: dict[str, Any], as_csv: bool) -> dict[str, Any]:
    """A line as a row of the table; what is neither text nor number is JSON."""
    row: dict[str, Any] = {}
    for name, place in records.LAYOUT["columns"].items():
        value: Any = record if place else model
        for step in place:
            value = value.get(step) if isinstance(value, dict) else None
        if name not in records.LAYOUT["types"] and value is not None:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
            value = cell(text) if as_csv else text
        row[name] = int(value) if as_csv and isinstance(value, bool) else value
    return row
