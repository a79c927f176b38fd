"""Which executed notebooks a report is made of; what is missing or failed is named with the command that runs it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import overview, paths
from ..config import experiment_names
from ..overview import SUMMARY, Found, Provenance
from ..run import notebooks
from ..run.notebooks import INJECTED, available, experiment_of
from ..types import short_hash

REPORT, FAILED, NUMBERS = "report.ipynb", "report.failed.ipynb", "numbers.json"
#: The pages that are not of one notebook.
FIXED = {
    **{"index": "Findings", "judges": "Judges", "verdicts": "Verdicts"},
    **{"numbers": "All numbers", "glossary": "Glossary"},
}


@dataclass(frozen=True)
class Run:
    """One executed notebook: the name of its page, what readers call it, its folder of results and what these hold.

    `report` is the file of the executed `book`, `found` what its summary.json holds, None where it has none.
    """

    page: str
    label: str
    folder: Path
    report: Path
    book: Any
    made: Provenance
    found: Found | None

    @property
    def title(self) -> str:
        """The question of the notebook."""
        first = self.book.cells[0].source.strip().partition("\n")[0] if self.book.cells else ""
        return first.lstrip("# ") or self.made.experiment

    @property
    def simulated(self) -> bool:
        """Whether any of its numbers is of simulated judges."""
        return "simulated" in ([self.made.data] if isinstance(self.made.data, str) else self.made.data)

    @property
    def asks(self) -> bool:
        """Whether it is of an experiment, which asks judges; what collects asks nobody."""
        return self.made.experiment not in experiment_names(collecting=True)


def find_runs(folders: Sequence[Path] | None = None) -> tuple[list[Run], list[str]]:
    """The default runs of all notebooks, or the runs in `folders`, in the order of their notebooks; what is skipped.

    Each folder is one of results, or holds such folders at any depth. A run that is missing, failed, was not executed
    to its end or has a damaged file is skipped: a sentence names it and the command that makes it. It is a ValueError
    if no run is left.
    """
    names = [experiment_of(notebook) for notebook in available().values()]
    if folders is None and not names:
        raise ValueError(f"{paths.NOTEBOOKS}: no notebooks here, so there is nothing to report")
    default = [paths.FIGURES / name for name in names]
    chosen = default if folders is None else [each for folder in folders for each in _within(folder)]
    found, skipped = dict[str, Run](), list[str]()
    for folder in dict.fromkeys(chosen):
        try:
            run = _read(folder, {*found, *FIXED})
        except ValueError as error:
            skipped.append(f"{error}. This runs it: {_command(folder)}")
        else:
            found[run.page] = run
    if not found:
        raise ValueError("\n".join(skipped))
    order = {name: at for at, name in enumerate(names)}
    return sorted(found.values(), key=lambda run: (order.get(run.made.experiment, len(order)), run.label)), skipped


def _within(folder: Path) -> list[Path]:
    folder = folder.expanduser().resolve()
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such folder; --results names folders that notebooks wrote their results to")
    made = {path.parent for name in (REPORT, FAILED, SUMMARY) for path in folder.rglob(name)}
    if not made:
        raise ValueError(f"{folder}: neither it nor a folder in it holds a {REPORT}: `recuse run` makes one")
    return sorted(made)


def _report(folder: Path) -> Path:
    """The executed notebook of a run; that of a default run lies apart from its results."""
    default = folder.parent == paths.FIGURES and folder.name in map(experiment_of, available().values())
    return (paths.REPORTS / folder.name if default else folder) / REPORT


def _made(folder: Path) -> Provenance:
    path = folder / NUMBERS
    try:
        return overview.read_results(overview.Numbers, path).provenance
    except OSError:
        raise ValueError(f"{path}: not there, so its notebook was not executed") from None


def _read(folder: Path, taken: set[str]) -> Run:
    """One run, with a page that is not `taken`."""
    made, report = _made(folder), _report(folder)
    book = _executed(report, made.experiment)
    found = overview.read(folder) if (folder / SUMMARY).is_file() else None
    name = folder.parent.name if folder.name == made.experiment else folder.name
    run = "" if report == paths.REPORTS / made.experiment / REPORT else name.removeprefix(f"{made.experiment}-")[:40]
    label = f"{made.experiment} ({run})" if run else made.experiment
    page = re.sub(r"[^a-z0-9_-]+", "-", label.lower()).strip("-")
    page = f"{page}-{short_hash(folder)}" if page in taken else page
    return Run(page, label, folder, report, book, made, found.model_copy(update={"run": run}) if found else None)


def _executed(report: Path, name: str) -> Any:
    """The notebook, executed from top to bottom; anything else is a ValueError."""
    if (failed := report.with_name(FAILED)).is_file():
        raise ValueError(f"{failed}: the last run of this notebook failed; see there why")
    if not report.is_file():
        raise ValueError(f"{report}: not there, so the notebook {name} was not executed")
    book = notebooks.load(report)
    for number, cell in enumerate(book.cells, 1):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        for each in cell.outputs:
            if each.output_type == "error":
                raise ValueError(f"{report}: cell {number} failed with {each.ename}: {each.evalue}")
        if cell.execution_count is None:
            raise ValueError(f"{report}: cell {number} was not executed")
    return book


def _command(folder: Path) -> str:
    """The command that makes a run again, with the parameters that it was given."""
    settings, name = dict[str, Any](), folder.name
    for report in (_report(folder), _report(folder).with_name(FAILED)):
        with suppress(ValueError, OSError):
            settings = notebooks.parameters(notebooks.load(report), (INJECTED,))
    with suppress(ValueError):
        name = _made(folder).experiment
    notebook = [each for each, path in available().items() if name.startswith(experiment_of(path))]
    words = [word for key, value in settings.items() for word in ("-p", key, json.dumps(value))]
    return shlex.join(["recuse", "run", *notebook, *words])
