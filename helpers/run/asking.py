"""One experiment from questions to a tidy frame: plan, budget, ask what is missing, read, account."""

from __future__ import annotations

import ast
import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from types import ModuleType
from typing import Any, ClassVar

import pandas as pd

from ..biases.protocol import Bias, load_bias, unfit
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

#: What run.json calls the fields of `Spending`, where it has another name for them.
CALLED = {"usd": "spent_usd", "reserved": "reserved_usd", "limit": "budget_usd"}


def costs(account: Account, judgments: Iterable[Judgment]) -> dict[str, Any]:
    """For run.json: what this run spent (failed attempts too), and of each model calls, tokens and cost of its replies.

    `stored` counts replies that were asked before this run; `usd` is at today's price, NaN where none is known.
    """
    used: dict[str, dict[str, Counter[str]]] = {"models": {}, "stored": {}}
    for key, each in _replied(judgments).items():
        usd, usage, name = math.nan, each.completion.usage, each.trial.request.model.name
        with suppress(NoPrice):
            usd = actual(each.trial.request, each.completion)
        for models in (used["models"],) if key in account.replies else used.values():
            counts = {"calls": 1, "input": usage.input or 0, "output": usage.output or 0, "usd": usd}
            models.setdefault(name, Counter()).update(counts)

    def described(row: Spending) -> dict[str, Any]:
        fields = {CALLED.get(name, name): value for name, value in vars(row).items() if name != "simulated"}
        return fields | {"remaining_usd": row.remaining}

    return {
        "spent_usd": account.total.usd,
        **{kind: [{"model": name, **models[name]} for name in sorted(models)] for kind, models in used.items()},
        "account": {
            "budget_usd": account.limit,
            "models": [described(row) for row in account.rows],
            "total": described(account.total),
        },
    }


def tell(name: str, account: Account, judgments: Iterable[Judgment]) -> None:
    """Show the account of a run that asked more than simulated models, beside its progress: reports stay the same."""
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


def _replied(judgments: Iterable[Judgment]) -> dict[str, Judgment]:
    """The judgments that have a reply, by its key: trials that share a request share its reply."""
    return {each.trial.request.key: each for each in judgments if each.completion is not None}


@contextmanager
def resumable(budget: Budget, ahead: Mapping[str, int]) -> Iterator[None]:
    """Let an interrupt say so too where it comes before or between the calls, and name the calls that are `ahead`."""
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

    `data` is simulated, asked, hub or folder. `unjudged` names questions left out and why. `replies` holds those of
    stages before judging, by key. Of published judgments there is only the frame.
    """

    experiment: Experiment
    questions: tuple[Question, ...]
    answers: Mapping[tuple[str, str], Answer]
    judgments: tuple[Judgment, ...]
    frame: pd.DataFrame
    data: str
    unjudged: Mapping[str, list[str]]
    replies: Mapping[str, Judgment] = field(default_factory=dict)
    account: Account = field(default_factory=Account)
    controls: Mapping[str, Control] = field(default_factory=dict)
    #: What simulated judges feel before noise, by functions: what was planted follows from it without a call.
    simulator: ClassVar[ModuleType] = simulated


def bias_of(experiment: Experiment) -> Bias:
    """The experiment's bias module, with its defaults."""
    return load_bias(experiment.bias)


def check(experiment: Experiment) -> None:
    """Let the bias module refuse parameters of its own that cannot be asked, before a notebook is started."""
    if experiment.judgments in ("ask", "stored"):
        bias_of(experiment).check(experiment)


def budget_of(experiment: Experiment) -> Budget:
    """What a run may spend, in all and on single models; `budget_total_usd` counts earlier runs of it, too."""
    total = experiment.parameters.get("budget_total_usd")
    before = 0.0 if total is None else earlier(experiment.name, experiment.models, experiment.store)
    return Budget(experiment.budget_usd, limits_of(experiment), total=total, earlier=before)


async def look_up(models: Iterable[Model], concurrency: int) -> dict[str, Model]:
    """Those at own servers, by name, as these say that they serve them; what is odd there is said."""
    found, warnings = await as_served(models, concurrency)
    for each in warnings:
        notice(each)
    return found


async def served(*experiments: Experiment) -> list[Experiment]:
    """The experiments with models at own servers, unless nobody is asked, as these say that they serve them."""
    most = max((each.concurrency for each in experiments), default=1)
    found = await look_up((model for each in experiments if each.judgments == "ask" for model in each.models), most)

    def at(each: Any) -> Any:
        if isinstance(each, Mapping):
            return {name: at(value) for name, value in each.items()}
        if isinstance(each, tuple):
            return tuple(map(at, each))
        return found.get(each.name, each) if isinstance(each, Model) else each

    names = ("judges", "candidates", "extra")
    return [replace(each, **{name: at(getattr(each, name)) for name in names}) for each in experiments]


