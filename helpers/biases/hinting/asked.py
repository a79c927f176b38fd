"""What is asked: experiment 1 under each hint, in one random order."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import partial

from ... import prompts
from ...types import Answer, Experiment, Model, Question, Trial
from ..protocol import Answers, answers_then_verdicts, interleave
from ..top_choice import asked

Named = tuple[str | None, ...]


def dealt(mode: str, seed: int, judge: Model, question_id: str, vendors: Sequence[str]) -> Named:
    """Label by label, the vendor under whose name this judge is shown the answer of one of `vendors`, or None.

    Draws depend on seed, mode, question and judge only: neither on the repeat nor on the other hints.
    """
    own, rng = judge.vendor, random.Random(f"{seed}:{mode}:{question_id}:{judge.name}")
    others = sorted({vendor for vendor in vendors if vendor != own})
    if mode == "self":
        return tuple(vendor if vendor == own else None for vendor in vendors)
    if mode == "false_self":
        passed_off = rng.choice(others) if others else None
        return tuple(own if vendor == passed_off else None for vendor in vendors)
    if mode in ("competitors", "competitors_masked"):
        masked = rng.choice(others) if others and mode == "competitors_masked" else None
        return tuple(None if vendor in (own, masked) else vendor for vendor in vendors)
    if mode == "swapped":
        return tuple(rng.sample(vendors, len(vendors)))
    return tuple(vendors)


def _text(template: prompts.Template, **variables: object) -> str:
    return prompts.render(template, **variables)[1].rstrip("\n")


#: The condition that all others are compared with; experiment 1's own judgments serve as far as they are fresh.
CONTROL = "none"


def judge_trials(experiment: Experiment, questions: Sequence[Question], answers: Answers) -> list[Trial]:
    """Every question, judge, repeat and condition, interleaved in one random order drawn by the seed.

    Without a hint the prompts are those of experiment 1, byte for byte.
    """
    own, authors = (prompts.load(experiment.folder / "prompts" / f"{name}.txt") for name in ("own", "authors"))
    models = {candidate.name: candidate.model_id for candidate in experiment.candidates}

    def hint(mode: str, judge: Model, question: Question, shown: Mapping[str, Answer]) -> tuple[str, Named]:
        """The text, and label by label the vendor under whose name the answer is shown (None: not disclosed)."""
        named = dealt(mode, experiment.seed, judge, question.id, [answer.vendor for answer in shown.values()])
        if mode in ("self", "false_self"):
            labels = [label for label, vendor in zip(shown, named, strict=True) if vendor]
            return _text(own, labels=labels, vendor=judge.vendor.upper()), named
        names = [vendor and vendor.upper() for vendor in named]
        if mode == "model":
            names = [models.get(answer.candidate) or answer.model or answer.candidate for answer in shown.values()]
        return _text(authors, authors=list(zip(shown, names, strict=True))), named

    conditions = {**asked.BLIND, **{mode: partial(hint, mode) for mode in experiment.extra["hints"]}}
    return interleave(asked.judge_trials(experiment, questions, answers, conditions), experiment.seed)  # type: ignore


trials = answers_then_verdicts(asked.answer_trials, asked.answers, judge_trials)


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """Why these judges and candidates cannot show what a hint does, to be read before paying; "" where they can."""
    if experiment.extra.get("answers", "ask") != "ask":
        return ""  # whose answers those are is not in the parameters
    candidates = experiment.candidates
    if not {model.vendor for model in candidates} & {judge.vendor for judge in experiment.judges}:
        return "No judge's own vendor is among the candidates: no hint can move a judge towards its own."
    if len({model.vendor for model in candidates}) == 1:
        return "All candidates are of one vendor: whoever is first, the vendor is, and no hint can change that."
    return ""
