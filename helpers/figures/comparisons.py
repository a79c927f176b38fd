"""A judge and a candidate on figures: their names, their order, and a panel under both names while they are few."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from helpers.figures import panels
from helpers.figures.style import Style, canvas
from helpers.types import Estimate
from helpers.words import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Above this number of comparisons small panels are no longer compared, only counted.
MOST = 12
LONGEST = 24
#: The size of small print.
SMALL = 0.833
Names = tuple[str, ...]


def of(each: Estimate) -> Names:
    """The names of an estimate's comparison: judge, candidate."""
    return each.where["judge"], each.where["candidate"]


def by_value(names: Sequence[Names], values: Mapping[Names, float]) -> list[Names]:
    """The comparisons from the largest value to the smallest, those without a number last, ties by name."""

    def key(each: Names) -> tuple[bool, float, Names]:
        value = values.get(each, math.nan)
        return math.isnan(value), 0.0 if math.isnan(value) else -value, each

    return sorted(set(names), key=key)


def caption(words: str, shown: Sequence[Estimate], estimates: Sequence[Estimate]) -> str:
    """As `panels.caption`; a point counts comparisons, and `invalid_share` tells how many had no two verdicts."""
    judged = {of(each) for each in shown}
    lost = [e for e in estimates if e.id == "invalid_share" and set(e.where) == {"judge", "candidate"}]
    shares = [
        replace(each, id="unreadable_share") for each in lost if of(each) in judged and not math.isnan(each.value)
    ]
    said = panels.caption("", shown, shares)
    return words + said.replace("judgments a point", "comparisons a point").replace("judgments)", "comparisons)")


def named(name: str, most: int) -> str:
    """The name in one line of at most `most` letters; versions stand at the end, so the middle is left out.

    >>> named("gemini-2.0-flash-lite-001", 20)
    'gemini-2.0\N{HORIZONTAL ELLIPSIS}-lite-001'
    """
    name = plain(name)
    return name if len(name) <= most else f"{name[: most // 2]}\N{HORIZONTAL ELLIPSIS}{name[-((most - 1) // 2) :]}"


def source(axes: Axes, data: str, several: bool, left: float, up: float) -> None:
    """The data source above names, so many points from the corner of the panel, where `panels.title` would write it."""
    if several or data == "simulated":
        how = {"color": panels.SOFT, "fontsize": "small", "fontweight": "bold" if data == "simulated" else "normal"}
        words = panels.SOURCES.get(data, plain(data))
        axes.annotate(words, (0, 1), (left, up), "axes fraction", "offset points", ha="left", va="bottom", **how)


def grid(
    look: Style, places: Mapping[str, Sequence[Names]], high: float, columns: int, beside: int = 8, **shape: bool
) -> tuple[Canvas, dict[tuple[str, Names], Axes]]:
    """A panel for each comparison under its names, `high` letters high, and new rows of panels for each data.

    Labels of rows take `beside` letters; `shape` is passed to `subplots`. Where panels do not share the y axis, each
    has labels of its own, and its names begin above these.
    """
    columns = min(max(map(len, places.values())), columns)
    lines = {data: math.ceil(len(names) / columns) for data, names in places.items()}
    width = look.column if columns == 1 else look.text
    heads = max(len(list(filter(None, names))) for block in places.values() for names in block)
    over = 1.35 * len(places) * (len(places) > 1 or "simulated" in places)
    height = sum(lines.values()) * (high + 1.4 * heads + 1.5) + over + 7
    figure = canvas(look, width, height * look.size / 72)
    table = figure.subplots(sum(lines.values()), columns, squeeze=False, **shape)
    own = not shape.get("sharey")
    letters = int((width * 72 / look.size / panels.LETTER - 3 - (0 if own else 0.9 * beside)) / columns) - 1
    found: dict[tuple[str, Names], Axes] = {}
    start = 0
    for data, block in places.items():
        for i in range(lines[data] * columns):
            axes = table[start + i // columns][i % columns]
            if i >= len(block):
                axes.set_visible(False)
                continue
            found[data, block[i]] = axes
            left = -0.6 * beside * look.size if own else 0
            _names(axes, block[i], letters, left, look)
            if not i:
                source(axes, data, len(places) > 1, left, (0.5 + 1.35 * heads) * look.size)
        start += lines[data]
    for column in table.T:
        # The lowest panel there is carries the ticks of its column.
        [axes for axes in column if axes.get_visible()][-1].tick_params(labelbottom=True)
    return figure, found


def _names(axes: Axes, names: Names, letters: int, left: float, look: Style) -> None:
    """The judge in bold, its candidate and what else tells it apart, above a panel."""
    looks = ({"fontweight": "bold"}, {}, {"color": panels.SOFT, "fontsize": "small"})
    lines = [(name, how) for name, how in zip(names, looks, strict=False) if name]
    for i, (name, how) in enumerate(reversed(lines)):
        # Bold letters are wider.
        words = named(name, int(0.9 * letters) if "fontweight" in how else letters)
        place = (left, (0.5 + 1.35 * i) * look.size)
        axes.annotate(words, (0, 1), place, "axes fraction", "offset points", ha="left", va="bottom", **how)
