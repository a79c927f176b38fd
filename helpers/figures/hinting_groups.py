"""Figures that compare the groups of the hinting experiment: by category, by metric, and by what margins leave open."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import labels, panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, INK, Figure, Style, canvas, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FLOOR = "#D55E00"
#: Values this close are one value: sums of the same counts may differ in the last digit.
SAME = 1e-12
METRICS = {
    "deviation_from_expected": "deviation\nfrom expected",
    "balance": "balance\n(overall)",
    "consistency_judges": "consistency\n(over judges)",
    "consistency_vendors": "consistency\n(over vendors)",
}


def show_category_groups(
    estimates: Sequence[Estimate],
    style: str | Style = "paper",
    name: str = "category_groups",
) -> Figure:
    """In which category is the own-vendor rate how high under which hint?

    Takes `category_average_self_bias` (`where`: category, hint; rates); one panel a data source, categories sorted by
    their mean over the groups of the first source. The lowest number of each row is outlined, and all equal to it.
    """
    look = styles.style(style)
    shown = panels.pick(estimates, ["category_average_self_bias"], ["category", "hint"])
    sources = panels.by_data(shown)
    hints = {source: labels.ordered(each.where["hint"] for each in group) for source, group in sources.items()}
    means: dict[str, list[float]] = {each.where["category"]: [] for each in shown}
    for each in next(iter(sources.values())):
        if not math.isnan(each.value):
            means[each.where["category"]].append(each.value)
    order = sorted(means, key=lambda category: (-sum(means[category]) / (len(means[category]) or 1), category))
    slots = [len(each) for each in hints.values()]
    width = look.text if sum(slots) > 5 else look.column
    longest = min(max(map(len, order)), 18)
    letters = width * 72 / look.size / labels.LETTER - longest - 2
    with settings(labels.at_file_resolution(look)):
        figure = canvas(look, width, (2.9 * len(order) + 9) * look.size / 72)
        axes = figure.subplots(1, len(sources), sharey=True, squeeze=False, width_ratios=slots)[0]
        for axis, (source, group) in zip(axes, sources.items(), strict=True):
            cells = {(each.where["category"], each.where["hint"]): each for each in group}
            _group_grid(axis, cells, order, hints[source])
            places = [i + 0.5 for i in range(len(hints[source]))]
            labels.name_ticks(axis, hints[source], places, letters * len(hints[source]) / sum(slots))
            panels.title(axis, source, len(sources) > 1)
        axes[0].set_yticks([i + 0.5 for i in range(len(order))], [labels.short(each, 18) for each in order])
        axes[0].set_ylim(len(order), 0)
        figure.supxlabel("own vendor ranked first (%), mean over vendors", fontsize=look.size)
        words = (
            "How often judges rank their own vendor first, mean over vendors in %, by category and hint. Outlined: the "
            "lowest number of each row, all of them where several are equal; an outline is a minimum of noisy numbers "
            "and no finding."
        )
        lost = labels.unreadable(estimates, {each.where["hint"] for each in shown})
        text = panels.alt("Heatmap of own-vendor top-1 rates by category and hint", shown, most=40)
        caption = panels.caption(words, shown, lost).replace("Open markers", "One number a cell")
        return finished(name, figure, caption, text, look)


def lowest(cells: Mapping[str, Estimate]) -> list[str]:
    """The keys of the lowest number and of all equal to it."""
    values = {key: each.value for key, each in cells.items() if not math.isnan(each.value)}
    return [key for key, value in values.items() if value <= min(values.values()) + SAME]


def _group_grid(
    axes: Axes, cells: Mapping[tuple[str, str], Estimate], order: Sequence[str], hints: Sequence[str]
) -> None:
    import matplotlib
    from matplotlib.patches import Rectangle

    thick = matplotlib.rcParams["lines.linewidth"]
    for row, category in enumerate(order):
        here = {hint: cells[category, hint] for hint in hints if (category, hint) in cells}
        marked = lowest(here)
        for column, hint in enumerate(hints):
            cell = here.get(hint)
            empty = cell is None or math.isnan(cell.value)
            colour = "#F2F2F2" if empty else panels.shade("Blues", 0.75 * cell.value)
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="white", linewidth=1))
            ink = "white" if not empty and cell.value > 0.8 else INK
            number = panels.NOT_ESTIMABLE if empty else f"{100 * cell.value:.1f}"
            has_interval = not empty and not math.isnan(cell.low)
            axes.text(column + 0.5, row + (0.36 if has_interval else 0.5), number, ha="center", va="center", color=ink)
            if has_interval:
                words = f"[{100 * cell.low:.0f}, {100 * cell.high:.0f}]"
                axes.text(column + 0.5, row + 0.72, words, ha="center", va="center", color=ink, fontsize="small")
            if hint in marked:
                box = Rectangle((column + 0.03, row + 0.04), 0.94, 0.92, fill=False, edgecolor=INK, linewidth=thick)
                axes.add_patch(box).set_zorder(3)
    axes.set_xlim(0, len(hints))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def show_group_metrics(
    estimates: Sequence[Estimate],
    style: str | Style = "paper",
    name: str = "group_metrics",
) -> Figure:
    """How do the four published metrics differ between hints, and how large would each be by noise alone?

    Takes the ids of METRICS (`where`: hint; pp) and `<id>_noise_floor`; one panel a metric, one bar a data source:
    published counts hatched, a thick upright line for the noise floor, words where a number is missing.
    """
    look, estimates = styles.style(style), list(estimates)
    ids = [id for id in METRICS if any(each.id == id and set(each.where) == {"hint"} for each in estimates)]
    shown = [found for id in ids or list(METRICS) for found in panels.pick(estimates, [id], ["hint"])]
    floors = [
        found
        for id in (f"{each}_noise_floor" for each in METRICS)
        if any(each.id == id for each in estimates)
        for found in panels.pick(estimates, [id], ["hint"])
    ]
    hints, sources = labels.ordered(each.where["hint"] for each in shown), list(panels.by_data(shown))
    with settings(labels.at_file_resolution(look)):
        rows = len(hints) * (len(sources) + 0.5)
        figure = canvas(look, look.text, (rows * 1.5 + 10) * look.size / 72)
        axes = figure.subplots(1, len(METRICS), sharex=True, sharey=True, squeeze=False)[0]
        numbers = [100 * x for each in (*shown, *floors) for x in (each.value, each.high)]
        axes[0].set_xlim(0, 1.12 * max((x for x in numbers if not math.isnan(x)), default=1.0))
        for axis, (id, words) in zip(axes, METRICS.items(), strict=True):
            at = {(each.data, each.where["hint"]): each for each in shown if each.id == id}
            floor = {(each.data, each.where["hint"]): each for each in floors if each.id == f"{id}_noise_floor"}
            asked = {(each.data, each.where["hint"]) for each in shown}
            _metric(axis, at, floor, asked, hints, sources)
            axis.set_title(words, loc="left")
        axes[0].set_yticks(range(len(hints)), [labels.short(hint, 18) for hint in hints])
        axes[0].set_ylim(len(hints) - 0.4, -0.6)
        figure.supxlabel("pp (0 = none)", fontsize=look.size)
        _legend(figure, sources, bool(floors))
        words = (
            "The four published metrics of each group: mean distance of own-vendor rates from an equal share, spread "
            "of overall shares, spread of own-vendor rates over judges and over vendors. All are zero or more even "
            "where nothing differs."
        )
        if floors:
            words += " Thick upright lines: the noise floor, what a metric would be from chance alone."
        if "published" in sources:
            words += " Hatched: from published counts; not derivable: these counts were not published."
        lost = labels.unreadable(estimates, hints)
        names = {id: " ".join(words.split()) for id, words in METRICS.items()}
        names |= {f"{id}_noise_floor": f"noise floor of {words}" for id, words in names.items()}
        text = panels.alt("Bars of four metrics by hint", [*shown, *floors], names, 48)
        return finished(
            name, figure, panels.caption(words, shown, lost).replace("Open markers", "Bare bars"), text, look
        )


def _fill(source: str, sources: Sequence[str]) -> dict[str, object]:
    """How the bars of a data source are filled: hatched when published, else full, lighter from source to source."""
    if source == "published":
        return {"facecolor": "white", "edgecolor": GREY, "hatch": "////", "linewidth": 0.7}
    rank = [each for each in sources if each != "published"].index(source)
    return {"facecolor": (COLOURS[5], COLOURS[4], COLOURS[3], COLOURS[7])[rank % 4], "edgecolor": "none"}


def _metric(
    axes: Axes,
    at: Mapping[tuple[str, str], Estimate],
    floors: Mapping[tuple[str, str], Estimate],
    asked: set[tuple[str, str]],
    hints: Sequence[str],
    sources: Sequence[str],
) -> None:
    """One metric: a block of bars a hint, a bar a data source."""
    thick = 0.8 / len(sources)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.locator_params(axis="x", nbins=4)
    for i, hint in enumerate(hints):
        for j, source in enumerate(sources):
            middle, each = i - 0.4 + thick * (j + 0.5), at.get((source, hint))
            if each is None or math.isnan(each.value):
                missing = "not derivable" if source == "published" else "not given"
                missing = "not estimable" if each is not None else missing
                missing = missing if (source, hint) in asked else "not asked"
                labels.note(axes, middle, missing, 0.03, "left")
                continue
            axes.barh(middle, 100 * each.value, 0.92 * thick, **_fill(source, sources))
            if not math.isnan(each.low):
                axes.plot([100 * each.low, 100 * each.high], [middle, middle], color=INK, zorder=3)
            floor = floors.get((source, hint))
            if floor is not None and not math.isnan(floor.value):
                ends = [middle - 0.46 * thick, middle + 0.46 * thick]
                axes.plot([100 * floor.value] * 2, ends, color=FLOOR, linewidth=_heavy(), zorder=4)


def _heavy() -> float:
    import matplotlib

    return 1.6 * matplotlib.rcParams["lines.linewidth"]


def _legend(figure: Canvas, sources: Sequence[str], floors: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Patch | Line2D] = [
        Patch(label=panels.SOURCES.get(source, source), **_fill(source, sources)) for source in sources
    ]
    if floors:
        # An upright line, as in the panels.
        handles.append(
            Line2D([], [], color=FLOOR, marker="|", linestyle="", markeredgewidth=_heavy(), label="noise floor")
        )
    if len(handles) > 1 or "simulated" in sources:
        legend = figure.legend(handles=handles, loc="outside upper left", ncols=2, frameon=False, borderpad=0.3)
        for text in legend.get_texts():
            text.set_fontweight("bold" if text.get_text() == panels.SOURCES["simulated"] else "normal")
