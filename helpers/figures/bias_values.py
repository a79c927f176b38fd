"""What lies behind the mean of each bias and judge: single values, noise, and how far answers follow an anchor."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from helpers.figures import bias_effects, comparisons, judges, panels
from helpers.figures import style as styles
from helpers.figures.bias_effects import Titles
from helpers.figures.style import GREY, INK, Figure, Look, Style, canvas, finished, settings
from helpers.stats.intervals import MIN_CLUSTERS, clustered_mean, clusters_of, estimate
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
    bias_effects.check_pairs(pairs, NEEDED)
    estimates = list(estimates)
    shown = panels.pick(estimates, [EFFECT], ["judge", "bias"])
    every = bias_effects.ordered(each.where["bias"] for each in shown)
    kept = set(sorted(every, key=lambda bias: -_size(shown, bias))[:MOST])
    shown = [each for each in shown if each.where["bias"] in kept]
    with settings(panels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        drawn = judges.looks({each.where["judge"] for each in shown}, judge_vendors, look)
        values = {
            (e.data, e.where["bias"], e.where["judge"]): scenario_values(bias_effects.behind(pairs, e)) for e in shown
        }
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
        return finished(name, figure, bias_effects.caption(words, shown, estimates), text, look)


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
    here = {data: bias_effects.ordered(each.where["bias"] for each in group) for data, group in sources.items()}
    named = {data: [j for j in drawn if any(e.where["judge"] == j for e in group)] for data, group in sources.items()}
    most, across = max(map(len, named.values())), max(map(len, here.values()))
    beside = min(max(map(len, drawn)), judges.LONGEST) * panels.LETTER + 1
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
                    panels.note(axes, k, "not asked")
                    continue
                _points(axes, k, values[data, bias, judge].values, drawn[judge], room, high, look)
                _mean(axes, k, at[data, bias, judge], drawn[judge], look)
            axes.set_title(panels.wrapped(bias_effects.title(bias, titles), int(room / panels.LETTER), 2), loc="left")
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


#: The published metrics, with the bias that each is of where that is not said, and its form in words.
METRICS = {
    "anchoring_agnostic": ("anchoring", "agnostic"),
    "anchoring_specific": ("anchoring", "specific"),
    "halo_effect": ("halo", "agnostic"),
    "loss_aversion": ("loss_aversion", "batch"),
    "confirmation_bias": ("confirmation", "weighted"),
    "confirmation_unweighted": ("confirmation", "unweighted"),
}
#: What stands in a row: the metric, the same of two answers to one control, and what is left beyond it.
KINDS = {"": "as published", "_placebo": "control repeated (noise)", "_excess": "difference"}
NOISE, REST = Look(GREY, "h"), Look(INK, "d")
SHIFTS = {"": -0.27, "_placebo": 0.0, "_excess": 0.27}
#: Letter heights of a figure of one judge: a legend of three lines, a title of three and the axis, and room for points.
LEAST = 16
Column = tuple[str, str]


def show_noise_metrics(
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    titles: Titles = None,
    style: str | Style = "paper",
    name: str = "noise_metrics",
) -> Figure:
    """How much of a published metric would be there without any bias, from noise in the answers alone?

    Takes the metrics of METRICS, their `<id>_placebo` and `<id>_excess` (`where`: judge, and the bias where a metric is
    used for several; score): a panel a metric and bias, a row a judge with up to three points. Without `judge_vendors`
    a judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    estimates = list(estimates)
    wanted = [metric + kind for metric in METRICS for kind in KINDS]
    there = {each.id for each in estimates if set(each.where) in ({"judge"}, {"judge", "bias"})}
    ids = [id for id in wanted if id in there] or list(METRICS)
    shown = [each for id in ids for each in panels.pick(estimates, [id], ["judge"], ["judge", "bias"])]
    with settings(panels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        drawn = judges.looks({each.where["judge"] for each in shown}, judge_vendors, look)
        figure = _panels(sources, titles, drawn, look)
        words = (
            "In each row from top to bottom: a metric of bias as published (coloured), the same metric of two answers "
            "to one control, in which there is no bias but noise (grey), and the difference of both (dark). Dashed: 0."
        )
        placed = [replace(each, where={**each.where, "bias": _column(each)[1]}) for each in shown]
        without = [id for id in METRICS if id in ids and f"{id}_placebo" not in ids]
        if without:
            forms = dict.fromkeys(bias_effects.title(METRICS[id][0], titles) for id in without)
            words += f" Without a repeat to compare with: {', '.join(forms)}."
        text = panels.alt(
            "Published metrics beside the same metrics of repeated controls, by metric and judge",
            shown,
            {id: id.replace("_", " ") for id in wanted},
            48,
        )
        return finished(name, figure, bias_effects.caption(words, placed, estimates), text, look)


def _column(each: Estimate) -> Column:
    metric = each.id.removesuffix("_placebo").removesuffix("_excess")
    return metric, each.where.get("bias", METRICS[metric][0])


def _columns(group: Sequence[Estimate]) -> list[Column]:
    """Metrics of one bias stand beside each other."""
    found = {_column(each) for each in group}
    order = bias_effects.ordered([*bias_effects.BIASES, *sorted(bias for _, bias in found)])
    return sorted(found, key=lambda column: (order.index(column[1]), list(METRICS).index(column[0])))


def _panels(sources: Mapping[str, list[Estimate]], titles: Titles, drawn: Mapping[str, Look], look: Style) -> Canvas:
    here = {data: _columns(group) for data, group in sources.items()}
    named = {data: [j for j in drawn if any(e.where["judge"] == j for e in group)] for data, group in sources.items()}
    beside = min(max(map(len, drawn)), judges.LONGEST) * panels.LETTER + 1
    most = max(map(len, here.values()))
    width = look.column if most <= 2 else look.text
    letters = width * 72 / look.size - beside
    fits = max(min(int(letters / 6.5), 5), 1)
    columns = math.ceil(most / math.ceil(most / fits))
    room = letters / columns - 1.2
    lines = [(data, here[data][i : i + columns]) for data in sources for i in range(0, len(here[data]), columns)]
    many = max(map(len, named.values())) > judges.MOST
    line = 1.5 if many else 2.1
    tall = [len(named[data]) * line for data, _ in lines]
    figure = canvas(look, width, max(sum(tall) + 5.2 * len(tall) + 4.5, LEAST) * look.size / 72)
    table = figure.subplots(len(lines), columns, squeeze=False, sharex=True, sharey="row", height_ratios=tall)
    at = {(e.data, *_column(e), e.where["judge"], e.id): e for group in sources.values() for e in group}
    for i, (row, (data, part)) in enumerate(zip(table, lines, strict=True)):
        for axes, (metric, bias) in zip(row, part, strict=False):
            panels.rows(axes, [comparisons.named(judge, judges.LONGEST) for judge in named[data]])
            panels.reference(axes, 0)
            for k, judge in enumerate(named[data]):
                points = {kind: at.get((data, metric, bias, judge, metric + kind)) for kind in KINDS}
                if not any(e and not math.isnan(e.value) for e in points.values()):
                    panels.note(axes, k, "not estimable" if any(points.values()) else "not asked")
                    continue
                for kind, own in zip(KINDS, (drawn[judge], NOISE, REST), strict=True):
                    if points[kind] is None:
                        continue
                    if math.isnan(points[kind].value):
                        _lost(axes, k + SHIFTS[kind], look)
                        continue
                    panels.dot(axes, k + SHIFTS[kind], points[kind], own)
                    axes.lines[-1].set_markersize(look.size * (0.4 if many else 0.5))
            head = panels.wrapped(
                bias_effects.title(bias, titles), int(room / panels.LETTER / comparisons.SMALL) + 1, 2
            )
            axes.set_title(f"{head}\n({METRICS[metric][1]})", loc="left", fontsize="small")
        for axes in row[len(part) :]:
            axes.set_visible(False)
        if not i or lines[i - 1][0] != data:
            panels.title(row[len(part) - 1], data, len(sources) > 1, beside=True)
    if not any(len(drawn.get_xdata()) == 1 for axes in table.flat for drawn in axes.lines):
        table[0][0].set_xlim(-0.1, 1.05)
    table[0][0].locator_params(axis="x", nbins=3 if room < 12 else 5)
    table[0][0].xaxis.set_major_formatter("{x:g}")
    for column in table.T:
        [axes for axes in column if axes.get_visible()][-1].tick_params(labelbottom=True)
    figure.supxlabel("metric (score)", fontsize=look.size)
    _legend(figure, {each.id for group in sources.values() for each in group}, drawn, look)
    return figure


def _lost(axes: Axes, y: float, look: Style) -> None:
    """A dash at the edge for a number that is not estimable: between two points there is no room for words."""
    dash = {"color": panels.SOFT, "markersize": 0.5 * look.size, "markeredgewidth": look.size / 12}
    axes.plot(0.05, y, "_", transform=axes.get_yaxis_transform(), **dash)


def _legend(figure: Canvas, ids: set[str], drawn: Mapping[str, Look], look: Style) -> None:
    from matplotlib.legend_handler import HandlerTuple
    from matplotlib.lines import Line2D

    plain = {"linestyle": "", "markeredgecolor": "white", "markeredgewidth": 0.7, "markersize": 0.55 * look.size}
    # Judges of several vendors have several looks.
    vendors = list(dict.fromkeys(drawn.values()))[:3]
    looks = {"": vendors, "_placebo": [NOISE], "_excess": [REST]}
    there = [kind for kind in KINDS if any(id.endswith(kind) for id in ids)]
    handles = [tuple(Line2D([], [], color=o.colour, marker=o.marker, **plain) for o in looks[kind]) for kind in there]
    words = [KINDS[kind] for kind in there]
    fits = sum(len(each) + 7 for each in words) <= figure.get_figwidth() * 72 / look.size / panels.LETTER
    figure.legend(
        handles,
        words,
        loc="outside upper left",
        ncols=len(there) if fits else 1,
        frameon=False,
        borderpad=0.2,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.3)},
    )


