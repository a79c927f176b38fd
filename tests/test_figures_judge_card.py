"""The judge card and its forest plots: who is on it, in which order, how a verdict looks without colour."""

from __future__ import annotations

import math
from itertools import product

import pytest

from helpers.figures import Figure, NothingToDraw, cards, show_judge_card, show_judge_forest
from helpers.figures.points import NOT_ESTIMABLE
from helpers.types import Estimate
from helpers.words import CARD_VERDICTS, CardLine
from tests.cells import texts
from tests.test_figures import points

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


def test_asked_judges_stand_above_published_ones_and_the_strongest_evidence_first() -> None:
    assert cards.ranked(LINES) == {
        "asked": ["hinted", "fair", "short"],
        "published": ["old"],
        "simulated": ["sim_a", "sim_b"],
    }
    rows = [each.get_text() for each in show_judge_card(LINES).figure.axes[0].get_yticklabels()]
    heads = ("asked judges", "published counts", "SIMULATED models")
    assert rows == [heads[0], "hinted", "fair", "short", heads[1], "old", heads[2], "sim_a", "sim_b"]


def test_each_verdict_has_its_mark_number_and_interval() -> None:
    shown = texts(show_judge_card(LINES))
    assert "\N{BLACK CIRCLE} +20.0\n10 to 30" in shown and "\N{CIRCLE WITH LEFT HALF BLACK} +15.0\n5 to 25" in shown
    assert "\N{WHITE CIRCLE} +1.0\n\N{MINUS SIGN}9 to 11" in shown and "? +30.0" in shown
    assert "+2.0" not in " ".join(shown), "what only describes stands in the table"
    assert len(set(cards.MARKS.values())) == len(CARD_VERDICTS)


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
    judges = {f"j{i:02}" for i in range(20)} | {"weak", "weaker"}
    assert names == judges | {"place", "gap"}, "all judges with a verdict"


def test_described_judges_alone_still_make_a_card_and_no_forest() -> None:
    lines = [line(f"d{i}", "unreadable", "described", 0.1) for i in range(5)]
    assert cards.shown(lines)["asked"] == [f"d{i}" for i in range(5)]
    assert "+10.0" in texts(show_judge_card(lines)), "where nobody is judged"
    with pytest.raises(NothingToDraw):
        show_judge_forest(lines)
    with pytest.raises(NothingToDraw):
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


def test_a_forest_is_sorted_and_its_marks_differ_without_colour() -> None:
    figure = show_judge_forest(LINES)
    (axes,) = figure.figure.axes
    rows = [label.get_text() for label in axes.get_yticklabels() if label.get_fontweight() != "bold"]
    assert rows == ["short", "hinted", "fair", "old", "sim_b", "sim_a"]
    assert [x for x, _ in points(axes)] == pytest.approx([30, 15, 1, 20, 20, -30])
    assert len({each.marker for each in cards.LOOKS.values()}) == len(CARD_VERDICTS)


@pytest.mark.parametrize(
    ("unit", "value", "told"),
    [("pp", 0.172, "+17.2 pp"), ("rate", 0.334, "33 %"), ("rate", 0.004, "0.4 %"), ("score", 0.488, "+0.49")],
)
def test_a_cell_has_the_number_in_the_unit_that_people_read(unit: str, value: float, told: str) -> None:
    assert cards.number(Estimate("x", {}, value, unit=unit)) == told
    assert cards.number(Estimate("x", {}, NAN, unit=unit)) == NOT_ESTIMABLE


def all_figures(style: str) -> list[Figure]:
    """The card of many judges with long names, and one with ten columns."""
    lines = [
        line(f"{data}_{i:02}_with_a_long_name", measure, CARD_VERDICTS[(i + j) % 4], -0.987, data)
        for data, i, (j, measure) in product(
            ("published", "simulated"),
            range(14),
            enumerate(("self-preference", "evaluator-quality gap", "hidden authorship", "first position")),
        )
    ]
    lines += [line("published_00_with_a_long_name", m, "described", 0.5, "published") for m in ("unreadable", "agree")]
    ten = [line("sim_j", f"strong effect {letter}", data="simulated") for letter in "abcdefghij"]
    return [show_judge_card(lines, style=style), show_judge_card(ten, style=style)]


def test_a_line_without_a_number_is_a_dash_and_no_point() -> None:
    lines = [line("a"), line("b", verdict="untold", value=NAN)]
    assert f"? {NOT_ESTIMABLE}" in texts(show_judge_card(lines))
    (axes,) = show_judge_forest(lines).figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["place", "a"]
    assert math.isnan(lines[1].estimate.value)
