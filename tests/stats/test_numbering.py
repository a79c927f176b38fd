"""Labels and their combinations as numbers, against numpy's unique rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from helpers.stats import intervals
from helpers.stats.intervals import codes_of, combined, numbered, renumbered

FORMS = ["str", object, "category", pd.CategoricalDtype(["a", "b", "c", "unused"])]


@pytest.mark.parametrize("form", FORMS)
def test_labels_are_numbered_in_their_order_and_a_missing_one_has_no_number(form: object) -> None:
    whole, lacking = (pd.Series(labels, dtype=form) for labels in (["c", "a", "c"], ["c", None, "a"]))
    numbers, labels = numbered(whole)
    assert numbers.tolist() == [1, 0, 1] and labels.tolist() == ["a", "c"]
    numbers, labels = numbered(lacking)
    assert numbers.tolist()[1] == -1 and [labels[number] for number in numbers[[0, 2]]] == ["c", "a"]
    codes, bound = codes_of(lacking)
    assert codes[2] < codes[0] < codes[1] < bound
    assert codes_of(whole)[0].max() < codes_of(whole)[1]


@pytest.mark.parametrize("bound", [1, 2, 3, 50, 100_000])
def test_combinations_are_numbered_in_order_however_many_there_could_be(bound: int) -> None:
    codes = np.random.default_rng(bound).integers(0, bound, (12, 200)).astype(np.int32)
    codes[:, 100:] = codes[:, :100]
    number, size = combined(((column, bound) for column in codes), 200)
    kinds, expected = np.unique(codes.T, axis=0, return_inverse=True)
    assert size == len(kinds) and (number == expected.ravel()).all()


@pytest.mark.parametrize("size", [40, 10_000])
def test_numbers_without_gaps_keep_their_order(size: int) -> None:
    number, used = renumbered(np.array([39, 5, 39, 0]), size)
    assert number.tolist() == [2, 1, 2, 0] and used.tolist() == [0, 5, 39]


@pytest.mark.parametrize("block", [1, 50, 1000])
def test_numbers_are_the_same_wherever_the_rows_are_divided(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "BLOCK", block)
    # In order, so that no block of 20 rows holds all of them.
    old = np.sort(np.random.default_rng(block).choice([0, 2, 3, 11], 200)).astype(np.int8)
    expected = np.unique(old, return_inverse=True)
    assert [each.tolist() for each in renumbered(old, 20)] == [each.tolist() for each in reversed(expected)]


def test_nothing_is_numbered_to_nothing() -> None:
    none = np.array([], dtype=np.int64)
    assert combined([(none, 3), (none, 0)], 0)[1] == 0
    assert numbered(pd.Series([], dtype="category"))[0].tolist() == []
