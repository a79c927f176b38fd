"""Figures of the top-choice experiments: whom judges rank first, by vendor, category and place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from helpers.figures import labels, panels
from helpers.figures import style as styles
from helpers.figures.style import Figure, Style, canvas, finished, settings
from helpers.types import Estimate
from helpers.words import display_name

Expected = float | Mapping[str, float] | None
#: More letters of a name from a file leave a panel no room.
LONGEST = 24


def _expected_share(expected: Expected, vendor: str) -> float | None:
    return expected.get(vendor) if isinstance(expected, Mapping) else expected


def _vendors(estimates: Sequence[Estimate], look: Style) -> list[str]:
    return list(look.looks({each.where["vendor"] for each in estimates}))


def _vendor(vendor: str) -> str:
    return labels.short(display_name(vendor), LONGEST)


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
                panels.rows(axis, [labels.short(category, LONGEST) for category in order], percent=True)
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
