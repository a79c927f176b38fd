"""Judgments as tidy tables: one row a judgment and candidate, with everything that an estimator may ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

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
    "named",
    "partner",
)


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


def listwise(judgments: Iterable[Judgment], answers: Mapping[tuple[str, str], Answer]) -> pd.DataFrame:
    """One row a judgment and candidate, in shown order (columns: LISTWISE).

    `slot` counts from 0; `rank` is 1 for the best and, like `top` (1.0 for the first choice), NaN where the judgment
    has no valid ranking: such judgments stay in the frame. `own_model` compares the model ids that the providers
    returned; `named` is the vendor under whose name the answer was shown, None where no name was; `partner` is the
    repeat of the control condition that the judgment is compared with. `answers` are by question and candidate. No
    judgments give an empty frame with all columns.
    """
    rows = [
        row
        for judgment in judgments
        for row in _rows(judgment, {c: answers[judgment.trial.question_id, c] for c in judgment.trial.shown})
    ]
    return pd.DataFrame(rows, columns=list(LISTWISE)).astype({"rank": float, "score": float, "top": float})


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
            trial.named[slot] if trial.named else None,
            trial.request.repeat if trial.partner is None else trial.partner,
        )


def pairwise(judgments: Iterable[Judgment], answers: Mapping[tuple[str, str], Answer]) -> pd.DataFrame:
    """One row a judgment on a pair of answers of which exactly one is right (columns: PAIRWISE).

    `right` and `wrong` are candidates, `first` and `own` one of these two words: which stands first, which the judge
    wrote itself ("": neither). `task` is "correct" (which one is correct?) or "wrote" (which one did you write?).
    `picked` is "right" or "wrong", None where there is no verdict; `p_right` the probability of the right one, NaN
    where the provider gave none; `partner` is the repeat of the control condition that the judgment is compared with.
    No judgments give an empty frame with all columns.
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
    return pd.DataFrame(rows, columns=list(PAIRWISE)).astype({"p_right": float})


def picks(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a valid judgment: what was put first, with the judge's columns and the first choice's own.

    Columns: question_id, category, judge, judge_vendor, judge_tier, condition, repeat, candidate, candidate_vendor,
    candidate_tier, slot, label, own_vendor, own_model.
    """
    return frame[frame["top"] == 1.0].reset_index(drop=True)


def one_row_each(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a judgment, valid or not: for counting judgments and outcomes, not for anything about a candidate."""
    if "task" in frame:  # a pair frame has a row a judgment already
        return frame
    return frame.drop_duplicates(["experiment", "question_id", "judge", "condition", "repeat"])


def losses(frame: pd.DataFrame, by: Iterable[str] = ("judge", "condition")) -> pd.DataFrame:
    """Judgments and what became of them: one row a cell of `by`, one column an outcome, and the unreadable share.

    Losses that depend on what would have been picked bias every rate, so they have a table of their own.
    """
    by = list(by)
    table = one_row_each(frame).groupby([*by, "outcome"], sort=True).size().unstack(fill_value=0)
    table.columns.name = None
    total = table.sum(axis=1)
    readable = table.get("ok", 0)
    table.insert(0, "judgments", total)
    table["unreadable"] = 1 - readable / total
    return table.reset_index()
