"""Synonyms in place of a few words: what an editor may change, strictly, and the text that comes of it.

A word may be replaced if it is a plain word that is neither a function word, a number or a name nor a word of the
question or its options; its replacement obeys the same rules, keeps the ending that shows the inflection and is written
in the same case. Only the word's first occurrence changes. Nothing is repaired: what breaks a rule is refused with its
reason. A name is known by its capital within a sentence, weekdays and months everywhere; one that only ever begins
sentences cannot be told from other words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from helpers.biases.self_preference.word_lists import STOP
from helpers.biases.self_preference.words import (
    cased,
    casing,
    ending,
    forms,
    is_calendar,
    is_number,
    is_past,
    is_word,
    like_nonce,
    names,
    plain_words,
    related,
)
from helpers.json_text import no_duplicates
from helpers.prompts import schema_with_id

Pairs = tuple[tuple[str, str], ...]
#: Words before which "an" stands, and words whose first letter does not tell.
VOWEL = re.compile("[aeio]", re.IGNORECASE)
UNSURE = re.compile("u|eu|one|hour|hono|hones|heir", re.IGNORECASE)
#: What was changed: offset in the original, old word, new word.
Change = tuple[int, str, str]


@dataclass(frozen=True)
class Edit:
    """A text after an edit, None where it could not be made; what was `changed` (offset in the original, old, new).

    `changed` stands in the order of the pairs, also where there is no text. `refused` holds each word that broke a
    rule, with the rule; pairs that were not needed are in neither.
    """

    text: str | None
    changed: tuple[Change, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


def edit_schema(pinned: str = "") -> dict[str, Any]:
    """The JSON schema of an editor's reply; `pinned` is the only `id` that it takes ("": any)."""
    texts = {"type": "array", "items": {"type": "string"}}
    return schema_with_id({"selected_words": texts, "replacements": texts}, pinned)


def read_edit(text: str, nonce: str) -> Pairs | str:
    """The words and replacements of an editor's reply, in its order; or why it is no reply of this form.

    >>> read_edit('{"id": "5eed", "selected_words": ["big"], "replacements": ["large"]}', "5eed")
    (('big', 'large'),)
    >>> read_edit('{"id": "beef", "selected_words": [], "replacements": []}', "5eed")
    'the id is not that of the prompt'
    """
    reply = read_object(text, nonce, {"selected_words", "replacements"})
    if isinstance(reply, str):
        return reply
    old, new = reply["selected_words"], reply["replacements"]
    if not all(isinstance(part, list) and all(isinstance(word, str) for word in part) for part in (old, new)):
        return "selected_words and replacements must be lists of texts"
    return tuple(zip(old, new, strict=True)) if len(old) == len(new) else "the two lists are not of one length"


