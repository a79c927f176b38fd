"""What the cells of a tidy file say, each different combination once. A name is never a verdict."""

from __future__ import annotations

import json
import math
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..datasets import normalised
from ..json_text import no_duplicates
from ..verdicts.forms import NUMBER
from . import reading
from .reading import Raw

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


class Parsed(NamedTuple):
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
    names = tuple(reading.name_of(name, "a candidate's name") for name in listed(text))
    if len(names) > reading.MOST_CANDIDATES:
        raise ValueError(f"{len(names)} candidates; at most {reading.MOST_CANDIDATES}")
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


def verdict_of(text: str | None, shown: Sequence[str]) -> Parsed:
    """What a cell of `verdict` says of the candidates, in shown order; what says nothing known is a ValueError.

    A text that can be read in two ways, a name that is also a label, is one too.

    >>> verdict_of("[[A]]", ("x", "y")), verdict_of("y", ("x", "y")).value, verdict_of("7.5", ("x",)).value
    (Parsed(style='label', value='A>B', outcome='ok'), 'B>A', (7.5,))
    >>> verdict_of("z > x > y", ("x", "y", "z")).value, verdict_of(None, ("x", "y")).outcome
    ((2, 0, 1), 'unparsed')
    >>> verdict_of("A", ("B", "A"))
    Traceback (most recent call last):
    ValueError: verdict 'A' is a label (A>B) and the name of a candidate (B>A); write the label as A>B or B>A
    """
    if text is None:
        return Parsed("", None, "unparsed")
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
        return Parsed("", None, outcome)
    if not found:
        bare = BARE if NUMBER.fullmatch(text) else ""
        raise ValueError(f"verdict {text[:60]!r} on {' | '.join(shown)[:120]} is none{bare}; {valid(len(shown))}")
    if len(set(found.values())) > 1 or (outcome and "name" in found):
        values = " and ".join(f"{words} ({value})" for words, value in (
            ("a label", found.get("label")), ("the name of a candidate", found.get("name")),
            ("a word for none", outcome)) if value)  # fmt: skip
        raise ValueError(f"verdict {text[:60]!r} is {values}; write the label as A>B or B>A")
    return Parsed("label", next(iter(found.values())))


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


def _number(text: str) -> Parsed:
    if NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return Parsed("scores", (float(text),))
    if outcome := UNREAD.get(text.lower()):
        return Parsed("", None, outcome)
    raise ValueError(
        f"verdict {text[:60]!r} on one candidate is no number; {valid(1)}. Several candidates stand with | between them"
    )


def _structured(value: list | dict, text: str, shown: Sequence[str]) -> Parsed:
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
    return Parsed("scores", tuple(map(float, numbers)))


def _ranking(parts: Sequence[str], text: str, shown: Sequence[str]) -> Parsed:
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
        return Parsed("", None, "invalid_ranking")
    if len(shown) == 2:
        return Parsed("label", "A>B" if places[0] == 0 else "B>A")
    return Parsed("ranking", places)


ORDERS = ("shown", "reversed", "unknown")


class Row(NamedTuple):
    """What a row says of its candidates, in shown order; a value that it does not have is None."""

    shown: tuple[str, ...]
    ordered: bool
    verdict: Parsed
    gold: Parsed
    vendors: tuple[str | None, ...]
    lengths: tuple[float | None, ...]
    named: tuple[str | None, ...]


@dataclass(frozen=True)
class Cells:
    """What the rows of a tidy file say: the different `rows`, and for each row of the file which of them it is."""

    raw: Raw
    style: str
    rows: list[Row]
    at: np.ndarray


