"""What experiment 1 says of each judge, and of all of them in one sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from helpers.biases.top_choice import defended, published
from helpers.biases.top_choice.measure import pick
from helpers.stats.power import detectable_effect
from helpers.stats.standing import LEVEL, size, standing
from helpers.types import Estimate
from helpers.words import CardLine, Headline, display_name, listed, sentence

SELF_PREFERENCE, UNREADABLE = "self-preference", "unreadable"


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge whether it prefers its own vendor, and how much of it could not be read.

    Self-preference is measured by vendor, so that all judges of a vendor share its line: the effect in first places at
    equal quality and position, its verdict by Holm's p over the vendors. Published counts have the excess over other
    vendors' judges instead, which has no test and can be a hint at most. `vendors` gives each judge's vendor; without
    it that is the one among the candidates' that the judge's name tells, and a judge without one has no such line.
    """
    lines = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        found = by_vendor(mine)
        shares = {e.where["judge"]: e for e in mine if e.id == "unreadable_share" and set(e.where) == {"judge"}}
        for judge in judges(mine):
            vendor = vendor_of(judge, found, vendors)
            if vendor:
                lines.append(_line(judge, vendor, *found[vendor]))
            if judge in shares:
                words = "gives replies without a readable verdict in this share"
                lines.append(CardLine(judge, UNREADABLE, shares[judge], "described", words))
    return lines


def judges(estimates: Sequence[Estimate]) -> list[str]:
    """The judges whose first places were counted, by name."""
    return sorted({e.where["judge"] for e in estimates if e.id == "top1_rate" and set(e.where) == {"judge", "vendor"}})


def vendor_of(judge: str, known: Mapping[str, object], given: Mapping[str, str] | None) -> str:
    """The vendor of a judge, "" where it is not among `known` or its name tells none, or several.

    >>> vendor_of("sim_gpt_fast", {"gpt": 1, "claude": 2}, None), vendor_of("mine", {"gpt": 1}, {"mine": "gpt"})
    ('gpt', 'gpt')
    """
    named = [(given or {}).get(judge, "")] if judge in (given or {}) else re.findall("[a-z]+", judge.lower())
    told = [vendor for vendor in known if vendor in named]
    return told[0] if len(told) == 1 else ""


def by_vendor(estimates: Sequence[Estimate]) -> dict[str, tuple[Estimate, float, str, float]]:
    """Of each vendor what stands on the card: the number, its p after correction, verdict, smallest detectable effect.

    One slot for each candidate cannot tell a preference from a habit of place: then a bias is called a hint.
    """
    effects = pick(estimates, "self_preference_effect")
    if not effects:
        excess = pick(estimates, "excess_self_preference")
        excess = [each for each in excess if set(each.where) == {"vendor"}]
        return {each.where["vendor"]: (each, math.nan, standing(each, math.nan), math.nan) for each in excess}
    p, found = defended.corrected(list(estimates)), {}
    logits = {each.where["vendor"]: each for each in pick(estimates, "self_preference_logit")}
    tested = max(1, sum(not math.isnan(each) for each in p.values()))
    for each in effects:
        vendor = each.where["vendor"]
        # What is tested is the logit; the effect in first places is what it comes to.
        verdict = standing(logits.get(vendor, each), p.get(vendor, math.nan))
        if verdict == "bias" and defended.ONE_SLOT in each.method:
            verdict = "hint"
        least = detectable_effect(each.se, each.df, level=LEVEL / tested)
        found[vendor] = (each, p.get(vendor, math.nan), verdict, least)
    return found


def _line(judge: str, vendor: str, each: Estimate, p: float, verdict: str, least: float) -> CardLine:
    beside = "at equal quality and position"
    if each.id == "excess_self_preference":
        beside = "beyond what other vendors' judges say of these answers, as a partial rival or unequal sharpness would"
    verb = "favour" if each.value > 0 else "disfavour"
    said = {
        "bias": f"whose judges {verb} their own vendor's answers {beside}",
        "hint": f"whose judges seem to {verb} their own vendor's answers {beside}",
        "not shown": f"whose judges show no measurable self-preference {beside}",
        "untold": f"of whose judges nothing can be told ({each.method})",
    }
    words = f"belongs to {display_name(vendor)}, {said[verdict]}"
    return CardLine(judge, SELF_PREFERENCE, each, verdict, words, p, least)


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Whose judges prefer their own vendor, of estimates from one source of data; the largest number carries it.

    None where no vendor has both judges and answers.
    """
    found = {vendor: row for vendor, row in by_vendor(estimates).items() if not math.isnan(row[0].value)}
    if not found:
        return None
    shown = {v: [n for n, row in found.items() if row[2] == v] for v in ("bias", "hint", "not shown", "untold")}
    first = found[next(iter(found))][0]
    asked = first.id != "excess_self_preference"
    told = []
    for verdict, verb in (("bias", "favour"), ("hint", "seem to favour")):
        for sign, prefix in ((1, ""), (-1, "dis")):
            names = [n for n in shown[verdict] if sign * found[n][0].value > 0]
            if names:
                told.append(f"judges of {listed(map(display_name, names))} {verb.replace('favour', prefix + 'favour')}")
    said = " and ".join(told)
    beside = "at equal quality and position" if asked else "more than other vendors' judges do (counts, no test)"
    if said:
        said += f" their own vendor {beside}{'' if asked else f', {published.inseparable(len(found))}'}"
    if shown["not shown"]:
        names = listed(map(display_name, shown["not shown"]))
        said += ("; " if said else "") + f"of {names} {'this' if said else 'a self-preference'} is not shown"
    if shown["untold"]:
        said += ("; " if said else "") + f"of {listed(map(display_name, shown['untold']))} nothing can be told"
    order = [n for v in ("bias", "hint", "not shown", "untold") for n in shown[v]]
    top = [n for n in order if found[n][2] == found[order[0]][2]]
    each = max((found[n][0] for n in top), key=size)
    if said and each.data == "published":
        said = f"{said} (judges: {published.JUDGES})"
    return Headline(sentence(said, each.data), each)
