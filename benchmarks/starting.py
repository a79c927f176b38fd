"""How long it takes to import what every notebook and every run imports."""

from __future__ import annotations

import sys

from benchmarks.measuring import cost, goal, spread, table

TITLE = "Starting"
#: What is imported, and the most that it may take over an empty interpreter, in milliseconds (None: no goal).
IMPORTS = {"helpers.store, helpers.verdicts, helpers.judge": 300.0, "helpers.run": None}


def over_empty(names: str) -> tuple[float, float]:
    """Milliseconds by the wall and of CPU time that an import takes over an interpreter that imports nothing."""
    empty, full = cost([sys.executable, "-c", "pass"]), cost([sys.executable, "-c", f"import {names}"])
    return 1000 * (full.seconds - empty.seconds), 1000 * (full.cpu - empty.cpu)


def section(runs: int) -> str:
    """Measure all imports in turn; the section of the results as Markdown."""
    found: dict[str, list[tuple[float, float]]] = {names: [] for names in IMPORTS}
    for number in range(runs + 1):
        for names in IMPORTS:
            took = over_empty(names)
            if number:  # the first time bytecode may be written
                found[names].append(took)
    rows = []
    for names, limit in IMPORTS.items():
        walls, cpus = [wall for wall, _ in found[names]], [cpu for _, cpu in found[names]]
        goal_words = f" ({goal(walls, limit, True, 0)})" if limit is not None else ""
        rows.append([f"`import {names}`", spread(walls, 0) + goal_words, spread(cpus, 0)])
    return "\nOver an empty interpreter, bytecode compiled.\n\n" + table(["", "ms", "CPU ms"], rows) + "\n"
