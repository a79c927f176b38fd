"""All pages of a report as one folder that needs no network: never written over what is no report."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from markupsafe import Markup

from helpers import export, overview, paths
from helpers.escaping import markdown, visible
from helpers.explain import UNITS, Section, rows, sections
from helpers.figures.cards import MEANINGS
from helpers.figures.panels import SOURCES
from helpers.json_text import no_duplicates
from helpers.overview import read_claims
from helpers.report import fragments, verdicts
from helpers.report.fragments import Place, said
from helpers.report.layout import FIXED, Link, Page, Result, coded, document, part, results
from helpers.report.verdicts import KINDS, Shelf, Verdicts, marked_verdicts
from helpers.run.showing import WORDS

TERMS = {
    "anchor": "A number that is shown before an answer is asked for, and that should not matter to it.",
    "audit": "One judge and a frozen battery of manipulations, each with its control on the same question.",
    "baseline": "The fixed opponent that candidates are compared with where answers are judged in pairs.",
    "candidate": "A model whose answers are judged.",
    "claim": "A number that somebody printed, with its place; notebooks recompute it where its data were published.",
    "cluster": "What is taken for independent of all else of its kind: a question, an article or a scenario. Judgments "
    "of one question are not, so intervals resample questions, never rows.",
    "condition": "What is changed on purpose between judgments of the same answers: a hint, an edit, a treatment.",
    "control": "The judgment of the same material without the manipulation.",
    "estimand": "What a number is a number of: words, formula, who counts and who does not. The reference lists all.",
    "estimate": "A number with its interval, its `n` and its number of clusters.",
    "excess": "How much more often a vendor's own judges prefer its answers than other vendors' judges do.",
    "family preference": "A judge prefers answers of its own vendor that another model wrote.",
    "flip": "A verdict that is another one when the order of the answers is exchanged. Noise flips verdicts too.",
    "hint": "What a judge is told of who wrote which answer.",
    "interval": "Values that are compatible with what was seen, at 95 % unless it says otherwise; there is none below "
    "ten clusters.",
    "judge": "A model that is asked which answer is better.",
    "key": "The name of a reply: a hash of everything that the model saw and that shapes its reply.",
    "length-controlled effect": "What is left of the preference for a wording when both texts have as many letters.",
    "outcome": "What became of a reply. Only `ok` carries a verdict; all others are counted and shown, never scored.",
    "percentage point (pp)": "A difference of shares times a hundred.",
    "position bias": "A preference for a place in which an answer is shown, whatever stands there.",
    "primacy": "How much more often the place shown first wins than the second.",
    "self-preference": "A judge prefers what it wrote itself over equally good answers.",
    "slot": "The place in which an answer is shown; its rank is the place that it is given.",
    "smallest detectable effect": "The true effect that would be found in four of five such runs. It stands beside "
    "every result that shows nothing.",
    "trial": "One question put to one judge under one condition. With its reply and its verdict it is a judgment.",
    "verdict": "What a judge decided, read from its reply.",
    "wording": "How one content is put: plain, padded, as a list, in a confident tone; no sentence is changed.",
}
OUTCOMES = {
    "ok": "A verdict was read.",
    "unparsed": "No verdict in the required form was found.",
    "conflict": "Two verdicts that contradict each other were found.",
    "invalid_ranking": "The ranking does not hold each label exactly once.",
    "no_option": "None of the options was chosen.",
    "two_options": "More than one option was chosen where one was asked for.",
    "refused": "The model refused.",
    "filtered": "A filter of the provider stopped the reply.",
    "truncated": "The reply was cut at its limit of tokens.",
    "empty": "The reply holds no text.",
    "missing": "No reply is stored.",
}


@dataclass(frozen=True)
class Terms:
    """One part of the glossary."""

    title: str
    address: str
    terms: Mapping[str, Markup]


def word_groups() -> list[Terms]:
    """All parts: words of the field, outcomes, marks of verdicts, words of the judge card, sources of data, units."""
    told = {f"{name}: {SOURCES.get(name, name)}": words.replace("**", "") for name, words in WORDS.items()}
    card = {word: meaning.removeprefix(f"{word}: ") for word, meaning in MEANINGS.items()}
    parts = {
        "Words": TERMS,
        "Outcomes of a reply": OUTCOMES,
        "Marks of verdicts": KINDS,
        "Words of the judge card": card,
        "Sources of data": told,
        "Units": UNITS,
    }
    return [
        Terms(title, title.lower().replace(" ", "-"), {term: coded(_sentence(words)) for term, words in terms.items()})
        for title, terms in parts.items()
    ]


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith('.') else '.'}"


HOME = paths.ROOT / "helpers"
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Function:
    """One function or record: how it is called and what it says of itself, paragraph by paragraph."""

    name: str
    address: str
    signature: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Room:
    """A room of the package, or a module of it: what it is for and what it offers."""

    name: str
    address: str
    words: tuple[str, ...]
    entries: tuple[Function, ...]


def list_rooms() -> list[Room]:
    """Every room that offers something, in order of name; a package offers what its `__init__` names."""
    found = []
    for path in sorted([*HOME.glob("*.py"), *HOME.rglob("*/__init__.py"), *(HOME / "stats").glob("*.py")]):
        name = ".".join(path.relative_to(HOME).with_suffix("").parts).removesuffix(".__init__")
        if name.startswith("__"):
            continue
        tree = _tree(path)
        offered = {called: node for called, node in _offered(path, tree) if not called.startswith("_")}
        entries = tuple(_function(name, called, node) for called, node in sorted(offered.items()))
        if entries:
            found.append(Room(name, _address(name), _paragraphs(tree), entries))
    return found


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _offered(path: Path, tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """The definitions of a module by name, and those that a package takes from its own modules."""
    for node in tree.body:
        if isinstance(node, Definition):
            yield node.name, node
        elif isinstance(node, ast.ImportFrom) and path.name == "__init__.py":
            yield from _taken(path, node)


def _taken(path: Path, taking: ast.ImportFrom) -> Iterator[tuple[str, Definition]]:
    """What `__init__` takes from a module of its own package, by the name that it has there."""
    source = paths.ROOT.joinpath(*(taking.module or "").split(".")).with_suffix(".py")
    if source.parent == path.parent and source.is_file():
        defined = {node.name: node for node in _tree(source).body if isinstance(node, Definition)}
        yield from ((each.asname or each.name, defined[each.name]) for each in taking.names if each.name in defined)


def _function(room: str, called: str, node: Definition) -> Function:
    return Function(called, _address(f"{room}.{called}"), _signature(called, node), _paragraphs(node))


def _signature(called: str, node: Definition) -> str:
    """How it is called; of a record its fields."""
    if isinstance(node, ast.ClassDef):
        fields = [ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign)]
        bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
        return "\n".join([f"class {called}{bases}", *(f"    {each}" for each in fields)])
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    before = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"{before} {called}({ast.unparse(node.args)}){returns}"


def _paragraphs(node: Definition | ast.Module) -> tuple[str, ...]:
    """The docstring in paragraphs, lines joined; examples keep their lines."""
    told = inspect.cleandoc(ast.get_docstring(node) or "")
    parts = [part for part in told.split("\n\n") if part.strip()]
    return tuple(part if part.startswith(">>>") else " ".join(part.split()) for part in parts)


def _address(name: str) -> str:
    return f"helpers-{name.replace('.', '-')}"


@dataclass(frozen=True)
class Entry:
    """One number: what its declaration says, part by part."""

    id: str
    address: str
    headline: bool
    words: Markup
    rows: tuple[tuple[str, Markup], ...]
    fails: Markup


@dataclass(frozen=True)
class Group:
    """The numbers of one bias module."""

    title: str
    address: str
    whose: str
    entries: tuple[Entry, ...]


def number_groups() -> list[Group]:
    """All declared numbers by module, those that conclusions rest on first."""
    return [
        Group(
            section.title,
            section.module,
            f"Experiment {section.name}." if section.experiments else f"Module {section.name}.",
            tuple(_entry(section, id) for id in section.estimands),
        )
        for section in sections()
    ]


def section_of(experiment: str) -> str:
    """The address of the numbers of an experiment, "" where none are declared."""
    return next((each.module for each in sections() if experiment in each.experiments), "")


def _entry(section: Section, id: str) -> Entry:
    each = section.estimands[id]
    (formula, *others) = rows(each)
    told = [(formula[0], Markup("<code>{}</code>").format(visible(formula[1])))]
    told += [(name, _linked(words, section, id)) for name, words in others]
    return Entry(
        id=id,
        address=f"{section.module}-{id}",
        headline=id in section.headline,
        words=_linked(each.words, section, id),
        rows=tuple(told),
        fails=_linked(each.fails, section, id),
    )


def _linked(text: str, section: Section, own: str) -> Markup:
    """The same with each other number of the section as a link to it."""
    ids = sorted((id for id in section.estimands if "_" in id and id != own), key=len, reverse=True)
    told = coded(text)
    if not ids:
        return told
    # Ids are letters, digits and underscores, of which none is a sign of HTML.
    words = re.compile(rf"(?<![\w&;])({'|'.join(map(re.escape, ids))})(?![\w;])")
    return Markup(words.sub(lambda found: f'<a href="#{section.module}-{found[1]}">{found[1]}</a>', str(told)))


def files(results: Sequence[Result], found: Sequence[Verdicts]) -> dict[str, bytes]:
    """Every file of a report by its place in it, pages first; the same bytes for the same results and verdicts."""
    shelf = Shelf()
    shelved = [(each, verdicts.downloads(each, shelf)) for each in results]
    rows = verdicts.without_doubles([row for each in found for row in each.rows])
    pages = [
        _index(results),
        *(_notebook(each, results, shelf, {row.experiment for row in rows}) for each in results),
        _judges(results, sorted({row.judge for row in rows})),
        _verdicts(found, rows),
        _downloads(shelved, shelf),
        Page("reference.html", "What every number means", part("reference.html", sections=number_groups()),
             headings=[(each.title, each.address) for each in number_groups()]),
        _functions(),
        Page("glossary.html", "Glossary", part("glossary.html", groups=word_groups()),
             headings=[(each.title, each.address) for each in word_groups()]),
    ]  # fmt: skip
    groups = _groups(results)
    made = {page.file: document(page, groups) for page in pages}
    return {**made, **verdicts.tabled(found), **shelf.files}


def _groups(results: Sequence[Result]) -> dict[str, list[Link]]:
    """The links to all pages, in groups."""
    (index, *others) = [Link(file, name) for file, (name, _) in FIXED.items()]
    return {
        "Results": [index, *(Link(f"{each.page}.html", _called(each)) for each in results), *others[:3]],
        "Look up": others[3:],
    }


def _called(result: Result) -> str:
    """What links call the page of a notebook; that of the overview is not the overview of the report."""
    return result.label if result.asks else f"{result.label} notebook"


def _index(results: Sequence[Result]) -> Page:
    found = [each.found for each in results if each.found]
    # The overview also checks claims that belong to no experiment; both pages must give the same count.
    counted = [read_claims(each.folder / "claims.csv") for each in results if not each.asks]
    told = said(markdown(overview.bottom_line(found, checked=next(iter(counted), None))), Place())
    fixed = [(Link(file, name), words) for file, (name, words) in FIXED.items() if file != "index.html"]
    pages = [(Link(f"{each.page}.html", _called(each)), each.title) for each in results]
    rows = overview.rows(found)
    links = {name: f"{each.page}.html" for each in results for name in (each.label, each.name)}
    body = part("index.html", bottom_line=told, rows=rows, links=links, pages=[*pages, *fixed])
    return Page("index.html", "Which judges should be distrusted for what?", body, _any_simulated(results))


def _any_simulated(results: Sequence[Result]) -> bool:
    return any(each.simulated for each in results)


def _notebook(result: Result, results: Sequence[Result], shelf: Shelf, marked: set[str]) -> Page:
    place = Place(leads=partial(verdicts.leads, home=result.report.parent, pages=results, shelf=shelf))
    try:
        parts = fragments.parts(result.book, place, verdicts.pictures(result))
    except ValueError as error:
        raise ValueError(f"{result.report}: {error}") from None
    section = section_of(result.name)
    body = part("notebook.html", result=result, parts=parts, verdicts=result.label in marked, section=section)
    return Page(f"{result.page}.html", result.title, body, result.simulated, place.headings)


def _judges(results: Sequence[Result], marked: Sequence[str]) -> Page:
    place = Place()
    sources = verdicts.sources(results, marked, place)
    simulated = any(source.simulated for source in sources)
    return Page("judges.html", "Judges", part("judges.html", sources=sources), simulated, place.headings)


def _verdicts(found: Sequence[Verdicts], rows: Sequence[verdicts.Row]) -> Page:
    body = part(
        "verdicts.html", found=found, rows=rows, kinds=KINDS, choices=verdicts.choices(rows), file="verdicts.csv"
    )
    title = "Which verdicts were flipped, changed or for the judge's own?"
    return Page("verdicts.html", title, body, any(row.data == "simulated" for row in rows))


def _downloads(shelved: Sequence[tuple[Result, dict]], shelf: Shelf) -> Page:
    body = part("downloads.html", shelves=shelved, sources=sorted(shelf.sources.items()))
    headings = [(each.label, each.page) for each, _ in shelved]
    return Page("downloads.html", "Downloads", body, _any_simulated([each for each, _ in shelved]), headings)


def _functions() -> Page:
    rooms = list_rooms()
    body = part("functions.html", rooms=rooms)
    return Page(
        "functions.html", "What the package offers", body, headings=[(each.name, each.address) for each in rooms]
    )


#: The list of what a report holds, with the sha256 of each file: how a former one is known.
CONTENTS = "contents.json"
MADE_BY = "recuse report"


def write(folder: Path, made: Mapping[str, bytes]) -> None:
    """Put the files of a report (by their place in it) into `folder`, and take away what an earlier one left there.

    A folder that holds anything but an earlier report is a ValueError. Texts are written without keys. What was changed
    in a file that this report does not have stays.
    """
    check(folder)
    former = _former(folder) or {}
    listed = {place: hashlib.sha256(export.cleaned(place, content)).hexdigest() for place, content in made.items()}
    told = {"made_by": MADE_BY, "files": dict(sorted(listed.items()))}
    # The list comes first: by it the rest of a report that was cut off is known as one.
    export.write({CONTENTS: f"{json.dumps(told, indent=1)}\n".encode(), **made}, folder)
    for place in set(former) - set(made):
        path = folder / place
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == former[place]:
            path.unlink()


def check(folder: Path) -> None:
    """Refuse a folder that is not ours to write into, before anything is read."""
    there = export.held(folder, "--to")
    if there and _former(folder) is None:
        raise ValueError(
            f"{folder}: not empty ({', '.join(there[:5])}) and no earlier report; --to names another folder"
        )


def _former(folder: Path) -> dict[str, str] | None:
    """The files of the report that a folder holds, with their sha256; None where it holds none."""
    try:
        text = (folder / CONTENTS).read_text(encoding="utf-8")
        told = json.loads(text, object_pairs_hook=no_duplicates)
        listed = dict(told["files"]) if told["made_by"] == MADE_BY else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return {place: known for place, known in listed.items() if _within(folder, place)} if listed is not None else None


def _within(folder: Path, place: str) -> bool:
    """Whether a listed file is in the folder: no name leads out of it, not by a link either."""
    inner = PurePosixPath(place)
    if inner.is_absolute() or ".." in inner.parts or not inner.parts:
        return False
    return (folder / place).parent.resolve().is_relative_to(folder.resolve())


def report(folder: Path, places: Sequence[Path] | None, tell: Callable[[str], None]) -> Mapping[str, int]:
    """Make the report of the default runs, or of those in `places`: how many notebooks, pages and files it has.

    `tell` hears which replies are being read.
    """
    check(folder)
    found, marked = results(places or None), []
    for each in found:
        if each.asks:
            tell(f"reading the stored replies of {each.label}")
        marked.append(marked_verdicts(each))
    made = files(found, [each for each in marked if each is not None])
    write(folder, made)
    return {"notebooks": len(found), "pages": sum(name.endswith(".html") for name in made), "files": len(made)}
