"""Whether judges say what people say, beyond chance, and as much as people say what other people say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from helpers.biases.accuracy.tables import Counted, counted
from helpers.stats.agreement import alpha_of_coincidences
from helpers.stats.bootstrap import bca_totals
from helpers.stats.estimates import estimate
from helpers.stats.intervals import Interval, clustered, no_interval
from helpers.types import Estimate

#: Which votes count: all (a tie is a verdict, an inconsistent verdict a tie), all but those that an inconsistent
#: verdict met, or only those where nobody said tie.
ALL, CONSISTENT, DECISIVE = "all", "consistent", "decisive"
Sums = tuple[np.ndarray, np.ndarray]


def agreement(votes: pd.DataFrame, data: str, seed: int = 42, resamples: int = 2000) -> list[Estimate]:
    """How far judges agree with people, and people with each other: by condition where there are several, and in all.

    `votes` as `counted` takes them, optional columns source and condition. `human_agreement` (judge, votes: all,
    consistent, decisive; `human_agreement_of_all`: unreadable verdicts agree with nobody), `human_human_agreement`
    (votes), `agreement_gap` (judge, votes; judge less people on the same votes, pp; where ties are left out
    these differ, as judges and people say tie of other pairs), `human_alpha` (judge) and
    `human_human_alpha` (Krippendorff, nominal), `vote_unreadable_share` (judge). `where` has source and condition where
    the frame has them. Question-clustered t; alpha: BCa over questions of `resamples` draws from `seed`.
    """
    found: list[Estimate] = []
    sources = votes.groupby("source", sort=False) if "source" in votes.columns else [(None, votes)]
    for source, part in sources:
        for condition, rows in _conditions(part):
            place = {"source": source, "condition": condition}
            where = {key: str(value) for key, value in place.items() if value is not None}
            found += of_counted(counted(rows), where, data, seed, resamples)
    return found


def _conditions(votes: pd.DataFrame) -> Iterator[tuple[str | None, pd.DataFrame]]:
    if "condition" not in votes.columns:
        yield None, votes
        return
    names = list(dict.fromkeys(votes["condition"]))
    if len(names) > 1:
        yield "all", votes
    for name in names:
        yield name, votes[votes["condition"] == name]


def of_counted(
    tables: Counted, where: Mapping[str, str], data: str, seed: int = 42, resamples: int = 2000
) -> list[Estimate]:
    """The estimates of `agreement` from the counts of one source and condition, as published counts have them."""
    found = []
    for judge, table in tables.judges.items():
        at = {**where, "judge": judge}
        for which in (ALL, CONSISTENT, DECISIVE):
            each = clustered(*judge_sums(table.votes, which), null=None)
            found.append(estimate("human_agreement", {**at, "votes": which}, each, data))
        agreed, _ = judge_sums(table.votes, ALL)
        of_all = clustered(agreed, table.votes.sum(axis=(1, 2)), null=None)
        found.append(estimate("human_agreement_of_all", at, of_all, data))
        for which in (ALL, DECISIVE):
            sums = zip(judge_sums(table.shared, which), people_sums(table.people, which), strict=True)
            gap = clustered(*(np.column_stack(columns) for columns in sums), [1.0, -1.0])
            found.append(estimate("agreement_gap", {**at, "votes": which}, gap, data, "pp"))
        found.append(estimate("human_alpha", at, alpha(_plain(table.votes), seed, resamples), data, "alpha"))
        if judge in tables.judged:
            found.append(_lost(tables, judge, at, data))
    for which in (ALL, DECISIVE):
        each = clustered(*people_sums(tables.people, which), null=None)
        found.append(estimate("human_human_agreement", {**where, "votes": which}, each, data))
    found.append(estimate("human_human_alpha", where, alpha(tables.people, seed, resamples), data, "alpha"))
    return found


def _lost(tables: Counted, judge: str, where: Mapping[str, str], data: str) -> Estimate:
    share = tables.lost[judge] / tables.judged[judge]
    counts = {"n": tables.judged[judge], "clusters": len(tables.questions)}
    return Estimate("vote_unreadable_share", dict(where), share, **counts, method="counted", data=data)


def _plain(votes: np.ndarray) -> np.ndarray:
    """(C, 3, 3) with inconsistent verdicts as ties and without unreadable ones."""
    table = votes[:, :3].copy()
    table[:, 1] += votes[:, 3]
    return table


def judge_sums(votes: np.ndarray, which: str) -> Sums:
    """(C,) agreeing votes and (C,) votes compared, of a judge's (C, 5, 3) table."""
    table = _plain(votes) if which == ALL else votes[:, :3]
    return people_sums(table, which)


def people_sums(table: np.ndarray, which: str) -> Sums:
    """(C,) agreeing and (C,) compared of a (C, 3, 3) table; decisive leaves out whatever met a tie."""
    kept = table[:, ::2, ::2] if which == DECISIVE else table
    return np.trace(kept, axis1=1, axis2=2), kept.sum(axis=(1, 2))


def alpha(table: np.ndarray, seed: int, resamples: int = 2000) -> Interval:
    """Krippendorff's alpha of the comparisons in a (C, 3, 3) table, each two ratings of a unit of its own.

    So a judge's alpha and people's are the same measure: agreement beyond what two raters with the verdicts of this
    very table would reach by chance. NaN where nothing is compared or one verdict alone was given. BCa over questions.
    """
    kept = table[table.sum(axis=(1, 2)) > 0]
    sums = (kept + kept.transpose(0, 2, 1)).reshape(len(kept), 9)
    n = round(kept.sum())
    if not n or np.isnan(alpha_of_coincidences(sums.sum(axis=0), "nominal")):
        reason = "undefined: only one verdict was ever given" if n else "no two voted on the same pair"
        return no_interval(float("nan"), n, len(kept), reason)
    return bca_totals(sums, lambda totals: alpha_of_coincidences(totals, "nominal"), n, seed, resamples)
