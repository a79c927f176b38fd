"""The figure of position classes: how often the verdicts in both orders mirror each other, the unreadable apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import comparisons, forest, kinds, labels, panels
from helpers.figures import style as styles
from helpers.figures.style import GREY, INK, Figure, Style, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLASSES = ("no_bias", "weak_bias", "significant_bias")
#: Ways of counting, by the ending of their ids; the first one that is given is drawn.
COUNTS = {"": "own classes", "_published": "published rule"}
#: In the order of CLASSES, in words that claim no test: the ids are the published names.
FILLS = {
    "mirrored": kinds.FILLS["mirrored"],
    "mirrored, other strength": kinds.FILLS["mirrored, other strength"],
    "not mirrored": kinds.FILLS["first twice"],
    kinds.INVALID: kinds.LOST,
    "not two games": {"facecolor": "white", "edgecolor": GREY, "linestyle": ":", "linewidth": 0.7},
}
Cells = Mapping[str, Estimate]


def show_class_shares(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "class_shares"
) -> Figure:
    """In how many comparisons do the verdicts in both orders mirror each other, and how many cannot be read?

    Takes `no_bias`, `weak_bias`, `significant_bias` (of comparisons with two verdicts) and `invalid_share` (of all),
    or the first three with `_published` (of all lines), which are drawn where the others are not given (`where`: judge,
    candidate; rates); `acceptable_rate` and `acceptable_rate_published` give the intervals of what mirrors with any
    strength.
    One row a comparison, sorted by the share that is not mirrored.
    """
    look = styles.style(style)
    estimates, keys = list(estimates), ["judge", "candidate"]
    there = {each.id for each in estimates if set(each.where) == set(keys)}
    end = next((end for end in COUNTS if f"no_bias{end}" in there), "")
    names = dict(zip((f"{what}{end}" for what in CLASSES), FILLS, strict=False))
    shown = [each for id in names for each in panels.pick(estimates, [id], keys)]
    beside = (f"acceptable_rate{end}", "invalid_share", f"{CLASSES[-1]}_published")
    others = [each for id in beside if id in there - {*names} for each in panels.pick(estimates, [id], keys)]
    with settings(labels.at_file_resolution(look)):
        every = [e for e in estimates if set(e.where) == set(keys) and e.id in {f"{CLASSES[0]}{end}" for end in COUNTS}]
        at: dict[tuple[str, comparisons.Names], dict[str, Estimate]] = {}
        for each in [*shown, *others]:
            at.setdefault((each.data, comparisons.of(each)), {})[each.id] = each
        blocks = []
        for data, group in panels.by_data(every).items():
            values = {comparisons.of(e): e.value for e in shown if e.id == f"{CLASSES[-1]}{end}" and e.data == data}
            rows = comparisons.by_value([comparisons.of(each) for each in group], values)
            blocks.append(forest.Block(data, rows, [COUNTS[end]]))
        figure, table = forest.draw(look, blocks, above=2)
        letters = forest.room(look, [names for block in blocks for names in block.rows], 1)
        used = {*names.values()}
        for (axes,), block in zip(table, blocks, strict=True):
            for i, place in enumerate(block.rows):
                used |= _bar(axes, i, at.get((block.data, place), {}), end, letters)
            kinds.share_axis(axes)
        forest.foot(table, "% of comparisons")
        kinds.legend(figure, look, {key: fill for key, fill in FILLS.items() if key in used})
        words = "What the verdicts in both orders say together: mirrored with the same strength, with another one, or "
        words += f"not mirrored. {_rule(at.values(), end)}. Lines are intervals: above, of the share mirrored with the "
        words += "same strength; below, of the share mirrored at all. Sorted by the share not mirrored"
        words += f"{'' if end else ' of what can be read'}; nothing is tested."
        base = ". Bars: of all comparisons; numbers here: of those with two readable verdicts" if not end else ""
        text = panels.alt(f"Stacked bars of position classes by judge and candidate{base}", shown, names, most=80)
        said = comparisons.caption(words, shown, estimates).replace("Open markers: no", "Bars without lines: no")
        return finished(name, figure, said, text, look)


def _rule(every: Iterable[Cells], end: str) -> str:
    """How the bars count what cannot be read, and how many more the published rule calls not mirrored."""
    if end:
        return "The published rule reads the strings as stored and counts what it cannot read as not mirrored"
    ids = (CLASSES[-1], "invalid_share", f"{CLASSES[-1]}_published")
    values = [[cells[id].value for id in ids] for cells in every if {*ids} <= {*cells}]
    more = [100 * (stored - own * (1 - lost)) for own, lost, stored in values if own == own and stored == stored]
    words = "Own classes read the labels and set apart what cannot be read (invalid)"
    rule = "the published rule counts as not mirrored whatever it cannot read as stored"
    return f"{words}; {rule}: at most {max(more):.1f} pp more than here" if more else words


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
