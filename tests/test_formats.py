"""The samples of data/README.md are read as data/README.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers import datasets, paths
from helpers.biases import cognitive, position
from helpers.biases.self_preference.items import items
from helpers.datasets import load_decisions, load_published_tests
from helpers.datasets.hub import ANSWER_FILES, JUDGMENT_FILES
from helpers.datasets.pairs import PAIR_FILES
from helpers.datasets.questions import PASSAGE_FILES

README = (paths.ROOT / "data" / "README.md").read_text(encoding="utf-8")


def samples(title: str) -> tuple[str, list[str]]:
    """The section of this title, and the samples in it."""
    section = README.split(f"## {title}")[1].split("\n## ")[0]
    return section, re.findall(r"```(?:json)?\n(.*?)```", section, re.DOTALL)


SECTION, SAMPLES = samples("Answers and judgments in the published format")


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


# --- verdicts on two answers in both orders ---------------------------------------------------------------------------

_, GAME_SAMPLES = samples("Verdicts on two answers in both orders")
GAME_NAMES = ("question.jsonl", "model_answer/some-model.jsonl", "model_judgment/some-judge/some-model.jsonl")


@pytest.fixture
def game_folder(tmp_path: Path) -> Path:
    for name, sample in zip(GAME_NAMES, GAME_SAMPLES, strict=True):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(json.loads(sample)) + "\n", encoding="utf-8")
    return tmp_path


def test_the_sample_question_and_answer_are_read(game_folder: Path) -> None:
    (question,) = datasets.load_arena_questions(game_folder)
    assert (question.id, question.category) == ("ab12", "hard_prompt")
    assert question.text == "Reverse a list."
    loaded = datasets.load_arena_answers(game_folder / "model_answer")
    assert [(a.candidate, a.text) for a in loaded.answers] == [("some-model", "Use `reversed`.")]
    assert loaded.frame.iloc[0].to_dict() == {
        "question_id": "ab12", "candidate": "some-model", "token_len": 5, "header_count": 0, "list_count": 0,
        "bold_count": 0,
    }  # fmt: skip


@pytest.mark.parametrize("place", ["", "model_judgment", GAME_NAMES[2]])
def test_the_sample_verdict_is_read(game_folder: Path, place: str) -> None:
    loaded = datasets.load_games(game_folder / place)
    (pair,) = position.pairs(loaded.frame).to_dict("records")
    assert (pair["judge"], pair["candidate"], pair["baseline"]) == ("some-judge", "some-model", "o3-mini-2025-01-31")
    assert (pair["verdict_1"], pair["verdict_2"], pair["kind"]) == ("B>>A", "A>B", "weak_bias") and pair["agree"]


# --- passages, answers with reasons and pairs -------------------------------------------------------------------------

PASSAGE_SECTION, PASSAGE_SAMPLES = samples("Questions on passages, answers with reasons, judgments on pairs")
PASSAGE_NAMES = (
    "passages.jsonl",
    "QuALITY.v1.0.1.htmlstripped.dev",
    "quality_responses.json",
    "clean_pref_quality_harmful.json",
)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, sample in zip(PASSAGE_NAMES, PASSAGE_SAMPLES, strict=True):
        # One object a line, as the published files have it.
        one = json.dumps(json.loads(sample)) if name.endswith(("jsonl", "dev")) else sample
        (tmp_path / name).write_text(one, encoding="utf-8")
    return [tmp_path / name for name in PASSAGE_NAMES]


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
    assert [(a.candidate, a.vendor, a.label, a.outcome, a.edited) for a in responses.answers] == [
        ("Llama-9-1B", "llama", "B", "ok", "The warden left the chamber."),
        ("Qwen9-1B", "qwen", "A", "ok", None),
    ]
    assert datasets.load_pair_judgments(files[3], responses).attrs["counts"] == {"ok": 2, "unknown": 1}
    frame = datasets.load_pair_judgments(files[3])
    assert frame["picked"].tolist() == ["wrong", "wrong", None, "right"]
    assert frame["p_right"].tolist()[:2] == [0.25, 0.125] and frame.attrs["counts"] == {"ok": 3, "unparsed": 1}
    assert items(frame)["score"].tolist()[0] == 0.0


def test_the_names_of_files_in_the_text_are_known() -> None:
    named = set(re.findall(r"`((?:passages|QuALITY|quality|clean)[\w.]*\.(?:jsonl|json|dev))`", PASSAGE_SECTION))
    assert named <= {*PASSAGE_FILES, *PAIR_FILES} and len(named) >= 5


# --- bias tests and decisions -----------------------------------------------------------------------------------------

_, (TEST, DECISIONS, *_) = samples("Bias tests and decisions on them")


@pytest.fixture
def bias_files(tmp_path: Path) -> tuple[Path, Path]:
    tests, decisions = tmp_path / "tests.jsonl", tmp_path / "decisions.csv"
    tests.write_text(json.dumps(json.loads(TEST)) + "\n", encoding="utf-8")
    decisions.write_text(DECISIONS, encoding="utf-8")
    return tests, decisions


def test_a_row_of_tests_is_a_wording_of_a_scenario(bias_files: tuple[Path, Path]) -> None:
    (question,) = load_published_tests(bias_files[0]).questions
    (wording,) = question.wordings
    assert question.category == "halo" and wording.versions["control"].options == ("bad", "fair", "good")
    assert wording.target == 0.0 and wording.scale.k == 1


def test_a_line_of_decisions_is_scored_by_its_test(bias_files: tuple[Path, Path]) -> None:
    loaded = load_decisions(bias_files[1], tests=load_published_tests(bias_files[0]).questions)
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


def test_without_its_test_a_line_is_scored_where_the_table_tells_how(bias_files: tuple[Path, Path]) -> None:
    loaded = load_decisions(bias_files[1])
    assert "unknown_test" in loaded.counts
    # A halo's sign hangs on the impression that was drawn; framing's on nothing.
    assert cognitive.published_frame(loaded.frame)["k"].isna().all()
    framing = loaded.frame.assign(category="framing", options=7.0)
    assert (cognitive.published_frame(framing)["k"] == -1).all()
