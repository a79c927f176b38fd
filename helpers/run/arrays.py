"""Answers as arrays in a file of one's own, for the four metrics of experiment 5's published notebook."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.biases.cognitive import Arrays, from_arrays, notebook_arrays
from helpers.datasets.reading import read_cells, read_text
from helpers.json_text import document

if TYPE_CHECKING:
    import pandas as pd

#: What the tests of a kind need; `anchor` beside the first adds the two metrics of anchoring.
KINDS = (("control", "treatment", "options"), ("answer", "lambdas"), ("answer", "pro", "con", "n_args"))
COLUMNS = ("control", "treatment", "options", "anchor", "answer", "lambdas", "pro", "con", "n_args")
#: Which rows belong together, and which tests are a batch of their own.
CLUSTER, NAME = "cluster", "answers"
_NEEDED = "; or ".join(", ".join(kind) for kind in KINDS).replace("options;", "options (and anchor);")


def read_arrays(source: str | Path | None) -> list[Arrays]:
    """The arrays in a CSV or JSON file, a batch for each value of its column `answers`; none where no file is named.

    Columns: control, treatment, options (in CSV "10 | 20 | 30") and, for anchoring, anchor; or answer, lambdas; or
    answer, pro, con, n_args; in any case `cluster` and `answers`. JSON is a list of rows or an object of columns, or an
    object of such by name. What is missing, no number or refused by a metric is a ValueError with file, row and
    column; FileNotFoundError where there is no file.
    """
    if source is None:
        return []
    path = Path(source).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"arrays={str(source)!r}: there is no such file ({path.absolute()})")
    text, batches = read_text(path), dict[str, list[tuple[str, Mapping[str, Any]]]]()
    for name, place, row in (_json_rows if text.lstrip()[:1] in ("{", "[") else _csv_rows)(path, text):
        batches.setdefault(name, []).append((place, row))
    if not batches:
        raise ValueError(f"{path}: holds no row; write a row a test with the columns {_NEEDED}")
    return [_arrays(path, name, rows) for name, rows in batches.items()]


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The rows of a CSV: the name of their batch, their line, their cells."""
    for line, row in read_cells(io.StringIO(text, newline=""), path):
        if isinstance(row, str):
            raise ValueError(f"{path}, line {line}: {row}")
        cells = {name: re.split(r"[|;]", cell) if name == "options" else cell.strip() for name, cell in row.items()}
        yield cells.get(NAME, ""), f"line {line}", cells


def _json_rows(path: Path, text: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    try:
        content = document(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: no JSON ({error})") from None
    named = isinstance(content, dict) and content and all(isinstance(each, dict | list) for each in content.values())
    for name, block in (content if named and not {*content} & {*COLUMNS} else {"": content}).items():
        if isinstance(block, dict):
            block = _rows(f"{path}: {name}{': ' if name else ''}", block)
        if not isinstance(block, list) or not all(isinstance(row, dict) for row in block):
            raise ValueError(f"{path}: {name or 'the document'} is neither a list of rows nor an object of arrays")
        for number, row in enumerate(block, 1):
            yield str(row.get(NAME, name)), f"{name} row {number}".strip(), row


def _rows(where: str, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object of arrays."""
    for column, values in columns.items():
        if not isinstance(values, list):
            raise ValueError(f"{where}{column} is no array, expected a list with a value a test")
    if len({*map(len, columns.values())}) > 1:
        problem = ", ".join(f"{len(values)} of {column}" for column, values in columns.items())
        raise ValueError(f"{where}all arrays need the same rows, found {problem}")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _arrays(path: Path, name: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Arrays:
    """The arrays of one batch, which the metrics have accepted."""
    import numpy as np

    places, cells = [place for place, _ in rows], [row for _, row in rows]
    there = {column for column in cells[0] if column in COLUMNS}
    if not any({*kind} <= there for kind in KINDS):
        names = ", ".join(map(str, cells[0])) or "nothing"
        raise ValueError(f"{path}, {places[0]}: columns {names}; a metric needs {_NEEDED}")
    columns = {}
    for column in (each for each in COLUMNS if each in there):
        values = [_numbers(path, place, column, row.get(column)) for place, row in rows]
        width = len(values[0]) if column == "options" else 1
        for place, found in zip(places, values, strict=True):
            if len(found) != width:
                more = "; give tests with other numbers of options another name in a column `answers`"
                problem = f"holds {len(found)} numbers, expected {width}{more if column == 'options' else ''}"
                raise ValueError(f"{path}, {place}, {column}: {problem}")
        columns[column] = np.array(values)
    clusters = [None if row.get(CLUSTER) == "" else row.get(CLUSTER) for row in cells] if CLUSTER in cells[0] else None
    arrays = Arrays({"source": "arrays"} | ({NAME: name} if name else {}), columns, clusters)
    try:
        from_arrays([arrays])
    except ValueError as error:
        problem = re.sub(r"row (\d+)", lambda match: places[int(match[1])], str(error))
        raise ValueError(f"{path}: {problem}") from None
    return arrays


def _numbers(path: Path, place: str, column: str, value: Any) -> list[float]:
    """A cell as numbers: one, or the options of a test."""
    while isinstance(value, list) and column != "options" and len(value) == 1:
        value = value[0]  # arrays (n, 1), as the notebook has them
    found = []
    for cell in value if isinstance(value, list) else [value]:
        try:
            found.append(math.nan if isinstance(cell, bool) else float(cell))
        except (TypeError, ValueError):
            found.append(math.nan)
        if math.isnan(found[-1]):
            what = "nothing" if cell in (None, "") else repr(cell)
            raise ValueError(
                f"{path}, {place}, {column}: holds {what}, expected a number; leave out tests without a readable answer"
            )
    return found


def array_table(published: Mapping[str, Any], arrays: Sequence[Arrays]) -> tuple[str, pd.DataFrame, str]:
    """The arrays of the published notebook and of a file test by test, as a table: name, frame and caption.

    Columns: answers (a name), test, inputs, the value of each metric, data.
    """
    import pandas as pd

    rows = []
    for each, data in [*((x, "published") for x in notebook_arrays(published)), *((x, "folder") for x in arrays)]:
        values = {id: metric(overall=False).compute(*inputs).ravel() for id, metric, inputs in each.metrics()}
        for at in range(len(next(iter(each.columns.values())))):
            inputs = (f"{name} {', '.join(f'{x:.10g}' for x in array[at])}" for name, array in each.columns.items())
            row = {NAME: each.where.get(NAME, ""), "test": at + 1, "inputs": "; ".join(inputs)}
            rows.append(row | {id: float(found[at]) for id, found in values.items()} | {"data": data})
    frame = pd.DataFrame(rows)
    caption = "Arrays of answers, test by test, with the published metrics of each (loss aversion: the answer itself)."
    return "array_rows", frame[[*frame.columns.drop("data"), "data"]], caption
