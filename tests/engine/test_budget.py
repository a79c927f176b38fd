"""Money and keys: everything that can be known before the first call is said before it, and no limit is ever passed."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import store
from helpers.judge import Budget, Incomplete, MissingKey, NoPrice, OverBudget, complete_all, make_plan
from helpers.judge.budget import BudgetReached, bounds, cost, dollars, own_server
from helpers.types import Completion, Model, Price, Request, Usage
from tests.engine.asking import MODELS, PROVIDERS, answering, ask, at, dearly, requests_to, statuses, without_keys
from tests.servers.behaviours import Reply, only, scripted
from tests.servers.providers import JudgeServer

#: A dollar for a million tokens read, ten for a million written: one call of requests_to(PRICED, ...) reads at most the
#: 25 bytes of its prompt, the 9 of its system text and 200 tokens around them, and writes at most 100 tokens.
PRICED = replace(MODELS["openai"], price=Price(1.0, 10.0), max_tokens=100)
ONE_CALL = (25 + 9 + 200) * 1e-6 + 100 * 10e-6


# --- before the first call --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "share", "fit"), [(10, 0.999, 9), (1000, 0.5, 500)])
def test_a_plan_above_the_budget_is_refused_before_the_first_call_with_count_and_cost(
    serve: Any, tmp_path: Path, count: int, share: float, fit: int
) -> None:
    server, requests = serve(), requests_to(PRICED, count)
    worst = sum(len(r.prompt.encode()) + len("Be brief.") + 200 for r in requests) * 1e-6 + count * 100 * 10e-6
    budget = Budget(share * worst)
    with pytest.raises(OverBudget) as error:
        ask(requests, tmp_path, budget=budget)
    assert server.calls == [] and budget == Budget(share * worst) and "gpt" in str(error.value)
    assert str(error.value).startswith(
        f"{count} calls are missing and could cost up to {dollars(worst)}, which is more than budget_usd="
        f"{share * worst:.4f}: about {fit} of them would fit; raise budget_usd to {dollars(worst)}, or ask less "
        "(question_limit, judges)."
    )
    lock = store.try_lock(store.file_of(tmp_path, "gpt"))
    assert lock is not None, "the file is free again"
    lock.release()
    if count == 10:
        assert len(ask(requests, tmp_path, budget=Budget(float(dollars(worst).lstrip("$"))))) == 10, "what is said"


def test_without_money_nothing_fits_but_what_is_free(serve: Any, tmp_path: Path) -> None:
    server = serve()
    with pytest.raises(OverBudget, match=r"budget_usd=0\.0000: none of them would fit"):
        ask(requests_to(PRICED, 3), tmp_path, budget=Budget())
    with pytest.raises(OverBudget, match=r"^8 calls are missing .*: about 5 of them would fit"):
        ask([*requests_to(PRICED, 3), *requests_to(at(server.url, "own"), 5)], tmp_path, budget=Budget())
    with pytest.raises(OverBudget, match=r"budget_usd=0\.0000"):  # and without a budget there is none
        asyncio.run(complete_all(requests_to(PRICED, 1), folder=tmp_path, show=False))
    assert server.calls == []


def test_a_budget_of_the_plan_passes_and_what_is_counted_is_what_the_provider_counts(
    serve: Any, tmp_path: Path
) -> None:
    server = serve(latency=0.01)
    requests = requests_to(PRICED, 10)
    plan = make_plan({"calls": requests}, tmp_path)
    assert plan.usd == pytest.approx(10 * ONE_CALL, abs=1e-15) and plan.missing == 10
    budget = Budget(plan.usd)
    assert len(ask(requests, tmp_path, budget=budget)) == 10
    counted = sum(entry.input_tokens * 1e-6 + entry.output_tokens * 10e-6 for entry in server.calls)
    assert budget.spent == pytest.approx(counted, abs=1e-12) and 0 < budget.spent < plan.usd
    assert budget.reserved == pytest.approx(0.0, abs=1e-12)
    assert make_plan({"calls": requests}, tmp_path).usd == 0.0


def test_only_what_is_missing_is_planned(serve: Any, tmp_path: Path) -> None:
    serve()
    ask(requests_to(PRICED, 4), tmp_path)
    plan = make_plan({"answers": requests_to(PRICED, 10), "again": requests_to(PRICED, 2)}, tmp_path)
    assert [(row.stage, row.calls, row.stored, row.missing) for row in plan.rows] == [
        ("answers", 10, 4, 6),
        ("again", 2, 2, 0),
    ]
    assert plan.usd == pytest.approx(6 * ONE_CALL, abs=1e-15)
    assert (plan.rows[0].input_tokens, plan.rows[0].output_tokens) == (6 * 234, 600)
    assert "answers   gpt" in str(plan) and "0.0074" in str(plan)
    assert len(ask(requests_to(PRICED, 10), tmp_path, budget=Budget(6 * ONE_CALL))) == 10


def test_answers_that_are_not_written_yet_are_planned_in_full_and_never_sent(serve: Any, tmp_path: Path) -> None:
    server = serve()
    unwritten = Request(PRICED, "Which is better?", unwritten=4000)
    plan = make_plan({"judging": [unwritten]}, tmp_path)
    assert plan.usd == pytest.approx((16 + 4000 + 200) * 1e-6 + 100 * 10e-6, abs=1e-15)
    with pytest.raises(ValueError, match="not written yet can be planned but not sent"):
        ask([*requests_to(PRICED, 3), unwritten], tmp_path)
    assert server.calls == []
    # Two of them are equal only as long as they are not written.
    twice = [unwritten, replace(unwritten)]
    assert make_plan({"both orders": twice}, tmp_path).missing == 2
    assert make_plan({"the same": [replace(each, unwritten=0) for each in twice]}, tmp_path).missing == 1


@pytest.mark.parametrize("kind", PROVIDERS)
def test_a_bound_is_never_below_what_is_counted(serve: Any, tmp_path: Path, kind: str) -> None:
    server = serve(only(Reply("wörter " * 200, thoughts=30)), asked=dearly)
    model = replace(MODELS[kind], max_tokens=60, price=Price(1.0, 10.0))
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    for request in (Request(model, "日本語の質問" * 20, "Be brief."), Request(model, "A question " * 9, schema=schema)):
        ask([request], tmp_path)
        entry = server.calls[-1]
        assert entry.input_tokens == bounds(request)[0] == dearly(entry.call)
        assert entry.output_tokens <= bounds(request)[1] == 60


# --- while they run ---------------------------------------------------------------------------------------------------


def _billed(server: JudgeServer) -> float:
    """What the worst provider bills: every answer that it produced, whether it arrived or not."""
    return sum(entry.input_tokens * 1e-6 + entry.output_tokens * 10e-6 for entry in server.calls if entry.billed)


@pytest.mark.parametrize("concurrency", [1, 4, 16])
def test_retries_that_are_billed_never_pass_the_limit(serve: Any, tmp_path: Path, concurrency: int) -> None:
    server = serve(scripted(["truncated"], only(Reply("x" * 400))))
    budget, requests = Budget(10 * ONE_CALL), requests_to(PRICED, 10)
    with pytest.raises(Incomplete) as error:
        ask(requests, tmp_path, budget=budget, concurrency=concurrency)
    said = str(error.value)
    told = re.search(
        r"above budget_usd=0\.0123 \(\$([0-9.]+) spent, \$([0-9.]+) reserved, \$([0-9.]+) left; "
        r"the call could cost up to \$0\.0013\)",
        said,
    )
    then, reserved, there = (float(amount) for amount in told.groups())
    assert then <= budget.spent + 1.0001e-4 and budget.limit - then < ONE_CALL, "what was in flight could not pay it"
    assert there <= budget.limit - then - reserved + 2.0001e-4
    assert _billed(server) <= budget.spent <= budget.limit
    done = statuses(tmp_path, PRICED).count("ok")
    assert f"{10 - done} of 10 replies are still missing" in said and f"{10 - done} x the next call" in said
    assert 1 <= done <= 5, "two calls for each reply, and money for ten"
    kept = asyncio.run(complete_all(requests, folder=tmp_path, ask=False))
    assert len(kept) == done, "what was paid for is kept"
    before = len(server.calls)
    assert len(ask(requests, tmp_path, budget=Budget(3 * 10 * ONE_CALL))) == 10
    assert len(server.calls) - before <= 2 * (10 - done)


def test_what_costs_nothing_is_asked_also_where_a_bill_was_above_its_worst_case() -> None:
    budget, [paid, further] = Budget(ONE_CALL), requests_to(PRICED, 2)
    [free] = requests_to(MODELS["own"], 1)
    free = replace(free, model=replace(free.model, base_url="http://127.0.0.1:8000/v1"))
    budget.reserve(paid)
    budget.settle(paid, Completion(paid.key, "ok", usage=Usage(10_000, 100)))
    assert budget.spent > budget.limit and budget.reached(further) is not None
    budget.reserve(free)
    assert budget.reserved == 0.0 and {row.model: row.attempts for row in budget.rows} == {"gpt": 1, "llama": 1}


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(0, 1000), st.booleans()), max_size=40), st.floats(0, 5))
def test_a_budget_never_gives_what_it_has_not(attempts: list[tuple[int, int, bool]], limit: float) -> None:
    budget, waiting, spent = Budget(limit), [], 0.0
    model = Model("gpt", "openai", "m", "gpt", price=Price(0.0, 1000.0))  # a thousandth of a dollar a token
    for n, (most, said, lost) in enumerate(attempts):
        request = Request(replace(model, max_tokens=most), f"question {n}")
        if lost:
            completion = Completion(request.key, "maybe_billed", maybe_billed=True)
        else:
            completion = Completion(request.key, "ok", usage=Usage(3, min(said, most)))
        try:
            budget.reserve(request)
            waiting.append((request, completion, (most if lost else min(said, most)) / 1000))
        except BudgetReached as stop:
            assert stop.waiting == (spent + most / 1000 <= limit + 1e-9), "what is reserved may come back"
            if waiting:
                asked, reply, cost_then = waiting.pop(0)
                budget.settle(asked, reply)
                spent += cost_then
        assert budget.spent == pytest.approx(spent, abs=1e-9)
        assert budget.reserved == pytest.approx(sum(r.model.max_tokens for r, _, _ in waiting) / 1000, abs=1e-9)
        assert budget.spent + budget.reserved <= limit + 1e-6


def test_a_budget_is_exact_after_many_calls() -> None:
    budget, model = Budget(1.0), Model("gpt", "openai", "m", "gpt", price=Price(0.0, 1000.0))
    for n in range(20_000):
        request = Request(replace(model, max_tokens=300 + n % 401), f"question {n % 64}")
        budget.reserve(request)
        budget.settle(request, Completion(request.key, "refused"))
    for n, most in enumerate((300, 300, 300, 99, 1)):
        budget.reserve(Request(replace(model, max_tokens=most), f"another {n}"))
    with pytest.raises(BudgetReached):
        budget.reserve(Request(replace(model, max_tokens=1), "one more"))
    assert budget.spent == 0.0 and budget.reserved == pytest.approx(1.0, abs=1e-9)


# --- prices -----------------------------------------------------------------------------------------------------------


def test_a_model_without_a_price_is_named_with_the_line_to_add(serve: Any, tmp_path: Path) -> None:
    server = serve()
    unknown = replace(MODELS["openai"], name="gpt_next", model_id="no-such-model-9")
    for refuse in (lambda r: ask(r, tmp_path), lambda r: make_plan({"calls": r}, tmp_path)):
        with pytest.raises(NoPrice) as error:
            refuse([*requests_to(MODELS["google"], 2), *requests_to(unknown, 2)])
        assert "model 'gpt_next'" in str(error.value) and "'no-such-model-9'" in str(error.value)
        assert "`price: {input: <US dollars for a million tokens>, output: <...>}`" in str(error.value)
    assert server.calls == []


def test_a_price_in_the_file_wins_over_the_table() -> None:
    model = MODELS["openai"]
    assert cost(model, 1_000_000, 1_000_000) == pytest.approx(0.25 + 2.00), "the published price of gpt-5-mini"
    assert cost(replace(model, price=Price(3.0, 4.0)), 2_000_000, 500_000) == 8.0
    assert cost(replace(model, price=Price(0.0, 0.0)), 10**9, 10**9) == 0.0


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://192.168.0.7/v1", True),
        ("http://gpu-box:8000/v1", True),
        ("http://gpu.internal/v1", True),
        ("https://8.8.8.8/v1", False),
        ("https://api.example.com/v1", False),
        (None, False),
    ],
)
def test_calls_to_a_server_of_ones_own_cost_nothing(address: str | None, own: bool) -> None:
    model = replace(MODELS["own"], base_url=address, model_id="no-such-model-9")
    assert own_server(address) is own
    if own:
        assert cost(model, 10**9, 10**9) == 0.0
    else:
        with pytest.raises(NoPrice):
            cost(model, 1, 1)


def test_own_servers_are_asked_without_a_budget(serve: Any, tmp_path: Path) -> None:
    server, budget = serve(scripted(["truncated"])), Budget(0.0)
    assert len(ask(requests_to(at(server.url, "own"), 5), tmp_path, budget=budget)) == 5
    assert budget.spent == 0.0


# --- keys -------------------------------------------------------------------------------------------------------------


def test_a_missing_key_is_named_before_any_call_with_the_models_that_need_it(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("GEMINI_API_KEY", " \n")
    other = replace(MODELS["anthropic"], name="claude_new")
    named = Model("router", "openai", "m", "x", base_url=f"{server.url}/v1", revision={}, api_key_env="ROUTER_API_KEY")
    models = (MODELS["openai"], MODELS["anthropic"], other, MODELS["google"], named)
    with pytest.raises(MissingKey) as error:
        ask([request for model in models for request in requests_to(model, 2, model.name)], tmp_path)
    assert str(error.value) == (
        "not set in the environment: ANTHROPIC_API_KEY (needed by claude, claude_new); "
        "GOOGLE_API_KEY or GEMINI_API_KEY (needed by gemini); ROUTER_API_KEY (needed by router). See .env.example."
    )
    assert server.calls == [] and without_keys(str(error.value), server.env())
    assert list(tmp_path.iterdir()) == []


def test_what_is_stored_needs_no_key_and_no_price(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    ask(requests_to(MODELS["openai"], 3), tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY")
    assert len(ask(requests_to(MODELS["openai"], 3), tmp_path, budget=Budget(0.0))) == 3
    part = asyncio.run(complete_all(requests_to(MODELS["openai"], 5), folder=tmp_path, ask=False))
    assert len(part) == 3 and len(server.calls) == 3


@pytest.mark.parametrize("kind", MODELS)
def test_a_key_goes_to_its_own_provider_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, f"secret-of-{name}")
    monkeypatch.setenv("ROUTER_API_KEY", "key-of-the-router")
    seen: list[str] = []
    with answering("{}", seen) as url:
        there = replace(MODELS[kind], base_url=url, revision={})
        for model in (there, replace(there, name="named", api_key_env="ROUTER_API_KEY")):
            with pytest.raises(Incomplete):
                ask(requests_to(model, 1, model.name), tmp_path)
    assert len(seen) == 12 and "secret-of-" not in "".join(seen)
    assert [("key-of-the-router" in headers) for headers in seen] == [False] * 6 + [True] * 6


@pytest.mark.parametrize("kind", PROVIDERS)
def test_a_line_end_copied_with_a_key_does_no_harm(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for name, value in serve().env().items():
        if name.endswith("_API_KEY"):
            monkeypatch.setenv(name, f"{value}\r\n")
    assert len(ask(requests_to(MODELS[kind], 1), tmp_path)) == 1


# --- models that end --------------------------------------------------------------------------------------------------


def test_a_model_that_its_provider_ends_is_named_before_it_is_asked(
    serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    serve()
    said_here = replace(MODELS["openai"], name="old", retires="2026-11-30")
    known_to_the_sdk = replace(MODELS["anthropic"], name="older", model_id="claude-opus-4-0", price=Price(1, 1))
    for model in (said_here, known_to_the_sdk, MODELS["google"]):
        ask(requests_to(model, 1, model.name), tmp_path)
    said = capfd.readouterr().err
    assert "warning: old (gpt-5-mini) is retired or retiring: 2026-11-30" in said
    assert "warning: older (claude-opus-4-0) is retired or retiring: " in said
    assert "gemini" not in said


def test_another_address_from_the_environment_is_told(
    serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = serve()
    ask(requests_to(MODELS["openai"], 1), tmp_path)
    told = f"note: OPENAI_BASE_URL is set: {server.env()['OPENAI_BASE_URL']} is asked"
    assert told in capfd.readouterr().err
    ask(requests_to(at(server.url, "own"), 1), tmp_path)
    assert "OPENAI_BASE_URL" not in capfd.readouterr().err, "an address in models.yaml is the user's word"
