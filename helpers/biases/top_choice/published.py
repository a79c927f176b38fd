"""The same metrics from published counts, where rows were never published: the best that margins can say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist, fmean, pstdev
from typing import Any

import numpy as np

from ...stats.intervals import Interval, newcombe
from ...types import Estimate
from ...words.sentences import lines
from ..protocol import INDEPENDENT, conclusions, published_rate, published_value
from .rates import above_expected, estimate

#: The judges of the published counts, as their source's README names them (LLM-Eval at d413405).
JUDGES = "Claude Haiku 4.5 and Sonnet 4.5, GPT-5-mini and GPT-5.2, Gemini 2.5 Flash and 3 Pro"
Counts = Mapping[str, Mapping[str, int]]
NO_ROWS = "no interval: a spread of rates needs the rows"
Z = NormalDist().inv_cdf(0.975)


def from_top1_counts(counts: Counts, vendor_of: Mapping[str, str]) -> list[Estimate]:
    """Every metric that first-place counts (judge x vendor) determine, as far as counts allow with an interval.

    `vendor_of` gives each judge's vendor; the vendors are taken to have equally many candidates. What a constant order,
    unequal sharpness of judges, other judges' own preferences and the pairing within questions do to these numbers
    cannot be separated from counts.
    """
    judges, vendors = sorted(counts), sorted({vendor for row in counts.values() for vendor in row})
    total = {judge: sum(counts[judge].values()) for judge in judges}
    pooled = {
        (judge_vendor, vendor): sum(counts[j].get(vendor, 0) for j in judges if vendor_of[j] == judge_vendor)
        for judge_vendor in sorted(set(vendor_of.values()))
        for vendor in vendors
    }
    asked = {v: sum(total[j] for j in judges if vendor_of[j] == v) for v in sorted(set(vendor_of.values()))}
    found = [
        published_rate("top1_rate", {"judge": j, "vendor": v}, counts[j].get(v, 0), total[j], total[j])
        for j in judges
        for v in vendors
    ]
    shares = {v: sum(counts[j].get(v, 0) for j in judges) for v in vendors}
    mine = from_margins({v: (pooled[v, v], asked[v]) for v in vendors if asked.get(v)}, shares)
    naive = [above_expected(each, 1 / len(vendors))[1] for each in mine if each.id == "self_bias"]
    by_judge = pstdev(counts[j].get(vendor_of[j], 0) / total[j] for j in judges)
    spread = published_value("consistency_judges", {}, by_judge, sum(total.values()), "sd_pp", NO_ROWS)
    return [*found, *mine, *naive, spread, *_log_odds(pooled, vendors, asked), *bias_differences(counts, vendor_of)]


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


def bias_differences(counts: Counts, vendor_of: Mapping[str, str]) -> list[Estimate]:
    """Each judge's own-vendor rate minus the unweighted mean of all other judges' rates for that vendor, in pp."""
    found = []
    for judge in sorted(counts):
        rates = {j: row.get(vendor_of[judge], 0) / sum(row.values()) for j, row in counts.items()}
        value = rates[judge] - fmean(rate for j, rate in rates.items() if j != judge)
        n = sum(sum(row.values()) for row in counts.values())
        why = "no interval: the pairing by question is not published"
        found.append(published_value("bias_difference", {"judge": judge}, value, n, "pp", why))
    return found


def _log_odds(pooled: Mapping[tuple[str, str], int], vendors: list[str], asked: Mapping[str, int]) -> list[Estimate]:
    """Third-party log-odds with the delta-method error of independent counts; three vendors with judges only."""
    from ...stats.models import third_party_log_odds

    if len(vendors) != 3 or any(not asked.get(v) for v in vendors):
        return []
    table = np.array([[pooled[w, v] for v in vendors] for w in vendors])
    found = []
    for at, (vendor, value) in enumerate(zip(vendors, third_party_log_odds(table), strict=True)):
        # d s_v / d ln N_w(k): s_v = 1/2 sum over w of [ln N_v(v)/N_v(x) - ln N_w(v)/N_w(x)], x the third vendor.
        weights = np.full((3, 3), 0.5)
        weights[at, :] = weights[:, at] = -0.5
        np.fill_diagonal(weights, np.where(np.arange(3) == at, 1.0, 0.0))
        se = math.sqrt((weights**2 / np.maximum(table, 0.5)).sum())
        interval = Interval(
            *(float(value) + half * se for half in (0, -Z, Z)), se, int(table.sum()), 0, f"delta method; {INDEPENDENT}"
        )
        found.append(estimate("third_party_log_odds", {"vendor": vendor}, interval, "published", "logit"))
    return found


def _categories(counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> list[Estimate]:
    """Category shares from judge vendor -> category -> vendor counts."""
    found = []
    for judge_vendor, by_category in counts.items():
        for category, row in by_category.items():
            n = sum(row.values())
            for vendor, k in row.items():
                where = {"judge_vendor": judge_vendor, "category": category, "vendor": vendor}
                found.append(published_rate("category_top1_rate", where, k, n))
                if vendor == judge_vendor:
                    found.append(published_rate("category_self_bias", {"vendor": vendor, "category": category}, k, n))
    own = [each for each in found if each.id == "category_self_bias"]
    for category in dict.fromkeys(each.where["category"] for each in own):
        rates = [each for each in own if each.where["category"] == category]
        why = f"no interval; {INDEPENDENT}"
        n, value = sum(each.n for each in rates), fmean(each.value for each in rates)
        found.append(published_value("category_average_self_bias", {"category": category}, value, n, "rate", why))
    return found


def _tiers(counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> list[Estimate]:
    return [
        published_rate("tier_preference", {"judge": judge, "vendor": vendor, "tier": tier}, k, sum(row.values()))
        for judge, by_vendor in counts.items()
        for vendor, row in by_vendor.items()
        for tier, k in row.items()
    ]


def _scores(scores: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]) -> list[Estimate]:
    """Mean scores with the t interval of one judge's questions (independent by construction)."""
    from scipy.stats import t

    found = []
    for judge, by_vendor in scores.items():
        for vendor, by_tier in by_vendor.items():
            for tier, row in by_tier.items():
                n, se = int(row["n"]), row["sd"] / math.sqrt(row["n"])
                half = float(t.ppf(0.975, n - 1)) * se
                where = {"judge": judge, "vendor": vendor, "tier": tier}
                interval = Interval(row["mean"], row["mean"] - half, row["mean"] + half, se, n, n, "t over questions")
                found.append(estimate("score_mean", where, interval, "published", "score"))
    return found


