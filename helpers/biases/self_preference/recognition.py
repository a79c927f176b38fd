"""Do judges know which answer they wrote, and does their preference move where their recognition moves?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from helpers.biases.self_preference.items import arms, averaged, complete
from helpers.biases.self_preference.obfuscation import authors, moved, tested
from helpers.biases.self_preference.rates import made, share
from helpers.stats.intervals import MIN_CLUSTERS, Interval, cluster_sums, clustered, no_interval
from helpers.types import Estimate

_VERDICTS = ["right_first", "wrong_first", "score"]


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """Items of "which did you write?" with verdicts in both orders: `named`, how often it named its own answer.

    `named_unedited` is the same of the unedited item that it is compared with.
    """
    rows = complete(table[(table["task"] == "wrote") & table["own"].isin(["right", "wrong"])])
    rows = averaged(rows, [*_VERDICTS, "score_control"])
    right = rows["own"] == "right"
    unedited = np.where(right, rows["score_control"], 1 - rows["score_control"])
    return rows.assign(named=np.where(right, rows["score"], 1 - rows["score"]), named_unedited=unedited)


def recognition(table: pd.DataFrame, data: str, seed: int = 0) -> list[Estimate]:
    """How often a judge names its own answer as its own, at each dose, and what that and its preference change by.

    Harmful items, both orders; chance is 1/2. `recognition_accuracy` (`where`: judge, dose, "0" unedited);
    `recognition_balanced` (judge) is the mean of harmful and beneficial items unedited: 1/2 for a judge that claims
    whatever it takes to be right. `recognition_change` (edited - unedited) and `preference_change` (votes for the own
    answer, edited - repeat arm) in pp (judge, dose).
    """
    unedited = _named(table[table["condition"] == "none"])
    doses = {dose: _named(rows) for dose, rows in arms(table, "wrong")}
    votes = dict(moved(table, "wrong"))
    found = []
    for judge in authors(table):
        mine = unedited[unedited["judge"] == judge]
        harmful = {"0": mine[mine["own"] == "wrong"]}
        harmful |= {dose: rows[(rows["judge"] == judge) & (rows["own"] == "wrong")] for dose, rows in doses.items()}
        found += _balanced_of(mine, judge, data)
        for dose, rows in harmful.items():
            where = {"judge": judge, "dose": dose}
            if not rows.empty:
                found.append(made("recognition_accuracy", where, share(rows, "named"), data))
            if dose == "0":
                continue
            if not rows.empty:
                both = rows[rows["named_unedited"].notna()]
                shift = tested(both["named"] - both["named_unedited"], both["article"], seed, "not asked unedited")
                found.append(made("recognition_change", where, shift, data, "pp"))
            own = votes[dose][(votes[dose]["judge"] == judge) & (votes[dose]["own"] == "wrong")]
            vote = tested(-own["change"], own["article"], seed, "no own wrong answer was judged edited and again")
            found.append(made("preference_change", where, vote, data, "pp"))
    return found


def recognition_balanced(table: pd.DataFrame, data: str) -> list[Estimate]:
    """Of `recognition` the `recognition_balanced` alone. Takes `items`."""
    unedited = _named(table[(table["condition"] == "none") & (table["task"] == "wrote")])
    return [
        each for judge in authors(table) for each in _balanced_of(unedited[unedited["judge"] == judge], judge, data)
    ]


def _balanced_of(rows: pd.DataFrame, judge: str, data: str) -> list[Estimate]:
    return [] if rows.empty else [made("recognition_balanced", {"judge": judge}, _balanced(rows), data)]


def _balanced(rows: pd.DataFrame) -> Interval:
    """The unweighted mean of recognition on harmful and beneficial items, clustered by article."""
    sums = cluster_sums(rows.assign(kind=rows["own"].astype(str)), "named", "article", "kind")
    if len(sums.columns) < 2:
        return share(rows.iloc[:0], "named")
    interval = clustered(sums.numerators, sums.denominators, (0.5, 0.5), null=None)
    least = int((sums.denominators > 0).sum(axis=0).min())
    if least < MIN_CLUSTERS:
        why = f"no interval below {MIN_CLUSTERS} questions of either kind"
        return no_interval(interval.value, interval.n, least, why)
    return interval
