"""The retry table over real HTTP through the real SDKs: how often a failure is asked again, and what is kept of it."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from helpers.judge import Budget, Incomplete, actual, complete_all, judge_all
from helpers.judge.budget import worst_case
from helpers.providers import Clock
from helpers.types import Completion, Price, Request, Trial
from tests.engine.asking import EVERY, MODELS, PROVIDERS, ask, at, missing, requests_to, set_environment
from tests.engine.traces import attempts, everything, statuses, stored, without_keys
from tests.engine.virtual import FakeClock, gaps, timed
from tests.servers.answering import answering
from tests.servers.behaviours import REFUSAL, Call, Fault, Reply, only, polite, scripted, step
from tests.servers.wire import write_reply

SLOW = Fault("slow", seconds=20.0)

#: Kind of fault -> status of each of the six attempts when it never ends.
TABLE = {
    **dict.fromkeys(("500", "502", "503", "504", "529", "408", "409"), "provider_error"),
    **dict.fromkeys(("dropped", "reset_early", "reset", "truncated", "slow"), "maybe_billed"),
    "broken_json": "bad_envelope",
}
KEY = "refused the key.*set a valid one with access to this model|asks for a key"
SETTINGS = "`params:` in models.yaml"
STOPPED = {
    **{"401": ("auth", KEY), "key": ("auth", KEY), "403": ("forbidden", KEY)},
    "404": ("not_found", r"correct (it|the one or the other) in models.yaml"),
    **dict.fromkeys(("400", "413", "422"), ("bad_request", SETTINGS)),
    **dict.fromkeys(("402", "quota"), ("quota", "top it up or wait until it is renewed")),
}


# --- a failure that never ends ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("fault", TABLE)
def test_a_failure_is_asked_again_as_the_table_says(serve: Any, tmp_path: Path, kind: str, fault: str) -> None:
    clock, came = FakeClock(), []
    server = serve(timed(came, clock, only(SLOW if fault == "slow" else fault)))
    model = replace(at(server.url, kind), timeout_seconds=0.4 if fault == "slow" else 60.0)
    told = f"1 of 1 replies are still missing:\n  {model.name}: 1 x {TABLE[fault]}"
    missing(requests_to(model, 1), tmp_path, told, clock)
    lines = attempts(tmp_path, model)
    assert [line["status"] for line in lines] == [TABLE[fault]] * 6
    assert len(server.calls) == 6 and server.duplicates() == 5
    assert [line["attempt"] for line in lines] == [1, 2, 3, 4, 5, 6]
    billed = TABLE[fault] in ("maybe_billed", "bad_envelope")
    assert all(line["reply"]["maybe_billed"] == billed for line in lines)
    assert server.count(billed=True) == (6 if billed else 0), "nothing that may be billed counts as free"
    assert gaps(came) == [0.75, 1.5, 3, 6, 12], "1, 2, 4, ... seconds, here three quarters of each"
    model = replace(model, timeout_seconds=60.0)
    server.behaviour = polite
    assert len(ask(requests_to(model, 1), tmp_path)) == 1, "the next run asks again"
    assert len(server.calls) == 7


@contextmanager
def refusing() -> Iterator[str]:
    """An address that is bound and not listened at: nobody else can open this port."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{closed.getsockname()[1]}"


@contextmanager
def silent() -> Iterator[str]:
    """An address whose queue of callers is full: whoever calls now hears nothing at all."""
    with socket.socket() as listening, ExitStack() as callers:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(8):
            caller = callers.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(listening.getsockname())
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("address", [refusing, silent])
def test_where_nobody_answers_it_is_tried_six_times_for_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str, address: Any
) -> None:
    if address is silent:
        monkeypatch.setattr("helpers.providers.meanings.POLICY.CONNECT_SECONDS", 0.05)
    with address() as url:
        set_environment(monkeypatch, url)
        model = at(url, kind)
        # A call that is given up as a whole, and not while it connects, has another status.
        missing(requests_to(model, 3), tmp_path, rf"{model.name}: 3 x nobody answers at .*is the server running")
    assert statuses(tmp_path, model) == ["connect"] * 6
    note = f"note: nobody answers at {model.base_url or model.provider}"
    err = capfd.readouterr().err
    assert err.count(note) == 1, "at once, and once"
    assert ("Connect call failed" in err) == (address is refusing), "a refusal is no time-out"
    assert not any(line["reply"]["maybe_billed"] for line in attempts(tmp_path, model))


