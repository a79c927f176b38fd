"""What calibration is made of: a world whose truth is known, what is measured in it, and what ought to come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from helpers.types import Estimate

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