def _pilot(counts: Counts) -> list[Estimate]:
    """The pilot's own rate of each vendor's judge minus the mean rate of the other judges."""
    vendor_of = {judge: judge.split("_")[0] for judge in counts}
    return [
        replace(each, id="pilot_bias_difference", where={"vendor": vendor_of[each.where["judge"]]})
        for each in bias_differences(counts, vendor_of)
    ]


def from_published(published: Mapping[str, Any]) -> list[Estimate]:
    """All estimates that the experiment's published/counts.yaml determines, with data = "published"."""
    blind = published["blind_top1_by_judge"]["counts"]
    return [
        *from_top1_counts(blind, {judge: judge.split("_")[0] for judge in blind}),
        *_categories(published["blind_top1_by_category"]["counts"]),
        *_tiers(published["blind_top1_by_tier"]["counts"]),
        *_scores(published["blind_scores"]["scores"]),
        *_pilot(published["pilot_top1_by_judge"]["counts"]),
    ]


def finding(estimates: list[Estimate]) -> str:
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
        "These are margins, with intervals that take all votes as independent. They **cannot separate** a model from "
        "the letter under which it was always shown (the source used one order throughout), self-preference from "
        "unequal sharpness of the judges, nor any judge's preference from those of the judges it is compared with."
    )
