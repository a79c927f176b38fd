"""What is asked: which of two wordings of one answer is better, in both orders; nobody has to write anything first."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from helpers import prompts
from helpers.biases.verbosity.design import known, worded
from helpers.biases.verbosity.wording import AS_IS, KNOWN, STYLE, Pair, pairs
from helpers.biases.verbosity.wording import CONTROL as REWORDING
from helpers.types import Answer, Experiment, Judgment, Model, Question, Request, Trial, short_hash

#: What is asked; one stage, which holds the judgments.
STAGES = ("judging",)
LABELS = ("A", "B")
#: Who stands first.
TRIED, OTHER = "tried", "other"


def trials(
    stage: str,
    experiment: Experiment,
    questions: Sequence[Question],
    said: Mapping[str, Judgment],
    given: Mapping[tuple[str, str], Answer] | None = None,
) -> list[Trial]:
    """Every comparison of every question that has one, for each judge, in both orders.

    The wordings themselves and their control as often as `repeats` says, all others once; in one random order drawn by
    the seed, so that neither an order nor a wording is always the earlier one. The texts of a question are drawn by the
    seed and the question alone: all judges see the same. `said` and `given` are not used.
    """
    template = prompts.load(experiment.folder / "prompts" / "judge.txt")
    found = []
    for question in questions:
        for pair in compared(experiment, question):
            nonce = prompts.nonce(experiment.seed, question.id)
            texts = {f"question {question.id}": "\n".join((question.text, pair.tried, pair.other))}
            prompts.check_nonce(nonce, texts)
            again = experiment.repeats if pair.condition in (STYLE, REWORDING) else 1
            found += [
                _trial(experiment, template, question, pair, judge, first, repeat)
                for judge in experiment.judges
                for first in (TRIED, OTHER)
                for repeat in range(again)
            ]
    return sorted(found, key=lambda trial: _lot(experiment.seed, trial))


def compared(experiment: Experiment, question: Question) -> Iterator[Pair]:
    """The comparisons of one question; none where neither its wording can be changed nor a better text is known."""
    if known(question):
        better, worse = question.options if question.gold == "A" else reversed(question.options)
        yield Pair(KNOWN, question.category, AS_IS, better, worse)
    elif worded(experiment, question):
        rng = random.Random(f"{experiment.seed}:wording:{question.id}")
        own = experiment.own
        yield from pairs(
            question.points, experiment.options["phrases"], own["padding_sentences"], rng, own["comparisons"]
        )


def answers(
    experiment: Experiment, questions: Sequence[Question], said: Mapping[str, Judgment]
) -> dict[tuple[str, str], Answer]:
    """None: the texts that are judged are made by rules, and nobody's answers."""
    return {}


def unfit(answers: Mapping[tuple[str, str], Answer]) -> dict[str, list[str]]:
    """None: there is no answer that could be left out."""
    return {}


def _trial(
    experiment: Experiment,
    template: prompts.Template,
    question: Question,
    pair: Pair,
    judge: Model,
    first: str,
    repeat: int,
) -> Trial:
    order = (pair.tried, pair.other) if first == TRIED else (pair.other, pair.tried)
    nonce = prompts.nonce(experiment.seed, question.id)
    system, prompt = prompts.late(
        template,
        question=question.text,
        first=order[0],
        second=order[1],
        nonce=nonce,
        structured=judge.structured,
    )
    schema = prompts.schema_for(judge, "pairwise", LABELS, nonce)
    names = {TRIED: pair.bias, OTHER: OTHER}
    return Trial(
        experiment.name,
        question.id,
        question.category,
        judge,
        Request(judge, prompt, system, schema, repeat),
        pair.condition,
        form="pairwise",
        shown=tuple(names[who] for who in (first, *({TRIED, OTHER} - {first}))),
        labels=LABELS,
        nonce=nonce,
        where={
            "bias": pair.bias,
            "wording": pair.wording,
            "first": first,
            "letters_tried": str(len(pair.tried)),
            "letters_other": str(len(pair.other)),
        },
    )


def _lot(seed: int, trial: Trial) -> str:
    drawn = (trial.question_id, trial.judge.name, trial.condition, trial.request.repeat)
    return short_hash(
        seed, "interleaved", *drawn, *(trial.where[key] for key in ("bias", "wording", "first")), digits=16
    )
