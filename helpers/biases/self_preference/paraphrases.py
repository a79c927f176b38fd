"""A reason said anew: what a paraphrase must keep."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from helpers.biases.self_preference.edits import read_object
from helpers.biases.self_preference.words import content, forms, numbers, related
from helpers.prompts import schema_with_id

#: An option named by its letter: "option B", "the answer is (B)", "choices B and C", "(B)", "B)", "B is", a line "B.".
#: A small letter counts only where it cannot be the article.
_AFTER = r"(?:option|answer|choice|alternative|letter)s?(?i:\s+is|\s+was)?[\s:=*_\"'\u201c\u2018(\[]{1,4}"
_MORE = r"(?:\s{0,2}(?:,\s?and|,\s?or|,|/|&|and|or)\s{0,2}[A-J]\b)*"
NAMED = re.compile(
    rf"\b(?i:{_AFTER})(?P<named>(?:[A-J]\b{_MORE}|[b-hj]\b))"
    r"|[(\[](?P<closed>[A-Ja-j])[)\]]|(?<!\w)(?P<half>[A-J])(?:\)|\s(?:is|was)\b)"
    r"|^[ *_>-]*(?P<first>[A-J])[.:](?=\s|$)",
    re.MULTILINE,
)
LABELS = "ABCDEFGHIJ"
_OPTION = r"(?:option|choice|answer|alternative)"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_SHORT = "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th"
_CARDINALS = "one two three four five six seven eight nine ten"
#: What tells an option by its place, and which; the last one is that of as many options as there are.
PLACES = {
    word: i
    for words in (_ORDINALS, _SHORT, _CARDINALS, " ".join(map(str, range(1, 11))))
    for i, word in enumerate(words.split())
} | {"last": -1, "final": -1}
_NTH = f"(?:{'|'.join([*_ORDINALS.split(), *_SHORT.split(), 'last', 'final(?= option)'])})"
_NUMBER = f"(?:{'|'.join([*_CARDINALS.split(), '10', '[1-9]'])})"
#: An option named by its place: "the second option", "the first and the last of these answers", "option two",
#: "answer number 2". Neither "his first choice", "the final answer" nor "the choice one makes" names any.
PLACED = re.compile(
    rf"(?:\bthe\s+(?:very\s+)?|^\W*|[.!?:;(]\s*)(?P<nth>{_NTH}(?:\s*(?:,|and|or)\s*(?:the\s+)?{_NTH})*)\s+"
    rf"(?:of\s+(?:the|these|those)\s+(?:\w+\s+)?)?"
    rf"(?:(?:given|listed|offered|stated|possible|available|proposed|suggested|answer)\s+)?{_OPTION}s?\b"
    rf"|\boption\s+(?P<option>{_NUMBER})\b|\b(?:choice|alternative)\s+(?!one\b)(?P<other>{_NUMBER})\b"
    rf"|\b{_OPTION}\s+(?:number\s+|no\.\s*|#\s*)(?P<number>{_NUMBER})\b",
    re.IGNORECASE | re.MULTILINE,
)
#: An option named by a letter before the word, or as what was chosen: "the B option", "pick C".
BEFORE = re.compile(
    rf"\b(?i:the)\s[(\[\"'*]?(?P<the>[A-Ja-j])[)\]\"'*]?[\s-](?i:{_OPTION})\b"
    rf"|(?<!\w)(?P<bare>[B-HJ])[\s-](?i:{_OPTION})\b"
    r"|\b(?i:choos\w*|chose\w*|pick\w*|select\w*|(?:go|goes|going|went)\s+(?:for|with))\s+"
    r"(?P<chosen>[B-HJ])\b(?!\.\s?[A-Z]\w)"
)
#: A quotation has at least so many words; one word of an option is only a word.
QUOTED = 2
#: At least so large a share of the reason's content words must give way to others.
CHANGED = 1 / 3


def paraphrase_schema(pinned: str = "") -> dict[str, Any]:
    """The JSON schema of an editor's reply; `pinned` is the only `id` that it takes ("": any)."""
    return schema_with_id({"paraphrase": {"type": "string"}}, pinned)


