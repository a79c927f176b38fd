"""Who is shown where: balanced, drawn once and for all, and not to be moved by anything but seed, judge and place."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from helpers import datasets, paths
from helpers.biases.top_choice.asked import caution, order, trials, williams
from helpers.config import load_experiment
from helpers.run.sources import questions_of
from helpers.types import Model, Question, Trial
from tests.runs import full_run, settled

SIX = tuple("abcdef")


def blocks(size: int, count: int, judge: str = "judge") -> list[tuple[str, ...]]:
    """The orders of `count` whole blocks of `size` candidates."""
    rows = len(williams(size))
    return [order("abcdefgh"[:size], place, judge, 42) for place in range(rows * count)]


def slots(rows: list[tuple]) -> Counter:
    return Counter((thing, slot) for row in rows for slot, thing in enumerate(row))


def neighbours(rows: list[tuple]) -> Counter:
    return Counter(pair for row in rows for pair in pairwise(row))


def judging(**parameters: object) -> dict[tuple[str, str, int], Trial]:
    """The judgments that a run would ask for, before any answer is written, by question, judge and repeat."""
    experiment = settled(**parameters)
    asked = trials("judging", experiment, questions_of(experiment), {})
    return {(trial.question_id, trial.judge.name, trial.request.repeat): trial for trial in asked}


def shown(trials: dict[tuple[str, str, int], Trial]) -> dict[tuple[str, str, int], tuple[str, ...]]:
    return {key: trial.shown for key, trial in trials.items()}


@pytest.mark.parametrize("size", range(2, 9))
def test_a_design_gives_each_slot_and_each_neighbour_equally_often(size: int) -> None:
    rows = williams(size)
    assert len(rows) == (size if size % 2 == 0 else 2 * size)
    assert all(sorted(row) == list(range(size)) for row in rows)
    times = len(rows) // size
    assert slots(rows) == {(thing, slot): times for thing in range(size) for slot in range(size)}
    assert neighbours(rows) == {(a, b): times for a in range(size) for b in range(size) if a != b}


@pytest.mark.parametrize("size", range(2, 9))
def test_whole_blocks_are_balanced_however_their_labels_are_drawn(size: int) -> None:
    rows, names = blocks(size, 5), "abcdefgh"[:size]
    times = len(rows) // size
    assert slots(rows) == {(name, slot): times for name in names for slot in range(size)}
    assert neighbours(rows) == {(a, b): times for a in names for b in names if a != b}


def test_blocks_are_drawn_apart() -> None:
    rows = blocks(6, 40)
    assert len({rows[start] for start in range(0, len(rows), 6)}) > 30
    assert order(SIX, 7, "one", 42) != order(SIX, 7, "two", 42)
    assert order(SIX, 7, "one", 42) != order(SIX, 7, "one", 43)


@pytest.fixture(scope="module")
def placed() -> pd.DataFrame:
    """The frame of a whole run with each question's place in the ranked order."""
    run = full_run()
    place = {question.id: question.place for question in run.questions}
    return run.frame.assign(place=run.frame["question_id"].map(place).astype(int))


