"""The estimators that we defend: own vendor against quality and position, other judges, slots, agreement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers import frames
from helpers.biases.top_choice.rates import estimate, vendors
from helpers.stats import models
from helpers.stats.agreement import krippendorff_alpha, raw_agreement
from helpers.stats.intervals import cluster_sums, clustered, no_interval
from helpers.stats.numbering import clusters_of
from helpers.stats.tests import holm
from helpers.types import Estimate

#: Sensitivity of the primary estimator: how much of the ranking is used, and what quality may depend on.
VARIANTS: Mapping[str, Mapping[str, object]] = {
    "full ranking (primary)": {},
    "top 3": {"depth": 3},
    "top 1": {"depth": 1},
    "with length": {"covariates": ("log_length",)},
    "quality by category": {"quality": "category"},
}
PRIMARY = next(iter(VARIANTS))
#: What methods say where orders do not hold quality and place apart.
ONE_SLOT = "no effects of places: each candidate always stood in one place"
UNBALANCED = "orders not balanced: holds the candidates' quality too"
UNEVEN = 0.15


def excess_self_preference(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """Own judges minus other vendors' judges on the same answers, in pp, a vendor each."""
    votes = frames.picks(frame)
    found = []
    for vendor in vendors(frame):
        hit = votes.assign(
            hit=(votes["candidate_vendor"] == vendor).astype(float), mine=votes["judge_vendor"] == vendor
        )
        if hit["mine"].nunique() < 2:
            continue
        sums = cluster_sums(hit, "hit", "question_id", "mine", strata="category")
        weights = [1.0 if mine else -1.0 for mine in sums.columns]
        interval = clustered(sums.numerators, sums.denominators, weights, sums.strata)
        found.append(estimate("excess_self_preference", {"vendor": vendor}, interval, data, "pp"))
    return found


