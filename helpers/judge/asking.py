"""One stage of calls while it runs: in which order they are made, what is reserved and recorded, who waits for money.

At each address the first call is made alone, then the first of each other model, then the rest side by side. Calls for
which there is no money while other calls hold some of it stand in line, in their order, for what comes back.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .. import store
from ..providers import GIVEN_UP, Clock, Limit, Session, Stopped, Tries
from ..providers.keys import redact
from ..providers.session import Address
from ..providers.transport import without_body
from ..services import own_server
from ..types import Completion, Model, Request
from .budget import Budget, BudgetReached, worst_case
from .terminal import Progress, notice, patiently

#: What is noted on an error that ended a stage: the last calls may be paid and not stored.
UNWRITTEN = "calls may have been billed of which the store holds nothing"
#: Parallel calls begin so many seconds apart: in step, each reply would wait until all others have been handled.
APART = 0.001
#: When so many replies of a model have come, at least this share of them must be readable, or no more are asked for.
FIRST, LEAST = 20, 0.1
#: What becomes of a reply that no setting of ours can mend: it says nothing about whether replies can be read.
CONTENT = ("refused", "filtered")
#: Failures that may be over when the rest of a stage is done: such calls are made once more.
PASSING = ("provider_error", "connect", "rate_limited", "maybe_billed", "bad_envelope")
#: Characters of a reply that an error quotes.
QUOTED = 200
One = Callable[[Request], Awaitable[None]]


@dataclass
class Asking:
    """One stage of calls while it runs.

    `replies` holds what is stored of `wanted` and gets what comes; `writers` has one for each missing model. `outcome`
    says what could be read of a reply; a model whose first replies are unreadable is stopped, unless `keep_going`.
    """

    wanted: Mapping[str, Request]
    replies: dict[str, Completion]
    writers: Mapping[str, store.Writer]
    labels: Mapping[str, Mapping[str, Any]]
    budget: Budget
    progress: Progress
    stage: str = "calls"
    outcome: Callable[[Completion], str] | None = None
    keep_going: bool = False

    def __post_init__(self) -> None:
        """Nothing is asked yet."""
        self.failed: dict[str, tuple[Request, Tries, str, str]] = {}  # with the reason, and words of the last failure
        self.lines: dict[str, dict[str, None]] = {}  # by model, keys of its calls that wait for money, the first first
        self.outcomes: dict[str, Counter[str]] = {}  # by model, of its first replies
        self.halts: dict[str, str] = {}  # by model, why it is asked no more
        self.broken: Exception | None = None
        self.stopping = self.asked = False
        self.given_up = 0
        self.in_flight: set[str] = set()
        self.freed = asyncio.Event()

    async def run(self, concurrency: int, clock: Clock, limits: Mapping[Address, Limit]) -> None:
        """Ask for all that is missing; what broke it (a full disk, a bug) is raised when nothing is in flight."""
        for key, reply in self.replies.items():
            self._look(self.wanted[key], reply)
        await patiently(asyncio.create_task(self._all(concurrency, clock, limits)), self.stop, self.interruption)
        if self.broken is not None:
            self.broken.add_note(UNWRITTEN)
            raise self.broken

    async def _all(self, concurrency: int, clock: Clock, limits: Mapping[Address, Limit]) -> None:
        refused = set().union(*(store.refused(writer.path) for writer in self.writers.values()))
        # What was refused before goes last: the first refusals stop a model, and the fault may be in those requests.
        missing = [self.wanted[key] for key in sorted(self.wanted, key=refused.__contains__) if key not in self.replies]
        ticker = asyncio.create_task(self._sync())
        try:
            # A prompt that was filtered says nothing of the parameters.
            proven = {self.wanted[key].model.name for key, reply in self.replies.items() if reply.finish != "filter"}
            more: dict[str, Any] = {"halted": self.halted, "tell": notice, "proven": proven}
            async with Session(self.reserve, self.record, concurrency, clock, limits, **more) as session:
                how = (partial(self._one, session), concurrency, session.answered, lambda: self.stopping)
                await in_order(by_question(missing, self.labels), *how)
                # Only where the model answers: each of these calls is made once more, after all others.
                again = [request for request, _, reason, _ in self.failed.values() if reason in PASSING]
                await in_order([each for each in again if each.model.name in session.answered], *how)
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

    def halted(self, model: Model) -> str | None:
        """Why nothing more is to be sent to a model; None while all is well."""
        if self.stopping or self.broken is not None:
            return "interrupted" if self.stopping else str(self.broken)
        return self.halts.get(model.name)

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
        came = completion.status == "ok"
        if came:
            self.replies[request.key] = completion = without_body(completion)
        self.progress.count(came, not came or self._look(request, completion, new=True))

    def _look(self, request: Request, reply: Completion, new: bool = False) -> bool:
        """Whether a reply could be read; where hardly any of a model's first replies could, it is asked no more."""
        if self.outcome is None or request.model.simulated:
            return True
        name = request.model.name
        seen = self.outcomes.setdefault(name, Counter())
        if not new and seen.total() >= FIRST:
            return True
        outcome = self.outcome(reply)
        if seen.total() < FIRST and outcome not in CONTENT:
            seen[outcome] += 1
            if seen.total() == FIRST and seen["ok"] < LEAST * FIRST and not self.keep_going:
                self.halts.setdefault(name, unreadable(request, seen, reply.text))
                self.freed.set()
        return outcome == "ok"

    async def _one(self, session: Session, request: Request) -> None:
        """One call until it is over; where money for it is set aside for others, it waits in its model's line."""
        _, tries, *_ = self.failed.pop(request.key, (request, Tries()))
        reason = words = ""
        try:
            while not reason:
                try:
                    completion = await session.complete(request.rendered(), tries)
                    reason, words = completion.status, completion.error or ""
                except Stopped as stop:
                    reason = str(stop)
                except BudgetReached as stop:
                    tries.limited_since = None  # what it waits for now is no rate limit
                    if self._first(request) and not (stop.waiting and self.in_flight):
                        # No later call of this model is sent, though cheaper ones could still be paid: which replies
                        # are missing is then a matter of the random order in which they are asked, and not of how long
                        # a text is. Other models go on until a call of theirs finds no money.
                        reason = self.halts.setdefault(request.model.name, str(stop))
                    while not reason and self._must_wait(request):
                        self.freed.clear()
                        await self.freed.wait()
        except Exception as error:
            self.broken = self.broken or error  # a full disk, a bug: nobody sends anything more, what came is stored
        finally:
            self.lines.get(request.model.name, {}).pop(request.key, None)
            self._landed(request)
        if reason and reason != "ok":
            self.failed[request.key] = (request, tries, reason, words)

    def _landed(self, request: Request) -> None:
        """A call is not in flight any more: who waits for money looks again."""
        self.in_flight.discard(request.key)
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
        reached = self.budget.reached(request.model, worst_case(request))
        return bool(self.in_flight and reached and reached.waiting)

    def stop(self) -> int:
        """Send nothing more; how many calls are in flight. Who waits for something else hears it within a second."""
        self.stopping = True
        self.freed.set()
        return len(self.in_flight)

    def interruption(self) -> str:
        """What an interrupted stage says: how much is stored, how much is missing, how to go on."""
        stored, wanted = len(self.replies), len(self.wanted)
        lost = f", {self.given_up} given up in flight and perhaps billed" if self.given_up else ""
        why = f" ({self.broken})" if self.broken else ""
        counts = f"{stored} of {wanted} replies are stored, {wanted - stored} are missing{lost}{why}"
        before = "" if self.asked else "nothing was asked; "
        return f"{self.stage}: {before}{counts}; run the same again to ask for these only"

    def incomplete(self) -> str:
        """What a stage says when all that could be asked was asked: the reasons, with the last words on each."""
        found: dict[str, dict[str, list[str]]] = {}
        for request, _, reason, last in self.failed.values():
            found.setdefault(request.model.name, {}).setdefault(reason, []).append(last)
        lines = [f"{len(self.wanted) - len(self.replies)} of {len(self.wanted)} replies are still missing:"]
        for name, reasons in sorted(found.items()):
            counted = [f"{len(last)} x {why}" + (f" ({last[-1]})" if last[-1] else "") for why, last in reasons.items()]
            lines.append(f"  {name}: {'; '.join(counted)}")
        how = "set judgments='stored' (an audit: --stored) to analyse what is there."
        return "\n".join([*lines, f"What came is stored: run the same again to ask for these only, or {how}"])


