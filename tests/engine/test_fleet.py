"""Several servers behind one model: who is asked, what becomes of a dying one's calls, when it is tried again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from genai_prices import Usage as Counted, calc_price

from helpers.config.models import LimitEntry
from helpers.judge import NoPrice, OverLimit, check_fit
from helpers.judge.asking import APART, in_order
from helpers.judge.budget import cost
from helpers.judge.checking import limits_at
from helpers.providers import Clock, Failure, Sent, Session, Stopped
from helpers.providers.meanings import POLICY
from helpers.providers.session import Fleet, Server
from helpers.types import Completion, Model, Request, Usage
from tests.engine import virtual
from tests.engine.asking import MODELS, ask, missing, requests_to
from tests.engine.traces import attempts
from tests.engine.virtual import FakeClock
from tests.servers.behaviours import Behaviour, Call, Fault, Reply, only, polite
from tests.servers.providers import JudgeServer

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
def test_a_server_that_refuses_quickly_is_not_the_least_loaded(status: str, some: Callable[[int], bool]) -> None:
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
    assert times[POLICY.STORM] - times[POLICY.STORM - 1] >= POLICY.LEFT_OUT


@pytest.mark.parametrize(("concurrency", "last"), [(1, 999), (8, 999), (8, 5)])
def test_nobody_waits_for_a_server_that_asks_for_a_pause(concurrency: int, last: int) -> None:
    pausing = answering(0.5, lambda at, n, _: PAUSE if at == A and 5 <= n <= last else None)
    found = run(pausing, requests_to(behind(A, B, C), 150), concurrency)
    assert Counter(found.said) == {"ok": 150} and found.seconds < 60
    # What was on its way to it when it first said so is refused too; nobody asks it after that.
    assert last == 5 or 5 <= found.calls[A] <= 4 + concurrency


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
    assert found == B and POLICY.LEFT_OUT <= due <= POLICY.LEFT_OUT + POLICY.LOOK_UP and heard <= POLICY.LOOK_UP


# --- who is asked -----------------------------------------------------------------------------------------------------

URLS = (A, B, C)
DEAD = Failure("connect", "refused")
#: An address of this machine at which nobody listens.
NOBODY = "http://127.0.0.1:9/v1"


@pytest.fixture
def three(serve: Any) -> Callable[..., tuple[Model, list[JudgeServer]]]:
    """Starts three servers with these behaviours; the model behind them."""

    def start(*behaviours: Behaviour, **options: Any) -> tuple[Model, list[JudgeServer]]:
        servers = [serve(behaviour, **options) for behaviour in behaviours]
        return behind(*(f"{server.url}/v1" for server in servers)), servers

    return start


def dying(after: int, servers: list[JudgeServer], number: int) -> Behaviour:
    """Polite to so many calls, then gone in the middle of one."""

    def behave(call: Call) -> Reply | Fault:
        if call.n == after:
            servers[number].stop()
        return Fault("slow") if call.n >= after else polite(call)

    return behave


# Real servers.


def test_a_server_that_dies_loses_no_call(serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    servers: list[JudgeServer] = []
    for behaviour in (polite, dying(20, servers, 1), polite):
        servers.append(serve(behaviour, latency=0.002))
    model = behind(*(f"{server.url}/v1" for server in servers))
    requests = requests_to(model, 150)
    replies = ask(requests, tmp_path, concurrency=4)
    assert set(replies) == {request.key for request in requests}
    lines = attempts(tmp_path, model)
    assert Counter(line["key"] for line in lines if line["status"] == "ok") == {each.key: 1 for each in requests}
    failed = [line for line in lines if line["status"] != "ok"]
    assert 1 <= len(failed) <= 8, "the calls in flight when it died, and at most as many that were on their way"
    asked = Counter(entry.sha for server in servers for entry in server.calls)
    cut = len(servers[1].calls) - 20
    assert 1 <= cut <= 4 and sum(asked.values()) == 150 + cut, "what it had not answered was asked once more"
    assert sum(count == 2 for count in asked.values()) == cut and max(asked.values()) == 2
    assert min(len(servers[0].calls), len(servers[2].calls)) > 40, "the others carry on"
    told = capfd.readouterr().err
    assert told.count("is left out") == 1 and f"note: {servers[1].url}/v1 is left out and tried again later" in told
    assert "2 of 3 servers of llama are left" in told


def test_each_server_can_have_as_many_calls_at_once_as_one_alone() -> None:
    """The first call alone; then all wait until there are twice as many as servers, which would else never be."""
    begun, full = list[Request](), asyncio.Event()

    async def one(request: Request) -> None:
        begun.append(request)
        if len(begun) == 1 + 6:
            full.set()
        if len(begun) > 1:
            await full.wait()

    async def every() -> None:
        async with asyncio.timeout(30):
            await in_order(requests_to(behind(*URLS), 20), one, 2, (), lambda: False)

    asyncio.run(every())
    assert len(begun) == 20


def test_a_server_that_fails_twice_in_a_row_is_left_alone_for_a_while(three: Any, tmp_path: Path) -> None:
    model, (_, sick, _) = three(polite, only("503"), polite)
    assert len(ask(requests_to(model, 120), tmp_path, concurrency=4)) == 120
    assert len(sick.calls) == 2, "one after the other: it never answered, and time did not go on"
    lines = attempts(tmp_path, model)
    assert sum(line["status"] == "ok" for line in lines) == 120 and len(lines) == 122


@pytest.mark.parametrize("fault", ["401", "404", "402"])
def test_a_server_without_key_or_model_costs_one_call(
    three: Any, tmp_path: Path, fault: str, capfd: pytest.CaptureFixture[str]
) -> None:
    model, servers = three(only(fault), polite, polite)
    assert len(ask(requests_to(model, 60), tmp_path, concurrency=8)) == 60
    assert len(servers[0].calls) == 1 and len(servers[1].calls) + len(servers[2].calls) == 60
    assert capfd.readouterr().err.count(f"note: {servers[0].url}/v1 is not asked any more") == 1


def test_where_no_server_answers_the_run_ends_and_says_so(tmp_path: Path) -> None:
    model = behind(NOBODY, "http://127.0.0.1:9/v2")
    told = r"no server of llama answers \(http://127.0.0.1:9/v1, http://127.0.0.1:9/v2\)"
    missing(requests_to(model, 40), tmp_path, told, concurrency=4)
    # By our clock: at both at 0, five times more until 15.5 seconds; neither is due again before 30.
    assert len(attempts(tmp_path, model)) == 7, "one call, five times again; a try at one of two is for nothing"


def test_a_reply_has_the_key_that_it_has_with_one_server_and_is_asked_of_none_again(three: Any, tmp_path: Path) -> None:
    model, servers = three(polite, polite, polite)
    ask(requests_to(model, 12), tmp_path, concurrency=2)
    alone, other = behind(f"{servers[2].url}/v1"), behind(NOBODY, "http://127.0.0.1:9/v2")
    for same in (alone, other):
        assert [each.key for each in requests_to(same, 12)] == [each.key for each in requests_to(model, 12)]
        assert len(ask(requests_to(same, 12), tmp_path)) == 12
    assert sum(len(server.calls) for server in servers) == 12


# What a run knows of each server.


def fleet(clock: FakeClock, told: list[str] | None = None, paused: str = "") -> Fleet:
    """Three servers that all have answered; the one at `paused` asks to be left alone."""
    found = fleet_of(behind(*URLS), clock, told)
    for server in found.servers:
        server.answers()
        if server.at.base_url == paused:
            server.pace.pause(1.0)
    return found


def fleet_of(model: Model, clock: FakeClock, told: list[str] | None = None) -> Fleet:
    """The servers of a model as a run begins."""
    tell = (told if told is not None else []).append
    return Session(lambda request: None, lambda request, reply: None, 4, clock.clock(), tell=tell).fleet(model)


def asked_at_once(found: Fleet, calls: int) -> list[int]:
    """The servers to which so many calls go that begin together, by number."""

    async def begin() -> list[Server]:
        async with AsyncExitStack() as stack:
            return [await stack.enter_async_context(found.server(lambda: None)) for _ in range(calls)]

    return [found.servers.index(server) for server in asyncio.run(begin())]


def test_the_least_loaded_comes_first_and_one_that_asks_to_wait_last() -> None:
    assert asked_at_once(fleet(FakeClock()), 7) == [0, 1, 2, 0, 1, 2, 0]
    assert asked_at_once(fleet(FakeClock(), paused=URLS[0]), 4) == [1, 2, 1, 2]


def test_a_dead_server_is_tried_again_by_one_call_and_left_out_for_longer_each_time() -> None:
    clock, told = FakeClock(), list[str]()
    found = fleet(clock, told)
    dead = found.servers[1]
    for seconds in (30.0, 60.0, 120.0, 240.0, 480.0, 480.0):
        assert found.fails(dead, DEAD) and found.fails(dead, DEAD), "a crowd counts as one"
        clock.time += seconds - 0.5
        assert found.avoids(dead) and asked_at_once(found, 4) == [0, 2, 0, 2]
        clock.time += 0.5
        assert not found.avoids(dead) and asked_at_once(found, 6) == [0, 1, 2, 0, 2, 0], "one call tries it"
    assert told == [f"note: {URLS[1]} is left out and tried again later (refused); 2 of 3 servers of llama are left"]
    dead.answers()
    assert asked_at_once(found, 6) == [0, 1, 2, 0, 1, 2]


def test_failures_between_replies_and_refused_requests_leave_no_server_out_and_others_in_a_row_do() -> None:
    found, storm = fleet(FakeClock()), POLICY.STORM
    sick, unread, wrong = found.servers
    for _ in range(3):
        assert not any(found.fails(sick, Failure("provider_error", "busy")) for _ in range(storm - 1))
        sick.answers()
    assert not any(found.fails(sick, Failure("rate_limited", "wait")) for _ in range(2 * storm))
    assert not any(found.fails(wrong, Failure("bad_request", "too long")) for _ in range(2 * storm))
    for server, status in ((sick, "maybe_billed"), (unread, "bad_envelope")):
        assert [found.fails(server, Failure(status, "no")) for _ in range(storm)] == [False] * (storm - 1) + [True]


def test_calls_in_flight_at_a_server_that_is_gone_go_on_elsewhere_and_cost_a_try_if_perhaps_billed() -> None:
    told = list[str]()
    found = fleet(FakeClock(), told)
    gone = found.servers[0]
    assert found.fails(gone, Failure("auth", "no such key")) and len(told) == 1
    for status in ("connect", "auth", "rate_limited", "provider_error", "bad_request", "maybe_billed", "bad_envelope"):
        failure = Failure(status, "")
        assert found.fails(gone, failure)
        assert failure.kind.billed is (status in ("maybe_billed", "bad_envelope"))
    assert len(told) == 1


def test_calls_that_wait_out_a_pause_stay_where_every_other_server_is_full() -> None:
    found = fleet(FakeClock(), paused=URLS[0])
    assert found.avoids(found.servers[0]) and not found.avoids(found.servers[1])
    for server in found.servers[1:]:
        server.pace.in_flight = 4
    assert not found.avoids(found.servers[0])


def test_where_all_are_left_out_all_are_tried_and_where_all_are_gone_nobody_is() -> None:
    found = fleet(FakeClock())
    for server in found.servers:
        found.fails(server, DEAD)
    assert not found.up and not any(map(found.avoids, found.servers)) and asked_at_once(found, 3) == [0, 1, 2]
    for server in found.servers:
        assert found.fails(server, Failure("auth", "no such key"))
    with pytest.raises(Stopped, match=rf"{URLS[0]} asks for a key.*{URLS[2]} asks for a key"):
        asked_at_once(found, 1)


def test_a_model_with_one_server_is_never_without_it() -> None:
    for model in (MODELS["openai"], behind(URLS[0])):
        [server] = (found := fleet_of(model, FakeClock())).servers
        server.pace.pause(1.0)
        assert server.at is model and asked_at_once(found, 3) == [0, 0, 0]
        assert not any(found.fails(server, Failure(status, "")) for status in ("connect", "auth", "not_found") * 9)
        assert asked_at_once(found, 2) == [0, 0]


# Limits and prices.


def test_each_server_has_its_own_limit_and_a_call_must_fit_all(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {URLS[1]: LimitEntry(tokens_per_minute=3000), URLS[2]: LimitEntry(tokens_per_minute=2500)}
    monkeypatch.setattr("helpers.config.load_limits", lambda: told)
    model = behind(*URLS)
    found = {url: limit.tokens_per_minute for (_, url), limit in limits_at([model]).items()}
    assert found == {URLS[1]: 3000, URLS[2]: 2500}
    check_fit([Request(model, "x" * 4 * (2500 - 2048))], {})
    with pytest.raises(OverLimit, match=rf"'{URLS[2]}': tokens_per_minute = 2500 is less"):
        check_fit([Request(model, "x" * 4 * (2501 - 2048))], {})


def test_servers_are_free_where_all_of_them_are_ones_own() -> None:
    assert cost(behind(*URLS), 1000, 1000) == 0.0
    with pytest.raises(NoPrice, match=r"'llama': no price is known for 'llama-3-8b' at https://api.somebody.com/v1;"):
        cost(behind(URLS[0], "https://api.somebody.com/v1"), 1000, 1000)


def test_of_servers_with_several_prices_the_dearest_counts() -> None:
    hosts = ("https://openrouter.ai/api/v1", "https://api.groq.com/openai/v1")
    model = replace(behind(*hosts), model_id="qwen/qwen3-32b")
    usage = Counted(input_tokens=10**6, output_tokens=10**6)
    cheap, dear = (float(calc_price(usage, model.model_id, provider_api_url=url).total_price) for url in hosts)
    assert 0 < cheap < dear
    for servers in (hosts, hosts[::-1], (URLS[0], *hosts)):
        assert cost(replace(model, base_url=servers[0], servers=servers), 10**6, 10**6) == dear
    assert cost(replace(model, base_url=hosts[0], servers=(hosts[0], URLS[0])), 10**6, 10**6) == cheap
    with pytest.raises(NoPrice):
        cost(replace(model, servers=(*hosts, "https://api.somebody.com/v1")), 10**6, 10**6)
