"""Experiment 1 on judges of known truth: self-preference where judges differ in all else, and where nobody has any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from helpers import frames
from helpers.biases.top_choice.asked import trials
from helpers.biases.top_choice.defended import (
    WITHOUT_LENGTH,
    excess_self_preference,
    position_effect,
    self_preference,
    third_party_log_odds,
)
from helpers.biases.top_choice.rates import self_bias, vendors
from helpers.stats.intervals import wilson
from helpers.types import Estimate
from studies.calibration.cases import Case, Target, load_worlds
from studies.calibration.worlds import rankings
from studies.calibration.worlds.listwise import WORLDS, World

NAME = "mt_bench_blind"
DATA = "simulated"
#: Of each id the key of its `where` and the values that are targets; those of all others are vendors.
PLACES = {"own_model_logit": ("", ("",)), "average_self_bias": ("", ("",)), "position_effect": ("slot", ("1", "6"))}
#: What the truths of numbers are computed by; of each world once, whichever of its numbers it is asked for.
TRUTHS = {"first_places": rankings.first_places, "log_odds": rankings.log_odds, "logit": rankings.logit}


def measure(frame: pd.DataFrame, seed: int) -> list[Estimate]:
    """The headline numbers of experiment 1, and the published test against 33.33 % beside them."""
    return [
        *self_bias(frame, DATA),
        *excess_self_preference(frame, DATA),
        *third_party_log_odds(frame, DATA),
        *self_preference(frame, DATA),
        *(self_preference(frame, DATA, WITHOUT_LENGTH) if frame["length"].nunique() > 1 else []),
        *position_effect(frame, DATA),
        *against_one_third(frame),
    ]


def against_one_third(frame: pd.DataFrame) -> list[Estimate]:
    """The published reading: a vendor's own first places against one third, a binomial test, all votes independent."""
    from scipy.stats import binomtest

    votes, found = frames.picks(frame), []
    for vendor in vendors(frame):
        own = votes.loc[votes["judge_vendor"] == vendor, "own_vendor"]
        if len(own):
            interval, p = wilson(int(own.sum()), len(own)), binomtest(int(own.sum()), len(own), 1 / 3).pvalue
            value, low, high = (each - 1 / 3 for each in (interval.value, interval.low, interval.high))
            facts: dict[str, Any] = {
                "n": len(own),
                "unit": "pp",
                "method": "binomial test",
                "data": DATA,
                "p": float(p),
            }
            found.append(Estimate("binomial_against_one_third", {"vendor": vendor}, value, low, high, **facts))
    return found


def _targets(world: World, table: tuple[Mapping[str, Any], ...]) -> list[Target]:
    """The targets that a table lists (see the file beside this module)."""
    found = []
    for row in table:
        judged = replace(world, lost=0.0, lost_own=0.0) if row.get("complete") else world
        truths = TRUTHS[row["truth"]](judged) if isinstance(row["truth"], str) else None
        variant = {"variant": row["variant"]} if "variant" in row else {}
        for id in row["ids"]:
            key, values = PLACES.get(id, ("vendor", row.get("only", world.vendors)))
            for value in values:
                truth, error = (truths[id, value].value, truths[id, value].se) if truths else (row["truth"], 0.0)
                against = row.get("against", 0.0)
                null = truth if against == "truth" else against
                where = ({key: value} if key else {}) | variant
                found.append(Target(id, where, truth, row["role"], null, 0.0 if variant else error))
    return found


def _case(name: str, words: str, targets: tuple[Mapping[str, Any], ...], judges: str = "") -> Case:
    world = WORLDS[judges or name]
    draw, spoken = partial(rankings.draw, world), partial(rankings.spoken, trials=trials, name=NAME)
    return Case(NAME, name, words, draw, rankings.frame, spoken, measure, partial(_targets, world, targets))


CASES = tuple(_case(name, **table) for name, table in load_worlds(__file__).items())
