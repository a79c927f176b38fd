"""The figure of the published replication: the same edit, seen through each comparison that was made of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from helpers.figures import judges, labels, panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate

#: The two numbers that the source gave one name, with what they are.
COLUMNS = {
    "harmful_self_preference_rate": "own answer picked,\nof pairs where it is wrong",
    "wrong_of_self_selected": "own answer wrong,\nof pairs where it is picked",
}
PHASES = {"before": Look(GREY, "o"), "after": Look(COLOURS[4], "D")}


def show_replication(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "replication") -> Figure:
    """Which way does the published edit of two words go, by what was compared and by which definition?

    Takes `harmful_self_preference_rate` and `wrong_of_self_selected` (`where`: run, records, phase "before" | "after");
    a row for each run and kind of records, a panel for each of the two.
    """
    look = styles.style(style)
    keys = {"run", "records", "phase"}
    # The same ids stand for single judges and opponents too; the picture is of the totals.
    totals = [each for each in estimates if each.id not in COLUMNS or set(each.where) == keys]
    shown = [each for id in COLUMNS for each in panels.pick(totals, [id], sorted(keys))]
    odd = sorted({each.where["phase"] for each in shown} - set(PHASES))
    if odd:
        raise ValueError(f"phase {', '.join(odd)}; there are: {', '.join(PHASES)}")
    at = {(each.id, each.where["run"], each.where["records"], each.where["phase"]): each for each in shown}
    rows = list(dict.fromkeys((each.where["run"], each.where["records"]) for each in shown))
    with settings(labels.at_file_resolution(look)):
        from matplotlib.lines import Line2D

        figure = canvas(look, look.text, (2.2 * len(rows) + 9) * look.size / 72)
        row = figure.subplots(1, len(COLUMNS), sharey=True)
        for axes, (id, title) in zip(row, COLUMNS.items(), strict=True):
            panels.rows(axes, [labels.short(f"{run}, {records}", 34) for run, records in rows])
            axes.set_title(title, loc="left")
            for i, place in enumerate(rows):
                if not any((id, *place, phase) in at for phase in PHASES):
                    labels.note(axes, i, "not published")
                for shift, (phase, marker) in zip((-0.17, 0.17), PHASES.items(), strict=True):
                    if (id, *place, phase) in at:
                        panels.dot(axes, i + shift, at[id, *place, phase], marker)
            ends = [100 * x for each in shown if each.id == id for x in (each.value, each.high) if not math.isnan(x)]
            axes.set_xlim(-2, min(102, max(ends, default=100) + 6))
        panels.title(row[-1], shown[0].data, False, beside=True)
        figure.supxlabel("%", fontsize=look.size)
        handles = [
            Line2D([], [], color=each.colour, marker=each.marker, label=f"{phase} two words were replaced")
            for phase, each in PHASES.items()
        ]
        judges.legend(figure, look, handles)
        words = (
            "The same remedy, by what was compared (rows) and by the two definitions that the source used in turn "
            "(columns). Greedy and raw: four judges, one opponent, two sets of answers; official: one judge, five "
            "opponents. Filtered before: the same pairs, chosen since their orders agreed before the edit, with one "
            "order after it; before and after: those of them whose orders agreed again; each time: other pairs in each "
            "phase; unfiltered: the same pairs, one order. No row has a repeat without an edit or another judge beside "
            "it. The scales differ."
        )
        text = panels.alt("Dot plot of two rates before and after an edit, by run and kind of records", shown, most=48)
        return finished(
            name, figure, panels.caption(words, shown).replace("judgments a point", "pairs a point"), text, look
        )
