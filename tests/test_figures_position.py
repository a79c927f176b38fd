"""Figures of experiment 4: verdicts in both orders, what they say together, and how far that depends on the place."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import partial

import pandas as pd
import pytest

from helpers import figures
from helpers.biases import position
from helpers.figures import pairs, style as styles
from helpers.figures.points import short
from helpers.types import Estimate
from tests import test_figures
from tests.test_figures import assert_readable, by_row, intervals, narrow, points, rate, rows_of, texts, widths
from tests.test_position import PATTERNS

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
#: An estimate on comparisons, with an interval of a half width.
number = partial(test_figures.pp, n=480, clusters=240, method="question-clustered t")
CHOICES = (("controlled", "1"), ("controlled", "3"), ("raw", "1"), ("raw", "3"))


def counts(data: str, names=FEW, size: int = 500) -> pd.DataFrame:
    """Verdict pairs of each comparison: mirrored ones most often, then the first place twice."""
    rows, rng = [], random.Random(4)
    for judge, candidate, head in names:
        for one in pairs.GAMES:
            for two in pairs.GAMES:
                kind = pairs.kind_name(one, two)
                mean = {"mirrored": 60, "first twice": 14, "invalid": 0.4}.get(kind, 6) * size / 500
                if n := int(rng.expovariate(1 / mean)):
                    rows.append((f"{head}/{judge}/{candidate}", judge, candidate, one, two, n, data))
    # Strings of pandas hold no half characters, objects do.
    return pd.DataFrame(rows, columns=list(pairs.COLUMNS), dtype=object).astype({"count": int})


def seed(data: str = "hub") -> pd.DataFrame:
    """The counts of the published notebook: 742 readable comparisons of 748."""
    odd = Counter[tuple[str, ...]]()
    for (one, two), n in PATTERNS.items():
        odd[tuple(each if each in pairs.GAMES else "invalid" for each in (one, two))] += n
    odd |= {("B>>A", "A>>B"): 500, ("A=B", "A=B"): 29, ("B>>A", "A>B"): 78}
    rows = [("v2.0/gemini-2.5/qwq-32b", "gemini-2.5", "qwq-32b", *games, n, data) for games, n in odd.items()]
    return pd.DataFrame(rows, columns=list(pairs.COLUMNS))


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


ESTIMATES = (
    (figures.show_class_shares, shares),
    (figures.show_position_effects, effects),
    (figures.show_category_effects, categories),
    (figures.show_sensitivity, wins),
)
DRAWN = ((figures.show_outcome_grid, counts), *ESTIMATES)
SHOWS = [(show, given, r"\w+\[judge, candidate.*") for show, given in ESTIMATES]


def all_figures(style: str) -> list[figures.Figure]:
    """Every figure with simulated judges, and for one and many comparisons, of one source of data and of two."""
    made = [
        figures.show_leaderboard_contrast(board("simulated"), style, "leaderboard_contrast"),
        figures.show_leaderboard_contrast(board("published", 4), style, "leaderboard_contrast_one"),
        figures.show_leaderboard_contrast(
            pd.concat([board("asked", 3), board("simulated")]), style, "leaderboard_contrast_both"
        ),
        figures.show_outcome_grid(seed(), style, "outcome_grid_seed_one"),
    ]
    for show, given in DRAWN:
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
    return {figure.name: figure for figure in narrow(all_figures)}


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


def test_verdict_pairs_have_the_kinds_of_the_published_notebook(tight):
    figure = tight["outcome_grid_seed_one"]
    kinds = dict(zip(pairs.KINDS, (529, 78, 7, 34, 94, 6), strict=True))
    assert widths(figure.figure.axes[0]) == pytest.approx([100 * count / 748 for count in kinds.values()])
    assert [each.get_text() for each in figure.figure.legends[0].get_texts()] == list(kinds)
    assert "n = 748 comparisons a judge and candidate, unreadable 0.8 % (6 of 748 comparisons)" in figure.caption
    assert "13 % first twice, 1 % invalid" in figure.alt and "n = 748" in [each.get_text() for each in texts(figure)]


def test_rows_of_one_cell_are_added_and_sources_are_never_pooled():
    twice = pd.concat([seed(), seed().assign(source="v2.1/gemini-2.5/qwq-32b")])
    rows = rows_of(figures.show_outcome_grid(twice))
    assert [row for row in rows if row.startswith("v2")] == ["v2.0", "v2.1"] and len(rows) == 4
    figure = figures.show_outcome_grid(pd.concat([seed(), seed()]))
    assert "n = 1496" in [each.get_text() for each in texts(figure)]


def test_bars_are_sorted_by_the_first_place_over_the_second(tight):
    table = counts("hub", MANY)
    table["kind"] = [pairs.kind_name(*games) for games in zip(table["game_1"], table["game_2"], strict=True)]
    sums = table.pivot_table(index="candidate", columns="kind", values="count", aggfunc="sum", fill_value=0)
    lead = ((sums["first twice"] - sums["second twice"]) / sums.sum(axis=1)).sort_values(ascending=False)
    figure = figures.show_outcome_grid(table)
    rows = [row.split("\n")[1] for row in rows_of(figure) if "\n" in row]
    heads = [name for name in rows_of(figure) if "\n" not in name]
    lead.index = [short(candidate, 26) for candidate in lead.index]
    assert sorted(rows) == sorted(lead.index) and heads == ["v0.1", "v2.0"]
    assert sum(widths(figure.figure.axes[0])) == pytest.approx(1400)
    for head in heads:
        mine = [each for each in MANY if each[2] == head]
        order = [candidate for candidate in lead.index if candidate in [short(each[1], 26) for each in mine]]
        assert [row for row in rows if row in order] == order


def test_wrong_counts_are_named():
    show = figures.show_outcome_grid
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


# --- estimates --------------------------------------------------------------------------------------------------------


def named(names) -> str:
    """A row's name, with the middle left out of a long one."""
    return f"{short(names[0], 26)}\n{short(names[1], 26)}"


