"""Figures of experiment 3: they show what was given with its controls, and name what was lost or never asked."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd
import pytest

from helpers import figures
from helpers.figures import style as styles
from helpers.figures.points import judge_looks
from helpers.types import Estimate
from tests import test_figures
from tests.test_figures import assert_readable, by_row, intervals, narrow, points, rate, rows_of, texts, widths

NAN = float("nan")
JUDGES = ("sim_llama_small", "sim_llama_large", "sim_qwen_small", "sim_deepseek", "sim_mistral")
MANY = tuple(f"{vendor}_{i}" for vendor in ("llama", "qwen", "deepseek", "mistral") for i in range(4))
DOSES = ("2", "4", "8")
STRATA = ("same label", "other label", "all")
#: An estimate on articles, with an interval of a half width.
number = partial(test_figures.pp, n=60, clusters=20, method="article-clustered t")
OUTCOMES = ("right both ways", "split", "wrong both ways", "unreadable")


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
    return {figure.name: figure for figure in narrow(all_figures)}


def test_a_judge_looks_like_its_vendor_and_no_vendor_is_guessed_between_two():
    look = styles.style()
    names = ["Qwen2.5-7B", "DeepSeek-R1-Distill-Llama-70B", "mine", "gpt4o_mini"]
    drawn = judge_looks(names, look, {"mine": "llama"})
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


def test_the_funnel_says_what_is_left_what_is_lost_and_why(tight):
    figure = tight["funnel"]
    said = [each.get_text() for each in texts(figure)]
    counts = ["60", "56 of 60", "104", "41 of 104", "38 of 41", "205", "199 of 205", "160 of 199"]
    assert [each for each in said if each in counts] == counts
    bars = widths(figure.figure.axes[0])
    assert bars[:5] == pytest.approx([100, 100 * 56 / 60, 100 * 4 / 60, 100, 100 * 41 / 104])
    assert "answers with a letter and a reason: 3 no_reason, 1 truncated; pairs with" in figure.caption
    assert "the same answer both ways: 160, 39 lost (39 the same place twice)" in figure.alt
    assert "no interval" in figure.caption


def test_an_outcome_is_a_bar_of_counts_under_its_judge(tight):
    figure = tight["outcomes"]
    rows = rows_of(figure)
    assert rows[:3] == ["SIMULATED models", "sim_llama_large", "own answer wrong"] and len(rows) == 16
    # sim_llama_large: 19, 8, 13 and 2 of 42 harmful items, then 31, 6 and 4 of 41.
    shares = [100 * each / 42 for each in (19, 8, 13, 2)] + [100 * each / 41 for each in (31, 6, 4)]
    assert widths(figure.figure.axes[0])[:7] == pytest.approx(shares)
    assert "unreadable 2.4 % (10 of 420 items)" in figure.caption
    assert "sim_deepseek, harmful: 17 right both ways, 8 split, 15 wrong both ways, 2 unreadable" in figure.alt


def test_a_judge_without_harmful_items_is_named():
    some = outcomes()
    one = some[(some["judge"] != "sim_mistral") | (some["kind"] == "beneficial")]
    for style in ("acl", "paper"):
        figure = figures.show_outcomes(one, "asked", style)
        words = [each.get_text() for each in texts(figure)]
        assert words.count("none") == 1 and "0 items" in words
        assert_readable(figure, styles.style(style))


def test_judges_without_an_answer_of_their_own_get_a_figure_that_says_so():
    for style in ("acl", "paper"):
        figure = figures.show_outcomes(outcomes().iloc[:0], "simulated", style)
        told = "No judge was shown an unedited pair with an answer of its own."
        assert figure.caption.startswith(told) and "simulated" in figure.caption.casefold()
        assert_readable(figure, styles.style(style))


def test_wrong_frames_are_named():
    with pytest.raises(ValueError, match="steps need rows with step, count, lost and why; given: 0 rows of nothing"):
        figures.show_funnel(pd.DataFrame(), "asked")
    with pytest.raises(ValueError, match="counts are whole numbers from 0; row 1 has"):
        figures.show_funnel(steps().replace({"count": {56: -1}}), "asked")
    with pytest.raises(ValueError, match="outcomes need rows with judge, judge_vendor, kind, outcome and count"):
        figures.show_outcomes(outcomes().drop(columns="kind"), "asked")
    with pytest.raises(ValueError, match="outcome halved; there are: right both ways, split"):
        figures.show_outcomes(outcomes().replace("split", "halved"), "asked")


# --- estimates --------------------------------------------------------------------------------------------------------


def test_an_edit_shows_the_judge_and_the_others_each_with_its_interval(tight):
    figure = tight["obfuscation_slopes"]
    heads = [row for row in rows_of(figure) if row not in ("asked again", "edited", "SIMULATED models")]
    assert heads == ["sim_llama_large", "sim_llama_small", *JUDGES[2:]]
    # The third judge: own 20 and 34 of 60, others 34 and 38 of 60, one above the other.
    found = by_row(figure)
    assert len(found) == 20 and all(span for _, _, span in found)
    mine = found[8:12]
    assert [(row, x) for row, x, _ in mine] == [
        (row, pytest.approx(100 * k / 60))
        for row, k in (("asked again", 20), ("asked again", 34), ("edited", 34), ("edited", 38))
    ]
    low = 100 * next(e.low for e in scores("x") if dict(e.where) == {"judge": JUDGES[2], "by": "own", "arm": "repeat"})
    assert mine[0][2][0] == pytest.approx(low)
    assert "what the edit does to any reader" in figure.caption
    assert "judge sim_qwen_small, by third party, arm edited: 63.3 %" in figure.alt
    with pytest.raises(ValueError, match="harmful_score: arm twice; there are: repeat, edited"):
        figures.show_obfuscation_slopes([replace(e, where={**e.where, "arm": "twice"}) for e in scores("asked")[:1]])


def test_a_missing_control_is_named_in_its_row():
    own = [each for each in scores("asked") if each.where["by"] == "own" or each.where["judge"] != "sim_mistral"]
    hole = [replace(e, value=NAN, low=NAN, high=NAN) if e.where["judge"] == "sim_deepseek" else e for e in own]
    for style in ("paper", "acl"):
        figure = figures.show_obfuscation_slopes(hole, style=style)
        assert_readable(figure, styles.style(style))
        said = [each.get_text() for each in figure.figure.axes[0].texts]
        assert said.count("not asked") == 2 and said.count("not estimable") == 2


def test_doses_stand_in_their_order_and_words_last(tight):
    figure = tight["dose_curve"]
    mine = [(row, x) for row, x, _ in by_row(figure)][8:12]
    doses = ("2 words", "4 words", "8 words", "paraphrase")
    assert mine == [(row, pytest.approx(x)) for row, x in zip(doses, (0.6, 0.8, 1.0, 1.2), strict=True)]
    assert by_row(figure)[8][2] == pytest.approx((0.1, 1.1))
    assert "The smallest dose (2 words) is the confirmatory one" in figure.caption
    words = figures.show_dose_curve(effects("asked", doses=("paraphrase",)))
    assert "confirmatory" not in words.caption
    with pytest.raises(ValueError, match="several units"):
        figures.show_dose_curve(
            [*effects("asked"), number("obfuscation_effect", {"judge": "x", "dose": "2"}, 0, 1, "a")]
        )


def test_recognition_stands_beside_preference_with_both_intervals(tight):
    figure = tight["recognition_against_preference"]
    assert [axes.get_title(loc="left") for axes in figure.figure.axes] == ["recognition", "preference"]
    left, right = (by_row(figure, panel)[12:16] for panel in (0, 1))
    assert [x for _, x, _ in left] == pytest.approx([-8, -16, -24, -32])
    assert [x for _, x, _ in right] == pytest.approx([-4.8, -9.6, -14.4, -19.2])
    assert left[0][2] == pytest.approx((-15, -1)) and right[0][2] == pytest.approx((-11.8, 2.2))
    assert "do not show that one makes the other" in figure.caption
    preference = [each for each in shifts("asked") if each.id == "preference_change"]
    assert len(figures.show_recognition_against_preference(preference).figure.axes) == 1
    hole = [replace(e, value=NAN, low=NAN, high=NAN) if e.where["dose"] == "4" else e for e in shifts("asked")]
    hole = figures.show_recognition_against_preference(hole)
    assert [[each.get_text() for each in axes.texts] for axes in hole.figure.axes] == [["not estimable"] * 5] * 2
    assert_readable(hole, styles.style())


def test_the_baseline_has_a_column_a_comparison_sorted_by_the_primary_one(tight):
    figure = tight["baseline_gap"]
    axes = figure.figure.axes
    assert rows_of(figure) == ["SIMULATED models", *JUDGES[::-1]]
    assert [len(points(each)) for each in axes] == [len(intervals(each)) for each in axes] == [5] * 5
    assert [x for _, x, _ in by_row(figure, 1)] == pytest.approx([4 * i - 5 for i in reversed(range(5))])
    assert "stratum same label: +11.0 pp [+1.0, +21.0]" in figure.alt
    missing = [replace(e, value=NAN, low=NAN, high=NAN) if "stratum" in e.where else e for e in gaps("asked")]
    missing = [e for e in missing if e.id != "same_text_other_judges" or e.where["judge"] != "sim_mistral"]
    figure = figures.show_baseline_gap(missing, style="neurips")
    assert [each.get_text() for each in figure.figure.axes[1].texts] == ["\N{EN DASH}"] * 5
    assert_readable(figure, styles.style("neurips"))
    with pytest.raises(ValueError, match="stratum odd; there are: same label, other label, all"):
        figures.show_baseline_gap([replace(gaps("a")[1], where={"judge": "x", "stratum": "odd"})])


SHOWS = (
    (figures.show_obfuscation_slopes, scores, r"harmful_score\[judge, by, arm\]"),
    (figures.show_dose_curve, effects, r"obfuscation_effect\[judge, dose\]"),
    (figures.show_recognition_against_preference, shifts, r"recognition_change\[judge, dose\]"),
    (figures.show_baseline_gap, gaps, r"evaluator_quality_gap\[judge\]"),
)


def small_figures(without, style: str) -> list[figures.Figure]:
    """Figures of a run whose numbers were changed by `without`."""
    return [
        show(without(given("simulated", names)), style=style) for show, given, _ in SHOWS for names in (JUDGES, MANY)
    ]


def hostile_figures(bad: str, style: str) -> list[figures.Figure]:
    """Figures in which a judge or a step has this name."""

    def rename(estimates):
        new = {"sim_qwen_small": bad, "llama_0": bad}
        return [replace(each, where={k: new.get(v, v) for k, v in each.where.items()}) for each in estimates]

    shown = [show(rename(given("asked", names)), style=style) for show, given, _ in SHOWS for names in (JUDGES, MANY)]
    shown += [
        figures.show_outcomes(outcomes(n).replace(["sim_qwen_small", "llama_0"], bad), "hub", style)
        for n in (JUDGES, MANY)
    ]
    return [*shown, figures.show_funnel(steps().replace(["pairs of these", "6 no verdict"], 3 * bad), "hub", style)]
