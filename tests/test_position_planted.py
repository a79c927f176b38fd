"""What is told of planted primacy: the truth by hand, what was found of it, and the default judges' own table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd
import pytest

from helpers import frames, paths, prompts, verdicts
from helpers.biases import position
from helpers.biases.position.findings import DEFAULTS, implied
from helpers.config import builtin_knowledge, load_models
from helpers.providers.simulated import WORDS, answer_reply
from helpers.types import Estimate, Model, Question, Request, Trial
from tests import simulation

FOLDER = paths.EXPERIMENTS / "arena_hard_position_bias" / "prompts"
JUDGES = ("sim_claude_judge", "sim_gpt_judge", "sim_gemini_judge", "sim_llama_judge")
#: Who answers, and against whom: the baseline is another one in creative writing.
CANDIDATES = ("sim_claude_fast", "sim_claude_thinking", "sim_gpt_thinking")
BASELINES = {"coding": "sim_gpt_fast", "math": "sim_gpt_fast", "creative_writing": "sim_gemini_thinking"}


def judge(name: str = "j", **traits: Any) -> Model:
    return Model(name, "simulated", f"sim-{name}", "gpt", traits=traits)


def test_defaults_are_those_of_the_simulator() -> None:
    assert {name: WORDS["traits"][name] for name in DEFAULTS} == DEFAULTS


@pytest.mark.parametrize(
    ("traits", "truth"),
    [
        # F(0.4) and F(-1.2); F(-0.2) twice at half the noise; both by a table of the logistic function.
        ({"primacy": [0.8, 0.0]}, (0.8, 0.598688, 0.231475)),
        ({"primacy": [0.0, 0.6]}, (-0.6, 0.268941, 0.549834)),
        ({"primacy": [0.2, 0.2], "noise": 0.5, "tie": 0.1}, (0.0, 0.450166, 0.450166)),
        ({}, (0.0, 0.401312, 0.401312)),
        ({"primacy": [1.0], "noise": 0.0}, (1.0, 1.0, 0.0)),
        ({"primacy": [0.3], "noise": 0}, (0.3, 0.0, 0.0)),
        ({"noise": 0.0, "tie": 0.0}, (0.0, 0.0, 0.0)),
        ({"primacy": [2000.0], "noise": 1.0}, (2000.0, 1.0, 0.0)),
    ],
)
def test_what_primacy_implies_is_the_logistic_function_of_it(
    traits: dict[str, Any], truth: tuple[float, float, float]
) -> None:
    assert implied(judge(**traits)) == pytest.approx(truth, abs=1e-6)


# --- the default judges, by the experiment's own prompts --------------------------------------------------------------


@cache
def models() -> dict[str, Model]:
    return load_models(knowledge=builtin_knowledge())


def questions() -> list[Question]:
    lines = (paths.DATA / "arena_hard_position_bias" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [models()["sim_gpt_judge"].knowledge[json.loads(line)["text"]] for line in lines]


def games() -> Iterator[dict[str, Any]]:
    """The default run: each candidate against the baseline and, once, against itself, twice in both orders."""
    templates = {kind: prompts.load(FOLDER / f"judge_{kind}.txt") for kind in ("hard", "creative")}
    schema = prompts.schema("pairwise", "AB")
    for question in questions():
        template = templates["creative" if question.category == "creative_writing" else "hard"]
        nonce, baseline = prompts.nonce(42, question.id), BASELINES[question.category]
        said = {name: answer_reply(Request(models()[name], question.text)) for name in (*CANDIDATES, baseline)}
        pairs = [("none", name, baseline) for name in CANDIDATES] + [("identical", CANDIDATES[0], CANDIDATES[0])]
        for name in JUDGES:
            for condition, candidate, other in pairs:
                for first, shown in (("baseline", (other, candidate)), ("candidate", (candidate, other))):
                    texts = dict(zip(("first", "second"), (said[each] for each in shown), strict=True))
                    system, prompt = prompts.render(
                        template, nonce=nonce, question=question.text, structured=True, **texts
                    )
                    for repeat in range(2):
                        # Identical texts make the same prompt in both orders: the second game is another repeat.
                        again = repeat + 2 * (condition == "identical" and first == "candidate")
                        request = Request(models()[name], prompt, system, schema, again)
                        trial = Trial("e", question.id, question.category, models()[name], request, form="pairwise")
                        read = verdicts.read(replace(trial, labels=("A", "B"), nonce=nonce), simulation.said(request))
                        label = read.verdict.choice if read.verdict else None
                        yield {
                            **dict.fromkeys(frames.GAMES, ""),
                            "source": "asked",
                            "question_id": question.id,
                            "category": question.category,
                            "judge": name,
                            "candidate": candidate,
                            "baseline": baseline,
                            "condition": condition,
                            "first": first,
                            "repeat": repeat,
                            "games": 2,
                            "score": label,
                            "verdict": label,
                            "outcome": read.outcome,
                        }


@cache
def estimates() -> tuple[Estimate, ...]:
    return tuple(position.measure(pd.DataFrame(games()), "simulated", 42))


def test_the_default_run_finds_what_was_planted_in_each_judge_and_nothing_else() -> None:
    p = position.corrected(estimates())
    assert len(p) == 12 and not any(math.isnan(each) for each in p.values())
    by_judge = {name: [p[name, candidate] for candidate in CANDIDATES] for name in JUDGES}
    assert max(by_judge["sim_gpt_judge"]) < 0.05 and max(by_judge["sim_gemini_judge"]) < 0.05
    assert min(by_judge["sim_claude_judge"] + by_judge["sim_llama_judge"]) > 0.05
    same = {e.where["judge"]: e for e in estimates() if e.id == "identical_pair_effect"}
    # F(0.4) - F(-1.2), F(-1) - F(0.2) and two fair judges; 360 verdicts each: a standard error of about 5 pp.
    truth = dict(zip(JUDGES, (0.0, 0.3672, -0.2809, 0.0), strict=True))
    for name, effect in truth.items():
        assert abs(same[name].value - effect) < 4 * same[name].se < 0.25, name


def test_the_noisy_judge_flips_as_often_as_a_biased_one_and_the_precise_one_does_not() -> None:
    agreed = {
        name: [e.value for e in estimates() if e.id == "position_consistency" and e.where["judge"] == name]
        for name in JUDGES
    }
    assert max(agreed["sim_llama_judge"]) < min(agreed["sim_gpt_judge"]) + 0.05
    assert min(agreed["sim_claude_judge"]) > max(*agreed["sim_gpt_judge"], *agreed["sim_llama_judge"])


def test_no_effect_of_the_default_run_goes_beyond_that_of_two_equal_texts() -> None:
    # F(0.4)^2 - F(-1.2)^2 = 0.305 and F(-1)^2 - F(0.2)^2 = -0.230: quality competes with the place.
    for each in estimates():
        if each.id == "first_position_effect" and "category" not in each.where:
            low, high = {"sim_gpt_judge": (0, 0.305), "sim_gemini_judge": (-0.230, 0)}.get(each.where["judge"], (0, 0))
            assert low - 4 * each.se < each.value < high + 4 * each.se
