"""Does the analysis of bias tests hold what it promises? Noise, pulls, merits, habits and losses of unequal models.

The rule is that of test_simulations: with the exact 99.9 % interval of the observed rate, a size fails wholly outside
3 to 7 %, a coverage wholly outside 93 to 97 %, a bias beyond 3.5 Monte-Carlo standard errors. 24 scenarios in three
wordings, each version asked twice, three models; truth is the estimand in a very large sample. The slow versions run
2,000 replications; seeds were fixed beforehand.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from helpers.biases.cognitive import effects, seed_batches, slopes, thresholds
from helpers.biases.cognitive.pairs import pairs
from helpers.types import Estimate
from tests.cognitive_worlds import Answerer, World, gamble_frame, names, scale_frame, selection_frame
from tests.rule import assert_unbiased, assert_within

FAST, SLOW = 20, pytest.param(2000, marks=pytest.mark.slow)
MEAN = "mean"
#: Models that nothing pulls, but differ in all else.
UNPULLED = (
    Answerer("plain"),
    Answerer("skewed", honest=0.3, noise=0.15, skew=True, habit=0.1),
    Answerer("lossy", honest=0.65, noise=0.2, lost=0.4),
)
#: Models of which scenarios pull this way and that, control and treatment alike: strong effects, and none on average.
MIXED = (
    Answerer("mixed", strength=0.4, varying=0.3, swapped=True),
    Answerer("skewed", noise=0.2, skew=True, strength=0.2, swapped=True),
    Answerer("plain"),
)
PULLED = (
    Answerer("little", strength=0.1, varying=0.1),
    Answerer("much", noise=0.15, strength=0.5, varying=0.2, habit=0.05),
    Answerer("lossy", noise=0.2, strength=0.3, lost=0.3, skew=True),
)
GAMBLERS = (
    Answerer("cautious", threshold=0.9, slack=0.3),
    Answerer("averse", threshold=0.5, strength=0.5, varying=0.15),
    Answerer("lossy", threshold=0.6, slack=0.5, strength=0.2, lost=0.2),
)
FAIR_GAMBLERS = (Answerer("cautious", threshold=0.9, slack=0.3), Answerer("noisy", slack=0.6), Answerer("lossy", lost=0.3))
READERS = (Answerer("merit", merit=0.6), Answerer("plain"), Answerer("lossy", merit=0.3, lost=0.3))
BELIEVERS = (Answerer("merit", merit=0.6, strength=0.2), Answerer("much", strength=0.6, varying=0.2), Answerer("plain"))
WORLDS = {
    "noise": (scale_frame, World(UNPULLED)),
    "target": (scale_frame, World(UNPULLED, target="control")),
    "mixed": (scale_frame, World(MIXED, target="end")),
    "pulled": (scale_frame, World(PULLED)),
    "halo": (scale_frame, World(PULLED, target="end")),
    "fair gambles": (gamble_frame, World(FAIR_GAMBLERS)),
    "gambles": (gamble_frame, World(GAMBLERS)),
    "merit": (selection_frame, World(READERS)),
    "believed": (selection_frame, World(BELIEVERS)),
}
FAIR = ("noise", "target", "mixed", "fair gambles", "merit")


def measured(table: pd.DataFrame, run: int) -> list[Estimate]:
    """All signed numbers and excesses of one sample."""
    return [
        *effects.bias_effect(table, "simulated", run),
        *effects.bias_placebo(table, "simulated"),
        *effects.scale_shift(table, "simulated"),
        *seed_batches.excesses(table, "simulated", run),
        *thresholds.thresholds(table, "simulated"),
        *slopes.anchor_slope(table, "simulated"),
    ]


def key(each: Estimate) -> tuple[str, ...]:
    condition = (each.where["condition"],) if "condition" in each.where else ()
    return (each.id, *condition, each.where.get("judge", MEAN))


@cache
def replications(world: str, runs: int) -> dict[tuple[str, ...], np.ndarray]:
    """(runs, 4) value, low, high, p for each id, condition and model, or the mean over models."""
    found: dict[tuple[str, ...], list[tuple[float, ...]]] = {}
    draw, planted = WORLDS[world]
    for run in range(runs):
        rng = np.random.default_rng([61, list(WORLDS).index(world), run])
        for each in measured(pairs(draw(planted, rng)), run):
            found.setdefault(key(each), []).append((each.value, each.low, each.high, each.p))
    return {name: np.array(values) for name, values in found.items()}


@cache
def truth(world: str) -> dict[tuple[str, ...], float]:
    """The estimands in a sample of very many scenarios."""
    draw, planted = WORLDS[world]
    table = pairs(draw(planted, np.random.default_rng([62, list(WORLDS).index(world)]), 30_000))
    return {key(each): each.value for each in measured(table, 1)}
