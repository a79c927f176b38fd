"""Published comparisons of two answers from their counts: every source for itself, as figures and sentences take it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ...stats.intervals import MIN_CLUSTERS, clustered, estimate, wilson
from ...types import Estimate
from ...words import Conclusion
from ...words.sentences import counted, say
from ..protocol import INDEPENDENT, published_value
from . import both_orders, measured
from .both_orders import INVALID, KINDS, LABELS, NO_BIAS, SIGNIFICANT, WEAK, pairs
from .findings import conclusions
from .leaderboards import published_contrast
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
    """Every comparison of published/counts.yaml, in its order; counts that contradict each other are a ValueError."""
    found = [*_files(published[ARENA]), _notebook(published[NOTEBOOK]), *_by_question(published[ANALYZER])]
    block = published[LLMBAR]
    for judge, grid in block["counts"].items():
        counts = _grid(grid, block["verdicts"], judge)
        known = (judge, block["candidate"], block["baseline"], counts, block["questions"])
        found.append(Source(LLMBAR, block["name"], *known))
    return found


def _by_question(block: Mapping[str, Any]) -> Iterator[Source]:
    for judge, cells in block["counts"].items():
        lengths = {len(counts) for counts in cells.values()}
        if lengths != {block["questions"]}:
            raise ValueError(f"{judge}: each cell needs a count for each of {block['questions']} questions")
        counts = pd.DataFrame(0, block["verdicts"], block["verdicts"])
        table = pd.DataFrame(cells).T
        table.index = pd.Index([tuple(cell.split()) for cell in cells], tupleize_cols=False)
        for cell, total in table.sum(axis=1).items():
            counts.loc[cell] = total
        known = (judge, block["candidate"], block["baseline"], counts, block["questions"])
        yield Source(ANALYZER, block["name"].replace("<judge>", judge), *known, by_question=table)


def _files(block: Mapping[str, Any]) -> Iterator[Source]:
    for name, row in block["counts"].items():
        counts = _grid(row["grid"], block["verdicts"], name)
        if counts.to_numpy().sum() != row["lines"]:
            raise ValueError(f"{name}: {row['lines']} lines, but its pairs sum to {counts.to_numpy().sum()}")
        more = {key: row[key] for key in ("condition", "mean_of") if key in row}
        for key in ("one_game", "other_strings"):
            more[key] = {tuple(cell.split()): n for cell, n in row.get(key, {}).items()}
        known = (row["judge"], row["candidate"], row["baseline"], counts, row["questions"])
        yield Source(ARENA, name, *known, **more)


def _grid(grid: Sequence[Sequence[int]], verdicts: Sequence[str], name: str) -> pd.DataFrame:
    if len(grid) != len(verdicts) or any(len(row) != len(verdicts) for row in grid):
        raise ValueError(f"{name}: a grid needs a row and a column for each of {', '.join(verdicts)}")
    return pd.DataFrame(grid, list(verdicts), list(verdicts))


def _notebook(block: Mapping[str, Any]) -> Source:
    names = [*LABELS, INVALID]
    counts = pd.DataFrame(0, names, names)
    for kind, cell in _STAND_IN.items():
        counts.loc[cell] += block["classes"][kind]
    for row in block["patterns"]:
        cell = tuple(row[key] if row[key] in LABELS else INVALID for key in ("game_1", "game_2"))
        if KINDS.get(cell, SIGNIFICANT) != SIGNIFICANT:
            raise ValueError(f"{row['game_1']} and {row['game_2']} mirror each other: no pattern of significant bias")
        counts.loc[cell] += row["pairs"]
    if counts.to_numpy().sum() != block["lines"]:
        raise ValueError(f"{block['lines']} lines, but classes and patterns sum to {counts.to_numpy().sum()}")
    known = (block["judge"], block["candidate"], block["baseline"], counts, block["questions"])
    return Source(NOTEBOOK, block["name"], *known)


#: A cell of the counts: the verdict of game 1 and that of game 2.
Cell = tuple[str, str]


def games(each: Source) -> pd.DataFrame:
    """The games frame that the counts of a comparison stand for.

    A pair is a question of its own, and its number the name of that; where questions were counted apart it is the
    repeat. Of the pairs in a cell, `one_game` had no second game, and the strings stored for `other_strings` are not
    the labels letter by letter (here they stand in brackets). A count that is none, a verdict that is no label or
    "invalid", and more of these than the cell holds are a ValueError. The categories of questions are not known.
    """
    rows = []
    for number, (cell, played, bracketed) in enumerate(_pairs(each)):
        for said, first in zip(cell, ("baseline", "candidate"), strict=True):
            label = None if said == INVALID else said
            stored = f"[{label}]" if label and bracketed else label
            rows.append((str(number), 0, first, played, stored, label))
    frame = pd.DataFrame(rows, columns=["question_id", "repeat", "first", "games", "score", "verdict"])
    if each.by_question is not None:
        counts = dict(zip(each.by_question.index, each.by_question.to_numpy(), strict=True))
        cells = [(one, two) for one in each.counts.index for two in each.counts.columns]
        questions = [str(q) for cell in cells for q, n in enumerate(counts.get(cell, ())) for _ in range(n)]
        frame = frame.assign(repeat=frame["question_id"].astype(int), question_id=np.repeat(questions, 2))
    known = {"source": each.name, "judge": each.judge, "candidate": each.candidate, "baseline": each.baseline}
    return frame.assign(**known, condition=each.condition, category="")


def _pairs(each: Source) -> Iterator[tuple[Cell, int, bool]]:
    """Each pair that was counted: its cell, how many games its line holds, whether its strings are other ones."""
    names, counts = [*LABELS, INVALID], each.counts
    cells = {(one, two): counts.loc[one, two] for one in counts.index for two in counts.columns}
    odd = [name for name in [*counts.index, *counts.columns] if name not in names]
    odd += [" ".join(cell) for cell in (*each.one_game, *each.other_strings) if cell not in cells]
    if odd:
        raise ValueError(f"{', '.join(map(str, odd))}: no verdict; they are {', '.join(names)}")
    for (one, two), count in cells.items():
        short, other = each.one_game.get((one, two), 0), each.other_strings.get((one, two), 0)
        if count < 0 or count % 1 or short + other > count:
            raise ValueError(f"{one} {two}: {count} pairs, {short} of one game, {other} of other strings: no count")
        for number in range(int(count)):
            yield (one, two), 1 if number < short else 2, number >= count - other


def from_pairs(table: pd.DataFrame, data: str = "published") -> list[Estimate]:
    """Class rates, signed effects and their sensitivity from the counts of score pairs, each source for itself.

    Takes `pairs` of all sources at once: what a correction costs depends on how many there are. The classes of
    identical texts are told too; their signed effect is `identical_pair_effect`.
    """
    found = [
        *both_orders.class_rates(table.assign(condition="none"), data),
        *both_orders.first_position_effect(table, data, 0),
        *both_orders.signed_rates(table, data),
        *measured.control_arms(table, data, 0),
        *measured.sensitivity(table, data),
    ]
    return [replace(each, method=f"{INDEPENDENT}: {each.method}") for each in found]


#: Of sources with several pairs a question, which are anything but independent: their counts are by question.
BY_QUESTION = "counts by question"
#: What the counts of a block do not determine, or what its verdicts do not have; choices of the sensitivity beside ids.
_STRENGTH, _STRINGS = "strong count 3", "as stored"
_OPEN = {NOTEBOOK: {"first_win_rate", "graded_position_effect", _STRENGTH}}
_OPEN[ANALYZER] = _OPEN[LLMBAR] = {"weak_bias", "acceptable_rate", _STRENGTH, _STRINGS}


def from_published(published: Mapping[str, Any]) -> list[Estimate]:
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
    found += _printed(published[NOTEBOOK], every)
    found += [number for each in every if each.block == ANALYZER for number in _answers(each)]
    found += [_equal(each) for each in every if each.block == LLMBAR]
    found += flips_and_directions(found)
    return [*found, *_both_orders(published["both_orders"]), *published_contrast(published["leaderboard"])]


def flips_and_directions(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Does a judge whose verdicts change with the order also favour a place? Two numbers over comparisons.

    Of comparisons with a flip and MIN_CLUSTERS readable pairs; none below MIN_CLUSTERS of them. Interval of the rank
    correlation: Bonett and Wright 2000; of the median: exact, by order statistics.
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


def _count(id: str, where: Mapping[str, str], value: int, n: int) -> Estimate:
    return published_value(id, where, float(value), n, "count", "counted")


def _printed(block: Mapping[str, Any], every: Sequence[Source]) -> Iterator[Estimate]:
    """What the notebook printed beside its rates."""
    (each,) = (source for source in every if source.block == NOTEBOOK)
    patterns = {f"{row['game_1']} -> {row['game_2']}": row["pairs"] for row in block["patterns"]}
    kinds = {**block["classes"], SIGNIFICANT: sum(patterns.values())}
    kinds |= {"any_bias": kinds[WEAK] + kinds[SIGNIFICANT], "acceptable": kinds[NO_BIAS] + kinds[WEAK]}
    yield _count("published_lines", each.where, kinds["any_bias"] + kinds[NO_BIAS], each.lines)
    for name, count in kinds.items():
        yield _count("class_lines", {**each.where, "class": name}, count, each.lines)
    for name, count in patterns.items():
        yield _count("pattern_lines", {**each.where, "pattern": name}, count, each.lines)
    planned = wilson(kinds[SIGNIFICANT], each.questions)
    planned = replace(planned, method=f"{INDEPENDENT}: {planned.method}")
    yield estimate("significant_bias_of_planned", each.where, planned, "published")


def _answers(each: Source) -> list[Estimate]:
    """The analyzer's own rates: of single answers, one whose partner cannot be read counting as consistent."""
    cells, counts = list(each.by_question.index), each.by_question.to_numpy()
    read = np.array([2 - cell.count(INVALID) for cell in cells]) @ counts
    consistent = np.array([_consistent(cell) for cell in cells]) @ counts
    found = {"consistent_answer_rate": (consistent, read), "answers_read": (read, 2 * counts.sum(axis=0))}
    return [_clustered(id, each.where, *sums) for id, sums in found.items()]


