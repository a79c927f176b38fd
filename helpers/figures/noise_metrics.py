"""The figure of noise: what the published metrics show where nothing but the same control was asked twice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from helpers.figures import biases, comparisons, judges, labels, panels
from helpers.figures import style as styles
from helpers.figures.biases import Titles
from helpers.figures.style import GREY, INK, Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

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
    with settings(labels.at_file_resolution(look)):
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
            forms = dict.fromkeys(biases.title(METRICS[id][0], titles) for id in without)
            words += f" Without a repeat to compare with: {', '.join(forms)}."
        text = panels.alt(
            "Published metrics beside the same metrics of repeated controls, by metric and judge",
            shown,
            {id: id.replace("_", " ") for id in wanted},
            48,
        )
        return finished(name, figure, biases.caption(words, placed, estimates), text, look)


def _column(each: Estimate) -> Column:
    metric = each.id.removesuffix("_placebo").removesuffix("_excess")
    return metric, each.where.get("bias", METRICS[metric][0])


def _columns(group: Sequence[Estimate]) -> list[Column]:
    """Metrics of one bias stand beside each other."""
    found = {_column(each) for each in group}
    order = biases.ordered([*biases.BIASES, *sorted(bias for _, bias in found)])
    return sorted(found, key=lambda column: (order.index(column[1]), list(METRICS).index(column[0])))


def _panels(sources: Mapping[str, list[Estimate]], titles: Titles, drawn: Mapping[str, Look], look: Style) -> Canvas:
    here = {data: _columns(group) for data, group in sources.items()}
    named = {data: [j for j in drawn if any(e.where["judge"] == j for e in group)] for data, group in sources.items()}
    beside = min(max(map(len, drawn)), judges.LONGEST) * labels.LETTER + 1
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
                    labels.note(axes, k, "not estimable" if any(points.values()) else "not asked")
                    continue
                for kind, own in zip(KINDS, (drawn[judge], NOISE, REST), strict=True):
                    if points[kind] is None:
                        continue
                    if math.isnan(points[kind].value):
                        _lost(axes, k + SHIFTS[kind], look)
                        continue
                    panels.dot(axes, k + SHIFTS[kind], points[kind], own)
                    axes.lines[-1].set_markersize(look.size * (0.4 if many else 0.5))
            head = labels.wrapped(biases.title(bias, titles), int(room / labels.LETTER / comparisons.SMALL) + 1, 2)
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
    dash = {"color": labels.SOFT, "markersize": 0.5 * look.size, "markeredgewidth": look.size / 12}
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
    fits = sum(len(each) + 7 for each in words) <= figure.get_figwidth() * 72 / look.size / labels.LETTER
    figure.legend(
        handles,
        words,
        loc="outside upper left",
        ncols=len(there) if fits else 1,
        frameon=False,
        borderpad=0.2,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.3)},
    )
