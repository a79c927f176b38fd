"""Figures of published means of biases: every number is where it belongs, and what has no interval is drawn open."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from helpers import figures
from helpers.types import Estimate
from tests.test_figures import by_row, rows_of, texts
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


def test_rows_are_sorted_by_direction_and_hold_both_means_and_the_tick() -> None:
    figure = figures.show_published_biases([*means(), *expected(), *models()])
    assert rows_of(figure) == ["in group", "halo", "reactance", "status quo"]
    found = by_row(figure)
    assert sorted(x for row, x, _ in found if row == "status quo") == [-0.41, 0.551, 0.56]
    assert len(found) == 12 and not any(span for _, _, span in found)
    assert "Malberg" in figure.caption and "no interval" in figure.caption and "SIMULATED" not in figure.caption
    assert "A tick marks" in figure.caption and "published means" in figure.caption and "*" not in figure.caption
    assert "mean B, bias status_quo: -0.41" in figure.alt


def test_the_alt_text_names_each_number_and_ends() -> None:
    many = {f"bias number {i} with a long name": (0.9 - 0.06 * i, 0.95) for i in range(30)}
    alt = figures.show_published_biases([*means(many), *expected(many)]).alt
    assert alt.count("mean |B|, bias bias number") == 30 and alt.count("at random, bias") == 30 and len(alt) < 8000


def test_without_what_random_answers_give_no_tick_is_promised_and_invalid_biases_have_a_star() -> None:
    figure = figures.show_published_biases(means(), invalid=["halo", "conservatism"])
    assert "tick" not in figure.caption and "random" not in " ".join(each.get_text() for each in texts(figure))
    assert "halo *" in rows_of(figure) and "*: the metric" in figure.caption


def test_a_mean_that_is_missing_or_not_a_number_is_no_point() -> None:
    some = [each for each in means() if (each.id, each.where["bias"]) != ("ratio_scale_absolute", "halo")]
    some = [replace(each, value=NAN) if each.where["bias"] == "reactance" else each for each in some]
    figure = figures.show_published_biases(some)
    assert len(by_row(figure)) == 5
    assert "not estimable" in [each.get_text() for each in texts(figure)]


def test_models_are_sorted_and_the_random_one_stands_out() -> None:
    figure = figures.show_published_models([*models(), *means()])
    (axes,) = figure.figure.axes
    assert by_row(figure) == [("Random", 0.54, None), ("Mistral Small", 0.39, None), ("GPT-4o", 0.37, None)]
    assert any(tuple(each.get_xdata()) == (0.54, 0.54) for each in axes.lines) and "dashed line" in figure.caption
    assert "random" not in figures.show_published_models(models({"GPT-4o": 0.37})).caption


def test_other_estimates_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"no estimates of ratio_scale\[bias\]; given: ratio_scale_absolute\[judge\]"):
        figures.show_published_biases(models())
    with pytest.raises(ValueError, match=r"no estimates of ratio_scale_absolute\[judge\]"):
        figures.show_published_models(means())


def all_figures(style: str) -> list[figures.Figure]:
    many = {f"bias number {i} with a name that is long": (0.9 - 0.06 * i, 0.95) for i in range(30)}
    made = []
    for rows in (many, MEANS, {name: (0.1, 0.2) for name in HOSTILE}):
        named = {name: size for name, (_, size) in rows.items()} | {"Random": 0.54}
        made.append(figures.show_published_biases([*means(rows), *expected(rows)], style=style))
        made.append(figures.show_published_models(models(named), style=style))
    return made
