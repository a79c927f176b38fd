"""Published comparisons of two answers from their counts: every source for itself, as figures and sentences take it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ...stats.intervals import MIN_CLUSTERS, NAN, Interval, clustered, no_interval, t_interval, wilson
from ...stats.tests import benjamini_hochberg
from ...types import Estimate
from ...words.numbers import text_of
from ..protocol import INDEPENDENT, Numbers, bare, estimator, measure_all, pick, worst_case
from . import both_orders, measured
from .both_orders import INVALID, KINDS, LABELS, LEVEL, NO_BIAS, SIGNIFICANT, WEAK, pairs
from .measured import place

ARENA, NOTEBOOK, ANALYZER, LLMBAR = "arena_hard", "arena_hard_notebook", "position_bias_analyzer", "llmbar"
#: The pairs that the notebook did not print stand in one cell each: which one changes none of the numbers kept.
_STAND_IN = {NO_BIAS: ("A=B", "A=B"), WEAK: ("A>B", "B>>A")}


@dataclass(frozen=True)
class Source:
    """One published comparison: block and place it is from, who was compared, and how often which verdicts met.

    `counts`: how often each verdict of game 1 (rows) met each of game 2 (columns), both named by LABELS or "invalid";
    where a question has several pairs, `by_question` has the counts of each cell (rows) and question. `questions`: how
    many the benchmark has; `mean_of`: how many judges' mean a verdict is.
    """

    block: str
    name: str
    judge: str
    candidate: str
    baseline: str
    counts: pd.DataFrame
    questions: int
    condition: str = "none"
    mean_of: int = 1
    one_game: Mapping[Cell, int] = field(default_factory=dict)
    other_strings: Mapping[Cell, int] = field(default_factory=dict)
    by_question: pd.DataFrame | None = None

    @property
    def where(self) -> dict[str, str]:
        """The place of its numbers."""
        return {"source": self.name, "judge": self.judge, "candidate": self.candidate}

    @property
    def lines(self) -> int:
        """How many lines were counted."""
        return int(self.counts.to_numpy().sum())


def sources(published: Mapping[str, Any]) -> list[Source]:
    """Every comparison of published/counts.yaml, in its order."""
    arena, notebook, analyzer, llmbar = (published[name] for name in (ARENA, NOTEBOOK, ANALYZER, LLMBAR))
    found = []
    for name, row in arena["counts"].items():
        counts = pd.DataFrame(row["grid"], arena["verdicts"], arena["verdicts"])
        cells = {key: row.get(key, {}).items() for key in ("one_game", "other_strings")}
        cells = {key: {tuple(cell.split()): n for cell, n in each} for key, each in cells.items()}
        found.append(_source(ARENA, row, counts, name=name, **cells))
    found.append(_source(NOTEBOOK, notebook, _notebook(notebook)))
    for judge, cells in analyzer["counts"].items():
        name = analyzer["name"].replace("<judge>", judge)
        found.append(_of_cells(ANALYZER, analyzer, analyzer["verdicts"], cells, name=name, judge=judge))
    for judge, grid in llmbar["counts"].items():
        counts = pd.DataFrame(grid, llmbar["verdicts"], llmbar["verdicts"])
        found.append(_source(LLMBAR, llmbar, counts, judge=judge))
    return found


def _source(block: str, row: Mapping[str, Any], counts: pd.DataFrame, **more: Any) -> Source:
    names = ("name", "judge", "candidate", "baseline", "questions", "condition", "mean_of")
    return Source(block=block, counts=counts, **{name: row[name] for name in names if name in row} | more)


def _of_cells(
    block: str, row: Mapping[str, Any], verdicts: Sequence[str], cells: Mapping[str, Any], **more: Any
) -> Source:
    """A comparison whose pairs of verdicts were counted by question, or in all where each question has one pair."""
    index = pd.Index([tuple(cell.split()) for cell in cells], tupleize_cols=False)
    table = pd.DataFrame([np.atleast_1d(each) for each in cells.values()], index)
    counts = pd.DataFrame(0, verdicts, verdicts)
    for cell, total in table.sum(axis=1).items():
        counts.loc[cell] = total
    return _source(block, row, counts, by_question=table if table.shape[1] > 1 else None, **more)


def _notebook(block: Mapping[str, Any]) -> pd.DataFrame:
    """The counts of the classes and patterns that it printed."""
    names = [*LABELS, INVALID]
    counts = pd.DataFrame(0, names, names)
    for kind, cell in _STAND_IN.items():
        counts.loc[cell] += block["classes"][kind]
    for row in block["patterns"]:
        one, two = (row[key] if row[key] in LABELS else INVALID for key in ("game_1", "game_2"))
        counts.loc[one, two] += row["pairs"]
    return counts


#: A cell of the counts: the verdict of game 1 and that of game 2.
Cell = tuple[str, str]


def games(each: Source) -> pd.DataFrame:
    """The games frame that the counts of a comparison stand for.

    A pair is a question of its own; where questions were counted apart it is a repeat. Strings that are not the labels
    letter by letter stand in brackets. The categories of questions are not known.
    """
    rows = []
    for number, (cell, played, bracketed) in enumerate(_pairs(each)):
        for verdict, first in zip(cell, ("baseline", "candidate"), strict=True):
            label = None if verdict == INVALID else verdict
            stored = f"[{label}]" if label and bracketed else label
            rows.append((str(number), 0, first, played, stored, label))
    frame = pd.DataFrame(rows, columns=["question_id", "repeat", "first", "games", "score", "verdict"])
    if each.by_question is not None:
        counts = dict(zip(each.by_question.index, each.by_question.to_numpy(), strict=True))
        cells = (counts.get(cell, ()) for cell in product(each.counts.index, each.counts.columns))
        questions = [str(q) for cell in cells for q, n in enumerate(cell) for _ in range(n)]
        frame = frame.assign(repeat=frame["question_id"].astype(int), question_id=np.repeat(questions, 2))
    facts = {"source": each.name, "judge": each.judge, "candidate": each.candidate, "baseline": each.baseline}
    return frame.assign(**facts, condition=each.condition, category="")


def _pairs(each: Source) -> Iterator[tuple[Cell, int, bool]]:
    """Each pair that was counted: its cell, how many games its line holds, whether its strings are other ones."""
    for cell in product(each.counts.index, each.counts.columns):
        count = int(each.counts.loc[cell])
        short, other = each.one_game.get(cell, 0), each.other_strings.get(cell, 0)
        for number in range(count):
            yield cell, 1 if number < short else 2, number >= count - other


def from_pairs(table: pd.DataFrame) -> list[Estimate]:
    """Class rates, signed effects and their sensitivity from the counts of score pairs, each source for itself.

    Takes `pairs` of all sources at once: what a correction costs depends on how many there are. The classes of
    identical texts are told too; their signed effect is `identical_pair_effect`.
    """
    signed = (both_orders.first_position_effect, both_orders.signed_rates, measured.control_arms, measured.sensitivity)
    found = both_orders.class_rates(table.assign(condition="none"), "published")
    found += measure_all(signed, table, "published", seed=0)
    return [replace(each, method=f"{INDEPENDENT}: {each.method}") for each in found]


#: Of sources with several pairs a question, which are anything but independent: their counts are by question.
BY_QUESTION = "counts by question"
#: What the counts of a block do not determine, or what its verdicts do not have; choices of the sensitivity beside ids.
_STRENGTH, _STRINGS = "strong count 3", "as stored"
_OPEN = {NOTEBOOK: {"first_win_rate", "graded_position_effect", _STRENGTH}}
_OPEN[ANALYZER] = _OPEN[LLMBAR] = {"weak_bias", "acceptable_rate", _STRENGTH, _STRINGS}


@estimator("position", "published")
def from_published(published: Mapping[str, Any]) -> Numbers:
    """All numbers that the counts in published/counts.yaml determine; no two sources, and no two judges, are pooled.

    `where` has source, judge and candidate; the family of published sources is this list alone. What the counts of a
    block leave open is left out. Over all comparisons, without a place: `flip_correlation` and `one_sided_share`.
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
            method = each.method.replace(INDEPENDENT, BY_QUESTION) if block == ANALYZER else each.method
            found.append(replace(each, where=where, method=method))
    yield from found
    yield from _printed(published[NOTEBOOK], every)
    yield from (number for each in every if each.block == ANALYZER for number in _answers(each))
    agreed = [*(cell for cell, kind in KINDS.items() if kind != SIGNIFICANT), (INVALID, INVALID)]
    for one in (one for one in every if one.block == LLMBAR):
        equal = sum(one.counts.loc[cell] for cell in agreed if {*cell} <= {*one.counts})
        yield "equal_verdicts", one.where, bare(equal, one.lines)
    yield from flips_and_directions(found)
    yield from _both_orders(published["both_orders"])
    yield from released(published["released"])
    yield from leaderboard_contrast(*leaderboard(published["leaderboard"]))


