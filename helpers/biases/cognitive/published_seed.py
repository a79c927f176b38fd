"""The metrics of the published notebook on arrays of answers, its own or others, and its metric on checked pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
OWN_METHOD = "computed from arrays that were given"
_CHOICES, _ARGUMENTS = ("control", "treatment", "options"), ("answer", "pro", "con", "n_args")
#: Each metric, by `overall`, and the arrays that it takes.
FORMS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "anchoring_agnostic": (partial(seed.AnchoringBiasMetric, True), (*_CHOICES, "anchor")),
    "anchoring_specific": (partial(seed.AnchoringBiasMetric, False), (*_CHOICES, "anchor")),
    "halo_effect": (seed.HaloEffectMetric, _CHOICES),
    "loss_aversion": (seed.LossAversionMetric, ("answer", "lambdas")),
    "confirmation_bias": (seed.ConfirmationBiasMetric, _ARGUMENTS),
}


@dataclass(frozen=True)
class Arrays:
    """Answers to tests of one kind: arrays by name, (n, 1) and options (n, k); `where` is the place of their numbers.

    `clusters` says which rows belong together; without it each row is its own.
    """

    where: Mapping[str, str]
    columns: Mapping[str, np.ndarray]
    clusters: Sequence[object] | None = None

    def metrics(self) -> Iterator[tuple[str, Callable[..., Any], list[np.ndarray]]]:
        """Each metric that the arrays are enough for: id, class by `overall`, arguments."""
        for id, (metric, names) in FORMS.items():
            if set(names) <= self.columns.keys():
                yield id, metric, [self.columns[name] for name in names]


def from_arrays(arrays: Sequence[Arrays], data: str = "folder", method: str = OWN_METHOD) -> list[Estimate]:
    """The batch value of each metric with its interval (marked rough below 10 clusters), and the value of each test.

    `where` is that of the arrays, for one test also test "1", "2", ...; of gambles the value of a test is its answer
    and not repeated. Arrays that a metric does not accept are a ValueError with argument and row, counted from 0.
    """
    found = []
    for each in arrays:
        for id, metric, inputs in each.metrics():
            if id != "loss_aversion":
                values = metric(overall=False).compute(*inputs).ravel()
                places = ({**each.where, "test": str(i)} for i in range(1, len(values) + 1))
                found += [_output(id, x, at, data, method) for x, at in zip(values, places, strict=True)]
            found.append(_sure(id, metric().interval(*inputs, clusters=each.clusters), each.where, data, method))
    return found


def notebook_arrays(published: Mapping[str, Any]) -> list[Arrays]:
    """The arrays that the notebook prints, in its order."""
    block = published["notebook"]
    lambdas = block["gambles"]["lambdas"]
    gambles = {name: block["gambles"][name] for name in ("unbiased", "biased")}
    return [
        _arrays({}, block["choices"]),
        *(_arrays({"answers": name}, {"answer": answer, "lambdas": lambdas}) for name, answer in gambles.items()),
        _arrays({}, block["arguments"]),
    ]


def _arrays(where: Mapping[str, str], columns: Mapping[str, Any]) -> Arrays:
    read = {name: np.atleast_2d(np.asarray(values, dtype=float)) for name, values in columns.items()}
    return Arrays(NOTEBOOK | where, {name: each if name == "options" else each.T for name, each in read.items()})


def from_notebook(published: Mapping[str, Any]) -> Iterator[Estimate]:
    """Each output of the notebook (`where`: source "notebook", for one test also test "1", "2", ...) and each check.

    Batch values carry a BCa interval over their 5 to 7 rows, marked rough in `method`.

    `anchoring_agnostic`, `anchoring_specific`, `halo_effect`, `loss_aversion` (also answers: unbiased, biased, all
    accepted, all refused), `confirmation_bias`, `confirmation_unweighted`; `confirmation_as_printed` (the formula that
    the notebook prints) and `anchoring_specific_raw` (the anchor itself in place of the option closest to it). The
    checks are `ratio_scale` (`where`: source "check", control, treatment, k, x).
    """
    arrays = notebook_arrays(published)
    choices, gambles = arrays[0].columns, arrays[1].columns
    arguments = [arrays[-1].columns[name] for name in _ARGUMENTS]
    for name, answer in (("all accepted", 1.0), ("all refused", 0.0)):
        every = {"answer": np.full_like(gambles["lambdas"], answer), "lambdas": gambles["lambdas"]}
        arrays.insert(-1, Arrays(NOTEBOOK | {"answers": name}, every))
    yield from from_arrays(arrays, "published", METHOD)
    unweighted = seed.ConfirmationBiasMetric(False).interval(*arguments)
    yield _sure("confirmation_unweighted", unweighted, NOTEBOOK, "published", METHOD)
    printed = seed.ConfirmationBiasMetric().as_printed(*arguments)
    yield _output("confirmation_as_printed", printed, NOTEBOOK, "published", METHOD)
    raw = forms.approach(choices["control"], choices["treatment"], choices["anchor"])
    yield _output("anchoring_specific_raw", forms.batch(forms.published(raw)), NOTEBOOK, "published", METHOD)
    for a1, a2, options, k, x1, x2 in published["checks"]["pairs"]:
        value = float(score(a1, a2, options, k, x1, x2))
        place = {"source": "check", "control": str(a1), "treatment": str(a2), "k": str(k), "x": str(x1)}
        yield _output("ratio_scale", value, place, "published", "one pair of answers")


def _output(id: str, value: float, where: Mapping[str, str], data: str, method: str) -> Estimate:
    return Estimate(id, dict(where), float(value), unit="score", method=method, data=data)


def _sure(id: str, found: Interval, where: Mapping[str, str], data: str, method: str) -> Estimate:
    """A batch value with its interval."""
    bounds = {"low": found.low, "high": found.high, "se": found.se, "n": found.n, "clusters": found.clusters}
    return replace(_output(id, found.value, where, data, f"{found.method}; {method}"), **bounds)