def unreadable(request: Request, seen: Mapping[str, int], text: str) -> str:
    """Why a model is asked no more whose first replies could not be read: how many, one of them, and what to change."""
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(seen.items()))
    cut = "truncated" in seen or "empty" in seen or text.lstrip().startswith("<think")
    schema = "`structured: false` in models.yaml (an audit: --text) where the server does not enforce JSON schemas"
    remedies = [schema] if request.schema is not None and not cut else []
    remedies.append("a reasoning parser on the server, or a larger `max_tokens`, where thoughts take up the reply")
    return (
        f"of its first {FIRST} replies fewer than {LEAST:.0%} could be read ({counts}); nothing more is asked of it. "
        f"One of them: {redact(text)[:QUOTED]!r}. Try {'; '.join(remedies)}; "
        "`-p keep_going true` (an audit: --keep-going) asks all the same"
    )


def by_question(requests: Sequence[Request], labels: Mapping[str, Mapping[str, Any]]) -> list[Request]:
    """Calls to own servers grouped by question, then by the answers in the order shown; others as they are.

    A server then reads a shared beginning once. Questions, orders and calls stay as drawn.
    """
    first: dict[object, int] = {}
    places = {}
    for request in requests:
        label = labels.get(request.key, {})
        question, shown = label.get("question_id"), tuple(label.get("shown", ()))
        if all(own_server(url) for _, url in request.model.addresses):
            places[request.key] = [first.setdefault(each, len(first)) for each in (question, (question, shown))]
    return sorted(requests, key=lambda request: places.get(request.key, [-1]))


