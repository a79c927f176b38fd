"""Figures of experiment 5: what biases do to answers, behind the means, and what noise makes of published metrics."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pandas as pd
import pytest

from helpers import figures
from helpers.figures import bias_values
from helpers.figures import style as styles
from tests import bias_numbers as invented
from tests.bias_numbers import BIASES, FEW, MANY, MODELS, ONE, PUBLISHED
from tests.test_figures import EACH_STYLE, assert_printable, assert_readable, intervals, points, texts
from tests.test_figures_hinting import EACH_HOSTILE

NAN = float("nan")
NAMES = ("bias_effects", "bias_values", "anchor_response", "acceptance", "noise_metrics")
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
        figures.show_acceptance(every(invented.acceptance), style=style, name=f"acceptance{suffix}"),
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
    return {figure.name: figure for figure in all_figures("acl")}


@pytest.mark.parametrize("style", EACH_STYLE)
def test_nothing_overlaps_or_leaves_the_figure_at_print_size(tight, style):
    drawn = list(tight.values() if style == "acl" else all_figures(style))
    assert_printable(drawn, style)
    # A page of text is about 50 lines of 1.45 letter heights high, and a little more with its margins.
    assert all(each.figure.get_figheight() * 72 / styles.style(style).size < 78 for each in drawn)


@pytest.mark.filterwarnings("error:constrained_layout not applied")
@pytest.mark.parametrize("style", ("neurips", "acl"))
def test_one_judge_and_one_bias_have_room(style):
    effects = invented.effects("simulated", ONE, ("confirmation",))
    metrics = [each for each in invented.metrics("simulated", ONE) if each.id.startswith("confirmation")]
    for stars in (None, {("confirmation", ONE[0]): 0.01}):
        assert_readable(figures.show_bias_effects(effects, stars, style=style), styles.style(style))
    assert metrics
    assert_readable(figures.show_noise_metrics(metrics, style=style), styles.style(style))


@pytest.mark.parametrize("style", (pytest.param("neurips", marks=pytest.mark.slow), "acl"))
@pytest.mark.parametrize("judges", (FEW, MANY), ids=("few", "many"))
def test_a_run_too_small_for_intervals_or_numbers_is_still_shown(style, judges):
    why = "no interval below 10 scenarios"
    for without in ({"low": NAN, "high": NAN}, {"low": NAN, "high": NAN, "value": NAN}):
        for figure in drawn([("asked", judges)], style, alter=lambda e, w=without: replace(e, **w, method=why)):
            assert_readable(figure, styles.style(style))
            assert why in figure.caption, figure.name
            assert ("not estimable" in figure.alt) == ("value" in without), figure.name


def test_simulated_is_said_on_the_face_and_only_there(tight):
    for name, figure in tight.items():
        simulated = not name.endswith(("_one", "_many", "grid"))
        faces = [each.get_text() for each in texts(figure)]
        assert any("SIMULATED judges" in face for face in faces) == simulated, name
        assert ("SIMULATED" in figure.caption) == ("SIMULATED" in figure.alt) == simulated, name
        assert any("asked judges" in face for face in faces) == name.endswith("_both"), name


def test_captions_count_pairs_scenarios_and_only_the_unreadable_of_what_is_shown():
    estimates = [*invented.effects("asked", ONE, ("halo", "anchoring")), *invented.odd("asked", FEW)]
    caption = figures.show_bias_effects(estimates).caption
    # Two biases in two conditions, 150 replies each of which 3 were lost; other judges and biases do not count.
    assert "asked judges (n = 144 pairs a point, 24 scenarios, unreadable 2.0 % (12 of 600 replies))" in caption
    assert "Intervals: 95 % (scenario-clustered t)." in caption
    acceptance = figures.show_acceptance([*invented.acceptance("asked", ONE), *invented.odd("asked", FEW)]).caption
    assert "unreadable 2.0 % (6 of 300 replies)" in acceptance


# --- effects ----------------------------------------------------------------------------------------------------------


def stars_of(axes) -> list:
    return [line for line in axes.lines if line.get_marker() == "*"]


def test_a_row_holds_each_judge_and_their_mean_with_intervals(tight):
    axes = tight["bias_effects"].figure.axes[0]
    assert [each.get_text() for each in axes.get_yticklabels()] == [bias.replace("_", " ") for bias in BIASES]
    spans = intervals(axes)
    assert len(spans) == len(BIASES) * (len(FEW) + 1)
    given = invented.effects("simulated")
    first = next(e for e in given if e.where == {"judge": "claude_fast", "bias": "anchoring"})
    assert spans[0][1:] == pytest.approx((first.low, first.high))
    means = {round(e.value, 9) for e in given if "judge" not in e.where}
    dark = {round(line.get_xdata()[0], 9) for line in axes.lines
            if line.get_marker() == "D" and line.get_markerfacecolor() == styles.INK}  # fmt: skip
    assert dark == means
    # Two judges of one vendor look the same: every row is numbered, and no number is left out.
    numbers = [each.get_text() for each in texts(tight["bias_effects"]) if each.get_text() in {*"123456789"}]
    assert sorted(numbers) == sorted("12345" * len(BIASES))
    alone = figures.show_bias_effects(invented.effects("asked", ("gpt_fast", "gemini_fast")))
    assert not any(each.get_text() in {*"123456789"} for each in texts(alone))


def test_stars_need_a_corrected_p_and_never_follow_from_a_raw_one():
    halo = [replace(e, p=1e-9) for e in invented.effects("asked", ONE, ("halo", "anchoring"))]
    assert not stars_of(figures.show_bias_effects(halo).figure.axes[0])
    for p, count in ((0.0499, 1), (0.05, 0), (NAN, 0)):
        figure = figures.show_bias_effects(halo, {("halo", "gpt_fast"): p}, "Holm")
        assert len(stars_of(figure.figure.axes[0])) == count
        assert ("Stars: p < 0.05 after correction (Holm)" in figure.caption) == bool(count)
        assert ("No star: no p < 0.05" in figure.caption) == (not count)
    assert "Holm over all biases and judges" in figures.show_bias_effects(halo, {("halo", "gpt_fast"): 0.2}).caption
    with pytest.raises(ValueError, match=r"a star for \('halo', None\), which is not shown"):
        figures.show_bias_effects(halo, {("halo", None): 0.01})
    two = [*halo, *(replace(each, data="simulated") for each in halo)]
    with pytest.raises(ValueError, match="several sources of data show; add the data"):
        figures.show_bias_effects(two, {("halo", "gpt_fast"): 0.01})
    figure = figures.show_bias_effects(two, {("halo", "gpt_fast", "simulated"): 0.01})
    assert [len(stars_of(axes)) for axes in figure.figure.axes[:2]] == [0, 1]


def cells_of(axes) -> dict[tuple[int, int], str]:
    return {(int(t.get_position()[0]), int(t.get_position()[1])): t.get_text() for t in axes.texts}


def test_many_are_a_heatmap_of_numbers_with_stars_and_marks_and_random_answers_apart():
    given = invented.effects("hub", MANY, ("halo", "anchoring"), "ratio_scale_absolute")
    judge = "acme-9.5-instruct-49B"
    given = [
        replace(e, value=0.416, low=NAN, high=NAN) if e.where == {"judge": judge, "bias": "halo"} else e for e in given
    ]
    given = [
        replace(e, value=NAN, low=NAN, high=NAN) if e.where == {"judge": judge, "bias": "anchoring"} else e
        for e in given
    ]
    chance = [invented.number("ratio_scale_random", {"bias": bias}, 0.5, NAN, "hub") for bias in ("halo", "anchoring")]
    stars = {("halo", None): 0.01, ("anchoring", judge): NAN}
    figure = figures.show_bias_effects([*given, *chance], stars, id="ratio_scale_absolute")
    axes = figure.figure.axes[0]
    assert [each.get_text() for each in axes.get_yticklabels()] == ["anchoring", "halo"]
    heads = [each.get_text() for each in axes.get_xticklabels()]
    assert heads[12:] == [judge, "mean over judges", "random answers"]
    cells = cells_of(axes)
    assert (cells[12, 1], cells[12, 0]) == ("42", "\N{EN DASH}")
    assert (cells[14, 0], cells[14, 1]) == ("50", "50")
    # The one star is that of the mean: what random answers give is no test.
    (star,) = stars_of(axes)
    assert 13.4 < star.get_xdata()[0] < 14.4 and 1 < star.get_ydata()[0] < 2
    assert len([line for line in axes.lines if line.get_marker() == "o"]) == 1
    assert "Small circles: no interval." in figure.caption and "answers at random" in figure.caption
    assert "Intervals (not drawn): 95 %" in figure.caption
    signed = figures.show_bias_effects(invented.effects("hub", MANY))
    assert any(text.startswith("\N{MINUS SIGN}") for text in cells_of(signed.figure.axes[0]).values())
    bare = figures.show_bias_effects([replace(e, low=NAN, high=NAN) for e in invented.effects("hub", MANY)])
    assert "No cell has an interval." in bare.caption
    assert not any(line.get_marker() == "o" for line in bare.figure.axes[0].lines)


def test_random_answers_are_a_line_beside_few_judges():
    given = invented.effects("hub", FEW, ("halo",), "ratio_scale_absolute")
    chance = [invented.number("ratio_scale_random", {"bias": "halo"}, 0.37, NAN, "hub")]
    axes = figures.show_bias_effects([*given, *chance], id="ratio_scale_absolute").figure.axes[0]
    dotted = [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == ":"]
    assert dotted == [0.37]


# --- single values ----------------------------------------------------------------------------------------------------


def test_the_value_of_a_scenario_is_the_mean_of_its_pairs_by_hand():
    rows = [
        # Half of the way to 100, all the way, away from it: (60 - 30) / 60, (60 - 0) / 60, (60 - 80) / 80.
        ("a", 40, 70, 100), ("a", 40, 100, 100), ("b", 40, 20, 100),
        # 0/0 and an unreadable reply count nowhere.
        ("a", 100, 100, 100), ("c", 100, 100, 100), ("b", 40, NAN, 100), ("d", NAN, 40, 100),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["question_id", "a1", "a2", "target"]).astype({"a1": float, "a2": float})
    values, lost = bias_values.scenario_values(frame)
    assert values == pytest.approx([0.75, -0.25])
    assert lost == 2


def test_a_point_a_scenario_and_the_estimate_below_it(tight):
    first = tight["bias_values"].figure.axes[0]
    assert next(each.get_text() for each in first.get_yticklabels()) == "claude_fast"
    clouds = [line for line in first.lines if len(line.get_xdata()) > 2]
    frame = invented.pairs("simulated")
    for i, (judge, cloud) in enumerate(zip(FEW, clouds, strict=True)):
        mine = frame[(frame["judge"] == judge) & (frame["category"] == "anchoring")]
        values, _ = bias_values.scenario_values(mine)
        # Each point stands no farther than half its own width from its value, and above its row's estimate.
        assert sorted(cloud.get_xdata()) == pytest.approx(sorted(values), abs=0.06)
        assert max(cloud.get_ydata()) < i + 0.1
    assert len(intervals(first)) == len(FEW)


def test_pairs_of_another_source_are_not_mixed_in():
    frame = pd.concat([invented.pairs("asked", ONE), invented.pairs("hub", ONE)])
    for data in ("asked", "hub"):
        axes = figures.show_bias_values(frame, invented.effects(data, ONE)).figure.axes[0]
        assert [len(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) > 2] == [24]


def test_of_many_biases_the_largest_are_shown_and_that_is_said():
    biases = PUBLISHED[:14]
    frame, effects = invented.pairs("hub", ONE, biases, 12), invented.effects("hub", ONE, biases)
    figure = figures.show_bias_values(frame, effects)
    shown = {axes.get_title(loc="left").replace("\n", " ") for axes in figure.figure.axes if axes.get_visible()}
    largest = sorted(effects, key=lambda each: -abs(each.value))[:12]
    assert shown == {each.where["bias"] for each in largest}
    assert "Only the 12 largest of 14 biases." in figure.caption


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
    assert "another reply" in caption and "asked once, of gpt_fast, by" in caption


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


def test_the_line_has_the_slope_and_passes_the_mean_and_both_extremes_are_drawn(tight):
    figure = tight["anchor_response"].figure
    axes = figure.axes[0]
    line = next(each for each in axes.lines if each.get_color() == styles.INK and each.get_linestyle() == "-")
    (x1, x2), (y1, y2) = line.get_data()
    assert (y2 - y1) / (x2 - x1) == pytest.approx(0.5)
    frame = invented.pairs("simulated")
    all_points = bias_values.moved(frame[(frame["judge"] == FEW[0]) & (frame["category"] == "anchoring")])
    middle = y1 + 0.5 * (all_points["x"].mean() - x1)
    assert middle == pytest.approx(all_points["y"].mean())
    assert len(axes.collections) == 1, "the band"
    assert any(list(each.get_ydata()) == [0, 0] for each in axes.lines)
    assert any(getattr(each, "get_slope", lambda: None)() == 1 for each in axes.lines)
    assert "0.50 [0.42, 0.58]" in [each.get_text() for each in axes.texts]


def test_many_slopes_are_sorted_rows(tight):
    axes = [each for each in tight["anchor_response_many"].figure.axes if points(each)]
    assert len(axes) == 2
    for each in axes:
        values = [x for x, _ in points(each)]
        assert len(values) == 13 and values == sorted(values, reverse=True)


# --- acceptance -------------------------------------------------------------------------------------------------------


def test_curves_of_both_conditions_and_thresholds_at_the_foot(tight):
    axes = tight["acceptance"].figure.axes[0]
    assert axes.get_xscale() == "log"
    ticks = [line for line in axes.lines if line.get_marker() == "|"]
    assert [line.get_xdata()[0] for line in ticks] == pytest.approx([math.exp(0.2), math.exp(0.7)])
    assert [line.get_ydata()[0] for line in ticks] == [-12, -23]
    curves = [line for line in axes.lines if len(line.get_xdata()) == len(invented.RATIOS)]
    assert [line.get_color() == styles.GREY for line in curves] == [True, False]
    # Half accept at the threshold: the planted logistic curve crosses 50 % between the neighbours of exp(0.7) = 2.01.
    assert curves[1].get_ydata()[3] < 50 < curves[1].get_ydata()[4]
    spans = [line for line in axes.lines if len(line.get_xdata()) == 2 and list(line.get_ydata()) == [-23, -23]]
    assert list(spans[0].get_xdata()) == pytest.approx([math.exp(0.55), math.exp(0.85)])


def test_the_ticks_are_the_ratios_that_were_asked_with_words_where_they_fit():
    def some(ratios, judges=FEW[:4]):
        new = dict(zip(invented.RATIOS, ratios, strict=False))
        rows = [e for e in invented.acceptance("asked", judges) if "ratio" in e.where]
        return [replace(e, where={**e.where, "ratio": f"{new[float(e.where['ratio'])]:g}"})
                for e in rows if float(e.where["ratio"]) in new]  # fmt: skip

    axes = figures.show_acceptance(some((0.8, 1.2, 1.8, 3, 5))).figure.axes[0]
    assert list(axes.get_xticks()) == [0.8, 1.2, 1.8, 3, 5] and not list(axes.get_xticks(minor=True))
    assert [each.get_text() for each in axes.get_xticklabels()] == ["0.8", "1.2", "1.8", "3", "5"]
    close = figures.show_acceptance(some((0.98, 1, 1.02, 1.5, 2, 2.02, 2.04, 4))).figure.axes[0]
    assert [each.get_text() for each in close.get_xticklabels()] == ["0.98", "", "", "1.5", "2", "", "", "4"]


def test_alt_texts_name_their_series_and_end(tight):
    for name in ("acceptance", "noise_metrics", "anchor_response", "acceptance_both", "noise_metrics_both"):
        assert len(tight[name].alt) < 4800 * (2 if name.endswith("_both") else 1), name
    # Thresholds are what the picture is for, and are not cut.
    assert tight["acceptance"].alt.count("threshold (log ratio)") == 2 * len(FEW)
    assert "; and 42 more." in tight["acceptance"].alt and ": accepted, " in tight["acceptance"].alt.replace("; ", ": ")


@pytest.mark.parametrize(("id", "words"), [("ratio_scale", "mean B "), ("ratio_scale_absolute", "mean |B| ")])
def test_axes_of_the_published_metric_say_which_mean(id: str, words: str):
    figure = figures.show_bias_effects(invented.effects("hub", FEW, id=id), id=id)
    said = figure.figure.get_supxlabel()
    assert said.startswith(words) and "effect (score)" not in said
    assert_readable(figure, styles.style("paper"))


def test_stars_also_ask_for_one_direction():
    caption = figures.show_bias_effects(invented.effects("asked", ONE), {("halo", "gpt_fast"): 0.01}).caption
    assert "a star also asks that answers move the same way along the scale" in caption


def test_an_interval_that_runs_on_has_an_arrow_and_none_is_an_open_ring():
    given = [
        replace(e, low=-9.0, high=9.0) if e.where.get("condition") == "control" and e.id == "acceptance_threshold"
        else replace(e, low=NAN, high=NAN) if e.id == "acceptance_threshold" else e
        for e in invented.acceptance("asked", ONE)
    ]  # fmt: skip
    axes = figures.show_acceptance(given).figure.axes[0]
    assert sorted(line.get_marker() for line in axes.lines if line.get_marker() in ("<", ">")) == ["<", ">"]
    assert [line.get_markerfacecolor() for line in axes.lines
            if line.get_marker() == "o" and line.get_ydata()[0] == -23] == ["white"]  # fmt: skip
    low, high = axes.get_xlim()
    assert all(low <= x <= high for line in axes.lines if line.get_ydata()[0] == -12 for x in line.get_xdata())
    none = [replace(e, value=NAN, low=NAN, high=NAN) if e.id == "acceptance_threshold" else e for e in given]
    words = [each.get_text() for each in texts(figures.show_acceptance(none))]
    assert words.count("no threshold") == 2
    # Beside the line of the other threshold (at 0.55 and 2.0 of ratios from 1.05 to 6), and never over it.
    for other, ha in ((math.log(2.0), "right"), (math.log(4.0), "left")):
        numbers = {"control": (NAN, NAN, NAN), "treatment": (other, other - 0.1, other + 0.1)}
        one = [
            replace(e, **dict(zip(("value", "low", "high"), numbers[e.where["condition"]], strict=True)))
            if e.id == "acceptance_threshold" else e for e in given
        ]  # fmt: skip
        figure = figures.show_acceptance(one).figure
        figure.draw_without_rendering()
        axes = figure.axes[0]
        (text,) = [each for each in axes.texts if each.get_text() == "no threshold"]
        box = text.get_window_extent()
        line = axes.transData.transform((math.exp(other), -12))[0]
        assert text.get_ha() == ha and not box.x0 <= line <= box.x1
        assert text.get_bbox_patch().get_facecolor()[:3] == (1, 1, 1)
    rates = [e for e in given if e.id == "acceptance_rate"]
    assert "At the foot" not in figures.show_acceptance(rates).caption


def test_many_thresholds_are_sorted_on_an_axis_of_ratios(tight):
    left, right = tight["acceptance_many"].figure.axes
    both = points(left)
    treated = [x for x, y in both if y % 1 < 0.5]
    assert len(both) == 26 and treated == sorted(treated, reverse=True)
    assert {"1", "2", "4"} <= {each.get_text() for each in left.get_xticklabels()}
    assert dict(zip((t.get_text() for t in left.get_xticklabels()), left.get_xticks(), strict=True))[
        "4"
    ] == pytest.approx(math.log(4))
    assert len(points(right)) == 13


# --- noise ------------------------------------------------------------------------------------------------------------


def test_a_metric_stands_over_the_same_of_repeats_and_their_difference(tight):
    figure = tight["noise_metrics"].figure
    titles = {axes.get_title(loc="left").replace("\n", " "): axes for axes in figure.axes if axes.get_visible()}
    assert len(titles) == 10 and {"anchoring (agnostic)", "judge anchoring (specific)", "halo (agnostic)"} <= set(
        titles
    )
    axes = titles["bandwagon (agnostic)"]
    at = {e.id: e.value for e in invented.metrics("simulated") if e.where == {"judge": FEW[0], "bias": "bandwagon"}}
    assert [x for x, _ in points(axes)[:3]] == pytest.approx(
        [at["halo_effect"], at["halo_effect_placebo"], at["halo_effect_excess"]]
    )
    heights = [y for _, y in points(axes)[:3]]
    assert heights == sorted(heights) and max(heights) < 0.5
    assert len(points(titles["loss aversion (batch)"])) == len(FEW)
    assert "Without a repeat to compare with: loss aversion." in tight["noise_metrics"].caption
    assert len(intervals(axes)) == 3 * len(FEW)


def test_a_number_that_is_lost_among_others_leaves_a_dash():
    given = [
        replace(e, value=NAN, low=NAN, high=NAN) if e.id == "halo_effect" else e for e in invented.metrics("asked", ONE)
    ]
    axes = next(a for a in figures.show_noise_metrics(given).figure.axes if a.get_title(loc="left").startswith("halo"))
    assert [line.get_marker() for line in axes.lines].count("_") == 1
    # A metric whose bias is not said is that of its own bias.
    bare = [replace(e, where={"judge": "gpt_fast"}) for e in given if e.where["bias"] == "halo"]
    figure = figures.show_noise_metrics(bare)
    assert [a.get_title(loc="left") for a in figure.figure.axes if a.get_visible()] == ["halo\n(agnostic)"]


# --- names, errors and bytes ------------------------------------------------------------------------------------------


def test_wrong_input_is_named():
    frame = invented.pairs("asked", ONE)
    for show in (figures.show_bias_effects, figures.show_acceptance, figures.show_noise_metrics):
        with pytest.raises(ValueError, match=r"no estimates of \w+\[judge.*given: none"):
            show([])
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
    twice = invented.effects("asked", ONE)
    with pytest.raises(ValueError, match="more than one estimate"):
        figures.show_bias_effects([*twice, *twice])


@pytest.mark.parametrize("bad", EACH_HOSTILE)
def test_hostile_names_are_names(bad, style="acl"):
    for judges in ((bad, *FEW[:2]), (bad, *MANY)):
        for figure in drawn([("asked", judges)], style):
            assert_readable(figure, styles.style(style))
            named = [each for each in texts(figure) if bad[:4] in each.get_text().replace("\n", "")]
            assert named and not any(each.get_parse_math() for each in named), figure.name
    titles = dict.fromkeys(BIASES, bad)
    effects = invented.effects("asked", FEW[:2])
    for figure in (
        figures.show_bias_effects(effects, titles=titles, style=style),
        figures.show_bias_values(invented.pairs("asked", FEW[:2]), effects, titles=titles, style=style),
        figures.show_noise_metrics(invented.metrics("asked", FEW[:2]), titles=titles, style=style),
    ):
        assert_readable(figure, styles.style(style))


def test_files_embed_fonts_and_are_the_same_bytes_twice(tight):
    again = {figure.name: figure for figure in drawn([("simulated", FEW)], "acl")}
    for name in NAMES:
        assert tight[name].render("png") == again[name].render("png"), name
    pdf = tight["bias_effects"].render("pdf")
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf
