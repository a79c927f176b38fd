"""The judge card and the card of an audit: one line a cell, sorted forest plots where judges are many."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import comparisons, panels
from helpers.figures import style as styles
from helpers.figures.style import INK, Figure, Style, canvas, finished, settings
from helpers.types import Estimate
from helpers.words import CARD_VERDICTS, CardLine, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The sign of each verdict: the fuller the worse, so that it is read without colour.
MARKS = {"bias": "\N{BLACK CIRCLE}", "hint": "\N{CIRCLE WITH LEFT HALF BLACK}", "not shown": "\N{WHITE CIRCLE}"}
MARKS |= {"untold": "?", "described": ""}
MEANINGS = {
    "bias": "bias: stands after correction",
    "hint": "hint: interval leaves out 0, no more",
    "not shown": "not shown",
    "untold": "untold: no interval",
}
#: Above this number of judges of one source the rest stands in the forest plots and in the table.
MOST = 12
#: Units that readers call otherwise.
UNITS = {"score": "share", "logit": "logits"}
Judge = tuple[str, str]


def judge(line: CardLine) -> Judge:
    """Whose cell a line is: source of data and judge; the same name published and asked is two rows."""
    return line.estimate.data, line.judge


def cells(lines: Iterable[CardLine]) -> dict[tuple[Judge, str], CardLine]:
    """One line for each judge and measure: of several experiments' the gravest, then the largest."""
    found: dict[tuple[Judge, str], CardLine] = {}
    for line in lines:
        key = judge(line), line.measure
        if key not in found or _rank(line) < _rank(found[key]):
            found[key] = line
    return found


def _rank(line: CardLine) -> tuple[int, float]:
    value = line.estimate.value
    return CARD_VERDICTS.index(line.verdict), 0.0 if math.isnan(value) else -abs(value)


def measures(lines: Iterable[CardLine]) -> list[str]:
    """The measures in order of first appearance; those that only describe last, the commonest of all at the end."""
    judged: dict[str, int] = {}
    for line in lines:
        count = judged.get(line.measure, 1)
        judged[line.measure] = 0 if line.verdict != "described" or not count else count + 1
    return sorted(judged, key=judged.get)


def ranked(lines: Sequence[CardLine]) -> dict[str, list[str]]:
    """The judges of each source, in the order of panels.SOURCES, strongest evidence first; all of them.

    Most biases, then most hints, then the number farthest from 0 in widths of its interval, then the most that was
    tested. Judges that are only described come last.
    """
    found = cells(lines)
    every = list(dict.fromkeys(judge(line) for line in lines))
    order = [*panels.SOURCES, *sorted({data for data, _ in every} - set(panels.SOURCES))]
    mine = {each: [line for (who, _), line in found.items() if who == each] for each in every}
    return {
        data: [name for _, name in sorted((e for e in every if e[0] == data), key=lambda e: _evidence(mine[e], e[1]))]
        for data in order
        if any(source == data for source, _ in every)
    }


def _evidence(mine: Sequence[CardLine], name: str) -> tuple[int, int, float, int, str]:
    count = {verdict: sum(line.verdict == verdict for line in mine) for verdict in CARD_VERDICTS}
    apart = max((_apart(line.estimate) for line in mine if line.verdict in ("bias", "hint")), default=0.0)
    return -count["bias"], -count["hint"], -apart, -count["not shown"], name


def _apart(each: Estimate) -> float:
    width = each.high - each.low
    return abs(each.value) / width if width > 0 else 0.0


def shown(lines: Sequence[CardLine], most: int = MOST) -> dict[str, list[str]]:
    """At most `most` judges of each source, with the strongest evidence; each measure that judges keeps its gravest.

    A measure of which nothing could be told is a finding too: without its gravest judge it would vanish.
    """
    found, chosen = cells(lines), {}
    for data, names in ranked(lines).items():
        keep: list[str] = []
        for measure in measures(lines):
            mine = [name for name in names if ((data, name), measure) in found]
            judged = [name for name in mine if found[(data, name), measure].verdict != "described"]
            if judged:
                keep.append(min(judged, key=lambda name: _rank(found[(data, name), measure])))
        kept = list(dict.fromkeys([*keep, *(n for n in names if any(_judged(found, data, n)))]))[:most]
        # Only described judges fill a card on which nobody is judged.
        chosen[data] = [name for name in names if name in (kept or names[:most])]
    return chosen


