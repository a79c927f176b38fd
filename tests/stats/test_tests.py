"""Tests, odds of pairs, margins and power against scipy, statsmodels and enumeration by hand."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers.stats.intervals import numbered, renumbered
from helpers.stats.models import paired_log_odds
from helpers.stats.power import detectable_effect, detectable_mcnemar, power_of, provable_margin, questions_for
from helpers.stats.tests import benjamini_hochberg, discordance, holm, mcnemar_exact, redeal, sign_flip
from tests.simulation import cr2_by_matrices

NAN = float("nan")


def test_few_clusters_are_enumerated() -> None:
    values = np.array([0.3, -0.1, 0.7, 0.2, 0.0, 0.4, NAN])
    flips = [
        abs(sum(s * v for s, v in zip(signs, values[[0, 1, 2, 3, 5]], strict=True)))
        for signs in product((1, -1), repeat=5)
    ]
    found = sign_flip(values, seed=1)
    assert found.exact and found.clusters == 5
    assert found.p == pytest.approx(np.mean(np.array(flips) >= 1.5 - 1e-12), abs=1e-12)
    assert found.smallest_p == 1 / 16


def test_five_clusters_cannot_reach_five_percent() -> None:
    assert sign_flip([9.0] * 5, seed=1).p == 0.0625 == sign_flip([9.0] * 5, seed=1).smallest_p
    assert sign_flip([9.0] * 6, seed=1).p == 0.03125


def test_many_clusters_are_drawn_with_the_seed() -> None:
    values = np.random.default_rng(2).normal(0.2, 1, 80)
    found = sign_flip(values, seed=3)
    assert not found.exact and found == sign_flip(values, seed=3) and found.smallest_p == 1e-4
    # The exact p is near the t-test's; 9,999 draws leave an error of sqrt(p (1 - p) / 9999).
    p = stats.ttest_1samp(values, 0).pvalue
    assert found.p == pytest.approx(p, abs=0.01 + 4 * math.sqrt(p / 9999))
    assert sign_flip(np.ones(80), seed=1).p == 1e-4


def test_nothing_to_flip() -> None:
    assert sign_flip([0.0] * 20, seed=1).p == 1.0
    assert math.isnan(sign_flip([], seed=1).p) and math.isnan(sign_flip([NAN], seed=1).p)


def test_ties_of_float_sums_count_as_ties() -> None:
    # 0.1 + 0.2 - 0.3 is not 0 in floats; every |sum| of the opposite signs must still be >= the observed one.
    assert sign_flip([0.1, 0.2, -0.3], seed=1).p == 1.0


def test_holm_and_benjamini_hochberg_by_hand() -> None:
    p = [0.01, NAN, 0.04, 0.03]
    assert holm(p) == pytest.approx([0.03, NAN, 0.06, 0.06], abs=1e-9, nan_ok=True)
    assert benjamini_hochberg(p) == pytest.approx([0.03, NAN, 0.04, 0.04], abs=1e-9, nan_ok=True)
    assert holm([0.6, 0.7]) == pytest.approx([1.0, 1.0])
    assert np.isnan(holm([NAN, NAN])).all() and holm([]).shape == (0,)


def test_mcnemar_of_published_and_of_impossible_counts() -> None:
    # 94 against 34 first-position decisions of the published comparison: p = 1.1e-7.
    assert mcnemar_exact(94, 34) == pytest.approx(1.1e-7, abs=5e-9)
    assert mcnemar_exact(2, 8) == mcnemar_exact(8, 2) and mcnemar_exact(0, 0) == 1.0
    with pytest.raises(ValueError, match="whole numbers"):
        mcnemar_exact(-1, 2)


def test_thousands_of_clusters_are_drawn_too() -> None:
    values = np.random.default_rng(5).normal(0.0, 1, 5000)
    found = sign_flip(values, seed=3, draws=999)
    assert not found.exact and found.clusters == 5000
    assert found.p == pytest.approx(2 * stats.norm.sf(abs(values.sum()) / math.sqrt((values**2).sum())), abs=0.06)


# --- odds of pairs ----------------------------------------------------------------------------------------------------


def test_one_column_is_the_log_of_changes_up_over_changes_down() -> None:
    up, down = [2, 1, 1, 0, 3, 1, 0, 1, 2, 1, 1, 0], [1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0]
    found = paired_log_odds(np.array(up), np.array(down), 40)
    b, c = sum(up), sum(down)
    changed = [(x, y) for x, y in zip(up, down, strict=True) if x or y]
    residuals = [(x / b - y / c) / math.sqrt(1 - (x + y) / (b + c)) for x, y in changed]
    se = math.sqrt(sum(r * r for r in residuals))
    assert found.value == pytest.approx(math.log(13 / 7))
    assert found.se == pytest.approx(se) and found.clusters == 11 and found.n == 40
    # The log-odds of a share are linear in it: degrees of freedom are those of the share of changes up.
    rows = np.repeat(np.arange(11), [x + y for x, y in changed])
    df = cr2_by_matrices(np.ones((20, 1)), np.zeros(20), rows, np.ones(1))[2]
    assert found.df == pytest.approx(df) and found.low == pytest.approx(math.log(13 / 7) - stats.t.ppf(0.975, df) * se)


def test_two_columns_are_compared_within_clusters() -> None:
    rng = np.random.default_rng(1)
    up, down = rng.integers(0, 3, (40, 2)), rng.integers(0, 3, (40, 2))
    found = paired_log_odds(up, down, 80, (1.0, -1.0))
    (b1, b2), (c1, c2) = up.sum(axis=0), down.sum(axis=0)
    assert found.value == pytest.approx(math.log(b1 / c1) - math.log(b2 / c2))
    left = np.sqrt(1 - (up + down) / (up + down).sum(axis=0))
    residuals = (up[:, 0] / b1 - down[:, 0] / c1) / left[:, 0] - (up[:, 1] / b2 - down[:, 1] / c2) / left[:, 1]
    assert found.se == pytest.approx(math.sqrt(sum(residuals**2)))


def test_a_count_of_zero_is_a_half_and_widens_the_interval() -> None:
    found = paired_log_odds(np.ones(12), np.zeros(12), 12)
    assert found.value == pytest.approx(math.log(24)) and found.se == pytest.approx(math.sqrt(2 + 1 / 11))
    assert "1/2" in found.method and found.low < 0 < found.value, "twelve changes, but one number is made up"
    two = paired_log_odds(np.tile([1.0, 1.0], (12, 1)), np.tile([0.0, 1.0], (12, 1)), 12, (1.0, -1.0))
    assert two.value == pytest.approx(math.log(24)) and two.se == pytest.approx(math.sqrt(2 + 1 / 11))


def test_no_number_without_a_change_and_no_interval_of_few_clusters() -> None:
    nothing = paired_log_odds(np.zeros((20, 2)), np.zeros((20, 2)), 20, (1.0, -1.0))
    assert math.isnan(nothing.value) and nothing.method == "no verdict changed" and nothing.clusters == 0
    half = paired_log_odds(np.tile([1.0, 0.0], (20, 1)), np.tile([1.0, 0.0], (20, 1)), 20, (1.0, -1.0))
    assert math.isnan(half.value) and half.method == "no verdict changed"
    few = paired_log_odds(np.r_[np.full(9, 2.0), np.zeros(50)], np.r_[np.ones(9), np.zeros(50)], 59)
    assert few.value == pytest.approx(math.log(2)) and math.isnan(few.low) and few.clusters == 9
    one = paired_log_odds(np.array([2.0]), np.array([1.0]), 3)
    assert one.value == pytest.approx(math.log(2)) and math.isnan(one.se)


def test_a_common_shift_of_the_logit_is_found_whatever_the_items() -> None:
    """The expected changes of unequal items have the ratio exp(shift) exactly."""
    logits = np.array([-4.0, -1.0, 0.0, 0.3, 2.5, 6.0, -2.0, 1.0, 1.5, -0.5])
    before, after = (1 / (1 + np.exp(-(logits + shift))) for shift in (0.0, 0.7))
    found = paired_log_odds(after * (1 - before), before * (1 - after), 10)
    assert found.value == pytest.approx(0.7)


def test_wrong_shapes_and_values_are_refused() -> None:
    with pytest.raises(ValueError, match="need"):
        paired_log_odds(np.ones((5, 2)), np.ones((5, 2)), 5)
    with pytest.raises(ValueError, match="negative"):
        paired_log_odds(np.array([-1.0]), np.array([1.0]), 5)
    with pytest.raises(ValueError, match="finite"):
        paired_log_odds(np.array([np.nan]), np.array([1.0]), 5)


def test_clusters_that_look_too_alike_do_not_make_a_count_more_certain_than_it_is() -> None:
    # 12 clusters that all change 2 up and 1 down: the sandwich is 0, but 24 and 12 changes have their own variance.
    up, down = np.full(12, 2.0), np.full(12, 1.0)
    assert math.isnan(paired_log_odds(up, down, 36).se), "a spread of 0 is no interval"
    counted = paired_log_odds(up, down, 36, counted=(True,))
    assert counted.se == pytest.approx(math.sqrt(1 / 24 + 1 / 12)) and counted.value == pytest.approx(math.log(2))


def test_the_side_that_changed_in_fewer_clusters_decides_whether_there_is_an_interval() -> None:
    up = np.column_stack([[1.0] * 5 + [0.0] * 25, np.arange(30) % 2])
    down = np.column_stack([[0.0] * 4 + [1.0] * 3 + [0.0] * 23, (np.arange(30) + 1) % 2])
    found = paired_log_odds(up, down, 60, (1.0, -1.0))
    assert found.clusters == 7 and math.isnan(found.low) and not math.isnan(found.value)


# --- two counts without their pairing ---------------------------------------------------------------------------------


def test_discordance_is_the_exact_mcnemar_test() -> None:
    table = discordance(204, 211, 480)
    # 7 more: at least 7 changed sides; at most all 204 that were there left and all 211 came.
    assert (table["changed"].iloc[0], table["changed"].iloc[-1]) == (7, 204 + 211)
    assert table["p"].iloc[0] == pytest.approx(2 * 0.5**7)
    row = table.set_index("changed").loc[27]
    assert row["p"] == pytest.approx(stats.binomtest(17, 27).pvalue) and row["share"] == 27 / 480
    assert (table["p"] - [stats.binomtest((c + 7) // 2, c).pvalue for c in table["changed"]]).abs().max() < 1e-12
    assert table["p"].is_monotonic_increasing
    assert (discordance(211, 204, 480)["p"] == table["p"]).all()


def test_counts_near_the_top_bound_the_pairs_that_could_change() -> None:
    # 9 of 10 to 8 of 10: at most one that was out came in, and two left.
    assert discordance(9, 8, 10)["changed"].tolist() == [1, 3]


@pytest.mark.parametrize("counts", [(11, 2, 10), (-1, 2, 10), (0, 0, 0)])
def test_impossible_counts_are_refused(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="expected counts from 0 to n"):
        discordance(*counts)


# --- power ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("df", [1, 2, 5, 9.3, 20, 49, 79, 159, 239.7, 793, 5000])
def test_an_effect_is_detectable_at_every_level_and_found_as_often_as_promised(df: float) -> None:
    """However many tests a correction is for; scipy's distribution function of t has holes where it is nearly 0."""
    for tests in (1, 2, 7, 20, 60, 147, 1000):
        level = 0.05 / tests
        assert power_of(detectable_effect(1.0, df, level=level), 1.0, df, level) == pytest.approx(0.8, abs=1e-6)
        powers = [power_of(effect, 1.0, df, level) for effect in np.linspace(0.0, 80.0, 161)]
        assert powers[0] == pytest.approx(level) and (np.diff(powers) >= -1e-9).all() and powers[-1] <= 1.0


