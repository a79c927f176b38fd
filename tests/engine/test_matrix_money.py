"""What a matrix has paid: no reply is asked twice, left behind or in the way; cells that die keep to their share."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from helpers import judge, store
from helpers.run import cells as run_cells
from helpers.run import matrix
from helpers.run.cells import spent_on, take_in
from helpers.run.notebooks import Result, execute
from tests.engine.test_store import MODEL
from tests.engine.test_store_share import ok, put, texts
from tests.engine.test_store_verify import changed
from tests.matrices import cells_of, counted, ran, threads
from tests.servers.judging import nonce_of

GPT = "notebooks: [cognitive_biases]\nparameters: {judges: [[gpt_fast]], question_limit: [2, 3]}\n"
SIMULATED = ["sim_gpt_fast", "sim_claude_fast", "sim_gemini_fast"]


def odd(record: dict[str, Any]) -> None:
    """What earlier versions stored of a server that says odd things: `verify` and imports refuse it, runs read it."""
    record["reply"]["finish"] = 7
    record["reply"]["usage"]["input"] = 2**53


def main_file(folder: Path) -> Path:
    return store.file_of(folder / "replies", "gpt_fast")


# --- lines that a run can use -----------------------------------------------------------------------------------------


def test_a_stored_line_of_odd_words_is_handed_to_cells_and_stops_nothing(serve: Any, tmp_path: Path) -> None:
    server = serve()
    cells = cells_of(tmp_path, GPT, repeats=1)
    ran(cells[:1], tmp_path, budget_usd=50.0)
    paid, file = len(server.calls), main_file(tmp_path)
    first, *rest = file.read_bytes().splitlines()
    file.write_bytes(b"\n".join([changed(first, odd), *rest, b""]))
    (bad,) = store.verify(file).bad
    reply = store.read(file)[json.loads(first)["key"]]
    assert bad.number == 1 and (reply.finish, reply.usage.input) == ("unknown", None)
    shutil.rmtree(tmp_path / "cells")
    assert [each.error for each in ran(cells[:1], tmp_path).values()] == [None] and len(server.calls) == paid
    # Another cell asks for more, which has to come into the same file.
    assert ran(cells[1:], tmp_path, budget_usd=50.0)[cells[1].id].error is None
    assert len(server.calls) == len(store.read(file)) > paid and server.duplicates() == 0


def test_a_line_that_no_run_can_use_is_kept_and_named_once_and_all_others_come_home(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    left, main = tmp_path / "cells" / "of-a-killed-run" / "replies", tmp_path / "replies"
    left.parent.mkdir(parents=True)
    file = put(left, *(ok(MODEL, each, each) for each in "abcd"))
    first, second, third, fourth = file.read_bytes().splitlines()
    damaged = third.replace(b'"text":"c"', b'"text":"x"')
    file.write_bytes(b"\n".join([first, changed(second, odd), damaged + fourth, b'{"v":1,"key":"cut o']))
    matrix.prepare([], tmp_path, main)
    assert texts(main) == ["a", "b", "d"] and not left.exists()
    assert store.file_of(main, MODEL.name).with_suffix(".jsonl.damaged").read_bytes() == damaged + fourth + b"\n"
    told = f"{file}: line 3 could not be read and lies in {store.file_of(main, MODEL.name)}.damaged"
    assert capfd.readouterr().err.count(told) == 1
    matrix.prepare([], tmp_path, main)
    assert capfd.readouterr().err == "" and texts(main) == ["a", "b", "d"]


def test_replies_of_others_are_still_read_strictly_whatever_this_store_holds(tmp_path: Path) -> None:
    mine, theirs = put(tmp_path / "mine", ok(MODEL, "a", "a")), put(tmp_path / "theirs", ok(MODEL, "b", "b"))
    mine.write_bytes(changed(mine.read_bytes()[:-1], odd) + b"\n")
    assert store.merge(theirs.parent, mine.parent)[0].new == 1, "a line of one's own that runs can read is in no way"
    theirs.write_bytes(changed(theirs.read_bytes()[:-1], odd) + b"\n")
    with pytest.raises(store.StoreError, match=r"1 lines are not whole, nothing was taken in:\n  line 1: reply.finish"):
        store.merge(theirs.parent, mine.parent)


def test_a_last_line_without_its_line_end_is_handed_over_with_one(serve: Any, tmp_path: Path) -> None:
    server = serve()
    cells = cells_of(tmp_path, GPT, repeats=1)
    ran(cells[:1], tmp_path, budget_usd=50.0)
    file = main_file(tmp_path)
    before = file.read_bytes()
    file.write_bytes(before[:-1])
    given = matrix.prepare(cells[1:], tmp_path, tmp_path / "replies", 50.0)
    (here,) = map(matrix.foresee, given.experiments.values())
    assert here.stored(tmp_path / "replies") == {"gpt_fast": before}
    assert not any(outcome.error for outcome in matrix.run_matrix(given, threads(), lambda *_: None).values())
    added = file.read_bytes().removeprefix(before)
    assert server.duplicates() == 0 and added.count(b"\n") + before.count(b"\n") == len(server.calls)
    assert given.spent == pytest.approx(spent_on({"gpt_fast": added})), "what was added, and not all that was given"


# --- replies come home ------------------------------------------------------------------------------------------------


def test_replies_of_a_killed_matrix_come_home_whatever_the_grid_names_now(serve: Any, tmp_path: Path) -> None:
    server = serve()
    cells = cells_of(tmp_path, GPT, repeats=1)
    ran(cells[1:], tmp_path, budget_usd=50.0)
    paid = len(server.calls)
    # As a run leaves it that is killed; the next one is given another -p, so that its cells have other names.
    left = tmp_path / "cells" / cells[1].id / "replies"
    left.mkdir()
    shutil.move(main_file(tmp_path), left)
    others = cells_of(tmp_path, GPT, repeats=1, figure_style="talk")
    assert not {cell.id for cell in others} & {cell.id for cell in cells}
    assert not any(outcome.error for outcome in ran(others, tmp_path).values())
    assert len(server.calls) == paid and not left.exists()


def test_who_takes_a_file_just_before_replies_come_home_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, main = put(tmp_path / "left", ok(MODEL, "a", "a")).parent, tmp_path / "main"
    bring_home, heard, told = store.bring_home, threading.Event(), []

    def taken(*given: Any) -> list[Any]:
        lock = store.try_lock(store.file_of(main, MODEL.name))  # a run of the main store begins to ask
        threading.Thread(target=lambda: (heard.wait(60), lock.release())).start()
        return bring_home(*given)

    def notice(text: str) -> None:
        told.append(text)
        heard.set()

    monkeypatch.setattr(store, "bring_home", taken)
    monkeypatch.setattr(judge, "notice", notice)
    monkeypatch.setattr(judge, "PATIENCE_BEFORE_WORDS", 0.0)
    take_in(left, main)
    assert texts(main) == ["a"] and not left.exists()
    assert len(told) == 1 and told[0].startswith(f"waiting for {store.file_of(main, MODEL.name)}, held by process ")


def test_nobody_writes_to_a_file_while_it_comes_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left, main = put(tmp_path / "left", ok(MODEL, "a", "a")).parent, tmp_path / "main"
    append, free, whole = store.Writer.append_line, [], []

    def watched(writer: store.Writer, *line: Any) -> int:
        free.extend(each for each in (left, main) if store.try_lock(store.file_of(each, MODEL.name)) is not None)
        return append(writer, *line)

    def removed(folder: Path, **how: Any) -> None:
        whole.append(store.try_lock(store.file_of(left, MODEL.name)))

    monkeypatch.setattr(store.Writer, "append_line", watched)
    monkeypatch.setattr(run_cells.shutil, "rmtree", removed)
    take_in(left, main)
    assert texts(main) == ["a"] and free == [] and whole == [None], "not before the folder is gone"
    files = [store.file_of(each, MODEL.name) for each in (left, main)]
    assert all(store.try_lock(file) is not None for file in files), "then they are free"


# --- cells that die ---------------------------------------------------------------------------------------------------


def dying(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
    """As `counted`, and the kernel of experiment 1 is gone in the end, with calls in flight that nobody wrote down."""
    GIVEN.append(parameters["budget_usd"])
    done = counted(notebook, report, parameters)
    died = notebook.stem.endswith("mt_bench_blind")
    return replace(done, error="DeadKernelError: Kernel died", untold=True) if died else done


GIVEN: list[float] = []


def test_a_cell_whose_kernel_died_counts_as_the_most_that_it_was_given(serve: Any, tmp_path: Path) -> None:
    serve()
    text = "notebooks: [mt_bench_blind, quality_self_preference]\nparameters: {seed: [1, 2]}\n"
    cells = cells_of(tmp_path, text, judges=["gpt_fast"], candidates=SIMULATED, question_limit=2, repeats=1)
    usd = matrix.prepare(cells, tmp_path, tmp_path / "replies").plan.usd
    given = matrix.prepare(cells, tmp_path, tmp_path / "replies", usd)
    GIVEN.clear()
    outcomes = matrix.run_matrix(given, threads(1, dying), lambda *_: None)
    for cell in cells:
        assert outcomes[cell.id].spent_usd == pytest.approx(given.begun[cell.id].most)
        assert outcomes[cell.id].errors["01_mt_bench_blind"] == "DeadKernelError: Kernel died"
        assert outcomes[cell.id].errors["03_quality_self_preference"].startswith("OverBudget: ")
    # Each cell got what it needs and no more, and the notebook after the one that died got nothing.
    assert pytest.approx([usd / 2, 0.0, usd / 2, 0.0], rel=0.2) == GIVEN and GIVEN[1] == GIVEN[3] == 0.0
    assert given.spent == pytest.approx(usd) and given.spent <= usd + 1e-9
    assert 0 < spent_on({"gpt_fast": main_file(tmp_path).read_bytes()}) < usd, "what came tells of less"


ASKING = """
import resource
from pathlib import Path
from helpers.judge import Budget, complete_all
from tests.engine.asking import MODELS, requests_to
{before}
replies = await complete_all(requests_to(MODELS["openai"], 40), folder=Path({folder!r}), budget=Budget(1e6))
{after}
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of a file")
@pytest.mark.parametrize(
    ("before", "after", "error", "untold"),
    [
        ("", "", None, False),
        ("", "1 // 0", "cell [1] failed: ZeroDivisionError", False),
        ("", "import os; os._exit(9)", "DeadKernelError: Kernel died", True),
        ("resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))", "", "cell [1] failed: StoreError", True),
        ("from helpers.providers import openai; openai.read = lambda raw: 1 // 0", "", "ZeroDivisionError", True),
    ],
    ids=["ended", "an error of its own", "died", "a full disk", "a fault while asking"],
)
def test_how_a_notebook_ended_says_whether_its_store_tells_all(
    serve: Any, tmp_path: Path, before: str, after: str, error: str | None, untold: bool
) -> None:
    serve()
    source = ASKING.format(before=before, after=after, folder=str(tmp_path / "replies"))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbformat.write(book, tmp_path / "book.ipynb")
    result = execute(tmp_path / "book.ipynb", tmp_path / "report.ipynb", {})
    assert (result.error is None) if error is None else error in (result.error or ""), result.error
    assert result.untold is untold


# --- controls that turn out stale -------------------------------------------------------------------------------------


def test_a_control_of_another_model_is_asked_again_once_by_cells_side_by_side(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.05)
    common = {"judges": ["gpt_fast"], "candidates": SIMULATED, "question_limit": 1}
    blind = cells_of(tmp_path, "notebooks: [mt_bench_blind]\nparameters: {seed: [42]}\n", **common)
    ran(blind, tmp_path, budget_usd=50.0)
    server.suffix = "-2026-02-02"
    hints = "notebooks: [hinting_groups]\nparameters: {hints: [[self], [full]]}\n"
    outcomes = ran(cells_of(tmp_path, hints, **common), tmp_path, threads(2), budget_usd=50.0)
    assert [outcome.error for outcome in outcomes.values()] == [None, None]
    asked = Counter(each.call.prompt for each in server.calls if nonce_of(each.call))
    assert sorted(asked.values()) == [1, 1, 2], "each hint once, the control once of each model"
