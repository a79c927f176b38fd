"""What is read from the response bodies: text, ending and tokens; thoughts are never part of the text."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import json_text, store
from helpers.judge import Budget
from helpers.judge.budget import worst_case
from helpers.providers import anthropic, google, openai
from helpers.providers.transport import read, tokens_of
from helpers.types import Completion, Model, Price, Usage
from tests.engine.asking import answering, ask, at, requests_to


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
def test_what_a_server_says_oddly_is_a_whole_line_of_the_store_and_counts_at_its_worst(
    tmp_path: Path, finish: Any
) -> None:
    usage = {"prompt_tokens": 2**53, "completion_tokens": 1}
    with answering(json.dumps(_openai(finish) | {"usage": usage})) as url:
        model = replace(at(url, "own"), price=Price(1.0, 2.0))
        [request], budget = requests_to(model, 1), Budget(1.0)
        [returned] = ask([request], tmp_path, budget=budget).values()
    path = store.file_of(tmp_path, model.name)
    [reply] = store.read(path).values()
    assert store.verify(path).bad == () and replace(reply, raw="") == returned and reply.key == request.key
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


#: The three bodies with log-probabilities that are read, by provider.
WEIGHED = [
    ("openai", _openai(), "choices", "logprobs", {"content": [ONE_TOKEN]}),
    ("openai", _openai(), "choices", "logprobs", PARALLEL),
    ("google", _google(), "candidates", "logprobsResult", RESULT),
]


def _raw(body: dict[str, Any], where: str, name: str, told: Any, **layout: Any) -> str:
    return json.dumps({**body, where: [{**body[where][0], name: told}]}, **layout)


def _tokens(provider: str, raw: str) -> Any:
    return tokens_of(Model("m", provider, "m-1", "any"), Completion("k", "ok", raw=raw))


@pytest.mark.parametrize("layout", [{}, {"indent": 1}, {"separators": (",", ":")}], ids=["usual", "lines", "dense"])
@pytest.mark.parametrize(("provider", "body", "where", "name", "told"), WEIGHED)
def test_log_probabilities_are_read_in_each_dialect(
    provider: str, body: Any, where: str, name: str, told: Any, layout: dict[str, Any]
) -> None:
    raw = _raw(body, where, name, told, **layout)
    assert _tokens(provider, raw) == [("1", {"1": -0.25, "2": -1.5})]
    # Of what cannot be a log-probability of minus infinity is told.
    for said, heard in (("-Infinity", -math.inf), ("-1e999", -math.inf), ("-2", -2)):
        assert _tokens(provider, raw.replace("-1.5", said)) == [("1", {"1": -0.25, "2": heard})]


@pytest.mark.parametrize(("provider", "body", "where", "name", "told"), WEIGHED)
def test_a_log_probability_that_is_no_number_makes_a_reply_one_without_tokens(
    provider: str, body: Any, where: str, name: str, told: Any
) -> None:
    for odd in ('"x"', "null", "true", "NaN", "Infinity", "[]", "{}", "-1" + "0" * 400):
        assert _tokens(provider, _raw(body, where, name, told).replace("-1.5", odd)) == []


@pytest.mark.parametrize("odd", ["5", "null", "true", "[]", "{}"])
def test_a_token_that_is_no_text_makes_a_reply_one_without_tokens(odd: str) -> None:
    for place in ('"1"', '"2"'):
        raw = _raw(_openai(), "choices", "logprobs", {"content": [ONE_TOKEN]})
        assert f'"token": {place}' in raw
        assert _tokens("openai", raw.replace(f'"token": {place}', f'"token": {odd}')) == []


def test_a_body_that_tells_none_has_no_tokens() -> None:
    assert _tokens("openai", _raw(_openai(), "choices", "logprobs", None)) == []
    assert _tokens("openai", json.dumps(_openai(content="no logprobs: none"))) == []
    assert _tokens("google", _raw(_google(), "candidates", "avgLogprobs", -0.1)) == []
    assert _tokens("anthropic", json.dumps(_anthropic())) == []


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
