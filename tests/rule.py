"""What simulations in the tests are held to: the rule of `studies.calibration.cases`, as assertions."""

from __future__ import annotations

import numpy as np

from studies.calibration.cases import MOST_ERRORS, exact

__all__ = ["assert_unbiased", "assert_within", "exact"]


def assert_within(hits: int, runs: int, least: float, most: float, what: str) -> None:
    """Fail where the exact 99.9 % interval of the rate lies wholly outside `least` to `most`.

    Of a size of 3 to 7 % or a coverage of 93 to 97 % few runs can show a gross error only: 16 or 20 from 7 rejections
    (misses) on, 24 from 8, 150 from 23; and from 250 runs on that nothing is ever rejected (missed).
    """
    low, high = exact(hits, runs)
    assert low <= most and high >= least, f"{what}: {hits} of {runs}"


def assert_unbiased(values: np.ndarray, truth: float, what: str) -> None:
    """Fail where the mean misses the truth by more than 3.5 Monte-Carlo standard errors."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    told = f"{what}: {values.mean():.4f} for {truth:.4f}, error {error:.4f}"
    assert abs(values.mean() - truth) <= MOST_ERRORS * error, told
