"""A matrix of runs: what it would ask, then cells wherever there is room, one budget, one store in the end."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial
from itertools import chain, count
from pathlib import Path

from .. import store
from ..config import ConfigError, load_experiment
from ..judge import Budget, Plan, check_fit, labels_of, make_plan
from ..judge.budget import PlanRow
from ..providers import Clock
from ..providers.keys import redact, refuse
from ..types import Experiment, Request, short_hash
from . import asking
from .asking import Stages
from .cells import REPLIES, Cell, Outcome, Runner, Task, code, done, inputs, keep, run_cell, take_in, unpack
from .control import doubtful
from .kernels import failed, processes, undisturbed
from .notebooks import execute

#: A request as a store knows it: the file of its model, and its key.
Name = tuple[str, str]


@dataclass(frozen=True)
class Foreseen:
    """What one cell would ask now: the most that it could cost, and the names of what is missing as far as known.

    `prompts` by model are those whose stored replies it may read; models of `unwritten` will see further ones.
    """

    usd: float
    missing: frozenset[Name]
    prompts: Mapping[str, set[str]]
    unwritten: set[str]

    def stored(self, folder: Path) -> dict[str, bytes]:
        """The lines of a store that the cell may need, by model, each with its line end."""
        found = {}
        for model, prompts in self.prompts.items():
            path = store.file_of(folder, model)
            lines = [line for line in store.scan(path, store.usable) if line.record] if path.exists() else []
            if model not in self.unwritten:
                lines = [line for line in lines if line.record["request"]["prompt"] in prompts]
            found[model] = b"".join(line.raw.removesuffix(b"\n") + b"\n" for line in lines)
        return {model: lines for model, lines in found.items() if lines}


def settle(cells: Iterable[Cell], folder: Path) -> dict[str, list[Experiment]]:
    """The experiments of each cell by its id, on this store; what is wrong with a cell's parameters names the cell."""
    found = {}
    for cell in cells:
        refuse(cell.parameters)
        parameters = cell.parameters | {"store": str(folder)}
        try:
            found[cell.id] = [load_experiment(name, **parameters) for name in cell.experiments]
            for experiment in found[cell.id]:
                asking.check(experiment)
        except ConfigError as error:
            fault = "{} = {!r}: Input should be a valid list"
            alone = [name for name, value in cell.varied.items() if fault.format(name, value) in str(error)]
            hint = "; in a grid each value of {0} is a list of its own, as in {0}: [[one], [other]]" if alone else ""
            raise ConfigError(f"cell {cell}: {error}{hint.format(*alone)}") from None
    return found


def stages_of(experiment: Experiment) -> tuple[Stages, list[Request]]:
    """The trials of an experiment that stored replies determine, and controls that may have to be asked again."""
    if experiment.judgments not in ("ask", "stored"):
        return {}, []
    staged, found = asyncio.run(asking.stages(experiment, Clock().wall()))
    return staged, doubtful(staged, asking.bias_of(experiment).control, found)


def foresee(experiments: Sequence[Experiment]) -> Foreseen:
    """What a cell would ask if it ran now."""
    asked: dict[str, list[Request]] = {}
    missing: frozenset[Name] = frozenset()
    prompts: dict[str, set[str]] = {}
    unwritten: set[str] = set()
    for experiment in experiments:
        stages, controls = stages_of(experiment)
        for request in (trial.request for trials in stages.values() for trial in trials):
            prompts.setdefault(request.model.name, set()).add(request.prompt)
            unwritten |= {request.model.name} if request.unwritten else set()
        if experiment.judgments == "ask":
            missing |= _missing(experiment, stages, controls)
            for stage, trials in stages.items():
                asked.setdefault(stage, []).extend(trial.request for trial in trials)
    return Foreseen(make_plan(asked, experiments[0].store).usd, missing, prompts, unwritten)


def _missing(experiment: Experiment, stages: Stages, controls: Iterable[Request]) -> frozenset[Name]:
    """The names of what is missing, as far as known, and free repeats of doubtful controls, as many as are in doubt."""
    requests = [trial.request for trials in stages.values() for trial in trials]
    files = {request.model.name: store.file_of(experiment.store, request.model.name) for request in requests}
    answered = {name: _keys(path, path.stat().st_size if path.exists() else 0) for name, path in files.items()}
    names = {_name(each) for each in requests if not each.unwritten and each.key not in answered[each.model.name]}
    for request in controls:
        repeats = (_name(replace(request, repeat=number)) for number in count())
        names.add(next(each for each in repeats if each[1] not in answered[each[0]] and each not in names))
    return frozenset(names)


@lru_cache(maxsize=64)
def _keys(path: Path, size: int) -> frozenset[str]:
    """The keys with a reply; files of a store only grow, so the size tells whether there are more."""
    return frozenset(reply.key for reply in store.replies(path)) if size else frozenset()


