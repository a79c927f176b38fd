"""A new client of the openai SDK for each call, in threads: the pattern of arena-hard-auto.

python -m benchmarks.programs.client_per_call --port 8000 --calls 200 --prompts FILE
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from openai import OpenAI

from benchmarks.programs.asked import KEY, chat, check, lines, of_file


def call(port: int, line: dict[str, Any]) -> bool:
    client = OpenAI(api_key=KEY, base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)
    reply = client.chat.completions.create(model="bench-1", **chat(line))
    return line["nonce"] in reply.choices[0].message.content


def main() -> None:
    options = of_file(__doc__).parse_args()
    with ThreadPoolExecutor(options.at_once) as pool:
        right = sum(pool.map(lambda line: call(options.port, line), lines(options.prompts, options.calls)))
    check(right, options.calls)


if __name__ == "__main__":
    main()
