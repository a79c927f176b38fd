"""Kinds of verdict pairs on figures: what two verdicts in opposite orders say together, and how each kind is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from helpers.figures import comparisons, labels, panels
from helpers.figures.comparisons import Names
from helpers.figures.style import COLOURS, GREY, INK
from helpers.words import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from helpers.figures.style import Style

#: Verdicts in terms of what was shown: A is the answer that stood first in that game.
LABELS = ("A>>B", "A>B", "A=B", "B>A", "B>>A")
INVALID = "invalid"
GAMES = (*LABELS, INVALID)
COLUMNS = ("source", "judge", "candidate", "game_1", "game_2", "count", "data")

Fill = Mapping[str, Any]
Cells = Mapping[str, Mapping[Names, "pd.DataFrame"]]
Order = dict[str, list[Names]]
LOST: Fill = {"facecolor": "white", "edgecolor": GREY, "hatch": "////", "linewidth": 0.7}
#: Hatches and lightness tell them apart in print without colour.
FILLS: dict[str, Fill] = {
    "mirrored": {"facecolor": COLOURS[5], "edgecolor": "white"},
    "mirrored, other strength": {"facecolor": "#D6ECF8", "edgecolor": "#4A9BC7", "hatch": "...", "linewidth": 0.7},
    "one tie": {"facecolor": "#CFCFCF", "edgecolor": "white"},
    "second twice": {"facecolor": "#F2DFCF", "edgecolor": "#8A5A2B", "hatch": "\\\\\\\\", "linewidth": 0.7},
    "first twice": {"facecolor": "#A96A32", "edgecolor": "white"},
    INVALID: LOST,
}


def kind(game_1: str, game_2: str) -> str:
    """What two verdicts in opposite orders say together.

    >>> kind("A>>B", "B>A"), kind("A>B", "A>>B"), kind("A=B", "A=B"), kind("A=B", "B>A")
    ('mirrored, other strength', 'first twice', 'mirrored', 'one tie')
    """
    if INVALID in (game_1, game_2):
        return INVALID
    one, two = (2 - LABELS.index(each) for each in (game_1, game_2))
    if one == -two:
        return "mirrored"
    if one * two:
        return "mirrored, other strength" if one * two < 0 else "first twice" if one > 0 else "second twice"
    return "one tie"


def checked(counts: pd.DataFrame) -> pd.DataFrame:
    """The counts (columns: COLUMNS), a row a cell, with the `kind` of each and what the source adds to the names.

    Lacking columns, no rows, unknown verdicts and counts that are no counts are a ValueError that names them.
    """
    lacking = [column for column in COLUMNS if column not in counts]
    if lacking or counts.empty:
        needed, there = f"{', '.join(COLUMNS[:-1])} and {COLUMNS[-1]}", ", ".join(map(str, counts.columns))
        raise ValueError(f"counts need rows with {needed}; given: {len(counts)} rows of {there or 'nothing'}")
    for column in ("game_1", "game_2"):
        odd = sorted(set(counts[column].map(str)) - set(GAMES))
        if odd:
            raise ValueError(f"counts: {column} {', '.join(map(plain, odd))}; there are: {', '.join(GAMES)}")
    wrong = counts[~((counts["count"] >= 0) & (counts["count"] % 1 == 0))]
    if len(wrong):
        raise ValueError(f"counts are whole numbers from 0; row {wrong.index[0]} has {dict(wrong.iloc[0])}")
    keys = [column for column in COLUMNS if column != "count"]
    # Signs that no string of pandas can hold are shown as everywhere on figures.
    table = counts.assign(**{column: [plain(each) for each in counts[column]] for column in keys})
    table = table.astype({"count": int}).groupby(keys, sort=False)["count"].sum().reset_index()
    table["kind"] = [kind(one, two) for one, two in zip(table["game_1"], table["game_2"], strict=True)]
    # A path begins with what judge and candidate do not say: the version of the questions.
    known = zip(table["source"], table["judge"], table["candidate"], table["data"], strict=True)
    table["head"] = ["" if name.split("/")[0] in said else name.split("/")[0] for name, *said in known]
    return table


def by_comparison(table: pd.DataFrame) -> Cells:
    """The cells of each comparison of each data source; names are judge, candidate, what else tells it apart, and n."""
    found: dict[str, dict[Names, pd.DataFrame]] = {}
    for (data, *names), cell in table.groupby(["data", "judge", "candidate", "head", "source"], sort=False):
        # Two sources that the other names do not tell apart are told apart by the whole of theirs.
        twin = (*names[:3], str(cell["count"].sum()))
        found.setdefault(data, {})[twin if twin not in found.get(data, {}) else (*names[:2], names[3], twin[3])] = cell
    order = [*panels.SOURCES, *sorted({*found} - {*panels.SOURCES})]
    return {data: found[data] for data in order if data in found}


def titles(cells: Cells) -> dict[Names, Names]:
    """The lines above the panel of each comparison: judge, candidate, and the rest with n."""
    every = [names for group in cells.values() for names in group]
    return {names: (*names[:2], f"{names[2]}, n = {names[3]}".removeprefix(", ")) for names in every}


def rows(cells: Cells, values: Mapping[str, Mapping[Names, float]]) -> tuple[Names, dict[str, list[Names]], Order]:
    """Further heads and texts of the rows of a forest plot, from the largest value, and the comparison of each row."""
    heads = {2: "of", 3: "n"}
    if not any(names[2] for group in cells.values() for names in group):
        del heads[2]
    order = {data: comparisons.by_value(list(group), values.get(data, {})) for data, group in cells.items()}
    told = {data: [(*names[:2], *(names[i] for i in heads)) for names in block] for data, block in order.items()}
    return tuple(heads.values()), told, order


def caption(words: str, table: pd.DataFrame) -> str:
    """`words`, then for each data source the comparisons a judge and candidate and how many had no two verdicts."""
    parts = []
    for data in by_comparison(table):
        here = table[table["data"] == data]
        sizes = here.groupby(["source", "judge", "candidate"])["count"].sum()
        n = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
        lost = here.loc[here["kind"] == INVALID, "count"].sum()
        share = f"unreadable {100 * lost / max(sizes.sum(), 1):.1f} % ({lost} of {sizes.sum()} comparisons)"
        parts.append(f"{panels.SOURCES.get(data, data)} (n = {n} comparisons a judge and candidate, {share})")
    return f"{words} Counts have no interval; rates with theirs are given elsewhere. Data: {'; '.join(parts)}."


def stack(axes: Axes, y: float, shares: Sequence[float], fills: Sequence[Fill], letters: float, high: float) -> None:
    """One bar of shares (of 1) from the left; the % is written where it fits in a panel `letters` wide."""
    left = 0.0
    for share, fill in zip(shares, fills, strict=True):
        width = 100 * share
        if not width > 0:
            continue
        axes.barh(y, width, high, left, **fill)
        number = f"{width:.0f}"
        if len(number) + 1.2 <= width / 100 * letters / comparisons.SMALL:
            ink = "white" if fill is FILLS["first twice"] else INK
            text = axes.text(left + width / 2, y, number, ha="center", va="center", fontsize="small", color=ink)
            if "hatch" in fill:
                text.set_bbox({"facecolor": fill["facecolor"], "edgecolor": "none", "pad": 0.6})
        left += width


def share_axis(axes: Axes) -> None:
    """An x axis of shares from 0 to 100 %, without lines around."""
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 50, 100])
    axes.tick_params(axis="y", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)


def legend(figure: Canvas, look: Style, fills: Mapping[str, Fill]) -> None:
    """Boxes with their names above the panels, in as many columns as fit."""
    from matplotlib.patches import Patch

    handles = [Patch(label=name, **fill) for name, fill in fills.items()]
    room = figure.get_figwidth() * 72 / look.size / labels.LETTER
    columns = max(1, min(int(room / (max(map(len, fills)) + 6)), len(fills)))
    # As many in each column, since columns are filled first.
    columns = math.ceil(len(fills) / math.ceil(len(fills) / columns))
    figure.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False, borderpad=0.2)
