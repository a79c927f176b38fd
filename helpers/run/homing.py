"""What a cell has asked comes home: its replies go into the main store, and nobody else writes there meanwhile."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from helpers import store
from helpers.judge import notice, wait_for_lock
from helpers.providers import Clock


def take_in(lines: Path, replies: Path) -> None:
    """Move the replies of a cell into the main store: what is there already is not doubled, the first counts.

    Who still writes to one of their files is waited for (a run of the main store, a process of a run that was killed),
    and nobody else writes to them until this is done. Lines that no run can use are named, and kept beside the file.
    """
    with ExitStack() as stack:
        here = sorted(lines.glob("*.jsonl")) if lines.is_dir() else []
        for path in here:
            stack.callback(_locked(path).release)
        for each in store.bring_home(lines, replies, _locked) if here else ():
            if each.left:
                numbers = ", ".join(str(line.number) for line in each.left)
                path = store.file_of(replies, each.model)
                notice(f"warning: {lines / path.name}: line {numbers} could not be read and lies in {path}.damaged")
        shutil.rmtree(lines, ignore_errors=True)


def _locked(path: Path) -> Any:
    return asyncio.run(wait_for_lock(path, Clock()))
