"""A new client of the openai SDK for each call, in threads: the pattern of arena-hard-auto.

python -m benchmarks.programs.client_per_call --port 8000 --calls 200 --prompts FILE
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from openai import OpenAI

from benchmarks.programs.bare import KEY, lines


def call(port: int, line: dict[str, Any]) -> bool:
    form = {"name": "reply", "strict": True, "schema": line["schema"]}
    client = OpenAI(api_key=KEY, base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)
    reply = client.chat.completions.create(
        model="bench-1",
        messages=[
            {"role": "system", "content": line["system"]},
            {"role": "user", "content": line["prompt"]},
        ],
        max_completion_tokens=1024,
        response_format={"type": "json_schema", "json_schema": form},
    )
    return line["nonce"] in reply.choices[0].message.content


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--calls", type=int, required=True)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--at-once", type=int, default=64)
    given = parser.parse_args()
    with ThreadPoolExecutor(given.at_once) as pool:
        right = sum(pool.map(lambda line: call(given.port, line), lines(given.prompts, given.calls)))
    if right != given.calls:
        raise SystemExit(f"{right} of {given.calls} replies are those of their prompts")


if __name__ == "__main__":
    main()
