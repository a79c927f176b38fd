"""A report as a folder: never written over what is no report, and nothing of an earlier one is left in it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from helpers import export
from helpers.json_text import no_duplicates
from helpers.report.pages import files
from helpers.report.results import results
from helpers.report.verdicts import verdicts

#: The list of what a report holds, with the sha256 of each file: how a former one is known.
CONTENTS = "contents.json"
MADE_BY = "recuse report"


def write(folder: Path, made: Mapping[str, bytes]) -> None:
    """Put the files of a report (by their place in it) into `folder`, and take away what an earlier one left there.

    A folder that holds anything but an earlier report is a ValueError. Texts are written without keys.
    """
    check(folder)
    former = _former(folder) or []
    rooms: dict[str, dict[str, bytes]] = {}
    for place, content in made.items():
        path = PurePosixPath(place)
        rooms.setdefault(str(path.parent), {})[path.name] = content
    for room in rooms:
        _refuse_links(folder, room)
    for room, inside in rooms.items():
        export.write(inside, folder / room)
    for place in set(former) - set(made):
        (folder / place).unlink(missing_ok=True)
    listed = {place: hashlib.sha256((folder / place).read_bytes()).hexdigest() for place in made}
    told = {"made_by": MADE_BY, "files": dict(sorted(listed.items()))}
    export.write({CONTENTS: f"{json.dumps(told, indent=1)}\n".encode()}, folder)


def check(folder: Path) -> None:
    """Refuse a folder that is not ours to write into, before anything is read."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder}: a file, expected a folder to write into")
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(f"{folder}: nothing can be written into {there}; --to names another folder")
    if folder.is_dir() and any(folder.iterdir()) and _former(folder) is None:
        held = ", ".join(sorted(each.name for each in folder.iterdir())[:5])
        raise ValueError(f"{folder}: not empty ({held}) and no earlier report; --to names another folder")


def _former(folder: Path) -> list[str] | None:
    """The files of the report that a folder holds, None where it holds none."""
    try:
        text = (folder / CONTENTS).read_text(encoding="utf-8")
        told = json.loads(text, object_pairs_hook=no_duplicates)
        listed = list(told["files"]) if told["made_by"] == MADE_BY else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return [place for place in listed if _within(folder, place)] if listed is not None else None


def _within(folder: Path, place: str) -> bool:
    """Whether a listed file is in the folder: no name leads out of it, not by a link either."""
    inner = PurePosixPath(place)
    if inner.is_absolute() or ".." in inner.parts or not inner.parts:
        return False
    return (folder / place).parent.resolve().is_relative_to(folder.resolve())


def _refuse_links(folder: Path, room: str) -> None:
    """Refuse a folder within the report that is a link: what is written there would land elsewhere."""
    at = folder
    for step in PurePosixPath(room).parts:
        at = at / step
        if at.is_symlink():
            raise ValueError(f"{at}: a link, expected a folder of the report; delete it")


def report(folder: Path, places: Sequence[Path] | None, tell: Callable[[str], None]) -> Mapping[str, int]:
    """Make the report of the default runs, or of those in `places`: how many notebooks, pages and files it has.

    `tell` hears which replies are being read.
    """
    check(folder)
    found, marked = results(places or None), []
    for each in found:
        if each.asks:
            tell(f"reading the stored replies of {each.label}")
        marked.append(verdicts(each))
    made = files(found, [each for each in marked if each is not None])
    write(folder, made)
    return {"notebooks": len(found), "pages": sum(name.endswith(".html") for name in made), "files": len(made)}
