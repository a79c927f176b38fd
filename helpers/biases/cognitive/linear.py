"""Solutions of equations, as a number and what each scenario adds to it: these can be subtracted and averaged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from helpers.stats.intervals import NAN, Interval, no_interval, t_interval


@dataclass(frozen=True)
class Solved:
    """A number with its linearised contribution of each scenario, (C,), which sum to 0; `problem` where there is none.

    All numbers that are put together list the same scenarios in the same order, a scenario without rows has 0; `used`
    tells which have rows.
    """

    value: float
    parts: np.ndarray
    used: np.ndarray
    n: int
    problem: str = ""


def unsolved(problem: str, scenarios: int, n: int = 0) -> Solved:
    """No number, and why."""
    return Solved(NAN, np.zeros(scenarios), np.zeros(scenarios, dtype=bool), n, problem)


def jackknifed(value: float, left_out: np.ndarray, used: np.ndarray, n: int) -> Solved:
    """The number less its jackknife bias, with jackknife contributions; `left_out` (C,): each without a scenario."""
    clusters = int(used.sum())
    mean = float(left_out[used].mean())
    parts = np.where(used, (clusters - 1) / clusters * (mean - left_out), 0.0)
    return Solved(clusters * value - (clusters - 1) * mean, parts, used, n)


def together(each: Sequence[Solved], weights: Sequence[float]) -> Solved:
    """The weighted sum of numbers from the same scenarios; the first problem where one of them has one."""
    problem = next((one.problem for one in each if one.problem), "")
    n = sum(one.n for one in each)
    if problem:
        return unsolved(problem, len(each[0].parts), n)
    value = float(sum(w * one.value for w, one in zip(weights, each, strict=True)))
    parts = sum(w * one.parts for w, one in zip(weights, each, strict=True))
    return Solved(value, parts, np.any([one.used for one in each], axis=0), n)


def interval(one: Solved, method: str, null: float | None = None) -> Interval:
    """The t interval with C - 1 degrees of freedom and the sandwich SE² = C/(C-1) sum of squared contributions."""
    clusters = int(one.used.sum())
    if one.problem:
        return no_interval(NAN, one.n, clusters, one.problem)
    se = math.sqrt(clusters / max(clusters - 1, 1) * float((one.parts**2).sum())) if clusters > 1 else NAN
    found = t_interval(one.value, se, clusters - 1, one.n, clusters, method, null=null)
    return replace(found, method=found.method.replace("question", "scenario"))
