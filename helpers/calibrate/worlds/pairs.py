"""Worlds of pairs with planted truth: models answer, then judge pairs of answers of which exactly one is right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import expit

from helpers.biases.self_preference.items import beside_control, scored

NAMES = ("deepseek", "llama", "mistral", "qwen")
OPTIONS = 4
#: (target, dose, repeat): what a question is asked with besides the first, unedited asking.
Arm = tuple[str, int, int]
CONTROLS = ("right_first_control", "wrong_first_control", "score_control")
BEFORE: Arm = ("none", 0, 0)
REPEAT: Arm = ("none", 0, 1)


@dataclass(frozen=True)
class PairWorld:
    """How questions, answers, edits and judges are made; one number a model, in the order of NAMES.

    A model believes b = skill [o is gold] - hardness + lure_o (shared by all) + own noise of each option and answers
    with the largest. The logit that judge j picks the right answer r over the wrong one w is

        sharpness_j (text_r - text_w) + knowledge_j (b_j[r's option] - b_j[w's option]) + taste_jr - taste_jw
        + habit_j (r first: +1, w first: -1) + lean_j + edits - self_preference_j * recognised_w [w is j's own]
        + self_preference_j * recognised_r [r is j's own],

    and that j says of two answers, one of them its own, that it wrote r

        claims (b_j[r's option] - b_j[w's option]) + claims_right + habit_j (as above)
        + recognises_j (recognised_r [r is j's own] - recognised_w [w is j's own]).

    An edit of dose d takes damage[d] (1 + damage_spread * N(0, 1)), the same for every judge, from the text that is
    edited, leaves the share fade[d] of what its author recognises, and draws a new part `retaste` of each judge's
    taste. `scaled`: damage is felt in proportion to the judge's sharpness. `lost_wrong`, `lost_right`: the share of
    verdicts for the wrong and the right answer that cannot be read. `siblings`: how nearly the last model's beliefs,
    texts and what judges think of its style are those of the last but one. `kin`: the same of the tastes of the last
    two judges.
    """

    skill: tuple[float, ...] = (2.0, 1.0, 0.6, 1.4)
    hardness: float = 0.7
    lure: float = 1.0
    sharpness: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    text: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    knowledge: tuple[float, ...] = (0.3, 0.3, 0.3, 0.3)
    lean: tuple[float, ...] = (0.4, 0.4, 0.4, 0.4)
    habit: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    taste: float = 0.5
    self_preference: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    damage: Mapping[int, float] = field(default_factory=dict)
    damage_spread: float = 0.0
    fade: Mapping[int, float] = field(default_factory=lambda: {0: 1.0, 2: 0.5, 4: 0.3, 8: 0.1})
    retaste: float = 0.0
    scaled: bool = False
    lost_wrong: float = 0.0
    lost_right: float = 0.0
    siblings: float = 0.0
    kin: float = 0.0
    claims: float = 0.5
    claims_right: float = 0.0
    recognises: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Asked:
    """What all judges said to one question on all pairs: verdicts (P, J), 1.0 for the right answer, NaN where lost.

    `kept` (P, J) are the judges that were asked it; `task` is "correct" or "wrote".
    """

    arm: Arm
    task: str
    right_first: np.ndarray
    wrong_first: np.ndarray
    kept: np.ndarray


@dataclass(frozen=True)
class Drawn:
    """One sample: the article of each question (Q,), the option that each model answers (Q, J), 0 being the right one.

    `q`, `r`, `w` (P,) are question, author of the right and author of the wrong answer of each pair.
    """

    article: np.ndarray
    answer: np.ndarray
    q: np.ndarray
    r: np.ndarray
    w: np.ndarray
    asked: tuple[Asked, ...]


def drawn(
    world: PairWorld,
    rng: np.random.Generator,
    arms: Sequence[Arm] = (BEFORE, REPEAT),
    articles: int = 115,
    each: int = 3,
    wrote: Sequence[Arm] = (),
    expected: bool = False,
) -> Drawn:
    """One sample: all judges, all pairs, all arms; `each` questions an article.

    In the arms of `wrote` authors are also asked which answer they wrote. With `expected` verdicts are probabilities,
    so that a large sample gives the truth of an estimand without the noise of verdicts.
    """
    size, n = len(NAMES), articles * each
    article = np.repeat(np.arange(articles), each)
    gold = np.eye(OPTIONS)[0]
    hard = world.hardness + 0.6 * rng.standard_normal(articles)[article] + 0.6 * rng.standard_normal(n)
    lures = world.lure * rng.standard_normal((n, 1, OPTIONS)) * (1 - gold)
    belief = (np.array(world.skill)[None, :] - hard[:, None])[:, :, None] * gold
    belief = belief + lures + 0.7 * _alike(rng.standard_normal((n, size, OPTIONS)), world.siblings)
    answer = belief.argmax(axis=2)
    text = np.array(world.text) + 0.7 * _alike(rng.standard_normal((n, size)), world.siblings)
    mark = rng.uniform(0.5, 1.5, (n, size))  # how recognisable a text is to its author
    taste = rng.standard_normal((n, size, size))  # question, judge, author
    taste = world.taste * _alike(_alike(taste.swapaxes(1, 2), world.siblings).swapaxes(1, 2), world.kin)
    wear = 1 + world.damage_spread * rng.standard_normal((n, size))
    right_ok = answer == 0
    q, r, w = np.nonzero(right_ok[:, :, None] & ~right_ok[:, None, :])
    judge = np.arange(size)
    own_w, own_r = (w[:, None] == judge).astype(float), (r[:, None] == judge).astype(float)
    sharp, knows, prefers = (np.array(v) for v in (world.sharpness, world.knowledge, world.self_preference))
    known = belief[q, :, 0] - np.take_along_axis(belief[q], answer[q, w][:, None, None], axis=2)[:, :, 0]
    base = sharp * (text[q, r] - text[q, w])[:, None] + knows * known + np.array(world.lean)
    base = base + taste[q, :, r] - taste[q, :, w]
    asked = []
    for arm in arms:
        target, dose, _ = arm
        of_w, of_r = (dose if target in (side, "both") else 0 for side in ("wrong", "right"))
        seen_w, seen_r = world.fade[of_w] * mark[q, w][:, None], world.fade[of_r] * mark[q, r][:, None]
        felt = sharp if world.scaled else np.ones(size)
        harm = world.damage.get(of_w, 0.0) * wear[q, w] - world.damage.get(of_r, 0.0) * wear[q, r]
        u = base + felt * harm[:, None] + prefers * (own_r * seen_r - own_w * seen_w)
        if world.retaste and dose:
            u = u + world.retaste * rng.standard_normal((n, size, size))[q, :, w if of_w else r]
        asked.append(Asked(arm, "correct", *_judged(world, u, rng, expected), np.ones(u.shape, dtype=bool)))
        if arm in wrote:
            u = world.claims * known + np.array(world.recognises) * (own_r * seen_r - own_w * seen_w)
            said = _judged(world, u + world.claims_right, rng, expected)
            asked.append(Asked(arm, "wrote", *said, (own_r + own_w) > 0))
    return Drawn(article, answer, q, r, w, tuple(asked))


def _alike(values: np.ndarray, share: float) -> np.ndarray:
    """Standard normal values (n, J, ...) of which the last J is so far that of the last but one."""
    if share:
        values[:, -1] = share * values[:, -2] + math.sqrt(1 - share**2) * values[:, -1]
    return values


def _judged(world: PairWorld, u: np.ndarray, rng: np.random.Generator, expected: bool) -> tuple[np.ndarray, np.ndarray]:
    """The verdicts with the right answer first, and with the wrong one first."""
    found = []
    for sign in (1.0, -1.0):
        chance = expit(u + sign * np.array(world.habit))
        verdict = chance if expected else (rng.random(u.shape) < chance).astype(float)
        if world.lost_wrong or world.lost_right:
            lost = np.where(verdict == 1.0, world.lost_right, world.lost_wrong)
            verdict[rng.random(u.shape) < lost] = np.nan
        found.append(verdict)
    return found[0], found[1]


def sample(
    world: PairWorld,
    rng: np.random.Generator,
    arms: Sequence[Arm] = (BEFORE, REPEAT),
    articles: int = 115,
    each: int = 3,
    recognition: bool = False,
    expected: bool = False,
) -> pd.DataFrame:
    """The items of one sample (see `drawn`); with `recognition` authors are asked which they wrote in every arm."""
    made = drawn(world, rng, arms, articles, each, arms if recognition else (), expected)
    who, parts = _who(made), []
    for one in made.asked:
        verdicts = {"right_first": one.right_first.ravel(), "wrong_first": one.wrong_first.ravel()}
        target, dose, repeat = one.arm
        at = {"target": target, "dose": dose, "repeat": repeat, "task": one.task}
        parts.append(pd.DataFrame(verdicts).assign(**at).join(who)[one.kept.ravel()])
    table = pd.concat(parts, ignore_index=True)
    # Verdicts are compared with the repeat arm, recognition with its only unedited asking.
    partner = np.where(table["task"] == "correct", 1, 0)
    return beside_control(scored(_named(table)).assign(right_partner=partner, wrong_partner=partner))


def _who(made: Drawn) -> pd.DataFrame:
    size, q, r, w = len(NAMES), made.q, made.r, made.w
    names = {key: np.repeat(code, size) for key, code in (("right", r), ("wrong", w))}
    judge = np.tile(np.arange(size), len(q))
    own = np.where(judge == names["wrong"], 2, np.where(judge == names["right"], 1, 0))
    coded = {key: pd.Categorical.from_codes(code, NAMES) for key, code in (*names.items(), ("judge", judge))}
    labels = {key: np.repeat(made.answer[q, code], size) for key, code in (("right_label", r), ("wrong_label", w))}
    return pd.DataFrame(
        {
            "question_id": np.repeat(q, size),
            "article": np.repeat(made.article[q], size),
            **coded,
            **{f"{key}_vendor": value for key, value in coded.items()},
            **{key: pd.Categorical.from_codes(code, list("ABCD")) for key, code in labels.items()},
            "own": pd.Categorical.from_codes(own, ["", "right", "wrong"]),
        }
    )


def _named(table: pd.DataFrame) -> pd.DataFrame:
    edited = table["target"] != "none"
    condition = np.where(edited, table["target"] + "_" + table["dose"].astype(str), "none")
    edit = np.where(edited, "synonyms", "none")
    return table.assign(condition=condition, edit=edit, category="quality", probability=np.nan)


def rows(table: pd.DataFrame) -> pd.DataFrame:
    """The pair frame that has these items: one row a judgment, as `frames.pairwise` gives it."""
    parts = []
    for first in ("right", "wrong"):
        verdict = table[f"{first}_first"]
        picked = np.where(verdict == 1.0, "right", "wrong").astype(object)
        picked[verdict.isna()] = None
        outcome = np.where(verdict.isna(), "unparsed", "ok")
        parts.append(table.assign(first=first, picked=picked, outcome=outcome, p_right=np.nan))
    frame = pd.concat(parts, ignore_index=True).drop(
        columns=["right_first", "wrong_first", "score", "consistent", "probability", *CONTROLS]
    )
    partner = np.where(frame["task"] == "correct", 1, 0)
    return frame.assign(experiment="quality_self_preference", judge_model=frame["judge"], partner=partner)
