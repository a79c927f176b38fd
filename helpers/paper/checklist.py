"""The judge-bias reporting checklist: what a reader needs to know of judges, each item with its number or why not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from helpers.claims import count_claims
from helpers.escaping import cut, latex
from helpers.figures import cards
from helpers.macros import camel, marked, place
from helpers.paper.facts import facts
from helpers.paper.folders import Results
from helpers.paper.methods import filled
from helpers.paper.numbering import macro_of, smallest
from helpers.words import CardLine

#: Letters of a judge's name, and of a reason, that the one page has room for.
LONGEST_NAME, LONGEST_WHY = 40, 120


@dataclass(frozen=True)
class Item:
    """One question of the checklist.

    `needs` is a sentence of facts, told of each run; or `measures` is a pattern of measures of the judge card, and
    `by` the experiment that measures it.
    """

    question: str
    needs: str = ""
    measures: str = ""
    by: str = ""


CODE = "Commit <Commit>, seed <Seed>, inputs <Inputs>."
#: What is described of every judge is no bias: it answers the first group of questions.
ITEMS = (
    Item("Who judged? (Names and returned model ids stand in the methods.)", "<Judges> judges, <Source>."),
    Item("On how much?", "<Questions> questions, <Judgments> judgments."),
    Item("Asked how often?", "<Repeats>"),
    Item("In which order did answers stand?", "<Orders>"),
    Item("What could not be read? (It is counted, and never scored.)", "<Unreadable> verdicts, <UnreadableShare>."),
    Item("Does the place of an answer move verdicts?", measures="position|place|order effect",
         by="arena_hard_position_bias"),
    Item("Do both orders give one winner?", measures="both orders", by="arena_hard_position_bias"),
    Item("Do judges prefer their own vendor or model?", measures="^self-preference", by="mt_bench_blind"),
    Item("Do they defend their own wrong answers?", measures="harmful|evaluator-quality", by="quality_self_preference"),
    Item("Does hiding the authorship change that?", measures="hidden authorship", by="quality_self_preference"),
    Item("Does naming an author move verdicts?", measures="name effect|hint", by="hinting_groups"),
    Item("Does length or style move verdicts?", measures="length|style|verbos|wording|format|tone|padd",
         by="verbosity_style"),
    Item("Do anchors, crowds and authority move judges?", measures="cognitive|anchor|bandwagon|authority",
         by="cognitive_biases"),
    Item("Do judges agree with people, or with what is right?", measures="accuracy|human|gold|agreement with"),
    Item("How were intervals made?", "<*Level>, clustered by <Cluster>; none below <*LeastClusters> clusters."),
    Item("Which tests were planned?", "<Tests>"),
    Item("What did it cost?", "<Spent> for <Calls> calls; budget <Budget>."),
    Item("Which code, draws and inputs?", CODE),
)  # fmt: skip
#: What is too long for the page where several runs differ in it.
SENTENCES = ("<Orders>", "<Tests>", CODE)
VERDICTS = {"bias": "shown in", "hint": "hinted at in", "not shown": "not shown in", "untold": "not testable in"}


@dataclass(frozen=True)
class Checklist:
    """The finished checklist: its rows (question, answer) as LaTeX, and the macros of what it counts."""

    rows: tuple[tuple[str, str], ...]
    macros: dict[str, str]


def checklist(every: Sequence[Results]) -> Checklist:
    """Every item answered from these results; a measure that no item asks for gets a row of its own."""
    macros: dict[str, str] = {}
    asked = [each for each in every if "judges" in each.provenance]
    lines = [(each, line) for each in asked if each.found for line in each.found.lines if _mine(each, line)]
    rows, taken = [], {"unreadable"}
    for item in ITEMS:
        if item.needs:
            rows.append((latex(item.question), _told(item.needs, asked)))
            continue
        found = [m for m in cards.measures(line for _, line in lines) if re.search(item.measures, m) and m not in taken]
        taken |= set(found)
        answers = [_measured(m, [pair for pair in lines if pair[1].measure == m], macros) for m in found]
        rows.append((latex(item.question), " ".join(answers) or _absent(item)))
    rest = [m for m in cards.measures(line for _, line in lines) if m not in taken]
    rows += [(latex(f"{m}?"), _measured(m, [p for p in lines if p[1].measure == m], macros)) for m in rest]
    rows.append((latex("Do published numbers come out?"), _claims(asked, macros)))
    return Checklist(tuple(rows), macros)


def _mine(results: Results, line: CardLine) -> bool:
    return line.estimate.data == results.provenance.get("data")


def _absent(item: Item) -> str:
    why = f"no results of {item.by} are among these" if item.by else "no results here measure it"
    return latex(f"Not measured: {why}.")


def _told(words: str, asked: Sequence[Results]) -> str:
    """One sentence a run; runs that would say the same say it once, and those that cannot say it say so."""
    said: dict[tuple[str, ...], list[Results]] = {}
    for results in asked:
        known = facts(results)
        needed = re.findall(r"<(\w+)>", words)
        absent = [_spelled(name) for name in needed if name not in known]
        told = f"Not recorded: {', '.join(absent)}." if absent else words
        said.setdefault((told, *(known.get(name, "") for name in needed if not absent)), []).append(results)
    if len(said) > 1 and words in SENTENCES:
        return latex("Said of each run in the methods.")
    parts = []
    for (told, *_), several in said.items():
        whose = ", ".join(latex(results.label) for results in several)
        text = filled(told, several[0], facts(several[0]))
        parts.append(text if len(said) == 1 else rf"\emph{{{whose}:}} {text}")
    if not parts:
        return latex("Not measured: nobody judged.")
    simulated = all(results.provenance.get("data") == "simulated" for results in asked)
    # A row that says so once need not say it of each number.
    return rf"\RecuseAllSimulated{{{' '.join(parts)}}}" if simulated and "<Unreadable>" in words else " ".join(parts)


def _spelled(name: str) -> str:
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _measured(measure: str, pairs: Sequence[tuple[Results, CardLine]], macros: dict[str, str]) -> str:
    """What a measure says of the judges, the gravest in numbers; each count and number is a macro."""
    stem, whole = f"Checklist{camel(measure)}", rf"\emph{{{latex(measure)}:}} "
    data = {line.estimate.data for _, line in pairs}
    macros[f"{stem}Judges"] = _counted([line for _, line in pairs])
    gravest = min(pairs, key=lambda pair: _rank(pair[1]))
    if gravest[1].verdict == "described":
        ends = [pick(pairs, key=lambda pair: pair[1].estimate.value) for pick in (min, max)]
        text = rf"{' to '.join(map(_number, ends))}, of \{stem}Judges{{}} judges."
    else:
        told = []
        for verdict, words in VERDICTS.items():
            if some := [line for _, line in pairs if line.verdict == verdict]:
                macros[f"{stem}{camel(verdict)}"] = _counted(some)
                told.append(rf"{words} \{stem}{camel(verdict)}{{}}")
        text = rf"{', '.join(told)} of \{stem}Judges{{}} judges; gravest {_number(gravest)}"
        if gravest[1].verdict == "untold":
            text += f", which {latex(cut(gravest[1].words, LONGEST_WHY))}"
        text = f"{text}{_smallest(stem, pairs, macros)}."
    # A row that says so once need not say it of each number.
    return rf"\RecuseAllSimulated{{{whole}{text}}}" if data == {"simulated"} else whole + text


def _counted(lines: Sequence[CardLine]) -> str:
    return marked(f"{len({line.judge for line in lines}):,}", lines[0].estimate.data)


def _number(pair: tuple[Results, CardLine]) -> str:
    results, line = pair
    return rf"\{macro_of(results)[place(line.estimate)]}Full{{}} ({latex(cut(line.judge, LONGEST_NAME))})"


def _smallest(stem: str, pairs: Sequence[tuple[Results, CardLine]], macros: dict[str, str]) -> str:
    """Of the judges of whom nothing is shown, the effect from which on it would have been, for the least sure one."""
    silent = [line for _, line in pairs if line.verdict == "not shown"]
    mute = [line for line in silent if line.smallest == line.smallest]
    if not mute:
        return ""
    some = "" if len(mute) == len(silent) else " and such a size exists"
    widest = max(mute, key=lambda line: line.smallest)
    macros[f"{stem}Smallest"] = smallest(widest.estimate, widest.smallest)
    found = r"would have been found in \RecusePower{} of such runs"
    return rf"; where it is not shown{some}, effects from \{stem}Smallest{{}} on {found}"


def _rank(line: CardLine) -> tuple[int, float]:
    order = ("bias", "hint", "not shown", "untold", "described")
    value = line.estimate.value
    return order.index(line.verdict), 0.0 if value != value else -abs(value)


def _claims(asked: Sequence[Results], macros: dict[str, str]) -> str:
    """How many published numbers were recomputed, and how many came out."""
    tables = [each.found.claims for each in asked if each.found and each.found.claims is not None]
    if not any(map(len, tables)):
        return latex("Not measured: nothing published was claimed of what was asked.")
    counts = zip(("Claims", "ClaimsOut", "ClaimsDiffer"), count_claims(pd.concat(tables)), strict=True)
    macros.update({f"Checklist{name}": f"{n:,}" for name, n in counts})
    return (
        r"Of \ChecklistClaims{} that can fail \ChecklistClaimsOut{} come out, \ChecklistClaimsDiffer{} differ; others "
        r"follow from nothing that was published, or cannot be compared."
    )


def checklist_tex(done: Checklist) -> str:
    """checklist.tex: one page, as a float of its own that spans both columns where there are two."""
    return "\n".join([TOP, *(rf"\RecuseItem{{{question}}}{{{answer}}}" for question, answer in done.rows), BOTTOM, ""])


TOP = r"""% The judge-bias reporting checklist, filled from the runs by `recuse paper`; every number in it is a macro.
\begin{table*}[p]
\centering
\caption{Judge-bias reporting checklist, filled from the runs. Verdicts are those of the judge card: a bias is
\emph{shown} where it stands after the correction for its family of tests, \emph{hinted at} where its interval leaves
out zero and no more.}
\label{tab:recuse-checklist}
\RecuseSmall
\setlength{\tabcolsep}{3pt}\setcounter{RecuseItem}{0}%
\begin{tabular}{@{}r p{0.24\textwidth} p{0.69\textwidth}@{}}
\toprule"""
BOTTOM = r"""\bottomrule
\end{tabular}
\end{table*}"""
