"""What the cells of a tidy file say: who was shown, and which verdict it is. A name is never taken for a verdict."""

from __future__ import annotations

import json
import math
import string
from collections.abc import Sequence
from typing import Any, NamedTuple

from helpers.analyze import columns
from helpers.datasets import normalised
from helpers.json_text import no_duplicates
from helpers.verdicts.forms import NUMBER

#: Words for whoever is shown first, for nobody, and for whoever is shown second.
WORDS = {
    **dict.fromkeys(("a", "model_a", "first"), "A>B"),
    **dict.fromkeys(("c", "tie", "draw", "equal", "tie (bothbad)", "tie (both bad)", "both_bad", "bothbad"), "A=B"),
    **dict.fromkeys(("b", "model_b", "second"), "B>A"),
}
#: Words in the place of a verdict that could not be read, with the outcome that they are counted as.
UNREAD = {
    **dict.fromkeys(("error", "invalid", "unparsed", "unreadable", "null", "none", "nan", "n/a"), "unparsed"),
    **dict.fromkeys(("-", "na", "<na>", "#n/a", "#na", "-nan", "#value!", "#ref!", "#name?", "#div/0!"), "unparsed"),
    **{word: word for word in ("refused", "filtered", "truncated", "empty", "missing", "conflict", "invalid_ranking")},
}
STYLES = {
    "label": "a label of two answers",
    "ranking": "a ranking of all candidates",
    "scores": "a score a candidate",
}
VALID = {
    1: "a number",
    2: "A, B, tie (also A>>B, A>B, A=B, B>A, B>>A, C for a tie, first, second, model_a, model_b), a candidate's name, "
    "or a JSON list with a number each",
    3: "a ranking of all (x > y > z, or a JSON list), or a JSON list with a number each",
}
#: What stands in the place of a verdict that could not be read.
NOTHING = f"nothing, or {', '.join(UNREAD)}, where it could not be read"
BARE = " (a bare number does not tell who won)"


class Said(NamedTuple):
    """One cell of `verdict`: its style ("": unreadable), the value in shown terms, and the outcome.

    The value is a label, the places from best to worst, or a number a place (NaN: unreadable).
    """

    style: str
    value: Any
    outcome: str = "ok"


def candidates_of(text: str) -> tuple[str, ...]:
    """The names in a cell of `candidates`: a JSON list, or a text with | between them.

    >>> candidates_of('["a|b", "c"]'), candidates_of("gpt-5 | claude")
    (('a|b', 'c'), ('gpt-5', 'claude'))
    """
    names = tuple(columns.name_of(name, "a candidate's name") for name in listed(text))
    if len(names) > columns.MOST_CANDIDATES:
        raise ValueError(f"{len(names)} candidates; at most {columns.MOST_CANDIDATES}")
    # The same name twice in a pair is the same text twice: a control.
    if len(set(names)) < len(names) and len(names) != 2:
        raise ValueError(f"a candidate stands twice in {text[:80]!r}")
    return names


def listed(text: str) -> list[str]:
    """The parts of a cell that holds one for each candidate; "" where one is null."""
    if text.startswith("["):
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            values = None
        if isinstance(values, list):
            if any(isinstance(value, dict | list | bool) for value in values):
                raise ValueError(f"found {text[:80]!r}, expected a list of texts or numbers")
            return ["" if value is None else str(value) for value in values]
    return [part.strip() for part in text.split("|")]


def verdict_of(text: str | None, shown: Sequence[str]) -> Said:
    """What a cell of `verdict` says of the candidates, in shown order; what says nothing known is a ValueError.

    A text that can be read in two ways, a name that is also a label, is one too.

    >>> verdict_of("[[A]]", ("x", "y")), verdict_of("y", ("x", "y")).value, verdict_of("7.5", ("x",)).value
    (Said(style='label', value='A>B', outcome='ok'), 'B>A', (7.5,))
    >>> verdict_of("z > x > y", ("x", "y", "z")).value, verdict_of(None, ("x", "y")).outcome
    ((2, 0, 1), 'unparsed')
    >>> verdict_of("A", ("B", "A"))
    Traceback (most recent call last):
    ValueError: verdict 'A' is a label (A>B) and the name of a candidate (B>A); write the label as A>B or B>A
    """
    if text is None:
        return Said("", None, "unparsed")
    structured = _json(text)
    if structured is not None:
        return _structured(structured, text, shown)
    if len(shown) == 1:
        return _number(text)
    found = {}
    if len(shown) == 2:
        found = _labels(text, shown)
    elif ">" in text:
        return _ranking([part.strip() for part in text.split(">")], text, shown)
    if (outcome := UNREAD.get(text.lower())) and not found:
        return Said("", None, outcome)
    if not found:
        bare = BARE if NUMBER.fullmatch(text) else ""
        raise ValueError(f"verdict {text[:60]!r} on {' | '.join(shown)[:120]} is none{bare}; {valid(len(shown))}")
    if len(set(found.values())) > 1 or (outcome and "name" in found):
        told = " and ".join(f"{words} ({value})" for words, value in (
            ("a label", found.get("label")), ("the name of a candidate", found.get("name")),
            ("a word for none", outcome)) if value)  # fmt: skip
        raise ValueError(f"verdict {text[:60]!r} is {told}; write the label as A>B or B>A")
    return Said("label", next(iter(found.values())))


