"""What `recuse run` and `recuse plan` do with --matrix: cells, their plan, their outcomes, one table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import export, figures, paths, tables
from ..config import ConfigError, load_models
from ..figures.points import NothingToDraw
from ..figures.style import METADATA
from ..judge import Budget, check_keys
from ..run import caution, cells as run_cells
from ..run.cells import OURS, Cell, Outcome, read_grid
from ..run.matrix import Matrix, local, locked, prepare, run_matrix
from ..run.showing import SOURCES
from .printing import afforded, echo


def plan_grid(grid: Path, parameters: Mapping[str, Any], *names: str) -> bool:
    """Print the plan of all cells that are not done; whether it fits into the budget, where one is given."""
    with _prepared(grid, parameters, *names) as (_, matrix):
        settled = (experiment for cells in matrix.experiments.values() for experiment in cells)
        for note in dict.fromkeys(map(caution, settled)):
            if note:
                echo(f"Note: {note}")
        return afforded(matrix.plan, Budget(matrix.budget_usd), "budget_usd" in parameters, "A run of this matrix")


def run_grid(grid: Path, values: Mapping[str, Any], processes: int | None, dask: str | None, *names: str) -> bool:
    """Run the cells that are not done and write the tables; whether all are done now."""
    with _prepared(grid, values, *names) as (cells, matrix):
        matrix.plan.check(Budget(matrix.budget_usd))
        needs = [*dict.fromkeys(row.model for row in matrix.plan.rows if row.missing)]
        if dask in (None, "local"):  # elsewhere the workers have keys
            check_keys(map(load_models().__getitem__, needs))
        else:
            _refuse_relative(cells)
        cluster = import_module("..cluster", __package__) if dask else None  # Dask itself takes a while to import
        opened = cluster.dask(dask, processes, needs) if cluster else local(processes)
        try:
            run_matrix(matrix, opened, _tell)
        finally:
            found = _tabulated(cells, matrix.folder)
    failed = [matrix.cells[id] for id, outcome in matrix.outcomes.items() if outcome.error]
    echo(f"{found} numbers of {len(cells) - len(failed)} cells: {matrix.folder / 'matrix.csv'}")
    for cell in failed:
        echo(f"FAILED  {cell.id}  {cell}")
    if failed:
        echo(f"{len(failed)} of {len(cells)} cells failed; the same command runs these only")
    return not failed


def _refuse_relative(cells: list[Cell]) -> None:
    """ConfigError where a parameter names a file by a path that leads elsewhere on another machine."""
    why = "each worker would look for it from where it was started; give an absolute path, the same on all of them"
    for name, value in ((name, cell.parameters.get(name)) for cell in cells for name in SOURCES):
        if isinstance(value, str) and not Path(value).is_absolute() and Path(value).expanduser().exists():
            raise ConfigError(f"{name} = {value}: {why}")


def _tabulated(cells: list[Cell], folder: Path) -> int:
    """Write what all cells found: tables of numbers and of cells, then the judge cards; how many numbers there are."""
    frames = {"matrix.csv": run_cells.numbers(cells, folder), "cells.csv": run_cells.states(cells, folder)}
    export.write({name: tables.csv_text(frame).encode() for name, frame in frames.items()}, folder)
    try:
        _compared(cells, folder)
    except Exception as error:  # whatever it is, the tables above are whole and say which cells failed
        echo(f"The judge cards are not side by side ({type(error).__name__}: {error})")
    return len(frames["matrix.csv"])


def _compared(cells: list[Cell], folder: Path) -> None:
    """Write the judge cards of all cells as a table and as a figure; nothing of an earlier run stays beside them."""
    for name in ("results.csv", "captions.md", *(f"across_runs.{kind}" for kind in METADATA)):
        (folder / name).unlink(missing_ok=True)
    results = run_cells.results(cells, folder)
    export.write({"results.csv": tables.csv_text(results).encode()}, folder)
    styles = {cell.parameters.get("figure_style", "paper") for cell in cells}
    look = styles.pop() if len(styles) == 1 else "paper"
    try:
        figure = figures.show_across_runs(run_cells.runs(cells, folder), run_cells.varied(cells), look)
    except NothingToDraw as error:
        if len(results):
            echo(f"No figure across the runs: {error}; {folder / 'results.csv'} has them")
        return
    files = {f"{figure.name}.{kind}": figure.render(kind) for kind in METADATA}
    files["captions.md"] = export.captions(folder.name, [figure], []).encode()
    export.write(files, folder)


@contextmanager
def _prepared(grid: Path, parameters: Mapping[str, Any], *names: str) -> Iterator[tuple[list[Cell], Matrix]]:
    """The cells of a grid, and those that are not done with their plan, which is printed; nobody else runs them."""
    if names:
        raise ConfigError(f"a grid names its notebooks itself (`notebooks:`); leave out {', '.join(names)}")
    out, replies = (_folder(parameters, name) for name in ("out", "store"))
    folder, budget = out or paths.RUNS / f"matrix-{grid.stem}", _budget(parameters)
    cells = read_grid(grid, {name: value for name, value in parameters.items() if name not in OURS})
    with locked(folder):
        matrix = prepare(cells, folder, replies or paths.REPLIES, budget)
        done = len(cells) - len(matrix.cells)
        echo(f"{len(cells)} cells, {done} of them done before; results go to {folder}\n{matrix.plan}")
        yield cells, matrix


def _folder(parameters: Mapping[str, Any], name: str) -> Path | None:
    value = parameters.get(name)
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"-p {name} {value}: must be a folder")
    return Path(value).expanduser().resolve() if value else None


def _budget(parameters: Mapping[str, Any]) -> float:
    if parameters.get("budget_total_usd") is not None:
        raise ConfigError("-p budget_total_usd: a matrix has one amount for all of its cells, -p budget_usd")
    usd = parameters.get("budget_usd", 0.0)
    if isinstance(usd, bool) or not isinstance(usd, int | float) or not math.isfinite(usd) or usd < 0:
        raise ConfigError(f"-p budget_usd {usd}: must be one amount in US dollars, from 0 up, for the whole matrix")
    return float(usd)


def _tell(cell: Cell, outcome: Outcome) -> None:
    state = "FAILED" if outcome.error else "ok"
    echo(f"{state:<8}{cell.id}{outcome.seconds:>9.1f} s  {cell}{': ' if outcome.error else ''}{outcome.error or ''}")
