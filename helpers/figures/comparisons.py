"""A judge and a candidate on figures: a row with both names where there are many, a panel under both where few."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from helpers.figures import labels, panels
from helpers.figures.style import Style, canvas
from helpers.types import Estimate, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Above this number of comparisons small panels are no longer compared, only counted.
MOST = 12
LONGEST = 24
#: The size of small print.
SMALL = 0.833
Names = tuple[str, ...]


class Block(NamedTuple):
    """Rows of a forest plot from one source of data: the names of each row, and the titles of its panels."""

    data: str
    rows: Sequence[Names]
    titles: Sequence[str]


def of(each: Estimate) -> Names:
    """The names of an estimate's comparison: judge, candidate."""
    return each.where["judge"], each.where["candidate"]


def by_value(names: Sequence[Names], values: Mapping[Names, float]) -> list[Names]:
    """The comparisons from the largest value to the smallest, those without a number last, ties by name."""

    def key(each: Names) -> tuple[bool, float, Names]:
        value = values.get(each, math.nan)
        return math.isnan(value), 0.0 if math.isnan(value) else -value, each

    return sorted(set(names), key=key)


def caption(words: str, shown: Sequence[Estimate], estimates: Sequence[Estimate]) -> str:
    """As `panels.caption`; a point counts comparisons, and `invalid_share` tells how many had no two verdicts."""
    judged = {of(each) for each in shown}
    lost = [e for e in estimates if e.id == "invalid_share" and set(e.where) == {"judge", "candidate"}]
    shares = [
        replace(each, id="unreadable_share") for each in lost if of(each) in judged and not math.isnan(each.value)
    ]
    said = panels.caption("", shown, shares)
    return words + said.replace("judgments a point", "comparisons a point").replace("judgments)", "comparisons)")


def room(look: Style, rows: Sequence[Names], columns: int) -> float:
    """How many letters wide each of `columns` panels is beside rows of these names."""
    return (look.text * 72 / look.size / labels.LETTER - sum(_widths(rows)) - 3 * columns) / columns


def _widths(rows: Sequence[Names]) -> list[float]:
    """Letters that the two names, one above the other, and each further word of the rows take."""
    judges, candidates, *others = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [min(max(judges, SMALL * candidates, 9), LONGEST) + 2, *[min(other, LONGEST) + 2 for other in others]]


def named(name: str, most: int) -> str:
    """The name in one line of at most `most` letters; versions stand at the end, so the middle is left out.

    >>> named("gemini-2.0-flash-lite-001", 20)
    'gemini-2.0\N{HORIZONTAL ELLIPSIS}-lite-001'
    """
    name = plain(name)
    return name if len(name) <= most else f"{name[: most // 2]}\N{HORIZONTAL ELLIPSIS}{name[-((most - 1) // 2) :]}"


def forest(
    look: Style, blocks: Sequence[Block], heads: Names = (), line: float = 2.3, alike: bool = True, above: float = 0
) -> tuple[Canvas, list[list[Axes]]]:
    """A row for each comparison, its candidate under its judge, and a panel for each title of its block.

    What rows hold beyond judge and candidate stands under `heads`. `alike`: all panels have one x axis, so that they
    compare; else each column has its own. `above` is the room for a legend, in lines. Returns the panels of each block.
    """
    heights, most = [len(block.rows) for block in blocks], max(len(block.titles) for block in blocks)
    every = [("judge", "candidate", *heads), *(names for block in blocks for names in block.rows)]
    ratios = [*_widths(every), *[max(room(look, every, most), 6)] * most]
    titles = 1.4 * max(title.count("\n") + 1 for block in blocks for title in block.titles)
    height = sum(heights) * line + (3.5 + max(titles, 2.8)) * len(blocks) + 3 + 1.5 * above
    figure = canvas(look, look.text, height * look.size / 72)
    shape = {"squeeze": False, "width_ratios": ratios, "height_ratios": heights}
    table = figure.subplots(len(blocks), len(ratios), sharey="row", **shape)
    found, several = [], len({block.data for block in blocks}) > 1
    for i, (row, block) in enumerate(zip(table, blocks, strict=True)):
        before = blocks[i - 1] if i else Block("", (), ())
        shown = len(heads) + 1
        _texts(row[:shown], block, heads if not i else None)
        if block.data != before.data:
            _source(row[0], block.data, several, 0, (0.5 + 1.35 * (not i)) * look.size)
        for axes in row[shown + len(block.titles) :]:
            axes.set_visible(False)
        found.append(list(row[shown : shown + len(block.titles)]))
        for axes, title in zip(found[-1], block.titles, strict=True):
            panels.rows(axes, [""] * len(block.rows))
            axes.locator_params(axis="x", nbins=3)
            if block.titles != before.titles:
                axes.set_title(title, loc="left")
    groups = [[axes for row in found for axes in row]] if alike else list(zip(*found, strict=True))
    for first, *others in groups:
        for axes in others:
            axes.sharex(first)
    return figure, found


