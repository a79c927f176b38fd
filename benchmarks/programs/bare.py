"""The public call of an SDK on the same transport in a bare loop: nothing is kept, read or told.

    python -m benchmarks.programs.bare openai --port 8000 --calls 200 2200 --prompts FILE

calls as the SDK's documentation does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.programs.asked import KEY, chat, check, measured, of_file, replies

#: One call of an SDK with the text of its reply, and what closes its connections.
Caller = tuple[Callable[[dict[str, Any]], Awaitable[str]], Callable[[], Awaitable[None]]]


def openai(port: int) -> Caller:
    """openai's own `post` on its aiohttp transport."""
    from httpx2 import Response
    from openai import AsyncOpenAI, DefaultAioHttpClient

    client = AsyncOpenAI(
        api_key=KEY, base_url=f"http://127.0.0.1:{port}/v1", max_retries=0, http_client=DefaultAioHttpClient()
    )

    async def call(line: dict[str, Any]) -> str:
        body = {"model": "bench-1", **chat(line)}
        return (await client.post("/chat/completions", cast_to=Response, body=body)).text

    return call, client.close


def anthropic(port: int) -> Caller:
    """anthropic's own `post` on its aiohttp transport."""
    from anthropic import AsyncAnthropic, DefaultAioHttpClient
    from httpx2 import Response

    client = AsyncAnthropic(
        api_key=KEY, base_url=f"http://127.0.0.1:{port}", max_retries=0, http_client=DefaultAioHttpClient()
    )

    async def call(line: dict[str, Any]) -> str:
        body = {
            "model": "bench-1",
            "system": line["system"],
            "messages": [{"role": "user", "content": line["prompt"]}],
            "max_tokens": 1024,
            "output_config": {"format": {"type": "json_schema", "schema": line["schema"]}},
        }
        return (await client.post("/v1/messages", cast_to=Response, body=body)).text

    return call, client.close


def google(port: int) -> Caller:
    """google-genai's `generate_content`, which speaks aiohttp where that is installed."""
    from aiohttp import ClientSession, TCPConnector
    from google import genai
    from google.genai import types

    lines = ClientSession(connector=TCPConnector(limit=0))
    options = {
        "base_url": f"http://127.0.0.1:{port}",
        "timeout": 600_000,
        "retry_options": {"attempts": 1},
        "aiohttp_client": lines,
    }
    client = genai.Client(api_key=KEY, http_options=options)

    async def call(line: dict[str, Any]) -> str:
        config = types.GenerateContentConfig(
            should_return_http_response=True,
            max_output_tokens=1024,
            system_instruction=line["system"],
            response_mime_type="application/json",
            response_json_schema=line["schema"],
        )
        reply = await client.aio.models.generate_content(model="bench-1", contents=line["prompt"], config=config)
        return reply.sdk_http_response.body

    async def close() -> None:
        await client.aio.aclose()
        await lines.close()

    return call, close


SDKS = {"openai": openai, "anthropic": anthropic, "google": google}


async def run(sdk: str, port: int, path: Path, calls: int, at_once: int) -> int:
    """Make so many calls; how many replies held the nonce of their prompt."""
    call, close = SDKS[sdk](port)
    right = await replies(call, path, calls, at_once)
    await close()
    return right


def main() -> None:
    parser = of_file(__doc__, several=True)
    parser.add_argument("sdk", choices=list(SDKS))
    options = parser.parse_args()

    def ask(place: int, calls: int) -> None:
        check(asyncio.run(run(options.sdk, options.port, options.prompts, calls, options.at_once)), calls)

    measured(options.calls, ask)


if __name__ == "__main__":
    main()
