"""Experiment 6 on simulated judges: likings of wordings and of length planted in judges that are unequal otherwise.

Questions are drawn from a pool of POOL, whose texts are made by the rules and phrases of the experiment itself, so
that their lengths are what they are there. Of two texts a judge feels for the tried one

    likes_b + wobble z_qb + (length + bend) w + taste z_qt - sharpness gap_q [poorer content] +- place + noise logistic,

with w how many times longer it is, in doublings (`bend` instead: once for any difference at all); z are standard
normal, of a question and wording, of a question and pair of texts. Beyond `tie` it wins, below -tie it loses.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.special import expit

from helpers.biases.protocol import load_bias
from helpers.biases.verbosity import measured
from helpers.biases.verbosity.asked import (
    BIASES,
    CONTENT,
    CONTROLLED,
    LENGTH,
    OTHER,
    PLAIN,
    REWORDED,
    REWORDING,
    STYLE,
    TRIED,
    compared,
)
from helpers.biases.verbosity.measured import FRAME, pairs, tidy
from helpers.config import load_experiment
from helpers.providers import simulated
from helpers.types import Estimate, Experiment, Question, Trial
from studies.calibration import speaking
from studies.calibration.cases import Case, Target, load_worlds

NAME, DATA = "verbosity_style", "simulated"
#: Questions that samples are drawn from, and how often wordings and their control are asked in each order.
POOL, REPEATS = 1200, 2
CATEGORIES = ("reasoning", "math", "coding", "stem", "humanities")
#: In the place of a sign: a verdict that cannot be read, and one that was not asked for.
LOST, NEVER = 8, 9
#: How much poorer an answer without two of its sentences is, and how much that differs by question.
GAP, GAP_SPREAD = 1.0, 0.5
#: Nodes of a normal distribution for truths.
NODES = np.polynomial.hermite_e.hermegauss(60)
#: What verdicts say: the text shown first loses, ties, wins.
LABELS = ["B>A", "A=B", "A>B"]


@dataclass(frozen=True)
class Judge:
    """One judge; see the module. `lost`: the share of verdicts that cannot be read, whatever they say."""

    name: str
    likes: tuple[tuple[str, float], ...] = ()
    length: float = 0.0
    bend: float = 0.0
    wobble: float = 0.4
    taste: float = 0.3
    sharpness: float = 1.0
    noise: float = 1.0
    place: float = 0.0
    tie: float = 0.4
    lost: float = 0.0

    def liking(self, bias: str) -> float:
        """What a wording is worth to it on average."""
        return dict(self.likes).get(bias, 0.0)


WORLDS = {
    name: (table["words"], tuple(Judge(judge, **fields) for judge, fields in table["judges"].items()))
    for name, table in load_worlds(__file__).items()
}


@dataclass(frozen=True)
class Made:
    """A sample: `asked` are places in the pool; `said`, an array a judge, the sign of each verdict for the tried text.

    Axes: question, pair of texts, order (tried first, other first), repeat; LOST where it cannot be read, NEVER where
    it was not asked.
    """

    asked: np.ndarray
    said: dict[str, np.ndarray]


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
    return replace(load_experiment(NAME), judges=speaking.models(names), repeats=REPEATS)


@cache
def design() -> pd.DataFrame:
    """The pairs of texts of each question of the pool: a row each, with lengths; the same pairs in the same order."""
    rows = [
        (i, question.id, question.category, pair.condition, pair.bias, pair.wording, len(pair.tried), len(pair.other))
        for i, question in enumerate(questions())
        for pair in compared(experiment(), question)
    ]
    names = ["place", "question_id", "category", "condition", "bias", "wording", "letters_tried", "letters_other"]
    return pd.DataFrame(rows, columns=names)


@cache
def _grid() -> tuple[pd.DataFrame, np.ndarray]:
    """The pairs of one question, and how many times longer the tried text is, in doublings (question, pair)."""
    table = design()
    one = table[table["place"] == 0].reset_index(drop=True)
    doublings = np.log2(table["letters_tried"] / table["letters_other"]).to_numpy().reshape(POOL, len(one))
    return one, doublings


def _liked(judge: Judge, doublings: np.ndarray) -> np.ndarray:
    """What a judge feels on average for the tried text of each pair (question, pair), its content left out."""
    one, _ = _grid()
    likes = np.array([judge.liking(bias) for bias in one["bias"]])
    return likes + judge.length * doublings + judge.bend * np.sign(doublings)


def draw(judges: tuple[Judge, ...], number: int, rng: np.random.Generator) -> Made:
    """So many questions of the pool, judged."""
    one, doublings = _grid()
    asked = rng.permutation(POOL)[:number]
    bias, _ = pd.factorize(one["bias"])
    poorer = (one["condition"] == CONTENT).to_numpy(float)
    never = np.arange(REPEATS) >= np.where(one["condition"].isin((STYLE, REWORDING)), REPEATS, 1)[:, None]
    gap = GAP + GAP_SPREAD * rng.standard_normal(number)
    verdicts = {}
    for judge in judges:
        felt = _liked(judge, doublings[asked]) - judge.sharpness * np.outer(gap, poorer)
        felt = felt + judge.wobble * rng.standard_normal((number, bias.max() + 1))[:, bias]
        felt = felt + judge.taste * rng.standard_normal(felt.shape)
        noise = judge.noise * rng.logistic(size=(*felt.shape, 2, REPEATS))
        lead = felt[:, :, None, None] + judge.place * np.array([1.0, -1.0])[:, None] + noise
        signs = np.where(np.abs(lead) < judge.tie, 0, np.sign(lead)).astype(int)
        signs[rng.random(signs.shape) < judge.lost] = LOST
        signs[:, np.broadcast_to(never[:, None, :], signs.shape[1:])] = NEVER
        verdicts[judge.name] = signs
    return Made(asked, verdicts)


def frame(made: Made) -> pd.DataFrame:
    """The frame of a sample, as the experiment's own `tidy` would have it."""
    one, _ = _grid()
    names, shape = tuple(made.said), (len(made.said), len(made.asked), len(one), 2, REPEATS)
    signs = np.stack([made.said[name] for name in names])
    judge, question, pair, order, repeat = (each[signs != NEVER] for each in np.indices(shape, dtype=np.int32))
    verdicts = signs[signs != NEVER]
    verdict = np.clip(np.where(order == 0, verdicts, -verdicts), -1, 1) + 1
    asked = _words().take(made.asked[question] * len(one) + pair).reset_index(drop=True)
    who = pd.Categorical.from_codes(judge, names)
    return asked.assign(
        experiment=pd.Categorical.from_codes(np.zeros_like(judge), [NAME]),
        judge=who,
        judge_vendor=who,
        judge_model=who,
        first=pd.Categorical.from_codes(order, [TRIED, OTHER]),
        repeat=repeat,
        verdict=pd.Categorical.from_codes(np.where(verdicts == LOST, -1, verdict), LABELS),
        outcome=pd.Categorical.from_codes((verdicts == LOST).astype(int), ["ok", "unparsed"]),
    )[list(FRAME)]


