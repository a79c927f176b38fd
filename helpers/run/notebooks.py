"""Notebooks run from top to bottom, in parallel processes; a bad run never replaces a good report."""

from __future__ import annotations

import ast
import base64
import binascii
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from .. import paths
from ..check import binary, variables
from ..config import (
    Choice,
    ConfigError,
    Names,
    Style,
    experiment_names,
    fault,
    load_config,
    load_experiment,
    load_settings,
    settle_parameters,
)
from ..config.yaml_text import Strict
from ..judge import UNWRITTEN, notice
from ..providers.keys import declare, found, leave_browser, redact, redact_all, refuse
from ..store import StoreError
from ..types import Experiment
from . import kernels
from .asking import assigned, check, check_ready
from .kernels import Ended, drafting, process, run_cells

#: Colours in a traceback, which could stand within a key.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def clean(draft: Path, final: Path) -> None:
    """Strike keys out of an executed notebook, and say where they stood; without keys it keeps its bytes."""
    import nbformat

    try:
        book = nbformat.read(draft, as_version=4)
    except Exception:  # cut off, or no notebook: text all the same
        text = draft.read_text(encoding="utf-8", errors="surrogateescape")
        if redact(text) != text:
            draft.write_text(redact(text), encoding="utf-8", errors="surrogateescape")
        return
    removed: dict[str, set[str]] = {}
    for number, cell in enumerate(book.cells, 1):
        cleaned = {name: _cleaned(_joined(x)) if name == "outputs" else redact_all(x) for name, x in cell.items()}
        if cleaned != cell:
            shown = cell.get("execution_count")
            removed[f"cell [{shown}]" if shown else f"text {number}"] = _names(cell)
            book.cells[number - 1] = cleaned
    if redact_all(book.metadata) is not book.metadata:
        removed["its metadata"] = _names(book.metadata)
        book.metadata = redact_all(book.metadata)
    if removed:
        nbformat.write(nbformat.from_dict(book), draft)
        places = "; ".join(f"{place} ({', '.join(sorted(names))})" for place, names in removed.items())
        notice(f"warning: {final.name} showed keys, which were struck out: {places}")


def _joined(outputs: list[Any]) -> list[Any]:
    """The outputs, with texts of one stream that follow each other as one where they hold a key: it may span them."""
    joined: list[Any] = []
    for stream, group in groupby(outputs, lambda each: each.get("name")):
        texts = list(group)
        text = "".join(each["text"] for each in texts) if stream else ""
        joined += [{**texts[0], "text": text}] if found(text) else texts
    return joined


def _cleaned(value: Any) -> Any:
    """An output without keys; a picture that holds one is left out, and a text loses its colours with it."""
    if isinstance(value, str):
        bare = COLOUR.sub("", value)
        return value if redact(bare) == bare else redact(bare)
    if isinstance(value, Mapping):
        pictures = {name: picture for name, each in value.items() if (picture := _pictured(name, each))}
        kept = {redact(name): _cleaned(each) for name, each in value.items() if name not in pictures}
        words = [f"[a picture that held {', '.join(picture)} was left out]" for picture in pictures.values()]
        return {**kept, "text/plain": words[0]} if words else kept
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    return value


def _pictured(kind: str, value: Any) -> list[str]:
    """The keys in a picture of an output, which are bytes in base64."""
    if not kind.startswith("image/") or kind.startswith("image/svg") or not isinstance(value, str):
        return []
    try:
        return sorted({name for _, text in binary(base64.b64decode(value)) for name in found(text)})
    except binascii.Error:
        return []


def _names(part: Any) -> set[str]:
    """The variables whose values stand in a part of a notebook, colours within them or not."""
    return {*found(COLOUR.sub("", json.dumps(part).replace("\\u001b", "\x1b")))}


