"""A matrix of runs: cells wherever there is room, one budget, one store in the end, and only what is not done yet."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from helpers import store
from helpers.judge import Budget, Plan
from helpers.providers.keys import redact
from helpers.run.cells import REPLIES, Outcome, Runner, Task, code, done, inputs, keep, run_cell, unpack
from helpers.run.foreseeing import Foreseen, Name, foresee, settle, total
from helpers.run.grid import Cell
from helpers.run.homing import take_in
from helpers.run.interrupting import begin_process, stopping, undisturbed
from helpers.run.notebooks import execute
from helpers.types import Experiment

#: How often a run looks whether there is room for more cells, in seconds: workers may join a cluster while it runs.
ROOM_SECONDS = 2.0


@dataclass(frozen=True)
class Engine:
    """Where cells run: `submit` begins one, which has a folder here; `slots` says how many there is room for.

    One of `lost` is the error of a cell that ended with its process; `tries` is how often such a cell is begun at most.
    One of `unbegun` is that of a cell of which nothing was run: it waits for room elsewhere and has cost nothing.
    """

    submit: Callable[[Task, Path], Future]
    slots: Callable[[], int]
    lost: tuple[type[BaseException], ...]
    tries: int = 1
    unbegun: tuple[type[BaseException], ...] = ()


#: Opens an engine for the cells that run: on leaving by an interrupt it brings them to an end.
Opener = Callable[[dict[Future, str]], AbstractContextManager[Engine]]


@dataclass(frozen=True)
class Begun:
    """A cell when it was begun: what it asks for, as far as known, the most that it may spend, what it began with."""

    missing: frozenset[Name]
    most: float
    inputs: str


@dataclass
class Matrix:
    """Cells that are not done, by id, with their experiments on the main store; `folder` gets a folder a cell.

    `adds` is what each cell adds to the cost of the plan, `missing` what it was last known to ask for; `spent` counts
    what this run has cost, in cells of which nobody heard again the most that they were given; `lost` is that part of
    it by cell.
    """

    cells: dict[str, Cell]
    experiments: dict[str, list[Experiment]]
    folder: Path
    replies: Path
    budget_usd: float
    plan: Plan
    adds: dict[str, float]
    missing: dict[str, frozenset[Name]]
    spent: float = 0.0
    lost: dict[str, float] = field(default_factory=dict)
    begun: dict[str, Begun] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def place(self, id: str) -> Path:
        """The folder of a cell."""
        return self.folder / "cells" / id


def prepare(cells: Sequence[Cell], folder: Path, replies: Path, budget_usd: float = 0.0) -> Matrix:
    """Check all cells, take in replies that a run which was killed has left, and plan what is not done yet.

    ConfigError for whatever is wrong with the parameters of any cell.
    """
    for left in sorted((folder / "cells").glob(f"*/{REPLIES}")):  # also of cells that the grid does not name any more
        take_in(left, replies)
    todo = {cell.id: cell for cell in cells if not done(cell, folder / "cells" / cell.id)}
    experiments = settle(todo.values(), replies)
    return Matrix(todo, experiments, folder, replies, budget_usd, *total(todo, experiments))


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep the folder of a matrix for one command; StoreError where another one is at work in it.

    Processes of a run that was killed hold it until they have ended.
    """
    lock = store.try_lock(folder / "cells")
    if lock is None:
        raise store.StoreError(f"{folder}: another run of this matrix is at work, {store.holder(folder / 'cells')}")
    try:
        yield
    finally:
        lock.release()


def run_matrix(matrix: Matrix, opened: Opener, tell: Callable[[Cell, Outcome], None]) -> dict[str, Outcome]:
    """Run the cells that are not done, each as soon as there is room; their outcomes by id.

    Two cells that would ask for the same reply do not run at once: the second waits for the replies of the first.
    OverBudget before the first; `tell` hears of each that ends. What came is in the main store whatever ends this.
    """
    matrix.plan.check(Budget(matrix.budget_usd))
    waiting, running, losses = list(matrix.cells), {}, dict.fromkeys(matrix.cells, 0)
    try:
        while waiting:
            with opened(running) as engine:
                broken = False
                while (waiting or running) and not broken:
                    _begin(matrix, engine, waiting, running)
                    if not running:  # nobody is there yet
                        time.sleep(ROOM_SECONDS)
                    ended = wait(running, ROOM_SECONDS, FIRST_COMPLETED).done
                    broken = any(isinstance(_error(future), BrokenProcessPool) for future in ended)
                    # All that ran in a pool end with it, in a moment.
                    for future in wait(running).done if broken else ended:
                        id, error = running[future], _error(future)
                        losses[id] += (lost := isinstance(error, engine.lost))
                        again = isinstance(error, engine.unbegun) or (lost and losses[id] < engine.tries)
                        if again:
                            if lost:
                                matrix.spent += matrix.begun[id].most
                                matrix.lost[id] = matrix.lost.get(id, 0.0) + matrix.begun[id].most
                            waiting.insert(0, id)
                        else:
                            _ended(matrix, id, future, engine.lost)
                        del running[future]  # not before what came is home: an interrupt would lose it
                        if not again:
                            tell(matrix.cells[id], matrix.outcomes[id])
    finally:
        with ExitStack() as last:  # where one cannot be brought home, the others are
            for id in matrix.cells:
                last.callback(take_in, matrix.place(id) / REPLIES, matrix.replies)
            for future, id in [each for each in running.items() if each[0].done() and not each[0].cancelled()]:
                last.callback(_ended, matrix, id, future, ())
    return matrix.outcomes


