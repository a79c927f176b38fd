"""Figures of the hinting experiment: whether naming the authors changes whom judges rank first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, INK, Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate
from helpers.words import display_name, p_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Expected = float | Mapping[str, float] | None
AVERAGE = "average"
#: The average belongs to no vendor.
MEAN = Look(INK, "h")


def _range(estimates: Sequence[Estimate], share: float | None) -> tuple[float, float]:
    """The lowest and highest number in %, intervals and the expected share included."""
    ends = [100 * x for each in estimates for x in (each.low, each.value, each.high) if not math.isnan(x)]
    ends += [] if share is None else [100 * share]
    return (min(ends), max(ends)) if ends else (0.0, 100.0)


def show_hint_slopes(
    estimates: Sequence[Estimate],
    expected: Expected = None,
    style: str | Style = "paper",
    name: str = "hint_slopes",
) -> Figure:
    """Does a vendor's judge rank its own vendor first more or less often when authors are named?

    Takes `self_bias` (`where`: vendor, hint; rates), in the order none, self, competitors, full, swapped, others; one
    row of panels a vendor, one column a data source, and all panels span equally many pp, so that slopes compare.
    `expected` (own-vendor candidates / candidates; one number or one a vendor) is dashed.
    """
    look = styles.style(style)
    shown = panels.pick(estimates, ["self_bias"], ["vendor", "hint"])
    vendors, sources = list(look.looks({each.where["vendor"] for each in shown})), panels.by_data(shown)
    looks, shares = (
        look.looks(vendors),
        {v: expected.get(v) if isinstance(expected, Mapping) else expected for v in vendors},
    )
    hints = {source: panels.ordered(each.where["hint"] for each in group) for source, group in sources.items()}
    ends = {v: _range([each for each in shown if each.where["vendor"] == v], shares[v]) for v in vendors}
    # All panels as high as the widest needs, with a tenth of room.
    half = 0.55 * max(2.0, *(high - low for low, high in ends.values()))
    width = look.text if len(sources) > 1 else look.column
    letters = (width * 72 / look.size - 6) / panels.LETTER
    with settings(panels.at_file_resolution(look)):
        figure = canvas(look, width, (len(vendors) * (10.5 if len(vendors) < 5 else 8) + 7) * look.size / 72)
        slots = [len(each) for each in hints.values()]
        grid = figure.subplots(len(vendors), len(sources), sharey="row", squeeze=False, width_ratios=slots)
        for row, vendor in zip(grid, vendors, strict=True):
            for axis, (source, group) in zip(row, sources.items(), strict=True):
                own = {each.where["hint"]: each for each in group if each.where["vendor"] == vendor}
                _slopes(axis, [own.get(hint) for hint in hints[source]], looks[vendor])
                if shares[vendor] is not None:
                    panels.reference(axis, 100 * shares[vendor], upright=True)
                middle = sum(ends[vendor]) / 2
                axis.set_ylim(middle - half, middle + half)
                axis.locator_params(axis="y", nbins=5)
                axis.grid(axis="y")
                axis.set_xlim(-0.5, len(hints[source]) - 0.5)
                last = axis.get_subplotspec().is_last_row()
                room = letters * len(hints[source]) / sum(slots)
                panels.name_ticks(
                    axis, hints[source] if last else [""] * len(hints[source]), range(len(hints[source])), room
                )
                if axis.get_subplotspec().is_first_row():
                    panels.title(axis, source, len(sources) > 1)
            row[0].set_ylabel(panels.short(display_name(vendor), 14), fontweight="bold")
        figure.supylabel("own vendor ranked first (%)", fontsize=look.size)
        words = (
            "How often each vendor's judges rank their own vendor first, by what they are told about the authors "
            "(none: nothing). All panels span equally many percentage points. Intervals are those of each rate alone; "
            "differences are paired and shown elsewhere."
        )
        if any(share is not None for share in shares.values()):
            words += " Dashed: the own vendor's share of candidates."
        lost = panels.unreadable(estimates, {each.where["hint"] for each in shown})
        text = panels.alt("Paired slopes of own-vendor top-1 rates by hint, one row of panels a vendor", shown)
        return finished(name, figure, panels.caption(words, shown, lost) + panels.losses(lost), text, look)


def _slopes(axes: Axes, groups: Sequence[Estimate | None], look: Look) -> None:
    """One vendor's groups from left to right, joined where both have a number."""
    known = {at: 100 * each.value for at, each in enumerate(groups) if each and not math.isnan(each.value)}
    thin = axes.spines["left"].get_linewidth()
    axes.plot(list(known), list(known.values()), color=look.colour, linewidth=thin, alpha=0.6, zorder=1.5)
    for at, each in enumerate(groups):
        panels.dot(axes, at, each, look, upright=True)


