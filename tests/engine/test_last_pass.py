"""Calls that a server failed to answer are made once more when the rest of their stage is done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers.judge import Incomplete
from helpers.types import Request
from tests.engine.asking import MODELS, ask, attempts, requests_to
from tests.servers.behaviours import Call, Fault, Reply, only, polite

GPT = MODELS["openai"]


def failing(often: int, kind: str = "500") -> Any:
    """A server that fails so many attempts at question 3 and answers everything else."""

    def behave(call: Call) -> Reply | Fault:
        return Fault(kind) if "question 3 " in call.prompt and call.attempt <= often else polite(call)

    return behave


def tries(folder: Path, request: Request) -> list[str]:
    return [line["status"] for line in attempts(folder, GPT) if line["key"] == request.key]


@pytest.mark.parametrize("kind", ["500", "502", "503"])
def test_a_call_whose_tries_are_used_up_is_made_once_more_after_all_others(
    serve: Any, tmp_path: Path, kind: str
) -> None:
    serve(failing(6, kind))
    requests = requests_to(GPT, 12)
    assert len(ask(requests, tmp_path, concurrency=2)) == 12
    assert tries(tmp_path, requests[3]) == ["provider_error"] * 6 + ["ok"]
    assert attempts(tmp_path, GPT)[-1]["key"] == requests[3].key, "the last call of all"
    assert attempts(tmp_path, GPT)[-1]["attempt"] == 7


def test_once_more_is_once(serve: Any, tmp_path: Path) -> None:
    serve(failing(99))
    requests = requests_to(GPT, 12)
    with pytest.raises(Incomplete, match=r"1 of 12 replies are still missing:\n  gpt: 1 x provider_error"):
        ask(requests, tmp_path)
    assert tries(tmp_path, requests[3]) == ["provider_error"] * 7


def test_what_may_have_been_billed_is_not_paid_for_once_more(serve: Any, tmp_path: Path) -> None:
    serve(failing(99, "truncated"))
    requests = requests_to(GPT, 12)
    with pytest.raises(Incomplete):
        ask(requests, tmp_path)
    assert tries(tmp_path, requests[3]) == ["maybe_billed"] * 6


def test_a_model_that_never_answered_is_not_asked_again(serve: Any, tmp_path: Path) -> None:
    serve(only("500"))
    requests = requests_to(GPT, 3)
    with pytest.raises(Incomplete, match="3 x provider_error"):
        ask(requests, tmp_path)
    assert {len(tries(tmp_path, request)) for request in requests} == {6}
