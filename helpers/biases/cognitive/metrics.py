"""The published metrics in their own call forms: what they accept, their formulas, counts and intervals.

`.compute` is the published form, in which a test whose denominator is 0 counts 0; `.interval` says how sure the number
is: with `overall` the batch value, else the plain mean of the individual values, BCa over clusters (`clusters`: a label
a row; without them each row is its own); of 5 to 9 clusters, such as the notebook's own arrays have, the bounds are
marked rough in `method` ("rough: n = 5; ..."), of fewer there are none. Nothing is added to a denominator, so values
differ from the printed ones by less than 1e-8. All arrays are (n, 1), one row a test, options (n, k). An answer must be
one of its options; an anchor need not (one in the notebook is not): the option closest to it takes its place, the first
of equally close ones. Anything else is a ValueError that names the argument and the row, counted from 0.

B = k (|a1 - x1| - |a2 - x2|) / max(|a1 - x1|, |a2 - x2|), on option indices counted from 0 (Malberg et al.,
arXiv 2410.15413, and its code); a flipped answer a counts as L - 1 - a of L options. Its denominator depends on where
the answers lie: with x = 0 one step from the lowest option is a full 1, one step at the other end 1 / (L - 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ...stats.bootstrap import bca_totals
from ...stats.intervals import NAN, Interval
from ...types import RatioScale


def columns(**named: ArrayLike) -> list[np.ndarray]:
    """The named arguments as float arrays (n, 1) of one length; the row of an error counts from 0."""
    read = {name: _finite(name, values) for name, values in named.items()}
    for name, values in read.items():
        if values.ndim != 2 or values.shape[1] != 1:
            raise ValueError(f"{name} has the shape {values.shape}; it must be (n, 1), one row a test")
    _same_length(read)
    return list(read.values())


def chosen(options: ArrayLike, **answers: ArrayLike) -> list[np.ndarray]:
    """The options (n, k), k at least 2, and then the answers (n, 1), each of which is one of its row's options."""
    scale = _finite("options", options)
    if scale.ndim != 2 or scale.shape[1] < 2:
        raise ValueError(f"options has the shape {scale.shape}; it must be (n, k), one row a test, k at least 2")
    read = columns(**answers)
    _same_length({"options": scale} | dict(zip(answers, read, strict=True)))
    for name, values in zip(answers, read, strict=True):
        found = (values == scale).any(axis=1)
        if not found.all():
            row = int(np.argmin(found))
            valid = ", ".join(f"{option:g}" for option in scale[row])
            raise ValueError(f"{name}, row {row}: {values[row, 0]:g} is not among its options {valid}")
    return [scale, *read]


def cluster_codes(clusters: Sequence[object] | None, rows: int) -> np.ndarray:
    """The cluster of each row as a number from 0 up; without labels each row is its own."""
    if clusters is None:
        return np.arange(rows)
    labels = np.asarray(clusters, dtype=object)
    if labels.shape not in ((rows,), (rows, 1)):
        raise ValueError(f"clusters has the shape {labels.shape}; it must hold one label for each of the {rows} rows")
    codes, _ = pd.factorize(labels.ravel())
    if (codes < 0).any():
        raise ValueError(f"clusters, row {int(np.argmin(codes))}: no label")
    return codes


def _finite(name: str, values: ArrayLike) -> np.ndarray:
    try:
        read = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from None
    broken = np.argwhere(~np.isfinite(read))
    if len(broken):
        at = tuple(broken[0])
        where = f"{name}, row {at[0]}" if at else name
        raise ValueError(f"{where}: {read[at]} is not a finite number; leave rows without a readable answer out")
    return read


