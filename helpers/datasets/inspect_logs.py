"""Logs of Inspect (inspect_ai), .json or .eval, as rows of judgments: who judged what, and how."""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from ..json_text import no_duplicates
from .hub import Source
from .reading import MOST_BYTES, Record, read_bytes, show

#: More bytes than one sample of a log holds.
MOST_SAMPLE = 200_000_000
#: Where the head of a log lies in an .eval archive, newest layout first.
HEADS = ("header.json", "_journal/start.json", "start.json")
#: Files that Inspect writes beside logs: lists of them.
LISTS = ("logs.json", "eval-set.json", "listing.json")
#: What Inspect's own scorers write for correct, partly correct, incorrect, no answer; and words of others.
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
#: How an explanation begins where Inspect's graders found no grade and wrote "incorrect" instead.
NO_GRADE = "Grade not found in model output"


def load_inspect(source: Source) -> tuple[list[dict[str, Any]], list[str]]:
    """One row a score of a sample in a log, or in all logs of a folder, and notes on logs that are not whole.

    A sample whose metadata name `candidates` is a judgment by the evaluated model: its verdict is the score's `answer`,
    `gold` the target. Else the evaluated model is the candidate and the scorer the judge (a grader is called by its
    model): the verdict is the value as a number, of GRADES by their table, null where the grader's reply held no grade.
    `repeat` counts epochs, and further logs of the same. Of several attempts at one task the one with the most samples
    is read. What is no such log, and a folder without one, is a ValueError or FileNotFoundError.
    """
    path = Path(source).expanduser()
    paths = [path] if path.is_file() else sorted(p for end in ("*.eval", "*.json") for p in path.rglob(end))
    paths = [each for each in paths if not each.name.startswith(".") and each.name not in LISTS]
    if not paths:
        raise FileNotFoundError(f"{path}: no log of Inspect (.eval or .json) here")
    best: dict[Any, tuple[Path, Record]] = {}
    for each in paths:
        log = _log(each)
        task, run = log["eval"].get("task_id"), log["eval"].get("run_id")
        key = task if isinstance(task, str) and isinstance(run, str) and task != run else each
        if key not in best or len(log["samples"]) >= len(best[key][1]["samples"]):
            best[key] = each, log
    notes = [note for log in best.values() if (note := _note(*log))]
    if len(best) < len(paths):
        notes.append(f"{len(paths) - len(best):,} earlier attempts at the same tasks are not read.")
    several = len({_text(log["eval"].get("task")) for _, log in best.values()}) > 1
    repeats, rows = defaultdict[Any, Iterator[int]](count), []
    for each, log in best.values():
        task = f"{_text(log['eval'].get('task'))}/" if several else ""
        for number, sample in enumerate(log["samples"], 1):
            for row in _rows(log["eval"], sample, f"{each}, sample {number}"):
                question = f"{task}{row['question']}"
                asked = (row["judge"], question, json.dumps(row["candidates"]))
                rows.append(row | {"question": question, "repeat": next(repeats[asked])})
    if not rows:
        raise ValueError(f"{path}: no sample in these logs has a score")
    return rows, notes


def _note(path: Path, log: Record) -> str:
    """What a reader must know of a log that did not end well; "" of one that did."""
    status, there = log.get("status") or "success", len(log["samples"])
    failed = sum(1 for sample in log["samples"] if isinstance(sample, dict) and sample.get("error"))
    expected = _inner(log, "results").get("total_samples")
    if not isinstance(expected, int):
        data, epochs = _inner(log["eval"], "dataset"), _inner(log["eval"], "config").get("epochs")
        ids = data.get("sample_ids")
        count = len(ids) if isinstance(ids, list) else data.get("samples")
        expected = (count if isinstance(count, int) else 0) * (epochs if isinstance(epochs, int) else 1)
    if status == "success" and not failed and there >= expected:
        return ""
    counted = f"{there:,} of {expected:,} samples" if expected > there else f"{there:,} samples"
    errors = f", {failed:,} of them ended in an error" if failed else ""
    return f"{path.name}: status {status}, {counted}{errors}."


