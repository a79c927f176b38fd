"""The text of a body that a server sent, through the real SDK: UTF-8 unless it says another character set."""

from __future__ import annotations

import asyncio

import httpx2
import pytest

from helpers.providers.clients import opened, post
from helpers.providers.envelopes import Sent

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
        return await post(opened(sdk, "chat/completions"), {"model": "m"}, "x-request-id")

    return asyncio.run(call()), asked[0]


@pytest.mark.parametrize(
    "kind", [None, "application/json", "application/json; charset=utf-8", "application/json; Charset=UTF-8"]
)
def test_a_body_is_utf_8(kind: str | None) -> None:
    assert sent(kind, SAID.encode())[0].raw == SAID


def test_another_character_set_is_obeyed() -> None:
    assert sent("application/json; charset=ISO-8859-1", "caf\u00e9".encode("latin-1"))[0].raw == "caf\u00e9"


def test_bytes_that_are_no_text_are_kept_as_far_as_they_are() -> None:
    assert sent("application/json", b'{"a": "\xff"}')[0].raw == '{"a": "\N{REPLACEMENT CHARACTER}"}'


def test_options_that_are_given_once_are_those_that_the_sdk_would_take_itself() -> None:
    """The same headers, query and limits of time as a call without options."""
    from openai import AsyncOpenAI

    async def plain(answers: list[httpx2.Request]) -> None:
        def answer(request: httpx2.Request) -> httpx2.Response:
            answers.append(request)
            return httpx2.Response(200, content=b"{}")

        lines = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        sdk = AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9/v1", max_retries=0, http_client=lines)
        await sdk.post("/chat/completions", cast_to=httpx2.Response, content=b'{"model":"m"}')

    answers: list[httpx2.Request] = []
    asyncio.run(plain(answers))
    ours = sent("application/json", b"{}")[1]
    assert (str(ours.url), ours.content) == (str(answers[0].url), answers[0].content)
    assert dict(ours.headers) == dict(answers[0].headers) and ours.extensions == answers[0].extensions
