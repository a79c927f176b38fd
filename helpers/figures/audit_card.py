"""The card of one audited judge: a row a probe, its number with interval, and what would have been found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import cards, labels, panels
from helpers.figures import style as styles
from helpers.figures.cards import MARKS
from helpers.figures.judge_forest import FILLS, REAL, SIMULATED
from helpers.figures.style import INK, Figure, Style, canvas, finished, settings
from helpers.words import CardLine, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Heights in lines: a row, and what the figure has beside its rows.
LINE, BESIDE = 2.7, 9.0
#: How much of the width the words beside the rows take.
WORDS = 0.62
LONGEST = 48
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
    with settings(labels.at_file_resolution(look)):
        figure = canvas(look, look.text, (LINE * len(lines) + BESIDE) * look.size / 72)
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
        small = {"color": labels.SOFT, "fontsize": max(6.0, 0.72 * look.size)}
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
    ink = INK if biased else labels.SOFT
    axes.text(0.02, at - 0.19, mark, fontweight="bold" if biased else "normal", color=ink, **how)
    bounds = cards.interval(line.estimate)
    number = cards.number(line.estimate) + (f"  ({bounds})" if bounds else "")
    if line.verdict in ("hint", "not shown") and not math.isnan(line.smallest):
        number += f"; found from {math.ceil(100 * line.smallest - 1e-9)} pp"  # up: below it less is found than told
    elif note:
        number += f"; {note}"
    axes.text(0.02, at + 0.22, number, fontsize=max(6.0, 0.78 * look.size), color=ink, **how)


def _title(figure: object, judge: str, data: str) -> None:
    name = plain(judge)
    shown = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
    simulated = "  \N{EM DASH}  SIMULATED" if data == "simulated" else ""
    figure.suptitle(f"{shown}{simulated}", x=0.01, ha="left", fontweight="bold")  # type: ignore[attr-defined]


def _verdicts(lines: Sequence[CardLine], said: Mapping[str, str]) -> str:
    return "; ".join(f"{line.measure}: {said[line.verdict]}" for line in lines) + "."
