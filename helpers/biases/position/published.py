"""What published counts say of the order of two answers: every source for itself, as far as its counts determine it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers.biases.position.counts import METHOD, Cell, from_pairs
from helpers.biases.position.families import place
from helpers.biases.position.leaderboard import leaderboard_contrast
from helpers.biases.position.pairs import INVALID, KINDS, NO_BIAS, SIGNIFICANT, WEAK, pairs
from helpers.biases.position.published_sources import ANALYZER, LLMBAR, NOTEBOOK, Source, games, sources
from helpers.stats.estimates import estimate
from helpers.stats.intervals import MIN_CLUSTERS, clustered, wilson
from helpers.types import Estimate

#: Of sources with several pairs a question, which are anything but independent: their counts are by question.
BY_QUESTION = "counts by question"
#: What the counts of a block do not determine, or what its verdicts do not have; choices of the sensitivity beside ids.
_STRENGTH, _STRINGS = "strong count 3", "as stored"
_OPEN = {NOTEBOOK: {"first_win_rate", "graded_position_effect", _STRENGTH}}
_OPEN[ANALYZER] = _OPEN[LLMBAR] = {"weak_bias", "acceptable_rate", _STRENGTH, _STRINGS}


def from_published(published: Mapping[str, Any]) -> list[Estimate]:
    """All numbers that the counts in published/counts.yaml determine; no two sources, and no two judges, are pooled.

    `where` has source, judge and candidate. Of each comparison class rates by both readings, `first_position_effect`
    (no Holm here: `corrected` of this list alone is the family of published sources), the signed rates and the
    sensitivity, less what its counts leave open; `identical_pair_effect` where the texts were one. Of single sources:
    the counts and the share that the notebook printed, the analyzer's own rates of answers, equal verdicts of LLMBar,
    `both_order_inconsistent` (also turn), and `leaderboard_contrast` (judge, other, model, family, fit). Over all
    comparisons, without a place: `flip_correlation` and `one_sided_share`.
    """
    every = sources(published)
    table = pairs(pd.concat([games(each) for each in every], ignore_index=True))
    at = {(each.judge, each.candidate): each.name for each in every}
    blocks = {each.name: each.block for each in every}
    found = []
    for each in from_pairs(table):
        where = {"source": at[each.where["judge"], each.where["candidate"]]} | dict(each.where)
        block = blocks[where["source"]]
        lost = _OPEN.get(block, set())
        stored = each.id.endswith("_published") and block in (ANALYZER, LLMBAR)
        if not stored and not {each.id, where.get("choice")} & lost:
            method = each.method.replace(METHOD, BY_QUESTION) if block == ANALYZER else each.method
            found.append(replace(each, where=where, method=method))
    found += _printed(published[NOTEBOOK], every)
    found += [number for each in every if each.block == ANALYZER for number in _answers(each)]
    found += [_equal(each) for each in every if each.block == LLMBAR]
    found += flips_and_directions(found)
    return [*found, *_both_orders(published["both_orders"]), *_leaderboard(published["leaderboard"])]


def flips_and_directions(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Does a judge whose verdicts change with the order also favour a place? Two numbers over comparisons.

    `flip_correlation`: Spearman's rank correlation of the flip rate with |first_position_effect|, which that rate
    bounds, with Fisher's interval (Bonett and Wright 2000). `one_sided_share`: the median of |first_position_effect| /
    flip rate, with the exact interval of order statistics. Of comparisons with a flip and MIN_CLUSTERS readable pairs;
    intervals take comparisons as independent, though some share judges and questions. None below MIN_CLUSTERS of them.
    """
    from scipy.stats import binom, spearmanr

    agreed = {place(each.where): each.value for each in estimates if each.id == "position_consistency"}
    effects = [e for e in estimates if e.id == "first_position_effect" and e.n >= MIN_CLUSTERS]
    pairs = [(1 - agreed[place(e.where)], abs(e.value)) for e in effects if agreed[place(e.where)] < 1]
    n = len(pairs)
    if n < MIN_CLUSTERS:
        return []
    flips, sizes = np.array(pairs).T
    value, shares = float(spearmanr(flips, sizes).statistic), np.sort(sizes / flips)
    reach = 1.96 * math.sqrt((1 + value**2 / 2) / (n - 3))
    ends = [math.tanh(math.atanh(value) + side * reach) for side in (-1, 1)]
    cut = int(binom.ppf(0.025, n, 0.5))
    known = {"n": n, "clusters": n, "data": "published"}
    median = float(np.median(shares)), float(shares[cut - 1]), float(shares[n - cut])
    return [
        Estimate("flip_correlation", {}, value, *ends, unit="alpha", method="Fisher z over comparisons", **known),
        Estimate("one_sided_share", {}, *median, method="order statistics over comparisons", **known),
    ]


