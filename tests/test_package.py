"""The package without its repository around it: what is in it, and what is told where something is not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from helpers import paths
from tests.kernels import recuse


def test_every_file_of_the_package_is_packed() -> None:
    packed = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    held = {file for room, globs in packed["package-data"].items()
            for glob in globs for file in paths.ROOT.joinpath(*room.split(".")).glob(glob)}  # fmt: skip
    files = {path for path in (paths.ROOT / "helpers").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert files - held == {path for path in files if path.suffix == ".py"} and held <= files
    rooms = {path.parent for path in files if path.suffix == ".py"}
    assert all((room / "__init__.py").is_file() for room in rooms), "setuptools packs folders with an __init__ only"


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
