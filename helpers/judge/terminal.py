"""Whoever started a run: what is shown to them while calls are made, and what becomes of their interrupts."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TextIO

from ..escaping import visible
from ..providers.keys import in_browser, redact
from .budget import Budget

#: Models whose costs stand in the line by name, the dearest first: a line is no table.
NAMED = 4
#: In a terminal the line is made anew no more often than so, in seconds.
SLOW = 1.0
#: How long calls in flight may take to arrive after an interrupt, and those that are given up to clean up.
GRACE_SECONDS, TIDY_SECONDS = 30.0, 5.0
#: A closed terminal says so with SIGHUP, and its shell once more: it counts once. (Windows has none.)
HANGUP = getattr(signal, "SIGHUP", None)


@contextmanager
def _stream() -> Iterator[TextIO]:
    """Where progress may be written without becoming part of a notebook's output.

    A kernel replaces standard error and keeps a copy of the file that it was started with (papermill's own).
    """
    copy = getattr(sys.stderr, "_original_stdstream_copy", None)
    if isinstance(copy, int):
        with os.fdopen(os.dup(copy), "w", buffering=1) as stream:
            yield stream
    else:
        yield sys.__stderr__ or sys.stderr


def notice(text: str) -> None:
    """A line for whoever started the run; never part of a notebook's output."""
    with _stream() as stream:
        print(visible(redact(text)), file=stream, flush=True)


def money(budget: Budget) -> str:
    """The account in a few words: spent of how much, reserved, perhaps billed, and by model where several cost."""
    total = budget.account.total
    dear = sorted((row for row in budget.rows if row.usd), key=lambda row: (-row.usd, row.model))
    text = f"spent ${total.usd:.2f}" + (f" of ${budget.limit:.2f}" if budget.limit else "")
    text += f", reserved ${total.reserved:.2f}" if total.reserved else ""
    text += f", perhaps billed {total.maybe_billed} (${total.maybe_billed_usd:.2f})" if total.maybe_billed_usd else ""
    if len(dear) > 1:
        text += f": {', '.join(f'{row.model} {row.usd:.2f}' for row in dear[:NAMED])}"
        text += f", {len(dear) - NAMED} more" if len(dear) > NAMED else ""
    return text


class Progress:
    """A bar over the calls of one stage: done, stored, failed, spent and the time left."""

    def __init__(self, stage: str, calls: int, stored: int, budget: Budget, show: bool = True) -> None:
        """`calls` are wanted, `stored` of them need no asking."""
        self.stored, self.failed, self.unreadable, self.budget = stored, 0, 0, budget
        self._bar, self._open = None, ExitStack()
        if show and calls > stored:
            options: dict[str, Any] = {"desc": stage, "total": calls, "initial": stored, "unit": "call", "miniters": 0}
            if in_browser():
                from tqdm.auto import tqdm
            else:
                from tqdm import tqdm

                options |= {"file": self._open.enter_context(_stream()), "mininterval": SLOW}
            self._bar = tqdm(**options)
            self._bar.postfix = self

    def __str__(self) -> str:
        """The end of the line, which the bar formats only when it is due."""
        unread = f", unreadable {self.unreadable}" if self.unreadable else ""
        return f", stored {self.stored}, failed {self.failed}{unread}, {money(self.budget)}"

    def count(self, came: bool, read: bool = True) -> None:
        """One attempt that brought a reply, which could be `read` or not, or brought none."""
        self.failed += not came
        self.unreadable += not read
        if self._bar is not None:
            with suppress(OSError):  # the terminal is not there any more
                self._bar.update(int(came))

    def close(self) -> None:
        """Leave the finished bar standing."""
        with suppress(OSError), self._open:
            if self._bar is not None:
                self._bar.close()


class Interrupted(asyncio.CancelledError):
    """A run that was interrupted; the message counts what is stored and what is missing."""


async def patiently(work: asyncio.Task[None], stop: Callable[[], int], words: Callable[[], str]) -> None:
    """Wait for `work`; where it is interrupted, call `stop` and give what is in flight GRACE_SECONDS to arrive.

    An interrupt is the cancellation of this task (Ctrl-C) or a request to end (SIGTERM, a closed terminal); `stop` says
    how many calls are in flight. A second one, or the end of the grace, cancels `work`. Raises Interrupted with
    `words()` after a cancellation, KeyboardInterrupt after a request to end.
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
    def again(number: int) -> None:
        if number != HANGUP:
            loop.call_soon_threadsafe(work.cancel)

    with handling((signal.SIGINT, signal.SIGTERM, HANGUP), again), suppress(asyncio.CancelledError):
        if in_flight:  # not before a second interrupt would be heard
            text = (
                f"interrupted: nothing more is sent; waiting up to {GRACE_SECONDS:.0f} s for {in_flight} calls in "
                "flight (interrupt again to end now)"
            )
            with suppress(OSError):  # a terminal that was closed hears nothing
                print(text) if in_browser() else notice(text)
        await asyncio.wait({work}, timeout=GRACE_SECONDS)
    if not work.done():
        work.cancel()
        await asyncio.wait({work}, timeout=TIDY_SECONDS)


@contextmanager
def handling(numbers: Iterable[int | None], do: Callable[[int], None]) -> Iterator[None]:
    """Let signals call `do`, in the main thread, unless they are ignored (as in background jobs, or under `nohup`)."""
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
    """A kernel that shuts down stops its loop under us: run it once more at exit.

    SIGTERM, which follows if that takes too long, is the second interrupt.
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
