"""Results of runs, read back from their folders: numbers, what was asked, figures and tables to typeset."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.config import collection_names, experiment_names
from helpers.export import NAME, PROTOCOL, READABLE
from helpers.json_text import document
from helpers.overview.collecting import SUMMARY, Found, estimate, paid, read
from helpers.run.notebooks import available, experiment_of
from helpers.types import Estimate

NUMBERS, EXHIBITS, RUN = "numbers.json", "exhibits.json", "run.json"
LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Picture:
    """A drawn figure: inches, the size of its letters in points, its style, and the folder that holds its files."""

    name: str
    caption: str
    alt: str
    width: float
    height: float
    size: float
    style: str
    folder: Path

    @property
    def pdf(self) -> Path:
        """Its file for a paper."""
        return self.folder / f"{self.name}.pdf"


@dataclass(frozen=True)
class Sheet:
    """A table by its cells: text, a number, or None where there is nothing; `best` are (row, column) of bold ones."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    best: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Results:
    """One folder of results. `label` begins the names of everything made of it; `experiment` is what made it.

    `found` is what it hands to the overview (None where it hands on nothing), `run` what its run.json tells (see
    `_run`; {} where there is none, as in a fresh checkout). `pictures` and `sheets` are None where nothing tells of
    them: they must be made anew.
    """

    label: str
    experiment: str
    folder: Path
    provenance: Mapping[str, Any]
    estimates: tuple[Estimate, ...]
    found: Found | None
    run: Mapping[str, Any]
    pictures: tuple[Picture, ...] | None
    sheets: tuple[Sheet, ...] | None


def usual() -> list[Path]:
    """The folders of default runs that hold numbers: experiments in the order of their notebooks, then overviews."""
    known = {*experiment_names(), *collection_names()}
    names = [experiment_of(notebook) for notebook in available().values()]
    ordered = sorted(names, key=lambda name: name in collection_names())
    return [paths.FIGURES / name for name in ordered if name in known and (paths.FIGURES / name / NUMBERS).is_file()]


def load_all(places: Sequence[str]) -> list[Results]:
    """The results of each place, `FOLDER` or `NAME=FOLDER`; without any those of the default runs.

    A folder without numbers, one named twice, and two of one label (whose macros would have the same names) are a
    ValueError.
    """
    named = [_named(each) for each in places] or [("", folder) for folder in usual()]
    if not named:
        raise ValueError("no results yet: `recuse run` makes them")
    loaded = [load(folder, label) for label, folder in named]
    for at, one in enumerate(loaded):
        for other in loaded[:at]:
            if one.folder.resolve() == other.folder.resolve():
                raise ValueError(f"{one.folder}: named twice")
            if one.label.casefold() == other.label.casefold():
                raise ValueError(
                    f"{other.folder} and {one.folder} are both called {one.label}: give them names of their own, as in "
                    f"--results first={other.folder} --results second={one.folder}"
                )
    return loaded


def _named(place: str) -> tuple[str, Path]:
    label, equals, folder = place.partition("=")
    if not equals or Path(place).exists():
        return "", Path(place).expanduser()
    if not LABEL.fullmatch(label):
        raise ValueError(f"--results {place}: '{label}' is no name: a letter, then letters, digits, _ and -")
    return label, Path(folder).expanduser()


def load(folder: Path, label: str = "") -> Results:
    """What one folder holds; a file in it that is not as we write it is a ValueError that names file and key."""
    path = folder / NUMBERS
    if not path.is_file():
        inner = sorted(each.parent.name for each in folder.glob(f"*/{NUMBERS}")) if folder.is_dir() else []
        hint = (
            f"; these folders in it do: {', '.join(inner)}" if inner else "; `recuse run` and `recuse analyze` make it"
        )
        raise ValueError(f"{folder}: holds no {NUMBERS}{hint}")
    content = _json(path)
    with _told(path):
        provenance = dict(content["provenance"])
        provenance["parameters"] = dict(provenance.get("parameters") or {})
        experiment = str(provenance["experiment"])
        estimates = tuple(map(estimate, content["numbers"]))
    pictures, sheets = _exhibits(folder)
    return Results(
        label=label or re.sub("[^A-Za-z0-9_-]+", "_", experiment)[:64] or "results",
        experiment=experiment,
        folder=folder,
        provenance=provenance,
        estimates=estimates,
        found=read(folder) if (folder / SUMMARY).is_file() else None,
        run=_run(folder / RUN),
        pictures=pictures,
        sheets=sheets,
    )


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What is wrong with a record, told with its file."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        what = f"key {error} is missing" if isinstance(error, KeyError) else error
        raise ValueError(f"{path}: {what}; make these results again") from None


def _json(path: Path) -> Any:
    try:
        content = document(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: no JSON ({error}); make these results again") from None
    if not isinstance(content, dict) or content.get("protocol", PROTOCOL) not in READABLE:
        raise ValueError(f"{path}: not of protocol {PROTOCOL}; make these results again")
    return content


def _run(path: Path) -> dict[str, Any]:
    """What run.json tells of a run that a paper says: commit, time, what each model cost, budget, what was left out."""
    content = _json(path) if path.is_file() else {}
    with _told(path):
        told = {key: str(content[key]) for key in ("commit", "time") if content.get(key)}
        models = [dict(paid(each)) for each in content.get("models") or ()]
        budget = dict(content.get("account") or {}).get("budget_usd")
        left = dict(content.get("left_out") or {}).get("questions") or 0
        found = {"budget_usd": None if budget is None else float(budget), "questions_left_out": int(left)}
    return {**told, "models": models, **found} if content else {}


def _exhibits(folder: Path) -> tuple[tuple[Picture, ...] | None, tuple[Sheet, ...] | None]:
    path = folder / EXHIBITS
    if not path.is_file():
        return None, None
    content = _json(path)
    with _told(path):
        pictures = tuple(_picture(each, folder) for each in content["figures"])
        sheets = tuple(_sheet(each) for each in content["tables"])
    return pictures, sheets


def _name(record: Mapping[str, Any]) -> str:
    if not NAME.fullmatch(str(record["name"])):
        raise ValueError(f"'{record['name']}' is no name of a file of ours")
    return str(record["name"])


def _picture(record: Mapping[str, Any], folder: Path) -> Picture:
    name, style = _name(record), str(record["style"])
    lengths = {key: float(record[key]) for key in ("width", "height", "size")}
    if not all(0 < length < math.inf for length in lengths.values()):
        raise ValueError(f"figure {name}: {lengths}, expected lengths above 0")
    return Picture(name, str(record["caption"]), str(record["alt"]), **lengths, style=style, folder=folder)


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float) else str(value)


def _sheet(record: Mapping[str, Any]) -> Sheet:
    columns, rows = tuple(map(str, record["columns"])), tuple(tuple(map(_cell, row)) for row in record["rows"])
    odd = next((row for row in rows if len(row) != len(columns)), None)
    if odd is not None:
        raise ValueError(f"table {record['name']}: a row of {len(odd)} cells under {len(columns)} columns")
    best = frozenset((int(row), int(column)) for row, column in record["best"])
    return Sheet(_name(record), str(record["caption"]), columns, rows, best)
