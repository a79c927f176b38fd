"""The only door to models: every attempt is recorded, and one retry policy holds for all providers."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from helpers.providers.environment import KEY_VARIABLES, in_browser, key_of, missing_keys, redact
from helpers.providers.pacing import LONGEST_PAUSE, Clock, Pace
from helpers.types import Completion, Model, Request

__all__ = ["Clock", "Failure", "Sent", "Session", "Stopped", "classify", "in_browser", "missing_keys"]

#: Reasoning models think for minutes; a call that takes longer than this is counted as perhaps billed.
TIMEOUT_SECONDS = 600.0
#: How often a failed attempt is repeated; what is not named here stops at once (reliability plan, rows 1 to 18).
RETRIES = {"rate_limited": 10_000, "provider_error": 6, "connect": 6, "maybe_billed": 2, "bad_envelope": 1, "empty": 1}
#: Failures after which nobody at this provider is asked again in this run; other stops concern the one model.
STOPS_PROVIDER = ("quota", "auth")
STOPS_MODEL = ("not_found", "bad_request")
#: Longest time that one call waits for rate limits before it is left to the next run, in seconds.
PATIENCE = 1800.0


class Failure(Exception):
    """One attempt that brought no reply, in the words of the retry table."""

    def __init__(self, status: str, error: str, retry_after: float | None = None, raw: str = "") -> None:
        """`status` is a row of the table, `error` what the provider said, shortened."""
        super().__init__(f"{status}: {error}")
        self.status, self.error, self.retry_after, self.raw = status, error[:300], retry_after, raw


class Stopped(Exception):
    """A provider or model that is not asked again in this run; `reason` says what to do."""


@dataclass(frozen=True)
class Sent:
    """What came back over the wire, before anything was read from it."""

    raw: str
    request_id: str | None = None


def classify(error: Exception) -> Failure:
    """The row of the retry table for an exception of any of the three SDKs or of the transport below them.

    Status first (`status_code`; google-genai calls it `code`), then the kind of transport error by name, because the
    same fault comes from httpx2, aiohttp or an SDK's own wrapper.
    """
    if isinstance(error, Failure):
        return error
    text = redact(str(error))
    code = getattr(error, "status_code", None) or getattr(error, "code", None)
    if isinstance(code, int):
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        return _by_status(code, text, headers)
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return Failure("bad_envelope", text)
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    names = {kind.__name__ for link in chain for kind in type(link).__mro__}
    if names & {"ConnectTimeout", "ConnectError", "ClientConnectorError", "ConnectionRefusedError", "PoolTimeout"}:
        return Failure("connect", text or type(error).__name__)
    if names & {"TransportError", "APIConnectionError", "ClientError", "TimeoutError", "OSError", "DecodingError"}:
        return Failure("maybe_billed", text or type(error).__name__)
    raise error


def _by_status(code: int, text: str, headers: Any) -> Failure:
    after = headers.get("retry-after") or headers.get("Retry-After")
    try:
        seconds = min(max(float(after), 0.0), LONGEST_PAUSE) if after else None
    except ValueError:
        seconds = LONGEST_PAUSE if after else None  # an HTTP date: the cap is the safe reading
    if code == 429 and any(word in text for word in ("insufficient_quota", "billing", "credit balance")):
        return Failure("quota", text)
    if code == 429:
        return Failure("rate_limited", text, seconds)
    if code in (408, 409) or code >= 500:
        return Failure("provider_error", text, seconds)
    if code == 402:
        return Failure("quota", text)
    if code in (401, 403):
        return Failure("auth", text)
    return Failure("not_found" if code == 404 else "bad_request", text)


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

        The last failure is returned as a Completion whose status is not "ok"; Stopped is raised where nothing was
        sent because provider or model was stopped before.
        """
        model, counts, started = request.model, {}, self.clock.now()
        pace = self.pace(model)

        def again(error: BaseException) -> bool:
            if not isinstance(error, Failure):
                return False
            counts[error.status] = counts.get(error.status, 0) + 1
            if error.status in STOPS_PROVIDER:
                self.stops[(model.provider, model.base_url)] = _advice(model, error)
            if error.status in STOPS_MODEL:
                self.stops[model.name] = _advice(model, error)
            patient = self.clock.now() - started < PATIENCE
            return patient and counts[error.status] <= RETRIES.get(error.status, 0)

        def pause(state: RetryCallState) -> float:
            error = state.outcome.exception()
            if error.status == "rate_limited" and error.retry_after is not None:
                return self.clock.jitter()  # the pace itself waits for all; spread the crowd behind it
            if error.status in ("empty", "bad_envelope"):
                return 0.0
            return self.clock.jitter() * min(60.0, 2.0 ** counts[error.status])

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
            return Completion(request.key, failure.status, error=failure.error, attempt=attempt)
        raise AssertionError("tenacity always returns or raises")

    async def _attempt(self, request: Request, attempt: int, pace: Pace, counts: dict[str, int]) -> Completion:
        self.reserve(request)
        module, at = _module(request.model.provider), datetime.fromtimestamp(self.clock.wall(), UTC)
        begun, sent, failure = self.clock.now(), Sent(""), None
        try:
            sent = await module.send(self.client(request.model), request)
            reply = _read(module, sent.raw)
        except Exception as error:
            failure = classify(error)
            reply = Completion(
                request.key,
                failure.status,
                error=failure.error,
                raw=failure.raw,
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
            request_id=sent.request_id,
            latency=None if request.model.simulated else round(self.clock.now() - begun, 4),
            at=at.isoformat(timespec="milliseconds"),
        )
        self.record(request, reply)
        if failure is None:
            pace.speed_up()
            return reply
        if failure.status == "rate_limited":
            pace.slow_down() if failure.retry_after is None else pace.pause(failure.retry_after)
        raise failure


def _module(provider: str) -> Any:
    return importlib.import_module(f"helpers.providers.{provider}")


def _read(module: Any, raw: str) -> Completion:
    try:
        return module.read(raw)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise Failure("bad_envelope", f"{type(error).__name__}: {error}") from None


def retirement(model: Model) -> str | None:
    """When the provider ends this model, from models.yaml or the SDK's own table; None where nothing is known."""
    known = getattr(_module(model.provider), "retires", None)
    return model.retires or (known(model.model_id) if known else None)


def _advice(model: Model, failure: Failure) -> str:
    return {
        "quota": f"{model.provider} says that the account's money or quota is used up",
        "auth": f"{model.provider} refused the key in {' or '.join(KEY_VARIABLES.get(model.provider, ()))}; "
        "set a valid one with access to this model",
        "not_found": f"{model.provider} does not know model_id {model.model_id!r}; correct it in models.yaml",
        "bad_request": f"{model.provider} refused the request for {model.model_id!r}; its `params:` in models.yaml may "
        "hold something that this model does not take",
    }[failure.status] + f" ({failure.error})"
