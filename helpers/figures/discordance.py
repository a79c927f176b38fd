"""What published margins leave open: the p-value of a difference as the unpublished pairing would decide it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers.figures import labels, panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, INK, Figure, Style, canvas, finished, settings
from helpers.words import p_text

if TYPE_CHECKING:
    import pandas as pd

#: No vendor of the published runs has these colours; dashes and markers tell lines apart where colours do not.
LINES = (
    (COLOURS[6], (0, ()), "o"),
    (COLOURS[5], (0, (5, 2)), "s"),
    (COLOURS[3], (0, (1, 1.2)), "^"),
    (INK, (0, (5, 1.5, 1, 1.5)), "D"),
    (COLOURS[4], (0, (9, 3)), "v"),
    (GREY, (0, (3, 1, 1, 1, 1, 1)), "P"),
    (COLOURS[8], (0, (2, 4)), "X"),
)
LEVEL = 0.05


def show_discordance(
    curves: pd.DataFrame,
    data: str = "published",
    style: str | Style = "paper",
    name: str = "discordance",
) -> Figure:
    """Which p-value would the difference to no hint have, had so many pairs of verdicts changed?

    Takes one row a point (columns: `hint`; `share`, of pairs whose own-vendor first place differs, 0 to 1; `p`). A line
    begins at the smallest share that the margins allow. With a column `changed` (the number of these pairs) the caption
    says how many pairs a line counts.
    """
    look = styles.style(style)
    lacking = [column for column in ("hint", "share", "p") if column not in curves]
    if lacking or curves.empty:
        there = ", ".join(map(str, curves.columns))
        raise ValueError(f"curves need rows with hint, share and p; given: {len(curves)} rows of {there or 'nothing'}")
    known = curves.dropna(subset=["share", "p"])
    hints = labels.ordered(curves["hint"])
    lines = {hint: known[known["hint"] == hint].sort_values("share") for hint in hints}
    outside = known[~known["share"].between(0, 1) | ~known["p"].between(0, 1)]
    if len(outside):
        raise ValueError(f"share and p lie between 0 and 1; row {outside.index[0]} has {dict(outside.iloc[0])}")
    with settings(labels.at_file_resolution(look)):
        figure = canvas(look, look.column, (23 + len(hints)) * look.size / 72)
        axes = figure.subplots()
        for i, (hint, line) in enumerate(lines.items()):
            colour, dash, marker = LINES[i % len(LINES)]
            shown = labels.short(hint, 24) + ("" if len(line) else " (not estimable)")
            axes.plot(
                100 * line["share"],
                line["p"],
                color=colour,
                linestyle=dash,
                marker=marker,
                # A marker at other places of each line, so that none hides another.
                markevery=(0.03 * i, 0.2),
                markeredgecolor="white",
                markeredgewidth=0.7,
                label=shown,
            )
        panels.reference(axes, LEVEL, upright=True)
        axes.set(xlim=(0, 100), ylim=(-0.02, 1.02), xlabel="pairs whose verdict changed (%), not published")
        axes.set_ylabel("p of the difference to none")
        ticks = [LEVEL, 0.25, 0.5, 0.75, 1]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.grid(axis="x")
        panels.title(axes, data, False)
        widest = max(len(line.get_label()) for line in axes.lines if not line.get_label().startswith("_"))
        # A line and its name take about nine letters more than the name.
        columns = 2 if 2 * (widest + 9) * labels.LETTER * look.size < look.column * 72 else 1
        figure.legend(loc="outside upper left", ncols=columns, frameon=False, handlelength=4)
        source = panels.SOURCES.get(data, data)
        words = (
            "p-value of the difference between each hint and none, as a function of the share of pairs (same question, "
            "same judge) of which one verdict put the own vendor first and the other did not. The margins do not tell "
            "that share; a line begins at the smallest that they allow. Dashed: p = 0.05. Where a line lies on both "
            "sides of it, the margins settle neither a difference nor its absence. The p-values take pairs as "
            "independent, which the judges of one question are not."
        )
        counts = (known["changed"] / known["share"]).round() if "changed" in known else ()
        n = f" (n = {', '.join(f'{count:.0f}' for count in sorted(set(counts)))} pairs a line)" if len(counts) else ""
        words += f" Data: {source}{n}; a p-value has no interval."
        text = f"Line plot of p against the share of changed verdicts, {source}. "
        text += " ".join(_told(hint, line) for hint, line in lines.items())
        return finished(name, figure, words, text, look)


def _told(hint: str, line: pd.DataFrame) -> str:
    """One line in words: where it begins and ends, and up to which share it stays below the level."""
    if line.empty:
        return f"{hint}: not estimable."
    first, last = line.iloc[0], line.iloc[-1]
    below = line[line["p"] < LEVEL]["share"]
    crossed = f"below {LEVEL} up to a share of {100 * below.max():.1f} %" if len(below) else f"nowhere below {LEVEL}"
    return (
        f"{hint}: p {p_text(first['p'])} at {100 * first['share']:.1f} % to p {p_text(last['p'])} at "
        f"{100 * last['share']:.1f} %, {crossed}."
    )
