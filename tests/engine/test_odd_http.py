"""HTTP that is odd or hostile: letters nobody can read, replies without end, small ones that unpack into huge ones."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers import store
from helpers.judge import Budget, Incomplete
from helpers.providers import meanings
from helpers.types import Price
from tests.engine.asking import PROVIDERS as KINDS
from tests.engine.asking import addressed, answering, ask, attempts, body_of, everything, requests_to, statuses

MB = 2**20
#: How a body is sent: the headers that say so, and what becomes of it.
PACKED: dict[str, tuple[dict[str, str], Callable[[bytes], bytes]]] = {
    "plain": ({}, bytes),
    "gzip": ({"Content-Encoding": "gzip"}, gzip.compress),
    "deflate": ({"Content-Encoding": "deflate"}, zlib.compress),
    "twice": ({"Content-Encoding": "gzip, gzip"}, lambda body: gzip.compress(gzip.compress(body))),
    "html": ({"Content-Type": "text/html"}, bytes),
}


def lost(folder: Path, url: str, kind: str, told: str = "1 of 1", number: int = 1) -> list[str]:
    """The statuses of calls that come to nothing."""
    model = addressed(url, kind)
    with pytest.raises(Incomplete, match=told):
        ask(requests_to(model, number), folder)
    return statuses(folder, model)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["X-Served-By", "Retry-After", "x-request-id", "request-id", "Content-Type"])
@pytest.mark.parametrize("letters", ["caf\xe9", "\xe6\x9c\x8d", "\xff"])
def test_a_header_in_any_letters_costs_no_reply(tmp_path: Path, kind: str, name: str, letters: str) -> None:
    with answering(body_of(kind, "A"), headers={name: letters}) as url:
        (reply,) = ask(requests_to(addressed(url, kind), 1), tmp_path).values()
    assert reply.text == "A"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [200, 500])
def test_a_status_line_that_is_no_text_breaks_no_run(tmp_path: Path, kind: str, status: int) -> None:
    with answering(body_of(kind, "A"), status=status, reason="caf\xe9") as url:
        assert lost(tmp_path, url, kind) == ["bad_envelope"] * 6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("charset", ["hex", "zlib", "rot13", "undefined", "idna", "punycode", "utf-16", "utf-7", "x"])
def test_a_character_set_that_is_none_for_texts_is_not_obeyed(tmp_path: Path, kind: str, charset: str) -> None:
    said = {"Content-Type": f"application/json; charset={charset}"}
    with answering(body_of(kind, "A"), headers=said) as url:
        (reply,) = ask(requests_to(addressed(url, kind), 1), tmp_path).values()
    assert reply.text == "A"
    with answering("later", status=503, headers=said) as url:
        assert lost(tmp_path / "errors", url, kind, "provider_error") == ["provider_error"] * 6


@pytest.mark.parametrize("kind", KINDS)
def test_a_character_set_unpacks_nothing(tmp_path: Path, kind: str) -> None:
    small = zlib.compress(b" " * (20 * MB))
    with answering(small, headers={"Content-Type": "application/json; charset=zlib"}) as url:
        assert lost(tmp_path, url, kind) == ["bad_envelope"] * 6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [300, 302, 307])
@pytest.mark.parametrize("target", ["http://[", "http://[::1", "http://caf\xe9/", "\xff", "http://h:99999/"])
def test_a_redirect_to_no_address_is_a_redirect(tmp_path: Path, kind: str, status: int, target: str) -> None:
    with answering("", status=status, headers={"Location": target}) as url:
        assert lost(tmp_path, url, kind, f"HTTP {status}, a redirect to ", number=2) == ["redirect"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("status", "meant"), [(403, ["forbidden"]), (503, ["provider_error"] * 6)])
@pytest.mark.parametrize("body", [b"[" * 60_000, b"9" * 6_000, b'{"error": "\xff\xe9"}', b"\xff\xfe{\x00\x00", b"\x00"])
def test_the_status_of_an_error_counts_whatever_its_body(
    tmp_path: Path, kind: str, status: int, meant: list[str], body: bytes
) -> None:
    with answering(body, status=status) as url:
        assert lost(tmp_path, url, kind) == meant


# --- replies that are too large ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("unit", [b"\0", b" ", b'{"a":', b"ab"])
def test_a_body_of_more_than_16_mb_is_not_read_to_its_end(tmp_path: Path, kind: str, packed: str, unit: bytes) -> None:
    headers, pack = PACKED[packed]
    with answering(pack(unit * (17 * MB // len(unit))), headers=headers) as url:
        model = addressed(url, kind)
        with pytest.raises(Incomplete, match=r"1 x too_large \(more than 16 MB came for one reply"):
            ask(requests_to(model, 1), tmp_path)
    lines = attempts(tmp_path, model)
    assert [line["status"] for line in lines] == ["too_large"] * 2
    assert all(line["reply"]["maybe_billed"] for line in lines), "a reply that came was perhaps paid for"
    assert len(everything(tmp_path)) < 10_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_without_end_is_given_up(tmp_path: Path, kind: str) -> None:
    sent = []

    def endless() -> Iterator[bytes]:
        for _ in range(400):  # bounded: 400 MB, should nobody hang up
            sent.append(MB)
            yield b" " * MB

    with answering(endless) as url:
        model = addressed(url, kind)
        with pytest.raises(Incomplete, match="too_large"):
            ask(requests_to(model, 1), tmp_path)
    assert len(sent) < 2 * 100, "the connection was closed long before the end"
    assert len(everything(tmp_path)) < 10_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [400, 403, 404, 500, 503])
def test_of_a_huge_error_page_the_beginning_is_kept(tmp_path: Path, kind: str, status: int) -> None:
    page = b"<html>Something went wrong. " + b"x" * (17 * MB)
    with answering(page, status=status, headers={"Content-Type": "text/html"}) as url:
        model = addressed(url, kind)
        with pytest.raises(Incomplete):
            ask(requests_to(model, 1), tmp_path)
    lines = attempts(tmp_path, model)
    assert all(line["raw"].startswith("<html>Something went wrong.") for line in lines)
    assert all(len(line["raw"]) <= meanings.MOST_KEPT for line in lines)
    assert not any(line["reply"]["maybe_billed"] for line in lines)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packed", ["plain", "gzip", "deflate", "twice"])
def test_a_large_reply_below_the_limit_is_read_whole(tmp_path: Path, kind: str, packed: str) -> None:
    text = "word " * (MB // 5)
    headers, pack = PACKED[packed]
    with answering(pack(body_of(kind, text).encode()), headers=headers) as url:
        (reply,) = ask(requests_to(addressed(url, kind), 1), tmp_path).values()
    assert reply.text == text


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_body_that_is_no_reply_the_beginning_is_kept(tmp_path: Path, kind: str) -> None:
    with answering(gzip.compress(b"\0" * (15 * MB)), headers={"Content-Encoding": "gzip"}) as url:
        model = addressed(url, kind)
        with pytest.raises(Incomplete, match="1 of 1"):
            ask(requests_to(model, 1), tmp_path)
    assert [len(line["raw"]) for line in attempts(tmp_path, model)] == [meanings.MOST_KEPT] * 6
    assert len(everything(tmp_path)) < 6 * MB


@pytest.mark.parametrize("kind", KINDS)
def test_replies_that_are_too_large_stay_within_the_budget(tmp_path: Path, kind: str) -> None:
    budget = Budget(0.05, planned=True)
    with answering(b" " * (17 * MB)) as url:
        model = addressed(url, kind, price=Price(1, 4), max_tokens=1000)
        with pytest.raises(Incomplete, match="budget_usd"):
            ask(requests_to(model, 50), tmp_path, budget=budget)
    assert store.read(store.file_of(tmp_path, model.name)) == {} and 0.04 < budget.spent <= 0.05
