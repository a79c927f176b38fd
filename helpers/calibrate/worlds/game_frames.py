"""Samples of the worlds of games as the experiment sees them: questions, answers of a counted style, the games frame.

Both answers of a question are of so many words, headers, list items and bold phrases; their style stands in columns
beside the games frame, one a side and kind ("candidate_length", ...).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.biases.position.pairs import LABELS
from helpers.biases.position.winrates import STYLE
from helpers.calibrate.worlds.games import BASELINE, CANDIDATE, ORDERS, GameJudge, GameWorld, chances, drawn, felt
from helpers.frames import GAMES
from helpers.types import Question

CATEGORY = "hard_prompt"
NONE, IDENTICAL = "none", "identical"
#: Questions of the ranked order whose answers are also compared with themselves, as the experiment has it by default.
CONTROL_LIMIT = 250
#: How many headers, list items and bold phrases an answer has on average.
MARKED = (1.0, 2.0, 2.0)
#: Words of an answer without list items and the like, and tokens of what marks it (see `text`).
WORDS, MARKS = 40, np.array([2, 2, 5])
SIGNED = 3
#: What a judge was asked: its name, the condition, who stood first, which asking.
Asking = tuple[str, str, str, int]
SIDES = (CANDIDATE, BASELINE)
STYLED = tuple(f"{side}_{name}" for side in SIDES for name in STYLE)


@dataclass(frozen=True)
class Games:
    """One sample: `words` and `marks` (headers, list items, bold phrases; (Q, 3)) of both answers, and all verdicts.

    A verdict is a place in LABELS, in shown terms, -1 where it was lost; those on identical texts are as many as
    questions have that arm.
    """

    words: Mapping[str, np.ndarray]
    marks: Mapping[str, np.ndarray]
    verdicts: Mapping[Asking, np.ndarray]

    @property
    def questions(self) -> int:
        """How many questions were drawn."""
        return len(self.words[CANDIDATE])


def sample(world: GameWorld, questions: int, rng: np.random.Generator, repeats: int = 2) -> Games:
    """So many questions, all judges, both orders, each `repeats` times; identical texts are asked in one order."""
    seen = felt(world, rng, questions)
    words = {side: written(seen.longer, side) for side in SIDES}
    marks = {side: rng.poisson(MARKED, (questions, 3)) for side in SIDES}
    said = {}
    for judge in world.judges:
        odds = chances(judge, seen, rng, world.shared)
        for repeat in range(repeats):
            for first in ORDERS:
                verdict = drawn(odds[first], rng)
                won = ORDERS[first] * np.sign(2 - verdict)  # by the candidate
                lost = np.select([won > 0, won < 0], [judge.lost_candidate, judge.lost_baseline], 0.0)
                said[judge.name, NONE, first, repeat] = np.where(rng.random(questions) < lost, -1, verdict)
            same = drawn(odds[IDENTICAL][:CONTROL_LIMIT], rng)
            lost = np.where(same == 2, 0.0, lost_alike(judge))
            said[judge.name, IDENTICAL, BASELINE, repeat] = np.where(rng.random(len(same)) < lost, -1, same)
    return Games(words, marks, said)


def lost_alike(judge: GameJudge) -> float:
    """How often a decisive verdict on identical texts is lost: neither answer is the candidate's alone."""
    return (judge.lost_candidate + judge.lost_baseline) / 2


def written(longer: np.ndarray, side: str) -> np.ndarray:
    """How many plain words an answer has where the candidate's is `longer` by so much."""
    return np.rint(WORDS * np.exp((1 if side == CANDIDATE else -1) * np.asarray(longer) / 4)).astype(int)


def style(words: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """The style (Q, 4) of answers with so many plain words and marks, in the order of STYLE."""
    return np.column_stack([words + marks @ MARKS + SIGNED, marks])


def text(question: int, side: str, words: int, marks: np.ndarray) -> str:
    """An answer with so many words, headers, list items and bold phrases; signed, so that a reader can name it."""
    headers, lists, bold = map(int, marks)
    lines = ["# head"] * headers + ["- item"] * lists + ["**firm**"] * bold
    return "\n".join([" ".join(["word"] * words), *lines, f"by {side} {question}"])


def question_id(number: int) -> str:
    """The id of a question by its number.

    >>> question_id(7)
    'g7'
    """
    return f"g{number}"


def questions(made: Games) -> tuple[Question, ...]:
    """The questions of a sample, in ranked order."""
    return tuple(
        Question(question_id(number), CATEGORY, f"Which is it in matter {number}?", place=number)
        for number in range(made.questions)
    )


def frame(made: Games) -> pd.DataFrame:
    """The games frame of a sample, as `frames.games` makes it of judgments, with the columns STYLED beside."""
    sizes = [len(verdict) for verdict in made.verdicts.values()]
    number = np.concatenate([np.arange(size) for size in sizes])
    verdict = np.concatenate(list(made.verdicts.values()))
    judge, condition, first, repeat = zip(*made.verdicts, strict=True)
    judges = _named(judge, sizes)
    baseline = [CANDIDATE if each == IDENTICAL else BASELINE for each in condition]
    labels = pd.Categorical.from_codes(verdict, list(LABELS))
    known = {
        "experiment": _named(["arena_hard_position_bias"], [len(number)]),
        "source": _named(["asked"], [len(number)]),
        "question_id": pd.Categorical.from_codes(number, [question_id(each) for each in range(made.questions)]),
        "category": _named([CATEGORY], [len(number)]),
        **dict.fromkeys(("judge", "judge_vendor", "judge_model"), judges),
        **dict.fromkeys(("candidate", "candidate_vendor"), _named([CANDIDATE], [len(number)])),
        "baseline": _named(baseline, sizes),
        "condition": _named(condition, sizes),
        "first": _named(first, sizes),
        "repeat": np.repeat(repeat, sizes),
        "games": 2,
        "score": labels,
        "verdict": labels,
        "outcome": pd.Categorical.from_codes((verdict < 0).astype(int), ["ok", "unparsed"]),
    }
    counted = np.hstack([style(made.words[side], made.marks[side]) for side in SIDES])[number]
    return pd.DataFrame(known)[list(GAMES)].assign(**dict(zip(STYLED, counted.T, strict=True)))


def _named(names: Sequence[str], sizes: Sequence[int]) -> pd.Categorical:
    known = sorted(set(names))
    return pd.Categorical.from_codes(np.repeat([known.index(name) for name in names], sizes), known)


def features(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The style of both answers of each question, as win rates at equal style take it, from a frame with STYLED."""
    rows = verdicts.drop_duplicates("question_id")
    parts = [
        pd.DataFrame({"question_id": rows["question_id"], "candidate": side})
        .assign(**{name: rows[f"{side}_{name}"] for name in STYLE})
        .reset_index(drop=True)
        for side in SIDES
    ]
    return pd.concat(parts, ignore_index=True)
