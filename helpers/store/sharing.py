"""Replies that leave a store for other programs and people, and replies that come from elsewhere.

What comes is checked to the last line before any is written, and read once more while it is written; none that is here
is lost.
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
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from helpers.escaping import cell
from helpers.store import records
from helpers.store.appending import Writer, lock_at_once, writing
from helpers.store.records import Line, Reader, StoreError, examine, file_of, files
from helpers.store.verifying import Seen, replacing, set_aside

#: Where an exported line says which file of the store it is from, with a checksum over all before it.
_FILE = re.compile(rb',"file":"([^"]{0,200})","seal":"([0-9a-f]{8})"\}\Z')
#: So many bad lines are told of a file that is refused.
TOLD = 5
_SO = "nothing was taken in"
#: Rows of a table that are in memory at once.
_ROWS = 500


_locked = partial(lock_at_once, so=f"{_SO}: try again")


# --- replies that come from elsewhere ---------------------------------------------------------------------------------


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
    return _take([(source, model)], folder, bears=())


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
    return _take([(path, path.stem) for path in found], folder, bears=("torn",))


def bring_home(other: Path, folder: Path, lock: Callable[[Path], Any] = _locked) -> list[Joined]:
    """As `merge`, of what a run of one's own has left in a store of its own: by the reading of runs, `usable`.

    A line that no run can use stops nothing: it goes to `<file>.damaged` beside the file, as with a repair.
    `lock` gives the lock of a file once nobody else holds it.
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
    """Check all lines, lock all files, then read once more and append; whatever goes wrong, all is taken back.

    `bears` are the kinds of lines that are not whole and stop nothing.
    """

    def checked() -> Iterator[tuple[Line, bytes, str]]:
        return chain.from_iterable(_checked(source, model, bears, read) for source, model in sources)

    joined = {file_of(folder, name): Joined(name) for name in sorted({name for *_, name in checked()})}
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        seen: dict[Path, Seen] = {}
        for path in joined:
            stack.callback(lock(path).release)
            seen[path] = _read(path)
        writers: dict[Path, Writer] = {}
        try:
            for path in joined:
                writers[path] = stack.enter_context(writing(path, lambda: None))
            for line, own, name in checked():
                if (path := file_of(folder, name)) not in joined:
                    raise StoreError(f"line {line.number} came while the source was read; {_SO}: try again")
                _append(joined[path], line, own, writers[path], seen[path])
            for writer in writers.values():
                writer.sync()
            for path, each in joined.items():
                set_aside(path, each.left)
        except BaseException:
            for writer in writers.values():
                writer.take_back()
            raise
    return list(joined.values())


def _checked(source: Path, model: str | None, bears: Sequence[str], read: Reader) -> Iterator[tuple[Line, bytes, str]]:
    """The lines of a source as they are to be written, and whose; StoreError with bad ones when all were read."""
    bad: list[Line] = []
    for number, raw in records.raw_lines(source):
        own, name = own_line(raw.removesuffix(b"\n").removesuffix(b"\r"))
        name = name if name is not None else model
        line = records.look(number, own + (b"\n" if raw.endswith(b"\n") else b""), read)
        if line.record is None and not (line.kind in bears and name is not None):
            bad.append(line)
        elif name is None:
            raise StoreError(
                f"{source}, line {number}: does not say whose file it belongs to, as lines of `recuse store export` "
                "do; name the model with --model"
            )
        else:
            yield line, own, name
    if bad:
        told = "".join(f"\n  line {line.number}: {line.wrong}" for line in bad[:TOLD])
        more = f"\n  and {len(bad) - TOLD} more" if len(bad) > TOLD else ""
        raise StoreError(f"{source}: {len(bad)} lines are not whole, {_SO}:{told}{more}")


def _read(path: Path) -> Seen:
    """What a file holds, read as runs read it, wherever the new lines come from."""
    seen = Seen()
    for line in records.scan(path, records.usable) if path.exists() else ():
        if line.kind in ("damaged", "unknown"):
            raise StoreError(f"{path}, line {line.number}: {line.wrong}; {_SO}: see `recuse store verify`")
        if line.record is not None:
            seen.note(line.record)
    return seen


def _append(joined: Joined, line: Line, own: bytes, writer: Writer, seen: Seen) -> None:
    """Append a line, or the whole ones within a bad one, where they are not there yet, and count it."""
    if line.kind == "torn":
        joined.torn = 1
    elif line.record is None:
        joined.left.append(line)
    for raw in [own] if line.record is not None else records.whole_within(own):
        kind = seen.note(line.record or examine(raw))
        setattr(joined, kind, getattr(joined, kind) + 1)
        if kind != "same":
            writer.append_line(raw + b"\n", _SO)


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
        for line in records.scan(path):
            if line.kind in ("damaged", "unknown"):
                raise StoreError(f"{path}, line {line.number}: {line.wrong}; nothing was written")
            if line.record is not None and (not experiments or _label(line) in experiments):
                counts[path.stem] = counts.get(path.stem, 0) + 1
                yield path.stem, line


def _write_lines(file: BinaryIO, found: Iterator[tuple[str, Line]]) -> None:
    file.writelines(named(line.raw.rstrip(b"\r\n"), model) + b"\n" for model, line in found)


def _write_csv(file: BinaryIO, found: Iterator[tuple[str, Line]]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    # Numbers are told from texts by their quotation marks, and so are line ends of a text from those of a row.
    rows = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    rows.writerow(records.layout()["columns"])
    for row in _rows(found):
        rows.writerow([cell(v) if isinstance(v, str) else int(v) if isinstance(v, bool) else v for v in row.values()])
    text.detach()


def _write_parquet(file: BinaryIO, found: Iterator[tuple[str, Line]]) -> None:
    import pyarrow
    from pyarrow import parquet

    types = {name: records.layout()["types"].get(name, "string") for name in records.layout()["columns"]}
    schema = pyarrow.schema([(name, pyarrow.type_for_alias(each)) for name, each in types.items()])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        rows = _rows(found)
        while part := list(islice(rows, _ROWS)):
            writer.write_table(pyarrow.Table.from_pylist(part, schema))


def _rows(found: Iterator[tuple[str, Line]]) -> Iterator[dict[str, Any]]:
    """The lines as rows of the table; what is neither text nor number is JSON."""
    columns, types = records.layout()["columns"], records.layout()["types"]
    for model, line in found:
        row: dict[str, Any] = {}
        for name, place in columns.items():
            value: Any = line.record if place else model
            for step in place:
                value = value.get(step) if isinstance(value, dict) else None
            if name not in types and value is not None:
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                value = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
            row[name] = value
        yield row
