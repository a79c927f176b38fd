"""What published numbers say of cognitive biases, from means alone and from the notebook's arrays."""

from __future__ import annotations

import pkgutil
import re
import statistics
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ...stats.intervals import Interval, estimate
from ...types import Estimate, RatioScale
from ..protocol import published_count
from . import metrics as forms
from .metrics import random_absolute, score


@dataclass(frozen=True)
class PublishedBias:
    """One bias of the published set: number of options and parameters of its metric.

    `k` is its sign, or the sign by the value of `fact`; `fact` names what was drawn and decides k or the points x1, x2
    (by POINTS); "" where nothing does. No control is flipped.
    """

    title: str
    options: int
    k: int | Mapping[str, int]
    fact: str = ""
    flip_treatment: bool = False


#: The points by the number drawn, which lies between two bounds. Python rounds halves to even: 25 / 10 is 2, 35 / 10 4.
POINTS: dict[str, tuple[int, int, Callable[[float], tuple[float, float]]]] = {
    "anchor": (0, 100, lambda anchor: (round(anchor / 10), round(anchor / 10))),
    "percentage": (-50, 50, lambda percentage: (round(percentage / 10) + 5, round(percentage / 10) + 5)),
    # A further share of the work, added to the control's estimate; in the metric 3 steps stand for its mean.
    "estimation_update": (0, 100, lambda update: (-(update // 10), -3)),
}

_ROWS = tomllib.loads((pkgutil.get_data(__package__, "biases.toml") or b"").decode())
TABLE = tuple(PublishedBias(title, **row) for title, row in _ROWS.items())


def _squeezed(bias: str) -> str:
    """A name without case, spaces, hyphens and the words effect or bias at its end: what its spellings differ in."""
    return re.sub(r"(effect|bias)+$", "", re.sub(r"[^a-z0-9]", "", str(bias).lower()))


#: The biases by their short names in lower case with underscores: "anchoring", "in_group", "planning_fallacy".
BIASES = {re.sub(r"[ -]", "_", re.sub(r" (Effect|Bias)$", "", row.title)).lower(): row for row in TABLE}
_BY_SPELLING = {_squeezed(name): name for name in BIASES}


def resolve(bias: str) -> str:
    """Which of BIASES a published name means, whatever its spelling; else a ValueError that lists them.

    >>> resolve("In Group Bias"), resolve("IllusionOfControl"), resolve("status-quo")
    ('in_group', 'illusion_of_control', 'status_quo')
    """
    name = _BY_SPELLING.get(_squeezed(bias))
    if name is None:
        raise ValueError(f"no published bias {bias!r}; there are {', '.join(BIASES)}")
    return name


def parameters(bias: str, **facts: float | str) -> RatioScale:
    """The parameters of a bias's published metric, given what was drawn for the test.

    Needs just the fact that its row of the table names; one that is missing, unknown or out of range is a ValueError.

    >>> parameters("Anchoring", anchor=25)
    RatioScale(k=1.0, x1=2.0, x2=2.0, flip_control=False, flip_treatment=False)
    >>> parameters("bandwagon", majority_opinion="A").k
    -1.0
    """
    name = resolve(bias)
    row = BIASES[name]
    if set(facts) != {row.fact} - {""}:
        found = ", ".join(facts) or "none"
        need = f"needs the fact {row.fact} ({_valid(row)})" if row.fact else "takes no facts"
        raise ValueError(f"{name} {need}, found {found}")
    x1, x2 = 0.0, 0.0
    k = row.k
    if row.fact in POINTS:
        low, high, points = POINTS[row.fact]
        drawn = facts[row.fact]
        if not isinstance(drawn, Real) or isinstance(drawn, bool) or not low <= drawn <= high:
            raise ValueError(f"{name}: {row.fact} is {drawn!r}; it must be {_valid(row)}")
        x1, x2 = points(drawn)
    elif isinstance(k, Mapping):
        if facts[row.fact] not in tuple(k):
            raise ValueError(f"{name}: {row.fact} is {facts[row.fact]!r}; it must be {_valid(row)}")
        k = k[facts[row.fact]]
    return RatioScale(float(k), float(x1), float(x2), flip_treatment=row.flip_treatment)


def _valid(row: PublishedBias) -> str:
    if row.fact in POINTS:
        low, high, _ = POINTS[row.fact]
        return f"a number from {low} to {high}"
    return " or ".join(row.k) if isinstance(row.k, Mapping) else ""


NOTEBOOK = {"source": "notebook"}
#: What the arrays are: made-up answers, so that an interval says how much rows of such a kind would vary, and no more.
ARRAYS_METHOD = "computed from the notebook's arrays, which are no sample"
OWN_METHOD = "computed from arrays that were given"
_CHOICES, _ARGUMENTS = ("control", "treatment", "options"), ("answer", "pro", "con", "n_args")
#: Each metric, by `overall`, and the arrays that it takes.
FORMS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "anchoring_agnostic": (partial(forms.AnchoringBiasMetric, True), (*_CHOICES, "anchor")),
    "anchoring_specific": (partial(forms.AnchoringBiasMetric, False), (*_CHOICES, "anchor")),
    "halo_effect": (forms.HaloEffectMetric, _CHOICES),
    "loss_aversion": (forms.LossAversionMetric, ("answer", "lambdas")),
    "confirmation_bias": (forms.ConfirmationBiasMetric, _ARGUMENTS),
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
    """Each output of the notebook as `from_arrays` gives it, and each check (`where`: source "check").

    Also `confirmation_as_printed` (the formula that the notebook prints) and `anchoring_specific_raw` (the anchor
    itself in place of the option closest to it).
    """
    arrays = notebook_arrays(published)
    choices, gambles = arrays[0].columns, arrays[1].columns
    arguments = [arrays[-1].columns[name] for name in _ARGUMENTS]
    for name, answer in (("all accepted", 1.0), ("all refused", 0.0)):
        every = {"answer": np.full_like(gambles["lambdas"], answer), "lambdas": gambles["lambdas"]}
        arrays.insert(-1, Arrays(NOTEBOOK | {"answers": name}, every))
    yield from from_arrays(arrays, "published", ARRAYS_METHOD)
    unweighted = forms.ConfirmationBiasMetric(False).interval(*arguments)
    yield _sure("confirmation_unweighted", unweighted, NOTEBOOK, "published", ARRAYS_METHOD)
    printed = forms.ConfirmationBiasMetric(as_printed=True).compute(*arguments)
    yield _output("confirmation_as_printed", printed, NOTEBOOK, "published", ARRAYS_METHOD)
    raw = forms.approach(choices["control"], choices["treatment"], choices["anchor"])
    yield _output("anchoring_specific_raw", forms.batch(forms.published(raw)), NOTEBOOK, "published", ARRAYS_METHOD)
    for a1, a2, options, k, x1, x2 in published["checks"]["pairs"]:
        value = float(score(a1, a2, options, k, x1, x2))
        place = {"source": "check", "control": str(a1), "treatment": str(a2), "k": str(k), "x": str(x1)}
        yield _output("ratio_scale", value, place, "published", "one pair of answers")


def _output(id: str, value: float, where: Mapping[str, str], data: str, method: str) -> Estimate:
    return Estimate(id, dict(where), float(value), unit="score", method=method, data=data)


def _sure(id: str, found: Interval, where: Mapping[str, str], data: str, method: str) -> Estimate:
    """A batch value with its interval."""
    return estimate(id, where, replace(found, method=f"{found.method}; {method}"), data, "score")


#: Why none of these numbers has an interval.
METHOD = "published value, no interval: only means are published"
EXACT = "exact: all pairs of answers with the same chance"
#: Below this share of mean |B| a mean is called nearly directionless.
NEARLY = 0.25
#: Two decimals are printed: a mean can lie above the mean of its absolute values by what was rounded.
ROUNDED = 0.01
BIASES_WORD, ALL, WITHOUT = "30 biases", "20 models", "19 models without the random one"


def from_published(published: Mapping[str, Any]) -> list[Estimate]:
    """All numbers in published/counts.yaml, and those that they determine, the notebook's last.

    `where` has bias (over all models), judge (over all biases), both and a run (another run or source), or over
    ("30 biases", "20 models", ...: recomputed means). No intervals but the rough ones of the notebook's arrays.
    """
    grid, models = published["heatmap"]["counts"], published["by_model"]["counts"]
    found = [_number("ratio_scale", row["mean"], bias=bias) for bias, row in grid.items()]
    found += [_number("ratio_scale_absolute", row["mean_absolute"], bias=bias) for bias, row in grid.items()]
    found += [_number("ratio_scale_absolute", value, judge=model) for model, value in models.items()]
    for block in (published["early_run"], published["secondary"]):
        place = {"judge": block["judge"], "run": block["run"]}
        found += [_number("ratio_scale", value, bias=bias, **place) for bias, value in block["counts"].items()]
    found += _means(grid, models, published["by_model"]["random"])
    expected = {bias: random_of_bias(bias, published["drawn"]["facts"]) for bias in grid}
    found += [_number("ratio_scale_random", value, EXACT, bias=bias) for bias, value in expected.items()]
    found.append(_number("ratio_scale_random", statistics.fmean(expected.values()), EXACT, over=BIASES_WORD))
    return [*found, *_directions(grid), *_counts(published, expected), *from_notebook(published)]


def random_of_bias(bias: str, drawn: Mapping[str, Mapping[str, Any]]) -> float:
    """The mean |B| that answers at random give on this bias, over what is drawn for its tests (0/0 counts 0).

    `drawn`: by the fact that decides the metric's points, {uniform: [low, high]} or {choices: [...]}.
    """
    row = BIASES[bias]
    if row.fact not in POINTS:
        # The sign alone depends on the other facts, and |B| has none.
        return random_absolute(row.options, RatioScale(flip_treatment=row.flip_treatment))
    scales = ((parameters(bias, **{row.fact: fact}), chance) for fact, chance in _facts(drawn[row.fact]))
    return sum(chance * random_absolute(row.options, scale) for scale, chance in scales)


def _facts(drawn: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """One value of each kind that the metric tells apart, with its chance; a uniform number is rounded to tens."""
    if "choices" in drawn:
        yield from ((value, 1 / len(drawn["choices"])) for value in drawn["choices"])
        return
    low, high = drawn["uniform"]
    for ten in range(round(low / 10) * 10, round(high / 10) * 10 + 1, 10):
        yield ten, (min(ten + 5, high) - max(ten - 5, low)) / (high - low)


def _number(id: str, value: float, method: str = METHOD, unit: str = "score", **where: str) -> Estimate:
    return Estimate(id, where, float(value), unit=unit, method=method, data="published")


def _means(grid: Mapping[str, Mapping[str, float]], models: Mapping[str, float], random: str) -> Iterator[Estimate]:
    """The means of the printed means, over biases and over models with and without the one that answers at random."""
    yield _number("ratio_scale", statistics.fmean(row["mean"] for row in grid.values()), over=BIASES_WORD)
    absolute = [row["mean_absolute"] for row in grid.values()]
    yield _number("ratio_scale_absolute", statistics.fmean(absolute), over=BIASES_WORD)
    yield _number("ratio_scale_absolute", statistics.fmean(models.values()), over=ALL)
    others = [value for model, value in models.items() if model != random]
    yield _number("ratio_scale_absolute", statistics.fmean(others), over=WITHOUT)


def _directions(grid: Mapping[str, Mapping[str, float]]) -> Iterator[Estimate]:
    for bias, row in grid.items():
        share = abs(row["mean"]) / row["mean_absolute"]
        yield _number("direction_share", share, unit="rate", bias=bias)
    sums = [sum(abs(row[name]) for row in grid.values()) for name in ("mean", "mean_absolute")]
    yield _number("direction_share", sums[0] / sums[1], unit="rate", over=BIASES_WORD)


def _counts(published: Mapping[str, Any], expected: Mapping[str, float]) -> Iterator[Estimate]:
    grid, block = published["heatmap"]["counts"], published["by_model"]
    models, random = block["counts"], block["random"]
    below = sum(row["mean_absolute"] < expected[bias] for bias, row in grid.items())
    above = sum(value >= models[random] for model, value in models.items() if model != random)
    impossible = sum(abs(row["mean"]) > row["mean_absolute"] + ROUNDED for row in grid.values())
    yield published_count("below_random", {}, below, len(grid))
    yield published_count("above_random", {}, above, len(models) - 1)
    yield published_count("impossible_means", {}, impossible, len(grid))


def published_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The decisions frame with the metric parameters of biases for which nothing else decides them.

    Rows that have none (k is NaN) and are on a bias of the published table whose sign and points hang on no fact take
    them from there, and the target with them (`datasets.load_decisions` takes those of known tests). Rows on other
    biases stay without: neither the published metric nor a direction is defined for them then.
    """
    found = frame.copy()
    for bias in found.loc[found["k"].isna(), "category"].unique():
        row = BIASES.get(bias)
        if row is None or row.fact:
            continue
        scale = parameters(bias)
        here = found["k"].isna() & (found["category"] == bias) & (found["options"] == row.options)
        for name, value in asdict(scale).items():
            found.loc[here, name] = value
        found.loc[here, "target"] = _target(scale, row.options)
    found.attrs = dict(frame.attrs)
    return found


def _target(scale: RatioScale, options: int) -> float:
    """The index that the bias pulls to; NaN where control and treatment are counted from different ends."""
    if scale.flip_control != scale.flip_treatment:
        return float("nan")
    return scale.x1 if scale.k > 0 else float(options - 1)


#: How many names a sentence has before it only counts them.
NAMED = 6


def published_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """Whether published mean |B| tells bias from noise, how much of it has a direction, and what means leave open.

    `published` is published/counts.yaml, `estimates` what `from_published` makes of it.
    """
    at = {(each.id, *each.where.values()): each for each in estimates if len(each.where) < 2}
    table, block = published["heatmap"], published["by_model"]
    grid, random = table["counts"], block["counts"][block["random"]]
    models = {model: value for model, value in block["counts"].items() if model != block["random"]}
    above = [model for model, value in models.items() if value >= random]
    spread = f"{random:.2f}; answers at random are expected to have {at['ratio_scale_random', BIASES_WORD].value:.3f}; "
    spread += f"the other {len(models)}: {min(models.values()):.2f} to {max(models.values()):.2f}"
    first = (
        f"**Of all {len(models) + 1} models the one that answers at random has the largest published mean |B|** "
        f"({spread}). A model without any bias gets a large one by noise alone, so that mean |B| measures noise as "
        f"well as bias; and that model is in the printed average of {table['overall']['mean_absolute']:.2f}, which is "
        f"{at['ratio_scale_absolute', WITHOUT].value:.3f} without it."
    )
    if above:
        first = (
            f"**{len(above)} of {len(models)} models have at least the mean |B| of the one that answers at random** "
        )
        first += f"({spread}): {_named(above)}."
    expected = {bias: at["ratio_scale_random", bias].value for bias in grid}
    beyond = {bias: row["mean_absolute"] - expected[bias] for bias, row in grid.items()}
    high = sorted((bias for bias in grid if beyond[bias] >= 0), key=lambda bias: -beyond[bias])
    high = [f"{BIASES[b].title} ({grid[b]['mean_absolute']:.2f} against {expected[b]:.2f})" for b in high]
    shares = sorted((at["direction_share", bias] for bias in grid), key=lambda each: each.value)
    ends = " to ".join(f"{each} ({BIASES[each.where['bias']].title})" for each in (shares[0], shares[-1]))
    nearly = [BIASES[each.where["bias"]].title for each in shares if each.value < NEARLY]
    against = sorted((bias for bias, row in grid.items() if row["mean"] < 0), key=lambda bias: grid[bias]["mean"])
    against = [f"{BIASES[bias].title} ({grid[bias]['mean']:+.2f})" for bias in against]
    invalid = [BIASES[bias].title for bias in table["invalid"]]
    tests = table["tests_per_bias"]
    parts = [
        first,
        f"**On {at['below_random',].value:.0f} of {len(grid)} biases mean |B| is below what answers at random give** "
        f"on the same options ({min(expected.values()):.2f} to {max(expected.values()):.2f})"
        + f"; not below are {_named(high)}" * bool(high)
        + ".",
        f"**{at['direction_share', BIASES_WORD]} of mean |B| has one direction** (|mean B| / mean |B| of the "
        f"{len(grid)} biases; {ends}); the rest goes both ways, from test to test, from model to model, or by noise."
        + f" Nearly directionless, below {100 * NEARLY:.0f} %: {_named(nearly)}." * bool(nearly)
        + f" Against the direction that people are said to have: {_named(against)}." * bool(against),
        "**What these means leave open.** Without the decisions no mean has an interval, and none has a test: "
        f"{tests} tests a bias are no {tests} independent ones, and nobody asked a control twice, so that how much of "
        "|B| is noise is not known."
        + f" The metric of {_named(invalid)} was corrected after these numbers were printed." * bool(invalid)
        + f" {_named(table['missing_models'])} was evaluated but is not in these averages."
        * bool(table["missing_models"]),
    ]
    return "\n".join(f"- {part}" for part in parts)


def _named(names: Sequence[str]) -> str:
    """The names in a row, the first NAMED of many."""
    return ", ".join(names[:NAMED]) + f" and {len(names) - NAMED} more" * (len(names) > NAMED)
