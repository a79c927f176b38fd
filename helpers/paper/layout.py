"""Results of runs and the pages of a style: how wide text is, and how a table is set so that it fits its column."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.config import collection_names, experiment_names
from helpers.export import NAME, PROTOCOL, READABLE
from helpers.json_text import document
from helpers.overview import SUMMARY, Found, estimate, paid, read
from helpers.run.notebooks import available, experiment_of
from helpers.types import Estimate

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


#: Widths in thousandths of the size, of signs that are not as wide as most letters are.
_WIDTHS = {
    **dict.fromkeys("iljI|", 278),
    **dict.fromkeys("fr,.;:!'()[]", 340),
    **dict.fromkeys(" -", 333),
    **dict.fromkeys("t_", 389),
    **dict.fromkeys("cesz", 444),
    **dict.fromkeys("0123456789", 500),
    **dict.fromkeys("FJLPST", 653),
    **dict.fromkeys("ABCDEGHKNOQRUVXYZ&@%+<>=~\N{MINUS SIGN}\N{MULTIPLICATION SIGN}", 778),
    **dict.fromkeys("mw", 833),
    **dict.fromkeys("MW", 1030),
}
_USUAL, _OTHER, _NUMBERED = 556, 1000, 4000
#: Small sizes are drawn relatively wider.
_SMALLER = {10.0: 1.0, 9.0: 1.03, 8.0: 1.065}


def width(text: str, size: float, bold: bool = False) -> float:
    """The width of a line of text in points, at most a few percent too narrow.

    >>> 40 < width("0.5 of all", 10) < 50
    True
    """
    return sum(map(_letter, text)) / 1000 * size * _SMALLER.get(size, 1.0) * (1.15 if bold else 1.0)


def _letter(sign: str) -> float:
    if sign in _WIDTHS:
        return _WIDTHS[sign]
    if unicodedata.normalize("NFD", sign)[0].isascii():
        return _USUAL
    # What pdfTeX has no letter for stands as its number: (U+4E00).
    return _NUMBERED if ord(sign) > 0x2100 else _OTHER


NUMBERS, EXHIBITS, RUN = "numbers.json", "exhibits.json", "run.json"
LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Picture:
    """A drawn figure: inches, the size of its letters in points, its style, and the folder that holds its files."""

    name: str
    caption: str
    alt: str
    width: float
    height: float
    size: float
    style: str
    folder: Path

    @property
    def pdf(self) -> Path:
        """Its file for a paper."""
        return self.folder / f"{self.name}.pdf"


@dataclass(frozen=True)
class Sheet:
    """A table by its cells: text, a number, or None where there is nothing; `best` are (row, column) of bold ones."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    best: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Results:
    """One folder of results. `label` begins the names of everything made of it; `experiment` is what made it.

    `found` is what it hands to the overview (None where it hands on nothing), `run` what its run.json tells (see
    `_run`; {} where there is none, as in a fresh checkout). `pictures` and `sheets` are None where nothing tells of
    them: they must be made anew.
    """

    label: str
    experiment: str
    folder: Path
    provenance: Mapping[str, Any]
    estimates: tuple[Estimate, ...]
    found: Found | None
    run: Mapping[str, Any]
    pictures: tuple[Picture, ...] | None
    sheets: tuple[Sheet, ...] | None


def usual() -> list[Path]:
    """The folders of default runs that hold numbers: experiments in the order of their notebooks, then overviews."""
    known = {*experiment_names(), *collection_names()}
    names = [experiment_of(notebook) for notebook in available().values()]
    ordered = sorted(names, key=lambda name: name in collection_names())
    return [paths.FIGURES / name for name in ordered if name in known and (paths.FIGURES / name / NUMBERS).is_file()]