def test_the_documents_detectable_effects() -> None:
    # Smallest detectable effects in pp at 80 questions: average 5.3 (SE 1.9), two groups 7.1 (SD of difference 2.53),
    # excess 11 (SE 3.9); position at 742 questions 4.2 (SE 1.50). The table takes 1.96 + 0.84, we the t quantiles.
    for se, df, effect in ((1.9, 79, 5.3), (2.53, 79, 7.1), (3.9, 79, 11), (1.5, 741, 4.2)):
        assert detectable_effect(se, df) == pytest.approx(effect, rel=0.02)


def test_equivalence_at_80_and_180_questions() -> None:
    # TOST at +-5 pp: 24 % power at 80 questions, about 180 for 80 %.
    assert provable_margin(2.53, 79, power=0.24) == pytest.approx(5.0, abs=0.02)
    need = questions_for(2.53, 80, 5.0, provable_margin)
    assert need == pytest.approx(180, rel=0.03)
    least, less = (provable_margin(2.53 * math.sqrt(80 / count), count - 1) for count in (need, need - 1))
    assert least <= 5.0 < less
    assert questions_for(2.53, 80, 0.0, provable_margin) == math.inf
    assert math.isnan(questions_for(float("nan"), 80, 1.0))
    assert math.isnan(detectable_effect(float("nan"), 79))


