"""Worlds of bias tests with planted truth: models answer controls and treatments of scenarios in several wordings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import expit

from helpers.calibrate.worlds.decision_frames import OPTIONS, Sample, frame

RATIOS = (0.8, 1.2, 1.8, 3.0, 5.0)


@dataclass(frozen=True)
class Answerer:
    """How one model answers; all on a scale from 0 to 1 unless said.

    `honest`: where its answers lie on average; `noise`: the sd of one answer, `skew` makes it exponential (to the
    upper side), `scatter` is what a treatment multiplies it by; `strength`, `varying`: mean and sd over
    scenarios of the share of the way to the target (of gambles: of the log ratio that a loss adds; of selections: of
    the logits of an argument of the side decided for); `habit`: the share of replies that take the option shown first;
    `lost`: the share of replies in the outer fifths of the scale (of gambles: of refusals; of selections: of those that
    lean to the side decided for) that cannot be read. `threshold`, `slack`: the mean log ratio at which it accepts and
    the logistic scale; `merit`: what the merit of a proposal adds to the logits of decision and selection.
    `swapped`: in half of the scenarios the control is pulled instead of the treatment.
    """

    name: str
    honest: float = 0.5
    noise: float = 0.1
    skew: bool = False
    scatter: float = 1.0
    strength: float = 0.0
    varying: float = 0.0
    habit: float = 0.0
    lost: float = 0.0
    threshold: float = 0.6
    slack: float = 0.35
    merit: float = 0.0
    swapped: bool = False


@dataclass(frozen=True)
class World:
    """The models, how much scenarios (`spread`) and wordings (`reworded`) differ, and what the answers pull to.

    `target`: "anchor" (drawn from 0.1 to 0.9), "end" (lowest or highest), "low" (lowest), "control" (where the honest
    answer lies, so that controls are often the target itself). `continuous`: answers are not rounded to options.
    `alike`: scenarios pull all models in the same way (strengths and swaps are drawn once), as judges of one taste
    have it.
    """

    answerers: tuple[Answerer, ...]
    spread: float = 0.15
    reworded: float = 0.05
    target: str = "anchor"
    continuous: bool = False
    alike: bool = False

    def only(self, name: str) -> World:
        """The same world with one of its models."""
        return replace(self, answerers=tuple(each for each in self.answerers if each.name == name))


def names(world: World) -> tuple[str, ...]:
    """The models' names."""
    return tuple(each.name for each in world.answerers)


def cells(scenarios: int, wordings: int) -> tuple[np.ndarray, np.ndarray]:
    """Scenario and wording of each test."""
    return np.repeat(np.arange(scenarios), wordings), np.tile(np.arange(wordings), scenarios)


def scale_frame(
    world: World, rng: np.random.Generator, scenarios: int = 24, repeats: int = 2, wordings: int = 3
) -> pd.DataFrame:
    """The decisions frame of a bias that is answered on a scale of eleven options, from 0 to 10."""
    return frame(scale_sample(world, rng, scenarios, repeats, wordings))


def gamble_frame(
    world: World, rng: np.random.Generator, scenarios: int = 24, repeats: int = 2, wordings: int = 3
) -> pd.DataFrame:
    """The decisions frame of gambles, accepted (1) or declined (0)."""
    return frame(gamble_sample(world, rng, scenarios, repeats, wordings))


def selection_frame(
    world: World, rng: np.random.Generator, scenarios: int = 24, repeats: int = 2, wordings: int = 3
) -> pd.DataFrame:
    """The decisions frame of selected arguments: decisions, and the selections that follow them."""
    return frame(selection_sample(world, rng, scenarios, repeats, wordings))


def scale_sample(
    world: World, rng: np.random.Generator, scenarios: int = 24, repeats: int = 2, wordings: int = 3
) -> Sample:
    """What models feel about a bias that is answered on a scale."""
    scenario, wording = cells(scenarios, wordings)
    size = len(scenario)
    seen = (world.spread * rng.standard_normal(scenarios))[scenario] + world.reworded * rng.standard_normal(size)
    drawn = rng.uniform(0.1, 0.9, size)
    if world.target != "anchor":
        drawn = np.zeros(size) if world.target == "low" else (drawn > 0.5).astype(float)
    shape = (len(world.answerers), 2, repeats, size)
    noise, habit, lot = (np.empty(shape) for _ in range(3))
    aims, honests, strengths = [], [], []
    # Control and treatment have different options in front, as have neighbouring repeats.
    turns = rng.permuted(np.tile(np.arange(OPTIONS), (size, 1)), axis=1).T[: repeats + 1]
    taste = rng.standard_normal(scenarios) if world.alike else None
    turned = rng.random(scenarios) < 0.5 if world.alike else None
    for judge, each in enumerate(world.answerers):
        honest = np.clip(each.honest + seen, 0.05, 0.95)
        aims.append(honest if world.target == "control" else drawn)
        strength = each.strength + each.varying * (rng.standard_normal(scenarios) if taste is None else taste)[scenario]
        share = np.stack([np.zeros(size), strength])
        if each.swapped:
            other = ((rng.random(scenarios) < 0.5) if turned is None else turned)[scenario]
            share = np.stack([np.where(other, strength, 0.0), np.where(other, 0.0, strength)])
        honests.append(honest)
        strengths.append(share)
        for condition in (0, 1):
            sd = each.noise * (each.scatter if condition else 1.0)
            for repeat in range(repeats):
                at = (judge, condition, repeat)
                noise[at] = sd * (rng.standard_exponential(size) - 1 if each.skew else rng.standard_normal(size))
                habit[at], lot[at] = rng.random(size) < each.habit, rng.random(size)
    return Sample(
        *(world, "scale", "halo" if world.target in ("end", "low") else "anchoring", scenario, wording),
        *(np.stack(aims), np.stack(honests), np.stack(strengths), noise, lot),
        first=np.stack([turns[:-1], turns[1:]]),
        habit=habit.astype(bool),
    )


