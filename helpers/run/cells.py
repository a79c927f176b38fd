"""The cells of a matrix: each run in a folder of its own, the replies merged from it, and its results."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import pandas as pd
from pydantic import Field

from .. import export, paths, store
from ..commands.printing import cost_of
from ..config import ConfigError, load_config, load_models
from ..config.yaml_text import Keys, Strict, checked, line_words, read_yaml
from ..judge import notice, wait_for_lock
from ..providers import Clock
from ..types import short_hash
from ..words import CardLine
from .notebooks import Result, available, chosen, collects, execute, experiment_of, quiet
from .showing import SOURCES

if TYPE_CHECKING:
    from ..figures.cards import Run

#: What each cell gets from the matrix itself.
OURS = ("out", "store", "budget_usd", "budget_total_usd")
#: More cells than this are a slip of the pen.
MOST_CELLS = 10_000


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

    @property
    def experiments(self) -> dict[str, Path]:
        """The notebooks of its experiments, by their names."""
        return {experiment_of(book): book for book in (available()[name] for name in self.notebooks)}

    def __str__(self) -> str:
        """The cell by what varies, in one line."""
        return ", ".join(f"{name}={_shown(value)}" for name, value in self.varied.items()) or "no parameter varied"


Some = Annotated[list[Any], Field(min_length=1)]
Values = Annotated[dict[str, Any], Field(min_length=1)]


class Grid(Strict):
    """A grid file: the notebooks of each cell, lists of values by parameter, cells beside these and cells left out.

    A cell of `include` may have `notebooks` of its own.
    """

    notebooks: list[str] = Field([])
    parameters: dict[str, Some] = Field({})
    include: list[Values] = Field([])
    exclude: list[Values] = Field([])


def read_grid(path: Path, parameters: Mapping[str, Any]) -> list[Cell]:
    """The cells of a grid file: the product of its lists (the last varies fastest), then those of `include`.

    `parameters` holds in all cells. Everything wrong is a ConfigError that names file and line.
    """

    def refuse(keys: Keys, words: str) -> NoReturn:
        raise ConfigError(f"{path}: {line_words(path, keys)}{words}")

    grid = checked(Grid, read_yaml(path), str(path), path)
    for keys, words in _faults(grid, parameters):
        refuse(keys, words)

    def ordered(names: Sequence[str], keys: Keys) -> tuple[str, ...]:
        books = {experiment_of(book): book.stem for book in chosen(tuple(names))}
        try:
            order = TopologicalSorter({name: [a for a in load_config(name).after if a in books] for name in books})
            return tuple(books[name] for name in order.static_order())
        except CycleError:
            refuse(keys, f"by their `after:` these wait for each other: {', '.join(books)}")

    notebooks = ordered(grid.notebooks, ("notebooks",)) if grid.notebooks else ()
    lists, excluded = grid.parameters, [_texts(wanted).items() for wanted in grid.exclude]
    varied = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())] if lists else []
    varied = [each for each in varied if not any(wanted <= _texts(each).items() for wanted in excluded)]
    if (count := len(varied) + len(grid.include)) > MOST_CELLS:
        refuse(("include",), f"{count} cells; at most {MOST_CELLS} are run at once")
    cells = {cell.id: cell for cell in (Cell(notebooks, each, parameters) for each in varied)}
    for number, more in enumerate(grid.include):
        values, books = {**more}, notebooks
        if names := values.pop("notebooks", None):
            books = ordered(names, ("include", number, "notebooks"))
        cell = Cell(books, values, parameters)
        if cell.id in cells:
            refuse(("include", number), f"the cell {cell} is there already")
        cells[cell.id] = cell
    if not cells:
        refuse((), "no cell is left; `parameters:` holds lists, `include:` single cells")
    return [*cells.values()]


def _faults(grid: Grid, parameters: Mapping[str, Any]) -> Iterator[tuple[Keys, str]]:
    """What is wrong with a grid whose values are of the right kinds: where, and in words."""
    lists, asking = grid.parameters, [name for name, book in available().items() if not collects(book)]
    named: dict[Keys, Any] = {("include", n, "notebooks"): each["notebooks"] for n, each in enumerate(grid.include)
                                 if "notebooks" in each}  # fmt: skip
    if lists or len(named) < max(1, len(grid.include)):
        named[("notebooks",)] = grid.notebooks
    for at, wanted in named.items():
        if not wanted or not isinstance(wanted, list) or not all(isinstance(name, str) for name in wanted):
            yield at, f"notebooks must be a list of names, not empty; there are: {', '.join(asking)}"
        try:
            books = [book.stem for book in chosen(tuple(wanted))]
        except ConfigError as error:
            yield at, str(error)
        if len({*books}) < len(books):
            yield at, "a notebook is named twice"
        if collecting := [stem for stem in books if stem not in asking]:
            words = "collects what others found and cannot be part of a matrix; afterwards `recuse run` it with"
            yield at, f"{', '.join(collecting)} {words} -p results and a folder of cells"
    names = [("parameters", name) for name in lists]
    beside = (("include", n, name) for n, each in enumerate(grid.include) for name in each if name != "notebooks")
    for *place, name in (*names, *beside):
        if name in OURS:
            ours = "budget_usd" if name == "budget_total_usd" else name
            yield (*place, name), f"{name} is one for the whole matrix; give it with -p {ours}"
        if name in parameters:
            yield (*place, name), f"{name} is also given with -p; leave one of them out"
    for name, values in lists.items():
        text, times = Counter(map(json.dumps, values)).most_common(1)[0]
        if times > 1:
            yield ("parameters", name), f"{name} lists {_shown(json.loads(text))} twice"
    if (count := prod(map(len, lists.values()))) > MOST_CELLS:
        yield ("parameters",), f"{count} cells; at most {MOST_CELLS} are run at once"
    for number, wanted in enumerate(grid.exclude):
        for name, value in wanted.items():
            at, values = ("exclude", number, name), lists.get(name, [])
            if not values:
                yield at, f"'{name}' is not varied; `parameters:` has: {', '.join(lists)}"
            if json.dumps(value) not in map(json.dumps, values):
                yield at, f"{name} = {_shown(value)} is in no cell; it is one of: {', '.join(map(_shown, values))}"


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Values that can be compared: 1, 1.0 and true are three."""
    return {name: json.dumps(value) for name, value in values.items()}


