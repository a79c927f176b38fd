"""The file of an index: a Parquet file beside a store file that belongs to it, sealed, and trusted for nothing else.

It holds what analyses ask of each line and no texts. Everything in it can be made again from the store file, so it may
be deleted at any time; whatever is wrong with it, it is as if it were not there.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.store.records import StoreError
from helpers.store.verifying import replacing

if TYPE_CHECKING:
    import pyarrow

#: Raised whenever an index of before could be misread.
FORMAT = 2
_ABOUT = b"recuse"
#: Where the checksum over all other bytes stands in the file, eight hex digits.
_SEAL = b'"seal":"'
_UNSEALED = b"00000000"
#: What an index says about itself besides, with its types: `seen` are size, two times and number of the store file.
_TOLD = {"format": int, "file": str, "seen": list, "settled": bool, "covered": int, "digest": str}
_STAMPS = 4

#: The columns, one row a line of the store file, in its order. "word" is text of which few differ.
COLUMNS: dict[str, str] = {
    "key": "key",
    "counts": "bool",  # the first finished reply of its key
    **dict.fromkeys(("status", "experiment", "question_id", "condition", "shown", "provider", "model_id"), "word"),
    "repeat": "int",
    "attempt": "int",
    "at": "text",
    "finish": "word",
    "returned_model": "word",
    **dict.fromkeys((f"tokens_{name}" for name in ("input", "output", "reasoning", "cached", "written")), "int"),
    "latency": "float",
    "maybe_billed": "bool",
    "offset": "int",
    "length": "int",
    # What was read from the reply, once it was: empty before, and where another parser has to read it again.
    "parser": "word",
    "reading": "key",
    **dict.fromkeys(("outcome", "choice", "ranking", "choices", "scores"), "word"),  # lists and scores as JSON
    "number": "float",
    "contradicts": "bool",
    "probabilities": "text",
}


def index_of(path: Path) -> Path:
    """Where the index of a store file lies."""
    return path.with_name(f"{path.stem}.index.parquet")


@dataclass(frozen=True)
class State:
    """An index beside a store file: the lines in it, those of them whose reply was read for a verdict, and its size."""

    rows: int
    verdicts: int
    bytes: int


def state(path: Path) -> State | None:
    """The index of a store file as it lies there, whether or not the file has grown since; None where there is none.

    One that was made of another copy of the file counts as none.
    """
    found = load(path)
    if found is None or found[1]["seen"][-1] != path.stat().st_ino:
        return None
    table = table_of(found[0], ("outcome",))
    if table is None:
        return None
    return State(table.num_rows, table.num_rows - table["outcome"].null_count, found[0].size())


def remove(path: Path) -> bool:
    """Delete the index of a store file, and its lock; whether there was one. The next run that needs it makes it."""
    index_of(path).with_name(f"{index_of(path).name}.lock").unlink(missing_ok=True)
    there = index_of(path).exists() or index_of(path).is_symlink()
    index_of(path).unlink(missing_ok=True)
    return there


def schema() -> pyarrow.Schema:
    """The columns with their types."""
    import pyarrow as pa

    types = {
        **{"key": pa.binary(), "bool": pa.bool_(), "int": pa.int64(), "float": pa.float64(), "text": pa.string()},
        "word": pa.dictionary(pa.int32(), pa.string()),
    }
    return pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])


def load(path: Path) -> tuple[pyarrow.BufferReader, dict[str, Any]] | None:
    """The index of a store file and what it says about itself; None where there is none or it is not whole.

    An index of another file or of another format counts as none, and so does one that says odd things of itself.
    """
    place = index_of(path)
    try:
        raw = place.read_bytes()
    except OSError:
        return None
    start = raw.rfind(_SEAL) + len(_SEAL)
    if start < len(_SEAL) or raw[start : start + 8] != _seal(raw, start):
        return None
    import pyarrow as pa
    from pyarrow import parquet

    file = pa.BufferReader(raw)
    try:
        held = parquet.read_schema(file)
        about = json.loads((held.metadata or {}).get(_ABOUT, b"{}"))
    except (pa.ArrowException, OSError, ValueError, RecursionError):  # a checksum can be forged
        return None
    if not _plausible(about) or (about["format"], about["file"]) != (FORMAT, path.name) or not held.equals(schema()):
        return None
    return file, about


def _plausible(about: Any) -> bool:
    """Whether what an index says about itself is of the form in which `save` is told it."""
    if not isinstance(about, dict) or {name: type(about.get(name)) for name in _TOLD} != _TOLD:
        return False
    return len(about["seen"]) == _STAMPS and all(type(each) is int for each in about["seen"]) and about["covered"] >= 0


def table_of(file: pyarrow.BufferReader, columns: Sequence[str] = ()) -> pyarrow.Table | None:
    """The rows of an index, all columns or some; None where they cannot be read."""
    import pyarrow as pa
    from pyarrow import parquet

    file.seek(0)
    try:
        return parquet.ParquetFile(file).read(columns=list(columns) or None).replace_schema_metadata(None)
    except (pa.ArrowException, OSError):
        return None


def save(path: Path, table: pyarrow.Table, about: Mapping[str, Any]) -> bool:
    """Write the index of a store file in one step; False where it cannot be written or another process is at it.

    An index is a help and no result: a full disk or a folder that is for reading only stops nobody.
    """
    import pyarrow as pa
    from filelock import FileLock, Timeout
    from pyarrow import parquet

    told = {"format": FORMAT, "file": path.name, **about, "seal": _UNSEALED.decode()}
    sink = pa.BufferOutputStream()
    kept = table.replace_schema_metadata({_ABOUT: json.dumps(told, separators=(",", ":")).encode()})
    parquet.write_table(kept, sink, compression="zstd", compression_level=1)
    raw = bytearray(sink.getvalue())
    start = raw.rfind(_SEAL) + len(_SEAL)
    raw[start : start + 8] = _seal(raw, start)
    place = index_of(path)
    try:
        with FileLock(f"{place}.lock", timeout=0), replacing(place) as file:
            file.write(raw)
    except (Timeout, OSError, StoreError, NotImplementedError):  # some file systems know no locks
        return False
    return True


def _seal(raw: bytes | bytearray, start: int) -> bytes:
    """The checksum of a whole index, in which the eight digits of the checksum itself count as zeros."""
    view = memoryview(raw)
    return b"%08x" % zlib.crc32(view[start + 8 :], zlib.crc32(_UNSEALED, zlib.crc32(view[:start])))
