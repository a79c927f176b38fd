"""Figures of the hinting experiment: they show what was given, nothing cut or hidden, and no minimum as a finding."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from statistics import fmean, pstdev

import pandas as pd
import pytest

from helpers import figures
from helpers.figures import points as chosen, style as styles
from helpers.types import Estimate
from tests import test_figures
from tests.test_figures import assert_readable, by_row, intervals, narrow, rate, rows_of, texts

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
#: An estimate of hints, with an interval of a half width.
pp = partial(test_figures.pp, method="question-clustered t")


def slopes(data: str, hints=GROUPS) -> list[Estimate]:
    return [rate("self_bias", {"vendor": v, "hint": h}, OWN[v][h], 160, data) for v in VENDORS for h in hints]


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
        figures.show_hint_slopes(slopes("published"), style, "slope"),
        figures.show_hint_slopes(slopes("published") + simulated, style, "slopes"),
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
        figures.show_discordance(curves(HINTS), style=style, name="discordances"),
    ]


@pytest.fixture(scope="module")
def tight() -> dict[str, figures.Figure]:
    """Every figure in the narrowest columns."""
    return {figure.name: figure for figure in narrow(all_figures)}


def test_a_hint_is_a_row_with_a_point_for_each_vendor(tight):
    rows = rows_of(tight["slopes"])
    assert rows == ["published counts", *GROUPS, "SIMULATED models", *ALL]
    found = by_row(tight["slope"])
    # 41 of 160 under self, the second of the published groups; Claude is the upper of three points.
    mine = [(x, span) for row, x, span in found if row == "self"]
    assert mine[0][0] == pytest.approx(25.625) and len(mine) == 3
    ends = next(e for e in slopes("published") if e.where == {"vendor": "claude", "hint": "self"})
    assert mine[0][1] == pytest.approx((100 * ends.low, 100 * ends.high))
    assert len(by_row(tight["slopes"])) == 3 * (len(ALL) + len(GROUPS))
    caption = tight["slopes"].caption
    assert "unreadable 2.0 % (48 of 2400 judgments)" in caption
    assert "Unreadable by group (simulated: none 1.2 %, self 1.2 %, competitors 1.2 %, full 5.0 %" in caption


def test_losses_of_other_experiments_are_not_counted():
    alien = [rate("unreadable_share", {"judge": "a"}, 40, 80, "asked")]
    mine = [rate("unreadable_share", {"judge": "a", "hint": "none"}, 2, 80, "asked")]
    caption = figures.show_hint_slopes([*slopes("asked"), *alien, *mine]).caption
    assert "unreadable 2.5 % (2 of 80 judgments)" in caption


def test_effects_show_both_intervals_the_margin_and_the_words(tight):
    figure = tight["effects"]
    axes = figure.figure.axes[0]
    rows = rows_of(figure)
    assert rows[:6] == ["published counts", "self against none", "mean over vendors", "Claude", "GPT", "Gemini"]
    mean = 100 * (41 - 48 + 100 - 103 + 57 - 53) / 480
    spans = [each[1:] for each in intervals(axes) if each[0] == intervals(axes)[0][0]]  # published changes have none
    assert sorted(spans) == [pytest.approx((mean - 4.7, mean + 4.7)), pytest.approx((mean - 3.9, mean + 3.9))]
    # Five blocks of four asked numbers, and published changes of three hints, which have no interval.
    found = by_row(figure)
    assert [bool(span) for _, _, span in found] == [False] * 12 + [True] * 20
    assert found[28][1] == pytest.approx(3.4), "the average effect of the own name"
    band = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    assert (band.x0, band.x1) == pytest.approx((-5, 5))
    assert [each.get_text() for each in axes.texts] == [CONCLUSIONS[hint] for hint in HINTS]
    assert "competitors: equivalent." in figure.alt and "the pairing is not published" in figure.caption
    assert "\N{PLUS-MINUS SIGN}5 pp" in figure.caption


def test_the_margin_stays_in_view(tight):
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
    order = rows_of(tight["category"])
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
    assert outlined(axes) == {(1, 0)} and "\N{EN DASH}" in [each.get_text() for each in axes.texts]
    nothing = figures.show_category_groups([replace(each, value=NAN) for each in some])
    assert not outlined(nothing.figure.axes[0])


def test_metrics_stand_beside_their_noise_floors(tight):
    figure = tight["metrics"]
    found = [by_row(figure, panel) for panel in range(4)]
    # Asked: five groups with a floor each; published: four groups, and two of consistency over judges.
    assert [len(each) for each in found] == [14, 14, 12, 14]
    assert [sum(span is not None for _, _, span in each) for each in found] == [5] * 4
    assert by_row(tight["metric"])[0][1] == pytest.approx(11.5278, abs=1e-4)
    said = [[each.get_text() for each in axes.texts] for axes in figure.figure.axes]
    assert said == [[], [], ["not derivable"] * 2, []]
    assert "noise floor" in figure.caption and "noise floor" not in tight["metric"].caption
    assert "noise floor of balance (overall), hint none: 2.10 pp" in figure.alt
    lost = [replace(each, value=NAN, low=NAN, high=NAN) for each in metrics("asked")[:2]]
    words = [each.get_text() for each in figures.show_group_metrics(lost).figure.axes[0].texts]
    assert words == ["not estimable"]


def test_discordance_has_a_line_a_hint_told_apart_without_colour(tight):
    figure = tight["discordances"]
    axes = figure.figure.axes[0]
    lines = [line for line in axes.lines if len(line.get_xdata()) > 2]
    named = [each.get_text() for each in figure.figure.legends[0].get_texts()]
    assert named == list(HINTS) and len(lines) == 4
    assert len({each.get_marker() for each in figure.figure.legends[0].get_lines()}) == 4
    shown = curves(["self"])
    assert any(
        list(line.get_ydata()) == pytest.approx(list(shown["p"]))
        for line in lines
        if len(line.get_ydata()) == len(shown)
    )
    level = [line for line in axes.lines if list(line.get_ydata()) == [0.05, 0.05]]
    assert len(level) == 1 and level[0].get_linestyle() == "--"
    assert "n = 480 pairs a line" in tight["discordance"].caption
    # Of 6 votes more, below 0.05 while at most 6 of 480 pairs changed.
    said = "self: p = 0.014 at 1.2 % to p = 0.78 at 100.0 %, below 0.05 up to a share of 1.2 %"
    assert said in tight["discordance"].alt


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


def hostile_figures(bad: str, style: str) -> list[figures.Figure]:
    """Figures in which a vendor, a hint and a category have this name."""

    def rename(estimates):
        new = {"gpt": bad, "self": bad, "math": bad}
        return [replace(each, where={k: new.get(v, v) for k, v in each.where.items()}) for each in estimates]

    published, asked = slopes("published"), [*effects("asked"), *names("asked")]
    shown = [
        figures.show_hint_slopes(rename(published + slopes("asked", ALL)), style=style),
        figures.show_hint_effects(rename(asked), conclusions={bad: bad, "full": "different"}, style=style),
        figures.show_category_groups(rename(categories("published") + categories("asked")), style=style),
        figures.show_group_metrics(rename(metrics("published") + metrics("asked", ALL)), style=style),
        figures.show_discordance(curves().replace("self", bad), style=style),
    ]
    assert all(bad in figure.alt for figure in shown)
    return shown


def small_figures(without, style: str) -> list[figures.Figure]:
    """Figures of a run whose numbers were changed by `without`."""
    return [
        figures.show_hint_slopes(without(slopes("simulated", ["none", "self"])), style),
        figures.show_hint_effects(without([*effects("simulated", ["self"]), *names("simulated")]), style=style),
        figures.show_category_groups(without(categories("simulated")), style),
        figures.show_group_metrics(without(metrics("simulated")), style),
    ]


SHOWS = (
    (figures.show_hint_slopes, slopes, r"self_bias\[vendor, hint\]"),
    (figures.show_hint_effects, effects, r"hint_effect\[hint, vendor\]"),
    (figures.show_category_groups, categories, r"category_average_self_bias\[category, hint\]"),
    (figures.show_group_metrics, metrics, r"deviation_from_expected\[hint\]"),
)


def test_many_vendors_and_all_hints_still_fit():
    vendors = ("claude", "gpt", "gemini", "llama", "qwen", "deepseek", "mistral")
    every = [
        rate("self_bias", {"vendor": v, "hint": h}, 20 + 3 * i + 2 * j, 160, "asked")
        for i, v in enumerate(vendors)
        for j, h in enumerate(chosen.HINTS)
    ]
    for style in ("neurips", "acl"):
        assert_readable(figures.show_hint_slopes(every, style), styles.style(style))