def test_classes_are_stacked_to_all_comparisons_with_the_unreadable_apart(tight):
    figure = tight["class_shares"]
    axes = figure.figure.axes[0]
    assert rows_of(figure) == ["SIMULATED models", *(named(each) for each in FEW[::-1])]
    # The third comparison: 282, 74 and 124 of 480 readable ones of 500.
    assert widths(axes)[:4] == pytest.approx([56.4, 14.8, 24.8, 4.0], abs=0.01)
    marks = [span for span in intervals(axes)]
    assert len(marks) == 12, "two intervals a bar, each on a white ground"
    low = next(e.low for e in shares("x") if e.id == "no_bias" and e.where == where(FEW[2]))
    assert marks[0][1] == pytest.approx(96 * low)
    assert legend_of(figure) == ["mirrored", "mirrored, other strength", "not mirrored", "invalid"]
    assert "at most 4.0 pp more than here" in figure.caption, "of the published rule, which has no panel"


def test_class_shares_say_what_the_published_rule_counts_otherwise():
    """A file of ties written [A=B] has no unreadable verdict, and the published rule mirrors none of it."""
    at = {"judge": "j", "candidate": "c"}
    values = {"no_bias": 1.0, "weak_bias": 0.0, "significant_bias": 0.0, "invalid_share": 0.0, "no_bias_published": 0.0,
              "weak_bias_published": 0.0, "significant_bias_published": 1.0}  # fmt: skip
    ties = figures.show_class_shares([rate(id, at, round(112 * value), 112, "asked") for id, value in values.items()])
    assert "counts as not mirrored whatever it cannot read as stored: at most 100.0 pp more than here" in ties.caption
    assert ". Bars: of all comparisons; numbers here: of those with two readable verdicts. " in ties.alt


def legend_of(figure) -> list[str]:
    return [each.get_text() for each in figure.figure.legends[0].get_texts()]


def test_no_class_is_called_significant_where_nothing_is_tested(tight):
    published = [each for each in shares("published") if each.id.endswith("_published")]
    for figure in (tight["class_shares"], tight["class_shares_many"], figures.show_class_shares(published)):
        said = [figure.caption, figure.alt, *(each.get_text() for each in texts(figure))]
        assert "significant" not in " ".join(said).lower() and "nothing is tested" in figure.caption
        assert "not mirrored" in legend_of(figure) and "not mirrored, judge " in figure.alt
    found = [*shares("asked"), *(rate(id, where(each), 50, 480, "asked") for each in FEW
               for id in ("primacy_share", "recency_share"))]  # fmt: skip
    told = position.class_words(found)
    assert "significant" not in told and len(told.splitlines()) == 3
    assert "does not mirror its verdict in 25.8 % [" in told and "does not mirror it in 28.8 % [" in told, "both counts"


