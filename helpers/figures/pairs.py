"""The figures of pairs of answers: places, classes of verdicts, choices, accuracy, and a judge's own answers."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from ..types import Estimate
from ..words import display_name, plain
from .intervals import Row
from .points import (
    OTHERS,
    PLAIN,
    SOFT,
    at_places,
    by_data,
    by_number,
    by_value,
    check_columns,
    check_values,
    judge_looks,
    pick,
    scale,
    short,
    source_name,
    span_of,
)
from .specs import SPECS, TITLES, Spec, chosen, draw, looks_of
from .style import COLOURS, GREY, Figure, Look, Style, style as style_of
from .tiles import LOST, Bar, plot_shares

if TYPE_CHECKING:
    import pandas as pd

#: Rows that fit on a page, and columns beside each other.
MOST_ROWS, MOST_COLUMNS = 38, 6
EFFECT = "first_position_effect"


def _pair(each: Estimate) -> str:
    """A judge, and under it the candidate."""
    return f"{short(each.where['judge'], 26)}\n{short(each.where['candidate'], 26)}"


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
    every = chosen(SPECS["position_effects"], estimates)
    there = {EFFECT, *(each.id for each in every if not math.isnan(each.value))}
    shown = [each for each in every if each.id in there]
    return draw("position_effects", estimates, style, name, shown, vendors=judge_vendors)


def show_released_places(
    estimates: Sequence[Estimate], title: str, since: str, style: str | Style = "paper", name: str = "released_places"
) -> Figure:
    """Which place does each recent judge favour in each source, and how often does its verdict change at all?

    Takes `released_position_effect` and `released_flip_rate` (`where`: source, judge, released), and for comparison
    `first_position_effect` and `position_consistency` of other published comparisons, of which the median is shown.
    Judges released before `since` are grey.
    """
    spec = SPECS["released_places"]
    every = [replace(each, method=each.method.split("; ")[0]) for each in chosen(spec, estimates)]
    effect, flips = spec.ids
    places = [each.where for each in every if each.id == effect and not math.isnan(each.value)]
    shown = [each for each in every if each.where in places]
    looks = looks_of(spec, shown, style_of(style))
    marks = {each: Look(GREY, looks[each].marker) for each in {e["judge"] for e in places if e["released"] < since}}
    others = {id: [e.value for e in estimates if e.id == id and "category" not in e.where and e.value == e.value]
              for id in (EFFECT, "position_consistency")}  # fmt: skip
    middle = {effect: statistics.median(others[EFFECT]), flips: 1 - statistics.median(others["position_consistency"])}
    older = {"source": f"{len(others[EFFECT])} other comparisons", "judge": "median"}
    medians = [Estimate(id, older, number, unit="pp", data="published") for id, number in middle.items()]
    marks = {**marks, "median": OTHERS}
    placed = [*shown, *medians]
    return draw(spec, (), style, name, shown, placed, marks=marks, heading=title, since=since)


def show_category_effects(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "category_effects"
) -> Figure:
    """Is the first place favoured in every category of questions, or in some?

    Takes `first_position_effect` (`where`: judge, candidate, category; pp), and that of all questions (judge,
    candidate) where it is given: a heading a comparison, a row a category.
    """
    split = chosen(SPECS["category_effects"], estimates)
    here = {(each.data, _pair(each)) for each in split}
    pooled = [each for each in estimates if each.id == EFFECT and set(each.where) == {"judge", "candidate"}]
    shown = [*(each for each in pooled if (each.data, _pair(each)) in here), *split]
    labels = [plain(each.where.get("category", "all questions")) for each in shown]
    return _grouped(SPECS["category_effects"], shown, labels, estimates, style, name)


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
    if not choices:
        raise ValueError(f"{id}: name the keys of `where` that are choices")
    shown, what = pick(estimates, [id], ["judge", "candidate", *choices]), plain(id).replace("_", " ")
    even = {"win_rate": 50.0}.get(id, math.nan if shown[0].unit == "rate" else 0.0)
    spec, title = SPECS["sensitivity"]._replace(line=even), TITLES.get(id, f"The {what} under each choice")
    labels = [_choice(each, choices) for each in shown]
    return _grouped(spec, shown, labels, estimates, style, name, what=what, heading=title)


def _choice(each: Estimate, choices: Sequence[str]) -> str:
    """The values of a choice in words; a bare number says nothing without its key."""
    values = [(key, plain(each.where[key])) for key in choices]
    return ", ".join(f"{plain(key)} {value}" if value.replace(".", "").isdigit() else value for key, value in values)


def _grouped(
    spec: Spec, shown: Sequence[Estimate], labels: Sequence[str], estimates: Sequence[Estimate], style: str | Style,
    name: str, **words: Any,
) -> Figure:  # fmt: skip
    """A heading for each judge and candidate and a row for each number; of many comparisons a column for each label."""
    columns = list(dict.fromkeys(labels))
    spec = spec._replace(sort_by=columns[0])
    if len(labels) > MOST_ROWS and len(columns) <= MOST_COLUMNS:
        heads = {label: label.replace("_", " ") if label.isidentifier() else label for label in columns}
        heads = {label: "\n".join(textwrap.wrap(short(head, 36), 12)) for label, head in heads.items()}
        spec = spec._replace(panel=["label"], group=[], row=spec.group, sort="row", values={"label": heads})
    placed = [replace(each, where={**each.where, "label": label}) for each, label in zip(shown, labels, strict=True)]
    return draw(spec, estimates, style, name, shown, placed, **words)


def show_sorted(
    estimates: Sequence[Estimate],
    id: str,
    line: float | None = None,
    other: Sequence[Estimate] = (),
    style: str | Style = "paper",
    name: str | None = None,
) -> Figure:
    """Which of many is highest, and how sure is it: one number of each place, from the largest to the smallest?

    Takes estimates of one `id` with equal keys in `where`. `line`: the stored value of no bias, dashed. `other` may
    hold `unreadable_share`, for the caption.
    """
    keys = {tuple(sorted(each.where)) for each in estimates if each.id == id}
    shown = pick(estimates, [id], *(keys or {()}))
    if len(keys) > 1:
        raise ValueError(f"{id}: keys of places differ; give one set of keys")
    ranked = sorted(shown, key=lambda each: (math.isnan(each.value), -each.value, _place(each)))
    what, line = plain(id).replace("_", " "), math.nan if line is None else scale(shown[0].unit)[0] * line
    title = TITLES.get(id, f"The {what} of each {' and '.join(ranked[0].where) or 'file'}")
    rows, spec = [Row(_place(each), each, each.data) for each in ranked], SPECS["sorted"]._replace(line=line)
    return draw(spec, other, style, name or id, ranked, rows=rows, beside=other, what=what, heading=title)


def _place(each: Estimate) -> str:
    """A row's name: what was judged, by whom."""
    places = [(key, display_name(value) if "vendor" in key else plain(value)) for key, value in each.where.items()]
    what = ", ".join(value for key, value in places if key != "judge")
    by = next((value for key, value in places if key == "judge"), "")
    return f"{what}, {by}" if what and by else what or by


