"""How often each judge is right, about its own answers and about others': the published rates, filtered and not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.biases.self_preference.items import before, complete, funnel
from helpers.stats import estimates
from helpers.stats.estimates import Span
from helpers.stats.intervals import Interval, cluster_sums, clustered, no_interval
from helpers.types import Estimate

FILTERS = ("all", "consistent")


def made(
    id: str, where: Mapping[str, str], interval: Interval, data: str, unit: str = "rate", span: Span = None
) -> Estimate:
    """A number of this experiment: what varies is the article, and its method says so."""
    each = estimates.estimate(id, where, interval, data, unit, span)
    return replace(each, method=each.method.replace("question", "article"))


def nothing(id: str, where: Mapping[str, str], reason: str, data: str, unit: str = "rate") -> Estimate:
    """A number that cannot be given, with the reason."""
    return made(id, where, no_interval(math.nan, 0, 0, reason), data, unit)


def share(rows: pd.DataFrame, value: str) -> Interval:
    """The mean of a column over items, clustered by article."""
    if rows.empty:
        return no_interval(math.nan, 0, 0, "no such item has a verdict in both orders")
    sums = cluster_sums(rows, value, "article")
    return clustered(sums.numerators, sums.denominators, null=None)


def accuracies(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How often each judge picks the right answer, at first asking, before and after the filter for consistency.

    `accuracy_all` over all its pairs, `accuracy_self` over those with an answer of its own, `accuracy_harmful` where
    its own is the wrong one; `naive_harmful_rate` (`where`: judge) = 1 - accuracy_harmful, unfiltered. `legitimate` is
    the share of its votes for its own answer that were right. `where`: judge, filter ("all": an item whose orders
    disagree counts 1/2; "consistent": it is left out). `retention` (`where`: judge) is the share that the filter keeps.
    """
    asked = complete(before(table))
    found = []
    for judge, rows in asked.groupby("judge", observed=True, sort=True):
        for name in FILTERS:
            where = {"judge": str(judge), "filter": name}
            kept = rows if name == "all" else rows[rows["consistent"]]
            wrong = kept[kept["own"] == "wrong"]
            groups = {"all": kept, "self": kept[kept["own"].isin(["right", "wrong"])], "harmful": wrong}
            found += [made(f"accuracy_{kind}", where, share(part, "score"), data) for kind, part in groups.items()]
            if name == "all":
                found.append(_naive(str(judge), wrong, data))
            found.append(made("legitimate", where, _legitimate(groups["self"]), data))
        rate = share(rows.assign(kept=rows["consistent"].astype(float)), "kept")
        found.append(made("retention", {"judge": str(judge)}, rate, data))
    return found


def accuracy_harmful(table: pd.DataFrame, data: str) -> list[Estimate]:
    """Of `accuracies` the `accuracy_harmful` alone. Takes `items`."""
    wrong = complete(before(table[table["own"] == "wrong"]))
    return [
        made("accuracy_harmful", {"judge": str(judge), "filter": name}, share(kept, "score"), data)
        for judge, rows in wrong.groupby("judge", observed=True, sort=True)
        for name, kept in zip(FILTERS, (rows, rows[rows["consistent"]]), strict=True)
    ]


def naive_harmful_rate(table: pd.DataFrame, data: str) -> list[Estimate]:
    """Of `accuracies` the `naive_harmful_rate` alone. Takes `items`."""
    wrong = complete(before(table[table["own"] == "wrong"]))
    return [_naive(str(judge), rows, data) for judge, rows in wrong.groupby("judge", observed=True, sort=True)]


def _naive(judge: str, wrong: pd.DataFrame, data: str) -> Estimate:
    rate = share(wrong.assign(own_vote=1 - wrong["score"]), "own_vote")
    return made("naive_harmful_rate", {"judge": judge}, rate, data)


def _legitimate(own: pd.DataFrame) -> Interval:
    """Of the votes for the own answer, the share that was right: a ratio of two sums over articles."""
    if own.empty:
        return no_interval(math.nan, 0, 0, "no such item has a verdict in both orders")
    right = (own["own"] == "right").to_numpy()
    vote = np.where(right, own["score"], 1 - own["score"])
    table = pd.DataFrame({"article": own["article"], "votes": vote, "right": vote * right})
    sums = table.groupby("article", observed=True)[["right", "votes"]].sum().to_numpy()
    interval = clustered(sums[:, 0], sums[:, 1], null=None)
    if math.isnan(interval.value):
        return no_interval(math.nan, len(own), 0, "never voted for its own answer")
    return replace(interval, n=len(own))


def own_probability(table: pd.DataFrame, data: str) -> list[Estimate]:
    """The mean probability that a judge gives its own wrong answer, where the provider tells probabilities; no filter.

    Nothing for judges without probabilities. First asking, both orders.
    """
    asked = before(table)
    rows = asked[(asked["own"] == "wrong") & asked["probability"].notna()]
    rows = rows.assign(own_vote=1 - rows["probability"])
    return [
        made("own_wrong_probability", {"judge": str(judge)}, share(part, "own_vote"), data)
        for judge, part in rows.groupby("judge", observed=True, sort=True)
    ]


def counts(table: pd.DataFrame, data: str) -> list[Estimate]:
    """The funnel as numbers: `funnel_pairs`, `funnel_items`, `funnel_consistent` (`where`: judge, own).

    `own` is "right", "wrong" or "other" (pairs of other authors).
    """
    found = []
    for row in funnel(table).itertuples():
        where = {"judge": str(row.judge), "own": str(row.own) or "other"}
        for stage in ("pairs", "items", "consistent"):
            interval = no_interval(float(getattr(row, stage)), row.pairs, 0, "counted")
            found.append(made(f"funnel_{stage}", where, interval, data, "count"))
    return found


def unreadable_share(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The share of a judge's judgments, all conditions and tasks, without a readable verdict; from the pair frame."""
    lost = frame.assign(lost=(frame["outcome"] != "ok").astype(float))
    return [
        made("unreadable_share", {"judge": str(judge)}, share(part, "lost"), data)
        for judge, part in lost.groupby("judge", observed=True, sort=True)
    ]