def show_hint_effects(
    estimates: Sequence[Estimate],
    margin_pp: float = 5.0,
    conclusions: Mapping[str, str] | None = None,
    style: str | Style = "paper",
    name: str = "hint_effects",
    note: str = "",
) -> Figure:
    """How much does a hint change the own-vendor rate, against a margin below which a change is of no matter?

    Takes `hint_effect` (`where`: hint, vendor; vendor "average" = mean over vendors; pp), for averages
    `hint_effect_90` (thicker line), `name_effect` (`where`: vendor; a panel of its own), and published `hint_change`
    (no interval). One column a data source; `note` ends the caption. `conclusions` gives a word a hint, written beside
    its average; it needs estimates with intervals of one data source only.
    """
    look = styles.style(style)
    estimates = list(estimates)
    shown = panels.pick(estimates, ["hint_effect", "hint_change"], ["hint", "vendor"])
    names = [each for each in estimates if each.id == "name_effect"]
    names = panels.pick(names, ["name_effect"], ["vendor"]) if names else []
    wide = [each for each in estimates if each.id == "hint_effect_90"]
    sources, hints = panels.by_data([*shown, *names]), panels.ordered(each.where["hint"] for each in shown)
    effects = {each.data for each in shown if each.id == "hint_effect"}
    if conclusions and len(effects) > 1:
        raise ValueError(
            f"conclusions are words a hint; hint_effect is of {', '.join(sorted(effects))}: filter it first"
        )
    vendors = list(look.looks({each.where["vendor"] for each in (*shown, *names)} - {AVERAGE}))
    rows = [(hint, vendor) for hint in hints for vendor in (AVERAGE, *vendors)]
    named = [AVERAGE, *vendors] if names else []
    with settings(panels.at_file_resolution(look)):
        heights = [len(rows) + 0.6 * len(hints), len(named) + 0.6][: 2 if names else 1]
        longest = max(map(len, (*hints, *map(display_name, vendors)))) + max(
            map(len, (conclusions or {"": ""}).values())
        )
        # Names on the left and words on the right leave a column too little for what is between.
        width = look.text if len(sources) > 1 or longest > 26 else look.column
        figure = canvas(look, width, (sum(heights) * 1.6 + 5 * len(heights)) * look.size / 72)
        shared = {"sharex": "row", "sharey": "row", "squeeze": False, "height_ratios": heights}
        grid = figure.subplots(len(heights), len(sources), **shared)
        for column, (source, group) in zip(grid.T, sources.items(), strict=True):
            at = {(each.id, each.where.get("hint"), each.where["vendor"]): each for each in group}
            outer = {each.where["hint"]: each for each in wide if each.data == source}
            said = conclusions or {} if source in effects else {}
            _effects(column[0], rows, at, outer, margin_pp, look)
            _margin_words(column[0], rows, said)
            panels.title(column[0], source, len(sources) > 1)
            column[0].set_xlabel("change against none (pp)")
            if named:
                _name_effects(column[1], named, at, look)
        words = (
            f"Change of the own-vendor top-1 rate under each hint against none; bold: the mean over vendors, with its "
            f"90 % interval as the thicker line. Shaded: within \N{PLUS-MINUS SIGN}{margin_pp:g} pp; only an average "
            "whose 90 % interval lies inside can be equivalent to none, and is where Holm's correction over the hints "
            "leaves it so. Dashed: no change."
        )
        if named:
            words += (
                " Below: how much more often an answer is ranked first when shown under the judge's own vendor's name "
                "than under another name, names being exchanged at random."
            )
        lost = panels.unreadable(estimates, {"none", *hints})
        verdicts = "".join(f" {hint}: {word}." for hint, word in (conclusions or {}).items())
        drawn = [*shown, *names]
        kinds = {"hint_effect": "effect", "hint_change": "change", "name_effect": "name effect"}
        text = panels.alt("Dot plot of the effect of each hint, by vendor and on average", drawn, kinds, 24) + verdicts
        caption = panels.caption(words, drawn, lost) + panels.losses(lost)
        return finished(name, figure, f"{caption} {note}".strip(), text, look)


