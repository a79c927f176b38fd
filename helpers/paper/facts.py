"""What runs were, as macros, methods paragraphs, sources and the judge-bias reporting checklist."""

from __future__ import annotations

import inspect
import math
import pkgutil
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from .. import paths
from ..claims import count_claims
from ..config import experiment_names, load_config
from ..escaping import cut, latex, visible
from ..explain import sections
from ..figures import cards
from ..macros import FORMS, MARK, camel, interval, macro_names, marked, ordered, place, shown, signs
from ..stats import intervals, power
from ..types import Estimand, Estimate
from ..words import CardLine, listed
from .layout import Results, RunRecord

#: So many judges are named with the ids that they answered as; of more only the first.
MOST_NAMED = 24
MOST_METHODS = 6
LONGEST_ID = 80
#: What `export.this_run` puts behind a commit that files differ from.
DIRTY = "-dirty"
#: Where verdicts are from, by source of data.
SOURCES = {
    "simulated": "SIMULATED models, which say nothing of real ones",
    "asked": "judges asked through their providers",
    "hub": "published verdicts, read from the hub",
    "folder": "published verdicts, read from files",
}


def common() -> dict[str, str]:
    """What holds for every run: level of intervals, the least number of clusters, power of the smallest effect."""
    level = inspect.signature(intervals.wilson).parameters["level"].default
    found = inspect.signature(power.detectable_effect).parameters["power"].default
    shares = {"RecuseLevel": percent(level, "g"), "RecuseLeastClusters": str(intervals.MIN_CLUSTERS)}
    return {**shares, "RecusePower": percent(found, "g")}


def percent(share: float, digits: str) -> str:
    """A share in %, as LaTeX."""
    return latex(f"{100 * share:{digits}} %").replace(" ", r"\,")


def facts(results: Results) -> dict[str, str]:
    """The facts of one run by the end of their macro's name ("Judges", "Questions", ...), as LaTeX.

    A fact that nobody wrote down is not there: whoever writes of a run leaves it out, or says so.
    """
    return {name: text for name, text in _facts(results) if text}


def _facts(results: Results) -> Iterator[tuple[str, str]]:
    run, record = results.run, results.provenance
    data = str(record.get("data", ""))
    title = results.found.question if results.found else results.experiment.replace("_", " ")
    yield "Title", latex(title)
    yield "Data", latex(SOURCES.get(data, data))
    yield "Source", latex({"simulated": "SIMULATED", "hub": "published", "folder": "published"}.get(data, data))
    for row in results.found.rows if results.found else ():
        yield f"Finding{camel(row.estimate.data)}", signs(latex(row.sentence))
    judges = record.get("judges")
    if isinstance(judges, Mapping):
        yield "Judges", f"{len(judges):,}"
        yield "JudgeNames", _judges(judges)
    for name, key in (("Questions", "questions"), ("Judgments", "n")):
        yield name, f"{record[key]:,}" if isinstance(record.get(key), int) else ""
    yield "Seed", latex(record.get("seed", ""))
    yield "Inputs", rf"\texttt{{{latex(record['inputs'])}}}" if record.get("inputs") else ""
    yield from _design(results, data)
    yield from _losses(results, data)
    yield from _intervals(results, data)
    yield from _money(run)
    if run.commit:
        yield "Commit", _commit(run.commit)
    if run.time:
        yield "Date", latex(run.time[:10])


def _commit(commit: str) -> str:
    """The first digits of a commit, and that files differed from it where they did: it is then not what ran."""
    bare = commit.removesuffix(DIRTY)
    return rf"\texttt{{{latex(bare[:12])}}}" + (" with changes that no commit holds" if bare != commit else "")


def _judges(judges: Mapping[str, Any]) -> str:
    """Names with the model ids that came back, where these say more than the name."""
    clauses = []
    for name, ids in list(judges.items())[:MOST_NAMED]:
        others = [str(each) for each in ids if str(each) != name.replace("_", "-")] if isinstance(ids, list) else []
        shown = rf"\texttt{{{latex(cut(name, LONGEST_ID))}}}"
        # An id is one word to TeX: it may break where people would break it.
        id_list = listed(cut(each, LONGEST_ID) for each in others)
        clauses.append(f"{shown} ({latex(id_list)})" if id_list else shown)
    more = len(judges) - MOST_NAMED
    named = ", ".join([*clauses, f"and {more:,} more"] if more > 0 else clauses)
    return f"{named}; in brackets the model ids that they returned" if any(" (" in each for each in clauses) else named


