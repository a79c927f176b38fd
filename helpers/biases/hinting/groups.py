"""The published metrics, group by group, and what of their differences the data carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers import frames
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
    votes = frames.picks(frame)
    candidates = rates.vendors(frame)
    votes = votes if metric == "balance" else votes[votes["judge_vendor"].isin(candidates)]
    votes = votes.assign(own=votes["own_vendor"].astype(float))
    by = "judge" if metric == "consistency_judges" else "judge_vendor"
    tables = [
        (votes.assign(hit=(votes["candidate_vendor"] == vendor).astype(float)), "hit", None) for vendor in candidates
    ]
    if metric != "balance":
        tables = [(votes, "own", by)]
    x, d, columns = [], [], tuple(candidates)
    for condition in hints:
        parts = []
        for table, value, column in tables:
            # Every question and column stays in all groups, so that they can be set side by side.
            inside = table.assign(value=table[value].where(table["condition"] == condition))
            parts.append(cluster_sums(inside, "value", "question_id", column))
            columns = parts[-1].columns if column else columns
        x.append(np.hstack([each.numerators for each in parts]))
        d.append(np.hstack([each.denominators for each in parts]))
    if metric == "balance" and not candidates:
        return None
    x, d = np.stack(x, axis=1), np.stack(d, axis=1)
    asked = frame["judge_vendor"].isin(candidates)
    whole = metric == "balance" or len(columns) == frame.loc[asked, by].nunique()
    return (x, d, columns) if whole and (d.sum(axis=0) > 0).all() else None


def statistic_of(metric: str, frame: pd.DataFrame, columns: Sequence[object]) -> Callable[[np.ndarray], np.ndarray]:
    """A metric as a function of the rates (..., columns) of `sums_by_group`."""
    if metric == "average_self_bias":
        return lambda values: values.mean(axis=-1)
    if metric == "deviation_from_expected":
        # A vendor whose judges have no valid judgment has a share, but no column.
        shares = rates.expected_shares(frame)
        return spread.mean_absolute_deviation([shares[str(vendor)] for vendor in columns])
    return spread.population_sd


def _difference(both: pd.DataFrame, metric: str, columns: Sequence[object]) -> Callable[[np.ndarray], np.ndarray]:
    statistic = statistic_of(metric, both, columns)

    def difference(values: np.ndarray) -> np.ndarray:
        half = values.shape[-1] // 2
        return statistic(values[..., :half]) - statistic(values[..., half:])

    return difference
