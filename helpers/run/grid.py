"""A grid of parameters: the cells of a matrix are the product of its lists, with some more or without some of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import ItemsView, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from helpers.config import ConfigError, line_of, load_config, read_yaml
from helpers.run.notebooks import available, chosen, collects, experiment_of
from helpers.types import short_hash

#: What each cell gets from the matrix itself.
OURS = ("out", "store", "budget_usd", "budget_total_usd")
#: More cells than this are a slip of the pen.
MOST_CELLS = 10_000
KEYS = ("notebooks", "parameters", "include", "exclude")


@dataclass(frozen=True)
class Cell:
    """The parameters with which the notebooks run once: `varied` come from the grid, `given` hold in all cells."""

    notebooks: tuple[str, ...]
    varied: Mapping[str, Any]
    given: Mapping[str, Any]

    @property
    def parameters(self) -> dict[str, Any]:
        """All of them, by name."""
        return {**self.given, **self.varied}

    @property
    def id(self) -> str:
        """The name of the cell and of its folder: the same whatever other cells the grid has."""
        return short_hash(json.dumps([self.notebooks, sorted(self.parameters.items())]), digits=10)

    def __str__(self) -> str:
        """The cell by what varies, in one line."""
        return ", ".join(f"{name}={_shown(value)}" for name, value in self.varied.items()) or "no parameter varied"


def read_grid(path: Path, given: Mapping[str, Any]) -> list[Cell]:
    """The cells of a grid file, in order: the product of its lists (the last varies fastest), then those of `include`.

    `given` are parameters that hold in all cells. Everything wrong is a ConfigError that names file and line.
    """
    grid = read_yaml(path)
    if not isinstance(grid, dict):
        raise ConfigError(f"{path}: expected {', '.join(KEYS)}; found {type(grid).__name__}")
    for key in grid:
        if key not in KEYS:
            raise ConfigError(f"{_at(path, key)}: unknown key '{key}'; valid keys: {', '.join(KEYS)}")
    notebooks = _notebooks(path, grid)
    lists = _lists(path, grid, given)
    excluded = _excluded(path, grid, lists)
    varied = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())] if lists else []
    if excluded:
        held = [(each, _texts(each).items()) for each in varied]
        varied = [each for each, has in held if not any(wanted <= has for wanted in excluded)]
    cells = {cell.id: cell for cell in (Cell(notebooks, each, given) for each in varied)}
    included = _mappings(path, grid, "include")
    _refuse_many(path, "include", len(cells) + len(included))
    for number, more in enumerate(included):
        _refuse_taken(path, more, given, "include", number)
        cell = Cell(notebooks, more, given)
        if cell.id in cells:
            raise ConfigError(f"{_at(path, 'include', number)}: the cell {cell} is there already")
        cells[cell.id] = cell
    if not cells:
        raise ConfigError(f"{path}: no cell is left; `parameters:` holds lists, `include:` single cells")
    return [*cells.values()]


def _notebooks(path: Path, grid: Mapping[str, Any]) -> tuple[str, ...]:
    """The notebooks of each cell, those first that others come `after:`."""
    named = grid.get("notebooks")
    where = _at(path, "notebooks")
    asking = [name for name, book in available().items() if not collects(book)]
    if not isinstance(named, list) or not named or not all(isinstance(each, str) for each in named):
        raise ConfigError(f"{where}: notebooks must be a list of names, not empty; there are: {', '.join(asking)}")
    try:
        books = {experiment_of(book): book.stem for book in chosen(tuple(named))}
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    if len(books) < len(named):
        raise ConfigError(f"{where}: a notebook is named twice")
    collecting = [stem for stem in books.values() if stem not in asking]
    if collecting:
        raise ConfigError(
            f"{where}: {', '.join(collecting)} collects what others found and cannot be part of a matrix; afterwards "
            "`recuse run` it with -p results and a folder of cells"
        )
    try:
        order = TopologicalSorter({name: [a for a in load_config(name).after if a in books] for name in books})
        return tuple(books[name] for name in order.static_order())
    except CycleError:
        raise ConfigError(f"{where}: by their `after:` these wait for each other: {', '.join(books)}") from None


def _lists(path: Path, grid: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, list[Any]]:
    lists = grid.get("parameters", {})
    if not isinstance(lists, dict):
        raise ConfigError(f"{_at(path, 'parameters')}: parameters must be a list a name, such as seed: [1, 2]")
    _refuse_taken(path, lists, given, "parameters")
    for name, values in lists.items():
        if not isinstance(values, list) or not values:
            told = f"{name} = {_shown(values)}: must be a list of values, such as [1, 2]"
            raise ConfigError(f"{_at(path, 'parameters', name)}: {told}")
        text, times = Counter(map(_text, values)).most_common(1)[0]
        if times > 1:
            raise ConfigError(f"{_at(path, 'parameters', name)}: {name} lists {_shown(json.loads(text))} twice")
    _refuse_many(path, "parameters", prod(map(len, lists.values())))
    return lists


def _refuse_many(path: Path, key: str, cells: int) -> None:
    if cells > MOST_CELLS:
        raise ConfigError(f"{_at(path, key)}: {cells} cells; at most {MOST_CELLS} are run at once")


def _excluded(path: Path, grid: Mapping[str, Any], lists: Mapping[str, list[Any]]) -> list[ItemsView[str, str]]:
    found = []
    for number, wanted in enumerate(_mappings(path, grid, "exclude")):
        for name, value in wanted.items():
            told = ""
            if name not in lists:
                told = f"'{name}' is not varied; `parameters:` has: {', '.join(lists)}"
            elif _text(value) not in map(_text, lists[name]):
                told = f"{name} = {_shown(value)} is in no cell; it is one of: {', '.join(map(_shown, lists[name]))}"
            if told:
                raise ConfigError(f"{_at(path, 'exclude', number, name)}: {told}")
        found.append(_texts(wanted).items())
    return found


def _mappings(path: Path, grid: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    listed = grid.get(key, [])
    if not isinstance(listed, list):
        raise ConfigError(f"{_at(path, key)}: {key} must be a list of parameters with values, one entry a cell")
    for number, each in enumerate(listed):
        if not isinstance(each, dict) or not each:
            raise ConfigError(f"{_at(path, key, number)}: {_shown(each)}: an entry of {key} is like {{seed: 1}}")
    return listed


def _refuse_taken(path: Path, named: Mapping[str, Any], given: Mapping[str, Any], *keys: str | int) -> None:
    for name in named:
        told = ""
        if not isinstance(name, str):
            told = f"{name!r} is no name of a parameter"
        elif name in OURS:
            ours = "budget_usd" if name == "budget_total_usd" else name
            told = f"{name} is one for the whole matrix; give it with -p {ours}"
        elif name in given:
            told = f"{name} is also given with -p; leave one of them out"
        if told:
            raise ConfigError(f"{_at(path, *keys, name)}: {told}")


def _at(path: Path, *keys: str | int) -> str:
    """File and line of what stands under these keys, or of what is around it."""
    line = line_of(path, keys)
    return f"{path}, line {line}" if line else str(path)


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Values that can be compared: 1, 1.0 and true are three."""
    return {name: _text(value) for name, value in values.items()}


def _text(value: Any) -> str:
    return json.dumps(value)


def _shown(value: Any) -> str:
    """A value as it is written in a grid, in one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return value if isinstance(value, str) else json.dumps(value)
