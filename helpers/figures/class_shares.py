"""Figures of verdict pairs: a row or a grid a judge and candidate, by class, outcome and pattern."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from helpers.figures import comparisons, panels
from helpers.figures import style as styles
from helpers.figures.comparisons import Names
from helpers.figures.style import COLOURS, GREY, INK, Figure, Style, canvas, finished, settings
from helpers.types import Estimate
from helpers.words import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Of words beside the names.
LONGEST_WORD = 12


class Block(NamedTuple):
    """Rows of a forest plot from one source of data: the names of each row, and the titles of its panels."""

    data: str
    rows: Sequence[Names]
    titles: Sequence[str]


def room(look: Style, rows: Sequence[Names], columns: int) -> float:
    """How many letters wide each of `columns` panels is beside rows of these names."""
    return (look.text * 72 / look.size / panels.LETTER - sum(_widths(rows)) - 3 * columns) / columns


def _widths(rows: Sequence[Names]) -> list[float]:
    """Letters that the two names, one above the other, and each further word of the rows take."""
    judges, candidates, *others = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        min(max(judges, comparisons.SMALL * candidates, 9), comparisons.LONGEST) + 2,
        *[min(other, LONGEST_WORD) + 2 for other in others],
    ]


def draw(
    look: Style, blocks: Sequence[Block], heads: Names = (), line: float = 2.3, alike: bool = True, above: float = 0
) -> tuple[Canvas, list[list[Axes]]]:
    """A row for each comparison, its candidate under its judge, and a panel for each title of its block.

    What rows hold beyond judge and candidate stands under `heads`. `alike`: all panels have one x axis, so that they
    compare; else each column has its own. `above` is the room for a legend, in lines. Returns the panels of each block.
    """
    heights, most = [len(block.rows) for block in blocks], max(len(block.titles) for block in blocks)
    every = [("judge", "candidate", *heads), *(names for block in blocks for names in block.rows)]
    ratios = [*_widths(every), *[max(room(look, every, most), 6)] * most]
    titles = 1.4 * max(title.count("\n") + 1 for block in blocks for title in block.titles)
    height = sum(heights) * line + (3.5 + max(titles, 4.2)) * len(blocks) + 3 + 1.5 * above
    figure = canvas(look, look.text, height * look.size / 72)
    shape = {"squeeze": False, "width_ratios": ratios, "height_ratios": heights}
    table = figure.subplots(len(blocks), len(ratios), sharey="row", **shape)
    found, several = [], len({block.data for block in blocks}) > 1
    for i, (row, block) in enumerate(zip(table, blocks, strict=True)):
        before = blocks[i - 1] if i else Block("", (), ())
        shown = len(heads) + 1
        _texts(row[:shown], block, heads if not i else None)
        if block.data != before.data:
            comparisons.source(row[0], block.data, several, 0, (0.5 + 2.7 * (not i)) * look.size)
        for axes in row[shown + len(block.titles) :]:
            axes.set_visible(False)
        found.append(list(row[shown : shown + len(block.titles)]))
        for axes, title in zip(found[-1], block.titles, strict=True):
            panels.rows(axes, [""] * len(block.rows))
            # Numbers below must not touch those of the next panel.
            axes.locator_params(axis="x", nbins=3 if room(look, every, most) > 10 else 2)
            if block.titles != before.titles:
                axes.set_title(title, loc="left")
    groups = [[axes for row in found for axes in row]] if alike else list(zip(*found, strict=True))
    for first, *others in groups:
        for axes in others:
            axes.sharex(first)
    return figure, found


def _texts(row: Sequence[Axes], block: Block, heads: Names | None) -> None:
    """The names of each row, and further words beside them."""
    for axes in row:
        axes.set_axis_off()
        axes.set_xlim(0, 1)
    for at, (judge, candidate, *others) in enumerate(block.rows):
        row[0].text(0, at - 0.23, comparisons.named(judge, comparisons.LONGEST), va="center")
        words = comparisons.named(candidate, int(comparisons.LONGEST / comparisons.SMALL))
        row[0].text(0, at + 0.23, words, va="center", color=panels.SOFT, fontsize="small")
        for axes, word in zip(row[1:], others, strict=True):
            axes.text(0, at, comparisons.named(word, LONGEST_WORD), va="center")
    for axes, head in zip(row, () if heads is None else ("judge\ncandidate", *heads), strict=False):
        axes.set_title(head, loc="left", color=panels.SOFT)


def smaller(axes: Axes, look: Style) -> None:
    """Smaller markers, that do not cover intervals in narrow panels."""
    for line in axes.lines:
        if len(line.get_xdata()) == 1:
            line.set_markersize(0.45 * look.size)


def scaled(every: Sequence[Axes], line: float) -> None:
    """Panels of which none has a point still show a scale that means something: about `line`, or 0 to 100."""
    if not any(len(drawn.get_xdata()) == 1 for axes in every for drawn in axes.lines):
        every[0].set_xlim(*((0, 100) if math.isnan(line) else (line - 10, line + 10)))


def foot(table: Sequence[Sequence[Axes]], words: str) -> None:
    """The unit under each panel that has none below it."""
    for i, row in enumerate(table):
        below = table[i + 1] if i + 1 < len(table) else ()
        for axes in row[len(below) :]:
            axes.set_xlabel(words)


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


def kind_name(game_1: str, game_2: str) -> str:
    """What two verdicts in opposite orders say together.

    >>> [kind_name(*each.split()) for each in ("A>>B B>A", "A>B A>>B", "A=B A=B", "A=B B>A")]
    ['mirrored, other strength', 'first twice', 'mirrored', 'one tie']
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
    table["kind"] = [kind_name(one, two) for one, two in zip(table["game_1"], table["game_2"], strict=True)]
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


