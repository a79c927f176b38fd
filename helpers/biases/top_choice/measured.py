"""All numbers of experiment 1 in one list, and what they say of each judge."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from ... import frames
from ...stats.power import detectable_effect
from ...stats.standing import LEVEL
from ...types import Estimate
from ...words import CardLine, Conclusion, Headline, card_line, headline as headline_of, lines
from .. import protocol
from . import defended, rates

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
    described = (
        *(rates.unreadable_share, rates.top1_rate, rates.vendor_share, rates.self_bias, rates.spread, rates.categories),
        *(rates.tier_preference, rates.score_means, rates.bias_difference, defended.excess_self_preference),
    )
    modelled = (
        *(defended.third_party_log_odds, defended.self_preference, defended.sensitivity, defended.position_effect),
        defended.agreement,
    )
    return protocol.measure_all((*described, *modelled), frame, data, seed=seed)


def pick(estimates: Iterable[Estimate], id: str, **where: str) -> list[Estimate]:
    """The estimates with this id whose `where` holds these values (and no variant, unless asked for)."""
    found = protocol.pick(estimates, id, **where)
    return [each for each in found if "variant" in where or "variant" not in each.where]


def conclusions(estimates: Iterable[Estimate], *ids: str) -> list[Conclusion]:
    """What may be said of the numbers with these ids, in their order, without variants.

    One slot for each candidate cannot tell a preference from a habit of place: then a bias is a hint.
    """
    kept = [each for each in estimates if "variant" not in each.where]
    found, habit = protocol.conclusions("top_choice", kept, *ids), "a habit of place of its own would look the same"
    return [
        replace(each, verdict="hint", test=f"{each.test}; {habit}")
        if each.verdict == "bias" and defended.ONE_SLOT in each.estimate.method
        else each
        for each in found
    ]


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line of the judges of each vendor: self-preference (after Holm), a hint of it, or no sign.

    Without an estimate the excess over other vendors' judges is described; what is above 0, with or without slopes of
    length, has the taste for length that would explain it away beside it.
    """
    ids = ["self_preference_logit", "self_preference_effect", "excess_self_preference"]
    ids += ["explaining_length_slope", "length_slope"]
    by = {(each.estimate.id, each.estimate.where["vendor"]): each for each in conclusions(estimates, *ids)}
    shown = []
    for (id, vendor), each in by.items():
        if id != "self_preference_logit":
            continue
        more = [ids[1]] if not math.isnan(each.p) else [ids[2]]
        rows = pick(estimates, id, vendor=vendor, variant=defended.WITHOUT_LENGTH)
        if any(one.low > 0 for one in (each.estimate, *rows)):
            more += ids[3:]
        shown += [each, *(by[one, vendor] for one in more if (one, vendor) in by)]
    if not shown:
        return "No judge's own vendor is among the candidates: there is no self-preference to measure."
    parts = [lines(map(_with_lengths, shown), "{vendor} as a judge")]
    if any(defended.ONE_SLOT in each.method for each in estimates):
        parts.append(
            "Each candidate always stood in one place: what the place does counts as that candidate's quality, and "
            "what a place does to the judges of one vendor alone as their preference."
        )
    lost = [each for each in protocol.pick(estimates, "unreadable_share") if each.value > MUCH_LOST]
    if lost:
        names = ", ".join(f"{each.where['judge']} {each.value:.0%}" for each in lost)
        parts.append(
            f"Judgments without a readable verdict: {names}. If they were lost because of what would have been "
            "picked, all these numbers are biased."
        )
    return "\n\n".join(parts)


def _with_lengths(each: Conclusion) -> Conclusion:
    """The slope that would explain a preference away, with how much longer own answers are."""
    if each.estimate.id != "explaining_length_slope" or math.isnan(each.estimate.value):
        return each
    longer = each.estimate.method.partition(";")[0]
    return replace(each, declared=replace(each.declared, describe=f"{each.declared.describe}: {longer}"))


def naive_against_defended(estimates: Sequence[Estimate]) -> str:
    """What the first-place rate of each vendor suggests and what remains at equal quality."""
    ids = ("self_bias", "excess_self_preference", "self_preference_effect")
    return lines(conclusions(estimates, *ids), "{vendor} as a judge")


