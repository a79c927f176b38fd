"""Which executed notebooks a report is made of, and what stands in their folders of results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from helpers import overview, paths
from helpers.config import collection_names, experiment_names
from helpers.export import NAME
from helpers.json_text import document
from helpers.overview import SUMMARY, Found
from helpers.run import notebooks
from helpers.run.notebooks import available, experiment_of
from helpers.types import short_hash

REPORT, FAILED, NUMBERS = "report.ipynb", "report.failed.ipynb", "numbers.json"
#: Of a page that is about many runs, the name of a run is cut here.
LONGEST_RUN = 40
#: The pages that are not of one notebook: file, name, and what stands there.
FIXED = {
    "index.html": ("Overview", "what is known of these judges, in a few lines"),
    "judges.html": ("Judges", "a card for each judge: what was found, what was not, what could not be told"),
    "verdicts.html": ("Verdicts", "flipped, changed and own-preferring verdicts, with replies, to filter"),
    "downloads.html": ("Downloads", "figures, tables and numbers as files"),
    "reference.html": ("Numbers", "what each number means, how it is counted and where it fails"),
    "functions.html": ("Functions", "what the package offers, from its docstrings"),
    "glossary.html": ("Glossary", "what the words mean"),
}


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

    @property
    def link(self) -> str:
        """What links call its page; that of the overview is not the overview of the report."""
        return self.label if self.asks else f"{self.label} notebook"


def results(folders: Sequence[Path] | None = None) -> list[Result]:
    """The default runs of all notebooks, or the runs in `folders`; in the order of their notebooks.

    Each folder is one of results, or holds such folders at any depth. A folder without any, a notebook that was not
    executed to its end, and results without numbers are a ValueError that says what to run.
    """
    names = [experiment_of(notebook) for notebook in available().values()]
    if folders is None and not names:
        raise ValueError(f"{paths.NOTEBOOKS}: no notebooks here, so there is nothing to report")
    default = [paths.FIGURES / name for name in names]
    chosen = default if folders is None else [each for folder in folders for each in _within(folder)]
    found = [_read(folder) for folder in dict.fromkeys(chosen)]
    order = {name: at for at, name in enumerate(names)}
    found.sort(key=lambda each: (order.get(each.name, len(order)), each.name, each.run))
    return _paged(found)


def _within(folder: Path) -> list[Path]:
    folder = folder.expanduser().resolve()
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such folder; --results names folders that notebooks wrote their results to")
    made = {path.parent for name in (REPORT, FAILED, SUMMARY) for path in folder.rglob(name)}
    if not made:
        raise ValueError(f"{folder}: neither it nor a folder in it holds a {REPORT}: `recuse run` makes one")
    return sorted(made)


def _read(folder: Path) -> Result:
    # The executed notebooks of default runs lie apart from their results.
    default = folder.parent == paths.FIGURES and folder.name in (*experiment_names(), *collection_names())
    report = (paths.EXPERIMENTS / folder.name if default else folder) / REPORT
    name, data, judges = _numbers(folder)
    book = _executed(report, name)
    found = overview.read(folder) if (folder / SUMMARY).is_file() else None
    own = "" if default else folder.parent.name if folder.name == name else folder.name
    run = own.removeprefix(f"{name}-")[:LONGEST_RUN]
    first = book.cells[0].source.strip().partition("\n")[0] if book.cells else ""
    found = replace(found, run=run) if found else None
    parameters = notebooks.parameters(book)
    return Result(name, run, name, first.lstrip("# ") or name, report, folder, book, data, judges, parameters, found)


def _numbers(folder: Path) -> tuple[str, frozenset[str], dict[str, tuple[str, ...]]]:
    """The experiment, the sources of data and the judges with their returned model ids, as numbers.json names them."""
    path, named = folder / NUMBERS, re.sub(r"-[0-9a-f]+$", "", folder.name)
    try:
        provenance = document(path.read_text(encoding="utf-8"))["provenance"]
        name, sources = provenance["experiment"], provenance["data"]
        judges = {str(judge): tuple(map(str, ids)) for judge, ids in provenance.get("judges", {}).items()}
        data = frozenset({sources} if isinstance(sources, str) else map(str, sources))
    except OSError:
        raise ValueError(f"{path}: not there, so the notebook {named} was not executed. {_run(named)}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: no numbers of a run ({type(error).__name__}: {error}); {_run(named)}") from None
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(f"{path}: provenance.experiment is {name!r}, expected the name of an experiment")
    return name, data, judges


def _executed(report: Path, name: str) -> Any:
    """The notebook, executed from top to bottom; anything else is a ValueError that says what to run."""
    failed = report.with_name(FAILED)
    if failed.is_file():
        raise ValueError(f"{failed}: the last run of this notebook failed; see there why. {_run(name)}")
    if not report.is_file():
        raise ValueError(f"{report}: not there, so the notebook {name} was not executed. {_run(name)}")
    try:
        book = notebooks.load(report)
    except ValueError as error:
        raise ValueError(f"{error}; {_run(name)}") from None
    for number, cell in enumerate(book.cells, 1):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        for each in cell.outputs:
            if each.output_type == "error":
                raise ValueError(f"{report}: cell {number} failed with {each.ename}: {each.evalue}. {_run(name)}")
        if cell.execution_count is None:
            raise ValueError(f"{report}: cell {number} was not executed. {_run(name)}")
    return book


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