def _design(results: Results, data: str) -> Iterator[tuple[str, str]]:
    if results.experiment not in experiment_names():
        return
    config, chosen = load_config(results.experiment), results.provenance["parameters"]
    if data not in ("asked", "simulated"):
        return
    # What was published stood in the orders that others chose, and was asked as often as they asked.
    repeats = chosen.get("repeats") or config.repeats
    often = "twice" if repeats == 2 else f"{repeats:,} times"
    clauses = (
        "Every judgment was asked once." if repeats == 1 else f"Judgments that the design repeats were asked {often}."
    )
    yield "Repeats", clauses
    yield "Orders", latex(config.methods.get("orders", ""))
    yield "Tests", latex(config.methods.get("tests", ""))
    yield "Parameters", latex(", ".join(f"{key} = {value}" for key, value in chosen.items() if key != "figure_style"))


def _losses(results: Results, data: str) -> Iterator[tuple[str, str]]:
    """Verdicts that could not be read, in all and of the judge who lost most; questions that were not judged."""
    n, rows = results.provenance.get("n"), results.found.rows if results.found else ()
    share = next((row.unreadable for row in rows if row.estimate.data == data), math.nan)
    if isinstance(n, int) and not math.isnan(share):
        yield "Unreadable", marked(f"{round(share * n):,}", data)
        yield "UnreadableShare", marked(percent(share, ".1f"), data)
    if left := results.run.left_out.get("questions"):
        yield "LeftOut", f"{left:,}"


def _intervals(results: Results, data: str) -> Iterator[tuple[str, str]]:
    """How intervals of the numbers that conclusions rest on were made, and what they are clustered by."""
    estimands, leading = declared(results.experiment), headline(results.experiment)
    mine = [each for each in results.estimates if each.data == data and each.low == each.low and each.id in estimands]
    mine = [each for each in mine if each.id in leading] or mine
    # What follows a semicolon is about the test of one number.
    methods = dict.fromkeys(each.method.partition(";")[0] for each in mine if each.method)
    clusters = dict.fromkeys(estimands[each.id].cluster for each in mine if estimands[each.id].cluster)
    yield "Intervals", latex("; ".join(list(methods)[:MOST_METHODS]))
    yield "Cluster", latex(listed(list(clusters)[:MOST_METHODS]).replace(" and ", " or "))


def _money(run: RunRecord) -> Iterator[tuple[str, str]]:
    if run.models:
        for name, key in (("Calls", "calls"), ("TokensIn", "input"), ("TokensOut", "output")):
            yield name, f"{sum(getattr(each, key) for each in run.models):,}"
        spent = math.fsum(each.usd for each in run.models)
        yield "Spent", "" if math.isnan(spent) else _dollars(spent)
    budget = run.account.get("budget_usd")
    yield "Budget", "" if budget is None else _dollars(budget)


def _dollars(amount: float) -> str:
    # The sign of a dollar is a bitmap in TeX's own fonts.
    return rf"{amount:,.2f}\,US dollars"


BIBLIOGRAPHY = paths.EXPERIMENTS / "sources.bib"
#: The entry that every paper cites.
SELF = "recuse"
_ENTRY = re.compile(r"^@\w+\{(?P<key>[\w-]+),\n(?P<body>.*?)^\}$", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r",\n  named = \{(?P<named>.*)\}\n", re.DOTALL)


@dataclass(frozen=True)
class Source:
    """One entry: its key, the words by which results name it, and its BibTeX without them."""

    key: str
    named: tuple[str, ...]
    bibtex: str


def load_sources() -> dict[str, Source]:
    """All entries by key; one without `named` as its last field, or a key twice, is a ValueError."""
    text, found = BIBLIOGRAPHY.read_text(encoding="utf-8"), {}
    for entry in _ENTRY.finditer(text):
        named = _NAMED.search(entry["body"])
        if not named or entry["key"] in found:
            raise ValueError(
                f"{BIBLIOGRAPHY.name}: {entry['key']}: expected once, with `named = {{...}}` as its last field"
            )
        words = tuple(word.strip() for word in named["named"].split(";") if word.strip())
        found[entry["key"]] = Source(entry["key"], words, _NAMED.sub("\n", entry[0]))
    if len(found) != text.count("\n@"):
        raise ValueError(f"{BIBLIOGRAPHY.name}: an entry that does not end in a line `}}` of its own")
    return found


def cited(texts: Iterable[str]) -> list[str]:
    """The keys of the sources that these texts name, in order."""
    text = "\n".join(texts)
    return [source.key for source in load_sources().values() if any(word in text for word in source.named)]


def of_results(results: Results) -> list[str]:
    """The keys of what the numbers of these results rest on: declared sources, methods used, and planned tests."""
    ids = {each.id for each in results.estimates}
    used = [each for each in declared(results.experiment).values() if each.id in ids]
    texts = [each.source for each in used] + [each.method for each in results.estimates]
    # Methods state what the intervals of published counts rest on.
    texts += [re.sub(r"\(published counts:[^)]*\)", "", each.interval) for each in used]
    if results.experiment in experiment_names():
        config = load_config(results.experiment)
        texts += config.methods.values()
    return cited(texts)


