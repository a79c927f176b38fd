"""Calls whose money is set aside for others: they wait, keep their tries, and share what is left as far as it goes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from helpers.judge import Budget, Incomplete
from helpers.judge.budget import BudgetReached, worst_case
from helpers.types import Completion, Price, Request, Usage
from tests.engine.asking import MODELS, ask, attempts, requests_to
from tests.servers.behaviours import Behaviour, Call, Fault, Reply, only, scripted
from tests.servers.providers import JudgeServer

#: By hand, for prompts of requests_to: 34 bytes and 200 tokens around them at $1, 100 at $10 a million ...
GPT = replace(MODELS["openai"], price=Price(1.0, 10.0), max_tokens=100)
GPT_CALL = (34 + 200) * 1e-6 + 100 * 10e-6
#: ... and 34 bytes and 100 tokens at $2, 100 at $30.
CLAUDE = replace(MODELS["anthropic"], price=Price(2.0, 30.0), max_tokens=100)
CLAUDE_CALL = (34 + 100) * 2e-6 + 100 * 30e-6


@dataclass
class Watched(Budget):
    """A budget that tells when it refused an attempt, and how many of GPT's it let be in flight at once."""

    refused: threading.Event = field(default_factory=threading.Event)
    most: int = 0

    def reserve(self, request: Request) -> None:
        try:
            super().reserve(request)
        except BudgetReached:
            self.refused.set()
            raise
        self.most = max(self.most, sum(each.model == GPT for each, _ in self._open.values()))


@pytest.fixture
def late(serve: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[Watched, Behaviour], JudgeServer]:
    """Starts Anthropic's server, which answers when the budget has refused a call, and OpenAI's, which it returns."""

    def start(budget: Watched, behave: Behaviour) -> JudgeServer:
        def wait(call: Call) -> Reply | Fault:
            assert budget.refused.wait(120)
            return Reply("x" * 40)

        server = serve(behave)
        serve(wait)
        monkeypatch.setenv("OPENAI_BASE_URL", server.env()["OPENAI_BASE_URL"])
        return server

    return start


def short() -> Watched:
    """A budget that Claude's call all but fills: no call of GPT's fits beside it."""
    return Watched(CLAUDE_CALL + 0.9 * GPT_CALL, planned=True)


def tries(folder: Path, key: str) -> list[tuple[int, str]]:
    """Number and status of each attempt of a request of GPT's."""
    return [(each["attempt"], each["status"]) for each in attempts(folder, GPT) if each["key"] == key]


@pytest.mark.parametrize(
    ("fault", "beside", "came"),
    [
        # The first attempt fits beside the other call, the second does not, and afterwards there is money for eight.
        ("truncated", 1.8, ["maybe_billed"] * 6),
        ("broken_json", 1.8, ["bad_envelope"] * 6),
        ("empty", 1.0, ["empty", "ok"]),  # costs next to nothing; the second one counts as said
    ],
)
def test_a_call_that_waited_for_money_has_no_tries_more_and_numbers_that_go_on(
    late: Any, tmp_path: Path, fault: str, beside: float, came: list[str]
) -> None:
    budget, dear = Watched(3 * CLAUDE_CALL + beside * GPT_CALL), replace(CLAUDE, price=Price(6.0, 90.0))
    server = late(budget, only(fault))
    [doomed] = requests_to(GPT, 1)
    with suppress(Incomplete):
        ask([doomed, *requests_to(dear, 1)], tmp_path, budget=budget)
    assert budget.refused.is_set(), "it had to wait"
    assert tries(tmp_path, doomed.key) == list(enumerate(came, 1))
    assert server.count(billed=True) == len(server.calls) == len(came)
    assert budget.spent + GPT_CALL <= budget.limit, "it was not the money that ended it"


def test_a_call_that_only_waited_for_its_first_attempt_is_asked_for_the_first_time(late: Any, tmp_path: Path) -> None:
    budget = short()
    late(budget, scripted(["truncated"]))
    [request] = requests_to(GPT, 1)
    # Its address has no other call: the one that sets the money aside has to be asked first.
    assert len(ask([*requests_to(CLAUDE, 1), request], tmp_path, budget=budget)) == 2
    assert tries(tmp_path, request.key) == [(1, "maybe_billed"), (2, "ok")]


def test_deferred_calls_are_asked_side_by_side_as_far_as_the_money_goes(late: Any, tmp_path: Path) -> None:
    requests = requests_to(GPT, 9)
    # Nothing fits beside the other call; it costs a tenth of what was set aside for it, and then three fit.
    budget = short()
    server = late(budget, only(Reply("Yes.")))
    assert len(ask([*requests_to(CLAUDE, 1), *requests], tmp_path, budget=budget)) == 10
    assert len(server.calls) == 9 and {tuple(tries(tmp_path, r.key)) for r in requests} == {((1, "ok"),)}
    assert budget.most == 3 and budget.reserved == 0.0


def test_of_deferred_calls_the_first_goes_alone(late: Any, tmp_path: Path) -> None:
    # As above three would fit at once, and the key is wrong for all of them.
    budget = short()
    server = late(budget, only("401"))
    with pytest.raises(Incomplete, match="9 of 10"):
        ask([*requests_to(CLAUDE, 1), *requests_to(GPT, 9)], tmp_path, budget=budget)
    assert budget.refused.is_set() and len(server.calls) == 1


def test_what_reserve_would_say_is_known_without_reserving() -> None:
    budget, [request] = Budget(1.5 * GPT_CALL), requests_to(GPT, 1)
    assert budget.reached(request) is None and budget == Budget(1.5 * GPT_CALL)
    budget.reserve(request)
    [other] = requests_to(GPT, 1, "What was question")
    assert budget.reached(other).waiting
    budget.settle(request, Completion(request.key, "ok", usage=Usage(234, 100)))
    assert not budget.reached(other).waiting and budget.reserved == 0.0
    assert worst_case(request) == pytest.approx(GPT_CALL, abs=1e-15)


def test_what_all_that_is_reserved_could_not_pay_is_not_waited_for() -> None:
    [claude], [request] = requests_to(CLAUDE, 1), requests_to(GPT, 1)
    budget = Budget(CLAUDE_CALL + 0.9 * GPT_CALL, {"gpt": 0.5 * GPT_CALL})
    assert "budget_usd[gpt]=" in str(budget.reached(request)) and not budget.reached(request).waiting
    budget.reserve(claude)
    # Of both budgets, that of all waits for what comes back and the model's own for nothing.
    assert "budget_usd[gpt]=" in str(budget.reached(request)) and not budget.reached(request).waiting
    budget = Budget(CLAUDE_CALL + 0.9 * GPT_CALL, {"gpt": 5 * GPT_CALL})
    budget.reserve(claude)
    assert "budget_usd=" in str(budget.reached(request)) and budget.reached(request).waiting
    longer = replace(request, source="x" * 10_000)  # at $1 for a million bytes 0.01 more than there is at all
    assert "budget_usd=" in str(budget.reached(longer)) and not budget.reached(longer).waiting
