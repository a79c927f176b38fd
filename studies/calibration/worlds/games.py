"""Worlds of games with planted truth: judges compare a candidate with a baseline, in both orders, again and again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri
from scipy.stats import poisson, qmc

from helpers.biases.position.both_orders import LABELS
from helpers.biases.position.measured import STYLE
from helpers.frames import GAMES
from helpers.types import Question

CANDIDATE, BASELINE = "candidate", "baseline"
#: Who stands first, and what that does to the sign of the candidate's lead.
ORDERS = {BASELINE: -1.0, CANDIDATE: 1.0}
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
#: Scrambled nets of so many questions (a power of 2); how much they differ tells the error of the whole.
NETS, NET = 4, 2**12
#: A number and its Monte-Carlo standard error.
Known = tuple[float, float]
#: By verdict in shown terms, from much better first to much better second: what the first won, and which are strong.
WON, STRONG = np.array([1.0, 1.0, 0.5, 0.0, 0.0]), np.array([True, False, False, False, True])
#: What near-duplicates leave of a lead.
ALIKE = 0.05


@dataclass(frozen=True)
class GameJudge:
    """How one judge judges: in favour of the first shown it feels

        +-(sharpness * lead_q + taste_q + length_bias * longer_q) + primacy + letter + wobble_q + noise * logistic,

    the sign + where the candidate stands first; lead_q is what everybody sees of question q, taste_q (sd `taste`) the
    judge's own, longer_q how much longer the candidate's answer is. `wobble_q` (sd `wobble`) is a habit of place that
    differs by question and is 0 on average. Beyond `strong` either way the verdict is a strong one, within `tie` a tie.
    `primacy` (the place) and `letter` (the label A) differ in cause alone: no arm here tells them apart. On identical
    texts only they and `wobble_q` are left. `lost_candidate`, `lost_baseline`: the share of verdicts for either that
    cannot be read.
    """

    name: str
    sharpness: float = 1.0
    taste: float = 0.3
    noise: float = 1.0
    primacy: float = 0.0
    letter: float = 0.0
    wobble: float = 0.0
    tie: float = 0.4
    strong: float = 1.5
    length_bias: float = 0.0
    lost_candidate: float = 0.0
    lost_baseline: float = 0.0


@dataclass(frozen=True)
class GameWorld:
    """Judges, how far the candidate leads on average and from question to question, how much longer it writes.

    `shared` is the share of their tastes' variance that judges have in common. On the share `twins` of the questions
    the two answers are near-duplicates: of what is felt about them ALIKE is left.
    """

    judges: tuple[GameJudge, ...]
    lead: float = 0.2
    spread: float = 1.0
    shared: float = 0.0
    twins: float = 0.0
    longer: float = 0.0


@dataclass(frozen=True)
class Felt:
    """What each question is like: (Q,) what all see and how much longer the candidate's answer is.

    `shared` is the part of their tastes that judges have in common, `near` what is left of all that is felt.
    """

    lead: np.ndarray
    longer: np.ndarray
    shared: np.ndarray | float = 0.0
    near: np.ndarray | float = 1.0


def felt(world: GameWorld, rng: np.random.Generator, questions: int) -> Felt:
    """So many questions of the world."""
    lead = world.lead + world.spread * rng.standard_normal(questions)
    longer = world.longer + rng.standard_normal(questions)
    shared = rng.standard_normal(questions) if world.shared else 0.0
    near = np.where(rng.random(questions) < world.twins, ALIKE, 1.0) if world.twins else 1.0
    return Felt(lead, longer, math.sqrt(world.shared) * shared, near)


def chances(judge: GameJudge, seen: Felt, rng: np.random.Generator, shared: float = 0.0) -> dict[str, np.ndarray]:
    """The probability of each verdict, for each order and "identical": (Q, 5), in the order of LABELS.

    `shared` is that of the world.
    """
    size = len(seen.lead)
    taste = seen.shared + math.sqrt(1 - shared) * rng.standard_normal(size)
    return odds(judge, seen, taste, rng.standard_normal(size))


def odds(judge: GameJudge, seen: Felt, taste: np.ndarray, wobble: np.ndarray) -> dict[str, np.ndarray]:
    """The probability of each verdict, as `chances`, with tastes and wobbles of standard deviation 1 given."""
    mine = (judge.sharpness * seen.lead + judge.taste * taste + judge.length_bias * seen.longer) * seen.near
    place = judge.primacy + judge.letter + judge.wobble * wobble
    feelings = {first: sign * mine + place for first, sign in ORDERS.items()} | {IDENTICAL: place}
    cuts = np.array([judge.strong, judge.tie, -judge.tie, -judge.strong])
    found = {}
    for name, feeling in feelings.items():
        above = expit((feeling[:, None] - cuts) / judge.noise)
        found[name] = np.diff(above, prepend=0.0, append=1.0, axis=1)
    return found


def drawn(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One verdict a row, as a place in LABELS."""
    return (rng.random((len(probabilities), 1)) > probabilities.cumsum(axis=1)[:, :-1]).sum(axis=1)


