"""The figure of choices: what a number would be if the analysis had been done in another way."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.figures import comparisons, judges, labels, panels, split
from helpers.figures import style as styles
from helpers.figures.style import Figure, Style, finished, settings
from helpers.types import Estimate
from helpers.words import plain

#: Where there is no bias, or no difference between the two answers.
EVEN = {"win_rate": 50.0}


def show_sensitivity(
    estimates: Sequence[Estimate],
    id: str = "win_rate",
    choices: Sequence[str] = ("style", "weight"),
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "sensitivity",
) -> Figure:
    """Does the headline depend on a choice that another analyst would have made otherwise?

    Takes estimates of one `id` (`where`: judge, candidate and all of `choices`), the first choice given being the
    headline: a panel a comparison with a row a choice, with more than 12 comparisons a row each with a column a choice.
    Without `judge_vendors` a judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    if not choices:
        raise ValueError(f"{id}: name the keys of `where` that are choices")
    estimates = list(estimates)
    shown = panels.pick(estimates, [id], ["judge", "candidate", *choices])
    units = sorted({each.unit for each in shown})
    if len(units) > 1:
        raise ValueError(f"{id} has several units: {', '.join(units)}; filter them first")
    with settings(labels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        parts = list(dict.fromkeys(_choice(each, choices) for each in shown))
        line = EVEN.get(id, float("nan") if units == ["rate"] else 0.0)
        figure = split.draw(sources, lambda each: _choice(each, choices), parts, line, judge_vendors, look)
        words = f"The {plain(id).replace('_', ' ')} of each judge and candidate under each choice"
        words += ". " if line != line else f"; dashed: {line:.0f} {panels.scale(units[0])[1]}. "
        words += f"Dotted: the first choice, {parts[0]}." if split.few(sources) else "Sorted by the first choice."
        text = panels.alt(f"Dot plot of {plain(id)} by judge, candidate and choice", shown, most=72)
        return finished(name, figure, comparisons.caption(words, shown, estimates), text, look)


def _choice(each: Estimate, choices: Sequence[str]) -> str:
    """The values of a choice in words; a bare number says nothing without its key."""
    values = [(key, plain(each.where[key])) for key in choices]
    return ", ".join(f"{plain(key)} {value}" if value.replace(".", "").isdigit() else value for key, value in values)
