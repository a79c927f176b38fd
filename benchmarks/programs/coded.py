"""Estimators on rows of codes: judgments of three judges, six to a question, and pairs of verdicts in both orders.

    python -m benchmarks.programs.coded resamples --rows 1000000

prints JSON: what was measured, in seconds, medians of so many passes within this process.
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

from helpers.biases.position.pairs import CLASSES, LABELS, PAIR, codes, kinds, pairs
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
    """Rows of codes: the question, the judge, whether it chose itself, and the class of a pair."""
    draw = np.random.default_rng(SEED)
    questions = max(1, rows // EACH)
    codes = {"question_id": np.arange(rows) % questions, "judge": draw.integers(3, size=rows)}
    codes["kind"] = draw.choice(3, size=rows, p=(0.6, 0.25, 0.15))
    names = {"question_id": [f"q{n:07}" for n in range(questions)], "judge": JUDGES, "kind": KINDS}
    columns = {name: pd.Categorical.from_codes(codes[name], names[name]) for name in codes}
    return pd.DataFrame({**columns, "self": (draw.random(rows) < 0.4).astype(float), "one": np.ones(rows)})


def sums(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """What each question holds: of each judge how often itself and how many, and of each class how many and of all."""
    own = cluster_sums(frame, "self", "question_id", by="judge")
    kinds = cluster_sums(frame, "one", "question_id", by="kind").denominators
    return np.hstack([own.numerators, own.denominators]), np.hstack([kinds, kinds.sum(axis=1, keepdims=True)])


def rates(totals: np.ndarray) -> np.ndarray:
    """Rates of totals (..., 2k): k numerators, then k denominators; or three shares of totals (..., 4)."""
    part = 3 if totals.shape[-1] == 4 else totals.shape[-1] // 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return totals[..., :part] / totals[..., part:]


def resamples(rows: int, count: int) -> dict[str, float]:
    """Passes over the rows, and three self rates and three class shares of so many clustered resamples.

    Each rate from draws of its own judge's sums, of which there are few kinds, and all of them from the same draws.
    """
    frame = judgments(rows)
    codes, own = frame["question_id"].cat.codes.to_numpy(), frame["self"].to_numpy()

    def intervals(apart: bool, seed: int) -> None:
        selves, shares = sums(frame)
        of_each = [selves[:, [judge, judge + len(JUDGES)]] for judge in range(len(JUDGES))] if apart else [selves]
        for each in (*of_each, shares):
            np.nanquantile(resampled(each, rates, seed, count), (0.025, 0.975), axis=0)

    found = {"bincount": took(lambda: np.bincount(codes, weights=own)), "sums": took(lambda: sums(frame))}
    # draws of one seed are kept: each has its own, and the goal is for the rates each by itself
    together = took(lambda: intervals(apart=False, seed=SEED + 1), 1)
    return found | {"together": together, "resamples": took(lambda: intervals(apart=True, seed=SEED), 1)}


def passes(rows: int) -> dict[str, float]:
    """One pass over the rows for all six sums."""
    frame = judgments(rows)
    codes, own = frame["question_id"].cat.codes.to_numpy(), frame["self"].to_numpy()
    return {"bincount": took(lambda: np.bincount(codes, weights=own)), "sums": took(lambda: sums(frame))}


def classes(rows: int) -> dict[str, float]:
    """The classes of pairs whose two verdicts are codes, how often each comes, and our whole table of pairs."""
    draw = np.random.default_rng(SEED)
    said = {game: draw.integers(len(LABELS), size=rows) for game in (1, 2)}
    names = {"question_id": [f"q{n:07}" for n in range(rows)]}
    same = {name: pd.Categorical.from_codes(np.zeros(rows, dtype=int), ["same"]) for name in PAIR}
    same |= {"question_id": pd.Categorical.from_codes(np.arange(rows), names["question_id"]), "repeat": 0}
    games = [
        pd.DataFrame({**same, "games": 2, "first": first}).assign(
            score=(label := pd.Categorical.from_codes(said[game], LABELS)), verdict=label
        )
        for game, first in ((1, "baseline"), (2, "candidate"))
    ]
    frame = pd.concat(games, ignore_index=True)
    one, two = (codes(each["verdict"]) for each in games)
    classed = took(lambda: np.bincount(kinds(one, two), minlength=len(CLASSES)))
    return {"classes": classed, "pairs": took(lambda: pairs(frame)["kind"].value_counts(), 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("what", choices=["resamples", "passes", "classes"])
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--resamples", type=int, default=10_000)
    given = parser.parse_args()
    if given.what == "resamples":
        found = resamples(given.rows, given.resamples)
    else:
        found = {"passes": passes, "classes": classes}[given.what](given.rows)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