def _where(each: Source, **more: str) -> dict[str, str]:
    return {"source": each.name, "judge": each.judge, "candidate": each.candidate, **more}


def _count(id: str, where: Mapping[str, str], value: int, n: int) -> Estimate:
    return Estimate(id, dict(where), float(value), n=n, unit="count", method="counted", data="published")


def _rate(id: str, where: Mapping[str, str], k: int, n: int) -> Estimate:
    interval = wilson(k, n)
    return estimate(id, where, replace(interval, method=f"{METHOD}: {interval.method}"), "published")


def _printed(block: Mapping[str, Any], every: Sequence[Source]) -> Iterator[Estimate]:
    """What the notebook printed beside its rates."""
    (each,) = (source for source in every if source.block == NOTEBOOK)
    patterns = {f"{row['game_1']} -> {row['game_2']}": row["pairs"] for row in block["patterns"]}
    kinds = {**block["classes"], SIGNIFICANT: sum(patterns.values())}
    kinds |= {"any_bias": kinds[WEAK] + kinds[SIGNIFICANT], "acceptable": kinds[NO_BIAS] + kinds[WEAK]}
    yield _count("published_lines", _where(each), kinds["any_bias"] + kinds[NO_BIAS], each.lines)
    for name, count in kinds.items():
        yield _count("class_lines", _where(each, **{"class": name}), count, each.lines)
    for name, count in patterns.items():
        yield _count("pattern_lines", _where(each, pattern=name), count, each.lines)
    yield _rate("significant_bias_of_planned", _where(each), kinds[SIGNIFICANT], each.questions)


def _answers(each: Source) -> list[Estimate]:
    """The analyzer's own rates: of single answers, one whose partner cannot be read counting as consistent."""
    cells, counts = list(each.by_question.index), each.by_question.to_numpy()
    read = np.array([2 - cell.count(INVALID) for cell in cells]) @ counts
    consistent = np.array([_consistent(cell) for cell in cells]) @ counts
    found = {"consistent_answer_rate": (consistent, read), "answers_read": (read, 2 * counts.sum(axis=0))}
    return [_clustered(id, _where(each), *sums) for id, sums in found.items()]


def _consistent(cell: Cell) -> int:
    """How many answers of a pair of verdicts its authors call consistent."""
    return 2 - cell.count(INVALID) if INVALID in cell else 2 * _mirrors(cell)


def _clustered(id: str, where: Mapping[str, str], numerators: np.ndarray, denominators: np.ndarray) -> Estimate:
    interval = clustered(numerators, denominators, null=None)
    return estimate(id, where, replace(interval, method=f"{BY_QUESTION}: {interval.method}"), "published")


def _agreed(each: Source) -> int:
    return sum(int(each.counts.loc[cell]) for cell in KINDS if set(cell) <= set(each.counts) and _mirrors(cell))


def _mirrors(cell: Cell) -> bool:
    return KINDS[cell] in (NO_BIAS, WEAK)


def _equal(each: Source) -> Estimate:
    equal = _agreed(each) + int(each.counts.loc[INVALID, INVALID])
    return _count("equal_verdicts", _where(each), equal, each.lines)


def _both_orders(block: Mapping[str, Any]) -> Iterator[Estimate]:
    where = {"source": block["name"], "judge": block["judge"], "candidate": block["candidate"]}
    turns = {turn: np.array(counts) for turn, counts in block["counts"].items()}
    judgments = {turn: np.full(len(counts), block["pairs_per_question"]) for turn, counts in turns.items()}
    turns["all"], judgments["all"] = sum(turns.values()), sum(judgments.values())
    for turn, inconsistent in turns.items():
        yield _clustered("both_order_inconsistent", where | {"turn": turn}, inconsistent, judgments[turn])


def leaderboard(block: Mapping[str, Any]) -> tuple[pd.DataFrame, str, str]:
    """The two leaderboards as `leaderboard_contrast` takes them, and the two judges."""
    judge, other = block["judges"]
    families = set(block["judges"].values())
    table = pd.DataFrame(block["counts"])
    family = table["owner"].where(table["owner"].isin(families), "")
    return table.assign(family=family, **{name: table[name] / 100 for name in (judge, other)}), judge, other


def _leaderboard(block: Mapping[str, Any]) -> list[Estimate]:
    table, judge, other = leaderboard(block)
    found = leaderboard_contrast(table, judge, other)
    return [replace(each, where={"judge": judge, "other": other} | dict(each.where)) for each in found]
