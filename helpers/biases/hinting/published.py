"""The published groups from their counts: every number that counts determine, and what they leave open."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from ...stats.power import detectable_effect
from ...stats.standing import size
from ...stats.tests import deal_counts, discordance
from ...types import Estimate
from ...words import p_text
from ..protocol import INDEPENDENT, published_value
from ..top_choice.published import from_margins, from_top1_counts, pooled_counts
from ..top_choice.rates import statistic
from .asked import CONTROL
from .groups import DRAWS, gaps, highest, in_group, lowest, rows_of
from .paired import CONFIRMATORY, LEVEL

NO_PAIRS = "no interval: the pairing of the groups is not published"
DEALT = f"votes dealt anew among the groups; {INDEPENDENT}"


def from_published(published: Mapping[str, Any], blind: Mapping[str, Any]) -> list[Estimate]:
    """All estimates that the counts of the hinted groups, and of experiment 1 for the blind one, determine.

    `published` and `blind` are the two experiments' published/counts.yaml. Consistency over judges only where a group's
    judges are published. `hint_change` (hint minus blind, by vendor and on average) is a bare number.
    """
    judges = {**published["top1_by_judge"]["counts"], CONTROL: blind["blind_top1_by_judge"]["counts"]}
    pooled = pooled_counts(judges[CONTROL])
    own = {**published["own_top1_by_group"]["counts"], CONTROL: {vendor: pooled[vendor][vendor] for vendor in pooled}}
    every = {vendor: sum(row[vendor] for row in pooled.values()) for vendor in pooled}
    every = {**published["top1_by_group"]["counts"], CONTROL: every}
    n, total = published["own_top1_by_group"]["judgments_per_vendor"], published["top1_by_group"]["judgments_per_group"]
    found: list[Estimate] = []
    for hint in (CONTROL, *CONFIRMATORY):
        found += in_group(from_margins({vendor: (count, n) for vendor, count in own[hint].items()}, every[hint]), hint)
        if hint in judges:
            found += in_group(
                [e for e in from_top1_counts(judges[hint]) if e.id in ("top1_rate", "consistency_judges")], hint
            )
    found += _categories(published["own_top1_by_category"])
    found += [
        published_value("judgments", {"hint": hint}, sum(row.values()), total, "count", "counted")
        for hint, row in every.items()
    ]
    rates = {hint: {vendor: count / n for vendor, count in counts.items()} for hint, counts in own.items()}
    found += [each for hint in CONFIRMATORY for each in _changes(rates[hint], rates[CONTROL], hint, n)]
    found += _chance(own, every, n, total)
    n = published["own_top1_by_category"]["judgments_per_cell"]
    for number, (category, row) in enumerate(published["own_top1_by_category"]["counts"].items()):
        votes = np.array([[count, n - count] for count in row.values()])
        shares, dealt = (each[..., 0] / n for each in (votes, deal_counts(votes, number, DRAWS)))
        found += gaps({"category": category}, shares, dealt, n * len(row), 0, DEALT, "published")
    return found + ranks(found)


def _chance(
    own: Mapping[str, Mapping[str, int]], every: Mapping[str, Mapping[str, int]], n: int, total: int
) -> list[Estimate]:
    """`groups.chance` of the metrics, from counts: votes are dealt anew to the groups, as if they were independent."""
    firsts, shares = (np.array([[*row.values()] for row in counts.values()]) for counts in (own, every))
    rates = [np.stack([column, n - column], axis=1) for column in firsts.T]
    by_vendor = firsts / n, np.stack([deal_counts(each, i, DRAWS)[..., 0] for i, each in enumerate(rates)], axis=-1) / n
    overall = shares / total, deal_counts(shares, len(rates), DRAWS) / total
    found = []
    for metric in ("average_self_bias", "deviation_from_expected", "balance", "consistency_vendors"):
        values = map(statistic(metric, [1 / len(rates)] * len(rates)), overall if metric == "balance" else by_vendor)
        found += gaps({"metric": metric}, *values, total * len(own), 0, DEALT, "published")
    return found


def _categories(block: Mapping[str, Any]) -> list[Estimate]:
    n = block["judgments_per_cell"]
    id, why = "category_average_self_bias", f"no interval; {INDEPENDENT}"
    return [
        published_value(id, {"category": category, "hint": hint}, count / n, n, "rate", why)
        for category, row in block["counts"].items()
        for hint, count in row.items()
    ]


def _changes(hinted: Mapping[str, float], blind: Mapping[str, float], hint: str, n: int) -> list[Estimate]:
    changes = {vendor: rate - blind[vendor] for vendor, rate in hinted.items()}
    changes["average"] = fmean(changes.values())
    return [
        published_value("hint_change", {"hint": hint, "vendor": vendor}, change, judged, "pp", NO_PAIRS)
        for vendor, change in changes.items()
        for judged in [2 * n * (len(hinted) if vendor == "average" else 1)]
    ]


def ranks(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Which groups have the lowest and the highest value of a row, and how many share the lowest, as counts.

    `is_lowest`, `is_highest` (`where`: row, hint; 1 or 0) and `lowest_groups` (`where`: row); a row is a metric or a
    category. Only rows that all groups have.
    """
    found = []
    for (_, row), values in rows_of(estimates).items():
        if len(values) < 1 + len(CONFIRMATORY):
            continue
        least, most = lowest(values), highest(values)
        found.append(published_value("lowest_groups", {"row": row}, len(least), len(values), "count", "counted"))
        for id, chosen in (("is_lowest", least), ("is_highest", most)):
            found += [
                published_value(id, {"row": row, "hint": hint}, float(hint in chosen), len(values), "count", "counted")
                for hint in values
            ]
    return found


