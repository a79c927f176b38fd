"""The frame of every page of a report, and which executed notebooks it is made of."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from helpers import overview, paths
from helpers.config import collection_names, experiment_names
from helpers.escaping import visible
from helpers.export import NAME
from helpers.json_text import no_constant, no_duplicates
from helpers.overview import SUMMARY, Found
from helpers.run import notebooks
from helpers.run.notebooks import available, experiment_of
from helpers.tables import format_table
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
    found = overview.read(folder) if (folder / SUMMARY).is_file() else None
    own = "" if folder.name == name and folder.parent == paths.FIGURES else folder.name
    own = folder.parent.name if own == name else own
    first = book.cells[0].source.strip().partition("\n")[0] if book.cells else ""
    title = first.lstrip("# ") or name
    run = own.removeprefix(f"{name}-")[:LONGEST_RUN]
    found = replace(found, run=run) if found else None
    return Result(name, run, name, title, report, folder, book, data, judges, notebooks.parameters(book), found)


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
        book = notebooks.load(report)
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


ASSETS = Path(__file__).parent / "assets"
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
_PARTS = re.compile(r"(`[^`]*`)")


@dataclass(frozen=True)
class Link:
    """A page by its file and by what it is called."""

    file: str
    name: str


@dataclass(frozen=True)
class Page:
    """One page: its file, its title, its body, whether simulated numbers stand on it, and its headings with address."""

    file: str
    title: str
    body: Markup
    simulated: bool = False
    headings: Sequence[tuple[str, str]] = ()


def part(template: str, **given: Any) -> Markup:
    """One template of this room with what it is given, every text of which is shown as text."""
    return Markup(_environment().get_template(template).render(**given))


def coded(text: str) -> Markup:
    """A text of ours in which what stands in `backticks` is code.

    >>> coded("a < b, `x < y`")
    Markup('a &lt; b, <code>x &lt; y</code>')
    """
    pieces = _PARTS.split(visible(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(piece[1:-1]) if at % 2 else escape(piece) for at, piece in enumerate(pieces)
    )


def document(page: Page, groups: Mapping[str, Sequence[Link]]) -> bytes:
    """The whole page; `groups` are the links to all pages, in groups."""
    style, script = _asset("report.css"), _asset("report.js")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src 'self' data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    whole = part("page.html", page=page, groups=groups, policy=Markup(policy), style=style, script=script)
    return f"{whole}\n".encode()


@cache
def _asset(name: str) -> Markup:
    """A file of ours that stands in each page as it is; one that could end its element is a ValueError."""
    text = (ASSETS / name).read_text(encoding="utf-8")
    if "</" in text or "<!--" in text:
        raise ValueError(f"{name} holds what would end the element that it stands in")
    return Markup(text)


def _hash(text: str) -> str:
    """How a policy names a script or style that stands in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["coded"] = coded
    made.globals["format_table"] = format_table
    made.globals["table"] = made.get_template("macros.html").module.table
    return made


def _seen(value: Any) -> Any:
    """Texts without signs that nobody would see; what is a page already is left as it is."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else visible(value)
