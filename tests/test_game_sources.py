"""Experiment 4 on published data: questions, answers and verdicts in several formats, from files and the hub."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import run
from helpers.biases import position
from helpers.config import ConfigError
from helpers.run.sources import answers_of, judgments_of, questions_of
from helpers.types import Experiment
from tests.runs import settled
from tests.servers.hub import Hub, Repo, running_hub
from tests.test_hub import REPO, Client

NAME = "arena_hard_position_bias"
MODELS = ("o3-mini-2025-01-31", "gemini-2.0-flash-001", "qwq-32b", "some-new-model")
CATEGORIES = {"hard_prompt": 12, "creative_writing": 12}
BASELINES = ["hard_prompt=o3_mini", "creative_writing=gemini_2_0_flash"]


def lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def ids() -> list[tuple[str, str]]:
    return [(f"{category}-{n}", category) for category, count in CATEGORIES.items() for n in range(count)]


def question_file() -> str:
    return lines({"uid": id, "category": category, "prompt": f"Write {id}."} for id, category in ids())


def answer_file(model: str, without: str = "") -> str:
    return lines(
        {
            "uid": id,
            "model": model,
            "messages": [
                {"role": "user", "content": "?"},
                {"role": "assistant", "content": {"answer": f"{model} on {id}"}},
            ],
        }
        for id, _ in ids()
        if id != without
    )


def judgment_file(judge: str, model: str, scores: tuple[Any, Any] = ("A>B", "B>A")) -> str:
    return lines(
        {
            "uid": id, "category": category, "judge": judge, "model": model,
            "baseline": MODELS[category == "creative_writing"],
            "games": [{"score": score} for score in scores],
        }
        for id, category in ids()
    )  # fmt: skip


def published(folder: Path) -> Path:
    root = folder / "arena-hard-v2.0"
    (root / "model_answer").mkdir(parents=True)
    (root / "question.jsonl").write_text(question_file())
    for model in MODELS:
        (root / "model_answer" / f"{model}.jsonl").write_text(
            answer_file(model, "hard_prompt-3" if model == "qwq-32b" else "")
        )
    for judge, scores in (("gpt-4.1", ("A>B", "A>>B")), ("gemini-2.5", ("A>B", "B>A"))):
        place = root / "model_judgment" / judge
        place.mkdir(parents=True)
        (place / "qwq-32b.jsonl").write_text(judgment_file(judge, "qwq-32b", scores))
    return root


def experiment(folder: Path, **parameters: Any) -> Experiment:
    return settled(NAME, store=str(folder / "replies"), out=str(folder / "out"), **parameters)


def test_published_questions_and_answers_are_judged_against_the_baseline_of_their_category(tmp_path: Path) -> None:
    root = published(tmp_path)
    asked = experiment(tmp_path, questions=str(root), answers=str(root / "model_answer"), baselines=BASELINES)
    questions = questions_of(asked)
    assert len(questions) == 24 and {q.category for q in questions} == {*CATEGORIES}
    given = answers_of(asked, questions)
    names = {(name, id.rpartition("-")[0]) for id, name in given}
    # The models of models.yaml have its names; of the other category's baseline no answer is taken.
    assert names == {
        ("o3_mini", "hard_prompt"), ("gemini_2_0_flash", "creative_writing"),
        *((name, category) for name in ("qwq-32b", "some-new-model") for category in CATEGORIES),
    }  # fmt: skip
    assert given["hard_prompt-3", "qwq-32b"].outcome == "missing"
    assert given["hard_prompt-4", "o3_mini"].text == "o3-mini-2025-01-31 on hard_prompt-4"
    named = replace(asked, parameters={**asked.parameters, "candidates": ["qwq_32b"]})
    named = replace(named, candidates=settled(NAME, candidates=["qwq_32b"]).candidates)
    assert {name for _, name in answers_of(named, questions)} == {"o3_mini", "gemini_2_0_flash", "qwq_32b"}


def test_simulated_judges_judge_published_answers_to_the_end(tmp_path: Path) -> None:
    root = published(tmp_path)
    asked = experiment(tmp_path, questions=str(root), answers=str(root / "model_answer"), baselines=BASELINES,
                       judges=["sim_gpt_judge"])  # fmt: skip
    done = asyncio.run(run.ask(asked, show=False))
    pairs = done.frame[done.frame["condition"] == "none"]
    assert done.unjudged == {"hard_prompt-3": ["qwq-32b: missing"]}
    assert set(pairs["baseline"]) == {"o3_mini", "gemini_2_0_flash"}
    assert len(pairs) == (24 + 23) * 2 * 2
    features = run.features(done)
    assert set(features["candidate"]) == {"o3_mini", "gemini_2_0_flash", "qwq-32b", "some-new-model"}
    assert any(e.id == "win_rate" for e in position.measure(done.frame, done.data, 42, features))


def test_published_verdicts_are_read_judge_by_judge_and_never_pooled(tmp_path: Path) -> None:
    root = published(tmp_path)
    done = asyncio.run(run.ask(experiment(tmp_path, judgments=str(root)), show=False))
    assert done.data == "folder" and run.features(done) is None
    estimates = {(e.id, e.where["judge"]): e for e in position.measure(done.frame, done.data, 42)
                 if e.id in ("first_position_effect", "significant_bias") and "category" not in e.where}  # fmt: skip
    assert estimates["first_position_effect", "gpt-4.1"].value == 1.0
    assert estimates["first_position_effect", "gemini-2.5"].value == 0.0
    assert estimates["significant_bias", "gemini-2.5"].value == 0.0 and estimates["significant_bias", "gpt-4.1"].n == 24


def test_judges_categories_and_limits_choose_among_published_verdicts(tmp_path: Path) -> None:
    root = published(tmp_path)
    some = judgments_of(experiment(tmp_path, judgments=str(root), categories=["creative_writing"], question_limit=8))
    assert set(some["category"]) == {"creative_writing"} and some["question_id"].nunique() == 4
    one = judgments_of(experiment(tmp_path, judgments=str(root), judges=["gpt_4_1"]))
    assert set(one["judge"]) == {"gpt-4.1"}
    with pytest.raises(ValueError, match=r"has no judge gpt_fast; it has: gemini-2\.5, gpt-4\.1"):
        judgments_of(experiment(tmp_path, judgments=str(root), judges=["gpt_fast"]))
    with pytest.raises(
        ConfigError, match=r"unknown judge GPT-4/CoT; .*; of published judges name those that are models"
    ):
        experiment(tmp_path, judgments=str(root), judges=["GPT-4/CoT"])
    with pytest.raises(ValueError, match=r"baselines = .*, controls = .* cannot change"):
        judgments_of(experiment(tmp_path, judgments=str(root), baselines=BASELINES, controls=["identical"]))


def test_published_answers_that_hold_a_nonce_are_counted_and_empty_ones_have_no_style(tmp_path: Path) -> None:
    from helpers import prompts

    root = published(tmp_path)
    file = root / "model_answer" / "qwq-32b.jsonl"
    held = file.read_text().replace("qwq-32b on hard_prompt-5", f"so {prompts.nonce(42, 'hard_prompt-5')} it is")
    file.write_text(held.replace("qwq-32b on hard_prompt-6", ""))
    asked = experiment(tmp_path, questions=str(root), answers=str(root / "model_answer"), baselines=BASELINES,
                       judges=["sim_gpt_judge"], controls=["identical"])  # fmt: skip
    done = asyncio.run(run.ask(asked, show=False))
    assert done.unjudged["hard_prompt-5"] == ["qwq-32b: holds_nonce"] and "hard_prompt-6" in done.unjudged
    features = run.features(done)
    assert "hard_prompt-6" not in set(features.loc[features["candidate"] == "qwq-32b", "question_id"])
    assert set(done.frame.loc[done.frame["candidate"] == "qwq-32b", "candidate_vendor"]) == {"qwen"}


def test_llmbar_is_read_with_the_labels_beside_it_and_fastchat_with_categories(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    file.write_text(lines(OTHERS["llmbar"]))
    (tmp_path / "instances.jsonl").write_text(
        lines({"id": f"Natural/{n}", "subset": "Natural", "label": 1} for n in range(12))
    )
    frame = judgments_of(experiment(tmp_path, judgments=str(file)))
    assert set(frame["candidate"]) == {"better"} and set(frame["baseline"]) == {"worse"}
    turns = tmp_path / "fastchat.jsonl"
    turns.write_text(lines(OTHERS["fastchat"]))
    root = published(tmp_path / "p")
    asked = lines({"uid": str(n), "category": "mathematics", "prompt": f"{n}?"} for n in range(12))
    (root / "question.jsonl").write_text(asked)
    frame = judgments_of(experiment(tmp_path, judgments=str(turns), questions=str(root)))
    assert set(frame["category"]) == {"mathematics"}


def test_verdicts_in_one_order_are_refused_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "battles.jsonl"
    file.write_text(lines({"question_id": str(n), "model_a": "a", "model_b": "b", "winner": "model_a"}
                          for n in range(12) for _ in range(2)))  # fmt: skip
    done = asyncio.run(run.ask(experiment(tmp_path, judgments=str(file)), show=False))
    with pytest.raises(ValueError, match="given in one order only, or do not say in which"):
        position.measure(done.frame, done.data, 42)


def test_broken_lines_are_told_with_file_and_line_and_nothing_else_is_lost(tmp_path: Path) -> None:
    root = published(tmp_path)
    file = root / "model_judgment" / "gpt-4.1" / "qwq-32b.jsonl"
    whole = file.read_text().splitlines()
    whole[4] = whole[4][:40]
    whole[7] = "[1, 2]"
    file.write_text("\n".join(whole) + "\n")
    done = asyncio.run(run.ask(experiment(tmp_path, judgments=str(root)), show=False))
    assert (done.frame["judge"] == "gpt-4.1").sum() == 2 * 22 and (done.frame["judge"] == "gemini-2.5").sum() == 48
    told = run.provenance(done)
    assert "2 broken" in told and "gpt-4.1/qwq-32b.jsonl, line 5" in told and "line 8" in told


def test_published_answers_beside_published_verdicts_give_their_style(tmp_path: Path) -> None:
    root = published(tmp_path)
    asked = experiment(tmp_path, judgments=str(root), answers=str(root / "model_answer"))
    features = run.features(asyncio.run(run.ask(asked, show=False)))
    assert {"question_id", "candidate", "length", "headers", "lists", "bold"} <= {*features.columns}
    assert set(features["candidate"]) == {*MODELS}


def test_answers_beside_verdicts_may_lie_at_home_and_are_missed_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = published(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    at_home = experiment(tmp_path, judgments=str(root), answers="~/arena-hard-v2.0/model_answer")
    assert len(run.features(asyncio.run(run.ask(at_home, show=False)))) == 4 * 24 - 1
    with pytest.raises(FileNotFoundError, match="answers="):
        asyncio.run(run.plan(experiment(tmp_path, judgments=str(root), answers=str(tmp_path / "nowhere"))))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"baselines": ["gpt_fast"]}, "has none of gpt_fast; it has: gemini-2.0-flash-001, o3-mini"),
        ({"candidates": ["deepseek_r1"], "baselines": BASELINES}, "has none of deepseek_r1"),
        ({}, "has none of sim_gemini_thinking, sim_gpt_fast"),
    ],
)
def test_answers_that_are_not_there_are_named(tmp_path: Path, parameters: dict[str, Any], told: str) -> None:
    root = published(tmp_path)
    asked = experiment(tmp_path, questions=str(root), answers=str(root / "model_answer"), **parameters)
    with pytest.raises(ValueError, match=told):
        answers_of(asked, questions_of(asked))


def test_answers_to_other_questions_are_refused(tmp_path: Path) -> None:
    root = published(tmp_path)
    asked = experiment(tmp_path, answers=str(root / "model_answer"), baselines=["o3_mini"])
    with pytest.raises(ValueError, match="has no answers to 90 questions"):
        answers_of(asked, questions_of(asked))


OTHERS = {
    "fastchat": [
        {"question_id": n, "model_1": "a", "model_2": "b", "turn": 1, "judge": ["gpt-4", "pair-v2"],
         "g1_winner": "model_1", "g2_winner": "model_2"} for n in range(12)
    ],
    "letters": [
        {"question_id": n, "category": "math", "judge": "gpt-4", "model_1": "a", "model_2": "b", "verdict_12": "A",
         "verdict_21": "A"} for n in range(12)
    ],
    "llmbar": [
        {"id": f"Natural/{n}", "evaluator": "GPT-4", "prompt": "CoT", "winner": "1", "winner_swapped": "2"}
        for n in range(12)
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_pairs_in_other_formats_are_known_by_their_fields(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "verdicts.jsonl"
    file.write_text(lines(OTHERS[kind]))
    done = asyncio.run(run.ask(experiment(tmp_path, judgments=str(file)), show=False))
    (effect,) = [e for e in position.measure(done.frame, done.data, 42) if e.id == "first_position_effect"]
    # Whoever stands first wins in both orders, in all of them.
    assert (effect.value, effect.n) == (1.0, 12)


def test_questions_answers_and_verdicts_come_from_the_hub_and_only_the_files_that_are_listed(tmp_path: Path) -> None:
    root, hub = published(tmp_path / "files"), Hub({REPO: Repo()})
    files = {str(path.relative_to(root.parent)): path.read_bytes() for path in sorted(root.rglob("*.jsonl"))}
    hub.repos[REPO].commit(
        {f"data/{name}": content for name, content in files.items()} | {"data/huge.bin": b"0" * 9999}
    )
    entry = {
        "repo": REPO, "revision": "main", "questions": "data/arena-hard-v2.0/question.jsonl",
        "answers": [f"data/arena-hard-v2.0/model_answer/{name}.jsonl" for name in MODELS[:3]],
        "judgments": ["data/arena-hard-v2.0/model_judgment/gpt-4.1/qwq-32b.jsonl"],
    }  # fmt: skip
    program = f"""
