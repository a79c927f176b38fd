"""Experiment 4 end to end through the three real SDKs, with a server of one's own that favours the first place."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from helpers import run
from helpers.biases import position
from helpers.config import load_experiment
from helpers.providers import simulated
from helpers.types import Experiment, Model, Request
from tests.engine.test_control import FOUR, four_models
from tests.servers.behaviours import Call, Reply
from tests.servers.providers import JudgeServer


def judge(call: Call) -> Reply:
    """A server whose models answer and judge as simulated ones that see little but the place."""
    traits = {"primacy": [2.0, 0.0], "sharpness": 0.2}
    model = Model(call.model, "simulated", call.model, "gpt", traits=traits)
    # As real models do, it does not always say the same.
    text, _ = simulated.reply(Request(model, call.prompt, call.system, call.schema, repeat=call.attempt))
    return Reply(text)


def settled(folder: Path, server: JudgeServer, **parameters: Any) -> Experiment:
    given = {"judges": FOUR, "candidates": ["claude_fast", "own"], "baselines": ["gpt_fast"], "budget_usd": 1e6}
    given |= {"question_limit": 12, "store": str(folder / "replies"), "out": str(folder / "out"), **parameters}
    return load_experiment("arena_hard_position_bias", models_file=four_models(folder, server), **given)


def test_three_sdks_judge_in_both_orders_and_the_planted_place_is_found(serve: Any, tmp_path: Path) -> None:
    server = serve(judge)
    planned = asyncio.run(run.plan(settled(tmp_path, server)))
    assert planned.missing and planned.usd > 0 and server.calls == []
    found = asyncio.run(run.ask(settled(tmp_path, server, budget_usd=planned.usd), show=False))
    assert len(server.calls) == planned.missing == len(found.said) + len(found.judgments)
    assert {entry.provider for entry in server.calls} == {"openai", "anthropic", "google"}
    assert found.data == "asked" and set(found.frame["outcome"]) == {"ok"} and set(found.frame["judge"]) == {*FOUR}
    # 12 questions, 4 judges, 2 candidates: both orders twice, one text twice, and far apart in both orders.
    assert Counter(found.frame["condition"]) == {"none": 12 * 8 * 4, "identical": 12 * 8 * 2, "quality_gap": 12 * 8 * 2}
    estimates = position.measure(found.frame, found.data, 42, run.features(found))
    for name in FOUR:
        same = [e for e in estimates if e.id == "identical_pair_effect" and e.where["judge"] == name]
        # 1/(1+e^-1.6) - 1/(1+e^2.4) = 0.749 is planted; 48 verdicts a judge have a standard error of about 0.08.
        assert sum(e.value for e in same) / len(same) == pytest.approx(0.749, abs=0.3)
    assert "SIMULATED" not in position.finding(estimates)
    before = len(server.calls)
    again = asyncio.run(run.ask(settled(tmp_path, server, budget_usd=0.0), show=False))
    assert len(server.calls) == before and again.frame.equals(found.frame)


def test_a_third_repeat_and_a_larger_limit_ask_only_for_what_is_missing(serve: Any, tmp_path: Path) -> None:
    server, given = serve(judge), {"judges": ["gpt_fast"], "candidates": ["own"]}
    asyncio.run(run.ask(settled(tmp_path, server, **given, question_limit=6), show=False))
    before = len(server.calls)
    more = settled(tmp_path, server, **given, question_limit=12, repeats=3)
    planned = asyncio.run(run.plan(more))
    done = asyncio.run(run.ask(more, show=False))
    prompts = Counter((e.provider, e.call.model, e.call.prompt) for e in server.calls)
    assert len(server.calls) - before == planned.missing
    # A prompt is sent as often as it has repeat numbers: 3 for verdicts, 1 for answers and far apart pairs.
    assert max(prompts.values()) == 3 and len(server.calls) == len(done.said) + len(done.judgments)
