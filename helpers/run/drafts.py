"""Notebooks while they are run: beside their report, locked by who runs them, and cleared after a kill."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def drafting(report: Path) -> Iterator[Path]:
    """Where a notebook is kept until its report is whole; at the end nothing of it is left there.

    Beside it lies a lock, which every system frees when its process ends, however that was: `clear` looks at that.
    """
    from filelock import FileLock

    report.parent.mkdir(parents=True, exist_ok=True)
    clear(report)
    draft = report.with_name(f".{report.stem}-{secrets.token_hex(8)}{report.suffix}")
    try:
        with FileLock(_lock_of(draft)):
            try:
                yield draft
            finally:
                _remove(draft)
    finally:
        _lock_of(draft).unlink(missing_ok=True)


def clear(report: Path) -> None:
    """Remove the drafts of this report whose process has ended without removing them."""
    from filelock import FileLock

    for path in report.parent.glob(f".{report.stem}-*.lock"):
        with suppress(OSError):  # held by who writes that draft, or nothing of ours
            with FileLock(path, timeout=0):
                _remove(path.with_suffix(report.suffix))
            path.unlink(missing_ok=True)


def imports_of(draft: Path) -> Path:
    """Where the kernel tells how many seconds its imports took."""
    return draft.with_suffix(".imports")


def _remove(draft: Path) -> None:
    draft.unlink(missing_ok=True)
    with suppress(OSError):
        imports_of(draft).unlink()


def _lock_of(draft: Path) -> Path:
    return draft.with_suffix(".lock")
