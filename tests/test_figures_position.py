"""Figures of experiment 4: verdicts in both orders, what they say together, and how far that depends on the place."""

from __future__ import annotations

import random
from dataclasses import replace

import pandas as pd
import pytest

from helpers import figures
from helpers.biases import position
from helpers.figures import class_shares
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
from tests.test_figures_hinting import EACH_HOSTILE

NAN = float("nan")
#: Judge and candidate with what their source adds.
FEW = (
    ("gpt-4o", "gpt-4o-mini", "v0.1"),
    ("gemini-2.5-flash", "gemini-2.0-flash-lite-001", "v2.0"),
    ("DeepSeek-R1-Distill-Llama-70B", "Nexusflow__Athene-V2-Chat", "v0.1"),
)
ONE = FEW[1:2]
MANY = tuple((judge, f"{candidate}-{i}", head) for i in range(5) for judge, candidate, head in FEW)[:14]
CATEGORIES = ("hard_prompt", "creative_writing", "math", "coding", "roleplay", "extraction")
CHOICES = (("controlled", "1"), ("controlled", "3"), ("raw", "1"), ("raw", "3"))


def counts(data: str, names=FEW, size: int = 500) -> pd.DataFrame:
    """Verdict pairs of each comparison: mirrored ones most often, then the first place twice."""
    rows, rng = [], random.Random(4)
    for judge, candidate, head in names:
        for one in class_shares.GAMES:
            for two in class_shares.GAMES:
                kind = class_shares.kind_name(one, two)
                mean = {"mirrored": 60, "first twice": 14, "invalid": 0.4}.get(kind, 6) * size / 500
                if n := int(rng.expovariate(1 / mean)):
                    rows.append((f"{head}/{judge}/{candidate}", judge, candidate, one, two, n, data))
    # Strings of pandas hold no half characters, objects do.
    return pd.DataFrame(rows, columns=list(class_shares.COLUMNS), dtype=object).astype({"count": int})


def seed(data: str = "hub") -> pd.DataFrame:
    """The counts of the published notebook: 742 readable comparisons of 748."""
    odd = {
        ("A>>B", "A>>B"): 73, ("B>>A", "B>>A"): 14, ("A>>B", "A>B"): 9, ("B>A", "B>A"): 9, ("A>B", "A>>B"): 8,
        ("B>>A", "B>A"): 7, ("A>B", "A>B"): 4, ("B>A", "B>>A"): 4, ("B>A", "A=B"): 3, ("A=B", "B>A"): 2,
        ("B>>A", "A=B"): 1, ("A=B", "A>B"): 1, ("A>>B", "invalid"): 1, ("invalid", "B>A"): 1,
        ("invalid", "A>>B"): 2, ("invalid", "B>>A"): 1, ("invalid", "invalid"): 1,
        ("B>>A", "A>>B"): 500, ("A=B", "A=B"): 29, ("B>>A", "A>B"): 78,
    }  # fmt: skip
    rows = [("v2.0/gemini-2.5/qwq-32b", "gemini-2.5", "qwq-32b", *games, n, data) for games, n in odd.items()]
    return pd.DataFrame(rows, columns=list(class_shares.COLUMNS))


def where(names, **more: str) -> dict[str, str]:
    return {"judge": names[0], "candidate": names[1], **more}


def shares(data: str, names=FEW) -> list[Estimate]:
    found = []
    for i, each in enumerate(names):
        good, weak, bad, lost = 300 - 9 * i, 70 + 2 * i, 110 + 7 * i, 20
        for what, k in (("no_bias", good), ("weak_bias", weak), ("significant_bias", bad)):
            found.append(rate(what, where(each), k, 480, data))
            # One line had a single game.
            odd = k + lost - (i == 1) if what == "significant_bias" else k
            found.append(rate(f"{what}_published", where(each), odd, 500, data))
        found.append(rate("acceptable_rate", where(each), good + weak, 480, data))
        found.append(rate("acceptable_rate_published", where(each), good + weak, 500, data))
        found.append(rate("invalid_share", where(each), lost, 500, data))
    return found


