"""Runs simulated judges of known truth many times, on all cores, and says what each estimator made of them.

Processes are fresh, each result comes as it is made, and no process outlives whoever asked for it.
"""

from __future__ import annotations

import importlib
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.synchronize import Event
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from helpers.calibrate import COLUMNS
from helpers.types import Estimate
from studies.calibration.cases import ROLES, SEED, Case, Target, chance, verdict

_K = TypeVar("_K")
_P = TypeVar("_P")
#: In a process of the pool: what is set when nobody waits for its results any more.
_events: list[Event] = []


def run_parts(
    work: Callable[[_P], Any], parts: Mapping[_K, _P], processes: int
) -> Generator[tuple[_K, Any], None, None]:
    """What `work` makes of each part, with the part's key, in the order in which they are done.

    `work` is a function of a module, and parts and results can be pickled. An error in a part ends the others and is
    raised. Whoever stops asking, by an interrupt or by closing the iterator, waits for the parts that are begun, which
    `stopped` may shorten, and for no other.
    """
    # Fresh processes: a copy of this one would hold locks of threads that it does not have.
    fresh = multiprocessing.get_context("spawn")
    enough = fresh.Event()
    done: SimpleQueue[tuple[_K, Any] | BaseException] = SimpleQueue()

    def serve() -> None:
        # No process is ended from here: one that is ended within a result leaves the pool waiting for the rest of it.
        pool = ProcessPoolExecutor(processes, mp_context=fresh, initializer=_begin, initargs=(enough,))
        try:
            keys = {pool.submit(work, part): key for key, part in parts.items()}
            for future in as_completed(keys):
                if enough.is_set():
                    break
                done.put((keys[future], future.result()))
        except BaseException as error:
            done.put(error)
        finally:
            enough.set()
            pool.shutdown(cancel_futures=True)

    # An interrupt is raised in the main thread at any place, between taking a lock and noting that it is taken too. The
    # pool's locks are therefore taken by a thread of its own: one that stays taken would be waited for, for ever.
    server = Thread(target=serve, name="pool")
    try:
        server.start()
        for _ in parts:
            found = done.get()
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        enough.set()
        if server.is_alive():
            server.join()


def stopped() -> bool:
    """Whether, in a process of the pool, nobody waits for results any more. False everywhere else."""
    return any(enough.is_set() for enough in _events)


def _begin(enough: Event) -> None:
    """Let this process end when the one that started it does, however that one is ended, and know of `enough`.

    An interrupt is for the one that started it: from a terminal it comes to all of them.
    """
    _events.append(enough)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    if parent is not None:
        Thread(target=watch, daemon=True).start()


#: Replications at each number of questions.
SIZES: Mapping[int, int] = {80: 2000, 20: 500, 400: 500}
#: Replications that a process makes before it reports.
CHUNK = 20
#: What the method of an estimate says where its interval stands but no test was possible.
NO_TEST = "no test"
Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class Part:
    """Replications `start` to `stop` of a world at so many questions, and the numbers that are kept of them."""

    experiment: str
    world: str
    questions: int
    start: int
    stop: int
    kept: tuple[tuple[str, str], ...]
    seed: int


def cases_of(experiment: str) -> tuple[Case, ...]:
    """The worlds that an experiment is tried in; an experiment without a module of cases is a ModuleNotFoundError."""
    return importlib.import_module(f"studies.calibration.experiments.{experiment}").CASES


def place(where: Mapping[str, str]) -> str:
    """A place in one line, as it stands in the results: "hint=self vendor=gpt".

    >>> place({"vendor": "gpt", "hint": "self"}), place({})
    ('hint=self vendor=gpt', '')
    """
    return " ".join(f"{key}={value}" for key, value in sorted(where.items()))


def run(
    cases: Sequence[Case],
    sizes: Mapping[int, int] = SIZES,
    processes: int | None = None,
    seed: int = SEED,
    progress: Progress | None = None,
) -> tuple[pd.DataFrame, float]:
    """What each estimator makes of worlds whose truth is known, and the seconds of core time that it took.

    One row a case, number of questions and target (columns: COLUMNS). `sizes` maps numbers of questions to
    replications. `given` counts those with a number and an interval, and all rates are of these: `coverage` (intervals
    that hold `truth`) and `rejected` (p < 0.05; where an estimate has no p, intervals that leave out `null`). `bias` is
    the mean less the truth, `mc_se` its standard error (that of the truth included), `sd` that of one estimate. Two
    estimates or targets of one name, and a target that is not measured, are an error. `processes` None: one a core; 1
    runs here, and more look the cases up by the names of their experiments. `progress` is told world and replications.
    """
    targets = {id(case): _targets(case, max(sizes, default=0), seed) for case in cases}
    plan = [(case, questions, runs) for case in cases for questions, runs in sizes.items() if runs > 0]
    parts = {}
    for number, (case, questions, runs) in enumerate(plan):
        kept = tuple((target.id, place(target.where)) for target in targets[id(case)])
        for start in range(0, runs, CHUNK):
            stop = min(start + CHUNK, runs)
            parts[number, start] = Part(case.experiment, case.world, questions, start, stop, kept, seed)
    found: dict[tuple[int, int], np.ndarray] = {}
    seconds = 0.0
    # Closed at once should `progress` end it, for the processes go on until it is.
    with closing(_made(parts, [case for case, _, _ in plan], processes or os.cpu_count() or 1)) as made:
        for key, (values, taken) in made:
            found[key] = values
            seconds += taken
            if progress:
                progress(parts[key].world, len(values))
    rows = []
    for number, (case, questions, _) in enumerate(plan):
        values = np.concatenate([found[key] for key in sorted(found) if key[0] == number])
        rows += [_row(case, questions, target, values[:, i]) for i, target in enumerate(targets[id(case)])]
    return pd.DataFrame(rows, columns=list(COLUMNS)), seconds


