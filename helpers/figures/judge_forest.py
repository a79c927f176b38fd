"""All judges of a card: a sorted forest plot for each measure, published judges above, simulated ones below a rule."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import cards, comparisons, labels, panels
from helpers.figures import style as styles
from helpers.figures.cards import MEANINGS
from helpers.figures.style import INK, Figure, Style, canvas, finished, settings
from helpers.words import CardLine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: How a point is filled by verdict, the fuller the worse; untold ones have no interval and are a cross.
FILLS = {"bias": "full", "hint": "left", "not shown": "none"}
REAL, SIMULATED = "#A63603", "#5A5A5A"
_MARKS = {"bias": "full", "hint": "half full", "not shown": "open", "untold": "cross"}
#: What captions say of the marks.
KEY = f"Points {'; '.join(f'{mark}: {MEANINGS[verdict]}' for verdict, mark in _MARKS.items())}. Lines: 95 % intervals."
LONGEST = 20
#: Heights in lines: a row, and what a panel has beside its rows.
LINE, BESIDE = 1.3, 5.2


def show_judge_forest(lines: Sequence[CardLine], style: str | Style = "paper", name: str = "judge_forest") -> Figure:
    """How strong is each bias of all judges, measure by measure?

    A panel for each measure with a verdict (those that only describe have none), its judges from the largest value to
    the smallest, of each source of data for itself, published first. No line with a verdict and a number is a
    ValueError (`panels.NothingToDraw`).
    """
    look = styles.style(style)
    found = [x for x in cards.cells(lines).values() if not math.isnan(x.estimate.value)]
    judged = [x for x in cards.measures(lines) if any(y.measure == x and y.verdict != "described" for y in found)]
    if not judged:
        raise panels.NothingToDraw("no line of a judge card has a verdict and a number")
    by = {measure: _sorted([x for x in found if x.measure == measure]) for measure in judged}
    columns = packed({measure: LINE * (len(rows) + 0.5) + BESIDE for measure, rows in by.items()})
    high = max(sum(LINE * (len(by[m]) + 0.5) + BESIDE for m in column) for column in columns)
    with settings(labels.at_file_resolution(look)):
        figure = canvas(look, look.text if len(columns) > 1 else look.column, (high + 2) * look.size / 72)
        outer = figure.add_gridspec(1, len(columns))
        for place, column in zip(outer, columns, strict=False):
            heights = [LINE * (len(by[m]) + 0.5) + BESIDE for m in column]
            rest = high - sum(heights)
            ratios = [*heights, rest] if rest > 1 else heights
            for cell, measure in zip(place.subgridspec(len(ratios), 1, height_ratios=ratios), column, strict=False):
                _panel(figure.add_subplot(cell), measure, by[measure], look)
        shown = [x for rows in by.values() for x in rows]
        alt = panels.alt("Forest plots of the judge card", [x.estimate for x in shown], most=60)
        return finished(name, figure, _caption(shown), alt, look)


def _sorted(mine: Sequence[CardLine]) -> list[CardLine]:
    order = [*panels.SOURCES]
    at = {data: order.index(data) if data in order else len(order) for data in {x.estimate.data for x in mine}}
    return sorted(mine, key=lambda x: (at[x.estimate.data], -x.estimate.value, x.judge))


def packed(heights: Mapping[str, float]) -> list[list[str]]:
    """The panels in two columns of nearly equal height, the tallest first; one column where there is one panel."""
    if len(heights) == 1:
        return [list(heights)]
    columns: list[list[str]] = [[], []]
    for measure in sorted(heights, key=lambda m: -heights[m]):
        min(columns, key=lambda column: sum(heights[m] for m in column)).append(measure)
    return columns


def _panel(axes: Axes, measure: str, rows: Sequence[CardLine], look: Style) -> None:
    """One measure: a row a judge, a rule between sources of data."""
    small = max(6.0, 0.78 * look.size)
    names = [comparisons.named(x.judge, LONGEST) for x in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=small)
    axes.set_ylim(len(rows) - 0.3, -0.7)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=small)
    axes.grid(axis="x")
    axes.locator_params(axis="x", nbins=5)
    panels.reference(axes, 0.0)
    for at, (line, label) in enumerate(zip(rows, axes.get_yticklabels(), strict=True)):
        if line.estimate.data == "simulated":
            label.set(style="italic", color=labels.SOFT)
        point(axes, at, line, look)
    sources = [x.estimate.data for x in rows]
    for at in (i for i in range(1, len(rows)) if sources[i] != sources[i - 1]):
        axes.axhline(at - 0.5, color=INK, linewidth=look.size / 18)
    axes.set_title(measure, loc="left", fontsize=look.size)
    _simulated(axes, sources, small)
    units = sorted({panels.scale(x.estimate.unit)[1] for x in rows})
    axes.set_xlabel(" or ".join(cards.UNITS.get(unit, unit) for unit in units), fontsize=small)


def point(axes: Axes, at: float, line: CardLine, look: Style, size: float = 1.0) -> None:
    """A line of a card at a height of a panel: its interval, and a mark that is the fuller the worse its verdict."""
    each = line.estimate
    factor, colour = panels.scale(each.unit)[0], SIMULATED if each.data == "simulated" else REAL
    if not math.isnan(each.low):
        ends = [each.low * factor, each.high * factor]
        axes.plot(ends, [at, at], color=colour, linewidth=size * look.size / 9, zorder=2)
    fill = FILLS.get(line.verdict)
    how = {"fillstyle": fill, "markerfacecoloralt": "white"} if fill and fill != "none" else {}
    if fill == "none":
        how = {"markerfacecolor": "white"}
    mark = {"color": colour, "markersize": 0.5 * size * look.size, "zorder": 3}
    axes.plot(each.value * factor, at, "o" if fill else "x", **mark, **how)


def _simulated(axes: Axes, sources: Sequence[str], small: float) -> None:
    """SIMULATED beside the rows that are, or above the panel where these are too few for the word."""
    rows = [at for at, data in enumerate(sources) if data == "simulated"]
    how = {"fontsize": small, "fontweight": "bold", "color": labels.SOFT}
    if len(rows) > 3:
        place, across = (1.03, sum(rows) / len(rows)), axes.get_yaxis_transform()
        axes.text(*place, "SIMULATED", transform=across, rotation=270, ha="left", va="center", **how)
    elif rows:
        axes.set_title("SIMULATED" if len(rows) == len(sources) else "SIMULATED below", loc="right", **how)


def _caption(shown: Sequence[CardLine]) -> str:
    counts = [
        f"{sum(x.estimate.data == data for x in shown)} of {panels.SOURCES.get(data, data)}"
        for data in panels.by_data([x.estimate for x in shown])
    ]
    return (
        f"All judges with a verdict, measure by measure, sorted. {KEY} Points shown: {', '.join(counts)}. Their n, "
        "questions and unreadable shares stand in the table of the card."
    )
