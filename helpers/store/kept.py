"""What was stored, held without its texts: these are read from the line in the store when somebody asks for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from helpers.store.records import StoreError, completion_of, decode, read
from helpers.types import Completion, Verdict

#: The columns of an index that hold what was read from a reply.
SAID = (
    *("parser", "reading", "outcome", "choice", "ranking", "choices", "scores", "number", "contradicts"),
    "probabilities",
)


#: The fields of a reply that are not held, and those of a verdict that are.
LATE = ("text", "raw", "request_id", "error")
_HELD = tuple(each.name for each in fields(Verdict) if each.name != "justification")


@dataclass(frozen=True)
class Said:
    """What was read from a reply: `reading` tells what it was read by and for, `verdict` comes without its reason.

    `parser` is its part that is the same for all replies of a provider: the version of the parser, and its code.
    """

    reading: bytes
    parser: str
    outcome: str
    verdict: Verdict | None


def columns_of(said: Said) -> tuple[Any, ...]:
    """What was read, as the columns SAID hold it: lists and numbers by label as JSON, what is empty as None."""
    head, found = (said.parser, said.reading, said.outcome), said.verdict
    if found is None:
        return (*head, *(None for _ in SAID[3:]))
    told = [json.dumps(each) if each else None for each in (found.ranking, found.choices, found.scores)]
    odds = json.dumps(found.probabilities) if found.probabilities else None
    return (*head, found.choice, *told, found.number, found.contradicts, odds)


def said_in(parser: str | None, reading: bytes, outcome: str, *columns: Any) -> Said | None:
    """What the columns SAID hold of one reply; None where nothing was read from it."""
    if parser is None:
        return None
    *_, number, _, _ = columns
    made = _verdict.__wrapped__ if number == 0 else _verdict  # a cache takes 0.0 and -0.0 for one
    return Said(reading, parser, outcome, made(*columns))


@lru_cache(maxsize=4096, typed=True)
def _verdict(
    choice: str | None,
    ranking: str | None,
    choices: str | None,
    scores: str | None,
    number: float | None,
    contradicts: bool | None,
    odds: str | None,
) -> Verdict | None:
    """The verdict that these columns hold, one for all replies that say the same: many do, and nobody changes it."""
    if contradicts is None:
        return None
    lists = {name: tuple(_json(each)) for name, each in (("ranking", ranking), ("choices", choices))}
    numbers = {name: dict(_json(each)) for name, each in (("scores", scores), ("probabilities", odds))}
    return Verdict(**lists, **numbers, choice=choice, number=number, contradicts=contradicts)


def _json(text: str | None) -> Any:
    return json.loads(text) if text else ()


def _late(name: str) -> Any:
    """A field that is fetched whenever it is asked for, unless it was given."""

    def get(self: Any) -> Any:
        held = vars(self)
        return held[name] if name in held else self.fetched(name)

    def put(self: Any, value: Any) -> None:
        vars(self)[name] = value

    return property(get, put)


def _same(self: Any, other: object) -> bool:
    """Equal to whatever of its kind has the same fields, held or not."""
    kind = type(self).__mro__[1]
    return isinstance(other, kind) and all(
        getattr(self, each.name) == getattr(other, each.name) for each in fields(kind)
    )


class Kept(Completion):
    """A stored reply; its texts are not in memory. `said` is what the index knows was read from it, None if nothing."""

    text, raw, request_id, error = map(_late, LATE)
    __eq__, __hash__ = _same, Completion.__hash__

    @classmethod
    def at(cls, path: Path, offset: int, length: int, said: Said | None, held: Mapping[str, Any]) -> Kept:
        """The reply in the line of a store file that begins at `offset`; `held` are all fields but the late ones."""
        reply = object.__new__(cls)
        # One by one: all of them then share one table of names, which `vars` would end.
        for name, value in {**held, "_path": path, "_offset": offset, "_length": length, "said": said}.items():
            object.__setattr__(reply, name, value)
        return reply

    def whole(self) -> Completion:
        """The reply with its texts, read from its line; StoreError where it is not in the file any more.

        A reply is told by its key and its time: a file that was replaced may hold another one to the same request.
        """
        if not hasattr(self, "_path"):  # made by `replace`, which fetched and holds every field
            return self
        path, offset, length = self._path, self._offset, self._length
        try:
            with path.open("rb") as file:
                file.seek(offset)
                record = decode(file.read(length)[:-1])
            if (record["key"], record["at"]) == (self.key, self.at):
                return completion_of(record)
        except (OSError, ValueError, KeyError, TypeError):
            pass
        # Somebody repaired the file meanwhile, and its lines have moved.
        found = read(path).get(self.key)
        if found is None or found.at != self.at:
            now = "is gone" if found is None else f"is another one by now, of {found.at} and not of {self.at}"
            raise StoreError(f"{path}: the reply of key {self.key} {now}; it was there when this run began")
        return found

    def fetched(self, name: str) -> Any:
        """A field that is not held."""
        return getattr(self.whole(), name)


def kept(completion: Completion, path: Path, offset: int, length: int) -> Kept:
    """A reply without its texts: they stand in the line of a store file that begins at `offset`."""
    held = {name: value for name, value in vars(completion).items() if name not in LATE}
    return Kept.at(path, offset, length, None, held)


class KeptVerdict(Verdict):
    """A verdict that the index holds; the judge's reason is read from the reply when it is asked for."""

    justification = _late("justification")
    __eq__, __hash__ = _same, Verdict.__hash__

    @classmethod
    def of(cls, verdict: Verdict, reason: Callable[[], str]) -> KeptVerdict:
        """A verdict with its reason to be read."""
        kept = object.__new__(cls)
        for name in _HELD:
            object.__setattr__(kept, name, getattr(verdict, name))
        object.__setattr__(kept, "_reason", reason)
        return kept

    def fetched(self, name: str) -> str:
        """The reason."""
        return self._reason()
