"""What the judges put first, and how unevenly: the published metrics of experiments 1 and 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    clustered,
    clusters_of,
    estimate,
    no_interval,
    wilson,
)
from ...types import Estimate
from ...words import display_name
from ..protocol import mean_interval


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


def own_by(frame: pd.DataFrame, by: str) -> Sums | None:
    """Own-vendor first places per question, for judges whose vendor has a candidate; None where there are none."""
    votes = votes_of(frame)
    votes = votes[votes["judge_vendor"].isin(vendors(frame))]
    return None if votes.empty else cluster_sums(votes, "own", "question_id", by, strata="category")


def lacking(frame: pd.DataFrame, sums: Sums | None, by: str = "judge_vendor") -> str:
    """Which vendors (or judges) with a candidate gave no valid ranking, as a reason; "" where all gave one.

    A mean or a spread without one of them would be another number than with it.
    """
    asked = frame.loc[frame["judge_vendor"].isin(vendors(frame)), by].unique()
    absent = sorted(set(map(str, asked)) - {str(column) for column in (sums.columns if sums else ())})
    return f"no valid ranking of {', '.join(map(display_name, absent))} judges" if absent else ""


def _share(rows: pd.DataFrame, hits: pd.Series) -> Interval:
    """A share of one judge's rows: Wilson where each question has one, clustered by question where it repeats."""
    if clusters_of(rows).is_unique:
        return wilson(int(hits.sum()), len(rows))
    return mean_interval(rows, hits.astype(float), strata="category")


