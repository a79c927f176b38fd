"""The same metrics from published counts, where rows were never published: the best that margins can say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist, fmean, pstdev
from typing import Any

import numpy as np

from ...stats.intervals import Interval, newcombe, t_interval
from ...types import Estimate
from ...words.sentences import lines
from ..protocol import INDEPENDENT, conclusions, published_rate, published_value
from .rates import above_expected, estimate

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


def bias_differences(counts: Counts) -> list[Estimate]:
    """Each judge's own-vendor rate minus the unweighted mean of all other judges' rates for that vendor, in pp."""
    found, n = [], sum(sum(row.values()) for row in counts.values())
    for judge in sorted(counts):
        rates = {name: row.get(vendor_of(judge), 0) / sum(row.values()) for name, row in counts.items()}
        value = rates.pop(judge) - fmean(rates.values())
        why = "no interval: the pairing by question is not published"
        found.append(published_value("bias_difference", {"judge": judge}, value, n, "pp", why))
    return found


def _log_odds(pooled: Counts) -> list[Estimate]:
    """Third-party log-odds with the delta-method error of independent counts; three vendors with judges only."""
    from ...stats.models import THIRD_PARTY, third_party_log_odds

    table = np.array([[*row.values()] for row in pooled.values()])
    if table.shape != (3, 3):
        return []
    found = []
    for vendor, value, weights in zip(pooled, third_party_log_odds(table), THIRD_PARTY, strict=True):
        se = math.sqrt((weights**2 / np.maximum(table, 0.5)).sum())
        bounds = (float(value) + half * se for half in (0, -Z, Z))
        interval = Interval(*bounds, se, int(table.sum()), 0, f"delta method; {INDEPENDENT}")
        found.append(estimate("third_party_log_odds", {"vendor": vendor}, interval, "published", "logit"))
    return found


def _categories(counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> list[Estimate]:
    """Category shares from judge vendor -> category -> vendor counts."""
    found = published_shares("category_top1_rate", counts, "judge_vendor", "category", "vendor")
    own = [each for each in found if each.where["vendor"] == each.where["judge_vendor"]]
    own = [replace(e, id="category_self_bias", where={k: e.where[k] for k in ("vendor", "category")}) for e in own]
    for category in dict.fromkeys(each.where["category"] for each in own):
        rates = [each for each in own if each.where["category"] == category]
        why, n, value = f"no interval; {INDEPENDENT}", sum(e.n for e in rates), fmean(e.value for e in rates)
        found.append(published_value("category_average_self_bias", {"category": category}, value, n, "rate", why))
    return [*found, *own]


def _scores(scores: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]) -> list[Estimate]:
    """Mean scores with the t interval of one judge's questions (independent by construction)."""
    found = []
    for judge, by_vendor in scores.items():
        for vendor, by_tier in by_vendor.items():
            for tier, row in by_tier.items():
                n, se = int(row["n"]), row["sd"] / math.sqrt(row["n"])
                mean = t_interval(row["mean"], se, n - 1, n, n, "t over questions", null=None)
                where = {"judge": judge, "vendor": vendor, "tier": tier}
                found.append(estimate("score_mean", where, mean, "published", "score"))
    return found


def _pilot(counts: Counts) -> list[Estimate]:
    """The pilot's own rate of each vendor's judge minus the mean rate of the other judges."""
    own = bias_differences(counts)
    return [replace(e, id="pilot_bias_difference", where={"vendor": vendor_of(e.where["judge"])}) for e in own]


def from_published(published: Mapping[str, Any]) -> list[Estimate]:
    """All estimates that the experiment's published/counts.yaml determines, with data = "published"."""
    tiers = published["blind_top1_by_tier"]["counts"]
    return [
        *from_top1_counts(published["blind_top1_by_judge"]["counts"]),
        *_categories(published["blind_top1_by_category"]["counts"]),
        *published_shares("tier_preference", tiers, "judge", "vendor", "tier"),
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
