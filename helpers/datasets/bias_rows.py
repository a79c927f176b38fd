"""Rows of the published bias tests and decisions - CSV, JSON lines, Parquet - one by one, and what their cells hold.

A broken row is told with file and line (of Parquet: the number of the row), and the rest is kept.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from helpers.datasets.hub import fetch_below
from helpers.datasets.reading import Problem, read_lines, show, text_field

#: How the names of files end that can be read.
ENDS = (".csv", ".jsonl", ".parquet")
#: The longest cell that is taken for a list or a set of parameters; the published ones have about fifty letters.
LONGEST = 400
#: More options have no letter of their own (see `biases.cognitive.design.LETTERS`).
MOST_OPTIONS = 22
Row = tuple[int, Mapping[str, Any] | Problem]


def files(source: str | Path, entry: Mapping[str, Any] | None, what: str) -> list[Path]:
    """The files that `source` means: itself, all below a folder that end with ENDS, or those on the hub ("hub")."""
    if source == "hub":
        return fetch_below(entry, what, ENDS)
    path = Path(source).expanduser()
    if path.is_file():
        if path.suffix not in ENDS:
            raise ValueError(f"{path}: ends with {path.suffix or 'nothing'}; it must be one of {', '.join(ENDS)}")
        return [path]
    if not path.is_dir():
        raise FileNotFoundError(f"{path}: no such file or folder; expected files that end with {', '.join(ENDS)}")
    found = below(path)
    if not found:
        there = ", ".join(sorted(each.name for each in path.iterdir())) or "nothing"
        raise FileNotFoundError(f"{path}: expected files that end with {', '.join(ENDS)}, found {there}")
    return found


def below(folder: Path) -> list[Path]:
    """The files anywhere in a folder that end with ENDS, in order."""
    found = (each for each in sorted(folder.rglob("*")) if each.suffix in ENDS and each.is_file())
    # Hidden ones are copies that editors and systems keep.
    return [each for each in found if not any(part.startswith(".") for part in each.relative_to(folder).parts)]


def rows(path: Path, name: str, needed: tuple[str, ...]) -> Iterator[Row]:
    """Each row of a file, called `name` in problems, with its line; columns that lack one of `needed` are an error."""
    read = {".csv": _csv_rows, ".jsonl": _json_rows, ".parquet": _parquet_rows}[path.suffix]
    known = None
    for line, row in read(path, name):
        if known is None and not isinstance(row, Problem):
            known = list(row)
            lost = [each for each in needed if each not in row]
            if lost:
                raise ValueError(
                    f"{path}, line {line}: no column {', '.join(lost)}; found {', '.join(map(str, known)) or 'none'}, "
                    f"expected {', '.join(needed)}"
                )
        yield line, row


def _csv_rows(path: Path, name: str) -> Iterator[Row]:
    # Bytes that are no text survive as half characters, so that one row is lost to them and not the file.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, strict=True)
        names: list[str] | None = None
        at = 1
        try:
            for cells in reader:
                line, at = at, reader.line_num + 1
                if names is None:
                    names = [cell.strip() for cell in cells]
                    if len(set(names)) < len(names):
                        raise ValueError(f"{path}, line 1: a column's name occurs twice")
                elif cells and len(cells) != len(names):
                    told = f"{len(cells)} cells where the header has {len(names)}"
                    yield line, Problem(name, line, "broken", told)
                elif cells:
                    yield line, dict(zip(names, cells, strict=True))
        except csv.Error as error:
            # Where quotes are broken nobody knows where the next row begins.
            raise ValueError(f"{path}, line {reader.line_num}: not readable as CSV: {error}") from None


def _json_rows(path: Path, name: str) -> Iterator[Row]:
    yield from read_lines(path, name)


def _parquet_rows(path: Path, name: str) -> Iterator[Row]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        number = 0
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1000):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except ArrowException as error:
        raise ValueError(f"{path}: not readable as Parquet: {str(error).splitlines()[0]}") from None


def words(row: Mapping[str, Any], name: str) -> str:
    """The text of a cell with plain line ends."""
    whole(row.get(name), name)
    return text_field(dict(row), name).replace("\r\n", "\n").strip()


def whole(value: Any, name: str) -> Any:
    """The value of a cell; one that holds bytes which were no text is a ValueError."""
    if isinstance(value, str) and not value.isascii() and re.search("[\udc80-\udcff]", value):
        raise ValueError(f"field {name!r} holds bytes that are not UTF-8")
    return value


def bias_name(published: str) -> str:
    """A bias by its short name in lower case, whatever the published spelling.

    >>> bias_name("Framing Effect"), bias_name("InGroupBias"), bias_name("Status-Quo Bias"), bias_name("Loss Aversion")
    ('framing', 'in_group', 'status_quo', 'loss_aversion')
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", published)
    parts = re.findall("[a-z0-9]+", spaced.lower())
    kept = parts[:-1] if len(parts) > 1 and parts[-1] in ("effect", "bias") else parts
    return "_".join(kept) or published.strip().lower()


def id_text(value: Any) -> str:
    """The id of a test as a text: whole numbers may have become decimal ones on their way.

    >>> id_text("12.0"), id_text(12), id_text(" a1 ")
    ('12', '12', 'a1')
    """
    return re.sub(r"(?<=\d)\.0$", "", str(value).strip())


def literal(text: str, what: str) -> Any:
    """What a short text of Python's literals says, read and never run; anything else is a ValueError."""
    if len(text) > LONGEST:
        raise ValueError(f"{what} has {len(text)} letters, more than {LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        for table in (node for node in ast.walk(tree) if isinstance(node, ast.Dict)):
            names = [repr(getattr(key, "value", None)) for key in table.keys]
            if len(set(names)) < len(names):
                raise ValueError("a name occurs twice")
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        why = str(error) if str(error) == "a name occurs twice" else "not a plain list of names and numbers"
        raise ValueError(f"{what} holds {show(text)}: {why}") from None
