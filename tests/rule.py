"""What simulations in the tests are held to: the rule of `studies.calibration.cases`, as assertions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from helpers.types import Estimate
from studies.calibration.cases import MOST_ERRORS, exact

__all__ = ["assert_unbiased", "assert_within", "covered", "exact", "rejected", "replicate"]


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


def replicate(
    measured: Callable[[int], list[Estimate]], corrected: Callable[[list[Estimate]], Mapping], runs: int
) -> dict[tuple[str, ...], np.ndarray]:
    """(runs, 4) value, low, high, p for each id and place but its candidate, and ("holm", judge) the corrected p."""
    found: dict[tuple[str, ...], list[tuple[float, ...]]] = {}
    for run in range(runs):
        estimates = measured(run)
        for e in estimates:
            key = (e.id, *(value for name, value in e.where.items() if name != "candidate"))
            found.setdefault(key, []).append((e.value, e.low, e.high, e.p))
        for place, p in corrected(estimates).items():
            judge = place if isinstance(place, str) else place[0]
            found.setdefault(("holm", judge), []).append((p,) * 4)
    return {key: np.array(values) for key, values in found.items()}


def rejected(each: np.ndarray) -> int:
    """How many of these replications call a difference from nothing."""
    return int((each[:, 3] < 0.05).sum())


def covered(each: np.ndarray, truth: float) -> int:
    """How many intervals of these replications include the truth."""
    return int(((each[:, 1] <= truth) & (truth <= each[:, 2])).sum())
