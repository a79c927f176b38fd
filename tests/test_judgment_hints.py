"""Published judgments: a hint is stated, never guessed; a log of successes is read with the log of errors beside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from helpers import datasets, frames, paths, run
from helpers.analyze import analyze, saying
from helpers.biases import hinting
from helpers.config import read_yaml
from helpers.datasets.hub import ERROR_FILES, HINTS, JUDGMENT_FILES
from tests.case_tables import load_cases
from tests.cells import run_cells
from tests.kernels import command
from tests.runs import asked, settled

CASES = load_cases("judgment_hints")

JUDGES = ("gpt_fast", "claude_fast", "gemini_fast")


def write(path: Path, *fields: dict[str, Any], error: dict[str, Any] | None = None) -> Path:
    """Judgments of three judges on twelve questions; the fields of one of `fields` are added to each in turn."""
    records = []
    for number in range(12):
        question = f"math_{number:02}"
        for judge in JUDGES:
            shown = {letter: f"ans_{question}_{name}" for letter, name in zip("ABC", JUDGES, strict=True)}
            record = {"prompt_id": question, "judge_model": judge, "ranking": list("BAC"), "mapping": shown}
            records.append(record | (fields[len(records) % len(fields)] if fields else {}))
    if error is not None:
        records.append({"prompt_id": "math_99", "judge_model": JUDGES[0], "error": "timeout", **error})
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(map(json.dumps, records)) if path.suffix == ".jsonl" else json.dumps(records)
    path.write_text(text, encoding="utf-8")
    return path


def write_log(path: Path, *hints: str) -> Path:
    """A log of successes, under these hints in turn."""
    records = [
        {"prompt_id": f"math_{n}", "category": "math", "judge": JUDGES[0], "hint_mode": hints[n % len(hints)],
         "top_answer_id": f"ans_math_{n}_gpt_fast", "ranking": list("ABCDEF"), "scores": None}
        for n in range(12)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def conditions(path: Path, **more: Any) -> set[str]:
    return set(datasets.load_judgments(path, **more)["condition"])


def refused(path: Path, **more: Any) -> str:
    """The message with which both loaders refuse a file; it names the file."""
    with pytest.raises(ValueError) as caught:
        datasets.load_judgments(path, **more)
    with pytest.raises(ValueError) as again:
        datasets.load_top1(path, **{name: value for name, value in more.items() if name == "condition"})
    assert str(caught.value) == str(again.value) and str(path) in str(caught.value)
    return str(caught.value)


def loaded(notebook: str, path: Path, **parameters: Any) -> set[str]:
    return set(run.sources.judgments_of(settled(notebook, judgments=str(path), **parameters))["condition"])


# --- names ------------------------------------------------------------------------------------------------------------

SPEAKING = CASES["speaking"]


@pytest.mark.parametrize("name", [*SPEAKING, *(f"test_{hint}.json" for hint in HINTS)])
def test_a_name_that_suggests_a_hint_is_refused_without_condition(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "data" / name)
    message = refused(path)
    assert "suggests a hint" in message and "`condition`" in message and "group1_self.json" in message
    assert all(hint in message for hint in HINTS) and len(message) < 450 + len(str(path))
    for hint in ("self", "none", "swapped"):
        assert conditions(path, condition=hint) == {hint}


@pytest.mark.parametrize(
    "name",
    [
        *("mine.json", "x.json", "judgments.jsonl", "judgments_20251201_1030.json", "results-v2.json", "run_7.json"),
        *("gpt4_verdicts.json", "exp2.json", "final.json", "regenerated_2.json", "models.json", "known.json"),
    ],
)
def test_a_name_that_says_nothing_is_blind_but_where_hints_are_compared(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "data" / name)
    assert conditions(path) == {"none"} == loaded("mt_bench_blind", path)
    with pytest.raises(ValueError, match=r"neither its name nor its records name a hint; .*`condition`") as caught:
        loaded("hinting_groups", path)
    assert str(path) in str(caught.value)
    assert loaded("hinting_groups", path, condition="competitors") == {"competitors"}


@pytest.mark.parametrize("name", [name for name in JUDGMENT_FILES if name.endswith(".json")])
def test_a_known_name_tells_the_hint_in_any_case_of_its_letters(tmp_path: Path, name: str) -> None:
    for each in (name, name.upper(), name.title()):
        path = write(tmp_path / each / each)
        if JUDGMENT_FILES[name] != "none":
            assert loaded("hinting_groups", path) == {JUDGMENT_FILES[name]}
        assert conditions(path) == {JUDGMENT_FILES[name]}


@pytest.mark.parametrize(
    "folder",
    [
        *("group1_self", "self", "Full-Hint", "group2", "competitors", "hinted", "exp3_hinting", "SWAPPED", "masked"),
        *("full transparency", "revealed"),
    ],
)
@pytest.mark.parametrize("name", ["judgments.json", "judgments_new.json", "mine.json"])
def test_a_folder_that_suggests_a_hint_counts_for_a_lone_file(tmp_path: Path, folder: str, name: str) -> None:
    path = write(tmp_path / folder / name)
    assert "folder" in refused(path)
    assert conditions(path, condition="self") == {"self"}
    if name in JUDGMENT_FILES:
        with pytest.raises(ValueError, match="suggests a hint"):
            datasets.load_judgments(path.parent)
        assert conditions(path.parent, condition="self") == {"self"}
        # Among the files of other groups it is the blind one.
        write(path.parent / "group3_full.json")
        assert conditions(path.parent) == {"none", "full"}


@pytest.mark.parametrize("folder", ["mt_bench_blind", "data", "self_bias", "self-preference", "experiment-2", "none"])
def test_other_folders_leave_the_blind_name_as_it_is(tmp_path: Path, folder: str) -> None:
    assert conditions(write(tmp_path / folder / "judgments.json")) == {"none"}


def test_a_known_name_that_tells_its_hint_stands_in_any_folder(tmp_path: Path) -> None:
    assert conditions(write(tmp_path / "hinted_full" / "group1_self.json")) == {"self"}


# --- records ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["hint_mode", "hint", "condition"])
@pytest.mark.parametrize("hint", HINTS)
def test_a_hint_in_the_records_is_the_hint(tmp_path: Path, field: str, hint: str) -> None:
    for name in ("mine.json", "test_self.json", "mine.jsonl"):
        path = write(tmp_path / "data" / name, {field: hint})
        assert conditions(path) == {hint} == loaded("hinting_groups", path)
        assert conditions(path, condition=hint) == {hint}
    assert conditions(write(tmp_path / "data" / "mine.json", {field: f" {hint.upper()} "})) == {hint}


@pytest.mark.parametrize("name", [name for name in JUDGMENT_FILES if name.endswith(".json")])
def test_records_that_contradict_a_known_name_are_refused(tmp_path: Path, name: str) -> None:
    other = "self" if JUDGMENT_FILES[name] == "swapped" else "swapped"
    message = refused(write(tmp_path / name, {"hint_mode": other}))
    assert f"{other!r}" in message and f"{JUDGMENT_FILES[name]!r}" in message and "line 1, record 1" in message
    assert conditions(tmp_path / name, condition=other) == {other}


def test_records_that_contradict_condition_or_each_other_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.json", {"hint_mode": "full"})
    message = refused(path, condition="self")
    assert "'full'" in message and "condition = 'self'" in message
    several = write(tmp_path / "several.json", {"hint_mode": "self"}, {"hint_mode": "full"})
    assert "self, full" in refused(several) and "a file for each hint" in refused(several)
    both = write(tmp_path / "both.json", {"hint_mode": "self", "condition": "full"})
    assert "hint_mode 'self' and condition 'full' contradict each other" in refused(both)


def test_a_record_without_the_hint_of_the_others_is_refused_unless_it_is_named(tmp_path: Path) -> None:
    for fields in ({}, {"hint_mode": None}):
        path = write(tmp_path / "mine.json", {"hint_mode": "self"}, error=fields)
        assert "record 37: the record names no hint, others name self" in refused(path)
        assert conditions(path, condition="self") == {"self"}
        assert conditions(write(tmp_path / "group1_self.json", {"hint_mode": "self"}, error=fields)) == {"self"}


@pytest.mark.parametrize("odd", ["slef", "blind", "You wrote A.", "x" * 300, "self,full", 1, True, ["self"], {"a": 1}])
def test_a_hint_in_the_records_that_is_not_known_is_refused(tmp_path: Path, odd: Any) -> None:
    for name in ("mine.json", "group1_self.json", "judgments.json"):
        path = write(tmp_path / name, {"hint_mode": odd})
        message = refused(path)
        assert (
            "line 1, record 1: the hint " in message and "is not known" in message and "competitors_masked" in message
        )
        assert len(message) < 500 + len(str(path))
        assert conditions(path, condition="self") == {"self"}


def test_a_log_names_its_hints_itself(tmp_path: Path) -> None:
    for name in ("test_self.jsonl", "mine.jsonl", "none.jsonl"):
        assert conditions(write_log(tmp_path / name, "competitors")) == {"competitors"}
        assert conditions(write_log(tmp_path / name, "self", "none")) == {"self", "none"}
    assert "'self'" in refused(write_log(tmp_path / "exp3_full_hint_top1.jsonl", "full", "self"))
    assert "condition = 'full'" in refused(write_log(tmp_path / "log.jsonl", "self"), condition="full")
    assert "slef" in refused(write_log(tmp_path / "log.jsonl", "self", "slef"))


# --- condition --------------------------------------------------------------------------------------------------------


def test_the_hints_of_files_are_those_of_the_experiment() -> None:
    kinds = read_yaml(paths.EXPERIMENTS / "hinting_groups" / "config.yaml")["kinds"]
    assert {*HINTS} == {*kinds["hints"], "none"}


@pytest.mark.parametrize(
    "typo", ["slef", "Self", "FULL", "competitor", "blind", "group1", "self ", "", "all", "None", "self,full"]
)
def test_a_condition_that_is_no_hint_is_refused_with_the_known_ones(tmp_path: Path, typo: str) -> None:
    path = write(tmp_path / "test_self.json")
    for name in ("mt_bench_blind", "hinting_groups"):
        with pytest.raises(ValueError, match="no such hint; write one of none, self, competitors, full") as caught:
            loaded(name, path, condition=typo)
        assert f"condition = {typo!r}" in str(caught.value)


def test_a_condition_is_for_a_single_file(tmp_path: Path) -> None:
    write(tmp_path / "group1_self.json")
    write(tmp_path / "group3_full.json")
    with pytest.raises(ValueError, match="`condition` is for a single file"):
        loaded("hinting_groups", tmp_path, condition="self")


def test_a_quick_test_of_one_hint_goes_through_the_notebook(tmp_path: Path) -> None:
    path = write(tmp_path / "test_self.json")
    given = {"judgments": str(path), "store": str(tmp_path / "s"), "out": str(tmp_path / "o")}
    notebook = Path("notebooks/02_hinting_groups.ipynb").absolute()
    with pytest.raises(ValueError, match="suggests a hint"):
        run_cells(notebook, export=False, **given)
    names, _ = run_cells(notebook, condition="self", **given)
    assert set(names["asked"].frame["condition"]) == {"self"}
    assert "all of them are of the condition self" in run.provenance(names["asked"])
    numbers = json.loads((tmp_path / "o" / "numbers.json").read_text(encoding="utf-8"))
    assert numbers["provenance"]["parameters"] == {"judgments": "test_self.json", "condition": "self"}


@pytest.mark.slow
def test_the_command_line_refuses_and_names_the_way_out(tmp_path: Path) -> None:
    path = write(tmp_path / "test_self.json")
    call = ("helpers", "plan", "02_hinting_groups", "-p", "judgments", str(path))
    done = command(*call, cwd=tmp_path)
    assert done.returncode != 0 and "test_self.json" in done.stderr and "`condition`" in done.stderr
    done = command(*call, "-p", "condition", "self", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = command(*call, "-p", "condition", "slef", cwd=tmp_path)
    assert done.returncode != 0 and "'slef'" in done.stderr and "competitors_masked" in done.stderr


# --- recuse analyze ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPEAKING)
def test_an_analysis_refuses_a_name_that_suggests_a_hint(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "data" / name)
    with pytest.raises(ValueError, match="suggests a hint") as caught:
        analyze(path)
    assert str(path) in str(caught.value) and "known name such as group1_self.json" in str(caught.value)


def test_an_analysis_reads_hints_from_records_and_known_names(tmp_path: Path) -> None:
    for path in (
        write(tmp_path / "data" / "test_self.json", {"hint_mode": "self"}),
        write(tmp_path / "data" / "group1_self.json"),
        write_log(tmp_path / "data" / "test_self.jsonl", "self"),
    ):
        assert set(analyze(path).file.frame["condition"].astype(str)) == {"self"}
    assert set(analyze(write(tmp_path / "data" / "mine.json")).file.frame["condition"].astype(str)) == {"none"}


# --- logs -------------------------------------------------------------------------------------------------------------

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
