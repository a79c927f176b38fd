"""Figures of gambles and of published means: at which gain a gamble is accepted, and direction beside size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from helpers.figures import bias_effects, comparisons, judges, panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, INK, Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.artist import Artist
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
        text = axes.text(x, y, words, ha=ha, va="center", color=panels.SOFT, fontsize=max(6, 0.7 * look.size), zorder=4)
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
                panels.note(row[0], i, "not estimable" if any(both) else "not asked")
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
    with settings(panels.at_file_resolution(look)):
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
            figure = forest(shown, drawn, look)
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
        return finished(
            name, figure, bias_effects.caption(words, [_placed(each) for each in shown], estimates), text, look
        )


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
        half = (len(word) - 0.5 * word.count(".")) * panels.LETTER / 2
        fits = middle - half > last + panels.LETTER / 2
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
                foot(axes, mine, own, feet[condition], ends, look, other)
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


#: Direction and size, told apart by colour, by marker and by words.
MEAN, ABSOLUTE = "ratio_scale", "ratio_scale_absolute"
RANDOM = "ratio_scale_random"
LOOKS = {MEAN: Look(COLOURS[2], "o"), ABSOLUTE: Look(COLOURS[0], "D")}
WORDS = {MEAN: "mean B: direction", ABSOLUTE: "mean |B|: either direction, and noise"}
EXPECTED = "mean |B| expected of answers at random"
#: Where mean B lies at the other side of 0 than mean |B|, its distance from 0 is where the line begins.
MIRRORED = "|mean B|, where mean B is below 0"
AT_RANDOM = Look(INK, "s")
LONGEST = 32


def show_published_biases(
    estimates: Sequence[Estimate],
    titles: Mapping[str, str] | None = None,
    invalid: Sequence[str] = (),
    style: str | Style = "paper",
    name: str = "published_biases",
) -> Figure:
    """Which way does each bias go, and is its size above what answers at random give?

    Takes `ratio_scale`, `ratio_scale_absolute` and, as a tick, `ratio_scale_random` (`where`: bias; scores from -1 to
    1): one row a bias, sorted by the first. `titles` are the names of biases on the figure; `invalid` ones have a
    star, since their metric was corrected later.
    """
    look = styles.style(style)
    shown = [each for id in (MEAN, ABSOLUTE) for each in panels.pick(estimates, [id], ["bias"])]
    expected = {each.where["bias"]: each for each in estimates if each.id == RANDOM and set(each.where) == {"bias"}}
    at = {(each.id, each.where["bias"]): each for each in shown}
    biases = judges.by_value({each.where["bias"] for each in shown}, _values(shown, "bias"))
    called = {bias: panels.short((titles or {}).get(bias, bias.replace("_", " ")), LONGEST) for bias in biases}
    names = [f"{called[bias]} *" if bias in invalid else called[bias] for bias in biases]
    with settings(panels.at_file_resolution(look)):
        from matplotlib.lines import Line2D

        figure = canvas(look, look.text, (1.5 * len(biases) + 11) * look.size / 72)
        axes = figure.subplots()
        panels.rows(axes, names)
        axes.grid(axis="y")
        panels.reference(axes, 0)
        for i, bias in enumerate(biases):
            _row(axes, i, [at.get((id, bias)) for id in (MEAN, ABSOLUTE)], expected.get(bias), look)
        axes.set_xlim(-1.03, 1.03)
        axes.set_xticks([-1, -0.5, 0, 0.5, 1])
        axes.set_xlabel("B (+ toward the bias)")
        panels.title(axes, shown[0].data, False)
        handles = [_handle(LOOKS[id], WORDS[id]) for id in (MEAN, ABSOLUTE)]
        if expected:
            handles.append(
                Line2D([], [], color=INK, marker="|", linestyle="none", markersize=look.size, label=EXPECTED)
            )
        below = any(at[MEAN, bias].value < 0 for bias in biases if (MEAN, bias) in at and (ABSOLUTE, bias) in at)
        if below:
            handles.insert(1, Line2D([], [], linestyle="none", label=MIRRORED, **_mirror(look)))
        judges.legend(figure, look, handles)
        words = (
            "The published metric of each bias, averaged over tests and models (Malberg et al., arXiv 2410.15413). A "
            "line spans what mean |B| has beyond |mean B|: bias in both directions, and noise"
        )
        if below:
            words += "; where mean B is below 0 it begins at a small ring, which mirrors the point at 0"
        if expected:
            words += "; a tick marks what a model that picks every option with the same chance is expected to have"
        if set(invalid) & set(biases):
            words += ". *: the metric was corrected after these numbers were printed"
        text = _alt(biases, called, at, expected)
        said = panels.caption(f"{words}. Sorted by mean B.", shown).replace("published counts", "published means")
        return finished(name, figure, said, text, look)


def show_published_models(
    estimates: Sequence[Estimate],
    random: str = "Random",
    style: str | Style = "paper",
    name: str = "published_models",
) -> Figure:
    """Which models have a larger mean |B| than the one that answers at random?

    Takes `ratio_scale_absolute` (`where`: judge): one row a model, sorted; `random` is the name of that model.
    """
    look = styles.style(style)
    shown = panels.pick(estimates, [ABSOLUTE], ["judge"])
    at = {each.where["judge"]: each for each in shown}
    names = judges.by_value(at, _values(shown, "judge", ABSOLUTE))
    with settings(panels.at_file_resolution(look)):
        figure = canvas(look, look.column, (1.5 * len(names) + 9) * look.size / 72)
        axes = figure.subplots()
        panels.rows(axes, [panels.short(model, LONGEST) for model in names])
        for i, model in enumerate(names):
            panels.dot(axes, i, at[model], AT_RANDOM if model == random else LOOKS[ABSOLUTE])
        known = [each.value for each in shown if not math.isnan(each.value)]
        axes.set_xlim(0, 1.12 * max(known, default=1.0))
        axes.set_xlabel("mean |B|")
        panels.title(axes, shown[0].data, False)
        words = "Mean |B| of each model over the biases (Malberg et al., arXiv 2410.15413). It counts bias in either "
        words += "direction, and noise"
        if random in at:
            value = at[random].value
            axes.axvline(value, color=GREY, linewidth=look.size / 12, linestyle=(0, (4, 3)), zorder=1)
            axes.get_yticklabels()[names.index(random)].set_fontweight("bold")
            handles = [_handle(LOOKS[ABSOLUTE], "a model"), _handle(AT_RANDOM, "answers at random")]
            judges.legend(figure, look, handles)
            words += ": the square and the dashed line are a model that answers at random"
        text = panels.alt("Dot plot of mean |B| by model", [at[model] for model in names], most=48)
        said = panels.caption(f"{words}.", shown).replace("published counts", "published means")
        return finished(name, figure, said, text, look)


def _values(shown: Sequence[Estimate], key: str, id: str = MEAN) -> dict[str, float]:
    return {each.where[key]: each.value for each in shown if each.id == id}


def _alt(
    biases: Sequence[str],
    called: Mapping[str, str],
    at: Mapping[tuple[str, str], Estimate],
    expected: Mapping[str, Estimate],
) -> str:
    """What each row shows, its numbers by name."""
    lines = []
    for bias in biases:
        row = [("mean B", at.get((MEAN, bias))), ("mean |B|", at.get((ABSOLUTE, bias)))]
        row.append(("at random", expected.get(bias)))
        lines.append(f"{called[bias]}: " + ", ".join(f"{words} {each}" for words, each in row if each is not None))
    return f"Dot plot of mean B and mean |B| by bias. Published means: {'; '.join(lines)}."


def _mirror(look: Style) -> dict[str, Any]:
    """The look of the small ring."""
    colour = LOOKS[MEAN].colour
    return {"marker": ".", "color": colour, "markerfacecolor": "white", "markeredgecolor": colour,
            "markeredgewidth": 0.7, "markersize": 0.65 * look.size}  # fmt: skip


def _row(axes: Axes, at: float, means: Sequence[Estimate | None], expected: Estimate | None, look: Style) -> None:
    """One bias: its two means, the part of the second that the first does not explain, and the tick."""
    ends = [abs(each.value) for each in means if each is not None]
    if len(ends) == 2:
        axes.plot(ends, [at, at], color=GREY, zorder=1.5)
        if means[0].value < 0:
            axes.plot(ends[0], at, linestyle="none", zorder=2.5, **_mirror(look))
    if expected is not None:
        axes.plot([expected.value] * 2, [at - 0.36, at + 0.36], color=INK, zorder=2)
    for each in means:
        if each is not None:
            panels.dot(axes, at, each, LOOKS[each.id])


def _handle(look: Look, words: str) -> Artist:
    from matplotlib.lines import Line2D

    face = {"markerfacecolor": "white", "markeredgewidth": 0.7}
    return Line2D([], [], color=look.colour, marker=look.marker, linestyle="none", label=words, **face)
