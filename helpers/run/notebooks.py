"""Notebooks run from top to bottom, in parallel processes; a bad run never replaces a good result."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.check import variables
from helpers.config import ConfigError, collection_names, load_collection, load_config, load_experiment
from helpers.judge import UNWRITTEN
from helpers.providers.keys import declare, leave_browser, redact, refuse
from helpers.run.asking import check
from helpers.run.cleaning import clean
from helpers.run.collected import collected
from helpers.run.drafts import drafting
from helpers.run.interrupting import (
    Ended,
    asked_to_end,
    begin_notebook,
    begin_process,
    cells_begun,
    first_cell,
    stopping,
)
from helpers.run.quick import without_grammar
from helpers.run.ready import check_ready
from helpers.run.result import Result
from helpers.run.starting import run_cells
from helpers.store import StoreError

#: Per-run traces that papermill and the kernel leave in a notebook; without them a rerun gives the same bytes.
NOISE = {"papermill", "execution"}


def available() -> dict[str, Path]:
    """The notebooks by name without their extension, in order."""
    return {path.stem: path for path in sorted(paths.NOTEBOOKS.glob("[0-9]*.ipynb"))}


def chosen(names: tuple[str, ...]) -> list[Path]:
    """The notebooks with these names (with or without their number); none named means all."""
    known = available()
    by_word = {re.sub(r"^\d+_", "", name): name for name in known} | {name: name for name in known}
    unknown = [name for name in names if name.removesuffix(".ipynb") not in by_word]
    if unknown:
        raise ConfigError(f"no notebook {', '.join(unknown)}; there are: {', '.join(known)}")
    return [known[by_word[name.removesuffix(".ipynb")]] for name in names] or list(known.values())


def experiment_of(notebook: Path) -> str:
    """The name that notebook, experiment, data and figures share."""
    return re.sub(r"^\d+_", "", notebook.stem)


def collects(notebook: Path) -> bool:
    """Whether a notebook asks nothing and collects what others found."""
    return experiment_of(notebook) in collection_names()


def check_parameters(notebook: Path, parameters: Mapping[str, Any], to_ask: bool = False) -> None:
    """Refuse parameters that the notebook does not have: papermill itself would only log them.

    With `to_ask` also a run whose missing calls need a key that is not set, or have a price that nobody knows.
    """
    refuse(parameters)
    known = _parameters(notebook)
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise ConfigError(f"{notebook.stem} has no parameter {', '.join(unknown)}; it has: {', '.join(known)}")
    if collects(notebook):
        load_collection(experiment_of(notebook), **parameters)
    else:
        experiment = load_experiment(experiment_of(notebook), **parameters)
        check(experiment)
        if to_ask:
            check_ready(experiment)


def _parameters(notebook: Path) -> list[str]:
    """The names of its parameters; papermill would ask a notebook that JupyterLab did not save for its language."""
    with without_grammar():
        import nbformat
        from papermill.translators import PythonTranslator

    try:
        cells = nbformat.read(notebook, as_version=4).cells
        tagged = [cell for cell in cells if "parameters" in cell.metadata.get("tags", ())]
        return list(dict.fromkeys(each.name for cell in tagged[:1] for each in PythonTranslator.inspect(cell)))
    except (ValueError, TypeError, KeyError, AttributeError, nbformat.ValidationError) as error:
        raise ConfigError(f"{notebook}: cannot be read as a notebook: {error}") from None


def report_of(notebook: Path, parameters: Mapping[str, Any]) -> Path:
    """Where the executed notebook goes: the experiment's report, or beside the figures of a run of one's own."""
    load = load_collection if collects(notebook) else load_experiment
    experiment = load(experiment_of(notebook), **parameters)
    return (paths.EXPERIMENTS / experiment.name if experiment.default else experiment.out) / "report.ipynb"


def execute(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
    """Run one notebook; the former report is replaced only when all cells ran.

    What fails is told in the result: the cell by the number that it shows and its error, or the kernel's end. The
    notebook as far as it came stays beside the report as `report.failed.ipynb`, unless the run was interrupted.
    """
    if asked_to_end():
        return Result(notebook.stem, report, 0.0, "not run: the run was interrupted before it")
    leave_browser()
    begin_notebook()
    begun = time.monotonic()
    try:
        declare(variables())
        with drafting(report) as draft:
            told, untold, imports = _executed(notebook, draft, report, parameters)
    except Exception as error:  # a folder that cannot be written: reported like a failing cell
        return Result(notebook.stem, report, time.monotonic() - begun, redact(f"{type(error).__name__}: {error}"), True)
    start = (first_cell() or begun) - begun
    return Result(notebook.stem, report, time.monotonic() - begun, told, untold, start, imports)


def _executed(
    notebook: Path, draft: Path, report: Path, parameters: Mapping[str, Any]
) -> tuple[str | None, bool, float]:
    """What went wrong and where it is kept, None where the report is whole and in its place; `untold`, `imports`."""
    with without_grammar():
        from papermill.exceptions import PapermillExecutionError

    failed = report.with_name(f"{report.stem}.failed.ipynb")
    words = "what came is stored"
    try:
        imports = run_cells(notebook, draft, parameters)
        quiet(draft, report)
        clean(draft, report)
        os.replace(draft, report)
    except PapermillExecutionError as error:
        told = redact(f"cell [{error.exec_count}] failed: {error.ename}: {error.evalue}")
        untold = error.ename == StoreError.__name__ or UNWRITTEN in "\n".join(error.traceback)
        said = error.evalue if error.ename in ("Interrupted", "KeyboardInterrupt") else ""
        words = redact(said) if said else words
    except Exception as error:  # a kernel that died, a disk that is full: reported like a failing cell
        told, untold = redact(f"{type(error).__name__}: {error}"), cells_begun() and not isinstance(error, Ended)
    else:
        failed.unlink(missing_ok=True)
        return None, False, imports
    if asked_to_end():
        return f"interrupted; {words}", untold, 0.0
    return told + (_kept(draft, failed) if draft.exists() else ""), untold, 0.0


def _kept(draft: Path, failed: Path) -> str:
    """Where a failed notebook is kept, without keys; what cannot be cleaned (a full disk, a torn draft) is not kept."""
    try:
        clean(draft, failed)
        os.replace(draft, failed)
    except Exception as error:
        return redact(f" ({failed} could not be written: {error})")
    return f" (see {failed})"


def quiet(path: Path, report: Path) -> None:
    """Remove what differs from run to run and is no result (times, paths, versions), and keep links leading home."""
    with without_grammar():
        import nbformat

    book = nbformat.read(path, as_version=4)
    for place in (book, *book.cells):
        for noise in NOISE:
            place.metadata.pop(noise, None)
    home = os.path.relpath(paths.ROOT, report.resolve().parent) if report.resolve().is_relative_to(paths.ROOT) else ".."
    for cell in book.cells:
        if cell.cell_type == "markdown":
            cell["source"] = cell["source"].replace("](../", f"]({home}/")
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell["id"] = "injected-parameters"  # papermill draws one at random
    book.metadata.get("language_info", {}).pop("version", None)
    nbformat.write(book, path)


def _submit(pool: ProcessPoolExecutor, notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Future:
    try:
        return pool.submit(execute, notebook, report, dict(parameters))
    except BrokenProcessPool as error:  # a notebook before this one took the pool down
        future: Future = Future()
        future.set_exception(error)
        return future


def run_all(notebooks: list[Path], parameters: Mapping[str, Any], processes: int | None = None) -> list[Result]:
    """Run notebooks in parallel processes; one whose config says `after:` waits for those, and falls with them.

    One that collects waits for all the others and runs if any of them ran through, on what they made (`collected`).
    The results come in the order of `notebooks`. Parameters that any of them does not have, a key that is not set and
    a price that nobody knows are refused before the first is run; one that collects beside others has no parameters of
    its own.
    """
    gathering = {experiment_of(n) for n in notebooks if collects(n)}
    asking = [experiment_of(n) for n in notebooks if not collects(n)]
    for notebook in notebooks:
        if not asking or not collects(notebook):
            check_parameters(notebook, parameters, True)
    waiting = {experiment_of(n): n for n in notebooks}
    order = list(waiting)
    after = {n: [a for a in load_config(n).after if a in waiting] for n in asking} | dict.fromkeys(gathering, asking)
    results: dict[str, Result] = {}
    running: dict[Future, str] = {}
    lost: dict[str, Result] = {}
    with ProcessPoolExecutor(processes or os.cpu_count(), initializer=begin_process) as pool, stopping(pool, running):
        while waiting or running:
            ready = [name for name in waiting if all(a in results for a in after[name])]
            if not (ready or running):
                raise ConfigError(f"by their `after:` these wait for each other: {', '.join(waiting)}")
            for name in ready:
                notebook = waiting.pop(name)
                broken = [a for a in after[name] if results[a].error]
                if name in gathering and len(broken) < len(asking):
                    given, broken = collected(parameters, asking, broken), []
                else:
                    given = {} if broken and name in gathering else parameters
                report = report_of(notebook, given)
                if broken:
                    results[name] = Result(notebook.stem, report, 0.0, f"not run: {', '.join(broken)} failed before it")
                else:
                    running[_submit(pool, notebook, report, given)] = name
                    lost[name] = Result(notebook.stem, report, 0.0, "a process died (killed, or out of memory)")
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool | SystemExit):
                    results[name] = lost[name]
                elif isinstance(error, Exception):  # the other notebooks go on
                    results[name] = replace(lost[name], error=redact(f"{type(error).__name__}: {error}"))
                else:
                    results[name] = future.result()
    return [results[name] for name in order]
