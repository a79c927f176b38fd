"""What may be concluded of each judge, said so that noise is never called a preference for a place, nor the reverse."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from helpers.biases.position.clauses import categories, flips, lost, percent, ties, told_p
from helpers.biases.position.effects import LEVEL
from helpers.biases.position.families import (
    Place,
    corrected,
    detectable_beside,
    exploratory,
    family,
    of,
    place,
    smallest_detectable,
)
from helpers.stats.standing import clash, leans
from helpers.stats.tests import FLOOR
from helpers.types import Estimate
from helpers.words import p_text


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line, a sentence a judge and candidate: which place it favours, and what its other flips may be."""
    p, least = corrected(estimates), smallest_detectable(estimates)
    tests = sum(not math.isnan(each) for each in p.values())
    lines = [f"- {_sentence(estimates, at, each, p[at], least[at], tests)}" for at, each in family(estimates).items()]
    if not lines:
        return "No candidate was judged against a baseline in both orders: nothing can be concluded."
    return "\n".join([*_summary(family(estimates), p), *lines])


def _summary(each: Mapping[Place, Estimate], p: Mapping[Place, float]) -> list[str]:
    """How many comparisons favour a place, and whose they are; nothing where there are few to read."""
    tested = [at for at in each if not math.isnan(p[at])]
    if len(tested) < 4:
        return []
    simulated = "SIMULATED: " if any(e.data == "simulated" for e in each.values()) else ""
    told = []
    for word, sign in (("first", 1), ("second", -1)):
        found = [at for at in tested if p[at] < LEVEL and sign * each[at].value > 0]
        judges = ", ".join(f"{judge} {n}" for judge, n in Counter(at[0] for at in found).items())
        several = len({at[0] for at in found}) < len(found)
        told.append(f"{len(found)} favour the **{word}** place{f' ({judges})' if several else ''}")
    unsure = sum(not p[at] < LEVEL and leans(each[at]) for at in tested)
    none = sum(not p[at] < LEVEL for at in tested) - unsure
    if unsure:
        told.append(f"{unsure} lean{'s' * (unsure == 1)} to a place without standing after correction")
    counted = f"{simulated}{'of' if simulated else 'Of'} {len(tested)} comparisons tested {', '.join(told)}"
    return [f"{counted}, and {none} show{'s' * (none == 1)} no measurable preference.", ""]


def _who(at: Place, each: Estimate) -> str:
    judge, candidate, *source = at
    told = f"{judge} on {candidate}" + (f" ({source[0]})" if source else "")
    return f"SIMULATED: {told}" if each.data == "simulated" else told


def _sentence(estimates: Sequence[Estimate], at: Place, each: Estimate, p: float, least: float, tests: int) -> str:
    who, found = _who(at, each), p < LEVEL
    beside = "".join(clause(estimates, at, each, found) for clause in (lost, ties, categories))
    beside += flips(estimates, at, found)
    if math.isnan(p):
        shown = f" ({each})" if each.value == each.value else ""
        told = "nothing can be concluded" if math.isnan(each.low) else "no test"
        why = each.method.rpartition("; ")[2]
        return f"{who}: **{told}** on a preference for a place{shown}: {why}.{beside}"
    told = f"{each} of pairs, Holm p {p_text(p, FLOOR in each.method)}" + (f" of {tests} tests" if tests > 1 else "")
    told += clash(each, p)
    if not found:
        enough = f"a true effect of {100 * least:.1f} pp would be found in 80 % of such runs"
        seen = enough if least == least else "no effect would be found in 80 % of such runs"
        if leans(each):
            side = "first" if each.value > 0 else "second"
            said = f"**leans to the {side} place, not established** after correction ({told})"
        else:
            said = f"**no measurable preference for a place** ({told})"
        return f"{who}: {said}; {seen}.{beside}"
    which, other = ("first", "second") if each.value > 0 else ("second", "first")
    share = "primacy_share", "recency_share"
    one, two = (of(estimates, id, at) for id in (share if which == "first" else reversed(share)))
    wins = (
        f": it wins both orders in {percent(one.value)} of pairs, the {other} in {percent(two.value)}"
        if one and two
        else ""
    )
    return f"{who} **favours the answer shown {which}**{wins} ({told}).{beside}"


def identical_words(estimates: Sequence[Estimate]) -> str:
    """What each judge does with the same text in both slots, beside a good answer against a bad one."""
    lines, adjusted = [], exploratory(estimates, "identical_pair_effect")
    for each in estimates:
        if each.id != "identical_pair_effect":
            continue
        at = place(each.where)
        told = f"- {_who(at, each)}: on two identical texts {each}"
        if each.p == each.p:
            least = detectable_beside(estimates, each)
            said = "it leans to the " + ("first" if each.value > 0 else "second") + " place or its letter"
            null = "no measurable preference for a place"
            null += f"; {100 * least:.1f} pp would be found in 80 % of such runs" if least == least else ""
            told += f" ({told_p(adjusted[at])}): {said if adjusted[at] < LEVEL else null}"
        else:
            told += f" ({each.method})"
        right = of(estimates, "quality_gap_accuracy", at)
        if right is not None and right.value == right.value:
            why = f" ({right.method})" if right.low != right.low else ""
            told += f"; it prefers the good answer to a grossly bad one in {right}{why}"
        lines.append(f"{told}.")
    return "\n".join(lines) or "No judge was shown the same text twice."
