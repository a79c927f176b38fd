"""A judge's verdicts on all items, corrected by people's labels of a random sample of them (prediction-powered).

The package ppi-python has these estimators for independent items alone; verdicts come in clusters, and labels are often
no random sample. So this is its mean (Angelopoulos et al. 2023, Science 382; tuned as in PPI++, arXiv 2311.01453) with
errors over questions, behind checks that refuse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..words import p_text
from .intervals import NAN, Interval, combine_pieces, no_interval, pieces_of_rates, t_interval

#: Below this p the labelled items are called no random sample.
REFUSED_BELOW = 0.001
#: A column with more different values than this is taken as a number, not as kinds.
MOST_KINDS = 12


class NotRandomSample(ValueError):
    """The labelled items are no random sample of what is to be estimated: their labels correct nothing."""


@dataclass(frozen=True)
class Labels:
    """Items with a judge's value each, and labels of some of them.

    `predicted`: the judge's value of every item, indexed by item (1/0, a score); `labels`: a person's value of some
    items, indexed by item; `clusters`: the question of every item; `kinds`: any columns that are known of every item
    (category, the pair of models), which a random sample does not depend on.
    """

    predicted: pd.Series
    labels: pd.Series
    clusters: pd.Series
    kinds: pd.DataFrame | None = None


def prediction_powered_mean(
    labels: Labels, *, random_sample: bool, weight: float | None = None, level: float = 0.95, null: float | None = None
) -> Interval:
    """The mean label that all items would have: the judge's mean, less the error it makes on the labelled items.

    mean(Y) + w * (mean of f over unlabelled - mean of f over labelled items), Y labels and f the judge's values;
    `weight` None takes the w from 0 to 1 with the smallest variance. CR2 over questions, one degree of freedom less
    where w was estimated. `n` counts labelled items, `clusters` their questions: no bounds below 10. `random_sample` is
    what only who labelled knows: False, and labels that contradict it (see `contradictions`), are a NotRandomSample
    error.
    """
    if not random_sample:
        raise NotRandomSample(
            "labels of items that were not drawn at random from all items correct nothing: what the judge gets wrong "
            "on them says nothing on the others; pass random_sample=True only if they were drawn"
        )
    if reasons := contradictions(labels):
        raise NotRandomSample(f"the labelled items are no random sample: {'; '.join(reasons)}")
    if weight is not None and not 0 <= weight <= 1:
        raise ValueError(f"weight {weight!r} is not between 0 and 1")
    table = _columns(labels)
    kept = table["labelled"].to_numpy()
    n, labelled = int(kept.sum()), int(table.loc[kept, "cluster"].nunique())
    if not n or not labelled:
        return no_interval(NAN, n, labelled, "no label")
    # Sums and sizes of clusters: label, verdict there, verdict elsewhere.
    sides = table.assign(there=table["value"].where(kept), elsewhere=table["value"].where(~kept))
    rates = sides.groupby("cluster", sort=False)[["label", "there", "elsewhere"]].agg(["sum", "count"])
    sums, sizes = (rates.xs(name, axis=1, level=1).to_numpy(dtype=float) for name in ("sum", "count"))
    totals = sizes.sum(axis=0)
    means = sums.sum(axis=0) / np.maximum(totals, 1)
    residuals = sums - means * sizes
    # Where every item is labelled there is nothing that the judge could add.
    helped = totals[2] > 0
    each_row = residuals / np.maximum(totals, 1)
    moving = (each_row[:, 2] - each_row[:, 1]) * helped
    best = np.linalg.lstsq(moving[:, None], -each_row[:, 0], rcond=None)[0][0]
    w = (float(np.clip(best, 0.0, 1.0)) if weight is None else weight) * helped
    value = float(means[0] + w * (means[2] - means[1]))
    spent = int(helped) if weight is None else 0
    if labelled <= spent + 1:
        return no_interval(value, n, labelled, "no interval: too few labelled questions")
    used = [True, w != 0]
    left = np.column_stack([residuals[:, 0] - w * residuals[:, 1], residuals[:, 2]])[:, used]
    rows, share = sizes[:, [0, 2]][:, used], np.array([1.0, w])[used]
    if (rows.max(axis=0) == rows.sum(axis=0)).any():
        return no_interval(value, n, labelled, "no interval: one question holds all rows of a side")
    spread = combine_pieces([pieces_of_rates(left, rows, share)])
    if spread.df <= spent:
        return no_interval(value, n, labelled, "no interval: too few labelled questions")
    df = spread.df - spent
    method = f"prediction-powered (weight {w:.2f}), question-clustered t"
    se, effective = spread.se * math.sqrt(spread.df / df), min(spread.effective, labelled)
    return t_interval(value, se, df, n, labelled, method, level, null, effective)


def _columns(part: Labels) -> pd.DataFrame:
    items = part.predicted.index
    label = part.labels.reindex(items).astype(float)
    cluster = part.clusters.reindex(items)
    return pd.DataFrame(
        {"value": part.predicted.astype(float), "label": label, "labelled": label.notna(), "cluster": cluster}
    )


def contradictions(labels: Labels) -> list[str]:
    """Why the labelled items cannot be a random sample of all items, in words; nothing where nothing contradicts it.

    Reasons are labels of items that are not estimated, and a share of labelled items that depends on a column of
    `kinds` or on the judge's verdict (chi-square over questions, p < REFUSED_BELOW). Items twice or without a value are
    ValueErrors.
    """
    _check(labels)
    strange = labels.labels.index.difference(labels.predicted.index)
    reasons = []
    if len(strange):
        shown = ", ".join(map(str, strange[:3])) + (" ..." if len(strange) > 3 else "")
        reasons.append(f"{len(strange)} labelled items are none of the items estimated ({shown})")
    table = _columns(labels)
    kinds = {} if labels.kinds is None else {name: labels.kinds[name].reindex(table.index) for name in labels.kinds}
    for name, column in {**kinds, "the judge's verdict": table["value"]}.items():
        p = dependence(table["labelled"], column, table["cluster"])
        if p < REFUSED_BELOW:
            shares = table["labelled"].groupby(column).mean()
            spread = (
                f", from {100 * shares.min():.0f} to {100 * shares.max():.0f} %" if len(shares) <= MOST_KINDS else ""
            )
            reasons.append(f"the labelled share depends on {name}{spread} (chi-square p {p_text(p)})")
    return reasons


def _check(labels: Labels) -> None:
    for name in ("predicted", "labels"):
        series = getattr(labels, name)
        if not series.index.is_unique:
            raise ValueError(f"{name}: item {series.index[series.index.duplicated()][0]} occurs twice")
        if series.isna().any():
            raise ValueError(f"{name}: item {series.index[series.isna()][0]} has no value; leave it out, and count it")
    lost = labels.clusters.reindex(labels.predicted.index).isna()
    if lost.any():
        raise ValueError(f"clusters: item {labels.predicted.index[lost][0]} has no question")


def dependence(chosen: pd.Series, column: pd.Series, clusters: pd.Series) -> float:
    """The p of no dependence between being chosen and a column (kinds, or a number of many values), over clusters.

    A score test: U = sum over clusters of (chosen - share) * (indicator - mean), chi-square = U' V^- U with V the sum
    over clusters of their own outer products, so that whole questions may be drawn. 1 where nothing varies.
    """
    away = chosen.to_numpy(dtype=float) - float(chosen.mean())
    at, names = pd.factorize(clusters.to_numpy())
    if column.nunique(dropna=False) > MOST_KINDS and pd.api.types.is_numeric_dtype(column):
        number = column.to_numpy(dtype=float)
        sums = np.bincount(at, weights=away * (number - number.mean()))[:, None]
    else:
        kind, kinds = pd.factorize(column.astype(str).to_numpy())
        cells = np.bincount(at * len(kinds) + kind, weights=away, minlength=len(names) * len(kinds))
        of_all = np.outer(np.bincount(at, weights=away), np.bincount(kind) / len(kind))
        sums = cells.reshape(len(names), len(kinds)) - of_all
    total, spread = sums.sum(axis=0), sums.T @ sums
    values, vectors = np.linalg.eigh(spread)
    kept = values > 1e-10 * max(values.max(), 1e-300)
    if not kept.any() or values.max() <= 1e-18:
        return 1.0
    from scipy.stats import chi2

    return float(chi2.sf((((vectors.T @ total)[kept]) ** 2 / values[kept]).sum(), int(kept.sum())))
