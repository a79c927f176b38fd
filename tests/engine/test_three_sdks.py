"""Experiment 1 end to end through the three real SDKs and one server of one's own: exactly what is missing is asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from helpers import paths
from helpers.config import load_experiment
from helpers.judge import Incomplete, dollars
from helpers.run import Asked, ask, costs, plan
from helpers.types import Experiment
from tests.engine.asking import FakeClock
from tests.servers import judging
from tests.servers.behaviours import Call, Fault, Reply, scripted
from tests.servers.providers import Entry, JudgeServer

REAL = ["claude_fast", "claude_thinking", "gpt_fast", "gpt_thinking", "gemini_fast", "gemini_thinking"]
OWN = {"provider": "openai", "model_id": "llama-3-8b", "vendor": "llama", "tier": "fast", "structured": False}


def _models(folder: Path, server: JudgeServer, **changed: Any) -> Path:
    """A models.yaml with the six of the published run as they stand in ours, and one at the server's address."""
    known = yaml.safe_load(paths.MODELS.read_text(encoding="utf-8"))
    entries = {name: {**known[name], **changed} for name in REAL}
    entries["own"] = {**OWN, "revision": {"weights": "main"}, "base_url": f"{server.url}/v1"}
    path = folder / "models.yaml"
    path.write_text(json.dumps(entries), encoding="utf-8")  # which is YAML without aliases
    return path


def _experiment(folder: Path, server: JudgeServer, names: list[str], limit: int, **parameters: Any) -> Experiment:
    changed = parameters.pop("changed", {})
    given = {"judges": names, "candidates": names, "question_limit": limit, "budget_usd": 1e6, **parameters}
    given |= {"store": str(folder / "replies"), "out": str(folder / "out")}
    return load_experiment("mt_bench_blind", models_file=_models(folder, server, **changed), **given)


def _ask(experiment: Experiment) -> Asked:
    return asyncio.run(ask(experiment, show=False))


def _judging(entry: Entry) -> bool:
    return judging.nonce_of(entry.call) is not None


def _as_the_server_said(asked: Asked, server: JudgeServer) -> bool:
    """Whether every verdict that was read is the one that the server decided on for this very prompt."""
    decided = {
        (entry.model, entry.call.prompt): tuple(judging.ranking_of(entry.call, sorted(judging.texts_of(entry.call))))
        for entry in server.calls
        if _judging(entry)
    }
    return all(
        judgment.verdict.ranking == decided[judgment.trial.judge.model_id, judgment.trial.request.prompt]
        for judgment in asked.judgments
    )


def test_every_model_is_asked_once_for_each_answer_and_each_verdict(serve: Any, tmp_path: Path) -> None:
    server, names = serve(), [*REAL, "own"]
    experiment = _experiment(tmp_path, server, names, 6)
    planned = asyncio.run(plan(experiment))
    assert planned.missing == 2 * 7 * 6 and planned.usd > 0 and server.calls == []
    asked = _ask(_experiment(tmp_path, server, names, 6, budget_usd=planned.usd))
    assert len(server.calls) == 84 and server.duplicates() == 0
    assert {entry.model for entry in server.calls} == {model.model_id for model in experiment.judges}
    assert all(server.count(model=model.model_id) == 12 for model in experiment.judges)
    assert (server.count("openai"), server.count("anthropic"), server.count("google")) == (36, 24, 24)
    assert [entry.structured for entry in server.calls if _judging(entry)].count(True) == 6 * 6
    assert len(asked.judgments) == 42 and {judgment.outcome for judgment in asked.judgments} == {"ok"}
    assert _as_the_server_said(asked, server)
    assert 0 < asked.spent_usd < planned.usd and asked.data == "asked"
    assert len(asked.frame) == 42 * 7 and asked.frame["rank"].notna().all()
    assert set(asked.frame["judge_model"]) == {f"{model.model_id}{server.suffix}" for model in experiment.judges}

    again = _ask(_experiment(tmp_path, server, names, 6, budget_usd=0.0))
    assert len(server.calls) == 84, "a rerun asks nothing and needs no money"
    assert again.frame.equals(asked.frame) and again.spent_usd == 0.0


def test_a_budget_of_the_plan_is_enough_where_answers_have_more_bytes_than_planned_tokens(
    serve: Any, tmp_path: Path
) -> None:
    server, names = serve(), ["claude_fast", "gpt_fast", "gemini_fast"]
    changed = {"max_tokens": 250, "price": {"input": 1.0, "output": 0.0}}
    planned = asyncio.run(plan(_experiment(tmp_path, server, names, 4, changed=changed)))
    asked = _ask(_experiment(tmp_path, server, names, 4, changed=changed, budget_usd=planned.usd))
    assert all(len(answer.text.encode()) > 250 for answer in asked.answers.values()), "as the stage is set"
    assert len(asked.judgments) == 12 and 0 < asked.spent_usd < planned.usd


def test_a_larger_limit_asks_only_the_new_questions(serve: Any, tmp_path: Path) -> None:
    server, names = serve(), ["claude_fast", "gpt_fast", "gemini_fast"]
    small = _ask(_experiment(tmp_path, server, names, 2))
    assert len(server.calls) == 2 * 3 * 2
    large = _ask(_experiment(tmp_path, server, names, 6))
    assert len(server.calls) == 2 * 3 * 6 and server.duplicates() == 0
    known = {judgment.trial.request.key: judgment for judgment in large.judgments}
    assert len(known) == 18
    for judgment in small.judgments:
        now = known[judgment.trial.request.key]
        assert (now.outcome, now.verdict, now.completion) == (judgment.outcome, judgment.verdict, judgment.completion)
        assert now.trial.request.prompt == judgment.trial.request.prompt