def _consistent(cell: Cell) -> int:
    """How many answers of a pair of verdicts its authors call consistent."""
    return 2 - cell.count(INVALID) if INVALID in cell else 2 * _mirrors(cell)


def _clustered(id: str, where: Mapping[str, str], numerators: np.ndarray, denominators: np.ndarray) -> Estimate:
    interval = clustered(numerators, denominators, null=None)
    return estimate(id, where, replace(interval, method=f"{BY_QUESTION}: {interval.method}"), "published")


def _mirrors(cell: Cell) -> bool:
    return KINDS[cell] in (NO_BIAS, WEAK)


def _equal(each: Source) -> Estimate:
    agreed = [cell for cell in KINDS if set(cell) <= set(each.counts) and _mirrors(cell)]
    equal = sum(int(each.counts.loc[cell]) for cell in [*agreed, (INVALID, INVALID)])
    return _count("equal_verdicts", each.where, equal, each.lines)


def _both_orders(block: Mapping[str, Any]) -> Iterator[Estimate]:
    where = {"source": block["name"], "judge": block["judge"], "candidate": block["candidate"]}
    turns = {turn: np.array(counts) for turn, counts in block["counts"].items()}
    judgments = {turn: np.full(len(counts), block["pairs_per_question"]) for turn, counts in turns.items()}
    turns["all"], judgments["all"] = sum(turns.values()), sum(judgments.values())
    for turn, inconsistent in turns.items():
        yield _clustered("both_order_inconsistent", where | {"turn": turn}, inconsistent, judgments[turn])


