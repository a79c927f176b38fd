"""The folder of a paper: figures and tables as LaTeX floats, redrawn where they must, and an example that uses them."""

from __future__ import annotations

import re
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
from ..escaping import LONGEST_CAPTION, LONGEST_CELL, cut, latex, visible
from ..export import PROTOCOL
from ..macros import MARK, camel, place, signs
from ..run import notebooks
from ..run.notebooks import available, collects, experiment_of, run_all
from ..types import Estimate
from .facts import bibliography, checklist, checklist_tex, facts, filled, macro_of, methods_tex, numbers_tex, of_results
from .layout import (
    POINTS,
    SMALLEST,
    Layout,
    Page,
    Picture,
    Results,
    Sheet,
    head_lines,
    layouts,
    lines_of,
    load,
    load_all,
    page,
    row_height,
    written,
)

#: A table of more pages than this is cut: its CSV file, beside the results, holds all.
MOST_PAGES = 3
#: What rules, head and space take of a page besides the rows, in points.
AROUND = 90
#: Space around a figure and its caption, in points.
SPACE = 30


def stem(results: Results, name: str) -> str:
    """The name of the files of one figure or table."""
    return f"{results.label}-{name}"


def figure_tex(results: Results, picture: Picture, page: Page) -> str:
    """A figure in its own size, so that its letters are as large as they were drawn; wide ones over both columns.

    Only one that is higher than the page is made smaller (`share`).
    """
    star = "*" if page.columns == 2 and picture.width > page.column + 0.01 else ""
    height = picture.height * share(picture, page)
    options = "" if height == picture.height else f"[height={height:.3f}in]"
    alt = " ".join(visible(picture.alt).split())
    return "\n".join(
        [
            f"% In other words: {alt}",
            rf"\begin{{figure{star}}}[tp]",
            r"\centering",
            rf"\includegraphics{options}{{\RecuseFolder figures/{stem(results, picture.name)}}}",
            rf"\caption{{{_caption(picture.caption)}}}",
            rf"\label{{fig:{stem(results, picture.name)}}}",
            rf"\end{{figure{star}}}",
            "",
        ]
    )


def share(picture: Picture, page: Page) -> float:
    """The share of its own size that a figure has on the page: 1, or less where it and its caption are too high."""
    wide = picture.width > page.column + 0.01
    room = page.height - (_caption_height(picture.caption, page, wide) + SPACE) / POINTS
    return min(1.0, room / picture.height)


def table_tex(results: Results, sheet: Sheet, page: Page) -> str:
    """A table with booktabs rules that fits its column, in as many parts as it needs."""
    label = f"tab:{stem(results, sheet.name)}"
    if not sheet.rows or not sheet.columns:
        return f"% {visible(sheet.name)}: a table without rows.\n"
    floats: list[str] = []
    for layout in layouts(sheet, page):
        parts, cut_at = _parts(sheet, layout, page)
        for rows in parts:
            words = sheet.caption if not floats else "Continued."
            if cut_at and not floats:
                words += f" The first {cut_at:,} of {len(sheet.rows):,} rows; {sheet.name}.csv holds all."
            floats.append(_float(sheet, layout, rows, words, label if not floats else f"{label}-{len(floats) + 1}"))
    return "\n".join(floats)


def _caption(words: str) -> str:
    return signs(latex(cut(words, LONGEST_CAPTION)))


def _parts(sheet: Sheet, layout: Layout, page: Page) -> tuple[list[list[int]], int]:
    """The rows of each page, and how many rows there are when some are left out, else 0."""
    room = page.height * POINTS - AROUND - _caption_height(sheet.caption, page, layout.wide)
    parts: list[list[int]] = [[]]
    used = 0.0
    for row in range(len(sheet.rows)):
        height = row_height(sheet, layout, row)
        if parts[-1] and used + height > room:
            parts.append([])
            used = 0.0
        parts[-1].append(row)
        used += height
    if len(parts) <= MOST_PAGES:
        return parts, 0
    return parts[:MOST_PAGES], sum(map(len, parts[:MOST_PAGES]))


def _caption_height(words: str, page: Page, wide: bool) -> float:
    room = (page.text if wide or page.columns == 1 else page.column) * POINTS
    return (1 + len(words) * 0.5 * page.caption / room) * page.caption * 1.2


def _float(sheet: Sheet, layout: Layout, rows: Sequence[int], words: str, label: str) -> str:
    star = "*" if layout.wide else ""
    size = r"\RecuseSmall" if layout.size == SMALLEST else r"\RecuseMedium"
    table, width = ("tabularx", r"{\linewidth}") if layout.prose else ("tabular", "")
    kinds = "".join(_kind(sheet, layout, at) for at in layout.columns)
    # The space between rows of several lines separates them.
    end = r" \\[2pt]" if layout.stacked or layout.prose else r" \\"
    return "\n".join(
        [
            rf"\begin{{table{star}}}[tp]",
            r"\centering",
            rf"\caption{{{_caption(words)}}}",
            rf"\label{{{re.sub('[^A-Za-z0-9:._-]', '-', label)}}}",
            rf"{size}\setlength{{\tabcolsep}}{{4pt}}%",
            rf"\RecuseFit{{\begin{{{table}}}{width}{{@{{}}{kinds}@{{}}}}",
            r"\toprule",
            " & ".join(_head(sheet, layout, at) for at in layout.columns) + r" \\",
            r"\midrule",
            *(" & ".join(_cell(sheet, layout, row, at) for at in layout.columns) + end for row in rows),
            r"\bottomrule",
            rf"\end{{{table}}}}}",
            rf"\end{{table{star}}}",
            "",
        ]
    )


def _kind(sheet: Sheet, layout: Layout, at: int) -> str:
    if at in layout.prose:
        # Shares of the lines that are left, of which tabularx wants as many as there are columns of prose.
        share = layout.prose[at] * len(layout.prose) / sum(layout.prose.values())
        return rf">{{\raggedright\arraybackslash\hsize={share:.3f}\hsize}}X"
    numeric = all(isinstance(row[at], int | float) or row[at] is None for row in sheet.rows)
    return "r" if numeric else "l"


def _head(sheet: Sheet, layout: Layout, at: int) -> str:
    name = cut(sheet.columns[at], LONGEST_CELL)
    if at in layout.prose or not layout.stacked:
        return latex(name)
    room = max(len(line) for row in sheet.rows for line in lines_of(row[at], True))
    return _stacked([latex(line) for line in head_lines(name, room)], "b")


def _cell(sheet: Sheet, layout: Layout, row: int, at: int) -> str:
    text = cut(written(sheet.rows[row][at]), LONGEST_CELL)
    lines = lines_of(text, layout.stacked and at not in layout.prose)
    return _stacked([line if line == "--" else signs(latex(line)) for line in lines], "t")


def _stacked(lines: Sequence[str], side: str) -> str:
    inner = r" \\ ".join(lines)
    return inner if len(lines) == 1 else rf"\begin{{tabular}}[{side}]{{@{{}}l@{{}}}}{inner}\end{{tabular}}"


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
    pictures, sheets = (
        exhibits and tuple(each for each in exhibits if stem(results, each.name) in only)
        for exhibits in (results.pictures, results.sheets)
    )
    return replace(results, pictures=pictures, sheets=sheets)


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
