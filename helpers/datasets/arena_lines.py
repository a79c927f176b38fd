"""Lines of judgment files read one by one: what is broken is told with file and line, and the rest is kept."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.datasets.reading import show, text_field
from helpers.json_text import no_duplicates

#: The folder that holds a folder for each judge.
JUDGMENTS = "model_judgment"
#: What files of one model's are called, as errors say it.
EACH = "<model>.jsonl"
#: How the folder of a benchmark is named: with its version.
_BENCHMARK = re.compile(r"v\d+\.\d+")


@dataclass(frozen=True)
class Problem:
    """What could not be read as it stands: `file` as it lies below the folder asked for, `line` from 1 (None: all).

    `kind` is "broken" (a line that holds no judgment), "duplicate" (a question's later lines), "more_games" (games
    after the second), "several" (judges or candidates in one file), "skipped" (a file).
    """

    file: str
    line: int | None
    kind: str
    text: str

    def __str__(self) -> str:
        """The problem in one line, its place first."""
        return f"{self.file}{f', line {self.line}' if self.line else ''}: {self.text}"


@dataclass(frozen=True)
class Place:
    """A judgment file, how problems name it (`file`), and how titles name what it compares (`source`)."""

    path: Path
    file: str
    source: str


def places(source: Path) -> tuple[list[Place], list[Problem]]:
    """The judgment files that a file, a judge's folder or a tree of judges means, and what beside them is not read.

    In a tree, files lie in folders of judges: one beside those folders could mix judges and has to be named itself.
    Hidden folders (copies that editors keep) are left out, and of a tree with folders `model_judgment` all others.
    """
    if source.is_file():
        return _named([source], source.parent), []
    if not source.is_dir():
        raise FileNotFoundError(f"{source}: no such file or folder; expected judgments, <judge>/{EACH}")
    below = [path for path in sorted(source.rglob("*.jsonl")) if path.is_file()]
    below = [path for path in below if not any(part.startswith(".") for part in path.relative_to(source).parts)]
    judged = [path for path in below if JUDGMENTS in path.relative_to(source).parts[:-1]] or below
    deep = [path for path in judged if path.parent not in (source, source / JUDGMENTS)]
    found = deep or judged
    if not found:
        there = ", ".join(sorted(entry.name for entry in source.iterdir())) or "nothing"
        raise FileNotFoundError(f"{source}: expected .jsonl files of judgments in this folder, found {there}")
    text = "not in the folder of a judge; name the file itself to read it"
    beside = [Problem(str(path.relative_to(source)), None, "skipped", text) for path in judged if path not in found]
    return _named(found, source), beside


def read_lines(place: Place) -> Iterator[tuple[int, dict[str, Any] | Problem]]:
    """Each line of a file that is not blank with its number: an object with named fields, or what is wrong with it."""
    with place.path.open("rb") as file:
        yield from records_in(file, place.file)


def records_in(lines: Iterable[bytes], file: str) -> Iterator[tuple[int, dict[str, Any] | Problem]]:
    """The same of lines that are read already; `file` is what problems call them."""
    for number, line in enumerate(lines, 1):
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if not line.strip():
            continue
        try:
            record = _LINE.decode(line.decode("utf-8"))
            if not isinstance(record, dict):
                raise ValueError(f"found {show(record)}, expected an object with named fields")
            yield number, record
        except UnicodeDecodeError as error:
            yield number, Problem(file, number, "broken", f"not UTF-8 text ({error.reason})")
        except json.JSONDecodeError as error:
            told = f"not readable as JSON: {error.msg} at character {error.pos + 1}"
            yield number, Problem(file, number, "broken", told)
        except RecursionError:
            yield number, Problem(file, number, "broken", "nested too deeply to be read")
        except ValueError as error:
            yield number, Problem(file, number, "broken", str(error))


def id_of(record: dict[str, Any]) -> str:
    """The question's id, `uid` or `question_id`, as text; none of them, or one that is no id, is a ValueError."""
    name = "uid" if record.get("uid") is not None else "question_id"
    if isinstance(record.get(name), int) and not isinstance(record[name], bool):
        return str(record[name])
    if name not in record:
        raise ValueError(f"neither 'uid' nor 'question_id'; found {', '.join(record) or 'no field'}")
    return text_field(record, name)


def name_in(record: dict[str, Any], name: str, instead: str) -> str:
    """The text in field `name`, or `instead` where it is missing, null or blank; anything else is a ValueError.

    So is a text of several lines or with signs that nobody sees: it would break the sentences that name it.
    """
    value = record.get(name)
    if value is None or (isinstance(value, str) and not value.strip()):
        return instead
    text = text_field(record, name)
    if not text.isprintable():
        raise ValueError(f"field {name!r} holds {show(text)}, expected a name in one line")
    return text


def games_of(record: dict[str, Any]) -> list[dict[str, Any] | None]:
    """The games of one line, in order; none where `games` is null."""
    if "games" not in record:
        raise ValueError(f"field 'games' is missing; found {', '.join(record) or 'no field'}")
    games = record["games"]
    if not isinstance(games, list | None):
        raise ValueError(f"field 'games' holds {show(games)}, expected a list of games")
    for number, game in enumerate(games or (), 1):
        if not isinstance(game, dict | None):
            raise ValueError(f"game {number} is {show(game)}, expected an object with a score, or null")
    return games or []


def score_of(game: dict[str, Any] | None) -> str | None:
    """The score of a game as it is stored; what is neither a text nor null is told as its JSON text."""
    value = game.get("score") if game else None
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _named(paths: list[Path], root: Path) -> list[Place]:
    """The files with their sources; where two sources would be equal, both are told by their places below `root`."""
    below = [path.relative_to(root).with_suffix("") for path in paths]
    short = [_short(path, len(inner.parts)) for path, inner in zip(paths, below, strict=True)]
    files = [str(path.relative_to(root)) for path in paths]
    sources = [name if short.count(name) == 1 else inner.as_posix() for name, inner in zip(short, below, strict=True)]
    return [Place(*each) for each in zip(paths, files, sources, strict=True)]


def _short(path: Path, known: int) -> str:
    """benchmark/judge/model where the folders are such; else no more of the path than lies below the folder asked for.

    Whose machine the files lie on must not get into titles.
    """
    parts = [part for part in path.with_suffix("").parts if part != JUDGMENTS]
    known -= JUDGMENTS in path.parts[-known:]
    if len(parts) > 3 and _BENCHMARK.search(parts[-3]):
        return "/".join(parts[-3:])
    return "/".join(parts[-max(known, 2 if JUDGMENTS in path.parts else 1) :])


def _finite(digits: str) -> float:
    # Of the whole line, of which there are millions: no second walk to name the field.
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"holds {digits[:40]}, not a number that JSON knows; use null where there is none")
    return number


_LINE = json.JSONDecoder(object_pairs_hook=no_duplicates, parse_constant=_finite, parse_float=_finite)
