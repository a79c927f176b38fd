"""Whom each judge ranks first: a heatmap for a few judges, sorted forest plots for many."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import labels, panels
from helpers.figures import style as styles
from helpers.figures.style import GREY, INK, Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate
from helpers.words import display_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Above this number of judges a heatmap is no longer read, only looked at.
MOST_JUDGES = 12
LONGEST = 28
Cells = dict[tuple[str, str], Estimate]


def _vendor_of(judge: str, vendors: Sequence[str], given: Mapping[str, str] | None) -> str | None:
    """A judge's vendor: as given, else the one vendor named in its name (sim_claude_fast, gpt-5); None if unclear."""
    if given is not None:
        return given.get(judge)
    named = [vendor for vendor in vendors if vendor in judge.replace("-", "_").split("_")]
    return named[0] if len(named) == 1 else None


def show_judge_vendor_heatmap(
    estimates: Sequence[Estimate],
    judge_vendors: Mapping[str, str] | None = None,
    style: str | Style = "paper",
    name: str = "judge_vendor_heatmap",
) -> Figure:
    """How often does each judge rank each vendor first, and is its own vendor the darkest cell?

    Takes `top1_rate` (`where`: judge, vendor; rates); one panel a data source. Cells show %, with the interval in small
    print and n beside the row; own-vendor cells are outlined. With more than 12 judges: forest plots, one panel a
    vendor, judges sorted by the rate at which they rank their own vendor first. Without `judge_vendors` a judge's
    vendor is the one that its name contains.
    """
    look = styles.style(style)
    shown = panels.pick(estimates, ["top1_rate"], ["judge", "vendor"])
    vendors = list(look.looks({each.where["vendor"] for each in shown}))
    judges = {each.where["judge"] for each in shown}
    own = {judge: _vendor_of(judge, vendors, judge_vendors) for judge in judges}
    sources = panels.by_data(shown)
    draw = _forest if max(map(_number_of_judges, sources.values())) > MOST_JUDGES else _heatmap
    with settings(look.rc):
        figure, words = draw(sources, vendors, own, look)
        text = panels.alt("How often each judge ranks each vendor first", shown)
        return finished(name, figure, panels.caption(words, shown, estimates), text, look)


def _label(judge: str, narrow: bool) -> str:
    """A judge's name, in a narrow panel broken at its last underscore where it is long."""
    judge = labels.short(judge, LONGEST)
    head, _, tail = judge.rpartition("_")
    return f"{head}_\n{tail}" if narrow and len(judge) > 14 and head else judge


def _number_of_judges(estimates: Sequence[Estimate]) -> int:
    return len({each.where["judge"] for each in estimates})


def _cells(estimates: Sequence[Estimate]) -> Cells:
    return {(each.where["judge"], each.where["vendor"]): each for each in estimates}


def _heatmap(sources: Mapping[str, list[Estimate]], vendors: list[str], own: Mapping[str, str | None], look: Style):
    def order(judge: str) -> tuple[int, str]:
        vendor = own[judge]
        return (vendors.index(vendor) if vendor in vendors else len(vendors), judge)

    rows = max(map(_number_of_judges, sources.values()))
    width = look.text if len(sources) > 1 or len(vendors) > 4 else look.column
    figure = canvas(look, width, (3.1 * rows + 6) * look.size / 72)
    axes = figure.subplots(1, len(sources), squeeze=False)[0]
    for axis, (source, group) in zip(axes, sources.items(), strict=True):
        judges = sorted({each.where["judge"] for each in group}, key=order)
        _cell_grid(axis, _cells(group), judges, vendors, own)
        # Of a panel narrower than this many letters, long names would take more than the cells.
        narrow = width / len(sources) * 72 / look.size < 34
        axis.set_yticks([i + 0.5 for i in range(len(judges))], [_label(judge, narrow) for judge in judges])
        axis.set_ylim(rows, 0)
        panels.title(axis, source, len(sources) > 1)
    figure.supxlabel("vendor ranked first (% of the judge's verdicts)", fontsize=look.size)
    words = "How often each judge (row) ranks each vendor first, in %; outlined: the judge's own vendor."
    return figure, words