PEOPLE = Look(SOFT, "D")
VOTES = ("all", "decisive")


def show_accuracy(
    estimates: Sequence[Estimate], categories: Sequence[str] = (), style: str | Style = "paper", name: str = "accuracy"
) -> Figure:
    """How often is each judge right where it is known which answer is better?

    Takes `gold_accuracy` (`where`: judge, and source) and, for each of `categories`, `gold_accuracy_by_category`: a
    heading a source, a row a judge, sorted, a column for all and for each category. Dashed: 50 %, where it was tested.
    """
    every = pick(estimates, ["gold_accuracy"], ["judge"], ["source", "judge"])
    parts = [e for e in estimates if e.id == "gold_accuracy_by_category" and e.where["category"] in categories]
    ranked = sorted(every, key=lambda each: (math.isnan(each.value), -each.value, each.where["judge"]))
    split = sorted(parts, key=lambda each: categories.index(each.where["category"]))
    placed = [replace(e, where={"column": e.where.get("category", "all"), **e.where}) for e in (*ranked, *split)]
    shown = [*every, *parts]
    tested = {plain(each.where.get("source", "")) for each in every if each.p == each.p}
    others = ", ".join(sorted({plain(each.where.get("source", "")) for each in every} - tested))
    untested = f" (nothing of {others} was tested against it)" if others else ""
    spec = SPECS["accuracy"]._replace(line=50 if tested else math.nan)
    return draw(spec, estimates, style, name, shown, placed, untested=untested, after=_counted_by_question(shown))


