"""Published answers with letter, reason and edited reasons: every format they come in, and what enters no pair."""

from __future__ import annotations

import json
from typing import Any

import pytest

from helpers import datasets
from helpers.datasets import answers
from helpers.types import Answer
from tests.case_tables import load_cases
from tests.test_bias_loaders import write_csv
from tests.test_datasets import refused, write
from tests.test_passages import FLAT

LLAMA, QWEN = "Meta-Llama-3.1-8B-Instruct-Turbo", "Qwen2.5-7B-Instruct-Turbo"
CASES = load_cases("responses", llama=LLAMA)


def flat(number: int, **more: Any) -> dict[str, Any]:
    """One synthetic record with the answers of two models, and edited reasons of the first."""
    return FLAT | {
        "pid": f"70001_AB12_1_{number}",
        f"{LLAMA}_output_label": "B",
        f"{LLAMA}_reason": "The keeper left the room.",
        f"{LLAMA}_reason_perturb_llm_auto": "The warden left the chamber.",
        f"{LLAMA}_Dupe_reason_output_label_A": "A lamp, they said.",
        f"{QWEN}_output_label": "A",
        f"{QWEN}_reason": "The first line says it.",
        **more,
    }


def test_flat_records_give_questions_answers_and_edits(tmp_path):
    loaded = datasets.load_responses(write(tmp_path / "quality_responses.json", [flat(1)]))
    (question,) = loaded.questions
    assert (question.id, question.gold, question.article, len(question.options)) == ("70001_AB12_1_1", "A", "70001", 4)
    texts = {"text": "The keeper left the room.", "edited": "The warden left the chamber."}
    assert loaded.answers == (
        Answer(question.id, LLAMA, "llama", "", model=LLAMA, label="B", **texts),
        Answer(question.id, QWEN, "qwen", "", "The first line says it.", QWEN, label="A"),
    )


def test_csv_holds_the_same_as_json(tmp_path):
    rows = [flat(1), flat(2, **{f"{LLAMA}_reason": 'Two\nlines, a "quote"', f"{QWEN}_output_label": None})]
    path = write_csv(tmp_path / "quality_responses.csv", rows)
    assert datasets.load_responses(path) == datasets.load_responses(write(tmp_path / "rows.jsonl", rows))
    assert datasets.load_passages(path) == datasets.load_passages(tmp_path / "rows.jsonl")
    assert datasets.load_responses(tmp_path) == datasets.load_responses(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pid,text\n1,2\n1,2,3\n", ["line 3", "3 cells where the header has 2"]),
        ("pid,pid\n1,2\n", ["line 1", "occurs twice"]),
        ('pid,text\n1,"2\n', ["not readable as CSV"]),
        ("pid,text\n", ["no record"]),
        (b"pid,text\n1,\xff\n", ["line 2", "UTF-8"]),
    ],
)
def test_a_broken_table_is_told_with_file_and_line(tmp_path, text, words):
    message = refused(datasets.load_responses, write(tmp_path / "x.csv", text))
    assert "x.csv" in message and all(word in message for word in words), message


def test_a_defect_in_a_table_is_told_with_the_line_of_its_record(tmp_path):
    rows = [flat(1, **{f"{LLAMA}_reason": "two\nlines"}), flat(2, output_label="7")]
    message = refused(datasets.load_responses, write_csv(tmp_path / "x.csv", rows))
    lines = (tmp_path / "x.csv").read_text(encoding="utf-8").split("\n")
    assert "70001_AB12_1_2" in message and "'output_label' holds \"7\"" in message
    line = int(message.split("line ")[1].split(",")[0])
    assert lines[line - 1].startswith("70001_AB12_1_2")


@pytest.mark.parametrize(("change", "outcome", "label"), CASES["what_enters_no_pair_is_kept_with_its_reason"])
def test_what_enters_no_pair_is_kept_with_its_reason(tmp_path, change, outcome, label):
    loaded = datasets.load_responses(write(tmp_path / "x.jsonl", [flat(1, **change)]))
    answer = loaded.answers[0]
    assert (answer.outcome, answer.label) == (outcome, label)
    assert answer.text is not None, "None would mean that the answer is still to be written"
    assert (answer.edited is None) == (outcome != "ok")


def test_edits_that_edit_nothing_are_refused(tmp_path):
    rows = [
        flat(1, **{f"{LLAMA}_reason_perturb_llm_auto": "The keeper left the room. "}),
        flat(2, **{f"{LLAMA}_reason_perturb_llm_auto": ""}),
        flat(3, **{f"{LLAMA}_reason_perturb_llm_auto": None}),
    ]
    loaded = datasets.load_responses(write(tmp_path / "x.jsonl", rows))
    assert {answer.edited for answer in loaded.answers} == {None}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({f"{LLAMA}_reason": 5}, [f"{LLAMA}_reason", "5 (int)"]),
        ({f"{LLAMA}_reason": "half \ud83d"}, ["lone surrogate"]),
        ({f"{LLAMA}_reason_perturb_llm_auto": ["a"]}, ["perturb_llm_auto", "list"]),
        ({"pid": "70001_AB12_1_1"}, ["more than once", "70001_AB12_1_1 (lines 1, 2)"]),
    ],
)
def test_defects_of_answers_are_told_by_name(tmp_path, change, words):
    message = refused(datasets.load_responses, write(tmp_path / "x.jsonl", [flat(1), flat(2, **change)]))
    assert all(word in message for word in ["x.jsonl", *words]), message


