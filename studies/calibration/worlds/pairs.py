"""Worlds of pairs with planted truth: models answer, then judge pairs of answers of which exactly one is right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy.special import expit

from helpers.biases.self_preference.items import beside_control, scored
from helpers.frames import PAIRWISE
from helpers.types import Question

NAMES = ("deepseek", "llama", "mistral", "qwen")
OPTIONS = 4
#: (target, dose, repeat): what a question is asked with besides the first, unedited asking.
Arm = tuple[str, int, int]
CONTROLS = ("right_first_control", "wrong_first_control", "score_control")
BEFORE: Arm = ("none", 0, 0)
REPEAT: Arm = ("none", 0, 1)
LETTERS = "ABCDEFGHIJ"[:OPTIONS]
CATEGORY = "story"
#: What an option says, by the number that the world knows it by; 0 is the right one.
OPTION = "it was thing {} that question {} is about"


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
    edited and leaves the share fade[d] of what its author recognises. `scaled`: damage is felt in proportion to the
    judge's sharpness. `lost_wrong`, `lost_right`: the share of verdicts for the wrong and the right answer that cannot
    be read. `siblings`: how nearly the last model's beliefs, texts and what judges think of its style are those of the
    last but one. `kin`: the same of the tastes of the last two judges.
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
    margin = belief[q, :, 0] - np.take_along_axis(belief[q], answer[q, w][:, None, None], axis=2)[:, :, 0]
    base = sharp * (text[q, r] - text[q, w])[:, None] + knows * margin + np.array(world.lean)
    base = base + taste[q, :, r] - taste[q, :, w]
    asked = []
    for arm in arms:
        target, dose, _ = arm
        of_w, of_r = (dose if target in (side, "both") else 0 for side in ("wrong", "right"))
        seen_w, seen_r = world.fade[of_w] * mark[q, w][:, None], world.fade[of_r] * mark[q, r][:, None]
        felt = sharp if world.scaled else np.ones(size)
        harm = world.damage.get(of_w, 0.0) * wear[q, w] - world.damage.get(of_r, 0.0) * wear[q, r]
        u = base + felt * harm[:, None] + prefers * (own_r * seen_r - own_w * seen_w)
        asked.append(Asked(arm, "correct", *_judged(world, u, rng, expected), np.ones(u.shape, dtype=bool)))
        if arm in wrote:
            u = world.claims * margin + np.array(world.recognises) * (own_r * seen_r - own_w * seen_w)
            claimed = _judged(world, u + world.claims_right, rng, expected)
            asked.append(Asked(arm, "wrote", *claimed, (own_r + own_w) > 0))
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


def letter(question: int, option: int) -> str:
    """The letter of an option; which one is right differs from question to question."""
    return LETTERS[(option + question) % OPTIONS]


def questions(made: Drawn) -> tuple[Question, ...]:
    """The questions of a sample as the experiment asks them, with a passage for each article."""
    found = []
    for number, article in enumerate(made.article):
        options = sorted((letter(number, option), OPTION.format(option, number)) for option in range(OPTIONS))
        found.append(
            Question(
                f"q{number}",
                CATEGORY,
                f"What was it in matter {number}?",
                place=number,
                article=f"a{article}",
                passage=f"This is the passage of article {article}, and nothing stands in it.",
                options=tuple(text for _, text in options),
                gold=letter(number, 0),
            )
        )
    return tuple(found)


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
    pair, judge = (each.ravel() for each in np.indices((len(made.q), len(NAMES))))
    who, parts = pd.DataFrame(_people(made, pair, judge)), []
    for one in made.asked:
        verdicts = {"right_first": one.right_first.ravel(), "wrong_first": one.wrong_first.ravel()}
        parts.append(who.assign(**verdicts, **_arm(one))[one.kept.ravel()])
    table = scored(pd.concat(parts, ignore_index=True).assign(category="quality", probability=np.nan))
    # Verdicts are compared with the repeat arm, recognition with its only unedited asking.
    partner = np.where(table["task"] == "correct", 1, 0)
    return beside_control(table.assign(right_partner=partner, wrong_partner=partner))


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


def frame(made: Drawn) -> pd.DataFrame:
    """The pair frame of a sample (columns: PAIRWISE), as `frames.pairwise` makes it of judgments.

    Authors are asked which answer they wrote only where theirs is the one that is edited, or none is.
    """
    pair, judge = (each.ravel() for each in np.indices((len(made.q), len(NAMES))))
    parts = []
    for asked in made.asked:
        kept = asked.kept.ravel()
        if asked.task == "wrote" and asked.arm[0] != "none":
            kept = kept & (judge == (made.w if asked.arm[0] == "wrong" else made.r)[pair])
        at = np.flatnonzero(kept)
        parts += [(asked, first, at, getattr(asked, f"{first}_first").ravel()[at]) for first in ("right", "wrong")]
    at, verdict = (np.concatenate([part[i] for part in parts]) for i in (2, 3))
    sizes, lost = [len(values) for *_, values in parts], np.isnan(verdict)
    arms = [_arm(asked) | {"first": first} for asked, first, *_ in parts]
    columns = {
        **_people(made, pair[at], judge[at]),
        **{name: _repeated([arm[name] for arm in arms], sizes) for name in arms[0]},
        "experiment": _repeated(["quality_self_preference"], [len(at)]),
        "category": _repeated([CATEGORY], [len(at)]),
        "picked": pd.Categorical.from_codes(np.where(lost, -1, verdict == 1.0), ["wrong", "right"]),
        "outcome": pd.Categorical.from_codes(lost.astype(int), ["ok", "unparsed"]),
        "p_right": np.full(len(at), np.nan),
    }
    return pd.DataFrame(columns)[list(PAIRWISE)]


def _people(made: Drawn, pair: np.ndarray, judge: np.ndarray) -> dict[str, pd.Categorical]:
    """Question, authors, labels and judge of each of these pairs."""
    q, right, wrong = made.q[pair], made.r[pair], made.w[pair]
    ids = [f"q{number}" for number in range(len(made.article))]
    articles = [f"a{number}" for number in range(int(made.article.max(initial=-1)) + 1)]
    people = {"judge": judge, "right": right, "wrong": wrong}
    coded = {name: pd.Categorical.from_codes(who, NAMES) for name, who in people.items()}
    labels = {f"{name}_label": (made.answer[q, people[name]] + q) % OPTIONS for name in ("right", "wrong")}
    return {
        "question_id": pd.Categorical.from_codes(q, ids),
        "article": pd.Categorical.from_codes(made.article[q], articles),
        **coded,
        **{f"{name}_vendor": who for name, who in coded.items()},
        "judge_model": coded["judge"],
        **{name: pd.Categorical.from_codes(code, list(LETTERS)) for name, code in labels.items()},
        "own": pd.Categorical.from_codes((judge == right) + 2 * (judge == wrong), ["", "right", "wrong"]),
    }


def _arm(asked: Asked) -> dict[str, str | int]:
    """What was asked: an edited text's verdict stands beside the repeat arm, and what is asked once beside that."""
    target, dose, repeat = asked.arm
    edited = target != "none"
    return {
        "task": asked.task,
        "condition": f"{target}_{dose}" if edited else "none",
        "edit": "synonyms" if edited else "none",
        "target": target,
        "dose": dose,
        "repeat": repeat,
        "partner": int(asked.task == "correct") if edited else repeat,
    }


