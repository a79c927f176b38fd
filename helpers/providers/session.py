"""The calls of one run: every attempt is recorded, and one retry policy holds for all providers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from math import inf
from typing import Any

from helpers.providers.advice import address_of, advice
from helpers.providers.allowance import Allowance, Limit, Ticket
from helpers.providers.cleaning import cleaner
from helpers.providers.envelopes import TIMEOUT_SECONDS, Sent, failed, module_of, read
from helpers.providers.environment import key_of
from helpers.providers.failures import Failure, classify
from helpers.providers.fleet import Elsewhere, Fleet, Server, Stopped, servers_of
from helpers.providers.headers import LONGEST_PAUSE, told_limits
from helpers.providers.pacing import Clock, Pace
from helpers.providers.retrying import OBJECTIONS, REFUSALS, REFUSED_IN_A_ROW, STOPS_ACCOUNT, Tries
from helpers.types import Completion, Model, Request

#: Where a model is asked: provider and `base_url`.
Address = tuple[str, str | None]
#: Who pays there: the address, and the variable that models.yaml names for the key (None: the provider's own).
Account = tuple[str, str | None, str | None]
#: What is not asked any more: all at an address, all of an account there, or one model by its name.
Scope = Address | Account | str
#: What is recorded of a call that was cancelled before its reply came.
GIVEN_UP = "given up in flight"


@dataclass
class Session:
    """The clients, paces and stops of one run of calls; use it as an async context manager.

    `reserve(request)` is called before each attempt and may raise to stop spending: then it is none. What `record`
    is given after each must be kept. `halted(model)` is asked while calls wait: a text ends the waiting. `limits` are
    our own, by address; `tell` gets sentences for whoever started the run. `answered` tells when each model last did;
    `proven` are those with stored replies of this run, `refused` the keys of calls that each has refused since.
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
    told: set[Address] = field(default_factory=set)
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
            self.clients[account] = module_of(model.provider).client(model, key_of(model))
        return self.clients[account]

    def pace(self, model: Model) -> Pace:
        """The one pace for this provider and address, whatever the models and keys."""
        address = (model.provider, model.base_url)
        if address not in self.paces:
            allowance = Allowance(self.limits.get(address, Limit()))
            self.paces[address] = Pace(self.limit, self.clock, allowance)
        return self.paces[address]

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
        model, tries = request.model, tries or Tries()
        fleet = self.fleet(model)

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
                    async with self.pace(server.at).slot(request, partial(check, server), begin) as ticket:
                        reply = await self._attempt(request, server.at, tries, ticket)
                    fleet.answers(server)
                    return reply
            except Elsewhere:
                continue
            except Failure as error:
                failure = error
            left_out, objected = fleet.fails(server, failure, tries.refused), failure.status in OBJECTIONS
            if failure.status in STOPS_ACCOUNT or (failure.status == "forbidden" and server.gone):
                self.stops.setdefault(_account(server.at), advice(server.at, failure))
            if left_out and fleet.for_nothing(server, failure):
                continue
            if objected and fleet.passes_on(server, tries.refused):
                continue
            again = (fleet.single or not objected) and tries.again(failure, self.clock.now())
            if failure.status in REFUSALS and self._lasts(request, failure, again):
                scope = _account(server.at) if failure.status == "forbidden" else model.name
                self.stops.setdefault(scope, advice(server.at, failure))
            if not again:
                return self._last(request, server.at, failure, tries)
            wait = tries.backoff(failure, self.clock.jitter())
            if fleet.single or (fleet.all_out if left_out else server.in_a_row == 1):
                await self.clock.wait(wait, check)
            elif wait and not left_out:  # else one that refuses quickly is the least loaded, and gets all calls
                self.pace(server.at).pause(wait)

    def _lasts(self, request: Request, failure: Failure, again: bool) -> bool:
        """Whether a refusal concerns all calls of its model: it never answered, or refused several calls for good."""
        name = request.model.name
        if failure.status in OBJECTIONS and not again:
            self.refused.setdefault(name, set()).add(request.key)
        new = name not in self.answered and name not in self.proven
        return new or len(self.refused.get(name, ())) >= REFUSED_IN_A_ROW

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
        return Completion(request.key, failure.status, error=failure.error, attempt=tries.attempts)

    async def _attempt(self, request: Request, model: Model, tries: Tries, ticket: Ticket) -> Completion:
        """One attempt at the server of `model`, recorded."""
        module, at = module_of(request.model.provider), datetime.fromtimestamp(self.clock.wall(), UTC)
        begun, sent, failure, cancelled = self.clock.now(), Sent(""), None, None
        try:
            # the SDKs' own limit starts anew with every byte on this transport
            async with asyncio.timeout(TIMEOUT_SECONDS):
                sent = await module.send(self.client(model), request)
            reply = read(module, sent.raw)
        except asyncio.CancelledError as error:
            cancelled, failure = error, Failure("maybe_billed", GIVEN_UP)
            reply = Completion(request.key, failure.status, error=failure.error, maybe_billed=True)
        except Exception as error:
            failure = classify(error, self.clock.wall())
            reply = failed(request.key, failure)
        headers = sent.headers or getattr(failure, "headers", {})
        failure = None if reply.status == "ok" else failure
        if failure is None and not reply.text.strip() and reply.finish == "stop" and "empty" not in tries.counts:
            failure = Failure("empty", "a finished reply without text")
            reply = replace(reply, status="empty")
        known = {
            "key": request.key,
            "attempt": tries.attempts,
            "raw": reply.raw or sent.raw,
            "request_id": sent.request_id or reply.request_id,
            "latency": None if request.model.simulated else round(self.clock.now() - begun, 4),
            "at": at.isoformat(timespec="milliseconds"),
        }
        reply = Completion(**{**vars(reply), **known})  # as `replace`, which takes twice as long
        if not request.model.simulated:
            reply = self.clean(reply)
        self.record(request, reply)
        self._adjust(model, ticket, reply, failure, headers)
        if cancelled is not None:
            raise cancelled
        if failure is None:
            self.refused.pop(request.model.name, None)
            if reply.finish != "filter":  # a filter says nothing about the parameters
                self.answered[request.model.name] = self.clock.now()
            return reply
        raise failure

    def _adjust(
        self, model: Model, ticket: Ticket, reply: Completion, failure: Failure | None, headers: Mapping[str, str]
    ) -> None:
        """Faster or slower after an attempt, as its outcome and its headers say."""
        pace = self.pace(model)
        pace.allowance.settle(ticket, reply.usage, refused=failure is not None and not reply.maybe_billed)
        pace.hear(ticket, told_limits(headers, self.clock.wall()))
        if failure is None:
            pace.speed_up()
            return
        if failure.status == "rate_limited":
            pace.slow_down(ticket)
        if failure.retry_after is not None:
            pace.pause(failure.retry_after)
        if failure.odd_wait and (model.provider, model.base_url) not in self.told:
            self.told.add((model.provider, model.base_url))
            self.tell(
                f"note: {address_of(model)} asks to wait ({failure.odd_wait}); longer than {LONGEST_PAUSE:.0f} seconds "
                "at a time, or what cannot be read, is not waited for: it is asked again after that"
            )


def _account(model: Model) -> Account:
    return (model.provider, model.base_url, model.api_key_env)


def retirement(model: Model) -> str | None:
    """When the provider ends this model, from models.yaml or the SDK's own table; None where nothing is known."""
    known = getattr(module_of(model.provider), "retires", None)
    return model.retires or (known(model.model_id) if known else None)