def test_one_way_of_counting_is_enough_and_a_missing_one_is_said():
    published = [each for each in shares("published") if each.id.endswith("_published")]
    figure = figures.show_class_shares(published)
    assert "published rule reads" in figure.caption
    assert widths(figure.figure.axes[0])[:3] == pytest.approx([56.4, 14.8, 28.8])
    assert "Own classes" not in figure.caption and "unreadable share not published" in figure.caption
    some = [e for e in shares("asked") if e.id.endswith("_published") or e.where["judge"] != "gpt-4o"]
    some = [replace(e, value=NAN, low=NAN, high=NAN) if e.id == "weak_bias" else e for e in some]
    figure = figures.show_class_shares(some, "acl")
    assert [each.get_text() for each in texts(figure)].count("none") == 2
    assert_readable(figure, styles.style("acl"))


def test_position_effects_are_sorted_around_a_line_at_zero(tight):
    figure = tight["position_effects"]
    axes = figure.figure.axes
    assert rows_of(figure) == ["SIMULATED models", *map(named, FEW)]
    assert axes[0].get_title(loc="left") == "first place twice\nminus second twice"
    assert [x for _, x, _ in by_row(figure)] == pytest.approx([8, 5.5, 3])
    assert [len(points(each)) for each in axes] == [len(intervals(each)) for each in axes] == [3, 2, 3]
    assert all([list(line.get_xdata()) for line in each.lines] == [[0, 0]] for each in axes)
    assert len({each.get_xlim() for each in axes}) == 1
    only = [each for each in effects("hub") if each.id == "first_position_effect"]
    figure = figures.show_position_effects(only)
    assert len(figure.figure.axes) == 1 and "identical" not in figure.caption and "flips" not in figure.caption
    assert "judge gpt-4o, candidate gpt-4o-mini: +8.0 pp [+5.0, +11.0]" in figure.alt
    assert "not asked" in [each.get_text() for each in texts(figures.show_position_effects(effects("asked")))]
    assert "none" in [each.get_text() for each in texts(figures.show_position_effects(effects("hub")))]


def test_categories_stand_under_all_questions_and_none_is_dropped(tight):
    figure = tight["category_effects_one"]
    assert rows_of(figure)[1:] == ["all questions", *CATEGORIES]
    assert [x for _, x, _ in by_row(figure)] == pytest.approx([5, 6, 4, 2, 0, -2, -4])
    bare = [each for each in categories("asked") if "category" in each.where]
    assert "all questions" not in rows_of(figures.show_category_effects(bare))
    many = figures.show_category_effects(categories("hub", MANY, CATEGORIES[:4]))
    titles = [axes.get_title(loc="left").replace("\n", " ") for axes in many.figure.axes]
    assert titles == ["all questions", *(each.replace("_", " ") for each in CATEGORIES[:4])]
    assert len(rows_of(many)) == 14
    assert [len(points(axes)) for axes in many.figure.axes] == [14] * 5


def test_choices_stand_under_the_headline(tight):
    figure = tight["sensitivity_one"]
    assert rows_of(figure)[1:] == ["controlled, weight 1", "controlled, weight 3", "raw, weight 1", "raw, weight 3"]
    assert [line.get_xdata()[0] for line in figure.figure.axes[0].lines] == [50]
    assert "of each judge and candidate under each choice; the first is the headline; dashed: 50 %." in figure.caption
    headline = [
        number("first_position_effect", where(FEW[0], choice=choice), 0.1 - 0.02 * i, 0.05, "asked")
        for i, choice in enumerate(("valid pairs", "invalid as ties", "own labels"))
    ]
    figure = figures.show_sensitivity(headline, "first_position_effect", ["choice"])
    assert "The first position effect of each" in figure.caption and "dashed: 0 pp" in figure.caption
    with pytest.raises(ValueError, match="name the keys of `where` that are choices"):
        figures.show_sensitivity(wins("asked"), choices=[])


def test_many_comparisons_are_rows_sorted_by_the_first_column(tight):
    for name in ("sensitivity_many", "position_effects_many"):
        first = [x for _, x, _ in by_row(tight[name])]
        assert len(first) == 14 and first == sorted(first, reverse=True), name
        assert len({each.get_xlim() for each in tight[name].figure.axes}) == 1, name


