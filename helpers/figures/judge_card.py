"""The judge card: judges as rows, measures as columns, a mark that is read without colour in each cell."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import cards, comparisons, labels, panels
from helpers.figures import style as styles
from helpers.figures.cards import MARKS, MEANINGS
from helpers.figures.style import INK, Figure, Style, canvas, finished, settings
from helpers.words import CardLine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Ground and ink of a cell by verdict: of real judges in colour, of simulated ones in grey; dark is worse in print too.
REAL = {"bias": ("#A63603", "white"), "hint": ("#FDD9B5", INK)}
SIMULATED = {"bias": ("#5A5A5A", "white"), "hint": ("#DCDCDC", INK)}
#: Height of a row and of a source's heading, width of a column that only describes, in rows and columns.
HEADING, NARROW = 0.8, 0.82
LONGEST = 22
#: So many columns have room for names of two words in one line.
WIDE = 9


def show_judge_card(
    lines: Sequence[CardLine], most: int = cards.MOST, style: str | Style = "paper", name: str = "judge_card"
) -> Figure:
    """Which judge should be distrusted for what?

    A row a judge, of each source of data at most `most` with the strongest evidence (published first), a column a
    measure; a cell holds mark, number and interval, of several experiments' the gravest. Simulated judges are grey
    under their own heading. No line is a ValueError (`panels.NothingToDraw`).
    """
    look = styles.style(style)
    if not lines:
        raise panels.NothingToDraw("no line for a judge card")
    found, chosen = cards.cells(lines), cards.shown(lines, most)
    rows = {(data, judge) for data, judges in chosen.items() for judge in judges}
    columns = [m for m in cards.measures(lines) if any((row, m) in found for row in rows)]
    judged = {m for m in columns if any(found[row, m].verdict != "described" for row in rows if (row, m) in found)}
    widths = [1.0 if measure in judged else NARROW for measure in columns]
    high = sum(len(judges) + HEADING for judges in chosen.values())
    row = 2.3 * _small(look) / 72
    with settings(labels.at_file_resolution(look)):
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
        words = _caption(lines, chosen)
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
    found: Mapping[tuple[cards.Judge, str], CardLine],
    rows: set[cards.Judge],
    look: Style,
) -> None:
    """The columns' names above, with their unit, and the limits."""
    names = []
    for measure, width in zip(columns, widths, strict=True):
        units = {panels.scale(found[row, measure].estimate.unit)[1] for row in rows if (row, measure) in found}
        unit = units.pop() if len(units) == 1 else ""
        # More columns are narrower ones, in which names that stood beside each other would touch.
        letters = (13 if width == 1 else 10) - 3 * (len(columns) > WIDE)
        names.append("\n".join([*textwrap.wrap(measure, letters, break_long_words=False), cards.UNITS.get(unit, unit)]))
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
    how = {"color": labels.SOFT, "fontsize": "small", "fontweight": weight, "va": "center", "ha": "left"}
    axes.plot([-0.3 * width, width], [at, at], color=INK, linewidth=look.size / 12, clip_on=False)
    axes.text(0, at + HEADING / 2, said, **how)


def _judge(axes: Axes, judge: str, data: str, at: float, look: Style) -> None:
    name = comparisons.named(judge, LONGEST)
    how = {"style": "italic", "color": labels.SOFT} if data == "simulated" else {"color": INK}
    place = {"xytext": (-3, 0), "textcoords": "offset points", "ha": "right", "va": "center"}
    axes.annotate(name, (0, at + 0.5), fontsize=max(6.0, 0.88 * look.size), **place, **how)


def _cell(axes: Axes, line: CardLine, x: float, y: float, width: float, look: Style) -> None:
    from matplotlib.patches import Rectangle

    data = line.estimate.data
    ground, ink = (SIMULATED if data == "simulated" else REAL).get(line.verdict, ("none", INK))
    if ink == INK and (line.verdict in ("untold", "not shown") or data == "simulated"):
        ink = labels.SOFT if line.verdict != "hint" else INK
    if line.verdict != "described":
        edge = "#D0D0D0" if ground == "none" else "white"
        box = {"facecolor": ground, "edgecolor": edge, "linewidth": look.size / 18}
        axes.add_patch(Rectangle((x + 0.02, y + 0.05), width - 0.04, 0.9, **box))
    bounds, size = cards.interval(line.estimate) if line.verdict != "described" else "", _small(look)
    value = f"{MARKS[line.verdict]} {cards.number(line.estimate, unit=False)}".strip()
    weight = "bold" if line.verdict == "bias" else "normal"
    how = {"ha": "center", "va": "center", "color": ink}
    axes.text(x + width / 2, y + (0.31 if bounds else 0.5), value, fontsize=size, fontweight=weight, **how)
    if bounds:
        axes.text(x + width / 2, y + 0.71, bounds, fontsize=max(5.5, 0.85 * size), **how)


def _legend(axes: Axes, high: float, width: float, look: Style) -> None:
    words = "   ".join(f"{MARKS[verdict]} {meaning}" for verdict, meaning in MEANINGS.items())
    axes.plot([-0.3 * width, width], [high, high], color=INK, linewidth=look.size / 12, clip_on=False)
    axes.text(width, high + 0.7, words, fontsize=_small(look), color=INK, ha="right", va="center")


def _caption(lines: Sequence[CardLine], chosen: Mapping[str, Sequence[str]]) -> str:
    words = (
        "Marks: the verdict of each experiment's own test after its own correction; below it the 95 % interval. "
        "Columns without marks only describe. Of several comparisons of a judge the gravest is shown, which selection "
        "makes look larger than it is; a hint is not corrected for how many there were. Self-preference is that of all "
        "judges of a vendor together."
    )
    left = [
        f"{len(judges) - len(chosen[data])} of {len(judges)} ({panels.SOURCES.get(data, data)})"
        for data, judges in cards.ranked(lines).items()
        if len(judges) > len(chosen[data])
    ]
    if left:
        words += f" Left out, with less evidence or only described: {', '.join(left)}; the table has all."
    return words


def _told(found: Mapping[tuple[cards.Judge, str], CardLine], data: str, judges: Sequence[str]) -> str:
    said = []
    for judge in judges:
        mine = [line for (who, _), line in found.items() if who == (data, judge) and line.verdict != "described"]
        facts = [f"{line.measure} {line.verdict} {line.estimate}" for line in mine]
        said.append(f"{judge}: {', '.join(facts) or 'only described'}")
    return f"{panels.SOURCES.get(data, data)}: {'; '.join(said)}."
