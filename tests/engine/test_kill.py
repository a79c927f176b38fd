"""Runs that are killed, interrupted or out of disk, and run again: nothing stored is lost, damaged or paid twice."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers import store
from tests.engine.asking import MODELS, ask, attempts, requests_to
from tests.engine.killing import CONCURRENCY, HURRIED, LIMIT, RETRIED, SLOW, account, end_and_resume
from tests.engine.worker import start
from tests.servers.behaviours import faulty

GPT = MODELS["openai"]
KILL, INT, TERM = signal.SIGKILL, signal.SIGINT, signal.SIGTERM


def _further_run(server: Any, folder: Path, count: int) -> int:
    """How many requests a further run sends."""
    before = len(server.calls)
    assert len(ask(requests_to(GPT, count), folder)) == count
    return len(server.calls) - before


def test_a_run_among_faults_that_is_killed_goes_on_where_it_was(serve: Any, tmp_path: Path) -> None:
    server = serve(faulty(0.2, RETRIED), latency=0.02)
    end_and_resume(server, tmp_path, 400, [KILL] * 3, *HURRIED)
    found = account(server, tmp_path)
    found.check(400, lost=3 * CONCURRENCY)
    assert found.faults > 40 and _further_run(server, tmp_path, 400) == 0


@pytest.mark.slow
def test_ten_thousand_judgments_among_faults_and_25_kills(serve: Any, tmp_path: Path) -> None:
    """Concurrency 16, a fifth of all attempts fail in every way that is asked again, for a part two runs at once."""
    server = serve(faulty(0.2, (*RETRIED, SLOW)), latency=0.01)
    end_and_resume(server, tmp_path / "replies", 10_000, [KILL] * 25, *HURRIED, *LIMIT, in_pairs=range(10, 18))
    found = account(server, tmp_path / "replies")
    print(found)
    found.check(10_000, lost=25 * CONCURRENCY)
    assert 0.18 < found.faults / found.requests < 0.22
    assert _further_run(server, tmp_path / "replies", 10_000) == 0


@pytest.mark.parametrize("count", [600, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_store_that_acknowledges_before_it_writes_would_be_found_out(serve: Any, tmp_path: Path, count: int) -> None:
    """The negative control: the same loop and the same check, with a careless writer."""
    server, kills = serve(faulty(0.2, RETRIED), latency=0.01), 2 if count == 600 else 25
    end_and_resume(server, tmp_path, count, [KILL] * kills, *HURRIED, "--late")
    with pytest.raises(AssertionError, match="replies paid and not stored"):
        account(server, tmp_path).check(count, lost=kills * CONCURRENCY)


@pytest.mark.parametrize("count", [300, pytest.param(5_000, marks=pytest.mark.slow)])
def test_an_interrupted_run_stores_all_that_it_paid(serve: Any, tmp_path: Path, count: int) -> None:
    server, times = serve(faulty(0.2, RETRIED), latency=0.03), 1 if count == 300 else 10
    end_and_resume(server, tmp_path, count, [INT, TERM] * times, *HURRIED)
    found = account(server, tmp_path)
    found.check(count, lost=0)
    assert found.requests == found.lines, "every attempt is written down"
    assert _further_run(server, tmp_path, count) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of a file")
def test_a_full_disk_stops_the_run_at_once_and_the_next_one_goes_on(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.02)
    run = start(tmp_path, server.env(), "--count", "150", "--max-bytes", "60000")
    _, errors = run.communicate(timeout=300)
    assert run.returncode != 0
    assert "gpt.jsonl: cannot append" in errors and "nothing more is asked" in errors
    path = store.file_of(tmp_path, "gpt")
    stored = {line["request"]["prompt"] for line in attempts(tmp_path, GPT) if line["status"] == "ok"}
    assert 0 < len(stored) < 150 and path.stat().st_size <= 60_000
    assert path.read_bytes().endswith(b"\n"), "what did not fit is not half there"
    assert len(server.calls) <= len(stored) + CONCURRENCY
    before = len(server.calls)
    assert len(ask(requests_to(GPT, 150), tmp_path)) == 150
    assert not stored & {entry.call.prompt for entry in server.calls[before:]}
    assert len(server.calls) == before + 150 - len(stored)