def show_agreement(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "agreement") -> Figure:
    """Does each judge say what a person says as often as another person does?

    Takes `human_agreement` and `human_human_agreement` (`where`: votes, and judge, source, condition); a row a judge
    and condition with the people of that source beside it, a column for all votes and for those without ties. Where a
    source has several conditions, that of all together is left out.
    """
    spec = SPECS["agreement"]
    every = [each for each in pick(estimates, list(spec.ids), *spec.where) if each.where["votes"] in VOTES]
    several = {(e.data, e.where.get("source")) for e in every if e.where.get("condition") not in (None, "all", "none")}
    every = [e for e in every if e.where.get("condition") != "all" or (e.data, e.where.get("source")) not in several]
    every.sort(key=lambda e: (VOTES.index(e.where["votes"]), math.isnan(e.value), -e.value, e.where["judge"]))
    where = ("source", "condition", "votes")
    people = at_places((each for each in estimates if each.id == "human_human_agreement"), *where)
    placed, shown = list[Estimate](), list[Estimate]()
    for each in every:
        condition = each.where.get("condition", "")
        words = "" if condition in ("", "none", "all") else f", {plain(condition)}"
        place = {**each.where, "row": short(each.where["judge"], 28) + words}
        other = people.get((each.data, "human_human_agreement", *(each.where.get(key, "") for key in where)))
        for number, who in ((each, "judge"), (other, "people")):
            placed += [replace(number, where={**place, "who": who})] if number else []
            shown += [number] if number and number not in shown else []
    marks, legend = {"people": PEOPLE}, {"judge": PLAIN, "another person": PEOPLE}
    after = _counted_by_question(shown)
    return draw(spec, estimates, style, name, shown, placed, marks=marks, legend=legend, after=after)


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


def show_outcome_grid(counts: pd.DataFrame, style: str | Style = "paper", name: str = "outcome_grid") -> Figure:
    """What did each judge say of the same two answers in both orders, and how often did the same place win twice?

    Takes one row a cell (columns: source, judge, candidate, game_1 and game_2 (A>>B, A>B, A=B, B>A, B>>A or invalid),
    count, data); a bar a source, judge and candidate, sorted by how much more often the first place won twice than the
    second. How often each pair of verdicts was given stands in the table of patterns.
    """
    spec, keys = SPECS["outcome_grid"], ["data", "source", "judge", "candidate"]
    check_columns(counts, COLUMNS, "counts")
    for column in ("game_1", "game_2"):
        check_values(counts[column], GAMES, f"counts: {column}")
    kinds = [kind_name(str(one), str(two)) for one, two in zip(counts["game_1"], counts["game_2"], strict=True)]
    # Signs that no string of pandas can hold are shown as everywhere on figures.
    names = {key: [plain(each) for each in counts[key]] for key in keys}
    table = counts.assign(kind=kinds, **names).pivot_table("count", keys, "kind", "sum", 0, sort=False)
    table, bars = table.reindex(columns=[*KINDS], fill_value=0).astype(int), list[Bar]()
    for data, source, judge, candidate in table.index:
        cell = table.loc[(data, source, judge, candidate)]
        # A path begins with what judge and candidate do not say: the version of the questions.
        head, label = source.split("/")[0], f"{short(judge, 26)}\n{short(candidate, 26)}"
        group = "" if head in (judge, candidate, data, "asked") else head
        group = source if any((bar.data, bar.group, bar.label) == (data, group, label) for bar in bars) else group
        bars.append(Bar(label, (cell / max(cell.sum(), 1)).to_dict(), data, group, note=f"n = {cell.sum()}"))
    lead = {i: bar.shares["first twice"] - bar.shares["second twice"] for i, bar in enumerate(bars)}
    bars = [bars[i]._replace(numbers={kind: f"{100 * share:.0f}" for kind, share in bars[i].shares.items()})
            for i in by_value(lead, lead)]  # fmt: skip
    drawn = plot_shares(bars, KINDS, style_of(style), "% of comparisons", title=spec.title)
    parts, clauses = [], []
    for data in dict.fromkeys(table.index.get_level_values("data")):
        mine, what = table.loc[data], "comparisons a judge and candidate"
        parts.append(counted(data, mine.sum(axis=1).tolist(), what, mine[INVALID].sum(), "comparisons"))
    for bar in bars:
        numbers = ", ".join(f"{number} % {kind}" for kind, number in bar.numbers.items())
        clauses.append(f"{source_name(bar.data)}, {bar.label.replace(chr(10), ', ')}: {numbers}")
    return spec.finished(drawn, name, data="; ".join(parts), clauses="; ".join(clauses))


