"""One experiment from questions to a tidy frame: plan, budget, ask what is missing, read, account."""

from __future__ import annotations

import ast
import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..biases.protocol import Bias, load_bias
from ..config import limits_of
from ..judge import (
    Account,
    Budget,
    Interrupted,
    NoPrice,
    Plan,
    Spending,
    actual,
    check_fit,
    check_keys,
    dollars,
    earlier,
    judge_all,
    labels_of,
    make_plan,
    notice,
)
from ..judge.budget import cost
from ..providers import Clock, as_served, missing_keys, simulated
from ..providers.keys import in_browser
from ..types import Answer, Experiment, Judgment, Model, Question, Trial
from .control import Control, controls, judged, notes, partnered, serving
from .sources import answers_of, judgments_of, questions_of, with_clusters

if TYPE_CHECKING:
    import pandas as pd


def costs(account: Account, judgments: Iterable[Judgment]) -> dict[str, Any]:
    """For run.json: the dollars spent in this run, of each model calls, tokens and what its replies cost, the account.

    `models` counts all replies that the run reads, `stored` those of them that were asked before it; replies that two
    experiments share count in both. `usd` is at today's price, None where none is known. Published judgments have no
    models. `account` holds what this run sent, failed attempts too, as `Spending` tells it, and the sums.
    """
    every, before = dict[str, Counter[str]](), dict[str, Counter[str]]()
    for key, each in _replied(judgments).items():
        for found in (every,) if key in account.replies else (every, before):
            found.setdefault(each.trial.request.model.name, Counter()).update(_used(each))
    return {
        "spent_usd": account.total.usd,
        "models": [{"model": name, **every[name]} for name in sorted(every)],
        "stored": [{"model": name, **before[name]} for name in sorted(before)],
        "account": {
            "budget_usd": account.limit,
            "models": [_described(row) for row in account.rows],
            "total": _described(account.total),
        },
    }


def tell(name: str, account: Account, judgments: Iterable[Judgment]) -> None:
    """The account of a run as a short table, where anybody but simulated models was asked.

    It goes where progress goes, and under the cell of a notebook that somebody looks at: what a run cost is no result,
    and a rerun, which asks nothing, must give the same report.
    """
    if all(row.simulated for row in account.rows):
        return
    text = f"{name}: the account of this run, in US dollars\n{account}"
    before = costs(account, judgments)["stored"]
    if before:
        calls, usd = sum(row["calls"] for row in before), math.fsum(row["usd"] for row in before)
        price = "at a price that is not known of all" if math.isnan(usd) else f"which cost {dollars(usd)}"
        text += f"\nNot in it: {calls} replies that were asked before, {price}."
    if not in_browser():
        notice(text)
        return
    from IPython.display import Markdown, display

    display(Markdown(f"```text\n{text}\n```"))


def _used(each: Judgment) -> dict[str, Any]:
    """What a reply has used, in dollars at today's price."""
    try:
        usd = actual(each.trial.request, each.completion)
    except NoPrice:
        usd = math.nan
    usage = each.completion.usage
    return {"calls": 1, "input": usage.input or 0, "output": usage.output or 0, "usd": usd}


#: What run.json calls the fields of `Spending`, where it has another name for them.
CALLED = {"usd": "spent_usd", "reserved": "reserved_usd", "limit": "budget_usd"}


def _described(row: Spending) -> dict[str, Any]:
    fields = {CALLED.get(name, name): value for name, value in vars(row).items() if name != "simulated"}
    return fields | {"remaining_usd": row.remaining}


def _replied(judgments: Iterable[Judgment]) -> dict[str, Judgment]:
    """The judgments that have a reply, by its key: trials that share a request share its reply."""
    return {each.trial.request.key: each for each in judgments if each.completion is not None}


@contextmanager
def resumable(budget: Budget, ahead: Mapping[str, int]) -> Iterator[None]:
    """Let an interrupt say so too where it comes before or between the calls, and name those that are `ahead`.

    `ahead` counts the missing calls of each stage that has not begun when the interrupt comes.
    """
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError) as interrupt:
        words = str(interrupt) or ("what came is stored" if budget.rows else "nothing was asked")
        to_come = ", ".join(f"{calls} calls of {stage}" for stage, calls in ahead.items() if calls)
        kind = KeyboardInterrupt if isinstance(interrupt, KeyboardInterrupt) else Interrupted
        raise kind(f"{words}; still to come: {to_come}" if to_come else words) from None


