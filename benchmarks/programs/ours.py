"""Our judging path, all in: prompts are built, asked for, stored, read into verdicts, and a line tells the progress.

    python -m benchmarks.programs.ours openai --port 8000 --calls 200 --store FOLDER

Prints how long it took from the call of `judge_all` to its judgments: with everything stored, the start of an analysis.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from benchmarks.material import trials
from benchmarks.programs.asked import KEY, arguments
from helpers.judge import Budget, judge_all
from helpers.services import SERVICES, token_parameter
from helpers.types import Model

#: A model of each provider that the price table knows: each call is reserved and settled, as a real one is.
MODELS = {
    "openai": ("gpt-5-mini", "/v1"),
    "anthropic": ("claude-haiku-4-5", ""),
    "google": ("gemini-2.5-flash", ""),
}


def model(provider: str) -> Model:
    """The judge, at its provider's own address."""
    return Model(
        "judge",
        provider,
        MODELS[provider][0],
        "any",
        max_tokens=1024,
        token_parameter=token_parameter(provider, elsewhere=False),
    )


def lead(provider: str, port: int) -> None:
    """Let the variable that the SDK obeys lead to a local server, with a key: every reply is searched for it."""
    service = SERVICES[provider]
    os.environ[service.address] = f"http://127.0.0.1:{port}{MODELS[provider][1]}"
    os.environ[service.keys[0]] = KEY


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("provider", choices=list(MODELS))
    parser.add_argument("--store", type=Path, required=True)
    given = parser.parse_args()
    lead(given.provider, given.port)
    begun = time.perf_counter()
    asked = list(trials(model(given.provider), given.calls))
    judgments = asyncio.run(judge_all(asked, folder=given.store, budget=Budget(1e6), concurrency=given.at_once))
    took = time.perf_counter() - begun
    read = sum(judgment.outcome == "ok" for judgment in judgments)
    if read != given.calls:
        raise SystemExit(f"{read} of {given.calls} judgments have a verdict")
    print(f"{took:.3f}")


if __name__ == "__main__":
    main()
