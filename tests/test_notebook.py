"""The notebook of experiment 1, and the runner: runs from anywhere, the same bytes, failures that harm nothing."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from helpers import paths, run, store
from helpers.config import COMMON, ConfigError
from helpers.judge import MissingKey
from helpers.run import kernels, notebooks
from tests.cells import of_this_run, prose, run_cells
from tests.kernels import assert_quiet, command, contents, counted_sends, recuse, results_of, tracked
from tests.runs import as_published, full_run, settled

NAME = "01_mt_bench_blind"
NOTEBOOK = paths.NOTEBOOKS / f"{NAME}.ipynb"
#: Figures of published data alone.
REAL = ("published_self_preference", "released_own")
FIGURES = ("judge_vendor_heatmap", "self_preference", "categories", "tiers", "positions", "power")
TABLES = ("top1_rate", "self_preference", "metrics", "categories", "sensitivity")


# --- runs with a kernel -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """The notebook run by plain papermill on an empty store, then by our own runner on what is stored."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    out, replies = elsewhere / "results", elsewhere / "replies"
    given = ("-p", "question_limit", "16", "-p", "store", str(replies), "-p", "out", str(out))
    before = tracked()
    plain = command("papermill", str(NOTEBOOK), "out.ipynb", *given, cwd=elsewhere)
    first = contents(out)
    stored = contents(replies)
    again = command("helpers", "run", NAME, *given, cwd=elsewhere)
    return SimpleNamespace(
        **{"plain": plain, "again": again, "first": first, "second": contents(out), "given": given},
        **{"stored": stored, "replies": replies, "out": out, "elsewhere": elsewhere},
        touched=[name for name, content in tracked().items() if before.get(name) != content],
    )


def test_plain_papermill_runs_it_from_any_folder_and_touches_no_tracked_file(ran: SimpleNamespace) -> None:
    assert ran.plain.returncode == 0, ran.plain.stderr
    assert (ran.elsewhere / "out.ipynb").is_file()
    assert ran.touched == []
    assert set(ran.first) == results_of((*FIGURES, *REAL), TABLES)


def test_our_own_runner_does_the_same_and_says_where_the_report_is(ran: SimpleNamespace) -> None:
    assert ran.again.returncode == 0, ran.again.stderr
    (line,) = (line for line in ran.again.stdout.splitlines() if NAME in line)
    assert line.startswith("ok") and line.endswith(str(ran.out / "report.ipynb"))
    assert set(ran.second) == {*ran.first, "report.ipynb"}


def test_what_is_stored_is_not_asked_again(ran: SimpleNamespace) -> None:
    lines = {name: text for name, text in contents(ran.replies).items() if name.endswith(".jsonl")}
    assert len(lines) == 6 and sum(text.count(b"\n") for text in lines.values()) == 2 * 16 * 6
    assert all(ran.stored[name] == text for name, text in lines.items())


def test_a_second_run_gives_the_same_bytes(ran: SimpleNamespace, tmp_path: Path) -> None:
    for name, content in ran.first.items():
        if name != "run.json":
            assert ran.second[name] == content, f"{name} differs between a run that asks and one that finds all stored"
    quiet = tmp_path / "out.ipynb"
    quiet.write_bytes((ran.elsewhere / "out.ipynb").read_bytes())
    notebooks.quiet(quiet, quiet)
    assert quiet.read_bytes() == ran.second["report.ipynb"]


def test_no_cell_shows_a_time_a_version_or_a_warning(ran: SimpleNamespace) -> None:
    book = assert_quiet(ran.second["report.ipynb"], paths.ROOT, ran.elsewhere)
    assert "version" not in book.metadata.language_info and "papermill" not in book.metadata


def test_run_json_holds_commit_time_versions_and_money(ran: SimpleNamespace) -> None:
    told = json.loads(ran.second["run.json"])
    assert {"commit", "time", "versions", "spent_usd"} <= set(told) and told["spent_usd"] == 0.0


