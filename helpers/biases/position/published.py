"""What published counts say of the order of two answers: every source for itself, as figures and sentences take it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers.biases.position.both_orders import INVALID, KINDS, LEVEL, NO_BIAS, SIGNIFICANT, WEAK, pairs
from helpers.biases.position.measured import corrected, of, place, smallest_detectable
from helpers.biases.position.published_counts import (
    ANALYZER,
    ARENA,
    LLMBAR,
    METHOD,
    NOTEBOOK,
    Cell,
    Source,
    from_pairs,
    games,
    leaderboard_contrast,
    sources,
)
from helpers.stats.intervals import MIN_CLUSTERS, clustered, estimate, wilson
from helpers.stats.standing import clash, leans
from helpers.types import Estimate
from helpers.words import p_text

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


def leaderboard_points(published: Mapping[str, Any]) -> pd.DataFrame:
    """Each model's logits under the two judges with the third-party line and its prediction limits at its place.

    Columns as `show_leaderboard_contrast` takes them: x is the second judge of published/counts.yaml, y the first.
    """
    table, judge, other = leaderboard(published["leaderboard"])
    third = table["family"] == ""
    # A copy of each third-party model under another name has the line and the limits at that model's own place.
    copies = table[third].assign(family="third party")
    every = pd.concat([table[third], copies, table[~third]], ignore_index=True)
    line = {each.where["model"]: each for each in leaderboard_contrast(every, judge, other) if _is_line(each)}
    judges = {family: name for name, family in published["leaderboard"]["judges"].items()}
    logits = {name: np.log(table[name] / (1 - table[name])) for name in (judge, other)}
    rows = []
    for at, row in table.iterrows():
        gap, y = line[row["model"]], float(logits[judge][at])
        family = judges.get(row["family"], "third party")
        known = (row["model"], family, other, judge, float(logits[other][at]), y)
        rows.append((*known, y - gap.value, y - gap.high, y - gap.low, "published"))
    names = ["model", "family", "judge_x", "judge_y", "x", "y", "line", "low", "high", "data"]
    return pd.DataFrame(rows, columns=names)


def _is_line(each: Estimate) -> bool:
    return each.where["fit"] == "line"


Place = tuple[str, ...]


def published_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """How often published verdicts change with the order, which place that favours, and what counts leave open.

    `published` is published/counts.yaml, `estimates` what `from_published` makes of it. Every comparison stands for
    itself; Holm's correction runs over all of them that could be tested, and over nothing that was asked here.
    """
    every = sources(published)
    arena = [each for each in every if each.block == ARENA]
    partial = sum(each.lines < each.questions for each in arena)
    means = [each for each in arena if each.mean_of > 1]
    single = [each for each in arena if each.mean_of == 1 and each.condition == "none"]
    p = corrected(estimates)
    tests = sum(not math.isnan(value) for value in p.values())
    lines = [
        f"{len(arena)} files of Arena-Hard verdicts ({sum(each.lines for each in arena)} lines), a notebook's counts, "
        f"{_n(every, ANALYZER)} judges of Position-Bias-Analyzer and {_n(every, LLMBAR)} evaluators with their prompts "
        f"of LLMBar, each a comparison of its own. p are Holm's over the {tests} that could be tested.",
        "",
        _group(f"Arena-Hard, {len(single)} files of a single judge", single, estimates, p),
        _group(f"Arena-Hard, {len(means)} files that hold the mean of {_mean_of(means)} judges", means, estimates, p),
        *(_line(each, estimates, p) for each in every if each.block in (NOTEBOOK, ANALYZER)),
        _group("LLMBar, where no tie is allowed", [e for e in every if e.block == LLMBAR], estimates, p),
        *_identical(arena, estimates),
        *_flips(estimates),
        *_together(estimates),
        "",
        f"{_readings(arena, estimates)} {_read_again(published['texts_read_again'])}",
        "",
        _unsettled(every, partial, means),
    ]
    return "\n".join(line for i, line in enumerate(lines) if line or lines[i - 1])


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


def _n(every: Sequence[Source], block: str) -> int:
    return sum(each.block == block for each in every)


def _mean_of(means: Sequence[Source]) -> str:
    return " or ".join(str(n) for n in sorted({each.mean_of for each in means})) or "several"


def _at(each: Source) -> Place:
    return each.judge, each.candidate, each.name


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _span(values: Sequence[float], unit: str = "%") -> str:
    low, high = f"{100 * min(values):.1f}", f"{100 * max(values):.1f}"
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def _favours(each: Estimate, p: float) -> str:
    return "" if not p < LEVEL else "first" if each.value > 0 else "second"


def _group(title: str, group: Sequence[Source], estimates: Sequence[Estimate], p: Mapping[Place, float]) -> str:
    """Flips and directions of comparisons of one kind, those with the largest effects by name."""
    effects = {_at(s): each for s in group if (each := of(estimates, "first_position_effect", _at(s))) is not None}
    enough = {at: each for at, each in effects.items() if each.n >= MIN_CLUSTERS}
    if not enough:
        return f"- **{title}**: none with {MIN_CLUSTERS} readable pairs."
    flips = [1 - of(estimates, "position_consistency", at).value for at in enough]
    tested = [at for at in enough if not math.isnan(p[at])]
    sides = [_favours(effects[at], p[at]) for at in tested]
    unsure = sum(not side and leans(effects[at]) for at, side in zip(tested, sides, strict=True))
    told = (
        f"- **{title}**: the two orders disagree on the outcome in {_span(flips)} of readable pairs (median "
        f"{_percent(statistics.median(flips))}; {len(enough)} with at least {MIN_CLUSTERS} of them). Of {len(tested)} "
        f"tested, {sides.count('first')} favour the answer shown **first**, {sides.count('second')} the **second**, "
        f"{sides.count('') - unsure} show no measurable preference"
    )
    if unsure:
        told += f", {unsure} lean{'s' * (unsure == 1)} to a place without standing after correction"
    detectable = smallest_detectable(estimates)
    least = [detectable[at] for at in tested if not _favours(effects[at], p[at])]
    if least:
        told += f" (found in 80 % of such runs: {_span(least, 'pp')})"
    ends = [min(enough, key=lambda at: enough[at].value), max(enough, key=lambda at: enough[at].value)]
    shown = " to ".join(f"{enough[at]} ({_name(at)})" for at in dict.fromkeys(ends))
    return f"{told}. First twice minus second twice: {shown}."


def _name(at: Place) -> str:
    judge, candidate, source = at
    return judge if source == "LLMBar" else f"{judge} on {candidate}"


def _line(each: Source, estimates: Sequence[Estimate], p: Mapping[Place, float]) -> str:
    at = _at(each)
    effect, agreed = (of(estimates, id, at) for id in ("first_position_effect", "position_consistency"))
    title = "the notebook" if each.block == NOTEBOOK else "Position-Bias-Analyzer"
    if effect is None or agreed is None or math.isnan(p[at]):
        return f"- **{_name(at)}** ({title}): no test of {effect}."
    side = _favours(effect, p[at])
    told = f"favours the answer shown **{side}**" if side else "no measurable preference for a place"
    if not side:
        told += f" ({100 * smallest_detectable(estimates)[at]:.1f} pp would be found in 80 % of such runs)"
    parts = " against ".join(_percent(of(estimates, id, at).value) for id in ("primacy_share", "recency_share"))
    said = (
        f"- **{_name(at)}** ({title}): {told}; the first wins both orders in {parts} of {effect.n} readable pairs for "
        f"the second ({effect}, p {p_text(p[at])}{clash(effect, p[at])}); different "
        f"outcomes in {_percent(1 - agreed.value)}"
    )
    own = of(estimates, "consistent_answer_rate", at)
    return f"{said}; consistent answers as its authors count them: {_percent(own.value)}." if own else f"{said}."


def _identical(arena: Sequence[Source], estimates: Sequence[Estimate]) -> list[str]:
    """Files whose candidate is the baseline itself."""
    lines = []
    for each in arena:
        effect = of(estimates, "identical_pair_effect", _at(each))
        if effect is not None:
            lines.append(
                f"- **{each.judge} on the same text twice** ({each.lines} lines): first minus second {effect} of "
                f"{effect.n} verdicts; {effect.method.rpartition('; ')[2]}."
            )
    return lines


def _together(estimates: Sequence[Estimate]) -> list[str]:
    """Judges of whom only the verdict of both orders together was published."""
    return [
        f"- **{each.where['judge']}** ({each.where['source']}): {each} of {each.n} verdicts changed with the order; "
        "which place that favoured was not published."
        for each in estimates
        if each.id == "both_order_inconsistent" and each.where["turn"] == "all"
    ]


def _readings(arena: Sequence[Source], estimates: Sequence[Estimate]) -> str:
    """Where the published rule and the labels tell different stories, by how much they do."""
    apart = []
    for each in arena:
        at = _at(each)
        stored, own = (of(estimates, f"significant_bias{end}", at) for end in ("_published", ""))
        lost = round(of(estimates, "invalid_share", at).value * each.lines)
        other = sum(each.other_strings.values())
        if lost or other:
            why = [f"{lost} of {each.lines} lines unreadable"] * bool(lost)
            why += [f"{other} with strings that are no labels as stored"] * bool(other)
            of_read = f"{_percent(own.value)} of {own.n} readable pairs" if own.n else "no readable pair"
            told = f"{_name(at)}: {_percent(stored.value)} against {of_read} ({', '.join(why)})"
            apart.append((-abs(stored.value - own.value) if own.n else -1.0, told))
    same = len(arena) - len(apart)
    head = (
        "**Two readings.** The published rule reads the strings as stored and calls *significant bias* whatever it "
        f"cannot read. In {same} of {len(arena)} files that changes nothing"
    )
    if not apart:
        return f"{head}."
    return f"{head}; in the others that class holds {'; '.join(told for _, told in sorted(apart))}."


def _read_again(block: Mapping[str, Any]) -> str:
    """Whether the judges' own texts say what was stored of them, every disagreement by name."""
    other = [
        f"{row['judge']}: {row['texts']} stored as {row['stored']}, written {row['text']}" for row in block["other"]
    ]
    told = f"Of {block['texts']} texts of judges read again {block['as_stored']} give the label as stored"
    return f"{told}; the others are {'; '.join(other)}." if other else f"{told}."


def _unsettled(every: Sequence[Source], partial: int, means: Sequence[Source]) -> str:
    """What no number of these counts can settle."""
    arena = _n(every, ARENA)
    told = {"LLMBar": _n(every, LLMBAR), "the means of several judges": len(means), "the analyzer": _n(every, ANALYZER)}
    shared = ", ".join(f"{name}: {count}" for name, count in told.items())
    return (
        "**What these counts cannot separate.** A judge that is merely *noisy* changes its verdict too, as often to "
        "one place as to the other: a share of flips is no position bias, and since nobody asked the same order "
        "twice, how much of it is noise is not known. First twice minus second twice cannot come from noise alone. "
        f"Whether the place or the letter draws the judge stays open. The mean of several judges ({len(means)} files) "
        f"is no judge's verdict; {partial} of {arena} files hold fewer lines than their benchmark has questions, and "
        f"which ones are missing need not be chance. Comparisons that share their questions ({shared}) are no "
        "independent pieces of evidence, and different questions are taken as independent. LLMBar's prompts named "
        "Swap let the judge reconcile both orders before this one was counted."
    )
