"""OpenAI, Anthropic and Google on 127.0.0.1: a real HTTP server that answers, fails and counts as a test wants it.

with JudgeServer(scripted(["429", "reset"])) as server:
    os.environ.update(server.env())
    ...
assert server.count("openai") == 3
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from tests.servers.behaviours import LINE_KINDS, Behaviour, Call, Fault, Reply, polite
from tests.servers.errors import REQUEST_ID, write_fault
from tests.servers.rules import refusal
from tests.servers.wire import key_of, provider_of, read_call, texts_alone, tokens, within_limit, write_reply

SUFFIX = "-2026-01-01"
#: No test server outlives this, whatever becomes of the test.
MAX_SECONDS = 600.0


@dataclass(frozen=True)
class Entry:
    """One request, written down before it is answered: `sha` names its path and body, `at` is Unix time.

    `fault` is None where a reply was sent. `billed` is the worst case, true wherever an answer was produced; the tokens
    of an unbilled request are 0.
    """

    n: int
    at: float
    provider: str
    model: str
    sha: str
    attempt: int
    fault: str | None
    finish: str | None
    billed: bool
    structured: bool
    limit: int | None
    input_tokens: int
    output_tokens: int
    call: Call | None = field(default=None, repr=False, compare=False)


class JudgeServer:
    """The server in a thread of its own, as a context manager; every request is in `calls` before it is answered.

    `latency` delays every answer, in seconds; `suffix` makes the returned model id from the asked one; `in_flight` and
    `most_in_flight` count requests that wait for their answer; `asked` tells the input tokens that a call is billed. An
    error in the behaviour is raised on leaving.
    """

    def __init__(
        self,
        behaviour: Behaviour = polite,
        *,
        latency: float = 0.0,
        suffix: str = SUFFIX,
        asked: Callable[[Call], int] = texts_alone,
    ) -> None:
        """Nothing listens before the server is entered."""
        self.behaviour, self.latency, self.suffix, self.asked = behaviour, latency, suffix, asked
        self.port = self.in_flight = self.most_in_flight = 0
        self.errors: list[Exception] = []
        self.calls: list[Entry] = []
        self._attempts: Counter[str] = Counter()

    def __enter__(self) -> JudgeServer:
        """Returns once the server listens."""
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready.set,), name="judge-server", daemon=True)
        self._thread.start()
        while not ready.wait(0.05):
            if not self._thread.is_alive():
                raise self.errors[0]
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Cuts what is in flight; raises the behaviour's first error unless the test has failed already."""
        if self._thread.is_alive():
            self.stop()
        self._thread.join(10)
        if self.errors and kind is None:
            raise self.errors[0]

    def stop(self) -> None:
        """Listen no more and cut what is in flight; a behaviour may do so too."""
        self._loop.call_soon_threadsafe(self._stop.set)

    @property
    def url(self) -> str:
        """Where the server listens, without a path."""
        return f"http://127.0.0.1:{self.port}"

    def count(self, provider: str | None = None, **fields: Any) -> int:
        """How many requests came that fit what is given: the provider and other fields of an Entry."""
        wanted = fields | ({"provider": provider} if provider else {})
        return sum(all(getattr(entry, name) == value for name, value in wanted.items()) for entry in self.calls)

    def duplicates(self) -> int:
        """How many requests repeated the path and body of an earlier one."""
        return len(self.calls) - len({entry.sha for entry in self.calls})

    def env(self) -> dict[str, str]:
        """Environment variables that point the three SDKs to this server."""
        return environment(self.url)

    def _run(self, ready: Callable[[], None]) -> None:
        try:
            asyncio.run(self.serve(ready))
        except Exception as error:
            self.errors.append(error)

    async def serve(self, ready: Callable[[], None]) -> None:
        """Listen until stopped or MAX_SECONDS are over; `ready` is called when the port is known."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        protocols = web.Server(self._handle, access_log=None)
        listener = await self._loop.create_server(protocols, "127.0.0.1", 0, backlog=1024)
        self.port = listener.sockets[0].getsockname()[1]
        ready()
        try:
            await asyncio.wait_for(self._stop.wait(), MAX_SECONDS)
        except TimeoutError:
            pass
        finally:
            listener.close()
            await protocols.shutdown(0.01)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":  # a question about the server itself, of which this one says nothing
            return web.Response(status=404)
        # Not request.read(), which refuses bodies above 1 MB.
        body = await request.content.read()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._answer(request, body)
        finally:
            self.in_flight -= 1

    async def _answer(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        call, answer, sha = self._decide(request, body)
        reply, thoughts = within_limit(call, answer if isinstance(answer, Reply) else polite(call))
        fault = answer if isinstance(answer, Fault) else None
        billed = fault is None or fault.kind in LINE_KINDS
        self.calls.append(
            Entry(
                n=call.n,
                at=time.time(),
                provider=call.provider,
                model=call.model,
                sha=sha,
                attempt=call.attempt,
                fault=fault.kind if fault else None,
                finish=None if fault else reply.finish,
                billed=billed,
                structured=call.schema is not None,
                limit=call.limit,
                input_tokens=call.asked if billed else 0,
                output_tokens=tokens(reply.text) + thoughts if billed else 0,
                call=call,
            )
        )
        if self.latency:
            await asyncio.sleep(self.latency)
        if not billed:
            status, text, headers = write_fault(call, fault, key_of(request.headers))
            return web.Response(status=status, body=text.encode(), headers=headers)
        text = json.dumps(write_reply(call, reply, thoughts, reply.model or call.model + self.suffix)).encode()
        headers = {"Content-Type": "application/json", **reply.headers}
        if call.provider in REQUEST_ID:
            headers[REQUEST_ID[call.provider]] = f"req_{call.n:08x}"
        return await _send(request, fault, text, headers)

    def _decide(self, request: web.BaseRequest, body: bytes) -> tuple[Call, Reply | Fault, str]:
        provider = provider_of(request.path) if request.method == "POST" else None
        sha = hashlib.sha256(request.path.encode() + b"\n" + body).hexdigest()
        self._attempts[sha] += 1
        attempt, n = self._attempts[sha], len(self.calls)
        unread = Call(provider or "", "", "", "", attempt=attempt, n=n)
        if provider is None:
            return unread, Fault("404", message=f"There is nothing at {request.method} {request.path}."), sha
        try:
            parsed = json.loads(body)
            call = read_call(provider, request.path, parsed, attempt, n)
            call = replace(call, asked=self.asked(call))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return unread, Fault("400", message=f"The body cannot be read: {type(error).__name__} {error}"), sha
        if not key_of(request.headers):
            return call, Fault("key"), sha
        if why := refusal(call, parsed):
            return call, Fault("400", message=why), sha
        try:
            return call, self.behaviour(call), sha
        except Exception as error:
            self.errors.append(error)
            return call, Fault("500", message=f"The behaviour failed: {error!r}"), sha


async def _send(
    request: web.BaseRequest, fault: Fault | None, text: bytes, headers: dict[str, str]
) -> web.StreamResponse:
    """Send a whole reply, or as much of it as the fault leaves."""
    kind = fault.kind if fault else None
    if kind == "slow":
        await asyncio.sleep(fault.seconds)
    if kind == "broken_json":
        text = text[: len(text) // 2]
    if kind not in ("dropped", "reset_early", "reset", "truncated"):
        return web.Response(body=text, headers=headers)
    response = web.StreamResponse(headers={**headers, "Content-Length": str(len(text))})
    line = request.transport
    if kind in ("reset", "truncated"):
        await response.prepare(request)
        await response.write(text[: len(text) // 2])
    if kind in ("reset", "reset_early"):
        linger_not_at_all = struct.pack("ii", 1, 0)
        line.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not_at_all)
        line.abort()
    line.close()
    return response


def environment(url: str) -> dict[str, str]:
    """Environment variables that point the three SDKs to a server at `url`; keys that open nothing."""
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "not-a-key-openai-0123456789",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "not-a-key-anthropic-0123456789",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": "not-a-key-google-0123456789",
        # google-genai and httpx2 would send even this through a proxy that the environment names.
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