def kind_titles(cells: Cells) -> dict[Names, Names]:
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
    room = figure.get_figwidth() * 72 / look.size / panels.LETTER
    columns = max(1, min(int(room / (max(map(len, fills)) + 6)), len(fills)))
    # As many in each column, since columns are filled first.
    columns = math.ceil(len(fills) / math.ceil(len(fills) / columns))
    figure.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False, borderpad=0.2)


CLASSES = ("no_bias", "weak_bias", "significant_bias")
#: Ways of counting, by the ending of their ids; the first one that is given is drawn.
COUNTS = {"": "own classes", "_published": "published rule"}
#: In the order of CLASSES, in words that claim no test: the ids are the published names.
CLASS_SHARES_FILLS = {
    "mirrored": FILLS["mirrored"],
    "mirrored, other strength": FILLS["mirrored, other strength"],
    "not mirrored": FILLS["first twice"],
    INVALID: LOST,
    "not two games": {"facecolor": "white", "edgecolor": GREY, "linestyle": ":", "linewidth": 0.7},
}
ClassSharesCells = Mapping[str, Estimate]


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
    names = dict(zip((f"{what}{end}" for what in CLASSES), CLASS_SHARES_FILLS, strict=False))
    shown = [each for id in names for each in panels.pick(estimates, [id], keys)]
    beside = (f"acceptable_rate{end}", "invalid_share", f"{CLASSES[-1]}_published")
    others = [each for id in beside if id in there - {*names} for each in panels.pick(estimates, [id], keys)]
    with settings(panels.at_file_resolution(look)):
        every = [e for e in estimates if set(e.where) == set(keys) and e.id in {f"{CLASSES[0]}{end}" for end in COUNTS}]
        at: dict[tuple[str, comparisons.Names], dict[str, Estimate]] = {}
        for each in [*shown, *others]:
            at.setdefault((each.data, comparisons.of(each)), {})[each.id] = each
        blocks = []
        for data, group in panels.by_data(every).items():
            values = {comparisons.of(e): e.value for e in shown if e.id == f"{CLASSES[-1]}{end}" and e.data == data}
            rows = comparisons.by_value([comparisons.of(each) for each in group], values)
            blocks.append(Block(data, rows, [COUNTS[end]]))
        figure, table = draw(look, blocks, above=2)
        letters = room(look, [names for block in blocks for names in block.rows], 1)
        used = {*names.values()}
        for (axes,), block in zip(table, blocks, strict=True):
            for i, place in enumerate(block.rows):
                used |= _bar(axes, i, at.get((block.data, place), {}), end, letters)
            share_axis(axes)
        foot(table, "% of comparisons")
        legend(figure, look, {key: fill for key, fill in CLASS_SHARES_FILLS.items() if key in used})
        words = "What the verdicts in both orders say together: mirrored with the same strength, with another one, or "
        words += f"not mirrored. {_rule(at.values(), end)}. Lines are intervals: above, of the share mirrored with the "
        words += "same strength; below, of the share mirrored at all. Sorted by the share not mirrored"
        words += f"{'' if end else ' of what can be read'}; nothing is tested."
        base = ". Bars: of all comparisons; numbers here: of those with two readable verdicts" if not end else ""
        text = panels.alt(f"Stacked bars of position classes by judge and candidate{base}", shown, names, most=80)
        said = comparisons.caption(words, shown, estimates).replace("Open markers: no", "Bars without lines: no")
        return finished(name, figure, said, text, look)


