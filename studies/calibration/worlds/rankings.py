"""Judges who rank six answers, blind and under hints: what decided their verdicts, what they say, what is true of them.

Orders and names are those that the experiments would show; the truths are of a very large population of questions, by
chances instead of draws where they do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from helpers.biases.hinting.asked import dealt
from helpers.biases.top_choice.asked import order
from helpers.config import load_experiment
from helpers.frames import listwise
from helpers.providers import simulated
from helpers.stats import models
from helpers.stats.intervals import Interval, clustered, t_interval
from helpers.types import Answer, Experiment, Model, Question, Trial, short_hash
from studies.calibration import speaking
from studies.calibration.worlds.listwise import (
    CATEGORIES,
    Latent,
    World,
    draw as listwise_draw,
    judgments,
    latent,
    panel,
    question_ids,
)


@dataclass(frozen=True)
class Arm:
    """One condition: what the utility of an answer gains when its judge takes it for its own vendor's.

    `spread` is the sd of that over questions, `repeats` how often everything is asked. `lost_own` is the share of
    judgments lost, beyond the world's, where the judge's own vendor is on top.
    """

    condition: str = "none"
    utility: float = 0.0
    spread: float = 0.0
    repeats: int = 1
    lost_own: float = 0.0


@dataclass(frozen=True)
class Asking:
    """One asking of every question to every judge: C questions, J judges, K candidates.

    `gain` (C,) is the utility of an answer that is taken for the judge's own vendor's, `noise` (C, J, K) Gumbel,
    `luck` (C, J) decides on losses, `named` (C, J, K) is the vendor by whose name an answer goes (its place among the
    vendors; -1: none).
    """

    condition: str
    repeat: int
    gain: np.ndarray
    noise: np.ndarray
    luck: np.ndarray
    named: np.ndarray
    lost_own: float = 0.0


@dataclass(frozen=True)
class Sample:
    """Questions, answers and orders with all their askings; `seed` is that of the orders and of dealt names."""

    world: World
    seed: int
    felt: Latent
    askings: tuple[Asking, ...]


def draw(world: World, questions: int, rng: np.random.Generator, arms: Sequence[Arm] = (Arm(),)) -> Sample:
    """A sample whose orders and names are those that the experiment itself would show under some seed."""
    seed = int(rng.integers(2**31))
    felt = latent(world, questions, rng, _slots(world, questions, seed))
    shape, askings = felt.utility.shape, []
    for arm in arms:
        gain = arm.utility + (arm.spread * rng.standard_normal(questions) if arm.spread else np.zeros(questions))
        named = _named(world, felt, seed, arm.condition)
        for repeat in range(arm.repeats):
            noise, luck = rng.gumbel(size=shape), rng.random(shape[:2])
            askings.append(Asking(arm.condition, repeat, gain, noise, luck, named, arm.lost_own))
    return Sample(world, seed, felt, tuple(askings))


def _slots(world: World, questions: int, seed: int) -> np.ndarray:
    """(C, J, K) the slot of each candidate, as the experiment orders them."""
    at = {name: number for number, name in enumerate(world.names)}
    shown = [[[at[n] for n in order(world.names, q, judge, seed)] for judge in world.names] for q in range(questions)]
    return np.argsort(np.array(shown), axis=2)


def _named(world: World, felt: Latent, seed: int, condition: str) -> np.ndarray:
    vendor, size = world.vendor_of, felt.slot.shape
    same = np.broadcast_to(vendor[:, None] == vendor, size)
    if condition == "none":
        return np.full(size, -1)
    if condition in ("self", "full", "competitors"):
        named = {"self": same, "full": same | True, "competitors": ~same}[condition]
        return np.where(named, vendor, -1)
    shown, found = np.argsort(felt.slot, axis=2), np.empty(size, dtype=int)
    at = {name: number for number, name in enumerate(world.vendors)}
    judges = [Model(name, "", "", world.vendors[v]) for name, v in zip(world.names, vendor, strict=True)]
    for q, question in enumerate(question_ids(size[0])):
        for j, judge in enumerate(judges):
            dealt_names = dealt(condition, seed, judge, question, [world.vendors[v] for v in vendor[shown[q, j]]])
            found[q, j, shown[q, j]] = [-1 if name is None else at[name] for name in dealt_names]
    return found


def taken(world: World, condition: str, named: np.ndarray) -> np.ndarray:
    """(C, J, K) which answers a judge takes for its own vendor's: by name, or as the only ones without a name."""
    mine = world.vendor_of[:, None]
    if condition == "competitors":
        return named == -1
    return named == mine


def lost(world: World, asking: Asking, luck: np.ndarray | float, own_first: np.ndarray | bool) -> Any:
    """Whether a reply holds no verdict, which is likelier where the judge's own vendor comes first."""
    return luck < world.lost + (world.lost_own + asking.lost_own) * own_first


