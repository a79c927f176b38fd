"""What is tested together: all judges and wordings are one family; numbers beside them are exploratory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from helpers.biases.verbosity.effects import LEVEL
from helpers.biases.verbosity.wording import BIASES
from helpers.stats.power import detectable_effect
from helpers.stats.standing import correct_family, tested
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate

#: A judge and a wording.
Place = tuple[str, str]


def place(where: Mapping[str, str]) -> Place:
    """The judge and the wording ("": of the judge alone) of a number."""
    return where["judge"], where.get("bias", "")


def index(estimates: Sequence[Estimate], id: str) -> dict[Place, Estimate]:
    """The numbers of one id by judge and wording."""
    return {place(each.where): each for each in estimates if each.id == id}


def family(estimates: Sequence[Estimate]) -> dict[Place, Estimate]:
    """The effects of wordings, a judge and wording each; the control is none of them."""
    return {at: each for at, each in index(estimates, "style_effect").items() if at[1] in BIASES}


def by_judge(estimates: Sequence[Estimate]) -> dict[str, dict[Place, Estimate]]:
    """The effects of each judge."""
    found: dict[str, dict[Place, Estimate]] = {}
    for at, each in family(estimates).items():
        found.setdefault(at[0], {})[at] = each
    return found


def members(estimates: Sequence[Estimate]) -> list[dict[Place, Estimate]]:
    """The confirmatory family of each source of data: all judges' effects, and longer texts that win though worse."""
    found = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        found.append(family(mine) | index(mine, "longer_when_worse"))
    return found


def confirmatory(estimates: Sequence[Estimate]) -> list[tuple[list[Estimate], int]]:
    """The confirmatory families with the number of tests that Holm corrects each for."""
    return [([*each.values()], sum(map(tested, each.values()))) for each in members(estimates)]


def corrected(estimates: Sequence[Estimate]) -> dict[Place, float]:
    """Holm's p of each member of its family, by judge and wording ("": longer_when_worse); NaN without a test."""
    return {at: p for each in members(estimates) for at, p in correct_family(each).items()}


def exploratory(estimates: Sequence[Estimate], id: str) -> dict[Place, float]:
    """Benjamini and Hochberg's p of one exploratory number over judges and wordings; NaN where there was no test.

    Of `style_effect` the controls alone are exploratory.
    """
    each = {at: one for at, one in index(estimates, id).items() if id != "style_effect" or at[1] not in BIASES}
    return correct_family(each, benjamini_hochberg)


def smallest_detectable(estimates: Sequence[Estimate], power: float = 0.8) -> dict[Place, float]:
    """The smallest true effect (a fraction, as pp are stored) found with this power after Holm's first step.

    From each effect's own standard error, by t; NaN where it has none.
    """
    found = {}
    for each in members(estimates):
        level = LEVEL / max(1, sum(not math.isnan(e.p) for e in each.values()))
        found |= {at: detectable_effect(e.se, e.df, power, level) for at, e in each.items() if at[1]}
    return found


def beside(estimates: Sequence[Estimate], each: Estimate) -> float:
    """The smallest true effect of one exploratory number found with power 0.8 at the level that one hit needs."""
    tests = sum(not math.isnan(p) for p in exploratory(estimates, each.id).values())
    return detectable_effect(each.se, each.df, 0.8, LEVEL / max(1, tests))
