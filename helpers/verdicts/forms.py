"""What a judge states, in each form of verdict: which words are one, and which only look like it."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Mapping, Sequence
from itertools import combinations

from helpers.types import PAIRWISE, Verdict

#: Bold, code marks and blanks around a verdict carry no meaning; `~~`, `>`, quotes and brackets may, so they stay.
DECORATION = string.whitespace + "\u00a0\u202f*`"

NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
#: How a judge says in the place of a verdict that it takes no option.
NO_OPTION = re.compile(
    r"(?:none|no option|no choice|neither)(?: of (?:them|these|the options|the above))?", re.IGNORECASE
)
#: The longest verdict, in characters: labels are never searched for in a whole reply.
LONGEST = 300
#: What stands between two labels that are named together.
BETWEEN = r"(?:\s*[,;/&+]\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+)"

Reading = tuple[str, Verdict | None]
UNPARSED: Reading = ("unparsed", None)


def leading(text: str, form: str, labels: Sequence[str]) -> object:
    """The verdict that `text` begins with, complete or not; None for words that state none (to compare mentions)."""
    text = re.sub("[*`]", "", text)
    if form == "listwise":
        found = re.match(r"\w+(?:\s*>\s*\w+)+", text)
        words = re.findall(r"\w+", found[0]) if found else []
        return words if set(words) & set(labels) else None
    if form == "pairwise":
        found = re.match(r"([AB])\s*(>>|>|=)\s*([AB])(?!\w)", text)
        return found and found.groups()
    if form == "number":
        found = NUMBER.match(text)
        return found and float(found[0])
    if form == "several":
        first = re.match(rf"{_label(labels)}(?:{BETWEEN}{_label(labels)})*|{NO_OPTION.pattern}", text)
        return first and frozenset(named(first[0], labels) or ())
    found = re.match(_label(labels), text)
    return found and found[0]


def _label(labels: Sequence[str]) -> str:
    """The pattern of one label; of labels that begin with one another the longest is meant."""
    return rf"(?:{'|'.join(map(re.escape, sorted(labels, key=len, reverse=True)))})(?!\w)"


def named(text: str, labels: Sequence[str]) -> list[str] | None:
    """The labels that a text names and nothing else, in its order: [] where it says that there are none, else None.

    >>> named("A, C and D", "ABCD"), named("none of these", "ABCD"), named("A, because", "ABCD")
    (['A', 'C', 'D'], [], None)
    """
    if NO_OPTION.fullmatch(text.strip()):
        return []
    parts = [part.strip(DECORATION) for part in re.split(BETWEEN, text.strip())]
    return parts if set(parts) <= set(labels) else None


def scores_of(value: str) -> dict[str, float | None]:
    """Label -> score of `A=7 B=8`; also with colons, commas and blanks. None where it is no number or given twice."""
    plain = " ".join(value.replace(":", "=").replace(",", " ").replace(";", " ").split())
    scores: dict[str, float | None] = {}
    for pair in plain.replace(" =", "=").replace("= ", "=").split():
        label, _, score = pair.partition("=")
        number = float(score) if NUMBER.fullmatch(score) else None
        scores[label] = number if scores.get(label, number) == number else None
    return scores


def listwise(ranking: object, scores: Mapping[str, object], reason: str, labels: Sequence[str]) -> Reading:
    """A ranking of all labels, each exactly once, and the scores that can be read."""
    named = [label for label in ranking if isinstance(label, str)] if isinstance(ranking, list) else []
    numbers = {label: score for label, score in scores.items() if isinstance(score, float)}
    if sorted(named) != sorted(labels) or len(named) < len(ranking) or set(numbers) - set(labels):
        return "invalid_ranking", None
    kept = {label: numbers[label] for label in labels if 0 <= numbers.get(label, math.nan) <= 10}
    scored = [label for label in named if label in kept]
    contradicts = any(kept[worse] > kept[better] for better, worse in combinations(scored, 2))
    return "ok", Verdict(tuple(named), kept, justification=shown(reason), contradicts=contradicts)


def single(form: str, stated: object, reason: str, labels: Sequence[str]) -> Reading:
    """A verdict that is one label, one of the pairwise verdicts or one number; else why it is none."""
    if isinstance(stated, str) and len(stated) > LONGEST:
        return UNPARSED
    if form == "number" and isinstance(stated, float) and math.isfinite(stated):
        return "ok", Verdict(number=stated, justification=shown(reason))
    if form == "pairwise" and isinstance(stated, str):
        stated = re.sub(r"(?<=[AB])\s*(>>|>|=)\s*(?=[AB])", r"\1", stated)
    if isinstance(stated, str) and stated in {"pairwise": PAIRWISE, "choice": labels, "number": ()}[form]:
        return "ok", Verdict(choice=stated, justification=shown(reason))
    if form == "choice" and isinstance(stated, str):
        together = named(stated, labels)
        if together is not None and len(set(together)) != 1:
            return ("two_options" if together else "no_option"), None
    return UNPARSED


def several(stated: object, reason: str, labels: Sequence[str]) -> Reading:
    """A verdict that names any number of labels, each counted once; one that was not shown makes it unreadable."""
    if not isinstance(stated, list) or not all(isinstance(label, str) and label in labels for label in stated):
        return UNPARSED
    return "ok", Verdict(choices=tuple(dict.fromkeys(stated)), justification=shown(reason))


def shown(reason: str) -> str:
    """A reason as every file and terminal can hold it."""
    # JSON may smuggle in half a surrogate pair, which no file and no terminal can hold.
    return reason.strip().encode("utf-8", "replace").decode()
