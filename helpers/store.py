"""Every reply that was ever paid for: one readable JSONL file a model, one writer at a time, nothing ever rewritten."""

from __future__ import annotations

import json
import os
import socket
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from helpers.types import Completion, Request, Usage

VERSION = 1
SYNC_LINES = 64
SYNC_SECONDS = 0.2
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


class Writer:
    """The one writer of a store file, made by `writing`; each append is one write, synced in groups."""

    def __init__(self, path: Path) -> None:
        """Open the file for appending and cut a torn last line (only the lock's holder may)."""
        self.path = path
        # Windows would write line ends of its own without O_BINARY.
        self._fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        self._unsynced = 0
        self._synced_at = time.monotonic()
        try:
            self._mend_tail()
        except BaseException:
            os.close(self._fd)
            raise

    def _mend_tail(self) -> None:
        size = position = os.fstat(self._fd).st_size
        tail = b""
        while position and b"\n" not in tail:
            step = min(65536, position)
            position -= step
            os.lseek(self._fd, position, os.SEEK_SET)
            tail = os.read(self._fd, step) + tail
        tail = tail[tail.rfind(b"\n") + 1 :]
        if not tail:
            return
        try:
            decode(tail)
        except (ValueError, KeyError, TypeError):
            os.ftruncate(self._fd, size - len(tail))
        else:  # only the newline is missing: a whole paid reply, not to be thrown away
            os.write(self._fd, b"\n")

    def append(self, request: Request, completion: Completion, labels: Mapping[str, Any]) -> None:
        """Write one attempt; a write that is cut short (disk full) is undone and raises."""
        line = encode(request, completion, labels)
        size = os.fstat(self._fd).st_size
        try:
            written = os.write(self._fd, line)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot append ({error.strerror}); nothing more is asked") from error
        if written != len(line):
            os.ftruncate(self._fd, size)
            raise StoreError(f"{self.path}: cannot append (no space left); nothing more is asked")
        self._unsynced += 1
        if self._unsynced >= SYNC_LINES:
            self.sync()

    def sync(self) -> None:
        """Bring everything appended to the disk, if anything is waiting."""
        if self._unsynced:
            try:
                getattr(os, "fdatasync", os.fsync)(self._fd)
            except OSError as error:
                raise StoreError(f"{self.path}: cannot sync ({error.strerror}); nothing more is asked") from error
            self._unsynced = 0
        self._synced_at = time.monotonic()

    def sync_when_due(self) -> None:
        """Sync when something has waited for SYNC_SECONDS."""
        if self._unsynced and time.monotonic() - self._synced_at >= SYNC_SECONDS:
            self.sync()

    def close(self) -> None:
        """Sync and close."""
        try:
            self.sync()
        finally:
            os.close(self._fd)


def try_lock(path: Path) -> Any | None:
    """The lock of a store file, or None while another process holds it; `release()` it when done."""
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{path}.lock", thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    note = f"process {os.getpid()} on {socket.gethostname()} since {time.strftime('%H:%M:%S')}"
    Path(f"{path}.holder").write_text(note, encoding="utf-8")
    return lock


def holder(path: Path) -> str:
    """Who holds the lock of a store file, in words."""
    try:
        return Path(f"{path}.holder").read_text(encoding="utf-8")
    except OSError:
        return "another process"


@contextmanager
def writing(path: Path, release: Callable[[], None]) -> Iterator[Writer]:
    """A Writer for a file whose lock is held; `release` frees the lock once the last line is on the disk."""
    try:
        writer = Writer(path)
        try:
            yield writer
        finally:
            writer.close()
    finally:
        release()
