"""A report as a folder: never written over what is no report, and nothing of an earlier one is left in it."""

from __future__ import annotations

import hashlib
import json
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

    A folder that holds anything but an earlier report is a ValueError. Texts are written without keys. What was changed
    in a file that this report does not have stays.
    """
    check(folder)
    former = _former(folder) or {}
    listed = {place: hashlib.sha256(export.cleaned(place, content)).hexdigest() for place, content in made.items()}
    told = {"made_by": MADE_BY, "files": dict(sorted(listed.items()))}
    # The list comes first: by it the rest of a report that was cut off is known as one.
    export.write({CONTENTS: f"{json.dumps(told, indent=1)}\n".encode(), **made}, folder)
    for place in set(former) - set(made):
        path = folder / place
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == former[place]:
            path.unlink()


def check(folder: Path) -> None:
    """Refuse a folder that is not ours to write into, before anything is read."""
    there = export.held(folder, "--to")
    if there and _former(folder) is None:
        raise ValueError(
            f"{folder}: not empty ({', '.join(there[:5])}) and no earlier report; --to names another folder"
        )


def _former(folder: Path) -> dict[str, str] | None:
    """The files of the report that a folder holds, with their sha256; None where it holds none."""
    try:
        text = (folder / CONTENTS).read_text(encoding="utf-8")
        told = json.loads(text, object_pairs_hook=no_duplicates)
        listed = dict(told["files"]) if told["made_by"] == MADE_BY else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return {place: known for place, known in listed.items() if _within(folder, place)} if listed is not None else None


def _within(folder: Path, place: str) -> bool:
    """Whether a listed file is in the folder: no name leads out of it, not by a link either."""
    inner = PurePosixPath(place)
    if inner.is_absolute() or ".." in inner.parts or not inner.parts:
        return False
    return (folder / place).parent.resolve().is_relative_to(folder.resolve())


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
