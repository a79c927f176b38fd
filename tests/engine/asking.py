"""What the tests of the engine share: models of every kind, and runs that ask them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from helpers.judge import Budget, Incomplete, complete_all
from helpers.providers import Clock
from helpers.types import Completion, Model, Request
from tests.engine.virtual import FakeClock
from tests.servers.behaviours import Call
from tests.servers.providers import environment

#: One model of each provider as it stands in models.yaml, and one behind an address of its own.
MODELS = {
    "openai": Model("gpt", "openai", "gpt-5-mini", "gpt", token_parameter="max_completion_tokens"),
    "anthropic": Model("claude", "anthropic", "claude-haiku-4-5", "claude", params={"temperature": 0.5}),
    "google": Model("gemini", "google", "gemini-2.5-flash", "gemini", token_parameter="max_output_tokens"),
    "own": Model("llama", "openai", "llama-3-8b", "llama", base_url="set by at()", revision={"weights": "main"}),
}
PROVIDERS = ("openai", "anthropic", "google")
#: What servers say, case by case.
SAID = yaml.safe_load(Path(__file__).with_name("said.yaml").read_text(encoding="utf-8"))
EVERY = (*PROVIDERS, "own")


def set_environment(patch: pytest.MonkeyPatch, url: str) -> None:
    """Let the three SDKs find the server at `url`, and no other."""
    for name, value in environment(url).items():
        patch.setenv(name, value)


def at(url: str, kind: str) -> Model:
    """The model of a kind; the one with an address of its own lives at the server."""
    return replace(MODELS[kind], base_url=f"{url}/v1") if kind == "own" else MODELS[kind]


def addressed(url: str, kind: str, **changed: Any) -> Model:
    """A model of this kind at an address of its own, as models.yaml would give it."""
    return replace(MODELS[kind], base_url=f"{url}/v1" if kind == "openai" else url, revision={}, **changed)


def ask(
    requests: Iterable[Request], folder: Path, clock: FakeClock | None = None, real_time: bool = False, **options: Any
) -> dict[str, Completion]:
    """`complete_all` with money enough, in an event loop of its own."""
    time = Clock() if real_time else (clock or FakeClock()).clock()
    options = {"budget": Budget(1e6), "show": False, "clock": time, **options}
    return asyncio.run(complete_all(requests, folder=folder, **options))


def missing(requests: Iterable[Request], folder: Path, match: str | None = None, *args: Any, **options: Any) -> str:
    """What a run says that ends without all of its replies."""
    with pytest.raises(Incomplete, match=match) as error:
        ask(requests, folder, *args, **options)
    return str(error.value)


def requests_to(model: Model, count: int, text: str = "What is question") -> list[Request]:
    return [Request(model, f"{text} {number} about?", "Be brief.") for number in range(count)]


#: Tokens that a provider may bill around the texts of a call, and around those of a call with a schema.
AROUND = {"openai": (200, 500), "anthropic": (100, 800), "google": (50, 300)}


def dearly(call: Call) -> int:
    """The input tokens of the dearest server: each byte is one, with all that may be billed around them."""
    plain, structured = AROUND[call.provider]
    texts = len(f"{call.system}{call.prompt}".encode())
    return texts + plain if call.schema is None else texts + len(json.dumps(call.schema).encode()) + structured