def number(id: str, where: dict[str, str], value: float, half: float, data: str, unit: str = "pp") -> Estimate:
    ends = (value, value - half, value + half)
    return Estimate(id, where, *ends, n=480, clusters=240, unit=unit, method="question-clustered t", data=data)


def effects(data: str, names=FEW) -> list[Estimate]:
    found = []
    for i, each in enumerate(names):
        found.append(number("first_position_effect", where(each), 0.08 - 0.025 * i, 0.03, data))
        if i != 1:
            found.append(number("identical_pair_effect", where(each), 0.2 - 0.03 * i, 0.06, data))
        found.append(number("excess_flip", where(each), 0.01 * i, 0.02, data))
    return found


def categories(data: str, names=FEW, names_of=CATEGORIES) -> list[Estimate]:
    found = [number("first_position_effect", where(each), 0.05 - 0.01 * i, 0.02, data) for i, each in enumerate(names)]
    return found + [
        number("first_position_effect", where(each, category=c), 0.06 - 0.01 * i - 0.02 * k, 0.05, data)
        for i, each in enumerate(names)
        for k, c in enumerate(names_of)
    ]


def wins(data: str, names=FEW) -> list[Estimate]:
    return [
        number("win_rate", where(each, style=style, weight=weight), 0.45 + 0.02 * i + 0.03 * k, 0.04, data, "rate")
        for i, each in enumerate(names)
        for k, (style, weight) in enumerate(CHOICES)
    ]


def board(data: str, own: int = 13, third: int = 14) -> pd.DataFrame:
    """Two judges with a line of slope 0.9 through third-party models; the first judge is kind to its family."""
    rng, rows = random.Random(7), []
    for i in range(third + own):
        x = -3 + 4.5 * (i % max(third, 1)) / max(third - 1, 1)
        line = 0.9 * x - 0.3
        family = "third party" if i < third else "gemini-2.5" if i % 3 == 0 else "gpt-4.1"
        shift = {"third party": 0.0, "gemini-2.5": -0.9, "gpt-4.1": 0.7}[family]
        half = 0.5 + 0.03 * x * x
        y = line + shift + rng.gauss(0, 0.15)
        rows.append(
            (f"model-{i}-mini-high", family, "gemini-2.5", "gpt-4.1", x, y, line, line - half, line + half, data)
        )
    columns = ["model", "family", "judge_x", "judge_y", "x", "y", "line", "low", "high", "data"]
    return pd.DataFrame(rows, columns=columns)


def both(given, *more) -> list[Estimate] | pd.DataFrame:
    one, two = given("asked", FEW[:2], *more), given("simulated", FEW[1:], *more)
    return pd.concat([one, two]) if isinstance(one, pd.DataFrame) else [*one, *two]


SHOWS = (
    (figures.show_outcome_grid, counts),
    (figures.show_class_shares, shares),
    (figures.show_position_effects, effects),
    (figures.show_patterns, counts),
    (figures.show_category_effects, categories),
    (figures.show_sensitivity, wins),
)
ESTIMATES = [(show, given) for show, given in SHOWS if given is not counts]


def all_figures(style: str) -> list[figures.Figure]:
    """Every figure with simulated judges, and for one and many comparisons, of one source of data and of two."""
    made = [
        figures.show_leaderboard_contrast(board("simulated"), style, "leaderboard_contrast"),
        figures.show_leaderboard_contrast(board("published", 4), style, "leaderboard_contrast_one"),
        figures.show_leaderboard_contrast(
            pd.concat([board("asked", 3), board("simulated")]), style, "leaderboard_contrast_both"
        ),
        figures.show_outcome_grid(seed(), style, "outcome_grid_seed_one"),
        figures.show_patterns(seed(), style, "patterns_seed_one"),
    ]
    for show, given in SHOWS:
        name = show.__name__.removeprefix("show_")
        made += [
            show(given("simulated"), style=style, name=name),
            show(given("asked", ONE), style=style, name=f"{name}_one"),
            show(both(given), style=style, name=f"{name}_both"),
            show(given("hub", MANY), style=style, name=f"{name}_many"),
        ]
    return made


