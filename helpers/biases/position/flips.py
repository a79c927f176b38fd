"""Whether swapping does more than asking again, and what a judge does with equal and with grossly unequal answers.

`excess_flip`, per question: let the winners of one order be independent draws from p, those of the other from q
(baseline, candidate or tie). Two verdicts of different orders disagree with probability 1 - sum p q, two of the same
order with 1 - sum p^2 and 1 - sum q^2. The excess, the first less the mean of the others, is sum (p - q)^2 / 2: never
below 0, and 0 just where the order changes nothing, however noisy the judge. Counting all pairs of verdicts estimates
each term without bias (U-statistics), so one question may come out below 0 and the mean over questions is unbiased.

A flip rate minus one foreseen from repetition stability r, 1 - (r^2 + (1 - r)^2), is not: the share of the more
frequent verdict in a few repeats lies above its probability, so a judge that tosses coins (r = 3/4 in two repeats)
would be foreseen to flip 3/8 and does flip 1/2; and an r averaged over questions foresees too many flips.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from helpers.biases.position.classes import share
from helpers.biases.position.effects import tested
from helpers.biases.position.pairs import GRADES, comparisons, signs, valid
from helpers.stats.estimates import estimate
from helpers.stats.intervals import Interval, clustered_mean, no_interval
from helpers.stats.numbering import clusters_of
from helpers.types import Estimate

NEEDS_REPEAT = "needs each order asked twice on the same question (repeats = 2 where judges are asked)"
DRAWS = 9999
THIRDS = ("small", "middle", "large")


def winners(table: pd.DataFrame) -> pd.DataFrame:
    """How often each question was won in each order over all repeats, condition none; one row a question.

    Columns: source, judge, candidate, question_id, cluster, and baseline_1, tie_1, candidate_1 (baseline first),
    baseline_2, tie_2, candidate_2 (candidate first). Single readable verdicts count, whatever the other order says.
    """
    rows = table[table["condition"] == "none"]
    rows = rows.assign(cluster=clusters_of(rows))
    keys = ["source", "judge", "candidate", "question_id", "cluster"]
    counted = rows[keys].copy()
    for game, side in ((1, -1), (2, 1)):
        sign = side * signs(rows[f"verdict_{game}"])
        for name, value in (("baseline", -1), ("tie", 0), ("candidate", 1)):
            counted[f"{name}_{game}"] = (sign == value).astype(int)
    return counted.groupby(keys, observed=True, sort=True).sum().reset_index()


def excess(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """P(disagree | swapped) - P(disagree | asked again) of each question, from all pairs: (Q, 3) counts -> (Q,).

    NaN where an order has fewer than two verdicts.

    >>> excess(np.array([[2, 0, 0], [1, 0, 1]]), np.array([[0, 0, 2], [1, 0, 1]])).tolist()
    [1.0, -0.5]
    """
    one, two = np.asarray(one, dtype=float), np.asarray(two, dtype=float)
    n, m = one.sum(axis=-1), two.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossed = 1 - (one * two).sum(axis=-1) / (n * m)
        within = [1 - (c * (c - 1)).sum(axis=-1) / (k * (k - 1)) for c, k in ((one, n), (two, m))]
    return np.where((n > 1) & (m > 1), crossed - (within[0] + within[1]) / 2, np.nan)


def relabelled(one: np.ndarray, two: np.ndarray, seed: int, draws: int = DRAWS) -> float:
    """The p of the mean excess if verdicts are dealt anew to the two orders, question by question.

    One-sided, since the excess itself is never below 0. Where the order changes nothing, the verdicts on a question are
    exchangeable, so this is exact whatever their noise; (1 + hits) / (1 + draws). `one`, `two`: (Q, 3) counts, two
    verdicts an order or more.
    """
    rng = np.random.default_rng(seed)
    # Which winner has which count does not matter to the excess.
    dealt = np.column_stack([np.sort(one + two, axis=1), one.sum(axis=1)]).astype(int)
    kinds, many = np.unique(dealt, axis=0, return_counts=True)
    totals = np.zeros(draws)
    for kind, count in zip(kinds, many, strict=True):
        values, chances = _dealt(kind[:3], kind[3])
        if len(values) > 1:
            totals += rng.multinomial(count, chances, size=draws) @ values
    observed = excess(one, two).sum()
    near = 1e-9 * len(one)  # sums that are equal on paper differ in the last digits
    return float((1 + (totals >= observed - near).sum()) / (1 + draws))


def _dealt(counts: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """The excesses that come of dealing these verdicts, `first` of them to the first order, and how likely each is."""
    ways = np.array([way for way in product(*(range(c + 1) for c in counts)) if sum(way) == first])
    chances = np.array([math.prod(map(math.comb, map(int, counts), map(int, way))) for way in ways], dtype=float)
    values, where = np.unique(excess(ways, counts - ways).round(12), return_inverse=True)
    return values, np.bincount(where, weights=chances) / chances.sum()


def excess_flip(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How much more often verdicts name another winner with swapped orders than with the same order asked again, in pp.

    Condition none, all repeats, each question with two readable verdicts in each order counts once; p by dealing the
    verdicts anew to the orders. `where`: judge, candidate. Takes `pairs`.
    """
    counted, found = winners(table), []
    for where, rows in comparisons(counted):
        one, two = (rows[[f"{name}_{game}" for name in ("baseline", "tie", "candidate")]].to_numpy() for game in (1, 2))
        values = excess(one, two)
        kept = ~np.isnan(values)
        interval = _excess(values[kept], rows["cluster"][kept], one[kept], two[kept], seed)
        found.append(estimate("excess_flip", where, interval, data, "pp", (0.0, 1.0)))
    return found


