"""Numbers of rankings and of scores that need no vendors."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from helpers.analyze import own_vendor
from helpers.analyze.every import by, by_candidate
from helpers.stats.agreement import krippendorff_alpha
from helpers.stats.estimates import estimate
from helpers.stats.numbering import clusters_of
from helpers.types import Estimate

#: Of more different scores the coincidences of each with each are no table any more.
MOST_SCORES = 25


def candidate_top1_rate(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How often each candidate is ranked first (`where`: candidate, and judge where there are several)."""
    return by_candidate("candidate_top1_rate", frame, frame["top"].to_numpy(dtype=float), data)


def score_numbers(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every number of scores: means, own vendor, error against gold, agreement."""
    values = frame["score"].to_numpy(dtype=float)
    found = by_candidate("candidate_score_mean", frame, values, data, "score")
    error = values - frame["gold"].to_numpy(dtype=float)
    found += by("score_error", frame, error, ["judge"], data, "score")
    found += [*own_vendor.own_vendor_score_effect(frame, data), *own_vendor.own_vendor_score_excess(frame, data)]
    return [*found, *agreement_scores(frame, data, seed)]


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
