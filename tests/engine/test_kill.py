"""Runs that are killed, interrupted or out of disk, and run again: nothing stored is lost, damaged or paid twice."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers import store
from tests.engine.asking import MODELS, ask, attempts, requests_to, statuses
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


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_run_among_faults_that_is_killed_goes_on_where_it_was(serve: Any, tmp_path: Path, count: int) -> None:
    """Concurrency 16, a fifth of all attempts fail in every way that is asked again; of the long run two at once."""
    server, kills = serve(faulty(0.2, RETRIED if count == 400 else (*RETRIED, SLOW)), latency=0.02), 3
    if count == 400:
        end_and_resume(server, tmp_path, count, [KILL] * kills, *HURRIED)
    else:
        server.latency, kills = 0.01, 25
        end_and_resume(server, tmp_path, count, [KILL] * kills, *HURRIED, *LIMIT, in_pairs=range(10, 18))
    found = account(server, tmp_path)
    found.check(count, lost=kills * CONCURRENCY)
    assert found.faults > 0.1 * count and (count == 400 or 0.18 < found.faults / found.requests < 0.22)
    assert _further_run(server, tmp_path, count) == 0


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


def _prompts(folder: Path) -> list[str]:
    return [line["request"]["prompt"] for line in attempts(folder, GPT)]


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of a file")
@pytest.mark.parametrize(("concurrency", "count", "most"), [(1, 60, 20_000), (CONCURRENCY, 150, 60_000)])
def test_nothing_is_sent_after_the_first_line_that_does_not_fit_and_the_next_run_goes_on(
    serve: Any, tmp_path: Path, concurrency: int, count: int, most: int
) -> None:
    server, path = serve(latency=0.0 if concurrency == 1 else 0.02), store.file_of(tmp_path, "gpt")
    how = ("--count", str(count), "--max-bytes", str(most), "--concurrency", str(concurrency))
    run = start(tmp_path, server.env(), *how)
    _, errors = run.communicate(timeout=120)
    assert run.returncode != 0 and "gpt.jsonl: cannot append" in errors and "nothing more is asked" in errors
    stored = _prompts(tmp_path)
    assert 0 < len(stored) < count and path.stat().st_size <= most
    # Each stored reply was a call, and the one that did not fit was the last, with those in flight.
    assert len(stored) + 1 <= len(server.calls) <= len(stored) + concurrency
    found = store.verify(path)
    assert not found.bad and found.tail is None, "what did not fit is not half there"

    # Had the process died before it could undo the line, the next run would find this.
    path.write_bytes(path.read_bytes() + b'{"v":1,"key":"0123')
    assert _prompts(tmp_path) == stored and store.verify(path).tail is not None
    before = len(server.calls)
    assert len(ask(requests_to(GPT, count), tmp_path)) == count
    assert not set(stored) & {entry.call.prompt for entry in server.calls[before:]}
    assert len(server.calls) == before + count - len(stored)
    assert _prompts(tmp_path)[: len(stored)] == stored and statuses(tmp_path, GPT) == ["ok"] * count
    assert store.verify(path).tail is None


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of a file")
def test_a_line_end_that_does_not_fit_is_told_with_its_file_before_anything_is_sent(serve: Any, tmp_path: Path) -> None:
    server, path = serve(), store.file_of(tmp_path, "gpt")
    ask(requests_to(GPT, 3), tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    run = start(tmp_path, server.env(), "--count", "4", "--max-bytes", str(len(whole) - 1))
    _, errors = run.communicate(timeout=120)
    assert run.returncode != 0 and "gpt.jsonl: cannot append" in errors and "nothing was asked" in errors
    assert path.read_bytes() == whole[:-1] and len(server.calls) == 3
    assert len(ask(requests_to(GPT, 4), tmp_path)) == 4 and len(server.calls) == 4, "the paid reply counts again"
