"""The figure of power: the smallest effect that would be found, against the number of questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from helpers.figures import labels, panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, INK, MARKERS, VENDORS, Figure, Look, Style, canvas, finished, settings
from helpers.words import display_name, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Lines that can be told apart and named at their ends; of more only the lowest and the highest are named.
MOST_LINES = 7
ACROSS = 2


def show_power(
    curves: pd.DataFrame,
    effects: Mapping[str, float] | None = None,
    style: str | Style = "paper",
    name: str = "power",
) -> Figure:
    """How small an effect do so many questions find in 80 % of runs?

    Takes `power.curves` (columns id, place, kind, unit, words, cluster, questions, effect, here, data): a panel a
    number, a line a place, a dot at the questions that were asked; both axes are logarithmic. What all lines of a panel
    share stands in its title. `effects` (by unit, as fractions) are
    the wanted ones, drawn as dashed lines. Curves without a line are NothingToDraw.
    """
    look = styles.style(style)
    known = curves[curves["effect"].notna()]
    if known.empty:
        raise panels.NothingToDraw("no number has a standard error to plan with, so there is no curve")
    with settings(labels.at_file_resolution(look)):
        shown = list(dict.fromkeys(zip(known["id"], known["kind"], known["unit"], strict=True)))
        across = min(ACROSS, len(shown)) if look.text > look.column else 1
        down = math.ceil(len(shown) / across)
        width = look.text if across > 1 else look.column
        figure = canvas(look, width, down * 17 * look.size / 72)
        grid = figure.subplots(down, across, squeeze=False).ravel()
        for axes, (id, kind, unit) in zip(grid, shown, strict=False):
            rows, shared = _named_apart(known[(known["id"] == id) & (known["kind"] == kind)])
            _panel(axes, rows, kind, unit, look)
            unit_of = "pp" if panels.scale(unit)[0] == 100 else unit
            if unit_of in (effects or {}):
                panels.reference(axes, effects[unit_of] * panels.scale(unit)[0], upright=True)
            name_of = plain(id).replace("_90", "").replace("_", " ")
            parts = [name_of, *(["equivalence"] if kind == "equivalence" else []), *shared]
            axes.set_title(", ".join(parts), loc="left")
        for axes in grid[len(shown) :]:
            axes.set_axis_off()
        if "simulated" in set(known["data"]):
            figure.suptitle("SIMULATED judges", x=1, ha="right", fontsize="small", fontweight="bold", color=labels.SOFT)
        return finished(name, figure, _caption(known, bool(effects)), _alt(known), look)


def _named_apart(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The lines of one number under the parts of their places that tell them apart, and the parts that all share."""
    parts = {place: str(place).split(", ") for place in rows["place"].unique()}
    shared = [part for part in next(iter(parts.values())) if all(part in each for each in parts.values())]
    if len(parts) == 1 or any(len(each) == len(shared) for each in parts.values()):
        return rows, []
    short = {place: ", ".join(part for part in each if part not in shared) for place, each in parts.items()}
    return rows.assign(place=rows["place"].map(short)), [display_name(part) for part in shared]


