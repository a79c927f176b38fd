"""Experiment 2 on judges of known truth: hints and names that do nothing, something, or something else a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from studies.calibration.worlds.rankings import Arm

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


def _targets(rows: Mapping[str, Sequence[Mapping[str, Any]]], world: World, arms: Sequence[Arm]) -> list[Target]:
    """The targets of each arm that a table lists (see the file beside this module)."""
    return [target for arm in arms if arm.condition != "none" for target in _arm_targets(rows, world, arm)]


def _arm_targets(rows: Mapping[str, Sequence[Mapping[str, Any]]], world: World, arm: Arm) -> Iterator[Target]:
    swapped = arm.condition == ARM
    repeated = rows.get("repeated", ()) if arm.repeats > 1 else ()
    truths = rankings.swapped if swapped else rankings.hinted
    for row in rows["swapped"] if swapped else (*rows["hint"], *repeated):
        expected = truths(world, arm) if "truth" not in row else None
        hint = {} if swapped else {row.get("of", "hint"): arm.condition}
        facts = {name: row[name] for name in ("null", "level") if name in row}
        bound = {"bound": row["bound"]} if "bound" in row else {}
        for id in row["ids"]:
            for vendor in row.get("vendors", (*world.vendors, AVERAGE)):
                value = expected and expected[row.get("as", id), vendor]
                truth, error = (value.value, value.se) if value else (row["truth"], 0.0)
                where = hint | ({"vendor": vendor} if vendor else {}) | bound
                role = row.get("average", row["role"]) if vendor == AVERAGE else row["role"]
                yield Target(id, where, truth, role, error=error, **facts)


def _case(name: str, words: str, judges: str, arms: tuple[Mapping[str, Any], ...], targets: Mapping[str, Any]) -> Case:
    world, each = WORLDS[judges], tuple(Arm(**fields) for fields in arms)
    draw, spoken = partial(rankings.draw, world, arms=each), partial(rankings.spoken, trials=trials, name=NAME)
    return Case(NAME, name, words, draw, rankings.frame, spoken, measure, partial(_targets, targets, world, each))


CASES = tuple(_case(name, **table) for name, table in load_worlds(__file__).items())
