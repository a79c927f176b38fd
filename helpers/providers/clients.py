"""How the SDKs of OpenAI and Anthropic, which are built alike, are set up and called: once, for both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from helpers.json_bytes import dumps
from helpers.providers.envelopes import CONNECT_SECONDS, TIMEOUT_SECONDS, Sent
from helpers.types import Model

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


def options(model: Model, key: str | None, transport: Callable[..., Any], omit: Any) -> dict[str, Any]:
    """What the SDK's client is made with: its aiohttp transport, our limits of time, its own retries off.

    `omit` is the SDK's word for a header that is not sent.
    """
    from httpx2 import Timeout

    timeout = Timeout(TIMEOUT_SECONDS, connect=CONNECT_SECONDS)
    return {
        "api_key": key,
        "base_url": model.base_url,
        "max_retries": 0,
        "timeout": timeout,
        "http_client": transport(timeout=timeout),
        "default_headers": dict.fromkeys(MACHINE, omit),
    }
