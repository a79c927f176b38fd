"""What an interrupted run says of the calls that are still to come, and of kernels and drafts that it leaves."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from helpers import run
from helpers.config import load_experiment
from helpers.judge import Budget, Interrupted
from helpers.run import notebooks
from helpers.run.asking import resumable
from helpers.run.kernels import clear, drafting
from tests.engine.asking import MODELS, requests_to

# --- what is to come --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [KeyboardInterrupt, asyncio.CancelledError, Interrupted])
def test_an_interrupt_before_any_call_says_so(kind: type[BaseException]) -> None:
    ahead = {"answers": 120, "editing": 0, "judging": 80}
    raised = KeyboardInterrupt if kind is KeyboardInterrupt else Interrupted
    with pytest.raises(raised) as told, resumable(Budget(0.0), ahead):
        raise kind
    assert str(told.value) == "nothing was asked; still to come: 120 calls of answers, 80 calls of judging"


def test_an_interrupt_between_calls_claims_no_more_than_it_knows() -> None:
    budget = Budget(1e6)
    budget.reserve(requests_to(MODELS["openai"], 1)[0])
    with pytest.raises(Interrupted) as told, resumable(budget, {}):
        raise asyncio.CancelledError
    assert str(told.value) == "what came is stored"


def test_what_is_no_interrupt_passes() -> None:
    with pytest.raises(ValueError, match="as it was"), resumable(Budget(0.0), {"judging": 3}):
        raise ValueError("as it was")


def test_an_interrupted_stage_names_the_calls_of_later_ones(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.2)
    given = {"judges": ["gpt_fast"], "biases": ["confirmation"], "budget_usd": 1e6, "store": str(tmp_path / "replies")}
    experiment = load_experiment("cognitive_biases", question_limit=6, **given)
    planned = asyncio.run(run.plan(experiment))
    first, *later = dict.fromkeys(row.stage for row in planned.rows)
    missing = {stage: sum(row.missing for row in planned.rows if row.stage == stage) for stage in (first, *later)}
    assert missing[first] and all(missing[stage] for stage in later) and later

    async def interrupted() -> str:
        task = asyncio.create_task(run.ask(experiment, show=False))
        while not server.calls:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(Interrupted) as told:
            await task
        return str(told.value)

    told = asyncio.run(interrupted())
    counts = re.match(rf"{first}: (\d+) of {missing[first]} replies are stored, (\d+) are missing; run the same", told)
    assert counts and int(counts[1]) + int(counts[2]) == missing[first], told
    assert told.endswith("still to come: " + ", ".join(f"{missing[stage]} calls of {stage}" for stage in later)), told


# --- the kernel -------------------------------------------------------------------------------------------------------

#: A cell that writes a file should its kernel be interrupted when the cell is done.
LISTENS = """
from pathlib import Path
def heard(*_): Path({file!r}).touch()
get_ipython().kernel.saved_sigint_handler = heard
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no signals between processes")
@pytest.mark.parametrize("fails", [False, True])
def test_a_kernel_without_work_is_shut_down_and_not_interrupted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], fails: bool
) -> None:
    heard, notebook = tmp_path / "heard", tmp_path / "01_a.ipynb"
    cells = [nbformat.v4.new_code_cell(LISTENS.format(file=str(heard)) + "1 / 0" * fails)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
    result = notebooks.execute(notebook, tmp_path / "out" / "report.ipynb", {})
    assert bool(result.error) is fails, result.error
    assert not heard.exists(), "an interrupted kernel tells the terminal, as if something had gone wrong"
    assert "KeyboardInterrupt" not in capfd.readouterr().err


# --- drafts -----------------------------------------------------------------------------------------------------------


WRITES = """
import sys
from pathlib import Path
from helpers.run.kernels import drafting
with drafting(Path(sys.argv[1])) as draft:
    draft.write_text("{}")
    print(draft, flush=True)
    sys.stdin.read()
"""


def test_a_draft_is_cleared_once_its_process_has_ended_however_that_was(tmp_path: Path) -> None:
    report = tmp_path / "report.ipynb"
    words = [sys.executable, "-c", WRITES, str(report)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        draft = Path(writer.stdout.readline().strip())
        assert draft.parent == tmp_path and draft.name.startswith(".report-") and draft.suffix == ".ipynb"
        with drafting(report) as mine:
            mine.write_text("{}")
            clear(report)
            assert mine.exists() and draft.exists() and mine != draft, "two that are written now"
        assert {path.stem for path in tmp_path.iterdir()} == {draft.stem}
        writer.kill()
    assert draft.exists(), "killed, it could not tidy up"
    with drafting(report) as mine:
        assert {path.stem for path in tmp_path.iterdir()} == {mine.stem}
    assert list(tmp_path.iterdir()) == []


def test_a_draft_goes_also_where_a_run_fails_and_what_is_no_draft_stays(tmp_path: Path) -> None:
    report, elsewhere = tmp_path / "report.ipynb", tmp_path / "precious"
    kept = [report, elsewhere, *(tmp_path / name for name in ("report.failed.ipynb", ".other-1.lock", ".report-2.txt"))]
    for path in kept:
        path.write_text("kept")
    (tmp_path / ".report-3.lock").symlink_to(elsewhere)
    (tmp_path / ".report-4.lock").touch()
    (tmp_path / ".report-4.ipynb").symlink_to(elsewhere)
    with pytest.raises(ZeroDivisionError), drafting(report) as draft:
        draft.write_text("{}")
        raise ZeroDivisionError
    assert {path.read_text() for path in kept} == {"kept"}
    assert {path.name for path in tmp_path.iterdir()} == {*(path.name for path in kept), ".report-3.lock"}