@cache
def _words() -> pd.DataFrame:
    """`design` with its words as categories."""
    return design().astype(dict.fromkeys(("question_id", "category", "condition", "bias", "wording"), "category"))


def spoken(made: Made) -> pd.DataFrame:
    """The frame of a sample through prompts, replies and parser: which texts are shown is read from the prompt."""
    run = experiment(tuple(made.said))
    asked = [questions()[place] for place in made.asked]
    # Which texts are which pair, whoever stands first.
    cells = {
        (pair.tried, pair.other): (row, column)
        for row, question in enumerate(asked)
        for column, pair in enumerate(compared(run, question))
    }
    trials, replies = load_bias("verbosity").trials, {"judging": lambda trial: _verdict(trial, made, cells)}
    judgments, _ = speaking.converse(run, trials, asked, replies)
    return tidy(judgments, {})


def _verdict(trial: Trial, made: Made, cells: dict[tuple[str, str], tuple[int, int]]) -> str:
    """What a judge says of the two texts in its prompt."""
    shown = simulated.read_prompt(trial.request.prompt)
    first, second = shown.texts
    tried_first = (first, second) in cells
    row, column = cells[(first, second) if tried_first else (second, first)]
    if shown.labels != ["A", "B"] or f"matter {made.asked[row]}?" not in shown.asked:
        raise ValueError(f"the prompt on matter {made.asked[row]} shows {shown.labels}, or asks for another matter")
    sign = int(made.said[trial.judge.name][row, column, 0 if tried_first else 1, trial.request.repeat])
    if sign == NEVER:
        raise ValueError(f"{trial.question_id}, pair {column}: asked more often than the sample has it")
    if sign == LOST:
        return speaking.UNREAD[(row + column) % len(speaking.UNREAD)]
    label, reason = LABELS[1 + (sign if tried_first else -sign)], f"First: VERDICT-{shown.nonce} comes last."
    return simulated.write_verdict(trial.request, shown.nonce, label, reason, justification=reason, verdict=label)


