"""The calls of one run: every attempt is recorded, one retry policy for all providers, one fleet of servers a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from math import inf
from typing import Any

from helpers.providers.keys import cleaner, key_of, key_variables
from helpers.providers.meanings import REFUSED_IN_A_ROW, Failure, Tries, address_of, advice, classify
from helpers.providers.pacing import LONGEST_PAUSE, LOOK_UP, Allowance, Clock, Limit, Pace, Ticket, told_limits
from helpers.providers.transport import Sent, failed, module_of, own_server, read
from helpers.types import FINISHES, Completion, Model, Request

#: Where a model is asked: provider and `base_url`.
Address = tuple[str, str | None]
#: Who pays there: the address, and the variable that models.yaml names for the key (None: the provider's own).
Account = tuple[str, str | None, str | None]
#: What is not asked any more: all at an address, all of an account there, or one model by its name.
Scope = Address | Account | str
#: What is recorded of a call that was cancelled before its reply came.
GIVEN_UP = "given up in flight"
#: So many failures in a row leave a server out (where no connection stands, one does).
STORM = 5
#: How long a server is left out before one call tries it again, in seconds: twice as long each time, up to the longest.
LEFT_OUT, LONGEST_LEFT_OUT = 30.0, 480.0


class Stopped(Exception):
    """A provider or model that is not asked again in this run; the text says what to do."""


class Elsewhere(Exception):
    """The server for which a call waits is left out meanwhile: another one is to be asked."""


# --- several servers behind one model ---------------------------------------------------------------------------------


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
    """The servers of one model: the least loaded is asked. Most models have one, which is never left out.

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

    @asynccontextmanager
    async def server(self, check: Callable[[], None], refused: Collection[str] = ()) -> AsyncIterator[Server]:
        """The server that a call is to go to; Stopped where none is asked any more, or as `check` says meanwhile.

        Servers whose addresses are in `refused` have refused the call and come last.
        """
        while (found := self._best(refused)) is None:
            check()
            self._changed.clear()
            with suppress(TimeoutError):  # one that is left out may be due again, which nobody tells
                await asyncio.wait_for(self._changed.wait(), LOOK_UP)
        found.load += 1
        try:
            yield found
        finally:
            found.load -= 1
            self._changed.set()

    def _best(self, refused: Collection[str] = ()) -> Server | None:
        """The least loaded server that may be asked; None where each has a first call that is not back yet."""
        there = [each for each in self.servers if not each.gone]
        if not there:
            raise Stopped("; ".join(each.gone for each in self.servers))
        there = [each for each in there if each.at.base_url not in refused] or there
        up = [each for each in there if each.out_until <= self.clock.now()] or there
        free = [each for each in up if each.answered or not each.load or self.single]
        return min(free, key=lambda each: (self.paused(each.at) > 0, each.load), default=None)

    def passes_on(self, server: Server, refused: set[str | None]) -> bool:
        """Whether a call that this server refused can go to another; `refused` are the addresses of all that did."""
        refused.add(server.at.base_url)
        return any(not each.gone and each.at.base_url not in refused for each in self.servers)

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
        if self.single or server.gone:
            return bool(server.gone)
        new, kind, unreadable = not server.answered, failure.kind, failure.status == "bad_envelope"
        server.in_a_row += 1
        server.unreadable += unreadable
        server.objections += kind.objects
        server.failures += kind.server
        # One that lacks the model after it has answered was started anew: it refuses fast, and would get all calls.
        lasting = (new and not refused) or server.objections >= REFUSED_IN_A_ROW
        if kind.stops or (kind.objects and lasting) or (new and unreadable and server.unreadable > 1):
            self.drop(server, advice(server.at, failure))
            return True
        # Before a server has answered, these are rather its own than the call's.
        misfit = new and failure.status in ("bad_request", "bad_envelope")
        if not (failure.status == "connect" or misfit or server.failures >= STORM):
            return False
        now = self.clock.now()
        if server.out_until <= now:  # the failures of one crowd count as one
            server.out_until = now + min(LONGEST_LEFT_OUT, LEFT_OUT * 2**server.times_out)
            server.times_out += 1
            self._say(server, "is left out and tried again later", failure.error)
        server.answered, server.failures = False, 0
        return True

    def for_nothing(self, server: Server, failure: Failure) -> bool:
        """Whether a call goes on elsewhere with all its tries, after a failure for which a server is left out.

        It does where nothing can have been billed, else many dead servers before a living one would use them up.
        """
        if server.gone:
            return not failure.kind.billed
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


