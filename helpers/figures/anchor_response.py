"""The figure of anchors: how far answers follow a number that is shown, the farther that number is away."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import anchor_points, biases, comparisons, judges, labels, panels
from helpers.figures import style as styles
from helpers.figures.biases import Titles
from helpers.figures.style import GREY, INK, Figure, Look, Style, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

SLOPE = "anchor_slope"
NEEDED = ("source", "judge", "category", "question_id", "a1", "a2", "a0", "anchor", "low", "high")


def show_anchor_response(
    pairs: pd.DataFrame,
    slopes: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    titles: Titles = None,
    style: str | Style = "paper",
    name: str = "anchor_response",
) -> Figure:
    """How much of the way to a number that was shown do answers go?

    Takes the pairs frame (source, judge, category, question_id, a1, a2, a0, anchor, low, high) and `anchor_slope`
    (`where`: judge, bias): x = anchor minus control answer, y = treatment minus control answer, in % of the scale,
    means of equal numbers of pairs with scenario-clustered intervals, and the line of that slope through their mean.
    Pairs are grouped by the anchor's distance from a0, another answer to the same control, as the slope is: the noise
    of a1, which stands on both axes, then moves no point. Rows of panels a bias, a panel a judge; with more than 12
    judges forest plots of the slopes. `slopes` may hold other numbers, such as `odd_share` for the caption. Without
    `judge_vendors` a judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    biases.check_pairs(pairs, NEEDED)
    estimates = list(slopes)
    shown = panels.pick(estimates, [SLOPE], ["judge", "bias"])
    with settings(labels.at_file_resolution(look)):
        groups = _groups(shown, titles)
        drawn = judges.looks({each.where["judge"] for each in shown}, judge_vendors, look)
        words = (
            "How far answers move from the control towards a number that was shown; dashed: not at all (0) and all the "
            "way to it (1)."
        )
        if judges.few(groups):
            figure = _curves(pairs, groups, drawn, look)
            grouping = anchor_points.grouping(pairs, shown)
            words += (
                f" Points: means of about equal numbers of pairs, {grouping}, with scenario-clustered t intervals "
                "(open: none below 10 scenarios). Line and band: the slope of the panel and its interval, "
                "through the mean of all pairs; numbers: that slope."
            )
        else:
            figure = _forest(groups, drawn, look)
            words += " Sorted by the slope."
        text = panels.alt("Response to a number that is shown: slope by judge and bias", shown, most=48)
        return finished(name, figure, biases.caption(words, shown, estimates), text, look)


def _groups(shown: Sequence[Estimate], titles: Titles) -> dict[str, list[Estimate]]:
    """The slopes of each source and bias under the words that stand beside their panels."""
    sources = panels.by_data(shown)
    several = len({each.where["bias"] for each in shown}) > 1
    groups: dict[str, list[Estimate]] = {}
    for data, group in sources.items():
        for bias in biases.ordered(each.where["bias"] for each in group):
            source = panels.SOURCES.get(data, data) if len(sources) > 1 or data == "simulated" else ""
            key = "\n".join(filter(None, (biases.title(bias, titles), source))) if several else data
            groups[key] = [each for each in group if each.where["bias"] == bias]
    return groups


def _curves(
    pairs: pd.DataFrame, groups: Mapping[str, list[Estimate]], drawn: Mapping[str, Look], look: Style
) -> Canvas:
    figure, axes_of = judges.grid(look, groups, drawn)
    far, high, notes = 10.0, 10.0, {}
    for (key, judge), axes in axes_of.items():
        thin = {"color": GREY, "linewidth": axes.spines["left"].get_linewidth(), "linestyle": (0, (4, 3)), "zorder": 1}
        axes.axhline(0, **thin)
        axes.axline((0, 0), slope=1, **thin)
        axes.grid(axis="both")
        slope = next(each for each in groups[key] if each.where["judge"] == judge)
        points = anchor_points.moved(biases.behind(pairs, slope))
        for x, each in anchor_points.binned(points):
            panels.dot(axes, x, each, drawn[judge], upright=True)
            axes.lines[-1].set_markersize(0.5 * look.size)
            far = max(far, abs(x))
            high = max([high, *(abs(y) for y in (each.value, each.low, each.high) if not math.isnan(y))])
        if len(points):
            _line(axes, points, slope)
        notes[axes] = str(slope).replace("-", "\N{MINUS SIGN}")
    # Where nothing moves, points must not be magnified into a pattern.
    first = next(iter(axes_of.values()))
    first.set(xlim=(-1.12 * far, 1.12 * far), ylim=(-1.1 * max(high, far / 2), 1.1 * max(high, far / 2)))
    first.locator_params(axis="x", nbins=4)
    first.locator_params(axis="y", nbins=5)
    judges.footnotes(notes)
    for axes in notes:
        # The dashed line of all the way passes behind.
        axes.texts[-1].set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    figure.supxlabel("number shown minus control answer (% of the scale)", fontsize=look.size)
    figure.supylabel("treatment minus control (% of the scale)", fontsize=look.size)
    return figure


def _line(axes: Axes, points: pd.DataFrame, slope: Estimate) -> None:
    """The line of the slope and the band of its interval, through the mean of all points and no farther than these."""
    if math.isnan(slope.value):
        return
    x, y = points["x"].mean(), points["y"].mean()
    ends = [points["x"].min(), points["x"].max()]
    if not math.isnan(slope.low):
        sides = [[y + bound * (end - x) for end in ends] for bound in (slope.low, slope.high)]
        # The sides cross at the mean.
        middle = [[lower, y, upper] for lower, upper in sides]
        axes.fill_between([ends[0], x, ends[1]], *middle, color=GREY, alpha=0.25, linewidth=0, zorder=1.2)
    line = [y + slope.value * (end - x) for end in ends]
    axes.plot(ends, line, color=INK, linewidth=1.2 * axes.spines["left"].get_linewidth(), zorder=1.5)


def _forest(groups: Mapping[str, list[Estimate]], drawn: Mapping[str, Look], look: Style) -> Canvas:
    order = {}
    for key, group in groups.items():
        order[key] = judges.by_value({e.where["judge"] for e in group}, {e.where["judge"]: e.value for e in group})
    figure, columns = judges.forest(look, order, ["slope (0: no effect, 1: all the way)"])
    for key, (axes,) in columns.items():
        at = {each.where["judge"]: each for each in groups[key]}
        panels.rows(axes, [comparisons.named(judge, judges.LONGEST) for judge in order[key]])
        panels.reference(axes, 0)
        panels.reference(axes, 1)
        for i, judge in enumerate(order[key]):
            panels.dot(axes, i, at[judge], drawn[judge])
    first = next(iter(columns.values()))[0]
    first.locator_params(axis="x", nbins=7)
    first.update_datalim([(-0.1, 0), (1.1, 0)])
    first.autoscale_view(scaley=False)
    return figure
