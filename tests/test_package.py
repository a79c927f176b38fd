"""The package without its repository around it: what is in it, and what is told where something is not."""

from __future__ import annotations

import ast
import json
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

#: What a declared package is built on and always brings: pandas, JupyterLab and papermill, the extra for clusters.
BROUGHT = {"numpy", "IPython", "jupyter_client", "nbformat", "traitlets", "distributed"}


@pytest.fixture(autouse=True)
def beside_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing leads back to the checkout."""
    monkeypatch.delenv("PYTHONPATH", raising=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of a wheel that was built from the checkout and installed, with what it declares, beside nothing."""
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    source = folder / "source"  # a build writes beside what it builds
    for name in ("helpers", "experiments", "notebooks", "data", "figures/overview"):
        left = shutil.ignore_patterns("__pycache__", ".*", "replies", "downloads")
        shutil.copytree(paths.ROOT / name, source / name, ignore=left)
    (source / "docs").mkdir()
    for name in ("pyproject.toml", "requirements.txt", "README.md", "LICENSE", ".gitignore", "docs/glossary.md"):
        shutil.copy(paths.ROOT / name, source / name)
    subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, source], check=True)
    lock = paths.ROOT / "requirements.lock"
    subprocess.run([*pip, "install", "-c", lock, *folder.glob("*.whl")], check=True)
    return python.with_name("recuse")


@pytest.mark.slow
def test_every_file_of_the_package_is_packed_and_none_beside_it(wheel: Path) -> None:
    (packed,) = wheel.parents[2].glob("*.whl")
    files = {path for path in (paths.ROOT / "helpers").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    wanted = {f"recuse/{path.relative_to(paths.ROOT / 'helpers').as_posix()}" for path in files}
    tracked = ["git", "ls-files", "experiments", "notebooks", "data", "figures/overview/calibration.[cj]s*"]
    tracked.append("docs/glossary.md")
    defined = subprocess.run(tracked, cwd=paths.ROOT, check=True, capture_output=True, text=True).stdout.split()
    wanted |= {f"recuse/_bundle/{path}" for path in defined if not path.endswith("report.ipynb")}
    assert {name for name in ZipFile(packed).namelist() if ".dist-info/" not in name} == wanted


def test_a_wheel_reads_the_definitions_that_it_brings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package may well have a folder `experiments` beside it; results go to where one works."""
    for folder in ("experiments", "recuse/_bundle/experiments"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "experiments")
    packed = run_path(shutil.copy(paths.__file__, tmp_path / "recuse"))
    assert packed["EXPERIMENTS"] == tmp_path / "recuse" / "_bundle" / "experiments"
    assert packed["REPLIES"] == tmp_path / "experiments" / "data" / "replies"
    assert packed["REPORTS"] == packed["FIGURES"] == tmp_path / "experiments" / "figures"
    assert paths.EXPERIMENTS == paths.REPORTS == paths.ROOT / "experiments"


def test_the_package_declares_what_it_needs() -> None:
    """As an installer reads it: without this a wheel ends at its first import."""

    def named(each: Requirement) -> tuple[str, str]:
        return canonicalize_name(each.name), str(each.specifier)

    listed = (paths.ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = {named(Requirement(line)) for line in listed if line and not line.startswith("#")}
    declared = [Requirement(line) for line in metadata.requires("recuse") or ()]
    base = {named(each) for each in declared if each.marker is None}
    of = {
        extra: {named(each) for each in declared if each.marker and each.marker.evaluate({"extra": extra})}
        for extra in ("all", "notebooks", "ask", "hub", "report", "cluster", "browser", "docs", "dev")
    }
    parts = of["notebooks"] | of["ask"] | of["hub"] | of["report"]
    assert base | of["all"] == wanted and parts == of["all"] and all(of.values())
    assert len(base) < len(wanted) * 0.6 and not base & parts


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
    for words, shown in (
        (["demo"], "favours the answer shown first"),
        (["compare", "recuse-demo", "recuse-demo"], "moved from A to B: 0 of 2"),
        (["list", "formats"], "fastchat-pair"),
        (["list", "notebooks"], "01_mt_bench_blind"),
    ):
        done = subprocess.run([wheel, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and shown in done.stdout, (words, done.stdout, done.stderr)
    done = subprocess.run([wheel, "explain", "hint_effect"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "where it fails" in done.stdout, done.stderr


@pytest.mark.slow
def test_a_wheel_audits_and_runs_beside_other_helpers(wheel: Path, tmp_path: Path) -> None:
    """A folder `helpers` is in many repositories, and a notebook would import that of where one works."""
    run = ["run", "01_mt_bench_blind", "-p", "question_limit", "10"]
    done = subprocess.run([wheel, *run], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "pip install 'recuse[all]'" in done.stderr, done.stderr
    (packed,) = wheel.parents[2].glob("*.whl")
    pip = [wheel.with_name("python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    lock = paths.ROOT / "requirements.lock"
    subprocess.run([*pip, "install", "-c", lock, f"{packed}[notebooks]"], check=True)
    for words in (
        ["init", "-q"],
        ["-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers" / "__init__.py").write_text("raise SystemExit('the helpers of somebody else')")
    for words in (["audit", "--model", "sim_gpt_fast"], run):
        done = subprocess.run([wheel, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "audit-sim_gpt_fast" / "card.md").is_file()
    (report,) = tmp_path.glob("figures/runs/mt_bench_blind-*/report.ipynb")
    assert json.loads((report.parent / "run.json").read_text())["commit"] is None, "that of another repository"
    assert (report.parent / "numbers.json").is_file()
    assert list(report.parent.glob("*.png"))
    assert (tmp_path / "data" / "replies").is_dir()
