"""The published metrics, group by group: what their differences carry, and which is lowest; asked or from counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from ...stats.bootstrap import bca
from ...stats.intervals import MIN_CLUSTERS, NAN, Interval, no_interval
from ...stats.power import detectable_effect
from ...stats.standing import size
from ...stats.tests import benjamini_hochberg, deal_counts, deal_groups, discordance
from ...types import Estimate
from ...words import p_text, sentence
from ...words.numbers import text_of
from ..protocol import INDEPENDENT, Numbers, bare, estimator, measure_all, pick
from ..top_choice import defended, rates
from ..top_choice.rates import SPREADS, from_margins, from_top1_counts, pooled_counts
from .asked import CONTROL
from .paired import CONFIRMATORY, LEVEL, conclusions, hints_in

METRICS = ("average_self_bias", *SPREADS)
#: Bounds at a level for many comparisons lie far out: enough resamples to find them.
RESAMPLES = 10_000


def in_group(estimates: Sequence[Estimate], hint: str) -> list[Estimate]:
    """The estimates with the group that they belong to in `where`."""
    return [replace(each, where={**each.where, "hint": hint}) for each in estimates]


def group_metrics(frame: pd.DataFrame, data: str, seed: int) -> Iterator[Estimate]:
    """Every published metric of each group by its own judgments; `where` holds the hint ("none": blind).

    A group without a valid ranking has only its unreadable share.
    """
    for hint in (CONTROL, *hints_in(frame)):
        part = frame[frame["condition"] == hint]
        if part.empty:
            continue
        yield from in_group(rates.unreadable_share(part, data), hint)
        if not (part["top"] == 1.0).any():
            continue
        estimators = (rates.top1_rate, rates.vendor_share, rates.self_bias, rates.spread, rates.categories)
        metrics = measure_all((*estimators, defended.excess_self_preference), part, data, seed=seed)
        yield from in_group([each for each in metrics if each.id != "category_top1_rate"], hint)


@estimator("hinting")
def spread_change(frame: pd.DataFrame, seed: int) -> Numbers:
    """How much each hint changes each metric of spread against blind, in pp, questions paired (`where`: hint, metric).

    BCa over questions at a level that holds for the confirmatory hints and all metrics together (Bonferroni).
    """
    family = len(CONFIRMATORY) * len(SPREADS)
    level = 1 - LEVEL / family
    for hint in hints_in(frame):
        both = frame[frame["condition"].isin([hint, CONTROL])]
        for number, metric in enumerate(SPREADS, seed):
            x, d, columns, statistic, n = rates.rate_sums(both, metric, (hint, CONTROL))
            if not columns or not (d.sum(axis=0) > 0).all():
                continue
            x, d = (each.reshape(len(each), -1) for each in (x, d))
            if len(columns) < 2 and metric != "deviation_from_expected":
                clusters = int((d > 0).any(axis=1).sum())
                interval = no_interval(math.nan, n, clusters, "one rate alone has no spread")
            else:
                interval = bca(x, d, partial(_difference, statistic), number, RESAMPLES, level)
                interval = replace(interval, n=n, method=f"{interval.method}, {level:.1%} ({family} together)")
            yield "spread_change", {"hint": hint, "metric": metric}, interval


def _difference(statistic: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
    """A metric of the first half of the rates less that of the second."""
    first, second = np.split(values, 2, axis=-1)
    return statistic(first) - statistic(second)


AVERAGE, CATEGORY = "average_self_bias", "category_average_self_bias"
NO_GROUP = "no group"
#: Two numbers from the same counts can differ by rounding of the last digit.
SAME = 1e-9
#: How often groups are dealt anew.
DRAWS = 2000
_DEALT = f"{DRAWS} times the groups were dealt anew within each question; their mean, and the middle 95 % of them"
#: The goals of the source's recommendations.
VALIDITY, MITIGATION, BALANCE = "benchmark validity", "bias mitigation", "balanced selection"
DISRUPTION = "studying disruption"
_NO_NAMES = "nothing names the authors, so no identity leaks into a verdict"
_NAMES = {
    "average_self_bias": "average self-bias",
    "deviation_from_expected": "deviation from expected",
    "balance": "balance score",
    "consistency_judges": "consistency over judges",
    "consistency_vendors": "consistency over vendors",
}
_CAPTIONS = {
    "metric": "The published metrics of each group and the lowest group of each, in % and pp.",
    "category": "Own-vendor first places by category and the lowest group of each, in %.",
}
#: The value of each group by metric.
Rows = Mapping[str, Mapping[str, float]]


@estimator("hinting")
def chance(frame: pd.DataFrame, seed: int) -> Numbers:
    """How far the lowest group of each metric and category lies below the mean of all groups, and how far by chance.

    `group_gap` (`where`: metric or category, and side: lowest, of metrics also highest), in pp; `group_gap_by_chance`:
    mean and middle 95 % of it where groups are dealt anew within each question. No p and no range below 10 questions.
    """
    hints = [hint for hint in (CONTROL, *hints_in(frame)) if (frame["condition"] == hint).any()]
    rows = [({"metric": id}, id, frame) for id in METRICS]
    rows += [({"category": str(name)}, AVERAGE, part) for name, part in frame.groupby("category", sort=True)]
    for number, (where, metric, part) in enumerate(rows if len(hints) > 1 else []):
        x, d, columns, statistic, n = rates.rate_sums(part, metric, hints)
        if len(columns) < (1 if metric in METRICS[:2] else 2) or not (d.sum(axis=0) > 0).all():
            continue
        dealt = deal_groups(x, d, statistic, seed + number, DRAWS if len(x) >= MIN_CLUSTERS else 0)
        yield from gaps(where, statistic(x.sum(axis=0) / d.sum(axis=0)), dealt, n, len(x), _DEALT)


def gaps(
    where: Mapping[str, str], observed: np.ndarray, dealt: np.ndarray, n: int, clusters: int, method: str
) -> Numbers:
    """`chance` of one row, from its value in each group, (groups,), and the same dealt anew, (draws, groups)."""
    for side, sign in (("lowest", 1), ("highest", -1))[: 2 if "metric" in where else 1]:
        gap, draws = (sign * each.mean(axis=-1) - (sign * each).min(axis=-1) for each in (observed, dealt))
        draws = draws[~np.isnan(draws)]
        p = (1 + (draws >= gap - SAME).sum()) / (1 + len(draws)) if len(draws) else math.nan
        mean, low, high = (draws.mean(), *np.quantile(draws, (0.025, 0.975))) if len(draws) else [NAN] * 3
        why = method if len(draws) else f"not dealt anew below {MIN_CLUSTERS} questions"
        place = {**where, "side": side}
        yield "group_gap", place, replace(no_interval(gap, n, clusters, "bare difference"), p=float(p))
        yield "group_gap_by_chance", place, Interval(float(mean), float(low), float(high), NAN, n, clusters, why)


# --- which group is lowest --------------------------------------------------------------------------------------------


def lowest(values: Mapping[str, float]) -> list[str]:
    """All groups that share the lowest value, in their order: a best group with a twin is no best group.

    >>> lowest({"self": 0.3, "full": 0.3, "none": 0.4})
    ['self', 'full']
    """
    valid = {group: value for group, value in values.items() if not math.isnan(value)}
    return [group for group, value in valid.items() if value <= min(valid.values()) + SAME]


def highest(values: Mapping[str, float]) -> list[str]:
    """All groups that share the highest value, in their order."""
    return lowest({group: -value for group, value in values.items()})


def rows_of(estimates: Sequence[Estimate]) -> dict[tuple[str, str], dict[str, float]]:
    """The value of each metric and category (id, its name) in each group, by hint, where there is one."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for each in estimates:
        if (each.id in METRICS or each.id == CATEGORY) and not math.isnan(each.value):
            found.setdefault((each.id, each.where.get("category", each.id)), {})[each.where["hint"]] = each.value
    return found


