"""Answers and judgments written in the published format, and read back by the loaders of that format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from helpers import datasets, run
from tests.runs import asked

#: What the format holds of a judgment and its candidates.
KEPT = ["condition", "question_id", "category", "judge_vendor", "judge_tier", "candidate_vendor", "candidate_tier"]
KEPT += ["slot", "label", "rank", "score", "top", "outcome", "contradicts", "own_vendor"]


def kept(frame: pd.DataFrame, *more: str) -> pd.DataFrame:
    """A frame in one order of rows, of one type a column."""
    found = frame[[*KEPT, *more]].astype(object)
    return found.where(found.notna(), None).sort_values(KEPT[:7], ignore_index=True)


def written(records: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> run.Asked:
    out = tmp_path_factory.mktemp("out")
    given = {"hints": ["self", "swapped"], "question_limit": 12, "repeats": 2, "published_files": True}
    return asked("hinting_groups", **given, out=str(out))


def test_a_run_is_read_back_as_it_was(done: run.Asked) -> None:
    files = {path.name: path for path in run.write_published(done)}
    assert {*files} == {"answers.json", "group1_self.json", "group5_swapped.json", "group4_none.json"}
    assert {path.parent for path in files.values()} == {done.experiment.out / "published_simulated"}
    answers = datasets.load_answers(files.pop("answers.json"))
    given = {(each.question_id, each.vendor, each.tier): each for each in done.answers.values()}
    assert len(given) == len(answers) == len(done.answers)
    for each in answers:
        before = given[each.question_id, each.vendor, each.tier]
        assert (each.text, each.model, each.outcome) == (before.text, before.model, before.outcome)
    back = datasets.load_judgments(done.experiment.out / "published_simulated", answers=answers)
    first = done.frame[done.frame["repeat"] == 0].reset_index(drop=True)
    unread = ~first["outcome"].isin(["ok", "invalid_ranking", "truncated", "missing"])
    first["outcome"] = first["outcome"].astype(object).where(~unread, "unparsed")
    pd.testing.assert_frame_equal(kept(back, "length", "candidate_model"), kept(first, "length", "candidate_model"))
    records = json.loads(files["group1_self.json"].read_text())
    assert all(each["simulated"] and each["hint_mode"] == "self" for each in records)
    assert any(each.get("justification") for each in records)
    questions = datasets.load_questions(files["group1_self.json"].with_name("answers.json"))
    assert {each.id: each.text for each in questions} == {each.id: each.text for each in done.questions}


def test_blind_judgments_are_one_file_and_nothing_is_written_unasked() -> None:
    blind = asked(question_limit=3, published_files=True, judges=["sim_gpt_fast"])
    files = run.write_published(blind)
    assert [path.name for path in files] == ["answers.json", "judgments.json"]
    again = asked(judgments=str(files[0].parent), published_files=True)
    written_again = run.write_published(again)
    assert [path.parts[-2:] for path in written_again] == [("published", "judgments.json")]
    records = [json.loads(path.read_text()) for path in (files[1], written_again[0])]
    for first, second in zip(*records, strict=True):
        assert {**first, "justification": ""} == {**second, "justification": "", "simulated": True} | {
            "anonymized_answers": first["anonymized_answers"]
        }
    own = {**blind.experiment.extra, "published_files": False}
    assert run.write_published(replace(blind, experiment=replace(blind.experiment, extra=own))) == []


def test_a_real_log_becomes_a_file_of_records_that_reads_the_same(real_data: Path, tmp_path: Path) -> None:
    frame = datasets.load_judgments(real_data / "llm_eval")
    found = datasets.published_judgments(frame)
    assert {condition: len(records) for condition, records in found.items()} == {"full": 480}
    back = datasets.load_judgments(written(found["full"], tmp_path / "group3_full.json"))
    names = ["judge", "candidate"]
    pd.testing.assert_frame_equal(kept(back, *names), kept(frame, *names))
    assert datasets.published_judgments(back) == found
    answers = datasets.load_answers(real_data / "llm_eval" / "gemini_mtbench_5q_results.jsonl")
    path = written(datasets.published_answers(answers, ()), tmp_path / "answers.json")
    again = {(each.question_id, each.candidate): each for each in datasets.load_answers(path)}
    for each in answers:
        same = again[each.question_id, each.candidate]
        assert same.model == each.model and (same.text == each.text or each.outcome not in ("ok", "empty"))


def test_what_the_format_cannot_hold_is_left_out_or_refused(tmp_path: Path) -> None:
    frame = asked(question_limit=3, judges=["sim_gpt_fast"]).frame.astype({"outcome": object, "label": object})
    questions = [*frame["question_id"].unique()]
    for question, outcome in zip(questions, ("refused", "invalid_ranking", "missing"), strict=True):
        frame.loc[frame["question_id"] == question, ["outcome", "rank", "top", "score"]] = (outcome, None, None, None)
    (records,) = datasets.published_judgments(frame).values()
    back = datasets.load_judgments(written(records, tmp_path / "judgments.json"))
    outcomes = dict(zip(back["question_id"], back["outcome"], strict=True))
    assert [outcomes[each] for each in questions] == ["unparsed", "invalid_ranking", "missing"]
    frame["label"] = None
    (records,) = datasets.published_judgments(frame).values()
    assert [each.get("error") for each in records] == ["refused", "invalid_ranking"]
    frame["outcome"] = "ok"
    with pytest.raises(ValueError, match=f"question {questions[0]}, judge sim_gpt_fast: which candidate stood under"):
        datasets.published_judgments(frame)
