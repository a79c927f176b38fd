"""The published metrics on pairs: their batch values, what they read where nothing was done, and what is left.

A metric with |.| or max(0, .) is above 0 by noise alone: it is computed of the control against its own repeat too (of
selections: of what the control selected), and the difference of the two, pair by pair, is the excess. The placebo
shares its control with the treatment's pair, but where the treatment does nothing all replies to a wording are alike
in distribution, so the excess is 0 on average.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from helpers.biases.cognitive import seed_forms as forms
from helpers.biases.cognitive.averages import Cell, cells, named, tested
from helpers.biases.cognitive.effects import NEEDS_REPEAT, columns, count, directed
from helpers.stats.bootstrap import bca
from helpers.stats.estimates import estimate
from helpers.stats.intervals import NAN, Interval, no_interval
from helpers.types import Estimate

NO_PAIR = "no pair with two readable answers"
#: Of rows and "treatment" or "placebo": individual values before the cut at 0, NaN where 0/0; which rows are known.
Values = Callable[[pd.DataFrame, str], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Batch:
    """One metric: its values and weights, whether it has a placebo, and whether a test can be 0/0."""

    id: str
    values: Values
    weighted: Callable[[pd.DataFrame], np.ndarray] | None = None
    placebo: bool = True
    undefined: bool = False

    def weights(self, rows: pd.DataFrame) -> np.ndarray:
        """What each test counts in the batch."""
        return np.ones(len(rows)) if self.weighted is None else self.weighted(rows)

    def published(self, rows: pd.DataFrame, which: str) -> np.ndarray:
        """The individual values as published, in which 0/0 counts 0; NaN where an answer is missing."""
        values, known = self.values(rows, which)
        return np.where(known, forms.published(values), NAN)


def batches(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every published metric of the pairs that it is made for; `where`: bias (mean over judges), and bias, judge.

    `anchoring_agnostic` and `anchoring_specific` of scales with an anchor, `halo_effect` of all others,
    `loss_aversion` of gambles with ratio > 1 (the treatment's answers, lambda = the ratio), `confirmation_bias` and
    `confirmation_unweighted` of selections; each with `_placebo` (not loss_aversion), `_undefined` (tests that count 0
    because they are 0/0), and of the weighted ones `_effective`, the number of equal weights that would be as precise.
    Takes `pairs`; `excesses` has what is left of them.
    """
    found = []
    for rows, batch in made_for(table):
        weights = batch.weights(rows)
        for which, id, reason in (("treatment", batch.id, NO_PAIR), ("placebo", f"{batch.id}_placebo", NEEDS_REPEAT)):
            if which == "treatment" or batch.placebo:
                for cell in cells(rows, batch.published(rows, which), weights):
                    found.append(estimate(id, cell.where, resampled(cell, seed, reason), data, "score"))
        each, known = batch.values(rows, "treatment")
        if batch.undefined:
            for cell in cells(rows, np.where(known, np.isnan(each), NAN)):
                found.append(count(f"{batch.id}_undefined", cell, data))
        if batch.weighted:
            found += _effective(rows, np.where(known, weights, NAN), f"{batch.id}_effective", data)
    return found


def excesses(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """What is left of each published metric when its placebo is taken off, pair by pair: `<metric>_excess`.

    `where` as in `batches`; p by sign flips over scenarios. Takes `pairs`.
    """
    found = []
    for rows, batch in made_for(table):
        if batch.placebo:
            left = batch.published(rows, "treatment") - batch.published(rows, "placebo")
            for cell in cells(rows, left, batch.weights(rows)):
                interval = tested(cell, seed, NEEDS_REPEAT)
                found.append(estimate(f"{batch.id}_excess", cell.where, interval, data, "score"))
    return found


def made_for(table: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, Batch]]:
    """Each published metric with the rows of `pairs` that it is made for."""
    rows = directed(table)
    scale, anchored = rows["kind"] == "scale", rows["anchor"].notna()
    for chosen, kind in (
        (scale & anchored, ANCHORED),
        # Of published tests on other biases a move in any direction is no halo.
        (scale & ~anchored & ((rows["source"] == "asked") | (rows["category"] == "halo")), HALO),
        (rows["kind"] == "acceptance", LOSS),
        (rows["kind"] == "selection", CONFIRMATION),
    ):
        if chosen.any():
            yield from ((rows[chosen], batch) for batch in kind)


