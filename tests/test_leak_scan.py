"""Keys through the whole pipeline: real commands, kernels and SDKs, servers that repeat them, cells that print them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell

from helpers import paths
from helpers.__main__ import main
from tests.leaks import PLANTED, leaks_in
from tests.servers.behaviours import Call, Fault, Reply, polite
from tests.servers.judging import nonce_of
from tests.servers.providers import JudgeServer

pytestmark = pytest.mark.slow

NAME = "01_mt_bench_blind"
MODELS = "[claude_fast, gpt_fast, gemini_fast]"
KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}
PRODUCED = ("figures", "experiments", "data/replies", "logs", "pages")


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A copy of the repository without results."""
    ignored = shutil.ignore_patterns("replies", "downloads", "runs", "__pycache__", ".*", "report*.ipynb")
    for part in ("helpers", "experiments", "notebooks", "data"):
        shutil.copytree(paths.ROOT / part, tmp_path / "recuse" / part, ignore=ignored)
    yield tmp_path / "recuse"


def recuse(root: Path, server: JudgeServer, *words: str) -> subprocess.CompletedProcess[str]:
    """A command on the copy with keys in its environment; all that it says goes to a log, as people keep one."""
    env = {**os.environ, **server.env(), **PLANTED, "PYTHONPATH": str(root)}
    command = [sys.executable, "-m", "helpers", *words]
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False, timeout=400)
    (root / "logs").mkdir(exist_ok=True)
    with (root / "logs" / "run.log").open("a", encoding="utf-8") as log:
        log.write(done.stdout + done.stderr)
    return done


def run(root: Path, server: JudgeServer, limit: int) -> subprocess.CompletedProcess[str]:
    given = {"judges": MODELS, "candidates": MODELS, "question_limit": str(limit), "budget_usd": "1000"}
    return recuse(root, server, "run", NAME, *(word for pair in given.items() for word in ("-p", *pair)))


def refusing(call: Call) -> Reply | Fault:
    """One provider refuses the key and repeats it."""
    return Fault("401") if call.provider == "anthropic" else talkative(call)


def talkative(call: Call) -> Reply:
    """Answers that repeat the key, and proper verdicts."""
    said = polite(call)
    value = PLANTED[KEYS[call.provider]]
    return said if nonce_of(call) else Reply(f"{said.text} By the way, you came with {value} (Bearer {value}).")


def pages(root: Path) -> None:
    """The reports as HTML, as people publish them."""
    from nbconvert import HTMLExporter

    (root / "pages").mkdir(exist_ok=True)
    for number, report in enumerate(sorted(root.glob("figures/runs/*/report*.ipynb"))):
        body, _ = HTMLExporter().from_filename(str(report))
        (root / "pages" / f"{number}.html").write_text(body, encoding="utf-8")


def plant_a_failing_cell(root: Path) -> None:
    path = root / "notebooks" / f"{NAME}.ipynb"
    book = nbformat.read(path, as_version=4)
    place = next(n for n, cell in enumerate(book.cells) if "setup" in cell.metadata.get("tags", ()))
    lines = "import os\nprint(dict(os.environ))\nraise RuntimeError('refused: ' + os.environ['GEMINI_API_KEY'])"
    book.cells.insert(place + 1, new_code_cell(lines))
    nbformat.write(book, path)


def found(root: Path) -> dict[str, Any]:
    """The produced files that hold a key, by a search that knows nothing of the code under test."""
    return {f"{part}/{name}": held for part in PRODUCED for name, held in leaks_in(root / part).items()}


def checked(root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`recuse check` of this very package on what the copy produced."""
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    return CliRunner().invoke(main, ["check", *(str(root / part) for part in PRODUCED)])


def test_a_whole_run_leaves_no_key_anywhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with JudgeServer(refusing) as server:
        refused = run(root, server, 10)
        assert refused.returncode == 1 and "Incomplete" in refused.stdout, refused.stdout + refused.stderr
        assert "refused the key in ANTHROPIC_API_KEY" in refused.stdout and "[ANTHROPIC_API_KEY]" in refused.stdout
        server.behaviour = talkative
        whole = run(root, server, 10)
        assert whole.returncode == 0, whole.stdout + whole.stderr
        (report,) = root.glob("figures/runs/*/report.ipynb")
        pages(root)
        assert found(root) == {}
        plant_a_failing_cell(root)
        failed = run(root, server, 10)
    assert failed.returncode == 1 and "RuntimeError: refused: [GEMINI_API_KEY]" in failed.stdout
    assert "report.failed.ipynb showed keys, which were struck out" in failed.stderr
    pages(root)
    assert len(list(root.glob("pages/*.html"))) == 2 and report.exists()
    assert found(root) == {}
    stored = b"".join(path.read_bytes() for path in root.glob("data/replies/*.jsonl"))
    assert all(f"[{name}]".encode() in stored for name in PLANTED), "the servers did repeat them"
    told = checked(root, monkeypatch)
    assert told.exit_code == 0 and "no key found" in told.output, told.output


def test_without_redaction_the_same_run_leaves_keys_and_they_are_found(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (root / "helpers" / "providers" / "keys.py").open("a", encoding="utf-8") as code:
        code.write("\n\ndef strike(text, known, like=True):\n    return text, []\n")
    with JudgeServer(refusing) as server:
        assert run(root, server, 10).returncode == 1
        plant_a_failing_cell(root)
        assert run(root, server, 10).returncode == 1
    pages(root)
    held = found(root)
    assert {Path(name).suffix for name in held} >= {".jsonl", ".ipynb", ".html", ".log"}
    assert {name for names in held.values() for name in names} == set(PLANTED)
    told = checked(root, monkeypatch)
    assert told.exit_code == 1
    places = {line.partition(":")[0] for line in told.output.splitlines() if "the value of" in line}
    assert {str(Path(place).resolve()) for place in places} == {str((root / name).resolve()) for name in held}
