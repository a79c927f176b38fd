"""Experiments 3 and 4 end to end through the three real SDKs, with a server of one's own that is biased as planted."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from helpers import run
from helpers.biases import position, self_preference
from helpers.config import load_experiment
from helpers.providers import simulated
from helpers.types import Experiment, Model, Request
from tests.engine.test_control import FOUR, asked, four_models
from tests.servers.behaviours import Call, Reply, polite
from tests.servers.providers import JudgeServer


def as_simulated(call: Call, vendor: str, **traits: Any) -> Reply:
    """What a simulated model says in the place of a server's; as real models do, it does not always say the same."""
    model = Model(call.model, "simulated", call.model, vendor, traits=traits)
    return Reply(*simulated.reply(Request(model, call.prompt, call.system, call.schema, repeat=call.attempt)))


def reader(call: Call) -> Reply:
    """A server whose models read passages as simulated ones do, each with its vendor's words."""
    vendor = next((name for name in ("claude", "gemini", "gpt") if call.model.startswith(name)), "llama")
    if not simulated.read_prompt(call.prompt).nonce:
        return polite(call)
    return as_simulated(call, vendor, self_preference=1.0, recognition=1.0)


def judge(call: Call) -> Reply:
    """A server whose models answer and judge as simulated ones that see little but the place."""
    return Reply(as_simulated(call, "gpt", primacy=[2.0, 0.0], sharpness=0.2).text)


def experiment(name: str, folder: Path, server: JudgeServer, **parameters: Any) -> Experiment:
    given = {"judges": FOUR, "budget_usd": 1e6, "store": str(folder / "replies"), "out": str(folder / "out")}
    return load_experiment(name, models_file=four_models(folder, server), **{**given, **parameters})


def reading(folder: Path, server: JudgeServer, questions: Path | str, **parameters: Any) -> Experiment:
    given = {"candidates": FOUR, "editor": "gpt_fast", "questions": str(questions), **parameters}
    return experiment("quality_self_preference", folder, server, **given)


def comparing(folder: Path, server: JudgeServer, **parameters: Any) -> Experiment:
    given = {"candidates": ["claude_fast", "own"], "baselines": ["gpt_fast"], "question_limit": 12, **parameters}
    return experiment("arena_hard_position_bias", folder, server, **given)


def test_a_real_article_goes_through_all_phases_with_three_sdks(serve: Any, tmp_path: Path, real_data: Path) -> None:
    server = serve(reader)
    source = real_data / "quality" / "quality_example_52845.jsonl"
    planned = asyncio.run(run.plan(reading(tmp_path, server, source)))
    assert planned.missing and planned.usd > 0 and server.calls == []
    assert "prompt cache" in str(planned)
    found = asked(reading(tmp_path, server, source, budget_usd=planned.usd))
    assert len(server.calls) <= planned.missing
    stages = Counter(j.trial.condition for j in found.said.values())
    assert stages["answer"] == 5 * 4 and stages["synonyms"] > 0
    assert len(server.calls) == len(found.said) + len(found.judgments)
    assert set(found.frame["outcome"]) == {"ok"} and set(found.frame["judge"]) == set(FOUR)
    assert set(found.frame["task"]) == {"correct", "wrote"} and found.frame["article"].nunique() == 1
    assert {"none", "wrong_2", "wrong_4", "right_2"} <= set(found.frame["condition"])
    own = found.frame[found.frame["judge"] == "own"]
    assert set(own["p_right"].round(6)) == {0.25, 0.75}, "only this server tells log-probabilities"
    assert ((own["p_right"] > 0.5) == (own["picked"] == "right")).all()
    assert found.frame.loc[found.frame["judge"] != "own", "p_right"].isna().all()
    estimates = self_preference.measure(found.frame, found.data, 42)
    assert found.data == "asked" and all(each.low != each.low for each in estimates)
    assert "on 1 article." in self_preference.few(estimates)
    assert "nothing can be concluded" in self_preference.finding(estimates)
    before = len(server.calls)
    again = asked(reading(tmp_path, server, source, budget_usd=0.0))
    assert len(server.calls) == before and again.frame.equals(found.frame)


