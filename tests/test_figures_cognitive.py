"""Figures of experiment 5: what biases do to answers, behind the means, and what noise makes of published metrics."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pandas as pd
import pytest
from matplotlib.collections import PathCollection

from helpers import figures
from helpers.figures import biases as bias_values, style as styles
from tests import bias_numbers as invented
from tests.bias_numbers import BIASES, FEW, MANY, MODELS, ONE, PUBLISHED
from tests.test_figures import assert_readable, by_row, intervals, narrow, points, rows_of, texts

NAN = float("nan")
SHOWS = (
    (figures.show_bias_effects, invented.effects, r"\w+\[judge.*"),
    (figures.show_acceptance, invented.acceptance, r"\w+\[judge.*"),
    (figures.show_noise_metrics, invented.metrics, r"\w+\[judge.*"),
)
#: Two judges of files and two simulated ones, of which two have the same vendor.
BOTH = (("asked", FEW[:2]), ("simulated", ("sim_gpt", "sim_gpt_large")))


def drawn(sources, style: str = "paper", suffix: str = "", alter=lambda each: each) -> list[figures.Figure]:
    """Every figure of these judges, from invented numbers that `alter` may change."""

    def every(make):
        found = [each for data, judges in sources for each in make(data, judges)]
        return [alter(each) for each in found] + [o for data, judges in sources for o in invented.odd(data, judges)]

    frame = pd.concat([invented.pairs(data, judges) for data, judges in sources])
    effects = every(invented.effects)
    stars = invented.corrected([each for each in effects if each.id == "bias_effect"])
    return [
        figures.show_bias_effects(effects, stars, style=style, name=f"bias_effects{suffix}"),
        figures.show_bias_values(frame, effects, style=style, name=f"bias_values{suffix}"),
        figures.show_anchor_response(frame, every(invented.slopes), style=style, name=f"anchor_response{suffix}"),
        *figures.if_any(figures.show_acceptance, every(invented.acceptance), style=style, name=f"acceptance{suffix}"),
        figures.show_noise_metrics(every(invented.metrics), style=style, name=f"noise_metrics{suffix}"),
    ]


def all_figures(style: str) -> list[figures.Figure]:
    grid = invented.effects("hub", MODELS, PUBLISHED, "ratio_scale")
    return [
        *drawn([("simulated", FEW)], style),
        *drawn([("asked", ONE)], style, "_one"),
        *drawn(BOTH, style, "_both"),
        *drawn([("hub", MANY)], style, "_many"),
        figures.show_bias_effects(grid, invented.corrected(grid), id="ratio_scale", style=style, name="grid"),
    ]


@pytest.fixture(scope="module")
def tight() -> dict[str, figures.Figure]:
    """Every figure in the narrowest columns."""
    return {figure.name: figure for figure in narrow(all_figures)}


@pytest.mark.filterwarnings("error:constrained_layout not applied")
@pytest.mark.parametrize("style", ("neurips", "acl"))
def test_one_judge_and_one_bias_have_room(style):
    effects = invented.effects("simulated", ONE, ("confirmation",))
    metrics = [each for each in invented.metrics("simulated", ONE) if each.id.startswith("confirmation")]
    for stars in (None, {("confirmation", ONE[0]): 0.01}):
        assert_readable(figures.show_bias_effects(effects, stars, style=style), styles.style(style))
    assert metrics
    assert_readable(figures.show_noise_metrics(metrics, style=style), styles.style(style))


def small_figures(without, style: str) -> list[figures.Figure]:
    """Figures of a run whose numbers were changed by `without`."""
    return [
        each for judges in (FEW, MANY) for each in drawn([("asked", judges)], style, alter=lambda e: without([e])[0])
    ]


def test_captions_count_pairs_scenarios_and_only_the_unreadable_of_what_is_shown():
    estimates = [*invented.effects("asked", ONE, ("halo", "anchoring")), *invented.odd("asked", FEW)]
    caption = figures.show_bias_effects(estimates).caption
    # Two biases in two conditions, 150 replies each of which 3 were lost; other judges and biases do not count.
    assert "asked judges (n = 144 pairs a point, 24 scenarios, unreadable 2.0 % (12 of 600 replies))" in caption
    assert "Intervals: 95 % (scenario-clustered t)." in caption
    acceptance = figures.show_acceptance([*invented.acceptance("asked", ONE), *invented.odd("asked", FEW)]).caption
    assert "unreadable 2.0 % (6 of 300 replies)" in acceptance


# --- effects ----------------------------------------------------------------------------------------------------------


def stars_of(figure) -> list:
    return [each for each in texts(figure) if each.get_text() == "*"]


def test_a_heading_holds_each_judge_and_their_mean_with_intervals(tight):
    few = ("claude_fast", "gpt_fast")
    given = invented.effects("simulated", few)
    figure = figures.show_bias_effects(given)
    rows = rows_of(figure)
    assert rows[1:5] == ["anchoring", *few, "mean over judges"] and len(rows) == 1 + 4 * len(BIASES)
    found = by_row(figure)
    assert [x for _, x, _ in found] == pytest.approx([each.value for each in given])
    assert found[0][2] == pytest.approx((given[0].low, given[0].high)) and all(span for _, _, span in found)
    assert "more in the table" in tight["bias_effects"].caption, "five judges and seven biases are more than a page"


def test_stars_need_a_corrected_p_and_never_follow_from_a_raw_one():
    halo = [replace(e, p=1e-9) for e in invented.effects("asked", ONE, ("halo", "anchoring"))]
    assert not stars_of(figures.show_bias_effects(halo))
    for p, count in ((0.0499, 1), (0.05, 0), (NAN, 0)):
        figure = figures.show_bias_effects(halo, {("halo", "gpt_fast"): p})
        assert len(stars_of(figure)) == count
        assert ("Stars: p < 0.05 after correction (Holm over all" in figure.caption) == bool(count)
        assert ("No star: no p < 0.05" in figure.caption) == (not count)
    assert "Holm over all biases and judges" in figures.show_bias_effects(halo, {("halo", "gpt_fast"): 0.2}).caption
    with pytest.raises(ValueError, match=r"a star for \('halo', None\), which is not shown"):
        figures.show_bias_effects(halo, {("halo", None): 0.01})
    two = [*halo, *(replace(each, data="simulated") for each in halo)]
    with pytest.raises(ValueError, match="several sources of data show; add the data"):
        figures.show_bias_effects(two, {("halo", "gpt_fast"): 0.01})
    figure = figures.show_bias_effects(two, {("halo", "gpt_fast", "simulated"): 0.01})
    assert len(stars_of(figure)) == 1


def test_many_are_a_table_of_numbers_with_stars_and_random_answers_apart():
    given = invented.effects("hub", MANY, ("halo", "anchoring"), "ratio_scale_absolute")
    judge = "acme-9.5-instruct-49B"
    new = {"halo": {"value": 0.416, "low": NAN, "high": NAN}, "anchoring": {"value": NAN, "low": NAN, "high": NAN}}
    given = [replace(e, **new[e.where["bias"]]) if e.where.get("judge") == judge else e for e in given]
    chance = [invented.number("ratio_scale_random", {"bias": bias}, 0.5, NAN, "hub") for bias in ("halo", "anchoring")]
    stars = {("halo", None): 0.01, ("anchoring", judge): NAN}
    figure = figures.show_bias_effects([*given, *chance], stars, id="ratio_scale_absolute")
    axes = figure.figure.axes[0]
    assert rows_of(figure) == ["anchoring", "halo"]
    assert [each.get_text() for each in axes.get_xticklabels()][12:] == [judge, "mean over judges", "answers at random"]
    cells = {(int(t.get_position()[0]), int(t.get_position()[1])): t.get_text() for t in axes.texts}
    assert (cells[12, 1], cells[12, 0]) == ("42", "\N{EN DASH}") and (cells[14, 0], cells[14, 1]) == ("50", "50")
    # The one star is that of the mean: what random answers give is no test.
    assert [(round(box.get_x()), round(box.get_y())) for box in axes.patches if not box.get_fill()] == [(13, 1)]
    signed = figures.show_bias_effects(invented.effects("hub", MANY))
    assert any(each.get_text().startswith("\N{MINUS SIGN}") for each in texts(signed))


def test_random_answers_stand_under_few_judges():
    given = invented.effects("hub", FEW, ("halo",), "ratio_scale_absolute")
    chance = [invented.number("ratio_scale_random", {"bias": "halo"}, 0.37, NAN, "hub")]
    figure = figures.show_bias_effects([*given, *chance], id="ratio_scale_absolute")
    assert by_row(figure)[-1][:2] == ("answers at random", 0.37)


# --- single values ----------------------------------------------------------------------------------------------------


def test_the_value_of_a_scenario_is_the_mean_of_its_pairs_by_hand():
    rows = [
        # Half of the way to 100, all the way, away from it: (60 - 30) / 60, (60 - 0) / 60, (60 - 80) / 80.
        ("a", 40, 70, 100), ("a", 40, 100, 100), ("b", 40, 20, 100),
        # 0/0 and an unreadable reply count nowhere.
        ("a", 100, 100, 100), ("c", 100, 100, 100), ("b", 40, NAN, 100), ("d", NAN, 40, 100),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["question_id", "a1", "a2", "target"]).astype({"a1": float, "a2": float})
    values = bias_values.scenario_values(frame)
    assert list(values.dropna()) == pytest.approx([0.75, -0.25])
    assert values.isna().sum() == 2


def small(axes) -> list[list[float]]:
    """The values of the small points, a row a list."""
    marks = [each for each in axes.collections if isinstance(each, PathCollection) and len(each.get_offsets()) > 1]
    return [[float(x) for x, _ in mark.get_offsets() if x == x] for mark in marks]


def test_a_point_a_scenario_and_the_estimate_below_it():
    frame = invented.pairs("asked", ONE, ("anchoring",))
    figure = figures.show_bias_values(frame, invented.effects("asked", ONE, ("anchoring",)))
    axes = figure.figure.axes[0]
    values = bias_values.scenario_values(frame).dropna()
    found = [value for row in small(axes) for value in row]
    assert sorted(found) == pytest.approx(sorted(values))
    assert len(intervals(axes)) == 1 and max(y for _, y in points(axes)) == intervals(axes)[0][0]


def test_pairs_of_another_source_are_not_mixed_in():
    frame = pd.concat([invented.pairs("asked", ONE), invented.pairs("hub", ONE)])
    for data in ("asked", "hub"):
        axes = figures.show_bias_values(frame, invented.effects(data, ONE)).figure.axes[0]
        assert sum(len(row) for row in small(axes) if len(row) > len(BIASES)) == 24 * len(BIASES)


# --- anchors ----------------------------------------------------------------------------------------------------------


def test_distances_are_shares_of_the_scale_by_hand():
    frame = pd.DataFrame({"question_id": ["a", "b", "c"], "a1": [4.0, 2.0, NAN], "a2": [5.0, 2.0, 3.0],
                          "a0": [3.0, 6.0, 1.0], "anchor": [8.0, 1.0, 9.0], "low": 0.0, "high": 10.0})  # fmt: skip
    points = bias_values.moved(frame)
    assert list(points["x"]) == pytest.approx([40, -10]) and list(points["y"]) == pytest.approx([10, 0])
    # Grouped by the distance from the repeat; by that from the control itself only where nothing was repeated.
    assert list(points["by"]) == pytest.approx([50, -50])
    assert list(bias_values.moved(frame.assign(a0=[3.0, NAN, 1.0]))["x"]) == pytest.approx([40])
    assert list(bias_values.moved(frame.assign(a0=NAN))["by"]) == pytest.approx([40, -10])


def noisy(share: float, noise: float, wordings: int = 60) -> pd.DataFrame:
    """Answers that go this share of the way to the anchor, each with noise of its own."""
    rng, rows = random.Random(4), []
    for i in range(24 * wordings):
        truth, anchor = rng.uniform(30, 70), rng.uniform(0, 100)
        a0, a1, a2 = (truth + way * (anchor - truth) + rng.gauss(0, noise) for way in (0, 0, share))
        rows.append({"source": "asked", "judge": "gpt_fast", "category": "anchoring", "question_id": i % 24,
                     "a1": a1, "a2": a2, "a0": a0, "anchor": anchor, "low": 0.0, "high": 100.0})  # fmt: skip
    return pd.DataFrame(rows)


def test_noise_alone_moves_no_point_and_points_lie_on_the_line_of_the_share() -> None:
    for share, noise in ((0.0, 25.0), (0.4, 25.0), (1.0, 0.0)):
        found = bias_values.binned(bias_values.moved(noisy(share, noise)))
        assert len(found) == 6 and found[-1][0] - found[0][0] > 30
        # Three standard errors of a mean of 240 answers with this noise twice.
        near = 3 * noise * math.sqrt(2 / 240)
        assert [each.value for _, each in found] == pytest.approx([share * x for x, _ in found], abs=near + 1e-9)
    # One answer alone: a control that came out low is far from the number, and the treatment is back at the middle.
    once = bias_values.binned(bias_values.moved(noisy(0.0, 25.0).assign(a0=NAN)))
    assert once[-1][1].value - once[0][1].value > 20


def test_the_caption_of_anchors_says_what_noise_does_to_its_points() -> None:
    given = invented.slopes("asked", ONE, ("anchoring",))
    twice, once = noisy(0.0, 10.0, 3), noisy(0.0, 10.0, 3).assign(a0=NAN)
    with_repeat, without = (figures.show_anchor_response(each, given).caption for each in (twice, once))
    assert "another reply to the same control" in with_repeat and "noise alone makes" not in with_repeat
    assert "asked once: noise alone makes these points rise" in without and "another reply" not in without
    both = pd.concat([twice.assign(judge="claude_fast"), once])
    caption = figures.show_anchor_response(
        both, invented.slopes("asked", ("claude_fast", *ONE), ("anchoring",))
    ).caption
    assert "another reply" in caption and "asked once: noise alone" in caption


def test_groups_are_as_many_as_have_an_interval():
    frame = pd.DataFrame({"x": range(60), "y": [i % 7 for i in range(60)], "cluster": [i % 12 for i in range(60)]})
    frame["by"] = frame["x"]
    found = bias_values.binned(frame)
    assert len(found) == 6 and all(not math.isnan(each.low) for _, each in found)
    assert found[0][0] == pytest.approx(4.5) and found[0][1].value == pytest.approx((21 + 3) / 10)
    few = bias_values.binned(frame[frame["cluster"] < 5])
    assert len(few) == 3 and all(math.isnan(each.low) for _, each in few)
    assert bias_values.binned(frame.iloc[:0]) == []
    same = bias_values.binned(frame.assign(x=3, by=3))
    assert [(x, each.n) for x, each in same] == [(3, 60)]


def test_the_line_has_the_slope_and_passes_the_mean_and_both_extremes_are_drawn():
    given = invented.slopes("simulated", FEW[:2], ("anchoring",))
    frame = invented.pairs("simulated", FEW[:2])
    axes = figures.show_anchor_response(frame, given).figure.axes[0]
    line = next(each for each in axes.lines if len({*each.get_xdata()} - {0, 1}) == 2)
    (x1, x2), (y1, y2) = line.get_data()
    assert (y2 - y1) / (x2 - x1) == pytest.approx(0.5)
    mine = bias_values.moved(frame[(frame["judge"] == FEW[0]) & (frame["category"] == "anchoring")])
    assert y1 + 0.5 * (mine["x"].mean() - x1) == pytest.approx(mine["y"].mean())
    assert any(list(each.get_ydata()) == [0, 0] for each in axes.lines)
    assert any(getattr(each, "get_xy2", lambda: None)() == (1, 1) for each in axes.lines)
    assert "0.50 [0.42, 0.58]" in [each.get_text() for each in axes.texts]


def test_many_slopes_are_sorted_rows(tight):
    values = [x for _, x, _ in by_row(tight["anchor_response_many"])]
    assert [values[:13], values[13:]] == [sorted(values[:13], reverse=True), sorted(values[13:], reverse=True)]


# --- acceptance -------------------------------------------------------------------------------------------------------


def test_curves_of_both_conditions_and_thresholds_at_the_foot(tight):
    axes = tight["acceptance"].figure.axes[0]
    assert axes.get_xscale() == "log"
    at = {round(y): x for x, y in points(axes) if y < 0}
    assert at == {-12: pytest.approx(math.exp(0.2)), -24: pytest.approx(math.exp(0.7))}
    curves = [line for line in axes.lines if len(line.get_xdata()) == len(invented.RATIOS)]
    assert len(curves) == 2
    # Half accept at the threshold: the planted logistic curve crosses 50 % between the neighbours of exp(0.7) = 2.01.
    treated = min(curves, key=lambda line: line.get_ydata()[3])
    assert treated.get_ydata()[3] < 50 < treated.get_ydata()[4]
    spans = [each[1:] for each in intervals(axes) if round(each[0]) == -24]
    assert spans == [pytest.approx((math.exp(0.55), math.exp(0.85)))]


def test_an_interval_that_runs_on_ends_with_the_axis():
    given = [
        replace(e, low=-9.0, high=9.0) if (e.id, e.where.get("condition")) == ("acceptance_threshold", "control") else e
        for e in invented.acceptance("asked", ONE)
    ]  # fmt: skip
    axes = figures.show_acceptance(given).figure.axes[0]
    spans = [each[1:] for each in intervals(axes) if round(each[0]) == -12]
    assert spans == [pytest.approx(axes.get_xlim())]
    rates = [e for e in given if e.id == "acceptance_rate"]
    assert "At the foot" not in figures.show_acceptance(rates).caption


def test_alt_texts_name_their_series_and_end(tight):
    for name in ("acceptance", "noise_metrics", "anchor_response", "acceptance_both", "noise_metrics_both"):
        assert len(tight[name].alt) < 5000 * (2 if name.endswith("_both") else 1), name
    # Thresholds are what the picture is for, and are not cut.
    assert tight["acceptance"].alt.count("threshold (log ratio)") == 2 * len(FEW)
    assert "; and 42 more." in tight["acceptance"].alt


@pytest.mark.parametrize(("id", "words"), [("ratio_scale", "mean B "), ("ratio_scale_absolute", "mean |B| ")])
def test_axes_of_the_published_metric_say_which_mean(id: str, words: str):
    figure = figures.show_bias_effects(invented.effects("hub", FEW, id=id), id=id)
    said = figure.figure.axes[0].get_xlabel()
    assert said.startswith(words) and "effect (score)" not in said
    assert_readable(figure, styles.style("paper"))


def test_stars_also_ask_for_one_direction():
    caption = figures.show_bias_effects(invented.effects("asked", ONE), {("halo", "gpt_fast"): 0.01}).caption
    assert "a star also asks that answers move the same way along the scale" in caption


# --- noise ------------------------------------------------------------------------------------------------------------


def test_a_metric_stands_over_the_same_of_repeats_and_their_difference(tight):
    given = invented.metrics("simulated", ONE)
    figure = figures.show_noise_metrics(given)
    rows = rows_of(figure)
    assert len([row for row in rows if row != ONE[0]]) == 1 + 10 and "judge anchoring (specific)" in rows
    assert len(by_row(figure)) == 3 * 9 + 1
    at = {each.id: each.value for each in given if each.where["bias"] == "bandwagon"}
    values = [x for _, x, _ in by_row(figure)]
    start = values.index(pytest.approx(at["halo_effect"]))
    assert values[start + 1 : start + 3] == pytest.approx([at["halo_effect_placebo"], at["halo_effect_excess"]])
    assert "Without a repeat to compare with: loss aversion." in tight["noise_metrics"].caption
    # A metric whose bias is not said is that of its own bias.
    bare = [replace(e, where={"judge": "gpt_fast"}) for e in given if e.where["bias"] == "halo"]
    assert "halo (agnostic)" in rows_of(figures.show_noise_metrics(bare))


# --- names, errors and bytes ------------------------------------------------------------------------------------------


def test_wrong_input_is_named():
    frame = invented.pairs("asked", ONE)
    with pytest.raises(ValueError, match="not there: target"):
        figures.show_bias_values(frame.drop(columns="target"), invented.effects("asked", ONE))
    with pytest.raises(ValueError, match="not there: anchor, high"):
        figures.show_anchor_response(frame.drop(columns=["anchor", "high"]), invented.slopes("asked", ONE))
    with pytest.raises(ValueError, match="several units"):
        figures.show_bias_effects([*invented.effects("asked"), replace(invented.effects("hub")[0], unit="pp")])
    odd = [
        replace(e, where={**e.where, "condition": "mixed"}) if e.where.get("condition") == "treatment" else e
        for e in invented.acceptance("asked", ONE)
    ]
    with pytest.raises(ValueError, match="condition mixed; there are: control, treatment"):
        figures.show_acceptance(odd)


def hostile_figures(bad: str, style: str) -> list[figures.Figure]:
    """Figures in which a judge has this name."""
    return [each for more in (FEW[:2], MANY) for each in drawn([("asked", (bad, *more))], style)]