def collected(parameters: Mapping[str, Any], asked: Sequence[str], failed: Sequence[str]) -> dict[str, Any]:
    """The parameters with which it collects what the experiments `asked` made; none where all ran with their defaults.

    Those that `failed` are named: their former results must not pass for new ones.
    """
    if not parameters and not failed:
        return {}
    ran = [name for name in asked if name not in failed]
    folders = dict.fromkeys(str(load_experiment(name, **parameters).out) for name in ran)
    facts = {"failed": list(failed)} if failed else {}
    facts |= {name: value for name, value in parameters.items() if name == "figure_style"}
    return {"results": list(folders), **facts}


#: The tag of the cell of defaults, and that of the cell which papermill puts after it.
DEFAULTS, INJECTED = "parameters", "injected-parameters"


def load(report: Path) -> Any:
    """The notebook in a file; anything else is a ConfigError that names the file."""
    from nbformat import convert, reader, validate

    content = report.read_bytes()
    try:
        book = convert(reader.reads(content.decode()), 4)
        validate(book)
    except Exception as error:  # nbformat, its schemas and json raise many kinds
        what = str(error).partition("\n")[0][:200]
        raise ConfigError(f"{report}: no notebook ({type(error).__name__}: {what})") from None
    return book


def parameters(book: Any, tags: Sequence[str] = (DEFAULTS, INJECTED)) -> dict[str, Any]:
    """What the cells with these tags assign, the later one last; what is no literal is left out."""
    found: dict[str, Any] = {}
    for cell in book.cells:
        for name, value in assigned(cell.source) if set(tags) & set(cell.metadata.get("tags", ())) else ():
            with suppress(ValueError):
                found[name] = ast.literal_eval(value)
    return found


@dataclass(frozen=True)
class Result:
    """What became of one notebook; `start` is the part of its `seconds` before the first cell.

    `unrecorded`: calls may have been sent whose replies are not in the store.
    """

    name: str
    report: Path
    seconds: float
    error: str | None = None
    unrecorded: bool = False
    start: float = 0.0

    def __str__(self) -> str:
        """The line of a run's summary: where the time went and the report, or what went wrong."""
        parts = f"start {self.start:.1f}  {self.report}"
        return f"{'FAILED' if self.error else 'ok':<8}{self.name:<36}{self.seconds:>7.1f} s  {self.error or parts}"


def available() -> dict[str, Path]:
    """The notebooks by name without their extension, in order."""
    return {path.stem: path for path in sorted(paths.NOTEBOOKS.glob("[0-9]*.ipynb"))}


def chosen(names: tuple[str, ...]) -> list[Path]:
    """The notebooks with these names (with or without their number); none named means all."""
    notebooks = available()
    by_word = {experiment_of(path): path for path in notebooks.values()} | notebooks
    if unknown := [name for name in names if name.removesuffix(".ipynb") not in by_word]:
        raise ConfigError(f"no notebook {', '.join(unknown)}; there are: {', '.join(notebooks)}")
    return [by_word[name.removesuffix(".ipynb")] for name in names] or [*notebooks.values()]


def experiment_of(notebook: Path) -> str:
    """The name that notebook, experiment, data and figures share."""
    return re.sub(r"^\d+_", "", notebook.stem)


def collects(notebook: Path) -> bool:
    """Whether a notebook asks nothing and collects what others found."""
    return experiment_of(notebook) in experiment_names(collecting=True)


class CollectionConfig(Strict):
    """One experiments/<name>/config.yaml of a notebook that collects: it has a question, and asks no judge."""

    title: str
    collects: Literal[True]


class CollectionParameters(Strict):
    """The parameters of a notebook that collects, with their defaults."""

    results: Names | None = Field(None, description=fault("names"))
    failed: Annotated[list[Choice], Field(min_length=1)] | None = Field(None, description=fault("names"))
    figure_style: Style = "paper"
    out: str | None = None