# --- the calls of a run -----------------------------------------------------------------------------------------------


@dataclass
class Session:
    """The clients, paces and stops of one run of calls; use it as an async context manager.

    `reserve(request)` is called before each attempt and may raise to stop spending: then it is none. What `record`
    is given after each must be kept. `halted(model)` is asked while calls wait: a text ends the waiting. `limits` are
    our own, by address; `tell` gets sentences for whoever started the run. `answered` tells when each model last did;
    `proven` are those with stored replies of this run, `refused` the keys of calls that each has refused since; before
    it has answered once, one that refuses gets one call at a time (`turns`).
    """

    reserve: Callable[[Request], None]
    record: Callable[[Request, Completion], None]
    limit: int = 16
    clock: Clock = field(default_factory=Clock)
    limits: Mapping[Address, Limit] = field(default_factory=dict)
    halted: Callable[[Model], str | None] = lambda model: None
    tell: Callable[[str], None] = lambda text: None
    clients: dict[Account, Any] = field(default_factory=dict)
    paces: dict[Address, Pace] = field(default_factory=dict)
    fleets: dict[str, Fleet] = field(default_factory=dict)
    stops: dict[Scope, str] = field(default_factory=dict)
    answered: dict[str, float] = field(default_factory=dict)
    proven: Collection[str] = ()
    refused: dict[str, set[str]] = field(default_factory=dict)
    told: set[tuple[str, ...]] = field(default_factory=set)
    turns: dict[str, asyncio.Lock] = field(default_factory=dict)
    places: dict[tuple[str, str | None], asyncio.Semaphore] = field(default_factory=dict)
    #: The keys of the moment at which the session began: to read the environment for each reply would be dear.
    clean: Callable[[Completion], Completion] = field(default_factory=cleaner)

    async def __aenter__(self) -> Session:
        """Nothing is opened before the first call."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close every client that was opened."""
        for (provider, _, _), client in self.clients.items():
            await module_of(provider).close(client)
        self.clients.clear()

    def client(self, model: Model) -> Any:
        """The one SDK client for this provider, address and key."""
        account = _account(model)
        if account not in self.clients:
            if (model.base_url or "").startswith("http:") and key_variables(model) and not own_server(model.base_url):
                self.note(
                    f"the key in {' or '.join(key_variables(model))} goes to {model.base_url} unencrypted, and anybody "
                    "on the way can read it; write https:// if the server speaks it"
                )
            self.clients[account] = module_of(model.provider).client(model, key_of(model))
        return self.clients[account]

    def pace(self, model: Model) -> Pace:
        """The one pace for this provider and address, whatever the models and keys; as wide as the widest of them."""
        address, limit = (model.provider, model.base_url), model.concurrency or self.limit
        if address not in self.paces:
            self.paces[address] = Pace(limit, self.clock, Allowance(self.limits.get(address, Limit())))
        self.paces[address].widen(limit)
        return self.paces[address]

    def place(self, model: Model) -> AbstractAsyncContextManager[Any]:
        """A place among the calls to a model at one address, where it may have fewer of them than the address."""
        limit = model.concurrency or self.limit
        if limit >= self.pace(model).limit:
            return nullcontext()
        return self.places.setdefault((model.name, model.base_url), asyncio.Semaphore(limit))

    def note(self, text: str, *what: str) -> None:
        """Tell whoever started the run, once for the same `what` (the text itself, where nothing is given)."""
        if (what or (text,)) not in self.told:
            self.told.add(what or (text,))
            self.tell(f"note: {text}")

    def fleet(self, model: Model) -> Fleet:
        """The servers of a model, and what this run knows of each."""
        if model.name not in self.fleets:
            told = (lambda at: self.pace(at).paused(), self.tell, lambda at: self.pace(at).full)
            self.fleets[model.name] = Fleet(servers_of(model), self.clock, *told)
        return self.fleets[model.name]

    def check_stopped(self, model: Model) -> None:
        """Raise Stopped if this model, or its one key or address, is not to be asked any more."""
        # What a fleet's first server refuses, the others may take.
        where = () if model.servers else ((model.provider, model.base_url), _account(model))
        for scope in (*where, model.name):
            if scope in self.stops:
                raise Stopped(self.stops[scope])

    async def complete(self, request: Request, tries: Tries | None = None) -> Completion:
        """Ask until there is a reply or the retry table says stop; every attempt goes to `record`.

        The last failure is returned as a Completion whose status is not "ok"; Stopped is raised where provider or
        model is stopped, by this call or before it. Who asks again after `reserve` raised hands in the same `tries`.
        """
        name, tries = request.model.name, tries or Tries()
        if self._is_new(name) and self.refused.get(name):
            async with self.turns.setdefault(name, asyncio.Lock()):
                if self._is_new(name):
                    return await self._complete(request, tries)
        return await self._complete(request, tries)

    async def _complete(self, request: Request, tries: Tries) -> Completion:
        model, fleet = request.model, self.fleet(request.model)

        def check(server: Server | None = None) -> None:
            self.check_stopped(model)
            if (why := self.halted(model)) is not None:
                raise Stopped(why)
            if server is None or fleet.single:
                return
            if (why := self.stops.get(_account(server.at))) is not None:
                fleet.drop(server, why)
            if fleet.avoids(server):
                raise Elsewhere

        def begin() -> None:
            self.reserve(request)
            tries.attempts += 1

        while True:
            try:
                async with fleet.server(check, tries.refused) as server:
                    slot = self.pace(server.at).slot(request, partial(check, server), begin)
                    async with self.place(server.at), slot as ticket:
                        reply = await self._attempt(request, server.at, tries, ticket)
                    fleet.answers(server)
                    return reply
            except Elsewhere:
                continue
            except Failure as error:
                failure = error
            left_out, objected = fleet.fails(server, failure, tries.refused), failure.kind.objects
            if failure.kind.stops or (failure.status == "forbidden" and server.gone):
                self.stops.setdefault(_account(server.at), advice(server.at, failure))
            if left_out and fleet.for_nothing(server, failure):
                continue
            if objected and fleet.passes_on(server, tries.refused):
                continue
            again = (fleet.single or not objected) and tries.again(failure, self.clock.now())
            if fleet.single and failure.status == "connect":
                at = address_of(server.at)
                self.note(f"nobody answers at {at} ({failure.error}); it is tried again for a while", "connect", at)
            if (objected or failure.status == "bad_request") and self._lasts(request, failure, again):
                scope = _account(server.at) if failure.status == "forbidden" else model.name
                self.stops.setdefault(scope, advice(server.at, failure))
            if not again:
                return self._last(request, server.at, failure, tries)
            wait = tries.backoff(failure, self.clock.jitter())
            if fleet.single or (fleet.all_out if left_out else server.in_a_row == 1):
                await self.clock.wait(wait, check)
            elif wait and not left_out:  # else one that refuses quickly is the least loaded, and gets all calls
                self.pace(server.at).pause(wait)

    def _is_new(self, name: str) -> bool:
        """Whether a model has never answered, in this run or among the stored replies of it."""
        return name not in self.answered and name not in self.proven

    def _lasts(self, request: Request, failure: Failure, again: bool) -> bool:
        """Whether a refusal concerns all calls of its model.

        A key or a model id that is refused before the first reply does, and so do several refused calls without a reply
        between them; a bad request of a model that has answered never does: it takes our parameters.
        """
        new, objected = self._is_new(request.model.name), failure.kind.objects
        refused = self.refused.setdefault(request.model.name, set())
        if (objected or new) and not again:
            refused.add(request.key)
        return (objected and new) or ((objected or new) and len(refused) >= REFUSED_IN_A_ROW)

    def _last(self, request: Request, at: Model, failure: Failure, tries: Tries) -> Completion:
        """The failure after which a call is not repeated, as a Completion; Stopped where more than this call ends."""
        model, fleet = request.model, self.fleet(request.model)
        if failure.status == "connect" and fleet.single and model.name not in self.answered:
            self.stops.setdefault((model.provider, model.base_url), advice(at, failure))
        if failure.status == "connect" and not fleet.single and fleet.lost:
            self.stops.setdefault(model.name, fleet.advice(failure))
        self.check_stopped(model)
        if failure.status == "bad_envelope" and model.name not in self.answered:
            self.stops.setdefault(model.name, advice(at, failure))  # each such reply may have been billed
        if failure.status == "rate_limited" and self.answered.get(model.name, -inf) < tries.limited_since:
            self.stops.setdefault(model.name, advice(at, failure))  # else each further call waits as long
        error = advice(at, failure) if failure.hint else failure.error
        return Completion(request.key, failure.status, error=error, attempt=tries.attempts)

    async def _attempt(self, request: Request, model: Model, tries: Tries, ticket: Ticket) -> Completion:
        """One attempt at the server of `model`, recorded."""
        module, at = module_of(request.model.provider), datetime.fromtimestamp(self.clock.wall(), UTC)
        begun, sent, failure, cancelled = self.clock.now(), Sent(""), None, None
        seconds, late = request.model.timeout_seconds, False
        try:
            # of the call as a whole: limits of the SDKs start anew with every byte on this transport
            async with asyncio.timeout(seconds) as limit:
                sent = await module.send(self.client(model), request)
            reply = self._named_end(request.model, read(module, sent.raw, sent.headers, self.clock.wall()))
        except asyncio.CancelledError as error:
            cancelled, failure = error, Failure("maybe_billed", GIVEN_UP)
            reply = Completion(request.key, failure.status, error=failure.error, maybe_billed=True)
        except Exception as error:
            late = limit.expired()
            said = f"no whole reply within {seconds:g} seconds (`timeout_seconds` in models.yaml)"
            failure = Failure("maybe_billed", said) if late else classify(error, self.clock.wall())
            reply = failed(request.key, failure)
        headers = sent.headers or getattr(failure, "headers", {})
        failure = None if reply.status == "ok" else failure
        if failure is None and not reply.text.strip() and reply.finish == "stop" and "empty" not in tries.counts:
            failure = Failure("empty", "a finished reply without text")
            reply = replace(reply, status="empty")
        reply = replace(
            reply,
            key=request.key,
            attempt=tries.attempts,
            raw=reply.raw or sent.raw,
            request_id=sent.request_id or reply.request_id,
            latency=None if request.model.simulated else round(self.clock.now() - begun, 4),
            at=at.isoformat(timespec="milliseconds"),
        )
        if not request.model.simulated:
            reply = self.clean(reply)
        self.record(request, reply)
        self._adjust(model, ticket, reply, failure, headers, late)
        if cancelled is not None:
            raise cancelled
        if failure is not None:
            raise failure
        self.refused.pop(request.model.name, None)
        if reply.finish != "filter":  # a filter says nothing about the parameters
            self.answered[request.model.name] = self.clock.now()
        return reply

    def _adjust(
        self,
        model: Model,
        ticket: Ticket,
        reply: Completion,
        failure: Failure | None,
        headers: Mapping[str, str],
        late: bool,
    ) -> None:
        """Faster or slower after an attempt, as its outcome and its headers say; `late`: it took too long."""
        pace = self.pace(model)
        pace.allowance.settle(ticket, reply.usage, refused=failure is not None and not reply.maybe_billed)
        pace.hear(ticket, told_limits(headers, self.clock.wall()))
        if failure is None:
            pace.speed_up()
            return
        if failure.status == "rate_limited" or late:
            pace.slow_down(ticket)
        if failure.retry_after is not None:
            pace.pause(failure.retry_after)
        if failure.odd_wait:
            self.note(
                f"{address_of(model)} asks to wait ({failure.odd_wait}); longer than {LONGEST_PAUSE:.0f} seconds at a "
                "time, or what cannot be read, is not waited for: it is asked again after that",
                *("wait", address_of(model)),
            )

    def _named_end(self, model: Model, reply: Completion) -> Completion:
        """The reply, of which an ending that nobody listed counts as a normal one where a text came."""
        if reply.finish in (None, "unknown", *FINISHES) or not reply.text.strip():
            return reply
        self.note(
            f"{address_of(model)} ends replies of {model.model_id!r} with {reply.finish!r}, which nobody listed: they "
            "are read as finished ones",
            *("end", address_of(model), reply.finish),
        )
        return replace(reply, finish="stop")


def _account(model: Model) -> Account:
    return (model.provider, model.base_url, model.api_key_env)


def retirement(model: Model) -> str | None:
    """When the provider ends this model, from models.yaml or the SDK's own table; None where nothing is known."""
    known = getattr(module_of(model.provider), "retires", None)
    return model.retires or (known(model.model_id) if known else None)