def read_paraphrase(text: str, nonce: str) -> tuple[str | None, str]:
    """The paraphrase in an editor's reply, or None and why it is no reply of this form.

    The editor knows the nonce that marks texts in the judges' prompts: a paraphrase that holds it is refused.
    """
    reply = read_object(text, nonce, {"paraphrase"})
    if isinstance(reply, str):
        return None, reply
    said = reply["paraphrase"]
    if not isinstance(said, str):
        return None, "paraphrase must be a text"
    return (None, "it holds marks of a prompt") if nonce.casefold() in said.casefold() else (said, "")


def check_paraphrase(reason: str, paraphrase: str, question: str, options: Sequence[str]) -> str | None:
    """Why a text is no paraphrase of the reason, by what rules can see; None where they see nothing.

    It must be another text of half to twice the length with the same numbers, which does without at least a third of
    the reason's content words; function words, numbers, names and words of the question or its options do not count. It
    must not name an option by its letter or place or quote an option where the reason does not, or hold marks of a
    prompt or invisible signs.
    """
    if not paraphrase.strip():
        return "it is empty"
    if _letters(reason) == _letters(paraphrase):
        return "it is the same text"
    if not 0.5 <= len(paraphrase.split()) / max(1, len(reason.split())) <= 2:
        return "it is less than half or more than twice as long"
    if (named(paraphrase, len(options)) - named(reason, len(options))) & {*LABELS[: len(options)]}:
        return "it names an option by its letter or place"
    if numbers(reason) != numbers(paraphrase):
        return "its numbers are not those of the reason"
    if any(_quotes(paraphrase, option) and not _quotes(reason, option) for option in options):
        return "it quotes an option that the reason does not"
    if "<<<" in paraphrase or ">>>" in paraphrase:
        return "it holds marks of a prompt"
    if _invisible(paraphrase) - _invisible(reason):
        return "it holds invisible signs"
    if _changed(reason, paraphrase, forms((question, *options))) < CHANGED:
        return "it keeps more than two thirds of the reason's words"
    return None


def _changed(reason: str, paraphrase: str, asked: frozenset[str]) -> float:
    """Which share of the reason's content words stands in the paraphrase in no form; 1.0 where it has none."""
    old, kept = content(_bare(reason), asked), forms([_bare(paraphrase)])
    return sum(not related(word, kept) for word in old) / len(old) if old else 1.0


def named(text: str, options: int = len(LABELS)) -> set[str]:
    """The letters of the options that a text names, by their letters or by their places among so many.

    >>> sorted(named("Options A and C fail, (d) is right; the answer a child gives is no option."))
    ['A', 'C', 'D']
    >>> sorted(named("The first and the last option fail, his third choice is none.", 4))
    ['A', 'D']
    """
    found = [part for rule in (NAMED, BEFORE) for match in rule.finditer(text) for part in match.groups() if part]
    lettered = {letter.upper() for each in found for letter in re.findall(r"\b\w\b", each)}
    places = [part.casefold() for match in PLACED.finditer(text) for part in match.groups() if part]
    at = {PLACES[word] for each in places for word in re.findall(r"\w+", each) if word in PLACES}
    return lettered | {LABELS[:options][i] for i in at if i < options}


def _quotes(text: str, option: str) -> bool:
    words = _words(option).split()
    return len(words) >= QUOTED and f" {' '.join(words)} " in f" {_words(text)} "


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def _letters(text: str) -> str:
    """What is left of a text without case, blanks, punctuation and accents."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", text).casefold())


def _bare(text: str) -> str:
    """A text without its accents, which make no other word."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def _invisible(text: str) -> set[str]:
    return {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf") and sign not in "\n\r\t"}
