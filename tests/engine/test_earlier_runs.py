"""What earlier runs of an experiment may have been billed counts, and a plan says what is expected of the next one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import store
from helpers.config import ConfigError, load_experiment, load_models
from helpers.judge import Account, Budget, Incomplete, OverBudget, earlier, make_plan
from helpers.judge.budget import cost
from helpers.run.asking import budget_of
from helpers.types import Completion, Model, Price, Usage
from tests.engine.asking import MODELS, ask, requests_to
from tests.servers.behaviours import Fault, only

#: At $1 a million tokens read and $10 written.
GPT = replace(MODELS["openai"], price=Price(1.0, 10.0), max_tokens=100)
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
