"""Results of runs and the pages of a style: how figures and tables are set so that they fit their columns."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from .. import paths
from ..escaping import LONGEST_CAPTION, LONGEST_CELL, cut, latex, visible
from ..export import NAME, PROTOCOL, Protocol
from ..macros import signs
from ..overview import NULLS, SUMMARY, Found, Numbers, Paid, read, read_results
from ..run.notebooks import available, collects, experiment_of
from ..types import Estimate

#: Points to an inch, as TeX counts them.
POINTS = 72.27
#: Text smaller than this is not set in a table, whatever it holds.
SMALLEST = 8.0


@dataclass(frozen=True)
class Page:
    """The text block of one style: lengths in inches, sizes of letters in points.

    `column` is the width of a column, `text` that of the whole block (the same where there is one column), `base` the
    size of the text, `caption` that of captions.
    """

    name: str
    paper: str
    columns: int
    column: float
    text: float
    height: float
    base: float
    caption: float

    @property
    def gap(self) -> float:
        """The space between two columns."""
        return self.text - 2 * self.column if self.columns == 2 else 0.0


#: Of the style files of 2024: text block, columns, \normalsize and the size of captions.
PAGES = {
    each.name: each
    for each in (
        Page("neurips", "letterpaper", 1, 5.5, 5.5, 9.0, 10, 10),
        Page("icml", "letterpaper", 2, 3.25, 6.75, 9.0, 10, 9),
        Page("acl", "a4paper", 2, 3.03, 6.3, 9.72, 11, 10),
    )
}


def page(name: str) -> Page:
    """The page of that style; an unknown one is a ValueError that lists the known ones."""
    if name not in PAGES:
        raise ValueError(f"no paper style '{name}'; there are: {', '.join(PAGES)}")
    return PAGES[name]


NUMBERS, EXHIBITS, RUN = "numbers.json", "exhibits.json", "run.json"
LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


Name = Annotated[str, Field(pattern=f"^{NAME.pattern}$")]
Length = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Picture(BaseModel, frozen=True):
    """A drawn figure: inches, the size of its letters in points, its style, and the folder that holds its files."""

    name: Name
    caption: str
    alt: str
    width: Length
    height: Length
    size: Length
    style: str
    folder: Path = Path()

    @property
    def pdf(self) -> Path:
        """Its file for a paper."""
        return self.folder / f"{self.name}.pdf"


class Sheet(BaseModel, frozen=True):
    """A table by its cells: text, a number, or None where there is nothing."""

    name: Name
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[bool | int | float | str | None, ...], ...]

    @field_validator("rows")
    @classmethod
    def _as_wide_as_the_head(cls, rows: tuple[tuple[Any, ...], ...], info: ValidationInfo) -> Any:
        wide = len(info.data.get("columns", ()))
        if odd := next((row for row in rows if len(row) != wide), None):
            raise ValueError(f"a row of {len(odd)} cells under {wide} columns")
        return rows


class Exhibits(BaseModel, frozen=True):
    """What an exhibits.json holds."""

    protocol: Protocol = PROTOCOL
    figures: tuple[Picture, ...]
    tables: tuple[Sheet, ...]


class RunRecord(BaseModel, frozen=True):
    """What a run.json holds that a paper says; `left_out` counts questions and answers."""

    commit: str | None = None
    time: str | None = None
    models: Annotated[tuple[Paid, ...], NULLS] = ()
    account: dict[str, Any] = {}
    left_out: dict[str, int] = {}


@dataclass(frozen=True)
class Results:
    """One folder of results. `label` begins the names of everything made of it; `experiment` is what made it.

    `found` is what it hands to the overview (None where it hands on nothing), `run` what its run.json tells (where
    there is one). `pictures` and `sheets` are None where nothing tells of them: they must be made anew.
    """

    label: str
    experiment: str
    folder: Path
    provenance: Mapping[str, Any]
    estimates: tuple[Estimate, ...]
    found: Found | None
    run: RunRecord
    pictures: tuple[Picture, ...] | None
    sheets: tuple[Sheet, ...] | None


def load_all(places: Sequence[str]) -> list[Results]:
    """The results of each place, `FOLDER` or `NAME=FOLDER`; without any those of the default runs.

    A folder without numbers, one named twice, and two of one label (whose macros would have the same names) are a
    ValueError.
    """
    # Experiments in the order of their notebooks, then overviews.
    names = map(experiment_of, sorted(available().values(), key=collects))
    default = [("", paths.FIGURES / name) for name in names if (paths.FIGURES / name / NUMBERS).is_file()]
    named = [_named(each) for each in places] or default
    if not named:
        raise ValueError("no results yet: `recuse run` makes them")
    loaded = [load(folder, label) for label, folder in named]
    for at, one in enumerate(loaded):
        for other in loaded[:at]:
            if one.folder.resolve() == other.folder.resolve():
                raise ValueError(f"{one.folder}: named twice")
            if one.label.casefold() == other.label.casefold():
                raise ValueError(
                    f"{other.folder} and {one.folder} are both called {one.label}: give them names of their own, as in "
                    f"--results first={other.folder} --results second={one.folder}"
                )
    return loaded


def _named(place: str) -> tuple[str, Path]:
    label, equals, folder = place.partition("=")
    if not equals or Path(place).exists():
        return "", Path(place).expanduser()
    if not LABEL.fullmatch(label):
        raise ValueError(f"--results {place}: '{label}' is no name: a letter, then letters, digits, _ and -")
    return label, Path(folder).expanduser()


def load(folder: Path, label: str = "") -> Results:
    """What one folder holds; a file in it that is not as we write it is a ValueError that names file and key."""
    path = folder / NUMBERS
    if not path.is_file():
        inner = sorted(each.parent.name for each in folder.glob(f"*/{NUMBERS}")) if folder.is_dir() else []
        hint = f"these folders in it do: {', '.join(inner)}" if inner else "`recuse run` and `recuse analyze` make it"
        raise ValueError(f"{folder}: holds no {NUMBERS}; {hint}")
    numbers = read_results(Numbers, path)
    experiment = numbers.provenance.experiment
    provenance = {"parameters": {}, **numbers.provenance.model_dump(exclude_unset=True)}
    pictures, sheets = _exhibits(folder)
    return Results(
        label=label or re.sub("[^A-Za-z0-9_-]+", "_", experiment)[:64] or "results",
        experiment=experiment,
        folder=folder,
        provenance=provenance,
        estimates=numbers.numbers,
        found=read(folder) if (folder / SUMMARY).is_file() else None,
        run=read_results(RunRecord, folder / RUN) if (folder / RUN).is_file() else RunRecord(),
        pictures=pictures,
        sheets=sheets,
    )


def _exhibits(folder: Path) -> tuple[tuple[Picture, ...] | None, tuple[Sheet, ...] | None]:
    path = folder / EXHIBITS
    if not path.is_file():
        return None, None
    found = read_results(Exhibits, path)
    return tuple(each.model_copy(update={"folder": folder}) for each in found.figures), found.tables


#: An estimate with its interval, which can stand in two lines.
ESTIMATE = re.compile(r"(?P<value>\S.*?) (?P<interval>\[[^\[\]]*\])")
SIZES = (9.0, SMALLEST)
#: The width of a letter as a share of the size, and the space between two columns in letters.
LETTER, GAP = 0.55, 1.6
#: Texts of more letters than this may be broken into lines, of at least so many letters; still longer ones would be
#: towers in a narrow column.
PROSE, NARROWEST, TOWER = 25, 16, 80


@dataclass(frozen=True)
class Layout:
    """One way to set some columns of a table.

    `wide`: over both columns of the page. `stacked`: intervals below their values, heads in several lines. `prose` are
    the columns whose text TeX breaks into lines, with about how many letters a line has.
    """

    wide: bool
    size: float
    stacked: bool
    columns: tuple[int, ...]
    prose: Mapping[int, float]


def layouts(sheet: Sheet, page: Page) -> list[Layout]:
    """How a table is set: one layout, or several of which each holds some of its columns and those that name its rows.

    The first that fits: as it is, smaller, over both columns, stacked; in parts at last.
    """
    every = range(len(sheet.columns))
    towers = any(len(written(cell)) > TOWER for row in sheet.rows for cell in row)
    spans = [False] if page.columns == 1 else [True] if towers else [False, True]
    ways = [(wide, size, stacked) for stacked in (False, True) for wide in spans for size in SIZES]
    for way in ways:
        if fitted := _fitted(sheet, page, tuple(every), *way):
            return [fitted]
    naming, parts = _naming(sheet), list[Layout]()
    for at in every[len(naming) :]:
        longer = _fitted(sheet, page, (*parts[-1].columns, at), *ways[-1]) if parts else None
        if longer:
            parts[-1] = longer
        else:
            columns = (*naming, at)
            parts.append(_fitted(sheet, page, columns, *ways[-1], last=True))
    return parts


def _naming(sheet: Sheet) -> tuple[int, ...]:
    """The columns that say what a row is: the first ones, up to those of estimates or numbers."""
    found = []
    for at in range(len(sheet.columns)):
        cells = [row[at] for row in sheet.rows]
        if any(isinstance(cell, int | float) or (cell and ESTIMATE.fullmatch(str(cell))) for cell in cells):
            break
        found.append(at)
    return tuple(found[:3]) if len(found) < len(sheet.columns) else ()


def _fitted(
    sheet: Sheet, page: Page, columns: tuple[int, ...], wide: bool, size: float, stacked: bool, last: bool = False
) -> Layout | None:
    """These columns set in this way; None where they do not fit, by their letters, unless it is the `last` way."""
    room = (page.text if wide else page.column) * POINTS / (LETTER * size) - GAP * (len(columns) - 1)
    least, lacking = {}, {}
    for at in columns:
        texts = [written(row[at]) for row in sheet.rows]
        prose = any(len(text) > PROSE and not ESTIMATE.fullmatch(text) for text in texts)
        heads = head_lines(sheet.columns[at], 1) if stacked or prose else [sheet.columns[at]]
        lines = [line for text in texts for line in (text.split() if prose else lines_of(text, stacked))]
        needed = max(map(len, (*lines, *heads)))
        if prose:
            least[at] = needed = max(needed, NARROWEST)
            lacking[at] = max(max(map(len, texts)) - needed, 1)
        room -= needed
    # What is left goes to each column of prose by what it lacks.
    total = sum(lacking.values())
    prose_lines = {at: letters + max(room, 0) * lacking[at] / total for at, letters in least.items()}
    return Layout(wide, size, stacked, columns, prose_lines) if room >= 0 or last else None


def lines_of(cell: object, stacked: bool) -> list[str]:
    """A cell as the lines in which it stands."""
    text = written(cell)
    found = ESTIMATE.fullmatch(text) if stacked else None
    return [found["value"], found["interval"]] if found else [text]


def written(cell: object) -> str:
    """A cell as text: numbers with four significant digits, a dash where there is nothing."""
    if cell is None:
        return "--"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def head_lines(name: str, letters: int) -> list[str]:
    """The name of a column in lines of so many letters, broken at spaces and underscores only."""
    lines = wrap(name.replace("_", "_ "), max(letters, 1), break_long_words=False, break_on_hyphens=False)
    return [line.replace("_ ", "_") for line in lines] or [""]


def row_height(sheet: Sheet, layout: Layout, row: int) -> float:
    """About how high a row is in this layout, in points."""
    lines = [
        math.ceil(1.15 * len(written(sheet.rows[row][at])) / layout.prose[at])
        if at in layout.prose
        else len(lines_of(sheet.rows[row][at], layout.stacked))
        for at in layout.columns
    ]
    return max(lines) * layout.size * 1.19 + (2 if layout.stacked or layout.prose else 0)


#: A table of more pages than this is cut: its CSV file, beside the results, holds all.
MOST_PAGES = 3
#: What rules, head and space take of a page besides the rows, in points.
AROUND = 90
#: Space around a figure and its caption, in points.
SPACE = 30


def stem(results: Results, name: str) -> str:
    """The name of the files of one figure or table."""
    return f"{results.label}-{name}"


def figure_tex(results: Results, picture: Picture, page: Page) -> str:
    """A figure in its own size, so that its letters are as large as they were drawn; wide ones over both columns.

    Only one that is higher than the page is made smaller (`share`).
    """
    star = "*" if page.columns == 2 and picture.width > page.column + 0.01 else ""
    height = picture.height * share(picture, page)
    options = "" if height == picture.height else f"[height={height:.3f}in]"
    alt = " ".join(visible(picture.alt).split())
    return rf"""% In other words: {alt}
