"""The figure of position classes: what the published rule counts, beside classes that set the unreadable apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import comparisons, forest, kinds, labels, panels
from helpers.figures import style as styles
from helpers.figures.style import GREY, INK, Figure, Style, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLASSES = ("no_bias", "weak_bias", "significant_bias")
#: Each way of counting with its title, the end of its ids, and whether it sets the unreadable apart.
COUNTS = {"": "own classes", "_published": "published rule"}
FILLS = {
    "no bias": kinds.FILLS["mirrored"],
    "weak": kinds.FILLS["mirrored, other strength"],
    "significant": kinds.FILLS["first twice"],
    kinds.INVALID: kinds.LOST,
    "not two games": {"facecolor": "white", "edgecolor": GREY, "linestyle": ":", "linewidth": 0.7},
}
Cells = Mapping[str, Estimate]


def show_class_shares(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "class_shares"
) -> Figure:
    """How many comparisons show no, weak or significant bias, by the published rule and with the unreadable apart?

    Takes `no_bias`, `weak_bias`, `significant_bias` (of comparisons with two verdicts) and `invalid_share` (of all),
    and the first three with `_published` (of all lines), one of the two sets at least (`where`: judge, candidate;
    rates); `acceptable_rate` and `acceptable_rate_published` give the intervals where weak bias ends. One row a
    comparison, sorted by significant bias.
    """
    look = styles.style(style)
    estimates, keys = list(estimates), ["judge", "candidate"]
    there = {each.id for each in estimates if set(each.where) == set(keys)}
    ends = [end for end in COUNTS if f"no_bias{end}" in there] or [""]
    wanted = [f"{what}{end}" for end in ends for what in CLASSES]
    shown = [each for id in wanted for each in panels.pick(estimates, [id], keys)]
    beside = [*(f"acceptable_rate{end}" for end in ends), "invalid_share"]
    others = [each for id in beside if id in there for each in panels.pick(estimates, [id], keys)]
    with settings(labels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        at: dict[tuple[str, comparisons.Names], dict[str, Estimate]] = {}
        for each in [*shown, *others]:
            at.setdefault((each.data, comparisons.of(each)), {})[each.id] = each
        blocks = []
        for data, group in sources.items():
            values = {comparisons.of(e): e.value for e in group if e.id == f"significant_bias{ends[0]}"}
            rows = comparisons.by_value([comparisons.of(each) for each in group], values)
            blocks.append(forest.Block(data, rows, [COUNTS[end] for end in reversed(ends)]))
        figure, table = forest.draw(look, blocks, above=2)
        letters = forest.room(look, [names for block in blocks for names in block.rows], len(ends))
        used = {"no bias", "weak", "significant"}
        for axes_row, block in zip(table, blocks, strict=True):
            for axes, end in zip(axes_row, reversed(ends), strict=True):
                for i, names in enumerate(block.rows):
                    used |= _bar(axes, i, at[block.data, names], end, letters)
                kinds.share_axis(axes)
        forest.foot(table, "% of comparisons")
        kinds.legend(figure, look, {key: fill for key, fill in FILLS.items() if key in used})
        words = "What the verdicts in both orders say together: mirrored with the same strength (no bias) or another "
        words += "(weak), or neither (significant)"
        if "_published" in ends:
            words += ". The published rule reads the strings as stored and counts what it cannot read as significant"
        if "" in ends:
            words += ". Own classes read the labels and set apart what cannot be read (invalid)"
        words += ". Lines: intervals of where no bias ends (above) and of where weak bias ends (below). Sorted by "
        words += f"significant bias ({COUNTS[ends[0]]})."
        text = panels.alt("Stacked bars of position classes by judge and candidate", [*shown, *others], most=80)
        said = comparisons.caption(words, shown, estimates).replace("Open markers: no", "Bars without lines: no")
        return finished(name, figure, said, text, look)


def _bar(axes: Axes, y: float, cells: Cells, end: str, letters: float) -> set[str]:
    """One bar with its two intervals, as shares of all comparisons; returns what it shows beyond the classes."""
    found = [cells.get(f"{what}{end}") for what in CLASSES]
    if any(each is None or math.isnan(each.value) for each in found):
        labels.note(axes, y, "not estimable" if any(found) else "none")
        return set()
    invalid = cells.get("invalid_share") if not end else None
    lost = invalid.value if invalid and not math.isnan(invalid.value) else 0.0
    shares = [each.value * (1 - lost) for each in found]
    rest = max(1 - lost - sum(shares), 0.0)
    parts = [*shares, lost, rest if rest > 0.0005 else 0.0]
    kinds.stack(axes, y, parts, list(FILLS.values()), letters, 0.8)
    for each, at in ((found[0], y - 0.3), (cells.get(f"acceptable_rate{end}"), y + 0.3)):
        if each is not None and not math.isnan(each.low):
            line = [100 * (1 - lost) * each.low, 100 * (1 - lost) * each.high]
            width = axes.spines["left"].get_linewidth()
            axes.plot(line, [at, at], color="white", linewidth=4.5 * width, zorder=3)
            axes.plot(line, [at, at], color=INK, linewidth=1.8 * width, zorder=3.1)
    return {name for name, part in zip(FILLS, parts, strict=True) if part}
