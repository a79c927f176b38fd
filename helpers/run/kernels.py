"""Notebooks in kernels of their own while they run: drafts beside their reports, and interrupts that lose nothing.

A terminal interrupts the command and its processes, a scheduler the command alone. So the command alone listens and
sends SIGTERM: the first interrupts a process's kernel, whose cell ends when its calls are stored; the second ends it.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..judge.terminal import GRACE_SECONDS, HANGUP, handling


@contextmanager
def drafting(report: Path) -> Iterator[Path]:
    """Where a notebook is kept until its report is whole; at the end nothing of it is left there.

    Beside it lies a lock, which every system frees when its process ends: drafts whose lock is free are removed first.
    """
    from filelock import FileLock

    report.parent.mkdir(parents=True, exist_ok=True)
    for path in report.parent.glob(f".{report.stem}-*.lock"):
        with suppress(OSError):  # held by who writes that draft, or nothing of ours
            with FileLock(path, timeout=0):
                path.with_suffix(report.suffix).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
    draft = report.with_name(f".{report.stem}-{secrets.token_hex(8)}{report.suffix}")
    lock = draft.with_suffix(".lock")
    with ExitStack() as stack:
        stack.callback(lock.unlink, missing_ok=True)
        stack.enter_context(FileLock(lock))
        stack.callback(draft.unlink, missing_ok=True)
        yield draft


#: How long processes may take that were asked to end (the grace of their calls, and the end of a cell), and those that
#: were told to end now, in seconds.
PATIENCE = (GRACE_SECONDS + 5.0, 8.0)


@dataclass
class Process:
    """How often this process was asked to end, its kernel, whether it is in a cell, and when its first was `begun`."""

    asked: int = 0
    in_cell: bool = False
    begun: float | None = None
    kernel: Any = None


process = Process()


class Ended(Exception):
    """The process was asked to end before a cell was begun."""


def begin_process() -> None:
    """Let this process end in order when it is asked to, and with the one that started it."""
    if threading.current_thread() is not threading.main_thread():
        return  # signals are not a thread's to handle
    process.asked = 0
    signal.signal(signal.SIGTERM, _asked)
    for number in filter(None, (signal.SIGINT, HANGUP)):
        signal.signal(number, signal.SIG_IGN)
    if multiprocessing.parent_process() is not None:
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _asked(*_: object) -> None:
    process.asked += 1
    # Not a third time, which would cut short the shutdown of its kernel; and an idle process stays: when one of a pool
    # exits, the pool terminates all others.
    if process.kernel is not None:
        if process.asked == 2:
            raise SystemExit(130)
        # In a signal's handler no loop can be run.
        threading.Thread(target=_interrupt, args=(process.kernel,), daemon=True).start()


def _interrupt(kernel: Any) -> None:
    time.sleep(0.3)  # an idle kernel, which a cell that was just sent has not reached, would not hear it
    if kernel.has_kernel:
        asyncio.run(kernel.interrupt_kernel())


def _end_with(parent: int) -> None:
    """Be asked to end when the parent has died (its sentinel is held open by processes forked later), and end."""
    while os.getppid() == parent:
        time.sleep(1.0)
    for patience in PATIENCE:
        os.kill(os.getpid(), signal.SIGTERM)
        until = time.monotonic() + patience
        while process.kernel is not None and time.monotonic() < until:
            time.sleep(0.1)
    os._exit(130)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let an interrupt wait until this block is left."""
    heard: list[int] = []
    try:
        with handling((signal.SIGINT, signal.SIGTERM, HANGUP), heard.append):
            yield
    finally:
        if heard:
            signal.raise_signal(heard[0])


def failed(error: BaseException) -> Future:
    """The future of what could not be begun."""
    future: Future = Future()
    future.set_exception(error)
    return future


