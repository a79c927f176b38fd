"""What a hint changes, question by question: the same judge on the same answers, with and without the names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers import frames
from helpers.biases.hinting.asking import CONTROL
from helpers.biases.top_choice.rates import estimate, vendors
from helpers.stats.intervals import Interval, Sums, cluster_sums, clustered, no_interval
from helpers.stats.numbering import clusters_of
from helpers.stats.tests import with_sign_flip
from helpers.types import Estimate
from helpers.words import display_name

#: The hints whose effect on the average is the confirmatory family; what they say is true.
CONFIRMATORY = ("self", "competitors", "full")
NEEDS_REPEAT = "needs a plain repeat: repeats = 2"
LEVEL = 0.05
#: What is needed of a judgment; the rest of a wide table only costs time.
USED = (
    *("experiment", "question_id", "category", "judge", "judge_vendor", "judge_model", "condition", "repeat"),
    *("partner", "candidate", "candidate_vendor", "own_vendor", "top", "outcome"),
)


def pairs(frame: pd.DataFrame, hint: str) -> pd.DataFrame:
    """One row a hinted judgment with a valid ranking whose blind partner has one too and came from the same model.

    Columns: question_id, cluster, category, judge, judge_vendor, repeat, own and own_blind (1.0 where an answer of the
    judge's vendor is first), candidate and candidate_blind (who is first), difference (own - own_blind). The partner is
    the blind repeat that `partner` names, or the one of the same number where there is no such column. Only judges
    whose vendor has a candidate; without pairs an empty frame.
    """
    return _same_model(_partners(frame, hint))


def _same_model(both: pd.DataFrame) -> pd.DataFrame:
    """Of partners those that no two models gave, with the `difference` of what they put first."""
    same = both["judge_model"].isna() | both["judge_model_blind"].isna()
    same |= both["judge_model"].astype(object) == both["judge_model_blind"].astype(object)
    both = both[same].drop(columns=["judge_model", "judge_model_blind"])
    return both.assign(difference=both["own"] - both["own_blind"])


def _partners(frame: pd.DataFrame, hint: str, lost: bool = False) -> pd.DataFrame:
    """Hinted judgments beside their blind partners, whatever models they came from; `lost` ones with own NaN too."""
    frame = frame[[name for name in USED if name in frame]].assign(cluster=clusters_of(frame))
    votes = frames.picks(frame)
    votes = votes.assign(own=votes["own_vendor"].astype(float))
    if lost:
        every = frames.one_row_each(frame)
        votes = pd.concat([votes, every[every["outcome"] != "ok"].assign(own=math.nan)], ignore_index=True)
    votes = votes[votes["judge_vendor"].isin(vendors(frame))]
    lacking = {"partner": votes["repeat"], "judge_model": None}
    votes = votes.assign(**{name: value for name, value in lacking.items() if name not in votes})
    keys = ["question_id", "cluster", "category", "judge", "judge_vendor", "partner"]
    seen = ["own", "candidate", "judge_model"]
    blind = votes.loc[votes["condition"] == CONTROL].drop(columns="partner").rename(columns={"repeat": "partner"})
    hinted = votes.loc[votes["condition"] == hint, [*keys, "repeat", *seen]]
    return hinted.merge(blind[[*keys, *seen]], on=keys, suffixes=("", "_blind")).drop(columns="partner")


def unpaired(frame: pd.DataFrame) -> str:
    """How many hinted judgments are compared with none because their blind partner came from another model; or ""."""
    lost = sum(len(_partners(frame, hint)) - len(pairs(frame, hint)) for hint in hints_in(frame))
    if not lost:
        return ""
    return f"{lost} hinted judgments are compared with none: their blind partners came from another model."


def judging(frame: pd.DataFrame) -> list[str]:
    """The vendors that have both judges and candidates."""
    asked = set(frame["judge_vendor"].unique())
    return [vendor for vendor in vendors(frame) if vendor in asked]


def hints_in(frame: pd.DataFrame) -> list[str]:
    """The hints under which judgments were made, the published ones first."""
    found = [name for name in frame["condition"].dropna().unique() if name != CONTROL]
    order = [*CONFIRMATORY, "swapped"]
    return sorted(found, key=lambda name: (order.index(name) if name in order else len(order), name))


def _tested(sums: Sums, weights: Sequence[float], seed: int, tests: int) -> Interval:
    """The clustered t interval of a weighted difference, with the sign-flip p over questions in place of t's.

    No p where even the smallest attainable one would not pass Holm's first step in a family of so many tests.
    """
    interval = clustered(sums.numerators, sums.denominators, weights, sums.strata)
    if math.isnan(interval.low):
        return interval
    used = np.asarray(weights) != 0
    share = np.asarray(weights)[used] / sums.denominators[:, used].mean(axis=0)
    return with_sign_flip(interval, (sums.numerators[:, used] * share).sum(axis=1), seed, LEVEL / tests)


def hint_effect(frame: pd.DataFrame, data: str, seed: int, margin_pp: float) -> list[Estimate]:
    """How much more often a vendor's judges put their own vendor first under a hint than blind, in pp.

    `where`: hint, vendor ("average" = mean over all vendors that judge and have a candidate). `hint_effect_90` is the
    average with its 90 % interval and, as p, that of two one-sided tests against +-`margin_pp`. NaN where a vendor has
    no pair, and then the average too: over other vendors it would be another number.
    """
    hints = hints_in(frame)
    family = max(1, sum(hint in CONFIRMATORY for hint in hints) + ("swapped" in hints) * len(judging(frame)))
    found = []
    for number, hint in enumerate(hints):
        both = pairs(frame, hint)
        lacking = [vendor for vendor in judging(frame) if vendor not in set(both["judge_vendor"])]
        if both.empty:
            why = no_interval(math.nan, 0, 0, f"no judgment under {hint} has a blind partner")
            found.append(estimate("hint_effect", {"hint": hint, "vendor": "average"}, why, data, "pp"))
            continue
        sums = cluster_sums(both, "difference", "question_id", "judge_vendor", strata="category")
        size = len(sums.columns)
        for index, vendor in enumerate(sums.columns):
            interval = _tested(sums, np.eye(size)[index], seed + 10 * number + index, family)
            found.append(estimate("hint_effect", {"hint": hint, "vendor": str(vendor)}, interval, data, "pp"))
        mean, where = np.full(size, 1 / size), {"hint": hint, "vendor": "average"}
        if lacking:
            why = no_interval(math.nan, len(both), 0, f"no pair of {', '.join(map(display_name, lacking))} judges")
            found += [estimate("hint_effect", {"hint": hint, "vendor": vendor}, why, data, "pp") for vendor in lacking]
            found.append(estimate("hint_effect", where, why, data, "pp"))
            continue
        interval = _tested(sums, mean, seed + 10 * number + 9, family)
        found.append(estimate("hint_effect", where, interval, data, "pp"))
        found.append(estimate("hint_effect_90", where, _equivalence(sums, mean, margin_pp), data, "pp"))
    return found


def hint_bounds(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """Between what each hint's effect lies, whatever the lost verdicts of its pairs would have been, in pp.

    `hint_effect_bound` (`where`: hint, vendor, bound): "high" if all verdicts lost under the hint were for the own
    vendor and none of those lost blind (Manski 1990), "low" the reverse. No tests; `method` counts what was lost.
    """
    found = []
    for hint in hints_in(frame):
        both = _same_model(_partners(frame, hint, lost=True))
        if both.empty:
            continue
        lost = [int(both[name].isna().sum()) for name in ("own", "own_blind")]
        for bound, (hinted, blind) in {"low": (0.0, 1.0), "high": (1.0, 0.0)}.items():
            filled = both.assign(difference=both["own"].fillna(hinted) - both["own_blind"].fillna(blind))
            sums = cluster_sums(filled, "difference", "question_id", "judge_vendor", strata="category")
            size = len(sums.columns)
            for vendor, weight in zip(
                [*sums.columns, "average"], [*np.eye(size), np.full(size, 1 / size)], strict=True
            ):
                interval = clustered(sums.numerators, sums.denominators, weight, sums.strata, null=None)
                method = f"{interval.method}; lost by all: {lost[0]} under the hint, {lost[1]} blind"
                where = {"hint": hint, "vendor": str(vendor), "bound": bound}
                found.append(estimate("hint_effect_bound", where, replace(interval, method=method), data, "pp"))
    return found


def _equivalence(sums: Sums, weights: Sequence[float], margin_pp: float) -> Interval:
    """The 90 % interval; p is the larger of the two one-sided p against -margin and +margin (Schuirmann 1987)."""
    interval = clustered(sums.numerators, sums.denominators, weights, sums.strata, level=0.90)
    if math.isnan(interval.low):
        return interval
    from scipy.special import stdtr

    room = (margin_pp / 100 - abs(interval.value)) / interval.se
    p = float(stdtr(interval.df, -room))
    return replace(interval, p=p, method=f"{interval.method}, 90 %; two one-sided tests, margin {margin_pp:g} pp")


def category_hint_effect(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The average effect of each hint within each category, in pp: exploratory, and without interval below 10.

    NaN where a vendor has no pair in the category.
    """
    found, every = [], len(judging(frame))
    for hint in hints_in(frame):
        for category, part in pairs(frame, hint).groupby("category", sort=True):
            sums = cluster_sums(part, "difference", "question_id", "judge_vendor")
            mean = np.full(len(sums.columns), 1 / len(sums.columns))
            interval = clustered(sums.numerators, sums.denominators, mean)
            if len(sums.columns) < every:
                interval = no_interval(math.nan, interval.n, interval.clusters, "no pair of one of the vendors")
            where = {"hint": hint, "category": str(category)}
            found.append(estimate("category_hint_effect", where, interval, data, "pp"))
    return found
