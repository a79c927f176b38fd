"""Figures of accuracy and agreement: they show what was given, sorted, readable, people beside judges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers import figures
from helpers.biases import accuracy as bias
from helpers.types import Estimate
from tests.runs import published_estimates
from tests.test_accuracy import people
from tests.test_figures import by_row, intervals, points, rate, rows_of, texts
from tests.test_figures_hinting import HOSTILE

NAN = float("nan")
CATEGORIES = ("Natural", "Adversarial")


@pytest.fixture(scope="module")
def published() -> tuple[Estimate, ...]:
    return published_estimates("overview")


def right(data: str = "simulated", judges: int = 4, source: str = "") -> list[Estimate]:
    where = {"source": source} if source else {}
    found = []
    for i in range(judges):
        at = {**where, "judge": f"sim_gpt_{i}"}
        found.append(replace(rate("gold_accuracy", at, 40 + 7 * i, 80, data), p=0.5))
        found.append(rate("gold_unreadable_share", at, i, 84, data))
        for k, category in enumerate(CATEGORIES):
            found.append(rate("gold_accuracy_by_category", {**at, "category": category}, 20 + 3 * i - 5 * k, 40, data))
    return found


def hostile() -> list[Estimate]:
    found = right("asked", len(HOSTILE))
    names = dict(zip([f"sim_gpt_{i}" for i in range(len(HOSTILE))], HOSTILE, strict=True))
    return [replace(each, where={**each.where, "judge": names[each.where["judge"]]}) for each in found]


def test_judges_are_sorted_and_every_number_has_its_interval(published: list[Estimate]) -> None:
    figure = figures.show_accuracy(published, CATEGORIES)
    axes = figure.figure.axes
    assert [each.get_title(loc="left") for each in axes] == ["all", *CATEGORIES]
    shown = [x for _, x, _ in by_row(figure)]
    mine = [each for each in published if each.id == "gold_accuracy" and each.where["source"] == "LLMBar"]
    assert len(shown) == 32 and shown[:30] == pytest.approx(sorted((100 * e.value for e in mine), reverse=True))
    assert [len(intervals(each)) for each in axes] == [32, 30, 30]
    order = rows_of(figure)
    assert order[:2] == ["LLMBar", "GPT-4/Vanilla"] and order[30] == "LLaMA2/Vanilla_NoRules"
    assert [[each.get_text() for each in panel.texts] for panel in axes] == [[], ["not split"] * 2, ["not split"] * 2]
    assert [[list(line.get_xdata()) for line in each.lines] for each in axes] == [[[50, 50]]] * 3
    # PandaLM's three verdicts have no coin to be compared with.
    assert "picked by a coin (nothing of PandaLM was tested against it)" in figure.caption
    assert "unreadable 0.4 %" in figure.caption and "97 to 419 questions" in figure.caption
    assert "judge GPT-4/Vanilla: 84.5 % [81.3, 87.7]" in figure.alt


def test_people_stand_beside_judges(published: list[Estimate]) -> None:
    figure = figures.show_agreement(published)
    rows = [row for row in rows_of(figure) if row not in ("PandaLM", "MT-Bench")]
    assert rows == ["gpt-3.5-turbo", "pandalm-7b", "gpt4_pair, turn 1", "gpt4_pair, turn 2"]
    found = [x for row, x, _ in by_row(figure) if row.startswith("gpt4")]
    assert found == pytest.approx([65.97, 62.97, 65.74, 66.62], abs=0.005)
    assert [len(intervals(each)) for each in figure.figure.axes] == [8, 8]
    assert "condition all" not in figure.alt and "another person" in [each.get_text() for each in texts(figure)]


def all_figures(style: str) -> list[figures.Figure]:
    published = published_estimates("overview")
    votes = bias.agreement(people(30), "simulated", resamples=20)
    return [
        figures.show_accuracy(published, CATEGORIES, style=style, name="published"),
        figures.show_accuracy(right() + right("asked", 2, "mine"), CATEGORIES, style=style, name="simulated"),
        figures.show_accuracy(hostile(), CATEGORIES, style=style, name="hostile"),
        figures.show_agreement(published, style=style, name="agreement"),
        figures.show_agreement(votes, style=style, name="simulated_votes"),
    ]


def test_what_cannot_be_estimated_is_said() -> None:
    found = right("asked")
    bare = [replace(e, low=NAN, high=NAN, method="too few") if e.where["judge"] == "sim_gpt_1" else e for e in found]
    lost = [
        replace(e, value=NAN, low=NAN, high=NAN) if e.where["judge"] == "sim_gpt_2" else e
        for e in bare
        if e.id == "gold_accuracy"
    ]
    figure = figures.show_accuracy(lost)
    axes = figure.figure.axes[0]
    assert rows_of(figure)[-1] == "sim_gpt_2"
    assert "not estimable" in [each.get_text() for each in axes.texts]
    assert len(points(axes)) == 3 and len(intervals(axes)) == 2


def test_wrong_estimates_are_named() -> None:
    with pytest.raises(ValueError, match=r"no estimates of gold_accuracy\[judge\]"):
        figures.show_accuracy([])
    with pytest.raises(ValueError, match="no estimates of human_agreement"):
        figures.show_agreement(right())
    with pytest.raises(ValueError, match="more than one estimate"):
        figures.show_accuracy([*right(), *right()])
