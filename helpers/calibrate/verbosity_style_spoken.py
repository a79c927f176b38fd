"""Experiment 6 the long way round: every verdict is read from a reply to the prompt that the experiment itself writes.

The judge sees two texts and says what the sample holds for them: which question and which pair they are is read from
the prompt. Every other judge replies in JSON, the rest in the text form.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pandas as pd

from helpers import verdicts
from helpers.biases.verbosity.asking import compared, trials
from helpers.biases.verbosity.tidying import tidy
from helpers.config import load_experiment
from helpers.types import Completion, Experiment, Model, Question, Trial

if TYPE_CHECKING:
    from helpers.calibrate.verbosity_style import Made

#: Questions that samples are drawn from, and how often wordings and their control are asked in each order.
POOL, REPEATS = 1200, 2
CATEGORIES = ("reasoning", "math", "coding", "stem", "humanities")
#: In the place of a sign: a verdict that cannot be read, and one that was not asked for.
LOST, NEVER = 8, 9
SHOWN = re.compile(r"<<<ANSWER ([AB]) (\w+)>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
VERDICTS = {1: "A>B", 0: "A=B", -1: "B>A"}
UNREAD = ("", "Both have their merits.", "VERDICT-beef: A>B", '{"id": "beef", "justification": "", "verdict": "A>B"}')


@cache
def questions() -> tuple[Question, ...]:
    """Made-up questions with four to six answer points of different lengths."""
    found = []
    for number in range(POOL):
        rng = random.Random(f"points:{number}")
        points = tuple(
            f"Point {j} on matter {number} is that {' '.join(['so'] * rng.randint(8, 26))}."
            for j in range(4 + number % 3)
        )
        category = CATEGORIES[number % len(CATEGORIES)]
        found.append(Question(f"matter_{number:04d}", category, f"What of matter {number}?", points, place=number))
    return tuple(found)


@cache
def experiment(names: tuple[str, ...] = ()) -> Experiment:
    """The experiment as it is by default, with judges of these names."""
    judges = tuple(Model(name, "simulated", name, name, structured=bool(i % 2)) for i, name in enumerate(names))
    return replace(load_experiment("verbosity_style"), judges=judges, repeats=REPEATS)


def spoken(made: Made) -> pd.DataFrame:
    """The frame of a sample through prompts, replies and parser."""
    run = experiment(tuple(made.said))
    asked = [questions()[place] for place in made.asked]
    # Which texts are which pair, whoever stands first.
    known = {
        (pair.tried, pair.other): (row, column)
        for row, question in enumerate(asked)
        for column, pair in enumerate(compared(run, question))
    }
    found = []
    for trial in trials("judging", run, asked, {}):
        said = _verdict(trial, made, known)
        reply = Completion(trial.request.key, "ok", said, "stop", model=trial.judge.model_id)
        found.append(verdicts.read(trial, reply))
    return tidy(found, {})


def _verdict(trial: Trial, made: Made, known: dict[tuple[str, str], tuple[int, int]]) -> str:
    """What a judge says of the two texts in its prompt."""
    (one, nonce, first), (two, _, second) = SHOWN.findall(trial.request.prompt)
    tried_first = (first, second) in known
    row, column = known[(first, second) if tried_first else (second, first)]
    if (one, two) != ("A", "B") or f"matter {made.asked[row]}?" not in trial.request.prompt:
        raise ValueError(f"the prompt on matter {made.asked[row]} shows {one} and {two}, or asks for another matter")
    sign = int(made.said[trial.judge.name][row, column, 0 if tried_first else 1, trial.request.repeat])
    if sign == NEVER:
        raise ValueError(f"{trial.question_id}, pair {column}: asked more often than the sample has it")
    if sign == LOST:
        return UNREAD[(row + column) % len(UNREAD)]
    stated, reason = VERDICTS[sign if tried_first else -sign], f"First: VERDICT-{nonce} comes last."
    if trial.request.schema is not None:
        return json.dumps({"id": nonce, "justification": reason, "verdict": stated})
    return f"{reason}\n\nVERDICT-{nonce}: {stated}"
