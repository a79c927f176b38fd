"""Cells of a matrix on a Dask cluster: a task each; workers need no disk in common with the one who asks."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .config import ConfigError, load_models
from .judge import MissingKey, check_keys, notice
from .providers.keys import redact
from .run.cells import Outcome, Runner, Task, code, code_now, packed, run_cell
from .run.kernels import stopping
from .run.matrix import Engine, Opener
from .run.notebooks import execute

#: A cell that was lost with its worker is given to another, until it was begun so often.
TRIES = 3
#: How long a scheduler may take to answer, in seconds.
CONNECT_SECONDS = 20
NOT_INSTALLED = (
    "--dask needs the extra `cluster`, here and on each worker: pip install -e .[cluster] -c requirements.lock"
)


class Lost(Exception):
    """The worker that ran a cell is gone, and with it what the cell asked since it was begun."""


def dask(address: str, workers: int | None = None, needs: Sequence[str] = (), run: Runner = execute) -> Opener:
    """Cells on the cluster whose scheduler is at `address`; "local" makes one of `workers` processes on this machine.

    ConfigError where a worker is unfit (has no key of a model in `needs`, other code), OSError where nobody answers.
    """

    @contextmanager
    def opened(running: dict[Future, str]) -> Iterator[Engine]:
        try:
            import distributed
        except ImportError:
            raise ConfigError(NOT_INSTALLED) from None
        with ExitStack() as stack, stopping(running, partial(_await, running)):
            if address != "local":
                _check_scheduler(distributed, address)
            where = stack.enter_context(_cluster(distributed, workers)) if address == "local" else address
            client = stack.enter_context(distributed.Client(where, timeout=CONNECT_SECONDS))
            members = Workers(client, needs)
            members.look()
            members.refuse()
            if not members.faults:
                notice(f"waiting for the first worker of {address}")
            tokens: list[str] = []

            @stack.callback
            def forget() -> None:  # leave nothing of ours at a scheduler that goes on
                with suppress(Exception):  # one that is gone has forgotten
                    for token in tokens:
                        distributed.Event(token, client=client).clear()

            def submit(task: Task, _folder: Path) -> Future:
                tokens.append(task.token)
                return members.begin(remote, task, run, needs)

            def slots() -> int:
                members.look(tell=True)
                fit = len(members.fit())
                if not fit and not running:
                    members.refuse()
                return fit

            yield Engine(submit, slots, (Lost, distributed.KilledWorker, CancelledError), TRIES, (Unfit,))

    return opened


def _cluster(distributed: Any, workers: int | None) -> Any:
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        security=True,  # else whoever has an account on this machine could run anything in the processes that hold keys
        dashboard_address="127.0.0.1:0",  # else it would listen on every network
        silence_logs=logging.CRITICAL,
        preload=__name__,
    )


def _check_scheduler(distributed: Any, address: str) -> None:
    """OSError where no scheduler answers; Dask's client waits for ever where something listens and says nothing."""

    async def heard() -> None:
        secured = distributed.Security().get_connection_args("client")
        connection = await distributed.comm.connect(address, timeout=CONNECT_SECONDS, **secured)
        connection.abort()

    try:
        asyncio.run(asyncio.wait_for(heard(), CONNECT_SECONDS))
    except TimeoutError:
        words = f"{address}: something listens there, but no Dask scheduler answered in {CONNECT_SECONDS} s"
        raise OSError(words) from None


def remote(task: Task, run: Runner = execute, needs: Sequence[str] = ()) -> Outcome:
    """Run a cell on this worker and bring back all that it wrote; Unfit where it cannot be run here.

    Lost where another worker has begun it: Dask gives it to others at once, but what it cost must be counted first.
    """
    import distributed

    begun = distributed.Event(task.token)
    if begun.is_set():
        raise Lost("the worker that ran this cell is gone")
    worker = distributed.get_worker()
    if fault := unready(task.code, needs, worker):
        raise Unfit(worker.address, fault)
    begun.set()
    # What cannot be removed afterwards (a file that somebody holds open) must not cost the replies that were read.
    with TemporaryDirectory(prefix="recuse-cell-", dir=worker.local_directory, ignore_cleanup_errors=True) as name:
        try:
            outcome = run_cell(task, Path(name), run)
        except Exception as error:  # its replies are merged all the same
            words = redact(f"{type(error).__name__}: {error}")
            outcome = Outcome(dict.fromkeys(task.cell.notebooks, words), spent_usd=task.budget_usd)
        # Errors name files where they will lie: in the folder of the cell.
        errors = {notebook: words.replace(f"{name}{os.sep}", "") for notebook, words in outcome.errors.items()}
        return replace(outcome, errors=errors, files=packed(task, Path(name)))


