"""Whether keys stand in what a run produced: every file line by line, and what is packed inside files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from helpers import paths
from helpers.check.reading import UNOPENED, pieces, unreadable
from helpers.config import load_models
from helpers.providers.keys import declare, finder, secrets
from helpers.services import SERVICES

__all__ = ["Checked", "Hit", "check", "usual", "variables"]

#: Folders that hold no results, wherever they lie.
PASSED = {".git", ".venv", "__pycache__", ".hypothesis", ".pytest_cache", ".ruff_cache"}


@dataclass(frozen=True)
class Hit:
    """One place that holds a key: the line of a file (or what its format calls the place) and the variable's name."""

    path: Path
    place: str
    what: str


@dataclass(frozen=True)
class Checked:
    """What was looked through: files and bytes, the hits, and the files into which nobody could look, with why."""

    files: int
    size: int
    hits: tuple[Hit, ...]
    closed: tuple[tuple[Path, str], ...]


def variables() -> list[str]:
    """Every variable that holds a key: those of the providers, and each `api_key_env` of models.yaml."""
    named = {model.api_key_env for model in load_models().values() if model.api_key_env}
    return sorted(named.union(*(service.keys for service in SERVICES.values())))


def usual() -> list[Path]:
    """What runs leave behind: results, reports, replies, notebooks run by hand, and files beside the README.

    Not the `.env` file, which is where keys belong.
    """
    folders = [paths.FIGURES, paths.EXPERIMENTS, paths.NOTEBOOKS, paths.REPLIES, paths.ROOT / "logs"]
    beside = [path for path in sorted(paths.ROOT.iterdir()) if path.is_file() and not path.name.startswith(".env")]
    return [place for place in folders if place.exists()] + beside


def check(places: Iterable[Path]) -> Checked:
    """Look for the secrets of this environment, and for what looks like a key, in files and folders.

    A place that does not exist is a ValueError. A value is never part of what is returned.
    """
    declare(variables())
    found = finder()
    files, size, hits, closed = 0, 0, [], []
    for path in _files(places):
        if path.suffix.lower() in UNOPENED:
            closed.append((path, "an archive; unpack it"))
            continue
        files += 1
        try:
            size += path.stat().st_size
            for place, text in pieces(path):
                hits += [Hit(path, place, name) for name in found(text)]
        except unreadable() as error:
            closed.append((path, f"cannot be read as what it says it is ({type(error).__name__})"))
    return Checked(files, size, tuple(dict.fromkeys(hits)), tuple(closed))


def known() -> tuple[list[str], list[str]]:
    """The variables whose secrets are looked for, and those of `variables` that are not set here or hold none."""
    names = {name for _, name in secrets()}
    return sorted(names), [name for name in variables() if name not in names]


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_file():
            yield place
        elif not place.is_dir():
            raise ValueError(f"{place}: no such file or folder")
        for folder, inside, names in os.walk(place):
            inside[:] = sorted(set(inside) - PASSED)
            every = (Path(folder) / name for name in sorted(names) if not name.startswith(".env"))
            yield from (path for path in every if path.is_file())
