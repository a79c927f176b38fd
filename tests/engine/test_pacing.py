"""Rate limits over real HTTP through the real SDKs: who waits, for how long, and who does not."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from helpers.config import load_experiment
from helpers.config.models import LimitEntry
from helpers.judge import OverLimit, TooLong, check_fit
from helpers.judge.asking import by_question
from helpers.providers import as_served
from helpers.run import asking as asking_room, plan
from helpers.types import Model, Price, Request
from tests.engine.asking import EVERY, MODELS, PROVIDERS, ask, at, missing, requests_to
from tests.engine.traces import statuses
from tests.engine.virtual import FakeClock, Service, gaps, timed
from tests.servers.behaviours import Call, Fault, Reply, only, polite, scripted

# --- how long ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
def test_a_rate_limit_without_a_time_is_waited_for_longer_and_longer(serve: Any, tmp_path: Path, kind: str) -> None:
    clock, came = FakeClock(jitter=1.0), []
    model = at(serve(timed(came, clock, scripted(["429"] * 9))).url, kind)
    assert len(ask(requests_to(model, 1), tmp_path, clock)) == 1
    assert statuses(tmp_path, model) == ["rate_limited"] * 9 + ["ok"], "more than any other failure is forgiven"
    assert gaps(came) == [1, 2, 4, 8, 16, 32, 60, 60, 60]


#: What a service says -> how long it is waited for before the jitter, of which half a second is drawn; beyond two
#: minutes, or where it is no time, nobody waits longer at once, and whoever says so is named.
WAITS = {
    "7": 7.0,
    "2.5": 2.5,
    "in 30 s": 30.0,
    "in -30 s": 0.05,
    "0": 0.05,
    "-5": 0.05,
    **dict.fromkeys(("3600", "in 86400 s", "soon", "nan", "inf"), 120.0),
}


def _dated(said: str) -> str:
    """A date for "in ... s"; by a service whose clock is years from the tests' clock."""
    return formatdate(time.time() + float(said.split()[1]), usegmt=True) if said.startswith("in ") else said


@pytest.mark.parametrize(
    ("said", "kind", "fault"),
    [(said, kind, "429") for said, seconds in WAITS.items() for kind in EVERY[3 if seconds < 1 else 0 :]]
    + [("7", kind, overload) for kind in PROVIDERS for overload in ("503", "529")],
)
def test_a_service_that_says_when_to_come_back_is_not_asked_before(
    serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str, said: str, fault: str
) -> None:
    seconds, clock, came, once = WAITS[said], FakeClock(), [], _dated(said)

    def refusing(call: Call) -> Reply | Fault:
        # A near date is made when the call comes: a busy machine may need seconds until then.
        header = once if seconds == 120 else _dated(said)
        return scripted([Fault(fault, headers={"Retry-After": header})] * 2)(call)

    model = at(serve(timed(came, clock, refusing)).url, kind)
    assert len(ask(requests_to(model, 1), tmp_path, clock)) == 1
    slack = 1.1 if said == "in 30 s" else 1e-6  # dates have whole seconds
    assert gaps(came) == [pytest.approx(seconds + 0.5, abs=slack)] * 2
    told, where = capfd.readouterr().err, model.base_url or model.provider
    assert told.count("asks to wait") == ("120 seconds" in told) == (seconds == 120)
    assert told.count(f"note: {where} asks to wait (Retry-After: {once})") == (seconds == 120), "once a run"


def test_milliseconds_count_before_seconds(serve: Any, tmp_path: Path) -> None:
    clock, came = FakeClock(), []
    headers = {"retry-after-ms": "1500", "Retry-After": "2"}
    serve(timed(came, clock, scripted([Fault("429", headers=headers)])))
    for kind in PROVIDERS:
        ask(requests_to(MODELS[kind], 1), tmp_path, clock)
    assert gaps(came)[::2] == [2.0] * 3