@pytest.fixture(scope="module")
def tight() -> dict[str, figures.Figure]:
    """Every figure in the narrowest columns."""
    return {figure.name: figure for figure in all_figures("acl")}


@pytest.mark.parametrize("style", EACH_STYLE)
def test_nothing_overlaps_or_leaves_the_figure_at_print_size(tight, style):
    assert_printable(tight.values() if style == "acl" else all_figures(style), style)


def test_a_dozen_grids_fit_on_a_page():
    figure = figures.show_outcome_grid(counts("hub", MANY[:12]), "acl")
    assert figure.figure.get_figheight() < 9.5
    assert_readable(figure, styles.style("acl"))


def test_simulated_is_said_on_the_face_and_only_there(tight):
    for name, figure in tight.items():
        assert_simulated(figure, not name.endswith(("_one", "_many")))
        assert not name.endswith("_both") or "asked judges" in [each.get_text() for each in texts(figure)], name


def test_captions_count_comparisons_and_only_the_unreadable_of_these():
    alien = rate("invalid_share", {"judge": "another", "candidate": "x"}, 90, 100, "asked")
    part = rate("invalid_share", where(FEW[0], category="math"), 90, 100, "asked")
    caption = figures.show_class_shares([*shares("asked"), alien, part]).caption
    assert "n = 480 comparisons a point, 80 questions, unreadable 4.0 % (60 of 1500 comparisons)" in caption
    assert "Intervals: 95 % (Wilson)." in caption
    beside = [each for each in shares("asked") if each.id == "invalid_share"]
    assert "unreadable 4.0 %" in figures.show_position_effects([*effects("asked"), *beside]).caption
    assert "unreadable share not given" in figures.show_position_effects(effects("asked")).caption


# --- counts -----------------------------------------------------------------------------------------------------------


def test_verdict_pairs_have_the_kinds_of_the_published_notebook():
    table = class_shares.checked(seed())
    assert table.groupby("kind")["count"].sum().to_dict() == {
        "mirrored": 529,
        "mirrored, other strength": 78,
        "first twice": 94,
        "second twice": 34,
        "one tie": 7,
        "invalid": 6,
    }


def test_the_grid_writes_each_count_and_outlines_the_same_place_and_the_same_answer(tight):
    figure = tight["outcome_grid_seed_one"]
    axes = figure.figure.axes[0]
    written = {
        (int(t.get_position()[1]), int(t.get_position()[0])): t.get_text()
        for t in axes.texts
        if not t.get_text().startswith("n") and t.get_text().isdigit()
    }
    assert written[0, 0] == "73" and written[4, 0] == "500" and written[4, 1] == "78" and written[5, 5] == "1"
    assert sum(map(int, written.values())) == 748
    frames = [patch for patch in axes.patches if not patch.get_fill()]
    blocks = {"solid": [], "dashed": []}
    for each in frames:
        dash = "solid" if each.get_linestyle() in ("-", "solid") else "dashed"
        blocks[dash].append((round(each.get_y()), round(each.get_x()), round(each.get_width())))
    assert blocks == {"solid": [(0, 0, 2), (3, 3, 2)], "dashed": [(0, 3, 2), (3, 0, 2), (2, 2, 1)]}
    assert [each.get_text() for each in axes.get_yticklabels()] == list(class_shares.GAMES)
    assert "n = 748 comparisons a judge and candidate, unreadable 0.8 % (6 of 748 comparisons)" in figure.caption
    assert "94 first twice, 6 invalid" in figure.alt
    assert "v2.0, n = 748" in [each.get_text() for each in texts(figure)]


