"""Two forms without intervals drawn as lines: a table of coloured cells, and bars of shares."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from .intervals import LONGEST, add_legend, fold, legend_lines, lines_of, name_lines
from .points import SOFT, SOURCES, NothingToDraw, in_order, short, source_name
from .style import HIGHEST, INK, Drawn, Style, canvas, letters, settings, theme

#: Fills on which numbers are white, and that of what could not be read or was lost.
DARK, LOST = ("#D55E00",), "#D9D9D9"


class Cell(NamedTuple):
    """A cell of a table: what its colour and its words say; `outlined` marks it. A NaN value has words alone."""

    row: str
    column: str
    value: float
    words: str
    data: str = ""
    outlined: bool = False


def plot_table(
    cells: Sequence[Cell],
    look: Style,
    xlabel: str,
    colours: str = "Blues",
    span: tuple[float, float] = (0.0, 1.0),
    above: bool = False,
    title: str = "",
) -> Drawn:
    """Draw a row and a column a name in the order given, rows of one data source under its heading.

    `above`: names of columns stand above the table, upright where they are long. No cell is NothingToDraw.
    """
    import pandas as pd
    import seaborn as sns
    from matplotlib.patches import Rectangle

    if not cells:
        raise NothingToDraw("no cell to draw")
    columns = list(dict.fromkeys(cell.column for cell in cells))
    sources = in_order([cell.data for cell in cells], list(SOURCES))
    named = len(sources) > 1 or sources[:1] == ["simulated"]
    tall = 1.1 + max(cell.words.count("\n") for cell in cells)
    most = int((HIGHEST * 72 / look.size / 1.25 - 10) / (tall + 0.4)) - len(sources) * named
    index: list[tuple[str, str]] = []
    left_out = 0
    for data in sources:
        mine = list(dict.fromkeys(cell.row for cell in cells if cell.data == data))
        share = max(1, int(most * len(mine) / len({(cell.data, cell.row) for cell in cells})))
        index += [(data, "")] * named + [(data, row) for row in mine[:share]]
        left_out += len(mine[share:])
    at = {((cell.data, cell.row), cell.column): cell for cell in cells}
    grid = [[at.get((row, column), Cell("", "", math.nan, "")) for column in columns] for row in index]
    values = pd.DataFrame([[cell.value for cell in line] for line in grid])
    names = [source_name(data) if not row else fold(row) for data, row in index]
    widest = max(len(part) for cell in cells for part in cell.words.split("\n"))
    labels = ["\n".join(short(part, LONGEST) for part in column.split("\n")) for column in columns]
    heads = max(len(part) for label in labels for part in label.split("\n"))
    needed = max(len(part) for name in names for part in name.split("\n")) + len(columns) * (widest + 1.5)
    width = look.text if needed > letters(look.column, look) else look.column
    room = (letters(width, look) - min(max(map(len, names)), LONGEST)) / len(columns)
    upright = 0.85 * heads > room
    depth = 0.62 * heads if upright else 1.3 * max(column.count("\n") + 1 for column in columns)
    lines = (tall + 0.4) * len(index) + depth + 3.5 + 2.5 * bool(title)
    with settings(look.rc):
        figure = canvas(look, width, min(1.25 * lines * look.size / 72, HIGHEST), title)
        axes = figure.subplots()
        size = max(6.0, min(1.0, room / (widest + 1)) * look.size)
        how = {"cmap": colours, "vmin": span[0], "vmax": span[1], "cbar": False, "linewidths": 0.6, "ax": axes}
        if values.notna().any(axis=None):
            words = pd.DataFrame([[cell.words for cell in line] for line in grid])
            sns.heatmap(values, annot=words, fmt="", annot_kws={"fontsize": size, "linespacing": 1.05}, **how)
        axes.set(xlim=(0, len(columns)), ylim=(len(index), 0))
        for i, j in product(range(len(index)), range(len(columns))):
            cell = grid[i][j]
            if math.isnan(cell.value):
                axes.text(j + 0.5, i + 0.5, cell.words, ha="center", va="center", color=SOFT, fontsize=size)
            if cell.outlined:
                box: dict[str, Any] = {"fill": False, "edgecolor": INK, "linewidth": look.size / 6, "zorder": 3}
                axes.add_patch(Rectangle((j + 0.03, i + 0.04), 0.94, 0.92, **box))
        axes.set_xticks([j + 0.5 for j in range(len(columns))], labels, rotation=90 if upright else 0, fontsize="small")
        axes.set_yticks([i + 0.5 for i in range(len(index))], names, rotation=0)
        axes.tick_params(axis="y", labelsize="small" if size < 0.8 * look.size else look.size)
        for label, (_, row) in zip(axes.get_yticklabels(), index, strict=True):
            if not row:
                label.set(fontweight="bold", color=SOFT)
        axes.tick_params(length=0, labelbottom=not above, labeltop=above)
        axes.spines[:].set_visible(False)
        axes.set(xlabel=textwrap.fill(xlabel, max(16, int(room * len(columns)))), ylabel="")
        return Drawn(figure, look, left_out)


class Bar(NamedTuple):
    """A row of shares by part, which need not sum to 1; `numbers` stand in the parts where they fit.

    `lines` are intervals in the bar, as shares; `note` stands right of it.
    """

    label: str
    shares: Mapping[str, float]
    data: str
    group: str = ""
    numbers: Mapping[str, str] = {}
    lines: Sequence[tuple[float, float]] = ()
    note: str = ""


def plot_shares(bars: Sequence[Bar], fills: Mapping[str, str], look: Style, xlabel: str, title: str = "") -> Drawn:
    """Draw stacked bars of shares in %, the parts in the order of `fills` (part: colour). No bar is NothingToDraw."""
    import pandas as pd
    import seaborn.objects as so

    if not bars:
        raise NothingToDraw("no bar to draw")
    height = 1.5 + 0.9 * max(bar.label.count("\n") for bar in bars)
    parts_of = [part for part in fills if any(bar.shares.get(part) for bar in bars)] or list(fills)
    shown = {part: {"facecolor": fills[part]} for part in parts_of}
    above = 4.0 + legend_lines(shown, look.column, look) + 1.3 * (len(title) > 45)
    room = HIGHEST * 72 / look.size / 1.25 - above - 2.5
    lines, at, left_out = lines_of([(bar.data, bar.group, bar.label) for bar in bars], height, room)
    drawn = [bar for bar in bars if (bar.data, bar.group, bar.label) in at]
    noted = max(len(bar.note) for bar in drawn)
    wide = noted > 12 or any(bar.numbers for bar in bars) or max(len(line.words) for line in lines) > 16
    width = look.text if wide else look.column
    high = (max(line.y for line in lines) + height + above + 1) * 1.25 * look.size / 72
    with settings(look.rc):
        figure = canvas(look, width, min(high, HIGHEST), title)
        axes = figure.subplots()
        # Bars are stacked by their own frame, which holds no interval.
        parts, ends = [], []
        for bar in drawn:
            y, middle = at[bar.data, bar.group, bar.label], (len(bar.lines) - 1) / 2
            parts += [(100 * bar.shares[part], y, part) for part in fills if bar.shares.get(part, 0) > 0]
            ends += [(y + 0.6 * (i - middle), 100 * low, 100 * high) for i, (low, high) in enumerate(bar.lines)]
        if parts:
            mark = so.Bar(width=0.75, alpha=1, edgecolor="white", edgewidth=0.6)
            plot = so.Plot(pd.DataFrame(parts, columns=["share", "y", "part"]), x="share", y="y", color="part")
            plot = plot.theme(theme(look.rc)).add(mark, so.Stack(), orient="y", legend=False)
            plot.scale(color=dict(fills), y=so.Continuous()).on(axes).plot()
        if ends:
            plot = so.Plot(pd.DataFrame(ends, columns=["y", "low", "high"]), y="y", xmin="low", xmax="high")
            plot = plot.theme(theme(look.rc))
            for colour, thick in (("white", 0.5), (INK, 0.18)):
                plot = plot.add(so.Range(color=colour, linewidth=thick * look.size), orient="y", legend=False)
            plot.on(axes).plot()
        name_lines(axes, lines, height)
        axes.set(xlim=(0, 100), xlabel=xlabel, ylabel="")
        axes.set_xticks([0, 25, 50, 75, 100])
        axes.spines[["left", "bottom"]].set_visible(False)
        fits = letters(width, look) - max(len(line.words) for line in lines if not line.heading) - noted - 3
        for bar in drawn:
            y, left = at[bar.data, bar.group, bar.label], 0.0
            for part, colour in fills.items():
                share = 100 * bar.shares.get(part, 0)
                number = bar.numbers.get(part, "")
                if number and len(number) + 1 <= 0.01 * share * fits:
                    ink = "white" if colour in DARK else INK
                    axes.text(left + share / 2, y, number, ha="center", va="center", fontsize="small", color=ink)
                left += share
            if not left:
                axes.text(1, y, "none", va="center", color=SOFT, fontsize="small")
            if bar.note:
                how: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": "small"}
                axes.text(1.02, y, bar.note, **how)
        add_legend(figure, look, shown)
        return Drawn(figure, look, left_out)
