"""Notebooks without a kernel: their cells, what stands in them, and what they do in this very process."""

from __future__ import annotations

import ast
import asyncio
import inspect
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nbformat

#: What stands for each picture where none is drawn.
UNDRAWN = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-", "svg": b"<svg/>"}


def of_this_run(told: str) -> str:
    """What is told of the run's own judges: every run also says on which simulated ones its estimators were tried."""
    return told.replace("Calibrated on SIMULATED judges", "")


def code_cells(notebook: Path) -> list[Any]:
    """The code cells of a notebook, in order."""
    return [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]


def parameters_of(notebook: Path) -> dict[str, Any]:
    """The parameters of a notebook with their defaults; anything but a literal is an error."""
    (cell,) = (cell for cell in code_cells(notebook) if "parameters" in cell.metadata.get("tags", ()))
    found = {}
    for node in ast.parse(cell.source).body:
        assert isinstance(node, ast.Assign) and len(node.targets) == 1, ast.unparse(node)
        found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def run_cells(
    notebook: Path, export: bool = True, draw: bool = False, **parameters: Any
) -> tuple[dict[str, Any], list[Any]]:
    """Run the code cells in order with these parameters: the names they leave, and everything they displayed.

    `export=False` leaves out the cell with that tag. Without `draw` figures are made, and their files hold next to
    nothing: drawing each of them in three formats takes most of the time.
    """
    names: dict[str, Any] = {"In": []}
    shown: list[Any] = []

    async def run() -> None:
        for number, cell in enumerate(code_cells(notebook)):
            if not export and "export" in cell.metadata.get("tags", ()):
                continue
            names["In"].append(cell.source)
            code = compile(cell.source, f"<cell {number}>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            if code.co_flags & inspect.CO_COROUTINE:
                await eval(code, names)
            else:
                exec(code, names)
            if "parameters" in cell.metadata.get("tags", ()):
                assert not set(parameters) - set(names), "the notebook has no such parameter"
                names.update(parameters)

    with ExitStack() as patches:
        patches.enter_context(patch("IPython.display.display", lambda *things, **_: shown.extend(things)))
        if not draw:
            patches.enter_context(patch("helpers.figures.style.Figure.render", lambda _, kind: UNDRAWN[kind]))
        asyncio.run(run())
    return names, shown


def prose(shown: list[Any]) -> str:
    """What was displayed as Markdown."""
    from IPython.display import Markdown

    return "\n\n".join(thing.data for thing in shown if isinstance(thing, Markdown))


def tables(shown: list[Any]) -> list[Any]:
    """The frames of the tables that were displayed."""
    from helpers.tables import View

    return [thing.frame for thing in shown if isinstance(thing, View)]


def texts(figure: Any) -> list[str]:
    """Every text in a figure."""
    from matplotlib.text import Text

    return [text.get_text() for text in figure.figure.findobj(Text)]
