"""Many biases and many judges: a heatmap with the number in each cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import biases, comparisons, labels, panels
from helpers.figures.biases import Stars, Titles
from helpers.figures.style import INK, Style, canvas
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Letters of names, and the least width of a cell, in units of the font size.
LONGEST, CELL, HIGH = 24, 1.4, 1.55
MEAN, RANDOM = "mean over judges", "random answers"
#: Only part of the scale: on the darkest cells small print cannot be read.
PART = 0.8
#: Where sign differs, the ends of this map differ in hue for everyone, and in print the number has its sign.
MAP = "PuOr_r"


def draw(
    sources: Mapping[str, list[Estimate]],
    rows: Mapping[str, Sequence[str]],
    columns: Mapping[str, Sequence[str]],
    chance: Mapping[tuple[str, str], Estimate],
    stars: Stars,
    titles: Titles,
    look: Style,
) -> tuple[Canvas, str]:
    """A row a bias, a column a judge, then the mean over judges and what answers at random give; and words for it.

    Judges that do not fit beside each other follow in a further block of rows.
    """
    words = {d: [labels.short(biases.title(bias, titles), LONGEST) for bias in rows[d]] for d in sources}
    longest = max(len(word) for each in words.values() for word in each)
    room = look.text * 72 / look.size - (longest + 1) * 0.6 * comparisons.SMALL - 1
    fits = max(int(room / CELL) - 2, 1)
    blocks = []
    for data, group in sources.items():
        last = [MEAN] if any("judge" not in each.where for each in group) else []
        last += [RANDOM] if any(source == data for source, _ in chance) else []
        size = math.ceil(len(columns[data]) / math.ceil(max(len(columns[data]), 1) / fits)) or 1
        parts = [columns[data][i : i + size] for i in range(0, len(columns[data]), size)] or [[]]
        blocks += [(data, part, last if part is parts[-1] else []) for part in parts]
    across = max(len(part) + (len(last) + 0.4) * bool(last) for _, part, last in blocks)
    every = [each for group in sources.values() for each in group]
    numbers = [abs(each.value) for each in (*every, *chance.values()) if not math.isnan(each.value)]
    most = max(math.ceil(10 * max(numbers, default=1)) / 10, 0.2)
    tall = [len(rows[data]) * HIGH for data, _, _ in blocks]
    names = max(min(len(judge), LONGEST) for _, part, last in blocks for judge in (*part, *last)) * labels.LETTER
    figure = canvas(look, look.text, (sum(tall) + (names + 2.5) * len(tall) + 5) * look.size / 72)
    table = figure.subplots(len(blocks), 1, squeeze=False, height_ratios=tall)[:, 0]
    bare = [each for each in every if math.isnan(each.low) and not math.isnan(each.value)]
    mixed = bool(bare) and len(bare) < len([each for each in every if not math.isnan(each.value)])
    print_size = max(6.0, min(comparisons.SMALL, room / across / 2.15) * look.size)
    for axes, (data, part, last) in zip(table, blocks, strict=True):
        at = {(e.where["bias"], e.where.get("judge", MEAN)): e for e in sources[data]}
        at |= {(bias, RANDOM): e for (source, bias), e in chance.items() if source == data}
        places = [*enumerate(part), *((len(part) + 0.4 + i, each) for i, each in enumerate(last))]
        for i, bias in enumerate(rows[data]):
            for x, column in places:
                # What random answers give is enumerated, and needs no interval.
                mine = column != RANDOM
                _cell(
                    axes, x, i, at.get((bias, column)), most, print_size, stars if mine else None, mixed and mine, look
                )
        axes.set(xlim=(0, across), ylim=(len(rows[data]), 0))
        axes.set_yticks([i + 0.5 for i in range(len(rows[data]))], words[data], fontsize="small")
        heads = [comparisons.named(column, LONGEST) for _, column in places]
        axes.set_xticks([x + 0.5 for x, _ in places], heads, rotation=90, fontsize="small")
        axes.tick_params(length=0, labelbottom=False, labeltop=True)
        axes.spines[:].set_visible(False)
        panels.title(axes, data, len(sources) > 1, beside=True)
    least = -most if any(each.value < 0 for each in every) else 0.0
    _scale(figure, table, least, most, look)
    said = " Numbers are the effect times 100."
    said += " Small circles: no interval." if mixed else " No cell has an interval." if bare else ""
    said += " The last column is what answers at random are expected to give." if chance else ""
    if any((bias, judge) not in {(e.where["bias"], e.where.get("judge")) for e in sources[data]}
           for data in sources for bias in rows[data] for judge in columns[data]):  # fmt: skip
        said += " Empty cells were not asked."
    return figure, said


def _colour(value: float, most: float) -> tuple[float, ...]:
    return panels.shade(MAP, 0.5 + 0.5 * PART * value / most)


def _cell(
    axes: Axes,
    x: float,
    y: int,
    each: Estimate | None,
    most: float,
    size: float,
    stars: Stars,
    mark: bool,
    look: Style,
) -> None:
    from matplotlib.patches import Rectangle

    if each is None:
        return
    empty = math.isnan(each.value)
    colour = "#F2F2F2" if empty else _colour(each.value, most)
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.5))
    dark = not empty and 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2] < 0.5
    ink = "white" if dark else INK
    number = panels.NOT_ESTIMABLE if empty else f"{100 * each.value:.0f}".replace("-", "\N{MINUS SIGN}")
    number = "0" if number == "\N{MINUS SIGN}0" else number
    axes.text(x + 0.5, y + 0.58, number, ha="center", va="center", color=ink, fontsize=size)
    if biases.starred(each, stars):
        how = {"color": ink, "markeredgewidth": 0, "markersize": 0.38 * look.size}
        axes.plot(x + 0.85, y + 0.16, "*", **how)
    if mark and not empty and math.isnan(each.low):
        how = {
            "markerfacecolor": "none",
            "markeredgecolor": ink,
            "markeredgewidth": 0.5,
            "markersize": 0.22 * look.size,
        }
        axes.plot(x + 0.16, y + 0.2, "o", **how)


def _scale(figure: Canvas, table: Sequence[Axes], least: float, most: float, look: Style) -> None:
    """The colours of the cells as a bar below them."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    colours = ListedColormap([_colour(least + (most - least) * i / 128, most) for i in range(129)])
    shown = ScalarMappable(Normalize(100 * least, 100 * most), colours)
    bar = figure.colorbar(shown, ax=list(table), location="bottom", aspect=50, pad=0.01, shrink=0.5)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize="small")
    bar.ax.locator_params(nbins=5)
    bar.set_label("effect \N{MULTIPLICATION SIGN} 100", fontsize=look.size)
