"""Experiment 3 on simulated judges: damage, recognition and weakness planted in judges that are unequal otherwise.

What varies is the article: 20, 80 and 400 are numbers of articles, each with three questions. All pairs of four models
are judged by all four, in both orders, unedited twice and once with two words of the wrong answer's reason replaced;
authors are asked which answer they wrote.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.biases.self_preference import items as self_preference_items, measured
from helpers.biases.self_preference.asked import CONTROL, answers, trials
from helpers.biases.self_preference.items import before, complete, items, share
from helpers.config import load_experiment
from helpers.frames import pairwise as tidy
from helpers.providers import simulated
from helpers.run.control import controls, partnered
from helpers.stats.intervals import estimate
from helpers.types import Estimate, Experiment, Request
from studies.calibration import speaking
from studies.calibration.cases import Case, Target, load_worlds
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

NAME = "quality_self_preference"
EDIT = ("wrong", 2, 0)
DOSE = {"dose": "2"}
#: The headline numbers that each judge has, by what else than the judge they are of.
PLACES: dict[str, dict[str, str]] = {
    "obfuscation_effect": DOSE,
    "obfuscation_effect_pp": DOSE,
    "obfuscation_against_other_author": DOSE,
    "evaluator_quality_gap": {"stratum": measured.PRIMARY},
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
_PAIR = ["question_id", "right", "wrong", "judge"]
#: What these read of an item; the rest of a wide table only costs time.
_READ = [
    *("question_id", "article", "judge", "judge_vendor", "right", "wrong", "right_vendor", "wrong_vendor"),
    *("wrong_label", "own", "condition", "edit", "target", "dose", "repeat", "task", "score", "score_control"),
    *("right_first", "wrong_first", "right_first_control", "wrong_first_control", "consistent"),
]
#: What every model writes; the table of synonyms holds many of its words.
REASON = (
    "The passage shows the whole story and suggests a simple reason; it mentions a small house, clearly describes it, "
    "and often gives a careful hint that explains the matter. Signed by {}."
)
SIGNED = re.compile(r"Signed by (\w+)\.")
ASKED = re.compile(r"What was it in matter (\d+)\?\n")
THING = re.compile(OPTION.replace("{}", r"(\d+)"))


@dataclass(frozen=True)
class World:
    """A world and what is measured there; the fields are explained in the table beside this module.

    All headline numbers cover the value that they have in a very large population, those that are `none` or `lossy`
    excepted.
    """

    pairs: PairWorld
    words: str
    none: tuple[str, ...]
    failing: tuple[str, ...] = ()
    lossy: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    planted: tuple[str, ...] = ()
    edits: bool = False

    def draw(self, articles: int, rng: np.random.Generator) -> Drawn:
        """A sample of so many articles with three questions each."""
        return drawn(self.pairs, rng, (BEFORE, REPEAT, EDIT), articles, 3, (BEFORE, EDIT))

    def measure(self, verdicts: pd.DataFrame, seed: int) -> list[Estimate]:
        """The headline numbers of every judge, and the published comparisons that this world is about."""
        table, data = items(verdicts)[_READ], "simulated"
        found = [
            *measured.obfuscation_effect(table, data, seed, parts=False),
            *measured.against_other_author(table, data),
        ]
        if self.edits:
            return found
        found += [
            *measured.evaluator_quality_gap(table, data, seed, (measured.PRIMARY,)),
            *measured.recognition_balanced(table, data),
            *self_preference_items.accuracies(table[table["own"] == "wrong"], data, ("accuracy_harmful",)),
        ]
        if "naive_filtered_change" in self.published:
            found += [*measured.naive_filtered(table, data), *filtered_one_order(table, data)]
        if "naive_harmful_rate" in self.published:
            found += self_preference_items.accuracies(table[table["own"] == "wrong"], data, ("naive_harmful_rate",))
        return found


WORLDS = {
    name: World(**{**table, "pairs": PairWorld(**table["pairs"])}) for name, table in load_worlds(__file__).items()
}


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
        estimate("filtered_one_order_change", {"judge": str(judge)}, share(rows, rows["moved"]), data, "pp")
        for judge, rows in both.groupby("judge", observed=True, sort=True)
    ]


@cache
def _targets(name: str) -> tuple[Target, ...]:
    at, found = WORLDS[name], []
    truth = truths(at.pairs, EDIT)
    for judge in NAMES:
        for id, place in PLACES.items():
            if at.edits and not id.startswith("obfuscation"):
                continue
            nothing = 0.5 if id in ("recognition_balanced", "accuracy_harmful") else 0.0
            where = {"judge": judge, **place}
            # Recognition is planted in every judge or in none; all else in some.
            null = id in at.none and judge not in at.planted
            value, error = (nothing, 0.0) if null else truth[id, judge]
            role = "failure" if id in at.lossy else "null" if null else "planted"
            found.append(Target(id, where, value, role, nothing, error))
            if id in at.failing:
                found.append(Target(id, where, nothing, "failure", nothing))
        for id in at.published:
            place, nothing = PUBLISHED[id]
            found.append(Target(id, {"judge": judge, **place}, nothing, "failure", nothing))
    return tuple(found)


def spoken(made: Drawn) -> pd.DataFrame:
    """The pair frame of a sample through prompts, replies and parser: models answer, the rule editor edits.

    Whoever replies knows nothing but the prompt, its model and which asking it is: question, options, their letters,
    authors and edits are read from the text, and what the sample holds for these is said.
    """
    experiment, asked = _experiment(), questions(made)
    numbered = {key: row for row, key in enumerate(zip(made.q.tolist(), made.r.tolist(), made.w.tolist(), strict=True))}
    askings = {(each.arm, each.task): each for each in made.asked}
    replies = {
        "answers": lambda trial: _answer(trial.request, made),
        "editing": lambda trial: simulated.reply(trial.request)[0],
        "judging": lambda trial: _verdict(trial.request, made, askings, numbered),
    }
    judgments, verdicts = speaking.converse(experiment, trials, asked, replies)
    serve = asyncio.run(controls([each.trial for each in judgments], CONTROL, Path(), 0.0, 0.0))
    return tidy(partnered(judgments, CONTROL, serve), answers(experiment, asked, verdicts))


@cache
def _experiment() -> Experiment:
    models = speaking.models(NAMES)
    return replace(load_experiment(NAME, doses=[2], targets=["wrong"]), judges=models, candidates=models)


def _read(request: Request) -> tuple[simulated.Shown, int, dict[str, int]]:
    """What a prompt shows, its question's number and what each letter stands for."""
    shown = simulated.read_prompt(request.prompt)
    number, options = int(ASKED.match(shown.asked)[1]), {}
    for letter, text in simulated.OPTION.findall(shown.asked):
        options[letter], about = map(int, THING.fullmatch(text).groups())
        if about != number:
            raise ValueError(f"an option of question {about} stands in the prompt of question {number}")
    return shown, number, options


