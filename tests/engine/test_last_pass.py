"""Calls that a server failed to answer are made once more when the rest of their stage is done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers.judge import Budget, Incomplete, actual
from helpers.judge.budget import worst_case
from helpers.types import Completion, Price, Request
from tests.engine.asking import MODELS, ask, attempts, requests_to, stored
from tests.servers.behaviours import Call, Fault, Reply, only, polite

GPT = MODELS["openai"]
PRICED = replace(GPT, price=Price(1.0, 10.0), max_tokens=100)


def failing(often: int, kind: str = "500") -> Any:
    """A server that fails so many attempts at question 3 and answers everything else."""

    def behave(call: Call) -> Reply | Fault:
        return Fault(kind) if "question 3 " in call.prompt and call.attempt <= often else polite(call)

    return behave


def paid(requests: list[Request], folder: Path) -> list[tuple[Request, Completion]]:
    """The requests that have a reply, with it."""
    replies = stored(folder, GPT)
    return [(each, replies[each.key]) for each in requests if each.key in replies]


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


@pytest.mark.parametrize(("kind", "status"), [("truncated", "maybe_billed"), ("broken_json", "bad_envelope")])
def test_what_may_have_been_billed_is_made_once_more_within_the_budget(
    serve: Any, tmp_path: Path, kind: str, status: str
) -> None:
    serve(failing(99, kind))
    requests = requests_to(PRICED, 12)
    with pytest.raises(Incomplete, match=f"1 x {status}"):
        ask(requests, tmp_path)
    assert tries(tmp_path, requests[3]) == [status] * 7
    # The others are paid as they are counted, and six attempts at their worst: then there is no money for one more.
    folder, worst = tmp_path / "poor", worst_case(requests[3])
    folder.mkdir()
    budget = Budget(6.5 * worst + sum(actual(each, reply) for each, reply in paid(requests, tmp_path)), planned=True)
    with pytest.raises(Incomplete, match="1 x the next call could bring the cost above budget_usd="):
        ask(requests, folder, budget=budget, concurrency=1)
    assert tries(folder, requests[3]) == [status] * 6 and budget.spent <= budget.limit


def test_a_model_that_never_answered_is_not_asked_again(serve: Any, tmp_path: Path) -> None:
    serve(only("500"))
    requests = requests_to(GPT, 3)
    with pytest.raises(Incomplete, match="3 x provider_error"):
        ask(requests, tmp_path)
    assert {len(tries(tmp_path, request)) for request in requests} == {6}