def test_rows_of_one_cell_are_added_and_sources_are_never_pooled():
    twice = pd.concat([seed(), seed().assign(source="v2.1/gemini-2.5/qwq-32b")])
    figure = figures.show_outcome_grid(twice)
    assert sum(axes.get_visible() for axes in figure.figure.axes) == 2
    notes = [each.get_text() for each in texts(figure)]
    assert {"v2.0, n = 748", "v2.1, n = 748"} <= set(notes)
    figure = figures.show_outcome_grid(pd.concat([seed(), seed()]))
    assert "v2.0, n = 1496" in [each.get_text() for each in texts(figure)]


def test_many_sources_are_bars_sorted_by_the_first_place_over_the_second(tight):
    figure = tight["outcome_grid_many"]
    names, *_, axes = figure.figure.axes
    table = class_shares.checked(counts("hub", MANY))
    sums = table.pivot_table(index=["judge", "candidate"], columns="kind", values="count", aggfunc="sum")
    lead = ((sums["first twice"] - sums["second twice"]) / sums.sum(axis=1)).sort_values(ascending=False)
    candidates = [t.get_text() for t in names.texts if t.get_color() == "#6E6E6E"]
    assert candidates == [candidate for _, candidate in lead.index]
    assert sum(patch.get_width() for patch in axes.patches) == pytest.approx(1400)
    hatches = {patch.get_hatch() for patch in axes.patches}
    assert len(hatches) == 4


def test_patterns_are_the_inconsistent_ones_by_count(tight):
    axes = tight["patterns_seed_one"].figure.axes[0]
    named = [each.get_text() for each in axes.get_yticklabels()]
    assert named[0] == "A>>B \N{RIGHTWARDS ARROW} A>>B" and named[-1] == "9 others" and len(named) == 9
    numbers = [int(t.get_text()) for t in axes.texts if t.get_text().isdigit()]
    assert numbers == [73, 14, 9, 9, 8, 7, 4, 4, 13]
    widths = [patch.get_width() for patch in axes.patches]
    assert widths[0] == pytest.approx(100 * 73 / 748)
    all_of_them = figures.show_patterns(seed(), most=20)
    shown = [each.get_text() for each in all_of_them.figure.axes[0].get_yticklabels()]
    assert len(shown) == 17 and "? \N{RIGHTWARDS ARROW} ?" in shown and not any("others" in each for each in shown)
    table = seed()
    same = table[
        [class_shares.kind_name(a, b) == "mirrored" for a, b in zip(table["game_1"], table["game_2"], strict=True)]
    ]
    figure = figures.show_patterns(same)
    assert "none inconsistent" in [each.get_text() for each in texts(figure)]
    assert "no inconsistent comparison" in figure.alt


def test_one_source_that_failed_does_not_hide_the_patterns_of_the_others():
    failed = counts("hub", MANY[:1]).assign(game_1="invalid", game_2="invalid")
    for style in ("acl", "talk"):
        figure = figures.show_patterns(pd.concat([counts("hub", MANY[1:]), failed]), style)
        titles = [axes.get_title(loc="left") for axes in figure.figure.axes]
        assert not any("?" in each for each in titles) and len(titles) == 7
        assert_readable(figure, styles.style(style))


def test_wrong_counts_are_named():
    for show in (figures.show_outcome_grid, figures.show_patterns):
        with pytest.raises(ValueError, match=r"counts need rows with source, .* and data; given: 0 rows of nothing"):
            show(pd.DataFrame())
        with pytest.raises(ValueError, match="given: 0 rows of source, judge"):
            show(seed().iloc[:0])
        with pytest.raises(ValueError, match=r"game_1 A<B, \[\[A=B\]\]; there are: A>>B, .*, invalid"):
            show(seed().replace({"game_1": {"A=B": "[[A=B]]", "A>B": "A<B"}}))
        with pytest.raises(ValueError, match="game_2 None; there are"):
            show(seed().astype(object).replace({"game_2": {"invalid": None}}))
        for bad in (-1, 0.5, NAN):
            with pytest.raises(ValueError, match="counts are whole numbers from 0; row 0 has"):
                show(seed().astype({"count": float}).replace({"count": {73: bad}}))
    with pytest.raises(ValueError, match="at least one pattern"):
        figures.show_patterns(seed(), most=0)


