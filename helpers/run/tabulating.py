"""What a matrix found: the parameters of each cell beside its numbers, and beside the lines of its judge cards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.run.cells import done, kept
from helpers.run.grid import Cell
from helpers.run.notebooks import available, experiment_of
from helpers.types import CardLine

if TYPE_CHECKING:
    import pandas as pd

#: The fields of a number in numbers.json that become columns, besides `id` and what is in `where`.
FIELDS = ("value", "low", "high", "n", "clusters", "unit", "method", "data")

#: What rows of judges say by themselves.
JUDGES = ("judges",)
#: Letters of settings up to which they have names: a label of a figure holds no more.
SHORT = 24


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

    Published data, which all cells share, are left out.
    Columns: cell, what varies, experiment, data, judge, measure, verdict, value, low, high, unit, n, clusters, p (after
    the experiment's correction), smallest (the smallest effect found in 80 % of such runs), words. NaN where there is
    no interval or no test.
    """
    import pandas as pd

    held = ("value", "low", "high", "unit", "n", "clusters")
    rows = [
        {
            **{"cell": cell.id, **_values(cell), "experiment": experiment, "data": line.estimate.data},
            **{name: getattr(line, name) for name in ("judge", "measure", "verdict", "p", "smallest", "words")},
            **{name: getattr(line.estimate, name) for name in held},
        }
        for cell, experiment, line in _lines(cells, folder)
    ]
    columns = ["experiment", "data", "judge", "measure", "verdict", *held, "p", "smallest", "words"]
    return pd.DataFrame(rows, columns=["cell", *_varied(cells), *columns])


def cards(cells: Sequence[Cell], folder: Path) -> dict[str, list[CardLine]]:
    """The lines of the judge cards by the settings of their cells, in words, in the order of the cells.

    A judge's name stands beside its lines: that it varies is said of the settings only where a judge is in two cells
    of the same other settings. Values have the names of their parameters where these are short.
    """
    found = [(cell, line) for cell, _, line in _lines(cells, folder)]
    twice = Counter((cell.id, line.judge, line.measure, _settings(cell, JUDGES)) for cell, line in found)
    places = Counter((judge, measure, words) for _, judge, measure, words in twice)
    left_out = JUDGES if max(places.values(), default=1) == 1 else ()
    words = {cell.id: _settings(cell, left_out, names=True) for cell, _ in found}
    if max(map(len, words.values()), default=0) > SHORT:
        words = {cell.id: _settings(cell, left_out) for cell, _ in found}
    lines: dict[str, list[CardLine]] = {}
    for cell, line in found:
        lines.setdefault(words[cell.id], []).append(line)
    return lines


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
