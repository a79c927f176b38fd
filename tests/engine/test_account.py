"""What a run may have been billed, by earlier attempts and runs too, and calls that wait for what is left."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import paths, store
from helpers.config import ConfigError, load_experiment, load_models
from helpers.judge import UNWRITTEN, Account, Budget, Incomplete, OverBudget, Spending, earlier, make_plan
from helpers.judge.budget import BudgetReached, cost, worst_case
from helpers.run import plan
from helpers.run.asking import budget_of
from helpers.types import Completion, Model, Price, Request, Usage
from tests.engine.asking import MODELS, PROVIDERS, ask, dearly, requests_to
from tests.engine.traces import statuses, within_the_table
from tests.servers.behaviours import LINE_KINDS, Call, Fault, Reply, faulty, only, polite, scripted
from tests.servers.providers import Entry

#: US dollars for a million tokens: the three differ, so that an amount in the wrong row shows.
PRICES = {"openai": Price(1.0, 10.0), "anthropic": Price(2.0, 30.0), "google": Price(3.0, 50.0)}
DEAR = {kind: replace(MODELS[kind], price=price, max_tokens=100) for kind, price in PRICES.items()}
GPT, CLAUDE = DEAR["openai"], DEAR["anthropic"]
#: Sent and answered, but the answer does not arrive or is empty, and refused: what does not let anybody wait.
FAULTS = ("dropped", "reset_early", "reset", "truncated", "broken_json", "empty", "500", "429")


def most(request: Request) -> float:
    """The most that one call can cost, by hand: what the dearest server bills for its input, and its limit."""
    read = dearly(Call(request.model.provider, request.model.model_id, request.system, request.prompt, request.schema))
    price = request.model.price
    return (read * price.input + request.model.max_tokens * price.output) / 1e6


def billed(entries: list[Entry]) -> float:
    """What the worst provider bills: every answer that it produced, whether it arrived or not."""
    prices = {DEAR[kind].model_id: price for kind, price in PRICES.items()}
    return sum(
        (e.input_tokens * prices[e.model].input + e.output_tokens * prices[e.model].output) / 1e6
        for e in entries
        if e.billed
    )


def to_all(calls: int) -> list[Request]:
    return [request for kind in PROVIDERS for request in requests_to(DEAR[kind], calls, f"For {kind}: what is")]


# --- the rows ---------------------------------------------------------------------------------------------------------


def test_each_model_has_its_own_row_and_the_totals_are_the_sums_of_the_rows(serve: Any, tmp_path: Path) -> None:
    def behave(call: Call) -> Reply | Fault:
        kind = {"openai": "truncated", "anthropic": "429", "google": "broken_json"}[call.provider]
        return scripted([kind], only(Reply("x" * 200, thoughts=7, cached=5)))(call)

    server, budget = serve(behave), Budget(10.0, {"claude": 4.0})
    requests = to_all(4)
    ask(requests, tmp_path, budget=budget)
    rows = {row.model: row for row in budget.account.rows}
    assert list(rows) == ["claude", "gemini", "gpt"]
    for model in DEAR.values():
        row, sent = rows[model.name], [entry for entry in server.calls if entry.model == model.model_id]
        assert row.attempts == len(sent) == 8, "one failure and one reply for each request"
        lost = [entry for entry in sent if entry.fault in LINE_KINDS]
        assert row.maybe_billed == len(lost) == (0 if model.name == "claude" else 4)
        told = [entry for entry in sent if entry.fault is None]
        assert row.input == sum(entry.input_tokens for entry in told) and row.cached == 4 * 5
        assert row.output == sum(entry.output_tokens for entry in told)
        worst = sum(most(r) for r in requests if r.model == model) if lost else 0.0
        assert row.maybe_billed_usd == pytest.approx(worst, abs=1e-12)
        assert row.usd == pytest.approx(billed(told) + worst, abs=1e-12) and row.reserved == 0.0
        assert row.usd >= billed(sent) > 0
    total = budget.account.total
    for name in ("attempts", "maybe_billed", "input", "output", "cached"):
        assert getattr(total, name) == sum(getattr(row, name) for row in rows.values()), name
    for name in ("usd", "maybe_billed_usd"):
        assert getattr(total, name) == pytest.approx(sum(getattr(row, name) for row in rows.values()), abs=1e-15)
    assert budget.spent == pytest.approx(total.usd, abs=1e-15)
    assert total.remaining == pytest.approx(10.0 - total.usd)
    assert rows["claude"].remaining == pytest.approx(4.0 - rows["claude"].usd) and rows["gpt"].remaining is None


def test_the_table_says_it_in_a_line_a_model(serve: Any, tmp_path: Path) -> None:
    rows = (
        Spending("gemini", 3, 0.25, 0.0, 0, 0.0, 12_345, 67, 0),
        Spending("gpt", 2, 0.5, 0.125, 1, 0.375, 10, 20, 5, limit=1.0),
    )
    lines = [line.split() for line in str(Account(2.0, rows)).splitlines()]
    assert lines == [
        ["model", "attempts", "tokens", "in", "cached", "out", "spent", "perhaps", "billed", "reserved", "left"],
        ["gemini", "3", "12,345", "0", "67", "$0.2500", "-", "$0.0000", "-"],
        ["gpt", "2", "10", "5", "20", "$0.5000", "1", "($0.3750)", "$0.1250", "$0.3750"],
        ["total", "5", "12,355", "5", "87", "$0.7500", "1", "($0.3750)", "$0.1250", "$1.1250"],
    ]
    assert len({len(line) for line in str(Account(2.0, rows)).splitlines()}) == 1


def test_replies_of_this_run_are_told_from_those_that_were_there(serve: Any, tmp_path: Path) -> None:
    serve()
    first, second = Budget(1.0), Budget(1.0)
    requests = requests_to(GPT, 5)
    ask(requests[:2], tmp_path, budget=first)
    ask(requests, tmp_path, budget=second)
    assert first.account.replies == {request.key for request in requests[:2]}
    assert second.account.replies == {request.key for request in requests[2:]}
    assert second.account.total.attempts == 3


# --- attempts that nobody hears of any more -------------------------------------------------------------------------


def test_an_attempt_ended_by_our_fault_is_reserved(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve()
    monkeypatch.setattr("helpers.providers.openai.read", lambda raw: 1 // 0)
    budget, requests = Budget(1.0), requests_to(GPT, 3)
    with pytest.raises(ZeroDivisionError) as error:
        ask(requests, tmp_path, budget=budget)
    assert error.value.__notes__ == [UNWRITTEN], "calls may be billed and not stored"
    [row] = budget.account.rows
    assert (row.attempts, row.maybe_billed, row.reserved) == (1, 1, 0.0)
    assert row.usd == row.maybe_billed_usd == pytest.approx(most(requests[0]), abs=1e-12)


def test_a_reply_that_the_disk_refuses_is_paid(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, budget = serve(only(Reply("x" * 40))), Budget(1.0)

    def full(*_: object) -> None:
        raise store.StoreError("no space left")

    monkeypatch.setattr(store.Writer, "append", full)
    with pytest.raises(store.StoreError):
        ask(requests_to(GPT, 5), tmp_path, budget=budget)
    [row] = budget.account.rows
    assert len(server.calls) == row.attempts == 1 and row.maybe_billed == 0
    assert row.usd == pytest.approx(billed(server.calls), abs=1e-12) and row.usd > 0


def test_the_same_request_sent_again_by_the_same_budget_is_two_attempts() -> None:
    budget, [request] = Budget(1.0), requests_to(GPT, 1)
    budget.reserve(request)
    budget.reserve(request)
    budget.settle(request, Completion(request.key, "ok", usage=Usage(1, 1)))
    [row] = budget.account.rows
    assert (row.attempts, row.maybe_billed) == (2, 1)
    assert row.usd == pytest.approx(most(request) + 11e-6, abs=1e-15)


# --- budgets of single models ---------------------------------------------------------------------------------------


def test_a_plan_above_the_budget_of_one_model_is_refused_with_its_name(serve: Any, tmp_path: Path) -> None:
    server, requests = serve(), to_all(10)
    worst = sum(most(r) for r in requests if r.model == DEAR["anthropic"])
    with pytest.raises(OverBudget) as error:
        ask(requests, tmp_path, budget=Budget(10.0, {"gpt": 5.0, "claude": worst / 2}))
    told = str(error.value).splitlines()
    assert told[0].startswith("10 calls to claude are missing and could cost up to $")
    assert f"budget_usd[claude]={worst / 2:.4f}: about 5 of them would fit; raise budget_usd[claude] to $" in told[0]
    assert told[1].startswith("stage") and server.calls == []
    # Where all are named and there is no total, what they may spend together says nothing more.
    limits = {"gpt": 0.0125, "claude": 0.0335, "gemini": 0.0}
    with pytest.raises(OverBudget) as error:
        ask(requests, tmp_path, budget=Budget(sum(limits.values()), limits))
    told = str(error.value).splitlines()
    assert told[0].startswith("10 calls to gemini ") and "none of them would fit" in told[0]
    assert told[1].startswith("stage")
    # The total holds beside them.
    with pytest.raises(OverBudget, match=r"^30 calls are missing .* more than budget_usd=0\.0010"):
        ask(requests, tmp_path, budget=Budget(0.001, {"gpt": 5.0, "claude": 5.0, "gemini": 5.0}))
    assert server.calls == []


@pytest.mark.parametrize("whose", ["", "[gpt]"])
def test_what_an_earlier_stage_spent_is_gone(serve: Any, tmp_path: Path, whose: str) -> None:
    serve(only(Reply("x" * 400)))
    requests = requests_to(GPT, 4)
    three = 3 * most(requests[0])
    budget = Budget(1.0, {"gpt": three}) if whose else Budget(three)
    ask(requests[:2], tmp_path, budget=budget)
    told = rf"2 calls .* budget_usd{re.escape(whose)}=0\.0037 \(\$0\.002\d of it is spent\)"
    with pytest.raises(OverBudget, match=told):
        ask(requests[2:], tmp_path, budget=budget)
    assert len(ask(requests[2:3], tmp_path, budget=budget)) == 1


# --- at random ------------------------------------------------------------------------------------------------------


def test_the_worst_bill_of_any_faults_is_within_the_budget_in_fifty_runs(serve: Any, tmp_path: Path) -> None:
    server = serve(asked=dearly)
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    ended = {"complete": 0, "out of money": 0, "unlucky": 0}  # three times in a row on one request, say
    for seed in range(50):
        # Of the plan, or of a part of it: a later stage is not checked again, and there may be money for less.
        rate, share = (0.2, 0.2, 0.5, 0.9)[seed % 4], (1.0, 1.0, 0.3, 2.0)[seed // 4 % 4]
        server.behaviour = faulty(rate, FAULTS, seed, then=only(Reply("x" * 400)))
        models = [DEAR[kind] for kind in (PROVIDERS[seed % 3], PROVIDERS[(seed + 1) % 3])]
        requests = [r for model in models for r in requests_to(model, 1 + seed % 5, "What is it")]
        requests = [replace(request, schema=schema if seed % 4 == 3 else None) for request in requests]
        budget = Budget(share * sum(map(most, requests)), planned=share < 1)
        folder, before = tmp_path / str(seed), len(server.calls)
        folder.mkdir()
        said = ""
        try:
            ask(requests, folder, budget=budget, concurrency=(1, 3, 16)[seed % 3])
        except Incomplete as error:
            said = str(error)
        sent = server.calls[before:]
        assert billed(sent) <= budget.spent + 1e-12 and budget.spent <= budget.limit + 1e-9 and budget.reserved == 0.0
        assert sum(row.attempts for row in budget.account.rows) == len(sent)
        assert all(within_the_table(folder, model, [r for r in requests if r.model == model]) for model in models)
        got = sum(statuses(folder, model).count("ok") for model in models)
        ended["out of money" if "above budget_usd=" in said else "unlucky" if said else "complete"] += 1
        if said:
            assert f"{len(requests) - got} of {len(requests)} replies are still missing" in said
            assert said.endswith(str(budget.account))
            server.behaviour = only(Reply("x" * 400))
            ask(requests, folder, budget=Budget(100.0))
            assert len(server.calls) - before - len(sent) == len(requests) - got, "only what is missing"
        assert sum(statuses(folder, model).count("ok") for model in models) == len(requests)
    assert min(ended["complete"], ended["out of money"]) >= 10, ended


@pytest.mark.slow
def test_a_notebook_out_of_money_fails_and_the_same_command_completes_it(serve: Any, tmp_path: Path) -> None:
    names = ["claude_fast", "gpt_fast", "gemini_fast"]
    given = {"judges": names, "candidates": names, "question_limit": 2, "store": str(tmp_path / "replies")}
    given |= {"out": str(tmp_path / "out")}
    planned = asyncio.run(plan(load_experiment("mt_bench_blind", **given)))

    def command(budget: Any) -> subprocess.CompletedProcess[str]:
        values = {**given, "budget_usd": budget}
        pairs = [word for name, value in values.items() for word in ("-p", name, json.dumps(value))]
        code = [sys.executable, "-m", "helpers", "run", "01_mt_bench_blind", *pairs]
        return subprocess.run(code, capture_output=True, text=True, timeout=400, cwd=paths.ROOT)

    server = serve(scripted(["truncated"] * 2))
    refused = command(planned.usd / 2)
    assert refused.returncode == 1 and "about 6 of them would fit; raise budget_usd to $" in refused.stdout
    assert server.calls == []
    short = command({"total": planned.usd})
    assert short.returncode == 1 and "cell [3] failed: Incomplete: " in short.stdout
    assert "of 6 replies are still missing" in short.stdout and "could bring the cost above budget_usd=" in short.stdout
    assert "What is missing could cost up to $" in short.stdout and "perhaps billed" in short.stdout
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["report.failed.ipynb"]
    before, server.behaviour = len(server.calls), polite
    whole = command({**dict.fromkeys(names, planned.usd), "total": 2 * planned.usd})
    assert whole.returncode == 0, whole.stdout + whole.stderr
    told = json.loads((tmp_path / "out" / "run.json").read_text())
    asked = len(server.calls) - before
    assert 1 <= asked < 12 and told["account"]["total"]["attempts"] == asked
    assert sum(row["calls"] for row in told["stored"]) == 12 - asked
    assert f"Not in it: {12 - asked} replies that were asked before" in whole.stderr


# --- what reserve would say -------------------------------------------------------------------------------------------

#: By hand, for prompts of requests_to: 34 bytes and 200 tokens around them at $1, 100 at $10 a million ...
GPT_CALL = (34 + 200) * 1e-6 + 100 * 10e-6
#: ... and 34 bytes and 100 tokens at $2, 100 at $30.
CLAUDE_CALL = (34 + 100) * 2e-6 + 100 * 30e-6


def reached(budget: Budget, request: Request) -> BudgetReached | None:
    return budget.reached(request.model, worst_case(request))


def test_what_reserve_would_say_is_known_without_reserving() -> None:
    budget, [request] = Budget(1.5 * GPT_CALL), requests_to(GPT, 1)
    assert reached(budget, request) is None and budget == Budget(1.5 * GPT_CALL)
    budget.reserve(request)
    [other] = requests_to(GPT, 1, "What was question")
    assert reached(budget, other).waiting
    budget.settle(request, Completion(request.key, "ok", usage=Usage(234, 100)))
    assert not reached(budget, other).waiting and budget.reserved == 0.0
    assert worst_case(request) == pytest.approx(GPT_CALL, abs=1e-15)


def test_what_all_that_is_reserved_could_not_pay_is_not_waited_for() -> None:
    [claude], [request] = requests_to(CLAUDE, 1), requests_to(GPT, 1)
    budget = Budget(CLAUDE_CALL + 0.9 * GPT_CALL, {"gpt": 0.5 * GPT_CALL})
    assert "budget_usd[gpt]=" in str(reached(budget, request)) and not reached(budget, request).waiting
    budget.reserve(claude)
    # Of both budgets, that of all waits for what comes back and the model's own for nothing.
    assert "budget_usd[gpt]=" in str(reached(budget, request)) and not reached(budget, request).waiting
    budget = Budget(CLAUDE_CALL + 0.9 * GPT_CALL, {"gpt": 5 * GPT_CALL})
    budget.reserve(claude)
    assert "budget_usd=" in str(reached(budget, request)) and reached(budget, request).waiting
    longer = replace(request, source="x" * 10_000)  # at $1 for a million bytes 0.01 more than there is at all
    assert "budget_usd=" in str(reached(budget, longer)) and not reached(budget, longer).waiting


# --- earlier runs -----------------------------------------------------------------------------------------------------

#: At $1 a million tokens read and $10 written.
MINE, OTHER = {"experiment": "mine"}, {"experiment": "another"}


def stored(folder: Path, model: Model, labels: dict[str, str], *replies: dict[str, Any], first: int = 0) -> None:
    """Attempts of the first requests to a model, in its file."""
    writer = store.Writer(store.file_of(folder, model.name))
    for request, said in zip(requests_to(model, first + len(replies))[first:], replies, strict=True):
        writer.append(request, Completion(request.key, **{"status": "ok", "text": "Fine.", **said}), labels)
    writer.close()


def test_what_an_experiment_may_have_been_billed_stands_in_the_store(tmp_path: Path) -> None:
    counted = {"usage": Usage(1000, 50)}
    stored(tmp_path, GPT, MINE, counted, counted, {"status": "rate_limited"})
    stored(tmp_path, GPT, OTHER, counted, first=3)
    assert earlier("mine", [GPT, GPT], tmp_path) == pytest.approx(2 * (1000e-6 + 50 * 10e-6))
    assert earlier("nobody's", [GPT], tmp_path) == 0.0 == earlier("mine", [MODELS["anthropic"]], tmp_path)
    stored(tmp_path, GPT, MINE, {"status": "maybe_billed", "maybe_billed": True}, first=4)
    assert earlier("mine", [GPT], tmp_path) > 2 * (1000e-6 + 50 * 10e-6) + 100 * 10e-6, "at the most that it can be"
    assert earlier("mine", [replace(GPT, provider="simulated")], tmp_path) == 0.0


def test_a_loop_over_a_failing_run_cannot_spend_the_total_again_and_again(serve: Any, tmp_path: Path) -> None:
    server, labels = serve(only(Fault("truncated"))), {each.key: MINE for each in requests_to(GPT, 3)}
    one = 34e-6 + 200e-6 + 100 * 10e-6
    total, ended = 7.5 * one, []
    for _ in range(9):
        budget = Budget(1.0, total=total, earlier=earlier("mine", [GPT], tmp_path))
        try:
            ask(requests_to(GPT, 3), tmp_path, budget=budget, labels=labels)
        except (Incomplete, OverBudget) as error:
            ended.append(str(error))
    assert server.count(billed=True) <= 7 and earlier("mine", [GPT], tmp_path) <= total
    assert "budget_total_usd=" in ended[-1] and "earlier attempts may have been billed" in ended[-1]


def test_a_notebook_may_limit_what_all_runs_of_its_experiment_cost(tmp_path: Path) -> None:
    models = {"judges": ["gpt_fast", "claude_fast"], "candidates": ["gpt_fast", "claude_fast"], "store": str(tmp_path)}
    gpt = load_models()["gpt_fast"]
    stored(tmp_path, gpt, {"experiment": "mt_bench_blind"}, {"usage": Usage(1000, 50)})
    limited = budget_of(load_experiment("mt_bench_blind", **models, budget_usd=1.0, budget_total_usd=2))
    assert (limited.limit, limited.total) == (1.0, 2.0) and limited.earlier == cost(gpt, 1000, 50) > 0
    assert budget_of(load_experiment("mt_bench_blind", **models)).total is None
    with pytest.raises(ConfigError, match="budget_total_usd = -1"):
        load_experiment("mt_bench_blind", **models, budget_total_usd=-1)


def test_the_account_tells_what_came_before() -> None:
    assert "earlier runs" not in str(Budget(1.0).account)
    told = str(Budget(1.0, earlier=0.25).account)
    assert told.endswith("Attempts of earlier runs of this experiment may have been billed $0.2500: $0.2500 in all.")
    assert Account(1.0).total == replace(Account(1.0, earlier=3.0).total)


def test_a_plan_says_what_is_expected_beside_the_bound(tmp_path: Path) -> None:
    requests = requests_to(GPT, 30)
    assert "Expected" not in str(make_plan({"judging": requests}, tmp_path)), "nothing is known of the model"
    size = requests[0].measured.size
    read = {"usage": Usage(10, 20), "latency": 3.0}
    stored(tmp_path, GPT, MINE, *[read] * 10)
    plan = make_plan({"judging": requests}, tmp_path, concurrency=5)
    [row] = plan.rows
    assert (row.missing, row.seen) == (20, 10) and size > 10
    assert row.expected_usd == pytest.approx(20 * (10e-6 + 20 * 10e-6)) and row.expected_usd < row.usd / 4
    assert row.expected_seconds == pytest.approx(20 * 3.0 / 5)
    assert f"Expected of gpt: ${row.expected_usd:.4f}, about 12 s (from 10 stored replies)." in str(plan)
    [done] = make_plan({"judging": requests[:10]}, tmp_path).rows
    assert done.expected_usd is None and "Expected" not in str(make_plan({"judging": requests[:10]}, tmp_path))
