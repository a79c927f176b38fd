"""One judge card a run, side by side: what each judge shows under each setting that was varied."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from helpers.figures import cards, comparisons, panels
from helpers.figures import style as styles
from helpers.figures.style import INK, Figure, Style, canvas, finished, settings
from helpers.words import CardLine, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Above this number of rows in a panel the runs of a judge have no words.
MOST = 30
#: Letters of a label on the left, and of what tells a run's number from those of other runs.
LONGEST, LONGEST_OWN = 28, 16
#: Heights in lines: a run with a label, one without, what a panel has beside its rows.
LINE, THIN, BESIDE = 1.3, 0.55, 5.2
#: Lines of the tallest column: more is no figure.
HIGHEST = 150.0


class Run(NamedTuple):
    """The settings of a run in words, which no other run of the same judge has, and the lines of its judge card."""

    settings: str
    lines: Sequence[CardLine]


class _Point(NamedTuple):
    """What one run says of one judge, and which of the numbers of its measure that is, where runs differ in it."""

    settings: str
    line: CardLine
    own: str = ""


def show_across_runs(
    runs: Sequence[Run],
    varied: Sequence[str] = (),
    style: str | Style = "paper",
    name: str = "across_runs",
) -> Figure:
    """Does a judge show a bias in every run, or only under some settings?

    `runs` in the order of rows; `varied` names what their settings are. A panel for each measure with a verdict, its
    runs under their judge; where these are many, without words. Of several numbers of a measure in a run it is the
    gravest, which is named where runs differ in it. Published data, which all runs share, are left out. No line with a
    verdict and a number, and more runs than a figure can hold, is a ValueError (`panels.NothingToDraw`).
    """
    look = styles.style(style)
    measures = _measures(runs)
    if not measures:
        raise panels.NothingToDraw("no run has a line of a judge card with a verdict and a number")
    tall = {measure: _height(points) + BESIDE for measure, points in measures.items()}
    columns = cards.packed(tall)
    high = max(sum(tall[measure] for measure in column) for column in columns)
    if high > HIGHEST:
        raise panels.NothingToDraw(f"{len(runs)} runs of these judges are more than one figure holds")
    with settings(panels.at_file_resolution(look)):
        figure = canvas(look, look.text if len(columns) > 1 else look.column, (high + 2) * look.size / 72)
        outer = figure.add_gridspec(1, len(columns))
        for place, column in zip(outer, columns, strict=False):
            heights = [tall[measure] for measure in column]
            rest = high - sum(heights)
            ratios = [*heights, rest] if rest > 1 else heights
            for cell, measure in zip(place.subgridspec(len(ratios), 1, height_ratios=ratios), column, strict=False):
                _panel(figure.add_subplot(cell), measure, measures[measure], look)
        shown = [point for points in measures.values() for point in points]
        # A setting is a place of a number as its judge is.
        told = [replace(x.line.estimate, where={**x.line.estimate.where, "run": x.settings}) for x in shown]
        alt = panels.alt("Forest plots of the judge cards of several runs", told, most=60)
        return finished(name, figure, _caption(runs, measures, varied), alt, look)


def _measures(runs: Sequence[Run]) -> dict[str, list[_Point]]:
    """The points of each measure with a verdict, judge by judge, in the order of the runs."""
    every = [_Point(run.settings, line) for run in runs for line in cards.cells(_asked(run)).values()]
    judges = list(dict.fromkeys(cards.judge(x.line) for x in every))
    found = {}
    for measure in cards.measures([x.line for x in every]):
        points = [x for x in every if x.line.measure == measure and not math.isnan(x.line.estimate.value)]
        if any(x.line.verdict != "described" for x in points):
            # Several judges differ in their own names; what is left tells one number of a measure from another.
            names = [_own(x.line) for x in points]
            several = len(set(names)) > 1
            points = [x._replace(own=own if several else "") for x, own in zip(points, names, strict=True)]
            found[measure] = sorted(points, key=lambda x: judges.index(cards.judge(x.line)))
    return found


def _asked(run: Run) -> list[CardLine]:
    return [line for line in run.lines if line.estimate.data != "published"]


def _own(line: CardLine) -> str:
    """Which of a judge's numbers this is: what its place holds besides the judge and its vendor."""
    known = ("judge", *panels.VENDOR_KEYS)
    return ", ".join(plain(value) for key, value in line.estimate.where.items() if key not in known)


def _grouped(points: Sequence[_Point]) -> list[list[_Point]]:
    return [list(group) for _, group in groupby(points, key=lambda x: cards.judge(x.line))]


