"""The form of most figures: rows of numbers with their intervals, under headings, in one column or a few."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..types import Estimate
from . import points
from .points import PLAIN, SOFT, in_order, scale, short, source_name
from .style import GREY, HIGHEST, INK, Drawn, Look, Style, canvas, letters, settings, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Letters of a row's name, and of the room that a panel needs beside it.
LONGEST, PANEL = 30, 11
#: The height of a row in lines of text, and what each further series adds.
ROW, SERIES = 1.3, 0.62
#: How much closer rows may stand before the last are left out.
CLOSER = 0.82
BAND = "#EFEFEF"
COLUMNS = ("panel", "y", "look", "value", "low", "high", "inner_low", "inner_high", "reach_low", "reach_high", "small",
           "known")  # fmt: skip


class Row(NamedTuple):
    """A number, the row it stands in, and how it is drawn.

    Rows of one `data` source and one `group` stand under their headings. `panel` is the title of its column, `series`
    tells apart numbers in one row. `inner` is drawn as a thicker line, `reach` as a grey band around 0 (in the
    estimate's unit), `values` as small points. `note` stands at the right. Without a number `absent` says why.
    """

    label: str
    estimate: Estimate | None
    data: str
    group: str = ""
    panel: str = ""
    series: str = ""
    look: Look = PLAIN
    inner: Estimate | None = None
    reach: float = math.nan
    star: bool = False
    note: str = ""
    absent: str = "not asked"
    values: Sequence[float] = ()


class _Line(NamedTuple):
    y: float
    words: str
    heading: str


Place = tuple[str, str, str]
#: A row, the height of its middle, and that of its number.
Placed = tuple[Row, float, float]


def lines_of(places: Sequence[Place], height: float, room: float) -> tuple[list[_Line], dict[Place, float], int]:
    """The lines of a figure from above, each row's height, and how many rows had no room.

    `places` are data source, group and label of each row. Where all are higher than `room` each source keeps its first.
    """
    places = list(dict.fromkeys(places))
    sources = in_order([data for data, _, _ in places], list(points.SOURCES))
    named = len(sources) > 1 or sources[:1] == ["simulated"]
    heads = len({place[:2] for place in places if place[1]}) + named * len(sources)
    most = int((room - 1.25 * heads) / height)
    share = most / max(len(places), 1)
    lines, at, y, left_out = [], {}, 0.0, 0
    for data in sources:
        mine = [place for place in places if place[0] == data]
        kept = mine if share >= 1 else mine[: max(1, int(share * len(mine)))]
        left_out += len(mine) - len(kept)
        if named:
            lines.append(_Line(y, source_name(data), "source"))
            y += 1.25
        for group in dict.fromkeys(group for _, group, _ in kept):
            if group:
                lines.append(_Line(y, short(group, LONGEST + 6), "group"))
                y += 1.15
            for place in kept:
                if place[1] == group:
                    at[place] = y + (height - ROW) / 2
                    lines.append(_Line(at[place], place[2], ""))
                    y += height
    return lines, at, left_out


def name_lines(axes: Axes, lines: Sequence[_Line], height: float) -> None:
    """The names of rows and headings beside a panel, first on top."""
    names = [line.words if line.heading else fold(line.words) for line in lines]
    axes.set_yticks([line.y for line in lines], names)
    for label, line in zip(axes.get_yticklabels(), lines, strict=True):
        if line.heading:
            label.set(fontweight="bold", color=SOFT if line.heading == "source" else INK)
        label.set_linespacing(0.95)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(line.y for line in lines) + height / 2 + 0.1, -0.75)


def fold(name: str) -> str:
    """A name in one line, or in two where it is longer than a line has room."""
    if "\n" in name or len(name) <= LONGEST:
        return "\n".join(short(part, LONGEST) for part in name.split("\n"))
    parts = textwrap.wrap(short(name, 2 * LONGEST), LONGEST, break_long_words=False)
    return "\n".join(parts) if len(parts) == 2 and max(map(len, parts)) <= LONGEST else short(name, LONGEST)


def plot_intervals(
    rows: Sequence[Row], look: Style, xlabel: str | Mapping[str, str], line: float | None = 0.0,
    band: float | None = None, limits: Sequence[float] = (), alike: bool = True,
    legend: Mapping[str, Look] | None = None, title: str = "", hollow: bool = True,
) -> Drawn:  # fmt: skip
    """Draw each number with its 95 % interval: open without one (where `hollow`), words where there is no number.

    `line` is the value of no bias, `band` a margin around it, both in printed units; `alike`: all panels have one x
    axis. No row is NothingToDraw.
    """
    if not rows:
        raise points.NothingToDraw("no row to draw")
    panels, series = (list(dict.fromkeys(names)) for names in ([row.panel for row in rows], [r.series for r in rows]))
    several = max(ROW, SERIES * len(series) + 0.5, *(2.1 * ("\n" in fold(row.label)) for row in rows))
    height = several + 1.2 * any(row.values for row in rows)
    above = 2.6 + 1.3 * max(panel.count("\n") + 1 for panel in panels) + legend_lines(legend, look.column, look)
    above += 1.3 * (1 + len(title) // int(0.9 * letters(look.column, look)))
    room = HIGHEST * 72 / look.size / 1.25 - above - 2.5
    places = [(row.data, row.group, row.label) for row in rows]
    lines, at, left_out = lines_of(places, height, room)
    if left_out:
        height *= CLOSER
        lines, at, left_out = lines_of(places, height, room)
    middle = (len(series) - 1) / 2
    placed = [
        (row, at[place], at[place] + 0.45 * bool(row.values) + SERIES * (series.index(row.series) - middle))
        for row, place in zip(rows, places, strict=True)
        if place in at
    ]
    beside = max(len(part) for each in lines for part in fold(each.words).split("\n"))
    noted = max(len(part) for row in rows for part in row.note.split("\n"))
    heads = [max(PANEL, *map(len, panel.split("\n"))) for panel in panels] if len(panels) > 1 else [26]
    needed = beside + noted + sum(heads) + 2 * len(panels)
    width = look.text if needed > letters(look.column, look) else look.column
    high = (max(each.y for each in lines) + height + above + 1.5) * 1.25 * look.size / 72
    with settings(look.rc):
        figure = canvas(look, width, min(high, HIGHEST), title)
        wide = (letters(width, look) - beside - noted) / len(panels) - 2
        size = look.size * (0.6 if len(series) < 3 else 0.5)
        axes_of = _marks(figure, placed, panels, size, look, alike, hollow)
        for panel, axes in axes_of.items():
            name_lines(axes, lines, height) if panel == panels[0] else axes.tick_params(axis="y", length=0)
            axes.set(xlabel=xlabel.get(panel, "") if isinstance(xlabel, Mapping) else "", ylabel="")
            axes.set_title("")
            folded = (textwrap.fill(part, max(8, int(wide)), break_long_words=False) for part in panel.split("\n"))
            axes.set_title("\n".join(folded), loc="left")
            if limits:
                axes.set_xlim(*limits)
            elif any(
                r.panel == panel and (r.values or (r.estimate and r.estimate.value == r.estimate.value)) for r in rows
            ):
                axes.margins(x=0.06)
            else:
                # An axis without a number still shows a scale that means something.
                axes.set_xlim(*((0, 100) if line is None else (line - 10, line + 10)))
            if line is not None:
                reference(axes, line)
            if band is not None:
                axes.axvspan(-band, band, color=BAND, zorder=0, linewidth=0)
                low, high = axes.get_xlim()
                axes.set_xlim(min(low, -1.3 * band), max(high, 1.3 * band))
            axes.grid(axis="x")
            axes.locator_params(axis="x", nbins=max(1, min(7, int(wide / 6))))
            here = [each for each in placed if each[0].panel == panel]
            _words(axes, here, len(series), panel == panels[-1], wide)
        if isinstance(xlabel, str):
            # Of a single panel the label may reach below the names of rows and the notes.
            free = 0.85 * wide + (2 * min(beside, noted) if len(panels) == 1 else 0)
            for axes in axes_of.values():
                axes.set_xlabel(textwrap.fill(xlabel, max(9, int(free))))
        if legend:
            add_legend(figure, look, legend)
        return Drawn(figure, look, left_out)


def reference(axes: Axes, value: float, upright: bool = True) -> None:
    """A thin dashed line at the value of no bias."""
    thin = axes.spines["left"].get_linewidth()
    (axes.axvline if upright else axes.axhline)(value, color=GREY, linewidth=thin, linestyle=(0, (4, 3)), zorder=1)


def _marks(
    figure: Canvas, placed: Sequence[Placed], panels: Sequence[str], size: float, look: Style, alike: bool,
    hollow: bool,
) -> dict[str, Axes]:  # fmt: skip
    """All marks of the figure; returns the axes of each panel."""
    import pandas as pd
    import seaborn.objects as so

    # One frame for all layers: seaborn joins a layer's own frame to that of the plot by position.
    marks = []
    for row, _, y in placed:
        each, mark = row.estimate, {"panel": row.panel, "y": y, "look": f"{row.look}"}
        if each is not None and not math.isnan(each.value):
            factor, inner = scale(each.unit)[0], row.inner or replace(each, low=math.nan, high=math.nan)
            ends = {"value": each.value, "low": each.low, "high": each.high, "inner_low": inner.low}
            ends |= {"inner_high": inner.high, "reach_low": -row.reach, "reach_high": row.reach}
            scaled = {name: factor * end for name, end in ends.items()}
            marks.append({**mark, **scaled, "known": not hollow or not math.isnan(each.low)})
        for i, value in enumerate(row.values):
            marks.append({**mark, "small": value, "y": y - 0.6 - 0.13 * (i % 5), "known": True})
    frame = pd.DataFrame(marks, columns=COLUMNS)
    looks = {f"{row.look}": row.look for row, _, _ in placed}
    plot = so.Plot(frame, y="y", color="look", marker="look").theme(theme(look.rc))
    # What lies beneath is drawn first.
    for start, thick, colour in (("reach_", 0.8, BAND), ("inner_", 1 / 3, None), ("", 1 / 6, None)):
        if frame[f"{start}low"].notna().any():
            mark = so.Range(linewidth=thick * look.size, **({"color": colour} if colour else {}))
            plot = plot.add(mark, xmin=f"{start}low", xmax=f"{start}high", orient="y", legend=False)
    if frame["small"].notna().any():
        plot = plot.add(so.Dots(pointsize=0.3 * look.size, fillalpha=0.35, stroke=0.4), x="small", legend=False)
    plot = plot.add(so.Dot(pointsize=size, edgewidth=look.size / 12), x="value", fill="known", legend=False)
    plot = plot.scale(**look_scales(looks), x=so.Continuous(), y=so.Continuous())
    if len(panels) == 1 or not marks:
        found = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        if marks:
            plot.on(found[0]).plot()
    else:
        plot.facet("panel", order=list(panels)).share(x=alike, y=True).on(figure).plot()
        found = figure.axes
    return dict(zip(panels, found, strict=True))


def look_scales(looks: Mapping[str, Look]) -> dict[str, Any]:
    """The scales of seaborn by which the names of looks become colours and markers, and numbers hollow or not."""
    import seaborn.objects as so

    colours, markers = ({name: each[part] for name, each in looks.items()} for part in (0, 1))
    return {"color": colours, "marker": markers, "fill": so.Boolean()}


def _words(axes: Axes, placed: Sequence[Placed], series: int, last: bool, wide: float) -> None:
    """Words in the place of numbers, stars, and notes at the right."""
    across = axes.get_yaxis_transform()
    absent: dict[float, dict[float, Row]] = {}
    for row, y, place in placed:
        each = row.estimate
        if each is None or math.isnan(each.value):
            absent.setdefault(y, {}).setdefault(place, row)
        elif row.star:
            end = scale(each.unit)[0] * (each.value if math.isnan(each.high) else each.high)
            axes.annotate("*", (end, place), (3, -2), textcoords="offset points", va="center", fontweight="bold")
        if row.note and last:
            axes.text(1.03, y, row.note, transform=across, va="center", style="italic", fontsize="small")
    how: dict[str, Any] = {"transform": across, "ha": "center", "va": "center", "color": SOFT, "fontsize": "small"}
    for y, lost in absent.items():
        # One word for a row of which nothing is known, else one beside each number that is lost.
        for place, row in [(y, next(iter(lost.values())))] if len(lost) == series else lost.items():
            words = "not estimable" if row.estimate is not None else row.absent
            text = axes.text(0.5, place, words if len(words) < wide + 2 else points.NOT_ESTIMABLE, **how)
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})


Legend = Mapping[str, "Look | Mapping[str, Any]"]


def legend_columns(named: Legend, width: float, look: Style) -> int:
    """How many names stand beside each other, as many in each column, since columns are filled first."""
    fit = max(1, min(len(named), int(letters(width, look) / (max(map(len, named)) + 6))))
    return math.ceil(len(named) / math.ceil(len(named) / fit))


def legend_lines(named: Legend | None, width: float, look: Style) -> float:
    """The height of a legend in lines of text."""
    return 0.5 + 1.25 * math.ceil(len(named) / legend_columns(named, width, look)) if named else 0.0


def add_legend(figure: Canvas, look: Style, named: Legend) -> None:
    """Names below the panels: of points (a Look), or of areas (how they are filled)."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Line2D([], [], linestyle="", color=each.colour, marker=each.marker, markersize=0.6 * look.size, label=name)
        if isinstance(each, Look)
        else Patch(label=name, **each)
        for name, each in named.items()
    ]
    columns = legend_columns(named, figure.get_figwidth(), look)
    how = {"ncols": columns, "frameon": False, "borderpad": 0.2, "alignment": "left", "handletextpad": 0.3}
    figure.legend(handles=handles, loc="outside lower left", **how)
