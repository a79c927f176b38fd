"""Experiment 5 end to end through the three real SDKs, with a server of one's own that is pulled as planted."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from helpers import frames, run
from helpers.biases.cognitive.asked import pulls_of
from helpers.config import load_experiment
from helpers.judge import OverBudget
from helpers.providers import simulated
from helpers.run.sources import questions_of
from helpers.types import Experiment, Model, Pull, Request
from tests.engine.test_control import FOUR, asked, four_models
from tests.servers.behaviours import Call, Reply, step
from tests.servers.judging import digest
from tests.servers.providers import JudgeServer

NAME = "cognitive_biases"
SEVEN = {"anchoring", "authority", "bandwagon", "confirmation", "halo", "judge_anchoring", "loss_aversion"}
STRENGTH = {name: 1.0 for name in SEVEN} | {"confirmation": 3.0, "loss_aversion": 3.0}


@cache
def known() -> Mapping[str, Pull]:
    return pulls_of(questions_of(load_experiment(NAME)))


def decider(call: Call) -> Reply:
    """A server whose models decide as simulated ones that are pulled all the way."""
    traits = {"biases": STRENGTH, "answer_noise": 0.02}
    model = Model(call.model, "simulated", call.model, "gpt", traits=traits, pulls=known())
    # As real models do, it does not always say the same.
    text, _ = simulated.reply(Request(model, call.prompt, call.system, call.schema, repeat=call.attempt))
    return Reply(text)


def settled(folder: Path, server: JudgeServer, **parameters: Any) -> Experiment:
    given = {"judges": FOUR, "budget_usd": 1e6, "question_limit": 21, **parameters}
    given |= {"store": str(folder / "replies"), "out": str(folder / "out")}
    return load_experiment(NAME, models_file=four_models(folder, server, structured=False), **given)


def test_three_sdks_decide_on_every_built_in_bias_and_the_planted_pull_is_found(serve: Any, tmp_path: Path) -> None:
    server = serve(decider)
    planned = asyncio.run(run.plan(settled(tmp_path, server)))
    assert planned.missing and planned.usd > 0 and server.calls == []
    with pytest.raises(OverBudget):
        asked(settled(tmp_path, server, budget_usd=planned.usd / 2))
    assert server.calls == [], "not even a decision is paid before the budget is enough"
    found = asked(settled(tmp_path, server, budget_usd=planned.usd))
    frame = found.frame
    assert len(server.calls) == planned.missing == len(found.judgments) == len(frame)
    assert {entry.provider for entry in server.calls} == {"openai", "anthropic", "google"}
    assert {(entry.call.model, entry.call.schema is None) for entry in server.calls} == {
        (model.model_id, not model.structured) for model in settled(tmp_path, server).judges
    }
    assert tuple(frame.columns) == (*frames.DECISIONS, "cluster") and found.data == "asked"
    assert set(frame["outcome"]) == {"ok"} and set(frame["judge"]) == {*FOUR}
    assert set(frame["category"]) == SEVEN and set(frame["kind"]) == {"scale", "acceptance", "selection"}
    # 3 scenarios of each bias in 3 wordings: control and treatment twice, of confirmation a decision more.
    assert Counter(frame["condition"]) == {"control": 21 * 3 * 2 * 4, "treatment": 21 * 3 * 2 * 4, "decision": 9 * 4}
    assert frame["judge_model"].notna().all()
    treated = frame[frame["condition"] == "treatment"]
    scales = treated[treated["kind"] == "scale"]
    assert (scales["value"] == scales["target"]).mean() > 0.95, "all the way, but for a little noise"
    control = frame[(frame["condition"] == "control") & (frame["kind"] == "scale")]
    assert (control["value"] == control["target"]).mean() < 0.5
    gambles = treated[treated["kind"] == "acceptance"]
    assert (gambles["choice"] == 0).all() and gambles["ratio"].min() < 1 < gambles["ratio"].max()
    for judge in FOUR:
        picked = treated[(treated["kind"] == "selection") & (treated["judge"] == judge)]
        assert len(picked) == 18 and (picked["value"] * picked["target"]).mean() > 0.15
    partners = treated.groupby(["judge", "question_id", "wording"])["partner"].apply(sorted)
    assert len(partners) == 4 * 21 * 3 and partners.map(lambda each: each == [0, 1]).all(), "each control serves once"
    before = len(server.calls)
    again = asked(settled(tmp_path, server, budget_usd=0.0))
    assert len(server.calls) == before and again.frame.equals(frame)


def test_a_larger_limit_and_a_third_repeat_ask_only_for_what_is_missing(serve: Any, tmp_path: Path) -> None:
    server, given = serve(decider), {"judges": ["gpt_fast", "own"]}
    asked(settled(tmp_path, server, **given, question_limit=7))
    before = len(server.calls)
    more = settled(tmp_path, server, **given, question_limit=14, repeats=3)
    planned = asyncio.run(run.plan(more))
    found = asked(more)
    assert len(server.calls) - before == planned.missing and len(server.calls) == len(found.judgments)
    asks = found.frame.groupby(["condition", "judge", "question_id", "wording"], observed=True).size()
    assert set(asks["decision"]) == {1}, "a decision is made once"
    assert set(asks["control"]) == set(asks["treatment"]) == {3}


#: What the server says instead of a decision, and how that counts.
ODD = {
    "none": "no_option",
    "two": "two_options",
    "prose": "unparsed",
    "refusal": "refused",
    "length": "truncated",
    "empty": "empty",
}


def kind_of(model: str, prompt: str) -> str:
    """Which odd answer a model gives to a prompt: more than half of the prompts get one, by hash."""
    number = digest(model, prompt)[0]
    return [*ODD][number % len(ODD)] if number < 150 else ""


def odd(call: Call) -> Reply:
    kind = kind_of(call.model, call.prompt)
    nonce = call.prompt.split("<<<SITUATION ")[1][:8]
    if kind in ("none", "two"):
        stated = "none" if kind == "none" else "K and L"
        return Reply(json.dumps({"id": nonce, "choice": stated}) if call.schema else f"VERDICT-{nonce}: {stated}")
    if kind == "prose":
        return Reply("Much can be said for more than one of them.")
    return step(kind, call) if kind else decider(call)


def test_odd_answers_are_counted_apart_and_asked_no_second_time(serve: Any, tmp_path: Path) -> None:
    server, given = serve(odd), {"biases": ["halo", "loss_aversion"], "question_limit": 35}
    found = asked(settled(tmp_path, server, **given))
    met: dict[str, Counter[str]] = {name: Counter() for name in FOUR}
    for judgment in found.judgments:
        trial = judgment.trial
        expected = ODD.get(kind_of(trial.judge.model_id, trial.request.prompt), "ok")
        if expected == "refused" and trial.judge.provider == "google":
            expected = "unparsed"  # Google tells a refusal in words alone
        assert judgment.outcome == expected, (trial.judge.name, judgment.completion.text)
        met[trial.judge.name][expected] += 1
    for name, counts in met.items():
        assert {"no_option", "two_options"} <= set(counts), (name, "a test that meets none tests nothing")
    assert set().union(*met.values()) == {"ok", *ODD.values()}
    frame = found.frame
    read = frame["outcome"] == "ok"
    assert frame.loc[read, ["choice", "value"]].notna().all(axis=None)
    assert frame.loc[~read, ["choice", "value", "pro", "con"]].isna().all(axis=None)
    table = run.losses(found)
    for name, counts in met.items():
        for outcome in ODD.values():
            head = outcome.replace("_", " ")  # as people read it
            told = table.loc[[name], head].sum() if head in table else 0
            assert told == counts[outcome], (name, outcome)
    before = len(server.calls)
    again = asked(settled(tmp_path, server, **given))
    assert len(server.calls) == before and again.frame.equals(frame)


def test_a_repeat_that_is_added_weeks_later_has_a_control_of_its_own(serve: Any, tmp_path: Path) -> None:
    server, given = serve(decider), {"judges": ["gpt_fast"], "biases": ["halo"], "question_limit": 14}
    asked(settled(tmp_path, server, **given), days=0)
    before = len(server.calls)
    same = asked(settled(tmp_path, server, **given), days=30)
    assert len(server.calls) == before, "what was compared once stays compared"
    assert (same.frame.loc[same.frame["condition"] == "treatment", "partner"] < 2).all()
    later = asked(settled(tmp_path, server, **given, repeats=3), days=30)
    new = Counter(later.frame["condition"])
    assert new["treatment"] == 2 * 3 * 3 and len(server.calls) - before == 2 * 3 * 2
    third = later.frame[(later.frame["condition"] == "treatment") & (later.frame["repeat"] == 2)]
    assert set(third["partner"]) == {2}, "asked on the same day"


def test_a_pilot_asks_a_few_of_each_model_tells_what_is_expected_and_counts(serve: Any, tmp_path: Path) -> None:
    server = serve(decider)
    alone = settled(tmp_path, server)
    before = asyncio.run(run.plan(alone))
    with pytest.raises(OverBudget):
        asyncio.run(run.pilot(settled(tmp_path, server, budget_usd=0.0), 5))
    assert "Expected" not in str(before) and server.calls == []
    asyncio.run(run.pilot(alone, 5))
    assert Counter(entry.call.model for entry in server.calls) == {model.model_id: 5 for model in alone.judges}
    after = asyncio.run(run.plan(alone))
    assert after.missing == before.missing - 20 and after.usd < before.usd
    for name in FOUR:
        (line,) = [line for line in str(after).splitlines() if line.startswith(f"Expected of {name}: ")]
        assert "(from 5 stored replies)" in line
    asyncio.run(run.pilot(alone, 3))
    found = asked(alone)
    assert len(server.calls) == before.missing == len(found.frame), "no call is made twice"
