"""Dealing names anew: its p against a count of every possible deal, and what it takes."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from helpers.stats.tests import redeal


def every_deal(deals: list[str], winners: list[str], own: list[int], won: list[int], candidates: str) -> float:
    """The exact p of the mean effect: all ways to deal the own names, each as likely, one deal a name in `deals`."""
    size, names = len(candidates), sorted(set(deals))
    ways = [list(combinations(candidates, own[deals.index(name)])) for name in names]

    def mean(hits: list[int]) -> float:
        return float(np.mean([h / k - (1 - h) / (size - k) for h, k in zip(hits, own, strict=True)]))

    observed, extreme, total = abs(mean(won)), 0, 0
    for way in product(*ways):
        held = dict(zip(names, way, strict=True))
        hits = [int(winner in held[deal]) for deal, winner in zip(deals, winners, strict=True)]
        extreme += abs(mean(hits)) >= observed - 1e-12
        total += 1
    return extreme / total


CASES = {
    "one of four": (["a", "b", "c", "d", "e"], list("wwxyz"), [1] * 5, [1, 1, 0, 1, 0]),
    "two of four": (["a", "b", "c", "d"], list("wxyz"), [2] * 4, [0, 0, 0, 0]),
    "mixed counts": (["a", "b", "c", "d"], list("wxyz"), [1, 2, 3, 1], [1, 0, 1, 1]),
    "repeats of one deal": (["a", "a", "b", "b", "c", "c"], list("wxwwyz"), [1] * 6, [1, 0, 1, 1, 0, 0]),
    "three repeats": (["a", "a", "a", "b", "b", "b"], list("wxywxx"), [2] * 6, [1, 1, 0, 0, 1, 1]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_p_is_the_share_of_all_deals_that_are_as_extreme(case: str) -> None:
    deals, winners, own, won = CASES[case]
    exact = every_deal(deals, winners, own, won, "wxyz")
    weights = np.full((1, len(own)), 1 / len(own))
    (found,) = redeal(deals, winners, own, [4] * len(own), won, weights, seed=1, draws=40_000)
    assert abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / 40_000) + 1 / 40_000


def test_repeats_that_agree_are_no_new_evidence() -> None:
    once = (["a", "b", "c"], list("wxy"), [1] * 3, [1, 1, 1])
    twice = tuple(part * 2 for part in once)
    p = [
        redeal(deals, winners, own, [6] * len(own), won, np.full((1, len(own)), 1 / len(own)), 1)[0]
        for deals, winners, own, won in (once, twice)
    ]
    assert p == [pytest.approx(1 / 216, abs=0.003)] * 2


def test_several_statistics_share_their_deals_and_what_cannot_be_dealt_is_refused() -> None:
    weights = np.array([[1, 0, 0.0], [0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]])
    found = redeal(list("abc"), list("wxy"), [1] * 3, [2] * 3, [1, 1, 1], weights, 1)
    assert found == pytest.approx([1.0, 0.5, 0.25], abs=0.02)
    with pytest.raises(ValueError, match="0 < own < size"):
        redeal(["a"], ["w"], [2], [2], [1], np.ones((1, 1)), 1)
