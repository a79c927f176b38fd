"""What holds tests to the stored calibration: does it fail where a number is missing, found too rarely or too often?"""

from __future__ import annotations

import pandas as pd
import pytest
from scipy import stats

from helpers.calibrate import COLUMNS
from tests import calibrated
from tests.calibrated import Held, assert_calibrated
from tests.rule import assert_within

#: experiment, world, questions, id, where, role, truth, runs, given, ... rejected
ROWS = [
    ("e", "w", 80, "effect", "bias=a", "planted", 0.2, 2000, 2000, 0, 0, 0, 0.95, 0.9, "holds"),
    ("e", "w", 80, "effect", "bias=a judge=one", "planted", 0.2, 2000, 1000, 0, 0, 0, 0.95, 0.9, "holds"),
    ("e", "w", 80, "effect", "bias=a judge=two", "planted", 0.2, 499, 499, 0, 0, 0, 0.95, 0.9, "holds"),
    ("e", "w", 80, "effect", "bias=a judge=three", "planted", 0.2, 2000, 0, 0, 0, 0, 0.95, 0.9, "no interval"),
]


@pytest.fixture(autouse=True)
def stored_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pd.DataFrame(ROWS, columns=list(COLUMNS))
    monkeypatch.setattr(calibrated, "stored", lambda experiment: (rows[rows["experiment"] == experiment], {}))


@pytest.mark.parametrize(
    "held",
    [
        Held("w", "planted", ("effect",), ("bias=a",), least=0.9, most=0.9),
        # Half of the replications had an interval, and nine in ten of these found something.
        Held("w", "planted", ("effect",), ("bias=a judge=one",), least=0.45, most=0.45),
    ],
)
def test_what_is_found_often_enough_passes(held: Held) -> None:
    assert_calibrated("e", [held])


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (Held("w", "planted", ("effect",), ("bias=a",), least=0.91), "bias=a in 90.0% of 2000, not in 91.0% to 100.0%"),
        (Held("w", "planted", ("effect",), ("bias=a",), most=0.89), "bias=a in 90.0% of 2000, not in 0.0% to 89.0%"),
        (Held("w", "planted", ("effect",), ("bias=a judge=one",), least=0.5), "judge=one in 45.0%"),
        (Held("w", "planted", ("effect",), ("bias=a judge=two",)), "no longer holds"),  # of too few replications
        (Held("w", "planted", ("effect",), ("bias=a judge=three",)), "no longer holds"),  # none with an interval
        (Held("w", "planted", ("other",)), "no longer holds"),
        (Held("w", "null", ("effect",), ("bias=a",)), "no longer holds"),
        (Held("w", "planted", ("effect",), ("bias=a",), 400), "no longer holds"),
        (Held("v", "planted", ("effect",), ("bias=a",)), "v, 80 questions, planted: effect bias=a"),
    ],
)
def test_what_is_missing_or_found_too_rarely_or_too_often_fails(held: Held, told: str) -> None:
    with pytest.raises(AssertionError) as failed:
        assert_calibrated("e", [held])
    assert told in str(failed.value)


@pytest.mark.parametrize(("runs", "refused"), [(16, 7), (20, 7), (24, 8), (150, 23), (400, 47)])
def test_how_gross_an_error_must_be_for_so_many_runs_to_show_it(runs: int, refused: int) -> None:
    """What the tests of simulations say of themselves, from binomial tails: half of 0.1 % at the bound of 7 %."""
    assert_within(refused - 1, runs, 0.03, 0.07, "size")
    assert_within(runs - refused + 1, runs, 0.93, 0.97, "coverage")
    assert stats.binom.sf(refused - 1, runs, 0.07) < 0.0005 <= stats.binom.sf(refused - 2, runs, 0.07)
    with pytest.raises(AssertionError, match=f"size: {refused} of {runs}"):
        assert_within(refused, runs, 0.03, 0.07, "size")
    with pytest.raises(AssertionError, match=f"coverage: {runs - refused} of {runs}"):
        assert_within(runs - refused, runs, 0.93, 0.97, "coverage")


def test_that_nothing_is_ever_rejected_shows_in_250_runs() -> None:
    assert_within(0, 249, 0.03, 0.07, "size")
    with pytest.raises(AssertionError, match="size: 0 of 250"):
        assert_within(0, 250, 0.03, 0.07, "size")
