"""Tests that assume little: sign flips over questions, exact McNemar, dealing anew, corrections."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from .intervals import NAN, Interval, Kinds, Values, to_draw

#: How a method says that no draw reached the number, so that its p is at most the smallest one.
FLOOR = "at its floor"
#: So many signs are held at once.
MOST_SIGNS = 4_000_000


@dataclass(frozen=True)
class SignFlip:
    """A two-sided p with the smallest p that these data could have given; `clusters` counts those that are not 0."""

    p: float
    smallest_p: float
    clusters: int
    exact: bool


def sign_flip(contributions: Values, seed: int, draws: int = 9999) -> SignFlip:
    """Whether the mean contribution of a cluster differs from 0, if signs are exchangeable where nothing happens.

    `contributions`: one number a cluster (a paired difference, say); NaN are left out, zeros cannot flip. All 2^C sign
    patterns are counted where that is at most `draws`; else (1 + hits) / (1 + draws), many clusters of few sizes drawn
    by size. With all zero p is 1, with nothing NaN. A level below `smallest_p` cannot be reached: there is no test.

    >>> sign_flip([1, 1, 1, 1, 1], seed=1)
    SignFlip(p=0.0625, smallest_p=0.0625, clusters=5, exact=True)
    """
    values = np.asarray(contributions, dtype=float)
    values = values[~np.isnan(values)]
    if not len(values):
        return SignFlip(NAN, NAN, 0, True)
    values = values[values != 0]
    size = len(values)
    if not size:
        return SignFlip(1.0, 1.0, 0, True)
    # Sums that are equal on paper differ in the last digits; they must count as equal.
    observed = abs(values.sum()) - 1e-10 * np.abs(values).sum()
    if size < 63 and 2**size <= draws:
        signs = 1 - 2 * (np.arange(2**size)[:, None] >> np.arange(size) & 1)
        return SignFlip(float((np.abs(signs @ values) >= observed).mean()), 2.0 ** (1 - size), size, True)
    kinds = to_draw(np.abs(values)[:, None])
    if len(kinds.counts) < size:
        hits = int((np.abs(_sums_of_kinds(kinds, seed, draws)) >= observed).sum())
    else:
        rng, hits, batch = np.random.default_rng(seed), 0, max(1, MOST_SIGNS // size)
        for start in range(0, draws, batch):
            drawn = 1.0 - 2 * rng.integers(0, 2, size=(min(batch, draws - start), size), dtype=np.int8)
            hits += int((np.abs(drawn @ values) >= observed).sum())
    return SignFlip((1 + hits) / (1 + draws), 1 / (1 + draws), size, False)


def with_sign_flip(
    interval: Interval, contributions: Values, seed: int, level: float = 0.05, moved: str = "questions changed"
) -> Interval:
    """An interval with the p of sign flips over its clusters in place of t's.

    None where even the smallest attainable p is above `level`, the one that a correction leaves; `moved` then says what
    the clusters did that count. A p that no draw reached is marked FLOOR in `method`.
    """
    # Enough draws that the smallest p lies well below the corrected level of a large family.
    test = sign_flip(contributions, seed, max(9999, math.ceil(20 / level)))
    return with_test(interval, test, level, moved)


def with_test(interval: Interval, test: SignFlip, level: float, moved: str, name: str = "sign-flip p") -> Interval:
    """`with_sign_flip` of a test that was made already."""
    if test.smallest_p > level:
        why = f"no test: {test.clusters} {moved}, whose smallest {name}, {test.smallest_p:.2g}, is above {level:.2g}"
        return replace(interval, p=NAN, method=f"{interval.method}; {why}")
    floor = f" {FLOOR}" if not test.exact and test.p <= test.smallest_p else ""
    return replace(interval, p=test.p, method=f"{interval.method}; {name}{floor}")


def _sums_of_kinds(kinds: Kinds, seed: int, draws: int) -> np.ndarray:
    """The sum of each pattern: of equal contributions as many are positive as a binomial law of one half says."""
    rng, batch = np.random.default_rng(seed), max(1, MOST_SIGNS // len(kinds.counts))
    many, found = kinds.counts.astype(int), []
    for start in range(0, draws, batch):
        up = rng.binomial(many, 0.5, size=(min(batch, draws - start), len(many)))
        found.append((2 * up - many) @ kinds.sums[:, 0])
    return np.concatenate(found)


def holm(p: Sequence[float]) -> np.ndarray:
    """Holm's corrected p of a confirmatory family; NaN stay NaN and do not count as tests.

    >>> holm([0.01, float("nan"), 0.04])
    array([0.02,  nan, 0.04])
    """
    return _corrected(p, lambda p: np.maximum.accumulate(p * np.arange(len(p), 0, -1)))


def benjamini_hochberg(p: Sequence[float]) -> np.ndarray:
    """Benjamini and Hochberg's corrected p (false discovery rate) of an exploratory grid; NaN as in `holm`."""
    return _corrected(p, lambda p: np.minimum.accumulate((p / (np.arange(1, len(p) + 1) / len(p)))[::-1])[::-1])


