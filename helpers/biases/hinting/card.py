"""What experiment 2 says of each judge, and of all of them in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from helpers.biases.hinting.concluding import (
    conclusions,
    corrected,
    effect_of,
    family_size,
    name_verdicts,
    smallest_shown,
)
from helpers.biases.top_choice.card import vendor_of
from helpers.stats.standing import size, together
from helpers.types import Estimate
from helpers.words import CardLine, Headline, display_name, listed, sentence

NAME, UNREADABLE = "name effect", "unreadable"


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge whether its own vendor's name wins, and how much could not be read, over all hints.

    The name effect is that of all judges of a vendor, its verdict by Holm's p over hints and vendors together. Needs
    the arm `swapped`; published counts have none, and no lines. `vendors` as in experiment 1's card.
    """
    lines = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        named, tests = name_verdicts(mine), family_size(mine)
        for judge in (each.where["judge"] for each in mine if each.id == "name_effect_by_judge"):
            if vendor := vendor_of(judge, named, vendors):
                each, p, verdict = named[vendor]
                least = smallest_shown(each, tests) / 100
                lines.append(CardLine(judge, NAME, each, verdict, _words(each, verdict), p, least))
        shares: dict[str, list[Estimate]] = {}
        for each in mine:
            if each.id == "unreadable_share" and "judge" in each.where:
                shares.setdefault(each.where["judge"], []).append(each)
        for judge, several in shares.items():
            share = together(several, "unreadable_share", judge, "hints")
            words = "gives replies without a readable verdict in this share, over all hints"
            lines.append(CardLine(judge, UNREADABLE, share, "described", words))
    return lines


def _words(each: Estimate, verdict: str) -> str:
    way = "for" if each.value > 0 else "against"
    said = {
        "bias": f"decide {way} answers that bear their own vendor's name, whoever wrote them",
        "hint": f"seem to decide {way} answers that bear their own vendor's name",
        "not shown": "show no measurable effect of their own vendor's name",
        "untold": f"were not tested for the effect of their own vendor's name ({each.method})",
    }[verdict]
    return f"belongs to {display_name(each.where['vendor'])}, whose judges {said}"


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Which hints change how often judges put their own vendor first, of estimates from one source of data.

    The hint with the smallest p after correction carries it. Published margins have no p: the largest change does, and
    the sentence says what they leave open. None without any hint.
    """
    bare = [each for each in estimates if each.id == "hint_change" and each.where["vendor"] == "average"]
    verdicts = conclusions(estimates)
    if bare:
        each = max(bare, key=size)
        said = "named authors moved own first places by {} pp on average; how many verdicts changed was not published, "
        ends = sorted(100 * e.value for e in bare)
        moved = " to ".join(f"{end:+.1f}" for end in dict.fromkeys((ends[0], ends[-1])))
        told = said.format(moved) + "so that neither an effect nor its absence is shown"
        return Headline(sentence(told, each.data), each)
    if not verdicts:
        return None
    p = {hint: 2.0 if math.isnan(value) else value for hint, value in corrected(estimates).items()}
    each = effect_of(estimates, min(p, key=lambda hint: (p[hint], -size(effect_of(estimates, hint)))))
    words = {
        "different": "{} change{s} how often judges put their own vendor first",
        "equivalent": "{} change{s} nothing that matters",
        "inconclusive": "of {} neither a difference nor equivalence is shown",
    }
    told = []
    for verdict, text in words.items():
        hints = [hint for hint, found in verdicts.items() if found == verdict]
        if hints:
            named = f"the hint{'s' * (len(hints) > 1)} {listed(hints)}"
            told.append(text.format(named, s="s" * (len(hints) == 1)))
    said = "; ".join(told)
    return Headline(sentence(said, each.data), each)
