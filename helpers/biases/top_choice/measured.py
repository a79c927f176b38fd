"""All numbers of experiment 1 in one list, and what they say of each judge."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from helpers import frames
from helpers.biases.top_choice import defended, published, rates
from helpers.biases.top_choice.defended import sensitivity_caption, sensitivity_rows
from helpers.stats.power import detectable_effect
from helpers.stats.standing import LEVEL, size, standing, tested
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate
from helpers.words import CardLine, Headline, display_name, listed, p_text, sentence

#: A judge that loses a larger share of its judgments is named in the finding.
MUCH_LOST = 0.05


def published_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Of published judgments those that this experiment is about: the blind ones, or all where one hint was given.

    Judgments under several hints, none of them blind, are a ValueError: their mean would be nobody's.
    """
    hints = sorted(frame["condition"].unique())
    if len(hints) > 1 and "none" not in hints:
        raise ValueError(f"these judgments were made under several hints ({', '.join(hints)}), none of them blind")
    return frame[frame["condition"] == "none"].reset_index(drop=True) if len(hints) > 1 else frame


def measure(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every estimate of the experiment from one frame of judgments; `data` says where the verdicts are from.

    A frame without any reply is a ValueError; replies without a valid ranking give numbers that are NaN.
    """
    frames.require_result(frame, (frame["top"] == 1.0).any(), "no valid ranking")
    return [
        *rates.unreadable_share(frame, data),
        *rates.top1_rate(frame, data),
        *rates.vendor_share(frame, data),
        *rates.self_bias(frame, data),
        *rates.spread(frame, data, seed),
        *rates.categories(frame, data),
        *rates.tier_preference(frame, data),
        *rates.score_means(frame, data),
        *rates.bias_difference(frame, data),
        *defended.excess_self_preference(frame, data),
        *defended.third_party_log_odds(frame, data),
        *defended.self_preference(frame, data),
        *defended.sensitivity(frame, data),
        *defended.position_effect(frame, data),
        *defended.agreement(frame, data, seed),
    ]


def pick(estimates: Iterable[Estimate], id: str, **where: str) -> list[Estimate]:
    """The estimates with this id whose `where` holds these values (and no variant, unless asked for)."""
    return [
        each
        for each in estimates
        if each.id == id
        and all(each.where.get(key) == value for key, value in where.items())
        and ("variant" in where or "variant" not in each.where)
    ]


def named(each: Estimate) -> str:
    """The vendor in a sentence; a simulated one is never mistaken for the real one, even in a quotation."""
    return f"{'SIMULATED ' if each.data == 'simulated' else ''}{display_name(each.where['vendor'])}"


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line, a sentence a vendor: self-preference (after Holm), a hint of it, or none measurable."""
    p = defended.corrected(list(estimates))
    lines = []
    for each in pick(estimates, "self_preference_logit"):
        vendor = each.where["vendor"]
        who = named(each)
        effect = pick(estimates, "self_preference_effect", vendor=vendor)[0]
        if each.value != each.value or p[vendor] != p[vendor]:
            lines.append(f"- {who}: no estimate ({each.method}).{_descriptive(estimates, vendor)}")
        elif p[vendor] < 0.05 and defended.ONE_SLOT in each.method:
            verb = "favouring" if each.value > 0 else "disfavouring"
            lines.append(
                f"- {who} judges: consistent with {verb} their own vendor's answers, {each} logits, {effect} in first "
                f"places (Holm p {p_text(p[vendor])}); a habit of place of their own would look the same."
            )
        elif p[vendor] < 0.05:
            verb = "**favour**" if each.value > 0 else "**disfavour**"
            lines.append(
                f"- {who} judges {verb} their own vendor's answers at equal quality and position: {each} logits, or "
                f"{effect} in first places (Holm p {p_text(p[vendor])})."
            )
        elif each.low > 0 or each.high < 0:
            lines.append(
                f"- {who} judges: a hint of {'self-preference' if each.value > 0 else 'the opposite'} that does not "
                f"survive the correction for {len(p)} vendors: {each} logits, {effect} (Holm p {p_text(p[vendor])})."
            )
        else:
            lines.append(
                f"- {who} judges show no measurable self-preference: {each} logits, {effect} (Holm p "
                f"{p_text(p[vendor])}); {detectable(effect, len(p))}."
            )
        lines[-1] += _explained(estimates, each)
    if not lines:
        return "No judge's own vendor is among the candidates: there is no self-preference to measure."
    if any(defended.ONE_SLOT in each.method for each in estimates):
        lines.append(
            "\nEach candidate always stood in one place: what the place does counts as that candidate's quality, and "
            "what a place does to the judges of one vendor alone as their preference."
        )
    lost = [each for each in estimates if each.id == "unreadable_share" and each.value > MUCH_LOST]
    if lost:
        told = ", ".join(f"{each.where['judge']} {each.value:.0%}" for each in lost)
        lines.append(
            f"\nJudgments without a readable verdict: {told}. If they were lost because of what would have been "
            "picked, all these numbers are biased."
        )
    return "\n".join(lines)


def _descriptive(estimates: Sequence[Estimate], vendor: str) -> str:
    """What can be said of a vendor without an estimate, with what it takes for a preference."""
    return "".join(
        f" Descriptive only: its judges rank it first {each} more often than other vendors' judges do, which also "
        "shows where those prefer themselves or judges are unequally sharp."
        for each in pick(estimates, "excess_self_preference", vendor=vendor)
    )


def _explained(estimates: Sequence[Estimate], primary: Estimate) -> str:
    """How strong a taste for length would explain away what is above 0 with or without slopes of length."""
    vendor = primary.where["vendor"]
    rows = [primary, *pick(estimates, primary.id, vendor=vendor, variant=defended.WITHOUT_LENGTH)]
    if not any(each.low > 0 for each in rows):
        return ""
    slope = pick(estimates, "length_slope", vendor=vendor)
    return "".join(
        f" {f'A slope of length of {each.value:+.2f}' if each.value == each.value else 'No slope of length in'} logits "
        f"per sd of its judges would explain it away ({each.method.partition(';')[0]}; found: {slope[0]})."
        for each in pick(estimates, "explaining_length_slope", vendor=vendor)
    )


def confirmatory(estimates: Sequence[Estimate]) -> list[tuple[list[Estimate], int]]:
    """The confirmatory family - the vendors' logits - with the number of tests that Holm corrects it for."""
    family = [each for each in estimates if each.id == "self_preference_logit" and "variant" not in each.where]
    return [(family, sum(map(tested, family)))]


def detectable(each: Estimate, tests: int = 1, power: float = 0.8) -> str:
    """What a null result of this size could have missed: the smallest effect found with probability `power`.

    Of several tests at the level of Holm's first step.
    """
    smallest = detectable_effect(each.se, each.df, power, level=0.05 / tests)
    if smallest != smallest:
        return "how large an effect could have been found is not known here"
    scale, unit = (100, " pp") if each.unit in ("pp", "rate", "sd_pp") else (1, "")
    after = f" (at the level for {tests} vendors)" if tests > 1 else ""
    return f"{power:.0%} power needs a true effect of {smallest * scale:.1f}{unit}{after}"


def naive_against_defended(estimates: Sequence[Estimate]) -> str:
    """One sentence a vendor: what the first-place rate suggests and what remains at equal quality."""
    lines = []
    for own in pick(estimates, "self_bias"):
        vendor = own.where["vendor"]
        excess = pick(estimates, "excess_self_preference", vendor=vendor)
        effect = pick(estimates, "self_preference_effect", vendor=vendor)
        told = [f"{named(own)}: own first places {own}"]
        told += [f"{each} against other vendors' judges" for each in excess]
        told += [f"{each} at equal quality and position" for each in effect]
        lines.append("- " + "; ".join(told) + ".")
    return "\n".join(lines)


def positions(estimates: Sequence[Estimate]) -> str:
    """Which places in the prompt win more or less often than they should, and what could have been missed."""
    found = [each for each in pick(estimates, "position_effect") if each.value == each.value]
    known = [each for each in found if each.low == each.low]
    if not known:
        why = f" ({found[0].method})" if found else ""
        return f"Whether a place in the prompt wins more often than the others cannot be told here{why}."
    adjusted = benjamini_hochberg([each.p for each in known])
    clear = [(each, p) for each, p in zip(known, adjusted, strict=True) if p < 0.05]
    largest = max(known, key=lambda each: abs(each.value))
    told = (
        f"No place in the prompt wins measurably more or less often than one in {len(found)} (exploratory; largest: "
        f"place {largest.where['slot']}, {largest})"
    )
    if clear:
        places = ", ".join(f"place {each.where['slot']} {each} (p {p_text(p)})" for each, p in clear)
        told = f"Against one in {len(found)}, exploratory, p by Benjamini and Hochberg over all places: {places}"
    others = [each for each in known if each not in [one for one, _ in clear]]
    if others:
        told += f"; {'elsewhere' if clear else 'at one place'} {detectable(max(others, key=lambda each: each.se))}"
    told += "."
    uneven = any(defended.UNBALANCED in each.method for each in found)
    mixed = "candidates did not take each place equally often, so these numbers hold their quality too"
    return f"{told} Careful: {mixed}." if uneven else told


def agreement_words(estimates: Sequence[Estimate]) -> str:
    """How far the judges agree, in one sentence; agreement is no evidence of fairness."""
    found = {each.id: each for each in estimates}
    if "raw_agreement" not in found:
        return "One judge alone cannot agree or disagree."
    return (
        f"Two judges put the same answer first in {found['raw_agreement']} of cases; beyond chance, Krippendorff's "
        f"alpha is {found['agreement_top1']} for first places and {found['agreement_ranks']} for ranks. Agreement is "
        "no evidence of fairness: judges can share a bias."
    )


def three_readings(estimates: Sequence[Estimate]) -> tuple[list[Estimate], list[Estimate], list[Estimate]]:
    """The naive difference, the excess and the logit's marginal effect, which the figure sets side by side."""
    return (
        pick(estimates, "naive_self_preference"),
        pick(estimates, "excess_self_preference"),
        [each for each in pick(estimates, "self_preference_effect") if each.value == each.value],
    )


def metric_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The published metrics, each with what noise alone would give and what is left of it (`where`: metric, judges)."""
    names = ("average_self_bias", "deviation_from_expected", "balance", "consistency_judges", "consistency_vendors")
    beside = {"": "all judges", "_noise_floor": "by noise alone", "_corrected": "less its bias"}
    return [
        replace(each, id="metric", where={"metric": id, "judges": column})
        for id in names
        for suffix, column in beside.items()
        for each in pick(estimates, f"{id}{suffix}")
    ]


def paper_tables(estimates: Sequence[Estimate]) -> list[tuple[str, str, list[Estimate], list[str], list[str]]]:
    """What goes into tables: name, caption, estimates, row keys and column keys."""
    by = {id: [each for each in estimates if each.id == id] for id in {each.id for each in estimates}}
    readings = [
        replace(each, where={"reading": name, **each.where})
        for name, group in zip(("naive", "excess", "logit"), three_readings(estimates), strict=True)
        for each in group
    ]
    return [
        ("top1_rate", "How often each judge ranks each vendor first.", by["top1_rate"], ["judge"], ["vendor"]),
        ("self_preference", "Own-vendor first places by three readings.", readings, ["reading"], ["vendor"]),
        ("metrics", "The published metrics.", metric_rows(estimates), ["metric"], ["judges"]),
        ("categories", "Own-vendor first places by category.", by["category_self_bias"], ["category"], ["vendor"]),
        (
            "sensitivity",
            sensitivity_caption(estimates),
            sensitivity_rows(estimates),
            ["variant"],
            ["vendor"],
        ),
    ]


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
