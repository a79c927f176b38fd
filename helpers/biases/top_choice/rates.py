"""What the judges put first, and how unevenly: the published metrics of experiments 1 and 2, asked or from counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import NormalDist, fmean, pstdev
from typing import Any

import numpy as np
import pandas as pd

from ... import frames
from ...stats.bootstrap import bca, bias_corrected, noise_floor
from ...stats.intervals import (
    NAN,
    Interval,
    Sums,
    cluster_sums,
    clustered_mean,
    clusters_of,
    column_weights,
    contrast,
    newcombe,
    no_interval,
    t_interval,
)
from ...types import Estimate
from ...words import display_name, lines
from ...words.numbers import text_of
from ..protocol import (
    INDEPENDENT,
    Numbers,
    bare,
    by_place,
    by_source,
    conclusions,
    counted_share,
    estimator,
    mean_by_place,
    mean_interval,
    share_interval,
    worst_case,
)


def vendors(frame: pd.DataFrame) -> list[str]:
    """The vendors of the candidates, by name."""
    return sorted(frame["candidate_vendor"].dropna().unique())


def expected_shares(frame: pd.DataFrame) -> dict[str, float]:
    """Own-vendor candidates / candidates for each vendor that has a judge and a candidate: the naive unbiased rate."""
    sizes = frame.drop_duplicates("candidate").groupby("candidate_vendor").size()
    judged = set(frame["judge_vendor"])
    return {vendor: count / sizes.sum() for vendor, count in sizes.sort_index().items() if vendor in judged}


def with_naive(vendor: str, own: Interval, share: float) -> Numbers:
    """An own-vendor rate, and beside it what it exceeds the expected share by (the naive reading, in pp)."""
    moved = replace(own, value=own.value - share, low=own.low - share, high=own.high - share, p=NAN)
    yield "self_bias", {"vendor": vendor}, own
    yield "naive_self_preference", {"vendor": vendor}, moved, (-share, 1 - share)


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


_share = partial(share_interval, strata="category")


@estimator("top_choice")
def unreadable_share(frame: pd.DataFrame) -> Numbers:
    """The share of judgments without a readable verdict, a judge each: Wilson, clustered where a judge repeats."""
    rows = frames.one_row_each(frame)
    return by_place("unreadable_share", rows, ["judge"], lambda mine: _share(mine, mine["outcome"] != "ok"))


@estimator("top_choice")
def top1_rate(frame: pd.DataFrame) -> Numbers:
    """How often each judge ranks each vendor first: Wilson, one question a row (clustered where a judge repeats)."""
    for judge, rows in votes_of(frame).groupby("judge", sort=True):
        for name in vendors(frame):
            yield "top1_rate", {"judge": judge, "vendor": name}, _share(rows, rows["candidate_vendor"] == name)


@estimator("top_choice")
def vendor_share(frame: pd.DataFrame) -> Numbers:
    """The share of all judgments that rank a vendor first, one estimate a vendor."""
    for vendor in vendors(frame):
        yield "vendor_share", {"vendor": vendor}, contrast(placed_first(votes_of(frame), vendor), null=None)


@estimator("top_choice")
def self_bias(frame: pd.DataFrame) -> Numbers:
    """How often a vendor's judges, pooled, rank their own vendor first; naive differences; the mean over vendors.

    Nothing where no judge's vendor has a candidate.
    """
    sums, shares = own_rates(frame), expected_shares(frame)
    if sums is None:
        return
    for vendor, weights in column_weights(sums, average=False).items():
        yield from with_naive(vendor, contrast(sums, weights, null=None), shares[vendor])
    yield "average_self_bias", {}, own_mean(frame, sums)


@estimator("top_choice")
def categories(frame: pd.DataFrame) -> Numbers:
    """First places by category: judge vendor x vendor, own vendor, and the mean over vendors.

    Vendors whose judges were asked in a category and gave no valid ranking have an own rate without a number.
    """
    for category, part in frame.groupby("category", sort=True):
        votes, own, place = votes_of(part), own_rates(part), {"category": str(category)}
        for vendor in vendors(frame) if len(votes) else ():
            sums = placed_first(votes, vendor, "judge_vendor")
            for judge_vendor, weights in column_weights(sums, average=False).items():
                rate = contrast(sums, weights, null=None)
                yield "category_top1_rate", {"judge_vendor": judge_vendor, **place, "vendor": vendor}, rate
                if judge_vendor == vendor:
                    yield "category_self_bias", {"vendor": vendor, **place}, rate
        lost = no_interval(NAN, 0, 0, "no valid ranking")
        for vendor in sorted({*expected_shares(part)} - {*votes["judge_vendor"]}):
            yield "category_self_bias", {"vendor": vendor, **place}, lost
        if own is not None:
            yield "category_average_self_bias", place, own_mean(part, own)


@estimator("top_choice")
def tier_preference(frame: pd.DataFrame) -> Numbers:
    """Of a vendor's first places, the share of each of its tiers (all judges)."""
    for vendor, rows in votes_of(frame).groupby("candidate_vendor", sort=True):
        for tier in sorted(frame.loc[frame["candidate_vendor"] == vendor, "candidate_tier"].unique()):
            share = mean_interval(rows, (rows["candidate_tier"] == tier).astype(float), strata="category")
            yield "tier_preference", {"vendor": str(vendor), "tier": str(tier)}, share


