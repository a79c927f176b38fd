"""Judges of pairs on figures: their looks, a panel each while they are few, a row each when they are many."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import panels
from helpers.figures import style as styles
from helpers.figures.style import Figure, Look, Style, canvas, finished
from helpers.types import Estimate
from helpers.words import plain

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Above this number of judges small panels are no longer compared, only counted.
MOST = 12
LONGEST = 20
#: Numbers that every run of this experiment has, whatever it asked.
ALWAYS = ("accuracy_all", "naive_harmful_rate")
Vendors = Mapping[str, str] | None


def looks(judges: Iterable[str], given: Vendors, look: Style) -> dict[str, Look]:
    """The look of each judge's vendor, vendors in their order: as given, else the one vendor that its name tells.

    >>> looks(["sim_qwen_small", "Qwen2.5-7B"], None, styles.style())["Qwen2.5-7B"].marker
    'v'
    >>> list(looks(["mine", "gpt-5", "claude_fast"], {"mine": "claude"}, styles.style()))
    ['claude_fast', 'mine', 'gpt-5']
    """
    vendors = {judge: (given or {}).get(judge) or _named(judge, look) for judge in judges}
    known = look.looks({vendor for vendor in vendors.values() if vendor})
    order = [*known, None]
    ranked = sorted(vendors, key=lambda judge: (order.index(vendors[judge]), judge))
    return {judge: known.get(vendors[judge], panels.PLAIN) for judge in ranked}


def _named(judge: str, look: Style) -> str | None:
    words = set(re.findall("[a-z]+", judge.lower()))
    named = [vendor for vendor in (*styles.VENDORS, *look.vendors) if vendor in words]
    return named[0] if len(named) == 1 else None


def dose_order(doses: Iterable[str]) -> list[str]:
    """Doses without repetition: numbers of words by size, then those that are words.

    >>> dose_order(["8", "paraphrase", "2", "8"])
    ['2', '8', 'paraphrase']
    """
    return sorted(set(doses), key=lambda dose: (not dose.isdigit(), int(dose) if dose.isdigit() else 0, dose))


def pick(estimates: Iterable[Estimate], ids: Sequence[str], *keys: Sequence[str]) -> list[Estimate]:
    """As `panels.pick`, but nothing for a run of this experiment that did not ask for any of them."""
    estimates = list(estimates)
    if any(each.id in ALWAYS for each in estimates) and not any(each.id in ids for each in estimates):
        return []
    return panels.pick(estimates, ids, *keys)


def not_asked(what: str, estimates: Iterable[Estimate], look: Style, name: str) -> Figure:
    """A figure that says that its numbers were not asked for, in place of one without a point."""
    judged = [each for each in estimates if each.id in ALWAYS]
    source = next(iter(panels.by_data(judged)))
    told = f"{what}: not asked, or nothing could be edited and judged"
    return blank(f"{what}:\nnothing to show", told, source, look, name)


def blank(shown: str, words: str, source: str, look: Style, name: str) -> Figure:
    """A figure that shows nothing but the reason why there is nothing to show."""
    figure = canvas(look, look.column, 7 * look.size / 72)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.text(0.5, 0.5, shown, ha="center", va="center", color=panels.SOFT)
    panels.title(axes, source, False)
    words = f"{words}. Data: {panels.SOURCES.get(source, source)}."
    return finished(name, figure, words, words, look)


def caption(words: str, shown: Sequence[Estimate], estimates: Iterable[Estimate]) -> str:
    """As `panels.caption`; here a point counts items (a pair in both orders), and its clusters are articles."""
    judged = {each.where["judge"] for each in shown}
    lost = [e for e in estimates if e.id == "unreadable_share" and set(e.where) == {"judge"}]
    said = panels.caption("", shown, [each for each in lost if each.where["judge"] in judged])
    return words + said.replace("judgments a point", "items a point").replace(" questions", " articles").replace(
        " 1 articles", " 1 article"
    )


def few(sources: Mapping[str, Sequence[Estimate]]) -> bool:
    """Are there so few judges in every source of data that each gets a panel?"""
    return max(len({each.where["judge"] for each in group}) for group in sources.values()) <= MOST


def grid(
    look: Style, sources: Mapping[str, Sequence[Estimate]], order: Iterable[str]
) -> tuple[Canvas, dict[tuple[str, str], Axes]]:
    """A panel for each judge of each source of data, all with the same axes; a new row for each source."""
    there = {source: {each.where["judge"] for each in group} for source, group in sources.items()}
    judges = {source: [judge for judge in order if judge in there[source]] for source in sources}
    count = max(map(len, judges.values()))
    columns = count if count <= 2 else math.ceil(count / math.ceil(count / 4))
    lines = {source: math.ceil(len(names) / columns) for source, names in judges.items()}
    width = look.column if columns <= 2 else look.text
    room = (width * 72 / look.size - 6) / columns
    figure = canvas(look, width, (sum(lines.values()) * 12.5 + 8) * look.size / 72)
    table = figure.subplots(sum(lines.values()), columns, sharex=True, sharey=True, squeeze=False)
    found, start = {}, 0
    for source, names in judges.items():
        for i in range(lines[source] * columns):
            axes = table[start + i // columns][i % columns]
            if i >= len(names):
                axes.set_visible(False)
                continue
            found[source, names[i]] = axes
            # Bold letters are wider.
            title = panels.wrapped(plain(names[i]), max(int(room / 0.75), 8), 2)
            axes.set_title(title, loc="left", fontweight="bold")
            if i == min(columns, len(names)) - 1:
                panels.title(axes, source, len(judges) > 1, beside=True)
        start += lines[source]
    for column in table.T:
        # The lowest panel there is carries the ticks of its column.
        [axes for axes in column if axes.get_visible()][-1].tick_params(labelbottom=True)
    return figure, found


def room(axes: Axes, look: Style) -> float:
    """About how wide a panel of `grid` is, in letter heights, without the words beside it."""
    columns = axes.get_subplotspec().get_gridspec().ncols
    return (axes.figure.get_figwidth() * 72 / look.size - 6) / columns - 0.6


def forest(
    look: Style, judges: Mapping[str, Sequence[str]], titles: Sequence[str], line: float = 1.5, alike: bool = True
) -> tuple[Canvas, dict[str, list[Axes]]]:
    """A row for each judge, a column of panels for each title, a row of panels for each source of data.

    `alike`: all panels have one x axis, so that they compare; else each column has its own.
    """
    heights = [len(names) for names in judges.values()]
    above = 1.4 * max(title.count("\n") + 1 for title in titles)
    height = (sum(heights) * line + 5 * len(heights) + above + 2) * look.size / 72
    figure = canvas(look, look.text, height)
    shape = {"sharey": "row", "sharex": "all" if alike else "col", "squeeze": False, "height_ratios": heights}
    table = figure.subplots(len(heights), len(titles), **shape)
    for row, (source, names) in zip(table, judges.items(), strict=True):
        for axes, title in zip(row, titles, strict=True):
            panels.rows(axes, [panels.short(judge, LONGEST) for judge in names])
            axes.locator_params(axis="x", nbins=3)
            if axes.get_subplotspec().is_first_row():
                axes.set_title(title, loc="left")
        panels.title(row[-1], source, len(judges) > 1, beside=True)
    return figure, {source: list(row) for source, row in zip(judges, table, strict=True)}


def by_value(judges: Iterable[str], values: Mapping[str, float]) -> list[str]:
    """The judges from the largest value to the smallest, those without a number last."""

    def key(judge: str) -> tuple[bool, float, str]:
        value = values.get(judge, math.nan)
        return math.isnan(value), 0.0 if math.isnan(value) else -value, judge

    return sorted(judges, key=key)


def footnotes(notes: Mapping[Axes, str]) -> None:
    """Words at the foot of panels that share an axis, in room made for them so that they hide no point."""
    if not notes:
        return
    lines = max(words.count("\n") + 1 for words in notes.values())
    first = next(iter(notes))
    low, high = first.get_ylim()
    first.set_ylim(low - 0.16 * lines * (high - low), high)
    for axes, words in notes.items():
        axes.text(0.5, 0.02, words, transform=axes.transAxes, ha="center", va="bottom", color=panels.SOFT, size="small")


def legend(figure: Canvas, look: Style, handles: Sequence[Artist], title: str = "") -> None:
    """A legend above the panels, in one line where that fits, under its title."""
    names = [str(each.get_label()) for each in handles]
    # A sign and its gaps take about eight letters.
    room = figure.get_figwidth() * 72 / look.size / panels.LETTER
    fits = sum(len(each) + 8 for each in names) <= room
    columns = len(names) if fits else max(1, min(int(room / (max(map(len, names)) + 8)), len(names)))
    figure.legend(
        handles=list(handles),
        loc="outside upper left",
        ncols=columns,
        frameon=False,
        title=title or None,
        alignment="left",
        borderpad=0.2,
    )
