"""The examples of published bias tests and decisions in data/README.md are what the loaders take."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers import paths
from helpers.biases import cognitive
from helpers.datasets import load_decisions, load_published_tests

SECTION = (paths.DATA / "README.md").read_text(encoding="utf-8").split("## Bias tests and decisions on them")[1]
TEST, DECISIONS = re.findall(r"```(?:json)?\n(.*?)```", SECTION, re.DOTALL)[:2]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    tests, decisions = tmp_path / "tests.jsonl", tmp_path / "decisions.csv"
    tests.write_text(json.dumps(json.loads(TEST)) + "\n", encoding="utf-8")
    decisions.write_text(DECISIONS, encoding="utf-8")
    return tests, decisions


def test_a_row_of_tests_is_a_wording_of_a_scenario(files: tuple[Path, Path]) -> None:
    (question,) = load_published_tests(files[0])
    (wording,) = question.wordings
    assert question.category == "halo" and wording.versions["control"].options == ("bad", "fair", "good")
    assert wording.target == 0.0 and wording.scale.k == 1


def test_a_line_of_decisions_is_scored_by_its_test(files: tuple[Path, Path]) -> None:
    loaded = load_decisions(files[1], tests=load_published_tests(files[0]))
    table = cognitive.pairs(cognitive.published_frame(loaded.frame))
    known = table[table["readable"]]
    # From option 2 to option 1, toward option 0 with k = 1: (2 - 1) / 2.
    assert known[["i1", "i2", "k"]].to_numpy().tolist() == [[2, 1, 1]] and len(table) == 2
    (mean,) = [
        each
        for each in cognitive.measure(loaded.frame, "folder", 1)
        if each.id == "ratio_scale" and each.where.get("judge") == "some-model"
    ]
    assert mean.value == 0.5 == loaded.frame["score"].dropna().item()
    assert sorted(loaded.frame["outcome"]) == ["error", "error", "ok", "ok"]


def test_without_its_test_a_line_is_scored_where_the_table_tells_how(files: tuple[Path, Path]) -> None:
    loaded = load_decisions(files[1])
    assert "unknown_test" in loaded.counts
    # A halo's sign hangs on the impression that was drawn; framing's on nothing.
    assert cognitive.published_frame(loaded.frame)["k"].isna().all()
    framing = loaded.frame.assign(category="framing", options=7.0)
    assert (cognitive.published_frame(framing)["k"] == -1).all()
