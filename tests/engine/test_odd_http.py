"""Servers whose HTTP is odd: bodies of any form, encoding and length, and redirects, which nobody follows."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import httpx2
import pytest

from helpers import store
from helpers.config.models import model_of
from helpers.judge import Budget
from helpers.providers import anthropic, google, meanings, openai
from helpers.providers.transport import Sent, post
from helpers.types import Price, Request
from tests.engine.asking import EVERY, MODELS, PROVIDERS as KINDS, addressed, ask, at, missing, requests_to
from tests.engine.traces import attempts, everything, statuses, without_keys
from tests.engine.virtual import FakeClock
from tests.servers.answering import answering, body_of
from tests.servers.behaviours import Behaviour, Call, Fault, Reply, only, polite
from tests.servers.providers import JudgeServer

MB = 2**20
#: How a body is sent: the headers that say so, and what becomes of it.
PACKED: dict[str, tuple[dict[str, str], Callable[[bytes], bytes]]] = {
    "plain": ({}, bytes),
    "gzip": ({"Content-Encoding": "gzip"}, gzip.compress),
    "deflate": ({"Content-Encoding": "deflate"}, zlib.compress),
    "twice": ({"Content-Encoding": "gzip, gzip"}, lambda body: gzip.compress(gzip.compress(body))),
    "html": ({"Content-Type": "text/html"}, bytes),
}


def one_reply(folder: Path, url: str, kind: str) -> str:
    (reply,) = ask(requests_to(addressed(url, kind), 1), folder).values()
    return reply.text


def lost(folder: Path, url: str, kind: str, told: str = "1 of 1", number: int = 1) -> list[str]:
    """The statuses of calls that come to nothing."""
    model = addressed(url, kind)
    missing(requests_to(model, number), folder, told)
    return statuses(folder, model)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("letters", ["caf\xe9", "\xe6\x9c\x8d", "\xff"])
def test_headers_in_any_letters_cost_no_reply(tmp_path: Path, kind: str, letters: str) -> None:
    names = ("X-Served-By", "Retry-After", "x-request-id", "request-id", "Content-Type")
    with answering(body_of(kind, "A"), headers=dict.fromkeys(names, letters)) as url:
        assert one_reply(tmp_path, url, kind) == "A"


UNREADABLE = ["bad_envelope"] * 6
BLANKS = zlib.compress(b" " * (20 * MB))
NO_TEXT = [b"[" * 60_000, b"9" * 6_000, b'{"error": "\xff\xe9"}', b"\xff\xfe{\x00\x00", b"\x00"]
NOWHERE = ["http://[", "http://[::1", "http://caf\xe9/", "\xff", "http://h:99999/"]
#: How a server answers all calls, what is said of it, and what each attempt counts as.
ODD: list[tuple[dict[str, Any], str, list[str]]] = [
    *(({"status": status, "reason": "caf\xe9"}, "1 of 1", UNREADABLE) for status in (200, 500)),
    ({"body": BLANKS, "headers": {"Content-Type": "application/json; charset=zlib"}}, "1 of 1", UNREADABLE),
    *(({"body": body, "status": 403}, "1 of 1", ["forbidden"]) for body in NO_TEXT),
    *(({"body": body, "status": 503}, "1 of 1", ["provider_error"] * 6) for body in NO_TEXT),
    *(
        ({"body": "", "status": status, "headers": {"Location": to}}, f"HTTP {status}, a redirect to ", ["redirect"])
        for status in (300, 302, 307)
        for to in NOWHERE
    ),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("how", "told", "meant"), ODD, ids=range(len(ODD)))
def test_the_oddest_answer_counts_as_what_it_is(
    tmp_path: Path, kind: str, how: dict[str, Any], told: str, meant: list[str]
) -> None:
    """Status lines that are no text, character sets that unpack, bodies and redirects of any bytes."""
    with answering(**{"body": body_of(kind, "A"), **how}) as url:
        assert lost(tmp_path, url, kind, told, number=2 if meant == ["redirect"] else 1) == meant


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("charset", ["hex", "zlib", "rot13", "undefined", "idna", "punycode", "utf-16", "utf-7", "x"])
def test_a_character_set_that_is_none_for_texts_is_not_obeyed(tmp_path: Path, kind: str, charset: str) -> None:
    said = {"Content-Type": f"application/json; charset={charset}"}
    with answering(body_of(kind, "A"), headers=said) as url:
        assert one_reply(tmp_path, url, kind) == "A"
    with answering("later", status=503, headers=said) as url:
        assert lost(tmp_path / "errors", url, kind, "provider_error") == ["provider_error"] * 6


# --- replies that are too large ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("packed", "unit"), [*((packed, b"\0") for packed in PACKED), *(("gzip", unit) for unit in (b" ", b'{"a":', b"ab"))]
)
def test_a_body_of_more_than_16_mb_is_not_read_to_its_end(tmp_path: Path, kind: str, packed: str, unit: bytes) -> None:
    headers, pack = PACKED[packed]
    with answering(pack(unit * (17 * MB // len(unit))), headers=headers) as url:
        model = addressed(url, kind)
        missing(requests_to(model, 1), tmp_path, r"1 x too_large \(more than 16 MB came for one reply")
    lines = attempts(tmp_path, model)
    assert [line["status"] for line in lines] == ["too_large"] * 2
    assert all(line["reply"]["maybe_billed"] for line in lines), "a reply that came was perhaps paid for"
    assert len(everything(tmp_path)) < 10_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_without_end_is_given_up(tmp_path: Path, kind: str) -> None:
    sent = []

    def endless() -> Iterator[bytes]:
        for _ in range(400):  # bounded: 400 MB, should nobody hang up
            sent.append(MB)
            yield b" " * MB

    with answering(endless) as url:
        missing(requests_to(addressed(url, kind), 1), tmp_path, "too_large")
    assert len(sent) < 2 * 100, "the connection was closed long before the end"
    assert len(everything(tmp_path)) < 10_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [404, 503])
def test_of_a_huge_error_page_the_beginning_is_kept(tmp_path: Path, kind: str, status: int) -> None:
    page = b"<html>Something went wrong. " + b"x" * (17 * MB)
    with answering(page, status=status, headers={"Content-Type": "text/html"}) as url:
        model = addressed(url, kind)
        missing(requests_to(model, 1), tmp_path)
    lines = attempts(tmp_path, model)
    assert all(line["raw"].startswith("<html>Something went wrong.") for line in lines)
    assert all(len(line["raw"]) <= meanings.POLICY.MOST_KEPT for line in lines)
    assert not any(line["reply"]["maybe_billed"] for line in lines)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packed", ["plain", "gzip", "deflate", "twice"])
def test_a_large_reply_below_the_limit_is_read_whole(tmp_path: Path, kind: str, packed: str) -> None:
    text = "word " * (MB // 5)
    headers, pack = PACKED[packed]
    with answering(pack(body_of(kind, text).encode()), headers=headers) as url:
        assert one_reply(tmp_path, url, kind) == text


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_body_that_is_no_reply_the_beginning_is_kept(tmp_path: Path, kind: str) -> None:
    with answering(gzip.compress(b"\0" * (3 * MB)), headers={"Content-Encoding": "gzip"}) as url:
        model = addressed(url, kind)
        missing(requests_to(model, 1), tmp_path, "1 of 1")
    assert [len(line["raw"]) for line in attempts(tmp_path, model)] == [meanings.POLICY.MOST_KEPT] * 6
    assert len(everything(tmp_path)) < 6 * MB


@pytest.mark.parametrize("kind", KINDS)
def test_replies_that_are_too_large_stay_within_the_budget(tmp_path: Path, kind: str) -> None:
    budget = Budget(0.05, planned=True)
    with answering(b" " * (17 * MB)) as url:
        model = addressed(url, kind, price=Price(1, 4), max_tokens=1000)
        missing(requests_to(model, 50), tmp_path, "budget_usd", budget=budget)
    assert store.read(store.file_of(tmp_path, model.name)) == {} and 0.04 < budget.spent <= 0.05


# --- bodies -----------------------------------------------------------------------------------------------------------

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
    ("kind", "body", "raw"),
    [
        (None, SAID.encode(), SAID),
        ("application/json", SAID.encode(), SAID),
        ("application/json; charset=utf-8", SAID.encode(), SAID),
        ("application/json; Charset=UTF-8", SAID.encode(), SAID),
        ("text/plain", SAID.encode(), SAID),
        ("application/json; charset=utf-8-sig", SAID.encode("utf-8-sig"), SAID),  # its mark is no part of the text
        ("application/json; charset=ISO-8859-1", "caf\u00e9".encode("latin-1"), "caf\u00e9"),
        ("application/json", b'{"a": "\xff"}', '{"a": "\N{REPLACEMENT CHARACTER}"}'),
    ],
)
def test_a_body_is_utf_8_unless_it_names_another_set(kind: str | None, body: bytes, raw: str) -> None:
    assert sent(kind, body)[0].raw == raw


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


# --- redirects --------------------------------------------------------------------------------------------------------

#: What an entry of models.yaml needs beside the base_url that an error names.
ENTRY = {"model_id": "m", "vendor": "v", "revision": {"weights": "main", "quantization": "none", "template": "default"}}
REDIRECTS = ("301", "302", "303", "307", "308")


def redirect(status: str, target: str) -> Fault:
    return Fault(status, headers={"Location": target})


@pytest.fixture
def pair(serve: Any) -> Callable[[Callable[[str], Behaviour]], tuple[JudgeServer, JudgeServer]]:
    """Starts a server that knows the address of another one, and that other, which no environment variable names."""

    def start(behaviour: Callable[[str], Behaviour]) -> tuple[JudgeServer, JudgeServer]:
        other = serve(polite)
        return serve(behaviour(other.url)), other

    return start


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("status", REDIRECTS)
def test_no_redirect_to_another_host_is_followed(pair: Any, tmp_path: Path, status: str, kind: str) -> None:
    paths = {"anthropic": "/v1/messages", "google": "/v1beta/models/gemini-2.5-flash:generateContent"}
    path = paths.get(kind, "/v1/chat/completions")
    server, other = pair(lambda url: only(redirect(status, url + path)))
    model, clock = at(server.url, kind), FakeClock()
    said = missing(requests_to(model, 4), tmp_path, None, clock)
    assert other.calls == [] and len(server.calls) == 1 and clock.slept == []
    assert f"HTTP {status}, a redirect to {other.url}{path}" in said and "params" not in said
    base = other.url + "/v1" * path.endswith("/chat/completions")
    assert f"write {base} as `base_url`" in said
    assert model_of("judge", {**ENTRY, "provider": model.provider, "base_url": base}, "here").base_url == base
    assert statuses(tmp_path, model) == ["redirect"]
    assert not attempts(tmp_path, model)[0]["reply"]["maybe_billed"]
    assert without_keys(said, server.env()) and without_keys(everything(tmp_path), server.env())
    server.behaviour = polite
    assert len(ask(requests_to(model, 4), tmp_path)) == 4, "the next run asks again"


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("/v2/chat/completions", "{url}/v2/chat/completions"),
        ("//127.0.0.2:9/x", "http://127.0.0.2:9/x"),
        ("https://127.0.0.1:9/v1", "https://127.0.0.1:9/v1"),
        ("?page=2", "?page=2"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("", "a redirect to "),
        (None, "a redirect to no address"),
    ],
)
@pytest.mark.parametrize("body", [None, body_of("openai")], ids=["", "of a reply"])
def test_a_redirect_names_its_target(
    serve: Any, tmp_path: Path, kind: str, target: str | None, named: str, body: str | None
) -> None:
    server = serve(only(Fault("307", body=body, headers={} if target is None else {"Location": target})))
    model = at(server.url, kind)
    assert named.format(url=server.url) in missing(requests_to(model, 2), tmp_path) and len(server.calls) == 1
    assert statuses(tmp_path, model) == ["redirect"]


@pytest.mark.parametrize(
    ("target", "base"),
    [
        ("https://api.x.com/openai/v1/chat/completions/?from=old#top", "https://api.x.com/openai/v1"),
        ("https://me:password@api.x.com:8443/v1/chat/completions", "https://api.x.com:8443/v1"),
        ("/v2/chat/completions", "{url}/v2"),
        ("/v1/chat/completions/", None),  # to the same base
        ("https://login.x.com/?next=/v1/chat/completions", None),
        ("https://api.x.com/{key}/v1/chat/completions", None),
        ("ftp://api.x.com/v1/chat/completions", None),
        ("https://[api/v1/chat/completions", None),
    ],
)
def test_the_base_url_to_write_leads_to_the_target(serve: Any, tmp_path: Path, target: str, base: str | None) -> None:
    server = serve(polite)
    key = server.env()["OPENAI_API_KEY"]
    server.behaviour = only(redirect("308", target.format(url=server.url, key=key)))
    said = missing(requests_to(at(server.url, "own"), 1), tmp_path)
    own = "write that address, without the path that the SDK adds, as `base_url`"
    assert (f"write {base.format(url=server.url)} as `base_url`" if base else own) in said
    assert key not in said and key.encode() not in everything(tmp_path)


@pytest.mark.parametrize("status", ["300", "304"])
def test_what_is_neither_reply_nor_error_stops_the_address(serve: Any, tmp_path: Path, status: str) -> None:
    server = serve(only(status))
    models = [at(server.url, kind) for kind in EVERY]
    missing([request for model in models for request in requests_to(model, 3)], tmp_path, f"HTTP {status}")
    assert [statuses(tmp_path, model) for model in models] == [["redirect"]] * 4


def test_a_key_in_the_address_of_a_redirect_is_struck_out(serve: Any, tmp_path: Path) -> None:
    server = serve(polite)
    key = server.env()["OPENAI_API_KEY"]
    server.behaviour = only(redirect("302", f"http://127.0.0.1:9/?key={key}"))
    struck = r"a redirect to http://127\.0\.0\.1:9/\?key=\[OPENAI_API_KEY\]"
    said = missing(requests_to(MODELS["openai"], 1), tmp_path, struck)
    assert key not in said and key.encode() not in everything(tmp_path)


@pytest.mark.parametrize("kind", EVERY)
def test_a_server_that_begins_to_redirect_loses_nothing_that_came(pair: Any, tmp_path: Path, kind: str) -> None:
    def later(url: str) -> Behaviour:
        def behave(call: Call) -> Reply | Fault:
            return redirect("308", f"{url}/v1/chat/completions") if call.n >= 5 else polite(call)

        return behave

    server, other = pair(later)
    model = at(server.url, kind)
    missing(requests_to(model, 10), tmp_path, "5 of 10 replies are still missing", concurrency=1)
    assert other.calls == [] and statuses(tmp_path, model) == ["ok"] * 5 + ["redirect"]


def test_a_server_of_a_fleet_that_redirects_is_left_and_no_call_is_lost(serve: Any, tmp_path: Path) -> None:
    other, good = serve(polite), serve(polite)
    bad = serve(only(redirect("307", f"{other.url}/v1/chat/completions")))
    urls = (f"{bad.url}/v1", f"{good.url}/v1")
    model = replace(MODELS["own"], base_url=urls[0], servers=urls)
    assert len(ask(requests_to(model, 20), tmp_path)) == 20
    assert other.calls == [] and len(bad.calls) == 1 and len(good.calls) == 20
