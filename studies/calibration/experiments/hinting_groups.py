"""Experiment 2 on judges of known truth: hints and names that do nothing, something, or something else a question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from helpers.biases.hinting.asked import trials
from helpers.biases.hinting.paired import ARM, change_rate, hint_bounds, hint_effect, hints_in, name_effect, pairs
from helpers.biases.losses import loss_change
from helpers.stats.tests import mcnemar_exact
from helpers.types import Estimate
from studies.calibration.cases import Case, Target, load_worlds
from studies.calibration.worlds import rankings
from studies.calibration.worlds.listwise import WORLDS, World
from studies.calibration.worlds.rankings import Arm, Truths

NAME = "hinting_groups"
DATA = "simulated"
MARGIN = 0.05
AVERAGE = "average"
INDEPENDENT = ("two_groups_unpaired", "mcnemar_on_votes")


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


def _known(truths: Truths | float, id: str, vendor: str = "") -> tuple[float, float]:
    return (truths, 0.0) if isinstance(truths, float) else (truths[id, vendor].value, truths[id, vendor].se)


def _both(hint: str, role: str, truths: Truths | float) -> list[Target]:
    """The effect of a hint, and the same number with the interval of the equivalence test."""
    covered = _effect(hint, "planted", truths, "hint_effect_90", level=0.9)
    return [*_effect(hint, role, truths), *covered]


def _changed(hint: str, role: str, truths: Truths | float) -> Target:
    truth, error = _known(truths, "excess_change")
    return Target("excess_change", {"hint": hint}, truth, role, error=error)


def _nothing(world: World, arm: Arm) -> list[Target]:
    if arm.condition == ARM:
        return _effect("", "null", 0.0, "name_effect")
    found = [*_both(arm.condition, "null", 0.0), Target("loss_change", {"condition": arm.condition}, 0.0, "null")]
    found += [each for id in INDEPENDENT for each in _effect(arm.condition, "failure", 0.0, id)]
    if arm.repeats > 1:
        rate = Target("change_rate", {"hint": arm.condition}, 0.0, "failure")
        found += [_changed(arm.condition, "null", 0.0), rate]
    return found


def _losses(world: World, arm: Arm) -> list[Target]:
    """What only the hint loses is all for the own vendor: the effect is wrong, and its upper bound is the truth."""
    hint = arm.condition
    return [
        *_effect(hint, "failure", 0.0),
        Target("hint_effect_bound", {"hint": hint, "vendor": AVERAGE, "bound": "high"}, 0.0, "null"),
        Target("loss_change", {"condition": hint}, math.nan, "planted"),
    ]


def _something(world: World, arm: Arm) -> list[Target]:
    if arm.condition == ARM:
        return _effect("", "planted", rankings.swapped(world, arm), "name_effect")
    truths = rankings.hinted(world, arm)
    found = _both(arm.condition, "planted", truths)
    return [*found, _changed(arm.condition, "planted", truths)] if arm.repeats > 1 else found


def _mixed(world: World, arm: Arm) -> list[Target]:
    every = _effect(arm.condition, "planted", rankings.hinted(world, arm))
    # Only the average is nothing: a hint that pulls both ways does not leave each vendor's rate where it was.
    judged = [replace(each, role="null") if each.where["vendor"] == AVERAGE else each for each in every]
    return [*judged, *_effect(arm.condition, "failure", 0.0, INDEPENDENT[1])]


def _margin(world: World, arm: Arm) -> list[Target]:
    """At the margin itself equivalence must not be concluded in more than one run of twenty."""
    truths = rankings.hinted(world, arm)
    above = _effect(arm.condition, "null", truths, "hint_effect_90", level=0.9, null=MARGIN)
    return [*_effect(arm.condition, "planted", truths), *above]


#: What is true of the hint of each arm, by what a world says of it.
TARGETS = {"nothing": _nothing, "losses": _losses, "something": _something, "mixed": _mixed, "margin": _margin}


def _targets(of: str, world: World, arms: Sequence[Arm]) -> list[Target]:
    return [target for arm in arms if arm.condition != "none" for target in TARGETS[of](world, arm)]


def _case(name: str, words: str, judges: str, arms: tuple[Mapping[str, Any], ...], targets: str) -> Case:
    world, each = WORLDS[judges], tuple(Arm(**fields) for fields in arms)
    draw, spoken = partial(rankings.draw, world, arms=each), partial(rankings.spoken, trials=trials, name=NAME)
    return Case(NAME, name, words, draw, rankings.frame, spoken, measure, partial(_targets, targets, world, each))


CASES = tuple(_case(name, **table) for name, table in load_worlds(__file__).items())
