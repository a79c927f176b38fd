"""Questions of a benchmark from any of the formats that people have them in."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any

from helpers.datasets.files import QUESTION_FILES
from helpers.datasets.hub import from_hub
from helpers.datasets.reading import Records, find_file, read_records, show, text_field
from helpers.types import Question

#: Texts of which this many of 100 letters are the same, in the same order, are near-duplicates (rapidfuzz's `ratio`).
NEAR = 90
#: Of more texts than this only those that are equal but for case, spaces and punctuation are found.
MOST_COMPARED = 10_000
_WRITTEN = re.compile(r"[\W_]+")
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


def merge_near_duplicates(texts: Mapping[str, str]) -> dict[str, str]:
    """Which questions are near-copies of one another: for each id the first id, as given, of those with its text.

    Texts are compared by letters and digits alone (NFKC, any case); a copy of a copy is of the same group. A blank text
    has no copy. Over MOST_COMPARED different texts only those that are then equal are merged.
    """
    first: dict[str, str] = {}
    found: dict[str, str] = {}
    for id, text in texts.items():
        plain = _WRITTEN.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip() or text.strip()
        found[id] = first.setdefault(plain, id) if plain else id
    lead = {id: id for id in found.values()}

    def root(id: str) -> str:
        while lead[id] != id:
            id = lead[id]
        return id

    place = {id: number for number, id in enumerate(texts)}
    for one, other in _near([*first]) if len(first) <= MOST_COMPARED else ():
        pair = root(first[one]), root(first[other])
        one, other = sorted(pair, key=place.__getitem__)
        lead[other] = one
    return {id: root(each) for id, each in found.items()}


def _near(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The pairs of texts that are near-duplicates, of those of similar length whose sketches share a quarter.

    A sketch is the 64 least hashes of a text's five-letter windows (Broder 1997): of near texts about half are shared.
    """
    import numpy as np
    from rapidfuzz import fuzz, process
    from scipy.sparse import coo_array, triu

    sketches = []
    for text in texts:
        codes = np.frombuffer(f"  {text}  ".encode("utf-32-le"), np.uint32).astype(np.uint64)
        hashes = sum(codes[at : len(codes) - 4 + at] * np.uint64(4099**at) for at in range(5))
        hashes ^= hashes >> np.uint64(29)
        hashes = np.sort(hashes * np.uint64(0x9E3779B97F4A7C15))
        sketches.append(hashes[np.append(True, hashes[1:] != hashes[:-1])][:64])
    sizes = np.array([len(each) for each in sketches], dtype=int)
    hashes, column = np.unique(np.concatenate([np.zeros(0, np.uint64), *sketches]), return_inverse=True)
    cells = (np.ones(len(column), np.int16), (np.repeat(np.arange(len(texts)), sizes), column))
    table = coo_array(cells, shape=(len(texts), len(hashes))).tocsr()
    shared = triu(table @ table.T, 1).tocoo()
    letters = np.array([*map(len, texts)])
    one, other = (np.stack([each[shared.row], each[shared.col]]) for each in (sizes, letters))
    kept = (4 * shared.data >= one.min(axis=0)) & (other.min(axis=0) * (200 - NEAR) >= other.max(axis=0) * NEAR)
    pairs = [[texts[number] for number in side[kept]] for side in (shared.row, shared.col)]
    near = process.cpdist(*pairs, scorer=fuzz.ratio, score_cutoff=NEAR, dtype=np.uint8)
    return compress(zip(*pairs, strict=True), near)


def near_duplicates_told(clusters: Mapping[str, str]) -> str:
    """Which questions count as one, in one sentence; "" where each stands for itself."""
    groups: dict[str, list[str]] = {}
    for id, cluster in clusters.items():
        groups.setdefault(cluster, []).append(id)
    several = [ids for ids in groups.values() if len(ids) > 1]
    if not several:
        return ""
    listed = ", ".join(f"{ids[0]} with {' and '.join(ids[1:4])}{' ...' * (len(ids) > 4)}" for ids in several[:5])
    more = f" and {len(several) - 5} more" if len(several) > 5 else ""
    many = f"{len(several)} groups" if len(several) > 1 else "1 group"
    texts = sum(map(len, several))
    return f"{many} of near-duplicate texts ({texts} texts) count as one question each: {listed}{more}."


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