def unreadable_share(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The share of judgments without a readable verdict, a judge each: Wilson, clustered where a judge repeats."""
    judgments = frames.one_row_each(frame)
    return [
        estimate("unreadable_share", {"judge": judge}, _share(group, group["outcome"] != "ok"), data)
        for judge, group in judgments.groupby("judge", sort=True)
    ]


def top1_rate(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How often each judge ranks each vendor first: Wilson, one question a row (clustered where a judge repeats)."""
    votes = votes_of(frame)
    found = []
    for judge, group in votes.groupby("judge", sort=True):
        for vendor in vendors(frame):
            interval = _share(group, group["candidate_vendor"] == vendor)
            found.append(estimate("top1_rate", {"judge": judge, "vendor": vendor}, interval, data))
    return found


def vendor_share(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The share of all judgments that rank a vendor first, one estimate a vendor."""
    votes = votes_of(frame)
    found = []
    for vendor in vendors(frame):
        interval = mean_interval(votes, (votes["candidate_vendor"] == vendor).astype(float), strata="category")
        found.append(estimate("vendor_share", {"vendor": vendor}, interval, data))
    return found


def self_bias(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How often a vendor's judges, pooled, rank their own vendor first; naive differences; the mean over vendors.

    Nothing where no judge's vendor has a candidate.
    """
    sums, shares = own_by(frame, "judge_vendor"), expected_shares(frame)
    if sums is None:
        return []
    found = []
    for index, vendor in enumerate(sums.columns):
        weights = np.eye(len(sums.columns))[index]
        interval = clustered(sums.numerators, sums.denominators, weights, sums.strata, null=None)
        found += above_expected(estimate("self_bias", {"vendor": str(vendor)}, interval, data), shares[vendor])
    mean = np.full(len(sums.columns), 1 / len(sums.columns))
    interval = clustered(sums.numerators, sums.denominators, mean, sums.strata, null=None)
    if why := lacking(frame, sums):
        interval = no_interval(np.nan, interval.n, interval.clusters, why)
    return [*found, estimate("average_self_bias", {}, interval, data)]


def categories(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """First places by category: judge vendor x vendor, own vendor, and the mean over vendors."""
    found = []
    candidates = vendors(frame)
    for category, part in frame.groupby("category", sort=True):
        votes = votes_of(part)
        if votes.empty:
            found += _unreadable_category(part, votes, str(category), data)
            continue
        for vendor in candidates:
            hit = votes.assign(hit=(votes["candidate_vendor"] == vendor).astype(float))
            sums = cluster_sums(hit, "hit", "question_id", "judge_vendor")
            for index, judge_vendor in enumerate(sums.columns):
                interval = clustered(sums.numerators[:, [index]], sums.denominators[:, [index]], null=None)
                where = {"judge_vendor": str(judge_vendor), "category": str(category), "vendor": vendor}
                found.append(estimate("category_top1_rate", where, interval, data))
                if judge_vendor == vendor:
                    own = {"vendor": vendor, "category": str(category)}
                    found.append(estimate("category_self_bias", own, interval, data))
        found += _unreadable_category(part, votes, str(category), data)
        sums = own_by(part, "judge_vendor")
        if sums is not None:
            weights = np.full(len(sums.columns), 1 / len(sums.columns))
            interval = clustered(sums.numerators, sums.denominators, weights, null=None)
            if why := lacking(part, sums):
                interval = no_interval(np.nan, interval.n, interval.clusters, why)
            found.append(estimate("category_average_self_bias", {"category": str(category)}, interval, data))
    return found


def _unreadable_category(part: pd.DataFrame, votes: pd.DataFrame, category: str, data: str) -> list[Estimate]:
    """Own rates without a number: judges who were asked in this category and gave no valid ranking."""
    lost = no_interval(np.nan, 0, 0, "no valid ranking")
    return [
        estimate("category_self_bias", {"vendor": vendor, "category": category}, lost, data)
        for vendor in expected_shares(part)
        if vendor not in set(votes["judge_vendor"])
    ]


def tier_preference(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """Of a vendor's first places, the share of each of its tiers (all judges)."""
    votes = votes_of(frame)
    found = []
    for vendor, group in votes.groupby("candidate_vendor", sort=True):
        for tier in sorted(frame.loc[frame["candidate_vendor"] == vendor, "candidate_tier"].unique()):
            interval = mean_interval(group, (group["candidate_tier"] == tier).astype(float), strata="category")
            found.append(estimate("tier_preference", {"vendor": str(vendor), "tier": str(tier)}, interval, data))
    return found


def score_means(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The mean score (0 to 10) of each candidate, by vendor and tier, all judges.

    Missing scores are left out, and so are those of judgments without a valid ranking.
    """
    found = []
    valid = frame[frame["rank"].notna()]
    for (vendor, tier), group in valid.groupby(["candidate_vendor", "candidate_tier"], sort=True):
        interval = mean_interval(group, group["score"], strata="category")
        found.append(estimate("score_mean", {"vendor": str(vendor), "tier": str(tier)}, interval, data, "score"))
    return found


def bias_difference(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """A judge's own-vendor rate minus the unweighted mean of all other judges' rates for that vendor, in pp."""
    votes = votes_of(frame)
    found = []
    for judge, vendor in sorted(set(zip(votes["judge"], votes["judge_vendor"], strict=True))):
        if vendor not in vendors(frame) or votes["judge"].nunique() < 2:
            continue
        hit = votes.assign(hit=(votes["candidate_vendor"] == vendor).astype(float))
        sums = cluster_sums(hit, "hit", "question_id", "judge", strata="category")
        others = len(sums.columns) - 1
        weights = [1.0 if column == judge else -1 / others for column in sums.columns]
        interval = clustered(sums.numerators, sums.denominators, weights, sums.strata)
        found.append(estimate("bias_difference", {"judge": judge}, interval, data, "pp"))
    return found


def mean_absolute_deviation(expected: Sequence[float]) -> Callable[[np.ndarray], np.ndarray]:
    """The mean of |rate - expected share| over vendors, as a function of rates (..., vendors)."""
    center = np.asarray(expected)
    return lambda rates: np.abs(rates - center).mean(axis=-1)


def population_sd(rates: np.ndarray) -> np.ndarray:
    """The standard deviation over the last axis with ddof = 0, as in the published metrics."""
    return np.std(rates, axis=-1)


def spread(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Deviation from the expected shares, balance and both consistencies, each with its noise floor.

    Units: pp (as fractions). BCa over questions; `<id>_noise_floor` is what the metric would show on average if every
    rate were the expected one (deviation) or their common mean (the standard deviations), `<id>_corrected` the metric
    less its bootstrap bias. Where no judge's vendor has a candidate there is only balance; the spread of a single rate
    is not defined (NaN).
    """
    expected = expected_shares(frame)
    vendor_sums, judge_sums = own_by(frame, "judge_vendor"), own_by(frame, "judge")
    votes = votes_of(frame)
    shares = [
        cluster_sums(votes.assign(hit=(votes["candidate_vendor"] == vendor).astype(float)), "hit", "question_id")
        for vendor in vendors(frame)
    ]
    overall = (np.hstack([s.numerators for s in shares]), np.hstack([s.denominators for s in shares]))
    own, judges = ((s.numerators, s.denominators) if s else None for s in (vendor_sums, judge_sums))
    share = np.array([expected[vendor] for vendor in vendor_sums.columns]) if vendor_sums else None
    metrics = {
        "deviation_from_expected": (own, mean_absolute_deviation, share),
        "balance": (overall, population_sd, None),
        "consistency_judges": (judges, population_sd, None),
        "consistency_vendors": (own, population_sd, None),
    }
    found = []
    for number, (id, (sums, statistic, center)) in enumerate(metrics.items()):
        if sums is None:
            continue
        x, d = sums
        n, clusters = round(d[:, 0].sum() if id == "balance" else d.sum()), len(x)
        if center is None and x.shape[1] < 2:
            alone = no_interval(NAN, n, clusters, "one rate alone has no spread")
            found.append(estimate(id, {}, alone, data, "sd_pp"))
            continue
        by = {"balance": None, "consistency_judges": "judge"}.get(id, "judge_vendor")
        why = lacking(frame, {"judge": judge_sums, "judge_vendor": vendor_sums}[by], by) if by else ""
        if why:
            found.append(estimate(id, {}, no_interval(NAN, n, clusters, why), data, "sd_pp"))
            continue
        statistic = statistic if center is None else statistic(center)
        found.append(estimate(id, {}, replace(bca(x, d, statistic, seed + number), n=n), data, "sd_pp"))
        with np.errstate(invalid="ignore", divide="ignore"):
            level = np.full(x.shape[1], (x.sum(axis=0) / d.sum(axis=0)).mean()) if center is None else center
        beside = {
            "noise_floor": noise_floor(x, d, statistic, level, seed + number),
            "corrected": bias_corrected(x, d, statistic, seed + number),
        }
        found += [
            Estimate(f"{id}_{name}", {}, value, n=n, clusters=clusters, unit="sd_pp", method="resampled", data=data)
            for name, value in beside.items()
        ]
    return found
