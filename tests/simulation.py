"""Large samples of simulated judges through the text path: prompt, reply, reading, frame; no store, no retries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers import frames, verdicts
from helpers.biases.top_choice import asked as top_choice_asked
from helpers.providers import simulated
from helpers.types import Answer, Completion, Experiment, Judgment, Model, Question, Request
from tests.runs import settled

CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")


def questions(count: int) -> tuple[Question, ...]:
    """Made-up questions with 5 or 6 answer points each, spread over the eight categories."""
    return tuple(
        Question(
            f"question_{i}",
            CATEGORIES[i % 8],
            f"What is to be said about subject number {i}?",
            tuple(f"Statement {j} about subject number {i} is made here in full." for j in range(5 + i % 2)),
            place=i,
        )
        for i in range(count)
    )


def models(known: Sequence[Question] = (), **traits: Any) -> tuple[Model, ...]:
    """The six default models, knowing these questions; a trait is set for all, or by vendor where it has vendors."""
    knowledge = {question.text: question for question in known}

    def own(model: Model) -> dict[str, Any]:
        by_vendor = {name for name, value in traits.items() if isinstance(value, Mapping) and model.vendor in value}
        return {name: value[model.vendor] if name in by_vendor else value for name, value in traits.items()}

    return tuple(
        replace(model, knowledge=knowledge, traits={**model.traits, **own(model)}) for model in settled().judges
    )


def panel(count: int, **traits: Any) -> tuple[Experiment, tuple[Question, ...]]:
    """Experiment 1 with these models as judges and candidates, and its made-up questions."""
    asked = questions(count)
    everybody = models(asked, **traits)
    return replace(settled(), judges=everybody, candidates=everybody), asked


def judging(model: Model, texts: Sequence[str], asked: str = "Which one?", nonce: str = "5eed5eed") -> Request:
    """A prompt that shows these texts between delimiters, after a question, and asks nothing."""
    shown = [f"<<<ANSWER T{n} {nonce}>>>\n{text}\n<<<END T{n} {nonce}>>>" for n, text in enumerate(texts)]
    return Request(model, "\n".join([f"<<<QUESTION {nonce}>>>\n{asked}\n<<<END QUESTION {nonce}>>>", *shown]))


def said(request: Request) -> Completion:
    """The simulated reply to a request, as a provider's reply is read."""
    text, finish = simulated.reply(request)
    return Completion(request.key, "ok", text, finish, model=request.model.model_id)


def judgments(
    experiment: Experiment, asked: Sequence[Question]
) -> tuple[list[Judgment], dict[tuple[str, str], Answer]]:
    """All judgments of a run, and the answers judged."""
    written = {
        t.request.key: verdicts.read(t, said(t.request)) for t in top_choice_asked.answer_trials(experiment, asked)
    }
    answers = top_choice_asked.answers(experiment, asked, written)
    return [
        verdicts.read(t, said(t.request)) for t in top_choice_asked.judge_trials(experiment, asked, answers)
    ], answers


def frame(count: int, **traits: Any) -> pd.DataFrame:
    """The listwise frame of a large sample, with the text of each answer in a column `text`."""
    found, answers = judgments(*panel(count, **traits))
    table = frames.listwise(found, answers)
    pairs = zip(table["question_id"], table["candidate"], strict=True)
    return table.assign(text=[answers[pair].text for pair in pairs])


def cr2_by_matrices(design: np.ndarray, y: np.ndarray, clusters: np.ndarray, contrast: np.ndarray) -> tuple[float, ...]:
    """Value, CR2 standard error and Bell-McCaffrey degrees of freedom of least squares, written out with (N, N)."""
    bread = np.linalg.inv(design.T @ design)
    fitted = design @ bread @ design.T
    error, rest = y - fitted @ y, np.eye(len(y)) - fitted
    terms, ways = [], []
    for cluster in np.unique(clusters):
        at = clusters == cluster
        values, vectors = np.linalg.eigh(rest[np.ix_(at, at)])
        adjust = vectors / np.sqrt(values) @ vectors.T
        side = contrast @ bread @ design[at].T @ adjust
        terms.append(side @ error[at])
        ways.append(rest[at].T @ side)
    working = np.array(ways) @ np.array(ways).T
    df = np.trace(working) ** 2 / (working**2).sum()
    return float(contrast @ bread @ design.T @ y), float(np.sqrt(np.sum(np.square(terms)))), float(df)
