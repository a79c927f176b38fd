"""How fast an endpoint is called: pauses that its replies ask for, limits of our own, one pace for all calls."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from helpers.providers.meanings import LONGEST_PAUSE, Told
from helpers.types import Request, Usage

#: Calls that a limit of our own lets through at once, as seconds of its rate: what a late sleeper may catch up with.
CATCH_UP = 0.25
#: Before a model's usage is known, a token is taken for so many bytes of a prompt.
BYTES_PER_TOKEN = 4
#: After a pause calls begin again within so many seconds, each at a moment of its own.
SPREAD = 1.0
#: Who says that no time has to pass is not asked again in the same breath, in seconds.
SHORTEST_PAUSE = 0.05
#: Nobody sleeps longer than this without looking up, so that a stop is noticed in time.
LOOK_UP = 1.0


@dataclass(frozen=True)
class Clock:
    """Time as the retry policy sees it; tests pass their own, so that no test waits."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    wall: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random

    async def wait(self, seconds: float, check: Callable[[], None]) -> None:
        """Sleep for so long, in steps of at most LOOK_UP, unless `check` raises, which is called before each."""
        until = self.now() + seconds
        while (left := until - self.now()) > 0:
            check()
            await self.sleep(min(left, LOOK_UP))
        check()


@dataclass(frozen=True)
class Limit:
    """What one address may be asked in a minute by us; None: no limit."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass
class Spacing:
    """A limit of our own, kept by the distance between calls: no minute holds more than `per_minute`.

    A call may come `slack` units too early, for which the rate is so much lower. (Calls of several tokens each are
    counted when they begin: a minute then holds at most one call more.)
    """

    per_minute: float
    due: float = -math.inf

    def __post_init__(self) -> None:
        """`rate` is in units a second."""
        self.slack = int(self.per_minute / 60 * CATCH_UP)
        self.rate = (self.per_minute - self.slack) / 60

    def wait(self, now: float) -> float:
        """Seconds until the next call may begin; 0 or less: now."""
        return self.due - self.slack / self.rate - now

    def take(self, amount: float, now: float = -math.inf) -> None:
        """Count a call that begins `now`; without a time, so much more or less for one that was counted."""
        self.due = max(self.due, now) + amount / self.rate


def most_tokens(request: Request) -> tuple[int, int]:
    """The tokens of prompt and reply for which a call is taken before its model's replies are known.

    An answer that the prompt will show and nobody has written yet is not counted: hardly any is as long as its limit.
    """
    return math.ceil(request.measured.size / BYTES_PER_TOKEN), request.model.max_tokens


@dataclass(frozen=True)
class Ticket:
    """One attempt as its address counted it: what it was taken to cost, and all that had been sent with it."""

    request: Request
    costs: Mapping[str, float]
    sent: Mapping[str, float]


@dataclass
class Pace:
    """The calls to one address: at most `allowed` in flight, none during a pause, none beyond a limit of our `own`.

    Refusals and time-outs halve what is allowed at once, each full round of successes adds one (additive increase,
    multiplicative decrease); those of one crowd count as one. A pause is of all calls ("" in `paused_until`) or of one
    model's: where a reply says that less is left of a limit than its model's next call takes, after all calls that
    began since, the model pauses until all is back.
    """

    limit: int
    clock: Clock = field(default_factory=Clock)
    own: Limit = Limit()
    allowed: float = 0.0
    in_flight: int = 0
    paused_until: dict[str, float] = field(default_factory=dict)
    #: How many calls had begun when the pace was last halved, and, by model, when its limit was last used up: what
    #: becomes of these calls after that says nothing new.
    slowed_at: float = 0.0
    used_up_at: dict[str, float] = field(default_factory=dict)
    #: All that was sent, by what limits count: requests, tokens, input and output tokens.
    sent: Counter[str] = field(default_factory=Counter)
    #: By model, how many replies had how many tokens.
    outputs: dict[str, tuple[int, float]] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _turns: dict[str, asyncio.Lock] = field(default_factory=dict)
    _free: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Start at full speed: most runs never meet a limit."""
        self.allowed = float(self.limit)
        limits = {"requests": self.own.requests_per_minute, "tokens": self.own.tokens_per_minute}
        self.spacings = {counted: Spacing(limit) for counted, limit in limits.items() if limit is not None}

    @property
    def full(self) -> bool:
        """Whether a call would wait for the end of another one."""
        return self.in_flight >= int(self.allowed)

    def paused(self, model_id: str = "") -> float:
        """Seconds until the end of a pause of all calls, or of one model's; 0 or less where there is none."""
        return max(self.paused_until.get(each, 0.0) for each in ("", model_id)) - self.clock.now()

    def pause(self, seconds: float, model_id: str = "") -> None:
        """Begin no call, or none of one model, for so long (at most LONGEST_PAUSE)."""
        until = self.clock.now() + min(max(seconds, SHORTEST_PAUSE), LONGEST_PAUSE)
        self.paused_until[model_id] = max(self.paused_until.get(model_id, 0.0), until)

    @asynccontextmanager
    async def slot(
        self, request: Request, check: Callable[[], None], begin: Callable[[], None] = lambda: None
    ) -> AsyncIterator[Ticket]:
        """Wait for the end of a pause, a free place and what our limits allow; then hold the place.

        First come, first served among the calls to one model; the first ones of several models take turns. `check` is
        called while it waits, `begin` when nothing is left to wait for; what they raise is raised here, and no call has
        begun.
        """
        model_id, ticket = request.model.model_id, None
        while ticket is None:
            while (wait := self.paused(model_id)) > 0:
                await self.clock.wait(wait, check)
                await self.clock.wait(self.clock.jitter() * SPREAD, check)
            async with self._turns.setdefault(model_id, asyncio.Lock()), self._turn:
                ticket = await self._begin(request, check, begin)
        try:
            yield ticket
        finally:
            self.in_flight -= 1
            self._free.set()

    async def _begin(self, request: Request, check: Callable[[], None], begin: Callable[[], None]) -> Ticket | None:
        """Count the call whose turn it is, as soon as it may begin; None where a pause comes before that."""
        while self.paused(request.model.model_id) <= 0:
            check()
            now = self.clock.now()
            if self.full:
                self._free.clear()
                await self._free.wait()
            elif (wait := max((each.wait(now) for each in self.spacings.values()), default=0.0)) > 0:
                await self.clock.sleep(min(wait, LOOK_UP))
            else:
                begin()
                self.in_flight += 1
                costs = self._costs(request)
                self.sent.update(costs)
                for counted, spacing in self.spacings.items():
                    spacing.take(costs[counted], now)
                return Ticket(request, costs, dict(self.sent))
        return None

    def _costs(self, request: Request) -> dict[str, float]:
        """What a call is taken to cost; its output as the model's were so far, before the first as its limit."""
        read, most = most_tokens(request)
        calls, total = self.outputs.get(request.model.model_id, (0, 0.0))
        written = total / calls if calls else float(most)
        return {"requests": 1.0, "tokens": read + written, "input": float(read), "output": written}

    def settle(self, ticket: Ticket, usage: Usage, refused: bool, limits: Mapping[str, Told]) -> None:
        """Count an attempt's tokens as they came: what was counted; none where it was refused; else as was taken.

        `limits` are those of which its reply says what is left, by what they count.
        """
        model_id, tokens = ticket.request.model.model_id, 0
        counted = usage.input is not None and usage.output is not None
        if counted:
            calls, total = self.outputs.get(model_id, (0, 0.0))
            self.outputs[model_id] = (calls + 1, total + usage.output)
            tokens = usage.input + usage.output
        if "tokens" in self.spacings and (counted or refused):
            self.spacings["tokens"].take(tokens - ticket.costs["tokens"])
        if limits and ticket.sent["requests"] > self.used_up_at.get(model_id, 0.0):
            # What is left has to cover the calls that have begun since, and the next one.
            costs = self._costs(ticket.request)
            needed = {name: self.sent[name] - ticket.sent[name] + costs[name] for name in limits}
            waits = [limit.seconds for name, limit in limits.items() if limit.remaining < needed[name]]
            if any(waits):
                self.used_up_at[model_id] = self.sent["requests"]
                self.pause(max(waits), model_id)

    def slow_down(self, ticket: Ticket) -> None:
        """Halve what is allowed at once, unless the call began before the last time that was done."""
        if ticket.sent["requests"] > self.slowed_at:
            self.slowed_at = self.sent["requests"]
            self.allowed = max(1.0, self.allowed / 2)

    def speed_up(self) -> None:
        """A success: creep back towards the limit."""
        self.allowed = min(float(self.limit), self.allowed + 1 / max(self.allowed, 1.0))
        self._free.set()
