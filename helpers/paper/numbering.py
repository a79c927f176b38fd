"""numbers.tex of a paper: every number of all results with its interval and n, and what each run was."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from helpers.escaping import visible
from helpers.macros import FORMS, MARK, interval, macro_names, marked, ordered, place, shown
from helpers.paper.facts import common, facts, names
from helpers.paper.folders import Results
from helpers.types import Estimate

HEAD = r"""% Every number of the results as a macro; made by `recuse paper`, anew with the results. Of a number \Name:
%   \Name  its value       \NameInterval  its interval       \NameFull  both
%   \NameN  judgments      \NameClusters  what they are clustered by: questions, articles, scenarios
% A name is: the results' name, the number's id, its place in alphabetical order of the keys, its source of data.
% Digits are spelled; names that LaTeX cannot tell apart end in a hash of what they name. Simulated numbers say so.
\makeatletter
\providecommand{\RecuseNumber}[5]{%
  \expandafter\newcommand\csname #1\endcsname{#2}%
  \expandafter\newcommand\csname #1Interval\endcsname{#3}%
  \expandafter\newcommand\csname #1Full\endcsname{#2 #3}%
  \expandafter\newcommand\csname #1N\endcsname{#4}%
  \expandafter\newcommand\csname #1Clusters\endcsname{#5}}
\providecommand{\RecuseSimulatedNumber}[5]{%
  \expandafter\newcommand\csname #1\endcsname{\RecuseSimulated{#2}}%
  \expandafter\newcommand\csname #1Interval\endcsname{\RecuseSimulated{#3}}%
  \expandafter\newcommand\csname #1Full\endcsname{\RecuseSimulated{#2 #3}}%
  \expandafter\newcommand\csname #1N\endcsname{\RecuseSimulated{#4}}%
  \expandafter\newcommand\csname #1Clusters\endcsname{\RecuseSimulated{#5}}}
\makeatother"""


def numbers_tex(every: Sequence[Results], checked: Mapping[str, str]) -> str:
    """The file: what holds for all runs, then of each run its facts and its numbers, then what the checklist counts.

    Two macros of one name are a ValueError: one of the results then needs another name.
    """
    lines, known = [HEAD, MARK], Counter(common().keys())
    lines += ["", "% What holds for every run.", *_texts(common())]
    for results in every:
        told = names(results, facts(results))
        lines += ["", f"% {visible(results.label)}: what was asked.", *_texts(told)]
        lines += ["", f"% {visible(results.label)}: what was found.", *_numbers(results)]
        known.update(told.keys())
        known.update(name + end for name in macro_of(results).values() for end in ("", *FORMS))
    lines += ["", "% What the checklist counts.", *_texts(checked)]
    known.update(checked.keys())
    if double := sorted(name for name, count in known.items() if count > 1):
        raise ValueError(
            f"two numbers would both be called \\{double[0]}; give one of the results another name, as in "
            "--results NAME=FOLDER"
        )
    return "\n".join(lines) + "\n"


def macro_of(results: Results) -> dict[tuple[str, str, str], str]:
    """The name of the macro of each number, by what names the number (see `macros.place`)."""
    every = carried(results)
    return {place(each): name for name, each in zip(macro_names(results.label, every), every, strict=True)}


def carried(results: Results) -> list[Estimate]:
    """All numbers of some results: those of numbers.json, and those that only judge card and findings hold."""
    known = {place(each): each for each in results.estimates}
    found = results.found
    also = [*(line.estimate for line in found.lines), *(row.estimate for row in found.rows)] if found else []
    return ordered({**{place(each): each for each in also}, **known}.values())


def smallest(each: Estimate, effect: float) -> str:
    """The smallest effect that such a run finds, as LaTeX, in the unit of the number."""
    bare = replace(each, value=effect, low=math.nan, high=math.nan)
    return marked(shown(bare).removeprefix(r"\ensuremath{+}"), each.data)


def _texts(told: Mapping[str, str]) -> Iterable[str]:
    # What was read from files is one line, whatever it holds: a comment would swallow the next.
    return (f"\\newcommand{{\\{name}}}{{{' '.join(text.split())}}}" for name, text in told.items())


def _numbers(results: Results) -> Iterable[str]:
    named = macro_of(results)
    for each in carried(results):
        command = r"\RecuseSimulatedNumber" if each.data == "simulated" else r"\RecuseNumber"
        parts = (named[place(each)], shown(each), interval(each), f"{each.n:,}", f"{each.clusters:,}")
        note = " ".join(visible(f"{each.data}: {each.method}").split())
        yield "".join([command, *(f"{{{part}}}" for part in parts), f" % {note}"])