def _judged(found: Mapping[tuple[Judge, str], CardLine], data: str, name: str) -> list[bool]:
    return [line.verdict != "described" for (who, _), line in found.items() if who == (data, name)]


def number(each: Estimate, unit: bool = True) -> str:
    """The value as a cell has it, without its interval.

    >>> number(Estimate("x", {}, -0.172, unit="pp")), number(Estimate("x", {}, 0.41), unit=False)
    ('\N{MINUS SIGN}17.2 pp', '41')
    """
    if math.isnan(each.value):
        return panels.NOT_ESTIMABLE
    factor, name = panels.scale(each.unit)
    digits = {"rate": 0 if each.value >= 0.1 else 1, "pp": 1, "logit": 1}.get(each.unit, 2)
    sign = "" if each.unit in ("rate", "count") or each.id == "ratio_scale_absolute" else "+"
    shown_ = f"{each.value * factor:{sign}.{digits}f}".replace("-", "\N{MINUS SIGN}")
    return f"{shown_} {name}" if unit and name in ("%", "pp") else shown_


def interval(each: Estimate) -> str:
    """The bounds as a cell has them; "" where there are none."""
    if math.isnan(each.low):
        return ""
    factor, digits = panels.scale(each.unit)[0], 0 if each.unit in ("rate", "pp") else 1
    if each.unit == "score":
        digits = 2
    low, high = (f"{bound * factor:.{digits}f}".replace("-", "\N{MINUS SIGN}") for bound in (each.low, each.high))
    return f"{low} to {high}"


#: How a point is filled by verdict, the fuller the worse; untold ones have no interval and are a cross.
FILLS = {"bias": "full", "hint": "left", "not shown": "none"}
REAL, SIMULATED = "#A63603", "#5A5A5A"
_MARKS = {"bias": "full", "hint": "half full", "not shown": "open", "untold": "cross"}
#: What captions say of the marks.
KEY = f"Points {'; '.join(f'{mark}: {MEANINGS[verdict]}' for verdict, mark in _MARKS.items())}. Lines: 95 % intervals."
LONGEST = 20
#: Heights in lines: a row, and what a panel has beside its rows.
LINE, BESIDE = 1.3, 5.2


def show_judge_forest(lines: Sequence[CardLine], style: str | Style = "paper", name: str = "judge_forest") -> Figure:
    """How strong is each bias of all judges, measure by measure?

    A panel for each measure with a verdict (those that only describe have none), its judges from the largest value to
    the smallest, of each source of data for itself, published first. No line with a verdict and a number is a
    ValueError (`panels.NothingToDraw`).
    """
    look = styles.style(style)
    found = [x for x in cells(lines).values() if not math.isnan(x.estimate.value)]
    judged = [x for x in measures(lines) if any(y.measure == x and y.verdict != "described" for y in found)]
    if not judged:
        raise panels.NothingToDraw("no line of a judge card has a verdict and a number")
    by = {measure: _sorted([x for x in found if x.measure == measure]) for measure in judged}
    columns = packed({measure: LINE * (len(rows) + 0.5) + BESIDE for measure, rows in by.items()})
    high = max(sum(LINE * (len(by[m]) + 0.5) + BESIDE for m in column) for column in columns)
    with settings(panels.at_file_resolution(look)):
        figure = canvas(look, look.text if len(columns) > 1 else look.column, (high + 2) * look.size / 72)
        outer = figure.add_gridspec(1, len(columns))
        for place, column in zip(outer, columns, strict=False):
            heights = [LINE * (len(by[m]) + 0.5) + BESIDE for m in column]
            rest = high - sum(heights)
            ratios = [*heights, rest] if rest > 1 else heights
            for cell, measure in zip(place.subgridspec(len(ratios), 1, height_ratios=ratios), column, strict=False):
                _panel(figure.add_subplot(cell), measure, by[measure], look)
        shown = [x for rows in by.values() for x in rows]
        alt = panels.alt("Forest plots of the judge card", [x.estimate for x in shown], most=60)
        return finished(name, figure, _caption(shown), alt, look)


def _sorted(mine: Sequence[CardLine]) -> list[CardLine]:
    order = [*panels.SOURCES]
    at = {data: order.index(data) if data in order else len(order) for data in {x.estimate.data for x in mine}}
    return sorted(mine, key=lambda x: (at[x.estimate.data], -x.estimate.value, x.judge))