#: Points of a curve, at most; each stands for about as many pairs as the others.
BINS = 6


def group_points(pairs: pd.DataFrame, shown: Sequence[Estimate]) -> str:
    """How points are grouped, and whose points noise alone makes rise."""
    by_place = {
        (each.where["judge"], each.where["bias"], each.data): bias_effects.behind(pairs, each) for each in shown
    }
    bare = {place: not repeated(rows) for place, rows in by_place.items() if len(moved(rows))}
    noise = "noise alone makes these points rise"
    alone = f"grouped by the distance of the number from the control answer, which was asked once: {noise}"
    if bare and all(bare.values()):
        return alone
    words = (
        "grouped by the distance of the number from another reply to the same control, so that noise in the control "
        "answer alone moves none"
    )
    if any(bare.values()):
        judges = ", ".join(sorted({judge for (judge, _, _), each in bare.items() if each}))
        words += f" (where the control was asked once, of {judges}, by its distance from the control answer: {noise})"
    return words


def repeated(pairs: pd.DataFrame) -> bool:
    """Is there another answer to the same control in any of these pairs?"""
    return bool((pairs["a0"].notna() & pairs["a1"].notna() & pairs["a2"].notna() & pairs["anchor"].notna()).any())


def moved(pairs: pd.DataFrame) -> pd.DataFrame:
    """How far the number was from the control answer (x) and how far the answer moved (y), in % of the scale.

    `by` is the distance by which pairs are grouped: from a0, or x where no pair has an a0. It shares no noise with y,
    so that the mean y of a group is 0 where the treatment does nothing; where it does all, it is the group's mean x.
    """
    import pandas as pd

    percent = 100 / (pairs["high"] - pairs["low"])
    columns = {
        "x": (pairs["anchor"] - pairs["a1"]) * percent,
        "y": (pairs["a2"] - pairs["a1"]) * percent,
        "by": (pairs["anchor"] - pairs["a0" if repeated(pairs) else "a1"]) * percent,
        "cluster": clusters_of(pairs),
    }
    return pd.DataFrame(columns).dropna()


