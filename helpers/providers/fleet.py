"""Several servers with the same weights behind one model: the least loaded is asked, and a dead one is left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf

from helpers.providers.advice import advice
from helpers.providers.failures import Failure
from helpers.providers.pacing import LOOK_UP, Clock
from helpers.providers.retrying import BILLED, OBJECTIONS, REFUSED_IN_A_ROW, STOPS_ACCOUNT
from helpers.types import Model

#: Failures that can be those of one server, and how many in a row leave it out; where no connection stands, one does.
OF_SERVER = {"connect", "provider_error", "maybe_billed", "bad_envelope", "too_large"}
STORM = 5
#: Failures that, before a server has answered, are rather its own than the call's: it is left out after one.
MISFIT = {"bad_request", "bad_envelope"}
#: How long a server is left out before one call tries it again, in seconds: twice as long each time, up to the longest.
LEFT_OUT, LONGEST_LEFT_OUT = 30.0, 480.0


class Stopped(Exception):
    """A provider or model that is not asked again in this run; `reason` says what to do."""


class Elsewhere(Exception):
    """The server for which a call waits is left out meanwhile: another one is to be asked."""


@dataclass
class Server:
    """One server of a fleet as this run knows it: `at` is the model at its address alone.

    `load` counts calls that wait for it or are in flight. Before it has `answered` it gets one call at a time. It is
    not asked before `out_until`, and never again where `gone` says why. `in_a_row` counts all failures since it last
    answered, `unreadable` the replies among them that could not be read, `objections` the calls that it refused.
    """

    at: Model
    load: int = 0
    answered: bool = False
    failures: int = 0
    times_out: int = 0
    out_until: float = -inf
    in_a_row: int = 0
    unreadable: int = 0
    objections: int = 0
    gone: str = ""


@dataclass
class Fleet:
    """The servers of one model; most models have one, which is never left out.

    `paused` tells how long a server asks to be left alone, in seconds, `full` whether a call would wait there for a
    place; `tell` gets a sentence once for each server that is left out.
    """

    servers: list[Server]
    clock: Clock
    paused: Callable[[Model], float]
    tell: Callable[[str], None]
    full: Callable[[Model], bool] = lambda at: False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def single(self) -> bool:
        """Whether there is no other server to turn to."""
        return len(self.servers) == 1

    @property
    def all_out(self) -> bool:
        """Whether each server is left out."""
        return all(each.gone or each.out_until > self.clock.now() for each in self.servers)

    @property
    def lost(self) -> bool:
        """Whether each server was found dead and none has answered since."""
        return all(each.gone or (each.times_out and not each.answered) for each in self.servers)

    def server(self, check: Callable[[], None], refused: Collection[str] = ()) -> Going:
        """The server that a call is to go to; Stopped where none is asked any more, or as `check` says meanwhile.

        Servers whose addresses are in `refused` have refused the call and come last.
        """
        return Going(self, check, refused)

    async def take(self, check: Callable[[], None], refused: Collection[str]) -> Server:
        """Wait for a server as `server` says; it has to be given back with `leave`."""
        while (found := self._best(refused)) is None:
            check()
            self._changed.clear()
            with suppress(TimeoutError):  # one that is left out may be due again, which nobody tells
                await asyncio.wait_for(self._changed.wait(), LOOK_UP)
        found.load += 1
        return found

    def leave(self, server: Server) -> None:
        """A call to a server has ended, in whatever way."""
        server.load -= 1
        self._changed.set()

    def passes_on(self, server: Server, refused: set[str | None]) -> bool:
        """Whether a call that this server refused can go to another; `refused` are the addresses of all that did."""
        refused.add(server.at.base_url)
        return any(not each.gone and each.at.base_url not in refused for each in self.servers)

    def _best(self, refused: Collection[str] = ()) -> Server | None:
        """The least loaded server that may be asked; None where each has a first call that is not back yet."""
        if self.single and not self.servers[0].gone:
            return self.servers[0]
        there = [each for each in self.servers if not each.gone]
        if not there:
            raise Stopped("; ".join(each.gone for each in self.servers))
        there = [each for each in there if each.at.base_url not in refused] or there
        up = [each for each in there if each.out_until <= self.clock.now()] or there
        free = [each for each in up if each.answered or not each.load or self.single]
        return min(free, key=lambda each: (self.paused(each.at) > 0, each.load), default=None)

    def avoids(self, server: Server) -> bool:
        """Whether a call that waits for a server should go to another one."""
        if server.gone or (server.out_until > self.clock.now() and not self.all_out):
            return True
        if self.single or self.paused(server.at) <= 0:
            return False
        best = self._best()
        return best is not None and self.paused(best.at) <= 0 and not self.full(best.at)

    def answers(self, server: Server) -> None:
        """A server brought a reply."""
        server.answered, server.failures, server.times_out, server.out_until = True, 0, 0, -inf
        server.in_a_row = server.unreadable = server.objections = 0

    def drop(self, server: Server, why: str) -> None:
        """Ask a server no more."""
        if not server.gone:
            server.gone = why
            self._say(server, "is not asked any more", why)

    def fails(self, server: Server, failure: Failure, refused: Collection[str] = ()) -> bool:
        """Count a failed attempt; whether the server is left out for it, so that the call can go elsewhere at once.

        A call that other servers have `refused` before is no evidence against this one.
        """
        if self.single:
            return False
        if server.gone:
            return True
        server.in_a_row += 1
        new = not server.answered
        server.unreadable += failure.status == "bad_envelope"
        useless = new and failure.status == "bad_envelope" and server.unreadable > 1
        server.objections += failure.status in OBJECTIONS
        # One that lacks the model after it has answered was started anew: it refuses fast, and would get all calls.
        lasting = (new and not refused) or server.objections >= REFUSED_IN_A_ROW
        if failure.status in STOPS_ACCOUNT or (failure.status in OBJECTIONS and lasting) or useless:
            self.drop(server, advice(server.at, failure))
            return True
        server.failures += failure.status in OF_SERVER
        if failure.status == "connect" or (new and failure.status in MISFIT) or server.failures >= STORM:
            now = self.clock.now()
            if server.out_until <= now:  # the failures of one crowd count as one
                server.out_until = now + min(LONGEST_LEFT_OUT, LEFT_OUT * 2**server.times_out)
                server.times_out += 1
                self._say(server, "is left out and tried again later", failure.error)
            server.answered, server.failures = False, 0
            return True
        return False

    def for_nothing(self, server: Server, failure: Failure) -> bool:
        """Whether a call goes on elsewhere with all its tries, after a failure for which a server is left out.

        It does where nothing can have been billed, else many dead servers before a living one would use them up.
        """
        if server.gone:
            return failure.status not in BILLED
        return failure.status in ("connect", "bad_request") and not self.all_out

    def advice(self, failure: Failure) -> str:
        """What to do where none of the servers answers, and what the last one said."""
        name, urls = self.servers[0].at.name, ", ".join(str(each.at.base_url) for each in self.servers)
        return f"no server of {name} answers ({urls}); are they running, and the network up? ({failure.error})"

    def _say(self, server: Server, what: str, why: str) -> None:
        if server.times_out <= 1:
            others = sum(not each.gone and each.out_until <= self.clock.now() for each in self.servers)
            self.tell(
                f"note: {server.at.base_url} {what} ({why}); {others} of {len(self.servers)} servers of "
                f"{server.at.name} are left"
            )


def servers_of(model: Model) -> list[Server]:
    """Each server of a model, of which nothing is known yet."""
    return [Server(replace(model, base_url=url, servers=())) for url in model.servers] or [Server(model)]


@dataclass(slots=True)
class Going:
    """A call on its way to a server, until it ends: what `Fleet.server` gives."""

    fleet: Fleet
    check: Callable[[], None]
    refused: Collection[str]
    server: Server | None = None

    async def __aenter__(self) -> Server:
        """Wait for a server."""
        self.server = await self.fleet.take(self.check, self.refused)
        return self.server

    async def __aexit__(self, *_: object) -> None:
        """Leave it."""
        if self.server is not None:
            self.fleet.leave(self.server)
