"""Logs of Inspect (inspect_ai), .json or .eval, as rows of judgments: who judged what, and how."""

from __future__ import annotations

import json
import math
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from helpers.datasets.reading import show
from helpers.json_text import no_duplicates

#: More bytes than a log, or one sample of it, holds.
MOST_LOG = 4_000_000_000
MOST_SAMPLE = 200_000_000
#: Where the head of a log lies in an .eval archive, newest layout first.
HEADS = ("header.json", "_journal/start.json", "start.json")
#: What Inspect's own scorers write for correct, partly correct, incorrect, no answer; and words of others.
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
#: How an explanation begins where Inspect's graders found no grade and wrote "incorrect" instead.
NO_GRADE = "Grade not found in model output"


def load_inspect(source: str | Path) -> list[dict[str, Any]]:
    """One row a score of a sample in a log, or in all logs of a folder: judge, question, candidates, verdict and more.

    A sample whose metadata name `candidates` is a judgment by the evaluated model: its verdict is the score's `answer`,
    `gold` the target. Else the evaluated model is the candidate and the scorer the judge (a grader is called by its
    model): the verdict is the value as a number, C, P, I and N as 1, 1/2, 0 and 0, and null where there is none or the
    grader's reply held no grade. `repeat` counts epochs, and further logs of the same. `place` says where a row is
    from. What is no such log, and a folder without one, is a ValueError or FileNotFoundError.
    """
    path = Path(source).expanduser()
    paths = [path] if path.is_file() else sorted(p for end in ("*.eval", "*.json") for p in path.rglob(end))
    paths = [each for each in paths if not each.name.startswith(".") and each.name != "logs.json"]
    if not paths:
        raise FileNotFoundError(f"{path}: no log of Inspect (.eval or .json) here")
    logs = [(each, *_log(each)) for each in paths]
    tasks = {_text(head.get("task")) for _, head, _ in logs}
    seen: Counter[tuple[str, str, str]] = Counter()
    rows = []
    for each, head, samples in logs:
        for number, sample in enumerate(samples, 1):
            place = f"{each}, sample {number}"
            for row in _rows(head, sample, place):
                if len(tasks) > 1:
                    row["question"] = f"{_text(head.get('task'))}/{row['question']}"
                key = (row["judge"], row["question"], json.dumps(row["candidates"]))
                row["repeat"] = seen[key]
                seen[key] += 1
                rows.append(row)
    if not rows:
        raise ValueError(f"{path}: no sample in these logs has a score")
    return rows


def _log(path: Path) -> tuple[dict[str, Any], Iterator[Any]]:
    """The head of a log and its samples."""
    if path.stat().st_size > MOST_LOG:
        raise ValueError(f"{path}: {path.stat().st_size:,} bytes; at most {MOST_LOG:,}")
    if path.suffix == ".eval":
        return _archive(path)
    try:
        log = json.loads(path.read_bytes(), object_pairs_hook=no_duplicates)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not readable as JSON: {error}") from None
    head = log.get("eval") if isinstance(log, dict) else None
    if not isinstance(head, dict) or not isinstance(log.get("samples", []), list):
        found = ", ".join(log) if isinstance(log, dict) else show(log)
        raise ValueError(f"{path}: found {found}; expected a log of Inspect (eval, samples)")
    return head, iter(log.get("samples") or [])


def _archive(path: Path) -> tuple[dict[str, Any], Iterator[Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            names = sorted(name for name in infos if name.startswith("samples/") and name.endswith(".json"))
            head = next((name for name in HEADS if name in infos), None)
            if head is None:
                raise ValueError(f"{path}: no {', '.join(HEADS)} in this archive; expected a log of Inspect")
            wanted = [head, *names]
            size = sum(infos[name].file_size for name in wanted)
            most = max(infos[name].file_size for name in wanted)
            if size > MOST_LOG or most > MOST_SAMPLE:
                raise ValueError(f"{path}: {size:,} bytes when unpacked, {most:,} in one part; too large for a log")
            parts = [_part(archive, name, path) for name in wanted]
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path}: not readable as a log of Inspect: {error}") from None
    except NotImplementedError:
        told = "packed in a way that is not read here; `inspect log convert --to json` makes a .json of it"
        raise ValueError(f"{path}: {told}") from None
    if not isinstance(parts[0], dict) or not isinstance(parts[0].get("eval"), dict):
        raise ValueError(f"{path}: {head} has no field 'eval'")
    return parts[0]["eval"], iter(parts[1:])


def _part(archive: zipfile.ZipFile, name: str, path: Path) -> Any:
    with archive.open(name) as file:
        data = file.read(MOST_SAMPLE + 1)
    try:
        # Inspect itself writes NaN where a metric has no value; a score that is none counts as unreadable.
        return json.loads(data, object_pairs_hook=no_duplicates)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}, {name}: not readable as JSON: {error}") from None


def _rows(head: Mapping[str, Any], sample: Any, place: str) -> Iterator[dict[str, Any]]:
    if not isinstance(sample, dict) or not isinstance(sample.get("scores") or {}, dict):
        raise ValueError(f"{place}: found {show(sample)[:80]}, expected a sample with scores by scorer")
    facts = sample.get("metadata") if isinstance(sample.get("metadata"), dict) else {}
    known = {"question": str(sample.get("id")), "category": facts.get("category"), "place": place}
    for scorer, score in (sample.get("scores") or {}).items():
        if not isinstance(score, dict):
            raise ValueError(f"{place}: score {scorer!r} is {show(score)}, expected an object with a value")
        if facts.get("candidates"):
            gold = sample.get("target")
            told = {"candidates": facts["candidates"], "gold": gold if isinstance(gold, str) and gold else None}
            yield known | told | {"judge": _text(head.get("model")), "verdict": score.get("answer")}
            continue
        judge = _grader(head, scorer)
        value = score.get("value")
        for name, part in value.items() if isinstance(value, dict) else [("", value)]:
            told = {"judge": f"{judge}/{name}" if name else judge, "candidates": [_text(head.get("model"))]}
            yield known | told | {"gold": None, "verdict": _number(part, score, place)}


def _grader(head: Mapping[str, Any], scorer: str) -> str:
    """A scorer by its own name, and the model that grades for it, where the log tells."""
    for each in head.get("scorers") or []:
        if isinstance(each, dict) and each.get("name", "").rpartition("/")[2] == scorer.rpartition("/")[2]:
            model = (each.get("options") or {}).get("model")
            if isinstance(model, str):
                return model
    role = (head.get("model_roles") or {}).get("grader")
    model = role.get("model") if isinstance(role, dict) else role
    return model if isinstance(model, str) and "graded" in scorer else scorer


def _number(value: Any, score: Mapping[str, Any], place: str) -> float | None:
    if str(score.get("explanation") or "").startswith(NO_GRADE) or value is None:
        return None
    if isinstance(value, bool | int | float):
        return None if math.isnan(value) else float(value)
    found = GRADES.get(value, GRADES.get(value.lower())) if isinstance(value, str) else None
    if found is None:
        try:
            found = float(value)
        except (TypeError, ValueError):
            expected = f"a number or one of {', '.join(GRADES)}"
            raise ValueError(f"{place}: a score has the value {show(value)}, expected {expected}") from None
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) and value else "unknown"
