"""A server that answers everything alike, and the bodies by which providers say a text."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def body_of(dialect: str, text: str = "VERDICT-5eed: A", finish: Any = "stop", **more: Any) -> str:
    """The body by which a provider says a text, with whatever else stands in it."""
    body = {
        "openai": {"choices": [{"message": {"content": text}, "finish_reason": finish}]},
        "anthropic": {"content": [{"type": "text", "text": text}], "stop_reason": finish},
        "google": {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": finish}]},
    }[dialect]
    return json.dumps(body | more)


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
