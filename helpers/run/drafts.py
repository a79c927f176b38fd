"""Notebooks while they are run: beside their report under a name that says who runs them, and cleared after a kill."""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path


def draft_of(report: Path) -> Path:
    """Where this process keeps the notebook until its report is whole."""
    return report.with_name(f".{report.stem}-{_machine()}-{os.getpid()}{report.suffix}")


def clear(report: Path) -> None:
    """Remove drafts of this report whose process, on this machine, has ended without removing them."""
    own = re.compile(rf"\.{re.escape(report.stem)}-(?:{re.escape(_machine())}-)?(\d+){re.escape(report.suffix)}")
    for path in report.parent.glob(f".{report.stem}-*{report.suffix}"):
        named = own.fullmatch(path.name)
        if named and not _lives(int(named[1])):
            path.unlink(missing_ok=True)


def _machine() -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", platform.node()) or "here"


def _lives(process: int) -> bool:
    """Whether there is such a process; where that cannot be asked without harm, there may be."""
    if sys.platform == "win32":  # there a signal 0 is no question but an interrupt
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return process > 0
