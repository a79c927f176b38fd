"""Our judging path, all in: prompts are built, asked for, stored, read into verdicts, and a line tells the progress.

    python -m benchmarks.programs.ours openai --port 8000 --calls 200 --store FOLDER

Prints how long it took from the call of `judge_all` to its judgments: with everything stored, the start of an analysis.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from pathlib import Path

from benchmarks.material import trials
from helpers.judge import Budget, judge_all
from helpers.types import Model, Price

#: What each SDK takes for an address: with or without the version.
PATHS = {"openai": "/v1", "anthropic": "", "google": ""}
TOKENS = {"openai": "max_completion_tokens", "anthropic": "max_tokens", "google": "max_output_tokens"}
#: A run has a key, and every reply is searched for it.
KEY = "BENCH_API_KEY"


def model(provider: str, port: int) -> Model:
    """The judge: with a price, so that each call is reserved and settled."""
    return Model(
        "judge",
        provider,
        "bench-1",
        "gpt",
        max_tokens=1024,
        token_parameter=TOKENS[provider],
        base_url=f"http://127.0.0.1:{port}{PATHS[provider]}",
        revision={"weights": "main"},
        api_key_env=KEY,
        price=Price(0.25, 2.0),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("provider", choices=list(PATHS))
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--calls", type=int, required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--at-once", type=int, default=64)
    given = parser.parse_args()
    os.environ.setdefault(KEY, "sk-bench-0123456789abcdefghijklmnopqrstuv")
    begun = time.perf_counter()
    asked = list(trials(model(given.provider, given.port), given.calls))
    judgments = asyncio.run(judge_all(asked, folder=given.store, budget=Budget(1e6), concurrency=given.at_once))
    took = time.perf_counter() - begun
    read = sum(judgment.outcome == "ok" for judgment in judgments)
    if read != given.calls:
        raise SystemExit(f"{read} of {given.calls} judgments have a verdict")
    print(f"{took:.3f}")


if __name__ == "__main__":
    main()