\begin{{figure{star}}}[tp]
\centering
\includegraphics{options}{{\RecuseFolder figures/{stem(results, picture.name)}}}
\caption{{{_caption(picture.caption)}}}
\label{{fig:{stem(results, picture.name)}}}
\end{{figure{star}}}
"""


def share(picture: Picture, page: Page) -> float:
    """The share of its own size that a figure has on the page: 1, or less where it and its caption are too high."""
    wide = picture.width > page.column + 0.01
    room = page.height - (_caption_height(picture.caption, page, wide) + SPACE) / POINTS
    return min(1.0, room / picture.height)


def table_tex(results: Results, sheet: Sheet, page: Page) -> str:
    """A table with booktabs rules that fits its column, in as many parts as it needs."""
    label = f"tab:{stem(results, sheet.name)}"
    if not sheet.rows or not sheet.columns:
        return f"% {visible(sheet.name)}: a table without rows.\n"
    floats: list[str] = []
    for layout in layouts(sheet, page):
        parts, cut_at = _parts(sheet, layout, page)
        for rows in parts:
            words = sheet.caption if not floats else "Continued."
            if cut_at and not floats:
                words += f" The first {cut_at:,} of {len(sheet.rows):,} rows; {sheet.name}.csv holds all."
            floats.append(_float(sheet, layout, rows, words, label if not floats else f"{label}-{len(floats) + 1}"))
    return "\n".join(floats)


def _caption(words: str) -> str:
    return signs(latex(cut(words, LONGEST_CAPTION)))


def _parts(sheet: Sheet, layout: Layout, page: Page) -> tuple[list[list[int]], int]:
    """The rows of each page, and how many rows there are when some are left out, else 0."""
    room = page.height * POINTS - AROUND - _caption_height(sheet.caption, page, layout.wide)
    parts: list[list[int]] = [[]]
    used = 0.0
    for row in range(len(sheet.rows)):
        height = row_height(sheet, layout, row)
        if parts[-1] and used + height > room:
            parts.append([])
            used = 0.0
        parts[-1].append(row)
        used += height
    if len(parts) <= MOST_PAGES:
        return parts, 0
    return parts[:MOST_PAGES], sum(map(len, parts[:MOST_PAGES]))


def _caption_height(words: str, page: Page, wide: bool) -> float:
    room = (page.text if wide or page.columns == 1 else page.column) * POINTS
    return (1 + len(words) * 0.5 * page.caption / room) * page.caption * 1.2


def _float(sheet: Sheet, layout: Layout, rows: Sequence[int], words: str, label: str) -> str:
    star = "*" if layout.wide else ""
    size = r"\RecuseSmall" if layout.size == SMALLEST else r"\RecuseMedium"
    table, width = ("tabularx", r"{\linewidth}") if layout.prose else ("tabular", "")
    kinds = "".join(_kind(sheet, layout, at) for at in layout.columns)
    # The space between rows of several lines separates them.
    end = r" \\[2pt]" if layout.stacked or layout.prose else r" \\"
    heads = " & ".join(_head(sheet, layout, at) for at in layout.columns)
    body = "\n".join(" & ".join(_cell(sheet, layout, row, at) for at in layout.columns) + end for row in rows)
    return rf"""\begin{{table{star}}}[tp]