def flips_and_directions(estimates: Sequence[Estimate]) -> Numbers:
    """Does a judge whose verdicts change with the order also favour a place? Two numbers over comparisons.

    Of comparisons with a flip and MIN_CLUSTERS readable pairs; none below MIN_CLUSTERS of them. Interval of the rank
    correlation: Bonett and Wright 2000; of the median: exact, by order statistics.
    """
    from scipy.stats import binom, spearmanr

    agreed = {place(each.where): each.value for each in pick(estimates, "position_consistency")}
    effects = [each for each in pick(estimates, "first_position_effect") if each.n >= MIN_CLUSTERS]
    pairs = [(1 - agreed[place(e.where)], abs(e.value)) for e in effects if agreed[place(e.where)] < 1]
    n = len(pairs)
    if n >= MIN_CLUSTERS:
        flips, sizes = np.array(pairs).T
        value, shares = float(spearmanr(flips, sizes).statistic), np.sort(sizes / flips)
        reach, cut = 1.96 * math.sqrt((1 + value**2 / 2) / (n - 3)), int(binom.ppf(0.025, n, 0.5))
        low, high = (math.tanh(math.atanh(value) + side * reach) for side in (-1, 1))
        yield "flip_correlation", {}, Interval(value, low, high, NAN, n, n, "Fisher z over comparisons")
        value, low, high = map(float, (np.median(shares), shares[cut - 1], shares[n - cut]))
        yield "one_sided_share", {}, Interval(value, low, high, NAN, n, n, "order statistics over comparisons")