def packed(heights: Mapping[str, float]) -> list[list[str]]:
    """The panels in two columns of nearly equal height, the tallest first; one column where there is one panel."""
    if len(heights) == 1:
        return [list(heights)]
    columns: list[list[str]] = [[], []]
    for measure in sorted(heights, key=lambda m: -heights[m]):
        min(columns, key=lambda column: sum(heights[m] for m in column)).append(measure)
    return columns


def _panel(axes: Axes, measure: str, rows: Sequence[CardLine], look: Style) -> None:
    """One measure: a row a judge, a rule between sources of data."""
    small = max(6.0, 0.78 * look.size)
    names = [comparisons.named(x.judge, LONGEST) for x in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=small)
    axes.set_ylim(len(rows) - 0.3, -0.7)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=small)
    axes.grid(axis="x")
    axes.locator_params(axis="x", nbins=5)
    panels.reference(axes, 0.0)
    for at, (line, label) in enumerate(zip(rows, axes.get_yticklabels(), strict=True)):
        if line.estimate.data == "simulated":
            label.set(style="italic", color=panels.SOFT)
        point(axes, at, line, look)
    sources = [x.estimate.data for x in rows]
    for at in (i for i in range(1, len(rows)) if sources[i] != sources[i - 1]):
        axes.axhline(at - 0.5, color=INK, linewidth=look.size / 18)
    axes.set_title(measure, loc="left", fontsize=look.size)
    _simulated(axes, sources, small)
    units = sorted({panels.scale(x.estimate.unit)[1] for x in rows})
    axes.set_xlabel(" or ".join(UNITS.get(unit, unit) for unit in units), fontsize=small)


def point(axes: Axes, at: float, line: CardLine, look: Style, size: float = 1.0) -> None:
    """A line of a card at a height of a panel: its interval, and a mark that is the fuller the worse its verdict."""
    each = line.estimate
    factor, colour = panels.scale(each.unit)[0], SIMULATED if each.data == "simulated" else REAL
    if not math.isnan(each.low):
        ends = [each.low * factor, each.high * factor]
        axes.plot(ends, [at, at], color=colour, linewidth=size * look.size / 9, zorder=2)
    fill = FILLS.get(line.verdict)
    how = {"fillstyle": fill, "markerfacecoloralt": "white"} if fill and fill != "none" else {}
    if fill == "none":
        how = {"markerfacecolor": "white"}
    mark = {"color": colour, "markersize": 0.5 * size * look.size, "zorder": 3}
    axes.plot(each.value * factor, at, "o" if fill else "x", **mark, **how)


def _simulated(axes: Axes, sources: Sequence[str], small: float) -> None:
    """SIMULATED beside the rows that are, or above the panel where these are too few for the word."""
    rows = [at for at, data in enumerate(sources) if data == "simulated"]
    how = {"fontsize": small, "fontweight": "bold", "color": panels.SOFT}
    if len(rows) > 3:
        place, across = (1.03, sum(rows) / len(rows)), axes.get_yaxis_transform()
        axes.text(*place, "SIMULATED", transform=across, rotation=270, ha="left", va="center", **how)
    elif rows:
        axes.set_title("SIMULATED" if len(rows) == len(sources) else "SIMULATED below", loc="right", **how)


def _caption(shown: Sequence[CardLine]) -> str:
    counts = [
        f"{sum(x.estimate.data == data for x in shown)} of {panels.SOURCES.get(data, data)}"
        for data in panels.by_data([x.estimate for x in shown])
    ]
    return (
        f"All judges with a verdict, measure by measure, sorted. {KEY} Points shown: {', '.join(counts)}. Their n, "
        "questions and unreadable shares stand in the table of the card."
    )


#: Ground and ink of a cell by verdict: of real judges in colour, of simulated ones in grey; dark is worse in print too.
JUDGE_CARD_REAL = {"bias": ("#A63603", "white"), "hint": ("#FDD9B5", INK)}
JUDGE_CARD_SIMULATED = {"bias": ("#5A5A5A", "white"), "hint": ("#DCDCDC", INK)}
#: Height of a row and of a source's heading, width of a column that only describes, in rows and columns.
HEADING, NARROW = 0.8, 0.82
JUDGE_CARD_LONGEST = 22
#: So many columns have room for names of two words in one line.
WIDE = 9


