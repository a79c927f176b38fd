"""What experiment 4 says of each judge, and of all of them in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from helpers.biases.position.families import Place, corrected, family, place, smallest_detectable
from helpers.stats.standing import size, standing, together, worst
from helpers.types import Estimate
from helpers.words import CardLine, Headline, sentence

PLACE, AGREEMENT, UNREADABLE = "first position", "both orders agree", "unreadable"
#: What is told of a judge over all its comparisons: id of the shares, measure, words.
SHARES = (
    ("position_consistency", AGREEMENT, "names the same winner in both orders in this share of pairs"),
    ("invalid_share", UNREADABLE, "leaves this share of pairs without two readable verdicts"),
)


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge which place it favours, how often both orders agree, and what could not be read.

    The place is that of the comparison with the gravest verdict by Holm's p over all comparisons of its source of data,
    of several the largest effect; the words say of how many it is one. Published evaluators that are one model under
    several prompts are one judge. `vendors` is not needed.
    """
    del vendors
    lines = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        known, p, least = family(mine), corrected(mine), smallest_detectable(mine)
        for judge in sorted({_judge(at) for at in known}):
            lines.append(_place(judge, {at: e for at, e in known.items() if _judge(at) == judge}, p, least))
        for id, measure, words in SHARES:
            shares: dict[str, list[Estimate]] = {}
            for each in mine:
                # Controls and categories are other comparisons, or part of these.
                if each.id == id and place(each.where) in known and len(each.where) == len(place(each.where)):
                    shares.setdefault(_judge(place(each.where)), []).append(each)
            for judge, several in sorted(shares.items()):
                share = together(several, id, judge, "comparisons")
                lines.append(CardLine(judge, measure, share, "described", words))
    return lines


def _judge(at: Place) -> str:
    """Whose comparison it is: LLMBar's evaluators are named model/prompt."""
    return at[0].partition("/")[0] if at[2:] == ("LLMBar",) else at[0]


def _place(
    judge: str, mine: Mapping[Place, Estimate], p: Mapping[Place, float], least: Mapping[Place, float]
) -> CardLine:
    verdicts = {at: standing(each, p[at]) for at, each in mine.items()}
    gravest = worst(verdicts.values())
    at = max((at for at in mine if verdicts[at] == gravest), key=lambda at: size(mine[at]))
    each, side = mine[at], "first" if mine[at].value > 0 else "second"
    words = {
        "bias": f"favours the answer shown {side}",
        "hint": f"leans to the answer shown {side}",
        "not shown": "shows no measurable preference for a place",
        "untold": f"was not tested for a preference for a place ({each.method.rpartition('; ')[2]})",
    }[gravest]
    sides = {word: _favouring(mine, verdicts, sign) for word, sign in (("first", 1), ("second", -1))}
    if len(mine) > 1:
        words += f"; of {len(mine)} comparisons {sides['first']} favour the first place, {sides['second']} the second"
    here = f"on {at[1]}" if at[0] == judge else at[0]
    return CardLine(judge, PLACE, each, gravest, f"{words} (here: {here})", p[at], least[at])


def _favouring(mine: Mapping[Place, Estimate], verdicts: Mapping[Place, str], sign: int) -> int:
    return sum(verdicts[at] == "bias" and sign * each.value > 0 for at, each in mine.items())


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """How many comparisons favour a place, of estimates from one source of data.

    The largest effect that stands carries it, else the largest one. None where nothing was compared in both orders.
    """
    known, p = family(estimates), corrected(estimates)
    if not known:
        return None
    verdicts = {at: standing(each, p[at]) for at, each in known.items()}
    gravest = worst(verdicts.values())
    each = max((e for at, e in known.items() if verdicts[at] == gravest), key=size)
    tested = sum(not math.isnan(p[at]) for at in known)
    first, second = (_favouring(known, verdicts, sign) for sign in (1, -1))
    leans = sum(verdict == "hint" and not math.isnan(p[at]) for at, verdict in verdicts.items())
    said = f"of {tested} comparison{'s' * (tested != 1)} tested {first} favour{'s' * (first == 1)} the answer shown "
    said += f"first, {second} the one shown second"
    if leans:
        said += f", {leans} lean{'s' * (leans == 1)} to one without standing"
    if not tested:
        said = "a preference for a place was tested in no comparison"
    largest = f"; largest: {each.where['judge']} on {each.where['candidate']}"
    lost = [e for e in estimates if e.id == "invalid_share" and place(e.where) in known and "category" not in e.where]
    unreadable = together(lost, "invalid_share", "", "comparisons").value
    return Headline(sentence(said + largest * (tested > 0), each.data), each, unreadable)
