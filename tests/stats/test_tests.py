"""Sign flips, corrections and McNemar against scipy, statsmodels and enumeration by hand."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from helpers.stats.tests import benjamini_hochberg, holm, mcnemar_exact, sign_flip

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


def test_enumeration_is_scipys() -> None:
    values = np.random.default_rng(1).normal(0.4, 1, 12)
    theirs = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(values, seed=1).p == pytest.approx(theirs.pvalue, abs=1e-9)


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


def test_sign_flip_keeps_its_size() -> None:
    rng = np.random.default_rng(5)
    hits = sum(sign_flip(rng.standard_t(3, 40), seed=run, draws=399).p <= 0.05 for run in range(1000))
    low, high = stats.binomtest(hits, 1000).proportion_ci(0.999, method="exact")
    assert low <= 0.07 and high >= 0.03


def test_holm_and_benjamini_hochberg_by_hand() -> None:
    p = [0.01, NAN, 0.04, 0.03]
    assert holm(p) == pytest.approx([0.03, NAN, 0.06, 0.06], abs=1e-9, nan_ok=True)
    assert benjamini_hochberg(p) == pytest.approx([0.03, NAN, 0.04, 0.04], abs=1e-9, nan_ok=True)
    assert holm([0.6, 0.7]) == pytest.approx([1.0, 1.0])
    assert np.isnan(holm([NAN, NAN])).all() and holm([]).shape == (0,)


def test_mcnemar_is_the_binomial_of_the_discordant() -> None:
    # 94 against 34 first-position decisions of the published comparison: p = 1.1e-7.
    assert mcnemar_exact(94, 34) == pytest.approx(1.1e-7, abs=5e-9)
    by_hand = 2 * sum(math.comb(10, k) for k in range(3)) / 2**10
    assert mcnemar_exact(2, 8) == pytest.approx(by_hand, abs=1e-12) == mcnemar_exact(8, 2)
    assert mcnemar_exact(0, 0) == 1.0 and mcnemar_exact(5, 5) == 1.0
    with pytest.raises(ValueError, match="whole numbers"):
        mcnemar_exact(-1, 2)


def test_thousands_of_clusters_are_drawn_too() -> None:
    values = np.random.default_rng(5).normal(0.0, 1, 5000)
    found = sign_flip(values, seed=3, draws=999)
    assert not found.exact and found.clusters == 5000
    assert found.p == pytest.approx(2 * stats.norm.sf(abs(values.sum()) / math.sqrt((values**2).sum())), abs=0.06)
