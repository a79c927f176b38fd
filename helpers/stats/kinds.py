"""Clusters that hold the same sums are of one kind: drawing clusters with replacement is drawing how many of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from helpers.stats.numbering import combined

#: Fewer clusters are drawn one by one: looking for their kinds would gain nothing.
MANY = 1000
#: Above this number of kinds drawing how many there are of each takes longer than drawing clusters in blocks.
FEW = 10_000


@dataclass(frozen=True)
class Kinds:
    """The distinct rows of cluster sums, `sums` (U, M), and how many clusters have each, `counts` (U,)."""

    sums: np.ndarray
    counts: np.ndarray


def each_its_own(sums: np.ndarray) -> Kinds:
    """Every cluster as a kind of its own, in the order given."""
    return Kinds(sums, np.ones(len(sums)))


def to_draw(sums: np.ndarray) -> Kinds:
    """What is drawn for clusters with these sums (C, M): their kinds, or each itself where that costs little more."""
    sums = np.ascontiguousarray(sums, dtype=float)
    if len(sums) >= MANY:
        kinds = kinds_of(sums)
        if len(kinds.counts) <= min(len(sums) // 2, FEW):
            return kinds
    return each_its_own(sums)


def kinds_of(sums: np.ndarray) -> Kinds:
    """The kinds of clusters in sorted order: sums (C, M), U <= C; one pass a column where sums are small whole numbers.

    C draws with replacement from the clusters hold each kind as often as one draw of multinomial(C, counts / C) does:
    exactly, not nearly, so whatever is computed of resampled totals may take kinds for clusters.
    """
    number, size = combined(map(_codes, np.ascontiguousarray(sums.T)), len(sums))
    first = np.empty(size, dtype=np.int64)
    first[number[::-1]] = np.arange(len(sums))[::-1]
    return Kinds(sums[first], np.bincount(number, minlength=size).astype(float))


def _codes(column: np.ndarray) -> tuple[np.ndarray, int]:
    """Numbers from 0 in the order of the values, equal where these are, and a bound above the largest."""
    if not len(column):
        return np.zeros(0, dtype=np.int64), 1
    low, high = column.min(), column.max()
    if high - low < len(column):  # false of NaN
        whole = (column - low).astype(np.int64)
        if (low + whole == column).all():  # so that equal numbers mean equal values, to the last bit
            return whole, int(high - low) + 1
    values, codes = np.unique(column, return_inverse=True)
    return codes, len(values)
