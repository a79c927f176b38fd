"""The calls of one run: every attempt is recorded, and one retry policy holds for all providers."""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from helpers.providers.environment import key_of, key_variables, without_key
from helpers.providers.failures import Failure, classify
from helpers.providers.pacing import Clock, Pace
from helpers.types import Completion, Model, Request, Usage

#: Reasoning models think for minutes; a call that takes longer than this is counted as perhaps billed.
TIMEOUT_SECONDS = 600.0
#: How often a failed attempt is repeated; what is not named here stops at once (reliability plan, rows 1 to 18).
RETRIES = {"rate_limited": 10_000, "provider_error": 6, "connect": 6, "maybe_billed": 2, "bad_envelope": 1, "empty": 1}
#: Failures after which nobody at this provider is asked again in this run; other stops concern the one model.
STOPS_PROVIDER = ("quota", "auth")
STOPS_MODEL = ("not_found", "bad_request")
#: Half a character, which a reply that was cut in the middle of one can hold and no file or prompt can.
LONE_SURROGATES = re.compile("[\ud800-\udfff]")
#: Longest time that one call waits for rate limits before it is left to the next run, in seconds.
PATIENCE = 1800.0


class Stopped(Exception):
    """A provider or model that is not asked again in this run; `reason` says what to do."""


@dataclass(frozen=True)
class Sent:
    """What came back over the wire, before anything was read from it."""

    raw: str
    request_id: str | None = None


@dataclass
class Session:
    """The clients, paces and stops of one run of calls; use it as an async context manager.

    `reserve(request)` is called before each attempt and may raise to stop spending; `record(request, completion)` is
    called after each and must keep what it is given.
    """

    reserve: Callable[[Request], None]
    record: Callable[[Request, Completion], None]
    limit: int = 16
    clock: Clock = field(default_factory=Clock)
    clients: dict[tuple[str, str | None, str | None], Any] = field(default_factory=dict)
    paces: dict[tuple[str, str | None], Pace] = field(default_factory=dict)
    stops: dict[Any, str] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)

    async def __aenter__(self) -> Session:
        """Nothing is opened before the first call."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close every client that was opened."""
        for (provider, _, _), client in self.clients.items():
            await _module(provider).close(client)
        self.clients.clear()

    def client(self, model: Model) -> Any:
        """The one SDK client for this provider, address and key."""
        address = (model.provider, model.base_url, model.api_key_env)
        if address not in self.clients:
            self.clients[address] = _module(model.provider).client(model, key_of(model))
        return self.clients[address]

    def pace(self, model: Model) -> Pace:
        """The one pace for this provider and address."""
        return self.paces.setdefault((model.provider, model.base_url), Pace(self.limit, self.clock))

    def check_stopped(self, model: Model) -> None:
        """Raise Stopped if this model or its provider is not to be asked any more."""
        for scope in ((model.provider, model.base_url), model.name):
            if scope in self.stops:
                raise Stopped(self.stops[scope])

    async def complete(self, request: Request) -> Completion:
        """Ask until there is a reply or the retry table says stop; every attempt goes to `record`.

        The last failure is returned as a Completion whose status is not "ok"; Stopped is raised where provider or
        model is stopped, by this call or before it.
        """
        model, counts, started = request.model, {}, self.clock.now()
        pace = self.pace(model)

        def again(error: BaseException) -> bool:
            if not isinstance(error, Failure):
                return False
            counts[error.status] = counts.get(error.status, 0) + 1
            if error.status in STOPS_PROVIDER:
                self.stops.setdefault((model.provider, model.base_url), _advice(model, error))
            # A model that has answered takes our parameters: then the fault is in this request (too long, blocked).
            if error.status in STOPS_MODEL and model.name not in self.answered:
                self.stops.setdefault(model.name, _advice(model, error))
            patient = self.clock.now() - started < PATIENCE
            return patient and counts[error.status] <= RETRIES.get(error.status, 0)

        def pause(state: RetryCallState) -> float:
            error = state.outcome.exception()
            if error.status == "rate_limited" and error.retry_after is not None:
                return self.clock.jitter()  # the pace itself waits for all; spread the crowd behind it
            if error.status in ("empty", "bad_envelope"):
                return 0.0
            return self.clock.jitter() * min(60.0, 2.0 ** min(counts[error.status], 6)) + (error.retry_after or 0.0)

        retrying = AsyncRetrying(
            retry=retry_if_exception(again), wait=pause, sleep=self.clock.sleep, reraise=True, stop=lambda _: False
        )
        attempt = 0
        try:
            async for step in retrying:
                with step:
                    async with pace.slot():
                        self.check_stopped(model)
                        attempt += 1
                        return await self._attempt(request, attempt, pace, counts)
        except Failure as failure:
            if failure.status == "connect" and model.name not in self.answered:
                self.stops.setdefault((model.provider, model.base_url), _advice(model, failure))
            self.check_stopped(model)
            if failure.status == "bad_envelope" and model.name not in self.answered:
                self.stops.setdefault(model.name, _advice(model, failure))  # each such reply may have been billed
            return Completion(request.key, failure.status, error=failure.error, attempt=attempt)
        raise AssertionError("tenacity always returns or raises")

    async def _attempt(self, request: Request, attempt: int, pace: Pace, counts: dict[str, int]) -> Completion:
        self.reserve(request)
        module, at = _module(request.model.provider), datetime.fromtimestamp(self.clock.wall(), UTC)
        begun, sent, failure = self.clock.now(), Sent(""), None
        try:
            # the SDKs' own limit starts anew with every byte on this transport
            async with asyncio.timeout(TIMEOUT_SECONDS):
                sent = await module.send(self.client(request.model), request)
            sent = replace(sent, raw=without_key(sent.raw, request.model))
            reply = _read(module, sent.raw)
        except Exception as error:
            failure = classify(error)
            reply = Completion(
                request.key,
                failure.status,
                error=failure.error,
                raw=failure.raw,
                request_id=failure.request_id,
                maybe_billed=failure.status in ("maybe_billed", "bad_envelope"),
            )
        if failure is None and not reply.text.strip() and reply.finish == "stop" and not counts.get("empty"):
            failure = Failure("empty", "a finished reply without text")
            reply = replace(reply, status="empty")
        reply = replace(
            reply,
            key=request.key,
            attempt=attempt,
            raw=reply.raw or sent.raw,
            request_id=sent.request_id or reply.request_id,
            latency=None if request.model.simulated else round(self.clock.now() - begun, 4),
            at=at.isoformat(timespec="milliseconds"),
        )
        self.record(request, reply)
        if failure is None:
            pace.speed_up()
            self.answered.add(request.model.name)
            return reply
        if failure.status == "rate_limited":
            pace.slow_down() if failure.retry_after is None else pace.pause(failure.retry_after)
        raise failure


