"""Which executed notebooks a report is made of, each with the folder of its results; what was not executed is named."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from helpers import overview, paths
from helpers.config import collection_names, experiment_names
from helpers.export import NAME
from helpers.json_text import no_constant, no_duplicates
from helpers.overview import Found
from helpers.overview.collecting import SUMMARY
from helpers.report.layout import FIXED
from helpers.run import executed
from helpers.run.notebooks import available, experiment_of
from helpers.types import short_hash

REPORT, FAILED, NUMBERS = "report.ipynb", "report.failed.ipynb", "numbers.json"
#: Of a page that is about many runs, the name of a run is cut here.
LONGEST_RUN = 40


@dataclass(frozen=True)
class Result:
    """One executed notebook and the folder of its results.

    `name` is the experiment's, `run` the folder's where that is another one, else "". `page` names its page without
    the ending. `report` is the file of the executed notebook and `book` what it holds, `folder` that of its results,
    `data` the sources of its numbers, `judges` the model ids that each judge answered as, `parameters` those that it
    ran with. `found` is what its summary.json holds, None where it has none.
    """

    name: str
    run: str
    page: str
    title: str
    report: Path
    folder: Path
    book: Any
    data: frozenset[str]
    judges: Mapping[str, tuple[str, ...]]
    parameters: dict[str, Any]
    found: Found | None

    @property
    def simulated(self) -> bool:
        """Whether any of its numbers is of simulated judges."""
        return "simulated" in self.data

    @property
    def asks(self) -> bool:
        """Whether it is of an experiment, which asks judges; what collects asks nobody."""
        return self.name not in collection_names()

    @property
    def label(self) -> str:
        """What a reader calls it: the experiment, and its run where it has one."""
        return f"{self.name} ({self.run})" if self.run else self.name


def results(folders: Sequence[Path] | None = None) -> list[Result]:
    """The default runs of all notebooks, or the runs in `folders`; in the order of their notebooks.

    Each folder is one of results, or holds such folders at any depth. A folder without any, a notebook that was not
    executed to its end, and results without numbers are a ValueError that says what to run.
    """
    places = _default() if folders is None else [place for folder in folders for place in _within(folder)]
    found = [_read(report, folder) for report, folder in dict.fromkeys(places)]
    if not found:
        raise ValueError(f"{paths.NOTEBOOKS}: no notebooks here, so there is nothing to report")
    order = {experiment_of(notebook): at for at, notebook in enumerate(available().values())}
    found.sort(key=lambda each: (order.get(each.name, len(order)), each.name, each.run))
    return _paged(found)


def _default() -> list[tuple[Path, Path]]:
    return [_placed(paths.FIGURES / experiment_of(notebook)) for notebook in available().values()]


def _placed(folder: Path) -> tuple[Path, Path]:
    """The executed notebook of a folder of results, and the folder: those of the default runs lie apart."""
    own = folder.parent == paths.FIGURES and folder.name in (*experiment_names(), *collection_names())
    return (paths.EXPERIMENTS / folder.name if own else folder) / REPORT, folder


def _within(folder: Path) -> list[tuple[Path, Path]]:
    folder = folder.expanduser().resolve()
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such folder; --results names folders that notebooks wrote their results to")
    made = {path.parent for name in (REPORT, FAILED, SUMMARY) for path in folder.rglob(name)}
    if not made:
        raise ValueError(f"{folder}: neither it nor a folder in it holds a {REPORT}: `recuse run` makes one")
    return [_placed(each) for each in sorted(made)]


def _read(report: Path, folder: Path) -> Result:
    name, data, judges = _numbers(folder, report)
    book = _executed(report, name)
    found = overview.collecting.read(folder) if (folder / SUMMARY).is_file() else None
    own = "" if folder.name == name and folder.parent == paths.FIGURES else folder.name
    own = folder.parent.name if own == name else own
    first = book.cells[0].source.strip().partition("\n")[0] if book.cells else ""
    title = first.lstrip("# ") or name
    run = own.removeprefix(f"{name}-")[:LONGEST_RUN]
    found = replace(found, run=run) if found else None
    return Result(name, run, name, title, report, folder, book, data, judges, executed.parameters(book), found)


def _numbers(folder: Path, report: Path) -> tuple[str, frozenset[str], dict[str, tuple[str, ...]]]:
    """The experiment, the sources of data and the judges with their returned model ids, as numbers.json names them."""
    path, name = folder / NUMBERS, _known(folder)
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constant)
        provenance = content["provenance"]
        told, sources = provenance["experiment"], provenance["data"]
        data = {sources} if isinstance(sources, str) else set(map(str, sources))
        judges = {str(judge): tuple(map(str, ids)) for judge, ids in provenance.get("judges", {}).items()}
    except OSError:
        raise ValueError(f"{path}: not there, so {_unexecuted(report, name)}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: no numbers of a run ({type(error).__name__}: {error}); {_run(name)}") from None
    if not isinstance(told, str) or not NAME.fullmatch(told):
        raise ValueError(f"{path}: provenance.experiment is {told!r}, expected the name of an experiment")
    return told, frozenset(data), judges


def _known(folder: Path) -> str:
    """The experiment that a folder of results is named after, "" where it is named otherwise."""
    names = (*experiment_names(), *collection_names())
    return next((name for name in names if re.fullmatch(rf"{name}(-[0-9a-f]+)?", folder.name)), "")


def _executed(report: Path, name: str) -> Any:
    """The notebook, executed from top to bottom; anything else is a ValueError that says what to run."""
    failed = report.with_name(FAILED)
    if failed.is_file():
        raise ValueError(f"{failed}: the last run of this notebook failed; see there why. {_run(name)}")
    if not report.is_file():
        raise ValueError(f"{report}: not there, so {_unexecuted(report, name)}")
    try:
        book = executed.load(report)
    except ValueError as error:
        raise ValueError(f"{error}; {_run(name)}") from None
    for number, cell in enumerate(book.cells, 1):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        errors = [each for each in cell.outputs if each.output_type == "error"]
        if errors:
            raise ValueError(f"{report}: cell {number} failed with {errors[0].ename}: {errors[0].evalue}. {_run(name)}")
        if cell.execution_count is None:
            raise ValueError(f"{report}: cell {number} was not executed. {_run(name)}")
    return book


def _unexecuted(report: Path, name: str) -> str:
    return f"the notebook {name or report.parent.name} was not executed. {_run(name)}"


def _run(name: str) -> str:
    notebook = next((each for each, path in available().items() if experiment_of(path) == name), "")
    return f"This runs it: recuse run {notebook}".rstrip()


def _paged(found: Iterable[Result]) -> list[Result]:
    """Each with a page of its own: the experiment's name, with its run, and a hash where two would share one."""
    paged, taken = [], {file.removesuffix(".html") for file in FIXED}
    for each in found:
        page = each.name + (f"-{re.sub('[^a-z0-9_-]+', '_', each.run.lower())}" if each.run else "")
        page = page if page not in taken else f"{page}-{short_hash(each.folder)}"
        taken.add(page)
        paged.append(replace(each, page=page))
    return paged
