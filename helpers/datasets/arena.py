"""Arena-Hard's judgments, both layouts, as the games frame, and our own in the same layout.

Whatever is broken in a file is named with its line, and the rest is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ..types import Question
from .answers import EACH
from .games import LLMBAR_LABELS, ORDERS, Game, format_of, games_frame, load_pairwise, normalised
from .hub import NAMES, Entry, Source, fetch_files, find_files, replace_file
from .questions import UNKNOWN
from .reading import Loaded, Problem, Record, first_record, read_each, show

#: The folder that holds a folder for each judge.
JUDGMENTS = "model_judgment"
BASELINES: dict[str, str] = NAMES["values"]["baselines"]
#: Ids of duplicates that a problem names before it only counts them.
NAMED = 10
#: The formats of `load_games` beside Arena-Hard's.
OTHERS = ("fastchat-pair", "analyzer", "llmbar", "pandalm", "judgebench", "arena-battles")
#: How the folder of a benchmark is named: with its version.
_BENCHMARK = re.compile(r"v\d+\.\d+")
#: A judgment file, what problems call it, and what titles call its comparison.
Place = tuple[Path, str, str]
#: How a judge's text, or the messages that it was shown, are looked up: question, judge, candidate, who stood first.
GameKey = tuple[str, str, str, str]


def load_games(source: Source, hub: Entry = None, questions: Iterable[Question] = ()) -> Loaded:
    """The verdicts of Arena-Hard's judgments (file, folder, tree, hub), or of one file of OTHERS.

    LLMBar's labels are those of an instances.jsonl beside it. A record without a category has that of the question.
    """
    path = Path(source).expanduser()
    if format := format_of(first_record(path), OTHERS) if source != "hub" and path.is_file() else "":
        labels = path.with_name(LLMBAR_LABELS)
        labels = labels if format == "llmbar" and labels.is_file() else None
        loaded = Loaded(load_pairwise(path, format, labels))
    else:
        loaded = load_arena(source, hub)
    categories = {question.id: question.category for question in questions}
    named, ids = loaded.frame["category"], loaded.frame["question_id"]
    asked = ids.map(lambda id: categories.get(id, UNKNOWN))
    return replace(loaded, frame=loaded.frame.assign(category=named.where(named != UNKNOWN, asked)))


def load_arena(source: Source, hub: Entry = None) -> Loaded:
    """The verdicts of Arena-Hard's judgments, v2.0 or v0.1: a file, a judge's folder, a tree of judges, or "hub".

    The frame (columns: frames.GAMES) has two rows a line: game 1 with the baseline first, game 2 with the candidate
    first; `games` is how many the line holds, one that is not there is "missing". Judge and candidate are those of the
    record, else of the path, a missing baseline is that of BASELINES. A candidate that is the baseline makes the
    condition "identical". Of several lines on one comparison the first counts. `problems` name every line that is
    broken and whatever was not read. A source without any judgment is a ValueError.
    """
    roots = fetch_files(hub, "judgments", (f"<judge>/{EACH}",)) if source == "hub" else [Path(source).expanduser()]
    games: list[Game] = []
    problems: list[Problem] = []
    for found, beside in map(places, roots):
        problems += beside
        for place in found:
            read, wrong = _games_of(place)
            games += read
            problems += wrong
    if not games:
        raise ValueError(
            f"{source}: no judgment of Arena-Hard (uid or question_id, model, judge, games with their scores); "
            + "; ".join(map(str, problems[:3]))
        )
    return Loaded(games_frame(games), tuple(problems))


def _games_of(place: Place) -> tuple[list[Game], list[Problem]]:
    path, file, _ = place
    games: list[Game] = []
    problems: list[Problem] = []
    seen: dict[tuple[str, str, str], int] = {}
    twice: dict[str, list[int]] = {}
    for number, (blank, scores) in read_each(path, file, partial(_line, place=place), problems):
        if seen.setdefault((blank.judge, blank.candidate, blank.question_id), number) != number:
            twice.setdefault(blank.question_id, []).append(number)
            continue
        if len(scores) > 2:
            what = f"question {blank.question_id} holds {len(scores)} games; the first two are read"
            problems.append(Problem(file, number, "more_games", what))
        for first, game in zip(ORDERS, [*scores, None, None], strict=False):
            score = game.get("score") if game else None
            score = score if isinstance(score, str | None) else json.dumps(score)
            more: dict[str, Any] = {"verdict": normalised(score), "games": len(scores), "missing": game is None}
            games.append(blank._replace(first=first, score=score, **more))
    if not games:
        why = f"no judgment in this file, {len(problems)} lines of something else"
        return [], [Problem(file, None, "skipped", "; ".join([why, *map(str, problems[:1])]))]
    if twice:
        lines = [number for numbers in twice.values() for number in numbers]
        named = [f"{id} (line {', '.join(map(str, numbers))})" for id, numbers in twice.items()]
        what = f"{len(lines)} later lines on questions that were judged before are not read: {_listed(named)}"
        problems.append(Problem(file, min(lines), "duplicate", what))
    compared = sorted({key[:2] for key in seen})
    if len(compared) > 1:
        named = [f"{judge} on {candidate}" for judge, candidate in compared]
        what = f"{len(compared)} comparisons in one file, kept apart: {_listed(named)}"
        problems.append(Problem(file, None, "several", what))
    return games, problems


def _listed(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _line(record: Record, place: Place) -> tuple[Game, list[Any]]:
    """What a line compares, as a game without a verdict, and its games, of which each is an object or null."""
    path, _, source = place
    question, candidate = record.id(), record.name("model", path.stem)
    named = record.name("baseline", BASELINES.get(source.split("/")[0], "baseline"))
    category, judge = record.name("category", UNKNOWN), record.name("judge", path.parent.name)
    condition = "identical" if candidate == named else "none"
    if "games" not in record:
        raise ValueError(f"field 'games' is missing; found {', '.join(record) or 'no field'}")
    games = record.typed("games", list, "a list of games") or []
    for number, game in enumerate(games, 1):
        if not isinstance(game, dict | None):
            raise ValueError(f"game {number} is {show(game)}, expected an object with a score, or null")
    return Game(source, question, category, judge, candidate, named, condition=condition), games


def places(source: Path) -> tuple[list[Place], list[Problem]]:
    """The judgment files of a file, a judge's folder or a tree of judges, and what beside them is not read.

    In a tree, a file beside the folders of judges could mix judges and has to be named itself. Of a tree with folders
    `model_judgment` all others are left out.
    """
    root = source.parent if source.is_file() else source
    there = [source] if source.is_file() else find_files(source, None, "judgments", (".jsonl",), several=True)
    judged = [path for path in there if JUDGMENTS in path.relative_to(root).parts[:-1]] or there
    found = [path for path in judged if path.parent not in (root, root / JUDGMENTS)] or judged
    text = "not in the folder of a judge; name the file itself to read it"
    beside = [Problem(str(path.relative_to(root)), None, "skipped", text) for path in judged if path not in found]
    # Where two sources would be equal, both are called by their places below `source`.
    names = [path.relative_to(root).with_suffix("") for path in found]
    short = [_short(path, inner) for path, inner in zip(found, names, strict=True)]
    titles = [name if short.count(name) == 1 else inner.as_posix() for name, inner in zip(short, names, strict=True)]
    return [(path, str(path.relative_to(root)), title) for path, title in zip(found, titles, strict=True)], beside


def _short(path: Path, inner: Path) -> str:
    """benchmark/judge/model where the folders are such; else no more of the path than lies below the folder asked for.

    Whose machine the files lie on must not get into titles.
    """
    parts, below = ([part for part in each.parts if part != JUDGMENTS] for each in (path.with_suffix(""), inner))
    benchmark = len(parts) > 3 and _BENCHMARK.search(parts[-3])
    return "/".join(parts[-(3 if benchmark else max(len(below), 2 if JUDGMENTS in path.parts else 1)) :])


def write_arena(
    frame: pd.DataFrame,
    folder: str | Path,
    *,
    condition: str = "none",
    repeat: int = 0,
    texts: Mapping[GameKey, str] | None = None,
    prompts: Mapping[GameKey, list[dict[str, str]]] | None = None,
) -> list[Path]:
    """Write verdicts for Arena-Hard's own tools: <folder>/<judge>/<candidate>.jsonl, sorted.

    `frame` is a games frame, of which one `condition` and `repeat` are written: a line a question with two games, the
    baseline first in game 1, each with score, judgment.answer (`texts`) and prompt (`prompts`). A score that is no
    label is null, for the tools stop at it, and so is a missing game; a question without any game is left out. Two
    verdicts on one question in one order, and two names that would share a file, are ValueErrors before anything is
    written.
    """
    rows = frame[(frame["condition"] == condition) & (frame["repeat"] == repeat)]
    twice = rows[rows.duplicated(["judge", "candidate", "question_id", "first"])]
    if len(twice):
        named = ", ".join(f"{row.question_id} ({row.judge} on {row.candidate})" for row in twice[:3].itertuples())
        raise ValueError(f"{len(twice)} verdicts on a question that has one in the same order already: {named}")
    lines: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in rows.itertuples(index=False):
        about = {"uid": row.question_id, "category": row.category, "judge": row.judge, "model": row.candidate}
        about |= {"baseline": row.baseline, "games": [None, None]}
        line = lines.setdefault((row.judge, row.candidate), {}).setdefault(row.question_id, about)
        if line["baseline"] != row.baseline or line["category"] != row.category:
            raise ValueError(f"question {row.question_id}: its two games name different baselines or categories")
        if row.outcome != "missing":
            at = (row.question_id, row.judge, row.candidate, row.first)
            score = None if pd.isna(row.verdict) else row.verdict
            game = {"score": score, "judgment": {"answer": (texts or {}).get(at, "")}}
            line["games"][ORDERS.index(row.first)] = game | {"prompt": (prompts or {}).get(at, [])}
    files = {pair: Path(folder) / _name(pair[0]) / f"{_name(pair[1])}.jsonl" for pair in lines}
    # Some file systems do not tell capitals from small letters.
    owners: dict[str, tuple[str, str]] = {}
    for pair, path in files.items():
        other = owners.setdefault(str(path).lower(), pair)
        if other != pair:
            raise ValueError(f"{' on '.join(other)} and {' on '.join(pair)} would share the file {path.name}")
    for pair, path in files.items():
        # ASCII with escapes: whatever a reply holds, half a surrogate pair included, can be written.
        replace_file(path, [json.dumps(line) for line in lines[pair].values() if any(line["games"])])
    return sorted(files.values())


def _name(model: str) -> str:
    """A model's name as a file's: "/" as "__", as the benchmark's own files have it, and nothing that leaves a folder.

    >>> _name("Nexusflow/Athene-V2-Chat"), _name("../x y")
    ('Nexusflow__Athene-V2-Chat', '_.__x_y')
    """
    name = re.sub(r"[^\w.+@=-]", "_", model.replace("/", "__"))
    return re.sub(r"^\.", "_", name) or "_"
