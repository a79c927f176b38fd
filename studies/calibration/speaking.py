"""The long way round: verdicts that are read from replies to the prompts that the experiments themselves write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from helpers import verdicts
from helpers.types import Completion, Experiment, Judgment, Model, Question, Trial
from studies.calibration.cases import Case, chance

#: Replies on two texts in which no verdict can be read.
UNREAD = ("", "Both have their merits.", "VERDICT-beef: A>B", '{"id": "beef", "justification": "", "verdict": "A>B"}')
#: What a judgment was asked about, in every kind of frame; columns that a frame has not are left out.
ASKED = (
    *("question_id", "article", "category", "wording", "kind", "task", "judge", "judge_vendor", "candidate"),
    *("candidate_vendor", "baseline", "condition", "edit", "target", "dose", "repeat", "partner", "slot", "label"),
    *("named", "first", "order", "right", "wrong", "right_label", "wrong_label", "own", "own_vendor", "own_model"),
)
#: What it said.
SAID = ("rank", "top", "verdict", "games", "picked", "choice", "value", "pro", "con")


def differences(direct: pd.DataFrame, spoken: pd.DataFrame) -> list[str]:
    """Verdicts that two frames do not share, each in one line; empty where they are equal verdict for verdict.

    Compared are the columns of ASKED and SAID that both frames have, and whether the outcome is ok; what a verdict
    that was not read would have been counts nowhere. Frames without a column of SAID in common are a ValueError.
    """
    shared = [name for name in (*ASKED, *SAID) if name in direct and name in spoken]
    if not set(SAID) & set(shared):
        raise ValueError(f"nothing to compare: no column of {', '.join(SAID)} is in both frames")
    rows = [Counter(_rows(frame, shared)) for frame in (direct, spoken)]
    names = [*shared, "ok"]
    return [
        f"{source} only: " + ", ".join(f"{name} {value}" for name, value in zip(names, row, strict=True))
        for source, row in (
            *(("direct", row) for row in (rows[0] - rows[1]).elements()),
            *(("spoken", row) for row in (rows[1] - rows[0]).elements()),
        )
    ]


def _rows(frame: pd.DataFrame, names: Sequence[str]) -> list[tuple]:
    columns = [[_plain(value) for value in frame[name]] for name in names]
    return list(zip(*columns, (frame["outcome"] == "ok").tolist(), strict=True))


def _plain(value: Any) -> object:
    """A cell as both ways of making a frame would write it."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    return float(f"{float(value):.9g}") if not hasattr(value, "__len__") else str(value)


def check(case: Case, questions: int, replications: int = 1) -> None:
    """Let the first replications of a case speak: each must equal, verdict for verdict, the direct draw that it is of.

    What does not agree is a ValueError with the first differences.
    """
    for number in range(replications):
        sample = case.draw(questions, chance(case, questions, number))
        found = differences(case.frame(sample), case.spoken(sample))
        if found:
            at = f"{case.experiment}, world {case.world}, {questions} questions, replication {number}"
            raise ValueError(f"{at}: {len(found)} verdicts of the two paths differ:\n" + "\n".join(found[:4]))


def models(names: Sequence[str]) -> tuple[Model, ...]:
    """Simulated models of these names; every other one replies in JSON, the rest in the text form."""
    return tuple(Model(name, "simulated", name, name, structured=bool(i % 2)) for i, name in enumerate(names))


#: What a model writes to the prompt of a trial: a text, or a text and how it ended.
Reply = Callable[[Trial], str | tuple[str, str]]


def judged(asked: Iterable[Trial], reply: Reply) -> list[Judgment]:
    """What is read from the replies to trials, which may share a request."""
    found = []
    for trial in asked:
        words = reply(trial)
        text, finish = (words, "stop") if isinstance(words, str) else words
        done = Completion(trial.request.key, "ok", text, finish, model=trial.judge.model_id)
        found.append(verdicts.read(trial, done))
    return found


def converse(
    experiment: Experiment,
    trials: Callable[..., list[Trial]],
    questions: Sequence[Question],
    replies: Mapping[str, Reply],
) -> tuple[list[Judgment], dict[str, Judgment]]:
    """The judgments of an experiment's last stage, and all replies by key, where models reply by stage as given."""
    found: dict[str, Judgment] = {}
    for stage, reply in replies.items():
        asked = trials(stage, experiment, questions, found)
        found |= {each.trial.request.key: each for each in judged(asked, reply)}
    return [replace(found[trial.request.key], trial=trial) for trial in asked], found
