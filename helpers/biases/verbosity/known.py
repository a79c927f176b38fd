"""Pairs of which one text is known to be better: how often a judge finds it, and what length has to do with that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from helpers.biases.verbosity.effects import mean
from helpers.biases.verbosity.wording import KNOWN
from helpers.stats.estimates import estimate
from helpers.stats.intervals import MIN_CLUSTERS, Interval
from helpers.stats.numbering import clusters_of
from helpers.stats.tests import with_sign_flip
from helpers.types import Estimate


def known_pairs(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How often each judge prefers the better of two texts, a tie counting half; nothing where there are none.

    `known_pair_accuracy` (judge), `known_pair_accuracy_by_bias` (judge, bias that the pairs are made for),
    `longer_when_worse` (judge): how often the longer text wins where it is the worse one, and `longer_when_better`;
    `longer_over_better` (judge, pp): how much more often than the better one. Takes `pairs`.
    """
    mine = table[(table["condition"] == KNOWN) & table["score"].notna()]
    found = []
    for judge, rows in mine.groupby("judge", sort=True):
        where = {"judge": str(judge)}
        right = (rows["score"] + 1) / 2
        found.append(estimate("known_pair_accuracy", where, mean(rows, right, null=0.5), data))
        for bias, each in rows.groupby("bias", sort=True):
            at = where | {"bias": str(bias)}
            found.append(estimate("known_pair_accuracy_by_bias", at, mean(each, right[each.index], null=0.5), data))
        found += _lengths(rows, where, data, seed)
    return found


def _lengths(rows: pd.DataFrame, where: dict[str, str], data: str, seed: int) -> Iterator[Estimate]:
    longer = rows["letters_tried"] - rows["letters_other"]
    for id, each in (("longer_when_worse", rows[longer < 0]), ("longer_when_better", rows[longer > 0])):
        won = (1 + each["score"] * (1 if id == "longer_when_better" else -1)) / 2
        share = against_coin(mean(each, won), won, clusters_of(each), seed)
        yield estimate(id, where, share, data)
        if id == "longer_when_worse":
            yield estimate("longer_over_better", where, signed(share), data, "pp")


def against_coin(interval: Interval, values: pd.Series, questions: pd.Series, seed: int) -> Interval:
    """The interval of a share with the p of sign flips over questions against one half; none below 10 questions."""
    if interval.clusters < MIN_CLUSTERS:
        return interval
    return with_sign_flip(interval, (values - 0.5).groupby(questions.to_numpy(), sort=True).sum(), seed)


def signed(share: Interval) -> Interval:
    """How much more often one of two texts wins than the other, from the share of its wins: 0 where that is a half."""
    return replace(share, value=2 * share.value - 1, low=2 * share.low - 1, high=2 * share.high - 1, se=2 * share.se)
