"""litellm's `acompletion` in a bare loop.

    python -m benchmarks.programs.litellm_calls --port 8000 --calls 200 --prompts FILE

Runs in an environment of its own: litellm does not take the present openai SDK.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else its import waits for a table from the network

import litellm

from benchmarks.programs.asked import KEY, chat, check, of_file, replies


def main() -> None:
    options = of_file(__doc__).parse_args()
    server = {"api_base": f"http://127.0.0.1:{options.port}/v1", "api_key": KEY, "max_retries": 0}

    async def call(line: dict[str, Any]) -> str:
        reply = await litellm.acompletion(model="openai/bench-1", **server, **chat(line))
        return reply.choices[0].message.content

    check(asyncio.run(replies(call, options.prompts, options.calls, options.at_once)), options.calls)


if __name__ == "__main__":
    main()