# asyncio.run makes the repr of what it returns: of all judgments that would take half a second.
@dataclass(frozen=True, repr=False)
class Asked:
    """A run after its last reply: what was asked, what came back, and the frame that the metrics read.

    `data` says where the verdicts are from: simulated, asked, hub or folder. `unjudged` names questions left out and
    why. `plan` is the plan before the run, None where nothing was to be asked. `said` holds the replies of the stages
    before judging, by key. `account` is what asking cost, model by model. `controls` tells for each judge which repeat
    of the control group serves. Published judgments have no `questions`, `answers` and `judgments`, only the frame.
    """

    experiment: Experiment
    questions: tuple[Question, ...]
    answers: Mapping[tuple[str, str], Answer]
    judgments: tuple[Judgment, ...]
    frame: pd.DataFrame
    data: str
    unjudged: Mapping[str, list[str]]
    plan: Plan | None
    said: Mapping[str, Judgment] = field(default_factory=dict)
    account: Account = field(default_factory=Account)
    controls: Mapping[str, Control] = field(default_factory=dict)

    @property
    def simulator(self) -> SimpleNamespace:
        """What simulated judges feel before noise, by functions: what was planted follows from it without a call."""
        return SimpleNamespace(
            before_noise=simulated.before_noise,
            of_passages=simulated.felt_on_passage,
            shown=simulated.read_prompt,
            chances=simulated.chances,
        )


def bias_of(experiment: Experiment) -> Bias:
    """The experiment's bias module, with its defaults."""
    return load_bias(experiment.bias)


def check(experiment: Experiment) -> None:
    """Let the bias module refuse parameters of its own that cannot be asked, before a notebook is started."""
    if experiment.judgments in ("ask", "stored"):
        bias_of(experiment).check(experiment)


def budget_of(experiment: Experiment) -> Budget:
    """What a run may spend, in all and on single models; nothing of it is spent yet.

    `budget_total_usd` also counts what earlier runs may have been billed.
    """
    total = experiment.parameters.get("budget_total_usd")
    before = 0.0 if total is None else earlier(experiment.name, experiment.models, experiment.store)
    return Budget(experiment.budget_usd, limits_of(experiment), total=total, earlier=before)


async def served(*experiments: Experiment) -> list[Experiment]:
    """The experiments with models at own servers as these say that they serve them; each server is asked once.

    One that asks nobody has its models as they are.
    """
    most = max((each.concurrency for each in experiments), default=1)
    models = chain.from_iterable(each.models for each in experiments if each.judgments == "ask")
    found, warnings = await as_served(models, most)
    for each in warnings:
        notice(each)

    def at(each: Any) -> Any:
        if isinstance(each, Mapping):
            return {name: at(value) for name, value in each.items()}
        return found.get(each.name, each) if isinstance(each, Model) else each

    return [
        replace(
            each,
            judges=tuple(map(at, each.judges)),
            candidates=tuple(map(at, each.candidates)),
            own=at(each.own),
        )
        for each in experiments
    ]


async def plan(experiment: Experiment, clock: Clock | None = None) -> Plan:
    """Calls, tokens and dollars of a run before it is started; stored or published judgments need no call.

    Published judgments are read all the same, so that what is wrong with them shows here.
    """
    if experiment.judgments != "ask":
        if experiment.judgments != "stored":
            judgments_of(experiment)
        return Plan(())
    (experiment,) = await served(experiment)
    known, found = await stages(experiment, (clock or Clock()).wall())
    control = bias_of(experiment).control
    return replace(_planned(known, experiment), notes=notes(known, control, found))


async def pilot(experiment: Experiment, calls: int, clock: Clock | None = None) -> None:
    """Make the first missing calls of a run, so many of each model, within its budget; the run finds their replies.

    Simulated models, and prompts with answers that are not written yet, are left out. Errors are those of `ask`.
    """
    if experiment.judgments != "ask":
        return
    check(experiment)
    ((experiment,), clock) = await served(experiment), clock or Clock()
    known, _ = await stages(experiment, clock.wall())
    trials = [each for some in known.values() for each in some if not each.request.unwritten]
    missing: dict[str, dict[str, Trial]] = {}
    for judgment in await judge_all(trials, folder=experiment.store, ask=False):
        request = judgment.trial.request
        of_model = missing.setdefault(request.model.name, {})
        if judgment.completion is None and not request.model.simulated and len(of_model) < calls:
            of_model.setdefault(request.key, judgment.trial)
    await judge_all(
        [trial for of_model in missing.values() for trial in of_model.values()],
        folder=experiment.store,
        budget=budget_of(experiment),
        stage="pilot",
        clock=clock,
        concurrency=experiment.concurrency,
        keep_going=experiment.parameters.get("keep_going", False),
    )


