"""What a judge states, in each form of verdict: which words are one, and which only look like it."""

from __future__ import annotations

import math
import re
import string
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import accumulate, combinations
from typing import Any

from ..types import PAIRWISE, Verdict
from .wrappers import COLONS, DECORATION, INVISIBLE, PAIRS, bare_label

NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
#: How a judge says in the place of a verdict that it takes no option.
NO_OPTION = re.compile(
    r"(?:none|no option|no choice|neither)(?: of (?:them|these|the options|the above))?", re.IGNORECASE
)
#: The longest verdict, in characters: labels are never searched for in a whole reply.
LONGEST = 300
#: What is looked past where a verdict stands in the middle of a text, to see whether it is another one.
PASSED = re.compile(f"[{re.escape('*`' + ''.join(PAIRS) + INVISIBLE)}]+")
MARGIN = DECORATION + COLONS
#: What stands between two labels that are named together.
BETWEEN = r"(?:\s*[,;/&+]\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+)"

Reading = tuple[str, Verdict | None]
UNPARSED: Reading = ("unparsed", None)


def leading(texts: Iterable[str], form: str, labels: Sequence[str]) -> set[object]:
    """The different verdicts that these texts begin with, complete or not, to compare them; most words state none."""
    bare = (PASSED.sub("", text).replace("&gt;", ">").lstrip(MARGIN) for text in set(texts))
    stated = {found["stated"] for found in map(_beginning(form, tuple(labels)).match, bare) if found}
    return {_meaning(each, form, labels) for each in stated} - {None}


def _meaning(stated: str, form: str, labels: Sequence[str]) -> object:
    if form == "pairwise":
        return re.sub(r"\s", "", stated)
    if form == "listwise":
        words = tuple(re.findall(r"\w+", stated))
        return words if set(words) & set(labels) else None
    if form == "several":
        return frozenset(named(stated, labels, set()) or ())
    return float(stated) if form == "number" else stated


