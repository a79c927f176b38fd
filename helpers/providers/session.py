"""The calls of one run: every attempt is recorded, one retry policy for all providers, one fleet of servers a model."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from math import inf
from typing import Any

from ..services import own_server
from ..types import Completion, Model, Request
from .keys import Keyring, key_of, key_variables, redact_all, secrets
from .meanings import POLICY, Failure, advice, classify, kind_of, note_on, read_limits
from .pacing import Clock, Limit, Pace, Ticket
from .transport import Sent, module_of, read

#: Where a model is asked: provider and `base_url`.
Address = tuple[str, str | None]
#: Who pays there: the address, and the variable that models.yaml names for the key (None: the provider's own).
Account = tuple[str, str | None, str | None]
#: What is recorded of a call that was cancelled before its reply came.
GIVEN_UP = "given up in flight"


class Stopped(Exception):
    """A provider or model that is not asked again in this run; the text says what to do."""


class Elsewhere(Exception):
    """The server for which a call waits is left out meanwhile: another one is to be asked."""


@dataclass
class Tries:
    """One call so far: attempts, failures by kind, servers that refused it, and when it first met a rate limit."""

    attempts: int = 0
    refused: set[str | None] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    limited_since: float | None = None

    def again(self, failure: Failure, now: float) -> bool:
        """Count a failure; whether the call is repeated after it."""
        self.counts[failure.status] += 1
        if failure.status == "rate_limited":
            self.limited_since = now if self.limited_since is None else self.limited_since
            return now - self.limited_since < POLICY.PATIENCE
        return self.counts[failure.status] <= failure.kind.repeats

    def backoff(self, failure: Failure, jitter: float) -> float:
        """Seconds until this call is repeated (0 where the address is paused for all); `jitter` is from 0 to 1."""
        if failure.retry_after is not None or failure.status == "empty":
            return 0.0
        return (1 + jitter) / 2 * min(POLICY.LONGEST_BACKOFF, 2.0 ** min(self.counts[failure.status] - 1, 6))


@dataclass(eq=False)
class Server:
    """One server of a model (`at`: the model at its address); not asked before `out_until`, or if `gone` says why.

    `load` counts the calls that wait for it or are in flight, `failures` those since it last answered, by status.
    """

    at: Model
    pace: Pace
    places: asyncio.Semaphore
    load: int = 0
    answered: bool = False
    failures: Counter[str] = field(default_factory=Counter)
    times_out: int = 0
    out_until: float = -inf
    gone: str = ""

    def answers(self) -> None:
        """It brought a reply."""
        self.answered, self.times_out, self.out_until = True, 0, -inf
        self.failures.clear()

    def count(self, trait: str) -> int:
        """Failures since it last answered whose kind has this trait."""
        return sum(number for status, number in self.failures.items() if getattr(kind_of(status), trait))


@dataclass
class Fleet:
    """The servers of one model: the least loaded is asked. Most models have one, which is never left out.

    Where it is `careful`, a server gets one call at a time before it has answered. `refused` are the keys of calls that
    the model has refused since its last reply.
    """

    servers: list[Server]
    clock: Clock
    tell: Callable[[str], None]
    careful: bool
    refused: set[str] = field(default_factory=set)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def single(self) -> bool:
        """Whether there is no other server."""
        return len(self.servers) == 1

    @property
    def up(self) -> list[Server]:
        """The servers that are not left out."""
        return [each for each in self.servers if not each.gone and each.out_until <= self.clock.now()]

    @asynccontextmanager
    async def server(self, check: Callable[[], None], refused: Collection[str | None] = ()) -> AsyncIterator[Server]:
        """The server that a call goes to, last those that `refused` it; Stopped where none is left, or by `check`."""
        while (found := self._best(refused)) is None:
            check()
            self._changed.clear()
            with suppress(TimeoutError):  # one that is left out may be due again, which nobody tells
                await asyncio.wait_for(self._changed.wait(), POLICY.LOOK_UP)
        found.load += 1
        try:
            yield found
        finally:
            found.load -= 1
            self._changed.set()

    def _best(self, refused: Collection[str | None] = ()) -> Server | None:
        """The least loaded server that may be asked; None where each has a first call that is not back yet."""
        there = [each for each in self.servers if not each.gone]
        if not there:
            raise Stopped("; ".join(each.gone for each in self.servers))
        there = [each for each in there if each.at.base_url not in refused] or there
        there = [each for each in there if each.out_until <= self.clock.now()] or there
        free = [each for each in there if each.answered or not each.load or not self.careful]
        return min(free, key=lambda each: (each.pace.paused() > 0, each.load), default=None)

    def avoids(self, server: Server) -> bool:
        """Whether a call that waits for a server should go to another one."""
        if server.gone or (self.up and server not in self.up):
            return True
        best = self._best() if server.pace.paused() > 0 else None
        return best is not None and best.pace.paused() <= 0 and not best.pace.full

    def fails(self, server: Server, failure: Failure, refused: Collection[str | None] = ()) -> bool:
        """Count a failed attempt; whether the server is left out for it, so that the call can go elsewhere at once."""
        if self.single or server.gone:
            return bool(server.gone)
        new, kind, status = not server.answered, failure.kind, failure.status
        server.failures[status] += 1
        # One that lacks the model after it has answered was started anew: it refuses fast, and would get all calls. A
        # call that other servers have refused before is no evidence against this one.
        objects = kind.objects and ((new and not refused) or server.count("objects") >= POLICY.REFUSED_IN_A_ROW)
        if kind.stops or objects or (new and status == "bad_envelope" and server.failures[status] > 1):
            self.drop(server, advice(server.at, failure))
            return True
        # Before a server has answered, these are rather its own than the call's.
        misfit = new and status in ("bad_request", "bad_envelope")
        if not (status == "connect" or misfit or (kind.server and server.count("server") >= POLICY.STORM)):
            return False
        if server in self.up:  # the failures of one crowd count as one
            server.out_until = self.clock.now() + min(POLICY.LONGEST_LEFT_OUT, POLICY.LEFT_OUT * 2**server.times_out)
            server.times_out += 1
            self._say(server, "is left out and tried again later", failure.error)
        server.answered = False
        return True

    def drop(self, server: Server, why: str) -> None:
        """Ask a server no more."""
        if not server.gone:
            server.gone = why
            self._say(server, "is not asked any more", why)

    def _say(self, server: Server, what: str, why: str) -> None:
        if server.times_out <= 1:
            left = f"{len(self.up)} of {len(self.servers)} servers of {server.at.name} are left"
            self.tell(f"note: {server.at.base_url} {what} ({why}); {left}")


@dataclass
class Session:
    """The clients, paces and stops of one run of calls; use it as an async context manager.

    `reserve(request)` is called before each attempt and may raise to stop spending; `record` keeps each attempt. While
    calls wait, a text of `halted(model)` ends the waiting. `limits` are our own, by address. `stops` says why an
    account, address or model is not asked any more, `answered` when each model last did; `proven` ones did before.
    """

    reserve: Callable[[Request], None]
    record: Callable[[Request, Completion], None]
    limit: int = 16
    clock: Clock = field(default_factory=Clock)
    limits: Mapping[Address, Limit] = field(default_factory=dict)
    halted: Callable[[Model], str | None] = lambda model: None
    tell: Callable[[str], None] = lambda text: None
    proven: Collection[str] = ()
    clients: dict[Account, Any] = field(default_factory=dict)
    paces: dict[Address, Pace] = field(default_factory=dict)
    fleets: dict[str, Fleet] = field(default_factory=dict)
    stops: dict[Address | Account | str, str] = field(default_factory=dict)
    answered: dict[str, float] = field(default_factory=dict)
    noted: set[tuple[str, ...]] = field(default_factory=set)
    #: The secrets when the session began: reading the environment for each reply would be slow.
    secrets: Keyring = field(default_factory=secrets)

    async def __aenter__(self) -> Session:
        """Nothing is opened before the first call."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close every client that was opened."""
        for client in self.clients.values():
            if hasattr(client, "close"):  # a simulated model has none
                await client.close()

    def client(self, model: Model) -> Any:
        """The one SDK client for this provider, address and key."""
        account = _account(model)
        if account not in self.clients:
            variables = " or ".join(key_variables(model))
            if (model.base_url or "").startswith("http:") and variables and not own_server(model.base_url):
                self.note("unencrypted", model, variables)
            self.clients[account] = module_of(model.provider).client(model, key_of(model))
        return self.clients[account]

    def pace(self, model: Model) -> Pace:
        """The one pace for this provider and address, whatever the models and keys; as wide as the widest of them."""
        address, limit = (model.provider, model.base_url), model.concurrency or self.limit
        pace = self.paces.setdefault(address, Pace(limit, self.clock, self.limits.get(address, Limit())))
        # What was refused before stays in force.
        pace.limit, pace.allowed = max(limit, pace.limit), pace.allowed + max(limit - pace.limit, 0)
        return pace

    def fleet(self, model: Model) -> Fleet:
        """The servers of a model, and what this run knows of each."""
        if model.name not in self.fleets:
            alone = [replace(model, base_url=url, servers=()) for url in model.servers] or [model]
            servers = [Server(at, self.pace(at), asyncio.Semaphore(model.concurrency or self.limit)) for at in alone]
            self.fleets[model.name] = Fleet(servers, self.clock, self.tell, careful=len(servers) > 1)
        return self.fleets[model.name]

    def note(self, name: str, model: Model, what: str = "", words: str = "") -> None:
        """Warn of what is odd at a model's address, once for the same `what`."""
        if (key := (name, model.base_url or model.provider, what)) not in self.noted:
            self.noted.add(key)
            self.tell(f"note: {note_on(name, model, what or words)}")

    async def complete(self, request: Request, tries: Tries | None = None) -> Completion:
        """Ask until there is a reply or the retry table says stop; the last failure is a Completion that is not "ok".

        Stopped where provider or model is stopped. Who asks again after `reserve` raised passes the same `tries`.
        """
        fleet, check, tries = self.fleet(request.model), partial(self._check, request.model), tries or Tries()

        def begin() -> None:
            self.reserve(request)
            tries.attempts += 1

        while True:
            try:
                async with fleet.server(check, tries.refused) as server:
                    slot = server.pace.slot(request, partial(check, server), begin)
                    async with server.places, slot as ticket:
                        reply = await self._attempt(request, server, tries, ticket)
                    server.answers()
                    return reply
            except Elsewhere:
                continue
            except Failure as failure:
                if not await self._goes_on(request, server, failure, tries):
                    error = advice(server.at, failure) if failure.hint else failure.error
                    return Completion(request.key, failure.status, error=error, attempt=tries.attempts)

    def _check(self, model: Model, server: Server | None = None) -> None:
        """Raise Stopped where a model is not to be asked any more, Elsewhere where it is not at this server."""
        self._check_stops(model)
        if (why := self.halted(model)) is not None:
            raise Stopped(why)
        fleet = self.fleet(model)
        if server is None or fleet.single:
            return
        if (why := self.stops.get(_account(server.at))) is not None:
            fleet.drop(server, why)
        if fleet.avoids(server):
            raise Elsewhere

    def _check_stops(self, model: Model) -> None:
        # What a fleet's first server refuses, the others may take.
        where = () if model.servers else ((model.provider, model.base_url), _account(model))
        for scope in (*where, model.name):
            if scope in self.stops:
                raise Stopped(self.stops[scope])

    async def _goes_on(self, request: Request, server: Server, failure: Failure, tries: Tries) -> bool:
        """Whether a call is to be made again after a failure, after its wait; Stopped where more than the call ends."""
        fleet, objected, check = self.fleet(request.model), failure.kind.objects, partial(self._check, request.model)
        left_out = fleet.fails(server, failure, tries.refused)
        if failure.kind.stops or (failure.status == "forbidden" and server.gone):
            self.stops.setdefault(_account(server.at), advice(server.at, failure))
        # Nothing can have been billed at a dead server: the call goes on elsewhere with all its tries.
        unbilled = not failure.kind.billed if server.gone else failure.status in ("connect", "bad_request") and fleet.up
        if left_out and unbilled:
            return True
        if objected:
            tries.refused.add(server.at.base_url)
            if any(not each.gone and each.at.base_url not in tries.refused for each in fleet.servers):
                return True
        again = (fleet.single or not objected) and tries.again(failure, self.clock.now())
        self._stop(request, server, failure, again, tries)
        if not again:
            return False
        wait = tries.backoff(failure, self.clock.jitter())
        if fleet.single or (not fleet.up if left_out else server.failures.total() == 1):
            await self.clock.wait(wait, check)
        elif wait and not left_out:  # else one that refuses quickly is the least loaded, and gets all calls
            server.pace.pause(wait)
        return True

    def _stop(self, request: Request, server: Server, failure: Failure, again: bool, tries: Tries) -> None:
        """Note what is not asked any more after a failure; Stopped where this call's own model is not."""
        model, status, fleet = request.model, failure.status, self.fleet(request.model)
        why, objected = advice(model if status == "connect" else server.at, failure), failure.kind.objects
        silent = model.name not in self.answered
        new = silent and model.name not in self.proven
        # A refusal before the first reply, or several in a row, concern the model; a bad request after it never does.
        if objected or (status == "bad_request" and new):
            fleet.careful |= new
            fleet.refused |= set() if again else {request.key}
            if (objected and new) or len(fleet.refused) >= POLICY.REFUSED_IN_A_ROW:
                self.stops.setdefault(_account(server.at) if status == "forbidden" else model.name, why)
        if status == "connect" and fleet.single:
            self.note("silent", server.at, words=failure.error)
        if again:
            return
        dead = all(each.gone or (each.times_out and not each.answered) for each in fleet.servers)
        if status == "connect" and (silent if fleet.single else dead):
            self.stops.setdefault((model.provider, model.base_url) if fleet.single else model.name, why)
        self._check_stops(model)
        # This call is lost with what its server said. Each unreadable reply may have been billed, and where a rate
        # limit has let nothing through for so long, each further call would wait as long.
        limited = status == "rate_limited" and self.answered.get(model.name, -inf) < tries.limited_since
        if limited or (status == "bad_envelope" and silent):
            self.stops.setdefault(model.name, why)

    async def _attempt(self, request: Request, server: Server, tries: Tries, ticket: Ticket) -> Completion:
        """One attempt at a server, recorded; Failure where it brought no reply."""
        model, module = request.model, module_of(request.model.provider)
        at, begun = datetime.fromtimestamp(self.clock.wall(), UTC), self.clock.now()
        sent, failure, cancelled = Sent(""), None, None
        try:
            # of the call as a whole: limits of the SDKs start anew with every byte on this transport
            async with asyncio.timeout(model.timeout_seconds) as limit:
                sent = await module.send(self.client(server.at), request)
            reply = read(module, sent.raw, sent.headers, self.clock.wall())
            if reply.finish not in (None, "unknown", "stop", "length", "refusal", "filter") and reply.text.strip():
                self.note("odd_end", model, repr(reply.finish))
                reply = replace(reply, finish="stop")
        except asyncio.CancelledError as error:
            cancelled, failure = error, Failure("maybe_billed", GIVEN_UP)
        except Exception as error:
            late = f"no whole reply within {model.timeout_seconds:g} seconds (`timeout_seconds` in models.yaml)"
            too_late = limit.expired()
            failure = Failure("maybe_billed", late, slows=True) if too_late else classify(error, self.clock.wall())
        headers = sent.headers or getattr(failure, "headers", {})
        if failure is not None:  # a prompt refused for its content is a reply that a filter ended
            reply = Completion("", failure.status, raw=failure.raw, error=failure.error, maybe_billed=failure.billed)
            reply = replace(reply, status="ok", finish="filter", error=None) if reply.status == "filtered" else reply
        elif not reply.text.strip() and reply.finish == "stop" and "empty" not in tries.counts:
            reply, failure = replace(reply, status="empty"), Failure("empty", "a finished reply without text")
        failure = None if reply.status == "ok" else failure
        reply = replace(
            reply,
            key=request.key,
            attempt=tries.attempts,
            raw=reply.raw or sent.raw,
            request_id=reply.request_id or headers.get("x-request-id") or headers.get("request-id"),
            latency=None if model.simulated else round(self.clock.now() - begun, 4),
            at=at.isoformat(timespec="milliseconds"),
        )
        reply = reply if model.simulated else redact_all(reply, self.secrets)
        self.record(request, reply)
        server.pace.settle(ticket, reply.usage, refused=failure is not None and not reply.maybe_billed)
        server.pace.update(ticket, read_limits(headers, self.clock.wall()))
        if failure is not None:
            if failure.slows:
                server.pace.slow_down(ticket)
            if failure.retry_after is not None:
                server.pace.pause(failure.retry_after)
            if failure.odd_wait:
                self.note("odd_wait", server.at, words=failure.odd_wait)
            raise cancelled or failure
        server.pace.speed_up()
        self.fleet(model).refused.clear()
        if reply.finish != "filter":  # a filter says nothing about the parameters
            self.answered[model.name] = self.clock.now()
        return reply


def _account(model: Model) -> Account:
    return (model.provider, model.base_url, model.api_key_env)


def retirement(model: Model) -> str | None:
    """When the provider ends this model, from models.yaml or the SDK's own table; None where unknown."""
    return model.retires or getattr(module_of(model.provider), "retires", lambda id: None)(model.model_id)
