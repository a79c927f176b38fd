"""Which group has the lowest number, what it may be recommended for, and how low the lowest is by chance alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.biases.hinting.asking import CONTROL
from helpers.biases.hinting.concluding import effect_of, shown
from helpers.biases.hinting.groups import METRICS, statistic_of, sums_by_group
from helpers.biases.hinting.paired import CONFIRMATORY, LEVEL, hints_in
from helpers.biases.top_choice.rates import vendors
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate
from helpers.words import p_text

AVERAGE, CATEGORY = "average_self_bias", "category_average_self_bias"
NO_GROUP = "no group"
#: Two numbers from the same counts can differ by rounding of the last digit.
SAME = 1e-9
#: How often groups are dealt anew.
DRAWS = 2000
_BLOCK = 250
_SIDES = {"lowest_gap": 1, "highest_gap": -1}
_DEALT = f"{DRAWS} times the groups were dealt anew within each question; their mean, and the middle 95 % of them"

#: The goals of the source's recommendations.
VALIDITY, MITIGATION, BALANCE, DISRUPTION = (
    "benchmark validity",
    "bias mitigation",
    "balanced selection",
    "studying disruption",
)
_NO_NAMES = "nothing names the authors, so no identity leaks into a verdict"
_NAMES = {
    "average_self_bias": "average self-bias",
    "deviation_from_expected": "deviation from expected",
    "balance": "balance score",
    "consistency_judges": "consistency over judges",
    "consistency_vendors": "consistency over vendors",
}

# --- how far the lowest of so many groups lies from the others by chance ----------------------------------------------


def chance(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How far the lowest group of each metric and category lies below the mean of all groups, and how far by chance.

    `lowest_gap` (`where`: metric, or category; p), of metrics also `highest_gap` (above the mean), in pp; beside each
    `<id>_by_chance`: the mean and the middle 95 % of it where groups are dealt anew within each question, which changes
    nothing if no hint does. No p and no range below 10 questions; nothing for a row that not all groups have.
    """
    hints = [hint for hint in (CONTROL, *hints_in(frame)) if (frame["condition"] == hint).any()]
    rows = [({"metric": id}, id, frame) for id in METRICS]
    rows += [({"category": str(name)}, AVERAGE, part) for name, part in frame.groupby("category", sort=True)]
    found = []
    for number, (where, metric, part) in enumerate(rows if len(hints) > 1 else []):
        sums = sums_by_group(part, hints, metric)
        if sums is None or len(sums[2]) < (1 if metric in METRICS[:2] else 2):
            continue
        x, d, columns = sums
        statistic = statistic_of(metric, part, columns)
        dealt = np.empty((0, len(hints)))
        if len(x) >= MIN_CLUSTERS:
            dealt = np.concatenate([*_deal(x, d, statistic, seed + number)])
        n = round(d.sum() / (len(vendors(part)) if metric == "balance" else 1))
        observed = statistic(x.sum(axis=0) / d.sum(axis=0))
        found += gaps(where, observed, dealt, n, len(x), _DEALT, data)
    return found


def _deal(
    x: np.ndarray, d: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray], seed: int
) -> Iterator[np.ndarray]:
    """The metric of each group, (draws, groups), where groups change places within questions."""
    rng, (questions, groups) = np.random.default_rng(seed), x.shape[:2]
    places = np.arange(questions)[None, :, None]
    for _ in range(0, DRAWS, _BLOCK):
        order = rng.permuted(np.broadcast_to(np.arange(groups), (_BLOCK, questions, groups)), axis=-1)
        hits, judged = (each[places, order].sum(axis=1) for each in (x, d))
        with np.errstate(invalid="ignore", divide="ignore"):
            yield statistic(hits / judged)


def deal_counts(counts: np.ndarray, seed: int) -> np.ndarray:
    """Votes that are published as counts, (groups, labels), dealt anew to groups of the same sizes: (draws, ...).

    As if they were independent: which vote of one group belongs to which of another is not published.
    """
    rng, left = np.random.default_rng(seed), np.tile(counts.sum(axis=0), (DRAWS, 1))
    dealt = np.zeros((DRAWS, *counts.shape), dtype=int)
    for group, size in enumerate(counts.sum(axis=1)):
        need = np.full(DRAWS, size)
        for label in range(counts.shape[1]):
            others = left[:, label + 1 :].sum(axis=1)
            dealt[:, group, label] = rng.hypergeometric(left[:, label], others, need)
            need -= dealt[:, group, label]
        left -= dealt[:, group]
    return dealt


