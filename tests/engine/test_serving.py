"""What a server of one's own says of itself limits what is sent and how fast, and is told where it is another one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from helpers.config import load_experiment
from helpers.judge import TooLong
from helpers.judge.asking import by_question
from helpers.providers import as_served
from helpers.run import asking as asking_room
from helpers.run import plan
from helpers.types import Model, Request
from tests.engine.asking import MODELS

ASKED = "judge-7b"


@contextmanager
def saying(pages: Mapping[str, Any], seen: list[tuple[str, str | None]] | None = None) -> Iterator[str]:
    """The `base_url` of a server that answers GET by these pages (a status, a text, or JSON), and all else by 404."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if seen is not None:
                seen.append((self.path, self.headers.get("authorization")))
            page = pages.get(self.path, 404)
            raw = (page if isinstance(page, str) else json.dumps(page)).encode()
            self.send_response(page if isinstance(page, int) else 200)
            if page == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def judge_at(*urls: str, **changed: Any) -> Model:
    servers = urls if len(urls) > 1 else ()
    return replace(MODELS["openai"], model_id=ASKED, base_url=urls[0], servers=servers, revision={"w": "1"}, **changed)


def served(model: Model, concurrency: int = 16) -> tuple[Model | None, list[str]]:
    found, warnings = asyncio.run(as_served([model], concurrency))
    return found.get(model.name), warnings


def listing(*ids: str, **more: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": each, "object": "model", **more} for each in ids]}


LLAMA = {"default_generation_settings": {"n_ctx": 2048}, "total_slots": 3}
#: What a server says -> the context and the calls at once that it gets, and whether it serves what is asked.
SAID: dict[str, tuple[dict[str, Any], int | None, int, bool]] = {
    "llama.cpp": ({"/v1/models": listing(ASKED, meta={"n_ctx_train": 9999}), "/props": LLAMA}, 2048, 3, True),
    "llama.cpp, another model": ({"/v1/models": listing("model.gguf"), "/props": LLAMA}, 2048, 3, False),
    "vLLM": ({"/v1/models": listing(ASKED, max_model_len=4096)}, 4096, 8, True),
    "vLLM, two models": ({"/v1/models": listing("other", ASKED, max_model_len=512)}, 512, 8, True),
    "vLLM, another model": ({"/v1/models": listing("other", max_model_len=4096)}, 4096, 8, False),
    "ids alone": ({"/v1/models": listing(ASKED, "b", "c")}, None, 8, True),
    "many places": ({"/props": {"total_slots": 64}}, None, 16, True),
    "nothing": ({}, None, 8, True),
    "a page": ({"/v1/models": "<html>", "/props": "<html>"}, None, 8, True),
    "not allowed": ({"/v1/models": 401, "/props": 403}, None, 8, True),
    "a redirect": ({"/v1/models": 302, "/elsewhere": listing("other")}, None, 8, True),
    "odd values": ({"/v1/models": {"data": [3, {"id": 7}, None]}, "/props": {"total_slots": True}}, None, 8, True),
    "odd shapes": ({"/v1/models": [listing(ASKED)], "/props": {"default_generation_settings": 5}}, None, 8, True),
    "odd numbers": ({"/props": {"default_generation_settings": {"n_ctx": -1}, "total_slots": 0}}, None, 8, True),
}


@pytest.mark.parametrize("said", SAID)
def test_a_server_says_what_it_serves_how_long_and_how_many_at_once(said: str) -> None:
    pages, context, places, right = SAID[said]
    with saying(pages) as url:
        found, warnings = served(judge_at(url))
    assert found is not None and (found.context, found.concurrency) == (context, places)
    assert [f"asks for '{ASKED}'" in each for each in warnings] == ([] if right else [True])


def test_what_the_entry_and_the_run_say_counts_first() -> None:
    with saying({"/v1/models": listing(ASKED, max_model_len=4096), "/props": {"total_slots": 5}}) as url:
        assert served(judge_at(url), concurrency=2)[0].concurrency == 2
        found, _ = served(judge_at(url, concurrency=9, context=1000))
        assert (found.concurrency, found.context) == (9, 1000)
        assert served(judge_at(url, context=100_000))[0].context == 4096, "the server has no more than it says"


def test_of_several_servers_the_smallest_counts_and_the_odd_one_is_named() -> None:
    with saying({"/v1/models": listing(ASKED), "/props": LLAMA}) as one, saying({"/v1/models": listing("x")}) as other:
        found, warnings = served(judge_at(one, other))
    assert (found.context, found.concurrency) == (2048, 3)
    assert len(warnings) == 1 and warnings[0].startswith(f"warning: {other} says that it serves 'x'")


def test_only_own_servers_are_looked_at_and_with_their_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str | None]] = []
    monkeypatch.setenv("MINE", "key-of-mine-0123456789")
    with saying({}, seen) as url:
        assert served(judge_at("https://api.example.com/v1")) == (None, [])
        assert served(MODELS["anthropic"]) == (None, [])
        assert seen == []
        served(judge_at(url, api_key_env="MINE"))
    assert {path for path, _ in seen} == {"/v1/models", "/props"}
    assert {key for _, key in seen} == {"Bearer key-of-mine-0123456789"}


