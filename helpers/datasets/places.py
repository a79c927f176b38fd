"""Where files on passages lie - a file, a folder, the hub - and strict reading of those that are CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from helpers.datasets.files import FILE_ENDS
from helpers.datasets.hub import fetch, from_hub
from helpers.datasets.reading import Records, find_file, read_records


def one_file(source: str | Path, hub: Mapping[str, Any] | None, what: str, names: tuple[str, ...]) -> Path:
    """The file that `source` means: itself, the only one of `names` in that folder, or the hub's entry `what`."""
    if source != "hub":
        return find_file(source, names)
    found = _fetched(hub, what, names)
    if len(found) > 1:
        raise ValueError(f"hub: {what} means {' and '.join(path.name for path in found)}; name the one that is meant")
    return found[0]


def all_files(source: str | Path, hub: Mapping[str, Any] | None, what: str, names: tuple[str, ...]) -> list[Path]:
    """The files that `source` means: itself, all of `names` in a folder (else all its .jsonl), or those on the hub."""
    if source == "hub":
        return _fetched(hub, what, names)
    path = Path(source)
    if not path.is_dir():
        return [find_file(path, names)]
    present = [path / name for name in names if (path / name).is_file()] or sorted(path.glob("*.jsonl"))
    return present or [find_file(path, names)]


def read_rows(path: Path) -> Records:
    """The records of a JSON, JSON lines or CSV file; an empty cell is None, as CSV knows no null.

    In a CSV file a row with more or fewer cells than the header, a name twice in it, and a broken quote are ValueErrors
    with file and line.
    """
    if path.suffix != ".csv":
        return read_records(path)
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {line}: not UTF-8 text ({error.reason})") from None
    lines = list(io.StringIO(text, newline=""))
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    reader = csv.reader(lines, strict=True)
    rows, offsets, names, at = [], [], None, 0
    try:
        for cells in reader:
            at, start = reader.line_num, begins[at]
            if names is None:
                names = cells
                if len(set(names)) < len(names):
                    raise ValueError(f"{path}, line 1: a column's name occurs twice")
            elif cells:
                if len(cells) != len(names):
                    told = f"{len(cells)} cells where the header has {len(names)}"
                    raise ValueError(f"{path}, line {text.count(chr(10), 0, start) + 1}: {told}")
                rows.append({name: cell or None for name, cell in zip(names, cells, strict=True)})
                offsets.append(start)
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: not readable as CSV: {error}") from None
    if not rows:
        raise ValueError(f"{path}, line 1: no record in this file")
    return Records(path, tuple(rows), tuple(offsets), text)


def _fetched(hub: Mapping[str, Any] | None, what: str, names: tuple[str, ...]) -> list[Path]:
    """The files of the hub entry: those it names, and of a folder those of `names` that are there."""
    entry = hub or {}
    named = entry.get(what)
    paths = named if isinstance(named, list) else [named]
    if not entry.get("repo") or not all(paths) or not paths:
        return [from_hub(hub, what)]  # says what the entry lacks
    repo, revision = entry["repo"], entry.get("revision") or "main"
    found = []
    for path in (path.strip("/") for path in paths):
        if PurePosixPath(path).suffix in FILE_ENDS:
            found.append(fetch(repo, path, revision))
            continue
        missing = None
        before = len(found)
        for name in names:
            try:
                found.append(fetch(repo, str(PurePosixPath(path, name)), revision))
            except FileNotFoundError as error:
                missing = error  # lists the files that are there
        if len(found) == before and missing:
            raise FileNotFoundError(f"none of {', '.join(names)} in {path}/: {missing}")
    return found
