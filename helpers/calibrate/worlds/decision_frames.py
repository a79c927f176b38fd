"""What models feel about bias tests, what they answer then, and these answers as the decisions frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import expit

from helpers.frames import DECISIONS

if TYPE_CHECKING:
    from helpers.calibrate.worlds.decisions import Answerer, World

#: Of a scale: as many options, from 0 to one less.
OPTIONS = 11
CONDITIONS = ("control", "treatment")


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


def on_scale(aim, honest, strength, noise, first, habit, continuous: bool = False):
    """The answer on a scale, 0 to OPTIONS - 1: the way to the aim that is gone, noise, and a habit of order."""
    felt = np.clip(honest + strength * (aim - honest) + noise, 0, 1)
    answer = np.where(habit, first, felt * (OPTIONS - 1))
    return answer if continuous else np.round(answer)


def accepted(ratio, half, added, lot, slack: float):
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
        said = on_scale(
            s.shown[wide], s.honest[wide], s.strength[:, :, None], s.noise, s.first, s.habit, s.world.continuous
        )
    elif s.kind == "acceptance":
        slack = np.array([each.slack for each in s.world.answerers])[:, None, None, None]
        said = accepted(s.shown[wide], s.honest[wide], s.strength[:, :, None], s.noise, slack)
    else:
        said = lean(s.picked[:, :, :, 0], s.picked[:, :, :, 1])
    side = np.zeros(s.shown.shape) if s.side is None else s.side
    each = zip(s.world.answerers, said, s.lot, side, strict=True)
    return said, np.stack([lost(s.kind, model, *of) for model, *of in each])


def frame(sample: Sample) -> pd.DataFrame:
    """The replies as the decisions frame; `question_id` and `wording` are whole numbers, `order` is not told."""
    said, gone = answers(sample)
    judges, _, repeats, size = said.shape
    names = np.array([each.name for each in sample.world.answerers], dtype=object)
    value = np.where(gone, np.nan, said).ravel()
    at = np.arange(size)
    columns = {
        "at": np.tile(at, said.size // size),
        "judge": np.repeat(names, said.size // judges),
        "condition": np.tile(np.repeat(np.array(CONDITIONS, dtype=object), repeats * size), judges),
        "repeat": np.tile(np.repeat(np.arange(repeats), size), judges * 2),
        "value": value,
        "outcome": np.where(gone.ravel(), "unparsed", "ok").astype(object),
    }
    treated = columns["condition"] == "treatment"
    columns |= _known(sample, columns, treated)
    columns["partner"] = np.where(treated, columns["repeat"], np.nan)
    if sample.kind == "selection":
        columns = _with_decisions(sample, columns, names)
    columns["question_id"], columns["wording"] = (each[columns["at"]] for each in (sample.scenario, sample.wording))
    fixed = {"experiment": "cognitive_biases", "source": "asked", "kind": sample.kind, "category": sample.category}
    columns |= fixed | {name: columns["judge"] for name in ("judge_vendor", "judge_model")}
    rows = len(columns["value"])
    return pd.DataFrame({name: columns.get(name, np.full(rows, np.nan)) for name in DECISIONS})


def _known(sample: Sample, columns: dict, treated: np.ndarray) -> dict[str, object]:
    """What the frame tells of each reply's test."""
    shape = sample.lot.shape
    shown = np.broadcast_to(sample.shown[:, None, None], shape).ravel()
    if sample.kind == "selection":
        # Who selected nothing can be read all the same.
        readable = columns["outcome"] == "ok"
        picked = [np.where(readable, sample.picked[:, :, :, i].ravel(), np.nan) for i in (0, 1)]
        side = np.broadcast_to(sample.side[:, None, None], shape).ravel()
        listed = shown.astype(int)
        printed = {n: " ".join(["1 -1"] * n) for n in np.unique(listed)}
        return {
            "target": np.where(treated, side, np.nan),
            "pro": picked[0],
            "con": picked[1],
            "options": 2.0 * listed,
            "low": -1.0,
            "high": 1.0,
            "values": np.array([printed[n] for n in listed], dtype=object),
            "choice": np.nan,
        }
    if sample.kind == "acceptance":
        return {
            "target": 0.0,
            "ratio": shown,
            "options": 2.0,
            "low": 0.0,
            "high": 1.0,
            "values": "0 1",
            "choice": columns["value"],
        }
    end = sample.world.target in ("end", "low")
    return {
        "target": np.round(shown * (OPTIONS - 1)),
        "anchor": np.nan if end else shown * (OPTIONS - 1),
        "options": float(OPTIONS),
        "low": 0.0,
        "high": OPTIONS - 1.0,
        "values": " ".join(map(str, range(OPTIONS))),
        "choice": columns["value"],
    }


def _with_decisions(sample: Sample, columns: dict, names: np.ndarray) -> dict:
    """The selections, and before them the decisions."""
    judges, size = sample.side.shape
    side = sample.side.ravel()
    decided = {
        "at": np.tile(np.arange(size), judges),
        "judge": np.repeat(names, size),
        "condition": np.full(side.size, "decision", dtype=object),
        "repeat": np.zeros(side.size, dtype=int),
        "value": side,
        "choice": (side > 0).astype(float),
        "outcome": np.full(side.size, "ok", dtype=object),
        "options": np.full(side.size, 2.0),
        "values": np.full(side.size, "-1 1", dtype=object),
        "low": np.full(side.size, -1.0),
        "high": np.full(side.size, 1.0),
    }
    found = {}
    for name, later in columns.items():
        later = later if isinstance(later, np.ndarray) else np.full(columns["value"].size, later)
        found[name] = np.concatenate([decided.get(name, np.full(side.size, np.nan)), later])
    return found