def dask_setup(_worker: Any) -> None:
    """What Dask calls in each worker that is made here: a terminal's Ctrl-C is for the command, which then waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _await(running: dict[Future, str], done_within: Callable[[float], bool]) -> None:
    """Wait for the running cells, so that the replies they paid for are brought back."""
    if running:
        with suppress(OSError):  # a terminal that was closed hears nothing
            notice(f"waiting for {len(running)} cells that run: interrupt again to give up what they ask")
    done_within(math.inf)


class Unfit(Exception):
    """A worker was given a cell that it cannot run: its address, and why. It has begun nothing."""


@dataclass
class Workers:
    """The workers of a cluster: `faults` keep one at an address from running cells, "" none; `bound` wait for some."""

    client: Any
    needs: Sequence[str]
    faults: dict[str, str] = field(default_factory=dict)
    bound: dict[Future, list[str]] = field(default_factory=dict)

    def begin(self, *call: Any) -> Future:
        """Have this called on one that is fit; bound to those only where others are unfit, as Dask then waits."""
        fit = self.fit()
        only = {"workers": fit, "allow_other_workers": True} if len(fit) < len(self.faults) else {}
        future = self.client.get_executor(pure=False, **only).submit(*call)
        future.add_done_callback(self.drop)
        if only:
            self.bound[future] = fit
        return future

    def look(self, tell: bool = False) -> None:
        """Ask those that have joined since, and `tell` of unfit ones; who does not answer is asked again next time."""
        there = self.client.nthreads()
        for gone in self.faults.keys() - there:
            del self.faults[gone]
        for future, those in list(self.bound.items()):  # Dask would let it wait for workers that are all gone
            if future.done() or there.keys().isdisjoint(those):
                future.cancel()
                del self.bound[future]
        new = sorted(there.keys() - self.faults)
        found = self.client.run(unready, code(), self.needs, workers=new, on_error="return") if new else {}
        for at, words in sorted(found.items()):
            if not isinstance(words, OSError):
                self.note(at, redact(str(words)), tell)

    def note(self, at: str, words: str, tell: bool = True) -> None:
        """Keep what is wrong with a worker, and `tell` it."""
        self.faults[at] = words
        if words and tell:
            notice(f"the worker at {at} {words}; until then it gets no cell")

    def fit(self) -> list[str]:
        """The addresses of those that can run cells."""
        return sorted(at for at, words in self.faults.copy().items() if not words)

    def refuse(self) -> None:
        """ConfigError where some are unfit, which names them."""
        if wrong := [f"the worker at {at} {words}" for at, words in sorted(self.faults.copy().items()) if words]:
            raise ConfigError("\n".join(wrong))

    def drop(self, ended: Future) -> None:
        """Give nothing more to a worker that was fit when it was asked and is not any more."""
        if not ended.cancelled() and isinstance(error := ended.exception(), Unfit):
            self.note(*error.args)


def unready(state: str, needs: Sequence[str], dask_worker: Any) -> str:
    """What keeps this worker from running cells: other code than `state`, a key that is not set; "" where nothing."""
    if dask_worker.state.nthreads > 1:
        return "has several threads, and a process can run one cell at a time: start it with --nthreads 1"
    if code_now() != state:
        return "has another state of Recuse: it needs the same commit, models.yaml, configs and built-in data"
    if code() != state:
        return "was started before its Recuse was changed: restart it"
    models = load_models()
    try:
        check_keys(models[name] for name in needs)
    except MissingKey as error:
        return f"lacks a key: {error}"
    return ""
