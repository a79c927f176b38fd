"""Figures of edited answers: what an edit of its own wrong answer does to a judge, beside its controls."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.figures import judges, panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, INK, Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate
from helpers.words import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LOST = {"facecolor": "white", "edgecolor": GREY, "hatch": "////", "linewidth": 0.7}
#: No vendor of the published runs has these colours; they stand in this order, too.
OUTCOMES = {
    "right both ways": {"facecolor": COLOURS[5], "edgecolor": "white"},
    "split": {"facecolor": "#E6E6E6", "edgecolor": "white"},
    "wrong both ways": {"facecolor": COLOURS[4], "edgecolor": "white"},
    "unreadable": LOST,
}
KINDS = ("harmful", "beneficial")
SMALL = 0.833


def _checked(frame: pd.DataFrame, columns: Sequence[str], what: str, rows: int = 1) -> None:
    lacking = [column for column in columns if column not in frame]
    if lacking or len(frame) < rows:
        there = ", ".join(map(str, frame.columns))
        needed = f"{', '.join(columns[:-1])} and {columns[-1]}"
        raise ValueError(f"{what} need rows with {needed}; given: {len(frame)} rows of {there or 'nothing'}")
    wrong = frame[~(frame[[c for c in ("count", "lost") if c in columns]] >= 0).all(axis=1)]
    if len(wrong):
        raise ValueError(f"{what}: counts are numbers from 0; row {wrong.index[0]} has {dict(wrong.iloc[0])}")


def show_funnel(steps: pd.DataFrame, data: str, style: str | Style = "paper", name: str = "funnel") -> Figure:
    """How much is left after each step from answers to the items that are compared, and why is the rest lost?

    Takes one row a step (columns: step; count, what is left; lost; why, its reasons in words). A step starts from what
    the one before left or from what that started from; one that loses nothing and does neither counts other things: its
    bars have a scale of their own.
    """
    look = styles.style(style)
    _checked(steps, ("step", "count", "lost", "why"), "steps")
    table = steps.astype({"count": int, "lost": int})
    whole, earlier = table["count"] + table["lost"], table.shift()
    left, again = whole == earlier["count"], whole == earlier["count"] + earlier["lost"]
    table["block"] = ((table["lost"] == 0) & ~left & ~again).cumsum()
    letters = int(look.column * 72 / look.size / panels.LETTER)
    reasons = [
        textwrap.wrap(panels.short(f"lost: {why}", int(2.2 * letters)), int(letters / SMALL) - 2) if lost else []
        for lost, why in zip(table["lost"], table["why"], strict=True)
    ]
    with settings(panels.at_file_resolution(look)):
        source = panels.SOURCES.get(data, data)
        gaps = table["block"].diff().fillna(0).to_numpy()
        lines = sum(2.9 + 1.25 * len(why) for why in reasons) + 0.8 * gaps.sum()
        figure = canvas(look, look.column, (1.22 * lines + 2.5) * look.size / 72)
        axes = figure.subplots()
        _funnel(axes, table, reasons, gaps, letters)
        panels.title(axes, data, False)
        words = (
            "What is left after each step (filled) and what is lost there (hatched, with the reasons). After a wider "
            "gap other things are counted, on a scale of their own. "
            + ("Bars of one length start from the same things, whatever was lost above. " if any(again & ~left) else "")
            + f"Data: {source}; counts, which have no interval."
        )
        told = [
            f"{plain(row.step)}: {row.count_}" + (f", {row.lost} lost ({plain(row.why)})" if row.lost else "")
            for row in table.rename(columns={"count": "count_"}).itertuples()
        ]
        return finished(name, figure, words, f"Bars of what each step leaves, {source}. {'; '.join(told)}.", look)


def _funnel(axes: Axes, table: pd.DataFrame, reasons: Sequence[list[str]], gaps: Sequence[float], letters: int) -> None:
    """Each step from the top: its name, its bar with the count, and what was lost, a unit of y a line of text."""
    whole = table["count"] + table["lost"]
    widest = whole.groupby(table["block"]).transform("max").clip(lower=1)
    y = 0.0
    for i, row in enumerate(table.rename(columns={"count": "count_"}).itertuples()):
        y += 0.8 * gaps[i]
        axes.text(0, y + 0.5, panels.short(row.step, letters - 2), va="center")
        # The bars end where the longest count still has room.
        left, lost = (0.66 * n / widest.iloc[i] for n in (row.count_, row.lost))
        axes.barh(y + 1.55, left, 0.8, color=COLOURS[5])
        axes.barh(y + 1.55, lost, 0.8, left, **LOST)
        said = f"{row.count_} of {whole.iloc[i]}" if row.lost else f"{row.count_}"
        axes.text(left + lost + 0.015, y + 1.55, said, va="center", fontweight="bold")
        y += 2.1
        for line in reasons[i]:
            axes.text(0, y + 0.5, line, va="center", color=panels.SOFT, fontsize="small")
            y += 1.25
        y += 0.8
    axes.set(xlim=(0, 1), ylim=(y - 0.6, -0.2))
    axes.set_axis_off()


def show_outcomes(frame: pd.DataFrame, data: str, style: str | Style = "paper", name: str = "outcomes") -> Figure:
    """What did each judge make of pairs with an answer of its own: where that is the wrong one, and the right one?

    Takes one row a cell (columns: judge, judge_vendor, kind "harmful" | "beneficial", outcome "right both ways" |
    "split" | "wrong both ways" | "unreadable", count of items). A mosaic a judge: widths are shares of items, heights
    how many of them are of a kind. With more than 12 judges a row each, sorted by wrong both ways on harmful items.
    Without a row it says that no judge was shown an answer of its own.
    """
    look = styles.style(style)
    _checked(frame, ("judge", "judge_vendor", "kind", "outcome", "count"), "outcomes", rows=0)
    if frame.empty:
        with settings(panels.at_file_resolution(look)):
            shown, words = "no unedited pair with\nan answer of the judge's own", "No judge was shown an unedited pair"
            return judges.blank(shown, f"{words} with an answer of its own", data, look, name)
    for column, known in (("kind", KINDS), ("outcome", tuple(OUTCOMES))):
        odd = sorted(set(frame[column].astype(str)) - set(known))
        if odd:
            raise ValueError(f"outcomes: {column} {', '.join(odd)}; there are: {', '.join(known)}")
    plain_keys = frame.astype({"judge": str, "kind": str, "outcome": str})
    counts = plain_keys.groupby(["judge", "kind", "outcome"])["count"].sum().astype(int).to_dict()
    cells = {
        judge: {kind: [counts.get((judge, kind, outcome), 0) for outcome in OUTCOMES] for kind in KINDS}
        for judge in plain_keys["judge"].unique()
    }
    vendors = dict(zip(plain_keys["judge"], frame["judge_vendor"].astype(str), strict=True))
    with settings(panels.at_file_resolution(look)):
        if len(cells) > judges.MOST:
            figure = _rows(cells, data, look)
        else:
            figure = _mosaic({judge: cells[judge] for judge in judges.looks(cells, vendors, look)}, data, look)
        _legend(figure, look)
        source = panels.SOURCES.get(data, data)
        sizes = sorted(sum(map(sum, kinds.values())) for kinds in cells.values())
        unreadable = sum(n for (_, _, outcome), n in counts.items() if outcome == "unreadable")
        n = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
        words = (
            "What each judge made of the pairs of which it wrote one answer, unedited and at first asking, in both "
            "orders: harmful, its own answer is the wrong one; beneficial, the right one. Widths are shares of items"
            + (", heights how many of the judge's items are of that kind. " if len(cells) <= judges.MOST else ". ")
            + "Numbers are items, where they fit. Split: the same place picked twice. Counts have no interval; rates "
            f"with theirs are given elsewhere. Data: {source} (n = {n} items a judge, unreadable "
            f"{100 * unreadable / max(sum(sizes), 1):.1f} % ({unreadable} of {sum(sizes)} items))."
        )
        told = [
            f"{plain(judge)}, {kind}: " + ", ".join(f"{n} {what}" for n, what in zip(row, OUTCOMES, strict=True))
            for judge, kinds in cells.items()
            for kind, row in kinds.items()
        ]
        return finished(name, figure, words, f"Mosaic of outcomes by judge, {source}. {'; '.join(told)}.", look)


def _bar(axes: Axes, y: float, height: float, row: Sequence[int], letters: float, tall: bool) -> None:
    """One bar of shares; a count is written where it fits in a bar `letters` wide."""
    left, total = 0.0, sum(row)
    if not total:
        panels.note(axes, y, "no such pairs")
        return
    for n, look in zip(row, OUTCOMES.values(), strict=True):
        width = 100 * n / total
        axes.barh(y, width, height, left, **look)
        if tall and len(str(n)) + 1 <= width / 100 * letters / SMALL and n:
            text = axes.text(left + width / 2, y, str(n), ha="center", va="center", fontsize="small")
            if look is LOST:
                text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.6})
        left += width


def _mosaic(cells: Mapping[str, Mapping[str, Sequence[int]]], data: str, look: Style) -> Canvas:
    """A block of two bars a judge under its name; one unit of y is a line of text."""
    high, head = 3.4, 2.4
    figure = canvas(look, look.column, (1.25 * (high + head) * len(cells) + 8) * look.size / 72)
    axes = figure.subplots()
    letters = look.column * 72 / look.size / panels.LETTER - 18
    places, words = [], []
    for i, (judge, kinds) in enumerate(cells.items()):
        y, total = i * (high + head) + head, sum(map(sum, kinds.values())) or 1
        # Bold letters are wider.
        title = panels.short(judge, int(0.85 * letters))
        axes.text(0, y - head / 2, title, va="center", fontweight="bold")
        for kind, row in kinds.items():
            height = high * sum(row) / total
            places.append(y + height / 2)
            words.append(f"{kind} ({sum(row)})")
            _bar(axes, places[-1], height, row, letters, height > 1.1)
            y += height
    axes.set_yticks(places, words)
    axes.set_ylim(len(cells) * (high + head), 0.3)
    _share_axis(axes)
    axes.set_xlabel("share of items (%)")
    panels.title(axes, data, False)
    return figure


def _rows(cells: Mapping[str, Mapping[str, Sequence[int]]], data: str, look: Style) -> Canvas:
    wrong = list(OUTCOMES).index("wrong both ways")
    rates = {
        j: k["harmful"][wrong] / sum(k["harmful"]) if sum(k["harmful"]) else float("nan") for j, k in cells.items()
    }
    order = judges.by_value(cells, rates)
    figure, columns = judges.forest(look, {data: order}, [f"{kind} items" for kind in KINDS])
    letters = (look.text * 72 / look.size / panels.LETTER - judges.LONGEST - 6) / 2
    for axes, kind in zip(columns[data], KINDS, strict=True):
        for i, judge in enumerate(order):
            _bar(axes, i, 0.8, cells[judge][kind], letters, True)
        _share_axis(axes)
    figure.supxlabel("share of items (%)", fontsize=look.size)
    return figure


def _share_axis(axes: Axes) -> None:
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 50, 100])
    axes.tick_params(axis="y", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)


def _legend(figure: Canvas, look: Style) -> None:
    from matplotlib.patches import Patch

    judges.legend(figure, look, [Patch(label=outcome, **fill) for outcome, fill in OUTCOMES.items()])


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
    with settings(panels.at_file_resolution(look)):
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
                    panels.note(axes, i, "not estimable" if any(pair) else "not asked")
                    continue
                panels.dot(axes, i - 0.18, pair[0], Look(GREY, "o"))
                panels.dot(axes, i + 0.18, pair[1], drawn[judge] if by == OWN else OTHERS)
            axes.set_xlim(-4, 104)
            axes.set_xticks([0, 50, 100])
    figure.supxlabel("right answer picked (%)", fontsize=look.size)
    return figure


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
    with settings(panels.at_file_resolution(look)):
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
        panels.note(axes, at, panels.NOT_ESTIMABLE)
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
    with settings(panels.at_file_resolution(look)):
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
    words = [dose if dose.isdigit() else f"\n{panels.short(dose, 12)}" for dose in places]
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
    titles = [f"{dose} words" if dose.isdigit() else panels.short(dose, 10) for dose in doses]
    figure, columns = judges.forest(look, order, titles)
    for source, row in columns.items():
        at = {(each.where["judge"], each.where["dose"]): each for each in sources[source]}
        for axes, dose in zip(row, doses, strict=True):
            panels.reference(axes, 0)
            for i, judge in enumerate(order[source]):
                panels.dot(axes, i, at.get((judge, dose)), drawn[judge])
    return figure
