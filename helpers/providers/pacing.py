"""How fast an address is asked: as its replies say, within limits of our own, at one pace for all calls."""

from __future__ import annotations

import asyncio
import math
import random
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from ..types import Request, Usage
from .meanings import POLICY, Quota

#: What a limit counts.
COUNTED = ("requests", "tokens", "input", "output")


@dataclass(frozen=True)
class Clock:
    """Time as the retry policy sees it; tests hand in their own, so that no test waits."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    wall: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random

    async def wait(self, seconds: float, check: Callable[[], None]) -> None:
        """Sleep for so long, unless `check` raises, which is called on the way."""
        until = self.now() + seconds
        await self.wait_until(lambda: until - self.now(), check)
        check()

    async def wait_until(self, left: Callable[[], float], check: Callable[[], None]) -> None:
        """Sleep while seconds are `left`; look at them, and call `check`, before each step of at most LOOK_UP."""
        while (seconds := left()) > 0:
            check()
            await self.sleep(min(seconds, POLICY.LOOK_UP))


@dataclass(frozen=True)
class Limit:
    """What one address may be asked in a minute by us; None: no limit."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass
class Spacing:
    """A limit of our own: units a second, kept by the distance between calls, which may come `early` seconds early."""

    rate: float
    early: float = 0.0
    due: float = -math.inf

    def take(self, amount: float, now: float = -math.inf) -> None:
        """Count a call that begins `now`; without a time, correct one that was counted."""
        self.due = max(self.due, now) + amount / self.rate


@dataclass
class Log:
    """What was sent to an address of one kind: when, and how much by then; no further back than LONGEST_PAUSE."""

    sent: list[tuple[float, float]] = field(default_factory=lambda: [(-math.inf, 0.0)])

    @property
    def total(self) -> float:
        """All that was ever sent."""
        return self.sent[-1][1]

    def add(self, amount: float, now: float) -> float:
        """Count a call that begins; all that was sent with it."""
        self.sent.append((now, self.total + amount))
        while self.sent[1][0] < now - POLICY.LONGEST_PAUSE:
            del self.sent[0]
        return self.total

    def until(self, moment: float) -> float:
        """All that was sent until a moment."""
        return self.sent[max(bisect_right(self.sent, (moment, math.inf)) - 1, 0)][1]


@dataclass
class Gauge:
    """One limit of one model as the service last told it; what was sent since counts against it.

    The first half of the limit is free; the second is spread over the time until all is back: a service that refills
    bit by bit is then asked at its very rate, and one that refills at once until all is used. When all should be back
    and no reply has said so, a call counts for `refill` seconds, in which the whole limit comes back bit by bit.
    """

    limit: float = math.inf
    remaining: float = math.inf
    full_at: float = -math.inf
    period: float = 0.0
    refill: float = POLICY.LONGEST_PAUSE
    mark: float = 0.0

    def update(self, quota: Quota, sent: float, now: float) -> None:
        """Take over what a reply said, whose call had `sent` as all that was sent; of older calls no word counts."""
        if sent > self.mark:
            self.limit, self.remaining, self.mark = quota.limit, quota.remaining, sent
            self.full_at, self.period = now + quota.seconds, max(self.period, quota.seconds)
            used = quota.limit - quota.remaining
            if used and quota.seconds:  # what is full, or back in no time, does not tell how fast
                self.refill = min(quota.seconds * quota.limit / used, POLICY.LONGEST_PAUSE)

    def wait(self, cost: float, log: Log, now: float) -> float:
        """Seconds until a call of this cost may begin; 0 or less: now."""
        if now >= self.full_at:
            self.remaining, self.full_at = self.limit, now + self.period
            self.mark = max(self.mark, log.until(now - self.refill))
        left = self.remaining - (log.total - self.mark)
        if left < min(cost, self.limit):
            return max(self.full_at - now, POLICY.NEXT_LOOK)
        last = log.sent[-1][0]
        return 0.0 if left > self.limit / 2 else last + cost * (self.full_at - last) / left - now


def most_tokens(request: Request) -> tuple[int, int]:
    """The tokens of prompt and reply that a call is taken for at first; unwritten answers are not counted."""
    return math.ceil(request.measured.size / POLICY.BYTES_PER_TOKEN), request.model.max_tokens


@dataclass(frozen=True)
class Ticket:
    """One attempt as its address counted it: what it was taken to cost, and all that had been sent with it."""

    model: str
    costs: Mapping[str, float]
    sent: Mapping[str, float]


