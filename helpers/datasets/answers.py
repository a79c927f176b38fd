"""Published answers, read and written: texts, or letters and reasons, and why there is nothing to judge."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from ..frames import BOLD
from ..paths import load_table
from ..types import Answer, Question
from .hub import ANSWER_FILES, NAMES, Entry, Source, find_files
from .questions import LETTERS, UNKNOWN, letter, placed_questions, read_flat, read_sets
from .reading import Loaded, Record, Records, checked_text, read_records, show

#: A model, and the fields that hold its letter, its reason, its error and its edited reason.
Columns = tuple[str, str, str, str, str]
#: What files of one model's are called, as errors say it.
EACH = "<model>.jsonl"
RESPONSE_FILES = tuple(NAMES["files"]["responses"])
#: How older files marked a failed call: as if it were an answer.
LEGACY_ERROR = "[ERROR: Failed to generate answer"
STYLE, _FINISHES = tuple(NAMES["fields"]["style"]), NAMES["values"]["finishes"]
_FENCED = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_MARKS = {
    "header_count": re.compile(r"^#{1,6}[ \t]", re.MULTILINE),
    "list_count": re.compile(r"^[ \t]*(?:\d+\.|[-*+])[ \t]", re.MULTILINE),
    "bold_count": BOLD,
}
_TOKENS = re.compile(r"\w+|[^\w\s]")
#: In the name of a letter's field, and in that of a reason for a letter that a model was told to defend.
_LABEL, _FORCED = "_output_label", "_Dupe_reason_output_label_"
MAKERS: dict[str, dict[str, str]] = load_table("datasets/makers.toml")


def vendor_of(model: str) -> str:
    """Who made the model of this name, as far as its name tells; else the name's first word."""
    name = model.lower()
    found = [(name.find(word), vendor) for word, vendor in MAKERS["words"].items() if word in name]
    first = next(iter(re.findall("[a-z0-9]+", name)), name)
    # "ds" is how the replication's files abbreviate DeepSeek.
    return min(found, default=(0, "deepseek" if first == "ds" else first))[1]


@lru_cache(maxsize=4096)
def maker(model: str) -> str:
    """Who made a model, by its name; families that are named without their vendor are known."""
    name = model.lower().rsplit("/")[-1]
    return next((vendor for start, vendor in MAKERS["beginnings"].items() if re.match(start, name)), vendor_of(model))


def vendor_tier(name: str) -> tuple[str, str]:
    """Vendor and tier in the name of a model."""
    vendor, _, tier = name.partition(":")[0].partition("_")
    return vendor, tier


def load_answers(source: Source, hub: Entry = None, questions: Iterable[Question] = ()) -> list[Answer]:
    """The answers in a published file, in a folder with exactly one of ANSWER_FILES, or behind the hub entry ("hub").

    `candidate` is vendor_tier, in the probe file label:mode. `outcome` is "ok", "error", "empty" or, of a probe, how it
    finished ("truncated", "filtered", the text kept); the text of the others is "". FastChat's model_answer files -
    one, or a folder of them - answer the one of `questions` whose id ends with their number. An answer id, or a
    candidate's answer to one question, that occurs twice is a ValueError.
    """
    folder = Path(source).expanduser()
    there = sorted(path for path in folder.iterdir() if path.is_file()) if source != "hub" and folder.is_dir() else []
    named = {path.name for path in there} & {*ANSWER_FILES}
    read = [] if named else [read_records(path) for path in there if path.suffix == ".jsonl"]
    files: list[Any] = [(records, _choices) for records in read if "choices" in records.fields]
    if unread := [path.name for path in there if files and path not in [records.path for records, _ in files]]:
        warnings.warn(f"{folder.name}: {', '.join(unread)} hold no answers and are not read", stacklevel=2)
    if not files:
        mappers = {"choices": _choices, "published": _published, "probe": _probe}
        records, mapper = next(read_sets(source, hub, (*ANSWER_FILES, EACH), mappers, "answers"))
        files = [(records, mapper)]
        if mapper is _published:
            records.refuse_duplicates(records.map(lambda record: record.text("answer_id"), "answer_id"), "answer ids")
    numbered = [(number[1], each.id) for each in questions if (number := re.search(r"_0*(\d+)$", each.id))]
    often = Counter(number for number, _ in numbered)
    return _answers_in(files, {number: id for number, id in numbered if often[number] == 1})