def binned(points: pd.DataFrame) -> list[tuple[float, Estimate]]:
    """The mean x and the mean y, with its scenario-clustered interval, of groups of about equally many pairs."""
    import numpy as np

    if points.empty:
        return []
    scenarios = points["cluster"].nunique()
    for groups in range(BINS if scenarios >= MIN_CLUSTERS else 3, 0, -1):
        edges = np.unique(np.quantile(points["by"], np.linspace(0, 1, groups + 1)))
        # Equal distances stay together, so that groups need not be equal in size.
        places = np.searchsorted(edges[1:-1], points["by"], side="right")
        # As many points as have an interval.
        if scenarios < MIN_CLUSTERS or points.groupby(places)["cluster"].nunique().min() >= MIN_CLUSTERS:
            break
    found = []
    for _, group in points.groupby(places):
        interval = clustered_mean(group["y"], group["cluster"])
        found.append((float(group["x"].mean()), estimate("moved", {}, interval, "", "score")))
    return found


SLOPE = "anchor_slope"
ANCHOR_RESPONSE_NEEDED = ("source", "judge", "category", "question_id", "a1", "a2", "a0", "anchor", "low", "high")


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
    bias_effects.check_pairs(pairs, ANCHOR_RESPONSE_NEEDED)
    estimates = list(slopes)
    shown = panels.pick(estimates, [SLOPE], ["judge", "bias"])
    with settings(panels.at_file_resolution(look)):
        groups = _groups(shown, titles)
        drawn = judges.looks({each.where["judge"] for each in shown}, judge_vendors, look)
        words = (
            "How far answers move from the control towards a number that was shown; dashed: not at all (0) and all the "
            "way to it (1)."
        )
        if judges.few(groups):
            figure = _curves(pairs, groups, drawn, look)
            grouping = group_points(pairs, shown)
            words += (
                f" Points: means of about equal numbers of pairs, {grouping}, with scenario-clustered t intervals "
                "(open: none below 10 scenarios). Line and band: the slope of the panel and its interval, "
                "through the mean of all pairs; numbers: that slope."
            )
        else:
            figure = _forest(groups, drawn, look)
            words += " Sorted by the slope."
        text = panels.alt("Response to a number that is shown: slope by judge and bias", shown, most=48)
        return finished(name, figure, bias_effects.caption(words, shown, estimates), text, look)


def _groups(shown: Sequence[Estimate], titles: Titles) -> dict[str, list[Estimate]]:
    """The slopes of each source and bias under the words that stand beside their panels."""
    sources = panels.by_data(shown)
    several = len({each.where["bias"] for each in shown}) > 1
    groups: dict[str, list[Estimate]] = {}
    for data, group in sources.items():
        for bias in bias_effects.ordered(each.where["bias"] for each in group):
            source = panels.SOURCES.get(data, data) if len(sources) > 1 or data == "simulated" else ""
            key = "\n".join(filter(None, (bias_effects.title(bias, titles), source))) if several else data
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
        points = moved(bias_effects.behind(pairs, slope))
        for x, each in binned(points):
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
