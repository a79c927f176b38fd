"""Published answers to questions with options: each model's letter and reason, and reasons edited beforehand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from helpers.datasets.answers import LEGACY_ERROR
from helpers.datasets.options import LETTERS, letter
from helpers.datasets.passages import UNKNOWN, article_of, flat_questions, with_gold
from helpers.datasets.reading import Records, all_files, read_rows, text_field
from helpers.types import Answer, Question

#: The files that a folder is searched for; a folder without them is one of .jsonl files, one a model or pair.
RESPONSE_FILES = ("quality_responses.json", "quality_responses.csv")
FORMATS = (
    "flat records (pid, text, questions, output_label and, for each model, <model>_output_label and <model>_reason), "
    "one model's records (question_unique_id, gold_label, output_label, reason) or those of a pair "
    "(question_unique_id, gold_label and, twice, <model>_output_label and <model>_output_reason)"
)
#: How words in a model's name tell its vendor; the one that comes first in the name counts.
VENDOR_WORDS = {
    "llama": "llama",
    "qwen": "qwen",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "mixtral": "mistral",
    "gpt": "gpt",
    "gemini": "gemini",
    "claude": "claude",
}
_LABEL = re.compile(r"(.+)_output_label")
_SYNONYMS = re.compile(r"(.+)_reason_perturb_llm_auto")
_PARAPHRASE = re.compile(r"(.+)_reason_paraphrased_(.+)")
#: Reasons for a letter that a model was told to defend: no answers of its own.
_FORCED = re.compile(r"(.+)_Dupe_reason_output_label_(.+)")


class Columns(NamedTuple):
    """The fields that hold one model's answer."""

    model: str
    label: str
    reason: str
    error: str


@dataclass(frozen=True)
class Responses:
    """Questions, who answered them how, and edited reasons.

    `edits` maps (question id, candidate, kind) to a text, kind "synonyms" or "paraphrase:<who paraphrased>". `counts`
    says what became of answers (by outcome) and of edits: "edits" kept, "empty_edit" and "unchanged_edit" refused,
    "edit_without_answer"; "forced_reason" and "no_gold" count what was not read. `without_gold`: the ids of questions
    that were left out since no file tells their gold letter.
    """

    questions: tuple[Question, ...]
    answers: tuple[Answer, ...]
    edits: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    without_gold: frozenset[str] = frozenset()


def load_responses(source: str | Path, hub: Mapping[str, Any] | None = None) -> Responses:
    """The published answers in a file, in a folder or behind the hub entry ("hub").

    A folder holds one of RESPONSE_FILES, or .jsonl files of one model each (its name is the candidate's) or of pairs.
    An answer's `text` is its reason; `outcome` is "ok", or why it enters no pair: "no_label", "bad_label" (not one of
    A to D), "no_reason", "error". The records of models and pairs hold neither passage nor options: their questions
    have an id, an article and a gold letter alone. An id twice in a file, and one question or answer that two files
    tell differently, are ValueErrors.
    """
    paths = all_files(source, hub, "answers", RESPONSE_FILES)
    if len(paths) > 1 and paths[0].name in RESPONSE_FILES:
        raise ValueError(f"{paths[0].parent}: holds {' and '.join(path.name for path in paths)}; name the one meant")
    questions: dict[str, Question] = {}
    answers: dict[tuple[str, str], Answer] = {}
    edits: dict[tuple[str, str, str], str] = {}
    counts = Counter[str]()
    without: set[str] = set()
    for path in paths:
        found, told, edited = _read(read_rows(path), counts, without)
        _merge(questions, {question.id: question for question in found}, path, "question")
        _merge(answers, {(one.question_id, one.candidate): one for one in told}, path, "answer to a question")
        edits |= edited
    counts.update(answer.outcome for answer in answers.values())
    counts["edits"] += len(edits)
    counted = {name: count for name, count in counts.items() if count}
    left_out = frozenset(without - questions.keys())
    return Responses(tuple(questions.values()), tuple(answers.values()), edits, counted, left_out)


def vendor_of(model: str) -> str:
    """Who made the model of this name, as far as its name tells; else the name's first word.

    >>> vendor_of("Meta-Llama-3.1-8B-Instruct-Turbo"), vendor_of("DeepSeek-R1-Distill-Llama-70B"), vendor_of("ds_v3")
    ('llama', 'deepseek', 'deepseek')
    >>> vendor_of("GLM-4.5-Air-FP8")
    'glm'
    """
    name = model.lower()
    known = [(name.find(word), vendor) for word, vendor in VENDOR_WORDS.items() if word in name]
    first = next(iter(re.findall("[a-z0-9]+", name)), name)
    # "ds" is how the replication's files abbreviate DeepSeek.
    return min(known)[1] if known else "deepseek" if first == "ds" else first


