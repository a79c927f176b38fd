"""Few biases and few judges: a row a bias, and in it a point with its interval for each judge and for their mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from helpers.figures import biases, comparisons, judges, labels, panels
from helpers.figures.biases import Stars, Titles
from helpers.figures.style import GREY, INK, Look, Style, canvas
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Lines of points that fit below each other on a page; there may be two columns of them.
LINES = 60
#: Letter heights of a figure of one judge and one bias: legend, title and axis, and room for a point.
LEAST = 13
TOWARDS = ("bias_effect", "scale_shift")
#: What the axis says of the published metric, of which two means look alike.
AXIS = {"ratio_scale": "mean B (+ towards the bias)", "ratio_scale_absolute": "mean |B| (either direction, and noise)"}
MEAN = Look(INK, "D")
At = Mapping[tuple[str, str | None], Estimate]


class Shape(NamedTuple):
    """Where points stand: the judges of a row in their order, whether a mean follows, and whether they are numbered."""

    judges: Sequence[str]
    mean: bool
    numbered: bool

    @property
    def slots(self) -> int:
        """Points of a bias."""
        return len(self.judges) + self.mean

    @property
    def step(self) -> float:
        """From one bias to the next, in lines of points."""
        return self.slots + 0.9


def fits(shown: Sequence[Estimate], drawn: Mapping[str, Look]) -> bool:
    """Do all points fit on a page?"""
    return sum(lines(shown, drawn).values()) <= 2 * LINES


def _numbered(drawn: Mapping[str, Look]) -> bool:
    """Do judges of one vendor look the same, so that only a number tells them apart?"""
    return len(set(drawn.values())) < len(drawn)


def lines(shown: Sequence[Estimate], drawn: Mapping[str, Look]) -> dict[str, float]:
    """How many lines of text high the points of each source are, in one column; words need more room than points."""
    line = 1.1 if _numbered(drawn) or any(math.isnan(each.value) for each in shown) else 0.85
    found = {}
    for data, group in panels.by_data(shown).items():
        slots = len({each.where.get("judge") for each in group})
        found[data] = Shape(range(slots), False, False).step * len({each.where["bias"] for each in group}) * line
    return found


def draw(
    sources: Mapping[str, list[Estimate]],
    rows: Mapping[str, Sequence[str]],
    columns: Mapping[str, Sequence[str]],
    chance: Mapping[tuple[str, str], Estimate],
    stars: Stars,
    titles: Titles,
    drawn: Mapping[str, Look],
    look: Style,
) -> tuple[Canvas, str]:
    """A panel for each source of data, in two columns where one is too long; and words for it."""
    at = {data: {(e.where["bias"], e.where.get("judge")): e for e in group} for data, group in sources.items()}
    shapes = {d: Shape(columns[d], any(j is None for _, j in at[d]), _numbered(drawn)) for d in sources}
    needed = lines([each for group in sources.values() for each in group], drawn)
    beside = 2 if sum(needed.values()) > LINES else 1
    line = {data: needed[data] / (shapes[data].step * len(rows[data])) for data in sources}
    heights = [math.ceil(len(rows[data]) / beside) * shapes[data].step * line[data] for data in sources]
    width = look.text if beside == 2 or max(map(len, columns.values())) > 3 else look.column
    figure = canvas(look, width, max(sum(heights) + 4.5 * len(heights) + 4, LEAST) * look.size / 72)
    table = figure.subplots(len(sources), beside, squeeze=False, sharex=True, height_ratios=heights)
    order = list(drawn)
    for row, data in zip(table, sources, strict=True):
        size = math.ceil(len(rows[data]) / beside)
        for i, axes in enumerate(row):
            part = rows[data][i * size : (i + 1) * size]
            _panel(axes, part, at[data], shapes[data], order, drawn, stars, titles, look)
            for k, bias in enumerate(part):
                if (each := chance.get((data, bias))) and not math.isnan(each.value):
                    ends = [k * shapes[data].step - 0.8, k * shapes[data].step + shapes[data].slots - 0.2]
                    axes.plot([each.value] * 2, ends, color=GREY, linestyle=":", zorder=1.5)
            axes.set_ylim(size * shapes[data].step - 0.95, -0.95)
        panels.title(row[-1], data, len(sources) > 1, beside=True)
    if not any(len(drawn.get_xdata()) == 1 for axes in table.flat for drawn in axes.lines):
        table[0][0].set_xlim(-1, 1)
    table[0][0].locator_params(axis="x", nbins=4 if beside == 2 else 7)
    table[0][0].xaxis.set_major_formatter("{x:g}")
    whole = next(iter(sources.values()))[0]
    unit = panels.scale(whole.unit)[1]
    towards = " towards where the bias pulls" if whole.id in TOWARDS else ""
    figure.supxlabel(AXIS.get(whole.id, f"effect{towards} ({unit})"), fontsize=look.size)
    some = any(biases.starred(each, stars) for group in sources.values() for each in group)
    mean = any(shape.mean for shape in shapes.values())
    _legend(figure, drawn, _numbered(drawn), mean, some, bool(chance), look)
    words = " Judges stand in the order of the legend." if len(drawn) > 1 else ""
    words += " Dark diamond: the mean over judges." if mean and len(drawn) > 1 else ""
    words += " Dotted: expected of answers at random." if chance else ""
    empty = any((bias, judge) not in at[d] for d in sources for bias in rows[d] for judge in columns[d])
    return figure, words + (" Empty places were not asked." if empty else "")


def _panel(
    axes: Axes,
    rows: Sequence[str],
    at: At,
    shape: Shape,
    order: Sequence[str],
    drawn: Mapping[str, Look],
    stars: Stars,
    titles: Titles,
    look: Style,
) -> None:
    from matplotlib.transforms import offset_copy

    beside = offset_copy(axes.transData, axes.figure, x=0.55 * look.size, units="points")
    panels.reference(axes, 0)
    numbers = []
    for i, bias in enumerate(rows):
        if i % 2:
            axes.axhspan(i * shape.step - 0.95, (i + 1) * shape.step - 0.95, color="#F5F5F5", zorder=0, linewidth=0)
        for j, judge in enumerate([*shape.judges, *([None] if shape.mean else [])]):
            each, y = at.get((bias, judge)), i * shape.step + j
            if judge is not None:
                numbers.append((y, str(order.index(judge) + 1)))
            if each is None:
                continue
            panels.dot(axes, y, each, MEAN if judge is None else drawn[judge])
            if math.isnan(each.value):
                continue
            axes.lines[-1].set_markersize(look.size * (0.66 if judge is None else 0.6))
            if biases.starred(each, stars):
                end = each.value if math.isnan(each.high) else each.high
                star = {"color": INK, "markeredgewidth": 0, "markersize": 0.62 * look.size, "clip_on": False}
                axes.plot(end * panels.scale(each.unit)[0], y, "*", transform=beside, zorder=4, **star)
    words = [labels.wrapped(biases.title(bias, titles), 18, 2) for bias in rows]
    axes.set_yticks([i * shape.step + (shape.slots - 1) / 2 for i in range(len(rows))], words)
    axes.tick_params(axis="y", length=0)
    if shape.numbered:
        axes.tick_params(axis="y", pad=1.6 * look.size)
        # The number in the middle stands at the tick of the bias, and would be left out.
        axes.yaxis.remove_overlapping_locs = False
        axes.set_yticks([y for y, _ in numbers], [number for _, number in numbers], minor=True)
        axes.tick_params(axis="y", which="minor", length=0, labelsize="small", labelcolor=labels.SOFT)
    axes.margins(x=0.06)
    axes.grid(axis="x")


def _legend(
    figure: Canvas, drawn: Mapping[str, Look], numbered: bool, mean: bool, some: bool, chance: bool, look: Style
) -> None:
    from matplotlib.lines import Line2D

    plain = {"linestyle": "", "markeredgecolor": "white", "markeredgewidth": 0.7}
    handles = [
        Line2D([], [], color=each.colour, marker=each.marker, **plain,
               label=f"{f'{i}  ' if numbered else ''}{comparisons.named(judge, 26)}")
        for i, (judge, each) in enumerate(drawn.items(), 1)
    ]  # fmt: skip
    if mean:
        handles.append(Line2D([], [], color=INK, marker="D", **plain, label="mean over judges"))
    if some:
        star = {"linestyle": "", "markeredgewidth": 0, "markersize": 0.62 * look.size}
        handles.append(Line2D([], [], color=INK, marker="*", **star, label="p < .05, corrected"))
    if chance:
        handles.append(Line2D([], [], color=GREY, linestyle=":", label="answers at random"))
    judges.legend(figure, look, handles)
