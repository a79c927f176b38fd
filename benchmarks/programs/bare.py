"""The same public call of the same SDK on the same transport in a bare loop: nothing is built, kept, read or told.

python -m benchmarks.programs.bare openai --port 8000 --calls 200 --prompts FILE
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

KEY = "sk-bench-0123456789abcdefghijklmnopqrstuv"
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
        form = {"name": "reply", "strict": True, "schema": line["schema"]}
        body = {
            "model": "bench-1",
            "messages": [
                {"role": "system", "content": line["system"]},
                {"role": "user", "content": line["prompt"]},
            ],
            "max_completion_tokens": 1024,
            "response_format": {"type": "json_schema", "json_schema": form},
        }
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


def lines(path: Path, calls: int) -> Iterator[dict[str, Any]]:
    """The first prompts of a file, read one by one."""
    with path.open(encoding="utf-8") as file:
        for _, line in zip(range(calls), file, strict=False):
            yield json.loads(line)


async def run(sdk: str, port: int, path: Path, calls: int, at_once: int) -> int:
    """Make so many calls; how many replies held the nonce of their prompt."""
    call, close = SDKS[sdk](port)
    waiting, right = lines(path, calls), 0

    async def worker() -> None:
        nonlocal right
        for line in waiting:
            reply = await call(line)
            right += line["nonce"] in reply

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(worker())
    await close()
    return right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sdk", choices=list(SDKS))
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--calls", type=int, required=True)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--at-once", type=int, default=64)
    given = parser.parse_args()
    right = asyncio.run(run(given.sdk, given.port, given.prompts, given.calls, given.at_once))
    if right != given.calls:
        raise SystemExit(f"{right} of {given.calls} replies are those of their prompts")


if __name__ == "__main__":
    main()
