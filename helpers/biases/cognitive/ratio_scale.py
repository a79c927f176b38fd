"""The published metric of thirty biases: how much nearer the treatment's answer is to a point than the control's.

B = k (|a1 - x1| - |a2 - x2|) / max(|a1 - x1|, |a2 - x2|), on option indices counted from 0 (Malberg et al.,
arXiv 2410.15413, and its code); a flipped answer a counts as L - 1 - a of L options. Its denominator depends on where
the answers lie: with x = 0 one step from the lowest option is a full 1, one step at the other end 1 / (L - 1).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from helpers.stats.intervals import NAN
from helpers.types import RatioScale


@dataclass(frozen=True)
class RandomAnswerer:
    """What the metric gives somebody who picks every option with the same chance: exact, over all pairs of answers.

    `mean` of B, `mean_absolute` of |B|, `undefined` = the share of pairs that are 0/0.
    """

    mean: float
    mean_absolute: float
    undefined: float


def score(
    control: ArrayLike,
    treatment: ArrayLike,
    options: ArrayLike,
    k: ArrayLike,
    x1: ArrayLike,
    x2: ArrayLike,
    flip_control: ArrayLike = False,
    flip_treatment: ArrayLike = False,
    undefined: float = 0.0,
) -> np.ndarray:
    """How far each pair of answers shows the bias, -1 to 1; positive = toward it.

    `control`, `treatment`: option indices from 0 (NaN = no readable answer, then the score is NaN); `options` = how
    many there are. All arguments are numbers or arrays of one shape, as the columns of a table of pairs; of one bias
    `score(a1, a2, 7, **asdict(parameters("framing")))`. `undefined`: what 0/0 counts, 0 as published or NaN.

    >>> score([5, 6, 0], [6, 5, 0], 7, k=-1, x1=0, x2=0).round(4).tolist()
    [0.1667, -0.1667, 0.0]
    """
    _check_convention(undefined)
    size = np.asarray(options, dtype=float)
    before = np.abs(_places("control", control, size, flip_control) - np.asarray(x1, dtype=float))
    after = np.abs(_places("treatment", treatment, size, flip_treatment) - np.asarray(x2, dtype=float))
    most = np.maximum(before, after)
    ratio = np.where(np.isnan(most), NAN, undefined)
    ratio = np.divide(before - after, most, out=ratio, where=most > 0)
    # Adding 0 turns -0 into 0.
    return np.asarray(k, dtype=float) * ratio + 0.0


def _check_convention(undefined: float) -> None:
    if not (undefined == 0 or np.isnan(undefined)):
        raise ValueError(f"0/0 counts 0 or NaN, found undefined={undefined!r}")


def _places(name: str, answers: ArrayLike, options: np.ndarray, flip: ArrayLike) -> np.ndarray:
    places, size, turned = np.broadcast_arrays(
        np.asarray(answers, dtype=float), options, np.asarray(flip).astype(float)
    )
    wrong = ~np.isnan(places) & ~((places >= 0) & (places < size) & (places == np.floor(places)))
    if wrong.any():
        at = int(np.argmax(wrong.ravel()))
        valid = f"0 to {size.ravel()[at] - 1:g}"
        raise ValueError(f"{name}, row {at}: option index {places.ravel()[at]:g}; must be one of {valid}")
    return places + turned * (size - 1 - 2 * places)


def random_answerer(options: int, scale: RatioScale, undefined: float = 0.0) -> RandomAnswerer:
    """What a uniformly random answerer scores on this bias; 0/0 counts 0, or is left out with `undefined` NaN."""
    _check_convention(undefined)
    control, treatment = np.divmod(np.arange(options**2), options)
    scores = score(control, treatment, options, **asdict(scale), undefined=NAN)
    gone = np.isnan(scores)
    size = options**2 if undefined == 0 else options**2 - int(gone.sum())
    # Exact sums: opposite scores cancel to 0 and leave no 1e-17.
    sums = [math.fsum(values[~gone]) for values in (scores, np.abs(scores))]
    mean, absolute = (total / size if size else NAN for total in sums)
    return RandomAnswerer(mean, absolute, float(gone.mean()))


def published_batch(scores: ArrayLike, weights: ArrayLike | None = None) -> float:
    """The batch score as its source gives it: sum(w B) / sum(w) rounded to two decimals, w = 1 where none are given.

    Rows without a score (NaN) are left out with their weight, as the source leaves out failed ones; NaN without rows.
    """
    values = np.asarray(scores, dtype=float).ravel()
    w = np.ones_like(values) if weights is None else np.asarray(weights, dtype=float).ravel()
    if w.shape != values.shape:
        raise ValueError(f"{len(w)} weights for {len(values)} scores; need one each")
    known = ~np.isnan(values)
    total = w[known].sum()
    return round(float((w[known] * values[known]).sum() / total), 2) if total else NAN