def _shown(value: Any) -> str:
    """A value as it is written in a grid, in one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return value if isinstance(value, str) else json.dumps(value)


#: In the folder of a cell: its replies until they are in the main store, and what became of it.
REPLIES, STATE = "replies", "cell.json"
#: What runs a notebook: its path, the place of its report, its parameters.
Runner = Callable[[Path, Path, Mapping[str, Any]], Result]


@dataclass(frozen=True)
class Task:
    """What a machine needs to run a cell, besides the keys of the models and the `code` in this state.

    `stored` holds the lines of the main store that it may need, by model; `token` is unique to this try.
    """

    cell: Cell
    stored: Mapping[str, bytes]
    budget_usd: float
    code: str
    token: str


@dataclass(frozen=True)
class Outcome:
    """What became of a cell: `errors` by notebook, and what it wrote on another machine, by place in its folder."""

    errors: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    spent_usd: float = 0.0
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def error(self) -> str | None:
        """The errors in one text; None where there are none."""
        return "; ".join(f"{name}: {text}" for name, text in self.errors.items()) or None


def run_cell(task: Task, folder: Path, run: Runner = execute) -> Outcome:
    """Run the notebooks of a cell one after the other; `folder` gets one of results each, and `replies`.

    Where its new lines do not tell all that it spent (a kernel that died, a full disk), it is all that it was given.
    """
    begun, replies, errors, spent, unrecorded = time.monotonic(), folder / REPLIES, {}, 0.0, False
    replies.mkdir(parents=True, exist_ok=True)
    for model, lines in task.stored.items():
        store.file_of(replies, model).write_bytes(lines)
    for experiment, notebook in task.cell.experiments.items():
        out = folder / experiment
        broken = [other for other in load_config(experiment).after if other in errors]
        if broken:
            errors[experiment] = f"not run: {', '.join(broken)} failed before it"
            continue
        extra = {"out": str(out), "store": str(replies), "budget_usd": max(0.0, task.budget_usd - spent)}
        result = run(notebook, out / "report.ipynb", {**task.cell.parameters, **extra})
        if result.error:
            errors[experiment] = result.error
        try:
            spent = spent_on(new_lines(task, folder))
        except ValueError:  # nobody can tell: what came is merged all the same
            unrecorded = True
        unrecorded = unrecorded or result.unrecorded
        spent = max(spent, task.budget_usd) if unrecorded else spent
    named = {notebook.stem: errors[name] for name, notebook in task.cell.experiments.items() if name in errors}
    return Outcome(named, time.monotonic() - begun, spent)


def new_lines(task: Task, folder: Path) -> dict[str, bytes]:
    """The lines that a cell has added to its store, by model."""
    found = {}
    for path in sorted((folder / REPLIES).glob("*.jsonl")):
        with path.open("rb") as file:
            file.seek(len(task.stored.get(path.stem, b"")))
            found[path.stem] = file.read()
    return {model: lines for model, lines in found.items() if lines}


def spent_on(added: Mapping[str, bytes]) -> float:
    """What the attempts in these lines cost at most, in US dollars."""
    cost = cost_of(load_models())
    complete = ((model, line) for model, lines in added.items() for line in lines.splitlines(keepends=True))
    return sum(cost(model, store.decode(line[:-1]))[1] for model, line in complete if line.endswith(b"\n"))


def packed(task: Task, folder: Path) -> dict[str, bytes]:
    """What a cell has left in a folder, by place in it: results, and of its replies only the new ones."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files if path.parent.name != REPLIES}
    return found | {f"{REPLIES}/{model}.jsonl": lines for model, lines in new_lines(task, folder).items()}


