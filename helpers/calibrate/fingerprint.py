"""The code that a calibration tested, as one hash: words and layout do not change it, what is computed does."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from helpers import paths

#: Beside the module of an experiment's cases: what runs and judges all of them.
ENGINE = ("helpers.calibrate.running", "helpers.calibrate.rule")
#: Rooms and modules that carry texts and compute no number. That verdicts come through them unchanged is a plain test
#: of every world, so that a new setting or a new rule of retries leaves the results as they are. That the pool hands
#: them on unchanged is one too.
CARRIERS = tuple(
    f"helpers.{name}."
    for name in (
        "calibrate.pool",
        "config",
        "datasets",
        "judge",
        "paths",
        "prompts",
        "providers",
        "store",
        "types.models",
        "types.requests",
        "verdicts",
    )
)


def fingerprint(experiment: str, root: Path = paths.ROOT) -> str:
    """The hash of everything that the calibration of an experiment computes with, within the package.

    The sha256 over the modules that its cases reach by imports, each without docstrings, comments and layout; the same
    under every version of Python. An experiment without a module of cases is a ValueError.
    """
    code = [(name, _meaning(_tree(path))) for name, path in sorted(modules(experiment, root).items())]
    return hashlib.sha256(json.dumps(code, ensure_ascii=False).encode()).hexdigest()


def modules(experiment: str, root: Path = paths.ROOT) -> dict[str, Path]:
    """The modules of the package that an experiment's cases reach by imports, by name, those of CARRIERS left out.

    A name taken from a package is the package's own where its `__init__` defines it, else its submodule, which brings
    the `__init__` of no package with it. What only type checkers import does not count.
    """
    start = f"helpers.calibrate.{experiment}"
    if _path(start, root) is None:
        raise ValueError(f"no module {start}: {experiment} is not calibrated")
    found: dict[str, Path] = {}
    ahead = [start, *ENGINE]
    while ahead:
        name = ahead.pop()
        path = _path(name, root)
        if path is not None and name not in found and not f"{name}.".startswith(CARRIERS):
            found[name] = path
            ahead += _imported(path, root)
    return found


def _path(module: str, root: Path) -> Path | None:
    place = root.joinpath(*module.split("."))
    return next((each for each in (place.with_suffix(".py"), place / "__init__.py") if each.is_file()), None)


def _imported(path: Path, root: Path) -> Iterator[str]:
    for node in _statements(_tree(path)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.split(".")[0] == "helpers")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "helpers":
            package = _path(node.module, root)
            for each in node.names:
                below = f"{node.module}.{each.name}"
                own = package is not None and (package.name != "__init__.py" or each.name in _defined(package))
                yield node.module if own or _path(below, root) is None else below


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes, but for those that only type checkers see."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield from _statements(child)


def _defined(path: Path) -> set[str]:
    """The names that a module gives itself at its top level."""
    names: set[str] = set()
    for node in _tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {each.asname or each.name.split(".")[0] for each in node.names}
        else:
            names |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names


@lru_cache(maxsize=512)
def _parsed(path: Path, changed: int) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _tree(path: Path) -> ast.Module:
    return _parsed(path, path.stat().st_mtime_ns)


def _meaning(node: Any) -> Any:
    """A tree as nested lists without docstrings, places and empty fields (which differ between versions of Python)."""
    if isinstance(node, list):
        return [_meaning(each) for each in node]
    if not isinstance(node, ast.AST):
        return [type(node).__name__, repr(node)]
    fields = []
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(value, list) and value and _docstring(node, value[0]):
            value = value[1:]
        if value is not None and value != []:
            fields.append([name, _meaning(value)])
    return [type(node).__name__, fields]


def _docstring(node: ast.AST, first: ast.stmt) -> bool:
    named = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    return named and isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str)
