"""recuse.tex, which a paper reads in its preamble, and example.tex, a small paper that uses all of it."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.escaping import latex
from helpers.macros import MARK, camel, place
from helpers.paper.facts import facts
from helpers.paper.folders import Results
from helpers.paper.methods import filled
from helpers.paper.numbering import macro_of
from helpers.paper.pages import Page
from helpers.paper.setting import stem

PREAMBLE = r"""% What figures, tables, numbers and checklist need: \input{recuse} in the preamble. By `recuse paper`.
\usepackage{graphicx,booktabs,array}
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


def preamble() -> str:
    """recuse.tex."""
    return PREAMBLE.replace("MARK", MARK)


def example(every: Sequence[Results], page: Page) -> str:
    """example.tex: for each of the results its findings, first figure and first table, then methods and checklist."""
    asked = [each for each in every if each.found]
    return "\n".join(
        [
            *_class(page),
            r"\begin{document}",
            r"\title{An Example: How Biased Are These Judges?}",
            r"\author{Made by \texttt{recuse paper}}",
            r"\date{}",
            r"\maketitle",
            r"\suppressfloats[t]",
            r"\begin{abstract}",
            r"Every number below is a macro of \texttt{numbers.tex}: when the results are made anew, so is this paper.",
            rf"The columns are those of {latex(page.name.upper())}; its own style file belongs to it, and goes here.",
            r"\end{abstract}",
            r"\section{Results}",
            *(line for each in asked for line in _findings(each)),
            r"\section{Methods}",
            r"\input{\RecuseFolder methods}",
            r"\input{\RecuseFolder checklist}",
            r"\bibliographystyle{plainnat}",
            r"\bibliography{\RecuseFolder references}",
            r"\appendix",
            r"\section{All figures and tables}",
            # Floats come on the pages after it: a heading that began a page would be alone there.
            r"What the text above does not show follows, one experiment after the other.",
            r"\input{\RecuseFolder appendix}",
            r"\end{document}",
            "",
        ]
    )


def appendix(every: Sequence[Results]) -> str:
    """appendix.tex: all figures and tables that example.tex does not show."""
    head = "% All other figures and tables; a page is begun anew so that no more floats wait than TeX can hold."
    return "\n".join([head, *(line for each in every for line in _rest(each, shown=each.found is not None)), ""])


def _class(page: Page) -> list[str]:
    """The page of the style in plain LaTeX: text block, columns, size of letters and captions."""
    options = [f"{page.base:g}pt", page.paper, *(["twocolumn"] if page.columns == 2 else [])]
    sizes = {(10, 10): "normalsize", (10, 9): "small", (11, 10): "small"}
    return [
        "% A paper that uses everything in this folder: pdflatex, bibtex, pdflatex, pdflatex.",
        rf"\documentclass[{','.join(options)}]{{article}}",
        rf"\usepackage[textwidth={page.text:g}in,textheight={page.height:g}in,columnsep={page.gap:.4g}in,centering]{{geometry}}",
        rf"\usepackage[font={sizes[int(page.base), int(page.caption)]}]{{caption}}",
        r"\usepackage[round]{natbib}",
        r"\usepackage{url}",
        r"\input{recuse}",
        r"\sloppy  % as the styles have it",
    ]


def _findings(results: Results) -> list[str]:
    """What some results found, a sentence for each source of data with its number, and where to look."""
    known = facts(results)
    told = [filled(r"\paragraph{<Title>}", results, known)]
    for row in results.found.rows:
        name = macro_of(results)[place(row.estimate)]
        size = rf", $n = {{}}$\{name}N{{}}" if row.estimate.n else ""
        told.append(
            filled(
                rf"<Finding{camel(row.estimate.data)}> The number that carries it: \{name}Full{{}}{size}.",
                results,
                known,
            )
        )
    refs = [rf"Figure~\ref{{fig:{stem(results, each.name)}}}" for each in (results.pictures or ())[:1]]
    refs += [rf"Table~\ref{{tab:{stem(results, each.name)}}}" for each in (results.sheets or ())[:1] if each.rows]
    if refs:
        told.append(f"See {' and '.join(refs)}.")
    told += [rf"\input{{\RecuseFolder figures/{stem(results, each.name)}}}" for each in (results.pictures or ())[:1]]
    told += [rf"\input{{\RecuseFolder tables/{stem(results, each.name)}}}" for each in (results.sheets or ())[:1]]
    return [*told, ""]


def _rest(results: Results, shown: bool) -> list[str]:
    """The figures and tables of some results but for those that the example shows."""
    first = 1 if shown else 0
    named = [
        rf"\input{{\RecuseFolder figures/{stem(results, each.name)}}}" for each in (results.pictures or ())[first:]
    ]
    named += [rf"\input{{\RecuseFolder tables/{stem(results, each.name)}}}" for each in (results.sheets or ())[first:]]
    return [*named, r"\clearpage"]
