"""Does the analysis of bias tests hold what it promises? Noise, pulls, merits, habits and losses of unequal models.

The rule is that of test_simulations: with the exact 99.9 % interval of the observed rate, a size fails wholly outside
3 to 7 %, a coverage wholly outside 93 to 97 %, a bias beyond 3.5 Monte-Carlo standard errors. 24 scenarios in three
wordings, each version asked twice, three models; truth is the estimand in a very large sample. The slow versions run
2,000 replications; seeds were fixed beforehand.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from helpers.biases.cognitive import effects, seed_batches, slopes, thresholds
from helpers.biases.cognitive.pairs import pairs
from helpers.types import Estimate
from tests.cognitive_worlds import Answerer, World, gamble_frame, names, scale_frame, selection_frame
from tests.rule import assert_unbiased, assert_within

FAST, SLOW = 20, pytest.param(2000, marks=pytest.mark.slow)
MEAN = "mean"
#: Samples measured in one go, as biases; with more the corrected level would ask for more draws.
AT_ONCE = 20
#: Models that nothing pulls, but differ in all else.
UNPULLED = (
    Answerer("plain"),
    Answerer("skewed", honest=0.3, noise=0.15, skew=True, habit=0.1),
    Answerer("lossy", honest=0.65, noise=0.2, lost=0.4),
)
#: Models of which scenarios pull this way and that, control and treatment alike: strong effects, and none on average.
MIXED = (
    Answerer("mixed", strength=0.4, varying=0.3, swapped=True),
    Answerer("skewed", noise=0.2, skew=True, strength=0.2, swapped=True),
    Answerer("plain"),
)
PULLED = (
    Answerer("little", strength=0.1, varying=0.1),
    Answerer("much", noise=0.15, strength=0.5, varying=0.2, habit=0.05),
    Answerer("lossy", noise=0.2, strength=0.3, lost=0.3, skew=True),
)
GAMBLERS = (
    Answerer("cautious", threshold=0.9, slack=0.3),
    Answerer("averse", threshold=0.5, strength=0.5, varying=0.15),
    Answerer("lossy", threshold=0.6, slack=0.5, strength=0.2, lost=0.2),
)
FAIR_GAMBLERS = (
    Answerer("cautious", threshold=0.9, slack=0.3),
    Answerer("noisy", slack=0.6),
    Answerer("lossy", lost=0.3),
)
READERS = (Answerer("merit", merit=0.6), Answerer("plain"), Answerer("lossy", merit=0.3, lost=0.3))
BELIEVERS = (Answerer("merit", merit=0.6, strength=0.2), Answerer("much", strength=0.6, varying=0.2), Answerer("plain"))
WORLDS = {
    "noise": (scale_frame, World(UNPULLED)),
    "target": (scale_frame, World(UNPULLED, target="control")),
    "mixed": (scale_frame, World(MIXED, target="end")),
    "pulled": (scale_frame, World(PULLED)),
    "halo": (scale_frame, World(PULLED, target="end")),
    "fair gambles": (gamble_frame, World(FAIR_GAMBLERS)),
    "gambles": (gamble_frame, World(GAMBLERS)),
    "merit": (selection_frame, World(READERS)),
    "believed": (selection_frame, World(BELIEVERS)),
}
FAIR = ("noise", "target", "mixed", "fair gambles", "merit")


def measured(table: pd.DataFrame, seed: int) -> list[Estimate]:
    """All signed numbers and excesses of one sample."""
    return [
        *effects.bias_effect(table, "simulated", seed),
        *effects.bias_placebo(table, "simulated"),
        *effects.scale_shift(table, "simulated"),
        *seed_batches.excesses(table, "simulated", seed),
        *thresholds.thresholds(table, "simulated"),
        *slopes.anchor_slope(table, "simulated"),
    ]


def key(each: Estimate) -> tuple[str, str]:
    condition = f" {each.where['condition']}" if "condition" in each.where else ""
    return each.id + condition, each.where.get("judge", MEAN)


@cache
def replications(world: str, runs: int) -> dict[tuple[str, str], np.ndarray]:
    """(runs, 4) value, low, high, p for each id (and condition) and model, or the mean over models.

    Several samples are measured at once, each as a bias of its own.
    """
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    draw, planted = WORLDS[world]
    for start in range(0, runs, AT_ONCE):
        frames = []
        for run in range(start, min(start + AT_ONCE, runs)):
            rng = np.random.default_rng([61, list(WORLDS).index(world), run])
            frames.append(draw(planted, rng).assign(category=f"run {run}"))
        for each in measured(pairs(pd.concat(frames, ignore_index=True)), start):
            found.setdefault(key(each), []).append((each.value, each.low, each.high, each.p))
    return {name: np.array(values) for name, values in found.items()}


@cache
def truth(world: str, runs: int) -> dict[tuple[str, str], float]:
    """The estimands in very many scenarios, from their definitions; for few runs fewer will do."""
    draw, planted = WORLDS[world]
    chunks = []
    for chunk in range(1 if runs < 100 else 12):
        rng = np.random.default_rng([62, list(WORLDS).index(world), chunk])
        chunks.append(pd.DataFrame({who: defined(rows) for who, rows in _each(draw(planted, rng, 25_000))}))
    known = sum(chunks) / len(chunks)
    known[MEAN] = known.mean(axis=1)
    return {(id, who): float(known.loc[id, who]) for id in known.index for who in known}


def _each(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Of each model one row a pair: a1, a2, a0 and what the test is."""
    same = ["judge", "question_id", "wording"]
    found = []
    for who, rows in frame[frame["condition"] != "decision"].groupby("judge"):
        control, treatment = (rows[rows["condition"] == name] for name in ("control", "treatment"))
        again = control.assign(repeat=1 - control["repeat"])  # two repeats: each is the other one's next
        at = [*same, "repeat"]
        both = treatment.merge(control[[*at, "value"]].rename(columns={"value": "a1"}), on=at)
        both = both.merge(again[[*at, "value"]].rename(columns={"value": "a0"}), on=at)
        found.append((who, both.rename(columns={"value": "a2"})))
    return found