def _many(points: Sequence[_Point]) -> bool:
    """Whether runs have no words: they are many, or there is nothing to say of them."""
    return len(points) + len(_grouped(points)) > MOST or not any(x.settings or x.own for x in points)


def _height(points: Sequence[_Point]) -> float:
    """The rows of a panel in lines: a name for each judge, and its runs."""
    if _many(points):
        return sum(max(LINE, THIN * len(group)) + LINE / 2 for group in _grouped(points))
    return LINE * (len(points) + len(_grouped(points)))


def _panel(axes: Axes, measure: str, points: Sequence[_Point], look: Style) -> None:
    """One measure: under each judge a row a run, or all of its runs beside its name."""
    small, top, many = max(6.0, 0.78 * look.size), 0.0, _many(points)
    step = THIN if many else LINE
    names = Counter(judge for _, judge in {cards.judge(x.line) for x in points})
    ticks: list[tuple[float, str, bool]] = []
    for group in _grouped(points):
        data, judge = cards.judge(group[0].line)
        # The same name asked and read from files is two judges.
        source = "" if names[judge] == 1 else f" ({data})"
        judge = comparisons.named(judge, LONGEST - len(source)) + source
        tall = max(LINE, THIN * len(group)) + LINE / 2 if many else LINE * (len(group) + 1)
        first = top + (tall - step * (len(group) - 1)) / 2 if many else top + 1.5 * LINE
        ticks.append((top + tall / 2 if many else top + LINE / 2, judge, True))
        for number, x in enumerate(group):
            cards.point(axes, first + step * number, x.line, look, size=0.6 if many else 1.0)
            ticks += [] if many else [(first + step * number, _label(x), False)]
        top += tall
        axes.axhline(top, color="0.85", linewidth=look.size / 18)
    axes.set_yticks([place for place, _, _ in ticks], [words for _, words, _ in ticks], fontsize=small)
    for label, (_, _, judge) in zip(axes.get_yticklabels(), ticks, strict=True):
        label.set(color=INK if judge else panels.SOFT, fontweight="bold" if judge else "normal")
    axes.set_ylim(top, 0)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=small)
    axes.grid(axis="x")
    axes.locator_params(axis="x", nbins=5)
    panels.reference(axes, 0.0)
    axes.set_title(measure, loc="left", fontsize=look.size)
    _simulated(axes, {x.line.estimate.data for x in points}, small)
    units = sorted({panels.scale(x.line.estimate.unit)[1] for x in points})
    axes.set_xlabel(" or ".join(cards.UNITS.get(unit, unit) for unit in units), fontsize=small)


def _label(x: _Point) -> str:
    """A run's settings, and which number it is where runs differ in it."""
    own = comparisons.named(x.own, LONGEST_OWN)
    return ": ".join(filter(None, (comparisons.named(x.settings, LONGEST - len(own)), own)))


def _simulated(axes: Axes, sources: set[str], small: float) -> None:
    how = {"fontsize": small, "fontweight": "bold", "color": panels.SOFT}
    if sources == {"simulated"}:
        axes.text(1.03, 0.5, "SIMULATED", transform=axes.transAxes, rotation=270, ha="left", va="center", **how)
    elif "simulated" in sources:
        axes.set_title("SIMULATED in grey", loc="right", **how)


def _caption(runs: Sequence[Run], measures: dict[str, list[_Point]], varied: Sequence[str]) -> str:
    shown = [x for points in measures.values() for x in points]
    sources = panels.by_data([x.line.estimate for x in shown])
    told = ", ".join(f"{len(group)} of {panels.SOURCES.get(data, data)}" for data, group in sources.items())
    by = f" ({', '.join(varied)})" if varied else ""
    whole = "one run" if len(runs) == 1 else f"{len(runs)} runs"
    parts = [f"What each judge shows in {whole}{by}, measure by measure. {cards.KEY}"]
    if any(x.own for x in shown):
        parts.append(
            "Of several numbers of a measure the gravest of each run is drawn, so that runs can differ in which."
        )
    if any(_many(points) and any(x.settings for x in points) for points in measures.values()):
        parts.append("Where runs are many they stand without words, in their order.")
    every = [x for run in runs for x in cards.cells(_asked(run)).values() if x.measure in measures]
    if len(every) > len(shown):
        parts.append(f"Lines without a number, which have no point: {len(every) - len(shown)}.")
    if len(runs) > 1:
        parts.append(
            "Each run is corrected for itself, and runs that share questions are not independent of each other."
        )
    return " ".join([*parts, f"Points shown: {told}."])
