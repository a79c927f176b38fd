"""JSON of others: what Python lets through and other shapes are refused with file, line and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers import datasets
from helpers.datasets.exports import _log
from helpers.datasets.listwise import load_top1
from helpers.datasets.questions import load_questions
from helpers.datasets.reading import LONGEST_NAME, Problem, Record, read_each, read_records
from helpers.json_text import no_duplicates
from helpers.overview import read
from tests.case_tables import load_cases
from tests.payloads import PAYLOADS

CASES = load_cases("strict_reading")

DEEP = '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"
ODD = {
    "twice": ('{"a": 1, "a": 2}', "'a' occurs twice"),
    "twice inside": ('{"x": [{"b": 1, "b": 1}]}', "'b' occurs twice"),
    "NaN": ('{"a": NaN}', "NaN"),
    "minus infinity": ('{"a": [-Infinity]}', "-Infinity"),
    "out of range": ('{"a": 1e400}', "1e400"),
    "depth": (DEEP, "nested too deeply"),
    "broken": ('{"a": 1', "not readable as JSON"),
    "too many digits": ('{"a": ' + "9" * 5000 + "}", "4300"),
}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("end", [".jsonl", ".json"])
def test_what_is_odd_in_a_file_of_records_is_told_by_its_line(tmp_path: Path, case: str, end: str) -> None:
    odd, words = ODD[case]
    path = tmp_path / f"records{end}"
    text = f'{{"a": 0}}\n\n{odd}\n' if end == ".jsonl" else f'[{{"a": 0}},\n\n{odd}]'
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=words) as error:
        read_records(path)
    # What follows a broken object in an array may make it whole: the line is then one later.
    assert "records" in str(error.value) and (", line 3" in str(error.value) or case in ("broken", "too many digits"))


@pytest.mark.parametrize("case", ODD)
def test_what_is_odd_in_a_line_of_verdicts_is_a_problem_of_that_line(tmp_path: Path, case: str) -> None:
    odd, words = ODD[case]
    path = tmp_path / "lines.jsonl"
    path.write_text(f'{{"a": 0.5}}\n{odd}\n{{"a": 2}}\n', encoding="utf-8")
    problems: list[Problem] = []
    kept = [*read_each(path, "lines.jsonl", dict, problems)]
    assert kept == [(1, {"a": 0.5}), (3, {"a": 2})], "the others stay readable"
    assert [each.line for each in problems] == [2] and words in str(problems[0])


@pytest.mark.parametrize("case", ODD)
def test_a_summary_of_a_run_is_read_as_strictly(tmp_path: Path, case: str) -> None:
    (tmp_path / "summary.json").write_text(ODD[case][0], encoding="utf-8")
    with pytest.raises(ValueError, match=r"summary\.json: no JSON"):
        read(tmp_path)


def test_an_object_with_a_hundred_thousand_keys_twice_is_refused_in_a_few_words() -> None:
    pairs = [(f"{number:06}", 0) for number in range(100_000)] * 2
    with pytest.raises(ValueError) as error:
        no_duplicates(pairs)
    assert str(error.value) == "key '000000', '000001', '000002' and 99,997 more occurs twice in one object"
    assert no_duplicates(pairs[:100_000]) == dict(pairs)


def test_a_log_with_a_key_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    for odd, words in (('{"eval": {}, "eval": {}}', "'eval' occurs twice"), (DEEP, "log.json")):
        path.write_text(odd, encoding="utf-8")
        with pytest.raises(ValueError, match=words):
            _log(path)


UNSEEN = ("bidi", "zero width", "tags", "NUL", "colours", "title", "backspace", "eight bit", "lines")


@pytest.mark.parametrize("name", UNSEEN)
def test_a_name_that_nobody_could_see_is_refused_and_a_text_is_kept(name: str) -> None:
    hostile = PAYLOADS[name]
    with pytest.raises(ValueError, match=r"field 'judge' holds a sign that nobody sees \(U\+"):
        Record({"judge": hostile}).text("judge")
    assert Record({"text": hostile}).text("text") == hostile, "texts keep every byte"


def test_a_name_is_short_and_a_text_of_a_megabyte_is_kept() -> None:
    assert Record({"id": "x" * LONGEST_NAME}).text("id")
    with pytest.raises(ValueError, match="field 'id' holds 201 letters; a name has at most 200"):
        Record({"id": "x" * 201}).text("id")
    assert len(Record({"text": "x" * 2**20}).text("text")) == 2**20
    for name in ("right to left", "wide", "script", "formula", "sum", "mathtext"):
        shown = PAYLOADS[name].replace("\u200d", "")
        assert Record({"judge": shown}).text("judge") == shown


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("prompt_id", "q_\u202e1", "line 1.*'prompt_id' holds a sign that nobody sees"),
        ("judge_model", "\x1b[31mclaude_fast", "line 1.*'judge_model' holds a sign that nobody sees"),
        ("judge_model", "j" * 2**20, "line 1.*'judge_model' holds 1,048,576 letters"),
        ("mapping", {"A": "q_1_claude\u200b_fast"}, "line 1.*sign that nobody sees"),
    ],
)
def test_published_judgments_name_nothing_that_hides(tmp_path: Path, field: str, value: object, words: str) -> None:
    record = {"prompt_id": "q_1", "judge_model": "claude_fast", "ranking": ["A"], "mapping": {"A": "q_1_gpt_fast"}}
    path = tmp_path / "judgments.json"
    path.write_text(json.dumps([record | {field: value}]), encoding="utf-8")
    with pytest.raises(ValueError, match=words) as error:
        load_top1(path, condition="none")
    assert len(str(error.value)) < 1000


def test_questions_name_nothing_that_hides(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"id": "math_1\u2028", "category": "math", "text": "What\u202e?"}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"questions\.jsonl, line 1.*'id' holds a sign that nobody sees \(U\+2028\)"):
        load_questions(path)


# --- other shapes than expected ---------------------------------------------------------------------------------------

LETTERS = "AB"
JUDGMENT = {
    "prompt_id": "writing_1",
    "judge_model": "gpt_fast",
    "ranking": ["A", "B"],
    "scores": {"A": 9, "B": 8},
    "mapping": {"A": "ans_writing_1_gpt_fast", "B": "ans_writing_1_claude_fast"},
}
ANSWER = {
    "answer_id": "ans_writing_1_gpt_fast",
    "prompt_id": "writing_1",
    "category": "writing",
    "model_vendor": "gpt",
    "model_tier": "fast",
    "model_name": "gpt-1",
    "prompt_text": "Ask.",
    "answer_text": "Said.",
}
PROBE = {
    "prompt_id": "writing_1",
    "model_label": "gemini_fast",
    "mode": "baseline",
    "ok": True,
    "text": "Said.",
    "debug": {"finish_reason": "STOP"},
}
LOG = {
    "prompt_id": "writing_1",
    "category": "writing",
    "judge": "gpt_fast",
    "hint_mode": "full",
    "top_answer_id": "ans_writing_1_gpt_fast",
    "ranking": list("ABCDEF"),
    "scores": None,
}
FAILED = {"prompt_id": "writing_1", "judge": "gpt_fast", "error": "timeout", "detail": None}
KINDS = {
    "judgment": (JUDGMENT, datasets.load_judgments),
    "answer": (ANSWER, datasets.load_answers),
    "probe": (PROBE, datasets.load_answers),
    "log": (LOG, datasets.load_judgments),
    "failed": (FAILED, datasets.load_judgments),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_plain_records_are_read(tmp_path: Path, kind: str) -> None:
    record, load = KINDS[kind]
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(record), encoding="utf-8")
    assert len(load(path)) > 0


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        *CASES["odd_shapes_are_refused_with_file_record_and_field"],
        ("judgment", "scores", {"A": float("nan"), "B": 8}),
        ("judgment", "scores", {"A": float("inf"), "B": 8}),
        ("answer", "model_tier", float("nan")),
        ("judgment", "scores", {"A": 10**400, "B": 8}),
    ],
)
def test_odd_shapes_are_refused_with_file_record_and_field(
    tmp_path: Path, kind: str, field: str, value: Any, suffix: str
) -> None:
    record, load = KINDS[kind]
    name = {"label": "anonymized_answers", "finish_reason": "debug"}.get(field, field)
    # A right record of another question comes first, so that the odd one is the second.
    first = json.loads(json.dumps(record).replace("writing_1", "writing_2"))
    rows = [json.dumps(each) for each in (first, record | {name: value})]
    path = tmp_path / f"judgments{suffix}"
    path.write_text("\n".join(rows) if suffix == ".jsonl" else f"[{rows[0]},\n{rows[1]}]", encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line 2, record 2"), message
    assert field in message and len(message) < 500, message


@pytest.mark.parametrize("odd", [None, 3, "text", ["a"], True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_record_that_is_no_object_is_refused(tmp_path: Path, kind: str, odd: Any) -> None:
    record, load = KINDS[kind]
    path = tmp_path / "records.json"
    path.write_text(json.dumps([record, odd]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"records\.json, line 1, record 2: found .*, expected an object"):
        load(path)


@pytest.mark.parametrize("text", ["[" + "9" * 5000 + "]", '{"a": ' + "9" * 5000 + "}", "5", '"text"', "null"])
def test_a_file_that_is_no_list_of_records_is_told_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "judgments.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"judgments\.json"):
        datasets.load_judgments(path)
