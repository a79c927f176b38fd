"""The form of curves: lines over a number, with dots and their intervals, in one panel or several."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from .intervals import add_legend, legend_lines, look_scales
from .points import NothingToDraw, short
from .style import HIGHEST, Drawn, Look, Style, canvas, letters, settings, theme

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = ("panel", "line", "x", "joined", "dot", "low", "high", "left", "right")
Finish = Callable[["Axes", str], None]


def most_panels(across: int, high: float, look: Style) -> int:
    """How many panels a page has room for, the last row a little lower; of more their numbers alone are drawn."""
    return min(12, across * math.ceil((HIGHEST * 72 / 1.25 / look.size - 5) / high))


def plot_curves(
    frame: pd.DataFrame,
    looks: Mapping[str, Look],
    look: Style,
    xlabel: str,
    ylabel: str,
    finish: Finish,
    across: int = 2,
    high: float = 14.0,
    legend: Mapping[str, Look] | None = None,
    title: str = "",
    hollow: bool = True,
) -> Drawn:
    """Draw a panel for each `panel` and a line for each `line` of a frame.

    Columns are those of COLUMNS: line is a key of `looks`; at x lie `joined`, which a line runs through, and `dot`, a
    point with its interval (low, high; along x: left, right). `finish(axes, panel)` sets what each panel has of its
    own: scales, references, words. No row is NothingToDraw.
    """
    import seaborn.objects as so

    if frame.empty:
        raise NothingToDraw("no point to draw")
    panels = list(dict.fromkeys(frame["panel"]))
    across = min(across, len(panels))
    down = math.ceil(len(panels) / across)
    width = look.text if across > 1 else look.column
    height = (down * high + 5 + legend_lines(legend, width, look)) * 1.25 * look.size / 72
    with settings(look.rc):
        figure = canvas(look, width, min(height, HIGHEST), title)
        # One frame for all layers: seaborn joins a layer's own frame to that of the plot by position.
        frame = frame.reset_index(drop=True).reindex(columns=COLUMNS)
        frame["known"] = frame["low"].notna() | frame["left"].notna() | (not hollow)
        room = int(0.9 * letters(width, look) / across) - 5
        plot = so.Plot(frame, color="line", marker="line").theme(theme(look.rc))
        if frame["joined"].notna().any():
            plot = plot.add(so.Line(linewidth=look.size / 8, marker=""), x="x", y="joined", marker=None, legend=False)
        thin = so.Range(linewidth=look.size / 8)
        if frame["low"].notna().any():
            plot = plot.add(thin, x="x", ymin="low", ymax="high", legend=False)
        if frame["left"].notna().any():
            plot = plot.add(thin, y="dot", xmin="left", xmax="right", orient="y", legend=False)
        plot = plot.add(so.Dot(pointsize=0.6 * look.size), x="x", y="dot", fill="known", legend=False)
        plot = plot.scale(**look_scales(looks))
        if len(panels) == 1:
            found = [figure.subplots()]
            plot.on(found[0]).plot()
        else:
            plot.facet("panel", order=panels, wrap=across).share(x=True, y=True).on(figure).plot()
            found = figure.axes
        for axes, panel in zip(found, panels, strict=True):
            axes.set_title("")
            axes.set_title("\n".join(short(line, room) for line in panel.split("\n")), loc="left", fontweight="bold")
            axes.grid(True)
            finish(axes, panel)
        for i, axes in enumerate(found):
            below = textwrap.fill(xlabel, room) if i + across >= len(panels) else ""
            axes.set(xlabel=below, ylabel="" if i % across else textwrap.fill(ylabel, 24))
        if legend:
            add_legend(figure, look, legend)
        return Drawn(figure, look)
