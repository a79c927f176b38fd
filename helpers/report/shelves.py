"""The files of a report beside its pages: figures and tables to download, and what the notebooks link to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from helpers import paths
from helpers.explain import PAGE as ESTIMANDS
from helpers.export import NAME
from helpers.report.drawings import only_draws
from helpers.report.results import Result
from helpers.run.notebooks import available, experiment_of

#: What may be downloaded, by ending, and what it is called.
KINDS = {
    ".png": "PNG",
    ".pdf": "PDF",
    ".svg": "SVG",
    ".csv": "CSV",
    ".tex": "LaTeX",
    ".json": "JSON",
    ".md": "Markdown",
}
PICTURES = (".png", ".pdf", ".svg")
#: The record of one run: commit, time, versions. It is no result and differs between runs that agree.
LEFT_OUT = "run.json"
#: What a notebook may link to in this repository: texts, in these folders, of at most so many bytes.
TEXTS = (".yaml", ".txt", ".md", ".py", ".json", ".jsonl", ".csv")
ROOMS = (paths.EXPERIMENTS, paths.DATA, paths.ROOT / "helpers")
PRIVATE = (paths.REPLIES, paths.DOWNLOADS)
LARGEST = 2_000_000
REFERENCE = "reference.html"


@dataclass
class Shelf:
    """What the pages link to beside each other: `files` by their place in the report, `sources` by address and name."""

    files: dict[str, bytes] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)


def downloads(result: Result, shelf: Shelf) -> dict[str, list[tuple[str, str, str]]]:
    """The files of a run as rows of a table: kind, address and size, by what they are of. They are put on the shelf."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for path in _results(result.folder):
        address = f"files/{result.page}/{path.name}"
        shelf.files[address] = path.read_bytes()
        size = len(shelf.files[address])
        found.setdefault(path.stem, []).append((KINDS[path.suffix], address, f"{max(1, round(size / 1000)):,} kB"))
    order = list(KINDS.values())
    return {stem: sorted(files, key=lambda each: order.index(each[0])) for stem, files in sorted(found.items())}


def pictures(result: Result) -> dict[bytes, list[tuple[str, str]]]:
    """The files of each figure (what it is called, address), by the bytes of its PNG, as notebooks show it."""
    files = _results(result.folder)
    return {
        path.read_bytes(): [
            (KINDS[other.suffix], f"files/{result.page}/{other.name}")
            for ending in PICTURES
            for other in files
            if other.stem == path.stem and other.suffix == ending
        ]
        for path in files
        if path.suffix == ".png"
    }


def _results(folder: Path) -> list[Path]:
    """The files of results in a folder, in order; what an export does not write is left where it is.

    So is a drawing that would act when somebody opens it.
    """
    return [
        path
        for path in sorted(folder.iterdir())
        if path.suffix in KINDS and NAME.fullmatch(path.stem) and path.name != LEFT_OUT
        if path.is_file() and not path.is_symlink()
        if path.suffix != ".svg" or only_draws(path.read_bytes())
    ]


def leads(href: str, home: Path, pages: Sequence[Result], shelf: Shelf) -> str | None:
    """Where a link of a notebook in the folder `home` leads within the report; None where it can lead nowhere.

    Other notebooks and the page of all numbers are pages here. Texts of this repository are put on the shelf.
    """
    target = Path(os.path.normpath(home / href.partition("#")[0]))
    if target == ESTIMANDS:
        return REFERENCE
    name = {path: experiment_of(path) for path in available().values()}.get(target)
    name = target.parent.name if target.name == "report.ipynb" else name
    own = [page for page in pages if page.name == name]
    if name is not None:
        return f"{own[0].page}.html" if own else None
    if not any(target.is_relative_to(room) for room in ROOMS) or any(target.is_relative_to(each) for each in PRIVATE):
        return None
    if target.is_dir():
        within = [each for each in sorted(target.iterdir()) if _is_text(each)]
        for each in within:
            _put(each, shelf)
        return "downloads.html#sources" if within else None
    return _put(target, shelf) if _is_text(target) else None


def _is_text(path: Path) -> bool:
    return path.suffix in TEXTS and path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST


def _put(path: Path, shelf: Shelf) -> str:
    """A text of this repository on the shelf, under a name that browsers show and do not run or save."""
    place = path.relative_to(paths.ROOT).as_posix()
    address = f"sources/{place}.txt"
    shelf.files[address] = path.read_bytes()
    shelf.sources[address] = place
    return address
