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
#: What the experiment adds to the name of a wording whose decision is asked for.
DECISION = " decision"


@dataclass(frozen=True)
class Told:
    """One sample of each bias of a world; `seed` is that of the experiment, from which orders of options follow."""

    parts: tuple[Sample, ...]
    seed: int


def question_id(category: str, scenario: int) -> str:
    """The id of a scenario."""
    return f"{category}_{scenario}"


@lru_cache(maxsize=2048)
def orders(seed: int, options: int, category: str, judge: str, scenarios: int, wordings: int, more: str) -> np.ndarray:
    """(n,) the order in which each test's options are shown to a model, as text; `more` is of the task's name.

    Drawn as the experiment draws it, which takes its time: the same few seeds serve all replications.
    """
    lots = [
        f"{seed}:option_order {wording + 1}{more}:{question_id(category, scenario)}:{judge}"
        for scenario in range(scenarios)
        for wording in range(wordings)
    ]
    return np.array([" ".join(map(str, shown_order("shuffled", options, lot))) for lot in lots], dtype=object)


def shown(sample: Sample, judge: int, seed: int, more: str = "") -> np.ndarray:
    """(n,) the order in which a model sees the options of each test."""
    at = (sample.category, sample.world.answerers[judge].name, *(int(each.max()) + 1 for each in _places(sample)), more)
    if sample.kind == "scale":
        return orders(seed, OPTIONS, *at)
    if sample.kind == "acceptance" or more:
        return orders(seed, 2, *at)
    found = np.empty(len(sample.scenario), dtype=object)
    listed = sample.shown[judge].astype(int)
    for number in np.unique(listed).tolist():
        found[listed == number] = orders(seed, 2 * number, *at)[listed == number]
    return found


def _places(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    return sample.scenario, sample.wording


def first_shown(sample: Sample, seed: int) -> np.ndarray:
    """(J, n) the option of a scale that stands first."""
    judges = range(len(sample.world.answerers))
    return np.array([[int(each.split(" ", 1)[0]) for each in shown(sample, judge, seed)] for judge in judges])


def direct(told: Told) -> pd.DataFrame:
    """All replies as the decisions frame, without a word being said."""
    return pd.concat([_named(sample, told.seed) for sample in told.parts], ignore_index=True)


def _named(sample: Sample, seed: int) -> pd.DataFrame:
    found = frame(sample)
    scenario, wording = found["question_id"].to_numpy(), found["wording"].to_numpy()
    judges, conditions, repeats, _ = sample.lot.shape
    order = [np.tile(shown(sample, judge, seed), conditions * repeats) for judge in range(judges)]
    if sample.kind == "selection":
        order = [*(shown(sample, judge, seed, DECISION) for judge in range(judges)), *order]
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
        anchor = None if sample.world.target == "end" else told * (OPTIONS - 1)
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