def gaps(
    where: Mapping[str, str], observed: np.ndarray, dealt: np.ndarray, n: int, clusters: int, method: str, data: str
) -> list[Estimate]:
    """How far the lowest (of metrics also the highest) group is from the mean of all: observed (groups,), and dealt."""
    found = []
    common = {"n": n, "clusters": clusters, "unit": "sd_pp", "data": data}
    for id, sign in _SIDES.items():
        if "category" in where and sign < 0:  # no goal asks for the highest
            continue
        gap, dealt_gaps = (sign * each.mean(axis=-1) - (sign * each).min(axis=-1) for each in (observed, dealt))
        dealt_gaps = dealt_gaps[~np.isnan(dealt_gaps)]
        if len(dealt_gaps):
            p = (1 + (dealt_gaps >= gap - SAME).sum()) / (1 + len(dealt_gaps))
            low, high = np.quantile(dealt_gaps, (0.025, 0.975))
            beside = Estimate(f"{id}_by_chance", where, float(dealt_gaps.mean()), low, high, method=method, **common)
        else:
            p, why = math.nan, f"not dealt anew below {MIN_CLUSTERS} questions"
            beside = Estimate(f"{id}_by_chance", where, math.nan, method=why, **common)
        found += [Estimate(id, where, float(gap), method="bare difference", p=float(p), **common), beside]
    return found


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