def total(
    cells: Mapping[str, Cell], experiments: Mapping[str, Sequence[Experiment]]
) -> tuple[Plan, dict[str, float], dict[str, frozenset[Name]]]:
    """The plan of all cells, by cell what it adds to the cost (a request counts in the first that asks it) and asks.

    A request with answers that are not written yet counts in each cell, unless all that two cells ask is the same.
    """
    counted, seen, plans = set[Name](), set[str](), list[Plan]()
    adds, missing = dict.fromkeys(experiments, 0.0), dict.fromkeys(experiments, frozenset[Name]())
    ids = [id for id, several in experiments.items() for _ in several]
    served = asyncio.run(asking.served(*chain.from_iterable(experiments.values())))
    for id, experiment in zip(ids, served, strict=True):
        try:
            stages, controls = stages_of(experiment) if experiment.judgments == "ask" else ({}, [])
            trials = [trial for group in stages.values() for trial in group]
            check_fit((trial.request for trial in trials), labels_of(trials), experiment.store)
        except ValueError as error:
            raise ConfigError(f"cell {cells[id]}: {error}") from None
        missing[id] |= _missing(experiment, stages, controls)
        if (signature := _signature(experiment, stages)) in seen:
            continue
        seen.add(signature)
        fresh = {
            stage: [t.request for t in group if t.request.unwritten or _name(t.request) not in counted]
            for stage, group in stages.items()
        }
        counted |= {_name(trial.request) for trial in trials if not trial.request.unwritten}
        plans.append(make_plan(fresh, experiment.store, experiment.concurrency))
        adds[id] += plans[-1].usd
    return _added(plans), adds, missing


def _name(request: Request) -> Name:
    return request.model.name, request.key


def _signature(experiment: Experiment, stages: Stages) -> str:
    each = [(stage, t) for stage, trials in stages.items() for t in trials]
    asked = (f"{stage}:{t.request.key}:{t.judge.name}:{t.question_id}:{t.shown}:{t.condition}" for stage, t in each)
    return short_hash(experiment.name, *asked, digits=32)


def _added(plans: Iterable[Plan]) -> Plan:
    """The sums of plans, a row a stage and model."""
    grouped: dict[tuple[str, str], list[PlanRow]] = {}
    for row in (row for plan in plans for row in plan.rows):
        row = row if row.missing else replace(row, expected_usd=0.0, expected_seconds=0.0)
        grouped.setdefault((row.stage, row.model), []).append(row)

    def added(name: str, rows: Sequence[PlanRow]) -> float | None:
        values = [getattr(row, name) for row in rows]
        return None if None in values else sum(values)

    names = [each.name for each in fields(PlanRow) if each.name not in ("stage", "model", "seen")]
    summed = [replace(rows[0], **{n: added(n, rows) for n in names}) for rows in grouped.values()]  # type: ignore[arg-type]
    stages = [row.stage for row in summed]
    return Plan(tuple(sorted(summed, key=lambda row: stages.index(row.stage))))


#: How often a run looks for room, in seconds: workers may join a cluster while it runs.
ROOM_SECONDS = 2.0


@dataclass(frozen=True)
class Engine:
    """Where cells run: `submit` begins one, which has a folder here; `slots` says how many there is room for.

    A cell with an error of `lost` ended with its process and is begun `tries` times at most; one of `unbegun` cost
    nothing.
    """

    submit: Callable[[Task, Path], Future]
    slots: Callable[[], int]
    lost: tuple[type[BaseException], ...]
    tries: int = 1
    unbegun: tuple[type[BaseException], ...] = ()


#: Opens an engine for the cells that run: on leaving by an interrupt it brings them to an end.
Opener = Callable[[dict[Future, str]], AbstractContextManager[Engine]]


@dataclass
class Matrix:
    """Cells that are not done, by id, with their experiments on the main store; `folder` gets a folder a cell.

    US dollars: `adds` is what a cell adds to the plan, `most` the most that it may spend, `paid` what it has cost (of
    lost tries: the most). `missing` is what it was last known to ask for.
    """

    cells: dict[str, Cell]
    experiments: dict[str, list[Experiment]]
    folder: Path
    replies: Path
    budget_usd: float
    plan: Plan
    adds: dict[str, float]
    missing: dict[str, frozenset[Name]]
    most: dict[str, float] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    paid: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @property
    def spent(self) -> float:
        """What this run has cost so far."""
        return sum(self.paid.values())

    def place(self, id: str) -> Path:
        """The folder of a cell."""
        return self.folder / "cells" / id