# --- estimates --------------------------------------------------------------------------------------------------------


def judged(axes) -> list[str]:
    return [
        each.get_text() for each in axes.texts if each.get_color() == styles.INK and each.get_fontweight() != "bold"
    ]


def test_classes_are_stacked_to_all_comparisons_with_the_unreadable_apart(tight):
    names, own = tight["class_shares"].figure.axes
    assert judged(names) == ["DeepSeek-R1-\N{HORIZONTAL ELLIPSIS}l-Llama-70B", "gemini-2.5-flash", "gpt-4o"]
    widths = [patch.get_width() for patch in own.patches[:4]]
    # The third comparison: 282, 74 and 124 of 480 readable ones of 500.
    assert widths == pytest.approx([56.4, 14.8, 24.8, 4.0], abs=0.01)
    marks = [line.get_xdata() for line in own.lines if line.get_color() == styles.INK]
    assert len(marks) == 6
    low = next(e.low for e in shares("x") if e.id == "no_bias" and e.where == where(FEW[2]))
    assert marks[0][0] == pytest.approx(96 * low)
    assert legend_of(tight["class_shares"]) == ["mirrored", "mirrored, other strength", "not mirrored", "invalid"]
    assert "at most 4.0 pp more than here" in tight["class_shares"].caption, "of the published rule, which has no panel"


def test_class_shares_say_what_their_numbers_are_of(tight):
    """A file of ties written [A=B] has no unreadable verdict, and the published rule mirrors none of it."""
    at = {"judge": "j", "candidate": "c"}
    values = {"no_bias": 1.0, "weak_bias": 0.0, "significant_bias": 0.0, "invalid_share": 0.0, "no_bias_published": 0.0,
              "weak_bias_published": 0.0, "significant_bias_published": 1.0}  # fmt: skip
    ties = figures.show_class_shares([rate(id, at, round(112 * value), 112, "asked") for id, value in values.items()])
    assert "counts as not mirrored whatever it cannot read as stored: at most 100.0 pp more than here" in ties.caption
    for figure in (ties, tight["class_shares"]):
        assert ". Bars: of all comparisons; numbers here: of those with two readable verdicts. " in figure.alt


def legend_of(figure) -> list[str]:
    return [each.get_text() for each in figure.figure.legends[0].get_texts()]


def test_no_class_is_called_significant_where_nothing_is_tested(tight):
    published = [each for each in shares("published") if each.id.endswith("_published")]
    for figure in (tight["class_shares"], tight["class_shares_many"], figures.show_class_shares(published)):
        said = [figure.caption, figure.alt, *(each.get_text() for each in texts(figure))]
        assert "significant" not in " ".join(said).lower() and "nothing is tested" in figure.caption
        assert "not mirrored" in legend_of(figure) and "not mirrored, judge " in figure.alt
        assert len(figure.figure.axes) == 2, "one panel: the names, and the bars"
    found = [*shares("asked"), *(rate(id, where(each), 50, 480, "asked") for each in FEW
               for id in ("primacy_share", "recency_share"))]  # fmt: skip
    told = position.class_words(found)
    assert "significant" not in told and len(told.splitlines()) == 3
    assert "not mirrored in 25.8 % [" in told and "] of readable pairs (28.8 % [" in told, "both counts"


def test_one_way_of_counting_is_enough_and_a_missing_one_is_said():
    published = [each for each in shares("published") if each.id.endswith("_published")]
    figure = figures.show_class_shares(published)
    assert len(figure.figure.axes) == 2 and "published rule reads" in figure.caption
    widths = [patch.get_width() for patch in figure.figure.axes[1].patches]
    assert widths[:3] == pytest.approx([56.4, 14.8, 28.8]) and widths[6] == pytest.approx(0.2)
    assert legend_of(figure)[-1] == "not two games" and len(legend_of(figure)) == 4
    assert "Own classes" not in figure.caption and "unreadable share not published" in figure.caption
    some = [e for e in shares("asked") if e.id.endswith("_published") or e.where["judge"] != "gpt-4o"]
    some = [replace(e, value=NAN, low=NAN, high=NAN) if e.id == "weak_bias" else e for e in some]
    figure = figures.show_class_shares(some, "acl")
    said = [each.get_text() for each in texts(figure)]
    assert said.count("not estimable") == 2 and said.count("none") == 1
    assert_readable(figure, styles.style("acl"))


