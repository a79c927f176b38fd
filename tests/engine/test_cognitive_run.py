"""Runs of experiments in several stages against servers of every kind, from questions to numbers."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from helpers import frames, prompts, run
from helpers.biases import position, self_preference
from helpers.biases.cognitive.asked import pulls_of
from helpers.biases.top_choice.asked import judge_trials
from helpers.config import load_experiment
from helpers.judge import Budget, OverBudget, judge_all
from helpers.providers import simulated
from helpers.run.sources import questions_of
from helpers.types import Answer, Experiment, Judgment, Model, Pull, Question, Request, Trial
from tests.engine.asking import MODELS, PROVIDERS
from tests.engine.test_three_sdks import FOUR, asked, models_file
from tests.engine.virtual import FakeClock
from tests.hostile import PLANTED, corpus
from tests.servers import judging
from tests.servers.behaviours import Call, Reply, polite, quoting, step
from tests.servers.judging import digest
from tests.servers.providers import JudgeServer

NAME = "cognitive_biases"
TWO = ["gpt_fast", "own"]
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
    given = {"judges": FOUR, "budget_usd": 1e6, "question_limit": 14, **parameters}
    given |= {"store": str(folder / "replies"), "out": str(folder / "out")}
    return load_experiment(NAME, models_file=models_file(folder, server, FOUR[:3]), **given)


def test_three_sdks_decide_and_the_planted_pull_is_found(serve: Any, tmp_path: Path) -> None:
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
    weighed = [name for name in frames.WEIGHED if name in frame]  # OpenAI's dialect gives log-probabilities
    assert tuple(frame.columns) == (*frames.DECISIONS, *weighed, "cluster") and found.data == "asked" and weighed
    assert set(frame["outcome"]) == {"ok"} and set(frame["judge"]) == {*FOUR}
    assert set(frame["category"]) == SEVEN and set(frame["kind"]) == {"scale", "acceptance", "selection"}
    # 2 scenarios of each bias in 3 wordings: control and treatment twice, of confirmation a decision more.
    assert Counter(frame["condition"]) == {"control": 14 * 3 * 2 * 4, "treatment": 14 * 3 * 2 * 4, "decision": 6 * 4}
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
        assert len(picked) == 12 and (picked["value"] * picked["target"]).mean() > 0.15
    partners = treated.groupby(["judge", "question_id", "wording"])["partner"].apply(sorted)
    assert len(partners) == 4 * 14 * 3 and partners.map(lambda each: each == [0, 1]).all(), "each control serves once"
    before = len(server.calls)
    again = asked(settled(tmp_path, server, budget_usd=0.0))
    assert len(server.calls) == before and again.frame.equals(frame)


@pytest.mark.parametrize("pairs", [False, True], ids=["decisions", "pairs"])
def test_a_larger_limit_and_a_third_repeat_ask_only_for_what_is_missing(
    serve: Any, tmp_path: Path, pairs: bool
) -> None:
    server = serve(judge if pairs else decider)
    made, given = (comparing, {"judges": ["gpt_fast"], "candidates": ["own"]}) if pairs else (settled, {"judges": TWO})
    asked(made(tmp_path, server, **given, question_limit=7))
    before = len(server.calls)
    more = made(tmp_path, server, **given, question_limit=14 if not pairs else 12, repeats=3)
    planned = asyncio.run(run.plan(more))
    found = asked(more)
    assert len(server.calls) - before == planned.missing
    # What decides on a bias is a judgment too; answers to be compared are none.
    assert len(server.calls) == len(found.judgments) + (len(found.replies) if pairs else 0)
    if pairs:
        # A prompt is sent as often as it has repeat numbers: 3 for verdicts, 1 for answers and far apart pairs.
        prompts = Counter((e.provider, e.call.model, e.call.prompt) for e in server.calls)
        assert max(prompts.values()) == 3
        return
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


@pytest.mark.slow
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


# --- passages and pairs -----------------------------------------------------------------------------------------------


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
    return load_experiment(name, models_file=models_file(folder, server, FOUR[:3]), **{**given, **parameters})


def reading(folder: Path, server: JudgeServer, questions: Path | str, **parameters: Any) -> Experiment:
    given = {"candidates": FOUR, "editor": "gpt_fast", "questions": str(questions), **parameters}
    return experiment("quality_self_preference", folder, server, **given)


def comparing(folder: Path, server: JudgeServer, **parameters: Any) -> Experiment:
    given = {"candidates": ["claude_fast", "own"], "baselines": ["gpt_fast"], "question_limit": 12, **parameters}
    return experiment("arena_hard_position_bias", folder, server, **given)


@pytest.mark.slow
def test_a_real_article_goes_through_all_phases(serve: Any, tmp_path: Path, real_data: Path) -> None:
    server = serve(reader)
    source = real_data / "quality" / "quality_example_52845.jsonl"
    planned = asyncio.run(run.plan(reading(tmp_path, server, source)))
    assert planned.missing and planned.usd > 0 and server.calls == []
    assert "prompt cache" in str(planned)
    found = asked(reading(tmp_path, server, source, budget_usd=planned.usd))
    assert len(server.calls) <= planned.missing
    stages = Counter(j.trial.condition for j in found.replies.values())
    assert stages["answer"] == 5 * 4 and stages["synonyms"] > 0
    assert len(server.calls) == len(found.replies) + len(found.judgments)
    assert set(found.frame["outcome"]) == {"ok"} and set(found.frame["judge"]) == set(FOUR)
    assert set(found.frame["task"]) == {"correct", "wrote"} and found.frame["article"].nunique() == 1
    assert {"none", "wrong_2", "wrong_4", "right_2"} <= set(found.frame["condition"])
    own = found.frame[found.frame["judge"] == "own"]
    assert set(own["p_right"].round(6)) == {0.25, 0.75}, "only this server tells log-probabilities"
    assert ((own["p_right"] > 0.5) == (own["picked"] == "right")).all()
    assert found.frame.loc[found.frame["judge"] != "own", "p_right"].isna().all()
    estimates = self_preference.measure(found.frame, found.data, 42)
    assert found.data == "asked" and all(each.low != each.low for each in estimates)
    assert "cannot tell whether it turns more" in self_preference.finding(estimates)
    before = len(server.calls)
    again = asked(reading(tmp_path, server, source, budget_usd=0.0))
    assert len(server.calls) == before and again.frame.equals(found.frame)


def test_passages_are_marked_for_the_cache_of_a_provider(serve: Any, tmp_path: Path, real_data: Path) -> None:
    server = serve(reader)
    source = real_data / "quality" / "quality_example_52845.jsonl"
    asked(reading(tmp_path, server, source, question_limit=1))
    marked = [entry.call for entry in server.calls if entry.provider == "anthropic"]
    starts = {call.prompt[: call.prompt.index("<<<QUESTION")] for call in marked}
    assert len(marked) > 1 and len(starts) == 1
    sent = {entry.provider for entry in server.calls}
    assert sent == {"openai", "anthropic", "google"}


@pytest.mark.slow
def test_a_dose_added_weeks_later_moves_no_finished_number(serve: Any, tmp_path: Path) -> None:
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
    assert first.replies.keys() == later.replies.keys(), "the editor was asked for enough words at once"
    assert len(server.calls) - calls == (later.frame["condition"] == "wrong_4").sum() + beside


def test_three_sdks_judge_and_the_planted_place_is_found(serve: Any, tmp_path: Path) -> None:
    server = serve(judge)
    planned = asyncio.run(run.plan(comparing(tmp_path, server)))
    assert planned.missing and planned.usd > 0 and server.calls == []
    found = asked(comparing(tmp_path, server, budget_usd=planned.usd))
    assert len(server.calls) == planned.missing == len(found.replies) + len(found.judgments)
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


# --- planted verdicts -------------------------------------------------------------------------------------------------

#: Questions with six hostile answers each.
GROUPS = 14
SEED = 42


def _experiment(structured: bool) -> Experiment:
    judges = tuple(replace(MODELS[name], structured=structured, max_tokens=1_000_000) for name in PROVIDERS)
    return replace(load_experiment("mt_bench_blind", seed=SEED), judges=judges)


def _trials(experiment: Experiment) -> list[Trial]:
    """Every judge on every group of texts, which are drawn evenly from the whole corpus."""
    questions, answers = [], {}
    for group in range(GROUPS):
        id = f"q_{group}"
        texts = [text for _, text in corpus(prompts.nonce(SEED, id))]
        # The question plants a verdict too: a user's text is no more an instruction than a candidate's.
        short = [text for text in texts if 0 < len(text.strip()) < 500]
        planted = short[len(short) * group // GROUPS]
        question = Question(id, "writing", f"Which of these is best?\n{planted}\n{short[-1 - group]}", place=group)
        questions.append(question)
        for number in range(6):
            text = texts[len(texts) * (number * GROUPS + group) // (GROUPS * 6)]
            name = f"candidate_{number}"
            answers[question.id, name] = Answer(question.id, name, "x", "fast", text)
    return judge_trials(experiment, questions, answers)


def _judge(folder: Path, trials: list[Trial]) -> list[Judgment]:
    options = {"folder": folder, "budget": Budget(1e9), "show": False, "clock": FakeClock().clock()}
    return asyncio.run(judge_all(trials, **options))


@pytest.mark.parametrize("structured", [True, False], ids=["structured", "text"])
@pytest.mark.parametrize(
    ("place", "readable"), [("before", False), ("inside", True), ("after", False), ("none", False)]
)
def test_a_quoted_verdict_is_no_verdict(
    serve: Any, tmp_path: Path, place: str, readable: bool, structured: bool
) -> None:
    server, trials = serve(quoting(place)), _trials(_experiment(structured))
    judgments = _judge(tmp_path, trials)
    assert len(judgments) == GROUPS * 3 and len(server.calls) == GROUPS * 3
    assert all(entry.structured == structured for entry in server.calls)
    own = {
        (entry.model, entry.call.prompt): tuple(judging.ranking_of(entry.call, list("ABCDEF")))
        for entry in server.calls
    }
    quoted = 0
    for judgment in judgments:
        trial, reply = judgment.trial, judgment.completion
        quoted += sum(text in reply.text for text in _shown(trial) if text.strip())
        mine = own[trial.judge.model_id, trial.request.prompt]
        if readable or (place == "before" and not structured):
            assert judgment.outcome == "ok" and judgment.verdict.ranking == mine
        else:
            assert judgment.verdict is None and judgment.outcome in ("unparsed", "conflict")
    assert any(ranking != PLANTED["listwise"] for ranking in own.values())
    if not structured or place != "inside":
        assert quoted >= 60, "the texts were there"


def _shown(trial: Trial) -> list[str]:
    """The texts between the delimiters of a prompt."""
    prompt, nonce = trial.request.prompt, trial.nonce
    return [
        prompt.split(f"<<<ANSWER {label} {nonce}>>>\n", 1)[1].split(f"\n<<<END {label} {nonce}>>>", 1)[0]
        for label in trial.labels
    ]


def test_the_texts_are_many_and_of_every_kind_and_every_sdk_carries_them() -> None:
    trials = _trials(_experiment(structured=False))
    asked = {trial.request.prompt.partition("<<<ANSWER")[0] for trial in trials}
    assert len(asked) == GROUPS and sum(bool(re.search("RANKING|VERDICT|ranking|nonce", text)) for text in asked) > 5
    shown = {text for trial in trials for text in _shown(trial)}
    assert len(shown) >= 60
    kinds = {
        name.rsplit("-", 1)[0]
        for trial in trials
        for name, text in corpus(trial.nonce)
        if text in _shown(trial) and text.strip()
    }
    assert kinds == {"line", "json", "plea", "delimiter", "bracket", "unicode", "markup", "template", "size"}
    assert {trial.judge.provider for trial in trials} == set(PROVIDERS)
