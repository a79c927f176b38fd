"""What is asked: answers of the baseline and the candidates, and which of two is better, in both orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from ... import frames, prompts
from ...types import Answer, Experiment, Model, Question, Trial
from ..protocol import Answers, Replies, answers_then_verdicts, few_words, fit, interleave, make_trial

#: What stands against the candidate's answer in a quality_gap pair: its answer to another question.
OFF_TOPIC = "answer to another question"
#: In the settings by category: all categories that are not named.
OTHER = "other"


def check(experiment: Experiment) -> None:
    """Refuse (ValueError) candidates that are all a baseline."""
    baselines = {model.name for model in experiment.extra["baselines"].values()}
    alone = len(baselines) == 1 and {model.name for model in experiment.candidates} == baselines
    if experiment.extra["answers"] == "ask" and alone:
        fault = f"the only candidate, {baselines.pop()}, is the baseline of every category"
        raise ValueError(f"{fault}: nothing is compared with it")


def baseline_of(experiment: Experiment, question: Question) -> Model:
    """What candidates are compared with on this question: the baseline of its category.

    A category that is not named and no baseline for others is a ValueError that lists those which are.
    """
    baselines = experiment.extra["baselines"]
    found = baselines.get(question.category) or baselines.get(OTHER)
    if found is None:
        fault = f"question {question.id} is of the category {question.category!r}, which has no baseline"
        raise ValueError(f"{fault}; baselines are set for: {', '.join(baselines)}")
    return found


def prompt_of(experiment: Experiment, question: Question) -> Path:
    """The judge's prompt on this question: that of its category in the config's `prompts`, else that of "other"."""
    named = experiment.extra["prompts"]
    return experiment.shared / "prompts" / named.get(question.category, named[OTHER])


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """What this design cannot show, to be read before paying; "" where there is nothing to say."""
    parts = []
    if experiment.repeats < 2:
        parts.append("repeats = 1: no order is asked twice, so flips cannot be told from noise (no excess_flip).")
    if "identical" not in experiment.extra["controls"] or not experiment.extra["control_limit"]:
        parts.append("No identical pairs: a preference for a place cannot be seen apart from quality.")
    return " ".join(parts + few_words(len(questions)))


#: What is asked, in this order; the last stage holds the judgments.
STAGES = ("answers", "judging")
#: What a question must have to be judged.
NEEDS = "a fit answer of its baseline and of a candidate that is another model"


@dataclass(frozen=True)
class Shown:
    """One comparison: a candidate's answer, what it is compared with, and under which condition."""

    question: Question
    condition: str
    candidate: Answer
    baseline: Answer


def answer_trials(experiment: Experiment, questions: Sequence[Question]) -> list[Trial]:
    """One request a question and model: the baseline of its category and each candidate."""
    path = experiment.shared / "prompts" / "answer.txt"
    # The baseline of a question may be one of the candidates.
    models = [{m.name: m for m in (baseline_of(experiment, q), *experiment.candidates)}.values() for q in questions]
    return prompts.answer_trials(path, experiment, zip(questions, models, strict=True))


def answers(experiment: Experiment, questions: Sequence[Question], replies: Replies) -> Answers:
    """The answers by question and model, from the `replies` so far, by key (see `frames.written`)."""
    found = frames.written(answer_trials(experiment, questions), replies, experiment.judgments == "ask")
    return {key: prompts.without_nonce(experiment.seed, answer) for key, answer in found.items()}


def judge_trials(experiment: Experiment, questions: Sequence[Question], answers: Answers) -> list[Trial]:
    """Every comparison in both orders, in one random order."""
    templates = {name: prompts.load(name) for name in {prompt_of(experiment, question) for question in questions}}
    found = []
    for shown in comparisons(experiment, questions, answers):
        question, candidate = shown.question, shown.candidate.candidate
        baseline = OFF_TOPIC if shown.condition == "quality_gap" else shown.baseline.candidate
        sides = ((shown.baseline, baseline), (shown.candidate, candidate))
        for judge, (first, repeat) in product(experiment.judges, _askings(experiment, shown.condition)):
            (one, name), (two, other) = sides if first == "baseline" else sides[::-1]
            texts = {"question": question.text, "first": one.text or "", "second": two.text or ""}
            where = {"candidate": candidate, "baseline": baseline, "first": first}
            placed: dict = {"repeat": repeat, "written": (one, two), "shown": (name, other), "where": where}
            template = templates[prompt_of(experiment, question)]
            found.append(make_trial(experiment, question, judge, shown.condition, template, texts, **placed))
    return interleave(found, experiment.seed, "candidate", "baseline", "first")


def _askings(experiment: Experiment, condition: str) -> Iterator[tuple[str, int]]:
    """Who stands first, and the repeat number: the same text twice has one order, a wide gap needs no repeat."""
    firsts = ("baseline",) if condition == "identical" else ("baseline", "candidate")
    for repeat in range(1 if condition == "quality_gap" else experiment.repeats):
        for first in firsts:
            yield first, repeat


def comparisons(experiment: Experiment, questions: Sequence[Question], answers: Answers) -> Iterator[Shown]:
    """Every candidate against the baseline of its question, and the control comparisons that were chosen.

    identical: the candidate's answer twice. quality_gap: its answer against its answer to the other question of a
    couple, the questions of a category being coupled in ranked order, two by two; one whose other is not in the run
    has none, so that a larger `question_limit` asks nothing anew. Both on the first `control_limit` questions.
    """
    couples, by = _couples(questions), fit(answers)
    for question in questions:
        nonce = prompts.nonce(experiment.seed, question.id)
        prompts.check_nonce(nonce, {f"question {question.id}": question.text})
        mine = baseline_of(experiment, question).name
        baseline = next((answer for answer in by.get(question.id, ()) if answer.candidate == mine), None)
        controls = experiment.extra["controls"] if question.place < experiment.extra["control_limit"] else ()
        for candidate in by.get(question.id, ()):
            if candidate.candidate == mine:
                continue
            if baseline is not None:
                yield Shown(question, "none", candidate, baseline)
            if "identical" in controls:
                yield Shown(question, "identical", candidate, candidate)
            other = answers.get((couples.get(question.id, ""), candidate.candidate))
            fits = other is not None and other.outcome == "ok" and nonce not in (other.text or "").casefold()
            if "quality_gap" in controls and fits:
                yield Shown(question, "quality_gap", candidate, other)


def _couples(questions: Sequence[Question]) -> dict[str, str]:
    """The other question of each couple of a category."""
    found: dict[str, str] = {}
    open_: dict[str, str] = {}
    for question in sorted(questions, key=lambda question: question.place):
        other = open_.pop(question.category, None)
        if other is None:
            open_[question.category] = question.id
        else:
            found[other], found[question.id] = question.id, other
    return found


trials = answers_then_verdicts(answer_trials, answers, judge_trials)
