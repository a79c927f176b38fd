"""Agreement against the package, and against alpha computed pair by pair."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from krippendorff import alpha
from scipy import stats

from helpers.stats.agreement import alpha_of_coincidences, krippendorff_alpha, raw_agreement
from studies.calibration.worlds.listwise import World, draw

NAN = float("nan")


def nominal_by_hand(table: list[list[object]]) -> float:
    """1 - observed / expected disagreement over all pairs of values, those of a unit weighted by 1 / (m_u - 1)."""
    observed, values = 0.0, []
    for row in table:
        given = [v for v in row if v is not None]
        if len(given) < 2:
            continue
        values += given
        observed += sum(a != b for i, a in enumerate(given) for k, b in enumerate(given) if i != k) / (len(given) - 1)
    n = len(values)
    expected = sum(a != b for i, a in enumerate(values) for k, b in enumerate(values) if i != k) / (n * (n - 1))
    return 1 - (observed / n) / expected


def test_nominal_alpha_by_hand_with_gaps() -> None:
    table = [["a", "a", None], ["b", "b", "b"], ["a", "c", "c"], ["c", None, None], ["b", "a", "b"]]
    found = krippendorff_alpha(np.array(table, dtype=object), "nominal", seed=1)
    assert found.value == pytest.approx(nominal_by_hand(table), abs=1e-9)
    assert found.n == 11 and found.clusters == 4
    assert math.isnan(found.low) and "below 10" in found.method


def test_alpha_is_the_packages_on_both_levels() -> None:
    rng = np.random.default_rng(1)
    ranks = np.clip(rng.integers(1, 7, (60, 1)) + rng.integers(-1, 2, (60, 6)), 1, 6).astype(float)
    ranks[rng.random(ranks.shape) < 0.1] = NAN
    for level in ("nominal", "ordinal"):
        expected = alpha(reliability_data=ranks.T, level_of_measurement=level)
        assert krippendorff_alpha(ranks, level, seed=1, resamples=50).value == pytest.approx(expected, abs=1e-9)


def test_resampled_alpha_is_the_alpha_of_the_resampled_units() -> None:
    rng = np.random.default_rng(2)
    ranks = rng.integers(1, 5, (20, 4)).astype(float)
    units = rng.integers(0, 20, 20)
    counts = (ranks[:, :, None] == np.arange(1, 5)).sum(axis=1)
    crossed = (counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(4)) / 3
    for level in ("nominal", "ordinal"):
        expected = alpha(reliability_data=ranks[units].T, value_domain=[1, 2, 3, 4], level_of_measurement=level)
        assert alpha_of_coincidences(crossed[units].sum(axis=0).ravel(), level) == pytest.approx(expected, abs=1e-9)


def test_units_of_one_question_stay_together() -> None:
    rng = np.random.default_rng(3)
    ranks = np.argsort(rng.random((40, 5, 6)), axis=2) + 1.0
    table, questions = ranks.transpose(0, 2, 1).reshape(240, 5), np.repeat(np.arange(40), 6)
    clustered, free = (krippendorff_alpha(table, "ordinal", seed=1, clusters=c) for c in (questions, None))
    assert clustered.clusters == 40 and free.clusters == 240 and clustered.value == free.value
    # Copies of the same questions carry no information that the questions do not.
    doubled = krippendorff_alpha(np.vstack([table, table]), "ordinal", seed=1, clusters=np.tile(questions, 2))
    assert doubled.se == pytest.approx(clustered.se, rel=0.1)
    assert krippendorff_alpha(np.vstack([table, table]), "ordinal", seed=1).se < 0.8 * free.se


def test_alpha_covers_its_population_value() -> None:
    world = World(sigma_u=1.5)
    large = draw(world, 30_000, np.random.default_rng([6, 0])).top_vendor
    truth = alpha(reliability_data=large.T, level_of_measurement="nominal")
    hits = 0
    for run in range(150):
        found = krippendorff_alpha(draw(world, 80, np.random.default_rng([6, 1, run])).top_vendor, "nominal", seed=run)
        hits += found.low <= truth <= found.high
    low, high = stats.binomtest(hits, 150).proportion_ci(0.999, method="exact")
    assert low <= 0.97 and high >= 0.93


def test_alpha_of_a_full_panel_is_quick() -> None:
    sample = draw(World(), 80, np.random.default_rng(1))
    ranks = (np.argsort(sample.ranking, axis=2) + 1.0).transpose(0, 2, 1).reshape(480, 6)
    start = time.process_time()
    krippendorff_alpha(ranks, "ordinal", seed=1, clusters=np.repeat(np.arange(80), 6))
    assert time.process_time() - start < 4


def test_alpha_is_undefined_without_two_values_or_two_judges() -> None:
    assert math.isnan(krippendorff_alpha(np.full((12, 3), 2.0), "ordinal", seed=1).value)
    alone = krippendorff_alpha(np.array([["a", None]] * 12, dtype=object), "nominal", seed=1)
    assert math.isnan(alone.value) and alone.n == 0 and "no two judges" in alone.method
    with pytest.raises(ValueError, match="nominal, ordinal"):
        krippendorff_alpha(np.ones((3, 2)), "interval", seed=1)
    with pytest.raises(ValueError, match="2 labels for 3 units"):
        krippendorff_alpha(np.ones((3, 2)), "nominal", seed=1, clusters=[1, 2])


def test_raw_agreement_counts_pairs() -> None:
    picks = np.array([["a", "a", "a"], ["a", "a", "b"], ["a", "b", None], ["a", None, None]] * 5, dtype=object)
    found = raw_agreement(picks)
    assert found.value == pytest.approx((3 + 1 + 0) / (3 + 3 + 1)) and found.clusters == 15 and found.n == 35
    pairs = np.tile([3.0, 3.0, 1.0], 5)
    away = np.tile([3.0, 1.0, 0.0], 5) - found.value * pairs
    assert found.se == pytest.approx(math.sqrt((away**2 / (1 - pairs / 35)).sum()) / 35, abs=1e-9)
    assert math.isnan(found.p)