def counted(data: str, sizes: Sequence[int], what: str, lost: int, replies: str) -> str:
    """What a caption says of the counts of a source: their sizes, and how many of them could not be read."""
    unreadable = f"unreadable {100 * lost / max(sum(sizes), 1):.1f} % ({lost} of {sum(sizes)} {replies})"
    return f"{source_name(data)} (n = {span_of(sizes) or 0} {what}, {unreadable})"


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
    spec = SPECS["class_shares"]
    at = {(e.data, e.id, _pair(e)): e for e in estimates if set(e.where) == {"judge", "candidate"}}
    there = {id for _, id, _ in at}
    end = "" if "no_bias" in there or "no_bias_published" not in there else "_published"
    ids = [f"{each}{end}" for each in CLASSES]
    shown = pick(estimates, ids, ["judge", "candidate"])
    bars, more = list[Bar](), list[float]()
    for data, group in by_data(shown).items():
        last = {_pair(each): each.value for each in group if each.id == ids[2]}
        for pair in by_value(map(_pair, group), last):
            here = {id: each for (source, id, whose), each in at.items() if (source, whose) == (data, pair)}
            values = [here[id].value if id in here else math.nan for id in ids]
            invalid = here["invalid_share"].value if "invalid_share" in here and not end else math.nan
            gone = 0.0 if math.isnan(invalid) else invalid
            if any(map(math.isnan, values)):
                bars.append(Bar(pair, {}, data))
                continue
            shares = dict(zip(CLASS_FILLS, [*(value * (1 - gone) for value in values), gone], strict=True))
            sure = [here[id] for id in (ids[0], f"acceptable_rate{end}") if id in here and not math.isnan(here[id].low)]
            lines = [((1 - gone) * each.low, (1 - gone) * each.high) for each in sure]
            numbers = {part: f"{100 * share:.0f}" for part, share in shares.items()}
            bars.append(Bar(pair, shares, data, numbers=numbers, lines=lines))
            if (stored := here.get(f"{ids[2]}_published")) and not math.isnan(invalid):
                more.append(100 * (stored.value - shares["not mirrored"]))
    drawn = plot_shares(bars, CLASS_FILLS, style_of(style), "% of comparisons", title=spec.title)
    # How many more the published rule calls not mirrored, in pp.
    compared = f"{max(more):.1f}" if more else ""
    base = "" if end else ". Bars: of all comparisons; numbers here: of those with two readable verdicts"
    spec = spec._replace(ids=dict(zip(ids, CLASS_FILLS, strict=False)))
    return draw(spec, estimates, style, name, shown, drawn=drawn, published=end, compared=compared, base=base)


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
    check_values(points["family"], [third, *pair], "points: family")
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
    values: dict[str, Any] = {"x": pair[0], "y": pair[1], "counted": (complete["family"] == third).sum()}
    values |= {"short_x": short(pair[0], 24), "short_y": short(pair[1], 24), "gone": len(points) - len(complete)}
    return draw("leaderboard_contrast", (), style, name, shown, rows=rows, **values)


# --- a judge's own answers --------------------------------------------------------------------------------------------


def show_baseline_gap(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "baseline_gap"
) -> Figure:
    """What is left of a judge's votes for its own wrong answer beside the same belief and beside the same text?

    Takes `naive_harmful_rate` (`where`: judge; rate), `evaluator_quality_gap` (judge, stratum; pp) and
    `same_text_other_judges` (judge; pp): a column each, judges sorted by the gap of the same label.
    """
    return draw("baseline_gap", estimates, style, name)


def show_obfuscation_slopes(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "obfuscation_slopes"
) -> Figure:
    """Does an edit of its own wrong answer turn a judge to the right one, and other judges of the same texts as well?

    Takes `harmful_score` (`where`: judge, by "own" | "third party", arm "repeat" | "edited"; rates, right picks).
    """
    legend = {"the judge itself": PLAIN, "judges of a third vendor": OTHERS}
    return draw("obfuscation_slopes", estimates, style, name, marks={"third party": OTHERS}, legend=legend)


def show_dose_curve(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "dose_curve") -> Figure:
    """Does an effect of hiding the authorship grow with the number of words that are replaced?

    Takes `obfuscation_effect` (`where`: judge, dose; "paraphrase" stands apart), in one unit. 0 words is the repeat
    arm, whose effect is 0 by definition.
    """
    dose = by_number(each.where["dose"] for each in chosen(SPECS["dose_curve"], estimates))[0]
    return draw("dose_curve", estimates, style, name, dose=dose if dose.isdigit() else "")


def show_recognition_against_preference(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "recognition_against_preference"
) -> Figure:
    """Where an edit makes a judge know its own wrong answer less, does it also prefer that answer less?

    Takes `recognition_change` and `preference_change` (`where`: judge, dose; pp): a column each.
    """
    return draw("recognition_against_preference", estimates, style, name)


