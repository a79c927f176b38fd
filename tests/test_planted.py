"""What is planted in simulated judges, on the scale of the estimates: against the same judges, and by hand."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers import frames, paths, prompts, run, verdicts
from helpers.biases import cognitive, hinting, position, self_preference, top_choice, verbosity
from helpers.biases.cognitive.measured import _chances as chances_of, _truths as truths_of_tests
from helpers.biases.hinting.measured import _truths as truths_of_hints
from helpers.biases.planted import NONE, Planted, pair_traits, planted_table, top_chances
from helpers.biases.position.findings import _lasting, contrasts, implied
from helpers.biases.self_preference.findings import _chances, _turned
from helpers.biases.top_choice.defended import _planted_rows
from helpers.config import builtin_knowledge, load_models
from helpers.providers import simulated
from helpers.providers.simulated import WORDS, answer_reply
from helpers.types import Estimate, Model, Question, Request, Trial
from helpers.words.numbers import text_of
from tests import simulation
from tests.rule import exact
from tests.runs import asked
from tests.simulation import said

JUDGE = Model("j", "simulated", "sim-j", "gpt")


def found(value: float, se: float, **more: Any) -> Estimate:
    known = {"n": 80, "clusters": 41, "unit": "pp", "data": "simulated"}
    return Estimate("x", {"judge": "j"}, value, value - 2 * se, value + 2 * se, se=se, **{**known, **more})


def made(rows: list[Planted], families: Any = (), data: str = "simulated", judge: Model = JUDGE) -> str:
    ran: Any = SimpleNamespace(experiment=SimpleNamespace(judges=(judge,)), data=data, judgments=(1,))
    return planted_table("position", ran, [], rows=lambda *_: iter(rows), families=lambda _: families)


def cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "][1:]


def again(trial: Trial, times: int) -> Iterator[tuple[Trial, Any]]:
    """The reply to a trial asked so many times more."""
    for repeat in range(1000, 1000 + times):
        other = replace(trial, request=replace(trial.request, repeat=repeat))
        yield other, verdicts.read(other, said(other.request)).verdict


def assert_share(hits: int, times: int, truth: float, what: str) -> None:
    low, high = exact(hits, times)
    assert low <= truth <= high, f"{what}: {hits} of {times} for {truth:.3f}"


# --- the table --------------------------------------------------------------------------------------------------------


def test_a_row_tells_truth_estimate_and_how_often_such_a_run_finds_it() -> None:
    strong, weak = found(0.12, 0.04), found(0.30, 0.05)
    rows = [Planted("one", "j", "+1", 0.10, strong), Planted("two", "j", "+2", 0.05, weak)]
    rows += [Planted("three", "j", "0", 0.0, strong), Planted("four", "j", "0", 0.5, found(0.6, math.nan), null=0.5)]
    # Power of a t test by simulation: estimates around the truth, standard errors of 40 degrees of freedom.
    rng = np.random.default_rng(5)
    for size, error, tests, row in ((0.10, 0.04, 3, 0), (0.05, 0.05, 1, 1)):
        se = error * np.sqrt(rng.chisquare(40, 200_000) / 40)
        share = (abs(size + error * rng.standard_normal(200_000)) > stats.t.isf(0.025 / tests, 40) * se).mean()
        told = cells(made(rows, [([strong], 3)]))[row]
        assert float(told[5].removesuffix("% of runs")) == pytest.approx(100 * share, abs=1)
    text = made(rows, [([strong], 3)])
    assert cells(text)[0][:5] == ["one", "j", "+1", "+10.0 pp", "+12.0 pp [+4.0, +20.0]"]
    assert cells(text)[1][4].endswith("(misses it)") and cells(text)[2][3:] == [
        "+0.0 pp",
        cells(text)[2][4],
        "nothing planted",
    ]
    assert cells(text)[3][5] == "nothing planted" and "1 of 3 intervals" in text
    assert text.endswith(text_of("position", "planted"))
    assert "Found in fewer than 50% of runs" in text and "two, j (16%)" in text and "one, j" not in text


def test_nothing_is_told_of_judges_that_are_not_simulated() -> None:
    row = Planted("one", "j", "+1", 0.1, found(0.1, 0.04))
    assert made([row], data="asked") == made([row], judge=replace(JUDGE, provider="openai")) == NONE
    assert "nothing was measured" in made([replace(row, found=found(math.nan, 0.1))])


# --- truths, against the same judges asked again ----------------------------------------------------------------------


@cache
def games() -> run.Asked:
    return asked("arena_hard_position_bias", question_limit=9, judges=["sim_gpt_judge", "sim_llama_judge"])


def test_the_planted_effect_of_a_place_is_that_of_many_repeats() -> None:
    wins: dict[tuple, dict[str, np.ndarray]] = {}
    for judgment in games().judgments:
        trial, where = judgment.trial, judgment.trial.where
        if trial.condition == "none" and not trial.request.repeat and where["candidate"] == "sim_gpt_thinking":
            choices = [v.choice.replace("A=B", "tie")[0] for _, v in again(trial, 150) if v]
            share = np.array([choices.count("A"), choices.count("B")]) / len(choices)
            wins.setdefault((trial.judge.name, trial.question_id), {})[where["first"]] = share
    truths = _lasting(games())
    for judge in ("sim_gpt_judge", "sim_llama_judge"):
        pairs = [[*each.values()] for (name, _), each in wins.items() if name == judge]
        values = [one[0] * two[0] - one[1] * two[1] for one, two in pairs]
        # Each share has a standard error of at most 0.5 / sqrt(145), and enters two products below 1.
        assert np.mean(values) == pytest.approx(
            truths[judge, "sim_gpt_thinking"], abs=4 * 0.06 / math.sqrt(len(values))
        )
    assert truths["sim_gpt_judge", "sim_gpt_thinking"] > 0.05
    assert abs(truths["sim_llama_judge", "sim_gpt_thinking"]) < 1e-12


def test_first_places_are_as_often_as_computed_blind_and_hinted() -> None:
    ran = asked("hinting_groups", question_limit=4, judges=["sim_gpt_fast", "sim_claude_fast"])
    for condition in ("none", "full", "swapped"):
        hits, expected, variance = 0, 0.0, 0.0
        for judgment in (each for each in ran.judgments if each.trial.condition == condition):
            trial = judgment.trial
            first = top_chances(simulated.before_noise(trial.request)[0], 1.0)
            ranked = [verdict.ranking[0] for _, verdict in again(trial, 60) if verdict]
            hits += ranked.count("A")
            expected, variance = expected + len(ranked) * first[0], variance + len(ranked) * first[0] * (1 - first[0])
        assert abs(hits - expected) < 4 * math.sqrt(variance), condition
    own, names = truths_of_hints(ran, {model.name: model.vendor for model in ran.experiment.candidates})
    # Nothing is planted in Claude's judge, which no hint and no name moves; GPT's likes what is said to be its own.
    assert names["claude"] == own["full", "claude"] == own["self", "claude"] == 0
    assert names["gpt"] > 0.01 and own["full", "gpt"] > 0.01 and own["self", "gpt"] == pytest.approx(own["full", "gpt"])


def test_answers_to_bias_tests_are_as_often_as_computed() -> None:
    names = ["sim_gpt_decider", "sim_llama_decider"]
    ran = asked("cognitive_biases", question_limit=14, judges=names)
    kinds: Counter[tuple[str, str]] = Counter()
    for judgment in ran.judgments:
        trial, kind = judgment.trial, (judgment.trial.wording.kind, judgment.trial.condition)
        if trial.condition == "decision" or trial.request.repeat or kinds[kind] >= 3:
            continue
        kinds[kind] += 1
        values, often = chances_of(ran, trial.request)
        picked = [verdict for _, verdict in again(trial, 400) if verdict]
        # What an option counts, by the label under which it is shown.
        counts = trial.wording.versions[trial.where["version"]].values
        worth = {label: counts[int(i)] for label, i in zip(trial.labels, trial.shown, strict=True)}
        if trial.form == "choice":
            counted = Counter(worth[verdict.choice] for verdict in picked)
            for value, share in zip(values, often, strict=True):
                assert_share(counted[value], len(picked), share, f"{kind} {value}")
        else:
            for side in (1.0, -1.0):
                taken = sum(worth[label] == side for verdict in picked for label in verdict.choices)
                mean = sum(share for value, share in zip(values, often, strict=True) if value == side)
                assert taken / len(picked) == pytest.approx(mean, abs=4 * math.sqrt(len(values) / 4 / len(picked)))
    assert {kind for kind, _ in kinds} == {"scale", "acceptance", "selection"}
    truths = truths_of_tests(ran)
    # Of the one nothing is planted but a habit of first options, which few scenarios do not balance; of the other much.
    assert all(abs(value) < 0.05 for (_, *judge), value in truths.items() if judge == ["sim_llama_decider"])
    assert truths["anchoring", "sim_gpt_decider"] > 0.1


def test_an_edit_turns_a_judge_as_its_chances_say() -> None:
    names = ["sim_llama_small", "sim_qwen_small", "sim_mistral"]
    ran = asked("quality_self_preference", question_limit=8, judges=names, candidates=names, doses=[2, 8], repeats=1)
    chances = _chances(ran, {"none", "wrong_8"})
    without: dict[str, int] = Counter()
    for judgment in ran.judgments[::7]:
        trial, where = judgment.trial, judgment.trial.where
        wrote = where["task"] == "wrote"
        arm = "wrote" if wrote else trial.condition
        if arm not in chances or trial.condition not in ("none", "wrong_8") or (wrote and trial.condition != "none"):
            continue
        key = (trial.question_id, where["right"], where["wrong"], trial.judge.name, where["first"])
        plain = replace(trial.request, model=replace(trial.judge, traits={**trial.judge.traits, "taste": 0.0}))
        picks = [v.choice for _, v in again(replace(trial, request=plain), 120) if v]
        wanted = where["own"] if wrote else "right"
        hits = picks.count("1" if where["first"] == wanted else "2")
        assert_share(hits, len(picks), chances[arm][(*key, where["own"]) if wrote else key], f"{arm} {key}")
        without[arm] += 1
    assert min(without.values()) >= 3 and set(without) == {"none", "wrong_8", "wrote"}
    turned = _turned(ran, chances["none"], chances["wrong_8"])
    assert turned["sim_llama_small"] > 0.2, "a liking of 1.2 for its own words"


def test_the_planted_logits_are_those_of_many_rankings() -> None:
    limited, many = (asked(question_limit=40, repeats=repeats) for repeats in (1, 8))
    planted = _planted_rows(limited, measured(top_choice, limited))
    truths = {row.found.where["vendor"]: row.truth for row in planted if "vendor" in row.found.where}
    for each in measured(top_choice, many):
        if each.id == "self_preference_logit" and set(each.where) == {"vendor"}:
            # Both are fits to about ten rankings of the same texts; noise is but a part of the clustered error.
            assert abs(each.value - truths[each.where["vendor"]]) < 3 * each.se


def measured(module: Any, ran: run.Asked) -> list[Estimate]:
    return module.measure(ran.frame, ran.data, 42, *((5.0,) if module is hinting else ()))


@pytest.mark.parametrize(
    ("module", "name", "limit"),
    [
        (top_choice, "mt_bench_blind", 16),
        (hinting, "hinting_groups", 16),
        (position, "arena_hard_position_bias", 12),
        (cognitive, "cognitive_biases", 84),
        (verbosity, "verbosity_style", 12),
        (self_preference, "quality_self_preference", 12),
    ],
)
def test_every_experiment_has_the_table_and_intervals_include_the_planted(module: Any, name: str, limit: int) -> None:
    ran = asked(name, question_limit=limit)
    text: str = module.planted(ran, measured(module, ran))
    rows = cells(text)
    assert len(rows) >= 5 and {len(row) for row in rows} == {6} and "nan" not in text
    missed = sum("(misses it)" in row[4] for row in rows)
    bounded = sum("[" in row[4] for row in rows)
    assert missed <= max(1, stats.binom.ppf(0.999, bounded, 0.05)), text


# --- primacy ----------------------------------------------------------------------------------------------------------

FOLDER = paths.EXPERIMENTS / "arena_hard_position_bias" / "prompts"
JUDGES = ("sim_claude_judge", "sim_gpt_judge", "sim_gemini_judge", "sim_llama_judge")
#: Who answers, and against whom: the baseline is another one in creative writing.
CANDIDATES = ("sim_claude_fast", "sim_claude_thinking", "sim_gpt_thinking")
BASELINES = {"coding": "sim_gpt_fast", "math": "sim_gpt_fast", "creative_writing": "sim_gemini_thinking"}


def judge(name: str = "j", **traits: Any) -> Model:
    return Model(name, "simulated", f"sim-{name}", "gpt", traits=traits)


def test_defaults_are_those_of_the_simulator() -> None:
    assert pair_traits(judge())[1:] == (WORDS["traits"]["tie"], WORDS["traits"]["noise"])


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


def primed_games() -> Iterator[dict[str, Any]]:
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
    return tuple(position.measure(pd.DataFrame(primed_games()), "simulated", 42))


def test_the_default_run_finds_what_was_planted_in_each_judge_and_nothing_else() -> None:
    p = {(*each.estimate.where.values(),): each.p for each in contrasts(estimates())}
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
