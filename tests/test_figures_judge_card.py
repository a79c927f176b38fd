"""The judge card and its forest plots: who is on it, in which order, how a verdict looks without colour."""

from __future__ import annotations

import math
from itertools import product

import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from helpers.figures import cards, panels, show_judge_card, show_judge_forest
from helpers.figures.cards import JUDGE_CARD_REAL, JUDGE_CARD_SIMULATED
from helpers.types import Estimate
from helpers.words import CARD_VERDICTS, CardLine
from tests.cells import texts

NAN = float("nan")


def line(
    judge: str, measure: str = "place", verdict: str = "bias", value: float = 0.2, data: str = "asked"
) -> CardLine:
    bounds = {"low": NAN, "high": NAN} if verdict == "untold" else {"low": value - 0.1, "high": value + 0.1}
    estimate = Estimate("effect", {"judge": judge}, value, **bounds, n=80, clusters=40, unit="pp", data=data)
    return CardLine(judge, measure, estimate, verdict, "says so")


LINES = [
    line("old", data="published"),
    line("hinted", verdict="hint", value=0.15),
    line("fair", verdict="not shown", value=0.01),
    line("short", verdict="untold", value=0.3),
    line("fair", "unreadable", "described", 0.02),
    line("sim_a", value=-0.3, data="simulated"),
    line("sim_b", verdict="hint", data="simulated"),
]


def luminance(colour: str) -> float:
    """How bright a colour looks, 0 to 1 (WCAG 2)."""
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in to_rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_real_judges_stand_above_simulated_ones_and_the_strongest_evidence_first() -> None:
    assert cards.ranked(LINES) == {
        "published": ["old"],
        "asked": ["hinted", "fair", "short"],
        "simulated": ["sim_a", "sim_b"],
    }
    figure = show_judge_card(LINES)
    heights = {text.get_text(): text.get_window_extent().y0 for text in figure.figure.axes[0].texts}
    order = ["published counts", "old", "asked judges", "hinted", "fair", "short", "sim_a", "sim_b"]
    found = [heights[next(name for name in heights if name == word)] for word in order]
    assert found == sorted(found, reverse=True)


def test_each_verdict_has_its_mark_number_and_interval() -> None:
    shown = texts(show_judge_card(LINES))
    assert "\N{BLACK CIRCLE} +20.0" in shown and "10 to 30" in shown
    assert "\N{CIRCLE WITH LEFT HALF BLACK} +15.0" in shown and "\N{WHITE CIRCLE} +1.0" in shown
    assert "? +30.0" in shown and "20 to 40" not in shown, "what is untold has no interval"
    assert "+2.0" in shown, "a number that only describes has no mark"
    assert len(set(cards.MARKS.values())) == len(CARD_VERDICTS)


def test_verdicts_are_told_apart_in_grey_and_simulated_judges_are_grey() -> None:
    for grounds in (JUDGE_CARD_REAL, JUDGE_CARD_SIMULATED):
        bias, hint = (luminance(grounds[verdict][0]) for verdict in ("bias", "hint"))
        assert bias < 0.2 < 0.6 < hint < 0.95, "dark, light, and white for the rest"
        assert luminance(grounds["bias"][1]) == 1 and 1.05 / (bias + 0.05) > 4.5, "white print on it can be read"
    assert all(len(set(to_rgb(ground))) == 1 for ground, _ in JUDGE_CARD_SIMULATED.values())
    assert all(len(set(to_rgb(ground))) > 1 for ground, _ in JUDGE_CARD_REAL.values())
    figure = show_judge_card(LINES)
    grounds = [p.get_facecolor()[:3] for p in figure.figure.axes[0].patches if isinstance(p, Rectangle)]
    assert (
        grounds.count(to_rgb(JUDGE_CARD_SIMULATED["bias"][0])) == 1
        and grounds.count(to_rgb(JUDGE_CARD_REAL["bias"][0])) == 1
    )


def test_simulated_judges_say_so_in_the_picture_its_caption_and_its_text() -> None:
    for figure in (show_judge_card(LINES), show_judge_forest(LINES)):
        assert any("SIMULATED" in text for text in texts(figure)) and "SIMULATED" in figure.alt
    real = [each for each in LINES if each.estimate.data != "simulated"]
    for figure in (show_judge_card(real), show_judge_forest(real)):
        assert not any("SIMULATED" in text for text in texts(figure))


