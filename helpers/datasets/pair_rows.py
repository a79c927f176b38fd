"""One published judgment on a pair as a row: who wrote what, which is right, which stood first, what was said."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from helpers.datasets.answers import vendor_of
from helpers.types import Answer, Question

if TYPE_CHECKING:
    import pandas

#: The columns of the pair frame, one row a judgment.
COLUMNS = (
    *("experiment", "question_id", "article", "category", "judge", "judge_vendor", "judge_model", "condition", "edit"),
    *("target", "dose", "repeat", "task", "right", "wrong", "right_vendor", "wrong_vendor", "right_label"),
    *("wrong_label", "first", "own", "picked", "p_right", "outcome", "partner"),
)
OTHER = {"right": "wrong", "wrong": "right"}


@dataclass(frozen=True)
class Item:
    """What was judged: the judge's own answer and another one, and which of them is right (`own`)."""

    question: Question
    judge: str
    other: str
    own: str
    labels: tuple[str | None, str | None] = (None, None)
    task: str = "correct"
    dose: int = 0


def as_frame(rows: Sequence[Mapping[str, Any]], counts: Counter[str]) -> pandas.DataFrame:
    """The pair frame of these rows; `attrs["counts"]` holds the counts and the outcomes."""
    import pandas

    frame = pandas.DataFrame(list(rows), columns=list(COLUMNS)).astype({"p_right": float, "dose": int, "repeat": int})
    frame["picked"] = frame["picked"].astype(object).where(frame["picked"].notna(), None)
    counts.update(frame["outcome"])
    frame.attrs["counts"] = {name: count for name, count in counts.items() if count}
    return frame


def row_of(item: Item, own_first: bool, verdict: Any, p_first: float) -> dict[str, Any]:
    """One row of the pair frame; `verdict` is "1" or "2", `p_first` the probability of the answer shown first."""
    first = item.own if own_first else OTHER[item.own]
    # Only these two texts are verdicts: " 1", 1 and "Answer 1" would have to be interpreted.
    picked = {"1": first, "2": OTHER[first]}.get(verdict) if isinstance(verdict, str) else None
    names = {item.own: item.judge, OTHER[item.own]: item.other}
    labels = {item.own: item.labels[0], OTHER[item.own]: item.labels[1]}
    return {
        "question_id": item.question.id,
        "article": item.question.article,
        "category": item.question.category,
        "judge": item.judge,
        "judge_vendor": vendor_of(item.judge),
        "judge_model": item.judge,
        "condition": f"{item.own}_{item.dose}" if item.dose else "none",
        "edit": "synonyms" if item.dose else "none",
        "target": item.own if item.dose else "none",
        "dose": item.dose,
        "repeat": 0,
        "task": item.task,
        "right": names["right"],
        "wrong": names["wrong"],
        "right_vendor": vendor_of(names["right"]),
        "wrong_vendor": vendor_of(names["wrong"]),
        "right_label": labels["right"],
        "wrong_label": labels["wrong"],
        "first": first,
        "own": item.own,
        "picked": picked,
        "p_right": math.nan if picked is None else p_first if first == "right" else 1 - p_first,
        "outcome": "ok" if picked else "unparsed",
        # A verdict is compared with a repeat, which published files lack; recognition with its only unedited asking.
        "partner": int(item.task == "correct"),
    }


def role_of(gold: str | None, answers: Sequence[Answer | None]) -> str:
    """Which the judge's own answer is ("right", "wrong"), or why the two answers are no pair."""
    if gold is None:
        return "no_gold"
    found = [answer for answer in answers if answer]
    if len(found) < len(answers):
        return "unknown"
    if any(answer.label is None for answer in found):
        return "unlabelled"
    if any(answer.outcome != "ok" for answer in found):
        return "no_reason"
    right = [answer.label == gold for answer in found]
    return "both_right" if all(right) else "both_wrong" if not any(right) else "right" if right[0] else "wrong"