\centering
\caption{{{_caption(words)}}}
\label{{{re.sub("[^A-Za-z0-9:._-]", "-", label)}}}
{size}\setlength{{\tabcolsep}}{{4pt}}%
\RecuseFit{{\begin{{{table}}}{width}{{@{{}}{kinds}@{{}}}}
\toprule
{heads} \\
\midrule
{body}
\bottomrule
\end{{{table}}}}}
\end{{table{star}}}
"""


def _kind(sheet: Sheet, layout: Layout, at: int) -> str:
    if at in layout.prose:
        # Shares of the lines that are left, of which tabularx wants as many as there are columns of prose.
        share = layout.prose[at] * len(layout.prose) / sum(layout.prose.values())
        return rf">{{\raggedright\arraybackslash\hsize={share:.3f}\hsize}}X"
    numeric = all(isinstance(row[at], int | float) or row[at] is None for row in sheet.rows)
    return "r" if numeric else "l"


def _head(sheet: Sheet, layout: Layout, at: int) -> str:
    name = cut(sheet.columns[at], LONGEST_CELL)
    if at in layout.prose or not layout.stacked:
        return latex(name)
    room = max(len(line) for row in sheet.rows for line in lines_of(row[at], True))
    return _stacked([latex(line) for line in head_lines(name, room)], "b")


def _cell(sheet: Sheet, layout: Layout, row: int, at: int) -> str:
    text = cut(written(sheet.rows[row][at]), LONGEST_CELL)
    lines = lines_of(text, layout.stacked and at not in layout.prose)
    return _stacked([line if line == "--" else signs(latex(line)) for line in lines], "t")


def _stacked(lines: Sequence[str], side: str) -> str:
    inner = r" \\ ".join(lines)
    return inner if len(lines) == 1 else rf"\begin{{tabular}}[{side}]{{@{{}}l@{{}}}}{inner}\end{{tabular}}"