def show_judge_card(
    lines: Sequence[CardLine], most: int = MOST, style: str | Style = "paper", name: str = "judge_card"
) -> Figure:
    """Which judge should be distrusted for what?

    A row a judge, of each source of data at most `most` with the strongest evidence (published first), a column a
    measure; a cell holds mark, number and interval, of several experiments' the gravest. Simulated judges are grey
    under their own heading. No line is a ValueError (`panels.NothingToDraw`).
    """
    look = styles.style(style)
    if not lines:
        raise panels.NothingToDraw("no line for a judge card")
    found, chosen = cells(lines), shown(lines, most)
    rows = {(data, judge) for data, judges in chosen.items() for judge in judges}
    columns = [m for m in measures(lines) if any((row, m) in found for row in rows)]
    judged = {m for m in columns if any(found[row, m].verdict != "described" for row in rows if (row, m) in found)}
    widths = [1.0 if measure in judged else NARROW for measure in columns]
    high = sum(len(judges) + HEADING for judges in chosen.values())
    row = 2.3 * _small(look) / 72
    with settings(panels.at_file_resolution(look)):
        figure = canvas(look, look.text, high * row + 6.5 * look.size / 72)
        axes = figure.subplots()
        left = [sum(widths[:i]) for i in range(len(widths) + 1)]
        _frame(axes, columns, left, widths, high, found, rows, look)
        at = 0.0
        for data, judges in chosen.items():
            _heading(axes, data, at, left[-1], look)
            at += HEADING
            for judge in judges:
                _judge(axes, judge, data, at, look)
                for i, measure in enumerate(columns):
                    line = found.get(((data, judge), measure))
                    if line:
                        _cell(axes, line, left[i], at, widths[i], look)
                at += 1
        _legend(axes, high, left[-1], look)
        words = _judge_card_caption(lines, chosen)
        alt = "Judge card. " + " ".join(_told(found, data, judges) for data, judges in chosen.items())
        return finished(name, figure, words, alt, look)


def _small(look: Style) -> float:
    return max(6.0, 0.72 * look.size)


def _frame(
    axes: Axes,
    columns: Sequence[str],
    left: Sequence[float],
    widths: Sequence[float],
    high: float,
    found: Mapping[tuple[Judge, str], CardLine],
    rows: set[Judge],
    look: Style,
) -> None:
    """The columns' names above, with their unit, and the limits."""
    names = []
    for measure, width in zip(columns, widths, strict=True):
        units = {panels.scale(found[row, measure].estimate.unit)[1] for row in rows if (row, measure) in found}
        unit = units.pop() if len(units) == 1 else ""
        # More columns are narrower ones, in which names that stood beside each other would touch.
        letters = (13 if width == 1 else 10) - 3 * (len(columns) > WIDE)
        names.append("\n".join([*textwrap.wrap(measure, letters, break_long_words=False), UNITS.get(unit, unit)]))
    middles = [x + width / 2 for x, width in zip(left, widths, strict=False)]
    axes.set(xlim=(-0.02, left[-1]), ylim=(high + 1.3, 0))
    axes.set_xticks(middles, names, fontsize=_small(look))
    axes.tick_params(length=0, labelbottom=False, labeltop=True, labelleft=True)
    axes.spines[:].set_visible(False)
    axes.set_yticks([])


def _heading(axes: Axes, data: str, at: float, width: float, look: Style) -> None:
    """The source of data over its judges, under a rule."""
    words = panels.SOURCES.get(data, data)
    said = {"simulated": f"{words}: they test the instrument and say nothing of real models"}.get(data, words)
    weight = "bold" if data == "simulated" else "normal"
    how = {"color": panels.SOFT, "fontsize": "small", "fontweight": weight, "va": "center", "ha": "left"}
    axes.plot([-0.3 * width, width], [at, at], color=INK, linewidth=look.size / 12, clip_on=False)
    axes.text(0, at + HEADING / 2, said, **how)


def _judge(axes: Axes, judge: str, data: str, at: float, look: Style) -> None:
    name = comparisons.named(judge, JUDGE_CARD_LONGEST)
    how = {"style": "italic", "color": panels.SOFT} if data == "simulated" else {"color": INK}
    place = {"xytext": (-3, 0), "textcoords": "offset points", "ha": "right", "va": "center"}
    axes.annotate(name, (0, at + 0.5), fontsize=max(6.0, 0.88 * look.size), **place, **how)