def _repeated(values: Sequence[str | int], sizes: Sequence[int]) -> pd.Categorical | np.ndarray:
    """Each value so often; texts as categories."""
    if not isinstance(values[0], str):
        return np.repeat(values, sizes)
    kinds = list(dict.fromkeys(values))
    return pd.Categorical.from_codes(np.repeat([kinds.index(value) for value in values], sizes), kinds)


#: Batches of articles with one question each; how much they differ tells the error of the whole.
BATCHES, BATCH = 20, 10_000
_ALL = range(len(NAMES))
#: For each author of the wrong answer and each of the right one the judges that wrote neither.
THIRD = [np.array([[j for j in _ALL if j not in (r, w)][: len(NAMES) - 2] for r in _ALL]) for w in _ALL]
#: A number and its Monte-Carlo standard error.
Known = tuple[float, float]


def truths(world: PairWorld, edit: Arm) -> dict[tuple[str, str], Known]:
    """Each headline estimand of each judge, by id and judge, were no verdict lost; of the arm `edit` of wrong answers.

    An own computation: sums of chances over pairs, without frames and estimators.
    """
    world = replace(world, lost_wrong=0.0, lost_right=0.0)
    rng, parts = np.random.default_rng([32, 2]), []
    for _ in range(BATCHES):
        parts.append(_sums(drawn(world, rng, (REPEAT, edit), BATCH, 1, (REPEAT,), expected=True)))
    every = {key: np.array([part[key] for part in parts]) for key in parts[0]}
    found = {}
    for (id, judge), sums in every.items():
        apart = np.array([_value(id, each) for each in sums])
        found[id, judge] = (_value(id, sums.sum(axis=0)), float(apart.std(ddof=1) / np.sqrt(BATCHES)))
    return found


