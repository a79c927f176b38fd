"""What published numbers say of cognitive biases: means of one metric, beside what answers at random give for it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from helpers.biases.cognitive.published_biases import BIASES, POINTS, parameters
from helpers.biases.cognitive.published_seed import from_notebook
from helpers.biases.cognitive.ratio_scale import random_answerer
from helpers.types import Estimate, RatioScale

#: Why none of these numbers has an interval.
METHOD = "published value, no interval: only means are published"
EXACT = "exact: all pairs of answers with the same chance"
#: Below this share of mean |B| a mean is called nearly directionless.
NEARLY = 0.25
#: Two decimals are printed: a mean can lie above the mean of its absolute values by what was rounded.
ROUNDED = 0.01
BIASES_WORD, ALL, WITHOUT = "30 biases", "20 models", "19 models without the random one"


def from_published(published: Mapping[str, Any]) -> list[Estimate]:
    """All numbers in published/counts.yaml, and those that they determine; data "published"; no intervals but the rough
    ones of the notebook's arrays.

    `ratio_scale` (mean B) and `ratio_scale_absolute` (mean |B|), `where`: bias (over all models), judge (over all
    biases), both with a run (another run or source), or over ("30 biases", "20 models", ...: recomputed means).
    `ratio_scale_random`: the expected mean |B| of answers at random (bias; over). `direction_share`: |mean B| / mean
    |B| (bias; over). `below_random`, `above_random`: biases and models with a mean |B| below and above that of answers
    at random; `impossible_means`: biases whose mean is further from 0 than their mean |B|, beyond rounding. Then what
    the notebook's arrays give (`published_seed`).
    """
    grid, models = published["heatmap"]["counts"], published["by_model"]["counts"]
    found = [_number("ratio_scale", row["mean"], bias=bias) for bias, row in grid.items()]
    found += [_number("ratio_scale_absolute", row["mean_absolute"], bias=bias) for bias, row in grid.items()]
    found += [_number("ratio_scale_absolute", value, judge=model) for model, value in models.items()]
    for block in (published["early_run"], published["secondary"]):
        place = {"judge": block["judge"], "run": block["run"]}
        found += [_number("ratio_scale", value, bias=bias, **place) for bias, value in block["counts"].items()]
    found += _means(grid, models, published["by_model"]["random"])
    expected = {bias: random_absolute(bias, published["drawn"]["facts"]) for bias in grid}
    found += [_number("ratio_scale_random", value, EXACT, bias=bias) for bias, value in expected.items()]
    found.append(_number("ratio_scale_random", statistics.fmean(expected.values()), EXACT, over=BIASES_WORD))
    return [*found, *_directions(grid), *_counts(published, expected), *from_notebook(published)]


def random_absolute(bias: str, drawn: Mapping[str, Mapping[str, Any]]) -> float:
    """The mean |B| that answers at random give on this bias, over what is drawn for its tests (0/0 counts 0).

    `drawn`: by the fact that decides the metric's points, {uniform: [low, high]} or {choices: [...]}.
    """
    row = BIASES[bias]
    if row.fact not in POINTS:
        # The sign alone depends on the other facts, and |B| has none.
        return random_answerer(row.options, RatioScale(flip_treatment=row.flip_treatment)).mean_absolute
    scales = ((parameters(bias, **{row.fact: fact}), chance) for fact, chance in _facts(drawn[row.fact]))
    return sum(chance * random_answerer(row.options, scale).mean_absolute for scale, chance in scales)


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
    grid, models, random = (
        published["heatmap"]["counts"],
        published["by_model"]["counts"],
        published["by_model"]["random"],
    )
    below = sum(row["mean_absolute"] < expected[bias] for bias, row in grid.items())
    above = sum(value >= models[random] for model, value in models.items() if model != random)
    impossible = sum(abs(row["mean"]) > row["mean_absolute"] + ROUNDED for row in grid.values())
    for id, count, n in (
        ("below_random", below, len(grid)),
        ("above_random", above, len(models) - 1),
        ("impossible_means", impossible, len(grid)),
    ):
        yield replace(_number(id, count, "counted", "count"), n=n)
