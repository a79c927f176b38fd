"""What twenty judges are called: of fair ones hardly any is biased, of those with planted 20 pp nearly all are."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from helpers.biases import cognitive, position, verbosity
from helpers.biases.cognitive import effects as pulls
from helpers.biases.cognitive.averages import pairs as decision_pairs
from helpers.biases.position import both_orders as places
from helpers.biases.verbosity import measured as wordings
from helpers.types import Estimate
from studies.calibration.experiments import verbosity_style
from studies.calibration.worlds import games
from studies.calibration.worlds.decisions import Answerer, World, scale_frame
from tests.rule import assert_within

JUDGES, QUESTIONS = 20, 80


def ordered(rng: np.random.Generator, planted: bool) -> list[Estimate]:
    who = tuple(games.GameJudge(f"j{i}", primacy=0.6 * planted) for i in range(JUDGES))
    frame, _ = games.sample_frame(games.GameWorld(who), rng, QUESTIONS)
    return places.first_position_effect(position.pairs(frame), "asked", 1)


def pulled(rng: np.random.Generator, planted: bool) -> list[Estimate]:
    who = tuple(Answerer(f"j{i}", varying=0.1, strength=0.365 * planted) for i in range(JUDGES))
    table = decision_pairs(scale_frame(World(who), rng))
    return [*pulls.bias_effect(table, "asked", 1), *pulls.scale_shift(table, "asked")]


def worded(rng: np.random.Generator, planted: bool) -> list[Estimate]:
    liked = tuple((bias, 0.46 * planted) for bias in ("padded", "listed", "confident"))
    who = tuple(verbosity_style.Judge(f"j{i}", likes=liked, place=0.3) for i in range(JUDGES))
    frame = verbosity_style.frame(verbosity_style.draw(who, QUESTIONS, rng))
    return wordings.style_effect(verbosity.pairs(frame), "asked", 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bias", "measured", "id", "measure"),
    [
        (position, ordered, "first_position_effect", "first position"),
        (cognitive, pulled, "bias_effect", "cognitive profile"),
        (verbosity, worded, "style_effect", "wording"),
    ],
)
def test_fair_judges_are_seldom_called_biased_and_planted_ones_mostly(
    bias: ModuleType, measured: Callable[[np.random.Generator, bool], list[Estimate]], id: str, measure: str
) -> None:
    runs, some, shown, sizes = 40, 0, 0, []
    for run in range(runs + 4):
        planted = run >= runs
        estimates = measured(np.random.default_rng([71, run]), planted)
        lines = [line for line in bias.card(estimates) if line.measure == measure]
        assert len(lines) == JUDGES
        biased = [line for line in lines if line.verdict == "bias"]
        if planted:
            shown += len(biased)
            sizes += [
                each.value
                for each in estimates
                if each.id == id and {"judge", "reworded"} & {*each.where, each.where.get("bias")} == {"judge"}
            ]
        else:
            some += bool(biased)
            # The headline counts, or names, the same.
            said = bias.headline(estimates).sentence
            counted = re.search(r"tested (\d+) favours? .* first, (\d+) the one", said)
            if counted:
                assert sum(map(int, counted.groups())) == len(biased)
            if bias is verbosity:
                assert f"judges {len(biased)} prefer" in said
    assert_within(some, runs, 0, 0.07, f"{id}: any of {JUDGES} fair judges")
    assert np.mean(sizes) == pytest.approx(0.20, abs=0.03)
    assert_within(shown, 4 * JUDGES, 0.8, 1, f"{id}: judges of a planted 20 pp")
