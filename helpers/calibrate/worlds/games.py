"""Worlds of games with planted truth: judges compare a candidate with a baseline, in both orders, again and again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import expit

from helpers import frames
from helpers.biases.position.pairs import LABELS

CANDIDATE, BASELINE = "candidate", "baseline"
#: Who stands first, and what that does to the sign of the candidate's lead.
ORDERS = {BASELINE: -1.0, CANDIDATE: 1.0}
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
    feelings = {first: sign * mine + place for first, sign in ORDERS.items()} | {"identical": place}
    cuts = np.array([judge.strong, judge.tie, -judge.tie, -judge.strong])
    found = {}
    for name, feeling in feelings.items():
        above = expit((feeling[:, None] - cuts) / judge.noise)
        found[name] = np.diff(above, prepend=0.0, append=1.0, axis=1)
    return found


def drawn(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One verdict a row, as a place in LABELS."""
    return (rng.random((len(probabilities), 1)) > probabilities.cumsum(axis=1)[:, :-1]).sum(axis=1)


def sample(
    world: GameWorld, rng: np.random.Generator, questions: int = 120, repeats: int = 2, identical: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The games frame of one sample, and the lengths of the answers; `identical` questions also in that arm."""
    seen = felt(world, rng, questions)
    parts = []
    for judge in world.judges:
        odds = chances(judge, seen, rng)
        for repeat in range(repeats):
            for first in ORDERS:
                parts.append(_part(judge, first, "none", repeat, drawn(odds[first], rng), rng))
                if identical:
                    same = drawn(odds["identical"][:identical], rng)
                    parts.append(_part(judge, first, "identical", repeat, same, rng))
    frame = pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    known = {"experiment": "arena_hard_position_bias", "source": "asked", "category": "hard_prompt", "games": 2}
    known |= {"candidate": CANDIDATE, "candidate_vendor": CANDIDATE, "baseline": BASELINE, "verdict": frame["score"]}
    known |= {"judge_vendor": frame["judge"], "judge_model": frame["judge"]}
    return frame.assign(**known)[list(frames.GAMES)], lengths(seen)


def _part(
    judge: GameJudge, first: str, condition: str, repeat: int, verdict: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    labels = np.array(LABELS, dtype=object)[verdict]
    won = ORDERS[first] * np.sign(2 - verdict)  # by the candidate
    lost = np.select([won > 0, won < 0], [judge.lost_candidate, judge.lost_baseline], 0.0)
    unread = rng.random(len(verdict)) < lost
    labels[unread] = None
    varying = {"question_id": np.arange(len(verdict)), "score": labels, "outcome": np.where(unread, "invalid", "ok")}
    known = {"judge": judge.name, "condition": condition, "first": first, "repeat": repeat}
    return varying | {name: np.repeat(value, len(verdict)) for name, value in known.items()}


def lengths(seen: Felt) -> pd.DataFrame:
    """The style of both answers of each question; the difference in length is tanh(longer / 4)."""
    questions = np.arange(len(seen.longer))
    parts = [
        pd.DataFrame({"question_id": questions, "candidate": name, "length": 1000 * np.exp(side * seen.longer / 4)})
        for name, side in ((CANDIDATE, 1), (BASELINE, -1))
    ]
    return pd.concat(parts, ignore_index=True).assign(headers=0, lists=0, bold=0)


@cache
def truth(world: GameWorld, name: str, questions: int = 400_000) -> dict[str, float]:
    """What each estimand is in a very large sample, verdicts taken as probabilities and losses at their chances."""
    rng = np.random.default_rng([41, 1])
    (judge,) = (each for each in world.judges if each.name == name)
    odds = chances(judge, felt(world, rng, questions), rng)
    # Columns: first, tie, second; and by winner: baseline, tie, candidate.
    placed = {key: _three(each) for key, each in odds.items()}
    kept = np.array([1 - judge.lost_baseline, 1.0, 1 - judge.lost_candidate])
    won = {BASELINE: placed[BASELINE] * kept, CANDIDATE: placed[CANDIDATE][:, ::-1] * kept}
    one, two = won[BASELINE], won[CANDIDATE]
    both = one.sum(axis=1) * two.sum(axis=1)
    agree = (one * two).sum(axis=1)
    net = one[:, 0] * two[:, 2] - one[:, 2] * two[:, 0]
    p, q = (each / each.sum(axis=1, keepdims=True) for each in (one, two))
    return {
        "first_position_effect": float(net.sum() / both.sum()),
        "flips": float(1 - agree.sum() / both.sum()),
        "excess_flip": float(((p - q) ** 2).sum(axis=1).mean() / 2),
        "identical_pair_effect": float((placed["identical"][:, 0] - placed["identical"][:, 2]).mean()),
    }


def _three(odds: np.ndarray) -> np.ndarray:
    return np.column_stack([odds[:, :2].sum(axis=1), odds[:, 2], odds[:, 3:].sum(axis=1)])


def names(judges: Sequence[GameJudge]) -> tuple[str, ...]:
    """The judges' names."""
    return tuple(judge.name for judge in judges)
