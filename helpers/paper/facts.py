"""What a run was, as macros: judges, questions, orders, losses, intervals and cost, so that prose holds no number."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from typing import Any

from helpers.config import experiment_names, load_config
from helpers.escaping import cut, latex
from helpers.macros import camel, marked, signs
from helpers.paper.folders import Results
from helpers.paper.sources import declared, headline
from helpers.stats import intervals, power
from helpers.words import listed

#: So many judges are named with the ids that they answered as; of more only the first.
MOST_NAMED = 24
MOST_METHODS = 6
LONGEST_ID = 80
#: What `export.this_run` puts behind a commit that files differ from.
DIRTY = "-dirty"
#: Where verdicts are from, by source of data.
WORDS = {
    "simulated": "SIMULATED judges, which say nothing of real models",
    "asked": "judges asked through their providers",
    "hub": "published verdicts, read from the hub",
    "folder": "published verdicts, read from files",
}


def common() -> dict[str, str]:
    """What holds for every run: level of intervals, the least number of clusters, power of the smallest effect."""
    level = inspect.signature(intervals.wilson).parameters["level"].default
    found = inspect.signature(power.detectable_effect).parameters["power"].default
    return {
        "RecuseLevel": latex(f"{100 * level:g} %").replace(" ", r"\,"),
        "RecuseLeastClusters": str(intervals.MIN_CLUSTERS),
        "RecusePower": latex(f"{100 * found:g} %").replace(" ", r"\,"),
    }


def facts(results: Results) -> dict[str, str]:
    """The facts of one run by the end of their macro's name ("Judges", "Questions", ...), as LaTeX.

    A fact that nobody wrote down is not there: whoever writes of a run leaves it out, or says so.
    """
    return {name: text for name, text in _facts(results) if text}


def names(results: Results, told: Mapping[str, str]) -> dict[str, str]:
    """The same by their whole names: label, Run, and what it is.

    >>> camel("blind", "run") + "Judges"
    'BlindRunJudges'
    """
    return {f"{camel(results.label, 'run')}{name}": text for name, text in told.items()}


def _facts(results: Results) -> Iterator[tuple[str, str]]:
    run, told = results.run, results.provenance
    data = str(told.get("data", ""))
    title = results.found.question if results.found else results.experiment.replace("_", " ")
    yield "Title", latex(title)
    yield "Data", latex(WORDS.get(data, data))
    yield "Source", latex({"simulated": "SIMULATED", "hub": "published", "folder": "published"}.get(data, data))
    for row in results.found.rows if results.found else ():
        yield f"Finding{camel(row.estimate.data)}", signs(latex(row.sentence))
    judges = told.get("judges")
    if isinstance(judges, Mapping):
        yield "Judges", f"{len(judges):,}"
        yield "JudgeNames", _judges(judges)
    for name, key in (("Questions", "questions"), ("Judgments", "n")):
        yield name, f"{told[key]:,}" if isinstance(told.get(key), int) else ""
    yield "Seed", latex(told.get("seed", ""))
    yield "Inputs", rf"\texttt{{{latex(told['inputs'])}}}" if told.get("inputs") else ""
    yield from _design(results, data)
    yield from _losses(results, data)
    yield from _intervals(results, data)
    yield from _money(run)
    if run.get("commit"):
        yield "Commit", _commit(run["commit"])
    if run.get("time"):
        yield "Date", latex(run["time"][:10])


def _commit(told: str) -> str:
    """The first digits of a commit, and that files differed from it where they did: it is then not what ran."""
    bare = told.removesuffix(DIRTY)
    return rf"\texttt{{{latex(bare[:12])}}}" + (" with changes that no commit holds" if bare != told else "")


def _judges(judges: Mapping[str, Any]) -> str:
    """Names with the model ids that came back, where these say more than the name."""
    told = []
    for name, ids in list(judges.items())[:MOST_NAMED]:
        others = [str(each) for each in ids if str(each) != name.replace("_", "-")] if isinstance(ids, list) else []
        shown = rf"\texttt{{{latex(cut(name, LONGEST_ID))}}}"
        # An id is one word to TeX: it may break where people would break it.
        given = listed(cut(each, LONGEST_ID) for each in others)
        told.append(f"{shown} ({latex(given)})" if given else shown)
    more = len(judges) - MOST_NAMED
    named = ", ".join([*told, f"and {more:,} more"] if more > 0 else told)
    return f"{named}; in brackets the model ids that they returned" if any(" (" in each for each in told) else named


def _design(results: Results, data: str) -> Iterator[tuple[str, str]]:
    if results.experiment not in experiment_names():
        return
    config, given = load_config(results.experiment), results.provenance["parameters"]
    if data not in ("asked", "simulated"):
        return
    # What was published stood in the orders that others chose, and was asked as often as they asked.
    repeats = given.get("repeats") or config.repeats
    often = "twice" if repeats == 2 else f"{repeats:,} times"
    told = (
        "Every judgment was asked once." if repeats == 1 else f"Judgments that the design repeats were asked {often}."
    )
    yield "Repeats", told
    yield "Orders", latex(config.methods.orders)
    yield "Tests", latex(config.methods.tests)
    yield "Parameters", latex(", ".join(f"{key} = {value}" for key, value in given.items() if key != "figure_style"))


def _losses(results: Results, data: str) -> Iterator[tuple[str, str]]:
    """Verdicts that could not be read, in all and of the judge who lost most; questions that were not judged."""
    n, rows = results.provenance.get("n"), results.found.rows if results.found else ()
    share = next((row.unreadable for row in rows if row.estimate.data == data), math.nan)
    if isinstance(n, int) and not math.isnan(share):
        yield "Unreadable", marked(f"{round(share * n):,}", data)
        yield "UnreadableShare", marked(latex(f"{100 * share:.1f} %").replace(" ", r"\,"), data)
    if left := results.run.get("questions_left_out"):
        yield "LeftOut", f"{left:,}"


def _intervals(results: Results, data: str) -> Iterator[tuple[str, str]]:
    """How intervals of the numbers that conclusions rest on were made, and what they are clustered by."""
    known, leading = declared(results.experiment), headline(results.experiment)
    mine = [each for each in results.estimates if each.data == data and each.low == each.low and each.id in known]
    mine = [each for each in mine if each.id in leading] or mine
    # What follows a semicolon is about the test of one number.
    methods = dict.fromkeys(each.method.partition(";")[0] for each in mine if each.method)
    clusters = dict.fromkeys(known[each.id].cluster for each in mine if known[each.id].cluster)
    yield "Intervals", latex("; ".join(list(methods)[:MOST_METHODS]))
    yield "Cluster", latex(listed(list(clusters)[:MOST_METHODS]).replace(" and ", " or "))


def _money(run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if models := run.get("models"):
        for name, key in (("Calls", "calls"), ("TokensIn", "input"), ("TokensOut", "output")):
            yield name, f"{sum(each[key] for each in models):,}"
        spent = math.fsum(each["usd"] for each in models)
        yield "Spent", "" if math.isnan(spent) else _dollars(spent)
    budget = run.get("budget_usd")
    yield "Budget", "" if budget is None else _dollars(budget)


def _dollars(amount: float) -> str:
    # The sign of a dollar is a bitmap in TeX's own fonts.
    return rf"{amount:,.2f}\,US dollars"