def _printed(block: Mapping[str, Any], every: Sequence[Source]) -> Numbers:
    """What the notebook printed beside its rates."""
    (each,) = (source for source in every if source.block == NOTEBOOK)
    patterns = {f"{row['game_1']} -> {row['game_2']}": row["pairs"] for row in block["patterns"]}
    kinds = {**block["classes"], SIGNIFICANT: sum(patterns.values())}
    kinds |= {"any_bias": kinds[WEAK] + kinds[SIGNIFICANT], "acceptable": kinds[NO_BIAS] + kinds[WEAK]}
    yield "published_lines", each.where, bare(kinds["any_bias"] + kinds[NO_BIAS], each.lines)
    for id, key, counts in (("class_lines", "class", kinds), ("pattern_lines", "pattern", patterns)):
        yield from ((id, {**each.where, key: name}, bare(count, each.lines)) for name, count in counts.items())
    planned = wilson(kinds[SIGNIFICANT], each.questions)
    yield "significant_bias_of_planned", each.where, replace(planned, method=f"{INDEPENDENT}: {planned.method}")


def _answers(each: Source) -> Numbers:
    """The analyzer's own rates: of single answers, one whose partner cannot be read counting as consistent."""
    cells, counts = list(each.by_question.index), each.by_question.to_numpy()
    read = np.array([2 - cell.count(INVALID) for cell in cells]) @ counts
    # How many answers of a pair of verdicts its authors call consistent.
    pairs_of = [2 - cell.count(INVALID) if INVALID in cell else 2 * (KINDS[cell] != SIGNIFICANT) for cell in cells]
    yield "consistent_answer_rate", each.where, _by_question(np.array(pairs_of) @ counts, read)
    yield "answers_read", each.where, _by_question(read, 2 * counts.sum(axis=0))


def _by_question(numerators: np.ndarray, denominators: np.ndarray) -> Interval:
    interval = clustered(numerators, denominators, null=None)
    return replace(interval, method=f"{BY_QUESTION}: {interval.method}")


def _both_orders(block: Mapping[str, Any]) -> Numbers:
    turns: dict[str, Any] = {turn: np.array(counts) for turn, counts in block["counts"].items()}
    turns["all"] = sum(turns.values())
    for turn, inconsistent in turns.items():
        where = {"source": block["name"], "judge": block["judge"], "candidate": block["candidate"], "turn": turn}
        pairs_of = block["pairs_per_question"] * (len(turns) - 1 if turn == "all" else 1)
        yield "both_order_inconsistent", where, _by_question(inconsistent, np.full(len(inconsistent), pairs_of))


#: Why a source has no effect.
FLIPS_ALONE = "only the share of pairs whose verdict changes is published, not which place they favour"


