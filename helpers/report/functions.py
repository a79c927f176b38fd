"""What the package offers, from the docstrings of what its rooms export; read from the source, nothing is run."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from helpers import paths

HOME = paths.ROOT / "helpers"
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Function:
    """One function or record: how it is called and what it says of itself, paragraph by paragraph."""

    name: str
    address: str
    signature: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Room:
    """A room of the package, or a module of it: what it is for and what it offers."""

    name: str
    address: str
    words: tuple[str, ...]
    entries: tuple[Function, ...]


def rooms() -> list[Room]:
    """Every room that offers something, in order of name; a package offers what its `__init__` names."""
    found = []
    for path in sorted([*HOME.glob("*.py"), *HOME.rglob("*/__init__.py"), *(HOME / "stats").glob("*.py")]):
        name = ".".join(path.relative_to(HOME).with_suffix("").parts).removesuffix(".__init__")
        if name.startswith("__"):
            continue
        tree = _tree(path)
        offered = {called: node for called, node in _offered(path, tree) if not called.startswith("_")}
        entries = tuple(_function(name, called, node) for called, node in sorted(offered.items()))
        if entries:
            found.append(Room(name, _address(name), _paragraphs(tree), entries))
    return found


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _offered(path: Path, tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """The definitions of a module by name, and those that a package takes from its own modules."""
    for node in tree.body:
        if isinstance(node, Definition):
            yield node.name, node
        elif isinstance(node, ast.ImportFrom) and path.name == "__init__.py":
            yield from _taken(path, node)


def _taken(path: Path, taking: ast.ImportFrom) -> Iterator[tuple[str, Definition]]:
    """What `__init__` takes from a module of its own package, by the name that it has there."""
    source = paths.ROOT.joinpath(*(taking.module or "").split(".")).with_suffix(".py")
    if source.parent == path.parent and source.is_file():
        defined = {node.name: node for node in _tree(source).body if isinstance(node, Definition)}
        yield from ((each.asname or each.name, defined[each.name]) for each in taking.names if each.name in defined)


def _function(room: str, called: str, node: Definition) -> Function:
    return Function(called, _address(f"{room}.{called}"), _signature(called, node), _paragraphs(node))


def _signature(called: str, node: Definition) -> str:
    """How it is called; of a record its fields."""
    if isinstance(node, ast.ClassDef):
        fields = [ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign)]
        bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
        return "\n".join([f"class {called}{bases}", *(f"    {each}" for each in fields)])
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    before = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"{before} {called}({ast.unparse(node.args)}){returns}"


def _paragraphs(node: Definition | ast.Module) -> tuple[str, ...]:
    """The docstring in paragraphs, lines joined; examples keep their lines."""
    told = inspect.cleandoc(ast.get_docstring(node) or "")
    parts = [part for part in told.split("\n\n") if part.strip()]
    return tuple(part if part.startswith(">>>") else " ".join(part.split()) for part in parts)


def _address(name: str) -> str:
    return f"helpers-{name.replace('.', '-')}"