# --- what stops a model or a provider ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("fault", STOPPED)
def test_what_cannot_get_better_costs_few_requests(serve: Any, tmp_path: Path, kind: str, fault: str) -> None:
    name = {"own": "llama-3-8b"}.get(kind, MODELS[kind].model_id)
    server = serve(lambda call: step(fault, call) if call.model == name else polite(call))
    status, advice = STOPPED[fault]
    bad, good = at(server.url, kind), at(server.url, EVERY[EVERY.index(kind) - 1])
    requests = [request for model in (bad, good) for request in requests_to(model, 4)]
    clock = FakeClock()
    said, tries = missing(requests, tmp_path, advice, clock), 3 if status == "bad_request" else 1
    assert clock.slept == [], "nothing is waited for"
    assert "4 of 8 replies are still missing" in said
    assert f"{bad.name}: 2 x bad_request" in said or (tries == 1 and f"{bad.name}: 4 x " in said)
    assert "run the same again" in said
    assert server.count(model=name) == tries, "one call after the other: of bad requests three could be the prompts"
    assert len(server.calls) == 4 + tries and statuses(tmp_path, bad) == [status] * tries
    assert statuses(tmp_path, good) == ["ok"] * 4
    assert without_keys(said, server.env()) and without_keys(everything(tmp_path), server.env())
    server.behaviour = polite
    assert len(ask(requests, tmp_path)) == 8
    assert len(server.calls) == 8 + tries, "only what was missing"
    assert len(ask(requests, tmp_path)) == 8 and len(server.calls) == 8 + tries, "and then nothing"


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_nothing_is_left_open(serve: Any, tmp_path: Path) -> None:
    server = serve(scripted(["500", "reset", "truncated"]))
    gc.collect()
    before = threading.active_count(), _open_files()
    ask([request for each in EVERY for request in requests_to(at(server.url, each), 5)], tmp_path)
    gc.collect()  # what was forgotten warns here
    until = time.monotonic() + 60  # the server closes its ends in a thread of its own
    while (left := (threading.active_count(), _open_files())) != before and time.monotonic() < until:
        time.sleep(0.01)
    assert left == before


def _open_files() -> int:
    found = 0
    for number in range(256):
        with suppress(OSError):
            os.fstat(number)
            found += 1
    return found


@pytest.mark.parametrize(
    ("fault", "calls", "said"), [("401", 1, ""), ("quota", 1, ""), ("404", 1, "5 x "), ("400", 3, "2 x bad_request")]
)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_stop_is_of_the_model_or_of_all_with_its_key(
    serve: Any, tmp_path: Path, provider: str, fault: str, calls: int, said: str
) -> None:
    """A wrong id or parameter stops one model; a wrong key or an empty account all models of the provider."""
    good = replace(MODELS[provider], price=Price(1, 2))
    bad = replace(good, name="bad", model_id=good.model_id + "-bad")
    alone = fault in ("404", "400")
    server = serve(lambda call: polite(call) if alone and not call.model.endswith("bad") else step(fault, call))
    told = missing([*requests_to(bad, 5), *requests_to(good, 5)], tmp_path, "5 of 10" if alone else "10 of 10")
    assert (server.count(model=bad.model_id), server.count(model=good.model_id)) == (calls, 5 if alone else 0)
    assert told.count(f"  bad: {said}") == 1 and (f"  {good.name}: " in told) != alone


def test_a_real_parameter_that_a_model_does_not_take_is_named(serve: Any, tmp_path: Path) -> None:
    server = serve()
    hot = replace(MODELS["openai"], name="hot", params={"temperature": 0.3})
    new = replace(MODELS["anthropic"], name="new", model_id="claude-haiku-5-5")
    odd = replace(MODELS["google"], name="odd", params={"temprature": 1.0})
    said = missing([request for model in (hot, new, odd) for request in requests_to(model, 2)], tmp_path)
    assert "takes no 'temperature' but 1" in said and "temperature: not taken" in said
    assert "params of 'odd' in models.yaml" in said and "temprature" in said
    assert len(server.calls) == 4, "fewer than three requests of a model may be refused for themselves"
    assert not server.count(model=odd.model_id), "google-genai refuses an unknown parameter before it sends anything"


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("bad", [1, 2])
def test_first_requests_that_are_refused_do_not_stop_the_rest(serve: Any, tmp_path: Path, kind: str, bad: int) -> None:
    refused = [f"question {n} " for n in range(bad)]
    server = serve(lambda call: step("400" if any(each in call.prompt for each in refused) else None, call))
    model = at(server.url, kind)
    for start in (1, 2):
        missing(requests_to(model, 10), tmp_path, rf"{bad} of 10 replies are still missing:\n.*{bad} x bad_request")
        assert sorted(statuses(tmp_path, model)) == ["bad_request"] * bad * start + ["ok"] * (10 - bad)