def test_provenance_says_who_was_asked_what(ran: SimpleNamespace) -> None:
    told = json.loads(ran.second["numbers.json"])["provenance"]
    assert told["judges"]["sim_gpt_fast"] == ["sim-gpt-fast"] and len(told["judges"]) == 6
    assert (told["n"], told["questions"], told["seed"]) == (96, 16, 42)
    assert told["parameters"] == {"question_limit": 16} and re.fullmatch("[0-9a-f]{16}", told["inputs"])


def test_a_run_that_fails_names_the_cell_and_replaces_nothing(ran: SimpleNamespace) -> None:
    good = contents(ran.out)
    failed = command("helpers", "run", NAME, *ran.given, "-p", "questions", "no/such/file.jsonl", cwd=ran.elsewhere)
    assert failed.returncode == 1 and "Traceback" not in failed.stdout + failed.stderr
    assert re.search(r"^FAILED +01_mt_bench_blind .*cell \[3\] failed: FileNotFoundError: questions=", failed.stdout)
    left = contents(ran.out)
    assert b"no/such/file.jsonl" in left.pop("report.failed.ipynb")
    assert left == good


# --- runs without a kernel --------------------------------------------------------------------------------------------


def test_real_judges_without_a_key_are_refused_by_the_variable(tmp_path: Path) -> None:
    names = {"judges": ["gpt_fast"], "candidates": ["gpt_fast", "claude_fast"], "budget_usd": 1000.0}
    where = {"store": str(tmp_path / "replies"), "out": str(tmp_path / "out")}
    with pytest.raises(MissingKey) as refused:
        run_cells(NOTEBOOK, **names, **where, question_limit=2)
    assert "OPENAI_API_KEY (needed by gpt_fast)" in str(refused.value)
    assert "ANTHROPIC_API_KEY (needed by claude_fast)" in str(refused.value)
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob("replies/*.jsonl"))


def test_published_judgments_from_a_folder_go_through_the_whole_notebook(tmp_path: Path) -> None:
    folder = as_published(full_run(), tmp_path / "given")
    names, shown = run_cells(
        NOTEBOOK, judgments=str(folder), question_limit=48, store=str(tmp_path / "s"), out=str(tmp_path / "o")
    )
    told = prose(shown)
    assert told.startswith("Data: published judgments, from a file or folder. 6 judges, 48 questions, 288 judgments")
    assert "SIMULATED" not in of_this_run(told)
    assert "were not asked here" in told
    numbers = json.loads((tmp_path / "o" / "numbers.json").read_text())
    assert numbers["provenance"]["data"] == "folder"
    assert numbers["provenance"]["parameters"] == {"judgments": "given", "question_limit": 48}, "no path of a machine"
    assert {each["data"] for each in numbers["numbers"]} == {"published", "folder"}
    length = [each for each in numbers["numbers"] if each["where"].get("variant") == "with length, lists and bold"]
    assert length and all(each["value"] is None and "length" in each["method"] for each in length)
    assert not (tmp_path / "s").exists() and names["asked"].account.total.usd == 0.0


def test_a_real_run_goes_through_the_notebook(real_data: Path) -> None:
    _, shown = run_cells(NOTEBOOK, export=False, judgments=str(real_data / "llm_eval"))
    told = prose(shown)
    assert "There is no control: all of them are of the condition full" in told
    assert "Each candidate always stood in one place" in told and "hold their quality too" in told


def test_real_questions_go_through_the_notebook(tmp_path: Path, real_data: Path) -> None:
    questions = real_data / "mt_bench" / "question.jsonl"
    given = {"questions": str(questions), "question_limit": 12, "store": str(tmp_path / "s")}
    names, shown = run_cells(NOTEBOOK, export=False, **given)
    assert "12 questions, 72 judgments" in prose(shown)
    asked = {question.id: question.text for question in names["asked"].questions}
    lines = map(json.loads, questions.read_text(encoding="utf-8").splitlines())
    real = {f"{line['category']}_{line['question_id']:03}": line["turns"][0] for line in lines}
    assert asked.items() <= real.items()