@estimator("top_choice")
def score_means(frame: pd.DataFrame) -> Numbers:
    """The mean score (0 to 10) of each candidate, by vendor and tier, all judges.

    Missing scores are left out, and so are those of judgments without a valid ranking.
    """
    rows = frame[frame["rank"].notna()].rename(columns={"candidate_vendor": "vendor", "candidate_tier": "tier"})
    return mean_by_place("score_mean", rows, rows["score"], ("vendor", "tier"), strata="category")


@estimator("top_choice")
def bias_difference(frame: pd.DataFrame) -> Numbers:
    """A judge's own-vendor rate minus the unweighted mean of all other judges' rates for that vendor, in pp."""
    votes = votes_of(frame)
    others = votes["judge"].nunique() - 1
    for judge, vendor in sorted(set(zip(votes["judge"], votes["judge_vendor"], strict=True))):
        if vendor in vendors(frame) and others:
            sums = placed_first(votes, vendor, "judge")
            weights = [1.0 if column == judge else -1 / others for column in sums.columns]
            yield "bias_difference", {"judge": judge}, contrast(sums, weights)


# --- how unevenly: metrics of several rates ---------------------------------------------------------------------------

SPREADS = ("deviation_from_expected", "balance", "consistency_judges", "consistency_vendors")


Statistic = Callable[[np.ndarray], np.ndarray]


