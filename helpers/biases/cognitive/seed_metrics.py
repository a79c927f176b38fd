"""The four metrics of the confidence-variation notebook in its own call form, with counts and intervals beside them.

`.compute` is the published form, in which a test whose denominator is 0 counts 0; `.undefined` counts those tests;
`.defended` gives signed individual values and leaves them NaN; `.interval` says how sure the number is: with `overall`
the batch value, else the plain mean of the individual values, BCa over clusters (`clusters`: a label a row; without
them each row is its own); of 5 to 9 clusters, such as the notebook's own arrays have, the bounds are marked rough in
`method` ("rough: n = 5; ..."), of fewer there are none. Nothing is added to a denominator, so values differ from the
printed ones by less than 1e-8. All arrays are (n, 1), one row a test, options (n, k). An answer must be one of its
options; an anchor need not (one in the notebook is not): the option closest to it takes its place, the first of equally
close ones. Anything else is a ValueError that names the argument and the row, counted from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from helpers.biases.cognitive import seed_forms as forms
from helpers.biases.cognitive import seed_inputs as inputs
from helpers.stats.intervals import Interval

Clusters = Sequence[object] | None
Result = np.ndarray | float


@dataclass(frozen=True)
class AnchoringBiasMetric:
    """How far an anchor moves the answer: in any direction (`anchor_agnostic`), or toward the anchor.

    Agnostic: |a2 - a1| / |farthest option - a1|. Specific: max(0, (|a1-a*| - |a2-a*|) / |a1-a*|), a* = the option
    closest to the anchor. `overall`: one number for the batch, the mean, instead of one a test.
    """

    anchor_agnostic: bool = True
    overall: bool = True

    def compute(self, control: ArrayLike, treatment: ArrayLike, options: ArrayLike, anchor: ArrayLike) -> Result:
        """The published metric, 0 to 1: (n, 1), or a float with `overall` (NaN without rows)."""
        values = forms.published(self._values(control, treatment, options, anchor))
        return forms.batch(values) if self.overall else values

    def undefined(self, control: ArrayLike, treatment: ArrayLike, options: ArrayLike, anchor: ArrayLike) -> int:
        """How many tests count 0 because the denominator is 0, wherever the treatment's answer went.

        Specific: the control's answer is a* already. Agnostic: all options are the same number.
        """
        return forms.missing(self._values(control, treatment, options, anchor))

    def defended(self, control: ArrayLike, treatment: ArrayLike, options: ArrayLike, anchor: ArrayLike) -> np.ndarray:
        """The signed values (|a1-a*| - |a2-a*|) / max(|a1-a*|, |a2-a*|), (n, 1); NaN where both answers are a*."""
        given, a1, a2, at = inputs.anchored(control, treatment, options, anchor)
        return forms.pull(a1, a2, forms.nearest(given, at))

    def interval(
        self,
        control: ArrayLike,
        treatment: ArrayLike,
        options: ArrayLike,
        anchor: ArrayLike,
        *,
        clusters: Clusters = None,
        seed: int = 42,
    ) -> Interval:
        """How sure the mean of the published values is; it is the batch value too."""
        return forms.batch_interval(
            forms.published(self._values(control, treatment, options, anchor)), None, clusters, seed
        )

    def _values(self, *arguments: ArrayLike) -> np.ndarray:
        given, a1, a2, at = inputs.anchored(*arguments)
        return forms.moved(a1, a2, given) if self.anchor_agnostic else forms.approach(a1, a2, forms.nearest(given, at))


@dataclass(frozen=True)
class HaloEffectMetric:
    """How far an impression moves the answer, in any direction: |a2 - a1| / |farthest option - a1|.

    `overall`: one number for the batch, the mean, instead of one a test.
    """

    overall: bool = True

    def compute(self, control: ArrayLike, treatment: ArrayLike, options: ArrayLike) -> Result:
        """The published metric, 0 to 1: (n, 1), or a float with `overall` (NaN without rows)."""
        values = forms.published(_halo(control, treatment, options))
        return forms.batch(values) if self.overall else values

    def undefined(self, control: ArrayLike, treatment: ArrayLike, options: ArrayLike) -> int:
        """How many tests count 0 because the denominator is 0: all their options are the same number."""
        return forms.missing(_halo(control, treatment, options))

    def defended(self, control: ArrayLike, treatment: ArrayLike, options: ArrayLike, target: ArrayLike) -> np.ndarray:
        """The signed values (|a1-t| - |a2-t|) / max(|a1-t|, |a2-t|), (n, 1); NaN where both answers are the target.

        A direction takes one argument more: `target` (n, 1), the option that the impression pulls to, the highest of a
        good one and the lowest of a bad one.
        """
        _, a1, a2, at = inputs.chosen(options, control=control, treatment=treatment, target=target)
        return forms.pull(a1, a2, at)

    def interval(
        self, control: ArrayLike, treatment: ArrayLike, options: ArrayLike, *, clusters: Clusters = None, seed: int = 42
    ) -> Interval:
        """How sure the mean of the published values is; it is the batch value too."""
        return forms.batch_interval(forms.published(_halo(control, treatment, options)), None, clusters, seed)


def _halo(control: ArrayLike, treatment: ArrayLike, options: ArrayLike) -> np.ndarray:
    given, a1, a2 = inputs.chosen(options, control=control, treatment=treatment)
    return forms.moved(a1, a2, given)


@dataclass(frozen=True)
class LossAversionMetric:
    """Which gambles are refused: `answer` 1 accepts, 0 refuses; `lambdas` = gain / loss, above 0.

    Individual value: the answer. Batch (`overall`): 1 - sum(a / lambda) / sum(1 / lambda), 0 = all accepted.
    """

    overall: bool = True

    def compute(self, answer: ArrayLike, lambdas: ArrayLike) -> Result:
        """The answers as they were given (n, 1), or the batch value with `overall` (NaN without rows)."""
        a, ratio = inputs.gambles(answer, lambdas)
        return forms.batch(1 - a, 1 / ratio) if self.overall else np.array(answer)

    def undefined(self, answer: ArrayLike, lambdas: ArrayLike) -> int:
        """How many tests count 0 because the denominator is 0: none, 1 / lambda is above 0."""
        return forms.missing(inputs.gambles(answer, lambdas)[0])

    def defended(self, answer: ArrayLike, lambdas: ArrayLike) -> np.ndarray:
        """There is none, so this is an error: one answer has no direction to sign."""
        raise ValueError(
            "loss aversion has no signed individual values: an answer accepts or refuses; "
            "the acceptance curve and its threshold say more than the batch value"
        )

    def interval(self, answer: ArrayLike, lambdas: ArrayLike, *, clusters: Clusters = None, seed: int = 42) -> Interval:
        """How sure the batch value is; without `overall` the share of accepted gambles."""
        a, ratio = inputs.gambles(answer, lambdas)
        values, weights = (1 - a, 1 / ratio) if self.overall else (a, None)
        return forms.batch_interval(values, weights, clusters, seed)


@dataclass(frozen=True)
class ConfirmationBiasMetric:
    """How far the arguments selected lean to the own answer: max(0, [a(p-c) + (1-a)(c-p)] / (p+c)).

    `answer` 1 is for, 0 against; `pro`, `con` = arguments selected of the `n_args` listed. Batch (`overall`): the mean
    weighted by n_args. The formula printed in the notebook has p-c in both terms: see `as_printed`.
    """

    overall: bool = True

    def compute(self, answer: ArrayLike, pro: ArrayLike, con: ArrayLike, n_args: ArrayLike) -> Result:
        """The published metric, 0 to 1, as the notebook computed it: (n, 1), or a float with `overall`."""
        a, p, c, listed = inputs.selected(answer, pro, con, n_args)
        values = forms.published(forms.lean(a, p, c))
        return forms.batch(values, listed) if self.overall else values

    def as_printed(self, answer: ArrayLike, pro: ArrayLike, con: ArrayLike, n_args: ArrayLike) -> Result:
        """The formula as printed, max(0, [a(p-c) + (1-a)(p-c)] / (p+c)): a sign error that lets the answer cancel."""
        a, p, c, listed = inputs.selected(answer, pro, con, n_args)
        values = forms.published(forms.lean(np.ones_like(a), p, c))
        return forms.batch(values, listed) if self.overall else values

    def undefined(self, answer: ArrayLike, pro: ArrayLike, con: ArrayLike, n_args: ArrayLike) -> int:
        """How many tests count 0 because nothing was selected."""
        return forms.missing(forms.lean(*inputs.selected(answer, pro, con, n_args)[:3]))

    def defended(self, answer: ArrayLike, pro: ArrayLike, con: ArrayLike, n_args: ArrayLike) -> np.ndarray:
        """The values without the cut at 0, -1 to 1, (n, 1); NaN where nothing was selected."""
        return forms.lean(*inputs.selected(answer, pro, con, n_args)[:3])

    def interval(
        self,
        answer: ArrayLike,
        pro: ArrayLike,
        con: ArrayLike,
        n_args: ArrayLike,
        *,
        clusters: Clusters = None,
        seed: int = 42,
    ) -> Interval:
        """How sure the batch value is; without `overall` the plain mean of the published values."""
        a, p, c, listed = inputs.selected(answer, pro, con, n_args)
        weights = listed if self.overall else None
        return forms.batch_interval(forms.published(forms.lean(a, p, c)), weights, clusters, seed)