def _rows(axes: Axes, names: Sequence[str], bold: Sequence[bool], look: Style) -> list[float]:
    """Prepare a panel of named rows, first on top, and return their places: a bold one begins a block."""
    places, at = [], -0.6
    for i, starts in enumerate(bold):
        at += 1.6 if starts and i else 1
        places.append(at)
    axes.set_ylim(places[-1] + 0.6, places[0] - 0.6)
    axes.set_yticks(places, [panels.short(each, 20) for each in names])
    for tick, starts in zip(axes.yaxis.get_major_ticks(), bold, strict=True):
        tick.label1.set_fontweight("bold" if starts else "normal")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    return places


def _effects(
    axes: Axes,
    rows: Sequence[tuple[str, str]],
    at: Mapping[tuple[str, str | None, str], Estimate],
    wide: Mapping[str, Estimate],
    margin_pp: float,
    look: Style,
) -> None:
    """Effects of one data source, the average of each hint on top of its vendors."""
    looks = {**look.looks({vendor for _, vendor in rows} - {AVERAGE}), AVERAGE: MEAN}
    names = [hint if vendor == AVERAGE else display_name(vendor) for hint, vendor in rows]
    places = _rows(axes, names, [vendor == AVERAGE for _, vendor in rows], look)
    axes.axvspan(-margin_pp, margin_pp, color="#EFEFEF", zorder=0, linewidth=0)
    panels.reference(axes, 0)
    axes.update_datalim([(-1.3 * margin_pp, places[0]), (1.3 * margin_pp, places[0])])
    for place, (hint, vendor) in zip(places, rows, strict=True):
        each = at.get(("hint_effect", hint, vendor)) or at.get(("hint_change", hint, vendor))
        if not any(key[1] == hint for key in at):
            if vendor == AVERAGE:
                panels.note(axes, place, "not asked")
            continue
        panels.dot(axes, place, each, looks[vendor])
        inner = wide.get(hint)
        if vendor == AVERAGE and inner and not math.isnan(inner.low):
            ends = [100 * inner.low, 100 * inner.high]
            axes.plot(ends, [place, place], color=INK, linewidth=look.size / 3, zorder=2.5)
    axes.autoscale_view(scaley=False)


def _margin_words(axes: Axes, rows: Sequence[tuple[str, str]], conclusions: Mapping[str, str]) -> None:
    places = axes.get_yticks()
    for place, (hint, vendor) in zip(places, rows, strict=True):
        if vendor == AVERAGE and hint in conclusions:
            place_of = axes.get_yaxis_transform()
            axes.text(1.03, place, panels.short(conclusions[hint], 16), transform=place_of, va="center", style="italic")


