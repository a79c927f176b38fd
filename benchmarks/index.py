"""The index of a store: how long it takes to make, by size, and from it to the columns that an analysis needs."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.measuring import Cost, cost, goal, spread, table, versions

TITLE = "Index"
COUNTS = (10_000, 100_000, 1_000_000)
#: Seconds from the index of the largest store to analysis columns, at most.
MOST = 0.2
#: How many times dearer a line of the largest store may be than the cheapest of smaller ones: what linear means here.
LINEAR = 1.5


def run(what: str, folder: Path, count: int) -> Cost:
    """One program on one store."""
    program = [sys.executable, "-m", "benchmarks.programs.indexed", what]
    return cost([*program, "--store", str(folder), "--count", str(count)])


def told(found: Sequence[tuple[int, Sequence[Cost], Cost, Sequence[Cost]]]) -> str:
    """The table: count, runs that built the index, the one that read all verdicts into it, runs that loaded it."""
    rows, last = [], len(found) - 1
    least = min(1e6 * median([float(each.said) for each in built]) / count for count, built, *_ in found[:-1] or found)
    for number, (count, built, read, loaded) in enumerate(found):
        each_line = [1e6 * float(one.said) / count for one in built]
        ratio = [one / least for one in each_line]
        linear = f" ({goal(ratio, LINEAR, True)})" if number == last else ""
        seconds = [float(one.said) for one in loaded]
        fast = f" ({goal(seconds, MOST, True)})" if number == last else ""
        memory = max(one.memory for one in loaded)
        verdicts = f"{1e6 * float(read.said) / count:.1f}"
        shown = [spread(each_line, 1), f"{median(ratio):.2f}{linear}", verdicts, spread(seconds, 3) + fast]
        rows.append([f"{count:,}", *shown, f"{memory:.0f}"])
    head = ["judgments", "building, us a line", "over the cheapest of all but the last"]
    head += ["verdicts read into it, us a line (one round)", "index to columns, s", "its largest resident memory, MB"]
    return table(head, rows)


def section(runs: int, counts: Sequence[int] = COUNTS) -> str:
    """Measure all sizes; the section of the results as Markdown."""
    found = []
    for count in counts:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            run("write", folder, count)
            built = [run("build", folder, count) for _ in range(runs)]
            read = run("read", folder, count)  # its verdicts stay in the index
            run("load", folder, count)
            found.append((count, built, read, [run("load", folder, count) for _ in range(runs)]))
    said = (
        "Short judgments of one judge; imports of pandas and pyarrow are not counted, those of the modules that "
        "read each provider's replies are, files were read before, the columns are those of `helpers.judge.judged`."
    )
    return f"\n{said} {versions(['pyarrow', 'pandas'])}.\n\n{told(found)}\n"
