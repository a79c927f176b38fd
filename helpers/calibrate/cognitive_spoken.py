"""The long way round of experiment 5: prompts are rendered, models that read them write replies, and these are parsed.

A model knows what it feels about a case, and looks it up by what the prompt says: case, wording, the figure or ratio,
whether the treatment's words stand there, the side that it is said to have decided for, and which letter is which
option. Whatever the prompt gets wrong changes its reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from helpers import verdicts
from helpers.biases.cognitive.asking import STAGES, trials
from helpers.calibrate.cognitive_told import EXPERIMENT, MARK, Told, question
from helpers.calibrate.worlds.decision_frames import OPTIONS, Sample, accepted, lost
from helpers.config import load_experiment
from helpers.frames import decisions as tidy
from helpers.types import SITUATION, Completion, Experiment, Judgment, Model, Request, Trial

CASE = re.compile(r"Case (\d+) of (\w+), told in way (\d+)\.")
NUMBER = re.compile(r"the figure ([0-9.e+-]+?)(?:,|\. )|([0-9.e+-]+) times the stake")
DECIDED = re.compile(r"You decided (for|against) it\.")
OPTION = re.compile(r"^([A-Z])\) (.+)$", re.MULTILINE)


def spoken(told: Told) -> pd.DataFrame:
    """The replies of all models as the decisions frame, through prompt, reply and parser."""
    judgments: list[Judgment] = []
    for sample in told.parts:
        for judge in range(len(sample.world.answerers)):
            judgments += _judged(sample, judge, told.seed)
    return tidy(judgments)


@cache
def _settled() -> Experiment:
    return load_experiment(EXPERIMENT)


def _judged(sample: Sample, judge: int, seed: int) -> list[Judgment]:
    name = sample.world.answerers[judge].name
    # Every other model replies in JSON.
    model = Model(name, "openai", name, name, structured=judge % 2 == 0)
    experiment = replace(_settled(), judges=(model,), repeats=sample.lot.shape[2], seed=seed)
    questions = [question(sample, judge, scenario) for scenario in np.unique(sample.scenario).tolist()]
    said: dict[str, Judgment] = {}
    for stage in STAGES:
        asked = trials(stage, experiment, questions, said)
        said |= {trial.request.key: _read(sample, judge, trial) for trial in asked}
    return [said[trial.request.key] for trial in asked]


def _read(sample: Sample, judge: int, trial: Trial) -> Judgment:
    text, finish = reply(sample, judge, trial.request)
    completion = Completion(trial.request.key, "ok", text, finish, model=trial.judge.model_id)
    return verdicts.read(trial, completion)


def reply(sample: Sample, judge: int, request: Request) -> tuple[str, str]:
    """What a model writes to a prompt, and how the reply ends."""
    head = SITUATION.match(request.prompt)
    nonce, text = head[1], head[2]
    options = OPTION.findall(request.prompt, head.end())
    case = CASE.match(text)
    if case[2] != sample.category:
        raise ValueError(f"a prompt about {case[2]} where {sample.category} is asked: {text!r}")
    (test,) = np.flatnonzero((sample.scenario == int(case[1])) & (sample.wording == int(case[3]) - 1))
    if "Are you for it?" in text:
        wanted = "for" if sample.side[judge, test] > 0 else "against"
        return _written(request, nonce, [label for label, said in options if said == wanted], False), "stop"
    told = DECIDED.search(text)
    treated = bool(told) if sample.kind == "selection" else MARK[sample.kind] in text
    at = (judge, int(treated), request.repeat)
    if sample.kind == "selection":
        picked, value = _selected(sample, at, test, options, told)
    else:
        picked, value = _chosen(sample, at, test, options, text)
    side = 0.0 if sample.side is None else sample.side[judge, test]
    if lost(sample.kind, sample.world.answerers[judge], value, sample.lot[*at, test], side):
        return _unreadable(request, nonce, sample.kind == "selection", [label for label, _ in options], test)
    return _written(request, nonce, picked, sample.kind == "selection"), "stop"


def _chosen(sample: Sample, at: tuple, test: int, options: Sequence, text: str) -> tuple[list[str], float]:
    """The label of one option, and what that counts."""
    judge, treated, _ = at
    number = next(float(each) for each in NUMBER.search(text).groups() if each)
    honest, strength = sample.honest[judge, test], sample.strength[judge, treated, test]
    if sample.kind == "acceptance":
        slack = sample.world.answerers[judge].slack
        takes = accepted(number, honest, strength, sample.noise[*at, test], slack)
        return [label for label, said in options if said == ("accept" if takes else "decline")], float(takes)
    values = [float(said.split()[0]) for _, said in options]
    place = 0
    if not sample.habit[*at, test]:
        felt = min(max(honest + strength * (number - honest) + sample.noise[*at, test], 0.0), 1.0) * (OPTIONS - 1)
        place = min(range(len(values)), key=lambda i: abs(values[i] - felt))
    return [options[place][0]], values[place]


def _selected(
    sample: Sample, at: tuple, test: int, options: Sequence, told: re.Match | None
) -> tuple[list[str], float]:
    """The labels of the arguments, those with the lowest numbers, and how far they lean."""
    counts = dict(zip(("for", "against"), sample.picked[*at, :, test].astype(int), strict=True))
    decided = "for" if sample.side[at[0], test] > 0 else "against"
    if told and told[1] != decided:  # told the wrong side, it takes up what is left
        listed = len(options) // 2
        counts = {side: listed - count for side, count in counts.items()}
    picked = [label for label, said in options for _, number, side, _ in [said.split()] if int(number) <= counts[side]]
    total = sum(counts.values())
    return picked, (counts["for"] - counts["against"]) / total if total else np.nan


def _written(request: Request, nonce: str, picked: Sequence[str], several: bool) -> str:
    if request.schema is not None:
        return json.dumps({"id": nonce, **({"choices": picked} if several else {"choice": picked[0]})})
    return f"I have weighed it.\n\nVERDICT-{nonce}: {', '.join(picked) or 'none'}"


def _unreadable(request: Request, nonce: str, several: bool, labels: Sequence[str], turn: int) -> tuple[str, str]:
    """A reply without one readable decision, of several sorts."""
    sorts = [
        ("Much can be said for more than one of these.", "stop"),
        ("I would rather not decide this.", "refusal"),
        (_written(request, nonce[::-1] + "0", labels[:1], several), "stop"),
        (_written(request, nonce, labels[:1], several), "length"),
    ]
    if not several:
        sorts.append((_written(request, nonce, [" and ".join(labels[:2])], False), "stop"))
    return sorts[int(turn) % len(sorts)]