def _excess(values: np.ndarray, clusters: pd.Series, one: np.ndarray, two: np.ndarray, seed: int) -> Interval:
    if not len(values):
        return no_interval(math.nan, 0, 0, NEEDS_REPEAT)
    merged = clusters.duplicated().any()  # verdicts on near-duplicates are not dealt independently: the p is t's
    interval = clustered_mean(values, clusters, null=0.0 if merged else None)
    interval = replace(interval, n=int(one.sum() + two.sum()))
    if math.isnan(interval.low) or merged:
        return interval
    method = f"{interval.method}; one-sided p by dealing verdicts anew"
    return replace(interval, p=relabelled(one, two, seed), method=method)


def control_arms(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """What a judge does with the same text twice and with a good answer against a grossly bad one.

    `identical_pair_effect`: P(first) - P(second) over single readable verdicts on identical texts, ties counting for
    neither, in pp: whatever is not 0 is a preference for a place or its letter. `quality_gap_accuracy`: how often the
    good answer wins, a tie counting as not. `where`: judge, candidate; nothing where an arm was not asked. Takes
    `pairs`.
    """
    found = []
    for where, rows in comparisons(table[table["condition"] == "identical"]):
        each = _single(rows)
        interval = tested(each["sign"], each["cluster"], seed, "no readable verdict")
        found.append(estimate("identical_pair_effect", where, interval, data, "pp"))
    for where, rows in comparisons(table[table["condition"] == "quality_gap"]):
        each = _single(rows)
        interval = share(each, each["sign"] * each["side"] > 0, "no readable verdict")
        found.append(estimate("quality_gap_accuracy", where, interval, data))
    return found


def _single(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a readable verdict: cluster, sign (in favour of the first), side (1: the candidate stood first)."""
    label = pd.concat([rows["verdict_1"], rows["verdict_2"]], ignore_index=True)
    cluster = pd.concat([clusters_of(rows)] * 2, ignore_index=True)
    each = pd.DataFrame({"cluster": cluster, "sign": signs(label), "side": np.repeat([-1, 1], len(rows))})
    return each[each["sign"].notna()]


def flip_by_gap(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How often the two orders name different winners where the answers are near in quality, and where far apart.

    The gap of a pair is |mean verdict for the candidate| on -2..2, both orders, of the other judges of the same two
    answers, or else of the judge's own other repeats: never the pair's own verdicts, which would make gap and flip one
    thing. `where`: judge, candidate, gap ("small", "middle", "large": thirds of its pairs; equal gaps stay together).
    Nothing where neither exists. Takes `pairs`.
    """
    rows = valid(table)
    rows = rows.assign(grade=sum(side * signs(rows[f"verdict_{game}"], GRADES) for game, side in ((1, -0.5), (2, 0.5))))
    same = ["candidate", "baseline", "question_id", "category"]
    everyone = rows.groupby(same, observed=True, dropna=False)["grade"].agg(["sum", "size"])
    own = rows.groupby([*same, "judge"], observed=True, dropna=False)["grade"].agg(["sum", "size"])
    rows = rows.join(everyone.add_suffix("_all"), on=same).join(own.add_suffix("_own"), on=[*same, "judge"])
    found = []
    for where, part in comparisons(rows):
        others = part["size_all"] - part["size_own"]
        if (others > 0).any():
            gap, by = (part["sum_all"] - part["sum_own"]) / others.where(others > 0), "gap by other judges"
        else:
            repeats = part["size_own"] - 1
            gap, by = (part["sum_own"] - part["grade"]) / repeats.where(repeats > 0), "gap by the judge's other repeats"
        if gap.notna().any():
            found += _thirds(where, part[gap.notna()], gap.dropna().abs(), by, data)
    return found


def _thirds(where: dict[str, str], rows: pd.DataFrame, gap: pd.Series, by: str, data: str) -> Sequence[Estimate]:
    cuts = gap.quantile([1 / 3, 2 / 3]).to_numpy()
    third = np.searchsorted(cuts, gap.to_numpy(), side="left")
    made = []
    for place, name in enumerate(THIRDS):
        part = rows[third == place]
        interval = share(part, ~part["agree"], "no pair has such a gap: too few different gaps")
        interval = replace(interval, method=f"{interval.method}; {by}")
        made.append(estimate("flip_by_gap", where | {"gap": name}, interval, data))
    return made
