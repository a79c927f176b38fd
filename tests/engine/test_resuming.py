"""What an interrupted run says of the calls that are still to come, and of kernels and drafts that it leaves."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from helpers import run
from helpers.config import load_experiment
from helpers.judge import Budget, Interrupted
from helpers.run import notebooks
from helpers.run.drafts import clear, draft_of
from helpers.run.resuming import resumable
from tests.engine.asking import MODELS, requests_to

pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")


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


@pytest.fixture
def ended() -> Iterator[int]:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    yield process.pid


@pytest.mark.skipif(sys.platform == "win32", reason="no process can be asked there whether it lives")
def test_only_drafts_that_nobody_writes_are_cleared(tmp_path: Path, ended: int) -> None:
    report, machine = tmp_path / "report.ipynb", re.sub(r"[^A-Za-z0-9]+", "_", platform.node())
    mine = draft_of(report)
    assert mine.parent == tmp_path and mine.name == f".report-{machine}-{os.getpid()}.ipynb"
    kept = [mine, report, tmp_path / "report.failed.ipynb", tmp_path / f".report-{os.getppid()}.ipynb"]
    kept += [tmp_path / f".report-elsewhere-{ended}.ipynb", tmp_path / f".other-{machine}-{ended}.ipynb"]
    kept += [tmp_path / f".report-{machine}-{ended}.txt", tmp_path / f".report-{machine}-{ended}x.ipynb"]
    gone = [tmp_path / f".report-{machine}-{ended}.ipynb", tmp_path / f".report-{ended}.ipynb"]
    gone += [tmp_path / f".report-{machine}-99999999999999999999.ipynb"]
    for path in (*kept, *gone):
        path.write_text("{}")
    elsewhere = tmp_path / "precious"
    elsewhere.write_text("kept")
    gone[0].unlink()
    gone[0].symlink_to(elsewhere)
    clear(report)
    assert [path.name for path in gone if path.exists() or path.is_symlink()] == []
    assert [path.name for path in kept if not path.exists()] == []
    assert elsewhere.read_text() == "kept"
