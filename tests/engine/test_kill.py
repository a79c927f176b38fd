"""Runs that are killed, interrupted or out of disk, and run again: nothing stored is lost, damaged or paid twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from helpers import paths, store
from tests.engine.asking import MODELS, ask, attempts, requests_to, statuses
from tests.engine.worker import start
from tests.servers.behaviours import TRANSIENT, faulty
from tests.servers.providers import JudgeServer

CONCURRENCY = 16
GPT = MODELS["openai"]


@dataclass
class Loss:
    """What killing cost: replies that were paid for and not stored, and stored ones that were asked again."""

    kills: int = 0
    paid_not_stored: int = 0
    asked_again: int = 0


def _answered(folder: Path) -> set[str]:
    """The prompts that have a reply; reading checks every line on the way."""
    return {line["request"]["prompt"] for line in attempts(folder, GPT) if line["status"] == "ok"}


def _kill_and_resume(server: JudgeServer, folder: Path, count: int, kills: int, *arguments: str) -> Loss:
    """Start the same run again and again, killing it at random moments, until it ends; then look at what was lost."""
    rng, loss = random.Random(f"kill:{count}:{kills}"), Loss()
    while True:
        stored, asked = _answered(folder), len(server.calls)
        run = start(folder, server.env(), "--count", str(count), "--concurrency", str(CONCURRENCY), *arguments)
        if loss.kills < kills:
            share = count // (kills + 1)  # so that no run ends before it is killed
            moment = asked + rng.randint(share // 3, share)
            while len(server.calls) < moment and run.poll() is None:
                time.sleep(0.001)
            time.sleep(rng.random() * server.latency)
            if run.poll() is None:
                run.kill()
                loss.kills += 1
        said, errors = run.communicate(timeout=300)
        whole = run.returncode == 0
        # Among faults a run may leave some for the next one.
        assert said == f"{count} replies\n" if whole else run.returncode < 0 or "are still missing" in errors, errors
        while server.in_flight:  # what nobody waits for any more
            time.sleep(0.01)
        paid = [entry.call.prompt for entry in server.calls[asked:] if entry.billed and entry.fault is None]
        loss.asked_again += len(stored & set(paid))
        loss.paid_not_stored += len(paid) - len(_answered(folder) - stored)
        if whole:
            return loss


def test_a_killed_run_goes_on_where_it_was(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.03)
    loss = _kill_and_resume(server, tmp_path, 300, kills=3)
    assert loss.kills == 3, "a run that ends before it is killed tests nothing"
    assert loss.asked_again == 0
    assert loss.paid_not_stored <= loss.kills * CONCURRENCY
    lines = attempts(tmp_path, GPT)
    assert len(_answered(tmp_path)) == 300 and all(line["raw"] for line in lines)
    assert len(server.calls) == 300 + loss.paid_not_stored, "each reply once, and what the kills cost"
    before = len(server.calls)
    assert len(ask(requests_to(GPT, 300), tmp_path)) == 300
    assert len(server.calls) == before, "a further run asks nothing"


@pytest.mark.slow
def test_a_run_among_faults_that_is_killed_often_loses_nothing(serve: Any, tmp_path: Path) -> None:
    server = serve(faulty(0.2, TRANSIENT), latency=0.01)
    loss = _kill_and_resume(server, tmp_path, 3000, kills=12)
    assert loss.kills == 12 and loss.asked_again == 0
    assert loss.paid_not_stored <= loss.kills * CONCURRENCY
    assert len(_answered(tmp_path)) == 3000 and statuses(tmp_path, GPT).count("ok") == 3000
    before = len(server.calls)
    assert len(ask(requests_to(GPT, 3000), tmp_path)) == 3000 and len(server.calls) == before


def test_a_store_that_writes_late_would_be_found_out(serve: Any, tmp_path: Path) -> None:
    """The negative control: the same loop, with lines kept in memory until the end."""
    loss = _kill_and_resume(serve(latency=0.01), tmp_path, 200, 1, "--late")
    assert loss.kills == 1 and loss.paid_not_stored > loss.kills * CONCURRENCY


def test_an_interrupted_run_leaves_the_store_in_order(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.03)
    run = start(tmp_path, server.env(), "--count", "1000")  # so many that it cannot end before the signal comes
    while len(server.calls) < 60:
        assert run.poll() is None
        time.sleep(0.005)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=30)
    assert run.returncode != 0 and "was never retrieved" not in errors and "Unclosed" not in errors
    stored, asked = _answered(tmp_path), len(server.calls)
    assert asked - len(stored) <= CONCURRENCY
    assert len(ask(requests_to(GPT, 1000), tmp_path)) == 1000
    assert len(server.calls) == asked + 1000 - len(stored)


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of a file")
def test_a_full_disk_stops_the_run_at_once_and_the_next_one_goes_on(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.02)
    run = start(tmp_path, server.env(), "--count", "150", "--max-bytes", "60000")
    _, errors = run.communicate(timeout=60)
    assert run.returncode != 0
    assert "gpt.jsonl: cannot append" in errors and "nothing more is asked" in errors
    path = store.file_of(tmp_path, "gpt")
    stored = _answered(tmp_path)
    assert 0 < len(stored) < 150 and path.stat().st_size <= 60_000
    assert path.read_bytes().endswith(b"\n"), "what did not fit is not half there"
    assert len(server.calls) <= len(stored) + CONCURRENCY
    before = len(server.calls)
    assert len(ask(requests_to(GPT, 150), tmp_path)) == 150
    assert not stored & {entry.call.prompt for entry in server.calls[before:]}
    assert len(server.calls) == before + 150 - len(stored)


@pytest.mark.parametrize(
    ("number", "job"), [(signal.SIGINT, "foreground"), (signal.SIGTERM, "foreground"), (signal.SIGTERM, "background")]
)
def test_a_signal_to_the_command_alone_stops_the_processes_that_ask(
    tmp_path: Path, number: signal.Signals, job: str
) -> None:
    out, replies = tmp_path / "out", tmp_path / "replies"
    command = [sys.executable, "-m", "helpers", "run", "03_quality_self_preference", "-p", "question_limit", "40"]
    command += ["-p", "store", str(replies), "-p", "out", str(out)]

    def begun_as() -> None:
        # A script's background jobs ignore SIGINT, and so does all that they start.
        signal.signal(signal.SIGINT, signal.SIG_IGN if job == "background" else signal.SIG_DFL)

    # A session of its own: the signal reaches nobody else.
    run = subprocess.Popen(
        command, cwd=paths.ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=begun_as
    )

    def stored() -> int:
        return sum(file.read_bytes().count(b"\n") for file in replies.glob("*.jsonl"))

    deadline = time.monotonic() + 120
    while stored() < 1000 and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(number)
    _, told = run.communicate(timeout=120)
    assert run.returncode == 130 and "replies that came are stored" in told, told[-2000:]
    assert stored() < 9000, "of 11,572 replies: nobody went on asking"
    assert not list(out.glob("*.png")) and not (out / "report.ipynb").exists()