@lru_cache
def _beginning(form: str, labels: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern of a verdict of a form; of labels that begin with one another the longest is meant."""
    label = rf"(?:{'|'.join(map(re.escape, sorted(labels, key=len, reverse=True)))})(?!\w)"
    verdicts = {
        "listwise": r"\w+(?:\s*>\s*\w+)+",
        "pairwise": r"[AB]\s*(?:>>|>|=)\s*[AB](?!\w)",
        "number": NUMBER.pattern,
        "several": rf"{label}(?:{BETWEEN}{label})*|{NO_OPTION.pattern}",
        "choice": label,
    }
    return re.compile(rf"(?:\W*(?i:option)\s+)?+(?P<stated>{verdicts[form]})")


def named(text: str, labels: Sequence[str], kinds: set[str]) -> list[str] | None:
    """The labels that a text names and nothing else, in its order: [] where it says that there are none, else None.

    >>> named("A, C and (D)", "ABCD", set()), named("none of these", "ABCD", set()), named("A, because", "ABCD", set())
    (['A', 'C', 'D'], [], None)
    """
    if NO_OPTION.fullmatch(text.strip()):
        return []
    parts = [bare_label(part, labels, kinds) for part in re.split(BETWEEN, text.strip())]
    return parts if set(parts) <= set(labels) else None


def scores_of(value: str) -> dict[str, float | None]:
    """Label -> score of `A=7 B=8`; also with colons, commas and blanks. None where it is no number or given twice."""
    scores: dict[str, float | None] = {}
    for pair in re.sub(r"\s*[:=]\s*", "=", re.sub("[,;]", " ", value)).split():
        label, _, score = pair.partition("=")
        number = float(score) if NUMBER.fullmatch(score) else None
        scores[label] = number if scores.get(label, number) == number else None
    return scores


def value_of(stated: str, form: str, labels: Sequence[str], kinds: set[str]) -> object:
    """What the words of a verdict line stand for, as a structured reply would have it."""
    if form == "listwise":
        return [label.strip(DECORATION) for label in stated.replace("&gt;", ">").split(">")]
    if form == "several":
        return named(stated, labels, kinds)
    return (float(stated) if NUMBER.fullmatch(stated) else None) if form == "number" else stated


def decide(
    form: str, stated: object, scores: Mapping[str, object], reason: str, labels: Sequence[str], kinds: set[str]
) -> Reading:
    """The verdict that a judge stated, as a list, a text or a float, with its scores and its reason; else why none.

    A ranking names all labels, each exactly once; several are counted once each.
    """
    # JSON may smuggle in half a surrogate pair, which no file and no terminal can hold.
    shown = partial(Verdict, justification=reason.strip().encode("utf-8", "replace").decode())
    if form == "number":
        return ("ok", shown(number=stated)) if isinstance(stated, float) and math.isfinite(stated) else UNPARSED
    if form in ("pairwise", "choice"):
        outcome, choice = _choice(form, stated, labels, kinds)
        return outcome, shown(choice=choice) if choice else None
    words = stated if isinstance(stated, list) else [None]
    if not all(isinstance(each, str) and len(each) <= LONGEST for each in words):
        return ("invalid_ranking", None) if form == "listwise" else UNPARSED
    chosen = tuple(bare_label(label, labels, kinds) for label in words)
    if form == "several":
        return ("ok", shown(choices=tuple(dict.fromkeys(chosen)))) if set(chosen) <= set(labels) else UNPARSED
    numbers = {label: score for label, score in scores.items() if isinstance(score, float)}
    if sorted(chosen) != sorted(labels) or set(numbers) - set(labels):
        return "invalid_ranking", None
    kept = {label: numbers[label] for label in labels if 0 <= numbers.get(label, math.nan) <= 10}
    scored = [label for label in chosen if label in kept]
    contradicts = any(kept[worse] > kept[better] for better, worse in combinations(scored, 2))
    return "ok", shown(ranking=chosen, scores=kept, contradicts=contradicts)


def _choice(form: str, stated: object, labels: Sequence[str], kinds: set[str]) -> tuple[str, str | None]:
    """The one label, or pairwise verdict, that is stated; else the outcome."""
    if not isinstance(stated, str) or len(stated) > LONGEST:
        return UNPARSED[0], None
    valid = PAIRWISE if form == "pairwise" else labels
    choice = bare_label(stated, valid, kinds)
    if form == "pairwise":
        choice = re.sub(r"(?<=[AB])\s*(>>|>|=)\s*(?=[AB])", lambda match: match[1], choice)
    if choice in valid:
        return "ok", choice
    together = named(stated, labels, kinds) if form == "choice" else None
    if together is None or len(set(together)) == 1:
        return UNPARSED[0], None
    return ("two_options" if together else "no_option"), None


#: What may stand in one token with a label, in text and in JSON.
TOKEN_MARGIN = string.whitespace + "\"':,.}])*`"
#: So many characters before a place tell it from others; so many places are looked at; sums of chances are as exact.
BEFORE, PLACES, ROUNDING = 16, 8, 1e-6
#: One token of a reply and the log-probability of each alternative.
Token = tuple[str, Mapping[str, float]]


def weigh(tokens: Sequence[Token], text: str, at: int, labels: Sequence[str]) -> dict[str, Any]:
    """The fields of a Verdict that say how probable each label was where one begins in a text; empty where none can.

    Blanks, quotes and brackets around a label belong to its token. Of a label in several tokens the chances multiply,
    after the first token those of what goes on as a label; labels that part behind another beginning than the one
    written have a share together. A label that is not listed has the share 0 and at most that of the last one listed.

    >>> told = [("A", {"A": math.log(0.5), "B": math.log(0.3)}), (">", {">": math.log(0.8), "=": math.log(0.2)})]
    >>> found = weigh([*told, ("B", {"B": 0.0})], "A>B", 0, ["A>B", "A=B", "B>A"])
    >>> {label: round(share, 4) for label, share in found["probabilities"].items()}, round(found["label_mass"], 4)
    ({'A>B': 0.5, 'A=B': 0.125, 'B>A': 0.375}, 0.8)
    """
    joined, ends = "".join(token for token, _ in tokens), [*accumulate(len(token) for token, _ in tokens)]
    context = text[max(0, at - BEFORE) :]  # tokens may hold more than the text at both ends, or the label alone
    if context not in joined and joined.strip() != text[at:].strip():
        return {}
    spot = joined.rfind(context) + min(at, BEFORE) if context in joined else len(joined) - len(joined.lstrip())
    first = bisect_right(ends, spot)
    lead = tokens[first][0][: spot - (ends[first - 1] if first else 0)]
    found, done, weight, unlisted = defaultdict[str, float](float), "", 1.0, 0.0

    def begun(piece: str) -> list[str]:
        return [piece] if piece in labels else [label for label in labels if piece and label.startswith(piece)]

    for token, alternatives in tokens[first:]:
        chances = {token: 0.0} | {other: math.exp(min(0.0, logprob)) for other, logprob in alternatives.items()}
        pieces = {other: done + other.removeprefix(lead).strip(TOKEN_MARGIN) for other in chances}
        here, path = defaultdict[str, float](float), pieces[token]
        if not done:
            others = [chance for other, chance in chances.items() if other != token and chance > 0]
            unlisted = min([*others, max(0.0, 1 - sum(chances.values())) + ROUNDING])
        for other, piece in pieces.items():
            if begun(piece) and (piece != done or piece == path):
                here[piece] += chances[other]
        # What goes on as no label does is left out: of other beginnings nobody sees how much that is.
        part = weight / (sum(here.values()) or 1.0) if done else 1.0
        for piece, chance in here.items():
            found[piece] += part * chance
        if len(begun(path)) < 2:
            break
        done, weight = path, found.pop(path)
    else:
        found[done] += weight
    total, named = sum(found.values()), {piece: begun(piece) for piece, mass in found.items() if mass > 0}
    if not begun(path) or not total > 0:
        return {}
    apart = [label for label in labels if not any(label in each and len(each) > 1 for each in named.values())]
    shares = dict.fromkeys(apart, 0.0)
    for piece, several in named.items():
        name = several[0] if len(several) == 1 else piece
        shares[name] = shares.get(name, 0.0) + found[piece] / total
    return {"probabilities": shares, "label_mass": min(1.0, total), "unlisted": unlisted / total}
