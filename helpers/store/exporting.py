"""Replies for other programs and other people: lossless as JSON lines, or as a table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from helpers.escaping import cell
from helpers.store.checking import Line, files, scan
from helpers.store.joining import named
from helpers.store.records import StoreError, file_of
from helpers.store.verifying import replacing

#: The columns of a table and where a line holds them; what is no text has its type, everything else is text.
COLUMNS: dict[str, tuple[str, ...]] = {
    "model": (),
    **{name: (name,) for name in ("key", "attempt", "status", "at")},
    **{name: ("labels", name) for name in ("experiment", "question_id", "condition", "shown")},
    "provider": ("request", "provider"),
    "model_id": ("request", "model"),
    **{name: ("request", name) for name in ("params", "revision", "system", "prompt", "schema", "repeat")},
    **{name: ("reply", name) for name in ("text", "finish")},
    **{f"tokens_{name}": ("reply", "usage", name) for name in ("input", "output", "reasoning", "cached", "written")},
    "returned_model": ("reply", "model"),
    **{name: ("reply", name) for name in ("request_id", "latency", "error", "maybe_billed")},
    "raw": ("raw",),
}
TYPES = {
    **{name: "int64" for name in COLUMNS if name in ("attempt", "repeat") or name.startswith("tokens_")},
    "latency": "float64",
    "maybe_billed": "bool",
}
_ROWS = 500


def export(
    folder: Path, target: Path, models: Sequence[str] = (), experiments: Sequence[str] = (), force: bool = False
) -> dict[str, int]:
    """Write the lines of a store into one file, by its suffix .jsonl, .parquet or .csv; how many of each model.

    `models` are names of files, `experiments` labels: a reply that several experiments share has that of the first to
    ask. .jsonl holds the lines byte for byte, each with the name of its file at the end, and `recuse store import`
    reads it. In tables half a character is U+FFFD; in .csv texts that begin like a formula get an apostrophe, line ends
    are \\n. All or nothing: damage is a StoreError, and a file that is there stays unless `force`.
    """
    writers = {".jsonl": _write_lines, ".parquet": _write_parquet, ".csv": _write_csv}
    suffix = target.suffix.lower()
    if suffix not in writers:
        raise StoreError(f"{target}: ends in {target.suffix!r}; valid: {', '.join(writers)}")
    if target.is_dir() or (target.exists() and not force):
        raise StoreError(f"{target}: is there already; --force replaces it")
    if target.resolve().parent == folder.resolve():
        raise StoreError(f"{target}: would lie in the store itself, where each file is a model's; choose another one")
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent}: no such folder")
    counts: dict[str, int] = {}
    found = _lines(files(folder, models), experiments, counts)
    with replacing(target) as file:
        writers[suffix](file, found)
        if experiments and not counts:
            there = sorted({label for _, line in _lines(files(folder, models), (), {}) if (label := _label(line))})
            raise StoreError(
                f"{folder}: no line of {', '.join(experiments)}; there are those of: {', '.join(there) or 'none'}"
            )
    return counts


def _label(line: Line) -> str:
    return str((line.record or {}).get("labels", {}).get("experiment", ""))


def _lines(paths: Sequence[Path], experiments: Sequence[str], counts: dict[str, int]) -> Iterator[tuple[str, Line]]:
    """The whole lines of files with their models' names, counted; a torn last line is left out as readers do."""
    for path in paths:
        file_of(path.parent, path.stem)  # a name that import would refuse
        for line in scan(path):
            if line.kind in ("damaged", "unknown"):
                raise StoreError(f"{path}, line {line.number}: {line.wrong}; nothing was written")
            if line.record is not None and (not experiments or _label(line) in experiments):
                counts[path.stem] = counts.get(path.stem, 0) + 1
                yield path.stem, line


def _write_lines(file: BinaryIO, found: Iterator[tuple[str, Line]]) -> None:
    for model, line in found:
        file.write(named(line.raw.removesuffix(b"\n"), model) + b"\n")


def _write_csv(file: BinaryIO, found: Iterator[tuple[str, Line]]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    # Numbers are told from texts by their quotation marks, and so are line ends of a text from those of a row.
    rows = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    rows.writerow(COLUMNS)
    for model, line in found:
        values = _row(model, line).values()
        rows.writerow([cell(v) if isinstance(v, str) else int(v) if isinstance(v, bool) else v for v in values])
    text.detach()


def _write_parquet(file: BinaryIO, found: Iterator[tuple[str, Line]]) -> None:
    import pyarrow
    from pyarrow import parquet

    make: dict[str, Callable[[], Any]] = {"int64": pyarrow.int64, "float64": pyarrow.float64, "bool": pyarrow.bool_}
    schema = pyarrow.schema([(name, make[TYPES[name]]() if name in TYPES else pyarrow.string()) for name in COLUMNS])
    rows: list[dict[str, Any]] = []
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for model, line in found:
            rows.append(_row(model, line))
            if len(rows) == _ROWS:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows.clear()
        if rows:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))


def _row(model: str, line: Line) -> dict[str, Any]:
    """One line as a row of the table; what is neither text nor number is JSON."""
    row: dict[str, Any] = {"model": model}
    for name, place in COLUMNS.items():
        value: Any = line.record
        for step in place:
            value = value.get(step) if isinstance(value, dict) else None
        if place and name not in TYPES and value is not None:
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            value = told.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        row.setdefault(name, value)
    return row
