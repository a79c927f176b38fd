"""Standard errors from simulated runs: the document's table, a run's own errors, and the power that is promised."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from helpers import power
from helpers.biases.cognitive import effects
from helpers.biases.cognitive.averages import pairs
from helpers.power import precision
from helpers.power.precision import Precision
from helpers.stats.power import detectable_effect
from studies.calibration.designs import FITTED, WORLDS
from studies.calibration.worlds import listwise as listwise_world
from studies.calibration.worlds.decisions import Answerer, World, scale_frame, scale_sample, truths
from tests.rule import assert_within

#: Smallest detectable effects at the published sizes, 80 questions and 6 judges: statistics, "Smallest detectable
#: effect at the seed's sizes".
#: The document takes 2.8 standard errors, t at 79 degrees of freedom 2.837; its numbers are rounded to 0.1 or 1 pp.
DOCUMENT = {
    ("average_self_bias", ""): (5.3, 0.05),
    ("excess_self_preference", "mean"): (11.0, 0.5),
    ("position_effect", "mean"): (4.8, 0.05),
}
CHEAP = ("average_self_bias", "excess_self_preference", "position_effect")
FAST, SLOW = 40, pytest.param(600, marks=pytest.mark.slow)
Z = 2.8 / 2.8370


@cache
def listwise(draws: int) -> tuple:
    estimates = power.simulated("mt_bench_blind", 80, draws=draws, ids=CHEAP)
    return tuple(power.precisions(estimates, "mt_bench_blind", ids=CHEAP, draws=draws))


def errors(each: list[Precision]) -> tuple[float, float]:
    """The mean of the detectable effects over places, in pp, and its relative Monte-Carlo error, at most."""
    return 100 * float(np.mean([power.smallest_detectable(one) for one in each])), each[0].error / each[0].se


def assert_near(found: float, error: float, document: float, rounding: float) -> None:
    assert abs(found * Z - document) <= rounding + 3.5 * error * document, f"{found:.2f} for {document}"


@pytest.mark.parametrize("draws", [FAST, SLOW])
@pytest.mark.parametrize(("id", "of"), DOCUMENT)
def test_the_documents_smallest_detectable_effects(id: str, of: str, draws: int) -> None:
    found, error = errors([one for one in listwise(draws) if one.id == id])
    assert error == pytest.approx(1 / math.sqrt(2 * (draws - 1)))
    assert_near(found, error, *DOCUMENT[id, of])


@pytest.mark.slow
def test_the_documents_smallest_effect_of_a_hint() -> None:
    estimates = power.simulated("hinting_groups", 80, draws=200, ids=["hint_effect"])
    each = power.precisions(estimates, "hinting_groups", ids=["hint_effect"], draws=200)
    averages = [replace(one, level=0.05) for one in each if one.confirmatory]
    assert len(averages) == 3  # the document has one test and no correction
    found, error = errors(averages)
    assert_near(found, error, 7.1, 0.05)


def test_the_fitted_world_has_the_documents_errors() -> None:
    """Average own-vendor rate, and its difference between two groups, without frames: SE 1.9 and 2.53 pp."""
    vendor, draws, rates = FITTED.vendor_of, 500, []
    for turn in range(draws):
        rng = np.random.default_rng([90, turn])
        felt = listwise_world.latent(FITTED, 80, rng)
        own = [listwise_world.judged(FITTED, felt, rng).top_vendor == vendor for _ in range(2)]
        rates.append([100 * each.mean() for each in own])
    one, two = np.array(rates).T
    for spread, document, rounding in ((one.std(), 1.9, 0.05), ((one - two).std(), 2.53, 0.005)):
        assert abs(spread - document) <= rounding + 3.5 * document / math.sqrt(2 * draws)


def test_a_pilots_own_error_and_the_simulated_one_are_the_same() -> None:
    """The mean of each run's estimated standard error against the spread over runs, both of the same world."""
    runs, found = 12, {}
    for turn in range(runs):
        rng = np.random.default_rng([91, turn])
        measures = WORLDS["top_choice"][0](80, 6, 1, rng)
        for ids, measure in measures.items():
            for each in measure() if set(ids) & set(CHEAP) else ():
                found.setdefault((each.id, tuple(each.where.values())), []).append(each.se)
    for one in listwise(FAST):
        own = np.mean(found[one.id, tuple(one.where.values())])
        # Each run's error varies by about a tenth; 9 numbers and more are looked at.
        assert own == pytest.approx(one.se, rel=3.5 * math.hypot(one.error / one.se, 0.12 / math.sqrt(runs)))


