"""Tables, sentences, figures and costs of power, and the command."""

from __future__ import annotations

import asyncio
import itertools
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from helpers import figures, paths, power
from helpers.__main__ import main
from helpers.config import ConfigError, load_experiment
from helpers.figures.panels import NothingToDraw
from helpers.power.planning import Cost, units
from helpers.power.precision import Precision
from helpers.run.sources import questions_of

HINTS = [
    Precision("hint_effect", {"hint": hint}, "pp", se, 80, 0.05 / 3, words="Holm", confirmatory=True, data="asked")
    for hint, se in (("self", 0.03), ("full", 0.02))
]
MARGIN = Precision("hint_effect_90", {"hint": "self"}, "pp", 0.03, 80, 0.05 / 3, "equivalence", "Holm", True)
OTHERS = [Precision("name_effect", {"vendor": name}, "pp", se, 80) for name, se in (("a", 0.01), ("b", 0.05))]


def test_effects_are_wanted_in_pp_or_in_their_unit() -> None:
    assert power.wanted(["5", "2.5pp", "0.4 logit", "0.1score"]) == {"pp": 0.025, "logit": 0.4, "score": 0.1}
    for text in ("x", "0", "-1", "5 miles"):
        with pytest.raises(ValueError, match="a number above 0"):
            power.wanted([text])


def test_the_table_has_a_row_a_planned_test_and_a_row_a_kind_of_others() -> None:
    table = power.table([*HINTS, MARGIN, *OTHERS], effects={"pp": 0.05}, cost=Cost(80, 80, 960, 1e6, 8.0))
    assert list(table["where"]) == ["self", "full", "self", "median of 2 (vendor)"]
    assert list(table["questions"]) == [80] * 4
    needed = [power.questions_for(each, 0.05) for each in (*HINTS, MARGIN, OTHERS[0])]
    assert list(table["questions needed"]) == [f"{n:,.0f}" for n in needed]
    assert table["cost of these"][0] == f"{12 * needed[0]:,.0f} calls, ${needed[0] / 10:,.2f}"
    assert table["test"][2].endswith("equivalence") and table["smallest effect"][0].endswith(" pp")
    logits = power.table([Precision("x", {}, "logit", 0.1, 80)], effects={"pp": 0.05})
    assert list(logits["questions needed"]) == ["\N{EN DASH}"]
    assert power.table([]).empty


def test_the_sentence_names_the_best_and_the_worst_and_what_half_takes() -> None:
    said = power.sentence([*HINTS, *OTHERS])
    low, high = (100 * power.smallest_detectable(each) for each in reversed(HINTS))
    half = power.questions_for(HINTS[0], high / 200)
    assert f"{low:.1f} pp (full) to {high:.1f} pp (self)" in said and f"takes {half:,.0f} questions" in said
    made_up = Precision("x", {}, "pp", 1, 80, confirmatory=True, data="simulated")
    assert "SIMULATED" not in said and "SIMULATED" in power.sentence([made_up])
    assert "10 questions are the least" in power.sentence([])


def test_the_figure_draws_each_planned_number_and_says_simulated() -> None:
    curves = power.curves([*HINTS, MARGIN, *OTHERS])
    assert set(curves["id"]) == {"hint_effect", "hint_effect_90"}
    assert curves.groupby(["id", "place"])["effect"].apply(lambda each: each.is_monotonic_decreasing).all()
    figure = figures.show_power(curves, {"pp": 0.05})
    drawn = [axes for axes in figure.figure.axes if axes.axison]
    assert [axes.get_title(loc="left") for axes in drawn] == ["hint effect", "hint effect, equivalence"]
    assert [len(axes.get_lines()) for axes in drawn] == [2 * 2 + 1, 2 + 1]  # lines, dots, the wanted effect
    assert "80 questions" in figure.caption and "asked judges" in figure.caption and "Dashed" in figure.caption
    many = [
        Precision("x", {"judge": f"j{i}"}, "pp", 0.01 + i / 1000, 80, confirmatory=True, data="simulated")
        for i in range(12)
    ]
    figure = figures.show_power(power.curves(many), style="acl")
    named = {text.get_text() for axes in figure.figure.axes for text in axes.texts}
    assert named == {"j0", "j11"} and "SIMULATED" in figure.caption
    with pytest.raises(NothingToDraw):
        figures.show_power(power.curves(OTHERS))


