"""What may be said of judges' accuracy and of their agreement with people: sentences that change with the numbers."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.biases.accuracy.gold import corrected
from helpers.stats.standing import clash
from helpers.types import Estimate
from helpers.words import p_text

LEVEL = 0.05
_PLACE = ("source", "condition")


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line of `accuracy` and `agreement`: a sentence a judge, then who is right more often than whom.

    Holm's correction runs over all differences, and over all gaps between judges and people.
    """
    lines = [_right(estimates, each) for each in estimates if each.id == "gold_accuracy"]
    lines += [_voted(estimates, each) for each in estimates if each.id == "agreement_gap" and which(each) == "all"]
    lines += _differences(estimates)
    lines += [_people_would(estimates, each) for each in estimates if each.id == "people_rate"]
    return "\n".join(f"- {line}" for line in lines) or "No gold labels and no votes of people: nothing can be said."


def which(each: Estimate) -> str:
    """Which votes an estimate is of: all, consistent, decisive; empty for numbers that are of none."""
    return each.where.get("votes", "")


def estimate_of(estimates: Sequence[Estimate], id: str, **where: str) -> Estimate | None:
    """The estimate of exactly this place, if there is one."""
    return next((each for each in estimates if each.id == id and dict(each.where) == where), None)


def _place(each: Estimate) -> str:
    told = ", ".join(each.where[key] for key in _PLACE if each.where.get(key, "none") not in ("none", "all"))
    return f" ({told})" if told else ""


def _named(each: Estimate) -> str:
    simulated = "SIMULATED: " if each.data == "simulated" else ""
    return f"{simulated}{each.where['judge']}{_place(each)}"


def _shown(each: Estimate) -> str:
    return f"{each}" if each.low == each.low or each.value != each.value else f"{each} ({each.method})"


def _right(estimates: Sequence[Estimate], each: Estimate) -> str:
    said = f"{_named(each)} is **right in {_shown(each)}** of {each.n} verdicts"
    lost = estimate_of(estimates, "gold_unreadable_share", **each.where)
    least = estimate_of(estimates, "gold_accuracy_of_all", **each.where)
    if lost and least and lost.value > 0:
        said += f" that can be read; {100 * lost.value:.1f} % cannot, and if those are wrong {_shown(least)}"
    return f"{said}."


def _voted(estimates: Sequence[Estimate], gap: Estimate) -> str:
    at = {key: value for key, value in gap.where.items() if key != "judge"}
    agreed = estimate_of(estimates, "human_agreement", **gap.where)
    people = estimate_of(estimates, "human_human_agreement", **at)
    beyond = estimate_of(estimates, "human_alpha", **{key: value for key, value in gap.where.items() if key != "votes"})
    said = f"{_named(gap)} says what a person says in **{_shown(agreed)}** of {agreed.n} votes"
    said += f" (alpha {beyond})" if beyond and beyond.value == beyond.value else ""
    if people and people.value == people.value:
        said += f", another person in {_shown(people)}"
    p = corrected(estimates, "agreement_gap")[tuple(sorted(gap.where.items()))]
    if p != p:
        return f"{said}; {gap.method}."
    same = f"on the same votes {gap}, Holm p {p_text(p)}{clash(gap, p)}"
    if p < LEVEL:
        return f"{said}: it agrees with people **{'more' if gap.value > 0 else 'less'}** than they do ({same})."
    return f"{said}: no measurable difference from people ({same}), which is no proof of none."


def _differences(estimates: Sequence[Estimate]) -> list[str]:
    p = corrected(estimates, "gold_accuracy_difference")
    every = [each for each in estimates if each.id == "gold_accuracy_difference"]
    found = []
    for each in every:
        chance = p[tuple(sorted(each.where.items()))]
        if chance < LEVEL:
            one, other = (each.where[key] for key in (("judge", "other") if each.value > 0 else ("other", "judge")))
            found.append(f"{one} is right more often than {other}{_place(each)}: {each}, Holm p {p_text(chance)}.")
    if every and not found:
        shown = f" ({every[0]})" if len(every) == 1 else ""
        found.append(f"No measurable difference between judges{shown}, of {len(every)} asked for.")
    return found


def _people_would(estimates: Sequence[Estimate], each: Estimate) -> str:
    """The corrected share beside what the judge alone and the labels alone say, or why there is none."""
    alone = " and ".join(
        f"{words} {_shown(other)}"
        for words, id in (("the judge alone", "people_rate_judge"), ("the labels alone", "people_rate_labels"))
        if (other := estimate_of(estimates, id, **each.where))
    )
    if each.value != each.value:
        return f"{_named(each)}: no correction by people's labels ({each.method}); {alone}."
    return f"{_named(each)}: people would say yes in **{_shown(each)}** of all items; {alone}."
