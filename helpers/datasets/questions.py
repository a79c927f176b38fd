"""Questions of a benchmark from any of the formats that people have them in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from helpers.datasets.files import QUESTION_FILES
from helpers.datasets.hub import from_hub
from helpers.datasets.reading import Records, find_file, read_records, show, text_field
from helpers.types import Question

#: What the records of each known format hold; told where a file is in none of them.
FORMATS = {
    "own questions, one object a line": "id, category, text (and points, reference)",
    "MT-Bench question.jsonl": "question_id (a whole number), category, turns (and reference)",
    "LLM-Eval prompts.json, a list named prompts": "id, category, text",
    "published answers, a list": "prompt_id, category, prompt_text",
    "EvalBiasBench biasbench.json, pairs of which one text is known to be better": (
        "bias, instruction, response1, response2, label (1 or 2: the better response), and optionally id"
    ),
}


def load_questions(source: str | Path, hub: Mapping[str, Any] | None = None) -> tuple[Question, ...]:
    """The questions in a file, in a folder with exactly one of QUESTION_FILES, or behind the hub entry ("hub").

    The format is recognised by what the records hold; the published answers stand for the questions that they
    answer. File order is kept. Every defect is a ValueError with file, line and id before anything is asked: an unknown
    format, a missing category, an empty text, a lone surrogate, an id twice, one id with two texts.
    """
    if source == "hub":
        source = from_hub(hub, "questions" if hub and hub.get("questions") else "answers")
    records = read_records(find_file(source, QUESTION_FILES))
    if {"id", "text"} <= records.fields:
        questions = records.map(_plain, "id")
    elif {"question_id", "turns"} <= records.fields:
        questions = records.map(_mt_bench, "question_id")
    elif {"prompt_id", "prompt_text"} <= records.fields:
        return _distinct(records, records.map(_answered, "prompt_id"))
    elif {"instruction", "response1", "response2"} <= records.fields:
        questions = records.map(_known_pair, "id")
        questions = [replace(each, id=each.id or f"pair_{number:03d}") for number, each in enumerate(questions)]
    else:
        raise records.unknown("one of " + "; ".join(f"{name}: {fields}" for name, fields in FORMATS.items()))
    records.refuse_duplicates([question.id for question in questions], "question ids")
    return tuple(questions)


def ranked(questions: Iterable[Question], seed: int) -> tuple[Question, ...]:
    """The questions in an order of which any first n places are spread over the categories in proportion.

    Within each category questions are sorted by sha256 of "seed:id" (places j = 0, 1, ... of n), then all of them by
    (j + 1/2) / n and that hash: the first 5 of 80 are among the first 20, whatever the file's order.
    Each question carries its `place`, from which the orders of answers are made.
    """

    def drawn(question: Question) -> str:
        return hashlib.sha256(f"{seed}:{question.id}".encode()).hexdigest()

    categories: dict[str, list[Question]] = {}
    for question in sorted(questions, key=drawn):
        categories.setdefault(question.category, []).append(question)
    places = [((j + 0.5) / len(one), drawn(q), q) for one in categories.values() for j, q in enumerate(one)]
    order = sorted(places, key=lambda place: place[:2])
    return tuple(replace(question, place=place) for place, (_, _, question) in enumerate(order))


def _plain(record: dict[str, Any]) -> Question:
    points = record.get("points") or []
    if not isinstance(points, list):
        raise ValueError(f"field 'points' holds {show(points)}, expected a list of texts")
    return Question(
        id=text_field(record, "id"),
        category=text_field(record, "category"),
        text=text_field(record, "text"),
        points=tuple(text_field({"points": point}, "points") for point in points),
        reference=None if record.get("reference") is None else text_field(record, "reference"),
    )


def _mt_bench(record: dict[str, Any]) -> Question:
    number, turns, reference = record.get("question_id"), record.get("turns"), record.get("reference")
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"field 'question_id' holds {show(number)}, expected a whole number")
    if not isinstance(turns, list) or not turns:
        raise ValueError(f"field 'turns' holds {show(turns)}, expected a list that begins with the question's text")
    if reference is not None and not isinstance(reference, list):
        raise ValueError(f"field 'reference' holds {show(reference)}, expected a list with a text for each turn")
    category = text_field(record, "category")
    return Question(
        id=f"{category}_{number:03d}",
        category=category,
        text=text_field({"turns": turns[0]}, "turns"),
        reference=text_field({"reference": reference[0]}, "reference", blank=True) if reference else None,
    )


def _answered(record: dict[str, Any]) -> Question:
    return Question(
        id=text_field(record, "prompt_id"),
        category=text_field(record, "category"),
        text=text_field(record, "prompt_text"),
    )


def _known_pair(record: dict[str, Any]) -> Question:
    """An instruction with two responses, one of them known to be better; its category is the bias it is made for."""
    label = record.get("label")
    if type(label) is not int or label not in (1, 2):
        raise ValueError(f"field 'label' holds {show(label)}, expected 1 or 2: the better response")
    return Question(
        id=text_field(record, "id") if "id" in record else "",
        category=text_field({"category": record.get("bias")}, "category"),
        text=text_field(record, "instruction"),
        options=(text_field(record, "response1"), text_field(record, "response2")),
        gold="AB"[label - 1],
    )


def _distinct(records: Records, questions: list[Question]) -> tuple[Question, ...]:
    first: dict[str, int] = {}
    for index, question in enumerate(questions):
        known = first.setdefault(question.id, index)
        if questions[known] != question:
            lines = f"lines {records.line(known)} and {records.line(index)}"
            raise ValueError(f"{records.path}, {lines}: question {question.id} with two different texts or categories")
    return tuple(questions[index] for index in first.values())
