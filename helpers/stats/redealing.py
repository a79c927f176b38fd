"""Tests that deal anew: names, which were dealt out at random, and the groups of a comparison in which none differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

BATCH = 500


def redeal(
    deals: Sequence[object],
    winners: Sequence[object],
    own: Sequence[int],
    size: Sequence[int],
    won: Sequence[float],
    weights: np.ndarray,
    seed: int,
    draws: int = 9999,
) -> np.ndarray:
    """The p of each weighted sum of name effects, if no name had any part in any verdict (Fisher's randomisation test).

    One entry a judgment: which deal of names it saw, who won, how many of `size` answers bore the own name (`own`), and
    whether the winner did (`won`). Its effect is won / own - (1 - won) / (size - own); `weights` (m, N) make m
    statistics of the effects. Judgments of one deal (repeats) keep one deal: under it two winners cannot both hold the
    only own name. Lost judgments are no part of it: the names must not decide what is lost either. Two-sided,
    (1 + hits) / (1 + draws), one p a statistic; valid for any number of judgments.
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
    of, names, own_of, size_of = (each.to_numpy() for each in (cards["deal"], turn, cards["own"], cards["size"]))
    turns = [np.flatnonzero(names == number) for number in range(names.max() + 1)]
    rng = np.random.default_rng(seed)
    hits = np.zeros(len(weights))
    for start in range(0, draws, BATCH):
        count = min(BATCH, draws - start)
        statistic = np.tile(base, (count, 1))
        left = np.zeros((count, deal.max() + 1)) if len(turns) > 1 else np.zeros((0, 0))
        for number, now in enumerate(turns):  # the own names are dealt to the winners of one deal one after another
            still = left[:, of[now]] if number else own_of[now]
            held = (rng.random((count, len(now))) < still / (size_of[now] - number)).astype(float)
            statistic += held @ worth[now]
            if number + 1 < len(turns):
                left[:, of[now]] = still - held
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
