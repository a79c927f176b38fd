"""What a matrix found, in one table: the parameters of each cell beside its numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.run.cells import done, kept
from helpers.run.grid import Cell
from helpers.run.notebooks import available, experiment_of

if TYPE_CHECKING:
    import pandas as pd

#: The fields of a number in numbers.json that become columns, besides `id` and what is in `where`.
FIELDS = ("value", "low", "high", "n", "clusters", "unit", "method", "data")


def numbers(cells: Sequence[Cell], folder: Path) -> pd.DataFrame:
    """A row a cell, experiment and number of the cells that are done.

    Columns: cell, what varies, experiment, id, `where.<...>` for what each number is of, and FIELDS.
    """
    import pandas as pd

    rows = [row for cell in cells if done(cell, place := folder / "cells" / cell.id) for row in _rows(cell, place)]
    wheres = sorted({name for row in rows for name in row if name.startswith("where.")})
    return pd.DataFrame(rows, columns=["cell", *_varied(cells), "experiment", "id", *wheres, *FIELDS])


def _rows(cell: Cell, folder: Path) -> Iterator[dict[str, Any]]:
    for experiment in (experiment_of(available()[name]) for name in cell.notebooks):
        found = json.loads((folder / experiment / "numbers.json").read_text(encoding="utf-8"))["numbers"]
        for number in found:
            where = {f"where.{name}": value for name, value in number["where"].items()}
            fields = {name: number.get(name) for name in ("id", *FIELDS)}
            yield {"cell": cell.id, **_values(cell), "experiment": experiment, **where, **fields}


def states(cells: Sequence[Cell], folder: Path) -> pd.DataFrame:
    """A row a cell: what varies, whether it is done, failed or not run, seconds, dollars at most, errors."""
    import pandas as pd

    rows = []
    for cell in cells:
        found = kept(folder / "cells" / cell.id)
        state = "done" if done(cell, folder / "cells" / cell.id) else "failed" if found.get("errors") else "not run"
        errors = "; ".join(f"{name}: {text}" for name, text in found.get("errors", {}).items())
        spent = {name: found.get(name) for name in ("seconds", "spent_usd")}
        rows.append({"cell": cell.id, **_values(cell), "state": state, **spent, "errors": errors})
    return pd.DataFrame(rows, columns=["cell", *_varied(cells), "state", "seconds", "spent_usd", "errors"])


def _varied(cells: Iterable[Cell]) -> list[str]:
    return list(dict.fromkeys(name for cell in cells for name in cell.varied))


def _values(cell: Cell) -> dict[str, Any]:
    """What varies, lists as JSON."""
    plain = {name: value for name, value in cell.varied.items() if not isinstance(value, list | dict)}
    return {name: plain.get(name, json.dumps(value)) for name, value in cell.varied.items()}