def defined(rows: pd.DataFrame) -> pd.Series:
    """The estimands as they are written down, on a table of pairs."""
    a1, a2, a0, t = (rows[name].to_numpy() for name in ("a1", "a2", "a0", "target"))
    d1, d2, d0 = (np.abs(each - t) for each in (a1, a2, a0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = {"bias_effect": np.nanmean((d1 - d2) / np.maximum(d1, d2))}
    found["scale_shift"] = np.nanmean(d1 - d2) / (rows["high"] - rows["low"]).iloc[0]
    kind = rows["kind"].iloc[0]
    if kind == "scale":
        far = np.maximum(a1 - rows["low"], rows["high"] - a1)
        moved = (np.abs(a2 - a1) - np.abs(a0 - a1)) / far
        if rows["anchor"].isna().all():
            found["halo_effect_excess"] = np.nanmean(moved)
        else:
            found["anchoring_agnostic_excess"] = np.nanmean(moved)
            least = np.where(d1 > 0, d1, np.inf)  # 0/0 counts 0
            specific = [np.maximum(0, np.where(d1 > 0, d1 - each, 0 * each) / least) for each in (d2, d0)]
            found["anchoring_specific_excess"] = np.nanmean(specific[0] - specific[1])
            y, x, z = (each[np.isfinite(a1 + a2 + a0)] for each in (a2 - a1, rows["anchor"] - a1, rows["anchor"] - a0))
            found["anchor_slope"] = np.cov(z, y)[0, 1] / np.cov(z, x)[0, 1]
    if kind == "selection":
        weights = rows["options"].to_numpy()
        left = np.maximum(0, t * a2) - np.maximum(0, t * a1)
        known = np.isfinite(left)
        found["confirmation_bias_excess"] = np.average(left[known], weights=weights[known])
        found["confirmation_unweighted_excess"] = left[known].mean()
    if kind == "acceptance":
        for name, answers in (("control", a1), ("treatment", a2)):
            known = np.isfinite(a1 + a2)
            design = sm.add_constant(np.log(rows["ratio"].to_numpy()[known]))
            fit = sm.GLM(answers[known], design, family=sm.families.Binomial()).fit()
            found[f"acceptance_threshold {name}"] = -fit.params[0] / fit.params[1]
        one, two = (found[f"acceptance_threshold {name}"] for name in ("control", "treatment"))
        found["threshold_ratio"] = two - one
    return pd.Series(found)
