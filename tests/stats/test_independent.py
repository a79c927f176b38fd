"""The statistics once more, by another way: other packages, published examples, and sums written out in the test.

To 1e-9, the rank-ordered logit to 1e-6. Beside these stand: Wilson and Newcombe, clustered means and alpha against its
package (test_intervals), the logit with a scale a judge and its sandwich (test_rank_logit), the odds of matched pairs
(test_tests).
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import count, product
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.stats.contingency_tables import mcnemar

from helpers.stats.agreement import alpha_of_coincidences, krippendorff_alpha
from helpers.stats.bootstrap import bca_bounds, bca_totals, resampled
from helpers.stats.intervals import cluster_sums, clustered
from helpers.stats.models import rank_ordered_logit
from helpers.stats.power import detectable_effect, detectable_mcnemar, provable_margin
from helpers.stats.tests import benjamini_hochberg, holm, mcnemar_exact, sign_flip
from studies.calibration.worlds.listwise import WORLDS, draw, frame
from tests.simulation import cr2_by_matrices

NAN = float("nan")


def test_stratified_clusters_are_the_strata_of_statsmodels_put_together() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"question": np.repeat(np.arange(36), 4)})
    rows["category"] = np.where(rows["question"] < 14, "math", "stem")
    rows["score"] = rng.normal(size=36)[rows["question"]] + rng.normal(size=144) + 2.0 * (rows["category"] == "stem")
    sums = cluster_sums(rows, "score", "question", strata="category")
    found = clustered(sums.numerators, sums.denominators, strata=sums.strata)
    mean, variance = 0.0, 0.0
    for _, part in rows.groupby("category"):
        fit = sm.OLS(part["score"].to_numpy(), np.ones(len(part))).fit(
            cov_type="cluster", cov_kwds={"groups": part["question"].to_numpy()}
        )
        mean += len(part) / 144 * fit.params[0]
        variance += (len(part) / 144 * fit.bse[0]) ** 2
    # Clusters are equal within strata of 14 and 22: Satterthwaite over the two variances.
    df = 36**2 / (14**2 / 13 + 22**2 / 21)
    reach = stats.t.ppf(0.975, df) * math.sqrt(variance)
    assert (found.value, found.low, found.high) == pytest.approx((mean, mean - reach, mean + reach), abs=1e-9)
    assert found.p == pytest.approx(2 * stats.t.sf(mean / math.sqrt(variance), df), abs=1e-9)
    assert found.df == pytest.approx(df) and found.effective == pytest.approx(36)


def test_unequal_clusters_in_strata_by_hand() -> None:
    # Right verdicts of so many, a question a pair; two categories of five questions each.
    right, read = [3, 0, 2, 1, 2, 4, 1, 0, 3, 2], [4, 1, 2, 3, 2, 4, 4, 2, 3, 5]
    right, read = right * 2, read * 2
    variance = Fraction(0)
    for at in (slice(0, 10), slice(10, 20)):
        total, share = sum(read[at]), Fraction(sum(right[at]), sum(read[at]))
        parts = zip(right[at], read[at], strict=True)
        variance += sum((x - share * d) ** 2 / (1 - Fraction(d, total)) for x, d in parts)
    se = math.sqrt(variance / sum(read) ** 2)
    found = clustered(np.array(right, float), np.array(read, float), strata=["a"] * 10 + ["b"] * 10)
    assert found.value == pytest.approx(18 / 30, abs=1e-12) and found.se == pytest.approx(se, abs=1e-12)
    assert "stratified" in found.method and found.df < 18


def test_a_contrast_of_unbalanced_columns_is_that_of_a_regression() -> None:
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"question": rng.integers(0, 25, 160), "judge": rng.integers(0, 2, 160)})
    rows["right"] = (rng.random(160) < 0.5 + 0.2 * rng.normal(size=25)[rows["question"]]).astype(float)
    sums = cluster_sums(rows, "right", "question", "judge")
    found = clustered(sums.numerators, sums.denominators, [-1.0, 1.0])
    design = np.column_stack([np.ones(160), rows["judge"]])
    fit = cr2_by_matrices(design, rows["right"].to_numpy(), rows["question"].to_numpy(), np.array([0.0, 1.0]))
    assert (found.value, found.se, found.df) == pytest.approx(fit, abs=1e-9)


def test_bca_bounds_by_hand_of_the_same_replicates() -> None:
    rng = np.random.default_rng(3)
    sums = np.column_stack([rng.gamma(1.0, size=30), rng.integers(1, 6, 30).astype(float)])

    def ratio(totals: np.ndarray) -> np.ndarray:
        return totals[..., 0] / totals[..., 1]

    value, normal = sums[:, 0].sum() / sums[:, 1].sum(), NormalDist()
    replicates = resampled(sums, ratio, seed=4, resamples=1500)
    bias = normal.inv_cdf(sum(each < value for each in replicates) / 1500)
    left_out = [(sums[:, 0].sum() - x) / (sums[:, 1].sum() - d) for x, d in sums]
    away = [sum(left_out) / 30 - each for each in left_out]
    acceleration = sum(each**3 for each in away) / (6 * sum(each**2 for each in away) ** 1.5)
    ordered, bounds = sorted(replicates), []
    for chance in (0.025, 0.975):
        z = bias + normal.inv_cdf(chance)
        place = normal.cdf(bias + z / (1 - acceleration * z)) * 1499
        below = math.floor(place)
        bounds.append(ordered[below] + (place - below) * (ordered[below + 1] - ordered[below]))
    assert bca_bounds(value, replicates, np.array(left_out)) == pytest.approx(tuple(bounds), abs=1e-9)
    whole = bca_totals(sums, ratio, 30, seed=4, resamples=1500)
    assert (whole.low, whole.high) == pytest.approx(tuple(bounds), abs=1e-9)
    assert whole.se == pytest.approx(np.std(replicates, ddof=1), abs=1e-9)


@pytest.mark.parametrize("values", [[1, 2, -1, 3, 0, 0, 2, 2], [0.5, -0.25, 0.25, 1.0, -0.5, 0.75, 0.25], [2, -2]])
def test_sign_flips_with_ties_and_zeros_are_scipys_and_by_hand(values: list[float]) -> None:
    theirs = stats.permutation_test((values,), np.sum, permutation_type="samples", n_resamples=np.inf)
    signs = list(product((1, -1), repeat=len(values)))
    hits = sum(abs(sum(s * v for s, v in zip(each, values, strict=True))) >= abs(sum(values)) for each in signs)
    found = sign_flip(values, seed=1)
    assert found.p == pytest.approx(hits / len(signs), abs=1e-12) and found.exact
    assert found.p == pytest.approx(min(theirs.pvalue, 1.0), abs=1e-9)


#: The 15 p-values of Benjamini and Hochberg (1995), section 3.2: at 5 % four stand by their rule, three by Holm's.
BH_1995 = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
           0.7590, 1.0]  # fmt: skip


def test_holm_and_benjamini_hochberg_of_a_published_example() -> None:
    shuffled = list(np.random.default_rng(5).permutation(BH_1995))
    stepped, raised, highest, lowest = {}, {}, 0.0, 1.0
    for place, p in enumerate(BH_1995):
        highest = max(highest, min(1.0, (15 - place) * p))
        stepped[p] = highest
    for place in range(15, 0, -1):
        lowest = min(lowest, 15 / place * BH_1995[place - 1])
        raised[BH_1995[place - 1]] = lowest
    assert holm(shuffled) == pytest.approx([stepped[p] for p in shuffled], abs=1e-9)
    assert benjamini_hochberg(shuffled) == pytest.approx([raised[p] for p in shuffled], abs=1e-9)
    assert benjamini_hochberg(shuffled) == pytest.approx(stats.false_discovery_control(shuffled), abs=1e-9)
    assert (holm(shuffled) <= 0.05).sum() == 3 and (benjamini_hochberg(shuffled) <= 0.05).sum() == 4


#: Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section C: four observers, twelve units.
UNITS = [
    [1, 1, None, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4], [4, 4, 4, 4],
    [1, 1, 2, 1], [2, 2, 2, 2], [None, 5, 5, 5], [None, None, 1, 1], [None, 3, None, None],
]  # fmt: skip


def test_krippendorffs_published_example() -> None:
    found = {level: krippendorff_alpha(np.array(UNITS, float), level, seed=1) for level in ("nominal", "ordinal")}
    assert found["nominal"].value == pytest.approx(0.743, abs=5e-4)
    assert found["ordinal"].value == pytest.approx(0.815, abs=5e-4)
    assert found["nominal"].n == found["ordinal"].n == 40 and found["nominal"].clusters == 11
    few = krippendorff_alpha(np.array(UNITS[:9], float), "nominal", seed=1)
    assert math.isnan(few.low) and not math.isnan(few.value) and "below 10" in few.method
    # And in exact fractions: coincidences of value c with value k, then disagreements.
    units = [[each for each in unit if each is not None] for unit in UNITS]
    pairs = Counter()
    for unit in (unit for unit in units if len(unit) > 1):
        for i, c in enumerate(unit):
            for j, k in enumerate(unit):
                pairs[c, k] += Fraction(i != j, len(unit) - 1)
    given = {c: sum(pairs[c, k] for k in range(1, 6)) for c in range(1, 6)}

    def ordinal(c: int, k: int) -> Fraction:
        between = sum(given[g] for g in range(min(c, k), max(c, k) + 1))
        return (between - Fraction(given[c] + given[k]) / 2) ** 2

    for level, distance in (("nominal", lambda c, k: Fraction(c != k)), ("ordinal", ordinal)):
        observed = sum(pairs[c, k] * distance(c, k) for c in given for k in given)
        expected = sum(given[c] * given[k] * distance(c, k) for c in given for k in given)
        exact = float(1 - 39 * observed / expected)
        table = np.array([[float(pairs[c, k]) for k in given] for c in given])
        assert found[level].value == pytest.approx(exact, abs=1e-9)
        # That of the resampled ones is own code, not the package's.
        assert alpha_of_coincidences(table.ravel(), level) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(("b", "c"), [(94, 34), (0, 6), (7, 7), (12, 1), (3, 4)])
def test_mcnemar_is_statsmodels_and_the_binomial_by_hand(b: int, c: int) -> None:
    theirs = mcnemar([[50, b], [c, 30]], exact=True).pvalue
    by_hand = min(1.0, 2 * sum(math.comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c))
    assert mcnemar_exact(b, c) == pytest.approx(theirs, abs=1e-9) and theirs == pytest.approx(by_hand, abs=1e-9)


@pytest.mark.parametrize(("df", "power", "level"), [(9, 0.8, 0.05), (79, 0.9, 0.01), (741, 0.8, 0.05 / 48)])
def test_the_detectable_effect_has_its_power_by_integration(df: int, power: float, level: float) -> None:
    shift, bound = detectable_effect(1.0, df, power, level), stats.t.ppf(1 - level / 2, df)
    # P(|Z + shift| > bound * S), S the root of chi-square(df) / df: no noncentral t anywhere.
    spread = stats.chi(df, scale=1 / math.sqrt(df))
    inside = spread.expect(
        lambda s: stats.norm.cdf(bound * s - shift) - stats.norm.cdf(-bound * s - shift), epsabs=1e-12
    )
    assert 1 - inside == pytest.approx(power, abs=1e-9)


def test_the_power_of_equivalence_is_that_of_two_tests() -> None:
    # One-sided at 5 %: what one of the two tests finds, twice less one, in the normal approximation of the shift.
    assert provable_margin(1.0, 60, 2 * stats.t.cdf(3 - 1.6706488649, 60) - 1) == pytest.approx(3.0, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "smaller", "level"), [(40, 3, 0.05), (100, 5, 0.05), (500, 13, 0.05 / 48), (90, 0, 0.05)]
)
def test_the_power_of_pairs_is_enumerated(n: int, smaller: int, level: float) -> None:
    least, q, power = detectable_mcnemar(n, smaller, level=level), smaller / n, 0.0
    changes = 2 * q + least
    for changed in range(n + 1):
        # What is never seen need not be written out.
        if (chance := stats.binom.pmf(changed, n, changes)) > 1e-12:
            few = next(up for up in count() if mcnemar_exact(up, changed - up) > level)
            ups = stats.binom(changed, (q + least) / changes)
            power += chance * (ups.cdf(few - 1) + ups.sf(changed - few))
    assert power == pytest.approx(0.8, abs=1e-4)


def rows_of(questions: int, seed: int) -> pd.DataFrame:
    return frame(draw(WORLDS["planted"], questions, np.random.default_rng([22, seed])))


@pytest.mark.parametrize("depth", [1, 3, None])
def test_with_one_scale_a_ranking_is_a_stratum_of_a_cox_model(depth: int | None) -> None:
    """The first place is the first to fail: the partial likelihood of ranks within judgments is the logit's."""
    rows = rows_of(40, 1).sort_values(["question_id", "judge", "candidate"]).reset_index(drop=True)
    fit = rank_ordered_logit(rows, depth=depth, one_scale=True)
    names = [name for name in fit.names if not name.startswith("log_scale")]
    base = [[name for name in names if name.startswith(kind)][-1] for kind in ("quality", "slot")]
    free = [name for name in names if name not in base]
    columns = np.column_stack([_column(rows, name, base) for name in free])
    strata, failed = rows.groupby(["question_id", "judge"]).ngroup(), rows["rank"] <= (depth or 6)
    theirs = PHReg(rows["rank"], columns, status=failed, strata=strata, ties="breslow")
    theirs = theirs.fit(groups=pd.factorize(rows["question_id"])[0])
    ours = dict(zip(fit.names, fit.values, strict=True))
    assert [ours[name] for name in free] == pytest.approx(list(theirs.params), abs=1e-6)
    at = [fit.names.index(name) for name in free]
    # Theirs is CR0; CR2 of 40 equal questions is nearly 40/39 of it.
    assert np.diag(fit.covariance)[at] == pytest.approx(np.diag(theirs.cov_params()) * 40 / 39, rel=0.1)


def _column(rows: pd.DataFrame, name: str, base: list[str]) -> np.ndarray:
    """The regressor of one effect; those that sum to zero are minus one at the last of their kind."""
    kind, _, key = name.partition("[")
    key = key.rstrip("]")
    if kind == "own_vendor":
        return (rows["own_vendor"] & (rows["judge_vendor"] == key)).to_numpy(dtype=float)
    if kind == "own_model":
        return rows["own_model"].to_numpy(dtype=float)
    values = rows["candidate"] if kind == "quality" else rows["slot"].astype(str)
    last = next(each for each in base if each.startswith(kind)).partition("[")[2].rstrip("]")
    return (values == key).to_numpy(dtype=float) - (values == last).to_numpy(dtype=float)