def _answers_in(files: Iterable[tuple[Records, Callable[..., Answer]]], ids: Mapping[str, str]) -> list[Answer]:
    """The answers of these files, each read by its function; `ids` are those of numbers."""
    answers: list[Answer] = []
    first: dict[tuple[str, str], Path] = {}
    for records, read in files:
        found = records.map(partial(read, stem=records.path.stem))
        found = [replace(each, question_id=ids.get(each.question_id, each.question_id)) for each in found]
        keys = [(answer.question_id, answer.candidate) for answer in found]
        records.refuse_duplicates(keys, "answers to a question")
        for key in keys:
            if first.setdefault(key, records.path) != records.path:
                raise ValueError(f"{records.path}: the answer to {' by '.join(key)} is in {first[key].name} too")
        answers += found
    return answers


def _published(record: Record, stem: str) -> Answer:
    question, vendor, tier = record.texts("prompt_id", "model_vendor", "model_tier")
    failed = record.text_or_none("error", blank=True) is not None
    record.need(*([] if failed else ["answer_text"]), words="neither 'answer_text' nor 'error'")
    text = "" if failed else record.text_or_none("answer_text", blank=True) or ""
    outcome = "error" if failed or LEGACY_ERROR in text else "ok" if text.strip() else "empty"
    text, model = text if outcome == "ok" else "", record.text_or_none("model_name")
    return Answer(question, f"{vendor}_{tier}", vendor, tier, text, model, outcome)


def _probe(record: Record, stem: str) -> Answer:
    question, label, mode = record.texts("prompt_id", "model_label", "mode")
    text, model = record.text_or_none("text", blank=True) or "", record.text_or_none("model_name")
    ok = record.typed("ok", bool, "true or false")
    finish = (record.typed("debug", dict, "an object with a finish_reason") or {}).get("finish_reason")
    if finish is not None and not (isinstance(finish, str) and finish in _FINISHES):
        raise ValueError(f"field 'debug': finish_reason holds {show(finish)}, expected one of {', '.join(_FINISHES)}")
    outcome = "error" if ok is not True else "empty" if not text.strip() else _FINISHES.get(finish, "ok")
    return Answer(question, f"{label}:{mode}", *vendor_tier(label), text, model, outcome)


def _choices(record: Record, stem: str) -> Answer:
    """An answer in FastChat's or Arena-Hard's layouts, of the model that the record, else the file's name, names."""
    model, text = record.name("model", record.name("model_id", stem)), _text_of(record)
    return Answer(record.id(), model, maker(model), "", text, model, "ok" if text.strip() else "empty")


def _text_of(record: Record) -> str:
    """The text of an answer, wherever its layout keeps it; null is an empty one."""
    try:
        if "messages" in record:
            text = record["messages"][-1]["content"]
        elif "choices" in record:
            text = record["choices"][0]["turns"][0]
            text = text["content"] if isinstance(text, dict) and "content" in text else text
        else:
            record.need("messages", words="neither 'messages' nor 'choices'")
        text = text["answer"] if isinstance(text, dict) else text
    except (LookupError, TypeError):
        raise ValueError("no text where an answer stands: messages[-1].content or choices[0].turns[0]") from None
    return "" if text is None else checked_text(text, "answer", blank=True)