def test_position_effects_are_sorted_around_a_line_at_zero(tight):
    names, *axes = tight["position_effects"].figure.axes
    assert judged(names) == ["gpt-4o", "gemini-2.5-flash", "DeepSeek-R1-\N{HORIZONTAL ELLIPSIS}l-Llama-70B"]
    assert [axes[0].get_title(loc="left").replace("\n", " ")] == ["first place twice minus second twice"]
    assert [x for x, _ in points(axes[0])] == pytest.approx([8, 5.5, 3])
    assert [len(points(each)) for each in axes] == [len(intervals(each)) for each in axes] == [3, 2, 3]
    assert all(any(list(line.get_xdata()) == [0, 0] for line in each.lines) for each in axes)
    assert len({each.get_xlim() for each in axes}) == 1
    assert [each.get_text() for each in axes[1].texts] == ["not asked"]
    only = [each for each in effects("hub") if each.id == "first_position_effect"]
    figure = figures.show_position_effects(only)
    assert len(figure.figure.axes) == 2 and "identical" not in figure.caption and "flips" not in figure.caption
    assert "judge gpt-4o, candidate gpt-4o-mini: +8.0 pp [+5.0, +11.0]" in figure.alt
    assert "none" in [each.get_text() for each in texts(figures.show_position_effects(effects("hub")))]


def test_a_judge_has_its_vendors_marker_or_the_one_that_is_given():
    named = figures.show_position_effects(effects("asked", FEW[:1])).figure.axes[1].lines
    given = figures.show_position_effects(effects("asked", FEW[:1]), {"gpt-4o": "claude"}).figure.axes[1].lines
    markers = [[line.get_marker() for line in lines if len(line.get_xdata()) == 1] for lines in (named, given)]
    look = styles.style().looks(["gpt", "claude"])
    assert markers == [[look["gpt"].marker], [look["claude"].marker]]


def test_categories_stand_under_all_questions_and_none_is_dropped(tight):
    axes = tight["category_effects"].figure.axes[0]
    assert [each.get_text() for each in axes.get_yticklabels()] == ["all", *CATEGORIES]
    assert [x for x, _ in points(axes)] == pytest.approx([5, 6, 4, 2, 0, -2, -4])
    dotted = [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == ":"]
    assert dotted == pytest.approx([5])
    bare = [
        each
        for each in categories("asked")
        if "category" in each.where and each.where != where(FEW[0], category="math")
    ]
    figure = figures.show_category_effects(bare)
    assert "Dotted" not in figure.caption and "all" not in [
        e.get_text() for e in figure.figure.axes[0].get_yticklabels()
    ]
    assert [each.get_text() for each in figure.figure.axes[0].texts if each.get_text() == "none"] == ["none"]
    called = figures.show_category_effects(categories("asked", FEW, ("all", "none")))
    assert [len(points(axes)) for axes in called.figure.axes] == [3, 3, 3]


def test_choices_stand_under_the_headline(tight):
    axes = tight["sensitivity"].figure.axes[0]
    rows = [each.get_text() for each in axes.get_yticklabels()]
    assert rows == ["controlled, weight 1", "controlled, weight 3", "raw, weight 1", "raw, weight 3"]
    lines = {line.get_linestyle(): line.get_xdata()[0] for line in axes.lines if line.get_linestyle() in (":", "--")}
    assert lines == pytest.approx({":": 45, "--": 50})
    assert "The win rate of each judge and candidate under each choice; dashed: 50 %." in tight["sensitivity"].caption
    headline = [
        number("first_position_effect", where(FEW[0], choice=choice), 0.1 - 0.02 * i, 0.05, "asked")
        for i, choice in enumerate(("valid pairs", "invalid as ties", "own labels"))
    ]
    figure = figures.show_sensitivity(headline, "first_position_effect", ["choice"])
    assert "The first position effect of each" in figure.caption and "dashed: 0 pp" in figure.caption
    assert_readable(figure, styles.style())
    with pytest.raises(ValueError, match="several units: pp, rate"):
        figures.show_sensitivity([*wins("asked")[:1], replace(wins("asked")[1], unit="pp")])
    with pytest.raises(ValueError, match="name the keys of `where` that are choices"):
        figures.show_sensitivity(wins("asked"), choices=[])


