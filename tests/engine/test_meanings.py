"""What replies and errors of each service mean: text, ending, tokens, and which failures are asked again."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from helpers import json_text, store
from helpers.judge import Budget, Incomplete
from helpers.judge.asking import in_order
from helpers.judge.budget import worst_case
from helpers.paths import load_table
from helpers.providers import Failure, Sent, Session, anthropic, google, openai
from helpers.providers.meanings import POLICY, failure_in, retry_after, status_of, unreadable
from helpers.providers.transport import module_of, read, tokens_of
from helpers.types import Completion, Model, Price, Request, Usage
from tests.engine.asking import MODELS, SAID, ask, at, missing, requests_to
from tests.engine.traces import attempts, statuses
from tests.engine.virtual import FakeClock
from tests.servers.answering import answering, body_of
from tests.servers.behaviours import Fault, only, polite, scripted

NOW = 1_800_000_000.0


def test_every_kind_of_failure_says_only_what_is_read() -> None:
    table = load_table("providers/meanings.toml")
    assert set().union(*table["kinds"].values()) <= set(table["usual"]) and table["kinds"]


# --- endings ----------------------------------------------------------------------------------------------------------

ENDINGS: dict[str, list[str]] = SAID["endings"]
BROKEN: list[str] = SAID["broken"]


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "google"])
@pytest.mark.parametrize(("finish", "said"), [(finish, each) for finish in ENDINGS for each in ENDINGS[finish]])
def test_an_ending_means_the_same_in_every_dialect_and_spelling(dialect: str, finish: str, said: str) -> None:
    assert read(module_of(dialect), body_of(dialect, finish=said)).finish == finish


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "google"])
@pytest.mark.parametrize("said", BROKEN)
def test_what_the_server_ended_is_its_error_and_no_reply(dialect: str, said: str) -> None:
    for text in ("", "I think"):
        with pytest.raises(Failure) as error:
            read(module_of(dialect), body_of(dialect, text, said))
        assert error.value.status == "provider_error" and error.value.billed, "a part of a reply may have been billed"


def test_a_message_without_text_and_tokens_is_the_servers_error() -> None:
    nothing = {"choices": [{"message": {"content": None}, "finish_reason": None}], "usage": {"completion_tokens": 0}}
    with pytest.raises(Failure, match="without text and without tokens"):
        read(module_of("openai"), json.dumps(nothing))
    for more in ({"reasoning": "Hm."}, {"refusal": "No."}, {"reasoning_content": "Hm."}):
        nothing["choices"][0]["message"] = {"content": None, **more}
        read(module_of("openai"), json.dumps(nothing))


@pytest.mark.parametrize("said", ["tool_calls", "LANGUAGE", "whatever", "eosed", "pause_turn"])
def test_an_ending_that_nobody_listed_is_told(said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with answering(body_of("openai", finish=said)) as url:
        replies = ask(requests_to(at(url, "own"), 5), tmp_path)
    assert [reply.finish for reply in replies.values()] == ["stop"] * 5
    assert capfd.readouterr().err.count(f"{said!r}, which nobody listed") == 1


# --- errors under a 200 -----------------------------------------------------------------------------------------------

ERRORS: dict[str, list[Any]] = SAID["errors"]


@pytest.mark.parametrize(("status", "said"), [(status, each) for status in ERRORS for each in ERRORS[status]])
def test_an_error_under_a_200_means_what_its_status_would(status: str, said: Any) -> None:
    for dialect in ("openai", "anthropic", "google"):
        with pytest.raises(Failure) as error:
            read(module_of(dialect), json.dumps(said), {"retry-after": "20s"}, NOW)
        assert (error.value.status, error.value.retry_after) == (status, 20.0)
        assert all(word not in error.value.error for word in ("KeyError", "TypeError", "IndexError"))


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "google"])
@pytest.mark.parametrize("text", ['"error": {"code": 429}', '{"error": "none"}', "error", '{"detail": "x", "code": 1}'])
def test_a_reply_that_speaks_of_errors_is_none(dialect: str, text: str) -> None:
    assert read(module_of(dialect), body_of(dialect, text, None)).text == text
    assert failure_in(body_of(dialect, text, None).replace("{", '{"error": null, ', 1), {}, NOW) is None


@pytest.mark.parametrize("code", [400, 403, 500, 503])
@pytest.mark.parametrize("said", ["rate_limit_exceeded", "RESOURCE_EXHAUSTED", 429])
def test_a_limit_is_one_whatever_the_status_around_it(code: int, said: Any) -> None:
    assert status_of(code, json.dumps({"error": {"code": said, "message": "slower"}})) == "rate_limited"


@pytest.mark.parametrize("status", ["rate_limited", "provider_error"])
def test_errors_under_a_200_are_waited_for(serve: Any, tmp_path: Path, status: str) -> None:
    clock, said = FakeClock(), Fault("200", body=json.dumps(ERRORS[status][0]))
    model = at(serve(lambda call: said if call.n in (0, 1, 2, 6) else polite(call)).url, "own")
    assert len(ask(requests_to(model, 6), tmp_path, clock, concurrency=1)) == 6
    assert Counter(statuses(tmp_path, model)) == {"ok": 6, status: 4} and clock.slept


def test_an_error_under_a_200_that_stays_is_shown_in_its_own_words(tmp_path: Path) -> None:
    with (
        answering(json.dumps(ERRORS["provider_error"][0])) as url,
        pytest.raises(Incomplete, match="upstream") as error,
    ):
        ask(requests_to(at(url, "own"), 2), tmp_path)
    assert "base_url" not in str(error.value) and len(attempts(tmp_path, at(url, "own"))) == 12


# --- bodies that are no reply -----------------------------------------------------------------------------------------

NO_REPLY: dict[str, list[str]] = SAID["no_reply"]
NO_REPLY["no JSON"].append("[" * 60_000)


@pytest.mark.parametrize(("what", "raw"), [(what, each) for what in NO_REPLY for each in NO_REPLY[what]])
def test_a_body_that_is_no_reply_is_named_in_words(what: str, raw: str) -> None:
    failure = unreadable(raw)
    assert failure.status == "bad_envelope" and (what in failure.error or what == "no JSON") and failure.billed
    for dialect in ("openai", "google"):
        with pytest.raises(Failure) as error:
            read(module_of(dialect), raw)
        assert "Error:" not in error.value.error


@pytest.mark.parametrize("raw", ["<html>Bad gateway</html>", '{"choices": []}', "data: [DONE]\n\n", "{}", ""])
@pytest.mark.parametrize("times", [1, 2, 4])
def test_unreadable_replies_that_pass_cost_no_call(serve: Any, tmp_path: Path, raw: str, times: int) -> None:
    clock, server = FakeClock(), serve(scripted([Fault("200", body=raw)] * times))
    assert len(ask(requests_to(at(server.url, "own"), 8), tmp_path, clock, concurrency=2)) == 8
    assert len(clock.slept) >= 8 * times, "each is waited for"


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        ("20", 20.0), ("0", 0.0), ("2.5", 2.5), (" 7 ", 7.0), ("20s", 20.0), ("1m30s", 90.0), ("1.5s", 1.5),
        ("250ms", 0.25), ("1m", 60.0), ("1m0.5s", 60.5), (formatdate(NOW + 30, usegmt=True), 30.0), ("-5", 0.0),
        (formatdate(NOW - 30, usegmt=True), 0.0), ("1h", POLICY.LONGEST_PAUSE), ("soon", POLICY.LONGEST_PAUSE), 
        ("500", POLICY.LONGEST_PAUSE),
    ],
)  # fmt: skip
def test_a_wait_is_read_in_every_form(after: str, seconds: float) -> None:
    assert retry_after({"retry-after": after}, "", NOW)[0] == seconds


BAD: dict[str, list[dict[str, Any]]] = SAID["bad"]


@pytest.mark.parametrize(("advice", "said"), [(advice, each) for advice in BAD for each in BAD[advice]])
def test_the_advice_after_a_bad_request(serve: Any, tmp_path: Path, advice: str, said: dict[str, Any]) -> None:
    server = serve(only(Fault("400", body=json.dumps({"error": said}))))
    told = missing(requests_to(at(server.url, "own"), 5), tmp_path)
    assert len(server.calls) == 3 and advice in told and said["message"] in told
    assert sum(each in told for each in BAD) == 1


# --- transport --------------------------------------------------------------------------------------------------------


class Slow:
    """A provider that takes its time."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.at_once, self.most = seconds, 0, 0

    async def send(self, client: Any, request: Request) -> Any:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.at_once -= 1
        raise AssertionError("it was waited for to the end")