def rate_sums(
    frame: pd.DataFrame, metric: str, hints: Sequence[str] = ()
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...], Statistic, int]:
    """First places and judgments per question that a metric is made of, (questions, groups, columns) twice, and names.

    Columns are vendors, those of candidates for balance, else those of judges; of consistency_judges they are judges.
    Groups are `hints`, or all judgments as one. Then the metric as a function of rates, and how many judgments.
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
    shares = expected_shares(frame)
    expected = [shares[name] for name in values] if metric == "deviation_from_expected" else []
    # Balance sets the same judgments against every vendor.
    n = round(d.sum() / (max(1, len(values)) if metric == "balance" else 1))
    return x, d, tuple(values), statistic(metric, expected), n


def statistic(metric: str, expected: Sequence[float] = ()) -> Statistic:
    """Rates (..., columns) to their mean, mean distance from the `expected` shares, or standard deviation (ddof 0)."""
    if metric == "average_self_bias":
        return lambda rates: rates.mean(axis=-1)
    if metric == "deviation_from_expected":
        return lambda rates: np.abs(rates - np.asarray(expected)).mean(axis=-1)
    return lambda rates: np.std(rates, axis=-1)


@estimator("top_choice")
def spread(frame: pd.DataFrame, seed: int) -> Numbers:
    """Deviation from the expected shares, balance and both consistencies, each with its noise floor, as fractions.

    BCa over questions; `<id>_noise_floor` is what the metric would show on average if every rate were the expected one
    (deviation) or their mean, `<id>_corrected` the metric less its bootstrap bias. The spread of one rate is NaN.
    """
    for number, id in enumerate(SPREADS, seed):
        x, d, columns, metric, n = rate_sums(frame, id)
        judged = (d[:, 0] > 0).any(axis=1)
        x, d = x[judged, 0], d[judged, 0]
        absent = [columns[at] for at in np.flatnonzero(d.sum(axis=0) == 0)] if id != "balance" else []
        if len(absent) == len(columns):
            continue
        why = _no_ranking(absent) if absent else ""
        if id != "deviation_from_expected" and len(columns) - len(absent) < 2:
            why = "one rate alone has no spread"
        if why:
            yield id, {}, no_interval(NAN, n, len(x), why)
            continue
        yield id, {}, replace(bca(x, d, metric, number), n=n)
        with np.errstate(invalid="ignore"):
            level = np.full(len(columns), (x.sum(axis=0) / d.sum(axis=0)).mean())
        if id == "deviation_from_expected":
            level = np.array([expected_shares(frame)[name] for name in columns])
        yield f"{id}_noise_floor", {}, no_interval(noise_floor(x, d, metric, level, number), n, len(x), "resampled")
        yield f"{id}_corrected", {}, no_interval(bias_corrected(x, d, metric, number), n, len(x), "resampled")


# --- the same from published counts, where rows were never published: the best that margins can say -------------------

#: The judges of the published counts, as their source's README names them (LLM-Eval at d413405).
JUDGES = "Claude Haiku 4.5 and Sonnet 4.5, GPT-5-mini and GPT-5.2, Gemini 2.5 Flash and 3 Pro"
Counts = Mapping[str, Mapping[str, int]]
NO_ROWS = "no interval: a spread of rates needs the rows"
Z = NormalDist().inv_cdf(0.975)


def vendor_of(judge: str) -> str:
    """The vendor of a judge of these counts, by its name."""
    return judge.partition("_")[0]


def pooled_counts(counts: Counts) -> dict[str, dict[str, int]]:
    """First places by judge vendor and vendor, both in order of their names."""
    vendors = sorted({vendor for row in counts.values() for vendor in row})
    pooled = {maker: dict.fromkeys(vendors, 0) for maker in sorted(set(map(vendor_of, counts)))}
    for judge, row in counts.items():
        for vendor, count in row.items():
            pooled[vendor_of(judge)][vendor] += count
    return pooled


@estimator("top_choice", "published")
def published_shares(id: str, counts: Mapping[str, Any], *keys: str, **where: str) -> Numbers:
    """Each count of a nest of mappings as a share of its innermost one; `keys` name the levels, outermost first."""
    key, *inner = keys
    for name, row in counts.items():
        if inner:
            yield from published_shares(id, row, *inner, **where, **{key: name})
        else:
            yield id, {**where, key: name}, counted_share(row, sum(counts.values()))


@estimator("top_choice", "published")
def from_top1_counts(counts: Counts) -> Numbers:
    """Every metric that first-place counts (judge x vendor) determine, as far as counts allow with an interval.

    The vendors are taken to have equally many candidates. What a constant order, unequal sharpness of judges, other
    judges' own preferences and the pairing within questions do to these numbers cannot be separated from counts.
    """
    pooled = pooled_counts(counts)
    vendors = [*next(iter(pooled.values()))]
    counts = {judge: {vendor: counts[judge].get(vendor, 0) for vendor in vendors} for judge in sorted(counts)}
    own = {vendor: (row[vendor], sum(row.values())) for vendor, row in pooled.items() if vendor in row}
    n = sum(sum(row.values()) for row in counts.values())
    yield from (replace(each, clusters=each.n) for each in published_shares("top1_rate", counts, "judge", "vendor"))
    yield from from_margins(own, {vendor: sum(row[vendor] for row in pooled.values()) for vendor in vendors})
    for vendor, mine in own.items():
        yield from [*with_naive(vendor, counted_share(*mine), 1 / len(vendors))][1:]
    by_judge = pstdev(row.get(vendor_of(judge), 0) / sum(row.values()) for judge, row in counts.items())
    yield "consistency_judges", {}, bare(by_judge, n, NO_ROWS)
    yield from _log_odds(pooled)
    for judge in counts:
        yield "bias_difference", {"judge": judge}, bias_difference_of(judge, counts)


@estimator("top_choice", "published")
def from_margins(own: Mapping[str, tuple[int, int]], every: Mapping[str, int]) -> Numbers:
    """What is known without judges: of each vendor its own judges' first places of how many, and everybody's."""
    n, rates = sum(every.values()), {vendor: k / asked for vendor, (k, asked) in own.items()}
    yield from (("vendor_share", {"vendor": vendor}, counted_share(count, n)) for vendor, count in every.items())
    for vendor, (k, asked) in own.items():
        yield "self_bias", {"vendor": vendor}, counted_share(k, asked)
        excess = newcombe(k, asked, every[vendor] - k, n - asked)
        excess = replace(excess, method=f"Newcombe; {INDEPENDENT}", clusters=0)
        yield "excess_self_preference", {"vendor": vendor}, excess
    mean = fmean(rates.values())
    se = math.sqrt(sum(rate * (1 - rate) / own[vendor][1] for vendor, rate in rates.items())) / len(rates)
    yield "average_self_bias", {}, _normal(mean, se, n, "normal")
    yield "deviation_from_expected", {}, bare(fmean(abs(rate - 1 / len(every)) for rate in rates.values()), n, NO_ROWS)
    yield "balance", {}, bare(pstdev(count / n for count in every.values()), n, NO_ROWS)
    yield "consistency_vendors", {}, bare(pstdev(rates.values()), n, NO_ROWS)


def _normal(value: float, se: float, n: int, method: str) -> Interval:
    return Interval(value, value - Z * se, value + Z * se, se, n, 0, f"{method}; {INDEPENDENT}")


def bias_difference_of(judge: str, counts: Counts) -> Interval:
    """A judge's own-vendor rate minus the unweighted mean of all other judges' rates for that vendor, in pp."""
    rates = {name: row.get(vendor_of(judge), 0) / sum(row.values()) for name, row in counts.items()}
    value, n = rates.pop(judge) - fmean(rates.values()), sum(sum(row.values()) for row in counts.values())
    return bare(value, n, "no interval: the pairing by question is not published")


def _log_odds(pooled: Counts) -> Numbers:
    """Third-party log-odds with the delta-method error of independent counts; three vendors with judges only."""
    from ...stats.models import THIRD_PARTY, third_party_log_odds

    table = np.array([[*row.values()] for row in pooled.values()])
    if table.shape != (3, 3):
        return
    for vendor, value, weights in zip(pooled, third_party_log_odds(table), THIRD_PARTY, strict=True):
        se = math.sqrt((weights**2 / np.maximum(table, 0.5)).sum())
        interval = _normal(float(value), se, int(table.sum()), "delta method")
        yield "third_party_log_odds", {"vendor": vendor}, interval


def _categories(counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> Numbers:
    """Category shares from judge vendor -> category -> vendor counts."""
    found = published_shares("category_top1_rate", counts, "judge_vendor", "category", "vendor")
    yield from found
    own = [each for each in found if each.where["vendor"] == each.where["judge_vendor"]]
    own = [replace(e, id="category_self_bias", where={k: e.where[k] for k in ("vendor", "category")}) for e in own]
    for category in dict.fromkeys(each.where["category"] for each in own):
        rates = [each for each in own if each.where["category"] == category]
        mean = bare(fmean(e.value for e in rates), sum(e.n for e in rates), f"no interval; {INDEPENDENT}")
        yield "category_average_self_bias", {"category": category}, mean
    yield from own


def _scores(scores: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]) -> Numbers:
    """Mean scores with the t interval of one judge's questions (independent by construction)."""
    for judge, by_vendor in scores.items():
        for vendor, by_tier in by_vendor.items():
            for tier, row in by_tier.items():
                n, se = int(row["n"]), row["sd"] / math.sqrt(row["n"])
                mean = t_interval(row["mean"], se, n - 1, n, n, "t over questions", null=None)
                yield "score_mean", {"judge": judge, "vendor": vendor, "tier": tier}, mean


