"""Verdicts on two wordings as a table, a row a verdict; and as pairs of verdicts in both orders, a row a pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from helpers.biases.verbosity.asking import TRIED
from helpers.types import Answer, Judgment

#: The frame of this experiment: one row a verdict in one order.
FRAME = (
    "experiment",
    "question_id",
    "category",
    "judge",
    "judge_vendor",
    "judge_model",
    "condition",
    "bias",
    "wording",
    "first",
    "repeat",
    "letters_tried",
    "letters_other",
    "verdict",
    "outcome",
)
WORDS = tuple(name for name in FRAME if name not in ("repeat", "letters_tried", "letters_other"))
#: One row a pair: what `pairs` makes of both orders.
KEYS = ("judge", "question_id", "category", "condition", "bias", "wording", "repeat")
#: What a verdict says for the answer shown first.
SIGNS = {"A>>B": 1.0, "A>B": 1.0, "A=B": 0.0, "B>A": -1.0, "B>>A": -1.0}


def tidy(judgments: Iterable[Judgment], answers: Mapping[tuple[str, str], Answer]) -> pd.DataFrame:
    """One row a verdict on two texts in one order (columns: FRAME); `answers` is not needed.

    `first` says which of the two stands first, as A: "tried" (the wording that is tried, of known pairs the better
    text) or "other". `bias` is that wording (see `wording`), of known pairs the bias that they are made for; `wording`
    the length at which it is shown. `verdict` is missing where there is none; then `outcome` says why. Words are
    categories. No judgments give an empty frame with all columns.
    """
    del answers
    rows = [
        (
            each.trial.experiment,
            each.trial.question_id,
            each.trial.category,
            each.trial.judge.name,
            each.trial.judge.vendor,
            each.completion.model if each.completion else None,
            each.trial.condition,
            each.trial.where["bias"],
            each.trial.where["wording"],
            each.trial.where["first"],
            each.trial.request.repeat,
            int(each.trial.where["letters_tried"]),
            int(each.trial.where["letters_other"]),
            each.verdict.choice if each.verdict else None,
            each.outcome,
        )
        for each in judgments
    ]
    return pd.DataFrame(rows, columns=list(FRAME)).astype(dict.fromkeys(WORDS, "category"))


def published_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Nothing published has these wordings: a ValueError that says which way verdicts of one's own are read."""
    raise ValueError(
        "verdicts that others published are not on these wordings, so this experiment has none to read; pairs of which "
        "one text is known to be better are asked with `questions`, and `recuse analyze` reads your own verdicts"
    )


def pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """One row for both orders of one comparison, asked by one judge at one repeat.

    Columns: KEYS, `tried_first` and `other_first`, what each order said for the tried text (1, 0 a tie, -1, NaN
    unreadable), `score`, their mean (NaN where either is unreadable: a preference for a place then stays in it),
    `letters_tried` and `letters_other`. Takes the frame of `tidy`.
    """
    said = frame["verdict"].map(SIGNS).to_numpy(dtype=float)
    second = (frame["first"] != TRIED).to_numpy()
    code = np.zeros(len(frame), dtype=np.int64)
    for name in KEYS:
        number, labels = _numbered(frame[name])
        code = code * max(1, labels) + number
    _, at, pair = np.unique(code, return_index=True, return_inverse=True)
    both = np.full((len(at), 2), np.nan)
    # Shown second, the tried text is B.
    both[pair, second.astype(int)] = np.where(second, -said, said)
    table = frame.iloc[at][[*KEYS, *({"cluster"} & {*frame}), "letters_tried", "letters_other"]].reset_index(drop=True)
    return table.assign(tried_first=both[:, 0], other_first=both[:, 1], score=both.mean(axis=1))


def _numbered(column: pd.Series) -> tuple[np.ndarray, int]:
    """The number of each value in sorted order, and how many values there are."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(np.int64), len(column.cat.categories)
    number, labels = pd.factorize(column, sort=True)
    return number, len(labels)
