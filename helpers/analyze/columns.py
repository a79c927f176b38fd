"""The columns of a file of verdicts: which there are, which it takes, and what is said of those that are not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

REQUIRED = {
    "judge": "who judged",
    "question": "the id of what was asked",
    "candidates": "who was judged, in shown order: a JSON list, or names with | between them",
    "verdict": "a label (A>>B, A>B, A=B, B>A, B>>A, A, B, tie, a candidate's name), a ranking (a JSON list, or "
    "x > y > z) or a score for each candidate; empty where it could not be read",
}
OPTIONAL = {
    "repeat": "which asking of the same this is, a whole number from 0",
    "condition": "under which condition: none, identical, quality_gap, or a name (a hint, a prompt)",
    "order": "shown (as `candidates` stand), reversed, or unknown",
    "gold": "the true verdict: a label, a candidate's name, or the true score",
    "category": "of the question",
    "item": "what of the question was judged, where it is judged more than once: a turn, a criterion",
    "cluster": "the task above the question, where several questions are of one: what varies then",
    "question_text": "what was asked: near-duplicates count as one question (where no `cluster` is named)",
    "judge_vendor": "who made the judge",
    "candidate_vendors": "who made each candidate, in the order of `candidates`",
    "length": "how long each answer is, in the order of `candidates`",
    "named": "under whose vendor's name each answer was shown, in the order of `candidates`; empty: under none",
}
ALL = REQUIRED | OPTIONAL
#: More rows, candidates of a row, letters of a cell or of a name than any file of verdicts holds.
MOST_ROWS = 5_000_000
MOST_CANDIDATES = 64
LONGEST_CELL = 20_000
LONGEST_NAME = 200
#: How near a name must be to be offered: at 0.6, difflib's own, "order" would be offered to whoever writes "model".
NEAR = 0.65


def check(found: Sequence[str], where: str, ignore_extra: bool) -> list[str]:
    """The columns to read, of those found; one that is missing, unknown or named twice is a ValueError.

    `ignore_extra` leaves unknown ones unread. The error names every one of them, the nearest valid name, and all valid
    columns.
    """
    if not list(found):
        raise ValueError(f"{where}: the file is empty; its first line names the columns: {','.join(REQUIRED)}")
    twice = sorted({name for name in found if list(found).count(name) > 1})
    if twice:
        raise ValueError(f"{where}: column {', '.join(map(repr, twice))} stands there more than once")
    unknown = [name for name in found if name not in ALL]
    missing = [name for name in REQUIRED if name not in found]
    # A column that another name must have been meant for is told once, with that name.
    meant = {name: _perhaps(name, unknown) for name in missing}
    told = [
        f"no column {name!r}, perhaps {meant[name]!r}: rename it" if meant[name] else f"no column {name!r} ({words})"
        for name, words in REQUIRED.items()
        if name in missing
    ]
    others = [] if ignore_extra else [name for name in unknown if name not in meant.values()]
    if others:
        told += [f"unknown column {name!r}{_nearest(name, found)}" for name in others]
    if told:
        extra = "" if not others else "; --ignore-extra leaves unknown columns unread"
        raise ValueError(
            f"{where}: {'; '.join(told)}. Found: {', '.join(map(repr, found)) or 'none'}. {valid()}{extra}"
        )
    return [name for name in found if name in ALL]


def shape_of(record: Mapping[str, Any]) -> str:
    """What a JSON object is that holds many verdicts, or none, and what to do; "" where it may be one verdict."""
    values = [record[name] for name in REQUIRED if name in record]
    by_column = bool(values) and all(isinstance(each, dict) for each in values)
    if by_column or isinstance(record.get("judge"), list) or {"columns", "data"} <= {*record}:
        return "column-wise JSON; save it with orient='records', an object a verdict"
    inner = {f"{outer}.{name}": each for outer, value in record.items() if isinstance(value, dict)
             for name, each in value.items()}  # fmt: skip
    for name, value in {**record, **inner}.items():
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            return f"one object whose list {name!r} holds the records; save that list as a file of its own"
    named = [value for value in (*record.values(), *inner.values(), *record) if isinstance(value, str)]
    files = [value for value in named if value.lower().endswith((".csv", ".json", ".jsonl", ".parquet", ".eval"))]
    return f"a list of files, no verdicts; name one of them, such as {files[0][:80]!r}" if files else ""


def valid() -> str:
    """All columns in one sentence."""
    return f"Valid: {', '.join(REQUIRED)} (needed), {', '.join(OPTIONAL)}"


def _nearest(name: str, found: Iterable[str]) -> str:
    close = get_close_matches(name.strip().lower(), [each for each in ALL if each not in found], 1, NEAR)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _perhaps(name: str, unknown: Sequence[str]) -> str:
    known = {each.strip().lower(): each for each in unknown}
    close = get_close_matches(name, known, 1, NEAR)
    return known[close[0]] if close else ""


def name_of(text: str, what: str) -> str:
    """A name as sentences and figures can hold it; empty, too long or with signs nobody sees is a ValueError."""
    name = text.strip()
    if not name:
        raise ValueError(f"{what} is empty")
    if len(name) > LONGEST_NAME:
        raise ValueError(f"{what} {name[:40]!r}... has {len(name)} letters; at most {LONGEST_NAME}")
    if not name.isprintable():
        sign = next(each for each in name if not each.isprintable())
        raise ValueError(f"{what} {name[:40]!a} holds signs that cannot be printed (U+{ord(sign):04X})")
    return name