@estimator("top_choice", "published")
def from_published(published: Mapping[str, Any]) -> Numbers:
    """All estimates that the experiment's published/counts.yaml determines, with data = "published"."""
    yield from from_top1_counts(published["blind_top1_by_judge"]["counts"])
    yield from _categories(published["blind_top1_by_category"]["counts"])
    tiers, pilot = (published[name]["counts"] for name in ("blind_top1_by_tier", "pilot_top1_by_judge"))
    yield from published_shares("tier_preference", tiers, "judge", "vendor", "tier")
    yield from _scores(published["blind_scores"]["scores"])
    for judge in sorted(pilot):
        yield "pilot_bias_difference", {"vendor": vendor_of(judge)}, bias_difference_of(judge, pilot)
    yield from _own_shares(published["released_shares"]["counts"])
    yield from _own_ranks(published["released_ranks"])
    yield from _own_scores(published["released_scores"])


def _own_shares(sources: Mapping[str, Any]) -> Numbers:
    """`released_own_share`: a judge's share of its own vendor's answers less that of a judge of no vendor, or of peers.

    `where`: source, judge, released (its month), against ("a neutral judge", "its peers").
    """
    for name, source in sources.items():
        picks = {judge: row["picks"] for judge, row in source["judges"].items() if "picks" in row}
        for judge, row in source["judges"].items():
            found = {}
            if "neutral" in row:
                values = np.repeat([*row["neutral"]], [*row["neutral"].values()]).astype(float)
                found["a neutral judge"] = clustered_mean(values, np.arange(len(values)), null=0.0)
            elif judge != source["neutral"]:
                shares = {other: row[judge] / sum(row.values()) for other, row in picks.items()}
                share, neutral, n = shares.pop(judge), shares.pop(source["neutral"]), sum(picks[judge].values())
                for against, other in (("a neutral judge", neutral), ("its peers", fmean(shares.values()))):
                    found[against] = worst_case(share - other, n, source["prompts"])
            for against, interval in found.items():
                where = {"source": name, "judge": judge, "released": row["released"], "against": against}
                yield "released_own_share", where, interval


