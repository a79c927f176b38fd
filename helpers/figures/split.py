"""One number of every comparison, split by category or by choice: a panel a comparison while few, else a row each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import comparisons, forest, judges, labels, panels
from helpers.figures.style import GREY, Look, Style
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

NONE = "none"
#: Columns side by side before a new block of rows begins.
BESIDE = 4
Part = Callable[[Estimate], str]
At = Mapping[tuple[comparisons.Names, str], Estimate]


def few(sources: Mapping[str, Sequence[Estimate]]) -> bool:
    """Are there so few comparisons in every source of data that each gets a panel?"""
    return max(len({comparisons.of(each) for each in group}) for group in sources.values()) <= comparisons.MOST


def draw(
    sources: Mapping[str, Sequence[Estimate]],
    part: Part,
    parts: Sequence[str],
    line: float,
    vendors: judges.Vendors,
    look: Style,
) -> Canvas:
    """The number of each comparison in each of `parts`, which `part` tells; a dashed line at `line`, NaN for none.

    The first part is where the others are compared with: a dotted line in its panel, and what rows are sorted by.
    """
    drawn = judges.looks({each.where["judge"] for group in sources.values() for each in group}, vendors, look)
    at = {data: {(comparisons.of(each), part(each)): each for each in group} for data, group in sources.items()}
    whole = next(iter(sources.values()))[0]
    unit = panels.scale(whole.unit)[1]
    return (_panels if few(sources) else _rows)(at, parts, line, unit, drawn, look)


def _point(axes: Axes, y: float, each: Estimate | None, look: Look) -> None:
    """A point with its interval; a panel may be too narrow for more than a short word in its place."""
    if each is None or math.isnan(each.value):
        labels.note(axes, y, NONE if each is None else panels.NOT_ESTIMABLE)
    else:
        panels.dot(axes, y, each, look)


def _panels(
    at: Mapping[str, At], parts: Sequence[str], line: float, unit: str, drawn: Mapping[str, Look], look: Style
) -> Canvas:
    places = {
        data: sorted({names for names, _ in cells}, key=lambda names: (list(drawn).index(names[0]), names[1]))
        for data, cells in at.items()
    }
    words = [comparisons.named(part, comparisons.LONGEST) for part in parts]
    high, beside = 1.5 * len(parts) + 1, max(map(len, words))
    figure, axes_of = comparisons.grid(look, places, high, 3, beside, sharex=True, sharey=True)
    for (data, names), axes in axes_of.items():
        panels.rows(axes, words)
        if not math.isnan(line):
            panels.reference(axes, line)
        first = at[data].get((names, parts[0]))
        if first is not None and len(parts) > 1 and not math.isnan(first.value):
            value = panels.scale(first.unit)[0] * first.value
            axes.axvline(value, color=GREY, linewidth=axes.spines["left"].get_linewidth(), linestyle=":", zorder=1)
        for i, each in enumerate(parts):
            _point(axes, i, at[data].get((names, each)), drawn[names[0]])
        axes.locator_params(axis="x", nbins=4)
    forest.scaled(list(axes_of.values()), line)
    figure.supxlabel(unit, fontsize=look.size)
    return figure


def _rows(
    at: Mapping[str, At], parts: Sequence[str], line: float, unit: str, drawn: Mapping[str, Look], look: Style
) -> Canvas:
    size = math.ceil(len(parts) / math.ceil(len(parts) / BESIDE))
    chunks = [parts[i : i + size] for i in range(0, len(parts), size)]
    order = {}
    for data, cells in at.items():
        names = {names for names, _ in cells}
        first = {each: next((cells[each, p].value for p in parts if (each, p) in cells), math.nan) for each in names}
        order[data] = comparisons.by_value(list(names), first)
    every = [names for block in order.values() for names in block]
    letters = int(forest.room(look, every, size))
    titles = [[labels.wrapped(part, max(letters, 6), 2) for part in chunk] for chunk in chunks]
    # Blocks with the same titles follow each other, so that these are said once.
    blocks = [forest.Block(data, order[data], tuple(title)) for title in titles for data in at]
    figure, table = forest.draw(look, blocks)
    for row, (chunk, data) in zip(table, [(chunk, data) for chunk in chunks for data in at], strict=True):
        for axes, part in zip(row, chunk, strict=True):
            if not math.isnan(line):
                panels.reference(axes, line)
            for i, names in enumerate(order[data]):
                _point(axes, i, at[data].get((names, part)), drawn[names[0]])
            forest.smaller(axes, look)
    forest.scaled([axes for row in table for axes in row], line)
    forest.foot(table, unit)
    return figure
