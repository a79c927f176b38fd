"""The figures of pairs of answers: places, classes of verdicts, choices, accuracy, agreement with people."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..types import Estimate
from ..words import display_name, plain
from .intervals import Row, plot_intervals
from .points import (
    OTHERS,
    PLAIN,
    SOFT,
    alt,
    at_places,
    by_data,
    by_value,
    caption,
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

TITLES = {
    "win_rate": "How often the candidate wins, under each choice of analysis",
    "first_position_sensitivity": "How much more often the first place wins, under each choice of analysis",
    "style_effect": "How much more often a reworded answer wins than the plain one",
    "poorer_win_rate": "How often the poorer answer wins when it is reworded",
    "longer_when_worse": "How often the longer answer is picked where it is the worse one",
    "known_pair_accuracy_by_bias": "How often the better answer of a known pair is picked",
}
#: Rows that fit on a page, and columns beside each other.
MOST_ROWS, MOST_COLUMNS = 38, 6
COMPARISONS = ("comparisons", "questions", "comparisons")
VERDICTS = ("verdicts", "questions", "judgments")

EFFECT = "first_position_effect"
POSITIONS = {
    EFFECT: "first place twice\nminus second twice",
    "identical_pair_effect": "identical answers:\nfirst minus second",
    "excess_flip": "flips swapped minus\nflips repeated",
}


def _pair(each: Estimate) -> str:
    """A judge, and under it the candidate."""
    return f"{short(each.where['judge'], 26)}\n{short(each.where['candidate'], 26)}"


def _lost_pairs(estimates: Sequence[Estimate], shown: Sequence[Estimate]) -> list[Estimate]:
    pooled = [each for each in estimates if set(each.where) == {"judge", "candidate"}]
    return losses(pooled, "invalid_share", shown, "judge", "candidate")


def show_position_effects(
    estimates: Sequence[Estimate],
    judge_vendors: Mapping[str, str] | None = None,
    style: str | Style = "paper",
    name: str = "position_effects",
) -> Figure:
    """Which place does each judge favour, on different answers, on identical ones, and beyond its own noise?

    Takes `first_position_effect` and, where there are any, `identical_pair_effect` and `excess_flip` (`where`: judge,
    candidate; pp): one row a comparison, sorted, a column for each that any comparison has. A judge's
    vendor is that of `judge_vendors`, or the one that its name holds.
    """
    look, estimates, keys = style_of(style), list(estimates), ["judge", "candidate"]
    there = {each.id for each in estimates if set(each.where) == set(keys) and each.value == each.value}
    ids = [id for id in POSITIONS if id == EFFECT or id in there]
    shown = pick(estimates, ids, keys)
    looks = judge_looks({each.where["judge"] for each in shown}, look, judge_vendors)
    rows = []
    for data, group in by_data(shown).items():
        at = {(_pair(each), each.id): each for each in group}
        mine = {_pair(each): each for each in group}
        order = by_value(mine, {pair: each.value for (pair, id), each in at.items() if id == EFFECT})
        asked = "not asked" if data in ("asked", "simulated") else "none"
        rows += [
            Row(pair, at.get((pair, id)), data, "", POSITIONS[id], look=looks[mine[pair].where["judge"]], absent=asked)
            for id in ids for pair in order
        ]  # fmt: skip
    title = "How much more often the first place wins than the second"
    drawn = plot_intervals(rows, look, "pp", title=title)
    words = f"{title}, in both orders, of comparisons with two verdicts"
    if "identical_pair_effect" in ids:
        words += "; how much more often the first of two identical answers won than the second"
    if "excess_flip" in ids:
        words += "; how much more often verdicts disagree when the orders are swapped than when one is asked again"
    flips = ", or more flips than noise makes" if "excess_flip" in ids else ""
    words += f". Right of the dashed line (zero): for the first place{flips}"
    words += f". Sorted by the first column.{drawn.words}"
    full = caption(words, shown, _lost_pairs(estimates, shown), COMPARISONS)
    return drawn.finished(name, full, alt(title, shown, POSITIONS, 72))


RELEASED = {"released_position_effect": POSITIONS[EFFECT], "released_flip_rate": "verdicts that change\nwith the order"}


def show_released_places(
    estimates: Sequence[Estimate], title: str, since: str, style: str | Style = "paper", name: str = "released_places"
) -> Figure:
    """Which place does each recent judge favour in each source, and how often does its verdict change at all?

    Takes `released_position_effect` and `released_flip_rate` (`where`: source, judge, released), and for comparison
    `first_position_effect` and `position_consistency` of other published comparisons, of which the median is shown.
    Judges released before `since` are grey.
    """
    look, (effect, flips) = style_of(style), RELEASED
    shown = [replace(each, method=each.method.split("; ")[0])
             for each in pick(estimates, [*RELEASED], ["source", "judge", "released"])]  # fmt: skip
    looks = judge_looks({each.where["judge"] for each in shown}, look)
    at = {(each.id, *each.where.values()): each for each in shown}
    order = list(dict.fromkeys(each.where["source"] for each in shown))
    effects = [each for each in shown if each.id == effect and not math.isnan(each.value)]
    effects.sort(key=lambda each: (order.index(each.where["source"]), -each.value))
    places = [tuple(each.where.values()) for each in effects]
    shown = [each for each in shown if tuple(each.where.values()) in places]
    others = {id: [e.value for e in estimates if e.id == id and "category" not in e.where and e.value == e.value]
              for id in (EFFECT, "position_consistency")}  # fmt: skip
    middle = {effect: statistics.median(others[EFFECT]), flips: 1 - statistics.median(others["position_consistency"])}
    rows = []
    for id, panel in RELEASED.items():
        for source, judge, released in places:
            mark = looks[judge] if released >= since else Look(GREY, looks[judge].marker)
            found = at.get((id, source, judge, released))
            rows.append(Row(short(judge, 28), found, "published", source, panel, look=mark, absent="not counted"))
        older = Estimate(id, {}, middle[id], unit="pp")
        rows.append(Row("median", older, "published", f"{len(others[EFFECT])} other comparisons", panel, look=OTHERS))
    drawn = plot_intervals(rows, look, {RELEASED[effect]: "pp", RELEASED[flips]: "%"}, alike=False, title=title)
    words = (
        f"{title}. Right of the dashed line: for the first place. A share of changed verdicts bounds what a place can "
        f"do, and does not measure it. Grey: judges released before {since}, and in the last row the median of other "
        "published comparisons. Sources that print no more than such shares are left out."
    )
    texts = caption(words + drawn.words, shown, (), COMPARISONS), alt(title, shown, RELEASED, most=72)
    return drawn.finished(name, *texts)


def show_category_effects(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "category_effects"
) -> Figure:
    """Is the first place favoured in every category of questions, or in some?

    Takes `first_position_effect` (`where`: judge, candidate, category; pp), and that of all questions (judge,
    candidate) where it is given: a heading a comparison, a row a category.
    """
    look, estimates = style_of(style), list(estimates)
    split = pick(estimates, [EFFECT], ["judge", "candidate", "category"])
    here = {(each.data, _pair(each)) for each in split}
    pooled = [each for each in estimates if each.id == EFFECT and set(each.where) == {"judge", "candidate"}]
    shown = [*(each for each in pooled if (each.data, _pair(each)) in here), *split]
    title = "How much more often the first place wins than the second, by category of questions"
    words = f"{title}. Right of the dashed line (zero): for the first place."
    labels = [(each, plain(each.where.get("category", "all questions"))) for each in shown]
    return _grouped(labels, estimates, "pp", 0.0, title, words, look, name)


def show_sensitivity(
    estimates: Sequence[Estimate],
    id: str = "win_rate",
    choices: Sequence[str] = ("style", "weight"),
    style: str | Style = "paper",
    name: str = "sensitivity",
) -> Figure:
    """Does the headline depend on a choice that another analyst would have made otherwise?

    Takes estimates of one `id` (`where`: judge, candidate and all of `choices`), the first choice given being the
    headline: a heading a comparison, a row a choice.
    """
    look = style_of(style)
    if not choices:
        raise ValueError(f"{id}: name the keys of `where` that are choices")
    estimates = list(estimates)
    shown = pick(estimates, [id], ["judge", "candidate", *choices])
    even = {"win_rate": 50.0}.get(id, None if shown[0].unit == "rate" else 0.0)
    what, unit = plain(id).replace("_", " "), scale(shown[0].unit)[1]
    title = TITLES.get(id, f"The {what} under each choice")
    words = f"The {what} of each judge and candidate under each choice; the first is the headline"
    words += "." if even is None else f"; dashed: {even:.0f} {unit}."
    labels = [(each, _choice(each, choices)) for each in shown]
    return _grouped(labels, estimates, unit, even, title, words, look, name)


def _choice(each: Estimate, choices: Sequence[str]) -> str:
    """The values of a choice in words; a bare number says nothing without its key."""
    values = [(key, plain(each.where[key])) for key in choices]
    return ", ".join(f"{plain(key)} {value}" if value.replace(".", "").isdigit() else value for key, value in values)


def _grouped(
    labels: Sequence[tuple[Estimate, str]], estimates: Sequence[Estimate], unit: str, line: float | None, title: str,
    words: str, look: Style, name: str,
) -> Figure:  # fmt: skip
    """A heading for each judge and candidate and a row for each number; of many comparisons a column for each label."""
    shown, columns = [each for each, _ in labels], list(dict.fromkeys(label for _, label in labels))
    looks = judge_looks({each.where["judge"] for each in shown}, look)
    at = {(each.data, _pair(each), label): each for each, label in labels}
    pairs = {(each.data, _pair(each)): each for each in shown}
    first = {place: at[*place, columns[0]].value for place in pairs if (*place, columns[0]) in at}
    narrow = len(labels) > MOST_ROWS and len(columns) <= MOST_COLUMNS
    rows = []
    for data, pair in by_value(pairs, first):
        look_of = looks[pairs[data, pair].where["judge"]]
        for label in columns:
            each = at.get((data, pair, label))
            if narrow:
                panel = "\n".join(
                    textwrap.wrap(short(label.replace("_", " ") if label.isidentifier() else label, 36), 12)
                )
                rows.append(Row(pair, each, data, panel=panel, look=look_of, absent="none"))
            elif each is not None:
                rows.append(Row(label, each, data, pair.replace("\n", ", "), look=look_of))
    order = list(dict.fromkeys(row.panel for row in rows))
    rows.sort(key=lambda row: order.index(row.panel))
    drawn = plot_intervals(rows, look, unit, line, title=title)
    full = caption(words + drawn.words, shown, _lost_pairs(estimates, shown), COMPARISONS)
    return drawn.finished(name, full, alt(title, shown, most=72))


def show_sorted(
    estimates: Sequence[Estimate],
    id: str,
    line: float | None = None,
    other: Iterable[Estimate] = (),
    style: str | Style = "paper",
    name: str | None = None,
) -> Figure:
    """Which of many is highest, and how sure is it: one number of each place, from the largest to the smallest?

    Takes estimates of one `id` with equal keys in `where`. `line`: the stored value of no bias, dashed. `other` may
    hold `unreadable_share`, for the caption.
    """
    look, estimates = style_of(style), list(estimates)
    keys = {tuple(sorted(each.where)) for each in estimates if each.id == id}
    shown = pick(estimates, [id], *(keys or {()}))
    if len(keys) > 1:
        raise ValueError(f"{id}: keys of places differ; give one set of keys")
    factor, unit = scale(shown[0].unit)
    ranked = sorted(shown, key=lambda each: (math.isnan(each.value), -each.value, _place(each)))
    rows = [Row(_place(each), each, each.data) for each in ranked]
    what = plain(id).replace("_", " ")
    title = TITLES.get(id, f"The {what} of each {' and '.join(ranked[0].where) or 'file'}")
    drawn = plot_intervals(rows, look, f"{what} ({unit})", None if line is None else factor * line, title=title)
    words = f"{title}, sorted.{f' Dashed: {factor * line:g} {unit}.' if line is not None else ''}{drawn.words}"
    return drawn.finished(name or id, caption(words, shown, other), alt(f"Forest plot of {what}", ranked, most=72))


def _place(each: Estimate) -> str:
    """A row's name: what was judged, by whom."""
    places = [(key, display_name(value) if "vendor" in key else plain(value)) for key, value in each.where.items()]
    what = ", ".join(value for key, value in places if key != "judge")
    by = next((value for key, value in places if key == "judge"), "")
    return f"{what}, {by}" if what and by else what or by


