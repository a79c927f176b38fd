"""One experiment from questions to a tidy frame: plan, budget, ask what is missing, read."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from helpers.judge import Budget, MissingKey, Plan, complete_all, judge_all, labels_of, make_plan
from helpers.providers import missing_keys, simulated
from helpers.run.sources import answers_of, judgments_of, questions_of
from helpers.types import Answer, Completion, Experiment, Judgment, Model, Question, Trial

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Asked", "answers_of", "ask", "bias_of", "plan", "questions_of"]


@dataclass(frozen=True)
class Asked:
    """A run after its last reply: what was asked, what came back, and the frame that the metrics read.

    `data` says where the verdicts are from: simulated, asked, hub or folder. `unjudged` names questions left out and
    why. `plan` is the plan before the run, None where nothing was to be asked. Published judgments have no `questions`,
    `answers` and `judgments`, only the frame.
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


async def plan(experiment: Experiment) -> Plan:
    """Calls, tokens and dollars of a run before it is started; stored or published judgments need no call."""
    if experiment.judgments != "ask":
        return Plan(())
    questions = questions_of(experiment)
    given = answers_of(experiment, questions)
    _speaking(experiment, given)
    return make_plan(_requests(await _known(experiment, questions, {}, given)), experiment.store)


def caution(experiment: Experiment) -> str:
    """What this design cannot show, before anything is paid; "" where there is nothing to say or nothing is asked."""
    if experiment.judgments != "ask" or experiment.own.get("answers", "ask") != "ask":
        return ""
    return bias_of(experiment).caution(experiment.judges, experiment.candidates)


async def ask(experiment: Experiment, show: bool = True, **options: Any) -> Asked:
    """Run an experiment: its plan is checked against the budget before the first call, then missing replies are asked.

    `judgments="stored"` asks nothing and leaves missing judgments in the frame; "hub" or a path loads published ones.
    Errors: OverBudget, MissingKey, NoPrice and whatever is wrong with the parameters before any call; Incomplete after
    the last, and ValueError where no question has an answer of every candidate.
    """
    if experiment.judgments not in ("ask", "stored"):
        return _loaded(experiment)
    asking = experiment.judgments == "ask"
    bias, questions = bias_of(experiment), questions_of(experiment)
    given = answers_of(experiment, questions)
    speaking = _speaking(experiment, given)
    budget = Budget(experiment.budget_usd)
    replies: dict[str, Completion] = {}
    known = await _known(experiment, questions, replies, given)
    planned = make_plan(_requests(known), experiment.store) if asking else None
    if planned is not None:
        _refuse_early(planned.check(experiment.budget_usd), speaking)
        budget.planned = True
    options |= {"folder": experiment.store, "budget": budget, "ask": asking, "show": show}
    options.setdefault("concurrency", experiment.concurrency)
    judgments: list[Judgment] = []
    for name in known:
        trials = bias.stages(experiment, questions, replies, given)[name]
        if all(trial.form == "text" for trial in trials):
            requests = [trial.request for trial in trials]
            replies |= await complete_all(requests, stage=name, labels=labels_of(trials), **options)
        else:
            judgments = await judge_all(trials, stage=name, **options)
    answers = given if given is not None else bias.answers(experiment, questions, replies)
    unjudged = bias.unfit(answers)
    if not judgments:
        first = next(iter(unjudged))
        reasons = ", ".join(unjudged[first])
        raise ValueError(f"none of {len(questions)} questions has a fit answer of every candidate ({first}: {reasons})")
    return Asked(
        experiment=experiment,
        questions=questions,
        answers=answers,
        judgments=tuple(judgments),
        frame=bias.tidy(judgments, answers),
        data="simulated" if any(model.simulated for model in speaking) else "asked",
        unjudged=unjudged,
        plan=planned,
        spent_usd=budget.spent,
    )


def _speaking(experiment: Experiment, given: Mapping[tuple[str, str], Answer] | None) -> tuple[Model, ...]:
    """The models whose words this run is made of; a simulated one with impossible traits is refused by name."""
    speaking = experiment.judges if given is not None else (*experiment.judges, *experiment.candidates)
    for model in speaking:
        if model.simulated:
            simulated.traits_of(model)
    return speaking


def _refuse_early(planned: Plan, speaking: Sequence[Model]) -> None:
    """MissingKey for all stages at once: a judge without a key must be found out before its candidates are paid."""
    asked = {row.model for row in planned.rows if row.missing}
    keys = missing_keys({model.name: model for model in speaking if model.name in asked}.values())
    if keys:
        needs = "; ".join(f"{variable} (needed by {', '.join(names)})" for variable, names in keys.items())
        raise MissingKey(f"not set in the environment: {needs}. See .env.example.")


async def _known(
    experiment: Experiment,
    questions: Sequence[Question],
    replies: dict[str, Completion],
    given: Mapping[tuple[str, str], Answer] | None,
) -> Mapping[str, list[Trial]]:
    """The trials of all stages, as far as stored replies determine them; these are added to `replies`."""
    stages = bias_of(experiment).stages
    for name in stages(experiment, questions[:1], {}, given):
        requests = [trial.request for trial in stages(experiment, questions, replies, given)[name]]
        replies |= await complete_all(requests, folder=experiment.store, ask=False)
    return stages(experiment, questions, replies, given)


def _requests(stages: Mapping[str, Sequence[Trial]]) -> dict[str, list]:
    return {name: [trial.request for trial in trials] for name, trials in stages.items()}


def _loaded(experiment: Experiment) -> Asked:
    frame = bias_of(experiment).published_frame(judgments_of(experiment))
    data = "hub" if experiment.judgments == "hub" else "folder"
    return Asked(experiment, (), {}, (), frame, data, {}, None)
