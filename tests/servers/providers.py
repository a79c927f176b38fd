"""OpenAI, Anthropic and Google on 127.0.0.1: a real HTTP server that answers, fails and counts as a test wants it.

    with JudgeServer(scripted(["429", "reset"]), ledger=tmp_path / "ledger.jsonl") as server:
        os.environ.update(server.env())
        ...
    assert server.count("openai") == 3

`python -m tests.servers.providers --behaviour faulty:0.2 --ledger FILE --port-file FILE` is the same in a process of
its own, for tests that kill things; it stops by itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click
from aiohttp import web

from tests.servers.behaviours import LINE_KINDS, Behaviour, Call, Fault, Reply, named, polite
from tests.servers.errors import REQUEST_ID, write_fault
from tests.servers.ledger import Entry, Ledger, matching
from tests.servers.rules import refusal
from tests.servers.sending import send
from tests.servers.wire import key_of, provider_of, read_call, texts_alone, tokens, within_limit, write_reply

SUFFIX = "-2026-01-01"
#: No test server outlives this, whatever becomes of the test.
MAX_SECONDS = 600.0


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
        ledger: Path | str | None = None,
        latency: float = 0.0,
        suffix: str = SUFFIX,
        max_seconds: float = MAX_SECONDS,
        asked: Callable[[Call], int] = texts_alone,
    ) -> None:
        """Nothing listens before the server is entered."""
        self.behaviour, self.latency, self.suffix, self.max_seconds = behaviour, latency, suffix, max_seconds
        self.asked = asked
        self.port = self.in_flight = self.most_in_flight = 0
        self.errors: list[Exception] = []
        self._ledger = Ledger(ledger)

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

    @property
    def calls(self) -> list[Entry]:
        """All requests so far, in the order in which they came."""
        return self._ledger.entries

    def count(
        self,
        provider: str | None = None,
        model: str | None = None,
        *,
        fault: str | None = None,
        billed: bool | None = None,
    ) -> int:
        """How many requests came that fit what is given."""
        return sum(1 for _ in matching(self.calls, provider=provider, model=model, fault=fault, billed=billed))

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
        """Listen until stopped or `max_seconds` are over; `ready` is called when the port is known."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        protocols = web.Server(self._handle, access_log=None)
        listener = await self._loop.create_server(protocols, "127.0.0.1", 0, backlog=1024)
        self.port = listener.sockets[0].getsockname()[1]
        ready()
        try:
            await asyncio.wait_for(self._stop.wait(), self.max_seconds)
        except TimeoutError:
            pass
        finally:
            listener.close()
            await protocols.shutdown(0.01)
            self._ledger.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
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
        self._ledger.record(
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
        return await send(request, fault, text, headers)

    def _decide(self, request: web.BaseRequest, body: bytes) -> tuple[Call, Reply | Fault, str]:
        provider = provider_of(request.path) if request.method == "POST" else None
        sha = hashlib.sha256(request.path.encode() + b"\n" + body).hexdigest()
        attempt, n = self._ledger.attempt(sha), len(self.calls)
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


@click.command()
@click.option("--behaviour", default="polite", show_default=True, help="polite, only:KIND, faulty:RATE, quoting:PLACE")
@click.option("--ledger", type=click.Path(dir_okay=False), help="file to which each request is appended")
@click.option("--port-file", type=click.Path(dir_okay=False, path_type=Path), help="file that will hold the port")
@click.option("--latency", default=0.0, show_default=True, help="delay of each answer in seconds")
@click.option("--max-seconds", default=300.0, show_default=True, help="stop by itself after so long")
def main(behaviour: str, ledger: str | None, port_file: Path | None, latency: float, max_seconds: float) -> None:
    """Serve until killed or `max_seconds` are over."""
    server = JudgeServer(named(behaviour), ledger=ledger, latency=latency, max_seconds=max_seconds)

    def ready() -> None:
        if port_file is None:
            click.echo(server.url)
            return
        # Written whole: whoever waits for the file never reads half a number.
        partial = port_file.with_name(f"{port_file.name}.partial")
        partial.write_text(str(server.port))
        partial.replace(port_file)

    asyncio.run(server.serve(ready))


if __name__ == "__main__":
    main()
