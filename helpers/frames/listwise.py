"""Rankings of several answers as a table: one row a judgment and candidate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

import pandas as pd

from helpers.frames.coding import coded
from helpers.types import Answer, Judgment

LISTWISE = (
    "experiment",
    "question_id",
    "category",
    "judge",
    "judge_vendor",
    "judge_tier",
    "judge_model",
    "candidate",
    "candidate_vendor",
    "candidate_tier",
    "candidate_model",
    "condition",
    "repeat",
    "slot",
    "label",
    "rank",
    "score",
    "top",
    "outcome",
    "contradicts",
    "own_vendor",
    "own_model",
    "length",
    "lists",
    "bold",
    "named",
    "partner",
)
#: Columns of numbers that a judgment may lack, and those that count or tell yes from no; all others hold words.
NUMBERS = ("rank", "score", "top")
COUNTS = ("repeat", "slot", "contradicts", "own_vendor", "own_model", "length", "lists", "bold", "partner")
LIST_ITEM, BOLD = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s", re.MULTILINE), re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")
WORDS = tuple(name for name in LISTWISE if name not in (*NUMBERS, *COUNTS))


def listwise(judgments: Iterable[Judgment], answers: Mapping[tuple[str, str], Answer]) -> pd.DataFrame:
    """One row a judgment and candidate, in shown order (columns: LISTWISE).

    Words are categories. `slot` counts from 0; `rank` is 1 for the best and, like `top` (1.0 for the first choice), NaN
    where the judgment has no valid ranking: such judgments stay in the frame. `own_model` compares the model ids that
    the providers returned; `length` is in characters, `lists` and `bold` count list items and bold passages; `named` is
    the vendor under whose name the answer was shown, missing where no name was;
    `partner` is the repeat of the control condition that the judgment is compared with. `answers` are by question and
    candidate. No judgments give an empty frame with all columns.
    """
    rows = [
        row
        for judgment in judgments
        for row in _rows(judgment, {c: answers[judgment.trial.question_id, c] for c in judgment.trial.shown})
    ]
    return coded(rows, LISTWISE, WORDS, NUMBERS)


@lru_cache(maxsize=4096)
def _marks(text: str) -> tuple[int, int]:
    """How many list items and bold passages a text in Markdown has."""
    return len(LIST_ITEM.findall(text)), len(BOLD.findall(text))


def _rows(judgment: Judgment, answers: Mapping[str, Answer]) -> Iterable[tuple]:
    trial, verdict = judgment.trial, judgment.verdict
    ranking = verdict.ranking if verdict else ()
    rank_of = {label: place for place, label in enumerate(ranking, 1)}
    judge_model = judgment.completion.model if judgment.completion else None
    nan = float("nan")
    for slot, (label, candidate) in enumerate(zip(trial.labels, trial.shown, strict=True)):
        answer = answers[candidate]
        rank = rank_of.get(label, nan)
        yield (
            trial.experiment,
            trial.question_id,
            trial.category,
            trial.judge.name,
            trial.judge.vendor,
            trial.judge.tier,
            judge_model,
            candidate,
            answer.vendor,
            answer.tier,
            answer.model,
            trial.condition,
            trial.request.repeat,
            slot,
            label,
            rank,
            verdict.scores.get(label, nan) if verdict else nan,
            nan if rank != rank else float(rank == 1),
            judgment.outcome,
            bool(verdict and verdict.contradicts),
            trial.judge.vendor == answer.vendor,
            judge_model is not None and judge_model == answer.model,
            len(answer.text or ""),
            *_marks(answer.text or ""),
            trial.named[slot] if trial.named else None,
            trial.request.repeat if trial.partner is None else trial.partner,
        )
