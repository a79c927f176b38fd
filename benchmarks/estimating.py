"""Estimators at a million rows of codes: resamples beside one pass over the rows, classes of pairs, growth of sums."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.measuring import cost, goal, spread, table, versions

TITLE = "Statistics"
ROWS, RESAMPLES = 1_000_000, 10_000
GROWING = (10_000, 100_000, 1_000_000, 10_000_000)
#: The most that all resamples may take, in passes over the rows for the same six sums.
PASSES = 6.0
#: The most that the classes of the pairs may take, in milliseconds.
CLASSES = 5.0
#: How many times dearer a row of the most may be than one of the fewest, and the memory of the most, in MB.
LINEAR, MEMORY = 1.5, 4000.0
#: What takes longer than this in all is not measured in further rounds, in seconds.
LONG = 300.0


@dataclass(frozen=True)
class Measured:
    """What one program found, in seconds by name, and its largest resident memory in MB."""

    seconds: dict[str, float]
    memory: float


def measure(what: str, rows: int, runs: int, resamples: int = RESAMPLES) -> list[Measured]:
    """One program in so many rounds, or in fewer where they take long."""
    program = [sys.executable, "-m", "benchmarks.programs.coded", what, "--rows", str(rows)]
    found: list[Measured] = []
    spent = 0.0
    while len(found) < runs and spent < LONG:
        print(f"statistics, {what} of {rows:,} rows, round {len(found) + 1} of {runs}", file=sys.stderr)
        one = cost([*program, "--resamples", str(resamples)])
        found.append(Measured(json.loads(one.said), one.memory))
        spent += one.seconds
    return found


def resampling(found: Sequence[Measured], resamples: int) -> str:
    """Resamples beside one pass over the rows of the same process, as a table."""
    took = [each.seconds for each in found]
    once, all_six = ([one["resamples"] / one[name] for one in took] for name in ("bincount", "sums"))
    rows = [
        ["one `bincount` of the questions, ms", spread([1000 * one["bincount"] for one in took], 1), ""],
        ["all six sums of each question, ms", spread([1000 * one["sums"] for one in took], 1), ""],
        [f"{resamples:,} resamples of each rate with the sums, s", spread([one["resamples"] for one in took]), ""],
        ["the same where all rates share their draws, s", spread([one["together"] for one in took]), ""],
        ["resamples over all six sums", spread(all_six, 1), goal(all_six, PASSES, True, 0)],
        ["resamples over one `bincount`", spread(once, 1), ""],
        ["largest resident memory, MB", spread([each.memory for each in found], 0), ""],
    ]
    return table([f"rounds: {len(found)}", "median", "goal"], rows)


def classifying(found: Sequence[Measured]) -> str:
    """The classes of coded pairs with their counts, and our whole table of pairs, as a table."""
    ours, whole = ([1000 * each.seconds[name] for each in found] for name in ("classes", "pairs"))
    rows = [
        [
            "class of each pair and how often each comes (`pairs.kinds`), ms",
            spread(ours, 1),
            goal(ours, CLASSES, True, 0),
        ],
        ["both games matched before, all columns (`pairs.pairs`), ms", spread(whole, 0), ""],
        ["largest resident memory, MB", spread([each.memory for each in found], 0), ""],
    ]
    return table([f"rounds: {len(found)}", "median", "goal"], rows)


def growing(found: Sequence[tuple[int, Sequence[Measured]]]) -> str:
    """All six sums by the number of rows, as a table."""
    fewest, runs = found[0]
    first = median([each.seconds["sums"] for each in runs]) / fewest
    rows = []
    for number, (count, runs) in enumerate(found):
        ratio = [each.seconds["sums"] / count / first for each in runs]
        memory = [each.memory for each in runs]
        last = number == len(found) - 1
        told = [f" ({goal(ratio, LINEAR, True)})", f" ({goal(memory, MEMORY, True, 0)})"] if last else ["", ""]
        each_row = spread([1e9 * each.seconds["sums"] / count for each in runs], 0)
        rows.append([f"{count:,}", each_row, spread(ratio) + told[0], spread(memory, 0) + told[1]])
    return table(["rows", "all six sums, ns a row", "over the fewest", "largest resident memory, MB"], rows)


def section(runs: int, rows: int = ROWS, resamples: int = RESAMPLES, counts: Sequence[int] = GROWING) -> str:
    """Measure all; the section of the results as Markdown."""
    bootstrap = resampling(measure("resamples", rows, runs, resamples), resamples)
    pairs = classifying(measure("classes", rows, runs))
    sizes = growing([(count, measure("passes", count, runs)) for count in counts])
    return f"""
Rows of codes of three judges, six to a question: three self rates and three class shares, all of them from sums of
each question, and quantiles of resamples of the questions. Imports are not counted; what takes longer than
{LONG / 60:.0f} minutes is measured in fewer rounds. {versions(["numpy", "pandas"])}.

{rows:,} rows:

{bootstrap}

{rows:,} pairs, two games each, verdicts and names as categories:

{pairs}

{sizes}
"""