def small_figures(without, style: str) -> list[figures.Figure]:
    """Figures of a run whose numbers were changed by `without`."""
    return [show(without(given("simulated", names)), style=style) for show, given in ESTIMATES for names in (FEW, MANY)]


# --- leaderboards -----------------------------------------------------------------------------------------------------


def test_a_leaderboard_shows_how_far_own_families_lie_from_the_line(tight):
    figure = tight["leaderboard_contrast"]
    table = board("simulated")
    own = table[table["family"] != "third party"]
    gaps = (own["y"] - own["line"]).sort_values(ascending=False)
    found = [x for _, x, _ in by_row(figure)]
    assert sorted(found, reverse=True) == pytest.approx(list(gaps))
    heads = [row for row in rows_of(figure) if row.startswith("family")]
    assert heads == ["family of gemini-2.5", "family of gpt-4.1"]
    assert "fitted to 14 third-party models" in figure.caption
    # The grey of a row is as wide as the prediction interval of one more third-party model.
    spans = intervals(figure.figure.axes[0])
    assert len(spans) == 13 and all(high == -low > 0.4 for _, low, high in spans)


def test_leaderboards_without_a_line_say_so():
    no_line = board("hub", 3, 2).assign(line=NAN, low=NAN, high=NAN)
    figure = figures.show_leaderboard_contrast(no_line, "acl")
    assert [each.get_text() for each in texts(figure)].count("not estimable") == 3
    assert_readable(figure, styles.style("acl"))
    crowd = board("hub", 40).astype({"y": float})
    crowd.loc[20, "y"] = NAN
    figure = figures.show_leaderboard_contrast(crowd)
    assert_readable(figure, styles.style())
    assert "1 without both win rates" in figure.caption


def test_wrong_leaderboards_are_named():
    table = board("hub")
    with pytest.raises(ValueError, match=r"points need rows with model, .* and data; given: 0 rows of nothing"):
        figures.show_leaderboard_contrast(pd.DataFrame())
    with pytest.raises(ValueError, match=r"family openai; there are: third party, gemini-2\.5, gpt-4\.1"):
        figures.show_leaderboard_contrast(table.replace({"family": {"gpt-4.1": "openai"}}))
    with pytest.raises(ValueError, match=r"one judge_x a figure, not gemini-2\.5, o3"):
        figures.show_leaderboard_contrast(pd.concat([table, table.assign(judge_x="o3")]))


# --- names and bytes --------------------------------------------------------------------------------------------------


def hostile_figures(bad: str, style: str) -> list[figures.Figure]:
    """Figures in which a judge, a candidate, a category, a choice, a family and a model have this name."""

    def renamed(names):
        return tuple((bad if i == 0 else judge, bad if i == 1 else c, bad) for i, (judge, c, _) in enumerate(names))

    shown = [show(given("asked", renamed(names)), style=style) for show, given in DRAWN for names in (FEW, MANY)]
    shown.append(figures.show_category_effects(categories("hub", FEW, (bad, "math")), style=style))
    shown.append(figures.show_category_effects(categories("hub", MANY, (bad, "math")), style=style))
    choices = [
        replace(each, where={**each.where, "style": bad}) for each in wins("asked") if each.where["style"] == "raw"
    ]
    shown.append(figures.show_sensitivity(choices, style=style))
    points = board("hub").replace({"judge_x": {"gemini-2.5": bad}, "family": {"gemini-2.5": bad}})
    points = points.replace({"model": {"model-14-mini-high": bad}})
    return [*shown, figures.show_leaderboard_contrast(points, style)]


@pytest.mark.parametrize(
    "bad",
    (
        "half\ud800",
        "nul\x00",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("gpt\u202etsaf", " ", "line\nbreak")),
    ),
)
def test_signs_that_cannot_be_written_are_shown_as_replaced(bad):
    for show, given in DRAWN:
        figure = show(given("asked", ((bad, "c", "v1"), ("gpt-4o", bad, bad))), style="acl")
        (figure.caption + figure.alt).encode()
        assert figure.render("svg"), figure.name
    points = board("hub").astype({"model": object, "judge_x": object, "family": object})
    points.loc[0, "model"] = bad
    points["judge_x"] = pd.Series([bad] * len(points), dtype=object)
    points.loc[points["family"] == "gemini-2.5", "family"] = bad
    figure = figures.show_leaderboard_contrast(points)
    assert (figure.caption + figure.alt).encode() and figure.render("svg")
