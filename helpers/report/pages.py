"""The pages of a report, in one folder or one file that needs no network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import pandas as pd
from markupsafe import Markup, escape

from .. import explain, export, overview, paths
from ..escaping import markdown
from ..export import NAME
from ..figures import points
from ..run.control import KINDS
from ..run.notebooks import experiment_of
from ..tables import csv_text, format_table
from ..words import listed
from . import verdicts
from .runs import FIXED, REPORT, Run, find_runs
from .shown import Page, Words, cell, cells_of, drawn, in_markdown, rendered, table

#: What may be downloaded. A drawing in SVG could act when somebody opens it.
ENDINGS = (".png", ".pdf", ".csv", ".tex", ".json", ".md")
GLOSSARY = paths.DEFINITIONS / "docs" / "glossary.md"
INTRO = """<p>What stands of each judge, after each experiment's own correction for many tests. Simulated judges are
marked and say nothing about real models. The <a href="glossary.html">glossary</a> explains the words.</p>"""
ABOUT = """<p>Verdicts that deserve a look, as the stored replies have them. The <em>key</em> of a row names its reply:
the link on it leads to the row from anywhere, and <code>grep</code> finds it in <code>data/replies</code>.</p>"""
#: Columns of a judge's card.
SHOWN = ["experiment", "measure", "verdict", "estimate", "p", "smallest", "n", "clusters", "words"]


def downloads(run: Run) -> dict[str, bytes]:
    """The files of a run by their place in the report; what an export does not write is left where it is."""
    # run.json holds commit, time and versions: it is no result, and differs between runs that agree.
    there = [path for path in sorted(run.folder.iterdir()) if path.is_file() and not path.is_symlink()]
    ours = [path for path in there if path.suffix in ENDINGS and NAME.fullmatch(path.stem) and path.name != "run.json"]
    return {f"files/{run.page}/{path.name}": path.read_bytes() for path in ours}


def leads(href: str, runs: Sequence[Run]) -> str | None:
    """Where a link of a notebook leads within the report: to a notebook or to all numbers; None where out of it."""
    path = Path(href.partition("#")[0])
    name = path.parent.name if path.name == REPORT else experiment_of(path)
    found = [f"{run.page}.html" for run in runs if run.made.experiment == name and path.suffix == ".ipynb"]
    return "numbers.html" if path.name == explain.PAGE.name else next(iter(found), None)


def framed(frame: pd.DataFrame, column: str = "", addresses: Sequence[str] = ()) -> str:
    """A frame as an HTML table in which the cells of one column lead to these addresses."""
    heads, sides, rows = format_table(frame)
    for row, address in zip(rows, addresses, strict=False):
        at = heads.index(column)
        row[at] = Markup('<a href="{}">{}</a>').format(address, row[at]) if address else row[at]
    return table(heads, rows, sides)


def listing(items: Iterable[str]) -> Markup:
    """A list; whatever is no `Markup` in it is shown as text."""
    return Markup("<ul>{}</ul>").format(Markup().join(Markup("<li>{}</li>").format(each) for each in items))


def notebook_page(run: Run, runs: Sequence[Run], files: Mapping[str, bytes]) -> Page:
    """The page of one notebook, with all its files at the end."""
    words = Words(run.page, partial(leads, runs=runs))
    try:
        cells = list(cells_of(run.book, words))
    except ValueError as error:
        raise ValueError(f"{run.report}: {error}") from None
    links = [Markup('<a href="{}" download>{}</a>').format(address, Path(address).name) for address in files]
    cells.append(cell(f"{words.heading('Files of this page', 2)}{listing(links)}"))
    return Page(run.page, run.title, cells, words.headings, run.simulated)


def index_page(runs: Sequence[Run], pages: Sequence[Page], rows: pd.DataFrame, skipped: Sequence[str]) -> Page:
    """What was found: of all judges, then of each experiment its first figure and its findings."""
    words, having = Words("index"), [run.found for run in runs if run.found]
    # The overview also checks claims that belong to no experiment; both pages must give the same count.
    checked = next((overview.read_claims(run.folder / "claims.csv") for run in runs if not run.asks), None)
    cells = [cell(in_markdown(markdown(overview.bottom_line(having, checked=checked))))]
    if skipped:
        cells.append(cell(f"{words.heading('Not here', 2)}{listing(skipped)}"))
    for run, page in zip(runs, pages, strict=True):
        link = Markup('<p><a href="{}.html">{}</a></p>').format(run.page, run.label)
        cells.append(cell(f"{words.heading(escape(run.title), 2)}{link}"))
        figures = (out for each in page.cells for out in each.get("outputs", ()) if "image/png" in out.data)
        cells += [drawn("", [figure]) for figure in islice(figures, 1)]
        if run.found and run.found.rows:
            to = [verdicts.leads(rows, run.label, row.estimate.where.get("judge")) for row in run.found.rows]
            found = framed(overview.rows([run.found]), "estimate", to)
            cells.append(cell(words.boxed(found, f"What {run.label} found.")))
    title = "Which judges should be distrusted for what?"
    return Page("index", title, cells, words.headings, any(run.simulated for run in runs))


def judges_page(runs: Sequence[Run], rows: pd.DataFrame) -> Page:
    """The card of each judge by source of data; each number leads to its verdicts."""
    words, parts = Words("judges"), [INTRO]
    cards = [overview.words([run.found]).assign(experiment=run.label) for run in runs if run.found]
    lines = pd.concat([*cards, pd.DataFrame(columns=["data", "judge"])])
    returned = {name: ids for run in runs for name, ids in run.made.judges.items() if ids}
    for (data, judge), card in lines.groupby(["data", "judge"], sort=False):
        name = f"{judge} ({points.source_name(data)})"
        ids = listed(returned.get(judge, ())) if data in ("asked", "simulated") else ""
        parts += [words.heading(escape(name), 2), f"<p>Answered as {escape(ids)}.</p>" if ids else ""]
        to = [verdicts.leads(rows, run, judge if ids else None) for run in card["experiment"]]
        parts.append(words.boxed(framed(card[SHOWN], "estimate", to), f"What was found of {name}."))
    return Page("judges", "Judges", [cell("".join(parts))], words.headings, "simulated" in {*lines["data"]})


def verdicts_page(rows: pd.DataFrame, counts: Sequence[str]) -> Page:
    """Flipped, changed and own-preferring verdicts with their replies."""
    words, kinds = Words("verdicts"), [f"{kind}: {meaning}" for kind, meaning in KINDS.items()]
    text = f"{ABOUT}{listing(kinds)}{listing(counts)}"
    if len(rows):
        text += '<p><a href="verdicts.csv" download>verdicts.csv</a></p>'
        text += words.boxed(verdicts.rows_table(rows), "Flipped, changed and own-preferring verdicts.")
    title = "Which verdicts were flipped, changed or for the judge's own?"
    return Page("verdicts", title, [cell(text)], simulated="simulated" in {*rows["data"]})


def text_page(name: str, text: str) -> Page:
    """A page of Markdown, whose first line is its title."""
    words, (title, _, body) = Words(name), text.partition("\n")
    made = cell(words.render(body))
    return Page(name, title.lstrip("# "), [made], words.headings)


def files(
    runs: Sequence[Run], marked: Sequence[tuple[pd.DataFrame, str]], skipped: Sequence[str] = (), one_file: bool = False
) -> dict[str, bytes]:
    """Every file of a report by its place in it, pages first; the same bytes for the same results and verdicts.

    `marked` are the verdicts of runs with their number in words. With `one_file` it is index.html alone, which holds
    all pages and no file to download.
    """
    every = pd.concat([verdicts.of_rows([]), *(rows for rows, _ in marked)], ignore_index=True)
    rows, results = verdicts.of_page(every), [downloads(run) for run in runs]
    notebooks = [notebook_page(run, runs, each) for run, each in zip(runs, results, strict=True)]
    pages = [
        index_page(runs, notebooks, rows, skipped),
        *notebooks,
        judges_page(runs, rows),
        verdicts_page(rows, [words for _, words in marked]),
        text_page("numbers", explain.page()),
        text_page("glossary", GLOSSARY.read_text(encoding="utf-8")),
    ]
    labels = {run.page: run.label if run.asks else f"{run.label} notebook" for run in runs}
    menu = [(f"{page.name}.html", {**FIXED, **labels}[page.name]) for page in pages]
    if one_file:
        return {"index.html": joined(rendered(pages, menu))}
    made = {f"{page.name}.html": rendered([page], menu) for page in pages}
    table = {"verdicts.csv": csv_text(every[list(verdicts.COLUMNS)]).encode()} if len(every) else {}
    return made | table | {place: content for each in results for place, content in each.items()}


def joined(page: bytes) -> bytes:
    """All pages in one: links between them lead to their places in it, those to files are only words."""
    text = re.sub(r"<a download[^>]*>(.*?)</a>", r"\1", page.decode())
    inside = re.compile(r'(<a [^>]*?)href="([\w-]+)\.html(\?[^"#]*)?(#[^"]*)?"')
    return inside.sub(lambda at: f'{at[1]}href="{at[3] or ""}{at[4] or f"#{at[2]}"}"', text).encode()


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
        found = ", ".join(there[:5])
        raise ValueError(f"{folder}: not empty ({found}) and no earlier report; --to names another folder")


def report(folder: Path, places: Sequence[Path], tell: Callable[[str], None], one_file: bool = False) -> str:
    """Make the report of the default runs, or of those in `places`: how many notebooks, pages and files it has.

    `tell` hears which runs are skipped, and which replies are being read.
    """
    check(folder)
    (runs, skipped), marked = find_runs(places or None), []
    for each in skipped:
        tell(f"skipped: {each}")
    for run in runs:
        if run.asks:
            tell(f"reading the stored replies of {run.label}")
            marked.append(verdicts.marked_verdicts(run))
    made = files(runs, marked, skipped, one_file)
    write(folder, made)
    pages = sum(name.endswith(".html") for name in made)
    return f"{pages} pages of {len(runs)} notebooks, {len(made)} files: open {folder / 'index.html'}"