def _cell(axes: Axes, line: CardLine, x: float, y: float, width: float, look: Style) -> None:
    from matplotlib.patches import Rectangle

    data = line.estimate.data
    ground, ink = (JUDGE_CARD_SIMULATED if data == "simulated" else JUDGE_CARD_REAL).get(line.verdict, ("none", INK))
    if ink == INK and (line.verdict in ("untold", "not shown") or data == "simulated"):
        ink = panels.SOFT if line.verdict != "hint" else INK
    if line.verdict != "described":
        edge = "#D0D0D0" if ground == "none" else "white"
        box = {"facecolor": ground, "edgecolor": edge, "linewidth": look.size / 18}
        axes.add_patch(Rectangle((x + 0.02, y + 0.05), width - 0.04, 0.9, **box))
    bounds, size = interval(line.estimate) if line.verdict != "described" else "", _small(look)
    value = f"{MARKS[line.verdict]} {number(line.estimate, unit=False)}".strip()
    weight = "bold" if line.verdict == "bias" else "normal"
    how = {"ha": "center", "va": "center", "color": ink}
    axes.text(x + width / 2, y + (0.31 if bounds else 0.5), value, fontsize=size, fontweight=weight, **how)
    if bounds:
        axes.text(x + width / 2, y + 0.71, bounds, fontsize=max(5.5, 0.85 * size), **how)


def _legend(axes: Axes, high: float, width: float, look: Style) -> None:
    words = "   ".join(f"{MARKS[verdict]} {meaning}" for verdict, meaning in MEANINGS.items())
    axes.plot([-0.3 * width, width], [high, high], color=INK, linewidth=look.size / 12, clip_on=False)
    axes.text(width, high + 0.7, words, fontsize=_small(look), color=INK, ha="right", va="center")


def _judge_card_caption(lines: Sequence[CardLine], chosen: Mapping[str, Sequence[str]]) -> str:
    words = (
        "Marks: the verdict of each experiment's own test after its own correction; below it the 95 % interval. "
        "Columns without marks only describe. Of several comparisons of a judge the gravest is shown, which selection "
        "makes look larger than it is; a hint is not corrected for how many there were. Self-preference is that of all "
        "judges of a vendor together."
    )
    left = [
        f"{len(judges) - len(chosen[data])} of {len(judges)} ({panels.SOURCES.get(data, data)})"
        for data, judges in ranked(lines).items()
        if len(judges) > len(chosen[data])
    ]
    if left:
        words += f" Left out, with less evidence or only described: {', '.join(left)}; the table has all."
    return words


def _told(found: Mapping[tuple[Judge, str], CardLine], data: str, judges: Sequence[str]) -> str:
    said = []
    for judge in judges:
        mine = [line for (who, _), line in found.items() if who == (data, judge) and line.verdict != "described"]
        facts = [f"{line.measure} {line.verdict} {line.estimate}" for line in mine]
        said.append(f"{judge}: {', '.join(facts) or 'only described'}")
    return f"{panels.SOURCES.get(data, data)}: {'; '.join(said)}."


#: Heights in lines: a row, and what the figure has beside its rows.
AUDIT_CARD_LINE, AUDIT_CARD_BESIDE = 2.7, 9.0
#: How much of the width the words beside the rows take.
WORDS = 0.62
AUDIT_CARD_LONGEST = 48
BAND = "#EFEFEF"


def show_audit_card(
    lines: Sequence[CardLine],
    sides: Mapping[str, str],
    said: Mapping[str, str],
    words: str,
    notes: Mapping[str, str] | None = None,
    style: str | Style = "paper",
    name: str = "card",
) -> Figure:
    """Which manipulations move this judge, and which would have been seen to?

    A row a line, in the order given; `sides` says by measure what is set against what, `said` by verdict what it is
    called, `notes` by measure what else belongs beside the number. `words` are the caption's: n, what could not be
    read, what the marks mean. The band of a row is what an effect must exceed to be found in 80 % of audits. No line,
    or lines of several judges, is a ValueError.
    """
    look = styles.style(style)
    if not lines:
        raise panels.NothingToDraw("no line for the card of an audit")
    judges, sources = {line.judge for line in lines}, {line.estimate.data for line in lines}
    if len(judges) > 1 or len(sources) > 1:
        raise ValueError(f"the card of an audit is of one judge, found {', '.join(sorted(judges))}")
    data = sources.pop()
    with settings(panels.at_file_resolution(look)):
        figure = canvas(look, look.text, (AUDIT_CARD_LINE * len(lines) + AUDIT_CARD_BESIDE) * look.size / 72)
        axes, beside = figure.subplots(1, 2, sharey=True, width_ratios=[1 - WORDS / 2, WORDS])
        _names(axes, lines, sides, look)
        reach = _reach(lines)
        for at, line in enumerate(lines):
            _row(axes, at, line, reach, look)
            _say(beside, at, line, said, (notes or {}).get(line.measure, ""), look)
        axes.set_xlim(-reach, reach)
        axes.set_xlabel("percentage points\n(an effect within the grey may be missed)")
        beside.set_axis_off()
        _title(figure, judges.pop(), data)
        shown = [line.estimate for line in lines]
        alt = panels.alt("Card of one audited judge", shown, {line.estimate.id: line.measure for line in lines})
        return finished(name, figure, words, f"{alt} {_verdicts(lines, said)}", look)


