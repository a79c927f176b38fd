"""All pages of a report: the overview, one a notebook, judges, verdicts, downloads, and what to look up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from helpers import overview
from helpers.escaping import markdown
from helpers.overview.collecting import read_claims
from helpers.report import cells, functions, glossary, judges, reference, shelves, verdicts
from helpers.report.fragments import Place, said
from helpers.report.layout import FIXED, Link, Page, document, part
from helpers.report.marking import KINDS
from helpers.report.results import Result
from helpers.report.shelves import Shelf
from helpers.report.verdicts import Verdicts


def files(results: Sequence[Result], found: Sequence[Verdicts]) -> dict[str, bytes]:
    """Every file of a report by its place in it, pages first; the same bytes for the same results and verdicts."""
    shelf = Shelf()
    shelved = [(each, shelves.downloads(each, shelf)) for each in results]
    rows = verdicts.without_doubles([row for each in found for row in each.rows])
    pages = [
        _index(results),
        *(_notebook(each, results, shelf, {row.experiment for row in rows}) for each in results),
        _judges(results, sorted({row.judge for row in rows})),
        _verdicts(found, rows),
        _downloads(shelved, shelf),
        Page("reference.html", "What every number means", part("reference.html", sections=reference.groups()),
             headings=[(each.title, each.address) for each in reference.groups()]),
        _functions(),
        Page("glossary.html", "Glossary", part("glossary.html", groups=glossary.groups()),
             headings=[(each.title, each.address) for each in glossary.groups()]),
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
    place = Place(leads=partial(shelves.leads, home=result.report.parent, pages=results, shelf=shelf))
    try:
        parts = cells.parts(result.book, place, shelves.pictures(result))
    except ValueError as error:
        raise ValueError(f"{result.report}: {error}") from None
    section = reference.section_of(result.name)
    body = part("notebook.html", result=result, parts=parts, verdicts=result.label in marked, section=section)
    return Page(f"{result.page}.html", result.title, body, result.simulated, place.headings)


def _judges(results: Sequence[Result], marked: Sequence[str]) -> Page:
    place = Place()
    sources = judges.sources(results, marked, place)
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
    rooms = functions.rooms()
    body = part("functions.html", rooms=rooms)
    return Page(
        "functions.html", "What the package offers", body, headings=[(each.name, each.address) for each in rooms]
    )
