"""Figures of the hinting experiment: they show what was given, nothing cut or hidden, and no minimum as a finding."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean, pstdev

import pandas as pd
import pytest

from helpers import figures
from helpers.figures import panels
from helpers.figures import style as styles
from helpers.types import Estimate
from tests.test_figures import (
    EACH_STYLE,
    assert_printable,
    assert_readable,
    assert_simulated,
    intervals,
    points,
    rate,
    texts,
)

NAN = float("nan")
VENDORS = ("claude", "gpt", "gemini")
GROUPS = ("none", "self", "competitors", "full")
ALL = (*GROUPS, "swapped")
HINTS = ALL[1:]

# Own first places of 160 in each group, as published; those under swapped are made up.
OWN = {
    "claude": {"none": 48, "self": 41, "competitors": 58, "full": 55, "swapped": 46},
    "gpt": {"none": 103, "self": 100, "competitors": 105, "full": 102, "swapped": 99},
    "gemini": {"none": 53, "self": 57, "competitors": 45, "full": 54, "swapped": 50},
}
# Own first places of 60 by category under none, self, competitors, full, as published.
BY_CATEGORY = {
    "extraction": (21, 19, 23, 20),
    "humanities": (22, 22, 23, 22),
    "math": (30, 28, 31, 31),
    "reasoning": (25, 25, 26, 25),
    "writing": (27, 23, 26, 23),
    "coding": (25, 26, 26, 27),
    "roleplay": (32, 33, 33, 37),
    "stem": (22, 22, 20, 26),
}
HOSTILE = (
    "$x_1$ & 100 %",
    "<b>a_very_long_name_of_a_vendor_that_never_ends_at_all</b>",
    "50 $ or 60 $",
    r"\frac{1}{2}^#~",
)
#: The longest is drawn in quick tests, all of them in slow ones.
EACH_HOSTILE = [pytest.param(bad, marks=() if len(bad) > 30 else pytest.mark.slow) for bad in HOSTILE]


def slopes(data: str, hints=GROUPS) -> list[Estimate]:
    return [rate("self_bias", {"vendor": v, "hint": h}, OWN[v][h], 160, data) for v in VENDORS for h in hints]


def pp(id: str, where: dict[str, str], value: float, half: float, data: str) -> Estimate:
    low, high = value - half, value + half
    return Estimate(
        id, where, value, low, high, n=160, clusters=80, unit="pp", method="question-clustered t", data=data
    )


def effects(data: str, hints=HINTS) -> list[Estimate]:
    found = []
    for hint in hints:
        changes = {v: (OWN[v][hint] - OWN[v]["none"]) / 160 for v in VENDORS}
        found += [pp("hint_effect", {"hint": hint, "vendor": v}, x, 0.079, data) for v, x in changes.items()]
        where = {"hint": hint, "vendor": "average"}
        found.append(pp("hint_effect", where, fmean(changes.values()), 0.047, data))
        found.append(pp("hint_effect_90", where, fmean(changes.values()), 0.039, data))
    return found


def changes(hints=GROUPS[1:]) -> list[Estimate]:
    bare = [each for each in effects("published", hints) if each.id == "hint_effect"]
    why = "no interval: the pairing is not published"
    return [replace(each, id="hint_change", low=NAN, high=NAN, method=why, clusters=0) for each in bare]


def names(data: str) -> list[Estimate]:
    values = {"claude": 0.021, "gpt": 0.094, "gemini": -0.012, "average": 0.034}
    return [pp("name_effect", {"vendor": v}, x, 0.06, data) for v, x in values.items()]


def categories(data: str) -> list[Estimate]:
    found = []
    for category, counts in BY_CATEGORY.items():
        for hint, k in zip(GROUPS, counts, strict=True):
            where = {"category": category, "hint": hint}
            if data == "published":
                method = "no interval; counts, independence assumed"
                bare = Estimate("category_average_self_bias", where, k / 60, n=60, method=method, data=data)
                found.append(bare)
            else:
                found.append(replace(rate("category_average_self_bias", where, k + 3, 60, data), clusters=10))
        if data != "published":
            where = {"category": category, "hint": "swapped"}
            found.append(replace(rate("category_average_self_bias", where, counts[0] - 2, 60, data), clusters=10))
    return found


def metrics(data: str, hints=GROUPS) -> list[Estimate]:
    overall = {"none": (121, 255, 104), "self": (113, 265, 102), "competitors": (130, 259, 91), "full": (127, 248, 105)}
    overall["swapped"] = (124, 250, 106)
    judges = {"none": 0.159589, "competitors": 0.167653}
    found = []
    for hint in hints:
        own = [OWN[v][hint] / 160 for v in VENDORS]
        values = {
            "deviation_from_expected": fmean(abs(x - 1 / 3) for x in own),
            "balance": pstdev(k / 480 for k in overall[hint]),
            "consistency_vendors": pstdev(own),
        }
        if data != "published":
            values["consistency_judges"] = judges.get(hint, 0.163)
        elif hint in judges:
            values["consistency_judges"] = judges[hint]
        for id, value in values.items():
            one = Estimate(id, {"hint": hint}, value, n=480, unit="sd_pp", data=data)
            if data == "published":
                found.append(replace(one, method="no interval: a spread of rates needs the rows"))
                continue
            asked = {"clusters": 80, "method": "BCa over questions"}
            found.append(replace(one, low=value - 0.028, high=value + 0.031, **asked))
            found.append(replace(one, id=f"{id}_noise_floor", value=0.021 if id == "balance" else 0.032, **asked))
    return found


def lost(data: str, hints=ALL) -> list[Estimate]:
    return [
        rate("unreadable_share", {"judge": f"sim_{v}_{t}", "hint": h}, 4 if h == "full" else 1, 80, data)
        for v in VENDORS
        for t in ("fast", "thinking")
        for h in hints
    ]


def curves(hints=GROUPS[1:]) -> pd.DataFrame:
    """p of a difference d of 480 pairs of which D changed: a normal approximation of the sign test."""
    rows = []
    for hint in hints:
        d = abs(sum(OWN[v][hint] - OWN[v]["none"] for v in VENDORS))
        rows += [
            {"hint": hint, "share": D / 480, "changed": D, "p": math.erfc(d / math.sqrt(2 * D)) if D else NAN}
            for D in range(d, 481, 6)
        ]
    return pd.DataFrame(rows)


CONCLUSIONS = {"self": "inconclusive", "competitors": "equivalent", "full": "inconclusive", "swapped": "different"}


def all_figures(style: str) -> list[figures.Figure]:
    """Every figure in every shape: published alone, both sources, asked alone with all groups."""
    simulated = [*slopes("simulated", ALL), *lost("simulated")]
    return [
        figures.show_hint_slopes(slopes("published"), 1 / 3, style, "slope"),
        figures.show_hint_slopes(slopes("published") + simulated, 1 / 3, style, "slopes"),
        figures.show_hint_effects([*effects("asked"), *names("asked")], 5, CONCLUSIONS, style, "effect"),
        figures.show_hint_effects(
            [*changes(), *effects("simulated"), *names("simulated"), *lost("simulated")],
            5,
            CONCLUSIONS,
            style,
            "effects",
        ),
        figures.show_hint_effects(effects("asked", ["self"]), 5, None, style, "one_effect"),
        figures.show_category_groups(categories("published"), style, "category"),
        figures.show_category_groups(categories("published") + categories("simulated"), style, "categories"),
        figures.show_group_metrics(metrics("published"), style, "metric"),
        figures.show_group_metrics(metrics("published") + metrics("simulated", ALL), style, "metrics"),
        figures.show_discordance(curves(), style=style, name="discordance"),
        figures.show_discordance(curves(HINTS), "simulated", style=style, name="discordances"),
    ]


@pytest.fixture(scope="module")
def tight() -> dict[str, figures.Figure]:
    """Every figure in the narrowest columns."""
    return {figure.name: figure for figure in all_figures("acl")}


@pytest.mark.parametrize("style", EACH_STYLE)
def test_nothing_overlaps_or_leaves_the_figure_at_print_size(tight, style):
    assert_printable(tight.values() if style == "acl" else all_figures(style), style)


def ticks(axes) -> list[str]:
    return [each.get_text().strip() for each in axes.get_xticklabels()]


def test_lowered_ticks_never_touch(tight):
    """What the check of boxes leaves out: a lowered tick begins below the lines of its neighbours."""
    for figure in tight.values():
        for axes in figure.figure.axes:
            named = [each.get_text() for each in axes.get_xticklabels()]
            lowered = [len(name) - len(name.lstrip("\n")) for name in named]
            if any(lowered):
                lines = max(name.count("\n") + 1 for name, low in zip(named, lowered, strict=True) if not low)
                assert all(low in (0, lines) for low in lowered), named


def test_simulated_is_said_on_the_face_and_only_there(tight):
    for name, figure in tight.items():
        assert_simulated(figure, name in ("slopes", "effects", "categories", "metrics", "discordances"))


def test_slopes_show_every_group_in_order_with_its_interval(tight):
    axes = tight["slopes"].figure.axes
    assert [ticks(panel) for panel in axes[4:]] == [list(GROUPS), list(ALL)]
    assert [panel.get_ylabel() for panel in axes[::2]] == ["Claude", "GPT", "Gemini"]
    low, high = (100 * x for x in (slopes("published")[1].low, slopes("published")[1].high))
    uprights = [line for line in axes[0].lines if list(line.get_xdata()) == [1, 1]]
    assert list(uprights[0].get_ydata()) == pytest.approx([low, high])
    # 41 of 160 under self; five groups where they were asked.
    assert dict(points(axes[0])) == pytest.approx({0: 30, 1: 25.625, 2: 36.25, 3: 34.375})
    assert len(points(axes[1])) == 5
    spans = {round(panel.get_ylim()[1] - panel.get_ylim()[0], 6) for panel in axes}
    assert len(spans) == 1, "slopes compare only where panels span equally many pp"
    dashed = [line.get_ydata()[0] for line in axes[2].lines if line.get_linestyle() == "--"]
    assert dashed == [pytest.approx(100 / 3)]
    assert "share of candidates" in tight["slopes"].caption
    assert "unreadable 2.0 % (48 of 2400 judgments)" in tight["slopes"].caption
    assert (
        "Unreadable by group (simulated: none 1.2 %, self 1.2 %, competitors 1.2 %, full 5.0 %"
        in tight["slopes"].caption
    )


def test_losses_of_other_experiments_are_not_counted():
    alien = [rate("unreadable_share", {"judge": "a"}, 40, 80, "asked")]
    mine = [rate("unreadable_share", {"judge": "a", "hint": "none"}, 2, 80, "asked")]
    caption = figures.show_hint_slopes([*slopes("asked"), *alien, *mine]).caption
    assert "unreadable 2.5 % (2 of 80 judgments)" in caption


def test_effects_show_both_intervals_the_margin_and_the_words(tight):
    left, right, _, below = tight["effects"].figure.axes
    labelled = [each.get_text() for each in left.get_yticklabels()]
    assert labelled[::4] == list(HINTS) and labelled[1:4] == ["Claude", "GPT", "Gemini"]
    # Published changes: open markers, no interval, no words for what was never asked but these two.
    assert not intervals(left) and [each.get_text() for each in left.texts] == ["not asked"]
    assert all(line.get_markerfacecolor() == "white" for line in left.lines if len(line.get_xdata()) == 1)
    self_average = sorted(lines for lines in intervals(right) if lines[0] == intervals(right)[0][0])
    mean = 100 * (41 - 48 + 100 - 103 + 57 - 53) / 480
    assert [pytest.approx(x) for x in self_average[0][1:]] == [mean - 4.7, mean + 4.7]
    assert [pytest.approx(x) for x in self_average[1][1:]] == [mean - 3.9, mean + 3.9]
    band = right.patches[0].get_extents().transformed(right.transData.inverted())
    assert (band.x0, band.x1) == pytest.approx((-5, 5))
    assert {each.get_text() for each in right.texts} == set(CONCLUSIONS.values())
    assert left.get_xlim() == right.get_xlim()
    assert len(points(below)) == 4 and points(below)[0][0] == pytest.approx(3.4)
    assert "competitors: equivalent." in tight["effects"].alt
    assert "\N{PLUS-MINUS SIGN}5 pp" in tight["effects"].caption
    assert "the pairing is not published" in tight["effects"].caption


def test_one_hint_alone_has_no_second_panel_and_the_margin_stays_in_view(tight):
    (axes,) = tight["one_effect"].figure.axes
    assert axes.get_xlim()[0] < -5 and axes.get_xlim()[1] > 5
    tiny = [replace(each, low=each.value, high=each.value) for each in effects("asked", ["self"])]
    wide = figures.show_hint_effects(tiny, margin_pp=20).figure.axes[0].get_xlim()
    assert wide[0] < -20 and wide[1] > 20


def test_a_conclusion_belongs_to_one_source_of_data():
    both = [*effects("asked"), *effects("simulated")]
    with pytest.raises(ValueError, match="hint_effect is of asked, simulated: filter it first"):
        figures.show_hint_effects(both, conclusions=CONCLUSIONS)
    assert figures.show_hint_effects(both).caption


def outlined(axes) -> set[tuple[int, int]]:
    return {(int(p.get_xy()[0]), int(p.get_xy()[1])) for p in axes.patches if not p.get_fill()}


def test_all_ties_of_the_lowest_are_outlined(tight):
    axes = tight["category"].figure.axes[0]
    order = [each.get_text() for each in axes.get_yticklabels()]
    least = {c: [i for i, k in enumerate(counts) if k == min(counts)] for c, counts in BY_CATEGORY.items()}
    assert outlined(axes) == {(i, order.index(c)) for c, columns in least.items() for i in columns}
    # Reasoning and humanities: three groups; writing: two. A source had credited one.
    assert sum(map(len, least.values())) == 13
    assert "no finding" in tight["category"].caption
    # 1/3 + 1/3 + 1/3 and 3/3: apart in the last digit and yet the same.
    close = [replace(each, value=each.value + i * 1e-16) for i, each in enumerate(categories("published")[:4])]
    same = [replace(each, value=0.35 + 4e-17 * i) for i, each in enumerate(close)]
    assert len(outlined(figures.show_category_groups(same).figure.axes[0])) == 4
    apart = [replace(each, value=0.35 + 1e-9 * i) for i, each in enumerate(close)]
    assert len(outlined(figures.show_category_groups(apart).figure.axes[0])) == 1


def test_a_cell_without_a_number_is_no_minimum():
    some = categories("published")[:4]
    holes = [replace(some[0], value=NAN), *some[1:3]]
    axes = figures.show_category_groups(holes).figure.axes[0]
    assert outlined(axes) == {(1, 0)} and axes.texts[0].get_text() == "\N{EN DASH}"
    nothing = figures.show_category_groups([replace(each, value=NAN) for each in some])
    assert not outlined(nothing.figure.axes[0])


def test_metrics_have_hatched_published_bars_floors_and_words_for_what_is_missing(tight):
    axes = tight["metrics"].figure.axes
    bars = [[p for p in panel.patches if p.get_width() > 0] for panel in axes]
    # Published deviation of four groups, asked of five; consistency over judges was published for two.
    assert [len(found) for found in bars] == [9, 9, 7, 9]
    assert [bool(p.get_hatch()) for p in bars[0]] == [True, False] * 4 + [False]
    assert bars[0][0].get_width() == pytest.approx(11.5278, abs=1e-4)
    floors = [line for line in axes[0].lines if line.get_xdata()[0] == line.get_xdata()[1]]
    assert [line.get_xdata()[0] for line in floors] == pytest.approx([3.2] * 5)
    assert len(intervals(axes[0])) == 10  # five intervals, five floors
    said = [[each.get_text() for each in panel.texts] for panel in axes]
    assert said == [["not asked"], ["not asked"], ["not derivable", "not derivable", "not asked"], ["not asked"]]
    assert "noise floor" in tight["metrics"].caption and "noise floor" not in tight["metric"].caption
    assert "noise floor of balance (overall), hint none: 2.10 pp" in tight["metrics"].alt
    lost = [replace(each, value=NAN, low=NAN, high=NAN) for each in metrics("asked")[:2]]
    words = [each.get_text() for each in figures.show_group_metrics(lost).figure.axes[0].texts]
    assert words == ["not estimable"]


def test_discordance_has_a_line_a_hint_told_apart_without_colour(tight):
    axes = tight["discordances"].figure.axes[0]
    lines = [line for line in axes.lines if len(line.get_xdata()) > 2]
    assert [line.get_label() for line in lines] == list(HINTS)
    assert len({line.get_marker() for line in lines}) == len({str(line._unscaled_dash_pattern) for line in lines}) == 4
    shown = curves(["self"])
    assert list(lines[0].get_ydata()) == pytest.approx(list(shown["p"]))
    level = [line for line in axes.lines if list(line.get_ydata()) == [0.05, 0.05]]
    assert len(level) == 1 and level[0].get_linestyle() == "--"
    assert "n = 480 pairs a line" in tight["discordance"].caption
    # Of 6 votes more, below 0.05 while at most 6 of 480 pairs changed.
    assert (
        "self: p = 0.014 at 1.2 % to p = 0.78 at 100.0 %, below 0.05 up to a share of 1.2 %" in tight["discordance"].alt
    )


def test_curves_without_numbers_are_said_and_wrong_ones_refused():
    hole = pd.concat([curves(["self"]), pd.DataFrame([{"hint": "full", "share": NAN, "p": NAN}])])
    figure = figures.show_discordance(hole)
    assert (
        "full (not estimable)" in [each.get_text() for each in texts(figure)] and "full: not estimable." in figure.alt
    )
    with pytest.raises(ValueError, match="hint, share and p; given: 0 rows of nothing"):
        figures.show_discordance(pd.DataFrame())
    with pytest.raises(ValueError, match="between 0 and 1"):
        figures.show_discordance(pd.DataFrame([{"hint": "self", "share": 12.0, "p": 0.5}]))


def test_wrong_estimates_are_named():
    for show, needed in (
        (figures.show_hint_slopes, r"self_bias\[vendor, hint\]"),
        (figures.show_hint_effects, r"hint_effect\[hint, vendor\]"),
        (figures.show_category_groups, r"category_average_self_bias\[category, hint\]"),
        (figures.show_group_metrics, r"deviation_from_expected\[hint\]"),
    ):
        with pytest.raises(ValueError, match=f"no estimates of {needed}.*given: top1_rate"):
            show([rate("top1_rate", {"judge": "a", "vendor": "gpt"}, 1, 2, "asked")])
    with pytest.raises(ValueError, match="more than one estimate"):
        figures.show_group_metrics(metrics("published") * 2)


def test_other_estimates_may_stand_in_the_same_list():
    everything = [*slopes("asked"), *effects("asked"), *names("asked"), *categories("asked"), *metrics("asked")]
    everything += [
        replace(each, where={"vendor": each.where["vendor"]})
        for each in slopes("asked")
        if "none" in each.where.values()
    ]
    for show in (
        figures.show_hint_slopes,
        figures.show_hint_effects,
        figures.show_category_groups,
        figures.show_group_metrics,
    ):
        assert show(everything).caption


@pytest.mark.parametrize("bad", EACH_HOSTILE)
def test_hostile_names_are_names(bad, style="acl"):
    def rename(estimates):
        new = {"gpt": bad, "self": bad, "math": bad}
        return [replace(each, where={k: new.get(v, v) for k, v in each.where.items()}) for each in estimates]

    look = styles.style(style)
    published, asked = slopes("published"), [*effects("asked"), *names("asked")]
    shown = [
        figures.show_hint_slopes(rename(published + slopes("asked", ALL)), style=style),
        figures.show_hint_effects(rename(asked), conclusions={bad: bad, "full": "different"}, style=style),
        figures.show_category_groups(rename(categories("published") + categories("asked")), style=style),
        figures.show_group_metrics(rename(metrics("published") + metrics("asked", ALL)), style=style),
        figures.show_discordance(curves().replace("self", bad), style=style),
    ]
    for figure in shown:
        assert_readable(figure, look)
        assert bad in figure.alt
        assert figure.render("svg")
        named = [each for each in texts(figure) if each.get_text().strip().replace("\n", "").startswith(bad[:4])]
        assert named and not any(each.get_parse_math() for each in named)


def test_many_vendors_and_all_hints_still_fit():
    vendors = ("claude", "gpt", "gemini", "llama", "qwen", "deepseek", "mistral")
    every = [
        rate("self_bias", {"vendor": v, "hint": h}, 20 + 3 * i + 2 * j, 160, "asked")
        for i, v in enumerate(vendors)
        for j, h in enumerate(panels.HINTS)
    ]
    for style in ("neurips", "acl"):
        assert_readable(figures.show_hint_slopes(every, 1 / 7, style), styles.style(style))


def test_files_embed_fonts_and_are_the_same_bytes_twice(tight):
    """One shape of two figures; the next test has all of them."""
    for name in ("slopes", "effects", "categories", "metrics", "discordances"):
        pdf = tight[name].render("pdf")
        assert b"/FontFile2" in pdf and b"/Type3" not in pdf
    again = [
        figures.show_hint_slopes(slopes("published"), 1 / 3, style="acl", name="slope"),
        figures.show_hint_effects([*effects("asked"), *names("asked")], 5, CONCLUSIONS, style="acl", name="effect"),
    ]
    assert all(tight[figure.name].render("png") == figure.render("png") for figure in again)


@pytest.mark.slow
def test_all_shapes_are_the_same_bytes_twice(tight):
    again = {figure.name: figure for figure in all_figures("acl")}
    assert all(again[name].render("png") == figure.render("png") for name, figure in tight.items())


def test_a_run_too_small_for_intervals_or_numbers_is_still_shown():
    bare = lambda found: [replace(e, low=NAN, high=NAN, p=NAN, method="no interval below 10 questions") for e in found]  # noqa: E731
    none = lambda found: [replace(e, value=NAN) for e in bare(found)]  # noqa: E731
    for without in (bare, none):
        shown = [
            figures.show_hint_slopes(without(slopes("simulated", ["none", "self"])), 1 / 3),
            figures.show_hint_effects(without([*effects("simulated", ["self"]), *names("simulated")])),
            figures.show_category_groups(without(categories("simulated"))),
            figures.show_group_metrics(without(metrics("simulated"))),
        ]
        for figure in shown:
            assert_readable(figure, styles.style())
            assert "no interval below 10 questions" in figure.caption
            assert ("not estimable" in figure.alt) == (without is none)
