"""The samples of data/README.md are read as data/README.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers import datasets, paths
from helpers.datasets.hub import ANSWER_FILES, JUDGMENT_FILES

README = (paths.ROOT / "data" / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## Answers and judgments in the published format")[1].split("\n## ")[0]
SAMPLES = re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, sample in zip(("answers.json", "judgments.json"), SAMPLES, strict=True):
        (tmp_path / name).write_text(sample, encoding="utf-8")
    return tmp_path


def test_the_sample_answers_are_read(folder: Path) -> None:
    written, failed = datasets.load_answers(folder)
    assert (written.question_id, written.candidate, written.model) == ("writing_01", "claude_fast", "claude-fast-1")
    assert written.outcome == "ok" and written.text.startswith("It leaves the hills")
    assert (failed.candidate, failed.outcome, failed.text, failed.model) == ("gpt_fast", "error", "", None)
    (question,) = datasets.load_questions(folder)
    assert (question.id, question.category, question.text) == (
        "writing_01",
        "writing",
        "Describe a river in one sentence.",
    )


def test_the_sample_judgments_are_read(folder: Path) -> None:
    frame = datasets.load_judgments(folder)
    assert len(frame) == 9 and set(frame["category"]) == {"writing"} and set(frame["condition"]) == {"none"}
    read = frame[frame["judge"] == "claude_thinking"].set_index("label")
    assert read["candidate"].to_dict() == {"A": "claude_fast", "B": "gpt_fast", "C": "gemini_fast"}
    assert read["rank"].to_dict() == {"A": 2, "B": 1, "C": 3} and read["score"].to_dict() == {"A": 7, "B": 8.5, "C": 4}
    failed = frame[frame["judge"] == "gpt_thinking"]
    assert failed.groupby("question_id")["outcome"].first().to_dict() == {
        "writing_01": "truncated",
        "writing_02": "unparsed",
    }
    # The second failure names no mapping: what all others showed is what it showed.
    assert (
        failed["candidate"].tolist() == 2 * ["claude_fast", "gpt_fast", "gemini_fast"] and failed["rank"].isna().all()
    )


def test_what_the_text_tolerates_is_tolerated(tmp_path: Path) -> None:
    record = json.loads(SAMPLES[1])[0]
    short = record | {"ranking": ["B", "A"], "judge_model": "gpt_fast", "extra": [1]}
    against = record | {"scores": {"A": 9, "B": 8, "C": None}, "judge_model": "gemini_fast"}
    del against["anonymized_answers"], short["scores"]
    path = tmp_path / "judgments.jsonl"
    path.write_text("\n".join(map(json.dumps, (short, against))), encoding="utf-8")
    frame = datasets.load_judgments(path)
    assert frame.groupby("judge")["outcome"].first().to_dict() == {"gpt_fast": "invalid_ranking", "gemini_fast": "ok"}
    assert frame[frame["judge"] == "gpt_fast"]["rank"].isna().all() and frame["contradicts"].sum() == 3
    picked = datasets.load_top1(path).set_index("judge")["pick"]
    assert picked.to_dict() == {"gpt_fast": "gpt_fast", "gemini_fast": "gpt_fast"}


def test_every_field_and_file_name_of_the_text_is_known() -> None:
    fields = {field for sample in SAMPLES for record in json.loads(sample) for field in record}
    rows = [row.split("|")[1] for row in SECTION.splitlines() if row.startswith("| `")]
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == fields
    named = set(re.findall(r"`(\w+\.json)`", SECTION))
    named -= {"test_self.json"}  # the example of a name that is refused
    assert named <= {*JUDGMENT_FILES, *ANSWER_FILES} and {"group3_full.json", "judgments_new.json"} <= named
