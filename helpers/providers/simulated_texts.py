"""How simulated models word things: the manners of vendors, words that stand for each other, verdicts and what spoils.

The words themselves are data (simulated.toml). Everything here reads and writes text; what a model feels about a text
is in `simulated`.
"""

from __future__ import annotations

import hashlib
import json
import pkgutil
import random
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from helpers.types import Request

WORDS: dict[str, Any] = tomllib.loads((pkgutil.get_data(__package__, "simulated.toml") or b"").decode())
#: By vendor, how it opens and closes an answer; vendors that are not listed write plain paragraphs.
MANNERS: dict[str, dict[str, Any]] = {"": {}, **WORDS["manners"]}
NEUTRAL: list[str] = WORDS["neutral"]
GENERIC: list[str] = WORDS["generic"]
STYLE: dict[str, int] = WORDS["styles"]
GROUPS = tuple(tuple(group.split()) for line in WORDS["synonyms"].splitlines() for group in line.split(";"))
#: Each word with the other words of its group.
SYNONYMS = {word: tuple(other for other in group if other != word) for group in GROUPS for word in group}
GROUP_OF = {word: group for group in GROUPS for word in group}
#: One vendor of each style; nobody's own style is that of plain words.
STYLES = tuple({column: vendor for vendor, column in {**STYLE, "": 0}.items()}.values())
NORMAL = NormalDist()

#: How a prompt shows its question; the code is that of all delimiters and of the text form of a verdict.
QUESTION = re.compile(r"<<<QUESTION (?P<nonce>[0-9a-f]{8})>>>\n(.*?)\n<<<END QUESTION (?P=nonce)>>>", re.DOTALL)
BULLETS = re.compile(r"^(?:[-*\u2022]|\d+\.) ", re.MULTILINE)
CONFIDENT = re.compile(r"\b(?:absolutely|undoubtedly|no doubt|beyond question)\b", re.IGNORECASE)
WORD = re.compile(r"[A-Za-z]+")
#: A word for the table of synonyms: a hyphen or an apostrophe joins two words into one.
JOINED_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")


def draw(*parts: str) -> float:
    """A standard normal number drawn from these texts: the same in every process."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return NORMAL.inv_cdf((int.from_bytes(digest[:8], "big") + 0.5) / 2**64)


# --- what prompts show ------------------------------------------------------------------------------------------------


def texts_shown(prompt: str) -> tuple[str, str, list[re.Match[str]]]:
    """Code and question of a judge's prompt, and the blocks of the texts it shows; none where it is no such prompt."""
    head = QUESTION.match(prompt)
    return (head[1], head[2], blocks_of(prompt, head)) if head else ("", "", [])


def blocks_of(prompt: str, head: re.Match[str]) -> list[re.Match[str]]:
    """The texts that a prompt shows after its question: those between delimiters with the prompt's own code."""
    block = re.compile(rf"<<<ANSWER (\w+) {head[1]}>>>\n(.*?)\n<<<END \1 {head[1]}>>>", re.DOTALL)
    return list(block.finditer(prompt, head.end()))


def compared_answers(prompt: str) -> tuple[str, list[str], bool]:
    """The question of a judge's prompt, the answers that it shows, and whether it asks which of them the judge wrote.

    Without answers where the prompt shows none.
    """
    head = QUESTION.search(prompt)
    if head is None:
        return "", [], False
    shown = blocks_of(prompt, head)
    return head[2], [each[2] for each in shown], bool(shown) and "did you write" in prompt[shown[-1].end() :]


# --- the manners of vendors -------------------------------------------------------------------------------------------


def write_answer(vendor: str, sentences: Sequence[str], rng: random.Random) -> str:
    """The sentences as a text in the manner of a vendor."""
    manner = MANNERS.get(vendor, MANNERS[""])
    bullet, ends = manner.get("bullet", ""), [manner.get("openings"), manner.get("closings")]
    lines = [bullet.format(number=n) + sentence for n, sentence in enumerate(sentences, 1)]
    opening, closing = [rng.choice(phrases) if phrases else "" for phrases in ends]
    return "\n\n".join(part for part in (opening, ("\n" if bullet else " ").join(lines), closing) if part)


def vendor_of(text: str) -> str | None:
    """Whose manner a text is written in: opening and closing of one vendor; None for anything else.

    Both are required, so that a real text that happens to share a phrase is not taken for a vendor's.

    >>> vendor_of(write_answer("gpt", ["Two and two are four."], random.Random("x")))
    'gpt'
    >>> vendor_of("Great question. Here's the short version, followed by the essentials: four.") is None
    True
    """
    for vendor, manner in WORDS["manners"].items():
        if text.startswith(tuple(manner["openings"])) and text.endswith(tuple(manner["closings"])):
            return vendor
    return None


def is_list(text: str) -> bool:
    r"""Whether a text is written as a list: at least two of its lines begin with a bullet.

    >>> is_list("Two reasons:\n- One.\n- Another."), is_list("- One line alone."), is_list("A fact - or not.")
    (True, False, False)
    """
    return len(BULLETS.findall(text)) > 1