def released(block: Mapping[str, Any]) -> Numbers:
    """Which place each judge of the block favours, and how often its verdict changes with the order.

    `released_position_effect` (pp) and `released_flip_rate`; `where`: source, judge, released (its month). Where pairs
    of verdicts were counted as `first_position_effect`; where first places were (without ties that is twice their share
    less one) with the largest error that a mean of as many prompts can have; else without a number, and why.
    """
    at = {name: dict(source, name=name, candidate=source["compared"]) for name, source in block["counts"].items()}
    rows = [(source, judge, row) for source in at.values() for judge, row in source["judges"].items()]
    pairs_of = [(source, judge, row["cells"]) for source, judge, row in rows if "cells" in row]
    counted = [_of_cells("released", {"baseline": "", **source}, block["verdicts"], cells, judge=judge)
               for source, judge, cells in pairs_of]  # fmt: skip
    table = pairs(pd.concat([games(each) for each in counted], ignore_index=True))
    numbers = (*both_orders.first_position_effect(table, "published", 0), *both_orders.signed_rates(table, "published"))
    by_place = {(each.id, each.where["judge"], each.where["candidate"]): each for each in numbers}
    for source, judge, row in rows:
        where = {"source": source["name"], "judge": judge, "released": row["released"]}
        ids = ["released_position_effect", "released_flip_rate"]
        if "cells" in row:
            at_place = judge, source["candidate"]
            effect, agreed = (by_place[id, *at_place] for id in ("first_position_effect", "position_consistency"))
            flips = replace(agreed, value=1 - agreed.value, low=1 - agreed.high, high=1 - agreed.low)
            yield from (replace(each, id=id, where=where) for each, id in zip((effect, flips), ids, strict=True))
        elif "first" in row:
            first, second = row["first"], row["second"]
            interval = worst_case((first - second) / (first + second), first + second, source["questions"])
            yield ids[0], where, interval
        else:
            yield ids[0], where, bare(NAN, row["pairs"], FLIPS_ALONE)
            yield ids[1], where, bare(row["flips"], row["pairs"], "as printed, no interval")


#: The blocks whose verdicts are of judges on models; LLMBar's thirty evaluators have figures of their own.
MODELS = (ARENA, NOTEBOOK, ANALYZER)


def published_grids(published: Mapping[str, Any]) -> pd.DataFrame:
    """The `cell_rows` of Arena-Hard and the analyzer; `source` is empty: judge and candidate tell all of them apart."""
    parts = [
        both_orders.cell_rows(each.counts, "published", source="", judge=each.judge, candidate=each.candidate)
        for each in sources(published)
        if each.block in (ARENA, ANALYZER)
    ]
    return pd.concat(parts, ignore_index=True)


def of_blocks(
    published: Mapping[str, Any], estimates: Sequence[Estimate], blocks: Sequence[str] = MODELS, ids: Sequence[str] = ()
) -> list[Estimate]:
    """The estimates of these blocks (and `ids`) without their source, for figures whose rows are judge and candidate.

    Numbers that would then be told by the same place are a ValueError: no two sources are drawn as one.
    """
    names = {each.name for each in sources(published) if each.block in blocks}
    chosen = [each for each in pick(estimates, *ids) if each.where.get("source") in names]
    # Figures show intervals: how a test was made, or why there is none, stands with the numbers.
    found = [
        replace(each, where={k: v for k, v in each.where.items() if k != "source"}, method=each.method.split("; ")[0])
        for each in chosen
    ]
    places = [(each.id, *sorted(each.where.items())) for each in found]
    if len(set(places)) < len(places):
        raise ValueError("two sources have the same judge and candidate: draw them apart")
    return found


# --- two leaderboards of the same models ------------------------------------------------------------------------------

FITS = ("intercept", "line")
BEYOND = "beyond the third-party models, where the fit is only continued"


@estimator("position", "published")
def leaderboard_contrast(table: pd.DataFrame, judge: str, other: str) -> Numbers:
    """How much higher one judge puts each own-family model than models of third parties would make one expect.

    `table`: a row a model; columns model, family ("" for a third party, else the judge's family it belongs to) and one
    column of win rates in (0, 1) for each of the two judges. `where`: model, family, fit ("intercept": the other
    judge's logit plus the mean gap; "line": least squares, since judges may differ in how far they spread models). The
    interval is the prediction interval of one more third-party model (t), p the test of being one of them.
    """
    x, y = _logits(table, other), _logits(table, judge)
    third = (table["family"] == "").to_numpy()
    for fit in FITS:
        for at in np.flatnonzero(~third):
            interval = _foreseen(x[third], y[third], x[at], y[at], fit)
            if third.any() and not x[third].min() <= x[at] <= x[third].max():
                interval = replace(interval, method=f"{interval.method}; {BEYOND}")
            row = table.iloc[at]
            where = {"judge": judge, "other": other, "model": str(row["model"]), "family": str(row["family"])}
            yield "leaderboard_contrast", where | {"fit": fit}, interval