Answers = Mapping[tuple[str, str], Answer] | None
Stages = Mapping[str, Sequence[Trial]]


def _material(experiment: Experiment) -> tuple[tuple[Question, ...], Answers]:
    """The questions of a run and its published answers, None where candidates are asked."""
    questions = questions_of(experiment)
    answers = answers_of(experiment, questions)
    for model in _speaking(experiment, answers):
        if model.simulated:
            simulated.traits_of(model)  # an impossible one is refused by name
    return questions, answers


async def _trials(
    experiment: Experiment, questions: Sequence[Question], published: Answers, ahead: dict[str, int], **options: Any
) -> tuple[Stages, dict[str, Judgment]]:
    """The trials of each stage, and the replies to those before the last; ValueError where nothing can be judged.

    Without options as far as stored replies determine them. A stage that begins is no longer `ahead`.
    """
    bias, trials, replies = bias_of(experiment), dict[str, Sequence[Trial]](), dict[str, Judgment]()
    options = options or {"folder": experiment.store, "ask": False}
    for stage in bias.stages:
        ahead.pop(stage, None)
        trials[stage] = bias.trials(stage, experiment, questions, replies, published)
        if stage != bias.stages[-1]:
            replies |= _replied(await judge_all(trials[stage], stage=stage, **options))
    if trials[bias.stages[-1]]:
        return trials, replies
    unjudged = unfit(bias.answers(experiment, questions, replies) if published is None else published)
    why = "".join(f" ({first}: {', '.join(reasons)})" for first, reasons in [*unjudged.items()][:1])
    raise ValueError(f"none of {len(questions)} questions has {bias.needs}{why}")


async def _served_controls(experiment: Experiment, trials: Stages, now: float) -> tuple[Stages, dict[str, Control]]:
    """The stages with each judge's control group under the repeat numbers that serve; as they are where none is."""
    control, found, settled = bias_of(experiment).control, dict[str, Control](), dict(trials)
    for name, group in trials.items() if control else ():
        here = await controls(group, control, experiment.store, now, experiment.max_age_days)
        settled[name] = serving(group, control, here)
        found |= here
    return settled, found


async def stages(experiment: Experiment, now: float) -> tuple[Stages, dict[str, Control]]:
    """The trials of a run, by stage, as far as stored replies determine them, and the controls that serve `now`."""
    trials, _ = await _trials(experiment, *_material(experiment), {})
    return await _served_controls(experiment, trials, now)


async def plan(experiment: Experiment, clock: Clock | None = None) -> Plan:
    """Calls, tokens and dollars of a run before it is started; published judgments are read to show what is wrong."""
    if experiment.judgments != "ask":
        if experiment.judgments != "stored":
            judgments_of(experiment)
        return Plan(())
    (experiment,) = await served(experiment)
    staged, found = await stages(experiment, (clock or Clock()).wall())
    return replace(_planned(staged, experiment), notes=notes(staged, bias_of(experiment).control, found))


async def pilot(experiment: Experiment, calls: int) -> None:
    """Make the first missing calls of a run, so many of each paid model, within its budget, for the run to find.

    Prompts with answers that are not written yet are left out. Errors are those of `ask`.
    """
    if experiment.judgments != "ask":
        return
    check(experiment)
    (experiment,) = await served(experiment)
    staged, _ = await stages(experiment, Clock().wall())
    trials = [each for group in staged.values() for each in group if not each.request.unwritten]
    missing: dict[str, dict[str, Trial]] = {}
    for judgment in await judge_all(trials, folder=experiment.store, ask=False):
        request = judgment.trial.request
        if judgment.completion is None and not request.model.simulated:
            missing.setdefault(request.model.name, {}).setdefault(request.key, judgment.trial)
    first = [trial for by_key in missing.values() for trial in islice(by_key.values(), calls)]
    await judge_all(first, stage="pilot", **_options(experiment, budget=budget_of(experiment)))


def _options(experiment: Experiment, **more: Any) -> dict[str, Any]:
    """How the calls of a run are made."""
    keep_going = experiment.parameters.get("keep_going", False)
    return {"folder": experiment.store, "concurrency": experiment.concurrency, "keep_going": keep_going, **more}


