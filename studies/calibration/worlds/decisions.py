"""Worlds of bias tests with planted truth: models answer controls and treatments of scenarios in several wordings.

What models feel about a test, what they answer then, these answers as the decisions frame, and what is true of them in
very many scenarios.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from helpers.frames import DECISIONS

#: Of a scale: as many options, from 0 to one less.
OPTIONS = 11
CONDITIONS = ("control", "treatment")
RATIOS = (0.8, 1.2, 1.8, 3.0, 5.0)
#: Of each number and model: the value, and its Monte-Carlo error.
Truths = dict[tuple[str, str], tuple[float, float]]
MEAN = "mean"
#: Lowest and highest answer of each kind of test.
ENDS = {"scale": (0.0, OPTIONS - 1.0), "acceptance": (0.0, 1.0), "selection": (-1.0, 1.0)}


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

    @property
    def ended(self) -> bool:
        """Whether tests pull to an end of the scale, not to an anchor."""
        return self.target in ("end", "low")

    def only(self, name: str) -> World:
        """The same world with one of its models."""
        return replace(self, answerers=tuple(each for each in self.answerers if each.name == name))


def names(world: World) -> tuple[str, ...]:
    """The models' names."""
    return tuple(each.name for each in world.answerers)


@dataclass(frozen=True)
class Sample:
    """What was drawn of one bias: J models, two conditions (control, treatment), R repeats, n tests.

    `scenario`, `wording`: (n,). Of each kind "scale", "acceptance", "selection": `shown` (J, n) is where the text pulls
    as a share of the scale, the ratio of gain to loss, how many arguments a side has; `honest` (J, n) the answer that
    nothing pulls, the log ratio at which half accept, the logits of an argument for the proposal; `strength` (J, 2, n)
    what the version adds (see `Answerer`). `noise` (J, 2, R, n) is added to an answer on a scale and is the lot of a
    gamble, `lot` decides on whether a reply is lost. Of scales `first` (2, R, n) is the option shown first and `habit`
    says where it is taken; of selections `picked` (J, 2, R, 2, n) counts the arguments for and against, and `side`
    (J, n) is what was decided.
    """

    world: World
    kind: str
    category: str
    scenario: np.ndarray
    wording: np.ndarray
    shown: np.ndarray
    honest: np.ndarray
    strength: np.ndarray
    noise: np.ndarray
    lot: np.ndarray
    first: np.ndarray | None = None
    habit: np.ndarray | None = None
    picked: np.ndarray | None = None
    side: np.ndarray | None = None


def cells(scenarios: int, wordings: int) -> tuple[np.ndarray, np.ndarray]:
    """Scenario and wording of each test."""
    return np.repeat(np.arange(scenarios), wordings), np.tile(np.arange(wordings), scenarios)


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
        *(world, "scale", "halo" if world.ended else "anchoring", scenario, wording),
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


def on_scale(aim, honest, strength, noise, first, habit, continuous: bool = False):
    """The answer on a scale, 0 to OPTIONS - 1: the way to the aim that is gone, noise, and a habit of order."""
    felt = np.clip(honest + strength * (aim - honest) + noise, 0, 1)
    answer = np.where(habit, first, felt * (OPTIONS - 1))
    return answer if continuous else np.round(answer)


def accepted(ratio, half, added, lot, slack):
    """1 where a gamble is accepted, else 0."""
    return (lot < expit((np.log(ratio) - half - added) / slack)).astype(float)


