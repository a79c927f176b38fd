"""The figure of verdict pairs: what a judge said with the baseline first against what it said in the other order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers.figures import comparisons, forest, kinds, labels, panels
from helpers.figures import style as styles
from helpers.figures.style import INK, Figure, Style, finished, settings
from helpers.words import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Rows and columns stand at these places: what could not be read stands apart.
PLACES = {label: i + 0.35 * (label == kinds.INVALID) for i, label in enumerate(kinds.GAMES)}
MAPS = {"first twice": "Oranges", "second twice": "Oranges", "mirrored": "Blues", "mirrored, other strength": "Blues"}
TWICE, SWAPPED = "the same place twice", "the same answer twice"
#: Blocks (row, column, size) of the grid, outlined: which place won twice, or which answer did.
BLOCKS = {TWICE: ((0, 0, 2), (3, 3, 2)), SWAPPED: ((0, 3, 2), (3, 0, 2), (2, 2, 1))}
DASHES = {TWICE: "-", SWAPPED: (0, (2, 1.5))}


def show_outcome_grid(counts: pd.DataFrame, style: str | Style = "paper", name: str = "outcome_grid") -> Figure:
    """What did each judge say of the same two answers in both orders, and how often did the same place win twice?

    Takes one row a cell (columns: source, judge, candidate, game_1 and game_2 (A>>B, A>B, A=B, B>A, B>>A or invalid),
    count, data); a panel a source, judge and candidate, with more than 12 of them a bar each, sorted by how much more
    often the first place won twice than the second.
    """
    look = styles.style(style)
    table = kinds.checked(counts)
    with settings(labels.at_file_resolution(look)):
        cells = kinds.by_comparison(table)
        if max(map(len, cells.values())) <= comparisons.MOST:
            figure = _grids(cells, look)
            words = (
                "How many comparisons got which pair of verdicts: baseline first (rows) and candidate first (columns); "
                "A is the answer that stands first. Outlined: the first place won twice (upper left, solid), the "
                "second place twice (lower right, solid), the same answer or a tie twice (dashed). Not outlined: a tie "
                "once, or no verdict (invalid). Darker: more."
            )
        else:
            figure = _bars(cells, look)
            words = (
                "What each judge said of the same two answers in both orders, in % of comparisons: the same answer or "
                "a tie twice (mirrored), a tie once, the second or first place twice, or no verdict in one of them. "
                "Sorted by first twice minus second twice."
            )
        told = [
            f"{panels.SOURCES.get(data, data)}, judge {plain(names[0])}, candidate {plain(names[1])}: {_told(cell)}"
            for data, group in cells.items()
            for names, cell in group.items()
        ]
        text = f"Grid of verdict pairs by judge and candidate. {'; '.join(told)}."
        return finished(name, figure, kinds.caption(words, table), text, look)


def _told(cell: pd.DataFrame) -> str:
    sums = cell.groupby("kind")["count"].sum()
    return ", ".join(f"{sums.get(kind, 0)} {kind}" for kind in kinds.FILLS)


def _grids(cells: kinds.Cells, look: Style) -> Canvas:
    from matplotlib.patches import Patch

    count = max(map(len, cells.values()))
    most = max(cell["count"].max() for group in cells.values() for cell in group.values())
    # Numbers of four digits need wider cells.
    columns = 2 if count in (2, 4) or most > 999 else 3
    # Many panels are to fit on a page.
    high = 13.5 if count <= 6 else 11.0
    titles = kinds.titles(cells)
    places = {data: [titles[names] for names in group] for data, group in cells.items()}
    figure, axes_of = comparisons.grid(look, places, high, columns, sharex=True, sharey=True)
    # Of a panel narrower than this many letters, labels side by side would touch.
    upright = figure.get_figwidth() * 72 / look.size / min(count, columns) < 32
    for data, group in cells.items():
        for names, cell in group.items():
            axes = axes_of[data, titles[names]]
            _cells(axes, cell, look)
            axes.tick_params(axis="x", rotation=90 if upright else 0)
    figure.supxlabel("candidate first", fontsize=look.size)
    figure.supylabel("baseline first", fontsize=look.size)
    thick = look.size / 6
    handles = [
        Patch(facecolor="white", edgecolor=INK, linewidth=thick, linestyle=dash, label=name)
        for name, dash in DASHES.items()
    ]
    wide = figure.get_figwidth() * 72 / look.size / labels.LETTER > 56
    figure.legend(handles=handles, loc="outside upper left", ncols=1 + wide, frameon=False, borderpad=0.2)
    return figure


def _cells(axes: Axes, cell: pd.DataFrame, look: Style) -> None:
    from matplotlib.patches import Rectangle

    counts = cell.set_index(["game_1", "game_2"])["count"].to_dict()
    top = max(max(counts.values()), 1)
    for row, y in PLACES.items():
        for column, x in PLACES.items():
            n, kind = counts.get((row, column), 0), kinds.kind(row, column)
            # Small counts still differ from none, and the darkest still let numbers be read.
            colour = panels.shade(MAPS.get(kind, "Greys"), 0.55 * (n / top) ** 0.5) if n else "#FAFAFA"
            axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.8))
            if n:
                axes.text(x + 0.5, y + 0.5, f"{n}", ha="center", va="center", fontsize="small")
    for name, blocks in BLOCKS.items():
        for row, column, size in blocks:
            inset = {
                "fill": False,
                "edgecolor": INK,
                "linewidth": look.size / 6,
                "linestyle": DASHES[name],
                "zorder": 3,
            }
            axes.add_patch(Rectangle((column + 0.05, row + 0.05), size - 0.1, size - 0.1, **inset))
    middle = [place + 0.5 for place in PLACES.values()]
    axes.set_xticks(middle, list(PLACES))
    axes.set_yticks(middle, list(PLACES))
    axes.set(xlim=(-0.05, 6.4), ylim=(6.4, -0.05))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _bars(cells: kinds.Cells, look: Style) -> Canvas:
    shares, lead = {}, {}
    for data, group in cells.items():
        sums = {names: cell.groupby("kind")["count"].sum() for names, cell in group.items()}
        shares[data] = {n: {kind: s.get(kind, 0) / max(s.sum(), 1) for kind in kinds.FILLS} for n, s in sums.items()}
        lead[data] = {names: each["first twice"] - each["second twice"] for names, each in shares[data].items()}
    heads, told, order = kinds.rows(cells, lead)
    blocks = [forest.Block(data, block, ["% of comparisons"]) for data, block in told.items()]
    figure, table = forest.draw(look, blocks, heads, above=2)
    letters = forest.room(look, [names for block in blocks for names in block.rows], 1)
    for (axes,), (data, block) in zip(table, order.items(), strict=True):
        for i, names in enumerate(block):
            kinds.stack(axes, i, list(shares[data][names].values()), list(kinds.FILLS.values()), letters, 0.8)
        kinds.share_axis(axes)
    forest.foot(table, "%")
    kinds.legend(figure, look, kinds.FILLS)
    return figure
