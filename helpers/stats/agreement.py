"""Whether judges agree: Krippendorff's alpha and plain agreement. Never evidence that nobody is biased."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .bootstrap import bca_totals
from .intervals import NAN, Interval, Values, clustered, no_interval

LEVELS = ("nominal", "ordinal")


def krippendorff_alpha(
    units_by_raters: np.ndarray | pd.DataFrame,
    level: str,
    seed: int,
    clusters: Values | None = None,
    resamples: int = 1000,
) -> Interval:
    """How far judges agree beyond chance, with a BCa interval over questions (Krippendorff 2004).

    `units_by_raters`: (U, R), NaN or None where a judge gave nothing; nominal takes any labels (top-1 picks, a unit a
    question), ordinal takes numbers (ranks, a unit a question and candidate). `clusters`: the question of each unit,
    itself if None. `n` counts the values that can be compared; NaN where there are none or only one value was given.
    """
    if level not in LEVELS:
        raise ValueError(f"level {level!r} is not one of {', '.join(LEVELS)}")
    counts, domain = value_counts(units_by_raters, level)
    labels = np.arange(len(counts)) if clusters is None else np.asarray(clusters)
    if len(labels) != len(counts):
        raise ValueError(f"clusters has {len(labels)} labels for {len(counts)} units")
    pairable = counts.sum(axis=1) >= 2
    counts, labels = counts[pairable], labels[pairable]
    codes, names = pd.factorize(labels)
    n = round(counts.sum())
    if (counts.sum(axis=0) > 0).sum() < 2:
        reason = "no two judges judged the same" if n == 0 else "undefined: only one value was ever given"
        return no_interval(NAN, n, len(names), reason)
    from krippendorff import alpha

    value = alpha(value_counts=counts, value_domain=domain, level_of_measurement=level)  # type: ignore[arg-type]
    # Per unit the coincidences of value c with value k, as the package's matrix, summed per question.
    crossed = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    crossed /= (counts.sum(axis=1) - 1)[:, None, None]
    sums = np.zeros((len(names), counts.shape[1] ** 2))
    np.add.at(sums, codes, crossed.reshape(len(counts), -1))
    interval = bca_totals(sums, lambda totals: alpha_of_coincidences(totals, level), n, seed, resamples)
    return Interval(float(value), interval.low, interval.high, interval.se, n, len(names), interval.method)


def value_counts(units_by_raters: np.ndarray | pd.DataFrame, level: str) -> tuple[np.ndarray, np.ndarray]:
    """How many judges gave each value to each unit: (U, V) counts and the (V,) values in order."""
    table = np.asarray(units_by_raters, dtype=object if level == "nominal" else float)
    codes, domain = pd.factorize(table.ravel(), sort=True)
    # A missing value has the code -1: it falls into one more column, which is cut off.
    counts = np.zeros((len(table), len(domain) + 1))
    np.add.at(counts, (np.repeat(np.arange(len(table)), table.shape[1]), codes), 1)
    return counts[:, : len(domain)], np.arange(len(domain)) if level == "nominal" else np.asarray(domain, dtype=float)


def alpha_of_coincidences(totals: np.ndarray, level: str) -> np.ndarray:
    """Alpha of flattened coincidence matrices (..., V * V); NaN where only one value is left."""
    size = round(totals.shape[-1] ** 0.5)
    observed = totals.reshape(*totals.shape[:-1], size, size)
    ratings = observed.sum(axis=-1)
    if level == "nominal":
        distance = np.broadcast_to(1 - np.eye(size), observed.shape)
    else:
        # The squared number of values given between two ranks, half of the two themselves.
        middle = np.cumsum(ratings, axis=-1) - ratings / 2
        distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    expected = (ratings[..., :, None] * ratings[..., None, :] * distance).sum(axis=(-2, -1))
    found = (observed * distance).sum(axis=(-2, -1)) * (ratings.sum(axis=-1) - 1)
    return 1 - np.divide(found, expected, out=np.full(expected.shape, NAN), where=expected > 0)


def raw_agreement(picks: np.ndarray | pd.DataFrame, clusters: Values | None = None) -> Interval:
    """The share of pairs of judges that picked the same, over questions.

    `picks`: (questions, judges), NaN or None where a judge gave nothing; a question with fewer than two picks has no
    pair. Question-clustered t; `clusters`: of each question (None: each is its own).
    """
    counts, _ = value_counts(picks, "nominal")
    ratings = counts.sum(axis=1)
    pairs = ratings * (ratings - 1) / 2
    codes = np.arange(len(pairs)) if clusters is None else pd.factorize(np.asarray(clusters))[0]
    same = (counts * (counts - 1) / 2).sum(axis=1)
    return clustered(np.bincount(codes, same), np.bincount(codes, pairs), null=None)
