"""The index of a store file as it is used: made from the lines, extended where lines were appended, else made anew."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from helpers.store.index_file import COLUMNS, index_of, load, save, table_of
from helpers.store.kept import SAID, Kept, said_in
from helpers.store.records import read
from helpers.store.rows import NO_ROW, USAGE, as_table, rows_from, values
from helpers.types import Completion, Usage

if TYPE_CHECKING:
    import pyarrow

#: Bytes: smaller files are read faster than an index is.
WORTH_INDEXING = 2**20
#: A file that was changed less than so many nanoseconds ago can change again and look the same: where its times are
#: told by the second, and where finer than by the thousandth. These tick some sixty times a second or oftener.
UNSETTLED = 2_000_000_000
UNSETTLED_FINE = 100_000_000
_CHUNK = 2**20


@dataclass(frozen=True)
class _Index:
    """The rows of an index, and what it says about itself."""

    table: pyarrow.Table
    about: Mapping[str, Any]


def least(path: Path) -> int:
    """The bytes from which on a store file is read by its index: any number where somebody has made one."""
    return 0 if index_of(path).exists() else WORTH_INDEXING


def stored(path: Path, keys: Collection[str] | None = None) -> dict[str, Completion]:
    """The replies to `keys` (None: to all) in a store file, in its order; from a large file without their texts.

    The same as `read` gives: the first reply of a key, and StoreError where the file is damaged.
    """
    found = current(path)
    if found is None:
        return {key: reply for key, reply in read(path).items() if keys is None or key in keys}
    rows = counting(found.table)
    if keys is not None and len(keys) < rows.num_rows / 2:  # it loads pandas, which takes longer than most rows do
        import numpy as np

        rows = rows.filter(np.array([key.hex() in keys for key in rows["key"].to_pylist()], dtype=bool))
    return {reply.key: reply for reply in _kept(path, rows) if keys is None or reply.key in keys}


def stored_keys(path: Path) -> set[str]:
    """The keys in a store file that have a reply."""
    found = current(path, ("key", "counts"))
    if found is None:
        return set(read(path))
    return {key.hex() for key in counting(found.table)["key"].to_pylist()}


def note(path: Path, read_now: Mapping[str, tuple[str, tuple[Any, ...]]]) -> None:
    """Keep what was read from replies in the index of a large file; not where another reply counts by now.

    `read_now` holds by key when the reply came, and what was read as the columns SAID hold it.
    """
    found = current(path, worth=sys.maxsize) if read_now else None
    if found is None:
        return
    import numpy as np
    import pyarrow as pa

    table, columns = found.table, {bytes.fromhex(key): each for key, each in read_now.items()}
    keys, counts, times = (table[name].to_pylist() for name in ("key", "counts", "at"))
    rows = [row for row, key in enumerate(keys) if counts[row] and key in columns and columns[key][0] == times[row]]
    try:
        news = as_table([columns[keys[row]][1] for row in rows], SAID)
    except NO_ROW:
        return  # what no Parquet file can hold is read from the text every time
    places = np.arange(len(keys))
    places[rows] = len(keys) + np.arange(len(rows))
    every = pa.concat_tables([table.select(SAID), news]).unify_dictionaries().take(places)
    for name in SAID:
        table = table.set_column(table.schema.get_field_index(name), name, every[name])
    save(path, table, found.about)


def index(path: Path) -> bool:
    """Bring the index of a file up to date, however small the file; False where no index can hold it."""
    return current(path, ("key",), smallest=0, worth=0) is not None


def checked(path: Path) -> str:
    """What the index beside a store file is worth: "fits", "earlier", "differs", "unreadable", or "" where none is.

    "earlier" is one of another state of the file, or of a copy of it; that, and one that cannot be read, counts as none
    and is made anew. "differs" says of a line something else than the line does, although its checksums fit: somebody
    changed it on purpose. Verdicts are not compared here: what was asked stands in no line.
    """
    found = load(path)
    if found is None:
        return "unreadable" if os.path.lexists(index_of(path)) else ""
    with path.open("rb") as file:
        if not _covered(file, found[1], hashlib.sha256()):
            return "earlier"
        import pyarrow as pa

        held = table_of(found[0])
        if held is None:
            return "unreadable"
        file.seek(0)
        try:
            lines = pa.concat_tables(rows_from(file, (), hashlib.sha256())).slice(0, held.num_rows)
        except NO_ROW:
            return "earlier"
    return "fits" if _words(lines).equals(_words(held)) else "differs"


def _words(table: pyarrow.Table) -> pyarrow.Table:
    """What the lines say, without numbers for words, which two tables give out in an order of their own."""
    import pyarrow as pa

    told = table.select([name for name in COLUMNS if name not in SAID])
    return told.cast(pa.schema([(each.name, getattr(each.type, "value_type", each.type)) for each in told.schema]))


def counting(table: pyarrow.Table) -> pyarrow.Table:
    """The rows that count: one a key with a reply."""
    from pyarrow import compute

    # Where all do, which is the rule, nothing has to be copied.
    return table if compute.all(table["counts"]).as_py() else table.filter(table["counts"])


def current(
    path: Path, columns: Sequence[str] = (), smallest: int | None = None, worth: int = WORTH_INDEXING
) -> _Index | None:
    """The index of a store file as this is now, with all columns or some; None for one of less than `smallest` bytes.

    One that was made before serves where the file has not changed since, or has only grown: what it covers is compared
    by checksum. In a copy of the file it does not: what others say was read from replies is not taken from them. Beside
    a file of at least `worth` bytes a better one takes its place. None, too, where no index can hold the lines: `read`
    says what is wrong with them.
    """
    try:
        file = path.open("rb")
    except OSError:
        return None
    with file:
        stat = os.fstat(file.fileno())
        if stat.st_size < (least(path) if smallest is None else smallest):
            return None
        seen = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
        settled = _settled(stat, time.time_ns())
        found = load(path)
        if found is not None and found[1]["settled"] and found[1]["seen"] == seen:
            table = table_of(found[0], columns)
            if table is not None:
                return _Index(table, found[1])
        tables, digest = [], hashlib.sha256()
        table = table_of(found[0]) if found is not None and _covered(file, found[1], digest) else None
        if table is not None:
            tables.append(table)
        else:
            found, digest = None, hashlib.sha256()
            file.seek(0)
        start = file.tell()
        try:
            tables += rows_from(file, tuple(tables), digest)
        except NO_ROW:
            return None
    import pyarrow as pa

    table = pa.concat_tables(tables).unify_dictionaries()
    ends = table.slice(max(0, table.num_rows - 1)).select(["offset", "length"]).to_pylist()
    covered = sum(ends[0].values()) if ends else 0
    about = {"seen": seen, "settled": settled, "covered": covered, "digest": digest.hexdigest()}
    if stat.st_size >= worth and (found is None or covered > start or settled):
        save(path, table, about)
    return _Index(table.select([*columns]) if columns else table, about)


def _settled(stat: os.stat_result, now: int) -> bool:
    """Whether another change of the file would show in its times."""
    # No program sets the time of the change (on Windows it is that of creation), so it tells how fine these times are.
    fine = stat.st_ctime_ns % 1_000_000 != 0
    return now - max(stat.st_mtime_ns, stat.st_ctime_ns) > (UNSETTLED_FINE if fine else UNSETTLED)


def _covered(file: BinaryIO, about: Mapping[str, Any], digest: Any) -> bool:
    """Whether this is still the file of an index and begins with the bytes that it covers; they go into `digest`."""
    if about["seen"][-1] != os.fstat(file.fileno()).st_ino:
        return False
    left = about["covered"]
    while left and (some := file.read(min(left, _CHUNK))):
        digest.update(some)
        left -= len(some)
    return not left and digest.hexdigest() == about["digest"]


def _kept(path: Path, rows: pyarrow.Table) -> Iterator[Kept]:
    told = zip(*(values(rows[name]) for name in SAID), strict=True)
    usages = zip(*(values(rows[f"tokens_{name}"]) for name in USAGE), strict=True)
    lines = zip(values(rows["offset"]), values(rows["length"]), strict=True)
    held = ("status", "finish", "latency", "attempt", "at", "maybe_billed")
    plain = zip(*(values(rows[name]) for name in ("returned_model", *held)), strict=True)
    names = ("model", *held)
    for key, line, usage, fields, said in zip(values(rows["key"]), lines, usages, plain, told, strict=True):
        named = dict(zip(names, fields, strict=True), key=key.hex(), usage=Usage(*usage))
        yield Kept.at(path, *line, said_in(*said), named)