PEOPLE = Look(SOFT, "D")
VOTES = {"all": "all votes", "decisive": "nobody said tie"}


def _by_source(each: Estimate) -> str:
    return plain(each.where.get("source", ""))


def show_accuracy(
    estimates: Sequence[Estimate], categories: Sequence[str] = (), style: str | Style = "paper", name: str = "accuracy"
) -> Figure:
    """How often is each judge right where it is known which answer is better?

    Takes `gold_accuracy` (`where`: judge, and source) and, for each of `categories`, `gold_accuracy_by_category`: a
    heading a source, a row a judge, sorted, a column for all and for each category. Dashed: 50 %, where it was tested.
    """
    look, estimates = style_of(style), list(estimates)
    every = pick(estimates, ["gold_accuracy"], ["judge"], ["source", "judge"])
    parts = [e for e in estimates if e.id == "gold_accuracy_by_category" and e.where["category"] in categories]
    columns = ["all", *(each for each in categories if any(part.where["category"] == each for part in parts))]
    at = {(e.data, _by_source(e), e.where["judge"], e.where.get("category", "all")): e for e in (*every, *parts)}
    ranked = sorted(every, key=lambda each: (math.isnan(each.value), -each.value, each.where["judge"]))
    looks = judge_looks({each.where["judge"] for each in every}, look)
    rows = [
        Row(short(each.where["judge"], 28), at.get((each.data, _by_source(each), each.where["judge"], column)),
            each.data, _by_source(each), column, look=looks[each.where["judge"]], absent="not split")
        for column in columns for each in ranked
    ]  # fmt: skip
    title = "How often each judge is right where it is known which answer is better"
    tested = any(each.p == each.p for each in every)
    drawn = plot_intervals(rows, look, "right, of verdicts that can be read (%)", 50 if tested else None, title=title)
    coined = {_by_source(each) for each in every if each.p == each.p}
    others = ", ".join(sorted({_by_source(each) for each in every} - coined))
    line = " Dashed: one of two answers picked by a coin" if tested else ""
    line += f" (nothing of {others} was tested against it)." if tested and others else "." * tested
    words, shown = f"{title}, sorted.{line}{drawn.words}", [*every, *parts]
    lost = losses(estimates, "gold_unreadable_share", shown, "source", "judge")
    full = caption(words, shown, lost, VERDICTS) + _counted_by_question(shown)
    return drawn.finished(name, full, alt(title, shown, most=72))


