"""What other tools write down of judgments, as rows of a tidy file: who judged what, and how."""

from __future__ import annotations

import json
import math
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, zip_longest
from pathlib import Path
from typing import Any

from ..json_text import no_duplicates
from .games import FORMATS, records_of
from .hub import Source
from .questions import UNKNOWN
from .reading import MOST_BYTES, Record, read_bytes, show

Row = dict[str, Any]

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


def _at(record: Any, place: str) -> Any:
    """What stands at a place such as results.score of a record; None where nothing does."""
    for name in place.split("."):
        record = record.get(name) if isinstance(record, dict) else None
    return record


def _numbered(rows: Iterable[Row]) -> list[Row]:
    """The rows with `repeat`: how often the same was judged before."""
    repeats = defaultdict[str, Iterator[int]](count)
    names = ("judge", "question", "item", "candidates")
    return [row | {"repeat": next(repeats[json.dumps([*map(row.get, names)], default=str)])} for row in rows]


# --- Inspect ----------------------------------------------------------------------------------------------------------


def load_inspect(source: Source) -> tuple[list[Row], list[str]]:
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
    rows = []
    for each, log in best.values():
        task = f"{_text(log['eval'].get('task'))}/" if several else ""
        for number, sample in enumerate(log["samples"], 1):
            for row in _rows(log["eval"], sample, f"{each}, sample {number}"):
                rows.append(row | {"question": f"{task}{row['question']}"})
    if not rows:
        raise ValueError(f"{path}: no sample in these logs has a score")
    return _numbered(rows), notes


def _note(path: Path, log: Record) -> str:
    """What a reader must know of a log that did not end well; "" of one that did."""
    status, there = log.get("status") or "success", len(log["samples"])
    failed = sum(1 for sample in log["samples"] if isinstance(sample, dict) and sample.get("error"))
    expected = _at(log, "results.total_samples")
    if not isinstance(expected, int):
        ids, epochs = (_at(log["eval"], place) for place in ("dataset.sample_ids", "config.epochs"))
        count = len(ids) if isinstance(ids, list) else _at(log["eval"], "dataset.samples")
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


def _rows(head: Mapping[str, Any], sample: Any, place: str) -> Iterator[Row]:
    if not isinstance(sample, dict) or not isinstance(sample.get("scores") or {}, dict):
        raise ValueError(f"{place}: found {show(sample)[:80]}, expected a sample with scores by scorer")
    candidates = _at(sample, "metadata.candidates")
    about = {"question": str(sample.get("id")), "category": _at(sample, "metadata.category")}
    for scorer, score in (sample.get("scores") or {}).items():
        if not isinstance(score, dict):
            raise ValueError(f"{place}: score {scorer!r} is {show(score)}, expected an object with a value")
        if candidates:
            gold = sample.get("target")
            judged = {"candidates": candidates, "gold": gold if isinstance(gold, str) and gold else None}
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
            model = _at(each, "options.model")
            if isinstance(model, str):
                return model
    role = _at(head, "model_roles.grader")
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


def _text(value: Any) -> str:
    return value if isinstance(value, str) and value else UNKNOWN


# --- scores of other tools --------------------------------------------------------------------------------------------


def load_export(path: Path, format: str) -> tuple[list[Row], list[str]]:
    """One row a score in a tool's export (EXPORTS), and a note on what holds none.

    A score that is no number is null. A file without any score is a ValueError.
    """
    found = records_of(path, format).map(lambda record: [*EXPORTS[format](record, path)])
    every = [row for several in found for row in several]
    rows = _numbered(row for row in every if row)
    if not rows:
        raise ValueError(f"{path}: {FORMATS[format]['words']} without any score")
    left = len(every) - len(rows)
    return rows, [f"{left:,} of {len(every):,} entries hold no score that is a number, and are left out."] * bool(left)


