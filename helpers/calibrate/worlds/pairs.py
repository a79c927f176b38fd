"""Worlds of pairs with planted truth: models answer, then judge pairs of answers of which exactly one is right."""

from __future__ import annotations

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
        + self_preference_j * recognised_r [r is j's own].

    An edit of dose d takes damage[d] (1 + damage_spread * N(0, 1)), the same for every judge, from the text that is
    edited, leaves the share fade[d] of what its author recognises, and draws a new part `retaste` of each judge's
    taste. `scaled`: damage is felt in proportion to the judge's sharpness. `lost_wrong`, `lost_right`: the share of
    verdicts for the wrong and the right answer that cannot be read.
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


def sample(
    world: PairWorld,
    rng: np.random.Generator,
    arms: Sequence[Arm] = (BEFORE, REPEAT),
    articles: int = 115,
    each: int = 3,
    recognition: bool = False,
    expected: bool = False,
) -> pd.DataFrame:
    """The items of one sample: all judges, all pairs, all arms; `each` questions an article.

    With `recognition` authors are also asked which answer they wrote, in every arm. With `expected` verdicts are
    probabilities, so that a large sample gives the truth of an estimand without the noise of verdicts.
    """
    size, n = len(NAMES), articles * each
    article = np.repeat(np.arange(articles), each)
    gold = np.eye(OPTIONS)[0]
    hard = world.hardness + 0.6 * rng.standard_normal(articles)[article] + 0.6 * rng.standard_normal(n)
    lures = world.lure * rng.standard_normal((n, 1, OPTIONS)) * (1 - gold)
    belief = (np.array(world.skill)[None, :] - hard[:, None])[:, :, None] * gold
    belief = belief + lures + 0.7 * rng.standard_normal((n, size, OPTIONS))
    answer = belief.argmax(axis=2)
    text = np.array(world.text) + 0.7 * rng.standard_normal((n, size))
    mark = rng.uniform(0.5, 1.5, (n, size))  # how recognisable a text is to its author
    taste = world.taste * rng.standard_normal((n, size, size))  # question, judge, author
    wear = 1 + world.damage_spread * rng.standard_normal((n, size))
    right_ok = answer == 0
    q, r, w = np.nonzero(right_ok[:, :, None] & ~right_ok[:, None, :])
    judge = np.arange(size)
    own_w, own_r = (w[:, None] == judge).astype(float), (r[:, None] == judge).astype(float)
    sharp, knows, prefers = (np.array(v) for v in (world.sharpness, world.knowledge, world.self_preference))
    known = belief[q, :, 0] - np.take_along_axis(belief[q], answer[q, w][:, None, None], axis=2)[:, :, 0]
    base = sharp * (text[q, r] - text[q, w])[:, None] + knows * known + np.array(world.lean)
    base = base + taste[q, :, r] - taste[q, :, w]
    parts = []
    for target, dose, repeat in arms:
        of_w, of_r = (dose if target in (side, "both") else 0 for side in ("wrong", "right"))
        seen_w, seen_r = world.fade[of_w] * mark[q, w][:, None], world.fade[of_r] * mark[q, r][:, None]
        felt = sharp if world.scaled else np.ones(size)
        harm = world.damage.get(of_w, 0.0) * wear[q, w] - world.damage.get(of_r, 0.0) * wear[q, r]
        u = base + felt * harm[:, None] + prefers * (own_r * seen_r - own_w * seen_w)
        if world.retaste and dose:
            u = u + world.retaste * rng.standard_normal((n, size, size))[q, :, w if of_w else r]
        parts.append(_judged(world, u, rng, expected).assign(target=target, dose=dose, repeat=repeat, task="correct"))
        if recognition:
            u = 0.5 * known + own_r * seen_r - own_w * seen_w
            wrote = _judged(world, u, rng, expected).assign(target=target, dose=dose, repeat=repeat, task="wrote")
            parts.append(wrote[(own_r + own_w).ravel() > 0])
    who = _who(article, answer, q, r, w)
    table = pd.concat([part.join(who) for part in parts], ignore_index=True)
    # Verdicts are compared with the repeat arm, recognition with its only unedited asking.
    partner = np.where(table["task"] == "correct", 1, 0)
    return beside_control(scored(_named(table)).assign(right_partner=partner, wrong_partner=partner))


def _judged(world: PairWorld, u: np.ndarray, rng: np.random.Generator, expected: bool) -> pd.DataFrame:
    found = {}
    for name, sign in (("right_first", 1.0), ("wrong_first", -1.0)):
        chance = expit(u + sign * np.array(world.habit))
        verdict = chance if expected else (rng.random(u.shape) < chance).astype(float)
        if world.lost_wrong or world.lost_right:
            lost = np.where(verdict == 1.0, world.lost_right, world.lost_wrong)
            verdict[rng.random(u.shape) < lost] = np.nan
        found[name] = verdict.ravel()
    return pd.DataFrame(found)


def _who(article: np.ndarray, answer: np.ndarray, q: np.ndarray, r: np.ndarray, w: np.ndarray) -> pd.DataFrame:
    size = len(NAMES)
    names = {key: np.repeat(code, size) for key, code in (("right", r), ("wrong", w))}
    judge = np.tile(np.arange(size), len(q))
    own = np.where(judge == names["wrong"], 2, np.where(judge == names["right"], 1, 0))
    coded = {key: pd.Categorical.from_codes(code, NAMES) for key, code in (*names.items(), ("judge", judge))}
    labels = {key: np.repeat(answer[q, code], size) for key, code in (("right_label", r), ("wrong_label", w))}
    return pd.DataFrame(
        {
            "question_id": np.repeat(q, size),
            "article": np.repeat(article[q], size),
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
