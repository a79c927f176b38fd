"""How unevenly first places fall: the published metrics of spread, with what noise alone would make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.biases.top_choice.rates import estimate, expected_shares, lacking, own_by, vendors, votes_of
from helpers.stats.bootstrap import bca, bias_corrected, noise_floor
from helpers.stats.intervals import NAN, cluster_sums, no_interval
from helpers.types import Estimate


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