def best_tables(estimates: Sequence[Estimate]) -> list[tuple[str, pd.DataFrame, str]]:
    """What goes into tables: name, frame and caption; each holds all sources of data.

    `best_metrics` and `best_categories`: each group's number, the lowest groups (`best`, ties in full), how far they
    lie below the mean of all groups (`ahead`), the same by chance, and p. `goals`: see `goals`.
    """
    by = {data: [each for each in estimates if each.data == data] for data in {e.data: 0 for e in estimates}}
    tables = []
    for name, key in (("best_metrics", "metric"), ("best_categories", "category")):
        parts = [_best(part, key).assign(data=data) for data, part in by.items()]
        frame = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
        last = ["best", "ahead", "by chance", "low", "high", "p"]
        if len(frame):
            frame = frame[[key, "data", *frame.columns.drop([key, "data", *last]), *last]].round(4)
            words = "Ahead: below the mean of all groups; by chance: the same where groups are dealt anew, with the "
            words += "middle 95 %; p after Benjamini and Hochberg."
            tables.append((name, frame, f"{_CAPTIONS[key]} {words}"))
    frame = pd.concat([goals(part).assign(data=data) for data, part in by.items()], ignore_index=True)
    return [*tables, ("goals", frame, "The group that the source's rules name for each goal, and what may be advised.")]


