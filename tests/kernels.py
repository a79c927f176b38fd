"""Commands: in a process of their own, for notebooks with a kernel, or in this one, and what they leave behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import paths
from helpers.__main__ import entry


def tracked() -> dict[str, bytes]:
    """The content of every file that a run with parameters of its own must leave alone."""
    folders = (paths.FIGURES, paths.EXPERIMENTS, paths.DATA, paths.NOTEBOOKS)
    files = (file for folder in folders for file in folder.rglob("*") if file.is_file())
    ignored = {paths.REPLIES, paths.DOWNLOADS, paths.RUNS}
    return {str(file): file.read_bytes() for file in files if not ignored & set(file.parents)}


def command(*words: str, cwd: Path, root: Path = paths.ROOT) -> subprocess.CompletedProcess[str]:
    """`python -m` with these words, without anybody's keys, on the package of the repository `root`."""
    keys = ("_API_KEY", "_BASE_URL")
    env = {name: value for name, value in os.environ.items() if not name.endswith(keys)}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(root), env.get("PYTHONPATH"))))
    return subprocess.run([sys.executable, "-m", *words], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def recuse(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command, in this process."""
    monkeypatch.setattr(sys, "argv", ["recuse", *words])
    code = 0
    try:
        entry()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    told = capsys.readouterr()
    assert "Traceback" not in told.out + told.err
    return code, told.out, told.err


def contents(folder: Path) -> dict[str, bytes]:
    """The content of each file of a folder."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