def measure(verdicts: pd.DataFrame, seed: int) -> list[Estimate]:
    """The headline numbers."""
    table = pairs(verdicts)
    found = [*measured.style_effect(table, DATA, seed), *measured.length_controlled(table, DATA)]
    return [*found, *measured.style_over_content(table, DATA)]


def _expected(judge: Judge) -> np.ndarray:
    """The expected score of each pair (question, pair), over what is drawn of question, taste and noise."""
    one, doublings = _grid()
    poorer = (one["condition"] == CONTENT).to_numpy(float)
    mean = _liked(judge, doublings) - judge.sharpness * GAP * poorer
    spread = np.sqrt(judge.wobble**2 + judge.taste**2 + (judge.sharpness * GAP_SPREAD * poorer) ** 2)
    found = np.zeros_like(mean)
    for node, weight in zip(*NODES, strict=True):
        for place in (judge.place, -judge.place):
            lead = mean + spread * node + place
            wins, loses = (expit((side * lead - judge.tie) / judge.noise) for side in (1, -1))
            found += weight / (2 * math.sqrt(2 * math.pi)) * (wins - loses)
    return found


@cache
def _targets(world: str) -> tuple[Target, ...]:
    one, _ = _grid()
    found = []
    for judge in WORLDS[world][1]:
        score = _expected(judge)
        at = {(c, b): score[:, i].mean() for i, (c, b) in enumerate(zip(one["condition"], one["bias"], strict=True))}
        truths = {("style_effect", bias): at[STYLE, bias] for bias in BIASES}
        truths["style_effect", REWORDED] = at[REWORDING, REWORDED]
        truths |= {("style_over_content", bias): (at[CONTENT, bias] - at[CONTENT, PLAIN]) / 2 for bias in BIASES}
        scored = design().assign(score=score.ravel())
        *level, slope = measured.fitted(scored[scored["condition"] == LENGTH], CONTROLLED)
        truths |= {("length_controlled_effect", b): e.value for b, e in zip(CONTROLLED, level, strict=True)}
        truths["length_slope", ""] = slope.value
        for (id, bias), truth in truths.items():
            where = {"judge": judge.name} | ({"bias": bias} if bias else {})
            nothing = abs(truth) < 1e-9
            found.append(Target(id, where, 0.0 if nothing else float(truth), "null" if nothing else "planted"))
            if world == "length" and id == "style_effect":
                # Taken for a liking of the wording, of which there is none.
                found.append(Target(id, where, 0.0, "failure"))
    return tuple(found)


CASES = tuple(
    Case(NAME, name, words, partial(draw, judges), frame, spoken, measure, partial(_targets, name))
    for name, (words, judges) in WORLDS.items()
)
