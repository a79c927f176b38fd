"""The lines of a store file: how an attempt is written down, what reading gives, and what is wrong with a line."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pkgutil
import re
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..json_text import dumps, loads, no_constant, no_duplicates
from ..types import Completion, Request, Usage

VERSION = 1
#: Counts from here on are no counts, and other programs cannot hold them.
NO_COUNT = 2**53
#: Statuses of requests that a provider refused to take.
REFUSED = ("bad_request", "forbidden", "not_found")
_UPDATE = f"written in format {{}}; this version reads format {VERSION}: update Recuse, or move the file out"
_CRC = b',"crc":"%08x"}'
_CRC_LENGTH = len(_CRC % 0)
_START = re.compile(rb'\{"v":\d+,"key":"')
_END = re.compile(rb',"crc":"[0-9a-f]{8}"\}')
#: The fields of a line, the columns of a table and what to do about errors of a system; read before any file can fail.
LAYOUT: dict[str, Any] = tomllib.loads((pkgutil.get_data(__package__, "layout.toml") or b"").decode())
#: What gives the record of a line without its line end, or says in a ValueError what is wrong with it.
Reader = Callable[[bytes], dict[str, Any]]


class StoreError(RuntimeError):
    """A store file that cannot be trusted or written; the message names file and line."""


@contextmanager
def naming(path: Path, so: str = "", failure: str = "{}") -> Iterator[None]:
    """Turn an OSError into a StoreError: the file or folder, the failure, the remedy, and what follows (`so`)."""
    try:
        yield
    except OSError as error:
        remedy = LAYOUT["remedies"].get(errno.errorcode.get(error.errno or 0))
        words = "a symbolic link, and nothing is written through one" if error.errno == errno.ELOOP else error.strerror
        raise StoreError("; ".join(filter(None, (f"{path}: {failure.format(words)}", remedy, so)))) from error


def opened(path: Path, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """A file descriptor; new files are private. StoreError where it cannot be opened.

    Writes follow no symbolic link, and what is no regular file is refused.
    """
    if path.exists() and not path.is_file():  # a pipe would be waited for without end
        raise StoreError(f"{path}: no regular file but a folder, pipe or device; move it out of the folder of replies")
    if flags != os.O_RDONLY:
        flags |= getattr(os, "O_NOFOLLOW", 0)  # Windows has none
    with naming(path):
        return os.open(path, flags | getattr(os, "O_BINARY", 0), mode)  # Windows would write line ends of its own


def sync_folder(folder: Path) -> None:
    """Bring the names of new files to the disk, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers and line ends, without a blank last line."""
    with io.BufferedReader(io.FileIO(opened(path)), 2**16) as file:  # most lines are longer than the default
        for number, raw in enumerate(file, 1):
            if raw in (b"\n", b"\r\n") and not file.peek(1):
                return
            yield number, raw


# --- which files, and how a line is written ---------------------------------------------------------------------------


def file_of(folder: Path, model: str) -> Path:
    """The file of replies of a model; StoreError for a name that could lead elsewhere."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]{0,63}", model):
        raise StoreError(
            f"{model[:80]!r} is no name of a model: lower case letters, digits, then also _ . - (64 at most)"
        )
    return folder / f"{model}.jsonl"


def files(folder: Path, models: Sequence[str] = ()) -> list[Path]:
    """The files of a store, all or those of `models`; StoreError where there is no such folder or file."""
    if folder.is_file():
        raise StoreError(f"{folder}: a file; --store names the folder that it lies in, and {folder.stem} its model")
    if not folder.is_dir():
        raise StoreError(f"{folder}: no such folder of replies; it comes with the first run (--store names another)")
    found = {path.stem: path for path in sorted(folder.glob("*.jsonl"))}
    strangers = [name for name in models if name not in found]
    if strangers:
        there = ", ".join(found) or "none"
        raise StoreError(f"{folder}: no replies of {', '.join(strangers)}; there are those of: {there}")
    return [found[name] for name in (dict.fromkeys(models) or found)]


def left_index(path: Path) -> str:
    """A line that names the index which an earlier version kept beside a store file, "" where there is none."""
    place = path.with_name(f"{path.stem}.index.parquet")
    return f"{place}: an index of an earlier version; nothing reads it, and it may be deleted" if place.exists() else ""