def test_passages_are_marked_for_the_cache_where_the_provider_wants_it(
    serve: Any, tmp_path: Path, real_data: Path
) -> None:
    server = serve(reader)
    source = real_data / "quality" / "quality_example_52845.jsonl"
    asked(reading(tmp_path, server, source, question_limit=1))
    marked = [entry.call for entry in server.calls if entry.provider == "anthropic"]
    starts = {call.prompt[: call.prompt.index("<<<QUESTION")] for call in marked}
    assert len(marked) > 1 and len(starts) == 1
    sent = {entry.provider for entry in server.calls}
    assert sent == {"openai", "anthropic", "google"}


def test_a_dose_that_is_added_weeks_later_has_a_control_of_its_own_and_moves_no_finished_number(
    serve: Any, tmp_path: Path
) -> None:
    def numbers(found: run.Asked, *ids: str) -> dict[tuple[str, str], tuple[float, int]]:
        every = self_preference.measure(found.frame, found.data, 42)
        at = {(e.id, e.where["judge"]): (e.value, e.n) for e in every if e.id in ids and e.where["dose"] == "2"}
        return {place: value for place, value in at.items() if value[1]}

    server, ids = serve(reader), ("obfuscation_effect_pp", "obfuscation_own", "recognition_change")
    given = {"questions": "builtin", "question_limit": 6, "targets": ["wrong"]}
    first = asked(reading(tmp_path, server, **given, doses=[2]), days=0)
    calls, before = len(server.calls), numbers(first, *ids)
    assert before and set(first.frame.loc[first.frame["condition"] == "none", "repeat"]) == {0, 1}
    later = asked(reading(tmp_path, server, **given, doses=[2, 4]), days=30)
    assert numbers(later, *ids) == before
    new = later.frame[(later.frame["condition"] == "wrong_4") & (later.frame["task"] == "correct")]
    assert len(new) and set(new["partner"]) == {3}, "repeats 2 and 3 were asked beside the new dose"
    kept = later.frame[(later.frame["condition"] == "wrong_2") & (later.frame["task"] == "correct")]
    assert set(kept["partner"]) == {1}
    plain = later.frame[later.frame["condition"] == "none"]
    beside = (plain["repeat"] >= plain["task"].map({"correct": 2, "wrote": 1}).astype(int)).sum()
    assert first.said.keys() == later.said.keys(), "the editor was asked for enough words at once"
    assert len(server.calls) - calls == (later.frame["condition"] == "wrong_4").sum() + beside


def test_three_sdks_judge_in_both_orders_and_the_planted_place_is_found(serve: Any, tmp_path: Path) -> None:
    server = serve(judge)
    planned = asyncio.run(run.plan(comparing(tmp_path, server)))
    assert planned.missing and planned.usd > 0 and server.calls == []
    found = asked(comparing(tmp_path, server, budget_usd=planned.usd))
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
    again = asked(comparing(tmp_path, server, budget_usd=0.0))
    assert len(server.calls) == before and again.frame.equals(found.frame)


def test_a_third_repeat_and_a_larger_limit_ask_only_for_what_is_missing(serve: Any, tmp_path: Path) -> None:
    server, given = serve(judge), {"judges": ["gpt_fast"], "candidates": ["own"]}
    asked(comparing(tmp_path, server, **given, question_limit=6))
    before = len(server.calls)
    more = comparing(tmp_path, server, **given, question_limit=12, repeats=3)
    planned = asyncio.run(run.plan(more))
    done = asked(more)
    prompts = Counter((e.provider, e.call.model, e.call.prompt) for e in server.calls)
    assert len(server.calls) - before == planned.missing
    # A prompt is sent as often as it has repeat numbers: 3 for verdicts, 1 for answers and far apart pairs.
    assert max(prompts.values()) == 3 and len(server.calls) == len(done.said) + len(done.judgments)
