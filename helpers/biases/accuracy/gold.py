"""Whether verdicts are right, where it is known which answer is better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from helpers.stats.estimates import estimate
from helpers.stats.intervals import Interval, Sums, added, cluster_sums, clustered
from helpers.stats.numbering import clusters_of
from helpers.stats.standing import correct_family
from helpers.types import Estimate

NEEDED = ("question_id", "judge", "correct")
#: Of more judges than this the pairs to be compared must be named: nobody reads hundreds of differences.
MOST = 12


def accuracy(
    frame: pd.DataFrame,
    data: str,
    chance: float | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> list[Estimate]:
    """How often is each judge right, and is one right more often than another?

    `frame`, a row a verdict: question_id (the cluster), judge, correct (1 right, 0 wrong, NaN unreadable), optional
    outcome, source, category (of the question) and condition; each source and condition stands for itself.
    `gold_accuracy` (judge) of readable verdicts, `gold_accuracy_of_all` (judge; an unreadable one is wrong: the least
    it can be), `gold_unreadable_share` (judge), `gold_accuracy_by_category` (judge, category) where there are several,
    `gold_accuracy_difference` (judge, other; pp) of `pairs`, by default of all two judges up to MOST of them.
    Question-clustered t, stratified by category; p tests `chance` (0.5 where one of two answers must be named), or
    no difference. A missing column, a value of `correct` beyond 0 and 1, and an unknown judge in `pairs` are
    ValueErrors; no row gives no estimate.
    """
    _check(frame)
    keys = [name for name in ("source", "condition") if name in frame.columns and _several(frame, name)]
    groups = frame.groupby(keys, sort=False) if keys else [((), frame)]
    return [
        each
        for values, rows in groups
        for each in _of_group(rows, dict(zip(keys, map(str, values), strict=True)), data, chance, pairs)
    ]


def _several(frame: pd.DataFrame, name: str) -> bool:
    return name == "source" or frame[name].nunique() > 1


def _check(frame: pd.DataFrame) -> None:
    lacking = [name for name in NEEDED if name not in frame.columns]
    if lacking:
        raise ValueError(f"the frame lacks {', '.join(lacking)}; it has {', '.join(map(str, frame.columns))}")
    values = frame["correct"].dropna().astype(float)
    odd = values[(values < 0) | (values > 1)]
    if len(odd):
        raise ValueError(f"row {odd.index[0]}: column 'correct' holds {odd.iloc[0]:g}, expected 0 to 1, or nothing")


def _of_group(
    frame: pd.DataFrame, where: Mapping[str, str], data: str, chance: float | None, pairs: Sequence | None
) -> Iterator[Estimate]:
    strata = "category" if "category" in frame.columns and _one_each(frame) else None
    whole = frame.assign(least=frame["correct"].fillna(0.0), lost=frame["correct"].isna().astype(float))
    read, least, lost = (cluster_sums(whole, c, "question_id", "judge", strata) for c in ("correct", "least", "lost"))
    for at, judge in enumerate(read.columns):
        place = {**where, "judge": str(judge)}
        yield estimate("gold_accuracy", place, _one(read, at, chance), data)
        yield estimate("gold_accuracy_of_all", place, _one(least, at, None), data)
        yield estimate("gold_unreadable_share", place, _one(lost, at, None), data)
    if "category" in frame.columns and frame["category"].nunique() > 1:
        for category, rows in frame.groupby("category", sort=True):
            sums = cluster_sums(rows, "correct", "question_id", "judge")
            for at, judge in enumerate(sums.columns):
                place = {**where, "judge": str(judge), "category": str(category)}
                yield estimate("gold_accuracy_by_category", place, _one(sums, at, chance), data)
    asked = cluster_sums(whole.drop(columns="cluster", errors="ignore"), "correct", "question_id", "judge")
    of = clusters_of(whole.drop_duplicates("question_id").set_index("question_id", drop=False))
    unit = read.clusters.get_indexer(of.reindex(asked.clusters))
    for one, other in _pairs(read.columns, pairs):
        weights = np.zeros(len(read.columns))
        weights[read.columns.index(one)], weights[read.columns.index(other)] = 1.0, -1.0
        gap = _paired(asked, unit, weights, read.strata)
        yield estimate("gold_accuracy_difference", {**where, "judge": str(one), "other": str(other)}, gap, data, "pp")


def _one_each(frame: pd.DataFrame) -> bool:
    """Does every question have one category? Only then it is a stratum."""
    return bool((frame.groupby("question_id")["category"].nunique(dropna=False) == 1).all())


def _one(sums: Sums, at: int, null: float | None) -> Interval:
    return clustered(sums.numerators[:, at], sums.denominators[:, at], strata=sums.strata, null=null)


def _paired(sums: Sums, unit: np.ndarray, weights: np.ndarray, strata: np.ndarray | None) -> Interval:
    """The difference over the questions for which both judges have a readable verdict."""
    used = weights != 0
    both = (sums.denominators[:, used] > 0).all(axis=1)
    kept, codes = np.unique(unit[both], return_inverse=True)
    x, d = (added(each[both], codes) for each in (sums.numerators, sums.denominators))
    return clustered(x, d, weights, None if strata is None else strata[kept])


def _pairs(judges: Sequence[object], pairs: Sequence[tuple[str, str]] | None) -> list[tuple[object, object]]:
    if pairs is None:
        return list(combinations(judges, 2)) if len(judges) <= MOST else []
    unknown = sorted({judge for pair in pairs for judge in pair} - set(judges))
    if unknown:
        raise ValueError(f"no verdict of {', '.join(unknown)}; judges: {', '.join(map(str, judges))}")
    return list(pairs)


def corrected(estimates: Sequence[Estimate], id: str) -> dict[tuple[tuple[str, str], ...], float]:
    """Holm's p of every estimate `id` that could be tested, by its place (sorted items of `where`): one family.

    NaN where there was no test.
    """
    return correct_family({tuple(sorted(each.where.items())): each for each in estimates if each.id == id})
