"""Samples of bias tests as models would meet them: the texts of tests, and their orders of options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import pandas as pd

from helpers.biases.cognitive.design import shown_order
from helpers.calibrate.worlds.decision_frames import OPTIONS, Sample, frame
from helpers.types import Question, Version, Wording

EXPERIMENT = "cognitive_biases"
#: What only a treatment says.
MARK = {"scale": ", underlined twice", "acceptance": ", and the stake can be lost"}
SIDES = {1.0: "for", -1.0: "against"}


@dataclass(frozen=True)
class Told:
    """One sample of each bias of a world; `seed` is that of the experiment, from which orders of options follow."""

    parts: tuple[Sample, ...]
    seed: int


def question_id(sample: Sample, scenario: int) -> str:
    """The id of a scenario."""
    return f"{sample.category}_{scenario}"


@lru_cache(maxsize=600_000)
def order(seed: int, options: int, task: str, question: str, judge: str) -> tuple[int, ...]:
    """The order in which a wording's options are shown to a model, as the experiment draws it."""
    return tuple(shown_order("shuffled", options, f"{seed}:option_order {task}:{question}:{judge}"))


@cache
def _printed(shown: tuple[int, ...]) -> str:
    return " ".join(map(str, shown))


def orders(sample: Sample, seed: int, decision: bool = False) -> list[list[tuple[int, ...]]]:
    """The order of each model (J) and test (n)."""
    if sample.kind == "scale":
        number = np.full(len(sample.scenario), OPTIONS)
    elif sample.kind == "acceptance" or decision:
        number = np.full(len(sample.scenario), 2)
    else:
        number = 2 * sample.shown[0].astype(int)
    suffix = " decision" if decision else ""
    tests = [
        (n, f"{wording + 1}{suffix}", question_id(sample, scenario))
        for n, wording, scenario in zip(number.tolist(), sample.wording.tolist(), sample.scenario.tolist(), strict=True)
    ]
    return [[order(seed, *test, each.name) for test in tests] for each in sample.world.answerers]


def first_shown(sample: Sample, seed: int) -> np.ndarray:
    """(J, n) the option of a scale that stands first."""
    return np.array([[shown[0] for shown in each] for each in orders(sample, seed)])


def direct(told: Told) -> pd.DataFrame:
    """All replies as the decisions frame, without a word being said."""
    return pd.concat([_named(sample, told.seed) for sample in told.parts], ignore_index=True)


def _named(sample: Sample, seed: int) -> pd.DataFrame:
    found = frame(sample)
    scenario, wording = found["question_id"].to_numpy(), found["wording"].to_numpy()
    ids = np.array([question_id(sample, i) for i in range(sample.scenario.max() + 1)], dtype=object)
    judges, size = sample.shown.shape
    shown = np.array([[_printed(each) for each in one] for one in orders(sample, seed)], dtype=object)
    told = np.repeat(shown, sample.lot.shape[1] * sample.lot.shape[2], axis=0).ravel()
    if sample.kind == "selection":
        decided = np.array([[_printed(each) for each in one] for one in orders(sample, seed, True)], dtype=object)
        told = np.concatenate([decided.ravel(), told])
    return found.assign(question_id=ids[scenario], wording=(wording + 1).astype(str), order=told)


def question(sample: Sample, judge: int, scenario: int) -> Question:
    """A scenario with its wordings, as one model meets it."""
    tests = np.flatnonzero(sample.scenario == scenario)
    wordings = tuple(_wording(sample, judge, int(test)) for test in tests)
    id = question_id(sample, scenario)
    return Question(id, sample.category, wordings[0].versions["control"].text, wordings=wordings)


def _wording(sample: Sample, judge: int, test: int) -> Wording:
    name, shown = str(sample.wording[test] + 1), float(sample.shown[judge, test])
    opening = f"Case {sample.scenario[test]} of {sample.category}, told in way {name}."
    if sample.kind == "selection":
        return Wording(name, "selection", _selecting(opening, int(shown)))
    if sample.kind == "acceptance":
        said, asked = f"{shown!r} times the stake can be won", "Do you take it?"
        options, values = ("decline", "accept"), (0.0, 1.0)
        target, anchor, facts = 0.0, None, {"ratio": shown}
    else:
        said, asked = f"Beside it stands the figure {shown!r}", "How high is it?"
        options, values = tuple(f"{i} points" for i in range(OPTIONS)), tuple(map(float, range(OPTIONS)))
        target, facts = float(np.round(shown * (OPTIONS - 1))), {}
        anchor = None if sample.world.target == "end" else shown * (OPTIONS - 1)
    versions = {
        condition: Version(f"{opening} {said}{mark}. {asked}", options, values)
        for condition, mark in (("control", ""), ("treatment", MARK[sample.kind]))
    }
    return Wording(name, sample.kind, versions, target, anchor, facts)


def _selecting(opening: str, listed: int) -> dict[str, Version]:
    arguments = {f"argument {i} {side} it": v for i in range(1, listed + 1) for v, side in SIDES.items()}
    asked, texts, values = "Which arguments do you take up?", tuple(arguments), tuple(arguments.values())
    found = {
        "decision": Version(f"{opening} Are you for it?", ("against", "for"), (-1.0, 1.0)),
        "control": Version(f"{opening} {asked}", texts, values),
    }
    return found | {
        f"treatment_{side}": Version(f"{opening} You decided {side} it. {asked}", texts, values)
        for side in SIDES.values()
    }
