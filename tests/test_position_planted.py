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
from helpers.biases.position.planted import DEFAULTS, implied, planted
from helpers.config import builtin_knowledge, load_models
from helpers.providers.simulated import Traits, answer_reply
from helpers.types import Estimate, Model, Question, Request, Trial
from tests import simulation

FOLDER = paths.EXPERIMENTS / "arena_hard_position_bias" / "prompts"
JUDGES = ("sim_claude_judge", "sim_gpt_judge", "sim_gemini_judge", "sim_llama_judge")
#: Who answers, and against whom: the baseline is another one in creative writing.
CANDIDATES = ("sim_claude_fast", "sim_claude_thinking", "sim_gpt_thinking")
BASELINES = {"coding": "sim_gpt_fast", "math": "sim_gpt_fast", "creative_writing": "sim_gemini_thinking"}


def judge(name: str = "j", **traits: Any) -> Model:
    return Model(name, "simulated", f"sim-{name}", "gpt", traits=traits)


def found(id: str, value: float, candidate: str = "c", name: str = "j", **more: Any) -> Estimate:
    known = {"low": value - 0.1, "high": value + 0.1, "n": 90, "clusters": 45, "unit": "pp", "data": "simulated"}
    return Estimate(id, {"judge": name, "candidate": candidate}, value, **{**known, **more})


def cells(text: str, name: str = "j") -> list[str]:
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_defaults_are_those_of_the_simulator() -> None:
    assert {name: getattr(Traits(), name) for name in DEFAULTS} == DEFAULTS


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


def test_a_row_tells_what_was_planted_and_what_was_found() -> None:
    estimates = [found("identical_pair_effect", 0.35), found("first_position_effect", 0.2, p=0.001)]
    told = cells(planted([judge(primacy=[0.8, 0.0])], estimates))
    # 0.5987 - 0.2315 = 36.7 pp; 0.5987^2 - 0.2315^2 = 30.5 pp.
    same, swapped = "+35.0 pp [+25.0, +45.0] (holds it)", "+20.0 pp [+10.0, +30.0] (found)"
    assert told == ["j", "+0.8", "+36.7 pp", same, "+30.5 pp at most", swapped]


def test_what_was_planted_and_is_missed_or_not_found_is_told() -> None:
    estimates = [found("identical_pair_effect", 0.2), found("first_position_effect", 0.02, p=0.6)]
    told = cells(planted([judge(primacy=[0.8, 0.0])], estimates))
    assert told[3].endswith("(misses it)") and told[5].endswith("(not found)")
    none = cells(planted([judge()], [found("first_position_effect", 0.02)]))
    assert none[1:5] == ["0", "0", "not asked", "0"] and none[5].endswith("(no test)")
    unbounded = found("identical_pair_effect", 0.2, low=math.nan, high=math.nan)
    assert cells(planted([judge()], [unbounded]))[3] == "+20.0 pp (no interval)"


def test_several_candidates_are_summed_up_and_corrected_together() -> None:
    # Holm over three tests: 0.001 and 0.02 stay below 0.05 (0.003, 0.04), 0.3 does not.
    effects = [(-0.30, 0.001), (-0.12, 0.02), (0.01, 0.3)]
    estimates = [found("first_position_effect", v, candidate=f"c{n}", p=p) for n, (v, p) in enumerate(effects)]
    # F(-1) - F(0.2) = 0.2689 - 0.5498 = -28.1 pp: 15 pp away from the second, within 10 pp of the others.
    same = (-0.20, -0.13, -0.33)
    estimates += [found("identical_pair_effect", v, candidate=f"c{n}") for n, v in enumerate(same)]
    told = cells(planted([judge(primacy=[0.0, 0.6])], estimates))
    assert told[1:3] == ["-0.6", "-28.1 pp"]
    assert told[3] == "-33.0 to -13.0 pp (2 of 3 intervals hold it)"
    assert told[5] == "-30.0 to +1.0 pp (found in 2 of 3 tests)"
    untested = [replace(each, p=math.nan) for each in estimates]
    assert cells(planted([judge()], untested))[5] == "-30.0 to +1.0 pp (no test)"
    # The same p among more tests of another judge is no longer small enough.
    others = [found("first_position_effect", 0.0, candidate=f"c{n}", name="k", p=0.9) for n in range(3)]
    assert "found in 1 of 3" in cells(planted([judge(primacy=[0.0, 0.6]), judge("k")], estimates + others))[5]


def test_categories_and_other_numbers_are_left_out() -> None:
    whole = found("first_position_effect", 0.2, p=0.001)
    part = replace(whole, where={**whole.where, "category": "math"}, value=0.9)
    other = found("position_consistency", 0.4)
    assert planted([judge()], [whole, part, other]) == planted([judge()], [whole])


def test_judges_that_are_not_simulated_or_not_judged_are_left_out() -> None:
    real = Model("real", "openai", "gpt-9", "gpt")
    estimates = [found("first_position_effect", 0.2), found("first_position_effect", 0.2, name="real")]
    table = planted([judge(), real, judge("idle")], estimates)
    assert "real" not in table and "idle" not in table and "| SIMULATED judge |" in table
    asked = [replace(each, data="asked") for each in estimates]
    assert "not simulated" in planted([real], estimates) and "not simulated" in planted([judge()], asked)
    assert "no pair was judged" in planted([judge("idle")], estimates)


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


def test_the_table_of_the_default_run_holds_its_bounds() -> None:
    text = planted([models()[name] for name in JUDGES], estimates())
    rows = {name: cells(text, name) for name in JUDGES}
    assert [rows[name][1] for name in JUDGES] == ["0", "+0.8", "-0.6", "0"]
    assert [rows[name][2] for name in JUDGES] == ["0", "+36.7 pp", "-28.1 pp", "0"]
    assert "found in 3 of 3" in rows["sim_gpt_judge"][5] and "found in 0 of 3" in rows["sim_llama_judge"][5]
    # F(0.4)^2 - F(-1.2)^2 = 0.305 and F(-1)^2 - F(0.2)^2 = -0.230 are what no candidate's effect goes beyond.
    for each in estimates():
        if each.id == "first_position_effect" and "category" not in each.where:
            low, high = {"sim_gpt_judge": (0, 0.305), "sim_gemini_judge": (-0.230, 0)}.get(each.where["judge"], (0, 0))
            assert low - 4 * each.se < each.value < high + 4 * each.se