def load_all(places: Sequence[str]) -> list[Results]:
    """The results of each place, `FOLDER` or `NAME=FOLDER`; without any those of the default runs.

    A folder without numbers, one named twice, and two of one label (whose macros would have the same names) are a
    ValueError.
    """
    named = [_named(each) for each in places] or [("", folder) for folder in usual()]
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
        hint = (
            f"; these folders in it do: {', '.join(inner)}" if inner else "; `recuse run` and `recuse analyze` make it"
        )
        raise ValueError(f"{folder}: holds no {NUMBERS}{hint}")
    content = _json(path)
    with _told(path):
        provenance = dict(content["provenance"])
        provenance["parameters"] = dict(provenance.get("parameters") or {})
        experiment = str(provenance["experiment"])
        estimates = tuple(map(estimate, content["numbers"]))
    pictures, sheets = _exhibits(folder)
    return Results(
        label=label or re.sub("[^A-Za-z0-9_-]+", "_", experiment)[:64] or "results",
        experiment=experiment,
        folder=folder,
        provenance=provenance,
        estimates=estimates,
        found=read(folder) if (folder / SUMMARY).is_file() else None,
        run=_run(folder / RUN),
        pictures=pictures,
        sheets=sheets,
    )


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What is wrong with a record, told with its file."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        what = f"key {error} is missing" if isinstance(error, KeyError) else error
        raise ValueError(f"{path}: {what}; make these results again") from None


def _json(path: Path) -> Any:
    try:
        content = document(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: no JSON ({error}); make these results again") from None
    if not isinstance(content, dict) or content.get("protocol", PROTOCOL) not in READABLE:
        raise ValueError(f"{path}: not of protocol {PROTOCOL}; make these results again")
    return content


def _run(path: Path) -> dict[str, Any]:
    """What run.json tells of a run that a paper says: commit, time, what each model cost, budget, what was left out."""
    content = _json(path) if path.is_file() else {}
    with _told(path):
        told = {key: str(content[key]) for key in ("commit", "time") if content.get(key)}
        models = [dict(paid(each)) for each in content.get("models") or ()]
        budget = dict(content.get("account") or {}).get("budget_usd")
        left = dict(content.get("left_out") or {}).get("questions") or 0
        found = {"budget_usd": None if budget is None else float(budget), "questions_left_out": int(left)}
    return {**told, "models": models, **found} if content else {}


def _exhibits(folder: Path) -> tuple[tuple[Picture, ...] | None, tuple[Sheet, ...] | None]:
    path = folder / EXHIBITS
    if not path.is_file():
        return None, None
    content = _json(path)
    with _told(path):
        pictures = tuple(_picture(each, folder) for each in content["figures"])
        sheets = tuple(_sheet(each) for each in content["tables"])
    return pictures, sheets


def _name(record: Mapping[str, Any]) -> str:
    if not NAME.fullmatch(str(record["name"])):
        raise ValueError(f"'{record['name']}' is no name of a file of ours")
    return str(record["name"])


def _picture(record: Mapping[str, Any], folder: Path) -> Picture:
    name, style = _name(record), str(record["style"])
    lengths = {key: float(record[key]) for key in ("width", "height", "size")}
    if not all(0 < length < math.inf for length in lengths.values()):
        raise ValueError(f"figure {name}: {lengths}, expected lengths above 0")
    return Picture(name, str(record["caption"]), str(record["alt"]), **lengths, style=style, folder=folder)


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float) else str(value)


def _sheet(record: Mapping[str, Any]) -> Sheet:
    columns, rows = tuple(map(str, record["columns"])), tuple(tuple(map(_cell, row)) for row in record["rows"])
    odd = next((row for row in rows if len(row) != len(columns)), None)
    if odd is not None:
        raise ValueError(f"table {record['name']}: a row of {len(odd)} cells under {len(columns)} columns")
    best = frozenset((int(row), int(column)) for row, column in record["best"])
    return Sheet(_name(record), str(record["caption"]), columns, rows, best)


#: An estimate with its interval, which can stand in two lines.
ESTIMATE = re.compile(r"(?P<value>\S.*?) (?P<interval>\[[^\[\]]*\])")
SIZES = (9.0, SMALLEST)
#: Space between two columns, and of two lines more than their letters, in points.
GAP, LEADING = 8.0, 1.19
#: Texts longer than this many times the size may be wrapped, and need so much to be readable.
PROSE, NARROWEST = 14, 9


@dataclass(frozen=True)
class Layout:
    """One way to set some columns of a table.

    `wide`: over both columns of the page. `stacked`: intervals below their values, heads in several lines. `wrapped`
    are the widths in points of columns whose text is broken into lines, by number of column.
    """

    wide: bool
    size: float
    stacked: bool
    wrapped: dict[int, float]
    columns: tuple[int, ...]


