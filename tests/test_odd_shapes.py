"""Published files whose JSON has another shape than expected: each is refused with file, record number and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers import datasets

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
        ("judgment", "prompt_id", 7),
        ("judgment", "prompt_id", ["writing_1"]),
        ("judgment", "judge_model", {"name": "gpt_fast"}),
        ("judgment", "judge_model", None),
        ("judgment", "error", {"code": 500}),
        ("judgment", "error", False),
        ("judgment", "ranking", {"A": 1, "B": 2}),
        ("judgment", "ranking", "AB"),
        ("judgment", "ranking", [["A"], ["B"]]),
        ("judgment", "ranking", [1, None]),
        ("judgment", "scores", [9, 8]),
        ("judgment", "scores", 9),
        ("judgment", "scores", {"A": [9], "B": 8}),
        ("judgment", "scores", {"A": float("nan"), "B": 8}),
        ("judgment", "scores", {"A": float("inf"), "B": 8}),
        ("judgment", "scores", {"A": 10**400, "B": 8}),
        ("judgment", "mapping", ["ans_writing_1_gpt_fast"]),
        ("judgment", "mapping", "A"),
        ("judgment", "mapping", {}),
        ("judgment", "mapping", {"A": 1, "B": 2}),
        ("judgment", "mapping", {"A": ["ans_writing_1_gpt_fast"], "B": None}),
        ("judgment", "mapping", {"A": "gpt_fast", "B": "claude_fast"}),
        ("judgment", "anonymized_answers", 5),
        ("judgment", "anonymized_answers", {"A": "text"}),
        ("judgment", "anonymized_answers", ["A", "B"]),
        ("judgment", "label", [{"label": ["A"]}, {"label": "B"}]),
        ("answer", "answer_id", 5),
        ("answer", "prompt_id", {}),
        ("answer", "model_vendor", ["gpt"]),
        ("answer", "model_tier", float("nan")),
        ("answer", "model_name", ["gpt-1"]),
        ("answer", "answer_text", {"parts": ["Said."]}),
        ("answer", "error", ["timeout"]),
        ("probe", "debug", ["STOP"]),
        ("probe", "debug", "STOP"),
        ("probe", "finish_reason", {"finish_reason": ["STOP"]}),
        ("probe", "ok", "yes"),
        ("probe", "text", ["Said."]),
        ("log", "judge", 3),
        ("log", "top_answer_id", ["ans_writing_1_gpt_fast"]),
        ("log", "top_answer_id", "gpt_fast"),
        ("log", "hint_mode", None),
        ("log", "scores", "high"),
        ("failed", "error", 500),
        ("failed", "detail", {"line": 1}),
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
