"""What an interrupted run says beside what its stage of calls says: whether anything was asked, what is to come."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from helpers.judge import Budget, Interrupted


@contextmanager
def resumable(budget: Budget, ahead: Mapping[str, int]) -> Iterator[None]:
    """Let an interrupt say so too where it comes before or between the calls, and name those that are `ahead`.

    `ahead` counts the missing calls of each stage that has not begun when the interrupt comes.
    """
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError) as interrupt:
        words = str(interrupt) or ("what came is stored" if budget.rows else "nothing was asked")
        to_come = ", ".join(f"{calls} calls of {stage}" for stage, calls in ahead.items() if calls)
        kind = KeyboardInterrupt if isinstance(interrupt, KeyboardInterrupt) else Interrupted
        raise kind(f"{words}; still to come: {to_come}" if to_come else words) from None