def rows_of(estimates: Sequence[Estimate]) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Each metric and category (id, its name) with its estimate in each group, by hint."""
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for each in estimates:
        if each.id in METRICS or each.id == CATEGORY:
            row = each.where.get("category", each.id)
            found.setdefault((each.id, row), {})[each.where["hint"]] = each
    return found


def values_of(row: Mapping[str, Estimate]) -> dict[str, float]:
    """The values of a row by hint, where there are any."""
    return {hint: each.value for hint, each in row.items() if not math.isnan(each.value)}


def best_tables(estimates: Sequence[Estimate]) -> list[tuple[str, pd.DataFrame, str, pd.DataFrame | None]]:
    """What goes into tables: name, frame, caption and the frame for CSV; each holds all sources of data.

    `best_metrics` and `best_categories`: each group's number, the lowest groups (`best`, ties in full), how far they
    lie below the mean of all groups (`ahead`), the same by chance, and p. `goals`: see `goals`.
    """
    sources = dict.fromkeys(each.data for each in estimates)
    by = {data: [each for each in estimates if each.data == data] for data in sources}
    tables = []
    for name, key, caption in (
        ("best_metrics", "metric", "The published metrics of each group and the lowest group of each."),
        ("best_categories", "category", "Own-vendor first places by category and the lowest group of each."),
    ):
        numbers = pd.concat([_best(part, data, key) for data, part in by.items()], ignore_index=True)
        if len(numbers):
            caption += " Ahead: below the mean of all groups; by chance: the same where groups are dealt anew."
            tables.append((name, _written(numbers), f"{caption} p after Benjamini and Hochberg.", numbers))
    parts = [goals(part).assign(data=data) for data, part in by.items()]
    caption = "Which group the source's rules name for each goal, and which may be recommended."
    return [*tables, ("goals", pd.concat(parts, ignore_index=True), caption, None)]


def _best(estimates: Sequence[Estimate], data: str, key: str) -> pd.DataFrame:
    """One row a metric or a category of one source, with values as stored."""
    beside = {(each.id, each.where.get(key)): each for each in estimates if each.id.startswith("lowest_gap")}
    groups, rows = len(rows_of(estimates).get((AVERAGE, AVERAGE), ())), []
    for (id, row), cells in rows_of(estimates).items():
        if (id == CATEGORY) != (key == "category"):
            continue
        values = values_of(cells)
        best = " = ".join(lowest(values)) or "not derivable"
        best += f" (of {', '.join(values)} alone)" if 0 < len(values) < groups else ""
        gap, by_chance = (beside.get((name, row)) for name in ("lowest_gap", "lowest_gap_by_chance"))
        facts = {"ahead": gap.value, "p": gap.p} if gap else {}
        facts |= {"by_chance": by_chance.value, "low": by_chance.low, "high": by_chance.high} if by_chance else {}
        rows.append({key: row, "data": data, **values, "best": best, **facts})
    hints = dict.fromkeys(each.where["hint"] for each in estimates if each.id in (AVERAGE, CATEGORY))
    columns = [key, "data", *(hint for hint in hints if any(hint in row for row in rows))]
    frame = pd.DataFrame(rows, columns=[*columns, "best", "ahead", "by_chance", "low", "high", "p"])
    return frame.assign(p=benjamini_hochberg(frame["p"].astype(float)) if len(frame) else frame["p"])


def _written(numbers: pd.DataFrame) -> pd.DataFrame:
    """The numbers as texts, in the digits of the source."""
    texts = numbers.astype(object)
    for at, row in numbers.iterrows():
        id = row.get("metric", CATEGORY)
        for name in numbers.columns[2:].drop(["best", "low", "high", "p"]):
            texts.loc[at, name] = _number("gap" if name in ("ahead", "by_chance") else id, row[name])
        if row["low"] == row["low"]:
            texts.loc[at, "by_chance"] += f" [{100 * row['low']:.2f}, {100 * row['high']:.2f}]"
        texts.loc[at, "p"] = p_text(row["p"]).removeprefix("= ") if row["p"] == row["p"] else ""
    return texts.drop(columns=["low", "high"]).rename(columns={"by_chance": "by chance"})


def _number(id: str, value: float) -> str:
    """A value as the source prints it: rates of categories with one digit, all else with two; "" for NaN."""
    if value != value:
        return ""
    return f"{100 * value:.1f} %" if id == CATEGORY else f"{100 * value:.2f} {'%' if id == AVERAGE else 'pp'}"


# --- what each goal asks for ------------------------------------------------------------------------------------------

#: The value of each group by metric.
Rows = Mapping[str, Mapping[str, float]]


def goals(estimates: Sequence[Estimate]) -> pd.DataFrame:
    """For each goal of the source the group that its rule names, why, at what price, and whether the data carry it.

    Columns: goal, group (ties in full), rationale, trade-offs, by chance, recommended, why (not). Recommended are:
    blind for validity, by design; for mitigation the lowest group that tells the truth, if blind judges are shown to
    prefer their own, its paired change is shown to be below 0, and it is not shown to turn them against their own; for
    studying disruption the group whose judges differ most, if they are shown to differ more than blind. For balance
    none ever is: fair judges of unequal answers are no less uneven than partial ones.
    """
    rows = {id: values_of(cells) for (id, _), cells in rows_of(estimates).items() if id != CATEGORY}
    average = rows.setdefault(AVERAGE, {})
    # Over judges, as documented, where every group has it; else over vendors, as printed.
    consistency = next((id for id in METRICS[3:] if len(rows.get(id, ())) >= len(average)), METRICS[3])
    spreads = [id for id in (*METRICS[1:3], consistency) if rows.get(id)]
    truthful = [hint for hint in lowest(_only(average, (CONTROL, *CONFIRMATORY))) if hint != CONTROL]
    wins = {hint: -sum(hint in lowest(rows[id]) for id in spreads) for id in spreads for hint in rows[id]}
    balanced, differ = lowest(wins), highest(rows.get(consistency, {}))
    won = [id for id in spreads if balanced[0] in lowest(rows[id])]
    blind = [CONTROL] if CONTROL in average else []
    changes = [average[hint] - average[CONTROL] for hint in differ[:1] if hint in average and blind and differ != blind]
    against = "".join(f", {100 * change:+.2f} pp against blind" for change in changes)
    found = [
        (VALIDITY, blind, _NO_NAMES, f"{_values_text(rows, [AVERAGE], blind)} remains", "", blind, ""),
        (
            MITIGATION,
            lowest(average),
            f"lowest {_values_text(rows, [AVERAGE], lowest(average))}",
            _behind(rows, spreads, lowest(average)),
            _by_chance(estimates, "lowest_gap", [AVERAGE]),
            truthful,
            _not_mitigating(estimates, truthful),
        ),
        (
            BALANCE,
            balanced,
            f"lowest {_values_text(rows, won, balanced)}",
            _behind(rows, [AVERAGE], balanced),
            _by_chance(estimates, "lowest_gap", spreads),
            [],
            "lower is not fairer where answers differ in quality",
        ),
        (
            DISRUPTION,
            differ,
            f"highest {_values_text(rows, [consistency], differ)}: its judges differ most",
            f"{_values_text(rows, [AVERAGE], differ)}{against}",
            _by_chance(estimates, "highest_gap", [consistency]),
            differ,
            _not_disrupted(estimates, consistency, differ),
        ),
    ]
    texts = [
        (goal, " = ".join(group) or "not derivable", *(words if group else ("", "")), chance, *_advice(advised, why))
        for goal, group, *words, chance, advised, why in found
    ]
    columns = ["goal", "group", "rationale", "trade-offs", "by chance", "recommended", "why"]
    return pd.DataFrame(texts, columns=columns)


def _only(values: Mapping[str, float], hints: Sequence[str]) -> dict[str, float]:
    return {hint: value for hint, value in values.items() if hint in hints}


def _advice(hints: Sequence[str], why: str) -> tuple[str, str]:
    return (", ".join(hints), "") if hints and not why else (NO_GROUP, why)


def _values_text(rows: Rows, ids: Sequence[str], groups: Sequence[str]) -> str:
    """Metrics of the first of these groups, as "balance 13.10 pp, ..."; "" without groups."""
    there = ((id, rows[id][hint]) for hint in groups[:1] for id in ids if hint in rows.get(id, {}))
    return ", ".join(f"{_NAMES[id]} {_number(id, value)}" for id, value in there)


def _behind(rows: Rows, ids: Sequence[str], groups: Sequence[str]) -> str:
    """The metrics in which another group is lower than the first of these."""
    words = []
    for id in ids:
        best = lowest(rows[id])
        if groups and groups[0] in rows[id] and groups[0] not in best:
            how = "highest" if groups[0] in highest(rows[id]) else "not the lowest"
            words.append(f"{how} {_values_text(rows, [id], groups)} ({best[0]}: {_number(id, rows[id][best[0]])})")
    return "; ".join(words) or "none in the other metrics"


def _by_chance(estimates: Sequence[Estimate], id: str, metrics: Sequence[str]) -> str:
    """How far the extreme group is from the mean of all, in the data and by chance."""
    by = {(each.id, each.where.get("metric")): each for each in estimates if each.id.startswith(id)}
    words = []
    for metric in metrics:
        gap, dealt = (by.get((name, metric)) for name in (id, f"{id}_by_chance"))
        if gap and dealt and gap.p == gap.p:
            words.append(f"{_NAMES[metric]} {gap}, by chance {dealt} (p {p_text(gap.p)})")
    return "; ".join(words)


def _not_mitigating(estimates: Sequence[Estimate], choice: Sequence[str]) -> str:
    """Why no truthful group can be recommended against self-preference; "" where the chosen ones can."""
    if not choice:
        return "no hint that tells the truth is lower than blind"
    effects = [effect_of(estimates, hint) for hint in choice]
    if not any(effects):
        return "nothing pairs the groups"
    if not all(each and shown(estimates, hint) and each.value < 0 for hint, each in zip(choice, effects, strict=True)):
        return "its difference to blind is not shown"
    excess = [each for each in estimates if each.id == "excess_self_preference"]
    if not any(each.low > 0 for each in excess if each.where["hint"] == CONTROL):
        return "blind judges are not shown to prefer their own"
    if any(each.high < 0 for each in excess if each.where["hint"] in choice):
        return "it turns judges against their own"
    return ""


def _not_disrupted(estimates: Sequence[Estimate], metric: str, groups: Sequence[str]) -> str:
    """Why it is not shown that judges of these groups differ more than blind ones; "" where it is."""
    if CONTROL in groups:
        return "no hint makes judges differ more"
    where = [{"hint": hint, "metric": metric} for hint in groups]
    changes = [each for each in estimates if each.id == "spread_change" and dict(each.where) in where]
    if not changes:
        return "nothing pairs the groups"
    return "" if all(each.low > 0 for each in changes) else "its difference to blind is not shown"


def recommended(estimates: Sequence[Estimate]) -> str:
    """Which group can be recommended for which goal, and why none can where none can."""
    table = goals(estimates)
    table = table[table["goal"] != VALIDITY]
    simulated = "SIMULATED: " if any(each.data == "simulated" for each in estimates) else ""
    clear = dict(table.loc[table["recommended"] != NO_GROUP, ["goal", "recommended"]].itertuples(index=False))
    if not clear:
        reasons = "; ".join(f"{row.goal}: {row.why}" for row in table.itertuples())
        return (
            f"{simulated}**No group can be recommended** ({reasons}). Blind stays the protocol that gives nothing away."
        )
    proofs = {
        MITIGATION: "lower than blind by a paired interval, where blind judges prefer their own",
        DISRUPTION: "judges differ more than blind ones by a paired interval",
    }
    return simulated + "; ".join(f"{proofs[goal]}: *{group}* for {goal}" for goal, group in clear.items()) + "."


def chance_words(estimates: Sequence[Estimate]) -> str:
    """How many lowest groups lie further below the others than the lowest of so many groups does by chance; or ""."""
    tested = [each for each in estimates if each.id == "lowest_gap" and each.p == each.p]
    if not tested:
        return ""
    clear = [each for each, p in zip(tested, benjamini_hochberg([each.p for each in tested]), strict=True) if p < LEVEL]
    names = ", ".join(_NAMES.get(name, name) for each in clear for name in each.where.values())
    counted = f"{len(clear)} ({names})" if clear else "none"
    return (
        f"{'SIMULATED: of' if tested[0].data == 'simulated' else 'Of'} {len(tested)} metrics and categories {counted} "
        f"{'have' if len(clear) > 1 else 'has'} a lowest group that lies further below the mean of all groups than the "
        "lowest of as many does by chance (p < 0.05 after Benjamini and Hochberg). In all others, which group is "
        "lowest says nothing."
    )
