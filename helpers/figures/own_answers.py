"""The figures of a judge's own answers: what is compared, its votes for its own wrong answer, edits that hide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..types import Estimate
from ..words import plain
from .intervals import Row, plot_intervals
from .pairs import check_columns, check_values, span_of
from .points import (
    OTHERS,
    PLAIN,
    alt,
    at_places,
    by_data,
    by_number,
    by_value,
    caption,
    check_names,
    judge_looks,
    losses,
    pick,
    scale,
    short,
    source_name,
)
from .style import COLOURS, GREY, Figure, Look, Style, style as style_of
from .tiles import LOST, Bar, plot_shares

if TYPE_CHECKING:
    import pandas as pd

ITEMS = ("items", "articles", "judgments")
#: Columns: (id, stratum) with their titles.
GAPS = {
    ("naive_harmful_rate", ""): "own wrong\nanswer picked",
    ("evaluator_quality_gap", "same label"): "minus other's,\nsame label",
    ("evaluator_quality_gap", "other label"): "minus other's,\nother label",
    ("evaluator_quality_gap", "all"): "minus other's,\nall",
    ("same_text_other_judges", ""): "minus others",
}
PRIMARY = ("evaluator_quality_gap", "same label")
ARMS = {"repeat": "asked again", "edited": "edited"}
CHANGES = {"recognition_change": "recognition", "preference_change": "preference"}


def show_baseline_gap(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "baseline_gap"
) -> Figure:
    """What is left of a judge's votes for its own wrong answer beside the same belief and beside the same text?

    Takes `naive_harmful_rate` (`where`: judge; rate), `evaluator_quality_gap` (judge, stratum; pp) and
    `same_text_other_judges` (judge; pp): a column each, judges sorted by the gap of the same label.
    """
    look, estimates = style_of(style), list(estimates)
    wanted = {id for id, _ in GAPS}
    shown = pick(estimates, sorted(wanted), ["judge"], ["judge", "stratum"])
    check_names([each for each in shown if "stratum" in each.where], "stratum", ["same label", "other label", "all"])
    looks = judge_looks({each.where["judge"] for each in shown}, look)
    rows = []
    for data, group in by_data(shown).items():
        at = {(each.where["judge"], each.id, each.where.get("stratum", "")): each for each in group}
        values = {judge: each.value for (judge, *column), each in at.items() if tuple(column) == PRIMARY}
        rows += [
            Row(short(judge, 24), at.get((judge, *column)), data, panel=title, look=looks[judge], absent="none")
            for column, title in GAPS.items()
            for judge in by_value({judge for judge, _, _ in at}, values)
        ]
    title = "Votes for the own wrong answer, and what is left beside each control"
    units = {words: "%" if id == "naive_harmful_rate" else "pp" for (id, _), words in GAPS.items()}
    drawn = plot_intervals(rows, look, units, alike=False, title=title)
    words = (
        "First column: how often a judge picks its own wrong answer, whatever makes it. Then the same minus its "
        "votes for another vendor's wrong answer to the same question that names the same option (the primary "
        "comparison), another option, or any; last, minus the votes of other judges for the same text. Dashed: no "
        f"difference. Sorted by the primary comparison; exploratory.{drawn.words}"
    )
    lost = losses(estimates, "unreadable_share", shown, "judge")
    return drawn.finished(name, caption(words, shown, lost, ITEMS), alt(title, shown, most=72))


def show_obfuscation_slopes(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "obfuscation_slopes"
) -> Figure:
    """Does an edit of its own wrong answer turn a judge to the right one, and other judges of the same texts as well?

    Takes `harmful_score` (`where`: judge, by "own" | "third party", arm "repeat" | "edited"; rates, right picks).
    """
    look, shown = style_of(style), pick(estimates, ["harmful_score"], ["judge", "by", "arm"])
    check_names(shown, "by", ["own", "third party"])
    check_names(shown, "arm", list(ARMS))
    looks, at = (judge_looks({e.where["judge"] for e in shown}, look), at_places(shown, "judge", "by", "arm"))
    rows = [
        Row(words, at.get((data, "harmful_score", judge, by, arm)), data, short(judge, 30), series=by,
            look=looks[judge] if by == "own" else OTHERS)
        for data, group in by_data(shown).items()
        for judge in looks if any(each.where["judge"] == judge for each in group)
        for arm, words in ARMS.items() for by in ("own", "third party")
    ]  # fmt: skip
    title = "How often the right answer is picked before and after an edit of the judge's own wrong one"
    legend = {"the judge itself": PLAIN, "judges of a third vendor": OTHERS}
    drawn = plot_intervals(rows, look, "right answer picked (%)", None, limits=(-4, 104), legend=legend, title=title)
    words = (
        "How often the right answer is picked of pairs in which the judge's own answer is the wrong one: asked "
        "again unedited, and with words of that wrong answer replaced, at the smallest dose. Grey: judges of a "
        "third vendor on the same texts. What both do is what the edit does to any reader. Intervals are those of "
        f"each rate alone; the paired difference is shown elsewhere.{drawn.words}"
    )
    lost = losses(estimates, "unreadable_share", shown, "judge")
    return drawn.finished(name, caption(words, shown, lost, ITEMS), alt(title, shown))


def show_dose_curve(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "dose_curve") -> Figure:
    """Does an effect of hiding the authorship grow with the number of words that are replaced?

    Takes `obfuscation_effect` (`where`: judge, dose; "paraphrase" stands apart), in one unit. 0 words is the repeat
    arm, whose effect is 0 by definition.
    """
    look, shown = style_of(style), pick(estimates, ["obfuscation_effect"], ["judge", "dose"])
    doses = by_number(each.where["dose"] for each in shown)
    axis = f"effect of the edit ({scale(shown[0].unit)[1]})"
    words = (
        "How much more an edit of its own wrong answer turns a judge to the right one than it turns judges of a third "
        "vendor on the same texts, by the number of words replaced. Dashed: no effect beyond what the edit does to "
        "them."
    )
    if doses[0].isdigit():
        words += f" The smallest dose ({doses[0]} words) is the confirmatory one, the others are exploratory."
    title = "Effect of an edit of the own wrong answer, by how many words are replaced"
    return _doses(shown, estimates, {"": axis}, title, words, look, name)


def show_recognition_against_preference(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "recognition_against_preference"
) -> Figure:
    """Where an edit makes a judge know its own wrong answer less, does it also prefer that answer less?

    Takes `recognition_change` and `preference_change` (`where`: judge, dose; pp): a column each.
    """
    look, shown = style_of(style), pick(estimates, list(CHANGES), ["judge", "dose"])
    words = (
        "Left: change in how often a judge names its own wrong answer when asked which of the two it wrote (edited "
        "minus unedited). Right: change in how often it picks that answer as the right one (edited minus asked again). "
        "Dashed: no change. Changes that go together do not show that one makes the other."
    )
    title = "Change of recognition and of preference, by how many words are replaced"
    return _doses(shown, estimates, dict.fromkeys(CHANGES.values(), "change (pp)"), title, words, look, name)


def _doses(
    shown: Sequence[Estimate], estimates: Sequence[Estimate], axes: Mapping[str, str], title: str, words: str,
    look: Style, name: str,
) -> Figure:  # fmt: skip
    """A judge a heading, a dose a row, an id a column."""
    looks, at = judge_looks({each.where["judge"] for each in shown}, look), at_places(shown, "judge", "dose")
    ids = [id for id in dict.fromkeys(["obfuscation_effect", *CHANGES]) if any(each.id == id for each in shown)]
    rows = [
        Row(f"{dose} words" if dose.isdigit() else plain(dose), at.get((data, id, judge, dose)), data, short(judge, 30),
            panel=CHANGES.get(id, ""), look=looks[judge])
        for data, group in by_data(shown).items()
        for id in ids
        for judge in looks if any(each.where["judge"] == judge for each in group)
        for dose in by_number(each.where["dose"] for each in shown)
    ]  # fmt: skip
    drawn = plot_intervals(rows, look, axes, title=title)
    lost = losses(estimates, "unreadable_share", shown, "judge")
    full = caption(words + drawn.words, shown, lost, ITEMS)
    return drawn.finished(name, full, alt(title, shown, CHANGES, 60))


DEFINITIONS = {
    "harmful_self_preference_rate": "own answer picked,\nof pairs where it is wrong",
    "wrong_of_self_selected": "own answer wrong,\nof pairs where it is picked",
}
PHASES = {"before": Look(GREY, "o"), "after": Look(COLOURS[4], "D")}


def show_replication(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "replication") -> Figure:
    """Which way does the published edit of two words go, by what was compared and by which definition?

    Takes `harmful_self_preference_rate` and `wrong_of_self_selected` (`where`: run, records, phase "before" | "after");
    a row for each run and kind of records, a column for each of the two.
    """
    look = style_of(style)
    # The same ids stand for single judges and opponents too; the picture is of the totals.
    totals = [each for each in estimates if set(each.where) == {"run", "records", "phase"}]
    shown = pick(totals, list(DEFINITIONS), ["run", "records", "phase"])
    check_names(shown, "phase", list(PHASES))
    at = at_places(shown, "run", "records", "phase")
    rows = [
        Row(plain(records), at.get((data, id, run, records, phase)), data, plain(run), title, phase, look_of,
            absent="not published")
        for id, title in DEFINITIONS.items()
        for data, run, records in dict.fromkeys((e.data, e.where["run"], e.where["records"]) for e in shown)
        for phase, look_of in PHASES.items()
    ]  # fmt: skip
    title = "The published remedy of replacing two words, by what was compared and how it was defined"
    legend = {f"{phase} two words were replaced": each for phase, each in PHASES.items()}
    drawn = plot_intervals(rows, look, "%", None, alike=False, legend=legend, title=title)
    words = (
        "The same remedy, by what was compared (rows) and by the two definitions that the source used in turn "
        "(columns). Greedy and raw: four judges, one opponent, two sets of answers; official: one judge, five "
        "opponents. Filtered before: the same pairs, chosen since their orders agreed before the edit, with one "
        "order after it; before and after: those of them whose orders agreed again; each time: other pairs in each "
        "phase; unfiltered: the same pairs, one order. No row has a repeat without an edit or another judge beside "
        f"it. The scales differ.{drawn.words}"
    )
    full = caption(words, shown, (), ("pairs", "questions", "judgments"))
    return drawn.finished(name, full, alt(title, shown))


OUTCOMES = {"right both ways": COLOURS[5], "split": "#EFEFEF", "wrong both ways": COLOURS[4], "unreadable": LOST}


def show_outcomes(frame: pd.DataFrame, data: str, style: str | Style = "paper", name: str = "outcomes") -> Figure:
    """What did each judge make of pairs with an answer of its own: where that is the wrong one, and the right one?

    Takes one row a cell (columns: judge, judge_vendor, kind "harmful" | "beneficial", outcome "right both ways" |
    "split" | "wrong both ways" | "unreadable", count of items). Without a row it says that no judge was shown an answer
    of its own.
    """
    look = style_of(style)
    check_columns(frame, ("judge", "judge_vendor", "kind", "outcome", "count"), "outcomes", rows=0)
    check_values(frame, "kind", ("harmful", "beneficial"), "outcomes")
    check_values(frame, "outcome", OUTCOMES, "outcomes")
    counts = frame.astype({"judge": str, "kind": str, "outcome": str})
    counts = counts.groupby(["judge", "kind", "outcome"])["count"].sum().astype(int)
    vendors = dict(zip(frame["judge"].astype(str), frame["judge_vendor"].astype(str), strict=True))
    bars, clauses, sizes = [], [], []
    for judge in judge_looks(vendors, look, vendors):
        for kind in ("harmful", "beneficial"):
            cell = {part: int(counts.get((judge, kind, part), 0)) for part in OUTCOMES}
            total = sum(cell.values())
            shares = {part: n / max(total, 1) for part, n in cell.items()}
            numbers = {part: str(n) for part, n in cell.items()}
            label = f"own answer {'wrong' if kind == 'harmful' else 'right'}"
            bars.append(Bar(label, shares, data, short(judge, 30), numbers, note=f"{total} items"))
            clauses.append(f"{plain(judge)}, {kind}: " + ", ".join(f"{n} {part}" for part, n in cell.items()))
            sizes.append(total)
    title = "What judges make of pairs with an answer of their own"
    unreadable, total = int(counts.get((slice(None), slice(None), "unreadable"), counts.iloc[:0]).sum()), sum(sizes)
    words = (
        "What each judge made of the pairs of which it wrote one answer, unedited and at first asking, in both orders. "
        "Numbers are items, where they fit. Split: the same place picked twice. Counts have no interval; rates with "
        "theirs are given elsewhere."
    )
    if not bars:
        words = "No judge was shown an unedited pair with an answer of its own."
        bars = [Bar("no such pair", {}, data)]
    drawn = plot_shares(bars, OUTCOMES, look, "share of items (%)", title=title)
    lost = f"unreadable {100 * unreadable / max(total, 1):.1f} % ({unreadable} of {total} items)"
    words += f"{drawn.words} Data: {source_name(data)} (n = {span_of(sizes or [0])} items a bar, {lost})."
    text = f"Bars of outcomes by judge, {source_name(data)}. {'; '.join(clauses)}."
    return drawn.finished(name, words, text)


def show_funnel(steps: pd.DataFrame, data: str, style: str | Style = "paper", name: str = "funnel") -> Figure:
    """How much is left after each step from answers to the items that are compared, and why is the rest lost?

    Takes one row a step (columns: step; count, what is left; lost; why, its reasons in words), a bar a step.
    """
    look = style_of(style)
    check_columns(steps, ("step", "count", "lost", "why"), "steps")
    bars, parts = [], []
    for row in steps.rename(columns={"count": "left"}).itertuples():
        total = int(row.left + row.lost)
        shares = {"left": row.left / max(total, 1), "lost": row.lost / max(total, 1)}
        note = f"{row.left} of {total}" if row.lost else f"{row.left}"
        bars.append(Bar(plain(row.step), shares, data, note=note))
        parts.append(f"{plain(row.step)}: {row.left}" + (f", {row.lost} lost ({plain(row.why)})" if row.lost else ""))
    title = "What each step from answers to comparisons leaves"
    drawn = plot_shares(bars, {"left": COLOURS[5], "lost": LOST}, look, "% of what the step began with", title=title)
    lost = [f"{plain(row.step)}: {plain(row.why)}" for row in steps.itertuples() if row.lost]
    words = f"{title}, in % of what it began with.{' Lost: ' * bool(lost)}{'; '.join(lost)}{'.' * bool(lost)}"
    words += f"{drawn.words} Data: {source_name(data)}; counts, which have no interval."
    return drawn.finished(name, words, f"Bars of what each step leaves, {source_name(data)}. {'; '.join(parts)}.")