def test_names_of_curves_stand_apart_and_the_axis_says_what_is_counted() -> None:
    def drawn(*places: dict[str, str]) -> tuple[object, list[str]]:
        # Errors so near each other that the lines end side by side.
        each = [
            Precision("x", place, "logit", 0.2 + i / 1000, 12, confirmatory=True, data="asked", cluster="article")
            for i, place in enumerate(places)
        ]
        figure = figures.show_power(power.curves(each))
        assert "number of articles" in figure.caption and "12 articles" in figure.caption
        axes = figure.figure.axes[0]
        boxes = sorted((text.get_window_extent() for text in axes.texts), key=lambda box: box.y0)
        assert all(low.y1 <= high.y0 for low, high in itertools.pairwise(boxes))
        assert axes.get_xlabel() == "articles"
        return axes, sorted(text.get_text() for text in axes.texts)

    axes, names = drawn({"judge": "small", "dose": "2"}, {"judge": "large", "dose": "2"})
    assert axes.get_title(loc="left") == "x, dose 2" and names == ["large", "small"]
    axes, names = drawn({"judge": "small", "of": "a"}, {"judge": "large", "of": "b"})
    assert axes.get_title(loc="left") == "x" and names == ["large\nb", "small\na"]


def test_a_cost_needs_no_key_and_grows_with_questions_judges_and_repeats() -> None:
    def of(questions: int, **given) -> Cost:
        return asyncio.run(power.cost("cognitive_biases", questions, biases=["halo"], **given))

    one = of(10, judges=["gpt_4_1"], repeats=1)
    # 10 scenarios in 3 wordings, control and treatment.
    assert one.calls == 60 and one.usd > 0 and one.known == 24
    assert of(10, judges=["gpt_4_1"], repeats=2).calls == 120
    both = of(10, judges=["gpt_4_1", "claude_fast"], repeats=1)
    assert both.calls == 120 and both.usd > one.usd
    assert of(240, judges=["gpt_4_1"], repeats=1).calls == 1440
    assert of(20, judges=["gpt_4_1"], repeats=1).usd == pytest.approx(2 * one.usd, rel=0.1)
    assert one.of(math.inf).brief == "no sum would do" and "24 questions are at hand" in str(one.of(100))
    with pytest.raises(ConfigError, match="nobody"):
        of(10, judges=["nobody"])


def test_articles_and_scenarios_are_what_is_counted() -> None:
    tests = questions_of(load_experiment("cognitive_biases"))
    assert (units(tests), len(tests)) == (24, 168)  # seven biases
    passages = questions_of(load_experiment("quality_self_preference"))
    lines = (paths.DATA / "quality_self_preference" / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    assert units(passages) == len(lines) < len(passages)
    assert units(questions_of(load_experiment("mt_bench_blind"))) == 80


def test_the_command_prints_the_table_and_writes_the_curve(tmp_path: Path) -> None:
    pilot = paths.FIGURES / "hinting_groups" / "numbers.json"
    given = ["power", "hinting_groups", "--pilot", str(pilot), "--effect", "3", "--questions", "10"]
    done = CliRunner().invoke(main, [*given, "--out", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0 and "hinting_groups, 10 questions: " in done.output
    assert "hint_effect_90" in done.output and "from the pilot" in done.output
    assert {file.suffix for file in tmp_path.iterdir()} == {".png", ".pdf", ".svg"}
    for wrong, told in (
        (["power", "hinting_groups", "--questions", "9"], "9 questions: 10 are the least"),
        (["power", "hinting_groups", "--effect", "x"], "a number above 0"),
        (["power", "mt_bench_blind", "--pilot", str(pilot)], "holds the numbers of hinting_groups"),
        (["power", "nothing"], "no experiment 'nothing'"),
        (["power", "hinting_groups", "-p", "jugdes", "[a]"], "no parameter jugdes"),
    ):
        failed = CliRunner().invoke(main, wrong)
        assert failed.exit_code and told in str(failed.exception)


def test_the_command_draws_a_design_where_there_is_no_pilot() -> None:
    given = ["power", "arena_hard_position_bias", "--questions", "20", "--judges", "sim_gpt_judge", "--repeats", "1"]
    done = CliRunner().invoke(main, [*given, "--draws", "10"], catch_exceptions=False)
    assert "from 10 simulated runs with 1 judges, repeats = 1" in done.output and "exact McNemar" in done.output
    assert "Monte-Carlo error of 24%" in done.output