def load_arena_answers(source: Source, hub: Entry = None) -> Loaded:
    """What the models answered, and in which style, in a model_answer file, in a folder of them, or behind "hub".

    Both layouts: v2.0 (uid, model, messages, metadata) and v0.1 (question_id, model_id, choices[0].turns[0]). The frame
    (question_id, candidate, STYLE) has one row an answer in the same order: tokens, headers, list items and bold
    passages; what the file does not hold is counted in the text (see style_of).
    """
    files = [read_records(path) for path in find_files(source, hub, "answers", (EACH,), "*.jsonl")]
    answers = _answers_in(((records, _choices) for records in files), {})
    styles = [style for records in files for style in records.map(_style)]
    rows = [(each.question_id, each.candidate, *style) for each, style in zip(answers, styles, strict=True)]
    frame = pd.DataFrame(rows, columns=["question_id", "candidate", *STYLE])
    return Loaded(frame.astype(dict.fromkeys(STYLE, int)), answers=tuple(answers))


def style_of(text: str) -> dict[str, int]:
    """How a text is written: STYLE counted in it, tokens as words and signs, as no model's tokenizer is at hand.

    >>> style_of("# Title\\n\\n- one **bold** word\\n2. two\\n```\\n# code\\n```")
    {'token_len': 21, 'header_count': 1, 'list_count': 2, 'bold_count': 1}
    """
    plain = _FENCED.sub("", text)
    return {"token_len": len(_TOKENS.findall(text))} | {name: len(mark.findall(plain)) for name, mark in _MARKS.items()}


def _style(record: Record) -> list[int]:
    """The style of an answer as the file holds it, else as it is counted in the text."""
    held = record.get("metadata") or record.get("conv_metadata")
    style = Record(metadata=held).typed("metadata", dict, f"an object with {', '.join(STYLE)}")
    if not style or set(STYLE) - set(style):
        return [*style_of(_text_of(record)).values()]
    # A count, or the counts of its kinds (h1 to h6, say).
    parts = {name: [*style[name].values()] if isinstance(style[name], dict) else [style[name]] for name in STYLE}
    for name, counts in parts.items():
        if any(type(count) is not int or not 0 <= count < 2**53 for count in counts):
            raise ValueError(f"field 'metadata': {name} holds {show(style[name])}, expected whole numbers from 0 up")
    return [*map(sum, parts.values())]


def load_responses(source: Source, hub: Entry = None) -> Loaded:
    """The published answers in a file, in a folder or behind the hub entry ("hub").

    A folder holds one of RESPONSE_FILES, or .jsonl files of one model each (its name is the candidate's) or of pairs.
    An answer's `text` is its reason, `edited` that reason with words replaced, where it differs; `outcome` is "ok", or
    why it enters no pair: "no_label", "bad_label" (not one of A to D), "no_reason", "error". The questions of models'
    and pairs' files have an id, an article and a gold letter alone. An id twice in a file, and one question or answer
    that differs between files, are ValueErrors.
    """
    merged: dict[Any, Question | Answer] = {}
    without: set[str] = set()
    mappers = {"flat": read_flat, "labels": plain_question}
    for records, mapper in read_sets(source, hub, RESPONSE_FILES, mappers, "answers", "*.jsonl"):
        models, placed = columns(records), placed_questions(records, mapper)
        kept = {at: question for at, question in placed if question.gold}
        without |= {each.id for _, each in placed} | {str(row.get("pid")) for row in records.rows if "pid" in row}
        if not kept:
            continue
        rows, lines = (tuple(each[at] for at in kept) for each in (records.rows, records.lines))
        id = "pid" if mapper is read_flat else "question_unique_id"
        found = replace(records, rows=rows, lines=lines).map(partial(answers_in, models=models, id=id), id)
        read = {(one.question_id, one.candidate): one for each in found for one in each}
        for key, one in [*((question.id, question) for question in kept.values()), *read.items()]:
            if merged.setdefault(key, one) != one:
                what = f"question, {key}" if isinstance(one, Question) else f"answer to a question, {' by '.join(key)}"
                raise ValueError(f"{records.path}: the {what}, differs from an earlier file")
    questions = tuple(each for each in merged.values() if isinstance(each, Question))
    answers = tuple(each for each in merged.values() if isinstance(each, Answer))
    return Loaded(questions=questions, answers=answers, without_gold=frozenset(without - merged.keys()))