@dataclass(frozen=True)
class Collection:
    """A notebook that asks nothing; `experiments` are all that ask judges, `failed` those that failed in this run."""

    name: str
    title: str
    experiments: tuple[str, ...]
    results: tuple[Path, ...]
    failed: tuple[str, ...]
    out: Path
    default: bool


def load_collection(name: str, **parameters: Any) -> Collection:
    """Settle a notebook that collects from its config.yaml and its parameters; everything wrong is a ConfigError."""
    names, collecting = experiment_names(), experiment_names(collecting=True)
    title = load_settings(CollectionConfig, name, collecting, "'{name}' collects nothing; these do: {known}").title
    settled, changed, out = settle_parameters(CollectionParameters, name, parameters, {}, names)
    folders = [Path(each).expanduser().resolve() for each in settled.results or ()]
    if absent := [str(folder) for folder in folders if not folder.is_dir()]:
        raise ConfigError(f"parameters of {name}: results = {', '.join(absent)}: no such folder")
    results = folders or [paths.FIGURES / each for each in names]
    return Collection(name, title, tuple(names), tuple(results), tuple(settled.failed or ()), out, default=not changed)


def check_parameters(notebook: Path, parameters: Mapping[str, Any], to_ask: bool = False) -> None:
    """Refuse parameters that the notebook does not have: papermill itself would only log them.

    With `to_ask` also a run whose missing calls need a key that is not set, or have a price that nobody knows.
    """
    refuse(parameters)
    cells = [cell for cell in load(notebook).cells if DEFAULTS in cell.metadata.get("tags", ())]
    valid = dict.fromkeys(name for cell in cells for name, _ in assigned(cell.source))
    if unknown := sorted(parameters.keys() - valid):
        raise ConfigError(f"{notebook.stem} has no parameter {', '.join(unknown)}; it has: {', '.join(valid)}")
    experiment = _settled(notebook, parameters)
    if isinstance(experiment, Experiment):
        check(experiment)
        if to_ask:
            check_ready(experiment)


def _settled(notebook: Path, parameters: Mapping[str, Any]) -> Experiment | Collection:
    """What a notebook is about, with these parameters."""
    load = load_collection if collects(notebook) else load_experiment
    return load(experiment_of(notebook), **parameters)


def report_of(notebook: Path, parameters: Mapping[str, Any]) -> Path:
    """Where the executed notebook goes: the experiment's report, or beside the figures of a run of one's own."""
    experiment = _settled(notebook, parameters)
    return (paths.REPORTS / experiment.name if experiment.default else experiment.out) / "report.ipynb"


