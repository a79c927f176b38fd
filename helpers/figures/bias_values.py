"""The figure of single values: what lies behind the mean of each bias and judge, a point a scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from helpers.figures import biases, comparisons, judges, labels, panels
from helpers.figures import style as styles
from helpers.figures.biases import Titles
from helpers.figures.style import Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

EFFECT = "bias_effect"
NEEDED = ("source", "judge", "category", "question_id", "a1", "a2", "target")
#: Panels beyond this number fill more than a page.
MOST = 12
#: A point of a scenario, and the part of a row that points may take, in units of the font size and of the row.
DOT, PART = 0.36, 0.58


class Values(NamedTuple):
    """The values of the scenarios of a judge and a bias, and how many have none."""

    values: Sequence[float]
    lost: int


def show_bias_values(
    pairs: pd.DataFrame,
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    titles: Titles = None,
    style: str | Style = "paper",
    name: str = "bias_values",
) -> Figure:
    """Does a bias move most scenarios a little, or a few of them far?

    Takes the pairs frame (source, judge, category, question_id, a1, a2, target) and the `bias_effect` of each (`where`:
    judge, bias). A panel a bias, a row a judge: a point a scenario, the mean of (|a1 - t| - |a2 - t|) / max(|a1 - t|,
    |a2 - t|) over its pairs, t = target, and below them the estimate. Of more than 12 biases those with the largest
    effects. Without `judge_vendors` a judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    biases.check_pairs(pairs, NEEDED)
    estimates = list(estimates)
    shown = panels.pick(estimates, [EFFECT], ["judge", "bias"])
    every = biases.ordered(each.where["bias"] for each in shown)
    kept = set(sorted(every, key=lambda bias: -_size(shown, bias))[:MOST])
    shown = [each for each in shown if each.where["bias"] in kept]
    with settings(labels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        drawn = judges.looks({each.where["judge"] for each in shown}, judge_vendors, look)
        values = {(e.data, e.where["bias"], e.where["judge"]): scenario_values(biases.behind(pairs, e)) for e in shown}
        figure = _strips(sources, values, titles, drawn, look)
        words = (
            "How far each scenario's answers move towards where the bias pulls (-1 to 1; dashed: not at all), a small "
            "point a scenario, averaged over its wordings and repeats; below them the mean over all pairs."
        )
        if len(every) > len(kept):
            words += f" Only the {MOST} largest of {len(every)} biases."
        if lost := sum(each.lost for each in values.values()):
            points = lost + sum(len(each.values) for each in values.values())
            words += f" Without a point: {lost} of {points} scenarios with no value that is defined."
        text = panels.alt("Strips of the values of scenarios by bias and judge, with their mean", shown, most=72)
        return finished(name, figure, biases.caption(words, shown, estimates), text, look)


def scenario_values(pairs: pd.DataFrame) -> Values:
    """The signed index of each scenario, the mean over its pairs; 0/0 and unreadable pairs do not count."""
    before, after = ((pairs[answer] - pairs["target"]).abs() for answer in ("a1", "a2"))
    larger = before.combine(after, max)
    index = (before - after) / larger.where(larger > 0)
    means = index.groupby(pairs["question_id"], sort=True).mean()
    return Values([float(each) for each in means.dropna()], int(means.isna().sum()))


def _size(shown: Sequence[Estimate], bias: str) -> float:
    numbers = [e.value for e in shown if e.where["bias"] == bias and not math.isnan(e.value)]
    return abs(sum(numbers) / len(numbers)) if numbers else -1.0


def _strips(
    sources: Mapping[str, list[Estimate]],
    values: Mapping[tuple[str, str, str], Values],
    titles: Titles,
    drawn: Mapping[str, Look],
    look: Style,
) -> Canvas:
    here = {data: biases.ordered(each.where["bias"] for each in group) for data, group in sources.items()}
    named = {data: [j for j in drawn if any(e.where["judge"] == j for e in group)] for data, group in sources.items()}
    most, across = max(map(len, named.values())), max(map(len, here.values()))
    beside = min(max(map(len, drawn)), judges.LONGEST) * labels.LETTER + 1
    narrow = across == 1
    width = look.column if narrow else look.text
    room = width * 72 / look.size - beside
    columns = min(across, 4 if most > 6 else 3, max(int(room / 8), 1))
    room = room / columns - 1.5
    high = 3.8 if most == 1 else 3.2 if most <= 3 else 2.6 if most <= 6 else 2.1 if most <= judges.MOST else 1.9
    lines = [(data, here[data][i : i + columns]) for data in sources for i in range(0, len(here[data]), columns)]
    tall = [len(named[data]) * high for data, _ in lines]
    figure = canvas(look, width, (sum(tall) + 3.3 * len(tall) + 3) * look.size / 72)
    table = figure.subplots(len(lines), columns, squeeze=False, sharex=True, sharey="row", height_ratios=tall)
    at = {(e.data, e.where["bias"], e.where["judge"]): e for group in sources.values() for e in group}
    for i, (row, (data, part)) in enumerate(zip(table, lines, strict=True)):
        for axes, bias in zip(row, part, strict=False):
            panels.rows(axes, [comparisons.named(judge, judges.LONGEST) for judge in named[data]])
            axes.set_ylim(len(named[data]) - 0.45, -0.75)
            panels.reference(axes, 0)
            for k, judge in enumerate(named[data]):
                if (data, bias, judge) not in at:
                    labels.note(axes, k, "not asked")
                    continue
                _points(axes, k, values[data, bias, judge].values, drawn[judge], room, high, look)
                _mean(axes, k, at[data, bias, judge], drawn[judge], look)
            axes.set_title(labels.wrapped(biases.title(bias, titles), int(room / labels.LETTER), 2), loc="left")
        for axes in row[len(part) :]:
            axes.set_visible(False)
        if not i or lines[i - 1][0] != data:
            panels.title(row[len(part) - 1], data, len(sources) > 1, beside=True)
    table[0][0].set_xlim(-1.12, 1.12)
    table[0][0].set_xticks([-1, 0, 1] if room < 16 else [-1, -0.5, 0, 0.5, 1])
    for column in table.T:
        [axes for axes in column if axes.get_visible()][-1].tick_params(labelbottom=True)
    figure.supxlabel("effect on a scenario (score)", fontsize=look.size)
    return figure


def _mean(axes: Axes, row: float, each: Estimate, own: Look, look: Style) -> None:
    """The estimate below its points, which words in its place must not cover."""
    panels.dot(axes, row + (0.27 if each.value == each.value else 0.31), each, own)
    if math.isnan(each.value):
        axes.texts[-1].set_bbox(None)
    else:
        axes.lines[-1].set_markersize(0.5 * look.size)


def _points(axes: Axes, row: float, values: Sequence[float], own: Look, room: float, high: float, look: Style) -> None:
    """Points stacked over places as wide as one, so that equal values are all seen; closer where there are many."""
    width = 2.24 * DOT / room
    places: dict[int, int] = {}
    for value in values:
        place = round(value / width)
        places[place] = places.get(place, 0) + 1
    step = min(1.05 * DOT / high, PART / max(places.values(), default=1))
    xs = [place * width for place, count in places.items() for _ in range(count)]
    ys = [row - 0.02 - step * i for count in places.values() for i in range(count)]
    # Lighter than the mean, and with an edge that parts them where they overlap.
    how = {"markersize": DOT * look.size, "markeredgewidth": 0.35, "markeredgecolor": own.colour}
    axes.plot(xs, ys, "o", linestyle="", markerfacecolor=_light(own.colour), zorder=2, **how)


def _light(colour: str) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(0.45 * part + 0.55 for part in to_rgb(colour))
