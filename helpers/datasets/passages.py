"""Questions on passages, with four options each: QuALITY as published, our own articles, published answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from helpers.datasets.html import stripped
from helpers.datasets.options import LETTERS, letter, options_of, parted
from helpers.datasets.reading import Records, one_file, read_rows, show, text_field
from helpers.types import Question

#: The files that a folder is searched for; exactly one may be there.
PASSAGE_FILES = (
    "passages.jsonl",
    *(f"QuALITY.v1.0.1.{kind}{split}" for kind in ("htmlstripped.", "") for split in ("dev", "train", "test")),
    "quality_responses.json",
    "quality_responses.csv",
)
FORMATS = (
    "QuALITY (article_id, set_unique_id, article, questions), own articles (id, category, passage, questions) or flat "
    "records (pid, text, questions, output_label)"
)
UNKNOWN = "unknown"


def load_passages(source: str | Path, hub: Mapping[str, Any] | None = None, hard: bool = False) -> tuple[Question, ...]:
    """The questions on passages in a file, in a folder with exactly one of PASSAGE_FILES, or behind the hub entry.

    QuALITY (a line for each article and writer; tags of its HTML variant are stripped, paragraphs kept), our own
    articles, whose `reasons` become points, or the flat records of published answers. `category` is the source of the
    article ("unknown" where none is given), `gold` a letter; `hard` keeps what the data set marks as difficult. File
    order is kept. Flat records without gold are left out with a warning; a ValueError with file, line and id: no gold
    anywhere else (the test split), a gold that is none of the options, not exactly four different options, an empty
    text, a lone surrogate, an id twice, an article with two texts; `hard` where nothing is marked.
    """
    what = "questions" if hub and hub.get("questions") else "answers"
    records = read_rows(one_file(source, hub, what, PASSAGE_FILES))
    if {"article_id", "article", "questions"} <= records.fields:
        questions = _each(records, _set, "set_unique_id", _quality)
    elif {"passage", "questions"} <= records.fields:
        questions = _each(records, _article, "id", _own)
        records.refuse_duplicates([row["id"] for row in records.rows], "article ids")
    elif {"pid", "text", "questions"} <= records.fields:
        kept, left_out = with_gold(records)
        questions = flat_questions(kept)
        _warn_of(left_out, records)
    else:
        raise records.unknown(FORMATS)
    if not hard:
        return questions
    if all(question.hard is None for question in questions):
        raise ValueError(f"{records.path}: no question has the field 'difficult', so hard=True could keep none")
    kept = tuple(question for question in questions if question.hard)
    if not kept:
        raise ValueError(
            f"{records.path}: hard=True keeps none of {len(questions)} questions: none is marked 'difficult'"
        )
    return kept


def flat_questions(records: Records) -> tuple[Question, ...]:
    """The questions of flat records: pid, text (the passage), questions (with options A to D), output_label (gold)."""
    questions = records.map(_flat, "pid")
    return _checked(records, questions)


def with_gold(records: Records, name: str = "output_label") -> tuple[Records, list[int]]:
    """The records that have a gold label, and the places of those left out, whose field is null or empty.

    A label that is neither null nor one of the options is an error later on; so is a file without any label here.
    """
    without = [i for i, row in enumerate(records.rows) if isinstance(row, dict) and row.get(name) in (None, "")]
    if not without:
        return records, []
    if len(without) == len(records.rows):
        raise ValueError(f"{records.path}: none of {len(without)} records has a gold label (field {name!r})")
    kept = sorted({*range(len(records.rows))} - {*without})
    rows, offsets = (tuple(each[i] for i in kept) for each in (records.rows, records.offsets))
    return replace(records, rows=rows, offsets=offsets), without


def _warn_of(left_out: list[int], records: Records) -> None:
    # Of the file's name alone: the folders are those of one machine, and notebooks keep what is warned of.
    if left_out:
        example = f"record {left_out[0] + 1}, line {records.line(left_out[0])}"
        warnings.warn(
            f"{records.path.name}: {len(left_out)} of {len(records.rows)} records have no gold label (field "
            f"'output_label') and are left out, for instance {example}",
            stacklevel=3,
        )


def article_of(question_id: str) -> str:
    """The article of a question: what stands before the first underscore of its id.

    >>> article_of("52845_YLZPNNYD_1"), article_of("7")
    ('52845', '7')
    """
    return question_id.partition("_")[0]


def _each(
    records: Records, open_: Callable[[dict], list[dict]], name: str, read: Callable[[dict], Question]
) -> tuple[Question, ...]:
    """The questions of records that hold several; each is told by its own id and the line of its record."""
    rows, offsets = [], []
    for at, inner in zip(records.offsets, records.map(open_, name), strict=True):
        rows += inner
        offsets += [at] * len(inner)
    each = Records(records.path, tuple(rows), tuple(offsets), records.text)
    return _checked(each, each.map(read, "id"))


def _checked(records: Records, questions: list[Question]) -> tuple[Question, ...]:
    records.refuse_duplicates([question.id for question in questions], "question ids")
    first: dict[str, int] = {}
    for index, question in enumerate(questions):
        known = first.setdefault(question.article, index)
        one, other = questions[known].passage, question.passage
        if one != other:
            # A mark at the first difference: two long texts are not compared by eye.
            same = next(
                (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
            )
            raise ValueError(
                f"{records.path}, lines {records.line(known)} and {records.line(index)}: article {question.article} "
                f"has two different texts (from character {same + 1} on; question {question.id})"
            )
    return tuple(questions)


def _set(record: dict[str, Any]) -> list[dict[str, Any]]:
    about = {
        "article": text_field(record, "article_id"),
        "passage": stripped(text_field(record, "article")),
        "category": UNKNOWN if record.get("source") is None else text_field(record, "source"),
    }
    rows = []
    for number, question in enumerate(_questions(record), 1):
        if question.get("question_unique_id") is None:
            id = f"{text_field(record, 'set_unique_id')}_{number}"
        else:
            id = text_field(question, "question_unique_id")
        rows.append({"id": id, "question": question, **about})
    return rows


def _article(record: dict[str, Any]) -> list[dict[str, Any]]:
    about = {
        "article": text_field(record, "id"),
        "passage": text_field(record, "passage"),
        "category": text_field(record, "category"),
    }
    return [{"id": text_field(question, "id"), "question": question, **about} for question in _questions(record)]


def _questions(record: dict[str, Any]) -> list[dict[str, Any]]:
    questions = record.get("questions")
    if not isinstance(questions, list) or not questions or not all(isinstance(one, dict) for one in questions):
        raise ValueError(f"field 'questions' holds {show(questions)}, expected a list of objects")
    return questions


def _quality(row: dict[str, Any]) -> Question:
    question = row["question"]
    if question.get("gold_label") is None:
        raise ValueError("no 'gold_label': the test split is published without it; take dev or train")
    gold, difficult = question["gold_label"], question.get("difficult")
    if isinstance(gold, str):
        raise ValueError(f"field 'gold_label' holds {show(gold)}, expected a whole number from 1 to 4")
    if isinstance(difficult, bool) or difficult not in (None, 0, 1):
        raise ValueError(f"field 'difficult' holds {show(difficult)}, expected 0 or 1")
    return Question(
        id=row["id"],
        category=row["category"],
        text=text_field(question, "question"),
        article=row["article"],
        passage=row["passage"],
        options=options_of(question.get("options")),
        gold=letter(gold, "gold_label"),
        hard=None if difficult is None else bool(difficult),
    )


def _own(row: dict[str, Any]) -> Question:
    question = row["question"]
    options, gold, reasons = options_of(question.get("options")), question.get("gold"), question.get("reasons")
    if gold not in tuple(LETTERS):
        raise ValueError(f"field 'gold' holds {show(gold)}, expected one of A, B, C, D")
    if reasons is not None and (not isinstance(reasons, list) or len(reasons) != len(options)):
        raise ValueError(f"field 'reasons' holds {show(reasons)}, expected a reason for each of {len(options)} options")
    return Question(
        id=row["id"],
        category=row["category"],
        text=text_field(question, "text"),
        points=tuple(text_field({"reasons": reason}, "reasons") for reason in reasons or ()),
        article=row["article"],
        passage=row["passage"],
        options=options,
        gold=gold,
    )


def _flat(record: dict[str, Any]) -> Question:
    id, asked = text_field(record, "pid"), text_field(record, "questions")
    text, options = parted(asked)
    if record.get("output_label") is None:
        raise ValueError("no 'output_label': without the right answer nothing can be judged")
    gold = letter(record["output_label"], "output_label")
    told = " ".join((record["output"] if isinstance(record.get("output"), str) else "").split())
    same = [option for option in options if " ".join(option.split()) == told]
    if same and same[0] != options[LETTERS.index(gold)]:
        raise ValueError(f"field 'output_label' says {gold}, field 'output' is the text of another option")
    return Question(
        id=id,
        category=UNKNOWN if record.get("source") is None else text_field(record, "source"),
        text=text,
        article=article_of(id),
        passage=stripped(text_field(record, "text")),
        options=options,
        gold=gold,
    )