def test_the_provable_margin_by_simulation() -> None:
    rng = np.random.default_rng(2)
    draws = rng.normal(0, 1, (20_000, 40))
    se = draws.std(axis=1, ddof=1) / math.sqrt(40)
    shown = np.abs(draws.mean(axis=1)) + 1.684875 * se < 0.5
    assert provable_margin(1 / math.sqrt(40), 39, shown.mean()) == pytest.approx(0.5, abs=0.01)


def test_no_difference_is_detectable_where_even_all_pairs_would_not_do() -> None:
    # Five pairs that all change to one side have the two-sided p 1/16.
    assert math.isnan(detectable_mcnemar(5, 0)) and not math.isnan(detectable_mcnemar(6, 0))
    assert math.isnan(detectable_mcnemar(0, 0))


# --- labels as numbers ------------------------------------------------------------------------------------------------

FORMS = ["str", object, "category", pd.CategoricalDtype(["a", "b", "c", "unused"])]


@pytest.mark.parametrize("form", FORMS)
def test_labels_are_numbered_in_their_order_and_a_missing_one_has_no_number(form: object) -> None:
    whole, lacking = (pd.Series(labels, dtype=form) for labels in (["c", "a", "c"], ["c", None, "a"]))
    numbers, labels = numbered(whole)
    assert numbers.tolist() == [1, 0, 1] and labels.tolist() == ["a", "c"]
    numbers, labels = numbered(lacking)
    assert numbers.tolist()[1] == -1 and [labels[number] for number in numbers[[0, 2]]] == ["c", "a"]


