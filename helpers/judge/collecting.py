"""Python's search for garbage while calls are made: rare, and never among what was there before."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: New objects between two searches. By default it is some hundreds: several searches a call, which find nothing.
OBJECTS = 20_000


@dataclass
class _Stages:
    """How many stages are running in this process, and what holds when none is."""

    running: int = 0
    before: tuple[int, int, int] = (0, 0, 0)
    frozen: bool = False


_stages = _Stages()


@contextmanager
def rarely() -> Iterator[None]:
    """Let the search for garbage leave out all objects that exist, and look for new ones at every OBJECTS only.

    20,000 trials are searched in vain each time otherwise, for a tenth of what a call costs. Afterwards all is as it
    was; where somebody has switched the search off it stays so, and where objects are left out for good, these are too.
    """
    if not _stages.running:
        _stages.before = gc.get_threshold()
        _stages.frozen = gc.get_freeze_count() > 0
        if _stages.frozen:
            gc.collect()  # what is left out now, nobody lets go of
        if _stages.before[0]:
            gc.set_threshold(max(OBJECTS, _stages.before[0]), *_stages.before[1:])
    if not (_stages.running and _stages.frozen):
        gc.freeze()  # also within one that began before there were trials
    _stages.running += 1
    try:
        yield
    finally:
        _stages.running -= 1
        if not _stages.running:
            gc.set_threshold(*_stages.before)
            if not _stages.frozen:  # to let go of ours would let go of all
                gc.unfreeze()