def third_party_log_odds(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The log-odds companion, by question jackknife; three vendors that all have judges, else nothing."""
    names = vendors(frame)
    votes = frames.picks(frame)
    if len(names) != 3 or set(names) - set(votes["judge_vendor"]):
        return []
    votes = votes[votes["judge_vendor"].isin(names)]
    questions, _ = pd.factorize(votes["cluster"], sort=True)
    counts = np.zeros((questions.max() + 1, 3, 3))
    judge, candidate = (pd.Index(names).get_indexer(votes[f"{who}_vendor"]) for who in ("judge", "candidate"))
    np.add.at(counts, (questions, judge, candidate), 1)
    intervals = models.third_party_log_odds_clustered(counts)
    return [
        estimate("third_party_log_odds", {"vendor": name}, interval, data, "logit")
        for name, interval in zip(names, intervals, strict=True)
    ]


def self_preference(frame: pd.DataFrame, data: str, variant: str = PRIMARY) -> list[Estimate]:
    """The primary estimator and its parts: logit and marginal effect per vendor, family and own model apart.

    `variant` is one of VARIANTS. A fit that has no usable maximum gives estimates without a number, whose `method`
    says why. Where each candidate always stood in one slot, slots are left out (ONE_SLOT): an effect of the slot is
    then part of that candidate's quality.
    """
    table = frame.assign(log_length=np.log1p(frame["length"].astype(float)))
    options = VARIANTS[variant]
    where = {} if variant == PRIMARY else {"variant": variant}
    judged = [vendor for vendor in vendors(frame) if vendor in set(frame["judge_vendor"])]
    unknown = [name for name in options.get("covariates", ()) if table.loc[table["rank"].notna(), name].isna().any()]
    if unknown:
        interval = no_interval(np.nan, 0, 0, f"not every answer's {unknown[0].removeprefix('log_')} is known")
        ids = (("self_preference_logit", "logit"), ("self_preference_effect", "pp"))
        return [estimate(id, {"vendor": v, **where}, interval, data, unit) for v in judged for id, unit in ids]
    fixed = set(balance_of_orders(frame).gt(0).sum(axis=1)) == {1}
    fit = models.rank_ordered_logit(table, **options, position=not fixed)
    found = []
    for vendor in judged:
        here = {"vendor": vendor, **where}
        found += [
            estimate("self_preference_logit", here, models.self_preference(fit, vendor), data, "logit"),
            estimate("self_preference_effect", here, models.marginal_effect(fit, vendor), data, "pp"),
        ]
        if variant == PRIMARY:
            family = models.family_preference(fit, vendor)
            found.append(estimate("family_preference_logit", here, family, data, "logit"))
    if variant == PRIMARY:
        found += _sharpness(fit, data)
    if variant == PRIMARY and "own_model" in fit.names:
        found.append(estimate("own_model_logit", {}, models.coefficient(fit, "own_model"), data, "logit"))
    return [replace(each, method=f"{each.method}; {ONE_SLOT}") for each in found] if fixed else found


def _sharpness(fit: models.RankLogit, data: str) -> list[Estimate]:
    """The log of each judge's scale; one judge alone has nothing to be sharper than."""
    judges = [(name, name.removeprefix("log_scale[").removesuffix("]")) for name in fit.names if "log_scale[" in name]
    return [
        estimate("judge_sharpness_log", {"judge": judge}, models.coefficient(fit, name), data, "log")
        for name, judge in judges
        if len(judges) > 1
    ]


def sensitivity(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The primary estimator under each reasonable choice (VARIANTS): `where` holds vendor and variant."""
    return [each for name in VARIANTS if name != PRIMARY for each in self_preference(frame, data, name)]


def corrected(estimates: list[Estimate], id: str = "self_preference_logit") -> dict[str, float]:
    """Holm-corrected p of the confirmatory family, one a vendor (the primary estimator)."""
    family = [each for each in estimates if each.id == id and "variant" not in each.where]
    adjusted = holm([each.p for each in family])
    return {each.where["vendor"]: float(p) for each, p in zip(family, adjusted, strict=True)}


def position_effect(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How much more often than 1 in k each slot wins, in pp; `where` counts slots from 1, as people do.

    Orders in which some candidate took some slot more than UNEVEN (a share of its share) too often or too seldom mix
    the candidates' quality into these numbers; their method then says so (UNBALANCED).
    """
    votes = frames.picks(frame).dropna(subset=["slot"])
    shown = balance_of_orders(frame).to_numpy(dtype=float)
    uneven = (np.abs(shown / shown.mean(axis=1, keepdims=True) - 1) > UNEVEN).any()
    slots = sorted(frame["slot"].dropna().astype(int).unique())
    found = []
    for slot in slots:
        hit = votes.assign(hit=(votes["slot"] == slot).astype(float) - 1 / len(slots))
        sums = cluster_sums(hit, "hit", "question_id", strata="category")
        interval = clustered(sums.numerators, sums.denominators, strata=sums.strata)
        each = estimate("position_effect", {"slot": str(slot + 1)}, interval, data, "pp")
        found.append(replace(each, method=f"{each.method}; {UNBALANCED}") if uneven else each)
    return found


def agreement(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How far judges agree: alpha on first places and on ranks, and the raw share of agreeing pairs."""
    first = frame[frame["repeat"] == 0]
    votes = frames.picks(first)
    # Sorted: a question that was lost leaves a category without rows, and `pivot` then keeps the order of the file.
    tops = votes.pivot(index="question_id", columns="judge", values="candidate").sort_index()
    ranks = first.pivot(index=["question_id", "candidate"], columns="judge", values="rank").sort_index()
    if tops.shape[1] < 2:
        return []
    of = clusters_of(first.drop_duplicates("question_id").set_index("question_id", drop=False))
    one, many = of.reindex(tops.index), of.reindex(ranks.index.get_level_values("question_id"))
    return [
        estimate("agreement_top1", {}, krippendorff_alpha(tops, "nominal", seed, one), data, "alpha"),
        estimate("agreement_ranks", {}, krippendorff_alpha(ranks, "ordinal", seed, many), data, "alpha"),
        estimate("raw_agreement", {}, raw_agreement(tops, one), data),
    ]


def balance_of_orders(frame: pd.DataFrame) -> pd.DataFrame:
    """How often each candidate was shown in each slot: rows candidates, columns letters; equal cells mean balance."""
    known = frame[["candidate", "label"]].dropna()
    rows, candidates = pd.factorize(known["candidate"], sort=True)
    columns, labels = pd.factorize(known["label"], sort=True)
    counts = np.bincount(rows * len(labels) + columns, minlength=len(candidates) * len(labels))
    table = counts.reshape(len(candidates), len(labels))
    return pd.DataFrame(
        table, index=pd.Index(list(candidates), name="candidate"), columns=pd.Index(list(labels), name="label")
    )
