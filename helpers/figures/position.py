"""Figures of the effect of the first place, by comparison, category and choice, and of patterns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import class_shares, comparisons, judges, panels
from helpers.figures import style as styles
from helpers.figures.style import GREY, Figure, Look, Style, finished, settings
from helpers.types import Estimate
from helpers.words import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

NONE = "none"
#: Columns side by side before a new block of rows begins.
BESIDE = 4
Part = Callable[[Estimate], str]
At = Mapping[tuple[comparisons.Names, str], Estimate]


def few(sources: Mapping[str, Sequence[Estimate]]) -> bool:
    """Are there so few comparisons in every source of data that each gets a panel?"""
    return max(len({comparisons.of(each) for each in group}) for group in sources.values()) <= comparisons.MOST


def draw(
    sources: Mapping[str, Sequence[Estimate]],
    part: Part,
    parts: Sequence[str],
    line: float,
    vendors: judges.Vendors,
    look: Style,
) -> Canvas:
    """The number of each comparison in each of `parts`, which `part` tells; a dashed line at `line`, NaN for none.

    The first part is where the others are compared with: a dotted line in its panel, and what rows are sorted by.
    """
    drawn = judges.looks({each.where["judge"] for group in sources.values() for each in group}, vendors, look)
    at = {data: {(comparisons.of(each), part(each)): each for each in group} for data, group in sources.items()}
    whole = next(iter(sources.values()))[0]
    unit = panels.scale(whole.unit)[1]
    return (_panels if few(sources) else _rows)(at, parts, line, unit, drawn, look)


def _point(axes: Axes, y: float, each: Estimate | None, look: Look) -> None:
    """A point with its interval; a panel may be too narrow for more than a short word in its place."""
    if each is None or math.isnan(each.value):
        panels.note(axes, y, NONE if each is None else panels.NOT_ESTIMABLE)
    else:
        panels.dot(axes, y, each, look)


def _panels(
    at: Mapping[str, At], parts: Sequence[str], line: float, unit: str, drawn: Mapping[str, Look], look: Style
) -> Canvas:
    places = {
        data: sorted({names for names, _ in cells}, key=lambda names: (list(drawn).index(names[0]), names[1]))
        for data, cells in at.items()
    }
    words = [comparisons.named(part, comparisons.LONGEST) for part in parts]
    high, beside = 1.5 * len(parts) + 1, max(map(len, words))
    figure, axes_of = comparisons.grid(look, places, high, 3, beside, sharex=True, sharey=True)
    for (data, names), axes in axes_of.items():
        panels.rows(axes, words)
        if not math.isnan(line):
            panels.reference(axes, line)
        first = at[data].get((names, parts[0]))
        if first is not None and len(parts) > 1 and not math.isnan(first.value):
            value = panels.scale(first.unit)[0] * first.value
            axes.axvline(value, color=GREY, linewidth=axes.spines["left"].get_linewidth(), linestyle=":", zorder=1)
        for i, each in enumerate(parts):
            _point(axes, i, at[data].get((names, each)), drawn[names[0]])
        axes.locator_params(axis="x", nbins=4)
    class_shares.scaled(list(axes_of.values()), line)
    figure.supxlabel(unit, fontsize=look.size)
    return figure


def _rows(
    at: Mapping[str, At], parts: Sequence[str], line: float, unit: str, drawn: Mapping[str, Look], look: Style
) -> Canvas:
    size = math.ceil(len(parts) / math.ceil(len(parts) / BESIDE))
    chunks = [parts[i : i + size] for i in range(0, len(parts), size)]
    order = {}
    for data, cells in at.items():
        names = {names for names, _ in cells}
        first = {each: next((cells[each, p].value for p in parts if (each, p) in cells), math.nan) for each in names}
        order[data] = comparisons.by_value(list(names), first)
    every = [names for block in order.values() for names in block]
    letters = int(class_shares.room(look, every, size))
    titles = [[panels.wrapped(part, max(letters, 6), 2) for part in chunk] for chunk in chunks]
    # Blocks with the same titles follow each other, so that these are said once.
    blocks = [class_shares.Block(data, order[data], tuple(title)) for title in titles for data in at]
    figure, table = class_shares.draw(look, blocks)
    for row, (chunk, data) in zip(table, [(chunk, data) for chunk in chunks for data in at], strict=True):
        for axes, part in zip(row, chunk, strict=True):
            if not math.isnan(line):
                panels.reference(axes, line)
            for i, names in enumerate(order[data]):
                _point(axes, i, at[data].get((names, part)), drawn[names[0]])
            class_shares.smaller(axes, look)
    class_shares.scaled([axes for row in table for axes in row], line)
    class_shares.foot(table, unit)
    return figure


EFFECT = "first_position_effect"
COLUMNS = {
    EFFECT: "first place\ntwice minus\nsecond twice",
    "identical_pair_effect": "identical\nanswers: first\nminus second",
    "excess_flip": "flips swapped\nminus flips\nrepeated",
}
WHOLE = "all"
SORTED_BY = "Sorted by the first column."


def show_position_effects(
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "position_effects",
) -> Figure:
    """Which place does each judge favour, on different answers, on identical ones, and beyond its own noise?

    Takes `first_position_effect` and, where there are any, `identical_pair_effect` and `excess_flip` (`where`: judge,
    candidate; pp): one row a comparison, sorted, a column for each that any comparison has. Without `judge_vendors` a
    judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    estimates = list(estimates)
    keys = ["judge", "candidate"]
    there = {each.id for each in estimates if set(each.where) == set(keys) and each.value == each.value}
    ids = [id for id in COLUMNS if id == EFFECT or id in there]
    shown = [each for id in ids for each in panels.pick(estimates, [id], keys)]
    with settings(panels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        drawn = judges.looks({each.where["judge"] for each in shown}, judge_vendors, look)
        at = {(each.id, each.data, comparisons.of(each)): each for each in shown}
        blocks = []
        for data, group in sources.items():
            values = {comparisons.of(each): each.value for each in group if each.id == EFFECT}
            rows = comparisons.by_value([comparisons.of(each) for each in group], values)
            blocks.append(class_shares.Block(data, rows, [COLUMNS[id] for id in ids]))
        figure, table = class_shares.draw(look, blocks)
        for axes_row, block in zip(table, blocks, strict=True):
            for axes, id in zip(axes_row, ids, strict=True):
                panels.reference(axes, 0)
                for i, names in enumerate(block.rows):
                    each = at.get((id, block.data, names))
                    if each is not None and not math.isnan(each.value):
                        panels.dot(axes, i, each, drawn[names[0]])
                    else:
                        _why(axes, i, each, block.data)
                class_shares.smaller(axes, look)
        class_shares.scaled([axes for row in table for axes in row], 0)
        class_shares.foot(table, "pp")
        words = (
            "How much more often the first place won in both orders than the second, of comparisons with two verdicts"
        )
        if "identical_pair_effect" in ids:
            words += "; how much more often the first of two identical answers won than the second"
        if "excess_flip" in ids:
            words += "; how much more often verdicts disagree when the orders are swapped than when one is asked again"
        words += ". Right of the dashed line (zero): for the first place. " + SORTED_BY
        if "excess_flip" in ids:
            words = words.replace("for the first place", "for the first place, or more flips than noise makes")
        names = {id: title.replace("\n", " ") for id, title in COLUMNS.items()}
        text = panels.alt("Forest plot of position effects by judge and candidate", shown, names, 72)
        return finished(name, figure, comparisons.caption(words, shown, estimates), text, look)


def _why(axes: Axes, at: float, each: Estimate | None, data: str) -> None:
    """Who asks may still ask; what was published is what it is."""
    none = "not asked" if data in ("asked", "simulated") else NONE
    panels.note(axes, at, none if each is None else panels.NOT_ESTIMABLE)


def show_category_effects(
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "category_effects",
) -> Figure:
    """Is the first place favoured in every category of questions, or in some?

    Takes `first_position_effect` (`where`: judge, candidate, category; pp), and that of all questions (judge,
    candidate) where it is given: a panel a comparison with a row a category, with more than 12 comparisons a row each
    with a column a category. Without `judge_vendors` a judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    estimates = list(estimates)
    shown = panels.pick(estimates, [EFFECT], ["judge", "candidate", "category"])
    categories = list(dict.fromkeys(each.where["category"] for each in shown))
    split_here = {(each.data, *comparisons.of(each)) for each in shown}
    whole = [each for each in estimates if each.id == EFFECT and set(each.where) == {"judge", "candidate"}]
    whole = [each for each in whole if (each.data, *comparisons.of(each)) in split_here]
    if whole:
        shown = [*panels.pick(whole, [EFFECT], ["judge", "candidate"]), *shown]
    with settings(panels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        # A category may be called as the row of all questions is.
        parts = [*([WHOLE] if whole else []), *(f"{WHOLE} " if c == WHOLE else c for c in categories)]
        figure = draw(sources, lambda each: _category(each), parts, 0, judge_vendors, look)
        words = (
            "How much more often the first place won in both orders than the second, by category of questions; right "
            "of the dashed line (zero): for the first place. None: no such questions."
        )
        if whole and few(sources):
            words += " Dotted: all questions."
        if not few(sources):
            words += " Sorted by the first column that a row has."
        text = panels.alt("Dot plot of the effect of the first place by judge, candidate and category", shown, most=72)
        return finished(name, figure, comparisons.caption(words, shown, estimates), text, look)


def _category(each: Estimate) -> str:
    category = each.where.get("category")
    return WHOLE if category is None else f"{WHOLE} " if category == WHOLE else category


#: Where there is no bias, or no difference between the two answers.
EVEN = {"win_rate": 50.0}


def show_sensitivity(
    estimates: Sequence[Estimate],
    id: str = "win_rate",
    choices: Sequence[str] = ("style", "weight"),
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "sensitivity",
) -> Figure:
    """Does the headline depend on a choice that another analyst would have made otherwise?

    Takes estimates of one `id` (`where`: judge, candidate and all of `choices`), the first choice given being the
    headline: a panel a comparison with a row a choice, with more than 12 comparisons a row each with a column a choice.
    Without `judge_vendors` a judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    if not choices:
        raise ValueError(f"{id}: name the keys of `where` that are choices")
    estimates = list(estimates)
    shown = panels.pick(estimates, [id], ["judge", "candidate", *choices])
    units = sorted({each.unit for each in shown})
    if len(units) > 1:
        raise ValueError(f"{id} has several units: {', '.join(units)}; filter them first")
    with settings(panels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        parts = list(dict.fromkeys(_choice(each, choices) for each in shown))
        line = EVEN.get(id, float("nan") if units == ["rate"] else 0.0)
        figure = draw(sources, lambda each: _choice(each, choices), parts, line, judge_vendors, look)
        words = f"The {plain(id).replace('_', ' ')} of each judge and candidate under each choice"
        words += ". " if line != line else f"; dashed: {line:.0f} {panels.scale(units[0])[1]}. "
        words += f"Dotted: the first choice, {parts[0]}." if few(sources) else "Sorted by the first choice."
        text = panels.alt(f"Dot plot of {plain(id)} by judge, candidate and choice", shown, most=72)
        return finished(name, figure, comparisons.caption(words, shown, estimates), text, look)


def _choice(each: Estimate, choices: Sequence[str]) -> str:
    """The values of a choice in words; a bare number says nothing without its key."""
    values = [(key, plain(each.where[key])) for key in choices]
    return ", ".join(f"{plain(key)} {value}" if value.replace(".", "").isdigit() else value for key, value in values)


#: Kinds whose two verdicts agree on an answer, or on a tie.
CONSISTENT = ("mirrored", "mirrored, other strength")
ARROW = "\N{RIGHTWARDS ARROW}"
#: Columns of patterns where comparisons are rows.
PATTERNS_COLUMNS = 4
Bars = list[tuple[str, int, class_shares.Fill]]


def show_patterns(counts: pd.DataFrame, style: str | Style = "paper", name: str = "patterns", most: int = 8) -> Figure:
    """Which pairs of verdicts make the inconsistent comparisons: the same place twice, a tie once, or none to read?

    Takes one row a cell (columns: source, judge, candidate, game_1 and game_2 (A>>B, A>B, A=B, B>A, B>>A or invalid),
    count, data); a panel with the `most` frequent patterns for each source, judge and candidate, with more than 12 of
    them a row each with the patterns that are most frequent on average.
    """
    look = styles.style(style)
    table = class_shares.checked(counts)
    if most < 1:
        raise ValueError(f"at least one pattern is to be shown, not {most}")
    short = {label: "?" if label == class_shares.INVALID else label for label in class_shares.GAMES}
    table["pattern"] = [f"{short[a]} {ARROW} {short[b]}" for a, b in zip(table["game_1"], table["game_2"], strict=True)]
    with settings(panels.at_file_resolution(look)):
        cells = class_shares.by_comparison(table)
        few = max(map(len, cells.values())) <= comparisons.MOST
        words = (
            "Verdicts with the baseline first and (after the arrow) with the candidate first, where these name neither "
            "the same answer nor a tie twice; A is the answer that stands first. "
        )
        if few:
            figure = _patterns_panels(cells, most, look)
            words += f"?: cannot be read. At most {most} patterns a panel; numbers are comparisons."
        else:
            figure = _patterns_rows(cells, look)
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
        return finished(name, figure, class_shares.caption(words, table), text, look)


def _bars(cell: pd.DataFrame, most: int) -> Bars:
    """Pattern, count and look of each bar; what is left out is one bar more."""
    odd = cell[~cell["kind"].isin(CONSISTENT) & (cell["count"] > 0)]
    odd = odd.sort_values(["count", "pattern"], ascending=[False, True], kind="stable")
    bars = [
        (row.pattern, row.n, class_shares.FILLS[row.kind]) for row in odd.rename(columns={"count": "n"}).itertuples()
    ]
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


def _bar(axes: Axes, y: float, n: int, whole: int, fill: class_shares.Fill) -> None:
    width = 100 * n / whole
    axes.barh(y, width, 0.75, **fill)
    axes.annotate(f"{n}", (width, y), (2, 0), textcoords="offset points", va="center", fontsize="small")


def _patterns_panels(cells: class_shares.Cells, most: int, look: Style) -> Canvas:
    count = max(map(len, cells.values()))
    bars = {(data, names): _bars(cell, most) for data, group in cells.items() for names, cell in group.items()}
    # The number of rows is that of the panel with the most, so that bars are equally thick.
    lines = max(*map(len, bars.values()), 2)
    titles = class_shares.kind_titles(cells)
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
            panels.note(axes, 0, "none inconsistent")
        # The number of the longest bar stands beside it.
        axes.set_xlim(0, 100 * max(1.3 * widest, 0.01))
        axes.locator_params(axis="x", nbins=3)
    figure.supxlabel("% of comparisons", fontsize=look.size)
    _legend(figure, look, (fill for found in bars.values() for _, _, fill in found))
    return figure


def _patterns_rows(cells: class_shares.Cells, look: Style) -> Canvas:
    shares: dict[str, dict[comparisons.Names, Mapping[str, tuple[float, int]]]] = {}
    sums: dict[str, float] = {}
    fills: dict[str, class_shares.Fill] = {}
    for data, group in cells.items():
        for names, cell in group.items():
            whole = max(int(names[-1]), 1)
            for pattern, n, fill in _bars(cell[cell["kind"] != class_shares.INVALID], len(class_shares.GAMES) ** 2):
                shares.setdefault(data, {}).setdefault(names, {})[pattern] = (n / whole, n)  # type: ignore[index]
                sums[pattern], fills[pattern] = sums.get(pattern, 0.0) + n / whole, fill
    shown: Sequence[str] = sorted(sums, key=lambda pattern: (-sums[pattern], pattern))[:PATTERNS_COLUMNS] or ["none"]
    heads, told, order = class_shares.rows(cells, {
        data: {names: found.get(shown[0], (0.0, 0))[0] for names, found in group.items()}
        for data, group in shares.items()
    })  # fmt: skip
    blocks = [class_shares.Block(data, told[data], [each.replace(" ", "\n", 1) for each in shown]) for data in told]
    figure, table = class_shares.draw(look, blocks, heads, above=2)
    widest = 100 * max(
        (share for group in shares.values() for f in group.values() for share, _ in f.values()), default=0
    )
    for row, data in zip(table, told, strict=True):
        for axes, pattern in zip(row, shown, strict=True):
            for i, names in enumerate(order[data]):
                _, n = shares.get(data, {}).get(names, {}).get(pattern, (0.0, 0))
                _bar(axes, i, n, max(int(names[-1]), 1), fills.get(pattern, class_shares.LOST))
            axes.set_xlim(0, max(1.5 * widest, 1))
    class_shares.foot(table, "%")
    _legend(figure, look, (fills[pattern] for pattern in shown if pattern in fills))
    return figure


def _legend(figure: Canvas, look: Style, drawn: Iterable[class_shares.Fill]) -> None:
    drawn = list(drawn)
    if fills := {name: fill for name, fill in class_shares.FILLS.items() if any(fill is each for each in drawn)}:
        class_shares.legend(figure, look, fills)