def test_five_questions_and_then_eighty_asks_the_five_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = counted_sends(monkeypatch)

    def ask(limit: int | None) -> run.Asked:
        return asyncio.run(run.ask(settled(question_limit=limit, store=str(tmp_path)), show=False))

    few = ask(5)
    assert len(sent) == len(set(sent)) == 2 * 5 * 6
    lines = {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")}
    every = ask(None)
    assert len(sent) == len(set(sent)) == 2 * 80 * 6
    for path in tmp_path.glob("*.jsonl"):
        assert path.read_bytes().startswith(lines[path.name]), "what was stored stays as it was"
        keys = [record["key"] for record in store.lines(path)]
        assert len(keys) == len(set(keys)) == 2 * 80
    both = few.frame.merge(every.frame, on=["question_id", "judge", "candidate"], suffixes=("", "_every"))
    assert len(both) == len(few.frame) == 5 * 6 * 6
    for column in ("slot", "label", "outcome"):
        assert both[column].tolist() == both[f"{column}_every"].tolist()
    assert both["rank"].fillna(0).equals(both["rank_every"].fillna(0))
    ask(None)
    assert len(sent) == 2 * 80 * 6


# --- the command line -------------------------------------------------------------------------------------------------


WRONG = {
    "unknown parameter": (("run", NAME, "-p", "no_such", "1"), "no parameter no_such", *COMMON, "order_draw"),
    "unknown notebook": (("run", "07_nothing"), "no notebook 07_nothing", NAME),
    "unknown judge": (("run", NAME, "-p", "judges", "[gpt_9]"), "unknown judge gpt_9", "sim_gpt_fast"),
    "limit 0": (("run", NAME, "-p", "question_limit", "0"), "question_limit = 0"),
    "not YAML": (("run", NAME, "-p", "judges", "[gpt"), "-p judges [gpt", "not YAML"),
    "twice": (("run", NAME, "-p", "seed", "1", "-p", "seed", "2"), "-p seed is given twice"),
    "plan: unknown parameter": (("plan", NAME, "-p", "no_such", "1"), "no parameter no_such", "question_limit"),
    "plan: no such file": (("plan", NAME, "-p", "questions", "nowhere"), "questions='nowhere'", '"builtin"'),
    "unknown command": (("ran",), "No such command 'ran'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_command_is_one_message_and_an_exit_code(
    case: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, *expected = WRONG[case]
    monkeypatch.setattr(notebooks, "execute", lambda *_: pytest.fail("something was run"))
    code, _, told = recuse(monkeypatch, capsys, *words)
    assert code == 2
    for word in expected:
        assert word in told


def test_a_plan_is_a_table_that_knows_what_is_stored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, fresh, _ = recuse(monkeypatch, capsys, "plan", NAME, "-p", "store", str(tmp_path))
    assert code == 0 and not list(tmp_path.iterdir())
    rows = [line.split() for line in fresh.splitlines()]
    assert rows[0] == [NAME]
    assert [row[:2] for row in rows if row[0] in ("answers", "judging")] == [
        [stage, model.name] for stage in ("answers", "judging") for model in settled().judges
    ]
    assert rows[1][:5] == ["stage", "model", "calls", "stored", "missing"]
    total = next(row for row in rows if row[0] == "total")
    assert total[1:4] == ["960", "0", "960"] and float(total[-1]) == 0.0
    full_run()
    _, stored, _ = recuse(monkeypatch, capsys, "plan", "mt_bench_blind", "-p", "store", str(settled().store))
    total = next(line.split() for line in stored.splitlines() if line.startswith("total"))
    assert total[1:4] == ["960", "960", "0"]


def test_a_plan_of_real_models_names_upper_bounds_in_dollars(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = "[gpt_fast, claude_fast]"
    words = ("-p", "judges", names, "-p", "candidates", names, "-p", "store", str(tmp_path))
    code, told, _ = recuse(monkeypatch, capsys, "plan", NAME, *words)
    total = next(line.split() for line in told.splitlines() if line.startswith("total"))
    assert code == 0 and total[1:4] == ["320", "0", "320"]
    assert 0 < float(total[-1]) < 1000 and "upper bounds" in told and "-p budget_usd" in told


def test_names_are_known_with_and_without_number(monkeypatch: pytest.MonkeyPatch) -> None:
    assert notebooks.chosen((NAME,)) == notebooks.chosen(("mt_bench_blind",)) == notebooks.chosen((f"{NAME}.ipynb",))
    assert notebooks.chosen(()) == list(notebooks.available().values())


# --- the runner -------------------------------------------------------------------------------------------------------


def small(folder: Path, *sources: str) -> notebooks.Result:
    """A notebook of these cells, run."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbformat.write(book, folder / "small.ipynb")
    return notebooks.execute(folder / "small.ipynb", folder / "report.ipynb", {})


def as_kernel(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str, *words: str) -> None:
    """Let this program stand for the kernel of Python."""
    kernel = folder / "kernels" / "python3" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    argv = [sys.executable, "-c", program, *words]
    kernel.write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(folder))


@pytest.mark.parametrize(
    ("program", "seconds", "told"),
    [("import time; time.sleep(60)", 1, "Kernel didn't respond in 1 seconds"), ("exit(1)", 300, "Kernel died")],
)
def test_a_kernel_that_does_not_answer_is_waited_for_and_one_that_died_is_not(
    program: str, seconds: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_kernel(monkeypatch, tmp_path, program)
    assert kernels.START_SECONDS >= 300, "a busy machine takes longer than nbclient's minute"
    monkeypatch.setattr(kernels, "START_SECONDS", seconds)
    result = notebooks.execute(NOTEBOOK, tmp_path / "report.ipynb", {})
    assert result.error is not None and told in result.error and not result.unrecorded, "no cell was sent"


@pytest.mark.parametrize("deaths", [2, 3])
def test_a_kernel_that_dies_before_it_gets_a_cell_is_started_again(
    deaths: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where two kernels that start at once were given the same port."""
    for number in range(deaths):
        (tmp_path / f"death_{number}").touch()
    program = (
        f"import pathlib, sys; deaths = pathlib.Path({str(tmp_path)!r}).glob('death_*'); "
        "[each.unlink() or sys.exit(1) for each in deaths]; "
        "from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"
    )
    as_kernel(monkeypatch, tmp_path, program, "-f", "{connection_file}")
    result = small(tmp_path, "1 + 1")
    assert not [*tmp_path.glob("death_*")]
    if deaths < kernels.STARTS:
        assert result.error is None
        assert nbformat.read(tmp_path / "report.ipynb", 4).cells[0].outputs[0]["data"]["text/plain"] == "2"
    else:
        assert "Kernel died" in result.error and not result.unrecorded


def test_a_notebook_that_names_neither_kernel_nor_language_runs_with_its_parameters(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell("n = 1", metadata={"tags": ["parameters"]}), nbformat.v4.new_code_cell("n + 1")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "small.ipynb")
    assert notebooks.execute(tmp_path / "small.ipynb", tmp_path / "report.ipynb", {"n": 41}).error is None
    assert nbformat.read(tmp_path / "report.ipynb", 4).cells[-1].outputs[0]["data"]["text/plain"] == "42"


def test_parameters_are_checked_whoever_saved_the_notebook(tmp_path: Path) -> None:
    book = nbformat.read(NOTEBOOK, 4)
    book.metadata.clear()
    nbformat.write(book, tmp_path / NOTEBOOK.name)
    notebooks.check_parameters(tmp_path / NOTEBOOK.name, {"seed": 7})
    with pytest.raises(ConfigError, match=r"no parameter sead; it has: judges, candidates, .*seed"):
        notebooks.check_parameters(tmp_path / NOTEBOOK.name, {"sead": 7})


def cells(told: str) -> str:
    return f'{{"cells": {told}, "nbformat": 4, "nbformat_minor": 5, "metadata": {{}}}}'


def cell(tags: str, source: str) -> str:
    head = '"cell_type": "code", "id": "a", "outputs": [], "execution_count": null'
    return f'[{{{head}, "metadata": {{"tags": {tags}}}, "source": {source}}}]'


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", cells("3"), cells(cell("null", "[]")), cells(cell('["parameters"]', "3"))]
)
def test_a_file_that_is_no_notebook_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / NOTEBOOK.name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"{NOTEBOOK.name}: no notebook \("):
        notebooks.check_parameters(tmp_path / NOTEBOOK.name, {})


@pytest.mark.slow
def test_what_a_cell_shows_is_waited_for_where_the_machine_stands_still(tmp_path: Path) -> None:
    """Between a kernel's reply and its word that nothing more comes, longer than nbclient's four seconds."""
    still = "import time\nget_ipython().kernel.post_handler_hook = lambda: time.sleep(5)"
    assert small(tmp_path, still, "print('done')").error is None


def test_a_result_tells_where_the_time_went(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = small(tmp_path, "import time", "time.sleep(0.3)")
    assert result.start > 0 and result.seconds - result.start >= 0.3
    told = f"start {result.start:.1f}  {tmp_path / 'report.ipynb'}"
    assert str(result).startswith("ok      small  ") and str(result).endswith(f" s  {told}")
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {"small.ipynb", "report.ipynb"}
    # The next one in this process is told nothing of this one's cells.
    monkeypatch.setattr(notebooks, "run_cells", lambda *_: (_ for _ in ()).throw(OSError("full")))
    failed = small(tmp_path, "1")
    assert failed.error == "OSError: full" and failed.start == 0 and not failed.unrecorded


@pytest.mark.parametrize(("name", "error"), [("absent", "ImportError"), ("broken", "ZeroDivisionError")])
def test_an_import_that_fails_in_a_notebook_is_named(tmp_path: Path, name: str, error: str) -> None:
    (tmp_path / "absent.py").write_text("from math import no_such_name")
    (tmp_path / "broken.py").write_text("1 / 0")
    result = small(tmp_path, f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport {name}")
    assert f"cell [1] failed: {error}: " in str(result) and str(result).startswith("FAILED  small  ")
    assert error in (tmp_path / "report.failed.ipynb").read_text(encoding="utf-8")


def test_a_kernel_that_dies_in_a_cell_is_not_started_again(tmp_path: Path) -> None:
    words = tmp_path / "words"
    source = f"import os, pathlib\npathlib.Path({str(words)!r}).open('a').write('once ')\nos._exit(9)"
    result = small(tmp_path, source)
    assert "Kernel died" in result.error and result.unrecorded and words.read_text() == "once "


def test_a_kernel_whose_cells_are_done_ends_at_once(tmp_path: Path) -> None:
    """Freeing what a notebook holds takes as long as starting it: nobody waits for that, nor for other last words."""
    words = tmp_path / "words"
    source = f"import atexit, pathlib\natexit.register(pathlib.Path({str(words)!r}).touch)\n1 + 1"
    assert small(tmp_path, source).error is None
    assert nbformat.read(tmp_path / "report.ipynb", 4).cells[0].outputs[0]["data"]["text/plain"] == "2"
    assert not words.exists()


def test_a_kernel_that_dies_is_told_and_replaces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import papermill

    report = tmp_path / "report.ipynb"
    report.write_text("the last good one")

    def die(_: Any, draft: str, __: Any, on_cell_execute: Callable[[], None], **___: Any) -> None:
        Path(draft).write_text("as far as it came")
        on_cell_execute()
        raise RuntimeError("Kernel died")

    monkeypatch.setattr(papermill, "execute_notebook", die)
    result = notebooks.execute(NOTEBOOK, report, {})
    assert result.error == f"RuntimeError: Kernel died (see {tmp_path / 'report.failed.ipynb'})"
    assert result.unrecorded, "nobody knows what was in flight"
    assert report.read_text() == "the last good one"
    assert contents(tmp_path).keys() == {"report.ipynb", "report.failed.ipynb"}

    # Where it cannot be kept, the run goes on and no draft that nobody cleaned stays.
    (tmp_path / "report.failed.ipynb").unlink()
    (tmp_path / "report.failed.ipynb" / "x").mkdir(parents=True)
    result = notebooks.execute(NOTEBOOK, report, {})
    assert result.error.startswith(
        f"RuntimeError: Kernel died ({tmp_path / 'report.failed.ipynb'} could not be written"
    )
    assert list(tmp_path.glob(".*")) == [] and report.read_text() == "the last good one"
    shutil.rmtree(tmp_path / "report.failed.ipynb")

    def succeed(book: Any, draft: str, *_: Any, **__: Any) -> None:
        nbformat.write(book, draft)

    monkeypatch.setattr(papermill, "execute_notebook", succeed)
    assert notebooks.execute(NOTEBOOK, report, {}).error is None
    assert contents(tmp_path).keys() == {"report.ipynb"}, "a good run takes the traces of the failed one away"


def executed_by(monkeypatch: pytest.MonkeyPatch, execute: Any, after: Mapping[str, list[str]]) -> None:
    """Let `execute` stand for running a notebook of any name, each of them after the ones that are given."""
    monkeypatch.setattr(notebooks, "check_parameters", lambda *_: None)
    monkeypatch.setattr(notebooks, "load_config", lambda name: SimpleNamespace(after=after.get(name, [])))
    monkeypatch.setattr(notebooks, "report_of", lambda notebook, _: Path(notebook.stem))
    monkeypatch.setattr(notebooks, "execute", execute)


def test_notebooks_wait_for_others_and_fall_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    after = {"a": [], "b": ["a"], "c": ["b"], "d": [], "e": ["d", "elsewhere"]}
    begun: list[str] = []

    def execute(notebook: Path, report: Path, _: Any) -> notebooks.Result:
        begun.append(notebook.stem)
        return notebooks.Result(notebook.stem, report, 0.0, "cell [1] failed" if notebook.stem == "01_a" else None)

    monkeypatch.setattr(kernels, "ProcessPoolExecutor", ThreadPoolExecutor)
    executed_by(monkeypatch, execute, after)
    some = [Path(f"0{n}_{name}.ipynb") for n, name in enumerate("abcde", 1)]
    results = notebooks.run_all(some, {}, processes=2)
    assert [result.name for result in results] == ["01_a", "02_b", "03_c", "04_d", "05_e"]
    assert [bool(result.error) for result in results] == [True, True, True, False, False]
    assert "a failed before it" in results[1].error and "b failed before it" in results[2].error
    assert sorted(begun) == ["01_a", "04_d", "05_e"] and begun.index("04_d") < begun.index("05_e")
    after["d"] = ["e"]
    with pytest.raises(ConfigError, match="wait for each other: d, e"):
        notebooks.run_all(some[3:], {}, processes=2)


@pytest.mark.parametrize("bad", [(), ("01_a",), ("01_a", "02_b")])
def test_what_collects_runs_last_on_what_ran_through(monkeypatch: pytest.MonkeyPatch, bad: tuple[str, ...]) -> None:
    begun: list[tuple[str, Any]] = []

    def execute(notebook: Path, report: Path, given: Any) -> notebooks.Result:
        begun.append((notebook.stem, given))
        return notebooks.Result(notebook.stem, report, 0.0, "failed" if notebook.stem in bad else None)

    monkeypatch.setattr(kernels, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(notebooks, "experiment_names", lambda collecting: ["all"])
    monkeypatch.setattr(notebooks, "collected", lambda *told: dict(zip("pqr", told, strict=True)))
    executed_by(monkeypatch, execute, {})
    some = [Path(f"0{n}_{name}.ipynb") for n, name in enumerate(("all", "a", "b"))]
    results = notebooks.run_all(some, {"seed": 7}, processes=2)
    assert [result.name for result in results] == ["00_all", "01_a", "02_b"]
    assert sorted(begun[:2]) == [("01_a", {"seed": 7}), ("02_b", {"seed": 7})]
    if len(bad) == 2:
        assert results[0].error == "not run: a, b failed before it" and len(begun) == 2
    else:
        told = {"p": {"seed": 7}, "q": ["a", "b"], "r": [name[3:] for name in bad]}
        assert begun[2:] == [("00_all", told)]
        assert results[0].error is None
    begun.clear()
    notebooks.run_all(some[:1], {"out": "here"}, processes=1)
    assert begun == [("00_all", {"out": "here"})], "alone it takes parameters of its own"


def _killed(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_is_told_and_takes_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    executed_by(monkeypatch, _killed, {"b": ["a"]})
    told = notebooks.run_all([Path("01_a.ipynb"), Path("02_b.ipynb"), Path("03_c.ipynb")], {}, processes=1)
    assert "a process died" in told[0].error and "a failed before it" in told[1].error
    assert "a process died" in told[2].error


def test_default_runs_write_the_experiment_s_report_and_others_their_own() -> None:
    assert notebooks.report_of(NOTEBOOK, {}) == paths.EXPERIMENTS / "mt_bench_blind" / "report.ipynb"
    own = notebooks.report_of(NOTEBOOK, {"seed": 7})
    assert own.name == "report.ipynb" and own.parent.parent == paths.RUNS
    assert own != notebooks.report_of(NOTEBOOK, {"seed": 8})


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_a_prompt_is_shown_as_text_that_cannot_become_markup() -> None:
    from helpers.escaping import fenced

    hostile = "```\n# not a heading\n````\n<script>alert(1)</script>\u202eabc"
    block = fenced(hostile)
    fence = re.match("`+", block)[0]
    assert fence not in hostile and block.endswith(f"\n{fence}") and "\u202e" not in block
    long = fenced("x" * 20_000)
    assert len(long) < 7000 and "[... 14000 characters ...]" in long
    assert "Its reply:" in run.example(full_run())


def test_sentences_with_hostile_names_link_nowhere_and_load_nothing() -> None:
    from helpers.escaping import fenced, markdown

    named = "- ![x](http://127.0.0.1/x.png) and [y](javascript:alert(1)) \u202eabc <b>"
    told = markdown(f"{named}\n\n{fenced(named)}")
    sentence, block = told.split("\n\n", 1)
    assert "](" not in sentence and "<" not in sentence and "\u202e" not in sentence
    assert block == fenced(named), "a code block stays as it is"


def test_losses_show_outcomes_and_tokens_of_each_judge() -> None:
    table = run.losses(full_run())
    table = table.set_index("judge") if "judge" in table else table
    assert table["judgments"].tolist() == [80] * 6
    for judge, row in table.iterrows():
        mine = [j for j in full_run().judgments if j.trial.judge.name == judge]
        assert row["ok"] == sum(j.outcome == "ok" for j in mine)
        assert row["unreadable"] == f"{1 - row['ok'] / 80:.1%}"
        assert row["tokens input"] == sum(j.completion.usage.input for j in mine)
        assert row["tokens output"] == sum(j.completion.usage.output for j in mine)


def test_stars_in_a_caption_leave_it_slanted(monkeypatch: pytest.MonkeyPatch) -> None:
    from IPython import display
    from mistune import html

    shown: list[Any] = []
    monkeypatch.setattr(display, "display", shown.append)
    words = r"*: was corrected. A star (*), two (**), C:\*new and a_b, end \\"
    pixel = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    run.show(SimpleNamespace(render=lambda _: pixel, pixels=1, alt="x", caption=words))
    # A backslash could begin a formula: what looks for formulas in a page is told to leave it alone.
    assert re.sub(r"</?span[^>]*>", "", html(shown[1].data)).strip() == f"<p><em>{words}</em></p>"
