"""What may be concluded of each judge of wordings, so that noise is never called a preference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from ...stats.standing import together
from ...types import Estimate
from ...words import CardLine, Conclusion, Headline
from ...words.sentences import card_line, lines
from ...words.sentences import headline as headline_of
from .. import protocol
from .asked import BIASES, CONTENT, CONTROLLED, LENGTH, PLAIN, REWORDED, STYLE
from .measured import LEVEL, index, place
from .published import UNREADABLE, model_of

WORDING = "wording"
conclusions = partial(protocol.conclusions, "verbosity")


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line: of each judge which wording of equal content it prefers, and what is left at equal length.

    Of pairs with a text known to be better, how often each judge finds it, and the longer one where it is worse.
    """
    ids = ("style_effect", "length_controlled_effect", "known_pair_accuracy", "longer_when_worse")
    found = conclusions(estimates, *ids)
    return lines(found) or "No wording was judged in both orders: nothing can be concluded."


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge which wording of equal content it prefers, and how often a longer text wins though it is worse.

    The wording is the one with the gravest verdict by Holm's p over all judges, of several the largest effect.
    Published evaluators that are one model under several prompts are one judge. `vendors` is not needed.
    """
    del vendors
    made, worded = [], set()
    for (_, judge), several in _grouped(_wordings(estimates)).items():
        line = card_line(judge, WORDING, several, "{bias}")
        if line.verdict == "not shown":
            # Of all wordings nothing is shown, so the effect to name is that of the one that is known least.
            known = [each.smallest for each in several if not math.isnan(each.smallest)]
            line = replace(line, smallest=max(known, default=math.nan))
        made.append(line)
        worded.add(judge)
    for (_, judge), several in sorted(_grouped(_signed(estimates)).items()):
        # Where wordings were asked they say more than pairs that were made to mislead.
        if judge not in worded:
            line = card_line(judge, WORDING, several, "{judge}")
            shown = sum(each.verdict == "bias" for each in several)
            prompts = f"; so under {shown} of {len(several)} prompts" if len(several) > 1 else ""
            made.append(replace(line, words=line.words + prompts))
    return made


def _wordings(estimates: Sequence[Estimate]) -> list[Conclusion]:
    return [each for each in conclusions(estimates, "style_effect") if each.estimate.where["bias"] in BIASES]


def _grouped(several: Sequence[Conclusion]) -> dict[tuple[str, str], list[Conclusion]]:
    found: dict[tuple[str, str], list[Conclusion]] = {}
    for each in several:
        found.setdefault((each.estimate.data, model_of(each.estimate.where["judge"])), []).append(each)
    return found


def _signed(estimates: Sequence[Estimate]) -> list[Conclusion]:
    """The same as how much more often than the better text, with the p of the share, which is in the family."""
    signed = index(estimates, "longer_over_better")
    found = []
    for each in conclusions(estimates, "longer_when_worse"):
        own = signed[place(each.estimate.where)]
        least = protocol.smallest_effect(own, LEVEL / max(1, each.tests))
        found.append(replace(each, estimate=own, declared=replace(each.declared, null=0.0), smallest=least))
    return found


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Which judges prefer which wordings, of estimates from one source of data.

    The largest effect that stands carries it, else the largest one. Where no wording was asked, the pairs of which one
    text is known to be better; None where there are none of these either.
    """
    found = _wordings(estimates)
    if not found:
        known = [each for each in conclusions(estimates, "longer_when_worse") if not math.isnan(each.estimate.value)]
        lost = [each for each in estimates if each.id == UNREADABLE]
        return headline_of(known, unreadable=together(lost, UNREADABLE, "", "evaluators").value)
    shown = [each.estimate for each in found if each.verdict == "bias"]
    judges, biased = {e.estimate.where["judge"] for e in found}, {e.where["judge"] for e in shown}
    told = f"{len(biased)} of {len(judges)} judges" * bool(shown)
    level = {place(e.estimate.where): e for e in conclusions(estimates, "length_controlled_effect")}
    if shown and level:
        # The same wording to the same side: one that is liked for its length and else disliked is another preference.
        alike = [(each, level[at]) for each in shown if (at := place(each.where)) in level]
        still = {e.where["judge"] for e, one in alike if one.estimate.value * e.value > 0 and one.p < LEVEL}
        told += f", {len(still)} of them at equal length too, exploratory"
    return headline_of(found, "{judge}, {bias}", told and f" ({told})")


#: What the tried wording is compared with, as figures name it.
SAME, POORER = "the same content", "poorer content"
RAW, LEVEL_WITH = "as it is", "at equal length"
#: The condition whose lost pairs stand in a figure's caption.
LOST = {"style_effect": STYLE, "poorer_win_rate": CONTENT}


def effect_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The effect of each wording and of the control, first, for a figure; with the pairs that were lost."""
    return _rows(estimates, "style_effect", (REWORDED, *BIASES), SAME)


def content_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """How often poorer content wins in each wording, in plain words first, for a figure."""
    return _rows(estimates, "poorer_win_rate", (PLAIN, *BIASES), POORER)


def _rows(estimates: Sequence[Estimate], id: str, order: Sequence[str], candidate: str) -> list[Estimate]:
    known = index(estimates, id)
    judges = dict.fromkeys(at[0] for at in known)
    found = [
        replace(known[judge, bias], where={"judge": judge, "candidate": candidate, "bias": bias})
        for judge in judges
        for bias in order
        if (judge, bias) in known
    ]
    return [*found, *_lost(estimates, LOST[id], candidate)]


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
    lost = [each for each in estimates if each.id == "invalid_share" and each.where.get("condition") == condition]
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
