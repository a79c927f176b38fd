"""Cells of a matrix on a Dask cluster: a task each; workers need no disk in common with the one who asks."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from helpers.config import ConfigError, load_models
from helpers.judge import MissingKey, check_keys, notice
from helpers.judge.stopping import HANGUP, handling
from helpers.run.cells import Outcome, Runner, Task, code, code_now, packed, run_cell
from helpers.run.matrix import Engine, Opener
from helpers.run.notebooks import execute

#: A cell that was lost with its worker is given to another, until it was begun so often.
TRIES = 3
#: How long a scheduler may take to answer, in seconds.
CONNECT_SECONDS = 20
OTHER_CODE = "has another state of Recuse: install the same commit there"
STALE = "was started before its Recuse was changed: restart it"
THREADS = "has several threads, and a process can run one cell at a time: start it with --nthreads 1"


class Lost(Exception):
    """The worker that ran a cell is gone, and with it what the cell asked since it was begun."""


def dask(address: str, workers: int | None = None, needs: Sequence[str] = (), run: Runner = execute) -> Opener:
    """Cells on the cluster whose scheduler is at `address`; "local" makes one of `workers` processes on this machine.

    `needs` names the models that will be asked: each worker must have their keys. ConfigError where one has not, or has
    other code, or where dask is not installed; OSError where nobody answers.
    """

    @contextmanager
    def opened(running: dict[Future, str]) -> Iterator[Engine]:
        distributed, heard = _distributed(), []

        def hear(number: int) -> None:
            if number != HANGUP or not heard:  # a closed terminal says so more than once
                heard.append(number)
                raise KeyboardInterrupt

        with ExitStack() as stack, handling((signal.SIGINT, signal.SIGTERM, HANGUP), hear):
            if address != "local":
                _check_scheduler(distributed, address)
            where = stack.enter_context(_cluster(distributed, workers)) if address == "local" else address
            client = stack.enter_context(distributed.Client(where, timeout=CONNECT_SECONDS))
            _check_workers(client, needs)
            if not client.nthreads():
                notice(f"waiting for the first worker of {address}")
            executor, tokens = client.get_executor(pure=False), []
            stack.callback(_forget, client, tokens)

            def submit(task: Task, _folder: Path) -> Future:
                tokens.append(task.token)
                return executor.submit(remote, task, run)

            lost = (Lost, distributed.KilledWorker)
            try:
                yield Engine(submit, lambda: sum(client.nthreads().values()), lost, TRIES)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(_awaited(running)) from None
            except BaseException:
                _awaited(running)
                raise

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
        told = f"{address}: something listens there, but no Dask scheduler answered in {CONNECT_SECONDS} s"
        raise OSError(told) from None


def _check_workers(client: Any, needs: Sequence[str]) -> None:
    """Refuse workers on which cells would fail, before any is begun; those that join later find out for themselves."""
    told = client.run(unready, code(), needs, on_error="return")
    if wrong := [f"the worker at {address} {words}" for address, words in sorted(told.items()) if words]:
        raise ConfigError("\n".join(wrong))


def unready(state: str, needs: Sequence[str], dask_worker: Any) -> str:
    """What keeps this worker from running cells: other code than `state`, a key that is not set; "" where nothing."""
    if told := _unfit(state, dask_worker):
        return told
    models = load_models()
    try:
        check_keys(models[name] for name in needs)
    except MissingKey as error:
        return f"lacks a key: {error}"
    return ""


def _unfit(state: str, worker: Any) -> str:
    """What keeps a worker from running cells of this state of the code; "" where nothing."""
    if worker.state.nthreads > 1:
        return THREADS
    if code_now() != state:
        return OTHER_CODE
    return "" if code() == state else STALE


def remote(task: Task, run: Runner = execute) -> Outcome:
    """Run a cell on this worker and bring back all that it wrote; Lost where another worker has begun it before.

    Dask gives the tasks of a lost worker to another one by itself. What they spent is known to nobody, so whoever keeps
    the budget must hear of it before they are begun again.
    """
    distributed = _distributed()
    begun = distributed.Event(task.token)
    if begun.is_set():
        raise Lost("the worker that ran this cell is gone")
    begun.set()
    worker = distributed.get_worker()
    if told := _unfit(task.code, worker):
        told = f"the worker at {worker.address} {told}"
        return Outcome(task.cell.id, dict.fromkeys(task.cell.notebooks, told))
    # What cannot be removed afterwards (a file that somebody holds open) must not cost the replies that were read.
    with TemporaryDirectory(prefix="recuse-cell-", dir=worker.local_directory, ignore_cleanup_errors=True) as name:
        outcome = run_cell(task, Path(name), run)
        # Errors name files where they will lie: in the folder of the cell.
        errors = {notebook: told.replace(f"{name}{os.sep}", "") for notebook, told in outcome.errors.items()}
        return replace(outcome, errors=errors, files=packed(task, Path(name)))


def dask_setup(_worker: Any) -> None:
    """What Dask calls in each worker that is made here: a terminal's Ctrl-C is for the command, which then waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ConfigError(
            "--dask needs the extra `cluster`, here and on each worker: pip install -e .[cluster] -c requirements.lock"
        ) from None
    return distributed


def _forget(client: Any, tokens: list[str]) -> None:
    """Leave nothing of ours at a scheduler that goes on."""
    from distributed import Event

    with suppress(Exception):  # a scheduler that is gone has forgotten
        for token in tokens:
            Event(token, client=client).clear()


def _awaited(running: dict[Future, str]) -> str:
    """Wait for the cells that run, so that what they paid for comes home; what became of each, in a line."""
    if running:
        with suppress(OSError):  # a terminal that was closed hears nothing
            notice(f"waiting for {len(running)} cells that run: interrupt again to give up what they ask")
    with suppress(KeyboardInterrupt):
        wait(running)
    return "\n".join(f"cell {id}: {'ended' if future.done() else 'given up'}" for future, id in running.items())
