"""Runs simulated judges of known truth many times, on all cores, and says what each estimator made of them."""

from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.calibrate import pool, rule
from helpers.calibrate.cases import ROLES, Case, Target
from helpers.types import Estimate, short_hash

#: Replications at each number of questions.
SIZES: Mapping[int, int] = {80: 2000, 20: 500, 400: 500}
SEED = 20
#: Replications that a process makes before it reports.
CHUNK = 20
COLUMNS = (
    *("experiment", "world", "questions", "id", "where", "role", "truth", "runs", "given"),
    *("bias", "sd", "mc_se", "coverage", "rejected", "verdict"),
)
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
    return importlib.import_module(f"helpers.calibrate.{experiment}").CASES


def chance(case: Case, questions: int, run: int, seed: int = SEED) -> np.random.Generator:
    """The chance of one replication: the same whatever else is run, in whichever process."""
    return np.random.default_rng([seed, int(short_hash(case.experiment, case.world), 16), questions, run])


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
    yield from pool.results(_named, parts, processes)


def _named(part: Part) -> tuple[np.ndarray, float]:
    return replications(next(c for c in cases_of(part.experiment) if c.world == part.world), part)


def replications(case: Case, part: Part) -> tuple[np.ndarray, float]:
    """(replications, targets, 4) values, bounds and p of one part (p is -1 where no test was possible); its seconds."""
    begun = time.process_time()
    values = np.full((part.stop - part.start, len(part.kept), 4), np.nan)
    for number, turn in enumerate(range(part.start, part.stop)):
        if pool.stopped():
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
    given = values[np.isfinite(values[:, :3]).all(axis=1)]
    value, low, high, p = given.T
    n = len(given)
    covered = int(((low <= target.truth) & (target.truth <= high)).sum())
    outside = (low > target.null) | (high < target.null)
    rejected = int(np.where(np.isnan(p), outside, (p >= 0) & (p < 0.05)).sum())
    bias, sd = (float(value.mean() - target.truth) if n else math.nan), float(value.std(ddof=1)) if n > 1 else math.nan
    error = math.hypot(sd / math.sqrt(n), target.error) if n > 1 else math.nan
    said = rule.verdict(target.role, n, bias, error, covered, rejected, target.level)
    shares = (covered / n if n and math.isfinite(target.truth) else math.nan, rejected / n if n else math.nan)
    names = (case.experiment, case.world, questions, target.id, place(target.where), target.role, target.truth)
    return (*names, len(values), n, bias, sd, error, *shares, said)
