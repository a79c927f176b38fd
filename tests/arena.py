"""The built-in questions of the position-bias experiment, as their tests read them."""

from __future__ import annotations

import json
import re

from helpers.paths import DATA

PATH = DATA / "arena_hard_position_bias" / "questions.jsonl"
LINES = PATH.read_text(encoding="utf-8").splitlines()
QUESTIONS = {row["id"]: row for row in map(json.loads, LINES)}


def last(question_id: str) -> str:
    """The last point, which holds the result."""
    return QUESTIONS[question_id]["points"][-1]


def holds(text: str, value: object) -> bool:
    """Whether a number or a term stands in a text by itself and not as a part of a longer number."""
    return re.search(rf"(?<![\d.,/]){re.escape(str(value))}(?![\d/]|[.,]\d)", text) is not None
