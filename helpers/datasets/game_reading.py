"""What the loaders of published pairs share: records with the fields needed, and a stored verdict as a game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from helpers.datasets.game_rows import EVEN, FIRST, ORDERS, SECOND, Game
from helpers.datasets.questions import UNKNOWN
from helpers.datasets.reading import Records, read_records, show, text_field

#: A verdict with one of two answers as A, and the same verdict with the other one as A.
TURNED = {FIRST: SECOND, EVEN: EVEN, SECOND: FIRST}


def records_of(source: str | Path, needed: set[str], what: str) -> tuple[Records, str]:
    """The records of a file that has the fields needed, and how titles name the file."""
    path = Path(source).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; expected {what} ({', '.join(sorted(needed))})")
    records = read_records(path)
    if not needed <= records.fields:
        raise records.unknown(f"{what}: {', '.join(sorted(needed))}")
    return records, path.stem


def flat(records: Records, read: Callable[[dict[str, Any]], Any], name: str) -> list[Game]:
    """The games of all records; what a record lacks is told with its place, and so is a comparison that comes twice."""

    def whole(record: dict[str, Any]) -> list[Game]:
        try:
            games = list(read(record))
            for game in games:
                for name in (game.question_id, game.judge, game.candidate, game.baseline, game.category):
                    if not name.isprintable():
                        raise ValueError(f"the name {show(name)} holds signs that cannot be printed")
            return games
        except KeyError as error:
            raise ValueError(f"field {error} is missing; found {', '.join(record)}") from None

    found = records.map(whole, name)
    keys = [(g[0].source, g[0].question_id, g[0].judge, g[0].baseline, g[0].candidate) for g in found]
    records.refuse_duplicates(keys, "comparisons")
    return [game for games in found for game in games]


def blank_game(source: str, question_id: str, judge: str) -> Game:
    """A game of which no more is known yet."""
    return Game(source, question_id, UNKNOWN, judge, "", "", ORDERS[0], None, None)


def said(blank: Game, first: str, stored: Any, verdict: str | None) -> Game:
    """The game with its verdict as score; what gives none is kept as it was stored."""
    raw = stored if stored is None or isinstance(stored, str) else show(stored)
    return blank._replace(first=first, score=verdict or raw, verdict=verdict)


def word(stored: Any, words: Mapping[Any, str]) -> str | None:
    """The label that a stored verdict stands for; None for null, for an unknown one and for what is no word at all."""
    plain = isinstance(stored, str | int) and not isinstance(stored, bool)
    return words.get(stored) if plain else None


def id_of(record: Mapping[str, Any]) -> str:
    """The question's id as text, whether it is stored as a text or as a number."""
    value = record.get("question_id")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else text_field(record, "question_id")


def whole_number(record: Mapping[str, Any], name: str, least: int) -> int:
    """The whole number in field `name`; anything else, and one below `least`, is a ValueError."""
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"field {name!r} holds {show(value)}, expected a whole number from {least} up")
    return value