def _begin(matrix: Matrix, engine: Engine, waiting: list[str], running: dict[Future, str]) -> None:
    """Begin waiting cells, in order, as far as there is room and none of their missing replies is being asked."""
    room = engine.slots()
    asked = set().union(*(matrix.begun[other].missing for other in running.values()))
    for id in list(waiting):
        if len(running) >= room:
            return
        if asked & matrix.missing[id]:
            continue
        cell = matrix.cells[id]
        try:
            here = foresee(matrix.experiments[id])
        except ValueError as error:  # what came for other cells leaves nothing to judge in this one
            waiting.remove(id)
            matrix.begun[id] = Begun(frozenset(), 0.0, inputs(cell))
            running[failed(error)] = id
            continue
        matrix.missing[id] = here.missing
        if asked & here.missing:
            continue
        waiting.remove(id)
        most = _share(matrix, here, waiting, running, engine.tries)
        matrix.begun[id] = Begun(here.missing, most, inputs(cell))
        task = Task(cell, here.stored(matrix.replies), most, code(), uuid.uuid4().hex)
        with undisturbed():  # else a cell could run of which nobody knows
            running[engine.submit(task, matrix.place(id))] = id
        asked |= here.missing


def _share(matrix: Matrix, here: Foreseen, waiting: Sequence[str], running: Mapping[Future, str], tries: int) -> float:
    """The most that a cell may spend: what it needs, and its part of what no cell needs (for calls that are repeated).

    All shares that are out at one time and what was spent never exceed the budget. A part is left for further tries.
    """
    free = max(0.0, matrix.budget_usd - matrix.spent - sum(matrix.begun[other].most for other in running.values()))
    over = max(0.0, free - here.usd - sum(matrix.adds[other] for other in waiting))
    return min(free, here.usd + over / (1 + len(waiting)) / tries)


def failed(error: BaseException) -> Future:
    """The future of what could not be begun."""
    future: Future = Future()
    future.set_exception(error)
    return future


def _error(future: Future) -> BaseException | None:
    return CancelledError("nobody runs it any more") if future.cancelled() else future.exception()


def _ended(matrix: Matrix, id: str, future: Future, lost: tuple[type[BaseException], ...]) -> None:
    """Bring home what a cell has left, and write down what became of it."""
    cell, place, error = matrix.cells[id], matrix.place(id), _error(future)
    if error is None:
        outcome = future.result()
        unpack(outcome.files, place)
    else:
        died = isinstance(error, lost)
        told = "its process died (killed, or out of memory)" if died else redact(f"{type(error).__name__}: {error}")
        outcome = Outcome(id, dict.fromkeys(cell.notebooks, told), spent_usd=matrix.begun[id].most)
    take_in(place / REPLIES, matrix.replies)
    matrix.spent += outcome.spent_usd
    outcome = replace(outcome, files={}, spent_usd=outcome.spent_usd + matrix.lost.get(id, 0.0))
    matrix.outcomes[id] = outcome
    keep(cell, place, outcome, matrix.begun[id].inputs)


def local(processes: int | None = None, run: Runner = execute) -> Opener:
    """Cells in processes of this machine (one a core), in their own folders; 1 is one cell after the other."""

    @contextmanager
    def opened(running: dict[Future, str]) -> Iterator[Engine]:
        count = processes or os.cpu_count() or 1
        with ProcessPoolExecutor(count, initializer=begin_process) as pool, stopping(pool, running):

            def submit(task: Task, folder: Path) -> Future:
                try:
                    return pool.submit(run_cell, task, folder, run)
                except BrokenProcessPool as error:  # a cell before this one took the pool down
                    return failed(error)

            yield Engine(submit, lambda: count, (BrokenProcessPool, SystemExit))

    return opened