def test_a_server_that_is_away_is_no_error_before_the_first_call() -> None:
    with saying({}) as url:
        pass
    found, warnings = served(judge_at(url))
    assert found is not None and (found.context, found.concurrency, warnings) == (None, 8, [])


def test_a_context_that_is_too_small_is_said_in_the_plan(tmp_path: Path) -> None:
    entry = "mine: {{provider: openai, model_id: m, vendor: x, max_tokens: 64, base_url: {}, revision: {{w: one}}}}\n"

    def planned(url: str) -> Any:
        models = tmp_path / "models.yaml"
        models.write_text(entry.format(url), encoding="utf-8")
        given = {"judges": ["mine"], "biases": ["confirmation"], "question_limit": 3, "store": str(tmp_path / "none")}
        return asyncio.run(plan(load_experiment("cognitive_biases", models_file=models, **given)))

    short = {"/props": {"default_generation_settings": {"n_ctx": 80}}}
    with saying(short) as url, pytest.raises(TooLong, match=r"mine.*80"):
        planned(url)
    with saying({"/props": {"default_generation_settings": {"n_ctx": 8192}}}) as url:
        assert planned(url).missing > 0


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://gpu-box:8000/v1", "https://api.example.com/v1", None])
def test_calls_to_own_servers_come_question_by_question_and_others_as_they_were_drawn(url: str | None) -> None:
    model = judge_at(url) if url else MODELS["openai"]
    asked = [(question, shown) for question in "qpr" for shown in ("AB", "BA", "AB", "BA")]
    drawn = [asked[place] for place in (4, 0, 9, 1, 5, 2, 8, 6, 3, 10, 7, 11)]
    requests = [Request(model, f"{question} {shown}: {n}") for n, (question, shown) in enumerate(drawn)]
    labels = {r.key: {"question_id": q, "shown": [*shown]} for r, (q, shown) in zip(requests, drawn, strict=True)}
    order = by_question(requests, labels)
    if url is None or "example" in url:
        assert order == requests
        return
    found = [drawn[requests.index(each)] for each in order]
    assert [question for question, _ in found] == [*"pppp", *"qqqq", *"rrrr"], "as the first call of each was drawn"
    assert all(found[at] == found[at + 1] for at in range(0, 12, 2)), "each beginning is read once"
    assert all(requests.index(order[at]) < requests.index(order[at + 1]) for at in range(0, 12, 2))


def test_experiments_of_one_plan_ask_a_server_once_and_only_if_they_ask(tmp_path: Path) -> None:
    seen: list[tuple[str, str | None]] = []
    with saying({"/v1/models": listing("m"), "/props": LLAMA}, seen) as url:
        models = tmp_path / "models.yaml"
        entry = "{{provider: openai, model_id: m, vendor: x, max_tokens: 64, base_url: {}, revision: {{w: one}}}}"
        models.write_text(f"mine: {entry.format(url)}\n", encoding="utf-8")
        given = {"judges": ["mine"], "biases": ["confirmation"], "question_limit": 3}
        asking, other = (load_experiment("cognitive_biases", models, **given, seed=seed) for seed in (1, 2))
        found = asyncio.run(asking_room.served(asking, replace(other, judgments="stored"), other))
        assert len(seen) == 2, "its models and its context"
        assert [each.judges[0].context for each in found[::2]] == [2048, 2048]
        seen.clear()
        asyncio.run(asking_room.served(replace(other, judgments="stored")))
    assert seen == []