def read_object(text: str, nonce: str, fields: set[str]) -> Mapping[str, Any] | str:
    """The one JSON object that a reply is, with these fields and the prompt's nonce as `id`; else what is wrong."""
    try:
        reply = json.loads(text.strip(), object_pairs_hook=no_duplicates)
        # An escape may hold half a surrogate pair, which no file can.
        json.dumps(reply, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return "it is not one JSON object with each name once"
    if not isinstance(reply, dict) or set(reply) != {"id", *fields}:
        return f"its fields are not id, {', '.join(sorted(fields))}"
    return reply if reply["id"] == nonce else "the id is not that of the prompt"


def apply_edits(reason: str, question: str, options: Sequence[str], pairs: Pairs, dose: int) -> Edit:
    """The reason with the first `dose` of these pairs that keep all rules; None where fewer do.

    A smaller dose changes a part of what a larger one changes.
    """
    places: dict[str, int] = {}
    for start, word in plain_words(reason):
        places.setdefault(word.casefold(), start)
    spoken = [(found.start(), found[0]) for found in re.finditer(r"\w+", reason)]
    asked, named = forms((question, *options)), names(reason)
    changed: list[Change] = []
    refused: list[tuple[str, str]] = []
    for word, new in pairs:
        if len(changed) >= dose:
            break
        start = places.get(word.casefold())
        if start is None:
            refused.append((word, "it does not stand in the reason as a plain word"))
            continue
        old = reason[start : start + len(word)]
        why = _broken_alone(old, word, new, asked, named) or _broken_in_place(spoken, start, new, changed)
        if why:
            refused.append((word, why))
        else:
            changed.append((start, old, cased(new, old)))
    if len(changed) < dose:
        return Edit(None, tuple(changed), tuple(refused))
    text = reason
    for start, old, new in sorted(changed, reverse=True):
        text = text[:start] + new + text[start + len(old) :]
    return Edit(text, tuple(changed), tuple(refused))


def check_edit(reason: str, edited: str, question: str, options: Sequence[str], dose: int) -> Edit:
    """A text that was edited elsewhere, if it is what our own rules make of `dose` words; else refused, with the rule.

    >>> check_edit("A big dog.", "A large dog.", "Who?", (), 1).text
    'A large dog.'
    >>> check_edit("A big dog.", "A large dog.", "Who?", (), 2).refused
    (('the whole edit', '1 word differs, not 2'),)
    """
    pairs = differing_words(reason, edited)
    if pairs is None:
        return Edit(None, (), (("the whole edit", "the texts differ in more than single words"),))
    if len(pairs) != dose:
        told = f"{len(pairs)} word{'s differ' if len(pairs) != 1 else ' differs'}, not {dose}"
        return Edit(None, (), (("the whole edit", told),))
    edit = apply_edits(reason, question, options, tuple(pairs), dose)
    if edit.text is not None and edit.text != edited:
        return Edit(None, (), (("the whole edit", "a word is not replaced where it first stands, or in another case"),))
    return edit


def _broken_alone(old: str, word: str, new: str, asked: frozenset[str], named: frozenset[str]) -> str:
    """The rule that two words break wherever they stand, `old` as in the reason, `word` as chosen; "" where none."""
    for name, one in (("it", word), ("its replacement", new)):
        if not is_word(one):
            return f"{name} is not one plain word"
        if one.casefold() in STOP or is_number(one):
            return f"{name} is a function word or a number"
        if is_calendar(one) or one.casefold() in named:
            return f"{name} is a name"
        if like_nonce(one):
            return f"{name} could be a mark of a prompt"
        if related(one, asked):
            return f"{name} is a word of the question or its options"
    if new.casefold() == word.casefold():
        return "its replacement is the same word"
    if casing(old) is None or casing(new) is None:
        return "its case is mixed" if casing(old) is None else "its replacement's case is mixed"
    if casing(new) not in ("lower", casing(word), casing(old)):
        return "its replacement is written as a name"
    if ending(word) != ending(new) and not (ending(word) in ("ed", "") and is_past(word) and is_past(new)):
        return "its replacement has another ending"
    return "its replacement is another form of it" if related(new, forms([word])) else ""


def _broken_in_place(spoken: Sequence[tuple[int, str]], start: int, new: str, changed: Sequence[Change]) -> str:
    """The rule that a replacement breaks among the words `spoken` after the changes before it; "" where none."""
    said = {at: word for at, _, word in changed}
    if start in said:
        return "it is chosen twice"
    here = next(i for i, (at, _) in enumerate(spoken) if at == start)
    beside = [*spoken[max(0, here - 1) : here], *spoken[here + 1 : here + 2]]
    if new.casefold() in {each.casefold() for at, word in beside for each in (word, said.get(at, word))}:
        return "its replacement stands beside it"
    article = spoken[here - 1][1].casefold() if here else ""
    if article in ("a", "an") and (UNSURE.match(new) or (article == "an") != bool(VOWEL.match(new))):
        return f"its replacement may need another article than {article!r}"
    return ""


def differing_words(before: str, after: str) -> list[tuple[str, str]] | None:
    """The words in which two texts differ, in order; None where they differ in anything else.

    >>> differing_words("A big, red house.", "A large, red house.")
    [('big', 'large')]
    >>> differing_words("A big house.", "A big  house.") is None
    True
    """
    old, new = (re.split(r"(\w+)", text) for text in (before, after))  # every other piece is a word
    if old[::2] != new[::2]:
        return None
    return [(a, b) for a, b in zip(old[1::2], new[1::2], strict=True) if a != b]
