"""Samples of bias tests as models would meet them: the texts of tests, and their orders of options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from helpers.biases.cognitive.design import shown_order
from helpers.calibrate.worlds.decision_frames import OPTIONS, Sample, frame
from helpers.types import Question, Version, Wording

EXPERIMENT = "cognitive_biases"
#: What only a treatment says.
MARK = {"scale": ", underlined twice", "acceptance": ", and the stake can be lost"}
SIDES = {1.0: "for", -1.0: "against"}
#: The task in which a decision is asked for.
DECISION = "decision"


@dataclass(frozen=True)
class Told:
    """One sample of each bias of a world; `seed` is that of the experiment, from which orders of options follow."""

    parts: tuple[Sample, ...]
    seed: int


def question_id(category: str, scenario: int) -> str:
    """The id of a scenario."""
    return f"{category}_{scenario}"


@lru_cache(maxsize=2048)
def orders(seed: int, options: int, category: str, scenarios: int, wordings: int, turns: int, task: str) -> np.ndarray:
    """(turns, scenarios, wordings) the order in which options are shown, as text.

    Drawn as the experiment draws it, which takes its time: the same few seeds serve all replications.
    """
    lot, shape = f"{seed}:option_order:{category}:{task}", (turns, scenarios, wordings)
    found = np.empty(shape, dtype=object)
    for turn, scenario, wording in np.ndindex(shape):
        order, _ = shown_order("shuffled", options, scenario, wording, turn, lot)
        found[turn, scenario, wording] = " ".join(map(str, order))
    return found


def shown(sample: Sample, seed: int, task: str = "test") -> np.ndarray:
    """(2, R, n) the order in which all models see the options of each test, by condition and repeat."""
    repeats, scenarios, wordings = sample.lot.shape[2], int(sample.scenario.max()) + 1, int(sample.wording.max()) + 1
    numbers = {"scale": OPTIONS, "acceptance": 2}.get(sample.kind, 2 if task != "test" else 2 * sample.shown[0])
    # Selections with as many arguments are counted by themselves, as the experiment counts scenarios.
    listed = sample.shown[0] if sample.kind == "selection" else np.zeros(len(sample.scenario))
    numbers, found = (
        np.broadcast_to(numbers, listed.shape).astype(int),
        np.empty((repeats + 1, len(listed)), dtype=object),
    )
    for each in np.unique(listed):
        here = listed == each
        _, place = np.unique(sample.scenario[here], return_inverse=True)
        known = orders(seed, int(numbers[here][0]), sample.category, scenarios, wordings, repeats + 1, task)
        found[:, here] = known[:, place, sample.wording[here]]
    return np.stack([found[:-1], found[1:]])


def first_shown(sample: Sample, seed: int) -> np.ndarray:
    """(2, R, n) the option of a scale that stands first."""
    orders = shown(sample, seed)
    return np.array([int(each.split(" ", 1)[0]) for each in orders.ravel()]).reshape(orders.shape)


def direct(told: Told) -> pd.DataFrame:
    """All replies as the decisions frame, without a word being said."""
    return pd.concat([_named(sample, told.seed) for sample in told.parts], ignore_index=True)


def _named(sample: Sample, seed: int) -> pd.DataFrame:
    found = frame(sample)
    scenario, wording = found["question_id"].to_numpy(), found["wording"].to_numpy()
    judges = len(sample.lot)
    order = [shown(sample, seed).ravel()] * judges
    if sample.kind == "selection":
        order = [shown(sample, seed, DECISION)[0, 0]] * judges + order
    ids = np.array([question_id(sample.category, i) for i in range(scenario.max() + 1)], dtype=object)
    names = np.array([str(i + 1) for i in range(wording.max() + 1)], dtype=object)
    return found.assign(question_id=ids[scenario], wording=names[wording], order=np.concatenate(order))


def question(sample: Sample, judge: int, scenario: int) -> Question:
    """A scenario with its wordings, as one model meets it."""
    tests = np.flatnonzero(sample.scenario == scenario)
    wordings = tuple(_wording(sample, judge, int(test)) for test in tests)
    id = question_id(sample.category, scenario)
    return Question(id, sample.category, wordings[0].versions["control"].text, wordings=wordings)


def _wording(sample: Sample, judge: int, test: int) -> Wording:
    name, told = str(sample.wording[test] + 1), float(sample.shown[judge, test])
    opening = f"Case {sample.scenario[test]} of {sample.category}, told in way {name}."
    if sample.kind == "selection":
        return Wording(name, "selection", _selecting(opening, int(told)))
    if sample.kind == "acceptance":
        said, asked = f"{told!r} times the stake can be won", "Do you take it?"
        options, values = ("decline", "accept"), (0.0, 1.0)
        target, anchor, facts = 0.0, None, {"ratio": told}
    else:
        said, asked = f"Beside it stands the figure {told!r}", "How high is it?"
        options, values = tuple(f"{i} points" for i in range(OPTIONS)), tuple(map(float, range(OPTIONS)))
        target, facts = float(np.round(told * (OPTIONS - 1))), {}
        anchor = None if sample.world.target in ("end", "low") else told * (OPTIONS - 1)
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