def _logits(table: pd.DataFrame, judge: str) -> np.ndarray:
    rates = table[judge].to_numpy(dtype=float)
    return np.log(rates / (1 - rates))


def _foreseen(x: np.ndarray, y: np.ndarray, at: float, value: float, fit: str) -> Interval:
    """The distance of (at, value) from what these points foresee, with its prediction interval."""
    count, used = len(x), 2 if fit == "line" else 1
    if count <= used or (fit == "line" and np.ptp(x) == 0):
        return no_interval(math.nan, count, count, f"{count} third-party models cannot carry the fit")
    spread = ((x - x.mean()) ** 2).sum()
    slope = float((x - x.mean()) @ y / spread) if fit == "line" else 1.0
    residuals = y - y.mean() - slope * (x - x.mean())
    gap = float(value - y.mean() - slope * (at - x.mean()))
    leverage = (at - x.mean()) ** 2 / spread if fit == "line" else 0.0
    se = math.sqrt(float(residuals @ residuals) / (count - used) * (1 + 1 / count + leverage))
    found = t_interval(gap, se, count - used, count, count, f"prediction interval of a third-party model, {fit}")
    return replace(found, method=found.method.replace("questions", "third-party models"))


def leaderboard_words(estimates: Sequence[Estimate], judge: str, other: str) -> str:
    """What the contrast says of each family and fit, and what it cannot say: which of the two judges is off."""
    lines = []
    for fit in FITS:
        chosen = pick(estimates, "leaderboard_contrast", fit=fit)
        adjusted = dict(zip(map(id, chosen), benjamini_hochberg([each.p for each in chosen]), strict=True))
        for family in dict.fromkeys(each.where["family"] for each in chosen):
            models = pick(chosen, family=family)
            found = [each.value > 0 for each in models if adjusted[id(each)] < LEVEL]
            most = max(models, key=lambda each: abs(each.value))
            beyond = sum(BEYOND in each.method for each in models)
            lines.append(
                f"- {family}, {fit}: of {len(models)} models {judge} ranks {sum(found)} higher and "
                f"{len(found) - sum(found)} lower against {other} than {most.n} third-party models foresee; the "
                f"farthest is {most.where['model']}, {most} logits.{f' {beyond} of them lie {BEYOND}.' * bool(beyond)}"
            )
    if not lines:
        return "No model of either judge's family is on both leaderboards."
    return "\n".join([*lines, "", text_of("position", "leaderboards")])


def leaderboard(block: Mapping[str, Any]) -> tuple[pd.DataFrame, str, str]:
    """The two leaderboards as `leaderboard_contrast` takes them, and the two judges."""
    judge, other = block["judges"]
    families = set(block["judges"].values())
    table = pd.DataFrame(block["counts"])
    family = table["owner"].where(table["owner"].isin(families), "")
    return table.assign(family=family, **{name: table[name] / 100 for name in (judge, other)}), judge, other


def leaderboard_points(published: Mapping[str, Any]) -> pd.DataFrame:
    """Each model's logits under the two judges with the third-party line and its prediction limits at its place.

    Columns as `show_leaderboard_contrast` takes them: x is the second judge of published/counts.yaml, y the first.
    """
    table, judge, other = leaderboard(published["leaderboard"])
    third = (table["family"] == "").to_numpy()
    x, y = _logits(table, other), _logits(table, judge)
    judges = {family: name for name, family in published["leaderboard"]["judges"].items()}
    rows = []
    for at, row in table.iterrows():
        gap = _foreseen(x[third], y[third], x[at], y[at], "line")
        point = (row["model"], judges.get(row["family"], "third party"), other, judge, x[at], y[at])
        rows.append((*point, y[at] - gap.value, y[at] - gap.high, y[at] - gap.low, "published"))
    names = ["model", "family", "judge_x", "judge_y", "x", "y", "line", "low", "high", "data"]
    return pd.DataFrame(rows, columns=names)