def _log(path: Path) -> Record:
    """A log with its `eval` (what was run) and `samples`."""
    head, *samples = _archive(path) if path.suffix == ".eval" else [_parsed(read_bytes(path), str(path))]
    if isinstance(head, dict) and isinstance(head.get("eval"), dict) and isinstance(head.get("samples") or [], list):
        return Record(head | {"samples": samples or head.get("samples") or []})
    found = ", ".join(head) if isinstance(head, dict) else show(head)
    raise ValueError(f"{path}: found {found}; expected a log of Inspect (eval, samples)")


def _archive(path: Path) -> list[Any]:
    """The head of a log and its samples."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            head = next((name for name in HEADS if name in sizes), None)
            if head is None:
                raise ValueError(f"{path}: no {', '.join(HEADS)} in this archive; expected a log of Inspect")
            parts = [head, *sorted(name for name in sizes if name.startswith("samples/") and name.endswith(".json"))]
            total, largest = sum(sizes[name] for name in parts), max(sizes[name] for name in parts)
            if total > MOST_BYTES or largest > MOST_SAMPLE:
                unpacked = f"{total:,} bytes when unpacked, {largest:,} in one part"
                raise ValueError(f"{path}: {unpacked}; too large for a log")
            return [_parsed(archive.read(name), f"{path}, {name}") for name in parts]
    except RuntimeError as error:  # zipfile's own, of a packing that it does not know (zstd), or a password
        raise ValueError(f"{path}: {error}; `inspect log convert --to json` makes a .json of it") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise ValueError(f"{path}: not readable as a log of Inspect: {error}") from None


def _parsed(data: bytes, where: str) -> Any:
    # Inspect itself writes NaN where a metric has no value; a score that is none counts as unreadable.
    try:
        return json.loads(data, object_pairs_hook=no_duplicates)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not readable as JSON: {error}") from None


def _rows(head: Mapping[str, Any], sample: Any, place: str) -> Iterator[dict[str, Any]]:
    if not isinstance(sample, dict) or not isinstance(sample.get("scores") or {}, dict):
        raise ValueError(f"{place}: found {show(sample)[:80]}, expected a sample with scores by scorer")
    facts = _inner(sample, "metadata")
    about = {"question": str(sample.get("id")), "category": facts.get("category")}
    for scorer, score in (sample.get("scores") or {}).items():
        if not isinstance(score, dict):
            raise ValueError(f"{place}: score {scorer!r} is {show(score)}, expected an object with a value")
        if facts.get("candidates"):
            gold = sample.get("target")
            judged = {"candidates": facts["candidates"], "gold": gold if isinstance(gold, str) and gold else None}
            yield about | judged | {"judge": _text(head.get("model")), "verdict": score.get("answer")}
            continue
        judge, value = _grader(head, scorer), score.get("value")
        parts = {"": value} if not isinstance(value, dict | list) else value
        for name, part in parts.items() if isinstance(parts, dict) else enumerate(parts, 1):
            by = {"judge": f"{judge}/{name}" if name else judge, "candidates": [_text(head.get("model"))]}
            yield about | by | {"gold": None, "verdict": _number(part, score, place)}


def _grader(head: Mapping[str, Any], scorer: str) -> str:
    """A scorer by its own name, and the model that grades for it, where the log tells."""
    scorers = head.get("scorers")
    for each in scorers if isinstance(scorers, list) else []:
        name = each.get("name") if isinstance(each, dict) else None
        if isinstance(name, str) and name.rpartition("/")[2] == scorer.rpartition("/")[2]:
            model = _inner(each, "options").get("model")
            if isinstance(model, str):
                return model
    role = _inner(head, "model_roles").get("grader")
    model = role.get("model") if isinstance(role, dict) else role
    return model if isinstance(model, str) and "graded" in scorer else scorer


def _number(value: Any, score: Mapping[str, Any], place: str) -> float | None:
    if str(score.get("explanation") or "").startswith(NO_GRADE) or value is None:
        return None
    if isinstance(value, str):
        value = GRADES.get(value, GRADES.get(value.lower(), value))
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        expected = f"a number or one of {', '.join(GRADES)}"
        raise ValueError(f"{place}: a score has the value {show(value)}, expected {expected}") from None
    return None if math.isnan(number) else number


def _inner(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) and value else "unknown"
