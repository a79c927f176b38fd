"""Notebooks from stored judgments: each beside its own cells as a plain Python program, and all at once and in turn."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measuring import ROOT, Cost, cost, goal, spread, table, versions

TITLE = "Notebooks"
#: Seconds that a notebook may take above its cells in plain Python, at most.
ABOVE = 2.5
#: The most that all of them at once may take of what they take one after another.
AT_ONCE = 0.75


#: Runs the cells `In` in turn, as IPython does.
CELLS = """
import ast, asyncio, inspect

async def cells():
    for source in In:
        value = eval(compile(source, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), globals())
        if inspect.isawaitable(value):
            await value

asyncio.run(cells())
"""


def program(notebook: Path, parameters: Mapping[str, Any]) -> str:
    """The cells of a notebook as one program, with these values in place of its own; what they show is not drawn."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assignments = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
    sources = []
    for cell in code:
        sources.append("".join(cell["source"]))
        if "parameters" in cell["metadata"].get("tags", []):
            sources.append(assignments)
    return f"In = {sources!r}\n{CELLS}"


def run(names: Sequence[str], parameters: Mapping[str, Any], *options: str) -> Cost:
    """`recuse run`, as a user types it; reports beside the figures of the default run are removed."""
    values = [word for name, value in parameters.items() for word in ("-p", name, str(value))]
    found = cost([sys.executable, "-m", "helpers", "run", *names, *options, *values])
    results = ROOT / "figures" / "runs"
    for line in found.output.splitlines():
        folder = Path(re.sub(r".* s  start \S+  ", "", line)).parent
        if folder.is_relative_to(results) and folder != results:
            shutil.rmtree(folder, ignore_errors=True)
    return found


def beside_plain(found: Mapping[str, tuple[Sequence[Cost], Sequence[Cost]]]) -> str:
    """Each notebook and the same cells in plain Python, round by round, as a table."""
    rows = []
    for name, (booked, plain) in found.items():
        above = [one.seconds - other.seconds for one, other in zip(booked, plain, strict=True)]
        seconds = [spread([each.seconds for each in costs]) for costs in (booked, plain)]
        rows.append([name, *seconds, spread(above), goal(above, ABOVE, True, 1)])
    return table(["", "`recuse run`, s", "its cells, s", "above them, s", "goal"], rows)


def at_once(together: Sequence[Cost], in_turn: Sequence[Cost]) -> str:
    """All notebooks at once and one after another, as a table."""
    share = [one.seconds / other.seconds for one, other in zip(together, in_turn, strict=True)]
    rows = [
        ["all notebooks, a process a core, s", spread([each.seconds for each in together]), ""],
        ["all notebooks, one process, s", spread([each.seconds for each in in_turn]), ""],
        ["at once over in turn", spread(share), goal(share, AT_ONCE, True)],
    ]
    return table(["", "median", "goal"], rows)


def section(runs: int, names: Sequence[str] = (), **less: Any) -> str:
    """Measure all; the section of the results as Markdown. `names` and parameters can make it smaller."""
    # Here: of each process that this one starts, the system tells at least the memory that this one holds.
    from helpers.run.notebooks import available, collects

    paths = {name: path for name, path in available().items() if name in names or not names}
    booked: dict[str, tuple[list[Cost], list[Cost]]] = {n: ([], []) for n, path in paths.items() if not collects(path)}
    together, in_turn = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asked = {"store": str(folder / "replies"), **less}
        run([*paths], asked)  # asks, and compiles what is imported
        for number in range(runs):
            for notebook, (costs, plain) in booked.items():
                print(f"notebooks, round {number + 1} of {runs}: {notebook}", file=sys.stderr)
                script = folder / f"{notebook}.py"
                parameters = {**asked, "out": str(folder / notebook)}
                script.write_text(program(paths[notebook], parameters), encoding="utf-8")
                plainly = {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
                if number % 2:
                    plain.append(cost([sys.executable, str(script)], plainly))
                costs.append(run([notebook], parameters))
                if not number % 2:
                    plain.append(cost([sys.executable, str(script)], plainly))
            together.append(run([*paths], asked))
            in_turn.append(run([*paths], asked, "--processes", "1"))
    return f"""
From stored judgments of the built-in judges, files written; start, kernel and imports are counted.
{versions(["papermill", "ipykernel", "matplotlib"])}.

{beside_plain(booked)}

{at_once(together, in_turn)}
"""
