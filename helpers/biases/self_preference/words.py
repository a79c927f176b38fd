"""What counts as a word that may be replaced: plain letters; no function word, number, name or word of the question."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from helpers.biases.self_preference.word_lists import BARE, CALENDAR, NUMBERS, PASTS, SHORTENED, STOP

ROMAN = re.compile(r"M*(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})", re.IGNORECASE)
ENDINGS = ("ing", "ed", "ly", "s")
#: What may end an inflected form of a word.
SUFFIXES = ("s", "es", "ed", "ing", "ly", "er", "est")
SHORTEST = 3


def _is_letter(sign: str) -> bool:
    """Basic Latin to Latin Extended-A, as far as one small and one capital letter belong together.

    The sharp s, both Turkish letters i and the long s are none: their case cannot be changed and changed back.
    """
    small, capital = sign.lower(), sign.upper()
    paired = small != capital and small.upper() == capital and capital.lower() == small and len(small + capital) == 2
    return paired and unicodedata.normalize("NFKC", sign) == sign


LETTERS = "".join(filter(_is_letter, map(chr, range(0x180))))
WORD = re.compile(f"[{LETTERS}]+")
#: Beside a word these make one word of two, or an address or formula.
JOINING = frozenset("'\u2019\u2032-\u2010\u2013\u2212/\\@#&")


def plain_words(text: str) -> Iterator[tuple[int, str]]:
    """Where each plain word of a text begins, and the word: letters only, with nothing that joins it to more.

    >>> list(plain_words("It's a well-kept tower."))
    [(5, 'a'), (17, 'tower')]
    """
    for found in WORD.finditer(text):
        start, end = found.span()
        # The dot in "e.g." and in an address ends no sentence.
        dotted = re.match(r"\.\w", text[end : end + 2]) or re.match(r"\w\.", text[max(0, start - 2) : start])
        if not dotted and not any(_joins(sign) for sign in (text[start - 1 : start], text[end : end + 1])):
            yield start, found[0]


def _joins(sign: str) -> bool:
    """Whether a sign belongs to the word beside it; so do invisible and unknown signs, rather than to be guessed at."""
    if not sign or sign in "\n\r\t":
        return False
    kind = unicodedata.category(sign)
    return kind[0] not in "ZPS" or kind in ("Pc", "Sk") or unicodedata.normalize("NFKC", sign) in JOINING


def is_word(text: str) -> bool:
    """Whether a text is one plain word of three letters or more, written in the usual composed form."""
    return bool(WORD.fullmatch(text)) and len(text) >= SHORTEST


def names(text: str) -> frozenset[str]:
    """The words of a text, in lower case, that stand capitalised where no sentence begins.

    >>> sorted(names("Clearly Peter saw Mr. Smith. Then Peter left. Paul stayed."))
    ['mr', 'peter', 'smith']
    """
    found = ((match.start(), match[0]) for match in WORD.finditer(text))
    return frozenset(
        word.casefold() for start, word in found if casing(word) == "capitalised" and not _begins(text, start)
    )


def _begins(text: str, start: int) -> bool:
    """Whether a sentence or a line begins at a place; in doubt (after a colon, dots, an initial) none does."""
    end = start
    while end and not text[end - 1].isalnum():
        end -= 1
    between = text[end:start]
    if not end or "\n" in between:
        return True
    if ".." in between or not re.search("[.!?]", between):
        return False
    before = re.search(r"[^\W_]+$", text[:end])[0]
    return not between.startswith(".") or (before.casefold() not in SHORTENED and not re.fullmatch("[A-Z]", before))


def is_calendar(word: str) -> bool:
    """Whether a word is a weekday or a month, also in the plural; May is a function word as well.

    >>> is_calendar("Mondays"), is_calendar("marched")
    (True, False)
    """
    return word.casefold().removesuffix("s") in CALENDAR


def like_nonce(word: str) -> bool:
    """Whether a word could be the code that marks the texts of a prompt: eight hex digits or more.

    >>> like_nonce("deadbeef"), like_nonce("facade")
    (True, False)
    """
    return bool(re.fullmatch("[0-9a-f]{8,}", word, re.IGNORECASE))


def is_number(word: str) -> bool:
    """Whether a word says a number: as a word, in the plural too, or as a Roman numeral.

    >>> is_number("thirds"), is_number("XIV"), is_number("doubled"), is_number("CIVIL")
    (True, True, True, False)
    """
    return bool(stems(word) & NUMBERS or ROMAN.fullmatch(word))


def numbers(text: str) -> Counter[str]:
    """The numbers that a text says, in digits or words, and how often; not those that are function words (one, both).

    >>> sorted(numbers("Thirty men, 3 pairs, once; I read chapter XIV."))
    ['3', 'pair', 'thirty', 'xiv']
    """
    words = [word for word in re.findall(r"[^\W\d_]+", text) if word.casefold() not in STOP]
    said = [min(stems(word) & NUMBERS) for word in words if stems(word) & NUMBERS]
    roman = [word.casefold() for word in words if word.isupper() and len(word) > 1 and ROMAN.fullmatch(word)]
    return Counter([*re.findall(r"\d+", text), *said, *roman])


def content(text: str, asked: frozenset[str]) -> frozenset[str]:
    """The words of a text, in lower case, that another wording could do without: those that an edit may change.

    >>> sorted(content("Clearly Peter took the two boats, not the lamp.", forms(["Who broke the lamps?"])))
    ['boats', 'clearly', 'took']
    """
    words = {word.casefold() for word in re.findall(r"[^\W\d_]+", text) if len(word) >= SHORTEST}
    fixed = STOP | names(text)
    return frozenset(w for w in words - fixed if not (is_number(w) or is_calendar(w) or related(w, asked)))


@lru_cache(maxsize=4096)
def stems(word: str) -> frozenset[str]:
    """What a word may be an inflection of, by its ending alone; the word itself is among them.

    >>> sorted(stems("stopped"))
    ['stop', 'stopp', 'stoppe', 'stopped']
    >>> sorted(stems("happiest"))
    ['happi', 'happie', 'happiest', 'happy']
    """
    found = [word.casefold()]
    for each in found:
        for suffix in SUFFIXES:
            stem = each.removesuffix(suffix)
            if stem != each and len(stem) >= SHORTEST - 1:
                found += [stem, f"{stem}e"]
                found += [stem[:-1]] if stem[-1] == stem[-2] else []
                found += [f"{stem[:-1]}y"] if stem[-1] == "i" else []
    return frozenset(found)


def forms(texts: Iterable[str]) -> frozenset[str]:
    """The words of some texts, also those within compounds, and what they may be inflections of; no function words.

    >>> sorted(forms(["the keepers' well-kept lamp"]))
    ['keep', 'keepe', 'keeper', 'keepere', 'keepers', 'kept', 'lamp']
    """
    found: set[str] = set()
    for text in texts:
        seen = "".join(sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign) != "Cf")
        for word in {word.casefold() for word in re.findall(r"[^\W\d_]+", seen)} - STOP:
            # Two letters are too little to tell by, unless they are the word.
            found |= {word, *(stem for stem in stems(word) if len(stem) >= SHORTEST)}
    return frozenset(found)


def related(word: str, others: frozenset[str]) -> bool:
    """Whether a word and one of these `forms` may be inflections of one word (too strict rather than too lax).

    >>> related("leaving", forms(["leave"])), related("tower", forms(["town"]))
    (True, False)
    """
    return bool(stems(word) & others)


def ending(word: str) -> str:
    """The ending that shows a word's inflection, "" where none does; "ss", "us" and "is" are no plural.

    >>> ending("walked"), ending("walks"), ending("glass"), ending("bed"), ending("reply")
    ('ed', 's', '', '', '')
    """
    word = word.casefold()
    if word.endswith(("ss", "us", "is")) or word in BARE:
        return ""
    return next((e for e in ENDINGS if word.endswith(e) and len(word) - len(e) >= SHORTEST), "")


def is_past(word: str) -> bool:
    """Whether a word may be a past: by its ending, or by the list of irregular ones."""
    return ending(word) == "ed" or word.casefold() in PASTS


def casing(word: str) -> str | None:
    """How a word is written: "lower", "capitalised" or "upper"; None for a mixture.

    >>> casing("tower"), casing("Tower"), casing("TOWER"), casing("iPhone")
    ('lower', 'capitalised', 'upper', None)
    """
    shapes = {word.lower(): "lower", word.upper(): "upper", word[:1].upper() + word[1:].lower(): "capitalised"}
    return shapes.get(word)


def cased(word: str, like: str) -> str:
    """A word written as another one is."""
    return {"upper": word.upper(), "capitalised": word[:1].upper() + word[1:].lower()}.get(casing(like), word.lower())
