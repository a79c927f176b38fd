"""A server that redirects is not followed: no prompt and no key reaches an address that nobody wrote down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers.config.models import model_of
from helpers.judge import Incomplete
from tests.engine.asking import (
    EVERY,
    MODELS,
    FakeClock,
    ask,
    at,
    attempts,
    body_of,
    everything,
    requests_to,
    statuses,
    without_keys,
)
from tests.servers.behaviours import Behaviour, Call, Fault, Reply, only, polite
from tests.servers.providers import JudgeServer

#: What an entry of models.yaml needs beside the base_url that an error names.
ENTRY = {"model_id": "m", "vendor": "v", "revision": {"weights": "main", "quantization": "none", "template": "default"}}
REDIRECTS = ("301", "302", "303", "307", "308")


def redirect(status: str, target: str) -> Fault:
    return Fault(status, headers={"Location": target})


@pytest.fixture
def pair(serve: Any) -> Callable[[Callable[[str], Behaviour]], tuple[JudgeServer, JudgeServer]]:
    """Starts a server that knows the address of another one, and that other, which no environment variable names."""

    def start(behaviour: Callable[[str], Behaviour]) -> tuple[JudgeServer, JudgeServer]:
        other = serve(polite)
        return serve(behaviour(other.url)), other

    return start


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("status", REDIRECTS)
def test_no_redirect_to_another_host_is_followed(pair: Any, tmp_path: Path, status: str, kind: str) -> None:
    paths = {"anthropic": "/v1/messages", "google": "/v1beta/models/gemini-2.5-flash:generateContent"}
    path = paths.get(kind, "/v1/chat/completions")
    server, other = pair(lambda url: only(redirect(status, url + path)))
    model, clock = at(server.url, kind), FakeClock()
    with pytest.raises(Incomplete) as error:
        ask(requests_to(model, 4), tmp_path, clock)
    assert other.calls == [] and len(server.calls) == 1 and clock.slept == []
    said = str(error.value)
    assert f"HTTP {status}, a redirect to {other.url}{path}" in said and "params" not in said
    base = other.url + "/v1" * path.endswith("/chat/completions")
    assert f"write {base} as `base_url`" in said
    assert model_of("judge", {**ENTRY, "provider": model.provider, "base_url": base}, "here").base_url == base
    assert statuses(tmp_path, model) == ["redirect"]
    assert not attempts(tmp_path, model)[0]["reply"]["maybe_billed"]
    assert without_keys(said, server.env()) and without_keys(everything(tmp_path), server.env())
    server.behaviour = polite
    assert len(ask(requests_to(model, 4), tmp_path)) == 4, "the next run asks again"


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("/v2/chat/completions", "{url}/v2/chat/completions"),
        ("//127.0.0.2:9/x", "http://127.0.0.2:9/x"),
        ("https://127.0.0.1:9/v1", "https://127.0.0.1:9/v1"),
        ("?page=2", "?page=2"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("", "a redirect to "),
        (None, "a redirect to no address"),
    ],
)
@pytest.mark.parametrize("body", [None, body_of("openai")], ids=["", "of a reply"])
def test_a_redirect_names_the_whole_address_and_is_no_reply(
    serve: Any, tmp_path: Path, kind: str, target: str | None, named: str, body: str | None
) -> None:
    server = serve(only(Fault("307", body=body, headers={} if target is None else {"Location": target})))
    model = at(server.url, kind)
    with pytest.raises(Incomplete) as error:
        ask(requests_to(model, 2), tmp_path)
    assert named.format(url=server.url) in str(error.value) and len(server.calls) == 1
    assert statuses(tmp_path, model) == ["redirect"]


@pytest.mark.parametrize(
    ("target", "base"),
    [
        ("https://api.x.com/openai/v1/chat/completions/?from=old#top", "https://api.x.com/openai/v1"),
        ("https://me:password@api.x.com:8443/v1/chat/completions", "https://api.x.com:8443/v1"),
        ("/v2/chat/completions", "{url}/v2"),
        ("/v1/chat/completions/", None),  # to the same base
        ("https://login.x.com/?next=/v1/chat/completions", None),
        ("https://api.x.com/{key}/v1/chat/completions", None),
        ("ftp://api.x.com/v1/chat/completions", None),
        ("https://[api/v1/chat/completions", None),
    ],
)
def test_the_base_url_to_write_leads_to_the_target_and_shows_no_key(
    serve: Any, tmp_path: Path, target: str, base: str | None
) -> None:
    server = serve(polite)
    key = server.env()["OPENAI_API_KEY"]
    server.behaviour = only(redirect("308", target.format(url=server.url, key=key)))
    with pytest.raises(Incomplete) as error:
        ask(requests_to(at(server.url, "own"), 1), tmp_path)
    said, own = str(error.value), "write that address, without the path that the SDK adds, as `base_url`"
    assert (f"write {base.format(url=server.url)} as `base_url`" if base else own) in said
    assert key not in said and key.encode() not in everything(tmp_path)


@pytest.mark.parametrize("status", ["300", "304"])
def test_an_answer_that_is_neither_a_reply_nor_an_error_stops_the_address(
    serve: Any, tmp_path: Path, status: str
) -> None:
    server = serve(only(status))
    models = [at(server.url, kind) for kind in EVERY]
    with pytest.raises(Incomplete, match=f"HTTP {status}"):
        ask([request for model in models for request in requests_to(model, 3)], tmp_path)
    assert [statuses(tmp_path, model) for model in models] == [["redirect"]] * 4


def test_a_key_in_the_address_of_a_redirect_is_struck_out(serve: Any, tmp_path: Path) -> None:
    server = serve(polite)
    key = server.env()["OPENAI_API_KEY"]
    server.behaviour = only(redirect("302", f"http://127.0.0.1:9/?key={key}"))
    with pytest.raises(Incomplete, match=r"a redirect to http://127\.0\.0\.1:9/\?key=\[OPENAI_API_KEY\]") as error:
        ask(requests_to(MODELS["openai"], 1), tmp_path)
    assert key not in str(error.value) and key.encode() not in everything(tmp_path)


@pytest.mark.parametrize("kind", EVERY)
def test_a_server_that_begins_to_redirect_loses_what_is_missing_and_nothing_that_came(
    pair: Any, tmp_path: Path, kind: str
) -> None:
    def later(url: str) -> Behaviour:
        def behave(call: Call) -> Reply | Fault:
            return redirect("308", f"{url}/v1/chat/completions") if call.n >= 5 else polite(call)

        return behave

    server, other = pair(later)
    model = at(server.url, kind)
    with pytest.raises(Incomplete, match="5 of 10 replies are still missing"):
        ask(requests_to(model, 10), tmp_path, concurrency=1)
    assert other.calls == [] and statuses(tmp_path, model) == ["ok"] * 5 + ["redirect"]


def test_a_server_of_a_fleet_that_redirects_is_left_and_no_call_is_lost(serve: Any, tmp_path: Path) -> None:
    other, good = serve(polite), serve(polite)
    bad = serve(only(redirect("307", f"{other.url}/v1/chat/completions")))
    urls = (f"{bad.url}/v1", f"{good.url}/v1")
    model = replace(MODELS["own"], base_url=urls[0], servers=urls)
    assert len(ask(requests_to(model, 20), tmp_path)) == 20
    assert other.calls == [] and len(bad.calls) == 1 and len(good.calls) == 20