#: The blocks whose verdicts are of judges on models; LLMBar's thirty evaluators have figures of their own.
MODELS = (ARENA, NOTEBOOK, ANALYZER)
GRID = ["source", "judge", "candidate", "game_1", "game_2", "count", "data"]


def published_grids(published: Mapping[str, Any], blocks: Sequence[str] = (ARENA, ANALYZER)) -> pd.DataFrame:
    """How often each verdict of game 1 met each of game 2, a row a cell (columns: GRID), for `show_outcome_grid`.

    `source` is empty, since judge and candidate tell all of them apart. The notebook printed no whole grid.
    """
    rows = [
        ("", each.judge, each.candidate, one, two, int(each.counts.loc[one, two]), "published")
        for each in sources(published)
        if each.block in blocks and each.block != NOTEBOOK
        for one in each.counts.index
        for two in each.counts.columns
    ]
    return pd.DataFrame(rows, columns=GRID)


def of_blocks(
    published: Mapping[str, Any],
    estimates: Sequence[Estimate],
    blocks: Sequence[str] = MODELS,
    ids: Sequence[str] | None = None,
) -> list[Estimate]:
    """The estimates of these blocks (and `ids`) without their source, for figures whose rows are judge and candidate.

    Numbers that would then be told by the same place are a ValueError: no two sources are drawn as one.
    """
    names = {each.name for each in sources(published) if each.block in blocks}
    chosen = [each for each in estimates if each.where.get("source") in names and (ids is None or each.id in ids)]
    # Figures show intervals: how a test was made, or why there is none, stands with the numbers.
    found = [
        replace(each, where={k: v for k, v in each.where.items() if k != "source"}, method=each.method.split("; ")[0])
        for each in chosen
    ]
    places = [(each.id, *sorted(each.where.items())) for each in found]
    if len(set(places)) < len(places):
        raise ValueError("two sources have the same judge and candidate: draw them apart")
    return found


