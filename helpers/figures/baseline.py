"""The figure of controls without any edit: does a judge defend its own wrong answer, or any answer of that kind?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from helpers.figures import judges, labels, panels
from helpers.figures import style as styles
from helpers.figures.style import Figure, Look, Style, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Columns: (id, stratum) with their titles, short since five stand side by side.
NAIVE = ("naive_harmful_rate", "")
PRIMARY = ("evaluator_quality_gap", "same label")
COLUMNS = {
    NAIVE: "own wrong\nanswer\npicked",
    PRIMARY: "minus\nother's,\nsame label",
    ("evaluator_quality_gap", "other label"): "minus\nother's,\nother label",
    ("evaluator_quality_gap", "all"): "minus\nother's,\nall",
    ("same_text_other_judges", ""): "minus\nother\njudges",
}


def show_baseline_gap(
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "baseline_gap",
) -> Figure:
    """What is left of a judge's votes for its own wrong answer beside the same belief and beside the same text?

    Takes `naive_harmful_rate` (`where`: judge; rate), `evaluator_quality_gap` (judge, stratum; pp) and
    `same_text_other_judges` (judge; pp): one row a judge, a column each, judges sorted by the gap of the same label.
    Without `judge_vendors` a judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    estimates = list(estimates)
    shown = [
        each
        for id in ("naive_harmful_rate", "evaluator_quality_gap", "same_text_other_judges")
        if any(e.id == id for e in estimates)
        for each in panels.pick(estimates, [id], ["judge", "stratum"] if id == PRIMARY[0] else ["judge"])
    ]
    shown = shown or panels.pick(estimates, ["evaluator_quality_gap"], ["judge", "stratum"])
    odd = sorted({each.where["stratum"] for each in shown if _column(each) not in COLUMNS})
    if odd:
        raise ValueError(f"evaluator_quality_gap: stratum {', '.join(odd)}; there are: same label, other label, all")
    with settings(labels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        drawn = judges.looks({each.where["judge"] for each in shown}, judge_vendors, look)
        at = {(each.data, each.where["judge"], *_column(each)): each for each in shown}
        order = {
            source: judges.by_value(
                {each.where["judge"] for each in group},
                {each.where["judge"]: each.value for each in group if _column(each) == PRIMARY},
            )
            for source, group in sources.items()
        }
        figure, rows = judges.forest(look, order, list(COLUMNS.values()), 1.75, alike=False)
        for source, row in rows.items():
            for axes, column in zip(row, COLUMNS, strict=True):
                for i, judge in enumerate(order[source]):
                    _point(axes, i, at.get((source, judge, *column)), drawn[judge])
                if column != NAIVE:
                    panels.reference(axes, 0)
                if axes.get_subplotspec().is_last_row():
                    axes.set_xlabel("%" if column == NAIVE else "pp")
        _limits([row[0] for row in rows.values()], [row[1:] for row in rows.values()], shown)
        words = (
            "First column: how often a judge picks its own wrong answer, whatever makes it. Then the same minus its "
            "votes for another vendor's wrong answer to the same question that names the same option (the primary "
            "comparison), another option, or any; last, minus the votes of other judges for the same text. Dashed: no "
            "difference. Sorted by the primary comparison; exploratory."
        )
        text = panels.alt(
            "Forest plots of votes for the own wrong answer and of their controls, by judge", shown, most=72
        )
        return finished(name, figure, judges.caption(words, shown, estimates), text, look)


def _column(each: Estimate) -> tuple[str, str]:
    return each.id, each.where.get("stratum", "")


def _point(axes: Axes, at: float, each: Estimate | None, look: Look) -> None:
    """A point with its interval, or a dash: five columns have no room for words."""
    if each is not None and math.isnan(each.value):
        labels.note(axes, at, panels.NOT_ESTIMABLE)
    else:
        panels.dot(axes, at, each, look)


def _limits(naive: Sequence[Axes], differences: Sequence[Sequence[Axes]], shown: Sequence[Estimate]) -> None:
    """Rates from 0 to 100, all differences over the same pp."""
    for axes in naive:
        axes.set_xlim(-8, 108)
        axes.set_xticks([0, 100])
    ends = [100 * x for each in shown if each.unit == "pp" for x in (each.low, each.value, each.high)]
    known = [0.0, *(x for x in ends if not math.isnan(x))]
    low, high = min(known), max(known)
    whole = high - low or 1.0
    # At most three ticks: their numbers must not touch.
    step = next((step for step in (50, 20, 10, 5, 2) if step <= max(-low, high)), 1)
    ticks = [tick for tick in (-step, 0, step) if low - 0.08 * whole <= tick <= high + 0.08 * whole]
    for axes in (axes for row in differences for axes in row):
        axes.set_xlim(low - 0.08 * whole, high + 0.08 * whole)
        axes.set_xticks(ticks)
