"""How fast an address is asked: one pace for all calls to it, slower when it says so, faster when it does not."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from helpers.providers.allowance import Allowance, Ticket
from helpers.providers.headers import LONGEST_PAUSE, Told
from helpers.types import Request

#: After a pause the crowd comes back within so many seconds, each at a moment of its own.
SPREAD = 1.0
#: Who says that no time has to pass is not asked again in the same breath, in seconds.
SHORTEST_PAUSE = 0.05
#: Nobody sleeps longer than this without looking up: a stop, or a reply that says more is left, is heard in time.
LOOK_UP = 1.0


@dataclass(frozen=True)
class Clock:
    """Time as the retry policy sees it; tests hand in their own, so that no test waits."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    wall: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random

    async def wait(self, seconds: float, check: Callable[[], None]) -> None:
        """Sleep, and call `check` before each step of at most LOOK_UP seconds: what it raises ends the sleep."""
        until = self.now() + seconds
        while (left := until - self.now()) > 0:
            check()
            await self.sleep(min(left, LOOK_UP))
        check()


@dataclass
class Pace:
    """The calls in flight to one address: at most `limit`, none before `paused_until`, none that it does not allow.

    A rate limit halves what is allowed at once, each full round of successes adds one (additive increase,
    multiplicative decrease); the refusals of one crowd count as one.
    """

    limit: int
    clock: Clock = field(default_factory=Clock)
    allowance: Allowance = field(default_factory=Allowance)
    allowed: float = 0.0
    in_flight: int = 0
    paused_until: float = 0.0
    slowed_at: float = 0.0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _turns: dict[str, asyncio.Lock] = field(default_factory=dict)
    _free: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: int = 0

    def __post_init__(self) -> None:
        """Start at full speed: most runs never meet a limit."""
        self.allowed = float(self.limit)

    def slot(self, request: Request, check: Callable[[], None], begin: Callable[[], None] = lambda: None) -> Slot:
        """Wait for the end of a pause, a free place and what the address allows; then hold the place.

        First come, first served among the calls to one model; the first ones of several models take turns. `check` is
        called while it waits, `begin` when nothing is left to wait for; what they raise is raised here, and no call has
        begun.
        """
        return Slot(self, request, check, begin)

    async def place(self, request: Request, check: Callable[[], None], begin: Callable[[], None]) -> Ticket:
        """Wait for a place as `slot` says; it has to be given back with `leave`."""
        ticket = None if self._waiting else self._at_once(request, check, begin)
        if ticket is None:
            self._waiting += 1
            try:
                while (ticket := await self._turn_of(request, check, begin)) is None:
                    pass
            finally:
                self._waiting -= 1
        return ticket

    def leave(self) -> None:
        """A call has ended, in whatever way."""
        self.in_flight -= 1
        self._free.set()

    def _at_once(self, request: Request, check: Callable[[], None], begin: Callable[[], None]) -> Ticket | None:
        """The place of a call that has nothing to wait for, as most have; None where it has."""
        now = self.clock.now()
        waits = self.full or self.paused_until > now or self.allowance.own_wait(now) > 0
        if waits or self.allowance.told_wait(request, now) > 0:
            return None
        return self._taken(request, check, begin, now)

    def _taken(self, request: Request, check: Callable[[], None], begin: Callable[[], None], now: float) -> Ticket:
        check()  # what waited for a place may have been refused meanwhile
        begin()
        self.in_flight += 1
        return self.allowance.take(request, now)

    async def _turn_of(self, request: Request, check: Callable[[], None], begin: Callable[[], None]) -> Ticket | None:
        """The place of a call; None where the address asked for a pause meanwhile."""
        await self._end_of_pause(check)
        async with self._turns.setdefault(request.model.model_id, asyncio.Lock()):
            check()
            while self.paused() <= 0:
                # What only this model waits for is waited for before its turn among the models.
                await self._until(lambda now: self.allowance.told_wait(request, now), check)
                async with self._turn:
                    check()
                    if self.full:
                        self._free.clear()
                        await self._free.wait()
                    await self._until(self.allowance.own_wait, check)
                    now = self.clock.now()
                    free = not self.full and self.paused() <= 0
                    if free and self.allowance.told_wait(request, now) <= 0:
                        return self._taken(request, check, begin, now)
        return None

    async def _until(self, wait: Callable[[float], float], check: Callable[[], None]) -> None:
        """Wait as long as this says, or until a pause begins."""
        while self.paused() <= 0 and (seconds := wait(self.clock.now())) > 0:
            check()
            await self.clock.sleep(min(seconds, LOOK_UP))

    def pause(self, seconds: float) -> None:
        """Nobody asks this address for so long (at most LONGEST_PAUSE)."""
        seconds = min(max(seconds, SHORTEST_PAUSE), LONGEST_PAUSE)
        self.paused_until = max(self.paused_until, self.clock.now() + seconds)

    def slow_down(self, ticket: Ticket) -> None:
        """A refusal: halve what is allowed at once, unless the call began before the last time that was done."""
        if ticket.sent["requests"] > self.slowed_at:
            self.slowed_at = self.allowance.logs["requests"].total
            self.allowed = max(1.0, self.allowed / 2)

    def speed_up(self) -> None:
        """A success: creep back towards the limit."""
        self.allowed = min(float(self.limit), self.allowed + 1 / max(self.allowed, 1.0))
        self._free.set()

    def hear(self, ticket: Ticket, told: Mapping[str, Told]) -> None:
        """What the reply to an attempt told of the address's limits."""
        self.allowance.hear(ticket, told, self.clock.now())

    @property
    def full(self) -> bool:
        """Whether a call would wait for the end of another one."""
        return self.in_flight >= int(self.allowed)

    def paused(self) -> float:
        """Seconds until the end of a pause; 0 or less where there is none."""
        return self.paused_until - self.clock.now()

    async def _end_of_pause(self, check: Callable[[], None]) -> None:
        while (wait := self.paused()) > 0:
            await self.clock.wait(wait, check)
            await self.clock.wait(self.clock.jitter() * SPREAD, check)


@dataclass(slots=True)
class Slot:
    """The place of one call, from its turn to its end: what `Pace.slot` gives."""

    pace: Pace
    request: Request
    check: Callable[[], None]
    begin: Callable[[], None]

    async def __aenter__(self) -> Ticket:
        """Wait for the place."""
        return await self.pace.place(self.request, self.check, self.begin)

    async def __aexit__(self, *_: object) -> None:
        """Give it back."""
        self.pace.leave()