def _targets(case: Case, questions: int, seed: int) -> tuple[Target, ...]:
    """The targets of a case, each once and all of them measured."""
    targets = tuple(case.targets())
    names = [(target.id, place(target.where), target.role) for target in targets]
    double = sorted({f"{id} {where}" for id, where, role in names if names.count((id, where, role)) > 1})
    odd = sorted({target.role for target in targets} - set(ROLES))
    measured = case.measure(case.frame(case.draw(questions, chance(case, questions, 0, seed))), 0)
    never = {f"{id} {where}" for id, where, _ in names} - {f"{each.id} {place(each.where)}" for each in measured}
    for found, what in ((double, "two targets for"), (odd, "unknown role"), (sorted(never), "nothing measured for")):
        if found:
            raise ValueError(f"{case.experiment}, world {case.world}: {what} {', '.join(found)}")
    return targets


def _made(
    parts: Mapping[tuple[int, int], Part], cases: Sequence[Case], processes: int
) -> Generator[tuple[tuple[int, int], tuple[np.ndarray, float]], None, None]:
    """The values of each part and its seconds, as they come."""
    if processes == 1:
        for key, part in parts.items():
            yield key, replications(cases[key[0]], part)
        return
    yield from run_parts(_named, parts, processes)


def _named(part: Part) -> tuple[np.ndarray, float]:
    return replications(next(c for c in cases_of(part.experiment) if c.world == part.world), part)


def replications(case: Case, part: Part) -> tuple[np.ndarray, float]:
    """(replications, targets, 4) values, bounds and p of one part (p is -1 where no test was possible); its seconds."""
    begun = time.process_time()
    values = np.full((part.stop - part.start, len(part.kept), 4), np.nan)
    for number, turn in enumerate(range(part.start, part.stop)):
        if stopped():
            break
        try:
            sample = case.draw(part.questions, chance(case, part.questions, turn, part.seed))
            values[number] = _kept(case.measure(case.frame(sample), turn), part.kept)
        except Exception as error:
            raise RuntimeError(
                f"{case.experiment}, world {case.world}, {part.questions} questions, replication {turn}: {error}"
            ) from error
    return values, time.process_time() - begun


def _kept(estimates: Sequence[Estimate], kept: Sequence[tuple[str, str]]) -> np.ndarray:
    found: dict[tuple[str, str], Estimate] = {}
    for each in estimates:
        key = each.id, place(each.where)
        if key in found and key in kept:
            raise ValueError(f"two estimates of {' '.join(key)}")
        found[key] = each
    # What few questions do not allow has no number there.
    nothing = Estimate("", {}, math.nan)
    rows = [found.get(key, nothing) for key in kept]
    return np.array([[e.value, e.low, e.high, -1.0 if NO_TEST in e.method else e.p] for e in rows])


def _row(case: Case, questions: int, target: Target, values: np.ndarray) -> tuple:
    finite = values[np.isfinite(values[:, :3]).all(axis=1)]
    value, low, high, p = finite.T
    n = len(finite)
    covered = int(((low <= target.truth) & (target.truth <= high)).sum())
    outside = (low > target.null) | (high < target.null)
    rejected = int(np.where(np.isnan(p), outside, (p >= 0) & (p < 0.05)).sum())
    bias, sd = (float(value.mean() - target.truth) if n else math.nan), float(value.std(ddof=1)) if n > 1 else math.nan
    error = math.hypot(sd / math.sqrt(n), target.error) if n > 1 else math.nan
    word = verdict(target.role, n, bias, error, covered, rejected, target.level)
    shares = (covered / n if n and math.isfinite(target.truth) else math.nan, rejected / n if n else math.nan)
    names = (case.experiment, case.world, questions, target.id, place(target.where), target.role, target.truth)
    return (*names, len(values), n, bias, sd, error, *shares, word)