#: What mean ranks are split into; the contrasts are as published, the terms of the joint fit.
TERMS = ("own minus all others", "own minus others, {without} left out", "own model, joint fit", "sibling, joint fit")


def _own_ranks(block: Mapping[str, Any]) -> Numbers:
    """`released_own_rank`: how much better (below 0) a judge ranks its own answers and its vendor's other ones.

    `where`: source, judge, vendor, released, term (TERMS). The terms are of least squares on all mean ranks:
    candidate, judge, own model a judge, sibling a vendor. Means have no interval.
    """
    ranks, judges = np.array(block["ranks"]), [*block["judges"]]
    vendors, size = np.array([*block["judges"].values()]), len(judges)
    same, itself, left = vendors[:, None] == vendors, np.eye(size, dtype=bool), vendors == block["without"]
    j, c = np.indices(ranks.shape).reshape(2, -1)
    siblings = [(same & ~itself & (vendors == vendor))[j, c] for vendor in dict.fromkeys(vendors)]
    columns = np.column_stack([np.eye(size)[c], np.eye(size)[j], np.eye(size)[j] * (j == c)[:, None], *siblings])
    fitted = np.linalg.lstsq(columns, ranks.ravel(), rcond=None)[0]
    terms = dict(zip(dict.fromkeys(vendors), fitted[3 * size :], strict=True))
    for at, judge in enumerate(judges):
        others = ranks[~itself[at], at], ranks[~itself[at] & ~left, at]
        values = *(ranks[at, at] - each.mean() for each in others), fitted[2 * size + at], terms[vendors[at]]
        for term, value in zip(TERMS, values, strict=True):
            where = {"source": block["name"], "judge": judge, "vendor": str(vendors[at]), "released": block["released"]}
            where["term"] = term.format(without=block["without"])
            yield "released_own_rank", where, bare(value, block["questions"], MEANS)

    gaps = np.array([ranks[at, at] - ranks[~itself[at], at].mean() for at in range(size)])
    where = {"source": block["name"]}
    yield "released_own_rank_mean", where, bare(gaps.mean(), block["questions"], MEANS)
    for term, terms_of in ((TERMS[0], gaps), (TERMS[2], fitted[2 * size : 3 * size])):
        yield "released_own_judges", where | {"term": term}, bare((terms_of < 0).sum(), size)


