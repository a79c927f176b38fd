"""Figures of the top-choice experiment: whom judges rank first, by vendor, model, category and place."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from helpers.figures import panels
from helpers.figures import style as styles
from helpers.figures.style import GREY, INK, Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate
from helpers.words import display_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Expected = float | Mapping[str, float] | None
#: More letters of a name from a file leave a panel no room.
LONGEST = 24


def _expected_share(expected: Expected, vendor: str) -> float | None:
    return expected.get(vendor) if isinstance(expected, Mapping) else expected


def _vendors(estimates: Sequence[Estimate], look: Style) -> list[str]:
    return list(look.looks({each.where["vendor"] for each in estimates}))


def _vendor(vendor: str) -> str:
    return panels.short(display_name(vendor), LONGEST)


def _naive(estimates: Sequence[Estimate], expected: Expected) -> list[Estimate]:
    """Rates minus the expected share; estimates that are differences already are passed through."""
    moved = []
    for each in estimates:
        if each.unit == "rate":
            share = _expected_share(expected, each.where["vendor"])
            if share is None:
                raise ValueError(
                    f"{each.id}[{each.where['vendor']}] is a rate: give expected= (own-vendor candidates / candidates, "
                    "one number or one a vendor), or differences in pp"
                )
            each = replace(each, value=each.value - share, low=each.low - share, high=each.high - share, unit="pp")
        if each.unit != "pp":
            raise ValueError(f"{each.id}[{each.where['vendor']}] has unit '{each.unit}'; this figure shows pp")
        moved.append(each)
    return moved


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

    Each list has one estimate a vendor and data source (`where` keys: vendor; others are an error) in pp; `naive` may
    hold own top-1 rates, from which `expected` (the own vendor's share of candidates) is taken. `logit` are average
    marginal effects. One panel a data source; an estimator without a number there is "not estimable" for vendors that
    have another estimate, and a vendor without any was "not asked". The caption's unreadable share is read from the
    `unreadable_share` among `unreadable`.
    """
    look = styles.style(style)
    kinds = {"naive": "naive: own \N{MINUS SIGN} expected", "excess": "excess over others", "logit": "logit, marginal"}
    given = {"naive": _naive(naive, expected), "excess": _naive(excess, None), "logit": _naive(logit, None)}
    shown = []
    for kind, estimates in given.items():
        ids = sorted({each.id for each in estimates})
        found = panels.pick(estimates, ids, ["vendor"]) if estimates else []
        shown += [replace(each, id=kind) for each in found]
    if not shown:
        raise ValueError("show_self_preference: all three lists of estimates are empty")
    vendors, sources = _vendors(shown, look), panels.by_data(shown)
    looks = look.looks(vendors)
    with settings(look.rc):
        rows = len(vendors) * (len(kinds) + 1)
        width = look.text if len(sources) > 1 else look.column
        figure = canvas(look, width, (rows * 1.75 + 5) * look.size / 72)
        axes = figure.subplots(1, len(sources), sharey=True, sharex=True, squeeze=False)[0]
        words = [label for vendor in vendors for label in (_vendor(vendor), *kinds.values())]
        heads = [i * (len(kinds) + 1) for i in range(len(vendors))]
        for axis, (source, group) in zip(axes, sources.items(), strict=True):
            panels.rows(axis, words)
            panels.reference(axis, 0)
            for i, vendor in enumerate(vendors):
                asked = any(each.where["vendor"] == vendor for each in group)
                for j, kind in enumerate(kinds, start=1):
                    here = [each for each in group if each.id == kind and each.where["vendor"] == vendor]
                    at, absent = i * (len(kinds) + 1) + j, "not estimable" if asked else "not asked"
                    panels.dot(axis, at, here[0] if here else None, looks[vendor], absent=absent)
            panels.title(axis, source, len(sources) > 1)
            axis.set_xlabel("difference (pp)")
        for i, label in enumerate(axes[0].get_yticklabels()):
            label.set_fontweight("bold" if i in heads else "normal")
        words = (
            "Self-preference of each vendor's judges: own top-1 rate minus the own vendor's share of candidates "
            "(naive), excess over the other vendors' judges on the same answers, and "
        )
        words += (
            "the average marginal effect of a rank-ordered logit. 0 (dashed) = none."
            if logit
            else "a rank-ordered logit, which needs whole rankings and is not estimable here. 0 (dashed) = none."
        )
        text = panels.alt("Dot plot of self-preference by vendor and estimator", shown, kinds)
        return finished(name, figure, panels.caption(words, shown, unreadable), text, look)


