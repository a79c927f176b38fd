"""Numbers that only a file of verdicts has: of pairs, of rankings and of scores, one verdict at a time."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from helpers.analyze import own_vendor
from helpers.analyze.every import by, by_candidate
from helpers.analyze.own_vendor import SAME
from helpers.biases.position.pairs import SIGNS
from helpers.stats.agreement import krippendorff_alpha
from helpers.stats.estimates import estimate
from helpers.stats.intervals import Interval, clustered
from helpers.stats.numbering import clusters_of
from helpers.types import Estimate

#: A table of judges by pairs with more cells takes more memory than it is worth.
MOST_TABLE = 20_000_000


def real(frame: pd.DataFrame) -> pd.DataFrame:
    """The verdicts on different answers: not those on one text twice, nor on a grossly bad one."""
    return frame[~frame["condition"].isin(["identical", "quality_gap"])].reset_index(drop=True)


def pair_numbers(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every number of this module from a games frame with `ordered`, `won` and vendors of both sides."""
    rows = real(frame)
    return [
        *first_place_share(rows, data),
        *candidate_win_rate(rows, data),
        *longer_win_rate(rows, data),
        *scored_pairs(rows, data),
        *own_vendor.of_pairs(rows, data),
        *agreement_winners(rows, data, seed),
    ]


def first_place_share(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """How often the first place wins, a judge each; verdicts whose order is known, ties left out."""
    sign = rows["verdict"].map(SIGNS).astype(float).to_numpy()
    values = np.where(rows["ordered"].to_numpy(dtype=bool) & (sign != 0), (sign + 1) / 2, np.nan)
    return list(by("first_place_share", rows, values, ["judge"], data))


def candidate_win_rate(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """How often each candidate wins, baselines too (`where`: candidate, and judge where there are several)."""
    won = rows["won"].to_numpy(dtype=float)
    rows = rows[["judge", "candidate", "baseline"]].assign(cluster=clusters_of(rows))
    both = [rows.assign(candidate=rows[side].astype(object), won=share)
            for side, share in (("candidate", won), ("baseline", 1 - won))]  # fmt: skip
    long = pd.concat(both, ignore_index=True).astype({"candidate": "category"})
    return by_candidate("candidate_win_rate", long, long["won"].to_numpy(), data)


def longer_win_rate(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """How often the longer answer wins, a judge each; nothing where lengths are not told."""
    if "length_candidate" not in rows:
        return []
    gap = np.sign((rows["length_candidate"] - rows["length_baseline"]).to_numpy(dtype=float))
    lean = np.sign(2 * rows["won"].to_numpy(dtype=float) - 1)
    product = gap * lean
    return list(by("longer_win_rate", rows, np.where(product == 0, np.nan, (product + 1) / 2), ["judge"], data))


def scored_pairs(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """Of pairs with two scores: mean scores, and how much higher the first place is scored, both orders together."""
    if "gap" not in rows:
        return []
    both = [rows[["judge"]].assign(candidate=rows[side].astype(object), score=rows[f"score_{side}"],
                                   cluster=clusters_of(rows)) for side in ("candidate", "baseline")]  # fmt: skip
    long = pd.concat(both, ignore_index=True).astype({"candidate": "category"})
    found = by_candidate("candidate_score_mean", long, long["score"].to_numpy(dtype=float), data, "score")
    pair = rows.groupby([*(name for name in SAME if name != "first"), "judge", "repeat"], observed=True)
    # Quality cancels where the same pair was scored in both orders.
    complete = (pair["gap"].transform("count") == 2) & (pair["first"].transform("nunique") == 2)
    gaps = rows["gap"].where(complete).to_numpy(dtype=float)
    return [*found, *by("first_place_score_effect", rows, gaps, ["judge"], data, "score")]


def agreement_winners(rows: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How far judges agree on winners, alpha and raw: their first verdicts on the same pair in the same order."""
    first = rows[(rows["repeat"] == 0) & rows["won"].notna()]
    judges = first["judge"].nunique()
    units = first.groupby(SAME, observed=True).ngroup().to_numpy()
    if judges < 2 or (len(units) and (units.max() + 1) * judges > MOST_TABLE):
        return []
    codes, _ = pd.factorize(first["judge"])
    table = np.full((units.max() + 1, judges), math.nan)
    table[units, codes] = np.sign(2 * first["won"].to_numpy() - 1)
    questions = np.zeros(len(table), dtype=int)
    questions[units] = pd.factorize(clusters_of(first))[0]
    several = (~np.isnan(table)).sum(axis=1) > 1
    if not several.any():
        return []
    table, questions = table[several], questions[several]
    alpha = krippendorff_alpha(table, "nominal", seed, questions)
    return [
        estimate("agreement_winners", {}, alpha, data, "alpha"),
        estimate("raw_agreement_winners", {}, _raw(table, questions), data),
    ]


def _raw(table: np.ndarray, questions: np.ndarray) -> Interval:
    """The share of pairs of judges that agree, clustered by question."""
    given = (~np.isnan(table)).sum(axis=1)
    same = sum(((table == value).sum(axis=1) * ((table == value).sum(axis=1) - 1) / 2) for value in (-1, 0, 1))
    pairs = given * (given - 1) / 2
    return clustered(np.bincount(questions, weights=same), np.bincount(questions, weights=pairs), null=None)


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
