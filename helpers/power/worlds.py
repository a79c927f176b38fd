"""Standard errors before any run: the spread of each number over simulated runs of a design.

Judges here are simulated, and so is how much questions, tastes and noise vary. A pilot with one's own judges knows
better.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from helpers.config import load_config
from helpers.power.precision import enough
from helpers.types import Estimate

#: The simulated runs of each bias: a part of the repository that no wheel has.
DESIGNS = "studies.calibration.designs"
SHARE_GIVEN = 0.8
#: What can be measured in one run: the numbers that a measure gives, and the measure.
Measures = Mapping[tuple[str, ...], Callable[[], list[Estimate]]]
#: Of questions, judges, repeats and chance: one run.
Draw = Callable[[int, int, int, np.random.Generator], Measures]


def simulated(
    name: str,
    questions: int,
    judges: int | None = None,
    repeats: int | None = None,
    draws: int = 200,
    seed: int = 20,
    ids: Sequence[str] = (),
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[Estimate]:
    """Each number of experiment `name` over `draws` simulated runs: `value` is its mean, `se` its standard deviation.

    `judges` None: as many as the world has by default; more than it can have, and fewer than 10 questions, are a
    ValueError. `repeats` None: as in config.yaml. The Monte-Carlo error of `se` is se / sqrt(2 (draws - 1)). A number
    that fewer than 80 % of the runs give with an interval has none.
    `ids`: measure only what gives these numbers. `progress` wraps the turns, as tqdm does.
    """
    config = load_config(name)
    draw, usual, most = _world(name)
    count, times = judges or usual, repeats or config.repeats
    if not 1 <= count <= most:
        raise ValueError(f"{count} judges: the simulated world of {name} has 1 to {most}; a pilot may have any number")
    found: dict[tuple[str, tuple], list[Estimate]] = {}
    for turn in progress(range(draws)):
        for given, measure in draw(enough(questions), count, times, np.random.default_rng([seed, turn])).items():
            for each in measure() if not ids or set(given) & set(ids) else ():
                found.setdefault((each.id, tuple(each.where.items())), []).append(each)
    return [_spread(each, draws) for each in found.values()]


def most_judges(name: str) -> int:
    """How many judges the simulated world of an experiment can have."""
    return _world(name)[2]


def _world(name: str) -> tuple[Draw, int, int]:
    try:
        worlds = importlib.import_module(DESIGNS).WORLDS
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "studies":
            raise
        raise ValueError(
            "no simulated worlds here: studies/calibration is part of the repository alone; work in a clone that is "
            "installed with `pip install -e .`, or use a pilot"
        ) from None
    bias = load_config(name).bias
    if bias not in worlds:
        raise ValueError(f"no simulated world for {name}; use a pilot (there are worlds for {', '.join(worlds)})")
    return worlds[bias]


def _spread(each: Sequence[Estimate], draws: int) -> Estimate:
    """One number over many runs."""
    given = [one for one in each if math.isfinite(one.low)]
    if len(given) < max(3, SHARE_GIVEN * draws):
        why = f"given in {len(given)} of {draws} simulated runs"
        return replace(each[0], value=math.nan, low=math.nan, high=math.nan, se=math.nan, p=math.nan, method=why)
    values = np.array([one.value for one in given])
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    n, clusters = (round(float(np.mean([getattr(one, key) for one in given]))) for key in ("n", "clusters"))
    reach = sd * float(stdtrit(clusters - 1, 0.975))
    told = f"{given[0].method}; over {draws} simulated runs"
    found = replace(given[0], value=mean, low=mean - reach, high=mean + reach, se=sd, method=told)
    return replace(found, n=n, clusters=clusters)