def _answer(request: Request, made: Drawn) -> str:
    """What a model answers: the letter of the option that it believes in."""
    shown, number, options = _read(request)
    name = request.model.name
    believed = made.answer[number, NAMES.index(name)]
    letter, reason = next(letter for letter, option in options.items() if option == believed), REASON.format(name)
    return simulated.write_verdict(request, shown.nonce, letter, reason, choice=letter, justification=reason)


def _verdict(request: Request, made: Drawn, arms: dict[tuple[tuple[str, int, int], str], Asked], numbered: dict) -> str:
    """What a judge says of the two answers in its prompt."""
    shown, number, options = _read(request)
    sides = {}
    for label, answer in zip(shown.labels, shown.texts, strict=True):
        letter, text = answer.split(". ", 1)
        author = SIGNED.search(text)[1]
        dose = sum(a != b for a, b in zip(REASON.format(author).split(), text.split(), strict=True))
        if options[letter] != made.answer[number, NAMES.index(author)]:
            raise ValueError(f"question {number}: {author} did not answer {letter}, which stands in the prompt")
        sides["wrong" if options[letter] else "right"] = (label, NAMES.index(author), dose)
    (right, r, of_right), (wrong, w, of_wrong) = sides["right"], sides["wrong"]
    target = {(True, False): "right", (False, True): "wrong", (False, False): "none"}[of_right > 0, of_wrong > 0]
    task = "wrote" if "You wrote one of these two answers" in request.prompt else "correct"
    repeat = request.repeat if target == "none" else 0
    asked = arms[(target, of_right + of_wrong, repeat), task]
    first = asked.right_first if right == "1" else asked.wrong_first
    verdict = first[numbered[number, r, w], NAMES.index(request.model.name)]
    if np.isnan(verdict):
        return "Much can be said for both of them." if repeat else json.dumps({"id": "beef", "choice": "1"})
    label = right if verdict == 1.0 else wrong
    return simulated.write_verdict(request, shown.nonce, label, choice=label)


CASES = tuple(
    Case(NAME, name, at.words, at.draw, frame, spoken, at.measure, partial(_targets, name))
    for name, at in WORLDS.items()
)