def _each(record: Any, *places: str) -> list[Row]:
    """The objects in the lists at these places."""
    lists = [_at(record, place) for place in places]
    return [each for found in lists if isinstance(found, list) for each in found if isinstance(each, dict)]


def _score(judge: Any, question: Any, item: Any, candidate: Any, value: Any) -> Row:
    """The row of a score: who gave it, on what of which question, to whom."""
    names = {"judge": judge, "question": question, "item": item, "candidates": [candidate or UNKNOWN]}
    return names | {"verdict": float(value) if isinstance(value, int | float) else None}


def promptfoo(record: Record, path: Path) -> Iterator[Row]:
    """Each assertion of each result; its grader is the judge, or else the kind of assertion."""
    results = _each(record, "results.results")
    prompts = [*dict.fromkeys(str(each.get("promptId")) for each in results)]
    for result in results:
        candidate = _at(result, "provider.label") or _at(result, "provider.id")
        if len(prompts) > 1:
            candidate = f"{candidate}, prompt {prompts.index(str(result.get('promptId'))) + 1}"
        parts = _each(result, "gradingResult.componentResults")
        for number, part in enumerate(parts, 1):
            kind, grader = _at(part, "assertion.type"), _at(part, "assertion.provider")
            judge = _at(grader, "id") or (grader if isinstance(grader, str) else kind)
            item = _at(part, "assertion.metric") or f"{kind} {number}"
            yield _score(judge, result.get("testIdx"), item, candidate, part.get("score"))
        yield from [] if parts else [{}]


def deepeval(record: Record, path: Path) -> Iterator[Row]:
    """Each metric of each test case or conversation; the model that evaluated is the judge, or else the metric."""
    candidate = _at(record, "hyperparameters.model")
    for number, case in enumerate(_each(record, "testCases", "conversationalTestCases"), 1):
        metrics = _each(case, "metricsData")
        for metric in metrics:
            judge = metric.get("evaluationModel") or metric.get("name")
            yield _score(judge, case.get("name") or number, metric.get("name"), candidate, metric.get("score"))
        yield from [] if metrics else [{}]


def langfuse(record: Record, path: Path) -> Iterator[Row]:
    """Each score that is a number, of the API (data) or of an export; the judge is its name, with who gave it."""
    for each in _each(record, "data") or [record]:
        judge, candidate = f"{each.get('name')} ({each.get('source')})", each.get("traceName")
        score = _score(judge, each.get("traceId"), None, candidate, each.get("value"))
        yield score if each.get("dataType") in ("NUMERIC", "BOOLEAN") else {}


def lm_eval(record: Record, path: Path) -> Iterator[Row]:
    """Each metric of a sample is a judge; the candidate is named as the folder, the question begins with the task."""
    task = re.sub(r"^samples_|_\d{4}-\d\d-\d\dT.*$", "", path.stem)
    metrics = record["metrics"] if isinstance(record["metrics"], list) else []
    for metric in metrics:
        question = f"{task}/{record['doc_id']}"
        yield _score(metric, question, record.get("filter"), path.parent.name, record.get(str(metric)))
    yield from [] if metrics else [{}]


def rewardbench(record: Record, path: Path) -> Iterator[Row]:
    """Whether a reward model prefers the chosen answer of a pair, which is what is right: a line each, or columns."""
    names = ("id" if "id" in record else "prompt", "subset", "results")
    columns = [each if isinstance(each := record.get(name), list) else [each] for name in names]
    for id, subset, result in zip_longest(*columns):
        label = {"1": "A", "0": "B", "0.5": "tie"}.get(f"{result:g}" if isinstance(result, int | float) else "")
        verdict = {"candidates": ["chosen", "rejected"], "order": "unknown", "verdict": label, "gold": "A"}
        yield {"judge": record.get("model") or path.stem, "question": id, "category": subset, **verdict}


EXPORTS = {each.__name__.replace("_", "-"): each for each in (promptfoo, deepeval, langfuse, lm_eval, rewardbench)}
