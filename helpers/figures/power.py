"""The figures of power and of the calibration: what a design can find, and how often each number is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from helpers.figures import panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, INK, MARKERS, VENDORS, Figure, Look, Style, canvas, finished, settings
from helpers.words import display_name, plain

if TYPE_CHECKING:
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
    with settings(panels.at_file_resolution(look)):
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
            figure.suptitle("SIMULATED judges", x=1, ha="right", fontsize="small", fontweight="bold", color=panels.SOFT)
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
        parts = [panels.short(display_name(part), 22) for part in str(place).split(", ")]
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


#: Rates that the rule allows, in percent.
ALLOWED = (3, 7)
MISSED = COLOURS[6]
#: How each verdict is drawn: marker, face and edge.
LOOKS = {
    "holds": ("o", INK, INK),
    "conservative": ("o", "white", INK),
    "misses": ("D", MISSED, MISSED),
    "too few": (".", GREY, GREY),
    "shown": ("x", GREY, GREY),
}
WORDS = {
    "holds": "holds the rule",
    "conservative": "conservative",
    "misses": "misses the rule",
    "too few": "too few runs",
    "shown": "not judged",
}
PANELS = ("false alarms", "intervals that miss the truth")


def show_calibration(
    rows: pd.DataFrame, questions: int = 80, style: str | Style = "paper", name: str = "calibration"
) -> Figure:
    """Do tests and intervals keep their promise of 5 % on simulated judges of known truth?

    Takes the rows of `calibrate.stored` (one a world and number). A line an id, its points the worlds and places
    at so many `questions`: on the left how often the test rejects where nothing is planted, on the right how often the
    interval leaves out the truth. Without rows of that size a ValueError.
    """
    look = styles.style(style)
    at = rows[(rows["questions"] == questions) & (rows["given"] > 0)]
    if at.empty:
        raise panels.NothingToDraw(f"no calibration at {questions} questions")
    lines = list(dict.fromkeys(zip(at["experiment"], at["id"], strict=True)))
    spots: list[tuple[str, str]] = []
    for experiment in dict.fromkeys(at["experiment"]):
        spots += [(experiment, ""), *(line for line in lines if line[0] == experiment)]
    with settings(panels.at_file_resolution(look)):
        figure = canvas(look, look.text, (len(spots) * 1.5 + 6) * look.size / 72)
        left, right = figure.subplots(1, 2, sharey=True)
        size = at["role"].eq("null") | (at["role"].eq("failure") & at["truth"].eq(0))
        for axes, title, part, rate in (
            (left, PANELS[0], at[size], at["rejected"]),
            (right, PANELS[1], at[at["coverage"].notna()], 1 - at["coverage"]),
        ):
            _axis(axes, title)
            for y, spot in enumerate(spots):
                here = part[(part["experiment"] == spot[0]) & (part["id"] == spot[1])]
                for row in here.itertuples():
                    _point(axes, y, 100 * float(rate[row.Index]), row.verdict, look)
        panels.rows(left, [id.replace("_", " ") if id else experiment for experiment, id in spots])
        right.tick_params(axis="y", length=0)
        for tick, (_, id) in zip(left.get_yticklabels(), spots, strict=True):
            tick.set_fontweight("normal" if id else "bold")
        _legend(figure, look, {_kind(verdict) for verdict in at["verdict"]})
        _simulated(left)
        counts = at["verdict"].map(_kind).value_counts()
        return finished(name, figure, _calibration_caption(at, questions), _calibration_alt(counts, len(lines)), look)


def _kind(verdict: str) -> str:
    return verdict.split(":")[0]


def _axis(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left")
    # Linear where rates should be, so that 5 % and 100 % both have room.
    axes.set_xscale("symlog", linthresh=10)
    axes.set_xlim(-0.8, 130)
    axes.set_xticks([0, 5, 10, 30, 100], ["0", "5", "10", "30", "100"])
    axes.minorticks_off()
    axes.axvspan(*ALLOWED, color="#E6E6E6", zorder=0, linewidth=0)
    axes.set_xlabel("% of replications")
    axes.grid(axis="x")


def _simulated(axes: Axes) -> None:
    """The word over the names of the rows, level with the titles: the legend has the line above them."""
    import matplotlib

    how = {"fontsize": "small", "fontweight": "bold", "color": panels.SOFT, "ha": "right", "va": "baseline"}
    at = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate("SIMULATED judges", (0, 1), xytext=(-4, matplotlib.rcParams["axes.titlepad"]), **at, **how)


def _point(axes: Axes, y: float, rate: float, verdict: str, look: Style) -> None:
    if not math.isnan(rate):
        marker, face, edge = LOOKS[_kind(verdict)]
        small = {"markersize": 0.42 * look.size, "markeredgewidth": 0.08 * look.size}
        axes.plot(rate, y, marker, markerfacecolor=face, markeredgecolor=edge, zorder=3, **small)


def _legend(figure: object, look: Style, used: set[str]) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for kind, (marker, face, edge) in LOOKS.items():
        if kind in used:
            drawn = {"markerfacecolor": face, "markeredgecolor": edge, "markersize": 0.5 * look.size}
            handles.append(Line2D([], [], linestyle="", marker=marker, label=WORDS[kind], **drawn))
    close = {"columnspacing": 0.9, "handletextpad": 0.1, "handlelength": 1.4}
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False, **close)  # type: ignore[attr-defined]


def _calibration_caption(at: pd.DataFrame, questions: int) -> str:
    runs = sorted(set(at["runs"]))
    told = f"{runs[0]:,}" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,}"
    return (
        f"SIMULATED judges of known truth, {questions} questions, {told} replications a world. A point a world and "
        "place (judge's vendor, hint, slot). Left: how often the test speaks (p < 0.05) where nothing is planted. "
        "Right: how often the 95 % interval leaves out the true value (of the equivalence test: the 90 % interval, "
        "nominally 10 %). Band: 3 to 7 %. A point misses the rule where the exact 99.9 % interval of its rate lies "
        "wholly above the band, or its mean is off by more than 3.5 Monte-Carlo standard errors. Crosses, not judged: "
        "published estimators, and defended ones in a world that breaks what they assume; there they can fail, and a "
        "cross inside the band has not failed in this world."
    )


def _calibration_alt(counts: pd.Series, lines: int) -> str:
    told = ", ".join(f"{WORDS.get(kind, kind)}: {count}" for kind, count in counts.items())
    return f"Dot plot of false alarms and missed truths of {lines} numbers on simulated judges: {told}."
