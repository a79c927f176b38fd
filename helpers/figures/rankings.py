"""The figures of whom judges rank first, and of what they are told: which numbers each shows, and its caption."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..stats.standing import LEVEL
from ..types import Estimate
from ..words import p_text, plain
from .curves import plot_curves
from .intervals import Row, reference
from .points import (
    HINTS,
    NOT_ESTIMABLE,
    PLAIN,
    at_places,
    by_data,
    check_columns,
    in_order,
    losses,
    pick,
    scale,
    short,
    source_name,
)
from .specs import AVERAGE, SPECS, Spec, chosen, draw, rows_of
from .style import COLOURS, GREY, INK, MARKERS, Drawn, Figure, Look, Style, style as style_of
from .tiles import Cell, plot_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


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
    shown = list[Estimate]()
    for kind, estimates in {"naive": naive, "excess": excess, "logit": logit}.items():
        found = pick(estimates, sorted({each.id for each in estimates}), ["vendor"]) if estimates else []
        odd = next((each for each in found if each.unit != "pp"), None)
        if odd:
            raise ValueError(f"{odd.id}[{odd.where['vendor']}] has unit '{odd.unit}'; this figure shows pp")
        shown += [replace(each, id=kind) for each in found]
    if not shown:
        raise ValueError("show_self_preference: all three lists of estimates are empty")
    return draw("self_preference", unreadable, style, name, shown, beside=unreadable)


def show_released_own(
    estimates: Sequence[Estimate], title: str, style: str | Style = "paper", name: str = "released_own"
) -> Figure:
    """Does a judge rank its own answers better, or all of its vendor's: the published contrast beside the joint fit?

    Takes `released_own_rank` (`where`: source, judge, vendor, released, term): a row a judge, a mark a term.
    """
    terms = dict.fromkeys(each.where["term"] for each in estimates if each.id == "released_own_rank")
    looks = (Look(GREY, "o"), Look(GREY, "s"), Look(COLOURS[0], "D"), Look(COLOURS[6], "^"))
    marks = dict(zip(terms, looks, strict=False))
    return draw("released_own", estimates, style, name, marks=marks, legend=marks, heading=title)


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
    look, spec = style_of(style), SPECS["judge_vendor_heatmap"]
    shown = chosen(spec, estimates)
    vendors = look.looks({each.where["vendor"] for each in shown})
    rows = rows_of(spec, shown, look, vendors=judge_vendors)
    own = [row.estimate for row in rows if row.estimate and row.look == vendors[row.estimate.where["vendor"]]]
    return draw(spec, estimates, style, name, shown, drawn=_percents(spec, rows, own, look))


def _percents(spec: Spec, rows: Sequence[Row], outlined: Sequence[Estimate], look: Style) -> Drawn:
    """A table of rates in %, their intervals below them."""
    cells = []
    for row in rows:
        each, words, value = row.estimate, row.absent, math.nan
        if each is not None:
            value, words = each.value, NOT_ESTIMABLE if math.isnan(each.value) else f"{100 * each.value:.1f}"
            words += "" if math.isnan(each.low) else f"\n[{100 * each.low:.0f}, {100 * each.high:.0f}]"
        cells.append(Cell(row.label, row.panel, value, words, row.data, value == value and each in outlined))
    return plot_table(cells, look, spec.axis, span=(0, 1.35), title=spec.title)


def show_categories(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "categories") -> Figure:
    """In which categories do a vendor's judges rank their own vendor first, and how often?

    Takes `category_self_bias` (`where`: vendor, category; rates), categories sorted by their mean rate over vendors in
    the first data source.
    """
    return draw("categories", estimates, style, name)


def show_positions(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "positions") -> Figure:
    """Does the place in which an answer is shown change how it is judged?

    Takes `position_effect` (`where`: slot, "1" = shown first), in pp or logit; 0 = no effect.
    """
    shown = chosen(SPECS["positions"], estimates)
    odd = sorted({slot for each in shown if not (slot := each.where["slot"]).isdigit() or slot == "0"})
    if odd:
        raise ValueError(f"position_effect: slot {', '.join(odd)}; slots are counted '1', '2', ... ('1' = shown first)")
    unit = scale(shown[0].unit)[1]
    what = "rank (logit)" if unit == "logit" else f"being ranked first ({unit})"
    return draw("positions", estimates, style, name, shown, what=what)


def show_tiers(
    estimates: Sequence[Estimate], tier: str = "thinking", style: str | Style = "paper", name: str = "tiers"
) -> Figure:
    """When a vendor is ranked first, how often is it by its `tier` model?

    Takes `tier_preference` or `tier_share` (`where`: vendor and, if given, judge and tier; rates); dashed: one half.
    """
    every = chosen(SPECS["tiers"], estimates)
    shown = [each for each in every if each.where.get("tier", tier) == tier]
    if not shown:
        raise ValueError(f"no tier shares of tier '{tier}'; there are: {sorted({e.where['tier'] for e in every})}")
    whose = {data: _whose(group, data, estimates) for data, group in by_data(shown).items()}
    values: dict[str, Any] = {"tier": plain(tier), "title_tier": short(tier, 24), "axis_tier": short(tier, 12)}
    values["sources"] = "; ".join(f"{source_name(data)}: {judges}" for data, judges in whose.items())
    placed = sorted(shown, key=lambda each: each.where.get("judge", ""))
    several = len({*whose.values()}) > 1
    return draw("tiers", estimates, style, name, shown, placed, several=several, **values)


def _whose(group: Sequence[Estimate], data: str, estimates: Sequence[Estimate]) -> str:
    """Whose verdicts a source counts; how many were pooled is read from the shares of unreadable replies."""
    judges = sorted({plain(each.where["judge"]) for each in group if "judge" in each.where})
    count = len({each.where["judge"] for each in estimates if each.id == "unreadable_share" and each.data == data})
    return f"{', '.join(judges)} alone" if judges else f"all {count or ''} judges pooled".replace("  ", " ")


def show_hint_slopes(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "hint_slopes") -> Figure:
    """Does a vendor's judge rank its own vendor first more or less often when authors are named?

    Takes `self_bias` (`where`: vendor, hint; rates), hints in the order none, self, competitors, full, swapped, others.
    """
    shown = chosen(SPECS["hint_slopes"], estimates)
    lost = by_group(losses(estimates, "unreadable_share", shown))
    return draw("hint_slopes", estimates, style, name, shown, by_group=lost)


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
    look, spec, estimates = style_of(style), SPECS["hint_effects"], list(estimates)
    shown = chosen(spec, estimates)
    effects = {each.data for each in shown if each.id == "hint_effect"}
    if conclusions and len(effects) > 1:
        raise ValueError(
            f"conclusions are words a hint; hint_effect is of {', '.join(sorted(effects))}: filter it first"
        )
    bare = [replace(each, where={"hint": "none"}) for each in shown]
    after = f"{by_group(losses(estimates, spec.lost, [*shown, *bare]))} {note}".rstrip()
    shown += [each for each in estimates if each.id == "name_effect" and set(each.where) == {"vendor"}]
    wide = at_places((each for each in estimates if each.id == "hint_effect_90"), "hint")
    rows = []
    for row in rows_of(spec, shown, look):
        where = row.estimate.where if row.estimate else {}
        hint = where.get("hint", "") if where.get("vendor") == AVERAGE else ""
        word = (conclusions or {}).get(hint, "") if row.data in effects else ""
        head = f"{row.group} against none" if row.group else "shown under the own name"
        rows.append(row._replace(group=head, inner=wide.get((row.data, "hint_effect_90", hint)), note=word))
    figure = draw(spec, estimates, style, name, shown, rows=rows, band=margin_pp, beside=bare, after=after)
    ending = "".join(f" {hint}: {word}." for hint, word in (conclusions or {}).items())
    return replace(figure, alt=figure.alt + ending)


def show_category_groups(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "category_groups"
) -> Figure:
    """In which category is the own-vendor rate how high under which hint?

    Takes `category_average_self_bias` (`where`: category, hint; rates). The lowest number of each row is outlined, and
    all equal to it.
    """
    look, spec = style_of(style), SPECS["category_groups"]
    shown = chosen(spec, estimates)
    falling = sorted((each for each in shown if not math.isnan(each.value)), key=lambda each: -each.value)
    least = {(each.data, each.where["category"]): each.value for each in falling}
    # Sums of the same counts may differ in the last digit.
    lowest = [each for each in falling if each.value <= least[each.data, each.where["category"]] + 1e-12]
    drawn = _percents(spec, rows_of(spec, shown, look), lowest, look)
    return draw(spec, estimates, style, name, shown, drawn=drawn)


FLOOR = Look(COLOURS[6], "|")


def show_group_metrics(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "group_metrics"
) -> Figure:
    """How do the four published metrics differ between hints, and how large would each be by noise alone?

    Takes the ids that specs.toml names (`where`: hint; pp) and, as an upright tick, `<id>_noise_floor`.
    """
    look, spec, estimates = style_of(style), SPECS["group_metrics"], list(estimates)
    shown = chosen(spec, estimates)
    floors = at_places((each for each in estimates if each.id.endswith("_noise_floor")), "hint")
    rows = []
    for row in rows_of(spec, shown, look):
        each = row.estimate
        floor = floors.get((row.data, f"{each.id}_noise_floor", each.where["hint"])) if each else None
        rows += [row, row._replace(estimate=floor, look=FLOOR)] if floor else [row]
    legend = {"metric": PLAIN, "noise floor": FLOOR} if floors else None
    names = {f"{id}_noise_floor": f"noise floor of {words}" for id, words in spec.ids.items()}
    spec = spec._replace(ids={**spec.ids, **names})
    also = [*floors.values()]
    return draw(spec, estimates, style, name, shown, rows=rows, legend=legend, also=also, noise=floors)


#: No vendor of the published runs has these colours.
LINES = tuple(map(Look, (*COLOURS[3:7], INK, GREY, COLOURS[8]), MARKERS))


def show_discordance(curves: pd.DataFrame, style: str | Style = "paper", name: str = "discordance") -> Figure:
    """Which p-value would the difference to no hint have, had so many pairs of verdicts changed?

    Takes one row a point (columns: `hint`; `share`, of pairs whose own-vendor first place differs, 0 to 1; `p`). A line
    begins at the smallest share that the margins allow. With a column `changed` (the number of these pairs) the caption
    says how many pairs a line counts.
    """
    import pandas as pd

    look, spec = style_of(style), SPECS["discordance"]
    check_columns(curves, ("hint", "share", "p"), "curves")
    points = curves.dropna(subset=["share", "p"]).sort_values("share", kind="stable")
    outside = points[~points["share"].between(0, 1) | ~points["p"].between(0, 1)]
    if len(outside):
        raise ValueError(f"share and p lie between 0 and 1; row {outside.index[0]} has {dict(outside.iloc[0])}")
    hints = in_order(curves["hint"], HINTS)
    looks = {hint: LINES[i % len(LINES)] for i, hint in enumerate(hints)}
    every = points.groupby("hint").cumcount()
    # A marker at other places of each line, so that none hides another.
    marked = [i % 20 == 3 * hints.index(hint) for i, hint in zip(every, points["hint"], strict=True)]
    columns = {"line": points["hint"], "x": 100 * points["share"], "joined": points["p"]}
    frame = pd.DataFrame({"panel": "", **columns, "dot": points["p"].where(marked)})

    def finish_axes(axes: Axes, panel: str) -> None:
        reference(axes, LEVEL, upright=False)
        axes.set(xlim=(0, 100), ylim=(-0.02, 1.02))
        ticks = [LEVEL, 0.25, 0.5, 0.75, 1]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])

    shown, clauses = {}, []
    for hint in hints:
        line = points[points["hint"] == hint]
        shown[short(hint, 24) + ("" if len(line) else " (not estimable)")] = looks[hint]
        clauses.append(_p_curve(plain(hint), line))
    axes = ("pairs whose verdict changed (%), not published", "p of the difference to none")
    drawn = plot_curves(frame, looks, look, *axes, finish_axes, high=20, legend=shown, title=spec.title, hollow=False)
    counts = (points["changed"] / points["share"]).round() if "changed" in points else ()
    n = f" (n = {', '.join(f'{count:.0f}' for count in sorted(set(counts)))} pairs a line)" if len(counts) else ""
    text = f"Line plot of p against the share of changed verdicts, published counts. {' '.join(clauses)}"
    return spec.finished(drawn, name, text, n=n)


def _p_curve(hint: str, line: pd.DataFrame) -> str:
    """One line in words: where it begins and ends, and up to which share it stays below the level."""
    if line.empty:
        return f"{hint}: not estimable."
    below = line[line["p"] < LEVEL]["share"]
    crossed = f"below {LEVEL} up to a share of {100 * below.max():.1f} %" if len(below) else f"nowhere below {LEVEL}"
    start, end = (f"p {p_text(each['p'])} at {100 * each['share']:.1f} %" for each in (line.iloc[0], line.iloc[-1]))
    return f"{hint}: {start} to {end}, {crossed}."
