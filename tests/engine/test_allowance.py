"""How fast an address is asked, in time that passes only where all sleep: pauses, limits, and what headers say."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import count, takewhile
from typing import Any

import pytest

from helpers.judge.asking import APART, in_order
from helpers.providers import Failure, Limit, Session, Stopped
from helpers.providers.meanings import POLICY, Quota, read_limits
from helpers.providers.pacing import Gauge, Log, Pace
from helpers.types import Completion, Model, Request
from tests.engine import virtual
from tests.engine.asking import MODELS
from tests.engine.virtual import Scripted, Service, ask_all, provider

GPT, CLAUDE = MODELS["openai"], MODELS["anthropic"]
KIN = replace(GPT, name="kin", model_id="gpt-5")
OWN = replace(GPT, name="own", base_url="http://127.0.0.1:8000/v1", revision={})


def requests(model: Model, number: int) -> list[Request]:
    return [Request(model, f"{model.name} {each}") for each in range(number)]


def nothing(*_: Any) -> None:
    """Nobody stops, records or reserves."""


def open_session(**options: Any) -> Session:
    return Session(nothing, nothing, clock=virtual.clock(), **options)


def limited(seconds: float | None) -> Failure:
    return Failure("rate_limited", "slow down", seconds)


def of_openai(**limit: float) -> dict[Any, Limit]:
    return {("openai", None): Limit(**limit)}


def made(service: Any, calls: Iterable[Request], workers: int = 16, **options: Any) -> tuple[list[Any], float]:
    """What comes of these calls, made by so many workers, and when all is over."""

    async def scene() -> tuple[list[Any], float]:
        async with open_session(**options) as session:
            return await ask_all(calls, workers, session.complete), session.clock.now()

    with provider(service):
        return virtual.run(scene)


# --- when calls begin: side by side, but not all in the same moment ---------------------------------------------------

LATENCY = 0.1


def begun(calls: list[Request], concurrency: int) -> list[float]:
    """When each call begins, in virtual time, where each takes a tenth of a second."""
    times: list[float] = []

    async def one(request: Request) -> None:
        times.append(asyncio.get_running_loop().time())
        await asyncio.sleep(LATENCY)

    virtual.run(lambda: in_order(calls, one, concurrency, (), lambda: False))
    return times


@pytest.mark.parametrize("concurrency", [1, 4, 64])
def test_calls_of_a_crowd_begin_and_go_on_one_after_another(concurrency: int) -> None:
    """The first alone; then each worker a little after the one before it, and in each round as in the first."""
    expected = [0.0, *(LATENCY + LATENCY * (n // concurrency) + APART * (n % concurrency) for n in range(199))]
    assert begun(requests(GPT, 200), concurrency) == pytest.approx(expected)


def test_no_more_begin_than_there_are_calls() -> None:
    """A stage of few calls does not wait for workers who would find nothing to do."""

    async def scene() -> float:
        async def one(request: Request) -> None:
            await asyncio.sleep(LATENCY)

        await in_order(requests(GPT, 3), one, 1000, (), lambda: False)
        return asyncio.get_running_loop().time()

    assert virtual.run(scene) == pytest.approx(2 * LATENCY + APART)


def test_simulated_models_begin_at_once() -> None:
    simulated = replace(GPT, provider="simulated")
    assert begun(requests(simulated, 17), 16) == pytest.approx([0.0, *[LATENCY] * 16])


# --- pauses -----------------------------------------------------------------------------------------------------------


def test_a_time_to_wait_holds_for_all_models_of_an_address_and_for_no_other() -> None:
    service = Scripted(
        lambda request, n, now: (0.1, limited(30.0 - now - 0.1) if request.model == GPT and now < 1 else None)
    )

    async def scene() -> None:
        async with open_session() as session:
            first = asyncio.create_task(session.complete(Request(GPT, "limited")))
            await asyncio.sleep(1.0)
            calls = [Request(model, str(each)) for model in (KIN, OWN, CLAUDE) for each in range(3)]
            await asyncio.gather(first, *map(session.complete, calls))

    with provider(service):
        virtual.run(scene)
    assert service.times(OWN) == service.times(CLAUDE) == [1.0] * 3
    assert len(service.times(KIN)) == 3 and all(30.0 <= when <= 31.0 for when in service.times(KIN))
    assert service.times(GPT)[0] == 0.0 and 30.0 <= service.times(GPT)[1] <= 31.0


@pytest.mark.parametrize("seed", range(3))
def test_of_a_crowd_nobody_comes_early_and_all_come_back_within_a_second(seed: int) -> None:
    latency, heard = random.Random(seed), []

    def behave(request: Request, n: int, now: float) -> tuple[float, Failure | None]:
        takes = latency.uniform(0.01, 0.5)
        if 5.0 <= now < 30.0:
            heard.append(now + takes)
            return takes, limited(30.0 - now - takes)
        return takes, None

    service = Scripted(behave)
    replies, _ = made(service, requests(GPT, 600))
    assert len(replies) == 600 and all(reply.status == "ok" for reply in replies), "0 lost"
    early = [when for when in service.times(GPT) if heard[0] < when < 30.0]
    assert early == [], "and what was on its way when the first was refused is not early"
    assert 2 <= len(heard) <= 16
    back = [when for when in service.times(GPT) if when >= 30.0][: len(heard)]
    assert all(when <= 31.0 for when in back) and len(set(back)) == len(back), "each at a moment of its own"


def test_rate_limits_never_use_up_the_tries_of_other_failures() -> None:
    statuses = ["rate_limited"] * 40 + (["provider_error"] + ["rate_limited"] * 3) * 5 + ["provider_error"]
    left = iter(statuses)
    [last], _ = made(Scripted(lambda request, n, now: (0.1, Failure(next(left), "no", 1.0))), [Request(GPT, "x")])
    assert (last.status, last.attempt) == ("provider_error", len(statuses)) and next(left, None) is None


def test_a_model_that_takes_nothing_for_half_an_hour_is_left_to_the_next_run_and_others_go_on() -> None:
    def behave(request: Request, n: int, now: float) -> tuple[float, Failure | None]:
        return 0.1, Failure("rate_limited", "requests per day") if request.model is KIN else None

    calls = [call for pair in zip(requests(KIN, 100), requests(GPT, 100), strict=True) for call in pair]
    replies, ended = made(Scripted(behave), calls)
    stopped = [str(each) for each in replies if isinstance(each, Stopped)]
    assert sum(isinstance(each, Completion) and each.status == "ok" for each in replies) == 100
    assert len(stopped) == 99 and all("'gpt-5' for 30 minutes" in each for each in stopped)
    assert 1800 <= ended < 1900, "not half an hour for each call"


def test_a_call_that_is_always_refused_stops_no_model_that_answers_others() -> None:
    def behave(request: Request, n: int, now: float) -> tuple[float, Failure | None]:
        return 0.1, Failure("rate_limited", "no", 10.0) if request.prompt == f"{GPT.name} 3" else None

    replies, _ = made(Scripted(behave), requests(GPT, 400), 4, limits=of_openai(requests_per_minute=6))
    assert sorted(each.status for each in replies) == ["ok"] * 399 + ["rate_limited"]


def test_a_crowd_that_is_refused_together_halves_what_is_allowed_once() -> None:
    async def scene() -> None:
        pace = Pace(16, virtual.clock())
        for size, allowed in [(16, 8), (8, 4), (4, 2), (2, 1), (1, 1)]:
            async with AsyncExitStack() as places:
                crowd = [await places.enter_async_context(pace.slot(Request(GPT, "x"), nothing)) for _ in range(size)]
                for ticket in crowd:
                    pace.slow_down(ticket)
                assert pace.allowed == allowed
        successes = 0
        while int(pace.allowed) < 16:
            pace.speed_up()
            successes += 1
        assert 100 < successes < 200, "one more for each full round: 1 + 2 + ... + 15 = 120"
        pace.speed_up()
        assert pace.allowed == 16

    virtual.run(scene)


@pytest.mark.parametrize("places", [1, 3])
def test_places_are_kept_and_given_in_the_order_of_coming_also_to_who_leaves_and_comes_again(places: int) -> None:
    async def scene() -> None:
        pace, order, most = Pace(places, virtual.clock()), [], 0

        async def call(number: int) -> None:
            nonlocal most
            for _ in range(2):
                async with pace.slot(Request(GPT, str(number)), nothing, lambda: order.append(number)):
                    most = max(most, pace.in_flight)
                    await asyncio.sleep(1.0)

        await asyncio.gather(*map(call, range(20)))
        assert order == [*range(20)] * 2 and most == places and pace.in_flight == 0

    virtual.run(scene)


# --- stops are heard while others wait --------------------------------------------------------------------------------


@pytest.mark.parametrize("wait", ["pause", "backoff", "limit"])
def test_whoever_waits_hears_of_a_stop_within_a_second(wait: str) -> None:
    def behave(request: Request, n: int, now: float) -> tuple[float, Failure | None]:
        if request.prompt == "wrong key":
            return 2.0, Failure("auth", "no such key")
        return 0.1, {"pause": limited(100.0), "backoff": limited(None), "limit": None}[wait]

    async def scene() -> tuple[list[Any], float]:
        limits = of_openai(requests_per_minute=60) if wait == "limit" else {}
        async with open_session(limits=limits) as session:
            wrong = asyncio.create_task(session.complete(Request(GPT, "wrong key")))
            await asyncio.sleep(0.01)
            calls = requests(KIN, 50)
            ends = await asyncio.gather(wrong, *map(session.complete, calls), return_exceptions=True)
            return ends, asyncio.get_running_loop().time()

    service = Scripted(behave)
    with provider(service):
        ends, time = virtual.run(scene)
    stopped = [end for end in ends if isinstance(end, Stopped)]
    assert all("set a valid one" in str(end) for end in stopped)
    assert len(stopped) == 51 - (wait == "limit"), "one call of the limited ones had come through, at 1 second"
    assert 2.0 <= time <= 3.1


def test_whoever_waits_hears_that_nothing_more_is_to_be_sent() -> None:
    async def scene() -> float:
        now = asyncio.get_running_loop().time
        session = open_session(halted=lambda model: "the disk is full" if now() > 5 else None)
        async with session:
            with pytest.raises(Stopped, match="the disk is full"):
                await session.complete(Request(GPT, "x"))
            return now()

    with provider(Scripted(lambda request, n, now: (0.1, limited(100.0)))):
        assert 5.0 < virtual.run(scene) <= 6.2


def test_a_refused_key_stops_those_who_ask_with_it_and_nobody_else() -> None:
    other = replace(GPT, name="other", api_key_env="OTHER_KEY")

    service = Scripted(lambda request, n, now: (0.1, Failure("auth", "no") if request.model == GPT else None))
    calls = [Request(model, "x") for model in (GPT, KIN, other, OWN)]
    (wrong, kin, another, own), _ = made(service, calls, 1)
    assert isinstance(wrong, Stopped) and isinstance(kin, Stopped)
    assert another.status == own.status == "ok" and len(service.sent) == 3


# --- limits of our own ------------------------------------------------------------------------------------------------


def most_in_a_minute(times: list[float]) -> int:
    return max(sum(1 for when in times if begin <= when < begin + 60.0 - 1e-6) for begin in times)


@pytest.mark.parametrize("per_minute", [1, 7, 60, 300])
def test_no_minute_holds_more_calls_than_allowed_and_none_is_wasted(per_minute: int) -> None:
    number = per_minute * 2 + 1
    service = Scripted(lambda request, n, now: (0.5, None))

    calls = [*requests(GPT, number // 2), *requests(KIN, number - number // 2)]
    made(service, calls, limits=of_openai(requests_per_minute=per_minute))
    times = [when for when, _ in service.sent]
    assert len(times) == number and most_in_a_minute(times) <= per_minute
    assert times[-1] <= 120.0 * 1.01, "that many calls in two minutes"


def test_a_late_sleeper_catches_up_and_no_minute_holds_more() -> None:
    """A sleep that takes 0.1 seconds longer than wished costs nothing of 600 calls a minute."""
    service = Scripted(lambda request, n, now: (0.5, None))

    async def late(seconds: float) -> None:
        await asyncio.sleep(seconds + 0.1)

    async def scene() -> None:
        clock = replace(virtual.clock(), sleep=late)
        async with Session(nothing, nothing, 16, clock, of_openai(requests_per_minute=600)) as session:
            await ask_all(requests(GPT, 1201), 16, session.complete)

    with provider(service):
        virtual.run(scene)
    times = [when for when, _ in service.sent]
    assert most_in_a_minute(times) <= 600 and times[-1] <= 120.0 * 1.02


@pytest.mark.parametrize("said", [60.0, 300.0])
def test_tokens_are_counted_as_the_replies_tell(said: float) -> None:
    """15 tokens a call, which a first guess does not know: 900 or 4,500 a minute are 1 or 5 calls a second."""
    service = Scripted(lambda request, n, now: (0.2, None))
    made(service, requests(GPT, int(2 * said)), limits=of_openai(tokens_per_minute=said * 15))
    times = [when for when, _ in service.sent]
    assert most_in_a_minute(times[1:]) <= 1.1 * said
    assert times[-1] <= 120.0 * 1.05


def test_a_refused_call_costs_no_tokens() -> None:
    refusals = iter([Failure("provider_error", "no", 0.0)] * 5)
    service = Scripted(lambda request, n, now: (0.2, next(refusals, None)))
    [reply], ended = made(service, [Request(GPT, "x")], limits=of_openai(tokens_per_minute=4000))
    assert reply.status == "ok" and ended < 12.0, "five times the limit of a reply, 2048, would be two minutes"


def test_a_call_for_which_there_is_no_money_takes_nothing_of_the_limits() -> None:
    poor = [True] * 5

    def reserve(request: Request) -> None:
        if poor:
            poor.pop()
            raise RuntimeError("no money")

    async def scene() -> Completion:
        limits = of_openai(requests_per_minute=60, tokens_per_minute=3000)
        async with Session(reserve, nothing, clock=virtual.clock(), limits=limits) as session:
            for _ in range(5):
                with pytest.raises(RuntimeError, match="no money"):
                    await session.complete(Request(GPT, "x"))
            return await session.complete(Request(GPT, "x"))

    service = Scripted(lambda request, n, now: (0.1, None))
    with provider(service):
        assert virtual.run(scene).attempt == 1
    assert service.times(GPT) == [0.0]


@pytest.mark.parametrize("limit", [Limit(), Limit(requests_per_minute=60)])
def test_models_of_an_address_do_not_wait_behind_one_of_which_nothing_is_left_and_take_turns(limit: Limit) -> None:
    came: list[tuple[float, str]] = []

    async def scene() -> None:
        now = asyncio.get_running_loop().time
        pace = Pace(16, virtual.clock(), limit)
        async with pace.slot(Request(CLAUDE, "x"), nothing) as ticket:
            pace.update(ticket, {"requests": Quota(4, 0, 30.0)})

        async def call(request: Request) -> None:
            async with pace.slot(request, nothing):
                came.append((now(), request.model.name))

        calls = [requests(CLAUDE, 2), requests(GPT, 3), requests(KIN, 3)]
        await asyncio.gather(*(call(request) for each in calls for request in each))

    virtual.run(scene)
    times = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] if limit.requests_per_minute else [0.0] * 6
    assert [round(when, 6) for when, name in came[:6]] == times
    if limit.requests_per_minute:
        assert [name for _, name in came[:6]] == ["gpt", "kin"] * 3, "they take turns"
    assert {name for _, name in came[:6]} == {"gpt", "kin"}
    assert [name for _, name in came[6:]] == ["claude"] * 2 and came[6][0] >= 30.0


# --- what headers say -------------------------------------------------------------------------------------------------


def fetch(service: Service, seconds: float, workers: int, models: Iterable[Model] = (GPT,)) -> list[Any]:
    """All replies of a run that sends for so many seconds."""
    models, begun = list(models), takewhile(lambda _: asyncio.get_running_loop().time() < seconds, count())
    return made(service, (Request(models[n % len(models)], f"question {n}") for n in begun), workers, limit=workers)[0]


def share_of_rate(service: Service, begin: float, end: float) -> float:
    """Calls that the service took between two moments, of those that it allows."""
    return sum(taken and begin <= when < end for when, _, taken in service.came) / ((end - begin) * service.rate)


def share_refused(service: Service) -> float:
    return sum(not taken for _, _, taken in service.came) / len(service.came)


@pytest.mark.parametrize(
    "service",
    [
        Service("bucket", rate=50, size=50),
        Service("bucket", rate=50, size=50, early=False),
        Service("window", rate=50, size=50),
        Service("window", rate=50, size=50, early=False),
        Service("bucket", rate=50, size=50, names=True),
        Service("bucket", rate=5, size=300, latency=2.0),
        Service("bucket", rate=0.5, size=30, latency=5.0),
        Service("bucket", rate=2, size=30, latency=4.0),
        Service("window", rate=0.5, size=30, latency=1.0),
    ],
    ids=lambda each: f"{each.kind}-{each.rate:g}-{'early' if each.early else 'late'}{'-named' * each.names}",
)
def test_a_service_that_says_what_is_left_is_asked_at_its_rate_and_hardly_ever_refuses(service: Service) -> None:
    service = replace(service, came=[])
    settle = max(5.0, 2 * service.size / service.rate)
    replies = fetch(service, 3 * settle, workers=40 if service.latency > 3 else 16)
    assert all(reply.status == "ok" for reply in replies), "0 lost"
    assert share_of_rate(service, settle, 3 * settle) >= 0.95
    assert share_refused(service) < 0.05


@pytest.mark.parametrize("kind", ["bucket", "window"])
def test_replies_that_take_longer_than_a_limit_lasts_are_no_reason_for_refusals(kind: str) -> None:
    service = Service(kind, rate=12, size=12, latency=1.5)
    replies = fetch(service, 15, workers=40)
    assert all(reply.status == "ok" for reply in replies) and share_refused(service) < 0.05
    assert share_of_rate(service, 5, 15) >= 0.8


def logged(*times: float) -> Log:
    """One call at each of these moments."""
    log = Log()
    for moment in times:
        log.add(1.0, moment)
    return log


def test_what_was_sent_since_a_reply_spoke_is_counted_and_what_spoke_before_is_not_heard() -> None:
    """10 calls, all back after 10 seconds; worked out by hand."""
    gauge, four, six = Gauge(), logged(-3, -2, -1, 0), logged(-3, -2, -1, 0, 0, 0)
    gauge.update(Quota(10, 6, 10.0), sent=4, now=0.0)
    assert gauge.wait(1, four, now=0.0) == 0.0, "6 are left, more than half"
    assert gauge.wait(1, six, now=0.0) == 2.5, "4 are left for 10 seconds"
    assert gauge.wait(1, logged(-3, -2, -1, 0, 0, 2), now=3.0) == 1.0, "4 are left for 8 seconds, one of them over"
    gauge.update(Quota(10, 9, 10.0), sent=3, now=0.0)
    assert gauge.wait(1, six, now=0.0) == 2.5, "the reply to an earlier call came late"
    gauge.update(Quota(10, 3, 10.0), sent=6, now=0.0)
    assert gauge.wait(5, six, now=1.0) == 9.0, "not before all is back"
    assert gauge.wait(50, six, now=1.0) == 9.0, "more than there ever is: at the full limit"
    assert gauge.wait(50, six, now=10.0) <= 0.0
    twelve = logged(-3, -2, -1, 0, 0, 0, *[10.0] * 6)
    assert gauge.wait(1, twelve, now=10.0) == 2.5, "of 10 again, 6 are sent and 4 left for 10 seconds"
    gauge.update(Quota(10, 1, 5.0), sent=6, now=10.5)
    assert gauge.wait(1, twelve, now=10.5) == 2.0, "this call has spoken already"


def test_a_bucket_that_is_hardly_used_is_not_taken_for_one_that_is_filled_at_once() -> None:
    """1 of 30 is back in half a second, so 30 are in 15: what was sent meanwhile is not back after half a second."""
    gauge, log = Gauge(), logged(-0.1, *[0.4] * 30)
    gauge.update(Quota(30, 29, 0.5), sent=1, now=0.0)
    assert gauge.wait(1, log, now=0.5) == 0.5, "29 were left and 30 are sent: the bucket is empty"
    assert gauge.wait(1, log, now=14.5) == 0.5
    assert gauge.wait(1, log, now=15.5) == 0.0, "and full again, as nothing more was sent"


def test_a_limit_that_was_full_when_it_was_told_is_used_once_until_the_next_reply() -> None:
    gauge, log = Gauge(), logged(0.0, *[1.0] * 10)
    gauge.update(Quota(10, 10, 0.0), sent=1, now=1.0)
    assert gauge.wait(1, logged(0.0), now=1.0) == 0.0
    assert gauge.wait(1, log, now=1.0) == gauge.wait(1, log, now=100.0) == POLICY.NEXT_LOOK
    assert gauge.wait(1, log, now=1.0 + POLICY.LONGEST_PAUSE) == 0.0, "nobody stalls for ever"
    gauge.update(Quota(10, 9, 0.0), sent=11, now=1.1)
    assert gauge.wait(1, log, now=1.1) == 0.0


def test_a_log_forgets_what_is_long_over_and_not_how_much_it_was() -> None:
    log = logged(*range(1000))
    assert len(log.sent) <= 2 * POLICY.LONGEST_PAUSE + 2
    assert log.total == 1000 and log.until(950) == 951 and log.until(949.5) == 950 and log.sent[-1][0] == 999
    assert log.until(0) == 1001 - len(log.sent), "as far as it knows"


def test_models_that_share_a_limit_are_restrained_together() -> None:
    service = Service("bucket", rate=50, size=50)
    replies = fetch(service, 15, 16, [GPT, KIN])
    assert all(reply.status == "ok" for reply in replies)
    assert share_of_rate(service, 5, 15) >= 0.95 and share_refused(service) < 0.05


def test_a_limit_that_is_not_reached_delays_nobody() -> None:
    service = Service("window", rate=10, size=600)
    fetch(service, 0.5, workers=4)
    times = [when for when, _, _ in service.came]
    assert len(times) >= 4 * 0.4 / 0.02, "each of four workers asks again as soon as it is answered"


def test_a_service_that_says_nothing_is_found_out_by_its_refusals() -> None:
    service = Service("bucket", rate=50, size=50, tells=False)
    replies = fetch(service, 20, workers=16)
    assert all(reply.status == "ok" for reply in replies)
    assert share_of_rate(service, 5, 20) >= 0.9 and share_refused(service) < 0.2


WALL = 1.7e9  # 2023-11-14T22:13:20Z


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        *(("1s", 1.0), ("6m0s", 120.0), ("17ms", 0.017), ("1m0.5s", 60.5)),
        *(("0s", 0.0), ("1h", 120.0), ("2", 2.0), ("-3", 0.0)),
    ],
)
def test_durations_are_read_as_openai_writes_them(reset: str, seconds: float) -> None:
    headers = {"limit-requests": "60", "remaining-requests": "59", "reset-requests": reset}
    found = read_limits({f"x-ratelimit-{name}": value for name, value in headers.items()}, WALL)
    assert found == {"requests": Quota(60.0, 59.0, pytest.approx(seconds))}


@pytest.mark.parametrize(
    ("reset", "date", "seconds"),
    [
        ("2023-11-14T22:13:50Z", None, 30.0),
        ("2023-11-14T22:13:50+00:00", None, 30.0),
        ("2023-11-14T23:13:20Z", None, 120.0),
        ("2023-11-14T22:13:00Z", None, 0.0),
        ("2023-11-14T22:13:50Z", "Tue, 14 Nov 2023 22:13:21 GMT", 30.0),  # clocks agree
        ("2023-11-14T22:43:50Z", "Tue, 14 Nov 2023 22:43:20 GMT", 30.0),  # ours is half an hour late
    ],
)
def test_moments_are_read_as_anthropic_writes_them(reset: str, date: str | None, seconds: float) -> None:
    names = ("requests", "input-tokens", "output-tokens", "tokens")
    headers = {f"anthropic-ratelimit-{name}-reset": reset for name in names}
    headers |= {f"anthropic-ratelimit-{name}-limit": "1000" for name in names}
    headers |= {f"anthropic-ratelimit-{name}-remaining": "1250" for name in names} | ({"date": date} if date else {})
    assert read_limits(headers, WALL) == dict.fromkeys(
        ("requests", "tokens", "input", "output"), Quota(1000.0, 1000.0, seconds)
    )


def test_half_a_limit_and_odd_words_are_no_limit() -> None:
    parts = {"limit": "9", "remaining": "3", "reset": "1s"}
    whole = {f"x-ratelimit-{part}-tokens": value for part, value in parts.items()}
    assert read_limits(whole, WALL) == {"tokens": Quota(9.0, 3.0, 1.0)}
    for name in whole:
        assert read_limits({**whole, name: "?"}, WALL) == {}
        assert read_limits({other: value for other, value in whole.items() if other != name}, WALL) == {}
    for odd in ("soon 0 30s", "4 none 30s", "4 0 tomorrow", "0 0 30s", "nan 0 30s"):
        told = dict(zip(parts, odd.split(), strict=True))
        headers = {f"x-ratelimit-{part}-requests": value for part, value in told.items()}
        headers |= {f"anthropic-ratelimit-requests-{part}": value for part, value in told.items()}
        assert read_limits(headers, WALL) == {}, odd