async def in_order(
    requests: Iterable[Request], one: One, concurrency: int, answered: Container[str], over: Callable[[], bool]
) -> None:
    """Make all of these calls, `concurrency` at a time to each address and server, until it is `over`.

    A model may set its own number. `answered` are models that have answered in this run. At each address the first call
    is made alone, then the first of each other model, then the rest: a wrong key costs one call in all, a wrong model
    id one of its own. Calls begin APART from each other, simulated ones at once.
    """

    async def in_turn(waiting: Iterator[Request], delay: float) -> None:
        await asyncio.sleep(delay)
        for request in waiting:
            await asyncio.sleep(0)  # calls that are refused, or simulated, never wait: no interrupt would be heard
            if over():
                return
            await one(request)

    async def at_address(group: Sequence[Request], most: int) -> None:
        first: dict[str, Request] = {}
        for request in group:
            if request.model.name not in answered:  # as those of deferred calls may have
                first.setdefault(request.model.name, request)
        alone, others = [*first.values()][:1], [*first.values()][1:]
        rest = [request for request in group if first.get(request.model.name) is not request]
        apart = 0.0 if group[0].model.simulated else APART
        for calls, width in ((alone, 1), (others, len(others)), (rest, most)):
            waiting = iter(calls)
            async with asyncio.TaskGroup() as tasks:
                for place in range(min(width, len(calls))):
                    tasks.create_task(in_turn(waiting, place * apart))

    found: dict[tuple[Address, ...], list[Request]] = {}
    for request in requests:
        found.setdefault(request.model.addresses, []).append(request)
    # A group waits for each of its tasks also when it is cancelled: all are recorded before files close.
    async with asyncio.TaskGroup() as addresses:
        for servers, group in found.items():
            most = max(request.model.concurrency or concurrency for request in group)
            addresses.create_task(at_address(group, most * len(servers)))
