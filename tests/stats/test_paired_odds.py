"""Matched-pairs log odds against plain arithmetic, and what happens where there is nothing to divide."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from helpers.stats.own_vendor import paired_log_odds
from tests.simulation import cr2_by_matrices


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


def test_without_clustering_the_variance_is_that_of_two_counts() -> None:
    """One changed pair a cluster: 1/B + 1/C, but for the small-sample factor."""
    up, down = np.repeat([1.0, 0.0], [30, 20]), np.repeat([0.0, 1.0], [30, 20])
    assert paired_log_odds(up, down, 50).se ** 2 == pytest.approx(50 / 49 * (1 / 30 + 1 / 20))


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