def _best(estimates: Sequence[Estimate], key: str) -> pd.DataFrame:
    """One row a metric or a category of one source, values times 100."""
    beside = {(each.id, each.where.get(key)): each for each in estimates if each.where.get("side") == "lowest"}
    nothing, rows = Estimate("group_gap", {}, math.nan), []
    groups = len(rows_of(estimates).get((AVERAGE, AVERAGE), ()))
    for (id, row), values in rows_of(estimates).items():
        if (id == CATEGORY) == (key == "category"):
            best = " = ".join(lowest(values)) + (f" (of {', '.join(values)} alone)" if len(values) < groups else "")
            gap, dealt = (beside.get((name, row), nothing) for name in ("group_gap", "group_gap_by_chance"))
            shares = {**values, "ahead": gap.value, "by chance": dealt.value, "low": dealt.low, "high": dealt.high}
            rows.append({key: row, "best": best, "p": gap.p} | {name: 100 * share for name, share in shares.items()})
    frame = pd.DataFrame(rows)
    return frame.assign(p=benjamini_hochberg(frame["p"])) if rows else frame


# --- what each goal asks for ------------------------------------------------------------------------------------------


def goals(estimates: Sequence[Estimate]) -> pd.DataFrame:
    """For each goal of the source the group that its rule names, why, at what price, and whether the data carry it.

    Columns: goal, group (ties in full), rationale, trade-offs, by chance, recommended, why (not). Recommended are:
    blind for validity, by design; for mitigation the lowest group that tells the truth (`_not_mitigating`); for
    disruption the one whose judges differ most (`_not_disrupted`). For balance none ever is: where answers differ in
    quality, fair judges are uneven too.
    """
    rows = {id: values for (id, _), values in rows_of(estimates).items() if id != CATEGORY}
    average = rows.get(AVERAGE, {})
    # Over judges, as documented, where every group has it; else over vendors, as printed.
    consistency = next((id for id in METRICS[3:] if len(rows.get(id, ())) >= len(average)), METRICS[3])
    spreads = [id for id in (*METRICS[1:3], consistency) if id in rows]
    wins = {hint: -sum(hint in lowest(rows[id]) for id in spreads) for id in spreads for hint in rows[id]}
    won = [id for id in spreads if lowest(wins)[0] in lowest(rows[id])]
    differ = highest(rows.get(consistency, {}))
    truthful = lowest({hint: value for hint, value in average.items() if hint in (CONTROL, *CONFIRMATORY)})
    truthful = [hint for hint in truthful if hint != CONTROL]
    blind = [CONTROL] if CONTROL in average else []
    # Goal, groups, metrics that name them and on which side, what is advised, why not.
    named = [
        (VALIDITY, blind, [], "", blind, "no blind group was judged" if not blind else ""),
        (MITIGATION, lowest(average), [AVERAGE], "lowest", truthful, _not_mitigating(estimates, truthful)),
        (BALANCE, lowest(wins), won, "lowest", [], "lower is not fairer where answers differ in quality"),
        (DISRUPTION, differ, [consistency], "highest", differ, _not_disrupted(estimates, consistency, differ)),
    ]
    found = []
    for goal, groups, ids, side, advised, why in named:
        others = [id for id in (AVERAGE, *spreads) if id not in ids and groups[:1] and groups[0] in rows.get(id, {})]
        words = f"{side} {', '.join(_shown(rows, id, groups[0]) for id in ids)}" if ids and groups else ""
        price = "; ".join(each for id in others if (each := _behind(rows, id, groups[0])))
        by_chance = _by_chance(estimates, side, ids)
        advice = NO_GROUP if why else ", ".join(advised)
        group = " = ".join(groups) or "not derivable"
        found.append((goal, group, _NO_NAMES if goal == VALIDITY else words, price, by_chance, advice, why))
    columns = ["goal", "group", "rationale", "trade-offs", "by chance", "recommended", "why"]
    return pd.DataFrame(found, columns=columns)


