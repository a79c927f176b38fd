"""Executed notebooks, read back: whether a file is one, and with which parameters it ran; nothing in it is run."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from helpers.run.quick import without_grammar

#: The tag of the cell of defaults, and that of the cell which papermill puts after it.
DEFAULTS, INJECTED = "parameters", "injected-parameters"


def load(report: Path) -> Any:
    """The notebook in a file; anything else is a ValueError that names the file."""
    with without_grammar():
        from nbformat import convert, reader, validate

    try:
        book = convert(reader.reads(report.read_text(encoding="utf-8")), 4)
        validate(book)
    except OSError:
        raise
    except Exception as error:  # nbformat, its schemas and json raise many kinds
        what = str(error).partition("\n")[0][:200]
        raise ValueError(f"{report}: no notebook ({type(error).__name__}: {what})") from None
    return book


def parameters(book: Any, tags: Collection[str] = (DEFAULTS, INJECTED)) -> dict[str, Any]:
    """What the cells with these tags assign, the later one last; what is no literal is left out."""
    found: dict[str, Any] = {}
    for cell in book.cells:
        if set(tags) & set(cell.metadata.get("tags", ())):
            found |= dict(_literals(cell.source))
    return found


def _literals(source: str) -> Iterator[tuple[str, Any]]:
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):  # a NUL in it is a ValueError
        return
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                yield node.targets[0].id, ast.literal_eval(node.value)
            except ValueError:
                continue
