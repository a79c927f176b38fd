"""Pairs of programs with a flag each for being right: how many pairs of which kind there are, and their verdicts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.pair_rows import Item, as_frame, row_of
from helpers.datasets.places import one_file
from helpers.datasets.reading import number_or_nan, read_records, show
from helpers.types import Question

if TYPE_CHECKING:
    import pandas

CODE_FILES = ("llama-3.3-70b_gpt-4o_eval.jsonl",)
FORMAT = "pairs of programs (unique_id, problem, assistent_1_is_correct, assistent_2_is_correct)"
KINDS = {
    (True, True): "both_right",
    (False, False): "both_wrong",
    (False, True): "harmful",
    (True, False): "beneficial",
}
#: What three numbers of a game can stand for: the places of the two programs or whose they are, and a tie.
MEANINGS = ({"first", "second", "tie"}, {"own", "other", "tie"})
_NAME = re.compile(r"(.+)_([^_]+)_eval")


@dataclass(frozen=True)
class CodePairs:
    """`counts` of pairs by kind, and the pair frame of the harmful and beneficial ones."""

    counts: Mapping[str, int]
    frame: pandas.DataFrame = field(repr=False)


def load_code_pairs(
    source: str | Path,
    hub: Mapping[str, Any] | None = None,
    scores: Sequence[str] | None = None,
    experiment: str = "published",
) -> CodePairs:
    """The pairs of programs in a file named <judge>_<other>_eval.jsonl, in a folder with it, or behind the hub entry.

    Assistant 1 is the judge. `counts`: "both_right", "both_wrong", "harmful" (the judge's own is wrong, the other
    right), "beneficial" (the reverse), "restyled" (harmful with a restyled program of the judge), "unflagged" (a flag
    that is null). Game 1 shows the judge's program first, game 2 second; each has three numbers whose meaning the
    files do not tell: without `scores` every verdict is "unparsed". `scores` says what they stand for, in their order:
    "first", "second" (place shown) or "own", "other", and "tie". The largest is then the verdict, a tie the outcome
    "tie" without one; two equal largest are "unparsed". A problem is its own article.
    """
    if scores is not None and (len(scores) != 3 or set(scores) not in MEANINGS):
        raise ValueError(f"scores={list(scores)!r}: three words in their order, first, second, tie or own, other, tie")
    path = one_file(source, hub, "judgments", CODE_FILES)
    named = _NAME.fullmatch(path.stem)
    if not named:
        raise ValueError(f"{path}: the name does not tell who wrote what; expected <judge>_<other>_eval.jsonl")
    records = read_records(path)
    if not {"unique_id", "assistent_1_is_correct", "assistent_2_is_correct"} <= records.fields:
        raise records.unknown(FORMAT)
    counts = Counter[str]()

    def read(record: dict[str, Any]) -> list[dict[str, Any]]:
        id, flags = _id(record), tuple(_flag(record, number) for number in (1, 2))
        kind = KINDS.get(flags, "unflagged")
        counts[kind] += 1
        if kind not in ("harmful", "beneficial"):
            return []
        restyled = any(record.get(name) for name in record if name.startswith("assistent_1_answer_restyle"))
        counts["restyled"] += kind == "harmful" and restyled
        question = Question(id, "code", "", article=id)
        item = Item(question, named[1], named[2], "right" if flags[0] else "wrong")
        return [{**_row(item, record, game, scores), "experiment": experiment} for game in (1, 2)]

    rows = [row for found in records.map(read, "unique_id") for row in found]
    records.refuse_duplicates([_id(record) for record in records.rows], "problems")
    frame = as_frame(rows, Counter())
    return CodePairs({name: n for name, n in counts.items() if n}, frame)


def _row(item: Item, record: Mapping[str, Any], game: int, scores: Sequence[str] | None) -> dict[str, Any]:
    own_first = game == 1
    given = record.get(f"game_{game}_spb_score")
    if scores is None or given is None:
        return row_of(item, own_first, None, math.nan)
    name = f"game_{game}_spb_score"
    if not isinstance(given, list) or len(given) != len(scores):
        raise ValueError(f"field {name!r} holds {show(given)}, expected a list of three numbers")
    told = dict(zip(scores, (number_or_nan(each, f"field {name!r}") for each in given), strict=True))
    places = {"own": "first", "other": "second"} if own_first else {"own": "second", "other": "first"}
    if any(math.isnan(value) for value in told.values()):
        return row_of(item, own_first, None, math.nan)
    by_place = {places.get(word, word): value for word, value in told.items()}
    top = max(by_place.values())
    leaders = [word for word, value in by_place.items() if value == top]
    verdict = {"first": "1", "second": "2"}.get(leaders[0]) if len(leaders) == 1 else None
    both = by_place["first"] + by_place["second"]
    row = row_of(item, own_first, verdict, by_place["first"] / both if both > 0 else math.nan)
    return row | {"outcome": "tie"} if leaders == ["tie"] else row


def _id(record: Mapping[str, Any]) -> str:
    id = record.get("unique_id")
    if isinstance(id, bool) or not isinstance(id, int | str) or id == "":
        raise ValueError(f"field 'unique_id' holds {show(id)}, expected a number or a text")
    return str(id)


def _flag(record: Mapping[str, Any], number: int) -> bool | None:
    flag = record.get(f"assistent_{number}_is_correct")
    if flag is not None and not isinstance(flag, bool):
        raise ValueError(f"field 'assistent_{number}_is_correct' holds {show(flag)}, expected true or false")
    return flag
