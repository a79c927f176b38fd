"""Numbers of verdicts of any style: what was lost, what is right, and means by question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from helpers.stats.estimates import estimate
from helpers.stats.intervals import Interval, clustered, no_interval, wilson
from helpers.stats.numbering import clusters_of
from helpers.types import Estimate

#: More combinations of judge and candidate, say, than anybody reads: numbers of all together stand for them.
MOST_CELLS = 2000


def mean(values: np.ndarray, questions: np.ndarray, reason: str = "no readable verdict") -> Interval:
    """The mean of values that are not NaN; `questions` are codes. Wilson where each question has one 0 or 1."""
    kept = ~np.isnan(values)
    values, questions = values[kept], questions[kept]
    if not len(values):
        return no_interval(math.nan, 0, 0, reason)
    codes, at = np.unique(questions, return_inverse=True)
    if len(codes) == len(values) and np.isin(values, (0.0, 1.0)).all():
        return wilson(int(values.sum()), len(values))
    sums = np.bincount(at, weights=values)
    return clustered(sums, np.bincount(at).astype(float), null=None)


def by(
    id: str,
    frame: pd.DataFrame,
    values: np.ndarray,
    keys: Sequence[str],
    data: str,
    unit: str = "rate",
) -> Iterator[Estimate]:
    """The mean of `values` in each cell of `keys`, in order; cells without any value give nothing."""
    cluster = clusters_of(frame)
    coded = isinstance(cluster.dtype, pd.CategoricalDtype)
    codes = cluster.cat.codes.to_numpy() if coded else pd.factorize(cluster)[0]
    here = frame[list(keys)].reset_index(drop=True)
    known = ~np.isnan(values)
    for names, rows in here[known].groupby(list(keys), observed=True, sort=True).indices.items():
        at = np.flatnonzero(known)[rows]
        each = names if isinstance(names, tuple) else (names,)
        where = {key: str(name) for key, name in zip(keys, each, strict=True)}
        yield estimate(id, where, mean(values[at], codes[at]), data, unit)


def unreadable_share(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The share of verdicts without one that can be read, a judge each, and by condition where there are several."""
    lost = (frame["outcome"].astype(object) != "ok").to_numpy().astype(float)
    found = list(by("unreadable_share", frame, lost, ["judge"], data))
    if frame["condition"].nunique() > 1:
        found += by("unreadable_share", frame, lost, ["judge", "condition"], data)
    return found


def by_candidate(id: str, frame: pd.DataFrame, values: np.ndarray, data: str, unit: str = "rate") -> list[Estimate]:
    """The mean of each candidate over all judges, then judge by judge where there are several and not too many."""
    found = list(by(id, frame, values, ["candidate"], data, unit))
    cells = len(frame[["judge", "candidate"]].drop_duplicates())
    if frame["judge"].nunique() > 1 and cells <= MOST_CELLS:
        found += by(id, frame, values, ["judge", "candidate"], data, unit)
    return found