def totals(estimates: Sequence[Estimate]) -> dict[str, tuple[int, int]]:
    """Own-vendor first places and judgments of each published group."""
    found: dict[str, tuple[int, int]] = {}
    for each in estimates:
        if each.id == "self_bias" and each.data == "published":
            own, n = found.get(each.where["hint"], (0, 0))
            found[each.where["hint"]] = own + round(each.value * each.n), n + each.n
    return found


def curves(estimates: Sequence[Estimate]) -> pd.DataFrame:
    """`discordance` of each published hint against blind, with the column hint in front."""
    counts = totals(estimates)
    blind, n = counts[CONTROL]
    parts = [discordance(blind, counts[hint][0], n).assign(hint=hint) for hint in CONFIRMATORY if hint in counts]
    return pd.concat(parts, ignore_index=True)[["hint", "share", "changed", "p"]]


def margins_words(estimates: Sequence[Estimate], asked: Sequence[Estimate]) -> str:
    """What the published margins leave open, and what so many questions could have shown.

    `asked` are the estimates of a run: the standard errors of its paired effects stand in for the unpublished ones.
    """
    from scipy.stats import chi2_contingency

    counts = totals(estimates)
    chi2, p, *_ = chi2_contingency([[own, n - own] for own, n in counts.values()], correction=False)
    blind, n = counts[CONTROL]
    told = ", ".join(f"{own} ({hint})" for hint, (own, _) in counts.items())
    lines = [
        f"Own-vendor first places, of {n} a group: {told}. Taken as independent votes, a test of equal rates gives "
        f"chi2 = {chi2:.2f}, p {p_text(p)}. But the same judges judged the same answers in every group: the votes are "
        "paired, and that p is not theirs.",
        "",
    ]
    table = curves(estimates)
    for hint, part in table.groupby("hint", sort=False):
        net = counts[str(hint)][0] - blind
        below = part[part["p"] < LEVEL]
        where = f"p stays above {LEVEL} however few changed"
        if len(below):
            most = int(below["changed"].max())
            where = f"p < {LEVEL} if at most {most} of {n} pairs ({most / n:.1%}) changed sides, above if more"
        lines.append(f"- *{hint}*: net change {net:+d} of {n} ({net / n:+.1%}); {where}.".replace("%)", " %)"))
    lines += [
        "",
        "These p take pairs as independent, which the judges of one question are not, so even the smallest may be too "
        "small. How many changed sides is not published. **The margins settle neither a difference nor its absence.**",
    ]
    effects = [e for e in asked if e.id == "hint_effect" and not math.isnan(e.se) and e.where["hint"] in CONFIRMATORY]
    changes = [each for each in estimates if each.id == "hint_change"]
    (average, _), (vendor, _) = both = [
        [[e for e in some if (e.where["vendor"] == "average") == whole] for some in (effects, changes)]
        for whole in (True, False)
    ]
    if average and vendor:
        before, after = (_shown(average, LEVEL / tests) for tests in (1, len(CONFIRMATORY)))
        one, largest = _shown(vendor, LEVEL), [max(moved, key=size) for _, moved in both]
        lines.append(
            f"With the standard errors of the run below ({average[0].clusters} questions"
            f"{', SIMULATED judges' if average[0].data == 'simulated' else ''}), 80 % of such studies would find an "
            f"average effect of {before:.1f} pp ({after:.1f} pp after Holm) and one of {one:.1f} pp for a single "
            f"vendor; the largest published changes are {largest[0]} and {largest[1]}."
        )
    return "\n".join(lines)


def _shown(effects: Sequence[Estimate], level: float) -> float:
    """The smallest effect found in 80 % of such runs, in pp, on average over these."""
    return 100 * fmean(detectable_effect(each.se, each.df, level=level) for each in effects)
