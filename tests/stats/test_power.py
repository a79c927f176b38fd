"""Power against statsmodels, simulation and the document's table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from helpers.stats.power import (
    detectable_effect,
    detectable_mcnemar,
    equivalence_power,
    questions_for_equivalence,
)
from helpers.stats.tests import mcnemar_exact


@pytest.mark.parametrize("n", [10, 20, 80, 750])
def test_the_detectable_effect_is_statsmodels(n: int) -> None:
    expected = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    assert detectable_effect(1 / math.sqrt(n), n - 1) == pytest.approx(expected, rel=1e-6)


def test_the_documents_detectable_effects() -> None:
    # Smallest detectable effects in pp at 80 questions: average 5.3 (SE 1.9), two groups 7.1 (SD of difference 2.53),
    # excess 11 (SE 3.9); position at 742 questions 4.2 (SE 1.50). The table takes 1.96 + 0.84, we the t quantiles.
    for se, df, effect in ((1.9, 79, 5.3), (2.53, 79, 7.1), (3.9, 79, 11), (1.5, 741, 4.2)):
        assert detectable_effect(se, df) == pytest.approx(effect, rel=0.02)


def test_the_effect_is_found_as_often_as_promised() -> None:
    rng = np.random.default_rng(1)
    effect = detectable_effect(1 / math.sqrt(20), 19)
    draws = rng.normal(effect, 1, (20_000, 20))
    t = draws.mean(axis=1) / draws.std(axis=1, ddof=1) * math.sqrt(20)
    assert (np.abs(t) > 2.093024).mean() == pytest.approx(0.8, abs=0.012)


def test_equivalence_at_80_and_180_questions() -> None:
    # TOST at +-5 pp: 24 % power at 80 questions, about 180 for 80 %.
    assert equivalence_power(2.53, 79, 5.0) == pytest.approx(0.24, abs=0.01)
    need = questions_for_equivalence(2.53, 80, 5.0)
    assert need == pytest.approx(180, rel=0.03)
    assert equivalence_power(2.53 * math.sqrt(80 / need), need - 1, 5.0) >= 0.8
    assert equivalence_power(2.53 * math.sqrt(80 / (need - 1)), need - 2, 5.0) < 0.8
    assert questions_for_equivalence(2.53, 80, 0.0) == math.inf
    assert equivalence_power(5.0, 79, 1.0) == 0.0 and equivalence_power(0.0, 79, 1.0) == 1.0
    assert math.isnan(equivalence_power(float("nan"), 79, 1.0)) and math.isnan(detectable_effect(float("nan"), 79))


def test_equivalence_power_by_simulation() -> None:
    rng = np.random.default_rng(2)
    draws = rng.normal(0, 1, (20_000, 40))
    se = draws.std(axis=1, ddof=1) / math.sqrt(40)
    shown = np.abs(draws.mean(axis=1)) + 1.684875 * se < 0.5
    assert shown.mean() == pytest.approx(equivalence_power(1 / math.sqrt(40), 39, 0.5), abs=0.02)


@pytest.mark.parametrize(("n", "smaller", "level"), [(100, 5, 0.05), (500, 13, 0.05 / 48), (90, 0, 0.05)])
def test_the_detectable_difference_of_pairs_is_found_as_often_as_promised(n: int, smaller: int, level: float) -> None:
    least, rng = detectable_mcnemar(n, smaller, level=level), np.random.default_rng(7)
    chances = [smaller / n + least, smaller / n, 1 - 2 * smaller / n - least]
    drawn = rng.multinomial(n, chances, size=4000)
    found = np.mean([mcnemar_exact(up, down) <= level for up, down, _ in drawn])
    assert found == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / 4000))


def test_no_difference_is_detectable_where_even_all_pairs_would_not_do() -> None:
    # Five pairs that all change to one side have the two-sided p 1/16.
    assert math.isnan(detectable_mcnemar(5, 0)) and not math.isnan(detectable_mcnemar(6, 0))
    assert math.isnan(detectable_mcnemar(0, 0))
