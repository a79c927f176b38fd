"""methods.tex: a paragraph on each run, every number and name in it a macro; what nobody wrote down is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.macros import camel
from helpers.paper.facts import facts
from helpers.paper.folders import Results
from helpers.paper.sources import SELF, of_results

HEAD = r"""% What was done, written from the runs by `recuse paper`. Copy it into your paper and change the words:
% the macros of numbers.tex bring the numbers, and new ones when the results are made anew. \citep is natbib's."""
#: The sentences of a paragraph and the facts that each needs; of a sentence without one of them nothing is said.
SENTENCES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"Data: <Data>.", ("Data",)),
    (r"We put <Questions> questions to <Judges> judges (<JudgeNames>), <Judgments> judgments in all.",
     ("Questions", "Judges", "JudgeNames", "Judgments")),
    (r"<Orders>", ("Orders",)),
    (r"<Repeats>", ("Repeats",)),
    (r"Parameters other than the default: <Parameters>.", ("Parameters",)),
    (r"<LeftOut> questions could not be judged, because an answer to them was missing, cut, empty or refused.",
     ("LeftOut",)),
    (r"<Unreadable> judgments (<UnreadableShare>) hold no readable verdict: they are counted, and neither scored nor "
     r"dropped from the counts.", ("Unreadable", "UnreadableShare")),
    (r"Intervals are of <*Level>, clustered by <Cluster> (<Intervals>); below <*LeastClusters> clusters none is given.",
     ("Cluster", "Intervals")),
    (r"<Tests>", ("Tests",)),
    (r"Where no effect is shown, we give the smallest one that is found in <*Power> of such runs.", ("Tests",)),
    (r"All replies that were read, not verdicts alone, cost <Spent> at list prices (<Calls> calls, <TokensIn> tokens "
     r"in, <TokensOut> out).",
     ("Spent", "Calls", "TokensIn", "TokensOut")),
    (r"The budget was <Budget>: no call is sent that could exceed it.", ("Budget",)),
    (r"Draws of orders and resamples use seed <Seed>.", ("Seed",)),
    (r"The hash of what was asked and read is <Inputs>.", ("Inputs",)),
    (r"The code is Recuse at commit <Commit>, run on <Date>.", ("Commit", "Date")),
)  # fmt: skip


def methods_tex(every: Sequence[Results]) -> str:
    """The file: one paragraph for each of the results that asked or read judges, in their order."""
    return "\n\n".join([HEAD, *(paragraph(each) for each in every if "judges" in each.provenance)]) + "\n"


def paragraph(results: Results) -> str:
    """One run in sentences, with its title in front and its sources at the end."""
    known = facts(results)
    told = [filled(words, results, known) for words, needed in SENTENCES if all(name in known for name in needed)]
    keys = ",".join(dict.fromkeys([SELF, *of_results(results)]))
    title = filled("<Title>", results, known)
    return "\n".join([rf"\paragraph{{{title}}}", *told, rf"Estimators, intervals and data: \citep{{{keys}}}."])


def filled(words: str, results: Results, known: Mapping[str, str]) -> str:
    r"""A sentence with a macro for each <Fact> of the run, and for each <*Fact> of all runs.

    A macro that ends a sentence is followed by {}, so that TeX keeps the space after it.
    """
    for name in known:
        words = words.replace(f"<{name}>", rf"\{camel(results.label, 'run')}{name}{{}}")
    for name in ("Level", "LeastClusters", "Power"):
        words = words.replace(f"<*{name}>", rf"\Recuse{name}{{}}")
    return words
