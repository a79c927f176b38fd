"""Figures of the hinting experiment: whether naming the authors changes whom judges rank first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import labels, panels
from helpers.figures import style as styles
from helpers.figures.style import INK, Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate
from helpers.words import display_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    hints = {source: labels.ordered(each.where["hint"] for each in group) for source, group in sources.items()}
    ends = {v: _range([each for each in shown if each.where["vendor"] == v], shares[v]) for v in vendors}
    # All panels as high as the widest needs, with a tenth of room.
    half = 0.55 * max(2.0, *(high - low for low, high in ends.values()))
    width = look.text if len(sources) > 1 else look.column
    letters = (width * 72 / look.size - 6) / labels.LETTER
    with settings(labels.at_file_resolution(look)):
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
                labels.name_ticks(
                    axis, hints[source] if last else [""] * len(hints[source]), range(len(hints[source])), room
                )
                if axis.get_subplotspec().is_first_row():
                    panels.title(axis, source, len(sources) > 1)
            row[0].set_ylabel(labels.short(display_name(vendor), 14), fontweight="bold")
        figure.supylabel("own vendor ranked first (%)", fontsize=look.size)
        words = (
            "How often each vendor's judges rank their own vendor first, by what they are told about the authors "
            "(none: nothing). All panels span equally many percentage points. Intervals are those of each rate alone; "
            "differences are paired and shown elsewhere."
        )
        if any(share is not None for share in shares.values()):
            words += " Dashed: the own vendor's share of candidates."
        lost = labels.unreadable(estimates, {each.where["hint"] for each in shown})
        text = panels.alt("Paired slopes of own-vendor top-1 rates by hint, one row of panels a vendor", shown)
        return finished(name, figure, panels.caption(words, shown, lost) + labels.losses(lost), text, look)


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
    sources, hints = panels.by_data([*shown, *names]), labels.ordered(each.where["hint"] for each in shown)
    effects = {each.data for each in shown if each.id == "hint_effect"}
    if conclusions and len(effects) > 1:
        raise ValueError(
            f"conclusions are words a hint; hint_effect is of {', '.join(sorted(effects))}: filter it first"
        )
    vendors = list(look.looks({each.where["vendor"] for each in (*shown, *names)} - {AVERAGE}))
    rows = [(hint, vendor) for hint in hints for vendor in (AVERAGE, *vendors)]
    named = [AVERAGE, *vendors] if names else []
    with settings(labels.at_file_resolution(look)):
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
        lost = labels.unreadable(estimates, {"none", *hints})
        verdicts = "".join(f" {hint}: {word}." for hint, word in (conclusions or {}).items())
        drawn = [*shown, *names]
        kinds = {"hint_effect": "effect", "hint_change": "change", "name_effect": "name effect"}
        text = panels.alt("Dot plot of the effect of each hint, by vendor and on average", drawn, kinds, 24) + verdicts
        caption = panels.caption(words, drawn, lost) + labels.losses(lost)
        return finished(name, figure, f"{caption} {note}".strip(), text, look)


def _rows(axes: Axes, names: Sequence[str], bold: Sequence[bool], look: Style) -> list[float]:
    """Prepare a panel of named rows, first on top, and return their places: a bold one begins a block."""
    places, at = [], -0.6
    for i, starts in enumerate(bold):
        at += 1.6 if starts and i else 1
        places.append(at)
    axes.set_ylim(places[-1] + 0.6, places[0] - 0.6)
    axes.set_yticks(places, [labels.short(each, 20) for each in names])
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
                labels.note(axes, place, "not asked")
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
            axes.text(1.03, place, labels.short(conclusions[hint], 16), transform=place_of, va="center", style="italic")


def _name_effects(
    axes: Axes, vendors: Sequence[str], at: Mapping[tuple[str, str | None, str], Estimate], look: Style
) -> None:
    looks = {**look.looks(set(vendors) - {AVERAGE}), AVERAGE: MEAN}
    names = ["own name" if vendor == AVERAGE else display_name(vendor) for vendor in vendors]
    places = _rows(axes, names, [vendor == AVERAGE for vendor in vendors], look)
    panels.reference(axes, 0)
    axes.set_xlabel("effect of the own name (pp)")
    if not any(key[0] == "name_effect" for key in at):
        labels.note(axes, sum(places) / len(places), "not asked")
        return
    for place, vendor in zip(places, vendors, strict=True):
        panels.dot(axes, place, at.get(("name_effect", None, vendor)), looks[vendor])
