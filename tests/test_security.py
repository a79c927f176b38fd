"""SECURITY.md names a test for each promise, and nothing that is read from a file can run."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from helpers import paths

PAGE = (paths.ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in row.strip("|").split("|")] for row in PAGE.splitlines() if row.startswith("| ")][1:]
PROMISES = [row for row in ROWS if not row[0].startswith("**")]


def test_the_page_is_a_table_of_promises_each_with_its_tests() -> None:
    assert len(PROMISES) >= 25 and all(len(row) == 2 for row in ROWS)
    assert len({promise for promise, _ in PROMISES}) == len(PROMISES)
    for promise, tests in PROMISES:
        assert promise.endswith(".") and re.fullmatch(r"(`tests/[\w/]+\.py::test_\w+` ?)+", tests), promise


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(tests/[^`]+)`", PAGE))))
def test_each_named_test_exists(name: str) -> None:
    file, _, test = name.partition("::")
    tree = ast.parse((paths.ROOT / file).read_text(encoding="utf-8"))
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert not test or test in defined, f"{file} has no test {test}: correct SECURITY.md or put the test back"


# --- what could run ---------------------------------------------------------------------------------------------------

#: Modules that turn bytes into objects or code, or start a shell.
FORBIDDEN_MODULES = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shelve",
    "marshal",
    "jsonpickle",
    "code",
    "pty",
}
FORBIDDEN_NAMES = {"eval", "exec", "compile", "__import__"}
#: Methods of pandas, numpy and torch that unpickle or evaluate text; `system` and `popen` are the shell's.
FORBIDDEN_METHODS = {"read_pickle", "to_pickle", "eval", "unsafe_load", "full_load", "system", "popen"}
#: What makes a loader of yaml safe: nothing but plain values comes out of it.
SAFE = {"SafeLoader", "CSafeLoader"}


def runs(source: str) -> list[str]:
    """Each call or import in a source by which a text could run, as `line: what`."""
    tree, found = ast.parse(source), []
    safe = _safe_loaders(tree)
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name.partition(".")[0] for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(node.module or "").partition(".")[0]]
        found += [f"{node.lineno}: import {name}" for name in names if name in FORBIDDEN_MODULES]
        if not isinstance(node, ast.Call):
            continue
        called, words = _called(node.func), {word.arg: word.value for word in node.keywords}
        owner, _, method = called.rpartition(".")
        bad = called in FORBIDDEN_NAMES or (bool(owner) and method in FORBIDDEN_METHODS)
        bad |= called in ("yaml.load", "yaml.load_all") and not safe & {
            ast.unparse(each).rpartition(".")[2] for each in (*node.args[1:], *words.values())
        }
        bad |= method == "query" and not (node.args and isinstance(node.args[0], ast.Constant))
        bad |= any(word in words and not _is(words[word], False) for word in ("allow_pickle", "shell"))
        bad |= "trust_remote_code" in words and not _is(words["trust_remote_code"], False)
        if bad:
            found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


def _called(node: ast.AST) -> str:
    """The dotted name of what is called; what it is called on, where that is no name, is `?`."""
    if isinstance(node, ast.Attribute):
        return f"{_called(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def _safe_loaders(tree: ast.AST) -> set[str]:
    """The names of yaml's safe loaders in a module: classes that come from one, and arguments of such a type."""
    safe = set(SAFE)
    for node in ast.walk(tree):  # a class stands before those that come from it
        if isinstance(node, ast.ClassDef) and safe & {ast.unparse(base).rpartition(".")[2] for base in node.bases}:
            safe.add(node.name)
    given = [node for node in ast.walk(tree) if isinstance(node, ast.arg) and node.annotation]
    return safe | {each.arg for each in given if ast.unparse(each.annotation) in {f"type[{name}]" for name in safe}}


def _is(node: ast.AST, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def sources() -> dict[str, str]:
    """Every module of the package and every notebook's code, by where it stands."""
    code = {str(path.relative_to(paths.ROOT)): path.read_text(encoding="utf-8") for path in _modules()}
    for path in paths.NOTEBOOKS.glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                code[f"{path.name}, cell {number}"] = "".join(cell["source"])
    return code


def _modules() -> list[Path]:
    return sorted((paths.ROOT / "helpers").rglob("*.py"))


def test_nothing_that_is_read_can_run() -> None:
    code = sources()
    assert len(code) > 200
    assert {where: found for where, source in code.items() if (found := runs(source))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from joblib import Memory",
        "eval(text)",
        "exec(text)",
        "yaml.load(text)",
        "yaml.load(text, Loader=yaml.FullLoader)",
        "yaml.load_all(text, yaml.Loader)",
        "yaml.unsafe_load(text)",
        "def read(text, kind: type[Loader]): return yaml.load(text, Loader=kind)",
        "numpy.load(file, allow_pickle=True)",
        "numpy.load(file, allow_pickle=given)",
        "pandas.read_pickle(path)",
        "frame.eval(text)",
        "frame.query(text)",
        "frame.query(f'a == {text}')",
        "subprocess.run(text, shell=True)",
        "os.system(text)",
        "datasets.load_dataset(name, trust_remote_code=True)",
    ],
)
def test_what_could_run_would_be_found(line: str) -> None:
    assert runs(line)


@pytest.mark.parametrize(
    "line",
    [
        "re.compile(text)",
        "ast.literal_eval(text)",
        "yaml.safe_load(text)",
        "class Strict(yaml.SafeLoader): ...\nyaml.load(text, Loader=Strict)",
        "class A(SafeLoader): ...\nclass B(A): ...\ndef read(text, kind: type[A]): return yaml.load(text, Loader=kind)",
        "numpy.load(file, allow_pickle=False)",
        "frame.query('verdict == \"A\"')",
        "subprocess.run([git, 'describe'])",
    ],
)
def test_what_is_harmless_is_let_be(line: str) -> None:
    assert runs(line) == []
