"""A log of successes is read with the log of errors beside it, and the reader is informed of either."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from helpers import datasets, frames, run
from helpers.analyze import analyze, saying
from helpers.biases import hinting
from helpers.datasets.hub import ERROR_FILES, JUDGMENT_FILES
from tests.runs import asked, settled

LETTERS = "ABCDEF"
MODELS = tuple(f"{vendor}_{tier}" for vendor in ("claude", "gemini", "gpt") for tier in ("fast", "thinking"))
PAIRS = [(log, errors) for errors, log in ERROR_FILES.items()]
each_pair = pytest.mark.parametrize(("log", "errors"), PAIRS)
UNCOUNTED = "failed tries are not counted"


def write_pair(folder: Path, log: str, errors: str | None, lost: int = 4) -> Path:
    """Twelve questions to two judges, of which `lost` judgments fail twice; one more fails and succeeds later."""
    keys = [(f"math_{n:02}", judge) for n in range(12) for judge in ("gpt_fast", "claude_fast")]
    folder.mkdir(parents=True, exist_ok=True)
    successes = [
        {"prompt_id": question, "category": "math", "judge": judge, "hint_mode": JUDGMENT_FILES.get(log, "full"),
         "top_answer_id": f"ans_{question}_{MODELS[at % 6]}", "scores": None,
         "ranking": list(LETTERS[at % 6 :] + LETTERS[: at % 6])}
        for at, (question, judge) in enumerate(keys[lost:])
    ]  # fmt: skip
    tries = [*keys[:lost], *keys[: lost + 1]]
    failures = [{"prompt_id": q, "judge": j, "error": "Finish reason: MAX_TOKENS", "detail": None} for q, j in tries]
    for name, rows in ((log, successes), (errors, failures)):
        if name:
            (folder / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder / log


def lost_of(frame: Any) -> tuple[int, int]:
    judgments = frames.one_row_each(frame)
    return int((judgments["outcome"] != "ok").sum()), len(judgments)


@each_pair
@pytest.mark.parametrize("lost", [0, 1, 2, 3, 5, 8, 10, 12, 15, 20])
def test_errors_beside_a_log_count_whichever_way_it_is_named(tmp_path: Path, log: str, errors: str, lost: int) -> None:
    path = write_pair(tmp_path, log, errors, lost)
    for source in (path, path.parent):
        frame = datasets.load_judgments(source)
        assert lost_of(frame) == (lost, 24) and set(frame["condition"]) == {JUDGMENT_FILES[log]}
        assert frame.attrs["notes"] == (f"The failed tries in {errors}, beside {log}, were read too.",)
        top = datasets.load_top1(source)
        assert len(top) == 24 and top["pick"].isna().sum() == lost
    (tmp_path / errors).unlink()
    for source in (path, path.parent):
        frame = datasets.load_judgments(source)
        assert lost_of(frame) == (0, 24 - lost)
        (note,) = frame.attrs["notes"]
        assert note.startswith(f"{log} holds successes alone") and UNCOUNTED in note


@each_pair
def test_a_run_and_an_analysis_report_what_was_read(tmp_path: Path, log: str, errors: str) -> None:
    path = write_pair(tmp_path, log, errors)
    for name in ("mt_bench_blind", "hinting_groups"):
        for source in (path, path.parent):
            given = asked(name, judgments=str(source))
            told = run.provenance(given)
            assert "24 judgments, of which 4 (16.7%) have no readable" in told and f"in {errors}, beside {log}" in told
    found = analyze(path)
    assert found.judgments == 24 and f"in {errors}, beside {log}, were read too" in saying.summary(found)
    assert "4 (16.7%) could not be read" in saying.head(found)
    (tmp_path / errors).unlink()
    assert UNCOUNTED in run.provenance(asked("hinting_groups", judgments=str(path)))
    assert UNCOUNTED in saying.summary(analyze(path)) and analyze(path).judgments == 20


@each_pair
def test_the_parameters_of_a_run_narrow_the_errors_too(tmp_path: Path, log: str, errors: str) -> None:
    path = write_pair(tmp_path, log, errors)
    frame = run.sources.judgments_of(settled("hinting_groups", judgments=str(path), judges=["gpt_fast"]))
    assert lost_of(frame) == (2, 12)


@each_pair
def test_errors_alone_are_read_alone_and_reported_as_such(tmp_path: Path, log: str, errors: str) -> None:
    path = write_pair(tmp_path, log, errors).with_name(errors)
    frame = datasets.load_judgments(path)
    assert lost_of(frame) == (5, 5), "one of them succeeded later, which this file does not tell"
    (note,) = frame.attrs["notes"]
    assert note.startswith(f"{errors} holds failed tries alone")
    assert note in saying.summary(analyze(path))
    given = asked("hinting_groups", judgments=str(path))
    found = hinting.measure(given.frame, given.data, 42, 5.0)
    unread = [each for each in found if each.id == "unreadable_share"]
    assert sum(each.n for each in unread) == 5 and {each.value for each in unread} == {1.0}
    assert "**Cannot tell**: none of the 5 replies had a readable verdict." in run.provenance(given)


def test_a_log_under_another_name_reports_that_failures_are_not_counted(tmp_path: Path) -> None:
    path = write_pair(tmp_path, "mine.jsonl", "exp3_full_hint_errors.jsonl")
    frame = datasets.load_judgments(path)
    assert lost_of(frame) == (0, 20) and UNCOUNTED in frame.attrs["notes"][0]


def test_files_that_are_no_logs_have_no_notes(tmp_path: Path) -> None:
    rows = [{"prompt_id": "math_1", "judge_model": "gpt_fast", "error": "timeout"}]
    (tmp_path / "judgments.json").write_text(json.dumps(rows), encoding="utf-8")
    assert "notes" not in datasets.load_judgments(tmp_path).attrs


def test_every_pair_is_of_known_files() -> None:
    assert {*ERROR_FILES.values()} <= {*JUDGMENT_FILES} and not {*ERROR_FILES} & {*JUDGMENT_FILES}


def test_a_real_log_named_alone_is_as_unreadable_as_it_was(real_data: Path, tmp_path: Path) -> None:
    log = real_data / "llm_eval" / "exp3_full_hint_top1.jsonl"
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    failures = log.with_name("exp3_full_hint_errors.jsonl").read_text(encoding="utf-8").splitlines()
    tried = {(row["prompt_id"], row["judge"]) for row in map(json.loads, failures)}
    succeeded = {(row["prompt_id"], row["judge"]) for row in rows}
    assert (len(succeeded), len(succeeded | tried)) == (420, 480)
    # 60 never succeeded; of 7 successes the log kept the winner and no ranking.
    unread = len(tried - succeeded) + sum(row["ranking"] is None for row in rows)
    assert unread == 67
    for source in (log, log.parent):
        assert lost_of(datasets.load_judgments(source)) == (unread, 480)
        assert "480 judgments, of which 67 (14.0%)" in run.provenance(asked("hinting_groups", judgments=str(source)))
        assert "67 (14.0%) could not be read" in saying.head(analyze(source))
    alone = Path(shutil.copy(log, tmp_path))
    assert lost_of(datasets.load_judgments(alone)) == (7, 420)
    told = run.provenance(asked("hinting_groups", judgments=str(alone)))
    assert "7 (1.7%)" in told and UNCOUNTED in told