def rankings_of(sample: Sample, asking: Asking) -> tuple[np.ndarray, np.ndarray]:
    """(C, J, K) rankings, candidates best first, and (C, J) whether the verdict can be read."""
    world = sample.world
    mine = taken(world, asking.condition, asking.named)
    utility = sample.felt.utility + asking.gain[:, None, None] * mine + asking.noise
    ranking = np.argsort(-utility, axis=2)
    own_first = world.vendor_of[ranking[:, :, 0]] == world.vendor_of
    return ranking, ~lost(world, asking, asking.luck, own_first)


def frame(sample: Sample) -> pd.DataFrame:
    """The sample as the listwise frame: a row a judgment and candidate, lost judgments with NaN ranks."""
    world, felt = sample.world, sample.felt
    found = [rankings_of(sample, asking) for asking in sample.askings]
    rank = np.stack([np.argsort(ranking, axis=2) + 1.0 for ranking, _ in found])
    rank[~np.stack([valid for _, valid in found])] = np.nan
    askings = tuple((asking.condition, asking.repeat) for asking in sample.askings)
    named = np.stack([asking.named for asking in sample.askings]).ravel()
    names = np.array([*world.vendors, None], dtype=object)[named] if (named >= 0).any() else None
    return judgments(world, rank, felt.slot, felt.category, felt.length, askings).assign(named=names)


#: Questions of a population by chances, of one that a model is fitted to, and how many of these are averaged.
MANY, FITTED, FITS = 240_000, 100_000, 5
Truths = Mapping[tuple[str, str], Interval]


def chances(world: World, utility: np.ndarray) -> np.ndarray:
    """(C, J, K) the chance that a judgment can be read and has this candidate first."""
    first = np.exp(utility - utility.max(axis=2, keepdims=True))
    first /= first.sum(axis=2, keepdims=True)
    same = world.vendor_of[:, None] == world.vendor_of
    return first * (1 - world.lost - world.lost_own * same)


@lru_cache(maxsize=1)
def _population(world: World, questions: int) -> Latent:
    """The questions that all chances are averaged over."""
    return latent(world, questions, _chance(world, 0))


def _chance(world: World, turn: int) -> np.random.Generator:
    """Populations of two worlds have no question in common, or all their truths would be wrong to the same side."""
    return np.random.default_rng([20, int(short_hash(repr(world)), 16), turn])


def first_places(world: World) -> Truths:
    """self_bias and excess_self_preference (by vendor), average_self_bias and position_effect (by slot), as measured.

    Each with its Monte-Carlo standard error as `se`.
    """
    felt = _population(world, MANY)
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
    first, vendor = chances(world, _population(world, MANY).utility), world.vendor_of
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
    fit = models.fit_panel(panel(listwise_draw(world, questions, _chance(world, turn))))
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
    felt, vendor = _population(world, MANY), world.vendor_of
    same = np.broadcast_to(vendor[:, None] == vendor, felt.utility.shape)
    points, weights = np.polynomial.hermite_e.hermegauss(9 if arm.spread else 1)
    gains = zip(weights / weights.sum(), arm.utility + arm.spread * points, strict=True)
    blind = chances(world, felt.utility)
    hinted_chances = sum(weight * chances(world, felt.utility + gain * same) for weight, gain in gains)
    reads = [each.sum(axis=2) for each in (blind, hinted_chances)]
    difference = (hinted_chances * same).sum(axis=2) * reads[0] - (blind * same).sum(axis=2) * reads[1]
    found = dict(_by_vendor(world, "hint_effect", difference, reads[0] * reads[1]))
    if not arm.spread:
        found["excess_change", ""] = _excess(blind, hinted_chances)
    return found


def _excess(blind: np.ndarray, hinted: np.ndarray) -> Interval:
    pairs = [(blind, blind), (hinted, hinted), (blind, hinted)]
    read = [(a.sum(axis=2) * b.sum(axis=2)).sum(axis=1) for a, b in pairs]
    same = [(a * b).sum(axis=(1, 2)) for a, b in pairs]
    changed = np.column_stack([r - s for r, s in zip(read, same, strict=True)])
    return clustered(changed, np.column_stack(read), [-0.5, -0.5, 1.0])


def swapped(world: World, arm: Arm) -> Truths:
    """name_effect (by vendor and "average") of names dealt out at random, by chances under one deal a judgment."""
    felt, vendor = _population(world, MANY), world.vendor_of
    named = np.random.default_rng([20, 4]).permuted(np.broadcast_to(vendor, felt.utility.shape), axis=2)
    mine = taken(world, arm.condition, named)
    first = chances(world, felt.utility + arm.utility * mine)
    same, size = mine.sum(axis=2), mine.shape[2]
    effect = (first * mine).sum(axis=2) / same - (first * ~mine).sum(axis=2) / (size - same)
    return _by_vendor(world, "name_effect", effect, first.sum(axis=2))


def _by_vendor(world: World, id: str, effect: np.ndarray, read: np.ndarray) -> Truths:
    count, vendor = len(world.vendors), world.vendor_of
    x, d = (np.column_stack([each[:, vendor == v].sum(axis=1) for v in range(count)]) for each in (effect, read))
    weights: Sequence[np.ndarray] = [*np.eye(count), np.full(count, 1 / count)]
    return {(id, name): clustered(x, d, w) for name, w in zip((*world.vendors, "average"), weights, strict=True)}


