"""The folder of a paper: all its files at once, and none that somebody has changed by hand is replaced."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from helpers import export
from helpers.export import PROTOCOL
from helpers.paper.checklist import checklist, checklist_tex
from helpers.paper.example import appendix, example, preamble
from helpers.paper.folders import Results, load_all
from helpers.paper.methods import methods_tex
from helpers.paper.numbering import numbers_tex
from helpers.paper.pages import Page, page
from helpers.paper.redrawing import drawn_for, fits, redrawable, redrawn
from helpers.paper.setting import figure_tex, share, stem, table_tex
from helpers.paper.sources import bibliography, of_results

#: What was written last, with its hash: by this a file that somebody changed is known.
RECORD = "paper.json"
#: What every paper has, whatever its results are.
ALWAYS = ("recuse.tex", "numbers.tex", "methods.tex", "checklist.tex", "references.bib", "example.tex", "appendix.tex")
OURS = re.compile(r"((figures|tables)/)?[A-Za-z0-9_-]+\.(tex|bib|pdf)")


@dataclass(frozen=True)
class Written:
    """What became of a paper: its files, and what could not be taken into it, a sentence each."""

    folder: Path
    files: tuple[str, ...]
    notes: tuple[str, ...]


def write(
    style: str, folder: Path, places: Sequence[str] = (), force: bool = False, tell: Callable[[str], None] = print
) -> Written:
    """Make a paper of `places` (see `folders.load_all`) in `folder`; `tell` hears what is done while it takes a while.

    Files: recuse.tex (the preamble), numbers.tex, methods.tex, checklist.tex, references.bib, example.tex,
    appendix.tex (what the example does not show), `figures` and `tables`. A file there that is not as this command left
    it is a ValueError, unless `force`; so is everything that `load_all` and `redrawn` refuse. Nothing is written before
    all of it is made.
    """
    on, every = page(style), load_all(places)
    _refuse_strangers(folder, force)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".drawing-") as workshop:
        ready, notes = [], []
        again = [each.label for each in every if not drawn_for(each, on) and redrawable(each)]
        for results in every:
            if results.label in again:
                at = f"{again.index(results.label) + 1} of {len(again)}"
                tell(f"{results.label}: running its notebook again for figures of {style} ({at})")
                results = redrawn(results, on, Path(workshop))
            kept, left = fitting(results, on)
            ready.append(kept)
            notes += left
        files = contents(ready, on)
    _put(files, folder, force)
    return Written(folder, tuple(sorted(files)), tuple(notes))


def fitting(results: Results, on: Page) -> tuple[Results, list[str]]:
    """The results without figures that are not of this style and cannot be made so, and what is left out."""
    if results.pictures is None:
        return results, [f"{results.folder}: made before figures and tables were kept; its numbers are used"]
    kept = tuple(each for each in results.pictures if fits(each, on))
    left = [each.name for each in results.pictures if each not in kept]
    notes = [
        f"{stem(results, each.name)}: {each.height:.1f} in high, set at {share(each, on):.0%} of its size: it must fit "
        "a page with its caption"
        for each in kept
        if share(each, on) < 1
    ]
    note = f"{results.folder}: left out, as they are not drawn for {on.name}: {', '.join(left)}"
    if results.experiment == "analyze":
        note += f" (`recuse analyze FILE --figure-style {on.name}` draws them so)"
    return replace(results, pictures=kept), [note, *notes] if left else notes


def contents(every: Sequence[Results], on: Page) -> dict[str, bytes]:
    """The bytes of every file by its place in the folder; the same for the same results."""
    done = checklist(every)
    texts = (
        preamble(),
        numbers_tex(every, done.macros),
        methods_tex(every),
        checklist_tex(done),
        bibliography(key for each in every for key in of_results(each)),
        example(every, on),
        appendix(every),
    )
    files = {name: text.encode() for name, text in zip(ALWAYS, texts, strict=True)}
    for each in every:
        for picture in each.pictures or ():
            files[f"figures/{stem(each, picture.name)}.tex"] = figure_tex(each, picture, on).encode()
            files[f"figures/{stem(each, picture.name)}.pdf"] = picture.pdf.read_bytes()
        for sheet in each.sheets or ():
            files[f"tables/{stem(each, sheet.name)}.tex"] = table_tex(each, sheet, on).encode()
    return files


def _put(files: Mapping[str, bytes], folder: Path, force: bool) -> None:
    """Write everything and the record of it; what an earlier paper left and this one does not have goes.

    What somebody has changed since does not go.
    """
    known = _recorded(folder)
    _refuse_strange(folder, files, force)
    left = [name for name in sorted(set(known) - set(files)) if _hash_of(folder / name) == known[name]]
    hashes = {name: hashlib.sha256(export.cleaned(name, files[name])).hexdigest() for name in sorted(files)}
    record = json.dumps({"protocol": PROTOCOL, "files": hashes}, indent=1)
    export.write({**files, RECORD: f"{record}\n".encode()}, folder)
    for name in left:
        (folder / name).unlink()


def _refuse_strange(folder: Path, names: Iterable[str], force: bool) -> None:
    """Refuse to replace what this command did not write."""
    known = _recorded(folder)
    strange = [name for name in names if name not in known and (folder / name).exists()]
    if strange and not force:
        raise ValueError(f"{folder}: {', '.join(strange[:5])} is there and not ours; another --to, or --force")


def _hash_of(path: Path) -> str:
    """The sha256 of a file, "" where there is none within our folders."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.parent.is_symlink() else ""


def _recorded(folder: Path) -> dict[str, str]:
    """The hashes of what this command wrote into the folder, by place; none of a folder that it never wrote into."""
    path = folder / RECORD
    if not path.is_file():
        return {}
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
        return {str(name): str(value) for name, value in files.items() if OURS.fullmatch(name)}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path}: no record of a paper; remove it, or name another folder with --to") from None


def _refuse_strangers(folder: Path, force: bool) -> None:
    """Refuse a folder in which a file of ours was changed or one of its names is taken, before anything is computed."""
    export.held(folder, "--to")
    changed = [name for name, before in _recorded(folder).items() if _hash_of(folder / name) not in ("", before)]
    if changed and not force:
        raise ValueError(
            f"{folder}: changed since it was made: {', '.join(changed[:5])}; keep your words in files of your own, "
            "which \\input ours, or --force replaces them"
        )
    _refuse_strange(folder, ALWAYS, force)
