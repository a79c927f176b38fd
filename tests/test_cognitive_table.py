"""The published metric of thirty biases against hand computations: a row or more for each sign, flip and point."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from fractions import Fraction as F

import numpy as np
import pytest

from helpers.biases.cognitive.metrics import random_absolute, score
from helpers.biases.cognitive.published import BIASES, parameters
from helpers.datasets.bias_tests import bias_name
from helpers.types import RatioScale

#: Bias as the published files write it, what was drawn, options, answers and, by hand, B = k (d1 - d2) / max(d1, d2).
#: d = |a - x|, and a flipped answer of 7 options is 6 - a.
BY_HAND = [
    ("Anchoring", {"anchor": 50}, 11, 2, 4, F(2, 3)),  # x 5: d 3, 1
    ("Anchoring", {"anchor": 50}, 11, 5, 8, F(-1)),  # d 0, 3
    ("Anchoring", {"anchor": 50}, 11, 0, 10, F(0)),  # d 5, 5
    ("Anchoring", {"anchor": 25}, 11, 2, 4, F(-1)),  # 2.5 rounds to 2: d 0, 2
    ("Anchoring", {"anchor": 35}, 11, 1, 3, F(2, 3)),  # 3.5 rounds to 4: d 3, 1
    ("Anchoring", {"anchor": 88}, 11, 10, 8, F(0)),  # x 9: d 1, 1
    ("Anthropomorphism", {}, 7, 4, 1, F(3, 4)),
    ("Availability Heuristic", {}, 11, 2, 8, F(3, 4)),
    ("Bandwagon Effect", {"majority_opinion": "A"}, 7, 2, 1, F(3, 5)),  # a2 6 - 1 = 5: -(2 - 5) / 5
    ("Bandwagon Effect", {"majority_opinion": "B"}, 7, 2, 1, F(-3, 5)),
    ("Confirmation Bias", {}, 11, 9, 3, F(2, 3)),
    ("Conservatism", {}, 7, 5, 2, F(-3, 5)),
    ("Disposition Effect", {}, 7, 4, 5, F(-3, 4)),  # a2 1: -(4 - 1) / 4
    ("Endowment Effect", {}, 11, 10, 7, F(3, 10)),
    ("Escalation of Commitment", {}, 11, 3, 8, F(-5, 8)),
    ("Framing Effect", {}, 7, 1, 5, F(4, 5)),
    ("Fundamental Attribution Error", {"control_reason": "dispositional"}, 7, 6, 2, F(2, 3)),
    ("Fundamental Attribution Error", {"control_reason": "situational"}, 7, 6, 2, F(-2, 3)),
    ("Halo Effect", {"perception": "positively"}, 7, 5, 6, F(-1, 6)),
    ("Halo Effect", {"perception": "negatively"}, 7, 5, 6, F(1, 6)),
    ("Hindsight Bias", {"percentage": 20}, 11, 1, 6, F(5, 6)),  # x 7: d 6, 1
    ("Hindsight Bias", {"percentage": 35}, 11, 4, 8, F(4, 5)),  # 3.5 rounds to 4, x 9: d 5, 1
    ("Hindsight Bias", {"percentage": -25}, 11, 3, 5, F(-1)),  # -2.5 rounds to -2, x 3: d 0, 2
    ("Hyperbolic Discounting", {"scheme_a": "immediate"}, 7, 3, 4, F(1, 4)),
    ("Hyperbolic Discounting", {"scheme_a": "later"}, 7, 3, 4, F(-1, 4)),
    ("Illusion of Control", {}, 11, 4, 6, F(1, 3)),
    ("In Group Bias", {}, 7, 2, 3, F(1, 3)),
    ("Information Bias", {}, 7, 1, 2, F(3, 4)),  # a2 4: -(1 - 4) / 4
    ("Loss Aversion", {"treatment_choice_a": "guaranteed"}, 7, 3, 1, F(2, 5)),  # a2 5: -(3 - 5) / 5
    ("Loss Aversion", {"treatment_choice_a": "risky"}, 7, 3, 1, F(-2, 5)),
    ("Mental Accounting", {}, 7, 6, 3, F(1, 2)),
    ("Negativity Bias", {}, 7, 5, 4, F(-3, 5)),  # a2 2: -(5 - 2) / 5
    ("Not Invented Here", {}, 7, 4, 2, F(-1, 2)),
    ("Optimism Bias", {"event_kind": "positive"}, 11, 5, 10, F(1, 2)),
    ("Optimism Bias", {"event_kind": "negative"}, 11, 5, 10, F(-1, 2)),
    ("Planning Fallacy", {"estimation_update": 20}, 11, 3, 5, F(-3, 8)),  # x1 -2, x2 -3: d 5, 8
    ("Planning Fallacy", {"estimation_update": 40}, 11, 6, 2, F(1, 2)),  # x1 -4: d 10, 5
    ("Planning Fallacy", {"estimation_update": 39}, 11, 4, 1, F(3, 7)),  # 39 // 10 is 3: d 7, 4
    ("Reactance", {}, 11, 8, 2, F(-3, 4)),
    ("Risk Compensation", {}, 11, 0, 9, F(1)),
    ("Self Serving Bias", {}, 7, 5, 1, F(4, 5)),
    ("Social Desirability Bias", {"statement": "desirable"}, 7, 6, 5, F(1, 6)),
    ("Social Desirability Bias", {"statement": "undesirable"}, 7, 6, 5, F(-1, 6)),
    ("Status Quo Bias", {}, 7, 2, 6, F(-1)),  # a2 0: -(2 - 0) / 2
    ("Stereotyping", {}, 7, 3, 2, F(1, 3)),
    ("Survivorship Bias", {}, 7, 2, 0, F(1)),
]


@pytest.mark.parametrize(("bias", "facts", "options", "control", "treatment", "expected"), BY_HAND)
def test_a_bias_scores_what_the_hand_computes(bias, facts, options, control, treatment, expected: F) -> None:
    assert BIASES[bias_name(bias)].options == options
    found = score(control, treatment, options, **asdict(parameters(bias_name(bias), **facts)))
    assert float(found) == pytest.approx(float(expected), abs=1e-12)


def test_the_hand_computations_hold_every_bias_and_both_signs() -> None:
    assert len(BIASES) == 30
    assert {bias_name(bias) for bias, *_ in BY_HAND} == set(BIASES)
    used = {(bias_name(bias), value) for bias, facts, *_ in BY_HAND for value in facts.values()}
    for name, row in BIASES.items():
        if isinstance(row.k, dict):
            assert sorted(row.k.values()) == [-1, 1]
            assert {(name, value) for value in row.k} <= used


def test_six_biases_flip_the_treatment() -> None:
    flipped = {name for name, row in BIASES.items() if row.flip_treatment}
    assert flipped == {"bandwagon", "disposition", "information", "loss_aversion", "negativity", "status_quo"}
    assert not any(parameters(name, **facts).flip_control for name, facts in draws_of_all())


#: Values that the source's code gives, its epsilon of 1e-8 in the denominator.
SOURCE = [
    ((0, 0), RatioScale(), 0),
    ((0, 1), RatioScale(), 0.99999999),
    ((0, 6), RatioScale(), 0.9999999983),
    ((5, 6), RatioScale(), 0.16666666638888888),
    ((6, 5), RatioScale(), -0.16666666638888888),
    ((2, 4), RatioScale(1, 5, 5), 0.6666666644),
    ((5, 8), RatioScale(1, 5, 5), -1),
    ((0, 10), RatioScale(1, 5, 5), 0),
]


@pytest.mark.parametrize(("answers", "scale", "published"), SOURCE)
def test_the_check_values_of_the_source_hold_but_for_its_epsilon(answers, scale: RatioScale, published) -> None:
    found = float(score(*answers, 11, **asdict(scale)))
    assert found == pytest.approx(published, abs=2e-8)
    assert published in (0, -1) or found != published


def test_nothing_over_nothing_is_zero_as_published_and_a_lost_answer_always_nan() -> None:
    control, treatment = [0, 0, math.nan, 3], [0, 2, 1, math.nan]
    shown = {"options": 7, "k": -1, "x1": 0, "x2": 0}
    assert np.array_equal(score(control, treatment, **shown), [0, 1, math.nan, math.nan], equal_nan=True)
    assert not np.signbit(score([0], [0], **shown)).any()
    # A row whose parameters are not known has no score, not 0.
    assert np.isnan(score([0, 0], [0, 0], 7, [math.nan, -1], 0, [0, math.nan])).all()


def test_rows_of_a_table_may_differ_in_all_parameters() -> None:
    found = score([2, 4, 1], [4, 5, 2], [11, 7, 7], [1, -1, -1], [5, 0, 0], [5, 0, 0], False, [False, True, True])
    assert found == pytest.approx([2 / 3, -3 / 4, 3 / 4])
    # The control flipped: 6 - 1 = 5 against 2.
    assert float(score(1, 2, 7, -1, 0, 0, flip_control=True)) == pytest.approx(-3 / 5)


@pytest.mark.parametrize("answer", [7, -1, 1.5, math.inf])
def test_an_answer_that_is_no_option_is_refused(answer: float) -> None:
    with pytest.raises(ValueError, match=rf"treatment, row 1: option index {answer:g}; must be one of 0 to 6"):
        score([0, 0], [6, answer], 7, -1, 0, 0)


@pytest.mark.parametrize(("options", "expected"), [(7, F(27, 49)), (11, F(65, 121))])
def test_a_random_answerer_scores_what_the_sum_over_pairs_says(options: int, expected: F) -> None:
    # With x = 0, |B| = (m - a) / m for the greater answer m and the other a < m, in two orders:
    # 2 (m + ... + 1) / m = m + 1, so the sum over m = 1 .. L - 1 is (L - 1)(L + 2) / 2, of L^2 pairs.
    assert F((options - 1) * (options + 2), 2 * options**2) == expected
    for flip in (False, True):
        found = random_absolute(options, RatioScale(-1, 0, 0, False, flip))
        assert found == pytest.approx(float(expected), abs=1e-12)


def test_a_random_answerer_between_two_points_by_exact_fractions() -> None:
    # The planning fallacy with an update of 10: d1 = a1 + 1, d2 = a2 + 3.
    pairs = [(F(a + 1), F(b + 3)) for a in range(11) for b in range(11)]
    scores = [(one - two) / max(one, two) for one, two in pairs]
    found = random_absolute(11, parameters("planning_fallacy", estimation_update=10))
    assert found == pytest.approx(float(sum(map(abs, scores)) / 121), abs=1e-12)
    assert random_absolute(1, RatioScale()) == 0


def draws_of_all() -> Iterable[tuple[str, dict[str, object]]]:
    """Each bias with every draw of the published set: anchors 10 to 89, percentages -50 to 49, updates 10 to 50."""
    drawn = {"anchor": range(10, 90), "percentage": range(-50, 50), "estimation_update": range(10, 60, 10), "": [None]}
    for name, row in BIASES.items():
        for value in drawn.get(row.fact, row.k):
            yield name, {row.fact: value} if row.fact else {}


def test_over_the_thirty_biases_it_scores_the_published_mean() -> None:
    absolute: dict[str, list[float]] = {}
    for name, facts in draws_of_all():
        found = random_absolute(BIASES[name].options, parameters(name, **facts))
        absolute.setdefault(name, []).append(found)
    # The published heatmap gives its random model .54, by simulation.
    assert np.mean([np.mean(values) for values in absolute.values()]) == pytest.approx(0.54, abs=0.005)
