"""The same metrics from published counts, where rows were never published: the best that margins can say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean, pstdev
from typing import Any

import numpy as np

from helpers.biases.protocol import INDEPENDENT, published_rate, published_value
from helpers.biases.top_choice.rates import above_expected, estimate
from helpers.stats.intervals import Interval, newcombe
from helpers.types import Estimate
from helpers.words import display_name

#: The judges of the published counts, as their source's README names them (LLM-Eval at d413405).
JUDGES = "Claude Haiku 4.5 and Sonnet 4.5, GPT-5-mini and GPT-5.2, Gemini 2.5 Flash and 3 Pro"
Counts = Mapping[str, Mapping[str, int]]
NAN = float("nan")


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
    n = sum(total.values())
    shares = {v: sum(counts[j].get(v, 0) for j in judges) for v in vendors}
    found += [published_rate("vendor_share", {"vendor": v}, shares[v], n) for v in vendors]
    own = {v: pooled[v, v] / asked[v] for v in vendors if asked.get(v)}
    for v in own:
        found += above_expected(published_rate("self_bias", {"vendor": v}, pooled[v, v], asked[v]), 1 / len(vendors))
    by_judge = [counts[j].get(vendor_of[j], 0) / total[j] for j in judges]
    se = math.sqrt(sum(r * (1 - r) / asked[v] for v, r in own.items())) / len(own)
    mean = fmean(own.values())
    half = 1.959963984540054 * se
    average = Interval(mean, mean - half, mean + half, se, n, 0, f"normal; {INDEPENDENT}")
    found.append(estimate("average_self_bias", {}, average, "published"))
    why = "no interval: a spread of rates needs the rows"
    for id, value in {
        "deviation_from_expected": fmean(abs(rate - 1 / len(vendors)) for rate in own.values()),
        "balance": pstdev([count / n for count in shares.values()]),
        "consistency_judges": pstdev(by_judge),
        "consistency_vendors": pstdev(own.values()),
    }.items():
        found.append(published_value(id, {}, value, n, "sd_pp", why))
    for v in own:
        others = sum(pooled[w, v] for w in asked if w != v), sum(asked[w] for w in asked if w != v)
        interval = newcombe(pooled[v, v], asked[v], *others)
        marked = replace(interval, method=f"Newcombe; {INDEPENDENT}", clusters=0)
        found.append(estimate("excess_self_preference", {"vendor": v}, marked, "published", "pp"))
    found += _log_odds(pooled, vendors, asked)
    return found + bias_differences(counts, vendor_of)


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
    from helpers.stats.models import third_party_log_odds

    if len(vendors) != 3 or any(not asked.get(v) for v in vendors):
        return []
    table = [[pooled[w, v] for v in vendors] for w in vendors]
    found = []
    for index, (vendor, value) in enumerate(zip(vendors, third_party_log_odds(np.array(table)), strict=True)):
        weights = _influence(table, index)
        se = math.sqrt(
            sum(
                w * w / max(n, 0.5)
                for row, ns in zip(weights, table, strict=True)
                for w, n in zip(row, ns, strict=True)
            )
        )
        half = 1.959963984540054 * se
        n = sum(map(sum, table))
        interval = Interval(float(value), value - half, value + half, se, n, 0, f"delta method; {INDEPENDENT}")
        found.append(estimate("third_party_log_odds", {"vendor": vendor}, interval, "published", "logit"))
    return found


def _influence(table: list[list[int]], v: int) -> list[list[float]]:
    """d s_v / d ln N_w(k): s_v = 1/2 sum over w of [ln N_v(v)/N_v(x) - ln N_w(v)/N_w(x)], x the third vendor."""
    weights = [[0.0] * 3 for _ in range(3)]
    for w in range(3):
        if w != v:
            x = 3 - v - w
            weights[v][v] += 0.5
            weights[v][x] -= 0.5
            weights[w][v] -= 0.5
            weights[w][x] += 0.5
    return weights


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


def inseparable(vendors: int) -> str:
    """What an excess over other vendors' judges cannot be told from, as the end of a sentence that reports it.

    A rival that puts its own answer first more often by p takes p / (V - 1) from each other one, in one of the V - 1
    groups that an excess is compared with: p / (V - 1)^2 counts as the other's preference.

    >>> inseparable(3)
    "which unequally sharp judges or a partial rival would do too (1/4 of a rival's preference counts as one's own)"
    """
    leak = f" (1/{(vendors - 1) ** 2} of a rival's preference counts as one's own)" if vendors > 2 else ""
    return f"which unequally sharp judges or a partial rival would do too{leak}"


def finding(estimates: list[Estimate]) -> str:
    """What the published margins say, vendor by vendor, and what they cannot separate."""
    by = {(each.id, each.where.get("vendor", "")): each for each in estimates if "judge" not in each.where}
    lines = []
    for vendor in sorted(vendor for id, vendor in by if id == "excess_self_preference"):
        own, excess = by["self_bias", vendor], by["excess_self_preference", vendor]
        odds = by.get(("third_party_log_odds", vendor))
        name = display_name(vendor)
        told = f"- **{name}** judges rank {name} first in {own}, {excess} more often than other vendors' judges do"
        told += f", {inseparable(len([each for each in by if each[0] == 'excess_self_preference']))}"
        lines.append(f"{told}; log-odds against the third vendor {odds}." if odds else f"{told}.")
    own = [each.value for (id, _), each in by.items() if id == "self_bias"]
    excess = [each.value for (id, _), each in by.items() if id == "excess_self_preference"]
    wide, narrow = 100 * (max(own) - min(own)), 100 * (max(excess) - min(excess))
    turned = f"Own rates range over {wide:.1f} pp, the excesses over {narrow:.1f} pp"
    if narrow < wide / 2:
        turned += ": much of what an own rate shows is how often everybody puts that vendor first"
    turned += ". Which vendor is the most partial, margins cannot say."
    return "\n".join(
        [
            f"Judges: {JUDGES}.",
            "",
            *lines,
            "",
            turned,
            "",
            "These are margins, with intervals that take all votes as independent. They **cannot separate** a model "
            "from the letter under which it was always shown (the source used one order throughout), self-preference "
            "from unequal sharpness of the judges, nor any judge's preference from those of the judges it is compared "
            "with.",
        ]
    )
