"""The points of the figure of anchors: means of pairs that are grouped by what shares no noise with their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from helpers.figures import biases
from helpers.stats.estimates import estimate
from helpers.stats.intervals import MIN_CLUSTERS, clustered_mean
from helpers.stats.numbering import clusters_of
from helpers.types import Estimate

if TYPE_CHECKING:
    import pandas as pd

#: Points of a curve, at most; each stands for about as many pairs as the others.
BINS = 6


def grouping(pairs: pd.DataFrame, shown: Sequence[Estimate]) -> str:
    """How points are grouped, and whose points noise alone makes rise."""
    by_place = {(each.where["judge"], each.where["bias"], each.data): biases.behind(pairs, each) for each in shown}
    bare = {place: not repeated(rows) for place, rows in by_place.items() if len(moved(rows))}
    noise = "noise alone makes these points rise"
    alone = f"grouped by the distance of the number from the control answer, which was asked once: {noise}"
    if bare and all(bare.values()):
        return alone
    words = (
        "grouped by the distance of the number from another reply to the same control, so that noise in the control "
        "answer alone moves none"
    )
    if any(bare.values()):
        judges = ", ".join(sorted({judge for (judge, _, _), each in bare.items() if each}))
        words += f" (where the control was asked once, of {judges}, by its distance from the control answer: {noise})"
    return words


def repeated(pairs: pd.DataFrame) -> bool:
    """Is there another answer to the same control in any of these pairs?"""
    return bool((pairs["a0"].notna() & pairs["a1"].notna() & pairs["a2"].notna() & pairs["anchor"].notna()).any())


def moved(pairs: pd.DataFrame) -> pd.DataFrame:
    """How far the number was from the control answer (x) and how far the answer moved (y), in % of the scale.

    `by` is the distance by which pairs are grouped: from a0, or x where no pair has an a0. It shares no noise with y,
    so that the mean y of a group is 0 where the treatment does nothing; where it does all, it is the group's mean x.
    """
    import pandas as pd

    percent = 100 / (pairs["high"] - pairs["low"])
    columns = {
        "x": (pairs["anchor"] - pairs["a1"]) * percent,
        "y": (pairs["a2"] - pairs["a1"]) * percent,
        "by": (pairs["anchor"] - pairs["a0" if repeated(pairs) else "a1"]) * percent,
        "cluster": clusters_of(pairs),
    }
    return pd.DataFrame(columns).dropna()


def binned(points: pd.DataFrame) -> list[tuple[float, Estimate]]:
    """The mean x and the mean y, with its scenario-clustered interval, of groups of about equally many pairs."""
    import numpy as np

    if points.empty:
        return []
    scenarios = points["cluster"].nunique()
    for groups in range(BINS if scenarios >= MIN_CLUSTERS else 3, 0, -1):
        edges = np.unique(np.quantile(points["by"], np.linspace(0, 1, groups + 1)))
        # Equal distances stay together, so that groups need not be equal in size.
        places = np.searchsorted(edges[1:-1], points["by"], side="right")
        # As many points as have an interval.
        if scenarios < MIN_CLUSTERS or points.groupby(places)["cluster"].nunique().min() >= MIN_CLUSTERS:
            break
    found = []
    for _, group in points.groupby(places):
        interval = clustered_mean(group["y"], group["cluster"])
        found.append((float(group["x"].mean()), estimate("moved", {}, interval, "", "score")))
    return found
