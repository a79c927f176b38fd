"""What may be concluded of each judge of wordings, asked or published, so that noise is never called a preference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...stats.intervals import Interval, clustered, no_interval
from ...stats.standing import together
from ...stats.tests import mcnemar_exact
from ...types import Estimate
from ...words import CardLine, Conclusion, Headline, card_line, headline as headline_of, lines
from ...words.numbers import text_of
from .. import protocol
from .asked import BIASES, CONTENT, CONTROLLED, LENGTH, PLAIN, REWORDED, STYLE
from .measured import LEVEL, index, place, signed

WORDING, UNREADABLE = "wording", "unreadable_share"
conclusions = partial(protocol.conclusions, "verbosity")


def model_of(where: Mapping[str, str]) -> str:
    """Whose verdicts they are: LLMBar's evaluators are named model/prompt."""
    return where["judge"].partition("/")[0]


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line: what each judge prefers at equal content, and at equal length, and what of known pairs."""
    ids = ("style_effect", "length_controlled_effect", "known_pair_accuracy", "longer_when_worse")
    return lines(conclusions(estimates, *ids)) or "No wording was judged in both orders: nothing can be concluded."


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge which wording of equal content it prefers, and how often a longer text wins though it is worse.

    The wording is the one with the gravest verdict. Published evaluators that are one model under several prompts are
    one judge.
    """
    made, worded = [], protocol.by_judge(_wordings(estimates), model_of)
    for judge, several in worded.items():
        line = card_line(judge, WORDING, several, "{bias}")
        if line.verdict == "not shown":
            # Of all wordings nothing is shown, so the effect to name is that of the one that is known least.
            sizes = [each.smallest for each in several if not math.isnan(each.smallest)]
            line = replace(line, smallest=max(sizes, default=math.nan))
        made.append(line)
    for judge, several in protocol.by_judge(_signed(estimates), model_of).items():
        # Where wordings were asked they say more than pairs that were made to mislead.
        if judge not in worded:
            line = card_line(judge, WORDING, several, "{judge}")
            shown = sum(each.verdict == "bias" for each in several)
            prompts = f"; so under {shown} of {len(several)} prompts" if len(several) > 1 else ""
            made.append(replace(line, words=line.words + prompts))
    return made


def _wordings(estimates: Sequence[Estimate]) -> list[Conclusion]:
    return [each for each in conclusions(estimates, "style_effect") if each.estimate.where["bias"] in BIASES]


