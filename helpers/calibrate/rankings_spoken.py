"""The same rankings the long way: prompts as the experiment writes them, judges who read them, replies as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from helpers import verdicts
from helpers.calibrate.rankings import Asking, Sample, lost, question_ids
from helpers.calibrate.worlds.listwise import CATEGORIES
from helpers.config import load_experiment
from helpers.frames import listwise
from helpers.types import Answer, Completion, Experiment, Model, Question, Trial, short_hash

QUESTION = re.compile(r"<<<QUESTION (\w+)>>>\n(.*?)\n<<<END QUESTION \1>>>", re.DOTALL)
ANSWER = re.compile(r"<<<ANSWER (\w) (\w+)>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
OWN = re.compile(r"Who wrote what: answers? ([\w ]+) came from your own vendor, (\w+)\.")
AUTHOR = re.compile(r"^(\w): (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Known:
    """Whose text is whose: what a judge feels goes with the text, wherever it stands in the prompt."""

    questions: dict[str, int]
    candidates: dict[str, int]


def frame(sample: Sample, trials: Callable[..., list[Trial]], name: str) -> pd.DataFrame:
    """The tidy frame of what the sample's judges say to the `trials` of an experiment, under the prompts of `name`.

    They are given the rendered prompts and nothing else; which utility and which noise is whose they know by the texts.
    """
    world, ids = sample.world, question_ids(len(sample.felt.category))
    vendors = [world.vendors[v] for v in world.vendor_of]
    tiers = world.tiers * len(world.vendors)
    models = tuple(
        Model(name, "simulated", name, vendor, tier, structured=number % 2 == 0)
        for number, (name, vendor, tier) in enumerate(zip(world.names, vendors, tiers, strict=True))
    )
    questions = [
        Question(id, CATEGORIES[sample.felt.category[number]], f"What is to be said of subject {id}?", place=number)
        for number, id in enumerate(ids)
    ]
    answers = {
        (id, model.name): Answer(id, model.name, model.vendor, model.tier, _text(sample.seed, id, model), model.name)
        for id in ids
        for model in models
    }
    hints = [asking.condition for asking in sample.askings if asking.condition != "none"]
    repeats = 1 + max(asking.repeat for asking in sample.askings)
    experiment = replace(
        _settled(name),
        judges=models,
        candidates=models,
        seed=sample.seed,
        repeats=repeats,
        own={"hints": list(dict.fromkeys(hints)), "answers": "given"},
    )
    known = Known(
        {question.text: number for number, question in enumerate(questions)},
        {answers[id, model.name].text: number for id in ids for number, model in enumerate(models)},
    )
    askings = {(asking.condition, asking.repeat): asking for asking in sample.askings}
    said = []
    for trial in trials("judging", experiment, questions, {}, answers):
        asking = askings.get((trial.condition, trial.request.repeat))
        if asking is not None:  # an experiment repeats all its conditions, a sample only those it needs
            said.append(verdicts.read(trial, _reply(sample, asking, known, models.index(trial.judge), trial)))
    return listwise(said, answers)


@lru_cache
def _settled(name: str) -> Experiment:
    return load_experiment(name)


def _text(seed: int, question: str, model: Model) -> str:
    """An answer that gives away neither its author nor its worth."""
    return f"Answer {short_hash('text', seed, question, model.name, digits=12)}.\n\nIt has two paragraphs."


def _reply(sample: Sample, asking: Asking, known: Known, judge: int, trial: Trial) -> Completion:
    """What the judge writes to the prompt of this trial."""
    prompt, world = trial.request.prompt, sample.world
    nonce, text = QUESTION.search(prompt).groups()
    question = known.questions[text]
    shown = {label: known.candidates[text] for label, _, text in ANSWER.findall(prompt)}
    mine = _taken(prompt[prompt.rindex("<<<END ") :], world.vendors[world.vendor_of[judge]].upper(), shown)
    utility = {}
    for slot, (label, candidate) in enumerate(shown.items()):
        felt = sample.felt.worth[question, judge, candidate] + sample.felt.habits[judge, slot]
        felt = felt + asking.gain[question] * (label in mine)
        utility[label] = felt + asking.noise[question, judge, candidate]
    ranking = sorted(utility, key=utility.__getitem__, reverse=True)
    own_first = bool(world.vendor_of[shown[ranking[0]]] == world.vendor_of[judge])
    gone = bool(lost(world, asking, asking.luck[question, judge], own_first))
    text, finish = _written(ranking, nonce, trial.request.schema is not None, (question + judge) % 3 if gone else None)
    return Completion(trial.request.key, "ok", text, finish, model=trial.judge.name)


def _taken(after: str, own: str, shown: dict[str, int]) -> set[str]:
    """The labels that the judge takes for its own vendor's, by what stands after the answers in the prompt."""
    if told := OWN.search(after):
        return set(told[1].split(" and ")) if told[2] == own else set()
    authors = {label: name for label, name in AUTHOR.findall(after) if label in shown}
    if not authors:
        return set()
    hidden = {label for label, name in authors.items() if name == "not disclosed"}
    # Where the others are named and the own vendor is not among them, the unnamed can only be its own.
    return hidden if own not in authors.values() else {label for label, name in authors.items() if name == own}


def _written(ranking: Sequence[str], nonce: str, structured: bool, lost_as: int | None) -> tuple[str, str]:
    """The reply as text, and how it ended; `lost_as` picks one of three ways in which no verdict can be read."""
    scores = {label: int(score) for label, score in zip(ranking, np.linspace(9, 1, len(ranking)), strict=True)}
    reason = f"{ranking[0]} is the most complete answer, {ranking[-1]} the least."
    if lost_as == 0:
        return reason, "refusal"
    if lost_as == 1:
        return f"{reason} I would rank them {' > '.join(ranking)}.", "stop"
    told = list(ranking) if lost_as is None else [*ranking[:-1], ranking[0]]
    if structured:
        return json.dumps({"id": nonce, "ranking": told, "scores": scores, "justification": reason}), "stop"
    listed = " ".join(f"{label}={score}" for label, score in sorted(scores.items()))
    return f"{reason}\n\nSCORES-{nonce}: {listed}\nRANKING-{nonce}: {' > '.join(told)}", "stop"
