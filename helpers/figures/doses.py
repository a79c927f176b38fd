"""The figure of doses: whether more words replaced hide more of the authorship."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import judges, labels, panels
from helpers.figures import style as styles
from helpers.figures.style import Figure, Look, Style, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def show_dose_curve(
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "dose_curve",
) -> Figure:
    """Does an effect of hiding the authorship grow with the number of words that are replaced?

    Takes `obfuscation_effect` (`where`: judge, dose; "paraphrase" stands apart), in one unit; one panel a judge, with
    more than 12 judges forest plots, one a dose, sorted by the effect at the smallest. 0 words is the repeat arm, whose
    effect is 0 by definition and has no interval. Without `judge_vendors` a vendor is the one that the name contains.
    """
    look = styles.style(style)
    estimates = list(estimates)
    shown = judges.pick(estimates, ["obfuscation_effect"], ["judge", "dose"])
    units = sorted({each.unit for each in shown})
    if len(units) > 1:
        raise ValueError(f"obfuscation_effect comes in several units ({', '.join(units)}); one axis shows one")
    with settings(labels.at_file_resolution(look)):
        if not shown:
            return judges.not_asked("Effects of edits", estimates, look, name)
        sources = panels.by_data(shown)
        doses = judges.dose_order(each.where["dose"] for each in shown)
        drawn = judges.looks({each.where["judge"] for each in shown}, judge_vendors, look)
        words = (
            "How much more an edit of its own wrong answer turns a judge to the right one than it turns judges of a "
            "third vendor on the same texts, by the number of words replaced. Dashed: no effect beyond what the edit "
            "does to them."
        )
        if doses[0].isdigit():
            words += f" The smallest dose ({doses[0]} words) is the confirmatory one, the others are exploratory."
        axis = f"effect of the edit ({panels.scale(units[0])[1]})"
        if judges.few(sources):
            places, to_scale = _places(doses)
            figure = _curves(sources, places, drawn, look)
            figure.supylabel(axis, fontsize=look.size)
            words += " 0 words: asked again unedited, zero by definition (open, without an interval)."
            words += "" if to_scale else " The steps between doses are not to scale."
        else:
            figure = _dose_forest(sources, doses, drawn, look)
            figure.supxlabel(axis, fontsize=look.size)
            words += f" Sorted by the effect at the first dose shown ({doses[0]})."
        text = panels.alt("Effect of editing the own wrong answer by judge and number of words", shown, most=60)
        return finished(name, figure, judges.caption(words, shown, estimates), text, look)


def _places(doses: Sequence[str]) -> tuple[dict[str, float], bool]:
    """Where each dose stands along x, "0" first, and whether its numbers are to scale: not where they would touch."""
    numbers = ["0", *(dose for dose in doses if dose.isdigit() and int(dose))]
    others = [dose for dose in doses if not dose.isdigit()]
    widest = int(numbers[-1])
    slot = widest / 6 if widest else 1.0
    gaps = [int(b) - int(a) for a, b in itertools.pairwise(numbers)]
    if gaps and min(gaps) < slot:
        return {dose: float(i) for i, dose in enumerate([*numbers, *others])}, False
    places = {dose: float(dose) for dose in numbers}
    return places | {dose: widest + 2 * slot * (i + 1) for i, dose in enumerate(others)}, True


def _curves(
    sources: Mapping[str, list[Estimate]], places: Mapping[str, float], drawn: Mapping[str, Look], look: Style
) -> Canvas:
    figure, axes_of = judges.grid(look, sources, drawn)
    notes = {}
    for (source, judge), axes in axes_of.items():
        at = {each.where["dose"]: each for each in sources[source] if each.where["judge"] == judge}
        known = {dose: each for dose, each in at.items() if not math.isnan(each.value)}
        zero = Estimate("obfuscation_effect", {"judge": judge, "dose": "0"}, 0.0, unit=next(iter(at.values())).unit)
        panels.reference(axes, 0, upright=True)
        # Points without an interval are not joined: a line would pass noise off as a course.
        sure = [dose for dose in places if dose in known and dose.isdigit() and not math.isnan(known[dose].low)]
        line = {"0": zero} | {dose: known[dose] for dose in sure}
        heights = [panels.scale(each.unit)[0] * each.value for each in line.values()]
        thin = axes.spines["left"].get_linewidth()
        axes.plot([places[d] for d in line], heights, color=drawn[judge].colour, linewidth=thin, alpha=0.6, zorder=1.5)
        for dose, each in {"0": zero, **known}.items():
            panels.dot(axes, places[dose], each, drawn[judge], upright=True)
        if lost := [dose for dose in places if dose in at and dose not in known]:
            notes[axes] = "not estimable" if not known else f"not estimable: {', '.join(lost)}"
        axes.grid(axis="y")
    slot = max(places.values()) / 8 or 0.5
    axes.set_xlim(-slot, max(places.values()) + slot)
    # Words stand a line lower: they are wider than the room of a number.
    words = [dose if dose.isdigit() else f"\n{labels.short(dose, 12)}" for dose in places]
    axes.set_xticks(list(places.values()), words)
    axes.locator_params(axis="y", nbins=5)
    judges.footnotes(notes)
    figure.supxlabel("words replaced", fontsize=look.size)
    return figure


def _dose_forest(
    sources: Mapping[str, list[Estimate]], doses: Sequence[str], drawn: Mapping[str, Look], look: Style
) -> Canvas:
    order = {}
    for source, group in sources.items():
        first = {each.where["judge"]: each.value for each in group if each.where["dose"] == doses[0]}
        order[source] = judges.by_value({each.where["judge"] for each in group}, first)
    titles = [f"{dose} words" if dose.isdigit() else labels.short(dose, 10) for dose in doses]
    figure, columns = judges.forest(look, order, titles)
    for source, row in columns.items():
        at = {(each.where["judge"], each.where["dose"]): each for each in sources[source]}
        for axes, dose in zip(row, doses, strict=True):
            panels.reference(axes, 0)
            for i, judge in enumerate(order[source]):
                panels.dot(axes, i, at.get((judge, dose)), drawn[judge])
    return figure
