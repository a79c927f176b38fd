"""Which files of published judgments a source means, and which of their records count."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helpers.datasets.files import ERROR_FILES, JUDGMENT_FILES
from helpers.datasets.hub import from_hub
from helpers.datasets.published import Published, failed, judged, logged, with_letters
from helpers.datasets.reading import read_records

_KNOWN = JUDGMENT_FILES | ERROR_FILES
_EXPECTED = (
    "published judgments (prompt_id, judge_model, ranking, scores, mapping, or error), a log of them (prompt_id, "
    "judge, hint_mode, top_answer_id, ranking, scores) or a log of errors (prompt_id, judge, error, detail)"
)


def read_judgments(
    source: str | Path, hub: Mapping[str, Any] | None = None, condition: str | None = None
) -> list[Published]:
    """The final judgments in a file, in a folder or behind the hub entry ("hub").

    A record of a JSON array is final, as is a success in a log; of a judgment that never succeeded the last failed
    try counts. The condition of a file comes from its name (JUDGMENT_FILES), of a log from `hint_mode`; `condition`
    replaces it for a single file. A judgment that occurs twice, or a condition that two files of a folder hold, is an
    error.
    """
    if source == "hub":
        source = from_hub(hub, "judgments")
    done: list[Published] = []
    tries: list[Published] = []
    for path in _files(Path(source), condition):
        found, failures = _read(path, condition)
        done += found
        tries += failures
    last = {one.key: one for one in tries}
    known = {judgment.key for judgment in done}
    return done + [one for key, one in last.items() if key not in known]


def _read(path: Path, condition: str | None) -> tuple[list[Published], list[Published]]:
    """The judgments of a file that are final, and the failed tries of a log of errors."""
    records = read_records(path)
    if {"judge", "top_answer_id"} <= records.fields:
        found = with_letters(records.map(lambda record: logged(record, condition), "prompt_id"))
    elif {"judge", "error"} <= records.fields:
        name = condition or _condition(path)
        return [], records.map(lambda record: failed(record, name), "prompt_id")
    elif "judge_model" in records.fields:
        name = condition or _condition(path)
        found = records.map(lambda record: judged(record, name), "prompt_id")
    else:
        raise records.unknown(_EXPECTED)
    records.refuse_duplicates([judgment.key for judgment in found], "judgments (condition by question by judge)")
    return found, []


def _files(source: Path, condition: str | None) -> list[Path]:
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise FileNotFoundError(
            f"{source}: no such file or folder; a folder would have to hold some of {', '.join(_KNOWN)}"
        )
    present = [name for name in _KNOWN if (source / name).is_file()]
    if not present:
        there = ", ".join(sorted(entry.name for entry in source.iterdir())) or "nothing"
        raise FileNotFoundError(f"{source}: expected some of {', '.join(_KNOWN)} in this folder, found {there}")
    if condition and len(present) > 1:
        raise ValueError(f"{source}: `condition` is for a single file, this folder holds {', '.join(present)}")
    for held in sorted(set(JUDGMENT_FILES.values())):
        rivals = [name for name in present if JUDGMENT_FILES.get(name) == held]
        if len(rivals) > 1:
            raise ValueError(
                f"{source}: {' and '.join(rivals)} hold the same condition, {held!r}; name the one that is meant"
            )
    return [source / name for name in present]


def _condition(path: Path) -> str:
    if path.name not in _KNOWN and re.search("group|hint", path.name):
        raise ValueError(
            f"{path}: the name does not tell which hint was given; give `condition`, or one of {', '.join(_KNOWN)}"
        )
    return _KNOWN.get(path.name, "none")