def _names(axes: Axes, lines: Sequence[CardLine], sides: Mapping[str, str], look: Style) -> None:
    """The probe and, below it in small print, what is set against what."""
    panels.rows(axes, [""] * len(lines))
    panels.reference(axes, 0.0)
    how = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points", "ha": "right", "va": "center"}
    for at, line in enumerate(lines):
        axes.annotate(line.measure, (0, at - 0.17), (-6, 0), **how)
        small = {"color": panels.SOFT, "fontsize": max(6.0, 0.72 * look.size)}
        axes.annotate(sides[line.measure], (0, at + 0.24), (-6, 0), **how, **small)


def _reach(lines: Sequence[CardLine]) -> float:
    """How far the axis goes to both sides, in pp: all intervals and bands, but no further than they can mean."""
    ends = [abs(end) for line in lines for end in (line.estimate.low, line.estimate.high, line.estimate.value)]
    known = [100 * end for end in (*ends, *(line.smallest for line in lines)) if not math.isnan(end)]
    return min(108.0, 1.08 * max(known, default=50.0)) or 50.0


def _row(axes: Axes, at: int, line: CardLine, reach: float, look: Style) -> None:
    each, colour = line.estimate, SIMULATED if line.estimate.data == "simulated" else REAL
    if not math.isnan(line.smallest):
        wide = min(100 * line.smallest, reach)
        axes.fill_betweenx([at - 0.38, at + 0.38], -wide, wide, color=BAND, linewidth=0, zorder=0)
    if math.isnan(each.value):
        return
    if not math.isnan(each.low):
        ends = [max(-reach, 100 * each.low), min(reach, 100 * each.high)]
        axes.plot(ends, [at, at], color=colour, linewidth=look.size / 8, zorder=2)
    fill = FILLS.get(line.verdict)
    how = {"fillstyle": fill, "markerfacecoloralt": "white"} if fill and fill != "none" else {}
    if fill == "none":
        how = {"markerfacecolor": "white"}
    marker = "o" if fill else "x"
    axes.plot(100 * each.value, at, marker, color=colour, markersize=0.62 * look.size, zorder=3, **how)


def _say(axes: Axes, at: int, line: CardLine, said: Mapping[str, str], note: str, look: Style) -> None:
    """Verdict and number beside the row, and a note."""
    biased = line.verdict == "bias"
    how = {"va": "center", "transform": axes.get_yaxis_transform()}
    hinted = " (a hint)" if line.verdict == "hint" else ""
    mark = f"{MARKS[line.verdict]} {said[line.verdict]}{hinted}"
    ink = INK if biased else panels.SOFT
    axes.text(0.02, at - 0.19, mark, fontweight="bold" if biased else "normal", color=ink, **how)
    bounds = interval(line.estimate)
    text = number(line.estimate) + (f"  ({bounds})" if bounds else "")
    if line.verdict in ("hint", "not shown") and not math.isnan(line.smallest):
        text += f"; found from {math.ceil(100 * line.smallest - 1e-9)} pp"  # up: below it less is found than told
    elif note:
        text += f"; {note}"
    axes.text(0.02, at + 0.22, text, fontsize=max(6.0, 0.78 * look.size), color=ink, **how)


def _title(figure: object, judge: str, data: str) -> None:
    name = plain(judge)
    shown = name if len(name) <= AUDIT_CARD_LONGEST else f"{name[: AUDIT_CARD_LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
    simulated = "  \N{EM DASH}  SIMULATED" if data == "simulated" else ""
    figure.suptitle(f"{shown}{simulated}", x=0.01, ha="left", fontweight="bold")  # type: ignore[attr-defined]


def _verdicts(lines: Sequence[CardLine], said: Mapping[str, str]) -> str:
    return "; ".join(f"{line.measure}: {said[line.verdict]}" for line in lines) + "."