def _signed(estimates: Sequence[Estimate]) -> list[Conclusion]:
    """The same as how much more often than the better text, with the p of the share, which is in the family."""
    differences = index(estimates, "longer_over_better")
    found = []
    for each in conclusions(estimates, "longer_when_worse"):
        own = differences[place(each.estimate.where)]
        least = protocol.smallest_effect(own, LEVEL / max(1, each.tests))
        found.append(replace(each, estimate=own, declared=replace(each.declared, null=0.0), smallest=least))
    return found


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Which judges prefer which wordings, of estimates from one source of data.

    Where no wording was asked, the pairs of which one text is known to be better.
    """
    found = _wordings(estimates)
    if not found:
        numbers = [each for each in conclusions(estimates, "longer_when_worse") if not math.isnan(each.estimate.value)]
        lost = together(protocol.pick(estimates, UNREADABLE), UNREADABLE, "", "evaluators")
        return headline_of(numbers, unreadable=lost.value)
    shown = [each.estimate for each in found if each.verdict == "bias"]
    judges, biased = {e.estimate.where["judge"] for e in found}, {e.where["judge"] for e in shown}
    counted = f"{len(biased)} of {len(judges)} judges" * bool(shown)
    level = {place(e.estimate.where): e for e in conclusions(estimates, "length_controlled_effect")}
    if shown and level:
        # The same wording to the same side: one that is liked for its length and else disliked is another preference.
        alike = [(each, level[at]) for each in shown if (at := place(each.where)) in level]
        still = {e.where["judge"] for e, one in alike if one.estimate.value * e.value > 0 and one.p < LEVEL}
        counted += f", {len(still)} of them at equal length too, exploratory"
    return headline_of(found, "{judge}, {bias}", counted and f" ({counted})")


#: What the tried wording is compared with, as figures name it.
SAME, POORER = "the same content", "poorer content"
RAW, LEVEL_WITH = "as it is", "at equal length"
#: The condition whose lost pairs stand in a figure's caption.
LOST = {"style_effect": STYLE, "poorer_win_rate": CONTENT}


def _rows(estimates: Sequence[Estimate], id: str, order: Sequence[str], candidate: str) -> list[Estimate]:
    indexed = index(estimates, id)
    judges = dict.fromkeys(at[0] for at in indexed)
    found = [
        replace(indexed[judge, bias], where={"judge": judge, "candidate": candidate, "bias": bias})
        for judge in judges
        for bias in order
        if (judge, bias) in indexed
    ]
    return [*found, *_lost(estimates, LOST[id], candidate)]


#: For figures: the effect of each wording, and how often poorer content wins in it; the control and plain words first.
effect_rows = partial(_rows, id="style_effect", order=(REWORDED, *BIASES), candidate=SAME)
content_rows = partial(_rows, id="poorer_win_rate", order=(PLAIN, *BIASES), candidate=POORER)


def level_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Each wording as it is and at equal length, for a figure, where both were measured."""
    raw, level = index(estimates, "style_effect"), index(estimates, "length_controlled_effect")
    found = []
    for at in level:
        for length, each in ((RAW, raw.get(at)), (LEVEL_WITH, level[at])):
            if each is not None:
                where = {"judge": at[0], "candidate": at[1], "length": length}
                found.append(replace(each, id="style_effect", where=where))
    return [*found, *(each for bias in CONTROLLED for each in _lost(estimates, LENGTH, bias))]


def _lost(estimates: Sequence[Estimate], condition: str, candidate: str) -> list[Estimate]:
    lost = protocol.pick(estimates, "invalid_share", condition=condition)
    return [replace(each, where={"judge": each.where["judge"], "candidate": candidate}) for each in lost]


def length_words(estimates: Sequence[Estimate]) -> str:
    """What length alone does to each judge, and which preferences are left without it."""
    found = conclusions(estimates, "length_slope", "length_controlled_effect")
    return lines(found) or "No wordings were compared at chosen lengths."


def content_words(estimates: Sequence[Estimate]) -> str:
    """How often poorer content wins, and how much of that its wording does."""
    plain = [e for e in conclusions(estimates, "poorer_win_rate") if e.estimate.where["bias"] == PLAIN]
    gains = [e for e in conclusions(estimates, "style_over_content") if not math.isnan(e.estimate.value)]
    return lines([*plain, *gains]) or "No poorer content was compared."


def noise_words(estimates: Sequence[Estimate]) -> str:
    """What the control shows, and how often a judge contradicts itself when asked the same again."""
    control = [e for e in conclusions(estimates, "style_effect") if e.estimate.where["bias"] == REWORDED]
    return lines([*control, *conclusions(estimates, "repeat_disagreement")]) or "No control was judged."


# --- published verdicts: instances whose longer output is known to be the worse one -----------------------------------

#: The strata of instances in published/counts.yaml: what is known of the longer output.
WORSE, BETTER = "worse", "better"
METHOD = "counts by instance"


@protocol.estimator("verbosity", "published")
def from_published(published: Mapping[str, Any]) -> protocol.Numbers:
    """All numbers that published/counts.yaml determines: of LLMBar's evaluators, and AlpacaEval's printed shares."""
    for judge, strata in published["llmbar"]["counts"].items():
        yield from _evaluator(judge, strata)
    for name, share in published["alpaca_eval"]["longer_preferred"].items():
        printed = protocol.bare(share, 0, "as printed; no interval: its counts are not published")
        yield "longer_preferred", {"judge": name}, printed
    for source, counted in published["released"]["counts"].items():
        for judge, row in counted["judges"].items():
            for loser, (k, n) in row["picked"].items():
                at = {"source": source, "judge": judge, "released": row["released"], "loser": loser}
                by_task = isinstance(k, list)
                interval = clustered(np.array(k), np.array(n), null=None) if by_task else protocol.counted_share(k, n)
                yield "released_loser_rate", at, interval