def _name_effects(
    axes: Axes, vendors: Sequence[str], at: Mapping[tuple[str, str | None, str], Estimate], look: Style
) -> None:
    looks = {**look.looks(set(vendors) - {AVERAGE}), AVERAGE: MEAN}
    names = ["own name" if vendor == AVERAGE else display_name(vendor) for vendor in vendors]
    places = _rows(axes, names, [vendor == AVERAGE for vendor in vendors], look)
    panels.reference(axes, 0)
    axes.set_xlabel("effect of the own name (pp)")
    if not any(key[0] == "name_effect" for key in at):
        panels.note(axes, sum(places) / len(places), "not asked")
        return
    for place, vendor in zip(places, vendors, strict=True):
        panels.dot(axes, place, at.get(("name_effect", None, vendor)), looks[vendor])


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
    hints = {source: panels.ordered(each.where["hint"] for each in group) for source, group in sources.items()}
    means: dict[str, list[float]] = {each.where["category"]: [] for each in shown}
    for each in next(iter(sources.values())):
        if not math.isnan(each.value):
            means[each.where["category"]].append(each.value)
    order = sorted(means, key=lambda category: (-sum(means[category]) / (len(means[category]) or 1), category))
    slots = [len(each) for each in hints.values()]
    width = look.text if sum(slots) > 5 else look.column
    longest = min(max(map(len, order)), 18)
    letters = width * 72 / look.size / panels.LETTER - longest - 2
    with settings(panels.at_file_resolution(look)):
        figure = canvas(look, width, (2.9 * len(order) + 9) * look.size / 72)
        axes = figure.subplots(1, len(sources), sharey=True, squeeze=False, width_ratios=slots)[0]
        for axis, (source, group) in zip(axes, sources.items(), strict=True):
            cells = {(each.where["category"], each.where["hint"]): each for each in group}
            _group_grid(axis, cells, order, hints[source])
            places = [i + 0.5 for i in range(len(hints[source]))]
            panels.name_ticks(axis, hints[source], places, letters * len(hints[source]) / sum(slots))
            panels.title(axis, source, len(sources) > 1)
        axes[0].set_yticks([i + 0.5 for i in range(len(order))], [panels.short(each, 18) for each in order])
        axes[0].set_ylim(len(order), 0)
        figure.supxlabel("own vendor ranked first (%), mean over vendors", fontsize=look.size)
        words = (
            "How often judges rank their own vendor first, mean over vendors in %, by category and hint. Outlined: the "
            "lowest number of each row, all of them where several are equal; an outline is a minimum of noisy numbers "
            "and no finding."
        )
        lost = panels.unreadable(estimates, {each.where["hint"] for each in shown})
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
    hints, sources = panels.ordered(each.where["hint"] for each in shown), list(panels.by_data(shown))
    with settings(panels.at_file_resolution(look)):
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
        axes[0].set_yticks(range(len(hints)), [panels.short(hint, 18) for hint in hints])
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
        lost = panels.unreadable(estimates, hints)
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
                panels.note(axes, middle, missing, 0.03, "left")
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


#: No vendor of the published runs has these colours; dashes and markers tell lines apart where colours do not.
LINES = (
    (COLOURS[6], (0, ()), "o"),
    (COLOURS[5], (0, (5, 2)), "s"),
    (COLOURS[3], (0, (1, 1.2)), "^"),
    (INK, (0, (5, 1.5, 1, 1.5)), "D"),
    (COLOURS[4], (0, (9, 3)), "v"),
    (GREY, (0, (3, 1, 1, 1, 1, 1)), "P"),
    (COLOURS[8], (0, (2, 4)), "X"),
)
LEVEL = 0.05


