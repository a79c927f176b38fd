"""What is asked: answers, edits of their reasons, and which answer of a pair is right - or was written by the judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from helpers import prompts
from helpers.biases.self_preference.arms import CONTROL, Arm, arms
from helpers.biases.self_preference.editing import Edited, edit_trials, edits
from helpers.biases.self_preference.pairs import (
    Pair,
    answer_trials,
    answers,
    fit,
    lettered,
    material,
    most_pairs,
    open_,
    pairs,
)
from helpers.types import Answer, Experiment, Judgment, Model, Question, Request, Trial, short_hash

#: What is asked, in this order; the last stage holds the judgments.
STAGES = ("answers", "editing", "judging")
#: What a question must have to be judged.
NEEDS = "two answers of which exactly one is right"
LABELS = ("1", "2")


def trials(
    stage: str,
    experiment: Experiment,
    questions: Sequence[Question],
    said: Mapping[str, Judgment],
    given: Mapping[tuple[str, str], Answer] | None = None,
) -> list[Trial]:
    """What this experiment asks at a stage, as far as what has been `said` so far (by key) determines it.

    `given` answers (published ones) make the first stage empty.
    """
    if stage == "answers":
        return [] if given is not None else answer_trials(experiment, questions)
    written = given if given is not None else answers(experiment, questions, said)
    if stage == "editing":
        return edit_trials(experiment, questions, written)
    return judge_trials(experiment, questions, written, edits(experiment, questions, written, said))


def judge_trials(
    experiment: Experiment,
    questions: Sequence[Question],
    answers: Mapping[tuple[str, str], Answer],
    edited: Mapping[tuple[str, str], Edited],
) -> list[Trial]:
    """Every pair, judge, arm and repeat in both orders, and which answer a judge wrote itself.

    Sorted by article, so that a provider's cache of the passage serves, and within an article in one random order drawn
    by the seed. An arm whose edit could not be made is not asked for that pair.
    """
    template = prompts.load(experiment.shared / "prompts" / "judge.txt")
    for question in questions:
        prompts.check_nonce(
            prompts.nonce(experiment.seed, question.id), {f"question {question.id}": material(question)}
        )
    known = [(pair, experiment.judges) for pair in pairs(questions, answers)]
    each = experiment.repeats + len(arms(experiment)) - 1
    own = sum(arm.target in ("none", "wrong") for arm in arms(experiment))
    for question, given in fit(questions, answers):
        if open_(given):
            for judge in experiment.judges:
                known += [(pair, (judge,)) for pair in most_pairs(question, given, judge.name, each, own)]
    found = []
    for pair, judges in known:
        for arm in arms(experiment):
            shown = {role: _edited(getattr(pair, role), arm, role, edited) for role in ("right", "wrong")}
            if all(answer is not None for answer in shown.values()):
                found += _of_arm(experiment, template, replace(pair, **shown), arm, judges)
    articles = {question.id: question.article for question in questions}
    return sorted(found, key=lambda t: (articles[t.question_id], _lot(experiment.seed, t)))


def _edited(answer: Answer, arm: Arm, role: str, edited: Mapping[tuple[str, str], Edited]) -> Answer | None:
    """The answer as this arm shows it; None where its edit could not be made."""
    if not arm.edits(role):
        return answer
    edit = edited.get((answer.question_id, answer.candidate))
    if edit is None or arm.edit not in edit.kinds:
        # What is still to be edited may become longer than what was written.
        least = 2 * len((answer.text or "").encode()) + 1
        return replace(answer, text=None, max_tokens=max(answer.max_tokens, least))
    text = edit.paraphrase if arm.edit == "paraphrase" else edit.words.get(arm.dose)
    return None if text is None else replace(answer, text=text)


def _of_arm(
    experiment: Experiment, template: prompts.Template, pair: Pair, arm: Arm, judges: Sequence[Model]
) -> Iterator[Trial]:
    repeats = experiment.repeats if arm.name == CONTROL else 1
    for judge in judges:
        own = next((role for role in ("right", "wrong") if getattr(pair, role).candidate == judge.name), "")
        for first in ("right", "wrong"):
            for repeat in range(repeats):
                yield _trial(experiment, template, pair, arm, judge, own, first, repeat, "correct")
            if own and (arm.name == CONTROL or arm.target == own):
                yield _trial(experiment, template, pair, arm, judge, own, first, 0, "wrote")


def _trial(  # type: ignore[no-untyped-def]
    experiment: Experiment, template, pair: Pair, arm: Arm, judge: Model, own: str, first: str, repeat: int, task: str
) -> Trial:
    question, nonce = pair.question, prompts.nonce(experiment.seed, pair.question.id)
    order = (pair.right, pair.wrong) if first == "right" else (pair.wrong, pair.right)
    system, prompt = prompts.late(
        template,
        passage=question.passage,
        question=question.text,
        options=lettered(question),
        first=_told(order[0].label, order[0].text or ""),
        second=_told(order[1].label, order[1].text or ""),
        nonce=nonce,
        task=task,
        structured=judge.structured,
    )
    request = Request(
        judge,
        prompt,
        system,
        prompts.schema_for(judge, "choice", LABELS, nonce),
        repeat,
        unwritten=sum(answer.max_tokens for answer in order if answer.text is None),
        shared=question.passage,
    )
    return Trial(
        experiment.name,
        question.id,
        question.category,
        judge,
        request,
        arm.name,
        form="choice",
        shown=tuple(answer.candidate for answer in order),
        labels=LABELS,
        nonce=nonce,
        where={
            "article": question.article,
            "task": task,
            "edit": arm.edit,
            "target": arm.target,
            "dose": str(arm.dose),
            "right": pair.right.candidate,
            "wrong": pair.wrong.candidate,
            "first": first,
            "own": own,
        },
    )


@lru_cache(maxsize=64)
def _told(label: str | None, text: str) -> str:
    """An answer as prompts show it; one text for all trials of a pair, which hold it."""
    return f"{label}. {text}"


def _lot(seed: int, trial: Trial) -> str:
    drawn = (trial.question_id, trial.judge.name, trial.condition, trial.request.repeat, *trial.shown)
    return short_hash(seed, "interleaved", *drawn, trial.where["task"], digits=16)
