"""Verdicts on a candidate against a baseline as a table: one row a verdict in one order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from helpers.frames.coding import coded
from helpers.types import Answer, Judgment

#: The games frame: verdicts on a candidate against a baseline, one row a verdict in one order.
GAMES = (
    "experiment",
    "source",
    "question_id",
    "category",
    "judge",
    "judge_vendor",
    "judge_model",
    "candidate",
    "candidate_vendor",
    "baseline",
    "condition",
    "first",
    "repeat",
    "games",
    "score",
    "verdict",
    "outcome",
)
WORDS = tuple(name for name in GAMES if name not in ("repeat", "games"))


def games(judgments: Iterable[Judgment], answers: Mapping[tuple[str, str], Answer]) -> pd.DataFrame:
    """One row a verdict on a candidate against a baseline, in one order (columns: GAMES).

    `first` says which of the two stands first, as A: "baseline" (game 1) or "candidate" (game 2). `condition` is
    "none", "identical" (the candidate's text in both slots) or "quality_gap" (its answer against one to another
    question). `verdict` and `score` are the label in shown terms, missing where there is none; then `outcome` says why.
    Words are categories. No judgments give an empty frame with all columns.
    """
    rows = []
    for each in judgments:
        trial, at = each.trial, each.trial.where
        label = each.verdict.choice if each.verdict else None
        rows.append(
            (
                trial.experiment,
                "asked",
                trial.question_id,
                trial.category,
                trial.judge.name,
                trial.judge.vendor,
                each.completion.model if each.completion else None,
                at["candidate"],
                answers[trial.question_id, at["candidate"]].vendor,
                at["baseline"],
                trial.condition,
                at["first"],
                trial.request.repeat,
                2,
                label,
                label,
                each.outcome,
            )
        )
    return coded(rows, GAMES, WORDS, ())
