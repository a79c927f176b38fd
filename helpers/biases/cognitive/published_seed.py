"""The outputs of the published notebook from its own arrays, and the published metric on pairs checked by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from helpers.biases.cognitive import seed_forms as forms
from helpers.biases.cognitive import seed_metrics as seed
from helpers.biases.cognitive.ratio_scale import score
from helpers.stats.intervals import Interval
from helpers.types import Estimate

NOTEBOOK = {"source": "notebook"}
#: What the arrays are: made-up answers, so that an interval says how much rows of such a kind would vary, and no more.
METHOD = "computed from the notebook's arrays, which are no sample"


def from_notebook(published: Mapping[str, Any]) -> Iterator[Estimate]:
    """Each output of the notebook (`where`: source "notebook", for one test also test "1", "2", ...) and each check.

    Batch values carry a BCa interval over their 5 to 7 rows, marked rough in `method`.

    `anchoring_agnostic`, `anchoring_specific`, `halo_effect`, `loss_aversion` (also answers: unbiased, biased, all
    accepted, all refused), `confirmation_bias`, `confirmation_unweighted`; `confirmation_as_printed` (the formula that
    the notebook prints) and `anchoring_specific_raw` (the anchor itself in place of the option closest to it). The
    checks are `ratio_scale` (`where`: source "check", control, treatment, k, x).
    """
    block = published["notebook"]
    yield from _choices(**{name: np.atleast_2d(rows) for name, rows in block["choices"].items()})
    yield from _gambles(block["gambles"])
    yield from _arguments([_column(block["arguments"][name]) for name in ("answer", "pro", "con", "n_args")])
    for a1, a2, options, k, x1, x2 in published["checks"]["pairs"]:
        value = float(score(a1, a2, options, k, x1, x2))
        place = {"source": "check", "control": str(a1), "treatment": str(a2), "k": str(k), "x": str(x1)}
        yield Estimate("ratio_scale", place, value, unit="score", method="one pair of answers", data="published")


def _column(values: Sequence[float]) -> np.ndarray:
    return np.reshape(np.asarray(values), (-1, 1))


def _output(id: str, value: float, **where: str) -> Estimate:
    return Estimate(id, NOTEBOOK | where, float(value), unit="score", method=METHOD, data="published")


def _sure(id: str, found: Interval, **where: str) -> Estimate:
    """A batch value with its rough interval."""
    known = {"low": found.low, "high": found.high, "se": found.se, "n": found.n, "clusters": found.clusters}
    return replace(_output(id, found.value, **where), **known, method=f"{found.method}; {METHOD}")


def _both(id: str, values: np.ndarray, batch: Interval) -> Iterator[Estimate]:
    """The individual values and the batch value of one metric."""
    yield from (_output(id, value, test=str(i)) for i, value in enumerate(values.ravel(), 1))
    yield _sure(id, batch)


def _choices(control: np.ndarray, treatment: np.ndarray, anchor: np.ndarray, options: np.ndarray) -> Iterator[Estimate]:
    a1, a2, at = (_column(each.ravel()) for each in (control, treatment, anchor))
    for id, agnostic in (("anchoring_agnostic", True), ("anchoring_specific", False)):
        one, batch = (seed.AnchoringBiasMetric(agnostic, overall) for overall in (False, True))
        yield from _both(id, one.compute(a1, a2, options, at), batch.interval(a1, a2, options, at))
    one, batch = (seed.HaloEffectMetric(overall) for overall in (False, True))
    yield from _both("halo_effect", one.compute(a1, a2, options), batch.interval(a1, a2, options))
    yield _output("anchoring_specific_raw", forms.batch(forms.published(forms.approach(a1, a2, at))))


def _gambles(block: Mapping[str, Sequence[float]]) -> Iterator[Estimate]:
    lambdas = _column(block["lambdas"])
    answers = {name: _column(block[name]) for name in ("unbiased", "biased")}
    answers |= {"all accepted": np.ones_like(lambdas), "all refused": np.zeros_like(lambdas)}
    for name, answer in answers.items():
        yield _sure("loss_aversion", seed.LossAversionMetric().interval(answer, lambdas), answers=name)


def _arguments(given: Sequence[np.ndarray]) -> Iterator[Estimate]:
    values = seed.ConfirmationBiasMetric(False).compute(*given)
    yield from _both("confirmation_bias", values, seed.ConfirmationBiasMetric().interval(*given))
    yield _sure("confirmation_unweighted", seed.ConfirmationBiasMetric(False).interval(*given))
    yield _output("confirmation_as_printed", seed.ConfirmationBiasMetric().as_printed(*given))