def lean(pro, con):
    """How far a selection leans, -1 to 1; NaN where nothing was selected."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (pro - con) / (pro + con)


def lost(kind: str, each: Answerer, answer, lot, side=0.0):
    """Whether a reply cannot be read: not at random, but for what it says."""
    if kind == "scale":
        gone = np.abs(answer - (OPTIONS - 1) / 2) >= 0.3 * (OPTIONS - 1)
    else:
        gone = answer == 0 if kind == "acceptance" else answer * side > 0.3
    return gone & (lot < each.lost)


def answers(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """(J, 2, R, n) what each reply says, and whether it is lost."""
    s, wide = sample, (slice(None), None, None)
    if s.kind == "scale":
        replies = on_scale(
            s.shown[wide], s.honest[wide], s.strength[:, :, None], s.noise, s.first, s.habit, s.world.continuous
        )
    elif s.kind == "acceptance":
        slack = np.array([each.slack for each in s.world.answerers])[:, None, None, None]
        replies = accepted(s.shown[wide], s.honest[wide], s.strength[:, :, None], s.noise, slack)
    else:
        replies = lean(s.picked[:, :, :, 0], s.picked[:, :, :, 1])
    side = np.zeros(s.shown.shape) if s.side is None else s.side
    each = zip(s.world.answerers, replies, s.lot, side, strict=True)
    return replies, np.stack([lost(s.kind, model, *args) for model, *args in each])


def frame(sample: Sample) -> pd.DataFrame:
    """The replies as the decisions frame; `question_id` and `wording` are whole numbers, `order` is left out."""
    stated, gone = answers(sample)
    judge, condition, repeat, test = (each.ravel() for each in np.indices(stated.shape))
    treated, value = condition == 1, np.where(gone, np.nan, stated).ravel()
    models = np.array(names(sample.world), dtype=object)
    shown = sample.shown[judge, test]
    replies: dict[str, Any] = {
        "test": test,
        "judge": models[judge],
        "condition": np.array(CONDITIONS, dtype=object)[condition],
        "repeat": repeat,
        "value": value,
        "choice": value,
        "outcome": np.where(gone.ravel(), "unparsed", "ok").astype(object),
        "partner": np.where(treated, repeat, np.nan),
    }
    low, high = ENDS[sample.kind]
    if sample.kind == "scale":
        replies |= {"target": np.round(shown * high), "values": " ".join(map(str, range(OPTIONS))), "options": 11.0}
        replies |= {} if sample.world.ended else {"anchor": shown * high}
    elif sample.kind == "acceptance":
        replies |= {"target": 0.0, "ratio": shown, "values": "0 1", "options": 2.0}
    else:
        printed = {n: " ".join(["1 -1"] * n) for n in np.unique(shown.astype(int))}
        # Who selected nothing can be read all the same.
        picked = [np.where(gone, np.nan, sample.picked[:, :, :, side]).ravel() for side in (0, 1)]
        replies |= {"target": np.where(treated, sample.side[judge, test], np.nan), "pro": picked[0], "con": picked[1]}
        replies |= {"values": np.array([printed[n] for n in shown], dtype=object), "options": 2.0 * shown}
        replies["choice"] = np.nan
    rows = pd.DataFrame(replies)
    if sample.kind == "selection":
        rows = pd.concat([_decided(sample, models), rows], ignore_index=True)
    test = rows["test"].to_numpy()
    return rows.assign(
        **{"experiment": "cognitive_biases", "source": "asked", "kind": sample.kind, "category": sample.category},
        **{"judge_vendor": rows["judge"], "judge_model": rows["judge"], "low": low, "high": high},
        **{"question_id": sample.scenario[test], "wording": sample.wording[test]},
    ).reindex(columns=list(DECISIONS))


def _decided(sample: Sample, models: np.ndarray) -> pd.DataFrame:
    """The decisions that selections follow."""
    judge, test = (each.ravel() for each in np.indices(sample.side.shape))
    side = sample.side.ravel()
    decisions = {"test": test, "judge": models[judge], "value": side, "choice": (side > 0).astype(float)}
    return pd.DataFrame(
        decisions | {"condition": "decision", "repeat": 0, "outcome": "ok", "options": 2.0, "values": "-1 1"}
    )


def _framed(sample: Callable[..., Sample]) -> Callable[..., pd.DataFrame]:
    """As `sample`, the replies as the decisions frame."""
    return lambda *design, **more: frame(sample(*design, **more))


scale_frame, gamble_frame, selection_frame = map(_framed, (scale_sample, gamble_sample, selection_sample))


def truths(
    draw: Callable[[np.random.Generator, int], Sample], seed: int, chunks: int = 12, size: int = 20_000
) -> Truths:
    """The estimands of each model, and their mean over models ("mean"), in `chunks` times `size` scenarios.

    `draw(rng, scenarios)` makes a sample with two repeats. Replies that are lost count nowhere, as with real models:
    the truth is that of readable answers. A number that a kind of test does not have is absent.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for chunk in range(chunks):
        sample = draw(np.random.default_rng([seed, chunk]), size)
        replies, lost = answers(sample)
        each = [_defined(sample, judge, replies[judge], lost[judge]) for judge in range(len(replies))]
        for id in each[0]:
            named = [model.name for model in sample.world.answerers]
            for name, value in [*zip(named, (one[id] for one in each), strict=True)]:
                found.setdefault((id, name), []).append(value)
            found.setdefault((id, MEAN), []).append(float(np.mean([one[id] for one in each])))
    return {at: (float(np.mean(v)), float(np.std(v, ddof=1) / np.sqrt(len(v)))) for at, v in found.items()}


