"""Judgments on two answers of which exactly one is right as a table: one row a judgment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from helpers.frames.coding import coded
from helpers.types import Answer, Judgment

#: The pair frame: judgments on two answers of which exactly one is right.
PAIRWISE = (
    "experiment",
    "question_id",
    "article",
    "category",
    "judge",
    "judge_vendor",
    "judge_model",
    "condition",
    "edit",
    "target",
    "dose",
    "repeat",
    "task",
    "right",
    "wrong",
    "right_vendor",
    "wrong_vendor",
    "right_label",
    "wrong_label",
    "first",
    "own",
    "picked",
    "p_right",
    "outcome",
    "partner",
)
WORDS = tuple(name for name in PAIRWISE if name not in ("dose", "repeat", "p_right", "partner"))


def pairwise(judgments: Iterable[Judgment], answers: Mapping[tuple[str, str], Answer]) -> pd.DataFrame:
    """One row a judgment on a pair of answers of which exactly one is right (columns: PAIRWISE).

    `right` and `wrong` are candidates, `first` and `own` one of these two words: which stands first, which the judge
    wrote itself ("": neither). `task` is "correct" (which one is correct?) or "wrote" (which one did you write?).
    `picked` is "right" or "wrong", missing where there is no verdict; `p_right` the probability of the right one, NaN
    where the provider gave none; `partner` is the repeat of the control condition that the judgment is compared with.
    Words are categories. No judgments give an empty frame with all columns.
    """
    rows = []
    for each in judgments:
        trial, at = each.trial, each.trial.where
        other = {"right": "wrong", "wrong": "right"}
        role = {"1": at["first"], "2": other[at["first"]]}
        right, wrong = (answers[trial.question_id, at[name]] for name in ("right", "wrong"))
        odds = each.verdict.probabilities if each.verdict else {}
        shown = {role[label]: p for label, p in odds.items()}
        rows.append(
            (
                trial.experiment,
                trial.question_id,
                at["article"],
                trial.category,
                trial.judge.name,
                trial.judge.vendor,
                each.completion.model if each.completion else None,
                trial.condition,
                at["edit"],
                at["target"],
                int(at["dose"]),
                trial.request.repeat,
                at["task"],
                right.candidate,
                wrong.candidate,
                right.vendor,
                wrong.vendor,
                right.label,
                wrong.label,
                at["first"],
                at["own"],
                role[each.verdict.choice] if each.verdict else None,
                shown.get("right", float("nan")),
                each.outcome,
                trial.request.repeat if trial.partner is None else trial.partner,
            )
        )
    return coded(rows, PAIRWISE, WORDS, ["p_right"])
