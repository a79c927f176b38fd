"""What is true in a world of bias tests: the estimands as they are written down, in very many scenarios."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from helpers.calibrate.worlds.decision_frames import OPTIONS, Sample, answers

#: Of each number and model: the value, and its Monte-Carlo error.
Truths = dict[tuple[str, str], tuple[float, float]]
MEAN = "mean"


def truths(
    draw: Callable[[np.random.Generator, int], Sample], seed: int, chunks: int = 12, size: int = 20_000
) -> Truths:
    """The estimands of each model, and their mean over models ("mean"), in `chunks` times `size` scenarios.

    `draw(rng, scenarios)` makes a sample with two repeats. Replies that are lost count nowhere, as with real models:
    the truth is that of readable answers. A number that a kind of test does not have is absent.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for chunk in range(chunks):
        sample = draw(np.random.default_rng([seed, chunk]), size)
        said, lost = answers(sample)
        each = [_defined(sample, judge, said[judge], lost[judge]) for judge in range(len(said))]
        for id in each[0]:
            named = [model.name for model in sample.world.answerers]
            for name, value in [*zip(named, (one[id] for one in each), strict=True)]:
                found.setdefault((id, name), []).append(value)
            found.setdefault((id, MEAN), []).append(float(np.mean([one[id] for one in each])))
    return {at: (float(np.mean(v)), float(np.std(v, ddof=1) / np.sqrt(len(v)))) for at, v in found.items()}


def _defined(sample: Sample, judge: int, said: np.ndarray, lost: np.ndarray) -> dict[str, float]:
    """The estimands of one model on all its pairs; `said`, `lost` (2, 2, n): condition, repeat, test."""
    unread = lost.any(axis=0)
    a1, a2 = (np.where(unread, np.nan, each) for each in said)
    a0 = np.where(lost[0], np.nan, said[0])[::-1]
    t = np.broadcast_to(_target(sample, judge), a1.shape)
    low, high = {"scale": (0.0, OPTIONS - 1.0), "acceptance": (0.0, 1.0), "selection": (-1.0, 1.0)}[sample.kind]
    d1, d2, d0 = (np.abs(each - t) for each in (a1, a2, a0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = {"bias_effect": float(np.nanmean((d1 - d2) / np.maximum(d1, d2)))}
    toward = np.where(t == high, 1.0, np.where(t == low, -1.0, np.sign(t - a0)))
    found["scale_shift"] = float(np.nanmean(toward * (a2 - a1)) / (high - low))
    if sample.kind == "scale":
        return found | _on_scale(sample, judge, a1, a2, a0, (d1, d2, d0))
    if sample.kind == "acceptance":
        ratio = np.broadcast_to(sample.shown[judge], a1.shape)
        found["threshold_ratio"] = _half(a2, ratio) - _half(a1, ratio)
        return found
    # Where nothing was selected a side cannot be leant to: 0/0 counts 0, as published.
    left = np.maximum(0, np.nan_to_num(t * a2)) - np.maximum(0, np.nan_to_num(t * a1))
    weights = np.broadcast_to(sample.shown[judge], left.shape)
    found["confirmation_bias_excess"] = float(np.average(left[~unread], weights=weights[~unread]))
    found["confirmation_unweighted_excess"] = float(left[~unread].mean())
    return found


def _target(sample: Sample, judge: int) -> np.ndarray:
    if sample.kind == "scale":
        return np.round(sample.shown[judge] * (OPTIONS - 1))
    return np.zeros(len(sample.scenario)) if sample.kind == "acceptance" else sample.side[judge]


def _on_scale(sample: Sample, judge: int, a1, a2, a0, distances) -> dict[str, float]:
    """The excesses of the published metrics, and the slope on the anchor."""
    d1, d2, d0 = distances
    far = np.maximum(a1, OPTIONS - 1 - a1)
    moved = float(np.nanmean((np.abs(a2 - a1) - np.abs(a0 - a1)) / far))
    if sample.world.target in ("end", "low"):
        return {"halo_effect_excess": moved}
    least = np.where(d1 == 0, np.inf, d1)  # 0/0 counts 0
    specific = np.maximum(0, (d1 - d2) / least) - np.maximum(0, (d1 - d0) / least)
    anchor = np.broadcast_to(sample.shown[judge] * (OPTIONS - 1), a1.shape)
    known = np.isfinite(a1 + a2 + a0)
    y, x, z = (each[known] for each in (a2 - a1, anchor - a1, anchor - a0))
    slope = float(np.cov(z, y)[0, 1] / np.cov(z, x)[0, 1])
    return {
        "anchoring_agnostic_excess": moved,
        "anchoring_specific_excess": float(np.nanmean(specific)),
        "anchor_slope": slope,
    }


def _half(said: np.ndarray, ratio: np.ndarray) -> float:
    """The log ratio at which a logistic curve fitted to all answers crosses one half."""
    import statsmodels.api as sm

    known = np.isfinite(said)
    kinds, place = np.unique(ratio[known], return_inverse=True)
    asked = np.bincount(place).astype(float)
    yes = np.bincount(place, weights=said[known])
    fit = sm.GLM(np.column_stack([yes, asked - yes]), sm.add_constant(np.log(kinds)), family=sm.families.Binomial())
    intercept, slope = fit.fit().params
    return float(-intercept / slope)