def show_agreement(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "agreement") -> Figure:
    """Does each judge say what a person says as often as another person does?

    Takes `human_agreement` and `human_human_agreement` (`where`: votes, and judge, source, condition); a row a judge
    and condition with the people of that source beside it, a column for all votes and for those without ties. Where a
    source has several conditions, that of all together is left out.
    """
    look, estimates = style_of(style), list(estimates)
    options = [[key for key in ("source", "condition", "votes") if key not in left]
               for left in ((), ("source",), ("condition",), ("source", "condition"))]  # fmt: skip
    every = pick(estimates, ["human_agreement"], *[["judge", *keys] for keys in options])
    every = [each for each in every if each.where["votes"] in VOTES]
    several = {(e.data, _by_source(e)) for e in every if e.where.get("condition") not in (None, "all", "none")}
    every = [e for e in every if e.where.get("condition") != "all" or (e.data, _by_source(e)) not in several]
    where = ("source", "condition", "votes")
    people = at_places((each for each in estimates if each.id == "human_human_agreement"), *where)
    looks = judge_looks({each.where["judge"] for each in every}, look)
    order = at_places((e for e in every if e.where["votes"] == "all"), "source", "condition", "judge")

    def rank(each: Estimate) -> tuple[bool, float, str]:
        place = (each.data, each.id, *(each.where.get(key, "") for key in ("source", "condition", "judge")))
        value = order[place].value if place in order else math.nan
        return math.isnan(value), 0.0 if math.isnan(value) else -value, each.where["judge"]

    rows, shown = [], []
    for each in sorted(every, key=rank):
        condition = each.where.get("condition", "")
        label = (
            f"{short(each.where['judge'], 28)}{f', {plain(condition)}' if condition not in ('', 'none', 'all') else ''}"
        )
        other = people.get((each.data, "human_human_agreement", *(each.where.get(key, "") for key in where)))
        panel = VOTES[each.where["votes"]]
        rows.append(Row(label, each, each.data, _by_source(each), panel, "judge", looks[each.where["judge"]]))
        rows += [Row(label, other, each.data, _by_source(each), panel, "people", PEOPLE)] if other else []
        shown += [each, *([other] if other and other not in shown else [])]
    rows.sort(key=lambda row: list(VOTES.values()).index(row.panel))
    title = "How often judges say what a person says, and how often another person does"
    legend = {"judge": PLAIN, "another person": PEOPLE}
    drawn = plot_intervals(rows, look, "same verdict (%)", None, legend=legend, title=title)
    words = (
        f"{title}, of the same two answers. All votes: a tie is a verdict, and so is a verdict that changed with "
        f"the order.{drawn.words}"
    )
    lost = losses(estimates, "vote_unreadable_share", shown, "source", "condition", "judge")
    full = caption(words, shown, lost, VERDICTS) + _counted_by_question(shown)
    return drawn.finished(name, full, alt(title, shown, most=36))


