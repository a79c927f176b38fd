"""The figure of edited answers: what an edit of its own wrong answer does to a judge, beside what it does to others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import judges, labels, panels
from helpers.figures import style as styles
from helpers.figures.style import GREY, INK, Figure, Look, Style, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

OWN, THIRD = "own", "third party"
ARMS = {"repeat": "again", "edited": "edited"}
#: Other judges have no vendor of their own to be coloured by.
OTHERS = Look(GREY, "h")
Scores = Mapping[tuple[str, str, str], Estimate]


def _scores(group: Sequence[Estimate]) -> Scores:
    return {(each.where["judge"], each.where["by"], each.where["arm"]): each for each in group}


def show_obfuscation_slopes(
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "obfuscation_slopes",
) -> Figure:
    """Does an edit of its own wrong answer turn a judge to the right one, and other judges of the same texts as well?

    Takes `harmful_score` (`where`: judge, by "own" | "third party", arm "repeat" | "edited"; rates, share of right
    picks); one panel a judge, with more than 12 judges forest plots sorted by the change of the judge itself. Without
    `judge_vendors` a judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    estimates = list(estimates)
    shown = judges.pick(estimates, ["harmful_score"], ["judge", "by", "arm"])
    allowed = {f"{by}, {arm}" for by in (OWN, THIRD) for arm in ARMS}
    odd = sorted({f"{each.where['by']}, {each.where['arm']}" for each in shown} - allowed)
    if odd:
        raise ValueError(f"harmful_score: {'; '.join(odd)}; by is own or third party, arm is repeat or edited")
    with settings(labels.at_file_resolution(look)):
        if not shown:
            return judges.not_asked("Verdicts on edited answers", estimates, look, name)
        sources = panels.by_data(shown)
        drawn = judges.looks({each.where["judge"] for each in shown}, judge_vendors, look)
        if judges.few(sources):
            figure, form = _slopes(sources, drawn, look), "Paired slopes"
        else:
            figure, form = _slope_forest(sources, drawn, look), "Forest plots"
        words = (
            "How often the right answer is picked of pairs in which the judge's own answer is the wrong one: asked "
            "again unedited (again) and with words of that wrong answer replaced, at the smallest dose (edited). "
            "Coloured: the judge itself; grey: judges of a third vendor on the same texts. What both do is what the "
            "edit does to any reader. Intervals are those of each rate alone; the paired difference is shown elsewhere."
        )
        if not judges.few(sources):
            words += " Sorted by the judge's own change; filled grey circles: again."
        text = panels.alt(f"{form} of right picks on items with an own wrong answer, by judge and arm", shown, most=48)
        return finished(name, figure, judges.caption(words, shown, estimates), text, look)


def _slopes(sources: Mapping[str, list[Estimate]], drawn: Mapping[str, Look], look: Style) -> Canvas:
    from matplotlib.lines import Line2D

    scores = {source: _scores(group) for source, group in sources.items()}
    figure, axes_of = judges.grid(look, sources, drawn)
    notes = {}
    for (source, judge), axes in axes_of.items():
        missing = []
        for by, own, shift, dash in ((OWN, drawn[judge], -0.06, "-"), (THIRD, OTHERS, 0.06, (0, (3, 2)))):
            pair = [scores[source].get((judge, by, arm)) for arm in ARMS]
            known = {i + shift: each for i, each in enumerate(pair) if each and not math.isnan(each.value)}
            axes.plot(
                list(known), [100 * e.value for e in known.values()], color=own.colour, linestyle=dash, zorder=1.5
            )
            for at, each in known.items():
                panels.dot(axes, at, each, own, upright=True)
            if len(known) < 2:
                why = "not estimable" if any(pair) else "not asked"
                missing.append(f"{'itself' if by == OWN else 'others'}: {why}")
        if missing:
            notes[axes] = "\n".join(missing)
        axes.set(xlim=(-0.4, 1.4), ylim=(-4, 104))
        axes.set_xticks(range(len(ARMS)), list(ARMS.values()))
        axes.set_yticks([0, 50, 100])
        axes.grid(axis="y")
    judges.footnotes(notes)
    figure.supylabel("right answer picked (%)", fontsize=look.size)
    handles = [
        Line2D([], [], color=INK, label="the judge itself"),
        Line2D([], [], color=GREY, linestyle=(0, (3, 2)), marker=OTHERS.marker, label="third-party judges"),
    ]
    judges.legend(figure, look, handles)
    return figure


def _slope_forest(sources: Mapping[str, list[Estimate]], drawn: Mapping[str, Look], look: Style) -> Canvas:
    scores = {source: _scores(group) for source, group in sources.items()}
    order = {}
    for source, at in scores.items():
        names = {judge for judge, _, _ in at}
        whole = [judge for judge in names if {(judge, OWN, arm) for arm in ARMS} <= set(at)]
        moved = {judge: at[judge, OWN, "edited"].value - at[judge, OWN, "repeat"].value for judge in whole}
        order[source] = judges.by_value(names, moved)
    figure, columns = judges.forest(look, order, ["the judge itself", "third-party judges"], 2.2)
    for source, row in columns.items():
        for axes, by in zip(row, (OWN, THIRD), strict=True):
            for i, judge in enumerate(order[source]):
                pair = [scores[source].get((judge, by, arm)) for arm in ARMS]
                if any(each is None or math.isnan(each.value) for each in pair):
                    labels.note(axes, i, "not estimable" if any(pair) else "not asked")
                    continue
                panels.dot(axes, i - 0.18, pair[0], Look(GREY, "o"))
                panels.dot(axes, i + 0.18, pair[1], drawn[judge] if by == OWN else OTHERS)
            axes.set_xlim(-4, 104)
            axes.set_xticks([0, 50, 100])
    figure.supxlabel("right answer picked (%)", fontsize=look.size)
    return figure
