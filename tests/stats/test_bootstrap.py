"""Resampling of clusters: intervals, and kinds of clusters drawn for clusters at the cost of a few."""

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
from helpers.stats.bootstrap import bca, bca_bounds, bca_totals, bias_corrected, drawn, noise_floor, resampled
from helpers.stats.intervals import MANY, Kinds, kinds_of, to_draw
from helpers.stats.tests import _sums_of_kinds, sign_flip
from studies.calibration.worlds.listwise import World, draw


def deviation(rates: np.ndarray) -> np.ndarray:
    return np.abs(rates - 1 / 3).mean(axis=-1)


def spread(rates: np.ndarray) -> np.ndarray:
    return rates.std(axis=-1)


def skewed(clusters: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.gamma(0.7, size=(clusters, 3)), np.ones((clusters, 3))


def test_replicates_that_differ_from_the_value_by_rounding_alone_are_ties() -> None:
    """Sums of the same numbers in another order: which way they round is the processor's, the bounds are not."""
    rng = np.random.default_rng(7)
    exact = rng.integers(20, 60, 2000) / 100
    jackknife = rng.normal(0.4, 0.01, 30)
    assert 20 < (exact == 0.4).sum() < 80
    apart = (np.nextafter(exact, 0), np.nextafter(exact, 1), np.where(rng.random(2000) < 0.5, exact, exact + 1e-15))
    for rounded in apart:
        assert bca_bounds(0.4, rounded, jackknife) == pytest.approx(bca_bounds(0.4, exact, jackknife), abs=1e-12)
    # Of ties half count as below: as if they were spread evenly to both sides.
    spread_out = np.where(exact == 0.4, 0.4 + np.where(np.cumsum(exact == 0.4) % 2, 1e-6, -1e-6), exact)
    assert bca_bounds(0.4, spread_out, jackknife) == pytest.approx(bca_bounds(0.4, exact, jackknife), abs=1e-3)


@pytest.mark.parametrize("rounding", [-1e-16, 0.0, 1e-16])
def test_a_bound_is_0_or_the_estimate_whichever_way_they_round(rounding: float) -> None:
    """Whether an interval leaves 0 out, or holds its own estimate, is not for the last bit of a sum to say."""
    values = np.random.default_rng(8).normal(0.15, 1, (60, 1))
    cut = bca_totals(values, lambda totals: np.maximum(totals[..., 0] / 60, 0) + rounding, 60, seed=1)
    assert cut.low == 0 < cut.value < cut.high

    def least(totals: np.ndarray) -> np.ndarray:
        """The estimate is the least that there is, and each draw of the same value rounds beyond it."""
        return np.maximum(totals[..., 0] / 60, values.mean()) + (rounding if totals.ndim > 1 else 0)

    half = bca_totals(values, least, 60, seed=1)
    assert half.low <= half.value == pytest.approx(values.mean()) and half.low == pytest.approx(half.value, abs=1e-12)


def test_bca_of_ratios_resamples_both_sums_of_a_cluster_together() -> None:
    rng = np.random.default_rng(4)
    d = rng.integers(1, 5, (60, 1)).astype(float)
    found = bca(0.25 * d, d, lambda rates: rates[..., 0], seed=1)
    assert found.value == 0.25 and math.isnan(found.low) and "nothing varies" in found.method


def test_the_same_seed_gives_the_same_interval_whatever_the_batches() -> None:
    x, d = skewed()
    assert bca(x, d, spread, seed=5) == bca(x, d, spread, seed=5)
    assert bca(x, d, spread, seed=5).low != bca(x, d, spread, seed=6).low
    many = resampled(np.ones((5000, 1)), lambda totals: totals[..., 0], seed=1, resamples=1000)
    assert many.shape == (1000,) and (many == 5000).all()


def test_where_bca_has_no_honest_interval_it_says_so() -> None:
    x, d = skewed(9)
    few = bca(x, d, spread, seed=1)
    assert math.isnan(few.low) and few.value > 0 and "below 10" in few.method
    assert math.isnan(bca(np.zeros((12, 2)), np.zeros((12, 2)), spread, seed=1).value)
    rare, once = np.zeros((12, 1)), np.zeros((12, 1))
    rare[0] = once[0] = 1.0
    undefined = bca(rare, once, lambda rates: rates[..., 0], seed=1)
    assert math.isnan(undefined.low)
    values = np.linspace(-1, 1, 20)[:, None]
    kink = bca_totals(values, lambda totals: np.abs(totals[..., 0]), 20, seed=1)
    assert kink.value == pytest.approx(0, abs=1e-12) and math.isnan(kink.low) and "at the edge" in kink.method
    # 40 questions of +1 and 40 of -1: fewer than one draw in a hundred sums to more than 24 to either side.
    even = np.repeat([1.0, -1.0], 40)[:, None]
    steps = bca_totals(even, lambda totals: np.trunc(totals[..., 0] / 25), 80, seed=1)
    assert steps.value == 0 and math.isnan(steps.low) and "most resamples give the estimate itself" in steps.method
    with pytest.raises(ValueError, match="clusters, columns"):
        bca(np.ones(12), np.ones(12), spread, seed=1)
    with pytest.raises(ValueError, match="finite"):
        bca(np.full((12, 1), np.nan), np.ones((12, 1)), spread, seed=1)


def test_the_floor_is_what_noise_alone_gives() -> None:
    # Independent normal rates with sd .04: the mean absolute deviation is .04 * sqrt(2 / pi).
    rng = np.random.default_rng(7)
    x = 0.6 + 0.04 * math.sqrt(400) * rng.standard_normal((400, 3))
    floor = noise_floor(x, np.ones_like(x), deviation, np.full(3, 1 / 3), seed=1, resamples=4000)
    assert floor == pytest.approx(0.04 * math.sqrt(2 / math.pi), rel=0.06)
    assert math.isnan(noise_floor(x[:9], np.ones((9, 3)), deviation, np.full(3, 1 / 3), seed=1))
    assert math.isnan(noise_floor(x, np.zeros_like(x), deviation, np.full(3, 1 / 3), seed=1))


def test_the_corrected_value_is_twice_the_estimate_less_the_mean_replicate() -> None:
    x, d = skewed()
    replicates = resampled(np.hstack([x, d]), lambda t: spread(t[..., :3] / t[..., 3:]), 3, 500)
    assert bias_corrected(x, d, spread, seed=3, resamples=500) == pytest.approx(
        2 * float(spread(x.mean(axis=0))) - replicates.mean(), abs=1e-12
    )
    assert math.isnan(bias_corrected(x[:9], d[:9], spread, seed=3))


#: Metrics of the published analysis at 80 questions without any bias, in pp, computed independently.
FLOORS = {"deviation": 3.2, "balance": 2.5, "consistency of 6": 4.6, "consistency of 3": 3.0}
NEUTRAL = World(alpha=(0.0, 0.0, 0.0), tau=(0.0, 0.0, 0.0), category_size=0.0, position=((0.0,) * 6,))


def columns_of(metric: str, world: World, seed: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """(C, m) sums of own first places (a column a vendor or a judge), or of all first places a vendor for balance."""
    sample = draw(world, 80, np.random.default_rng(seed))
    vendor = world.vendor_of
    if metric == "balance":
        picks = np.stack([(sample.top_vendor == v).sum(axis=1) for v in range(3)], axis=1)
        return picks.astype(float), np.full(picks.shape, 6.0)
    own = (sample.top_vendor == vendor).astype(float)
    if metric == "consistency of 6":
        return own, np.ones_like(own)
    pairs = own.reshape(80, 3, 2).sum(axis=2)
    return pairs, np.full(pairs.shape, 2.0)


@pytest.mark.parametrize("metric", FLOORS)
def test_metrics_of_absolute_values_have_a_floor_at_80_questions(metric: str) -> None:
    statistic = deviation if metric == "deviation" else spread
    truth, floors = [], []
    for run in range(400):
        x, d = columns_of(metric, NEUTRAL, [41, run])
        truth.append(float(statistic(x.sum(axis=0) / d.sum(axis=0))))
        if run < 40:
            floors.append(noise_floor(x, d, statistic, np.full(x.shape[1], 1 / 3), seed=run, resamples=400))
    error = np.std(truth) / math.sqrt(len(truth))
    # Printed to 0.1 pp, from another world of the same kind: half a unit of rounding, and simulation error.
    assert 100 * np.mean(truth) == pytest.approx(FLOORS[metric], abs=0.05 + 350 * error + 0.1)
    # The floor estimated from one sample alone hits the truth on average.
    assert np.mean(floors) == pytest.approx(np.mean(truth), abs=4 * error + 0.05 * np.mean(truth))


# --- kinds of clusters ------------------------------------------------------------------------------------------------

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
    for kinds in (kinds_of(FOUR), to_draw(FOUR)):
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


def share_spread(totals: np.ndarray) -> np.ndarray:
    return (totals[..., :3] / totals[..., 3:]).std(axis=-1)


def test_many_clusters_of_few_kinds_have_the_half_width_of_the_direct_bootstrap() -> None:
    sums, draws = votes(1200, 1), 2000
    kinds = to_draw(sums)
    assert len(kinds.counts) < 130 and kinds.counts.sum() == 1200
    rng = np.random.default_rng(11)
    direct = np.concatenate(
        [share_spread(sums[rng.integers(0, 1200, (50, 1200))].sum(axis=1)) for _ in range(draws // 50)]
    )
    ours = resampled(sums, share_spread, seed=3, resamples=draws)
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
    value, replicates = float(share_spread(total)), resampled(sums, share_spread, seed=1, resamples=500)
    from_clusters = bca_bounds(value, replicates, share_spread(total - sums))
    assert bca_bounds(value, replicates, share_spread(total - kinds.sums), counts=kinds.counts) == pytest.approx(
        from_clusters, rel=1e-12
    )
    # The counts carry it: without them the acceleration is another one.
    assert bca_bounds(value, replicates, share_spread(total - kinds.sums)) != pytest.approx(from_clusters, rel=1e-6)
    whole = bca(sums[:, :3], sums[:, 3:], lambda rates: rates.std(axis=-1), seed=1, resamples=500)
    assert (whole.low, whole.high) == pytest.approx(from_clusters, rel=1e-12)
    assert (whole.value, whole.clusters, whole.n) == (value, 1500, sums[:, 3:].sum())


def test_the_order_of_many_clusters_does_not_matter() -> None:
    sums = votes(1200, 3)
    turned = sums[np.random.default_rng(4).permutation(1200)]
    assert (resampled(sums, share_spread, 5, 200) == resampled(turned, share_spread, 5, 200)).all()


@pytest.mark.parametrize("sums", [votes(MANY - 1, 5), np.random.default_rng(6).random((MANY, 6)) + 1])
def test_few_clusters_and_clusters_without_a_kind_are_drawn_one_by_one(sums: np.ndarray) -> None:
    clusters = len(sums)
    weights = np.random.default_rng(9).multinomial(clusters, np.full(clusters, 1 / clusters), size=100)
    assert (resampled(sums, share_spread, 9, 100) == share_spread(weights @ sums)).all()


@pytest.mark.parametrize("few", [True, False])
def test_memory_does_not_grow_with_resamples_times_clusters(few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "MOST_WEIGHTS", 200_000)
    sums = votes(20_000, 7) if few else np.random.default_rng(7).random((2000, 6))
    tracemalloc.start()
    resampled(sums, share_spread, 1, 1000)
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
