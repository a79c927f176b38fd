"""The formulas that `seed_metrics` is made of: distances as shares, batch values, intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helpers.biases.cognitive.seed_inputs import cluster_codes
from helpers.stats.bootstrap import bca_totals
from helpers.stats.intervals import NAN, Interval

#: The least clusters of which these metrics have an interval; below 10 its `method` begins with "rough".
ROUGH = 5


def share(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """The quotient, NaN where the denominator is 0; never -0."""
    return np.divide(numerator, denominator, out=np.full(np.shape(numerator), NAN), where=denominator != 0) + 0.0


def nearest(options: np.ndarray, anchor: np.ndarray) -> np.ndarray:
    """The option closest to the anchor, the first of equally close ones: (n, k), (n, 1) -> (n, 1)."""
    return np.take_along_axis(options, np.abs(options - anchor).argmin(axis=1, keepdims=True), axis=1)


def moved(control: np.ndarray, treatment: np.ndarray, options: np.ndarray) -> np.ndarray:
    """How far the answer moved, as a share of how far it could have: |a2 - a1| / |farthest option - a1|."""
    return share(np.abs(treatment - control), np.abs(options - control).max(axis=1, keepdims=True))


def approach(control: np.ndarray, treatment: np.ndarray, target: np.ndarray) -> np.ndarray:
    """How much of the control's distance to the target the treatment took away: (|a1-t| - |a2-t|) / |a1-t|, signed."""
    before, after = np.abs(control - target), np.abs(treatment - target)
    return share(before - after, before)


def pull(control: np.ndarray, treatment: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The symmetric form (|a1-t| - |a2-t|) / max(|a1-t|, |a2-t|), -1 to 1: swapping the answers changes its sign."""
    before, after = np.abs(control - target), np.abs(treatment - target)
    return share(before - after, np.maximum(before, after))


def lean(answer: np.ndarray, pro: np.ndarray, con: np.ndarray) -> np.ndarray:
    """How far a selection of arguments leans to the side decided for, -1 to 1; NaN where nothing was selected."""
    return share((2 * answer - 1) * (pro - con), pro + con)


def published(values: np.ndarray) -> np.ndarray:
    """The values as the published forms count them: nothing below 0, and 0 where there is none."""
    return np.maximum(0.0, np.nan_to_num(values, nan=0.0))


def missing(values: np.ndarray) -> int:
    """How many values are not defined."""
    return int(np.isnan(values).sum())


def batch(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The weighted mean, of equal weights where none are given; NaN without rows."""
    w = np.ones(np.shape(values)) if weights is None else weights
    return float((values * w).sum() / w.sum()) if len(values) else NAN


def batch_interval(
    values: np.ndarray, weights: np.ndarray | None, clusters: Sequence[object] | None, seed: int
) -> Interval:
    """The weighted mean with its BCa interval over clusters, in which every row keeps its weight; rough below 10."""
    w = np.ones(np.shape(values)) if weights is None else weights
    codes = cluster_codes(clusters, len(values))
    sums = np.column_stack([np.bincount(codes, weights=column.ravel()) for column in (values * w, w)])
    return bca_totals(sums, lambda totals: totals[..., 0] / totals[..., 1], len(values), seed, least=ROUGH)