def test_a_time_that_google_says_in_the_body_alone_is_obeyed_too(serve: Any, tmp_path: Path) -> None:
    clock, came = FakeClock(), []
    serve(timed(came, clock, scripted([Fault("429", retry_after=30.0, header=False)])))
    ask(requests_to(MODELS["google"], 1), tmp_path, clock)
    assert gaps(came) == [30.5]


@pytest.mark.parametrize("kind", EVERY)
def test_an_endless_rate_limit_is_left_after_half_an_hour(serve: Any, tmp_path: Path, kind: str) -> None:
    server, clock = serve(only(Fault("429", retry_after=100.0))), FakeClock()
    model = at(server.url, kind)
    missing(requests_to(model, 1), tmp_path, "1 x rate_limited", clock)
    assert statuses(tmp_path, model) == ["rate_limited"] * 19, "at 0, 100.5, ... 1809 seconds"
    assert clock.time == 18 * 100.5


def test_half_an_hour_begins_with_the_first_refusal_of_the_rate_alone(serve: Any, tmp_path: Path) -> None:
    steps = [Fault("503", retry_after=120.0)] * 5 + [Fault("429", retry_after=120.0)] * 10 + ["500"]
    clock = FakeClock()
    serve(scripted(steps))
    model = MODELS["openai"]
    missing(requests_to(model, 1), tmp_path, "1 x provider_error", clock)
    assert statuses(tmp_path, model) == ["provider_error"] * 5 + ["rate_limited"] * 10 + ["provider_error"]
    assert clock.time == 15 * 120.5


# --- who --------------------------------------------------------------------------------------------------------------