def show_categories(
    estimates: Sequence[Estimate],
    expected: Expected = None,
    style: str | Style = "paper",
    name: str = "categories",
) -> Figure:
    """In which categories do a vendor's judges rank their own vendor first, and how often?

    Takes `category_self_bias` (`where`: vendor, category; rates); one panel a vendor, one row of panels a data source,
    categories sorted by their mean rate over vendors in the first source. `expected` draws the expected share.
    """
    look = styles.style(style)
    shown = panels.pick(estimates, ["category_self_bias"], ["vendor", "category"])
    vendors, sources = _vendors(shown, look), panels.by_data(shown)
    looks = look.looks(vendors)
    first = next(iter(sources.values()))
    means: dict[str, list[float]] = {each.where["category"]: [] for each in shown}
    for each in first:
        if each.value == each.value:
            means[each.where["category"]].append(each.value)
    order = sorted(means, key=lambda category: (-sum(means[category]) / (len(means[category]) or 1), category))
    with settings(look.rc):
        height = (len(sources) * (len(order) * 1.75 + 3) + 2) * look.size / 72
        figure = canvas(look, look.text, height)
        grid = figure.subplots(len(sources), len(vendors), sharex=True, sharey=True, squeeze=False)
        for row, (source, group) in zip(grid, sources.items(), strict=True):
            for axis, vendor in zip(row, vendors, strict=True):
                share = _expected_share(expected, vendor)
                if share is not None:
                    panels.reference(axis, 100 * share)
                for i, category in enumerate(order):
                    here = [each for each in group if each.where == {"vendor": vendor, "category": category}]
                    panels.dot(axis, i, here[0] if here else None, looks[vendor])
                if axis.get_subplotspec().is_first_row():
                    axis.set_title(_vendor(vendor), loc="left", fontweight="bold")
                panels.rows(axis, [panels.short(category, LONGEST) for category in order], percent=True)
            panels.title(row[-1], source, len(sources) > 1, beside=True)
        figure.supxlabel("own vendor ranked first (%)", fontsize=look.size)
        words = "How often each vendor's judges rank their own vendor first, by category of question."
        if expected is not None:
            words += " Dashed: the own vendor's share of candidates."
        text = panels.alt("Dot plot of own-vendor top-1 rates by category, one panel a vendor", shown)
        return finished(name, figure, panels.caption(words, shown, estimates), text, look)


def show_positions(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "positions") -> Figure:
    """Does the place in which an answer is shown change how it is judged?

    Takes `position_effect` (`where`: slot, "1" = shown first), in pp or logit; one panel a data source, 0 = no effect.
    """
    look = styles.style(style)
    shown = panels.pick(estimates, ["position_effect"], ["slot"])
    units = sorted({each.unit for each in shown})
    if len(units) > 1:
        raise ValueError(f"position_effect comes in several units ({', '.join(units)}); one axis shows one")
    odd = sorted({each.where["slot"] for each in shown if not re.fullmatch("[1-9][0-9]{0,3}", each.where["slot"])})
    if odd:
        raise ValueError(f"position_effect: slot {', '.join(odd)}; slots are counted '1', '2', ... ('1' = shown first)")
    sources = panels.by_data(shown)
    slots = sorted({int(each.where["slot"]) for each in shown})
    with settings(look.rc):
        figure = canvas(look, look.text if len(sources) > 1 else look.column, 21 * look.size / 72)
        axes = figure.subplots(1, len(sources), sharex=True, sharey=True, squeeze=False)[0]
        for axis, (source, group) in zip(axes, sources.items(), strict=True):
            panels.reference(axis, 0, upright=True)
            for slot in slots:
                here = [each for each in group if int(each.where["slot"]) == slot]
                panels.dot(axis, slot, here[0] if here else None, panels.PLAIN, upright=True)
            panels.title(axis, source, len(sources) > 1)
            axis.set_xlabel("place (1 = shown first)")
            axis.grid(axis="y")
        axes[0].set_xticks(slots)
        axes[0].set_xlim(min(slots) - 0.5, max(slots) + 0.5)
        axes[0].locator_params(axis="y", nbins=6)
        unit = panels.scale(units[0])[1]
        axes[0].set_ylabel(f"effect on being ranked first ({unit})" if unit != "logit" else "effect on rank (logit)")
        words = "Effect of the place in which an answer is shown (1 = first). 0 (dashed) = none."
        text = panels.alt("Dot plot of the effect of each place in the prompt (place 1 is shown first)", shown)
        return finished(name, figure, panels.caption(words, shown, estimates), text, look)