@dataclass
class Pace:
    """The calls to one address: at most `allowed` in flight, none before `paused_until`, none beyond a limit.

    Refusals and time-outs halve what is allowed, once a crowd; each round of successes adds one (AIMD). Limits of
    `ours` hold for all calls, those that replies state for their model.
    """

    limit: int
    clock: Clock = field(default_factory=Clock)
    ours: Limit = Limit()
    allowed: float = 0.0
    in_flight: int = 0
    paused_until: float = 0.0
    slowed_at: float = 0.0
    spacings: dict[str, Spacing] = field(default_factory=dict)
    logs: dict[str, Log] = field(default_factory=lambda: {counted: Log() for counted in COUNTED})
    gauges: dict[str, dict[str, Gauge]] = field(default_factory=dict)
    #: By model, how many replies had how many tokens.
    outputs: dict[str, tuple[int, float]] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _turns: dict[str, asyncio.Lock] = field(default_factory=dict)
    _free: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Start at full speed."""
        self.allowed = float(self.limit)
        if (calls := self.ours.requests_per_minute) is not None:
            slack = int(calls / 60 * POLICY.CATCH_UP)  # calls that may come too early, for which the rate is lower
            self.spacings["requests"] = Spacing((calls - slack) / 60, slack / (calls - slack) * 60)
        if (tokens := self.ours.tokens_per_minute) is not None:
            self.spacings["tokens"] = Spacing(tokens / 60)

    @property
    def full(self) -> bool:
        """Whether a call would wait for the end of another one."""
        return self.in_flight >= int(self.allowed)

    def paused(self) -> float:
        """Seconds until the end of a pause; 0 or less where there is none."""
        return self.paused_until - self.clock.now()

    @asynccontextmanager
    async def slot(
        self, request: Request, check: Callable[[], None], begin: Callable[[], None] = lambda: None
    ) -> AsyncIterator[Ticket]:
        """A place for a call, after a pause and as the address allows: first come, first served, models take turns.

        `check` is called while it waits, `begin` when the call is due; if they raise, no call has begun.
        """
        while (ticket := await self._turn_of(request, check, begin)) is None:
            pass
        try:
            yield ticket
        finally:
            self.in_flight -= 1
            self._free.set()

    async def _turn_of(self, request: Request, check: Callable[[], None], begin: Callable[[], None]) -> Ticket | None:
        """The place of a call; None where the address asked for a pause meanwhile."""
        while (wait := self.paused()) > 0:
            await self.clock.wait(wait, check)
            await self.clock.wait(self.clock.jitter() * POLICY.SPREAD, check)
        async with self._turns.setdefault(request.model.model_id, asyncio.Lock()):
            check()
            while self.paused() <= 0:
                # What only this model waits for is waited for before its turn among the models.
                await self.clock.wait_until(partial(self._service_wait, request), check)
                async with self._turn:
                    check()
                    if self.full:
                        self._free.clear()
                        await self._free.wait()
                    await self.clock.wait_until(self._limit_wait, check)
                    if not self.full and self.paused() <= 0 and self._service_wait(request) <= 0:
                        check()  # what waited for a place may have been refused meanwhile
                        begin()
                        return self._take(request, self.clock.now())
        return None

    def _limit_wait(self) -> float:
        """Seconds until our own limits let the next call begin; 0 or less: now, or a pause has begun meanwhile."""
        dues = [spacing.due - spacing.early for spacing in self.spacings.values()]
        return 0.0 if self.paused() > 0 or not dues else max(dues) - self.clock.now()

    def _service_wait(self, request: Request) -> float:
        """The same by what replies said of the limits of a request's model."""
        gauges, now = self.gauges.get(request.model.model_id), self.clock.now()
        if not gauges or self.paused() > 0:
            return 0.0
        costs = self._costs(request)
        return max(gauge.wait(costs[counted], self.logs[counted], now) for counted, gauge in gauges.items())

    def _costs(self, request: Request) -> dict[str, float]:
        """What a call is taken to cost; its output as the model's were so far, before the first as its limit."""
        read, most = most_tokens(request)
        calls, total = self.outputs.get(request.model.model_id, (0, 0.0))
        written = total / calls if calls else float(most)
        return {"requests": 1.0, "tokens": read + written, "input": float(read), "output": written}

    def _take(self, request: Request, now: float) -> Ticket:
        """Count an attempt that begins."""
        self.in_flight += 1
        costs = self._costs(request)
        for counted, spacing in self.spacings.items():
            spacing.take(costs[counted], now)
        sent = {counted: log.add(costs[counted], now) for counted, log in self.logs.items()}
        return Ticket(request.model.model_id, costs, sent)

    def settle(self, ticket: Ticket, usage: Usage, refused: bool) -> None:
        """Count an attempt's tokens as its reply states; none where it was refused."""
        counted = usage.input is not None and usage.output is not None
        if counted:
            calls, total = self.outputs.get(ticket.model, (0, 0.0))
            self.outputs[ticket.model] = (calls + 1, total + usage.output)
        if "tokens" in self.spacings and (counted or refused):
            tokens = usage.input + usage.output if counted else 0
            self.spacings["tokens"].take(tokens - ticket.costs["tokens"])

    def update(self, ticket: Ticket, quotas: Mapping[str, Quota]) -> None:
        """What the reply to an attempt told of the address's limits."""
        for counted, each in quotas.items():
            gauge = self.gauges.setdefault(ticket.model, {}).setdefault(counted, Gauge())
            gauge.update(each, ticket.sent[counted], self.clock.now())

    def pause(self, seconds: float) -> None:
        """Nobody asks this address for so long (at most LONGEST_PAUSE)."""
        seconds = min(max(seconds, POLICY.SHORTEST_PAUSE), POLICY.LONGEST_PAUSE)
        self.paused_until = max(self.paused_until, self.clock.now() + seconds)

    def slow_down(self, ticket: Ticket) -> None:
        """Halve what is allowed at once, unless the call began before the last time that was done."""
        if ticket.sent["requests"] > self.slowed_at:
            self.slowed_at = self.logs["requests"].total
            self.allowed = max(1.0, self.allowed / 2)

    def speed_up(self) -> None:
        """A success: creep back towards the limit."""
        self.allowed = min(float(self.limit), self.allowed + 1 / max(self.allowed, 1.0))
        self._free.set()
