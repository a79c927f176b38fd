"""One judge card a run, side by side: what each judge shows under each setting that was varied."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from helpers.figures import cards, comparisons, judge_forest, labels, panels
from helpers.figures import style as styles
from helpers.figures.style import INK, Figure, Style, canvas, finished, settings
from helpers.types import CardLine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Above this number of rows in a panel the runs of a judge share one row.
MOST = 30
#: Letters of a label on the left.
LONGEST = 26
#: Heights in lines: a run with a label, what a panel has beside its rows.
LINE, BESIDE = 1.3, 5.2
#: The same of a run among others of its judge, and the most that these take together.
THIN, CROWD = 0.55, 8.0


class _Point(NamedTuple):
    """What one run says of one judge."""

    run: str
    line: CardLine


def show_across_runs(
    runs: Mapping[str, Sequence[CardLine]],
    varied: Sequence[str] = (),
    style: str | Style = "paper",
    name: str = "across_runs",
) -> Figure:
    """Does a judge show the same bias in every run, or only under some settings?

    `runs` maps the settings of a run, in words, to the lines of its judge card, in the order of rows; `varied` names
    these settings. A panel for each measure with a verdict, its runs under their judge; where these are many, without
    words. Published data, which all runs share, are left out. No line with a verdict and a number is a ValueError
    (`panels.NothingToDraw`).
    """
    look = styles.style(style)
    measures = _measures(runs)
    if not measures:
        raise panels.NothingToDraw("no run has a line of a judge card with a verdict and a number")
    tall = {measure: _height(points) + BESIDE for measure, points in measures.items()}
    columns = judge_forest.packed(tall)
    high = max(sum(tall[measure] for measure in column) for column in columns)
    with settings(labels.at_file_resolution(look)):
        figure = canvas(look, look.text if len(columns) > 1 else look.column, (high + 2) * look.size / 72)
        outer = figure.add_gridspec(1, len(columns))
        for place, column in zip(outer, columns, strict=False):
            heights = [tall[measure] for measure in column]
            rest = high - sum(heights)
            ratios = [*heights, rest] if rest > 1 else heights
            for cell, measure in zip(place.subgridspec(len(ratios), 1, height_ratios=ratios), column, strict=False):
                _panel(figure.add_subplot(cell), measure, measures[measure], look)
        shown = [point for points in measures.values() for point in points]
        told = [point.line.estimate for point in shown]
        alt = panels.alt("Forest plots of the judge cards of several runs", told, most=60)
        return finished(name, figure, _caption(shown, len(runs), varied), alt, look)


def _measures(runs: Mapping[str, Sequence[CardLine]]) -> dict[str, list[_Point]]:
    """The points of each measure with a verdict, judge by judge, in the order of the runs."""
    every = [_Point(run, line) for run, lines in runs.items() for line in cards.cells(lines).values()]
    every = [x for x in every if x.line.estimate.data != "published" and not math.isnan(x.line.estimate.value)]
    judges = list(dict.fromkeys(cards.judge(x.line) for x in every))
    found = {}
    for measure in cards.measures([x.line for x in every]):
        points = [x for x in every if x.line.measure == measure]
        if any(x.line.verdict != "described" for x in points):
            found[measure] = sorted(points, key=lambda x: judges.index(cards.judge(x.line)))
    return found


def _grouped(points: Sequence[_Point]) -> list[list[_Point]]:
    return [list(group) for _, group in groupby(points, key=lambda x: cards.judge(x.line))]


def _many(points: Sequence[_Point]) -> bool:
    return len(points) + len(_grouped(points)) > MOST or not any(x.run for x in points)


def _step(group: Sequence[_Point]) -> float:
    return min(THIN, CROWD / len(group))


def _height(points: Sequence[_Point]) -> float:
    """The rows of a panel in lines: a name for each judge, and its runs."""
    if _many(points):
        return sum(max(LINE, _step(group) * len(group)) + LINE / 2 for group in _grouped(points))
    return LINE * (len(points) + len(_grouped(points)))


def _panel(axes: Axes, measure: str, points: Sequence[_Point], look: Style) -> None:
    """One measure: under each judge a row a run, or all of its runs beside its name."""
    small, at, many = max(6.0, 0.78 * look.size), 0.0, _many(points)
    ticks: list[tuple[float, str, bool]] = []
    for group in _grouped(points):
        judge, step = comparisons.named(group[0].line.judge, LONGEST), _step(group) if many else LINE
        ticks.append((at + step * (len(group) - 1) / 2 if many else at, judge, True))
        at += 0 if many else LINE
        for x in group:
            judge_forest.point(axes, at, x.line, look, size=0.6 if many else 1.0)
            ticks += [] if many else [(at, labels.short(x.run, LONGEST), False)]
            at += step
        at += max(0.0, LINE - step * len(group)) + LINE / 2 if many else 0
        axes.axhline(at - (LINE / 4 + step / 2 if many else LINE / 2), color="0.85", linewidth=look.size / 18)
    axes.set_yticks([place for place, _, _ in ticks], [words for _, words, _ in ticks], fontsize=small)
    for label, (_, _, judge) in zip(axes.get_yticklabels(), ticks, strict=True):
        label.set(color=INK if judge else labels.SOFT, fontweight="bold" if judge else "normal")
    axes.set_ylim(at - LINE / 2, -LINE * 0.7)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=small)
    axes.grid(axis="x")
    axes.locator_params(axis="x", nbins=5)
    panels.reference(axes, 0.0)
    axes.set_title(measure, loc="left", fontsize=look.size)
    sources = {x.line.estimate.data for x in points}
    how = {"fontsize": small, "fontweight": "bold", "color": labels.SOFT}
    if sources == {"simulated"}:
        axes.text(1.03, 0.5, "SIMULATED", transform=axes.transAxes, rotation=270, ha="left", va="center", **how)
    elif "simulated" in sources:
        axes.set_title("SIMULATED in grey", loc="right", **how)
    units = sorted({panels.scale(x.line.estimate.unit)[1] for x in points})
    axes.set_xlabel(" or ".join(cards.UNITS.get(unit, unit) for unit in units), fontsize=small)


def _caption(shown: Sequence[_Point], runs: int, varied: Sequence[str]) -> str:
    sources = panels.by_data([x.line.estimate for x in shown])
    told = ", ".join(f"{len(group)} of {panels.SOURCES.get(data, data)}" for data, group in sources.items())
    by = f" ({', '.join(varied)})" if varied else ""
    crowded = _crowded([x for x in shown if x.run])
    row = "; where there are many, the runs of a judge stand without words in their order" if crowded else ""
    return (
        f"What each judge shows in each of {runs} runs{by}, measure by measure{row}. {judge_forest.KEY} Runs that "
        f"share questions are not independent of each other. Points shown: {told}."
    )


def _crowded(shown: Sequence[_Point]) -> bool:
    return any(_many([x for x in shown if x.line.measure == m]) for m in {x.line.measure for x in shown})
