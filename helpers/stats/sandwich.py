"""Standard errors that stay honest where clusters are unequal: CR2 with degrees of freedom by Bell and McCaffrey."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

NAN = float("nan")
#: From this leverage on one cluster decides a direction alone.
ALONE = 1 - 1e-6


@dataclass(frozen=True)
class Spread:
    """How far a linearised number varies: standard error, degrees of freedom, effective number of clusters."""

    se: float
    df: float
    effective: float


@dataclass(frozen=True)
class Pieces:
    """What each cluster adds to a number: `parts` (C,) its adjusted residual, `shares` (C,) its part of the variance.

    Both under a working model of independent rows; `squares` is the sum of squares of the (C, C) matrix G of Bell and
    McCaffrey, of which `shares` is the diagonal.
    """

    parts: np.ndarray
    shares: np.ndarray
    squares: float


def pieces_of_rates(
    residuals: np.ndarray, sizes: np.ndarray, weights: np.ndarray, variances: np.ndarray | float = 1.0
) -> Pieces:
    """The pieces of sum_m weights_m * N_m / D_m, a weighted sum of rates.

    `residuals` (C, m): sums over the rows of a cluster of value less rate, `sizes` (C, m) their counts, of which a
    column's total D_m is made; `variances` (m,) of one row in the working model. A column of which one cluster holds
    all rows must not be among them.
    """
    totals = sizes.sum(axis=0)
    leverage = sizes / totals
    factor = 1 / np.sqrt(1 - leverage)
    step = np.sqrt(variances) * weights / totals
    reach = step * factor * leverage * np.sqrt(totals)
    shares = (step**2 * sizes).sum(axis=1)
    off = float(((reach.T @ reach) ** 2).sum() - ((reach**2).sum(axis=1) ** 2).sum())
    return Pieces((weights / totals * factor * residuals).sum(axis=1), shares, float(shares @ shares) + off)


@dataclass(frozen=True)
class Adjusted:
    """A fit's clusters, adjusted by CR2: `scores` (C, k), of which a contrast of parameters takes a weighted sum.

    `root` (k, k) is M^1/2, M the inverse of the whole information; `leverage` (C, k) and `turned` (C, k, k) are the
    eigenvalues and eigenvectors of S_c = M^1/2 I_c M^1/2.
    """

    scores: np.ndarray
    root: np.ndarray
    leverage: np.ndarray
    turned: np.ndarray

    def pieces(self, contrast: np.ndarray) -> Pieces:
        """The pieces of contrast @ parameters."""
        factor = _factor(self.leverage)
        direction = np.einsum("ckj,k->cj", self.turned, self.root @ contrast)
        reach = np.einsum("ckj,cj->ck", self.turned, factor * self.leverage * direction)
        shares = (factor**2 * self.leverage * direction**2).sum(axis=1) - (reach**2).sum(axis=1)
        off = float(((reach.T @ reach) ** 2).sum() - ((reach**2).sum(axis=1) ** 2).sum())
        return Pieces(self.scores @ contrast, shares, float(shares @ shares) + off)


def adjust_scores(scores: np.ndarray, information: np.ndarray) -> Adjusted:
    """CR2 for a fit, from the (C, k) scores of its clusters and their (C, k, k) information I_c.

    The adjusted score of a cluster is M^1/2 (1 - S_c)^-1/2 M^1/2 s_c: for least squares that of (1 - H_cc)^-1/2 e_c,
    for a likelihood its linearised counterpart. A direction in which one cluster holds all information adds nothing, as
    its score there is 0."""
    values, vectors = np.linalg.eigh(information.sum(axis=0))
    root = vectors / np.sqrt(values) @ vectors.T
    leverage, turned = np.linalg.eigh(root @ information @ root)
    return _adjusted(scores, root, np.clip(leverage, 0.0, 1.0), turned)


def adjust_evenly(scores: np.ndarray, information: np.ndarray, shares: np.ndarray) -> Adjusted:
    """`adjust_scores` from the whole (k, k) information, each of (C,) clusters having its share in every direction."""
    values, vectors = np.linalg.eigh(information)
    shape = (len(shares), *information.shape)
    leverage = np.broadcast_to(shares[:, None], shape[:2])
    return _adjusted(scores, vectors / np.sqrt(values) @ vectors.T, leverage, np.broadcast_to(np.eye(shape[1]), shape))


def _adjusted(scores: np.ndarray, root: np.ndarray, leverage: np.ndarray, turned: np.ndarray) -> Adjusted:
    inside = _factor(leverage) * np.einsum("ckj,ck->cj", turned, scores @ root)
    return Adjusted(np.einsum("ckj,cj->ck", turned, inside) @ root, root, leverage, turned)


def _factor(leverage: np.ndarray) -> np.ndarray:
    free = leverage < ALONE
    return np.where(free, 1 / np.sqrt(np.where(free, 1 - leverage, 1.0)), 0.0)


def combine_pieces(pieces: Iterable[Pieces]) -> Spread:
    """The CR2 standard error of a number made of independent pieces, with its degrees of freedom.

    SE^2 is the sum of squared parts (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018, CR2 with an identity working
    model): free of bias where rows are independent and of equal variance. df = trace(G)^2 / sum of G^2 (Satterthwaite):
    C - 1 for C equal clusters, few where one cluster dominates. `effective` is (sum of shares)^2 / sum of shares^2: C
    equal clusters count as C (Carter, Schnepel and Steigerwald 2017, without correlation within clusters).
    """
    each = list(pieces)
    parts, shares = (np.concatenate([getattr(one, name) for one in each]) for name in ("parts", "shares"))
    whole, squares = float(shares.sum()), sum(one.squares for one in each)
    if not whole > 0 or not squares > 0:
        return Spread(NAN, NAN, NAN)
    return Spread(math.sqrt(float(parts @ parts)), whole**2 / squares, whole**2 / float(shares @ shares))
