"""What the estimands of games are in a very large population of a world, computed from chances, not from verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

import numpy as np
from scipy.special import expit, ndtri
from scipy.stats import poisson, qmc

from helpers.calibrate.worlds.game_frames import IDENTICAL, MARKED, SIDES, lost_alike, style, written
from helpers.calibrate.worlds.games import ALIKE, BASELINE, CANDIDATE, Felt, GameJudge, GameWorld, odds

#: Scrambled nets of so many questions (a power of 2); how much they differ tells the error of the whole.
NETS, NET = 4, 2**12
#: A number and its Monte-Carlo standard error.
Known = tuple[float, float]
#: By verdict in shown terms, from much better first to much better second: what the first won, and which are strong.
WON, STRONG = np.array([1.0, 1.0, 0.5, 0.0, 0.0]), np.array([True, False, False, False, True])


@cache
def truths(world: GameWorld, name: str) -> Mapping[tuple[str, ...], Known]:
    """Each headline estimand of one judge, by id (win_rate: and style and weight).

    Verdicts that get lost are left out as the estimators leave them out, two askings in each order; but win rates are
    those that there would be if none were lost. An own computation on the chances of each verdict, without frames and
    estimators; the population is a net that fills all that varies evenly.
    """
    (judge,) = (each for each in world.judges if each.name == name)
    parts = [_of(world, judge, seed) for seed in range(NETS)]
    found = {}
    for key in parts[0]:
        values = np.array([part[key] for part in parts])
        found[key] = (float(values.mean()), float(values.std(ddof=1) / math.sqrt(NETS)))
    return found


def _of(world: GameWorld, judge: GameJudge, seed: int) -> dict[tuple[str, ...], float]:
    net = qmc.Sobol(12, seed=np.random.default_rng([41, seed])).random(NET).clip(1e-12, 1 - 1e-12)
    lead, longer, shared, taste, wobble = ndtri(net[:, :5]).T
    longer = world.longer + longer
    near = np.where(net[:, 5] < world.twins, ALIKE, 1.0)
    seen = Felt(world.lead + world.spread * lead, longer, near=near)
    tastes = math.sqrt(world.shared) * shared + math.sqrt(1 - world.shared) * taste
    chances = odds(judge, seen, tastes, wobble)
    found = _orders(judge, chances)
    whole = {first: chances[first] for first in (BASELINE, CANDIDATE)}
    marks = [_marks(net[:, at : at + 3]) for at in (6, 9)]
    one, two = (style(written(longer, side), each) for side, each in zip(SIDES, marks, strict=True))
    apart = (one - two) / np.maximum(one + two, 1)
    for weight in (1, 3):
        found |= {("win_rate", kind, str(weight)): rate for kind, rate in _wins(whole, apart, weight).items()}
    return found


def _marks(share: np.ndarray) -> np.ndarray:
    """Numbers of headers, list items and bold phrases at these shares of their distributions."""
    below = poisson.cdf(np.arange(30)[:, None], MARKED)
    return np.column_stack([np.searchsorted(below[:, kind], share[:, kind]) for kind in range(len(MARKED))])


def _orders(judge: GameJudge, chances: Mapping[str, np.ndarray]) -> dict[tuple[str, ...], float]:
    """What favours a place; (Q, 3) are chances that baseline, neither or candidate wins and the verdict is read."""
    kept = np.array([1 - judge.lost_baseline, 1.0, 1 - judge.lost_candidate])
    one, two = _three(chances[BASELINE]) * kept, _three(chances[CANDIDATE])[:, ::-1] * kept
    read = one.sum(axis=1), two.sum(axis=1)
    both = one[:, 0] * two[:, 2], one[:, 2] * two[:, 0]
    first = one[:, 0] * read[1] + two[:, 2] * read[0]
    second = one[:, 2] * read[1] + two[:, 0] * read[0]
    p, q = one / read[0][:, None], two / read[1][:, None]
    asked = (read[0] * read[1]) ** 2  # all four verdicts are read
    same = _three(chances[IDENTICAL]) * np.array([1 - lost_alike(judge), 1.0, 1 - lost_alike(judge)])
    return {
        ("first_position_effect",): float((both[0] - both[1]).sum() / (read[0] * read[1]).sum()),
        ("first_win_rate",): float(first.sum() / (first + second).sum()),
        ("excess_flip",): float((asked * ((p - q) ** 2).sum(axis=1)).sum() / asked.sum() / 2),
        ("identical_pair_effect",): float((same[:, 0] - same[:, 2]).sum() / same.sum()),
    }


def _three(chances: np.ndarray) -> np.ndarray:
    """First, neither, second."""
    return np.column_stack([chances[:, :2].sum(axis=1), chances[:, 2], chances[:, 3:].sum(axis=1)])


def _wins(chances: Mapping[str, np.ndarray], apart: np.ndarray, weight: int) -> dict[str, float]:
    """The candidate's win rate as verdicts say, and the logistic regression's at no difference in style."""
    weights = np.where(STRONG, float(weight), 1.0)
    counted = sum(each @ weights for each in chances.values())
    won = chances[CANDIDATE] @ (weights * WON) + chances[BASELINE] @ (weights * (1 - WON))
    design = np.column_stack([np.ones(len(apart)), apart / apart.std(axis=0)])
    fit = np.zeros(design.shape[1])
    for _ in range(20):
        rate = expit(design @ fit)
        step = design.T @ (design * (counted * rate * (1 - rate))[:, None])
        fit = fit + np.linalg.solve(step, design.T @ (won - counted * rate))
    return {"raw": float(won.sum() / counted.sum()), "controlled": float(expit(fit[0]))}