def positions(estimates: Sequence[Estimate]) -> str:
    """Which places in the prompt win more or less often than they should, and what could have been missed."""
    found = [each for each in conclusions(estimates, "position_effect") if not math.isnan(each.estimate.value)]
    uneven = any(defended.UNBALANCED in each.estimate.method for each in found)
    mixed = "\n\nCareful: candidates did not take each place equally often, so these numbers hold their quality too."
    return lines(found, "all judges") + mixed * uneven or "Places were not compared."


def agreement_words(estimates: Sequence[Estimate]) -> str:
    """How far the judges agree; agreement is no evidence of fairness."""
    found = lines(conclusions(estimates, "raw_agreement", "agreement_top1", "agreement_ranks"), "two judges")
    caution = "\n\nAgreement is no evidence of fairness: judges can share a bias."
    return found + caution if found else "One judge alone cannot agree or disagree."


def three_readings(estimates: Sequence[Estimate]) -> tuple[list[Estimate], list[Estimate], list[Estimate]]:
    """The naive difference, the excess and the logit's marginal effect, which the figure sets side by side."""
    return (
        pick(estimates, "naive_self_preference"),
        pick(estimates, "excess_self_preference"),
        [each for each in pick(estimates, "self_preference_effect") if each.value == each.value],
    )


SELF_PREFERENCE, UNREADABLE = "self-preference", "unreadable"


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge whether it prefers its own vendor, and how much of it could not be read.

    All judges of a vendor share its line (`by_vendor`). `vendors` gives each judge's vendor; without it that is the one
    among the candidates' that the judge's name tells, and a judge without one has no such line.
    """
    found, parts = {each.estimate.where["vendor"]: each for each in by_vendor(estimates)}, []
    shares = [each for each in estimates if set(each.where) == {"judge"}]
    lost = {each.estimate.where["judge"]: each for each in conclusions(shares, "unreadable_share")}
    for judge in sorted({e.where["judge"] for e in estimates if e.id == "top1_rate" and len(e.where) == 2}):
        if vendor := vendor_of(judge, found, vendors):
            parts.append(card_line(judge, SELF_PREFERENCE, [found[vendor]]))
        if judge in lost:
            parts.append(card_line(judge, UNREADABLE, [lost[judge]]))
    # Peers have preferences of their own; a judge of no vendor has none of these vendors'.
    recent = protocol.conclusions("top_choice", estimates, "released_own_share")
    neutral = protocol.by_judge(each for each in recent if each.estimate.where["against"] == "a neutral judge")
    return parts + [card_line(judge, SELF_PREFERENCE, several, "{source}") for judge, several in neutral.items()]


def vendor_of(judge: str, vendors: Mapping[str, object], stated: Mapping[str, str] | None) -> str:
    """The vendor of a judge, "" where it is not among `vendors` or its name tells none, or several.

    >>> vendor_of("sim_gpt_fast", {"gpt": 1, "claude": 2}, None), vendor_of("mine", {"gpt": 1}, {"mine": "gpt"})
    ('gpt', 'gpt')
    """
    named = [(stated or {}).get(judge, "")] if judge in (stated or {}) else re.findall("[a-z]+", judge.lower())
    matching = [vendor for vendor in vendors if vendor in named]
    return matching[0] if len(matching) == 1 else ""


def by_vendor(estimates: Sequence[Estimate]) -> list[Conclusion]:
    """Of each vendor what stands on the card: the effect in first places, else the excess, which is a hint at most.

    What is tested is the logit; the effect is what it comes to.
    """
    effects = {each.where["vendor"]: each for each in pick(estimates, "self_preference_effect")}
    found = conclusions(estimates, "self_preference_logit")
    if not found:
        return conclusions([each for each in estimates if set(each.where) == {"vendor"}], "excess_self_preference")
    shown = []
    for each in found:
        effect = effects[each.estimate.where["vendor"]]
        least = detectable_effect(effect.se, effect.df, level=LEVEL / max(1, each.tests))
        shown.append(replace(each, estimate=effect, smallest=least))
    return shown


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Whose judges prefer their own vendor, of estimates from one source of data; the largest number carries it.

    None where no vendor has both judges and answers.
    """
    found = [each for each in by_vendor(estimates) if not math.isnan(each.estimate.value)]
    head = headline_of(found, "{vendor}")
    if head and head.estimate.data == "published":
        return replace(head, sentence=f"{head.sentence[:-1]} (judges: {rates.JUDGES}).")
    return head
