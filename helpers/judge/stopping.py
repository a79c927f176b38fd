"""An interrupt while calls are made: nothing more is sent, what is in flight may arrive, a second one ends it now."""

from __future__ import annotations

import asyncio
import atexit
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from helpers.judge.progress import notice
from helpers.providers import in_browser

#: How long calls in flight may take to arrive after an interrupt, in seconds.
GRACE_SECONDS = 30.0
#: How long calls that are given up may take to clean up after themselves, in seconds.
TIDY_SECONDS = 5.0
#: A closed terminal says so with SIGHUP, and its shell once more: it counts once. (Windows has none.)
HANGUP = getattr(signal, "SIGHUP", None)


class Interrupted(asyncio.CancelledError):
    """A run that was interrupted; the message counts what is stored and what is missing."""


async def patiently(work: asyncio.Task[None], stop: Callable[[], int], words: Callable[[], str]) -> None:
    """Wait for `work`; where it is interrupted, call `stop` and give what is in flight GRACE_SECONDS to arrive.

    An interrupt is the cancellation of this task (Ctrl-C in a script and in a kernel) or a request to end (SIGTERM, a
    closed terminal); `stop` says how many calls are in flight. A second one, or the end of the grace, cancels `work`.
    Raises Interrupted with `words()` after a cancellation, KeyboardInterrupt with them after a request to end.
    """
    loop, task, requests = asyncio.get_running_loop(), asyncio.current_task(), []

    def end(number: int) -> None:
        requests.append(number)
        loop.call_soon_threadsafe(task.cancel)

    with handling((signal.SIGTERM, HANGUP), end), _finishing(loop, task, work):
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            await _drain(loop, work, stop())
            raise (KeyboardInterrupt if requests else Interrupted)(words()) from None
    work.result()


async def _drain(loop: asyncio.AbstractEventLoop, work: asyncio.Task[None], in_flight: int) -> None:
    waiting = f"waiting up to {GRACE_SECONDS:.0f} s for {in_flight} calls in flight (interrupt again to end now)"

    def again(number: int) -> None:
        if number != HANGUP:
            loop.call_soon_threadsafe(work.cancel)

    with handling((signal.SIGINT, signal.SIGTERM, HANGUP), again), suppress(asyncio.CancelledError):
        if in_flight:  # not before a second interrupt would be heard
            _tell(f"interrupted: nothing more is sent; {waiting}")
        await asyncio.wait({work}, timeout=GRACE_SECONDS)
    if not work.done():
        work.cancel()
        await asyncio.wait({work}, timeout=TIDY_SECONDS)


@contextmanager
def handling(numbers: Iterable[int | None], do: Callable[[int], None]) -> Iterator[None]:
    """Let signals do this, where they are ours to handle (the main thread) and nobody has them ignored.

    A script's background jobs have SIGINT ignored, and `nohup` SIGHUP.
    """
    former: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in numbers:
            if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
                former[number] = signal.signal(number, lambda number, _: do(number))
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


@contextmanager
def _finishing(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any], work: asyncio.Task[None]) -> Iterator[None]:
    """A kernel that is told to shut down stops its loop under us; at the end of the process it runs once more.

    Whoever shut it down sends SIGTERM if that takes too long, which counts as the second interrupt.
    """

    def finish() -> None:
        if work.done() or loop.is_running() or loop.is_closed():
            return
        if not task.cancelling():
            task.cancel()
        until = time.monotonic() + GRACE_SECONDS
        while not work.done() and (left := until - time.monotonic()) > 0:
            with suppress(RuntimeError):  # a kernel tells its loop to stop more than once
                loop.run_until_complete(asyncio.wait({work}, timeout=left))

    atexit.register(finish)
    try:
        yield
    finally:
        atexit.unregister(finish)


def _tell(text: str) -> None:
    """A line for whoever interrupted: in a browser below the cell, else where the run was started."""
    with suppress(OSError):  # a terminal that was closed hears nothing
        print(text) if in_browser() else notice(text)
