"""The long way round: verdicts that are read from replies to the prompts that the experiments themselves write."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import pandas as pd

from helpers import verdicts
from helpers.types import Completion, Judgment, Model, Request, Trial
from studies.calibration.cases import Case, chance

#: Two texts in a prompt: label, nonce, text.
SHOWN = re.compile(r"<<<ANSWER ([AB]) (\w+)>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
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


def _plain(value: object) -> object:
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


def judged(asked: Iterable[Trial], reply: Callable[[Trial], str | tuple[str, str]]) -> list[Judgment]:
    """What is read from `reply(trial)`, a text or a text and how it ended; trials may share a request."""
    found = []
    for trial in asked:
        said = reply(trial)
        text, finish = (said, "stop") if isinstance(said, str) else said
        done = Completion(trial.request.key, "ok", text, finish, model=trial.judge.model_id)
        found.append(verdicts.read(trial, done))
    return found


def read(asked: Iterable[Trial], reply: Callable[[Trial], str | tuple[str, str]]) -> dict[str, Judgment]:
    """As `judged`, by the key of the request."""
    return {each.trial.request.key: each for each in judged(asked, reply)}


def stated(request: Request, nonce: str, reason: str, verdict: str) -> str:
    """A reply that states a verdict after a reason, in the form that the request asks for."""
    if request.schema is not None:
        return json.dumps({"id": nonce, "justification": reason, "verdict": verdict})
    return f"{reason}\n\nVERDICT-{nonce}: {verdict}"