def cells(raw: Raw) -> Cells:
    """The rows of a file of one style; the first cell that says nothing, and a mix of styles, are ValueErrors."""
    names = ("candidates", "order", "verdict", "gold", "candidate_vendors", "length", "named")
    rows, at = read_each(raw, names, _row)
    style = _one_style(raw, rows, at)
    sizes = np.array([len(row.shown) for row in rows])[at]
    if style == "ranking" and (sizes != sizes[0]).any():
        other = int((sizes != sizes[0]).argmax())
        sizes_differ = f"{raw.place(0)} ranks {sizes[0]} candidates, {raw.place(other)} {sizes[other]}"
        raise ValueError(f"{sizes_differ}. Rankings of one file are of equally many: split it")
    return Cells(raw, style, rows, at)


def combined(codes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each different combination of codes, and the place of each row of the file in these."""
    at = np.zeros(len(codes[0]), dtype=np.int64)
    for code in codes:
        at = np.unique(at * (int(code.max()) + 2) + code + 1, return_inverse=True)[1]
    first = np.unique(at, return_index=True)[1]
    order = np.argsort(first)
    return first[order], np.argsort(order)[at]


def read_each(raw: Raw, names: Sequence[str], read: Callable[[dict[str, Any]], Any]) -> tuple[list[Any], np.ndarray]:
    """`read` applied to each different combination of cells of these columns; an error names the row.

    A cell that is empty, or whose column is not there, is None or missing. Also the place of each row in the results.
    """
    there = [name for name in names if name in raw.table]
    first, at = combined([raw.table[name].cat.codes.to_numpy(dtype=np.int64) for name in there])
    columns = [raw.table[name].iloc[first].astype(object) for name in there]
    values = []
    for number, cell in enumerate(zip(*(column.where(column.notna(), None) for column in columns), strict=True)):
        try:
            values.append(read(dict(zip(there, cell, strict=True))))
        except ValueError as error:
            count = int((at == number).sum())
            more = f" (and {count - 1:,} more rows)" if count > 1 else ""
            raise ValueError(f"{raw.place(int(first[number]))}{more}: {error}") from None
    return values, at


def _row(cell: dict[str, str | None]) -> Row:
    written = candidates_of(_needed(cell["candidates"], "candidates"))
    order = (cell.get("order") or "shown").lower()
    if order not in ORDERS:
        raise ValueError(f"order {order[:40]!r}; valid: {', '.join(ORDERS)}, or nothing (shown)")
    shown = written[::-1] if order == "reversed" else written

    def each(name: str, read: Callable[[str], Any]) -> tuple[Any, ...]:
        text = cell.get(name)
        parts = [""] * len(shown) if text is None else listed(text)
        if len(parts) != len(shown):
            raise ValueError(f"{name} {text[:60]!r} has {len(parts)} values for {len(shown)} candidates")
        # As written or turned: whichever order the names of the row have.
        return tuple(read(part) if part else None for part in (parts if written == shown else parts[::-1]))

    vendor = partial(reading.name_of, what="a vendor")
    made, named = (each(name, vendor) for name in ("candidate_vendors", "named"))
    verdict, gold = verdict_of(cell["verdict"], shown), _gold_of(cell.get("gold"), shown)
    return Row(shown, order != "unknown", verdict, gold, made, each("length", _length), named)


def _needed(text: str | None, name: str) -> str:
    if text is None:
        raise ValueError(f"{name} is empty")
    return text


def _gold_of(text: str | None, shown: tuple[str, ...]) -> Parsed:
    """What should have been said; of several candidates the name or letter of the best will do."""
    try:
        if len(shown) > 2 and text is not None and text in shown:
            return Parsed("ranking", (shown.index(text),))
        return verdict_of(text, shown)
    except ValueError as error:
        raise ValueError(f"gold: {error}") from None


def _length(text: str) -> float:
    """How long an answer is; what is no number from 0 is a ValueError."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"length {text[:40]!r}, expected numbers from 0 up")
    return value


def _one_style(raw: Raw, rows: list[Row], at: np.ndarray) -> str:
    """The one style of all verdicts that can be read."""
    first: dict[str, int] = {}
    for number, row in enumerate(rows):
        if row.verdict.style and row.verdict.style not in first:
            first[row.verdict.style] = int((at == number).argmax())
    if not first:  # that no reply had a verdict is a result; of which style it is, the candidates tell
        return {1: "scores", 2: "label"}.get(max(len(row.shown) for row in rows), "ranking")
    if len(first) > 1:
        styles = "; ".join(
            f"{raw.place(row)} holds {STYLES[style]} ({str(raw.table['verdict'].iloc[row])[:40]!r})"
            for style, row in first.items()
        )
        raise ValueError(f"{styles}. One file holds one style of verdicts: split it")
    return next(iter(first))


def labels(raw: Raw, name: str, instead: str | None) -> pd.Categorical:
    """A column of names, checked; `instead` of an empty cell, which is an error where that is None."""
    if name not in raw.table:
        return pd.Categorical([instead]).repeat(len(raw.table))

    def one(cell: dict[str, str | None]) -> str:
        if cell[name] is None and instead is not None:
            return instead
        return reading.name_of(_needed(cell[name], name), name)

    values, at = read_each(raw, [name], one)
    codes, categories = pd.factorize(np.array(values, dtype=object))
    return pd.Categorical.from_codes(codes[at], pd.Index(categories, dtype=object))


def vendors(cells: Cells) -> dict[str, str]:
    """The vendor of each candidate; a candidate with two is a ValueError."""
    vendor_by_name: dict[str, str] = {}
    for number, row in enumerate(cells.rows):
        for name, made in zip(row.shown, row.vendors, strict=True):
            if made is not None and vendor_by_name.setdefault(name, made) != made:
                twice = f"candidate {name!r} is of the vendor {made!r}, and of {vendor_by_name[name]!r} before"
                raise ValueError(f"{cells.raw.place(int((cells.at == number).argmax()))}: {twice}")
    return vendor_by_name


def judge_vendors(raw: Raw) -> pd.Categorical:
    """The vendor of each row's judge ("": told nowhere); a judge with two is a ValueError."""
    judges, made = labels(raw, "judge", None), labels(raw, "judge_vendor", "")
    vendor_by_judge: dict[str, str] = {}
    for row in combined([judges.codes.astype(np.int64), made.codes.astype(np.int64)])[0]:
        judge, vendor = judges[row], made[row]
        if vendor and vendor_by_judge.setdefault(judge, vendor) != vendor:
            differs = f"judge {judge!r} is of the vendor {vendor!r}, and of {vendor_by_judge[judge]!r} before"
            raise ValueError(f"{raw.place(int(row))}: {differs}")
    # What one row tells of a judge holds for those that leave it empty.
    return pd.Categorical(judges.map(lambda judge: vendor_by_judge.get(judge, "")))


def repeats(raw: Raw) -> np.ndarray:
    """Which asking each row is, from 0; anything but a whole number from 0 is a ValueError."""
    if "repeat" not in raw.table:
        return np.zeros(len(raw.table), dtype=np.int64)

    def one(cell: dict[str, str | None]) -> int:
        text = cell["repeat"]
        if text is None or not text.isascii() or not text.isdigit() or len(text) > 6:
            raise ValueError(f"repeat {text!r}, expected a whole number from 0")
        return int(text)

    values, at = read_each(raw, ["repeat"], one)
    return np.array(values, dtype=np.int64)[at]


def once(place: Callable[[int], str], key: list[np.ndarray], what: str) -> None:
    """Every row stands for another asking; two rows for one are a ValueError that names the places of both."""
    _, at = combined(key)
    counts = np.bincount(at)
    if counts.max() > 1:
        twice = counts > 1
        rows = np.flatnonzero(at == at[twice[at].argmax()])
        more = f" ({int(twice.sum()):,} such)" if twice.sum() > 1 else ""
        repeated = f"{place(int(rows[1]))}: {what} was judged before, {place(int(rows[0]))}{more}"
        raise ValueError(f"{repeated}; number repeated askings in a column 'repeat' (0, 1, ...)")
