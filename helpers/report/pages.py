"""A report: which executed notebooks it is made of, and its pages in one folder that needs no network."""

from __future__ import annotations

import ast
import base64
import hashlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from .. import export, overview, paths
from ..config import experiment_names
from ..config.yaml_text import read_yaml
from ..escaping import cut, markdown, visible
from ..explain import UNITS, Section, rows, sections
from ..export import NAME
from ..figures.cards import MEANINGS
from ..figures.points import SOURCES
from ..overview import SUMMARY, Found, read_claims
from ..run import notebooks
from ..run.control import KINDS
from ..run.notebooks import available, experiment_of
from ..run.showing import WORDS
from ..tables import format_table
from ..types import short_hash
from . import fragments, verdicts
from .fragments import Place, cell_words
from .verdicts import Shelf, Verdicts

ASSETS = Path(__file__).parent / "assets"
_PARTS = re.compile(r"(`[^`]*`)")


REPORT, FAILED, NUMBERS = "report.ipynb", "report.failed.ipynb", "numbers.json"
#: Of a page that is about many runs, the name of a run is cut here.
LONGEST_RUN = 40
#: The pages that are not of one notebook: file, name, and what stands there.
FIXED = {
    "index.html": ("Overview", "what is known of these judges, in a few lines"),
    "judges.html": ("Judges", "a card for each judge: what was found, what was not, what could not be estimated"),
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
    judges: Mapping[str, Sequence[str]]
    parameters: dict[str, Any]
    found: Found | None

    @property
    def simulated(self) -> bool:
        """Whether any of its numbers is of simulated judges."""
        return "simulated" in self.data

    @property
    def asks(self) -> bool:
        """Whether it is of an experiment, which asks judges; what collects asks nobody."""
        return self.name not in experiment_names(collecting=True)

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
    default = folder.parent == paths.FIGURES and folder.name in map(experiment_of, available().values())
    report = (paths.REPORTS / folder.name if default else folder) / REPORT
    name, data, judges = _numbers(folder)
    book = _executed(report, name)
    found = overview.read(folder) if (folder / SUMMARY).is_file() else None
    suffix = "" if default else folder.parent.name if folder.name == name else folder.name
    run = suffix.removeprefix(f"{name}-")[:LONGEST_RUN]
    first = book.cells[0].source.strip().partition("\n")[0] if book.cells else ""
    found = found.model_copy(update={"run": run}) if found else None
    parameters = notebooks.parameters(book)
    return Result(name, run, name, first.lstrip("# ") or name, report, folder, book, data, judges, parameters, found)


def _numbers(folder: Path) -> tuple[str, frozenset[str], Mapping[str, Sequence[str]]]:
    """The experiment, the sources of data and the judges with their returned model ids, as numbers.json names them."""
    path, named = folder / NUMBERS, re.sub(r"-[0-9a-f]+$", "", folder.name)
    try:
        told = overview.read_results(overview.Numbers, path).provenance
    except OSError:
        raise ValueError(f"{path}: not there, so the notebook {named} was not executed. {_run(named)}") from None
    except ValueError as error:
        raise ValueError(f"{error}. {_run(named)}") from None
    if not NAME.fullmatch(told.experiment):
        raise ValueError(f"{path}: provenance.experiment is {told.experiment!r}, expected the name of an experiment")
    return told.experiment, frozenset({told.data} if isinstance(told.data, str) else told.data), told.judges


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


@dataclass(frozen=True)
class Page:
    """One page: its file, its title, its body, whether simulated numbers stand on it, and its headings with address."""

    file: str
    title: str
    body: Markup
    simulated: bool = False
    headings: Sequence[tuple[str, str]] = ()


def part(template: str, **values: Any) -> Markup:
    """One template of this room with its values, every text of which is shown as text."""
    return Markup(_environment().get_template(template).render(**values))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        # Texts without signs that nobody would see; what is a page already is left as it is.
        finalize=lambda value: visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"coded": coded, "linked": linked, "sha256": sha256}
    made.globals |= {"format_table": format_table, "rows_of": rows, "cut": cut}
    return made


