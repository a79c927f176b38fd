"""Do the estimators hold what they promise, in worlds whose truth was planted? Seeds were fixed beforehand.

By the rule of `tests.rule`. The truth of a logit is its own value fitted on a very large sample of the same world,
never the planted utility. What is not tried here stands in calibration.csv (calibrated.yaml): tests run where no row
holds it, quick ones for gross errors.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from helpers.stats import models
from helpers.stats.bootstrap import bca
from helpers.stats.intervals import Interval, clustered
from helpers.stats.models import fit_panel, third_party_log_odds, third_party_log_odds_clustered
from helpers.stats.rank_logit import Panel
from studies.calibration import running
from studies.calibration.worlds.listwise import WORLDS, Draw, Latent, World, draw, judged, latent, panel
from tests.calibrated import assert_calibrated, expected_rows, stored
from tests.rule import assert_within, exact

ROWS = expected_rows()


@pytest.mark.parametrize(("experiment", "part"), ROWS)
def test_the_calibration_holds_what_is_not_repeated(experiment: str, part: str) -> None:
    assert ROWS[experiment, part]
    assert_calibrated(experiment, ROWS[experiment, part])


QUESTIONS = 80
FAST = 150
#: Of fits, which take their time; the rule refuses 9 misses of these.
FEW = 30
VENDORS = ("claude", "gpt", "gemini")

#: Here the logit FAILS the bias rule: the maximum likelihood estimate is a part of a standard deviation too high at 80
#: questions (listed after 2,000 replications had shown it; for other worlds calibration.csv tells it). Coverage stays
#: within the rule, so it is stated and bounded here, not corrected: a second-order
#: correction and a jackknife over groups of questions were tried, and blew up near flat directions.
BIASED = {"gemini", "gemini, effect"}
MOST_BIAS = 0.2


#: Documented standard errors at 80 questions. Third-party odds are of other answers in the world left out.
DOCUMENTED = {
    "average_self_bias": 0.019,
    "self_bias": 0.036,
    "excess_self_preference": 0.039,
    "third_party_log_odds": 0.2,
    "position_effect": 0.048 / 2.8,
}


def test_estimates_are_as_precise_as_documented() -> None:
    """Effects far above what can be found stay found when a standard error doubles; the error itself tells."""
    rows, _ = stored("mt_bench_blind")
    at = rows[(rows["questions"] == 80) & rows["id"].isin(DOCUMENTED)]
    at = at[(at["id"] != "third_party_log_odds") | (at["world"] != "homogeneous")]
    assert set(at["id"]) == set(DOCUMENTED)
    # An sd has an error of sd / root(2 runs): of fewer runs than the command makes, what two of them leave counts.
    unsure = np.where(at["runs"] < at["questions"].map(running.SIZES), (2 / at["given"]) ** 0.5, 0.0)
    vague = at[at["sd"] * (1 - unsure) > 1.2 * at["id"].map(DOCUMENTED)]
    assert vague.empty, vague[["world", "id", "where", "sd"]].to_dict("records")


def assert_covers(intervals: list[Interval], truth: float, what: str) -> None:
    hits = sum(interval.low <= truth <= interval.high for interval in intervals)
    assert_within(hits, len(intervals), 0.93, 0.97, f"{what}: intervals that hold {truth:.4f}")


def rejected(intervals: list[Interval]) -> int:
    return sum(not interval.low <= 0.0 <= interval.high for interval in intervals)


def assert_size(intervals: list[Interval], what: str) -> None:
    assert_within(rejected(intervals), len(intervals), 0.03, 0.07, f"{what}: runs that reject")


def bias_of(intervals: list[Interval], truth: float, truth_se: float) -> tuple[float, float]:
    """(bias in Monte-Carlo errors, that of the truth included; bias in standard deviations of one estimate)."""
    values = np.array([interval.value for interval in intervals])
    bias, sd = values.mean() - truth, values.std(ddof=1)
    return bias / math.hypot(sd / math.sqrt(len(values)), truth_se), bias / sd


def samples(world: str, runs: int, questions: int = QUESTIONS):
    return (draw(WORLDS[world], questions, np.random.default_rng([80, run])) for run in range(runs))


@cache
def population(world: str, questions: int, depth: int | None = None) -> models.RankLogit:
    fit = fit_panel(panel(draw(WORLDS[world], questions, np.random.default_rng([50_000, questions]))), depth)
    assert fit.converged
    return fit


@cache
def fitted(world: str, runs: int) -> tuple[models.RankLogit, ...]:
    """The fits that can be used; a fit that cannot is reported, has no number, and is rare at this size."""
    fits = [fit_panel(panel(sample)) for sample in samples(world, runs)]
    for fit in fits:
        assert fit.converged == (fit.problem == "") == bool(np.isfinite(fit.values).all())
    kept = tuple(fit for fit in fits if fit.converged)
    assert len(kept) >= 0.98 * runs
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("vendor", VENDORS)
def test_the_logit_keeps_its_size_when_questions_differ_too(vendor: str) -> None:
    # The population value is not exactly 0 here (next test), but so near that the size is not touched.
    assert_size([models.self_preference(fit, vendor) for fit in fitted("plain", 1000)], f"plain, {vendor}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "depth", "most"),
    [("plain", None, 0.02), ("unequal", None, 0.03), ("unequal", 1, 0.1), ("siblings_null", None, 0.06)],
)
def test_without_self_preference_the_population_value_is_small_but_not_zero(world: str, depth, most: float) -> None:
    # Answers that differ from question to question bend the model: at 80 questions 0.03 is a fifth of a standard error.
    found = [models.self_preference(population(world, 150_000, depth), vendor) for vendor in VENDORS]
    assert max(abs(interval.value) for interval in found) < most + 3.5 * max(interval.se for interval in found)


@pytest.mark.slow
def test_first_places_alone_mislead_when_siblings_are_alike_and_judges_unequal() -> None:
    # A limit, stated: near-duplicates split the first places, which sharp judges feel more (IIA does not hold).
    found = models.self_preference(population("siblings_null", 150_000, 1), "gpt")
    assert found.high < -0.1


def numbers(fit: models.RankLogit) -> dict[str, Interval]:
    found = {vendor: models.self_preference(fit, vendor) for vendor in VENDORS}
    effects = {f"{vendor}, effect": models.marginal_effect(fit, vendor) for vendor in VENDORS}
    return found | effects | {"slot": models.coefficient(fit, "slot[0]")}


@pytest.mark.parametrize(("runs", "large"), [(FEW, 8_000), pytest.param(1000, 150_000, marks=pytest.mark.slow)])
def test_the_logit_covers_its_population_value(runs: int, large: int) -> None:
    fits = [numbers(fit) for fit in fitted("strong_questions", runs)]
    for name, truth in numbers(population("strong_questions", large)).items():
        found = [each[name] for each in fits]
        assert_covers(found, truth.value, name)
        score, size = bias_of(found, truth.value, truth.se)
        assert abs(score) <= 3.5 or name in BIASED, f"{name}: bias of {score:.1f} errors"
        assert abs(size) < MOST_BIAS + 3.5 / math.sqrt(runs)


def test_few_questions_say_when_there_is_no_estimate() -> None:
    fits = [fit_panel(panel(sample)) for sample in samples("planted", 100, 20)]
    kept = [fit for fit in fits if fit.converged]
    assert 0.85 * len(fits) < len(kept) < len(fits)
    assert all(fit.problem and np.isnan(fit.values).all() for fit in fits if not fit.converged)


def top_counts(sample: Draw) -> np.ndarray:
    """(C, 3, 3) first places: rows judge vendors, columns candidate vendors; lost judgments count nowhere."""
    judge_vendor = sample.world.vendor_of
    picked = sample.top_vendor[:, :, None] == np.arange(3)
    return np.stack([picked[:, judge_vendor == v].sum(axis=1) for v in range(3)], axis=1).astype(float)


def test_third_party_log_odds_of_published_counts() -> None:
    counts = np.array([[48, 84, 28], [34, 103, 23], [39, 68, 53]])
    # Printed as 0.072, 0.477 and 0.774; the last is 0.77350 and was rounded twice.
    assert third_party_log_odds(counts) == pytest.approx([0.072, 0.477, 0.774], abs=6e-4)
    # By hand for GPT: third party Gemini against Claude's judges, third party Claude against Gemini's.
    gpt = (math.log(103 / 23) - math.log(84 / 28) + math.log(103 / 34) - math.log(68 / 39)) / 2
    assert third_party_log_odds(counts)[1] == pytest.approx(gpt, abs=1e-12)
    zero = counts.copy()
    zero[0, 2] = 0
    half = math.log(48 / 0.5) - math.log(34 / 23) + math.log(48 / 84) - math.log(39 / 68)
    assert third_party_log_odds(zero)[0] == pytest.approx(half / 2, abs=1e-12)
    with pytest.raises(ValueError, match="three vendors"):
        third_party_log_odds(np.ones((2, 2)))


def test_the_jackknife_of_log_odds_leaves_out_whole_questions() -> None:
    counts = top_counts(draw(WORLDS["plain"], 30, np.random.default_rng(1)))
    found = third_party_log_odds_clustered(counts)
    left_out = np.array([third_party_log_odds(np.delete(counts, c, axis=0).sum(axis=0)) for c in range(30)])
    se = np.sqrt(29 / 30 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    assert [interval.se for interval in found] == pytest.approx(list(se), abs=1e-12)
    assert found[0].high - found[0].value == pytest.approx(stats.t.ppf(0.975, 29) * se[0], abs=1e-9)
    assert found[0].n == 180 and found[0].clusters == 30
    assert math.isnan(third_party_log_odds_clustered(counts[:9])[0].low)
    assert math.isnan(third_party_log_odds_clustered(np.zeros((0, 3, 3)))[0].value)


def uneven(questions: int, times: np.ndarray, seed: int, preference: float = 0.0) -> Panel:
    """Judgments of questions that are asked so often each, by judges whose taste of a question stays the same."""
    rng = np.random.default_rng([90, seed])
    world = World(self_preference=(0.0, preference, 0.0))
    felt, asked = latent(world, questions, rng), np.repeat(np.arange(questions), times)
    again = Latent(
        *(each[asked] for each in (felt.utility, felt.slot, felt.category, felt.worth)), felt.habits, felt.length[asked]
    )
    found = panel(judged(world, again, rng))
    return replace(found, cluster=asked[found.cluster], clusters=questions)


#: 80 questions of which one holds 60 % of the judgments, or four hold 57 %.
TIMES = {"one": np.r_[np.ones(79, int), 119], "four": np.r_[np.ones(76, int), [25] * 4]}


def sizes_of(world: str, rng: np.random.Generator) -> np.ndarray:
    """Rows of 80 questions: four each, log-normal with deviation 1.2, or times as above."""
    if world == "log-normal":
        return np.maximum(1, np.round(4 * np.exp(rng.normal(0, 1.2, QUESTIONS)))).astype(int)
    return 4 * TIMES.get(world, np.ones(QUESTIONS, int))


def uneven_times(run: int) -> np.ndarray:
    """How often each of 80 questions is asked: log-normal with deviation 1.2."""
    return np.maximum(1, np.round(2 * np.exp(np.random.default_rng([92, run]).normal(0, 1.2, QUESTIONS)))).astype(int)


def uneven_rates(world: str, run: int, paired: bool, effect: float) -> tuple[Interval, float]:
    """A mean against 1/2, or the difference of two arms on the same questions, and how many equal ones would do."""
    rng = np.random.default_rng([91, run])
    sizes, quality = sizes_of(world, rng), rng.normal(0, 0.1, QUESTIONS)
    chance = [np.clip(0.5 + quality + each, 0, 1) for each in (effect, 0.0)]
    hits = np.column_stack([rng.binomial(sizes, each) for each in chance])
    effective = sizes.sum() ** 2 / (sizes**2).sum()
    if paired:
        return clustered(hits, np.column_stack([sizes, sizes]), [1.0, -1.0]), effective
    return clustered(hits[:, 0] - sizes / 2, sizes), effective


@pytest.mark.slow
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("world", ["equal", "one", "four", "log-normal"])
def test_means_and_differences_of_unequal_questions_keep_their_size(world: str, paired: bool) -> None:
    runs, effect = 2000, 0.15
    none, found = ([uneven_rates(world, run, paired, each) for run in range(runs)] for each in (0.0, effect))
    fair = [each for each, _ in none if each.low == each.low]
    assert len(fair) >= 0.95 * runs and rejected(fair) <= 0.07 * len(fair)
    assert np.mean([each.low <= effect <= each.high for each, _ in found]) >= 0.92
    # An oracle knows the standard error and takes t with as many degrees of freedom as there are effective questions.
    values = np.array([each.value for each, _ in none])
    oracle = [stats.t.ppf(0.975, many - 1) * values.std() for _, many in none]
    assert np.median([each.high - each.value for each in fair]) <= 1.6 * np.median(oracle)
    seen = [abs(each.value) > reach for (each, _), reach in zip(found, oracle, strict=True)]
    assert np.mean([each.p < 0.05 for each, _ in found]) >= np.mean(seen) - 0.1


@pytest.mark.slow
@pytest.mark.parametrize("unequal", [*TIMES, "log-normal"])
def test_unequal_questions_keep_size_and_coverage(unequal: str) -> None:
    runs, one_each = 400, np.ones(20_000, int)
    times = [TIMES.get(unequal, uneven_times(run)) for run in range(runs)]
    fits = [fit_panel(uneven(QUESTIONS, each, run)) for run, each in enumerate(times)]
    found = [models.self_preference(fit, vendor) for fit in fits for vendor in VENDORS]
    given = [each for each in found if each.low == each.low]
    assert len(given) >= 0.95 * len(found)
    # Nobody is partial; the population value is within 0.01 of 0, and three vendors share their runs.
    misses = rejected(given)
    assert exact(misses, len(given))[0] <= 0.07, f"{misses} of {len(given)}"
    planted = [fit_panel(uneven(QUESTIONS, each, run, 1.0)) for run, each in enumerate(times)]
    truth = models.self_preference(fit_panel(uneven(20_000, one_each, 7, 1.0)), "gpt").value
    found = [each for fit in planted if (each := models.self_preference(fit, "gpt")).low == each.low]
    assert len(found) >= 0.95 * runs
    assert np.mean([each.low <= truth <= each.high for each in found]) >= 0.92
    # An oracle as above: the standard error is known, and effective questions give the degrees of freedom.
    none = [models.self_preference(fit, "gpt") for fit in fits]
    error = np.nanstd([each.value for each in none])
    oracle = np.array([stats.t.ppf(0.975, each.sum() ** 2 / (each**2).sum() - 1) * error for each in times])
    assert np.nanmedian([each.high - each.value for each in none]) <= 1.6 * np.median(oracle)
    values = [models.self_preference(fit, "gpt").value for fit in planted]
    seen = np.mean([value > reach for value, reach in zip(values, oracle, strict=True)])
    assert np.mean([each.low > 0 for each in found]) >= seen - 0.1


def rate(sample: Draw, vendor: int) -> tuple[np.ndarray, np.ndarray]:
    """(C, 2) sums of first places for the vendor and of judgments, by its own judges and by the others."""
    own = sample.world.vendor_of == vendor
    picked, valid = sample.top_vendor == vendor, sample.valid
    return (
        np.column_stack([picked[:, own].sum(axis=1), picked[:, ~own].sum(axis=1)]).astype(float),
        np.column_stack([valid[:, own].sum(axis=1), valid[:, ~own].sum(axis=1)]).astype(float),
    )


def rates(sample: Draw, vendor: int) -> np.ndarray:
    x, d = rate(sample, vendor)
    return x.sum(axis=0) / d.sum(axis=0)


@cache
def large_sample(world: str) -> Draw:
    return draw(WORLDS[world], 200_000, np.random.default_rng([50_000, 1]))


@pytest.mark.parametrize("runs", [FAST, pytest.param(2000, marks=pytest.mark.slow)])
def test_self_bias_and_excess_cover_their_population_values(runs: int) -> None:
    drawn = list(samples("strong_questions", runs))
    for vendor in range(3):
        truth = rates(large_sample("strong_questions"), vendor)
        sums = [rate(sample, vendor) for sample in drawn]
        own = [clustered(x, d, [1.0, 0.0], s.category, null=None) for (x, d), s in zip(sums, drawn, strict=True)]
        assert all("stratified" in interval.method for interval in own)
        assert_covers(own, truth[0], "self bias")
        excess = [clustered(x, d, [1.0, -1.0], s.category) for (x, d), s in zip(sums, drawn, strict=True)]
        assert_covers(excess, truth[0] - truth[1], "excess")
        se = math.sqrt(truth[0] * (1 - truth[0]) / 200_000)
        assert abs(bias_of(own, truth[0], se)[0]) <= 3.5


@pytest.mark.parametrize("runs", [FAST, pytest.param(2000, marks=pytest.mark.slow)])
def test_excess_keeps_its_size_where_judges_share_a_habit_of_place(runs: int) -> None:
    drawn = list(samples("plain", runs))
    for vendor in range(3):
        found = [clustered(*rate(sample, vendor), [1.0, -1.0], sample.category) for sample in drawn]
        assert_size(found, f"excess of vendor {vendor}")


@pytest.mark.parametrize("runs", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_bca_of_the_deviation_covers(runs: int) -> None:
    def deviation(found: np.ndarray) -> np.ndarray:
        return np.abs(found - 1 / 3).mean(axis=-1)

    truth = float(deviation(np.array([rates(large_sample("planted"), v)[0] for v in range(3)])))
    intervals = []
    for run, sample in enumerate(samples("planted", runs)):
        sums = [rate(sample, vendor) for vendor in range(3)]
        x, d = (np.column_stack([pair[part][:, 0] for pair in sums]) for part in (0, 1))
        intervals.append(bca(x, d, deviation, seed=run, resamples=1000))
    assert_covers(intervals, truth, "deviation")
