"""What a matrix would ask: by cell, and of all cells together with each request counted once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count, islice
from pathlib import Path

from helpers import store
from helpers.config import ConfigError, load_experiment
from helpers.judge import Plan, check_fit, labels_of, make_plan
from helpers.providers import Clock
from helpers.providers.keys import refuse
from helpers.run import asking
from helpers.run.grid import Cell
from helpers.run.notebooks import available, experiment_of
from helpers.run.settling import doubtful
from helpers.types import Experiment, Request, Trial, short_hash

#: A request as a store knows it: the file of its model, and its key.
Name = tuple[str, str]
Stages = Mapping[str, Sequence[Trial]]


@dataclass(frozen=True)
class Foreseen:
    """What one cell would ask now: the most that it could cost, the names of what is missing as far as known, prompts.

    Among what is `missing` are the repeats that stored controls get should their model turn out to be another.
    `prompts` by model are those whose stored replies the cell may read, whatever their repeat. Models of `unwritten`
    will see further ones, which nobody knows before answers are written.
    """

    usd: float
    missing: frozenset[Name]
    prompts: Mapping[str, frozenset[str]]
    unwritten: frozenset[str]

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
        names = [experiment_of(available()[name]) for name in cell.notebooks]
        refuse(cell.parameters)
        try:
            found[cell.id] = [load_experiment(name, **{**cell.parameters, "store": str(folder)}) for name in names]
            for experiment in found[cell.id]:
                asking.check(experiment)
        except ConfigError as error:
            told = "{} = {!r}: Input should be a valid list"
            alone = [name for name, value in cell.varied.items() if told.format(name, value) in str(error)]
            hint = "; in a grid each value of {0} is a list of its own, as in {0}: [[one], [other]]" if alone else ""
            raise ConfigError(f"cell {cell}: {error}{hint.format(*alone)}") from None
    return found


def stages_of(experiment: Experiment) -> tuple[Stages, list[Request]]:
    """The trials of one experiment as far as the store determines them, none where nobody is asked; doubtful controls.

    These are stored, and asked again should their model turn out to be another.
    """
    if experiment.judgments not in ("ask", "stored"):
        return {}, []
    known, found = asyncio.run(asking.stages(experiment, Clock().wall()))
    return known, doubtful(known, getattr(asking.bias_of(experiment), "CONTROL", None), found)


def foresee(experiments: Sequence[Experiment]) -> Foreseen:
    """What a cell would ask if it ran now."""
    asked: dict[str, list[Request]] = {}
    missing: frozenset[Name] = frozenset()
    prompts: dict[str, set[str]] = {}
    unwritten: set[str] = set()
    for experiment in experiments:
        stages, controls = stages_of(experiment)
        missing |= _again(experiment, controls) if experiment.judgments == "ask" else frozenset()
        for stage, trials in stages.items():
            requests = [trial.request for trial in trials]
            for request in requests:
                prompts.setdefault(request.model.name, set()).add(request.prompt)
                unwritten |= {request.model.name} if request.unwritten else set()
            if experiment.judgments == "ask":
                asked.setdefault(stage, []).extend(requests)
                missing |= _missing(experiment, requests)
    usd = make_plan(asked, experiments[0].store).usd
    known = {model: frozenset(texts) for model, texts in prompts.items()}
    return Foreseen(usd, missing, known, frozenset(unwritten))


def _missing(experiment: Experiment, requests: Iterable[Request]) -> frozenset[Name]:
    names = {_name(request) for request in requests if not request.unwritten}
    answered = {model: _answered(experiment.store, model) for model in {model for model, _ in names}}
    return frozenset((model, key) for model, key in names if key not in answered[model])


def _again(experiment: Experiment, controls: Iterable[Request]) -> frozenset[Name]:
    """The names under which doubtful controls would be asked: of each as many free repeats as replies are in doubt."""
    names: set[Name] = set()
    for request in controls:
        answered = _answered(experiment.store, request.model.name)
        repeats = (_name(replace(request, repeat=number)) for number in count())
        names.add(next(each for each in repeats if each[1] not in answered and each not in names))
    return frozenset(names)


def _answered(folder: Path, model: str) -> frozenset[str]:
    path = store.file_of(folder, model)
    return _keys(path, path.stat().st_size) if path.exists() else frozenset()


@lru_cache(maxsize=64)
def _keys(path: Path, _size: int) -> frozenset[str]:
    """The keys with a reply; files of a store only grow, so the size tells whether there are more."""
    return frozenset(reply.key for reply in store.replies(path))


def total(
    cells: Mapping[str, Cell], experiments: Mapping[str, Sequence[Experiment]]
) -> tuple[Plan, dict[str, float], dict[str, frozenset[Name]]]:
    """The plan of all cells, by cell what it adds to the cost in US dollars, and by cell what it asks, as far as known.

    A request of several cells counts in the first. One with answers that are not written yet counts in each, unless all
    that two cells ask is the same.
    """
    counted: set[Name] = set()
    seen: set[str] = set()
    plans: list[Plan] = []
    adds: dict[str, float] = {}
    missing: dict[str, frozenset[Name]] = {}
    served = iter(asyncio.run(asking.served(*chain.from_iterable(experiments.values()))))
    for id, several in experiments.items():
        adds[id], missing[id] = 0.0, frozenset()
        for experiment in islice(served, len(several)):
            try:
                stages, controls = stages_of(experiment) if experiment.judgments == "ask" else ({}, [])
                trials = [trial for some in stages.values() for trial in some]
                check_fit((trial.request for trial in trials), labels_of(trials), experiment.store)
            except ValueError as error:
                raise ConfigError(f"cell {cells[id]}: {error}") from None
            missing[id] |= _missing(experiment, (trial.request for trial in trials)) | _again(experiment, controls)
            if _signature(experiment, stages) in seen:
                continue
            seen.add(_signature(experiment, stages))
            fresh = {
                stage: [t.request for t in some if t.request.unwritten or _name(t.request) not in counted]
                for stage, some in stages.items()
            }
            counted |= {_name(trial.request) for trial in trials if not trial.request.unwritten}
            plans.append(make_plan(fresh, experiment.store, experiment.concurrency))
            adds[id] += plans[-1].usd
    return _added(plans), adds, missing


def _name(request: Request) -> Name:
    return request.model.name, request.key


def _signature(experiment: Experiment, stages: Stages) -> str:
    asked = (
        f"{stage}:{t.request.key}:{t.judge.name}:{t.question_id}:{t.shown}:{t.condition}"
        for stage, trials in stages.items()
        for t in trials
    )
    return short_hash(experiment.name, *asked, digits=32)


def _added(plans: Iterable[Plan]) -> Plan:
    """The sums of plans, a row a stage and model."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    first = {}
    for row in (row for plan in plans for row in plan.rows):
        at = (row.stage, row.model)
        first.setdefault(at, row)
        sums = rows.setdefault(at, {})
        for name in ("calls", "stored", "missing", "input_tokens", "output_tokens", "usd", "shared_tokens"):
            sums[name] = sums.get(name, 0) + getattr(row, name)
        for name in ("expected_usd", "expected_seconds"):
            both = (sums.get(name, 0.0), getattr(row, name) if row.missing else 0.0)
            sums[name] = None if None in both else sum(both)
    ordered = sorted(first, key=lambda at: [row.stage for row in first.values()].index(at[0]))
    return Plan(tuple(replace(first[at], **rows[at]) for at in ordered))
