"""What is true of judges who rank, in a very large population of questions: chances instead of draws where they do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from helpers.calibrate.rankings import Arm, taken
from helpers.calibrate.worlds.listwise import Latent, World, draw, latent
from helpers.calibrate.worlds.listwise_frames import panel
from helpers.stats import models
from helpers.stats.intervals import Interval, clustered, t_interval
from helpers.types import short_hash

#: Questions of a population by chances, of one that a model is fitted to, and how many of these are averaged.
MANY, FITTED, FITS = 240_000, 100_000, 5
Truths = Mapping[tuple[str, str], Interval]


def chances(world: World, utility: np.ndarray) -> np.ndarray:
    """(C, J, K) the chance that a judgment can be read and has this candidate first."""
    first = np.exp(utility - utility.max(axis=2, keepdims=True))
    first /= first.sum(axis=2, keepdims=True)
    own = world.vendor_of[:, None] == world.vendor_of
    return first * (1 - world.lost - world.lost_own * own)


def population(world: World) -> Latent:
    """The questions that all chances are averaged over."""
    return _population(world, MANY)


@lru_cache(maxsize=1)
def _population(world: World, questions: int) -> Latent:
    return latent(world, questions, _chance(world, 0))


def _chance(world: World, turn: int) -> np.random.Generator:
    """Populations of two worlds have no question in common, or all their truths would be wrong to the same side."""
    return np.random.default_rng([20, int(short_hash(repr(world)), 16), turn])


def first_places(world: World) -> Truths:
    """self_bias and excess_self_preference (by vendor), average_self_bias and position_effect (by slot), as measured.

    Each with its Monte-Carlo standard error as `se`.
    """
    felt = population(world)
    first, vendor = chances(world, felt.utility), world.vendor_of
    found, rates = {}, []
    read = first.sum(axis=2)
    for v, name in enumerate(world.vendors):
        judge, hit = vendor == v, first[:, :, vendor == v].sum(axis=2)
        x = np.column_stack([hit[:, judge].sum(axis=1), hit[:, ~judge].sum(axis=1)])
        d = np.column_stack([read[:, judge].sum(axis=1), read[:, ~judge].sum(axis=1)])
        rates.append((x[:, 0], d[:, 0]))
        found["self_bias", name] = clustered(x, d, [1.0, 0.0])
        found["excess_self_preference", name] = clustered(x, d, [1.0, -1.0])
    x, d = (np.column_stack(column) for column in zip(*rates, strict=True))
    found["average_self_bias", ""] = clustered(x, d, np.full(len(rates), 1 / len(rates)))
    for slot in range(first.shape[2]):
        hit = (first * (felt.slot == slot)).sum(axis=(1, 2))
        total = read.sum(axis=1)
        found["position_effect", str(slot + 1)] = clustered(hit - total / first.shape[2], total)
    return found


def log_odds(world: World) -> Truths:
    """third_party_log_odds by vendor, of the chances of three vendors."""
    first, vendor = chances(world, population(world).utility), world.vendor_of
    by = np.stack([first[:, vendor == w].sum(axis=1) for w in range(3)], axis=1)
    counts = np.stack([by[:, :, vendor == v].sum(axis=2) for v in range(3)], axis=2)
    found = models.third_party_log_odds_clustered(counts)
    return {("third_party_log_odds", name): each for name, each in zip(world.vendors, found, strict=True)}


def logit(world: World) -> Truths:
    """What the primary estimator comes to: logit and effect by vendor, and the own model's part.

    The mean of FITS populations, which is as precise as one of all their questions and needs less memory.
    """
    return _logit(world, FITTED)


@lru_cache
def _logit(world: World, questions: int) -> Truths:
    fitted = [_fitted(world, questions, turn) for turn in range(1, FITS + 1)]
    return {key: _mean([found[key] for found in fitted]) for key in fitted[0]}


def _fitted(world: World, questions: int, turn: int) -> dict[tuple[str, str], Interval]:
    fit = models.fit_panel(panel(draw(world, questions, _chance(world, turn))))
    if not fit.converged:
        raise ValueError(f"the logit has no value in this world: {fit.problem}")
    found = {("own_model_logit", ""): models.coefficient(fit, "own_model")}
    for name in world.vendors:
        found["self_preference_logit", name] = models.self_preference(fit, name)
        found["self_preference_effect", name] = models.marginal_effect(fit, name)
    return found


def _mean(found: Sequence[Interval]) -> Interval:
    """The mean of independent estimates of the same precision, with its standard error."""
    size = len(found)
    value, se = sum(each.value for each in found) / size, math.hypot(*(each.se for each in found)) / size
    n, clusters = sum(each.n for each in found), sum(each.clusters for each in found)
    return t_interval(value, se, clusters - 1, n, clusters, found[0].method)


def hinted(world: World, arm: Arm) -> Truths:
    """hint_effect (by vendor and "average") of an arm, and without spread excess_change, by chances.

    Judgments blind and under the hint are independent once question, answers, tastes and orders are given. A spread
    over questions is integrated (Gauss and Hermite), not drawn.
    """
    felt, vendor = population(world), world.vendor_of
    own = np.broadcast_to(vendor[:, None] == vendor, felt.utility.shape)
    points, weights = np.polynomial.hermite_e.hermegauss(9 if arm.spread else 1)
    gains = zip(weights / weights.sum(), arm.utility + arm.spread * points, strict=True)
    blind = chances(world, felt.utility)
    told = sum(weight * chances(world, felt.utility + gain * own) for weight, gain in gains)
    reads = [each.sum(axis=2) for each in (blind, told)]
    difference = (told * own).sum(axis=2) * reads[0] - (blind * own).sum(axis=2) * reads[1]
    found = dict(_by_vendor(world, "hint_effect", difference, reads[0] * reads[1]))
    if not arm.spread:
        found["excess_change", ""] = _excess(blind, told)
    return found


def _excess(blind: np.ndarray, told: np.ndarray) -> Interval:
    pairs = [(blind, blind), (told, told), (blind, told)]
    read = [(a.sum(axis=2) * b.sum(axis=2)).sum(axis=1) for a, b in pairs]
    same = [(a * b).sum(axis=(1, 2)) for a, b in pairs]
    changed = np.column_stack([r - s for r, s in zip(read, same, strict=True)])
    return clustered(changed, np.column_stack(read), [-0.5, -0.5, 1.0])


def swapped(world: World, arm: Arm) -> Truths:
    """name_effect (by vendor and "average") of names dealt out at random, by chances under one deal a judgment."""
    felt, vendor = population(world), world.vendor_of
    named = np.random.default_rng([20, 4]).permuted(np.broadcast_to(vendor, felt.utility.shape), axis=2)
    mine = taken(world, arm.condition, named)
    first = chances(world, felt.utility + arm.utility * mine)
    own, size = mine.sum(axis=2), mine.shape[2]
    effect = (first * mine).sum(axis=2) / own - (first * ~mine).sum(axis=2) / (size - own)
    return _by_vendor(world, "name_effect", effect, first.sum(axis=2))


def _by_vendor(world: World, id: str, effect: np.ndarray, read: np.ndarray) -> Truths:
    count, vendor = len(world.vendors), world.vendor_of
    x, d = (np.column_stack([each[:, vendor == v].sum(axis=1) for v in range(count)]) for each in (effect, read))
    weights: Sequence[np.ndarray] = [*np.eye(count), np.full(count, 1 / count)]
    return {(id, name): clustered(x, d, w) for name, w in zip((*world.vendors, "average"), weights, strict=True)}