PHASES = {"before": Look(GREY, "o"), "after": Look(COLOURS[4], "D")}


def show_replication(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "replication") -> Figure:
    """Which way does the published edit of two words go, by what was compared and by which definition?

    Takes `harmful_self_preference_rate` and `wrong_of_self_selected` (`where`: run, records, phase "before" | "after");
    a row for each run and kind of records, a column for each of the two.
    """
    # The same ids stand for single judges and opponents too; the picture is of the totals.
    totals = [each for each in estimates if set(each.where) == {"run", "records", "phase"}]
    legend = {f"{phase} two words were replaced": each for phase, each in PHASES.items()}
    return draw("replication", totals, style, name, marks=PHASES, legend=legend)


OUTCOMES = {"right both ways": COLOURS[5], "split": "#EFEFEF", "wrong both ways": COLOURS[4], "unreadable": LOST}


def show_outcomes(frame: pd.DataFrame, data: str, style: str | Style = "paper", name: str = "outcomes") -> Figure:
    """What did each judge make of pairs with an answer of its own: where that is the wrong one, and the right one?

    Takes one row a cell (columns: judge, judge_vendor, kind "harmful" | "beneficial", outcome "right both ways" |
    "split" | "wrong both ways" | "unreadable", count of items). Without a row it says that no judge was shown an answer
    of its own.
    """
    look, spec = style_of(style), SPECS["outcomes"]
    check_columns(frame, ("judge", "judge_vendor", "kind", "outcome", "count"), "outcomes", rows=0)
    check_values(frame["kind"], ("harmful", "beneficial"), "outcomes: kind")
    check_values(frame["outcome"], OUTCOMES, "outcomes: outcome")
    vendors = dict(zip(frame["judge"].astype(str), frame["judge_vendor"].astype(str), strict=True))
    bars, clauses, sizes, unreadable = list[Bar](), [], list[int](), 0
    for judge, kind in product(judge_looks(vendors, look, vendors), ("harmful", "beneficial")):
        mine = frame[(frame["judge"].astype(str) == judge) & (frame["kind"] == kind)]
        cell = {part: int(mine.loc[mine["outcome"] == part, "count"].sum()) for part in OUTCOMES}
        total = sum(cell.values())
        shares = {part: n / max(total, 1) for part, n in cell.items()}
        numbers = {part: str(n) for part, n in cell.items()}
        label = f"own answer {'wrong' if kind == 'harmful' else 'right'}"
        bars.append(Bar(label, shares, data, short(judge, 30), numbers, note=f"{total} items"))
        clauses.append(f"{plain(judge)}, {kind}: " + ", ".join(f"{n} {part}" for part, n in cell.items()))
        sizes, unreadable = [*sizes, total], unreadable + cell["unreadable"]
    drawn = plot_shares(bars or [Bar("no such pair", {}, data)], OUTCOMES, look, "share of items (%)", title=spec.title)
    size = counted(data, sizes, "items a bar", unreadable, "items")
    return spec.finished(drawn, name, bars=bars, data=size, source=source_name(data), clauses="; ".join(clauses))


def show_funnel(steps: pd.DataFrame, data: str, style: str | Style = "paper", name: str = "funnel") -> Figure:
    """How much is left after each step from answers to the items that are compared, and why is the rest lost?

    Takes one row a step (columns: step; count, what is left; lost; why, its reasons in words), a bar a step.
    """
    look, spec = style_of(style), SPECS["funnel"]
    check_columns(steps, ("step", "count", "lost", "why"), "steps")
    bars, parts = [], []
    for row in steps.rename(columns={"count": "left"}).itertuples():
        total = int(row.left + row.lost)
        shares = {"left": row.left / max(total, 1), "lost": row.lost / max(total, 1)}
        note = f"{row.left} of {total}" if row.lost else f"{row.left}"
        bars.append(Bar(plain(row.step), shares, data, note=note))
        parts.append(f"{plain(row.step)}: {row.left}" + (f", {row.lost} lost ({plain(row.why)})" if row.lost else ""))
    fills = {"left": COLOURS[5], "lost": LOST}
    drawn = plot_shares(bars, fills, look, "% of what the step began with", title=spec.title)
    lost = "; ".join(f"{plain(row.step)}: {plain(row.why)}" for row in steps.itertuples() if row.lost)
    return spec.finished(drawn, name, lost=lost, source=source_name(data), clauses="; ".join(parts))
