"""The figure of two leaderboards: what two judges say of the same models, and what of their own families."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from helpers.figures import comparisons, judges, panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, INK, Figure, Style, canvas, finished, settings
from helpers.words import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

THIRD = "third party"
COLUMNS = ("model", "family", "judge_x", "judge_y", "x", "y", "line", "low", "high", "data")
NUMBERS = ("x", "y", "line", "low", "high")
#: Of names beside a panel; more would touch.
MOST_NAMES = 20
LONGEST = 24
#: Families of two judges whose names do not tell two vendors, told apart from the rest without colour.
MARKERS = ({"marker": "s", "color": COLOURS[1]}, {"marker": "D", "color": COLOURS[6]})
OTHER = {"marker": "o", "markerfacecolor": "white", "markeredgecolor": INK}


def show_leaderboard_contrast(
    points: pd.DataFrame, style: str | Style = "paper", name: str = "leaderboard_contrast"
) -> Figure:
    """Do two judges disagree about models of their own families more than about those of third parties?

    Takes one row a model (columns: model; family, "third party" or the judge whose family it is of; judge_x, judge_y,
    the same two names in all rows; x and y, the logits of its win rate under each; line, low and high, the third-party
    line at its x with its 95 % prediction limits, NaN where none can be fitted; data). A panel a data source.
    """
    look = styles.style(style)
    judge_x, judge_y = _checked(points)
    words = {column: [plain(each) for each in points[column]] for column in ("model", "family", "data")}
    table = points.assign(**words).astype(dict.fromkeys(NUMBERS, float))
    known = table.dropna(subset=["x", "y"])
    there = set(table["data"])
    sources = [*(each for each in panels.SOURCES if each in there), *sorted(there - {*panels.SOURCES})]
    with settings(panels.at_file_resolution(look)):
        figure = canvas(look, look.text, (30 * len(sources) + 5) * look.size / 72)
        row = figure.subplots(len(sources), 2, squeeze=False, width_ratios=(1.5, 1), sharey="row")
        for (axes, beside), data in zip(row, sources, strict=True):
            here = known[known["data"] == data]
            _panel(axes, here, (judge_x, judge_y), look)
            _names(axes, beside, here[here["family"] != THIRD], look)
            panels.title(axes, data, len(sources) > 1)
            axes.set_ylabel(f"under {comparisons.named(judge_y, LONGEST)} (logit)")
        row[-1][0].set_xlabel(f"under {comparisons.named(judge_x, LONGEST)} (logit)")
        judges.legend(figure, look, _handles((judge_x, judge_y), set(known["family"]), look))
        text = f"Scatter of logits of win rates under {plain(judge_x)} and {plain(judge_y)}. "
        text += " ".join(_told(table[table["data"] == data], data) for data in sources)
        return finished(name, figure, _caption(table, known, sources), text, look)


def _checked(points: pd.DataFrame) -> tuple[str, str]:
    """The two judges of a table that can be drawn."""
    lacking = [column for column in COLUMNS if column not in points]
    if lacking or points.empty:
        needed, there = f"{', '.join(COLUMNS[:-1])} and {COLUMNS[-1]}", ", ".join(map(str, points.columns))
        raise ValueError(f"points need rows with {needed}; given: {len(points)} rows of {there or 'nothing'}")
    pair = []
    for column in ("judge_x", "judge_y"):
        names = sorted({plain(each) for each in points[column]})
        if len(names) > 1:
            raise ValueError(f"points: one {column} a figure, not {', '.join(names)}")
        pair += names
    odd = sorted({plain(each) for each in points["family"]} - {THIRD, *pair})
    if odd:
        raise ValueError(f"points: family {', '.join(odd)}; there are: {', '.join([THIRD, *pair])}")
    return pair[0], pair[1]


def _drawn(pair: Sequence[str], look: Style) -> tuple[dict[str, str], ...]:
    """How the two families are drawn: in their vendors' looks where the judges' names tell two."""
    found = judges.looks(pair, None, look)
    if len({(each.colour, each.marker) for each in found.values()} - {(panels.PLAIN.colour, panels.PLAIN.marker)}) < 2:
        return MARKERS
    return tuple({"marker": found[judge].marker, "color": found[judge].colour} for judge in pair)


def _panel(axes: Axes, here: pd.DataFrame, pair: Sequence[str], look: Style) -> None:
    band = here.dropna(subset=["line", "low", "high"]).sort_values("x")
    axes.fill_between(band["x"], band["low"], band["high"], color="#EDEDED", linewidth=0, zorder=1)
    axes.plot(band["x"], band["line"], color=GREY, zorder=1.5)
    for family, drawn in ((THIRD, OTHER), *zip(pair, _drawn(pair, look), strict=True)):
        some = here[here["family"] == family]
        axes.plot(some["x"], some["y"], linestyle="", zorder=3, **{"markeredgecolor": "white", **drawn})
    if band.empty:
        note = {"transform": axes.transAxes, "ha": "right", "va": "bottom", "color": panels.SOFT, "fontsize": "small"}
        axes.text(0.98, 0.02, "no third-party line", **note)
    axes.margins(0.06)
    axes.grid()


def _names(axes: Axes, beside: Axes, own: pd.DataFrame, look: Style) -> None:
    """The own-family models that lie farthest from the line, named to the right at their heights, with thin lines."""
    beside.set_axis_off()
    beside.set_xlim(0, 1)
    far = (own["y"] - own["line"]).abs().fillna(0).sort_values(ascending=False, kind="stable").index[:MOST_NAMES]
    named = own.loc[far].sort_values("y", kind="stable")
    low, high = axes.get_ylim()
    # A panel is about 26 letters high, a name and its gap 1.3.
    for y, row in zip(_apart(list(named["y"]), low, high, 1.3 * (high - low) / 26), named.itertuples(), strict=True):
        gap = row.y - row.line
        words = comparisons.named(row.model, LONGEST) + (
            "" if gap != gap else f" {gap:+.2f}".replace("-", "\N{MINUS SIGN}")
        )
        beside.text(0.1, y, words, va="center", fontsize="small")
        link = {"coordsA": axes.transData, "coordsB": beside.transData, "color": GREY, "linewidth": look.size / 20}
        from matplotlib.patches import ConnectionPatch

        patch = ConnectionPatch((row.x, row.y), (0.08, y), zorder=2, **link)
        patch.set_in_layout(False)
        axes.figure.add_artist(patch)


def _apart(places: list[float], low: float, high: float, least: float) -> list[float]:
    """The places, in their order, moved as little as need be to stand `least` apart between `low` and `high`.

    >>> [round(each, 2) for each in _apart([1.0, 1.1, 9.9], 0, 10, 1)]
    [0.55, 1.55, 9.5]
    """
    if not places:
        return []
    groups = [[each, 1] for each in places]  # the middle of a group and how many stand in it
    while True:
        for group in groups:
            half = group[1] * least / 2
            group[0] = min(max(group[0], low + half), high - half)
        for i in range(len(groups) - 1):
            (one, m), (two, n) = groups[i], groups[i + 1]
            if two - one < (m + n) * least / 2 - 1e-9:
                groups[i : i + 2] = [[(one * m + two * n) / (m + n), m + n]]
                break
        else:
            return [middle + (k - (n - 1) / 2) * least for middle, n in groups for k in range(int(n))]


def _handles(pair: Sequence[str], families: set[str], look: Style) -> list:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    found = [Line2D([], [], linestyle="", label=THIRD, **OTHER)] if THIRD in families else []
    for judge, drawn in zip(pair, _drawn(pair, look), strict=True):
        if judge in families:
            found.append(Line2D([], [], linestyle="", label=f"family of {comparisons.named(judge, LONGEST)}", **drawn))
    return [*found, Patch(facecolor="#EDEDED", label="95 % prediction")]


def _caption(table: pd.DataFrame, known: pd.DataFrame, sources: Sequence[str]) -> str:
    words = (
        "Logits of the win rates that two judges give the same models. Line and band: fitted to third-party models, "
        "with the 95 % prediction interval of one more such model. Named: the judges' own families with their distance "
        "from the line; above it the judge of the vertical axis is kinder than third-party models suggest. "
    )
    if any((known[known["data"] == data]["family"] != THIRD).sum() > MOST_NAMES for data in sources):
        words += f"Only the {MOST_NAMES} farthest from the line are named. "
    parts = []
    for data in sources:
        here = known[known["data"] == data]
        third = (here["family"] == THIRD).sum()
        lost = (table["data"] == data).sum() - len(here)
        gone = f", {lost} without both win rates" if lost else ""
        parts.append(
            f"{panels.SOURCES.get(data, data)} (n = {third} third-party and {len(here) - third} own models{gone})"
        )
    return f"{words}Points have no interval of their own; unreadable share not given. Data: {'; '.join(parts)}."


def _told(here: pd.DataFrame, data: str) -> str:
    own = here[here["family"] != THIRD]
    lines = [
        f"{plain(row.model)} ({plain(row.family)}): {row.x:+.2f} and {row.y:+.2f}, expected {row.line:+.2f} "
        f"[{row.low:+.2f}, {row.high:+.2f}]"
        for row in own.itertuples()
    ]
    third = len(here) - len(own)
    return f"{panels.SOURCES.get(data, data)}: {third} third-party models; {'; '.join(lines) or 'no own models'}."
