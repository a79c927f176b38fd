"""Experiment 3 the long way round: every verdict is read from a reply to the prompt that the experiment itself writes.

Models answer, the rule editor edits, judges judge. Whoever replies knows nothing but the prompt, its model and which
asking it is: question, options, their letters, authors and edits are read from the text, and what the sample holds for
these is said, as JSON by every other judge and in the text form by the rest.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import verdicts
from helpers.biases.self_preference.arms import CONTROL
from helpers.biases.self_preference.asking import trials
from helpers.biases.self_preference.pairs import answers
from helpers.calibrate.worlds.pair_frames import OPTION, questions
from helpers.calibrate.worlds.pairs import NAMES, Asked, Drawn
from helpers.config import load_experiment
from helpers.frames import pairwise as tidy
from helpers.providers import simulated
from helpers.run.control import controls, partnered
from helpers.types import Completion, Experiment, Judgment, Model, Request, Trial

#: What every model writes; the table of synonyms holds many of its words.
REASON = (
    "The passage shows the whole story and suggests a simple reason; it mentions a small house, clearly describes it, "
    "and often gives a careful hint that explains the matter. Signed by {}."
)
SIGNED = re.compile(r"Signed by (\w+)\.")
ASKED = re.compile(
    r"<<<QUESTION (?P<nonce>\w+)>>>\nWhat was it in matter (?P<number>\d+)\?\n(?P<options>.*?)\n<<<END", re.S
)
LETTERED = re.compile(r"^([A-J])\) (.+)$", re.MULTILINE)
THING = re.compile(OPTION.replace("{}", r"(\d+)"))
SHOWN = re.compile(r"<<<ANSWER (\d) \w+>>>\n([A-J])\. (.*?)\n<<<END \1 \w+>>>", re.DOTALL)
#: Which asking of which pair: the arm and the task, question, authors of right and wrong, judge, who stands first.
Place = tuple[tuple[str, int, int], str, int, int, int, int, str]


def spoken(made: Drawn) -> pd.DataFrame:
    """The pair frame of a sample through prompts, replies and parser."""
    experiment, asked = _experiment(), questions(made)
    numbered = {key: row for row, key in enumerate(zip(made.q.tolist(), made.r.tolist(), made.w.tolist(), strict=True))}
    said: dict[str, Judgment] = {}
    answering = trials("answers", experiment, asked, said)
    said |= _read(answering, (_answer(trial.request, made) for trial in answering))
    editing = trials("editing", experiment, asked, said)
    said |= _read(editing, (simulated.reply(trial.request)[0] for trial in editing))
    judging = trials("judging", experiment, asked, said)
    told = {(each.arm, each.task): each for each in made.asked}
    heard = _read(judging, (_verdict(trial.request, made, told, numbered) for trial in judging))
    judgments = [replace(heard[trial.request.key], trial=trial) for trial in judging]
    serve = asyncio.run(controls(judging, CONTROL, Path(), 0.0, 0.0))
    return tidy(partnered(judgments, CONTROL, serve), answers(experiment, asked, said))


@cache
def _experiment() -> Experiment:
    run = load_experiment("quality_self_preference", doses=[2], targets=["wrong"])
    models = tuple(
        Model(name, "simulated", name, name, structured=bool(number % 2)) for number, name in enumerate(NAMES)
    )
    return replace(run, judges=models, candidates=models)


def _read(asked: Iterable[Trial], replies: Iterable[str]) -> dict[str, Judgment]:
    found = {}
    for trial, text in zip(asked, replies, strict=True):
        reply = Completion(trial.request.key, "ok", text, "stop", model=trial.judge.model_id)
        found[trial.request.key] = verdicts.read(trial, reply)
    return found


def _question(request: Request) -> tuple[str, int, dict[str, int]]:
    """The nonce, the question's number and what each letter stands for, as the prompt says."""
    found = ASKED.search(request.prompt)
    options = {}
    for letter, text in LETTERED.findall(found["options"]):
        option, about = map(int, THING.fullmatch(text).groups())
        if about != int(found["number"]):
            raise ValueError(f"an option of question {about} stands in the prompt of question {found['number']}")
        options[letter] = option
    return found["nonce"], int(found["number"]), options


def _answer(request: Request, made: Drawn) -> str:
    """What a model answers: the letter of the option that it believes in."""
    nonce, number, options = _question(request)
    name = request.model.name
    believed = made.answer[number, NAMES.index(name)]
    letter = next(letter for letter, option in options.items() if option == believed)
    if request.schema is not None:
        return json.dumps({"id": nonce, "choice": letter, "justification": REASON.format(name)})
    return f"{REASON.format(name)}\n\nVERDICT-{nonce}: {letter}"


def _verdict(request: Request, made: Drawn, told: dict[tuple[tuple[str, int, int], str], Asked], numbered: dict) -> str:
    """What a judge says of the two answers in its prompt."""
    nonce, number, options = _question(request)
    shown = {}
    for label, letter, text in SHOWN.findall(request.prompt):
        author = SIGNED.search(text)[1]
        dose = sum(a != b for a, b in zip(REASON.format(author).split(), text.split(), strict=True))
        if options[letter] != made.answer[number, NAMES.index(author)]:
            raise ValueError(f"question {number}: {author} did not answer {letter}, which stands in the prompt")
        shown["wrong" if options[letter] else "right"] = (label, NAMES.index(author), dose)
    (right, r, of_right), (wrong, w, of_wrong) = shown["right"], shown["wrong"]
    target = {(True, False): "right", (False, True): "wrong", (False, False): "none"}[of_right > 0, of_wrong > 0]
    task = "wrote" if "You wrote one of these two answers" in request.prompt else "correct"
    repeat = request.repeat if target == "none" else 0
    asked = told[(target, of_right + of_wrong, repeat), task]
    first = asked.right_first if right == "1" else asked.wrong_first
    verdict = first[numbered[number, r, w], NAMES.index(request.model.name)]
    if np.isnan(verdict):
        return "Much can be said for both of them." if repeat else json.dumps({"id": "beef", "choice": "1"})
    label = right if verdict == 1.0 else wrong
    return json.dumps({"id": nonce, "choice": label}) if request.schema is not None else f"VERDICT-{nonce}: {label}"
