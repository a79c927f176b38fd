"""The samples of data/README.md on passages, answers with reasons and pairs are read as data/README.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers import datasets, paths
from helpers.biases.self_preference.items import items
from helpers.datasets.pairs import PAIR_FILES
from helpers.datasets.questions import PASSAGE_FILES

README = (paths.ROOT / "data" / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## Questions on passages, answers with reasons, judgments on pairs")[1].split("\n## ")[0]
SAMPLES = re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)
NAMES = (
    "passages.jsonl",
    "QuALITY.v1.0.1.htmlstripped.dev",
    "quality_responses.json",
    "clean_pref_quality_harmful.json",
)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, sample in zip(NAMES, SAMPLES, strict=True):
        # One object a line, as the published files have it.
        one = json.dumps(json.loads(sample)) if name.endswith(("jsonl", "dev")) else sample
        (tmp_path / name).write_text(one, encoding="utf-8")
    return [tmp_path / name for name in NAMES]


def test_the_sample_questions_are_read(files: list[Path]) -> None:
    for path, article, category in zip(
        files, ("lamp", "70001", "70001"), ("story", "Gutenberg", "unknown"), strict=False
    ):
        (question,) = datasets.load_passages(path)
        assert (question.text, question.gold, question.options[0]) == ("What went out?", "A", "The lamp.")
        assert (question.article, question.category) == (article, category)
        assert question.passage.startswith("The lamp went out.")
        assert len(question.points) == (4 if article == "lamp" else 0)


def test_the_sample_answers_and_judgments_are_read(files: list[Path]) -> None:
    responses = datasets.load_responses(files[2])
    assert [(a.candidate, a.vendor, a.label, a.outcome) for a in responses.answers] == [
        ("Llama-9-1B", "llama", "B", "ok"),
        ("Qwen9-1B", "qwen", "A", "ok"),
    ]
    assert sorted(kind for _, _, kind in responses.edits) == ["paraphrase:Llama-9-1B", "synonyms"]
    assert datasets.load_pair_judgments(files[3], responses).attrs["counts"] == {"ok": 2, "unknown": 1}
    frame = datasets.load_pair_judgments(files[3])
    assert frame["picked"].tolist() == ["wrong", "wrong", None, "right"]
    assert frame["p_right"].tolist()[:2] == [0.25, 0.125] and frame.attrs["counts"] == {"ok": 3, "unparsed": 1}
    assert items(frame)["score"].tolist()[0] == 0.0


def test_the_names_of_files_in_the_text_are_known() -> None:
    named = set(re.findall(r"`((?:passages|QuALITY|quality|clean)[\w.]*\.(?:jsonl|json|dev))`", SECTION))
    assert named <= {*PASSAGE_FILES, *PAIR_FILES} and len(named) >= 5
