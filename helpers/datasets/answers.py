"""Published answers of candidates, with the reason where there is nothing to judge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helpers.datasets.files import ANSWER_FILES
from helpers.datasets.hub import from_hub
from helpers.datasets.reading import find_file, read_records, show, text_field
from helpers.types import Answer

#: How older files marked a failed call: as if it were an answer.
LEGACY_ERROR = "[ERROR: Failed to generate answer"

_FINISHES = {
    "STOP": "ok",
    "MAX_TOKENS": "truncated",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
}


def load_answers(source: str | Path, hub: Mapping[str, Any] | None = None) -> list[Answer]:
    """The answers in a published file, in a folder with exactly one of ANSWER_FILES, or behind the hub entry ("hub").

    `candidate` is vendor_tier. `outcome` is "ok", "error" (an `error` field, or its text as older files hold it) or
    "empty"; the text is then "", never None, which would mean that the answer is still to be written. In the probe file
    (one record per question, model and mode) the candidate is label:mode, null is "empty" and a text cut by the token
    limit is "truncated" and kept. An answer id, or a candidate's answer to one question, that occurs twice is an error
    listing the ids.
    """
    if source == "hub":
        source = from_hub(hub, "answers")
    records = read_records(find_file(source, ANSWER_FILES))
    if "answer_id" in records.fields:
        ids = records.map(lambda record: text_field(record, "answer_id"), "answer_id")
        records.refuse_duplicates(ids, "answer ids")
        answers = records.map(_published, "answer_id")
    elif "model_label" in records.fields:
        answers = records.map(_probe, "prompt_id")
    else:
        raise records.unknown(
            "published answers (answer_id, prompt_id, category, model_vendor, model_tier, model_name, prompt_text, "
            "answer_text or error) or probe results (prompt_id, model_label, model_name, mode, ok, text, debug)"
        )
    records.refuse_duplicates([(answer.question_id, answer.candidate) for answer in answers], "answers to a question")
    return answers


def vendor_tier(name: str) -> tuple[str, str]:
    """Vendor and tier in the name of a model.

    >>> vendor_tier("claude_fast"), vendor_tier("gemini_thinking:baseline"), vendor_tier("gpt")
    (('claude', 'fast'), ('gemini', 'thinking'), ('gpt', ''))
    """
    vendor, _, tier = name.partition(":")[0].partition("_")
    return vendor, tier


def candidate_of(answer_id: str, question_id: str) -> str:
    """The candidate that an answer id names: what is left after the question, whose id holds underscores itself.

    >>> candidate_of("ans_writing_081_gpt_thinking", "writing_081")
    'gpt_thinking'

    An id that belongs to another question or names no vendor and tier is a ValueError.
    """
    start = f"ans_{question_id}_"
    candidate = answer_id.removeprefix(start)
    if not answer_id.startswith(start) or not all(vendor_tier(candidate)):
        raise ValueError(f"answer id {answer_id!r} is not {start}<vendor>_<tier>")
    return candidate


def _published(record: dict[str, Any]) -> Answer:
    vendor, tier = text_field(record, "model_vendor"), text_field(record, "model_tier")
    if record.get("error") is not None:
        text, outcome = "", "error"
        text_field(record, "error", blank=True)
    elif "answer_text" not in record:
        raise ValueError(f"neither 'answer_text' nor 'error'; found {', '.join(record)}")
    else:
        text = "" if record["answer_text"] is None else text_field(record, "answer_text", blank=True)
        outcome = "error" if LEGACY_ERROR in text else "ok" if text.strip() else "empty"
    return Answer(
        question_id=text_field(record, "prompt_id"),
        candidate=f"{vendor}_{tier}",
        vendor=vendor,
        tier=tier,
        text=text if outcome == "ok" else "",
        model=None if record.get("model_name") is None else text_field(record, "model_name"),
        outcome=outcome,
    )


def _probe(record: dict[str, Any]) -> Answer:
    label, mode = text_field(record, "model_label"), text_field(record, "mode")
    vendor, tier = vendor_tier(label)
    text = "" if record.get("text") is None else text_field(record, "text", blank=True)
    debug, ok = record.get("debug"), record.get("ok")
    if debug is not None and not isinstance(debug, dict):
        raise ValueError(f"field 'debug' holds {show(debug)}, expected an object with a finish_reason")
    if ok is not None and not isinstance(ok, bool):
        raise ValueError(f"field 'ok' holds {show(ok)}, expected true or false")
    finish = (debug or {}).get("finish_reason")
    if finish is not None and not (isinstance(finish, str) and finish in _FINISHES):
        raise ValueError(f"field 'debug': finish_reason holds {show(finish)}, expected one of {', '.join(_FINISHES)}")
    outcome = "error" if ok is not True else "empty" if not text.strip() else _FINISHES.get(finish, "ok")
    return Answer(
        question_id=text_field(record, "prompt_id"),
        candidate=f"{label}:{mode}",
        vendor=vendor,
        tier=tier,
        text=text,
        model=None if record.get("model_name") is None else text_field(record, "model_name"),
        outcome=outcome,
    )