def _value(id: str, sums: np.ndarray) -> float:
    """A number from its sums: two rows of (up, down), or of (numerator, denominator)."""
    (a, b), (c, d) = sums
    if id in ("obfuscation_effect", "obfuscation_against_other_author"):
        return float(np.log(a / b) - np.log(c / d))
    if id == "recognition_balanced":
        return float((a / b + c / d) / 2)
    return float(a / b - c / d)


def _sums(made: Drawn) -> dict[tuple[str, str], np.ndarray]:
    again, wrote, edited = made.asked
    score = {"again": _score(again), "edited": _score(edited)}
    up, down = _moved(again, edited)
    change = score["edited"] - score["again"]
    rows = np.full((len(made.answer), len(NAMES), len(NAMES)), -1)
    rows[made.q, made.r, made.w] = np.arange(len(made.q))
    found = {}
    for number, name in enumerate(NAMES):
        own_wrong = np.flatnonzero(made.w == number)
        right = np.flatnonzero(made.r == number)
        others = THIRD[number][made.r[own_wrong]]
        count = float(len(own_wrong))

        def mean(values: np.ndarray, at: np.ndarray = own_wrong, who: np.ndarray = others) -> float:
            return float(values[at[:, None], who].mean(axis=1).sum())

        found["obfuscation_effect", name] = [
            [up[own_wrong, number].sum(), down[own_wrong, number].sum()],
            [mean(up), mean(down)],
        ]
        found["obfuscation_effect_pp", name] = [[change[own_wrong, number].sum(), count], [mean(change), count]]
        found["accuracy_harmful", name] = [[score["again"][own_wrong, number].sum(), count], [0.0, 1.0]]
        claimed = _score(wrote)
        named = [[(1 - claimed[own_wrong, number]).sum(), count], [claimed[right, number].sum(), len(right)]]
        found["recognition_balanced", name] = named
        same, weight = _same_label(made, rows, own_wrong, number)
        mine, theirs = own_wrong[same[:, 0]], same[:, 1]
        kept = np.unique(same[:, 0])
        sides = [[values[own_wrong[kept], number].sum() for values in (up, down)]]
        sides.append([float((values[theirs, number] * weight).sum()) for values in (up, down)])
        found["obfuscation_against_other_author", name] = sides
        votes = 1 - score["again"]
        gap = float(((votes[mine, number] - votes[theirs, number]) * weight).sum())
        found["evaluator_quality_gap", name] = [[gap, len(kept)], [0.0, 1.0]]
    return {key: np.array(value, dtype=float) for key, value in found.items()}


def _same_label(made: Drawn, rows: np.ndarray, mine: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """(matches, 2): an own pair (its place in `mine`) and a pair with another's answer of that label; their weights."""
    found = []
    for other in range(len(NAMES)):
        if other != number:
            q = made.q[mine]
            at = np.flatnonzero(made.answer[q, other] == made.answer[q, number])
            found.append(np.column_stack([at, rows[q[at], made.r[mine[at]], other]]))
    same = np.concatenate(found)
    return same, 1 / np.bincount(same[:, 0], minlength=len(mine))[same[:, 0]]


def _score(asked: Asked) -> np.ndarray:
    return (asked.right_first + asked.wrong_first) / 2


def _moved(again: Asked, edited: Asked) -> tuple[np.ndarray, np.ndarray]:
    both = [(getattr(again, name), getattr(edited, name)) for name in ("right_first", "wrong_first")]
    return sum(new * (1 - old) for old, new in both), sum(old * (1 - new) for old, new in both)
