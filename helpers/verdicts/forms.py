"""What a judge states, in each form of verdict: which words are one, and which only look like it."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Mapping, Sequence
from itertools import combinations

from helpers.types import PAIRWISE, Verdict
from helpers.verdicts.wrappers import DECORATION, INVISIBLE, PAIRS, bare_label

NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
#: How a judge says in the place of a verdict that it takes no option.
NO_OPTION = re.compile(
    r"(?:none|no option|no choice|neither)(?: of (?:them|these|the options|the above))?", re.IGNORECASE
)
#: The longest verdict, in characters: labels are never searched for in a whole reply.
LONGEST = 300
#: What is looked past where a verdict stands in the middle of a text, to see whether it is another one.
PASSED = str.maketrans("", "", "*`" + "".join(PAIRS) + INVISIBLE)
#: What stands between two labels that are named together.
BETWEEN = r"(?:\s*[,;/&+]\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+)"

Reading = tuple[str, Verdict | None]
UNPARSED: Reading = ("unparsed", None)


def leading(text: str, form: str, labels: Sequence[str]) -> object:
    """The verdict that `text` begins with, complete or not; None for words that state none (to compare mentions)."""
    text = re.sub(
        r"^\W*option\s+", "", text.translate(PASSED).replace("&gt;", ">").lstrip(DECORATION + ":\uff1a"), flags=re.I
    )
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


def named(text: str, labels: Sequence[str], kinds: set[str] | None = None) -> list[str] | None:
    """The labels that a text names and nothing else, in its order: [] where it says that there are none, else None.

    `kinds` gets the kinds of wrappers that were taken off.

    >>> named("A, C and (D)", "ABCD"), named("none of these", "ABCD"), named("A, because", "ABCD")
    (['A', 'C', 'D'], [], None)
    """
    if NO_OPTION.fullmatch(text.strip()):
        return []
    found: set[str] = set()
    parts = [_label_of(part, labels, found) for part in re.split(BETWEEN, text.strip())]
    if not set(parts) <= set(labels):
        return None
    if kinds is not None:
        kinds |= found
    return parts


def _label_of(text: str, labels: Sequence[str], kinds: set[str]) -> str:
    text = text.strip(DECORATION)
    return text if text in labels else bare_label(text, kinds)


def scores_of(value: str) -> dict[str, float | None]:
    """Label -> score of `A=7 B=8`; also with colons, commas and blanks. None where it is no number or given twice."""
    plain = " ".join(value.replace(":", "=").replace(",", " ").replace(";", " ").split())
    scores: dict[str, float | None] = {}
    for pair in plain.replace(" =", "=").replace("= ", "=").split():
        label, _, score = pair.partition("=")
        number = float(score) if NUMBER.fullmatch(score) else None
        scores[label] = number if scores.get(label, number) == number else None
    return scores


def listwise(
    ranking: object, scores: Mapping[str, object], reason: str, labels: Sequence[str], kinds: set[str]
) -> Reading:
    """A ranking of all labels, each exactly once, and the scores that can be read."""
    stated = ranking if isinstance(ranking, list) else []
    named = [_label_of(label, labels, kinds) for label in stated if isinstance(label, str) and len(label) <= LONGEST]
    numbers = {label: score for label, score in scores.items() if isinstance(score, float)}
    if sorted(named) != sorted(labels) or len(named) < len(stated) or set(numbers) - set(labels):
        return "invalid_ranking", None
    kept = {label: numbers[label] for label in labels if 0 <= numbers.get(label, math.nan) <= 10}
    scored = [label for label in named if label in kept]
    contradicts = any(kept[worse] > kept[better] for better, worse in combinations(scored, 2))
    return "ok", Verdict(tuple(named), kept, justification=shown(reason), contradicts=contradicts)


def single(form: str, stated: object, reason: str, labels: Sequence[str], kinds: set[str]) -> Reading:
    """A verdict that is one label, one of the pairwise verdicts or one number; else why it is none."""
    if form == "number":
        read = isinstance(stated, float) and math.isfinite(stated)
        return ("ok", Verdict(number=stated, justification=shown(reason))) if read else UNPARSED
    if not isinstance(stated, str) or len(stated) > LONGEST:
        return UNPARSED
    valid = PAIRWISE if form == "pairwise" else labels
    choice = _label_of(stated, valid, kinds)
    if form == "pairwise":
        choice = re.sub(r"(?<=[AB])\s*(>>|>|=)\s*(?=[AB])", r"\1", choice)
    if choice in valid:
        return "ok", Verdict(choice=choice, justification=shown(reason))
    together = named(stated, labels) if form == "choice" else None
    if together is not None and len(set(together)) != 1:
        return ("two_options" if together else "no_option"), None
    return UNPARSED


def several(stated: object, reason: str, labels: Sequence[str], kinds: set[str]) -> Reading:
    """A verdict that names any number of labels, each counted once; one that was not shown makes it unreadable."""
    if not isinstance(stated, list) or not all(isinstance(each, str) and len(each) <= LONGEST for each in stated):
        return UNPARSED
    choices = [_label_of(label, labels, kinds) for label in stated]
    if not set(choices) <= set(labels):
        return UNPARSED
    return "ok", Verdict(choices=tuple(dict.fromkeys(choices)), justification=shown(reason))


def shown(reason: str) -> str:
    """A reason as every file and terminal can hold it."""
    # JSON may smuggle in half a surrogate pair, which no file and no terminal can hold.
    return reason.strip().encode("utf-8", "replace").decode()


# --- how sure a judge was of its verdict ------------------------------------------------------------------------------

#: What may stand in one token with a label, in text and in JSON.
TOKEN_MARGIN = string.whitespace + "\"':,}"
#: One token of a reply and the log-probability of each alternative.
Token = tuple[str, Mapping[str, float]]


def probabilities(tokens: Sequence[Token], choice: str, labels: Sequence[str]) -> dict[str, float]:
    """How probable each label was at the last token that holds the choice; they sum to 1.

    Quotes and blanks around a label belong to its token. A label that is not among the alternatives which the provider
    told counts 0. Empty where no token is a label (one that was written in pieces, say).

    >>> import math
    >>> told = [("VERDICT", {}), (" 1", {" 1": math.log(0.6), " 2": math.log(0.2), "\\n": math.log(0.2)})]
    >>> {label: round(p, 6) for label, p in probabilities(told, "1", "12").items()}
    {'1': 0.75, '2': 0.25}
    """
    for token, alternatives in reversed(tokens):
        if token.strip(TOKEN_MARGIN) == choice:
            mass = dict.fromkeys(labels, 0.0)
            for other, logprob in alternatives.items():
                label = other.strip(TOKEN_MARGIN)
                if label in mass:
                    mass[label] += math.exp(min(0.0, logprob))
            total = sum(mass.values())
            return {label: p / total for label, p in mass.items()} if total else {}
    return {}
