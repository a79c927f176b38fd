"""Estimators on rows of codes: judgments of three judges, six to a question, and pairs of verdicts in both orders.

    python -m benchmarks.programs.coded resamples --rows 1000000

prints JSON: what was measured, in seconds, medians of several times within this process.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from helpers.biases.cognitive import HaloEffectMetric, LossAversionMetric
from helpers.biases.position.both_orders import CELLS, LABELS, PAIR, cells, codes, pairs
from helpers.stats.bootstrap import resampled
from helpers.stats.intervals import cluster_sums

JUDGES, KINDS, EACH = ("one", "two", "three"), ("no_bias", "weak_bias", "significant_bias"), 6
SEED = 42


def took(work: Callable[[], Any], times: int = 5) -> float:
    """Seconds that a piece of work takes."""
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        found.append(time.perf_counter() - begun)
    return median(found)


def judgments(rows: int) -> pd.DataFrame:
    """Rows of codes: the question, the judge, whether it chose itself, and the class of a pair.

    As in a run: each judge has the same questions, as often as the others.
    """
    draw = np.random.default_rng(SEED)
    questions = max(1, rows // EACH)
    turn = np.arange(rows) // questions
    codes = {"question_id": np.arange(rows) % questions, "judge": turn % len(JUDGES)}
    codes["kind"] = draw.choice(3, size=rows, p=(0.6, 0.25, 0.15))
    names = {"question_id": [f"q{n:07}" for n in range(questions)], "judge": JUDGES, "kind": KINDS}
    columns = {name: pd.Categorical.from_codes(codes[name], names[name]) for name in codes}
    return pd.DataFrame({**columns, "self": (draw.random(rows) < 0.4).astype(float), "one": np.ones(rows)})


def plain(frame: pd.DataFrame) -> list[np.ndarray]:
    """What one group-by pass of numpy alone takes for the six rates: a weighted count of the questions for each."""
    question, judge, kind = (frame[name].cat.codes.to_numpy() for name in ("question_id", "judge", "kind"))
    own = frame["self"].to_numpy()
    weights = [*((judge == each) * own for each in range(len(JUDGES))), *(kind == each for each in range(len(KINDS)))]
    return [np.bincount(question, weights=each) for each in weights]


def sums(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """What each question holds: of each judge how often itself and how many, and of each class how many."""
    own = cluster_sums(frame, "self", "question_id", by="judge")
    kinds = cluster_sums(frame, "one", "question_id", by="kind").denominators
    return np.hstack([own.numerators, own.denominators]), kinds


def rates(totals: np.ndarray) -> np.ndarray:
    """Rates of totals (..., 2k): k numerators, then k denominators."""
    part = totals.shape[-1] // 2
    return totals[..., :part] / totals[..., part:]


def shares(totals: np.ndarray) -> np.ndarray:
    """Shares of totals (..., k) that make up all."""
    return totals / totals.sum(axis=-1, keepdims=True)


def resamples(rows: int, count: int) -> dict[str, float]:
    """Passes over the rows, and three self rates and three class shares of so many clustered resamples.

    Each rate from draws of its own judge's sums, of which there are few kinds, and all of them from the same draws.
    """
    frame, seeds = judgments(rows), iter(range(SEED, SEED + 1000))  # draws of one seed are kept: each time another

    def intervals(apart: bool) -> None:
        (selves, classes), seed = sums(frame), next(seeds)
        of_each = [selves[:, [judge, judge + len(JUDGES)]] for judge in range(len(JUDGES))] if apart else [selves]
        for each, statistic in [*((one, rates) for one in of_each), (classes, shares)]:
            np.quantile(resampled(each, statistic, seed, count), (0.025, 0.975), axis=0)

    return {
        "plain": took(lambda: plain(frame)),
        "sums": took(lambda: sums(frame)),
        "resamples": took(lambda: intervals(apart=True)),
        "together": took(lambda: intervals(apart=False)),
    }


def classes(rows: int) -> dict[str, float]:
    """The classes of pairs whose two verdicts are codes, how often each comes, and our whole table of pairs."""
    draw = np.random.default_rng(SEED)
    labels = {game: draw.integers(len(LABELS), size=rows) for game in (1, 2)}
    names = {"question_id": [f"q{n:07}" for n in range(rows)]}
    same = {name: pd.Categorical.from_codes(np.zeros(rows, dtype=int), ["same"]) for name in PAIR}
    same |= {"question_id": pd.Categorical.from_codes(np.arange(rows), names["question_id"]), "repeat": 0}
    games = [
        pd.DataFrame({**same, "games": 2, "first": first}).assign(
            score=(label := pd.Categorical.from_codes(labels[game], LABELS)), verdict=label
        )
        for game, first in ((1, "baseline"), (2, "candidate"))
    ]
    frame = pd.concat(games, ignore_index=True)
    one, two = (codes(each["verdict"]) for each in games)
    classed = took(lambda: np.bincount(CELLS["kind"].array.codes[cells(one, two)]))
    return {"classes": classed, "pairs": took(lambda: pairs(frame)["kind"].value_counts(), 1)}


def ratios(rows: int) -> dict[str, float]:
    """BCa intervals of metrics whose rows are all different: gambles at ratios of their own, numbers as options."""
    draw, column = np.random.default_rng(SEED), (rows, 1)
    answer, lambdas = (draw.random(column) < 0.4).astype(float), np.exp(draw.normal(0.5, 0.7, column))
    options = draw.normal(size=(rows, 4))
    control, treatment = (np.take_along_axis(options, draw.integers(0, 4, column), axis=1) for _ in range(2))
    return {
        "loss": spent(lambda: LossAversionMetric().interval(answer, lambdas)),
        "halo": spent(lambda: HaloEffectMetric().interval(control, treatment, options)),
    }


def spent(work: Callable[[], Any]) -> float:
    """Seconds of user and system time that a piece of work takes."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


WHAT = {"resamples": resamples, "classes": lambda rows, _: classes(rows), "ratios": lambda rows, _: ratios(rows)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("what", choices=[*WHAT])
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--resamples", type=int, default=10_000)
    options = parser.parse_args()
    print(json.dumps(WHAT[options.what](options.rows, options.resamples)))


if __name__ == "__main__":
    main()
