"""Intervals and agreement against scipy, statsmodels and sums done by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from krippendorff import alpha
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from helpers.stats import intervals
from helpers.stats.agreement import krippendorff_alpha, raw_agreement
from helpers.stats.intervals import cluster_sums, clustered, clustered_mean, newcombe, t_interval, wilson
from studies.calibration.worlds.listwise import World, draw
from tests.simulation import cr2_by_matrices

NAN = float("nan")


@pytest.mark.parametrize(("k", "n"), [(0, 20), (94, 128), (160, 160), (3, 10)])
def test_wilson_is_the_formula_and_statsmodels(k: int, n: int) -> None:
    found = wilson(k, n)
    z, share = stats.norm.ppf(0.975), k / n
    middle, reach = share + z**2 / (2 * n), z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n * n))
    assert found.low == pytest.approx((middle - reach) / (1 + z**2 / n), abs=1e-9)
    assert found.high == pytest.approx((middle + reach) / (1 + z**2 / n), abs=1e-9)
    assert (found.low, found.high) == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-9)
    assert (found.value, found.n, found.clusters) == (k / n, n, n)


def test_wilson_gives_no_bounds_below_ten_and_nothing_for_nothing() -> None:
    assert math.isnan(wilson(3, 9).low) and wilson(3, 9).value == pytest.approx(1 / 3)
    assert "below 10" in wilson(3, 9).method
    assert math.isnan(wilson(0, 0).value) and wilson(0, 0).method == "no valid row"


@pytest.mark.parametrize(("k", "n"), [(-1, 20), (21, 20), (2.5, 20)])
def test_impossible_counts_are_refused(k: float, n: int) -> None:
    with pytest.raises(ValueError, match="0 <= k <= n"):
        wilson(k, n)


def test_newcombe_combines_the_two_score_intervals() -> None:
    # Newcombe 1998, table II, case (a): 56/70 - 48/80, method 10, printed as 0.0524 to 0.3339.
    found = newcombe(56, 70, 48, 80)
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    first, second = wilson(56, 70), wilson(48, 80)
    low = 0.2 - math.hypot(0.8 - first.low, second.high - 0.6)
    high = 0.2 + math.hypot(first.high - 0.8, 0.6 - second.low)
    assert (found.value, found.low, found.high) == pytest.approx((0.2, low, high), abs=1e-9)


def test_a_newcombe_interval_needs_two_samples() -> None:
    assert math.isnan(newcombe(0, 0, 4, 20).value)
    assert math.isnan(newcombe(4, 9, 4, 20).low) and newcombe(4, 9, 4, 20).value == pytest.approx(4 / 9 - 0.2)


def test_clustered_mean_is_the_cluster_robust_standard_error() -> None:
    rng = np.random.default_rng(1)
    clusters = rng.integers(0, 30, 200)
    values = rng.normal(size=200) + rng.normal(size=30)[clusters]
    found = clustered_mean(values, clusters, null=0.0)
    value, se, df = cr2_by_matrices(np.ones((200, 1)), values, clusters, np.ones(1))
    assert (found.value, found.se, found.df) == pytest.approx((value, se, df), rel=1e-9)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, df) * se, abs=1e-9)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(value) / se, df), abs=1e-9)
    assert (found.n, found.clusters) == (200, 30)
    assert found.effective == pytest.approx(200**2 / (np.bincount(clusters) ** 2).sum())


def test_a_small_stratum_means_no_strata() -> None:
    rng = np.random.default_rng(5)
    values, strata = rng.normal(size=30), np.repeat(["a", "b"], [4, 26])
    small, none = clustered(values, np.ones(30), strata=strata), clustered(values, np.ones(30))
    assert small == none and "stratified" not in small.method


def test_an_empty_cluster_counts_nowhere() -> None:
    rng = np.random.default_rng(6)
    x, d = rng.integers(0, 3, (20, 2)).astype(float), np.full((20, 2), 2.0)
    padded = clustered(np.vstack([x, np.zeros((3, 2))]), np.vstack([d, np.zeros((3, 2))]), [1, -1])
    assert padded == clustered(x, d, [1, -1])


def test_a_cluster_empty_in_one_column_is_that_of_a_regression() -> None:
    rng = np.random.default_rng(7)
    x, d = rng.random((15, 2)), np.ones((15, 2))
    x[0, 1] = d[0, 1] = 0.0
    found = clustered(x, d, [1.0, -1.0])
    design, kept = np.repeat(np.eye(2), 15, axis=0), d.T.ravel() > 0
    fit = cr2_by_matrices(design[kept], x.T.ravel()[kept], np.tile(np.arange(15), 2)[kept], np.array([1.0, -1.0]))
    assert (found.value, found.se, found.df) == pytest.approx(fit, abs=1e-9)
    assert found.clusters == 15 and found.n == 29


def test_where_no_interval_is_honest_the_reason_is_said() -> None:
    few = clustered(np.arange(9.0), np.ones(9))
    assert few.value == 4.0 and math.isnan(few.low) and math.isnan(few.se) and "below 10 questions" in few.method
    same = clustered(np.ones(20), np.ones(20))
    assert same.value == 1.0 and math.isnan(same.low) and "nothing varies" in same.method
    empty = clustered(np.zeros((12, 2)), np.column_stack([np.ones(12), np.zeros(12)]), [1, -1])
    assert math.isnan(empty.value) and empty.method == "no valid row"
    assert math.isnan(clustered(np.zeros((0, 1)), np.zeros((0, 1))).value)
    unused = clustered(
        np.column_stack([np.arange(12.0), np.zeros(12)]), np.column_stack([np.ones(12), np.zeros(12)]), [1, 0]
    )
    assert unused.value == 5.5 and unused.n == 12


def test_a_test_has_a_null_or_no_p() -> None:
    values = np.random.default_rng(8).random(20)
    assert math.isnan(clustered(values, np.ones(20), null=None).p)
    third = clustered(values, np.ones(20), null=1 / 3)
    assert third.p == pytest.approx(stats.ttest_1samp(values, 1 / 3).pvalue, abs=1e-9)


def test_nan_sums_and_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        clustered(np.array([1.0, NAN]), np.ones(2))
    with pytest.raises(ValueError, match=r"need \(C, m\)"):
        clustered(np.ones((12, 2)), np.ones((12, 2)), [1.0])


def test_cluster_sums_leave_nan_out_of_both_sums() -> None:
    frame = pd.DataFrame(
        {
            "question_id": ["q1", "q1", "q2", "q2", "q3"],
            "vendor": ["a", "b", "a", "a", "a"],
            "category": ["x", "x", "y", "y", "y"],
            "top": [1.0, 0.0, 1.0, NAN, NAN],
        }
    )
    sums = cluster_sums(frame, "top", "question_id", by="vendor", strata="category")
    assert sums.columns == ("a", "b") and list(sums.clusters) == ["q1", "q2", "q3"]
    assert sums.numerators.tolist() == [[1, 0], [1, 0], [0, 0]]
    assert sums.denominators.tolist() == [[1, 1], [1, 0], [0, 0]]
    assert list(sums.strata) == ["x", "y", "y"]
    whole = cluster_sums(frame, "top", "question_id")
    assert whole.columns == ("all",) and whole.denominators.ravel().tolist() == [2, 1, 0] and whole.strata is None
    pairs = cluster_sums(frame, "top", "question_id", by=["category", "vendor"])
    assert pairs.columns == (("x", "a"), ("x", "b"), ("y", "a"))
    ordered = frame.assign(vendor=pd.Categorical(frame.vendor, ["b", "a"], ordered=True))
    backwards = cluster_sums(ordered, "top", "question_id", by="vendor")
    assert backwards.columns == ("b", "a") and backwards.denominators.tolist() == [[1, 1], [0, 1], [0, 0]]
    nothing = cluster_sums(frame.iloc[:0], "top", "question_id", by="vendor", strata="category")
    assert nothing.numerators.shape == (0, 0) and nothing.columns == ()


@pytest.mark.parametrize("others", [0, 500])
def test_coded_labels_give_the_sums_of_texts(others: int) -> None:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "question_id": rng.permutation([f"q{number}" for number in range(20)] * 3),
            "vendor": pd.Series(rng.choice(["a", "b", None], 60), dtype="str"),
            "top": rng.choice([0.0, 1.0, NAN], 60),
        }
    )
    frame["category"] = frame["question_id"].str[:2]
    names = sorted({*frame["question_id"], *(f"q{number}" for number in range(others))})
    for rows in (frame, frame.dropna(subset=["vendor"]), frame[frame["question_id"] < "q15"], frame.iloc[:0]):
        coded = rows.astype({"vendor": pd.CategoricalDtype(["a", "b", "c"]), "category": "category"})
        coded["question_id"] = pd.Categorical(rows["question_id"], names)
        for by in ("vendor", "category", None, ["category", "vendor"]):
            texts, codes = (cluster_sums(each, "top", "question_id", by, "category") for each in (rows, coded))
            assert (codes.numerators == texts.numerators).all() and (codes.denominators == texts.denominators).all()
            assert codes.numerators.shape == texts.numerators.shape and str(codes.columns) == str(texts.columns)
            assert list(codes.clusters) == list(texts.clusters) and list(codes.strata) == list(texts.strata)


def test_codes_of_few_bits_hold_all_cells() -> None:
    questions = [f"q{number:03}" for number in range(100)]
    rows = pd.DataFrame({"question_id": questions * 3, "judge": np.repeat(["a", "b", "c"], 100), "top": 1.0})
    coded = rows.astype({"question_id": "category", "judge": "category"})
    assert coded["question_id"].cat.codes.dtype == np.int8, "of 300 cells it can tell 128"
    sums = cluster_sums(coded, "top", "question_id", "judge")
    assert (sums.numerators == np.ones((100, 3))).all() and list(sums.clusters) == questions


@pytest.mark.parametrize("block", [1, 7, 100, 101])
def test_sums_are_those_of_all_rows_wherever_these_are_divided(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit: each number is added in the order of the rows, as `bincount` does with all at once."""
    rng = np.random.default_rng(3)
    question, judge, value = rng.integers(0, 9, 100), rng.integers(0, 2, 100), rng.normal(size=100)
    value[rng.random(100) < 0.2] = NAN
    rows = pd.DataFrame({"q": question, "judge": judge, "v": value})
    monkeypatch.setattr(intervals, "BLOCK", block)
    sums = cluster_sums(rows, "v", "q", "judge")
    cell, counted = (question * 2 + judge)[~np.isnan(value)], value[~np.isnan(value)]
    assert (sums.numerators.ravel() == np.bincount(cell, counted, 18)).all()
    assert (sums.denominators.ravel() == np.bincount(cell, minlength=18)).all() and len(cell) < 100