def unpack(files: Mapping[str, bytes], folder: Path) -> None:
    """Put what came from elsewhere into the folder of its cell; a place outside of it is a ValueError.

    Replies first: they are paid for. What follows a former result takes its place only when it is whole.
    """
    for name, content in sorted(files.items(), key=lambda item: not item[0].startswith(REPLIES)):
        place = folder / name
        if not place.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"{name}: a cell's result that would be written outside of {folder}")
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f".{place.name}.part")
        part.unlink(missing_ok=True)  # a link of that name would lead the write out of the folder
        part.write_bytes(content)
        if place.name == "report.ipynb":  # its links lead home from where it lies now
            quiet(part, place)
            place.with_name("report.failed.ipynb").unlink(missing_ok=True)
        os.replace(part, place)


def keep(cell: Cell, folder: Path, outcome: Outcome, began_with: str) -> None:
    """Write down what became of a cell that began with these `inputs`."""
    state = {
        "notebooks": list(cell.notebooks),
        "parameters": cell.parameters,
        "state": "failed" if outcome.error else "done",
        "errors": dict(outcome.errors),
        "seconds": round(outcome.seconds, 3),
        "spent_usd": round(outcome.spent_usd, 6),
        "inputs": began_with,
    }
    export.write({STATE: (json.dumps(state, indent=1, ensure_ascii=False) + "\n").encode()}, folder)


def kept(folder: Path) -> dict[str, Any]:
    """What was written down of a cell; {} where nothing is or it cannot be read."""
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def done(cell: Cell, folder: Path) -> bool:
    """Whether a cell ran through with the present code and files, and its numbers are there."""
    state = kept(folder)
    ran = state.get("state") == "done" and state.get("inputs") == inputs(cell)
    return ran and all((folder / name / "numbers.json").is_file() for name in cell.experiments)


def inputs(cell: Cell) -> str:
    """What a cell's results depend on besides its parameters and replies: the code, and files that parameters name."""
    digest = hashlib.sha256(code().encode())
    for value in (cell.parameters.get(name) for name in SOURCES):
        place = Path(value).expanduser() if isinstance(value, str) else None
        if place is not None and place.exists():
            for path in [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file()):
                stat = path.stat()
                digest.update(_content(path.resolve(), stat.st_mtime_ns, stat.st_size))
    return digest.hexdigest()[:16]


