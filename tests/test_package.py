"""The package without its repository around it: what is in it, and what is told where something is not."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path
from runpy import run_path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from helpers import paths
from tests.kernels import recuse

#: What a declared package is built on and always brings: pandas, JupyterLab and papermill, the extra for clusters.
BROUGHT = {"numpy", "IPython", "jupyter_client", "nbformat", "traitlets", "distributed"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of a wheel that was built from the checkout and installed, with what it declares, beside nothing."""
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    source = folder / "source"  # a build writes beside what it builds
    for name in ("helpers", "experiments"):
        shutil.copytree(paths.ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in ("pyproject.toml", "requirements.txt", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(paths.ROOT / name, source)
    subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, source], check=True)
    lock = paths.ROOT / "requirements.lock"
    subprocess.run([*pip, "install", "-c", lock, *folder.glob("*.whl")], check=True)
    return python.with_name("recuse")


@pytest.mark.slow
def test_every_file_of_the_package_is_packed_and_none_beside_it(wheel: Path) -> None:
    (packed,) = wheel.parents[2].glob("*.whl")
    files = {path for path in (paths.ROOT / "helpers").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    wanted = {path.relative_to(paths.ROOT).as_posix() for path in files}
    names = ("config", "numbers", "tables")
    defined = [path for name in names for path in paths.EXPERIMENTS.glob(f"*/{name}.yaml")]
    wanted |= {f"helpers/_bundle/{path.relative_to(paths.ROOT).as_posix()}" for path in defined}
    assert {name for name in ZipFile(packed).namelist() if ".dist-info/" not in name} == wanted


def test_a_wheel_reads_the_definitions_that_it_brings(tmp_path: Path) -> None:
    """Another package may well have a folder `experiments` beside it."""
    for folder in ("experiments", "helpers/_bundle/experiments"):
        (tmp_path / folder).mkdir(parents=True)
    packed = shutil.copy(paths.__file__, tmp_path / "helpers")
    assert run_path(packed)["EXPERIMENTS"] == tmp_path / "helpers" / "_bundle" / "experiments"
    assert paths.EXPERIMENTS == paths.ROOT / "experiments"


def test_the_package_declares_what_it_needs() -> None:
    """As an installer reads it: without this a wheel ends at its first import."""
    listed = (paths.ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = {Requirement(line) for line in listed if line and not line.startswith("#")}
    declared = {Requirement(line) for line in metadata.requires("recuse") or ()}
    assert {each for each in declared if each.marker is None} == wanted and len(wanted) > 20
    assert {each.name for each in declared if each.marker} >= {"dask", "playwright", "pytest"}, "extras"


def test_every_import_of_the_package_is_declared() -> None:
    """What any module imports, at its top or within a function, is of ours, of Python or of a declared dependency."""
    found = set()
    for path in (paths.ROOT / "helpers").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.partition(".")[0])
    provided = metadata.packages_distributions()
    declared = {canonicalize_name(Requirement(line).name) for line in metadata.requires("recuse") or ()}
    missing = {
        name
        for name in found - sys.stdlib_module_names - {"helpers"}
        if declared.isdisjoint(map(canonicalize_name, provided.get(name, ())))
    }
    assert missing <= BROUGHT, f"import without a line in requirements.txt: {sorted(missing - BROUGHT)}"


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--help"], ["analyze", "--help"], ["audit", "--help"], ["explain", "--help"]])
def test_a_wheel_in_an_empty_environment_starts(wheel: Path, tmp_path: Path, words: list[str]) -> None:
    done = subprocess.run([wheel, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "Usage" in done.stdout, done.stderr


@pytest.mark.slow
def test_a_wheel_in_an_empty_environment_reads_verdicts(wheel: Path, tmp_path: Path) -> None:
    rows = [f"j,q{n // 2},{('x|y', 'y|x')[n % 2]},{'A' if n % 5 else 'B'}" for n in range(40)]
    (tmp_path / "mine.csv").write_text("judge,question,candidates,verdict\n" + "\n".join(rows) + "\n")
    done = subprocess.run([wheel, "analyze", "mine.csv"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "40 judgments" in done.stdout, done.stderr
    assert (tmp_path / "mine-recuse").is_dir()
    done = subprocess.run([wheel, "explain", "hint_effect"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "where it fails" in done.stdout, done.stderr


@pytest.mark.parametrize("words", [["run"], ["plan"], ["report"], ["paper", "--style", "icml", "--to", "x"], ["check"]])
def test_without_the_repository_it_is_told_where_to_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path / "notebooks")
    monkeypatch.chdir(tmp_path)
    code, _, told = recuse(monkeypatch, capsys, *words)
    assert code == 2 and f"no notebooks at {tmp_path / 'notebooks'}" in told and "clone it" in told
    assert not list(tmp_path.iterdir())


def test_without_the_repository_verdicts_are_read_and_help_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path / "notebooks")
    assert "no such file or folder" in recuse(monkeypatch, capsys, "analyze", str(tmp_path / "verdicts.csv"))[2]
    assert recuse(monkeypatch, capsys, "audit", "--help")[0] == 0