#: Above this number of judges a heatmap is no longer read, only looked at.
MOST_JUDGES = 12
HEATMAP_LONGEST = 28
Cells = dict[tuple[str, str], Estimate]


def _vendor_of(judge: str, vendors: Sequence[str], given: Mapping[str, str] | None) -> str | None:
    """A judge's vendor: as given, else the one vendor named in its name (sim_claude_fast, gpt-5); None if unclear."""
    if given is not None:
        return given.get(judge)
    named = [vendor for vendor in vendors if vendor in judge.replace("-", "_").split("_")]
    return named[0] if len(named) == 1 else None


def show_judge_vendor_heatmap(
    estimates: Sequence[Estimate],
    judge_vendors: Mapping[str, str] | None = None,
    style: str | Style = "paper",
    name: str = "judge_vendor_heatmap",
) -> Figure:
    """How often does each judge rank each vendor first, and is its own vendor the darkest cell?

    Takes `top1_rate` (`where`: judge, vendor; rates); one panel a data source. Cells show %, with the interval in small
    print and n beside the row; own-vendor cells are outlined. With more than 12 judges: forest plots, one panel a
    vendor, judges sorted by the rate at which they rank their own vendor first. Without `judge_vendors` a judge's
    vendor is the one that its name contains.
    """
    look = styles.style(style)
    shown = panels.pick(estimates, ["top1_rate"], ["judge", "vendor"])
    vendors = list(look.looks({each.where["vendor"] for each in shown}))
    judges = {each.where["judge"] for each in shown}
    own = {judge: _vendor_of(judge, vendors, judge_vendors) for judge in judges}
    sources = panels.by_data(shown)
    draw = _forest if max(map(_number_of_judges, sources.values())) > MOST_JUDGES else _heatmap
    with settings(look.rc):
        figure, words = draw(sources, vendors, own, look)
        text = panels.alt("How often each judge ranks each vendor first", shown)
        return finished(name, figure, panels.caption(words, shown, estimates), text, look)


def _label(judge: str, narrow: bool) -> str:
    """A judge's name, in a narrow panel broken at its last underscore where it is long."""
    judge = panels.short(judge, HEATMAP_LONGEST)
    head, _, tail = judge.rpartition("_")
    return f"{head}_\n{tail}" if narrow and len(judge) > 14 and head else judge


def _number_of_judges(estimates: Sequence[Estimate]) -> int:
    return len({each.where["judge"] for each in estimates})


def _cells(estimates: Sequence[Estimate]) -> Cells:
    return {(each.where["judge"], each.where["vendor"]): each for each in estimates}


def _heatmap(sources: Mapping[str, list[Estimate]], vendors: list[str], own: Mapping[str, str | None], look: Style):
    def order(judge: str) -> tuple[int, str]:
        vendor = own[judge]
        return (vendors.index(vendor) if vendor in vendors else len(vendors), judge)

    rows = max(map(_number_of_judges, sources.values()))
    width = look.text if len(sources) > 1 or len(vendors) > 4 else look.column
    figure = canvas(look, width, (3.1 * rows + 6) * look.size / 72)
    axes = figure.subplots(1, len(sources), squeeze=False)[0]
    for axis, (source, group) in zip(axes, sources.items(), strict=True):
        judges = sorted({each.where["judge"] for each in group}, key=order)
        _cell_grid(axis, _cells(group), judges, vendors, own)
        # Of a panel narrower than this many letters, long names would take more than the cells.
        narrow = width / len(sources) * 72 / look.size < 34
        axis.set_yticks([i + 0.5 for i in range(len(judges))], [_label(judge, narrow) for judge in judges])
        axis.set_ylim(rows, 0)
        panels.title(axis, source, len(sources) > 1)
    figure.supxlabel("vendor ranked first (% of the judge's verdicts)", fontsize=look.size)
    words = "How often each judge (row) ranks each vendor first, in %; outlined: the judge's own vendor."
    return figure, words