def test_in_real_time_nobody_comes_before_the_time_that_was_told(serve: Any, tmp_path: Path) -> None:
    """How late anybody comes is the machine's affair here: in time that nobody waits for it is asserted of the crowd
    in `test_allowance`."""

    def behave(call: Call) -> Reply | Fault:
        came.setdefault((call.provider, call.prompt), []).append(time.monotonic())
        return Fault("429", headers={"Retry-After": "1"}) if call.attempt == 1 else polite(call)

    came: dict[tuple[str, str], list[float]] = {}
    serve(behave)
    requests = [request for each in PROVIDERS for request in requests_to(MODELS[each], 5)]
    assert len(ask(requests, tmp_path, real_time=True, concurrency=4)) == len(came) == 15
    for refused, *again in came.values():
        assert len(again) == 1 and again[0] - refused >= 1.0


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Tells what stands in limits.yaml."""

    def write(**said: dict[str, float]) -> None:
        monkeypatch.setattr(
            "helpers.config.load_limits", lambda: {name: LimitEntry(**each) for name, each in said.items()}
        )

    return write


def test_a_limit_of_ours_holds_for_all_models_of_one_address_alone(serve: Any, tmp_path: Path, limits: Any) -> None:
    server = serve()
    limits(openai={"requests_per_minute": 120})
    gpt, kin, own = MODELS["openai"], replace(MODELS["openai"], name="kin", model_id="gpt-5"), at(server.url, "own")
    for number, (models, seconds) in enumerate([([gpt], 2.0), ([gpt, kin], 4.5), ([gpt, own], 2.0), ([own], 0.0)]):
        clock = FakeClock()
        ask([r for model in models for r in requests_to(model, 5)], tmp_path / str(number), clock, concurrency=4)
        assert clock.time == seconds
    limits(**{own.base_url: {"requests_per_minute": 120}})
    clock = FakeClock()
    ask([r for model in (gpt, own) for r in requests_to(model, 7)], tmp_path / "own", clock, concurrency=4)
    assert clock.time == 3.0, "seven calls to the address, half a second from one to the next"


def test_a_limit_below_one_call_is_refused_before_any_call(serve: Any, tmp_path: Path, limits: Any) -> None:
    server, gpt = serve(), MODELS["openai"]
    own = at(server.url, "own")
    short, long = Request(gpt, "x" * 400), Request(gpt, "y" * 1001, "z" * 3)  # 100 and 251 tokens, of four bytes each
    calls, labels = [short, long, Request(own, "x" * 4000)], {long.key: {"question_id": "q7"}}
    limits(openai={"tokens_per_minute": 2298})
    with pytest.raises(OverLimit) as error:
        ask(calls, tmp_path, labels=labels)
    assert str(error.value) == (
        "limits.yaml, 'openai': tokens_per_minute = 2298 is less than one call may take, which would wait for minutes; "
        "none of these calls was made, and what came before is stored. The largest (gpt, question q7) is taken for "
        "2299 tokens: 251 of the prompt and 2048 of the reply (max_tokens). Set tokens_per_minute to 2299 or more, "
        "leave it out, or lower max_tokens in models.yaml"
    )
    assert server.calls == [] and not any(tmp_path.glob("*.jsonl"))
    limits(openai={"tokens_per_minute": 2299}, **{own.base_url: {"tokens_per_minute": 3047}})
    with pytest.raises(OverLimit, match=rf"^limits.yaml, '{own.base_url}': .* = 3047 .*taken for 3048 tokens") as error:
        ask(calls, tmp_path)
    assert len(str(error.value).splitlines()) == 1, "openai's is enough"
    limits(openai={"tokens_per_minute": 2299}, **{own.base_url: {"tokens_per_minute": 3048}})
    assert len(ask(calls, tmp_path)) == 3
    limits(openai={"tokens_per_minute": 1})
    assert len(ask(calls, tmp_path)) == 3, "what is stored is not asked"
    check_fit(calls, {}, tmp_path)  # nor refused in a plan
    with pytest.raises(OverLimit):
        check_fit(calls, {})


def test_a_limit_is_not_refused_for_answers_that_are_not_written(tmp_path: Path, limits: Any) -> None:
    given = {"judges": ["gpt_fast"], "candidates": ["gpt_fast", "claude_fast"], "question_limit": 1}
    experiment = load_experiment("mt_bench_blind", **given, store=str(tmp_path))
    [model] = experiment.judges
    # A judgment shows two answers, which would pass the limit if both were as long as they may be.
    limits(openai={"tokens_per_minute": 2 * model.max_tokens})
    planned = asyncio.run(plan(experiment))
    assert planned.missing == 3
    most = [row.input_tokens + row.output_tokens for row in planned.rows]
    assert [each > 2 * model.max_tokens for each in most] == [False, False, True], "a plan is a bound"
    limits(openai={"tokens_per_minute": model.max_tokens})
    with pytest.raises(OverLimit, match=rf"tokens_per_minute = {model.max_tokens} .*\(gpt_fast, question "):
        asyncio.run(plan(experiment))


def test_answers_count_against_a_limit_once_they_are_written(serve: Any, tmp_path: Path, limits: Any) -> None:
    server, gpt = serve(only(Reply("y" * 2000))), MODELS["openai"]
    limits(openai={"tokens_per_minute": 2548})  # 2048 of the reply, 500 of the prompt
    judging = Request(gpt, "Which is better? ", unwritten=2 * gpt.max_tokens)
    check_fit([judging], {})
    [answer] = ask([Request(gpt, "What is it?")], tmp_path).values()
    written = replace(judging, source=judging.prompt + answer.text, unwritten=0)  # 17 and 2000 bytes
    with pytest.raises(OverLimit, match=r"made, and what came before is stored\. .* 2553 tokens"):
        ask([written], tmp_path)
    assert len(server.calls) == 1 and statuses(tmp_path, gpt) == ["ok"]


#: Who tells seconds, after a reply: a date has whole ones, and a call that is made again is a little later.
EXACT = [(kind, "ok") for kind in EVERY if kind != "anthropic"]


def _dialect(kind: str, counted: str) -> dict[str, str]:
    """Nothing is left of 4, and all is back in 30 seconds, as each service says it; Google as a gateway before it."""
    if kind != "anthropic":
        values = {"limit": "4", "remaining": "0", "reset": "30s"}
        return {f"X-RateLimit-{part}-{counted}": value for part, value in values.items()}
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 30))
    name = f"{counted}-tokens" if counted in ("input", "output") else counted
    values = {"limit": "4", "remaining": "0", "reset": at}
    return {f"anthropic-ratelimit-{name}-{part}": value for part, value in values.items()}


@pytest.mark.parametrize("status", ["ok", "provider_error"])
@pytest.mark.parametrize(
    ("kind", "counted"),
    [(kind, counted) for kind in EVERY for counted in ("requests", "tokens")]
    + [("anthropic", "input"), ("anthropic", "output")],
)
def test_who_says_that_nothing_is_left_is_heard(
    serve: Any, tmp_path: Path, kind: str, counted: str, status: str
) -> None:
    clock, came = FakeClock(), []

    def behave(call: Call) -> Reply | Fault:
        if call.n:
            return polite(call)
        headers = _dialect(kind, counted)  # a date is made when the call comes
        return replace(polite(call), headers=headers) if status == "ok" else Fault("500", headers=headers)

    model = at(serve(timed(came, clock, behave)).url, kind)
    count = 2 if status == "ok" else 1
    assert len(ask(requests_to(model, count), tmp_path, clock)) == count
    assert gaps(came) == [pytest.approx(30.0, abs=1e-6 if (kind, status) in EXACT else 2.0)]


def test_the_first_reply_of_each_model_comes_before_the_rest(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.5)
    known = replace(MODELS["openai"], price=Price(1, 2))
    models = [replace(known, name=name, model_id=f"gpt-5-{name}") for name in "abc"]
    ask([request for model in models for request in requests_to(model, 5)], tmp_path, concurrency=8)
    first, *calls = server.calls
    others, rest = calls[:2], calls[2:]
    assert {first.model, *(entry.model for entry in others)} == {model.model_id for model in models}
    assert min(entry.at for entry in others) >= first.at + 0.5
    assert min(entry.at for entry in rest) >= max(entry.at for entry in others) + 0.5
    assert server.most_in_flight == 8


@pytest.mark.slow
def test_a_real_service_of_up_to_200_calls_a_second_is_asked_at_its_rate(serve: Any, tmp_path: Path) -> None:
    """What this machine carries without a limit is measured before and after: where the test fails, the line that is
    printed tells a machine that became too slow meanwhile from a pace that is not held (`pytest -rP` shows it too
    where the test passes)."""
    model = MODELS["openai"]

    def carried(folder: str) -> float:
        serve()
        begun = time.monotonic()
        ask(requests_to(model, 600), tmp_path / folder, real_time=True, concurrency=32)
        return 600 / (time.monotonic() - begun)

    before = carried("before")
    rate = min(200.0, 0.8 * before)
    service = Service("bucket", rate, rate)

    def behave(call: Call) -> Reply | Fault:
        headers, taken = service.meet(call.model, time.monotonic())
        return Reply("A short reply.", headers=headers) if taken else Fault("429", headers=headers)

    serve(behave)
    number = int(15 * rate)
    replies = ask(requests_to(model, number), tmp_path, real_time=True, concurrency=32)
    taken = [moment for moment, _, taken in service.came if taken]
    begin = taken[0] + 5.0
    later = [moment for moment in taken if moment >= begin]
    share = len(later) / (later[-1] - begin) / rate
    refused = 1 - len(taken) / len(service.came)
    after = carried("after")
    print(
        f"\nallowed {rate:.0f} calls a second; achieved {share:.1%} of them; {number - len(replies)} of {number} "
        f"replies lost; {refused:.2%} of the requests refused (429); the machine carried {before:.0f} before and "
        f"{after:.0f} after"
    )
    assert len(replies) == len(taken) == number, "0 lost"
    assert refused < 0.05
    assert share >= 0.95


# --- limits of one's own server ---------------------------------------------------------------------------------------

ASKED = "judge-7b"


@contextmanager
def saying(pages: Mapping[str, Any], seen: list[tuple[str, str | None]] | None = None) -> Iterator[str]:
    """The `base_url` of a server that answers GET by these pages (a status, a text, or JSON), and all else by 404."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if seen is not None:
                seen.append((self.path, self.headers.get("authorization")))
            page = pages.get(self.path, 404)
            raw = (page if isinstance(page, str) else json.dumps(page)).encode()
            self.send_response(page if isinstance(page, int) else 200)
            if page == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def judge_at(*urls: str, **changed: Any) -> Model:
    servers = urls if len(urls) > 1 else ()
    return replace(MODELS["openai"], model_id=ASKED, base_url=urls[0], servers=servers, revision={"w": "1"}, **changed)