MEANS = "no interval: only means are published"


def _own_scores(block: Mapping[str, Any]) -> Numbers:
    """`released_own_score`: a judge's score of its own answers less what others gave them, and without its leniency.

    `released_score_shift`: what the others give more where names are shown, or a candidate always has one place.
    """
    for judge, row in block["judges"].items():
        gap, size = row["self"] - row["peer"], block["questions"]
        for term, value in (("self minus peers", gap), ("without leniency", gap - row["leniency"])):
            where = {"source": block["name"], "judge": judge, "released": row["released"], "term": term}
            yield "released_own_score", where, bare(value, size, MEANS)
        for key, condition in (("named", "names shown"), ("fixed", f"always in place {row['place']}")):
            where = {"source": block["name"], "candidate": judge, "released": row["released"], "condition": condition}
            yield "released_score_shift", where, bare(row[key] - row["peer"], size, MEANS)


def published_finding(estimates: list[Estimate]) -> str:
    """What the published margins say, vendor by vendor, and what they cannot separate."""
    by_vendor = [each for each in estimates if set(each.where) == {"vendor"}]
    found = conclusions("top_choice", by_vendor, "self_bias", "excess_self_preference", "third_party_log_odds")
    points = lines(found, "{vendor} as a judge")
    own, excess = ([100 * e.value for e in by_vendor if e.id == id] for id in ("self_bias", "excess_self_preference"))
    wide, narrow, leak = max(own) - min(own), max(excess) - min(excess), (len(own) - 1) ** 2
    turned = f"Own rates range over {wide:.1f} pp, the excesses over {narrow:.1f} pp"
    if narrow < wide / 2:
        turned += ": much of what an own rate shows is how often everybody puts that vendor first"
    # A rival that puts its own first more often by p takes p / (V - 1) from each other vendor, in one of V - 1 groups.
    rival = f" (1/{leak} of a rival's preference counts as one's own)" if leak > 1 else ""
    return (
        f"Judges: {JUDGES}.\n\n{points}\n\n{turned}. Which vendor is the most partial, margins cannot say{rival}.\n\n"
        + text_of("top_choice", "margins")
    )


def released_title(estimates: Sequence[Estimate]) -> str:
    """What the joint fit of mean ranks shows, as a title: whose vendor's other model gains most, and all others'."""
    found = {e.where["vendor"]: -e.value for e in estimates if e.where.get("term") == TERMS[-1]}
    most, second, *_ = sorted(found, key=found.__getitem__, reverse=True)
    return (
        f"{most}'s judges rank their vendor's other model {found[most]:.1f} places better than rivals do, those of "
        f"other vendors at most {found[second]:.1f}"
    )


def released_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """What recent judges make of their own vendor's answers, source by source, with what was asked there and when."""
    shares, ranks, scores = (published[f"released_{name}"] for name in ("shares", "ranks", "scores"))
    points = [f"**{released_title(estimates)}.** {text_of('top_choice', 'released')}", ""]
    found = conclusions("top_choice", estimates, "released_own_share")
    points.append(by_source(shares, found, "{judge} against {against}"))
    at = {(e.where["judge"], e.where["term"]): f"{e.value:+.2f}" for e in estimates if {"judge", "term"} <= {*e.where}}
    terms = [term.format(without=ranks["without"]) for term in TERMS]
    points.append(f"- **{ranks['name']}** ({ranks['month']}; {ranks['asked']}), in places, below 0 better:")
    points += [f"  - {name}: {', '.join(f'{term} {at[name, term]}' for term in terms)}." for name in ranks["judges"]]
    asked = f"{scores['month']}; {scores['asked']}"
    points.append(f"- **{scores['name']}** ({asked}), self minus peers, and without leniency:")
    both = (f"{name} {at[name, 'self minus peers']}, {at[name, 'without leniency']}" for name in scores["judges"])
    shifts = [e.value for e in estimates if e.where.get("condition") == "names shown"]
    shown = f"With names shown the others' scores move by {min(shifts):+.2f} to {max(shifts):+.2f}."
    return "\n".join([*points, f"  - {'; '.join(both)}.", f"  - {shown}"])
