"""What is left of a preference at equal length, and what length alone does: one linear fit a judge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.biases.verbosity.effects import NO_PAIR
from helpers.biases.verbosity.wording import CONTROLLED, LENGTH
from helpers.stats.estimates import estimate
from helpers.stats.intervals import NAN, Interval, no_interval, t_interval
from helpers.stats.numbering import clusters_of
from helpers.stats.sandwich import adjust_scores, combine_pieces
from helpers.types import Estimate

METHOD = "least squares at equal length, question-clustered t"
SAME = "no slope: all wordings that were compared are of one length"


def length_controlled(table: pd.DataFrame, data: str) -> list[Estimate]:
    """`length_controlled_effect` (judge, bias): the preference for a wording at equal length, in pp.
    `length_slope` (judge): how much a text of twice the letters gains, in pp.

    One fit a judge to the comparisons at chosen lengths: score = effect of the wording + slope * doublings, where
    doublings are log2(letters of the tried text / letters of the other). Standard errors as in
    `stats.sandwich`. Takes `pairs`. Nothing where none was compared at chosen lengths; no number where the lengths
    cannot be told from the wordings.
    """
    found = []
    mine = table[table["condition"] == LENGTH]
    for judge, rows in mine.groupby("judge", sort=True):
        biases = [bias for bias in CONTROLLED if (rows["bias"] == bias).any()]
        *effects, slope = fitted(rows[rows["score"].notna()], biases)
        places = [{"judge": str(judge), "bias": bias} for bias in biases]
        found += [
            estimate("length_controlled_effect", where, each, data, "pp")
            for where, each in zip(places, effects, strict=True)
        ]
        found.append(estimate("length_slope", {"judge": str(judge)}, slope, data, "pp", (-2.0, 2.0)))
    return found


def fitted(rows: pd.DataFrame, biases: Sequence[str]) -> list[Interval]:
    """The effect of each of `biases` at equal length, and the slope of length, from readable pairs."""
    if rows.empty:
        return [no_interval(NAN, 0, 0, NO_PAIR)] * (len(biases) + 1)
    doublings = np.log2(rows["letters_tried"].to_numpy(float) / rows["letters_other"].to_numpy(float))
    dummies = np.column_stack([(rows["bias"] == bias).to_numpy(float) for bias in biases])
    varied = bool((np.abs(doublings) > 1e-9).any())
    design = np.column_stack([dummies, doublings]) if varied else dummies
    codes, labels = pd.factorize(clusters_of(rows), sort=True)
    clusters = len(labels)
    # Sums of each question: leaving one out takes its part from the whole.
    products = np.zeros((clusters, design.shape[1], design.shape[1]))
    np.add.at(products, codes, design[:, :, None] * design[:, None, :])
    moments = np.zeros((clusters, design.shape[1]))
    np.add.at(moments, codes, design * rows["score"].to_numpy()[:, None])
    whole, right = products.sum(axis=0), moments.sum(axis=0)
    if np.linalg.matrix_rank(whole) < len(whole):
        told = "a wording has no readable pair, or its length cannot be told from it"
        return [no_interval(NAN, len(rows), clusters, told)] * (len(biases) + 1)
    values = np.linalg.solve(whole, right)
    adjusted = adjust_scores(moments - products @ values, products)
    counts = [*(int(each) for each in dummies.sum(axis=0)), len(rows)]
    found = []
    for value, contrast, n in zip(values, np.eye(len(values)), counts, strict=False):
        each = combine_pieces([adjusted.pieces(contrast)])
        found.append(t_interval(float(value), each.se, each.df, n, clusters, METHOD, effective=each.effective))
    return found if varied else [*found, no_interval(NAN, len(rows), clusters, SAME)]
