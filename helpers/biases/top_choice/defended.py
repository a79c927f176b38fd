"""The estimators that we defend: own vendor against quality and position, other judges, slots, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    "without length": {"styles": ()},
    "with length, lists and bold": {"styles": ("length", "lists", "bold")},
    "quality by category": {"quality": "category"},
}
PRIMARY, WITHOUT_LENGTH = "full ranking (primary)", "without length"
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

    Judges of each vendor have a slope of the answers' length of their own (`styled`): a taste for length would else
    pass for self-preference where a vendor writes longer. Where some length is not known, there are no such slopes, and
    the method says so. `variant` is one of VARIANTS. A fit that has no usable maximum gives estimates without a number,
    whose `method` says why. Where each candidate always stood in one slot, slots are left out (ONE_SLOT): an effect of
    the slot is then part of that candidate's quality.
    """
    options = dict(VARIANTS[variant])
    styles = options.pop("styles", ("length",))
    where = {} if variant == PRIMARY else {"variant": variant}
    judged = [vendor for vendor in vendors(frame) if vendor in set(frame["judge_vendor"])]
    ranked = frame[frame["rank"].notna()]
    unknown = [name for name in styles if name not in ranked or ranked[name].isna().any()]
    if unknown and len(styles) > 1:
        interval = no_interval(np.nan, 0, 0, f"not every answer's {unknown[0]} is known")
        ids = (("self_preference_logit", "logit"), ("self_preference_effect", "pp"))
        return [estimate(id, {"vendor": v, **where}, interval, data, unit) for v in judged for id, unit in ids]
    table, covariates = styled(ranked, [name for name in styles if name not in unknown])
    notes = [f"without length: not every answer's {name} is known" for name in unknown]
    fixed = set(balance_of_orders(frame).gt(0).sum(axis=1)) == {1}
    notes += [ONE_SLOT] if fixed else []
    fit = models.rank_ordered_logit(
        frame.join(table) if covariates else frame, **options, covariates=covariates, position=not fixed
    )
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
        if variant == PRIMARY and covariates:
            found += _slopes(fit, table, ranked, vendor, data)
    if variant == PRIMARY:
        found += _sharpness(fit, data)
    if variant == PRIMARY and "own_model" in fit.names:
        found.append(estimate("own_model_logit", {}, models.coefficient(fit, "own_model"), data, "logit"))
    return [replace(each, method="; ".join([each.method, *notes])) for each in found]


def styled(ranked: pd.DataFrame, styles: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Columns `style[vendor]` of these rows: the standardised style of the answer where the judge is of the vendor.

    A style is ln(1 + count), less its mean over the answers to the question, in standard deviations of that over all
    questions: a ratio of lengths weighs the same in each question, so that questions whose answers are nearly alike in
    length say little, which a standard deviation a question would not let them. Styles in which no two answers to a
    question differ have no columns.
    """
    columns = {}
    for style in styles:
        size = np.log1p(ranked[style].astype(float))
        size = size - size.groupby(ranked["question_id"].astype("str")).transform("mean")
        scale = float(np.sqrt((size**2).mean())) if len(size) else 0.0
        if scale > 1e-9:
            for vendor in sorted(set(ranked["judge_vendor"].astype("str"))):
                columns[f"{style}[{vendor}]"] = size / scale * (ranked["judge_vendor"].astype("str") == vendor)
    return pd.DataFrame(columns, index=ranked.index), list(columns)


def _slopes(fit: models.RankLogit, table: pd.DataFrame, ranked: pd.DataFrame, vendor: str, data: str) -> list[Estimate]:
    """The slope of length of a vendor's judges, and the one at which their self-preference would be 0."""
    name, mine = f"length[{vendor}]", ranked["judge_vendor"] == vendor
    longer = table.loc[mine & ranked["own_vendor"].astype(bool), name].mean()
    longer -= table.loc[mine & ~ranked["own_vendor"].astype(bool), name].mean()
    slope = models.coefficient(fit, name) if name in fit.names else models.self_preference(fit, vendor)
    least = models.explaining_slope(fit, vendor, name)
    if (least.value - slope.value) * longer < 0:
        least = replace(least, value=np.nan, method="no slope does: the other parameters follow it")
    told = f"own answers are {abs(longer):.2f} sd of log length {'longer' if longer > 0 else 'shorter'}; {least.method}"
    return [
        estimate("length_slope", {"vendor": vendor}, slope, data, "logit"),
        estimate("explaining_length_slope", {"vendor": vendor}, replace(least, method=told), data, "logit"),
    ]


def _sharpness(fit: models.RankLogit, data: str) -> list[Estimate]:
    """The log of each judge's scale; one judge alone has nothing to be sharper than."""
    scales = [name for name in fit.names if "log_scale[" in name] + [f"log_scale[{judge}]" for judge in fit.dull]
    return [
        estimate("judge_sharpness_log", {"judge": name[10:-1]}, models.coefficient(fit, name), data, "log")
        for name in sorted(scales)
        if len(scales) > 1
    ]


def sensitivity(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The primary estimator under each reasonable choice (VARIANTS): `where` holds vendor and variant."""
    known = frame.loc[frame["rank"].notna(), "length"].notna().all()
    names = [name for name in VARIANTS if name != PRIMARY and (known or name != WITHOUT_LENGTH)]
    return [each for name in names for each in self_preference(frame, data, name)]


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
