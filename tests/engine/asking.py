"""What the tests of the engine share: a clock that nobody waits for, models of every kind, runs and their traces."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from helpers import store
from helpers.judge import Budget, complete_all
from helpers.providers import Clock
from helpers.types import Completion, Model, Request
from tests.servers.behaviours import Behaviour, Call, Fault, Reply
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


class FakeClock:
    """Time that passes only by sleeping; many sleepers sleep at the same time. `slept` holds every wish, in order."""

    def __init__(self, jitter: float = 0.5) -> None:
        self.time, self.slept, self.share = 0.0, [], jitter

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.time + seconds
        await asyncio.sleep(0)
        self.time = max(self.time, until)

    def clock(self) -> Clock:
        return Clock(now=lambda: self.time, sleep=self.sleep, wall=lambda: 1.7e9 + self.time, jitter=lambda: self.share)


def timed(came: list[float], clock: FakeClock, behaviour: Behaviour) -> Behaviour:
    """A behaviour that writes down by our clock when each request came."""

    def behave(call: Call) -> Reply | Fault:
        came.append(clock.time)
        return behaviour(call)

    return behave


def gaps(came: Sequence[float]) -> list[float]:
    """The seconds between one request and the next."""
    return [round(later - earlier, 6) for earlier, later in pairwise(came)]


def at(url: str, kind: str) -> Model:
    """The model of a kind; the one with an address of its own lives at the server."""
    return replace(MODELS[kind], base_url=f"{url}/v1") if kind == "own" else MODELS[kind]


def addressed(url: str, kind: str, **changed: Any) -> Model:
    """A model of this kind at an address of its own, as models.yaml would give it."""
    return replace(MODELS[kind], base_url=f"{url}/v1" if kind == "openai" else url, revision={}, **changed)


def body_of(dialect: str, text: str = "VERDICT-5eed: A", finish: Any = "stop", **more: Any) -> str:
    """The body by which a provider says a text, with whatever else stands in it."""
    body = {
        "openai": {"choices": [{"message": {"content": text}, "finish_reason": finish}]},
        "anthropic": {"content": [{"type": "text", "text": text}], "stop_reason": finish},
        "google": {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": finish}]},
    }[dialect]
    return json.dumps(body | more)


def ask(
    requests: Iterable[Request], folder: Path, clock: FakeClock | None = None, real_time: bool = False, **options: Any
) -> dict[str, Completion]:
    """`complete_all` with money enough, in an event loop of its own."""
    time = Clock() if real_time else (clock or FakeClock()).clock()
    options = {"budget": Budget(1e6), "show": False, "clock": time, **options}
    return asyncio.run(complete_all(requests, folder=folder, **options))


def requests_to(model: Model, count: int, text: str = "What is question") -> list[Request]:
    return [Request(model, f"{text} {number} about?", "Be brief.") for number in range(count)]


def attempts(folder: Path, model: Model) -> list[dict[str, Any]]:
    """Every line of a model's file."""
    return list(store.lines(store.file_of(folder, model.name)))


def stored(folder: Path, model: Model) -> dict[str, Completion]:
    """The replies in a model's file, whole, by key; a run returns them without their bodies."""
    return store.read(store.file_of(folder, model.name))


def statuses(folder: Path, model: Model) -> list[str]:
    return [record["status"] for record in attempts(folder, model)]


def everything(folder: Path) -> bytes:
    """All that was written to a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


#: Attempts that one request may have, by what came of them, in the table of retries; the last one of a server's own
#: failure comes when the rest of the stage is done.
MOST_TRIES = {"maybe_billed": 7, "bad_envelope": 7, "too_large": 2, "empty": 1, "provider_error": 7, "ok": 1}


def within_the_table(folder: Path, model: Model, requests: Iterable[Request]) -> bool:
    """Whether no request has more attempts than the table of retries allows, with numbers that count up from 1."""
    told = attempts(folder, model)
    for request in requests:
        lines = [each for each in told if each["key"] == request.key]
        counts = Counter(each["status"] for each in lines)
        if [each["attempt"] for each in lines] != list(range(1, len(lines) + 1)):
            return False
        if any(counts[status] > most for status, most in MOST_TRIES.items()):
            return False
    return True


#: Tokens that a provider may bill around the texts of a call, and around those of a call with a schema.
AROUND = {"openai": (200, 500), "anthropic": (100, 800), "google": (50, 300)}


def dearly(call: Call) -> int:
    """The input tokens of the dearest server: each byte is one, with all that may be billed around them."""
    plain, structured = AROUND[call.provider]
    texts = len(f"{call.system}{call.prompt}".encode())
    return texts + plain if call.schema is None else texts + len(json.dumps(call.schema).encode()) + structured


def without_keys(text: str | bytes, environment: Mapping[str, str]) -> bool:
    """Whether none of the environment's keys stands in a text."""
    text = text.encode() if isinstance(text, str) else text
    return not any(value.encode() in text for name, value in environment.items() if name.endswith("_API_KEY"))


@contextmanager
def answering(
    body: str | bytes | Callable[[], Iterator[bytes]],
    seen: list[str] | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    reason: str | None = None,
) -> Iterator[str]:
    """The address of a server that answers everything so, headers and reason in latin-1; `seen` gets the headers.

    A body that is called gives its parts one after the other, and is sent as parts whose number nobody knows.
    """
    raw = body.encode() if isinstance(body, str) else body
    length = {"Transfer-Encoding": "chunked"} if callable(raw) else {"Content-Length": str(len(raw))}
    said = {"Content-Type": "application/json", "Connection": "close", **length, **(headers or {})}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if seen is not None:
                seen.append(str(self.headers))
            self.send_response(status, reason)
            for name, value in said.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # whoever asked need not read all of it
                for part in raw() if callable(raw) else (raw,):
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part) if callable(raw) else part)

        def log_message(self, *_: object) -> None:
            """Not to the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
