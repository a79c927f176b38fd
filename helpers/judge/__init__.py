"""Everything a model says comes through here: what is stored is returned, only what is missing is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from helpers import providers, store, verdicts
from helpers.judge.money import Budget, BudgetReached, NoPrice, OverBudget, actual, dollars, worst_case
from helpers.judge.plan import Plan, make_plan, unique
from helpers.judge.progress import Progress, notice
from helpers.providers import Clock, Session, Stopped
from helpers.providers.tokens import tokens_of
from helpers.types import Completion, Judgment, Request, Trial

__all__ = [
    "Budget",
    "Incomplete",
    "MissingKey",
    "NoPrice",
    "OverBudget",
    "Plan",
    "complete_all",
    "dollars",
    "judge_all",
    "make_plan",
    "notice",
]

#: A waiting run says so after this many seconds.
PATIENCE_BEFORE_WORDS = 2.0


class MissingKey(RuntimeError):
    """An API key that the run needs is not set; the message names the variable and the models, never a value."""


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
) -> dict[str, Completion]:
    """The reply to each request by key: stored ones as they are, missing ones asked, within the budget.

    `labels` maps keys to what people who grep the store want to see. With `ask=False` nothing is asked and missing
    keys are absent. Raises before the first call: MissingKey, NoPrice, OverBudget; after the last: Incomplete, which
    counts what is still missing and why.
    """
    wanted = unique(requests)
    replies = _stored(wanted, folder)
    if not ask or len(replies) == len(wanted):
        return replies
    budget, clock = budget or Budget(), clock or Clock()
    _check(wanted, replies)
    with ExitStack() as stack:
        writers = await _lock(_models(wanted, replies), folder, stack, clock)
        replies = _stored(wanted, folder)  # whoever held the lock may have asked the same
        missing = [request for key, request in wanted.items() if key not in replies]
        if not budget.planned:
            make_plan({stage: missing}, None).check(budget.limit, budget.spent)
        progress = Progress(stage, len(wanted), len(replies), budget, show)
        stack.callback(progress.close)
        asking = _Asking(wanted, replies, writers, labels or {}, budget, progress)
        await asking.run(concurrency, clock)
    if len(replies) < len(wanted):
        raise Incomplete(asking.summary())
    return replies


async def judge_all(trials: Sequence[Trial], *, folder: Path, **options: Any) -> list[Judgment]:
    """A judgment for each trial, in order: `complete_all` and then the reading of each reply.

    A trial without a stored reply (only with `ask=False`) has the outcome "missing".
    """
    replies = await complete_all((t.request for t in trials), folder=folder, labels=labels_of(trials), **options)
    replied = [(trial, replies.get(trial.request.key)) for trial in trials]
    return [verdicts.read(t, r, tokens_of(t.judge, r)) if r else Judgment(t, "missing") for t, r in replied]


def labels_of(trials: Sequence[Trial]) -> dict[str, dict[str, Any]]:
    """What the store's lines say for people who grep them, by key; of equal requests the first asker's."""
    return {
        t.request.key: {
            "experiment": t.experiment,
            "question_id": t.question_id,
            "condition": t.condition,
            "shown": list(t.shown),
        }
        for t in reversed(trials)
    }


def _models(wanted: Mapping[str, Request], replies: Mapping[str, Completion]) -> list[str]:
    return sorted({request.model.name for key, request in wanted.items() if key not in replies})


def _stored(wanted: Mapping[str, Request], folder: Path) -> dict[str, Completion]:
    found: dict[str, Completion] = {}
    for name in sorted({request.model.name for request in wanted.values()}):
        stored = store.read(store.file_of(folder, name))
        found |= {key: stored[key] for key, r in wanted.items() if r.model.name == name and key in stored}
    return found


def _check(wanted: Mapping[str, Request], replies: Mapping[str, Completion]) -> None:
    """Everything that can be known to be wrong before money is spent."""
    missing = [request for key, request in wanted.items() if key not in replies]
    if any(request.unwritten for request in missing):
        raise ValueError("a prompt that shows answers which are not written yet can be planned but not sent")
    models = {request.model.name: request.model for request in missing}
    keys = providers.missing_keys(models.values())
    if keys:
        needs = "; ".join(f"{variable} (needed by {', '.join(names)})" for variable, names in keys.items())
        raise MissingKey(f"not set in the environment: {needs}. See .env.example.")
    for variable, address in providers.addresses(models.values()).items():
        notice(f"note: {variable} is set: {address} is asked and its replies are stored as the provider's own")
    for model in models.values():
        ends = providers.retirement(model)
        if ends:
            notice(f"warning: {model.name} ({model.model_id}) is retired or retiring: {ends}")


async def _lock(names: Sequence[str], folder: Path, stack: ExitStack, clock: Clock) -> dict[str, store.Writer]:
    """Writers for the models' files, locked in sorted order so that two runs cannot wait for each other."""
    writers = {}
    for name in names:
        path, since, said = store.file_of(folder, name), clock.now(), False
        while (lock := store.try_lock(path)) is None:
            if clock.now() - since >= PATIENCE_BEFORE_WORDS and not said:
                notice(f"waiting for {path.name}, held by {store.holder(path)}")
                said = True
            await clock.sleep(0.1)
        writers[name] = stack.enter_context(store.writing(path, lock.release))
    return writers


