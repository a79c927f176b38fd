"""What experiment 6 says of each judge, and of all of them in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from helpers.biases.verbosity.families import (
    Place,
    by_judge,
    corrected,
    exploratory,
    family,
    index,
    smallest_detectable,
)
from helpers.biases.verbosity.published import EXACT, UNREADABLE, model_of
from helpers.stats.power import detectable_effect, detectable_mcnemar
from helpers.stats.standing import size, standing, together, worst
from helpers.types import Estimate
from helpers.words import CardLine, Headline, listed, sentence

WORDING = "wording"
LEVEL = 0.05


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge which wording of equal content it prefers, and how often a longer text wins though it is worse.

    The wording is the one with the gravest verdict by Holm's p over all judges, of several the largest effect.
    Published evaluators that are one model under several prompts are one judge. `vendors` is not needed.
    """
    del vendors
    lines = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        p, least = corrected(mine), smallest_detectable(mine)
        lines += [_wording(judge, effects, p, least) for judge, effects in by_judge(mine).items()]
        # Where wordings were asked they tell more than pairs that were made to mislead.
        lines += [line for line in _longer(mine, p) if line.judge not in by_judge(mine)]
    return lines


def _wording(
    judge: str, mine: Mapping[Place, Estimate], p: Mapping[Place, float], least: Mapping[Place, float]
) -> CardLine:
    verdicts = {at: standing(each, p[at]) for at, each in mine.items()}
    gravest = worst(verdicts.values())
    at = max((at for at in mine if verdicts[at] == gravest), key=lambda at: size(mine[at]))
    liked, disliked = ([x[1] for x in mine if verdicts[x] == gravest and sign * mine[x].value > 0] for sign in (1, -1))
    sides = [f"{verb} {listed(names)} wordings" for verb, names in (("prefers", liked), ("avoids", disliked)) if names]
    words = {
        "bias": f"{' and '.join(sides)} of equal content",
        "hint": f"leans: {' and '.join(sides)} of equal content, not established",
        "not shown": "shows no measurable preference for a padded, listed or confident wording",
        "untold": f"was not tested for a preference for a wording ({mine[at].method.rpartition('; ')[2]})",
    }[gravest]
    # Of all wordings nothing is shown, so the effect to be told is that of the one that is known least.
    some = mine if gravest == "not shown" else [at]
    enough = max((least[x] for x in some if least[x] == least[x]), default=math.nan)
    return CardLine(judge, WORDING, mine[at], gravest, f"{words} (here: {at[1]})", p[at], enough)


def _longer(mine: Sequence[Estimate], p: Mapping[Place, float]) -> list[CardLine]:
    """A line a judge on the pairs of which the longer text is the worse one."""
    known = index(mine, "longer_over_better")
    verdicts = {at: _verdict(each, p[at]) for at, each in known.items()}
    tests = max(1, sum(not math.isnan(each) for each in p.values()))
    lines = []
    for judge in sorted({model_of(at[0]) for at in known}):
        own = [at for at in known if model_of(at[0]) == judge]
        gravest = worst(verdicts[at] for at in own)
        some = [x for x in own if verdicts[x] == gravest]
        at = max(some, key=lambda x: (known[x].value == known[x].value, known[x].value))
        words = {
            "bias": "prefers the longer text more often than not where it is the worse one",
            "hint": "leans to the longer text where it is the worse one",
            "not shown": "is not shown to prefer the longer text where it is the worse one",
            "untold": "was asked too little to tell whether it prefers longer texts that are worse",
        }[gravest]
        if len(own) > 1:
            words += f"; so under {sum(verdicts[x] == 'bias' for x in own)} of {len(own)} prompts (here: {at[0]})"
        lines.append(CardLine(judge, WORDING, known[at], gravest, words, p[at], _detectable(known[at], LEVEL / tests)))
    return lines


def _detectable(each: Estimate, level: float) -> float:
    """The smallest true effect found with power 0.8 by the test that was made: of counts the exact one of McNemar.

    That with as many instances for the side with fewer as were seen; NaN where no effect is found so often.
    """
    if EXACT not in each.method or math.isnan(each.se):
        return detectable_effect(each.se, each.df, level=level)
    # Of values of -1, 0 and 1 the sum of squares counts those that are not 0.
    decided = each.n * (each.n - 1) * each.se**2 + each.n * each.value**2
    return detectable_mcnemar(each.n, round((decided - each.n * abs(each.value)) / 2), level=level)


def _verdict(each: Estimate, p: float) -> str:
    """As everywhere; a judge that finds the better text is not biased by that."""
    found = standing(each, p)
    return "not shown" if found in ("bias", "hint") and each.value < 0 else found


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Which judges prefer which wordings, of estimates from one source of data.

    The largest effect that stands carries it, else the largest one. Where no wording was asked, the pairs of which one
    text is known to be better; None where there are none of these either.
    """
    known, p = family(estimates), corrected(estimates)
    if not known:
        return _known(estimates)
    verdicts = {at: standing(each, p[at]) for at, each in known.items()}
    gravest = worst(verdicts.values())
    at = max((x for x in known if verdicts[x] == gravest), key=lambda x: size(known[x]))
    judges = {x[0] for x in known}
    found = {x[0] for x in known if verdicts[x] == "bias"}
    tested = sum(not math.isnan(each) for each in p.values())
    level, q = index(estimates, "length_controlled_effect"), exploratory(estimates, "length_controlled_effect")
    # The same wording to the same side: one that is liked for its length and else disliked is another preference.
    alike = {x for x in level if x in known and level[x].value * known[x].value > 0 and q[x] < LEVEL}
    still = {x[0] for x in known if verdicts[x] == "bias" and x in alike}
    one, s = len(judges) == 1, "s" * (len(found) == 1)
    said = f"of {len(judges)} judge{'' if one else 's'} {len(found)} prefer{s} or avoid{s} a wording of equal content"
    if found and level:
        said += f", {len(still)} of them at equal length too (exploratory)"
    said += f"; largest: {at[0]}, {at[1]}"
    if not tested:
        said = "a preference for a wording was not tested"
    return Headline(sentence(said, known[at].data), known[at])


def _known(estimates: Sequence[Estimate]) -> Headline | None:
    known, p = index(estimates, "longer_when_worse"), corrected(estimates)
    known = {at: each for at, each in known.items() if each.value == each.value}
    if not known:
        return None
    found = [at for at in known if p[at] < LEVEL and known[at].value > 0.5]
    at = max(found or known, key=lambda x: known[x].value)
    of = "evaluators" if any("/" in x[0] for x in known) else "judges"
    said = (
        f"of {len(known)} {of} {len(found)} prefer{'s' * (len(found) == 1)} the longer text more often than not where "
    )
    said += f"it is the worse one; most often: {at[0]}"
    lost = [each for each in estimates if each.id == UNREADABLE]
    unreadable = together(lost, UNREADABLE, "", of).value
    return Headline(sentence(said, known[at].data), known[at], unreadable)