def declared(experiment: str) -> Mapping[str, Estimand]:
    """What the numbers of an experiment mean; those of one's own verdicts can be any."""
    mine = [each for each in sections() if experiment in each.experiments or each.module == experiment]
    if experiment == "analyze":
        mine = list(reversed(sections()))
    return {id: estimand for each in mine for id, estimand in each.estimands.items()}


def headline(experiment: str) -> set[str]:
    """The ids of the numbers that conclusions of an experiment rest on."""
    return {id for each in sections() if experiment in each.experiments for id in each.headline}


def bibliography(keys: Iterable[str]) -> str:
    """references.bib: Recuse itself and the sources with these keys."""
    every, wanted = load_sources(), {SELF, *keys}
    return "\n\n".join(source.bibtex for key, source in every.items() if key in wanted) + "\n"


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
    lines, names = [HEAD, MARK], Counter(common().keys())
    lines += ["", "% What holds for every run.", *_texts(common())]
    for results in every:
        macros = {f"{camel(results.label, 'run')}{name}": text for name, text in facts(results).items()}
        lines += ["", f"% {visible(results.label)}: what was asked.", *_texts(macros)]
        lines += ["", f"% {visible(results.label)}: what was found.", *_numbers(results)]
        names.update(macros.keys())
        names.update(name + end for name in macro_of(results).values() for end in ("", *FORMS))
    lines += ["", "% What the checklist counts.", *_texts(checked)]
    names.update(checked.keys())
    if double := sorted(name for name, count in names.items() if count > 1):
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
    by_place = {place(each): each for each in results.estimates}
    found = results.found
    also = [*(line.estimate for line in found.lines), *(row.estimate for row in found.rows)] if found else []
    return ordered({**{place(each): each for each in also}, **by_place}.values())


def smallest(each: Estimate, effect: float) -> str:
    """The smallest effect that such a run finds, as LaTeX, in the unit of the number."""
    bare = replace(each, value=effect, low=math.nan, high=math.nan)
    return marked(shown(bare).removeprefix(r"\ensuremath{+}"), each.data)


def _texts(macros: Mapping[str, str]) -> Iterable[str]:
    # What was read from files is one line, whatever it holds: a comment would swallow the next.
    return (f"\\newcommand{{\\{name}}}{{{' '.join(text.split())}}}" for name, text in macros.items())


def _numbers(results: Results) -> Iterable[str]:
    named = macro_of(results)
    for each in carried(results):
        command = r"\RecuseSimulatedNumber" if each.data == "simulated" else r"\RecuseNumber"
        parts = (named[place(each)], shown(each), interval(each), f"{each.n:,}", f"{each.clusters:,}")
        note = " ".join(visible(f"{each.data}: {each.method}").split())
        yield "".join([command, *(f"{{{part}}}" for part in parts), f" % {note}"])


INTRO = r"""% What was done, written from the runs by `recuse paper`. Copy it into your paper and change the words:
% the macros of numbers.tex bring the numbers, and new ones when the results are made anew. \citep is natbib's."""


def methods_tex(every: Sequence[Results]) -> str:
    """The file: one paragraph for each of the results that asked or read judges, in their order."""
    return "\n\n".join([INTRO, *(paragraph(each) for each in every if "judges" in each.provenance)]) + "\n"


def paragraph(results: Results) -> str:
    """One run in sentences, with its title in front and its sources at the end."""
    terms = facts(results)
    lines = [filled(words, results, terms) for words in WORDS["sentences"] if terms.keys() >= {*NEEDED.findall(words)}]
    keys = ",".join(dict.fromkeys([SELF, *of_results(results)]))
    title = filled("<Title>", results, terms)
    return "\n".join([rf"\paragraph{{{title}}}", *lines, rf"Estimators, intervals and data: \citep{{{keys}}}."])


def filled(words: str, results: Results, values: Mapping[str, str]) -> str:
    r"""A sentence with a macro for each <Fact> of the run, and for each <*Fact> of all runs.

    A macro that ends a sentence is followed by {}, so that TeX keeps the space after it.
    """
    for name in values:
        words = words.replace(f"<{name}>", rf"\{camel(results.label, 'run')}{name}{{}}")
    for name in ("Level", "LeastClusters", "Power"):
        words = words.replace(f"<*{name}>", rf"\Recuse{name}{{}}")
    return words


#: Letters of a judge's name, and of a reason, that the one page has room for.
LONGEST_NAME, LONGEST_WHY = 40, 120


#: A fact of a run in these words.
NEEDED = re.compile(r"<(\w+)>")
WORDS: Mapping[str, Any] = tomllib.loads((pkgutil.get_data(__package__, "words.toml") or b"").decode())


