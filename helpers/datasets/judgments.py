"""Which files of published judgments a source means, under which hint they were made, and which records count."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from helpers.datasets.files import ERROR_FILES, HINTS, JUDGMENT_FILES
from helpers.datasets.hub import from_hub
from helpers.datasets.published import Published, failed, judged, logged, with_letters
from helpers.datasets.reading import Records, read_records, show

_KNOWN = JUDGMENT_FILES | {errors: JUDGMENT_FILES[log] for errors, log in ERROR_FILES.items()}
#: Words in the names of files and folders that suggest a hint; which one is meant, only a known name says.
_HINTED = "hint|group|self(?![-_ ]?(?:bias|pref))|compet|rival|full|swap|mask|disclos|reveal|transparen"
#: The same for a file's own name, where some words must stand alone.
_FILE_HINTED = rf"{_HINTED}|self|none|blind|(?<![a-z])(?:model|own)(?![a-z])"
#: Known names without a hint in them: such a file holds the blind group unless its folder's name suggests a hint.
_GENERIC = ("judgments.json", "judgments_new.json")
_EXPECTED = (
    "published judgments (prompt_id, judge_model, ranking, scores, mapping, or error), a log of them (prompt_id, "
    "judge, hint_mode, top_answer_id, ranking, scores) or a log of errors (prompt_id, judge, error, detail)"
)


def read_judgments(
    source: str | Path,
    hub: Mapping[str, Any] | None = None,
    condition: str | None = None,
    unlabelled: str | None = "none",
) -> tuple[list[Published], tuple[str, ...]]:
    """The final judgments in a file, in a folder or behind the hub entry ("hub"), and notes on what was read.

    A record of a JSON array is final, as is a success in a log; of a judgment that never succeeded the last failed
    try counts. A log of successes brings its log of errors with it (ERROR_FILES). The hint of a judgment comes from its
    record (HINT_FIELDS), else from `condition` (for a single file), else from the file's name (JUDGMENT_FILES); a file
    that suggests no hint has the condition `unlabelled` (None: an error). An unclear hint, one that contradicts another
    source, a judgment that occurs twice, or a condition in two files of a folder is an error.
    """
    if condition is not None and condition not in HINTS:
        raise ValueError(f"condition = {condition!r}: no such hint; write one of {', '.join(HINTS)}")
    if source == "hub":
        source = from_hub(hub, "judgments")
    done: list[Published] = []
    tries: list[Published] = []
    logs: list[str] = []
    errors: list[str] = []
    paths = _files(Path(source), condition)
    for path in paths:
        records = read_records(path)
        if {"judge", "top_answer_id"} <= records.fields:
            logs.append(path.name)
            found = with_letters(records.map(lambda record: logged(record, condition), "prompt_id"))
        elif {"judge", "error"} <= records.fields:
            errors.append(path.name)
            tries += _label(records, records.map(failed, "prompt_id"), condition, unlabelled, len(paths) == 1)
            continue
        elif "judge_model" in records.fields:
            found = records.map(judged, "prompt_id")
        else:
            raise records.unknown(_EXPECTED)
        found = _label(records, found, condition, unlabelled, len(paths) == 1)
        records.refuse_duplicates([judgment.key for judgment in found], "judgments (condition by question by judge)")
        done += found
    last = {one.key: one for one in tries}
    known = {judgment.key for judgment in done}
    return done + [one for key, one in last.items() if key not in known], _notes(logs, errors)


def _label(
    records: Records, found: list[Published], given: str | None, unlabelled: str | None, alone: bool
) -> list[Published]:
    """The judgments of a file, each with its hint: an array of records has one, a log may have several."""
    named = _KNOWN.get(records.path.name.lower())
    first: dict[str, int] = {}
    for index, judgment in enumerate(found):
        first.setdefault(judgment.condition, index)
    hints = [hint for hint in first if hint in HINTS]
    remedy = (
        f"set the parameter `condition` to the hint, as in `-p condition self` ({', '.join(HINTS)}), write it into "
        f'each record as "hint_mode", or use a known name such as {next(iter(_KNOWN))} (data/README.md lists them)'
    )
    for hint, index in first.items():
        if hint not in (*HINTS, "") and not given:
            raise ValueError(f"{records.place(index)}: the hint {show(hint)} is not known; {remedy}")
        if hint in HINTS and hint != (given or named or hint):
            other = f"condition = {given!r}" if given else f"the name of the file, which means {named!r}"
            told = f"the record names the hint {hint!r}, which contradicts {other}"
            raise ValueError(f"{records.place(index)}: {told}; correct the one that is wrong")
    if len(hints) > 1 and "judge_model" in records.fields:
        raise ValueError(f"{records.path}: records of several hints ({', '.join(hints)}); write a file for each hint")
    whole = given or named or unlabelled
    if "" in first and not given:
        if hints and not named:
            told = f"the record names no hint, others name {' and '.join(hints)}"
            raise ValueError(f"{records.place(first[''])}: {told}; {remedy}")
        if not hints and (word := _hint_word(records.path, alone)):
            told = f"{word!r} in its name or its folder's suggests a hint, but only a known name says which"
            raise ValueError(f"{records.path}: {told}; {remedy}")
        if whole is None:
            raise ValueError(f"{records.path}: neither its name nor its records name a hint; {remedy}")
    return [replace(one, condition=one.condition if one.condition in HINTS else whole) for one in found]


def _hint_word(path: Path, alone: bool) -> str:
    """What in the name of a file, or of the folder where it is `alone`, suggests a hint; "" where nothing does."""
    name, folder = path.name.lower(), path.absolute().parent.name.lower()
    found = None if name in _KNOWN else re.search(_FILE_HINTED, name)
    if not found and alone and (name in _GENERIC or name not in _KNOWN):
        found = re.search(_HINTED, folder)
    return found[0] if found else ""


def _notes(logs: list[str], errors: list[str]) -> tuple[str, ...]:
    """What a reader must know about the failed tries of a log."""
    successes, failures = ", ".join(logs), ", ".join(errors)
    if logs and errors:
        return (f"The failed tries in {failures}, beside {successes}, were read too.",)
    if logs:
        return (
            f"{successes} holds successes alone and no log of errors lies beside it: failed tries are not counted.",
        )
    if errors:
        return (f"{failures} holds failed tries alone; what succeeded later is read with the log of successes.",)
    return ()


def _files(source: Path, condition: str | None) -> list[Path]:
    """The files that a source means: a log of successes brings its log of errors, a folder all its known files."""
    if source.is_file():
        beside = [source.with_name(errors) for errors, log in ERROR_FILES.items() if log == source.name.lower()]
        return [source, *(path for path in beside if path.is_file())]
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
