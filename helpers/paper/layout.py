"""How a table is set so that it fits its column and can still be read: smaller, stacked, wrapped, or in parts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from helpers.paper.folders import Sheet
from helpers.paper.pages import POINTS, SMALLEST, Page
from helpers.paper.widths import width

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
