"""Figures of experiment 3: they show what was given with its controls, and name what was lost or never asked."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from helpers import figures
from helpers.figures import judges
from helpers.figures import style as styles
from helpers.types import Estimate
from tests.test_figures import (
    EACH_STYLE,
    STYLES,
    assert_printable,
    assert_readable,
    assert_simulated,
    intervals,
    points,
    rate,
    texts,
)
from tests.test_figures_hinting import EACH_HOSTILE

NAN = float("nan")
JUDGES = ("sim_llama_small", "sim_llama_large", "sim_qwen_small", "sim_deepseek", "sim_mistral")
MANY = tuple(f"{vendor}_{i}" for vendor in ("llama", "qwen", "deepseek", "mistral") for i in range(4))
DOSES = ("2", "4", "8")
STRATA = ("same label", "other label", "all")
OUTCOMES = ("right both ways", "split", "wrong both ways", "unreadable")


def number(id: str, where: dict[str, str], value: float, half: float, data: str, unit: str = "pp") -> Estimate:
    ends = (value, value - half, value + half)
    return Estimate(id, where, *ends, n=60, clusters=20, unit=unit, method="article-clustered t", data=data)


def scores(data: str, names=JUDGES) -> list[Estimate]:
    return [
        replace(rate("harmful_score", {"judge": j, "by": by, "arm": arm}, k, 60, data), clusters=20)
        for i, j in enumerate(names)
        for by, ks in (("own", (18 + i, 30 + 2 * i)), ("third party", (36 - i, 40 - i)))
        for arm, k in zip(("repeat", "edited"), ks, strict=True)
    ]


def effects(data: str, names=JUDGES, doses=(*DOSES, "paraphrase")) -> list[Estimate]:
    return [
        number("obfuscation_effect", {"judge": j, "dose": d}, 0.3 * i + 0.2 * k, 0.5 + 0.1 * k, data, "logit")
        for i, j in enumerate(names)
        for k, d in enumerate(doses)
    ]


def shifts(data: str, names=JUDGES, doses=(*DOSES, "paraphrase")) -> list[Estimate]:
    return [
        number(id, {"judge": j, "dose": d}, -0.02 * (i + 1) * (k + 1) * size, 0.07, data)
        for i, j in enumerate(names)
        for k, d in enumerate(doses)
        for id, size in (("recognition_change", 1.0), ("preference_change", 0.6))
    ]


def gaps(data: str, names=JUDGES) -> list[Estimate]:
    found = []
    for i, j in enumerate(names):
        found.append(replace(rate("naive_harmful_rate", {"judge": j}, 30 + i, 60, data), clusters=20))
        found += [
            number("evaluator_quality_gap", {"judge": j, "stratum": s}, 0.04 * i + 0.03 * k - 0.05, 0.1, data)
            for k, s in enumerate(STRATA)
        ]
        found.append(number("same_text_other_judges", {"judge": j}, 0.1 + 0.02 * i, 0.08, data))
    return found


def lost(data: str, names=JUDGES) -> list[Estimate]:
    return [rate("unreadable_share", {"judge": j}, 3, 240, data) for j in names]


def steps(published: bool = False) -> pd.DataFrame:
    rows = [
        ("answers", 60, 0, ""),
        ("answers with a letter and a reason", 56, 4, "3 no_reason, 1 truncated"),
        ("pairs of these", 104, 0, ""),
        ("pairs with exactly one right", 41, 63, "48 both right, 15 both wrong"),
        ("whose wrong answer could be edited (2 words)", 38, 3, "2 too few words that may change, 1 reply_not_json"),
        ("judge x pair, asked both ways", 205, 0, ""),
        ("with a verdict both ways", 199, 6, "6 no verdict"),
        ("the same answer both ways", 160, 39, "39 the same place twice"),
    ]
    return pd.DataFrame(rows[-3:] if published else rows, columns=["step", "count", "lost", "why"])


def outcomes(names=JUDGES) -> pd.DataFrame:
    rows = [
        (j, "llama" if "llama" in j else j.split("_")[0 if names is MANY else 1], kind, outcome, count)
        for i, j in enumerate(names)
        for kind, counts in (("harmful", (20 - i, 8, 12 + i, 2)), ("beneficial", (31, 5 + i, 4, 0)))
        for outcome, count in zip(OUTCOMES, counts, strict=True)
        if count
    ]
    return pd.DataFrame(rows, columns=["judge", "judge_vendor", "kind", "outcome", "count"])


def all_figures(style: str) -> list[figures.Figure]:
    """Every figure with simulated judges, and for one, two and many judges, of one source of data and of two."""
    few, two = (JUDGES[0],), JUDGES[2:4]
    made = [
        figures.show_funnel(steps(), "simulated", style, "funnel"),
        figures.show_funnel(steps(True), "hub", style, "funnel_hub"),
        figures.show_outcomes(outcomes(), "simulated", style, "outcomes"),
        figures.show_outcomes(outcomes(few), "asked", style, "outcomes_one"),
        figures.show_outcomes(outcomes(MANY), "asked", style, "outcomes_many"),
    ]
    for show, given in (
        (figures.show_obfuscation_slopes, scores),
        (figures.show_dose_curve, effects),
        (figures.show_recognition_against_preference, shifts),
        (figures.show_baseline_gap, gaps),
    ):
        name = show.__name__.removeprefix("show_")
        made += [
            show([*given("simulated"), *lost("simulated")], style=style, name=name),
            show(given("asked", few), style=style, name=f"{name}_one"),
            show([*given("asked", two), *given("simulated", two)], style=style, name=f"{name}_both"),
            show(given("asked", MANY), style=style, name=f"{name}_many"),
        ]
    return made


@pytest.fixture(scope="module")
def tight() -> dict[str, figures.Figure]:
    """Every figure in the narrowest columns."""
    return {figure.name: figure for figure in all_figures("acl")}


@pytest.mark.parametrize("style", EACH_STYLE)
def test_nothing_overlaps_or_leaves_the_figure_at_print_size(tight, style):
    assert_printable(tight.values() if style == "acl" else all_figures(style), style)


def test_simulated_is_said_on_the_face_and_only_there(tight):
    both = {name for name in tight if name.endswith("_both")}
    for name, figure in tight.items():
        assert_simulated(figure, name in both or not name.endswith(("_hub", "_one", "_many")))


def test_a_judge_looks_like_its_vendor_and_no_vendor_is_guessed_between_two():
    look = styles.style()
    drawn = judges.looks(["Qwen2.5-7B", "DeepSeek-R1-Distill-Llama-70B", "mine", "gpt4o_mini"], {"mine": "llama"}, look)
    assert list(drawn) == ["gpt4o_mini", "mine", "Qwen2.5-7B", "DeepSeek-R1-Distill-Llama-70B"]
    known = look.looks(["gpt", "llama", "qwen"])
    assert list(drawn.values())[:3] == list(known.values())
    assert drawn["DeepSeek-R1-Distill-Llama-70B"].colour == styles.INK


def test_captions_count_items_and_articles_and_only_judgments_of_these_judges():
    alien = [rate("unreadable_share", {"judge": "another"}, 90, 100, "asked")]
    alien.append(rate("unreadable_share", {"judge": "sim_mistral", "hint": "none"}, 90, 100, "asked"))
    for show, given in ((figures.show_dose_curve, effects), (figures.show_baseline_gap, gaps)):
        caption = show([*given("asked"), *lost("asked"), *alien]).caption
        # 5 judges x 3 of 240.
        assert "n = 60 items a point, 20 articles, unreadable 1.2 % (15 of 1200 judgments)" in caption
        assert "Intervals: 95 % (" in caption and "article-clustered t)" in caption


# --- funnel and outcomes ----------------------------------------------------------------------------------------------


def widths(axes) -> list[float]:
    return [round(patch.get_width(), 6) for patch in axes.patches]


def test_the_funnel_says_what_is_left_what_is_lost_and_why(tight):
    figure = tight["funnel"]
    said = [each.get_text() for each in texts(figure)]
    counts = ["60", "56 of 60", "104", "41 of 104", "38 of 41", "205", "199 of 205", "160 of 199"]
    assert [each for each in said if each in counts] == counts
    assert [each for each in said if each.startswith("lost: ")][:2] == [
        "lost: 3 no_reason, 1 truncated",
        "lost: 48 both right, 15 both wrong",
    ]
    bars = widths(figure.figure.axes[0])
    # Left and lost of each step; 60, 104 and 205 begin a scale of their own.
    assert bars[0] == bars[4] == bars[10] == 0.66 and bars[1] == 0
    assert bars[6:8] == pytest.approx([0.66 * 41 / 104, 0.66 * 63 / 104], abs=1e-6)
    assert "the same answer both ways: 160, 39 lost (39 the same place twice)" in figure.alt
    assert "no interval" in figure.caption
    assert len(widths(tight["funnel_hub"].figure.axes[0])) == 6


def test_a_mosaic_has_an_area_for_each_count(tight):
    axes = tight["outcomes"].figure.axes[0]
    assert [each.get_text() for each in axes.texts if each.get_fontweight() == "bold"] == [
        "sim_llama_large",
        "sim_llama_small",
        *JUDGES[2:],
    ]
    assert [each.get_text() for each in axes.get_yticklabels()][:2] == ["harmful (42)", "beneficial (41)"]
    # sim_llama_large: 19, 8, 13 and 2 of 42 harmful items, then 31, 6, 4 and 0 of 41.
    areas = [patch.get_width() * patch.get_height() for patch in axes.patches[:8]]
    assert [each / areas[0] * 19 for each in areas] == pytest.approx([19, 8, 13, 2, 31, 6, 4, 0])
    assert "unreadable 2.4 % (10 of 420 items)" in tight["outcomes"].caption
    assert (
        "sim_deepseek, harmful: 17 right both ways, 8 split, 15 wrong both ways, 2 unreadable" in tight["outcomes"].alt
    )


def test_outcomes_of_many_judges_are_rows_sorted_by_wrong_on_harmful_items(tight):
    harmful, beneficial = tight["outcomes_many"].figure.axes
    assert [each.get_text() for each in harmful.get_yticklabels()] == list(MANY[::-1])
    assert [each.get_title(loc="left") for each in (harmful, beneficial)] == ["harmful items", "beneficial items"]
    assert sum(widths(harmful)) == pytest.approx(1600)


def test_a_judge_without_harmful_items_is_named():
    some = outcomes()
    one = some[(some["judge"] != "sim_mistral") | (some["kind"] == "beneficial")]
    for style in ("acl", "talk"):
        figure = figures.show_outcomes(one, "asked", style)
        words = [each.get_text() for each in texts(figure)]
        assert words.count("no such pairs") == 1 and "harmful (0)" in words
        assert_readable(figure, styles.style(style))


def test_judges_without_an_answer_of_their_own_get_a_figure_that_says_so():
    for style in ("acl", "talk"):
        figure = figures.show_outcomes(outcomes().iloc[:0], "simulated", style)
        told = "No judge was shown an unedited pair with an answer of its own."
        assert figure.caption.startswith(told) and "simulated" in figure.caption.casefold()
        boxes = [each.get_window_extent() for each in texts(figure)]
        assert len(boxes) == 2 and boxes[0].y1 < boxes[1].y0, "the reason, and above it that judges are simulated"
        assert all(box.x0 >= 0 and box.x1 <= figure.figure.bbox.x1 for box in boxes)


def test_wrong_frames_are_named():
    with pytest.raises(ValueError, match="steps need rows with step, count, lost and why; given: 0 rows of nothing"):
        figures.show_funnel(pd.DataFrame(), "asked")
    with pytest.raises(ValueError, match="counts are numbers from 0; row 1 has"):
        figures.show_funnel(steps().replace({"count": {56: -1}}), "asked")
    with pytest.raises(ValueError, match="outcomes need rows with judge, judge_vendor, kind, outcome and count"):
        figures.show_outcomes(outcomes().drop(columns="kind"), "asked")
    with pytest.raises(ValueError, match="outcome halved; there are: right both ways, split"):
        figures.show_outcomes(outcomes().replace("split", "halved"), "asked")


# --- estimates --------------------------------------------------------------------------------------------------------


def uprights(axes) -> list[tuple[float, float, float]]:
    """(place, low, high) of each interval drawn along y."""
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1]]
    solid = [line for line in lines if line.get_linestyle() == "-"]
    return sorted((float(line.get_xdata()[0]), *map(float, line.get_ydata())) for line in solid)


def panel(figure: figures.Figure, judge: str):
    return next(axes for axes in figure.figure.axes if axes.get_title(loc="left").replace("\n", "") == judge)


def test_slopes_show_the_judge_and_the_others_each_with_its_interval(tight):
    figure = tight["obfuscation_slopes"]
    titles = [axes.get_title(loc="left") for axes in figure.figure.axes if axes.get_visible()]
    assert titles == ["sim_llama_large", "sim_llama_small", *JUDGES[2:]]
    axes = panel(figure, "sim_qwen_small")
    # Own 20 and 34 of 60, others 34 and 38 of 60, side by side.
    assert dict(points(axes)) == pytest.approx(
        {-0.06: 100 * 20 / 60, 0.94: 100 * 34 / 60, 0.06: 100 * 34 / 60, 1.06: 100 * 38 / 60}
    )
    assert len(uprights(axes)) == 4
    low = 100 * next(e.low for e in scores("x") if dict(e.where) == {"judge": JUDGES[2], "by": "own", "arm": "repeat"})
    assert uprights(axes)[0][:2] == pytest.approx((-0.06, low))
    assert {axes.get_ylim() for axes in figure.figure.axes} == {(-4, 104)}
    assert "what the edit does to any reader" in figure.caption
    assert "judge sim_qwen_small, by third party, arm edited: 63.3 %" in figure.alt
    with pytest.raises(ValueError, match="harmful_score: own, twice; by is own or third party"):
        figures.show_obfuscation_slopes([replace(e, where={**e.where, "arm": "twice"}) for e in scores("asked")[:1]])


def test_a_missing_control_is_named_in_room_of_its_own():
    own = [each for each in scores("asked") if each.where["by"] == "own" or each.where["judge"] != "sim_mistral"]
    hole = [replace(e, value=NAN, low=NAN, high=NAN) if e.where["judge"] == "sim_deepseek" else e for e in own]
    for style in STYLES:
        figure = figures.show_obfuscation_slopes(hole, style=style)
        assert_readable(figure, styles.style(style))
        notes = {axes.get_title(loc="left"): [each.get_text() for each in axes.texts] for axes in figure.figure.axes}
        assert notes["sim_mistral"] == ["others: not asked"]
        assert notes["sim_deepseek"] == ["itself: not estimable\nothers: not estimable"]
        assert figure.figure.axes[0].get_ylim()[0] < -20


def test_doses_begin_at_zero_without_an_interval_and_words_stand_apart(tight):
    axes = panel(tight["dose_curve"], "sim_qwen_small")
    assert points(axes) == [(0, 0)] + [
        (x, pytest.approx(y)) for x, y in zip((2, 4, 8, 8 + 8 / 3), (0.6, 0.8, 1.0, 1.2), strict=True)
    ]
    faces = [line.get_markerfacecolor() for line in axes.lines if len(line.get_xdata()) == 1]
    assert faces[0] == "white" and "white" not in faces[1:]
    assert [each[0] for each in uprights(axes)] == pytest.approx([2, 4, 8, 8 + 8 / 3])
    assert uprights(axes)[0] == pytest.approx((2, 0.1, 1.1))
    zero = [line for line in axes.lines if list(line.get_ydata()) == [0, 0] and line.get_linestyle() == "--"]
    assert len(zero) == 1
    assert "The smallest dose (2 words) is the confirmatory one" in tight["dose_curve"].caption
    assert "zero by definition" in tight["dose_curve"].caption


def test_doses_too_close_for_their_numbers_are_not_to_scale():
    close = figures.show_dose_curve(effects("asked", doses=("1", "2", "50")))
    assert "not to scale" in close.caption and [x for x, _ in points(close.figure.axes[0])] == [0, 1, 2, 3]
    assert_readable(close, styles.style())
    assert "not to scale" not in figures.show_dose_curve(effects("asked", doses=("2", "4", "8"))).caption
    words = figures.show_dose_curve(effects("asked", doses=("paraphrase",)))
    assert "confirmatory" not in words.caption and len(points(words.figure.axes[0])) == 2
    with pytest.raises(ValueError, match="several units"):
        figures.show_dose_curve(
            [*effects("asked"), number("obfuscation_effect", {"judge": "x", "dose": "2"}, 0, 1, "a")]
        )


def test_recognition_stands_against_preference_with_both_intervals(tight):
    axes = panel(tight["recognition_against_preference"], "sim_deepseek")
    assert points(axes) == [(pytest.approx(-8 * k), pytest.approx(-4.8 * k)) for k in (1, 2, 3, 4)]
    assert (-8.0, pytest.approx(-11.8), pytest.approx(2.2)) in uprights(axes)
    assert any(each == pytest.approx((-4.8, -15, -1)) for each in intervals(axes))
    sizes = [line.get_markersize() for line in axes.lines if len(line.get_xdata()) == 1]
    assert sizes[0] < sizes[1] < sizes[2]
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert len(dashed) == 2
    assert "do not show that one makes the other" in tight["recognition_against_preference"].caption


def test_points_without_both_numbers_are_named_and_recognition_may_not_be_asked():
    given = shifts("asked")
    preference = [each for each in given if each.id == "preference_change"]
    figure = figures.show_recognition_against_preference(preference)
    assert [each.get_text() for each in figure.figure.axes[0].texts] == ["recognition:\nnot asked"]
    assert "1e" not in "".join(each.get_text() for each in texts(figure))
    hole = [replace(e, value=NAN, low=NAN, high=NAN) if e.where["dose"] == "4" else e for e in given]
    hole = [replace(e, low=NAN, high=NAN, method="few") if e.where["dose"] == "8" else e for e in hole]
    figure = figures.show_recognition_against_preference(hole)
    axes = figure.figure.axes[0]
    assert [each.get_text() for each in axes.texts] == ["not estimable:\n4"] and len(points(axes)) == 3
    faces = [line.get_markerfacecolor() for line in axes.lines if len(line.get_xdata()) == 1]
    assert [face == "white" for face in faces] == [False, True, False]
    assert_readable(figure, styles.style())


def test_the_baseline_has_a_column_a_comparison_sorted_by_the_primary_one(tight):
    axes = tight["baseline_gap"].figure.axes
    order = [each.get_text() for each in axes[0].get_yticklabels()]
    assert order == list(JUDGES[::-1])
    assert [len(points(each)) for each in axes] == [len(intervals(each)) for each in axes] == [5] * 5
    assert dict((y, x) for x, y in points(axes[1])) == pytest.approx({4 - i: 4 * i - 5 for i in range(5)})
    dashed = [sum(line.get_linestyle() == "--" for line in each.lines) for each in axes]
    assert dashed == [0, 1, 1, 1, 1]
    assert len({each.get_xlim() for each in axes[1:]}) == 1
    assert "stratum same label: +11.0 pp [+1.0, +21.0]" in tight["baseline_gap"].alt
    missing = [replace(e, value=NAN, low=NAN, high=NAN) if "stratum" in e.where else e for e in gaps("asked")]
    missing = [e for e in missing if e.id != "same_text_other_judges" or e.where["judge"] != "sim_mistral"]
    figure = figures.show_baseline_gap(missing, style="neurips")
    assert [each.get_text() for each in figure.figure.axes[1].texts] == ["\N{EN DASH}"] * 5
    assert [each.get_text() for each in figure.figure.axes[4].texts] == ["not asked"]
    assert_readable(figure, styles.style("neurips"))
    with pytest.raises(ValueError, match="stratum odd; there are: same label, other label, all"):
        figures.show_baseline_gap([replace(gaps("a")[1], where={"judge": "x", "stratum": "odd"})])


def test_many_judges_become_sorted_forest_plots(tight):
    rows = lambda name: [each.get_text() for each in tight[name].figure.axes[0].get_yticklabels()]  # noqa: E731
    for name in ("obfuscation_slopes_many", "dose_curve_many", "baseline_gap_many"):
        assert rows(name) == list(MANY[::-1]), name
    assert rows("recognition_against_preference_many") == list(MANY)
    own, others = tight["obfuscation_slopes_many"].figure.axes
    assert len(points(own)) == len(points(others)) == len(intervals(own)) == 32
    doses = tight["dose_curve_many"].figure.axes
    assert [each.get_title(loc="left") for each in doses] == ["2 words", "4 words", "8 words", "paraphrase"]
    assert len({each.get_xlim() for each in doses}) == 1
    assert all(len(points(each)) == len(intervals(each)) == 16 for each in doses)
    recognition, preference = tight["recognition_against_preference_many"].figure.axes
    assert len(points(recognition)) == len(points(preference)) == len(intervals(preference)) == 64
    dozen = [each for each in effects("asked", MANY[:12])]
    assert sum(axes.get_visible() for axes in figures.show_dose_curve(dozen).figure.axes) == 12


SHOWS = (
    (figures.show_obfuscation_slopes, scores, r"harmful_score\[judge, by, arm\]"),
    (figures.show_dose_curve, effects, r"obfuscation_effect\[judge, dose\]"),
    (figures.show_recognition_against_preference, shifts, r"recognition_change\[judge, dose\]"),
    (figures.show_baseline_gap, gaps, r"evaluator_quality_gap\[judge, stratum\]"),
)


@pytest.mark.parametrize(("show", "given", "needed"), SHOWS)
def test_wrong_estimates_are_named_and_others_may_stand_beside(show, given, needed):
    with pytest.raises(ValueError, match=f"no estimates of {needed}.*given: top1_rate"):
        show([rate("top1_rate", {"judge": "a", "vendor": "gpt"}, 1, 2, "asked")])
    with pytest.raises(ValueError, match="more than one estimate"):
        show(given("asked") * 2)
    assert show([*scores("asked"), *effects("asked"), *shifts("asked"), *gaps("asked")]).alt == show(given("asked")).alt


@pytest.mark.parametrize("style", ("acl", pytest.param("talk", marks=pytest.mark.slow)))
def test_a_run_that_did_not_ask_gets_a_figure_that_says_so(style):
    for show, given, _ in SHOWS[:3]:
        figure = show([*gaps("simulated"), *lost("simulated")], style=style)
        said = " ".join(each.get_text() for each in texts(figure))
        assert "nothing to show" in said.replace("\n", " ") and "SIMULATED judges" in said
        assert "not asked, or nothing could be edited and judged" in figure.caption and "SIMULATED" in figure.alt
        edge = figure.figure.bbox
        assert all(
            edge.x0 <= each.get_window_extent().x0 and each.get_window_extent().x1 <= edge.x1 for each in texts(figure)
        )
        assert show([*given("asked"), *gaps("asked")]).alt == show(given("asked")).alt


@pytest.mark.parametrize("style", (pytest.param("neurips", marks=pytest.mark.slow), "acl"))
def test_a_run_too_small_for_intervals_or_numbers_is_still_shown(style):
    bare = lambda found: [replace(e, low=NAN, high=NAN, method="no interval below 10 articles") for e in found]  # noqa: E731
    none = lambda found: [replace(e, value=NAN) for e in bare(found)]  # noqa: E731
    for without in (bare, none):
        for show, given, _ in SHOWS:
            for names in (JUDGES, MANY):
                figure = show(without(given("simulated", names)), style=style)
                assert_readable(figure, styles.style(style))
                assert "no interval below 10 articles" in figure.caption
                assert ("not estimable" in figure.alt) == (without is none)


@pytest.mark.parametrize("bad", EACH_HOSTILE)
def test_hostile_names_are_names(bad, style="acl"):
    def rename(estimates):
        new = {"sim_qwen_small": bad, "qwen_2": bad}
        return [replace(each, where={k: new.get(v, v) for k, v in each.where.items()}) for each in estimates]

    shown = [show(rename(given("asked", names)), style=style) for show, given, _ in SHOWS for names in (JUDGES, MANY)]
    shown += [
        figures.show_outcomes(outcomes(n).replace(["sim_qwen_small", "qwen_2"], bad), "hub", style)
        for n in (JUDGES, MANY)
    ]
    shown.append(figures.show_funnel(steps().replace(["pairs of these", "6 no verdict"], 3 * bad), "hub", style))
    for figure in shown:
        assert_readable(figure, styles.style(style))
        assert figure.render("svg")
        named = [each for each in texts(figure) if bad[:4] in each.get_text().replace("\n", "")]
        assert named and not any(each.get_parse_math() for each in named), figure.name


def test_files_embed_fonts_and_are_the_same_bytes_twice(tight):
    """One shape of each figure; the next test has all of them."""
    for name in ("funnel", "outcomes", "obfuscation_slopes", "recognition_against_preference", "baseline_gap_both"):
        pdf = tight[name].render("pdf")
        assert b"/FontFile2" in pdf and b"/Type3" not in pdf
    again = [figures.show_funnel(steps(), "simulated", style="acl")]
    again += [figures.show_outcomes(outcomes(), "simulated", style="acl")]
    again += [show([*given("simulated"), *lost("simulated")], style="acl") for show, given, _ in SHOWS]
    assert all(tight[figure.name].render("png") == figure.render("png") for figure in again)


@pytest.mark.slow
def test_all_shapes_are_the_same_bytes_twice(tight):
    again = {figure.name: figure for figure in all_figures("acl")}
    assert all(again[name].render("png") == figure.render("png") for name, figure in tight.items())
