"""Figures of recognition and of the published replication."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import judges, panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, INK, Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

CHANGES = {"recognition_change": "recognition", "preference_change": "preference"}
#: An arm that is no number of words has no size.
WORDS = "*"
Changes = Mapping[tuple[str, str, str], Estimate]


def _changes(group: Sequence[Estimate]) -> Changes:
    return {(each.id, each.where["judge"], each.where["dose"]): each for each in group}


def show_recognition_against_preference(
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "recognition_against_preference",
) -> Figure:
    """Where an edit makes a judge know its own wrong answer less, does it also prefer that answer less?

    Takes `recognition_change` and `preference_change` (`where`: judge, dose; pp); one panel a judge, a marker a dose,
    larger for more words, both intervals. With more than 12 judges forest plots, sorted by the preference change at the
    smallest dose. Without `judge_vendors` a judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    estimates = list(estimates)
    given = {
        id: judges.pick(estimates, [id], ["judge", "dose"]) for id in CHANGES if any(e.id == id for e in estimates)
    }
    shown = [each for found in given.values() for each in found] or judges.pick(
        estimates, list(CHANGES), ["judge", "dose"]
    )
    with settings(panels.at_file_resolution(look)):
        if not shown:
            return judges.not_asked("Recognition and preference", estimates, look, name)
        sources = panels.by_data(shown)
        doses = judges.dose_order(each.where["dose"] for each in shown)
        drawn = judges.looks({each.where["judge"] for each in shown}, judge_vendors, look)
        words = (
            "Change in how often a judge names its own wrong answer when asked which of the two it wrote (recognition, "
            "edited minus unedited) against the change in how often it picks that answer as the right one (preference, "
            "edited minus asked again), by the number of words replaced. Dashed: no change. Changes that go together "
            "do not show that one makes the other."
        )
        if judges.few(sources):
            figure = _panels(sources, doses, drawn, look)
            words += " Joined in the order of doses, beginning unedited."
        else:
            figure = _forest(sources, doses, drawn, look)
            words += " Sorted by the preference change at the first dose shown."
        text = panels.alt("Recognition change and preference change by judge and dose", shown, CHANGES, 72)
        return finished(name, figure, judges.caption(words, shown, estimates), text, look)


def _sizes(doses: Sequence[str], look: Style) -> dict[str, float]:
    """The size of each dose's marker in points, from 0.55 to 1.05 letter heights."""
    numbers = [dose for dose in doses if dose.isdigit()]
    step = 0.5 / max(len(numbers) - 1, 1)
    return {d: look.size * (0.55 + step * numbers.index(d) if d in numbers else 0.9) for d in doses}


def _legend(figure: Canvas, doses: Sequence[str], look: Style) -> None:
    from matplotlib.lines import Line2D

    sizes = _sizes(doses, look)
    handles = [
        Line2D([], [], color=INK, linestyle="", marker="o" if dose.isdigit() else WORDS, markersize=sizes[dose],
               label=panels.short(dose, 12))
        for dose in doses
    ]  # fmt: skip
    judges.legend(figure, look, handles, "words replaced")


def _panels(
    sources: Mapping[str, list[Estimate]], doses: Sequence[str], drawn: Mapping[str, Look], look: Style
) -> Canvas:
    changes = {source: _changes(group) for source, group in sources.items()}
    figure, axes_of = judges.grid(look, sources, drawn)
    notes = {}
    for (source, judge), axes in axes_of.items():
        panels.reference(axes, 0)
        panels.reference(axes, 0, upright=True)
        at = changes[source]
        both = {dose: [at.get((id, judge, dose)) for id in CHANGES] for dose in doses}
        known = {d: pair for d, pair in both.items() if all(e and not math.isnan(e.value) for e in pair)}
        if not any(recognition for recognition, _ in both.values()):
            notes[axes] = "recognition:\nnot asked"
        elif lost := [dose for dose, pair in both.items() if any(pair) and dose not in known]:
            notes[axes] = "not estimable" if not known else f"not estimable:\n{panels.short(', '.join(lost), 14)}"
        joined = [(0.0, 0.0), *([100 * e.value for e in pair] for d, pair in known.items() if d.isdigit())]
        thin = axes.spines["left"].get_linewidth()
        axes.plot(*zip(*joined, strict=True), color=drawn[judge].colour, linewidth=thin, alpha=0.6, zorder=1.5)
        for dose, pair in known.items():
            marker = drawn[judge].marker if dose.isdigit() else WORDS
            _cross(axes, pair, Look(drawn[judge].colour, marker), _sizes(doses, look)[dose])
        axes.grid(axis="both")
    axes.locator_params(axis="x", nbins=3)
    axes.locator_params(axis="y", nbins=4)
    axes.margins(0.08)
    # Panels without a point still show a scale that means something.
    axes.update_datalim([(-5, -5), (5, 5)])
    axes.autoscale_view()
    judges.footnotes(notes)
    figure.supxlabel("recognition change (pp)", fontsize=look.size)
    figure.supylabel("preference change (pp)", fontsize=look.size)
    _legend(figure, doses, look)
    return figure


def _cross(axes: Axes, pair: Sequence[Estimate], look: Look, size: float) -> None:
    """A point with an interval in each direction; open where one of them is missing."""
    (x, across), (y, up) = (
        (100 * each.value, None if math.isnan(each.low) else [100 * each.low, 100 * each.high]) for each in pair
    )
    if across:
        axes.plot(across, [y, y], color=look.colour, zorder=2)
    if up:
        axes.plot([x, x], up, color=look.colour, zorder=2)
    face, edge = (look.colour, "white") if across and up else ("white", look.colour)
    marker = {"markerfacecolor": face, "markeredgecolor": edge, "markeredgewidth": 0.7, "markersize": size}
    axes.plot(x, y, look.marker, zorder=3, **marker)


def _forest(
    sources: Mapping[str, list[Estimate]], doses: Sequence[str], drawn: Mapping[str, Look], look: Style
) -> Canvas:
    changes, order, sizes = {}, {}, _sizes(doses, look)
    for source, group in sources.items():
        changes[source] = _changes(group)
        first = {judge: each.value for (id, judge, dose), each in changes[source].items()
                 if id == "preference_change" and dose == doses[0]}  # fmt: skip
        order[source] = judges.by_value({each.where["judge"] for each in group}, first)
    figure, columns = judges.forest(look, order, list(CHANGES.values()), 0.9 + 0.6 * len(doses))
    for source, row in columns.items():
        for axes, id in zip(row, CHANGES, strict=True):
            panels.reference(axes, 0)
            for i, judge in enumerate(order[source]):
                here = [changes[source].get((id, judge, dose)) for dose in doses]
                if all(each is None or math.isnan(each.value) for each in here):
                    panels.note(axes, i, "not estimable" if any(here) else "not asked")
                    continue
                for j, (dose, each) in enumerate(zip(doses, here, strict=True)):
                    at = i + 0.7 * ((j + 0.5) / len(doses) - 0.5)
                    if each is None or math.isnan(each.value):
                        continue
                    panels.dot(axes, at, each, drawn[judge] if dose.isdigit() else Look(drawn[judge].colour, WORDS))
                    axes.lines[-1].set_markersize(sizes[dose])
    figure.supxlabel("change (pp)", fontsize=look.size)
    _legend(figure, doses, look)
    return figure


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
    with settings(panels.at_file_resolution(look)):
        from matplotlib.lines import Line2D

        figure = canvas(look, look.text, (2.2 * len(rows) + 9) * look.size / 72)
        row = figure.subplots(1, len(COLUMNS), sharey=True)
        for axes, (id, title) in zip(row, COLUMNS.items(), strict=True):
            panels.rows(axes, [panels.short(f"{run}, {records}", 34) for run, records in rows])
            axes.set_title(title, loc="left")
            for i, place in enumerate(rows):
                if not any((id, *place, phase) in at for phase in PHASES):
                    panels.note(axes, i, "not published")
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
