"""Files of other tools: AlpacaEval's annotations, logs of Inspect, FastChat's scores, and how formats are told."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from helpers import datasets
from helpers.analyze import analyze, formats
from helpers.datasets import exports
from tests.runs import value


def annotations(preferences: list[float | None]) -> list[dict[str, Any]]:
    return [
        {
            "instruction": f"Do {n}",
            "output_1": "old",
            "output_2": "new",
            "generator_1": "gpt4_turbo",
            "generator_2": "mine",
            "dataset": "koala",
            "annotator": "weighted_alpaca_eval_gpt4_turbo",
            "preference": preference,
        }
        for n, preference in enumerate(preferences)
    ]


def test_alpaca_win_rates_are_those_of_its_own_tool(tmp_path: Path) -> None:
    preferences = [1.0, 2.0, 1.5, 0.0, 1.25, 1.9, None, 2.0, 1.0, 1.0, 2.0, 1.75]
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(annotations(preferences)), encoding="utf-8")
    found = analyze(path)
    shares = [0.5 if p == 0 else p - 1 for p in preferences if p is not None]  # 0: a draw of old
    assert value(found.estimates, "candidate_win_rate", candidate="mine") == pytest.approx(sum(shares) / len(shares))
    assert found.judgments == 12 and int(found.losses["invalid"].sum()) == 1
    assert not [each for each in found.estimates if each.id.startswith("first_")]
    assert any("order" in note for note in found.notes)
    assert found.file.frame["question_id"].nunique() == 12
    assert "Do 1" not in found.file.frame.to_csv()  # instructions are hashed, never carried on


def log(model: str, samples: list[dict[str, Any]], **head: Any) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "qa", "model": model, **head}, "samples": samples}


def graded(values: list[Any]) -> list[dict[str, Any]]:
    return [
        {"id": n, "epoch": 1, "input": "?", "target": "t", "scores": {"model_graded_qa": score}}
        for n, score in enumerate({"value": each} if not isinstance(each, dict) else each for each in values)
    ]


def test_a_grader_that_gave_no_grade_is_unreadable_not_wrong(tmp_path: Path) -> None:
    lost = {"value": "I", "explanation": "Grade not found in model output: I refuse."}
    values = ["C", "I", "P", lost, "C", "N", 0.25, True, "C", "C", "C", "C"]
    head = {"scorers": [{"name": "model_graded_qa", "options": {"model": "openai/gpt-4o"}}]}
    (tmp_path / "a.json").write_text(json.dumps(log("anthropic/claude-x", graded(values), **head)), encoding="utf-8")
    found = analyze(tmp_path / "a.json")
    right = [1, 0, 0.5, 1, 0, 0.25, 1, 1, 1, 1, 1]
    mean = value(found.estimates, "candidate_score_mean", candidate="anthropic/claude-x")
    assert mean == pytest.approx(sum(right) / len(right))
    assert value(found.estimates, "unreadable_share", judge="openai/gpt-4o") == pytest.approx(1 / 12)


def test_an_archive_holds_the_same_as_the_json_and_epochs_repeat(tmp_path: Path) -> None:
    samples = graded(["C", "I"] * 6) + [sample | {"epoch": 2} for sample in graded(["C"] * 12)]
    whole = log("m", samples)
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "a.json").write_text(json.dumps(whole), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "a.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "eval": whole["eval"]}))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("summaries.json", "[]")
    one, two = analyze(tmp_path / "a.eval"), analyze(tmp_path / "json")
    for found in (one, two):
        assert value(found.estimates, "candidate_score_mean", candidate="m") == pytest.approx(0.75)
        assert sorted(found.file.frame["repeat"].unique()) == [0, 1] and found.file.format == "inspect"


def test_a_judging_task_of_inspect_is_a_file_of_pairs(tmp_path: Path) -> None:
    samples = [
        {"id": n, "epoch": 1, "target": "x", "metadata": {"candidates": shown},
         "scores": {"pattern": {"value": "C", "answer": answer}}}
        for n in range(12) for shown, answer in ((["x", "y"], "A"), (["y", "x"], "A"))
    ]  # fmt: skip
    (tmp_path / "a.json").write_text(json.dumps(log("judge-1", samples)), encoding="utf-8")
    found = analyze(tmp_path / "a.json")
    # The same place twice is the second time another asking of inspect's, and still the other order here.
    assert found.file.style == "pairwise"
    assert value(found.estimates, "first_place_share", judge="judge-1") == 1.0
    assert value(found.estimates, "gold_accuracy", judge="judge-1") == 0.5


def of_sample(change: dict[str, Any]) -> dict[str, Any]:
    return log("m", [graded(["C"])[0] | change])


def of_annotation(change: dict[str, Any]) -> list[dict[str, Any]]:
    return [annotations([1.0])[0] | change]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (of_sample({"scores": {"s": {"value": "maybe"}}}), "sample 1: a score has the value .*or one of C, P"),
        (of_sample({"scores": {"s": 3}}), "sample 1: score 's' is 3"),
        (of_sample({"scores": ["s"]}), "sample 1: found .*expected a sample with scores"),
        (of_annotation({"preference": 3}), r"line 1, record 1 .*'preference' holds 3 \(int\), expected 1 to 2, 0 or"),
        (of_annotation({"preference": "1"}), "preference holds .*expected a number"),
        (of_annotation({"generator_2": None}), "field 'generator_2' holds null"),
    ],
)
def test_a_bad_sample_or_annotation_is_told(tmp_path: Path, content: Any, told: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=told):
        analyze(tmp_path / "a.json")


def test_hostile_archives_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.eval"
    path.write_bytes(b"no zip")
    with pytest.raises(ValueError, match="not readable as a log of Inspect"):
        analyze(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "m"}}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(graded(["C"])[0] | {"input": "0" * 100_000}))
    assert path.stat().st_size < 5000
    monkeypatch.setattr(exports, "MOST_SAMPLE", 50_000)
    with pytest.raises(ValueError, match="too large for a log"):
        analyze(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(ValueError, match=r"no header\.json"):
        analyze(path)


def test_fastchat_scores_count_minus_one_as_unreadable_and_turns_as_one_cluster(tmp_path: Path) -> None:
    rows = [
        {"question_id": q, "model": "m", "turn": turn, "judge": ["gpt-4", "v1"], "score": -1 if q == 3 else q / 2}
        for q in range(2, 14) for turn in (1, 2)
    ]  # fmt: skip
    path = tmp_path / "gpt-4_single.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = analyze(path)
    each = next(each for each in found.estimates if each.id == "candidate_score_mean")
    assert (each.n, each.clusters) == (22, 11) and each.value == pytest.approx((sum(range(2, 14)) - 3) / 22)
    assert value(found.estimates, "unreadable_share", judge="gpt-4") == pytest.approx(2 / 24)


def test_votes_turn_with_their_names(tmp_path: Path) -> None:
    rows = [
        {"judge": "p", "model_a": "a", "model_b": "b", "question_id": 1, "turn": 1, "winner": "model_b"},
        {"judge": "p", "model_a": "b", "model_b": "a", "question_id": 1, "turn": 1, "winner": "model_a"},
        {"judge": "p", "model_a": "b", "model_b": "a", "question_id": 2, "turn": 1, "winner": "tie (inconsistent)"},
    ]
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    frame = datasets.load_pairwise(path, "votes")
    assert frame["verdict"].tolist() == ["B>A", "B>A", "A=B"] and frame["repeat"].tolist() == [0, 1, 0]
    assert set(frame["baseline"]) == {"a"} and set(frame["condition"]) == {datasets.NO_ORDER}
    path.write_text(json.dumps(rows[0] | {"winner": "a"}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"field 'winner' holds .*expected model_a, model_b, tie"):
        datasets.load_pairwise(path, "votes")


def test_every_format_has_words_and_fields_of_its_own() -> None:
    assert formats.NAMES[0] == "tidy" and all(each["words"] and each["known_by"] for each in formats.FORMATS.values())
    every = [frozenset(fields.split()) for each in formats.FORMATS.values() for fields in each["known_by"]]
    assert len(set(every)) == len(every)
