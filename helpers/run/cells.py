"""One cell of a matrix: run in a folder of its own, on any machine, and what it leaves there."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from helpers import export, paths, store
from helpers.commands.spending import cost_of
from helpers.config import load_config, load_models
from helpers.run.grid import Cell
from helpers.run.notebooks import Result, available, execute, experiment_of, quiet
from helpers.run.showing import SOURCES

#: In the folder of a cell: its replies until they are in the main store, and what became of it.
REPLIES, STATE = "replies", "cell.json"
#: What runs a notebook: its path, the place of its report, its parameters.
Runner = Callable[[Path, Path, Mapping[str, Any]], Result]


@dataclass(frozen=True)
class Task:
    """What a machine needs to run a cell, besides the same code and the keys of the models.

    `stored` holds the lines of the main store that the cell may need, by model; `budget_usd` is the most that it may
    spend; `code` names the state of the code that is to run it; `token` is unique to this try.
    """

    cell: Cell
    stored: Mapping[str, bytes]
    budget_usd: float
    code: str
    token: str


@dataclass(frozen=True)
class Outcome:
    """What became of a cell: `errors` by notebook, none where all ran through.

    `files` are what it wrote, by place in its folder, where that folder is not on the disk of the one who asked.
    """

    id: str
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

    A notebook whose config says `after:` one that failed is not run. What a cell has spent is what its new lines cost;
    where they do not tell all (a kernel that died with calls in flight, a full disk), all that it was given.
    """
    begun, replies, errors, spent, untold = time.monotonic(), folder / REPLIES, {}, 0.0, False
    replies.mkdir(parents=True, exist_ok=True)
    for model, lines in task.stored.items():
        store.file_of(replies, model).write_bytes(lines)
    for name in task.cell.notebooks:
        notebook = available()[name]
        experiment = experiment_of(notebook)
        out = folder / experiment
        broken = [other for other in load_config(experiment).after if other in map(_experiment, errors)]
        if broken:
            errors[name] = f"not run: {', '.join(broken)} failed before it"
            continue
        given = {"out": str(out), "store": str(replies), "budget_usd": max(0.0, task.budget_usd - spent)}
        result = run(notebook, out / "report.ipynb", {**task.cell.parameters, **given})
        if result.error:
            errors[name] = result.error
        try:
            spent = spent_on(new_lines(task, folder))
        except ValueError:  # nobody can tell: what came is brought home all the same
            untold = True
        untold = untold or result.untold
        spent = max(spent, task.budget_usd) if untold else spent
    return Outcome(task.cell.id, errors, time.monotonic() - begun, spent)


def _experiment(name: str) -> str:
    return experiment_of(available()[name])


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
    whole = ((model, line) for model, lines in added.items() for line in lines.splitlines(keepends=True))
    return sum(cost(model, store.decode(line[:-1]))[1] for model, line in whole if line.endswith(b"\n"))


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


# --- what is kept of a cell -------------------------------------------------------------------------------------------


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
    if state.get("state") != "done" or state.get("inputs") != inputs(cell):
        return False
    return all((folder / _experiment(name) / "numbers.json").is_file() for name in cell.notebooks)


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


@cache
def code() -> str:
    """The state of the code when this process first asked for it, as `code_now` says."""
    return code_now()


def code_now() -> str:
    """The state of everything that shapes a result: code, notebooks, experiments, built-in data; not limits.yaml."""
    patterns = ("helpers/**/*.py", "notebooks/*.ipynb", "experiments/**/*.yaml", "experiments/**/*.txt", "data/*/*")
    ignored = {paths.REPLIES, paths.DOWNLOADS, paths.LIMITS}
    found = sorted({path for pattern in patterns for path in paths.ROOT.glob(pattern) if path.is_file()})
    digest = hashlib.sha256()
    for path in found:
        if not ignored & {path, *path.parents}:
            digest.update(path.relative_to(paths.ROOT).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