def prepare(cells: Sequence[Cell], folder: Path, replies: Path, budget_usd: float = 0.0) -> Matrix:
    """Check all cells (ConfigError), take in replies that a killed run has left, and plan what is not done yet."""
    for left in sorted((folder / "cells").glob(f"*/{REPLIES}")):  # also of cells that the grid does not name any more
        take_in(left, replies)
    todo = {cell.id: cell for cell in cells if not done(cell, folder / "cells" / cell.id)}
    experiments = settle(todo.values(), replies)
    return Matrix(todo, experiments, folder, replies, budget_usd, *total(todo, experiments))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep the folder of a matrix for one command; StoreError where another one, perhaps a killed one, is at work."""
    lock = store.lock_at_once(folder / "cells", "this matrix can be run")
    try:
        yield
    finally:
        lock.release()


def run_matrix(matrix: Matrix, opened: Opener, tell: Callable[[Cell, Outcome], None]) -> dict[str, Outcome]:
    """Run the cells that are not done, each as soon as there is room; OverBudget before the first.

    Of two cells that would ask for the same reply the second waits. What came is in the main store whatever ends this.
    """
    matrix.plan.check(Budget(matrix.budget_usd))
    waiting, running, losses = list(matrix.cells), dict[Future, str](), Counter[str]()
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
                            matrix.paid[id] += matrix.most[id] if lost else 0.0
                            waiting.insert(0, id)
                        else:
                            _ended(matrix, id, future, engine.lost)
                        del running[future]  # not before its replies are merged: an interrupt would lose them
                        if not again:
                            tell(matrix.cells[id], matrix.outcomes[id])
    finally:
        with ExitStack() as last:  # where one cannot be merged, the others are
            for id in matrix.cells:
                last.callback(take_in, matrix.place(id) / REPLIES, matrix.replies)
            for future, id in [each for each in running.items() if each[0].done() and not each[0].cancelled()]:
                last.callback(_ended, matrix, id, future, ())
    return matrix.outcomes


def _begin(matrix: Matrix, engine: Engine, waiting: list[str], running: dict[Future, str]) -> None:
    """Begin waiting cells, in order, as far as there is room and none of their missing replies is being asked."""
    room = engine.slots()
    asked = set().union(*(matrix.missing[other] for other in running.values()))
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
            matrix.most[id], matrix.inputs[id] = 0.0, inputs(cell)
            running[failed(error)] = id
            continue
        matrix.missing[id] = here.missing
        if asked & here.missing:
            continue
        waiting.remove(id)
        matrix.most[id], matrix.inputs[id] = _share(matrix, here, waiting, running, engine.tries), inputs(cell)
        task = Task(cell, here.stored(matrix.replies), matrix.most[id], code(), uuid.uuid4().hex)
        with undisturbed():  # else a cell could run of which nobody knows
            running[engine.submit(task, matrix.place(id))] = id
        asked |= here.missing


def _share(matrix: Matrix, here: Foreseen, waiting: Sequence[str], running: Mapping[Future, str], tries: int) -> float:
    """The most that a cell may spend: what it needs and a part of what none needs; some is left for further tries.

    All shares that are out at one time and what was spent never exceed the budget.
    """
    free = max(0.0, matrix.budget_usd - matrix.spent - sum(matrix.most[other] for other in running.values()))
    over = max(0.0, free - here.usd - sum(matrix.adds[other] for other in waiting))
    return min(free, here.usd + over / (1 + len(waiting)) / tries)


def _error(future: Future) -> BaseException | None:
    return CancelledError("nobody runs it any more") if future.cancelled() else future.exception()


def _ended(matrix: Matrix, id: str, future: Future, lost: tuple[type[BaseException], ...]) -> None:
    """Merge the replies of a cell into the main store, and record what became of it."""
    cell, place, error = matrix.cells[id], matrix.place(id), _error(future)
    if error is None:
        outcome = future.result()
        unpack(outcome.files, place)
    else:
        died = isinstance(error, lost)
        words = "its process died (killed, or out of memory)" if died else redact(f"{type(error).__name__}: {error}")
        outcome = Outcome(dict.fromkeys(cell.notebooks, words), spent_usd=matrix.most[id])
    take_in(place / REPLIES, matrix.replies)
    matrix.paid[id] += outcome.spent_usd
    matrix.outcomes[id] = replace(outcome, files={}, spent_usd=matrix.paid[id])
    keep(cell, place, matrix.outcomes[id], matrix.inputs[id])


def local(count: int | None = None, run: Runner = execute) -> Opener:
    """Cells in processes of this machine (one a core), in their own folders; 1 is one cell after the other."""
    room = count or os.cpu_count() or 1

    @contextmanager
    def opened(running: dict[Future, str]) -> Iterator[Engine]:
        with processes(room, running) as submit:
            begin = partial(submit, run_cell, run=run)
            yield Engine(begin, lambda: room, (BrokenProcessPool, SystemExit))

    return opened