def served(model: Model, concurrency: int = 16) -> tuple[Model | None, list[str]]:
    found, warnings = asyncio.run(as_served([model], concurrency))
    return found.get(model.name), warnings


def listing(*ids: str, **more: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": each, "object": "model", **more} for each in ids]}


LLAMA = {"default_generation_settings": {"n_ctx": 2048}, "total_slots": 3}
#: What a server says -> the context and the calls at once that it gets, and whether it serves what is asked.
SAID: dict[str, tuple[dict[str, Any], int | None, int, bool]] = {
    "llama.cpp": ({"/v1/models": listing(ASKED, meta={"n_ctx_train": 9999}), "/props": LLAMA}, 2048, 3, True),
    "llama.cpp, another model": ({"/v1/models": listing("model.gguf"), "/props": LLAMA}, 2048, 3, False),
    "vLLM": ({"/v1/models": listing(ASKED, max_model_len=4096)}, 4096, 8, True),
    "vLLM, two models": ({"/v1/models": listing("other", ASKED, max_model_len=512)}, 512, 8, True),
    "vLLM, another model": ({"/v1/models": listing("other", max_model_len=4096)}, 4096, 8, False),
    "ids alone": ({"/v1/models": listing(ASKED, "b", "c")}, None, 8, True),
    "many places": ({"/props": {"total_slots": 64}}, None, 16, True),
    "nothing": ({}, None, 8, True),
    "a page": ({"/v1/models": "<html>", "/props": "<html>"}, None, 8, True),
    "not allowed": ({"/v1/models": 401, "/props": 403}, None, 8, True),
    "a redirect": ({"/v1/models": 302, "/elsewhere": listing("other")}, None, 8, True),
    "odd values": ({"/v1/models": {"data": [3, {"id": 7}, None]}, "/props": {"total_slots": True}}, None, 8, True),
    "odd shapes": ({"/v1/models": [listing(ASKED)], "/props": {"default_generation_settings": 5}}, None, 8, True),
    "odd numbers": ({"/props": {"default_generation_settings": {"n_ctx": -1}, "total_slots": 0}}, None, 8, True),
}


@pytest.mark.parametrize("said", SAID)
def test_a_server_says_what_it_serves_how_long_and_how_many_at_once(said: str) -> None:
    pages, context, places, right = SAID[said]
    with saying(pages) as url:
        found, warnings = served(judge_at(url))
    assert found is not None and (found.context, found.concurrency) == (context, places)
    assert [f"asks for '{ASKED}'" in each for each in warnings] == ([] if right else [True])


def test_what_the_entry_and_the_run_say_counts_first() -> None:
    with saying({"/v1/models": listing(ASKED, max_model_len=4096), "/props": {"total_slots": 5}}) as url:
        assert served(judge_at(url), concurrency=2)[0].concurrency == 2
        found, _ = served(judge_at(url, concurrency=9, context=1000))
        assert (found.concurrency, found.context) == (9, 1000)
        assert served(judge_at(url, context=100_000))[0].context == 4096, "the server has no more than it says"


def test_of_several_servers_the_smallest_counts_and_the_odd_one_is_named() -> None:
    with saying({"/v1/models": listing(ASKED), "/props": LLAMA}) as one, saying({"/v1/models": listing("x")}) as other:
        found, warnings = served(judge_at(one, other))
    assert (found.context, found.concurrency) == (2048, 3)
    assert len(warnings) == 1 and warnings[0].startswith(f"warning: {other} says that it serves 'x'")


def test_only_own_servers_are_looked_at_and_with_their_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str | None]] = []
    monkeypatch.setenv("MINE", "key-of-mine-0123456789")
    with saying({}, seen) as url:
        assert served(judge_at("https://api.example.com/v1")) == (None, [])
        assert served(MODELS["anthropic"]) == (None, [])
        assert seen == []
        served(judge_at(url, api_key_env="MINE"))
    assert {path for path, _ in seen} == {"/v1/models", "/props"}
    assert {key for _, key in seen} == {"Bearer key-of-mine-0123456789"}


