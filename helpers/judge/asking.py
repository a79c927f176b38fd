"""One stage of calls while it runs: what is reserved, what is recorded, who waits for money and who has none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from helpers import store
from helpers.judge.budget import Budget, BudgetReached
from helpers.judge.ordering import in_order
from helpers.judge.progress import Progress, notice
from helpers.judge.stopping import patiently
from helpers.judge.telling import interruption
from helpers.providers import GIVEN_UP, Clock, Limit, Session, Stopped, Tries
from helpers.types import Completion, Model, Request

#: What is noted on an error that ended a stage: the last calls may be paid and not stored.
UNWRITTEN = "calls may have been billed of which the store holds nothing"


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
        held: dict[str, Request] | None = None,
        keep: Callable[[Completion], Completion] = lambda reply: reply,
    ) -> None:
        """`replies` holds what is stored of `wanted` and gets what comes; `writers` has one for each missing model.

        `held` are requests whose prompts are made already; each is let go when it is sent. `keep`
        makes of a reply what `replies` gets.
        """
        self.wanted, self.replies, self.writers, self.stage = wanted, replies, writers, stage
        self.labels, self.budget, self.progress, self.keep = labels, budget, progress, keep
        self.held = held if held is not None else {}
        self.reasons: dict[str, dict[str, list[str]]] = {}
        self.broken: Exception | None = None
        self.out_of_money: dict[str, BudgetReached] = {}
        self.deferred: list[Request] = []
        self.lines: dict[str, dict[str, None]] = {}  # by model, keys of its calls that wait for money, the first first
        self.tries: dict[str, Tries] = {}
        self.stopping = False
        self.given_up = 0
        self.asked = False
        self.in_flight: set[str] = set()
        self.freed = asyncio.Event()

    def halted(self, model: Model) -> str | None:
        """Why nothing more is to be sent to a model; None while all is well."""
        if self.stopping:
            return "interrupted"
        halt = self.broken or self.out_of_money.get(model.name)
        return None if halt is None else str(halt)

    def reserve(self, request: Request) -> None:
        """Set money aside for an attempt; Stopped or BudgetReached where nothing more is to be sent."""
        if (why := self.halted(request.model)) is not None:
            raise Stopped(why)
        line = self.lines.setdefault(request.model.name, {})
        try:
            if not self._first(request):
                raise BudgetReached("an earlier call of the model waits for money", waiting=True)
            self.budget.reserve(request)
        except BudgetReached:
            line[request.key] = None
            raise
        if line:
            del line[request.key]
            self.freed.set()
        self.asked = True
        self.in_flight.add(request.key)

    def record(self, request: Request, completion: Completion) -> None:
        """Keep what an attempt brought and count what it cost."""
        # First the paid reply onto the disk, then the accounts.
        try:
            self.writers[request.model.name].append(request, completion, self.labels.get(request.key, {}))
        finally:
            self.budget.settle(request, completion)
            self._landed(request)
        self.given_up += completion.error == GIVEN_UP
        if completion.status == "ok":
            self.replies[request.key] = self.keep(completion)
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
            self.broken.add_note(UNWRITTEN)
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
            # A prompt that was filtered says nothing of the parameters.
            proven = {self.wanted[key].model.name for key, reply in self.replies.items() if reply.finish != "filter"}
            more = {"halted": self.halted, "tell": notice, "proven": proven}
            async with Session(self.reserve, self.record, concurrency, clock, limits, **more) as session:
                how = (concurrency, session.answered, lambda: self.stopping)
                await in_order(missing, partial(self._one, session), *how)
                # Nothing is in flight any more: all money is there again, and those who wait for it line up anew.
                self.lines.clear()
                await in_order(self.deferred, partial(self._deferred, session), *how)
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

    async def _one(self, session: Session, request: Request) -> None:
        """One call; deferred where the money for it, or for an earlier one of its model, is set aside for others."""
        if (stop := await self._ask(session, request)) is not None:
            self.deferred.append(request) if stop.waiting else self._end(request, stop)

    async def _deferred(self, session: Session, request: Request) -> None:
        """One call that was deferred: in its model's line it waits for what others in flight leave, or for the end."""
        try:
            while (stop := await self._ask(session, request)) is not None:
                if self._first(request) and not (stop.waiting and self.in_flight):
                    self._end(request, stop)
                    return
                while self._must_wait(request):
                    self.freed.clear()
                    await self.freed.wait()
        finally:
            self.lines.get(request.model.name, {}).pop(request.key, None)
            self.freed.set()

    def _first(self, request: Request) -> bool:
        """Whether no earlier call of its model waits for money."""
        return next(iter(self.lines[request.model.name]), request.key) == request.key

    def _must_wait(self, request: Request) -> bool:
        """Whether the money for a call may still come: from what is in flight, or when earlier ones have theirs."""
        if self.halted(request.model) is not None:
            return False
        if not self._first(request):
            return True
        reached = self.budget.reached(request)
        return bool(self.in_flight and reached and reached.waiting)

    async def _ask(self, session: Session, request: Request) -> BudgetReached | None:
        """One call until it is over, or until there is no money for its next attempt: then its tries are kept."""
        tries = self.tries.pop(request.key, None) or Tries()
        try:
            whole = self.held.pop(request.key, None) or request.whole()
            completion = await session.complete(whole, tries)
            reason, said = completion.status, completion.error or ""
        except BudgetReached as stop:
            tries.limited_since = None  # what it waits for now is no rate limit
            self.tries[request.key] = tries
            return stop
        except Stopped as stop:
            reason, said = str(stop), ""
        except Exception as error:
            self.broken = self.broken or error  # a full disk, a bug: nobody sends anything more, what came is stored
            return None
        finally:
            self._landed(request)
        if reason != "ok":
            self._missing(request, reason, said)
        return None

    def _landed(self, request: Request) -> None:
        """A call is not in flight any more: who waits for money looks again."""
        self.in_flight.discard(request.key)
        self.freed.set()

    def _end(self, request: Request, stop: BudgetReached) -> None:
        """No later call of this model is sent; other models go on until a call of theirs finds no money."""
        # Cheaper calls of the model could still be paid and are not asked: which replies are missing is then a matter
        # of the random order in which they are asked, and not of how long a text is.
        self.out_of_money[request.model.name] = stop
        self.freed.set()
        self._missing(request, str(stop), "")

    def _missing(self, request: Request, reason: str, said: str) -> None:
        self.reasons.setdefault(request.model.name, {}).setdefault(reason, []).append(said)

    def interruption(self) -> str:
        """What an interrupted run says: how much is stored, how much is missing, how to go on."""
        stored, wanted = len(self.replies), len(self.wanted)
        return interruption(self.stage, stored, wanted, self.asked, self.given_up, self.broken)