def _shown(rows: Rows, id: str, hint: str) -> str:
    return f"{_NAMES[id]} {100 * rows[id][hint]:.2f} {'%' if id == AVERAGE else 'pp'}"


def _behind(rows: Rows, id: str, hint: str) -> str:
    """By how much another group is lower than this one; "" where none is."""
    best = lowest(rows[id])
    if hint in best:
        return ""
    how = "highest" if hint in highest(rows[id]) else "not the lowest"
    return f"{how} {_shown(rows, id, hint)} ({best[0]}: {100 * rows[id][best[0]]:.2f})"


def _by_chance(estimates: Sequence[Estimate], side: str, metrics: Sequence[str]) -> str:
    """How far the extreme group is from the mean of all, in the data and by chance."""
    by = {(e.id, e.where.get("metric")): e for e in estimates if e.where.get("side") == side and e.value == e.value}
    both = ((_NAMES[id], by.get(("group_gap", id)), by.get(("group_gap_by_chance", id))) for id in metrics)
    return "; ".join(
        f"{name} {gap}, by chance {dealt} (p {p_text(gap.p)})" for name, gap, dealt in both if gap and dealt
    )


def _not_mitigating(estimates: Sequence[Estimate], choice: Sequence[str]) -> str:
    """Why no truthful group can be recommended against self-preference; "" where the chosen ones can."""
    if not choice:
        return "no hint that tells the truth is lower than blind"
    average = pick(estimates, "hint_effect", vendor="average")
    effects = {each.where["hint"]: each for each in average if each.where["hint"] in choice}
    if not effects:
        return "nothing pairs the groups"
    shown = conclusions(estimates)
    if not all(hint in effects and shown.get(hint) == "different" and effects[hint].value < 0 for hint in choice):
        return "its difference to blind is not shown"
    excess = pick(estimates, "excess_self_preference")
    if not any(each.low > 0 for each in pick(excess, hint=CONTROL)):
        return "blind judges are not shown to prefer their own"
    if any(each.high < 0 for each in excess if each.where["hint"] in choice):
        return "it turns judges against their own"
    return ""


def _not_disrupted(estimates: Sequence[Estimate], metric: str, groups: Sequence[str]) -> str:
    """Why it is not shown that judges of these groups differ more than blind ones; "" where it is."""
    if CONTROL in groups:
        return "no hint makes judges differ more"
    changes = [each for each in pick(estimates, "spread_change", metric=metric) if each.where["hint"] in groups]
    if not changes:
        return "nothing pairs the groups"
    return "" if all(each.low > 0 for each in changes) else "its difference to blind is not shown"