def checklist(every: Sequence[Results]) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Every item of words.toml answered from these results: rows (question, answer) and macros of counts, as LaTeX.

    A measure that no item asks for gets a row of its own.
    """
    macros: dict[str, str] = {}
    asked = [each for each in every if "judges" in each.provenance]
    lines = [
        (each, line)
        for each in asked
        for line in (each.found.lines if each.found else ())
        if line.estimate.data == each.provenance.get("data")
    ]
    measured = {m: [pair for pair in lines if pair[1].measure == m] for m in cards.measures(line for _, line in lines)}
    rows, taken = [], {"unreadable"}
    for item in WORDS["items"]:
        if "needs" in item:
            rows.append((latex(item["question"]), _answer(item["needs"], "apart" in item, asked)))
            continue
        found = [measure for measure in measured if re.search(item["measures"], measure) and measure not in taken]
        taken |= {*found}
        answers = [_measured(measure, measured[measure], macros) for measure in found]
        why = f"no results of {item['by']} are among these" if "by" in item else "no results here measure it"
        rows.append((latex(item["question"]), " ".join(answers) or latex(f"Not measured: {why}.")))
    rows += [(latex(f"{m}?"), _measured(m, pairs, macros)) for m, pairs in measured.items() if m not in taken]
    rows.append((latex("Do published numbers come out?"), _claims(asked, macros)))
    return rows, macros


def _answer(words: str, apart: bool, asked: Sequence[Results]) -> str:
    """One sentence a run; runs that would say the same say it once, and those that cannot say it say so."""
    runs = dict[tuple[str, ...], list[Results]]()
    for results in asked:
        values = facts(results)
        needed = NEEDED.findall(words)
        absent = [re.sub("(?<=[a-z])(?=[A-Z])", " ", name).lower() for name in needed if name not in values]
        template = f"Not recorded: {', '.join(absent)}." if absent else words
        runs.setdefault((template, *(values.get(name, "") for name in needed if not absent)), []).append(results)
    if len(runs) > 1 and apart:
        return latex("Said of each run in the methods.")
    parts = []
    for (template, *_), several in runs.items():
        whose = ", ".join(latex(results.label) for results in several)
        text = filled(template, several[0], facts(several[0]))
        parts.append(text if len(runs) == 1 else rf"\emph{{{whose}:}} {text}")
    if not parts:
        return latex("Not measured: nobody judged.")
    simulated = all(results.provenance.get("data") == "simulated" for results in asked)
    # A row that says so once need not say it of each number.
    return rf"\RecuseAllSimulated{{{' '.join(parts)}}}" if simulated and "<Unreadable>" in words else " ".join(parts)


def _measured(measure: str, pairs: Sequence[tuple[Results, CardLine]], macros: dict[str, str]) -> str:
    """What a measure says of the judges, the gravest in numbers; each count and number is a macro."""
    stem, heading = f"Checklist{camel(measure)}", rf"\emph{{{latex(measure)}:}} "
    data = {line.estimate.data for _, line in pairs}
    macros[f"{stem}Judges"] = _counted([line for _, line in pairs])
    gravest = min(pairs, key=lambda pair: _rank(pair[1]))
    if gravest[1].verdict == "described":
        ends = [pick(pairs, key=lambda pair: pair[1].estimate.value) for pick in (min, max)]
        text = rf"{' to '.join(map(_number, ends))}, of \{stem}Judges{{}} judges."
    else:
        clauses = []
        for verdict, words in WORDS["verdicts"].items():
            if lines := [line for _, line in pairs if line.verdict == verdict]:
                macros[f"{stem}{camel(verdict)}"] = _counted(lines)
                clauses.append(rf"{words} \{stem}{camel(verdict)}{{}}")
        text = rf"{', '.join(clauses)} of \{stem}Judges{{}} judges; gravest {_number(gravest)}"
        if gravest[1].verdict == "untold":
            text += f", which {latex(cut(gravest[1].words, LONGEST_WHY))}"
        text = f"{text}{_smallest(stem, pairs, macros)}."
    # A row that says so once need not say it of each number.
    return rf"\RecuseAllSimulated{{{heading}{text}}}" if data == {"simulated"} else heading + text


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
    exists = "" if len(mute) == len(silent) else " and such a size exists"
    widest = max(mute, key=lambda line: line.smallest)
    macros[f"{stem}Smallest"] = smallest(widest.estimate, widest.smallest)
    found = r"would have been found in \RecusePower{} of such runs"
    return rf"; where it is not shown{exists}, effects from \{stem}Smallest{{}} on {found}"


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


def checklist_tex(rows: Iterable[tuple[str, str]]) -> str:
    """checklist.tex: one page, as a float of its own that spans both columns where there are two."""
    return "\n".join([TOP, *(rf"\RecuseItem{{{question}}}{{{answer}}}" for question, answer in rows), BOTTOM, ""])


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