def published_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """How often published verdicts change with the order, which place that favours, and what counts leave open.

    `published` is published/counts.yaml, `estimates` what `from_published` makes of it. Every comparison stands for
    itself; Holm's correction runs over all of them that could be tested, and over nothing that was asked here.
    """
    every = sources(published)
    arena, analyzer, llmbar = ([each for each in every if each.block == name] for name in (ARENA, ANALYZER, LLMBAR))
    means = [each for each in arena if each.mean_of > 1]
    single = [each for each in arena if each.mean_of == 1 and each.condition == "none"]
    of_means = " or ".join(map(str, sorted({each.mean_of for each in means}))) or "several"
    found = conclusions(estimates, *_SINGLE, "identical_pair_effect", "both_order_inconsistent")
    by_place = {(each.estimate.id, place(each.estimate.where)): each for each in found}
    tests = sum(bool(each.test) for (id, _), each in by_place.items() if id == "first_position_effect")
    counts = [each for each in every if each.block in (NOTEBOOK, ANALYZER)]
    same = [each for each in arena if ("identical_pair_effect", place(each.where)) in by_place]
    points = [
        _group(f"Arena-Hard, {len(single)} files of a single judge", single, by_place),
        _group(f"Arena-Hard, {len(means)} files that hold the mean of {of_means} judges", means, by_place),
        *(_line(_name(place(each.where)), each, by_place, *_SINGLE) for each in counts),
        _group("LLMBar, where no tie is allowed", llmbar, by_place),
        *(_line(f"{each.judge} on the same text twice", each, by_place, "identical_pair_effect") for each in same),
        *_flips(estimates),
        *(f"- {_both(each.estimate)}: {say(each)}." for each in found if each.estimate.where.get("turn") == "all"),
    ]
    head = (
        f"{len(arena)} files of Arena-Hard verdicts ({sum(each.lines for each in arena)} lines), a notebook's counts, "
        f"{len(analyzer)} judges of Position-Bias-Analyzer and {len(llmbar)} evaluators with their prompts of LLMBar, "
        f"each a comparison of its own. p are Holm's over the {tests} that could be tested."
    )
    readings = f"{_readings(arena, estimates)} {_read_again(published['texts_read_again'])}"
    shared = {"LLMBar": llmbar, "the means of several judges": means, "the analyzer": analyzer}
    open_ = UNSETTLED.format(
        means=len(means),
        short=sum(each.lines < each.questions for each in arena),
        files=len(arena),
        shared=", ".join(f"{name}: {len(several)}" for name, several in shared.items()),
    )
    return "\n\n".join([head, "\n".join(points), readings, open_])


#: What is said of a comparison that stands for itself.
_SINGLE = ("first_position_effect", "primacy_share", "recency_share", "position_consistency", "consistent_answer_rate")
#: What no number of these counts can settle.
UNSETTLED = (
    "**What these counts cannot separate.** A judge that is merely *noisy* changes its verdict too, as often to one "
    "place as to the other: a share of flips is no position bias, and since nobody asked the same order twice, how "
    "much of it is noise is not known. First twice minus second twice cannot come from noise alone. Whether the place "
    "or the letter draws the judge stays open. The mean of several judges ({means} files) is no judge's verdict; "
    "{short} of {files} files hold fewer lines than their benchmark has questions, and which ones are missing need not "
    "be chance. Comparisons that share their questions ({shared}) are no independent pieces of evidence, and different "
    "questions are taken as independent. LLMBar's prompts named Swap let the judge reconcile both orders before this "
    "one was counted."
)
Conclusions = Mapping[tuple, Conclusion]