def spoken(sample: Sample, trials: Callable[..., list[Trial]], name: str) -> pd.DataFrame:
    """The tidy frame of what the sample's judges say to the `trials` of an experiment, under the prompts of `name`.

    They are given the rendered prompts and nothing else; which utility and which noise is whose they know by the texts.
    """
    world, ids = sample.world, question_ids(len(sample.felt.category))
    vendors = [world.vendors[v] for v in world.vendor_of]
    tiers = world.tiers * len(world.vendors)
    models = tuple(
        Model(name, "simulated", name, vendor, tier, structured=number % 2 == 0)
        for number, (name, vendor, tier) in enumerate(zip(world.names, vendors, tiers, strict=True))
    )
    questions = [
        Question(id, CATEGORIES[sample.felt.category[number]], f"What is to be said of subject {id}?", place=number)
        for number, id in enumerate(ids)
    ]
    answers = {
        (id, model.name): Answer(id, model.name, model.vendor, model.tier, _text(sample.seed, id, model), model.name)
        for id in ids
        for model in models
    }
    hints = [asking.condition for asking in sample.askings if asking.condition != "none"]
    repeats = 1 + max(asking.repeat for asking in sample.askings)
    experiment = replace(
        _settled(name),
        judges=models,
        candidates=models,
        seed=sample.seed,
        repeats=repeats,
        extra={"hints": list(dict.fromkeys(hints)), "answers": "given"},
    )
    # Whose text is whose: what a judge feels goes with the text, wherever it stands in the prompt.
    numbers = {question.text: number for number, question in enumerate(questions)}
    numbers |= {answers[id, model.name].text: number for id in ids for number, model in enumerate(models)}
    askings = {(asking.condition, asking.repeat): asking for asking in sample.askings}
    # An experiment repeats all its conditions, a sample only those that it needs.
    every = trials("judging", experiment, questions, {}, answers)
    asked = [trial for trial in every if (trial.condition, trial.request.repeat) in askings]

    def reply(trial: Trial) -> tuple[str, str]:
        asking = askings[trial.condition, trial.request.repeat]
        return _reply(sample, asking, numbers, models.index(trial.judge), trial)

    return listwise(speaking.judged(asked, reply), answers)


@lru_cache
def _settled(name: str) -> Experiment:
    return load_experiment(name)


def _text(seed: int, question: str, model: Model) -> str:
    """An answer that gives away neither its author nor its worth."""
    return f"Answer {short_hash('text', seed, question, model.name, digits=12)}.\n\nIt has two paragraphs."


def _reply(sample: Sample, asking: Asking, numbers: Mapping[str, int], judge: int, trial: Trial) -> tuple[str, str]:
    """What the judge writes to the prompt of this trial, and how the reply ends."""
    shown, world = simulated.read_prompt(trial.request.prompt), sample.world
    question, vendor = numbers[shown.asked], world.vendors[world.vendor_of[judge]]
    candidates = [numbers[text] for text in shown.texts]
    mine = simulated.own_by_name(shown.task, shown.labels, vendor, deduces=True)
    utility = {}
    for slot, (label, candidate) in enumerate(zip(shown.labels, candidates, strict=True)):
        felt = sample.felt.worth[question, judge, candidate] + sample.felt.habits[judge, slot]
        felt = felt + asking.gain[question] * mine[slot]
        utility[label] = felt + asking.noise[question, judge, candidate]
    ranking = sorted(utility, key=utility.__getitem__, reverse=True)
    top = candidates[shown.labels.index(ranking[0])]
    own_first = bool(world.vendor_of[top] == world.vendor_of[judge])
    gone = bool(lost(world, asking, asking.luck[question, judge], own_first))
    return _written(ranking, shown.nonce, trial.request.schema is not None, (question + judge) % 3 if gone else None)


def _written(ranking: Sequence[str], nonce: str, structured: bool, lost_as: int | None) -> tuple[str, str]:
    """The reply as text, and how it ended; `lost_as` picks one of three ways in which no verdict can be read."""
    scores = {label: int(score) for label, score in zip(ranking, np.linspace(9, 1, len(ranking)), strict=True)}
    reason = f"{ranking[0]} is the most complete answer, {ranking[-1]} the least."
    if lost_as == 0:
        return reason, "refusal"
    if lost_as == 1:
        return f"{reason} I would rank them {' > '.join(ranking)}.", "stop"
    labels = list(ranking) if lost_as is None else [*ranking[:-1], ranking[0]]
    if structured:
        return json.dumps({"id": nonce, "ranking": labels, "scores": scores, "justification": reason}), "stop"
    listed = " ".join(f"{label}={score}" for label, score in sorted(scores.items()))
    return f"{reason}\n\nSCORES-{nonce}: {listed}\nRANKING-{nonce}: {' > '.join(labels)}", "stop"