@pytest.mark.parametrize("size", [40, 10_000])
def test_numbers_without_gaps_keep_their_order(size: int) -> None:
    number, used = renumbered(np.array([39, 5, 39, 0]), size)
    assert number.tolist() == [2, 1, 2, 0] and used.tolist() == [0, 5, 39]


def test_nothing_is_numbered_to_nothing() -> None:
    assert numbered(pd.Series([], dtype="category"))[0].tolist() == []


# --- names dealt anew -------------------------------------------------------------------------------------------------


def every_deal(deals: list[str], winners: list[str], own: list[int], won: list[int], candidates: str) -> float:
    """The exact p of the mean effect: all ways to deal the own names, each as likely, one deal a name in `deals`."""
    size, names = len(candidates), sorted(set(deals))
    ways = [list(combinations(candidates, own[deals.index(name)])) for name in names]

    def mean(hits: list[int]) -> float:
        return float(np.mean([h / k - (1 - h) / (size - k) for h, k in zip(hits, own, strict=True)]))

    observed, extreme, total = abs(mean(won)), 0, 0
    for way in product(*ways):
        held = dict(zip(names, way, strict=True))
        hits = [int(winner in held[deal]) for deal, winner in zip(deals, winners, strict=True)]
        extreme += abs(mean(hits)) >= observed - 1e-12
        total += 1
    return extreme / total


CASES = {
    "one of four": (["a", "b", "c", "d", "e"], list("wwxyz"), [1] * 5, [1, 1, 0, 1, 0]),
    "two of four": (["a", "b", "c", "d"], list("wxyz"), [2] * 4, [0, 0, 0, 0]),
    "mixed counts": (["a", "b", "c", "d"], list("wxyz"), [1, 2, 3, 1], [1, 0, 1, 1]),
    "repeats of one deal": (["a", "a", "b", "b", "c", "c"], list("wxwwyz"), [1] * 6, [1, 0, 1, 1, 0, 0]),
    "three repeats": (["a", "a", "a", "b", "b", "b"], list("wxywxx"), [2] * 6, [1, 1, 0, 0, 1, 1]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_p_is_the_share_of_all_deals_that_are_as_extreme(case: str) -> None:
    deals, winners, own, won = CASES[case]
    exact = every_deal(deals, winners, own, won, "wxyz")
    weights = np.full((1, len(own)), 1 / len(own))
    (found,) = redeal(deals, winners, own, [4] * len(own), won, weights, seed=1, draws=40_000)
    assert abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / 40_000) + 1 / 40_000


def test_repeats_that_agree_are_no_new_evidence() -> None:
    once = (["a", "b", "c"], list("wxy"), [1] * 3, [1, 1, 1])
    twice = tuple(part * 2 for part in once)
    p = [
        redeal(deals, winners, own, [6] * len(own), won, np.full((1, len(own)), 1 / len(own)), 1)[0]
        for deals, winners, own, won in (once, twice)
    ]
    assert p == [pytest.approx(1 / 216, abs=0.003)] * 2


def test_several_statistics_share_their_deals_and_what_cannot_be_dealt_is_refused() -> None:
    weights = np.array([[1, 0, 0.0], [0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]])
    found = redeal(list("abc"), list("wxy"), [1] * 3, [2] * 3, [1, 1, 1], weights, 1)
    assert found == pytest.approx([1.0, 0.5, 0.25], abs=0.02)
    with pytest.raises(ValueError, match="0 < own < size"):
        redeal(["a"], ["w"], [2], [2], [1], np.ones((1, 1)), 1)