def released_finding(block: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """How often recent judges pick what is known to be worse, source by source."""
    found = protocol.by_source(block, conclusions(estimates, "released_loser_rate"))
    return f"{text_of('verbosity', 'released')}\n\n{found}"


def _evaluator(judge: str, strata: Mapping[str, Sequence[int]]) -> protocol.Numbers:
    """`strata`: instances of which neither order, one, both chose the better output, and those not read in both."""
    where = {"judge": judge}
    worse = _share(strata[WORSE], longer_is_better=False)
    yield "longer_when_worse", where, worse
    yield "longer_over_better", where, signed(worse)
    yield "longer_when_better", where, _share(strata[BETTER], longer_is_better=True)
    twice, total = sum(counts[2] for counts in strata.values()), sum(map(sum, strata.values()))
    yield "known_pairs_right_twice", where, no_interval(twice, total, total, "counted")
    lost = sum(counts[3] for counts in strata.values()) / total
    yield UNREADABLE, where, no_interval(lost, total, total, "counted; no interval")


def _share(counts: Sequence[int], longer_is_better: bool) -> Interval:
    """How often the longer output was chosen, over the instances that were read in both orders.

    The p is that of sign flips over instances, as where judges are asked: of one value an instance McNemar's exact one.
    """
    right = np.repeat([0.0, 0.5, 1.0], counts[:3])
    chosen = right if longer_is_better else 1 - right
    interval = clustered(chosen, np.ones(len(chosen)), null=None)
    method = f"{METHOD}: {interval.method}"
    if math.isnan(interval.low):
        return replace(interval, method=method)
    return replace(interval, p=mcnemar_exact(counts[2], counts[0]), method=f"{method}; {protocol.EXACT}")


def published_finding(estimates: Sequence[Estimate]) -> str:
    """What the published numbers say of length, in sentences."""
    numbers = index(estimates, "longer_when_worse")
    found = conclusions(estimates, "longer_when_worse")
    p = {place(each.estimate.where): each.p for each in found}
    other = index(estimates, "longer_when_better")
    tested = [at for at in numbers if not math.isnan(p[at])]
    above = [at for at in tested if p[at] < LEVEL and numbers[at].value > 0.5]
    below = [at for at in tested if p[at] < LEVEL and numbers[at].value < 0.5]
    most, least = max(numbers, key=lambda at: numbers[at].value), min(numbers, key=lambda at: numbers[at].value)
    read, better = [each.n for each in numbers.values()], other[most]
    few = f" ({better.method.partition(': ')[2]}; there are {better.n})" * math.isnan(better.low)
    lines = [
        f"- On {max(read)} instances of LLMBar whose longer output is the worse one ({min(read)} to {max(read)} "
        f"read in both orders), {len(above)} of {len(tested)} evaluators chose it more often than a coin would, "
        f"{len(below)} less often (Holm over {len(tested)}): from "
        f"{numbers[least]} ({least[0]}) to {numbers[most]} ({most[0]}). Where the longer output is the better one, "
        f"{most[0]} chose it in {other[most]} and {least[0]} in {other[least]}"
        f"{few}.",
        f"- {text_of('verbosity', 'misleading')}",
    ]
    shares = index(estimates, "longer_preferred")
    if shares:
        examples = " and ".join(f"{at[0]} in {100 * each.value:.0f} %" for at, each in shares.items())
        lines.append(
            f"- On AlpacaEval's cross-annotated set the longer output is preferred by {examples} of comparisons (as "
            "printed): people prefer it too, because a longer answer often says more. A preference for length is a "
            "bias only where the content is the same, which is what this experiment holds equal."
        )
    return "\n".join(lines)