def resampled(cell: Cell, seed: int, reason: str) -> Interval:
    """The mean over judges of weighted means, with its BCa interval over scenarios."""
    if not cell.numerators.shape[1]:
        return no_interval(NAN, 0, 0, reason)
    interval = bca(cell.numerators, cell.denominators, lambda rates: rates.mean(axis=-1), seed)
    used = int((cell.denominators.sum(axis=1) > 0).sum())
    return replace(interval, n=cell.n, clusters=used, method=named(interval.method, cell))


def _effective(rows: pd.DataFrame, weights: np.ndarray, id: str, data: str) -> list[Estimate]:
    found = []
    for cell in cells(rows, weights, weights):  # sums of w² and of w
        squares, total = cell.numerators.sum(), cell.denominators.sum()
        value = float(total**2 / squares) if squares else NAN
        method = "(sum w)² / sum w²"
        found.append(Estimate(id, cell.where, value, n=cell.n, unit="count", method=method, data=data))
    return found


def _on_scale(rows: pd.DataFrame, which: str, of: Callable[..., np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """A metric of scales: `of` (control, treatment, options, anchor), all (n, 1) or (n, k), for rows of equal options.

    Answers are looked up by index, since values printed in the frame keep six digits.
    """
    one, two = (rows[name].to_numpy(dtype=float) for name in ("i1", "i2" if which == "treatment" else "i0"))
    found, known = np.full(len(rows), NAN), np.isfinite(one) & np.isfinite(two)
    printed, anchor = rows["values"].to_numpy(dtype=object), rows["anchor"].to_numpy(dtype=float)
    for each in pd.unique(printed[known]):
        at = np.flatnonzero(known & (printed == each))
        options = np.tile(np.array(each.split(), dtype=float), (len(at), 1))
        a1, a2 = (options[0, index[at].astype(int)][:, None] for index in (one, two))
        found[at] = of(a1, a2, options, anchor[at][:, None])[:, 0]
    return found, known


def _agnostic(rows: pd.DataFrame, which: str) -> tuple[np.ndarray, np.ndarray]:
    return _on_scale(rows, which, lambda a1, a2, options, anchor: forms.moved(a1, a2, options))


def _specific(rows: pd.DataFrame, which: str) -> tuple[np.ndarray, np.ndarray]:
    return _on_scale(
        rows, which, lambda a1, a2, options, anchor: forms.approach(a1, a2, forms.nearest(options, anchor))
    )


def _refused(rows: pd.DataFrame, which: str) -> tuple[np.ndarray, np.ndarray]:
    """1 for a refusal: the batch value 1 - sum(a / ratio) / sum(1 / ratio) is their mean weighted by 1 / ratio.

    Of gambles that gain more than they lose: who refuses another one need not dislike losses.
    """
    accepted, ratio = columns(rows, "a2", "ratio")
    return 1 - accepted, np.isfinite(accepted) & (ratio > 1)


def _selected(rows: pd.DataFrame, which: str) -> tuple[np.ndarray, np.ndarray]:
    suffix = "" if which == "treatment" else "_control"
    decided, pro, con = columns(rows, "decided", f"pro{suffix}", f"con{suffix}")
    known = rows["readable"].to_numpy(dtype=bool) & np.isfinite(decided + pro + con)
    return forms.lean(decided, pro, con), known


ANCHORED = (Batch("anchoring_agnostic", _agnostic), Batch("anchoring_specific", _specific, undefined=True))
HALO = (Batch("halo_effect", _agnostic),)
LOSS = (Batch("loss_aversion", _refused, lambda rows: 1 / columns(rows, "ratio")[0], placebo=False),)
CONFIRMATION = (
    Batch("confirmation_bias", _selected, lambda rows: columns(rows, "n_args")[0], undefined=True),
    Batch("confirmation_unweighted", _selected),
)