def columns(records: Records) -> list[Columns]:
    """The fields that hold each model's answer, in the order in which the records name the models."""
    names = dict.fromkeys(name for row in records.rows if isinstance(row, dict) for name in row)
    if "output_label" in names and "pid" not in names:
        return [Columns(records.path.stem, "output_label", "reason", "error")]
    found = (match[1] for name in names if not _FORCED.fullmatch(name) and (match := _LABEL.fullmatch(name)))
    reason = "reason" if "pid" in names else "output_reason"
    models = [Columns(name, f"{name}_output_label", f"{name}_{reason}", f"{name}_error") for name in found]
    if not models:
        raise records.unknown(FORMATS)
    return models


def plain_question(record: dict[str, Any]) -> Question:
    """What a record without a passage tells of its question; `gold` is None where it has no gold label."""
    id, gold = text_field(record, "question_unique_id"), record.get("gold_label")
    letters = None if gold is None else letter(gold, "gold_label")
    return Question(id=id, category=UNKNOWN, text="", article=article_of(id), gold=letters)


def answers_in(record: dict[str, Any], id: str, models: Sequence[Columns]) -> list[Answer]:
    """The answers in one record, in the order of the models."""
    return [_answer(record, id, *model) for model in models]


def _read(
    records: Records, counts: Counter[str], without: set[str]
) -> tuple[Sequence[Question], list[Answer], dict[tuple[str, str, str], str]]:
    """Questions, answers and edits of one file; `counts` and `without` (ids without gold) grow by what is refused."""
    if {"pid", "text", "questions"} <= records.fields:
        every = records.rows
        records, left_out = with_gold(records)
        without |= {str(every[place].get("pid")) for place in left_out}
        counts["no_gold"] += len(left_out)
        models = columns(records)
        questions = flat_questions(records)
        some = records.map(lambda record: answers_in(record, record["pid"], models), "pid")
        answers = [answer for each in some for answer in each]
        return questions, answers, _edits(records, {(one.question_id, one.candidate): one for one in answers}, counts)
    if not {"question_unique_id", "gold_label"} <= records.fields:
        raise records.unknown(FORMATS)
    models, name = columns(records), "question_unique_id"
    found = records.map(plain_question, name)
    records.refuse_duplicates([question.id for question in found], "question ids")
    told = records.map(lambda record: answers_in(record, record[name], models), name)
    counts["no_gold"] += sum(question.gold is None for question in found)
    without |= {question.id for question in found if question.gold is None}
    kept = [(question, each) for question, each in zip(found, told, strict=True) if question.gold]
    return [question for question, _ in kept], [answer for _, each in kept for answer in each], {}


def _answer(record: dict[str, Any], id: str, model: str, label: str, reason: str, error: str) -> Answer:
    said, failed = record.get(label), record.get(error) is not None
    text = "" if record.get(reason) is None else text_field(record, reason, blank=True)
    marked = said.strip() if isinstance(said, str) else said
    if failed or LEGACY_ERROR in text:
        outcome = "error"
    elif marked is None or marked == "":
        outcome = "no_label"
    elif marked not in tuple(LETTERS):
        outcome = "bad_label"
    else:
        outcome = "ok" if text.strip() else "no_reason"
    fit = outcome in ("ok", "no_reason")
    answer = Answer(id, model, vendor_of(model), "", text, model, outcome, label=marked if fit else None)
    return answer if outcome != "error" else replace(answer, text="")


def _edits(
    records: Records, answers: Mapping[tuple[str, str], Answer], counts: Counter[str]
) -> dict[tuple[str, str, str], str]:
    """The edited reasons that are texts of their own; the others are counted."""
    kinds: dict[str, tuple[str, str]] = {}
    for name in sorted(records.fields):
        if match := _SYNONYMS.fullmatch(name):
            kinds[name] = match[1], "synonyms"
        elif match := _PARAPHRASE.fullmatch(name):
            kinds[name] = match[1], f"paraphrase:{match[2]}"
    edits = {}

    def read(record: dict[str, Any]) -> Iterator[tuple[tuple[str, str, str], str, str]]:
        for name, (model, kind) in kinds.items():
            if name in record:
                text = "" if record[name] is None else text_field(record, name, blank=True)
                yield (record["pid"], model, kind), text, name

    for found in records.map(lambda record: list(read(record)), "pid"):
        for key, text, _ in found:
            answer = answers.get(key[:2])
            if answer is None or answer.outcome != "ok":
                counts["edit_without_answer"] += bool(text.strip())
            elif not text.strip():
                counts["empty_edit"] += 1
            elif text.strip() == (answer.text or "").strip():
                counts["unchanged_edit"] += 1
            else:
                edits[key] = text
    forced = [name for name in records.fields if _FORCED.fullmatch(name)]
    counts["forced_reason"] += sum(bool(row.get(name)) for row in records.rows for name in forced)
    return edits


def _merge(known: dict[Any, Any], more: Mapping[Any, Any], path: Path, what: str) -> None:
    for key, value in more.items():
        if known.setdefault(key, value) != value:
            told = key if isinstance(key, str) else " by ".join(key)
            raise ValueError(f"{path}: the {what}, {told}, is told differently than in an earlier file")