def _counted_by_question(shown: Sequence[Estimate]) -> str:
    """How many questions are behind published counts that were kept by question."""
    clusters = sorted({each.clusters for each in shown if each.data == "published" and each.clusters})
    return f" Counts by question: {span_of(clusters)} questions a point." if clusters else ""


# --- counts of pairs of verdicts --------------------------------------------------------------------------------------

#: Verdicts in terms of what was shown: A is the answer that stood first in that game.
LABELS = ("A>>B", "A>B", "A=B", "B>A", "B>>A")
INVALID = "invalid"
GAMES = (*LABELS, INVALID)
COLUMNS = ("source", "judge", "candidate", "game_1", "game_2", "count", "data")
KINDS = {
    "mirrored": COLOURS[5],
    "mirrored, other strength": "#B7DDF2",
    "one tie": "#EFEFEF",
    "second twice": "#F2C9A5",
    "first twice": COLOURS[6],
    INVALID: LOST,
}


def kind_name(game_1: str, game_2: str) -> str:
    """What two verdicts in opposite orders say together.

    >>> [kind_name(*each.split()) for each in ("A>>B B>A", "A>B A>>B", "A=B A=B", "A=B B>A")]
    ['mirrored, other strength', 'first twice', 'mirrored', 'one tie']
    """
    if INVALID in (game_1, game_2):
        return INVALID
    one, two = (2 - LABELS.index(each) for each in (game_1, game_2))
    if one == -two:
        return "mirrored"
    if one * two:
        return "mirrored, other strength" if one * two < 0 else "first twice" if one > 0 else "second twice"
    return "one tie"


