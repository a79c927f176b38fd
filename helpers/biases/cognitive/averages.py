"""Means over pairs that take the scenario as the unit: of one judge, and the mean over judges, which is of these alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from helpers.stats.intervals import MIN_CLUSTERS, NAN, Interval, clustered, no_interval
from helpers.stats.tests import sign_flip

LEVEL = 0.05
#: What is said of a p that only says that no drawn pattern reached the sum.
FLOOR = "at its floor"


@dataclass(frozen=True)
class Cell:
    """What one number is a mean of: sums per scenario, (C, J), a column a judge; `n` rows carry them.

    `judges` without a usable row are not in it: their names are in `without`.
    """

    where: dict[str, str]
    numerators: np.ndarray
    denominators: np.ndarray
    n: int
    without: tuple[str, ...] = ()

    @property
    def weights(self) -> np.ndarray:
        """(J,) each judge counts the same in a mean over judges."""
        judges = self.numerators.shape[1]
        return np.full(judges, 1 / max(judges, 1))


def places(rows: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Each bias and judge with its rows; a judge found in several sources is told apart by `source`."""
    several = rows.groupby("judge", observed=True)["source"].nunique()
    for (bias, judge, source), part in rows.groupby(["category", "judge", "source"], sort=True, observed=True):
        where = {"bias": str(bias), "judge": str(judge)}
        yield where | ({"source": str(source)} if several[judge] > 1 else {}), part


def cells(rows: pd.DataFrame, values: np.ndarray, weights: np.ndarray | None = None) -> Iterator[Cell]:
    """The sums of each bias: first over all its judges (where: bias), then of each (where: bias, judge).

    `values`, `weights`: (N,) beside the rows of `pairs`; NaN values count in neither sum. A bias or judge whose values
    are all NaN has a cell without columns.
    """
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    table = rows[["category", "judge", "source", "question_id"]].assign(v=np.asarray(values, dtype=float), w=weights)
    for _, whole in table.groupby("category", sort=True, observed=True):
        scenario, names = pd.factorize(whole["question_id"], sort=True)
        whole = whole.assign(scenario=scenario)
        parts, lost = [], []
        for where, part in places(whole):
            part = part[part["v"].notna()]
            x, d = (
                np.bincount(part["scenario"], weights=each, minlength=len(names))
                for each in (part["v"] * part["w"], part["w"])
            )
            parts.append((where, x, d, len(part)))
            lost += [where["judge"]] * (not d.sum() > 0)
        bias = {"bias": parts[0][0]["bias"]}
        yield _cell(bias, [part for part in parts if part[2].sum() > 0], len(names), tuple(lost))
        for part in parts:
            yield _cell(part[0], [part] * bool(part[2].sum() > 0), len(names))


def _cell(where: dict[str, str], parts: list, scenarios: int, without: tuple[str, ...] = ()) -> Cell:
    x, d = (
        np.column_stack([part[at] for part in parts]) if parts else np.zeros((scenarios, 0)) for at in (1, 2)
    )
    return Cell(where, x, d, sum(part[3] for part in parts), without)


def mean_of(cell: Cell, reason: str, null: float | None = None) -> Interval:
    """The mean over these judges of each one's mean over pairs, with its scenario-clustered t interval."""
    if not cell.numerators.shape[1]:
        return no_interval(NAN, 0, 0, reason)
    interval = clustered(cell.numerators, cell.denominators, cell.weights, null=null)
    return replace(interval, n=cell.n, method=named(interval.method, cell))


def named(method: str, cell: Cell) -> str:
    """The method, in the words of scenarios, and the judges that a mean over judges had to leave out."""
    told = method.replace("question", "scenario")
    return f"{told}; without {', '.join(cell.without)}, who gave nothing to count" if cell.without else told


def contributions(cell: Cell) -> np.ndarray:
    """(C,) what each scenario adds to the mean over judges: where control and treatment change places, its sign does."""
    totals = cell.denominators.sum(axis=0)
    return (cell.numerators / totals * cell.weights).sum(axis=1)


def tested(cell: Cell, seed: int, reason: str, level: float = LEVEL) -> Interval:
    """The mean with the p of sign flips over scenarios, judges summed before flipping.

    No p below 10 scenarios, and none where even the smallest attainable one would not be below `level`, the one that a
    correction leaves.
    """
    interval = mean_of(cell, reason, null=0.0)
    if interval.clusters < MIN_CLUSTERS:
        return replace(interval, p=NAN)
    # Enough draws that the smallest p lies well below the corrected level of a large family.
    test = sign_flip(contributions(cell), seed, max(9999, math.ceil(20 / level)))
    if test.smallest_p > level:
        why = f"no test: {test.clusters} scenarios moved, whose smallest p, {test.smallest_p:.2g}, is above {level:.2g}"
        return replace(interval, p=NAN, method=f"{interval.method}; {why}")
    floor = f" {FLOOR}" if not test.exact and test.p <= test.smallest_p else ""
    return replace(interval, p=test.p, method=f"{interval.method}; sign-flip p{floor}")
