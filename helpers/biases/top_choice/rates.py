"""What the judges put first, and how unevenly: the published metrics of experiments 1 and 2."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ... import frames
from ...stats.bootstrap import bca, bias_corrected, noise_floor
from ...stats.intervals import (
    NAN,
    Interval,
    Sums,
    cluster_sums,
    clusters_of,
    column_weights,
    contrast,
    estimate,
    no_interval,
    wilson,
)
from ...types import Estimate
from ...words import display_name
from ..protocol import estimate_means, mean_interval


def vendors(frame: pd.DataFrame) -> list[str]:
    """The vendors of the candidates, by name."""
    return sorted(frame["candidate_vendor"].dropna().unique())


def expected_shares(frame: pd.DataFrame) -> dict[str, float]:
    """Own-vendor candidates / candidates for each vendor that has a judge and a candidate: the naive unbiased rate."""
    of = frame.drop_duplicates("candidate").groupby("candidate_vendor").size()
    judged = set(frame["judge_vendor"])
    return {vendor: count / of.sum() for vendor, count in of.sort_index().items() if vendor in judged}


def above_expected(own: Estimate, share: float) -> list[Estimate]:
    """An own-vendor rate, and beside it what it exceeds the expected share by (the naive reading, in pp)."""
    moved = replace(own, value=own.value - share, low=own.low - share, high=own.high - share)
    return [own, replace(moved, id="naive_self_preference", unit="pp", p=float("nan"))]


def votes_of(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a valid judgment with `own`: 1.0 where an answer of the judge's vendor is first."""
    return frames.picks(frame).assign(own=lambda votes: votes["own_vendor"].astype(float))


def placed_first(votes: pd.DataFrame, vendor: str, by: str | None = None) -> Sums:
    """How many valid judgments put this vendor first, of how many, per question and value of `by`."""
    hit = (votes["candidate_vendor"] == vendor).astype(float)
    return cluster_sums(votes.assign(hit=hit), "hit", "question_id", by, strata="category")


def own_rates(frame: pd.DataFrame) -> Sums | None:
    """Own-vendor first places per question and judge vendor, of vendors with a candidate; None where there are none."""
    votes = votes_of(frame)
    votes = votes[votes["judge_vendor"].isin(vendors(frame))]
    return None if votes.empty else cluster_sums(votes, "own", "question_id", "judge_vendor", strata="category")


def own_mean(frame: pd.DataFrame, sums: Sums) -> Interval:
    """The mean over vendors of `own_rates`; no number where one of them lacks, for it would be another number."""
    interval = contrast(sums, column_weights(sums)["average"], null=None)
    absent = sorted({*expected_shares(frame)} - {*map(str, sums.columns)})
    return no_interval(NAN, interval.n, interval.clusters, _no_ranking(absent)) if absent else interval


def _no_ranking(names: Iterable[str]) -> str:
    return f"no valid ranking of {', '.join(map(display_name, names))} judges"


def _share(rows: pd.DataFrame, hits: pd.Series) -> Interval:
    """A share of one judge's rows: Wilson where each question has one, clustered by question where it repeats."""
    if clusters_of(rows).is_unique:
        return wilson(int(hits.sum()), len(rows))
    return mean_interval(rows, hits.astype(float), strata="category")


