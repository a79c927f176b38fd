"""What an editor may change, strictly: synonyms in place of a few words, and paraphrases.

A word may be replaced if it is a plain word that is neither a function word, a number or a name nor a word of the
question or its options; its replacement obeys the same rules, keeps the ending that shows the inflection and is written
in the same case. Only the word's first occurrence changes. Nothing is repaired: what breaks a rule is refused with its
reason. A name is known by its capital within a sentence, weekdays and months everywhere; one that only ever begins
sentences cannot be told from other words.
"""

from __future__ import annotations

import json
import pkgutil
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from ...json_text import no_duplicates
from ...prompts import schema_with_id

#: What is said of each list and pattern stands in edited.toml.
_DATA: dict[str, Any] = tomllib.loads((pkgutil.get_data(__package__, "edited.toml") or b"").decode())
STOP, NUMBERS, CALENDAR, SHORTENED, PASTS, BARE, JOINING = (
    frozenset(_DATA[name].split()) for name in ("stop", "numbers", "calendar", "shortened", "pasts", "bare", "joining")
)
ENDINGS, SUFFIXES = _DATA["endings"].split(), _DATA["suffixes"].split()
ROMAN = re.compile(r"M*(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})", re.IGNORECASE)
WORD = re.compile(f"[{_DATA['letters']}]+")
SHORTEST = 3


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
    """Whether a word is a weekday or a month, also in the plural; May is a function word as well."""
    return word.casefold().removesuffix("s") in CALENDAR


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
    lowest = [min(stems(word) & NUMBERS) for word in words if stems(word) & NUMBERS]
    roman = [word.casefold() for word in words if word.isupper() and len(word) > 1 and ROMAN.fullmatch(word)]
    return Counter([*re.findall(r"\d+", text), *lowest, *roman])


def content(text: str, asked: frozenset[str]) -> frozenset[str]:
    """The words of a text, in lower case, that another wording could do without: those that an edit may change.

    >>> sorted(content("Clearly Peter took the two boats, not the lamp.", forms(["Who broke the lamps?"])))
    ['boats', 'clearly', 'took']
    """
    words = {word.casefold() for word in re.findall(r"[^\W\d_]+", text) if len(word) >= SHORTEST}
    fixed = STOP | names(text)
    return frozenset(w for w in words - fixed if not (is_number(w) or is_calendar(w) or stems(w) & asked))


@lru_cache(maxsize=4096)
def stems(word: str) -> frozenset[str]:
    """What a word may be an inflection of, by its ending alone; the word itself is among them.

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

    A word may be an inflection of one of them where its `stems` are among these (too strict rather than too lax).

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
    """The words and replacements of an editor's reply, in its order; or why it is no reply of this form."""
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
    """A text that was edited elsewhere, if it is what our own rules make of `dose` words; else why it is refused."""
    pairs = differing_words(reason, edited)
    if pairs is None:
        return Edit(None, (), (("the whole edit", "the texts differ in more than single words"),))
    if len(pairs) != dose:
        differ = f"{len(pairs)} word{'s differ' if len(pairs) != 1 else ' differs'}, not {dose}"
        return Edit(None, (), (("the whole edit", differ),))
    edit = apply_edits(reason, question, options, tuple(pairs), dose)
    if edit.text is not None and edit.text != edited:
        return Edit(None, (), (("the whole edit", "a word is not replaced where it first stands, or in another case"),))
    return edit


def _first(rules: Mapping[str, object]) -> str:
    """The first of these rules that is broken; "" where none is."""
    return next((rule for rule, broken in rules.items() if broken), "")


def _broken_alone(old: str, word: str, new: str, asked: frozenset[str], named: frozenset[str]) -> str:
    """The rule that two words break wherever they stand, `old` as in the reason, `word` as chosen; "" where none."""
    rules: dict[str, object] = {}
    for name, one in (("it", word), ("its replacement", new)):
        rules |= {
            f"{name} is not one plain word": not WORD.fullmatch(one) or len(one) < SHORTEST,
            f"{name} is a function word or a number": one.casefold() in STOP or is_number(one),
            f"{name} is a name": is_calendar(one) or one.casefold() in named,
            f"{name} could be a mark of a prompt": re.fullmatch("[0-9a-f]{8,}", one, re.IGNORECASE),
            f"{name} is a word of the question or its options": stems(one) & asked,
        }
    pasts = ending(word) in ("ed", "") and is_past(word) and is_past(new)
    rules |= {
        "its replacement is the same word": new.casefold() == word.casefold(),
        "its case is mixed": casing(old) is None,
        "its replacement's case is mixed": casing(new) is None,
        "its replacement is written as a name": casing(new) not in ("lower", casing(word), casing(old)),
        "its replacement has another ending": ending(word) != ending(new) and not pasts,
        "its replacement is another form of it": stems(new) & forms([word]),
    }
    return _first(rules)