def test_a_server_that_is_away_is_no_error_before_the_first_call() -> None:
    with saying({}) as url:
        pass
    found, warnings = served(judge_at(url))
    assert found is not None and (found.context, found.concurrency, warnings) == (None, 8, [])


def test_a_context_that_is_too_small_is_said_in_the_plan(tmp_path: Path) -> None:
    entry = "mine: {{provider: openai, model_id: m, vendor: x, max_tokens: 64, base_url: {}, revision: {{w: one}}}}\n"

    def planned(url: str) -> Any:
        models = tmp_path / "models.yaml"
        models.write_text(entry.format(url), encoding="utf-8")
        given = {"judges": ["mine"], "biases": ["confirmation"], "question_limit": 3, "store": str(tmp_path / "none")}
        return asyncio.run(plan(load_experiment("cognitive_biases", models_file=models, **given)))

    short = {"/props": {"default_generation_settings": {"n_ctx": 80}}}
    with saying(short) as url, pytest.raises(TooLong, match=r"mine.*80"):
        planned(url)
    with saying({"/props": {"default_generation_settings": {"n_ctx": 8192}}}) as url:
        assert planned(url).missing > 0


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://gpu-box:8000/v1", "https://api.example.com/v1", None])
def test_calls_to_own_servers_come_question_by_question_and_others_as_they_were_drawn(url: str | None) -> None:
    model = judge_at(url) if url else MODELS["openai"]
    asked = [(question, shown) for question in "qpr" for shown in ("AB", "BA", "AB", "BA")]
    drawn = [asked[place] for place in (4, 0, 9, 1, 5, 2, 8, 6, 3, 10, 7, 11)]
    requests = [Request(model, f"{question} {shown}: {n}") for n, (question, shown) in enumerate(drawn)]
    labels = {r.key: {"question_id": q, "shown": [*shown]} for r, (q, shown) in zip(requests, drawn, strict=True)}
    order = by_question(requests, labels)
    if url is None or "example" in url:
        assert order == requests
        return
    found = [drawn[requests.index(each)] for each in order]
    assert [question for question, _ in found] == [*"pppp", *"qqqq", *"rrrr"], "as the first call of each was drawn"
    assert all(found[at] == found[at + 1] for at in range(0, 12, 2)), "each beginning is read once"
    assert all(requests.index(order[at]) < requests.index(order[at + 1]) for at in range(0, 12, 2))


def test_experiments_of_one_plan_ask_a_server_once_and_only_if_they_ask(tmp_path: Path) -> None:
    seen: list[tuple[str, str | None]] = []
    with saying({"/v1/models": listing("m"), "/props": LLAMA}, seen) as url:
        models = tmp_path / "models.yaml"
        entry = "{{provider: openai, model_id: m, vendor: x, max_tokens: 64, base_url: {}, revision: {{w: one}}}}"
        models.write_text(f"mine: {entry.format(url)}\n", encoding="utf-8")
        given = {"judges": ["mine"], "biases": ["confirmation"], "question_limit": 3}
        asking, other = (load_experiment("cognitive_biases", models, **given, seed=seed) for seed in (1, 2))
        found = asyncio.run(asking_room.served(asking, replace(other, judgments="stored"), other))
        assert len(seen) == 2, "its models and its context"
        assert [each.judges[0].context for each in found[::2]] == [2048, 2048]
        seen.clear()
        asyncio.run(asking_room.served(replace(other, judgments="stored")))
    assert seen == []