def execute(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
    """Run one notebook; its report is replaced only when all cells ran, else `report.failed.ipynb` tells why."""
    if process.asked:
        return Result(notebook.stem, report, 0.0, "not run: the run was interrupted before it")
    leave_browser()
    process.begun, begun = None, time.monotonic()
    try:
        declare(variables())
        with drafting(report) as draft:
            failure, unrecorded = _executed(notebook, draft, report, parameters)
    except Exception as error:  # a folder that cannot be written: reported like a failing cell
        failure, unrecorded = redact(f"{type(error).__name__}: {error}"), True
    start = (process.begun or begun) - begun
    return Result(notebook.stem, report, time.monotonic() - begun, failure, unrecorded, start)


def _executed(notebook: Path, draft: Path, report: Path, parameters: Mapping[str, Any]) -> tuple[str | None, bool]:
    """What went wrong and where it is kept, None where the report is whole and in its place; `unrecorded`."""
    from papermill.exceptions import PapermillExecutionError

    failed = report.with_name(f"{report.stem}.failed.ipynb")
    words = "what came is stored"
    try:
        run_cells(notebook, draft, parameters)
        quiet(draft, report)
        clean(draft, report)
        os.replace(draft, report)
    except PapermillExecutionError as error:
        failure = redact(f"cell [{error.exec_count}] failed: {error.ename}: {error.evalue}")
        unrecorded = error.ename == StoreError.__name__ or UNWRITTEN in "\n".join(error.traceback)
        if error.ename in ("Interrupted", "KeyboardInterrupt"):
            words = redact(error.evalue) or words
    except Exception as error:  # a kernel that died, a disk that is full: reported like a failing cell
        failure = redact(f"{type(error).__name__}: {error}")
        unrecorded = process.begun is not None and not isinstance(error, Ended)
    else:
        failed.unlink(missing_ok=True)
        return None, False
    if process.asked:
        return f"interrupted; {words}", unrecorded
    return failure + (_kept(draft, failed) if draft.exists() else ""), unrecorded


def _kept(draft: Path, failed: Path) -> str:
    """Where a failed notebook is kept, without keys; what cannot be cleaned (a full disk, a torn draft) is not kept."""
    try:
        clean(draft, failed)
        os.replace(draft, failed)
    except Exception as error:
        return redact(f" ({failed} could not be written: {error})")
    return f" (see {failed})"


def quiet(path: Path, report: Path) -> None:
    """Remove what differs from run to run and is no result (times, paths, versions), and keep links leading home."""
    import nbformat

    book = nbformat.read(path, as_version=4)
    for place in (book, *book.cells):
        for noise in ("papermill", "execution"):
            place.metadata.pop(noise, None)
    near = report.resolve().is_relative_to(paths.ROOT)
    home = os.path.relpath(paths.DEFINITIONS, report.resolve().parent) if near else ".."
    for cell in book.cells:
        if cell.cell_type == "markdown":
            cell["source"] = cell["source"].replace("](../", f"]({home}/")
        if INJECTED in cell.metadata.get("tags", ()):
            cell["id"] = INJECTED  # papermill draws one at random
    book.metadata.get("language_info", {}).pop("version", None)
    nbformat.write(book, path)


def run_all(notebooks: list[Path], parameters: Mapping[str, Any], processes: int | None = None) -> list[Result]:
    """Run notebooks in parallel processes; one whose config says `after:` waits for those, and falls with them.

    One that collects waits for all others and runs if any ran through. Wrong parameters, a missing key and an unknown
    price are refused before the first.
    """
    books = {experiment_of(notebook): notebook for notebook in notebooks}
    gathering = {name for name, notebook in books.items() if collects(notebook)}
    asking = [name for name in books if name not in gathering]
    for name, notebook in books.items():
        if not asking or name not in gathering:
            check_parameters(notebook, parameters, True)
    after = {n: [a for a in load_config(n).after if a in books] for n in asking} | dict.fromkeys(gathering, asking)
    order = TopologicalSorter(after)
    try:
        order.prepare()
    except CycleError as cycle:
        names = ", ".join(sorted({*cycle.args[1]}))
        raise ConfigError(f"by their `after:` these wait for each other: {names}") from None
    reports, results, running = dict[str, Path](), dict[str, Result](), dict[Future, str]()
    with kernels.processes(processes or os.cpu_count() or 1, running) as submit:
        while order.is_active():
            for name in order.get_ready():
                broken = [a for a in after[name] if results[a].error]
                if name in gathering and len(broken) < len(asking):
                    shared, broken = collected(parameters, asking, broken), []
                else:
                    shared = {} if broken and name in gathering else {**parameters}
                reports[name] = report_of(books[name], shared)
                if broken:
                    why = f"not run: {', '.join(broken)} failed before it"
                    results[name] = Result(books[name].stem, reports[name], 0.0, why)
                    order.done(name)
                else:
                    running[submit(execute, books[name], reports[name], dict(shared))] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name, error = running.pop(future), future.exception()
                why = "a process died (killed, or out of memory)"
                if isinstance(error, Exception) and not isinstance(error, BrokenProcessPool):
                    why = redact(f"{type(error).__name__}: {error}")  # the other notebooks go on
                lost = Result(books[name].stem, reports[name], 0.0, why)
                results[name] = lost if error else future.result()
                order.done(name)
    return [results[name] for name in books]
