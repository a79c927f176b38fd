"""Our own judgments in the layout of Arena-Hard v2.0, so that the benchmark's original tools read them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.game_rows import ORDERS

if TYPE_CHECKING:
    import pandas

#: How a judge's text, or the messages that it was shown, are looked up: question, judge, candidate, who stood first.
GameKey = tuple[str, str, str, str]


def write_arena(
    frame: pandas.DataFrame,
    folder: str | Path,
    *,
    condition: str = "none",
    repeat: int = 0,
    texts: Mapping[GameKey, str] | None = None,
    prompts: Mapping[GameKey, list[dict[str, str]]] | None = None,
) -> list[Path]:
    """Which files hold these verdicts for the original tools? <folder>/<judge>/<candidate>.jsonl, sorted.

    `frame` is a games frame, `folder` a benchmark's model_judgment; written are the rows of one `condition` and
    `repeat`. A line a question in the frame's order: uid, category, judge, model, baseline and two games, the baseline
    first in game 1, each with score, judgment.answer (from `texts`) and prompt (from `prompts`). A score is one of the
    five labels or null, for the tools stop at any other; a game that is missing is null, and a question of which both
    are is left out, so that the tools, which never ask again what stands in a file, can still ask it. Files are
    written whole and then put in place: nobody reads half a file, and nothing is appended. Two verdicts on one
    question in one order, and two names that would share a file, are ValueErrors before anything is written.
    """
    import pandas

    rows = frame[(frame["condition"] == condition) & (frame["repeat"] == repeat)]
    key = ["judge", "candidate", "question_id", "first"]
    twice = rows[rows.duplicated(key)]
    if len(twice):
        named = ", ".join(f"{row.question_id} ({row.judge} on {row.candidate})" for row in twice[:3].itertuples())
        raise ValueError(f"{len(twice)} verdicts on a question that has one in the same order already: {named}")
    lines: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in rows.itertuples(index=False):
        line = lines.setdefault((row.judge, row.candidate), {}).setdefault(row.question_id, _line(row))
        if line["baseline"] != row.baseline or line["category"] != row.category:
            raise ValueError(f"question {row.question_id}: its two games name different baselines or categories")
        if row.outcome != "missing":
            at = (row.question_id, row.judge, row.candidate, row.first)
            score = None if pandas.isna(row.verdict) else row.verdict
            game = {"score": score, "judgment": {"answer": (texts or {}).get(at, "")}}
            line["games"][ORDERS.index(row.first)] = game | {"prompt": (prompts or {}).get(at, [])}
    files = _files(Path(folder), list(lines))
    for pair, path in files.items():
        _replace(path, [line for line in lines[pair].values() if any(line["games"])])
    return sorted(files.values())


def _line(row: Any) -> dict[str, Any]:
    """One question's line, no game of it known yet."""
    return {
        "uid": row.question_id,
        "category": row.category,
        "judge": row.judge,
        "model": row.candidate,
        "baseline": row.baseline,
        "games": [None, None],
    }


def _files(folder: Path, pairs: list[tuple[str, str]]) -> dict[tuple[str, str], Path]:
    """A file for each judge and candidate; names that differ only in what no file may be called are refused."""
    files = {pair: folder / _name(pair[0]) / f"{_name(pair[1])}.jsonl" for pair in pairs}
    # Some file systems do not tell capitals from small letters.
    owners: dict[str, tuple[str, str]] = {}
    for pair, path in files.items():
        other = owners.setdefault(str(path).lower(), pair)
        if other != pair:
            raise ValueError(f"{' on '.join(other)} and {' on '.join(pair)} would share the file {path.name}")
    return files


def _name(model: str) -> str:
    """A model's name as a file's: "/" as "__", as the benchmark's own files have it, and nothing that leaves a folder.

    >>> _name("Nexusflow/Athene-V2-Chat"), _name("../x y")
    ('Nexusflow__Athene-V2-Chat', '_.__x_y')
    """
    name = re.sub(r"[^\w.+@=-]", "_", model.replace("/", "__"))
    return re.sub(r"^\.", "_", name) or "_"


def _replace(path: Path, lines: list[dict[str, Any]]) -> None:
    """The lines as the whole of a file, in place at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with new.open("w", encoding="utf-8", newline="\n") as file:
            # ASCII with escapes: whatever a reply holds, half a surrogate pair included, can be written.
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
