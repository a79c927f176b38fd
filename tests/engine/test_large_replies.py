"""Replies without end, and small ones that unpack into huge ones: reading stops, and next to nothing is stored."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from helpers.judge import Budget, Incomplete
from helpers.providers import meanings
from helpers.types import Price
from tests.engine.asking import MODELS, ask, attempts, everything, requests_to, serving, stored

KINDS = ("openai", "anthropic", "google")
MB = 2**20
#: How a body is sent: the headers that say so, and what becomes of it.
PACKED: dict[str, tuple[dict[str, str], Callable[[bytes], bytes]]] = {
    "plain": ({}, bytes),
    "gzip": ({"Content-Encoding": "gzip"}, gzip.compress),
    "deflate": ({"Content-Encoding": "deflate"}, zlib.compress),
    "twice": ({"Content-Encoding": "gzip, gzip"}, lambda body: gzip.compress(gzip.compress(body))),
    "html": ({"Content-Type": "text/html"}, bytes),
}


def model_at(url: str, kind: str, **changes: Any) -> Any:
    return replace(MODELS[kind], base_url=f"{url}/v1" if kind == "openai" else url, revision={}, **changes)


def reply_of(kind: str, text: str) -> bytes:
    """The body by which a provider says a text."""
    bodies = {
        "openai": {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]},
        "anthropic": {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"},
        "google": {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]},
    }
    return json.dumps(bodies[kind]).encode()


@contextmanager
def sending(body: bytes, headers: dict[str, str], status: int = 200) -> Iterator[str]:
    """The address of a server that answers everything with these bytes."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await request.content.read()
        return web.Response(status=status, body=body, headers=headers)

    with serving(answer) as url:
        yield url


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("unit", [b"\0", b" ", b'{"a":', b"ab"])
def test_a_body_of_more_than_16_mb_is_not_read_to_its_end(tmp_path: Path, kind: str, packed: str, unit: bytes) -> None:
    headers, pack = PACKED[packed]
    with sending(pack(unit * (17 * MB // len(unit))), headers) as url:
        model = model_at(url, kind)
        with pytest.raises(Incomplete, match=r"1 x too_large \(more than 16 MB came for one reply"):
            ask(requests_to(model, 1), tmp_path)
    lines = attempts(tmp_path, model)
    assert [line["status"] for line in lines] == ["too_large"] * 2
    assert all(line["reply"]["maybe_billed"] for line in lines), "a reply that came was perhaps paid for"
    assert len(everything(tmp_path)) < 10_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_without_end_is_given_up(tmp_path: Path, kind: str) -> None:
    sent = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await request.content.read()
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for _ in range(400):  # bounded: 400 MB, should nobody hang up
            sent.append(MB)
            await response.write(b" " * MB)
        return response

    with serving(answer) as url:
        model = model_at(url, kind)
        with pytest.raises(Incomplete, match="too_large"):
            ask(requests_to(model, 1), tmp_path)
    assert len(sent) < 2 * 100, "the connection was closed long before the end"
    assert len(everything(tmp_path)) < 10_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [400, 403, 404, 500, 503])
def test_of_a_huge_error_page_the_beginning_is_kept(tmp_path: Path, kind: str, status: int) -> None:
    page = b"<html>Something went wrong. " + b"x" * (17 * MB)
    with sending(page, {"Content-Type": "text/html"}, status) as url:
        model = model_at(url, kind)
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
    with sending(pack(reply_of(kind, text)), {**headers, "Content-Type": "application/json"}) as url:
        (reply,) = ask(requests_to(model_at(url, kind), 1), tmp_path).values()
    assert reply.text == text


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_body_that_is_no_reply_the_beginning_is_kept(tmp_path: Path, kind: str) -> None:
    with sending(gzip.compress(b"\0" * (15 * MB)), {"Content-Encoding": "gzip"}) as url:
        model = model_at(url, kind)
        with pytest.raises(Incomplete, match="1 of 1"):
            ask(requests_to(model, 1), tmp_path)
    assert [len(line["raw"]) for line in attempts(tmp_path, model)] == [meanings.MOST_KEPT] * 6
    assert len(everything(tmp_path)) < 6 * MB


@pytest.mark.parametrize("kind", KINDS)
def test_replies_that_are_too_large_stay_within_the_budget(tmp_path: Path, kind: str) -> None:
    budget = Budget(0.05, planned=True)
    with sending(b" " * (17 * MB), {}) as url:
        model = model_at(url, kind, price=Price(1, 4), max_tokens=1000)
        with pytest.raises(Incomplete, match="budget_usd"):
            ask(requests_to(model, 50), tmp_path, budget=budget)
    assert stored(tmp_path, model) == {} and 0.04 < budget.spent <= 0.05
