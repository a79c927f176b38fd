"""Figures of the effect of the first place: by judge and candidate beside its controls, and by category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from helpers.figures import comparisons, forest, judges, labels, panels, split
from helpers.figures import style as styles
from helpers.figures.style import Figure, Style, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EFFECT = "first_position_effect"
COLUMNS = {
    EFFECT: "first place\ntwice minus\nsecond twice",
    "identical_pair_effect": "identical\nanswers: first\nminus second",
    "excess_flip": "flips swapped\nminus flips\nrepeated",
}
WHOLE = "all"
SORTED_BY = "Sorted by the first column."


def show_position_effects(
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "position_effects",
) -> Figure:
    """Which place does each judge favour, on different answers, on identical ones, and beyond its own noise?

    Takes `first_position_effect` and, where there are any, `identical_pair_effect` and `excess_flip` (`where`: judge,
    candidate; pp): one row a comparison, sorted, a column for each that any comparison has. Without `judge_vendors` a
    judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    estimates = list(estimates)
    keys = ["judge", "candidate"]
    there = {each.id for each in estimates if set(each.where) == set(keys) and each.value == each.value}
    ids = [id for id in COLUMNS if id == EFFECT or id in there]
    shown = [each for id in ids for each in panels.pick(estimates, [id], keys)]
    with settings(labels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        drawn = judges.looks({each.where["judge"] for each in shown}, judge_vendors, look)
        at = {(each.id, each.data, comparisons.of(each)): each for each in shown}
        blocks = []
        for data, group in sources.items():
            values = {comparisons.of(each): each.value for each in group if each.id == EFFECT}
            rows = comparisons.by_value([comparisons.of(each) for each in group], values)
            blocks.append(forest.Block(data, rows, [COLUMNS[id] for id in ids]))
        figure, table = forest.draw(look, blocks)
        for axes_row, block in zip(table, blocks, strict=True):
            for axes, id in zip(axes_row, ids, strict=True):
                panels.reference(axes, 0)
                for i, names in enumerate(block.rows):
                    each = at.get((id, block.data, names))
                    if each is not None and not math.isnan(each.value):
                        panels.dot(axes, i, each, drawn[names[0]])
                    else:
                        _why(axes, i, each, block.data)
                forest.smaller(axes, look)
        forest.scaled([axes for row in table for axes in row], 0)
        forest.foot(table, "pp")
        words = (
            "How much more often the first place won in both orders than the second, of comparisons with two verdicts"
        )
        if "identical_pair_effect" in ids:
            words += "; how much more often the first of two identical answers won than the second"
        if "excess_flip" in ids:
            words += "; how much more often verdicts disagree when the orders are swapped than when one is asked again"
        words += ". Right of the dashed line (zero): for the first place. " + SORTED_BY
        if "excess_flip" in ids:
            words = words.replace("for the first place", "for the first place, or more flips than noise makes")
        names = {id: title.replace("\n", " ") for id, title in COLUMNS.items()}
        text = panels.alt("Forest plot of position effects by judge and candidate", shown, names, 72)
        return finished(name, figure, comparisons.caption(words, shown, estimates), text, look)


def _why(axes: Axes, at: float, each: Estimate | None, data: str) -> None:
    """Who asks may still ask; what was published is what it is."""
    none = "not asked" if data in ("asked", "simulated") else split.NONE
    labels.note(axes, at, none if each is None else panels.NOT_ESTIMABLE)


def show_category_effects(
    estimates: Sequence[Estimate],
    judge_vendors: judges.Vendors = None,
    style: str | Style = "paper",
    name: str = "category_effects",
) -> Figure:
    """Is the first place favoured in every category of questions, or in some?

    Takes `first_position_effect` (`where`: judge, candidate, category; pp), and that of all questions (judge,
    candidate) where it is given: a panel a comparison with a row a category, with more than 12 comparisons a row each
    with a column a category. Without `judge_vendors` a judge's vendor is the one that its name contains.
    """
    look = styles.style(style)
    estimates = list(estimates)
    shown = panels.pick(estimates, [EFFECT], ["judge", "candidate", "category"])
    categories = list(dict.fromkeys(each.where["category"] for each in shown))
    split_here = {(each.data, *comparisons.of(each)) for each in shown}
    whole = [each for each in estimates if each.id == EFFECT and set(each.where) == {"judge", "candidate"}]
    whole = [each for each in whole if (each.data, *comparisons.of(each)) in split_here]
    if whole:
        shown = [*panels.pick(whole, [EFFECT], ["judge", "candidate"]), *shown]
    with settings(labels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        # A category may be called as the row of all questions is.
        parts = [*([WHOLE] if whole else []), *(f"{WHOLE} " if c == WHOLE else c for c in categories)]
        figure = split.draw(sources, lambda each: _category(each), parts, 0, judge_vendors, look)
        words = (
            "How much more often the first place won in both orders than the second, by category of questions; right "
            "of the dashed line (zero): for the first place. None: no such questions."
        )
        if whole and split.few(sources):
            words += " Dotted: all questions."
        if not split.few(sources):
            words += " Sorted by the first column that a row has."
        text = panels.alt("Dot plot of the effect of the first place by judge, candidate and category", shown, most=72)
        return finished(name, figure, comparisons.caption(words, shown, estimates), text, look)


def _category(each: Estimate) -> str:
    category = each.where.get("category")
    return WHOLE if category is None else f"{WHOLE} " if category == WHOLE else category
