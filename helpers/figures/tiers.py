"""The figure of tiers: when a vendor is ranked first, by which of its models, and in whose verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.figures import labels, panels
from helpers.figures import style as styles
from helpers.figures.style import Figure, Style, canvas, finished, settings
from helpers.types import Estimate
from helpers.words import display_name

LONGEST = 24


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
    called = labels.short(tier, LONGEST)
    for group in sources.values():
        group.sort(key=lambda each: (each.where.get("judge", ""), vendors.index(each.where["vendor"])))
    with settings(look.rc):
        most = max(map(len, sources.values()))
        figure = canvas(look, look.text if len(sources) > 1 else look.column, (most * 2 + 6) * look.size / 72)
        axes = figure.subplots(1, len(sources), sharex=True, squeeze=False)[0]
        for axis, (source, group) in zip(axes, sources.items(), strict=True):
            names = [
                (each.where.get("judge", ""), labels.short(display_name(each.where["vendor"]), LONGEST))
                for each in group
            ]
            # Both names of a pair have little more room than one.
            pairs = [f"{labels.short(judge, 18)}: {labels.short(name, 12)}" for judge, name in names]
            shown_as = [pair if several and judge else name for (judge, name), pair in zip(names, pairs, strict=True)]
            panels.rows(axis, shown_as, True)
            axis.set_ylim(most - 0.4, -0.6)
            panels.reference(axis, 50)
            for i, each in enumerate(group):
                panels.dot(axis, i, each, looks[each.where["vendor"]])
            panels.title(axis, source, len(sources) > 1)
            axis.set_xlabel(f"share of {labels.short(tier, 12)} (%)")
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
        source: sorted({labels.short(each.where.get("judge", ""), LONGEST) for each in group})
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
