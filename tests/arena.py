"""The built-in questions of the position-bias experiment, as their tests read them, and what holds for any question."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import permutations

from helpers.paths import DATA

PATH = DATA / "arena_hard_position_bias" / "questions.jsonl"
LINES = PATH.read_text(encoding="utf-8").splitlines()
QUESTIONS = {row["id"]: row for row in map(json.loads, LINES)}


def last(question_id: str) -> str:
    """The last point, which holds the result."""
    return QUESTIONS[question_id]["points"][-1]


def words(text: str) -> str:
    """Lower case without punctuation, so that containment does not hang on a comma."""
    return " ".join(re.findall(r"\w+", text.lower()))


def assert_distinct(questions: Iterable[dict]) -> None:
    """No question and no point occurs twice."""
    rows = list(questions)
    for taken in ([words(row["text"]) for row in rows], [words(point) for row in rows for point in row["points"]]):
        assert [text for text, n in Counter(taken).items() if n > 1] == []


def assert_well_formed(question: dict) -> None:
    """Exactly the four documented fields, and 4 to 6 points that can each be found in an answer, in one piece."""
    assert list(question) == ["id", "category", "text", "points"]
    assert question["text"] == question["text"].strip() != ""
    assert 4 <= len(question["points"]) <= 6
    for point in question["points"]:
        assert point[0].isupper() and point.endswith(".") and not point.endswith(".."), point
        assert 5 <= len(point.split()) <= 40, point
        # A splitter into sentences must give the point back whole; a layout must not clash with markup in it.
        assert not re.search(r"[.!?]\s", point), point
        assert not re.search(r"`|\*\*|__|\n|^[#>-]", point), point
    points = [words(point) for point in question["points"]]
    for point, other in permutations(points, 2):
        assert f" {point} " not in f" {other} "


def assert_not_given_away(question: dict, texts: Iterable[dict]) -> None:
    """No point of a question stands in the text of any of these."""
    for row in texts:
        for point in question["points"]:
            assert f" {words(point)} " not in f" {words(row['text'])} ", (row["id"], point)


def assert_blind(question: dict) -> None:
    """Nothing in a question hints at a maker of models or looks like a verdict."""
    text = " ".join([question["text"], *question["points"]])
    assert not re.search(r"claude|\bgpt|gemini|openai|anthropic|google|\[\[|[A-F]\s*[<>]+\s*[A-F]\b", text, re.I)


def holds(text: str, value: object) -> bool:
    """Whether a number or a term stands in a text by itself and not as a part of a longer number."""
    return re.search(rf"(?<![\d.,/]){re.escape(str(value))}(?![\d/]|[.,]\d)", text) is not None
