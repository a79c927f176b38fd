"""What published counts show of the order of two answers, and what they cannot: computed, clause by clause."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from helpers.biases.position.effects import LEVEL
from helpers.biases.position.families import corrected, of, smallest_detectable
from helpers.biases.position.published_sources import ANALYZER, ARENA, LLMBAR, NOTEBOOK, Source, sources
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.standing import clash, leans
from helpers.types import Estimate
from helpers.words import p_text

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
