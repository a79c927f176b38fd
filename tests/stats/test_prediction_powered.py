"""Verdicts corrected by labels: against the package for independent items, planted truth, and what is refused."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers.stats.intervals import Interval, clustered_mean
from helpers.stats.prediction_powered import (
    Labels,
    NotRandomSample,
    contradictions,
    dependence,
    prediction_powered_mean,
)
from tests.rule import assert_unbiased, assert_within

LABEL = [1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1]
SEEN = [1, 0, 1, 0, 0, 1, 1, 1, 1, 0, 0.5, 1]
UNSEEN = [1, 1, 0, 0.5, 1, 0, 1, 1, 0, 1, 1, 0.5, 0, 1, 1, 1, 0, 1, 0, 1, 0.5, 1, 1, 0]
#: P(latent > 0) of `world`, whose latent is N(0.4, 2).
TRUTH = float(stats.norm.cdf(0.4 / math.sqrt(2)))


def of_labels(given: Labels) -> Interval:
    return clustered_mean(given.labels, given.clusters.reindex(given.labels.index))


def small() -> Labels:
    items = pd.RangeIndex(36)
    return Labels(pd.Series(SEEN + UNSEEN, items), pd.Series(LABEL, items[:12]), pd.Series(items, items))


def world(
    rng: np.random.Generator,
    how: str = "item",
    questions: int = 80,
    per: int = 5,
    share: float = 0.3,
    effects: np.ndarray | None = None,
    mean: float = 0.4,
) -> Labels:
    """A judge that favours yes, its errors shared within a question, and labels drawn in one of several ways."""
    question = np.repeat(np.arange(questions), per)
    size = len(question)
    effects = rng.normal(size=questions) if effects is None else effects
    latent = mean + effects[question] + rng.normal(size=size)
    noise = 0.5 * rng.normal(size=questions)[question] + rng.normal(size=size)
    said = (latent + noise + 0.5 > 0).astype(float)
    truth = (latent > 0).astype(float)
    wrong = np.where(said > 0, np.mean(truth[said > 0] == 0), np.mean(truth[said == 0] == 1))
    chance = {
        "item": np.full(size, share),
        "question": np.isin(question, rng.permutation(questions)[: round(share * questions)]).astype(float),
        "verdict": np.where(said > 0, 1.6 * share, 0.4 * share),
        # Mostly where the judge is right, and equally often under either verdict: no check can see it.
        "easy": np.where(said == truth, share * (1 - 0.1 * wrong) / (1 - wrong), 0.1 * share),
    }[how]
    kept = rng.random(size) < chance
    items = pd.RangeIndex(size)
    kinds = pd.DataFrame({"category": [f"c{each % 8}" for each in question]}, items)
    return Labels(pd.Series(said, items), pd.Series(truth, items)[kept], pd.Series(question, items), kinds)


@pytest.mark.parametrize(("weight", "value", "low", "high"), [
    (1.0, 0.6875, 0.38571157, 0.98928843),
    (0.6, 0.67916667, 0.43604415, 0.92228918),
    (0.0, 0.66666667, 0.39994935, 0.93338398),
])  # fmt: skip
def test_independent_items_give_the_packages_numbers(weight: float, value: float, low: float, high: float) -> None:
    # ppi-python 0.2.3: ppi_mean_pointestimate and ppi_mean_ci of these items; normal, no small-sample term.
    found = prediction_powered_mean(small(), random_sample=True, weight=weight)
    assert found.value == pytest.approx(value, abs=1e-8)
    y, seen, unseen = (np.array(each, dtype=float) for each in (LABEL, SEEN, UNSEEN))
    labelled, rest = np.var(y - weight * seen) / 12, weight**2 * np.var(unseen) / 24
    assert stats.norm.ppf(0.975) * math.sqrt(labelled + rest) == pytest.approx((high - low) / 2, abs=1e-8)
    assert found.value == pytest.approx((low + high) / 2, abs=1e-8)
    # CR2 of independent items: each variance with its own n - 1.
    assert found.se**2 == pytest.approx(12 / 11 * labelled + 24 / 23 * rest, abs=1e-12)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, found.df) * found.se, abs=1e-9)
    assert (found.n, found.clusters) == (12, 12) and found.df >= 11 - 1e-9


def test_the_tuned_weight_has_the_smallest_variance() -> None:
    tuned = prediction_powered_mean(small(), random_sample=True)
    y, seen, unseen = (np.array(each, dtype=float) for each in (LABEL, SEEN, UNSEEN))
    best = np.cov(y, seen, ddof=0)[0, 1] / 12 / (np.var(seen) / 12 + np.var(unseen) / 24)
    assert tuned.value == pytest.approx(y.mean() + best * (unseen.mean() - seen.mean()), abs=1e-12)
    # One more degree of freedom is spent on it.
    fixed = prediction_powered_mean(small(), random_sample=True, weight=best)
    assert tuned.df == pytest.approx(fixed.df - 1)
    assert tuned.se == pytest.approx(fixed.se * math.sqrt(fixed.df / tuned.df), abs=1e-12)
    for other in (best - 0.1, best + 0.1):
        assert prediction_powered_mean(small(), random_sample=True, weight=other).se > fixed.se


def test_weight_0_is_the_mean_of_the_labels_alone() -> None:
    given = world(np.random.default_rng(1))
    powered, classical = prediction_powered_mean(given, random_sample=True, weight=0.0), of_labels(given)
    assert [powered.value, powered.n, powered.clusters] == pytest.approx(
        [classical.value, classical.n, classical.clusters]
    )
    assert (powered.se, powered.df) == pytest.approx((classical.se, classical.df))


def test_copies_of_items_make_it_no_surer() -> None:
    given = small()
    series = (given.predicted, given.labels, given.clusters)
    doubled = Labels(*(pd.concat([each, each.set_axis([f"again {i}" for i in each.index])]) for each in series))
    one, two = (prediction_powered_mean(each, random_sample=True, weight=0.5) for each in (given, doubled))
    assert two.se == pytest.approx(one.se) and two.value == pytest.approx(one.value)
    assert (two.n, two.clusters) == (24, 12)


def test_with_every_item_labelled_the_judge_adds_nothing() -> None:
    given = world(np.random.default_rng(2), share=1.0)
    found, classical = prediction_powered_mean(given, random_sample=True), of_labels(given)
    assert (found.value, found.se, found.df) == pytest.approx((classical.value, classical.se, classical.df))


def test_labels_not_said_to_be_drawn_are_refused() -> None:
    with pytest.raises(NotRandomSample, match="drawn at random"):
        prediction_powered_mean(small(), random_sample=False)


def test_labels_that_contradict_a_random_draw_are_refused_with_the_reason() -> None:
    rng = np.random.default_rng(5)
    with pytest.raises(NotRandomSample, match=r"depends on the judge's verdict, from \d+ to \d+ %"):
        prediction_powered_mean(world(rng, "verdict"), random_sample=True)
    given = world(rng)
    half = given.labels[given.clusters.loc[given.labels.index] % 8 < 4]
    known = Labels(given.predicted, half, given.clusters, given.kinds)
    assert "depends on category, from 0 to" in contradictions(known)[0]
    strange = Labels(given.predicted.iloc[:-1], given.labels, given.clusters, given.kinds)
    outside = given.predicted.index[-1]
    if outside not in given.labels.index:
        strange = Labels(given.predicted, pd.concat([given.labels, pd.Series([1.0], [9999])]), given.clusters)
    assert "1 labelled items are none of the items estimated" in contradictions(strange)[0]
    assert contradictions(given) == []


def test_whole_questions_may_be_drawn() -> None:
    # Items of one question are labelled together: by items alone this looks like a choice of categories.
    refused = naive = 0
    for run in range(100):
        given = world(np.random.default_rng([6, run]), "question", per=10)
        labelled = given.predicted.index.isin(given.labels.index)
        table = pd.crosstab(labelled, given.kinds["category"])
        naive += stats.chi2_contingency(table).pvalue < 0.001
        refused += bool(contradictions(given))
    assert refused <= 3 and naive > 50


def test_the_chi_square_of_independent_items_is_near_pearsons() -> None:
    rng = np.random.default_rng(7)
    chosen, kind = pd.Series(rng.random(4000) < 0.3), pd.Series(rng.integers(0, 4, 4000)).astype(str)
    table = pd.crosstab(chosen, kind)
    found = dependence(chosen, kind, pd.Series(np.arange(4000)))
    assert found == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue, abs=0.01)
    number = pd.Series(rng.normal(size=4000))
    t = stats.ttest_ind(number[chosen], number[~chosen]).pvalue
    assert dependence(chosen, number, pd.Series(np.arange(4000))) == pytest.approx(t, abs=0.01)
    assert dependence(chosen, pd.Series(["one"] * 4000), pd.Series(np.arange(4000))) == 1.0


def test_where_no_interval_is_honest_the_reason_is_said() -> None:
    given = small()
    few = Labels(given.predicted, given.labels.iloc[:9], given.clusters)
    found = prediction_powered_mean(few, random_sample=True)
    assert math.isnan(found.low) and "below 10" in found.method and found.n == 9
    none = prediction_powered_mean(Labels(given.predicted, given.labels.iloc[:0], given.clusters), random_sample=True)
    assert math.isnan(none.value) and none.method == "no label"
    one = prediction_powered_mean(Labels(given.predicted, given.labels.iloc[:1], given.clusters), random_sample=True)
    assert math.isnan(one.low) and "too few" in one.method


def test_broken_input_is_refused_by_name() -> None:
    given = small()
    twice = pd.concat([given.labels, given.labels.iloc[:1]])
    with pytest.raises(ValueError, match="labels: item 0 occurs twice"):
        prediction_powered_mean(Labels(given.predicted, twice, given.clusters), random_sample=True)
    with pytest.raises(ValueError, match="predicted: item 3 has no value"):
        prediction_powered_mean(
            Labels(given.predicted.astype(float).where(given.predicted.index != 3), given.labels, given.clusters),
            random_sample=True,
        )
    with pytest.raises(ValueError, match="clusters: item 35 has no question"):
        prediction_powered_mean(Labels(given.predicted, given.labels, given.clusters.iloc[:-1]), random_sample=True)
    with pytest.raises(ValueError, match="between 0 and 1"):
        prediction_powered_mean(given, random_sample=True, weight=1.5)


def simulate(how: str, runs: int, **size: float) -> list[tuple[Interval, Interval]]:
    """Prediction-powered and classical intervals of `runs` worlds; those refused are left out."""
    found = []
    for run in range(runs):
        given = world(np.random.default_rng([8, run]), how, **size)
        with contextlib.suppress(NotRandomSample):
            found.append((prediction_powered_mean(given, random_sample=True), of_labels(given)))
    return found


def judged(found: list[tuple[Interval, Interval]], runs: int, what: str) -> None:
    """Coverage, no bias, and a gain over the labels alone; hardly a world is refused."""
    powered = [each for each, _ in found]
    assert len(found) >= 0.98 * runs
    assert_within(sum(each.low <= TRUTH <= each.high for each in powered), len(found), 0.93, 0.97, what)
    assert_unbiased(np.array([each.value for each in powered]), TRUTH, what)
    assert np.mean([each.se for each in powered]) < np.mean([other.se for _, other in found])


def test_random_labels_give_cover_and_a_gain() -> None:
    judged(simulate("item", 100), 100, "items drawn")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "size"),
    [
        ("item", {}),
        ("question", {}),
        ("item", {"questions": 200, "per": 1, "share": 0.2}),
        ("question", {"questions": 60, "per": 15, "share": 0.3}),
    ],
)
def test_random_labels_keep_their_cover(how: str, size: dict) -> None:
    judged(simulate(how, 2000, **size), 2000, f"{how} {size}")


def test_labels_of_easy_items_mislead_and_no_check_sees_it() -> None:
    """Why somebody must vouch for the draw: nothing contradicts it here, and the interval misses all the same."""
    found = simulate("easy", 60)
    hits = sum(each.low <= TRUTH <= each.high for each, _ in found)
    assert len(found) >= 57, "these worlds pass the checks"
    assert hits / len(found) < 0.6
    assert np.mean([each.value for each, _ in found]) > TRUTH + 0.06
