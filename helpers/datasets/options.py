"""The four options of a question: their letters, and how they are told apart in published texts."""

from __future__ import annotations

import re
from typing import Any

from helpers.datasets.reading import show, text_field

LETTERS = "ABCD"
_LINE_START = r"^[ \t]*\(?([{}])[).:][ \t]+"
_INLINE = r"\(([{}])\)\s+"


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
    """The question and its four options, from one text that holds both; the letters must stand in order, once each.

    A fifth mark after them in the same notation is refused; "(E)" within a line is none where the marks begin lines.
    """
    for notation in (_LINE_START, _INLINE):
        marks = list(_marks(notation, "A-D").finditer(asked))
        if [mark[1] for mark in marks] == list(LETTERS):
            if _marks(notation, "E").search(asked, marks[-1].end()):
                raise ValueError("field 'questions' has a fifth option, (E), expected (A) (B) (C) (D) alone")
            ends = [*(mark.start() for mark in marks[1:]), len(asked)]
            texts = [asked[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
            text = text_field({"questions": asked[: marks[0].start()].strip()}, "questions")
            return text, options_of(texts, "questions")
    found = " ".join(_marks(_LINE_START, "A-D").findall(asked)) or "none"
    raise ValueError(f"field 'questions' has the options {found}, expected (A) (B) (C) (D), once each and in order")


def _marks(notation: str, letters: str) -> re.Pattern[str]:
    return re.compile(notation.format(letters), re.MULTILINE)


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