def recommended(estimates: Sequence[Estimate]) -> str:
    """Which group can be recommended for which goal, and why none can where none can."""
    table = goals(estimates).query("goal != @VALIDITY")
    proofs = {MITIGATION: "lower than blind by a paired interval, where blind judges prefer their own"}
    proofs[DISRUPTION] = "judges differ more than blind ones by a paired interval"
    reasons = table["why"].where(table["why"] != "", "*" + table["recommended"] + "*, " + table["goal"].map(proofs))
    advice = "; ".join(table["goal"] + ": " + reasons)
    if (table["recommended"] == NO_GROUP).all():
        advice = f"**No group can be recommended** ({advice}); blind stays the protocol that gives nothing away"
    return sentence(advice, "simulated" if any(each.data == "simulated" for each in estimates) else "")


def chance_words(estimates: Sequence[Estimate]) -> str:
    """How many lowest groups lie further below the others than the lowest of so many groups does by chance; or ""."""
    tested = [each for each in pick(estimates, "group_gap", side="lowest") if each.p == each.p]
    if not tested:
        return ""
    adjusted = benjamini_hochberg([each.p for each in tested])
    clear = [each.where for each, p in zip(tested, adjusted, strict=True) if p < LEVEL]
    names = ", ".join(_NAMES.get(where.get("metric", ""), where.get("category", "")) for where in clear)
    return (
        f"{'SIMULATED: of' if tested[0].data == 'simulated' else 'Of'} {len(tested)} metrics and categories "
        f"{f'{len(clear)} ({names})' if clear else 'none'} {'have' if len(clear) > 1 else 'has'} a lowest group that "
        "lies further below the mean of all groups than the lowest of as many does by chance (p < 0.05 after Benjamini "
        "and Hochberg). In all others, which group is lowest says nothing."
    )


# --- the published groups from their counts: what these determine, and what they leave open ---------------------------

NO_PAIRS = "no interval: the pairing of the groups is not published"
DEALT = f"votes dealt anew among the groups; {INDEPENDENT}"


@estimator("hinting", "published")
def from_published(published: Mapping[str, Any], blind: Mapping[str, Any]) -> Numbers:
    """All estimates that the counts of the hinted groups, and of experiment 1 for the blind one, determine.

    `published` and `blind` are the two experiments' published/counts.yaml. Consistency over judges only where a group's
    judges are published. `hint_change` (hint minus blind, by vendor and on average) is a bare number.
    """
    judges = {**published["top1_by_judge"]["counts"], CONTROL: blind["blind_top1_by_judge"]["counts"]}
    pooled = pooled_counts(judges[CONTROL])
    own = {**published["own_top1_by_group"]["counts"], CONTROL: {vendor: pooled[vendor][vendor] for vendor in pooled}}
    blind_first = {vendor: sum(row[vendor] for row in pooled.values()) for vendor in pooled}
    every = {**published["top1_by_group"]["counts"], CONTROL: blind_first}
    n, total = published["own_top1_by_group"]["judgments_per_vendor"], published["top1_by_group"]["judgments_per_group"]
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for hint in (CONTROL, *CONFIRMATORY):
        found = from_margins({vendor: (count, n) for vendor, count in own[hint].items()}, every[hint])
        if hint in judges:
            found += pick(from_top1_counts(judges[hint]), "top1_rate", "consistency_judges")
        for at, values in rows_of(in_group(found, hint)).items():
            rows.setdefault(at, {}).update(values)
        yield from in_group(found, hint)
    cells, block = published["own_top1_by_category"]["judgments_per_cell"], published["own_top1_by_category"]["counts"]
    for category, row in block.items():
        rows[CATEGORY, category] = {hint: count / cells for hint, count in row.items()}
        for hint, share in rows[CATEGORY, category].items():
            yield CATEGORY, {"category": category, "hint": hint}, bare(share, cells, f"no interval; {INDEPENDENT}")
    yield from (("judgments", {"hint": hint}, bare(sum(row.values()), total)) for hint, row in every.items())
    for hint in CONFIRMATORY:
        changes = {vendor: count / n - own[CONTROL][vendor] / n for vendor, count in own[hint].items()}
        yield from (
            (("hint_change", {"hint": hint, "vendor": v}, bare(x, 2 * n, NO_PAIRS)) for v, x in changes.items())
        )
        average = bare(fmean(changes.values()), 2 * n * len(changes), NO_PAIRS)
        yield "hint_change", {"hint": hint, "vendor": "average"}, average
    yield from _chance(own, every, n, total)
    for number, (category, row) in enumerate(block.items()):
        votes = np.array([[count, cells - count] for count in row.values()])
        shares, dealt = (each[..., 0] / cells for each in (votes, deal_counts(votes, number, DRAWS)))
        yield from gaps({"category": category}, shares, dealt, cells * len(row), 0, DEALT)
    yield from _ranks(rows)


