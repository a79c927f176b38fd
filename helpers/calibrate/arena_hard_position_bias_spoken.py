"""Experiment 4 the long way round: every verdict is read from a reply to the prompt that the experiment itself writes.

The judge sees two texts and says what the sample holds for them: who wrote the text shown as A is read from the prompt,
as are the question and whether both texts are one. Every other judge replies in JSON, the rest in the text form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import pandas as pd

from helpers import verdicts
from helpers.biases.position.asking import answers, trials
from helpers.biases.position.pairs import LABELS
from helpers.calibrate.worlds.game_frames import (
    CONTROL_LIMIT,
    IDENTICAL,
    NONE,
    SIDES,
    STYLED,
    Games,
    questions,
    text,
)
from helpers.calibrate.worlds.games import BASELINE, CANDIDATE
from helpers.config import load_experiment
from helpers.datasets.answers import style_of
from helpers.frames import games as tidy
from helpers.types import Completion, Experiment, Judgment, Model, Request, Trial

ASKED = re.compile(r"matter (\d+)\?")
SHOWN = re.compile(r"<<<ANSWER ([AB]) (\w+)>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
SIGNED = re.compile(r"by (\w+) (\d+)\Z")
LOST = ("", "Both have their merits.", "VERDICT-beef: A>B", '{"id": "beef", "justification": "", "verdict": "A>B"}')


def spoken(made: Games) -> pd.DataFrame:
    """The games frame of a sample, with the style of its answers, through prompts, replies and parser."""
    names = tuple(dict.fromkeys(judge for judge, *_ in made.verdicts))
    repeats = 1 + max(repeat for *_, repeat in made.verdicts)
    experiment, asked = _experiment(names, repeats), questions(made)
    said: dict[str, Judgment] = {}
    answering = trials("answers", experiment, asked, said)
    said |= _read(answering, (_answer(trial.request, made) for trial in answering))
    judging = trials("judging", experiment, asked, said)
    heard = _read(judging, (_verdict(trial.request, made) for trial in judging))
    written = answers(experiment, asked, said)
    frame = tidy([replace(heard[trial.request.key], trial=trial) for trial in judging], written)
    style = {
        (id, f"{side}_{name}"): count
        for (id, side), answer in written.items()
        for name, count in zip(("length", "headers", "lists", "bold"), style_of(answer.text).values(), strict=True)
    }
    return frame.assign(**{name: [style[id, name] for id in frame["question_id"]] for name in STYLED})


@cache
def _experiment(names: tuple[str, ...], repeats: int) -> Experiment:
    run = load_experiment("arena_hard_position_bias", controls=[IDENTICAL], control_limit=CONTROL_LIMIT)
    models = {name: Model(name, "simulated", name, name) for name in SIDES}
    judges = tuple(
        Model(name, "simulated", name, name, structured=bool(number % 2)) for number, name in enumerate(names)
    )
    return replace(
        run,
        judges=judges,
        candidates=(models[CANDIDATE],),
        baselines={"other": models[BASELINE]},
        repeats=repeats,
    )


def _read(asked: Iterable[Trial], replies: Iterable[str]) -> dict[str, Judgment]:
    found = {}
    for trial, said in zip(asked, replies, strict=True):
        reply = Completion(trial.request.key, "ok", said, "stop", model=trial.judge.model_id)
        found[trial.request.key] = verdicts.read(trial, reply)
    return found


def _answer(request: Request, made: Games) -> str:
    number, side = int(ASKED.search(request.prompt)[1]), request.model.name
    return text(number, side, made.words[side][number], made.marks[side][number])


def _verdict(request: Request, made: Games) -> str:
    """What a judge says of the two texts in its prompt."""
    (one, nonce, first), (two, _, second) = SHOWN.findall(request.prompt)
    number = int(ASKED.search(request.prompt)[1])
    sides = [SIGNED.search(each) for each in (first, second)]
    if (one, two) != ("A", "B") or {side[2] for side in sides} != {str(number)}:
        raise ValueError(f"the prompt of question {number} shows {one} and {two}, of {sides[0][2]} and {sides[1][2]}")
    # Identical texts have no order; they stand with those that show the baseline first.
    condition, stands = (IDENTICAL, BASELINE) if first == second else (NONE, sides[0][1])
    verdict = made.verdicts[request.model.name, condition, stands, request.repeat][number]
    if verdict < 0:
        return LOST[(number + request.repeat) % len(LOST)]
    reason = f"My own solution first.\n\nThen: VERDICT-{nonce} comes last."
    if request.schema is not None:
        return json.dumps({"id": nonce, "justification": reason, "verdict": LABELS[verdict]})
    return f"{reason}\n\nVERDICT-{nonce}: {LABELS[verdict]}"
