"""Rankings as arrays: what the rank-ordered logit reads, made from the listwise frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from helpers.stats.numbering import clusters_of

NEEDED = ("question_id", "category", "judge", "judge_vendor", "candidate", "slot", "rank", "own_vendor", "own_model")
#: The columns that tell judgments apart; those that the frame has.
JUDGMENT = ("experiment", "question_id", "judge", "condition", "repeat")


@dataclass(frozen=True)
class Panel:
    """The valid rankings: one row a judgment, candidates in ranked order (best first); N judgments, K candidates.

    Whole numbers index the name tuples. Where fewer than K candidates were ranked, `candidate` and `slot` end in -1.
    """

    candidate: np.ndarray  # (N, K)
    slot: np.ndarray  # (N, K), 0 = shown first
    own_vendor: np.ndarray  # (N, K) bool
    own_model: np.ndarray  # (N, K) bool
    judge: np.ndarray  # (N,)
    cluster: np.ndarray  # (N,)
    category: np.ndarray  # (N,)
    covariates: np.ndarray  # (N, K, m)
    candidates: tuple[str, ...]
    judges: tuple[str, ...]
    judge_vendors: tuple[str, ...]  # of each judge
    categories: tuple[str, ...]
    covariate_names: tuple[str, ...] = ()
    clusters: int = 0  # questions with a valid ranking
    unused: int = 0  # judgments without a valid ranking

    @cached_property
    def vendors(self) -> tuple[str, ...]:
        """The vendors of which some judge saw an own-vendor answer, sorted."""
        judges = np.unique(self.judge[self.own_vendor.any(axis=1)])
        return tuple(sorted({self.judge_vendors[judge] for judge in judges}))

    def of_vendor(self, vendor: str) -> np.ndarray:
        """(N,) True where the judge is of this vendor."""
        return np.array([name == vendor for name in self.judge_vendors], dtype=bool)[self.judge]


def panel_of(frame: pd.DataFrame, covariates: Sequence[str] = ()) -> Panel:
    """The valid rankings of a listwise frame.

    A judgment all of whose ranks are NaN has no valid ranking: it is left out and counted in `unused`. One ranked in
    part, with a rank twice or with a gap is an error, as are a missing column and a covariate that is NaN where ranked.
    """
    lacking = [name for name in (*NEEDED, *covariates) if name not in frame.columns]
    if lacking:
        raise ValueError(f"the listwise frame lacks {', '.join(lacking)}; it has {', '.join(map(str, frame.columns))}")
    keys = [name for name in JUDGMENT if name in frame.columns]
    number = frame.groupby(keys, sort=True, dropna=False).ngroup().to_numpy()
    rank = frame["rank"].to_numpy(dtype=float, na_value=np.nan)
    ranked = ~np.isnan(rank)
    total = int(number.max()) + 1 if len(number) else 0
    found = np.bincount(number[ranked], minlength=total)
    order = np.lexsort((rank, number))
    order = order[ranked[order]]
    rows, judgment = frame.iloc[order], number[order]
    starts = np.cumsum(found) - found
    place = np.arange(len(order)) - starts[judgment]
    wrong = rank[order] != place + 1
    wrong |= (np.bincount(number, minlength=total) != found)[judgment]
    if wrong.any():
        first = rows[wrong].iloc[0]
        where = ", ".join(f"{name} {first[name]}" for name in keys)
        ranks = [float(value) for value in rank[number == judgment[wrong][0]]]
        raise ValueError(f"{where}: ranks {ranks}; need 1, 2, 3 ... once each, or NaN for all")
    row = np.cumsum(found > 0)[judgment] - 1
    width = int(found.max()) if total else 0
    heads = rows[place == 0]
    candidate, candidates = pd.factorize(rows["candidate"], sort=True)
    judge, judges = pd.factorize(heads["judge"], sort=True)
    cluster, clusters = pd.factorize(clusters_of(heads), sort=True)
    category, categories = pd.factorize(heads["category"].astype(str), sort=True)

    def spread(values: np.ndarray, empty: float | bool) -> np.ndarray:
        table = np.full((len(heads), width, *values.shape[1:]), empty, dtype=values.dtype)
        table[row, place] = values
        return table

    columns = rows[list(covariates)].to_numpy(dtype=float, na_value=np.nan)
    if np.isnan(columns).any():
        bad = covariates[int(np.isnan(columns).any(axis=0).argmax())]
        raise ValueError(f"covariate {bad!r} is NaN for {int(np.isnan(columns).any(axis=1).sum())} ranked rows")
    return Panel(
        candidate=spread(candidate, -1),
        slot=spread(rows["slot"].to_numpy(dtype=int), -1),
        own_vendor=spread(rows["own_vendor"].to_numpy(dtype=bool), False),
        own_model=spread(rows["own_model"].to_numpy(dtype=bool), False),
        judge=judge,
        cluster=cluster,
        category=category,
        covariates=spread(columns, 0.0),
        candidates=tuple(map(str, candidates)),
        judges=tuple(map(str, judges)),
        judge_vendors=_vendors(rows, judges),
        categories=tuple(map(str, categories)),
        covariate_names=tuple(covariates),
        clusters=len(clusters),
        unused=int((found == 0).sum()),
    )


def _vendors(rows: pd.DataFrame, judges: Sequence[str]) -> tuple[str, ...]:
    pairs = rows[["judge", "judge_vendor"]].drop_duplicates()
    if len(pairs) != len(judges):
        twice = pairs["judge"][pairs["judge"].duplicated()].iloc[0]
        found = ", ".join(sorted(map(str, pairs.loc[pairs["judge"] == twice, "judge_vendor"])))
        raise ValueError(f"judge {twice!r} has several values of judge_vendor: {found}; need one")
    return tuple(str(vendor) for vendor in pairs.set_index("judge")["judge_vendor"].loc[list(judges)])