def _flips(estimates: Sequence[Estimate]) -> list[str]:
    """How flips and directions go together over comparisons."""
    at = {each.id: each for each in estimates}
    if "flip_correlation" not in at:
        return []
    ranks, side = at["flip_correlation"], at["one_sided_share"]
    return [
        f"- **Flips and directions** go together over {ranks.n} comparisons with a flip (Spearman {ranks}), as a flip "
        f"rate bounds how far a place can be favoured; but of the flips of the median comparison only {side} are "
        "one-sided: the rest go both ways, or are noise. Intervals take comparisons as independent."
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _span(values: Sequence[float], unit: str = "%") -> str:
    low, high = f"{100 * min(values):.1f}", f"{100 * max(values):.1f}"
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def _group(title: str, group: Sequence[Source], by_place: Conclusions) -> str:
    """Flips and directions of comparisons of one kind, those with the largest effects by name."""
    effects = {at: by_place.get(("first_position_effect", at)) for at in (place(each.where) for each in group)}
    enough = {at: each for at, each in effects.items() if each and each.estimate.n >= MIN_CLUSTERS}
    if not enough:
        return f"- **{title}**: none with {MIN_CLUSTERS} readable pairs."
    flips = [1 - by_place["position_consistency", at].estimate.value for at in enough]
    tested = [each for each in enough.values() if each.test]
    least = [each.smallest for each in tested if each.verdict != "bias"]
    power = f" (found in 80 % of such runs: {_span(least, 'pp')})" if least else ""
    ends = [pick(enough, key=lambda at: enough[at].estimate.value) for pick in (min, max)]
    shown = " to ".join(f"{enough[at].estimate} ({_name(at)})" for at in dict.fromkeys(ends))
    return (
        f"- **{title}**: the two orders disagree on the outcome in {_span(flips)} of readable pairs (median "
        f"{_percent(statistics.median(flips))}; {len(enough)} with at least {MIN_CLUSTERS} of them); {counted(tested)}"
        f"{power}. First twice minus second twice: {shown}."
    )


def _name(at: tuple[str, str, str]) -> str:
    judge, candidate, source = at
    return judge if source == "LLMBar" else f"{judge} on {candidate}"


def _both(each: Estimate) -> str:
    return f"**{each.where['judge']}** ({each.where['source']}, n = {each.n})"


def _line(name: str, each: Source, by_place: Conclusions, *ids: str) -> str:
    """A comparison with all that is said of it."""
    title = {NOTEBOOK: "the notebook", ANALYZER: "Position-Bias-Analyzer"}.get(each.block, f"{each.lines} lines")
    found = [by_place[id, at] for id in ids for at in (place(each.where),) if (id, at) in by_place]
    return f"- **{name}** ({title}, n = {found[0].estimate.n}): {'; '.join(map(say, found))}."


def _readings(arena: Sequence[Source], estimates: Sequence[Estimate]) -> str:
    """Where the published rule and the labels tell different stories, by how much they do."""
    by_place, apart = {(each.id, place(each.where)): each for each in estimates}, []
    for each in arena:
        at = place(each.where)
        stored, read = (by_place[f"significant_bias{end}", at] for end in ("_published", ""))
        lost = round(by_place["invalid_share", at].value * each.lines)
        other = sum(each.other_strings.values())
        if lost or other:
            why = [f"{lost} of {each.lines} lines unreadable"] * bool(lost)
            why += [f"{other} with strings that are no labels as stored"] * bool(other)
            readable = f"{_percent(read.value)} of {read.n} readable pairs" if read.n else "no readable pair"
            clause = f"{_name(at)}: {_percent(stored.value)} against {readable} ({', '.join(why)})"
            apart.append((-abs(stored.value - read.value) if read.n else -1.0, clause))
    others = f"; in the others that class holds {'; '.join(clause for _, clause in sorted(apart))}" if apart else ""
    return (
        "**Two readings.** The published rule reads the strings as stored and calls *significant bias* whatever it "
        f"cannot read. In {len(arena) - len(apart)} of {len(arena)} files that changes nothing{others}."
    )


def _read_again(block: Mapping[str, Any]) -> str:
    """Whether the judges' own texts say what was stored of them, every disagreement by name."""
    other = [
        f"{row['judge']}: {row['texts']} stored as {row['stored']}, written {row['text']}" for row in block["other"]
    ]
    others = f"; the others are {'; '.join(other)}" if other else ""
    return f"Of {block['texts']} texts of judges read again {block['as_stored']} give the label as stored{others}."
