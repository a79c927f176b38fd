"""Our judging path, all in: prompts are built, asked for, stored, read into verdicts, and a line tells the progress.

    python -m benchmarks.programs.ours openai --port 8000 --calls 200 2200 --store FOLDER

Each number of calls has a store of its own. Prints of each how long it took from its first trial to its judgments, and
the CPU time: with everything stored, the start of an analysis.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from benchmarks.material import trials
from benchmarks.programs.asked import KEY, arguments, measured
from helpers.judge import Budget, judge_all
from helpers.services import SERVICES, token_parameter
from helpers.types import Model

#: A model of each provider that the price table knows: each call is reserved and settled, as a real one is.
MODELS = {"openai": ("gpt-5-mini", "/v1"), "anthropic": ("claude-haiku-4-5", ""), "google": ("gemini-2.5-flash", "")}


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
    parser = arguments(__doc__, several=True)
    parser.add_argument("provider", choices=list(MODELS))
    parser.add_argument("--store", type=Path, required=True)
    options = parser.parse_args()
    lead(options.provider, options.port)

    def ask(place: int, calls: int) -> None:
        asked = trials(model(options.provider), calls)  # handed over as they are built: nothing else needs them
        folder = options.store / str(place)
        judgments = asyncio.run(judge_all(asked, folder=folder, budget=Budget(1e6), concurrency=options.at_once))
        read = sum(judgment.outcome == "ok" for judgment in judgments)
        if read != calls:
            raise SystemExit(f"{read} of {calls} judgments have a verdict")

    measured(options.calls, ask)


if __name__ == "__main__":
    main()
