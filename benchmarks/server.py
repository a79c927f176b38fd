"""A model's server on 127.0.0.1 that answers each judge after a fixed time, in the three providers' wire formats.

    python -m benchmarks.server --milliseconds 100

prints its port and answers until its standard input is closed. A reply is a listwise verdict on three answers that
carries the nonce of its prompt: a pure function of the prompt, whatever the order of the calls.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys

from aiohttp import web

NONCE = re.compile(rb"<<<QUESTION ([0-9a-f]{8})>>>")
PLACEHOLDER = "00000000"
JUSTIFICATION = " ".join(
    f"Point {n}: one answer states the main result and the step that leads to it, where another one leaves it out."
    for n in range(1, 12)
)
VERDICT = json.dumps(
    {"id": PLACEHOLDER, "ranking": ["B", "A", "C"], "scores": {"A": 7, "B": 9, "C": 4}, "justification": JUSTIFICATION}
)
OPENAI = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_767_225_600,
    "model": "bench-1",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": VERDICT, "refusal": None, "annotations": []},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 1400,
        "completion_tokens": 350,
        "total_tokens": 1750,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    },
    "service_tier": "default",
    "system_fingerprint": "fp_1",
}
ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "bench-1",
    "content": [{"type": "text", "text": VERDICT}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 1400,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 350,
    },
}
GOOGLE = {
    "candidates": [{"content": {"parts": [{"text": VERDICT}], "role": "model"}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 1400, "candidatesTokenCount": 350, "totalTokenCount": 1750},
    "modelVersion": "bench-1",
    "responseId": "response-1",
}
BODIES = {
    "/chat/completions": json.dumps(OPENAI).encode(),
    "/messages": json.dumps(ANTHROPIC).encode(),
    ":generateContent": json.dumps(GOOGLE).encode(),
}


def body_of(path: str, sent: bytes) -> bytes | None:
    """The reply to a request, None where this is no path or no prompt that is known here."""
    body = next((body for end, body in BODIES.items() if path.endswith(end)), None)
    nonce = NONCE.search(sent)
    return body.replace(PLACEHOLDER.encode(), nonce[1], 1) if body and nonce else None


async def serve(seconds: float) -> None:
    """Answer until standard input is closed: who started this server has then ended, in whatever way."""

    async def answer(request: web.BaseRequest) -> web.Response:
        body = body_of(request.path, await request.read())
        if body is None:
            return web.Response(status=404, text="not a prompt of these benchmarks")
        await asyncio.sleep(seconds)
        return web.Response(body=body, content_type="application/json", headers={"x-request-id": "req_1"})

    loop = asyncio.get_running_loop()
    server = await loop.create_server(web.Server(answer, access_log=None), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--milliseconds", type=float, default=100.0, help="before each answer (default: %(default)s)")
    asyncio.run(serve(parser.parse_args().milliseconds / 1000))


if __name__ == "__main__":
    main()
