"""The text of a body that a server sent, through the real SDK: UTF-8 unless it says another character set."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import aiohttp
import httpx2
import pytest

from helpers.providers import anthropic, google, openai
from helpers.providers.transport import Sent, post
from helpers.types import Request
from tests.engine.asking import MODELS

SAID = '{"text": "caf\u00e9 \u5224"}'


def sent(kind: str | None, body: bytes) -> tuple[Sent, httpx2.Request]:
    """What comes of a body that is sent as this kind, and what was asked."""
    from openai import AsyncOpenAI

    asked = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(200, content=body, headers={"Content-Type": kind} if kind else {})

    async def call() -> Sent:
        lines = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        sdk = AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9/v1", max_retries=0, http_client=lines)
        return await post(sdk, "/chat/completions", {"model": "m"})

    return asyncio.run(call()), asked[0]


@pytest.mark.parametrize(
    "kind",
    [None, "application/json", "application/json; charset=utf-8", "application/json; Charset=UTF-8", "text/plain"],
)
def test_a_body_is_utf_8(kind: str | None) -> None:
    assert sent(kind, SAID.encode())[0].raw == SAID


def test_another_character_set_is_obeyed() -> None:
    marked = "application/json; charset=utf-8-sig"
    assert sent(marked, SAID.encode("utf-8-sig"))[0].raw == SAID, "its mark is no part of the text"
    assert sent("application/json; charset=ISO-8859-1", "caf\u00e9".encode("latin-1"))[0].raw == "caf\u00e9"


def test_bytes_that_are_no_text_are_kept_as_far_as_they_are() -> None:
    assert sent("application/json", b'{"a": "\xff"}')[0].raw == '{"a": "\N{REPLACEMENT CHARACTER}"}'


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Request], httpx2.Request]:
    """The one request over the wire that a call of a provider makes."""

    def call(kind: str, request: Request) -> httpx2.Request:
        asked: list[httpx2.Request] = []

        async def send(self: httpx2.AsyncClient, request: httpx2.Request, **_: Any) -> httpx2.Response:
            asked.append(request)
            return httpx2.Response(200, content=b"{}", request=request)

        async def scene() -> None:
            client = MODULES[kind].client(request.model, "none")
            try:
                await MODULES[kind].send(client, request)
            finally:
                await client.close()

        monkeypatch.setattr(httpx2.AsyncClient, "send", send)
        asyncio.run(scene())
        [sent] = asked
        return sent

    return call


MODULES = {"openai": openai, "anthropic": anthropic}


@pytest.mark.parametrize("base", ["http://h/v1", "http://h/v1/", "http://h/v1#", "http://h/a%2Fb"])
@pytest.mark.parametrize("kind", MODULES)
def test_a_call_goes_to_the_path_below_its_base(called: Any, kind: str, base: str) -> None:
    sent = called(kind, Request(replace(MODELS["own"], base_url=base), "Who?"))
    path = {"openai": "/chat/completions", "anthropic": "/v1/messages"}[kind]
    assert sent.url.raw_path.decode() == f"/{base[9:].rstrip('/#')}{path}"


@pytest.mark.parametrize("kind", MODULES)
def test_a_call_goes_where_the_sdk_sends_it_and_tells_nothing_of_the_machine(called: Any, kind: str) -> None:
    """The SDK's own address, headers and limits of time; only what it says of the machine that asks is left out."""
    request = called(kind, Request(replace(MODELS[kind], base_url=None), "Who?", "You judge."))
    told, body = dict(request.headers), json.loads(request.content)
    path = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}[kind]
    assert str(request.url) == f"https://api.{kind}.com{path}" and request.method == "POST"
    assert body["model"] == MODELS[kind].model_id and body["messages"][-1] == {"role": "user", "content": "Who?"}
    assert request.extensions["timeout"]["connect"] == 10.0
    machine = ("lang", "package-version", "os", "arch", "runtime", "runtime-version", "async")
    assert not {f"x-stainless-{name}" for name in machine} & {*told}
    assert told["content-type"] == "application/json"
    assert "none" in f"{told.get('authorization')} {told.get('x-api-key')}"


#: Settings of a model in both spellings, flat and nested, of every kind of value.
PLAIN = {"temperature": 0.5, "thinking_config": {"thinking_budget": 128}}
RICH = {
    "topP": 0.9,
    "stop_sequences": ["END"],
    "seed": 7,
    "response_logprobs": True,
    "safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    "tools": [{"google_search": {}}],
    "labels": None,
}


@pytest.mark.parametrize("params", [PLAIN, RICH])
@pytest.mark.parametrize("system", ["", "You judge."])
@pytest.mark.parametrize("schema", [None, {"type": "object", "properties": {"id": {"type": "string"}}}])
def test_google_is_sent_what_its_sdk_would_make_of_a_mapping(
    params: dict[str, Any], system: str, schema: dict[str, Any] | None, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same address, headers and body as of the SDK's own call with a text and a mapping of settings.

    System text and schema stand elsewhere in the body. The schema is not written into.
    """
    serve()
    before = json.dumps(schema)
    model = replace(MODELS["google"], params=params)
    settings = {"max_output_tokens": model.max_tokens, **params, "should_return_http_response": True}
    settings |= {"system_instruction": system} if system else {}
    settings |= {"response_mime_type": "application/json", "response_json_schema": schema} if schema else {}
    asked: list[tuple[Any, ...]] = []
    real = aiohttp.ClientSession._request

    async def request(self: aiohttp.ClientSession, method: str, url: Any, **more: Any) -> Any:
        asked.append((method, str(url), dict(more["headers"]), more["data"]))
        return await real(self, method, url, **more)

    monkeypatch.setattr(aiohttp.ClientSession, "_request", request)

    async def both() -> None:
        client = google.client(model, "none")
        try:
            await google.send(client, Request(model, "Who?", system, schema))
            await client.sdk.aio.models.generate_content(model=model.model_id, contents="Who?", config=settings)
        finally:
            await client.close()

    asyncio.run(both())
    (*ours, said), (*plain, its) = asked
    assert ours == plain and json.loads(said) == json.loads(its) and (said == its or system or schema)
    assert json.dumps(schema) == before
    body = json.loads(said)
    settled = body["generationConfig"]
    assert body["contents"] == [{"parts": [{"text": "Who?"}], "role": "user"}]
    assert ("systemInstruction" in body, "responseJsonSchema" in settled) == (bool(system), bool(schema))
    assert settled["maxOutputTokens"] == model.max_tokens
    assert ("thinkingConfig" if params is PLAIN else "stopSequences") in settled
