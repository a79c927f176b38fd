"""What people would say of all items, from a judge's verdicts on all and people's labels of a random sample."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from helpers.stats.estimates import estimate
from helpers.stats.intervals import NAN, clustered_mean, no_interval
from helpers.stats.numbering import clusters_of
from helpers.stats.prediction_powered import Labels, NotRandomSample, classical_mean, prediction_powered_mean
from helpers.types import Estimate

NEEDED = ("question_id", "item", "judge", "predicted", "label")
#: What may be in the frame beside and is not to depend on being labelled.
KINDS = ("category", "condition", "candidate", "pair")


def people_rate(frame: pd.DataFrame, data: str, *, random_sample: bool) -> list[Estimate]:
    """How often would people say yes (a win, a pass) of all items, and how far is the judge from that?

    `frame`, a row an item and judge: question_id (the cluster), item, judge, predicted (the judge's value, 0 to 1; NaN
    unreadable), label (a person's, NaN where nobody labelled it), and any of KINDS. For each judge `people_rate` (the
    judge's mean corrected by the labels: prediction-powered), `people_rate_labels` (the labels alone),
    `people_rate_judge` (the judge alone, corrected by nothing). Where the labelled items are not said to be drawn at
    random (`random_sample`), or the frame contradicts it, `people_rate` has no number and `method` says why; where the
    judge lost verdicts, they are left out, and so are their labels. A missing column, an item twice and values beyond
    0 and 1 are ValueErrors.
    """
    lacking = [name for name in NEEDED if name not in frame.columns]
    if lacking:
        raise ValueError(f"the frame lacks {', '.join(lacking)}; it has {', '.join(map(str, frame.columns))}")
    for name in ("predicted", "label"):
        values = frame[name].dropna().astype(float)
        odd = values[(values < 0) | (values > 1)]
        if len(odd):
            raise ValueError(f"row {odd.index[0]}: column {name!r} holds {odd.iloc[0]:g}, expected 0 to 1, or nothing")
    return [
        each
        for judge, rows in frame.groupby("judge", sort=True)
        for each in _of_judge(rows, {"judge": str(judge)}, data, random_sample)
    ]


def _of_judge(rows: pd.DataFrame, where: dict[str, str], data: str, random_sample: bool) -> Iterator[Estimate]:
    table = rows[rows["predicted"].notna()].set_index("item")
    if not table.index.is_unique:
        twice = table.index[table.index.duplicated()][0]
        raise ValueError(f"item {twice}: judge {where['judge']} judged it twice; expected one verdict an item")
    kinds = [name for name in KINDS if name in table.columns]
    given = Labels(table["predicted"], table["label"].dropna(), clusters_of(table), table[kinds] if kinds else None)
    try:
        corrected = prediction_powered_mean(given, random_sample=random_sample)
    except NotRandomSample as refusal:
        corrected = no_interval(NAN, len(given.labels), clusters_of(table).nunique(), f"refused: {refusal}")
    yield estimate("people_rate", where, corrected, data)
    yield estimate("people_rate_labels", where, classical_mean(given), data)
    yield estimate("people_rate_judge", where, clustered_mean(table["predicted"], clusters_of(table)), data)
