"""Worlds of bias tests with planted truth: models answer controls and treatments of scenarios in several wordings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import expit

from helpers.frames import DECISIONS

RATIOS = (0.8, 1.2, 1.8, 3.0, 5.0)
OPTIONS = 11


@dataclass(frozen=True)
class Answerer:
    """How one model answers; all on a scale from 0 to 1 unless said.

    `honest`: where its answers lie on average; `noise`: the sd of one answer, `skew` makes it exponential (to the
    upper side); `strength`, `varying`: mean and sd over
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

    `target`: "anchor" (drawn from 0.1 to 0.9), "end" (lowest or highest), "control" (where the honest answer lies, so
    that controls are often the target itself). `continuous`: answers are not rounded to options.
    """

    answerers: tuple[Answerer, ...]
    spread: float = 0.15
    reworded: float = 0.05
    target: str = "anchor"
    continuous: bool = False

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
    scenario, wording = cells(scenarios, wordings)
    seen = (world.spread * rng.standard_normal(scenarios))[scenario] + world.reworded * rng.standard_normal(
        len(scenario)
    )
    drawn = rng.uniform(0.1, 0.9, len(scenario))
    drawn = drawn if world.target == "anchor" else (drawn > 0.5).astype(float)
    parts = []
    for each in world.answerers:
        honest = np.clip(each.honest + seen, 0.05, 0.95)
        aim = honest if world.target == "control" else drawn
        strength = each.strength + each.varying * rng.standard_normal(scenarios)[scenario]
        first = rng.integers(0, OPTIONS, len(scenario)) / (OPTIONS - 1)
        target = np.round(aim * (OPTIONS - 1))
        other = (rng.random(scenarios) < 0.5)[scenario] if each.swapped else None
        for condition, share in (("control", 0.0), ("treatment", strength)):
            if each.swapped:
                share = np.where(other == (condition == "control"), strength, 0.0)
            for repeat in range(repeats):
                noise = rng.standard_exponential(len(scenario)) - 1 if each.skew else rng.standard_normal(len(scenario))
                answer = np.clip(honest + share * (aim - honest) + each.noise * noise, 0, 1)
                answer = np.where(rng.random(len(scenario)) < each.habit, first, answer) * (OPTIONS - 1)
                answer = answer if world.continuous else np.round(answer)
                edge = np.abs(answer - (OPTIONS - 1) / 2) >= 0.3 * (OPTIONS - 1)
                lost = edge & (rng.random(len(scenario)) < each.lost)
                known = {"question_id": scenario, "wording": wording, "target": target, "condition": condition}
                known |= {"anchor": aim * (OPTIONS - 1) if world.target != "end" else np.nan, "repeat": repeat}
                parts.append(_part(each, known, answer, lost))
    values = " ".join(map(str, range(OPTIONS)))
    scale = {"kind": "scale", "options": OPTIONS, "low": 0.0, "high": OPTIONS - 1.0, "values": values}
    return _frame(parts, scale | {"category": "anchoring" if world.target != "end" else "halo"})


def gamble_frame(
    world: World, rng: np.random.Generator, scenarios: int = 24, repeats: int = 2, wordings: int = 3
) -> pd.DataFrame:
    """The decisions frame of gambles, accepted (1) or declined (0)."""
    scenario, wording = cells(scenarios, wordings)
    ratio = rng.choice(RATIOS, len(scenario))
    seen = (world.spread * rng.standard_normal(scenarios))[scenario]
    parts = []
    for each in world.answerers:
        loss = each.strength + each.varying * rng.standard_normal(scenarios)[scenario]
        for condition, added in (("control", 0.0), ("treatment", loss)):
            for repeat in range(repeats):
                over = np.log(ratio) - each.threshold - seen - added
                answer = (rng.random(len(scenario)) < expit(over / each.slack)).astype(float)
                lost = (answer == 0) & (rng.random(len(scenario)) < each.lost)
                known = {"question_id": scenario, "wording": wording, "ratio": ratio, "condition": condition}
                parts.append(_part(each, known | {"repeat": repeat, "target": 0.0}, answer, lost))
    known = {"kind": "acceptance", "options": 2, "low": 0.0, "high": 1.0, "values": "0 1"}
    return _frame(parts, known | {"category": "loss_aversion"})


def selection_frame(
    world: World, rng: np.random.Generator, scenarios: int = 24, repeats: int = 2, wordings: int = 3
) -> pd.DataFrame:
    """The decisions frame of selected arguments: decisions, and the selections that follow them."""
    scenario, wording = cells(scenarios, wordings)
    listed = rng.integers(3, 6, scenarios)[scenario]
    merit = rng.standard_normal(scenarios)[scenario]
    parts = []
    for each in world.answerers:
        side = np.where(rng.random(len(scenario)) < expit(2 * each.merit * merit), 1.0, -1.0)
        pull = each.strength + each.varying * rng.standard_normal(scenarios)[scenario]
        known = {"question_id": scenario, "wording": wording}
        parts.append(_part(each, known | {"condition": "decision", "repeat": 0}, side, np.zeros(len(side), dtype=bool)))
        for condition, added in (("control", 0.0), ("treatment", pull)):
            for repeat in range(repeats):
                pro, con = (rng.binomial(listed, expit(sign * (each.merit * merit + side * added))) for sign in (1, -1))
                with np.errstate(invalid="ignore"):
                    lean = (pro - con) / (pro + con)
                lost = (lean * side > 0.3) & (rng.random(len(side)) < each.lost)
                more = {"pro": pro.astype(float), "con": con.astype(float), "options": 2 * listed, "repeat": repeat}
                more |= {"target": side if condition == "treatment" else np.nan, "condition": condition}
                parts.append(_part(each, known | more, lean, lost))
    fixed = {"kind": "selection", "low": -1.0, "high": 1.0, "values": "-1 1", "category": "confirmation"}
    return _frame(parts, fixed)


def _part(each: Answerer, known: dict[str, object], answer: np.ndarray, lost: np.ndarray) -> pd.DataFrame:
    """The replies to one version; a lost one has its outcome and nothing else."""
    part = pd.DataFrame(
        {**known, "judge": each.name, "judge_vendor": each.name, "value": np.where(lost, np.nan, answer)}
    )
    part["outcome"] = np.where(lost, "unparsed", "ok")
    for name in {"pro", "con"} & {*part}:
        part[name] = part[name].where(~lost)
    return part


def _frame(parts: list[pd.DataFrame], known: dict[str, object]) -> pd.DataFrame:
    frame = pd.concat(parts, ignore_index=True).assign(**known)
    frame["choice"] = frame["value"] if known["kind"] != "selection" else np.nan
    frame["partner"] = frame["repeat"].where(frame["condition"] == "treatment").astype(float)
    frame = frame.assign(experiment="cognitive_biases", source="asked", judge_model=frame["judge"])
    for name in DECISIONS:
        if name not in frame:
            frame[name] = np.nan
    return frame[list(DECISIONS)]


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
    known = {"source": "asked", "judge": "j", "category": "a", "readable": True, "low": 0.0, "high": 1.0}
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
