"""What simulations in the tests are held to: the rule of `helpers.calibrate.rule`, as assertions."""

from __future__ import annotations

import numpy as np

from helpers.calibrate.rule import MOST_ERRORS, exact

__all__ = ["assert_unbiased", "assert_within", "exact"]


def assert_within(hits: int, runs: int, least: float, most: float, what: str) -> None:
    """Fail where the rate lies wholly outside `least` to `most`."""
    low, high = exact(hits, runs)
    assert low <= most and high >= least, f"{what}: {hits} of {runs}"


def assert_unbiased(values: np.ndarray, truth: float, what: str) -> None:
    """Fail where the mean misses the truth by more than 3.5 Monte-Carlo standard errors."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    told = f"{what}: {values.mean():.4f} for {truth:.4f}, error {error:.4f}"
    assert abs(values.mean() - truth) <= MOST_ERRORS * error, told