def test_the_account_is_the_servers_and_what_was_asked_before_stands_beside_it(
    serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each request fails once: at OpenAI's the line breaks after it was answered, elsewhere it is refused."""
    server = serve(lambda call: scripted(["reset" if call.provider == "openai" else "500"])(call))
    names = ["claude_fast", "gemini_fast", "gpt_fast"]
    changed = {"price": {"input": 3.0, "output": 15.0}, "max_tokens": 4000}
    _ask(_experiment(tmp_path, server, names, 2, changed=changed))
    assert "account" not in capfd.readouterr().err, "nobody is looking"
    before = len(server.calls)
    larger = _experiment(tmp_path, server, names, 4, changed=changed, budget_usd={"gpt_fast": 5.0, "total": 7.0})
    asked = asyncio.run(ask(larger, clock=FakeClock().clock()))
    told = costs(asked)["account"]
    for row, model in zip(told["models"], larger.judges, strict=True):
        sent = [entry for entry in server.calls[before:] if entry.model == model.model_id]
        whole = [entry for entry in sent if entry.fault is None]
        lost = [entry for entry in sent if entry.fault == "reset"]
        assert row["model"] == model.name and row["attempts"] == len(sent) == 8, "two answers and two verdicts, twice"
        assert row["maybe_billed"] == len(lost) == (4 if model.name == "gpt_fast" else 0)
        read, written = sum(e.input_tokens for e in whole), sum(e.output_tokens for e in whole)
        assert (row["input"], row["output"]) == (read, written)
        known = (3.0 * read + 15.0 * written) / 1e6
        assert row["spent_usd"] == pytest.approx(known + row["maybe_billed_usd"], abs=1e-12)
        assert row["maybe_billed_usd"] >= sum(3.0 * e.input_tokens + 15.0 * e.output_tokens for e in lost) / 1e6
        assert row["budget_usd"] == (5.0 if lost else None)
    assert told["budget_usd"] == 7.0
    assert told["total"]["spent_usd"] == pytest.approx(sum(row["spent_usd"] for row in told["models"]), abs=1e-12)
    every, stored = costs(asked)["models"], costs(asked)["stored"]
    assert [(row["model"], row["calls"]) for row in every] == [(name, 8) for name in names]
    assert [(row["model"], row["calls"]) for row in stored] == [(name, 4) for name in names]
    said, paid = capfd.readouterr().err, dollars(sum(row["usd"] for row in stored))
    assert f"mt_bench_blind: the account of this run, in US dollars\n{asked.account}\n" in said
    assert f"Not in it: 12 replies that were asked before, which cost {paid}." in said
    asyncio.run(ask(larger))
    assert "account" not in capfd.readouterr().err, "nothing was asked"


def test_a_judge_without_money_for_its_retries_ends_the_run_and_more_money_completes_it(
    serve: Any, tmp_path: Path
) -> None:
    def behave(call: Call) -> Reply | Fault:
        lost = ["truncated"] * 2 if call.provider == "anthropic" and judging.nonce_of(call) else []
        return scripted(lost)(call)

    server, names = serve(behave), ["claude_fast", "gemini_fast", "gpt_fast"]
    changed = {"price": {"input": 0.0, "output": 15.0}, "max_tokens": 400}
    one = 400 * 15e-6
    limited = {"budget_usd": {"claude_fast": 4 * one, "total": 12 * one}, "changed": changed}
    with pytest.raises(Incomplete) as error:
        _ask(_experiment(tmp_path, server, names, 2, **limited))
    assert "of 6 replies are still missing" in str(error.value)
    assert f"above budget_usd[claude_fast]={4 * one:.4f}" in str(error.value)
    assert 15e-6 * sum(e.output_tokens for e in server.calls if e.provider == "anthropic") <= 4 * one
    asked = _ask(_experiment(tmp_path, server, names, 2, changed=changed))
    assert {judgment.outcome for judgment in asked.judgments} == {"ok"}
    assert server.count("openai") == server.count("google") == 4, "they were complete"


def test_verdicts_asked_for_as_text_are_read_as_well(serve: Any, tmp_path: Path) -> None:
    server, names = serve(), ["claude_fast", "gpt_fast", "gemini_fast"]
    asked = _ask(_experiment(tmp_path, server, names, 4, changed={"structured": False}))
    assert not any(entry.structured for entry in server.calls) and len(server.calls) == 24
    assert {judgment.outcome for judgment in asked.judgments} == {"ok"} and _as_the_server_said(asked, server)


@pytest.mark.slow
def test_the_whole_benchmark_is_480_answers_and_480_verdicts(serve: Any, tmp_path: Path, real_data: Path) -> None:
    server, questions = serve(), str(real_data / "mt_bench" / "question.jsonl")
    first = _ask(_experiment(tmp_path, server, REAL, 5, questions=questions))
    assert len(server.calls) == 2 * 6 * 5 and len(first.judgments) == 30
    asked = _ask(_experiment(tmp_path, server, REAL, 80, questions=questions))
    verdicts = [_judging(entry) for entry in server.calls]
    assert (verdicts.count(False), verdicts.count(True)) == (480, 480), "the first five are not asked again"
    assert server.duplicates() == 0
    assert all(server.count(model=model.model_id) == 160 for model in asked.experiment.judges)
    assert len(asked.judgments) == 480 and {judgment.outcome for judgment in asked.judgments} == {"ok"}
    assert _as_the_server_said(asked, server)
    assert _ask(_experiment(tmp_path, server, REAL, 80, questions=questions, budget_usd=0.0)).frame.equals(asked.frame)
    assert len(server.calls) == 960
