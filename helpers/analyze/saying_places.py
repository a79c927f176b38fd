"""Sentences on places, and which lines stand first or are left to the tables where there are many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from helpers.analyze.placing import EVERYBODY
from helpers.biases import position
from helpers.biases.position.clauses import NOISE
from helpers.types import Estimate

#: More lines of one kind are counted and left to the tables; of single comparisons, where a judge's whole is told,
#: fewer.
MOST_LINES, MOST_SINGLE = 12, 5
#: What these are where there is nothing; those farthest from it stand first, should there be too many to tell.
NOTHING = {"first_place_share": 0.5, "longer_win_rate": 0.5, "score_error": 0.0, "first_position_effect": 0.0}
#: Numbers that no sentence about places needs, and of which there may be thousands.
UNSAID = ("win_rate", "first_position_sensitivity", "flip_by_gap", "candidate_win_rate")


def places(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Which place each judge favours: over all its pairs, then by candidate while those can be read."""
    estimates = [each for each in estimates if each.id not in UNSAID]
    whole = [each for each in estimates if set(each.where) - {"category"} == {"judge"}]
    whole = [replace(each, where={**each.where, "candidate": EVERYBODY}) for each in whole]
    single = [each for each in estimates if {"judge", "candidate"} <= set(each.where)]
    told = [
        position.finding(farthest_first(some)).split("\n")
        if any(each.id == "first_position_effect" for each in some)
        else []
        for some in (whole, single)
    ]
    # What is true of every line is said once.
    often = sum(NOISE in line for lines in told for line in lines) > 1
    most = MOST_LINES
    for lines in told:
        if lines:
            yield from loudest([line.replace(NOISE, "") if often else line for line in lines], most)
            yield ""
            most = MOST_SINGLE
    if often:
        yield f"How often the two orders differ is no bias by itself{NOISE}."
        yield ""
    if any(each.id == "identical_pair_effect" for each in single):
        yield from limited(position.identical_words(single).split("\n"))


def farthest_first(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Those of NOTHING by how far they are from it, before all others, which keep their order."""

    def near(each: Estimate) -> float:
        away = abs(each.value - NOTHING[each.id]) if each.id in NOTHING else math.nan
        return -away if away == away else math.inf

    return sorted(estimates, key=near)


def limited(lines: Sequence[str], indent: str = "") -> list[str]:
    """The lines, or where they are too many the first, with the number of the others."""
    if len(lines) <= MOST_LINES + 2:
        return list(lines)
    return [*lines[:MOST_LINES], f"{indent}- ... and {len(lines) - MOST_LINES} more: the tables hold them."]


def loudest(lines: Sequence[str], most: int) -> list[str]:
    """The lines, or where they are too many those that conclude something, with the number of the others."""
    items = [line for line in lines if line.startswith("- ")]
    if len(items) <= most + 2:
        return list(lines)
    loud = [line for line in items if "**favours" in line or "**leans" in line]
    shown = loud[:most]
    which = "more" if len(loud) > most else "more without a conclusion"
    rest = f"- ... and {len(items) - len(shown)} {which}: the tables hold them."
    return [*(line for line in lines if not line.startswith("- ")), *shown, rest]