def _module(provider: str) -> Any:
    return importlib.import_module(f"helpers.providers.{provider}")


def _read(module: Any, raw: str) -> Completion:
    try:
        reply = module.read(raw)
        counts = {name: _count(value) for name, value in vars(reply.usage).items()}
        return replace(
            reply,
            text=LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", reply.text),
            usage=Usage(**counts),
            model=reply.model if isinstance(reply.model, str) else None,
            request_id=reply.request_id if isinstance(reply.request_id, str) else None,
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise Failure("bad_envelope", f"{type(error).__name__}: {error}") from None


def _count(value: Any) -> int | None:
    """A number of tokens, or None for anything else that a server may say: the worst case is then charged."""
    return value if type(value) is int and value >= 0 else None


def retirement(model: Model) -> str | None:
    """When the provider ends this model, from models.yaml or the SDK's own table; None where nothing is known."""
    known = getattr(_module(model.provider), "retires", None)
    return model.retires or (known(model.model_id) if known else None)


def _advice(model: Model, failure: Failure) -> str:
    variables = " or ".join(key_variables(model))
    return {
        "quota": f"{model.provider} says that the account's money or quota is used up; top it up or wait until it is "
        "renewed",
        "auth": f"{model.provider} refused the key in {variables}; set a valid one with access to this model"
        if variables
        else f"{model.base_url} asks for a key; name the variable that holds it in models.yaml (`api_key_env`)",
        "connect": f"nobody answers at {model.base_url or 'the address of ' + model.provider}; is the server running, "
        "and the network up?",
        "bad_envelope": f"what {model.base_url or model.provider} answers for {model.model_id!r} has not the form of "
        f"{model.provider}'s replies; is `base_url` the address of its API?",
        "not_found": f"{model.provider} does not know model_id {model.model_id!r}; correct it in models.yaml",
        "bad_request": f"{model.provider} refused the request for {model.model_id!r}; its `params:` in models.yaml may "
        "hold something that this model does not take",
    }[failure.status] + f" ({failure.error})"
