"""A reason said anew: what a paraphrase must keep."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

from helpers.biases.self_preference.edits import read_object

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
#: A quotation has at least so many words; one word of an option is only a word.
QUOTED = 2


def paraphrase_schema() -> dict[str, Any]:
    """The JSON schema of an editor's reply."""
    properties = {"id": {"type": "string"}, "paraphrase": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


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

    It must be another text of half to twice the length with the same numbers; it must not name an option by its letter
    or quote an option where the reason does not, or hold marks of a prompt or invisible signs.
    """
    if not paraphrase.strip():
        return "it is empty"
    if _letters(reason) == _letters(paraphrase):
        return "it is the same text"
    if not 0.5 <= len(paraphrase.split()) / max(1, len(reason.split())) <= 2:
        return "it is less than half or more than twice as long"
    if Counter(re.findall(r"\d+", reason)) != Counter(re.findall(r"\d+", paraphrase)):
        return "its numbers are not those of the reason"
    if (named(paraphrase) - named(reason)) & {*LABELS[: len(options)]}:
        return "it names an option by its letter"
    if any(_quotes(paraphrase, option) and not _quotes(reason, option) for option in options):
        return "it quotes an option that the reason does not"
    if "<<<" in paraphrase or ">>>" in paraphrase:
        return "it holds marks of a prompt"
    return "it holds invisible signs" if _invisible(paraphrase) - _invisible(reason) else None


def named(text: str) -> set[str]:
    """The options that a text names by their letters.

    >>> sorted(named("Options A and C fail, (d) is right; the answer a child gives is no option."))
    ['A', 'C', 'D']
    """
    found = (match["named"] or match["closed"] or match["half"] or match["first"] for match in NAMED.finditer(text))
    return {letter.upper() for each in found for letter in re.findall(r"\b\w\b", each)}


def _quotes(text: str, option: str) -> bool:
    words = _words(option).split()
    return len(words) >= QUOTED and f" {' '.join(words)} " in f" {_words(text)} "


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def _letters(text: str) -> str:
    """What is left of a text without case, blanks, punctuation and accents."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", text).casefold())


def _invisible(text: str) -> set[str]:
    return {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf") and sign not in "\n\r\t"}