def of_model(number: int, label: Any, gold: Any = "A", **more: Any) -> dict[str, Any]:
    """One synthetic record of one model's file."""
    id = f"99923_3NNN1LV8_{number}"
    return {"question_unique_id": id, "gold_label": gold, "output_label": label, "reason": "It says so.", **more}


def of_pair(number: int, one: Any, two: Any, gold: Any = "A", names: tuple[str, str] = ("llama31_8b", "ds_v3")):
    """One synthetic record of a pair's file; its own model comes first."""
    record = {"question_unique_id": f"99923_3NNN1LV8_{number}", "gold_label": gold}
    for name, label in zip(names, (one, two), strict=True):
        record |= {f"{name}_output_label": label, f"{name}_output_reason": f"{name} thinks so."}
    return record


def test_one_file_a_model_makes_the_model_of_its_name(tmp_path):
    write(tmp_path / "llama31_8b.jsonl", [of_model(1, "A"), of_model(2, "E", 3), of_model(3, "A", None)])
    write(tmp_path / "ds_v3.jsonl", [of_model(1, "B", 1)])
    loaded = datasets.load_responses(tmp_path)
    assert [(q.id, q.gold, q.article) for q in loaded.questions] == [
        ("99923_3NNN1LV8_1", "A", "99923"),
        ("99923_3NNN1LV8_2", "C", "99923"),
    ]
    told = [(a.question_id[-1], a.candidate, a.vendor, a.label, a.outcome) for a in loaded.answers]
    assert sorted(told) == [
        ("1", "ds_v3", "deepseek", "B", "ok"),
        ("1", "llama31_8b", "llama", "A", "ok"),
        ("2", "llama31_8b", "llama", None, "bad_label"),
    ]
    assert len(loaded.without_gold) == 1


def test_one_file_a_pair_gives_both_answers_and_the_same_answer_once(tmp_path):
    write(tmp_path / "one.jsonl", [of_pair(1, "A", "B")])
    write(tmp_path / "two.jsonl", [of_pair(1, "A", "C", names=("llama31_8b", "qwen25_7b"))])
    loaded = datasets.load_responses(tmp_path)
    assert {a.candidate: a.label for a in loaded.answers} == {"llama31_8b": "A", "ds_v3": "B", "qwen25_7b": "C"}
    assert {a.text for a in loaded.answers} == {f"{a.candidate} thinks so." for a in loaded.answers}
    write(tmp_path / "two.jsonl", [of_pair(1, "D", "C", names=("llama31_8b", "qwen25_7b"))])
    message = refused(datasets.load_responses, tmp_path)
    assert "two.jsonl" in message and "99923_3NNN1LV8_1 by llama31_8b" in message
    write(tmp_path / "two.jsonl", [of_pair(1, "A", "C", 2, names=("llama31_8b", "qwen25_7b"))])
    assert "question, 99923_3NNN1LV8_1" in refused(datasets.load_responses, tmp_path)


@pytest.mark.parametrize("gold", [0, 5, "E", True, 1.5])
def test_a_gold_label_that_is_no_option_is_refused(tmp_path, gold):
    message = refused(datasets.load_responses, write(tmp_path / "m.jsonl", [of_model(1, "A"), of_model(2, "A", gold)]))
    assert "line 2" in message and "99923_3NNN1LV8_2" in message and "'gold_label'" in message


def test_an_unknown_format_and_a_folder_without_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="quality_responses"):
        datasets.load_responses(tmp_path)
    message = refused(datasets.load_responses, write(tmp_path / "x.jsonl", [{"question_unique_id": "1_2"}]))
    assert "found question_unique_id" in message and "gold_label" in message
    write(tmp_path / "quality_responses.json", [flat(1)])
    write_csv(tmp_path / "quality_responses.csv", [flat(1)])
    assert "name the one file" in refused(datasets.load_responses, tmp_path)


@pytest.mark.parametrize(("name", "vendor"), CASES["vendors_are_told_by_the_names_of_models"])
def test_vendors_are_told_by_the_names_of_models(name, vendor):
    assert answers.vendor_of(name) == vendor


def test_a_folder_laid_out_as_on_the_hub_is_read_as_its_file_is(tmp_path):
    rows = [flat(1), {k: v for k, v in flat(2).items() if "perturb" not in k}, flat(3, **{f"{LLAMA}_output_label": 2})]
    path = write(tmp_path / "quality_responses.json", rows)
    assert datasets.load_responses(tmp_path) == datasets.load_responses(path)


def test_records_are_read_in_time_that_grows_with_their_number(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps([flat(n) for n in range(1500)]), encoding="utf-8")
    assert len(datasets.load_responses(path).answers) == 3000