def caution(experiment: Experiment) -> str:
    """What this design cannot show, before anything is paid; "" where there is nothing to say or nothing is asked."""
    if experiment.judgments != "ask":
        return ""
    return bias_of(experiment).caution(experiment, questions_of(experiment))


async def ask(experiment: Experiment, show: bool = True, clock: Clock | None = None) -> Asked:
    """Run an experiment: its plan is checked against the budget before the first call, then missing replies are asked.

    `judgments="stored"` leaves missing judgments in the frame; "hub" or a path loads published ones. OverBudget,
    MissingKey, NoPrice and wrong parameters come before any call, Incomplete after the last.
    """
    if experiment.judgments not in ("ask", "stored"):
        frame = bias_of(experiment).published_frame(judgments_of(experiment))
        data = "hub" if experiment.judgments == "hub" else "folder"
        return Asked(experiment, (), {}, (), frame, data, {})
    check(experiment)
    if experiment.judgments == "ask":
        (experiment,) = await served(experiment)
    budget, ahead = budget_of(experiment), dict[str, int]()
    with resumable(budget, ahead):
        return await _asked(experiment, show, budget, ahead, clock or Clock())


async def _asked(experiment: Experiment, show: bool, budget: Budget, ahead: dict[str, int], clock: Clock) -> Asked:
    """The run itself; `ahead` gets the missing calls of each stage, until it begins."""
    asking, bias = experiment.judgments == "ask", bias_of(experiment)
    questions, published = _material(experiment)
    trials, replies = await _trials(experiment, questions, published, {})
    planned = None
    if asking:
        planned = _planned((await _served_controls(experiment, trials, clock.wall()))[0], experiment)
        if planned.missing and budget.total is None:
            with suppress(NoPrice):  # nobody needs the price of a model whose replies are all stored
                budget.earlier = earlier(experiment.name, experiment.models, experiment.store)
        refuse_early(planned.check(budget), experiment.models)
        budget.planned = True
        for row in planned.rows:
            ahead[row.stage] = ahead.get(row.stage, 0) + row.missing
    options = _options(experiment, budget=budget, ask=asking, show=show, clock=clock)
    # Where nothing is missing, stages before judging bring nothing that the trials were not made of already.
    if planned and planned.missing:
        trials, replies = {}, {}  # else those to come and these would both be held
        trials, replies = await _trials(experiment, questions, published, ahead, **options)
    answers, judging = bias.answers(experiment, questions, replies) if published is None else published, bias.stages[-1]
    ahead.pop(judging, None)
    judgments, found = await judged(experiment, trials[judging], bias.control, judging, options)
    frame = bias.tidy(partnered(judgments, bias.control, found) if found else judgments, answers)
    frame, account = with_clusters(frame, questions), budget.account
    if show:
        tell(experiment.name, account, (*replies.values(), *judgments))
    data = "simulated" if any(model.simulated for model in _speaking(experiment, published)) else "asked"
    material = (experiment, questions, answers, tuple(judgments), frame, data, unfit(answers))
    return Asked(*material, replies, account, found)


def _speaking(experiment: Experiment, published: Mapping[tuple[str, str], Answer] | None) -> tuple[Model, ...]:
    """The models whose words this run is made of."""
    return experiment.judges + (experiment.writers if published is None else ())


def refuse_early(planned: Plan, speaking: Sequence[Model]) -> None:
    """MissingKey for all stages at once: a judge without a key must be found out before its candidates are paid."""
    asked = {row.model for row in planned.rows if row.missing}
    check_keys({model.name: model for model in speaking if model.name in asked}.values())


def _planned(stages: Mapping[str, Sequence[Trial]], experiment: Experiment) -> Plan:
    """The plan of all stages; a prompt that cannot fit into its model's context is refused before any of them."""
    trials = [trial for group in stages.values() for trial in group]
    check_fit((trial.request for trial in trials), labels_of(trials), experiment.store)
    requests = {name: [trial.request for trial in group] for name, group in stages.items()}
    return make_plan(requests, experiment.store, experiment.concurrency)


def check_ready(experiment: Experiment) -> None:
    """Raise MissingKey or NoPrice where a call that is not stored needs a key that is not set or has no known price."""
    if experiment.judgments != "ask":
        return
    with suppress(NoPrice):
        for model in experiment.models:
            cost(model, 0, 0)
        if not missing_keys(experiment.models):
            return
    refuse_early(asyncio.run(plan(experiment)), experiment.models)


def parameters(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a notebook by name, as they are now; call it with `globals()` in the setup cell.

    They are what the cells before the first such call assign, so a name that only papermill injects is among them, and
    `load_experiment` refuses it. Of a script, which keeps no cells, they are all plain values.
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
