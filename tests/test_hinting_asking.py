"""Experiment 2 is experiment 1 with a hint: which names each hint shows, and that nothing else in a prompt differs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from helpers import frames, paths, verdicts
from helpers.biases import hinting, top_choice
from helpers.biases.hinting.asked import judge_trials
from helpers.config import load_experiment, read_yaml
from helpers.types import Answer, Experiment, Question, Trial
from tests import simulation

HINTS = read_yaml(paths.EXPERIMENTS / "hinting_groups" / "config.yaml")["kinds"]["hints"]
VENDORS = ("claude", "gpt", "gemini")


def experiment(**parameters: Any) -> Experiment:
    """Experiment 2 with these parameters."""
    return load_experiment("hinting_groups", **{"hints": HINTS, **parameters})


def questions(count: int) -> list[Question]:
    return [Question(f"q_{n}", "math", f"What is {n} + {n}?", place=n) for n in range(count)]


def answers(run: Experiment, asked: list[Question]) -> dict[tuple[str, str], Answer]:
    return {
        (question.id, model.name): Answer(question.id, model.name, model.vendor, model.tier, f"It is {model.name}.")
        for question in asked
        for model in run.candidates
    }


def trials(count: int, **parameters: Any) -> list[Trial]:
    run = experiment(**parameters)
    asked = questions(count)
    return judge_trials(run, asked, answers(run, asked))


def of(found: list[Trial], condition: str) -> dict[tuple[str, str, int], Trial]:
    return {(t.question_id, t.judge.name, t.request.repeat): t for t in found if t.condition == condition}


def hint_text(trial: Trial) -> str:
    """What stands between the last answer and the task."""
    return trial.request.prompt.rpartition(">>>\n")[2].partition("Rank the answers")[0].strip()


@pytest.mark.parametrize("structured", [True, False])
def test_the_blind_group_is_experiment_1_byte_for_byte(structured: bool) -> None:
    first, second = load_experiment("mt_bench_blind"), experiment()
    judges = tuple(replace(judge, structured=structured) for judge in first.judges)
    asked = questions(7)
    written = answers(second, asked)
    blind = top_choice.trials("judging", replace(first, judges=judges), asked, {}, written)
    mine = judge_trials(replace(second, judges=judges), asked, written)
    assert {t.request.key for t in mine if t.condition == "none"} == {t.request.key for t in blind}
    assert len(blind) == 7 * 6
    asking = [trial.request.key for trial in top_choice.trials("answers", first, asked, {})]
    assert [trial.request.key for trial in hinting.trials("answers", second, asked, {})] == asking


def test_no_word_of_a_hint_stands_in_a_blind_prompt_and_nothing_else_differs() -> None:
    found = trials(5)
    blind = of(found, "none")
    assert all(hint_text(trial) == "" and "vendor" not in trial.request.prompt for trial in blind.values())
    for mode in HINTS:
        for place, trial in of(found, mode).items():
            plain, told = blind[place], hint_text(trial)
            assert told.startswith("Who wrote what")
            assert trial.request.prompt.replace(f"{told}\n\n", "") == plain.request.prompt
            assert (trial.request.system, trial.request.schema) == (plain.request.system, plain.request.schema)
            assert (trial.shown, trial.labels, trial.nonce) == (plain.shown, plain.labels, plain.nonce)


def expected(mode: str, trial: Trial) -> list[str | None] | None:
    """The vendor named for each slot, by the words of the protocol; None where chance decides."""
    true = [name.split("_")[1] for name in trial.shown]
    own = trial.judge.vendor
    return {
        "none": [],
        "self": [vendor if vendor == own else None for vendor in true],
        "competitors": [None if vendor == own else vendor for vendor in true],
        "full": true,
        "model": true,
    }.get(mode)


def test_each_hint_names_whom_it_should() -> None:
    found = trials(30)
    for trial in found:
        true = [name.split("_")[1] for name in trial.shown]
        named, own = list(trial.named), trial.judge.vendor
        wanted = expected(trial.condition, trial)
        if wanted is not None:
            assert named == wanted
        if trial.condition == "swapped":
            assert Counter(named) == Counter(true), "the same names, dealt out anew"
        if trial.condition == "false_self":
            passed_off = {vendor for vendor, name in zip(true, named, strict=True) if name}
            assert set(named) == {own, None} and len(passed_off) == 1 and own not in passed_off
        if trial.condition == "competitors_masked":
            hidden = {vendor for vendor, name in zip(true, named, strict=True) if name is None}
            assert own in hidden and len(hidden) == 2, "nobody can be found by elimination"
            assert all(name in (vendor, None) for vendor, name in zip(true, named, strict=True))


def test_the_text_says_what_the_trial_records() -> None:
    for trial in trials(6):
        told, own = hint_text(trial), trial.judge.vendor
        pairs = list(zip(trial.labels, trial.shown, trial.named or [None] * 6, strict=True))
        if trial.condition in ("self", "false_self"):
            labels = " and ".join(label for label, _, name in pairs if name)
            assert told == f"Who wrote what: answers {labels} came from your own vendor, {own.upper()}."
        elif trial.condition == "model":
            lines = [f"{label}: {name.replace('_', '-')}" for label, name, _ in pairs]
            assert told == "\n".join(["Who wrote what:", *lines])
        elif trial.condition != "none":
            lines = [f"{label}: {name.upper() if name else 'not disclosed'}" for label, _, name in pairs]
            assert told == "\n".join(["Who wrote what:", *lines])


def test_a_judge_without_an_answer_of_its_vendor_is_told_so() -> None:
    few = trials(3, candidates=["sim_gpt_fast", "sim_gemini_fast"], judges=["sim_claude_fast"], hints=["self"])
    told = {hint_text(trial) for trial in few if trial.condition == "self"}
    assert told == {"Who wrote what: no answer came from your own vendor, CLAUDE."}
    one = trials(3, candidates=["sim_gpt_fast", "sim_gemini_fast"], judges=["sim_gpt_fast"], hints=["self"])
    assert {hint_text(trial)[:24] for trial in one if trial.condition == "self"} <= {
        f"Who wrote what: answer {label}" for label in "AB"
    }


def test_swapped_names_are_drawn_at_random_whoever_wrote_the_answer_and_wherever_it_stands() -> None:
    found = [trial for trial in trials(400, hints=["swapped"]) if trial.condition == "swapped"]
    rows = [
        (trial.judge.vendor, name.split("_")[1], slot, trial.named[slot])
        for trial in found
        for slot, name in enumerate(trial.shown)
    ]
    table = pd.DataFrame(rows, columns=["judge", "vendor", "slot", "named"])
    for by in ("vendor", "slot", "judge"):
        share = table.assign(claude=table["named"] == "claude").groupby(by)["claude"].mean()
        assert share.between(0.30, 0.37).all(), f"one in three each (sd below 0.01), by {by}: {share}"


def test_draws_hang_on_seed_mode_question_and_judge_alone() -> None:
    whole = trials(12, repeats=2)
    parts = [*trials(12, hints=["swapped"]), *trials(5, hints=["false_self", "competitors_masked"])]
    named = {(t.condition, t.question_id, t.judge.name): t.named for t in parts if t.condition != "none"}
    again = {(t.condition, t.question_id, t.judge.name): t.named for t in whole}
    assert all(again[place] == names for place, names in named.items())
    firsts, seconds = (
        {(t.condition, t.question_id, t.judge.name): t.named for t in whole if t.request.repeat == r} for r in (0, 1)
    )
    assert firsts == seconds
    other = trials(12, hints=["swapped"], seed=7)
    assert {t.named for t in other} and [t.named for t in other] != [t.named for t in trials(12, hints=["swapped"])]


def prompts_of(count: int) -> list[tuple[str, str]]:
    """The keys in the order of asking."""
    return [(trial.condition, trial.request.key) for trial in trials(count)]


def test_conditions_are_interleaved_in_one_order_that_every_process_draws_alike() -> None:
    here = prompts_of(20)
    code = "import json; from tests.test_hinting_asking import prompts_of; print(json.dumps(prompts_of(20)))"
    env = {"PYTHONHASHSEED": "5", "PATH": ""}
    there = subprocess.run(
        [sys.executable, "-c", code], cwd=paths.ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert [tuple(each) for each in json.loads(there.stdout)] == here
    conditions = [condition for condition, _ in here]
    assert Counter(conditions) == {mode: 120 for mode in ("none", *HINTS)}
    thirds = [Counter(conditions[at : at + 320]) for at in (0, 320, 640)]
    assert all(min(third.values()) >= 20 for third in thirds), "no condition comes early or late"


def test_a_changed_template_asks_only_what_it_changed(tmp_path: Path) -> None:
    run = experiment()
    asked = questions(4)
    before = judge_trials(run, asked, answers(run, asked))
    shutil.copytree(run.folder / "prompts", tmp_path / "prompts")
    own = tmp_path / "prompts" / "own.txt"
    own.write_text(own.read_text(encoding="utf-8").replace("Who wrote what", "On authorship"), encoding="utf-8")
    after = judge_trials(replace(run, folder=tmp_path), asked, answers(run, asked))
    changed = {new.condition for old, new in zip(before, after, strict=True) if old.request.key != new.request.key}
    assert changed == {"self", "false_self"}


@pytest.mark.parametrize("hints", [["selfish"], ["self", "self"], ["none"]])
def test_hints_that_cannot_be_given_are_refused_with_the_valid_ones(hints: list[str]) -> None:
    with pytest.raises(
        ValueError,
        match=r"hints.* = .*: (each can be named once|Input should be 'self', 'competitors', 'full', 'swapped')",
    ):
        trials(1, hints=hints)


def test_the_frame_tells_names_and_published_frames_have_none() -> None:
    run = experiment(hints=["full", "competitors"])
    asked = questions(2)
    written = answers(run, asked)
    found = [verdicts.read(t, simulation.said(t.request)) for t in judge_trials(run, asked, written)]
    table = frames.listwise(found, written)
    full, partly, blind = (table[table["condition"] == name] for name in ("full", "competitors", "none"))
    assert (full["named"] == full["candidate_vendor"]).all() and blind["named"].isna().all()
    assert (partly["named"].isna() == partly["own_vendor"]).all()


# --- the simulated judge --------------------------------------------------------------------------------------------


def own_rates(hints: list[str], count: int = 500, **traits: Any) -> dict[str, float]:
    """How often gpt's judges put an answer of their own vendor first, by condition, in a large sample."""
    everybody = simulation.models(known := simulation.questions(count), self_preference=0.0, **traits)
    run = replace(experiment(hints=hints), judges=everybody[2:4], candidates=everybody)
    written = {
        t.request.key: verdicts.read(t, simulation.said(t.request))
        for t in top_choice.trials("answers", run, known, {})
    }
    given = top_choice.answers(run, known, written)
    found = [verdicts.read(t, simulation.said(t.request)) for t in judge_trials(run, known, given)]
    top = frames.picks(frames.listwise(found, given))
    return top.assign(own=top["own_vendor"].astype(float)).groupby("condition")["own"].mean().to_dict()


