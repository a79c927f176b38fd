"""One experiment from questions to a tidy frame: plan, budget, ask what is missing, read."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from helpers import datasets, paths
from helpers.judge import Budget, Plan, complete_all, judge_all, labels_of, make_plan
from helpers.types import Answer, Completion, Experiment, Judgment, Question, Trial

if TYPE_CHECKING:
    import pandas as pd

SOURCES = ("builtin", "hub", "ask", "stored")


@dataclass(frozen=True)
class Asked:
    """A run after its last reply: what was asked, what came back, and the frame that the metrics read.

    `data` says where the verdicts are from: simulated, asked, hub or folder. `unjudged` names questions left out and
    why. `plan` is the plan before the run (None where published judgments were loaded).
    """

    experiment: Experiment
    questions: tuple[Question, ...]
    answers: Mapping[tuple[str, str], Answer]
    judgments: tuple[Judgment, ...]
    frame: pd.DataFrame
    data: str
    unjudged: Mapping[str, list[str]]
    plan: Plan | None
    spent_usd: float = 0.0


def bias_of(experiment: Experiment) -> ModuleType:
    """The experiment's bias module."""
    return importlib.import_module(f"helpers.biases.{experiment.bias}")


def questions_of(experiment: Experiment) -> tuple[Question, ...]:
    """The run's questions in ranked order: filtered by category and cut to `question_limit`."""
    questions = datasets.load_questions(_source(experiment, experiment.questions, "answers", experiment.builtin))
    ranked = datasets.ranked(questions, experiment.seed)
    wanted = experiment.own.get("categories")
    if wanted is not None:
        known = sorted({question.category for question in ranked})
        unknown = sorted(set(wanted) - set(known))
        if unknown:
            raise ValueError(f"unknown category {', '.join(unknown)}; the questions have: {', '.join(known)}")
    limited = ranked[: experiment.question_limit]
    return tuple(question for question in limited if wanted is None or question.category in wanted)


def answers_of(experiment: Experiment, questions: Sequence[Question]) -> dict[tuple[str, str], Answer] | None:
    """Published answers to these questions where the run uses them; None where candidates are asked."""
    source = experiment.own.get("answers", "ask")
    if source == "ask":
        return None
    wanted = {question.id for question in questions}
    loaded = datasets.load_answers(_source(experiment, source, "answers"))
    found = {(a.question_id, a.candidate): a for a in loaded if a.question_id in wanted}
    without = sorted(wanted - {question_id for question_id, _ in found})
    if without:
        raise ValueError(f"answers={source!r} has no answers to {len(without)} questions, for instance {without[0]!r}")
    return found


def plan(experiment: Experiment) -> Plan:
    """Calls, tokens and dollars of a run before it is started."""
    questions = questions_of(experiment)
    given = answers_of(experiment, questions)
    return make_plan(_requests(bias_of(experiment).stages(experiment, questions, {}, given)), experiment.store)


async def ask(experiment: Experiment, show: bool = True, **options: Any) -> Asked:
    """Run an experiment: its plan is checked against the budget before the first call, then missing replies are asked.

    `judgments="stored"` asks nothing and leaves missing judgments in the frame; "hub" or a path loads published ones.
    Errors: OverBudget, MissingKey, NoPrice before any call; Incomplete after the last.
    """
    if experiment.judgments not in ("ask", "stored"):
        return _loaded(experiment)
    asking = experiment.judgments == "ask"
    bias, questions = bias_of(experiment), questions_of(experiment)
    given = answers_of(experiment, questions)
    budget, replies = Budget(experiment.budget_usd), {}
    names = list(bias.stages(experiment, questions[:1], {}, given))
    for name in names:
        stage = bias.stages(experiment, questions, replies, given)[name]
        replies |= await complete_all((t.request for t in stage), folder=experiment.store, ask=False)
    known = bias.stages(experiment, questions, replies, given)
    planned = make_plan(_requests(known), experiment.store)
    if asking:
        planned.check(experiment.budget_usd)
    options |= {"folder": experiment.store, "budget": budget, "ask": asking, "show": show}
    options.setdefault("concurrency", experiment.concurrency)
    judgments: list[Judgment] = []
    for name in names:
        trials = bias.stages(experiment, questions, replies, given)[name]
        if all(trial.form == "text" for trial in trials):
            requests = [trial.request for trial in trials]
            replies |= await complete_all(requests, stage=name, labels=labels_of(trials), **options)
        else:
            judgments = await judge_all(trials, stage=name, **options)
    answers = given if given is not None else bias.answers(experiment, questions, replies)
    return Asked(
        experiment=experiment,
        questions=questions,
        answers=answers,
        judgments=tuple(judgments),
        frame=bias.tidy(judgments, answers),
        data="simulated" if experiment.simulated else "asked",
        unjudged=bias.unfit(answers),
        plan=planned,
        spent_usd=budget.spent,
    )


def _requests(stages: Mapping[str, Sequence[Trial]]) -> dict[str, list]:
    return {name: [trial.request for trial in trials] for name, trials in stages.items()}


def _source(experiment: Experiment, source: str, what: str, builtin: Path | None = None) -> Path:
    """The file or folder that a source parameter means; the hub's files are fetched."""
    if source == "builtin" and builtin is not None:
        return builtin
    if source == "hub":
        return datasets.from_hub(experiment.hub, what, paths.DOWNLOADS)
    return Path(source).expanduser()


def _loaded(experiment: Experiment) -> Asked:
    frame = datasets.load_judgments(_source(experiment, experiment.judgments, "judgments"))
    data = "hub" if experiment.judgments == "hub" else "folder"
    return Asked(experiment, (), {}, (), frame.assign(experiment=experiment.name), data, {}, None)


__all__ = ["SOURCES", "Answer", "Asked", "Completion", "answers_of", "ask", "bias_of", "plan", "questions_of"]
