"""The estimators that we defend: own vendor against quality and position, and checks of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from ... import frames
from ...stats import models
from ...stats.agreement import krippendorff_alpha, raw_agreement
from ...stats.intervals import Interval, clusters_of, contrast, no_interval
from ...types import Estimate
from ...words import display_name
from ..planted import Asked, Planted, planted_table, top_chances, trait
from ..protocol import Numbers, estimator, mean_interval, paper_tables
from .rates import placed_first, vendors

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


@estimator("top_choice")
def excess_self_preference(frame: pd.DataFrame) -> Numbers:
    """Own judges minus other vendors' judges on the same answers, in pp, a vendor each."""
    votes = frames.picks(frame)
    for vendor in vendors(frame):
        sums = placed_first(votes.assign(mine=votes["judge_vendor"] == vendor), vendor, "mine")
        if len(sums.columns) == 2:  # others, then those of the vendor
            yield "excess_self_preference", {"vendor": vendor}, contrast(sums, [-1.0, 1.0])


@estimator("top_choice")
def third_party_log_odds(frame: pd.DataFrame) -> Numbers:
    """The log-odds companion, by question jackknife; three vendors that all have judges, else nothing."""
    names, votes = vendors(frame), frames.picks(frame)
    if len(names) != 3 or set(names) - set(votes["judge_vendor"]):
        return
    votes = votes[votes["judge_vendor"].isin(names)]
    questions, _ = pd.factorize(votes["cluster"], sort=True)
    counts = np.zeros((questions.max() + 1, 3, 3))
    judge, candidate = (pd.Index(names).get_indexer(votes[f"{who}_vendor"]) for who in ("judge", "candidate"))
    np.add.at(counts, (questions, judge, candidate), 1)
    for name, interval in zip(names, models.third_party_log_odds_clustered(counts), strict=True):
        yield "third_party_log_odds", {"vendor": name}, interval


@estimator("top_choice")
def self_preference(frame: pd.DataFrame, variant: str = PRIMARY) -> Numbers:
    """The primary estimator and its parts: logit and marginal effect per vendor, family and own model apart.

    `variant` is one of VARIANTS. Judges of each vendor have a slope of the answers' length of their own (`styled`),
    where all lengths are known. A fit without a usable maximum gives estimates without a number, whose `method` says
    why. Where each candidate always stood in one slot, slots are left out (ONE_SLOT).
    """
    options: dict[str, Any] = dict(VARIANTS[variant])
    styles = options.pop("styles", ("length",))
    where = {} if variant == PRIMARY else {"variant": variant}
    judged = [vendor for vendor in vendors(frame) if vendor in set(frame["judge_vendor"])]
    ranked = frame[frame["rank"].notna()]
    unknown = [name for name in styles if name not in ranked or ranked[name].isna().any()]
    if unknown and len(styles) > 1:
        interval = no_interval(np.nan, 0, 0, f"not every answer's {unknown[0]} is known")
        ids = ("self_preference_logit", "self_preference_effect")
        yield from ((id, {"vendor": vendor, **where}, interval) for vendor in judged for id in ids)
        return
    table, covariates = styled(ranked, [name for name in styles if name not in unknown])
    notes = [f"without length: not every answer's {name} is known" for name in unknown]
    fixed = set(balance_of_orders(frame).gt(0).sum(axis=1)) == {1}
    notes += [ONE_SLOT] if fixed else []
    fit = models.rank_ordered_logit(
        frame.join(table) if covariates else frame, **options, covariates=covariates, position=not fixed
    )
    found: list[tuple[str, dict[str, str], Interval]] = []
    for vendor in judged:
        numbers = {"self_preference_logit": models.self_preference(fit, vendor)}
        numbers["self_preference_effect"] = models.marginal_effect(fit, vendor)
        if variant == PRIMARY:
            numbers["family_preference_logit"] = models.family_preference(fit, vendor)
            numbers |= _slopes(fit, table, ranked, vendor)
        found += [(id, {"vendor": vendor, **where}, interval) for id, interval in numbers.items()]
    if variant == PRIMARY:
        # One judge alone has nothing to be sharper than.
        scales = [name for name in fit.names if "log_scale[" in name] + [f"log_scale[{judge}]" for judge in fit.dull]
        named = {name: ("judge_sharpness_log", {"judge": name[10:-1]}) for name in sorted(scales) if len(scales) > 1}
        named |= {"own_model": ("own_model_logit", {})} if "own_model" in fit.names else {}
        found += [(*at, models.coefficient(fit, name)) for name, at in named.items()]
    for id, at, interval in found:
        yield id, at, replace(interval, method="; ".join([interval.method, *notes]))


