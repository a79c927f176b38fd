"""Experiment 3 the long way round: every verdict is read from a reply to the prompt that the experiment itself writes.

Models answer, the rule editor edits, judges judge. Whoever replies knows nothing but the prompt, its model and which
asking it is: question, options, their letters, authors and edits are read from the text, and what the sample holds for
these is said, as JSON by every other judge and in the text form by the rest.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import verdicts
from helpers.biases.self_preference import baseline, obfuscation, rates, recognition
from helpers.biases.self_preference.arms import CONTROL
from helpers.biases.self_preference.asking import trials
from helpers.biases.self_preference.items import before, complete, items
from helpers.biases.self_preference.pairs import answers
from helpers.config import load_experiment
from helpers.frames import pairwise as tidy
from helpers.providers import simulated
from helpers.run.control import controls, partnered
from helpers.types import Completion, Estimate, Experiment, Judgment, Model, Request, Trial
from studies.calibration.cases import Case, Target
from studies.calibration.worlds.pairs import (
    BEFORE,
    NAMES,
    OPTION,
    REPEAT,
    Asked,
    Drawn,
    PairWorld,
    drawn,
    frame,
    questions,
    truths,
)

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


NAME = "quality_self_preference"
EACH = 3
EDIT = ("wrong", 2, 0)
DOSE = {"dose": "2"}
#: Judges that differ in all ways but in what an edit does to them: eye for quality, knowledge, base rate, habit, taste.
UNEQUAL = dict(
    sharpness=(2.0, 0.6, 1.0, 0.5),
    knowledge=(0.8, 0.1, 0.3, 0.5),
    lean=(-1.5, -0.2, 0.5, 1.5),
    habit=(0.8, -0.3, 0.0, 1.2),
    taste=0.8,
)
#: Judges that do not know which answer they wrote and name the one that they take for right, whoever wrote it.
BLIND = dict(recognises=(0.0, 0.0, 0.0, 0.0), claims=0.0, claims_right=0.5)
#: The headline numbers that each judge has, by what else than the judge they are of.
PLACES: dict[str, dict[str, str]] = {
    "obfuscation_effect": DOSE,
    "obfuscation_effect_pp": DOSE,
    "obfuscation_against_other_author": DOSE,
    "evaluator_quality_gap": {"stratum": baseline.PRIMARY},
    "recognition_balanced": {},
    "accuracy_harmful": {"filter": "all"},
}
#: What the published analyses compare, each with the value that it takes for "nothing is there".
PUBLISHED: dict[str, tuple[dict[str, str], float]] = {
    "regression_to_the_mean": ({}, 0.0),
    "naive_filtered_change": (DOSE, 0.0),
    "filtered_one_order_change": ({}, 0.0),
    "naive_harmful_rate": ({}, 0.5),
}


#: What these read of an item; the rest of a wide table only costs time.
_READ = [
    *("question_id", "article", "judge", "judge_vendor", "right", "wrong", "right_vendor", "wrong_vendor"),
    *("wrong_label", "own", "condition", "edit", "target", "dose", "repeat", "task", "score", "score_control"),
    *("right_first", "wrong_first", "right_first_control", "wrong_first_control", "consistent"),
]


@dataclass(frozen=True)
class _World:
    """A world, and which of its numbers are `null` there: nothing is planted, which is an exact value.

    `failing` ones are known to find something all the same, which is shown, and do cover the value that they have in a
    very large population; so are all other headline numbers to do. `lossy` ones miss what they would be if no verdict
    were lost; `published` comparisons are shown beside. Of the judges in `planted`, in whom self-preference is planted,
    nothing is null. `edits`: nothing but the effects of edits is measured.
    """

    world: PairWorld
    words: str
    null: tuple[str, ...]
    failing: tuple[str, ...] = ()
    lossy: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    planted: tuple[str, ...] = ()
    edits: bool = False


_PAIRED = ("obfuscation_effect", "obfuscation_against_other_author", "evaluator_quality_gap")
EDITS = {2: 0.6}
WORLDS = {
    "nothing": _World(
        PairWorld(lean=(-2.0, -2.0, -2.0, -2.0), habit=(0.4, 0.4, 0.4, 0.4), taste=0.8, **BLIND),
        "Nothing is there: edits change nothing and nobody prefers itself. Wrong answers persuade all judges alike.",
        (*_PAIRED, "obfuscation_effect_pp", "recognition_balanced"),
        published=("regression_to_the_mean", "naive_filtered_change", "filtered_one_order_change"),
    ),
    "unequal": _World(
        PairWorld(damage=EDITS, **UNEQUAL),
        "Edits damage texts; judges differ in sharpness, knowledge, base rate and habit of place. Each takes its own "
        "answer for right and claims it for that.",
        _PAIRED,
        failing=("recognition_balanced",),
        published=("naive_harmful_rate",),
    ),
    "losses": _World(
        PairWorld(damage=EDITS, lost_wrong=0.10, lost_right=0.02, **UNEQUAL, **BLIND),
        "As unequal, and verdicts for the wrong answer are lost five times as often as those for the right one.",
        (*_PAIRED, "recognition_balanced"),
        lossy=("accuracy_harmful", "obfuscation_effect_pp"),
    ),
    "siblings": _World(
        PairWorld(damage=EDITS, siblings=0.9, kin=0.8, **UNEQUAL, **BLIND),
        "As unequal; two models are near-duplicates in beliefs, texts and style, and two judges share most of a taste.",
        (*_PAIRED[:2], "recognition_balanced"),
        # A right answer that is a near-duplicate of the other wrong one is not the same opponent to both.
        failing=("evaluator_quality_gap",),
    ),
    "recognised": _World(
        PairWorld(damage=EDITS, self_preference=(0.0, 0.0, 1.5, 1.5), **UNEQUAL),
        "As unequal, and mistral and qwen prefer their own words, half of which an edit takes; all know theirs.",
        _PAIRED,
        planted=("mistral", "qwen"),
    ),
    "scaled": _World(
        PairWorld(damage=EDITS, scaled=True, sharpness=(2.0, 0.6, 1.5, 0.5), **BLIND),
        "Edits damage texts, and judges feel it in proportion to their sharpness: what the primary contrast rules out.",
        ("obfuscation_against_other_author",),
        failing=("obfuscation_effect", "obfuscation_effect_pp"),
        edits=True,
    ),
}


def _draw(world: PairWorld, articles: int, rng: np.random.Generator) -> Drawn:
    return drawn(world, rng, (BEFORE, REPEAT, EDIT), articles, EACH, (BEFORE, EDIT))


def _measure(at: _World, verdicts: pd.DataFrame, seed: int) -> list[Estimate]:
    """The headline numbers of every judge, and the published comparisons that this world is about."""
    table, data = items(verdicts)[_READ], "simulated"
    found = [
        *obfuscation.obfuscation_effect(table, data, seed, parts=False),
        *obfuscation.against_other_author(table, data),
    ]
    if at.edits:
        return found
    found += [
        *baseline.evaluator_quality_gap(table, data, seed, (baseline.PRIMARY,)),
        *recognition.recognition_balanced(table, data),
        *rates.accuracy_harmful(table, data),
    ]
    if "naive_filtered_change" in at.published:
        found += [*obfuscation.naive_filtered(table, data), *filtered_one_order(table, data)]
    if "naive_harmful_rate" in at.published:
        found += rates.naive_harmful_rate(table, data)
    return found


def filtered_one_order(table: pd.DataFrame, data: str) -> list[Estimate]:
    """What filtering finds if judges are simply asked again, the right answer first: nothing was changed, in pp.

    Harmful items whose two orders agreed at first asking, as published; later verdicts in one order. `where`: judge.
    """
    first = complete(before(table))
    first = first[first["consistent"] & (first["own"] == "wrong")]
    again = table[(table["condition"] == "none") & (table["repeat"] == 1)][[*_PAIR, "right_first"]]
    both = first[[*_PAIR, "article", "score"]].merge(again[again["right_first"].notna()], on=_PAIR)
    both = both.assign(moved=both["right_first"] - both["score"])
    return [
        rates.made("filtered_one_order_change", {"judge": str(judge)}, rates.share(rows, "moved"), data, "pp")
        for judge, rows in both.groupby("judge", observed=True, sort=True)
    ]


_PAIR = ["question_id", "right", "wrong", "judge"]


@cache
def _targets(name: str) -> tuple[Target, ...]:
    at, found = WORLDS[name], []
    known = truths(at.world, EDIT)
    for judge in NAMES:
        for id, place in PLACES.items():
            if at.edits and not id.startswith("obfuscation"):
                continue
            nothing = 0.5 if id in ("recognition_balanced", "accuracy_harmful") else 0.0
            where = {"judge": judge, **place}
            # Recognition is planted in every judge or in none; all else in some.
            null = id in at.null and judge not in at.planted
            value, error = (nothing, 0.0) if null else known[id, judge]
            role = "failure" if id in at.lossy else "null" if null else "planted"
            found.append(Target(id, where, value, role, nothing, error))
            if id in at.failing:
                found.append(Target(id, where, nothing, "failure", nothing))
        for id in at.published:
            place, nothing = PUBLISHED[id]
            found.append(Target(id, {"judge": judge, **place}, nothing, "failure", nothing))
    return tuple(found)


def _case(name: str) -> Case:
    at = WORLDS[name]
    draw: Callable[[int, np.random.Generator], Drawn] = partial(_draw, at.world)
    measure = partial(_measure, at)
    return Case(NAME, name, at.words, draw, frame, spoken, measure, partial(_targets, name))


CASES = tuple(_case(name) for name in WORLDS)