@cache
def _content(path: Path, _changed: int, _size: int) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def code_now() -> str:
    """The state of everything that shapes a result: code, notebooks, experiments, built-in data; not limits.yaml."""
    patterns = ("notebooks/*.ipynb", "experiments/**/*.yaml", "experiments/**/*.txt", "data/*/*")
    ignored = {paths.REPLIES, paths.DOWNLOADS, paths.LIMITS}
    found = {path for pattern in patterns for path in paths.DEFINITIONS.glob(pattern)} | {*paths.PACKAGE.rglob("*.py")}
    digest = hashlib.sha256()
    for path in sorted(path for path in found if path.is_file() and not ignored & {path, *path.parents}):
        name = Path(os.path.relpath(path, paths.DEFINITIONS)).as_posix()
        digest.update(name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


#: The state of the code when this process first asked for it.
code = cache(code_now)


def take_in(lines: Path, replies: Path) -> None:
    """Move the replies of a cell into the main store, whose files are locked meanwhile; unusable lines are named."""
    with ExitStack() as stack:
        here = sorted(lines.glob("*.jsonl"))
        for path in here:
            stack.callback(_locked(path).release)
        for each in store.merge_usable(lines, replies, _locked) if here else ():
            if each.left:
                numbers = ", ".join(str(line.number) for line in each.left)
                path = store.file_of(replies, each.model)
                notice(f"warning: {lines / path.name}: line {numbers} could not be read and lies in {path}.damaged")
        shutil.rmtree(lines, ignore_errors=True)


def _locked(path: Path) -> Any:
    return asyncio.run(wait_for_lock(path, Clock()))


#: The fields of a number in numbers.json that become columns, besides `id` and what is in `where`.
FIELDS = ("value", "low", "high", "n", "clusters", "unit", "method", "data")

#: What rows of judges say by themselves.
JUDGES = ("judges",)
#: Letters that a label of a figure holds.
SHORT = 28


def _done(cells: Iterable[Cell], folder: Path) -> Iterator[tuple[Cell, Path]]:
    """The cells that are done, each with the folder of each of its experiments."""
    for cell in cells:
        if done(cell, place := folder / "cells" / cell.id):
            yield from ((cell, place / name) for name in cell.experiments)


def numbers(cells: Sequence[Cell], folder: Path) -> pd.DataFrame:
    """A row a cell, experiment and number of the cells that are done: what varies, `where.<...>`, and FIELDS."""
    rows = [
        number | {"cell": cell.id, **_values(cell), "experiment": place.name}
        for cell, place in _done(cells, folder)
        for number in json.loads((place / "numbers.json").read_text(encoding="utf-8"))["numbers"]
    ]
    frame = pd.json_normalize(rows)
    wheres = sorted(name for name in frame if name.startswith("where."))
    return frame.reindex(columns=["cell", *_varied(cells), "experiment", "id", *wheres, *FIELDS])


def results(cells: Sequence[Cell], folder: Path) -> pd.DataFrame:
    """A row a cell, experiment and line of its judge card (a judge and measure), without published data."""
    rows = [
        vars(line.estimate)
        | vars(line)
        | {"cell": cell.id, **_values(cell), "experiment": experiment, "where": json.dumps(line.estimate.where)}
        for cell, experiment, line in _lines(cells, folder)
    ]
    columns = ["experiment", "data", "judge", "measure", "id", "where", "verdict", "value", "low", "high", "unit", "n"]
    return pd.DataFrame(rows, columns=["cell", *_varied(cells), *columns, "clusters", "p", "smallest", "words"])


def runs(cells: Sequence[Cell], folder: Path) -> list[Run]:
    """The judge cards of the cells that are done, with the settings of each cell in words; its id where these are long.

    Who judges is no setting where no judge is in two cells of the same other settings. Values go without the names of
    their parameters only where all cells have the same ones and words would be too long.
    """
    from ..figures.cards import Run

    found: dict[str, list[CardLine]] = {}
    for cell, _, line in _lines(cells, folder):
        found.setdefault(cell.id, []).append(line)
    there = [cell for cell in cells if cell.id in found]
    judged = [(_settings(cell, JUDGES, False), judge) for cell in there for judge in {x.judge for x in found[cell.id]}]
    left_out = JUDGES if len(set(judged)) == len(judged) else ()
    alike = len({tuple(cell.varied) for cell in there}) == 1
    ways = [[_settings(cell, left_out, names) for cell in there] for names in ((True, False) if alike else (True,))]
    words = next((way for way in ways if max(map(len, way), default=0) <= SHORT), [cell.id for cell in there])
    none = "default" if any(words) else ""  # of a cell in which nothing is changed
    return [Run(text or none, found[cell.id]) for text, cell in zip(words, there, strict=True)]


def varied(cells: Iterable[Cell]) -> list[str]:
    """The names of the parameters that vary, apart from who judges, in the order of the grid."""
    return [name for name in _varied(cells) if name not in JUDGES]


def _lines(cells: Sequence[Cell], folder: Path) -> Iterator[tuple[Cell, str, CardLine]]:
    from ..overview import SUMMARY, read

    for cell, place in _done(cells, folder):
        if (place / SUMMARY).is_file():  # a notebook that asks nobody has none
            yield from ((cell, place.name, x) for x in read(place).lines if x.estimate.data != "published")


def _settings(cell: Cell, left_out: Sequence[str], names: bool) -> str:
    values = {name: value for name, value in _values(cell).items() if name not in left_out}
    return ", ".join(f"{name} {value}" if names else str(value) for name, value in values.items())


def states(cells: Sequence[Cell], folder: Path) -> pd.DataFrame:
    """A row a cell: what varies, whether it is done, failed or not run, seconds, dollars at most, errors."""
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