def encode(request: Request, completion: Completion, labels: Mapping[str, Any]) -> bytes:
    """One line of a store file: the request, the first asker's labels, the reply, the raw body and a checksum."""
    asked = {"provider": request.model.provider, "model": request.model.model_id, "params": request.params}
    if request.revision is not None:
        asked["revision"] = request.revision
    asked |= {name: getattr(request, name) for name in ("system", "prompt", "schema", "repeat")}
    reply = {name: getattr(completion, name) for name in LAYOUT["line"]["reply"]}
    parts = {"request": asked, "labels": dict(labels), "reply": reply | {"usage": vars(completion.usage)}}
    fields = {name: parts[name] if name in parts else getattr(completion, name) for name in LAYOUT["line"]}
    body = dumps({"v": VERSION, **fields})
    return body[:-1] + _CRC % zlib.crc32(body) + b"\n"


def key_of(request: Mapping[str, Any]) -> str:
    """The key of a request as a line holds it: what `types.Request.key` computes of the request itself."""
    seen = {**request, "schema": json.dumps(request["schema"])}
    text = json.dumps(seen, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# --- reading, as runs do ----------------------------------------------------------------------------------------------


def decode(line: bytes, parse: Callable[[bytes], Any] = loads) -> dict[str, Any]:
    """The record of one line; ValueError where its checksum or its format is another.

    The checksum says that nothing changed since it was written. Fields, types and the key are checked by `examine`,
    which is slow, and keeps whole numbers of 64 bits and more: for lines that come from elsewhere and for `recuse store
    verify`.
    """
    body = line[:-_CRC_LENGTH] + b"}"
    if line[-_CRC_LENGTH:] != _CRC % zlib.crc32(body):
        raise ValueError("the checksum does not fit: the line was damaged or edited")
    try:
        record = parse(body)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
    version = record.get("v") if isinstance(record, dict) else None
    if version != VERSION:
        raise ValueError(_UPDATE.format(f"{version!r:.40}"))
    return record


def completion_of(record: Mapping[str, Any]) -> Completion:
    """The attempt that a line holds; odd words for its end and odd counts, of earlier versions, are read as unknown."""
    reply = record["reply"]
    return Completion(
        **{name: record[name] for name in ("key", "status", "raw", "attempt", "at")},
        **{name: reply[name] for name in ("text", "model", "request_id", "latency", "error", "maybe_billed")},
        finish=reply["finish"] if isinstance(reply["finish"], str | None) else "unknown",  # None would be a normal end
        usage=Usage(**{name: each if countable(each) else None for name, each in reply["usage"].items()}),
    )


def countable(value: Any) -> bool:
    """Whether this is a number of tokens, or None for one that nobody told."""
    return value is None or (type(value) is int and 0 <= value < NO_COUNT)


def usable(line: bytes) -> dict[str, Any]:
    """The record of one line without its line end, as runs read it; ValueError says why none can use it."""
    record = decode(line)
    try:
        completion_of(record)
        if not isinstance(record["key"], str) or not isinstance(record["request"]["prompt"], str):
            raise TypeError("its key or its prompt is no text")
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a line of this program ({error})") from None
    return record


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """All records of a store file in order, failed attempts too; an absent file holds none.

    A last line without its newline was cut off and is ignored; any other damage is a StoreError with file and line.
    """
    for line in scan(path, decode) if path.exists() else ():
        if not line.raw.endswith(b"\n"):
            return
        if line.record is None:
            advice = f". `recuse store verify --store {path.parent}` names all damage, and --repair sets it aside"
            raise StoreError(f"{path}, line {line.number}: {line.wrong}{advice if line.kind == 'damaged' else ''}")
        yield line.record


def replies(path: Path) -> Iterator[Completion]:
    """The replies of one file, in its order: of several to one key the first. StoreError where it is damaged."""
    seen: set[str] = set()
    for number, record in enumerate(lines(path), 1):
        try:
            if record["status"] == "ok" and record["key"] not in seen:
                seen.add(record["key"])
                yield completion_of(record)
        except (KeyError, TypeError) as error:
            raise StoreError(f"{path}, line {number}: not a line of this program ({error})") from None


def read(path: Path) -> dict[str, Completion]:
    """The `replies` of one file by key."""
    return {reply.key: reply for reply in replies(path)}


def refused(path: Path) -> set[str]:
    """Keys of requests that a provider refused to take and that have no reply since."""
    seen: dict[str, bool] = {}
    for record in lines(path):
        seen[record["key"]] = record["status"] in REFUSED and seen.get(record["key"], True)
    return {key for key, never in seen.items() if never}


# --- what each line is: whole, torn, damaged and by what, or of another version's format ------------------------------


@dataclass(frozen=True)
class Line:
    """One line as it stands in a file: `raw` with its line end, `record` where it is whole, else what is wrong with it.

    `kind`: "whole"; "unended" (whole but for its line end: readers do not count it yet); "torn" (a last line that was
    cut off); "damaged"; "unknown" (of another version).
    """

    number: int
    raw: bytes
    kind: str
    record: dict[str, Any] | None = None
    wrong: str = ""


def examine(line: bytes) -> dict[str, Any]:
    """The record of one line, read strictly: beyond `decode`, each field once with its type, and the key that fits."""
    strictly = partial(json.loads, object_pairs_hook=no_duplicates, parse_constant=no_constant)
    record = decode(line, lambda body: strictly(body.decode()))
    _check_fields(record, LAYOUT["line"])
    usage, fields = record["reply"]["usage"], LAYOUT["usage"]
    if odd := sorted(set(usage) - set(fields)):
        raise ValueError(f"reply.usage holds {odd[0][:40]!r}; known: {', '.join(sorted(fields))}")
    _check_fields(usage, dict.fromkeys(usage, "int or null"), "reply.usage.")
    if record["key"] != key_of(record["request"]):
        raise ValueError("the key is not that of the request: one of them was changed")
    return record


def _check_fields(part: dict[str, Any], expected: Mapping[str, Any], where: str = "") -> None:
    for name, types in expected.items():
        if name not in part:
            raise ValueError(f"no field {where}{name}")
        value, inner = part[name], isinstance(types, dict)
        valid = "dict" if inner else types
        if ("null" if value is None else type(value).__name__) not in valid.split(" or "):
            raise ValueError(f"{where}{name} is {type(value).__name__}, expected {valid}")
        if type(value) is int and not countable(value):
            raise ValueError(f"{where}{name} is no count from 0 to 2^53")
        if inner:
            _check_fields(value, types, f"{where}{name}.")


def whole_within(damaged: bytes) -> list[bytes]:
    """The whole lines within a damaged one, without line ends; in a reply the quotation marks are escaped."""
    found = []
    for start, limit in pairwise([*(match.start() for match in _START.finditer(damaged)), len(damaged)]):
        at, crc = start, 0  # the checksum continues from one end to the next: no byte is read twice
        for match in _END.finditer(damaged, start, limit):
            crc, at = zlib.crc32(damaged[at : match.start()], crc), match.start()
            if match[0] != _CRC % zlib.crc32(b"}", crc):
                continue
            try:
                examine(damaged[start : match.end()])
            except ValueError:
                continue
            found.append(damaged[start : match.end()])
            break
    return found


def scan(path: Path, read: Reader = examine) -> Iterator[Line]:
    """Every line of a file as it stands, whole or not; strictly, or as `read` does."""
    return (look(number, raw, read) for number, raw in raw_lines(path))


def whole_lines(path: Path, so: str, read: Reader = examine) -> Iterator[tuple[Line, dict[str, Any]]]:
    """The lines of a file with their records but for a torn last one; StoreError, with what follows, at a bad one."""
    for line in scan(path, read):
        if line.kind in ("damaged", "unknown"):
            raise StoreError(f"{path}, line {line.number}: {line.wrong}; {so}")
        if line.record is not None:
            yield line, line.record


def look(number: int, raw: bytes, read: Reader = examine) -> Line:
    """What one line is; see `Line` and `scan`. It may end as lines end on Windows."""
    ended = raw.endswith(b"\n")
    try:
        record = read(raw.removesuffix(b"\n").removesuffix(b"\r"))
    except ValueError as error:
        if (version := _foreign_version(raw)) is not None:
            return Line(number, raw, "unknown", wrong=_UPDATE.format(version))
        rescued = len(whole_within(raw))
        if not ended and not rescued:
            return Line(number, raw, "torn", wrong="cut off while it was written")
        saved = f" ({rescued} whole within it, which --repair puts back)" if rescued else ""
        return Line(number, raw, "damaged", wrong=f"{error}{saved}")
    if ended:
        return Line(number, raw, "whole", record)
    return Line(number, raw, "unended", record, "whole, but without its line end")


def _foreign_version(raw: bytes) -> int | None:
    """The format of a line of another version, whatever its checksum; None where it is one of ours that was damaged."""
    version = re.match(rb'\{"v":\s*(\d{1,6}),.*\}\r?\n?\Z', raw, re.DOTALL)
    if not version or int(version[1]) == VERSION:
        return None
    ours, _, crc = (b'{"v":%d' % VERSION + raw.rstrip(b"\r\n")[version.end(1) :]).rpartition(b',"crc":"')
    return None if crc == b'%08x"}' % zlib.crc32(ours + b"}") else int(version[1])
