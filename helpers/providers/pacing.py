"""How fast a provider is asked: one pace for all calls to it, slower when it says so, faster when it does not."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

LONGEST_PAUSE = 120.0


@dataclass(frozen=True)
class Clock:
    """Time as the retry policy sees it; tests hand in their own, so that no test waits."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    wall: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random


@dataclass
class Pace:
    """The calls in flight to one provider: at most `limit`, none before `paused_until`.

    A rate limit halves what is allowed, each full round of successes adds one (additive increase, multiplicative
    decrease).
    """

    limit: int
    clock: Clock = field(default_factory=Clock)
    allowed: float = 0.0
    in_flight: int = 0
    paused_until: float = 0.0
    _free: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Start at full speed: most runs never meet a limit."""
        self.allowed = float(self.limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a free place and for the end of a pause, then hold the place."""
        while True:
            wait = self.paused_until - self.clock.now()
            if wait > 0:
                await self.clock.sleep(wait)
            elif self.in_flight < int(self.allowed):
                break
            else:
                self._free.clear()
                await self._free.wait()
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self._free.set()

    def pause(self, seconds: float) -> None:
        """Nobody asks this provider for so long (a Retry-After, capped), and afterwards fewer ask at once."""
        self.paused_until = max(self.paused_until, self.clock.now() + min(seconds, LONGEST_PAUSE))
        self.slow_down()

    def slow_down(self) -> None:
        """Halve what is allowed at once."""
        self.allowed = max(1.0, self.allowed / 2)

    def speed_up(self) -> None:
        """A success: creep back towards the limit."""
        self.allowed = min(float(self.limit), self.allowed + 1 / max(self.allowed, 1.0))
        self._free.set()