def gamble_sample(
    world: World, rng: np.random.Generator, scenarios: int = 24, repeats: int = 2, wordings: int = 3
) -> Sample:
    """What models feel about gambles."""
    scenario, wording = cells(scenarios, wordings)
    size, judges = len(scenario), len(world.answerers)
    ratio = rng.choice(RATIOS, size)
    seen = (world.spread * rng.standard_normal(scenarios))[scenario]
    noise, lot = (np.empty((judges, 2, repeats, size)) for _ in range(2))
    added = np.zeros((judges, 2, size))
    for judge, each in enumerate(world.answerers):
        added[judge, 1] = each.strength + each.varying * rng.standard_normal(scenarios)[scenario]
        for at in np.ndindex(2, repeats):
            noise[(judge, *at)], lot[(judge, *at)] = rng.random(size), rng.random(size)
    half = np.stack([each.threshold + seen for each in world.answerers])
    return Sample(
        *(world, "acceptance", "loss_aversion", scenario, wording, np.tile(ratio, (judges, 1)), half, added),
        *(noise, lot),
    )


def selection_sample(
    world: World, rng: np.random.Generator, scenarios: int = 24, repeats: int = 2, wordings: int = 3
) -> Sample:
    """What models decide on proposals, and how many arguments of each side they select."""
    scenario, wording = cells(scenarios, wordings)
    size, judges = len(scenario), len(world.answerers)
    listed = rng.integers(3, 6, scenarios)[scenario]
    merit = rng.standard_normal(scenarios)[scenario]
    picked, lot = np.empty((judges, 2, repeats, 2, size)), np.empty((judges, 2, repeats, size))
    sides, leaning, added = np.empty((judges, size)), np.empty((judges, size)), np.zeros((judges, 2, size))
    for judge, each in enumerate(world.answerers):
        side = np.where(rng.random(size) < expit(2 * each.merit * merit), 1.0, -1.0)
        added[judge, 1] = each.strength + each.varying * rng.standard_normal(scenarios)[scenario]
        sides[judge], leaning[judge] = side, each.merit * merit
        for condition in (0, 1):
            felt = leaning[judge] + side * added[judge, condition]
            for repeat in range(repeats):
                for place, sign in enumerate((1, -1)):
                    picked[judge, condition, repeat, place] = rng.binomial(listed, expit(sign * felt))
                lot[judge, condition, repeat] = rng.random(size)
    return Sample(
        *(world, "selection", "confirmation", scenario, wording, np.tile(listed, (judges, 1)), leaning, added),
        *(np.empty(0), lot),
        picked=picked,
        side=sides,
    )


#: Anchored or not, and the noise of control and treatment as shares of the scale: nothing pulls.
SCATTERED = ((False, 0.05, 0.2), (True, 0.05, 0.2), (True, 0.2, 0.1))


def scattered_pairs(rng: np.random.Generator, anchored: bool, before: float, after: float) -> pd.DataFrame:
    """Pairs of 24 scenarios x 3 wordings x 2 repeats whose treatment moves nothing and scatters more, or less."""
    scenarios, wordings = 24, 3
    honest = np.repeat(rng.uniform(0.3, 0.7, scenarios), wordings)
    target = np.repeat(rng.uniform(0.1, 0.9, scenarios) if anchored else rng.integers(0, 2, scenarios), wordings)
    control, treatment = (
        np.clip(honest[:, None] + rng.normal(0, sd, (len(honest), 2)), 0, 1) for sd in (before, after)
    )
    number = np.tile(np.arange(len(honest)), 2)
    repeat = np.repeat([0, 1], len(honest))
    known = {"source": "asked", "judge": "j", "category": "a", "readable": True, "options": 11.0}
    known |= {"low": 0.0, "high": 1.0}
    return pd.DataFrame(
        {
            "question_id": number // wordings,
            "wording": (number % wordings).astype(str),
            "repeat": repeat,
            "partner": repeat,
            "next": 1 - repeat,
            "a1": control.T.ravel(),
            "a2": treatment.T.ravel(),
            "a0": control[:, ::-1].T.ravel(),
            "target": np.tile(target, 2).astype(float),
        }
    ).assign(**known)