def _panel(axes: Axes, rows: pd.DataFrame, kind: str, unit: str, look: Style) -> None:
    """The lines of one number."""
    factor, printed = panels.scale(unit)
    printed = "pp" if printed == "%" else printed
    last = rows[rows["questions"] == rows["questions"].max()].sort_values("effect")
    places = list(last["place"])
    few = len(places) <= MOST_LINES
    named = places if few else [places[0], places[-1]]
    looks = _looks(list(dict.fromkeys(rows["place"])), look) if few else dict.fromkeys(places, Look(GREY, "o"))
    for place, drawn in looks.items():
        line = rows[rows["place"] == place]
        axes.plot(line["questions"], factor * line["effect"], color=drawn.colour, zorder=2)
        here = line[line["questions"] == line["here"]]
        axes.plot(here["questions"], factor * here["effect"], drawn.marker, color=drawn.colour, zorder=3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    _ticks(axes, rows, factor * rows["effect"])
    axes.set_xlabel(_counted(rows))
    axes.set_ylabel(f"smallest {'margin' if kind == 'equivalence' else 'effect'} ({printed})")
    axes.grid(True)
    _names(axes, last[last["place"].isin(named)], factor, looks)


def _looks(places: list[str], look: Style) -> dict[str, Look]:
    """A look for each line: a vendor's own where lines are vendors."""
    if set(places) <= set(VENDORS):
        return look.looks(places)
    return {place: Look(colour, marker) for place, colour, marker in zip(places, COLOURS, MARKERS, strict=False)}


def _ticks(axes: Axes, rows: pd.DataFrame, effects: pd.Series) -> None:
    """Plain numbers, a few of them, on both logarithmic axes."""
    from matplotlib.ticker import FixedLocator, NullLocator

    ends = ((axes.xaxis, rows["questions"].min(), rows["questions"].max()), (axes.yaxis, effects.min(), effects.max()))
    for axis, low, high in ends:
        steps = [m * 10.0**e for e in range(-4, 8) for m in (1, 2, 5) if 0.9 * low <= m * 10.0**e <= 1.1 * high]
        axis.set_major_locator(FixedLocator(steps))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(lambda value, _: f"{value:,g}")


def _names(axes: Axes, last: pd.DataFrame, factor: float, looks: Mapping[str, Look]) -> None:
    """The places at the ends of their lines, moved apart where they would touch."""
    low, high = (math.log(end) for end in axes.get_ylim())
    heights = [math.log(factor * effect) for effect in last["effect"]]
    apart = ", " if len(last) > 2 else "\n"
    lines = 1 if apart != "\n" else max(str(place).count(", ") + 1 for place in last["place"])
    # The height of a panel is about twelve lines of text.
    room = lines * (high - low) / 10.5
    for i in range(1, len(heights)):
        heights[i] = max(heights[i], heights[i - 1] + room)
    over = max(0.0, heights[-1] - high) if heights else 0.0
    for place, height in zip(last["place"], heights, strict=True):
        at = (1.02, (height - over - low) / (high - low))
        parts = [labels.short(display_name(part), 22) for part in str(place).split(", ")]
        words = apart.join(parts)
        colour = INK if looks[place].colour == GREY else looks[place].colour
        axes.text(*at, words, transform=axes.transAxes, va="center", fontsize="small", color=colour)


def _counted(known: pd.DataFrame) -> str:
    """What the questions of these numbers are: questions, articles, scenarios."""
    return " and ".join(f"{plain(each)}s" for each in dict.fromkeys(known["cluster"]))


def _caption(known: pd.DataFrame, wanted: bool) -> str:
    data = next(iter(known["data"]))
    here = sorted(set(known["here"]))
    asked = f"{here[0]}" if len(here) == 1 else f"{here[0]} to {here[-1]}"
    told = (f"{plain(id)}: {words}" for id, words in zip(known["id"], known["words"], strict=True))
    levels = "; ".join(dict.fromkeys(told))
    proved = "equivalence" in set(known["kind"])
    margin = " Of equivalence it is the smallest margin, if nothing differs." if proved else ""
    return (
        f"The smallest true effect that is found in 80 % of runs, against the number of {_counted(known)}.{margin} "
        f"Dots: the {asked} {_counted(known)} that the standard errors are from; elsewhere these are scaled with the "
        f"root of the number.{' Dashed: the wanted effect.' if wanted else ''} Levels: 0.05, {levels}. "
        f"Data: {panels.SOURCES.get(data, plain(data))}."
    )


def _alt(known: pd.DataFrame, most: int = 24) -> str:
    lines = []
    for (id, kind, place), rows in known.groupby(["id", "kind", "place"], sort=False):
        factor, printed = panels.scale(rows["unit"].iloc[0])
        first, last = rows.iloc[0], rows.iloc[-1]
        printed = "pp" if printed == "%" else printed
        lines.append(
            f"{plain(id)}{' (equivalence)' if kind == 'equivalence' else ''}, {plain(place)}: "
            f"{factor * first['effect']:.3g} {printed} at {first['questions']} {_counted(rows)}, "
            f"{factor * last['effect']:.3g} at {last['questions']}"
        )
    rest = f"; and {len(lines) - most} more" if len(lines) > most else ""
    return f"Curves of the smallest detectable effect: {'; '.join(lines[:most])}{rest}."