def test_a_value_without_a_cluster_is_an_error_and_not_counted_elsewhere() -> None:
    frame = pd.DataFrame({"article": ["a", None, "b"], "judge": ["x", "y", "y"], "right": [1.0, NAN, 0.0]})
    assert cluster_sums(frame, "right", "article", "judge").denominators.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError, match="article is missing in a row that has a right"):
        cluster_sums(frame.fillna({"right": 1.0}), "right", "article", "judge")


@pytest.mark.parametrize("kind", ["str", "category"])
def test_a_question_in_two_strata_is_an_error_that_names_it(kind: str) -> None:
    frame = pd.DataFrame({"question_id": ["q1", "q1"], "category": ["x", "y"]}).astype(kind).assign(top=[1.0, 0.0])
    with pytest.raises(ValueError, match=r"question_id 'q1' .* x, y"):
        cluster_sums(frame, "top", "question_id", strata="category")


def test_clustered_mean_of_nothing_is_nan() -> None:
    assert math.isnan(clustered_mean([], []).value)
    assert math.isnan(clustered_mean([NAN] * 12, list(range(12))).value)


def test_t_interval_without_a_defined_error_has_no_bounds() -> None:
    found = t_interval(0.3, NAN, 79, 80, 80, "t")
    assert found.value == 0.3 and math.isnan(found.low) and "not defined" in found.method


# --- agreement --------------------------------------------------------------------------------------------------------


def test_alpha_is_the_packages_on_both_levels() -> None:
    rng = np.random.default_rng(1)
    ranks = np.clip(rng.integers(1, 7, (60, 1)) + rng.integers(-1, 2, (60, 6)), 1, 6).astype(float)
    ranks[rng.random(ranks.shape) < 0.1] = NAN
    for level in ("nominal", "ordinal"):
        expected = alpha(reliability_data=ranks.T, level_of_measurement=level)
        assert krippendorff_alpha(ranks, level, seed=1, resamples=50).value == pytest.approx(expected, abs=1e-9)


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
