"""Runs on simulated models, made once for all tests of a session that only look at them, and what stands in them."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from helpers import datasets, paths, run
from helpers.biases import accuracy, cognitive, hinting, position, self_preference, top_choice, verbosity
from helpers.config import load_experiment, read_yaml
from helpers.types import Estimate, Experiment, short_hash
from helpers.words.numbers import load_numbers

_FOLDER = tempfile.TemporaryDirectory(prefix="recuse-tests-", ignore_cleanup_errors=True)


def settled(name: str = "mt_bench_blind", **parameters: Any) -> Experiment:
    """An experiment with these parameters; its replies and results go to a folder that vanishes after the session.

    Equal runs share their replies; others have a store of their own, for each stage reads all of it.
    """
    folder = Path(_FOLDER.name)
    store = folder / "replies" / short_hash(name, *(f"{key}={parameters[key]!r}" for key in sorted(parameters)))
    return load_experiment(name, **{"store": str(store), "out": str(folder / "out"), **parameters})


def asked(name: str = "mt_bench_blind", **parameters: Any) -> run.Asked:
    """An experiment, run with these parameters without progress bars."""
    return asyncio.run(run.ask(settled(name, **parameters), show=False))


@cache
def full_run() -> run.Asked:
    """The default run: six simulated judges, six simulated candidates, all built-in questions."""
    return asked()


@cache
def full_estimates() -> tuple[Estimate, ...]:
    """Every estimate of the default run."""
    run = full_run()
    return tuple(top_choice.measure(run.frame, run.data, 42))


@cache
def published_counts(name: str = "mt_bench_blind") -> dict[str, Any]:
    """The published counts of an experiment; who changes them takes a copy."""
    return read_yaml(paths.EXPERIMENTS / name / "published" / "counts.yaml")


#: The bias of each experiment with published counts, and what estimates from them.
FROM_COUNTS: dict[str, tuple[str, Callable[[dict[str, Any]], list[Estimate]]]] = {
    "arena_hard_position_bias": ("position", position.from_published),
    "cognitive_biases": ("cognitive", cognitive.from_published),
    "hinting_groups": ("hinting", lambda counts: hinting.from_published(counts, published_counts())),
    "mt_bench_blind": ("top_choice", top_choice.from_published),
    "overview": ("accuracy", accuracy.published),
    "quality_self_preference": ("self_preference", self_preference.from_published),
    "verbosity_style": ("verbosity", verbosity.from_published),
}


@cache
def published_estimates(name: str = "mt_bench_blind") -> tuple[Estimate, ...]:
    """What the published counts of an experiment give."""
    return tuple(FROM_COUNTS[name][1](published_counts(name)))


def declared_ids(module: str, estimates: Iterable[Estimate]) -> set[str]:
    """The ids that a bias declares; each of its estimates has the declared unit and a place of its own."""
    declared, found = load_numbers(module).estimands, [*estimates]
    assert [each.id for each in found if declared[each.id].unit != each.unit] == []
    places = [(each.id, each.data, *sorted(each.where.items())) for each in found]
    assert len(places) == len(set(places)), "a number has one place"
    return set(declared)


def one(estimates: Iterable[Estimate], id: str, **where: str) -> Estimate:
    """The one estimate at exactly this place."""
    (found,) = (each for each in estimates if each.id == id and dict(each.where) == where)
    return found


def value(estimates: Iterable[Estimate], id: str, **where: str) -> float:
    """The value of that estimate, as stored."""
    return one(estimates, id, **where).value


def as_published(run_: run.Asked, folder: Path, name: str = "judgments_new.json", condition: str = "none") -> Path:
    """The judgments of a run under one condition as a file in the published format, whose name alone tells the hint."""
    records = datasets.published_judgments(run_.frame)[condition]
    folder.mkdir(parents=True, exist_ok=True)
    unnamed = [{key: value for key, value in each.items() if key != "hint_mode"} for each in records]
    (folder / name).write_text(json.dumps(unnamed), encoding="utf-8")
    return folder


#: The published name of the file of each group.
GROUP_FILES = {
    "self": "group1_self.json",
    "competitors": "group2_competitors.json",
    "full": "group3_full.json",
    "none": "group4_none.json",
}


def as_published_groups(run_: run.Asked, folder: Path) -> Path:
    """The judgments of a run of experiment 2 as group files in the published format."""
    for condition, name in GROUP_FILES.items():
        as_published(run_, folder, name, condition)
    return folder
