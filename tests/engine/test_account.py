"""What a run may have been billed, by earlier attempts and runs too, and calls that wait for what is left."""

from __future__ import annotations

import asyncio
import json
import math
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from helpers import paths, store
from helpers.config import ConfigError, load_experiment, load_models
from helpers.judge import UNWRITTEN, Account, Budget, Incomplete, OverBudget, Spending, complete_all, earlier, make_plan
from helpers.judge.budget import BudgetReached, cost, worst_case
from helpers.run import plan
from helpers.run.asking import budget_of
from helpers.types import Completion, Model, Price, Request, Usage
from tests.engine.asking import MODELS, PROVIDERS, ask, dearly, missing, requests_to
from tests.engine.traces import attempts, statuses, within_the_table
from tests.servers.answering import answering
from tests.servers.behaviours import LINE_KINDS, Behaviour, Call, Fault, Reply, faulty, only, polite, scripted, step
from tests.servers.providers import Entry, JudgeServer

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


async def _cancelled(requests: list[Request], folder: Path, budget: Budget, ready: Callable[[], bool]) -> None:
    run = asyncio.create_task(complete_all(requests, folder=folder, budget=budget, show=False, concurrency=4))
    while not ready():
        await asyncio.sleep(0.01)
    run.cancel()
    await asyncio.sleep(0.05)  # a first interrupt waits for what is in flight
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


def test_calls_that_are_cut_off_count_at_the_most_that_they_can_cost(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda call: step(Fault("slow", seconds=20.0) if call.n else Reply("x" * 40), call))
    budget, requests = Budget(1.0), requests_to(GPT, 8)
    asyncio.run(_cancelled(requests, tmp_path, budget, lambda: len(server.calls) == 5))
    [row] = budget.account.rows
    assert (row.attempts, row.maybe_billed, row.reserved) == (5, 4, 0.0)
    assert row.maybe_billed_usd == pytest.approx(4 * most(requests[0]), abs=1e-12)
    assert row.usd == pytest.approx(row.maybe_billed_usd + billed(server.calls[:1]), abs=1e-12)
    assert row.usd >= billed(server.calls)


def test_an_attempt_ended_by_our_fault_stays_reserved(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve()
    monkeypatch.setattr("helpers.providers.openai.read", lambda raw: 1 // 0)
    budget, requests = Budget(1.0), requests_to(GPT, 3)
    with pytest.raises(ZeroDivisionError) as error:
        ask(requests, tmp_path, budget=budget)
    assert error.value.__notes__ == [UNWRITTEN], "calls may be billed and not stored"
    [row] = budget.account.rows
    assert (row.attempts, row.maybe_billed, row.reserved) == (1, 1, 0.0)
    assert row.usd == row.maybe_billed_usd == pytest.approx(most(requests[0]), abs=1e-12)


def test_a_reply_that_the_disk_does_not_take_is_paid_all_the_same(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_provider_that_counts_too_much_is_believed_and_asked_no_more(serve: Any, tmp_path: Path) -> None:
    reply = {"role": "assistant", "content": "Yes.", "refusal": None}
    usage = {"prompt_tokens": 34, "completion_tokens": 90_000}
    body = {"choices": [{"index": 0, "message": reply, "finish_reason": "stop"}], "usage": usage, "model": "m"}
    seen: list[str] = []
    with answering(json.dumps(body), seen) as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        patch.setenv("OPENAI_API_KEY", "not-a-key")
        budget = Budget(0.5)
        missing(requests_to(GPT, 10), tmp_path, "could bring the cost above", budget=budget)
    assert len(seen) == 1 and budget.spent == pytest.approx(34e-6 + 0.9)


# --- budgets of single models ---------------------------------------------------------------------------------------


def test_a_model_without_money_stops_alone_and_the_others_go_on(serve: Any, tmp_path: Path) -> None:
    server = serve(scripted(["truncated"], only(Reply("x" * 400))))
    requests = to_all(6)
    worst = {kind: sum(most(r) for r in requests if r.model == DEAR[kind]) for kind in PROVIDERS}
    limits = {"gpt": worst["openai"], "claude": 2 * worst["anthropic"]}
    budget = Budget(10.0, limits)
    told = missing(requests, tmp_path, budget=budget)
    said, rows = told, {row.model: row for row in budget.account.rows}
    assert statuses(tmp_path, DEAR["anthropic"]).count("ok") == statuses(tmp_path, DEAR["google"]).count("ok") == 6
    done = statuses(tmp_path, GPT).count("ok")
    assert 1 <= done <= 3 and f"{6 - done} of 18 replies are still missing" in said
    assert f"{6 - done} x the next call could bring the cost above budget_usd[gpt]={limits['gpt']:.4f}" in said
    assert "claude: " not in said and "gemini: " not in said
    for model in DEAR.values():
        sent = [entry for entry in server.calls if entry.model == model.model_id]
        assert billed(sent) <= rows[model.name].usd <= limits.get(model.name, budget.limit) + 1e-9
    more = sum(sorted(most(r) for r in requests if r.model == GPT)[: 6 - done])
    assert f"What is missing could cost up to ${math.ceil(more * 1e4) / 1e4:.4f} more" in said, "that can be paid next"
    assert said.endswith(str(budget.account))


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


# --- calls that wait --------------------------------------------------------------------------------------------------

#: By hand, for prompts of requests_to: 34 bytes and 200 tokens around them at $1, 100 at $10 a million ...
GPT_CALL = (34 + 200) * 1e-6 + 100 * 10e-6
#: ... and 34 bytes and 100 tokens at $2, 100 at $30.
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
    missing([*requests_to(CLAUDE, 1), *requests_to(GPT, 9)], tmp_path, "9 of 10", budget=budget)
    assert budget.refused.is_set() and len(server.calls) == 1


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
