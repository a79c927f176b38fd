"""By what simulations are judged: with the exact 99.9 % interval of an observed rate, never by the rate itself."""

from __future__ import annotations

import numpy as np
from scipy import stats


def exact(hits: int, runs: int) -> tuple[float, float]:
    """The exact 99.9 % interval of an observed rate."""
    bounds = stats.binomtest(int(hits), runs).proportion_ci(0.999, method="exact")
    return bounds.low, bounds.high


def assert_within(hits: int, runs: int, least: float, most: float, what: str) -> None:
    """Fail where the rate lies wholly outside `least` to `most`."""
    low, high = exact(hits, runs)
    assert low <= most and high >= least, f"{what}: {hits} of {runs}"


def assert_unbiased(values: np.ndarray, truth: float, what: str) -> None:
    """Fail where the mean misses the truth by more than 3.5 Monte-Carlo standard errors."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - truth) <= 3.5 * error, f"{what}: {values.mean():.4f} for {truth:.4f}, error {error:.4f}"
