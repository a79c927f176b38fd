"""Figures of the top-choice experiments: whom judges rank first, by vendor, category, slot and tier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from helpers.figures import panels
from helpers.figures import style as styles
from helpers.figures.style import Figure, Style, canvas, display_name, finished, settings
from helpers.types import Estimate

Expected = float | Mapping[str, float] | None


def _expected_share(expected: Expected, vendor: str) -> float | None:
    return expected.get(vendor) if isinstance(expected, Mapping) else expected


def _vendors(estimates: Sequence[Estimate], look: Style) -> list[str]:
    return list(look.looks({each.where["vendor"] for each in estimates}))


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
    marginal effects. One panel a data source; an estimator without a number there is "not estimable". The caption's
    unreadable share is read from the `unreadable_share` among `unreadable`.
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
        names = {display_name(vendor) for vendor in vendors}
        labels = [label for vendor in vendors for label in (display_name(vendor), *kinds.values())]
        for axis, (source, group) in zip(axes, sources.items(), strict=True):
            panels.rows(axis, labels)
            panels.reference(axis, 0)
            for i, vendor in enumerate(vendors):
                for j, kind in enumerate(kinds, start=1):
                    here = [each for each in group if each.id == kind and each.where["vendor"] == vendor]
                    panels.dot(axis, i * (len(kinds) + 1) + j, here[0] if here else None, looks[vendor])
            panels.title(axis, source, len(sources) > 1)
            axis.set_xlabel("difference (pp)")
        for label in axes[0].get_yticklabels():
            label.set_fontweight("bold" if label.get_text() in names else "normal")
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
                    axis.set_title(display_name(vendor), loc="left", fontweight="bold")
                panels.rows(axis, order, percent=True)
            panels.title(row[-1], source, len(sources) > 1, beside=True)
        figure.supxlabel("own vendor ranked first (%)", fontsize=look.size)
        words = "How often each vendor's judges rank their own vendor first, by category of question."
        if expected is not None:
            words += " Dashed: the own vendor's share of candidates."
        text = panels.alt("Dot plot of own-vendor top-1 rates by category, one panel a vendor", shown)
        return finished(name, figure, panels.caption(words, shown, estimates), text, look)


def show_positions(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "positions") -> Figure:
    """Does the slot in which an answer is shown change how it is judged?

    Takes `position_effect` (`where`: slot, "0" = shown first), in pp or logit; one panel a data source, 0 = no effect.
    """
    look = styles.style(style)
    shown = panels.pick(estimates, ["position_effect"], ["slot"])
    units = sorted({each.unit for each in shown})
    if len(units) > 1:
        raise ValueError(f"position_effect comes in several units ({', '.join(units)}); one axis shows one")
    odd = sorted({each.where["slot"] for each in shown if not each.where["slot"].isdecimal()})
    if odd:
        raise ValueError(f"position_effect: slot {', '.join(odd)}; slots are counted '0', '1', ... ('0' = shown first)")
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
            axis.set_xlabel("slot (1 = shown first)")
            axis.grid(axis="y")
        axes[0].set_xticks(slots, [str(slot + 1) for slot in slots])
        axes[0].set_xlim(min(slots) - 0.5, max(slots) + 0.5)
        axes[0].locator_params(axis="y", nbins=6)
        unit = panels.scale(units[0])[1]
        axes[0].set_ylabel(f"effect on being ranked first ({unit})" if unit != "logit" else "effect on rank (logit)")
        words = "Effect of the slot in which an answer is shown. 0 (dashed) = none."
        text = panels.alt("Dot plot of the position effect of each slot (slot 0 is shown first)", shown)
        return finished(name, figure, panels.caption(words, shown, estimates), text, look)


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
    vendors, sources = _vendors(shown, look), panels.by_data(shown)
    looks = look.looks(vendors)
    judges = sorted({each.where.get("judge", "") for each in shown})
    several = len(judges) > 1
    for group in sources.values():
        group.sort(key=lambda each: (each.where.get("judge", ""), vendors.index(each.where["vendor"])))
    with settings(look.rc):
        most = max(map(len, sources.values()))
        figure = canvas(look, look.text if len(sources) > 1 else look.column, (most * 2 + 6) * look.size / 72)
        axes = figure.subplots(1, len(sources), sharex=True, squeeze=False)[0]
        for axis, (source, group) in zip(axes, sources.items(), strict=True):
            names = [(each.where.get("judge", ""), display_name(each.where["vendor"])) for each in group]
            panels.rows(axis, [f"{judge}: {name}" if several and judge else name for judge, name in names], True)
            axis.set_ylim(most - 0.4, -0.6)
            panels.reference(axis, 50)
            for i, each in enumerate(group):
                panels.dot(axis, i, each, looks[each.where["vendor"]])
            panels.title(axis, source, len(sources) > 1)
            axis.set_xlabel(f"share of {tier} (%)")
        whose = f" Judge: {judges[0]}." if not several and judges[0] else ""
        words = f"Share of the {tier} model among the top-1s of each vendor.{whose} Dashed: one half."
        text = panels.alt(f"Dot plot of the share of the {tier} model among each vendor's top-1s", shown)
        return finished(name, figure, panels.caption(words, shown, estimates), text, look)
