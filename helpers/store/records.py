"""The lines of a store file: how an attempt is written down, what reading gives, and what is wrong with a line."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from helpers.json_text import dumps, loads, no_constant, no_duplicates
from helpers.types import Completion, Request, Usage

VERSION = 1
#: Counts from here on are no counts, and other programs cannot hold them.
NO_COUNT = 2**53
#: Statuses of requests that a provider refused to take.
REFUSED = ("bad_request", "forbidden", "not_found")
_CRC = b',"crc":"%08x"}'
_CRC_LENGTH = len(_CRC % 0)
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
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


class StoreError(RuntimeError):
    """A store file that cannot be trusted or written; the message names file and line."""


class UnknownFormat(ValueError):
    """A line that is whole, but written by a version of this program that knows another format."""


def file_of(folder: Path, model: str) -> Path:
    """The file that holds the replies of the model with this name; StoreError for a name that could lead elsewhere."""
    if not _NAME.fullmatch(model):
        raise StoreError(
            f"{model[:80]!r} is no name of a model: lower case letters, digits, _ . - (at most 64), "
            "a letter or digit first"
        )
    return folder / f"{model}.jsonl"


def encode(request: Request, completion: Completion, labels: Mapping[str, Any]) -> bytes:
    """One line of a store file: the request, the first asker's labels, the reply, the raw body and a checksum."""
    model = request.model
    asked: dict[str, Any] = {"provider": model.provider, "model": model.model_id, "params": request.params}
    if request.revision is not None:
        asked["revision"] = request.revision
    record = {
        "v": VERSION,
        "key": completion.key,
        "attempt": completion.attempt,
        "status": completion.status,
        "request": {
            **asked,
            "system": request.system,
            "prompt": request.prompt,
            "schema": request.schema,
            "repeat": request.repeat,
        },
        "labels": dict(labels),
        "reply": {
            "text": completion.text,
            "finish": completion.finish,
            "usage": vars(completion.usage),
            "model": completion.model,
            "request_id": completion.request_id,
            "latency": completion.latency,
            "error": completion.error,
            "maybe_billed": completion.maybe_billed,
        },
        "raw": completion.raw,
        "at": completion.at,
    }
    body = dumps(record)
    return body[:-1] + _CRC % zlib.crc32(body) + b"\n"


def unsealed(line: bytes) -> bytes:
    """The record of one line as JSON text, without the checksum; ValueError where that does not fit."""
    body = line[:-_CRC_LENGTH] + b"}"
    if line[-_CRC_LENGTH:] != _CRC % zlib.crc32(body):
        raise ValueError("the checksum does not fit: the line was damaged or edited")
    return body


def check_format(record: Any) -> None:
    """Refuse (UnknownFormat) a record of another format than this version reads."""
    version = record.get("v") if isinstance(record, dict) else None
    if version != VERSION:
        raise UnknownFormat(
            f"written in format {version!r:.40}; this version reads format {VERSION}: update Recuse, or move the file "
            "out of the folder of replies"
        )


def decode(line: bytes, parse: Callable[[bytes], Any] = json.loads) -> dict[str, Any]:
    """The record of one line, for those who use it; ValueError where its checksum or its format is another.

    The checksum says that nothing changed since it was written, and this program writes whole records only. Whether
    each field is there with its type, and whether the key is that of the request, is `examine`'s to say:
    of lines that come from elsewhere, and on `recuse store verify`. That is as strict as it is dear.
    """
    body = unsealed(line)
    try:
        record = parse(body)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
    check_format(record)
    return record


def key_of(request: Mapping[str, Any]) -> str:
    """The key of a request as a line holds it: what `types.Request.key` computes of the request itself."""
    seen = {name: request[name] for name in ("provider", "model", "params", "system", "prompt", "repeat")}
    seen["schema"] = json.dumps(request["schema"])
    if "revision" in request:
        seen["revision"] = request["revision"]
    text = json.dumps(seen, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def completion_of(record: Mapping[str, Any]) -> Completion:
    """The attempt that a line holds; odd words for its end and odd counts, of earlier versions, are read as unknown."""
    reply = record["reply"]
    usage = Usage(**reply["usage"])
    if not all(countable(each) for each in vars(usage).values()):
        usage = Usage(**{name: each if countable(each) else None for name, each in vars(usage).items()})
    return Completion(
        key=record["key"],
        status=record["status"],
        text=reply["text"],
        finish=reply["finish"] if isinstance(reply["finish"], str | None) else "unknown",  # None would be a normal end
        usage=usage,
        model=reply["model"],
        request_id=reply["request_id"],
        latency=reply["latency"],
        raw=record["raw"],
        attempt=record["attempt"],
        at=record["at"],
        error=reply["error"],
        maybe_billed=reply["maybe_billed"],
    )


def countable(value: Any) -> bool:
    """Whether this is a number of tokens, or None for one that nobody told."""
    return value is None or (type(value) is int and 0 <= value < NO_COUNT)


def usable(line: bytes) -> dict[str, Any]:
    """The record of one line without its line end, as runs read it; ValueError says why no run can use it.

    What counts as stored, what a cell of a matrix is given, and what comes home of its replies is told by this reading.
    """
    record = decode(line)
    try:
        completion_of(record)
        if isinstance(record["key"], str) and isinstance(record["request"]["prompt"], str):
            return record
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a line of this program ({error})") from None
    raise ValueError("not a line of this program (its key or its prompt is no text)")


def lines(path: Path, parse: Callable[[bytes], Any] = json.loads) -> Iterator[dict[str, Any]]:
    """All records of a store file in order, failed attempts too; an absent file holds none.

    A last line without its newline is a write that was cut off and is ignored; any other damage is a StoreError
    naming file and line.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield decode(line[:-1], parse)
            except (ValueError, KeyError, TypeError) as error:
                raise StoreError(f"{path}, line {number}: {error}{_advice(path, error)}") from None


def _advice(path: Path, error: Exception) -> str:
    """What to do about a line that cannot be read; an unknown format says it itself."""
    if isinstance(error, UnknownFormat):
        return ""
    return f". `recuse store verify --store {path.parent}` names all damage, and --repair sets it aside"


def replies(path: Path) -> Iterator[Completion]:
    """The replies of one file, in its order: of several to one key (merged stores) the first, which counts.

    StoreError where the file is damaged.
    """
    seen: set[str] = set()
    # `loads` takes half the time of `json`; the whole numbers that it makes floats are no counts.
    for number, record in enumerate(lines(path, loads), 1):
        try:
            if record["status"] == "ok" and record["key"] not in seen:
                seen.add(record["key"])
                yield completion_of(record)
        except (KeyError, TypeError) as error:
            raise StoreError(f"{path}, line {number}: not a line of this program ({error})") from None


def read(path: Path) -> dict[str, Completion]:
    """The `replies` of one file by key."""
    return {reply.key: reply for reply in replies(path)}


def stored_keys(path: Path) -> set[str]:
    """The keys in a store file that have a reply."""
    return {reply.key for reply in replies(path)}


def left_index(path: Path) -> str:
    """A line that names the index which an earlier version kept beside a store file, "" where there is none."""
    place = path.with_name(f"{path.stem}.index.parquet")
    return f"{place}: an index of an earlier version; nothing reads it, and it may be deleted" if place.exists() else ""


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
