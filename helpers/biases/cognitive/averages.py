"""Means over pairs that take the scenario as the unit: of one judge, and over judges, which are these alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import pandas as pd

from helpers.stats.intervals import MIN_CLUSTERS, NAN, Interval, clustered, no_interval
from helpers.stats.numbering import clusters_of
from helpers.stats.tests import with_sign_flip

LEVEL = 0.05


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
    v = np.asarray(values, dtype=float)
    w = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    known = np.isfinite(v)
    place, scenario, wheres, starts = _numbered(rows)
    size = starts[-1]
    x, d, n = (
        np.bincount(starts[place][known] + scenario[known], weights=each[known], minlength=size)
        for each in (v * w, w, np.ones(len(v)))
    )
    parts = [
        (where, *(each[one:two] for each in (x, d, n)))
        for where, one, two in zip(wheres, starts[:-1], starts[1:], strict=True)
    ]
    for bias, group in groupby(parts, key=lambda part: part[0]["bias"]):
        each = list(group)
        usable = [part for part in each if part[2].sum() > 0]
        lost = tuple(part[0]["judge"] for part in each if not part[2].sum() > 0)
        yield _cell({"bias": bias}, usable, lost)
        for part in each:
            yield _cell(part[0], [part] if part[2].sum() > 0 else [], ())


def _numbered(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, list[dict[str, str]], np.ndarray]:
    """Of each row its place and the number of its scenario within the bias; of each place what it is and its start.

    Sums of all places lie behind each other, those of a place in order of the bias's scenarios.
    """
    if not len(rows):
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int), [], np.array([0])
    coded = {name: pd.factorize(rows[name], sort=True) for name in ("category", "judge", "source")}
    coded["scenario"] = pd.factorize(clusters_of(rows), sort=True)
    place, labels = _combined([coded[name] for name in ("category", "judge", "source")])
    sources: dict[object, set] = {}
    for _, judge, source in labels:
        sources.setdefault(judge, set()).add(source)
    wheres = [
        {"bias": str(bias), "judge": str(judge)} | ({"source": str(source)} if len(sources[judge]) > 1 else {})
        for bias, judge, source in labels
    ]
    whole, names = _combined([coded[name] for name in ("category", "scenario")])
    biases = [name[0] for name in names]
    first = {bias: biases.index(bias) for bias in dict.fromkeys(biases)}
    scenario = whole - np.array([first[bias] for bias in biases], dtype=int)[whole]
    sizes = Counter(biases)
    return place, scenario, wheres, np.cumsum([0, *(sizes[label[0]] for label in labels)])


def _combined(coded: list[tuple[np.ndarray, pd.Index]]) -> tuple[np.ndarray, list[tuple]]:
    """The number of each row's combination of these columns, and the combinations, sorted."""
    dims = [len(labels) for _, labels in coded]
    found, number = np.unique(np.ravel_multi_index([codes for codes, _ in coded], dims), return_inverse=True)
    at = np.unravel_index(found, dims)
    return number, list(zip(*(np.asarray(labels)[i] for (_, labels), i in zip(coded, at, strict=True)), strict=True))


def _cell(where: dict[str, str], parts: list, without: tuple[str, ...]) -> Cell:
    x, d = (np.column_stack([part[at] for part in parts]) if parts else np.zeros((0, 0)) for at in (1, 2))
    return Cell(where, x, d, int(sum(part[3].sum() for part in parts)), without)


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
    """(C,) what each scenario adds to the mean over judges; exchanging control and treatment turns its sign."""
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
    return with_sign_flip(interval, contributions(cell), seed, level, "scenarios moved")
