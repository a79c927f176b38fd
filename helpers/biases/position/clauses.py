"""What stands beside the bottom line of a comparison: lost verdicts, ties, categories, and flips against noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

from helpers.biases.position.effects import LEVEL
from helpers.biases.position.families import Place, detectable_beside, exploratory, of, place
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate
from helpers.words import p_text

#: What is said of flips where no order was asked twice.
NOISE = "; how much of that is noise is not known (the same order was not asked twice)"


def told_p(corrected: float) -> str:
    """An exploratory p as sentences have it."""
    return f"p {p_text(corrected)} by Benjamini and Hochberg, exploratory"


def percent(share: float) -> str:
    """A share as sentences have it."""
    return f"{100 * share:.1f} %"


def lost(estimates: Sequence[Estimate], at: Place, each: Estimate, found: bool) -> str:
    """What the verdicts that could not be read might do to the conclusion, if they were lost for what they said."""
    share = of(estimates, "invalid_share", at)
    bounds = [of(estimates, "first_position_sensitivity", at, choice=f"lost to {side}") for side in ("first", "second")]
    if share is None or not share.value:
        return ""
    told = f"{percent(share.value)} of pairs could not be read"
    if not found:
        if None in bounds or not any(_apart(bound) for bound in bounds):
            return ""
        ends = " to ".join(f"{100 * bound.value:+.1f}" for bound in reversed(bounds))
        return f" {told}; were they lost for their verdicts, the effect could be anything from {ends} pp."
    worst, sign = (bounds[1], 1) if each.value > 0 else (bounds[0], -1)
    if worst is None:
        return ""
    nearest = worst.value if math.isnan(worst.low) else min(sign * worst.low, sign * worst.high) * sign
    return f" {told}, and could undo that if they were lost for their verdicts." if sign * nearest <= 0 else ""


def _apart(each: Estimate) -> bool:
    """Whether 0 lies outside the interval (or, where there is none, is not the value)."""
    return each.low > 0 or each.high < 0 if not math.isnan(each.low) else bool(each.value)


def ties(estimates: Sequence[Estimate], at: Place, each: Estimate, found: bool) -> str:
    """Whether pairs with a tie in one game lean to a place: a judge whose ties depend on the order shows it there."""
    full = of(estimates, "first_position_sensitivity", at, choice="one tie: full")
    if full is None or math.isnan(full.low) or not _apart(full) or (found and full.value * each.value > 0):
        return ""
    where = "first" if full.value > 0 else "second"
    return f" Pairs with a tie in one game lean to the {where}: with these counted {full} (exploratory, uncorrected)."


def categories(estimates: Sequence[Estimate], at: Place, each: Estimate, found: bool) -> str:
    """The categories that lean to a place where the whole does not, or favours the other one."""
    every = [e for e in estimates if e.id == "first_position_effect" and "category" in e.where]
    adjusted = benjamini_hochberg([e.p for e in every])
    hits = [
        (e, p)
        for e, p in zip(every, adjusted, strict=True)
        if place(e.where) == at and p < LEVEL and not (found and e.value * each.value > 0)
    ]
    if not hits:
        return ""
    named = ", ".join(f"{e.where['category']} {e}" for e, _ in hits)
    largest = max(p for _, p in hits)
    return f" But categories that lean: {named} ({told_p(largest)} at most, over all categories)."


def flips(estimates: Sequence[Estimate], at: Place, found: bool) -> str:
    """How often the verdict changes, and how much of that asking again does as well."""
    agreed = of(estimates, "position_consistency", at)
    if agreed is None or math.isnan(agreed.value):
        return ""
    told = f" The two orders disagree on the outcome in {percent(1 - agreed.value)} of pairs"
    more = of(estimates, "excess_flip", at)
    if more is None or math.isnan(more.value):
        return f"{told}{NOISE}."
    if math.isnan(more.p):
        return f"{told}; {more} more than when asked again in the same order ({more.method})."
    p = exploratory(estimates, "excess_flip")[at]
    if p < LEVEL and more.value > 0:
        return f"{told}: it seems more often than when asked again in the same order, by {more} ({told_p(p)})."
    least = detectable_beside(estimates, more)
    weaker = "; the direction needs fewer questions than this does" if found else ""
    return (
        f"{told}: not measurably more often than when asked again in the same order ({more}, {told_p(p)}; "
        f"{100 * least:.1f} pp more would be found in 80 % of such runs){weaker}."
    )