def _rule(every: Iterable[ClassSharesCells], end: str) -> str:
    """How the bars count what cannot be read, and how many more the published rule calls not mirrored."""
    if end:
        return "The published rule reads the strings as stored and counts what it cannot read as not mirrored"
    ids = (CLASSES[-1], "invalid_share", f"{CLASSES[-1]}_published")
    values = [[cells[id].value for id in ids] for cells in every if {*ids} <= {*cells}]
    more = [100 * (stored - own * (1 - lost)) for own, lost, stored in values if own == own and stored == stored]
    words = "Own classes read the labels and set apart what cannot be read (invalid)"
    rule = "the published rule counts as not mirrored whatever it cannot read as stored"
    return f"{words}; {rule}: at most {max(more):.1f} pp more than here" if more else words


def _bar(axes: Axes, y: float, cells: ClassSharesCells, end: str, letters: float) -> set[str]:
    """One bar with its two intervals, as shares of all comparisons; returns what it shows beyond the classes."""
    found = [cells.get(f"{what}{end}") for what in CLASSES]
    if any(each is None or math.isnan(each.value) for each in found):
        panels.note(axes, y, "not estimable" if any(found) else "none")
        return set()
    invalid = cells.get("invalid_share") if not end else None
    lost = invalid.value if invalid and not math.isnan(invalid.value) else 0.0
    shares = [each.value * (1 - lost) for each in found]
    rest = max(1 - lost - sum(shares), 0.0)
    parts = [*shares, lost, rest if rest > 0.0005 else 0.0]
    stack(axes, y, parts, list(CLASS_SHARES_FILLS.values()), letters, 0.8)
    for each, at in ((found[0], y - 0.3), (cells.get(f"acceptable_rate{end}"), y + 0.3)):
        if each is not None and not math.isnan(each.low):
            line = [100 * (1 - lost) * each.low, 100 * (1 - lost) * each.high]
            width = axes.spines["left"].get_linewidth()
            axes.plot(line, [at, at], color="white", linewidth=4.5 * width, zorder=3)
            axes.plot(line, [at, at], color=INK, linewidth=1.8 * width, zorder=3.1)
    return {name for name, part in zip(CLASS_SHARES_FILLS, parts, strict=True) if part}


#: Rows and columns stand at these places: what could not be read stands apart.
PLACES = {label: i + 0.35 * (label == INVALID) for i, label in enumerate(GAMES)}
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
    table = checked(counts)
    with settings(panels.at_file_resolution(look)):
        cells = by_comparison(table)
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
        return finished(name, figure, caption(words, table), text, look)


def _told(cell: pd.DataFrame) -> str:
    sums = cell.groupby("kind")["count"].sum()
    return ", ".join(f"{sums.get(kind, 0)} {kind}" for kind in FILLS)


def _grids(cells: Cells, look: Style) -> Canvas:
    from matplotlib.patches import Patch

    count = max(map(len, cells.values()))
    most = max(cell["count"].max() for group in cells.values() for cell in group.values())
    # Numbers of four digits need wider cells.
    columns = 2 if count in (2, 4) or most > 999 else 3
    # Many panels are to fit on a page.
    high = 13.5 if count <= 6 else 11.0
    titles = kind_titles(cells)
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
    wide = figure.get_figwidth() * 72 / look.size / panels.LETTER > 56
    figure.legend(handles=handles, loc="outside upper left", ncols=1 + wide, frameon=False, borderpad=0.2)
    return figure


def _cells(axes: Axes, cell: pd.DataFrame, look: Style) -> None:
    from matplotlib.patches import Rectangle

    counts = cell.set_index(["game_1", "game_2"])["count"].to_dict()
    top = max(max(counts.values()), 1)
    for row, y in PLACES.items():
        for column, x in PLACES.items():
            n, kind = counts.get((row, column), 0), kind_name(row, column)
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


def _bars(cells: Cells, look: Style) -> Canvas:
    shares, lead = {}, {}
    for data, group in cells.items():
        sums = {names: cell.groupby("kind")["count"].sum() for names, cell in group.items()}
        shares[data] = {n: {kind: s.get(kind, 0) / max(s.sum(), 1) for kind in FILLS} for n, s in sums.items()}
        lead[data] = {names: each["first twice"] - each["second twice"] for names, each in shares[data].items()}
    heads, told, order = rows(cells, lead)
    blocks = [Block(data, block, ["% of comparisons"]) for data, block in told.items()]
    figure, table = draw(look, blocks, heads, above=2)
    letters = room(look, [names for block in blocks for names in block.rows], 1)
    for (axes,), (data, block) in zip(table, order.items(), strict=True):
        for i, names in enumerate(block):
            stack(axes, i, list(shares[data][names].values()), list(FILLS.values()), letters, 0.8)
        share_axis(axes)
    foot(table, "%")
    legend(figure, look, FILLS)
    return figure