def styled(ranked: pd.DataFrame, styles: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Columns `style[vendor]` of these rows: the standardised style of the answer where the judge is of the vendor.

    A style is ln(1 + count), less its mean over the answers to the question, in standard deviations of that over all
    questions: a ratio of lengths weighs the same in each question. Styles that never differ have no columns.
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


def _slopes(fit: models.RankLogit, table: pd.DataFrame, ranked: pd.DataFrame, vendor: str) -> dict[str, Interval]:
    """The slope of length of a vendor's judges, and the one at which their self-preference would be 0."""
    name, mine, own = f"length[{vendor}]", ranked["judge_vendor"] == vendor, ranked["own_vendor"].astype(bool)
    if name not in table:
        return {}
    longer = table.loc[mine & own, name].mean() - table.loc[mine & ~own, name].mean()
    slope = models.coefficient(fit, name) if name in fit.names else models.self_preference(fit, vendor)
    least = models.explaining_slope(fit, vendor, name)
    if (least.value - slope.value) * longer < 0:
        least = replace(least, value=np.nan, method="no slope does: the other parameters follow it")
    text = f"own answers are {abs(longer):.2f} sd of log length {'longer' if longer > 0 else 'shorter'}; {least.method}"
    return {"length_slope": slope, "explaining_length_slope": replace(least, method=text)}


def sensitivity(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The primary estimator under each reasonable choice (VARIANTS): `where` holds vendor and variant."""
    measured_lengths = frame.loc[frame["rank"].notna(), "length"].notna().all()
    names = [name for name in VARIANTS if name != PRIMARY and (measured_lengths or name != WITHOUT_LENGTH)]
    return [each for name in names for each in self_preference(frame, data, name)]


@estimator("top_choice")
def position_effect(frame: pd.DataFrame) -> Numbers:
    """How much more often than 1 in k each slot wins, in pp; `where` counts slots from 1, as people do.

    Orders in which some candidate took some slot more than UNEVEN (a share of its share) too often or too seldom mix
    the candidates' quality into these numbers; their method then says so (UNBALANCED).
    """
    votes = frames.picks(frame).dropna(subset=["slot"])
    shown = balance_of_orders(frame).to_numpy(dtype=float)
    uneven = (np.abs(shown / shown.mean(axis=1, keepdims=True) - 1) > UNEVEN).any()
    slots = sorted(frame["slot"].dropna().astype(int).unique())
    for slot in slots:
        excess = (votes["slot"] == slot).astype(float) - 1 / len(slots)
        interval = mean_interval(votes, excess, strata="category", null=0.0)
        method = f"{interval.method}; {UNBALANCED}" if uneven else interval.method
        yield "position_effect", {"slot": str(slot + 1)}, replace(interval, method=method)


@estimator("top_choice")
def agreement(frame: pd.DataFrame, seed: int) -> Numbers:
    """How far judges agree: alpha on first places and on ranks, and the raw share of agreeing pairs."""
    first = frame[frame["repeat"] == 0]
    votes = frames.picks(first)
    # Sorted: a question that was lost leaves a category without rows, and `pivot` then keeps the order of the file.
    tops = votes.pivot(index="question_id", columns="judge", values="candidate").sort_index()
    ranks = first.pivot(index=["question_id", "candidate"], columns="judge", values="rank").sort_index()
    if tops.shape[1] < 2:
        return
    clusters = clusters_of(first.drop_duplicates("question_id").set_index("question_id", drop=False))
    one, many = clusters.reindex(tops.index), clusters.reindex(ranks.index.get_level_values("question_id"))
    yield "agreement_top1", {}, krippendorff_alpha(tops, "nominal", seed, one)
    yield "agreement_ranks", {}, krippendorff_alpha(ranks, "ordinal", seed, many)
    yield "raw_agreement", {}, raw_agreement(tops, one)


def balance_of_orders(frame: pd.DataFrame) -> pd.DataFrame:
    """How often each candidate was shown in each slot: rows candidates, columns letters; equal cells mean balance."""
    shown = frame[["candidate", "label"]].dropna().astype(object)
    return pd.crosstab(shown["candidate"], shown["label"])


#: An interval more than this many times as wide as the primary one's says nothing about the choice it belongs to.
TOO_WIDE = 3.0
#: How often each judgment's ranking is drawn anew for the truth of what a fit estimates.
REDRAWN = 10


def sensitivity_words(estimates: Sequence[Estimate]) -> str:
    """Which rows of the table of sensitivity say nothing because their interval is too wide, by TOO_WIDE."""
    tables = {name: rows for name, _, rows, *_ in paper_tables("top_choice", estimates, sensitivity="")}
    rows, wide = tables.get("sensitivity", []), []
    primary = {each.where["vendor"]: each for each in rows if each.where["variant"] == PRIMARY}
    for each in rows:
        first = primary.get(each.where["vendor"])
        times = (each.high - each.low) / (first.high - first.low) if first and first.high > first.low else 0.0
        if times > TOO_WIDE:
            wide.append(f"{each.where['variant']}, {display_name(each.where['vendor'])} ({times:.1f} times)")
    if not wide:
        return f"No interval is more than {TOO_WIDE:g} times as wide as that of the same vendor's primary estimate."
    return f"Too wide to read (interval more than {TOO_WIDE:g} times as wide as the primary one): {'; '.join(wide)}."


def _planted_rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    """A row a vendor and a place; truths of logits are fits to REDRAWN rankings of each judgment, noise drawn anew."""
    places, redrawn = _places_and_rankings(asked)
    truths = {(each.id, *each.where.values()): each.value for each in self_preference(redrawn, asked.data)}
    judges = asked.experiment.judges
    felt = {judge.vendor: judge.traits.get("self_preference", 0.0) for judge in judges}
    for each in (each for each in estimates if each.data == "simulated"):
        at = (each.id, *each.where.values())
        if each.id == "self_preference_logit" and set(each.where) == {"vendor"} and at in truths:
            vendor = each.where["vendor"]
            size = f"own vendor {felt[vendor]:+g}"
            yield Planted("self-preference", f"{display_name(vendor)} judges", size, truths[at], each)
        elif each.id == "position_effect" and int(each.where["slot"]) <= len(places):
            slot = int(each.where["slot"]) - 1
            worth = fmean([*judge.traits.get("primacy", ()), *[0.0] * len(places)][slot] for judge in judges)
            yield Planted("place", f"place {slot + 1}", f"{worth:+g}" if worth else "0", places[slot], each)


planted = partial(planted_table, "top_choice", rows=_planted_rows)


def _places_and_rankings(asked: Asked) -> tuple[np.ndarray, pd.DataFrame]:
    """By place how much more often than chance it is first, and the run's frame with REDRAWN rankings of each row."""
    rng, chances, ranks = np.random.default_rng(0), list[np.ndarray](), dict[Any, Any]()
    for judgment in asked.judgments:
        trial, noise = judgment.trial, trait(judgment, "noise", 1.0)
        felt = np.array(asked.simulator.before_noise(trial.request)[0])
        chances.append(top_chances(felt, noise) - 1 / len(felt))
        drawn = felt + noise * rng.gumbel(size=(REDRAWN, len(felt)))
        order = (-drawn).argsort(axis=1).argsort(axis=1) + 1.0
        at = (trial.question_id, trial.judge.name, trial.request.repeat)
        ranks |= {(*at, name): order[:, slot] for slot, name in enumerate(trial.shown)}
    keys = asked.frame[["question_id", "judge", "repeat", "candidate"]].astype(object)
    rank = np.array([ranks[at] for at in keys.itertuples(index=False, name=None)]).T
    ids = asked.frame["question_id"].astype(str)
    parts = [
        asked.frame.assign(question_id=ids + f" {turn}", rank=each, top=(each == 1) * 1.0, outcome="ok")
        for turn, each in enumerate(rank)
    ]
    return np.mean(chances, axis=0), pd.concat(parts, ignore_index=True)