def _broken_in_place(spoken: Sequence[tuple[int, str]], start: int, new: str, changed: Sequence[Change]) -> str:
    """The rule that a replacement breaks among the words `spoken` after the changes before it; "" where none."""
    replaced = {at: word for at, _, word in changed}
    if start in replaced:
        return "it is chosen twice"
    here = next(i for i, (at, _) in enumerate(spoken) if at == start)
    beside = [*spoken[max(0, here - 1) : here], *spoken[here + 1 : here + 2]]
    if new.casefold() in {each.casefold() for at, word in beside for each in (word, replaced.get(at, word))}:
        return "its replacement stands beside it"
    article = spoken[here - 1][1].casefold() if here else ""
    if article in ("a", "an") and (UNSURE.match(new) or (article == "an") != bool(VOWEL.match(new))):
        return f"its replacement may need another article than {article!r}"
    return ""


def differing_words(before: str, after: str) -> list[tuple[str, str]] | None:
    """The words in which two texts differ, in order; None where they differ in anything else."""
    old, new = (re.split(r"(\w+)", text) for text in (before, after))  # every other piece is a word
    if old[::2] != new[::2]:
        return None
    return [(a, b) for a, b in zip(old[1::2], new[1::2], strict=True) if a != b]


LABELS = "ABCDEFGHIJ"
_NAMING: dict[str, Any] = _DATA["naming"]
#: The place that a word means; the last one is that of as many options as there are.
PLACES = {word: i for i, words in enumerate(_NAMING["places"]) for word in words.split()}
PLACES |= dict.fromkeys(_NAMING["last"].split(), -1)


def _pattern(name: str, flags: re.RegexFlag = re.MULTILINE) -> re.Pattern[str]:
    return re.compile(
        re.sub(r"<([a-z]{4,}|nth)>", lambda part: "".join(_NAMING[part[1]]), "".join(_NAMING[name])), flags
    )


LETTERED, CHOSEN = _pattern("lettered"), _pattern("chosen")
PLACED = _pattern("placed", re.MULTILINE | re.IGNORECASE)
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
    paraphrase = reply["paraphrase"]
    if not isinstance(paraphrase, str):
        return None, "paraphrase must be a text"
    return (None, "it holds marks of a prompt") if nonce.casefold() in paraphrase.casefold() else (paraphrase, "")


def check_paraphrase(reason: str, paraphrase: str, question: str, options: Sequence[str]) -> str | None:
    """Why a text is no paraphrase of the reason, by what rules can see; None where they see nothing.

    It must be another text of half to twice the length with the same numbers, which does without at least a third of
    the reason's content words; function words, numbers, names and words of the question or its options do not count. It
    must not name an option by its letter or place or quote an option where the reason does not, or hold marks of a
    prompt or invisible signs.
    """
    old, kept = content(_bare(reason), forms((question, *options))), forms([_bare(paraphrase)])
    changed, longer = sum(not stems(word) & kept for word in old), len(paraphrase.split()) / max(1, len(reason.split()))
    letters = (named(paraphrase, len(options)) - named(reason, len(options))) & {*LABELS[: len(options)]}
    rules: dict[str, object] = {
        "it is empty": not paraphrase.strip(),
        "it is the same text": _letters(reason) == _letters(paraphrase),
        "it is less than half or more than twice as long": not 0.5 <= longer <= 2,
        "it names an option by its letter or place": letters,
        "its numbers are not those of the reason": numbers(reason) != numbers(paraphrase),
        "it quotes an option that the reason does not": [*filter(partial(_quotes, paraphrase, reason), options)],
        "it holds marks of a prompt": "<<<" in paraphrase or ">>>" in paraphrase,
        "it holds invisible signs": _invisible(paraphrase) - _invisible(reason),
        "it keeps more than two thirds of the reason's words": changed < CHANGED * len(old),
    }
    return _first(rules) or None


def named(text: str, options: int = len(LABELS)) -> set[str]:
    """The letters of the options that a text names, by their letters or by their places among so many.

    >>> sorted(named("Options A and C fail, (d) is right; the answer a child gives is no option."))
    ['A', 'C', 'D']
    >>> sorted(named("The first and the last option fail, his third choice is none.", 4))
    ['A', 'D']
    """
    found = [part for rule in (LETTERED, CHOSEN) for match in rule.finditer(text) for part in match.groups() if part]
    lettered = {letter.upper() for each in found for letter in re.findall(r"\b\w\b", each)}
    places = [part.casefold() for match in PLACED.finditer(text) for part in match.groups() if part]
    at = {PLACES[word] for each in places for word in re.findall(r"\w+", each) if word in PLACES}
    return lettered | {LABELS[:options][i] for i in at if i < options}


def _quotes(text: str, other: str, option: str) -> bool:
    """Whether a text quotes an option that another text does not."""
    words = (re.findall(r"\w+", unicodedata.normalize("NFKC", each).casefold()) for each in (option, text, other))
    quoted, one, two = (f" {' '.join(each)} " for each in words)
    return len(quoted.split()) >= QUOTED and quoted in one and quoted not in two


def _letters(text: str) -> str:
    """What is left of a text without case, blanks, punctuation and accents."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", text).casefold())


def _bare(text: str) -> str:
    """A text without its accents, which make no other word."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def _invisible(text: str) -> set[str]:
    return {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf") and sign not in "\n\r\t"}
