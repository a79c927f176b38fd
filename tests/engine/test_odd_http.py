"""HTTP that is odd or hostile: letters in headers, names of character sets, targets and errors that nobody can read."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from helpers.judge import Incomplete
from tests.engine.asking import ask, requests_to, statuses
from tests.engine.test_large_replies import KINDS, MB, model_at, reply_of


@contextmanager
def saying(status: int, headers: dict[str, str], body: bytes, reason: str = "Said") -> Iterator[str]:
    """The address of a server that sends headers and the reason of its status as they are, in latin-1."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status, reason)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Not to the terminal."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def lost(folder: Path, url: str, kind: str, told: str = "1 of 1", number: int = 1) -> list[str]:
    """The statuses of calls that come to nothing."""
    model = model_at(url, kind)
    with pytest.raises(Incomplete, match=told):
        ask(requests_to(model, number), folder)
    return statuses(folder, model)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["X-Served-By", "Retry-After", "x-request-id", "request-id", "Content-Type"])
@pytest.mark.parametrize("letters", ["caf\xe9", "\xe6\x9c\x8d", "\xff"])
def test_a_header_in_any_letters_costs_no_reply(tmp_path: Path, kind: str, name: str, letters: str) -> None:
    with saying(200, {name: letters}, reply_of(kind, "A")) as url:
        (reply,) = ask(requests_to(model_at(url, kind), 1), tmp_path).values()
    assert reply.text == "A"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [200, 500])
def test_a_status_line_that_is_no_text_breaks_no_run(tmp_path: Path, kind: str, status: int) -> None:
    with saying(status, {}, reply_of(kind, "A"), reason="caf\xe9") as url:
        assert lost(tmp_path, url, kind) == ["bad_envelope"] * 6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("charset", ["hex", "zlib", "rot13", "undefined", "idna", "punycode", "utf-16", "utf-7", "x"])
def test_a_character_set_that_is_none_for_texts_is_not_obeyed(tmp_path: Path, kind: str, charset: str) -> None:
    said = {"Content-Type": f"application/json; charset={charset}"}
    with saying(200, said, reply_of(kind, "A")) as url:
        (reply,) = ask(requests_to(model_at(url, kind), 1), tmp_path).values()
    assert reply.text == "A"
    with saying(503, said, b"later") as url:
        assert lost(tmp_path / "errors", url, kind, "provider_error") == ["provider_error"] * 6


@pytest.mark.parametrize("kind", KINDS)
def test_a_character_set_unpacks_nothing(tmp_path: Path, kind: str) -> None:
    small = zlib.compress(b" " * (20 * MB))
    with saying(200, {"Content-Type": "application/json; charset=zlib"}, small) as url:
        assert lost(tmp_path, url, kind) == ["bad_envelope"] * 6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [300, 302, 307])
@pytest.mark.parametrize("target", ["http://[", "http://[::1", "http://caf\xe9/", "\xff", "http://h:99999/"])
def test_a_redirect_to_no_address_is_a_redirect(tmp_path: Path, kind: str, status: int, target: str) -> None:
    with saying(status, {"Location": target}, b"") as url:
        assert lost(tmp_path, url, kind, f"HTTP {status}, a redirect to ", number=2) == ["redirect"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("status", "meant"), [(403, ["forbidden"]), (503, ["provider_error"] * 6)])
@pytest.mark.parametrize("body", [b"[" * 60_000, b"9" * 6_000, b'{"error": "\xff\xe9"}', b"\xff\xfe{\x00\x00", b"\x00"])
def test_the_status_of_an_error_counts_whatever_its_body(
    tmp_path: Path, kind: str, status: int, meant: list[str], body: bytes
) -> None:
    with saying(status, {"Content-Type": "application/json"}, body) as url:
        assert lost(tmp_path, url, kind) == meant