def check_columns(table: pd.DataFrame, columns: Sequence[str], what: str, rows: int = 1) -> None:
    """Lacking columns, too few rows, and counts that are no counts are a ValueError that names them."""
    lacking = [column for column in columns if column not in table]
    if lacking or len(table) < rows:
        needed, there = f"{', '.join(columns[:-1])} and {columns[-1]}", ", ".join(map(str, table.columns))
        raise ValueError(f"{what} need rows with {needed}; given: {len(table)} rows of {there or 'nothing'}")
    for column in {"count", "lost"} & {*columns}:
        wrong = table[~((table[column] >= 0) & (table[column] % 1 == 0))]
        if len(wrong):
            raise ValueError(f"{what}: counts are whole numbers from 0; row {wrong.index[0]} has {dict(wrong.iloc[0])}")


def check_values(table: pd.DataFrame, column: str, allowed: Iterable[str], what: str) -> None:
    """A value that is none of `allowed` is a ValueError that lists these."""
    allowed = list(allowed)
    odd = sorted({plain(each) for each in table[column]} - {*allowed})
    if odd:
        raise ValueError(f"{what}: {column} {', '.join(odd)}; there are: {', '.join(allowed)}")


def show_outcome_grid(counts: pd.DataFrame, style: str | Style = "paper", name: str = "outcome_grid") -> Figure:
    """What did each judge say of the same two answers in both orders, and how often did the same place win twice?

    Takes one row a cell (columns: source, judge, candidate, game_1 and game_2 (A>>B, A>B, A=B, B>A, B>>A or invalid),
    count, data); a bar a source, judge and candidate, sorted by how much more often the first place won twice than the
    second. How often each pair of verdicts was given stands in the table of patterns.
    """
    look = style_of(style)
    check_columns(counts, COLUMNS, "counts")
    for column in ("game_1", "game_2"):
        check_values(counts, column, GAMES, "counts")
    kinds = [kind_name(str(one), str(two)) for one, two in zip(counts["game_1"], counts["game_2"], strict=True)]
    # Signs that no string of pandas can hold are shown as everywhere on figures.
    names = {column: [plain(each) for each in counts[column]] for column in ("source", "judge", "candidate", "data")}
    table = counts.assign(kind=kinds, **names)
    bars, lead, sizes, lost = list[Bar](), dict[int, float](), dict[str, list[int]](), dict[str, int]()
    for (data, source, judge, candidate), cell in table.groupby(["data", "source", "judge", "candidate"], sort=False):
        sums, total = cell.groupby("kind")["count"].sum(), int(cell["count"].sum())
        shares = {kind: float(sums.get(kind, 0)) / max(total, 1) for kind in KINDS}
        # A path begins with what judge and candidate do not say: the version of the questions.
        head = plain(source).split("/")[0]
        group = "" if head in (plain(judge), plain(candidate), plain(data), "asked") else head
        label = f"{short(judge, 26)}\n{short(candidate, 26)}"
        if any((bar.data, bar.group, bar.label) == (plain(data), group, label) for bar in bars):
            group = plain(source)
        numbers = {kind: f"{100 * share:.0f}" for kind, share in shares.items()}
        bars.append(Bar(label, shares, plain(data), group, numbers, note=f"n = {total}"))
        lead[len(bars) - 1] = shares["first twice"] - shares["second twice"]
        sizes.setdefault(plain(data), []).append(total)
        lost[plain(data)] = lost.get(plain(data), 0) + int(sums.get(INVALID, 0))
    bars = [bars[i] for i in by_value(range(len(bars)), lead)]
    title = "What judges say of the same two answers in both orders"
    drawn = plot_shares(bars, KINDS, look, "% of comparisons", title=title)
    words = (
        f"{title}, in % of comparisons: the same answer or a tie twice (mirrored), a tie once, the second or first "
        "place twice, or no verdict in one of them (invalid). Sorted by first twice minus second twice. Counts "
        "have no interval; rates with theirs are given elsewhere."
    )
    parts = [
        f"{source_name(data)} (n = {span_of(each)} comparisons a judge and candidate, unreadable "
        f"{100 * lost[data] / max(sum(each), 1):.1f} % ({lost[data]} of {sum(each)} comparisons))"
        for data, each in sizes.items()
    ]
    clauses = [
        f"{source_name(bar.data)}, {bar.label.replace(chr(10), ', ')}: "
        + ", ".join(f"{number} % {kind}" for kind, number in bar.numbers.items())
        for bar in bars
    ]
    text = f"Bars of pairs of verdicts by judge and candidate. {'; '.join(clauses)}."
    return drawn.finished(name, f"{words}{drawn.words} Data: {'; '.join(parts)}.", text)


