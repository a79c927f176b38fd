"""The results of other notebooks, read back from their folders: nothing is computed anew, nothing is known by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import paths
from helpers.export import PROTOCOL, READABLE
from helpers.json_text import document
from helpers.run.notebooks import available, experiment_of
from helpers.types import Collection, Estimate
from helpers.words import CARD_VERDICTS, CardLine

SUMMARY = "summary.json"


@dataclass(frozen=True)
class Row:
    """One finding of one experiment in one source of data; `unreadable` is NaN where nobody published it."""

    sentence: str
    estimate: Estimate
    unreadable: float


@dataclass(frozen=True)
class Found:
    """What one folder of results holds. `run` is the folder's name where it is not the experiment's, else "".

    `claims` is None where nothing was claimed; `models` holds calls, tokens and dollars of each model (`run.costs`).
    """

    name: str
    question: str
    run: str
    rows: tuple[Row, ...]
    lines: tuple[CardLine, ...]
    claims: pd.DataFrame | None
    models: tuple[Mapping[str, Any], ...]


def collect(collection: Collection) -> list[Found]:
    """What the folders of `collection.results` hold, experiments in the order of their notebooks.

    A folder without a summary.json stands for its folders that have one (a matrix of runs). An experiment's own folder
    that holds none is an experiment that has not been run; any other one is a ValueError that names it. Nothing of an
    experiment that failed is read: what it left before must not pass for new.
    """
    own = {paths.FIGURES / name for name in collection.experiments}
    found = []
    for folder in collection.results:
        inner = [folder] if _holds(folder) else sorted(each for each in folder.glob("*") if _holds(each))
        if not inner and folder not in own:
            raise ValueError(f"{folder}: neither it nor a folder in it holds a {SUMMARY}; run the notebooks first")
        found += [read(each) for each in inner]
    place = {experiment_of(notebook): i for i, notebook in enumerate(available().values())}
    found = [each for each in found if each.name not in collection.failed]
    return sorted(found, key=lambda each: (place.get(each.name, len(place)), each.name, each.run))


def _holds(folder: Path) -> bool:
    return (folder / SUMMARY).is_file()


def absent(collection: Collection, found: Sequence[Found]) -> dict[str, str]:
    """The experiments of which there is nothing here, with the reason: "failed in this run" or "not run"."""
    there = {each.name for each in found}
    return {
        name: "failed in this run" if name in collection.failed else "not run"
        for name in collection.experiments
        if name not in there
    }


def read(folder: Path) -> Found:
    """What one folder of results holds; ValueError where its summary.json is none that this program wrote."""
    path = folder / SUMMARY
    content = _json(path)
    try:
        if content["protocol"] not in READABLE:
            raise ValueError(f"protocol {content['protocol']!r}, this program reads {PROTOCOL!r}")
        rows = tuple(Row(_text(row["sentence"]), estimate(row), _number(row["unreadable"])) for row in content["rows"])
        lines = tuple(_line(line) for line in content["card"])
        name, question = _text(content["title"]), _text(content["question"])
        models = tuple(map(paid, content["models"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        what = f"key {error} is missing" if isinstance(error, KeyError) else error
        raise ValueError(f"{path}: {what}; run its notebook again") from None
    return Found(
        name=name,
        question=question,
        run="" if folder.name == name else folder.name,
        rows=rows,
        lines=lines,
        claims=read_claims(folder / "claims.csv"),
        models=models,
    )


def _json(path: Path) -> Any:
    try:
        return document(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: no JSON ({error}); run its notebook again") from None


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {type(value).__name__}")
    return value


def read_claims(path: Path) -> pd.DataFrame | None:
    """The claims that a run checked; None where it left none, ValueError where the file is no table of claims."""
    if not path.is_file():
        return None
    try:
        claims = pd.read_csv(path)
    except ValueError as error:
        raise ValueError(f"{path}: no table of claims ({error}); run its notebook again") from None
    if "status" not in claims:
        raise ValueError(f"{path}: no column 'status'; run its notebook again")
    return claims if "kind" in claims else claims.assign(kind="printed")  # of protocol 1.0


def paid(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a model cost, from the record of a run: calls, tokens, and dollars (NaN where no price was known)."""
    counts = {key: int(record[key]) for key in ("calls", "input", "output")}
    return {"model": _text(record["model"]), **counts, "usd": _number(record["usd"])}


def estimate(record: Mapping[str, Any]) -> Estimate:
    """A number from its record in numbers.json or summary.json; KeyError, TypeError or ValueError where it is none."""
    bounds = {key: _number(record[key]) for key in ("value", "low", "high")}
    where = {str(key): str(value) for key, value in dict(record["where"]).items()}
    words = {key: _text(record[key]) for key in ("unit", "method", "data")}
    if not words["data"]:
        raise ValueError("a number that does not say where it is from: data is empty")
    counts = {key: int(record[key]) for key in ("n", "clusters")}
    beside = {key: _number(record.get(key)) for key in ("p", "effective")}
    return Estimate(_text(record["id"]), where, **bounds, **counts, **words, **beside)


def _line(record: Mapping[str, Any]) -> CardLine:
    if record["verdict"] not in CARD_VERDICTS:
        raise ValueError(f"verdict {record['verdict']!r}; there are: {', '.join(CARD_VERDICTS)}")
    words = {key: _text(record[key]) for key in ("judge", "measure", "verdict", "words")}
    numbers = {key: _number(record[key]) for key in ("p", "smallest")}
    return CardLine(estimate=estimate(record["estimate"]), **words, **numbers)
