"""Replies that come from elsewhere: checked to the last line before any is written, and none that is here is lost."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from helpers.store.appending import Writer, holder, try_lock, writing
from helpers.store.checking import Line, Reader, examine, files, look, scan, whole_within
from helpers.store.records import StoreError, file_of, usable
from helpers.store.verifying import identity, set_aside

#: Where an exported line says which file of the store it is from, with a checksum over all before it.
_FILE = re.compile(rb',"file":"([^"]{0,200})","seal":"([0-9a-f]{8})"\}\Z')
#: So many bad lines are told of a file that is refused.
TOLD = 5
_SO = "nothing was taken in"


@dataclass
class Joined:
    """What came to the file of one model: `new` replies, `further` ones to keys that have one (the first counts).

    `failures` are attempts that brought no reply; `same` were here already; `torn` were last lines that another store
    had not finished, which are left out as every reader does. `left` are lines that no run can use (`bring_home`).
    """

    model: str
    new: int = 0
    further: int = 0
    failures: int = 0
    same: int = 0
    torn: int = 0
    left: tuple[Line, ...] = ()


def at_once(path: Path) -> Any:
    """The lock of a file into which lines are to be written; StoreError where another process holds it."""
    lock = try_lock(path)
    if lock is None:
        raise StoreError(f"{path}: held by {holder(path)}; {_SO}: try again when that run has ended")
    return lock


@dataclass(frozen=True)
class _Manner:
    """How lines are taken in: all of them or none, by which reading; how a file is locked.

    `whole`: a last line that was cut off is refused too. `aside`: lines that cannot be read refuse nothing, and are put
    beside the file.
    """

    read: Reader = examine
    whole: bool = False
    aside: bool = False
    lock: Callable[[Path], Any] = at_once


@dataclass
class _Coming:
    """What comes to the file of one model: its `lines`, checked, in a file that nobody else can change."""

    lines: IO[bytes]
    torn: bool = False
    left: list[Line] = field(default_factory=list)


def named(raw: bytes, model: str) -> bytes:
    """A line of a store as it is exported: with the name of its file, and a checksum over both; see `own_line`.

    >>> named(b'{"v":1,"crc":"00000000"}', "gpt_fast")
    b'{"v":1,"crc":"00000000","file":"gpt_fast","seal":"38ed6394"}'
    """
    body = raw[:-1] + b',"file":"%s"}' % model.encode()
    return body[:-1] + b',"seal":"%08x"}' % zlib.crc32(body)


def own_line(raw: bytes) -> tuple[bytes, str | None]:
    """A line as the store holds it, and the file that an exported one names; a line that was changed as it is.

    >>> own_line(named(b'{"v":1,"crc":"00000000"}', "gpt_fast")), own_line(b'{"v":1,"crc":"00000000"}')
    ((b'{"v":1,"crc":"00000000"}', 'gpt_fast'), (b'{"v":1,"crc":"00000000"}', None))
    """
    told = _FILE.search(raw)
    if told is None or b"%08x" % zlib.crc32(raw[: told.end(1)] + b'"}') != told[2]:
        return raw, None
    return raw[: told.start()] + b"}", told[1].decode("ascii", "replace")


def import_file(source: Path, folder: Path, model: str | None = None) -> list[Joined]:
    """Take the lines of an exported file, or of a file of another store, into this one; all of them or none.

    `model` is whose file gets the lines that name none. StoreError, before anything is written: a line that is not
    whole, a line without a file, a file that another process holds.
    """
    if source.is_dir():
        raise StoreError(f"{source}: a folder; `recuse store merge` takes in another store")
    if source.resolve().parent == folder.resolve():
        raise StoreError(f"{source}: lies in the store itself")
    return _take([(source, model)], folder, _Manner(whole=True))


def merge(other: Path, folder: Path) -> list[Joined]:
    """Take in all files of another store, each into the file of the same name; all of them or none. See import_file."""
    if other.resolve() == folder.resolve():
        raise StoreError(f"{other}: the store itself")
    if other.is_file():
        raise StoreError(f"{other}: a file, {_SO}; `recuse store import` takes in the replies of a file")
    if not other.is_dir():
        raise StoreError(f"{other}: no such folder, {_SO}")
    found = files(other)
    if not found:
        raise StoreError(f"{other}: holds no file of replies (<model>.jsonl)")
    return _take([(path, path.stem) for path in found], folder, _Manner())


def bring_home(other: Path, folder: Path, lock: Callable[[Path], Any] = at_once) -> list[Joined]:
    """As `merge`, of what a run of one's own has left in a store of its own: by the reading of runs, `usable`.

    A line that no run can use stops nothing: it goes to `<file>.damaged` beside the file, as with a repair.
    `lock` gives the lock of a file once nobody else holds it.
    """
    found = [(path, path.stem) for path in files(other)]
    return _take(found, folder, _Manner(usable, aside=True, lock=lock))


def _take(sources: Sequence[tuple[Path, str | None]], folder: Path, how: _Manner) -> list[Joined]:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return _take_checked(sources, folder, how)
    except OSError as error:
        if error.filename:
            raise
        raise StoreError(f"{folder}: {error.strerror}; {_SO}") from error


def _take_checked(sources: Sequence[tuple[Path, str | None]], folder: Path, how: _Manner) -> list[Joined]:
    with ExitStack() as stack:
        # What was checked is what is written, whatever becomes of the source meanwhile.
        coming: dict[str, _Coming] = {}
        for source, model in sources:
            for line, own, name in _checked(source, model, folder, how):
                if name not in coming:
                    coming[name] = _Coming(stack.enter_context(TemporaryFile(dir=folder)))
                if line.record is not None:
                    coming[name].lines.write(own + b"\n")
                elif line.kind == "torn":
                    coming[name].torn = True
                else:
                    coming[name].left.append(line)
                    coming[name].lines.writelines(each + b"\n" for each in whole_within(line.raw))
        known = {name: _lock_and_read(folder, name, stack, how) for name in sorted(coming)}
        writers: list[tuple[Writer, int | None]] = []
        joined = []
        try:
            for name, seen in known.items():
                path = file_of(folder, name)
                new = not path.exists()
                writer = stack.enter_context(writing(path, lambda: None))
                writers.append((writer, None if new else writer.size))
                found = Joined(name, torn=int(coming[name].torn), left=tuple(coming[name].left))
                joined.append(_append(coming[name].lines, found, writer, how, *seen))
            for writer, _ in writers:
                writer.sync()
            for name in known:
                set_aside(file_of(folder, name), coming[name].left)
        except BaseException:
            for writer, size in writers:
                writer.take_back(size)
            raise
    return joined


def _checked(source: Path, model: str | None, folder: Path, how: _Manner) -> Iterator[tuple[Line, bytes, str]]:
    """The lines of a source, as they are to be written, and their files; StoreError with bad ones, when all were read.

    A torn last line is bad only where the source must be `whole`, no line where bad ones are put `aside`.
    """
    bad: list[Line] = []
    with source.open("rb") as file:
        for number, raw in enumerate(file, 1):
            own, name = own_line(raw.removesuffix(b"\n"))
            name = name if name is not None else model
            line = look(number, own + raw[len(raw.rstrip(b"\n")) :], how.read)
            if line.record is None and name is not None and (how.aside or (line.kind == "torn" and not how.whole)):
                yield line, own, name
            elif line.record is None:
                bad.append(line)
            elif name is None:
                raise StoreError(
                    f"{source}, line {number}: does not say whose file it belongs to, as lines of `recuse store "
                    "export` do; name the model with --model"
                )
            else:
                file_of(folder, name)  # refuses a name that leads elsewhere
                yield line, own, name
    if bad:
        told = "".join(f"\n  line {line.number}: {line.wrong}" for line in bad[:TOLD])
        more = f"\n  and {len(bad) - TOLD} more" if len(bad) > TOLD else ""
        raise StoreError(f"{source}: {len(bad)} lines are not whole, {_SO}:{told}{more}")


def _lock_and_read(folder: Path, name: str, stack: ExitStack, how: _Manner) -> tuple[set[bytes], set[str]]:
    """Lock the file of a model until `stack` ends; the identities that it holds, and its keys with a reply.

    Its own lines are read as runs read them, wherever the new ones come from.
    """
    path = file_of(folder, name)
    stack.callback(how.lock(path).release)
    seen: set[bytes] = set()
    answered: set[str] = set()
    for line in scan(path, usable) if path.exists() else ():
        if line.kind in ("damaged", "unknown"):
            raise StoreError(f"{path}, line {line.number}: {line.wrong}; {_SO}: see `recuse store verify`")
        if line.record is not None:
            _note(line.record, seen, answered)
    return seen, answered


def _note(record: dict[str, Any], seen: set[bytes], answered: set[str]) -> None:
    seen.add(identity(record))
    if record["status"] == "ok":
        answered.add(record["key"])


def _append(
    lines: IO[bytes], joined: Joined, writer: Writer, how: _Manner, seen: set[bytes], answered: set[str]
) -> Joined:
    lines.seek(0)
    for number, raw in enumerate(lines, 1):
        record = look(number, raw, how.read).record
        assert record is not None, "was looked at before"
        if identity(record) in seen:
            joined.same += 1
            continue
        writer.append_line(raw, _SO)
        if record["status"] != "ok":
            joined.failures += 1
        elif record["key"] in answered:
            joined.further += 1
        else:
            joined.new += 1
        _note(record, seen, answered)
    return joined
