"""Numbers of rankings and of scores that need no vendors, and own-vendor scores against other judges'."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from helpers.analyze.every import by, by_candidate
from helpers.stats.agreement import krippendorff_alpha
from helpers.stats.estimates import estimate
from helpers.stats.intervals import cluster_sums, clustered
from helpers.stats.numbering import clusters_of
from helpers.types import Estimate

#: Of more different scores the coincidences of each with each are no table any more.
MOST_SCORES = 25


def candidate_top1_rate(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How often each candidate is ranked first (`where`: candidate, and judge where there are several)."""
    return by_candidate("candidate_top1_rate", frame, frame["top"].to_numpy(dtype=float), data)


def score_numbers(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every number of scores: means, own-vendor excess, error against gold, agreement."""
    values = frame["score"].to_numpy(dtype=float)
    found = by_candidate("candidate_score_mean", frame, values, data, "score")
    error = values - frame["gold"].to_numpy(dtype=float)
    found += by("score_error", frame, error, ["judge"], data, "score")
    return [*found, *own_vendor_score_excess(frame, data), *agreement_scores(frame, data, seed)]


def own_vendor_score_excess(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How much higher a vendor's judges score its answers than others do, less what they do to all others (vendor).

    Answers that both groups scored. Nothing where one of the four groups is empty.
    """
    rows = frame[frame["score"].notna()]
    judge, made = rows["judge_vendor"].astype(object), rows["candidate_vendor"].astype(object)
    known = (judge != "").to_numpy() & made.notna().to_numpy()
    rows, judge, made = rows[known], judge[known], made[known]
    found = []
    for vendor in sorted(set(map(str, judge.unique())) & set(map(str, made.unique()))):
        part = rows[["question_id", "candidate", "score"]].assign(
            cluster=clusters_of(rows), mine=(judge == vendor).to_numpy(), own=(made == vendor).to_numpy()
        )
        group = part.groupby(["question_id", "candidate"], observed=True)["mine"]
        part = part[(group.transform("max").astype(int) - group.transform("min").astype(int)) == 1]
        sums = cluster_sums(part, "score", "question_id", ["mine", "own"])
        if len(sums.columns) < 4:
            continue
        weights = [1.0 if mine == own else -1.0 for mine, own in sums.columns]
        interval = clustered(sums.numerators, sums.denominators, weights)
        found.append(estimate("own_vendor_score_excess", {"vendor": vendor}, interval, data, "score"))
    return found


def agreement_scores(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How far judges agree on the scores of the same answers; nothing for one judge, or for too many scores."""
    rows = frame[(frame["repeat"] == 0) & frame["score"].notna()]
    judges = rows["judge"].nunique()
    if judges < 2 or rows["score"].nunique() > MOST_SCORES:
        return []
    units = rows.groupby(["question_id", "candidate"], observed=True).ngroup().to_numpy()
    codes, _ = pd.factorize(rows["judge"])
    table = np.full((units.max() + 1, judges), math.nan)
    table[units, codes] = rows["score"].to_numpy()
    questions = np.zeros(len(table), dtype=int)
    questions[units] = pd.factorize(clusters_of(rows))[0]
    several = (~np.isnan(table)).sum(axis=1) > 1
    if not several.any():
        return []
    alpha = krippendorff_alpha(table[several], "ordinal", seed, questions[several])
    return [estimate("agreement_scores", {}, alpha, data, "alpha")]