def test_many_comparisons_are_rows_sorted_by_the_first_column(tight):
    for name in ("category_effects_many", "sensitivity_many", "position_effects_many"):
        axes = [each for each in tight[name].figure.axes if each.axison and each.get_visible()]
        first = [x for x, _ in points(axes[0])]
        assert len(first) == 14 and first == sorted(first, reverse=True), name
        assert len({each.get_xlim() for each in axes}) == 1, name
    titles = [axes.get_title(loc="left").replace("\n", "") for axes in tight["category_effects_many"].figure.axes]
    assert [each for each in titles if each and "judge" not in each] == ["all", *CATEGORIES]


def test_wrong_estimates_are_named_and_others_may_stand_beside():
    other = [rate("top1_rate", {"judge": "a", "vendor": "gpt"}, 1, 2, "asked")]
    beside = [*shares("asked"), *effects("asked"), *wins("asked"), *other]
    for show, given in ESTIMATES:
        needed = given("asked")[-1]
        with pytest.raises(ValueError, match=r"no estimates of \w+\[judge, candidate.*given: top1_rate"):
            show(other)
        with pytest.raises(ValueError, match=r"given: none"):
            show([])
        with pytest.raises(ValueError, match="more than one estimate"):
            show([*given("asked"), *given("asked")])
        same = [each for each in beside if each.id not in {e.id for e in given("asked")}]
        if show is not figures.show_class_shares:
            assert show([*same, *given("asked")]).alt == show(given("asked")).alt, needed.id


@pytest.mark.parametrize("style", (pytest.param("neurips", marks=pytest.mark.slow), "acl"))
def test_a_run_too_small_for_intervals_or_numbers_is_still_shown(style):
    for without in ({"low": NAN, "high": NAN}, {"low": NAN, "high": NAN, "value": NAN}):
        for show, given in ESTIMATES:
            for names in (FEW, MANY):
                few = [
                    replace(e, **without, method="no interval below 10 questions") for e in given("simulated", names)
                ]
                figure = show(few, style=style)
                assert_readable(figure, styles.style(style))
                assert "no interval below 10 questions" in figure.caption
                assert ("not estimable" in figure.alt) == ("value" in without)


# --- leaderboards -----------------------------------------------------------------------------------------------------


def test_a_leaderboard_names_own_families_with_their_distance_from_the_line(tight):
    figure = tight["leaderboard_contrast"]
    axes, beside = figure.figure.axes
    table = board("simulated")
    marks = [line for line in axes.lines if line.get_marker() not in ("None", "", None)]
    assert [len(line.get_xdata()) for line in marks] == [14, 4, 9]
    assert len({line.get_marker() for line in marks}) == 3
    own = table[table["family"] != "third party"].sort_values("y")
    gaps = [f"{gap:+.2f}".replace("-", "\N{MINUS SIGN}") for gap in own["y"] - own["line"]]
    assert [t.get_text().split()[-1] for t in sorted(beside.texts, key=lambda t: t.get_position()[1])] == gaps
    assert len(axes.collections) == 1, "the band"
    assert "n = 14 third-party and 13 own models" in figure.caption
    assert "model-14-mini-high (gpt-4.1): -3.00 and" in figure.alt


