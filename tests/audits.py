"""What the tests of audits share: judges of known bias, in process or served, and verdicts that are drawn directly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers import frames, verdicts
from helpers.audit import asking, measuring
from helpers.providers import simulated
from helpers.types import Completion, Model, Request
from tests.servers.behaviours import Behaviour, Call, Reply

BATTERY = asking.load()


def model(traits: Mapping[str, Any], structured: bool = True, id: str = "sim") -> Model:
    return Model(id, "simulated", id, "", traits=traits, structured=structured, knowledge=BATTERY.knowledge)


def judged(traits: Mapping[str, Any], structured: bool = True, id: str = "sim") -> pd.DataFrame:
    """The table of a simulated judge that was asked the whole battery, without a store."""
    read = []
    for trial in asking.trials(BATTERY, model(traits, structured, id)):
        text, finish = simulated.reply(trial.request)
        read.append(verdicts.read(trial, Completion(trial.request.key, "ok", text, finish, model=id)))
    return measuring.table(read)


def findings(table: pd.DataFrame) -> dict[str, measuring.Finding]:
    """What is concluded from a table, by probe."""
    seed = BATTERY.seed
    estimates, beside = measuring.measure(table, "j", "asked", seed), measuring.described(table, "j", "asked", seed)
    return {each.probe: each for each in measuring.conclude(table, estimates, beside)}


def served(traits: Mapping[str, Any]) -> Behaviour:
    """A server whose model judges as a simulated one does, and as real ones does not always say the same."""

    def behave(call: Call) -> Reply:
        twin = model(traits, id=call.model)
        text, finish = simulated.reply(Request(twin, call.prompt, call.system, call.schema, repeat=call.attempt))
        return Reply(text, finish)

    return behave


def wins(lead: float, noise: float = 1.0, tie: float = 0.4) -> tuple[float, float]:
    """How often the first of two wins and the second does, where the first leads by so much before logistic noise."""
    return tuple(1 / (1 + math.exp(-(side * lead - tie) / noise)) for side in (1, -1))


def net(lead: float) -> float:
    """How much more often the one wins than the other."""
    first, second = wins(lead)
    return first - second


def design(battery: asking.Battery, **params: float) -> pd.DataFrame:
    """The design alone: question, condition, first, target, repeat of each call, in the order of the trials."""
    asked = asking.trials(battery, replace(model({}), params=params))
    rows = [(t.question_id, t.condition, t.where["first"], t.where["target"], t.request.repeat) for t in asked]
    return pd.DataFrame(rows, columns=["question", "condition", "first", "target", "repeat"])


DESIGN = design(BATTERY)


def drawn(
    rng: np.random.Generator,
    quality: float = 1.0,
    noise: float = 1.0,
    tie: float = 0.4,
    pulls: Mapping[str, Callable[[pd.DataFrame], np.ndarray]] | None = None,
    asked: pd.DataFrame = DESIGN,
) -> pd.DataFrame:
    """A table of verdicts that are drawn directly, without prompt and reply, from a judge of this sharpness and noise.

    `pulls` adds to the lead of the first, by condition, what a function of its rows says; without it nothing pulls.
    """
    names = {name: i for i, name in enumerate(sorted(asked["question"].unique()))}
    gaps, levels = rng.normal(0, quality, len(names)), rng.normal(60, 12, len(names))
    number = asked["question"].map(names).to_numpy()
    side = asked["first"].map({"one": 1.0, "two": -1.0}).fillna(0.0).to_numpy()
    lead = side * gaps[number]
    condition = asked["condition"].to_numpy()
    lead[condition == "identical"] = 0.0
    lead[condition == "gap"] = 4.0 * np.where(asked["first"][condition == "gap"] == "good", 1, -1)
    for name, pull in (pulls or {}).items():
        lead[condition == name] += pull(asked[condition == name])
    felt = lead + noise * rng.logistic(size=len(asked))
    sign = np.where(np.abs(felt) < tie, 0.0, np.sign(felt))
    points = np.clip(np.round(levels[number] + 6 * noise * rng.normal(size=len(asked))), 0, 100)
    scored = condition == "anchor"
    table = asked.assign(outcome="ok", sign=np.where(scored, np.nan, sign), points=np.where(scored, points, np.nan))
    return frames.recoded(table.assign(model="m"))[list(measuring.COLUMNS)]
