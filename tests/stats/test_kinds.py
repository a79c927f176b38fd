"""Drawing kinds of clusters for clusters: the same distribution, the same intervals, at the cost of a few kinds."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from helpers.stats import bootstrap
from helpers.stats.bootstrap import bca, bca_bounds, drawn, resampled
from helpers.stats.intervals import FEW, MANY, Kinds, each_its_own, kinds_of, to_draw
from helpers.stats.tests import _sums_of_kinds, sign_flip

#: Four questions with hits and verdicts, of which two have the same.
FOUR = np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0], [2.0, 3.0]])


def every_resample(sums: np.ndarray) -> dict[tuple[float, ...], Fraction]:
    """How likely each total is when clusters are drawn with replacement, by writing down all ways of drawing them."""
    clusters = len(sums)
    ways = Counter(tuple(sums[list(way)].sum(axis=0)) for way in itertools.product(range(clusters), repeat=clusters))
    return {total: Fraction(count, clusters**clusters) for total, count in ways.items()}


def by_kinds(kinds: Kinds) -> dict[tuple[float, ...], Fraction]:
    """How likely each total is when so many of each kind are drawn by the multinomial law."""
    counts, clusters = [int(count) for count in kinds.counts], int(kinds.counts.sum())
    found: Counter[tuple[float, ...]] = Counter()
    for way in itertools.product(range(clusters + 1), repeat=len(counts)):
        if sum(way) == clusters:
            ways = Fraction(math.factorial(clusters), math.prod(map(math.factorial, way)))
            shares = [Fraction(count, clusters) for count in counts]
            chance = ways * math.prod(share**many for share, many in zip(shares, way, strict=True))
            found[tuple(np.array(way) @ kinds.sums)] += chance
    return dict(found)


@pytest.mark.parametrize(
    ("sums", "kinds"),
    [
        (FOUR, [((0.0, 2.0), 1), ((1.0, 2.0), 2), ((2.0, 3.0), 1)]),
        (np.array([[0.5], [0.5], [-1.25], [0.5]]), [((-1.25,), 1), ((0.5,), 3)]),
        (np.array([[0.1 + 0.2, 1.0], [0.3, 1.0], [0.3, 1.0], [0.3, 1.0]]), [((0.3, 1.0), 3), ((0.1 + 0.2, 1.0), 1)]),
        (np.full((4, 2), 7.0), [((7.0, 7.0), 4)]),
        (np.array([[-1.0], [0.0], [1e-17], [0.0]]), [((-1.0,), 1), ((0.0,), 2), ((1e-17,), 1)]),
    ],
)
def test_kinds_have_the_distribution_of_all_resamples(sums: np.ndarray, kinds: list[tuple]) -> None:
    found = kinds_of(sums)
    assert [(tuple(row), count) for row, count in zip(found.sums.tolist(), found.counts, strict=True)] == kinds
    exact = every_resample(sums)
    assert sum(exact.values()) == 1
    assert _rounded(by_kinds(found)) == _rounded(exact)


def _rounded(chances: dict[tuple[float, ...], Fraction]) -> dict[tuple[float, ...], Fraction]:
    """Totals that are equal on paper as one: sums taken in another order differ in their last digits."""
    found: Counter[tuple[float, ...]] = Counter()
    for total, chance in chances.items():
        found[tuple(round(value, 12) + 0.0 for value in total)] += chance
    return dict(found)


def test_what_is_drawn_has_that_distribution() -> None:
    exact, draws = every_resample(FOUR), 20_000
    assert min(exact.values()) == Fraction(1, 256)
    for kinds in (kinds_of(FOUR), each_its_own(FOUR)):
        seen = Counter(map(tuple, drawn(kinds, seed=8, resamples=draws).tolist()))
        assert set(seen) == set(exact)
        expected = [float(chance) * draws for chance in exact.values()]
        assert stats.chisquare([seen[total] for total in exact], expected).pvalue > 0.001


def votes(clusters: int, seed: int) -> np.ndarray:
    """(C, 6): first places of three vendors among two judges each, and how many verdicts each had; some were lost."""
    rng = np.random.default_rng(seed)
    asked = np.where(rng.random((clusters, 3)) < 0.1, 1, 2)
    leaning = rng.beta(0.5, 0.8, (clusters, 3))
    return np.hstack([rng.binomial(asked, leaning), asked]).astype(float)


def spread(totals: np.ndarray) -> np.ndarray:
    return (totals[..., :3] / totals[..., 3:]).std(axis=-1)


def test_many_clusters_of_few_kinds_have_the_half_width_of_the_direct_bootstrap() -> None:
    sums, draws = votes(1200, 1), 2000
    kinds = to_draw(sums)
    assert len(kinds.counts) < 130 and kinds.counts.sum() == 1200
    rng = np.random.default_rng(11)
    direct = np.concatenate([spread(sums[rng.integers(0, 1200, (50, 1200))].sum(axis=1)) for _ in range(draws // 50)])
    ours = resampled(sums, spread, seed=3, resamples=draws)
    # The error of a ratio of two standard deviations of so many draws is 1 / sqrt(draws); resamples that shared their
    # draws would be too narrow by a factor.
    assert ours.std() / direct.std() == pytest.approx(1, abs=4 / math.sqrt(draws))
    assert ours.mean() == pytest.approx(direct.mean(), abs=4 * direct.std() * math.sqrt(2 / draws))
    assert stats.ks_2samp(ours, direct).pvalue > 0.001
    # Draws are of their own: neighbours are not alike.
    assert abs(np.corrcoef(ours[1:], ours[:-1])[0, 1]) < 4 / math.sqrt(draws)


def test_the_jackknife_of_kinds_is_that_of_clusters() -> None:
    sums = votes(1500, 2)
    kinds, total = to_draw(sums), sums.sum(axis=0)
    value, replicates = float(spread(total)), resampled(sums, spread, seed=1, resamples=500)
    from_clusters = bca_bounds(value, replicates, spread(total - sums))
    assert bca_bounds(value, replicates, spread(total - kinds.sums), counts=kinds.counts) == pytest.approx(
        from_clusters, rel=1e-12
    )
    # The counts carry it: without them the acceleration is another one.
    assert bca_bounds(value, replicates, spread(total - kinds.sums)) != pytest.approx(from_clusters, rel=1e-6)
    whole = bca(sums[:, :3], sums[:, 3:], lambda rates: rates.std(axis=-1), seed=1, resamples=500)
    assert (whole.low, whole.high) == pytest.approx(from_clusters, rel=1e-12)
    assert (whole.value, whole.clusters, whole.n) == (value, 1500, sums[:, 3:].sum())


def test_the_order_of_many_clusters_does_not_matter() -> None:
    sums = votes(1200, 3)
    turned = sums[np.random.default_rng(4).permutation(1200)]
    assert (resampled(sums, spread, 5, 200) == resampled(turned, spread, 5, 200)).all()


@pytest.mark.parametrize("sums", [votes(MANY - 1, 5), np.random.default_rng(6).random((MANY, 6)) + 1])
def test_few_clusters_and_clusters_without_a_kind_are_drawn_one_by_one(sums: np.ndarray) -> None:
    clusters = len(sums)
    weights = np.random.default_rng(9).multinomial(clusters, np.full(clusters, 1 / clusters), size=100)
    assert (resampled(sums, spread, 9, 100) == spread(weights @ sums)).all()


def test_many_clusters_without_a_kind_have_the_moments_and_quantiles_of_the_direct_bootstrap() -> None:
    """Heavy tails, in sorted order: blocks differ in all, and one cluster carries a fifth of the variance."""
    rng, draws, clusters = np.random.default_rng(21), 4000, FEW + 2500
    x = np.sort(rng.lognormal(0, 1, clusters))
    x[-1] = x.mean() + 0.5 * x[:-1].std() * math.sqrt(clusters)
    sums = np.column_stack([x * rng.random(clusters), x])
    kinds = to_draw(sums)
    assert len(kinds.counts) == clusters
    ours = drawn(kinds, 22, draws)
    centred = sums - sums.mean(axis=0)
    errors = np.sqrt((centred**2).sum(axis=0))
    # Means, variances and third cumulants of C draws with replacement are those of the clusters, times C.
    assert (np.abs(ours.mean(axis=0) - sums.sum(axis=0)) < 4 * errors / math.sqrt(draws)).all()
    assert np.cov(ours.T) == pytest.approx(centred.T @ centred, rel=0.1)
    third = ((ours - ours.mean(axis=0)) ** 3).mean(axis=0) / errors**3
    assert third == pytest.approx((centred**3).sum(axis=0) / errors**3, abs=6 * math.sqrt(15 / draws))
    direct = np.stack([sums[rng.integers(0, clusters, clusters)].sum(axis=0) for _ in range(draws)])
    for statistic in (lambda t: t[:, 0] / t[:, 1], lambda t: t[:, 1]):
        assert stats.ks_2samp(statistic(ours), statistic(direct)).pvalue > 0.001
        assert abs(np.corrcoef(statistic(ours)[1:], statistic(ours)[:-1])[0, 1]) < 4 / math.sqrt(draws)


@pytest.mark.parametrize("few", [True, False])
def test_memory_does_not_grow_with_resamples_times_clusters(few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "MOST_WEIGHTS", 200_000)
    sums = votes(20_000, 7) if few else np.random.default_rng(7).random((2000, 6))
    tracemalloc.start()
    resampled(sums, spread, 1, 1000)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All weights at once would be 16 MB of 2,000 clusters without a kind, 160 MB of 20,000.
    assert most < 8e6


def test_signs_of_kinds_have_the_distribution_of_all_patterns() -> None:
    values = np.array([0.5, -0.5, 1.0, 0.5, 2.0, -1.0])
    exact = Counter(float((values * signs).sum()) for signs in itertools.product((1, -1), repeat=len(values)))
    seen = Counter(_sums_of_kinds(kinds_of(np.abs(values)[:, None]), seed=2, draws=20_000).tolist())
    assert set(seen) == set(exact)
    expected = [20_000 * count / 2 ** len(values) for count in exact.values()]
    assert stats.chisquare([seen[total] for total in exact], expected).pvalue > 0.001


@pytest.mark.parametrize("lean", [0.02, 0.05])
def test_many_clusters_of_few_sizes_have_the_p_of_all_signs(lean: float) -> None:
    rng = np.random.default_rng(17)
    values = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], 3 * MANY) + np.where(rng.random(3 * MANY) < lean, 0.5, 0.0)
    found = sign_flip(values, seed=4)
    signs = 1 - 2 * rng.integers(0, 2, (4000, len(values)), dtype=np.int8)
    p = (np.abs(signs.astype(np.float32) @ values.astype(np.float32)) >= abs(values.sum()) - 1e-3).mean()
    assert found.clusters == (values != 0).sum() and not found.exact and found.smallest_p == 1e-4
    assert 0.001 < p < 0.999 and found.p == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) * (1 / 4000 + 1 / 9999)))
