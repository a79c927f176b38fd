"""The published metrics, group by group, and what of their differences the data carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.biases.hinting.asking import CONTROL
from helpers.biases.hinting.paired import CONFIRMATORY, LEVEL, hints_in
from helpers.biases.top_choice import defended, rates, spread
from helpers.stats.bootstrap import bca
from helpers.stats.intervals import cluster_sums, no_interval
from helpers.types import Estimate

SPREADS = ("deviation_from_expected", "balance", "consistency_judges", "consistency_vendors")
METRICS = ("average_self_bias", *SPREADS)
#: Bounds at a level for many comparisons lie far out: enough resamples to find them.
RESAMPLES = 10_000


def in_group(estimates: Sequence[Estimate], hint: str) -> list[Estimate]:
    """The estimates with the group that they belong to in `where`."""
    return [replace(each, where={**each.where, "hint": hint}) for each in estimates]


def group_metrics(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every published metric of each group by its own judgments; `where` holds the hint ("none": blind).

    A group without a valid ranking has only its unreadable share.
    """
    found = []
    for hint in (CONTROL, *hints_in(frame)):
        part = frame[frame["condition"] == hint]
        if part.empty:
            continue
        found += in_group(rates.unreadable_share(part, data), hint)
        if not (part["top"] == 1.0).any():
            continue
        kept = ("category_self_bias", "category_average_self_bias")
        by_category = [each for each in rates.categories(part, data) if each.id in kept]
        metrics = [
            *rates.top1_rate(part, data),
            *rates.vendor_share(part, data),
            *rates.self_bias(part, data),
            *spread.spread(part, data, seed),
            *by_category,
            *defended.excess_self_preference(part, data),
        ]
        found += in_group(metrics, hint)
    return found


def spread_change(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How much each hint changes each metric of spread against blind, in pp, questions paired (`where`: hint, metric).

    BCa over questions at a level that holds for the confirmatory hints and all metrics together (Bonferroni); other
    hints have bounds of the same level and are no part of that family. The change of a single rate's spread is not
    defined (NaN).
    """
    family = len(CONFIRMATORY) * len(SPREADS)
    level = 1 - LEVEL / family
    found = []
    for hint in hints_in(frame):
        both = frame[frame["condition"].isin([hint, CONTROL])]
        for number, metric in enumerate(SPREADS):
            sums = sums_by_group(both, (hint, CONTROL), metric)
            if sums is None:
                continue
            x, d, columns = (*(each.reshape(len(each), -1) for each in sums[:2]), sums[2])
            # Balance sets the same judgments against every vendor: they are still so many.
            n = round(d.sum() / (len(columns) if metric == "balance" else 1))
            if len(columns) < 2 and metric != "deviation_from_expected":
                clusters = int((d > 0).any(axis=1).sum())
                interval = no_interval(math.nan, n, clusters, "one rate alone has no spread")
            else:
                interval = bca(x, d, _difference(both, metric, columns), seed + number, RESAMPLES, level)
                interval = replace(interval, n=n, method=f"{interval.method}, {level:.1%} ({family} together)")
            found.append(rates.estimate("spread_change", {"hint": hint, "metric": metric}, interval, data, "pp"))
    return found


def sums_by_group(
    frame: pd.DataFrame, hints: Sequence[str], metric: str
) -> tuple[np.ndarray, np.ndarray, tuple[object, ...]] | None:
    """Sums per question of each group, (questions, groups, columns) twice: first places and judgments; whose columns.

    Columns are vendors, those of candidates for balance, else those of judges; of consistency_judges they are judges.
    None where a vendor or judge that was asked has no valid judgment in one of the groups, or no vendor is known.
    """
    votes, candidates = rates.votes_of(frame), rates.vendors(frame)
    if metric == "balance":
        values = {vendor: (votes["candidate_vendor"] == vendor).astype(float) for vendor in candidates}
    else:
        by = "judge" if metric == "consistency_judges" else "judge_vendor"
        judges = frame.loc[frame["judge_vendor"].isin(candidates), by].unique()
        values = {name: votes["own"].where(votes[by] == name) for name in sorted(judges)}
    x, d = [], []
    for value in values.values():
        sums = cluster_sums(votes.assign(value=value), "value", "question_id", "condition")
        if not {*hints} <= {*sums.columns}:
            return None
        places = [sums.columns.index(hint) for hint in hints]
        x.append(sums.numerators[:, places])
        d.append(sums.denominators[:, places])
    if not x or not all((each.sum(axis=0) > 0).all() for each in d):
        return None
    return np.stack(x, axis=-1), np.stack(d, axis=-1), tuple(values)


def statistic_of(metric: str, expected: Sequence[float]) -> Callable[[np.ndarray], np.ndarray]:
    """A metric as a function of rates (..., columns); `expected`: the share of each column if nothing were uneven."""
    if metric == "average_self_bias":
        return lambda values: values.mean(axis=-1)
    return spread.mean_absolute_deviation(expected) if metric == "deviation_from_expected" else spread.population_sd


def expected_of(frame: pd.DataFrame, metric: str, columns: Sequence[object]) -> list[float]:
    """The expected shares of these columns, of the one metric that needs them."""
    shares = rates.expected_shares(frame)
    return [shares[str(vendor)] for vendor in columns] if metric == "deviation_from_expected" else []


def _difference(both: pd.DataFrame, metric: str, columns: Sequence[object]) -> Callable[[np.ndarray], np.ndarray]:
    statistic = statistic_of(metric, expected_of(both, metric, columns))

    def difference(values: np.ndarray) -> np.ndarray:
        half = values.shape[-1] // 2
        return statistic(values[..., :half]) - statistic(values[..., half:])

    return difference
