"""Figures of published means of biases: every number is where it belongs, and what has no interval is drawn open."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from helpers import figures
from helpers.figures import acceptance
from helpers.figures import style as styles
from helpers.types import Estimate
from tests.test_figures import EACH_STYLE, assert_readable, intervals, texts
from tests.test_figures_hinting import HOSTILE

NAN = math.nan
MEANS = {"in_group": (0.41, 0.45), "status_quo": (-0.41, 0.56), "halo": (0.34, 0.47), "reactance": (-0.01, 0.2)}
MODELS = {"GPT-4o": 0.37, "Random": 0.54, "Mistral Small": 0.39}


def score(id: str, value: float, **where: str) -> Estimate:
    method = "published value, no interval: only means are published"
    return Estimate(id, where, value, unit="score", method=method, data="published")


def means(rows=MEANS) -> list[Estimate]:
    pairs = [(("ratio_scale", "ratio_scale_absolute")[i], pair[i], bias) for i in (0, 1) for bias, pair in rows.items()]
    return [score(id, value, bias=bias) for id, value, bias in pairs]


def expected(rows=MEANS) -> list[Estimate]:
    return [score("ratio_scale_random", 0.551, bias=bias) for bias in rows]


def models(rows=MODELS) -> list[Estimate]:
    return [score("ratio_scale_absolute", value, judge=model) for model, value in rows.items()]


def marked(axes, marker: str) -> list[tuple[float, float]]:
    return [(each.get_ydata()[0], each.get_xdata()[0]) for each in axes.lines if each.get_marker() == marker]


def test_rows_are_sorted_by_direction_and_hold_both_means_and_the_tick() -> None:
    figure = figures.show_published_biases([*means(), *expected(), *models()], {"halo": "Halo Effect"})
    (axes,) = figure.figure.axes
    names = [each.get_text() for each in axes.get_yticklabels()]
    assert names == ["in group", "Halo Effect", "reactance", "status quo"]
    assert marked(axes, "o") == [(0, 0.41), (1, 0.34), (2, -0.01), (3, -0.41)]
    assert marked(axes, "D") == [(0, 0.45), (1, 0.47), (2, 0.2), (3, 0.56)]
    ticks = [tuple(each.get_xdata()) for each in axes.lines if each.get_color() == styles.INK]
    assert ticks == [(0.551, 0.551)] * 4
    # The grey line of a negative mean begins at its distance from 0.
    grey = [tuple(each.get_xdata()) for each in axes.lines if each.get_color() == styles.GREY][1:]
    assert grey == [(0.41, 0.45), (0.34, 0.47), (0.01, 0.2), (0.41, 0.56)]
    assert all(each.get_markerfacecolor() == "white" for each in axes.lines if each.get_marker() in "oD")
    assert "Malberg" in figure.caption and "no interval" in figure.caption and "SIMULATED" not in figure.caption
    assert "a tick marks" in figure.caption and "published means" in figure.caption
    assert "*" not in figure.caption and "status quo: mean B -0.41, mean |B| 0.56, at random 0.55" in figure.alt
    # A ring mirrors what lies below 0, so that the line hangs on something.
    rings = [(each.get_ydata()[0], each.get_xdata()[0]) for each in axes.lines if each.get_marker() == "."]
    assert rings == [(2, 0.01), (3, 0.41)] and "begins at a small ring" in figure.caption
    assert acceptance.MIRRORED in [each.get_text() for each in texts(figure)]
    above = figures.show_published_biases(means({"halo": (0.34, 0.47), "in_group": (0.0, 0.1)}))
    assert "ring" not in above.caption and not marked(above.figure.axes[0], ".")
    assert acceptance.MIRRORED not in [each.get_text() for each in texts(above)]


def test_the_alt_text_names_each_number_and_ends() -> None:
    many = {f"bias number {i} with a long name": (0.9 - 0.06 * i, 0.95) for i in range(30)}
    alt = figures.show_published_biases([*means(many), *expected(many)]).alt
    assert alt.count("mean |B| 0.95, at random 0.55") == 30 and len(alt) < 3500


def test_without_what_random_answers_give_no_tick_is_promised_and_invalid_biases_have_a_star() -> None:
    figure = figures.show_published_biases(means(), invalid=["halo", "conservatism"])
    (axes,) = figure.figure.axes
    assert not any(each.get_color() == styles.INK for each in axes.lines)
    assert "tick" not in figure.caption and "random" not in " ".join(each.get_text() for each in texts(figure))
    assert "halo *" in [each.get_text() for each in axes.get_yticklabels()] and "*: the metric" in figure.caption


def test_a_mean_that_is_missing_or_not_a_number_is_no_point() -> None:
    some = [each for each in means() if (each.id, each.where["bias"]) != ("ratio_scale_absolute", "halo")]
    some = [replace(each, value=NAN) if each.where["bias"] == "reactance" else each for each in some]
    (axes,) = figures.show_published_biases(some).figure.axes
    assert len(marked(axes, "D")) == 2 and len(marked(axes, "o")) == 3
    assert "not estimable" in [each.get_text() for each in axes.texts]


def test_models_are_sorted_and_the_random_one_stands_out() -> None:
    figure = figures.show_published_models([*models(), *means()])
    (axes,) = figure.figure.axes
    assert [each.get_text() for each in axes.get_yticklabels()] == ["Random", "Mistral Small", "GPT-4o"]
    assert marked(axes, "s") == [(0, 0.54)] and marked(axes, "D") == [(1, 0.39), (2, 0.37)]
    assert axes.get_yticklabels()[0].get_fontweight() == "bold" and "dashed line" in figure.caption
    assert any(tuple(each.get_xdata()) == (0.54, 0.54) for each in axes.lines) and not intervals(axes)
    bare = figures.show_published_models(models({"GPT-4o": 0.37}))
    assert "random" not in bare.caption and not marked(bare.figure.axes[0], "s")


def test_other_estimates_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"no estimates of ratio_scale\[bias\]; given: ratio_scale_absolute\[judge\]"):
        figures.show_published_biases(models())
    with pytest.raises(ValueError, match=r"no estimates of ratio_scale_absolute\[judge\]"):
        figures.show_published_models(means())


@pytest.mark.parametrize("style", EACH_STYLE)
def test_nothing_overlaps_or_leaves_the_figure_at_print_size(style: str) -> None:
    look = styles.style(style)
    many = {f"bias number {i} with a name that is long": (0.9 - 0.06 * i, 0.95) for i in range(30)}
    hostile = {name: (0.1, 0.2) for name in HOSTILE}
    for rows in (many, MEANS, hostile):
        assert_readable(figures.show_published_biases([*means(rows), *expected(rows)], style=style), look)
        named = {name: size for name, (_, size) in rows.items()} | {"Random": 0.54}
        assert_readable(figures.show_published_models(models(named), style=style), look)
