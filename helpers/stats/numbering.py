"""Labels as whole numbers from 0, in the order of the labels, without gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd


def numbered(labels: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row's label (-1: none), and the labels in their order (categories: in theirs)."""
    if isinstance(labels.dtype, pd.CategoricalDtype):
        codes, categories = labels.array.codes, labels.array.categories
        if (codes >= 0).all():
            numbers, used = renumbered(codes, len(categories))
            return numbers, np.asarray(categories.take(used))
    numbers, found = pd.factorize(labels, sort=True)
    return numbers, np.asarray(found)


def renumbered(numbers: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers below `size` in their order without gaps, and which of the old ones there are."""
    if size > 8 * len(numbers):  # few of many are used: sorting is cheaper than a list of all
        used, new = np.unique(numbers, return_inverse=True)
        return new, used
    used = np.flatnonzero(np.bincount(numbers, minlength=size))
    place = np.empty(size, dtype=np.int64)
    place[used] = np.arange(len(used))
    return place[numbers], used
