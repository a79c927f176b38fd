"""Samples of judges who rank six answers, blind and under hints, with everything that decided their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from helpers.biases.hinting.hints import dealt
from helpers.biases.top_choice.asking import order
from helpers.calibrate.worlds.listwise import CATEGORIES, Latent, World, latent
from helpers.types import Model

LETTERS = tuple("ABCDEF")


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


def question_ids(questions: int) -> list[str]:
    """The ids of so many questions, in order."""
    return [f"q{number:05d}" for number in range(questions)]


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
    own = np.broadcast_to(vendor[:, None] == vendor, size)
    if condition == "none":
        return np.full(size, -1)
    if condition in ("self", "full", "competitors"):
        told = {"self": own, "full": own | True, "competitors": ~own}[condition]
        return np.where(told, vendor, -1)
    shown, found = np.argsort(felt.slot, axis=2), np.empty(size, dtype=int)
    at = {name: number for number, name in enumerate(world.vendors)}
    judges = [Model(name, "", "", world.vendors[v]) for name, v in zip(world.names, vendor, strict=True)]
    for q, question in enumerate(question_ids(size[0])):
        for j, judge in enumerate(judges):
            given = dealt(condition, seed, judge, question, [world.vendors[v] for v in vendor[shown[q, j]]])
            found[q, j, shown[q, j]] = [-1 if name is None else at[name] for name in given]
    return found


def taken(world: World, condition: str, named: np.ndarray) -> np.ndarray:
    """(C, J, K) which answers a judge takes for its own vendor's: by name, or as the only ones without a name."""
    mine = world.vendor_of[:, None]
    if condition == "competitors":
        return named == -1
    return named == mine


def lost(world: World, asking: Asking, luck: np.ndarray | float, own_first: np.ndarray | bool) -> np.ndarray | bool:
    """Whether a reply holds no verdict, which is likelier where the judge's own vendor comes first."""
    return luck < world.lost + (world.lost_own + asking.lost_own) * own_first


def verdicts(sample: Sample, asking: Asking) -> tuple[np.ndarray, np.ndarray]:
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
    found = [verdicts(sample, asking) for asking in sample.askings]
    rank = np.stack([np.argsort(ranking, axis=2) + 1.0 for ranking, _ in found])
    valid = np.stack([valid for _, valid in found])
    rank[~valid] = np.nan
    slot = np.broadcast_to(felt.slot, rank.shape).ravel()
    of_question = np.broadcast_to(felt.category[:, None, None], rank.shape)
    named = np.stack([asking.named for asking in sample.askings]).ravel()
    columns = {
        "category": pd.array(CATEGORIES, dtype="str").take(of_question.ravel()),
        "slot": slot,
        "label": pd.array(LETTERS, dtype="str").take(slot),
        "rank": rank.ravel(),
        "length": np.broadcast_to(felt.length[:, None, :], rank.shape).ravel(),
        "top": np.where(np.isnan(rank), np.nan, rank == 1).ravel(),
        "outcome": pd.array(["unparsed", "ok"], dtype="str").take(np.repeat(valid.ravel().astype(int), rank.shape[3])),
        "named": np.array([*world.vendors, None], dtype=object)[named] if (named >= 0).any() else None,
    }
    askings = tuple((asking.condition, asking.repeat) for asking in sample.askings)
    return _constant(world.vendors, world.tiers, len(felt.category), askings).assign(**columns)


@lru_cache(maxsize=8)
def _constant(
    vendors: tuple[str, ...], tiers: tuple[str, ...], questions: int, askings: tuple[tuple[str, int], ...]
) -> pd.DataFrame:
    """The columns that are the same in every sample of this shape."""
    world = World(vendors=vendors, tiers=tiers)
    names_, of = np.array(world.names), np.array(world.vendors)[world.vendor_of]
    tier = np.tile(tiers, len(vendors))
    shape = (len(askings), questions, len(names_), len(names_))
    asked, question, judge, candidate = (axis.ravel() for axis in np.indices(shape))
    repeat = np.array([repeat for _, repeat in askings])[asked]
    return pd.DataFrame(
        {
            "experiment": "calibration",
            "question_id": np.array(question_ids(questions))[question],
            "judge": names_[judge],
            "judge_vendor": of[judge],
            "judge_tier": tier[judge],
            "judge_model": names_[judge],
            "candidate": names_[candidate],
            "candidate_vendor": of[candidate],
            "candidate_tier": tier[candidate],
            "candidate_model": names_[candidate],
            "condition": np.array([condition for condition, _ in askings])[asked],
            "repeat": repeat,
            "score": np.nan,
            "contradicts": False,
            "own_vendor": of[judge] == of[candidate],
            "own_model": judge == candidate,
            "partner": repeat,
        }
    )