def coded(text: str) -> Markup:
    """A text of ours in which what stands in `backticks` is code.

    >>> coded("a < b, `x < y`")
    Markup('a &lt; b, <code>x &lt; y</code>')
    """
    pieces = _PARTS.split(visible(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(piece[1:-1]) if at % 2 else escape(piece) for at, piece in enumerate(pieces)
    )


def linked(text: str, section: Section, page: str) -> Markup:
    """The same with each other number of the section as a link to it."""
    ids = sorted((id for id in section.estimands if "_" in id and id != page), key=len, reverse=True)
    # Ids are letters, digits and underscores, of which none is a sign of HTML.
    words = re.compile(rf"(?<![\w&;])({'|'.join(map(re.escape, ids)) or '(?!)'})(?![\w;])")
    return Markup(words.sub(lambda found: f'<a href="#{section.module}-{found[1]}">{found[1]}</a>', str(coded(text))))


def sha256(text: str) -> str:
    """How a policy names a script or style that stands in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def word_groups() -> dict[str, dict[str, str]]:
    """The glossary: terms of the field, outcomes, marks of verdicts, words of the judge card, data sources, units."""
    words = read_yaml(ASSETS / "glossary.yaml")
    words["Marks of verdicts"] = KINDS
    words["Words of the judge card"] = {word: text.removeprefix(f"{word}: ") for word, text in MEANINGS.items()}
    sources = {f"{name}: {SOURCES.get(name, name)}": text.replace("**", "") for name, text in WORDS.items()}
    return {**words, "Sources of data": sources, "Units": UNITS}


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
#: Name, signature and paragraphs of a function or record.
Function = tuple[str, str, list[str]]


def list_rooms() -> Iterator[tuple[str, list[str], list[Function]]]:
    """Every room that offers something, by name, with its paragraphs; a package offers what its `__init__` names."""
    home = paths.PACKAGE
    for path in sorted([*home.glob("[!_]*.py"), *home.rglob("*/__init__.py"), *(home / "stats").glob("[!_]*.py")]):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        offered = {name: node for name, node in _offered(path, tree) if not name.startswith("_")}
        if offered:
            room = ".".join(path.relative_to(home).with_suffix("").parts).removesuffix(".__init__")
            yield room, _paragraphs(tree), [_function(name, node) for name, node in sorted(offered.items())]


def _offered(path: Path, tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """The definitions of a module by name, and those that a package takes from its own modules."""
    for node in tree.body:
        if isinstance(node, Definition):
            yield node.name, node
        elif isinstance(node, ast.ImportFrom) and node.level == 1 and path.name == "__init__.py":
            source = path.parent / f"{node.module}.py"
            if source.is_file():
                names = {each.name: each.asname or each.name for each in node.names}
                inner = _offered(source, ast.parse(source.read_text(encoding="utf-8")))
                yield from ((names[name], each) for name, each in inner if name in names)


def _function(name: str, node: Definition) -> Function:
    words = _paragraphs(node)
    fields: Any = [each for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(node, ast.ClassDef)]
    node.name, node.decorator_list, node.body = name, [], fields
    return name, ast.unparse(node).rstrip(":"), words


def _paragraphs(node: Definition | ast.Module) -> list[str]:
    """The docstring in paragraphs, lines joined; examples keep their lines."""
    parts = inspect.cleandoc(ast.get_docstring(node) or "").split("\n\n")
    return [part if part.startswith(">>>") else " ".join(part.split()) for part in parts if part.strip()]


@cache
def look_up_pages() -> tuple[Page, ...]:
    """The pages that are the same whatever the results are."""
    groups, rooms = word_groups(), list(list_rooms())
    return (
        Page("reference.html", "What every number means", part("reference.html", sections=sections()),
             headings=[(each.title, each.module) for each in sections()]),
        Page("functions.html", "What the package offers", part("functions.html", rooms=rooms),
             headings=[(name, f"helpers-{name.replace('.', '-')}") for name, *_ in rooms]),
        Page("glossary.html", "Glossary", part("glossary.html", groups=groups),
             headings=[(title, title.lower().replace(" ", "-")) for title in groups]),
    )  # fmt: skip


def files(found: Sequence[Result], marked: Sequence[Verdicts]) -> dict[str, bytes]:
    """Every file of a report by its place in it, pages first; the same bytes for the same results and verdicts."""
    shelf = Shelf()
    downloads = [(each, verdicts.downloads(each, shelf)) for each in found]
    rows = verdicts.without_doubles([row for each in marked for row in each.rows])
    simulated = any(each.simulated for each in found)
    judges = Place()
    cards = verdicts.cards(found, {row.judge for row in rows}, judges)
    flips = part("verdicts.html", found=marked, rows=rows, kinds=KINDS, choices=verdicts.choices(rows))
    experiments = {row.experiment for row in rows}
    notebooks = [_notebook(each, found, shelf, files, experiments) for each, files in downloads]
    shelves = part("downloads.html", shelves=downloads, files=shelf.files, sources=sorted(shelf.sources.items()))
    pages = [
        Page("index.html", "Which judges should be distrusted for what?", _index(found), simulated),
        *notebooks,
        Page("judges.html", "Judges", part("judges.html", sources=cards, headings=judges.headings),
             "simulated" in cards, judges.headings),
        Page("verdicts.html", "Which verdicts were flipped, changed or for the judge's own?", flips,
             any(row.data == "simulated" for row in rows)),
        Page("downloads.html", "Downloads", shelves, simulated, [(each.label, each.page) for each in found]),
        *look_up_pages(),
    ]  # fmt: skip
    (index, *others) = [(file, name) for file, (name, _) in FIXED.items()]
    runs = [(f"{each.page}.html", each.link) for each in found]
    links = {"Results": [index, *runs, *others[:3]], "Look up": others[3:]}
    made = {page.file: f"{part('page.html', page=page, groups=links)}\n".encode() for page in pages}
    return {**made, **verdicts.tabled(marked), **shelf.files}


def _index(results: Sequence[Result]) -> Markup:
    found = [each.found for each in results if each.found]
    # The overview also checks claims that belong to no experiment; both pages must give the same count.
    checked = next((read_claims(each.folder / "claims.csv") for each in results if not each.asks), None)
    bottom_line = cell_words(markdown(overview.bottom_line(found, checked=checked)), Place())
    pages = [(f"{each.page}.html", each.link, each.title) for each in results]
    pages += [(file, name, words) for file, (name, words) in FIXED.items() if file != "index.html"]
    links = {name: f"{each.page}.html" for each in results for name in (each.label, each.name)}
    return part("index.html", bottom_line=bottom_line, rows=overview.rows(found), links=links, pages=pages)


def _notebook(result: Result, results: Sequence[Result], shelf: Shelf, files: verdicts.Files, marked: set[str]) -> Page:
    place = Place(leads=partial(verdicts.leads, home=result.report.parent, pages=results, shelf=shelf))
    try:
        parts = list(fragments.parts(result.book, place, verdicts.pictures(files, shelf)))
    except ValueError as error:
        raise ValueError(f"{result.report}: {error}") from None
    section = next((each.module for each in sections() if result.name in each.experiments), "")
    body = part("notebook.html", result=result, parts=parts, verdicts=result.label in marked, section=section)
    return Page(f"{result.page}.html", result.title, body, result.simulated, place.headings)


#: The list of what a report holds, with the sha256 of each file: how a former one is known.
CONTENTS, MADE_BY = "contents.json", {"made_by": "recuse report"}


def write(folder: Path, made: Mapping[str, bytes]) -> None:
    """Put the files of a report (by their place in it) into `folder`, and take away what an earlier one left there.

    A folder that holds anything but an earlier report is a ValueError. Texts are written without keys. What was changed
    in a file that this report does not have stays.
    """
    check(folder)
    export.renew(made, folder, CONTENTS, MADE_BY)


def check(folder: Path) -> None:
    """Refuse a folder that is not ours to write into, before anything is read."""
    there = export.list_contents(folder, "--to")
    if there and export.recorded(folder, CONTENTS, MADE_BY) is None:
        raise ValueError(
            f"{folder}: not empty ({', '.join(there[:5])}) and no earlier report; --to names another folder"
        )


def report(folder: Path, places: Sequence[Path] | None, tell: Callable[[str], None]) -> Mapping[str, int]:
    """Make the report of the default runs, or of those in `places`: how many notebooks, pages and files it has.

    `tell` hears which replies are being read.
    """
    check(folder)
    found, marked = results(places or None), []
    for each in found:
        if each.asks:
            tell(f"reading the stored replies of {each.label}")
            marked.append(verdicts.marked_verdicts(each))
    made = files(found, marked)
    write(folder, made)
    return {"notebooks": len(found), "pages": sum(name.endswith(".html") for name in made), "files": len(made)}
