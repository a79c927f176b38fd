"""Who answered what, and which pairs of answers have exactly one right one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_uppercase

from helpers import prompts
from helpers.types import Answer, Experiment, Judgment, Question, Request, Trial


@dataclass(frozen=True)
class Pair:
    """Two answers to one question of which exactly one is right; before answers are written, which is open."""

    question: Question
    right: Answer
    wrong: Answer


def letters(question: Question) -> tuple[str, ...]:
    """The letter of each option.

    >>> letters(Question("q", "c", "?", options=("one", "two")))
    ('A', 'B')
    """
    return tuple(ascii_uppercase[: len(question.options)])


def lettered(question: Question) -> tuple[tuple[str, str], ...]:
    """Each option with its letter; the same object for all prompts on a question, which hold it.

    >>> lettered(Question("q", "c", "?", options=("one", "two")))
    (('A', 'one'), ('B', 'two'))
    """
    return _lettered(question.options)


@lru_cache(maxsize=1024)
def _lettered(options: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(zip(ascii_uppercase[: len(options)], options, strict=True))


def answer_trials(experiment: Experiment, questions: Sequence[Question]) -> list[Trial]:
    """One request a question and candidate: the letter of an option and a reason for it; article by article."""
    template = prompts.load(experiment.shared / "prompts" / "answer.txt")
    return [
        _answer_trial(experiment, template, question, candidate)
        # So that a provider's cache of the passage serves.
        for question in sorted(questions, key=lambda question: question.article)
        for candidate in experiment.candidates
    ]


def _answer_trial(experiment, template, question, candidate) -> Trial:  # type: ignore[no-untyped-def]
    labels, nonce = letters(question), prompts.nonce(experiment.seed, question.id)
    prompts.check_nonce(nonce, {f"question {question.id}": material(question)})
    system, prompt = prompts.late(
        template,
        passage=question.passage,
        question=question.text,
        options=lettered(question),
        nonce=nonce,
        structured=candidate.structured,
    )
    schema = prompts.schema_for(candidate, "choice", labels, nonce, reasons=True)
    request = Request(candidate, prompt, system, schema, shared=question.passage)
    return Trial(
        experiment.name,
        question.id,
        question.category,
        candidate,
        request,
        "answer",
        form="choice",
        labels=labels,
        nonce=nonce,
        where={"article": question.article},
    )


def material(question: Question) -> str:
    """All texts of a question, one below the other."""
    return "\n".join([question.passage, question.text, *question.options])


def answers(
    experiment: Experiment, questions: Sequence[Question], said: Mapping[str, Judgment]
) -> dict[tuple[str, str], Answer]:
    """The answers by question and candidate; those not written yet have no text and count their token limit.

    `outcome` is "ok" where there are a letter and a reason, "no_reason" where there is a letter alone, "holds_nonce"
    where the text could close its own delimiters, "missing" where nothing was said and nobody is asked, else why the
    reply has no letter.
    """
    written, asking = {}, experiment.judgments == "ask"
    for trial in answer_trials(experiment, questions):
        model, judgment = trial.judge, said.get(trial.request.key)
        verdict = judgment.verdict if judgment else None
        unsaid = ("ok", None, None) if asking else ("missing", "", None)
        outcome, text, label = (judgment.outcome, "", None) if judgment else unsaid
        if verdict:
            label, text = verdict.choice, verdict.justification
            outcome = "ok" if text.strip() else "no_reason"
        returned = judgment.completion.model if judgment and judgment.completion else None
        answer = Answer(
            *(trial.question_id, model.name, model.vendor, model.tier, text, returned, outcome, model.max_tokens, label)
        )
        written[trial.question_id, model.name] = prompts.without_nonce(experiment.seed, answer)
    return written


def fit(
    questions: Sequence[Question], answers: Mapping[tuple[str, str], Answer]
) -> Iterator[tuple[Question, list[Answer]]]:
    """Each question with the answers that can enter a pair, by candidate's name; unwritten ones among them."""
    by: dict[str, list[Answer]] = {}
    for (question_id, _), answer in sorted(answers.items()):
        if answer.outcome == "ok":
            by.setdefault(question_id, []).append(answer)
    yield from ((question, by.get(question.id, [])) for question in questions)


def open_(given: Sequence[Answer]) -> bool:
    """Whether an answer to a question is still to be written, so that its pairs are not known."""
    return any(answer.text is None for answer in given)


def pairs(questions: Sequence[Question], answers: Mapping[tuple[str, str], Answer]) -> Iterator[Pair]:
    """All pairs of fit answers of which exactly one is right; of questions whose answers are all written."""
    for question, given in fit(questions, answers):
        if not open_(given):
            right = [answer for answer in given if answer.label == question.gold]
            wrong = [answer for answer in given if answer.label != question.gold]
            yield from (Pair(question, one, other) for one in right for other in wrong)


def most_pairs(question: Question, given: Sequence[Answer], judge: str, each: int, own: int) -> Iterator[Pair]:
    """The pairs of a question whose answers are not all written that give this judge the most to do: for the plan.

    `each` is how often a pair is judged, `own` how often more if the judge wrote its wrong answer.
    """
    mine = [answer for answer in given if answer.candidate == judge]
    others = [answer for answer in given if answer.candidate != judge]
    n, extra = len(given), own if mine else 0
    right = max(range(1, n), key=lambda count: count * (n - count) * each + count * extra, default=0)
    wrong = [*mine, *others[right:]]
    yield from (Pair(question, one, other) for one in others[:right] for other in wrong)


def unfit(answers: Mapping[tuple[str, str], Answer]) -> dict[str, list[str]]:
    """Answers that enter no pair, with the reason, by question; the others to that question are judged all the same."""
    reasons: dict[str, list[str]] = {}
    for (question_id, candidate), answer in answers.items():
        if answer.outcome != "ok":
            reasons.setdefault(question_id, []).append(f"{candidate}: {answer.outcome}")
    return reasons