def layouts(sheet: Sheet, page: Page) -> list[Layout]:
    """How a table is set: one layout, or several of which each holds some of its columns and those that name its rows.

    The first that fits: as it is, smaller, over both columns, stacked, with long texts wrapped; in parts at last.
    """
    every = tuple(range(len(sheet.columns)))
    whole = _first(sheet, page, every)
    if whole:
        return [whole]
    naming = _naming(sheet)
    parts: list[Layout] = []
    rest = [at for at in every if at not in naming]
    while rest:
        taken = next((n for n in range(len(rest), 0, -1) if _first(sheet, page, (*naming, *rest[:n]), last=True)), 1)
        columns = (*naming, *rest[:taken])
        parts.append(_first(sheet, page, columns, last=True) or Layout(page.columns == 2, SMALLEST, True, {}, columns))
        rest = rest[taken:]
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


def _first(sheet: Sheet, page: Page, columns: tuple[int, ...], last: bool = False) -> Layout | None:
    """The first way in which these columns fit, None where none does; `last` tries the smallest ones only."""
    spans = [(False, page.column), (True, page.text)] if page.columns == 2 else [(False, page.text)]
    for wrap in (False, True):
        for stacked in (True,) if last else (False, True):
            # Prose broken into a narrow column would be a tower: it gets the whole page first.
            for wide, room in spans[-1:] if last else reversed(spans) if wrap else spans:
                for size in SIZES[-1:] if last else SIZES:
                    wrapped = _fit(sheet, columns, size, stacked, wrap, room * POINTS)
                    if wrapped is not None:
                        return Layout(wide, size, stacked, wrapped, columns)
    return None


def _fit(
    sheet: Sheet, columns: Sequence[int], size: float, stacked: bool, wrap: bool, room: float
) -> dict[int, float] | None:
    """The widths of wrapped columns where these columns fit into the room, none where nothing need be; else None."""
    natural = {at: natural_width(sheet, at, size, stacked) for at in columns}
    left = room - GAP * (len(columns) - 1) - sum(natural.values())
    if left >= 0:
        return {}
    if not wrap:
        return None
    prose = [at for at in columns if natural[at] > PROSE * size]
    room = left + sum(natural[at] for at in prose)
    least = {at: max(NARROWEST * size, _longest_word(sheet, at, size)) for at in prose}
    if not prose or room < sum(least.values()):
        return None
    # What is left goes to each by what it lacks.
    lacking = {at: max(natural[at] - least[at], 1.0) for at in prose}
    spare, total = room - sum(least.values()), sum(lacking.values())
    return {at: math.floor(least[at] + spare * lacking[at] / total) for at in prose}


def natural_width(sheet: Sheet, at: int, size: float, stacked: bool) -> float:
    """How wide a column is when nothing in it is wrapped, in points."""
    bold = any(column == at for _, column in sheet.best)
    lines = [line for row in sheet.rows for line in lines_of(row[at], stacked)]
    cells = max((width(line, size, bold) for line in lines), default=0.0)
    return max(
        cells, *(width(line, size) for line in head_lines(sheet.columns[at], cells if stacked else math.inf, size))
    )


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


def head_lines(name: str, room: float, size: float) -> list[str]:
    """The name of a column in as few lines as fit the room, broken at spaces and underscores only."""
    lines: list[str] = []
    for word in _words(name):
        joined = f"{lines[-1]}{word}" if lines else word
        if lines and width(joined.rstrip(), size) > room:
            lines.append(word)
        else:
            lines[-1:] = [joined]
    return [line.rstrip() for line in lines] or [""]


def _words(name: str) -> Iterator[str]:
    yield from (found[0] for found in re.finditer(r"[^ _]+[ _]*|[ _]+", name))


def _longest_word(sheet: Sheet, at: int, size: float) -> float:
    texts = [sheet.columns[at].replace("_", " "), *(written(row[at]) for row in sheet.rows)]
    return max((width(word, size) for text in texts for word in text.split()), default=0.0)


def row_height(sheet: Sheet, layout: Layout, row: int) -> float:
    """About how high a row is in this layout, in points."""
    most = 1
    for at in layout.columns:
        cell = sheet.rows[row][at]
        if at in layout.wrapped:
            most = max(most, math.ceil(1.15 * width(written(cell), layout.size) / layout.wrapped[at]))
        else:
            most = max(most, len(lines_of(cell, layout.stacked)))
    return most * layout.size * LEADING + (2 if layout.stacked or layout.wrapped else 0)
