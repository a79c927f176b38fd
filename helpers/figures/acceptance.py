"""The figure of acceptance: at which gain a gamble is accepted, with and without a possible loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from helpers.figures import biases, judges, labels, panels, thresholds
from helpers.figures import style as styles
from helpers.figures.style import GREY, INK, Figure, Look, Style, finished, settings
from helpers.figures.thresholds import CONDITIONS, MORE, SAFE, THRESHOLD
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

RATE = "acceptance_rate"
BIAS = "loss_aversion"
#: Where thresholds stand below the curves, in %.
FEET = {"control": -12.0, "treatment": -23.0}


def show_acceptance(
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "acceptance",
) -> Figure:
    """How much larger must a gain be before a gamble is accepted, and how much more so if something may be lost?

    Takes `acceptance_rate` (`where`: judge, ratio, condition "control" | "treatment"; a bias may stand beside; rates)
    and `acceptance_threshold` (judge, condition; log): a panel a judge, thresholds at its foot. With more than 12
    judges forest plots of the thresholds and, where given, of `threshold_ratio` (judge). Without `judge_vendors` a
    judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    estimates = list(estimates)
    rates = panels.pick(estimates, [RATE], *_keys("judge", "ratio", "condition"))
    odd = sorted({each.where["condition"] for each in rates} - set(CONDITIONS))
    if odd:
        raise ValueError(f"{RATE}: condition {', '.join(odd)}; there are: {', '.join(CONDITIONS)}")
    fitted = _some(estimates, THRESHOLD, *_keys("judge", "condition"))
    with settings(labels.at_file_resolution(look)):
        sources = panels.by_data(rates)
        drawn = judges.looks({each.where["judge"] for each in rates}, judge_vendors, look)
        if judges.few(sources):
            figure, shown, form = _curves(sources, fitted, drawn, look), [*rates, *fitted], "Curves"
            words = (
                "How often a gamble with even chances is accepted, by the ratio of its gain to its stake: where "
                "nothing can be lost (grey, dashed) and where the stake can be lost (coloured), same final outcomes."
            )
            if fitted:
                words += (
                    " At the foot: the fitted ratio at which half accept, with its interval (logistic regression); "
                    "arrows: the interval runs on."
                )
        else:
            more = _some(estimates, MORE, *_keys("judge"))
            shown, form = [*fitted, *more], "Forest plots"
            if not shown:
                raise ValueError(
                    f"more than {judges.MOST} judges are shown by {THRESHOLD}[judge, condition]; none given"
                )
            figure = thresholds.forest(shown, drawn, look)
            words = (
                "The ratio of gain to stake at which half accept a gamble with even chances: where nothing can be lost "
                "(grey) and where the stake can be lost (coloured), same final outcomes."
            )
            words += " Right: the ratio of these two; dashed: no aversion to losses." if more else ""
            words += " Sorted by the threshold with a possible loss."
        # Thresholds first: of many judges only the first numbers are told.
        bare = [replace(each, where={k: v for k, v in each.where.items() if k != "bias"}) for each in shown]
        told = sorted(bare, key=lambda each: each.id == RATE)
        series = {THRESHOLD: "threshold (log ratio)", MORE: "ratio of thresholds (log)", RATE: "accepted"}
        text = panels.alt(f"{form} of acceptance by judge", told, series, 48)
        return finished(name, figure, biases.caption(words, [_placed(each) for each in shown], estimates), text, look)


def _keys(*keys: str) -> list[list[str]]:
    """These keys, with and without the bias, which is always the same one."""
    return [[*keys], [*keys, "bias"]]


def _placed(each: Estimate) -> Estimate:
    return replace(each, where={"bias": BIAS, **each.where})


def _some(estimates: Sequence[Estimate], id: str, *keys: Sequence[str]) -> list[Estimate]:
    there = any(each.id == id and set(each.where) in [set(each) for each in keys] for each in estimates)
    return panels.pick(estimates, [id], *keys) if there else []


def _tick_words(ratios: Sequence[float], ends: tuple[float, float], room: float) -> list[str]:
    """The ratios as words on a log axis `room` letter heights wide; nothing where one would touch the one before.

    >>> _tick_words([0.8, 1.2, 1.8, 3, 5], (0.7, 6), 12), _tick_words([1, 1.05, 4], (0.9, 5), 12)
    (['0.8', '1.2', '1.8', '3', '5'], ['1', '', '4'])
    """
    words, last = [], -math.inf
    for ratio in ratios:
        word = f"{ratio:g}"
        middle = room * math.log(ratio / ends[0]) / math.log(ends[1] / ends[0])
        # A point is half as wide as a digit.
        half = (len(word) - 0.5 * word.count(".")) * labels.LETTER / 2
        fits = middle - half > last + labels.LETTER / 2
        words.append(word if fits else "")
        last = middle + half if fits else last
    return words


def _curves(
    sources: Mapping[str, list[Estimate]], fits: Sequence[Estimate], drawn: Mapping[str, Look], look: Style
) -> Canvas:
    from matplotlib.lines import Line2D
    from matplotlib.ticker import NullLocator

    figure, axes_of = judges.grid(look, sources, drawn)
    fitted = {(each.data, each.where["judge"], each.where["condition"]): each for each in fits}
    ratios = sorted({float(each.where["ratio"]) for group in sources.values() for each in group})
    ends = ratios[0] / 1.18, ratios[-1] * 1.18
    feet = FEET if fits else {}
    for (source, judge), axes in axes_of.items():
        axes.set_xscale("log")
        for condition, own, shift, dash in (
            ("control", SAFE, 1 / 1.018, (0, (3, 2))),
            ("treatment", drawn[judge], 1.018, "-"),
        ):
            mine = [e for e in sources[source] if (e.where["judge"], e.where["condition"]) == (judge, condition)]
            known = sorted((float(e.where["ratio"]), e) for e in mine if not math.isnan(e.value))
            line = [x * shift for x, _ in known], [100 * each.value for _, each in known]
            thin = 1.2 * axes.spines["left"].get_linewidth()
            axes.plot(*line, color=own.colour, linestyle=dash, linewidth=thin, zorder=1.5)
            for x, each in known:
                panels.dot(axes, x * shift, each, own, upright=True)
                axes.lines[-1].set_markersize(0.5 * look.size)
            if condition in feet:
                other = fitted.get((source, judge, next(each for each in CONDITIONS if each != condition)))
                mine = fitted.get((source, judge, condition))
                thresholds.foot(axes, mine, own, feet[condition], ends, look, other)
        axes.axhline(50, color=GREY, linewidth=axes.spines["left"].get_linewidth(), linestyle=(0, (4, 3)), zorder=1)
        axes.set(xlim=ends, ylim=(-31 if feet else -6, 106))
        axes.set_yticks([0, 50, 100])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(ratios, _tick_words(ratios, ends, judges.room(axes, look)))
        axes.grid(axis="both")
    figure.supxlabel("gain divided by stake (log axis)", fontsize=look.size)
    figure.supylabel("accepted (%)", fontsize=look.size)
    plain = {"markeredgecolor": "white", "markeredgewidth": 0.7}
    handles = [
        Line2D([], [], color=GREY, linestyle=(0, (3, 2)), marker=SAFE.marker, **plain, label="nothing can be lost"),
        Line2D([], [], color=INK, label="the stake can be lost"),
    ]
    if fits:
        tick = {"markersize": 0.85 * look.size, "markeredgewidth": look.size / 6}
        handles.append(Line2D([], [], color=INK, marker="|", **tick, label="half accept"))
    judges.legend(figure, look, handles)
    return figure
