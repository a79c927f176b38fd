"""litellm's `acompletion` in a bare loop.

    python -m benchmarks.programs.litellm_calls --port 8000 --calls 200 --prompts FILE

Runs in an environment of its own: litellm does not take the present openai SDK.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else its import waits for a table from the network

import litellm

from benchmarks.programs.bare import KEY, lines


async def run(port: int, path: Path, calls: int, at_once: int) -> int:
    waiting, right = lines(path, calls), 0

    async def worker() -> None:
        nonlocal right
        for line in waiting:
            form = {"name": "reply", "strict": True, "schema": line["schema"]}
            reply = await litellm.acompletion(
                model="openai/bench-1",
                api_base=f"http://127.0.0.1:{port}/v1",
                api_key=KEY,
                max_retries=0,
                max_completion_tokens=1024,
                messages=[
                    {"role": "system", "content": line["system"]},
                    {"role": "user", "content": line["prompt"]},
                ],
                response_format={"type": "json_schema", "json_schema": form},
            )
            right += line["nonce"] in reply.choices[0].message.content

    await asyncio.gather(*(worker() for _ in range(at_once)))
    return right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--calls", type=int, required=True)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--at-once", type=int, default=64)
    given = parser.parse_args()
    right = asyncio.run(run(given.port, given.prompts, given.calls, given.at_once))
    if right != given.calls:
        raise SystemExit(f"{right} of {given.calls} replies are those of their prompts")


if __name__ == "__main__":
    main()