def test_a_call_ends_after_its_time_and_the_address_is_asked_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second from when it is sent: those that wait for a place lose nothing of their time."""
    slow, records = Slow(20.0), list[Completion]()
    model = replace(MODELS["own"], name="slow", timeout_seconds=0.2)
    monkeypatch.setattr(module_of("openai"), "send", slow.send)

    async def scene() -> tuple[list[Completion], float]:
        clock = FakeClock().clock()
        async with Session(lambda request: None, lambda request, reply: records.append(reply), 8, clock) as session:
            replies = await asyncio.gather(*map(session.complete, requests_to(model, 8)))
            return replies, session.pace(model).allowed

    replies, allowed = asyncio.run(scene())
    assert {reply.status for reply in replies} == {"maybe_billed"} and len(records) == 8 * 6
    assert all("no whole reply within 0.2 seconds" in reply.error for reply in replies)
    assert slow.most == 8 and allowed == 1.0


@pytest.mark.parametrize("fault", ["529", "503 that names it", "429", "500"])
def test_an_overload_halves_what_is_allowed_at_once_as_a_rate_limit_does(serve: Any, fault: str) -> None:
    """Whatever status says it; an error of another kind changes nothing."""
    named = Fault("503", body='{"error": {"type": "overloaded_error", "message": "busy"}}')
    model = at(serve(only(named if fault.startswith("503") else fault)).url, "own")

    async def scene() -> float:
        async with Session(lambda request: None, lambda request, reply: None, 8, FakeClock().clock()) as session:
            session.halted = lambda asked: "enough" if session.pace(asked).logs["requests"].total else None
            await asyncio.gather(*map(session.complete, requests_to(model, 1)), return_exceptions=True)
            return session.pace(model).allowed

    assert asyncio.run(scene()) == (8.0 if fault == "500" else 4.0)


@pytest.mark.parametrize(("own", "most"), [(3, 3), (None, 8), (20, 20)])
def test_models_at_one_address_have_each_its_calls(monkeypatch: pytest.MonkeyPatch, own: int | None, most: int) -> None:
    flying, highest = Counter[str](), Counter[str]()

    async def send(client: Any, request: Request) -> Sent:
        name = request.model.name
        flying[name] += 1
        highest[name] = max(highest[name], flying[name])
        await asyncio.sleep(0.02)
        flying[name] -= 1
        return Sent(body_of("openai"))

    monkeypatch.setattr(module_of("openai"), "send", send)
    model, other = (replace(MODELS["own"], name=name, model_id=name) for name in ("mine", "other"))
    model = replace(model, concurrency=own)

    async def scene() -> None:
        async with Session(lambda request: None, lambda request, reply: None, 8) as session:
            asked = [*requests_to(other, 60), *requests_to(model, 60)]
            await in_order(asked, session.complete, 8, session.answered, lambda: False)

    asyncio.run(scene())
    assert highest["mine"] == most and highest["other"] <= 8


@pytest.mark.parametrize(
    ("url", "key", "notes"),
    [
        ("http://api.example.com/v1", "MY_OWN_KEY", 1),
        ("http://93.184.216.34/v1", "MY_OWN_KEY", 1),
        ("http://api.example.com/v1", None, 0),
        ("https://api.example.com/v1", "MY_OWN_KEY", 0),
        ("http://127.0.0.1:8000/v1", "MY_OWN_KEY", 0),
        ("http://192.168.1.7:8000/v1", "MY_OWN_KEY", 0),
        ("http://gpu-box:8000/v1", "MY_OWN_KEY", 0),
        ("http://gpu.local:8000/v1", "MY_OWN_KEY", 0),
    ],
)
def test_a_key_over_plain_http_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, url: str, key: str | None, notes: int
) -> None:
    monkeypatch.setenv("MY_OWN_KEY", "of-nobody-0123456789")
    told: list[str] = []

    async def scene() -> None:
        async with Session(lambda request: None, lambda request, reply: None, tell=told.append) as session:
            for name in ("one", "two"):
                session.client(Model(name, "openai", name, "x", base_url=url, revision={}, api_key_env=key))

    asyncio.run(scene())
    assert len(told) == notes and all("unencrypted" in each and "MY_OWN_KEY" in each for each in told)


# --- what is read -----------------------------------------------------------------------------------------------------


def _openai(finish: Any = "stop", **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": "Fine.", "refusal": None} | message
    return {"id": "x", "model": "m-1", "choices": [{"index": 0, "message": said, "finish_reason": finish}]}


def _anthropic(stop: Any = "end_turn", *blocks: dict[str, Any]) -> dict[str, Any]:
    content = list(blocks or ({"type": "text", "text": "Fine."},))
    return {"id": "x", "model": "m-1", "content": content, "stop_reason": stop}


def _google(finish: Any = "STOP", *parts: dict[str, Any]) -> dict[str, Any]:
    candidate = {"content": {"parts": list(parts or ({"text": "Fine."},)), "role": "model"}, "finishReason": finish}
    return {"modelVersion": "m-1", "responseId": "r", "candidates": [candidate]}


def _read(module: Any, body: dict[str, Any]) -> Completion:
    return module.read(json.dumps(body))


def test_thoughts_are_not_part_of_the_text() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    blocks = (thinking, {"type": "text", "text": "A"}, {"type": "redacted_thinking"}, {"type": "text", "text": "B"})
    assert _read(anthropic, _anthropic("end_turn", *blocks)).text == "AB"
    parts = ({"text": "Hm.", "thought": True}, {"text": "A"}, {"inlineData": {}}, {"text": "B"})
    assert _read(google, _google("STOP", *parts)).text == "AB"
    assert _read(openai, _openai("stop", reasoning_content="Hm.")).text == "Fine."


def test_tokens_are_those_that_are_billed() -> None:
    counts = {"prompt_tokens": 100, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 60}}
    counts["completion_tokens_details"] = {"reasoning_tokens": 40}
    assert _read(openai, _openai() | {"usage": counts}).usage == Usage(input=100, output=50, reasoning=40, cached=60)
    counts = {"input_tokens": 30, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10, "output_tokens": 50}
    counts["output_tokens_details"] = {"thinking_tokens": 40}
    assert _read(anthropic, _anthropic() | {"usage": counts}).usage == Usage(100, 50, 40, 60, written=10)
    counts = {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 40}
    counts["cachedContentTokenCount"] = 60
    assert _read(google, _google() | {"usageMetadata": counts}).usage == Usage(100, 50, 40, 60)
    only_thoughts = _google("MAX_TOKENS") | {"usageMetadata": {"promptTokenCount": 1, "thoughtsTokenCount": 40}}
    assert _read(google, only_thoughts).usage.output == 40


@pytest.mark.parametrize(("module", "body"), [(openai, _openai()), (anthropic, _anthropic()), (google, _google())])
def test_what_a_server_does_not_count_is_unknown_and_not_zero(module: Any, body: Any) -> None:
    assert _read(module, body).usage == Usage(None, None, None, None)


@pytest.mark.parametrize(
    ("module", "body", "usage"),
    [
        *(
            (openai, _openai(7), {"usage": {"prompt_tokens": huge, "completion_tokens": 2**53 - 1}})
            for huge in (2**53, 2**63, 2**64, 10**400)
        ),
        (anthropic, _anthropic(7), {"usage": {"input_tokens": 10**400, "output_tokens": 2**53 - 1}}),
        (google, _google(7), {"usageMetadata": {"promptTokenCount": 2**53, "candidatesTokenCount": 2**53 - 1}}),
    ],
)
def test_an_odd_word_for_the_end_and_a_count_that_no_file_holds_are_unknown(module: Any, body: Any, usage: Any) -> None:
    reply = read(module, json.dumps(body | usage))
    assert (reply.finish, reply.text) == ("unknown", "Fine."), "and not None, which is a normal end"
    assert (reply.usage.input, reply.usage.output) == (None, 2**53 - 1)


@pytest.mark.parametrize("finish", [7, True, 1.5])
def test_what_a_server_says_oddly_is_a_whole_line_and_counts_at_its_worst(tmp_path: Path, finish: Any) -> None:
    usage = {"prompt_tokens": 2**53, "completion_tokens": 1}
    with answering(json.dumps(_openai(finish) | {"usage": usage})) as url:
        model = replace(at(url, "own"), price=Price(1.0, 2.0))
        [request], budget = requests_to(model, 1), Budget(1.0)
        [returned] = ask([request], tmp_path, budget=budget).values()
    path = store.file_of(tmp_path, model.name)
    [reply] = store.read(path).values()
    assert store.verify(path).odd == () and replace(reply, raw="") == returned and reply.key == request.key
    assert reply.finish == "unknown" and json.loads(reply.raw)["choices"][0]["finish_reason"] == finish
    assert budget.spent == pytest.approx(worst_case(request)), "nobody can tell what it cost"
    store.export(tmp_path, tmp_path.parent / "out.jsonl", force=True)


#: The same token with its alternative, as each dialect tells it; one server ends its lines, another puts no blanks.
ONE_TOKEN = {"token": "1", "logprob": -0.25, "top_logprobs": [{"token": "2", "logprob": -1.5}]}
PARALLEL = {"tokens": ["1"], "token_logprobs": [-0.25], "top_logprobs": [{"2": -1.5}]}
CHOSEN = {"token": "1", "logProbability": -0.25}
RESULT = {
    "chosenCandidates": [CHOSEN],
    "topCandidates": [{"candidates": [CHOSEN, {"token": "2", "logProbability": -1.5}]}],
}


#: The three bodies with log-probabilities that are read.
WEIGHED = [
    (_openai(), "choices", "logprobs", {"content": [ONE_TOKEN]}),
    (_openai(), "choices", "logprobs", PARALLEL),
    (_google(), "candidates", "logprobsResult", RESULT),
]


def _raw(body: dict[str, Any], where: str, name: str, told: Any, **layout: Any) -> str:
    return json.dumps({**body, where: [{**body[where][0], name: told}]}, **layout)


def _tokens(raw: str) -> Any:
    return tokens_of(Completion("k", "ok", raw=raw))


@pytest.mark.parametrize("layout", [{}, {"indent": 1}, {"separators": (",", ":")}], ids=["usual", "lines", "dense"])
@pytest.mark.parametrize(("body", "where", "name", "told"), WEIGHED)
def test_log_probabilities_of_each_dialect(body: Any, where: str, name: str, told: Any, layout: dict[str, Any]) -> None:
    raw = _raw(body, where, name, told, **layout)
    assert _tokens(raw) == [("1", {"1": -0.25, "2": -1.5})]
    # Of what cannot be a log-probability of minus infinity is told.
    for said, heard in (("-Infinity", -math.inf), ("-1e999", -math.inf), ("-2", -2)):
        assert _tokens(raw.replace("-1.5", said)) == [("1", {"1": -0.25, "2": heard})]


@pytest.mark.parametrize(("body", "where", "name", "told"), WEIGHED)
def test_a_reply_with_odd_log_probabilities_has_none(body: Any, where: str, name: str, told: Any) -> None:
    for odd in ('"x"', "null", "true", "NaN", "Infinity", "[]", "{}", "-1" + "0" * 400):
        assert _tokens(_raw(body, where, name, told).replace("-1.5", odd)) == []


@pytest.mark.parametrize("odd", ["5", "null", "true", "[]", "{}"])
def test_a_token_that_is_no_text_makes_a_reply_one_without_tokens(odd: str) -> None:
    for place in ('"1"', '"2"'):
        raw = _raw(_openai(), "choices", "logprobs", {"content": [ONE_TOKEN]})
        assert f'"token": {place}' in raw
        assert _tokens(raw.replace(f'"token": {place}', f'"token": {odd}')) == []


def test_a_body_that_tells_none_has_no_tokens() -> None:
    assert _tokens(_raw(_openai(), "choices", "logprobs", None)) == []
    assert _tokens(json.dumps(_openai(content="no logprobs: none"))) == []
    assert _tokens(_raw(_google(), "candidates", "avgLogprobs", -0.1)) == []
    assert _tokens(json.dumps(_anthropic())) == []


@pytest.mark.parametrize(
    "body",
    [
        *('{"a": [NaN, -Infinity, 1e999]}', '"\\ud800 \\ud83d\\ude00"', '{"a": 1, "a": 2}'),
        *(' \n{"a": 1.0, "b": -0.0}\t', '"\ud800"'),
    ],
)
def test_an_odd_body_is_read_as_the_standard_library_reads_it(body: str) -> None:
    assert repr(json_text.loads(body)) == repr(json.loads(body))


@pytest.mark.parametrize("body", ["", "{", "[1,]", '"\x01"', "\ufeff{}", "{'a': 1}", "01", '"\\x"', "[" * 100_000])
def test_what_is_no_json_is_refused_in_the_words_of_the_standard_library(body: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as theirs:
        json.loads(body)
    with pytest.raises(theirs.type) as ours:
        json_text.loads(body)
    assert str(ours.value) == str(theirs.value)
