"""What tests of matrices share: grids, and a quick stand-in for a notebook that asks, counts and leaves its numbers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from helpers import run
from helpers.config import load_experiment
from helpers.run import matrix
from helpers.run.cells import Cell, Outcome, read_grid, run_cell
from helpers.run.notebooks import Result, experiment_of


def counted(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
    """Ask as the notebook does; numbers.json gets how often each judge said what."""
    try:
        asked = asyncio.run(run.ask(load_experiment(experiment_of(notebook), **parameters), show=False))
    except RuntimeError as error:
        return Result(notebook.stem, report, 0.0, f"{type(error).__name__}: {error}")
    said = Counter((each.trial.judge.name, str(each.verdict)) for each in asked.judgments)
    numbers = [
        {"id": "said", "where": {"judge": judge, "verdict": verdict}, "value": value, "n": len(asked.judgments)}
        for (judge, verdict), value in sorted(said.items())
    ]
    report.parent.mkdir(parents=True, exist_ok=True)
    (report.parent / "numbers.json").write_text(json.dumps({"numbers": numbers}))
    return Result(notebook.stem, report, 0.0)


def threads(count: int = 1, run: Any = counted) -> matrix.Opener:
    """Cells in threads of this process: quicker than processes, each of which would read the SDKs anew."""

    @contextmanager
    def opened(running: dict[Future, str]) -> Iterator[matrix.Engine]:
        with ThreadPoolExecutor(count) as pool:
            yield matrix.Engine(lambda task, folder: pool.submit(run_cell, task, folder, run), lambda: count, ())

    return opened


def cells_of(folder: Path, text: str, **given: Any) -> list[Cell]:
    """The cells of a grid with this text."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "grid.yaml").write_text(text)
    return read_grid(folder / "grid.yaml", given)


def ran(
    cells: list[Cell], folder: Path, opened: matrix.Opener | None = None, budget_usd: float = 0.0, tell: Any = None
) -> dict[str, Outcome]:
    """Run cells in a folder that also holds their store, one after the other where nothing else is given."""
    prepared = matrix.prepare(cells, folder, folder / "replies", budget_usd)
    return matrix.run_matrix(prepared, opened or threads(), tell or (lambda cell, outcome: None))
