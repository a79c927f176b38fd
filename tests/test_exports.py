"""What other tools export is read as written: files in the layout that each tool's own code writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers.analyze import analyze

#: Of each tool: a file, its content (a list: a line each), and the judges, questions and values that it holds.
GRADED = [
    {"pass": True, "score": 0.75, "assertion": {"type": "llm-rubric", "value": "kind", "provider": "openai:gpt-5"}},
    {"pass": False, "score": 0, "reason": "no", "assertion": {"type": "contains", "value": "4"}},
]  # fmt: skip
RUBRIC = {"provider": {"id": "echo", "label": "bot-1"}, "gradingResult": {"score": 0.4, "componentResults": GRADED}}
METRICS = [
    {"name": "Correctness [GEval]", "threshold": 0.5, "success": True, "score": 0.9, "evaluationModel": "gpt-5"},
    {"name": "Bias", "threshold": 0.5, "success": False, "score": None, "evaluationModel": "gpt-5", "error": "429"},
]
CASES = [{"name": f"test_case_{at}", "input": "q", "metricsData": METRICS, "success": False} for at in (0, 1)]
GIVEN = [("EVAL", 0.5, "NUMERIC"), ("ANNOTATION", 1, "BOOLEAN"), ("EVAL", "rude", "CATEGORICAL")]
SCORES = [
    {"traceId": trace, "name": "helpful", "source": source, "value": value, "dataType": kind}
    for trace in ("t1", "t2")
    for source, value, kind in GIVEN
]
HELPFUL = {"helpful (ANNOTATION)": 2, "helpful (EVAL)": 2}
SAMPLE = {"doc": {}, "target": "4", "filtered_resps": ["4"], "filter": "strict", "metrics": ["exact_match"]}
SAMPLES = [SAMPLE | {"doc_id": at, "exact_match": float(at == 0)} for at in range(3)]
REWARDS = {"model": "org/rm", "id": [1, 2, 3], "subset": ["hep", "hep", "math"], "results": [1, 0, 0.5]}
EXPORTS: dict[str, tuple[str, Any, dict[str, int], int, float]] = {
    "promptfoo": (
        "results.json",
        {"evalId": "e1", "results": {"version": 3, "results": [RUBRIC | {"testIdx": at} for at in (0, 1)]}},
        {"openai:gpt-5": 2, "contains": 2}, 2, 0.375,
    ),
    "deepeval": (
        "run.json",
        {"testCases": CASES, "metricsScores": [], "hyperparameters": {"model": "bot-1"}},
        {"gpt-5": 4}, 2, 0.9,
    ),
    "langfuse": ("scores.json", {"data": SCORES, "meta": {"page": 1}}, HELPFUL, 2, 0.75),
    "langfuse lines": ("scores.jsonl", SCORES, HELPFUL, 2, 0.75),
    "lm-eval": ("bot-1/samples_gsm8k_2026-01-02T03-04-05.000001.jsonl", SAMPLES, {"exact_match": 3}, 3, 1 / 3),
    "rewardbench": ("rm.json", REWARDS, {"org/rm": 3}, 3, 0.5),
    "rewardbench lines": (
        "rm-7b.jsonl",
        [{"prompt": f"q{at}", "results": at % 2, "scores_chosen": 0.1, "scores_rejected": 0.3} for at in range(4)],
        {"rm-7b": 4}, 4, 0.5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_read_without_a_word_about_it(tmp_path: Path, name: str) -> None:
    at, content, judges, questions, mean = EXPORTS[name]
    (path := tmp_path / at).parent.mkdir(exist_ok=True)
    lines = content if isinstance(content, list) else [content]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = analyze(path)
    frame = found.file.frame
    assert found.file.format == name.split()[0]
    assert frame["judge"].value_counts().to_dict() == judges
    assert frame[frame.get("cluster", frame["question_id"]).notna()]["cluster"].nunique() == questions
    value = frame["won"] if found.file.style == "pairwise" else frame["score"]
    assert value.mean() == pytest.approx(mean)
    if name.startswith("rewardbench"):
        assert {each.id for each in found.estimates} >= {"gold_accuracy"} and not frame["ordered"].any()
    elif name != "langfuse" and "lines" not in name:
        assert {*frame["candidate"]} == {"bot-1"}


NOTHING: dict[str, tuple[str, Any]] = {
    "promptfoo": ("r.json", {"evalId": "e1", "results": {"results": [RUBRIC | {"testIdx": 0}, {"error": "429"}]}}),
    "deepeval": ("d.json", {"testCases": CASES[:1], "metricsScores": [], "conversationalTestCases": [{"name": "c"}]}),
    "langfuse": ("l.json", {"data": SCORES[:3], "meta": {}}),
    "lm-eval": ("bot/samples_x.jsonl", [SAMPLES[0], SAMPLES[1] | {"metrics": []}]),
}


@pytest.mark.parametrize("name", NOTHING)
def test_what_holds_no_score_is_counted(tmp_path: Path, name: str) -> None:
    at, content = NOTHING[name]
    (path := tmp_path / at).parent.mkdir(exist_ok=True)
    lines = content if isinstance(content, list) else [content]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (note,) = (note for note in analyze(path).notes if "left out" in note)
    assert note.startswith("1 of ") and "hold no score that is a number" in note


def test_prompts_of_promptfoo_are_candidates_of_their_own(tmp_path: Path) -> None:
    results = [RUBRIC | {"testIdx": at, "promptId": f"p{prompt}"} for at in (0, 1) for prompt in (7, 9)]
    (path := tmp_path / "results.json").write_text(json.dumps({"evalId": "e1", "results": {"results": results}}))
    frame = analyze(path).file.frame
    assert {*frame["candidate"]} == {"bot-1, prompt 1", "bot-1, prompt 2"} and frame["repeat"].max() == 0


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("odd", [None, [], {}, "text", 3, [[1]], [{"a": 1}]], ids=str)
def test_an_odd_export_ends_in_one_sentence(tmp_path: Path, name: str, odd: Any) -> None:
    at, content, *_ = EXPORTS[name]
    (path := tmp_path / at).parent.mkdir(exist_ok=True)
    lines = content if isinstance(content, list) else [content]
    for field in lines[0]:
        changed = [json.dumps({**line, field: odd}) for line in lines]
        path.write_text("\n".join(changed), encoding="utf-8")
        try:
            analyze(path)
        except ValueError as error:
            assert str(path) in str(error) and "\n" not in str(error)