def _read(judge: GameJudge, first: str, verdict: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The verdicts, -1 where one cannot be read, which depends on who won."""
    won = ORDERS[first] * np.sign(2 - verdict)  # by the candidate
    lost = np.select([won > 0, won < 0], [judge.lost_candidate, judge.lost_baseline], 0.0)
    return np.where(rng.random(len(verdict)) < lost, -1, verdict)


def names(judges: Sequence[GameJudge]) -> tuple[str, ...]:
    """The judges' names."""
    return tuple(judge.name for judge in judges)


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
        return max(map(len, self.verdicts.values()))


def sample(world: GameWorld, questions: int, rng: np.random.Generator, repeats: int = 2) -> Games:
    """So many questions, all judges, both orders, each `repeats` times; identical texts are asked in one order."""
    seen = felt(world, rng, questions)
    words = {side: written(seen.longer, side) for side in SIDES}
    marks = {side: rng.poisson(MARKED, (questions, 3)) for side in SIDES}
    verdicts = {}
    for judge in world.judges:
        odds = chances(judge, seen, rng, world.shared)
        for repeat in range(repeats):
            for first in ORDERS:
                verdicts[judge.name, NONE, first, repeat] = _read(judge, first, drawn(odds[first], rng), rng)
            same = drawn(odds[IDENTICAL][:CONTROL_LIMIT], rng)
            lost = np.where(same == 2, 0.0, lost_alike(judge))
            verdicts[judge.name, IDENTICAL, BASELINE, repeat] = np.where(rng.random(len(same)) < lost, -1, same)
    return Games(words, marks, verdicts)


def sample_frame(
    world: GameWorld, rng: np.random.Generator, questions: int = 120, repeats: int = 2, identical: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The games frame of a sample without texts, and the lengths of the answers.

    `identical` questions are also asked in that arm, in both orders; the difference in length is tanh(longer / 4).
    """
    seen, verdicts = felt(world, rng, questions), {}
    for judge in world.judges:
        odds = chances(judge, seen, rng)
        for repeat, first in product(range(repeats), ORDERS):
            verdicts[judge.name, NONE, first, repeat] = _read(judge, first, drawn(odds[first], rng), rng)
            if identical:
                same = drawn(odds[IDENTICAL][:identical], rng)
                verdicts[judge.name, IDENTICAL, first, repeat] = _read(judge, first, same, rng)
    ids = [f"g{each}" for each in range(questions)]
    sizes = ((name, 1000 * np.exp(side * seen.longer / 4)) for name, side in ((CANDIDATE, 1), (BASELINE, -1)))
    parts = [pd.DataFrame({"question_id": ids, "candidate": name, "length": size}) for name, size in sizes]
    return frame(Games({}, {}, verdicts)), pd.concat(parts, ignore_index=True).assign(headers=0, lists=0, bold=0)


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


def questions(made: Games) -> tuple[Question, ...]:
    """The questions of a sample, in ranked order."""
    return tuple(
        Question(f"g{number}", CATEGORY, f"Which is it in matter {number}?", place=number)
        for number in range(made.questions)
    )


def frame(made: Games) -> pd.DataFrame:
    """The games frame of a sample, as `frames.games` makes it of judgments, where it has texts with STYLED beside."""
    sizes = [len(verdict) for verdict in made.verdicts.values()]
    number = np.concatenate([np.arange(size) for size in sizes])
    verdict = np.concatenate(list(made.verdicts.values()))
    judge, condition, first, repeat = zip(*made.verdicts, strict=True)
    judges = _named(judge, sizes)
    baseline = [CANDIDATE if each == IDENTICAL else BASELINE for each in condition]
    labels = pd.Categorical.from_codes(verdict, list(LABELS))
    columns = {
        "experiment": _named(["arena_hard_position_bias"], [len(number)]),
        "source": _named(["asked"], [len(number)]),
        "question_id": pd.Categorical.from_codes(number, [f"g{each}" for each in range(made.questions)]),
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
    found = pd.DataFrame(columns)[list(GAMES)]
    if not made.words:
        return found
    counted = np.hstack([style(made.words[side], made.marks[side]) for side in SIDES])[number]
    return found.assign(**dict(zip(STYLED, counted.T, strict=True)))


def _named(names: Sequence[str], sizes: Sequence[int]) -> pd.Categorical:
    unique = sorted(set(names))
    return pd.Categorical.from_codes(np.repeat([unique.index(name) for name in names], sizes), unique)


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


@cache
def truth(world: GameWorld, name: str, questions: int = 400_000) -> dict[str, float]:
    """What favours a place in a very large sample of one judge, by id, and `flips`: how often orders name others."""
    rng = np.random.default_rng([41, 1])
    (judge,) = (each for each in world.judges if each.name == name)
    return {id: value for (id,), value in _orders(judge, chances(judge, felt(world, rng, questions), rng)).items()}


@cache
def truths(world: GameWorld, name: str) -> Mapping[tuple[str, ...], Known]:
    """Each headline estimand of one judge, by id (win_rate: and style and weight).

    Verdicts that get lost are left out as the estimators leave them out, two askings in each order; but win rates are
    those that there would be if none were lost. An own computation on the chances of each verdict, without frames and
    estimators; the population is a net that fills all that varies evenly.
    """
    (judge,) = (each for each in world.judges if each.name == name)
    parts = [_truths_of(world, judge, seed) for seed in range(NETS)]
    found = {}
    for key in parts[0]:
        values = np.array([part[key] for part in parts])
        found[key] = (float(values.mean()), float(values.std(ddof=1) / math.sqrt(NETS)))
    return found


def _truths_of(world: GameWorld, judge: GameJudge, seed: int) -> dict[tuple[str, ...], float]:
    net = qmc.Sobol(12, seed=np.random.default_rng([41, seed])).random(NET).clip(1e-12, 1 - 1e-12)
    lead, longer, shared, taste, wobble = ndtri(net[:, :5]).T
    longer = world.longer + longer
    near = np.where(net[:, 5] < world.twins, ALIKE, 1.0)
    seen = Felt(world.lead + world.spread * lead, longer, near=near)
    tastes = math.sqrt(world.shared) * shared + math.sqrt(1 - world.shared) * taste
    chances = odds(judge, seen, tastes, wobble)
    found = _orders(judge, chances)
    by_first = {first: chances[first] for first in (BASELINE, CANDIDATE)}
    marks = [_marks(net[:, at : at + 3]) for at in (6, 9)]
    one, two = (style(written(longer, side), each) for side, each in zip(SIDES, marks, strict=True))
    apart = (one - two) / np.maximum(one + two, 1)
    for weight in (1, 3):
        found |= {("win_rate", kind, str(weight)): rate for kind, rate in _wins(by_first, apart, weight).items()}
    return found


def _marks(share: np.ndarray) -> np.ndarray:
    """Numbers of headers, list items and bold phrases at these shares of their distributions."""
    below = poisson.cdf(np.arange(30)[:, None], MARKED)
    return np.column_stack([np.searchsorted(below[:, kind], share[:, kind]) for kind in range(len(MARKED))])


def _orders(judge: GameJudge, chances: Mapping[str, np.ndarray]) -> dict[tuple[str, ...], float]:
    """What favours a place; (Q, 3) are chances that baseline, neither or candidate wins and the verdict is read."""
    kept = np.array([1 - judge.lost_baseline, 1.0, 1 - judge.lost_candidate])
    one, two = _three(chances[BASELINE]) * kept, _three(chances[CANDIDATE])[:, ::-1] * kept
    read = one.sum(axis=1), two.sum(axis=1)
    both = one[:, 0] * two[:, 2], one[:, 2] * two[:, 0]
    first = one[:, 0] * read[1] + two[:, 2] * read[0]
    second = one[:, 2] * read[1] + two[:, 0] * read[0]
    p, q = one / read[0][:, None], two / read[1][:, None]
    asked = (read[0] * read[1]) ** 2  # all four verdicts are read
    same = _three(chances[IDENTICAL]) * np.array([1 - lost_alike(judge), 1.0, 1 - lost_alike(judge)])
    return {
        ("first_position_effect",): float((both[0] - both[1]).sum() / (read[0] * read[1]).sum()),
        ("first_win_rate",): float(first.sum() / (first + second).sum()),
        ("excess_flip",): float((asked * ((p - q) ** 2).sum(axis=1)).sum() / asked.sum() / 2),
        ("flips",): float(1 - (one * two).sum() / (read[0] * read[1]).sum()),
        ("identical_pair_effect",): float((same[:, 0] - same[:, 2]).sum() / same.sum()),
    }


def _three(chances: np.ndarray) -> np.ndarray:
    """First, neither, second."""
    return np.column_stack([chances[:, :2].sum(axis=1), chances[:, 2], chances[:, 3:].sum(axis=1)])


def _wins(chances: Mapping[str, np.ndarray], apart: np.ndarray, weight: int) -> dict[str, float]:
    """The candidate's win rate as verdicts say, and the logistic regression's at no difference in style."""
    weights = np.where(STRONG, float(weight), 1.0)
    counted: Any = sum(each @ weights for each in chances.values())
    won = chances[CANDIDATE] @ (weights * WON) + chances[BASELINE] @ (weights * (1 - WON))
    design = np.column_stack([np.ones(len(apart)), apart / apart.std(axis=0)])
    fit = np.zeros(design.shape[1])
    for _ in range(20):
        rate = expit(design @ fit)
        step = design.T @ (design * (counted * rate * (1 - rate))[:, None])
        fit = fit + np.linalg.solve(step, design.T @ (won - counted * rate))
    return {"raw": float(won.sum() / counted.sum()), "controlled": float(expit(fit[0]))}
