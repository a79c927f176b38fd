"""A server of a fleet that refuses, lacks something or answers nonsense: it costs little time and no call."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from types import SimpleNamespace

import pytest

from helpers.judge.asking import APART, in_order
from helpers.providers import Clock, Failure, Sent, Session, Stopped
from helpers.providers.pacing import LOOK_UP
from helpers.providers.session import LEFT_OUT, STORM
from helpers.types import Completion, Model, Request, Usage
from tests.engine import virtual
from tests.engine.asking import MODELS, requests_to

A, B, C = (f"http://10.0.0.{n}:8000/v1" for n in (1, 2, 3))
PAUSE = Failure("rate_limited", "busy", retry_after=120.0)
REFUSED = Failure("bad_request", "no")
#: What a server does with its call number n (from 1) in virtual time: returns, or raises a Failure.
Behave = Callable[[str, int, Request], Awaitable[None]]


@dataclass
class Outcome:
    """What came of a run: the status of each call, or the words of its stop; when each address was asked."""

    said: list[str] = field(default_factory=list)
    came: list[tuple[float, str]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def calls(self) -> Counter[str]:
        """How often each address was asked."""
        return Counter(url for _, url in self.came)


def behind(*urls: str, name: str = "") -> Model:
    """The model of our own behind these servers, or another one of this name."""
    model = replace(MODELS["own"], base_url=urls[0], servers=urls if len(urls) > 1 else ())
    return replace(model, name=name, model_id=name) if name else model


def run(behave: Behave, requests: Sequence[Request], concurrency: int = 8) -> Outcome:
    """Make these calls in virtual time."""
    found = Outcome()

    async def send(url: str, request: Request) -> Sent:
        found.came.append((asyncio.get_running_loop().time(), url))
        await behave(url, found.calls[url], request)
        return Sent("raw")

    def read(raw: str) -> Completion:
        return Completion("", "ok", text="hi", finish="stop", usage=Usage(1, 1), raw=raw)

    service = SimpleNamespace(client=lambda model, key: model.base_url, send=send, read=read)

    async def scene() -> None:
        hooks = {"clock": virtual.clock(), "tell": found.told.append}
        async with Session(lambda request: None, lambda request, reply: None, concurrency, **hooks) as session:

            async def one(request: Request) -> None:
                try:
                    found.said.append((await session.complete(request)).status)
                except Stopped as stop:
                    found.said.append(str(stop))

            await in_order(requests, one, concurrency, session.answered, lambda: False)
        found.seconds = asyncio.get_running_loop().time()

    with virtual.provider(service):
        virtual.run(scene)
    return found


def slow_beside(url: str, status: str, some: Callable[[int], bool] = lambda n: True, **how: float) -> Behave:
    """Each server takes 20 seconds for a reply, but this one fails at once, in some of its calls."""

    async def behave(at: str, n: int, request: Request) -> None:
        if at == url and some(n):
            await asyncio.sleep(0.05)
            raise Failure(status, "no", **how)
        await asyncio.sleep(20)

    return behave


def answering(seconds: float, failure: Callable[[str, int, Request], Failure | None]) -> Behave:
    """Each server takes so long for a reply, or for the failure that its call comes to."""

    async def behave(at: str, n: int, request: Request) -> None:
        await asyncio.sleep(seconds)
        if (found := failure(at, n, request)) is not None:
            raise found

    return behave


# Refusals that pass.


@pytest.mark.parametrize(
    ("status", "some"), [("rate_limited", lambda n: True), ("provider_error", lambda n: n % 5 != 0)]
)
def test_a_server_that_refuses_quickly_is_not_taken_for_the_least_loaded(
    status: str, some: Callable[[int], bool]
) -> None:
    found = run(slow_beside(B, status, some), requests_to(behind(A, B), 200))
    assert Counter(found.said) == {"ok": 200}
    # The other one alone: the first call, then 199 of which 8 are in flight, the last of which begins a little later.
    assert found.seconds <= 20 + 25 * 20 + 7 * APART + 1e-9
    assert found.calls[A] > 150 and found.calls[B] < 200, "each call turned away once at most, by and large"


def test_a_server_that_fails_now_and_then_is_asked_as_before() -> None:
    """Three of them, each tenth reply an error: 1,100 calls of five seconds, 24 at once."""
    calls = count(1)
    busy = answering(5, lambda *_: Failure("provider_error", "busy") if next(calls) % 10 == 0 else None)
    found = run(busy, requests_to(behind(A, B, C), 1000))
    assert Counter(found.said) == {"ok": 1000}
    assert found.seconds < 1.15 * 5 * 1111 / 24


def test_a_server_that_fails_five_times_in_a_row_is_left_out_though_it_is_asked_slowly() -> None:
    found = run(slow_beside(B, "provider_error"), requests_to(behind(A, B), 60))
    assert Counter(found.said) == {"ok": 60}
    [first, *rest] = [told for told in found.told if "is left out" in told]
    assert not rest and B in first
    times = [time for time, url in found.came if url == B]
    assert times[STORM] - times[STORM - 1] >= LEFT_OUT


def test_calls_that_wait_for_a_server_which_asks_for_a_pause_go_to_others_that_are_idle() -> None:
    pausing = answering(0.5, lambda at, n, _: PAUSE if at == A and n == 5 else None)
    found = run(pausing, requests_to(behind(A, B, C), 300))
    assert Counter(found.said) == {"ok": 300} and found.seconds < 60


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_server_that_asks_for_a_pause_is_waited_for_by_nobody_while_others_are_there(concurrency: int) -> None:
    pausing = answering(0.5, lambda at, n, _: PAUSE if at == A and n >= 5 else None)
    found = run(pausing, requests_to(behind(A, B, C), 150), concurrency)
    assert Counter(found.said) == {"ok": 150} and found.seconds < 60
    # What was on its way to it when it first said so is refused too; nobody asks it after that.
    assert 5 <= found.calls[A] <= 4 + concurrency


# Refusals for good.


@pytest.mark.parametrize("urls", [(A, B), (B, A)])
def test_a_server_that_takes_no_request_costs_a_few_calls_and_loses_none(urls: tuple[str, ...]) -> None:
    found = run(slow_beside(B, "bad_request"), requests_to(behind(*urls), 200))
    assert Counter(found.said) == {"ok": 200}
    assert found.calls[A] == 200 and found.calls[B] <= 5, "after 0, 30, 90, 210 and 450 seconds"
    assert sum(B in told for told in found.told) == 1


@pytest.mark.parametrize("urls", [(A, B), (A, B, C)])
def test_a_server_that_was_started_anew_without_the_model_loses_no_call(urls: tuple[str, ...]) -> None:
    found = run(slow_beside(B, "not_found", lambda n: n > 5), requests_to(behind(*urls), 200))
    assert Counter(found.said) == {"ok": 200}
    assert 5 < found.calls[B] <= 5 + 8 + 2, "those in flight, and one more after each of the first two refusals"
    assert sum(f"note: {B} is not asked any more" in told for told in found.told) == 1


def test_a_model_that_its_only_server_lost_is_asked_no_more() -> None:
    found = run(slow_beside(A, "not_found", lambda n: n > 5), requests_to(behind(A), 200))
    assert found.calls[A] <= 5 + 3 * 8 and found.said.count("ok") == 5, "those in flight, with their tries"
    assert found.said.count("not_found") == 2, "the third call in a row stops the others"
    assert sum("models.yaml" in said for said in found.said) == 193


def test_parameters_that_no_server_takes_cost_few_calls() -> None:
    found = run(answering(0, lambda *_: REFUSED), requests_to(behind(A, B, C), 50))
    assert found.calls == {A: 3, B: 1, C: 1}, "the first at each, then two more that could have been the prompts"
    assert len(found.said) == 50 and found.said.count("bad_request") == 2
    assert sum("`params:`" in said for said in found.said) == 48


def test_a_refused_key_is_asked_once_whatever_the_number_of_models() -> None:
    models = [behind(A, B, name=name) for name in ("one", "two", "three")]
    found = run(slow_beside(A, "auth"), [each for model in models for each in requests_to(model, 20)])
    assert Counter(found.said) == {"ok": 60} and found.calls == {A: 1, B: 60}
    assert len(found.told) == 3 and all(f"note: {A} is not asked any more" in told for told in found.told)


@pytest.mark.parametrize("status", ["auth", "connect"])
def test_a_model_of_one_server_that_is_stopped_does_not_stop_a_fleet_with_that_server(status: str) -> None:
    alone, fleet = behind(A, name="alone"), behind(A, B)
    found = run(slow_beside(A, status), [*requests_to(alone, 3), *requests_to(fleet, 60)])
    assert Counter(found.said)["ok"] == 60 and len(found.said) == 63


def test_nobody_who_waited_for_a_place_begins_at_a_server_that_refused_the_key_meanwhile() -> None:
    async def behave(at: str, n: int, request: Request) -> None:
        await asyncio.sleep(1 + 0.01 * n if at == A else 4)
        if at == A and n > 8:
            raise Failure("auth", "expired")

    found = run(behave, requests_to(behind(A, B), 60), 3)
    assert Counter(found.said) == {"ok": 60}
    times = [time for time, url in found.came if url == A]
    ends = [time + 1 + 0.01 * n for n, time in enumerate(times, 1)][8:]
    assert 9 <= len(times) <= 11 and max(times) < min(ends), "none but those in flight"


def test_more_dead_servers_than_tries_cost_no_call() -> None:
    dead = [f"http://10.0.1.{n}:8000/v1" for n in range(9)]
    one_alive = answering(0.1, lambda at, n, _: Failure("connect", "refused") if at != A else None)
    found = run(one_alive, requests_to(behind(*dead, A), 60))
    assert Counter(found.said) == {"ok": 60} and found.calls == {A: 60} | dict.fromkeys(dead, 1)


# Replies that may have been billed.


def test_unreadable_replies_are_asked_for_as_often_as_promised_whatever_the_number_of_servers() -> None:
    found = run(answering(0, lambda *_: Failure("bad_envelope", "no JSON")), requests_to(behind(A, B, C), 30))
    assert sum(found.calls.values()) == 6 and max(found.calls.values()) == 2, "at three servers"
    lost, *stopped = found.said
    assert lost == "bad_envelope" and all("has not the form" in said for said in stopped) and len(stopped) == 29


def test_a_server_whose_replies_cannot_be_read_is_gone_at_the_second() -> None:
    found = run(slow_beside(A, "bad_envelope"), requests_to(behind(A, B), 100))
    assert Counter(found.said) == {"ok": 100} and found.calls == {A: 2, B: 100}
    assert [("not asked any more" in told) for told in found.told] == [False, True]


def test_one_unreadable_reply_loses_no_server() -> None:
    found = run(slow_beside(A, "bad_envelope", lambda n: n == 1), requests_to(behind(A, B), 200))
    assert Counter(found.said) == {"ok": 200} and found.calls[A] > 50


# Who waits for a server.


def test_who_waits_for_a_first_reply_hears_that_another_server_is_due_again_and_of_a_stop() -> None:
    stop: list[str] = []

    def check() -> None:
        if stop:
            raise Stopped(stop[0])

    async def scene() -> tuple[str | None, float, float]:
        clock: Clock = virtual.clock()
        fleet = Session(lambda request: None, lambda request, reply: None, clock=clock).fleet(behind(A, B))
        fleet.fails(fleet.servers[1], Failure("connect", "refused"))

        async def next_one() -> str | None:
            async with fleet.server(check) as server:
                return server.at.base_url

        async with fleet.server(check):  # the first call, which hangs
            found = await next_one()
            due = clock.now()
            fleet.servers[1].load = 1
            waiting = asyncio.create_task(next_one())
            await clock.sleep(5)
            stop.append("interrupted")
            with pytest.raises(Stopped, match="interrupted"):
                await waiting
            return found, due, clock.now() - due - 5

    found, due, heard = virtual.run(scene)
    assert found == B and LEFT_OUT <= due <= LEFT_OUT + LOOK_UP and heard <= LOOK_UP