def _cell_grid(axes: Axes, cells: Cells, judges: list[str], vendors: list[str], own: Mapping[str, str | None]) -> None:
    import matplotlib
    from matplotlib.patches import Rectangle

    thick = matplotlib.rcParams["lines.linewidth"]
    for row, judge in enumerate(judges):
        for column, vendor in enumerate(vendors):
            cell = cells.get((judge, vendor))
            empty = cell is None or math.isnan(cell.value)
            # Only three quarters of the scale: on the darkest blues small print cannot be read.
            colour = "#F2F2F2" if empty else panels.shade("Blues", 0.75 * cell.value)
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="white", linewidth=1))
            ink = "white" if not empty and cell.value > 0.8 else INK
            number = "" if cell is None else panels.NOT_ESTIMABLE if empty else f"{100 * cell.value:.1f}"
            has_interval = not empty and not math.isnan(cell.low)
            height = 0.36 if has_interval else 0.5
            axes.text(column + 0.5, row + height, number, ha="center", va="center", color=ink)
            if has_interval:
                interval = f"[{100 * cell.low:.0f}, {100 * cell.high:.0f}]"
                axes.text(column + 0.5, row + 0.72, interval, ha="center", va="center", color=ink, fontsize="small")
        if own[judge] in vendors:
            inset = (vendors.index(str(own[judge])) + 0.03, row + 0.04)
            axes.add_patch(Rectangle(inset, 0.94, 0.92, fill=False, edgecolor=INK, linewidth=thick, zorder=3))
    counts = {judge: {cells[judge, vendor].n for vendor in vendors if (judge, vendor) in cells} for judge in judges}
    every = set().union(*counts.values())
    if len(every) == 1:
        axes.set_title(f"n = {every.pop()}", loc="left", fontsize="small", color="#6E6E6E")
    else:
        for row, judge in enumerate(judges):
            words = "n = " + "/".join(map(str, sorted(counts[judge])))
            axes.text(len(vendors) + 0.06, row + 0.5, words, va="center", color="#6E6E6E", fontsize="small")
    axes.set_xlim(0, len(vendors))
    names = [panels.wrapped(display_name(vendor), 12) for vendor in vendors]
    axes.set_xticks([i + 0.5 for i in range(len(vendors))], names)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _forest(sources: Mapping[str, list[Estimate]], vendors: list[str], own: Mapping[str, str | None], look: Style):
    looks, blocks = look.looks(vendors), {}
    for source, group in sources.items():
        cells = _cells(group)
        own_rate = {judge: cells[judge, own[judge]].value for judge, vendor in cells if vendor == own[judge]}
        judges = {each.where["judge"] for each in group}
        blocks[source] = (cells, sorted(judges, key=lambda judge: (-own_rate.get(judge, -1), judge)))
    heights = [len(judges) for _, judges in blocks.values()]
    height = (sum(heights) * 1.5 + 5 * len(sources) + 2) * look.size / 72
    figure = canvas(look, look.text, height)
    grid = figure.subplots(len(sources), len(vendors), sharex=True, sharey="row", height_ratios=heights, squeeze=False)
    for row, (source, (cells, judges)) in zip(grid, blocks.items(), strict=True):
        for axis, vendor in zip(row, vendors, strict=True):
            for i, judge in enumerate(judges):
                colour = looks[vendor].colour if own[judge] == vendor else GREY
                panels.dot(axis, i, cells.get((judge, vendor)), Look(colour, looks[vendor].marker))
            if axis.get_subplotspec().is_first_row():
                axis.set_title(panels.short(display_name(vendor), HEATMAP_LONGEST), loc="left", fontweight="bold")
            panels.rows(axis, [panels.short(judge, HEATMAP_LONGEST) for judge in judges], percent=True)
        panels.title(row[-1], source, len(sources) > 1, beside=True)
    figure.supxlabel("vendor ranked first (% of the judge's verdicts)", fontsize=look.size)
    words = (
        "How often each judge ranks each vendor first; coloured: the judge's own vendor, grey: the others. Judges are "
        "sorted by the rate at which they rank their own vendor first."
    )
    return figure, words