def span_of(sizes: Sequence[int]) -> str:
    """The smallest and the largest of some counts, in words."""
    return f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"


CLASSES = ("no_bias", "weak_bias", "significant_bias")
#: In the order of CLASSES, in words that claim no test: the ids are the published names.
CLASS_FILLS = {"mirrored": COLOURS[5], "mirrored, other strength": "#B7DDF2", "not mirrored": COLOURS[6], INVALID: LOST}


def show_class_shares(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "class_shares"
) -> Figure:
    """In how many comparisons do the verdicts in both orders mirror each other, and how many cannot be read?

    Takes `no_bias`, `weak_bias`, `significant_bias` (of comparisons with two verdicts) and `invalid_share` (of all), or
    where these are not given the first three with `_published` (of all lines; `where`: judge, candidate; rates);
    `acceptable_rate` gives the interval of what mirrors with any strength. Sorted by the share that is not mirrored.
    """
    look, estimates, keys = style_of(style), list(estimates), ["judge", "candidate"]
    there = {each.id for each in estimates if set(each.where) == set(keys)}
    end = "" if "no_bias" in there or "no_bias_published" not in there else "_published"
    ids = [f"{each}{end}" for each in CLASSES]
    shown = pick(estimates, ids, keys)
    at = {(each.data, each.id, _pair(each)): each for each in estimates if set(each.where) == set(keys)}
    bars = []
    for data, group in by_data(shown).items():
        pairs = {_pair(each) for each in group}
        for pair in by_value(pairs, {pair: getattr(at.get((data, ids[2], pair)), "value", math.nan) for pair in pairs}):
            classes = [at.get((data, id, pair)) for id in ids]
            values = [math.nan if each is None else each.value for each in classes]
            invalid = None if end else at.get((data, "invalid_share", pair))
            gone = invalid.value if invalid is not None and not math.isnan(invalid.value) else 0.0
            if any(math.isnan(value) for value in values):
                bars.append(Bar(pair, {}, data))
                continue
            shares = dict(zip(CLASS_FILLS, [*(value * (1 - gone) for value in values), gone], strict=True))
            numbers = {part: f"{100 * share:.0f}" for part, share in shares.items()}
            sure = [classes[0], at.get((data, f"acceptable_rate{end}", pair))]
            lines = [((1 - gone) * e.low, (1 - gone) * e.high) for e in sure if e is not None and not math.isnan(e.low)]
            bars.append(Bar(pair, shares, data, numbers=numbers, lines=lines))
    title = "In how many comparisons the verdicts in both orders mirror each other"
    drawn = plot_shares(bars, CLASS_FILLS, look, "% of comparisons", title=title)
    words = "What the verdicts in both orders say together: mirrored with the same strength, with another one, or not "
    words += f"mirrored. {_rule(at, ids, end)}. Lines are intervals: above, of the share mirrored with the same "
    words += "strength; below, of the share mirrored at all. Sorted by the share not mirrored; nothing is tested."
    names = dict(zip(ids, CLASS_FILLS, strict=False))
    base = "" if end else ". Bars: of all comparisons; numbers here: of those with two readable verdicts"
    lost = _lost_pairs(estimates, shown)
    full = caption(words + drawn.words, shown, lost, COMPARISONS, "Bars without lines")
    return drawn.finished(name, full, alt(f"Stacked bars: {title}{base}", shown, names, 80))