async def stages(experiment: Experiment, now: float) -> tuple[Mapping[str, list[Trial]], dict[str, Control]]:
    """The trials of a run, stage by stage as far as stored replies determine them, and the controls that serve `now`.

    ValueError where nothing can be asked.
    """
    questions = questions_of(experiment)
    given = answers_of(experiment, questions)
    _speaking(experiment, given)
    known = await _known(experiment, questions, given)
    if not known[bias_of(experiment).stages[-1]]:
        raise _unasked(experiment, questions, given or {})
    return await _with_controls(experiment, known, now)


def caution(experiment: Experiment) -> str:
    """What this design cannot show, before anything is paid; "" where there is nothing to say or nothing is asked."""
    if experiment.judgments != "ask":
        return ""
    return bias_of(experiment).caution(experiment, questions_of(experiment))


async def ask(experiment: Experiment, show: bool = True, **options: Any) -> Asked:
    """Run an experiment: its plan is checked against the budget before the first call, then missing replies are asked.

    `judgments="stored"` asks nothing and leaves missing judgments in the frame; "hub" or a path loads published ones.
    Errors: OverBudget, MissingKey, NoPrice and whatever is wrong with the parameters before any call; Incomplete after
    the last, and ValueError where no question has an answer of every candidate.
    """
    if experiment.judgments not in ("ask", "stored"):
        frame = bias_of(experiment).published_frame(judgments_of(experiment))
        data = "hub" if experiment.judgments == "hub" else "folder"
        return Asked(experiment, (), {}, (), frame, data, {}, None)
    check(experiment)
    if experiment.judgments == "ask":
        (experiment,) = await served(experiment)
    budget, ahead = budget_of(experiment), dict[str, int]()
    with resumable(budget, ahead):
        return await _asked(experiment, show, budget, ahead, options)


async def _asked(
    experiment: Experiment, show: bool, budget: Budget, ahead: dict[str, int], options: dict[str, Any]
) -> Asked:
    """The run itself; `ahead` gets the missing calls of each stage, until it begins."""
    asking = experiment.judgments == "ask"
    bias, questions = bias_of(experiment), questions_of(experiment)
    given = answers_of(experiment, questions)
    speaking = _speaking(experiment, given)
    clock = options.setdefault("clock", Clock())
    before = await _known(experiment, questions, given)
    known, found = await _with_controls(experiment, before, clock.wall())
    planned = _planned(known, experiment) if asking else None
    if planned is not None:
        if not known[bias.stages[-1]]:
            raise _unasked(experiment, questions, given or {})
        if planned.missing and budget.total is None:
            with suppress(NoPrice):  # nobody needs the price of a model whose replies are all stored
                budget.earlier = earlier(experiment.name, experiment.models, experiment.store)
        refuse_early(planned.check(budget), experiment.models)
        budget.planned = True
        for row in planned.rows:
            ahead[row.stage] = ahead.get(row.stage, 0) + row.missing
    options |= {"folder": experiment.store, "budget": budget, "ask": asking, "show": show}
    options.setdefault("concurrency", experiment.concurrency)
    options.setdefault("keep_going", experiment.parameters.get("keep_going", False))
    # Where nothing is missing, stages before judging bring nothing that the trials were not made of already.
    settled = not (planned and planned.missing)
    before, known = (before if settled else {}), {}  # else others are asked, and both would be held
    said: dict[str, Judgment] = {}
    for stage in bias.stages[:-1]:
        trials = before[stage] if settled else bias.trials(stage, experiment, questions, said, given)
        ahead.pop(stage, None)
        said |= _replied(await judge_all(trials, stage=stage, **options))
    judging = bias.stages[-1]
    trials = before[judging] if settled else bias.trials(judging, experiment, questions, said, given)
    answers = given if given is not None else bias.answers(experiment, questions, said)
    if not trials:
        raise _unasked(experiment, questions, answers)
    ahead.pop(judging, None)
    judgments, found = await judged(experiment, trials, bias.control, judging, options)
    frame = bias.tidy(partnered(judgments, bias.control, found) if found else judgments, answers)
    frame = with_clusters(frame, questions)
    account = budget.account
    if show:
        tell(experiment.name, account, (*said.values(), *judgments))
    return Asked(
        experiment=experiment,
        questions=questions,
        answers=answers,
        judgments=tuple(judgments),
        frame=frame,
        data="simulated" if any(model.simulated for model in speaking) else "asked",
        unjudged=bias.unfit(answers),
        plan=planned,
        said=said,
        account=account,
        controls=found,
    )