def test_more_judges_repeats_and_questions_make_a_number_surer() -> None:
    def se(questions: int, judges: int, repeats: int) -> list[float]:
        found = power.simulated("arena_hard_position_bias", questions, judges, repeats, 20, ids=["first_win_rate"])
        return [one.se for one in found if one.id == "first_win_rate"]

    (once,), (more,), twice = se(20, 1, 1), se(80, 1, 1), se(20, 2, 4)
    assert len(twice) == 2 and more == pytest.approx(once / 2, rel=0.5) and twice[0] < once
    few, every = (
        power.simulated("mt_bench_blind", 20, judges, 1, 25, ids=["average_self_bias"])[-1] for judges in (2, 6)
    )
    assert few.id == every.id == "average_self_bias" and few.se > every.se


@pytest.mark.parametrize("name", ["quality_self_preference", "cognitive_biases"])
def test_every_world_gives_planned_tests(name: str) -> None:
    each = power.precisions(power.simulated(name, 60, 3, draws=3), name, asked=60, draws=3)
    assert any(one.confirmatory for one in each) and all(one.here == 60 for one in each)


def test_designs_that_a_world_cannot_have_are_refused() -> None:
    with pytest.raises(ValueError, match=r"7 judges: the simulated world of mt_bench_blind has 1 to 6"):
        power.simulated("mt_bench_blind", 80, 7, draws=2)
    with pytest.raises(ValueError, match="9 questions"):
        power.simulated("mt_bench_blind", 9, draws=2)


def test_without_the_repositorys_worlds_a_pilot_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "DESIGNS", "studies.nowhere.designs")
    with pytest.raises(ValueError, match=r"no simulated worlds here: .* work in a clone .* or use a pilot"):
        power.simulated("mt_bench_blind", 80, draws=2)


# --- is an effect of that size found as often as promised? ------------------------------------------------------------

SCENARIOS = 40


def world(strength: float) -> World:
    return World((Answerer("a", noise=0.15, strength=strength, varying=0.1),), target="end")


@cache
def planted() -> float:
    """The strength whose true effect is the smallest that 40 scenarios find in 80 % of runs."""

    def effect(strength: float) -> float:
        return truths(lambda rng, n: scale_sample(world(strength), rng, n), 92, 3, 20_000)["bias_effect", "a"][0]

    values = [measured(0.1, 93, turn).value for turn in range(300)]
    least = detectable_effect(float(np.std(values, ddof=1)), SCENARIOS - 1)
    low, high = 0.0, 0.4
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if effect(middle) < least else (low, middle)
    return (low + high) / 2


def measured(strength: float, seed: int, turn: int):
    rng = np.random.default_rng([seed, turn])
    table = pairs(scale_frame(world(strength), rng, SCENARIOS))
    return next(each for each in effects.bias_effect(table, "simulated", turn) if "judge" in each.where)


@pytest.mark.slow
def test_the_smallest_detectable_effect_is_found_in_80_percent_of_runs() -> None:
    """By sign flips over scenarios, of which t is an approximation; the strength is solved for on a large sample."""
    strength, runs = planted(), 1500
    hits = sum(measured(strength, 94, turn).p < 0.05 for turn in range(runs))
    # The planted effect carries the error of the spread of 300 runs (4 %, 2 points of power).
    assert_within(hits, runs, 0.76, 0.84, "power at the smallest detectable effect")


def test_a_known_spread_is_found_as_often_as_promised() -> None:
    """The same without a world: 25 numbers a run, sign flips of their sum, an effect of the promised size."""
    from helpers.stats.tests import sign_flip

    rng, runs = np.random.default_rng(95), 300
    effect = power.smallest_detectable(Precision("x", {}, "pp", 1 / 5, 25))
    hits = sum(sign_flip(rng.normal(effect, 1, 25), 95, 1999).p < 0.05 for _ in range(runs))
    assert_within(hits, runs, 0.78, 0.82, "power of sign flips")
