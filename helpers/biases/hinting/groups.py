"""The published metrics, group by group, and what of their differences the data carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers import frames
from helpers.biases.hinting.asking import CONTROL
from helpers.biases.hinting.concluding import effect_of, shown
from helpers.biases.hinting.paired import CONFIRMATORY, LEVEL, hints_in
from helpers.biases.top_choice import defended, rates, spread
from helpers.stats.bootstrap import bca
from helpers.stats.intervals import cluster_sums, no_interval
from helpers.types import Estimate

SPREADS = ("deviation_from_expected", "balance", "consistency_judges", "consistency_vendors")
METRICS = ("average_self_bias", *SPREADS)
#: What each goal of the source's recommendations asks for: lower is taken as better.
GOALS = {
    "mitigate self-preference": ("average_self_bias",),
    "balance first places": ("deviation_from_expected", "balance", "consistency_judges"),
}
#: Bounds at a level for many comparisons lie far out: enough resamples to find them.
RESAMPLES = 10_000
NO_GROUP = "no group"
#: Two numbers from the same counts can differ by rounding of the last digit.
SAME = 1e-9


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
            arms = _arms(both, hint, metric)
            if arms is None:
                continue
            x, d, columns = arms
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


def _arms(both: pd.DataFrame, hint: str, metric: str) -> tuple[np.ndarray, np.ndarray, tuple[object, ...]] | None:
    """Sums per question, the columns of the hinted group, then those of the blind one; and whose columns they are.

    None where a vendor or judge that was asked has no valid judgment in one of the groups, or no vendor is known.
    """
    votes = frames.picks(both)
    candidates = rates.vendors(both)
    votes = votes if metric == "balance" else votes[votes["judge_vendor"].isin(candidates)]
    votes = votes.assign(own=votes["own_vendor"].astype(float))
    by = "judge" if metric == "consistency_judges" else "judge_vendor"
    tables = [
        (votes.assign(hit=(votes["candidate_vendor"] == vendor).astype(float)), "hit", None) for vendor in candidates
    ]
    if metric != "balance":
        tables = [(votes, "own", by)]
    x, d, columns = [], [], tuple(candidates)
    for condition in (hint, CONTROL):
        for table, value, column in tables:
            # Every question and column stays in both arms, so that they can be set side by side.
            inside = table.assign(value=table[value].where(table["condition"] == condition))
            sums = cluster_sums(inside, "value", "question_id", column)
            x.append(sums.numerators)
            d.append(sums.denominators)
            columns = sums.columns if column else columns
    if not x:
        return None
    x, d = np.hstack(x), np.hstack(d)
    asked = both["judge_vendor"].isin(candidates)
    whole = metric == "balance" or len(columns) == both.loc[asked, by].nunique()
    return (x, d, columns) if whole and (d.sum(axis=0) > 0).all() else None


def _difference(both: pd.DataFrame, metric: str, columns: Sequence[object]) -> Callable[[np.ndarray], np.ndarray]:
    statistic = spread.population_sd
    if metric == "deviation_from_expected":
        # A vendor whose judges have no valid judgment has a share, but no column.
        shares = rates.expected_shares(both)
        statistic = spread.mean_absolute_deviation([shares[str(vendor)] for vendor in columns])

    def difference(values: np.ndarray) -> np.ndarray:
        half = values.shape[-1] // 2
        return statistic(values[..., :half]) - statistic(values[..., half:])

    return difference


def lowest(values: dict[str, float]) -> list[str]:
    """All groups that share the lowest value, in their order: a best group with a twin is no best group.

    >>> lowest({"self": 0.3, "full": 0.3, "none": 0.4})
    ['self', 'full']
    """
    known = {group: value for group, value in values.items() if not math.isnan(value)}
    return [group for group, value in known.items() if value <= min(known.values()) + SAME]


def values_of(estimates: Sequence[Estimate], id: str, **where: str) -> dict[str, float]:
    """The value of one metric in each group, by hint."""
    return {
        each.where["hint"]: each.value
        for each in estimates
        if each.id == id and {key: value for key, value in each.where.items() if key != "hint"} == where
    }


def best_groups(estimates: Sequence[Estimate]) -> pd.DataFrame:
    """Per category the average own-vendor first-place rate of each group in %, and every group with the lowest.

    Columns: category, one a group, lowest. The minimum of noisy numbers: which group is lowest says little.
    """
    names = dict.fromkeys(each.where["category"] for each in estimates if each.id == "category_average_self_bias")
    rows = []
    for category in names:
        values = values_of(estimates, "category_average_self_bias", category=category)
        shown = {hint: f"{100 * value:.1f}" for hint, value in values.items()}
        rows.append({"category": category, **shown, "lowest": " = ".join(lowest(values))})
    return pd.DataFrame(rows)


def recommendations(estimates: Sequence[Estimate]) -> pd.DataFrame:
    """For each goal and metric the group with the lowest value, whether it may be recommended for that, and why not.

    Columns: goal, metric, lowest, recommended, why. Recommended is, for mitigating self-preference, the lowest group
    that tells the truth: if blind judges are shown to prefer their own, its paired change is shown to be below 0, and
    it is not shown to turn them against their own. For balance none ever is: fair judges of unequal answers are no less
    uneven than partial ones.
    """
    rows, known = [], values_of(estimates, "average_self_bias")
    for goal, metrics in GOALS.items():
        for metric in metrics:
            values = {hint: value for hint, value in values_of(estimates, metric).items() if not math.isnan(value)}
            best = lowest(values)
            told = " = ".join(best) or "not derivable"
            if best and len(values) < len(known):
                told += f" (of {', '.join(values)} alone)"
            open_to = {hint: value for hint, value in values.items() if hint in (CONTROL, *CONFIRMATORY)}
            choice = [hint for hint in lowest(open_to) if hint != CONTROL]
            why = _why_not(estimates, metric, choice)
            rows.append((goal, metric, told, NO_GROUP if why else ", ".join(choice), why))
    return pd.DataFrame(rows, columns=["goal", "metric", "lowest", "recommended", "why"])


def _why_not(estimates: Sequence[Estimate], metric: str, choice: Sequence[str]) -> str:
    """Why no truthful group can be recommended for a metric; "" where the chosen ones can."""
    if not choice:
        return "no hint that tells the truth is lower than blind"
    if metric != "average_self_bias":
        return "lower is not fairer where answers differ in quality"
    effects = [effect_of(estimates, hint) for hint in choice]
    if not any(effects):
        return "nothing pairs the groups"
    if not all(each and shown(estimates, hint) and each.value < 0 for hint, each in zip(choice, effects, strict=True)):
        return "its difference to blind is not shown"
    excess = [each for each in estimates if each.id == "excess_self_preference"]
    if not any(each.low > 0 for each in excess if each.where["hint"] == CONTROL):
        return "blind judges are not shown to prefer their own"
    if any(each.high < 0 for each in excess if each.where["hint"] in choice):
        return "it turns judges against their own"
    return ""