@pytest.mark.parametrize("limit", range(6, 79, 6))
def test_each_candidate_takes_each_slot_equally_often_for_each_judge(placed: pd.DataFrame, limit: int) -> None:
    begun = placed[placed["place"] < limit]
    counts = begun.groupby(["judge", "candidate", "slot"]).size()
    assert len(counts) == 6 * 6 * 6
    assert set(counts) == {limit // 6}


def test_the_reached_balance_over_all_questions_is_shown(placed: pd.DataFrame) -> None:
    from helpers.biases.top_choice import balance_of_orders

    table = balance_of_orders(placed)
    assert table.to_numpy().sum() == 80 * 6 * 6
    assert table.sum(axis=0).eq(480).all() and table.sum(axis=1).eq(480).all()
    # 78 of 80 questions are balanced; in the other two a candidate takes two different slots for each of six judges.
    assert table.to_numpy().min() >= 78 and table.to_numpy().max() <= 78 + 6


def test_the_frame_says_what_the_prompt_showed() -> None:
    run = full_run()
    for judgment in run.judgments:
        trial = judgment.trial
        texts = [run.answers[trial.question_id, candidate].text for candidate in trial.shown]
        wanted = "\n\n".join(
            f"<<<ANSWER {label} {trial.nonce}>>>\n{text}\n<<<END {label} {trial.nonce}>>>"
            for label, text in zip("ABCDEF", texts, strict=True)
        )
        assert wanted in trial.request.prompt
    seen = run.frame.groupby(["question_id", "judge"])["candidate"].agg(tuple).to_dict()
    assert seen == {(j.trial.question_id, j.trial.judge.name): j.trial.shown for j in run.judgments}


def test_questions_and_judges_see_different_orders() -> None:
    orders = shown(judging())
    for judge in {judge for _, judge, _ in orders}:
        own = [row for (_, name, _), row in orders.items() if name == judge]
        assert len(set(own)) > 60
    for question in {question for question, _, _ in orders}:
        assert len({row for (id, _, _), row in orders.items() if id == question}) > 1


def test_orders_are_the_same_in_another_process() -> None:
    code = (
        "import json; from tests.test_orders import judging, shown; "
        "print(json.dumps([[*key, *row] for key, row in shown(judging(question_limit=30)).items()]))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=paths.ROOT,
        env={"PYTHONHASHSEED": "7", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(found.stdout) == [[*key, *row] for key, row in shown(judging(question_limit=30)).items()]


@pytest.mark.parametrize(
    ("parameters", "count"),
    [
        *(({"question_limit": limit}, 6 * limit) for limit in (5, 16, 53)),
        ({"categories": ["math", "stem"]}, 20 * 6),
        ({"judges": ["sim_gpt_fast"]}, 80),
    ],
    ids=str,
)
def test_fewer_questions_or_judges_move_no_order_and_no_prompt(parameters: dict[str, object], count: int) -> None:
    every, some = judging(), judging(**parameters)
    assert len(some) == count
    assert shown(some) == {key: every[key].shown for key in some}
    assert all(trial.nonce == every[key].nonce for key, trial in some.items())


def test_a_repeat_shows_the_same_order() -> None:
    trials = judging(question_limit=12, repeats=3)
    assert len(trials) == 12 * 6 * 3
    for (question, judge, _), trial in trials.items():
        assert trial.shown == trials[question, judge, 0].shown
        assert trial.request.prompt == trials[question, judge, 0].request.prompt
    assert len({trial.request.key for trial in trials.values()}) == len(trials)


def test_the_order_in_which_candidates_are_named_does_not_matter() -> None:
    names = ["sim_gpt_fast", "sim_claude_fast", "sim_gemini_fast", "sim_gpt_thinking"]
    assert shown(judging(question_limit=12, candidates=names)) == shown(
        judging(question_limit=12, candidates=sorted(names))
    )


def test_order_draw_moves_the_row_within_its_block() -> None:
    for place in range(12):
        block = place // 6 * 6
        rows = [order(SIX, block + (place + draw) % 6, "judge", 42) for draw in range(6)]
        assert [order(SIX, place, "judge", 42, draw) for draw in range(6)] == rows
        assert slots(rows) == {(name, slot): 1 for name in SIX for slot in range(6)}
    first, second = shown(judging(question_limit=18)), shown(judging(question_limit=18, order_draw=1))
    assert all(first[key] != second[key] for key in first)


def by_hand(questions: list[Question], seed: int) -> list[str]:
    """The ranked order as the protocol words it, computed in another way."""
    code = {question.id: hashlib.sha256(f"{seed}:{question.id}".encode()).hexdigest() for question in questions}
    rank = {}
    for question in questions:
        kin = [other for other in questions if other.category == question.category]
        before = sum(code[other.id] < code[question.id] for other in kin)
        rank[question.id] = ((before + 0.5) / len(kin), code[question.id])
    return sorted(rank, key=rank.__getitem__)


@pytest.mark.parametrize("seed", [42, 7])
def test_the_ranked_order_is_the_documented_one(seed: int) -> None:
    questions = questions_of(settled(seed=seed))
    assert [question.id for question in questions] == by_hand(list(questions), seed)
    assert [question.place for question in questions] == list(range(80))


def test_limits_are_nested() -> None:
    few, more, every = ([q.id for q in questions_of(settled(question_limit=n))] for n in (5, 16, None))
    assert (len(few), len(more), len(every)) == (5, 16, 80)
    assert every[:16] == more and more[:5] == few


def test_any_limit_is_proportional_over_the_eight_categories() -> None:
    every = questions_of(settled())
    for limit in range(1, 81):
        counts = Counter(question.category for question in every[:limit])
        assert all(limit // 8 <= counts[category] <= -(-limit // 8) for category in {q.category for q in every})


def test_any_limit_is_proportional_over_unequal_categories() -> None:
    sizes = {"large": 30, "middle": 15, "small": 5}
    questions = [Question(f"{name}_{i}", name, "?") for name, size in sizes.items() for i in range(size)]
    ranked = datasets.ranked(questions, 42)
    for limit in range(1, 51):
        counts = Counter(question.category for question in ranked[:limit])
        for name, size in sizes.items():
            # A category is at most half a question off where the cut falls, and the three together one and a half.
            assert abs(counts[name] - limit * size / 50) <= 0.5 + 1.5 * size / 50


def test_the_order_of_lines_in_the_file_does_not_matter(tmp_path: Path) -> None:
    lines = settled().builtin.read_text(encoding="utf-8").splitlines()
    random.Random("shuffled").shuffle(lines)
    (tmp_path / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    moved = settled(questions=str(tmp_path))
    assert questions_of(moved) == questions_of(settled())
    assert shown(judging(questions=str(tmp_path), question_limit=20)) == shown(judging(question_limit=20))


def test_a_question_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="no place in the ranked order"):
        order(SIX, Question("q", "math", "?").place, "judge", 42)


@pytest.mark.parametrize("size", [0, 1, 27])
def test_what_cannot_be_ranked_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"^{size} candidates cannot be ranked: from 2 to 26"):
        order([f"candidate_{i}" for i in range(size)], 0, "judge", 42)


def test_a_panel_that_cannot_carry_the_estimate_is_told_before_paying() -> None:
    def panel(*names: str) -> list[Model]:
        return [Model(name, "simulated", name, name.split("_")[0], name.split("_")[1]) for name in names]

    plain = load_experiment("mt_bench_blind")

    def told(judges: list[Model], candidates: list[Model]) -> str:
        return caution(replace(plain, judges=tuple(judges), candidates=tuple(candidates)), ())

    three = panel("claude_fast", "gpt_fast", "gemini_fast")
    six = three + panel("claude_thinking", "gpt_thinking", "gemini_thinking")
    assert told(six, six) == "" and told(three, six) == ""
    assert "Too few answers" in told(three, three)
    assert "only the sum" in told(panel("claude_fast", "gpt_fast"), panel("claude_fast", "gpt_fast", "gpt_thinking"))
    assert "no self-preference" in told(panel("llama_fast"), six)