def _texts(row: Sequence[Axes], block: Block, heads: Names | None) -> None:
    """The names of each row, and further words beside them."""
    for axes in row:
        axes.set_axis_off()
        axes.set_xlim(0, 1)
    for at, (judge, candidate, *others) in enumerate(block.rows):
        row[0].text(0, at - 0.23, named(judge, LONGEST), va="center")
        words = named(candidate, int(LONGEST / SMALL))
        row[0].text(0, at + 0.23, words, va="center", color=labels.SOFT, fontsize="small")
        for axes, word in zip(row[1:], others, strict=True):
            axes.text(0, at, named(word, LONGEST), va="center")
    for axes, head in zip(row, () if heads is None else ("judge, candidate", *heads), strict=False):
        axes.set_title(head, loc="left", color=labels.SOFT)


def _source(axes: Axes, data: str, several: bool, left: float, up: float) -> None:
    """The data source above names, so many points from the corner of the panel, where `panels.title` would write it."""
    if several or data == "simulated":
        how = {"color": labels.SOFT, "fontsize": "small", "fontweight": "bold" if data == "simulated" else "normal"}
        words = panels.SOURCES.get(data, plain(data))
        axes.annotate(words, (0, 1), (left, up), "axes fraction", "offset points", ha="left", va="bottom", **how)


def smaller(axes: Axes, look: Style) -> None:
    """Smaller markers, that do not cover intervals in narrow panels."""
    for line in axes.lines:
        if len(line.get_xdata()) == 1:
            line.set_markersize(0.45 * look.size)


def scaled(every: Sequence[Axes], line: float) -> None:
    """Panels of which none has a point still show a scale that means something: about `line`, or 0 to 100."""
    if not any(len(drawn.get_xdata()) == 1 for axes in every for drawn in axes.lines):
        every[0].set_xlim(*((0, 100) if math.isnan(line) else (line - 10, line + 10)))


def foot(table: Sequence[Sequence[Axes]], words: str) -> None:
    """The unit under each panel that has none below it."""
    for i, row in enumerate(table):
        below = table[i + 1] if i + 1 < len(table) else ()
        for axes in row[len(below) :]:
            axes.set_xlabel(words)


def grid(
    look: Style, places: Mapping[str, Sequence[Names]], high: float, columns: int, beside: int = 8, **shape: bool
) -> tuple[Canvas, dict[tuple[str, Names], Axes]]:
    """A panel for each comparison under its names, `high` letters high, and new rows of panels for each data.

    Labels of rows take `beside` letters; `shape` is passed to `subplots`. Where panels do not share the y axis, each
    has labels of its own, and its names begin above these.
    """
    columns = min(max(map(len, places.values())), columns)
    lines = {data: math.ceil(len(names) / columns) for data, names in places.items()}
    width = look.column if columns == 1 else look.text
    heads = max(len(list(filter(None, names))) for block in places.values() for names in block)
    over = 1.35 * len(places) * (len(places) > 1 or "simulated" in places)
    height = sum(lines.values()) * (high + 1.4 * heads + 1.5) + over + 7
    figure = canvas(look, width, height * look.size / 72)
    table = figure.subplots(sum(lines.values()), columns, squeeze=False, **shape)
    own = not shape.get("sharey")
    letters = int((width * 72 / look.size / labels.LETTER - 3 - (0 if own else 0.9 * beside)) / columns) - 1
    found: dict[tuple[str, Names], Axes] = {}
    start = 0
    for data, block in places.items():
        for i in range(lines[data] * columns):
            axes = table[start + i // columns][i % columns]
            if i >= len(block):
                axes.set_visible(False)
                continue
            found[data, block[i]] = axes
            left = -0.6 * beside * look.size if own else 0
            _names(axes, block[i], letters, left, look)
            if not i:
                _source(axes, data, len(places) > 1, left, (0.5 + 1.35 * heads) * look.size)
        start += lines[data]
    for column in table.T:
        # The lowest panel there is carries the ticks of its column.
        [axes for axes in column if axes.get_visible()][-1].tick_params(labelbottom=True)
    return figure, found


def _names(axes: Axes, names: Names, letters: int, left: float, look: Style) -> None:
    """The judge in bold, its candidate and what else tells it apart, above a panel."""
    looks = ({"fontweight": "bold"}, {}, {"color": labels.SOFT, "fontsize": "small"})
    lines = [(name, how) for name, how in zip(names, looks, strict=False) if name]
    for i, (name, how) in enumerate(reversed(lines)):
        # Bold letters are wider.
        words = named(name, int(0.9 * letters) if "fontweight" in how else letters)
        place = (left, (0.5 + 1.35 * i) * look.size)
        axes.annotate(words, (0, 1), place, "axes fraction", "offset points", ha="left", va="bottom", **how)