class _Asking:
    """One stage of calls while it runs."""

    def __init__(self, wanted, replies, writers, labels, budget, progress) -> None:  # type: ignore[no-untyped-def]
        self.wanted, self.replies, self.writers = wanted, replies, writers
        self.labels, self.budget, self.progress = labels, budget, progress
        self.reasons: dict[str, dict[str, list[str]]] = {}
        self.broken: Exception | None = None
        self.out_of_money: BudgetReached | None = None
        self.deferred: list[Request] = []

    def reserve(self, request: Request) -> None:
        halt = self.broken or self.out_of_money
        if halt is not None:
            raise Stopped(str(halt))
        self.budget.reserve(worst_case(request))

    def record(self, request: Request, completion: Completion) -> None:
        # First the paid reply onto the disk, then the accounts.
        self.writers[request.model.name].append(request, completion, self.labels.get(request.key, {}))
        self.budget.settle(worst_case(request), actual(request, completion))
        if completion.status == "ok":
            self.replies[request.key] = completion
            self.progress.done()
        else:
            self.progress.fail()

    async def run(self, concurrency: int, clock: Clock) -> None:
        missing: dict[tuple[str, str | None], list[Request]] = {}
        refused = set().union(*(store.refused(writer.path) for writer in self.writers.values()))
        # What was refused before goes last: the first refusal stops a model, and the fault may be in that one request.
        for key, request in sorted(self.wanted.items(), key=lambda item: item[0] in refused):
            if key not in self.replies:
                missing.setdefault((request.model.provider, request.model.base_url), []).append(request)
        ticker = asyncio.create_task(self._sync())
        try:
            async with Session(self.reserve, self.record, concurrency, clock) as session:
                await asyncio.gather(*(self._address(session, group, concurrency) for group in missing.values()))
                for request in self.deferred:  # nothing is in flight any more: what was reserved for it is settled
                    await self._one(session, request, may_wait=False)
        finally:
            ticker.cancel()
        if self.broken is not None:
            raise self.broken

    async def _sync(self) -> None:
        while True:
            await asyncio.sleep(store.SYNC_SECONDS)
            try:
                for writer in self.writers.values():
                    writer.sync_when_due()
            except store.StoreError as error:
                self.broken = self.broken or error

    async def _address(self, session: Session, requests: list[Request], concurrency: int) -> None:
        """All calls to one address: the first of each model alone (a wrong key or id then costs one call)."""
        first: dict[str, Request] = {}
        for request in requests:
            first.setdefault(request.model.name, request)
        await asyncio.gather(*(self._one(session, request) for request in first.values()))
        rest = iter([request for request in requests if first[request.model.name] is not request])

        async def worker() -> None:
            for request in rest:
                await self._one(session, request)

        await asyncio.gather(*(worker() for _ in range(concurrency)))

    async def _one(self, session: Session, request: Request, may_wait: bool = True) -> None:
        try:
            completion = await session.complete(request)
            reason, said = completion.status, completion.error or ""
        except BudgetReached as stop:
            if may_wait and self.budget.reserved > 0:
                self.deferred.append(request)
                return
            self.out_of_money, reason, said = stop, str(stop), ""
        except Stopped as stop:
            reason, said = str(stop), ""
        except Exception as error:
            self.broken = self.broken or error  # a full disk, a bug: nobody sends anything more, what came is stored
            return
        if reason != "ok":
            self.reasons.setdefault(request.model.name, {}).setdefault(reason, []).append(said)

    def summary(self) -> str:
        lines = [
            f"  {name}: "
            + "; ".join(f"{len(n)} x {reason}" + (f" ({n[-1]})" if n[-1] else "") for reason, n in why.items())
            for name, why in sorted(self.reasons.items())
        ]
        return (
            f"{len(self.wanted) - len(self.replies)} of {len(self.wanted)} replies are still missing:\n"
            + "\n".join(lines)
            + "\nEverything that came is stored: run the same again to ask for these only, or set judgments='stored' "
            "to analyse what is there."
        )