def valid(candidates: int) -> str:
    """What a verdict on so many candidates may be, in words."""
    return f"valid: {VALID[min(candidates, 3)]}; {NOTHING}"


def _labels(text: str, shown: Sequence[str]) -> dict[str, str]:
    """Each way in which a text is a verdict on two candidates."""
    found = {}
    label = normalised(text) or WORDS.get(text.strip("[]").strip().lower())
    if label:
        found["label"] = label
    if shown[0] != shown[1]:
        pair = [part.strip() for part in text.split(">")]
        if text in shown:
            found["name"] = ("A>B", "B>A")[list(shown).index(text)]
        elif len(pair) == 2 and sorted(pair) == sorted(shown):
            found["name"] = ("A>B", "B>A")[list(shown).index(pair[0])]
    return found


def _json(text: str) -> Any:
    if not text.startswith(("[", "{")):
        return None
    try:
        value = json.loads(text, object_pairs_hook=no_duplicates)
    except (json.JSONDecodeError, RecursionError):
        return None
    return value if isinstance(value, list | dict) else None


def _number(text: str) -> Said:
    if NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return Said("scores", (float(text),))
    if outcome := UNREAD.get(text.lower()):
        return Said("", None, outcome)
    raise ValueError(
        f"verdict {text[:60]!r} on one candidate is no number; {valid(1)}. Several candidates stand with | between them"
    )


def _structured(value: list | dict, text: str, shown: Sequence[str]) -> Said:
    if isinstance(value, dict):
        unknown = sorted(set(value) - set(shown))
        if unknown or len(set(shown)) < len(shown):
            raise ValueError(f"verdict {text[:60]!r} scores {', '.join(unknown)}; shown: {', '.join(shown)}")
        value = [value.get(name) for name in shown]
    elif value and all(isinstance(each, str) for each in value):
        return _ranking([each.strip() for each in value], text, shown)
    numbers = [math.nan if each is None else each for each in value]
    if any(isinstance(each, bool) or not isinstance(each, int | float) or math.isinf(each) for each in numbers):
        raise ValueError(f"verdict {text[:60]!r} holds neither names alone nor numbers alone; {valid(len(shown))}")
    if len(numbers) != len(shown):
        raise ValueError(f"verdict {text[:60]!r} has {len(numbers)} scores for {len(shown)} candidates")
    if sorted(str(each) for each in numbers) == sorted(shown):
        raise ValueError(f"verdict {text[:60]!r} may be scores or a ranking of names that are numbers; rename them")
    return Said("scores", tuple(map(float, numbers)))


def _ranking(parts: Sequence[str], text: str, shown: Sequence[str]) -> Said:
    """Places from best to worst; one left out or named twice is the judge's fault and counted as invalid_ranking."""
    letters = list(string.ascii_uppercase[: len(shown)])
    ways = {}
    for what, names in (("names", list(shown)), ("labels", letters)):
        if set(parts) <= set(names):
            ways[what] = tuple(names.index(part) for part in parts)
    if not ways:
        odd = next((part for part in parts if part not in shown), text)
        raise ValueError(f"verdict {text[:60]!r} ranks {odd[:40]!r}, which was not shown; shown: {', '.join(shown)}")
    if len(set(ways.values())) > 1:
        raise ValueError(f"verdict {text[:60]!r} is a ranking of labels and one of names, and they differ")
    places = next(iter(ways.values()))
    if sorted(places) != list(range(len(shown))):
        return Said("", None, "invalid_ranking")
    if len(shown) == 2:
        return Said("label", "A>B" if places[0] == 0 else "B>A")
    return Said("ranking", places)
