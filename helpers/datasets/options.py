"""The four options of a question: their letters, and how they are told apart in published texts."""

from __future__ import annotations

import re
from typing import Any

from helpers.datasets.reading import show, text_field

LETTERS = "ABCD"
_LINE_START = re.compile(r"^[ \t]*\(?([A-D])[).:][ \t]+", re.MULTILINE)
_INLINE = re.compile(r"\(([A-D])\)\s+")


def letter(value: Any, name: str) -> str:
    """The letter of an option given as A to D or as 1 to 4; anything else is a ValueError.

    >>> letter("B", "gold"), letter(4, "gold"), letter("1", "gold")
    ('B', 'D', 'A')
    """
    if isinstance(value, str) and value.strip() and value.strip() in (*LETTERS, *"1234"):
        said = value.strip()
        return said if said in LETTERS else LETTERS[int(said) - 1]
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= len(LETTERS):
        return LETTERS[value - 1]
    raise ValueError(f"field {name!r} holds {show(value)}, expected one of A, B, C, D or 1 to 4 (counted from 1)")


def parted(asked: str) -> tuple[str, tuple[str, ...]]:
    """The question and its four options, from one text that holds both; the letters must stand in order, once each."""
    for marks in (_LINE_START, _INLINE):
        parts = marks.split(asked)
        if parts[1::2] == list(LETTERS):
            text = text_field({"questions": parts[0].strip()}, "questions")
            return text, options_of([part.strip() for part in parts[2::2]], "questions")
    found = " ".join(_LINE_START.findall(asked)) or "none"
    raise ValueError(f"field 'questions' has the options {found}, expected (A) (B) (C) (D), once each and in order")


def options_of(options: Any, name: str = "options") -> tuple[str, ...]:
    """Four options, each a text of its own; anything else is a ValueError that names what is wrong."""
    if not isinstance(options, list) or len(options) != len(LETTERS):
        count = f"{len(options)} options" if isinstance(options, list) else show(options)
        raise ValueError(f"field {name!r} holds {count}, expected a list of four")
    texts = tuple(text_field({name: option}, name) for option in options)
    seen: dict[str, str] = {}
    for mark, text in zip(LETTERS, texts, strict=True):
        other = seen.setdefault(" ".join(text.split()), mark)
        if other != mark:
            raise ValueError(f"field {name!r}: the options {other} and {mark} are identical")
    return texts
