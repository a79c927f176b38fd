"""The folder of a paper: figures that are redrawn where they must, and an example that uses all of it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from .. import export
from ..export import PROTOCOL
from ..macros import MARK, camel, place
from ..run import notebooks
from ..run.notebooks import available, collects, experiment_of, run_all
from ..types import Estimate
from .facts import bibliography, checklist, checklist_tex, facts, filled, macro_of, methods_tex, numbers_tex, of_results
from .layout import Page, Picture, Results, figure_tex, load, load_all, page, share, stem, table_tex

REPORT = "report.ipynb"
#: Numbers are written with six digits; another machine may differ in the last of them.
SAME = 1e-4


def fits(picture: Picture, page: Page) -> bool:
    """Whether a figure is drawn in that style, is no wider than the page, and its file is there."""
    return picture.style == page.name and picture.width <= page.text + 0.01 and picture.pdf.is_file()


def redrawn(results: Results, page: Page, workshop: Path) -> Results:
    """The same results with figures in that style, made in `workshop` by running their notebook again.

    Nobody but simulated judges is asked: replies of others come from the store. What comes out must be the numbers that
    were there, else ValueError; so it is where the notebook does not run through.
    """
    notebook = next(each for each in available().values() if experiment_of(each) == results.experiment)
    out = workshop / results.label
    settings = {**parameters(results), "figure_style": page.name, "out": str(out)}
    if not collects(notebook):
        settings["budget_usd"] = 0.0
        if results.provenance.get("data") == "asked":
            settings["judgments"] = "stored"
    remedy = f"run {notebook.stem} yourself with -p figure_style {page.name}, and name its folder with --results"
    try:
        (done,) = run_all([notebook], settings, 1)
    except ValueError as error:
        raise ValueError(f"{results.folder}: its figures cannot be drawn again ({error}); {remedy}") from None
    if done.error:
        raise ValueError(f"{results.folder}: its figures cannot be drawn again: {done.error}; {remedy}")
    fresh = load(out, results.label)
    if differ := differences(results.estimates, fresh.estimates):
        raise ValueError(
            f"{results.folder}: running {notebook.stem} again gives other numbers ({differ}): code, versions or "
            f"replies have changed since; {remedy}"
        )
    run = results.run if results.run.time else fresh.run
    return replace(fresh, folder=results.folder, provenance=results.provenance, run=run)


def parameters(results: Results) -> dict[str, Any]:
    """The parameters of a run: as its own report holds them, else as its numbers tell them.

    These name files without their folders, because a result says nothing of the machine that made it.
    """
    report = results.folder / REPORT
    if report.is_file():
        return notebooks.parameters(notebooks.load(report), (notebooks.INJECTED,))
    return dict(results.provenance["parameters"])


def differences(before: Sequence[Estimate], after: Sequence[Estimate]) -> str:
    """Where two runs differ in what they found, in a few words; "" where they do not."""
    stored, fresh = ({place(each): each for each in estimates} for estimates in (before, after))
    if stored.keys() != fresh.keys():
        return f"{len(stored.keys() ^ fresh.keys())} are in one of them only"
    bounds = attrgetter("value", "low", "high")
    near = partial(np.allclose, rtol=SAME, atol=SAME / 100, equal_nan=True)
    other = [at for at, one in stored.items() if one.n != fresh[at].n or not near(bounds(one), bounds(fresh[at]))]
    if not other:
        return ""
    first = stored[other[0]]
    where = ", ".join(f"{key} {value}" for key, value in first.where.items())
    return f"{len(other)} of {len(stored)}, the first: {first.id} ({where}) was {first}, is {fresh[other[0]]}"


PREAMBLE = r"""% What figures, tables, numbers and checklist need: \input{recuse} in the preamble. By `recuse paper`.
\usepackage{graphicx,booktabs,array,tabularx}
% Where this folder lies, seen from your paper: \newcommand{\RecuseFolder}{recuse/} before you read this file.
\providecommand{\RecuseFolder}{}
% A simulated number prints this word beside it; a text that says it once, in front, need not repeat it.
MARK
\providecommand{\RecuseAllSimulated}[1]{{\renewcommand{\RecuseSimulated}[1]{##1}SIMULATED, #1}}
% Sizes of letters in tables; nothing is set smaller.
\providecommand{\RecuseMedium}{\fontsize{9}{10.8}\selectfont}
\providecommand{\RecuseSmall}{\fontsize{8}{9.6}\selectfont}
% A table that is still too wide, in wider letters than those it was measured with, is shrunk, and TeX says by how much.
\newsavebox{\RecuseBox}
\newcommand{\RecuseFit}[1]{\sbox{\RecuseBox}{#1}%
  \ifdim\wd\RecuseBox>\linewidth
    \typeout{Recuse: a table of \the\wd\RecuseBox\space is shrunk to \the\linewidth}%
    \resizebox{\linewidth}{!}{\usebox{\RecuseBox}}%
  \else\usebox{\RecuseBox}\fi}
\newcounter{RecuseItem}
\newcommand{\RecuseItem}[2]{\stepcounter{RecuseItem}\arabic{RecuseItem} &
  \raggedright #1 & \raggedright\arraybackslash #2 \\[1.5pt]}
\input{\RecuseFolder numbers}
"""


def example(every: Sequence[Results], page: Page, appendix: bool = False) -> str:
    """example.tex: for each of the results its findings, first figure and first table, then methods and checklist.

    With `appendix` that of appendix.tex: all figures and tables that the example does not show.
    """
    options: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    made = Environment(loader=PackageLoader(__package__, ""), undefined=StrictUndefined, **options)
    made.globals |= {"stem": stem, "macro_of": macro_of, "place": place, "camel": camel}
    made.globals["filled"] = lambda words, results: filled(words, results, facts(results))
    return made.get_template("example.tex.jinja").render(every=every, page=page, appendix=appendix)


#: What was written last, with its hash: by this a file that somebody changed is known.
RECORD, FACTS = "paper.json", {"protocol": PROTOCOL}
#: What every paper has, whatever its results are.
ALWAYS = ("recuse.tex", "numbers.tex", "methods.tex", "checklist.tex", "references.bib", "example.tex", "appendix.tex")


@dataclass(frozen=True)
class Written:
    """What became of a paper: its files, and what could not be taken into it, a sentence each."""

    folder: Path
    files: tuple[str, ...]
    notes: tuple[str, ...]


def write(
    style: str, folder: Path, places: Sequence[str] = (), force: bool = False, tell: Callable[[str], None] = print,
    only: Sequence[str] = (),
) -> Written:  # fmt: skip
    """Make a paper of `places` (see `layout.load_all`) in `folder`; `tell` hears what is done while it takes a while.

    With `only`, of figures and tables those with these names (`stem`); a notebook without any is not run again.
    Files: recuse.tex (the preamble), numbers.tex, methods.tex, checklist.tex, references.bib, example.tex,
    appendix.tex (what the example does not show), `figures` and `tables`. A file there that is not as this command left
    it is a ValueError, unless `force`; so is everything that `load_all` and `redrawn` refuse. Nothing is written before
    all of it is made.
    """
    on, loaded = page(style), load_all(places)
    every = [narrowed(each, only) for each in loaded]
    if strange := [name for name in only if not name.startswith(tuple(f"{each.label}-" for each in loaded))]:
        raise ValueError(
            f"--only {strange[0]}: expected RESULTS-NAME, one of {', '.join(x.label for x in loaded)} first"
        )
    _refuse_strangers(folder, ALWAYS, force)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".drawing-") as workshop:
        ready, notes = [], []
        ours = set(map(experiment_of, available().values()))
        stale = [each for each in every if each.pictures is None or not all(fits(one, on) for one in each.pictures)]
        again = [each.label for each in stale if each.experiment in ours]
        for results in every:
            if results.label in again:
                at = f"{again.index(results.label) + 1} of {len(again)}"
                tell(f"{results.label}: running its notebook again for figures of {style} ({at})")
                results = narrowed(redrawn(results, on, Path(workshop)), only)
            kept, left = fitting(results, on)
            ready.append(kept)
            notes += left
        files = contents(ready, on)
    names = {Path(name).stem for name in files}
    if missing := [name for name in only if name not in names]:
        raise ValueError(f"--only {missing[0]}: no figure or table of these results; captions.md beside them lists all")
    _refuse_strangers(folder, files, force)
    export.renew(files, folder, RECORD, FACTS)
    return Written(folder, tuple(sorted(files)), tuple(notes))


def narrowed(results: Results, only: Sequence[str]) -> Results:
    """The results with only those figures and tables that are named, if any are; none is to be drawn where none is."""
    if not any(name.startswith(f"{results.label}-") for name in only):
        return replace(results, pictures=(), sheets=()) if only else results
    pictures = results.pictures and tuple(each for each in results.pictures if stem(results, each.name) in only)
    sheets = results.sheets and tuple(each for each in results.sheets if stem(results, each.name) in only)
    return replace(results, pictures=pictures, sheets=sheets)


def fitting(results: Results, on: Page) -> tuple[Results, list[str]]:
    """The results without figures that are not of this style and cannot be made so, and what is left out."""
    again = f" (`recuse analyze FILE --figure-style {on.name}` draws them so)" * (results.experiment == "analyze")
    if results.pictures is None:
        return results, [f"{results.folder}: holds no figures and tables for a paper; its numbers are used{again}"]
    kept = tuple(each for each in results.pictures if fits(each, on))
    left = [each.name for each in results.pictures if each not in kept]
    notes = [
        f"{stem(results, each.name)}: {each.height:.1f} in high, set at {share(each, on):.0%} of its size: it must fit "
        "a page with its caption"
        for each in kept
        if share(each, on) < 1
    ]
    note = f"{results.folder}: left out, as they are not drawn for {on.name}: {', '.join(left)}{again}"
    return replace(results, pictures=kept), [note, *notes] if left else notes


def contents(every: Sequence[Results], on: Page) -> dict[str, bytes]:
    """The bytes of every file by its place in the folder; the same for the same results."""
    rows, macros = checklist(every)
    texts = (
        PREAMBLE.replace("MARK", MARK),
        numbers_tex(every, macros),
        methods_tex(every),
        checklist_tex(rows),
        bibliography(key for each in every for key in of_results(each)),
        example(every, on),
        example(every, on, appendix=True),
    )
    files = {name: text.encode() for name, text in zip(ALWAYS, texts, strict=True)}
    for each in every:
        for picture in each.pictures or ():
            files[f"figures/{stem(each, picture.name)}.tex"] = figure_tex(each, picture, on).encode()
            files[f"figures/{stem(each, picture.name)}.pdf"] = picture.pdf.read_bytes()
        for sheet in each.sheets or ():
            files[f"tables/{stem(each, sheet.name)}.tex"] = table_tex(each, sheet, on).encode()
    return files


def _refuse_strangers(folder: Path, names: Iterable[str], force: bool) -> None:
    """Refuse to replace what this command did not write, or what was changed since."""
    export.list_contents(folder, "--to")
    record = export.recorded(folder, RECORD, FACTS)
    names = names if record else (*names, RECORD)
    record = record or {}
    changed = [name for name, before in record.items() if export.sha256_of(folder / name) not in ("", before)]
    strange = [name for name in names if name not in record and (folder / name).exists()]
    if changed and not force:
        raise ValueError(
            f"{folder}: changed since it was made: {', '.join(changed[:5])}; keep your words in files of your own, "
            "which \\input ours, or --force replaces them"
        )
    if strange and not force:
        raise ValueError(f"{folder}: {', '.join(strange[:5])} is there and not ours; another --to, or --force")
