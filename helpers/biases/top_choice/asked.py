"""What candidates and judges are asked: one answer a question, then one ranking of all answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from string import ascii_uppercase

from ... import frames, prompts
from ...types import Answer, Experiment, Model, Question, Trial
from ..protocol import Answers, Replies, answers_then_verdicts, make_trial, unfit

#: What is asked, in this order; the last stage holds the judgments.
STAGES = ("answers", "judging")
#: What a question must have to be judged.
NEEDS = "a fit answer of every candidate"
#: What a judge is told about the authors of the answers by label: the text, and the vendor named for each slot.
Hint = Callable[[Model, Question, Mapping[str, Answer]], tuple[str, tuple[str | None, ...]]]
BLIND: Mapping[str, Hint] = {"none": lambda judge, question, shown: ("", ())}


@lru_cache
def williams(k: int) -> list[tuple[int, ...]]:
    """Orders of k things in which each takes each place, and follows each other thing, equally often.

    k rows for even k, 2 k for odd k (a square and its mirror). Source: Williams 1949.

    >>> williams(4)
    [(0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1)]
    >>> len(williams(3)), len(williams(6))
    (6, 6)
    """
    first = [0] + [(step + 1) // 2 if step % 2 else k - step // 2 for step in range(1, k)]
    square = [tuple((place + row) % k for place in first) for row in range(k)]
    return square if k % 2 == 0 else square + [row[::-1] for row in square]


def order(candidates: Sequence[str], place: int, judge: str, seed: int, order_draw: int = 0) -> tuple[str, ...]:
    """The candidates as this judge is shown them at the question with this place in the ranked order.

    Blocks of a Williams design, each block relabelled at random: neither condition, hint, repeat nor limit enters, so
    that all conditions show the same order and a larger limit re-asks nothing.
    """
    if place < 0:
        raise ValueError("the question has no place in the ranked order yet; without it all orders would be the same")
    names = sorted(candidates)
    if not 2 <= len(names) <= len(ascii_uppercase):
        raise ValueError(f"{len(names)} candidates cannot be ranked: from 2 to {len(ascii_uppercase)}, a letter each")
    rows = williams(len(names))
    relabelled = random.Random(f"{seed}:{judge}:{place // len(rows)}").sample(names, len(names))
    return tuple(relabelled[index] for index in rows[(place + order_draw) % len(rows)])


def answer_trials(experiment: Experiment, questions: Sequence[Question]) -> list[Trial]:
    """One request a question and candidate."""
    asked = ((question, experiment.candidates) for question in questions)
    return prompts.answer_trials(experiment.shared / "prompts" / "answer.txt", experiment, asked)


def answers(experiment: Experiment, questions: Sequence[Question], replies: Replies) -> Answers:
    """The answers by question and candidate, from the `replies` so far, by key (see `frames.written`)."""
    return frames.written(answer_trials(experiment, questions), replies)


def judge_trials(
    experiment: Experiment, questions: Sequence[Question], answers: Answers, conditions: Mapping[str, Hint] = BLIND
) -> list[Trial]:
    """One request a question, judge, repeat and condition: all answers at once in a balanced order, hinted or not.

    The order is the same under all conditions. Questions with an unfit answer are left out (`unfit` names them).
    """
    template = prompts.load(experiment.shared / "prompts" / "judge.txt")
    spoilt, draw = unfit(answers), experiment.extra.get("order_draw", 0)
    by_question: dict[str, dict[str, Answer]] = {}
    for (question_id, candidate), answer in answers.items():
        by_question.setdefault(question_id, {})[candidate] = answer
    found = []
    for question, judge in product((each for each in questions if each.id not in spoilt), experiment.judges):
        shown = order(tuple(by_question[question.id]), question.place, judge.name, experiment.seed, draw)
        labels, written = tuple(ascii_uppercase[: len(shown)]), [by_question[question.id][name] for name in shown]
        placed: dict = {"form": "listwise", "labels": labels, "shown": shown, "written": written}
        lettered = [(label, answer.text or "") for label, answer in zip(labels, written, strict=True)]
        sources = {f"{each.candidate} on question {question.id}": each.text or "" for each in written}
        sources |= {f"question {question.id}": question.text}
        for repeat, (condition, hint) in product(range(experiment.repeats), conditions.items()):
            words, named = hint(judge, question, dict(zip(labels, written, strict=True)))
            nonce = prompts.nonce(experiment.seed, question.id)
            prompts.check_nonce(nonce, {**sources, f"the hint {condition}": words})
            texts = {"question": question.text, "answers": lettered, "hint": words}
            at = (experiment, question, judge, condition, template, texts)
            found.append(make_trial(*at, repeat=repeat, named=named, **placed))
    return found


trials = answers_then_verdicts(answer_trials, answers, judge_trials)


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """Why this panel cannot carry the primary estimate, as a sentence to be read before paying; "" where it can.

    Counts what a panel can tell apart: each judge gives one mean utility less than there are answers, against quality
    of the answers, own-vendor terms and scales.
    """
    if experiment.extra.get("answers", "ask") != "ask":
        return ""  # whose answers those are is not in the parameters
    judges, candidates = experiment.judges, experiment.candidates
    own = {model.vendor for model in candidates} & {judge.vendor for judge in judges}
    vendors = {model.vendor for model in candidates}
    if not own:
        return "No judge's own vendor is among the candidates: there is no self-preference to measure."
    if len(vendors) == len(own) < 3:
        return "With fewer than three vendors only the sum of their preferences is identified: no estimate per vendor."
    comparisons = len(judges) * (len(candidates) - 1)
    if comparisons < len(candidates) - 1 + len(own) + len(judges) - 1:
        return "Too few answers a judge to tell sharpness from preference: no estimate per vendor; add candidates."
    return ""
