"""The lines of a store file: how an attempt is written down, and what reading the file back gives."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from helpers.json_bytes import dumps
from helpers.types import Completion, Request, Usage

VERSION = 1
#: Counts from here on are no counts, and other programs cannot hold them.
NO_COUNT = 2**53
#: Statuses of requests that a provider refused to take.
REFUSED = ("bad_request", "forbidden", "not_found")
_CRC = b',"crc":"%08x"}'
_CRC_LENGTH = len(_CRC % 0)
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")


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


def decode(line: bytes) -> dict[str, Any]:
    """The record of one line, for those who use it; ValueError where its checksum or its format is another.

    The checksum says that nothing changed since it was written, and this program writes whole records only. Whether
    each field is there with its type, and whether the key is that of the request, is `checking.examine`'s to say:
    of lines that come from elsewhere, and on `recuse store verify`. That is as strict as it is dear.
    """
    body = unsealed(line)
    try:
        record = json.loads(body)
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


def lines(path: Path) -> Iterator[dict[str, Any]]:
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
                yield decode(line[:-1])
            except (ValueError, KeyError, TypeError) as error:
                raise StoreError(f"{path}, line {number}: {error}{_advice(path, error)}") from None


def _advice(path: Path, error: Exception) -> str:
    """What to do about a line that cannot be read; an unknown format says it itself."""
    if isinstance(error, UnknownFormat):
        return ""
    return f". `recuse store verify --store {path.parent}` names all damage, and --repair sets it aside"


def read(path: Path) -> dict[str, Completion]:
    """The replies of one file by key. Of several finished replies of one key (merged stores) the first counts."""
    replies: dict[str, Completion] = {}
    for number, record in enumerate(lines(path), 1):
        try:
            if record["status"] == "ok" and record["key"] not in replies:
                replies[record["key"]] = completion_of(record)
        except (KeyError, TypeError) as error:
            raise StoreError(f"{path}, line {number}: not a line of this program ({error})") from None
    return replies


def refused(path: Path) -> set[str]:
    """Keys of requests that a provider refused to take and that have no reply since."""
    seen: dict[str, bool] = {}
    for record in lines(path):
        seen[record["key"]] = record["status"] in REFUSED and seen.get(record["key"], True)
    return {key for key, never in seen.items() if never}