def test_the_passing_limit_that_speaks_of_billing_is_no_empty_account(serve: Any, tmp_path: Path) -> None:
    message = "You exceeded your current quota, please check your plan and billing details."
    server = serve(scripted([Fault("429", message=message)]))
    for provider in PROVIDERS:
        assert len(ask(requests_to(MODELS[provider], 1), tmp_path)) == 1
    assert len(server.calls) == 6


# --- replies that are data --------------------------------------------------------------------------------------------

#: kind -> outcome by provider, requests. Google refuses in plain text: only the parser can tell.
CONTENT = {
    "refusal": ({"openai": "refused", "anthropic": "refused", "google": "unparsed"}, 1),
    "filter": ({"openai": "filtered", "anthropic": "refused", "google": "filtered"}, 1),
    "blocked": ({"openai": "filtered", "anthropic": "refused", "google": "filtered"}, 1),
    "length": ({"openai": "truncated", "anthropic": "truncated", "google": "truncated"}, 1),
    "empty": ({"openai": "empty", "anthropic": "empty", "google": "empty"}, 2),
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("kind", CONTENT)
def test_a_reply_without_a_verdict_is_never_asked_twice(serve: Any, tmp_path: Path, kind: str, provider: str) -> None:
    server, model = serve(only(kind)), MODELS[provider]
    prompt = "<<<ANSWER A 5eed>>>\na\n<<<END A 5eed>>>\n<<<ANSWER B 5eed>>>\nb\n<<<END B 5eed>>>\nRANKING-5eed: X > Y"
    request = Request(model, prompt)
    trial = Trial("e", "q", "c", model, request, form="listwise", shown=("x", "y"), labels=("A", "B"), nonce="5eed")
    options = {"folder": tmp_path, "show": False, "clock": FakeClock().clock()}
    outcomes, count = CONTENT[kind]
    for _ in range(2):
        [judgment] = asyncio.run(judge_all([trial], budget=Budget(1e6), **options))
        assert (judgment.outcome, judgment.verdict) == (outcomes[provider], None)
        assert len(server.calls) == count
    assert statuses(tmp_path, model) == ["empty", "ok"][-count:]
    if kind == "refusal":
        assert judgment.completion.text == REFUSAL
    if kind == "length":
        assert judgment.completion.text, "what came is kept"


def test_what_is_missing_stays_missing_where_nothing_is_asked(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda call: step("400" if call.n == 2 else None, call))
    requests = requests_to(MODELS["openai"], 3)
    trials = [
        Trial("e", str(n), "c", r.model, r, form="choice", labels=("A",), nonce="5eed") for n, r in enumerate(requests)
    ]
    with pytest.raises(Incomplete, match="1 of 3"):
        asyncio.run(judge_all(trials, folder=tmp_path, budget=Budget(1.0), show=False, concurrency=1))
    judgments = asyncio.run(judge_all(trials, folder=tmp_path, ask=False))
    assert [judgment.outcome for judgment in judgments] == ["unparsed", "unparsed", "missing"]
    assert judgments[2].completion is None and len(server.calls) == 3


def test_a_token_limit_is_sent_under_the_name_that_each_model_takes(serve: Any, tmp_path: Path) -> None:
    server = serve(only(Reply("word " * 400, thoughts=20)))
    for kind in EVERY:
        model = replace(at(server.url, kind), max_tokens=64)
        [reply] = ask(requests_to(model, 1), tmp_path).values()
        assert (reply.finish, reply.usage.output) == ("length", 64)
    assert [entry.limit for entry in server.calls] == [64] * 4


# --- every attempt is kept --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
def test_a_reply_is_stored_with_everything_that_came_with_it(serve: Any, tmp_path: Path, kind: str) -> None:
    reply = Reply("Grüße aus \u2028 Köln 🙂", thoughts=37, cached=3)
    server = serve(only(reply), latency=0.05)
    model = at(server.url, kind)
    clock = Clock(sleep=FakeClock().sleep)
    request = Request(model, "Hallo, wie geht es?", "Sei kurz.")
    before, begun = time.time(), time.monotonic()
    asyncio.run(complete_all([request], folder=tmp_path, budget=Budget(1e6), show=False, clock=clock))
    took, after = time.monotonic() - begun, time.time()
    [line], [entry] = attempts(tmp_path, model), server.calls
    thoughts = 0 if kind in ("anthropic", "own") else 37  # these two do not think
    body = write_reply(entry.call, reply, thoughts, f"{model.model_id}-2026-01-01")
    assert line["raw"] == json.dumps(body), "byte for byte"
    said = line["reply"]
    assert (said["text"], said["finish"], said["error"]) == (reply.text, "stop", None)
    assert said["usage"] == {
        "input": entry.input_tokens,
        "output": entry.output_tokens,
        "reasoning": thoughts,
        "cached": 3,
        "written": 0 if kind == "anthropic" else None,
    }
    assert entry.input_tokens == 7 and entry.output_tokens == 5 + thoughts, "28 and 18 characters, four a token"
    assert said["model"] == f"{model.model_id}-2026-01-01"
    assert said["request_id"] == ("resp00000000" if kind == "google" else "req_00000000")
    assert 0.05 <= said["latency"] <= took, "in seconds"
    begun_at = datetime.fromisoformat(line["at"]).timestamp()
    assert int(before) <= begun_at <= after - said["latency"] and line["at"].endswith("+00:00")
    assert (entry.call.system, entry.call.prompt) == ("Sei kurz.", "Hallo, wie geht es?")


@pytest.mark.parametrize("kind", EVERY)
def test_a_passing_failure_is_got_over_and_stored_with_what_the_service_said(
    serve: Any, tmp_path: Path, kind: str
) -> None:
    away = Fault("503", message="Come back later, ¡por favor!")
    server = serve(scripted([away, "broken_json", "429", "dropped", "truncated", "500", "empty"]))
    model = at(server.url, kind)
    (reply,) = ask(requests_to(model, 1), tmp_path).values()
    expected = ["provider_error", "bad_envelope", "rate_limited", "maybe_billed", "maybe_billed", "provider_error"]
    assert statuses(tmp_path, model) == [*expected, "empty", "ok"] and reply.attempt == len(server.calls) == 8
    away, broken, limited, *_, well = attempts(tmp_path, model)
    assert "Come back later, ¡por favor!" in json.loads(away["raw"])["error"]["message"]
    assert "Come back later" in away["reply"]["error"]
    assert broken["raw"] and well["raw"].startswith(broken["raw"][:6]) and len(broken["raw"]) < len(well["raw"])
    if kind != "google":
        ids = [line["reply"]["request_id"] for line in (away, broken, limited, well)]
        assert ids == [f"req_{number:08}" for number in (0, 1, 2, 7)]
    assert all(line["reply"]["text"] == "" for line in (away, broken, limited))


#: Bodies that are no reply, and what is said of them.
ODD_BODIES = {
    **dict.fromkeys(("", "null", "[]", "{}", '{"errors": []}', '{"choices": [], "content": 5}', "[" * 99_999), ()),
    '{"a": "b"}': ("is `base_url` the address of its API",),
    "<html>Log in, please</html>": ("base_url", "HTML", "Log in, please"),
    "data: {}\n\n": ("streams",),
}


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("body", ODD_BODIES, ids=range(len(ODD_BODIES)))
def test_an_envelope_of_another_form_is_kept_and_retried_for_one_reply(tmp_path: Path, kind: str, body: str) -> None:
    with answering(body) as url:
        model = replace(MODELS[kind], base_url=url, revision={})
        said = missing(requests_to(model, 10), tmp_path, "1 x bad_envelope")
    assert all(words in said for words in ("10 of 10", url, *ODD_BODIES[body]))
    assert statuses(tmp_path, model) == ["bad_envelope"] * 6
    assert [line["raw"] for line in attempts(tmp_path, model)] == [body] * 6


def test_a_line_names_its_first_asker_and_equal_requests_are_asked_once(serve: Any, tmp_path: Path) -> None:
    server, model = serve(), MODELS["google"]
    [request] = requests_to(model, 1)
    trial = Trial("mt_bench_blind", "q", "c", model, request, "none", "choice", ("x",), ("A",), "5eed")
    trials = [trial, replace(trial, experiment="hinting_groups", condition="blind", shown=("y",))]
    one, other = asyncio.run(judge_all(trials, folder=tmp_path, budget=Budget(1.0), show=False))
    assert one.completion == other.completion and len(server.calls) == 1
    [line] = attempts(tmp_path, model)
    assert line["labels"] == {"experiment": "mt_bench_blind", "question_id": "q", "condition": "none", "shown": ["x"]}


def test_half_a_character_in_a_reply_becomes_a_mark_that_prompts_can_hold(serve: Any, tmp_path: Path) -> None:
    server = serve(only(Reply("cut \ud83d")))
    for kind in EVERY:
        model = at(server.url, kind)
        ask(requests_to(model, 1), tmp_path)
        [reply] = stored(tmp_path, model).values()
        assert reply.text == "cut \N{REPLACEMENT CHARACTER}" and "\\ud83d" in reply.raw
        Request(model, reply.text).key.encode()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_proxy_is_used_and_no_password_of_a_netrc_file_is_sent(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxied, direct = [], []
    (tmp_path / "netrc").write_text("machine 127.0.0.1\nlogin somebody\npassword of-another-service\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with answering("{}", direct) as address:
        set_environment(monkeypatch, address)
        missing(requests_to(MODELS[provider], 1), tmp_path, "bad_envelope")
    assert direct and not any("basic" in headers.lower() for headers in direct)
    with answering("{}", proxied) as proxy:
        set_environment(monkeypatch, "http://model.invalid")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name)
        monkeypatch.setenv("http_proxy", proxy)
        missing(requests_to(MODELS[provider], 1), tmp_path, "bad_envelope")
    assert proxied and all("model.invalid" in headers for headers in proxied)


# --- what the settings of a model meet --------------------------------------------------------------------------------


def test_settings_of_a_model_are_the_same_after_a_call_as_they_are_in_its_key(serve: Any, tmp_path: Path) -> None:
    """google-genai writes into a schema that it is given."""
    either = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    params = {"responseSchema": {"type": "object", "properties": {"a": either}}}
    before = json.dumps(params)
    request = Request(replace(MODELS["google"], params=params), "Who?")
    key = request.key
    serve(polite)
    (reply,) = ask([request], tmp_path).values()
    assert reply.status == "ok" and json.dumps(params) == before
    assert Request(request.model, "Who?").key == key == reply.key


@pytest.mark.parametrize("name", ["automatic_function_calling", "automaticFunctionCalling"])
def test_a_setting_of_ours_may_be_given_in_either_spelling(serve: Any, tmp_path: Path, name: str) -> None:
    request = Request(replace(MODELS["google"], params={name: {"disable": True}}), "Who?")
    serve(polite)
    assert [reply.status for reply in ask([request], tmp_path).values()] == ["ok"]


# --- once more at the end ---------------------------------------------------------------------------------------------

GPT = MODELS["openai"]
PRICED = replace(GPT, price=Price(1.0, 10.0), max_tokens=100)


def failing(often: int, kind: str = "500") -> Any:
    """A server that fails so many attempts at question 3 and answers everything else."""

    def behave(call: Call) -> Reply | Fault:
        return Fault(kind) if "question 3 " in call.prompt and call.attempt <= often else polite(call)

    return behave


def paid(requests: list[Request], folder: Path) -> list[tuple[Request, Completion]]:
    """The requests that have a reply, with it."""
    replies = stored(folder, GPT)
    return [(each, replies[each.key]) for each in requests if each.key in replies]


def tries(folder: Path, request: Request) -> list[str]:
    return [line["status"] for line in attempts(folder, GPT) if line["key"] == request.key]


@pytest.mark.parametrize("kind", ["500", "502", "503"])
def test_a_call_out_of_tries_is_made_once_more_at_the_end(serve: Any, tmp_path: Path, kind: str) -> None:
    serve(failing(6, kind))
    requests = requests_to(GPT, 12)
    assert len(ask(requests, tmp_path, concurrency=2)) == 12
    assert tries(tmp_path, requests[3]) == ["provider_error"] * 6 + ["ok"]
    assert attempts(tmp_path, GPT)[-1]["key"] == requests[3].key, "the last call of all"
    assert attempts(tmp_path, GPT)[-1]["attempt"] == 7


@pytest.mark.parametrize(
    ("kind", "status"), [("500", "provider_error"), ("truncated", "maybe_billed"), ("broken_json", "bad_envelope")]
)
def test_once_more_is_once_and_within_the_budget(serve: Any, tmp_path: Path, kind: str, status: str) -> None:
    serve(failing(99, kind))
    requests = requests_to(PRICED, 12)
    missing(requests, tmp_path, rf"1 of 12 replies are still missing:\n  gpt: 1 x {status}")
    assert tries(tmp_path, requests[3]) == [status] * 7
    if kind == "500":
        return
    # The others are paid as they are counted, and six attempts at their worst: then there is no money for one more.
    folder, worst = tmp_path / "poor", worst_case(requests[3])
    folder.mkdir()
    budget = Budget(6.5 * worst + sum(actual(each, reply) for each, reply in paid(requests, tmp_path)), planned=True)
    missing(requests, folder, "1 x the next call could bring the cost above budget_usd=", budget=budget, concurrency=1)
    assert tries(folder, requests[3]) == [status] * 6 and budget.spent <= budget.limit
