"""Two counts without their pairing: what could have been, against scipy's binomial test."""

from __future__ import annotations

import pytest
from scipy import stats

from helpers.stats.tests import discordance


def test_discordance_is_the_exact_mcnemar_test() -> None:
    table = discordance(204, 211, 480)
    # 7 more: at least 7 changed sides; at most all 204 that were there left and all 211 came.
    assert (table["changed"].iloc[0], table["changed"].iloc[-1]) == (7, 204 + 211)
    assert table["p"].iloc[0] == pytest.approx(2 * 0.5**7)
    row = table.set_index("changed").loc[27]
    assert row["p"] == pytest.approx(stats.binomtest(17, 27).pvalue) and row["share"] == 27 / 480
    assert (table["p"] - [stats.binomtest((c + 7) // 2, c).pvalue for c in table["changed"]]).abs().max() < 1e-12
    assert table["p"].is_monotonic_increasing
    assert (discordance(211, 204, 480)["p"] == table["p"]).all()


def test_counts_near_the_top_bound_the_pairs_that_could_change() -> None:
    # 9 of 10 to 8 of 10: at most one that was out came in, and two left.
    assert discordance(9, 8, 10)["changed"].tolist() == [1, 3]


@pytest.mark.parametrize("counts", [(11, 2, 10), (-1, 2, 10), (0, 0, 0)])
def test_impossible_counts_are_refused(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="expected counts from 0 to n"):
        discordance(*counts)
