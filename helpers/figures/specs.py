"""The figures of the experiments: which numbers each shows, in which of the forms, and what its caption says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from helpers.figures.curves import plot_curves
from helpers.figures.intervals import Row, plot_intervals, reference
from helpers.figures.points import (
    HINTS,
    MEAN,
    NOT_ESTIMABLE,
    OTHERS,
    PLAIN,
    Vendors,
    alt,
    at_places,
    by_data,
    by_number,
    by_value,
    caption,
    in_order,
    judge_looks,
    known,
    losses,
    pick,
    scale,
    short,
    source_name,
)
from helpers.figures.style import COLOURS, GREY, INK, MARKERS, Figure, Look, Style, finished, settings
from helpers.figures.style import style as style_of
from helpers.figures.tiles import Cell, plot_table
from helpers.types import Estimate
from helpers.words import display_name, p_text, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Expected = float | Mapping[str, float] | None
AVERAGE = "average"
LEVEL = 0.05
ITEMS = ("items", "articles", "judgments")


def _vendors(shown: Iterable[Estimate], look: Style, key: str = "vendor") -> dict[str, Look]:
    return look.looks({each.where[key] for each in shown})


# --- experiment 1: whom judges rank first -----------------------------------------------------------------------------

READINGS = {"naive": "naive: own \N{MINUS SIGN} expected", "excess": "excess over others", "logit": "logit, marginal"}


def show_self_preference(
    naive: Sequence[Estimate],
    excess: Sequence[Estimate],
    logit: Sequence[Estimate],
    expected: Expected = None,
    style: str | Style = "paper",
    name: str = "self_preference",
    unreadable: Sequence[Estimate] = (),
) -> Figure:
    """How much more often than it should does a vendor's judge rank its own vendor first, by three estimators?

    Each list has one estimate a vendor and data source (`where`: vendor) in pp; `naive` may hold own top-1 rates,
    from which `expected` (the own vendor's share of candidates) is taken. `logit` are average marginal effects. The
    caption's unreadable share is read from the `unreadable_share` among `unreadable`. No number at all is a
    ValueError.
    """
    look, lists = style_of(style), {"naive": _less(naive, expected), "excess": excess, "logit": logit}
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
    with settings(look.rc):
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
        return finished(name, drawn.figure, caption(words, shown, lost), text, look)


def _less(estimates: Sequence[Estimate], expected: Expected) -> list[Estimate]:
    """Rates minus the expected share; differences as they are."""
    moved = []
    for each in estimates:
        share = expected.get(each.where["vendor"]) if isinstance(expected, Mapping) else expected
        if each.unit == "rate" and share is None:
            raise ValueError(
                f"{each.id}[{each.where['vendor']}] is a rate: give expected= (own-vendor candidates / candidates, "
                "one number or one a vendor), or differences in pp"
            )
        if each.unit == "rate":
            each = replace(each, value=each.value - share, low=each.low - share, high=each.high - share, unit="pp")
        moved.append(each)
    return moved


def show_judge_vendor_heatmap(
    estimates: Sequence[Estimate],
    judge_vendors: Vendors = None,
    style: str | Style = "paper",
    name: str = "judge_vendor_heatmap",
) -> Figure:
    """How often does each judge rank each vendor first, and is its own vendor the darkest cell?

    Takes `top1_rate` (`where`: judge, vendor; rates); own-vendor cells are outlined. Without `judge_vendors` a judge's
    vendor is the one that its name contains.
    """
    look, shown = style_of(style), pick(estimates, ["top1_rate"], ["judge", "vendor"])
    vendors, judges = _vendors(shown, look), judge_looks({each.where["judge"] for each in shown}, judge_vendors, look)
    at = at_places(shown, "judge", "vendor")
    cells = []
    for data, group in by_data(shown).items():
        mine = [judge for judge in judges if any(each.where["judge"] == judge for each in group)]
        for judge, vendor in ((judge, vendor) for judge in mine for vendor in vendors):
            each = at.get((data, "top1_rate", judge, vendor))
            own = judges[judge] == vendors[vendor]
            cells.append(_percent(each, judge, display_name(vendor), data, own))
    with settings(look.rc):
        title = "How often each judge ranks each vendor first"
        drawn = plot_table(cells, look, "vendor ranked first (% of the judge's verdicts)", span=(0, 1.35), title=title)
        words = f"How often each judge (row) ranks each vendor first, in %; outlined: its own vendor.{drawn.words}"
        lost = losses(estimates, "unreadable_share", shown, "judge")
        return finished(
            name, drawn.figure, caption(words, shown, lost, bare="One number a cell"), alt(title, shown), look
        )


def _percent(each: Estimate | None, row: str, column: str, data: str, outlined: bool = False) -> Cell:
    """A rate in %, its interval below it."""
    if each is None or math.isnan(each.value):
        return Cell(row, column, math.nan, NOT_ESTIMABLE if each is not None else "not\nasked", data)
    interval = "" if math.isnan(each.low) else f"\n[{100 * each.low:.0f}, {100 * each.high:.0f}]"
    return Cell(row, column, each.value, f"{100 * each.value:.1f}{interval}", data, outlined)


def show_categories(
    estimates: Sequence[Estimate], expected: float | None = None, style: str | Style = "paper", name: str = "categories"
) -> Figure:
    """In which categories do a vendor's judges rank their own vendor first, and how often?

    Takes `category_self_bias` (`where`: vendor, category; rates), categories sorted by their mean rate over vendors in
    the first data source. `expected`, the own vendor's share of candidates, is dashed.
    """
    look, shown = style_of(style), pick(estimates, ["category_self_bias"], ["vendor", "category"])
    title = "How often judges rank their own vendor first, by category of question"
    words = f"{title}.{' Dashed: the share of candidates of the own vendor.' if expected is not None else ''}"
    return _series(shown, "category", title, words, expected, look, name, losses(estimates, "unreadable_share", shown))


def _series(
    shown: Sequence[Estimate], key: str, title: str, words: str, expected: float | None, look: Style, name: str,
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
    with settings(look.rc):
        line = None if expected is None else 100 * expected
        legend = {display_name(vendor): each for vendor, each in looks.items()}
        axis = "own vendor ranked first (%)"
        drawn = plot_intervals(rows, look, axis, line, limits=(-4, 104), legend=legend, title=title)
        text = alt(f"Dot plot of own-vendor top-1 rates by {key}", shown)
        return finished(name, drawn.figure, caption(words + drawn.words, shown, lost), text, look)


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
    with settings(look.rc):
        title = "Effect of the place in which an answer is shown"
        axis = "effect on rank (logit)" if unit == "logit" else f"effect on being ranked first ({unit})"
        drawn = plot_intervals(rows, look, axis, title=title)
        words = f"{title}. 0 (dashed) = none.{drawn.words}"
        lost = losses(estimates, "unreadable_share", shown)
        return finished(name, drawn.figure, caption(words, shown, lost), alt(f"Dot plot: {title}", shown), look)


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
    whose = {
        data: " and ".join(sorted({plain(each.where["judge"]) for each in group if "judge" in each.where}))
        for data, group in by_data(shown).items()
    }
    with settings(look.rc):
        title = f"How often a vendor that is ranked first is so by its {short(tier, 24)} model"
        drawn = plot_intervals(rows, look, f"share of {short(tier, 12)} (%)", 50, limits=(-4, 104), title=title)
        words = f"Share of the {plain(tier)} model among the top-1s of each vendor; dashed: half."
        words += "" if len(set(whose.values())) == 1 else " Not the same judges, so that sources do not compare: " + "; ".join(
            f"{data}: {judges or 'all judges pooled'}" for data, judges in whose.items()) + "."  # fmt: skip
        lost = losses(estimates, "unreadable_share", shown)
        text = alt(f"Dot plot of the share of the {plain(tier)} model among each vendor's top-1s", shown)
        return finished(name, drawn.figure, caption(words + drawn.words, shown, lost), text, look)


# --- experiment 2: hints ----------------------------------------------------------------------------------------------


def show_hint_slopes(
    estimates: Sequence[Estimate],
    expected: float | None = None,
    style: str | Style = "paper",
    name: str = "hint_slopes",
) -> Figure:
    """Does a vendor's judge rank its own vendor first more or less often when authors are named?

    Takes `self_bias` (`where`: vendor, hint; rates), hints in the order none, self, competitors, full, swapped, others.
    `expected`, the own vendor's share of candidates, is dashed.
    """
    look, shown = style_of(style), pick(estimates, ["self_bias"], ["vendor", "hint"])
    lost = losses(estimates, "unreadable_share", shown, "hint")
    title = "How often judges rank their own vendor first, by what they are told of the authors"
    words = (
        f"{title} (none: nothing). Intervals are those of each rate alone; differences are paired and shown elsewhere."
    )
    words += " Dashed: the share of candidates of the own vendor." if expected is not None else ""
    words += by_group(lost)
    hints = in_order((each.where["hint"] for each in shown), HINTS)
    return _series(shown, "hint", title, words, expected, look, name, lost, hints)


def by_group(lost: Sequence[Estimate]) -> str:
    """Unreadable shares by data source and group, where any were lost; groups that lose unequally compare badly."""
    said = []
    for data, group in by_data(lost).items():
        shares = {}
        for hint in in_order((each.where["hint"] for each in group), HINTS):
            mine = [each for each in group if each.where["hint"] == hint and each.n]
            shares[hint] = sum(each.value * each.n for each in mine) / max(sum(each.n for each in mine), 1)
        if len(shares) > 1 and any(shares.values()):
            said.append(f"{data}: " + ", ".join(f"{hint} {100 * share:.1f} %" for hint, share in shares.items()))
    return f" Unreadable by group ({'; '.join(said)})." if said else ""


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
                said = (conclusions or {}).get(hint, "") if mean and data in effects else ""
                group_of = f"{hint} against none" if hint else "shown under the own name"
                rows.append(Row(words, at.get((hint, vendor)), data, group_of, look=look_of, inner=inner, note=said))
    with settings(look.rc):
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
        lost = losses(
            estimates, "unreadable_share", [*shown, *(replace(e, where={"hint": "none"}) for e in shown)], "hint"
        )
        said = "".join(f" {hint}: {word}." for hint, word in (conclusions or {}).items())
        kinds = {"hint_effect": "effect", "hint_change": "change", "name_effect": "name effect"}
        text = alt("Dot plot of the effect of each hint, by vendor and on average", shown, kinds, 40) + said
        full = f"{caption(words + drawn.words, shown, lost)}{by_group(lost)} {note}".strip()
        return finished(name, drawn.figure, full, text, look)


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
    with settings(look.rc):
        title = "How often judges rank their own vendor first (%), by category and hint"
        drawn = plot_table(cells, look, "what judges are told", span=(0, 1.35), title=title)
        words = (
            f"{title}: mean over vendors. Outlined: the lowest number of each row, all of them where several are equal; "
            f"an outline is a minimum of noisy numbers and no finding.{drawn.words}"
        )
        lost = losses(estimates, "unreadable_share", shown, "hint")
        full = caption(words, shown, lost, bare="One number a cell")
        return finished(name, drawn.figure, full, alt(title, shown, most=40), look)


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
    with settings(look.rc):
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
        return finished(name, drawn.figure, caption(words + drawn.words, shown, lost), text, look)


#: No vendor of the published runs has these colours.
LINES = tuple(
    Look(colour, marker) for colour, marker in zip((*COLOURS[3:7], INK, GREY, COLOURS[8]), MARKERS, strict=False)
)


def show_discordance(
    curves: pd.DataFrame, data: str = "published", style: str | Style = "paper", name: str = "discordance"
) -> Figure:
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
        {
            "panel": source_name(data) if data == "simulated" else "",
            "line": points["hint"],
            "kind": "line",
            "x": 100 * points["share"],
            "y": points["p"],
        }
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

    shown, said = {}, []
    for hint in hints:
        line = points[points["hint"] == hint]
        shown[short(hint, 24) + ("" if len(line) else " (not estimable)")] = looks[hint]
        said.append(_p_curve(plain(hint), line))
    with settings(look.rc):
        title = "What the margins leave open about the difference between each hint and none"
        axes = ("pairs whose verdict changed (%), not published", "p of the difference to none")
        frame = pd.concat([lines, dots.assign(kind="dot")]) if len(lines) else lines
        figure = plot_curves(frame, looks, look, *axes, finish, high=20, legend=shown, title=title, hollow=False)
        words = (
            "p-value of the difference between each hint and none, as a function of the share of pairs (same question, "
            "same judge) of which one verdict put the own vendor first and the other did not. The margins do not tell "
            "that share; a line begins at the smallest that they allow. Dashed: p = 0.05. Where a line lies on both "
            "sides of it, the margins settle neither a difference nor its absence. The p-values take pairs as "
            "independent, which the judges of one question are not."
        )
        counts = (points["changed"] / points["share"]).round() if "changed" in points else ()
        n = f" (n = {', '.join(f'{count:.0f}' for count in sorted(set(counts)))} pairs a line)" if len(counts) else ""
        words += f" Data: {source_name(data)}{n}; a p-value has no interval."
        text = f"Line plot of p against the share of changed verdicts, {source_name(data)}. {' '.join(said)}"
        return finished(name, figure, words, text, look)


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


# --- experiment 3: own wrong answers ----------------------------------------------------------------------------------

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
    estimates: Sequence[Estimate],
    judge_vendors: Vendors = None,
    style: str | Style = "paper",
    name: str = "baseline_gap",
) -> Figure:
    """What is left of a judge's votes for its own wrong answer beside the same belief and beside the same text?

    Takes `naive_harmful_rate` (`where`: judge; rate), `evaluator_quality_gap` (judge, stratum; pp) and
    `same_text_other_judges` (judge; pp): a column each, judges sorted by the gap of the same label.
    """
    look, estimates = style_of(style), list(estimates)
    wanted = {id for id, _ in GAPS}
    shown = pick(estimates, sorted(wanted), ["judge"], ["judge", "stratum"])
    known([each for each in shown if "stratum" in each.where], "stratum", ["same label", "other label", "all"])
    looks = judge_looks({each.where["judge"] for each in shown}, judge_vendors, look)
    rows = []
    for data, group in by_data(shown).items():
        at = {(each.where["judge"], each.id, each.where.get("stratum", "")): each for each in group}
        values = {judge: each.value for (judge, *column), each in at.items() if tuple(column) == PRIMARY}
        rows += [
            Row(short(judge, 24), at.get((judge, *column)), data, panel=title, look=looks[judge], absent="none")
            for column, title in GAPS.items()
            for judge in by_value({judge for judge, _, _ in at}, values)
        ]
    with settings(look.rc):
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
        return finished(name, drawn.figure, caption(words, shown, lost, ITEMS), alt(title, shown, most=72), look)


def show_obfuscation_slopes(
    estimates: Sequence[Estimate],
    judge_vendors: Vendors = None,
    style: str | Style = "paper",
    name: str = "obfuscation_slopes",
) -> Figure:
    """Does an edit of its own wrong answer turn a judge to the right one, and other judges of the same texts as well?

    Takes `harmful_score` (`where`: judge, by "own" | "third party", arm "repeat" | "edited"; rates, right picks).
    """
    look, shown = style_of(style), pick(estimates, ["harmful_score"], ["judge", "by", "arm"])
    known(shown, "by", ["own", "third party"])
    known(shown, "arm", list(ARMS))
    looks, at = (
        judge_looks({e.where["judge"] for e in shown}, judge_vendors, look),
        at_places(shown, "judge", "by", "arm"),
    )
    rows = [
        Row(words, at.get((data, "harmful_score", judge, by, arm)), data, short(judge, 30), series=by,
            look=looks[judge] if by == "own" else OTHERS)
        for data, group in by_data(shown).items()
        for judge in looks if any(each.where["judge"] == judge for each in group)
        for arm, words in ARMS.items() for by in ("own", "third party")
    ]  # fmt: skip
    with settings(look.rc):
        title = "How often the right answer is picked before and after an edit of the judge's own wrong one"
        legend = {"the judge itself": PLAIN, "judges of a third vendor": OTHERS}
        drawn = plot_intervals(
            rows, look, "right answer picked (%)", None, limits=(-4, 104), legend=legend, title=title
        )
        words = (
            "How often the right answer is picked of pairs in which the judge's own answer is the wrong one: asked "
            "again unedited, and with words of that wrong answer replaced, at the smallest dose. Grey: judges of a "
            "third vendor on the same texts. What both do is what the edit does to any reader. Intervals are those of "
            f"each rate alone; the paired difference is shown elsewhere.{drawn.words}"
        )
        lost = losses(estimates, "unreadable_share", shown, "judge")
        return finished(name, drawn.figure, caption(words, shown, lost, ITEMS), alt(title, shown), look)


def show_dose_curve(
    estimates: Sequence[Estimate], judge_vendors: Vendors = None, style: str | Style = "paper", name: str = "dose_curve"
) -> Figure:
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
    return _doses(shown, estimates, {"": axis}, title, words, judge_vendors, look, name)


def show_recognition_against_preference(
    estimates: Sequence[Estimate],
    judge_vendors: Vendors = None,
    style: str | Style = "paper",
    name: str = "recognition_against_preference",
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
    return _doses(
        shown, estimates, dict.fromkeys(CHANGES.values(), "change (pp)"), title, words, judge_vendors, look, name
    )


def _doses(
    shown: Sequence[Estimate], estimates: Sequence[Estimate], axes: Mapping[str, str], title: str, words: str,
    vendors: Vendors, look: Style, name: str,
) -> Figure:  # fmt: skip
    """A judge a heading, a dose a row, an id a column."""
    looks, at = judge_looks({each.where["judge"] for each in shown}, vendors, look), at_places(shown, "judge", "dose")
    ids = [id for id in dict.fromkeys(["obfuscation_effect", *CHANGES]) if any(each.id == id for each in shown)]
    rows = [
        Row(f"{dose} words" if dose.isdigit() else plain(dose), at.get((data, id, judge, dose)), data, short(judge, 30),
            panel=CHANGES.get(id, ""), look=looks[judge])
        for data, group in by_data(shown).items()
        for id in ids
        for judge in looks if any(each.where["judge"] == judge for each in group)
        for dose in by_number(each.where["dose"] for each in shown)
    ]  # fmt: skip
    with settings(look.rc):
        drawn = plot_intervals(rows, look, axes, title=title)
        lost = losses(estimates, "unreadable_share", shown, "judge")
        full = caption(words + drawn.words, shown, lost, ITEMS)
        return finished(name, drawn.figure, full, alt(title, shown, CHANGES, 60), look)


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
    known(shown, "phase", list(PHASES))
    at = at_places(shown, "run", "records", "phase")
    rows = [
        Row(plain(records), at.get((data, id, run, records, phase)), data, plain(run), title, phase, look_of,
            absent="not published")
        for id, title in DEFINITIONS.items()
        for data, run, records in dict.fromkeys((e.data, e.where["run"], e.where["records"]) for e in shown)
        for phase, look_of in PHASES.items()
    ]  # fmt: skip
    with settings(look.rc):
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
        return finished(name, drawn.figure, full, alt(title, shown), look)
