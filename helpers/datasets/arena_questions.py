"""Arena-Hard's questions and models' answers to them, both layouts, and how the answers are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.arena import EACH
from helpers.datasets.games import maker
from helpers.datasets.reading import (
    Records,
    all_files,
    id_of,
    name_in,
    one_file,
    read_records,
    show,
    text_field,
)
from helpers.types import Answer, Question

if TYPE_CHECKING:
    import pandas

#: The file that a folder of the benchmark is searched for.
ARENA_QUESTION_FILES = ("question.jsonl",)
#: What is counted of how an answer is written: tokens, and marks of Markdown outside fenced code.
STYLE = ("token_len", "header_count", "list_count", "bold_count")
_FENCED = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_MARKS = {
    "header_count": re.compile(r"^#{1,6}[ \t]", re.MULTILINE),
    "list_count": re.compile(r"^[ \t]*(?:\d+\.|[-*+])[ \t]", re.MULTILINE),
    "bold_count": re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__"),
}
_TOKENS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class ArenaAnswers:
    """Answers, and a table of how each is written: question_id, candidate, the columns STYLE, and `counted`."""

    answers: tuple[Answer, ...]
    style: pandas.DataFrame


def load_arena_questions(source: str | Path, hub: Mapping[str, Any] | None = None) -> tuple[Question, ...]:
    """Which questions does this Arena-Hard question.jsonl hold: a file, the folder that it lies in, or "hub"?

    v2.0 and the v0.1 of today (uid, category, prompt) and the older v0.1 (question_id, category, turns[].content, of
    which the first is the question). `subcategory` is the record's, in v0.1 its cluster, "" where it has neither. File
    order is kept; a defect - no category, an empty text, an id twice - is a ValueError with file, line and id.
    """
    records = read_records(one_file(source, hub, "questions", ARENA_QUESTION_FILES))
    if "prompt" not in records.fields and "turns" not in records.fields:
        raise records.unknown("Arena-Hard questions: uid, category, prompt, or question_id, category, turns")
    questions = records.map(_question, _id_field(records))
    records.refuse_duplicates([question.id for question in questions], "question ids")
    return tuple(questions)


def load_arena_answers(source: str | Path, hub: Mapping[str, Any] | None = None) -> ArenaAnswers:
    """What did the models answer, and in which style, in a model_answer file, in a folder of them, or behind "hub"?

    Both layouts: v2.0 (uid, model, messages, metadata) and v0.1 (question_id, model_id, choices[0].turns[0]). The
    candidate is the record's model, else the file's name; an empty answer has the outcome "empty". `style` has one row
    an answer in the same order: token_len in tokens, counts of headers, list items and bold passages, of all their
    kinds together. What the file does not hold is counted in the text (`counted` = "text", see style_of). An answer
    twice, and every other defect, is a ValueError with file, line and id.
    """
    import pandas

    answers: list[Answer] = []
    rows: list[tuple[Any, ...]] = []
    known: dict[tuple[str, str], Path] = {}
    for path in all_files(source, hub, "answers", (EACH,)):
        records = read_records(path)
        found = records.map(lambda record, stem=path.stem: _answer(record, stem), _id_field(records))
        keys = [(answer.question_id, answer.candidate) for answer, _, _ in found]
        records.refuse_duplicates(keys, "answers to a question")
        for key in keys:
            if key in known:
                raise ValueError(f"{path}: the answer to {key[0]} by {key[1]} is in {known[key].name} too")
            known[key] = path
        answers += [answer for answer, _, _ in found]
        rows += [
            (answer.question_id, answer.candidate, *(style[name] for name in STYLE), counted)
            for answer, style, counted in found
        ]
    table = pandas.DataFrame(rows, columns=["question_id", "candidate", *STYLE, "counted"])
    return ArenaAnswers(tuple(answers), table.astype(dict.fromkeys(STYLE, int)))


def style_of(text: str) -> dict[str, int]:
    """How a text is written: STYLE counted in it, tokens as words and signs, as no model's tokenizer is at hand.

    >>> style_of("# Title\\n\\n- one **bold** word\\n2. two\\n```\\n# code\\n```")
    {'token_len': 21, 'header_count': 1, 'list_count': 2, 'bold_count': 1}
    """
    plain = _FENCED.sub("", text)
    return {"token_len": len(_TOKENS.findall(text))} | {
        name: sum(1 for _ in mark.finditer(plain)) for name, mark in _MARKS.items()
    }


def _id_field(records: Records) -> str:
    return "uid" if "uid" in records.fields else "question_id"


def _question(record: dict[str, Any]) -> Question:
    text, turns = record.get("prompt"), record.get("turns")
    if text is None and isinstance(turns, list) and turns:
        text = turns[0].get("content") if isinstance(turns[0], dict) else turns[0]
    return Question(
        id=id_of(record),
        category=text_field(record, "category"),
        text=text_field({"prompt": text}, "prompt"),
        subcategory=name_in(record, "subcategory", name_in(record, "cluster", "")),
    )


def _answer(record: dict[str, Any], stem: str) -> tuple[Answer, dict[str, int], str]:
    """One answer, its style, and where that was counted."""
    model = name_in(record, "model", name_in(record, "model_id", stem))
    text = text_field({"answer": _said(record)}, "answer", blank=True)
    outcome = "ok" if text.strip() else "empty"
    answer = Answer(id_of(record), model, maker(model), "", text, model, outcome)
    told = record.get("metadata") or record.get("conv_metadata")
    if told is None:
        return answer, style_of(text), "text"
    if not isinstance(told, dict):
        raise ValueError(f"field 'metadata' holds {show(told)}, expected an object with {', '.join(STYLE)}")
    if set(STYLE) - set(told):
        return answer, style_of(text), "text"
    return answer, {name: _total(told[name], name) for name in STYLE}, "file"


def _said(record: Mapping[str, Any]) -> Any:
    """The text of an answer, wherever its layout keeps it; null is an empty one."""
    try:
        if "messages" in record:
            said = record["messages"][-1]["content"]
        elif "choices" in record:
            said = record["choices"][0]["turns"][0]
            said = said["content"] if isinstance(said, dict) and "content" in said else said
        else:
            raise ValueError(f"neither 'messages' nor 'choices'; found {', '.join(record) or 'no field'}")
        said = said["answer"] if isinstance(said, dict) else said
    except (LookupError, TypeError):
        raise ValueError("no text where an answer stands: messages[-1].content or choices[0].turns[0]") from None
    return "" if said is None else said


def _total(count: Any, name: str) -> int:
    """A count, or the sum of the counts of its kinds (h1 to h6, say)."""
    parts = list(count.values()) if isinstance(count, dict) else [count]
    if any(isinstance(part, bool) or not isinstance(part, int) or part < 0 for part in parts):
        raise ValueError(f"field 'metadata': {name} holds {show(count)}, expected whole numbers from 0 up")
    return sum(parts)
