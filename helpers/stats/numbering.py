"""Labels as whole numbers from 0, in the order of the labels, without gaps."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

#: Rows that are worked on together: what is made of them stays in the processor's cache, and an array of ten million
#: would get new pages from the system each time, which take longer than the work.
BLOCK = 2**16


def clusters_of(rows: pd.DataFrame, id: str = "question_id") -> pd.Series:
    """The unit that varies, of each row: its `cluster` (near-duplicates, a task) where there is one, else its `id`."""
    return rows["cluster"] if "cluster" in rows else rows[id]


def numbered(labels: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """The number of each row's label (-1: none), and the labels in their order (categories: in theirs).

    Numbers can be the codes of a categorical themselves: of few bits, and not to be written into.
    """
    if isinstance(labels.dtype, pd.CategoricalDtype):
        codes, categories = labels.array.codes, labels.array.categories
        if (codes >= 0).all():
            numbers, used = renumbered(codes, len(categories))
            return numbers, categories if len(used) == len(categories) else categories.take(used)
    return pd.factorize(labels, sort=True)


def renumbered(numbers: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers below `size` in their order without gaps, and which of the old ones there are.

    Of any type of integers; where there are no gaps it is the very array that was given.
    """
    if size > 8 * len(numbers):  # few of many are used: sorting is cheaper than a list of all
        used, new = np.unique(numbers, return_inverse=True)
        return new, used
    # Each block makes a list of `size` counts: it has no fewer rows than that.
    there, step = np.zeros(size, dtype=bool), max(BLOCK, size)
    for start in range(0, len(numbers), step):
        there |= np.bincount(numbers[start : start + step], minlength=size) > 0
    used = np.flatnonzero(there)
    if len(used) == size:
        return numbers, used
    place = np.empty(size, dtype=np.int64)
    place[used] = np.arange(len(used))
    return place[numbers], used


def combined(columns: Iterable[tuple[np.ndarray, int]], rows: int) -> tuple[np.ndarray, int]:
    """The number of each row's combination of numbers, in order and without gaps, and how many combinations there are.

    A column is its numbers from 0 (`rows` of them) and a bound above the largest; the first column orders first.
    """
    number, size = np.zeros(rows, dtype=np.int64), 1
    for codes, bound in columns:
        if bound == 1:
            continue
        number, size = number * bound + codes, size * bound
        if size > rows:  # also keeps products within 64 bits
            number, used = renumbered(number, size)
            size = len(used)
    number, used = renumbered(number, size)
    return number, len(used)


def codes_of(labels: pd.Series) -> tuple[np.ndarray, int]:
    """A column as `combined` takes it: labels in their order (categories: in theirs), a missing one last."""
    if isinstance(labels.dtype, pd.CategoricalDtype):
        codes, size = labels.array.codes, len(labels.array.categories)
    else:
        codes, names = pd.factorize(labels, sort=True)
        size = len(names)
    lost = codes < 0
    return (np.where(lost, size, codes.astype(np.int64)), size + 1) if lost.any() else (codes, size)
