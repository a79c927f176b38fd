"""What other tools export, in the columns of a tidy file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..datasets.questions import UNKNOWN

Record = dict[str, Any]


def _at(record: Any, place: str) -> Any:
    """What stands at a place such as results.score of a record; None where nothing does."""
    for name in place.split("."):
        record = record.get(name) if isinstance(record, dict) else None
    return record


def _each(record: Any, place: str) -> list[Record]:
    found = _at(record, place)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _score(judge: Any, question: Any, item: Any, candidate: Any, value: Any) -> Record:
    """The row of a score: who gave it, on what of which question, to whom; one that is no number is unreadable."""
    names = {"judge": judge, "question": question, "item": item, "candidates": [candidate or UNKNOWN]}
    return names | {"verdict": float(value) if isinstance(value, int | float) else None}


def promptfoo(record: Record, path: Path) -> Iterator[Record]:
    """Each assertion of each result; its grader is the judge, or else the kind of assertion."""
    results = _each(record, "results.results")
    prompts = [*dict.fromkeys(str(each.get("promptId")) for each in results)]
    for result in results:
        candidate = _at(result, "provider.label") or _at(result, "provider.id")
        if len(prompts) > 1:
            candidate = f"{candidate}, prompt {prompts.index(str(result.get('promptId'))) + 1}"
        for number, part in enumerate(_each(result, "gradingResult.componentResults"), 1):
            kind, grader = _at(part, "assertion.type"), _at(part, "assertion.provider")
            judge = _at(grader, "id") or (grader if isinstance(grader, str) else kind)
            item = _at(part, "assertion.metric") or f"{kind} {number}"
            yield _score(judge, result.get("testIdx"), item, candidate, part.get("score"))


def deepeval(record: Record, path: Path) -> Iterator[Record]:
    """Each metric of each test case; the model that evaluated is the judge, or else the metric."""
    candidate = _at(record, "hyperparameters.model")
    for number, case in enumerate(_each(record, "testCases"), 1):
        for metric in _each(case, "metricsData"):
            judge = metric.get("evaluationModel") or metric.get("name")
            yield _score(judge, case.get("name") or number, metric.get("name"), candidate, metric.get("score"))


def langfuse(record: Record, path: Path) -> Iterator[Record]:
    """Each score that is a number, of the API (data) or of an export; who gave it (source) is of the judge's name."""
    for each in _each(record, "data") or [record]:
        if each.get("dataType") in ("NUMERIC", "BOOLEAN"):
            judge, candidate = f"{each.get('name')} ({each.get('source')})", each.get("traceName")
            yield _score(judge, each.get("traceId"), None, candidate, each.get("value"))


def lm_eval(record: Record, path: Path) -> Iterator[Record]:
    """Each metric of a sample is a judge; the model is the folder, the task is of the question's name."""
    task = re.sub(r"^samples_|_\d{4}-\d\d-\d\dT.*$", "", path.stem)
    for metric in record["metrics"] if isinstance(record["metrics"], list) else ():
        question = f"{task}/{record['doc_id']}"
        yield _score(metric, question, record.get("filter"), path.parent.name, record.get(str(metric)))


def rewardbench(record: Record, path: Path) -> Iterator[Record]:
    """Whether a reward model prefers the chosen answer of a pair, which is what is right: a line each, or columns."""
    names = ("id" if "id" in record else "prompt", "subset", "results")
    columns = [each if isinstance(each := record.get(name), list) else [each] for name in names]
    for id, subset, result in zip_longest(*columns):
        label = {"1": "A", "0": "B", "0.5": "tie"}.get(f"{result:g}" if isinstance(result, int | float) else "")
        verdict = {"candidates": ["chosen", "rejected"], "order": "unknown", "verdict": label, "gold": "A"}
        yield {"judge": record.get("model") or path.stem, "question": id, "category": subset, **verdict}


EXPORTS = {each.__name__.replace("_", "-"): each for each in (promptfoo, deepeval, langfuse, lm_eval, rewardbench)}
