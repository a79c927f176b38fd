"""How the SDKs are set up and called: one HTTP client for all, and one call for those that are built alike."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from typing import Any

from helpers.json_text import dumps
from helpers.providers.envelopes import CONNECT_SECONDS, MOST_BYTES, MOST_ERROR_BYTES, TIMEOUT_SECONDS, Sent
from helpers.providers.failures import Failure
from helpers.types import Model

#: Headers that describe the body as it was sent, before it was decoded.
OF_THE_WIRE = {b"content-encoding", b"content-length", b"transfer-encoding"}
#: Character sets that a reply may name. Python's other codecs decompress without a limit, take quadratic time or raise:
#: a reply that names one of them is read as UTF-8.
CHARACTER_SETS = re.compile(
    r"utf[-_]?8(?:[-_]sig)?|(?:us-)?ascii|latin[-_]?1|iso[-_]?8859-\d+|(?:cp|windows-)?125\d|koi8-[ru]|big5|gb\w+|euc-\w+|shift_jis",
    re.IGNORECASE,
)

#: Headers in which the SDKs tell of the machine that asks: nobody needs to know, and each costs time in every call.
MACHINE = (
    *("X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-OS", "X-Stainless-Arch"),
    *("X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Async"),
)


@dataclass(frozen=True)
class Client:
    """The SDK's client, the whole address of the one thing that it is asked, and the options of each call."""

    sdk: Any
    url: str
    options: Mapping[str, Any]


def opened(sdk: Any, path: str, **options: Any) -> Client:
    """A client that asks for `path`; its address is worked out here and not at each call.

    `options` are those of the SDK beside the common ones: one that is not given is copied from its default at each
    call, which takes as long as sending it.
    """
    base = sdk.base_url  # which ends in "/"
    url = str(base.copy_with(raw_path=base.raw_path + path.encode()))
    common = {"headers": {}, "params": {}, "max_retries": sdk.max_retries, "timeout": sdk.timeout}
    return Client(sdk, url, {**common, **options})


async def post(client: Client, body: Mapping[str, Any], request_id: str) -> Sent:
    """One call with the SDK's own `post`; `request_id` is the name of its header. The body is kept as it came."""
    from httpx2 import Response

    response = await client.sdk.post(client.url, cast_to=Response, content=dumps(body), options=client.options)
    headers = dict(response.headers.items())
    said = headers.get("content-type", "").lower()
    # Bodies are UTF-8 unless they name a character set, which takes the longer way.
    text = response.text if "charset" in said else response.content.decode(errors="replace")
    return Sent(text, headers.get(request_id), headers)


def options(model: Model, key: str | None, omit: Any) -> dict[str, Any]:
    """What the SDK's client is made with: our HTTP client and limits of time, its own retries off.

    `omit` is the SDK's word for a header that is not sent.
    """
    lines = http_client()
    return {
        "api_key": key,
        "base_url": model.base_url,
        "max_retries": 0,
        "timeout": lines.timeout,
        "http_client": lines,
        "default_headers": dict.fromkeys(MACHINE, omit),
    }


def http_client() -> Any:
    """An HTTP client for one SDK: it follows no redirect, and stops reading at the limits above."""
    from httpx2 import Timeout

    return _client_class()(timeout=Timeout(TIMEOUT_SECONDS, connect=CONNECT_SECONDS))


@cache
def _client_class() -> Any:
    """A class over OpenAI's aiohttp transport, made when the first client is: importing the SDK takes a while."""
    from httpx2 import Response
    from openai import DefaultAioHttpClient

    class Reply(Response):
        def json(self, **options: Any) -> Any:
            try:
                return super().json(**options)
            except (ValueError, RecursionError) as error:  # google-genai handles JSONDecodeError only
                raise json.JSONDecodeError(str(error), "", 0) from None

    class Lines(DefaultAioHttpClient):
        async def send(self, request: Any, **options: Any) -> Any:
            """Send a request as the SDK made it, except for timeouts and redirects, and read the whole reply."""
            request.extensions["timeout"] = self.timeout.as_dict()  # google-genai bounds no wait for a connection
            try:
                came = await super().send(request, **{**options, "stream": True, "follow_redirects": False})
            except UnicodeError as error:  # the status line is not text
                raise Failure("bad_envelope", f"a reply that is not HTTP: {error}") from None
            headers = [(name, value) for name, value in came.headers.raw if name.lower() not in OF_THE_WIRE]
            whole = {"content": await _read_bounded(came), "request": request, "extensions": came.extensions}
            reply = Reply(came.status_code, headers=headers, **whole)
            if not CHARACTER_SETS.fullmatch(reply.charset_encoding or "utf-8"):
                reply.encoding = "utf-8"
            return reply

    return Lines


async def _read_bounded(came: Any) -> bytes:
    """The decoded body of a reply; Failure (`too_large`) where a success has more than MOST_BYTES."""
    most = MOST_BYTES if came.is_success else MOST_ERROR_BYTES
    body = bytearray()
    try:
        async with aclosing(came.aiter_bytes()) as parts:
            async for part in parts:
                body += part
                if len(body) > most:
                    break
    finally:
        await came.aclose()
    if came.is_success and len(body) > most:
        raise Failure("too_large", f"more than {most / 2**20:g} MB came for one reply; the rest was not read")
    return bytes(body[:most])