def test_of_many_judges_those_with_evidence_stay_and_every_measure_keeps_its_gravest() -> None:
    many = [line(f"j{i:02}", value=0.2 + 0.01 * i) for i in range(20)]
    many += [line("weak", "gap", "untold", 0.1), line("weaker", "gap", "untold", 0.05)]
    many += [line(f"d{i}", "unreadable", "described", 0.1) for i in range(5)]
    shown = cards.shown(many)["asked"]
    assert len(shown) == cards.MOST and "weak" in shown and "weaker" not in shown and not {"d0", "d1"} & set(shown)
    assert shown[:3] == ["j19", "j18", "j17"]
    figure = show_judge_card(many)
    assert "15 of 27 (asked judges)" in figure.caption
    names = {label.get_text() for axes in show_judge_forest(many).figure.axes for label in axes.get_yticklabels()}
    assert names == {f"j{i:02}" for i in range(20)} | {"weak", "weaker"}, "all judges with a verdict"


def test_described_judges_alone_still_make_a_card_and_no_forest() -> None:
    lines = [line(f"d{i}", "unreadable", "described", 0.1) for i in range(5)]
    assert cards.shown(lines)["asked"] == [f"d{i}" for i in range(5)]
    assert "+10.0" in texts(show_judge_card(lines))
    with pytest.raises(panels.NothingToDraw):
        show_judge_forest(lines)
    with pytest.raises(panels.NothingToDraw):
        show_judge_card([])


def test_of_several_lines_for_one_cell_the_gravest_then_the_largest_counts() -> None:
    lines = [
        line("a", verdict=verdict, value=value) for verdict, value in (("hint", 0.9), ("bias", 0.2), ("bias", -0.3))
    ]
    ((_, kept),) = cards.cells(lines).items()
    assert (kept.verdict, kept.estimate.value) == ("bias", -0.3)
    both = cards.cells([line("a"), line("a", data="published")])
    assert len(both) == 2, "the same name published and asked is two judges"


def test_measures_that_only_describe_come_last_the_commonest_at_the_end() -> None:
    lines = [line("a", "lost", "described"), line("b", "lost", "described"), line("a", "kept", "described")]
    assert cards.measures([*lines, line("a", "place")]) == ["place", "kept", "lost"]


def test_a_forest_is_sorted_and_a_point_is_the_fuller_the_worse() -> None:
    figure = show_judge_forest(LINES)
    (axes,) = figure.figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        *("old", "short", "hinted", "fair", "sim_b", "sim_a"),
    ]
    points = [drawn for drawn in axes.lines if len(drawn.get_xdata()) == 1]
    look = {round(drawn.get_ydata()[0]): (drawn.get_marker(), drawn.get_fillstyle()) for drawn in points}
    assert look[0] == ("o", "full") and look[1][0] == "x" and look[2] == ("o", "left")
    assert points[3].get_markerfacecolor() == "white"
    assert [drawn.get_xdata()[0] for drawn in points] == pytest.approx([20, 30, 15, 1, 20, -30])


@pytest.mark.parametrize(
    ("unit", "value", "told"),
    [("pp", 0.172, "+17.2 pp"), ("rate", 0.334, "33 %"), ("rate", 0.004, "0.4 %"), ("score", 0.488, "+0.49")],
)
def test_a_cell_has_the_number_in_the_unit_that_people_read(unit: str, value: float, told: str) -> None:
    assert cards.number(Estimate("x", {}, value, unit=unit)) == told
    assert cards.number(Estimate("x", {}, NAN, unit=unit)) == panels.NOT_ESTIMABLE


@pytest.mark.parametrize("style", ["paper", "acl", pytest.param("talk", marks=pytest.mark.slow)])
def test_nothing_on_the_card_overlaps_or_leaves_the_page(style: str) -> None:
    lines = [
        line(f"{data}_{i:02}_with_a_long_name", measure, CARD_VERDICTS[(i + j) % 4], -0.987, data)
        for data, i, (j, measure) in product(
            ("published", "simulated"),
            range(14),
            enumerate(("self-preference", "evaluator-quality gap", "hidden authorship", "first position")),
        )
    ]
    lines += [line("published_00_with_a_long_name", m, "described", 0.5, "published") for m in ("unreadable", "agree")]
    figure = show_judge_card(lines, style=style)
    (axes,) = figure.figure.axes
    figure.figure.draw_without_rendering()
    page = figure.figure.bbox
    words = [*axes.texts, *axes.get_xticklabels()]
    boxes = [text.get_window_extent() for text in words if text.get_text()]
    for box in boxes:
        assert box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1 and box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            # Lines of text in one cell touch; letters of different cells never do.
            wide = min(one.x1, other.x1) - max(one.x0, other.x0)
            high = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert wide < 1 or high < 0.35 * min(one.height, other.height)


def test_a_line_without_a_number_is_a_dash_and_no_point() -> None:
    lines = [line("a"), line("b", verdict="untold", value=NAN)]
    assert f"? {panels.NOT_ESTIMABLE}" in texts(show_judge_card(lines))
    (axes,) = show_judge_forest(lines).figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a"]
    assert math.isnan(lines[1].estimate.value)
