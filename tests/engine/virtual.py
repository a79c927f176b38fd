"""Time that nobody waits for, and services that count in it: for tests of how fast providers are asked."""

from __future__ import annotations

import asyncio
import json
import random
import selectors
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from helpers.providers import Clock, Failure, Sent, session
from helpers.types import Completion, Model, Request, Usage
from tests.servers.behaviours import Behaviour, Call, Fault, Reply


class _Jump(selectors.SelectSelector):
    """Where others wait for something to come from outside, this jumps to the next thing that is due."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        assert timeout is not None, "everybody waits for somebody else"
        self.time += timeout
        return super().select(0)


class FakeClock:
    """Time that passes only by sleeping; many sleepers sleep at the same time. `slept` holds every wish, in order."""

    def __init__(self, jitter: float = 0.5) -> None:
        self.time, self.slept, self.share = 0.0, [], jitter

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.time + seconds
        await asyncio.sleep(0)
        self.time = max(self.time, until)

    def clock(self) -> Clock:
        return Clock(now=lambda: self.time, sleep=self.sleep, wall=lambda: 1.7e9 + self.time, jitter=lambda: self.share)


def timed(came: list[float], clock: FakeClock, behaviour: Behaviour) -> Behaviour:
    """A behaviour that writes down by our clock when each request came."""

    def behave(call: Call) -> Reply | Fault:
        came.append(clock.time)
        return behaviour(call)

    return behave


def gaps(came: Sequence[float]) -> list[float]:
    """The seconds between one request and the next."""
    return [round(later - earlier, 6) for earlier, later in pairwise(came)]


def run(scene: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run a coroutine in a loop of its own whose time is 0 at first and passes only where all sleep."""
    selector = _Jump()

    def loop() -> asyncio.AbstractEventLoop:
        made = asyncio.SelectorEventLoop(selector)
        made.time = lambda: selector.time  # type: ignore[method-assign]
        return made

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(scene())


def clock(seed: int = 0, begin: float = 1.7e9) -> Clock:
    """The clock of the running loop."""
    now = asyncio.get_running_loop().time
    return Clock(now=now, sleep=asyncio.sleep, wall=lambda: begin + now(), jitter=random.Random(seed).random)


@contextmanager
def provider(service: Any) -> Iterator[None]:
    """Calls of all providers go to a service that has `send` and `read`, and `client` where it wants one."""
    client = getattr(service, "client", lambda model, key: None)
    module = SimpleNamespace(client=client, send=service.send, read=service.read)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "module_of", lambda name: module)
        yield


async def ask_all(
    calls: Iterable[Request], workers: int, ask: Callable[[Request], Coroutine[Any, Any, Completion]]
) -> list[Completion | Exception]:
    """The first alone, then all, by so many workers; what is raised stands where the reply would."""
    waiting, replies = iter(calls), []

    async def one(request: Request) -> None:
        try:
            replies.append(await ask(request))
        except Exception as error:
            replies.append(error)

    async def work() -> None:
        for request in waiting:
            await one(request)

    await one(next(waiting))
    await asyncio.gather(*(work() for _ in range(workers)))
    return replies


#: What a service does with the n-th attempt (from 1) of a call that comes at a time: the seconds that this takes, and
#: how many tokens it has read (None: ten), what it says instead of the prompt, or why it fails.
Behave = Callable[[Request, int, float], tuple[float, float | str | Failure | None]]


@dataclass
class Scripted:
    """A service that does with each call what a function says; `sent` holds when each began."""

    behave: Behave
    usage: Usage = field(default_factory=lambda: Usage(10, 5))
    sent: list[tuple[float, Request]] = field(default_factory=list)
    attempts: Counter[str] = field(default_factory=Counter)

    async def send(self, client: Any, request: Request) -> Sent:
        """One attempt."""
        now = asyncio.get_running_loop().time()
        self.sent.append((now, request))
        self.attempts[request.key] += 1
        seconds, read = self.behave(request, self.attempts[request.key], now)
        await asyncio.sleep(seconds)
        if isinstance(read, Failure):
            raise read
        text, read = (read, None) if isinstance(read, str) else (request.prompt, read)
        return Sent(json.dumps({"text": text, "read": self.usage.input if read is None else read}))

    def read(self, raw: str) -> Completion:
        """The reply in a body."""
        said = json.loads(raw)
        usage = replace(self.usage, input=said["read"])
        return Completion("", "ok", text=said["text"], finish="stop", usage=usage)

    def times(self, model: Model) -> list[float]:
        """When calls of a model came."""
        return [round(when, 3) for when, request in self.sent if request.model == model]

    def asked(self, model: Model) -> list[int]:
        """The numbers with which the prompts of a model begin, in the order in which its calls came."""
        return [int(request.prompt.split()[0]) for _, request in self.sent if request.model == model]


@dataclass
class Service:
    """A service that takes `rate` calls a second.

    As a `bucket` of `size` calls that is filled bit by bit, or in `window`s of `size` calls each. It tells its limit
    as OpenAI does (`tells`), and refuses what is above it, with the time to wait where it `names` one. `latency`
    seconds pass on the way; it answers as what stood when the call came (`early`), or when the answer left.
    """

    kind: str = "bucket"
    rate: float = 200.0
    size: float = 200.0
    latency: float = 0.02
    tells: bool = True
    names: bool = False
    early: bool = True
    left: float = -1.0
    at: float = 0.0
    came: list[tuple[float, str, bool]] = field(default_factory=list)

    async def send(self, client: Any, request: Request) -> Sent:
        """One call."""
        now = asyncio.get_running_loop().time
        await asyncio.sleep(self.latency / 2)
        headers, taken = self.meet(request.model.name, now())
        await asyncio.sleep(self.latency / 2)
        if not self.early:
            self._refill(now())
            headers = self._told(now())
        if not taken:
            wait = None
            if self.names:
                wait = (1 - self.left) / self.rate if self.kind == "bucket" else self._end(now()) - now()
            raise Failure("rate_limited", "slow down", wait, headers=headers)
        return Sent(json.dumps({"text": f"re: {request.prompt}"}), headers=headers)

    def meet(self, model: str, now: float) -> tuple[dict[str, str], bool]:
        """What is told to a call that comes now, and whether it is taken."""
        self._refill(now)
        taken = self.left >= 1
        self.left -= taken
        self.came.append((now, model, taken))
        return self._told(now), taken

    def read(self, raw: str) -> Completion:
        """The reply in a body."""
        return Completion("", "ok", text=json.loads(raw)["text"], finish="stop", usage=Usage(input=10, output=5))

    def _end(self, now: float) -> float:
        period = self.size / self.rate
        return (now // period + 1) * period

    def _refill(self, now: float) -> None:
        if self.left < 0:
            self.left = self.size
        elif self.kind == "bucket":
            self.left = min(self.size, self.left + (now - self.at) * self.rate)
        elif self._end(now) > self._end(self.at):
            self.left = self.size
        self.at = now

    def _told(self, now: float) -> dict[str, str]:
        if not self.tells:
            return {}
        reset = (self.size - self.left) / self.rate if self.kind == "bucket" else self._end(now) - now
        return {
            "x-ratelimit-limit-requests": f"{self.size:g}",
            "x-ratelimit-remaining-requests": str(int(self.left)),
            "x-ratelimit-reset-requests": f"{1000 * reset:.0f}ms",
        }