def test_leaderboards_without_a_line_or_with_too_many_names_say_so():
    no_line = board("hub", 3, 2).assign(line=NAN, low=NAN, high=NAN)
    figure = figures.show_leaderboard_contrast(no_line, "acl")
    assert "no third-party line" in [each.get_text() for each in texts(figure)]
    assert_readable(figure, styles.style("acl"))
    crowd = board("hub", 40).astype({"y": float})
    crowd.loc[20, "y"] = NAN
    for style in ("paper", "acl", "talk"):
        figure = figures.show_leaderboard_contrast(crowd, style)
        assert len(figure.figure.axes[1].texts) == 20
        assert_readable(figure, styles.style(style))
    assert "Only the 20 farthest" in figure.caption and "1 without both win rates" in figure.caption


def test_wrong_leaderboards_are_named():
    table = board("hub")
    with pytest.raises(ValueError, match=r"points need rows with model, .* and data; given: 0 rows of nothing"):
        figures.show_leaderboard_contrast(pd.DataFrame())
    with pytest.raises(ValueError, match=r"family openai; there are: third party, gemini-2\.5, gpt-4\.1"):
        figures.show_leaderboard_contrast(table.replace({"family": {"gpt-4.1": "openai"}}))
    with pytest.raises(ValueError, match=r"one judge_x a figure, not gemini-2\.5, o3"):
        figures.show_leaderboard_contrast(pd.concat([table, table.assign(judge_x="o3")]))


# --- names and bytes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", EACH_HOSTILE)
def test_hostile_names_are_names(bad, style="acl"):
    def renamed(names):
        return tuple((bad if i == 0 else judge, bad if i == 1 else c, bad) for i, (judge, c, _) in enumerate(names))

    shown = [show(given("asked", renamed(names)), style=style) for show, given in SHOWS for names in (FEW, MANY)]
    shown.append(figures.show_category_effects(categories("hub", FEW, (bad, "math")), style=style))
    shown.append(figures.show_category_effects(categories("hub", MANY, (bad, "math")), style=style))
    choices = [
        replace(each, where={**each.where, "style": bad}) for each in wins("asked") if each.where["style"] == "raw"
    ]
    shown.append(figures.show_sensitivity(choices, style=style))
    points = board("hub").replace({"judge_x": {"gemini-2.5": bad}, "family": {"gemini-2.5": bad}})
    shown.append(figures.show_leaderboard_contrast(points.replace({"model": {"model-14-mini-high": bad}}), style))
    for figure in shown:
        assert_readable(figure, styles.style(style))
        named = [each for each in texts(figure) if bad[:4] in each.get_text().replace("\n", "")]
        assert named and not any(each.get_parse_math() for each in named), figure.name
    assert shown[0].render("svg")


@pytest.mark.parametrize(
    "bad",
    (
        "half\ud800",
        "nul\x00",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("gpt\u202etsaf", " ", "line\nbreak")),
    ),
)
def test_signs_that_cannot_be_written_are_shown_as_replaced(bad):
    for show, given in SHOWS:
        figure = show(given("asked", ((bad, "c", "v1"), ("gpt-4o", bad, bad))), style="acl")
        (figure.caption + figure.alt).encode()
        assert figure.render("svg"), figure.name
    points = board("hub").astype({"model": object, "judge_x": object, "family": object})
    points.loc[0, "model"] = bad
    points["judge_x"] = pd.Series([bad] * len(points), dtype=object)
    points.loc[points["family"] == "gemini-2.5", "family"] = bad
    figure = figures.show_leaderboard_contrast(points)
    assert (figure.caption + figure.alt).encode() and figure.render("svg")


def test_files_embed_fonts_and_are_the_same_bytes_twice(tight):
    for name in ("outcome_grid", "class_shares_both", "position_effects", "patterns_many", "leaderboard_contrast"):
        pdf = tight[name].render("pdf")
        assert b"/FontFile2" in pdf and b"/Type3" not in pdf
    again = [show(given("simulated"), style="acl") for show, given in SHOWS]
    assert all(tight[figure.name].render("png") == figure.render("png") for figure in again)
    board_again = figures.show_leaderboard_contrast(board("simulated"), style="acl")
    assert tight["leaderboard_contrast"].render("png") == board_again.render("png")
