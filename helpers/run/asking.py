"""One experiment from questions to a tidy frame: plan, budget, ask what is missing, read."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from helpers.judge import Budget, MissingKey, Plan, complete_all, dollars, judge_all, labels_of, make_plan, notice
from helpers.providers import Clock, missing_keys, simulated
from helpers.run.control import Control, controls, probes, serving, with_gaps
from helpers.run.sources import answers_of, judgments_of, questions_of
from helpers.types import Answer, Completion, Experiment, Judgment, Model, Question, Trial

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Asked", "answers_of", "ask", "bias_of", "plan", "questions_of"]


@dataclass(frozen=True)
class Asked:
    """A run after its last reply: what was asked, what came back, and the frame that the metrics read.

    `data` says where the verdicts are from: simulated, asked, hub or folder. `unjudged` names questions left out and
    why. `plan` is the plan before the run, None where nothing was to be asked. `controls` tells for each judge which
    repeat of the control group serves. Published judgments have no `questions`, `answers` and `judgments`, only the
    frame.
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
    controls: Mapping[str, Control] = field(default_factory=dict)


def bias_of(experiment: Experiment) -> ModuleType:
    """The experiment's bias module."""
    return importlib.import_module(f"helpers.biases.{experiment.bias}")


def check(experiment: Experiment) -> None:
    """Let the bias module refuse parameters of its own that cannot be asked, before a notebook is started."""
    own = getattr(bias_of(experiment), "check", None)
    if own and experiment.judgments in ("ask", "stored"):
        own(experiment)


async def plan(experiment: Experiment, clock: Clock | None = None) -> Plan:
    """Calls, tokens and dollars of a run before it is started; stored or published judgments need no call."""
    if experiment.judgments != "ask":
        return Plan(())
    questions = questions_of(experiment)
    given = answers_of(experiment, questions)
    _speaking(experiment, given)
    known = await _known(experiment, questions, {}, given)
    known, found = await _with_controls(experiment, known, (clock or Clock()).wall())
    return replace(make_plan(_requests(known), experiment.store), notes=_notes(experiment, known, found))


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
    clock = options.setdefault("clock", Clock())
    known, found = await _with_controls(experiment, known, clock.wall())
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
            trials, found = await _controlled(experiment, trials, name, options)
            judgments += await judge_all(trials, stage=name, **options)
    answers = given if given is not None else bias.answers(experiment, questions, replies)
    unjudged = bias.unfit(answers)
    if not judgments:
        first = next(iter(unjudged))
        reasons = ", ".join(unjudged[first])
        raise ValueError(f"none of {len(questions)} questions has a fit answer of every candidate ({first}: {reasons})")
    frame = bias.tidy(judgments, answers)
    for judge, control in found.items():  # partners in a comparison have the same repeat number
        frame.loc[(frame["judge"] == judge) & (frame["condition"] == bias.CONTROL), "repeat"] -= control.shift
    return Asked(
        experiment=experiment,
        questions=questions,
        answers=answers,
        judgments=tuple(judgments),
        frame=frame,
        data="simulated" if any(model.simulated for model in speaking) else "asked",
        unjudged=unjudged,
        plan=planned,
        spent_usd=budget.spent,
        controls=with_gaps(found, judgments, bias.CONTROL) if found else {},
    )


async def _with_controls(
    experiment: Experiment, known: Mapping[str, list[Trial]], now: float
) -> tuple[Mapping[str, list[Trial]], dict[str, Control]]:
    """The stages with each judge's control group under the repeat numbers that serve; as they are where none is."""
    control = getattr(bias_of(experiment), "CONTROL", None)
    if control is None:
        return known, {}
    found: dict[str, Control] = {}
    settled = {}
    for name, trials in known.items():
        here = await controls(trials, control, experiment.store, now, experiment.max_age_days)
        settled[name] = serving(trials, control, here)
        found |= here
    return settled, found


async def _controlled(
    experiment: Experiment, trials: list[Trial], stage: str, options: dict[str, Any]
) -> tuple[list[Trial], dict[str, Control]]:
    """One stage with its controls settled: where a stored one is to serve, a first treated reply tells if it may.

    A control that has to be asked again was not in the plan: it is checked against what is left of the budget.
    """
    control = getattr(bias_of(experiment), "CONTROL", None)
    if control is None:
        return trials, {}
    now, age = options["clock"].wall(), experiment.max_age_days
    before = await controls(trials, control, experiment.store, now, age)
    found = before
    if options["ask"] and (first := probes(trials, control, before)):
        await judge_all(first, stage="first", **options)
        found = await controls(trials, control, experiment.store, now, age)
        for judge, at in found.items():
            if at.shift != before[judge].shift:
                options["budget"].planned = False
    for judge, at in sorted(found.items()):
        if at.stale and not at.complete:
            notice(f"{judge}: a stored control group does not serve ({at.stale}); repeat {at.shift} is used")
    return serving(trials, control, found), found


def _notes(experiment: Experiment, known: Mapping[str, list[Trial]], found: Mapping[str, Control]) -> tuple[str, ...]:
    """What the plan cannot know: whether a stored control group came from the model that answers today."""
    control = getattr(bias_of(experiment), "CONTROL", None)
    again = [
        trial.request
        for trials in known.values()
        for trial in trials
        if trial.condition == control and trial.judge.name in found and not found[trial.judge.name].settled
    ]
    stale = tuple(
        f"{judge}: a stored control group does not serve: {at.stale}." for judge, at in found.items() if at.stale
    )
    if not again:
        return stale
    extra = make_plan({"control": again}, None)
    return (
        *stale,
        f"If their models have changed since the stored control group was asked, {extra.missing} more calls would cost "
        f"up to {dollars(extra.usd)} ({', '.join(sorted({request.model.name for request in again}))}).",
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