def unreadable_share(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The share of judgments without a readable verdict, a judge each: Wilson, clustered where a judge repeats."""
    return [
        estimate("unreadable_share", {"judge": judge}, _share(rows, rows["outcome"] != "ok"), data)
        for judge, rows in frames.one_row_each(frame).groupby("judge", sort=True)
    ]


def top1_rate(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How often each judge ranks each vendor first: Wilson, one question a row (clustered where a judge repeats)."""
    return [
        estimate("top1_rate", {"judge": judge, "vendor": name}, _share(rows, rows["candidate_vendor"] == name), data)
        for judge, rows in votes_of(frame).groupby("judge", sort=True)
        for name in vendors(frame)
    ]


def vendor_share(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The share of all judgments that rank a vendor first, one estimate a vendor."""
    shares = {vendor: contrast(placed_first(votes_of(frame), vendor), null=None) for vendor in vendors(frame)}
    return [estimate("vendor_share", {"vendor": vendor}, share, data) for vendor, share in shares.items()]


def self_bias(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How often a vendor's judges, pooled, rank their own vendor first; naive differences; the mean over vendors.

    Nothing where no judge's vendor has a candidate.
    """
    sums, shares, found = own_rates(frame), expected_shares(frame), []
    if sums is None:
        return []
    for vendor, weights in column_weights(sums, average=False).items():
        rate = estimate("self_bias", {"vendor": vendor}, contrast(sums, weights, null=None), data)
        found += above_expected(rate, shares[vendor])
    return [*found, estimate("average_self_bias", {}, own_mean(frame, sums), data)]


def categories(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """First places by category: judge vendor x vendor, own vendor, and the mean over vendors.

    Vendors whose judges were asked in a category and gave no valid ranking have an own rate without a number.
    """
    found = []
    for category, part in frame.groupby("category", sort=True):
        votes, own, place = votes_of(part), own_rates(part), {"category": str(category)}
        for vendor in vendors(frame) if len(votes) else ():
            sums = placed_first(votes, vendor, "judge_vendor")
            for judge_vendor, weights in column_weights(sums, average=False).items():
                rate = contrast(sums, weights, null=None)
                where = {"judge_vendor": judge_vendor, **place, "vendor": vendor}
                found.append(estimate("category_top1_rate", where, rate, data))
                if judge_vendor == vendor:
                    found.append(estimate("category_self_bias", {"vendor": vendor, **place}, rate, data))
        lost = no_interval(NAN, 0, 0, "no valid ranking")
        for vendor in sorted({*expected_shares(part)} - {*votes["judge_vendor"]}):
            found.append(estimate("category_self_bias", {"vendor": vendor, **place}, lost, data))
        if own is not None:
            found.append(estimate("category_average_self_bias", place, own_mean(part, own), data))
    return found


def tier_preference(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """Of a vendor's first places, the share of each of its tiers (all judges)."""
    found = []
    for vendor, rows in votes_of(frame).groupby("candidate_vendor", sort=True):
        for tier in sorted(frame.loc[frame["candidate_vendor"] == vendor, "candidate_tier"].unique()):
            share = mean_interval(rows, (rows["candidate_tier"] == tier).astype(float), strata="category")
            found.append(estimate("tier_preference", {"vendor": str(vendor), "tier": str(tier)}, share, data))
    return found


def score_means(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The mean score (0 to 10) of each candidate, by vendor and tier, all judges.

    Missing scores are left out, and so are those of judgments without a valid ranking.
    """
    rows = frame[frame["rank"].notna()].rename(columns={"candidate_vendor": "vendor", "candidate_tier": "tier"})
    by = ("vendor", "tier")
    return estimate_means("score_mean", rows, rows["score"], data, "score", by, None, strata="category")


def bias_difference(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """A judge's own-vendor rate minus the unweighted mean of all other judges' rates for that vendor, in pp."""
    votes, found = votes_of(frame), []
    others = votes["judge"].nunique() - 1
    for judge, vendor in sorted(set(zip(votes["judge"], votes["judge_vendor"], strict=True))):
        if vendor in vendors(frame) and others:
            sums = placed_first(votes, vendor, "judge")
            gap = contrast(sums, [1.0 if column == judge else -1 / others for column in sums.columns])
            found.append(estimate("bias_difference", {"judge": judge}, gap, data, "pp"))
    return found


# --- how unevenly: metrics of several rates ---------------------------------------------------------------------------

SPREADS = ("deviation_from_expected", "balance", "consistency_judges", "consistency_vendors")


def rate_sums(
    frame: pd.DataFrame, metric: str, hints: Sequence[str] = ()
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """First places and judgments per question that a metric is made of, (questions, groups, columns) twice, and names.

    Columns are vendors, those of candidates for balance, else those of judges; of consistency_judges they are judges.
    Groups are `hints`, or all judgments as one.
    """
    votes, candidates = votes_of(frame), vendors(frame)
    if metric == "balance":
        values = {vendor: (votes["candidate_vendor"] == vendor).astype(float) for vendor in candidates}
    else:
        by = "judge" if metric == "consistency_judges" else "judge_vendor"
        judges = sorted(frame.loc[frame["judge_vendor"].isin(candidates), by].unique())
        values = {str(name): votes["own"].where(votes[by] == name) for name in judges}
    groups = [votes["condition"] == hint for hint in hints] or [pd.Series(True, votes.index)]
    size = clusters_of(votes).nunique()
    x, d = np.zeros((2, size, len(groups), len(values)))
    for column, value in enumerate(values.values()):
        for group, rows in enumerate(groups):
            sums = cluster_sums(votes.assign(value=value.where(rows)), "value", "question_id")
            x[:, group, column], d[:, group, column] = sums.numerators[:, 0], sums.denominators[:, 0]
    return x, d, tuple(values)


def statistic_of(frame: pd.DataFrame, metric: str, columns: Sequence[str]) -> Callable[[np.ndarray], np.ndarray]:
    """A metric as a function of rates (..., columns): of `statistic`, with the expected shares of this frame."""
    shares = expected_shares(frame)
    return statistic(metric, [shares[name] for name in columns] if metric == "deviation_from_expected" else ())


def statistic(metric: str, expected: Sequence[float] = ()) -> Callable[[np.ndarray], np.ndarray]:
    """Rates (..., columns) to their mean, mean distance from the `expected` shares, or standard deviation (ddof 0)."""
    if metric == "average_self_bias":
        return lambda rates: rates.mean(axis=-1)
    if metric == "deviation_from_expected":
        return lambda rates: np.abs(rates - np.asarray(expected)).mean(axis=-1)
    return lambda rates: np.std(rates, axis=-1)


def spread(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Deviation from the expected shares, balance and both consistencies, each with its noise floor, as fractions.

    BCa over questions; `<id>_noise_floor` is what the metric would show on average if every rate were the expected one
    (deviation) or their mean, `<id>_corrected` the metric less its bootstrap bias. The spread of one rate is NaN.
    """
    found = []
    for number, id in enumerate(SPREADS, seed):
        x, d, columns = rate_sums(frame, id)
        judged = (d[:, 0] > 0).any(axis=1)
        x, d = x[judged, 0], d[judged, 0]
        absent = [columns[at] for at in np.flatnonzero(d.sum(axis=0) == 0)] if id != "balance" else []
        if len(absent) == len(columns):
            continue
        n = round(d[:, 0].sum() if id == "balance" else d.sum())
        why = _no_ranking(absent) if absent else ""
        if id != "deviation_from_expected" and len(columns) - len(absent) < 2:
            why = "one rate alone has no spread"
        if why:
            found.append(estimate(id, {}, no_interval(NAN, n, len(x), why), data, "sd_pp"))
            continue
        metric = statistic_of(frame, id, columns)
        found.append(estimate(id, {}, replace(bca(x, d, metric, number), n=n), data, "sd_pp"))
        with np.errstate(invalid="ignore"):
            level = np.full(len(columns), (x.sum(axis=0) / d.sum(axis=0)).mean())
        if id == "deviation_from_expected":
            level = np.array([expected_shares(frame)[name] for name in columns])
        beside = {"noise_floor": noise_floor(x, d, metric, level, number)}
        beside["corrected"] = bias_corrected(x, d, metric, number)
        given = {"n": n, "clusters": len(x), "unit": "sd_pp", "method": "resampled", "data": data}
        found += [Estimate(f"{id}_{name}", {}, value, **given) for name, value in beside.items()]
    return found