@contextmanager
def stopping(running: Mapping[Future, str], end: Callable[[Callable[[float], bool]], None]) -> Iterator[None]:
    """Let `end` bring to an end what runs before an interrupt (or whatever else) leaves this block.

    It is given a function that waits so many seconds for all that runs, or until the user interrupts again. The
    KeyboardInterrupt says in a line each what became of it.
    """
    heard: list[int] = []

    def handle(number: int) -> None:
        if not heard:
            heard.append(number)
            raise KeyboardInterrupt
        if number != HANGUP:  # a closed terminal says so more than once
            heard.append(number)

    def done_within(seconds: float) -> bool:
        before, until = len(heard), time.monotonic() + seconds
        while not all(future.done() for future in running):
            if len(heard) > before or time.monotonic() >= until:
                return False
            time.sleep(0.05)
        return True

    with handling((signal.SIGINT, signal.SIGTERM, HANGUP), handle):
        try:
            yield
        except BaseException as error:
            heard = heard or [signal.SIGINT]
            end(done_within)
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt("\n".join(_ending(future, name) for future, name in running.items())) from None
            raise


@contextmanager
def processes(count: int, running: Mapping[Future, str]) -> Iterator[Callable[..., Future]]:
    """Processes that run notebooks, by a function that calls something in one; a broken pool gives failed futures."""
    with ProcessPoolExecutor(count, initializer=begin_process) as pool:

        def submit(*call: Any, **options: Any) -> Future:
            try:
                return pool.submit(*call, **options)
            except BrokenProcessPool as error:
                return failed(error)

        def end(done_within: Callable[[float], bool]) -> None:
            pool.shutdown(wait=False, cancel_futures=True)
            for patience in PATIENCE:
                for each in multiprocessing.active_children():
                    each.terminate()
                if done_within(patience):
                    return
            for each in multiprocessing.active_children():
                each.kill()

        with stopping(running, end):
            yield submit


def _ending(future: Future, name: str) -> str:
    if future.cancelled():
        return f"{name}: not run"
    if not future.done() or future.exception() is not None:
        return f"{name}: ended at once"
    return f"{name}: {future.result().error or 'done'}"


#: How long a kernel may take to answer, in seconds: on a busy machine a minute is not enough.
START_SECONDS = 300
#: How often a kernel is started that dies at once: two can choose the same port.
STARTS = 3


def run_cells(notebook: Path, draft: Path, parameters: Mapping[str, Any]) -> None:
    """Run all cells with these parameters; `draft` gets them as they are done. What goes wrong, papermill raises."""
    import nbformat
    import papermill
    from jupyter_client import AsyncKernelManager
    from traitlets.config import Config

    class Kernel(AsyncKernelManager):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            process.kernel = self

        async def shutdown_kernel(self, now: bool = False, restart: bool = False) -> None:  # type: ignore[override]
            # Between cells nothing is in flight: the kernel is ended at once. In order it would first be interrupted,
            # which tells the terminal, and free all that its cells made, which takes as long as it took to start.
            if process.in_cell:
                await super().shutdown_kernel(now=now, restart=restart)
            else:
                await self._async_kill_kernel(restart=restart)

    def cell_begins(**_: Any) -> None:
        if process.asked:
            raise Ended

    def sent(**_: Any) -> None:
        process.in_cell, process.begun = True, process.begun or time.monotonic()

    def done(**_: Any) -> None:
        process.in_cell = False

    ours = __name__.partition(".")[0]  # a wheel's package has another name than the folder of a checkout
    text = notebook.read_text(encoding="utf-8").replace('"from helpers', f'"from {ours}')
    until = time.monotonic() + START_SECONDS
    for left in reversed(range(STARTS)):
        process.in_cell, process.begun = False, None
        try:
            papermill.execute_notebook(
                nbformat.reads(text, as_version=4),
                str(draft),
                dict(parameters),
                kernel_name="python3",
                language="python",
                progress_bar=False,
                log_output=False,
                start_timeout=max(1, round(until - time.monotonic())),
                iopub_timeout=60,  # of what a cell shows: four seconds would fail one on a busy machine
                config=Config({"KernelManager": {"transport_encryption": "auto"}}),
                kernel_manager_class=Kernel,
                on_cell_start=cell_begins,
                on_cell_execute=sent,
                on_cell_executed=done,
            )
            return
        except RuntimeError:  # of a kernel that died; of others no start comes to another end
            if process.begun is not None or process.asked or not left or time.monotonic() >= until:
                raise
        finally:
            process.kernel = None