@pytest.mark.slow
def test_names_move_a_simulated_judge_as_planted_and_not_at_all_where_nothing_was() -> None:
    hints = ["self", "full", "competitors", "competitors_masked", "swapped"]
    fair = own_rates(hints, hint_effect=0.0, deduces=1)
    assert all(abs(rate - fair["none"]) < 0.06 for rate in fair.values()), "0.06 is 2.7 standard errors"
    deducing = own_rates(hints, hint_effect=1.5, deduces=1)
    # Without deduction nothing is another but what follows from the names of all others.
    naive = own_rates(["self", "competitors"], hint_effect=1.5, deduces=0)
    assert deducing["self"] - deducing["none"] > 0.15 and naive["self"] - naive["none"] > 0.15
    assert abs(deducing["full"] - deducing["self"]) < 0.06
    assert abs(deducing["competitors_masked"] - deducing["none"]) < 0.06
    assert abs(deducing["swapped"] - deducing["none"]) < 0.12, "a third of the names are true"
    assert abs(deducing["competitors"] - deducing["self"]) < 0.06, "who is left over must be oneself"
    assert abs(naive["competitors"] - naive["none"]) < 0.06
    assert VENDORS[1] == "gpt"


def test_a_false_name_works_on_a_simulated_judge_like_a_true_one() -> None:
    rates = own_rates(["false_self"], hint_effect=1.5)
    assert rates["false_self"] < rates["none"] - 0.05, "others carry the name that is liked"
