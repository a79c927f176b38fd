"""A row for each judge and candidate, with its names on the left and a panel a column: the form of many comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from helpers.figures import comparisons, labels, panels
from helpers.figures.comparisons import Names
from helpers.figures.style import Style, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


#: Of words beside the names.
LONGEST_WORD = 12


class Block(NamedTuple):
    """Rows of a forest plot from one source of data: the names of each row, and the titles of its panels."""

    data: str
    rows: Sequence[Names]
    titles: Sequence[str]


def room(look: Style, rows: Sequence[Names], columns: int) -> float:
    """How many letters wide each of `columns` panels is beside rows of these names."""
    return (look.text * 72 / look.size / labels.LETTER - sum(_widths(rows)) - 3 * columns) / columns


def _widths(rows: Sequence[Names]) -> list[float]:
    """Letters that the two names, one above the other, and each further word of the rows take."""
    judges, candidates, *others = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        min(max(judges, comparisons.SMALL * candidates, 9), comparisons.LONGEST) + 2,
        *[min(other, LONGEST_WORD) + 2 for other in others],
    ]


def draw(
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
    height = sum(heights) * line + (3.5 + max(titles, 4.2)) * len(blocks) + 3 + 1.5 * above
    figure = canvas(look, look.text, height * look.size / 72)
    shape = {"squeeze": False, "width_ratios": ratios, "height_ratios": heights}
    table = figure.subplots(len(blocks), len(ratios), sharey="row", **shape)
    found, several = [], len({block.data for block in blocks}) > 1
    for i, (row, block) in enumerate(zip(table, blocks, strict=True)):
        before = blocks[i - 1] if i else Block("", (), ())
        shown = len(heads) + 1
        _texts(row[:shown], block, heads if not i else None)
        if block.data != before.data:
            comparisons.source(row[0], block.data, several, 0, (0.5 + 2.7 * (not i)) * look.size)
        for axes in row[shown + len(block.titles) :]:
            axes.set_visible(False)
        found.append(list(row[shown : shown + len(block.titles)]))
        for axes, title in zip(found[-1], block.titles, strict=True):
            panels.rows(axes, [""] * len(block.rows))
            # Numbers below must not touch those of the next panel.
            axes.locator_params(axis="x", nbins=3 if room(look, every, most) > 10 else 2)
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
        row[0].text(0, at - 0.23, comparisons.named(judge, comparisons.LONGEST), va="center")
        words = comparisons.named(candidate, int(comparisons.LONGEST / comparisons.SMALL))
        row[0].text(0, at + 0.23, words, va="center", color=labels.SOFT, fontsize="small")
        for axes, word in zip(row[1:], others, strict=True):
            axes.text(0, at, comparisons.named(word, LONGEST_WORD), va="center")
    for axes, head in zip(row, () if heads is None else ("judge\ncandidate", *heads), strict=False):
        axes.set_title(head, loc="left", color=labels.SOFT)


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
