"""Thresholds of acceptance: at the foot of the curves of a judge, and in rows of many judges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import comparisons, judges, labels, panels
from helpers.figures.style import GREY, Look, Style
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

THRESHOLD, MORE = "acceptance_threshold", "threshold_ratio"
CONDITIONS = ("control", "treatment")
#: Gambles without a loss belong to no vendor.
SAFE = Look(GREY, "h")


def foot(
    axes: Axes,
    each: Estimate | None,
    own: Look,
    y: float,
    ends: tuple[float, float],
    look: Style,
    other: Estimate | None = None,
) -> None:
    """A threshold as an upright tick with its interval, arrows where that leaves the panel, and a thin line up.

    Words in its place stand on the side where the line of the `other` threshold is not.
    """
    if each is None or math.isnan(each.value):
        words = "not asked" if each is None else "no threshold"
        middle = (math.log(ends[0]) + math.log(ends[1])) / 2
        x, ha = (ends[1] / 1.04, "right") if other and other.value < middle else (ends[0] * 1.04, "left")
        if other is None or math.isnan(other.value):
            x, ha = math.exp(middle), "center"
        text = axes.text(x, y, words, ha=ha, va="center", color=labels.SOFT, fontsize=max(6, 0.7 * look.size), zorder=4)
        # Where the panel is narrow the line is interrupted and not printed over.
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
        return
    value = math.exp(min(max(each.value, -50), 50))
    if not math.isnan(each.low):
        low, high = (math.exp(min(max(bound, -50), 50)) for bound in (each.low, each.high))
        inner = ends[0] * 1.04, ends[1] / 1.04
        axes.plot([max(low, inner[0]), min(high, inner[1])], [y, y], color=own.colour, zorder=2)
        for beyond, x, arrow in ((low < inner[0], inner[0], "<"), (high > inner[1], inner[1], ">")):
            if beyond:
                axes.plot(x, y, arrow, color=own.colour, markeredgewidth=0, markersize=0.45 * look.size, zorder=3)
    if ends[0] <= value <= ends[1]:
        tick = {"color": own.colour, "markersize": 0.85 * look.size, "markeredgewidth": look.size / 6, "zorder": 3}
        if math.isnan(each.low):
            # An open marker, as everywhere: no interval is honest.
            tick = {"color": own.colour, "markerfacecolor": "white", "markersize": 0.5 * look.size, "zorder": 3}
        axes.plot(value, y, "o" if math.isnan(each.low) else "|", **tick)
        thin = axes.spines["left"].get_linewidth()
        axes.plot([value, value], [y, 50], color=own.colour, linestyle=":", linewidth=thin, zorder=1.4)


def forest(shown: Sequence[Estimate], drawn: Mapping[str, Look], look: Style) -> Canvas:
    """A row a judge with both thresholds, and beside them their ratio where it is given."""
    sources = panels.by_data(shown)
    more = any(each.id == MORE for each in shown)
    order = {}
    for source, group in sources.items():
        first = {e.where["judge"]: e.value for e in group if e.where.get("condition") == "treatment"}
        order[source] = judges.by_value({each.where["judge"] for each in group}, first)
    titles = ["ratio at which half accept", *(["possible loss / no loss"] if more else [])]
    figure, columns = judges.forest(look, order, titles, 1.9, alike=False)
    for source, row in columns.items():
        at = {(e.id, e.where["judge"], e.where.get("condition")): e for e in sources[source]}
        for axes in row:
            panels.rows(axes, [comparisons.named(judge, judges.LONGEST) for judge in order[source]])
        for i, judge in enumerate(order[source]):
            both = [at.get((THRESHOLD, judge, condition)) for condition in CONDITIONS]
            if not any(each and not math.isnan(each.value) for each in both):
                labels.note(row[0], i, "not estimable" if any(both) else "not asked")
            for each, own, shift in zip(both, (SAFE, drawn[judge]), (-0.2, 0.2), strict=True):
                if each and not math.isnan(each.value):
                    panels.dot(row[0], i + shift, each, own)
            if more:
                panels.dot(row[1], i, at.get((MORE, judge, None)), drawn[judge])
        for axes in row[1:]:
            panels.reference(axes, 0)
    for axes in next(iter(columns.values())):
        _as_ratios(axes)
    return figure


def _as_ratios(axes: Axes) -> None:
    """Ticks of an axis of logarithms, as ratios."""
    drawn = [float(x) for line in axes.lines for x in line.get_xdata(orig=True)] or [0.0, 1.0]
    low, high = min([*drawn, -0.05]), max([*drawn, 0.75])
    step = max(math.ceil((high - low) / math.log(2) / 5), 1)
    powers = range(math.floor(low / math.log(2)), math.ceil(high / math.log(2)) + 1)
    marks = [power for power in powers if power % step == 0]
    axes.set_xticks([power * math.log(2) for power in marks], [f"{2.0**power:g}" for power in marks])
    axes.set_xlim(low - 0.1, high + 0.1)
