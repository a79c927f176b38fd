"""Figures of what pairs were judged: what was left after each step, and what each judge made of its own answers."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import judges, labels, panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, Figure, Style, canvas, finished, settings
from helpers.words import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LOST = {"facecolor": "white", "edgecolor": GREY, "hatch": "////", "linewidth": 0.7}
#: No vendor of the published runs has these colours; they stand in this order, too.
OUTCOMES = {
    "right both ways": {"facecolor": COLOURS[5], "edgecolor": "white"},
    "split": {"facecolor": "#E6E6E6", "edgecolor": "white"},
    "wrong both ways": {"facecolor": COLOURS[4], "edgecolor": "white"},
    "unreadable": LOST,
}
KINDS = ("harmful", "beneficial")
SMALL = 0.833


def _checked(frame: pd.DataFrame, columns: Sequence[str], what: str, rows: int = 1) -> None:
    lacking = [column for column in columns if column not in frame]
    if lacking or len(frame) < rows:
        there = ", ".join(map(str, frame.columns))
        needed = f"{', '.join(columns[:-1])} and {columns[-1]}"
        raise ValueError(f"{what} need rows with {needed}; given: {len(frame)} rows of {there or 'nothing'}")
    wrong = frame[~(frame[[c for c in ("count", "lost") if c in columns]] >= 0).all(axis=1)]
    if len(wrong):
        raise ValueError(f"{what}: counts are numbers from 0; row {wrong.index[0]} has {dict(wrong.iloc[0])}")


def show_funnel(steps: pd.DataFrame, data: str, style: str | Style = "paper", name: str = "funnel") -> Figure:
    """How much is left after each step from answers to the items that are compared, and why is the rest lost?

    Takes one row a step (columns: step; count, what is left; lost; why, its reasons in words). A step starts from what
    the one before left or from what that started from; one that loses nothing and does neither counts other things: its
    bars have a scale of their own.
    """
    look = styles.style(style)
    _checked(steps, ("step", "count", "lost", "why"), "steps")
    table = steps.astype({"count": int, "lost": int})
    whole, earlier = table["count"] + table["lost"], table.shift()
    left, again = whole == earlier["count"], whole == earlier["count"] + earlier["lost"]
    table["block"] = ((table["lost"] == 0) & ~left & ~again).cumsum()
    letters = int(look.column * 72 / look.size / labels.LETTER)
    reasons = [
        textwrap.wrap(labels.short(f"lost: {why}", int(2.2 * letters)), int(letters / SMALL) - 2) if lost else []
        for lost, why in zip(table["lost"], table["why"], strict=True)
    ]
    with settings(labels.at_file_resolution(look)):
        source = panels.SOURCES.get(data, data)
        gaps = table["block"].diff().fillna(0).to_numpy()
        lines = sum(2.9 + 1.25 * len(why) for why in reasons) + 0.8 * gaps.sum()
        figure = canvas(look, look.column, (1.22 * lines + 2.5) * look.size / 72)
        axes = figure.subplots()
        _funnel(axes, table, reasons, gaps, letters)
        panels.title(axes, data, False)
        words = (
            "What is left after each step (filled) and what is lost there (hatched, with the reasons). After a wider "
            "gap other things are counted, on a scale of their own. "
            + ("Bars of one length start from the same things, whatever was lost above. " if any(again & ~left) else "")
            + f"Data: {source}; counts, which have no interval."
        )
        told = [
            f"{plain(row.step)}: {row.count_}" + (f", {row.lost} lost ({plain(row.why)})" if row.lost else "")
            for row in table.rename(columns={"count": "count_"}).itertuples()
        ]
        return finished(name, figure, words, f"Bars of what each step leaves, {source}. {'; '.join(told)}.", look)


def _funnel(axes: Axes, table: pd.DataFrame, reasons: Sequence[list[str]], gaps: Sequence[float], letters: int) -> None:
    """Each step from the top: its name, its bar with the count, and what was lost, a unit of y a line of text."""
    whole = table["count"] + table["lost"]
    widest = whole.groupby(table["block"]).transform("max").clip(lower=1)
    y = 0.0
    for i, row in enumerate(table.rename(columns={"count": "count_"}).itertuples()):
        y += 0.8 * gaps[i]
        axes.text(0, y + 0.5, labels.short(row.step, letters - 2), va="center")
        # The bars end where the longest count still has room.
        left, lost = (0.66 * n / widest.iloc[i] for n in (row.count_, row.lost))
        axes.barh(y + 1.55, left, 0.8, color=COLOURS[5])
        axes.barh(y + 1.55, lost, 0.8, left, **LOST)
        said = f"{row.count_} of {whole.iloc[i]}" if row.lost else f"{row.count_}"
        axes.text(left + lost + 0.015, y + 1.55, said, va="center", fontweight="bold")
        y += 2.1
        for line in reasons[i]:
            axes.text(0, y + 0.5, line, va="center", color=labels.SOFT, fontsize="small")
            y += 1.25
        y += 0.8
    axes.set(xlim=(0, 1), ylim=(y - 0.6, -0.2))
    axes.set_axis_off()


def show_outcomes(frame: pd.DataFrame, data: str, style: str | Style = "paper", name: str = "outcomes") -> Figure:
    """What did each judge make of pairs with an answer of its own: where that is the wrong one, and the right one?

    Takes one row a cell (columns: judge, judge_vendor, kind "harmful" | "beneficial", outcome "right both ways" |
    "split" | "wrong both ways" | "unreadable", count of items). A mosaic a judge: widths are shares of items, heights
    how many of them are of a kind. With more than 12 judges a row each, sorted by wrong both ways on harmful items.
    Without a row it says that no judge was shown an answer of its own.
    """
    look = styles.style(style)
    _checked(frame, ("judge", "judge_vendor", "kind", "outcome", "count"), "outcomes", rows=0)
    if frame.empty:
        with settings(labels.at_file_resolution(look)):
            shown, words = "no unedited pair with\nan answer of the judge's own", "No judge was shown an unedited pair"
            return judges.blank(shown, f"{words} with an answer of its own", data, look, name)
    for column, known in (("kind", KINDS), ("outcome", tuple(OUTCOMES))):
        odd = sorted(set(frame[column].astype(str)) - set(known))
        if odd:
            raise ValueError(f"outcomes: {column} {', '.join(odd)}; there are: {', '.join(known)}")
    plain_keys = frame.astype({"judge": str, "kind": str, "outcome": str})
    counts = plain_keys.groupby(["judge", "kind", "outcome"])["count"].sum().astype(int).to_dict()
    cells = {
        judge: {kind: [counts.get((judge, kind, outcome), 0) for outcome in OUTCOMES] for kind in KINDS}
        for judge in plain_keys["judge"].unique()
    }
    vendors = dict(zip(plain_keys["judge"], frame["judge_vendor"].astype(str), strict=True))
    with settings(labels.at_file_resolution(look)):
        if len(cells) > judges.MOST:
            figure = _rows(cells, data, look)
        else:
            figure = _mosaic({judge: cells[judge] for judge in judges.looks(cells, vendors, look)}, data, look)
        _legend(figure, look)
        source = panels.SOURCES.get(data, data)
        sizes = sorted(sum(map(sum, kinds.values())) for kinds in cells.values())
        unreadable = sum(n for (_, _, outcome), n in counts.items() if outcome == "unreadable")
        n = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
        words = (
            "What each judge made of the pairs of which it wrote one answer, unedited and at first asking, in both "
            "orders: harmful, its own answer is the wrong one; beneficial, the right one. Widths are shares of items"
            + (", heights how many of the judge's items are of that kind. " if len(cells) <= judges.MOST else ". ")
            + "Numbers are items, where they fit. Split: the same place picked twice. Counts have no interval; rates "
            f"with theirs are given elsewhere. Data: {source} (n = {n} items a judge, unreadable "
            f"{100 * unreadable / max(sum(sizes), 1):.1f} % ({unreadable} of {sum(sizes)} items))."
        )
        told = [
            f"{plain(judge)}, {kind}: " + ", ".join(f"{n} {what}" for n, what in zip(row, OUTCOMES, strict=True))
            for judge, kinds in cells.items()
            for kind, row in kinds.items()
        ]
        return finished(name, figure, words, f"Mosaic of outcomes by judge, {source}. {'; '.join(told)}.", look)


def _bar(axes: Axes, y: float, height: float, row: Sequence[int], letters: float, tall: bool) -> None:
    """One bar of shares; a count is written where it fits in a bar `letters` wide."""
    left, total = 0.0, sum(row)
    if not total:
        labels.note(axes, y, "no such pairs")
        return
    for n, look in zip(row, OUTCOMES.values(), strict=True):
        width = 100 * n / total
        axes.barh(y, width, height, left, **look)
        if tall and len(str(n)) + 1 <= width / 100 * letters / SMALL and n:
            text = axes.text(left + width / 2, y, str(n), ha="center", va="center", fontsize="small")
            if look is LOST:
                text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.6})
        left += width


def _mosaic(cells: Mapping[str, Mapping[str, Sequence[int]]], data: str, look: Style) -> Canvas:
    """A block of two bars a judge under its name; one unit of y is a line of text."""
    high, head = 3.4, 2.4
    figure = canvas(look, look.column, (1.25 * (high + head) * len(cells) + 8) * look.size / 72)
    axes = figure.subplots()
    letters = look.column * 72 / look.size / labels.LETTER - 18
    places, words = [], []
    for i, (judge, kinds) in enumerate(cells.items()):
        y, total = i * (high + head) + head, sum(map(sum, kinds.values())) or 1
        # Bold letters are wider.
        title = labels.short(judge, int(0.85 * letters))
        axes.text(0, y - head / 2, title, va="center", fontweight="bold")
        for kind, row in kinds.items():
            height = high * sum(row) / total
            places.append(y + height / 2)
            words.append(f"{kind} ({sum(row)})")
            _bar(axes, places[-1], height, row, letters, height > 1.1)
            y += height
    axes.set_yticks(places, words)
    axes.set_ylim(len(cells) * (high + head), 0.3)
    _share_axis(axes)
    axes.set_xlabel("share of items (%)")
    panels.title(axes, data, False)
    return figure


def _rows(cells: Mapping[str, Mapping[str, Sequence[int]]], data: str, look: Style) -> Canvas:
    wrong = list(OUTCOMES).index("wrong both ways")
    rates = {
        j: k["harmful"][wrong] / sum(k["harmful"]) if sum(k["harmful"]) else float("nan") for j, k in cells.items()
    }
    order = judges.by_value(cells, rates)
    figure, columns = judges.forest(look, {data: order}, [f"{kind} items" for kind in KINDS])
    letters = (look.text * 72 / look.size / labels.LETTER - judges.LONGEST - 6) / 2
    for axes, kind in zip(columns[data], KINDS, strict=True):
        for i, judge in enumerate(order):
            _bar(axes, i, 0.8, cells[judge][kind], letters, True)
        _share_axis(axes)
    figure.supxlabel("share of items (%)", fontsize=look.size)
    return figure


def _share_axis(axes: Axes) -> None:
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 50, 100])
    axes.tick_params(axis="y", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)


def _legend(figure: Canvas, look: Style) -> None:
    from matplotlib.patches import Patch

    judges.legend(figure, look, [Patch(label=outcome, **fill) for outcome, fill in OUTCOMES.items()])
