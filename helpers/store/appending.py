"""The one writer of a store file: each attempt is one append, synced in groups by a thread, under a lock."""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ..types import Completion, Request
from .records import StoreError, encode, look, naming, opened, raw_lines, sync_folder, usable

SYNC_LINES, SYNC_SECONDS = 64, 0.2
#: So many lines after the last sync began, an append waits for the disk.
MOST_UNSYNCED = 16 * SYNC_LINES


class Writer:
    """The one writer of a store file, made by `writing`."""

    def __init__(self, path: Path) -> None:
        """Open the file for appending and cut a torn last line."""
        self.path, self._new = path, not path.exists()
        self._fd = opened(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        self._unsynced, self._synced_at = 0, time.monotonic()  # lines since the last sync began, and when that was
        self._syncing: Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, "sync")
        try:
            self._mend_tail()
            self._size_before = self.size
            if self._new:
                sync_folder(path.parent)
        except BaseException:
            os.close(self._fd)
            raise

    def _mend_tail(self) -> None:
        size, read, last = self.size, 0, b""  # measured first: a line that is appended meanwhile is no blank one
        for _, last in raw_lines(self.path):
            read += len(last)
        if read < size:  # a blank last line; with more behind it, it would be a damaged one
            os.ftruncate(self._fd, read)
        if not last or last.endswith(b"\n"):
            return
        line = look(1, last, usable)
        if line.kind == "torn":
            os.ftruncate(self._fd, read - len(last))
        elif line.kind == "unended":  # only the newline is missing: a whole paid reply, not to be thrown away
            self.append_line(b"\n", "nothing was asked")
        else:  # what was paid for, or belongs to a later version, is not cut
            raise StoreError(
                f"{self.path}: the last line is not one that was cut off: {line.wrong}. "
                f"`recuse store verify --store {self.path.parent}` says more, --repair saves what is whole"
            )

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return os.lseek(self._fd, 0, os.SEEK_END)

    def append(self, request: Request, completion: Completion, labels: Mapping[str, Any]) -> None:
        """Write one attempt; a write that is cut short (disk full) is undone and raises."""
        self.append_line(encode(request, completion, labels), "nothing more is asked")

    def append_line(self, line: bytes, so: str) -> None:
        """Write one line that is encoded already; `so` says what follows from a failure."""
        size = self.size
        with naming(self.path, so, "cannot append ({})"):
            if os.write(self._fd, line) != len(line):
                os.ftruncate(self._fd, size)
                raise OSError(errno.ENOSPC, "no space left")
        self._unsynced += 1
        self._sync(wait=self._unsynced >= MOST_UNSYNCED, least=SYNC_LINES)

    def take_back(self) -> None:
        """Undo every append: the file is as it was when it was opened, gone if it was not there."""
        os.ftruncate(self._fd, self._size_before)
        if self._new:
            self.path.unlink()

    def sync(self) -> None:
        """Bring everything appended to the disk, if anything is waiting."""
        for _ in range(2):  # what was begun, and then what came since
            self._sync(wait=True)

    def sync_when_due(self) -> None:
        """Let a thread sync when something has waited for SYNC_SECONDS; raises where the last sync has failed."""
        due = time.monotonic() - self._synced_at >= SYNC_SECONDS
        self._sync(least=1 if due else SYNC_LINES)

    def _sync(self, wait: bool = False, least: int = 1) -> None:
        """Start a sync of at least so many lines unless one is under way; an error of the one before is raised."""
        begun = self._syncing
        if begun is not None and (wait or begun.done()):
            self._syncing = None
            begun.result()
        if self._syncing is None and self._unsynced >= least:
            try:
                self._syncing = self._thread.submit(self._to_disk)
            except RuntimeError:  # no thread can be started here
                self._to_disk()
            self._unsynced, self._synced_at = 0, time.monotonic()

    def _to_disk(self) -> None:
        with naming(self.path, "nothing more is asked", "cannot sync ({})"):
            getattr(os, "fdatasync", os.fsync)(self._fd)

    def close(self) -> None:
        """Sync and close."""
        try:
            self.sync()
        finally:
            self._thread.shutdown()
            os.close(self._fd)


def try_lock(path: Path) -> Any | None:
    """The lock of a store file, or None while another process holds it; `release()` it when done."""
    from filelock import FileLock, Timeout

    lock = FileLock(f"{path}.lock", mode=0o600, thread_local=False)
    with naming(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    with naming(Path(lock.lock_file)):
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return None
    note = f"process {os.getpid()} on {socket.gethostname()} since {time.strftime('%H:%M:%S')}"
    try:
        with os.fdopen(opened(Path(f"{path}.holder"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            file.write(note.encode())
    except BaseException:
        lock.release()
        raise
    return lock


def lock_at_once(path: Path, so: str) -> Any:
    """The lock of a store file; StoreError where another process holds it, with what follows from that."""
    lock = try_lock(path)
    if lock is None:
        raise StoreError(f"{path}: held by {holder(path)}; {so} when that run has ended")
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
        with closing(Writer(path)) as writer:
            yield writer
    finally:
        release()
