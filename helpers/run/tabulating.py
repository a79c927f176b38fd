"""What a matrix found: the parameters of each cell beside its numbers, and beside the lines of its judge cards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.run.cells import done, kept
from helpers.run.grid import Cell
from helpers.run.notebooks import available, experiment_of
from helpers.words import CardLine

if TYPE_CHECKING:
    import pandas as pd

    from helpers.figures.across_runs import Run

#: The fields of a number in numbers.json that become columns, besides `id` and what is in `where`.
FIELDS = ("value", "low", "high", "n", "clusters", "unit", "method", "data")

#: What rows of judges say by themselves.
JUDGES = ("judges",)
#: Letters of settings up to which they have names: a label of a figure holds no more.
SHORT = 28
#: A cell in which nothing is changed, beside cells in which something is.
DEFAULT = "default"


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


def results(cells: Sequence[Cell], folder: Path) -> pd.DataFrame:
    """A row a cell, experiment and line of its judge card, that is a judge and measure.

    Published data, which all cells share, are left out. Columns: cell, what varies, experiment, data, judge, measure,
    id and where (which number it is; as JSON), verdict, value, low, high, unit, n, clusters, p (after the experiment's
    correction, which holds within the cell), smallest (the smallest effect found in 80 % of such runs), words. NaN
    where there is no interval or no test.
    """
    import pandas as pd

    told, held = ("judge", "measure", "verdict", "p", "smallest", "words"), ("value", "low", "high", "unit", "n")
    held = ("id", *held, "clusters")
    rows = [
        {
            **{"cell": cell.id, **_values(cell), "experiment": experiment, "data": line.estimate.data},
            **{name: getattr(line, name) for name in told},
            **{name: getattr(line.estimate, name) for name in held},
            "where": json.dumps(line.estimate.where),
        }
        for cell, experiment, line in _lines(cells, folder)
    ]
    columns = ["experiment", "data", "judge", "measure", "id", "where", "verdict", *held[1:], "p", "smallest", "words"]
    return pd.DataFrame(rows, columns=["cell", *_varied(cells), *columns])


def runs(cells: Sequence[Cell], folder: Path) -> list[Run]:
    """The judge cards of the cells that are done, in their order, with the settings of each cell in words.

    Who judges stands beside the lines and is no setting where no judge is in two cells of the same other settings.
    Values have the names of their parameters where these are short or not all cells have them. Where words would be too
    long to be told apart, a cell is named by its id, as in the tables.
    """
    from helpers.figures.across_runs import Run

    found: dict[str, list[CardLine]] = {}
    for cell, _, line in _lines(cells, folder):
        found.setdefault(cell.id, []).append(line)
    there = [cell for cell in cells if cell.id in found]
    judged = [(_settings(cell, JUDGES), judge) for cell in there for judge in {x.judge for x in found[cell.id]}]
    left_out = JUDGES if len(set(judged)) == len(judged) else ()
    names = len({tuple(cell.varied) for cell in there}) > 1
    words = {cell.id: _settings(cell, left_out, names=True) for cell in there}
    if not names and max(map(len, words.values()), default=0) > SHORT:
        words = {cell.id: _settings(cell, left_out) for cell in there}
    if max(map(len, words.values()), default=0) > SHORT:
        words = {cell.id: cell.id for cell in there}
    none = DEFAULT if any(words.values()) else ""
    return [Run(words[cell.id] or none, found[cell.id]) for cell in there]


def varied(cells: Iterable[Cell]) -> list[str]:
    """The names of the parameters that vary, apart from who judges, in the order of the grid."""
    return [name for name in _varied(cells) if name not in JUDGES]


def _lines(cells: Sequence[Cell], folder: Path) -> Iterator[tuple[Cell, str, CardLine]]:
    from helpers.overview.collecting import SUMMARY, read  # which reads what notebooks left, and imports this room

    for cell in cells:
        if not done(cell, place := folder / "cells" / cell.id):
            continue
        for experiment in (experiment_of(available()[name]) for name in cell.notebooks):
            if (place / experiment / SUMMARY).is_file():  # a notebook that asks nobody has none
                lines = read(place / experiment).lines
                yield from ((cell, experiment, line) for line in lines if line.estimate.data != "published")


def _settings(cell: Cell, left_out: Sequence[str], names: bool = False) -> str:
    told = {name: value for name, value in _values(cell).items() if name not in left_out}
    return ", ".join(f"{name} {value}" if names else str(value) for name, value in told.items())


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
