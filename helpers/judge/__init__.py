"""Everything a model says comes through here: what is stored is returned, only what is missing is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import store, verdicts
from ..providers import Clock
from ..providers.transport import tokens_of, without_body
from ..types import Completion, Judgment, Request, Trial
from . import checking
from .asking import UNWRITTEN, Asking
from .budget import (
    Account,
    Budget,
    NoPrice,
    OverBudget,
    Plan,
    Spending,
    actual,
    billed,
    dollars,
    earlier,
    make_plan,
    unique,
)
from .checking import MissingKey, OverLimit, TooLong, check_keys
from .terminal import Interrupted, Progress, notice

#: Whoever waits for a file of the store prints a notice after so many seconds.
PATIENCE_BEFORE_WORDS = 2.0
_notice_once = lru_cache(notice)
#: What an error says that comes before the first call of a run.
NOTHING = "nothing was asked"


class Incomplete(RuntimeError):
    """Some replies are still missing after everything that could be asked was asked; what came is stored."""


async def complete_all(
    requests: Iterable[Request],
    *,
    folder: Path,
    budget: Budget | None = None,
    labels: Mapping[str, Mapping[str, Any]] | None = None,
    ask: bool = True,
    stage: str = "calls",
    concurrency: int = 16,
    clock: Clock | None = None,
    show: bool = True,
    outcome: Callable[[Completion], str] | None = None,
    keep_going: bool = False,
) -> dict[str, Completion]:
    """The reply to each request by key: stored ones as they are, missing ones asked, within the budget.

    A reply comes without its body (`raw`) unless log-probabilities stand in it. `labels` maps keys to what people who
    grep the store want to see. `outcome` says what can be read of a reply: a model is stopped where fewer than a tenth
    of its first 20 replies could be read, unless `keep_going`. With `ask=False` missing keys are absent. Raises before
    the first call: MissingKey, TooLong, OverLimit, NoPrice, OverBudget; after the last: Incomplete, which counts what
    is missing and why. An interrupt lets what is in flight arrive and raises Interrupted (a request to end:
    KeyboardInterrupt); a second one gives it up.
    """
    wanted = unique(requests)
    replies = _stored(wanted, folder)
    if not ask or len(replies) == len(wanted):
        return replies
    budget, clock, labels = budget or Budget(), clock or Clock(), labels or {}
    so = "none of these calls was made, and what came before is stored" if budget.rows else NOTHING
    missing = [request for key, request in wanted.items() if key not in replies]
    checking.check(missing, labels, so)
    check_fit(missing, labels, so=so)
    limits = checking.limits_at(request.model for request in wanted.values())
    with ExitStack() as stack:
        writers = {}
        for name in sorted({request.model.name for request in missing}):  # so two runs cannot wait for each other
            path = store.file_of(folder, name)
            writers[name] = stack.enter_context(store.writing(path, (await wait_for_lock(path, clock)).release))
        replies = _stored(wanted, folder)  # whoever held the lock may have asked the same
        missing = [request for key, request in wanted.items() if key not in replies]
        if not budget.planned:
            make_plan({stage: missing}, None).check(budget)
        experiment = labels.get(missing[0].key, {}).get("experiment") if missing else None
        # Bars of several notebooks stand in one terminal.
        progress = Progress(f"{experiment}: {stage}" if experiment else stage, len(wanted), len(replies), budget, show)
        stack.callback(progress.close)
        stack.callback(budget.abandon, list(wanted))  # whatever ends this: what was sent may have been billed
        asking = Asking(wanted, replies, writers, labels, budget, progress, stage, outcome, keep_going)
        await asking.run(concurrency, clock, limits)
    if len(replies) < len(wanted):
        missing = [request for key, request in wanted.items() if key not in replies]
        more, costs = make_plan({stage: missing}, None).usd, ""
        if more or budget.spent:
            costs = f"What is missing could cost up to {dollars(more)} more. The account of this run:\n{budget.account}"
        raise Incomplete(f"{asking.incomplete()}\n{costs}".rstrip("\n"))
    return replies


async def judge_all(trials: Iterable[Trial], *, folder: Path, **options: Any) -> list[Judgment]:
    """A judgment for each trial, in order: `complete_all`, and then each reply is read for its verdict.

    A trial without a stored reply (only with `ask=False`) has the outcome "missing".
    """
    asked = list(trials)
    first = {trial.request.key: trial for trial in reversed(asked)}
    read: dict[int, Judgment] = {}  # of these trials, once their replies have come

    def outcome(reply: Completion) -> str:
        trial = first[reply.key]
        with suppress(ValueError):  # such a trial raises at the end, when all replies are stored
            read[id(trial)] = _judgment(trial, reply)
            return read[id(trial)].outcome
        return "ok"

    options = {"folder": folder, "labels": labels_of(asked), "outcome": outcome, **options}
    replied = await complete_all((trial.request for trial in asked), **options)
    return [read.get(id(trial)) or _judgment(trial, replied.get(trial.request.key)) for trial in asked]


def judgments(trials: Iterable[Trial], replied: Mapping[str, Completion]) -> list[Judgment]:
    """A judgment for each trial, in order, read from its reply; one without a reply has the outcome "missing"."""
    return [_judgment(trial, replied.get(trial.request.key)) for trial in trials]


def _judgment(trial: Trial, reply: Completion | None) -> Judgment:
    return Judgment(trial, "missing") if reply is None else verdicts.read(trial, reply, tokens_of(reply))


def check_fit(
    requests: Iterable[Request], labels: Mapping[str, Mapping[str, Any]], folder: Path | None = None, so: str = NOTHING
) -> None:
    """Raise TooLong where a prompt cannot fit into its model's context, OverLimit where no minute of limits.yaml can.

    Requests whose replies are stored in `folder` are left out. `so` says what was asked by now.
    """
    requests = list(requests)
    long, slow = checking.too_long(requests), checking.over_limit(requests)
    stored = _stored(unique(each for each, *_ in (*long, *slow)), folder) if folder else {}
    checking.refuse_long([each for each in long if each[0].key not in stored], labels, so)
    checking.refuse_slow([each for each in slow if each[0].key not in stored], labels)


def labels_of(trials: Iterable[Trial]) -> dict[str, dict[str, Any]]:
    """What the store's lines say for people who grep them, by key; of equal requests the first asker's."""
    first = {trial.request.key: trial for trial in reversed(list(trials))}
    names = ("experiment", "question_id", "condition")
    return {key: {n: getattr(each, n) for n in names} | {"shown": list(each.shown)} for key, each in first.items()}


def _stored(wanted: Mapping[str, Request], folder: Path) -> dict[str, Completion]:
    found: dict[str, Completion] = {}
    for name in sorted({request.model.name for request in wanted.values()}):
        path = store.file_of(folder, name)
        if index := store.left_index(path):
            _notice_once(index)
        stored = {reply.key: without_body(reply) for reply in store.replies(path) if reply.key in wanted}
        found |= {key: reply for key, reply in stored.items() if wanted[key].model.name == name}
    return found


async def wait_for_lock(path: Path, clock: Clock) -> Any:
    """The lock of a store file once it is free; a notice names its holder where that takes long."""
    since = clock.now()
    while (lock := store.try_lock(path)) is None:
        if clock.now() - since >= PATIENCE_BEFORE_WORDS:
            _notice_once(f"waiting for {path}, held by {store.holder(path)}")
        await clock.sleep(0.1)
    return lock
