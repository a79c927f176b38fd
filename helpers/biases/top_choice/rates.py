"""What the judges put first, and how unevenly: the published metrics of experiments 1 and 2, asked or from counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    estimate,
    newcombe,
    no_interval,
    t_interval,
)
from ...types import Estimate
from ...words import display_name, lines
from ...words.numbers import text_of
from ..protocol import (
    INDEPENDENT,
    by_source,
    conclusions,
    estimate_means,
    mean_interval,
    published_count,
    published_rate,
    published_value,
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


def above_expected(own: Estimate, share: float) -> list[Estimate]:
    """An own-vendor rate, and beside it what it exceeds the expected share by (the naive reading, in pp)."""
    moved = replace(own, value=own.value - share, low=own.low - share, high=own.high - share)
    return [own, replace(moved, id="naive_self_preference", unit="pp", p=float("nan"))]


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


def unreadable_share(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The share of judgments without a readable verdict, a judge each: Wilson, clustered where a judge repeats."""
    return [
        estimate("unreadable_share", {"judge": judge}, _share(rows, rows["outcome"] != "ok"), data)
        for judge, rows in frames.one_row_each(frame).groupby("judge", sort=True)
    ]


def top1_rate(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How often each judge ranks each vendor first: Wilson, one question a row (clustered where a judge repeats)."""
    return [
        estimate("top1_rate", {"judge": judge, "vendor": name}, _share(rows, rows["candidate_vendor"] == name), data)
        for judge, rows in votes_of(frame).groupby("judge", sort=True)
        for name in vendors(frame)
    ]


def vendor_share(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The share of all judgments that rank a vendor first, one estimate a vendor."""
    shares = {vendor: contrast(placed_first(votes_of(frame), vendor), null=None) for vendor in vendors(frame)}
    return [estimate("vendor_share", {"vendor": vendor}, share, data) for vendor, share in shares.items()]


def self_bias(frame: pd.DataFrame, data: str) -> Iterator[Estimate]:
    """How often a vendor's judges, pooled, rank their own vendor first; naive differences; the mean over vendors.

    Nothing where no judge's vendor has a candidate.
    """
    sums, shares = own_rates(frame), expected_shares(frame)
    if sums is None:
        return
    for vendor, weights in column_weights(sums, average=False).items():
        rate = estimate("self_bias", {"vendor": vendor}, contrast(sums, weights, null=None), data)
        yield from above_expected(rate, shares[vendor])
    yield estimate("average_self_bias", {}, own_mean(frame, sums), data)


def categories(frame: pd.DataFrame, data: str) -> Iterator[Estimate]:
    """First places by category: judge vendor x vendor, own vendor, and the mean over vendors.

    Vendors whose judges were asked in a category and gave no valid ranking have an own rate without a number.
    """
    for category, part in frame.groupby("category", sort=True):
        votes, own, place = votes_of(part), own_rates(part), {"category": str(category)}
        for vendor in vendors(frame) if len(votes) else ():
            sums = placed_first(votes, vendor, "judge_vendor")
            for judge_vendor, weights in column_weights(sums, average=False).items():
                rate = contrast(sums, weights, null=None)
                where = {"judge_vendor": judge_vendor, **place, "vendor": vendor}
                yield estimate("category_top1_rate", where, rate, data)
                if judge_vendor == vendor:
                    yield estimate("category_self_bias", {"vendor": vendor, **place}, rate, data)
        lost = no_interval(NAN, 0, 0, "no valid ranking")
        for vendor in sorted({*expected_shares(part)} - {*votes["judge_vendor"]}):
            yield estimate("category_self_bias", {"vendor": vendor, **place}, lost, data)
        if own is not None:
            yield estimate("category_average_self_bias", place, own_mean(part, own), data)


def tier_preference(frame: pd.DataFrame, data: str) -> Iterator[Estimate]:
    """Of a vendor's first places, the share of each of its tiers (all judges)."""
    for vendor, rows in votes_of(frame).groupby("candidate_vendor", sort=True):
        for tier in sorted(frame.loc[frame["candidate_vendor"] == vendor, "candidate_tier"].unique()):
            share = mean_interval(rows, (rows["candidate_tier"] == tier).astype(float), strata="category")
            yield estimate("tier_preference", {"vendor": str(vendor), "tier": str(tier)}, share, data)


def score_means(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The mean score (0 to 10) of each candidate, by vendor and tier, all judges.

    Missing scores are left out, and so are those of judgments without a valid ranking.
    """
    rows = frame[frame["rank"].notna()].rename(columns={"candidate_vendor": "vendor", "candidate_tier": "tier"})
    by = ("vendor", "tier")
    return estimate_means("score_mean", rows, rows["score"], data, "score", by, None, strata="category")


def bias_difference(frame: pd.DataFrame, data: str) -> Iterator[Estimate]:
    """A judge's own-vendor rate minus the unweighted mean of all other judges' rates for that vendor, in pp."""
    votes = votes_of(frame)
    others = votes["judge"].nunique() - 1
    for judge, vendor in sorted(set(zip(votes["judge"], votes["judge_vendor"], strict=True))):
        if vendor in vendors(frame) and others:
            sums = placed_first(votes, vendor, "judge")
            gap = contrast(sums, [1.0 if column == judge else -1 / others for column in sums.columns])
            yield estimate("bias_difference", {"judge": judge}, gap, data, "pp")


# --- how unevenly: metrics of several rates ---------------------------------------------------------------------------

SPREADS = ("deviation_from_expected", "balance", "consistency_judges", "consistency_vendors")


def rate_sums(
    frame: pd.DataFrame, metric: str, hints: Sequence[str] = ()
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """First places and judgments per question that a metric is made of, (questions, groups, columns) twice, and names.

    Columns are vendors, those of candidates for balance, else those of judges; of consistency_judges they are judges.
    Groups are `hints`, or all judgments as one.
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
    return x, d, tuple(values)


def statistic_of(frame: pd.DataFrame, metric: str, columns: Sequence[str]) -> Callable[[np.ndarray], np.ndarray]:
    """A metric as a function of rates (..., columns): of `statistic`, with the expected shares of this frame."""
    shares = expected_shares(frame)
    return statistic(metric, [shares[name] for name in columns] if metric == "deviation_from_expected" else ())


def statistic(metric: str, expected: Sequence[float] = ()) -> Callable[[np.ndarray], np.ndarray]:
    """Rates (..., columns) to their mean, mean distance from the `expected` shares, or standard deviation (ddof 0)."""
    if metric == "average_self_bias":
        return lambda rates: rates.mean(axis=-1)
    if metric == "deviation_from_expected":
        return lambda rates: np.abs(rates - np.asarray(expected)).mean(axis=-1)
    return lambda rates: np.std(rates, axis=-1)


def spread(frame: pd.DataFrame, data: str, seed: int) -> Iterator[Estimate]:
    """Deviation from the expected shares, balance and both consistencies, each with its noise floor, as fractions.

    BCa over questions; `<id>_noise_floor` is what the metric would show on average if every rate were the expected one
    (deviation) or their mean, `<id>_corrected` the metric less its bootstrap bias. The spread of one rate is NaN.
    """
    for number, id in enumerate(SPREADS, seed):
        x, d, columns = rate_sums(frame, id)
        judged = (d[:, 0] > 0).any(axis=1)
        x, d = x[judged, 0], d[judged, 0]
        absent = [columns[at] for at in np.flatnonzero(d.sum(axis=0) == 0)] if id != "balance" else []
        if len(absent) == len(columns):
            continue
        n = round(d[:, 0].sum() if id == "balance" else d.sum())
        why = _no_ranking(absent) if absent else ""
        if id != "deviation_from_expected" and len(columns) - len(absent) < 2:
            why = "one rate alone has no spread"
        if why:
            yield estimate(id, {}, no_interval(NAN, n, len(x), why), data, "sd_pp")
            continue
        metric = statistic_of(frame, id, columns)
        yield estimate(id, {}, replace(bca(x, d, metric, number), n=n), data, "sd_pp")
        with np.errstate(invalid="ignore"):
            level = np.full(len(columns), (x.sum(axis=0) / d.sum(axis=0)).mean())
        if id == "deviation_from_expected":
            level = np.array([expected_shares(frame)[name] for name in columns])
        beside = {"noise_floor": noise_floor(x, d, metric, level, number)}
        beside["corrected"] = bias_corrected(x, d, metric, number)
        facts = {"n": n, "clusters": len(x), "unit": "sd_pp", "method": "resampled", "data": data}
        yield from (Estimate(f"{id}_{name}", {}, value, **facts) for name, value in beside.items())


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


def published_shares(id: str, counts: Mapping[str, Any], *keys: str, **where: str) -> list[Estimate]:
    """Each count of a nest of mappings as a share of its innermost one; `keys` name the levels, outermost first."""
    key, *inner = keys
    if inner:
        return [e for name, row in counts.items() for e in published_shares(id, row, *inner, **where, **{key: name})]
    n = sum(counts.values())
    return [published_rate(id, {**where, key: name}, count, n) for name, count in counts.items()]


def from_top1_counts(counts: Counts) -> list[Estimate]:
    """Every metric that first-place counts (judge x vendor) determine, as far as counts allow with an interval.

    The vendors are taken to have equally many candidates. What a constant order, unequal sharpness of judges, other
    judges' own preferences and the pairing within questions do to these numbers cannot be separated from counts.
    """
    pooled = pooled_counts(counts)
    vendors = [*next(iter(pooled.values()))]
    counts = {judge: {vendor: counts[judge].get(vendor, 0) for vendor in vendors} for judge in sorted(counts)}
    own = {vendor: (row[vendor], sum(row.values())) for vendor, row in pooled.items() if vendor in row}
    found = [replace(each, clusters=each.n) for each in published_shares("top1_rate", counts, "judge", "vendor")]
    mine = from_margins(own, {vendor: sum(row[vendor] for row in pooled.values()) for vendor in vendors})
    naive = [above_expected(each, 1 / len(vendors))[1] for each in mine if each.id == "self_bias"]
    by_judge = pstdev(row.get(vendor_of(judge), 0) / sum(row.values()) for judge, row in counts.items())
    n = sum(sum(row.values()) for row in counts.values())
    spread = published_value("consistency_judges", {}, by_judge, n, "sd_pp", NO_ROWS)
    return [*found, *mine, *naive, spread, *_log_odds(pooled), *bias_differences(counts)]


def from_margins(own: Mapping[str, tuple[int, int]], every: Mapping[str, int]) -> list[Estimate]:
    """What is known without judges: of each vendor its own judges' first places of how many, and everybody's."""
    n, rates = sum(every.values()), {vendor: k / asked for vendor, (k, asked) in own.items()}
    found = [published_rate("vendor_share", {"vendor": vendor}, count, n) for vendor, count in every.items()]
    for vendor, (k, asked) in own.items():
        found.append(published_rate("self_bias", {"vendor": vendor}, k, asked))
        excess = newcombe(k, asked, every[vendor] - k, n - asked)
        excess = replace(excess, method=f"Newcombe; {INDEPENDENT}", clusters=0)
        found.append(estimate("excess_self_preference", {"vendor": vendor}, excess, "published", "pp"))
    mean = fmean(rates.values())
    se = math.sqrt(sum(rate * (1 - rate) / own[vendor][1] for vendor, rate in rates.items())) / len(rates)
    average = Interval(mean, mean - Z * se, mean + Z * se, se, n, 0, f"normal; {INDEPENDENT}")
    found.append(estimate("average_self_bias", {}, average, "published"))
    spreads = {
        "deviation_from_expected": fmean(abs(rate - 1 / len(every)) for rate in rates.values()),
        "balance": pstdev(count / n for count in every.values()),
        "consistency_vendors": pstdev(rates.values()),
    }
    return found + [published_value(id, {}, value, n, "sd_pp", NO_ROWS) for id, value in spreads.items()]


def bias_differences(counts: Counts) -> Iterator[Estimate]:
    """Each judge's own-vendor rate minus the unweighted mean of all other judges' rates for that vendor, in pp."""
    n = sum(sum(row.values()) for row in counts.values())
    for judge in sorted(counts):
        rates = {name: row.get(vendor_of(judge), 0) / sum(row.values()) for name, row in counts.items()}
        value = rates.pop(judge) - fmean(rates.values())
        why = "no interval: the pairing by question is not published"
        yield published_value("bias_difference", {"judge": judge}, value, n, "pp", why)


def _log_odds(pooled: Counts) -> Iterator[Estimate]:
    """Third-party log-odds with the delta-method error of independent counts; three vendors with judges only."""
    from ...stats.models import THIRD_PARTY, third_party_log_odds

    table = np.array([[*row.values()] for row in pooled.values()])
    if table.shape != (3, 3):
        return
    for vendor, value, weights in zip(pooled, third_party_log_odds(table), THIRD_PARTY, strict=True):
        se = math.sqrt((weights**2 / np.maximum(table, 0.5)).sum())
        at = float(value)
        interval = Interval(at, at - Z * se, at + Z * se, se, int(table.sum()), 0, f"delta method; {INDEPENDENT}")
        yield estimate("third_party_log_odds", {"vendor": vendor}, interval, "published", "logit")


def _categories(counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> Iterator[Estimate]:
    """Category shares from judge vendor -> category -> vendor counts."""
    found = published_shares("category_top1_rate", counts, "judge_vendor", "category", "vendor")
    yield from found
    own = [each for each in found if each.where["vendor"] == each.where["judge_vendor"]]
    own = [replace(e, id="category_self_bias", where={k: e.where[k] for k in ("vendor", "category")}) for e in own]
    for category in dict.fromkeys(each.where["category"] for each in own):
        rates = [each for each in own if each.where["category"] == category]
        why, n, value = f"no interval; {INDEPENDENT}", sum(e.n for e in rates), fmean(e.value for e in rates)
        yield published_value("category_average_self_bias", {"category": category}, value, n, "rate", why)
    yield from own


def _scores(scores: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]) -> Iterator[Estimate]:
    """Mean scores with the t interval of one judge's questions (independent by construction)."""
    for judge, by_vendor in scores.items():
        for vendor, by_tier in by_vendor.items():
            for tier, row in by_tier.items():
                n, se = int(row["n"]), row["sd"] / math.sqrt(row["n"])
                mean = t_interval(row["mean"], se, n - 1, n, n, "t over questions", null=None)
                where = {"judge": judge, "vendor": vendor, "tier": tier}
                yield estimate("score_mean", where, mean, "published", "score")


def from_published(published: Mapping[str, Any]) -> list[Estimate]:
    """All estimates that the experiment's published/counts.yaml determines, with data = "published"."""
    tiers = published["blind_top1_by_tier"]["counts"]
    pilot = bias_differences(published["pilot_top1_by_judge"]["counts"])
    return [
        *from_top1_counts(published["blind_top1_by_judge"]["counts"]),
        *_categories(published["blind_top1_by_category"]["counts"]),
        *published_shares("tier_preference", tiers, "judge", "vendor", "tier"),
        *_scores(published["blind_scores"]["scores"]),
        *(replace(e, id="pilot_bias_difference", where={"vendor": vendor_of(e.where["judge"])}) for e in pilot),
        *_own_shares(published["released_shares"]["counts"]),
        *_own_ranks(published["released_ranks"]),
        *_own_scores(published["released_scores"]),
    ]


def _own_shares(sources: Mapping[str, Any]) -> Iterator[Estimate]:
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
                yield estimate("released_own_share", where, interval, "published", "pp")


#: What mean ranks are split into; the contrasts are as published, the terms of the joint fit.
TERMS = ("own minus all others", "own minus others, {without} left out", "own model, joint fit", "sibling, joint fit")


def _own_ranks(block: Mapping[str, Any]) -> Iterator[Estimate]:
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
            yield published_value("released_own_rank", where, float(value), block["questions"], "score", MEANS)

    gaps = [ranks[at, at] - ranks[~itself[at], at].mean() for at in range(size)]
    better = (sum(gap < 0 for gap in gaps), int((fitted[2 * size : 3 * size] < 0).sum()))
    where = {"source": block["name"]}
    yield published_value("released_own_rank_mean", where, float(np.mean(gaps)), block["questions"], "score", MEANS)
    for term, count in zip((TERMS[0], TERMS[2]), better, strict=True):
        yield published_count("released_own_judges", where | {"term": term}, count, size)


MEANS = "no interval: only means are published"


def _own_scores(block: Mapping[str, Any]) -> Iterator[Estimate]:
    """`released_own_score`: a judge's score of its own answers less what others gave them, and without its leniency.

    `released_score_shift`: what the others give more where names are shown, or a candidate always has one place.
    """
    for judge, row in block["judges"].items():
        gap, size = row["self"] - row["peer"], block["questions"]
        for term, value in (("self minus peers", gap), ("without leniency", gap - row["leniency"])):
            where = {"source": block["name"], "judge": judge, "released": row["released"], "term": term}
            yield published_value("released_own_score", where, value, size, "score", MEANS)
        for key, condition in (("named", "names shown"), ("fixed", f"always in place {row['place']}")):
            where = {"source": block["name"], "candidate": judge, "released": row["released"], "condition": condition}
            yield published_value("released_score_shift", where, row[key] - row["peer"], size, "score", MEANS)


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