def columns(records: Records) -> list[Columns]:
    """The fields that hold each model's answer, in the order in which the records name the models."""
    names = records.fields
    if "output_label" in names and "pid" not in names:
        return [(records.path.stem, "output_label", "reason", "error", "")]
    found = [name.removesuffix(_LABEL) for name in names if name[1:].endswith(_LABEL) and _FORCED not in name]
    if not found:
        raise records.unknown("<model>_output_label and <model>_reason of each model (or output_label and reason)")
    ends = ("output_label", "reason" if "pid" in names else "output_reason", "error", "reason_perturb_llm_auto")
    return [(name, *(f"{name}_{end}" for end in ends)) for name in found]  # type: ignore[misc]


def plain_question(record: Record) -> list[Question]:
    """The one question of a record without a passage; `gold` is None where it has no gold label."""
    id, gold = record.text("question_unique_id"), record.get("gold_label")
    gold = None if gold is None else letter(gold, "gold_label")
    return [Question(id=id, category=UNKNOWN, text="", article=id.partition("_")[0], gold=gold)]


def answers_in(record: Record, models: Iterable[Columns], id: str = "question_unique_id") -> list[Answer]:
    """The answers in one record to the question whose id is in field `id`, in the order of the models."""
    answers = []
    for model, label, reason, error, edit in models:
        text, mark = record.text_or_none(reason, blank=True) or "", record.get(label)
        mark = mark.strip() if isinstance(mark, str) else mark
        if record.get(error) is not None or LEGACY_ERROR in text:
            text, mark, outcome = "", None, "error"
        elif mark not in tuple(LETTERS):
            mark, outcome = None, "no_label" if mark in (None, "") else "bad_label"
        else:
            outcome = "ok" if text.strip() else "no_reason"
        edited = record.text_or_none(edit, blank=True) or ""
        edited = edited if outcome == "ok" and edited.strip() not in ("", text.strip()) else None
        answers.append(Answer(record[id], model, vendor_of(model), "", text, model, outcome, 0, mark, edited))
    return answers


def published_names(models: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """The names <vendor>_<tier> of models (name, vendor, tier), by name; a model named as its vendor keeps that name.

    A model without a tier, or one of several with the same vendor and tier, has its name in place of the tier.

    >>> published_names([("sim", "gpt", "fast"), ("m1", "meta", ""), ("gpt_a", "gpt", "mini"), ("b", "gpt", "mini")])
    {'sim': 'gpt_fast', 'm1': 'meta_m1', 'gpt_a': 'gpt_a', 'b': 'gpt_b'}
    """
    models = list(dict.fromkeys(models))
    tiers = Counter((vendor, tier) for _, vendor, tier in models)
    short = {name: tier if tier and tiers[vendor, tier] == 1 else name.removeprefix(f"{vendor}_")
             for name, vendor, tier in models}  # fmt: skip
    return {name: name if name == vendor else f"{vendor}_{short[name]}" for name, vendor, _ in models}


def published_answers(answers: Iterable[Answer], questions: Iterable[Question]) -> list[dict[str, Any]]:
    """A record for each answer, in their order; one that cannot be judged has an `error` with its outcome.

    `questions` give the prompts and categories, so that the file can stand for them, too.
    """
    answers, asked = list(answers), {question.id: question for question in questions}
    names = published_names((each.candidate, each.vendor, each.tier) for each in answers)
    records = []
    for each in answers:
        name, question = names[each.candidate], asked.get(each.question_id)
        vendor, _, tier = name.partition("_")
        record = {"answer_id": f"ans_{each.question_id}_{name}", "prompt_id": each.question_id}
        record |= {"category": question.category, "prompt_text": question.text} if question else {}
        record |= {"model_vendor": vendor, "model_tier": tier, "model_name": each.model}
        read = {"ok": {"answer_text": each.text}, "empty": {"answer_text": ""}}
        records.append(record | read.get(each.outcome, {"error": each.outcome}))
    return records