def _rule(at: Mapping[tuple[str, str, str], Estimate], ids: Sequence[str], end: str) -> str:
    """How the bars count what cannot be read, and how many more the published rule calls not mirrored."""
    if end:
        return "The published rule reads the strings as stored and counts what it cannot read as not mirrored"
    more = []
    for (data, id, pair), values in at.items():
        stored, lost = (at.get((data, other, pair)) for other in (f"{ids[2]}_published", "invalid_share"))
        if id == ids[2] and stored is not None and lost is not None and values.value == values.value:
            more.append(100 * (stored.value - values.value * (1 - lost.value)))
    words = "Own classes read the labels and set apart what cannot be read (invalid)"
    rule = "the published rule counts as not mirrored whatever it cannot read as stored"
    return f"{words}; {rule}: at most {max(more):.1f} pp more than here" if more else words


def show_leaderboard_contrast(
    points: pd.DataFrame, style: str | Style = "paper", name: str = "leaderboard_contrast"
) -> Figure:
    """Do two judges disagree about models of their own families more than about those of third parties?

    Takes one row a model (columns: model; family, "third party" or the judge whose family it is of; judge_x, judge_y,
    the same two names in all rows; x and y, the logits of its win rate under each; line, low and high, the third-party
    line at its x with its 95 % prediction limits, NaN where none can be fitted; data). A row a model of an own family:
    how far it lies above the third-party line, in the band where third-party models scatter.
    """
    look, third = style_of(style), "third party"
    check_columns(points, ("model", "family", "judge_x", "judge_y", "x", "y", "line", "low", "high", "data"), "points")
    pair = []
    for column in ("judge_x", "judge_y"):
        names = sorted({plain(each) for each in points[column]})
        if len(names) > 1:
            raise ValueError(f"points: one {column} a figure, not {', '.join(names)}")
        pair += names
    check_values(points, "family", [third, *pair], "points")
    complete = points.dropna(subset=["x", "y"])
    rows, shown = [], []
    for row in complete[complete["family"] != third].itertuples():
        gap = Estimate("gap", {"judge": plain(row.family), "model": plain(row.model)}, row.y - row.line, unit="logit",
                       data=str(row.data), method="the point is one model's")  # fmt: skip
        looks = judge_looks(pair, look)
        family = f"family of {short(row.family, 26)}"
        shown.append(gap)
        rows.append(Row(short(row.model, 28), gap, gap.data, family, look=looks[plain(row.family)],
                        reach=(row.high - row.low) / 2))  # fmt: skip
    rows.sort(key=lambda row: (pair.index(row.estimate.where["judge"]), -row.estimate.value))
    title = f"How much kinder {short(pair[1], 24)} is than {short(pair[0], 24)} to models of their own families"
    axis = "above the line of third-party models (logit)"
    drawn = plot_intervals(rows, look, axis, title=title)
    counted = (complete["family"] == third).sum()
    words = (
        "Logits of the win rates that two judges give the same models: how far each model of their own families "
        f"lies above the line fitted to {counted} third-party models. Right of 0 {pair[1]} is kinder to it than "
        f"third-party models suggest, left of 0 {pair[0]} is. Grey: the 95 % prediction interval of one more "
        f"third-party model.{drawn.words}"
    )
    lost = len(points) - len(complete)
    words += f" {lost} without both win rates are left out." if lost else ""
    return drawn.finished(name, caption(words, shown), alt(title, shown, most=72))
