"""Commands: in a process of their own, for notebooks with a kernel, or in this one, and what they leave behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from helpers import paths
from helpers.__main__ import entry
from helpers.providers import simulated


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


def results_of(figures: Iterable[str], tables: Iterable[str]) -> set[str]:
    """The names of the files that a run with these figures and tables leaves beside its report."""
    files = {f"{name}.{kind}" for name in figures for kind in ("png", "pdf", "svg")}
    files |= {f"{name}.{kind}" for name in tables for kind in ("csv", "tex")}
    notes = ("numbers", "exhibits", "summary", "run")
    return files | {f"{name}.json" for name in notes} | {"numbers.tex", "claims.csv", "captions.md"}


def assert_quiet(report: bytes, *paths: Path) -> nbformat.NotebookNode:
    """No cell of an executed notebook shows a time, a warning or any of these folders."""
    book = nbformat.reads(report.decode(), as_version=4)
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs
    for output in outputs:
        assert output.output_type in ("display_data", "execute_result"), output
        plain = "".join(str(value) for kind, value in output.data.items() if not kind.startswith("image/"))
        assert not any(str(path) in plain for path in paths)
        assert not re.search(r"20\d\d-\d\d-\d\d", plain)
    return book


def counted_sends(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of all requests that simulated models are asked from now on, in order."""
    sent: list[str] = []
    send = simulated.send

    async def counted(client: None, request: Any) -> Any:
        sent.append(request.key)
        return await send(client, request)

    monkeypatch.setattr(simulated, "send", counted)
    return sent


def without_room(monkeypatch: pytest.MonkeyPatch, lacks: Callable[[Path], bool]) -> None:
    """A disk on which there is no room for files of which this is true."""
    write_bytes = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if lacks(path):
            raise OSError(28, "No space left on device", str(path))
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)


def contents(folder: Path) -> dict[str, bytes]:
    """The content of each file of a folder."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