def is_confident(text: str) -> bool:
    """Whether a text says that it is right.

    >>> is_confident("There is absolutely no doubt."), is_confident("This may be so.")
    (True, False)
    """
    return CONFIDENT.search(text) is not None


#: Wordings that a simulated judge recognizes, and may like.
WORDINGS = {"listed": is_list, "confident": is_confident}


def own_by_name(task: str, labels: Sequence[str], vendor: str, deduces: bool = False) -> list[bool]:
    """Which labels the words after the answers name, or let a judge conclude, as those of its vendor.

    A list of authors (`B: GPT`) names each label; a sentence on the judge's own vendor names its labels. One who
    `deduces` takes undisclosed answers for its own where it is not named itself and they are as many as each other
    vendor's: with two vendors undisclosed nobody can tell.

    >>> own_by_name("A: GPT\\nB: not disclosed", "AB", "claude")
    [False, False]
    >>> own_by_name("A: GPT\\nB: not disclosed", "AB", "claude", deduces=True)
    [False, True]
    """
    listed = dict(re.findall(r"^(\w+): (.+)$", task, re.MULTILINE))
    if set(labels) <= set(listed):
        own = [vendor in listed[label].casefold() for label in labels]
        hidden = ["not disclosed" in listed[label] for label in labels]
        sizes = set(Counter(listed[label] for label in labels if "not disclosed" not in listed[label]).values())
        return hidden if deduces and not any(own) and sizes == {sum(hidden)} else own
    sentence = re.search(r"answers? (.+?) came from your own vendor", task)
    mine = set(re.findall(r"\b[A-Z]\b", sentence[1])) if sentence else set()
    return [label in mine for label in labels]


# --- words that stand for each other ----------------------------------------------------------------------------------


def styled(text: str, vendor: str) -> str:
    """The text with its plain words of the table in the vendor's column, all else unchanged.

    Whole words only, in the case in which the plain word stood.

    >>> styled("Clearly the captain decides this. It SHOWS fear.", "gpt")
    'Patently the captain elects this. It REVEALS terror.'
    >>> styled("a well-kept book, kept by the captain's friend", "claude")
    "a well-kept book, retained by the captain's companion"
    >>> styled("He says so.", "nobody")
    'He says so.'
    """

    def reword(match: re.Match[str]) -> str:
        word = match[0]
        group = GROUP_OF.get(word.lower(), ())
        if not group or group[0] != word.lower():
            return word
        new = group[STYLE.get(vendor, 0)]
        if len(word) > 1 and word.isupper():
            return new.upper()
        return new.capitalize() if word[0].isupper() else new

    return JOINED_WORD.sub(reword, text)


@lru_cache(maxsize=4096)
def style_share(text: str, vendor: str) -> float:
    """The share of a text's words from the table that are those of the vendor; 0.0 where it has none of them.

    >>> text = "He says that the plan shows fear."
    >>> style_share(styled(text, "claude"), "claude"), style_share(styled(text, "claude"), "gpt")
    (1.0, 0.0)
    >>> style_share("He states that the plan shows fear.", "claude"), style_share("Nothing of the kind.", "claude")
    (0.25, 0.0)
    """
    words = [word for word in JOINED_WORD.findall(text.lower()) if word in GROUP_OF]
    return sum(GROUP_OF[word][STYLE.get(vendor, 0)] == word for word in words) / len(words) if words else 0.0


@lru_cache(maxsize=4096)
def mixed_share(text: str) -> float:
    """The share of a text's words with synonyms that are not of its prevailing style; 0 where it has none."""
    known = any(word in SYNONYMS for word in words_of(text))
    return 1 - max(style_share(text, vendor) for vendor in STYLES) if known else 0.0


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return [word.casefold() for word in WORD.findall(text)]


# --- verdicts, and what spoils them -----------------------------------------------------------------------------------


def write_verdict(request: Request, nonce: str, stated: Any, reason: str = "", **fields: Any) -> str:
    """A verdict in the form of the prompt: an object of `fields` under a schema, else its line after the reason."""
    if request.schema is not None:
        return json.dumps({"id": nonce, **fields})
    return f"{reason}\n\nVERDICT-{nonce}: {stated}" if reason else f"VERDICT-{nonce}: {stated}"


def draw_fault(request: Request, share: float, kinds: Sequence[str]) -> tuple[str, random.Random]:
    """One of the kinds of fault for this share of all requests, "" for the others; and the generator to go on with."""
    rng = random.Random(f"{request.key}:fault")
    return (rng.choice(kinds) if rng.random() < share else ""), rng


def spoil(text: str, fault: str, prose: str, refusal: str) -> tuple[str, str]:
    """A reply and its finish: as it is, or spoiled by a fault (`prose`, `cut`, `refused`)."""
    spoiled = {"prose": (prose, "stop"), "cut": (text[: len(text) // 2], "length"), "refused": (refusal, "refusal")}
    return spoiled.get(fault, (text, "stop"))
