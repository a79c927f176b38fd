"""The figure of one number in many places: a row each with its interval, sorted, whatever the places are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from helpers.figures import labels, panels
from helpers.figures import style as styles
from helpers.figures.style import Figure, Style, canvas, finished, settings
from helpers.types import Estimate
from helpers.words import display_name, plain

#: Letters of a row's name.
LONGEST = 44


def show_sorted(
    estimates: Sequence[Estimate],
    id: str,
    line: float | None = None,
    given: Iterable[Estimate] = (),
    style: str | Style = "paper",
    name: str | None = None,
) -> Figure:
    """Which of many is highest, and how sure is it: one number of each place, from the largest to the smallest?

    Takes estimates of one `id` with equal keys in `where`, of one unit and data source. `line`: the stored value of no
    bias, dashed. `given` may hold `unreadable_share`, for the caption. No estimate, or several units, is a ValueError.
    """
    look = styles.style(style)
    shown = panels.pick(estimates, [id], *({tuple(each.where) for each in estimates}))
    units = sorted({each.unit for each in shown})
    if len(units) > 1 or len({tuple(sorted(each.where)) for each in shown}) > 1:
        raise ValueError(f"{id}: units {', '.join(units)}, keys differ; give one unit and one set of keys")
    factor, unit = panels.scale(units[0])
    rows = sorted(shown, key=lambda each: (math.isnan(each.value), -each.value, _named(each)))
    with settings(labels.at_file_resolution(look)):
        figure = canvas(look, look.text, (1.5 * len(rows) + 5) * look.size / 72)
        axes = figure.subplots()
        panels.rows(axes, [labels.short(_named(each), LONGEST) for each in rows])
        if line is not None:
            panels.reference(axes, factor * line)
        for at, each in enumerate(rows):
            panels.dot(axes, at, each, panels.PLAIN)
        panels.title(axes, rows[0].data, False)
        words = plain(id).replace("_", " ")
        axes.set_xlabel(f"{words} ({unit})")
        beside = f" Dashed: {factor * line:g} {unit}." if line is not None else ""
        told = f"The {words} of each {', '.join(rows[0].where) or 'file'}, sorted.{beside}"
        text = panels.alt(f"Forest plot of {words}", rows, most=72)
        return finished(name or id, figure, panels.caption(told, rows, given), text, look)


def _named(each: Estimate) -> str:
    """A row's name: what was judged, by whom."""
    places = [(key, display_name(value) if "vendor" in key else plain(value)) for key, value in each.where.items()]
    told = ", ".join(value for key, value in places if key != "judge")
    by = next((value for key, value in places if key == "judge"), "")
    return f"{told} by {by}" if told and by else told or by
