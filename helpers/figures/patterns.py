"""The figure of patterns: which pairs of verdicts inconsistent comparisons have, the most frequent ones first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import comparisons, forest, kinds, labels, panels
from helpers.figures import style as styles
from helpers.figures.style import GREY, Figure, Style, finished, settings
from helpers.words import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Kinds whose two verdicts agree on an answer, or on a tie.
CONSISTENT = ("mirrored", "mirrored, other strength")
ARROW = "\N{RIGHTWARDS ARROW}"
#: Columns of patterns where comparisons are rows.
COLUMNS = 4
Bars = list[tuple[str, int, kinds.Fill]]


def show_patterns(counts: pd.DataFrame, style: str | Style = "paper", name: str = "patterns", most: int = 8) -> Figure:
    """Which pairs of verdicts make the inconsistent comparisons: the same place twice, a tie once, or none to read?

    Takes one row a cell (columns: source, judge, candidate, game_1 and game_2 (A>>B, A>B, A=B, B>A, B>>A or invalid),
    count, data); a panel with the `most` frequent patterns for each source, judge and candidate, with more than 12 of
    them a row each with the patterns that are most frequent on average.
    """
    look = styles.style(style)
    table = kinds.checked(counts)
    if most < 1:
        raise ValueError(f"at least one pattern is to be shown, not {most}")
    short = {label: "?" if label == kinds.INVALID else label for label in kinds.GAMES}
    table["pattern"] = [f"{short[a]} {ARROW} {short[b]}" for a, b in zip(table["game_1"], table["game_2"], strict=True)]
    with settings(labels.at_file_resolution(look)):
        cells = kinds.by_comparison(table)
        few = max(map(len, cells.values())) <= comparisons.MOST
        words = (
            "Verdicts with the baseline first and (after the arrow) with the candidate first, where these name neither "
            "the same answer nor a tie twice; A is the answer that stands first. "
        )
        if few:
            figure = _panels(cells, most, look)
            words += f"?: cannot be read. At most {most} patterns a panel; numbers are comparisons."
        else:
            figure = _rows(cells, look)
            words += (
                "The readable patterns that are most frequent on average; sorted by the first of them; numbers are "
            )
            words += "comparisons."
        told = [
            f"{panels.SOURCES.get(data, data)}, judge {plain(names[0])}, candidate {plain(names[1])}: "
            + (", ".join(f"{n} {pattern}" for pattern, n, _ in _bars(cell, most)) or "no inconsistent comparison")
            for data, group in cells.items()
            for names, cell in group.items()
        ]
        text = f"Bars of inconsistent verdict pairs by judge and candidate. {'; '.join(told)}."
        return finished(name, figure, kinds.caption(words, table), text, look)


def _bars(cell: pd.DataFrame, most: int) -> Bars:
    """Pattern, count and look of each bar; what is left out is one bar more."""
    odd = cell[~cell["kind"].isin(CONSISTENT) & (cell["count"] > 0)]
    odd = odd.sort_values(["count", "pattern"], ascending=[False, True], kind="stable")
    bars = [(row.pattern, row.n, kinds.FILLS[row.kind]) for row in odd.rename(columns={"count": "n"}).itertuples()]
    if len(bars) <= most:
        return bars
    rest = bars[most:]
    return [
        *bars[:most],
        (
            f"{len(rest)} other{'s' * (len(rest) > 1)}",
            sum(n for _, n, _ in rest),
            {"facecolor": "white", "edgecolor": GREY},
        ),
    ]


def _bar(axes: Axes, y: float, n: int, whole: int, fill: kinds.Fill) -> None:
    width = 100 * n / whole
    axes.barh(y, width, 0.75, **fill)
    axes.annotate(f"{n}", (width, y), (2, 0), textcoords="offset points", va="center", fontsize="small")


def _panels(cells: kinds.Cells, most: int, look: Style) -> Canvas:
    count = max(map(len, cells.values()))
    bars = {(data, names): _bars(cell, most) for data, group in cells.items() for names, cell in group.items()}
    # The number of rows is that of the panel with the most, so that bars are equally thick.
    lines = max(*map(len, bars.values()), 2)
    titles = kinds.titles(cells)
    places = {data: [titles[names] for names in group] for data, group in cells.items()}
    columns = 2 if count in (2, 4) else 3
    figure, axes_of = comparisons.grid(look, places, 1.5 * lines + 1, columns, 11, sharex=True)
    widest = max((n / int(names[-1]) for (_, names), found in bars.items() for _, n, _ in found), default=0.0)
    for (data, names), found in bars.items():
        axes = axes_of[data, titles[names]]
        panels.rows(axes, [pattern for pattern, _, _ in found])
        axes.set_ylim(lines - 0.4, -0.6)
        for i, (_, n, fill) in enumerate(found):
            _bar(axes, i, n, int(names[-1]), fill)
        if not found:
            labels.note(axes, 0, "none inconsistent")
        # The number of the longest bar stands beside it.
        axes.set_xlim(0, 100 * max(1.3 * widest, 0.01))
        axes.locator_params(axis="x", nbins=3)
    figure.supxlabel("% of comparisons", fontsize=look.size)
    _legend(figure, look, (fill for found in bars.values() for _, _, fill in found))
    return figure


def _rows(cells: kinds.Cells, look: Style) -> Canvas:
    shares: dict[str, dict[comparisons.Names, Mapping[str, tuple[float, int]]]] = {}
    sums: dict[str, float] = {}
    fills: dict[str, kinds.Fill] = {}
    for data, group in cells.items():
        for names, cell in group.items():
            whole = max(int(names[-1]), 1)
            for pattern, n, fill in _bars(cell[cell["kind"] != kinds.INVALID], len(kinds.GAMES) ** 2):
                shares.setdefault(data, {}).setdefault(names, {})[pattern] = (n / whole, n)  # type: ignore[index]
                sums[pattern], fills[pattern] = sums.get(pattern, 0.0) + n / whole, fill
    shown: Sequence[str] = sorted(sums, key=lambda pattern: (-sums[pattern], pattern))[:COLUMNS] or ["none"]
    heads, told, order = kinds.rows(cells, {
        data: {names: found.get(shown[0], (0.0, 0))[0] for names, found in group.items()}
        for data, group in shares.items()
    })  # fmt: skip
    blocks = [forest.Block(data, told[data], [each.replace(" ", "\n", 1) for each in shown]) for data in told]
    figure, table = forest.draw(look, blocks, heads, above=2)
    widest = 100 * max(
        (share for group in shares.values() for f in group.values() for share, _ in f.values()), default=0
    )
    for row, data in zip(table, told, strict=True):
        for axes, pattern in zip(row, shown, strict=True):
            for i, names in enumerate(order[data]):
                _, n = shares.get(data, {}).get(names, {}).get(pattern, (0.0, 0))
                _bar(axes, i, n, max(int(names[-1]), 1), fills.get(pattern, kinds.LOST))
            axes.set_xlim(0, max(1.5 * widest, 1))
    forest.foot(table, "%")
    _legend(figure, look, (fills[pattern] for pattern in shown if pattern in fills))
    return figure


def _legend(figure: Canvas, look: Style, drawn: Iterable[kinds.Fill]) -> None:
    drawn = list(drawn)
    if fills := {name: fill for name, fill in kinds.FILLS.items() if any(fill is each for each in drawn)}:
        kinds.legend(figure, look, fills)
