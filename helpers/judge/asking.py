"""One stage of calls while it runs: what is reserved, what is recorded, what is still missing and why."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from helpers import store
from helpers.judge.budget import Budget, BudgetReached
from helpers.judge.progress import Progress, notice
from helpers.judge.stopping import patiently
from helpers.providers import GIVEN_UP, Clock, Limit, Session, Stopped
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
        self.stopping = False
        self.given_up = 0
        self.asked = False
        self.in_flight: set[Any] = set()

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
            self.in_flight.discard(asyncio.current_task())
        self.given_up += completion.error == GIVEN_UP
        if completion.status == "ok":
            self.replies[request.key] = completion
        with suppress(OSError):  # the terminal was closed
            self.progress.done() if completion.status == "ok" else self.progress.fail()

    def stop(self) -> int:
        """Send nothing more; how many calls are in flight. Who waits for something else hears it within a second."""
        self.stopping = True
        return len(self.in_flight)

    async def run(
        self, concurrency: int, clock: Clock, limits: Mapping[tuple[str, str | None], Limit] | None = None
    ) -> None:
        """Ask for all that is missing; what broke it (a full disk, a bug) is raised when nothing is in flight."""
        missing: dict[tuple[str, str | None], list[Request]] = {}
        refused = set().union(*(store.refused(writer.path) for writer in self.writers.values()))
        # What was refused before goes last: the first refusal stops a model, and the fault may be in that one request.
        for key, request in sorted(self.wanted.items(), key=lambda item: item[0] in refused):
            if key not in self.replies:
                missing.setdefault((request.model.provider, request.model.base_url), []).append(request)
        work = asyncio.create_task(self._all(list(missing.values()), concurrency, clock, limits or {}))
        await patiently(work, self.stop, self.interruption)
        if self.broken is not None:
            raise self.broken

    async def _all(
        self,
        groups: list[list[Request]],
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
                    for group in groups:
                        addresses.create_task(self._address(session, group, concurrency))
                for request in self.deferred:  # nothing is in flight any more: what was reserved for it is settled
                    await self._one(session, request, may_wait=False)
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

    async def _address(self, session: Session, requests: list[Request], concurrency: int) -> None:
        """All calls to one address: the first alone, then the first of each other model, then the rest.

        So a wrong key costs one call, whatever the number of models, and a wrong model id one of its own.
        """
        first: dict[str, Request] = {}
        for request in requests:
            first.setdefault(request.model.name, request)
        alone, *others = first.values()
        await self._one(session, alone)
        async with asyncio.TaskGroup() as group:
            for request in others:
                group.create_task(self._one(session, request))
        rest = iter([request for request in requests if first[request.model.name] is not request])

        async def worker() -> None:
            for request in rest:
                await asyncio.sleep(0)  # simulated models never wait: without this no interrupt would be heard
                if self.stopping:
                    return
                await self._one(session, request)

        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(worker())

    async def _one(self, session: Session, request: Request, may_wait: bool = True) -> None:
        try:
            completion = await session.complete(request)
            reason, said = completion.status, completion.error or ""
        except BudgetReached as stop:
            if may_wait and stop.waiting:
                self.deferred.append(request)
                return
            self.out_of_money[stop.model], reason, said = stop, str(stop), ""
        except Stopped as stop:
            reason, said = str(stop), ""
        except Exception as error:
            self.broken = self.broken or error  # a full disk, a bug: nobody sends anything more, what came is stored
            return
        finally:
            self.in_flight.discard(asyncio.current_task())
        if reason != "ok":
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
