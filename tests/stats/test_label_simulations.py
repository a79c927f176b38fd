"""Effects on log-odds of labels, on judges of known truth: coverage and size, and power beside that of verdicts."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import binom

from helpers.biases.cognitive import averages, effects
from helpers.biases.position import both_orders, measured
from helpers.frames import GAMES
from tests.test_cognitive_effects import both, frame

QUESTIONS = 60


def games(rng: np.random.Generator, place: float, half: float, taste: float = 0.7) -> pd.DataFrame:
    """Verdicts, and what log-probabilities tell of them: ties as Rao and Kupper have them, `half` wide on each side.

    Quality differs by 1.5 between questions, and each reading of a pair by `taste`. Without ties a verdict is the more
    probable label, else it is drawn. Of one that begins with B nobody sees how many of the others are ties.
    """
    quality, rows = rng.normal(0, 1.5, QUESTIONS), []
    for first, sign in (("baseline", -1.0), ("candidate", 1.0)):
        logit = place + sign * quality + rng.normal(0, taste, QUESTIONS)
        drawn = rng.random(QUESTIONS) if half else np.full(QUESTIONS, 0.5)
        won, seen = drawn < expit(logit - half), drawn < expit(logit + half)
        verdict = np.where(won, "A>B", np.where(seen, "A=B", "B>A"))
        for question in range(QUESTIONS):
            known = dict.fromkeys(GAMES, "x") | {"question_id": str(question), "condition": "none", "first": first}
            known |= {
                "repeat": 0,
                "games": 2,
                "score": verdict[question],
                "verdict": verdict[question],
                "outcome": "ok",
            }
            lower = logit[question] - half if seen[question] or not half else np.nan
            rows.append(known | {"not_second": logit[question] + half, "first_over_rest": lower})
    return pd.DataFrame(rows)


def places(rng: np.random.Generator, place: float, half: float = 0.0) -> tuple[tuple[float, float, float], float]:
    """The interval and p of the effect on log-odds, and the p of the effect on the same verdicts."""
    table = games(rng, place, half)
    [effect] = measured.label_position_effect(table, "simulated", 1)
    [verdicts] = both_orders.first_position_effect(both_orders.pairs(table), "simulated", 1)
    return (effect.low, effect.high, effect.p), verdicts.p


def decisions(rng: np.random.Generator, moved: float, scenarios: int = 24) -> tuple[tuple[float, float, float], float]:
    """The same of a treatment: a choice of two, each asked in two wordings, that differs more between scenarios."""
    rows, logits = [], []
    for scenario in range(scenarios):
        base, effect = rng.normal(0, 1.5), rng.normal(moved, 0.2)
        for wording in range(2):
            control = base + rng.normal(0, 0.5)
            treatment = control + effect + rng.normal(0, 0.3)
            said = [10.0 * (each > 0) for each in (control, treatment)]
            rows.append(both(scenario, *said, wording=str(wording)))
            logits += [control, treatment]
    table = frame(*rows).assign(target_logit=logits, expected=10 * expit(np.array(logits)))
    found = {each.id: each for each in effects.label_effects(table, "simulated", 1) if "judge" in each.where}
    verdicts = effects.bias_effect(averages.pairs(table), "simulated", 1)
    p = next(each.p for each in verdicts if each.id == "bias_effect" and "judge" in each.where)
    effect = found["target_logit_effect"]
    return (effect.low, effect.high, effect.p), p


WORLDS = {"places": (places, 0.3), "places and ties": (partial(places, half=0.5), 0.3), "treatments": (decisions, 0.2)}


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("none", [True, False], ids=["no effect", "effect"])
def test_intervals_of_log_odds_cover_and_find_more_than_verdicts_do(world: str, none: bool) -> None:
    runs, rng = 500, np.random.default_rng(20260)
    run, size = WORLDS[world]
    truth = 0.0 if none else size
    found = [run(rng, truth) for _ in range(runs)]
    low, high, p = np.array([each for each, _ in found]).T
    covered, rejected = int(((low <= truth) & (truth <= high)).sum()), int((p < 0.05).sum())
    by_verdicts = sum(each < 0.05 for _, each in found)
    print(f"{world}: covered {covered}, found {rejected}, by verdicts {by_verdicts} of {runs}")
    # Fails where the exact 99.9 % interval of the rate lies outside 93 to 97 %, or 3 to 7 %.
    assert binom.ppf(0.0005, runs, 0.93) <= covered <= binom.ppf(0.9995, runs, 0.97)
    if none:
        assert binom.ppf(0.0005, runs, 0.03) <= rejected <= binom.ppf(0.9995, runs, 0.07)
    else:
        assert rejected >= 0.8 * runs and rejected > by_verdicts + 0.3 * runs
