"""The samples of data/README.md on verdicts in both orders are read as data/README.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers import datasets, paths
from helpers.biases import position

README = (paths.ROOT / "data" / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## Verdicts on two answers in both orders")[1].split("\n## ")[0]
SAMPLES = re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)
NAMES = ("question.jsonl", "model_answer/some-model.jsonl", "model_judgment/some-judge/some-model.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, sample in zip(NAMES, SAMPLES, strict=True):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(json.loads(sample)) + "\n", encoding="utf-8")
    return tmp_path


def test_the_sample_question_and_answer_are_read(folder: Path) -> None:
    (question,) = datasets.load_arena_questions(folder)
    assert (question.id, question.category, question.subcategory) == ("ab12", "hard_prompt", "coding")
    assert question.text == "Reverse a list."
    loaded = datasets.load_arena_answers(folder / "model_answer")
    assert [(a.candidate, a.text) for a in loaded.answers] == [("some-model", "Use `reversed`.")]
    assert loaded.style.iloc[0].to_dict() == {
        "question_id": "ab12", "candidate": "some-model", "token_len": 5, "header_count": 0, "list_count": 0,
        "bold_count": 0, "counted": "file",
    }  # fmt: skip


@pytest.mark.parametrize("place", ["", "model_judgment", NAMES[2]])
def test_the_sample_verdict_is_read(folder: Path, place: str) -> None:
    loaded = datasets.load_games(folder / place)
    (pair,) = position.pairs(loaded.frame).to_dict("records")
    assert (pair["judge"], pair["candidate"], pair["baseline"]) == ("some-judge", "some-model", "o3-mini-2025-01-31")
    assert (pair["verdict_1"], pair["verdict_2"], pair["kind"]) == ("B>>A", "A>B", "weak_bias") and pair["agree"]
