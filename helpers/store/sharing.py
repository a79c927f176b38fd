"""Replies that leave a store for other programs and people, and replies that come from elsewhere.

What comes is checked to the last line before any is written, and none that is here is lost.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

from helpers.escaping import cell
from helpers.store.appending import Writer, holder, try_lock, writing
from helpers.store.records import Line, Reader, StoreError, examine, file_of, files, look, scan, usable, whole_within
from helpers.store.verifying import identity, replacing, set_aside

#: Where an exported line says which file of the store it is from, with a checksum over all before it.
_FILE = re.compile(rb',"file":"([^"]{0,200})","seal":"([0-9a-f]{8})"\}\Z')
#: So many bad lines are told of a file that is refused.
TOLD = 5
_SO = "nothing was taken in"
#: The columns of a table and where a line holds them; what is no text has its type, everything else is text.
COLUMNS: dict[str, tuple[str, ...]] = {
    "model": (),
    **{name: (name,) for name in ("key", "attempt", "status", "at")},
    **{name: ("labels", name) for name in ("experiment", "question_id", "condition", "shown")},
    "provider": ("request", "provider"),
    "model_id": ("request", "model"),
    **{name: ("request", name) for name in ("params", "revision", "system", "prompt", "schema", "repeat")},
    **{name: ("reply", name) for name in ("text", "finish")},
    **{f"tokens_{name}": ("reply", "usage", name) for name in ("input", "output", "reasoning", "cached", "written")},
    "returned_model": ("reply", "model"),
    **{name: ("reply", name) for name in ("request_id", "latency", "error", "maybe_billed")},
    "raw": ("raw",),
}
TYPES = {
    **{name: "int64" for name in COLUMNS if name in ("attempt", "repeat") or name.startswith("tokens_")},
    "latency": "float64",
    "maybe_billed": "bool",
}
_ROWS = 500


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


# --- replies that leave the store -------------------------------------------------------------------------------------


def export(
    folder: Path, target: Path, models: Sequence[str] = (), experiments: Sequence[str] = (), force: bool = False
) -> dict[str, int]:
    """Write the lines of a store into one file, by its suffix .jsonl, .parquet or .csv; how many of each model.

    `models` are names of files, `experiments` labels: a reply that several experiments share has that of the first to
    ask. .jsonl holds the lines byte for byte, each with the name of its file at the end, and `recuse store import`
    reads it. In tables half a character is U+FFFD; in .csv texts that begin like a formula get an apostrophe, line ends
    are \\n. All or nothing: damage is a StoreError, and a file that is there stays unless `force`.
    """
    writers = {".jsonl": _write_lines, ".parquet": _write_parquet, ".csv": _write_csv}
    suffix = target.suffix.lower()
    if suffix not in writers:
        raise StoreError(f"{target}: ends in {target.suffix!r}; valid: {', '.join(writers)}")
    if target.is_dir() or (target.exists() and not force):
        raise StoreError(f"{target}: is there already; --force replaces it")
    if target.resolve().parent == folder.resolve():
        raise StoreError(f"{target}: would lie in the store itself, where each file is a model's; choose another one")
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent}: no such folder")
    counts: dict[str, int] = {}
    found = _lines(files(folder, models), experiments, counts)
    with replacing(target) as file:
        writers[suffix](file, found)
        if experiments and not counts:
            there = sorted({label for _, line in _lines(files(folder, models), (), {}) if (label := _label(line))})
            raise StoreError(
                f"{folder}: no line of {', '.join(experiments)}; there are those of: {', '.join(there) or 'none'}"
            )
    return counts


def _label(line: Line) -> str:
    return str((line.record or {}).get("labels", {}).get("experiment", ""))


def _lines(paths: Sequence[Path], experiments: Sequence[str], counts: dict[str, int]) -> Iterator[tuple[str, Line]]:
    """The whole lines of files with their models' names, counted; a torn last line is left out as readers do."""
    for path in paths:
        file_of(path.parent, path.stem)  # a name that import would refuse
        for line in scan(path):
            if line.kind in ("damaged", "unknown"):
                raise StoreError(f"{path}, line {line.number}: {line.wrong}; nothing was written")
            if line.record is not None and (not experiments or _label(line) in experiments):
                counts[path.stem] = counts.get(path.stem, 0) + 1
                yield path.stem, line


def _write_lines(file: BinaryIO, found: Iterator[tuple[str, Line]]) -> None:
    for model, line in found:
        file.write(named(line.raw.removesuffix(b"\n"), model) + b"\n")


def _write_csv(file: BinaryIO, found: Iterator[tuple[str, Line]]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    # Numbers are told from texts by their quotation marks, and so are line ends of a text from those of a row.
    rows = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    rows.writerow(COLUMNS)
    for model, line in found:
        values = _row(model, line).values()
        rows.writerow([cell(v) if isinstance(v, str) else int(v) if isinstance(v, bool) else v for v in values])
    text.detach()


def _write_parquet(file: BinaryIO, found: Iterator[tuple[str, Line]]) -> None:
    import pyarrow
    from pyarrow import parquet

    make: dict[str, Callable[[], Any]] = {"int64": pyarrow.int64, "float64": pyarrow.float64, "bool": pyarrow.bool_}
    schema = pyarrow.schema([(name, make[TYPES[name]]() if name in TYPES else pyarrow.string()) for name in COLUMNS])
    rows: list[dict[str, Any]] = []
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for model, line in found:
            rows.append(_row(model, line))
            if len(rows) == _ROWS:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows.clear()
        if rows:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))


def _row(model: str, line: Line) -> dict[str, Any]:
    """One line as a row of the table; what is neither text nor number is JSON."""
    row: dict[str, Any] = {"model": model}
    for name, place in COLUMNS.items():
        value: Any = line.record
        for step in place:
            value = value.get(step) if isinstance(value, dict) else None
        if place and name not in TYPES and value is not None:
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            value = told.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        row.setdefault(name, value)
    return row