def _cell_grid(axes: Axes, cells: Cells, judges: list[str], vendors: list[str], own: Mapping[str, str | None]) -> None:
    import matplotlib
    from matplotlib.patches import Rectangle

    thick = matplotlib.rcParams["lines.linewidth"]
    for row, judge in enumerate(judges):
        for column, vendor in enumerate(vendors):
            cell = cells.get((judge, vendor))
            empty = cell is None or math.isnan(cell.value)
            # Only three quarters of the scale: on the darkest blues small print cannot be read.
            colour = "#F2F2F2" if empty else panels.shade("Blues", 0.75 * cell.value)
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="white", linewidth=1))
            ink = "white" if not empty and cell.value > 0.8 else INK
            number = "" if cell is None else panels.NOT_ESTIMABLE if empty else f"{100 * cell.value:.1f}"
            has_interval = not empty and not math.isnan(cell.low)
            height = 0.36 if has_interval else 0.5
            axes.text(column + 0.5, row + height, number, ha="center", va="center", color=ink)
            if has_interval:
                interval = f"[{100 * cell.low:.0f}, {100 * cell.high:.0f}]"
                axes.text(column + 0.5, row + 0.72, interval, ha="center", va="center", color=ink, fontsize="small")
        if own[judge] in vendors:
            inset = (vendors.index(str(own[judge])) + 0.03, row + 0.04)
            axes.add_patch(Rectangle(inset, 0.94, 0.92, fill=False, edgecolor=INK, linewidth=thick, zorder=3))
    counts = {judge: {cells[judge, vendor].n for vendor in vendors if (judge, vendor) in cells} for judge in judges}
    every = set().union(*counts.values())
    if len(every) == 1:
        axes.set_title(f"n = {every.pop()}", loc="left", fontsize="small", color="#6E6E6E")
    else:
        for row, judge in enumerate(judges):
            words = "n = " + "/".join(map(str, sorted(counts[judge])))
            axes.text(len(vendors) + 0.06, row + 0.5, words, va="center", color="#6E6E6E", fontsize="small")
    axes.set_xlim(0, len(vendors))
    names = [labels.wrapped(display_name(vendor), 12) for vendor in vendors]
    axes.set_xticks([i + 0.5 for i in range(len(vendors))], names)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _forest(sources: Mapping[str, list[Estimate]], vendors: list[str], own: Mapping[str, str | None], look: Style):
    looks, blocks = look.looks(vendors), {}
    for source, group in sources.items():
        cells = _cells(group)
        own_rate = {judge: cells[judge, own[judge]].value for judge, vendor in cells if vendor == own[judge]}
        judges = {each.where["judge"] for each in group}
        blocks[source] = (cells, sorted(judges, key=lambda judge: (-own_rate.get(judge, -1), judge)))
    heights = [len(judges) for _, judges in blocks.values()]
    height = (sum(heights) * 1.5 + 5 * len(sources) + 2) * look.size / 72
    figure = canvas(look, look.text, height)
    grid = figure.subplots(len(sources), len(vendors), sharex=True, sharey="row", height_ratios=heights, squeeze=False)
    for row, (source, (cells, judges)) in zip(grid, blocks.items(), strict=True):
        for axis, vendor in zip(row, vendors, strict=True):
            for i, judge in enumerate(judges):
                colour = looks[vendor].colour if own[judge] == vendor else GREY
                panels.dot(axis, i, cells.get((judge, vendor)), Look(colour, looks[vendor].marker))
            if axis.get_subplotspec().is_first_row():
                axis.set_title(labels.short(display_name(vendor), LONGEST), loc="left", fontweight="bold")
            panels.rows(axis, [labels.short(judge, LONGEST) for judge in judges], percent=True)
        panels.title(row[-1], source, len(sources) > 1, beside=True)
    figure.supxlabel("vendor ranked first (% of the judge's verdicts)", fontsize=look.size)
    words = (
        "How often each judge ranks each vendor first; coloured: the judge's own vendor, grey: the others. Judges are "
        "sorted by the rate at which they rank their own vendor first."
    )
    return figure, words
