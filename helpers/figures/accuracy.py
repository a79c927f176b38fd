"""Figures of accuracy and of one number in many places."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from helpers.figures import comparisons, judges, panels
from helpers.figures import style as styles
from helpers.figures.style import Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate
from helpers.words import display_name, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

RIGHT, BY_CATEGORY = "gold_accuracy", "gold_accuracy_by_category"
VOTES = {"all": "all votes", "decisive": "nobody said tie"}
PEOPLE = Look(panels.SOFT, "D")
#: Letters of a judge's name beside its row; names end in what tells them apart.
LONGEST = 28
#: Data and source of the numbers that stand in one block of rows.
Block = tuple[str, str]


def show_accuracy(
    estimates: Sequence[Estimate],
    categories: Sequence[str] = (),
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "accuracy",
) -> Figure:
    """How often is each judge right where it is known which answer is better?

    Takes `gold_accuracy` (`where`: judge, and source) and, for each of `categories`, `gold_accuracy_by_category`; a
    row a judge, sorted by its accuracy, a block of rows a source, a column for all and for each category. A line at
    50 % where the numbers were tested against it.
    """
    look = styles.style(style)
    estimates = list(estimates)
    every = panels.pick(estimates, [RIGHT], ["judge"], ["source", "judge"])
    parts = [each for each in estimates if each.id == BY_CATEGORY and each.where["category"] in categories]
    with settings(panels.at_file_resolution(look)):
        columns = ["all", *(each for each in categories if any(e.where["category"] == each for e in parts))]
        at = {(_block(e), e.where["judge"], e.where.get("category", "all")): e for e in (*every, *parts)}
        rows: dict[Block, list[str]] = {}
        for each in sorted(every, key=lambda e: (math.isnan(e.value), -e.value, e.where["judge"])):
            rows.setdefault(_block(each), []).append(each.where["judge"])
        rows = _ordered(rows)
        drawn = judges.looks({each.where["judge"] for each in every}, judge_vendors, look)
        figure, table = _forest(look, rows, columns, 1.45)
        tested = any(each.p == each.p for each in every)
        for (block, names), line in zip(rows.items(), table, strict=True):
            for axes, column in zip(line, columns, strict=True):
                if not any((block, judge, column) in at for judge in names):
                    panels.note(axes, (len(names) - 1) / 2, "not split")
                    continue
                if tested and any(at[key].p == at[key].p for key in at if key[0] == block):
                    panels.reference(axes, 50)
                for i, judge in enumerate(names):
                    panels.dot(axes, i, at.get((block, judge, column)), drawn[judge])
                    _small(axes, look)
        figure.supxlabel("right, of verdicts that can be read (%)", fontsize=look.size)
        line = " Dashed: one of two answers picked by a coin." if tested else ""
        words = f"How often each judge is right where it is known which answer is better, sorted.{line}"
        shown = [*every, *parts]
        text = panels.alt("Share of right verdicts by judge", shown, {}, 72)
        return finished(name, figure, _caption(words, shown, estimates, "gold_unreadable_share"), text, look)


def show_agreement(
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "agreement",
) -> Figure:
    """Does each judge say what a person says as often as another person does?

    Takes `human_agreement` and `human_human_agreement` (`where`: votes, and judge, source, condition); a row a judge
    and condition with the people of that source beside it, a column for all votes and for those without ties. Where a
    source has several conditions, that of all together is left out.
    """
    look = styles.style(style)
    estimates = list(estimates)
    known = ("source", "condition", "votes")
    keys = [[key for key in known if key not in left] for left in ((), ("source",), ("condition",), known[:2])]
    every = panels.pick(estimates, ["human_agreement"], *[["judge", *each] for each in keys])
    every = [each for each in every if each.where["votes"] in VOTES]
    people = {(_place(e), e.where["votes"]): e for e in estimates if e.id == "human_human_agreement"}
    several = {(_block(e)) for e in every if e.where.get("condition") not in (None, "all", "none")}
    every = [e for e in every if e.where.get("condition") != "all" or _block(e) not in several]
    with settings(panels.at_file_resolution(look)):
        at = {(_place(each), each.where["judge"], each.where["votes"]): each for each in every}
        rows: dict[Block, list[tuple[tuple[str, ...], str]]] = {}
        for each in sorted((e for e in every if e.where["votes"] == "all"), key=_key):
            rows.setdefault(_block(each), []).append((_place(each), each.where["judge"]))
        rows = _ordered(rows)
        drawn = judges.looks({each.where["judge"] for each in every}, judge_vendors, look)
        named = {block: [_row(place, judge) for place, judge in each] for block, each in rows.items()}
        figure, table = _forest(look, named, list(VOTES.values()), 2.5)
        for (_, places), line in zip(rows.items(), table, strict=True):
            for axes, votes in zip(line, VOTES, strict=True):
                for i, (place, judge) in enumerate(places):
                    panels.dot(axes, i - 0.17, at.get((place, judge, votes)), drawn[judge])
                    _small(axes, look)
                    if (place, votes) in people and not math.isnan(people[place, votes].value):
                        panels.dot(axes, i + 0.17, people[place, votes], PEOPLE)
                        _small(axes, look)
        figure.supxlabel("same verdict (%)", fontsize=look.size)
        _legend(figure, look)
        words = (
            "How often a judge says what a person says of the same two answers (upper mark of a row), and how often "
            "another person does (lower mark). All votes: a tie is a verdict, and so is a verdict that changed with "
            "the order."
        )
        shown = [*every, *(each for (place, _), each in people.items() if any(place == key[0] for key in at))]
        text = panels.alt("Agreement with people by judge, and of two people", shown, {}, 36)
        return finished(name, figure, _caption(words, shown, estimates, "vote_unreadable_share"), text, look)


def _block(each: Estimate) -> Block:
    return each.data, each.where.get("source", "")


def _place(each: Estimate) -> tuple[str, ...]:
    return each.data, each.where.get("source", ""), each.where.get("condition", "")


def _key(each: Estimate) -> tuple[bool, float, str, str]:
    value = each.value
    return math.isnan(value), 0.0 if math.isnan(value) else -value, each.where["judge"], each.where.get("condition", "")


def _row(place: tuple[str, ...], judge: str) -> str:
    condition = place[2] if place[2] not in ("", "none", "all") else ""
    shown = comparisons.named(judge, LONGEST)
    return f"{shown}\n{panels.short(condition, LONGEST)}" if condition else shown


def _ordered(rows: Mapping[Block, list]) -> dict[Block, list]:
    """Blocks by source of data, then as they came."""
    order = list(panels.SOURCES)
    keys = sorted(rows, key=lambda block: order.index(block[0]) if block[0] in order else len(order))
    return {block: rows[block] for block in keys}


def _forest(
    look: Style, rows: Mapping[Block, Sequence[str]], titles: Sequence[str], line: float
) -> tuple[Canvas, list[list[Axes]]]:
    """A block of rows for each source, its name above, a column of panels for each title; one x axis for all."""
    # The name of a source stands upright beside its rows and needs their height.
    beside = [_beside(block) for block in rows]
    letters = [max(map(len, words.split("\n"))) for words in beside]
    heights = [max(len(names) * line, 0.62 * most) for names, most in zip(rows.values(), letters, strict=True)]
    figure = canvas(look, look.text, (sum(heights) + 3.2 * len(heights) + 5) * look.size / 72)
    table = figure.subplots(len(heights), len(titles), sharex=True, squeeze=False, height_ratios=heights)
    for (block, names), words, panel_row in zip(rows.items(), beside, table, strict=True):
        shown = [name if "\n" in name else comparisons.named(name, LONGEST) for name in names]
        for i, (axes, title) in enumerate(zip(panel_row, titles, strict=True)):
            panels.rows(axes, shown if i == 0 else [""] * len(shown))
            axes.locator_params(axis="x", nbins=5)
            if axes.get_subplotspec().is_first_row():
                axes.set_title(panels.short(title, 18), loc="left")
        bold = "bold" if block[0] == "simulated" else "normal"
        upright = {"transform": panel_row[-1].transAxes, "rotation": 270, "va": "center", "fontweight": bold}
        panel_row[-1].text(1.03, 0.5, words, fontsize="small", color=panels.SOFT, **upright)
    return figure, [list(row) for row in table]


def _beside(block: Block) -> str:
    """What stands beside a block of rows: its source, and that its judges are simulated."""
    data, source = block
    told = [panels.SOURCES.get(data, data)] if data == "simulated" or not source else []
    return "\n".join([*told, *([panels.short(plain(source), 28)] if source else [])])


def _small(axes: Axes, look: Style) -> None:
    """The marker drawn last, small enough for rows that stand close."""
    if axes.lines and len(axes.lines[-1].get_xdata()) == 1:
        axes.lines[-1].set_markersize(0.45 * look.size)


def _legend(figure: Canvas, look: Style) -> None:
    from matplotlib.lines import Line2D

    marks = (("judge", "o", styles.INK), ("another person", PEOPLE.marker, PEOPLE.colour))
    size = {"linestyle": "", "markersize": 0.5 * look.size}
    judges.legend(figure, look, [Line2D([], [], color=c, marker=m, label=word, **size) for word, m, c in marks])


def _caption(words: str, shown: Sequence[Estimate], estimates: Sequence[Estimate], lost: str) -> str:
    """As `panels.caption`, with the unreadable shares that go with these numbers and the questions of counts too."""
    places = {(each.data, each.where.get("source"), each.where.get("judge")) for each in shown}
    conditions = {each.where.get("condition") for each in shown}
    shares = [
        replace(each, id="unreadable_share")
        for each in estimates
        if each.id == lost
        and (each.data, each.where.get("source"), each.where.get("judge")) in places
        and each.where.get("condition") in conditions
    ]
    said = panels.caption(words, shown, shares).replace("judgments a point", "verdicts a point")
    spans = sorted({each.clusters for each in shown if each.data == "published" and each.clusters})
    return f"{said} Counts by question: {spans[0]} to {spans[-1]} questions a point." if spans else said


#: Letters of a row's name.
RANKED_LONGEST = 44


def show_sorted(
    estimates: Sequence[Estimate],
    id: str,
    line: float | None = None,
    given: Iterable[Estimate] = (),
    style: str | Style = "paper",
    name: str | None = None,
) -> Figure:
    """Which of many is highest, and how sure is it: one number of each place, from the largest to the smallest?

    Takes estimates of one `id` with equal keys in `where`, of one unit and data source. `line`: the stored value of no
    bias, dashed. `given` may hold `unreadable_share`, for the caption. No estimate, or several units, is a ValueError.
    """
    look = styles.style(style)
    shown = panels.pick(estimates, [id], *({tuple(each.where) for each in estimates}))
    units = sorted({each.unit for each in shown})
    if len(units) > 1 or len({tuple(sorted(each.where)) for each in shown}) > 1:
        raise ValueError(f"{id}: units {', '.join(units)}, keys differ; give one unit and one set of keys")
    factor, unit = panels.scale(units[0])
    rows = sorted(shown, key=lambda each: (math.isnan(each.value), -each.value, _named(each)))
    with settings(panels.at_file_resolution(look)):
        figure = canvas(look, look.text, (1.5 * len(rows) + 5) * look.size / 72)
        axes = figure.subplots()
        panels.rows(axes, [panels.short(_named(each), RANKED_LONGEST) for each in rows])
        if line is not None:
            panels.reference(axes, factor * line)
        for at, each in enumerate(rows):
            panels.dot(axes, at, each, panels.PLAIN)
        panels.title(axes, rows[0].data, False)
        words = plain(id).replace("_", " ")
        axes.set_xlabel(f"{words} ({unit})")
        beside = f" Dashed: {factor * line:g} {unit}." if line is not None else ""
        told = f"The {words} of each {', '.join(rows[0].where) or 'file'}, sorted.{beside}"
        text = panels.alt(f"Forest plot of {words}", rows, most=72)
        return finished(name or id, figure, panels.caption(told, rows, given), text, look)


def _named(each: Estimate) -> str:
    """A row's name: what was judged, by whom."""
    places = [(key, display_name(value) if "vendor" in key else plain(value)) for key, value in each.where.items()]
    told = ", ".join(value for key, value in places if key != "judge")
    by = next((value for key, value in places if key == "judge"), "")
    return f"{told} by {by}" if told and by else told or by