def _unasked(
    experiment: Experiment, questions: Sequence[Question], answers: Mapping[tuple[str, str], Answer]
) -> ValueError:
    """Why there is nothing to judge, with the first answer that is not fit."""
    bias = bias_of(experiment)
    unjudged = bias.unfit(answers)
    first = next(iter(unjudged), "")
    why = f" ({first}: {', '.join(unjudged[first])})" if first else ""
    return ValueError(f"none of {len(questions)} questions has {bias.needs}{why}")


async def _with_controls(
    experiment: Experiment, known: Mapping[str, list[Trial]], now: float
) -> tuple[Mapping[str, list[Trial]], dict[str, Control]]:
    """The stages with each judge's control group under the repeat numbers that serve; as they are where none is."""
    control = bias_of(experiment).control
    if control is None:
        return known, {}
    found: dict[str, Control] = {}
    settled = {}
    for name, trials in known.items():
        here = await controls(trials, control, experiment.store, now, experiment.max_age_days)
        settled[name] = serving(trials, control, here)
        found |= here
    return settled, found


def _speaking(experiment: Experiment, given: Mapping[tuple[str, str], Answer] | None) -> tuple[Model, ...]:
    """The models whose words this run is made of; a simulated one with impossible traits is refused by name."""
    speaking = experiment.judges
    if given is None:
        speaking += experiment.writers
    for model in speaking:
        if model.simulated:
            simulated.traits_of(model)
    return speaking


def refuse_early(planned: Plan, speaking: Sequence[Model]) -> None:
    """MissingKey for all stages at once: a judge without a key must be found out before its candidates are paid."""
    asked = {row.model for row in planned.rows if row.missing}
    check_keys({model.name: model for model in speaking if model.name in asked}.values())


async def _known(
    experiment: Experiment, questions: Sequence[Question], given: Mapping[tuple[str, str], Answer] | None
) -> dict[str, list[Trial]]:
    """The trials of all stages, as far as stored replies determine them."""
    bias, said, known = bias_of(experiment), {}, {}
    for stage in bias.stages:
        known[stage] = bias.trials(stage, experiment, questions, said, given)
        if stage != bias.stages[-1]:
            said |= _replied(await judge_all(known[stage], folder=experiment.store, ask=False))
    return known


def _planned(stages: Mapping[str, Sequence[Trial]], experiment: Experiment) -> Plan:
    """The plan of all stages; a prompt that cannot fit into its model's context is refused before any of them."""
    trials = [trial for some in stages.values() for trial in some]
    check_fit((trial.request for trial in trials), labels_of(trials), experiment.store)
    requests = {name: [trial.request for trial in some] for name, some in stages.items()}
    return make_plan(requests, experiment.store, experiment.concurrency)


def check_ready(experiment: Experiment) -> None:
    """Raise MissingKey or NoPrice where a call that is missing needs a key that is not set or has no known price.

    What is stored needs neither. So where one of the models lacks something, all is planned: only then it shows
    whether that one will be asked.
    """
    if experiment.judgments != "ask":
        return
    try:
        for model in experiment.models:
            cost(model, 0, 0)
        lacking = bool(missing_keys(experiment.models))
    except NoPrice:
        lacking = True
    if lacking:
        refuse_early(asyncio.run(plan(experiment)), experiment.models)


def parameters(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a notebook by name, as they are now; call it with `globals()` in the setup cell.

    They are what the cells before the first such call assign, so a name that only papermill injects is among them, and
    `load_experiment` refuses it. What is assigned later, to look around, is none. Of a notebook that runs as a script,
    which keeps no cells, they are all plain values.
    """
    if "In" not in notebook:
        plain = (type(None), bool, int, float, str, list, dict)
        return {name: each for name, each in notebook.items() if isinstance(each, plain) and not name.startswith("_")}
    names: dict[str, None] = {}
    for source in notebook["In"]:
        if "run.parameters(" in source:
            break
        for name, value in assigned(source):  # spelled out, and float("nan"), as papermill spells NaN
            if {part.id for part in ast.walk(value) if isinstance(part, ast.Name)} <= {"float"}:
                names[name] = None
    return {name: notebook[name] for name in names if name in notebook}


def assigned(source: str) -> Iterator[tuple[str, ast.expr]]:
    """The names to which a cell assigns something, and what; none of a cell that is no Python (magics of IPython)."""
    with suppress(SyntaxError, ValueError):  # a NUL in it is a ValueError
        for node in ast.parse(source).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(target, ast.Name) and node.value:
                yield target.id, node.value