def _chance(
    own: Mapping[str, Mapping[str, int]], every: Mapping[str, Mapping[str, int]], n: int, total: int
) -> Numbers:
    """`groups.chance` of the metrics, from counts: votes are dealt anew to the groups, as if they were independent."""
    firsts, shares = (np.array([[*row.values()] for row in counts.values()]) for counts in (own, every))
    votes = [np.stack([column, n - column], axis=1) for column in firsts.T]
    by_vendor = firsts / n, np.stack([deal_counts(each, i, DRAWS)[..., 0] for i, each in enumerate(votes)], axis=-1) / n
    overall = shares / total, deal_counts(shares, len(votes), DRAWS) / total
    for metric in ("average_self_bias", "deviation_from_expected", "balance", "consistency_vendors"):
        statistic = rates.statistic(metric, [1 / len(votes)] * len(votes))
        observed, dealt = map(statistic, overall if metric == "balance" else by_vendor)
        yield from gaps({"metric": metric}, observed, dealt, total * len(own), 0, DEALT)


def _ranks(rows: Mapping[tuple[str, str], Mapping[str, float]]) -> Numbers:
    """Which groups have the lowest and the highest value of a row, and how many share the lowest, as counts.

    `is_lowest`, `is_highest` (`where`: row, hint; 1 or 0) and `lowest_groups` (`where`: row); a row is a metric or a
    category. Only rows that all groups have.
    """
    for (_, row), values in rows.items():
        if len(values) > len(CONFIRMATORY):
            least, most = lowest(values), highest(values)
            yield "lowest_groups", {"row": row}, bare(len(least), len(values))
            for id, chosen in (("is_lowest", least), ("is_highest", most)):
                yield from ((id, {"row": row, "hint": hint}, bare(hint in chosen, len(values))) for hint in values)


def totals(estimates: Sequence[Estimate]) -> dict[str, tuple[int, int]]:
    """Own-vendor first places and judgments of each published group."""
    found: dict[str, tuple[int, int]] = {}
    for each in pick(estimates, "self_bias"):
        if each.data == "published":
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
    counted = ", ".join(f"{own} ({hint})" for hint, (own, _) in counts.items())
    lines = [
        f"Own-vendor first places, of {n} a group: {counted}. Taken as independent votes, a test of equal rates gives "
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
    lines += ["", text_of("hinting", "margins")]
    effects = [e for e in pick(asked, "hint_effect") if not math.isnan(e.se) and e.where["hint"] in CONFIRMATORY]
    changes = pick(estimates, "hint_change")
    (average, _), (vendor, _) = both = [
        [[e for e in numbers if (e.where["vendor"] == "average") == pooled] for numbers in (effects, changes)]
        for pooled in (True, False)
    ]
    if average and vendor:
        before, after = (_detectable(average, LEVEL / tests) for tests in (1, len(CONFIRMATORY)))
        one, largest = _detectable(vendor, LEVEL), [max(moved, key=size) for _, moved in both]
        lines.append(
            f"With the standard errors of the run below ({average[0].clusters} questions"
            f"{', SIMULATED models' if average[0].data == 'simulated' else ''}), 80 % of such studies would find an "
            f"average effect of {before:.1f} pp ({after:.1f} pp after Holm) and one of {one:.1f} pp for a single "
            f"vendor; the largest published changes are {largest[0]} and {largest[1]}."
        )
    return "\n".join(lines)


def _detectable(effects: Sequence[Estimate], level: float) -> float:
    """The smallest effect found in 80 % of such runs, in pp, on average over these."""
    return 100 * fmean(detectable_effect(each.se, each.df, level=level) for each in effects)
