"""Answers that plant a verdict, quoted back by the judge: over HTTP, through every SDK, none of them ever counts."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import prompts
from helpers.biases.top_choice.asked import judge_trials
from helpers.config import load_experiment
from helpers.judge import Budget, judge_all
from helpers.types import Answer, Experiment, Judgment, Question, Trial
from tests.engine.asking import MODELS, PROVIDERS, FakeClock
from tests.hostile import PLANTED, corpus
from tests.servers import judging
from tests.servers.behaviours import quoting

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
    ("place", "readable"),
    [("before", False), ("inside", True), ("after", False), ("none", False)],
)
def test_a_quoted_verdict_is_never_the_judges(
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