def _same_length(read: dict[str, np.ndarray]) -> None:
    lengths = {name: len(values) for name, values in read.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError("all need the same rows, found " + ", ".join(f"{n} of {name}" for name, n in lengths.items()))


def _all(valid: np.ndarray, name: str, values: np.ndarray, rule: str) -> None:
    if not valid.all():
        row = int(np.argmin(valid.ravel()))
        raise ValueError(f"{name}, row {row}: {values[row, 0]:g}; {rule}")


#: The least clusters of which these metrics have an interval; below 10 its `method` begins with "rough".
ROUGH = 5


def share(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """The quotient, NaN where the denominator is 0; never -0."""
    return np.divide(numerator, denominator, out=np.full(np.shape(numerator), NAN), where=denominator != 0) + 0.0


def nearest(options: np.ndarray, anchor: np.ndarray) -> np.ndarray:
    """The option closest to the anchor, the first of equally close ones: (n, k), (n, 1) -> (n, 1)."""
    return np.take_along_axis(options, np.abs(options - anchor).argmin(axis=1, keepdims=True), axis=1)


def moved(control: np.ndarray, treatment: np.ndarray, options: np.ndarray) -> np.ndarray:
    """How far the answer moved, as a share of how far it could have: |a2 - a1| / |farthest option - a1|."""
    return share(np.abs(treatment - control), np.abs(options - control).max(axis=1, keepdims=True))


def approach(control: np.ndarray, treatment: np.ndarray, target: np.ndarray) -> np.ndarray:
    """How much of the control's distance to the target the treatment took away: (|a1-t| - |a2-t|) / |a1-t|, signed."""
    before, after = np.abs(control - target), np.abs(treatment - target)
    return share(before - after, before)


def pull(control: np.ndarray, treatment: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The symmetric form (|a1-t| - |a2-t|) / max(|a1-t|, |a2-t|), -1 to 1: swapping the answers changes its sign."""
    before, after = np.abs(control - target), np.abs(treatment - target)
    return share(before - after, np.maximum(before, after))


def lean(answer: np.ndarray, pro: np.ndarray, con: np.ndarray) -> np.ndarray:
    """How far a selection of arguments leans to the side decided for, -1 to 1; NaN where nothing was selected."""
    return share((2 * answer - 1) * (pro - con), pro + con)


def published(values: np.ndarray) -> np.ndarray:
    """The values as the published forms count them: nothing below 0, and 0 where there is none."""
    return np.maximum(0.0, np.nan_to_num(values, nan=0.0))


def batch(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The weighted mean, of equal weights where none are given; NaN without rows."""
    w = np.ones(np.shape(values)) if weights is None else weights
    return float((values * w).sum() / w.sum()) if len(values) else NAN


@dataclass(frozen=True)
class BiasMetric:
    """A published metric: `terms` makes of its arguments one value a test, and their weights in the batch.

    `overall`: one number for the batch, the weighted mean, instead of one a test; `form`: which form of the terms.
    """

    terms: Callable[..., tuple[np.ndarray, np.ndarray | None]]
    overall: bool = True
    form: tuple[bool, ...] = ()

    def compute(self, *arguments: ArrayLike, **named: ArrayLike) -> np.ndarray | float:
        """The published metric: (n, 1), or a float with `overall` (NaN without rows)."""
        values, weights = self.terms(*self.form, *arguments, **named)
        return batch(values, weights) if self.overall else values

    def interval(
        self, *arguments: ArrayLike, clusters: Sequence[object] | None = None, seed: int = 42, **named: ArrayLike
    ) -> Interval:
        """The batch value, without `overall` the plain mean, with its BCa interval over clusters; rough below 10."""
        values, weights = self.terms(*self.form, *arguments, **named)
        w = weights if self.overall and weights is not None else np.ones(np.shape(values))
        codes = cluster_codes(clusters, len(values))
        sums = np.column_stack([np.bincount(codes, weights=column.ravel()) for column in (values * w, w)])
        return bca_totals(sums, lambda totals: totals[..., 0] / totals[..., 1], len(values), seed, least=ROUGH)


def AnchoringBiasMetric(anchor_agnostic: bool = True, overall: bool = True) -> BiasMetric:
    """How far an anchor moves the answer: in any direction (`anchor_agnostic`), or toward the anchor, 0 to 1.

    Agnostic: |a2 - a1| / |farthest option - a1|. Specific: max(0, (|a1-a*| - |a2-a*|) / |a1-a*|), a* = the option
    closest to the anchor. Takes control, treatment, options and anchor.
    """
    return BiasMetric(_anchored, overall, (anchor_agnostic,))


def _anchored(agnostic: bool, control: ArrayLike, treatment: ArrayLike, options: ArrayLike, anchor: ArrayLike) -> tuple:
    values, a1, a2 = chosen(options, control=control, treatment=treatment)
    _, at = columns(control=a1, anchor=anchor)
    return published(moved(a1, a2, values) if agnostic else approach(a1, a2, nearest(values, at))), None


def HaloEffectMetric(overall: bool = True) -> BiasMetric:
    """How far an impression moves the answer, in any direction: |a2 - a1| / |farthest option - a1|, 0 to 1.

    Takes control, treatment and options.
    """
    return BiasMetric(_halo, overall)


def _halo(control: ArrayLike, treatment: ArrayLike, options: ArrayLike) -> tuple:
    values, a1, a2 = chosen(options, control=control, treatment=treatment)
    return published(moved(a1, a2, values)), None


def LossAversionMetric(overall: bool = True) -> BiasMetric:
    """Which gambles are refused: `answer` 1 accepts, 0 refuses; `lambdas` = gain / loss, above 0.

    Individual value: the answer. Batch (`overall`): 1 - sum(a / lambda) / sum(1 / lambda), 0 = all accepted.
    """
    return BiasMetric(_gambled, overall, (overall,))


def _gambled(overall: bool, answer: ArrayLike, lambdas: ArrayLike) -> tuple:
    a, ratio = columns(answer=answer, lambdas=lambdas)
    _all((a == 0) | (a == 1), "answer", a, "an answer is 0 or 1")
    _all(ratio > 0, "lambdas", ratio, "it must be above 0")
    return (1 - a, 1 / ratio) if overall else (np.array(answer), None)


def ConfirmationBiasMetric(overall: bool = True, as_printed: bool = False) -> BiasMetric:
    """How far the arguments selected lean to the own answer: max(0, [a(p-c) + (1-a)(c-p)] / (p+c)), 0 to 1.

    `answer` 1 is for, 0 against; `pro`, `con` = arguments selected of the `n_args` listed. Batch (`overall`): the mean
    weighted by n_args. `as_printed`: the formula in the notebook's text, which has p-c in both terms, a sign error that
    lets the answer cancel.
    """
    return BiasMetric(_confirming, overall, (as_printed,))


def _confirming(as_printed: bool, answer: ArrayLike, pro: ArrayLike, con: ArrayLike, n_args: ArrayLike) -> tuple:
    a, p, c, listed = columns(answer=answer, pro=pro, con=con, n_args=n_args)
    _all((a == 0) | (a == 1), "answer", a, "an answer is 0 or 1")
    for name, values in (("pro", p), ("con", c), ("n_args", listed)):
        _all((values >= 0) & (values == np.floor(values)), name, values, "a count is a whole number from 0 up")
    _all(listed > 0, "n_args", listed, "at least one argument must be listed")
    _all(p + c <= listed, "pro + con", p + c, "more than the n_args listed")
    return published(lean(np.ones_like(a) if as_printed else a, p, c)), listed


def score(
    control: ArrayLike,
    treatment: ArrayLike,
    options: ArrayLike,
    k: ArrayLike,
    x1: ArrayLike,
    x2: ArrayLike,
    flip_control: ArrayLike = False,
    flip_treatment: ArrayLike = False,
) -> np.ndarray:
    """How far each pair of answers shows the bias, -1 to 1; positive = toward it.

    `control`, `treatment`: option indices from 0 (NaN = no readable answer, then the score is NaN); `options` = how
    many there are. All arguments are numbers or arrays of one shape, as the columns of a table of pairs; of one bias
    `score(a1, a2, 7, **asdict(parameters("framing")))`. 0/0 counts 0, as published.

    >>> score([5, 6, 0], [6, 5, 0], 7, k=-1, x1=0, x2=0).round(4).tolist()
    [0.1667, -0.1667, 0.0]
    """
    size = np.asarray(options, dtype=float)
    before = np.abs(_places("control", control, size, flip_control) - np.asarray(x1, dtype=float))
    after = np.abs(_places("treatment", treatment, size, flip_treatment) - np.asarray(x2, dtype=float))
    most = np.maximum(before, after)
    ratio = np.where(np.isnan(most), NAN, 0.0)
    ratio = np.divide(before - after, most, out=ratio, where=most > 0)
    # Adding 0 turns -0 into 0.
    return np.asarray(k, dtype=float) * ratio + 0.0


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


def random_absolute(options: int, scale: RatioScale) -> float:
    """The mean |B| of somebody who picks every option with the same chance: exact, over all pairs of answers."""
    control, treatment = np.divmod(np.arange(options**2), options)
    return math.fsum(np.abs(score(control, treatment, options, **asdict(scale)))) / options**2
