"""What may be concluded of each judge, said so that noise is never called a preference for a place, nor the reverse."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from helpers.biases.position.effects import LEVEL
from helpers.stats.power import detectable_effect
from helpers.stats.tests import benjamini_hochberg, holm
from helpers.types import Estimate

#: A comparison: judge and candidate, and the source where several hold the same two.
Place = tuple[str, ...]


def place(where: Mapping[str, str]) -> Place:
    """The comparison that a number is of."""
    return tuple(where[key] for key in ("judge", "candidate", "source") if key in where)


def of(estimates: Sequence[Estimate], id: str, at: Place, **more: str) -> Estimate | None:
    """The one estimate with this id, comparison and further keys; None where there is none."""
    for each in estimates:
        rest = {key: value for key, value in each.where.items() if key not in ("judge", "candidate", "source")}
        if each.id == id and place(each.where) == at and rest == more:
            return each
    return None


def family(estimates: Sequence[Estimate]) -> dict[Place, Estimate]:
    """The confirmatory contrasts, one a judge and candidate: first_position_effect over all its categories."""
    chosen = [e for e in estimates if e.id == "first_position_effect" and "category" not in e.where]
    return {place(each.where): each for each in chosen}


def corrected(estimates: Sequence[Estimate]) -> dict[Place, float]:
    """Holm's p of the confirmatory family, by comparison; NaN where there was no test."""
    each = family(estimates)
    return dict(zip(each, map(float, holm([e.p for e in each.values()])), strict=True))


def exploratory(estimates: Sequence[Estimate], id: str) -> dict[Place, float]:
    """Benjamini and Hochberg's p of one exploratory number over all comparisons; NaN where there was no test."""
    each = {place(e.where): e.p for e in estimates if e.id == id and "category" not in e.where}
    return dict(zip(each, map(float, benjamini_hochberg(list(each.values()))), strict=True))


def smallest_detectable(estimates: Sequence[Estimate], power: float = 0.8) -> dict[Place, float]:
    """The smallest true first_position_effect (a fraction, as pp are stored) found with this power, by comparison.

    After Holm's first step, from each contrast's own standard error; NaN where it has none.
    """
    each = family(estimates)
    tests = max(1, sum(not math.isnan(e.p) for e in each.values()))
    return {at: detectable_effect(e.se, e.clusters - 1, power, LEVEL / tests) for at, e in each.items()}


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
        told.append(f"{len(found)} favour the **{word}** place{f' ({judges})' if found else ''}")
    none = sum(not p[at] < LEVEL for at in tested)
    counted = f"{simulated}{'of' if simulated else 'Of'} {len(tested)} comparisons tested {told[0]}, {told[1]}"
    return [f"{counted}, and {none} show no measurable preference.", ""]


def _who(at: Place, each: Estimate) -> str:
    judge, candidate, *source = at
    told = f"{judge} on {candidate}" + (f" ({source[0]})" if source else "")
    return f"SIMULATED: {told}" if each.data == "simulated" else told


def _sentence(estimates: Sequence[Estimate], at: Place, each: Estimate, p: float, least: float, tests: int) -> str:
    who, flips = _who(at, each), _flips(estimates, at)
    if math.isnan(p):
        shown = f" ({each})" if each.value == each.value else ""
        told = "nothing can be concluded" if math.isnan(each.low) else "no test"
        return f"{who}: **{told}** on a preference for a place{shown}: {each.method}.{flips}"
    told = f"{each} of pairs, Holm p = {p:.2g}" + (f" of {tests} tests" if tests > 1 else "")
    if p >= LEVEL:
        return (
            f"{who}: **no measurable preference for a place** ({told}); a true effect of {100 * least:.1f} pp would be "
            f"found in 80 % of such runs.{flips}"
        )
    which, other = ("first", "second") if each.value > 0 else ("second", "first")
    share = "primacy_share", "recency_share"
    one, two = (of(estimates, id, at) for id in (share if which == "first" else reversed(share)))
    wins = (
        f": it wins both orders in {_percent(one.value)} of pairs, the {other} in {_percent(two.value)}"
        if one and two
        else ""
    )
    return f"{who} **favours the answer shown {which}**{wins} ({told}){_lost(estimates, at, each)}.{flips}"


def _p(corrected: float) -> str:
    return f"p = {corrected:.2g} by Benjamini and Hochberg, exploratory"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _lost(estimates: Sequence[Estimate], at: Place, each: Estimate) -> str:
    """What the pairs that could not be read might do to the conclusion, at worst."""
    side = "second" if each.value > 0 else "first"
    worst = of(estimates, "first_position_sensitivity", at, choice=f"all unreadable pairs to the {side}")
    lost = of(estimates, "invalid_share", at)
    if worst is None or lost is None or worst.value * each.value > 0:
        return ""
    return (
        f"; {_percent(lost.value)} of pairs could not be read, and could undo that if they were lost for their verdicts"
    )


def _flips(estimates: Sequence[Estimate], at: Place) -> str:
    """How often the verdict changes, and how much of that asking again does as well."""
    agreed = of(estimates, "position_consistency", at)
    if agreed is None or math.isnan(agreed.value):
        return ""
    told = f" The two orders name different winners in {_percent(1 - agreed.value)} of pairs"
    more = of(estimates, "excess_flip", at)
    if more is None or math.isnan(more.value):
        return f"{told}; how much of that is noise is not known (the same order was not asked twice)."
    if math.isnan(more.p):
        return f"{told}; {more} more than when asked again in the same order ({more.method})."
    p = exploratory(estimates, "excess_flip")[at]
    if p < LEVEL and more.value > 0:
        return f"{told}: more often than when asked again in the same order, by {more} ({_p(p)})."
    least = detectable_effect(more.se, more.clusters - 1, 0.8, LEVEL)
    return (
        f"{told}: not measurably more often than when asked again in the same order ({more}, {_p(p)}; "
        f"{100 * least:.1f} pp more would be found in 80 % of such runs)."
    )


def identical_words(estimates: Sequence[Estimate]) -> str:
    """What each judge does with the same text in both slots, beside a good answer against a bad one."""
    lines, adjusted = [], exploratory(estimates, "identical_pair_effect")
    for each in estimates:
        if each.id != "identical_pair_effect":
            continue
        at = place(each.where)
        told = f"- {_who(at, each)}: on two identical texts {each}"
        if each.p == each.p:
            least = detectable_effect(each.se, each.clusters - 1, 0.8, LEVEL)
            said = "a preference for the " + ("first" if each.value > 0 else "second") + " place or its letter"
            null = f"no measurable preference for a place; {100 * least:.1f} pp would be found in 80 % of such runs"
            told += f" ({_p(adjusted[at])}): {said if adjusted[at] < LEVEL else null}"
        else:
            told += f" ({each.method})"
        right = of(estimates, "quality_gap_accuracy", at)
        if right is not None and right.value == right.value:
            told += f"; it prefers the good answer to a grossly bad one in {right}"
        lines.append(f"{told}.")
    return "\n".join(lines) or "No judge was shown the same text twice."