def _corrected(p: Sequence[float], adjust: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """`adjust` takes the p that are numbers in rising order."""
    corrected = np.array(p, dtype=float)
    (tested,) = np.nonzero(~np.isnan(corrected))
    rising = tested[np.argsort(corrected[tested], kind="stable")]
    corrected[rising] = np.minimum(adjust(corrected[rising]), 1.0)
    return corrected


def mcnemar_exact(b: int, c: int) -> float:
    """The exact two-sided McNemar p of b against c discordant pairs, one pair a cluster; 1 where none is discordant.

    >>> f"{mcnemar_exact(94, 34):.1e}"
    '1.1e-07'
    """
    if b < 0 or c < 0 or b != int(b) or c != int(c):
        raise ValueError(f"discordant counts must be whole numbers from 0 up, found {b!r} and {c!r}")
    if b + c == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(int(b), int(b + c), 0.5).pvalue)


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


BATCH = 500


def redeal(
    deals: Values,
    winners: Values,
    own: np.ndarray,
    size: np.ndarray,
    won: np.ndarray,
    weights: np.ndarray,
    seed: int,
    draws: int = 9999,
) -> np.ndarray:
    """The p of each weighted sum of name effects, if no name had any part in any verdict (Fisher's randomisation test).

    One entry a judgment: which deal of names it saw, who won, how many of `size` answers bore the own name (`own`), and
    whether the winner did (`won`). Its effect is won / own - (1 - won) / (size - own); `weights` (m, N) make m
    statistics. Judgments of one deal (repeats) keep one deal. Two-sided, (1 + hits) / (1 + draws).
    """
    own, size, won = (np.asarray(each, dtype=float) for each in (own, size, won))
    weights = np.atleast_2d(np.asarray(weights, dtype=float))
    if not len(own) == len(size) == len(won) == weights.shape[1] or not ((own > 0) & (own < size)).all():
        raise ValueError("one deal, winner, own, size and weight a judgment, with 0 < own < size")
    deal, _ = pd.factorize(np.asarray(deals))
    cards = pd.DataFrame({"deal": deal, "winner": np.asarray(winners), "own": own, "size": size})
    card = cards.groupby(["deal", "winner"], sort=True).ngroup().to_numpy()
    cards = cards.assign(card=card).drop_duplicates("card").sort_values("card")
    turn = cards.groupby("deal").cumcount()
    gain = weights * (1 / own + 1 / (size - own))
    base = -(weights / (size - own)).sum(axis=1)
    observed = np.abs(gain @ won + base)
    # Sums that are equal on paper differ in the last digits; they must count as equal.
    observed -= 1e-10 * np.abs(gain).sum(axis=1)
    # What each statistic gains where a card bears the own name.
    worth = np.zeros((len(cards), len(weights)))
    np.add.at(worth, card, gain.T)
    deal_of, names, own_of, size_of = (each.to_numpy() for each in (cards["deal"], turn, cards["own"], cards["size"]))
    turns = [np.flatnonzero(names == number) for number in range(names.max() + 1)]
    rng = np.random.default_rng(seed)
    hits = np.zeros(len(weights))
    for start in range(0, draws, BATCH):
        count = min(BATCH, draws - start)
        statistic = np.tile(base, (count, 1))
        left = np.zeros((count, deal.max() + 1)) if len(turns) > 1 else np.zeros((0, 0))
        for number, now in enumerate(turns):  # the own names are dealt to the winners of one deal one after another
            still = left[:, deal_of[now]] if number else own_of[now]
            dealt = (rng.random((count, len(now))) < still / (size_of[now] - number)).astype(float)
            statistic += dealt @ worth[now]
            if number + 1 < len(turns):
                left[:, deal_of[now]] = still - dealt
        hits += (np.abs(statistic) >= observed).sum(axis=0)
    return (1 + hits) / (1 + draws)


def deal_groups(
    x: np.ndarray, d: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray], seed: int, draws: int
) -> np.ndarray:
    """A statistic of rates in each group, (draws, groups), where groups change places within each question.

    `x`, `d`: (questions, groups, columns) numerators and denominators; `statistic` takes rates (..., columns).
    """
    rng, (questions, groups) = np.random.default_rng(seed), x.shape[:2]
    places, found = np.arange(questions)[None, :, None], [np.empty((0, groups))]
    for start in range(0, draws, BATCH):
        shape = (min(BATCH, draws - start), questions, groups)
        order = rng.permuted(np.broadcast_to(np.arange(groups), shape), axis=-1)
        hits, rows = (each[places, order].sum(axis=1) for each in (x, d))
        with np.errstate(invalid="ignore", divide="ignore"):
            found.append(statistic(hits / rows))
    return np.concatenate(found)


def deal_counts(counts: np.ndarray, seed: int, draws: int) -> np.ndarray:
    """Votes counted by (groups, labels), dealt anew to groups of the same sizes: (draws, groups, labels).

    As if votes were independent: counts do not tell which vote of one group belongs to which of another.
    """
    rng, left = np.random.default_rng(seed), np.tile(counts.sum(axis=0), (draws, 1))
    dealt = np.zeros((draws, *counts.shape), dtype=int)
    for group, size in enumerate(counts.sum(axis=1)):
        need = np.full(draws, size)
        for label in range(counts.shape[1]):
            others = left[:, label + 1 :].sum(axis=1)
            dealt[:, group, label] = rng.hypergeometric(left[:, label], others, need)
            need -= dealt[:, group, label]
        left -= dealt[:, group]
    return dealt