def _defined(sample: Sample, judge: int, replies: np.ndarray, lost: np.ndarray) -> dict[str, float]:
    """The estimands of one model on all its pairs; `replies`, `lost` (2, 2, n): condition, repeat, test."""
    unread = lost.any(axis=0)
    a1, a2 = (np.where(unread, np.nan, each) for each in replies)
    a0 = np.where(lost[0], np.nan, replies[0])[::-1]
    t = np.broadcast_to(_target(sample, judge), a1.shape)
    low, high = ENDS[sample.kind]
    d1, d2, d0 = (np.abs(each - t) for each in (a1, a2, a0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = {"bias_effect": float(np.nanmean((d1 - d2) / np.maximum(d1, d2)))}
    toward = np.where(t == high, 1.0, np.where(t == low, -1.0, np.sign(t - a0)))
    found["scale_shift"] = float(np.nanmean(toward * (a2 - a1)) / (high - low))
    if sample.kind == "scale":
        return found | _on_scale(sample, judge, a1, a2, a0, (d1, d2, d0))
    if sample.kind == "acceptance":
        ratio = np.broadcast_to(sample.shown[judge], a1.shape)
        found["threshold_ratio"] = _half(a2, ratio) - _half(a1, ratio)
        return found
    # Where nothing was selected a side cannot be leant to: 0/0 counts 0, as published.
    left = np.maximum(0, np.nan_to_num(t * a2)) - np.maximum(0, np.nan_to_num(t * a1))
    weights = np.broadcast_to(sample.shown[judge], left.shape)
    found["confirmation_bias_excess"] = float(np.average(left[~unread], weights=weights[~unread]))
    found["confirmation_unweighted_excess"] = float(left[~unread].mean())
    return found


def _target(sample: Sample, judge: int) -> np.ndarray:
    if sample.kind == "scale":
        return np.round(sample.shown[judge] * (OPTIONS - 1))
    return np.zeros(len(sample.scenario)) if sample.kind == "acceptance" else sample.side[judge]


def _on_scale(sample: Sample, judge: int, a1, a2, a0, distances) -> dict[str, float]:
    """The excesses of the published metrics, and the slope on the anchor."""
    d1, d2, d0 = distances
    far = np.maximum(a1, OPTIONS - 1 - a1)
    moved = float(np.nanmean((np.abs(a2 - a1) - np.abs(a0 - a1)) / far))
    if sample.world.ended:
        return {"halo_effect_excess": moved}
    least = np.where(d1 == 0, np.inf, d1)  # 0/0 counts 0
    specific = np.maximum(0, (d1 - d2) / least) - np.maximum(0, (d1 - d0) / least)
    anchor = np.broadcast_to(sample.shown[judge] * (OPTIONS - 1), a1.shape)
    finite = np.isfinite(a1 + a2 + a0)
    y, x, z = (each[finite] for each in (a2 - a1, anchor - a1, anchor - a0))
    slope = float(np.cov(z, y)[0, 1] / np.cov(z, x)[0, 1])
    return {
        "anchoring_agnostic_excess": moved,
        "anchoring_specific_excess": float(np.nanmean(specific)),
        "anchor_slope": slope,
    }


def _half(replies: np.ndarray, ratio: np.ndarray) -> float:
    """The log ratio at which a logistic curve fitted to all answers crosses one half."""
    import statsmodels.api as sm

    finite = np.isfinite(replies)
    kinds, place = np.unique(ratio[finite], return_inverse=True)
    asked = np.bincount(place).astype(float)
    yes = np.bincount(place, weights=replies[finite])
    fit = sm.GLM(np.column_stack([yes, asked - yes]), sm.add_constant(np.log(kinds)), family=sm.families.Binomial())
    intercept, slope = fit.fit().params
    return float(-intercept / slope)


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
    fixed = {"source": "asked", "judge": "j", "category": "a", "readable": True, "options": 11.0}
    fixed |= {"low": 0.0, "high": 1.0}
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
    ).assign(**fixed)