def show_tiers(
    estimates: Sequence[Estimate],
    tier: str = "thinking",
    style: str | Style = "paper",
    name: str = "tiers",
) -> Figure:
    """When a vendor is ranked first, how often is it by its `tier` model?

    Takes `tier_preference` or `tier_share` (`where`: vendor and, if given, judge and tier; rates); one panel a data
    source, one row a vendor (and judge); the dashed line is one half.
    """
    look = styles.style(style)
    keys = (["vendor"], ["vendor", "tier"], ["judge", "vendor"], ["judge", "vendor", "tier"])
    shown = panels.pick(estimates, ["tier_preference", "tier_share"], *keys)
    shown = [each for each in shown if each.where.get("tier", tier) == tier]
    if not shown:
        raise ValueError(f"no tier shares of tier '{tier}'; there are: {sorted({e.where['tier'] for e in estimates})}")
    vendors, sources = list(look.looks({each.where["vendor"] for each in shown})), panels.by_data(shown)
    looks = look.looks(vendors)
    several = len({each.where.get("judge", "") for each in shown}) > 1
    called = panels.short(tier, LONGEST)
    for group in sources.values():
        group.sort(key=lambda each: (each.where.get("judge", ""), vendors.index(each.where["vendor"])))
    with settings(look.rc):
        most = max(map(len, sources.values()))
        figure = canvas(look, look.text if len(sources) > 1 else look.column, (most * 2 + 6) * look.size / 72)
        axes = figure.subplots(1, len(sources), sharex=True, squeeze=False)[0]
        for axis, (source, group) in zip(axes, sources.items(), strict=True):
            names = [
                (each.where.get("judge", ""), panels.short(display_name(each.where["vendor"]), LONGEST))
                for each in group
            ]
            # Both names of a pair have little more room than one.
            pairs = [f"{panels.short(judge, 18)}: {panels.short(name, 12)}" for judge, name in names]
            shown_as = [pair if several and judge else name for (judge, name), pair in zip(names, pairs, strict=True)]
            panels.rows(axis, shown_as, True)
            axis.set_ylim(most - 0.4, -0.6)
            panels.reference(axis, 50)
            for i, each in enumerate(group):
                panels.dot(axis, i, each, looks[each.where["vendor"]])
            panels.title(axis, source, len(sources) > 1)
            axis.set_xlabel(f"share of {panels.short(tier, 12)} (%)")
        words = (
            f"Share of the {called} model among the top-1s of each vendor. {_whose(sources, estimates)} Dashed: half."
        )
        text = panels.alt(f"Dot plot of the share of the {called} model among each vendor's top-1s", shown)
        return finished(name, figure, panels.caption(words, shown, estimates), text, look)


def _whose(sources: Mapping[str, Sequence[Estimate]], estimates: Sequence[Estimate]) -> str:
    """Whose verdicts each data source counts; other judges in one than in another make other numbers by themselves.

    How many judges were pooled is read from the shares of unreadable replies among `estimates`.
    """
    pooled = {source: _pooled(estimates, source) for source in sources}
    judges = {
        source: sorted({panels.short(each.where.get("judge", ""), LONGEST) for each in group})
        for source, group in sources.items()
    }
    told = {
        source: f"{', '.join(filter(None, names))} alone" if any(names) else f"all {pooled[source]}judges pooled"
        for source, names in judges.items()
    }
    if len(set(told.values())) == 1:
        return f"Verdicts of {next(iter(told.values()))}."
    each = "; ".join(f"{panels.SOURCES.get(source, source)}: {words}" for source, words in told.items())
    return f"Not the same judges ({each}), so the panels cannot be compared number by number."


def _pooled(estimates: Sequence[Estimate], source: str) -> str:
    count = len({e.where["judge"] for e in estimates if e.id == "unreadable_share" and e.data == source})
    return f"{count} " if count else ""
