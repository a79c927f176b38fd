"""What each line of a store file is: whole, torn, damaged and by what, or of a format that this version cannot read."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from helpers.json_text import no_constant, no_duplicates
from helpers.store.records import NO_COUNT, VERSION, StoreError, UnknownFormat, check_format, key_of, unsealed
from helpers.types import Usage

_NONE = type(None)
#: What a line must hold: the types of each field, "" for the line itself.
_FIELDS: dict[str, dict[str, tuple[type, ...]]] = {
    "": {
        **{name: (str,) for name in ("key", "status", "raw", "at")},
        **{name: (dict,) for name in ("request", "labels", "reply")},
        "attempt": (int,),
    },
    "request": {
        **{name: (str,) for name in ("provider", "model", "system", "prompt")},
        "params": (dict,),
        "schema": (dict, _NONE),
        "repeat": (int,),
    },
    "reply": {
        "text": (str,),
        **{name: (str, _NONE) for name in ("finish", "model", "request_id", "error")},
        "usage": (dict,),
        "latency": (float, int, _NONE),
        "maybe_billed": (bool,),
    },
}
_USAGE = {field.name for field in fields(Usage)}
#: What gives the record of a line without its line end, or says in a ValueError what is wrong with it.
Reader = Callable[[bytes], dict[str, Any]]
_START = re.compile(rb'\{"v":\d+,"key":"')
_END = re.compile(rb',"crc":"[0-9a-f]{8}"\}')


@dataclass(frozen=True)
class Line:
    """One line as it stands in a file: `raw` with its line end, `record` where it is whole, else what is wrong with it.

    `kind`: "whole"; "unended", whole but without its line end (readers do not count it yet); "torn", a last line that
    was cut off while it was written; "damaged"; "unknown", written in a format of another version.
    """

    number: int
    raw: bytes
    kind: str
    record: dict[str, Any] | None = None
    wrong: str = ""


def files(folder: Path, models: Sequence[str] = ()) -> list[Path]:
    """The files of a store, all or those of `models`; StoreError where there is no such folder or file."""
    if folder.is_file():
        raise StoreError(f"{folder}: a file; --store names the folder that it lies in, and {folder.stem} its model")
    if not folder.is_dir():
        raise StoreError(f"{folder}: no such folder of replies; it comes with the first run (--store names another)")
    found = {path.stem: path for path in sorted(folder.glob("*.jsonl")) if path.is_file()}
    strangers = [name for name in models if name not in found]
    if strangers:
        there = ", ".join(found) or "none"
        raise StoreError(f"{folder}: no replies of {', '.join(strangers)}; there are those of: {there}")
    return [found[name] for name in (dict.fromkeys(models) or found)]


def examine(line: bytes) -> dict[str, Any]:
    """The record of one line without its line end, read strictly; ValueError says what is wrong with it.

    Beyond `decode` every field must be there with its type, no name twice, and the key must be that of the request.
    """
    body = unsealed(line)
    try:
        record = json.loads(body.decode(), object_pairs_hook=no_duplicates, parse_constant=no_constant)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
    check_format(record)
    for part, names in _FIELDS.items():
        for name, types in names.items():
            _check_field(record[part] if part else record, f"{part}." if part else "", name, types)
    odd = sorted(set(record["reply"]["usage"]) - _USAGE)
    if odd:
        raise ValueError(f"reply.usage holds {odd[0][:40]!r}; known: {', '.join(sorted(_USAGE))}")
    for name in record["reply"]["usage"]:
        _check_field(record["reply"]["usage"], "reply.usage.", name, (int, _NONE))
    if record["key"] != key_of(record["request"]):
        raise ValueError("the key is not that of the request: one of them was changed")
    return record


def _check_field(part: dict[str, Any], where: str, name: str, types: tuple[type, ...]) -> None:
    if name not in part:
        raise ValueError(f"no field {where}{name}")
    if type(part[name]) not in types:
        expected = " or ".join(each.__name__.replace("NoneType", "null") for each in types)
        raise ValueError(f"{where}{name} is {type(part[name]).__name__}, expected {expected}")
    if type(part[name]) is int and not 0 <= part[name] < NO_COUNT:
        raise ValueError(f"{where}{name} is no count from 0 to 2^53")


def whole_within(damaged: bytes) -> list[bytes]:
    """The whole lines within a damaged one, without line ends: what lost its line end, or stands beside foreign bytes.

    Nothing that a model wrote can look like one: inside a line its quotation marks are escaped.
    """
    found = []
    for start, limit in pairwise([*(match.start() for match in _START.finditer(damaged)), len(damaged)]):
        at, crc = start, 0  # the checksum continues from one end to the next: no byte is read twice
        for match in _END.finditer(damaged, start, limit):
            crc, at = zlib.crc32(damaged[at : match.start()], crc), match.start()
            if match[0] != b',"crc":"%08x"}' % zlib.crc32(b"}", crc):
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
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            yield look(number, raw, read)


def look(number: int, raw: bytes, read: Reader = examine) -> Line:
    """What one line is; see `Line` and `scan`."""
    ended = raw.endswith(b"\n")
    try:
        record = read(raw.removesuffix(b"\n"))
    except UnknownFormat as error:
        return Line(number, raw, "unknown", wrong=str(error))
    except ValueError as error:
        version = _foreign_version(raw)
        if version is not None:
            wrong = f"written in format {version}; this version reads format {VERSION}: update Recuse"
            return Line(number, raw, "unknown", wrong=wrong)
        rescued = len(whole_within(raw))
        if not ended and not rescued:
            return Line(number, raw, "torn", wrong="cut off while it was written")
        saved = f" ({rescued} whole within it, which --repair puts back)" if rescued else ""
        return Line(number, raw, "damaged", wrong=f"{error}{saved}")
    if ended:
        return Line(number, raw, "whole", record)
    return Line(number, raw, "unended", record, "whole, but without its line end")


def _foreign_version(raw: bytes) -> int | None:
    """The format of a line whose checksum may be made in another way; None where it is one of ours that was damaged."""
    told = re.match(rb'\{"v":(\d{1,6}),.*\}\n?\Z', raw, re.DOTALL)
    if not told or int(told[1]) == VERSION:
        return None
    ours = b'{"v":%d' % VERSION + raw.removesuffix(b"\n")[told.end(1) :]
    body, found, crc = ours.rpartition(b',"crc":"')
    damaged = found and crc == b'%08x"}' % zlib.crc32(body + b"}")
    return None if damaged else int(told[1])
