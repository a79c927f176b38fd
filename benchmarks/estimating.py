"""Estimators at a million rows of codes: resamples beside one pass over the rows, classes of pairs, growth of sums."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.measuring import cost, goal, spread, table, versions

TITLE = "Statistics"
ROWS, RESAMPLES = 1_000_000, 10_000
GROWING = (10_000, 100_000, 1_000_000, 10_000_000)
#: The most that all resamples may take with our sums, in group-by passes of numpy alone for the same six rates.
PASSES = 6.0
#: The most that the classes of the pairs may take, in milliseconds.
CLASSES = 5.0
#: The most that the interval of a metric of rows that are all different may take, in seconds of CPU.
INTERVAL = 10.0
#: How many times dearer a row of the most may be than the cheapest of fewer, and the memory of the most, in MB.
LINEAR, MEMORY = 1.5, 4000.0
#: By default glibc asks the system for each array of more than 32 MB and gives it back: all its pages are new each
#: time, for which no array of fewer rows pays. With these variables, which other systems do not know, it keeps them.
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40), "MALLOC_TOP_PAD_": str(2**26)}
#: What takes longer than this in all is not measured in further rounds, in seconds.
LONG = 300.0


@dataclass(frozen=True)
class Measured:
    """What one program found, in seconds by name, and its largest resident memory in MB."""

    seconds: dict[str, float]
    memory: float


def measure(
    what: str, rows: int, runs: int, resamples: int = RESAMPLES, variables: Mapping[str, str] | None = None
) -> list[Measured]:
    """One program in so many rounds, or in fewer where they take long, with these environment variables."""
    program = [sys.executable, "-m", "benchmarks.programs.coded", what, "--rows", str(rows)]
    found: list[Measured] = []
    spent = 0.0
    while len(found) < runs and spent < LONG:
        print(f"statistics, {what} of {rows:,} rows, round {len(found) + 1} of {runs}", file=sys.stderr)
        one = cost([*program, "--resamples", str(resamples)], variables)
        found.append(Measured(json.loads(one.output), one.memory))
        spent += one.seconds
    return found


def resampling(found: Sequence[Measured], resamples: int) -> str:
    """Resamples beside one pass over the rows of the same process, as a table."""
    took = [each.seconds for each in found]
    over = {name: [one["resamples"] / one[name] for one in took] for name in ("plain", "sums")}
    rows = [
        ["one group-by pass of numpy alone, ms", spread([1000 * one["plain"] for one in took], 1), ""],
        ["our sums of each question, ms", spread([1000 * one["sums"] for one in took], 1), ""],
        [f"{resamples:,} resamples of each rate with our sums, s", spread([one["resamples"] for one in took], 3), ""],
        ["the same where all rates share their draws, s", spread([one["together"] for one in took], 3), ""],
        ["resamples over one pass of numpy", spread(over["plain"], 1), goal(over["plain"], PASSES, True, 0)],
        ["resamples over our sums", spread(over["sums"], 1), ""],
        ["largest resident memory, MB", spread([each.memory for each in found], 0), ""],
    ]
    return table([f"rounds: {len(found)}", "median", "goal"], rows)


def classifying(found: Sequence[Measured]) -> str:
    """The classes of coded pairs with their counts, and our whole table of pairs, as a table."""
    ours, pairs = ([1000 * each.seconds[name] for each in found] for name in ("classes", "pairs"))
    rows = [
        [
            "class of each pair and how often each comes (`both_orders.cells`), ms",
            spread(ours, 1),
            goal(ours, CLASSES, True, 0),
        ],
        ["both games matched before, all columns (`pairs.pairs`), ms", spread(pairs, 0), ""],
        ["largest resident memory, MB", spread([each.memory for each in found], 0), ""],
    ]
    return table([f"rounds: {len(found)}", "median", "goal"], rows)


def weighing(found: Sequence[Measured]) -> str:
    """Intervals of metrics whose rows are all different, as a table."""
    loss, halo = ([each.seconds[name] for each in found] for name in ("loss", "halo"))
    rows = [
        ["`LossAversionMetric.interval`, every ratio once, CPU s", spread(loss), goal(loss, INTERVAL, True, 0)],
        [
            "`HaloEffectMetric.interval`, options of each row its own, CPU s",
            spread(halo),
            goal(halo, INTERVAL, True, 0),
        ],
        ["largest resident memory, MB", spread([each.memory for each in found], 0), ""],
    ]
    return table([f"rounds: {len(found)}", "median", "goal"], rows)


def growing(found: Sequence[tuple[int, Sequence[Measured], Sequence[Measured]]]) -> str:
    """Our sums, and resamples with them, by the number of rows, as a table.

    Each number of rows comes with what was measured there, and with the same where memory is kept (KEPT).
    """
    fewer = found[:-1] or found
    least = [min(median([each.seconds["sums"] for each in one[way]]) / one[0] for one in fewer) for way in (1, 2)]
    rows = []
    for number, (count, *ways) in enumerate(found):
        spent = [[each.seconds["sums"] / count for each in runs] for runs in ways]
        dearer = [[each / cheapest for each in one] for one, cheapest in zip(spent, least, strict=True)]
        memory, resampled = ([each.memory for each in ways[0]], [each.seconds["resamples"] for each in ways[0]])
        last = number == len(found) - 1
        goals = [f" ({goal(each, LINEAR, True)})" if last else "" for each in dearer]
        shown = [
            text for one, over, so in zip(spent, dearer, goals, strict=True) for text in (_ns(one), spread(over) + so)
        ]
        most = f" ({goal(memory, MEMORY, True, 0)})" if last else ""
        rows.append([f"{count:,}", *shown, spread(resampled, 3), spread(memory, 0) + most])
    over = "over the cheapest of all but the last"
    head = ["rows", "our sums, ns a row", over, "memory kept, ns a row", over, "resamples with our sums, s"]
    return table([*head, "largest resident memory, MB"], rows)


def _ns(seconds: Sequence[float]) -> str:
    return spread([1e9 * each for each in seconds], 0)


def section(runs: int, rows: int = ROWS, resamples: int = RESAMPLES, counts: Sequence[int] = GROWING) -> str:
    """Measure all; the section of the results as Markdown."""
    bootstrap = resampling(measure("resamples", rows, runs, resamples), resamples)
    pairs = classifying(measure("classes", rows, runs))
    ratios = weighing(measure("ratios", rows, runs))
    ways = (None, KEPT)
    sizes = [(count, *(measure("resamples", count, runs, resamples, way) for way in ways)) for count in counts]
    return f"""
Rows of codes of three judges, each twice a question: three self rates and three class shares, all of them from sums of
each question, and quantiles of resamples of the questions. The pass beside it is a `bincount` of numpy for each of the
six rates, weighted by who judged or by class. Questions with the same sums are drawn together, here of some thirty
kinds at most; where most have sums of their own, as of scores, each is drawn, which takes time in proportion to them.
Imports are not counted; what takes longer than {LONG / 60:.0f} minutes
is measured in fewer rounds. {versions(["numpy", "pandas"])}.

{rows:,} rows:

{bootstrap}

{rows:,} pairs, two games each, verdicts and names as categories:

{pairs}

{rows:,} rows that are all different, BCa intervals from 2,000 resamples:

{ratios}

By the number of rows; arrays of more than 32 MB get new pages from the system each time, which is told apart by keeping
them ({", ".join(f"{name}={value}" for name, value in KEPT.items())}, of which only glibc knows):

{growing(sizes)}
"""
