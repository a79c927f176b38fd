"""Experiment 1 on judges of known truth: self-preference where judges differ in all else, and where nobody has any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from helpers import frames
from helpers.biases.top_choice.asking import trials
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
from studies.calibration.cases import Case, Target
from studies.calibration.worlds import rankings
from studies.calibration.worlds.listwise import WORLDS, World
from studies.calibration.worlds.rankings import Truths

NAME = "mt_bench_blind"
DATA = "simulated"
VENDORS = World().vendors
#: Places whose effect is a target: the first and the last.
SLOTS = ("1", "6")
LOGITS = ("self_preference_logit", "self_preference_effect", "own_model_logit")
RATES = ("self_bias", "average_self_bias")
#: Of each id the key of its `where` and the values that are targets.
PLACES = {"own_model_logit": (), "average_self_bias": (), "position_effect": ("slot", SLOTS)}


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
            bounds = (each - 1 / 3 for each in (interval.value, interval.low, interval.high))
            facts = {"n": len(own), "unit": "pp", "method": "binomial test", "data": DATA, "p": float(p)}
            found.append(Estimate("binomial_against_one_third", {"vendor": vendor}, *bounds, **facts))
    return found


def targets_of(
    ids: Sequence[str], role: str, truths: Truths | float, null: float | None = 0.0, only: Sequence[str] = VENDORS
) -> list[Target]:
    """A target for each id and place: what is true of it is looked up, or one number for all.

    `null` None: the truth itself is what the test holds against it.
    """
    found = []
    for id in ids:
        key, values = PLACES.get(id, ("vendor", only)) or ("", ("",))
        for value in values:
            truth, error = (truths, 0.0) if isinstance(truths, float) else _known(truths, id, value)
            where = {key: value} if key else {}
            found.append(Target(id, where, truth, role, truth if null is None else null, error))
    return found


def _known(truths: Truths, id: str, value: str) -> tuple[float, float]:
    return truths[id, value].value, truths[id, value].se


def _fair(world: World) -> list[Target]:
    # Judges who differ in nothing give own terms no work to do: their population value is 0 whatever answers are like.
    first = rankings.first_places(world)
    nothing = [*LOGITS, "excess_self_preference", "third_party_log_odds", "position_effect"]
    return [
        *targets_of(nothing, "null", 0.0),
        *targets_of(["self_bias"], "null", first, null=None),
        *targets_of(["average_self_bias"], "null", 1 / 3, null=1 / 3),
        *targets_of(["binomial_against_one_third"], "failure", 0.0),
    ]


def _unequal(world: World) -> list[Target]:
    first = rankings.first_places(world)
    known = ["excess_self_preference", "third_party_log_odds", "binomial_against_one_third"]
    return [
        *targets_of(LOGITS, "null", rankings.logit(world)),
        *targets_of(["position_effect"], "planted", first),
        *targets_of(known, "failure", 0.0),
    ]


def _homogeneous(world: World) -> list[Target]:
    known = ["excess_self_preference", "third_party_log_odds", "binomial_against_one_third"]
    return [*targets_of(LOGITS, "null", 0.0), *targets_of(known, "failure", 0.0)]


def _others_biased(world: World) -> list[Target]:
    others = ("claude", "gemini")
    first, odds, logit = rankings.first_places(world), rankings.log_odds(world), rankings.logit(world)
    return [
        *targets_of(LOGITS[:2], "null", logit, only=("gpt",)),
        *targets_of(["third_party_log_odds"], "null", odds, only=("gpt",)),
        *targets_of(LOGITS[:2], "planted", logit, only=others),
        *targets_of(["third_party_log_odds"], "planted", odds, only=others),
        *targets_of(["excess_self_preference"], "planted", first, only=others),
        *targets_of(["excess_self_preference", "binomial_against_one_third"], "failure", 0.0, only=("gpt",)),
    ]


def _planted(world: World) -> list[Target]:
    first = rankings.first_places(world)
    return [
        *targets_of(LOGITS, "planted", rankings.logit(world)),
        *targets_of(RATES, "planted", first, null=1 / 3),
        *targets_of(["excess_self_preference", "position_effect"], "planted", first),
    ]


def _length_taste(world: World) -> list[Target]:
    logit = rankings.logit(world)
    without = {"vendor": "gpt", "variant": WITHOUT_LENGTH}
    biased = [vendor for vendor, size in zip(VENDORS, world.self_preference, strict=True) if size]
    return [
        *targets_of(LOGITS[:2], "null", logit, only=[vendor for vendor in VENDORS if vendor not in biased]),
        *targets_of(LOGITS[:2], "planted", logit, only=biased),
        Target("self_preference_logit", without, logit["self_preference_logit", "gpt"].value, "failure", 0.0),
    ]


def _lost(world: World) -> list[Target]:
    # What the complete judgments would have shown: losses not at random take their share from own first places.
    whole = replace(world, lost=0.0, lost_own=0.0)
    return [
        *_planted(world),
        *targets_of(RATES, "failure", rankings.first_places(whole), null=1 / 3),
        *targets_of(LOGITS[:2], "failure", rankings.logit(whole)),
    ]


def _case(name: str, words: str, world: World, targets: Callable[[World], list[Target]]) -> Case:
    return Case(
        NAME,
        name,
        words,
        partial(rankings.draw, world),
        rankings.frame,
        partial(rankings.spoken, trials=trials, name=NAME),
        measure,
        partial(targets, world),
    )


CASES = (
    _case("fair", "judges alike in all, nobody prefers its own, no habit of place", WORLDS["no_position"], _fair),
    _case("unequal", "nobody prefers its own; unequal sharpness, habits of place", WORLDS["unequal"], _unequal),
    _case("homogeneous", "as unequal, one quality an answer", WORLDS["homogeneous"], _homogeneous),
    _case("others_biased", "GPT's judges are fair, the others are not", WORLDS["others_biased"], _others_biased),
    _case("planted", "GPT and Gemini prefer their own; judges are unequal", WORLDS["planted"], _planted),
    _case("siblings", "as planted, answers of one vendor are near-duplicates", WORLDS["siblings"], _planted),
    _case("shared_taste", "as planted, the taste of judges is correlated", WORLDS["shared_taste"], _planted),
    _case(
        "length_taste",
        "nobody is partial; GPT writes longer, its judges like it",
        WORLDS["length_taste"],
        _length_taste,
    ),
    _case("length_planted", "as length_taste, GPT's judges prefer their own", WORLDS["length_planted"], _length_taste),
    _case("lost", "as planted, verdicts lost where the own vendor is first", WORLDS["lost"], _lost),
)