import asyncio
from dataclasses import replace
from helpers import run
from helpers.config import load_experiment
from helpers.run.sources import answers_of, questions_of
hub.DOWNLOADS = folder
def experiment(**parameters):
    found = load_experiment({NAME!r}, store=str(folder / "store"), out=str(folder / "out"), **parameters)
    return replace(found, hub={entry!r})
asked = experiment(questions="hub", answers="hub", baselines={BASELINES!r})
questions = questions_of(asked)
names = sorted({{name for _, name in answers_of(asked, questions)}})
done = asyncio.run(run.ask(experiment(judgments="hub"), show=False))
result = [len(questions), names, done.data, sorted(set(done.frame["judge"])), len(done.frame)]
"""
    with running_hub(hub):
        told = Client(tmp_path, hub.url).run(program)
    assert told == [24, ["gemini_2_0_flash", "o3_mini", "qwq-32b"], "hub", ["gpt-4.1"], 48]
    assert hub.asked("GET", "huge") == hub.asked("GET", "some-new-model") == hub.asked("GET", "gemini-2.5") == 0


def test_the_verdicts_of_a_run_are_written_in_the_layout_that_the_loaders_read_back(tmp_path: Path) -> None:
    asked = experiment(tmp_path, question_limit=12, judges=["sim_gpt_judge", "sim_gemini_judge"], arena_files=True)
    done = asyncio.run(run.ask(asked, show=False))
    files = run.write_arena(done)
    assert len(files) == 2 * 3 and all(file.is_relative_to(tmp_path / "out" / "model_judgment") for file in files)
    back = judgments_of(experiment(tmp_path, judgments=str(tmp_path / "out")))
    first = done.frame[(done.frame["condition"] == "none") & (done.frame["repeat"] == 0)]
    keys = ["judge", "candidate", "question_id", "first"]
    merged = first.merge(back, on=keys, suffixes=("", "_back"))
    assert len(merged) == len(first) == len(back)
    said, read = (merged[name].astype(object).fillna("-") for name in ("verdict", "verdict_back"))
    assert (said == read).all()
    first_texts = {
        (j.trial.judge.name, j.trial.where["candidate"], j.trial.question_id, j.trial.where["first"]): j.completion.text
        for j in done.judgments
        if j.trial.condition == "none" and j.trial.request.repeat == 0
    }
    for file in files:
        for record in map(json.loads, file.read_text().splitlines()):
            for game, first in zip(record["games"], ("baseline", "candidate"), strict=True):
                place = (record["judge"], record["model"], record["uid"], first)
                assert game is None or game["judgment"]["answer"] == first_texts[place], "of the first asking"
    line = json.loads(files[0].read_text().splitlines()[0])
    assert line["games"][0]["prompt"][1]["content"].startswith("<<<QUESTION") and line["games"][0]["judgment"]["answer"]
    assert run.write_arena(replace(done, experiment=replace(asked, extra={**asked.extra, "arena_files": False}))) == []
