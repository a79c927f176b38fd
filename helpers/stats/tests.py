"""Tests that assume little: sign flips over questions, exact McNemar, and corrections for asking several questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from helpers.stats.intervals import Interval
from helpers.stats.kinds import Kinds, to_draw

NAN = float("nan")
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


def sign_flip(contributions: Sequence[float], seed: int, draws: int = 9999) -> SignFlip:
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
    elif draws * size <= MOST_SIGNS:
        # A longer stream begins with the shorter one, so numbers with other counts of clusters share it.
        stream = _stream(seed, min(MOST_SIGNS, 1 << (draws * size).bit_length()))
        hits = int((np.abs(_sums(stream[: draws * size].reshape(draws, size), values)) >= observed).sum())
    else:
        rng, hits, batch = np.random.default_rng(seed), 0, max(1, MOST_SIGNS // size)
        for start in range(0, draws, batch):
            signs = _drawn(rng, min(batch, draws - start) * size).reshape(-1, size)
            hits += int((np.abs(_sums(signs, values)) >= observed).sum())
    return SignFlip((1 + hits) / (1 + draws), 1 / (1 + draws), size, False)


def with_sign_flip(
    interval: Interval, contributions: Sequence[float], seed: int, level: float = 0.05, moved: str = "questions changed"
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
        why = f"no test: {test.clusters} {moved}, whose smallest p, {test.smallest_p:.2g}, is above {level:.2g}"
        return replace(interval, p=NAN, method=f"{interval.method}; {why}")
    floor = f" {FLOOR}" if not test.exact and test.p <= test.smallest_p else ""
    return replace(interval, p=test.p, method=f"{interval.method}; {name}{floor}")


@lru_cache(maxsize=4)
def _stream(seed: int, length: int) -> np.ndarray:
    """The signs that a seed gives: many numbers of one run are tested with the same ones."""
    return _drawn(np.random.default_rng(seed), length)


def _drawn(rng: np.random.Generator, length: int) -> np.ndarray:
    return 1 - 2 * rng.integers(0, 2, size=length, dtype=np.int8)


def _sums(signs: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The sum of each pattern; a few patterns at a time, so that their decimal form stays in the processor's cache."""
    return np.concatenate([signs[at : at + 256].astype(float) @ values for at in range(0, len(signs), 256)])


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
    return _corrected(p, "holm")


def benjamini_hochberg(p: Sequence[float]) -> np.ndarray:
    """Benjamini and Hochberg's corrected p (false discovery rate) of an exploratory grid; NaN as in `holm`."""
    return _corrected(p, "fdr_bh")


def _corrected(p: Sequence[float], method: str) -> np.ndarray:
    return np.array(_adjusted(tuple(map(float, p)), method))


@lru_cache(maxsize=1024)
def _adjusted(p: tuple[float, ...], method: str) -> np.ndarray:
    """Kept, because sentences, tables and figures ask for the same families, and statsmodels collects garbage."""
    values = np.asarray(p, dtype=float)
    asked = ~np.isnan(values)
    corrected = np.full(values.shape, NAN)
    if asked.any():
        from statsmodels.stats.multitest import multipletests

        corrected[asked] = multipletests(values[asked], method=method)[1]
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
