"""What counts before and after leave open when it is not told which row became which."""

from __future__ import annotations

import pandas as pd

from helpers.stats.tests import mcnemar_exact


def discordance(before: int, after: int, n: int) -> pd.DataFrame:
    """The exact McNemar p of a change from before/n to after/n, for every share of pairs that may have changed sides.

    Columns: share (changed pairs / n), changed, p; one row for each possible number of changed pairs, from |after -
    before| to as many as the two counts allow. Counts outside 0 to n are a ValueError.

    >>> discordance(1, 3, 10)[["changed", "p"]].to_dict("list")
    {'changed': [2, 4], 'p': [0.5, 0.625]}
    """
    if not (0 <= before <= n and 0 <= after <= n and n):
        raise ValueError(f"{before} and {after} of {n}: expected counts from 0 to n, and n above 0")
    net, most = after - before, min(before + after, 2 * n - before - after)
    rows = [
        (changed / n, changed, mcnemar_exact((changed + net) // 2, (changed - net) // 2))
        for changed in range(max(abs(net), 1), most + 1)
        if (changed - net) % 2 == 0
    ]
    return pd.DataFrame(rows, columns=["share", "changed", "p"])
