"""What calibration is made of: a world whose truth is known, what is measured in it, and what ought to come out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy import stats

from helpers.types import Estimate, short_hash

SEED = 20
#: "null": nothing is there and the test may say so in one run of twenty; "planted": something is, and its value must be
#: covered; "failure": an estimator that is known to fail here (a published one, or one in a world that breaks what it
#: assumes), shown beside the others and not judged.
ROLES = ("null", "planted", "failure")


@dataclass(frozen=True)
class Target:
    """One number whose truth is known in a world: the estimate with this `id` and `where`.

    `truth` is the estimand on a very large population of the same world (NaN: not defined, only the size of the test is
    looked at) and `error` its own Monte-Carlo standard error, `null` is what its test holds against it. `level` is that
    of its interval.
    """

    id: str
    where: Mapping[str, str]
    truth: float
    role: str
    null: float = 0.0
    error: float = 0.0
    level: float = 0.95


@dataclass(frozen=True)
class Case:
    """One experiment in one world.

    `draw(questions, rng)` makes a sample, whatever its type; `frame(sample)` are its verdicts as the tidy frame that
    the experiment's metrics read; `spoken(sample)` is the same frame made the long way round, through prompt text,
    reply text and parser; `measure(frame, seed)` the estimates. `targets()` is called once and may fit a large
    population. `words` say in one line what is special about the world.
    """

    experiment: str
    world: str
    words: str
    draw: Callable[[int, np.random.Generator], Any]
    frame: Callable[[Any], pd.DataFrame]
    spoken: Callable[[Any], pd.DataFrame]
    measure: Callable[[pd.DataFrame, int], Sequence[Estimate]]
    targets: Callable[[], Sequence[Target]]


def chance(case: Case, questions: int, run: int, seed: int = SEED) -> np.random.Generator:
    """The chance of one replication: the same whatever else is run, in whichever process."""
    return np.random.default_rng([seed, int(short_hash(case.experiment, case.world), 16), questions, run])


def load_worlds(module: str) -> dict[str, Any]:
    """Read the table of worlds that lies beside a module, by world; lists are tuples, as frozen records take them."""
    return _frozen(yaml.safe_load(Path(module).with_suffix(".yaml").read_text(encoding="utf-8"))["worlds"])


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(each) for key, each in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


#: How far from its nominal rate a size or a coverage may lie: 3 to 7 % and 93 to 97 % of a 95 % interval.
ROOM = 0.02
#: Most Monte-Carlo standard errors by which a mean may miss the truth.
MOST_ERRORS = 3.5
#: Fewer replications tell neither their own Monte-Carlo error nor that a rule holds.
FEWEST = 30
CONSERVATIVE, HOLDS, SHOWN, UNTOLD, FEW = "conservative", "holds", "shown", "no interval", "too few"


def exact(hits: int, runs: int) -> tuple[float, float]:
    """The exact 99.9 % interval of an observed rate."""
    bounds = stats.binomtest(int(hits), runs).proportion_ci(0.999, method="exact")
    return bounds.low, bounds.high


def side(hits: int, runs: int, nominal: float) -> int:
    """1 where the rate lies wholly more than ROOM above the nominal one, -1 where wholly below, 0 otherwise."""
    low, high = exact(hits, runs)
    return 1 if low > nominal + ROOM else -1 if high < nominal - ROOM else 0


def verdict(role: str, runs: int, bias: float, error: float, covered: int, rejected: int, level: float) -> str:
    """What the rule says of `runs` runs: "holds", "conservative" or "misses: " and what (bias, coverage, size).

    `bias` and its Monte-Carlo `error` may be NaN (no truth: neither bias nor coverage is judged). The size is judged
    where nothing is planted. A known failure is "shown", never judged; without any interval there is nothing to judge,
    and of fewer than FEWEST only what misses all the same is said ("too few").
    """
    if not runs:
        return UNTOLD
    if role == "failure":
        return SHOWN
    missed, wide = [], False
    if math.isfinite(bias):
        missed += ["bias"] if runs >= FEWEST and abs(bias) > MOST_ERRORS * error else []
        at = side(covered, runs, level)
        missed += ["coverage"] if at < 0 else []
        wide |= at > 0
    if role == "null":
        at = side(rejected, runs, 0.05)
        missed += ["size"] if at > 0 else []
        wide |= at < 0
    if missed:
        return f"misses: {', '.join(missed)}"
    if runs < FEWEST:
        return FEW
    return CONSERVATIVE if wide else HOLDS
