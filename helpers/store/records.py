"""The lines of a store file: how an attempt is written down, and what reading the file back gives."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from helpers.types import Completion, Request, Usage

VERSION = 1
_CRC = b',"crc":"%08x"}'
_CRC_LENGTH = len(_CRC % 0)


class StoreError(RuntimeError):
    """A store file that cannot be trusted or written; the message names file and line."""


def file_of(folder: Path, model: str) -> Path:
    """The file that holds the replies of the model with this name."""
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
            "usage": asdict(completion.usage),
            "model": completion.model,
            "request_id": completion.request_id,
            "latency": completion.latency,
            "error": completion.error,
            "maybe_billed": completion.maybe_billed,
        },
        "raw": completion.raw,
        "at": completion.at,
    }
    try:
        body = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a character, which UTF-8 cannot hold: escaped, the reply is still whole
        body = json.dumps(record, separators=(",", ":")).encode()
    return body[:-1] + _CRC % zlib.crc32(body) + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """The record of one line; ValueError says what is wrong with it."""
    body = line[:-_CRC_LENGTH] + b"}"
    if line[-_CRC_LENGTH:] != _CRC % zlib.crc32(body):
        raise ValueError("the checksum does not fit: the line was damaged or edited")
    record = json.loads(body)
    if record["v"] != VERSION:
        raise ValueError(f"written in format {record['v']!r}; this version reads format {VERSION}")
    return record


def _completion(record: Mapping[str, Any]) -> Completion:
    reply = record["reply"]
    return Completion(
        key=record["key"],
        status=record["status"],
        text=reply["text"],
        finish=reply["finish"],
        usage=Usage(**reply["usage"]),
        model=reply["model"],
        request_id=reply["request_id"],
        latency=reply["latency"],
        raw=record["raw"],
        attempt=record["attempt"],
        at=record["at"],
        error=reply["error"],
        maybe_billed=reply["maybe_billed"],
    )


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
                raise StoreError(f"{path}, line {number}: {error}") from None


def read(path: Path) -> dict[str, Completion]:
    """The replies of one file by key. Of several finished replies of one key (merged stores) the first counts."""
    replies: dict[str, Completion] = {}
    for record in lines(path):
        if record["status"] == "ok" and record["key"] not in replies:
            replies[record["key"]] = _completion(record)
    return replies


def refused(path: Path) -> set[str]:
    """Keys of requests that a provider refused to take and that have no reply since."""
    seen: dict[str, bool] = {}
    for record in lines(path):
        seen[record["key"]] = record["status"] == "bad_request" and seen.get(record["key"], True)
    return {key for key, never in seen.items() if never}
