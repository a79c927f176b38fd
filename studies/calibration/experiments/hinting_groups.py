"""Experiment 2 on judges of known truth: hints and names that do nothing, something, or something else a question."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from helpers.biases.hinting.asking import trials
from helpers.biases.hinting.changes import change_rate
from helpers.biases.hinting.names import ARM, name_effect
from helpers.biases.hinting.paired import hint_bounds, hint_effect, hints_in, pairs
from helpers.biases.losses import loss_change
from helpers.stats.tests import mcnemar_exact
from helpers.types import Estimate
from studies.calibration.cases import Case, Target
from studies.calibration.worlds import rankings
from studies.calibration.worlds.listwise import HABITS, PLANTED, UNEQUAL, World
from studies.calibration.worlds.rankings import Arm, Truths

NAME = "hinting_groups"
DATA = "simulated"
MARGIN = 0.05
#: The sd over questions of what a hint does where it does nothing on average.
SPREAD = 0.8
AVERAGE = "average"
INDEPENDENT = ("two_groups_unpaired", "mcnemar_on_votes")

#: Utilities at which a hint moves the average by nothing (with SPREAD) and by MARGIN: solved for, held by a test.
MIXED, AT_MARGIN = Arm("full", -0.0403, SPREAD), Arm("full", 0.3088)
ONCE, TWICE = Arm(), Arm(repeats=2)

UNEQUAL_JUDGES = World(sharpness=UNEQUAL, position=HABITS, self_preference=PLANTED)
ALIKE = replace(UNEQUAL_JUDGES, sibling=0.9, sigma_taste=1.0, shared_taste=0.6)
LOST = replace(UNEQUAL_JUDGES, lost=0.03, lost_own=0.1)


def measure(frame: pd.DataFrame, seed: int) -> list[Estimate]:
    """The headline numbers of experiment 2, and beside them what takes the groups as independent votes."""
    repeated = frame["repeat"].max() > 0
    return [
        *hint_effect(frame, DATA, seed, 100 * MARGIN),
        *hint_bounds(frame, DATA),
        *loss_change(frame, DATA, seed),
        *name_effect(frame, DATA, seed),
        *(change_rate(frame, DATA) if repeated else []),
        *votes_as_independent(frame),
    ]


def votes_as_independent(frame: pd.DataFrame) -> list[Estimate]:
    """The published reading, own first places of two groups compared as if no votes went together; and McNemar's test.

    `two_groups_unpaired` is the z test of two proportions, `mcnemar_on_votes` the exact test of pairs that do not know
    of questions; both with Wald's interval.
    """
    from scipy.special import ndtr

    found = []
    for hint in [name for name in hints_in(frame) if name != ARM]:
        both = pairs(frame, hint)
        n, rates = len(both), (both["own"].mean(), both["own_blind"].mean())
        if not n:
            continue
        value, pooled = rates[0] - rates[1], sum(rates) / 2
        se = (2 * pooled * (1 - pooled) / n) ** 0.5
        up, down = int((both["difference"] > 0).sum()), int((both["difference"] < 0).sum())
        paired = (up + down - (up - down) ** 2 / n) ** 0.5 / n
        p = float(2 * ndtr(-abs(value) / se)) if se else 1.0
        for id, error, tested in zip(INDEPENDENT, (se, paired), (p, mcnemar_exact(up, down)), strict=True):
            bounds = (value, value - 1.96 * error, value + 1.96 * error)
            facts = {"n": n, "unit": "pp", "se": error, "method": "votes as independent", "data": DATA, "p": tested}
            found.append(Estimate(id, {"hint": hint, "vendor": AVERAGE}, *bounds, **facts))
    return found


def _effect(hint: str, role: str, truths: Truths | float, id: str = "hint_effect", **more: float) -> list[Target]:
    """Targets of one hint for each vendor and their average (of the average alone where only it has this id)."""
    vendors = (*World().vendors, AVERAGE) if id in ("hint_effect", "name_effect") else (AVERAGE,)
    found = []
    for vendor in vendors:
        where = {"vendor": vendor} | ({"hint": hint} if hint else {})
        truth, error = _known(truths, "name_effect" if id == "name_effect" else "hint_effect", vendor)
        found.append(Target(id, where, truth, role, error=error, **more))
    return found


def _known(truths: Truths | float, id: str, vendor: str) -> tuple[float, float]:
    return (truths, 0.0) if isinstance(truths, float) else (truths[id, vendor].value, truths[id, vendor].se)


def _changed(hint: str, role: str, truths: Truths | float) -> Target:
    truth, error = _known(truths, "excess_change", "")
    return Target("excess_change", {"hint": hint}, truth, role, error=error)


def _nothing(world: World, arms: Sequence[Arm]) -> list[Target]:
    found = []
    for arm in arms:
        hint = arm.condition
        if hint == ARM:
            found += _effect("", "null", 0.0, "name_effect")
        elif hint != "none":
            found += _effect(hint, "null", 0.0)
            found += _effect(hint, "planted", 0.0, "hint_effect_90", level=0.9)
            found.append(Target("loss_change", {"condition": hint}, 0.0, "null"))
            found += [each for id in INDEPENDENT for each in _effect(hint, "failure", 0.0, id)]
            if arm.repeats > 1:
                rate = Target("change_rate", {"hint": hint}, 0.0, "failure")
                found += [_changed(hint, "null", 0.0), rate]
    return found


def _unequal_losses(world: World, arms: Sequence[Arm]) -> list[Target]:
    """What only the hint loses is all for the own vendor: the effect is wrong, and its upper bound is the truth."""
    hint = arms[1].condition
    return [
        *_effect(hint, "failure", 0.0),
        Target("hint_effect_bound", {"hint": hint, "vendor": AVERAGE, "bound": "high"}, 0.0, "null"),
        Target("loss_change", {"condition": hint}, math.nan, "planted"),
    ]


def _something(world: World, arms: Sequence[Arm]) -> list[Target]:
    found = []
    for arm in arms:
        if arm.condition == ARM:
            found += _effect("", "planted", rankings.swapped(world, arm), "name_effect")
        elif arm.condition != "none":
            truths = rankings.hinted(world, arm)
            found += _effect(arm.condition, "planted", truths)
            found += _effect(arm.condition, "planted", truths, "hint_effect_90", level=0.9)
            found += [_changed(arm.condition, "planted", truths)] if arm.repeats > 1 else []
    return found


def _mixed(world: World, arms: Sequence[Arm]) -> list[Target]:
    truths, hint = rankings.hinted(world, arms[1]), arms[1].condition
    every = _effect(hint, "planted", truths)
    # Only the average is nothing: a hint that pulls both ways does not leave each vendor's rate where it was.
    judged = [replace(each, role="null") if each.where["vendor"] == AVERAGE else each for each in every]
    return [*judged, *_effect(hint, "failure", 0.0, INDEPENDENT[1])]


def _margin(world: World, arms: Sequence[Arm]) -> list[Target]:
    """At the margin itself equivalence must not be concluded in more than one run of twenty."""
    truths, hint = rankings.hinted(world, arms[1]), arms[1].condition
    return [
        *_effect(hint, "planted", truths),
        *_effect(hint, "null", truths, "hint_effect_90", level=0.9, null=MARGIN),
    ]


def _case(
    name: str,
    words: str,
    world: World,
    arms: tuple[Arm, ...],
    targets: Callable[[World, Sequence[Arm]], list[Target]],
) -> Case:
    return Case(
        NAME,
        name,
        words,
        partial(rankings.draw, world, arms=arms),
        rankings.frame,
        partial(rankings.spoken, trials=trials, name=NAME),
        measure,
        partial(targets, world, arms),
    )


CASES = (
    _case(
        "nothing", "the hint does nothing; unequal judges", UNEQUAL_JUDGES, (TWICE, Arm("self", repeats=2)), _nothing
    ),
    _case(
        "lost",
        "neither hint nor names do anything; verdicts lost where the own vendor is first",
        LOST,
        (ONCE, Arm("self"), Arm(ARM)),
        _nothing,
    ),
    _case(
        "lost under the hint",
        "the hint does nothing but lose 15 % of the verdicts that put the own vendor first",
        UNEQUAL_JUDGES,
        (ONCE, Arm("self", lost_own=0.15)),
        _unequal_losses,
    ),
    _case(
        "found",
        "hint and names move verdicts to the own vendor; lost as in lost",
        LOST,
        (TWICE, Arm("full", 0.5, repeats=2), Arm(ARM, 0.8)),
        _something,
    ),
    _case(
        "alike",
        "the hint moves verdicts; answers of one vendor are near-duplicates, the taste of judges is correlated",
        ALIKE,
        (TWICE, Arm("competitors", 1.5, repeats=2)),
        _something,
    ),
    _case("mixed", "the hint does much by question, nothing on average", UNEQUAL_JUDGES, (ONCE, MIXED), _mixed),
    _case("margin", "the hint does just what the margin allows", UNEQUAL_JUDGES, (ONCE, AT_MARGIN), _margin),
)
