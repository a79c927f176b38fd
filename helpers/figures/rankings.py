"""The figures of whom judges rank first, and of what they are told: which numbers each shows, and its caption."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..types import Estimate
from ..words import display_name, p_text, plain
from .curves import plot_curves
from .intervals import Row, plot_intervals, reference
from .points import (
    HINTS,
    MEAN,
    NOT_ESTIMABLE,
    PLAIN,
    alt,
    at_places,
    by_data,
    by_number,
    by_value,
    caption,
    in_order,
    judge_looks,
    losses,
    pick,
    scale,
    short,
    source_name,
)
from .style import COLOURS, GREY, INK, MARKERS, Figure, Look, Style, style as style_of
from .tiles import Cell, plot_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

AVERAGE = "average"
LEVEL = 0.05


def _vendors(shown: Iterable[Estimate], look: Style) -> dict[str, Look]:
    return look.looks({each.where["vendor"] for each in shown})


# --- experiment 1: whom judges rank first -----------------------------------------------------------------------------

READINGS = {"naive": "naive: own \N{MINUS SIGN} expected", "excess": "excess over others", "logit": "logit, marginal"}


def show_self_preference(
    naive: Sequence[Estimate],
    excess: Sequence[Estimate],
    logit: Sequence[Estimate],
    style: str | Style = "paper",
    name: str = "self_preference",
    unreadable: Sequence[Estimate] = (),
) -> Figure:
    """How much more often than it should does a vendor's judge rank its own vendor first, by three estimators?

    Each list has one estimate a vendor and data source (`where`: vendor) in pp; `logit`: average marginal effects. The
    caption's unreadable share is read from the `unreadable_share` among `unreadable`. No number at all is a
    ValueError.
    """
    look, lists = style_of(style), {"naive": naive, "excess": excess, "logit": logit}
    shown = []
    for kind, estimates in lists.items():
        found = pick(estimates, sorted({each.id for each in estimates}), ["vendor"]) if estimates else []
        odd = next((each for each in found if each.unit != "pp"), None)
        if odd:
            raise ValueError(f"{odd.id}[{odd.where['vendor']}] has unit '{odd.unit}'; this figure shows pp")
        shown += [replace(each, id=kind) for each in found]
    if not shown:
        raise ValueError("show_self_preference: all three lists of estimates are empty")
    looks, at = _vendors(shown, look), at_places(shown, "vendor")
    rows = []
    for data, group in by_data(shown).items():
        asked = {each.where["vendor"] for each in group}
        rows += [
            Row(words, at.get((data, kind, vendor)), data, display_name(vendor), look=looks[vendor],
                absent="not estimable" if vendor in asked else "not asked")
            for vendor in looks for kind, words in READINGS.items()
        ]  # fmt: skip
    title = "How much more often judges rank their own vendor first, by estimator"
    drawn = plot_intervals(rows, look, "difference (pp)", title=title)
    words = (
        "Self-preference of each vendor's judges: own top-1 rate minus the own vendor's share of candidates "
        "(naive), excess over the other vendors' judges on the same answers, and "
    )
    words += "the average marginal effect of a rank-ordered logit" if logit else (
        "a rank-ordered logit, which needs whole rankings and is not estimable here"
    )  # fmt: skip
    words = f"{words}. 0 (dashed) = none.{drawn.words}"
    lost = [each for each in unreadable if each.id == "unreadable_share"]
    text = alt("Dot plot of self-preference by vendor and estimator", shown, READINGS)
    return drawn.finished(name, caption(words, shown, lost), text)


def show_released_own(
    estimates: Sequence[Estimate], title: str, style: str | Style = "paper", name: str = "released_own"
) -> Figure:
    """Does a judge rank its own answers better, or all of its vendor's: the published contrast beside the joint fit?

    Takes `released_own_rank` (`where`: source, judge, vendor, released, term): a row a judge, a mark a term.
    """
    look, shown = (
        style_of(style),
        pick(estimates, ["released_own_rank"], ["source", "judge", "vendor", "released", "term"]),
    )
    terms = list(dict.fromkeys(each.where["term"] for each in shown))
    looks = dict(
        zip(terms, (Look(GREY, "o"), Look(GREY, "s"), Look(COLOURS[0], "D"), Look(COLOURS[6], "^")), strict=False)
    )
    rows = [Row(each.where["judge"], each, each.data, series=each.where["term"], look=looks[each.where["term"]])
            for each in shown]  # fmt: skip
    drawn = plot_intervals(rows, look, "places, below 0: ranked better", 0.0, legend=looks, title=title, hollow=False)
    words = f"{title}. Grey: contrasts as published; coloured: terms of one fit to all mean ranks.{drawn.words}"
    return drawn.finished(name, caption(words, shown, counted=("questions", "", ""), bare="Marks"), alt(title, shown))


def show_judge_vendor_heatmap(
    estimates: Sequence[Estimate],
    judge_vendors: Mapping[str, str] | None = None,
    style: str | Style = "paper",
    name: str = "judge_vendor_heatmap",
) -> Figure:
    """How often does each judge rank each vendor first, and is its own vendor the darkest cell?

    Takes `top1_rate` (`where`: judge, vendor; rates). Outlined: cells of the judge's own vendor (of `judge_vendors`, or
    the one that its name holds).
    """
    look, shown = style_of(style), pick(estimates, ["top1_rate"], ["judge", "vendor"])
    vendors = _vendors(shown, look)
    judges = judge_looks({each.where["judge"] for each in shown}, look, judge_vendors)
    at = at_places(shown, "judge", "vendor")
    cells = []
    for data, group in by_data(shown).items():
        mine = [judge for judge in judges if any(each.where["judge"] == judge for each in group)]
        for judge, vendor in ((judge, vendor) for judge in mine for vendor in vendors):
            each = at.get((data, "top1_rate", judge, vendor))
            same_vendor = judges[judge] == vendors[vendor]
            cells.append(_percent(each, judge, display_name(vendor), data, same_vendor))
    title = "How often each judge ranks each vendor first"
    drawn = plot_table(cells, look, "vendor ranked first (% of the judge's verdicts)", span=(0, 1.35), title=title)
    words = f"How often each judge (row) ranks each vendor first, in %; outlined: its own vendor.{drawn.words}"
    lost = losses(estimates, "unreadable_share", shown, "judge")
    return drawn.finished(name, caption(words, shown, lost, bare="One number a cell"), alt(title, shown))


def _percent(each: Estimate | None, row: str, column: str, data: str, outlined: bool = False) -> Cell:
    """A rate in %, its interval below it."""
    if each is None or math.isnan(each.value):
        return Cell(row, column, math.nan, NOT_ESTIMABLE if each is not None else "not\nasked", data)
    interval = "" if math.isnan(each.low) else f"\n[{100 * each.low:.0f}, {100 * each.high:.0f}]"
    return Cell(row, column, each.value, f"{100 * each.value:.1f}{interval}", data, outlined)


def show_categories(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "categories") -> Figure:
    """In which categories do a vendor's judges rank their own vendor first, and how often?

    Takes `category_self_bias` (`where`: vendor, category; rates), categories sorted by their mean rate over vendors in
    the first data source.
    """
    look, shown = style_of(style), pick(estimates, ["category_self_bias"], ["vendor", "category"])
    title = "How often judges rank their own vendor first, by category of question"
    return _series(shown, "category", title, f"{title}.", look, name, losses(estimates, "unreadable_share", shown))


def _series(
    shown: Sequence[Estimate], key: str, title: str, words: str, look: Style, name: str,
    lost: Sequence[Estimate], order: Sequence[str] = (),
) -> Figure:  # fmt: skip
    """Own-vendor rates: a row for each value of `key`, in it a point for each vendor."""
    looks, at = _vendors(shown, look), at_places(shown, "vendor", key)
    id, sources = shown[0].id, by_data(shown)
    means: dict[str, list[float]] = {each.where[key]: [] for each in shown}
    for each in next(iter(sources.values())):
        means[each.where[key]] += [each.value] if each.value == each.value else []
    ranked = list(order) or by_value(means, {each: sum(v) / len(v) if v else math.nan for each, v in means.items()})
    rows = [
        Row(plain(value), at.get((data, id, vendor, value)), data, series=vendor, look=look_of)
        for data, group in sources.items()
        for value in ranked if not order or any(each.where[key] == value for each in group)
        for vendor, look_of in looks.items()
    ]  # fmt: skip
    legend = {display_name(vendor): each for vendor, each in looks.items()}
    axis = "own vendor ranked first (%)"
    drawn = plot_intervals(rows, look, axis, None, limits=(-4, 104), legend=legend, title=title)
    text = alt(f"Dot plot of own-vendor top-1 rates by {key}", shown)
    return drawn.finished(name, caption(words + drawn.words, shown, lost), text)


def show_positions(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "positions") -> Figure:
    """Does the place in which an answer is shown change how it is judged?

    Takes `position_effect` (`where`: slot, "1" = shown first), in pp or logit; 0 = no effect.
    """
    look, shown = style_of(style), pick(estimates, ["position_effect"], ["slot"])
    odd = sorted(
        {each.where["slot"] for each in shown if not each.where["slot"].isdigit() or each.where["slot"] == "0"}
    )
    if odd:
        raise ValueError(f"position_effect: slot {', '.join(odd)}; slots are counted '1', '2', ... ('1' = shown first)")
    slots, at = by_number(each.where["slot"] for each in shown), at_places(shown, "slot")
    rows = [
        Row("shown first" if slot == "1" else f"place {slot}", at.get((data, "position_effect", slot)), data)
        for data in by_data(shown) for slot in slots
    ]  # fmt: skip
    unit = scale(shown[0].unit)[1]
    title = "Effect of the place in which an answer is shown"
    axis = "effect on rank (logit)" if unit == "logit" else f"effect on being ranked first ({unit})"
    drawn = plot_intervals(rows, look, axis, title=title)
    words = f"{title}. 0 (dashed) = none.{drawn.words}"
    lost = losses(estimates, "unreadable_share", shown)
    text = alt("Dot plot of the effect of each place", shown)
    return drawn.finished(name, caption(words, shown, lost), text)


def show_tiers(
    estimates: Sequence[Estimate], tier: str = "thinking", style: str | Style = "paper", name: str = "tiers"
) -> Figure:
    """When a vendor is ranked first, how often is it by its `tier` model?

    Takes `tier_preference` or `tier_share` (`where`: vendor and, if given, judge and tier; rates); dashed: one half.
    """
    look = style_of(style)
    keys = (["vendor"], ["vendor", "tier"], ["judge", "vendor"], ["judge", "vendor", "tier"])
    every = pick(estimates, ["tier_preference", "tier_share"], *keys)
    shown = [each for each in every if each.where.get("tier", tier) == tier]
    if not shown:
        raise ValueError(f"no tier shares of tier '{tier}'; there are: {sorted({e.where['tier'] for e in every})}")
    looks = _vendors(shown, look)
    ranked = sorted(shown, key=lambda each: (each.where.get("judge", ""), list(looks).index(each.where["vendor"])))
    rows = [
        Row(display_name(each.where["vendor"]), each, each.data, plain(each.where.get("judge", "")),
            look=looks[each.where["vendor"]])
        for each in ranked
    ]  # fmt: skip
    whose = {data: _whose(group, data, estimates) for data, group in by_data(shown).items()}
    title = f"How often a vendor that is ranked first is so by its {short(tier, 24)} model"
    drawn = plot_intervals(rows, look, f"share of {short(tier, 12)} (%)", 50, limits=(-4, 104), title=title)
    words = f"Share of the {plain(tier)} model among the top-1s of each vendor; dashed: half."
    if len(set(whose.values())) > 1:
        sources = "; ".join(f"{source_name(data)}: {judges}" for data, judges in whose.items())
        words += f" Not the same judges ({sources}), so the sources cannot be compared number by number."
    lost = losses(estimates, "unreadable_share", shown)
    text = alt(f"Dot plot of the share of the {plain(tier)} model among each vendor's top-1s", shown)
    return drawn.finished(name, caption(words + drawn.words, shown, lost), text)


def _whose(group: Sequence[Estimate], data: str, estimates: Sequence[Estimate]) -> str:
    """Whose verdicts a source counts; how many were pooled is read from the shares of unreadable replies."""
    judges = sorted({plain(each.where["judge"]) for each in group if "judge" in each.where})
    count = len({each.where["judge"] for each in estimates if each.id == "unreadable_share" and each.data == data})
    return f"{', '.join(judges)} alone" if judges else f"all {count or ''} judges pooled".replace("  ", " ")


# --- experiment 2: hints ----------------------------------------------------------------------------------------------


def show_hint_slopes(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "hint_slopes") -> Figure:
    """Does a vendor's judge rank its own vendor first more or less often when authors are named?

    Takes `self_bias` (`where`: vendor, hint; rates), hints in the order none, self, competitors, full, swapped, others.
    """
    look, shown = style_of(style), pick(estimates, ["self_bias"], ["vendor", "hint"])
    lost = losses(estimates, "unreadable_share", shown, "hint")
    title = "How often judges rank their own vendor first, by what they are told of the authors"
    words = (
        f"{title} (none: nothing). Intervals are those of each rate alone; differences are paired and shown elsewhere."
    )
    words += by_group(lost)
    hints = in_order((each.where["hint"] for each in shown), HINTS)
    return _series(shown, "hint", title, words, look, name, lost, hints)


def by_group(lost: Sequence[Estimate]) -> str:
    """Unreadable shares by data source and group, where any were lost; groups that lose unequally compare badly."""
    clauses = []
    for data, group in by_data(lost).items():
        shares = {}
        for hint in in_order((each.where["hint"] for each in group), HINTS):
            mine = [each for each in group if each.where["hint"] == hint and each.n]
            shares[hint] = sum(each.value * each.n for each in mine) / max(sum(each.n for each in mine), 1)
        if len(shares) > 1 and any(shares.values()):
            clauses.append(f"{data}: " + ", ".join(f"{hint} {100 * share:.1f} %" for hint, share in shares.items()))
    return f" Unreadable by group ({'; '.join(clauses)})." if clauses else ""


def show_hint_effects(
    estimates: Sequence[Estimate],
    margin_pp: float = 5.0,
    conclusions: Mapping[str, str] | None = None,
    style: str | Style = "paper",
    name: str = "hint_effects",
    note: str = "",
) -> Figure:
    """How much does a hint change the own-vendor rate, against a margin below which a change is of no matter?

    Takes `hint_effect` (`where`: hint, vendor; vendor "average" = mean over vendors; pp), for averages
    `hint_effect_90` (thicker line), `name_effect` (`where`: vendor), and published `hint_change` (no interval). `note`
    ends the caption. `conclusions`, a word a hint, stand beside the averages of the data source that has effects.
    """
    look, estimates = style_of(style), list(estimates)
    shown = pick(estimates, ["hint_effect", "hint_change"], ["hint", "vendor"])
    effects = {each.data for each in shown if each.id == "hint_effect"}
    if conclusions and len(effects) > 1:
        raise ValueError(
            f"conclusions are words a hint; hint_effect is of {', '.join(sorted(effects))}: filter it first"
        )
    shown += [each for each in estimates if each.id == "name_effect" and set(each.where) == {"vendor"}]
    wide = at_places((each for each in estimates if each.id == "hint_effect_90"), "hint")
    looks = {AVERAGE: MEAN, **look.looks({each.where["vendor"] for each in shown} - {AVERAGE})}
    rows = []
    for data, group in by_data(shown).items():
        at = {(each.where.get("hint", ""), each.where["vendor"]): each for each in group}
        for hint in [*in_order((key for key, _ in at if key), HINTS), *([""] if ("", AVERAGE) in at else [])]:
            for vendor, look_of in looks.items():
                mean = vendor == AVERAGE
                words = "mean over vendors" if mean else display_name(vendor)
                inner = wide.get((data, "hint_effect_90", hint)) if mean and hint else None
                ending = (conclusions or {}).get(hint, "") if mean and data in effects else ""
                group_of = f"{hint} against none" if hint else "shown under the own name"
                rows.append(Row(words, at.get((hint, vendor)), data, group_of, look=look_of, inner=inner, note=ending))
    title = "How each hint changes the own-vendor rate"
    drawn = plot_intervals(rows, look, "change (pp)", band=margin_pp, title=title)
    words = (
        "Change of the own-vendor top-1 rate under each hint against none; diamonds: the mean over vendors, with "
        f"its 90 % interval as the thicker line. Shaded: within \N{PLUS-MINUS SIGN}{margin_pp:g} pp; only an "
        "average whose 90 % interval lies inside can be equivalent to none, and is where Holm's correction over "
        "the hints leaves it so. Dashed: no change."
    )
    if any(each.id == "name_effect" for each in shown):
        words += (
            " Last: how much more often an answer is ranked first when shown under the judge's own vendor's name "
            "than under another name, names being exchanged at random."
        )
    lost = losses(estimates, "unreadable_share", [*shown, *(replace(e, where={"hint": "none"}) for e in shown)], "hint")
    ending = "".join(f" {hint}: {word}." for hint, word in (conclusions or {}).items())
    kinds = {"hint_effect": "effect", "hint_change": "change", "name_effect": "name effect"}
    text = alt("Dot plot of the effect of each hint, by vendor and on average", shown, kinds, 40) + ending
    full = f"{caption(words + drawn.words, shown, lost)}{by_group(lost)} {note}".strip()
    return drawn.finished(name, full, text)


def show_category_groups(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "category_groups"
) -> Figure:
    """In which category is the own-vendor rate how high under which hint?

    Takes `category_average_self_bias` (`where`: category, hint; rates). The lowest number of each row is outlined, and
    all equal to it.
    """
    look, shown = style_of(style), pick(estimates, ["category_average_self_bias"], ["category", "hint"])
    at, id = at_places(shown, "category", "hint"), shown[0].id
    hints = in_order((each.where["hint"] for each in shown), HINTS)
    cells = []
    for data, group in by_data(shown).items():
        for category in sorted({each.where["category"] for each in group}):
            here = {hint: at.get((data, id, category, hint)) for hint in hints}
            marked = lowest({hint: each for hint, each in here.items() if each is not None})
            cells += [_percent(each, category, hint, data, hint in marked) for hint, each in here.items()]
    title = "How often judges rank their own vendor first (%), by category and hint"
    drawn = plot_table(cells, look, "what judges are told", span=(0, 1.35), title=title)
    words = (
        f"{title}: mean over vendors. Outlined: the lowest number of each row, all of them where several are "
        f"equal; an outline is a minimum of noisy numbers and no finding.{drawn.words}"
    )
    lost = losses(estimates, "unreadable_share", shown, "hint")
    full = caption(words, shown, lost, bare="One number a cell")
    return drawn.finished(name, full, alt(title, shown, most=40))


def lowest(cells: Mapping[str, Estimate]) -> list[str]:
    """The keys of the lowest number and of all equal to it; sums of the same counts may differ in the last digit."""
    values = {key: each.value for key, each in cells.items() if not math.isnan(each.value)}
    return [key for key, value in values.items() if value <= min(values.values()) + 1e-12]


METRICS = {
    "deviation_from_expected": "deviation\nfrom expected",
    "balance": "balance\n(overall)",
    "consistency_judges": "consistency\n(over judges)",
    "consistency_vendors": "consistency\n(over vendors)",
}
FLOOR = Look(COLOURS[6], "|")


def show_group_metrics(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "group_metrics"
) -> Figure:
    """How do the four published metrics differ between hints, and how large would each be by noise alone?

    Takes the ids of METRICS (`where`: hint; pp) and, as an upright tick, `<id>_noise_floor`.
    """
    look, estimates = style_of(style), list(estimates)
    ids = [id for id in METRICS if any(each.id == id and set(each.where) == {"hint"} for each in estimates)]
    shown = pick(estimates, ids or list(METRICS), ["hint"])
    floors = at_places((each for each in estimates if each.id.endswith("_noise_floor")), "hint")
    at, hints = at_places(shown, "hint"), in_order((each.where["hint"] for each in shown), HINTS)
    rows = []
    for id, words in METRICS.items():
        for data, group in by_data(shown).items():
            for hint in [hint for hint in hints if any(each.where["hint"] == hint for each in group)]:
                absent = "not derivable" if data == "published" else "not given"
                rows.append(Row(hint, at.get((data, id, hint)), data, panel=words, absent=absent))
                floor = floors.get((data, f"{id}_noise_floor", hint))
                rows += [Row(hint, floor, data, panel=words, look=FLOOR)] if floor else []
    names = {id: " ".join(words.split()) for id, words in METRICS.items()}
    names |= {f"{id}_noise_floor": f"noise floor of {words}" for id, words in names.items()}
    title = "The published metrics of each hint, beside what noise alone would give"
    legend = {"metric": PLAIN, "noise floor": FLOOR} if floors else None
    drawn = plot_intervals(rows, look, "pp (0 = none)", legend=legend, title=title)
    words = (
        "The published metrics of each group: mean distance of own-vendor rates from an equal share, spread of "
        "overall shares, spread of own-vendor rates over judges and over vendors. All are zero or more even where "
        "nothing differs."
    )
    words += " Ticks: the noise floor, what a metric would be from chance alone." if floors else ""
    lost = losses(estimates, "unreadable_share", shown, "hint")
    text = alt("Dot plot of four metrics by hint", [*shown, *floors.values()], names)
    return drawn.finished(name, caption(words + drawn.words, shown, lost), text)


#: No vendor of the published runs has these colours.
LINES = tuple(
    Look(colour, marker) for colour, marker in zip((*COLOURS[3:7], INK, GREY, COLOURS[8]), MARKERS, strict=False)
)


def show_discordance(curves: pd.DataFrame, style: str | Style = "paper", name: str = "discordance") -> Figure:
    """Which p-value would the difference to no hint have, had so many pairs of verdicts changed?

    Takes one row a point (columns: `hint`; `share`, of pairs whose own-vendor first place differs, 0 to 1; `p`). A line
    begins at the smallest share that the margins allow. With a column `changed` (the number of these pairs) the caption
    says how many pairs a line counts.
    """
    import pandas as pd

    look = style_of(style)
    lacking = [column for column in ("hint", "share", "p") if column not in curves]
    if lacking or curves.empty:
        there = ", ".join(map(str, curves.columns)) or "nothing"
        raise ValueError(f"curves need rows with hint, share and p; given: {len(curves)} rows of {there}")
    points = curves.dropna(subset=["share", "p"]).sort_values("share", kind="stable")
    outside = points[~points["share"].between(0, 1) | ~points["p"].between(0, 1)]
    if len(outside):
        raise ValueError(f"share and p lie between 0 and 1; row {outside.index[0]} has {dict(outside.iloc[0])}")
    hints = in_order(curves["hint"], HINTS)
    looks = {hint: LINES[i % len(LINES)] for i, hint in enumerate(hints)}
    lines = pd.DataFrame(
        {"panel": "", "line": points["hint"], "kind": "line", "x": 100 * points["share"], "y": points["p"]}
    )
    # A marker at other places of each line, so that none hides another.
    dots = lines[
        [
            i % 20 == 3 * hints.index(hint)
            for i, hint in zip(points.groupby("hint").cumcount(), points["hint"], strict=True)
        ]
    ]

    def finish(axes: Axes, panel: str) -> None:
        reference(axes, LEVEL, upright=False)
        axes.set(xlim=(0, 100), ylim=(-0.02, 1.02))
        ticks = [LEVEL, 0.25, 0.5, 0.75, 1]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])

    shown, clauses = {}, []
    for hint in hints:
        line = points[points["hint"] == hint]
        shown[short(hint, 24) + ("" if len(line) else " (not estimable)")] = looks[hint]
        clauses.append(_p_curve(plain(hint), line))
    title = "What the margins leave open about the difference between each hint and none"
    axes = ("pairs whose verdict changed (%), not published", "p of the difference to none")
    frame = pd.concat([lines, dots.assign(kind="dot")]) if len(lines) else lines
    drawn = plot_curves(frame, looks, look, *axes, finish, high=20, legend=shown, title=title, hollow=False)
    words = (
        "p-value of the difference between each hint and none, as a function of the share of pairs (same question, "
        "same judge) of which one verdict put the own vendor first and the other did not. The margins do not tell "
        "that share; a line begins at the smallest that they allow. Dashed: p = 0.05. Where a line lies on both "
        "sides of it, the margins settle neither a difference nor its absence. The p-values take pairs as "
        "independent, which the judges of one question are not."
    )
    counts = (points["changed"] / points["share"]).round() if "changed" in points else ()
    n = f" (n = {', '.join(f'{count:.0f}' for count in sorted(set(counts)))} pairs a line)" if len(counts) else ""
    words += f" Data: published counts{n}; a p-value has no interval."
    text = f"Line plot of p against the share of changed verdicts, published counts. {' '.join(clauses)}"
    return drawn.finished(name, words, text)


def _p_curve(hint: str, line: pd.DataFrame) -> str:
    """One line in words: where it begins and ends, and up to which share it stays below the level."""
    if line.empty:
        return f"{hint}: not estimable."
    first, last = line.iloc[0], line.iloc[-1]
    below = line[line["p"] < LEVEL]["share"]
    crossed = f"below {LEVEL} up to a share of {100 * below.max():.1f} %" if len(below) else f"nowhere below {LEVEL}"
    return (
        f"{hint}: p {p_text(first['p'])} at {100 * first['share']:.1f} % to p {p_text(last['p'])} at "
        f"{100 * last['share']:.1f} %, {crossed}."
    )
