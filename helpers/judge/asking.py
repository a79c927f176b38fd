"""One stage of calls while it runs: what is reserved, what is recorded, what is still missing and why."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from helpers import store
from helpers.judge.budget import Budget, BudgetReached
from helpers.judge.progress import Progress, notice
from helpers.judge.stopping import patiently
from helpers.providers import GIVEN_UP, Clock, Limit, Session, Stopped, Tries
from helpers.types import Completion, Model, Request


class Asking:
    """One stage of calls while it runs."""

    def __init__(
        self,
        wanted: Mapping[str, Request],
        replies: dict[str, Completion],
        writers: Mapping[str, store.Writer],
        labels: Mapping[str, Mapping[str, Any]],
        budget: Budget,
        progress: Progress,
        stage: str = "calls",
    ) -> None:
        """`replies` holds what is stored of `wanted` and gets what comes; `writers` has one for each missing model."""
        self.wanted, self.replies, self.writers, self.stage = wanted, replies, writers, stage
        self.labels, self.budget, self.progress = labels, budget, progress
        self.reasons: dict[str, dict[str, list[str]]] = {}
        self.broken: Exception | None = None
        self.out_of_money: dict[str | None, BudgetReached] = {}
        self.deferred: list[Request] = []
        self.tries: dict[str, Tries] = {}
        self.stopping = False
        self.given_up = 0
        self.asked = False
        self.in_flight: set[Any] = set()
        self.freed = asyncio.Event()

    def halted(self, model: Model) -> str | None:
        """Why nothing more is to be sent to a model; None while all is well."""
        if self.stopping:
            return "interrupted"
        halt = self.broken or self.out_of_money.get(None) or self.out_of_money.get(model.name)
        return None if halt is None else str(halt)

    def reserve(self, request: Request) -> None:
        """Set money aside for an attempt; Stopped or BudgetReached where nothing more is to be sent."""
        if (why := self.halted(request.model)) is not None:
            raise Stopped(why)
        self.budget.reserve(request)
        self.asked = True
        self.in_flight.add(asyncio.current_task())

    def record(self, request: Request, completion: Completion) -> None:
        """Keep what an attempt brought and count what it cost."""
        # First the paid reply onto the disk, then the accounts.
        try:
            self.writers[request.model.name].append(request, completion, self.labels.get(request.key, {}))
        finally:
            self.budget.settle(request, completion)
            self._landed()
        self.given_up += completion.error == GIVEN_UP
        if completion.status == "ok":
            self.replies[request.key] = completion
        with suppress(OSError):  # the terminal was closed
            self.progress.done() if completion.status == "ok" else self.progress.fail()

    def stop(self) -> int:
        """Send nothing more; how many calls are in flight. Who waits for something else hears it within a second."""
        self.stopping = True
        self.freed.set()
        return len(self.in_flight)

    async def run(
        self, concurrency: int, clock: Clock, limits: Mapping[tuple[str, str | None], Limit] | None = None
    ) -> None:
        """Ask for all that is missing; what broke it (a full disk, a bug) is raised when nothing is in flight."""
        refused = set().union(*(store.refused(writer.path) for writer in self.writers.values()))
        # What was refused before goes last: the first refusal stops a model, and the fault may be in that one request.
        ordered = sorted(self.wanted.items(), key=lambda item: item[0] in refused)
        missing = [request for key, request in ordered if key not in self.replies]
        work = asyncio.create_task(self._all(missing, concurrency, clock, limits or {}))
        await patiently(work, self.stop, self.interruption)
        if self.broken is not None:
            raise self.broken

    async def _all(
        self,
        missing: list[Request],
        concurrency: int,
        clock: Clock,
        limits: Mapping[tuple[str, str | None], Limit],
    ) -> None:
        ticker = asyncio.create_task(self._sync())
        try:
            hooks = {"halted": self.halted, "tell": notice}
            async with Session(self.reserve, self.record, concurrency, clock, limits, **hooks) as session:
                # A group waits for each of its tasks also when it is cancelled: all are recorded before files close.
                async with asyncio.TaskGroup() as addresses:
                    for group in _by_address(missing):
                        addresses.create_task(self._address(session, group, concurrency, self._one))
                async with asyncio.TaskGroup() as addresses:  # nothing is in flight any more: all money is there again
                    for group in _by_address(self.deferred):
                        addresses.create_task(self._address(session, group, concurrency, self._deferred))
        finally:
            ticker.cancel()

    async def _sync(self) -> None:
        while True:
            await asyncio.sleep(store.SYNC_SECONDS)
            try:
                for writer in self.writers.values():
                    writer.sync_when_due()
            except store.StoreError as error:
                self.broken = self.broken or error
                self.freed.set()

    async def _address(
        self,
        session: Session,
        requests: list[Request],
        concurrency: int,
        one: Callable[[Session, Request], Awaitable[None]],
    ) -> None:
        """All calls to one address: the first alone, then the first of each other model, then the rest.

        So a wrong key costs one call, whatever the number of models, and a wrong model id one of its own.
        """
        first: dict[str, Request] = {}
        for request in requests:
            if request.model.name not in session.answered:  # as those of deferred calls may have
                first.setdefault(request.model.name, request)
        for request in [*first.values()][:1]:
            await one(session, request)
        async with asyncio.TaskGroup() as group:
            for request in [*first.values()][1:]:
                group.create_task(one(session, request))
        rest = [request for request in requests if first.get(request.model.name) is not request]
        await self._work(session, rest, concurrency, one)

    async def _work(
        self,
        session: Session,
        requests: list[Request],
        concurrency: int,
        one: Callable[[Session, Request], Awaitable[None]],
    ) -> None:
        """All of these calls, so many at a time."""
        rest = iter(requests)

        async def worker() -> None:
            for request in rest:
                await asyncio.sleep(0)  # simulated models never wait: without this no interrupt would be heard
                if self.stopping:
                    return
                await one(session, request)

        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(worker())

    async def _one(self, session: Session, request: Request) -> None:
        """One call; deferred where the money for it is set aside for others, some of which may come back."""
        if (stop := await self._ask(session, request)) is None:
            return
        if not stop.waiting:
            self._end(request, stop)
            return
        self.tries[request.key].limited_since = None  # what it waits for now is no rate limit
        self.deferred.append(request)

    async def _deferred(self, session: Session, request: Request) -> None:
        """One call that was deferred: it waits for what others in flight leave, and ends where none is in flight."""
        while (stop := await self._ask(session, request)) is not None:
            if not (stop.waiting and self.in_flight):
                self._end(request, stop)
                return
            while self.in_flight and self.budget.reached(request) and self.halted(request.model) is None:
                self.freed.clear()
                await self.freed.wait()

    async def _ask(self, session: Session, request: Request) -> BudgetReached | None:
        """One call until it is over, or until there is no money for its next attempt: then its tries are kept."""
        tries = self.tries.pop(request.key, None) or Tries()
        try:
            completion = await session.complete(request, tries)
            reason, said = completion.status, completion.error or ""
        except BudgetReached as stop:
            self.tries[request.key] = tries
            return stop
        except Stopped as stop:
            reason, said = str(stop), ""
        except Exception as error:
            self.broken = self.broken or error  # a full disk, a bug: nobody sends anything more, what came is stored
            return None
        finally:
            self._landed()
        if reason != "ok":
            self._missing(request, reason, said)
        return None

    def _landed(self) -> None:
        """The current call is not in flight any more: who waits for money looks again."""
        self.in_flight.discard(asyncio.current_task())
        self.freed.set()

    def _end(self, request: Request, stop: BudgetReached) -> None:
        """Nothing more is sent for this money; who waits hears it."""
        self.out_of_money[stop.model] = stop
        self.freed.set()
        self._missing(request, str(stop), "")

    def _missing(self, request: Request, reason: str, said: str) -> None:
        self.reasons.setdefault(request.model.name, {}).setdefault(reason, []).append(said)

    def interruption(self) -> str:
        """What an interrupted run says: how much is stored, how much is missing, how to go on."""
        stored, wanted = len(self.replies), len(self.wanted)
        lost = f", {self.given_up} given up in flight and perhaps billed" if self.given_up else ""
        broken = f" ({self.broken})" if self.broken else ""
        counts = f"{stored} of {wanted} replies are stored, {wanted - stored} are missing{lost}{broken}"
        unasked = "" if self.asked else "nothing was asked; "
        return f"{self.stage}: {unasked}{counts}; run the same again to ask for these only"

    def summary(self) -> str:
        """How many replies are still missing, and of each model how many for which reason."""
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


def _by_address(requests: Iterable[Request]) -> list[list[Request]]:
    found: dict[tuple[str, str | None], list[Request]] = {}
    for request in requests:
        found.setdefault((request.model.provider, request.model.base_url), []).append(request)
    return list(found.values())