def show_discordance(
    curves: pd.DataFrame,
    data: str = "published",
    style: str | Style = "paper",
    name: str = "discordance",
) -> Figure:
    """Which p-value would the difference to no hint have, had so many pairs of verdicts changed?

    Takes one row a point (columns: `hint`; `share`, of pairs whose own-vendor first place differs, 0 to 1; `p`). A line
    begins at the smallest share that the margins allow. With a column `changed` (the number of these pairs) the caption
    says how many pairs a line counts.
    """
    look = styles.style(style)
    lacking = [column for column in ("hint", "share", "p") if column not in curves]
    if lacking or curves.empty:
        there = ", ".join(map(str, curves.columns))
        raise ValueError(f"curves need rows with hint, share and p; given: {len(curves)} rows of {there or 'nothing'}")
    known = curves.dropna(subset=["share", "p"])
    hints = panels.ordered(curves["hint"])
    lines = {hint: known[known["hint"] == hint].sort_values("share") for hint in hints}
    outside = known[~known["share"].between(0, 1) | ~known["p"].between(0, 1)]
    if len(outside):
        raise ValueError(f"share and p lie between 0 and 1; row {outside.index[0]} has {dict(outside.iloc[0])}")
    with settings(panels.at_file_resolution(look)):
        figure = canvas(look, look.column, (23 + len(hints)) * look.size / 72)
        axes = figure.subplots()
        for i, (hint, line) in enumerate(lines.items()):
            colour, dash, marker = LINES[i % len(LINES)]
            shown = panels.short(hint, 24) + ("" if len(line) else " (not estimable)")
            axes.plot(
                100 * line["share"],
                line["p"],
                color=colour,
                linestyle=dash,
                marker=marker,
                # A marker at other places of each line, so that none hides another.
                markevery=(0.03 * i, 0.2),
                markeredgecolor="white",
                markeredgewidth=0.7,
                label=shown,
            )
        panels.reference(axes, LEVEL, upright=True)
        axes.set(xlim=(0, 100), ylim=(-0.02, 1.02), xlabel="pairs whose verdict changed (%), not published")
        axes.set_ylabel("p of the difference to none")
        ticks = [LEVEL, 0.25, 0.5, 0.75, 1]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.grid(axis="x")
        panels.title(axes, data, False)
        widest = max(len(line.get_label()) for line in axes.lines if not line.get_label().startswith("_"))
        # A line and its name take about nine letters more than the name.
        columns = 2 if 2 * (widest + 9) * panels.LETTER * look.size < look.column * 72 else 1
        figure.legend(loc="outside upper left", ncols=columns, frameon=False, handlelength=4)
        source = panels.SOURCES.get(data, data)
        words = (
            "p-value of the difference between each hint and none, as a function of the share of pairs (same question, "
            "same judge) of which one verdict put the own vendor first and the other did not. The margins do not tell "
            "that share; a line begins at the smallest that they allow. Dashed: p = 0.05. Where a line lies on both "
            "sides of it, the margins settle neither a difference nor its absence. The p-values take pairs as "
            "independent, which the judges of one question are not."
        )
        counts = (known["changed"] / known["share"]).round() if "changed" in known else ()
        n = f" (n = {', '.join(f'{count:.0f}' for count in sorted(set(counts)))} pairs a line)" if len(counts) else ""
        words += f" Data: {source}{n}; a p-value has no interval."
        text = f"Line plot of p against the share of changed verdicts, {source}. "
        text += " ".join(_told(hint, line) for hint, line in lines.items())
        return finished(name, figure, words, text, look)


def _told(hint: str, line: pd.DataFrame) -> str:
    """One line in words: where it begins and ends, and up to which share it stays below the level."""
    if line.empty:
        return f"{hint}: not estimable."
    first, last = line.iloc[0], line.iloc[-1]
    below = line[line["p"] < LEVEL]["share"]
    crossed = f"below {LEVEL} up to a share of {100 * below.max():.1f} %" if len(below) else f"nowhere below {LEVEL}"
    return (
        f"{hint}: p {p_text(first['p'])} at {100 * first['share']:.1f} % to p {p_text(last['p'])} at "
        f"{100 * last['share']:.1f} %, {crossed}."
    )
