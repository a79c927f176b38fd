"""A matrix of runs: each reply asked once for all cells, one budget, and a second run only for what is missing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from helpers import judge, paths, store
from helpers.config import ConfigError, load_experiment
from helpers.judge import NoPrice, OverBudget
from helpers.run import cells as run_cells, matrix
from helpers.run.cells import read_grid, spent_on, take_in, unpack
from helpers.run.kernels import undisturbed
from helpers.run.notebooks import Result, execute
from tests.engine.test_store import MODEL
from tests.engine.test_store_command import changed
from tests.engine.test_store_share import ok, put, texts
from tests.kernels import command, recuse
from tests.matrices import cells_of, counted, ran, threads
from tests.pages import PAGES
from tests.servers.behaviours import Fault, polite, step
from tests.servers.judging import nonce_of

#: Limits are nested: all that the smaller cell of a judge asks, the larger one would ask too.
NESTED = """\
notebooks: [cognitive_biases]
parameters:
  judges: [[gpt_fast], [claude_fast]]
  question_limit: [2, 3]
"""
SEEDS = "notebooks: [mt_bench_blind]\nparameters: {seed: [1, 2]}\n"


def stored(folder: Path) -> set[str]:
    return {line["key"] for path in store.files(folder / "replies") for line in store.lines(path)}


def test_a_reply_of_several_cells_is_asked_once_also_in_a_larger_grid(serve: Any, tmp_path: Path) -> None:
    server = serve()
    cells = cells_of(tmp_path, NESTED, repeats=1)
    planned = matrix.prepare(cells, tmp_path, tmp_path / "replies").plan
    outcomes = ran(cells, tmp_path, threads(2), budget_usd=50.0)
    assert [outcome.error for outcome in outcomes.values()] == [None] * 4
    assert len(server.calls) == planned.missing == len(stored(tmp_path)) and server.duplicates() == 0
    assert not list(tmp_path.glob("cells/*/replies")), "replies are in the main store, and there alone"
    assert ran(cells, tmp_path, budget_usd=50.0) == {} and len(server.calls) == planned.missing
    larger = cells_of(tmp_path, NESTED.replace("[2, 3]", "[2, 3, 4]"), repeats=1)
    more = ran(larger, tmp_path, budget_usd=50.0)
    assert set(more) == {cell.id for cell in larger} - set(outcomes) and server.duplicates() == 0
    frame = run_cells.numbers(larger, tmp_path)
    assert frame.groupby(["judges", "question_limit"])["n"].first().tolist() == sorted(frame["n"].unique().tolist()) * 2
    assert list(frame.columns[:3]) == ["cell", "judges", "question_limit"] and "where.judge" in frame


def test_what_cells_ask_alike_after_answers_of_a_third_is_asked_once(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.1)
    judges = "judges: [[gpt_fast], [claude_fast]]"
    grid = f"notebooks: [mt_bench_blind]\nparameters:\n  {judges}\n  figure_style: [paper, talk]\n"
    three = ["sim_gpt_fast", "sim_claude_fast", "sim_gemini_fast"]
    cells = cells_of(tmp_path, grid, question_limit=1, candidates=three)
    # Answers first: until they are written nobody knows that the last two cells will show the same to their judge.
    outcomes = ran(cells, tmp_path, threads(4), budget_usd=50.0)
    assert not any(outcome.error for outcome in outcomes.values())
    assert server.duplicates() == 0 and len(server.calls) == 2


def test_a_cell_that_failed_is_named_and_run_alone(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda call: Fault("404") if call.provider == "anthropic" else polite(call))
    cells = cells_of(tmp_path, NESTED.replace("[2, 3]", "[2]"), repeats=1)
    outcomes = ran(cells, tmp_path, budget_usd=50.0)
    gpt, claude = (outcomes[cell.id].error for cell in cells)
    assert gpt is None and "05_cognitive_biases: Incomplete" in claude
    states = run_cells.states(cells, tmp_path)
    assert states["state"].tolist() == ["done", "failed"] and "Incomplete" in states["errors"][1]
    assert set(run_cells.numbers(cells, tmp_path)["where.judge"]) == {"gpt_fast"}
    server.behaviour = polite
    paid = server.count("openai")
    again = ran(cells, tmp_path, budget_usd=50.0)
    assert list(again) == [cells[1].id] and again[cells[1].id].error is None
    assert server.count("openai") == paid and run_cells.states(cells, tmp_path)["state"].tolist() == ["done", "done"]


def test_the_budget_is_one_for_all_cells(serve: Any, tmp_path: Path) -> None:
    server = serve()
    cells = cells_of(tmp_path, NESTED, repeats=1)
    prepared = matrix.prepare(cells, tmp_path, tmp_path / "replies")
    assert sum(prepared.adds.values()) == pytest.approx(prepared.plan.usd)
    with pytest.raises(OverBudget, match=f"{prepared.plan.missing} calls are missing"):
        ran(cells, tmp_path, budget_usd=prepared.plan.usd * 0.99)
    assert not server.calls
    given, out = matrix.prepare(cells, tmp_path, tmp_path / "replies", prepared.plan.usd), []

    def tell(*_: Any) -> None:
        out.append(given.spent + sum(most for id, most in given.most.items() if id not in given.outcomes))

    outcomes = matrix.run_matrix(given, threads(2), tell)
    assert not any(outcome.error for outcome in outcomes.values())
    assert max(out) <= prepared.plan.usd + 1e-9, "what is spent and what running cells may spend"
    # What was spent, by the lines of the store: nobody was asked twice, so each reply costs what its tokens cost.
    assert given.spent == pytest.approx(sum(outcome.spent_usd for outcome in outcomes.values()))
    assert 0 < given.spent < prepared.plan.usd


def killed(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
    """As `counted`; the process that runs seed 2 for the first time is gone when it has stored all that it asked."""
    done = counted(notebook, report, parameters)
    mark = report.parents[3] / "killed"
    if parameters["seed"] == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return done


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_process_that_dies_takes_no_cell_that_still_waits_and_no_reply_with_it(tmp_path: Path) -> None:
    grid = "notebooks: [mt_bench_blind]\nparameters: {seed: [1, 2, 3, 4]}\n"
    cells = cells_of(tmp_path, grid, question_limit=1, judges=["sim_gpt_fast"])
    outcomes = ran(cells, tmp_path, matrix.local(1, killed))
    died = "01_mt_bench_blind: its process died (killed, or out of memory)"
    assert [outcomes[cell.id].error for cell in cells] == [None, died, None, None]
    ran(cells, tmp_path / "sequence")
    assert stored(tmp_path) == stored(tmp_path / "sequence")
    assert list(ran(cells, tmp_path, matrix.local(1, killed))) == [cells[1].id]
    assert run_cells.states(cells, tmp_path)["state"].tolist() == ["done"] * 4


def test_a_cell_that_nothing_is_left_to_judge_in_falls_alone(serve: Any, tmp_path: Path) -> None:
    serve(lambda call: step("refusal" if call.provider == "anthropic" else None, call))
    grid = "notebooks: [mt_bench_blind]\nparameters:\n  judges: [[sim_gpt_fast], [sim_claude_fast]]\n  candidates: "
    some = "[[claude_fast, sim_gpt_fast, sim_gemini_fast], [gpt_fast, sim_gpt_fast, sim_gemini_fast]]\n"
    cells = cells_of(tmp_path, grid + some, question_limit=1)[:3]
    outcomes = ran(cells, tmp_path, threads(2), budget_usd=50.0)
    for cell in cells:
        refused = "claude_fast" in cell.varied["candidates"]
        assert ("none of 1 questions has" in (outcomes[cell.id].error or "")) is refused
    assert run_cells.states(cells, tmp_path)["state"].tolist() == ["failed", "done", "failed"]


def test_verdicts_on_answers_to_be_written_again_are_not_asked_again(serve: Any, tmp_path: Path) -> None:
    server = serve()
    grid = "notebooks: [mt_bench_blind]\nparameters:\n  judges: [[gpt_fast]]\n  figure_style: [paper, talk]\n"
    three = ["sim_claude_fast", "sim_gpt_fast", "sim_gemini_fast"]
    cells = cells_of(tmp_path, grid, question_limit=2, candidates=three)
    ran(cells[:1], tmp_path, budget_usd=50.0)
    assert len(server.calls) == 2
    for path in (tmp_path / "replies").glob("sim_*.jsonl"):
        path.unlink()
    assert ran(cells[1:], tmp_path, budget_usd=50.0)[cells[1].id].error is None
    assert len(server.calls) == 2


def test_what_a_cell_paid_comes_home_at_an_unknown_price(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    cells = cells_of(tmp_path, NESTED.replace("[2, 3]", "[2]"), repeats=1)

    def unknown(_lines: Any) -> float:
        raise NoPrice("nobody knows the price")

    monkeypatch.setattr(run_cells, "spent_on", unknown)
    given = matrix.prepare(cells, tmp_path, tmp_path / "replies", 50.0)
    outcomes = matrix.run_matrix(given, threads(), lambda *_: None)
    assert not any(outcome.error for outcome in outcomes.values())
    assert len(stored(tmp_path)) == len(server.calls) and given.spent == pytest.approx(50.0), "the most that was given"


def test_an_interrupt_waits_until_a_cell_is_known_to_run() -> None:
    steps = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a program in the background may ignore it
    try:
        with pytest.raises(KeyboardInterrupt), undisturbed():
            signal.raise_signal(signal.SIGINT)
            steps.append("begun")
        assert steps == ["begun"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_cell_is_run_again_when_a_file_that_it_names_has_changed(tmp_path: Path) -> None:
    questions = tmp_path / "question.jsonl"
    line = '{"question_id": %d, "category": "writing", "turns": ["Say %s."]}\n'
    questions.write_text("".join(line % (n, n) for n in range(3)))
    few = ["sim_gpt_fast", "sim_claude_fast", "sim_gemini_fast"]
    cells = cells_of(tmp_path, SEEDS, questions=str(questions), judges=few[:1], candidates=few)
    assert len(ran(cells, tmp_path)) == 2 and ran(cells, tmp_path) == {}
    questions.write_text(questions.read_text() + line % (3, "more"))
    assert len(ran(cells, tmp_path)) == 2 and ran(cells, tmp_path) == {}
    # Changed while a cell runs: what it read before does not count as run on what is there now.
    shutil.rmtree(tmp_path / "cells")

    def changing(*given: Any) -> Result:
        done = counted(*given)
        questions.write_text(questions.read_text() + line % (4, "yet more"))
        return done

    ran(cells[:1], tmp_path, threads(run=changing))
    assert list(ran(cells[:1], tmp_path)) == [cells[0].id]


def test_between_cells_limits_may_change_and_models_may_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "DEFINITIONS", tmp_path)
    monkeypatch.setattr(paths, "LIMITS", tmp_path / "experiments" / "limits.yaml")
    (tmp_path / "experiments").mkdir()
    states = list[str]()
    for name, text in (("models", "one"), ("limits", "one"), ("limits", "two"), ("models", "two")):
        (tmp_path / "experiments" / f"{name}.yaml").write_text(text)
        states.append(run_cells.code_now())
    assert states[0] == states[1] == states[2] != states[3]


def test_a_matrix_is_run_once_at_a_time(tmp_path: Path) -> None:
    told = r"held by process \d+ on .*; this matrix can be run"
    with matrix.locked(tmp_path), pytest.raises(store.StoreError, match=told), matrix.locked(tmp_path):
        pass
    with matrix.locked(tmp_path):
        pass


def test_nothing_that_comes_back_is_written_outside_of_its_cell(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="outside of"):
        unpack({"../elsewhere.json": b"{}"}, tmp_path / "cell")
    assert not (tmp_path / "elsewhere.json").exists()


def test_a_cell_beside_the_grid_may_have_notebooks_of_its_own(tmp_path: Path) -> None:
    blind, arena = "{notebooks: [mt_bench_blind], question_limit: 1}", "{notebooks: [4], question_limit: 1}"
    cells = cells_of(tmp_path, f"notebooks: [hinting_groups]\nparameters: {{seed: [1]}}\ninclude: [{blind}]\n")
    assert [cell.notebooks for cell in cells] == [("02_hinting_groups",), ("01_mt_bench_blind",)]
    assert [cell.parameters for cell in cells] == [{"seed": 1}, {"question_limit": 1}]
    assert [cell.notebooks for cell in cells_of(tmp_path, f"include: [{blind}]\n")] == [("01_mt_bench_blind",)]
    for text, words in {
        f"include: [{arena}]": "line 1: notebooks must be a list of names",
        "include: [{notebooks: [mt_bench_blind]}, {seed: 1}]": "notebooks must be a list of names",
        "include: [{notebooks: [mt_bench_blind, mt_bench_blind], seed: 1}]": "a notebook is named twice",
        "include: [{notebooks: [overview], seed: 1}]": "cannot be part of a matrix",
    }.items():
        with pytest.raises(ConfigError, match=words):
            cells_of(tmp_path, f"{text}\n")


def test_the_matrix_of_current_models_can_be_planned() -> None:
    cells = read_grid(paths.EXPERIMENTS / "matrix_2026.yaml", {})
    loaded = [load_experiment(name, **cell.parameters) for cell in cells for name in cell.experiments]
    names = ["mt_bench_blind", "hinting_groups", "arena_hard_position_bias", "cognitive_biases"]
    assert [each.name for each in loaded] == names
    assert not any(judge.simulated for each in loaded for judge in each.judges)


def test_lines_that_a_cell_may_need_are_those_of_its_prompts_in_any_repeat(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, "notebooks: [mt_bench_blind]\ninclude: [{question_limit: 1, judges: [sim_gpt_fast]}]\n")
    ran(cells, tmp_path)
    many = cells_of(tmp_path, "notebooks: [mt_bench_blind]\ninclude: [{question_limit: 2, repeats: 2}]\n")
    ran(many, tmp_path)
    (experiments,) = matrix.prepare(cells, tmp_path / "anew", tmp_path / "replies").experiments.values()
    here = matrix.foresee(experiments)
    lines = {model: content.count(b"\n") for model, content in here.stored(tmp_path / "replies").items()}
    # One answer of each candidate; the judge, which is a candidate too, has judged this question twice by now.
    assert lines.pop("sim_gpt_fast") == 3 and set(lines.values()) == {1} and len(lines) == 5
    assert here.missing == frozenset() and here.usd == 0.0


def test_what_the_command_takes_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = tmp_path / "grid.yaml"
    grid.write_text(NESTED)
    where = ("--matrix", str(grid), "-p", "out", str(tmp_path / "out"), "-p", "store", str(tmp_path / "replies"))
    code, said, _ = recuse(monkeypatch, capsys, "plan", *where)
    assert code == 0 and f"4 cells, 0 of them done before; results go to {tmp_path / 'out'}" in said
    assert "A run of this matrix can cost up to" in said and "-p budget_usd" in said
    code, said, _ = recuse(monkeypatch, capsys, "plan", *where, "-p", "budget_usd", "0.1")
    assert code == 1 and "Does not fit" in said
    for words, told in [
        (("run", *where, "--dask", "tcp://127.0.0.1:1", "--processes", "2"), "--processes is for this machine"),
        (("run", "--dask", "local"), "--dask runs the cells of a matrix; name it with --matrix"),
        (
            ("run", "mt_bench_blind", *where),
            "a grid names its notebooks itself (`notebooks:`); leave out mt_bench_blind",
        ),
        (("run", *where, "-p", "budget_usd", "{total: 3}"), "must be one amount in US dollars, from 0 up"),
        (("run", *where, "-p", "budget_total_usd", "3"), "a matrix has one amount for all of its cells"),
        (("run", *where), "which is more than budget_usd=0.0000"),
        (("run", *where, "-p", "budget_usd", "50"), "not set in the environment: OPENAI_API_KEY (needed by gpt_fast)"),
    ]:
        code, _, errors = recuse(monkeypatch, capsys, *words)
        assert code == 2 and told in errors, errors


def test_a_file_that_workers_would_not_find_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("helpers.cluster.CONNECT_SECONDS", 1.0)
    question = '{"question_id": 1, "category": "writing", "turns": ["Say a."]}\n'
    Path("mine.jsonl").write_text(question)
    Path("grid.yaml").write_text("notebooks: [mt_bench_blind]\nparameters: {seed: [1]}\n")
    where = ("run", "--matrix", "grid.yaml", "--dask", "tcp://127.0.0.1:1", "-p", "out", str(tmp_path / "out"))
    code, _, errors = recuse(monkeypatch, capsys, *where, "-p", "questions", "mine.jsonl")
    assert code == 2 and "questions = mine.jsonl: each worker would look for it" in errors, errors
    code, _, errors = recuse(monkeypatch, capsys, *where, "-p", "questions", str(tmp_path / "mine.jsonl"))
    assert code == 2 and "127.0.0.1:1" in errors and "would look for it" not in errors, errors


@pytest.mark.slow
def test_the_grid_of_the_docs_runs_as_it_stands_on_a_server_of_ones_own(serve: Any, tmp_path: Path) -> None:
    server = serve()
    root = tmp_path / "recuse"
    ignored = shutil.ignore_patterns("replies", "downloads", "runs", "__pycache__", ".*")
    for part in ("helpers", "experiments", "notebooks", "data"):
        shutil.copytree(paths.ROOT / part, root / part, ignore=ignored)
    blocks = re.findall(r"```yaml\n(.*?)```", PAGES["models.md"] + PAGES["run.md"], re.DOTALL)
    (grid,) = (block for block in blocks if block.startswith("notebooks:"))
    (entry,) = (block for block in blocks if block.startswith("my_llama:") and "model_id:" in block)
    (other,) = (block for block in blocks if block.startswith("my_qwen:"))
    with (root / "experiments" / "models.yaml").open("a", encoding="utf-8") as models:
        models.write(re.sub(r"http://127\.0\.0\.1:\d+", server.url, entry + other))
    (tmp_path / "grid.yaml").write_text(grid)
    words = ("run", "--matrix", str(tmp_path / "grid.yaml"), "-p", "biases", "[anchoring]", "--processes", "2")
    done = command("helpers", *words, cwd=root, root=root)
    assert done.returncode == 0, done.stdout + done.stderr
    out = root / "figures" / "runs" / "matrix-grid"
    states = (out / "cells.csv").read_text().splitlines()[1:]
    # Two models, two orders, three seeds, without one model's fixed orders, and one cell more.
    assert len(states) == 2 * 2 * 3 - 3 + 1 and all(",done," in line and ",0," in line for line in states)
    assert len(list(out.glob("cells/*/cognitive_biases/report.ipynb"))) == len(states)
    assert {"matrix.csv", "results.csv", "across_runs.png", "captions.md"} <= {path.name for path in out.iterdir()}
    stored = [line for path in store.files(root / "data" / "replies") for line in store.lines(path)]
    assert len(stored) == len(server.calls) and len({line["key"] for line in stored}) == len(stored)


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
    (bad,) = store.verify(file).odd
    reply = store.read(file)[json.loads(first)["key"]]
    assert bad.number == 1 and (reply.finish, reply.usage.input) == ("unknown", None)
    shutil.rmtree(tmp_path / "cells")
    assert [each.error for each in ran(cells[:1], tmp_path).values()] == [None] and len(server.calls) == paid
    # Another cell asks for more, which has to come into the same file.
    assert ran(cells[1:], tmp_path, budget_usd=50.0)[cells[1].id].error is None
    assert len(server.calls) == len(store.read(file)) > paid and server.duplicates() == 0


def test_a_line_no_run_can_use_is_kept_and_named_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
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


def test_who_takes_a_file_before_replies_come_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left, main = put(tmp_path / "left", ok(MODEL, "a", "a")).parent, tmp_path / "main"
    merge_usable, heard, told = store.merge_usable, threading.Event(), []

    def taken(*given: Any) -> list[Any]:
        lock = store.try_lock(store.file_of(main, MODEL.name))  # a run of the main store begins to ask
        threading.Thread(target=lambda: (heard.wait(60), lock.release())).start()
        return merge_usable(*given)

    def notice(text: str) -> None:
        told.append(text)
        heard.set()

    monkeypatch.setattr(store, "merge_usable", taken)
    monkeypatch.setattr(judge, "_notice_once", cache(notice))
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
    return replace(done, error="DeadKernelError: Kernel died", unrecorded=True) if died else done


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
        assert outcomes[cell.id].spent_usd == pytest.approx(given.most[cell.id])
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
    ("before", "after", "error", "unrecorded"),
    [
        ("", "", None, False),
        ("", "1 // 0", "cell [1] failed: ZeroDivisionError", False),
        ("", "import os; os._exit(9)", "DeadKernelError: Kernel died", True),
        ("resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))", "", "cell [1] failed: StoreError", True),
        ("from helpers.providers import openai; openai.read = lambda raw: 1 // 0", "", "ZeroDivisionError", True),
    ],
    ids=["ended", "an error of its own", "died", "a full disk", "a fault while asking"],
)
def test_how_a_notebook_ended_says_what_it_stored(
    serve: Any, tmp_path: Path, before: str, after: str, error: str | None, unrecorded: bool
) -> None:
    serve()
    source = ASKING.format(before=before, after=after, folder=str(tmp_path / "replies"))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbformat.write(book, tmp_path / "book.ipynb")
    result = execute(tmp_path / "book.ipynb", tmp_path / "report.ipynb", {})
    assert (result.error is None) if error is None else error in (result.error or ""), result.error
    assert result.unrecorded is unrecorded


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
